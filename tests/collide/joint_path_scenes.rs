//! Random robots among random obstacles, and their paths judged by the oracle: for the tests of joint paths.

use glam::{DQuat, DVec3};
use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, BodyColumns, Exclusions, Hull, JointPath, JointStep, LinkPose, Options, PathCheck,
    PathOutcome, joint_deviation,
};
use hullfield_oracle::joint_path::{Carried, LinkFrame, gap, tau};
use hullfield_oracle::random::Random;
use hullfield_oracle::scenes::{Kind, convex_set};
use hullfield_oracle::{Pose, Shape};

/// A joint, and where it is in the link before it.
pub(crate) struct Joint {
    pub(crate) offset: DVec3,
    pub(crate) rotation: DQuat,
    pub(crate) axis: DVec3,
    pub(crate) slides: bool,
}

/// A robot among obstacles.
pub(crate) struct Robot {
    pub(crate) hulls: Vec<Hull>,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) owners: Vec<u32>,
    pub(crate) exclusions: Exclusions,
    pub(crate) statics: Vec<Body>,
    /// One before each link.
    pub(crate) joints: Vec<Joint>,
    pub(crate) size: f64,
}

impl Robot {
    /// A chain of links of about `size` each, among so many obstacles a link.
    pub(crate) fn new(random: &mut Random, size: f64, obstacle_count: usize) -> Self {
        let mut hulls = vec![Hull::half_space()];
        let mut shapes = vec![Shape::half_space()];
        for kind in 0..6 {
            let points = match kind {
                0 => Hull::cuboid([0.5, 0.1, 0.12]).unwrap().vertices().to_vec(),
                1 => Hull::cuboid([0.5, 0.4, 1e-4]).unwrap().vertices().to_vec(),
                2 => vec![[-0.4, 0.0, 0.0], [0.4, 0.0, 0.0]],
                _ => {
                    convex_set(random, Kind::Ball, 8 + 4 * kind).iter().map(|v| v.map(|x| 0.35 * x)).collect()
                }
            };
            let rounding = [0.0, 0.0, 0.1, 0.05, 0.0, 0.0][kind];
            let hull = Hull::from_points(&points).unwrap();
            shapes.push(Shape::new(hull.vertices()).rounded(rounding));
            hulls.push(hull.rounded(rounding).unwrap());
        }
        let link_count = 2 + random.below(6);
        let joints: Vec<Joint> = (0..link_count)
            .map(|link| Joint {
                offset: if link == 0 {
                    DVec3::ZERO
                } else {
                    1.25 * size * DVec3::X + 0.2 * size * random.direction()
                },
                rotation: if link == 0 {
                    DQuat::IDENTITY
                } else {
                    DQuat::from_axis_angle(random.direction(), random.between(-0.8, 0.8))
                },
                axis: random.direction(),
                slides: random.chance(0.1),
            })
            .collect();
        let (mut bodies, mut owners) = (Vec::new(), Vec::new());
        for link in 0..link_count {
            for _ in 0..1 + random.below(2) {
                let along = (DVec3::X * 0.6 + 0.1 * random.direction()) * size;
                let body = Body::new(1 + random.below(hulls.len() - 1) as u32)
                    .at(along.as_vec3().to_array())
                    .scaled((size * random.between(0.4, 0.9)) as f32)
                    .padded(if random.chance(0.2) { (0.01 * size) as f32 } else { 0.0 });
                bodies.push(if random.chance(0.3) { body } else { body.rotated(random.rotation()) });
                owners.push(link as u32);
            }
        }
        let mut statics = Vec::new();
        let reach = 1.3 * size * link_count as f64;
        while statics.len() < obstacle_count * link_count {
            let hull = 1 + random.below(hulls.len() - 1) as u32;
            let at = random.direction() * reach * random.between(0.2, 0.9);
            let body = Body::new(hull).at(at.as_vec3().to_array()).rotated(random.rotation());
            statics.push(body.scaled((size * random.log_between(0.1, 1.5)) as f32));
        }
        if random.chance(0.5) {
            let floor = random.direction() * reach * random.between(0.6, 1.1);
            let up = DQuat::from_rotation_arc(DVec3::Y, -floor.normalize());
            let body = Body::new(0).at(floor.as_vec3().to_array());
            statics.push(body.rotated(up.as_quat().to_array()));
        }
        let mut pairs: Vec<[u32; 2]> = (1..link_count as u32).map(|link| [link - 1, link]).collect();
        pairs.push([0, link_count as u32]);
        let exclusions = Exclusions::new(&pairs).unwrap();
        Self { hulls, shapes, bodies, owners, exclusions, statics, joints, size }
    }

    pub(crate) fn columns(&self) -> BodyColumns<'_> {
        BodyColumns {
            owners: &self.owners,
            exclusions: Some(&self.exclusions),
            ..BodyColumns::new(&self.bodies)
        }
    }

    pub(crate) fn arena(&self, engine: &Engine) -> Arena {
        let options = Options { statics: self.statics.clone(), ..Default::default() };
        Arena::new(engine, &self.hulls, options).unwrap()
    }

    /// Joint values: radians, or lengths.
    pub(crate) fn configuration(&self, random: &mut Random, spread: f64) -> Vec<f64> {
        let value =
            |joint: &Joint| random_value(random, spread) * if joint.slides { 0.3 * self.size } else { 1.0 };
        self.joints.iter().map(value).collect()
    }

    /// Where the links are.
    pub(crate) fn links(&self, values: &[f64]) -> Vec<LinkFrame> {
        let mut at = LinkFrame::WORLD;
        let mut links = Vec::new();
        for (joint, &value) in self.joints.iter().zip(values) {
            let rotation = at.rotation * joint.rotation;
            let slid = if joint.slides { joint.rotation * joint.axis * value } else { DVec3::ZERO };
            at.position += at.rotation * (joint.offset + slid);
            at.rotation = if joint.slides {
                rotation
            } else {
                (rotation * DQuat::from_axis_angle(joint.axis, value)).normalize()
            };
            links.push(at);
        }
        links
    }

    /// Greatest distance of a point of a link's bodies from the link's origin.
    fn reach(&self, link: usize) -> f64 {
        let carried = self.bodies.iter().zip(&self.owners).filter(|(_, owner)| **owner as usize == link);
        let far = |body: &Body| {
            let carried = self.carried(body);
            carried.centre(&LinkFrame::WORLD).length() + carried.radius()
        };
        carried.map(|(body, _)| far(body)).fold(0.0, f64::max)
    }

    /// The bound of the deviation of each link in a step in which all joints change at constant rates.
    pub(crate) fn deviations(&self, from: &[f64], to: &[f64]) -> Vec<f64> {
        let bound = |link: usize| {
            let mut reach = self.reach(link);
            let mut joints = Vec::new();
            for at in (0..=link).rev() {
                let change = to[at] - from[at];
                let joint = &self.joints[at];
                joints.push(if joint.slides {
                    JointStep::Prismatic { length: change }
                } else {
                    JointStep::Revolute { angle: change, reach }
                });
                reach +=
                    joint.offset.length() + if joint.slides { from[at].abs().max(to[at].abs()) } else { 0.0 };
            }
            joints.reverse();
            joint_deviation(&joints, self.reach(link))
        };
        (0..self.joints.len()).map(bound).collect()
    }

    pub(crate) fn carried(&self, body: &Body) -> Carried<'_> {
        let Body { position, rotation, scale, padding, .. } = *body;
        let pose = Pose { position, rotation, scale, radius: padding };
        Carried { shape: &self.shapes[body.hull as usize], pose }
    }

    /// All pairs that may meet: rows of bodies, statics counting on.
    pub(crate) fn pairs(&self) -> Vec<[u32; 2]> {
        let count = self.bodies.len() as u32;
        let id = |row: u32| match self.owners.get(row as usize) {
            Some(&link) => link,
            None => self.joints.len() as u32 + row - count,
        };
        let all = count + self.statics.len() as u32;
        let mut pairs = Vec::new();
        for a in 0..count {
            for b in a + 1..all {
                if id(a) != id(b) && !self.exclusions.contains(id(a), id(b)) {
                    pairs.push([a, b]);
                }
            }
        }
        pairs
    }

    /// The gap of a pair where the links are.
    pub(crate) fn gap(&self, pair: [u32; 2], links: &[LinkFrame]) -> f64 {
        let [(a, at), (b, by)] = pair.map(|row| self.body(row, links));
        gap([&a, &b], [&at, &by])
    }

    fn tau(&self, pair: [u32; 2]) -> f64 {
        let links = vec![LinkFrame::WORLD; self.joints.len()];
        let [(a, _), (b, _)] = pair.map(|row| self.body(row, &links));
        tau([&a, &b])
    }

    fn body(&self, row: u32, links: &[LinkFrame]) -> (Carried<'_>, LinkFrame) {
        match self.bodies.get(row as usize) {
            Some(body) => (self.carried(body), links[self.owners[row as usize] as usize]),
            None => (self.carried(&self.statics[row as usize - self.bodies.len()]), LinkFrame::WORLD),
        }
    }

    /// Looks at a pair at every time from 0 to `end` in steps of `stride`, but for those at which a bound of the speed of all points shows
    /// that it is apart. An error is a gap of less than `least` tolerances.
    pub(crate) fn march(
        &self,
        pair: [u32; 2],
        end: f64,
        stride: f64,
        least: f64,
        speed: f64,
        links_at: &impl Fn(f64) -> Vec<LinkFrame>,
    ) -> Result<(), String> {
        let tau = self.tau(pair);
        let mut time = 0.0;
        loop {
            let links = links_at(time);
            let [(a, at), (b, by)] = pair.map(|row| self.body(row, &links));
            let ball = if b.shape.is_half_space() {
                f64::NEG_INFINITY
            } else {
                a.centre(&at).distance(b.centre(&by)) - a.radius() - b.radius()
            };
            let found = if ball > 0.05 * self.size { ball } else { gap([&a, &b], [&at, &by]) };
            if found < least * tau {
                return Err(format!("the pair {pair:?} has a gap of {found:e} at {time}, tolerance {tau:e}"));
            }
            if time >= end {
                return Ok(());
            }
            time = (time + (found / speed).max(stride)).min(end);
        }
    }

    /// An upper bound of how fast any two points approach each other, over steps of one time each.
    pub(crate) fn speed(&self, samples: &[Vec<LinkFrame>]) -> f64 {
        let far = (0..self.joints.len()).map(|link| self.reach(link)).fold(0.0, f64::max);
        let of_step = |pair: &[Vec<LinkFrame>]| {
            let links = pair[0].iter().zip(&pair[1]);
            let speed = |(a, b): (&LinkFrame, &LinkFrame)| {
                let dot = a.rotation.dot(b.rotation).abs().min(1.0);
                a.position.distance(b.position) + 2.0 * dot.acos() * far
            };
            links.map(speed).fold(0.0, f64::max)
        };
        1e-9 * self.size + 2.0 * samples.windows(2).map(of_step).fold(0.0, f64::max)
    }

    /// Judges the answer for a path along the motion between samples, looking at so many times.
    pub(crate) fn judge(
        &self,
        samples: &[Vec<LinkFrame>],
        row: &PathCheck,
        times: f64,
    ) -> Result<(), String> {
        let last = (samples.len() - 1) as f64;
        let links_at = |time: f64| {
            let step = (time as usize).min(samples.len() - 2);
            let between = |(a, b)| LinkFrame::between(a, b, time - step as f64);
            samples[step].iter().zip(&samples[step + 1]).map(between).collect::<Vec<_>>()
        };
        let speed = self.speed(samples);
        if let Some(time) = row.time {
            if !(row.outcome == PathOutcome::Hit && (0.0..=last).contains(&time) && row.free_until <= time) {
                return Err(format!("a hit at {time} of {last}"));
            }
            let pair = row.pair.unwrap();
            let (gap, tau) = (self.gap(pair, &links_at(time)), self.tau(pair));
            if gap > tau {
                return Err(format!("a hit with a gap of {gap:e}, tolerance {tau:e}"));
            }
        }
        if row.outcome == PathOutcome::Free && (row.free_until != last || row.pair.is_some()) {
            return Err(format!("{row:?} of {last}"));
        }
        if row.free_until == 0.0 {
            return Ok(());
        }
        // A hit comes within the tolerance a little earlier than it is found.
        let least = if row.outcome == PathOutcome::Free { 0.7 } else { 0.4 };
        self.pairs()
            .iter()
            .try_for_each(|&pair| self.march(pair, row.free_until, last / times, least, speed, &links_at))
    }
}

fn random_value(random: &mut Random, spread: f64) -> f64 {
    random.between(-spread, spread)
}

/// The library's poses of links.
pub(crate) fn poses(samples: &[Vec<LinkFrame>]) -> Vec<LinkPose> {
    let pose = |link: &LinkFrame| LinkPose {
        position: link.position.to_array(),
        rotation: link.rotation.to_array(),
    };
    samples.iter().flatten().map(pose).collect()
}

/// A path of a robot.
pub(crate) struct Course {
    pub(crate) samples: Vec<Vec<LinkFrame>>,
    pub(crate) values: Vec<Vec<f64>>,
    pub(crate) poses: Vec<LinkPose>,
    pub(crate) deviations: Vec<f64>,
}

impl Course {
    /// Straight in the space of the joints from one configuration to another.
    pub(crate) fn new(robot: &Robot, from: &[f64], to: &[f64], sample_count: usize) -> Self {
        let value = |at: usize| {
            let share = at as f64 / (sample_count - 1) as f64;
            from.iter().zip(to).map(|(a, b)| a + (b - a) * share).collect::<Vec<f64>>()
        };
        let values: Vec<Vec<f64>> = (0..sample_count).map(value).collect();
        let samples: Vec<Vec<LinkFrame>> = values.iter().map(|values| robot.links(values)).collect();
        let deviations = values.windows(2).flat_map(|pair| robot.deviations(&pair[0], &pair[1])).collect();
        Self { poses: poses(&samples), samples, values, deviations }
    }

    pub(crate) fn path(&self) -> JointPath<'_> {
        JointPath::new(self.samples.len(), &self.poses)
    }

    pub(crate) fn path_within(&self) -> JointPath<'_> {
        self.path().within(&self.deviations)
    }
}
