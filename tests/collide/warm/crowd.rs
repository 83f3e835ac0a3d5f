//! Bodies that move from frame to frame.

use glam::{DQuat, DVec3};
use hullfield::collide::{Body, Hull};
use hullfield_oracle::random::Random;
use hullfield_oracle::{Placed, scenes};

/// The shapes of a crowd.
pub(crate) fn hulls() -> Vec<Hull> {
    scenes::convex_sets(12, 1.0, 71).iter().map(|points| Hull::from_points(points).unwrap()).collect()
}

/// A crowd that drifts and spins, each body its own way.
pub(crate) struct Crowd {
    pub(crate) bodies: Vec<Body>,
    pub(crate) velocities: Vec<DVec3>,
    spins: Vec<DVec3>,
    pub(crate) size: f64,
}

impl Crowd {
    pub(crate) fn new(count: usize, neighbours: f64, seed: u64) -> Self {
        let made = scenes::tumbling(&scenes::convex_sets(12, 1.0, 71), count, neighbours, seed);
        let body = |p: &Placed| Body::new(p.hull).at(p.pose.position).rotated(p.pose.rotation);
        Self {
            bodies: made.scene.bodies.iter().map(body).collect(),
            velocities: made.velocities.iter().map(|v| DVec3::from(v.map(f64::from))).collect(),
            spins: made.spins.iter().map(|v| DVec3::from(v.map(f64::from))).collect(),
            size: made.size,
        }
    }

    pub(crate) fn go_on(&mut self, seconds: f64) {
        for ((body, velocity), spin) in self.bodies.iter_mut().zip(&mut self.velocities).zip(&self.spins) {
            let position = DVec3::from(body.position.map(f64::from)) + *velocity * seconds;
            for i in 0..3 {
                if position[i] < 0.0 || position[i] > self.size {
                    velocity[i] = position[i].signum() * -velocity[i].abs();
                }
            }
            let rotation = DQuat::from_array(body.rotation.map(f64::from));
            let turned = DQuat::from_scaled_axis(*spin * seconds) * rotation;
            body.position = position.as_vec3().to_array();
            body.rotation = turned.normalize().as_quat().to_array();
        }
    }
}

/// Makes one kind of change to the bodies between two frames. Returns its name.
pub(crate) fn mischief_with(random: &mut Random, crowd: &mut Crowd) -> usize {
    let deed = random.below(12);
    let row = random.below(crowd.bodies.len());
    let other = random.below(crowd.bodies.len());
    let there = [0; 3].map(|_| random.between(0.0, crowd.size) as f32);
    match deed {
        0 => crowd.bodies[row].position = there,
        1 => crowd.bodies[row].scale = [random.log_between(0.3, 3.0) as f32; 3],
        2 => crowd.bodies[row].hull = random.below(12) as u32,
        3 => crowd.bodies.swap(row, other),
        4 => crowd.bodies[row].rotation = random.rotation(),
        5 => crowd.bodies[row].rotation = crowd.bodies[row].rotation.map(|x| -x),
        6 if crowd.bodies.len() > 600 => drop(crowd.bodies.pop()),
        7 => crowd.bodies.extend_from_within(row..=row),
        8 => crowd.bodies[row].rotation = crowd.bodies[row].rotation.map(|x| 1.0008 * x),
        9 => crowd.bodies[row].scale = [1.0, 0.5, 2.0],
        10 if random.chance(0.1) => crowd.bodies.rotate_left(1),
        11 if random.chance(0.1) => {
            let half = crowd.bodies.len() / 2;
            crowd.bodies.iter_mut().take(half).for_each(|body| body.position = there);
            crowd.bodies.truncate(610);
        }
        _ => (),
    }
    if crowd.bodies.len() <= crowd.velocities.len() && random.chance(0.8) {
        crowd.go_on(0.003);
    }
    // Avoids heaps at one place.
    if deed == 11 {
        for body in crowd.bodies.iter_mut() {
            if body.position == there {
                body.position = [0; 3].map(|_| random.between(0.0, crowd.size) as f32);
            }
        }
    }
    deed
}
