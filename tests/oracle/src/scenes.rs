//! Seeded scenes for tests and benches.
//!
//! A scene's truth is its f32 poses as stored: a generator places bodies for a wanted gap in f64, rounds, and leaves
//! it to [`Scene::truths`] (or [`crate::truths`]) to measure what the gap became.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};
use rayon::prelude::*;

use crate::gap::{Body64, gap64, separation};
use crate::random::Random;
use crate::{Placed, Pose, Shape, Truth, truths};

/// Hulls, bodies and the pairs to ask about.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// Point sets to make hulls of, each in its own frame.
    pub hulls: Vec<Vec<[f32; 3]>>,
    /// The bodies.
    pub bodies: Vec<Placed>,
    /// Pairs of bodies to ask about, by index, a < b.
    pub pairs: Vec<[u32; 2]>,
}

impl Scene {
    /// The shapes of the scene's hulls, reduced to the hulls' vertices.
    pub fn shapes(&self) -> Vec<Shape> {
        self.hulls.par_iter().map(|points| Shape::of_cloud(points)).collect()
    }

    /// The truth of the scene's pairs. Tests of a library that makes its own choice of hull vertices make the shapes
    /// of those and call [`crate::truths`].
    pub fn truths(&self) -> Vec<Truth> {
        truths(&self.shapes(), &self.bodies, &self.pairs)
    }
}

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

/// A convex point set of a kind, within a ball of radius about 1 around the origin. `point_count` (≥ 4) is obeyed
/// where the kind leaves it open, to the next smaller even number where there are two rings.
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

/// `count` convex point sets, the kinds in turn, each with 4 to 40 points asked for, scaled to about `size`.
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

/// A half-placed pair: what is known before positions are.
struct Couple<'a> {
    shapes: [&'a Shape; 2],
    rotations: [[f32; 4]; 2],
    scales: [[f32; 3]; 2],
}

impl Couple<'_> {
    fn pose(&self, k: usize) -> Pose {
        Pose { position: [0.0; 3], rotation: self.rotations[k], scale: self.scales[k] }
    }

    fn body(&self, k: usize, offset: DVec3) -> Body64 {
        let pose = self.pose(k);
        Body64::new(self.shapes[k], pose.rotation64(), pose.scale64(), offset)
    }

    fn radius(&self, k: usize) -> f64 {
        self.shapes[k].radius(self.scales[k])
    }

    /// From the first's position to the second's, so that the means of the two stand `apart` (a vector) apart.
    fn between_means(&self, apart: DVec3) -> DVec3 {
        let mean = |k: usize| {
            let pose = self.pose(k);
            pose.rotation64() * (pose.scale64() * DVec3::from(self.shapes[k].mean()))
        };
        apart + mean(0) - mean(1)
    }

    /// From the first's position to the second's, so that the signed gap is about `wanted`, the second seen in about
    /// `direction` from the first. Moving along the axis of a gap changes it by as much until another axis shows
    /// more, so a few rounds of measuring and moving come to it.
    fn at_gap(&self, direction: DVec3, wanted: f64) -> DVec3 {
        let a = self.body(0, DVec3::ZERO);
        let reach = self.radius(0) + self.radius(1);
        let mut offset = self.between_means(direction * reach);
        for _ in 0..4 {
            let found = gap64(&a, &self.body(1, offset));
            if (found.gap - wanted).abs() <= 1e-9 * reach.min(wanted.abs()) {
                break;
            }
            offset += DVec3::from(found.axis) * (wanted - found.gap);
        }
        offset
    }

    /// Puts the pair into a scene as bodies of hulls `hulls`, the first at `position`.
    fn place(&self, scene: &mut Scene, hulls: [u32; 2], position: [f32; 3], offset: DVec3) {
        let first = scene.bodies.len() as u32;
        let second = (DVec3::from(position.map(f64::from)) + offset).as_vec3().to_array();
        for (k, position) in [position, second].into_iter().enumerate() {
            scene.bodies.push(Placed { hull: hulls[k], pose: Pose { position, ..self.pose(k) } });
        }
        scene.pairs.push([first, first + 1]);
    }
}

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
    /// Where the sequence starts.
    pub seed: u64,
}

impl Default for Near {
    /// 1,000 pairs, half of them placed, not stretched, about the origin.
    fn default() -> Self {
        Self { count: 1000, placed: 0.5, stretch: 1.0, centre: [0.0; 3], seed: 1 }
    }
}

/// Pairs of random hulls near each other, randomly turned. A quarter of the first bodies stand exactly at the centre.
///
/// # Panics
/// If there are no hulls.
pub fn near_pairs(hulls: &[Vec<[f32; 3]>], near: Near) -> Scene {
    let shapes: Vec<Shape> = hulls.par_iter().map(|points| Shape::of_cloud(points)).collect();
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
            let couple = Couple { shapes: picked.map(|i| &shapes[i]), rotations, scales };
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
    let mut scene = Scene { hulls: hulls.to_vec(), ..Scene::default() };
    for block in blocks {
        join(&mut scene, &block);
    }
    scene
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
            let couple = Couple { shapes: picked.map(|i| &shapes[i]), rotations, scales: [[1.0; 3]; 2] };
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

/// Appends the bodies and pairs of `block`, which use the same hulls.
fn join(scene: &mut Scene, block: &Scene) {
    let base = scene.bodies.len() as u32;
    scene.bodies.extend(&block.bodies);
    scene.pairs.extend(block.pairs.iter().map(|p| p.map(|i| i + base)));
}

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

/// Every hull with its own copy in the very same place, and moved by 1e-3 and 1e-7 of its size; turned at random.
pub fn coincident(hulls: &[Vec<[f32; 3]>], seed: u64) -> Scene {
    let mut random = Random::new(seed);
    let mut scene = Scene { hulls: hulls.to_vec(), ..Scene::default() };
    for (k, points) in hulls.iter().enumerate() {
        let shape = Shape::of_cloud(points);
        for step in [0.0, 1e-3, 1e-7] {
            let rotation = random.rotation();
            let couple = Couple { shapes: [&shape; 2], rotations: [rotation; 2], scales: [[1.0; 3]; 2] };
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
        let couple = Couple { shapes: [&shapes[0], &shapes[1]], rotations, scales: [[1.0; 3]; 2] };
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
        let pose = Pose { position: centre.as_vec3().to_array(), rotation, scale: [1.0; 3] };
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

/// Tumbling bodies in a cube, for crowds and frames.
#[derive(Debug, Clone)]
pub struct Tumbling {
    /// The bodies as they start, in a cube from the origin to [`size`](Self::size); no pairs.
    pub scene: Scene,
    /// Velocity of each body, in world units a second.
    pub velocities: Vec<[f32; 3]>,
    /// Angular velocity of each body, radians a second about the world's axes.
    pub spins: Vec<[f32; 3]>,
    /// Edge of the cube, in world units.
    pub size: f64,
}

impl Tumbling {
    /// The bodies after `seconds`: moved along, turned, and mirrored back at the walls.
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
                scale: body.pose.scale,
            };
            Placed { hull: body.hull, pose }
        };
        self.scene.bodies.par_iter().enumerate().map(moved).collect()
    }
}

/// `count` bodies of `hulls` in turn, randomly placed and turned in a cube whose size makes the expected number of
/// other bodies whose axis-aligned world box overlaps a body's own equal to `neighbours` (so that about
/// `count · neighbours / 2` pairs overlap: 10,000 bodies with 20 neighbours, 100,000 pairs).
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
    let mut scene = Scene { hulls: hulls.to_vec(), bodies, pairs: Vec::new() };
    // Two intervals of widths v and w, both with centres uniform in [0, L], overlap with probability
    // 1 − (1 − h/L)², h = (v + w)/2.
    let widths: Vec<DVec3> = boxes(&scene).iter().map(|[low, high]| *high - *low).collect();
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
fn boxes(scene: &Scene) -> Vec<[DVec3; 2]> {
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
            [low + position, high + position]
        })
        .collect()
}

/// The pairs whose axis-aligned world boxes, each grown by `margin` on every side, overlap or meet; sorted by (a, b),
/// a < b. In f64 from every point, by sweeping along x: the independent measure of a broad phase's completeness
/// (margin 0: pairs that it must report).
pub fn overlapping_boxes(scene: &Scene, margin: f64) -> Vec<[u32; 2]> {
    let boxes = boxes(scene);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus;

    /// How many gaps, relative to the smaller radius, lie in each decade from 1e-7 to 1, by sign.
    fn decades(truths: &[Truth]) -> [[usize; 7]; 2] {
        let mut counts = [[0; 7]; 2];
        for t in truths {
            let decade = (t.gap.abs() / t.radius).log10().floor();
            if (-7.0..0.0).contains(&decade) {
                counts[usize::from(t.gap > 0.0)][(decade + 7.0) as usize] += 1;
            }
        }
        counts
    }

    #[test]
    fn corpus_pairs_cover_every_decade_of_both_signs() {
        let corpus = corpus::hulls().expect("the corpus is readable");
        let scene = near_pairs(&corpus.sets, Near { count: 3000, ..Near::default() });
        let truths = scene.truths();
        assert_eq!((scene.bodies.len(), truths.len()), (6000, 3000));
        let counts = decades(&truths);
        assert!(counts.iter().flatten().skip(1).filter(|&&n| n < 20).count() <= 2, "{counts:?}");
        let in_band = truths.iter().filter(|t| t.gap.abs() <= t.tau).count();
        assert!(in_band * 4 < truths.len(), "{in_band}");
    }

    #[test]
    fn kissing_boxes_stand_at_their_gaps() {
        let scene = kissing_boxes(660, 9);
        for (k, t) in scene.truths().iter().enumerate() {
            let wanted = KISSING_GAPS[(k / 6) % KISSING_GAPS.len()] * t.radius;
            assert!((t.gap - wanted).abs() < 1e-6, "pair {k}: {} wanted {wanted}", t.gap);
        }
    }

    #[test]
    fn tiny_far_and_debris_have_both_signs() {
        for (name, scene) in [
            ("0.01", tiny(0.01, 300, 1)),
            ("0.001", tiny(0.001, 300, 2)),
            ("1e-5", tiny(1e-5, 300, 3)),
            ("far", far(300, 4)),
            ("debris", debris(300, false, 5)),
            ("tilted debris", debris(300, true, 6)),
        ] {
            let truths = scene.truths();
            for sign in [-1.0, 1.0] {
                let count = truths.iter().filter(|t| t.gap * sign > t.tau).count();
                assert!(count > 60, "{name}: {count} of sign {sign}");
            }
            if name.ends_with("debris") {
                assert!(truths.iter().any(|t| t.radius_sum > 700.0 * t.radius));
                assert!(truths.iter().filter(|t| t.gap.abs() < t.tau).count() > 10, "{name}");
            }
        }
    }

    #[test]
    fn coincident_and_nested_bodies_overlap() {
        let scene = coincident(&convex_sets(24, 1.0, 3), 8);
        assert_eq!(scene.pairs.len(), 72);
        for (k, t) in scene.truths().iter().enumerate() {
            // A plate moved by more than it is thick comes apart, by no more than that.
            assert!(t.gap <= [-1e-7, 1.001e-3, 1.001e-7][k % 3] * t.radius, "pair {k}: {t:?}");
        }
        let truths = box_in_box(300, 8).truths();
        assert!(truths.iter().any(|t| (t.gap + 2.5).abs() < 1e-6));
        assert!(truths.iter().any(|t| t.gap.abs() < 1e-6));
    }

    #[test]
    fn stacked_cubes_touch_exactly() {
        let scene = stacked_cubes(4);
        // 3 · 48 faces, 6 · 36 edges, 4 · 27 corners.
        assert_eq!(scene.pairs.len(), 144 + 216 + 108);
        assert!(scene.truths().iter().all(|t| t.gap == 0.0));
    }

    #[test]
    fn piles_rest() {
        for kind in [Pile::Pyramid, Pile::Wall, Pile::Heap] {
            let scene = pile(kind, 200, 12);
            assert!((200..260).contains(&scene.bodies.len()), "{kind:?} {}", scene.bodies.len());
            let truths = scene.truths();
            let near = |low: f64, high: f64| truths.iter().filter(|t| (low..high).contains(&t.gap)).count();
            let (below, zero, above) = (near(-5e-3, -1e-5), near(-1e-6, 1e-6), near(1e-5, 5e-3));
            assert!(below > 20 && above > 20 && zero > 5, "{kind:?}: {below} {zero} {above}");
        }
    }

    #[test]
    fn the_wanted_share_overlaps() {
        for point_count in [8, 32, 64] {
            let truths = overlapping_share(point_count, 300, 0.3, 2).truths();
            let hits = truths.iter().filter(|t| t.gap < 0.0).count();
            assert!((60..120).contains(&hits), "{point_count}: {hits}");
        }
    }

    #[test]
    fn tumbling_bodies_have_the_neighbours_wanted() {
        let hulls = convex_sets(12, 1.0, 4);
        let tumbling = tumbling(&hulls, 3000, 20.0, 6);
        for seconds in [0.0, 1.5] {
            let scene = Scene { bodies: tumbling.at(seconds), ..tumbling.scene.clone() };
            let pairs = overlapping_boxes(&scene, 0.0).len();
            assert!((27_000..33_000).contains(&pairs), "{pairs} after {seconds} s");
        }
    }

    #[test]
    fn swept_boxes_equal_all_pairs() {
        let hulls = convex_sets(12, 1.0, 4);
        let scene = tumbling(&hulls, 150, 10.0, 7).scene;
        let all = boxes(&scene);
        let mut expected = Vec::new();
        for i in 0..all.len() {
            for j in i + 1..all.len() {
                let ([a, b], [c, d]) = (all[i], all[j]);
                if a.cmple(d).all() && c.cmple(b).all() {
                    expected.push([i as u32, j as u32]);
                }
            }
        }
        assert_eq!(overlapping_boxes(&scene, 0.0), expected);
    }

    #[test]
    fn scenes_follow_from_their_seed() {
        let draw = |seed| tiny(1.0, 20, seed).bodies;
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
