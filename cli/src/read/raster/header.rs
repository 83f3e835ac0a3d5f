//! Headers of raw rasters: text files beside them, as ENVI and Esri write them and GDAL reads them.
//!
//! Sources: "ENVI Header Files" (NV5 Geospatial documentation), "BIL, BIP, and BSQ raster files" (ArcGIS Desktop documentation).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::epsg::Coordinates;
use super::georeference::Georeference;
use super::geotiff::{no_such_band, several_bands};
use super::kind::{Class, Kind};
use super::opened::Opened;
use super::reference_system::ReferenceSystem;
use crate::failure::{Failure, Result};
use crate::read::input::check_kind;
use crate::read::text::excerpt;

/// The longest header that is read.
const MAX_BYTES: u64 = 1 << 20;

/// What a header says of its raster, and where a band of it lies.
pub(super) struct RawHeader {
    pub(super) opened: Opened,
    pub(super) is_big: bool,
    /// The byte at which the cells begin, of all bands.
    pub(super) start: u64,
    pub(super) bands: usize,
    /// The bytes from there to the band, from a cell to the next one, and from a row to the next.
    pub(super) band_start: u64,
    pub(super) cell_step: usize,
    pub(super) row_step: u64,
    /// The bytes of the rows of all bands, if they are not those of their cells.
    row_bytes: Option<u64>,
}

/// How bands lie among one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interleave {
    /// Band behind band.
    Bands,
    /// Row by row, of each band in turn.
    Rows,
    /// Cell by cell.
    Cells,
}

impl RawHeader {
    /// One band without gaps.
    pub(super) fn packed(opened: Opened, start: u64, is_big: bool) -> Self {
        let cell_step = opened.kind.bytes;
        let row_step = (opened.size[0] as u64).saturating_mul(cell_step as u64);
        Self { opened, is_big, start, bands: 1, band_start: 0, cell_step, row_step, row_bytes: None }
    }

    /// A band among others, counted from 1.
    fn with_band(mut self, interleave: Interleave, bands: usize, band: usize) -> Self {
        let each = self.opened.kind.bytes as u64;
        let [width, height] = self.opened.size.map(|length| length as u64);
        let row = self.row_bytes.unwrap_or(width.saturating_mul(each));
        let before = band as u64 - 1;
        self.bands = bands;
        (self.band_start, self.cell_step, self.row_step) = match interleave {
            Interleave::Bands => (before.saturating_mul(row).saturating_mul(height), each as usize, row),
            Interleave::Rows if self.row_bytes.is_some() => {
                (before.saturating_mul(row / bands as u64), each as usize, row)
            }
            Interleave::Rows => (before.saturating_mul(row), each as usize, row.saturating_mul(bands as u64)),
            Interleave::Cells => {
                let row = self.row_bytes.unwrap_or(row.saturating_mul(bands as u64));
                (before.saturating_mul(each), (each as usize).saturating_mul(bands), row)
            }
        };
        self
    }

    /// The bytes of all cells; `None` where they are more than can be counted.
    pub(super) fn all_bytes(&self) -> Option<u64> {
        let [width, height] = self.opened.size.map(|length| length as u64);
        let row = width.checked_mul(self.opened.kind.bytes as u64)?.checked_mul(self.bands as u64)?;
        self.row_bytes.unwrap_or(row).checked_mul(height)
    }
}

/// The header beside a raw raster: of the same name with `.hdr` in place of its extension, or behind it.
///
/// # Errors
/// No header, or one that does not describe a band of whole numbers or floats.
pub(super) fn read(raster: &Path, band: Option<usize>) -> Result<RawHeader> {
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
    check_kind(path, &bytes)?;
    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n").replace('\r', "\n");
    let text = text.trim_start_matches('\u{feff}');
    let extension = raster.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let header = match text.trim_start().strip_prefix("ENVI") {
        Some(fields) => envi(fields, band),
        None => esri(text, extension == "flt", band),
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

    /// The number of bands, and the one that is read, counted from 1.
    fn band(&self, name: &str, band: Option<usize>) -> Result<[usize; 2], String> {
        let count = self.parsed(name)?.unwrap_or(1_usize);
        match band {
            Some(band) if (1..=count).contains(&band) => Ok([count, band]),
            Some(band) => Err(no_such_band(count, band)),
            None if count == 1 => Ok([1, 1]),
            None => Err(several_bands(count)),
        }
    }

    /// A number of a list in braces, for a band.
    fn of_band(&self, name: &str, band: usize) -> Result<Option<f64>, String> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let number = text.split(',').nth(band - 1).and_then(|number| number.trim().parse().ok());
        let number = number.filter(|number: &f64| number.is_finite());
        number.map(Some).ok_or_else(|| format!("its {name} is \"{}\"", excerpt(text)))
    }
}

/// `name = value` a line; a value in braces may have several lines.
fn envi(text: &str, band: Option<usize>) -> Result<RawHeader, String> {
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
    let [bands, band] = fields.band("bands", band)?;
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
    let kind = kind.ok_or_else(|| {
        let number = fields.text("data type").unwrap_or_default();
        format!("its data type is {number}; 1 to 5 and 12 to 15 are read: whole numbers and floats")
    })?;
    let interleave = match fields.text("interleave").unwrap_or("bsq").to_lowercase().as_str() {
        "bsq" => Interleave::Bands,
        "bil" => Interleave::Rows,
        "bip" => Interleave::Cells,
        other => return Err(format!("its interleave is \"{}\"; bsq, bil and bip are read", excerpt(other))),
    };
    if fields.parsed::<f64>("file compression")?.unwrap_or(0.0) != 0.0 {
        return Err("its cells are packed (file compression), which is not read".into());
    }
    let opened = Opened {
        size: [fields.required("samples")?, fields.required("lines")?],
        kind,
        no_data: fields.text("data ignore value").map(str::to_owned),
        scaling: [fields.of_band("data gain values", band)?, fields.of_band("data offset values", band)?],
        georeference: envi_place(&fields)?,
    };
    let is_big = match fields.parsed("byte order")?.unwrap_or(0) {
        0 => false,
        1 => true,
        other => return Err(format!("its byte order is {other}; 0 and 1 are read")),
    };
    let start = fields.parsed("header offset")?.unwrap_or(0);
    Ok(RawHeader::packed(opened, start, is_big).with_band(interleave, bands, band))
}

/// The place of a raster of ENVI.
fn envi_place(fields: &Fields) -> Result<Georeference, String> {
    let text_system = fields.text("coordinate system string").and_then(ReferenceSystem::from_text);
    let Some(text) = fields.text("map info") else {
        let place = Georeference::default();
        return Ok(text_system.map_or(place.clone(), |system| place.with_system(system)));
    };
    // Projection, column and row of the reference (from 1), its x and y, width and height of a cell.
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let numbers: Vec<f64> = parts.iter().skip(1).take(6).map_while(|part| part.parse().ok()).collect();
    let [column, row, x, y, width, height] =
        numbers.try_into().map_err(|_| format!("its map info is \"{}\"", excerpt(text)))?;
    if !(width > 0.0
        && height > 0.0
        && [column, row, x, y, width, height].iter().all(|part| part.is_finite()))
    {
        return Err(format!("its map info is \"{}\"", excerpt(text)));
    }
    let of_name = |name: &str| {
        let part = parts.iter().find_map(|part| {
            let (found, value) = part.split_once('=')?;
            found.trim().eq_ignore_ascii_case(name).then_some(value.trim())
        });
        part.map(str::to_owned)
    };
    if let Some(angle) = of_name("rotation")
        && angle.parse::<f64>().is_ok_and(|angle| angle != 0.0)
    {
        return Err(format!("its map is turned by {} degrees, which is not read", excerpt(&angle)));
    }
    let corner = [x - (column - 1.0) * width, y + (row - 1.0) * height];
    let place = Georeference::north_up(corner, [width, height]);
    let is_wgs84 = |part: &&str| part.eq_ignore_ascii_case("WGS-84");
    let zone = parts.get(7).and_then(|zone| zone.parse::<u16>().ok()).filter(|zone| (1..=60).contains(zone));
    let is_south = parts.get(8).is_some_and(|half| half.eq_ignore_ascii_case("South"));
    let system = match (parts[0], zone) {
        _ if text_system.is_some() => text_system,
        ("UTM", Some(zone)) if parts.iter().any(is_wgs84) => {
            Some(ReferenceSystem::from_epsg(if is_south { 32700 } else { 32600 } + zone))
        }
        (name, _) if name.to_lowercase().starts_with("geographic") => {
            let is_plain = parts.iter().any(is_wgs84);
            let named = ReferenceSystem::named(name, Coordinates::Geographic);
            Some(if is_plain { ReferenceSystem::from_epsg(4326) } else { named })
        }
        _ => None,
    };
    Ok(system.map_or(place.clone(), |system| place.with_system(system)))
}

/// `name value` a line.
fn esri(text: &str, is_float_grid: bool, band: Option<usize>) -> Result<RawHeader, String> {
    let lines = text.lines().filter_map(|line| line.trim().split_once(char::is_whitespace));
    let fields = Fields(lines.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned())).collect());
    let [bands, band] = fields.band("nbands", band)?;
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
    let interleave = match fields.text("layout").unwrap_or("bil").to_lowercase().as_str() {
        "bil" => Interleave::Rows,
        "bsq" => Interleave::Bands,
        "bip" => Interleave::Cells,
        other => return Err(format!("its layout is \"{}\"; BIL, BSQ and BIP are read", excerpt(other))),
    };
    let cells_bytes =
        (width as u64).checked_mul(bits as u64 / 8).and_then(|bytes| bytes.checked_mul(bands as u64));
    let row_bytes = fields.parsed::<u64>("totalrowbytes")?.filter(|&bytes| Some(bytes) != cells_bytes);
    if row_bytes.is_some_and(|bytes| bands > 1 || cells_bytes.is_none_or(|cells| bytes < cells)) {
        return Err("its rows have other bytes (totalrowbytes) than their cells".into());
    }
    if fields.parsed::<u64>("bandgapbytes")?.unwrap_or(0) != 0 {
        return Err("its bands have gaps between them (bandgapbytes), which is not read".into());
    }
    let corner = |name: &str| finite(&fields, name);
    let place = match (corner("ulxmap")?, corner("ulymap")?, corner("xdim")?, corner("ydim")?) {
        // The centre of the first cell.
        (Some(x), Some(y), Some(width), Some(height)) => {
            Georeference::north_up([x - 0.5 * width, y + 0.5 * height], [width, height])
        }
        _ => esri_place(&fields, height)?,
    };
    let opened = Opened {
        size: [width, height],
        kind,
        no_data: fields.text("nodata").or_else(|| fields.text("nodata_value")).map(str::to_owned),
        scaling: [None; 2],
        georeference: place,
    };
    let is_big = match order.as_str() {
        "i" | "lsbfirst" | "intel" | "vax_f" => false,
        "m" | "msbfirst" | "motorola" => true,
        other => return Err(format!("its byteorder is \"{}\"; I and M are read", excerpt(other))),
    };
    let start = fields.parsed("skipbytes")?.unwrap_or(0);
    let header = RawHeader { row_bytes, ..RawHeader::packed(opened, start, is_big) };
    Ok(header.with_band(interleave, bands, band))
}

/// A number of the place.
fn finite(fields: &Fields, name: &str) -> Result<Option<f64>, String> {
    match fields.parsed::<f64>(name)? {
        Some(value) if !value.is_finite() => Err(format!("its {name} is {value}, it must be finite")),
        value => Ok(value),
    }
}

/// The place of a raster by its lower left corner, or by the centre of the cell there.
fn esri_place(fields: &Fields, height: usize) -> Result<Georeference, String> {
    let number = |name: &str| finite(fields, name);
    let Some(cell) = number("cellsize")? else { return Ok(Georeference::default()) };
    let corner = |corner: &str, centre: &str| {
        let at_centre = number(centre)?.map(|at| at - 0.5 * cell);
        Ok::<_, String>(number(corner)?.or(at_centre))
    };
    Ok(match (corner("xllcorner", "xllcenter")?, corner("yllcorner", "yllcenter")?) {
        (Some(x), Some(y)) => Georeference::north_up([x, y + height as f64 * cell], [cell, cell]),
        _ => Georeference::default(),
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
        let header = envi(text, None).unwrap();
        let opened = &header.opened;
        assert_eq!((opened.size, opened.kind.name().as_str(), header.is_big), ([40, 30], "u16", true));
        assert_eq!((header.start, opened.no_data.as_deref()), (16, Some("65535")));
        assert_eq!(opened.georeference.cell_at([500_031.0, 4_199_999.0]), Ok([1.0, 0.0]));
        assert_eq!(opened.georeference.system.as_ref().and_then(|system| system.epsg), Some(32633));
        let bad = |from: &str, to: &str| envi(&text.replace(from, to), None).err().unwrap();
        assert_eq!(
            bad("bands = 1", "bands = 3"),
            "it has 3 bands, a raster of one is read: name it by --band"
        );
        assert_eq!(bad("samples = 40", "samples = x"), "its samples is \"x\"");
        assert_eq!(bad("samples = 40", ""), "it has no samples");
        assert!(bad("type = 12", "type = 6").starts_with("its data type is 6; 1 to 5 and 12 to 15 are read"));
        assert_eq!(bad("WGS-84}", "WGS-84"), "its map info has no closing brace");
        assert!(bad("WGS-84}", "WGS-84, rotation=5.5}").contains("turned by 5.5 degrees"));
        let plain = envi(&text.replace("UTM", "Geographic Lat/Lon"), None).unwrap();
        assert!(plain.opened.georeference.is_in_degrees());
    }

    /// Where the second of three bands lies.
    #[test]
    fn bands_lie_in_three_orders() {
        for (name, place) in [("bsq", (2400, 2, 80)), ("bil", (80, 2, 240)), ("bip", (2, 6, 240))] {
            let text = format!(
                "\nsamples = 40\nlines = 30\nbands = 3\ndata type = 12\ninterleave = {name}\n\
                data gain values = {{1, .5, 2}}\ndata offset values = {{0, -1, 0}}\n"
            );
            let header = envi(&text, Some(2)).unwrap();
            assert_eq!((header.band_start, header.cell_step, header.row_step), place, "{name}");
            assert_eq!(header.all_bytes(), Some(7200));
            assert_eq!(header.opened.scaling, [Some(0.5), Some(-1.0)]);
            assert_eq!(envi(&text, Some(4)).err().unwrap(), "there is no band 4: it has 3 bands");
            let text = format!("ncols 40\nnrows 30\nnbands 3\nnbits 16\nlayout {name}\n");
            let header = esri(&text, false, Some(2)).unwrap();
            assert_eq!((header.band_start, header.cell_step, header.row_step), place, "{name}");
        }
    }

    #[test]
    fn headers_of_esri() {
        let text = "NROWS 30\nNCOLS 40\nNBANDS 1\nNBITS 16\nPIXELTYPE SIGNEDINT\nBYTEORDER M\nLAYOUT BIL\n\
            NODATA -9999\nULXMAP 15\nULYMAP 85\nXDIM 30\nYDIM 30\nSKIPBYTES 4\nTOTALROWBYTES 80\n";
        let header = esri(text, false, None).unwrap();
        let opened = &header.opened;
        assert_eq!((opened.size, opened.kind.name().as_str(), header.is_big), ([40, 30], "i16", true));
        assert_eq!((header.start, opened.no_data.as_deref()), (4, Some("-9999")));
        assert_eq!(opened.georeference.cell_at([31.0, 99.0]), Ok([1.0, 0.0]));
        let wide = esri(&text.replace("BYTES 80", "BYTES 90"), false, None).unwrap();
        assert_eq!((wide.row_step, wide.all_bytes()), (90, Some(2700)));
        let bad = |from: &str, to: &str| esri(&text.replace(from, to), false, None).err().unwrap();
        assert!(bad("BYTES 80", "BYTES 70").contains("totalrowbytes"));
        assert!(bad("NBITS 16", "NBITS 1").contains("of 1 bits"));
        assert!(bad("BYTEORDER M", "BYTEORDER X").contains("byteorder"));
        let float =
            "ncols 3\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 10\nNODATA_value -1\nbyteorder LSBFIRST\n";
        let header = esri(float, true, None).unwrap();
        let opened = &header.opened;
        assert_eq!((opened.size, opened.kind.name().as_str(), header.is_big), ([3, 2], "f32", false));
        assert_eq!(opened.georeference.cell_at([5.0, 15.0]), Ok([0.0, 0.0]));
    }
}
