//! The exact path of a sweep: f64, from the inputs as stored, for bodies that rotate and for pairs that f32 cannot decide.
//!
//! Conservative advancement (Mirtich 1996, "Impulse-based Dynamic Simulation of Rigid Body Systems"; Zhang, Lee and Kim
//! 2006, "Interactive Continuous Collision Detection for Non-convex Polyhedra"). At each time the nearest points give a
//! separating direction. Time advances as far as that direction certainly still separates the bodies. The step uses each
//! vertex's own speed along the direction and a bound of its acceleration, not a bound of the speed alone. So the steps
//! converge on an impact like Newton's, and do not creep where surfaces rotate past each other.
//!
//! Each step proves that the bodies are apart until its end. It is at least the time to close half the tolerance at full
//! speed, so the steps end. A pair that is not done after a million steps is a hit at the time up to which it is known to be
//! apart.

use std::borrow::Cow;

use glam::{DMat3, DVec3};

use crate::collide::gjk::distance::{Corner, Goal, Nearest, Witness, distance};
use crate::collide::gjk::pose::Placement;
use crate::collide::gjk::tolerance::touching_limit;
use crate::collide::gjk::verdict::Difference;
use crate::collide::hull::Hull;
use crate::collide::narrow_phase::exact::{MEASURE_ERROR, measure_placed};
use crate::collide::scene::body::Body;
use crate::collide::scene::motion::Motion;
use crate::collide::scene::placed::turn;
use crate::collide::scene::rigid::Rigid;
use crate::collide::sweep::cast::{Cast, CastLimits, cast};
use crate::collide::sweep::outcome::Swept;

/// Relative error of f64 support points against the sum of the bounding radii and the distance of the centres.
const SUPPORT_ERROR: f64 = 4e-15;

/// One body of a pair, in the pair's unit.
#[derive(Debug, Clone)]
pub(crate) struct SweptBody<'a> {
    /// Vertices about the point that it turns about, along the axes that `start` turns to the world's.
    points: Cow<'a, [DVec3]>,
    /// The rotation of `points` at time 0; none where they are along the world's axes.
    start: Option<DMat3>,
    /// From the point that it turns about to the mean of the vertices, world axes at time 0.
    arm: DVec3,
    /// How far that point is from the hull's origin.
    lever: f64,
    /// Angular velocity in radians per second, world axes; 0 where it moves no vertex.
    spin: DVec3,
    /// Largest distance of a vertex from the point that it turns about, rounding included.
    reach: f64,
    /// Largest distance of a vertex from the axis of the spin.
    swing: f64,
    /// Bounding radius about the mean, rounding included.
    radius: f64,
    rounding: f64,
    /// Outward normal of a half-space at time 0.
    plane: Option<DVec3>,
}

impl<'a> SweptBody<'a> {
    /// A checked body that turns about a point; `lever` is from there to its hull's origin, world axes. That of a half-space is 0.
    fn new(hull: &Hull, body: &Body, motion: &Motion, lever: DVec3) -> Self {
        let Rigid { points, arm, reach, radius, rounding, plane } = Rigid::about(hull, body, lever);
        let lever = lever.length();
        let mut spin = DVec3::from(motion.angular_velocity.map(f64::from));
        let axis = spin.normalize_or_zero();
        let swing = points.iter().map(|&p| p.cross(axis).length()).fold(0.0, f64::max);
        if swing == 0.0 && plane.is_none() {
            spin = DVec3::ZERO;
        }
        Self { points: points.into(), start: None, arm, lever, spin, reach, swing, radius, rounding, plane }
    }

    /// A body that turns with `spin` about its pivot, from the rotation `start` on, thicker by `more`.
    pub(crate) fn turning(rigid: &'a Rigid, start: DMat3, spin: DVec3, more: f64) -> Self {
        let arm = start * rigid.arm;
        let core = rigid.radius - rigid.rounding;
        // The ball of the vertices about their mean is no farther from the axis than this.
        let swing = (arm.cross(spin.normalize_or_zero()).length() + core).min(rigid.reach);
        Self {
            points: Cow::Borrowed(&rigid.points),
            start: Some(start),
            arm,
            lever: 0.0,
            spin,
            reach: rigid.reach + more,
            swing,
            radius: rigid.radius + more,
            rounding: rigid.rounding + more,
            plane: rigid.plane.map(|plane| start * plane),
        }
    }

    /// A body that does not move.
    pub(crate) fn still(rigid: &'a Rigid) -> Self {
        let &Rigid { ref points, arm, reach, radius, rounding, plane } = rigid;
        let points = Cow::Borrowed(&points[..]);
        let (start, lever, spin, swing) = (None, 0.0, DVec3::ZERO, 0.0);
        Self { points, start, arm, lever, spin, reach, swing, radius, rounding, plane }
    }

    fn scale(&mut self, inverse: f64) {
        for point in self.points.to_mut() {
            *point *= inverse;
        }
        self.arm *= inverse;
        self.lever *= inverse;
        self.reach *= inverse;
        self.swing *= inverse;
        self.radius *= inverse;
        self.rounding *= inverse;
    }

    /// The rotation since time 0.
    fn turn(&self, time: f64) -> DMat3 {
        let rate = self.spin.length();
        if rate > 0.0 { turn(self.spin / rate, rate * time) } else { DMat3::IDENTITY }
    }

    /// The rotation of `points` at a time.
    fn rotation(&self, time: f64) -> DMat3 {
        match self.start {
            Some(start) if time > 0.0 && self.spin != DVec3::ZERO => self.turn(time) * start,
            Some(start) => start,
            None => self.turn(time),
        }
    }

    fn furthest(&self, direction: DVec3) -> DVec3 {
        let mut best = DVec3::ZERO;
        let mut most = f64::NEG_INFINITY;
        for &point in self.points.iter() {
            let along = point.dot(direction);
            if along > most {
                most = along;
                best = point;
            }
        }
        best
    }
}

/// A pair in f64, in units of the larger bounding radius (1 for two points), world axes.
#[derive(Debug, Clone)]
pub(crate) struct ExactPair<'a> {
    a: SweptBody<'a>,
    b: SweptBody<'a>,
    /// From the point that `b` turns about to that of `a` at time 0.
    offset: DVec3,
    /// Velocity of `a` less that of `b`.
    velocity: DVec3,
    /// Smaller bounding radius.
    smaller: f64,
    /// Sum of the bounding radii.
    sum: f64,
}

/// The result of a sweep of one pair; times in seconds, normals from `a` to `b`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Impact {
    /// The bodies meet.
    Hit { time: f64, normal: DVec3 },
    /// They do not meet.
    Miss,
    /// The bodies may touch at the start: no direction separates them there by enough.
    Start,
}

/// The pair at one time.
struct PairAt<'a> {
    pair: &'a ExactPair<'a>,
    turns: [DMat3; 2],
    /// From the point that `b` turns about to that of `a`.
    offset: DVec3,
}

impl Difference for PairAt<'_> {
    type Vector = DVec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        let [turn_a, turn_b] = &self.turns;
        let a = *turn_a * self.pair.a.furthest(turn_a.transpose() * direction);
        let b = *turn_b * self.pair.b.furthest(turn_b.transpose() * -direction);
        a - b + self.offset
    }
}

impl Witness for PairAt<'_> {
    fn corner(&self, direction: DVec3) -> Corner<DVec3> {
        // The point on `a` is not used.
        Corner { point: self.support(direction), on_a: DVec3::ZERO }
    }
}

/// What an advancement up to some time shows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Advanced {
    pub(crate) impact: Impact,
    /// The bodies are at least this far apart at the start; 0 or less where that is not shown.
    pub(crate) gap: f64,
    /// The last direction, from `b` to `a`.
    pub(crate) axis: DVec3,
}

impl<'a> ExactPair<'a> {
    /// The pair of two checked bodies; `offset` is from `b`'s position to `a`'s, world units.
    pub(crate) fn new(hulls: [&Hull; 2], bodies: [&Body; 2], offset: DVec3, motions: [&Motion; 2]) -> Self {
        Self::about(hulls, bodies, [DVec3::ZERO; 2], offset, motions)
    }

    /// The pair of two checked bodies that turn about other points than their positions. `levers` are from these points to the hulls'
    /// origins at time 0, and `offset` is from the point of `b` to that of `a`, all in world units and axes. The velocities are those of
    /// these points. The lever of a half-space is 0.
    pub(crate) fn about(
        hulls: [&Hull; 2],
        [a, b]: [&Body; 2],
        levers: [DVec3; 2],
        offset: DVec3,
        motions: [&Motion; 2],
    ) -> Self {
        let mut side_a = SweptBody::new(hulls[0], a, motions[0], levers[0]);
        let mut side_b = SweptBody::new(hulls[1], b, motions[1], levers[1]);
        // A half-space has no size, so the other body's counts.
        let of = |side: &SweptBody, other: &SweptBody| {
            if side.plane.is_some() { other.radius } else { side.radius }
        };
        let (radius_a, radius_b) = (of(&side_a, &side_b), of(&side_b, &side_a));
        let larger = radius_a.max(radius_b);
        let unit = if larger > 0.0 { larger } else { 1.0 };
        let inverse = 1.0 / unit;
        side_a.scale(inverse);
        side_b.scale(inverse);
        let planar = side_a.plane.is_some() || side_b.plane.is_some();
        let difference = |a: [f32; 3], b: [f32; 3]| {
            (DVec3::from(a.map(f64::from)) - DVec3::from(b.map(f64::from))) * inverse
        };
        Self {
            a: side_a,
            b: side_b,
            offset: offset * inverse,
            velocity: difference(motions[0].velocity, motions[1].velocity),
            smaller: radius_a.min(radius_b) * inverse,
            sum: if planar { larger * inverse } else { (radius_a + radius_b) * inverse },
        }
    }

    /// The pair of two bodies in world units, from `b`'s position to `a`'s at time 0, and the velocity of `a` less that of `b`.
    pub(crate) fn between(a: SweptBody<'a>, b: SweptBody<'a>, offset: DVec3, velocity: DVec3) -> Self {
        let planar = a.plane.is_some() || b.plane.is_some();
        let radius = if b.plane.is_some() { a.radius } else { b.radius };
        let [smaller, sum] =
            if planar { [radius, radius] } else { [a.radius.min(b.radius), a.radius + b.radius] };
        Self { a, b, offset, velocity, smaller, sum }
    }

    fn at(&self, time: f64) -> PairAt<'_> {
        PairAt {
            pair: self,
            turns: [self.a.rotation(time), self.b.rotation(time)],
            offset: self.offset + self.velocity * time,
        }
    }

    /// The distance of the centres at the start.
    fn distance(&self) -> f64 {
        (self.offset + (self.a.arm - self.b.arm)).length()
    }

    fn rotates(&self) -> bool {
        self.a.spin != DVec3::ZERO || self.b.spin != DVec3::ZERO
    }

    /// The thresholds: half of the documented error, that of `exact` or the tolerance τ.
    fn limits(&self, exact: bool) -> CastLimits<f64> {
        let tolerance = (1e-5 * self.smaller).max(4e-6 * self.sum);
        CastLimits {
            rounding: self.a.rounding + self.b.rounding,
            near: if exact { 5e-10 * self.sum } else { 0.5 * tolerance },
            // Bodies that may touch at the start are measured there: see `status_of_gap`. Long levers cancel, and leave their rounding.
            parted: touching_limit(self.smaller, self.sum)
                + MEASURE_ERROR * (self.sum + self.distance())
                + SUPPORT_ERROR * (self.a.lever + self.b.lever),
            clear: 0.0,
        }
    }

    /// The first time of impact up to `duration`. With `axis`, from `b` to `a`, the bodies are known to be separated along it at the start.
    pub(crate) fn sweep(&self, duration: f64, exact: bool, axis: Option<DVec3>) -> Impact {
        let mut limits = self.limits(exact);
        if axis.is_some() {
            limits.parted = 0.0;
        }
        if let Some(plane) = self.b.plane {
            return self.sweep_plane([&self.b, &self.a], plane, -1.0, duration, &limits, STEP_LIMIT);
        }
        if let Some(plane) = self.a.plane {
            return self.sweep_plane([&self.a, &self.b], plane, 1.0, duration, &limits, STEP_LIMIT);
        }
        let turns = self.rotates();
        // Bounding balls about the points that move on straight lines.
        let (offset, reach) = if turns {
            (self.offset, self.a.reach + self.b.reach)
        } else {
            (self.offset + (self.a.arm - self.b.arm), self.sum)
        };
        // Slightly larger balls, so that bodies that touch at the start are found.
        let Some([begin, end]) = meeting(offset, self.velocity, reach * 1.000_006, duration) else {
            return Impact::Miss;
        };
        let error = SUPPORT_ERROR * (self.sum + self.a.arm.length() + self.b.arm.length());
        limits.near = (limits.near - error).max(error);
        if turns {
            return self.advance(begin, end, duration, &limits, axis, STEP_LIMIT).impact;
        }
        let at = self.at(begin);
        let start = axis.unwrap_or(offset + self.velocity * begin);
        // In units of length along the path, so that very slow and very fast bodies need no special care.
        let speed = self.velocity.length();
        if !(speed > 0.0) {
            return match cast(&at, start, DVec3::ZERO, 0.0, &limits) {
                Cast::Miss { .. } => Impact::Miss,
                Cast::Start | Cast::Hit { .. } | Cast::Stalled { .. } => Impact::Start,
            };
        }
        let begun = begin > 0.0;
        if begun {
            // Their balls do not meet earlier, so they are separated at the start.
            limits.parted = 0.0;
        }
        match cast(&at, start, self.velocity / speed, (end - begin) * speed, &limits) {
            Cast::Hit { time, axis } => {
                Impact::Hit { time: (begin + time / speed).min(duration), normal: -axis.normalize_or_zero() }
            }
            Cast::Miss { .. } => Impact::Miss,
            Cast::Start if !begun => Impact::Start,
            Cast::Start => self.advance(begin, end, duration, &limits, None, STEP_LIMIT).impact,
            Cast::Stalled { time, axis } => {
                self.advance(begin + time / speed, end, duration, &limits, Some(axis), STEP_LIMIT).impact
            }
        }
    }

    /// The outcome of a sweep whose start is measured where no direction shows that the bodies do not touch there. `start` are their
    /// placements then.
    pub(crate) fn swept(&self, start: &[Placement<'_>; 2], duration: f64, exact: bool) -> Swept {
        let of = |impact: Impact| match impact {
            Impact::Hit { time, normal } => Some(Swept::hit(time, normal)),
            Impact::Miss => Some(Swept::MISS),
            Impact::Start => None,
        };
        of(self.sweep(duration, exact, None)).unwrap_or_else(|| {
            let measured = measure_placed(start);
            let touching = Swept::touching(measured.normal);
            if measured.status.is_hit() {
                return touching;
            }
            // Without an outcome they are apart by less than the tolerance, and no direction shows it.
            of(self.sweep(duration, exact, Some(-measured.normal))).unwrap_or(touching)
        })
    }

    /// The first time up to `duration` at which the bodies may be within `near` of one another: the start, where they may be there. `axis` is
    /// a guess of the direction from `b` to `a`, of any length. A pair that is not done after `step_limit` steps may meet at the time up to
    /// which it is known to be apart. Only `b` may be a half-space, and it may not turn.
    pub(crate) fn first_contact(&self, duration: f64, near: f64, axis: DVec3, step_limit: u32) -> Advanced {
        let rounding = self.a.rounding + self.b.rounding;
        let at = self.at(0.0);
        let guess = self.b.plane.unwrap_or(axis).normalize_or(DVec3::X);
        let gap = match self.b.plane {
            Some(plane) => plane.dot(self.offset) + plane.dot(self.furthest_of_a(&at, -plane)) - rounding,
            None => guess.dot(at.support(-guess)) - rounding,
        };
        // Mostly the direction of an earlier step will do.
        if gap > 0.0 && self.step(&at, guess, gap, duration) == f64::INFINITY {
            return Advanced { impact: Impact::Miss, gap, axis: guess };
        }
        let limits = CastLimits { rounding, near, parted: 0.0, clear: 0.0 };
        if let Some(plane) = self.b.plane {
            let impact =
                match self.sweep_plane([&self.b, &self.a], plane, -1.0, duration, &limits, step_limit) {
                    Impact::Start => Impact::Hit { time: 0.0, normal: -plane },
                    impact => impact,
                };
            return Advanced { impact, gap, axis: guess };
        }
        self.advance(0.0, duration, duration, &limits, Some(guess), step_limit)
    }

    /// The vertex of `a` furthest along a direction, about its position.
    fn furthest_of_a(&self, at: &PairAt<'_>, direction: DVec3) -> DVec3 {
        let turn = &at.turns[0];
        *turn * self.a.furthest(turn.transpose() * direction)
    }

    /// Conservative advancement from `time`. With an `axis`, or after the start, the bodies are known to be apart until then.
    fn advance(
        &self,
        mut time: f64,
        end: f64,
        duration: f64,
        limits: &CastLimits<f64>,
        axis: Option<DVec3>,
        step_limit: u32,
    ) -> Advanced {
        let mut parted = axis.is_some() || time > 0.0;
        let mut axis = axis.unwrap_or(self.offset + self.velocity * time + (self.a.arm - self.b.arm));
        let near = limits.rounding + limits.near;
        // A direction within a hundredth of the gap suffices. Rounded bodies are nearer than their cores, so it does not for them.
        let relative = if limits.rounding > 0.0 { 0.0 } else { 1e-2 };
        let slack = 0.2 * limits.near;
        let goal = Goal { iteration_limit: NEAREST_LIMIT, ..Goal::converge(slack, relative) };
        let mut last = None;
        let mut first_gap = None;
        for _ in 0..step_limit {
            let at = self.at(time);
            let mut found = distance(&at, axis, &goal);
            if found.lower <= limits.rounding && found.upper > near {
                for restart in RESTARTS {
                    let Nearest { lower, upper, axis, .. } = distance(&at, DVec3::from(restart), &goal);
                    if lower > found.lower {
                        found.lower = lower;
                        found.axis = axis;
                    }
                    found.upper = found.upper.min(upper);
                }
            }
            axis = found.axis;
            let gap = found.lower - limits.rounding;
            let start_gap = *first_gap.get_or_insert(gap);
            let advanced = |impact| Advanced { impact, gap: start_gap, axis };
            if !parted {
                if !(gap > limits.parted) {
                    return advanced(Impact::Start);
                }
                parted = true;
            }
            // Where rounding hides the gap, the bodies are no longer certainly separated: that is an impact too.
            if last.is_some() && found.upper <= near || !(gap > 0.0) {
                let shows = gap > -limits.near && (self.rotates() || axis.dot(self.velocity) < 0.0);
                let axis = if limits.rounding > limits.near && shows { axis } else { last.unwrap_or(axis) };
                return advanced(Impact::Hit { time: time.min(duration), normal: -axis });
            }
            let step = self.step(&at, axis, gap, end - time);
            if step == f64::INFINITY {
                return advanced(Impact::Miss);
            }
            last = Some(axis);
            let next = time + step;
            if !(next > time) {
                // The step is smaller than the rounding of the time.
                return advanced(Impact::Hit { time: time.min(duration), normal: -axis });
            }
            time = next;
        }
        let impact = Impact::Hit { time: time.min(duration), normal: -axis };
        Advanced { impact, gap: first_gap.unwrap_or(0.0), axis }
    }

    /// A lower bound of how long the unit direction `axis`, from `b` to `a`, separates bodies that are `gap` apart along it; infinite where
    /// it does until the end, `left` seconds from now.
    fn step(&self, at: &PairAt<'_>, axis: DVec3, gap: f64, left: f64) -> f64 {
        let approach = axis.dot(self.velocity);
        if left == f64::INFINITY && !self.rotates() {
            // The gap grows, or closes within a time that is known: with an infinite one there is nothing to compute with.
            let closing = if approach < 0.0 { -2.0 * gap / approach } else { f64::INFINITY };
            if closing == f64::INFINITY {
                return closing;
            }
            return self.step(at, axis, gap, closing);
        }
        // A vertex p of a body that turns with ω has the speed n · (ω × p) = (n × ω) · p along n, and an acceleration of
        // at most |ω| |n × ω| times its distance from the axis.
        let bend = |side: &SweptBody| side.spin.length() * axis.cross(side.spin).length() * side.swing;
        let curvature = bend(&self.a) + bend(&self.b);
        let local = |turn: &DMat3, v: DVec3| turn.transpose() * v;
        let [turn_a, turn_b] = &at.turns;
        let (value_a, rate_a) = (local(turn_a, axis), local(turn_a, axis.cross(self.a.spin)));
        let (value_b, rate_b) = (local(turn_b, axis), local(turn_b, axis.cross(self.b.spin)));
        // The time at which the vertices that arrive first would close the gap. Each try is an upper bound.
        let fastest = self.a.spin.length().max(self.b.spin.length());
        let most = left.min(4.0 / fastest);
        let mut step = most;
        let rounding = self.a.rounding + self.b.rounding;
        for _ in 0..STEP_TRIES {
            let p = self.a.furthest(-(value_a + rate_a * step));
            let q = self.b.furthest(value_b + rate_b * step);
            let now = axis.dot(at.offset) + value_a.dot(p) - value_b.dot(q) - rounding;
            let rate = approach + rate_a.dot(p) - rate_b.dot(q);
            let then = now + (rate - 0.5 * curvature * step) * step;
            if then >= -1e-3 * gap.min(1e-9 * self.sum) {
                // Bodies that meet exactly at the end count as meeting.
                return if step < left || then <= 1e-12 * self.sum { step } else { f64::INFINITY };
            }
            // The positive root of now + rate s − curvature s² / 2, written so that nothing cancels.
            let root = (rate * rate + 2.0 * curvature * now.max(0.0)).sqrt();
            let next =
                if rate > 0.0 { (rate + root) / curvature } else { 2.0 * now.max(0.0) / (root - rate) };
            if !(next < step) {
                break;
            }
            step = next;
        }
        // The bound by the speed of all vertices.
        let speed = -approach
            + axis.cross(self.a.spin).length() * self.a.swing
            + axis.cross(self.b.spin).length() * self.b.swing;
        if speed > 0.0 { (gap / speed).min(most) } else { most }
    }

    /// Sweeps a half-space with the normal `plane` and a body; `sign` is 1 where the half-space is `a`, otherwise −1.
    fn sweep_plane(
        &self,
        [ground, body]: [&SweptBody<'_>; 2],
        plane: DVec3,
        sign: f64,
        duration: f64,
        limits: &CastLimits<f64>,
        step_limit: u32,
    ) -> Impact {
        // From the plane's origin to the point that the body turns about.
        let (offset, velocity) = (self.offset * -sign, self.velocity * -sign);
        let spin = ground.spin;
        let mut time = 0.0;
        for _ in 0..step_limit {
            let plane = ground.turn(time) * plane;
            let turn = body.rotation(time);
            let away = offset + velocity * time;
            let lowest = turn * body.furthest(turn.transpose() * -plane);
            let gap = plane.dot(away) + plane.dot(lowest) - limits.rounding;
            let normal = plane * sign;
            if time == 0.0 {
                if !(gap > limits.parted) {
                    return Impact::Start;
                }
            } else if gap <= limits.near {
                return Impact::Hit { time: f64::min(time, duration), normal };
            }
            let left = duration - time;
            let step = if spin == DVec3::ZERO {
                // `step` takes a direction from `b` to `a`.
                self.step(&self.at(time), plane * -sign, gap, left)
            } else {
                // The plane rotates about its origin, so its speed grows with the distance from there.
                let far = (away.length() + velocity.length() * left + body.reach) * spin.length();
                gap / (velocity.length() + body.spin.length() * body.swing + far)
            };
            if step == f64::INFINITY || step > left {
                return Impact::Miss;
            }
            if !(time + step > time) {
                break;
            }
            time += step;
        }
        let plane = ground.turn(time) * plane;
        Impact::Hit { time: f64::min(time, duration), normal: plane * sign }
    }
}

/// Most directions of a search for the nearest points.
const NEAREST_LIMIT: u32 = 256;

/// Steps after which a pair counts as a hit. Where bodies rotate past each other at a gap just above the tolerance, a step is a few
/// thousandths of a turn.
const STEP_LIMIT: u32 = 1 << 20;

/// Most iterations of [`ExactPair::step`].
const STEP_TRIES: u32 = 12;

/// Start directions of restarted searches.
const RESTARTS: [[f64; 3]; 7] = [
    [0.83, 0.41, -0.37],
    [-0.29, 0.91, 0.31],
    [0.13, -0.47, 0.87],
    [-0.71, -0.67, 0.23],
    [-0.43, 0.19, -0.89],
    [0.59, -0.73, -0.53],
    [0.97, 0.11, 0.17],
];

/// The first and last time within `0..=duration` at which a point that starts at `offset` is within `reach` of the origin; `None` where
/// it never is. Both are rounded outwards by more than f64's error.
pub(crate) fn meeting(offset: DVec3, velocity: DVec3, reach: f64, duration: f64) -> Option<[f64; 2]> {
    let speed = velocity.length();
    let reach = reach * (1.0 + 1e-9);
    if !(speed > 0.0) {
        return (offset.length() <= reach).then_some([0.0, duration]);
    }
    let direction = velocity / speed;
    let along = -offset.dot(direction);
    let aside = (offset + direction * along).length() - 1e-15 * along.abs();
    if aside > reach {
        return None;
    }
    let half = ((reach - aside) * (reach + aside)).sqrt() + 1e-15 * along.abs();
    let [begin, end] = [(along - half) / speed, (along + half) / speed];
    (end >= 0.0 && begin <= duration).then_some([begin.max(0.0), end.min(duration)])
}
