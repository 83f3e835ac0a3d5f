//! Where the cells of a raster lie on a map.
//!
//! Sources: OGC GeoTIFF 1.1 (OGC 19-008r4), requirement classes of tiepoints, scales and transformations; GDAL's geotransforms.

use hullfield::flow::{Ellipsoid, Geographic};
use tiff::tags::Tag;

use super::epsg::Coordinates;
use super::reference_system::ReferenceSystem;

/// The tags of a TIFF that say where it lies.
pub(crate) const GEO_TAGS: [Tag; 6] = [
    Tag::ModelPixelScaleTag,
    Tag::ModelTiepointTag,
    Tag::ModelTransformationTag,
    Tag::GeoKeyDirectoryTag,
    Tag::GeoDoubleParamsTag,
    Tag::GeoAsciiParamsTag,
];
/// The tags of them that hold the transform.
const TRANSFORM_TAGS: [Tag; 3] =
    [Tag::ModelPixelScaleTag, Tag::ModelTiepointTag, Tag::ModelTransformationTag];
/// The key of what a coordinate of the raster is: 1 where whole numbers are the corners of cells, 2 where they are centres.
const RASTER_TYPE: u16 = 1025;
/// The part of a cell by which two places may differ.
const SAME_PLACE: f64 = 0.01;
/// The largest cosine of the angle between columns and rows that still counts as a right one.
const SHEAR: f64 = 1e-9;

/// The content of a tag.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum GeoValue {
    Doubles(Vec<f64>),
    Shorts(Vec<u16>),
    Text(String),
}

/// The place of a raster on a map.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Georeference {
    /// As tags of a TIFF.
    pub(crate) tags: Vec<(Tag, GeoValue)>,
    /// The coefficients of `x = a column + b row + c` and `y = d column + e row + f`, for columns and rows of the corners of cells.
    pub(super) transform: Option<[f64; 6]>,
    pub(super) system: Option<ReferenceSystem>,
    /// Ground control points: places of the map that lie on no grid.
    pub(super) control_point_count: usize,
}

impl Georeference {
    /// From the tags of a TIFF.
    pub(super) fn from_tags(tags: Vec<(Tag, GeoValue)>) -> Self {
        let mut place = Self { tags, ..Self::default() };
        place.transform = place.transform_of_tags();
        if place.transform.is_none() {
            place.control_point_count = place.doubles(Tag::ModelTiepointTag).map_or(0, |all| all.len() / 6);
        }
        let text = place.tags.iter().find_map(|(_, value)| match value {
            GeoValue::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let doubles = place.doubles(Tag::GeoDoubleParamsTag).unwrap_or_default();
        place.system = ReferenceSystem::from_keys(place.keys(), doubles, text.unwrap_or_default());
        place
    }

    /// From the map coordinates of the upper left corner of the first cell, and the width and the height of a cell.
    pub(crate) fn north_up([x, y]: [f64; 2], [width, height]: [f64; 2]) -> Self {
        Self::default().with_transform([width, 0.0, x, 0.0, -height, y])
    }

    /// From what a column and a row go on by, and the outer corner of the first cell.
    pub(crate) fn with_corner(column: [f64; 2], row: [f64; 2], corner: [f64; 2]) -> Self {
        Self::default().with_transform([column[0], row[0], corner[0], column[1], row[1], corner[1]])
    }

    /// The same with another transform.
    pub(super) fn with_transform(mut self, transform: [f64; 6]) -> Self {
        let [a, b, c, d, e, f] = transform;
        self.tags.retain(|(tag, _)| !TRANSFORM_TAGS.contains(tag));
        for (_, value) in &mut self.tags {
            if let GeoValue::Shorts(keys) = value {
                keys.chunks_exact_mut(4)
                    .skip(1)
                    .filter(|key| key[0] == RASTER_TYPE)
                    .for_each(|key| key[3] = 1);
            }
        }
        if b == 0.0 && d == 0.0 && a > 0.0 && e < 0.0 {
            let scale = GeoValue::Doubles(vec![a, -e, 0.0]);
            let tiepoint = GeoValue::Doubles(vec![0.0, 0.0, 0.0, c, f, 0.0]);
            self.tags.insert(0, (Tag::ModelPixelScaleTag, scale));
            self.tags.insert(1, (Tag::ModelTiepointTag, tiepoint));
        } else {
            let matrix = vec![a, b, 0.0, c, d, e, 0.0, f, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
            self.tags.insert(0, (Tag::ModelTransformationTag, GeoValue::Doubles(matrix)));
        }
        self.transform = Some(transform);
        self.control_point_count = 0;
        self
    }

    /// The same with another reference system. Tags name it by its number; a text without one is not written.
    pub(super) fn with_system(mut self, system: ReferenceSystem) -> Self {
        let keys = system.keys();
        let is_point = self.is_point();
        self.tags.retain(|(tag, _)| TRANSFORM_TAGS.contains(tag));
        if !keys.is_empty() {
            let mut all =
                vec![[1, 1, 0, 1 + keys.len() as u16], keys[0], [RASTER_TYPE, 0, 1, 1 + u16::from(is_point)]];
            all.extend(&keys[1..]);
            self.tags.push((Tag::GeoKeyDirectoryTag, GeoValue::Shorts(all.concat())));
        }
        self.system = Some(system);
        self
    }

    fn doubles(&self, tag: Tag) -> Option<&[f64]> {
        self.tags.iter().find_map(|(found, value)| match value {
            GeoValue::Doubles(values) if *found == tag => Some(values.as_slice()),
            _ => None,
        })
    }

    fn keys(&self) -> &[u16] {
        let keys = self.tags.iter().find_map(|(_, value)| match value {
            GeoValue::Shorts(keys) => Some(keys.as_slice()),
            _ => None,
        });
        keys.unwrap_or_default()
    }

    /// Whether whole numbers are the centres of cells.
    fn is_point(&self) -> bool {
        self.keys().chunks_exact(4).skip(1).any(|key| [key[0], key[3]] == [RASTER_TYPE, 2])
    }

    /// `None` where the raster has no place, or more control points than a linear map has. As GDAL does it, a scale comes before a matrix, and its
    /// sign says nothing.
    fn transform_of_tags(&self) -> Option<[f64; 6]> {
        let mut transform = match (
            self.doubles(Tag::ModelPixelScaleTag),
            self.doubles(Tag::ModelTiepointTag),
            self.doubles(Tag::ModelTransformationTag),
        ) {
            (Some(&[width, height, ..]), Some(&[column, row, _, x, y, _, ..]), _)
                if width != 0.0 && height != 0.0 =>
            {
                let height = height.abs();
                [width, 0.0, x - width * column, 0.0, -height, y + height * row]
            }
            (_, _, Some(&[a, b, _, c, d, e, _, f, _, _, _, _, _, _, _, _])) => [a, b, c, d, e, f],
            _ => return None,
        };
        if self.is_point() {
            let [a, b, c, d, e, f] = &mut transform;
            *c -= 0.5 * (*a + *b);
            *f -= 0.5 * (*d + *e);
        }
        transform.iter().all(|number| number.is_finite()).then_some(transform)
    }

    /// Whether the raster lies somewhere.
    pub(crate) fn has_place(&self) -> bool {
        self.transform.is_some()
    }

    /// The width and the height of a cell in the units of the map.
    pub(crate) fn cell_size(&self) -> Option<[f64; 2]> {
        self.transform.map(|[a, b, _, d, e, _]| [a.hypot(d), b.hypot(e)])
    }

    /// Whether columns and rows form no right angle.
    pub(crate) fn is_sheared(&self) -> bool {
        self.transform
            .is_some_and(|[a, b, _, d, e, _]| (a * b + d * e).abs() > SHEAR * a.hypot(d) * b.hypot(e))
    }

    /// Whether coordinates are degrees.
    pub(crate) fn is_in_degrees(&self) -> bool {
        self.system.as_ref().and_then(|system| system.coordinates) == Some(Coordinates::Geographic)
    }

    /// Where the cells lie on a globe, for a raster of this many rows.
    ///
    /// # Errors
    /// What keeps lengths in metres from being known.
    pub(crate) fn geographic(&self, row_count: u32) -> Result<Geographic, String> {
        let transform = self.transform.ok_or("it says no place on a map, so its cells have no size")?;
        let system = self
            .system
            .as_ref()
            .ok_or("nothing says that its coordinates are degrees (a .prj beside it would)")?;
        let globe = system.globe;
        if !self.is_in_degrees() {
            return Err(format!(
                "its coordinates are those of {}, and no degrees: --units map counts them",
                system.name()
            ));
        }
        if globe.is_turned {
            return Err("its degrees are those of turned poles (gdalwarp)".to_owned());
        }
        let [a, b, _, d, e, f] = transform;
        if b.abs() > SHEAR * a.abs() || d.abs() > SHEAR * e.abs() {
            return Err("its columns are no meridians (gdalwarp)".to_owned());
        }
        let edges = [f, f + e * f64::from(row_count)];
        let ellipsoid = globe.ellipsoid.map_or(Ellipsoid::WGS84, |[semi_major_axis, flattening]| Ellipsoid {
            semi_major_axis,
            flattening,
        });
        let latitudes = edges.map(|edge| edge * globe.degrees_a_unit);
        Ok(Geographic { latitudes, cell_width: a.abs() * globe.degrees_a_unit, ellipsoid })
    }

    /// Ground control points that give the place, where no grid does.
    pub(crate) fn control_point_count(&self) -> usize {
        self.control_point_count
    }

    /// The place on the map of a cell's centre; none where the raster has no place.
    pub(crate) fn centre_of(&self, [column, row]: [f64; 2]) -> Option<[f64; 2]> {
        let [a, b, c, d, e, f] = self.transform?;
        let (column, row) = (column + 0.5, row + 0.5);
        Some([a * column + b * row + c, d * column + e * row + f])
    }

    /// The column and the row of the cell at a place of the map, rounded down; not all of them are in the raster.
    ///
    /// # Errors
    /// A raster without a place, and one whose cells have no area.
    pub(crate) fn cell_at(&self, [x, y]: [f64; 2]) -> Result<[f64; 2], &'static str> {
        let [a, b, c, d, e, f] = self.transform.ok_or("it has no map coordinates")?;
        let area = a * e - b * d;
        let (x, y) = (x - c, y - f);
        let cell = [(e * x - b * y) / area, (a * y - d * x) / area].map(f64::floor);
        if cell.iter().all(|part| part.is_finite()) {
            Ok(cell)
        } else {
            Err("its map coordinates give cells no area")
        }
    }

    /// What the cells of two rasters of one size do not share, as a text with the own and the other's; `None` where they lie alike.
    pub(crate) fn difference(&self, other: &Self, [width, height]: [u32; 2]) -> Option<String> {
        if let (Some(own), Some(other)) = (&self.system, &other.system)
            && own.equals(other) == Some(false)
        {
            let (own, other) = (own.name(), other.name());
            return Some(format!("its reference system is {own}, the map's is {other}"));
        }
        let (Some(own), Some(theirs)) = (self.transform, other.transform) else { return None };
        let corner = |[a, b, c, d, e, f]: [f64; 6], [column, row]: [f64; 2]| {
            [a * column + b * row + c, d * column + e * row + f]
        };
        let [width, height] = [f64::from(width), f64::from(height)];
        let [cell_width, cell_height] = other.cell_size().unwrap_or_default();
        let slack = SAME_PLACE * cell_width.min(cell_height);
        let is_same = [[0.0, 0.0], [width, 0.0], [0.0, height]].into_iter().all(|at| {
            let (own, theirs) = (corner(own, at), corner(theirs, at));
            (own[0] - theirs[0]).hypot(own[1] - theirs[1]) <= slack
        });
        if is_same {
            return None;
        }
        let text = |transform, place: &Self| {
            let ([x, y], [width, height]) =
                (corner(transform, [0.0, 0.0]), place.cell_size().unwrap_or_default());
            let rows = if transform[4] > 0.0 { ", rows northward" } else { "" };
            format!("at {x}, {y} with cells of {width} x {height}{rows}")
        };
        Some(format!("its first corner lies {}, the map's {}", text(own, self), text(theirs, other)))
    }

    /// Two reference systems that can't be compared, by their names.
    pub(crate) fn unlike_systems<'a>(&'a self, other: &'a Self) -> Option<[&'a str; 2]> {
        let (own, other) = (self.system.as_ref()?, other.system.as_ref()?);
        own.equals(other).is_none().then(|| [own.name(), other.name()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_found_by_map_coordinates() {
        let north_up = Georeference::north_up([500_000.0, 4_200_000.0], [30.0, 30.0]);
        assert_eq!(north_up.cell_at([500_000.0, 4_200_000.0]), Ok([0.0, 0.0]));
        assert_eq!(north_up.cell_at([500_089.9, 4_199_969.9]), Ok([2.0, 1.0]));
        assert_eq!(north_up.cell_at([499_999.0, 4_200_001.0]), Ok([-1.0, -1.0]));
        assert_eq!(north_up.centre_of([2.0, 1.0]), Some([500_075.0, 4_199_955.0]));
        assert_eq!(Georeference::default().centre_of([0.0, 0.0]), None);
        // Whole numbers are the centres of cells.
        let mut tags = north_up.tags.clone();
        let keys = vec![1, 1, 0, 1, 1025, 0, 1, 2];
        tags.push((Tag::GeoKeyDirectoryTag, GeoValue::Shorts(keys)));
        let centres = Georeference::from_tags(tags);
        assert_eq!(centres.cell_at([500_014.9, 4_199_985.1]), Ok([0.0, 0.0]));
        assert_eq!(centres.cell_at([500_015.1, 4_199_984.9]), Ok([1.0, 1.0]));
        // Another transform is one of corners, whatever the tags said.
        let moved = centres.with_transform([30.0, 0.0, 7.0, 0.0, -30.0, 9.0]);
        assert_eq!(Georeference::from_tags(moved.tags.clone()), moved);
        // Turned by a quarter: columns run south and rows run east.
        let matrix = vec![0.0, 2.0, 0.0, 100.0, -3.0, 0.0, 0.0, 50.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        let of_matrix =
            |matrix| Georeference::from_tags(vec![(Tag::ModelTransformationTag, GeoValue::Doubles(matrix))]);
        let turned = of_matrix(matrix);
        assert_eq!(turned.cell_at([105.0, 43.0]), Ok([2.0, 2.0]));
        assert_eq!((turned.cell_size(), turned.is_sheared()), (Some([3.0, 2.0]), false));
        let flat = of_matrix(vec![0.0; 16]);
        assert!(flat.cell_at([1.0, 1.0]).unwrap_err().contains("no area"));
        assert!(Georeference::default().cell_at([1.0, 1.0]).is_err());
    }

    #[test]
    fn places_are_compared() {
        let here = Georeference::north_up([500.0, 900.0], [30.0, 30.0]);
        assert_eq!(here.difference(&here, [20, 10]), None);
        assert_eq!(Georeference::default().difference(&here, [20, 10]), None);
        let place = |transform| Georeference::default().with_transform(transform);
        for (other, what) in [
            ([30.0, 0.0, 515.0, 0.0, -30.0, 900.0], "515, 900"),
            ([15.0, 0.0, 500.0, 0.0, -15.0, 900.0], "cells of 15 x 15"),
            ([30.0, 0.0, 500.0, 0.0, 30.0, 600.0], "rows northward"),
            ([30.0, 10.0, 500.0, 0.0, -30.0, 900.0], "500, 900"),
        ] {
            let message = place(other).difference(&here, [20, 10]).unwrap();
            assert!(message.contains(what) && message.ends_with("cells of 30 x 30"), "{message}");
        }
        let [utm, other] =
            [32633, 32632].map(|code| here.clone().with_system(ReferenceSystem::from_epsg(code)));
        assert_eq!(utm.difference(&utm, [20, 10]), None);
        assert_eq!(
            utm.difference(&other, [20, 10]).unwrap(),
            "its reference system is EPSG:32633, the map's is EPSG:32632"
        );
        let degrees = here.clone().with_system(ReferenceSystem::from_epsg(4326));
        assert!(degrees.is_in_degrees() && !utm.is_in_degrees());
        let read = Georeference::from_tags(degrees.tags.clone());
        assert_eq!(
            (read.transform, read.is_in_degrees(), read.difference(&degrees, [20, 10])),
            (degrees.transform, true, None)
        );
    }

    #[test]
    fn places_in_degrees_lie_on_a_globe() {
        let place = |transform, text: &str| {
            Georeference::default()
                .with_transform(transform)
                .with_system(ReferenceSystem::from_text(text).unwrap())
        };
        let north_up = [0.5, 0.0, -3.0, 0.0, -0.25, 51.0];
        let globe = place(north_up, "EPSG:4326").geographic(8).unwrap();
        assert_eq!(
            globe,
            Geographic { latitudes: [51.0, 49.0], cell_width: 0.5, ellipsoid: Ellipsoid::WGS84 }
        );
        let grads = place(north_up, "EPSG:4807").geographic(8).unwrap();
        assert_eq!((grads.latitudes, grads.cell_width), ([45.9, 44.1], 0.45));
        let moon =
            "GEOGCS[\"Moon\",DATUM[\"D\",SPHEROID[\"S\",1737400,0]],UNIT[\"degree\",0.017453292519943295]]";
        let south_up = place([0.5, 0.0, -3.0, 0.0, 0.25, 1.0], moon).geographic(4).unwrap();
        assert_eq!((south_up.latitudes, south_up.ellipsoid.semi_major_axis), ([1.0, 2.0], 1_737_400.0));
        for (place, what) in [
            (Georeference::default(), "no place"),
            (Georeference::north_up([0.0, 0.0], [1.0, 1.0]), "nothing says that its coordinates are degrees"),
            (place(north_up, "EPSG:32633"), "those of EPSG:32633, and no degrees"),
            (place(north_up, "EPSG:4978"), "those of EPSG:4978, and no degrees"),
            (place([0.5, 0.1, -3.0, 0.0, -0.25, 51.0], "EPSG:4326"), "no meridians"),
            (place([0.0, 0.5, -3.0, -0.25, 0.0, 51.0], "EPSG:4326"), "no meridians"),
            (
                place(
                    north_up,
                    "GEOGCRS[\"r\",BASEGEOGCRS[\"b\"],DERIVINGCONVERSION[\"p\"],CS[ellipsoidal,2]]",
                ),
                "turned",
            ),
        ] {
            let error = place.geographic(8).unwrap_err();
            assert!(error.contains(what), "{error}");
        }
    }
}
