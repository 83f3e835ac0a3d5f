//! How far bodies move: an upper bound for all of their points, summed over the frames.
//!
//! With `c = |q₁ − q₂|` for unit quaternions, the angle `θ` between two rotations has `2 sin(θ/2) ≤ 4 sin(θ/4) = 2c`, so
//! that no point within `reach` of the hull's origin goes further than `|Δp| + 2 c · reach`. Quaternions are stored with a
//! length of at least 0.999, and dividing by the length changes their distance by a factor of at most `1 / 0.999`. A body whose hull,
//! scale or radius has changed counts as infinitely far away.

use crate::collide::hull::support::Supports;
use crate::collide::scene::body::Body;
use crate::collide::scene::query_input::Scene;
use glam::DVec3;

/// A body that moves by more than this share of its reach in a frame has jumped.
const JUMP: f64 = 0.5;
/// Covers f64's rounding of a displacement, and an f32 axis that is longer than 1.
const SLACK: f64 = 1.0 + 1e-6;
/// 2, from the bound above, over the least length of a stored quaternion.
const TWICE: f64 = 2.0 / 0.998_999;

/// How far any point of a body may have moved between two poses, in world units: by translation, and by rotation.
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

/// The displacement of a body that differs only in its pose. `reach` is the distance from the hull's origin to its furthest point.
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
    // Without rotation the reach does not count: a half-space's is infinite.
    let turn = if chord > 0.0 { TWICE * SLACK * reach * chord } else { 0.0 };
    Displacement { shift: shift.sqrt() * SLACK, turn }
}

/// Whether two bodies differ at most in their pose.
#[inline(always)]
fn is_same(before: &Body, now: &Body) -> bool {
    (before.hull == now.hull)
        & (before.scale == now.scale)
        & (before.padding == now.padding)
        & (before.group == now.group)
        & (before.mask == now.mask)
}

/// An upper bound of the distance from the hull's origin to the furthest point of the body, rounding included; infinite for a
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

/// The bounding ball of a body about its position.
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
#[derive(Debug, Default)]
pub(crate) struct FrameMotion {
    /// Sum of the displacements, each in units of its body's reach and at most [`JUMP`].
    pub(crate) relative_sum: f64,
    /// Bodies that moved past their margin of the list.
    pub(crate) left_count: usize,
    /// Bodies whose hull, scale, padding or groups changed.
    pub(crate) changed_count: usize,
    /// Rows of the bodies whose groups changed, so that they may meet other bodies than before; ascending.
    pub(crate) regrouped: Vec<u32>,
    /// Bodies that became or ceased to be a half-space.
    pub(crate) converted_count: usize,
}

impl FrameMotion {
    pub(crate) fn plus(mut self, other: Self) -> Self {
        self.regrouped.extend(other.regrouped);
        Self {
            relative_sum: self.relative_sum + other.relative_sum,
            left_count: self.left_count + other.left_count,
            changed_count: self.changed_count + other.changed_count,
            regrouped: self.regrouped,
            converted_count: self.converted_count + other.converted_count,
        }
    }
}

/// Some of the bodies, and their entries in the cache.
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
                // The signs of zeros and of the quaternion may have changed.
                before.position = now.position;
                before.rotation = now.rotation;
                if step > 0.0 {
                    balls[at].position = now.position;
                    // Rounded up, so that no small displacement is lost in a large sum.
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
                    // Two queries about the same frame see no motion between them.
                    paces[at] *= 0.9;
                }
            } else {
                let is_plane = |body: &Body| scene.supports.records[body.hull as usize].half_space != 0;
                if (before.group, before.mask) != (now.group, now.mask) {
                    moves.regrouped.push((first + at) as u32);
                }
                moves.converted_count += usize::from(is_plane(before) != is_plane(now));
                moves.changed_count += 1;
                moves.relative_sum += JUMP;
                odometers[at] = f64::INFINITY;
                turns[at] = f64::INFINITY;
                balls[at] = BodyBall::new(now, first + at, &scene.supports);
                if now.group == 0 || now.mask == 0 {
                    // It meets nothing, an empty slot for instance, and that it moved before says nothing.
                    paces[at] = 0.0;
                }
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
