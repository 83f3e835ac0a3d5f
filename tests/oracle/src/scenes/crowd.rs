//! Crowds that tumble in a cube, and the true pairs of a broad phase.

use glam::{DQuat, DVec3};
use rayon::prelude::*;

use super::Scene;
use crate::random::Random;
use crate::{Placed, Pose};

/// Tumbling bodies in a cube.
#[derive(Debug, Clone)]
pub struct Tumbling {
    /// The bodies at the start, in a cube from the origin to [`size`](Self::size), without pairs.
    pub scene: Scene,
    /// Velocity of each body, in world units a second.
    pub velocities: Vec<[f32; 3]>,
    /// Angular velocity of each body, radians a second about the world's axes.
    pub spins: Vec<[f32; 3]>,
    /// Edge of the cube, in world units.
    pub size: f64,
}

impl Tumbling {
    /// The bodies after `seconds`: translated, rotated, and reflected at the walls.
    pub fn at(&self, seconds: f64) -> Vec<Placed> {
        let bounce = |x: f64| {
            let x = x.rem_euclid(2.0 * self.size);
            x.min(2.0 * self.size - x)
        };
        let moved = |(k, body): (usize, &Placed)| {
            let velocity = DVec3::from(self.velocities[k].map(f64::from));
            let spin = DVec3::from(self.spins[k].map(f64::from));
            let position = body.pose.position64() + velocity * seconds;
            let rotation = DQuat::from_scaled_axis(spin * seconds) * body.pose.rotation64();
            let pose = Pose {
                position: position.to_array().map(|x| bounce(x) as f32),
                rotation: rotation.normalize().as_quat().to_array(),
                ..body.pose
            };
            Placed { hull: body.hull, pose }
        };
        self.scene.bodies.par_iter().enumerate().map(moved).collect()
    }
}

/// `count` bodies of alternating `hulls` with random poses in a cube. The cube's size makes each body's axis-aligned world box
/// overlap `neighbours` others on average. So about `count · neighbours / 2` pairs overlap: with 10,000 bodies and 20 neighbours,
/// 100,000 pairs.
///
/// # Panics
/// If there are no hulls.
pub fn tumbling(hulls: &[Vec<[f32; 3]>], count: usize, neighbours: f64, seed: u64) -> Tumbling {
    let mut random = Random::new(seed);
    let bodies: Vec<Placed> = (0..count)
        .map(|k| {
            let pose = Pose { rotation: random.rotation(), ..Pose::default() };
            Placed { hull: (k % hulls.len()) as u32, pose }
        })
        .collect();
    let mut scene = Scene { hulls: hulls.to_vec(), bodies, ..Scene::default() };
    // Two intervals of widths v and w with centres uniform in [0, L] overlap with probability 1 − (1 − h/L)², h = (v + w)/2.
    let widths: Vec<DVec3> = world_boxes(&scene).iter().map(|[low, high]| *high - *low).collect();
    let samples: Vec<DVec3> = (0..20_000.min(count * count))
        .map(|_| 0.5 * (widths[random.below(count)] + widths[random.below(count)]))
        .collect();
    let expected = |size: f64| {
        let overlap = |h: f64| 1.0 - (1.0 - (h / size).min(1.0)).powi(2);
        let sum: f64 = samples.iter().map(|h| overlap(h.x) * overlap(h.y) * overlap(h.z)).sum();
        count.saturating_sub(1) as f64 * sum / samples.len().max(1) as f64
    };
    let widest = widths.iter().map(|w| w.max_element()).fold(1e-30, f64::max);
    let (mut low, mut high) = (1e-3 * widest, widest);
    while expected(high) > neighbours && high < 1e9 * widest {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if expected(middle) > neighbours { low = middle } else { high = middle }
    }
    let size = high;
    for body in &mut scene.bodies {
        body.pose.position = [0; 3].map(|_| (size * random.unit()) as f32);
    }
    let speed = 0.5 * widest;
    let velocities =
        (0..count).map(|_| (random.direction() * speed * random.unit()).as_vec3().to_array()).collect();
    let spins = (0..count).map(|_| (random.direction() * 3.0 * random.unit()).as_vec3().to_array()).collect();
    Tumbling { scene, velocities, spins, size }
}

/// World box of each body, lowest and highest corner, in f64.
pub(super) fn world_boxes(scene: &Scene) -> Vec<[DVec3; 2]> {
    scene
        .bodies
        .par_iter()
        .map(|body| {
            let (rotation, scale) = (body.pose.rotation64(), body.pose.scale64());
            let mut low = DVec3::INFINITY;
            let mut high = DVec3::NEG_INFINITY;
            for v in &scene.hulls[body.hull as usize] {
                let p = rotation * (scale * DVec3::from(v.map(f64::from)));
                low = low.min(p);
                high = high.max(p);
            }
            let position = body.pose.position64();
            let rounding = f64::from(scene.rounding(body.hull as usize)) * scale.min_element();
            let grown = DVec3::splat(rounding + f64::from(body.pose.radius));
            [low + position - grown, high + position + grown]
        })
        .collect()
}

/// The pairs whose axis-aligned world boxes, each grown by `margin` on every side, overlap or touch; sorted by (a, b), a < b. The
/// boxes are in f64 from every point, the pairs by sorting along x. With margin 0 these are the pairs that a broad phase must
/// report.
pub fn overlapping_boxes(scene: &Scene, margin: f64) -> Vec<[u32; 2]> {
    let boxes = world_boxes(scene);
    let mut order: Vec<usize> = (0..boxes.len()).collect();
    order.sort_by(|&i, &j| boxes[i][0].x.total_cmp(&boxes[j][0].x));
    let reach = 2.0 * margin;
    let mut pairs: Vec<[u32; 2]> = order
        .par_iter()
        .enumerate()
        .flat_map_iter(|(k, &i)| {
            let [low, high] = boxes[i];
            let boxes = &boxes;
            order[k + 1..]
                .iter()
                .take_while(move |&&j| boxes[j][0].x <= high.x + reach)
                .filter(move |&&j| {
                    let [other_low, other_high] = boxes[j];
                    (1..3).all(|axis| {
                        other_low[axis] <= high[axis] + reach && low[axis] <= other_high[axis] + reach
                    })
                })
                .map(move |&j| [i.min(j) as u32, i.max(j) as u32])
        })
        .collect();
    pairs.par_sort_unstable();
    pairs
}
