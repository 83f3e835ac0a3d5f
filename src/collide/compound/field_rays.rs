//! Rays and points against height fields, beside those against the parts of compounds.

use std::sync::Arc;

use glam::DVec3;

use crate::collide::compound::body::{CompoundBody, Placement};
use crate::collide::compound::columns::CompoundColumns;
use crate::collide::compound::compounds::Compounds;
use crate::collide::compound::field::{Field, TriangleVisit};
use crate::collide::compound::rows::PartRow;
use crate::collide::compound::shape::Shape;
use crate::collide::hull::plane_table::PlaneTable;
use crate::collide::narrow_phase::rows::{Batch, Stats};
use crate::collide::ray::cast::cast;
use crate::collide::ray::measure::{Measured, contains, measure};
use crate::collide::ray::rows::{Containment, NearestPoint, Occlusion, RayHit, Raycast};
use crate::collide::ray::search::point_hit;
use crate::collide::scene::budget::RowBudget;
use crate::collide::scene::frame::Frame;
use crate::collide::scene::ray::{Line, Ray};
use crate::collide::scene::ray_columns::RayColumns;
use crate::error::{Error, Location, Result};
use crate::parallel::{for_each_chunk, map_chunks};
use crate::pending::{Awaited, Pending};

/// Rays or points in one task.
const TASK: usize = 128;
/// More than the tolerance of a ray and a body, as a share of the bounding radius.
const REACH: f64 = 4e-6;

/// The height fields among the bodies of a query.
#[derive(Debug)]
pub(crate) struct Fields {
    shapes: Arc<[Arc<Shape>]>,
    bodies: Vec<FieldBody>,
    limit_bytes: u64,
}

/// A body that is a height field.
#[derive(Debug, Clone, Copy)]
struct FieldBody {
    id: u32,
    body: CompoundBody,
    placement: Placement,
}

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
    /// Those among checked bodies and the statics; `None` where there are none.
    ///
    /// # Errors
    /// [`Error::Invalid`] where there are worlds too.
    pub(crate) fn of(compounds: &Compounds, columns: CompoundColumns<'_>) -> Result<Option<Self>> {
        let bodies: Vec<FieldBody> = compounds
            .all_bodies(columns)
            .filter(|(_, body)| compounds.shape(body).field().is_some())
            .map(|(id, body)| FieldBody { id, body: *body, placement: body.placement() })
            .collect();
        if bodies.is_empty() {
            return Ok(None);
        }
        if !columns.worlds.is_empty() {
            let message = "rays and points take no worlds where a body is a height field: ask of the bodies of one world";
            return Err(Error::invalid(Location::Argument, message));
        }
        let limit_bytes = compounds.arena().engine().answer_limit();
        Ok(Some(Self { shapes: compounds.shapes(), bodies, limit_bytes }))
    }

    /// Calls `work` with each height field.
    fn for_each(&self, mut work: impl FnMut(&FieldBody, &Field)) {
        for body in &self.bodies {
            if let Some(field) = self.shapes[body.body.compound as usize].field() {
                work(body, field);
            }
        }
    }

    /// Adds the hits of a ray up to a distance: all, or one of them and all that are not farther.
    fn cast(
        &self,
        rays: &FieldRays,
        ray: u32,
        limit: f64,
        goal: Goal,
        hits: &mut Vec<PartRow<RayHit>>,
    ) -> u64 {
        let line = rays.line(ray);
        let (mut limit, mut count) = (limit, 0);
        self.for_each(|body, field| {
            if line.group & body.body.mask == 0 || body.body.group & line.mask == 0 {
                return;
            }
            let Placement { turn, position, scale, padding, .. } = body.placement;
            let back = turn.transpose() * (1.0 / scale);
            let (start, direction) = (back * (line.origin - position), back * line.direction);
            let padding = padding / scale;
            let grow = padding
                + REACH * (field.reach() + padding)
                + field.rounding()
                + 1e-14 * start.length()
                + body.placement.rounding() / scale;
            let at_start = rays.at_start;
            let mut casting =
                Casting { body, field, line: &line, ray, at_start, goal, limit, hits, count: 0 };
            field.visit_line(start, direction, grow, &mut casting);
            count += casting.count;
            limit = casting.limit;
        });
        count
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
                let count = self.cast(&rays, row.row.ray, limit, Goal::First, &mut hits);
                hits.extend(row.row.hit.map(|hit| PartRow { part: row.part, row: hit }));
                if let Some(first) = hits.into_iter().min_by(by_distance) {
                    (row.part, row.row.hit) = (first.part, Some(first.row));
                }
                count
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
                    return 0;
                }
                let most = f64::from(rays.rays[row.ray as usize].max_distance);
                let mut hits = Vec::new();
                let count = self.cast(&rays, row.ray, most, Goal::Any, &mut hits);
                row.occluded = !hits.is_empty();
                count
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
                let (mut most, mut nearest, mut count) = (best.map_or(max_distance, |best| best.0), None, 0);
                self.for_each(|body, field| {
                    let (local, grow) = local_point(body, field, point);
                    let mut measuring =
                        Measuring { body, field, point, most, is_fixed: false, found: Vec::new(), count: 0 };
                    field.visit_point(local, grow, &mut measuring);
                    count += measuring.count;
                    most = measuring.most;
                    for (part, measured) in measuring.found {
                        let this = (measured.distance, body.id, part);
                        if best.is_none_or(|best| this < best) {
                            (best, nearest) = (Some(this), Some((body.id, part, measured)));
                        }
                    }
                });
                if let Some((body, part, measured)) = nearest {
                    row.part = part;
                    row.row.hit = Some(point_hit(row.row.point, body, &measured));
                }
                count
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
                let mut count = 0;
                self.for_each(|body, field| {
                    let (local, grow) = local_point(body, field, point);
                    let Placement { scale, padding, .. } = body.placement;
                    let most = padding + REACH * (scale * field.reach() + padding);
                    let mut measuring =
                        Measuring { body, field, point, most, is_fixed: true, found: Vec::new(), count: 0 };
                    field.visit_point(local, grow, &mut measuring);
                    count += measuring.count;
                    all.extend(measuring.found.into_iter().map(|(part, found)| PartRow {
                        part,
                        row: Containment { point: id, body: body.id, distance: found.distance },
                    }));
                });
                count
            })?;
            rows.sort_by_key(|row| (row.row.point, row.row.body, row.part));
            Ok((count, rows.len()))
        })
    }

    /// Appends any number of rows for each of some rays or points, and returns the number of triangles examined.
    fn list<R: Send>(
        &self,
        rows: &mut Vec<R>,
        ids: &[u32],
        awaited: &Awaited,
        work: impl Fn(u32, &mut Vec<R>) -> u64 + Sync + Send,
    ) -> Result<u64> {
        let budget = RowBudget::new::<R>(self.limit_bytes).awaited_by(awaited);
        budget.add(rows.len());
        let parts = map_chunks(ids, TASK, |ids| {
            let (mut all, mut count) = (Vec::new(), 0);
            for &id in ids {
                let before = all.len();
                count += work(id, &mut all);
                if !budget.add(all.len() - before) {
                    break;
                }
            }
            (all, count)
        });
        budget.check()?;
        let mut count = 0;
        for (part, part_count) in parts {
            rows.extend(part);
            count += part_count;
        }
        Ok(count)
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
    let rounding = field.rounding() + 1e-14 * local.length() + body.placement.rounding() / scale;
    (local, padding / scale + rounding)
}

/// Changes the rows of an answer on the CPU's threads; `work` returns the number of triangles examined and that of hits.
fn with_rows<R: Send + 'static>(
    found: Pending<Batch<R>>,
    work: impl FnOnce(&mut Vec<R>, &Awaited) -> Result<(u64, usize)> + Send + 'static,
) -> Pending<Batch<R>> {
    found.chain(move |mut found| {
        Ok(Pending::spawn(move |awaited| {
            let (count, hit_count) = work(&mut found.rows, awaited)?;
            let candidate_count = found.stats.candidate_count + count;
            found.stats = Stats { candidate_count, hit_count: hit_count as u64, ..found.stats };
            Ok(found)
        }))
    })
}

/// Changes each row, and returns the number of triangles examined.
fn fill<R: Send>(
    rows: &mut [R],
    awaited: &Awaited,
    work: impl Fn(&mut R) -> u64 + Sync + Send,
) -> Result<u64> {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    let count = AtomicU64::new(0);
    for_each_chunk(rows, TASK, |(_, rows)| {
        if awaited.is_awaited() {
            count.fetch_add(rows.iter_mut().map(&work).sum(), Relaxed);
        }
    });
    awaited.check()?;
    Ok(count.into_inner())
}

/// A triangle of a checked body.
fn triangle(body: &FieldBody, field: &Field, part: u32) -> Option<Triangle> {
    let (hull, placed, position) = field.part(&body.body, &body.placement, part, 0).ok()?;
    Some(Triangle { table: PlaneTable::new(&hull), frame: Frame::at(&hull, &placed, DVec3::from(position)) })
}

/// Which hits of a ray are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goal {
    First,
    Any,
    All,
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
}

impl TriangleVisit for Casting<'_> {
    fn limit(&self) -> f64 {
        // A grazing ray hits before it comes nearest.
        self.limit / self.line.length
    }

    fn triangle(&mut self, part: u32) {
        self.count += 1;
        let Some(Triangle { table, frame }) = triangle(self.body, self.field, part) else { return };
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
}

impl TriangleVisit for Measuring<'_> {
    fn limit(&self) -> f64 {
        self.most / self.body.placement.scale
    }

    fn triangle(&mut self, part: u32) {
        self.count += 1;
        let Some(Triangle { table, frame }) = triangle(self.body, self.field, part) else { return };
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
