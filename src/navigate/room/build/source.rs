//! What a room was made of. With the feature `serde` a room keeps it, to be written down and made again.

use crate::navigate::room::build::options::Options;

/// What a room was made of; nothing without the feature `serde`.
#[derive(Debug)]
pub(crate) struct Source {
    #[cfg(feature = "serde")]
    pub(crate) floor: Floor,
    #[cfg(feature = "serde")]
    pub(crate) options: Options,
}

/// The floor of a room as it was given.
#[cfg(feature = "serde")]
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Floor {
    /// By [`Room::new`](crate::navigate::room::query::room::Room::new).
    Rings { outer: Vec<[f64; 2]>, holes: Vec<Vec<[f64; 2]>> },
    /// By [`Room::from_polygons`](crate::navigate::room::query::room::Room::from_polygons).
    Polygons(Vec<Vec<Vec<[f64; 2]>>>),
    /// By [`Room::from_cells`](crate::navigate::room::query::room::Room::from_cells).
    Cells { points: Vec<[f64; 2]>, cells: Vec<Vec<u32>> },
    /// By [`Room::from_polyanya_mesh`](crate::navigate::room::query::room::Room::from_polyanya_mesh).
    PolyanyaMesh(String),
}

#[cfg_attr(not(feature = "serde"), allow(unused_variables))]
impl Source {
    pub(crate) fn polygons(polygons: &[Vec<&[[f64; 2]]>], options: &Options) -> Self {
        #[cfg(feature = "serde")]
        let rings = |rings: &[&[[f64; 2]]]| rings.iter().map(|ring| ring.to_vec()).collect();
        Self {
            #[cfg(feature = "serde")]
            floor: match polygons {
                [polygon] if !polygon.is_empty() => {
                    Floor::Rings { outer: polygon[0].to_vec(), holes: rings(&polygon[1..]) }
                }
                _ => Floor::Polygons(polygons.iter().map(|polygon| rings(polygon)).collect()),
            },
            #[cfg(feature = "serde")]
            options: options.clone(),
        }
    }

    pub(crate) fn cells(points: &[[f64; 2]], cells: &[&[u32]], options: &Options) -> Self {
        Self {
            #[cfg(feature = "serde")]
            floor: Floor::Cells {
                points: points.to_vec(),
                cells: cells.iter().map(|cell| cell.to_vec()).collect(),
            },
            #[cfg(feature = "serde")]
            options: options.clone(),
        }
    }

    pub(crate) fn polyanya_mesh(text: &str, options: &Options) -> Self {
        Self {
            #[cfg(feature = "serde")]
            floor: Floor::PolyanyaMesh(text.to_owned()),
            #[cfg(feature = "serde")]
            options: options.clone(),
        }
    }
}
