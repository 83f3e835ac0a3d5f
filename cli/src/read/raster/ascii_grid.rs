//! Esri's grids in text: a header of names and numbers, then a number for each cell, row by row from the north.
//!
//! Source: "Esri ASCII raster format" (ArcGIS documentation); names and `dx`, `dy` as GDAL's AAIGrid reads them.

use std::path::Path;

use super::georeference::Georeference;
use super::kind::{Class, Kind};
use super::opened::Opened;
use crate::failure::{Failure, Result};
use crate::read::input;
use crate::read::map::check_size;
use crate::read::text::excerpt;

/// The fields of a header.
#[derive(Debug, Default)]
struct Header {
    size: [Option<usize>; 2],
    /// The lower left corner, and whether it is that of the first cell's centre.
    corner: [Option<(f64, bool)>; 2],
    cell: [Option<f64>; 2],
    no_data: Option<String>,
}

/// Reads a grid: the bytes of its cells in this machine's order, as whole numbers of 64 bits where all are whole, else as floats of 64 bits.
pub(super) fn read(path: &Path) -> Result<(Vec<u8>, Opened)> {
    let bytes = input::checked_bytes(path)?;
    let invalid = |message: String| Failure::file(path, message);
    let text = std::str::from_utf8(&bytes).map_err(|_| invalid("it is no text (UTF-8)".into()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut words = text.split_ascii_whitespace().peekable();
    let header = header(&mut words).map_err(invalid)?;
    let [Some(width), Some(height)] = header.size else {
        return Err(invalid("its header has no ncols or no nrows".into()));
    };
    check_size(path, [width, height, 1])?;
    let georeference = header.place(height);
    let count = width.checked_mul(height).filter(|count| count.div_ceil(2) <= text.len());
    let Some(count) = count else {
        return Err(invalid(format!("it is cut short: its header says {width} x {height} cells")));
    };
    let (kind, cells) = cells(words, width, count).map_err(invalid)?;
    let (size, scaling) = ([width, height], [None; 2]);
    Ok((cells, Opened { size, kind, no_data: header.no_data, scaling, georeference }))
}

fn header<'a>(words: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>) -> Result<Header, String> {
    let mut header = Header::default();
    while let Some(name) =
        words.next_if(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()) && !is_number(word))
    {
        let value = words.next().unwrap_or_default();
        let wrong = || format!("its {} is \"{}\"", excerpt(name), excerpt(value));
        let number = || value.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(wrong);
        let length = || number().and_then(|length| if length > 0.0 { Ok(length) } else { Err(wrong()) });
        let count = || value.parse::<usize>().map_err(|_| wrong());
        match name.to_ascii_lowercase().as_str() {
            "ncols" => header.size[0] = Some(count()?),
            "nrows" => header.size[1] = Some(count()?),
            "xllcorner" => header.corner[0] = Some((number()?, false)),
            "yllcorner" => header.corner[1] = Some((number()?, false)),
            "xllcenter" => header.corner[0] = Some((number()?, true)),
            "yllcenter" => header.corner[1] = Some((number()?, true)),
            "cellsize" => header.cell = [Some(length()?); 2],
            "dx" => header.cell[0] = Some(length()?),
            "dy" => header.cell[1] = Some(length()?),
            "nodata_value" | "nodata" if is_number(value) => header.no_data = Some(value.to_owned()),
            "nodata_value" | "nodata" => return Err(wrong()),
            "north:" | "south:" | "east:" | "west:" | "rows:" | "cols:" => {
                return Err("it is a grid of GRASS, Esri's are read (r.out.gdal format=AAIGrid)".into());
            }
            _ => {
                return Err(format!(
                    "its header has \"{}\"; ncols, nrows, xllcorner, yllcorner (or xllcenter, yllcenter), cellsize (or dx, dy) and NODATA_value are known",
                    excerpt(name)
                ));
            }
        }
    }
    Ok(header)
}

fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok()
}

impl Header {
    fn place(&self, height: usize) -> Georeference {
        let ([Some((x, is_x_centre)), Some((y, is_y_centre))], [Some(width), Some(down)]) =
            (self.corner, self.cell)
        else {
            return Georeference::default();
        };
        let left = if is_x_centre { x - 0.5 * width } else { x };
        let bottom = if is_y_centre { y - 0.5 * down } else { y };
        Georeference::north_up([left, bottom + height as f64 * down], [width, down])
    }
}

/// The numbers of all cells.
fn cells<'a>(
    words: impl Iterator<Item = &'a str>,
    width: usize,
    count: usize,
) -> Result<(Kind, Vec<u8>), String> {
    // Bits of whole numbers until one is none, from then on of floats.
    let (mut cells, mut is_float) = (Vec::<u64>::with_capacity(count), false);
    for word in words {
        if cells.len() == count {
            return Err(format!("it has more numbers than its {count} cells: \"{}\"", excerpt(word)));
        }
        if !is_float {
            if let Ok(whole) = word.parse::<i64>() {
                cells.push(whole as u64);
                continue;
            }
            is_float = true;
            cells.iter_mut().for_each(|cell| *cell = (*cell as i64 as f64).to_bits());
        }
        let float: f64 = word.parse().map_err(|_| {
            let (x, y) = (cells.len() % width, cells.len() / width);
            format!("cell ({x}, {y}) is \"{}\", a number expected", excerpt(word))
        })?;
        cells.push(float.to_bits());
    }
    if cells.len() < count {
        return Err(format!("it is cut short: it has {} numbers for {count} cells", cells.len()));
    }
    let class = if is_float { Class::Float } else { Class::Signed };
    let kind = Kind { class, bytes: 8 };
    Ok((kind, cells.into_iter().flat_map(u64::to_ne_bytes).collect()))
}
