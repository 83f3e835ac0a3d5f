//! The scene of the demo: tumbling bodies swirl around a ring and push each other away where they touch.

use std::collections::HashMap;
use std::f32::consts::TAU;

use glam::{Quat, Vec2, Vec3};
use hullfield::collide::{Body, Hull};

use crate::failure::Result;
use crate::random::Random;

/// Radius of the ring over the radius of its tube.
const SLENDERNESS: f32 = 2.9;
/// Volume of the ring per body, in cubic world units: sets the density.
const VOLUME_PER_BODY: f32 = 0.28;
/// Seconds per frame.
const FRAME_SECONDS: f32 = 1.0 / 60.0;

/// A hull of the demo.
#[derive(Debug)]
pub(crate) struct Shape {
    /// Its name.
    pub(crate) name: &'static str,
    /// The hull, centred at the origin, of about unit size.
    pub(crate) hull: Hull,
    /// How often it is chosen, relative to the other hulls.
    weight: usize,
}

/// The hulls of the demo.
pub(crate) fn shapes() -> Result<Vec<Shape>> {
    let mut random = Random::new(1);
    let golden = 0.5 * (1.0 + 5.0f32.sqrt());
    let mut shapes = Vec::new();
    let mut add = |name, weight, points: &[Vec3]| -> Result<()> {
        let points: Vec<[f32; 3]> = points.iter().map(Vec3::to_array).collect();
        shapes.push(Shape { name, hull: Hull::from_points(&points)?, weight });
        Ok(())
    };
    let signs = |x: f32, y: f32, z: f32| -> Vec<Vec3> {
        (0..8).map(|i| Vec3::new(x, y, z) * Vec3::new(sign(i & 1), sign(i & 2), sign(i & 4))).collect()
    };
    // The points with all signs and cyclic orders of three coordinates.
    let cyclic = |x: f32, y: f32, z: f32| [signs(x, y, z), signs(z, x, y), signs(y, z, x)].concat();
    let tetrahedron =
        [Vec3::ONE, Vec3::new(1.0, -1.0, -1.0), Vec3::new(-1.0, 1.0, -1.0), Vec3::new(-1.0, -1.0, 1.0)];
    let icosahedron = cyclic(0.0, 1.0 / golden, 1.0).iter().map(|p| p * 0.85).collect::<Vec<_>>();
    let dodecahedron = [signs(0.6, 0.6, 0.6), cyclic(0.0, 0.6 / golden, 0.6 * golden)].concat();
    add("cuboid", 3, &signs(0.5, 0.65, 0.8))?;
    add("tetrahedron", 2, &tetrahedron.map(|p| p * 0.62))?;
    add("octahedron", 2, &cyclic(0.0, 0.0, 1.0))?;
    add("dodecahedron", 2, &dodecahedron)?;
    add("icosahedron", 2, &icosahedron)?;
    add("triangular prism", 2, &prism(3, 0.55, 0.8))?;
    add("hexagonal prism", 2, &prism(6, 0.6, 0.55))?;
    add("cone", 2, &[prism(24, 0.6, 0.6)[..24].to_vec(), vec![Vec3::new(0.0, 0.0, 1.0)]].concat())?;
    add("cylinder", 2, &prism(24, 0.4, 0.8))?;
    add("capsule", 3, &capsule(0.32, 0.65))?;
    add("beam", 7, &signs(0.10, 0.10, 1.7))?;
    add("plate", 6, &signs(1.0, 0.75, 0.05))?;
    add("needle", 7, &[signs(0.0, 0.0, 2.4), prism(6, 0.09, 0.0)].concat())?;
    add("rock of 16", 2, &rock(&mut random, 16))?;
    add("rock of 32", 2, &rock(&mut random, 32))?;
    add("rock of 64", 2, &rock(&mut random, 64))?;
    add("rock of 128", 1, &rock(&mut random, 128))?;
    add("ball of 300", 1, &ball(300))?;
    Ok(shapes)
}

fn sign(bit: i32) -> f32 {
    if bit == 0 { 1.0 } else { -1.0 }
}

/// The vertices of a regular prism along z.
fn prism(side_count: usize, radius: f32, half: f32) -> Vec<Vec3> {
    let ring = |z: f32| {
        (0..side_count)
            .map(move |i| (Vec2::from_angle(TAU * i as f32 / side_count as f32) * radius).extend(z))
    };
    ring(-half).chain(ring(half)).collect()
}

fn capsule(radius: f32, half: f32) -> Vec<Vec3> {
    let mut points = vec![Vec3::Z * (half + radius), Vec3::NEG_Z * (half + radius)];
    for ring in 0..3 {
        let (sin, cos) = (TAU * ring as f32 / 12.0).sin_cos();
        points.extend(prism(16, radius * cos, half + radius * sin));
    }
    points
}

/// Points spread evenly over the unit sphere (Fibonacci's spiral).
fn ball(point_count: usize) -> Vec<Vec3> {
    let point = |i: usize| {
        let z = 1.0 - (2 * i + 1) as f32 / point_count as f32;
        (Vec2::from_angle(TAU * 0.618_034 * i as f32) * (1.0 - z * z).max(0.0).sqrt()).extend(z) * 0.8
    };
    (0..point_count).map(point).collect()
}

/// Random points on an ellipsoid: each is a vertex of the hull.
fn rock(random: &mut Random, point_count: usize) -> Vec<Vec3> {
    let axes = Vec3::new(random.between(0.7, 0.95), random.between(0.55, 0.8), random.between(0.5, 0.7));
    (0..point_count).map(|_| random.direction() * axes).collect()
}

/// All bodies and their motions.
#[derive(Debug)]
pub(crate) struct Scene {
    /// Radius of the ring's middle line.
    pub(crate) ring: f32,
    /// Radius of its tube.
    pub(crate) tube: f32,
    bodies: Vec<Body>,
    motions: Vec<Motion>,
}

#[derive(Debug, Clone, Copy)]
struct Motion {
    velocity: Vec3,
    /// Radians per second about the world's axes.
    spin: Vec3,
}

impl Scene {
    /// Spreads the bodies over the ring.
    pub(crate) fn new(shapes: &[Shape], body_count: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let volume = VOLUME_PER_BODY * body_count.max(1) as f32;
        let tube = (volume / (0.5 * TAU * TAU * SLENDERNESS)).cbrt();
        let ring = SLENDERNESS * tube;
        let chosen: Vec<u32> = shapes
            .iter()
            .zip(0u32..)
            .flat_map(|(shape, index)| std::iter::repeat_n(index, shape.weight))
            .collect();
        let mut places: Vec<Vec3> = (0..body_count)
            .map(|_| {
                let across = Vec2::from_angle(random.between(0.0, TAU)) * (tube * random.unit().sqrt());
                let (sin, cos) = random.between(0.0, TAU).sin_cos();
                Vec3::new((ring + across.x) * cos, across.y, (ring + across.x) * sin)
            })
            .collect();
        for _ in 0..32 {
            push_apart(&mut places, ring, tube);
        }
        let mut bodies = Vec::with_capacity(body_count);
        let mut motions = Vec::with_capacity(body_count);
        for place in places {
            let hull = chosen.get(random.below(chosen.len())).copied().unwrap_or(0);
            let size = random.between(0.75, 1.0) * random.between(0.4, 0.75);
            let stretch =
                Vec3::new(random.between(0.7, 1.0), random.between(0.7, 1.0), random.between(1.0, 1.5));
            let mut body = Body::new(hull).at(place.to_array()).rotated(random.rotation().to_array());
            body.scale = (stretch * size).to_array();
            bodies.push(body);
            let spin = random.direction() * random.between(0.5, 4.0);
            motions.push(Motion { velocity: swirl(place, ring, tube), spin });
        }
        Self { ring, tube, bodies, motions }
    }

    /// The bodies in their present poses.
    pub(crate) fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Advances by a frame: bodies that touch push each other away, and all follow the swirl.
    pub(crate) fn advance(&mut self, touching: &[[u32; 2]]) {
        for &[a, b] in touching {
            let (a, b) = (a as usize, b as usize);
            let apart = Vec3::from_array(self.bodies[b].position) - Vec3::from_array(self.bodies[a].position);
            let push = apart.normalize_or(Vec3::Y);
            // Move them apart at once, and change their velocities.
            self.bodies[a].position = (Vec3::from_array(self.bodies[a].position) - push * 0.08).to_array();
            self.bodies[b].position = (Vec3::from_array(self.bodies[b].position) + push * 0.08).to_array();
            let push = push * 0.5;
            let twist = apart.cross(self.motions[b].velocity - self.motions[a].velocity) * 0.25;
            self.motions[a].velocity -= push;
            self.motions[b].velocity += push;
            self.motions[a].spin += twist;
            self.motions[b].spin += twist;
        }
        for (body, motion) in self.bodies.iter_mut().zip(&mut self.motions) {
            let place = Vec3::from_array(body.position);
            let target = swirl(place, self.ring, self.tube);
            motion.velocity += (target - motion.velocity) * (3.0 * FRAME_SECONDS);
            motion.spin *= 1.0 - 0.5 * FRAME_SECONDS;
            let turned =
                Quat::from_scaled_axis(motion.spin * FRAME_SECONDS) * Quat::from_array(body.rotation);
            body.position = (place + motion.velocity * FRAME_SECONDS).to_array();
            body.rotation = turned.normalize().to_array();
        }
    }
}

/// The velocity of the swirl at a point: around the ring, around the tube, and back into the tube from outside.
fn swirl(place: Vec3, ring: f32, tube: f32) -> Vec3 {
    let outward = place.with_y(0.0).normalize_or(Vec3::X);
    let across = place - outward * ring;
    let distance = across.length();
    let along = outward.cross(Vec3::Y);
    let around = along.cross(across) / tube;
    let inward = across.normalize_or_zero() * -(distance - tube).max(0.0) * 6.0;
    along * (3.2 - 1.2 * (distance / tube).min(1.5)) + around * 1.6 + inward
}

/// Pushes points apart that are nearer than the density asks for, and keeps them in the tube: one round, over a hash grid.
fn push_apart(places: &mut [Vec3], ring: f32, tube: f32) {
    let reach = 1.12 * VOLUME_PER_BODY.cbrt();
    let cell = |place: Vec3| (place / reach).floor().as_ivec3();
    let mut cells: HashMap<glam::IVec3, Vec<u32>> = HashMap::with_capacity(places.len());
    for (place, index) in places.iter().zip(0u32..) {
        cells.entry(cell(*place)).or_default().push(index);
    }
    let moved: Vec<Vec3> = places
        .iter()
        .enumerate()
        .map(|(index, &place)| {
            let home = cell(place);
            let mut push = Vec3::ZERO;
            for offset in 0..27 {
                let near = home + glam::IVec3::new(offset % 3 - 1, offset / 3 % 3 - 1, offset / 9 - 1);
                for &other in cells.get(&near).into_iter().flatten().filter(|&&other| other as usize != index)
                {
                    let apart = place - places[other as usize];
                    let distance = apart.length();
                    if distance < reach {
                        push += apart.normalize_or(Vec3::Y) * (0.5 * (reach - distance));
                    }
                }
            }
            let place = place + push.clamp_length_max(0.5 * reach) * 0.6;
            let outward = place.with_y(0.0).normalize_or(Vec3::X) * ring;
            outward + (place - outward).clamp_length_max(tube)
        })
        .collect();
    places.copy_from_slice(&moved);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scene_has_many_kinds_and_large_hulls() {
        let shapes = shapes().unwrap();
        assert!(shapes.len() >= 12);
        assert!(shapes.iter().any(|shape| shape.hull.vertices().len() > 128));
    }

    #[test]
    fn bodies_stay_valid_and_inside_while_they_move() {
        let shapes = shapes().unwrap();
        let mut scene = Scene::new(&shapes, 500, 7);
        for frame in 0..120 {
            scene.advance(&[[frame, frame + 1]]);
        }
        let hulls: Vec<Hull> = shapes.iter().map(|shape| shape.hull.clone()).collect();
        let arena = hullfield::collide::Arena::new(
            &hullfield::Engine::cpu(),
            &hulls,
            hullfield::collide::Options::default(),
        )
        .unwrap();
        arena.candidates(scene.bodies()).unwrap().wait().unwrap();
        for (row, body) in scene.bodies().iter().enumerate() {
            let place = Vec3::from_array(body.position);
            let across = place - place.with_y(0.0).normalize() * scene.ring;
            assert!(across.length() < 1.5 * scene.tube, "body {row} is at {place}");
        }
    }

    #[test]
    fn a_seed_gives_one_scene() {
        let shapes = shapes().unwrap();
        let scene = |seed| Scene::new(&shapes, 50, seed).bodies().to_vec();
        assert_eq!(scene(3), scene(3));
        assert_ne!(scene(3), scene(4));
    }
}
