//! Rays and points against height fields, beside those against the parts of compounds.

use glam::DVec3;

use crate::collide::bvh::near_first::{FarBoxPoint, FarSlabRay};
use crate::collide::compound::body::Placement;
use crate::collide::compound::field::{Field, TriangleVisit};
use crate::collide::compound::field_rows::{Goal, fill, kept, with_rows};
use crate::collide::compound::field_set::{FieldBody, Fields};
use crate::collide::compound::rows::PartRow;
use crate::collide::hull::plane_table::PlaneTable;
use crate::collide::narrow_phase::rows::Batch;
use crate::collide::ray::cast::cast;
use crate::collide::ray::measure::{Measured, contains, measure};
use crate::collide::ray::rows::{Containment, NearestPoint, Occlusion, RayHit, Raycast};
use crate::collide::ray::search::point_hit;
use crate::collide::scene::frame::Frame;
use crate::collide::scene::ray::{Line, Ray};
use crate::collide::scene::ray_columns::RayColumns;
use crate::error::{Error, Result};
use crate::pending::Pending;

/// More than the tolerance of a ray and a body, as a share of the bounding radius.
const REACH: f64 = 4e-6;

/// A triangle as rays and points read it.
struct Triangle {
    table: PlaneTable,
    frame: Frame,
}

/// Rays of a query.
#[derive(Debug)]
pub(crate) struct FieldRays {
    rays: Vec<Ray>,
    origins: Vec<[f64; 3]>,
    at_start: bool,
}

impl FieldRays {
    pub(crate) fn new(columns: &RayColumns<'_>, at_start: bool) -> Self {
        Self { rays: columns.rays.to_vec(), origins: columns.origins.to_vec(), at_start }
    }

    fn line(&self, ray: u32) -> Line {
        let at = ray as usize;
        match self.origins.get(at) {
            None => Line::new(&self.rays[at]),
            Some(&origin) => Line::from(&self.rays[at], DVec3::from(origin)),
        }
    }
}

impl Fields {
    /// Adds the hits of a ray up to a distance: all, or one of them and all that are not farther.
    fn cast(
        &self,
        rays: &FieldRays,
        ray: u32,
        limit: f64,
        goal: Goal,
        hits: &mut Vec<PartRow<RayHit>>,
    ) -> Result<u64> {
        let line = rays.line(ray);
        let (mut count, mut failure) = (0, None);
        let from = (line.origin - self.origin).to_array();
        let probe = FarSlabRay::new(from, line.direction.to_array(), line.length);
        self.walk(&probe, ray, limit, &mut |body, field, limit| {
            let is_over = failure.is_some() || goal == Goal::Any && !hits.is_empty();
            if is_over || line.group & body.body.mask == 0 || body.body.group & line.mask == 0 {
                return limit;
            }
            let Placement { turn, position, scale, padding, .. } = body.placement;
            let back = turn.transpose() * (1.0 / scale);
            let (start, direction) = (back * (line.origin - position), back * line.direction);
            let (padding, rounding) = (padding / scale, body.placement.rounding() / scale);
            let grow = padding
                + REACH * (field.reach() + padding)
                + field.rounding()
                + rounding
                + 1e-14 * start.length();
            let at_start = rays.at_start;
            let mut casting = Casting {
                body,
                field,
                line: &line,
                ray,
                at_start,
                goal,
                limit,
                hits,
                count: 0,
                failure: None,
            };
            field.visit_line(start, direction, grow, &mut casting);
            count += casting.count;
            failure = casting.failure;
            casting.limit
        });
        failure.map_or(Ok(count), Err)
    }

    /// Adds the first hits of rays to those of others.
    pub(crate) fn raycasts(
        self,
        rays: FieldRays,
        found: Pending<Batch<PartRow<Raycast>>>,
    ) -> Pending<Batch<PartRow<Raycast>>> {
        with_rows(found, move |rows, awaited| {
            let counts = fill(rows, awaited, |row| {
                let most = f64::from(rays.rays[row.row.ray as usize].max_distance);
                let limit = row.row.hit.map_or(most, |hit| hit.distance);
                let mut hits = Vec::new();
                let count = self.cast(&rays, row.row.ray, limit, Goal::First, &mut hits)?;
                hits.extend(row.row.hit.map(|hit| PartRow { part: row.part, row: hit }));
                if let Some(first) = hits.into_iter().min_by(by_distance) {
                    (row.part, row.row.hit) = (first.part, Some(first.row));
                }
                Ok(count)
            })?;
            Ok((counts, rows.iter().filter(|row| row.row.hit.is_some()).count()))
        })
    }

    /// The same for whether rays hit anything.
    pub(crate) fn occlusions(
        self,
        rays: FieldRays,
        found: Pending<Batch<Occlusion>>,
    ) -> Pending<Batch<Occlusion>> {
        with_rows(found, move |rows, awaited| {
            let counts = fill(rows, awaited, |row| {
                if row.occluded {
                    return Ok(0);
                }
                let most = f64::from(rays.rays[row.ray as usize].max_distance);
                let mut hits = Vec::new();
                let count = self.cast(&rays, row.ray, most, Goal::Any, &mut hits)?;
                row.occluded = !hits.is_empty();
                Ok(count)
            })?;
            Ok((counts, rows.iter().filter(|row| row.occluded).count()))
        })
    }

    /// The same for all hits of rays.
    pub(crate) fn raycasts_all(
        self,
        rays: FieldRays,
        found: Pending<Batch<PartRow<RayHit>>>,
    ) -> Pending<Batch<PartRow<RayHit>>> {
        with_rows(found, move |rows, awaited| {
            let ids: Vec<u32> = (0..).zip(&rays.rays).map(|(ray, _)| ray).collect();
            let count = self.list(rows, &ids, awaited, |ray, hits| {
                let most = f64::from(rays.rays[ray as usize].max_distance);
                self.cast(&rays, ray, most, Goal::All, hits)
            })?;
            rows.sort_by(|a, b| a.row.ray.cmp(&b.row.ray).then_with(|| by_distance(a, b)));
            Ok((count, rows.len()))
        })
    }

    /// The same for the nearest parts of points.
    pub(crate) fn nearest_points(
        self,
        points: Vec<[f64; 3]>,
        max_distance: f64,
        found: Pending<Batch<PartRow<NearestPoint>>>,
    ) -> Pending<Batch<PartRow<NearestPoint>>> {
        with_rows(found, move |rows, awaited| {
            let counts = fill(rows, awaited, |row| {
                let point = DVec3::from(points[row.row.point as usize]);
                let mut best = row.row.hit.map(|hit| (hit.distance, hit.body, row.part));
                let (mut nearest, mut count, mut failure) = (None, 0, None);
                let most = best.map_or(max_distance, |best| best.0);
                let probe = FarBoxPoint::new((point - self.origin).to_array());
                self.walk(&probe, row.row.point, most, &mut |body, field, most| {
                    if failure.is_some() {
                        return most;
                    }
                    let (local, grow) = local_point(body, field, point);
                    let mut measuring = Measuring::new(body, field, point, most, false);
                    field.visit_point(local, grow, &mut measuring);
                    count += measuring.count;
                    failure = measuring.failure;
                    for (part, measured) in measuring.found {
                        let this = (measured.distance, body.id, part);
                        if best.is_none_or(|best| this < best) {
                            (best, nearest) = (Some(this), Some((body.id, part, measured)));
                        }
                    }
                    measuring.most
                });
                if let Some(error) = failure {
                    return Err(error);
                }
                if let Some((body, part, measured)) = nearest {
                    row.part = part;
                    row.row.hit = Some(point_hit(row.row.point, body, &measured));
                }
                Ok(count)
            })?;
            Ok((counts, rows.iter().filter(|row| row.row.hit.is_some()).count()))
        })
    }

    /// The same for the parts that contain points.
    pub(crate) fn containments(
        self,
        points: Vec<[f64; 3]>,
        found: Pending<Batch<PartRow<Containment>>>,
    ) -> Pending<Batch<PartRow<Containment>>> {
        with_rows(found, move |rows, awaited| {
            let ids: Vec<u32> = (0..).zip(&points).map(|(point, _)| point).collect();
            let count = self.list(rows, &ids, awaited, |id, all| {
                let point = DVec3::from(points[id as usize]);
                let (mut count, mut failure) = (0, None);
                let probe = FarBoxPoint::new((point - self.origin).to_array());
                self.walk(&probe, id, 0.0, &mut |body, field, limit| {
                    if failure.is_some() {
                        return limit;
                    }
                    let (local, grow) = local_point(body, field, point);
                    let Placement { scale, padding, .. } = body.placement;
                    let most = padding + REACH * (scale * field.reach() + padding);
                    let mut measuring = Measuring::new(body, field, point, most, true);
                    field.visit_point(local, grow, &mut measuring);
                    count += measuring.count;
                    failure = measuring.failure;
                    all.extend(measuring.found.into_iter().map(|(part, found)| PartRow {
                        part,
                        row: Containment { point: id, body: body.id, part: 0, distance: found.distance },
                    }));
                    limit
                });
                failure.map_or(Ok(count), Err)
            })?;
            rows.sort_by_key(|row| (row.row.point, row.row.body, row.part));
            Ok((count, rows.len()))
        })
    }
}

/// Nearer first, then the lower body and part.
fn by_distance(a: &PartRow<RayHit>, b: &PartRow<RayHit>) -> std::cmp::Ordering {
    let ids = |row: &PartRow<RayHit>| (row.row.body, row.part);
    a.row.distance.total_cmp(&b.row.distance).then(ids(a).cmp(&ids(b)))
}

/// A point in the frame of a height field, and how much farther than its distance triangles may seem.
fn local_point(body: &FieldBody, field: &Field, point: DVec3) -> (DVec3, f64) {
    let Placement { turn, position, scale, padding, .. } = body.placement;
    let local = turn.transpose() * ((point - position) / scale);
    let rounding = field.rounding() + body.placement.rounding() / scale;
    (local, padding / scale + rounding + 1e-14 * local.length())
}

/// A triangle of a checked body.
///
/// # Errors
/// Those of [`Field::part`]. No height field that [`HeightField::new`](crate::collide::HeightField::new) accepts has one; a search that met one
/// must not seem to have missed the triangle.
fn triangle(body: &FieldBody, field: &Field, part: u32) -> Result<Triangle> {
    let (hull, placed, position) = field.part(&body.body, &body.placement, part, 0)?;
    Ok(Triangle { table: PlaneTable::new(&hull), frame: Frame::at(&hull, &placed, DVec3::from(position)) })
}

/// Casts a ray against triangles.
struct Casting<'a> {
    body: &'a FieldBody,
    field: &'a Field,
    line: &'a Line,
    ray: u32,
    at_start: bool,
    goal: Goal,
    /// Distance beyond which nothing is looked for.
    limit: f64,
    hits: &'a mut Vec<PartRow<RayHit>>,
    count: u64,
    failure: Option<Error>,
}

impl TriangleVisit for Casting<'_> {
    fn limit(&self) -> f64 {
        // A grazing ray hits before it comes nearest.
        self.limit / self.line.length
    }

    fn triangle(&mut self, part: u32) {
        if self.failure.is_some() {
            return;
        }
        self.count += 1;
        let made = triangle(self.body, self.field, part);
        let Some(Triangle { table, frame }) = kept(made, &mut self.failure) else { return };
        let Some(found) = cast(&table, &frame, self.line) else { return };
        if found.distance > self.limit || found.is_start() && !self.at_start {
            return;
        }
        match self.goal {
            Goal::First => self.limit = found.distance,
            Goal::Any => self.limit = -1.0,
            Goal::All => (),
        }
        let row = found.row(&table, &frame, self.line, [self.ray, self.body.id]);
        self.hits.push(PartRow { part, row });
    }
}

/// Measures a point against triangles.
struct Measuring<'a> {
    body: &'a FieldBody,
    field: &'a Field,
    point: DVec3,
    /// Distance beyond which nothing is looked for.
    most: f64,
    /// Whether that stays, and triangles must contain the point.
    is_fixed: bool,
    found: Vec<(u32, Measured)>,
    count: u64,
    failure: Option<Error>,
}

impl<'a> Measuring<'a> {
    fn new(body: &'a FieldBody, field: &'a Field, point: DVec3, most: f64, is_fixed: bool) -> Self {
        Self { body, field, point, most, is_fixed, found: Vec::new(), count: 0, failure: None }
    }
}

impl TriangleVisit for Measuring<'_> {
    fn limit(&self) -> f64 {
        self.most / self.body.placement.scale
    }

    fn triangle(&mut self, part: u32) {
        if self.failure.is_some() {
            return;
        }
        self.count += 1;
        let made = triangle(self.body, self.field, part);
        let Some(Triangle { table, frame }) = kept(made, &mut self.failure) else { return };
        let limit = if self.is_fixed { f64::INFINITY } else { self.most };
        let Some(found) = measure(&table, &frame, self.point, limit) else { return };
        if self.is_fixed {
            if contains(&frame, found.distance) {
                self.found.push((part, found));
            }
            return;
        }
        self.most = found.distance;
        self.found.push((part, found));
    }
}
