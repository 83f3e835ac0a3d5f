//! The hulls of the tab: five kinds, and what is drawn of them.

use std::ops::Range;

use glam::Vec3;
use hullfield::collide::Hull;

use crate::playground::draw::mesh::Mesh;
use crate::playground::seed::Random;

/// The names of the kinds of hulls, in links and controls.
pub(super) const KINDS: [&str; 5] = ["box", "ball", "capsule", "cone", "polytope"];

/// The number of different random polytopes. Each other kind has one hull.
const POLYTOPES: u32 = 8;

/// The hulls of a kind.
pub(super) fn hulls_of(kind: usize) -> Range<u32> {
    let kind = kind as u32;
    if kind + 1 == KINDS.len() as u32 { kind..kind + POLYTOPES } else { kind..kind + 1 }
}

/// The name of a hull's kind.
pub(super) fn kind_of(hull: u32) -> &'static str {
    KINDS[(hull as usize).min(KINDS.len() - 1)]
}

/// The hulls. They are the same in every worker.
///
/// # Errors
/// None: the numbers are fixed.
pub(super) fn hulls() -> hullfield::Result<Vec<Hull>> {
    let mut hulls = vec![
        Hull::cuboid([0.35, 0.28, 0.42])?,
        Hull::ball(0.4)?,
        Hull::capsule([0.0, -0.3, 0.0], [0.0, 0.3, 0.0], 0.25)?,
        Hull::cone([0.0, -0.3, 0.0], [0.0, 0.5, 0.0], 0.4, 16)?,
    ];
    let mut random = Random::new(1);
    for index in 0..POLYTOPES {
        let stretch = [0.0; 3].map(|_| 0.38 + 0.17 * random.unit_f32());
        let points: Vec<[f32; 3]> =
            (0..8 + 2 * index).map(|_| (random.direction() * Vec3::from(stretch)).to_array()).collect();
        hulls.push(Hull::from_points(&points)?);
    }
    Ok(hulls)
}

/// The hulls and what is drawn of them.
#[derive(Debug)]
pub(super) struct Shapes {
    pub(super) hulls: Vec<Hull>,
    /// For the GPU: round hulls have 288 triangles.
    pub(super) fine: Vec<Mesh>,
    /// For the CPU, and a GPU that is a CPU: round hulls have a tenth of that.
    pub(super) coarse: Vec<Mesh>,
    /// Lines that show a hull without hiding what is in it, in the hull's frame.
    pub(super) outlines: Vec<Vec<[Vec3; 2]>>,
    /// The radius about the hull's origin, rounding included.
    pub(super) reach: Vec<f32>,
}

impl Shapes {
    pub(super) fn new() -> hullfield::Result<Self> {
        let hulls = hulls()?;
        Ok(Self {
            fine: hulls.iter().map(Mesh::of_hull).collect(),
            coarse: hulls.iter().map(coarse).collect::<hullfield::Result<_>>()?,
            outlines: hulls.iter().map(outline).collect(),
            reach: hulls.iter().map(reach).collect(),
            hulls,
        })
    }
}

fn reach(hull: &Hull) -> f32 {
    let far = hull.vertices().iter().map(|&vertex| Vec3::from(vertex).length());
    far.fold(0.0, f32::max) + hull.rounding()
}

/// A mesh of few triangles: a round hull becomes the hull of some of its points.
fn coarse(hull: &Hull) -> hullfield::Result<Mesh> {
    if hull.rounding() == 0.0 {
        return Ok(Mesh::of_hull(hull));
    }
    let grid = || (0..27_u32).map(|index| [index % 3, index / 3 % 3, index / 9].map(|x| x as f32 - 1.0));
    let directions = grid().map(Vec3::from).filter(|grid| (1.0..2.5).contains(&grid.length_squared()));
    let points: Vec<[f32; 3]> = directions
        .flat_map(|direction| {
            let offset = hull.rounding() * direction.normalize();
            hull.vertices().iter().map(move |&vertex| (Vec3::from(vertex) + offset).to_array())
        })
        .collect();
    Ok(Mesh::of_hull(&Hull::from_points(&points)?))
}

/// Steps of a loop of [`outline`].
const STEPS: u32 = 24;

/// The edges of a sharp hull; of a round one the furthest points in the directions of three planes.
fn outline(hull: &Hull) -> Vec<[Vec3; 2]> {
    let vertex = |index: u32| Vec3::from(hull.vertices()[index as usize]);
    if hull.rounding() == 0.0 {
        return hull.edges().map(|edge| edge.map(vertex)).collect();
    }
    let furthest = |direction: Vec3| {
        let height = |index: &u32| vertex(*index).dot(direction);
        let best = (0..hull.vertices().len() as u32).max_by(|a, b| height(a).total_cmp(&height(b)));
        best.map_or(Vec3::ZERO, vertex) + hull.rounding() * direction
    };
    let axes = [[Vec3::X, Vec3::Y], [Vec3::Y, Vec3::Z], [Vec3::Z, Vec3::X]];
    axes.iter()
        .flat_map(|[across, up]| {
            let at = move |step: u32| {
                // Half a step on, so that no direction is at right angles to an axis.
                let (sin, cos) = ((step as f32 + 0.5) * std::f32::consts::TAU / STEPS as f32).sin_cos();
                furthest(cos * *across + sin * *up)
            };
            (0..STEPS).map(move |step| [at(step), at(step + 1)])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use hullfield::collide::Pose;

    use super::*;

    #[test]
    fn each_kind_has_its_hulls() {
        let shapes = Shapes::new().unwrap();
        let all: Vec<u32> = (0..KINDS.len()).flat_map(hulls_of).collect();
        assert_eq!(all, (0..shapes.hulls.len() as u32).collect::<Vec<_>>());
        for (kind, name) in KINDS.iter().enumerate() {
            assert!(hulls_of(kind).all(|hull| kind_of(hull) == *name));
        }
        assert!(shapes.hulls[4..].iter().all(|hull| hull.vertices().len() >= 6 && hull.volume() > 0.05));
    }

    #[test]
    fn what_is_drawn_lies_on_the_hull() {
        let shapes = Shapes::new().unwrap();
        for (((hull, coarse), outline), reach) in
            shapes.hulls.iter().zip(&shapes.coarse).zip(&shapes.outlines).zip(&shapes.reach)
        {
            assert!(coarse.triangles.len() < 80 && !outline.is_empty());
            let mean = Vec3::from(hull.mean().map(|x| x as f32));
            for &position in &coarse.positions {
                assert!((Vec3::from(position) + mean).length() <= reach + 1e-5);
            }
            for end in outline.iter().flatten() {
                let found = hullfield::collide::nearest_point(hull, Pose::IDENTITY, end.to_array()).unwrap();
                assert!(found.distance.abs() < 1e-5, "{}", found.distance);
            }
        }
    }
}
