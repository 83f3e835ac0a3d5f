//! Pairs with gaps near zero: of given hulls, of tiny ones, far from the origin, and debris on a floor.

use glam::DVec3;
use rayon::prelude::*;

use super::{Kind, Scene, UnplacedPair, append, box_corners, convex_set, convex_sets, to_f32};
use crate::Shape;
use crate::body64::separation;
use crate::random::Random;

/// The options of [`near_pairs`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// The number of pairs; pair k has bodies 2k and 2k + 1.
    pub count: usize,
    /// The share of pairs placed at a log-uniform gap from 1e-6 R to R of either sign (R is the smaller bounding radius). The means of
    /// the others are at a uniform distance in 0 … 1.2 S.
    pub placed: f64,
    /// Scale per axis, log-uniform in 1/stretch … stretch; 1 for none.
    pub stretch: f64,
    /// The centre of the region, ten hull sizes wide, of the first bodies' positions, in world units.
    pub centre: [f32; 3],
    /// The largest rounding relative to a hull's bounding radius; 0 for none. Two in three hulls are rounded, log-uniformly down to a
    /// thousandth of that; one in four bodies has as much again.
    pub rounded: f64,
    /// The seed.
    pub seed: u64,
}

impl Default for Near {
    /// 1,000 pairs around the origin, half of them placed, not stretched, not rounded.
    fn default() -> Self {
        Self { count: 1000, placed: 0.5, stretch: 1.0, centre: [0.0; 3], rounded: 0.0, seed: 1 }
    }
}

/// Pairs of random hulls near each other under random rotations. A quarter of the first bodies are exactly at the centre.
///
/// # Panics
/// If there are no hulls.
pub fn near_pairs(hulls: &[Vec<[f32; 3]>], near: Near) -> Scene {
    let mut base = Scene { hulls: hulls.to_vec(), ..Scene::default() };
    if near.rounded > 0.0 {
        let mut random = Random::new(near.seed);
        let radii = base.shapes();
        let rounding = |shape: &Shape| {
            let share = if random.below(3) == 0 { 0.0 } else { random.log_between(1e-3, 1.0) };
            (share * near.rounded * shape.radius([1.0; 3])) as f32
        };
        base.roundings = radii.iter().map(rounding).collect();
    }
    pairs_of(base, near)
}

/// [`near_pairs`] of a scene's hulls with their roundings. The bodies and pairs are appended to the scene.
pub(super) fn pairs_of(mut base: Scene, near: Near) -> Scene {
    let shapes = base.shapes();
    let blocks: Vec<Scene> = (0..near.count)
        .into_par_iter()
        .map(|k| {
            let mut scene = Scene::default();
            let mut random = Random::new(near.seed.wrapping_mul(0x0100_0000_01b3) ^ k as u64);
            let picked = [0; 2].map(|_| random.below(shapes.len()));
            let limit = near.stretch.max(1.0);
            let scales = [0; 2].map(|_| {
                [0; 3].map(|_| if limit > 1.0 { random.log_between(1.0 / limit, limit) as f32 } else { 1.0 })
            });
            let rotations = [0; 2].map(|_| random.rotation());
            let mut pair =
                UnplacedPair { shapes: picked.map(|i| &shapes[i]), rotations, scales, radii: [0.0; 2] };
            if near.rounded > 0.0 {
                for k in 0..2 {
                    if random.below(4) == 0 {
                        let share = near.rounded * random.log_between(1e-3, 1.0);
                        pair.radii[k] = (share * pair.radius(k)) as f32;
                    }
                }
            }
            let (r, s) = (pair.radius(0).min(pair.radius(1)), pair.radius(0) + pair.radius(1));
            let direction = random.direction();
            let offset = if random.chance(near.placed) {
                // A point has no radius; then the other hull gives the size.
                let size = if r > 0.0 { r } else { s.max(1e-3) };
                let target = random.sign() * random.log_between(1e-6 * size, size);
                pair.at_gap(direction, target)
            } else {
                pair.between_means(direction * (1.2 * s * random.unit()))
            };
            let home = match random.below(4) {
                0 => DVec3::ZERO,
                _ => random.direction() * 5.0 * s * random.unit(),
            };
            let position = (home + DVec3::from(near.centre.map(f64::from))).as_vec3().to_array();
            pair.place(&mut scene, picked.map(|i| i as u32), position, offset);
            scene
        })
        .collect();
    for block in blocks {
        append(&mut base, &block);
    }
    base
}

/// Pairs of 64 different hulls with `point_count` random vertices on the unit sphere, under random rotations. About `hit_share` of
/// the pairs overlap. Depths are uniform up to half the radius, distances up to the radius. For timings; nearly no pair is in its
/// tolerance band.
///
/// # Panics
/// If `point_count` is less than 4.
pub fn overlapping_share(point_count: usize, pair_count: usize, hit_share: f64, seed: u64) -> Scene {
    let mut random = Random::new(seed);
    let hulls: Vec<_> = (0..64).map(|_| convex_set(&mut random, Kind::Ball, point_count)).collect();
    let shapes: Vec<Shape> = hulls.par_iter().map(|points| Shape::new(points)).collect();
    let blocks: Vec<Scene> = (0..pair_count)
        .into_par_iter()
        .map(|k| {
            let mut scene = Scene::default();
            let mut random = Random::new(seed.wrapping_mul(0x0100_0000_01b3) ^ k as u64);
            let picked = [0; 2].map(|_| random.below(shapes.len()));
            let rotations = [0; 2].map(|_| random.rotation());
            let pair = UnplacedPair {
                shapes: picked.map(|i| &shapes[i]),
                rotations,
                scales: [[1.0; 3]; 2],
                radii: [0.0; 2],
            };
            let target = if random.chance(hit_share) { -0.5 * random.unit() } else { random.unit() };
            let offset = pair.at_gap(random.direction(), target);
            let home = (random.direction() * 10.0 * random.unit()).as_vec3().to_array();
            pair.place(&mut scene, picked.map(|i| i as u32), home, offset);
            scene
        })
        .collect();
    let mut scene = Scene { hulls, ..Scene::default() };
    for block in blocks {
        append(&mut scene, &block);
    }
    scene
}

/// [`near_pairs`] of hulls of bounding radius about `radius` (the hull's own size, not its scale).
pub fn tiny(radius: f64, count: usize, seed: u64) -> Scene {
    near_pairs(&convex_sets(48, radius, seed), Near { count, seed, ..Near::default() })
}

/// [`near_pairs`] of hulls of size 1 at positions near (1e6, −1e6, 1e6), where an f32 step is 1/16. The truth is that of the rounded
/// positions.
pub fn far(count: usize, seed: u64) -> Scene {
    near_pairs(&convex_sets(48, 1.0, seed), Near { count, seed, centre: [1e6, -1e6, 1e6], ..Near::default() })
}

/// Debris on a floor: `count` hulls of radius 1 to 100, each paired with its own slab of half size 1000 × 1000 × 10 (size ratios from
/// 10 to 1,000), at a log-uniform gap of 1e-6 to 1 of the hull's scale, of either sign. In half of the pairs the slab is the first
/// body. If `tilted`, each slab has a random rotation.
pub fn debris(count: usize, tilted: bool, seed: u64) -> Scene {
    let mut random = Random::new(seed);
    let mut hulls = convex_sets(48, 1.0, seed);
    hulls.push(to_f32(box_corners(DVec3::new(1000.0, 1000.0, 10.0))));
    let slab = hulls.len() - 1;
    let shapes: Vec<Shape> = hulls.iter().map(|points| Shape::of_cloud(points)).collect();
    let mut scene = Scene { hulls, ..Scene::default() };
    for k in 0..count {
        let piece = random.below(slab);
        let scale = random.log_between(1.0, 100.0);
        let rotation = if tilted { random.rotation() } else { [0.0, 0.0, 0.0, 1.0] };
        let pair = UnplacedPair {
            shapes: [&shapes[slab], &shapes[piece]],
            rotations: [rotation, random.rotation()],
            scales: [[1.0; 3], [scale as f32; 3]],
            radii: [0.0; 2],
        };
        let target = random.sign() * scale * random.log_between(1e-6, 1.0);
        let turn = pair.pose(0).rotation64();
        let [x, y] = [0; 2].map(|_| random.between(-900.0, 900.0));
        let axis = turn * DVec3::Z;
        let side = turn * DVec3::new(x, y, 0.0);
        let shown = separation(&pair.body(0, DVec3::ZERO), &pair.body(1, side), axis);
        pair.place(&mut scene, [slab as u32, piece as u32], [0.0; 3], side + axis * (target - shown));
        if k % 2 == 1 {
            let last = scene.bodies.len();
            scene.bodies.swap(last - 2, last - 1);
        }
    }
    scene
}
