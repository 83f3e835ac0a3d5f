//! The model of the third job: a closed, bumpy tube along a trefoil knot.

use std::f64::consts::TAU;

use glam::DVec3;
use hullfield::navigate::surface::Model;

/// Segments along the knot, and around the tube.
const ALONG: u32 = 400;
const AROUND: u32 = 48;

/// A point on the tube's centre line; `turn` runs from 0 to 1.
fn centre_line(turn: f64) -> DVec3 {
    let t = TAU * turn;
    DVec3::new(t.sin() + 2.0 * (2.0 * t).sin(), -(3.0 * t).sin(), t.cos() - 2.0 * (2.0 * t).cos())
}

/// A point on the tube: `turn` and `around` are shares of the knot and of the way around the tube.
pub(super) fn place(turn: f64, around: f64) -> [f64; 3] {
    let along = (centre_line(turn + 1e-4) - centre_line(turn - 1e-4)).normalize_or_zero();
    // Away from the knot's axis. A frame carried along the knot would not close after a turn.
    let out = centre_line(turn).reject_from_normalized(along).normalize_or_zero();
    let aside = along.cross(out);
    let (sin, cos) = (TAU * around).sin_cos();
    let bumps = (TAU * (12.0 * turn + around)).sin() * (TAU * (9.0 * turn - 2.0 * around)).cos();
    let radius = 0.52 * (1.0 + 0.14 * bumps + 0.10 * (TAU * 15.0 * turn).sin());
    (centre_line(turn) + radius * (out * cos + aside * sin)).to_array()
}

/// The model.
pub(super) fn knot() -> Model {
    let mut points = Vec::with_capacity((ALONG * AROUND) as usize);
    let mut faces = Vec::with_capacity(points.capacity());
    for i in 0..ALONG {
        for k in 0..AROUND {
            points.push(place(f64::from(i) / f64::from(ALONG), f64::from(k) / f64::from(AROUND)));
            let at = |i: u32, k: u32| i % ALONG * AROUND + k % AROUND;
            faces.push([at(i, k), at(i, k + 1), at(i + 1, k + 1), at(i + 1, k)]);
        }
    }
    Model::polygons(points, faces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hullfield::navigate::surface::{Options as SurfaceOptions, Surface};

    #[test]
    fn the_knot_is_closed_and_faces_out() {
        let surface = Surface::new(&[knot()], SurfaceOptions::default()).unwrap();
        let found = surface.report();
        assert_eq!((found.boundary_edge_count, found.non_manifold_edge_count), (0, 0));
        assert_eq!((found.turned_edge_count, found.island_count), (0, 1));
        let vertices: Vec<DVec3> = surface.vertices().map(DVec3::from).collect();
        let volume: f64 = surface
            .triangles()
            .iter()
            .map(|&[a, b, c]| {
                vertices[a as usize].dot(vertices[b as usize].cross(vertices[c as usize])) / 6.0
            })
            .sum();
        assert!(volume > 1.0, "{volume}");
    }
}
