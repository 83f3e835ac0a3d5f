//! Pairs at gaps near zero: of any hulls, tiny, far from the origin, debris on a floor.

use glam::DVec3;
use rayon::prelude::*;

use super::{Couple, Kind, Scene, box_corners, convex_set, convex_sets, join, to_f32};
use crate::Shape;
use crate::body64::separation;
use crate::random::Random;

/// How the pairs of [`near_pairs`] are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// How many pairs; pair k is bodies 2k and 2k + 1.
    pub count: usize,
    /// The share of pairs that are placed at a gap drawn log-uniform from 1e-6 R to R, either sign (R the smaller
    /// bounding radius); the others stand at a distance of their means uniform in 0 … 1.2 S.
    pub placed: f64,
    /// Scale per axis, log-uniform in 1/stretch … stretch; 1 for none.
    pub stretch: f64,
    /// Centre of the cube, ten hull sizes wide, that the first bodies' positions are drawn from, in world units.
    pub centre: [f32; 3],
    /// The largest rounding as a share of a hull's bounding radius, 0 for none: two in three hulls are rounded by a
    /// share log-uniform down to a thousandth of that, and one in four bodies by as much again.
    pub rounded: f64,
    /// Where the sequence starts.
    pub seed: u64,
}

impl Default for Near {
    /// 1,000 pairs, half of them placed, not stretched, about the origin, not rounded.
    fn default() -> Self {
        Self { count: 1000, placed: 0.5, stretch: 1.0, centre: [0.0; 3], rounded: 0.0, seed: 1 }
    }
}

/// Pairs of random hulls near each other, randomly turned. A quarter of the first bodies stand exactly at the centre.
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

/// [`near_pairs`] of a scene's hulls, rounded as they are; the bodies and pairs are appended to the scene's.
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
            let mut couple =
                Couple { shapes: picked.map(|i| &shapes[i]), rotations, scales, radii: [0.0; 2] };
            if near.rounded > 0.0 {
                for k in 0..2 {
                    if random.below(4) == 0 {
                        let share = near.rounded * random.log_between(1e-3, 1.0);
                        couple.radii[k] = (share * couple.radius(k)) as f32;
                    }
                }
            }
            let (r, s) = (couple.radius(0).min(couple.radius(1)), couple.radius(0) + couple.radius(1));
            let direction = random.direction();
            let offset = if random.chance(near.placed) {
                // A point among the sets has no radius: the larger one gives the size then.
                let size = if r > 0.0 { r } else { s.max(1e-3) };
                let wanted = random.sign() * random.log_between(1e-6 * size, size);
                couple.at_gap(direction, wanted)
            } else {
                couple.between_means(direction * (1.2 * s * random.unit()))
            };
            let home = match random.below(4) {
                0 => DVec3::ZERO,
                _ => random.direction() * 5.0 * s * random.unit(),
            };
            let position = (home + DVec3::from(near.centre.map(f64::from))).as_vec3().to_array();
            couple.place(&mut scene, picked.map(|i| i as u32), position, offset);
            scene
        })
        .collect();
    for block in blocks {
        join(&mut base, &block);
    }
    base
}

/// Pairs of hulls of `point_count` vertices each (random points on the unit sphere, 64 different hulls, randomly
/// turned), of which about `hit_share` overlap: depths uniform to half the radius, distances uniform to the radius.
/// For timings; nearly no pair is in its tolerance band.
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
            let couple = Couple {
                shapes: picked.map(|i| &shapes[i]),
                rotations,
                scales: [[1.0; 3]; 2],
                radii: [0.0; 2],
            };
            let wanted = if random.chance(hit_share) { -0.5 * random.unit() } else { random.unit() };
            let offset = couple.at_gap(random.direction(), wanted);
            let home = (random.direction() * 10.0 * random.unit()).as_vec3().to_array();
            couple.place(&mut scene, picked.map(|i| i as u32), home, offset);
            scene
        })
        .collect();
    let mut scene = Scene { hulls, ..Scene::default() };
    for block in blocks {
        join(&mut scene, &block);
    }
    scene
}

/// Pairs of hulls of bounding radius about `radius` (a hull's own size, not its scale), as [`near_pairs`].
pub fn tiny(radius: f64, count: usize, seed: u64) -> Scene {
    near_pairs(&convex_sets(48, radius, seed), Near { count, seed, ..Near::default() })
}

/// [`near_pairs`] of hulls of size 1 at positions near (1e6, −1e6, 1e6), where an f32 step is 1/16: the truth is what
/// the rounding made of it.
pub fn far(count: usize, seed: u64) -> Scene {
    near_pairs(&convex_sets(48, 1.0, seed), Near { count, seed, centre: [1e6, -1e6, 1e6], ..Near::default() })
}

/// Debris on a floor: a slab of half size 1000 × 1000 × 10 and `count` hulls of radius 1 to 100 (size ratios from 10
/// to 1,000), each paired with a slab of its own at a gap log-uniform from 1e-6 to 1 of its own scale, either sign. In
/// half of the pairs the slab is the first body. The slab is turned at random for every pair when `tilted`.
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
        let couple = Couple {
            shapes: [&shapes[slab], &shapes[piece]],
            rotations: [rotation, random.rotation()],
            scales: [[1.0; 3], [scale as f32; 3]],
            radii: [0.0; 2],
        };
        let wanted = random.sign() * scale * random.log_between(1e-6, 1.0);
        let turn = couple.pose(0).rotation64();
        let [x, y] = [0; 2].map(|_| random.between(-900.0, 900.0));
        let axis = turn * DVec3::Z;
        let side = turn * DVec3::new(x, y, 0.0);
        let shown = separation(&couple.body(0, DVec3::ZERO), &couple.body(1, side), axis);
        couple.place(&mut scene, [slab as u32, piece as u32], [0.0; 3], side + axis * (wanted - shown));
        if k % 2 == 1 {
            let last = scene.bodies.len();
            scene.bodies.swap(last - 2, last - 1);
        }
    }
    scene
}
