//! Shapes against a crowd of hulls: shape casts against parry3d's `Bvh` and `cast_shapes`, nearest bodies against its `Bvh` and `distance`.

use glam::DVec3;
use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, NearestBody, NearestOptions, ShapeCast, ShapeCastFirst, ShapeCastHit, ShapeCastOptions,
};
use hullfield_oracle::random::Random;
use hullfield_oracle::sweep::{Claim, Motion, Pair};
use hullfield_oracle::{Placed, Pose, whole_truth};
use rayon::prelude::*;

use crate::error::message;
use crate::machine::SEED;
use crate::options::Options;
use crate::peer::{Peer, ScenePeer};
use crate::report::{Cell, Report, Table};
use crate::scene::{Scene, scene_of};
use crate::timing::{Samples, interleave};

/// Bodies of a scene.
const BODIES: usize = 10_000;
/// Rows that the oracle checks in each scene, and rows that differ from the peer's.
const CHECKED: usize = 200;

/// Kinds of hulls, and how many times as far apart as in the other parts the bodies are.
const SCENES: [(&str, f32); 4] = [("8", 4.0), ("32", 1.0), ("32", 4.0), ("128", 4.0)];

/// A crowd, and the same with the peer.
struct Crowd {
    scene: Scene,
    bodies: Vec<Body>,
    arena: Arena,
    peer: ScenePeer,
}

impl Crowd {
    fn new(kind: &str, apart: f32, options: &Options, report: &mut Report) -> Result<Self, String> {
        let body_count = if options.quick { 500 } else { BODIES };
        let mut scene = scene_of(kind, 10 * body_count, report)?;
        for body in &mut scene.bodies {
            body.pose.position = body.pose.position.map(|x| x * apart);
        }
        let bodies = scene.library_bodies();
        let arena = Arena::new(&Engine::cpu(), &scene.hulls, hullfield::collide::Options::default());
        let peer = ScenePeer::new(&Peer::new(&scene.sets, &scene.bodies))?;
        Ok(Self { bodies, arena: arena.map_err(message)?, peer, scene })
    }
}

/// Times shape casts on one thread against the peer.
///
/// # Errors
/// A query that fails. A wrong answer goes into the report.
pub(crate) fn casts(options: &Options, report: &mut Report) -> Result<(), String> {
    let cast_count = if options.quick { 1_000 } else { 20_000 };
    let repetitions = options.repetitions.unwrap_or(if options.quick { 3 } else { 9 });
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(message)?;
    let mut table = Table::new(
        "casts",
        format!("First hits of shape casts, one thread each, {repetitions} interleaved repetitions"),
        &[
            "hulls",
            "casts",
            "hit",
            "bodies tested a cast",
            "in f64",
            "hullfield ns",
            "±",
            "with points ns",
            "parry3d ns",
            "parry3d ±",
            "ratio",
            "judged",
            "differ",
        ],
    );
    for (kind, apart) in SCENES {
        let name = format!("{kind}, {apart}×");
        eprintln!("casts: {name}");
        let crowd = Crowd::new(kind, apart, options, report)?;
        let (shapes, casts) = shape_casts(&crowd, cast_count);
        let query = |witness: bool| {
            let options = ShapeCastOptions { witness, ..ShapeCastOptions::default() };
            let pending = crowd.arena.shape_casts(&crowd.bodies, &casts, &options).map_err(message)?;
            pending.wait().map_err(message)
        };
        let found = one.install(|| query(false))?;
        let mut theirs = Vec::with_capacity(casts.len());
        crowd.peer.first_casts(&shapes, &casts, &mut theirs);
        let checked = judge_casts(&crowd.scene, &shapes, &casts, &found.rows, &theirs);
        if let Err(error) = &checked {
            report.fail(format!("casts, {name}: {error}"));
        }
        let [mine, other] = interleave(
            repetitions,
            || one.install(|| query(false)).map(drop),
            || {
                crowd.peer.first_casts(&shapes, &casts, &mut theirs);
                Ok(())
            },
        )?;
        let [with_points, _] =
            interleave(repetitions.min(3), || one.install(|| query(true)).map(drop), || Ok(()))?;
        let ns = |samples: &Samples| samples.median() * 1e6 / casts.len() as f64;
        let each = |count: u64| Cell::Number(count as f64 / casts.len() as f64, 1);
        table.row([
            name.into(),
            casts.len().into(),
            Cell::Share(found.stats.hit_count as f64 / casts.len() as f64, 0),
            each(found.stats.candidate_count),
            each(found.stats.settled_count),
            Cell::Number(ns(&mine), 0),
            Cell::Share(mine.spread(), 0),
            Cell::Number(ns(&with_points), 0),
            Cell::Number(ns(&other), 0),
            Cell::Share(other.spread(), 0),
            Cell::Number(mine.ratio(&other), 3),
            CHECKED.min(casts.len()).into(),
            checked.unwrap_or_default().into(),
        ]);
    }
    table.note(
        "hullfield's time holds the check of casts and bodies and the tree over the bodies; parry3d's tree is built before. differ: other bodies or distances that are off by 1e-3; judged: rows that the oracle held to be right, and as many of those that differ.",
    );
    report.table(table);
    Ok(())
}

/// Shapes of the scene's hulls, anywhere in it, and their casts in any direction.
fn shape_casts(crowd: &Crowd, count: usize) -> (Vec<Placed>, Vec<ShapeCast>) {
    let mut random = Random::new(SEED);
    let places = crowd.scene.bodies.iter().map(|body| body.pose.position64());
    let (low, high) =
        places.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
    let shape = |random: &mut Random| {
        let at = low + (high - low) * DVec3::new(random.unit(), random.unit(), random.unit());
        let pose = Pose { rotation: random.rotation(), ..Pose::at(at.as_vec3().to_array()) };
        Placed { hull: random.below(crowd.scene.hulls.len()) as u32, pose }
    };
    let shapes: Vec<Placed> = (0..count).map(|_| shape(&mut random)).collect();
    let bodies = crate::rows::bodies(&shapes);
    let casts =
        bodies.iter().map(|&body| ShapeCast::new(body, random.direction().as_vec3().to_array())).collect();
    (shapes, casts)
}

/// Checks some rows against the oracle, and some that differ from the peer's. Returns how many differ.
pub(crate) fn judge_casts(
    scene: &Scene,
    shapes: &[Placed],
    casts: &[ShapeCast],
    rows: &[ShapeCastFirst],
    theirs: &[Option<(u32, f32)>],
) -> Result<usize, String> {
    if rows.len() != casts.len() {
        return Err(format!("{} rows for {} casts", rows.len(), casts.len()));
    }
    let length = |k: usize| DVec3::from(casts[k].direction.map(f64::from)).length();
    let check = |k: usize, body: u32, most: f64, claim: Claim| {
        let (shape, other) = (&shapes[k], &scene.bodies[body as usize]);
        let pair = Pair {
            shapes: [&scene.shapes[shape.hull as usize], &scene.shapes[other.hull as usize]],
            poses: [shape.pose, other.pose],
            motions: [Motion { velocity: casts[k].direction, spin: [0.0; 3] }, Motion::default()],
        };
        pair.check(most / length(k), claim, false).map_err(|error| format!("cast {k}, body {body}: {error}"))
    };
    let claim = |k: usize, hit: &ShapeCastHit| {
        let normal = hit.normal.map(|x| -x);
        if hit.initial_overlap {
            Claim::Touching(normal)
        } else {
            Claim::Hit(hit.distance / length(k), normal)
        }
    };
    let differs = |k: usize| match (&rows[k].hit, theirs[k]) {
        (None, None) => false,
        (Some(hit), Some((body, distance))) => {
            // Of several bodies that overlap at the start any may be the first.
            let off = (hit.distance - f64::from(distance)).abs();
            off > 1e-3 || hit.body != body && hit.distance > 0.0
        }
        _ => true,
    };
    let differing: Vec<usize> = (0..rows.len()).filter(|&k| differs(k)).collect();
    let step = (rows.len() / CHECKED).max(1);
    let judged: Vec<usize> =
        (0..rows.len()).step_by(step).chain(differing.iter().copied().take(CHECKED)).collect();
    judged.par_iter().try_for_each(|&k| {
        let most = 1e4;
        if let Some(hit) = &rows[k].hit {
            check(k, hit.body, most, claim(k, hit))?;
        }
        // Nothing is met before that: neither some bodies nor the peer's.
        let others =
            (k as u32 % 97..scene.bodies.len() as u32).step_by(997).chain(theirs[k].map(|(body, _)| body));
        let before = rows[k].hit.map_or(most, |hit| hit.distance * (1.0 - 1e-6) - 1e-4);
        for other in others.filter(|&other| rows[k].hit.is_none_or(|hit| hit.body != other)) {
            if before > 0.0 {
                check(k, other, before, Claim::Miss)?;
            }
        }
        Ok::<_, String>(())
    })?;
    Ok(differing.len())
}

/// Times nearest bodies on one thread against the peer.
///
/// # Errors
/// A query that fails. A wrong answer goes into the report.
pub(crate) fn nearest(options: &Options, report: &mut Report) -> Result<(), String> {
    let repetitions = options.repetitions.unwrap_or(if options.quick { 3 } else { 9 });
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(message)?;
    let mut table = Table::new(
        "nearest",
        format!(
            "The nearest other body of each body, one thread each, {repetitions} interleaved repetitions"
        ),
        &[
            "hulls",
            "bodies",
            "bodies tested a row",
            "in f64",
            "hullfield ns",
            "±",
            "8 nearest ns",
            "parry3d ns",
            "parry3d ±",
            "ratio",
            "judged",
            "differ",
        ],
    );
    for (kind, apart) in SCENES {
        let name = format!("{kind}, {apart}×");
        eprintln!("nearest: {name}");
        let crowd = Crowd::new(kind, apart, options, report)?;
        let query = |count: u32| {
            let options = NearestOptions { count, ..NearestOptions::default() };
            let pending = crowd.arena.nearest_bodies(&crowd.bodies, &options).map_err(message)?;
            pending.wait().map_err(message)
        };
        let found = one.install(|| query(1))?;
        let mut theirs = Vec::with_capacity(crowd.bodies.len());
        crowd.peer.nearest(&mut theirs);
        let checked = judge_nearest(&crowd.scene, &found.rows, &theirs);
        if let Err(error) = &checked {
            report.fail(format!("nearest, {name}: {error}"));
        }
        let [mine, other] = interleave(
            repetitions,
            || one.install(|| query(1)).map(drop),
            || {
                crowd.peer.nearest(&mut theirs);
                Ok(())
            },
        )?;
        let [eight, _] = interleave(repetitions.min(3), || one.install(|| query(8)).map(drop), || Ok(()))?;
        let body_count = crowd.bodies.len();
        let ns = |samples: &Samples| samples.median() * 1e6 / body_count as f64;
        let each = |count: u64| Cell::Number(count as f64 / body_count as f64, 1);
        table.row([
            name.into(),
            body_count.into(),
            each(found.stats.candidate_count),
            each(found.stats.settled_count),
            Cell::Number(ns(&mine), 0),
            Cell::Share(mine.spread(), 0),
            Cell::Number(ns(&eight), 0),
            Cell::Number(ns(&other), 0),
            Cell::Share(other.spread(), 0),
            Cell::Number(mine.ratio(&other), 3),
            CHECKED.min(body_count).into(),
            checked.unwrap_or_default().into(),
        ]);
    }
    table.note(
        "hullfield's time holds the check of the bodies and the tree over them; parry3d's tree is built before. hullfield finds signed separations in f64, points and normals, and of several bodies that overlap the deepest; parry3d distances, which are 0 where bodies overlap. differ: distances that are off by 1e-3.",
    );
    report.table(table);
    Ok(())
}

/// Checks some rows against the oracle. Returns how many distances differ from the peer's.
pub(crate) fn judge_nearest(
    scene: &Scene,
    rows: &[NearestBody],
    theirs: &[Option<(u32, f32)>],
) -> Result<usize, String> {
    if rows.len() != theirs.len() {
        return Err(format!("{} rows for {} bodies", rows.len(), theirs.len()));
    }
    let truth = |a: u32, b: u32| {
        let [a, b] = [a, b].map(|body| &scene.bodies[body as usize]);
        whole_truth(&scene.shapes[a.hull as usize], &a.pose, &scene.shapes[b.hull as usize], &b.pose)
    };
    rows.par_iter().step_by((rows.len() / CHECKED).max(1)).try_for_each(|row| {
        let found = truth(row.query, row.body);
        if (found.gap - row.separation).abs() > 1e-8 * (found.radius_sum + found.gap.abs()) {
            return Err(format!("{row:?}: the gap is {}", found.gap));
        }
        let other =
            (0..scene.bodies.len() as u32).step_by(499).chain(theirs[row.query as usize].map(|near| near.0));
        for other in other.filter(|&other| other != row.query && other != row.body) {
            let near = truth(row.query, other);
            if near.gap < row.separation - 1e-8 * (near.radius_sum + near.gap.abs()) {
                return Err(format!("{row:?}: body {other} has a gap of {}", near.gap));
            }
        }
        Ok(())
    })?;
    let differs = |(row, other): (&NearestBody, &Option<(u32, f32)>)| {
        other.is_none_or(|(_, distance)| (row.separation.max(0.0) - f64::from(distance)).abs() > 1e-3)
    };
    Ok(rows.iter().zip(theirs).filter(|&pair| differs(pair)).count())
}
