//! Rooms (GeoJSON polygons, `.mesh` files), scenarios (`.scen`) and tables of queries.

use std::path::Path;

use hullfield::navigate::room::{Options as RoomOptions, Room};
use serde_json::Value;

use super::input::{self, unknown_format};
use super::table::Table;
use super::text::{excerpt, number};
use crate::failure::{Failure, Result};

/// A start and a goal.
pub(crate) type Query = [[f64; 2]; 2];

/// A scenario: a query, and the largest allowed length of its path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scenario {
    /// Its line in the file.
    pub(crate) line: u64,
    pub(crate) query: Query,
    pub(crate) cost: f64,
}

/// Reads a room, by the file's extension; from stdin, by its first bytes.
pub(crate) fn room(path: &Path, options: RoomOptions) -> Result<Room> {
    match input::file_format(path)?.as_str() {
        "mesh" => {
            Room::from_polyanya_mesh(&input::text(path)?, options).map_err(|error| Failure::file(path, error))
        }
        "geojson" | "json" => {
            let text = input::text(path)?;
            let value: Value = serde_json::from_str(&text).map_err(|error| Failure::file(path, error))?;
            let rings = rings(&value).map_err(|message| Failure::file(path, message))?;
            let Some((outer, holes)) = rings.split_first() else {
                return Err(Failure::file(path, "the polygon has no rings"));
            };
            Room::new(outer, holes, options).map_err(|error| Failure::file(path, error))
        }
        _ => Err(unknown_format(path, "geojson, json or mesh is read")),
    }
}

/// The rings of the only polygon of a GeoJSON object.
fn rings(value: &Value) -> Result<Vec<Vec<[f64; 2]>>, String> {
    let mut polygons = Vec::new();
    collect(value, &mut polygons, 0)?;
    match polygons.as_slice() {
        [] => Err("it has no polygon".into()),
        [rings] => polygon(rings),
        _ => Err(format!("it has {} polygons, a room is one polygon with holes", polygons.len())),
    }
}

/// Collects the coordinates of all polygons in a GeoJSON object.
fn collect<'a>(value: &'a Value, polygons: &mut Vec<&'a Value>, depth: u32) -> Result<(), String> {
    if depth > 16 {
        return Err("collections are nested too deep".into());
    }
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    let member = |name: &str| value.get(name).ok_or_else(|| format!("a {kind} has no \"{name}\""));
    let list = |name: &str| {
        member(name)?.as_array().ok_or_else(|| format!("the \"{name}\" of a {kind} is not an array"))
    };
    match kind {
        "Polygon" => polygons.push(member("coordinates")?),
        "MultiPolygon" => polygons.extend(list("coordinates")?),
        "Feature" => collect(member("geometry")?, polygons, depth + 1)?,
        "FeatureCollection" => {
            for feature in list("features")? {
                collect(feature, polygons, depth + 1)?;
            }
        }
        "GeometryCollection" => {
            for geometry in list("geometries")? {
                collect(geometry, polygons, depth + 1)?;
            }
        }
        "Point" | "MultiPoint" | "LineString" | "MultiLineString" => {}
        _ => return Err(format!("\"{}\" is not a type of GeoJSON", excerpt(kind))),
    }
    Ok(())
}

fn polygon(rings: &Value) -> Result<Vec<Vec<[f64; 2]>>, String> {
    let rings = rings.as_array().ok_or("the coordinates of a polygon are not an array of rings")?;
    rings
        .iter()
        .enumerate()
        .map(|(r, ring)| {
            let ring = ring.as_array().ok_or_else(|| format!("ring {r} is not an array of points"))?;
            ring.iter()
                .enumerate()
                .map(|(i, point)| {
                    // A third number, a height, is ignored.
                    let number = |k: usize| point.get(k).and_then(Value::as_f64);
                    match (number(0), number(1)) {
                        (Some(x), Some(y)) => Ok([x, y]),
                        _ => Err(format!("ring {r}, point {i} is not two numbers")),
                    }
                })
                .collect()
        })
        .collect()
}

/// Reads `x0,y0,x1,y1`.
pub(crate) fn queries(path: &Path) -> Result<Vec<Query>> {
    let names = ["x0", "y0", "x1", "y1"];
    let mut table = Table::open(path, &names)?;
    let mut columns = Vec::with_capacity(4);
    for name in names {
        columns.push(table.required(name)?);
    }
    let mut queries = Vec::new();
    while table.next()? {
        let mut values = [0.0; 4];
        for (value, &column) in values.iter_mut().zip(&columns) {
            *value = number(table.text(column)?).map_err(|message| table.invalid(column, message))?;
        }
        queries.push([[values[0], values[1]], [values[2], values[3]]]);
    }
    Ok(queries)
}

/// Reads a `.scen` file of version 1: `bucket map width height x0 y0 x1 y1 cost`, separated by white space.
pub(crate) fn scenarios(path: &Path) -> Result<Vec<Scenario>> {
    let text = input::text(path)?;
    let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    match lines.next() {
        Some((line, _)) if line.split_whitespace().next() == Some("version") => {}
        _ => return Err(Failure::line(path, 1, "a scenario file begins with the word version")),
    }
    lines
        .map(|(text, line)| {
            let words: Vec<&str> = text.split_whitespace().collect();
            if words.len() != 9 {
                return Err(Failure::line(path, line, format!("{} fields, 9 expected", words.len())));
            }
            let field = |k: usize, name: &str| {
                number(words[k]).map_err(|message| Failure::field(path, line, name, message))
            };
            let query =
                [[field(4, "start x")?, field(5, "start y")?], [field(6, "goal x")?, field(7, "goal y")?]];
            Ok(Scenario { line, query, cost: field(8, "cost")? })
        })
        .collect()
}

/// Reads `x,y` from a flag.
pub(crate) fn point(option: &str, text: &str) -> Result<[f64; 2]> {
    let invalid = |message: String| Failure::input(format!("{option}: {message}"));
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    match words.as_slice() {
        [x, y] => Ok([number(x).map_err(invalid)?, number(y).map_err(invalid)?]),
        _ => Err(invalid(format!("\"{}\" is not x,y", excerpt(text)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polygons_are_found_where_geojson_puts_them() {
        let ring = "[[[0,0],[1,0],[0,1,5],[0,0]]]";
        let polygon = format!(r#"{{"type":"Polygon","coordinates":{ring}}}"#);
        let feature = format!(r#"{{"type":"Feature","geometry":{polygon}}}"#);
        let multi = format!(r#"{{"type":"MultiPolygon","coordinates":[{ring}]}}"#);
        let collection = format!(r#"{{"type":"FeatureCollection","features":[{feature}]}}"#);
        for text in [&polygon, &feature, &multi, &collection] {
            let found = rings(&serde_json::from_str(text).unwrap()).unwrap();
            assert_eq!(found, [[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]]);
        }
        let two = format!(r#"{{"type":"MultiPolygon","coordinates":[{ring},{ring}]}}"#);
        for (text, part) in [
            (two.as_str(), "2 polygons"),
            (r#"{"type":"Point","coordinates":[0,0]}"#, "no polygon"),
            (r#"{"type":"Polygon"}"#, "no \"coordinates\""),
            (r#"{"type":"Polygon","coordinates":[[[0,"a"]]]}"#, "ring 0, point 0"),
            (r#"{"type":"Cube"}"#, "\"Cube\""),
            ("[]", "not a type"),
        ] {
            let message = rings(&serde_json::from_str(text).unwrap()).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
