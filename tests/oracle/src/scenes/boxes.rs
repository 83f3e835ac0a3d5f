//! Boxes that nearly touch, coincide, contain one another or form piles.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};

use super::{Scene, UnplacedPair, box_corners, overlapping_boxes, to_f32};
use crate::body64::separation;
use crate::random::Random;
use crate::{Placed, Pose, Shape};

/// The gaps of [`kissing_boxes`], relative to the boxes' size.
pub const KISSING_GAPS: [f64; 11] = [0.0, 1e-7, -1e-7, 1e-6, -1e-6, 1e-5, -1e-5, 1e-4, -1e-4, 1e-3, -1e-3];

/// The features of two boxes that touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contact {
    FaceFace,
    FaceEdge,
    FaceVertex,
    EdgeEdge,
}

/// `count` pairs of boxes that nearly touch, each pair rotated together: face to face (half of them, shifted sideways or exactly
/// aligned), face to edge, face to vertex and edge to edge, at the gaps of [`KISSING_GAPS`]. Rounding the poses to f32 changes
/// gaps by up to about 1e-7.
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
        // A quarter turn changes the faces that touch.
        let quarter = DQuat::from_axis_angle(DVec3::Y, TAU / 4.0 * random.below(4) as f64);
        let eighth = TAU / 8.0;
        let (turn_a, turn_b, axis) = match contact {
            Contact::FaceFace => (DQuat::IDENTITY, quarter, DVec3::Z),
            Contact::FaceEdge => (DQuat::IDENTITY, DQuat::from_rotation_x(eighth) * quarter, DVec3::Z),
            Contact::FaceVertex => (DQuat::IDENTITY, random.rotation64(), DVec3::Z),
            Contact::EdgeEdge => (DQuat::from_rotation_x(eighth), DQuat::from_rotation_y(eighth), DVec3::Z),
        };
        let rounded = |turn: DQuat| (common * turn).as_quat().to_array();
        let pair = UnplacedPair {
            shapes: picked.map(|i| &shapes[i]),
            rotations: [rounded(turn_a), rounded(turn_b)],
            scales: [[1.0; 3]; 2],
            radii: [0.0; 2],
        };
        let axis = common * axis;
        // A sideways shift that keeps the features over each other; every fourth pair is exactly aligned.
        let shift = if k % 4 == 0 { 0.0 } else { 0.1 };
        let side = common * DVec3::new(random.between(-shift, shift), random.between(-shift, shift), 0.0);
        let size = pair.radius(0).min(pair.radius(1));
        let target = KISSING_GAPS[(k / contacts.len()) % KISSING_GAPS.len()] * size;
        let (a, b) = (pair.body(0, DVec3::ZERO), pair.body(1, DVec3::ZERO));
        let apart = target - separation(&a, &b, axis);
        let sideways = (a.feature(axis) - b.feature(-axis)).reject_from_normalized(axis);
        let offset = side + sideways + axis * apart;
        pair.place(&mut scene, picked.map(|i| i as u32), [0.0; 3], offset);
    }
    scene
}

/// Every hull with a copy at the same place, and moved by 1e-3 and by 1e-7 of its size, under random rotations.
pub fn coincident(hulls: &[Vec<[f32; 3]>], seed: u64) -> Scene {
    let mut random = Random::new(seed);
    let mut scene = Scene { hulls: hulls.to_vec(), ..Scene::default() };
    for (k, points) in hulls.iter().enumerate() {
        let shape = Shape::of_cloud(points);
        for step in [0.0, 1e-3, 1e-7] {
            let rotation = random.rotation();
            let pair = UnplacedPair {
                shapes: [&shape; 2],
                rotations: [rotation; 2],
                scales: [[1.0; 3]; 2],
                radii: [0.0; 2],
            };
            let offset = random.direction() * step * pair.radius(0);
            pair.place(&mut scene, [k as u32; 2], [0.0; 3], offset);
        }
    }
    scene
}

/// Small boxes inside large ones, from the centre to the wall and through it. Every third pair is rotated together.
pub fn box_in_box(count: usize, seed: u64) -> Scene {
    let mut random = Random::new(seed);
    let hulls = [2.0, 0.5].map(|half| to_f32(box_corners(DVec3::splat(half)))).to_vec();
    let shapes: Vec<Shape> = hulls.iter().map(|points| Shape::new(points)).collect();
    let mut scene = Scene { hulls, ..Scene::default() };
    for k in 0..count {
        let common = if k % 3 == 0 { random.rotation64() } else { DQuat::IDENTITY };
        let own = if k % 2 == 0 { DQuat::IDENTITY } else { random.rotation64() };
        let rotations = [common, common * own].map(|q| q.as_quat().to_array());
        let pair = UnplacedPair {
            shapes: [&shapes[0], &shapes[1]],
            rotations,
            scales: [[1.0; 3]; 2],
            radii: [0.0; 2],
        };
        let reach = [0.0, 0.1, 1.0, 1.5, 2.0, 2.5][random.below(6)];
        let offset = common * (DVec3::from([0; 3].map(|_| random.between(-1.0, 1.0))).with_x(1.0) * reach);
        pair.place(&mut scene, [0, 1], [0.0; 3], offset);
    }
    scene
}

/// `side`³ unit cubes in a lattice, each face exactly on its neighbour's. The pairs are all whose boxes touch, also at corners.
/// All gaps are exactly 0.
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

/// The arrangement of the boxes of a [`pile`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pile {
    /// Rows, each one box shorter than the row below; each box rests on two.
    Pyramid,
    /// A brick wall, every second row shifted by half a brick.
    Wall,
    /// Square layers of bricks rotated about the vertical, each on some bricks of the layer below.
    Heap,
}

/// About `count` boxes at rest on a floor slab (body 0), as after a physics simulation. Contacts, also with neighbours at the
/// side, have gaps of ±1e-4 … ±1e-3 of a box; a third are exactly 0. A quarter of the boxes are rotated as slightly as the gaps;
/// in a heap boxes have any rotation about the vertical. z is up. The pairs are all whose world boxes overlap or nearly do.
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
