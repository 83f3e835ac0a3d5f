//! Queries with rays and points, on all cores.

#[cfg(feature = "gpu")]
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[cfg(feature = "gpu")]
use glam::DVec3;
use web_time::Instant;

use crate::collide::broad_phase::search_pool::SearchPool;
use crate::collide::bvh::static_tree::StaticBoxes;
use crate::collide::narrow_phase::rows::{Batch, Stats, Times};
use crate::collide::narrow_phase::settle::milliseconds;
#[cfg(feature = "gpu")]
use crate::collide::ray::kernels::DeviceRay;
use crate::collide::ray::rows::{Containment, NearestPoint, Occlusion, RayHit, Raycast};
use crate::collide::ray::search::{
    OPEN, Targets, all_hits, containments, first_hits, nearest_points, occlusions,
};
use crate::collide::scene::budget::RowBudget;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::frame::Frame;
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::collide::scene::ray::Ray;
use crate::collide::scene::ray_columns::{PointColumns, RayColumns};
use crate::collide::scene::world_ranges::WorldRanges;
use crate::error::{Error, Result};
#[cfg(feature = "gpu")]
use crate::parallel::map;
use crate::parallel::{for_each_chunk, map_chunks};

/// Rays or points in one task.
const TASK: usize = 128;

/// Checked rays of a query.
#[derive(Debug)]
pub(crate) struct OwnedRays {
    rays: Vec<Ray>,
    /// Where they start in f64; empty where they start at their own origins.
    origins: Vec<[f64; 3]>,
    worlds: WorldRanges,
}

/// Checks rays, and their worlds against those of the bodies.
///
/// # Errors
/// [`Error::Value`] at the [`Location::Ray`](crate::Location::Ray) of the first bad one, [`Error::TooMany`], [`Error::Count`]; as
/// [`WorldRanges::new`].
pub(crate) fn checked_rays(columns: &RayColumns<'_>, bodies: &BodyColumns<'_>) -> Result<OwnedRays> {
    check_count("rays", columns.rays.len())?;
    columns.check()?;
    let worlds = WorldRanges::new("rays", columns.worlds, columns.rays.len(), bodies)?;
    Ok(OwnedRays { rays: columns.rays.to_vec(), origins: columns.origins.to_vec(), worlds })
}

/// Checked points of a query.
#[derive(Debug)]
pub(crate) struct OwnedPoints {
    points: Vec<[f64; 3]>,
    /// Whether f32 may not hold them.
    is_f64: bool,
    worlds: WorldRanges,
}

/// Checks points, and their worlds against those of the bodies.
///
/// # Errors
/// [`Error::Value`] at the [`Location::Point`](crate::Location::Point) of the first bad one, [`Error::TooMany`], [`Error::Count`]; as
/// [`WorldRanges::new`].
pub(crate) fn checked_points(columns: &PointColumns<'_>, bodies: &BodyColumns<'_>) -> Result<OwnedPoints> {
    check_count("points", columns.len())?;
    let points = columns.checked()?;
    let worlds = WorldRanges::new("points", columns.worlds, points.len(), bodies)?;
    Ok(OwnedPoints { points, is_f64: !columns.positions.is_empty(), worlds })
}

pub(crate) fn check_count(what: &'static str, count: usize) -> Result<()> {
    let (count, limit) = (count as u64, u64::from(u32::MAX));
    if count > limit { Err(Error::TooMany { what, count, limit }) } else { Ok(()) }
}

/// What is asked about each ray.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "gpu"), expect(dead_code, reason = "only a device asks"))]
pub(crate) struct RayGoal {
    /// Whether it hits anything; else what it hits first.
    pub(crate) is_any: bool,
    /// Whether bodies that it starts in are hit.
    pub(crate) at_start: bool,
}

/// What a device found out about the rays of a query.
#[derive(Debug, Default)]
pub(crate) struct RayCodes {
    /// Empty where no device was asked; else one for each ray: the body that is hit first, or a code of `ray/search.rs`.
    pub(crate) codes: Vec<u32>,
    pub(crate) times: Times,
}

impl RayCodes {
    /// How many rays are left to f64; none where no device was asked.
    fn open_count(&self) -> u64 {
        self.codes.iter().filter(|&&code| code == OPEN).count() as u64
    }

    /// The statistics of a query with what the device did: f64 settled what is left.
    fn add_to(&self, stats: &mut Stats) {
        if self.codes.is_empty() {
            return;
        }
        let Times { upload_ms, compile_ms, kernels_ms, readback_ms, .. } = self.times;
        stats.settled_count = self.open_count();
        let times = &mut stats.times;
        times.settle_ms = std::mem::replace(&mut times.kernels_ms, kernels_ms);
        times.upload_ms += upload_ms;
        times.compile_ms = compile_ms;
        times.readback_ms = readback_ms;
    }
}

/// What a search needs to know of all rays or points.
#[derive(Clone, Copy)]
struct Probes<'a> {
    /// Whether bodies that a ray starts in are hit.
    at_start: bool,
    /// Whether f32 may not hold where they are.
    are_f64: bool,
    /// Where rays start in f64; empty where they do not.
    origins: &'a [[f64; 3]],
    worlds: &'a WorldRanges,
    /// How many rays or points walk through the tree.
    count: usize,
    /// What a device knows of rays.
    codes: Option<&'a RayCodes>,
}

impl OwnedRays {
    /// Checked rays that start at positions in f64.
    pub(crate) fn of_scene(rays: Vec<Ray>, origins: Vec<[f64; 3]>, worlds: WorldRanges) -> Self {
        Self { rays, origins, worlds }
    }

    fn probes(&self, at_start: bool) -> Probes<'_> {
        Probes {
            at_start,
            are_f64: !self.origins.is_empty(),
            origins: &self.origins,
            worlds: &self.worlds,
            count: self.rays.len(),
            codes: None,
        }
    }

    #[cfg(feature = "gpu")]
    pub(crate) fn len(&self) -> usize {
        self.rays.len()
    }

    /// Whether worlds hide none of the movers from any ray.
    #[cfg(feature = "gpu")]
    pub(crate) fn see_all(&self, mover_count: usize) -> bool {
        self.worlds.see_all(mover_count)
    }

    /// Some of the rays as a kernel reads them, about the origin of the query where its bodies' positions are in f64.
    #[cfg(feature = "gpu")]
    pub(crate) fn device(&self, range: Range<usize>, origin: DVec3) -> Vec<DeviceRay> {
        let first = range.start;
        let numbered: Vec<(usize, &Ray)> = (first..).zip(&self.rays[range]).collect();
        map(&numbered, |&(at, ray)| {
            let start = self.origins.get(at).map_or(DVec3::from(ray.origin.map(f64::from)), |&at| at.into());
            DeviceRay::new(ray, start - origin)
        })
    }
}

impl OwnedPoints {
    /// Checked points.
    pub(crate) fn of_scene(points: Vec<[f64; 3]>, worlds: WorldRanges) -> Self {
        Self { points, is_f64: true, worlds }
    }

    fn probes(&self) -> Probes<'_> {
        Probes {
            at_start: true,
            are_f64: self.is_f64,
            origins: &[],
            worlds: &self.worlds,
            count: self.points.len(),
            codes: None,
        }
    }
}

/// The bodies of a query laid out and in a tree, and a query over them that returns rows, the number of bodies examined and that of
/// hits.
fn with_targets<R>(
    scene: &Scene,
    mut input: QueryInput,
    pool: &SearchPool,
    probes: Probes<'_>,
    work: impl FnOnce(&Targets<'_>, &QueryInput) -> Result<(Vec<R>, u64, u64)>,
) -> Result<Batch<R>> {
    let begin = Instant::now();
    let mut search = pool.take();
    // Where a device has left no ray open no tree is walked.
    let is_open = probes.codes.is_none_or(|found| found.codes.is_empty() || found.open_count() > 0);
    match &input.tree {
        Some(tree) => search.movers = Arc::clone(tree),
        None => {
            let boxes = search.boxes();
            boxes.clear();
            if is_open {
                input.boxes_into(boxes, &scene.supports.records);
            }
            search.build_for_walks(&input.rules, probes.count);
        }
    }
    let movers = match &input.frames {
        Some(frames) => Arc::clone(frames),
        None => Arc::new(Frame::all(&scene.hulls, input.stored().movers(input.mover_count))),
    };
    let statics = input.statics.take();
    let none = StaticBoxes::default();
    let targets = Targets {
        scene,
        movers: &movers,
        statics: statics.as_ref().map_or(&[][..], |statics| statics.frames(&scene.hulls)),
        tree: search.movers.tree(),
        static_boxes: statics.as_ref().map_or(&none, |statics| &statics.boxes),
        planes: &input.planes,
        at_start: probes.at_start,
        origin: (probes.are_f64 || input.is_far()).then_some(input.origin),
        ray_origins: probes.origins,
        worlds: probes.worlds,
        order: &input.order,
    };
    let found = work(&targets, &input);
    pool.give_back(search);
    input.statics = statics;
    let upload_ms = input.upload_ms;
    scene.give_back(input);
    let (rows, candidate_count, hit_count) = found?;
    let mut stats = Stats { candidate_count, hit_count, ..Stats::default() };
    stats.times.upload_ms = upload_ms;
    stats.times.kernels_ms = milliseconds(begin);
    probes.codes.iter().for_each(|found| found.add_to(&mut stats));
    Ok(Batch::new(rows, stats))
}

/// One row for each of `items`, in their order.
pub(crate) fn fill_rows<T: Sync, R: Clone + Send>(
    input: &QueryInput,
    items: &[T],
    empty: R,
    work: impl Fn(&[T], u32, &mut [R]) -> u64 + Sync + Send,
) -> Result<(Vec<R>, u64)> {
    let budget = RowBudget::new::<R>(input.answer_limit).awaited_by(&input.awaited);
    budget.add(items.len());
    budget.check()?;
    let mut rows = vec![empty; items.len()];
    let count = AtomicU64::new(0);
    for_each_chunk(&mut rows, TASK, |(chunk, rows)| {
        if input.awaited.is_awaited() {
            let first = chunk * TASK;
            count.fetch_add(work(&items[first..first + rows.len()], first as u32, rows), Relaxed);
        }
    });
    budget.check()?;
    Ok((rows, count.into_inner()))
}

/// Any number of rows for each of `items`, in their order.
pub(crate) fn list_rows<T: Sync, R: Send>(
    input: &QueryInput,
    items: &[T],
    work: impl Fn(&T, u32, &mut Vec<R>) -> u64 + Sync + Send,
) -> Result<(Vec<R>, u64)> {
    let budget = RowBudget::new::<R>(input.answer_limit).awaited_by(&input.awaited);
    let numbered: Vec<(u32, &T)> = (0..).zip(items).collect();
    let parts = map_chunks(&numbered, TASK, |items| {
        let (mut rows, mut count) = (Vec::new(), 0);
        for &(id, item) in items {
            // Also before the first item of each share: one may take a second.
            if !input.awaited.is_awaited() {
                break;
            }
            let before = rows.len();
            count += work(item, id, &mut rows);
            if !budget.add(rows.len() - before) {
                break;
            }
        }
        (rows, count)
    });
    budget.check()?;
    let mut all = Vec::with_capacity(parts.iter().map(|(rows, _)| rows.len()).sum());
    let mut count = 0;
    for (rows, part_count) in parts {
        all.extend(rows);
        count += part_count;
    }
    Ok((all, count))
}

/// The first hit of each ray.
pub(crate) fn raycasts(
    scene: &Scene,
    input: QueryInput,
    pool: &SearchPool,
    rays: &OwnedRays,
    at_start: bool,
    found: &RayCodes,
) -> Result<Batch<Raycast>> {
    let probes = Probes { codes: Some(found), ..rays.probes(at_start) };
    with_targets(scene, input, pool, probes, |targets, input| {
        let empty = Raycast { ray: 0, hit: None };
        let (rows, count) = fill_rows(input, &rays.rays, empty, |rays, first, rows| {
            first_hits(targets, &found.codes, rays, first, rows)
        })?;
        let hit_count = rows.iter().filter(|row| row.hit.is_some()).count() as u64;
        Ok((rows, count, hit_count))
    })
}

/// Whether each ray hits anything.
pub(crate) fn occluded(
    scene: &Scene,
    input: QueryInput,
    pool: &SearchPool,
    rays: &OwnedRays,
    at_start: bool,
    found: &RayCodes,
) -> Result<Batch<Occlusion>> {
    let probes = Probes { codes: Some(found), ..rays.probes(at_start) };
    with_targets(scene, input, pool, probes, |targets, input| {
        let empty = Occlusion { ray: 0, occluded: false };
        let (rows, count) = fill_rows(input, &rays.rays, empty, |rays, first, rows| {
            occlusions(targets, &found.codes, rays, first, rows)
        })?;
        let hit_count = rows.iter().filter(|row| row.occluded).count() as u64;
        Ok((rows, count, hit_count))
    })
}

/// All hits of each ray.
pub(crate) fn raycasts_all(
    scene: &Scene,
    input: QueryInput,
    pool: &SearchPool,
    rays: &OwnedRays,
    at_start: bool,
) -> Result<Batch<RayHit>> {
    with_targets(scene, input, pool, rays.probes(at_start), |targets, input| {
        let (rows, count) = list_rows(input, &rays.rays, |ray, id, rows| all_hits(targets, ray, id, rows))?;
        let hit_count = rows.len() as u64;
        Ok((rows, count, hit_count))
    })
}

/// The nearest body of each point.
pub(crate) fn nearest(
    scene: &Scene,
    input: QueryInput,
    pool: &SearchPool,
    points: &OwnedPoints,
    max_distance: f64,
) -> Result<Batch<NearestPoint>> {
    with_targets(scene, input, pool, points.probes(), |targets, input| {
        let empty = NearestPoint { point: 0, hit: None };
        let (rows, count) = fill_rows(input, &points.points, empty, |points, first, rows| {
            nearest_points(targets, points, first, max_distance, rows)
        })?;
        let hit_count = rows.iter().filter(|row| row.hit.is_some()).count() as u64;
        Ok((rows, count, hit_count))
    })
}

/// The bodies that contain each point.
pub(crate) fn containing(
    scene: &Scene,
    input: QueryInput,
    pool: &SearchPool,
    points: &OwnedPoints,
) -> Result<Batch<Containment>> {
    with_targets(scene, input, pool, points.probes(), |targets, input| {
        let (rows, count) =
            list_rows(input, &points.points, |&point, id, rows| containments(targets, point, id, rows))?;
        let hit_count = rows.len() as u64;
        Ok((rows, count, hit_count))
    })
}
