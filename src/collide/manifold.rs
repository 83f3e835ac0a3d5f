//! Where a pair touches: up to four points that hold a body at rest.

use super::measure::Measured;
use super::query::{Manifold, ManifoldPoint};
use super::{Body, Hull};

/// The manifold of a measured pair.
pub(crate) fn manifold(
    _hulls: &[Hull],
    _bodies: &[Body],
    [a, b]: [u32; 2],
    measured: &Measured,
    _margin: f64,
) -> Manifold {
    let depth = -measured.gap;
    let point = ManifoldPoint { on_a: measured.on_a.to_array(), on_b: measured.on_b().to_array(), depth };
    let mut points = [ManifoldPoint::default(); 4];
    points[0] = point;
    Manifold {
        a,
        b,
        status: measured.status,
        depth,
        normal: measured.normal.to_array(),
        points,
        point_count: 1,
    }
}
