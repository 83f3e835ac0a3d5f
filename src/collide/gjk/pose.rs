//! The Minkowski difference of a pair, in f32 and in f64.

use crate::collide::scene::placed::{Placed, rotation, turn};
use glam::{DMat3, DVec3, Mat3, Vec3};

use crate::collide::gjk::distance::{Corner, Witness};
use crate::collide::gjk::tolerance::TOUCHING_SHARE;
use crate::collide::gjk::verdict::{Difference, Limits};
use crate::collide::hull::Hull;
use crate::collide::hull::support::Supports;
use crate::collide::scene::body::Body;
use crate::collide::scene::motion::Motion;

/// Bound of the error of everything that the f32 path concludes about the gap of a pair, in the unit of the arguments: the smaller and the
/// sum of the bounding radii, and the distance of the centres.
///
/// ARCHITECTURE ("Bounds of the f32 paths") proves it for a first body that is at least as large as the second. It holds for each bound
/// of the gap that a direction gives; [`point_error`] is the smaller one of a point.
#[inline(always)]
pub(crate) fn gap_error(smaller: f32, sum: f32, distance: f32) -> f32 {
    1.001 * ROUNDING * (19.0 * sum + 24.0 * smaller + 11.0 * distance)
}

/// The same for a bound of the gap that a point of the simplex or a face of a polytope gives.
#[inline(always)]
fn point_error(smaller: f32, sum: f32, distance: f32) -> f32 {
    1.001 * ROUNDING * (15.0 * sum + 14.0 * smaller + 9.0 * distance)
}

/// Relative error of f32 lengths, and of bounds that are divided by a length.
pub(crate) const LENGTH_ERROR: f32 = 16.0 * ROUNDING;

/// Half a unit in the last place of 1.
const ROUNDING: f32 = 1.0 / 16_777_216.0;

/// A pair with the larger body first, and whether it was swapped. The smaller body's points go through a rotation more, so the bounds of
/// [`gap_error`] are smaller that way.
#[inline(always)]
pub(crate) fn larger_first<'a>(a: &'a Placed, b: &'a Placed) -> ([&'a Placed; 2], bool) {
    let is_swapped = b.radius > a.radius;
    (if is_swapped { [b, a] } else { [a, b] }, is_swapped)
}

/// The bounding spheres of a pair, in units of the larger radius.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spheres {
    /// The larger bounding radius in world units; 1 for two points.
    unit: f32,
    /// One over the larger bounding radius; 1 for two points.
    pub(crate) inverse: f32,
    /// From `b`'s centre to `a`'s, world axes.
    offset: Vec3,
    /// Squared distance of the centres.
    squared: f32,
    /// The smaller bounding radius.
    smaller: f32,
    /// The sum of the bounding radii.
    sum: f32,
    /// The sum of the radii of balls about the centres inside the bodies, less what their tolerance may exceed τ by.
    inner: f32,
    /// What the tolerance may exceed τ by, and a gap be off by the rounding of the centres.
    excess: f32,
}

impl Spheres {
    /// The spheres of a pair.
    #[inline(always)]
    pub(crate) fn new(a: &Placed, b: &Placed) -> Self {
        Self::shifted(a, b, DVec3::ZERO)
    }

    /// The spheres of a pair whose first body has moved by `shift`, world units, as seen from the second.
    #[inline(always)]
    pub(crate) fn shifted(a: &Placed, b: &Placed, shift: DVec3) -> Self {
        let larger = a.radius.max(b.radius);
        let unit = if larger > 0.0 { larger } else { 1.0 };
        let inverse = 1.0 / unit;
        let offset = (a.center - b.center + shift).as_vec3() * inverse;
        let (ra, rb) = (a.radius * inverse, b.radius * inverse);
        let excess = (a.excess + b.excess) * inverse;
        let inner = (a.inner_radius + b.inner_radius) * inverse - excess;
        Self {
            unit,
            inverse,
            offset,
            squared: offset.length_squared(),
            smaller: ra.min(rb),
            sum: ra + rb,
            inner,
            excess,
        }
    }

    /// Whether the spheres alone show a separation.
    #[inline(always)]
    pub(crate) fn are_apart(&self) -> bool {
        // The touching limit is at most 3.75e-6 S. The errors of the radii and of the offset are below 1e-6 (S + d).
        let reach = self.sum * 1.000_006 + self.excess;
        self.squared > reach * reach
    }

    /// Whether these are two points so near each other that f32 may not hold the square of their distance.
    #[inline(always)]
    pub(crate) fn are_close_points(&self) -> bool {
        (self.sum == 0.0) & !(self.squared > 1e-30)
    }

    /// Whether balls inside the bodies alone show that these penetrate.
    #[inline(always)]
    pub(crate) fn are_deep(&self) -> bool {
        // The touching limit is at most 8e-6. The errors of the radii and of the offset are below 1e-6 (S + d), where d is less than S.
        let reach = self.inner - 2e-5;
        (reach > 0.0) & (self.squared < reach * reach)
    }

    /// Whether the spheres alone show that the bodies are farther apart than a margin, in world units.
    #[inline(always)]
    pub(crate) fn are_farther_than(&self, margin: f32) -> bool {
        let reach = (self.sum + margin * self.inverse) * 1.000_006 + self.excess;
        self.squared > reach * reach
    }

    /// The lengths that tolerances and errors depend on.
    #[inline(always)]
    pub(crate) fn lengths(&self) -> Lengths {
        Lengths { unit: self.unit, distance: self.squared.sqrt(), smaller: self.smaller, sum: self.sum }
    }

    /// The line of the centres: unit, from `a` to `b`, world frame.
    #[inline(always)]
    pub(crate) fn axis(&self) -> [f32; 3] {
        // The square overflows for small bodies that are very many radii apart.
        let scale = if self.squared.is_finite() { -1.0 } else { -1.0 / self.offset.abs().max_element() };
        (self.offset * scale).normalize_or_zero().to_array()
    }
}

/// The lengths that a pair's tolerance and errors depend on, in units of the larger bounding radius.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lengths {
    /// The unit in world units.
    pub(crate) unit: f32,
    /// Distance of the centres; infinite where its square overflows.
    pub(crate) distance: f32,
    /// The smaller bounding radius.
    pub(crate) smaller: f32,
    /// The sum of the bounding radii.
    pub(crate) sum: f32,
}

/// One pair in `a`'s frame and in units of the larger bounding radius: the Minkowski difference `A − B` in f32.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Relative<'a> {
    supports: &'a Supports,
    pub(crate) hulls: [u32; 2],
    pub(crate) stretch_a: Vec3,
    pub(crate) stretch_b: Vec3,
    /// From `b`'s frame to `a`'s.
    pub(crate) turn: Mat3,
    /// From `b`'s centre to `a`'s, in `a`'s frame and the pair's unit.
    pub(crate) offset: Vec3,
    /// `a`'s frame to the world.
    frame: Mat3,
    /// The thresholds of verdicts.
    pub(crate) limits: Limits<f32>,
}

impl<'a> Relative<'a> {
    /// The pose of `a` relative to `b`, which should not be larger (see [`larger_first`]).
    #[inline(always)]
    pub(crate) fn new(supports: &'a Supports, a: &Placed, b: &Placed, spheres: &Spheres) -> Self {
        let inverse_frame = a.rotation.transpose();
        let thresholds = Thresholds::new(spheres);
        Self {
            supports,
            hulls: [a.hull, b.hull],
            stretch_a: a.stretch * spheres.inverse,
            stretch_b: b.stretch * spheres.inverse,
            turn: inverse_frame * b.rotation,
            offset: inverse_frame * spheres.offset,
            frame: a.rotation,
            limits: thresholds.limits(),
        }
    }

    /// An upper bound of the height of `D` above the origin along the lowest of the face normals of both hulls' boxes; NaN for a point.
    /// A body that lies flat on another mostly does so with a face of its box.
    #[inline(always)]
    pub(crate) fn box_height(&self) -> f32 {
        let boxed = |hull: u32, stretch: Vec3| {
            let record = &self.supports.records[hull as usize];
            let scale = stretch / record.radius;
            (Vec3::from(record.middle) * scale, Vec3::from(record.half) * scale)
        };
        let (middle_a, half_a) = boxed(self.hulls[0], self.stretch_a);
        let (middle_b, half_b) = boxed(self.hulls[1], self.stretch_b);
        let middle = middle_a - self.turn * middle_b + self.offset;
        let back = self.turn.transpose();
        let [x, y, z] = [self.turn.x_axis.abs(), self.turn.y_axis.abs(), self.turn.z_axis.abs()];
        let along_a = half_a + x * half_b.x + y * half_b.y + z * half_b.z - middle.abs();
        let along_b = half_b + Vec3::new(x.dot(half_a), y.dot(half_a), z.dot(half_a)) - (back * middle).abs();
        along_a.min(along_b).min_element()
    }

    /// Turns a direction from the world to `a`'s frame.
    #[inline(always)]
    pub(crate) fn local(&self, direction: Vec3) -> Vec3 {
        self.frame.transpose() * direction
    }

    /// Turns a direction from `b` to `a`, in `a`'s frame, into a unit vector from `a` to `b` in the world.
    #[inline(always)]
    pub(crate) fn world_axis(&self, axis: Vec3) -> [f32; 3] {
        (self.frame * -axis).normalize_or_zero().to_array()
    }
}

/// Turns a direction from `b` to `a`, in `a`'s frame, into a unit vector from `a` to `b` in the world.
#[inline(always)]
pub(crate) fn world_axis(a: &Placed, axis: Vec3) -> [f32; 3] {
    (a.rotation * -axis).normalize_or_zero().to_array()
}

/// The gaps at which the status of a pair changes, and what f32 may be off, in the pair's unit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Thresholds {
    /// A lower bound of τ at distance 0.
    pub(crate) tolerance: f32,
    /// A pair within this certainly touches, and one beyond [`Self::most_touching`] certainly does not: the f64 threshold is between them.
    least_touching: f32,
    most_touching: f32,
    /// Bound of the error of a gap.
    pub(crate) error: f32,
    /// The same where a point of the simplex or a polytope shows the gap.
    point_error: f32,
}

impl Thresholds {
    #[inline(always)]
    fn new(spheres: &Spheres) -> Self {
        let tolerance = (1e-5 * spheres.smaller).max(4e-6 * spheres.sum);
        let excess = spheres.excess;
        let touching = TOUCHING_SHARE as f32 * tolerance;
        let distance = spheres.squared.sqrt();
        Self {
            tolerance: tolerance - excess,
            least_touching: touching * (1.0 - 1e-5) - excess,
            most_touching: touching * (1.0 + 1e-5) + excess,
            error: gap_error(spheres.smaller, spheres.sum, distance) + excess,
            point_error: point_error(spheres.smaller, spheres.sum, distance),
        }
    }

    /// A lower bound of a gap above this shows a separation.
    #[inline(always)]
    pub(crate) fn separated(&self) -> f32 {
        self.most_touching + self.error
    }

    /// A lower bound of a depth above this shows a penetration.
    #[inline(always)]
    pub(crate) fn penetrating(&self) -> f32 {
        self.most_touching + self.point_error
    }

    /// A gap touches whose lower bound is at least minus this, and whose upper bound is at most [`Self::near`].
    #[inline(always)]
    pub(crate) fn touching(&self) -> f32 {
        self.least_touching - self.error
    }

    /// See [`Self::touching`].
    #[inline(always)]
    pub(crate) fn near(&self) -> f32 {
        self.least_touching - self.point_error
    }

    #[inline(always)]
    fn limits(&self) -> Limits<f32> {
        let touching = self.touching().max(0.0);
        Limits {
            separated: self.separated(),
            touching,
            // No point shows a touch where no direction can.
            near: if touching > 0.0 { self.near() } else { 0.0 },
            penetrating: self.penetrating(),
        }
    }
}

/// The lengths that measuring needs besides the [`Relative`] pose.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scales {
    /// The pair's unit in world units.
    pub(crate) unit: f32,
    /// Rounding radius of `a`, in the pair's unit.
    pub(crate) rounding_a: f32,
    /// Sum of the rounding radii, in the pair's unit.
    pub(crate) rounding: f32,
    /// Where the status changes.
    pub(crate) thresholds: Thresholds,
    /// World position of `a`'s centre.
    pub(crate) center: DVec3,
}

impl Scales {
    #[inline(always)]
    pub(crate) fn new(a: &Placed, b: &Placed, spheres: &Spheres) -> Self {
        Self {
            unit: spheres.unit,
            rounding_a: a.rounding * spheres.inverse,
            rounding: (a.rounding + b.rounding) * spheres.inverse,
            thresholds: Thresholds::new(spheres),
            center: a.center,
        }
    }
}

impl Difference for Relative<'_> {
    type Vector = Vec3;

    #[inline(always)]
    fn support(&self, direction: Vec3) -> Vec3 {
        self.corner(direction).point
    }
}

/// A pair whose support mapping is not inlined: EPA calls it from a dozen places, and is itself called for few pairs.
pub(crate) struct Outlined<'a>(pub(crate) &'a Relative<'a>);

impl Difference for Outlined<'_> {
    type Vector = Vec3;

    #[inline(always)]
    fn support(&self, direction: Vec3) -> Vec3 {
        outlined_corner(self.0, direction).point
    }
}

impl Witness for Outlined<'_> {
    #[inline(always)]
    fn corner(&self, direction: Vec3) -> Corner<Vec3> {
        outlined_corner(self.0, direction)
    }
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn outlined_corner(pair: &Relative<'_>, direction: Vec3) -> Corner<Vec3> {
    pair.corner(direction)
}

impl Witness for Relative<'_> {
    #[inline(always)]
    fn corner(&self, direction: Vec3) -> Corner<Vec3> {
        let on_a = self.stretch_a * self.supports.support(self.hulls[0], self.stretch_a * direction);
        let back = self.turn.transpose() * -direction;
        let b = self.stretch_b * self.supports.support(self.hulls[1], self.stretch_b * back);
        Corner { point: on_a - self.turn * b + self.offset, on_a }
    }
}

/// The same in f64 from the inputs as stored. The points are those of the cores; the bounding radii include the rounding radii.
#[derive(Debug, Clone)]
pub(crate) struct ExactRelative {
    a: Vec<DVec3>,
    b: Vec<DVec3>,
    /// Centre of `a` minus centre of `b`, world axes, in the pair's unit.
    pub(crate) offset: DVec3,
    /// Centre of `a` in the world.
    pub(crate) center: DVec3,
    /// Rounding radii of `a` and `b`, in the pair's unit.
    pub(crate) rounding: [f64; 2],
    /// Smaller bounding radius, in the pair's unit.
    pub(crate) smaller: f64,
    /// Sum of the bounding radii, in the pair's unit.
    pub(crate) sum: f64,
    /// The pair's unit, the larger bounding radius, in world units; 1 for two points.
    pub(crate) unit: f64,
}

/// A body in f64 from the inputs as stored: its vertices about their mean, with world axes.
pub(crate) struct ExactPlaced {
    pub(crate) points: Vec<DVec3>,
    /// World position of the mean: the sum of the body's position and an offset.
    pub(crate) center: [DVec3; 2],
    /// Bounding radius, rounding included.
    pub(crate) radius: f64,
    /// Rounding radius.
    pub(crate) rounding: f64,
}

/// A hull and its pose, in f64.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placement<'a> {
    pub(crate) hull: &'a Hull,
    /// World position of the hull's origin.
    pub(crate) position: DVec3,
    pub(crate) rotation: DMat3,
    pub(crate) scale: DVec3,
    padding: f64,
}

impl<'a> Placement<'a> {
    /// The placement of a checked body of this hull.
    #[inline]
    pub(crate) fn new(hull: &'a Hull, body: &Body) -> Self {
        Self::at(hull, body, DVec3::from(body.position.map(f64::from)))
    }

    /// The same at another position.
    #[inline]
    pub(crate) fn at(hull: &'a Hull, body: &Body, position: DVec3) -> Self {
        Self::posed(hull, body, position, rotation(body.rotation))
    }

    /// The same at another pose.
    #[inline]
    pub(crate) fn posed(hull: &'a Hull, body: &Body, position: DVec3, rotation: DMat3) -> Self {
        let scale = DVec3::from(body.scale.map(f64::from));
        Self { hull, position, rotation, scale, padding: f64::from(body.padding) }
    }

    /// The placement after `time` seconds of a motion.
    pub(crate) fn moved(self, motion: &Motion, time: f64) -> Self {
        self.moved_about(motion, DVec3::ZERO, time)
    }

    /// The same where the body turns about another point than its hull's origin; `arm` is from that point to the origin at the start.
    pub(crate) fn moved_about(self, motion: &Motion, arm: DVec3, time: f64) -> Self {
        let spin = DVec3::from(motion.angular_velocity.map(f64::from));
        let rate = spin.length();
        let turn = if rate > 0.0 { turn(spin / rate, rate * time) } else { DMat3::IDENTITY };
        let carried = self.position + DVec3::from(motion.velocity.map(f64::from)) * time;
        let position = if arm == DVec3::ZERO { carried } else { carried + (turn * arm - arm) };
        Self { position, rotation: turn * self.rotation, ..self }
    }
}

impl ExactPlaced {
    pub(crate) fn new(placement: &Placement<'_>) -> Self {
        let &Placement { hull, position, rotation, scale, padding } = placement;
        let mean = DVec3::from(hull.mean());
        let points: Vec<DVec3> = hull
            .vertices()
            .iter()
            .map(|v| rotation * (scale * (DVec3::from(v.map(f64::from)) - mean)))
            .collect();
        let rounding = f64::from(hull.rounding()) * scale.min_element() + padding;
        let radius = points.iter().map(|v| v.length()).fold(0.0, f64::max) + rounding;
        Self { points, center: [position, rotation * (scale * mean)], radius, rounding }
    }
}

impl ExactRelative {
    /// Places both hulls, about the means of their vertices and with world axes.
    #[cfg(test)]
    pub(crate) fn new(hulls: &[Hull], body_a: &Body, body_b: &Body) -> Self {
        let place = |body: &Body| Placement::new(&hulls[body.hull as usize], body);
        Self::of(&[place(body_a), place(body_b)])
    }

    /// The same for two placements.
    pub(crate) fn of([a, b]: &[Placement<'_>; 2]) -> Self {
        let (mut a, mut b) = (ExactPlaced::new(a), ExactPlaced::new(b));
        let larger = a.radius.max(b.radius);
        let unit = if larger > 0.0 { larger } else { 1.0 };
        let inverse = 1.0 / unit;
        for v in a.points.iter_mut().chain(b.points.iter_mut()) {
            *v *= inverse;
        }
        Self {
            offset: ((a.center[0] - b.center[0]) + (a.center[1] - b.center[1])) * inverse,
            center: a.center[0] + a.center[1],
            rounding: [a.rounding * inverse, b.rounding * inverse],
            smaller: a.radius.min(b.radius) * inverse,
            sum: (a.radius + b.radius) * inverse,
            unit,
            a: a.points,
            b: b.points,
        }
    }
}

/// A signed lower bound of the distance of two hulls: the gap along the line between their centres, less f64's rounding. Where the
/// bounding balls are apart, it is at least their distance.
pub(crate) fn gap_between_centres([a, b]: &[Placement<'_>; 2]) -> f64 {
    let (a, b) = (ExactPlaced::new(a), ExactPlaced::new(b));
    let offset = (b.center[0] - a.center[0]) + (b.center[1] - a.center[1]);
    let length = offset.length();
    let axis = if length > 0.0 { offset / length } else { DVec3::X };
    let gap = length
        - axis.dot(furthest(&a.points, axis))
        - (-axis).dot(furthest(&b.points, -axis))
        - a.rounding
        - b.rounding;
    gap - 1e-14 * (length + a.radius + b.radius)
}

impl Difference for ExactRelative {
    type Vector = DVec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        furthest(&self.a, direction) - furthest(&self.b, -direction) + self.offset
    }
}

impl Witness for ExactRelative {
    fn corner(&self, direction: DVec3) -> Corner<DVec3> {
        let on_a = furthest(&self.a, direction);
        Corner { point: on_a - furthest(&self.b, -direction) + self.offset, on_a }
    }
}

/// The point of `points` furthest along `direction`.
pub(crate) fn furthest(points: &[DVec3], direction: DVec3) -> DVec3 {
    let mut best = DVec3::ZERO;
    let mut most = f64::NEG_INFINITY;
    for &point in points {
        let along = point.dot(direction);
        if along > most {
            most = along;
            best = point;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::{Placed, Spheres};

    /// A ball of radius 1 whose centre is off by up to 0.25.
    fn ball(x: f64) -> Placed {
        Placed {
            center: DVec3::new(x, 0.0, 0.0),
            radius: 1.0,
            inner_radius: 1.0,
            excess: 0.25,
            ..Placed::default()
        }
    }

    #[test]
    fn spheres_leave_room_for_the_rounding_of_both_centers() {
        let at = |x: f64| Spheres::new(&ball(0.0), &ball(x));
        // The spheres touch at a distance of 2. Both centres together are off by up to 0.5.
        assert!(!at(2.49).are_apart());
        assert!(at(2.51).are_apart());
        assert!(!at(3.49).are_farther_than(1.0));
        assert!(at(3.51).are_farther_than(1.0));
        assert!(!at(1.51).are_deep());
        assert!(at(1.49).are_deep());
    }
}
