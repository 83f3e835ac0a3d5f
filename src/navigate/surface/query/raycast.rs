//! Straightest geodesics: rays over a surface, and moves that slide along walls.
//!
//! Each triangle has a frame in its own plane, along the side by which the ray enters. From triangle to triangle only the position along the
//! edge and the angle to it are carried on, so nothing accumulates except the rounding of that angle.

use glam::{DVec2, DVec3};

use crate::error::{Error, Location, Result, shown, shown_point};
use crate::navigate::surface::mesh::check::check;
use crate::navigate::surface::mesh::topology::Mesh;
use crate::navigate::surface::query::path::PathPlace;
use crate::navigate::surface::query::place::{Place, ResolvedPlace};
use crate::navigate::surface::query::surface::Surface;

/// Where a ray over a surface ends.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct RayHit {
    /// The end of the ray, in the surface's frame.
    pub point: [f64; 3],
    /// The triangle on which the end lies.
    pub triangle: u32,
    /// The unit direction of the ray at its end, in the triangle's plane.
    pub direction: [f64; 3],
    /// The length of the ray over the surface, in the surface's units.
    pub distance: f64,
    /// The edge of the wall that the ray meets, with no walkable triangle across it. `None` where the ray reached `max_distance`.
    pub wall: Option<u32>,
}

/// How many walls a move may slide along.
const MAX_SLIDES: u32 = 32;

/// How many edges a ray may cross.
const MAX_CROSSINGS: usize = 1 << 24;

/// In radians, and relative to an edge's length: what is less is rounding. A ray at such an angle to a wall runs along it.
const GRAZING: f64 = 1e-12;

/// The frame of a triangle in its plane, along one of its sides.
struct TriangleFrame {
    side: u32,
    origin: DVec3,
    /// Unit vectors: along the side, and from it into the triangle.
    along: DVec3,
    inward: DVec3,
    /// The two ends of the side, and the opposite corner.
    corners: [DVec2; 3],
}

impl TriangleFrame {
    fn new(mesh: &Mesh, side: u32) -> Self {
        let [origin, end] = mesh.ends(side).map(|vertex| mesh.points[vertex as usize]);
        let far = mesh.points[mesh.opposite(side) as usize] - origin;
        let width = origin.distance(end);
        let along = (end - origin).try_normalize().unwrap_or_else(|| far.normalize_or(DVec3::X));
        let (x, y) = (far.dot(along), far.cross(along).length());
        let inward = mesh.normal(side / 3).cross(along);
        let inward = inward.try_normalize().unwrap_or_else(|| along.any_orthonormal_vector());
        Self { side, origin, along, inward, corners: [DVec2::ZERO, DVec2::new(width, 0.0), DVec2::new(x, y)] }
    }

    /// The side that begins at a corner.
    fn side_of_corner(&self, place: usize) -> u32 {
        self.side / 3 * 3 + (self.side % 3 + place as u32) % 3
    }

    fn to_plane(&self, point: DVec3) -> DVec2 {
        let offset = point - self.origin;
        DVec2::new(offset.dot(self.along), offset.dot(self.inward))
    }

    fn to_space(&self, heading: DVec2) -> DVec3 {
        self.along * heading.x + self.inward * heading.y
    }
}

/// The state of a ray: a point of a triangle, and a unit direction in its plane.
#[derive(Debug, Clone, Copy)]
struct TangentRay {
    triangle: u32,
    position: DVec3,
    direction: DVec3,
}

/// Where a ray ended.
struct RayEnd {
    at: TangentRay,
    length: f64,
    /// The side of the wall that it met.
    wall: Option<u32>,
}

/// What a direction leads to at an end of a wall.
enum WallEnd {
    /// Past the wall's end, into a triangle.
    Open(TangentRay),
    /// Into another wall, by this angle beyond it.
    Wall(u32, f64),
}

impl Surface {
    /// Casts a ray over the surface from `start`, straight on in a direction, until it meets a wall or reaches `max_distance`. At an edge the
    /// next triangle is unfolded into the plane of the last, and the ray goes on straight. Walls are edges without a walkable triangle
    /// across them; the ray may run along them. `None` where the start is further from every walkable triangle than
    /// [`max_snap`](crate::navigate::surface::Options::max_snap).
    ///
    /// The start is first moved to the nearest walkable point, and the direction is projected into the plane of a triangle there. At an edge
    /// or vertex that is a triangle into which it leads; of several, the one in which its projection is longest. A ray through a vertex goes on as a ray
    /// just beside it would. Where three triangles or more share an edge, it goes on in the one in which it turns least.
    ///
    /// Source: Polthier and Schmies 1998, "Straightest Geodesics on Polyhedral Surfaces", §4, away from vertices.
    ///
    /// Cost: O(1) for each edge that the ray crosses.
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Options, Surface};
    ///
    /// // A floor, and a wall at right angles to it.
    /// let points = vec![
    ///     [0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 4.0, 0.0], [0.0, 4.0, 0.0],
    ///     [4.0, 0.0, 4.0], [4.0, 4.0, 4.0],
    /// ];
    /// let surface = Surface::new(&[Model::polygons(points, [[0, 1, 2, 3], [1, 4, 5, 2]])], Options::default())?;
    /// let hit = surface.raycast([1.0, 2.0, 0.0], [1.0, 0.0, 0.0], 5.0)?.expect("the start is on the surface");
    /// assert!((hit.point[2] - 2.0).abs() < 1e-12 && hit.wall.is_none()); // three to the wall, two up
    /// assert!((hit.direction[2] - 1.0).abs() < 1e-12);
    /// let hit = surface.raycast([1.0, 2.0, 0.0], [1.0, 0.0, 0.0], 9.0)?.expect("the start is on the surface");
    /// assert!((hit.distance - 7.0).abs() < 1e-12); // the upper end of the wall
    /// assert!(hit.wall.is_some());
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for a coordinate that is not finite or larger than 1e150, a direction without a part along the surface, a
    /// `max_distance` that is negative or not finite, and a ray that crosses more than 2²⁴ edges.
    pub fn raycast(
        &self,
        start: impl Into<Place>,
        direction: [f64; 3],
        max_distance: f64,
    ) -> Result<Option<RayHit>> {
        self.raycast_inner(start.into(), direction, max_distance)
    }

    fn raycast_inner(&self, start: Place, direction: [f64; 3], max_distance: f64) -> Result<Option<RayHit>> {
        let start = self.resolve_within_snap("start", start)?;
        check(Location::Argument, "direction", direction)?;
        let refuse =
            |field, value, allowed: &str| Err(Error::value(Location::Argument, field, value, allowed));
        if !(max_distance >= 0.0 && max_distance.is_finite()) {
            return refuse("max_distance", shown(max_distance), "it must be 0 or more and finite");
        }
        let Some(start) = start else { return Ok(None) };
        let Some((begin, _)) = self.project_direction(&start, direction.into()) else {
            return refuse("direction", shown_point(&direction), "it must have a part along the surface");
        };
        let end = self.trace(begin, max_distance)?;
        Ok(Some(RayHit {
            point: end.at.position.to_array(),
            triangle: end.at.triangle,
            direction: end.at.direction.to_array(),
            distance: end.length,
            wall: end.wall.map(|side| self.mesh.edge_of[side as usize]),
        }))
    }

    /// Moves an agent by `displacement`; it slides along the walls that it meets. The displacement is projected into the surface at the
    /// start, and carried along as [`raycast`](Self::raycast) carries its direction. `None` where the start is further from every walkable
    /// triangle than [`max_snap`](crate::navigate::surface::Options::max_snap).
    ///
    /// At a wall, only the part of the remaining displacement along the wall counts. At the wall's end, all of what remains counts again.
    /// Where two walls meet ahead of the agent, it follows one of them. The agent never leaves the walkable triangles, and moves no further
    /// than `displacement` is long. The tangent is that of the last piece of its path, or zero if it did not move.
    ///
    /// Cost: O(1) for each edge that the agent crosses.
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Options, Surface};
    ///
    /// let points = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 4.0, 0.0], [0.0, 4.0, 0.0]];
    /// let surface = Surface::new(&[Model::polygons(points, [[0, 1, 2, 3]])], Options::default())?;
    /// let place = surface.move_along([1.0, 1.0, 0.0], [2.0, -2.0, 0.0])?.expect("the start is on the surface");
    /// assert_eq!((place.position, place.tangent), ([3.0, 0.0, 0.0], [1.0, 0.0, 0.0]));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for a coordinate that is not finite or larger than 1e150, and for a path that crosses more than 2²⁴ edges.
    pub fn move_along(&self, start: impl Into<Place>, displacement: [f64; 3]) -> Result<Option<PathPlace>> {
        self.move_along_inner(start.into(), displacement)
    }

    fn move_along_inner(&self, start: Place, displacement: [f64; 3]) -> Result<Option<PathPlace>> {
        let start = self.resolve_within_snap("start", start)?;
        check(Location::Argument, "displacement", displacement)?;
        let Some(start) = start else { return Ok(None) };
        let (triangle, position) = (start.point.triangle, start.position());
        let place = |at: TangentRay| PathPlace {
            position: at.position.to_array(),
            tangent: at.direction.to_array(),
            normal: self.mesh.normal(at.triangle).to_array(),
            triangle: at.triangle,
            link: None,
        };
        let Some((mut at, mut desired)) = self.project_direction(&start, displacement.into()) else {
            return Ok(Some(place(TangentRay { triangle, position, direction: DVec3::ZERO })));
        };
        // The length that the agent may still move. The desired displacement is a vector, and may become shorter than that.
        let mut remaining = desired;
        let mut last = DVec3::ZERO;
        // The wall that it has met.
        let mut wall = None;
        for _ in 0..MAX_SLIDES {
            let Some(side) = wall.take() else {
                let end = self.trace(at, desired.min(remaining))?;
                if end.length > 0.0 {
                    last = end.at.direction;
                }
                (at, desired, remaining) = (end.at, desired - end.length, remaining - end.length);
                wall = end.wall;
                if wall.is_none() || !(desired > 0.0 && remaining > 0.0) {
                    break;
                }
                continue;
            };
            let frame = TriangleFrame::new(&self.mesh, side);
            let heading = DVec2::new(at.direction.dot(frame.along), at.direction.dot(frame.inward)) * desired;
            let [from, to] = [0.0, frame.corners[1].x];
            let here = frame.to_plane(at.position).x.clamp(from, to);
            let (target, place) = if heading.x > 0.0 { (to, 1) } else { (from, 0) };
            let room = (target - here).abs();
            let step = heading.x.abs().min(room).min(remaining);
            if step > 0.0 {
                last = frame.along * heading.x.signum();
            }
            if step < room || heading.x.abs() <= GRAZING * desired {
                at.position += frame.along * (step * heading.x.signum());
                break;
            }
            // At the wall's end: what remains of the part along the wall, and the part into the wall.
            at.position = self.mesh.points[self.mesh.ends(side)[place] as usize];
            remaining -= step;
            let left = DVec2::new(heading.x - heading.x.signum() * step, heading.y);
            desired = left.length();
            if !(desired > 0.0 && remaining > 0.0) {
                break;
            }
            match self.past_wall_end(side, place, left) {
                WallEnd::Open(ray) => at = ray,
                WallEnd::Wall(other, beyond) => {
                    // The direction in the frame of the triangle at that wall.
                    let frame = TriangleFrame::new(&self.mesh, other);
                    let away =
                        if self.mesh.ends(other)[0] == self.mesh.ends(side)[place] { 1.0 } else { -1.0 };
                    if !(beyond < 0.5 * std::f64::consts::PI) {
                        at.triangle = other / 3;
                        break;
                    }
                    let heading = DVec2::new(away * beyond.cos(), -beyond.sin());
                    at = TangentRay {
                        triangle: other / 3,
                        position: at.position,
                        direction: frame.to_space(heading),
                    };
                    wall = Some(other);
                }
            }
        }
        at.direction = last;
        Ok(Some(place(at)))
    }

    /// Resolves a place; `None` where it is further away than `max_snap`.
    pub(crate) fn resolve_within_snap(
        &self,
        field: &'static str,
        place: Place,
    ) -> Result<Option<ResolvedPlace>> {
        Ok(self.resolve(field, place)?.filter(|end| end.point.distance <= self.max_snap))
    }

    /// The walkable triangles on which a query begins or ends, including its own.
    pub(crate) fn end_triangles(&self, end: &ResolvedPlace) -> Vec<u32> {
        let mut triangles = Vec::new();
        self.end_triangles_into(end, &mut triangles);
        triangles
    }

    /// Projects a direction into the plane of one of the triangles at a point. Returns the ray, and the length of the projection; `None` where
    /// it has no part along any of them.
    fn project_direction(&self, start: &ResolvedPlace, heading: DVec3) -> Option<(TangentRay, f64)> {
        let (triangles, position) = (self.end_triangles(start), start.position());
        let whole = heading.length();
        let mut best: Option<(bool, f64, TangentRay)> = None;
        for triangle in triangles {
            let frame = TriangleFrame::new(&self.mesh, 3 * triangle);
            let flattened = DVec2::new(heading.dot(frame.along), heading.dot(frame.inward));
            let length = flattened.length();
            // The projection of a direction along the normal is rounding.
            if !(length > GRAZING * whole) {
                continue;
            }
            let direction = flattened / length;
            let (_, _, run) = exit_side(&frame, frame.to_plane(position), direction, false);
            let leads_in = run > 1e-12 * frame.corners[1].x;
            let is_better = |(other_in, other, _): (bool, f64, TangentRay)| {
                if leads_in == other_in { length > other * (1.0 + GRAZING) } else { leads_in }
            };
            if best.is_none_or(is_better) {
                let ray = TangentRay { triangle, position, direction: frame.to_space(direction) };
                best = Some((leads_in, length, ray));
            }
        }
        best.map(|(_, length, ray)| (ray, length))
    }

    /// Traces a ray, at most as far as `length`.
    fn trace(&self, begin: TangentRay, length: f64) -> Result<RayEnd> {
        let mesh = &*self.mesh;
        let is_walkable = |side: &u32| self.walkable[*side as usize / 3];
        let mut travelled = 0.0;
        let mut frame = TriangleFrame::new(mesh, 3 * begin.triangle);
        let mut at = frame.to_plane(begin.position);
        let direction_in = |frame: &TriangleFrame, direction: DVec3| {
            DVec2::new(direction.dot(frame.along), direction.dot(frame.inward)).normalize_or(DVec2::X)
        };
        let mut heading = direction_in(&frame, begin.direction);
        let mut has_entered = false;
        // Crossings without progress: around a vertex of degenerate triangles a ray could turn for ever.
        let mut idle_count = 0;
        for _ in 0..MAX_CROSSINGS {
            let (exit, fraction, run) = exit_side(&frame, at, heading, has_entered);
            let remaining = length - travelled;
            if run >= remaining {
                let position = frame.origin + frame.to_space(at + heading * remaining);
                let position = if remaining == 0.0 && travelled == 0.0 { begin.position } else { position };
                let at =
                    TangentRay { triangle: frame.side / 3, position, direction: frame.to_space(heading) };
                return Ok(RayEnd { at, length, wall: None });
            }
            idle_count = if run > 0.0 { 0 } else { idle_count + 1 };
            let side = frame.side_of_corner(exit);
            let [from, to] = [frame.corners[exit], frame.corners[(exit + 1) % 3]];
            let width = from.distance(to);
            let edge = ((to - from) / width).normalize_or(DVec2::X);
            // The direction along the edge, and out across it.
            let out =
                DVec2::new(heading.dot(edge), (-heading.dot(edge.perp())).max(0.0)).normalize_or(DVec2::Y);
            let here = frame.to_space(heading);
            let turned = |entry: u32| {
                let next = TriangleFrame::new(mesh, entry);
                let along = if mesh.is_opposed(side, entry) { -out.x } else { out.x };
                (next, DVec2::new(along, out.y))
            };
            let mut best: Option<(f64, TriangleFrame, DVec2)> = None;
            for entry in mesh.twins(side).filter(is_walkable) {
                let (next, heading) = turned(entry);
                let straight = next.to_space(heading).dot(here);
                if best.as_ref().is_none_or(|best| straight > best.0) {
                    best = Some((straight, next, heading));
                }
            }
            if let Some((_, next, onwards)) = best.filter(|_| idle_count <= 3 * mesh.triangle_count()) {
                let place = if mesh.is_opposed(side, next.side) { 1.0 - fraction } else { fraction };
                at = DVec2::new(place * next.corners[1].x, 0.0);
                (frame, heading, has_entered) = (next, onwards, true);
                travelled += run;
                continue;
            }
            // A wall. A ray along it goes on to the wall's end. From an end it may lead on past the wall.
            let ends = mesh.ends(side).map(|vertex| mesh.points[vertex as usize]);
            let mut fraction = fraction;
            let mut run = run;
            if out.y <= GRAZING {
                fraction = if out.x > 0.0 { 1.0 } else { 0.0 };
                run = (from + (to - from) * fraction - at).dot(heading).max(0.0);
                if run >= remaining {
                    let fraction = (at + heading * remaining - from).dot(edge) / width;
                    let position = ends[0] + (ends[1] - ends[0]) * fraction.clamp(0.0, 1.0);
                    let at = TangentRay { triangle: side / 3, position, direction: here };
                    return Ok(RayEnd { at, length, wall: None });
                }
            }
            travelled += run;
            let position = ends[0] + (ends[1] - ends[0]) * fraction;
            let at_end = if fraction <= GRAZING {
                Some(0)
            } else if fraction >= 1.0 - GRAZING {
                Some(1)
            } else {
                None
            };
            let past_wall_end =
                at_end.map(|place| self.past_wall_end(side, place, DVec2::new(out.x, -out.y)));
            match past_wall_end {
                Some(WallEnd::Open(ray)) if idle_count <= 3 * mesh.triangle_count() => {
                    frame = TriangleFrame::new(mesh, 3 * ray.triangle);
                    at = frame.to_plane(ray.position);
                    heading = direction_in(&frame, ray.direction);
                    has_entered = false;
                    idle_count += 1;
                    continue;
                }
                _ => {}
            }
            let position = match at_end {
                Some(0) => ends[0],
                Some(_) => ends[1],
                None => position,
            };
            let at = TangentRay { triangle: side / 3, position, direction: here };
            return Ok(RayEnd { at, length: travelled, wall: Some(side) });
        }
        let expected = "the ray must not cross more than 2^24 edges";
        Err(Error::value(Location::Argument, "max_distance", shown(length), expected))
    }

    /// What a direction leads to at an end of a wall. It goes from triangle to triangle around that vertex. The direction is given along the
    /// wall and into the wall's triangle.
    fn past_wall_end(&self, wall: u32, place: usize, heading: DVec2) -> WallEnd {
        let mesh = &*self.mesh;
        let vertex = mesh.ends(wall)[place];
        let position = mesh.points[vertex as usize];
        let back = if place == 0 { heading.x } else { -heading.x };
        // The angle of the direction from the wall, through the triangles.
        let mut angle = heading.y.atan2(back);
        if angle <= 0.0 {
            angle += std::f64::consts::TAU;
        }
        let mut side = wall;
        for _ in 0..=mesh.triangle_count() {
            // The triangle's corner at the vertex, and its other side there.
            let triangle = side / 3;
            let own = mesh.triangles[triangle as usize].iter().position(|&v| v == vertex).unwrap_or(0);
            let corner = 3 * triangle + own as u32;
            let other = if corner == side { 3 * triangle + (own as u32 + 2) % 3 } else { corner };
            let here = mesh.angle(corner);
            let next = mesh.twins(other).find(|next| self.walkable[*next as usize / 3]);
            let tolerance = if next.is_none() { GRAZING } else { 0.0 };
            if angle <= here + tolerance {
                let frame = TriangleFrame::new(mesh, side);
                let away = if mesh.ends(side)[0] == vertex { 1.0 } else { -1.0 };
                let angle = angle.min(here);
                let direction = frame.to_space(DVec2::new(away * angle.cos(), angle.sin()));
                return WallEnd::Open(TangentRay { triangle, position, direction });
            }
            angle -= here;
            match next {
                Some(next) => side = next,
                None => return WallEnd::Wall(other, angle),
            }
        }
        WallEnd::Wall(wall, std::f64::consts::PI)
    }
}

/// Where a ray leaves a triangle: the side, by the corner at which it begins; where on that side, from 0 to 1; and the length of the ray in
/// the triangle. A ray that entered by the first side does not leave by it.
fn exit_side(frame: &TriangleFrame, at: DVec2, heading: DVec2, has_entered: bool) -> (usize, f64, f64) {
    let heights = frame.corners.map(|place| heading.perp_dot(place - at));
    let exit = if has_entered {
        if heights[2] > 0.0 { 1 } else { 2 }
    } else {
        // Counter-clockwise, the exit side leads from the ray's right to its left. A ray that misses the triangle by rounding touches it in
        // the nearest corner.
        let crossed = (0..3).find(|&k| heights[k] <= 0.0 && heights[(k + 1) % 3] > 0.0);
        crossed.unwrap_or_else(|| {
            let near = |a: &usize, b: &usize| heights[*a].abs().total_cmp(&heights[*b].abs());
            let corner = (0..3).min_by(near).unwrap_or(0);
            if heights[corner] > 0.0 { corner } else { (corner + 2) % 3 }
        })
    };
    let [from, to] = [frame.corners[exit], frame.corners[(exit + 1) % 3]];
    let (right, left) = (heights[exit], heights[(exit + 1) % 3]);
    let fraction = right / (right - left);
    // A ray along the side leaves by the end ahead.
    let fraction =
        if fraction.is_nan() { f64::from(heading.dot(to - from) > 0.0) } else { fraction.clamp(0.0, 1.0) };
    let run = (from + (to - from) * fraction - at).dot(heading).max(0.0);
    (exit, fraction, run)
}
