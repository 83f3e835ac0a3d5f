//! Rays and points against a scene: a walk of the trees from near to far.
//!
//! What is found is a function of the bodies, the ray or the point alone: boxes are skipped only where their lower bound is clear of the best
//! distance so far, and among equal distances the least body id wins. So neither the order of the walk nor the number of threads matters.

use glam::DVec3;

use crate::collide::bvh::near_first::{BodyVisit, BoxPoint, FarBoxPoint, FarSlabRay, Probe, SlabRay};
use crate::collide::bvh::static_tree::StaticBoxes;
use crate::collide::bvh::tree::Tree;
use crate::collide::hull::plane_table::PlaneTable;
use crate::collide::ray::cast::{Found, cast};
use crate::collide::ray::measure::{Measured, contains, measure};
use crate::collide::ray::rows::{Containment, NearestPoint, Occlusion, PointHit, RayHit, Raycast};
use crate::collide::scene::frame::Frame;
use crate::collide::scene::query_input::Scene;
use crate::collide::scene::ray::{Line, Ray};
use crate::collide::scene::world_ranges::{WorldRanges, ids_of_world};

/// The bodies of a query.
pub(crate) struct Targets<'a> {
    pub(crate) scene: &'a Scene,
    pub(crate) movers: &'a [Frame],
    pub(crate) statics: &'a [Frame],
    /// Over the boxes of the movers.
    pub(crate) tree: &'a Tree,
    pub(crate) static_boxes: &'a StaticBoxes,
    /// Ids of the half-spaces, statics included, ascending.
    pub(crate) planes: &'a [u32],
    /// Whether bodies that a ray starts in are hit.
    pub(crate) at_start: bool,
    /// What the boxes are relative to, where positions of bodies, rays or points are in f64.
    pub(crate) origin: Option<DVec3>,
    /// Where rays start in f64; empty where they do not.
    pub(crate) ray_origins: &'a [[f64; 3]],
    /// The movers that each ray or point sees.
    pub(crate) worlds: &'a WorldRanges,
    /// The caller's row of each mover, where worlds put them into another order; else empty.
    pub(crate) order: &'a [u32],
}

impl Targets<'_> {
    #[inline(always)]
    fn frame(&self, body: u32) -> &Frame {
        let body = body as usize;
        if body < self.movers.len() { &self.movers[body] } else { &self.statics[body - self.movers.len()] }
    }

    #[inline(always)]
    fn table(&self, frame: &Frame) -> &PlaneTable {
        self.scene.planes.of(&self.scene.hulls, frame.hull)
    }

    /// Visits the half-spaces, movers and statics that the ray with this number may meet.
    #[inline(always)]
    fn walk_ray(&self, ray: &Ray, id: u32, line: &Line, visitor: &mut (impl BodyVisit + FromBody)) {
        self.visit_planes(id, visitor);
        if let Some(origin) = self.origin {
            let start = (line.origin - origin).to_array();
            return self.walk(&FarSlabRay::new(start, line.direction.to_array(), line.length), id, visitor);
        }
        let slabs = SlabRay::new(ray.origin, line.direction.to_array(), line.length);
        self.walk(&slabs, id, visitor);
    }

    #[inline(always)]
    fn walk_point(&self, point: DVec3, id: u32, visitor: &mut (impl BodyVisit + FromBody)) {
        self.visit_planes(id, visitor);
        match self.origin {
            Some(origin) => self.walk(&FarBoxPoint::new((point - origin).to_array()), id, visitor),
            // The point is one of three f32.
            None => self.walk(&BoxPoint(point.as_vec3().to_array()), id, visitor),
        }
    }

    #[inline(always)]
    fn visit_planes(&self, id: u32, visitor: &mut impl BodyVisit) {
        match self.worlds.get(id) {
            Some(world) => {
                ids_of_world(self.planes, &world, self.movers.len()).for_each(|body| visitor.body(body));
            }
            None => self.planes.iter().for_each(|&body| visitor.body(body)),
        }
    }

    /// Visits movers and statics.
    #[inline(always)]
    fn walk(&self, probe: &impl Probe, id: u32, visitor: &mut (impl BodyVisit + FromBody)) {
        let world = self.worlds.get(id).map(|world| world.start as usize..world.end as usize);
        // One call, as the walk is inlined.
        for (first, tree, places) in
            [(0, self.tree, world), (self.movers.len() as u32, &self.static_boxes.tree, None)]
        {
            visitor.count_from(first);
            tree.near_first(probe, places, visitor);
        }
    }

    /// The caller's row of a body.
    fn row_of(&self, body: u32) -> u32 {
        self.order.get(body as usize).copied().unwrap_or(body)
    }

    /// Whether the caller's row of one body is lower than that of another.
    #[inline(always)]
    fn is_before(&self, body: u32, other: u32) -> bool {
        if self.order.is_empty() { body < other } else { self.row_of(body) < self.row_of(other) }
    }

    /// The line of a ray with this number.
    #[inline(always)]
    fn line(&self, ray: &Ray, id: u32) -> Line {
        match self.ray_origins.get(id as usize) {
            None => Line::new(ray),
            Some(&origin) => Line::from(ray, DVec3::from(origin)),
        }
    }

    /// The hit of one body, where groups and masks accept it.
    #[inline(always)]
    fn cast(&self, line: &Line, body: u32) -> Option<Found> {
        let frame = self.frame(body);
        if line.group & frame.mask == 0 || frame.group & line.mask == 0 {
            return None;
        }
        let found = cast(self.table(frame), frame, line)?;
        (self.at_start || !found.is_start()).then_some(found)
    }

    fn row(&self, line: &Line, ray: u32, body: u32, found: &Found) -> RayHit {
        let frame = self.frame(body);
        found.row(self.table(frame), frame, line, [ray, self.row_of(body)])
    }
}

/// A visitor whose ids count from another body: a tree of statics counts from 0.
trait FromBody {
    fn count_from(&mut self, body: u32);
}

/// An f32 not below a distance, and not below 0.
fn at_least(distance: f64) -> f32 {
    if distance >= f64::from(f32::MAX) { f32::INFINITY } else { (distance as f32).next_up().max(0.0) }
}

/// Finds the first hit.
struct First<'a> {
    targets: &'a Targets<'a>,
    line: &'a Line,
    from: u32,
    limit: f32,
    best: Option<(u32, Found)>,
    cast_count: u64,
}

impl FromBody for First<'_> {
    fn count_from(&mut self, body: u32) {
        self.from = body;
    }
}

impl BodyVisit for First<'_> {
    #[inline(always)]
    fn limit(&self) -> f32 {
        self.limit
    }

    #[inline(always)]
    fn body(&mut self, body: u32) {
        let body = self.from + body;
        self.cast_count += 1;
        let Some(found) = self.targets.cast(self.line, body) else { return };
        let is_first = match &self.best {
            None => true,
            Some((other, best)) => {
                found.distance < best.distance
                    || found.distance == best.distance && self.targets.is_before(body, *other)
            }
        };
        if is_first {
            self.limit = at_least(found.distance);
            self.best = Some((body, found));
        }
    }
}

/// Finds all hits, or whether there is one.
struct Every<'a> {
    targets: &'a Targets<'a>,
    line: &'a Line,
    from: u32,
    limit: f32,
    only_one: bool,
    hits: &'a mut Vec<(u32, Found)>,
    cast_count: u64,
}

impl FromBody for Every<'_> {
    fn count_from(&mut self, body: u32) {
        self.from = body;
    }
}

impl BodyVisit for Every<'_> {
    #[inline(always)]
    fn limit(&self) -> f32 {
        self.limit
    }

    #[inline(always)]
    fn body(&mut self, body: u32) {
        if self.only_one && !self.hits.is_empty() {
            return;
        }
        self.cast_count += 1;
        if let Some(found) = self.targets.cast(self.line, self.from + body) {
            self.hits.push((self.from + body, found));
            if self.only_one {
                // Below every box.
                self.limit = -1.0;
            }
        }
    }
}

/// What a kernel knows of a ray, in place of the row of its first hit: that nothing is hit, half-spaces apart.
pub(crate) const NONE: u32 = u32::MAX;
/// Only f64 can tell.
pub(crate) const OPEN: u32 = u32::MAX - 1;
/// Something is hit, where no more is asked.
pub(crate) const HIT: u32 = u32::MAX - 2;

/// The codes of rays that begin with a task's first: an empty list leaves all rays open.
#[inline(always)]
fn code_of(codes: &[u32], id: u32) -> u32 {
    codes.get(id as usize).copied().unwrap_or(OPEN)
}

/// The first hits of rays that are numbered from `first` on, and how many bodies were cast against. Where there are codes, of all rays, they name
/// the bodies that are hit first.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn first_hits(
    targets: &Targets<'_>,
    codes: &[u32],
    rays: &[Ray],
    first: u32,
    rows: &mut [Raycast],
) -> u64 {
    let mut cast_count = 0;
    for ((id, ray), row) in (first..).zip(rays).zip(rows) {
        let line = targets.line(ray, id);
        let limit = at_least(line.max_distance);
        let mut search = First { targets, line: &line, from: 0, limit, best: None, cast_count: 0 };
        let code = code_of(codes, id);
        if code < HIT {
            search.body(code);
        }
        if code == OPEN || code < HIT && search.best.is_none() {
            targets.walk_ray(ray, id, &line, &mut search);
        } else {
            targets.visit_planes(id, &mut search);
        }
        cast_count += search.cast_count;
        let hit = search.best.map(|(body, found)| targets.row(&line, id, body, &found));
        *row = Raycast { ray: id, hit };
    }
    cast_count
}

/// Whether rays hit anything.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn occlusions(
    targets: &Targets<'_>,
    codes: &[u32],
    rays: &[Ray],
    first: u32,
    rows: &mut [Occlusion],
) -> u64 {
    let mut cast_count = 0;
    let mut hits = Vec::new();
    for ((id, ray), row) in (first..).zip(rays).zip(rows) {
        let code = code_of(codes, id);
        if code == HIT {
            *row = Occlusion { ray: id, occluded: true };
            continue;
        }
        let line = targets.line(ray, id);
        let limit = at_least(line.max_distance);
        hits.clear();
        let mut search =
            Every { targets, line: &line, from: 0, limit, only_one: true, hits: &mut hits, cast_count: 0 };
        if code == NONE {
            targets.visit_planes(id, &mut search);
        } else {
            targets.walk_ray(ray, id, &line, &mut search);
        }
        cast_count += search.cast_count;
        *row = Occlusion { ray: id, occluded: !hits.is_empty() };
    }
    cast_count
}

/// Adds all hits of a ray, sorted by distance and body.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn all_hits(targets: &Targets<'_>, ray: &Ray, id: u32, rows: &mut Vec<RayHit>) -> u64 {
    let line = targets.line(ray, id);
    let limit = at_least(line.max_distance);
    let mut hits = Vec::new();
    let mut search =
        Every { targets, line: &line, from: 0, limit, only_one: false, hits: &mut hits, cast_count: 0 };
    targets.walk_ray(ray, id, &line, &mut search);
    let cast_count = search.cast_count;
    sort_hits(targets, &mut hits);
    rows.extend(hits.iter().map(|(body, found)| targets.row(&line, id, *body, found)));
    cast_count
}

/// Sorts by distance and body. Apart from the walk, which has versions by instruction set.
#[inline(never)]
fn sort_hits(targets: &Targets<'_>, hits: &mut [(u32, Found)]) {
    let row = |body: &u32| targets.row_of(*body);
    hits.sort_unstable_by(|(a, one), (b, other)| {
        one.distance.total_cmp(&other.distance).then_with(|| row(a).cmp(&row(b)))
    });
}

/// Finds the nearest body of a point, or all bodies that contain it.
struct Near<'a> {
    targets: &'a Targets<'a>,
    point: DVec3,
    from: u32,
    /// Bodies that are farther are skipped.
    most: f64,
    best: Option<(u32, Measured)>,
    /// Where all bodies that contain the point are asked for.
    all: Option<&'a mut Vec<(u32, Measured)>>,
    measure_count: u64,
}

impl FromBody for Near<'_> {
    fn count_from(&mut self, body: u32) {
        self.from = body;
    }
}

impl BodyVisit for Near<'_> {
    #[inline(always)]
    fn limit(&self) -> f32 {
        at_least(self.most)
    }

    #[inline(always)]
    fn body(&mut self, body: u32) {
        let body = self.from + body;
        self.measure_count += 1;
        let frame = self.targets.frame(body);
        // Boxes hold more than the tolerance, and only those around the point are visited where all bodies are asked for.
        let limit = if self.all.is_some() { f64::INFINITY } else { self.most };
        let Some(found) = measure(self.targets.table(frame), frame, self.point, limit) else { return };
        if let Some(all) = &mut self.all {
            if contains(frame, found.distance) {
                all.push((body, found));
            }
            return;
        }
        let is_nearer = match &self.best {
            None => true,
            Some((other, best)) => {
                found.distance < best.distance
                    || found.distance == best.distance && self.targets.is_before(body, *other)
            }
        };
        if is_nearer {
            self.most = found.distance;
            self.best = Some((body, found));
        }
    }
}

/// The nearest bodies of points that are numbered from `first` on.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn nearest_points(
    targets: &Targets<'_>,
    points: &[[f64; 3]],
    first: u32,
    max_distance: f64,
    rows: &mut [NearestPoint],
) -> u64 {
    let mut measure_count = 0;
    for ((id, &at), row) in (first..).zip(points).zip(rows) {
        let point = DVec3::from(at);
        let mut search =
            Near { targets, point, from: 0, most: max_distance, best: None, all: None, measure_count: 0 };
        targets.walk_point(point, id, &mut search);
        measure_count += search.measure_count;
        let hit = search.best.map(|(body, found)| point_hit(id, targets.row_of(body), &found));
        *row = NearestPoint { point: id, hit };
    }
    measure_count
}

/// Sorts by body.
#[inline(never)]
fn sort_bodies(targets: &Targets<'_>, found: &mut [(u32, Measured)]) {
    found.sort_unstable_by_key(|&(body, _)| targets.row_of(body));
}

/// The row of a measured point.
pub(crate) fn point_hit(id: u32, body: u32, found: &Measured) -> PointHit {
    PointHit {
        point: id,
        body,
        part: 0,
        distance: found.distance,
        nearest: found.nearest.to_array(),
        normal: found.normal.to_array(),
    }
}

/// Adds the bodies that contain a point, by their ids.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn containments(
    targets: &Targets<'_>,
    point: [f64; 3],
    id: u32,
    rows: &mut Vec<Containment>,
) -> u64 {
    let at = DVec3::from(point);
    let mut all = Vec::new();
    let mut search =
        Near { targets, point: at, from: 0, most: 0.0, best: None, all: Some(&mut all), measure_count: 0 };
    targets.walk_point(at, id, &mut search);
    let measure_count = search.measure_count;
    sort_bodies(targets, &mut all);
    rows.extend(all.iter().map(|&(body, ref found)| Containment {
        point: id,
        body: targets.row_of(body),
        part: 0,
        distance: found.distance,
    }));
    measure_count
}
