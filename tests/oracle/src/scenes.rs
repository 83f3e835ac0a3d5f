//! Seeded scenes for tests and benches.
//!
//! The truth of a scene is that of its f32 poses. A generator places bodies at a target gap in f64 and rounds; [`Scene::truths`]
//! or [`crate::truths`] then measure the actual gap.

mod boxes;
mod crowd;
mod near;
mod round;

use std::f64::consts::TAU;

use glam::DVec3;
use rayon::prelude::*;

pub use boxes::{KISSING_GAPS, Pile, box_in_box, coincident, kissing_boxes, pile, stacked_cubes};
pub use crowd::{Tumbling, overlapping_boxes, tumbling};
pub use near::{Near, debris, far, near_pairs, overlapping_share, tiny};
pub use round::{ground, large, round_pairs, slender};

use crate::body64::Body64;
use crate::gap::gap64;
use crate::random::Random;
use crate::{Placed, Pose, Shape, Truth, truths};

/// Hulls, bodies and the pairs to query.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// The point sets of the hulls, each in its own frame. An empty one stands for the half-space y ≤ 0.
    pub hulls: Vec<Vec<[f32; 3]>>,
    /// The rounding radius of each hull, in its own units. Hulls past the end have none.
    pub roundings: Vec<f32>,
    /// The bodies.
    pub bodies: Vec<Placed>,
    /// The pairs of bodies to query, by index, a < b.
    pub pairs: Vec<[u32; 2]>,
}

impl Scene {
    /// The shapes of the scene's hulls, reduced to the hulls' vertices.
    pub fn shapes(&self) -> Vec<Shape> {
        let shape = |(k, points): (usize, &Vec<[f32; 3]>)| {
            let core = if points.is_empty() { Shape::half_space() } else { Shape::of_cloud(points) };
            core.rounded(self.rounding(k))
        };
        self.hulls.par_iter().enumerate().map(shape).collect()
    }

    /// Rounding radius of a hull, in its own units.
    pub fn rounding(&self, hull: usize) -> f32 {
        self.roundings.get(hull).copied().unwrap_or(0.0)
    }

    /// The scene in other units: hulls, roundings and positions times `factor`, each rounded to f32 again. Gaps that are small
    /// relative to the positions change.
    pub fn scaled(&self, factor: f64) -> Self {
        let times = |x: f32| (f64::from(x) * factor) as f32;
        let mut scene = self.clone();
        scene.hulls.iter_mut().flatten().flatten().chain(&mut scene.roundings).for_each(|x| *x = times(*x));
        for body in &mut scene.bodies {
            body.pose.position = body.pose.position.map(times);
            body.pose.radius = times(body.pose.radius);
        }
        scene
    }

    /// The scene translated: every position plus `by`, in world units, rounded to f32 again.
    pub fn moved(&self, by: [f64; 3]) -> Self {
        let mut scene = self.clone();
        for body in &mut scene.bodies {
            let at = body.pose.position;
            body.pose.position = [0, 1, 2].map(|k| (f64::from(at[k]) + by[k]) as f32);
        }
        scene
    }

    /// The truth of the scene's pairs. A test of a library that chooses its own hull vertices makes shapes of these and calls
    /// [`crate::truths`].
    pub fn truths(&self) -> Vec<Truth> {
        truths(&self.shapes(), &self.bodies, &self.pairs)
    }
}

/// The sizes of hulls at which accuracy is checked, as multiples of a scene's own.
pub const SCALES: [f64; 5] = [1e-5, 1e-2, 1.0, 1e3, 1e5];

/// A kind of convex point set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Random points on the unit sphere.
    Ball,
    /// Random points on an ellipsoid of random half axes, 0.2 to 1.
    Ellipsoid,
    /// The corners of a box of random proportions.
    Cuboid,
    /// A regular tetrahedron.
    Tetrahedron,
    /// A regular octahedron.
    Octahedron,
    /// A regular icosahedron.
    Icosahedron,
    /// Two equal regular polygons, one above the other.
    Prism,
    /// A regular polygon and an apex.
    Cone,
    /// Two turned polygons of different size, one above the other.
    Frustum,
    /// An ellipsoid of half axes 1, 0.003, 0.003.
    Needle,
    /// An ellipsoid of half axes 1, 1, 1e-5.
    Plate,
    /// A thin box, 1 × 1 × 1e-3.
    Tile,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::Ball,
        Self::Ellipsoid,
        Self::Cuboid,
        Self::Tetrahedron,
        Self::Octahedron,
        Self::Icosahedron,
        Self::Prism,
        Self::Cone,
        Self::Frustum,
        Self::Needle,
        Self::Plate,
        Self::Tile,
    ];
}

fn to_f32(points: impl IntoIterator<Item = DVec3>) -> Vec<[f32; 3]> {
    points.into_iter().map(|p| p.as_vec3().to_array()).collect()
}

fn ring(count: usize, radius: f64, z: f64, turn: f64) -> impl Iterator<Item = DVec3> {
    (0..count).map(move |k| {
        let (sin, cos) = (TAU * k as f64 / count as f64 + turn).sin_cos();
        DVec3::new(radius * cos, radius * sin, z)
    })
}

fn box_corners(half: DVec3) -> impl Iterator<Item = DVec3> {
    (0..8u8).map(move |k| half * DVec3::from([0, 1, 2].map(|i| if k >> i & 1 == 0 { -1.0 } else { 1.0 })))
}

/// A convex point set of a kind, within a ball of radius about 1 around the origin. Kinds without a fixed number of points have
/// `point_count` (≥ 4), or the next smaller even number with two rings.
///
/// # Panics
/// If `point_count` is less than 4.
pub fn convex_set(random: &mut Random, kind: Kind, point_count: usize) -> Vec<[f32; 3]> {
    assert!(point_count >= 4, "a solid has at least 4 points");
    let half = point_count / 2;
    let ellipsoid =
        |random: &mut Random, axes: DVec3| to_f32((0..point_count).map(|_| random.direction() * axes));
    match kind {
        Kind::Ball => ellipsoid(random, DVec3::ONE),
        Kind::Ellipsoid => {
            let axes = DVec3::from([0; 3].map(|_| random.between(0.2, 1.0)));
            ellipsoid(random, axes)
        }
        Kind::Needle => ellipsoid(random, DVec3::new(1.0, 0.003, 0.003)),
        Kind::Plate => ellipsoid(random, DVec3::new(1.0, 1.0, 1e-5)),
        Kind::Cuboid => {
            let axes = DVec3::from([0; 3].map(|_| random.between(0.2, 1.0)));
            to_f32(box_corners(axes / axes.length()))
        }
        Kind::Tile => to_f32(box_corners(DVec3::new(0.7, 0.7, 0.0007))),
        Kind::Tetrahedron => {
            let s = 1.0 / 3f64.sqrt();
            to_f32([[s, s, s], [s, -s, -s], [-s, s, -s], [-s, -s, s]].map(DVec3::from))
        }
        Kind::Octahedron => to_f32([DVec3::X, DVec3::Y, DVec3::Z].into_iter().flat_map(|axis| [axis, -axis])),
        Kind::Icosahedron => {
            let golden = (1.0 + 5f64.sqrt()) / 2.0;
            let length = (1.0 + golden * golden).sqrt();
            let mut points = Vec::new();
            for (s, t) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
                let (u, v) = (s / length, t * golden / length);
                points.extend([[0.0, u, v], [u, v, 0.0], [v, 0.0, u]].map(DVec3::from));
            }
            to_f32(points)
        }
        Kind::Prism => {
            let (count, height) = (half.max(3), random.between(0.2, 0.8));
            let radius = (1.0 - height * height).sqrt();
            to_f32(ring(count, radius, -height, 0.0).chain(ring(count, radius, height, 0.0)))
        }
        Kind::Cone => {
            let base = ring((point_count - 1).max(3), 0.8, -0.4, 0.0);
            to_f32(base.chain([DVec3::new(0.0, 0.0, random.between(0.2, 1.0))]))
        }
        Kind::Frustum => {
            let (count, top) = (half.max(3), random.between(0.2, 0.7));
            to_f32(ring(count, 0.8, -0.5, 0.0).chain(ring(count, top, 0.5, random.between(0.0, 1.0))))
        }
    }
}

/// `count` convex point sets of alternating kinds, each of 4 to 40 points and of about `size`.
pub fn convex_sets(count: usize, size: f64, seed: u64) -> Vec<Vec<[f32; 3]>> {
    let mut random = Random::new(seed);
    (0..count)
        .map(|k| {
            let point_count = 4 + random.below(37);
            let set = convex_set(&mut random, Kind::ALL[k % Kind::ALL.len()], point_count);
            set.into_iter().map(|p| p.map(|x| (f64::from(x) * size) as f32)).collect()
        })
        .collect()
}

/// A pair of shapes before their positions are chosen.
struct UnplacedPair<'a> {
    shapes: [&'a Shape; 2],
    rotations: [[f32; 4]; 2],
    scales: [[f32; 3]; 2],
    /// Rounding beyond the shapes' own, in world units.
    radii: [f32; 2],
}

impl UnplacedPair<'_> {
    fn pose(&self, k: usize) -> Pose {
        let (rotation, scale, radius) = (self.rotations[k], self.scales[k], self.radii[k]);
        Pose { position: [0.0; 3], rotation, scale, radius }
    }

    fn body(&self, k: usize, offset: DVec3) -> Body64 {
        let pose = self.pose(k);
        Body64::new(self.shapes[k], pose.rotation64(), pose.scale64(), f64::from(pose.radius), offset)
    }

    /// The bounding radius, with the rounding.
    fn radius(&self, k: usize) -> f64 {
        let pose = self.pose(k);
        let rounding = self.shapes[k].rounding() * pose.scale64().min_element() + f64::from(pose.radius);
        self.shapes[k].radius(self.scales[k]) + rounding
    }

    /// The vector from the first's position to the second's for which their means differ by `apart`.
    fn between_means(&self, apart: DVec3) -> DVec3 {
        let mean = |k: usize| {
            let pose = self.pose(k);
            pose.rotation64() * (pose.scale64() * DVec3::from(self.shapes[k].mean()))
        };
        apart + mean(0) - mean(1)
    }

    /// The vector from the first's position to the second's for which the signed gap is about `target`, with the second in about
    /// `direction`. Moving along the axis of the gap changes it by as much until another axis becomes the best, so a few rounds
    /// converge.
    fn at_gap(&self, direction: DVec3, target: f64) -> DVec3 {
        let a = self.body(0, DVec3::ZERO);
        let reach = self.radius(0) + self.radius(1);
        let mut offset = self.between_means(direction * reach);
        for _ in 0..4 {
            let found = gap64(&a, &self.body(1, offset));
            if (found.gap - target).abs() <= 1e-9 * reach.min(target.abs()) {
                break;
            }
            offset += DVec3::from(found.axis) * (target - found.gap);
        }
        offset
    }

    /// Adds the pair to a scene as bodies of `hulls`, the first at `position`.
    fn place(&self, scene: &mut Scene, hulls: [u32; 2], position: [f32; 3], offset: DVec3) {
        let first = scene.bodies.len() as u32;
        let second = (DVec3::from(position.map(f64::from)) + offset).as_vec3().to_array();
        for (k, position) in [position, second].into_iter().enumerate() {
            scene.bodies.push(Placed { hull: hulls[k], pose: Pose { position, ..self.pose(k) } });
        }
        scene.pairs.push([first, first + 1]);
    }
}

/// Appends the bodies and pairs of `block`, which uses the same hulls.
fn append(scene: &mut Scene, block: &Scene) {
    let base = scene.bodies.len() as u32;
    scene.bodies.extend(&block.bodies);
    scene.pairs.extend(block.pairs.iter().map(|p| p.map(|i| i + base)));
}

#[cfg(test)]
mod tests;
