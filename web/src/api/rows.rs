//! The rows of the queries over bodies, as columns.

use hullfield::collide::{
    Batch, Contact, Containment, Degeneracy, Distance, Gradient, Intersection, Manifold, NearestBody,
    NearestPoint, Occlusion, RayHit, Raycast, ShapeCastAny, ShapeCastFirst, ShapeCastHit, Status, Sweep,
    SweepOutcome,
};
use wasm_bindgen::JsValue;

use crate::api::output::{NAN, NONE, Row};

fn code(status: Status) -> u8 {
    match status {
        Status::Separated => 0,
        Status::Touching => 1,
        Status::Penetrating => 2,
    }
}

/// The number of rows, and the statistics of a query.
fn begun<R>(batch: &Batch<R>) -> Row {
    let stats = &batch.stats;
    let stats = Row::default()
        .set("candidateCount", stats.candidate_count as f64)
        .set("hitCount", stats.hit_count as f64)
        .set("settledCount", stats.settled_count as f64)
        .set("compileMs", stats.times.compile_ms)
        .set("totalMs", stats.times.total_ms);
    Row::default().set("count", batch.rows.len() as f64).set("stats", stats)
}

/// As [`begun`], with the columns of rows that are pairs.
fn pairs<R>(batch: &Batch<R>, pair: impl Fn(&R) -> ([u32; 2], Status)) -> Row {
    begun(batch)
        .indices("a", batch.rows.iter().map(|row| pair(row).0[0]))
        .indices("b", batch.rows.iter().map(|row| pair(row).0[1]))
        .bytes("status", batch.rows.iter().map(|row| code(pair(row).1)))
}

pub(super) fn intersections(batch: Batch<Intersection>) -> JsValue {
    pairs(&batch, |row| ([row.a, row.b], row.status))
        .singles("axis", batch.rows.iter().flat_map(|row| row.axis.unwrap_or([f32::NAN; 3])))
        .into()
}

pub(super) fn distances(batch: Batch<Distance>) -> JsValue {
    let rows = &batch.rows;
    pairs(&batch, |row| ([row.a, row.b], row.status))
        .doubles("separation", rows.iter().map(|row| row.separation))
        .doubles("points", rows.iter().flat_map(|row| row.points.unwrap_or([NAN; 2])).flatten())
        .doubles("axis", rows.iter().flat_map(|row| row.axis.unwrap_or(NAN)))
        .into()
}

pub(super) fn contacts(batch: Batch<Contact>) -> JsValue {
    let rows = &batch.rows;
    pairs(&batch, |row| ([row.a, row.b], row.status))
        .doubles("separation", rows.iter().map(|row| row.separation))
        .doubles("normal", rows.iter().flat_map(|row| row.normal))
        .doubles("points", rows.iter().flat_map(|row| row.points).flatten())
        .into()
}

pub(super) fn manifolds(batch: Batch<Manifold>) -> JsValue {
    let rows = &batch.rows;
    // Four points a row, those that are missing NaN.
    let points = || rows.iter().flat_map(|row| (0..4).map(|at| row.points().get(at)));
    pairs(&batch, |row| ([row.a, row.b], row.status))
        .doubles("separation", rows.iter().map(|row| row.separation))
        .doubles("normal", rows.iter().flat_map(|row| row.normal))
        .bytes("pointCount", rows.iter().map(|row| row.points().len() as u8))
        .doubles(
            "points",
            points().flat_map(|point| point.map_or([NAN; 2], |point| [point.on_a, point.on_b])).flatten(),
        )
        .doubles("separations", points().map(|point| point.map_or(f64::NAN, |point| point.separation)))
        .into()
}

pub(super) fn gradients(batch: Batch<Gradient>) -> JsValue {
    let rows = &batch.rows;
    let degeneracy = |row: &Gradient| match row.degeneracy {
        None => 0,
        Some(Degeneracy::Points) => 1,
        // A later kind is no smoother.
        Some(_) => 2,
    };
    pairs(&batch, |row| ([row.a, row.b], row.status))
        .doubles("separation", rows.iter().map(|row| row.separation))
        .doubles("positionA", rows.iter().flat_map(|row| row.position_a))
        .doubles("rotationA", rows.iter().flat_map(|row| row.rotation_a))
        .doubles("positionB", rows.iter().flat_map(|row| row.position_b))
        .doubles("rotationB", rows.iter().flat_map(|row| row.rotation_b))
        .bytes("degeneracy", rows.iter().map(degeneracy))
        .into()
}

pub(super) fn sweeps(batch: Batch<Sweep>) -> JsValue {
    let rows = &batch.rows;
    let outcome = |outcome| match outcome {
        SweepOutcome::Hit => 0,
        SweepOutcome::Miss => 1,
        SweepOutcome::Touching => 2,
    };
    begun(&batch)
        .indices("a", rows.iter().map(|row| row.a))
        .indices("b", rows.iter().map(|row| row.b))
        .bytes("outcome", rows.iter().map(|row| outcome(row.outcome)))
        .doubles("time", rows.iter().map(|row| row.time))
        .doubles("normal", rows.iter().flat_map(|row| row.normal.unwrap_or(NAN)))
        .doubles("points", rows.iter().flat_map(|row| row.points.unwrap_or([NAN; 2])).flatten())
        .doubles("separation", rows.iter().map(|row| row.separation.unwrap_or(f64::NAN)))
        .into()
}

pub(super) fn nearest_bodies(batch: Batch<NearestBody>) -> JsValue {
    let rows = &batch.rows;
    begun(&batch)
        .indices("query", rows.iter().map(|row| row.query))
        .indices("body", rows.iter().map(|row| row.body))
        .bytes("status", rows.iter().map(|row| code(row.status)))
        .doubles("separation", rows.iter().map(|row| row.separation))
        .doubles("normal", rows.iter().flat_map(|row| row.normal))
        .doubles("points", rows.iter().flat_map(|row| row.points).flatten())
        .into()
}

/// The columns of hits of rays, a row for each; one that is missing has no numbers.
fn ray_hits<'a>(row: Row, hits: impl Iterator<Item = Option<&'a RayHit>> + Clone) -> Row {
    row.indices("body", hits.clone().map(|hit| hit.map_or(NONE, |hit| hit.body)))
        .indices("face", hits.clone().map(|hit| hit.and_then(|hit| hit.face).unwrap_or(NONE)))
        .doubles("distance", hits.clone().map(|hit| hit.map_or(f64::NAN, |hit| hit.distance)))
        .doubles("point", hits.clone().flat_map(|hit| hit.map_or(NAN, |hit| hit.point)))
        .doubles("normal", hits.flat_map(|hit| hit.and_then(|hit| hit.normal).unwrap_or(NAN)))
}

pub(super) fn raycasts(batch: Batch<Raycast>) -> JsValue {
    ray_hits(begun(&batch), batch.rows.iter().map(|row| row.hit.as_ref())).into()
}

pub(super) fn raycasts_all(batch: Batch<RayHit>) -> JsValue {
    let row = begun(&batch).indices("ray", batch.rows.iter().map(|row| row.ray));
    ray_hits(row, batch.rows.iter().map(Some)).into()
}

pub(super) fn occlusions(batch: Batch<Occlusion>) -> JsValue {
    begun(&batch).bytes("occluded", batch.rows.iter().map(|row| u8::from(row.occluded))).into()
}

/// The columns of hits of moved shapes, a row for each; one that is missing has no numbers.
fn shape_hits<'a>(row: Row, hits: impl Iterator<Item = Option<&'a ShapeCastHit>> + Clone) -> Row {
    let points = |hit: Option<&ShapeCastHit>| hit.and_then(|hit| hit.points).unwrap_or([NAN; 2]);
    row.indices("body", hits.clone().map(|hit| hit.map_or(NONE, |hit| hit.body)))
        .doubles("distance", hits.clone().map(|hit| hit.map_or(f64::NAN, |hit| hit.distance)))
        .doubles("normal", hits.clone().flat_map(|hit| hit.map_or(NAN, |hit| hit.normal)))
        .bytes("initialOverlap", hits.clone().map(|hit| u8::from(hit.is_some_and(|hit| hit.initial_overlap))))
        .doubles("points", hits.clone().flat_map(points).flatten())
        .doubles("separation", hits.map(|hit| hit.and_then(|hit| hit.separation).unwrap_or(f64::NAN)))
}

pub(super) fn shape_casts(batch: Batch<ShapeCastFirst>) -> JsValue {
    shape_hits(begun(&batch), batch.rows.iter().map(|row| row.hit.as_ref())).into()
}

pub(super) fn shape_casts_all(batch: Batch<ShapeCastHit>) -> JsValue {
    let row = begun(&batch).indices("cast", batch.rows.iter().map(|row| row.cast));
    shape_hits(row, batch.rows.iter().map(Some)).into()
}

pub(super) fn shape_casts_any(batch: Batch<ShapeCastAny>) -> JsValue {
    begun(&batch).bytes("hit", batch.rows.iter().map(|row| u8::from(row.is_hit))).into()
}

pub(super) fn nearest_points(batch: Batch<NearestPoint>) -> JsValue {
    let hits = || batch.rows.iter().map(|row| row.hit.as_ref());
    begun(&batch)
        .indices("body", hits().map(|hit| hit.map_or(NONE, |hit| hit.body)))
        .doubles("distance", hits().map(|hit| hit.map_or(f64::NAN, |hit| hit.distance)))
        .doubles("nearest", hits().flat_map(|hit| hit.map_or(NAN, |hit| hit.nearest)))
        .doubles("normal", hits().flat_map(|hit| hit.map_or(NAN, |hit| hit.normal)))
        .into()
}

pub(super) fn containments(batch: Batch<Containment>) -> JsValue {
    let rows = &batch.rows;
    begun(&batch)
        .indices("point", rows.iter().map(|row| row.point))
        .indices("body", rows.iter().map(|row| row.body))
        .doubles("distance", rows.iter().map(|row| row.distance))
        .into()
}

pub(super) fn hits(batch: Batch<bool>) -> JsValue {
    begun(&batch).bytes("hit", batch.rows.iter().map(|&hit| u8::from(hit))).into()
}

pub(super) fn hit_counts(batch: Batch<u32>) -> JsValue {
    begun(&batch).indices("hits", batch.rows.iter().copied()).into()
}
