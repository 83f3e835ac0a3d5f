//! Rows of answers as structured arrays.

use hullfield::collide::{self, Status};

use crate::arrays::row;

/// A status as in `hullfield.collide.Status`.
pub(crate) fn status(status: Status) -> u32 {
    match status {
        Status::Separated => 0,
        Status::Touching => 1,
        Status::Penetrating => 2,
    }
}

row! {
    /// A row of `intersections`.
    Intersection { a: u32, b: u32, status: u32, axis: [f32; 3] }
}

impl From<collide::Intersection> for Intersection {
    fn from(row: collide::Intersection) -> Self {
        let axis = row.axis.unwrap_or([f32::NAN; 3]);
        Self { a: row.a, b: row.b, status: status(row.status), axis }
    }
}
