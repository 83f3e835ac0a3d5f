//! Virtual rasters (`.vrt`) of one source: another raster, or a part of it, as it is.
//!
//! Source: GDAL's "VRT – GDAL Virtual Format".

use std::path::{Path, PathBuf};

use roxmltree::{Document, Node};

use super::file::{RasterFile, is_raster, is_virtual, warn_once};
use super::georeference::Georeference;
use super::geotiff::{no_such_band, several_bands};
use super::kind::NoData;
use super::metadata::{Metadata, child_text, children, number, of_dataset, projection_beside, text_beside};
use super::opened::Opened;
use crate::failure::{Failure, Result};
use crate::read::text::excerpt;

/// What a band of a virtual raster shows.
struct Shown {
    size: [u32; 2],
    source: PathBuf,
    source_band: usize,
    /// The first column and row that it shows.
    first: [u32; 2],
    /// GDAL's name of the type.
    data_type: String,
    /// The number of no data that its source has.
    source_no_data: Option<String>,
    metadata: Metadata,
}

impl RasterFile {
    /// Opens a file; one without an extension that is known is taken for `.npy`. `band` is counted from 1; without it the file has one. `cache_bytes` is
    /// what decoded strips or tiles may take.
    ///
    /// # Errors
    /// What is no raster of numbers, what says of them what is not understood, and what is cut short.
    pub(crate) fn open(path: &Path, band: Option<usize>, cache_bytes: u64) -> Result<Self> {
        if is_virtual(path) {
            open(path, band, cache_bytes)
        } else {
            Self::open_plain(path, band, cache_bytes)
        }
    }
}

/// Opens a virtual raster.
///
/// # Errors
/// All but one source, whose numbers are shown as they are.
fn open(path: &Path, band: Option<usize>, cache_bytes: u64) -> Result<RasterFile> {
    let invalid = |message: String| Failure::file(path, message);
    let text = text_beside(path)?.ok_or_else(|| invalid("cannot be read: there is no such file".into()))?;
    let document = Document::parse(&text).map_err(|error| invalid(format!("it is no XML: {error}")))?;
    let shown = shown(document.root_element(), path, band).map_err(invalid)?;
    if is_virtual(&shown.source) {
        return Err(invalid("its source is a virtual raster too: name that one".into()));
    }
    if !is_raster(&shown.source) {
        let source = shown.source.display();
        return Err(invalid(format!(
            "its source {source} is of a format that is not read (gdal_translate makes a GeoTIFF of it)"
        )));
    }
    if !shown.source.is_file() {
        return Err(invalid(format!("its source {} is no regular file", shown.source.display())));
    }
    let source = RasterFile::open_plain(&shown.source, Some(shown.source_band), cache_bytes)?;
    let is_inside =
        |k: usize| shown.first[k].checked_add(shown.size[k]).is_some_and(|end| end <= source.size[k]);
    if !is_inside(0) || !is_inside(1) {
        let [width, height] = source.size;
        return Err(invalid(format!("it shows more than its source has, which is {width} x {height}")));
    }
    check_source(&source, &shown).map_err(invalid)?;
    let mut georeference = shown.metadata.place(Georeference::default());
    if georeference.system.is_none()
        && let Some(system) = projection_beside(path)?
    {
        georeference = georeference.with_system(system);
    }
    let opened = Opened {
        size: shown.size.map(|length| length as usize),
        kind: source.kind,
        no_data: shown.metadata.no_data,
        scaling: [shown.metadata.scale, shown.metadata.offset],
        georeference,
    };
    RasterFile::part(path, source, shown.first, opened)
}

/// What would change numbers on their way from the source.
fn check_source(source: &RasterFile, shown: &Shown) -> Result<(), String> {
    let name = match shown.data_type.as_str() {
        "Byte" | "UInt8" => "u8",
        "Int8" => "i8",
        "UInt16" => "u16",
        "Int16" => "i16",
        "UInt32" => "u32",
        "Int32" => "i32",
        "UInt64" => "u64",
        "Int64" => "i64",
        "Float16" => "f16",
        "Float32" => "f32",
        "Float64" => "f64",
        _ => "another type",
    };
    if name != source.kind.name() {
        let (own, found) = (excerpt(&shown.data_type), source.kind.name());
        return Err(format!(
            "it turns its source's {found} into {own}, which is not done here (gdal_translate)"
        ));
    }
    if source.has_mask() {
        return Err("its source has a mask, which it does not show: name the source itself".into());
    }
    let own = shown.metadata.no_data.as_deref().and_then(|text| NoData::parse(text, source.kind));
    if let Some(text) = &shown.source_no_data
        && NoData::parse(text, source.kind) != own
    {
        return Err("its source has another number of no data than it has itself, which is not read".into());
    }
    if source.no_data().is_some() && own.is_none() {
        warn_once(format!(
            "{}: it names no number of no data, though its source has one: none is applied",
            source.path.display()
        ));
    }
    Ok(())
}

fn shown(root: Node<'_, '_>, path: &Path, band: Option<usize>) -> Result<Shown, String> {
    if root.tag_name().name() != "VRTDataset" {
        return Err("it is no virtual raster of GDAL (VRTDataset)".into());
    }
    if let Some(class) = root.attribute("subClass") {
        return Err(format!(
            "it is a {}, which computes its cells: gdal_translate makes a GeoTIFF of it",
            excerpt(class)
        ));
    }
    if children(root, "MaskBand").next().is_some() {
        return Err("it has a mask of its own, which is not read".into());
    }
    let length = |name: &str| {
        let text = root.attribute(name).unwrap_or_default();
        let length = text.trim().parse::<i32>().ok().filter(|&length| length > 0);
        length.map(|length| length as u32).ok_or_else(|| format!("its {name} is \"{}\"", excerpt(text)))
    };
    let size = [length("rasterXSize")?, length("rasterYSize")?];
    let count = children(root, "VRTRasterBand").count();
    let band = match band {
        None if count > 1 => return Err(several_bands(count)),
        Some(band) if band > count => return Err(no_such_band(count, band)),
        band => band.unwrap_or(1),
    };
    let metadata = of_dataset(root, "VRTRasterBand", band)?;
    if metadata.has_joint_no_data {
        return Err("its bands have no data together (NODATA_VALUES), which is not read".into());
    }
    let number_of = |node: &Node<'_, '_>| node.attribute("band").and_then(|number| number.parse().ok());
    let (_, node) = children(root, "VRTRasterBand")
        .enumerate()
        .find(|(place, node)| number_of(node).unwrap_or(place + 1) == band)
        .ok_or_else(|| format!("it has no band {band}"))?;
    if let Some(class) = node.attribute("subClass") {
        return Err(format!("its band is a {}, which is not read", excerpt(class)));
    }
    if children(node, "MaskBand").next().is_some() {
        return Err("it has a mask of its own, which is not read".into());
    }
    let mut sources = node.children().filter(|child| child.tag_name().name().ends_with("Source"));
    let (Some(source), None) = (sources.next(), sources.next()) else {
        let count = node.children().filter(|child| child.tag_name().name().ends_with("Source")).count();
        return Err(format!(
            "its band has {count} sources, one is read: gdal_translate makes a GeoTIFF of it"
        ));
    };
    let data_type = node.attribute("dataType").unwrap_or("Byte").to_owned();
    let (file, source_band, first) = source_of(source, path, size)?;
    let source_no_data = child_text(source, "NODATA").map(str::to_owned);
    Ok(Shown { size, source: file, source_band, first, data_type, source_no_data, metadata })
}

/// The file, the band, and the first column and row of a source.
fn source_of(
    source: Node<'_, '_>,
    path: &Path,
    size: [u32; 2],
) -> Result<(PathBuf, usize, [u32; 2]), String> {
    let known = ["SourceFilename", "SourceBand", "SourceProperties", "SrcRect", "DstRect", "NODATA"];
    if !["SimpleSource", "ComplexSource"].contains(&source.tag_name().name()) {
        return Err(format!("its source is a {}, a SimpleSource is read", excerpt(source.tag_name().name())));
    }
    for child in source.children().filter(Node::is_element) {
        let name = child.tag_name().name();
        if !known.contains(&name) {
            return Err(format!("its source has a {}, which is not read", excerpt(name)));
        }
    }
    let node = children(source, "SourceFilename").next().ok_or("its source names no file")?;
    let file = Path::new(node.text().unwrap_or_default().trim());
    let file = match node.attribute("relativeToVRT") {
        Some("1") => path.parent().unwrap_or(Path::new("")).join(file),
        _ => file.to_owned(),
    };
    let band = child_text(source, "SourceBand").unwrap_or("1");
    let band = band.parse().ok().filter(|&band: &usize| band > 0);
    let band = band.ok_or("its source is the mask of a band, which is not read")?;
    let rectangle = |name: &'static str| {
        let Some(node) = children(source, name).next() else { return Ok(None) };
        let mut all = [0.0; 4];
        for (value, name) in all.iter_mut().zip(["xOff", "yOff", "xSize", "ySize"]) {
            *value = number(name, node.attribute(name).unwrap_or_default())?;
        }
        Ok::<_, String>(Some(all))
    };
    let own = [0.0, 0.0, f64::from(size[0]), f64::from(size[1])];
    let [from, to] = [rectangle("SrcRect")?, rectangle("DstRect")?].map(|found| found.unwrap_or(own));
    if to != own {
        return Err(
            "its source does not fill it, which is not read: gdal_translate makes a GeoTIFF of it".into()
        );
    }
    let is_whole = from[..2].iter().all(|&at| at >= 0.0 && at.fract() == 0.0 && at < f64::from(i32::MAX));
    if from[2..] != own[2..] || !is_whole {
        return Err("it shows its source larger, smaller or between its cells, which is not done here (gdal_translate)".into());
    }
    Ok((file, band, [from[0] as u32, from[1] as u32]))
}
