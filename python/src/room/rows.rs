//! Rows of answers as structured arrays.

use hullfield::navigate::room::{Point, RayHit, Room, WallDistance};

use crate::arrays::row;

/// What stands for a number that is missing.
pub(crate) const NONE: u32 = u32::MAX;

row! {
    /// A point of a room: `Point`, and the island of its cell.
    RoomPointRow { position: [f64; 2], distance: f64, cell: u32, island: u32 }
}

row! {
    /// `RayHit`, and the island of its cell.
    RoomRayRow { point: [f64; 2], distance: f64, wall: [u32; 2], cell: u32, island: u32 }
}

row! {
    /// `WallDistance`.
    RoomWallRow { distance: f64, point: [f64; 2], wall: [u32; 2] }
}

row! {
    /// What is known of a path beside its points. `reach` as in `hullfield.navigate.Reach`.
    RoomPathRow { length: f64, nearest: [f64; 2], nearest_distance: f64, reach: u32, cell_count: u32 }
}

row! {
    /// `PathPlace`; `found` is 0 where there is none.
    RoomPlaceRow { position: [f64; 2], tangent: [f64; 2], piece: u32, found: u32 }
}

row! {
    /// `Crossing`.
    CrossingRow { point: [f64; 2], edge: [u32; 2] }
}

row! {
    /// `Repair`; `kind` as in `hullfield.navigate.room.RepairKind`.
    RepairRow { place: [f64; 2], ring: u32, kind: u32 }
}

/// A row of a point that may be missing.
pub(crate) fn point(room: &Room, found: Option<Point>) -> RoomPointRow {
    match found {
        Some(Point { cell, position, distance, .. }) => {
            RoomPointRow { position, distance, cell, island: room.island(cell).unwrap_or(NONE) }
        }
        None => RoomPointRow { position: [f64::NAN; 2], distance: f64::INFINITY, cell: NONE, island: NONE },
    }
}

/// A row of a ray, whose start may be off the room.
pub(crate) fn ray_hit(room: &Room, found: Option<RayHit>) -> RoomRayRow {
    match found {
        Some(hit) => RoomRayRow {
            point: hit.point,
            distance: hit.distance,
            wall: hit.wall.unwrap_or([NONE; 2]),
            cell: hit.cell,
            island: room.island(hit.cell).unwrap_or(NONE),
        },
        None => {
            RoomRayRow { point: [f64::NAN; 2], distance: f64::NAN, wall: [NONE; 2], cell: NONE, island: NONE }
        }
    }
}

/// A row of a wall that may be missing.
pub(crate) fn wall(found: Option<WallDistance>) -> RoomWallRow {
    match found {
        Some(found) => RoomWallRow { distance: found.distance, point: found.point, wall: found.wall },
        None => RoomWallRow { distance: f64::INFINITY, point: [f64::NAN; 2], wall: [NONE; 2] },
    }
}
