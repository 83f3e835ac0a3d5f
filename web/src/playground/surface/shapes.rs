//! The models that the page makes itself.

use std::f64::consts::TAU;

use glam::DVec3;
use hullfield::navigate::surface::Model;

/// A model that the page makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A tube along a torus knot, thicker and thinner along its way.
    Knot,
    /// A closed surface with dents and bumps.
    Stone,
    /// Hills over a square, with a border.
    Hills,
}

/// The shapes, by their names in links.
pub(super) const SHAPES: [(&str, Shape); 3] =
    [("knot", Shape::Knot), ("stone", Shape::Stone), ("hills", Shape::Hills)];

impl Shape {
    /// The model with about this many triangles, counter-clockwise seen from outside, or from above.
    pub(super) fn model(self, triangle_count: u32) -> Model {
        let (points, triangles) = match self {
            Self::Knot => knot(triangle_count),
            Self::Stone => stone(triangle_count),
            Self::Hills => hills(triangle_count),
        };
        Model::triangles(points, &triangles)
    }
}

type Triangles = (Vec<[f64; 3]>, Vec<[u32; 3]>);

/// The two triangles of a quadrilateral, whose corners are listed counter-clockwise.
fn halves([a, b, c, d]: [u32; 4]) -> [[u32; 3]; 2] {
    [[a, b, c], [a, c, d]]
}

fn knot(triangle_count: u32) -> Triangles {
    // The way is some eight times as long as the tube is round.
    let around = (f64::from(triangle_count) / 16.0).sqrt().round().max(6.0) as u32;
    let along = (triangle_count / (2 * around)).max(24);
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for i in 0..along {
        let turn = TAU * f64::from(i) / f64::from(along);
        let ([sin, cos], [slow_sin, slow_cos]) =
            ([(3.0 * turn).sin(), (3.0 * turn).cos()], [(2.0 * turn).sin(), (2.0 * turn).cos()]);
        // On a torus about the axis z: the point, the torus's normal there, and the direction of the way.
        let out = DVec3::new(slow_cos, slow_sin, 0.0);
        let middle = (2.0 + cos) * out + sin * DVec3::Z;
        let normal = cos * out + sin * DVec3::Z;
        let ahead =
            2.0 * (2.0 + cos) * DVec3::new(-slow_sin, slow_cos, 0.0) - 3.0 * sin * out + 3.0 * cos * DVec3::Z;
        let side = ahead.cross(normal).normalize_or_zero();
        let radius = 0.42 + 0.1 * (5.0 * turn).sin();
        for j in 0..around {
            let (sin, cos) = (TAU * f64::from(j) / f64::from(around)).sin_cos();
            points.push((middle + radius * (cos * normal + sin * side)).to_array());
            let at = |i: u32, j: u32| i % along * around + j % around;
            triangles.extend(halves([at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)]));
        }
    }
    (points, triangles)
}

/// An octahedron whose faces are divided evenly, each vertex moved along its direction.
fn stone(triangle_count: u32) -> Triangles {
    let steps = (f64::from(triangle_count) / 8.0).sqrt().round().max(2.0) as u32;
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for octant in 0..8_u32 {
        let sign = |axis: u32| if octant >> axis & 1 == 0 { 1.0 } else { -1.0 };
        let (first, is_mirrored) = (points.len() as u32, octant.count_ones() % 2 == 1);
        // Row `row` has `steps - row + 1` vertices. Those of two octants are equal bit for bit, so the surface is welded.
        let at = |row: u32, column: u32| first + row * (2 * steps + 3 - row) / 2 + column;
        for row in 0..=steps {
            for column in 0..=steps - row {
                let rest = steps - row - column;
                let [x, y, z] = [column, row, rest].map(f64::from);
                // A zero has no sign of its own.
                let point = DVec3::new(sign(0) * x, sign(1) * y, sign(2) * z) + DVec3::ZERO;
                let direction = point.normalize_or_zero();
                let wave = (4.0 * direction.x + 1.0).sin()
                    + (5.0 * direction.y).sin()
                    + (4.0 * direction.z - 0.5).cos() * (3.0 * direction.x).cos();
                points.push(((1.0 + 0.16 * wave) * direction).to_array());
                if row + column < steps {
                    let mut lower = vec![[at(row, column), at(row, column + 1), at(row + 1, column)]];
                    if row + column + 1 < steps {
                        lower.push([at(row, column + 1), at(row + 1, column + 1), at(row + 1, column)]);
                    }
                    let turned = |[a, b, c]: [u32; 3]| if is_mirrored { [a, c, b] } else { [a, b, c] };
                    triangles.extend(lower.into_iter().map(turned));
                }
            }
        }
    }
    (points, triangles)
}

fn hills(triangle_count: u32) -> Triangles {
    let side = (f64::from(triangle_count) / 2.0).sqrt().round().max(4.0) as u32;
    let at = |step: u32| 4.0 * (f64::from(step) / f64::from(side) - 0.5);
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for row in 0..=side {
        for column in 0..=side {
            let [x, z] = [at(column), at(row)];
            let hill = |from: [f64; 2], wide: f64| {
                (-((x - from[0]).powi(2) + (z - from[1]).powi(2)) / (wide * wide)).exp()
            };
            let height = 1.3 * hill([0.2, 0.3], 0.6) + 0.8 * hill([-1.2, -0.8], 0.5)
                - 0.7 * hill([1.1, -1.0], 0.5)
                + 0.12 * (3.0 * x).sin() * (2.5 * z).cos();
            points.push([x, height, z]);
            if row < side && column < side {
                let first = row * (side + 1) + column;
                let next = first + side + 1;
                triangles.extend(halves([first, next, next + 1, first + 1]));
            }
        }
    }
    (points, triangles)
}

#[cfg(test)]
mod tests {
    use hullfield::navigate::surface::{Options, Surface};

    use super::*;

    #[test]
    fn shapes_are_one_clean_surface_that_faces_outward_with_about_as_many_triangles_as_wanted() {
        for (name, shape) in SHAPES {
            for wanted in [1000, 6000, 50_000] {
                let surface = Surface::new(&[shape.model(wanted)], Options::default()).unwrap();
                let count = surface.triangles().len() as f64;
                assert!((count / f64::from(wanted) - 1.0).abs() < 0.1, "{name}: {count} for {wanted}");
                let report = surface.report();
                assert_eq!((report.island_count, report.non_manifold_edge_count), (1, 0), "{name}");
                assert_eq!((report.turned_edge_count, report.zero_area.len()), (0, 0), "{name}");
                assert_eq!(report.boundary_edge_count > 0, shape == Shape::Hills, "{name}");
                if shape == Shape::Hills {
                    assert!(surface.normal(0).unwrap()[1] > 0.5);
                    continue;
                }
                let points: Vec<DVec3> = surface.vertices().map(DVec3::from).collect();
                let corners = |t: &[u32; 3]| t.map(|index| points[index as usize]);
                let volume: f64 = surface
                    .triangles()
                    .iter()
                    .map(|t| corners(t)[0].dot(corners(t)[1].cross(corners(t)[2])))
                    .sum();
                assert!(volume > 0.0, "{name}: {volume}");
            }
        }
    }
}
