//! Rays against a crowd of hulls: against parry3d's `Bvh` and `cast_ray`, and a million in a batch.

use glam::DVec3;
use hullfield::Engine;
use hullfield::collide::{Arena, Body, Ray, RayOptions, Raycast};
use hullfield_oracle::random::Random;
use hullfield_oracle::ray::{self, Claim, check};
use rayon::prelude::*;

use crate::engines::NamedEngine;
use crate::error::message;
use crate::machine::SEED;
use crate::options::Options;
use crate::peer::{Peer, ScenePeer};
use crate::report::{Cell, Report, Table};
use crate::scene::{Scene, scene_of};
use crate::timing::{Samples, interleave, time};

/// Bodies of a scene.
const BODIES: usize = 10_000;
/// Rows that the oracle checks in each scene, and as many of those that differ from the peer's.
const CHECKED_RAYS: usize = 100;
/// Bodies that the oracle casts each of these rays against, besides the one hit and the peer's.
const CHECKED_BODIES: usize = 20;

/// Which rays are cast.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// From anywhere, in any direction.
    Random,
    /// Those of the pixels of a picture, seen from outside.
    Picture,
}

/// Times the CPU engine on one thread against the peer, then a million rays on all threads of each engine.
///
/// # Errors
/// A query that fails. A wrong answer goes into the report.
pub(crate) fn against_peer(
    options: &Options,
    engines: &[NamedEngine],
    report: &mut Report,
) -> Result<(), String> {
    let body_count = if options.quick { 500 } else { BODIES };
    let ray_count = if options.quick { 2_000 } else { 76_800 };
    let repetitions = options.repetitions.unwrap_or(if options.quick { 3 } else { 9 });
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(message)?;
    let mut table = Table::new(
        "rays",
        format!("First hits of rays, one thread each, {repetitions} interleaved repetitions"),
        &[
            "hulls",
            "rays",
            "hit",
            "bodies cast a ray",
            "hullfield ns",
            "±",
            "parry3d ns",
            "parry3d ±",
            "ratio",
            "judged",
            "differ",
        ],
    );
    let mut batch = None;
    // A crowd as dense as those of the other parts, and the same bodies farther apart.
    for (kind, apart) in [("8", 1.0_f32), ("8", 4.0), ("32", 1.0), ("32", 4.0), ("128", 4.0)] {
        let mut scene = scene_of(kind, 10 * body_count, report)?;
        for body in &mut scene.bodies {
            body.pose.position = body.pose.position.map(|x| x * apart);
        }
        let bodies = scene.library_bodies();
        let engine = Engine::cpu();
        let arena =
            Arena::new(&engine, &scene.hulls, hullfield::collide::Options::default()).map_err(message)?;
        let peer = ScenePeer::new(&Peer::new(&scene.sets, &scene.bodies))?;
        for rays_of in [Kind::Random, Kind::Picture] {
            let name = format!("{kind}, {apart}×, {rays_of:?}").to_lowercase();
            eprintln!("rays: {name}");
            let rays = rays(&scene, rays_of, ray_count);
            let query = || cast(&arena, &bodies, &rays);
            let (rows, cast_count) = one.install(query)?;
            let mut theirs = Vec::with_capacity(rays.len());
            peer.first_hits(&rays, &mut theirs);
            let checked = judge(&scene, &rays, &rows, &theirs);
            if let Err(error) = &checked {
                report.fail(format!("rays, {name}: {error}"));
            }
            let differ_count = checked.unwrap_or_default();
            let [mine, other] = interleave(
                repetitions,
                || one.install(query).map(drop),
                || {
                    peer.first_hits(&rays, &mut theirs);
                    Ok(())
                },
            )?;
            let ns = |samples: &Samples| samples.median() * 1e6 / rays.len() as f64;
            let hit_count = rows.iter().filter(|row| row.hit.is_some()).count();
            table.row([
                name.into(),
                rays.len().into(),
                Cell::Share(hit_count as f64 / rays.len() as f64, 0),
                Cell::Number(cast_count as f64 / rays.len() as f64, 1),
                Cell::Number(ns(&mine), 0),
                Cell::Share(mine.spread(), 0),
                Cell::Number(ns(&other), 0),
                Cell::Share(other.spread(), 0),
                Cell::Number(mine.ratio(&other), 3),
                CHECKED_RAYS.min(rays.len()).into(),
                differ_count.into(),
            ]);
        }
        if kind == "32" && apart > 1.0 {
            batch = Some((scene, bodies));
        }
    }
    table.note(
        "hullfield's time holds the check of rays and bodies and the tree over the bodies; parry3d's tree is built before. hullfield finds normals and faces, parry3d distances. differ: other bodies or distances that are off by 1e-4; the oracle has found hullfield right in all of them, or in as many as are judged.",
    );
    report.table(table);
    if let Some((scene, bodies)) = batch {
        batches(options, engines, report, &scene, &bodies)?;
    }
    Ok(())
}

/// Times a million rays on each engine, all threads. The GPU engine's rows must be those of the CPU engine.
fn batches(
    options: &Options,
    engines: &[NamedEngine],
    report: &mut Report,
    scene: &Scene,
    bodies: &[Body],
) -> Result<(), String> {
    let mut table = Table::new(
        "rays, batch",
        "First hits of rays among the bodies farther apart, hulls of 32 vertices, all threads",
        &["rays", "engine", "ms", "million rays/s", "kernels ms", "f64 ms", "left to f64"],
    );
    for rays_of in [Kind::Random, Kind::Picture] {
        for NamedEngine { name, engine } in engines {
            // A software adapter's times say nothing about a GPU.
            let is_small = options.quick || *name == "software gpu";
            let (count, repetitions) = if is_small { (20_000, 2) } else { (1_000_000, 5) };
            let rays = rays(scene, rays_of, count);
            let arena_of = |engine: &Engine| {
                Arena::new(engine, &scene.hulls, hullfield::collide::Options::default()).map_err(message)
            };
            let arena = arena_of(engine)?;
            let run = |arena: &Arena| {
                let pending = arena.raycasts(bodies, &rays, &RayOptions::default()).map_err(message)?;
                pending.wait().map_err(message)
            };
            let first = run(&arena)?;
            let is_cpu = *name == "cpu";
            if !is_cpu && first.rows != run(&arena_of(&Engine::cpu())?)?.rows {
                report.fail(format!(
                    "rays, batch, {rays_of:?}: the rows of the {name} are not those of the cpu"
                ));
            }
            let (mut whole, mut kernels, mut settle) = (Samples::new(), Samples::new(), Samples::new());
            for _ in 0..repetitions {
                let (ms, found) = time(|| run(&arena));
                let times = found?.stats.times;
                whole.push(ms);
                kernels.push(times.kernels_ms);
                settle.push(times.settle_ms);
            }
            let on_device = |samples: &Samples| match is_cpu {
                true => Cell::from(""),
                false => Cell::Number(samples.median(), 1),
            };
            table.row([
                format!("{count} {rays_of:?}").to_lowercase().into(),
                (*name).into(),
                Cell::Number(whole.median(), 0),
                Cell::Number(count as f64 / whole.median() / 1e3, 2),
                on_device(&kernels),
                on_device(&settle),
                if is_cpu {
                    "".into()
                } else {
                    Cell::Share(first.stats.settled_count as f64 / count as f64, 2)
                },
            ]);
        }
    }
    table.note("kernels ms: by the device's clock where it has one. f64 ms: measuring the bodies that the device names, and searching for the rays that it leaves to f64, on all threads.");
    report.table(table);
    Ok(())
}

/// The rows, and how many bodies were cast against.
fn cast(arena: &Arena, bodies: &[Body], rays: &[Ray]) -> Result<(Vec<Raycast>, u64), String> {
    let pending = arena.raycasts(bodies, rays, &RayOptions::default()).map_err(message)?;
    let found = pending.wait().map_err(message)?;
    Ok((found.rows, found.stats.candidate_count))
}

/// Rays from anywhere in a scene, in any direction.
pub(crate) fn random_rays(scene: &Scene, count: usize) -> Vec<Ray> {
    rays(scene, Kind::Random, count)
}

/// Checks some first hits, as body and distance, against the oracle: the ray meets that body there, and no other before.
///
/// # Errors
/// The first hit that is wrong.
pub(crate) fn check_hits(scene: &Scene, rays: &[Ray], hits: &[Option<(u32, f32)>]) -> Result<(), String> {
    if hits.len() != rays.len() {
        return Err(format!("{} rows for {} rays", hits.len(), rays.len()));
    }
    let misses = |k: usize, body: u32, most: f32| {
        let placed = &scene.bodies[body as usize];
        let ray = ray::Ray { origin: rays[k].origin, direction: rays[k].direction, max_distance: most };
        check(&scene.shapes[placed.hull as usize], &placed.pose, &ray, None)
    };
    let sample: Vec<usize> = (0..rays.len()).step_by((rays.len() / CHECKED_RAYS).max(1)).collect();
    sample.par_iter().try_for_each(|&k| {
        let before = hits[k].map_or(rays[k].max_distance, |(_, distance)| distance * (1.0 - 1e-4) - 1e-5);
        if let Some((body, distance)) = hits[k]
            && misses(k, body, distance * (1.0 + 1e-4) + 1e-5).is_ok()
        {
            return Err(format!("ray {k} does not hit body {body} within {distance}"));
        }
        if before <= 0.0 {
            return Ok(());
        }
        let named = |body: u32| move |error| format!("ray {k}, body {body}: {error}");
        if let Some((body, _)) = hits[k] {
            // A ray that comes in flat is within the tolerance of a hit for a while before it is at the surface.
            let radius = scene.shapes[scene.bodies[body as usize].hull as usize].radius([1.0; 3]) as f32;
            let before = before - 0.05 * radius;
            if before > 0.0 {
                misses(k, body, before).map_err(named(body))?;
            }
        }
        let step = (scene.bodies.len() / CHECKED_BODIES).max(1);
        for other in (k % step..scene.bodies.len()).step_by(step).map(|other| other as u32) {
            if hits[k].is_none_or(|(body, _)| body != other) {
                misses(k, other, before).map_err(named(other))?;
            }
        }
        Ok(())
    })
}

fn rays(scene: &Scene, kind: Kind, count: usize) -> Vec<Ray> {
    let mut random = Random::new(SEED);
    let places = scene.bodies.iter().map(|body| body.pose.position64());
    let (low, high) =
        places.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
    let side = high - low;
    match kind {
        Kind::Random => (0..count)
            .map(|_| {
                let at = low + side * DVec3::new(random.unit(), random.unit(), random.unit());
                Ray::new(at.as_vec3().to_array(), random.direction().as_vec3().to_array())
            })
            .collect(),
        Kind::Picture => {
            let width = ((count as f64 * 4.0 / 3.0).sqrt() as usize).max(1);
            let height = count.div_ceil(width);
            let eye = low + side * DVec3::new(0.5, 0.5, -0.5);
            (0..count)
                .map(|i| {
                    let (x, y) = ((i % width) as f64 / width as f64, (i / width) as f64 / height as f64);
                    let aim = low + side * DVec3::new(x, y, 0.2) - eye;
                    Ray::new(eye.as_vec3().to_array(), aim.as_vec3().to_array())
                })
                .collect()
        }
    }
}

/// Checks some rows against the oracle, and some that differ from the peer's. Returns how many differ.
fn judge(
    scene: &Scene,
    rays: &[Ray],
    rows: &[Raycast],
    theirs: &[Option<(u32, f32)>],
) -> Result<usize, String> {
    if rows.len() != rays.len() {
        return Err(format!("{} rows for {} rays", rows.len(), rays.len()));
    }
    let judged = |k: usize, body: u32, most: f32, claim: Option<Claim>| {
        let placed = &scene.bodies[body as usize];
        let ray = ray::Ray { origin: rays[k].origin, direction: rays[k].direction, max_distance: most };
        check(&scene.shapes[placed.hull as usize], &placed.pose, &ray, claim)
            .map_err(|error| format!("ray {k}, body {body}: {error}"))
    };
    let differs = |k: usize| match (&rows[k].hit, theirs[k]) {
        (None, None) => false,
        (Some(hit), Some((body, distance))) => {
            hit.body != body || (hit.distance - f64::from(distance)).abs() > 1e-4
        }
        _ => true,
    };
    let differing: Vec<usize> = (0..rows.len()).filter(|&k| differs(k)).collect();
    let sample = (0..rows.len()).step_by((rows.len() / CHECKED_RAYS).max(1));
    let checked: Vec<usize> = sample.chain(differing.iter().copied().take(CHECKED_RAYS)).collect();
    checked.par_iter().try_for_each(|&k| {
        let hit = rows[k].hit;
        if let Some(hit) = &hit {
            let claim = Claim { distance: hit.distance, normal: hit.normal };
            judged(k, hit.body, rays[k].max_distance, Some(claim))?;
        }
        // Nothing is hit before that: neither some bodies nor the peer's.
        let before = hit.map_or(f32::INFINITY, |hit| ((hit.distance as f32) * (1.0 - 1e-6)).next_down());
        if before <= 1e-5 {
            return Ok(());
        }
        let step = (scene.bodies.len() / CHECKED_BODIES).max(1);
        let others = (k % step..scene.bodies.len()).step_by(step).map(|body| body as u32);
        for other in others.chain(theirs[k].map(|(body, _)| body)) {
            if hit.is_none_or(|hit| hit.body != other) {
                judged(k, other, before, None)?;
            }
        }
        Ok::<_, String>(())
    })?;
    Ok(differing.len())
}
