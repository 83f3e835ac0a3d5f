//! The tab's check: a scene that does not change, judged by every engine that is there.

use hullfield::Engine;
use hullfield::collide::{Arena, Body, Contact, ContactOptions, Hull, Options, Pairs};
use serde_json::{Value, json};

use crate::playground::collide::compare::compare;
use crate::playground::collide::hand::contacts;
use crate::playground::collide::judge::{Judge, Report};
use crate::playground::collide::settings::Settings;
use crate::playground::collide::shapes::Shapes;
use crate::playground::collide::verdicts::{Verdicts, rows_of};
use crate::playground::collide::world::World;

const COUNT: u32 = 400;
/// Frames in which the device's capacity may grow.
const MOST_FRAMES: usize = 8;

/// The bodies: a crowd, and two boxes beside it whose faces touch.
pub(super) fn world(shapes: &Shapes) -> World {
    let mut world = World::new(&Settings { count: COUNT, seed: 3, ..Settings::default() }, shapes);
    for (body, x) in world.bodies.iter_mut().zip([100.0, 100.75]) {
        *body = Body::new(0).at([x, 0.0, 0.0]);
    }
    for body in world.bodies.iter_mut().take(2) {
        // Half a side of 0.375: no number is rounded.
        body.scale = [0.375 / 0.35, 1.0, 1.0];
    }
    world
}

/// Checks that the engines agree, that the contacts of a body are those of a query over all, and that bodies are counted right.
pub(super) async fn check(cpu: Engine, gpu: Option<Engine>) -> Result<Value, String> {
    let text = |error: hullfield::Error| error.to_string();
    let shapes = Shapes::new().map_err(text)?;
    let world = world(&shapes);
    let bodies = &world.bodies;
    let arena = Arena::new(&cpu, &shapes.hulls, Options::default()).map_err(text)?;
    let pairs: Vec<[u32; 2]> = (0..COUNT).flat_map(|a| (a + 1..COUNT).map(move |b| [a, b])).collect();
    let all = arena.intersections(bodies, Pairs::Given(&pairs)).map_err(text)?.await.map_err(text)?;
    let near = arena.intersections(bodies, Pairs::BroadPhase).map_err(text)?.await.map_err(text)?;
    let (all, rows) = (rows_of(&all.rows), rows_of(&near.rows));
    if all != rows {
        return Err(format!(
            "{} pairs meet of all pairs, {} of those of the broad phase",
            all.len(),
            rows.len()
        ));
    }
    let expected = Verdicts::of_rows(COUNT as usize, &rows, near.stats.candidate_count);
    let counts = expected.counts;
    if counts.bodies.iter().sum::<u32>() != COUNT || counts.pairs.iter().sum::<u32>() != rows.len() as u32 {
        return Err(format!("the counts {counts:?} are not those of {COUNT} bodies and {} rows", rows.len()));
    }
    // All three verdicts are there, so that a check of nothing does not pass.
    if counts.pairs[1] == 0 || counts.pairs[2] < 20 || counts.bodies[0] < 20 {
        return Err(format!("too little meets in the scene: {counts:?}"));
    }
    let body = rows.first().map_or(0, |row| row[0] as usize);
    let touches = contacts(&arena, &world, body).map_err(text)?;
    let found = arena.contacts(bodies, Pairs::BroadPhase, &ContactOptions::default()).map_err(text)?;
    let found = found.await.map_err(text)?.rows;
    let of_body = |row: &Contact| row.a as usize == body || row.b as usize == body;
    let mut of_body: Vec<Contact> = found.into_iter().filter(of_body).collect();
    of_body.sort_by(|a, b| a.separation.total_cmp(&b.separation));
    if touches.is_empty() || touches.iter().map(|touch| touch.contact).ne(of_body.iter().copied()) {
        return Err(format!(
            "body {body} has {} contacts by itself, {} of the query over all bodies",
            touches.len(),
            of_body.len()
        ));
    }
    let mut result = json!({"counts": counts.to_value(), "contacts": touches.len(), "gpu": false});
    if let Some(gpu) = gpu {
        let report = judge(&gpu, &shapes.hulls, bodies).await?;
        let rows_of_gpu = report.rows.map(|(_, rows)| rows).unwrap_or_default();
        let outcome = compare(&rows_of_gpu, &rows);
        if let Some((pair, statuses)) = outcome.difference {
            return Err(format!("bodies {pair:?}: the GPU and the CPU say {statuses:?}"));
        }
        // Without open pairs the device's marks are those of the CPU too.
        if outcome.unsettled == 0 && report.counts != counts {
            return Err(format!("the GPU counts {:?}, the CPU {counts:?}", report.counts));
        }
        result["gpu"] = json!(true);
        result["unsettled"] = json!(outcome.unsettled);
    }
    Ok(result)
}

/// The verdicts of the device that the tab draws with.
async fn judge(gpu: &Engine, hulls: &[Hull], bodies: &[Body]) -> Result<Report, String> {
    let text = |error: hullfield::Error| error.to_string();
    let arena = Arena::new(gpu, hulls, Options::default()).map_err(text)?;
    let packed = arena.pack(bodies).map_err(text)?;
    let mut judge = Judge::new(arena).map_err(text)?;
    judge.resize(bodies.len() as u32);
    judge.upload(&packed);
    for _ in 0..MOST_FRAMES {
        let encoder = judge.encode().map_err(text)?;
        judge.submit(encoder);
        judge.read(Some(1));
        let report = judge.wait().await.ok_or("the device gives no numbers back")?;
        if report.is_whole {
            return Ok(report);
        }
    }
    Err(format!("the device has no room after {MOST_FRAMES} frames"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_passes_on_the_engines_of_this_machine() {
        let gpu = Engine::gpu().ok();
        let is_there = gpu.is_some();
        let result = pollster::block_on(check(Engine::cpu(), gpu)).unwrap();
        assert_eq!(result["gpu"], is_there);
        assert!(result["counts"]["pairs"][1].as_u64().unwrap() >= 1, "{result}");
    }
}
