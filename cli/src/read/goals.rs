//! Goals from a file: a table of cells, points in map coordinates, or a raster.

use std::path::Path;

use hullfield::flow::{Cell, RasterWindow};
use serde_json::Value;

use super::input;
use super::raster::{Georeference, RasterFile, is_raster};
use super::table::Table;
use super::text::excerpt;
use crate::failure::{Failure, Result};

/// Where goals are.
#[derive(Debug)]
pub(crate) enum GoalPlaces {
    Cells(Vec<Cell>),
    /// In map coordinates.
    Points(Vec<[f64; 2]>),
}

/// The format of a file of goals as an extension. A table on stdin has no bytes that tell.
pub(crate) fn format(path: &Path) -> Result<String> {
    let format = input::file_format(path)?;
    Ok(if format.is_empty() && input::is_dash(path) { "csv".to_owned() } else { format })
}

/// Reads goals: of a `.csv` with the columns `x,y` and optionally `z`; the points of a `.geojson`; and the cells of a raster that are not 0 and have data. `size` and
/// `place` are those of the map, which a raster must have too.
pub(crate) fn goals(path: &Path, size: [u32; 2], place: &Georeference) -> Result<GoalPlaces> {
    let format = format(path)?;
    let places = match format.as_str() {
        "csv" => GoalPlaces::Cells(cells_of_table(path)?),
        "geojson" | "json" => {
            let text = input::text(path)?;
            let value: Value = serde_json::from_str(&text).map_err(|error| Failure::file(path, error))?;
            let mut points = Vec::new();
            collect(&value, &mut points, 0).map_err(|message| Failure::file(path, message))?;
            GoalPlaces::Points(points)
        }
        _ if is_raster(path) || format == "npy" => GoalPlaces::Cells(cells_of_raster(path, size, place)?),
        _ => {
            return Err(input::unknown_format(
                path,
                "csv, geojson, json, npy, tif or a raw file with a .hdr is read",
            ));
        }
    };
    let is_empty = match &places {
        GoalPlaces::Cells(cells) => cells.is_empty(),
        GoalPlaces::Points(points) => points.is_empty(),
    };
    if is_empty { Err(Failure::file(path, "it has no goals")) } else { Ok(places) }
}

fn cells_of_table(path: &Path) -> Result<Vec<Cell>> {
    let mut table = Table::open(path, &["x", "y", "z"])?;
    let [x, y, z] = [Some(table.required("x")?), Some(table.required("y")?), table.column("z")];
    let mut cells = Vec::new();
    while table.next()? {
        let whole = |column: Option<_>| {
            let Some(column) = column else { return Ok(0) };
            let text = table.text(column)?;
            text.parse()
                .map_err(|_| table.invalid(column, format!("\"{}\" is not a whole number", excerpt(text))))
        };
        cells.push(Cell { x: whole(x)?, y: whole(y)?, z: whole(z)? });
    }
    Ok(cells)
}

fn cells_of_raster(path: &Path, size: [u32; 2], place: &Georeference) -> Result<Vec<Cell>> {
    if input::is_dash(path) && !is_raster(path) {
        return Err(Failure::file(path, "an array of goals is read from a file, not from stdin"));
    }
    let file = RasterFile::open(path, None, u64::MAX)?;
    let [width, height] = file.size;
    if file.size != size {
        let message = format!("it has {width} x {height} cells, the map {} x {}", size[0], size[1]);
        return Err(Failure::file(path, message));
    }
    if let Some(difference) = file.georeference.as_ref().and_then(|own| own.difference(place, size)) {
        return Err(Failure::file(path, format!("{difference}: both must have the same cells (gdalwarp)")));
    }
    let mut cells = Vec::new();
    file.read_floats(RasterWindow { x: 0, y: 0, width, height }, &mut |first, values| {
        for (place, _) in values.iter().enumerate().filter(|(_, value)| !value.is_nan() && **value != 0.0) {
            let (x, y) = ((first + place) % width as usize, (first + place) / width as usize);
            cells.push(Cell { x: x as i32, y: y as i32, z: 0 });
        }
        Ok(())
    })?;
    Ok(cells)
}

/// Collects the points of a GeoJSON object. Other geometries are errors, as no goal has an area.
fn collect(value: &Value, points: &mut Vec<[f64; 2]>, depth: u32) -> Result<(), String> {
    if depth > 16 {
        return Err("collections are nested too deep".into());
    }
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    let member = |name: &str| value.get(name).ok_or_else(|| format!("a {kind} has no \"{name}\""));
    let list = |name: &str| {
        member(name)?.as_array().ok_or_else(|| format!("the \"{name}\" of a {kind} is not an array"))
    };
    let point = |value: &Value| {
        let number = |k: usize| value.get(k).and_then(Value::as_f64);
        match (number(0), number(1)) {
            (Some(x), Some(y)) => Ok([x, y]),
            _ => Err(format!("the coordinates of a {kind} are not two numbers")),
        }
    };
    match kind {
        "Point" => points.push(point(member("coordinates")?)?),
        "MultiPoint" => {
            for value in list("coordinates")? {
                points.push(point(value)?);
            }
        }
        // A feature without a place.
        "Feature" if value.get("geometry").is_some_and(Value::is_null) => {}
        "Feature" => collect(member("geometry")?, points, depth + 1)?,
        "FeatureCollection" | "GeometryCollection" => {
            let name = if kind == "FeatureCollection" { "features" } else { "geometries" };
            for value in list(name)? {
                collect(value, points, depth + 1)?;
            }
        }
        "LineString" | "MultiLineString" | "Polygon" | "MultiPolygon" => {
            return Err(format!("a {kind} is no goal: points are read"));
        }
        _ => return Err(format!("\"{}\" is not a type of GeoJSON", excerpt(kind))),
    }
    Ok(())
}
