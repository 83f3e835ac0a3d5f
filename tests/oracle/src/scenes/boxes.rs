//! Boxes that kiss, coincide, hold one another, and lie in piles.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};

use super::{Couple, Scene, box_corners, overlapping_boxes, to_f32};
use crate::body64::separation;
use crate::random::Random;
use crate::{Placed, Pose, Shape};

/// The gaps of [`kissing_boxes`], relative to the boxes' size.
pub const KISSING_GAPS: [f64; 11] = [0.0, 1e-7, -1e-7, 1e-6, -1e-6, 1e-5, -1e-5, 1e-4, -1e-4, 1e-3, -1e-3];

/// How two boxes meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contact {
    FaceFace,
    FaceEdge,
    FaceVertex,
    EdgeEdge,
}

/// `count` pairs of boxes that nearly kiss, each pair turned together by one random rotation: face to face (half of
/// them; shifted sideways, or exactly aligned), face to edge, face to vertex and edge to edge, at the gaps of
/// [`KISSING_GAPS`] in turn. Rounding the poses to f32 changes gaps by up to about 1e-7.
pub fn kissing_boxes(count: usize, seed: u64) -> Scene {
    let mut random = Random::new(seed);
    let halves = [[0.5, 0.5, 0.5], [1.0, 0.25, 0.5], [0.125, 0.75, 0.5], [0.3, 0.6, 0.9]];
    let hulls: Vec<_> = halves.iter().map(|&h| to_f32(box_corners(DVec3::from(h)))).collect();
    let shapes: Vec<Shape> = hulls.iter().map(|points| Shape::new(points)).collect();
    let mut scene = Scene { hulls, ..Scene::default() };
    let contacts = [
        Contact::FaceFace,
        Contact::FaceEdge,
        Contact::FaceFace,
        Contact::FaceVertex,
        Contact::FaceFace,
        Contact::EdgeEdge,
    ];
    for k in 0..count {
        let contact = contacts[k % contacts.len()];
        let picked = [random.below(shapes.len()), random.below(shapes.len())];
        let common = random.rotation64();
        // A quarter turn swaps the faces that meet.
        let quarter = DQuat::from_axis_angle(DVec3::Y, TAU / 4.0 * random.below(4) as f64);
        let eighth = TAU / 8.0;
        let (turn_a, turn_b, axis) = match contact {
            Contact::FaceFace => (DQuat::IDENTITY, quarter, DVec3::Z),
            Contact::FaceEdge => (DQuat::IDENTITY, DQuat::from_rotation_x(eighth) * quarter, DVec3::Z),
            Contact::FaceVertex => (DQuat::IDENTITY, random.rotation64(), DVec3::Z),
            Contact::EdgeEdge => (DQuat::from_rotation_x(eighth), DQuat::from_rotation_y(eighth), DVec3::Z),
        };
        let rounded = |turn: DQuat| (common * turn).as_quat().to_array();
        let couple = Couple {
            shapes: picked.map(|i| &shapes[i]),
            rotations: [rounded(turn_a), rounded(turn_b)],
            scales: [[1.0; 3]; 2],
            radii: [0.0; 2],
        };
        let axis = common * axis;
        // Sideways by no more than keeps the meeting features over each other; exactly aligned each fourth time.
        let shift = if k % 4 == 0 { 0.0 } else { 0.1 };
        let side = common * DVec3::new(random.between(-shift, shift), random.between(-shift, shift), 0.0);
        let size = couple.radius(0).min(couple.radius(1));
        let wanted = KISSING_GAPS[(k / contacts.len()) % KISSING_GAPS.len()] * size;
        let (a, b) = (couple.body(0, DVec3::ZERO), couple.body(1, DVec3::ZERO));
        let apart = wanted - separation(&a, &b, axis);
        let sideways = (a.feature(axis) - b.feature(-axis)).reject_from_normalized(axis);
        let offset = side + sideways + axis * apart;
        couple.place(&mut scene, picked.map(|i| i as u32), [0.0; 3], offset);
    }
    scene
}

/// Every hull with its own copy in the very same place, and moved by 1e-3 and 1e-7 of its size; turned at random.
pub fn coincident(hulls: &[Vec<[f32; 3]>], seed: u64) -> Scene {
    let mut random = Random::new(seed);
    let mut scene = Scene { hulls: hulls.to_vec(), ..Scene::default() };
    for (k, points) in hulls.iter().enumerate() {
        let shape = Shape::of_cloud(points);
        for step in [0.0, 1e-3, 1e-7] {
            let rotation = random.rotation();
            let couple = Couple {
                shapes: [&shape; 2],
                rotations: [rotation; 2],
                scales: [[1.0; 3]; 2],
                radii: [0.0; 2],
            };
            let offset = random.direction() * step * couple.radius(0);
            couple.place(&mut scene, [k as u32; 2], [0.0; 3], offset);
        }
    }
    scene
}

/// Small boxes inside big ones, from the centre out to the wall and through it; every third pair turned together.
pub fn box_in_box(count: usize, seed: u64) -> Scene {
    let mut random = Random::new(seed);
    let hulls = [2.0, 0.5].map(|half| to_f32(box_corners(DVec3::splat(half)))).to_vec();
    let shapes: Vec<Shape> = hulls.iter().map(|points| Shape::new(points)).collect();
    let mut scene = Scene { hulls, ..Scene::default() };
    for k in 0..count {
        let common = if k % 3 == 0 { random.rotation64() } else { DQuat::IDENTITY };
        let own = if k % 2 == 0 { DQuat::IDENTITY } else { random.rotation64() };
        let rotations = [common, common * own].map(|q| q.as_quat().to_array());
        let couple =
            Couple { shapes: [&shapes[0], &shapes[1]], rotations, scales: [[1.0; 3]; 2], radii: [0.0; 2] };
        let reach = [0.0, 0.1, 1.0, 1.5, 2.0, 2.5][random.below(6)];
        let offset = common * (DVec3::from([0; 3].map(|_| random.between(-1.0, 1.0))).with_x(1.0) * reach);
        couple.place(&mut scene, [0, 1], [0.0; 3], offset);
    }
    scene
}

/// `side`³ unit cubes in a lattice, every face exactly on the next one's; the pairs are all whose boxes meet, corners
/// included. All gaps are exactly 0.
pub fn stacked_cubes(side: usize) -> Scene {
    let mut scene = Scene { hulls: vec![to_f32(box_corners(DVec3::splat(0.5)))], ..Scene::default() };
    for x in 0..side {
        for y in 0..side {
            for z in 0..side {
                scene.bodies.push(Placed { hull: 0, pose: Pose::at([x as f32, y as f32, z as f32]) });
            }
        }
    }
    scene.pairs = overlapping_boxes(&scene, 1e-3);
    scene
}

/// How the boxes of a [`pile`] lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pile {
    /// Rows, each one box shorter than the one below, each box on two.
    Pyramid,
    /// A brick wall, every second row shifted by half a brick.
    Wall,
    /// Square layers of bricks that are turned about the vertical, each resting on some of the layer below.
    Heap,
}

/// About `count` boxes at rest on a floor slab (body 0), as a physics engine leaves them: contacts at gaps of either
/// sign, ±1e-4 … ±1e-3 of the box, a third of them exactly 0; sideways neighbours likewise; slight turns in a quarter of
/// the boxes (as large as the gaps), or, in a heap, any turn about the vertical. The whole pile's frame is the
/// world's, z up. The pairs are all whose world boxes overlap or nearly do.
pub fn pile(kind: Pile, count: usize, seed: u64) -> Scene {
    let mut random = Random::new(seed);
    let half = match kind {
        Pile::Pyramid => DVec3::splat(0.5),
        Pile::Wall => DVec3::new(1.0, 0.5, 0.5),
        Pile::Heap => DVec3::new(0.8, 0.5, 0.4),
    };
    let hulls = vec![to_f32(box_corners(half)), to_f32(box_corners(DVec3::new(100.0, 100.0, 1.0)))];
    let mut scene = Scene { hulls, ..Scene::default() };
    scene.bodies.push(Placed { hull: 1, pose: Pose::at([0.0, 0.0, -1.0]) });
    let gap = |random: &mut Random| {
        if random.below(3) == 0 { 0.0 } else { random.sign() * random.log_between(1e-4, 1e-3) }
    };
    let width = match kind {
        Pile::Pyramid => ((2.0 * count as f64).sqrt() as usize).max(1),
        Pile::Wall => ((count as f64).sqrt() as usize).max(1),
        Pile::Heap => ((count as f64).cbrt() as usize).max(1),
    };
    let mut put = |random: &mut Random, centre: DVec3, turn: f64| {
        let mut rotation = DQuat::from_rotation_z(turn);
        if random.chance(0.25) {
            rotation = DQuat::from_axis_angle(random.direction(), random.between(-3e-4, 3e-4)) * rotation;
        }
        let rotation = if turn == 0.0 && rotation == DQuat::IDENTITY {
            [0.0, 0.0, 0.0, 1.0]
        } else {
            rotation.as_quat().to_array()
        };
        let pose = Pose { position: centre.as_vec3().to_array(), rotation, ..Pose::default() };
        scene.bodies.push(Placed { hull: 0, pose });
    };
    let mut placed = 0;
    let mut bottom = 0.0;
    let mut row = 0;
    while placed < count {
        let z = bottom + half.z + gap(&mut random);
        match kind {
            Pile::Pyramid | Pile::Wall => {
                let (boxes, shift) = match kind {
                    Pile::Pyramid => (width.saturating_sub(row).max(1), row as f64 * half.x),
                    _ => (width, (row % 2) as f64 * half.x),
                };
                let mut x = shift;
                for _ in 0..boxes {
                    put(&mut random, DVec3::new(x, 0.0, z), 0.0);
                    x += 2.0 * half.x + gap(&mut random);
                }
                placed += boxes;
            }
            Pile::Heap => {
                for i in 0..width {
                    for j in 0..width {
                        let turn = if random.chance(0.25) { 0.0 } else { random.between(0.0, TAU) };
                        let [x, y] = [i, j].map(|k| k as f64 * 1.9 + random.between(-0.1, 0.1));
                        let own = if random.chance(0.5) { 0.0 } else { gap(&mut random) };
                        put(&mut random, DVec3::new(x, y, z + own), turn);
                    }
                }
                placed += width * width;
            }
        }
        bottom = z + half.z;
        row += 1;
    }
    scene.pairs = overlapping_boxes(&scene, 1e-3);
    scene
}
