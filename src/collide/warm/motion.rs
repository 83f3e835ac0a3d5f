//! How far bodies have moved: an upper bound for any of their points, and the sum of it over all frames.
//!
//! With `c = |q₁ − q₂|` for unit quaternions, the angle `θ` between two rotations has `2 sin(θ/2) ≤ 4 sin(θ/4) = 2c`, so
//! that no point within `reach` of the hull's origin goes further than `|Δp| + 2 c · reach`. Quaternions are stored with a
//! length of 0.999 at least, and dividing by the length brings two of them nearer or apart by no more than `1 / 0.999`. A
//! body whose hull, scale or radius is another one has gone infinitely far.

use crate::collide::hull::support::Supports;
use crate::collide::scene::body::Body;
use crate::collide::scene::query_input::Scene;
use glam::DVec3;

/// A body that moves by more of its reach in a frame was put somewhere else.
const JUMP: f64 = 0.5;
/// What rounding in f64 may take off a step, and what an axis in f32 may be longer than 1, relative.
const SLACK: f64 = 1.0 + 1e-6;
/// One over the least length of a stored quaternion, and twice as much by the angle.
const TWICE: f64 = 2.0 / 0.998_999;

/// How far any point of a body may have gone between two poses, in world units: by the position, and by the turn besides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Displacement {
    pub(crate) shift: f64,
    pub(crate) turn: f64,
}

impl Displacement {
    pub(crate) fn total(&self) -> f64 {
        self.shift + self.turn
    }
}

/// The step of a body that is the same but for its pose. `reach` is the distance from the hull's origin to its furthest
/// point.
#[inline(always)]
pub(crate) fn displacement(before: &Body, now: &Body, reach: f64) -> Displacement {
    let mut shift = 0.0;
    for (p, q) in before.position.into_iter().zip(now.position) {
        let off = f64::from(p) - f64::from(q);
        shift += off * off;
    }
    let (mut near, mut far) = (0.0, 0.0);
    for (p, q) in before.rotation.into_iter().zip(now.rotation) {
        let (p, q) = (f64::from(p), f64::from(q));
        near += (p - q) * (p - q);
        far += (p + q) * (p + q);
    }
    let chord = near.min(far).sqrt();
    // What does not turn has no reach to care about: a half-space's is infinite.
    let turn = if chord > 0.0 { TWICE * SLACK * reach * chord } else { 0.0 };
    Displacement { shift: shift.sqrt() * SLACK, turn }
}

/// Whether two bodies differ by no more than their pose.
#[inline(always)]
fn is_same(before: &Body, now: &Body) -> bool {
    (before.hull == now.hull)
        & (before.scale == now.scale)
        & (before.padding == now.padding)
        & (before.group == now.group)
        & (before.mask == now.mask)
}

/// Distance from the hull's origin to the furthest point of the body, rounding included, at most; infinite for a
/// half-space.
pub(crate) fn reach(body: &Body, radius: f32, supports: &Supports) -> f32 {
    let record = &supports.records[body.hull as usize];
    if record.half_space != 0 {
        return f32::INFINITY;
    }
    let mean = DVec3::from(record.mean.map(f64::from)) * DVec3::from(body.scale.map(f64::from));
    // The radius is rounded to f32.
    (((mean.length() + f64::from(radius)) * (1.0 + 1e-6)) as f32).next_up()
}

/// Where a body is, as the cheap tests read it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct BodyBall {
    /// Its position, as stored.
    pub(crate) position: [f32; 3],
    /// See [`reach`].
    pub(crate) reach: f32,
}

impl BodyBall {
    pub(crate) fn new(body: &Body, row: usize, supports: &Supports) -> Self {
        // A body that was checked has a radius.
        let radius = body.radius(row, supports).unwrap_or(f32::INFINITY);
        Self { position: body.position, reach: reach(body, radius, supports) }
    }
}

/// How the bodies moved since the last frame.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FrameMotion {
    /// Sum of the steps, each in units of its body's reach and at most [`JUMP`].
    pub(crate) relative_sum: f64,
    /// Bodies that went past the margin of the list.
    pub(crate) left_count: usize,
    /// Bodies that are other ones now.
    pub(crate) changed_count: usize,
    /// Bodies of which it is another question whom they may meet.
    pub(crate) regrouped_count: usize,
}

impl FrameMotion {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            relative_sum: self.relative_sum + other.relative_sum,
            left_count: self.left_count + other.left_count,
            changed_count: self.changed_count + other.changed_count,
            regrouped_count: self.regrouped_count + other.regrouped_count,
        }
    }
}

/// Some of the bodies, and what is kept of them.
pub(crate) struct AdvanceTask<'a> {
    /// Row of the first.
    pub(crate) first: usize,
    pub(crate) before: &'a mut [Body],
    pub(crate) odometers: &'a mut [f64],
    pub(crate) turns: &'a mut [f64],
    pub(crate) paces: &'a mut [f64],
    pub(crate) balls: &'a mut [BodyBall],
    pub(crate) now: &'a [Body],
    pub(crate) limits: &'a [f64],
}

impl AdvanceTask<'_> {
    pub(crate) fn run(self, scene: &Scene) -> FrameMotion {
        let mut moves = FrameMotion::default();
        let Self { first, before, odometers, turns, paces, balls, now, limits } = self;
        for (at, now) in now.iter().enumerate() {
            let before = &mut before[at];
            if is_same(before, now) {
                let reach = f64::from(balls[at].reach);
                let moved = displacement(before, now, reach);
                let step = moved.total();
                // Signs of zeros and quaternions may have changed.
                before.position = now.position;
                before.rotation = now.rotation;
                if step > 0.0 {
                    balls[at].position = now.position;
                    // Upwards, so that no step is lost beside a large sum.
                    odometers[at] = (odometers[at] + step).next_up();
                    turns[at] = (turns[at] + moved.turn).next_up();
                    // A half-space has neither a box nor a pace.
                    if step <= JUMP * reach && reach < f64::INFINITY {
                        paces[at] = step.max(0.5 * paces[at]);
                    }
                    moves.relative_sum += (step / reach.max(1e-30)).min(JUMP);
                    // A half-space that turns.
                    moves.changed_count += usize::from(step == f64::INFINITY);
                } else {
                    // Where two queries are about one frame there is no motion between them.
                    paces[at] *= 0.9;
                }
            } else {
                let is_plane = |body: &Body| scene.supports.records[body.hull as usize].half_space != 0;
                moves.regrouped_count += usize::from(
                    (before.group, before.mask) != (now.group, now.mask) || is_plane(before) != is_plane(now),
                );
                moves.changed_count += 1;
                moves.relative_sum += JUMP;
                odometers[at] = f64::INFINITY;
                turns[at] = f64::INFINITY;
                balls[at] = BodyBall::new(now, first + at, &scene.supports);
                *before = *now;
            }
            moves.left_count += usize::from(limits.get(at).is_some_and(|&limit| !(odometers[at] <= limit)));
        }
        moves
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::hull::Hull;
    use crate::collide::scene::bounds;

    #[test]
    fn a_step_is_as_far_as_any_point_goes() {
        let hull = Hull::from_points(&[
            [3.0, 0.0, 0.0],
            [4.0, 1.0, 0.0],
            [3.0, 0.5, 2.0],
            [3.5, -1.0, 0.5],
            [4.5, 0.0, -1.0],
        ])
        .unwrap();
        let scene = Scene::new(std::slice::from_ref(&hull)).unwrap();
        let mut random = bounds::tests::Random(5);
        let mut tightest = f64::INFINITY;
        for _ in 0..20_000 {
            let scale = [0; 3].map(|_| random.log(0.1, 10.0));
            let turn = random.log(1e-7, 3.0);
            let axis = random.rotation();
            let before =
                Body { scale, ..Body::new(0).at([0; 3].map(|_| random.signed())).rotated(random.rotation()) };
            let q = glam::DQuat::from_array(before.rotation.map(f64::from));
            let other = glam::DQuat::from_axis_angle(
                glam::DVec3::from([axis[0], axis[1], axis[2]].map(f64::from)).normalize(),
                f64::from(turn),
            );
            let sign = if random.unit() < 0.5 { 1.0 } else { -1.0 };
            // Lengths within a thousandth of 1 are taken as they come.
            let length = if random.unit() < 0.5 { 1.0 } else { 1.0 + 9e-4 * f64::from(random.signed()) };
            let now = Body {
                position: before.position.map(|x| x + 0.1 * turn * random.signed()),
                rotation: (other * q * (sign * length)).as_quat().to_array(),
                ..before
            };
            let reach = BodyBall::new(&now, 0, &scene.supports).reach;
            let step = displacement(&before, &now, f64::from(reach)).total();
            let place = |body: &Body, v: [f32; 3]| {
                let q = glam::DQuat::from_array(body.rotation.map(f64::from)).normalize();
                let v = glam::DVec3::from(v.map(f64::from)) * glam::DVec3::from(scale.map(f64::from));
                glam::DVec3::from(body.position.map(f64::from)) + q * v
            };
            let furthest = hull
                .vertices()
                .iter()
                .map(|&v| (place(&now, v) - place(&before, v)).length())
                .fold(0.0, f64::max);
            assert!(furthest <= step, "{before:?} {now:?} {furthest} {step}");
            tightest = tightest.min(step / furthest.max(1e-30));
        }
        // A bound that is always far too large would pass the above.
        assert!(tightest < 1.5, "{tightest}");
    }
}
