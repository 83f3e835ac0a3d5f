//! Converts the oracle's bodies to the library's, and the library's rows to the oracle's: for tests and benches.

use hullfield::collide::{self, Batch, Body, Contact, Distance, Manifold, Status};
use hullfield_oracle::measure::{ContactRow, DistanceRow, ManifoldPoint, ManifoldRow};
use hullfield_oracle::{Placed, Verdict};

pub(crate) fn body(placed: &Placed) -> Body {
    Body {
        position: placed.pose.position,
        rotation: placed.pose.rotation,
        scale: placed.pose.scale,
        padding: placed.pose.radius,
        ..Body::new(placed.hull)
    }
}

pub(crate) fn bodies(placed: &[Placed]) -> Vec<Body> {
    placed.iter().map(body).collect()
}

pub(crate) fn verdict(status: Status) -> Verdict {
    match status {
        Status::Separated => Verdict::Separated,
        Status::Touching => Verdict::Touching,
        Status::Penetrating => Verdict::Penetrating,
    }
}

/// Converts the library's rows to the oracle's.
pub(crate) fn distance_rows(found: &Batch<Distance>) -> Vec<DistanceRow> {
    let row = |row: &Distance| DistanceRow {
        verdict: verdict(row.status),
        distance: row.separation,
        points: row.points,
        axis: row.axis,
    };
    found.rows.iter().map(row).collect()
}

pub(crate) fn contact_rows(found: &Batch<Contact>) -> Vec<ContactRow> {
    let row = |row: &Contact| ContactRow {
        verdict: verdict(row.status),
        depth: row.depth(),
        normal: row.normal,
        points: row.points,
    };
    found.rows.iter().map(row).collect()
}

pub(crate) fn manifold_rows(found: &Batch<Manifold>) -> Vec<ManifoldRow> {
    let point = |p: &collide::ManifoldPoint| ManifoldPoint { on_a: p.on_a, on_b: p.on_b, depth: p.depth() };
    let row = |row: &Manifold| ManifoldRow {
        verdict: verdict(row.status),
        depth: row.depth(),
        normal: row.normal,
        points: row.points().iter().map(point).collect(),
    };
    found.rows.iter().map(row).collect()
}
