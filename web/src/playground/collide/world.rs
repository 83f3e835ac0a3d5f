//! Bodies that move in a box on straight lines, turn, and bounce at its walls.

use std::ops::Range;

use glam::{Quat, Vec3};
use hullfield::collide::Body;

use crate::playground::collide::settings::Settings;
use crate::playground::collide::shapes::{KINDS, Shapes, hulls_of};
use crate::playground::draw::line::Line;
use crate::playground::draw::palette::Color;
use crate::playground::seed::Random;

/// The side of the cube that each body has to itself. About a third of the bodies then overlap another.
const ROOM: f32 = 1.8;

#[derive(Debug, Clone)]
pub(super) struct World {
    /// What every engine judges.
    pub(super) bodies: Vec<Body>,
    motions: Vec<Motion>,
    /// Half the side of the box.
    pub(super) half: f32,
}

#[derive(Debug, Clone, Copy)]
struct Motion {
    velocity: Vec3,
    /// Radians a second about the world's axes.
    spin: Vec3,
    /// The radius about the hull's origin, scale included.
    reach: f32,
}

impl World {
    /// The bodies of these settings at the beginning.
    pub(super) fn new(settings: &Settings, shapes: &Shapes) -> Self {
        let mut random = Random::new(settings.seed.into());
        let hulls: Vec<Range<u32>> =
            (0..KINDS.len()).filter(|&kind| settings.has(kind)).map(hulls_of).collect();
        let half = (0.5 * ROOM * (settings.count as f32).cbrt()).max(1.5);
        let mut world = Self { bodies: Vec::new(), motions: Vec::new(), half };
        if hulls.is_empty() {
            return world;
        }
        for row in 0..settings.count {
            let of_kind = hulls[row as usize % hulls.len()].clone();
            let hull = of_kind.start + random.below(of_kind.len()) as u32;
            let scale = 0.7 + 0.6 * random.unit_f32();
            let reach = scale * shapes.reach[hull as usize];
            let position = [0.0; 3].map(|_| (half - reach) * random.signed_f32());
            let rotation = random.rotation().to_array();
            world.bodies.push(Body::new(hull).at(position).rotated(rotation).scaled(scale));
            let velocity = (0.2 + 0.8 * random.unit_f32()) * random.direction();
            let spin = 1.5 * random.unit_f32() * random.direction();
            world.motions.push(Motion { velocity, spin, reach });
        }
        world
    }

    /// Moves all bodies but `held` by this many seconds.
    pub(super) fn step(&mut self, seconds: f32, held: Option<usize>) {
        for (row, (body, motion)) in self.bodies.iter_mut().zip(&mut self.motions).enumerate() {
            if Some(row) == held {
                continue;
            }
            let limit = self.half - motion.reach;
            for axis in 0..3 {
                let at = body.position[axis] + seconds * motion.velocity[axis];
                let over = at.abs() - limit;
                // A body that a hand left near a wall may be over it and move away.
                if over > 0.0 && at * motion.velocity[axis] > 0.0 {
                    motion.velocity[axis] = -motion.velocity[axis];
                    body.position[axis] = at.signum() * (limit - over.min(limit));
                } else {
                    body.position[axis] = at;
                }
            }
            // To first order in the angle, and then a unit quaternion again.
            let turn = Quat::from_array(body.rotation);
            let half = 0.5 * seconds * motion.spin;
            let step = Quat::from_xyzw(half.x, half.y, half.z, 0.0) * turn;
            body.rotation = (turn + step).normalize().to_array();
        }
    }

    /// Moves one body to a place, within the box.
    pub(super) fn place(&mut self, row: usize, position: Vec3) {
        let (Some(body), Some(motion)) = (self.bodies.get_mut(row), self.motions.get(row)) else { return };
        let limit = self.half - motion.reach;
        if position.is_finite() {
            body.position = position.clamp(Vec3::splat(-limit), Vec3::splat(limit)).to_array();
        }
    }

    /// The corners of the box: bit by bit, whether each is on the upper side of an axis.
    pub(super) fn corners(&self) -> impl Iterator<Item = [f32; 3]> + Clone + use<> {
        let half = self.half;
        (0..8).map(move |index: u32| [0, 1, 2].map(|axis| if index >> axis & 1 == 0 { -half } else { half }))
    }

    /// The edges of the box.
    pub(super) fn edges(&self, color: Color) -> Vec<Line> {
        let corners: Vec<[f32; 3]> = self.corners().collect();
        let corner = |index: u32| corners[index as usize];
        let from = |index: u32| {
            (0..3).filter(move |axis| index >> axis & 1 == 0).map(move |axis| [index, index | 1 << axis])
        };
        let line = |[a, b]: [u32; 2]| Line { from: corner(a), width: 1.5, to: corner(b), color };
        (0..8).flat_map(from).map(line).collect()
    }

    /// The bodies whose bounding spheres meet that of one of them, which is among them; ascending.
    pub(super) fn near(&self, row: usize) -> Vec<u32> {
        let (Some(body), Some(motion)) = (self.bodies.get(row), self.motions.get(row)) else {
            return Vec::new();
        };
        let at = Vec3::from(body.position);
        (0..)
            .zip(self.bodies.iter().zip(&self.motions))
            .filter(|(_, (other, of_other))| {
                // A little more, for rounding.
                let reach = 1.001 * (motion.reach + of_other.reach);
                at.distance_squared(Vec3::from(other.position)) <= reach * reach
            })
            .map(|(other, _)| other)
            .collect()
    }

    /// All bodies but `left_out`, those of one hull together, and the part of each hull.
    pub(super) fn order(&self, hull_count: usize, left_out: Option<usize>) -> (Vec<u32>, Vec<Range<u32>>) {
        let mut order = Vec::with_capacity(self.bodies.len());
        let ranges = (0..hull_count as u32)
            .map(|hull| {
                let begin = order.len() as u32;
                let of_hull = (0..)
                    .zip(&self.bodies)
                    .filter(|(row, body)| body.hull == hull && Some(*row as usize) != left_out);
                order.extend(of_hull.map(|(row, _): (u32, _)| row));
                begin..order.len() as u32
            })
            .collect();
        (order, ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(settings: &Settings) -> World {
        World::new(settings, &Shapes::new().unwrap())
    }

    #[test]
    fn the_same_seed_gives_the_same_bodies_and_another_one_others() {
        let settings = Settings { count: 200, ..Settings::default() };
        let mut worlds = [world(&settings), world(&settings), world(&Settings { seed: 2, ..settings })];
        for world in &mut worlds {
            for _ in 0..20 {
                world.step(0.03, None);
            }
        }
        assert_eq!(worlds[0].bodies, worlds[1].bodies);
        assert_ne!(worlds[0].bodies, worlds[2].bodies);
    }

    #[test]
    fn bodies_stay_in_the_box_and_turn() {
        let mut world = world(&Settings { count: 100, ..Settings::default() });
        let before = world.clone();
        for _ in 0..2000 {
            world.step(0.1, Some(3));
        }
        for (row, (body, motion)) in world.bodies.iter().zip(&world.motions).enumerate() {
            assert!(body.position.iter().all(|x| x.abs() <= world.half - motion.reach));
            assert!((Quat::from_array(body.rotation).length() - 1.0).abs() < 1e-6);
            assert_eq!(*body == before.bodies[row], row == 3, "{row}");
        }
    }

    #[test]
    fn only_the_chosen_kinds_are_there() {
        let world = world(&Settings { count: 50, kinds: 0b10010, ..Settings::default() });
        assert!(world.bodies.iter().all(|body| body.hull == 1 || body.hull >= 4));
        assert!(
            world.bodies.iter().any(|body| body.hull == 1) && world.bodies.iter().any(|body| body.hull > 4)
        );
    }

    #[test]
    fn the_order_has_each_body_once_by_its_hull() {
        let world = world(&Settings { count: 300, ..Settings::default() });
        let (order, ranges) = world.order(12, Some(7));
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..300).filter(|&row| row != 7).collect::<Vec<u32>>());
        for (hull, range) in (0..).zip(ranges) {
            let rows = &order[range.start as usize..range.end as usize];
            assert!(rows.iter().all(|&row| world.bodies[row as usize].hull == hull));
        }
    }

    #[test]
    fn a_body_can_be_placed_in_the_box_only() {
        let mut world = world(&Settings { count: 10, ..Settings::default() });
        world.place(2, Vec3::new(0.1, 0.2, 0.3));
        assert_eq!(world.bodies[2].position, [0.1, 0.2, 0.3]);
        world.place(2, Vec3::splat(1e9));
        assert!(world.bodies[2].position[0] < world.half);
        let before = world.bodies[2];
        world.place(2, Vec3::NAN);
        world.place(99, Vec3::ZERO);
        assert_eq!(world.bodies[2], before);
    }
}
