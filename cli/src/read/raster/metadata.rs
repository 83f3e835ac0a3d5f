//! What GDAL writes in XML: beside a raster (`.aux.xml`, "persistent auxiliary metadata"), and in a tag of a TIFF.
//!
//! Sources: GDAL's `data/gdalvrt.xsd` and `frmts/gtiff` (items with a role), GDAL's documentation of PAM.

use std::path::{Path, PathBuf};

use hullfield_mesh_files::foreign_kind_but_xml;
use roxmltree::{Document, Node};

use super::georeference::Georeference;
use super::reference_system::ReferenceSystem;
use crate::failure::{Failure, Result};
use crate::read::text::excerpt;

/// The longest text that is read.
pub(super) const MAX_BYTES: u64 = 1 << 24;

/// What is said of a band and its raster, beside the numbers of cells.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Metadata {
    pub(super) no_data: Option<String>,
    pub(super) scale: Option<f64>,
    pub(super) offset: Option<f64>,
    pub(super) transform: Option<[f64; 6]>,
    pub(super) system: Option<ReferenceSystem>,
    pub(super) control_point_count: usize,
    /// Whether no data is said by a number of each band together: no data is where all have theirs.
    pub(super) has_joint_no_data: bool,
}

/// Reads a text beside a raster; `None` where there is none.
pub(super) fn text_beside(path: &Path) -> Result<Option<String>> {
    let Ok(metadata) = std::fs::metadata(path) else { return Ok(None) };
    if !metadata.is_file() {
        return Err(Failure::file(path, "it is no regular file"));
    }
    if metadata.len() > MAX_BYTES {
        return Err(Failure::file(path, format!("it is longer than {MAX_BYTES} bytes")));
    }
    let bytes = std::fs::read(path).map_err(|error| Failure::unreadable(path, &error))?;
    if let Some(kind) = foreign_kind_but_xml(&bytes) {
        return Err(Failure::file(path, format!("it is {kind}")));
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
}

/// The name of a file with more letters behind it.
pub(super) fn behind(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
    name.into()
}

/// Reads `FILE.aux.xml` beside a raster, for a band counted from 1; nothing where there is none.
pub(super) fn beside(raster: &Path, band: usize) -> Result<Metadata> {
    let path = behind(raster, ".aux.xml");
    let Some(text) = text_beside(&path)? else { return Ok(Metadata::default()) };
    let invalid = |message: String| Failure::file(&path, message);
    let document = Document::parse(&text).map_err(|error| invalid(format!("it is no XML: {error}")))?;
    let root = document.root_element();
    if root.tag_name().name() != "PAMDataset" {
        // Esri writes files of this name too.
        return Ok(Metadata::default());
    }
    of_dataset(root, "PAMRasterBand", band).map_err(invalid)
}

/// The elements of a name in another.
pub(super) fn children<'a>(node: Node<'a, 'a>, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(move |child| child.tag_name().name() == name)
}

/// The text of an element in another.
pub(super) fn child_text<'a>(node: Node<'a, 'a>, name: &'static str) -> Option<&'a str> {
    children(node, name).next().map(|child| child.text().unwrap_or_default().trim())
}

pub(super) fn number(name: &str, text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| format!("its {name} is \"{}\"", excerpt(text)))
}

/// What a dataset of PAM or of a VRT says of a band. `bands` is the name of a band's element.
pub(super) fn of_dataset(root: Node<'_, '_>, bands: &'static str, band: usize) -> Result<Metadata, String> {
    let root: Node<'_, '_> = root;
    let mut found = Metadata::default();
    if let Some(text) = child_text(root, "GeoTransform") {
        let numbers: Result<Vec<f64>, String> =
            text.split(',').map(|part| number("GeoTransform", part)).collect();
        let &[c, a, b, f, d, e] = numbers?.as_slice() else {
            return Err(format!("its GeoTransform is \"{}\", six numbers expected", excerpt(text)));
        };
        found.transform = Some([a, b, c, d, e, f]);
    }
    found.system = child_text(root, "SRS").and_then(ReferenceSystem::from_text);
    found.control_point_count = children(root, "GCPList").flat_map(|list| children(list, "GCP")).count();
    found.has_joint_no_data = children(root, "Metadata")
        .flat_map(|list| children(list, "MDI"))
        .any(|item| item.attribute("key") == Some("NODATA_VALUES"));
    let number_of = |node: &Node<'_, '_>| node.attribute("band").and_then(|number| number.parse().ok());
    let Some(node) = children(root, bands)
        .enumerate()
        .find(|(place, node)| number_of(node).unwrap_or(place + 1) == band)
        .map(|(_, node)| node)
    else {
        return Ok(found);
    };
    let names = ["NoDataValue", "NoDataValueAsInt64", "NoDataValueAsUInt64"];
    found.no_data = names.iter().find_map(|name| child_text(node, name)).map(str::to_owned);
    for (name, value) in [("Scale", &mut found.scale), ("Offset", &mut found.offset)] {
        *value = child_text(node, name).map(|text| number(name, text)).transpose()?;
    }
    Ok(found)
}

/// The scale and the offset of a band, counted from 1, in the tag of a TIFF.
pub(super) fn of_tag(text: &str, band: usize) -> Result<Metadata, String> {
    let document = Document::parse(text).map_err(|error| format!("its GDAL metadata is no XML: {error}"))?;
    let mut found = Metadata::default();
    for item in children(document.root_element(), "Item") {
        let name = item.attribute("name").unwrap_or_default();
        let sample = item.attribute("sample").and_then(|sample| sample.parse::<usize>().ok());
        let value = item.text().unwrap_or_default();
        match (item.attribute("role"), name) {
            (Some("scale"), _) if sample == Some(band - 1) => found.scale = Some(number("scale", value)?),
            (Some("offset"), _) if sample == Some(band - 1) => found.offset = Some(number("offset", value)?),
            (_, "NODATA_VALUES") if sample.is_none() => found.has_joint_no_data = true,
            _ => {}
        }
    }
    Ok(found)
}

impl Metadata {
    /// Puts the place that is said here before one of the raster's own. Control points replace a place too, as in GDAL.
    pub(super) fn place(&self, own: Georeference) -> Georeference {
        let own = match &self.system {
            Some(system) => own.with_system(system.clone()),
            None => own,
        };
        match self.transform {
            Some(transform) => own.with_transform(transform),
            None if self.control_point_count > 0 && !own.has_place() => {
                Georeference { control_point_count: self.control_point_count, ..own }
            }
            None => own,
        }
    }
}

/// The transform of a world file beside a raster; `None` where there is none.
///
/// Its names are those that GDAL tries: the first and the last letter of the extension and `w`, the extension and `w`, and `wld`.
pub(super) fn world_file(raster: &Path) -> Result<Option<[f64; 6]>> {
    let extension = raster.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let mut names = Vec::new();
    if let (Some(first), Some(last)) = (extension.chars().next(), extension.chars().next_back()) {
        names.extend([format!("{first}{last}w"), format!("{extension}w")]);
    }
    names.push("wld".to_owned());
    let all = names.iter().flat_map(|name| [name.to_lowercase(), name.to_uppercase()]);
    let Some(path) =
        all.map(|name| raster.with_extension(name)).find(|path| path.is_file() && *path != raster)
    else {
        return Ok(None);
    };
    let Some(text) = text_beside(&path)? else { return Ok(None) };
    let invalid = |message: &str| Failure::file(&path, message);
    let numbers: Vec<f64> = text
        .split(['\n', '\r'])
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .take(6)
        .map_while(|line| line.parse().ok().filter(|number: &f64| number.is_finite()))
        .collect();
    let &[a, d, b, e, x, y] = numbers.as_slice() else {
        return Err(invalid("a world file has six lines of a number each"));
    };
    if a * e - b * d == 0.0 {
        return Err(invalid("its cells have no area"));
    }
    // The place of the centre of the first cell.
    Ok(Some([a, b, x - 0.5 * (a + b), d, e, y - 0.5 * (d + e)]))
}

/// The reference system of a `.prj` beside a raster.
pub(super) fn projection_beside(raster: &Path) -> Result<Option<ReferenceSystem>> {
    let text = text_beside(&raster.with_extension("prj"))?;
    Ok(text.and_then(|text| ReferenceSystem::from_text(&text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_of_a_band() {
        let text = "<PAMDataset><SRS>GEOGCS[\"WGS 84\",AUTHORITY[\"EPSG\",\"4326\"]]</SRS><GeoTransform> 5, 2.5, 0, 9, 0, -2</GeoTransform>\
            <PAMRasterBand band=\"2\"><NoDataValue le_hex_equiv=\"00\"> -7 </NoDataValue><Offset>1</Offset><Scale>.5</Scale></PAMRasterBand></PAMDataset>";
        let document = Document::parse(text).unwrap();
        let read = |band| of_dataset(document.root_element(), "PAMRasterBand", band).unwrap();
        let band = read(2);
        assert_eq!((band.no_data.as_deref(), band.scale, band.offset), (Some("-7"), Some(0.5), Some(1.0)));
        assert_eq!(band.transform, Some([2.5, 0.0, 5.0, 0.0, -2.0, 9.0]));
        let other = read(1);
        assert!(other.no_data.is_none() && other.system.is_some_and(|system| system.epsg == Some(4326)));
        let tag = "<GDALMetadata><Item name=\"SCALE\" sample=\"1\" role=\"scale\">0.1</Item>\
            <Item name=\"OFFSET\" sample=\"1\" role=\"offset\">-3</Item><Item name=\"x\">y</Item></GDALMetadata>";
        let [first, second] = [1, 2].map(|band| of_tag(tag, band).unwrap());
        assert_eq!(first, Metadata::default());
        assert_eq!((second.scale, second.offset), (Some(0.1), Some(-3.0)));
        assert!(of_tag("<a", 1).is_err() && of_tag(&tag.replace("0.1", "nan"), 2).is_err());
    }
}
