//! Rows of answers as structured arrays.

use hullfield::navigate::surface::{Link, PathPlace, Point, RayHit, Surface, WallDistance};

use crate::arrays::row;

/// What stands for a number that is missing.
pub(crate) const NONE: u32 = u32::MAX;

row! {
    /// A point of a surface: `Point`, what its triangle belongs to, and the vertex that it is; -1 for none.
    PointRow {
        position: [f64; 3], distance: f64,
        triangle: u32, model: u32, face: u32, island: u32, vertex: i64,
    }
}

row! {
    /// `RayHit`.
    RayHitRow {
        point: [f64; 3], direction: [f64; 3], distance: f64,
        triangle: u32, wall: u32,
    }
}

row! {
    /// `WallDistance`.
    WallRow { distance: f64, point: [f64; 3], wall: u32, triangle: u32 }
}

row! {
    /// `PathPlace`; `found` is 0 where there is none, and `link` is missing on the mesh.
    PlaceRow {
        position: [f64; 3], tangent: [f64; 3], normal: [f64; 3],
        triangle: u32, found: u32, link: u32, reversed: u32,
    }
}

row! {
    /// `Link`.
    LinkRow { from: [f64; 3], to: [f64; 3], cost: f64, two_way: u64 }
}

row! {
    /// `TJunction`.
    TJunctionRow { distance: f64, vertex: u32, edge: u32 }
}

row! {
    /// `PathLink`.
    PathLinkRow { piece: u64, link: u32, reversed: u32 }
}

row! {
    /// What is known of a path beside its points. `reach` as in `hullfield.navigate.Reach`.
    PathRow {
        length: f64, cost: f64, snaps: [f64; 2],
        nearest: [f64; 3], nearest_distance: f64,
        reach: u32, nearest_triangle: u32, ambiguous: [u32; 2],
    }
}

/// A row of a point that may be missing.
pub(crate) fn point(surface: &Surface, found: Option<Point>) -> PointRow {
    let Some(found) = found else {
        let (position, distance) = ([f64::NAN; 3], f64::INFINITY);
        let [triangle, model, face, island] = [NONE; 4];
        return PointRow { position, distance, triangle, model, face, island, vertex: -1 };
    };
    let vertex = surface.vertex_at(&found).map_or(-1, i64::from);
    let Point { triangle, position, distance } = found;
    let source = surface.source(triangle);
    PointRow {
        position,
        distance,
        triangle,
        model: source.map_or(NONE, |source| source.model),
        face: source.map_or(NONE, |source| source.face),
        island: surface.island(triangle).unwrap_or(NONE),
        vertex,
    }
}

/// A row of a ray, whose start may be off the mesh.
pub(crate) fn ray_hit(found: Option<RayHit>) -> RayHitRow {
    match found {
        Some(hit) => RayHitRow {
            point: hit.point,
            direction: hit.direction,
            distance: hit.distance,
            triangle: hit.triangle,
            wall: hit.wall.unwrap_or(NONE),
        },
        None => RayHitRow {
            point: [f64::NAN; 3],
            direction: [f64::NAN; 3],
            distance: f64::NAN,
            triangle: NONE,
            wall: NONE,
        },
    }
}

/// A row of a wall that may be missing.
pub(crate) fn wall(found: Option<WallDistance>) -> WallRow {
    match found {
        Some(found) => WallRow {
            distance: found.distance,
            point: found.point,
            wall: found.wall,
            triangle: found.triangle,
        },
        None => WallRow { distance: f64::INFINITY, point: [f64::NAN; 3], wall: NONE, triangle: NONE },
    }
}

/// A row of a place that may be missing.
pub(crate) fn place(found: Option<PathPlace>) -> PlaceRow {
    let nan = [f64::NAN; 3];
    match found {
        Some(found) => PlaceRow {
            position: found.position,
            tangent: found.tangent,
            normal: found.normal,
            triangle: found.triangle,
            found: 1,
            link: found.link.map_or(NONE, |taken| taken.link),
            reversed: u32::from(found.link.is_some_and(|taken| taken.reversed)),
        },
        None => PlaceRow {
            position: nan,
            tangent: nan,
            normal: nan,
            triangle: NONE,
            found: 0,
            link: NONE,
            reversed: 0,
        },
    }
}

impl From<&Link> for LinkRow {
    fn from(link: &Link) -> Self {
        Self { from: link.from, to: link.to, cost: link.cost, two_way: u64::from(link.two_way) }
    }
}
