//! Where the cells of a raster lie on a map.
//!
//! Source: OGC GeoTIFF 1.1 (OGC 19-008r4), requirement classes of tiepoints, scales and transformations.

use tiff::tags::Tag;

/// The tags of a TIFF that say where it lies.
pub(crate) const GEO_TAGS: [Tag; 6] = [
    Tag::ModelPixelScaleTag,
    Tag::ModelTiepointTag,
    Tag::ModelTransformationTag,
    Tag::GeoKeyDirectoryTag,
    Tag::GeoDoubleParamsTag,
    Tag::GeoAsciiParamsTag,
];
/// The key of what a coordinate of the raster is, and its value where whole numbers are the centres of cells.
const RASTER_TYPE: [u16; 2] = [1025, 2];

/// The content of a tag.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum GeoValue {
    Doubles(Vec<f64>),
    Shorts(Vec<u16>),
    Text(String),
}

/// The place of a raster on a map, as tags of a TIFF.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Georeference {
    pub(crate) tags: Vec<(Tag, GeoValue)>,
}

impl Georeference {
    /// From the map coordinates of the upper left corner of the first cell, and the width and the height of a cell.
    pub(crate) fn north_up(corner: [f64; 2], cell: [f64; 2]) -> Self {
        let scale = GeoValue::Doubles(vec![cell[0], cell[1], 0.0]);
        let tiepoint = GeoValue::Doubles(vec![0.0, 0.0, 0.0, corner[0], corner[1], 0.0]);
        Self { tags: vec![(Tag::ModelPixelScaleTag, scale), (Tag::ModelTiepointTag, tiepoint)] }
    }

    fn doubles(&self, tag: Tag) -> Option<&[f64]> {
        self.tags.iter().find_map(|(found, value)| match value {
            GeoValue::Doubles(values) if *found == tag => Some(values.as_slice()),
            _ => None,
        })
    }

    /// The coefficients of `x = a column + b row + c` and `y = d column + e row + f`, for columns and rows of the corners of cells. `None`
    /// where the raster has no place, or more control points than a linear map has.
    fn transform(&self) -> Option<[f64; 6]> {
        let mut transform = match (
            self.doubles(Tag::ModelTransformationTag),
            self.doubles(Tag::ModelPixelScaleTag),
            self.doubles(Tag::ModelTiepointTag),
        ) {
            (Some(&[a, b, _, c, d, e, _, f, ..]), _, _) => [a, b, c, d, e, f],
            (_, Some(&[width, height, ..]), Some(&[column, row, _, x, y, ..])) => {
                [width, 0.0, x - width * column, 0.0, -height, y + height * row]
            }
            _ => return None,
        };
        let is_key = |(tag, value): &(Tag, GeoValue)| match value {
            GeoValue::Shorts(keys) if *tag == Tag::GeoKeyDirectoryTag => {
                keys.chunks_exact(4).skip(1).any(|key| [key[0], key[3]] == RASTER_TYPE)
            }
            _ => false,
        };
        if self.tags.iter().any(is_key) {
            let [a, b, c, d, e, f] = &mut transform;
            *c -= 0.5 * (*a + *b);
            *f -= 0.5 * (*d + *e);
        }
        Some(transform)
    }

    /// The width and the height of a cell in the units of the map.
    pub(crate) fn cell_size(&self) -> Option<[f64; 2]> {
        self.transform().map(|[a, b, _, d, e, _]| [a.hypot(d), b.hypot(e)])
    }

    /// The place on the map of a cell's centre; none where the raster has no place.
    pub(crate) fn centre_of(&self, [column, row]: [f64; 2]) -> Option<[f64; 2]> {
        let [a, b, c, d, e, f] = self.transform()?;
        let (column, row) = (column + 0.5, row + 0.5);
        Some([a * column + b * row + c, d * column + e * row + f])
    }

    /// The column and the row of the cell at a place of the map, rounded down; not all of them are in the raster.
    ///
    /// # Errors
    /// A raster without a place, and one whose cells have no area.
    pub(crate) fn cell_at(&self, [x, y]: [f64; 2]) -> Result<[f64; 2], &'static str> {
        let [a, b, c, d, e, f] = self.transform().ok_or("it has no map coordinates")?;
        let area = a * e - b * d;
        let (x, y) = (x - c, y - f);
        let cell = [(e * x - b * y) / area, (a * y - d * x) / area].map(f64::floor);
        if cell.iter().all(|part| part.is_finite()) {
            Ok(cell)
        } else {
            Err("its map coordinates give cells no area")
        }
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
        let mut centres = north_up.clone();
        let keys = vec![1, 1, 0, 1, 1025, 0, 1, 2];
        centres.tags.push((Tag::GeoKeyDirectoryTag, GeoValue::Shorts(keys)));
        assert_eq!(centres.cell_at([500_014.9, 4_199_985.1]), Ok([0.0, 0.0]));
        assert_eq!(centres.cell_at([500_015.1, 4_199_984.9]), Ok([1.0, 1.0]));
        // Turned by a quarter: columns run south and rows run east.
        let matrix = vec![0.0, 2.0, 0.0, 100.0, -3.0, 0.0, 0.0, 50.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        let turned = Georeference { tags: vec![(Tag::ModelTransformationTag, GeoValue::Doubles(matrix))] };
        assert_eq!(turned.cell_at([105.0, 43.0]), Ok([2.0, 2.0]));
        assert_eq!(turned.cell_size(), Some([3.0, 2.0]));
        let flat =
            Georeference { tags: vec![(Tag::ModelTransformationTag, GeoValue::Doubles(vec![0.0; 16]))] };
        assert!(flat.cell_at([1.0, 1.0]).unwrap_err().contains("no area"));
        assert!(Georeference::default().cell_at([1.0, 1.0]).is_err());
    }
}
