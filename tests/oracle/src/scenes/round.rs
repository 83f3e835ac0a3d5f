//! Rounded and slender shapes, hulls of many vertices, and the ground.

use glam::{DQuat, DVec3};

use super::near::pairs_of;
use super::{Kind, Near, Scene, UnplacedPair, box_corners, convex_set, to_f32};
use crate::random::Random;

/// [`near_pairs`](super::near_pairs) of balls, capsules, rounded triangles, squares and boxes, and hulls without rounding. Sizes
/// cover two decades, roundings a hundredth of the core to the whole shape.
pub fn round_pairs(near: Near) -> Scene {
    let mut random = Random::new(near.seed);
    let mut scene = Scene::default();
    for k in 0..48 {
        let size = random.log_between(0.1, 10.0);
        let core: Vec<DVec3> = match k % 6 {
            0 => vec![DVec3::ZERO],
            1 => vec![DVec3::new(0.0, -size, 0.0), DVec3::new(0.0, size, 0.0)],
            2 => (0..3).map(|_| random.direction() * size).collect(),
            3 => [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
                .map(|[x, z]| DVec3::new(x, 0.0, z) * size)
                .to_vec(),
            4 => box_corners(DVec3::from([0; 3].map(|_| size * random.between(0.2, 1.0)))).collect(),
            _ => {
                let set = convex_set(&mut random, Kind::Ellipsoid, 20);
                set.into_iter().map(|p| DVec3::from(p.map(f64::from)) * size).collect()
            }
        };
        let rounding = match k % 6 {
            0 => size,
            _ if k % 4 == 3 => 0.0,
            _ => size * random.log_between(0.01, 1.0),
        };
        scene.hulls.push(to_f32(core));
        scene.roundings.push(rounding as f32);
    }
    pairs_of(scene, near)
}

/// [`near_pairs`](super::near_pairs) of needles (1 : 0.003 and 1 : 1e-5) and plates (1 : 1e-3 and 1 : 1e-5).
pub fn slender(near: Near) -> Scene {
    let mut random = Random::new(near.seed);
    let mut hulls = Vec::new();
    for _ in 0..6 {
        for kind in [Kind::Needle, Kind::Plate, Kind::Tile] {
            hulls.push(convex_set(&mut random, kind, 20));
        }
        for thin in [DVec3::new(1.0, 1e-5, 1e-5), DVec3::new(1.0, 1.0, 1e-5)] {
            let ball = convex_set(&mut random, Kind::Ball, 20);
            hulls.push(to_f32(ball.into_iter().map(|p| DVec3::from(p.map(f64::from)) * thin)));
            hulls.push(to_f32(box_corners(0.7 * thin)));
        }
    }
    pairs_of(Scene { hulls, ..Scene::default() }, near)
}

/// [`near_pairs`](super::near_pairs) of balls, ellipsoids, cones and prisms with `point_count` vertices each.
pub fn large(point_count: usize, near: Near) -> Scene {
    let mut random = Random::new(near.seed);
    let kinds = [Kind::Ball, Kind::Ellipsoid, Kind::Cone, Kind::Prism];
    let hulls = kinds.map(|kind| convex_set(&mut random, kind, point_count)).to_vec();
    pairs_of(Scene { hulls, ..Scene::default() }, near)
}

/// Hulls of `sets` on the ground, a half-space. Each of `count` bodies is paired with it at a log-uniform gap of 1e-6 to 1 of the
/// body's radius, of either sign. Every second hull is rounded. A level ground is body 0. If `tilted`, each pair has a ground of its
/// own with a random normal, and in every third pair the ground is the second body.
pub fn ground(sets: &[Vec<[f32; 3]>], count: usize, tilted: bool, seed: u64) -> Scene {
    let mut random = Random::new(seed);
    let mut scene = Scene { hulls: sets.to_vec(), ..Scene::default() };
    scene.hulls.push(Vec::new());
    let plain = scene.shapes();
    scene.roundings =
        plain.iter().enumerate().map(|(k, s)| 0.1 * (k % 2) as f32 * s.radius([1.0; 3]) as f32).collect();
    let shapes = scene.shapes();
    let half_space = shapes.len() - 1;
    for k in 0..count {
        let piece = random.below(half_space);
        let upright = DQuat::IDENTITY.as_quat().to_array();
        let rotation = if tilted { random.rotation() } else { upright };
        let pair = UnplacedPair {
            shapes: [&shapes[half_space], &shapes[piece]],
            rotations: [rotation, random.rotation()],
            scales: [[1.0; 3]; 2],
            radii: [0.0; 2],
        };
        let radius = pair.radius(1);
        let size = if radius > 0.0 { radius } else { 1e-3 };
        let target = random.sign() * random.log_between(1e-6 * size, size);
        let mut offset = pair.at_gap(DVec3::Y, target);
        // A random shift along the ground of up to a hundred sizes.
        let normal = pair.pose(0).rotation64() * DVec3::Y;
        offset += (random.direction() * 100.0 * size * random.unit()).reject_from_normalized(normal);
        let hulls = [half_space as u32, piece as u32];
        if tilted {
            let home = (random.direction() * 10.0 * size).as_vec3().to_array();
            pair.place(&mut scene, hulls, home, offset);
        } else {
            if scene.bodies.is_empty() {
                scene.bodies.push(crate::Placed { hull: hulls[0], pose: pair.pose(0) });
            }
            let pose = crate::Pose { position: offset.as_vec3().to_array(), ..pair.pose(1) };
            scene.pairs.push([0, scene.bodies.len() as u32]);
            scene.bodies.push(crate::Placed { hull: hulls[1], pose });
        }
        if tilted && k % 3 == 2 {
            let last = scene.bodies.len();
            scene.bodies.swap(last - 2, last - 1);
        }
    }
    scene
}
