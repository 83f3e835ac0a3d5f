//! Headers of raw rasters: text files beside them, as ENVI and Esri write them and GDAL reads them.
//!
//! Sources: "ENVI Header Files" (NV5 Geospatial documentation), "BIL, BIP, and BSQ raster files" (ArcGIS Desktop documentation).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::georeference::Georeference;
use super::kind::{Class, Kind};
use crate::failure::{Failure, Result};
use crate::read::text::excerpt;

/// The longest header that is read.
const MAX_BYTES: u64 = 1 << 20;

/// What a header says of its raster.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RawHeader {
    /// Columns and rows.
    pub(super) size: [usize; 2],
    pub(super) kind: Kind,
    pub(super) is_big: bool,
    /// The byte at which the cells begin.
    pub(super) start: u64,
    pub(super) no_data: Option<String>,
    pub(super) georeference: Option<Georeference>,
}

/// The header beside a raw raster: of the same name with `.hdr` in place of its extension, or behind it.
///
/// # Errors
/// No header, or one that does not describe one band of whole numbers or floats.
pub(super) fn read(raster: &Path) -> Result<RawHeader> {
    let mut behind = raster.as_os_str().to_owned();
    behind.push(".hdr");
    let paths = [raster.with_extension("hdr"), PathBuf::from(behind)];
    let Some(path) = paths.iter().find(|path| path.is_file()) else {
        return Err(Failure::file(
            raster,
            format!(
                "a raw raster has a header of ENVI or Esri beside it, {}: there is none",
                paths[0].display()
            ),
        ));
    };
    let unreadable = |error: &std::io::Error| Failure::unreadable(path, error);
    if std::fs::metadata(path).map_err(|error| unreadable(&error))?.len() > MAX_BYTES {
        return Err(Failure::file(path, "it is too long for a header"));
    }
    let bytes = std::fs::read(path).map_err(|error| unreadable(&error))?;
    let text = String::from_utf8_lossy(&bytes);
    let extension = raster.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let header = match text.trim_start().strip_prefix("ENVI") {
        Some(fields) => envi(fields),
        None => esri(&text, extension == "flt"),
    };
    header.map_err(|message| Failure::file(path, message))
}

/// The fields of a header by their names in lower case.
struct Fields(HashMap<String, String>);

impl Fields {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn parsed<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, String> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let parsed = text.parse().map_err(|_| format!("its {name} is \"{}\"", excerpt(text)))?;
        Ok(Some(parsed))
    }

    fn required(&self, name: &str) -> Result<usize, String> {
        self.parsed(name)?.ok_or_else(|| format!("it has no {name}"))
    }

    fn only_one_band(&self, name: &str) -> Result<(), String> {
        match self.parsed(name)?.unwrap_or(1_usize) {
            1 => Ok(()),
            count => Err(format!("it has {count} bands, a raster of one is read")),
        }
    }
}

/// `name = value` a line; a value in braces may have several lines.
fn envi(text: &str) -> Result<RawHeader, String> {
    let mut fields = HashMap::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.trim().rsplit('\n').next().unwrap_or_default().trim().to_lowercase();
        let after = after.trim_start_matches([' ', '\t']);
        let (value, next) = match after.strip_prefix('{') {
            Some(inner) => inner.split_once('}').ok_or_else(|| format!("its {name} has no closing brace"))?,
            None => after.split_once('\n').unwrap_or((after, "")),
        };
        fields.insert(name, value.trim().to_owned());
        rest = next;
    }
    let fields = Fields(fields);
    fields.only_one_band("bands")?;
    let kind = match fields.required("data type")? {
        1 => Kind::new(Class::Unsigned, 1),
        2 => Kind::new(Class::Signed, 2),
        3 => Kind::new(Class::Signed, 4),
        4 => Kind::new(Class::Float, 4),
        5 => Kind::new(Class::Float, 8),
        12 => Kind::new(Class::Unsigned, 2),
        13 => Kind::new(Class::Unsigned, 4),
        14 => Kind::new(Class::Signed, 8),
        15 => Kind::new(Class::Unsigned, 8),
        _ => None,
    };
    let place = fields.text("map info").and_then(|text| {
        // Projection, column and row of the reference (from 1), its x and y, width and height of a cell.
        let parts: Vec<f64> =
            text.split(',').skip(1).take(6).map_while(|part| part.trim().parse().ok()).collect();
        let [column, row, x, y, width, height] = parts.try_into().ok()?;
        let is_turned = text.to_lowercase().contains("rotation");
        (!is_turned).then(|| {
            Georeference::north_up([x - (column - 1.0) * width, y + (row - 1.0) * height], [width, height])
        })
    });
    Ok(RawHeader {
        size: [fields.required("samples")?, fields.required("lines")?],
        kind: kind.ok_or_else(|| {
            let number = fields.text("data type").unwrap_or_default();
            format!("its data type is {number}; 1 to 5 and 12 to 15 are read: whole numbers and floats")
        })?,
        is_big: fields.parsed("byte order")?.unwrap_or(0) == 1,
        start: fields.parsed("header offset")?.unwrap_or(0),
        no_data: fields.text("data ignore value").map(str::to_owned),
        georeference: place,
    })
}

/// `name value` a line.
fn esri(text: &str, is_float_grid: bool) -> Result<RawHeader, String> {
    let lines = text.lines().filter_map(|line| line.trim().split_once(char::is_whitespace));
    let fields = Fields(lines.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned())).collect());
    fields.only_one_band("nbands")?;
    let [width, height] = [fields.required("ncols")?, fields.required("nrows")?];
    let bits = fields.parsed("nbits")?.unwrap_or(if is_float_grid { 32 } else { 8_usize });
    let pixel_type =
        fields.text("pixeltype").unwrap_or(if is_float_grid { "float" } else { "" }).to_lowercase();
    let class = match pixel_type.as_str() {
        "" | "unsignedint" => Class::Unsigned,
        "signedint" => Class::Signed,
        "float" => Class::Float,
        other => return Err(format!("its pixeltype is \"{}\"", excerpt(other))),
    };
    let kind = Kind::new(class, bits / 8).filter(|_| bits % 8 == 0);
    let kind = kind.ok_or_else(|| format!("its cells are {pixel_type} of {bits} bits, which is not read"))?;
    let order = fields.text("byteorder").unwrap_or("i").to_lowercase();
    let row_bytes = width.checked_mul(bits / 8);
    if fields.parsed::<usize>("totalrowbytes")?.is_some_and(|bytes| Some(bytes) != row_bytes) {
        return Err("its rows have more bytes (totalrowbytes) than their cells".into());
    }
    let corner = |name: &str| fields.parsed::<f64>(name);
    let place = match (corner("ulxmap")?, corner("ulymap")?, corner("xdim")?, corner("ydim")?) {
        // The centre of the first cell.
        (Some(x), Some(y), Some(width), Some(height)) => {
            Some(Georeference::north_up([x - 0.5 * width, y + 0.5 * height], [width, height]))
        }
        _ => match (corner("xllcorner")?, corner("yllcorner")?, corner("cellsize")?) {
            (Some(x), Some(y), Some(cell)) => {
                Some(Georeference::north_up([x, y + height as f64 * cell], [cell, cell]))
            }
            _ => None,
        },
    };
    Ok(RawHeader {
        size: [width, height],
        kind,
        is_big: matches!(order.as_str(), "m" | "msbfirst"),
        start: fields.parsed("skipbytes")?.unwrap_or(0),
        no_data: fields.text("nodata").or_else(|| fields.text("nodata_value")).map(str::to_owned),
        georeference: place,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_envi() {
        let text = "\ndescription = {\n  two\n  lines }\nsamples = 40\nlines   = 30\nbands = 1\nheader offset = 16\n\
            data type = 12\ninterleave = bsq\nbyte order = 1\nData Ignore Value = 65535\n\
            map info = {UTM, 1, 1, 500000, 4200000, 30, 30, 33, North, WGS-84}\n";
        let header = envi(text).unwrap();
        assert_eq!((header.size, header.kind.name().as_str(), header.is_big), ([40, 30], "u16", true));
        assert_eq!((header.start, header.no_data.as_deref()), (16, Some("65535")));
        let place = header.georeference.unwrap();
        assert_eq!(place.cell_at([500_031.0, 4_199_999.0]), Ok([1.0, 0.0]));
        let bad = |from: &str, to: &str| envi(&text.replace(from, to)).unwrap_err();
        assert_eq!(bad("bands = 1", "bands = 3"), "it has 3 bands, a raster of one is read");
        assert_eq!(bad("samples = 40", "samples = x"), "its samples is \"x\"");
        assert_eq!(bad("samples = 40", ""), "it has no samples");
        assert!(bad("type = 12", "type = 6").starts_with("its data type is 6; 1 to 5 and 12 to 15 are read"));
        assert_eq!(bad("WGS-84}", "WGS-84"), "its map info has no closing brace");
    }

    #[test]
    fn headers_of_esri() {
        let text = "NROWS 30\nNCOLS 40\nNBANDS 1\nNBITS 16\nPIXELTYPE SIGNEDINT\nBYTEORDER M\nLAYOUT BIL\n\
            NODATA -9999\nULXMAP 15\nULYMAP 85\nXDIM 30\nYDIM 30\nSKIPBYTES 4\nTOTALROWBYTES 80\n";
        let header = esri(text, false).unwrap();
        assert_eq!((header.size, header.kind.name().as_str(), header.is_big), ([40, 30], "i16", true));
        assert_eq!((header.start, header.no_data.as_deref()), (4, Some("-9999")));
        assert_eq!(header.georeference.unwrap().cell_at([31.0, 99.0]), Ok([1.0, 0.0]));
        assert!(esri(&text.replace("BYTES 80", "BYTES 90"), false).unwrap_err().contains("totalrowbytes"));
        assert!(esri(&text.replace("NBITS 16", "NBITS 1"), false).unwrap_err().contains("of 1 bits"));
        let float =
            "ncols 3\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 10\nNODATA_value -1\nbyteorder LSBFIRST\n";
        let header = esri(float, true).unwrap();
        assert_eq!((header.size, header.kind.name().as_str(), header.is_big), ([3, 2], "f32", false));
        assert_eq!(header.georeference.unwrap().cell_at([5.0, 15.0]), Ok([0.0, 0.0]));
    }
}
