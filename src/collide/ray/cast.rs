//! A ray against one body, in f64: the one function that says whether a ray hits a body, and where.
//!
//! # What a hit is
//! Let ε be ¾ of the tolerance τ of a point and the body, 3e-6 of the body's bounding radius. A ray hits a body where it comes within ε of it.
//! The distance is where the ray enters the body, or, where it only comes within ε, where it does that. A ray whose start is within ε of the
//! body, or inside, hits it at 0. So flat hulls are hit, rays along faces are, and a ray at the edge of two boxes that touch hits one of
//! them. A half-space has no radius, and no ε.
//!
//! # How
//! The start is moved along the ray to the point nearest to the body's centre. The step has 29 bits and a component of the direction 24, so
//! the products are exact, and the rounding errors are those of a ray that starts next to the body, however far off it does. Directions are
//! never made unit vectors, as that rounds them.
//!
//! - Solids and polygons: the line is clipped against the planes (Cyrus and Beck 1978), once moved out and, where that leaves
//!   something of it, once as they are. Where only that leaves nothing, the ray advances to within ε.
//! - Balls and capsules: quadratic equations.
//! - Rounded polygons and solids: the line is clipped against the planes moved out by the rounding radius. From there the ray advances.
//!
//! To advance, GJK finds the nearest point of the core. The plane there separates the ray from it up to where it meets the plane moved
//! out, which is the next step (van den Bergen 2004). The distance is a convex function along the ray, so no step goes too far, and they
//! converge as Newton's do.
//!
//! On a GPU `shaders/collide/ray/cast.wgsl` bounds these distances in f32.

use glam::DVec3;

use crate::collide::gjk::distance::{Corner, Goal, Nearest, StopReason, Witness, distance};
use crate::collide::gjk::tolerance::touching_limit;
use crate::collide::gjk::verdict::Difference;
use crate::collide::hull::plane_table::PlaneTable;
use crate::collide::ray::clip::{clip, clip_rounded, entered_plane, highest_plane, planes_at};
use crate::collide::ray::rows::RayHit;
use crate::collide::scene::frame::{Core, Frame};
use crate::collide::scene::ray::Line;

/// The distance is known where its bounds differ by less than this share of the bounding radius.
const SLACK: f64 = 1e-12;
/// A surface is reached within this share of the bounding radius.
const REACHED: f64 = 1e-11;
/// Most steps along a ray. Where it grazes a ball, a step halves what is left of the way: some twenty are enough.
const STEP_LIMIT: usize = 100;
/// A ray whose direction is within this sine of a capsule's axis is not cut with its cylinder.
const PARALLEL: f64 = 1e-4;

/// Where a ray hits a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    /// In world units.
    pub(crate) distance: f64,
    surface: Surface,
}

/// What is hit.
#[derive(Debug, Clone, Copy)]
enum Surface {
    /// The ray starts there.
    Start,
    /// The plane by which the line enters, at this place of the [`Local`] line.
    Plane { local: Local, enter: f64 },
    /// A half-space.
    HalfSpace,
    /// The point of the ray, in the hull's axes about the mean, and the normal of the body there.
    Round { point: DVec3, normal: DVec3 },
}

impl Found {
    fn start() -> Self {
        Self { distance: 0.0, surface: Surface::Start }
    }

    /// Whether the ray starts in the body.
    pub(crate) fn is_start(&self) -> bool {
        matches!(self.surface, Surface::Start)
    }

    /// The row.
    pub(crate) fn row(&self, table: &PlaneTable, frame: &Frame, line: &Line, ids: [u32; 2]) -> RayHit {
        let (normal, face) = match self.surface {
            Surface::Start => (DVec3::ZERO, None),
            Surface::HalfSpace => (frame.world_vector(DVec3::Y), None),
            Surface::Plane { local, enter } => {
                let (start, direction) = (local.start * frame.inverse, local.direction * frame.inverse);
                match entered_plane(&table.blocks, start, direction, enter) {
                    Some(plane) => {
                        let normal = (table.normal(plane) * frame.inverse).normalize_or_zero();
                        let face = plane as u32;
                        (frame.world_vector(normal), (face < table.face_count).then_some(face))
                    }
                    None => (DVec3::ZERO, None),
                }
            }
            Surface::Round { point, normal } => {
                (frame.world_vector(normal), flat_face(table, frame, point, normal))
            }
        };
        let point = if self.is_start() { line.origin } else { line.at(self.distance) };
        RayHit {
            ray: ids[0],
            body: ids[1],
            part: 0,
            distance: self.distance,
            point: point.to_array(),
            normal: (normal != DVec3::ZERO).then(|| normal.to_array()),
            face,
        }
    }
}

/// The face that a point beside the core is above, where the nearest point of the core is inside of that face.
fn flat_face(table: &PlaneTable, frame: &Frame, point: DVec3, normal: DVec3) -> Option<u32> {
    if frame.core != Core::Planes || table.blocks.is_empty() {
        return None;
    }
    let (_, plane) = highest_plane(&table.blocks, point * frame.inverse, frame.inverse);
    let up = (table.normal(plane) * frame.inverse).normalize_or_zero();
    (up.dot(normal) >= 1.0 - 1e-12 && (plane as u32) < table.face_count).then_some(plane as u32)
}

/// A line in the hull's axes and world units, about the mean of the vertices. Place 0 is the point nearest to the mean.
#[derive(Debug, Clone, Copy)]
struct Local {
    start: DVec3,
    direction: DVec3,
}

impl Local {
    fn at(&self, place: f64) -> DVec3 {
        self.start + self.direction * place
    }
}

/// How near a ray must come to a body to hit it.
#[inline(always)]
pub(crate) fn reach(frame: &Frame) -> f64 {
    touching_limit(0.0, frame.radius)
}

/// Where a ray hits a body, if it does. Groups are the caller's. It is not inlined: walks of trees call it from a dozen places, and it is
/// 8 kB of code.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn cast(table: &PlaneTable, frame: &Frame, line: &Line) -> Option<Found> {
    if frame.core == Core::HalfSpace {
        return cast_half_space(frame, line);
    }
    let far = frame.about_mean(line.origin, DVec3::ZERO);
    let first = truncated(-far.dot(line.direction) * line.inverse_squared);
    let near = frame.about_mean(line.origin, line.direction * first);
    // What the truncation left.
    let second = -near.dot(line.direction) * line.inverse_squared;
    let near = near + line.direction * second;
    let most = frame.radius * (1.0 + 1e-5);
    if near.dot(near) > most * most {
        return None;
    }
    let shift = first + second;
    let local = Local { start: frame.back * near, direction: frame.back * line.direction };
    let cast = Cast { table, frame, local, begin: -shift, end: line.end - shift };
    match frame.core {
        Core::Planes if frame.rounding == 0.0 => cast.sharp(line, shift),
        Core::Planes => cast.rounded(line, shift),
        _ => cast.round(line, shift),
    }
}

/// A number without its last 24 bits: 29 are left.
#[inline(always)]
fn truncated(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !0xff_ffff)
}

fn cast_half_space(frame: &Frame, line: &Line) -> Option<Found> {
    let height = (frame.back * frame.about_position(line.origin)).y - frame.rounding;
    if height <= 0.0 {
        return Some(Found::start());
    }
    let slope = (frame.back * line.direction).y;
    let at = height / -slope;
    let found = Found { distance: at * line.length, surface: Surface::HalfSpace };
    (slope < 0.0 && at <= line.end).then_some(found)
}

/// A ray near a body.
struct Cast<'a> {
    table: &'a PlaneTable,
    frame: &'a Frame,
    local: Local,
    /// The places where the ray begins and ends.
    begin: f64,
    end: f64,
}

impl Cast<'_> {
    /// A hull with planes and without rounding.
    #[inline(always)]
    fn sharp(&self, line: &Line, shift: f64) -> Option<Found> {
        let &Self { table, frame, local, begin, end } = self;
        // Wider than ε along every normal.
        let wide = 1.01 * reach(frame) * frame.inverse.max_element();
        let (start, direction) = (local.start * frame.inverse, local.direction * frame.inverse);
        let widened = clip(&table.blocks, start, direction, wide, [begin, end]);
        if widened.enter > widened.exit {
            return None;
        }
        let sharp = clip(&table.blocks, start, direction, 0.0, [f64::NEG_INFINITY, f64::INFINITY]);
        // The ray starts outside of the planes moved out, or that span would begin with it.
        if widened.enter > begin && sharp.meets(begin, end) {
            let surface = Surface::Plane { local, enter: sharp.enter };
            return Some(Found { distance: (shift + sharp.enter) * line.length, surface });
        }
        self.sharp_and_close(line, shift, [sharp.enter, sharp.exit, widened.enter, widened.exit])
    }

    /// A hull without rounding that the ray starts in or next to, or that it misses by about ε.
    #[cold]
    fn sharp_and_close(&self, line: &Line, shift: f64, spans: [f64; 4]) -> Option<Found> {
        let &Self { frame, local, begin, end, .. } = self;
        let [enter, exit, wide_enter, wide_exit] = spans;
        let reach = reach(frame);
        let is_inside = enter <= begin && begin <= exit;
        let is_close = wide_enter <= begin && begin <= wide_exit;
        if is_inside || is_close && self.nearest(local.at(begin)).0 <= reach {
            return Some(Found::start());
        }
        let (from, to) = (enter.max(begin), exit.min(end));
        if from <= to {
            let surface = Surface::Plane { local, enter };
            return Some(Found { distance: (shift + enter) * line.length, surface });
        }
        // A line through an edge, or along a face, may miss the body by a rounding.
        let (from, to) = (wide_enter.max(begin), wide_exit.min(end));
        let on_surface = self.advance(from, to, 0.0).map(|(at, _)| {
            let point = local.at(at);
            (at, Surface::Round { point, normal: self.facing_normal(point) })
        });
        let (at, surface) = on_surface.or_else(|| self.advance(from, to, reach))?;
        Some(Found { distance: ((shift + at) * line.length).max(0.0), surface })
    }

    /// Of the planes that a point of the surface is on, the normal of the one that faces the ray most, the first of such.
    fn facing_normal(&self, point: DVec3) -> DVec3 {
        let &Self { table, frame, local, .. } = self;
        let (highest, _) = highest_plane(&table.blocks, point * frame.inverse, frame.inverse);
        let mut best = (f64::INFINITY, DVec3::ZERO);
        for (height, normal) in planes_at(&table.blocks, point * frame.inverse, frame.inverse) {
            let slope = normal.dot(local.direction);
            if height >= highest - 10.0 * REACHED * frame.radius && slope < best.0 {
                best = (slope, normal);
            }
        }
        best.1
    }

    /// A rounded hull with planes.
    fn rounded(&self, line: &Line, shift: f64) -> Option<Found> {
        let &Self { table, frame, local, begin, end } = self;
        let most = frame.rounding + reach(frame);
        let (start, direction) = (local.start * frame.inverse, local.direction * frame.inverse);
        let span = clip_rounded(&table.blocks, start, direction, 1.000_001 * most, frame.inverse);
        if !span.meets(begin, end) {
            return None;
        }
        if span.holds(begin) && self.nearest(local.at(begin)).0 <= most {
            return Some(Found::start());
        }
        let (from, to) = (span.enter.max(begin), span.exit.min(end));
        let (at, surface) =
            self.advance(from, to, frame.rounding).or_else(|| self.advance(from, to, most))?;
        Some(Found { distance: ((shift + at) * line.length).max(0.0), surface })
    }

    /// A point or a segment.
    fn round(&self, line: &Line, shift: f64) -> Option<Found> {
        let &Self { frame, local, begin, end, .. } = self;
        let most = frame.rounding + reach(frame);
        let start = local.at(begin);
        if (start - self.nearest_of_segment(start)).length() <= most {
            return Some(Found::start());
        }
        for radius in [frame.rounding, most] {
            let entry = if frame.core == Core::Segment {
                self.enter_capsule(radius)
            } else {
                enter_ball(&local, DVec3::ZERO, radius)
            };
            if let Some(at) = entry.filter(|&at| begin <= at && at <= end) {
                let point = local.at(at);
                // On the core itself a difference is rounding.
                let off = if radius > 0.0 { point - self.nearest_of_segment(point) } else { DVec3::ZERO };
                let normal = off.try_normalize().unwrap_or_else(|| self.across_core());
                let surface = Surface::Round { point, normal };
                return Some(Found { distance: (shift + at) * line.length, surface });
            }
        }
        None
    }

    /// A unit vector against the line and across a segment: the normal where the line meets a segment or a point itself.
    fn across_core(&self) -> DVec3 {
        let [a, b] = self.ends();
        let back = -self.local.direction.normalize_or(DVec3::X);
        match (b - a).try_normalize() {
            Some(axis) if self.frame.core == Core::Segment => {
                let across = back - axis * back.dot(axis);
                // Along the segment only rounding is left.
                if across.length() > 1e-9 { across.normalize() } else { back }
            }
            _ => back,
        }
    }

    /// The ends of a segment.
    fn ends(&self) -> [DVec3; 2] {
        let vertex = |at: usize| self.table.vertices.get(at).map_or(DVec3::ZERO, |&v| v * self.frame.scale);
        [vertex(0), vertex(1)]
    }

    /// The point of a segment, or of a point, that is nearest to a point.
    fn nearest_of_segment(&self, point: DVec3) -> DVec3 {
        if self.frame.core != Core::Segment {
            return DVec3::ZERO;
        }
        nearest_of_segment(self.ends(), point)
    }

    /// The place where the line enters a capsule.
    fn enter_capsule(&self, radius: f64) -> Option<f64> {
        let ends = self.ends();
        let Local { start, direction } = self.local;
        let span = ends[1] - ends[0];
        let length = span.length();
        let axis = span / length;
        let across = direction - axis * direction.dot(axis);
        let squared = across.dot(across);
        if squared < PARALLEL * PARALLEL * direction.dot(direction) {
            return self.advance(self.begin, self.end, radius).map(|(at, _)| at);
        }
        let from = start - ends[0];
        let off = from - axis * from.dot(axis);
        let middle = -off.dot(across) / squared;
        let least = (off + across * middle).length();
        if least > radius {
            return None;
        }
        let at = middle - ((radius - least) * (radius + least) / squared).sqrt();
        let along = from.dot(axis) + at * direction.dot(axis);
        if along < 0.0 {
            enter_ball(&self.local, ends[0], radius)
        } else if along > length {
            enter_ball(&self.local, ends[1], radius)
        } else {
            Some(at)
        }
    }

    /// The least distance of a point from the core, the normal there, from the core to the point.
    fn nearest(&self, point: DVec3) -> (f64, DVec3) {
        let (length, normal, _) = nearest_of_core(self.table, self.frame, point);
        (length, normal)
    }

    /// The first place from `from` to `to` where the line comes within `radius` of the core, which it must not be at `from`.
    fn advance(&self, from: f64, to: f64, radius: f64) -> Option<(f64, Surface)> {
        let &Self { frame, local, .. } = self;
        let reached = REACHED * frame.radius;
        // Whoever starts infinitely far off would never arrive.
        let reach = 2.0 * frame.radius / local.direction.length();
        let mut at = from.max(-reach);
        for _ in 0..STEP_LIMIT {
            let point = local.at(at);
            let (length, normal) = self.nearest(point);
            let gap = length - radius;
            if gap <= reached {
                return Some((at, Surface::Round { point, normal }));
            }
            let slope = normal.dot(local.direction);
            if !(slope < 0.0) {
                return None;
            }
            let next = at + gap / -slope;
            if !(next <= to) {
                // The last step may end beyond by rounding alone.
                return None;
            }
            at = next;
        }
        None
    }
}

/// The place where a line enters a ball.
#[inline(always)]
fn enter_ball(local: &Local, center: DVec3, radius: f64) -> Option<f64> {
    let Local { start, direction } = *local;
    let from = start - center;
    let squared = direction.dot(direction);
    let middle = -from.dot(direction) / squared;
    let least = (from + direction * middle).length();
    (least <= radius).then(|| middle - ((radius - least) * (radius + least) / squared).sqrt())
}

/// The point of a segment that is nearest to a point.
pub(crate) fn nearest_of_segment([a, b]: [DVec3; 2], point: DVec3) -> DVec3 {
    let span = b - a;
    let along = (point - a).dot(span) / span.dot(span);
    if along > 0.0 { if along < 1.0 { a + span * along } else { b } } else { a }
}

/// A hull's core about a point.
#[derive(Clone, Copy)]
struct FromPoint<'a> {
    vertices: &'a [DVec3],
    scale: DVec3,
    point: DVec3,
}

impl Difference for FromPoint<'_> {
    type Vector = DVec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        self.corner(direction).point
    }
}

impl Witness for FromPoint<'_> {
    fn corner(&self, direction: DVec3) -> Corner<DVec3> {
        let direction = self.scale * direction;
        let (mut best, mut most) = (DVec3::ZERO, f64::NEG_INFINITY);
        for &vertex in self.vertices {
            let along = vertex.dot(direction);
            if along > most {
                (best, most) = (vertex, along);
            }
        }
        let on_a = self.scale * best;
        Corner { point: on_a - self.point, on_a }
    }
}

/// The distance of a point from the core of a body, the unit normal from the core to the point, and the core's nearest point; in the hull's
/// axes and world units, about the mean. The distance is 0 where the point is inside.
pub(crate) fn nearest_of_core(table: &PlaneTable, frame: &Frame, point: DVec3) -> (f64, DVec3, DVec3) {
    let slack = SLACK * frame.radius;
    let core = FromPoint { vertices: &table.vertices, scale: frame.scale, point };
    let found = search(&core, slack);
    if found.stop == StopReason::Inside {
        return (0.0, DVec3::ZERO, point);
    }
    let mut nearest = found.simplex.witness().on_a;
    if found.upper <= 2.0 * frame.radius {
        return (found.upper, -found.axis, nearest);
    }
    // From far off, features are hardly at different distances. They are seen better from nearer by, on the same line.
    let mut length = (point - nearest).length();
    for _ in 0..4 {
        let nearer = nearest + (point - nearest) * (frame.radius / length);
        let found = search(&FromPoint { point: nearer, ..core }, slack);
        if found.stop == StopReason::Inside {
            break;
        }
        let corners = found.simplex.corners.map(|corner| corner.on_a);
        let feature =
            FromPoint { vertices: &corners[..found.simplex.len.clamp(1, 4)], scale: DVec3::ONE, point };
        let on_feature = search(&feature, slack).simplex.witness().on_a;
        let shorter = (point - on_feature).length();
        if !(shorter < length) {
            break;
        }
        (length, nearest) = (shorter, on_feature);
    }
    (length, (point - nearest) / length, nearest)
}

fn search(core: &FromPoint<'_>, slack: f64) -> Nearest<DVec3> {
    let goal = Goal { iteration_limit: 256, ..Goal::converge(slack, 1e-15) };
    distance(core, -core.point, &goal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::hull::Hull;
    use crate::collide::scene::body::Body;
    use crate::collide::scene::ray::Ray;

    fn hit(hull: &Hull, body: Body, ray: Ray) -> Option<RayHit> {
        let (table, frame, line) = (PlaneTable::new(hull), Frame::new(hull, &body), Line::new(&ray));
        cast(&table, &frame, &line).map(|found| found.row(&table, &frame, &line, [0, 0]))
    }

    /// A ray that starts 1e11 radii away is decided as one that starts next to the body.
    #[test]
    fn distance_costs_no_digits() {
        let hull = Hull::cuboid([1.0; 3]).unwrap();
        let size = 1e-5_f32;
        for (off, is_hit) in [(0.999_999, true), (1.000_001, true), (1.000_02, false)] {
            let body = Body::new(0).scaled(size);
            // In the plane z = off · size.
            let mut ray = Ray::new([-1e6, -0.5e6, off * size], [1.0, 0.5, 0.0]);
            assert_eq!(hit(&hull, body, ray).is_some(), is_hit, "{off}");
            ray.origin[0] = -1e5;
            ray.origin[1] = -0.5e5;
            assert_eq!(hit(&hull, body, ray).is_some(), is_hit, "{off}");
        }
    }

    /// The advance agrees with the closed forms where both can be used.
    #[test]
    fn the_advance_finds_what_equations_find() {
        let capsule = Hull::capsule([0.0, -1.0, 0.0], [0.3, 1.0, 0.2], 0.25).unwrap();
        let (table, body) = (PlaneTable::new(&capsule), Body::new(0));
        let frame = Frame::new(&capsule, &body);
        let mut hit_count = 0;
        for i in 0..1000 {
            let angle = f64::from(i) * 0.37;
            let height = (f64::from(i) * 0.0031).sin() * 1.6;
            let start = DVec3::new(3.0 * angle.cos(), height, 3.0 * angle.sin());
            let aim = DVec3::new(0.2 * (angle * 3.1).cos(), height * 0.8, 0.3 * (angle * 1.7).sin());
            let local = Local { start, direction: aim - start };
            let cast = Cast { table: &table, frame: &frame, local, begin: 0.0, end: 10.0 };
            let (equation, advance) = (cast.enter_capsule(0.25), cast.advance(0.0, 10.0, 0.25));
            match (equation, advance) {
                (Some(a), Some((b, _))) => {
                    assert!((a - b).abs() < 1e-7, "{i}: {a} {b}");
                    hit_count += 1;
                }
                (None, None) => {}
                other => panic!("{i}: {other:?}"),
            }
        }
        assert!((200..950).contains(&hit_count), "{hit_count}");
    }
}
