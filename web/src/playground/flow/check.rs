//! Checks fields: against a plain breadth-first search, after painting, and on both engines.

use hullfield::Engine;
use hullfield::flow::{Connectivity, Corners, FieldOptions, Flow, UNREACHABLE};
use serde_json::{Value, json};

use crate::playground::flow::crowd::Answer;
use crate::playground::flow::map::{Map, Plan, Tool};
use crate::playground::flow::solver::read;
use crate::playground::host::Host;

/// Cells along an edge.
const SIDE: u32 = 96;

/// Checks every plan on every engine that is there.
///
/// # Errors
/// A sentence that says what is wrong.
pub(super) async fn check(host: Host) -> Result<Value, String> {
    let (cpu, gpu) = (host.cpu(), host.gpu());
    let mut reached = 0;
    let mut changed = 0;
    for (name, plan) in Plan::ALL {
        // The map has costs, and so no plain search; it has diagonals in their place.
        let is_plain = plan != Plan::Map;
        let connectivity = if is_plain { Connectivity::Four } else { Connectivity::Eight(Corners::BothFree) };
        let [before, after] = painted(&cpu, plan, connectivity).await?;
        if is_plain {
            let map = Map::new(plan, SIDE, 1);
            let plain = breadth_first(&map);
            let differ = plain.iter().zip(&before.distances).filter(|(a, b)| a != b).count();
            if differ > 0 {
                return Err(format!(
                    "{name}: {differ} distances differ from those of a breadth-first search."
                ));
            }
        }
        reached += before.distances.iter().filter(|&&distance| distance != UNREACHABLE).count();
        let differ = before.distances.iter().zip(&after.distances).filter(|(a, b)| a != b).count();
        if differ == 0 {
            return Err(format!("{name}: a painted wall changes no distance."));
        }
        changed += differ;
        if let Some(gpu) = &gpu
            && [before, after] != painted(&gpu.engine, plan, connectivity).await?
        {
            return Err(format!("{name}: the fields of the two engines differ."));
        }
    }
    Ok(json!({"reached": reached, "changed": changed, "gpu": gpu.is_some()}))
}

/// The field of a plan, and that after a wall was painted, which must be the field of the painted grid.
async fn painted(engine: &Engine, plan: Plan, connectivity: Connectivity) -> Result<[Answer; 2], String> {
    let error = |error: hullfield::Error| error.to_string();
    let options = FieldOptions::default();
    let mut map = Map::new(plan, SIDE, 1);
    let mut flow = Flow::new(engine, map.grid(connectivity).map_err(error)?).map_err(error)?;
    let mut field = flow.solve(&map.goal_cells(), &options).map_err(error)?.await.map_err(error)?;
    let before = read(&field).await.map_err(error)?;
    let mut edits = Vec::new();
    let side = SIDE as f32;
    map.stroke(Tool::Wall, [[0.1 * side, 0.3 * side], [0.6 * side, 0.4 * side]], 1.5, &mut edits);
    map.stroke(Tool::Goal, [[0.5 * side, 0.8 * side]; 2], 1.0, &mut edits);
    flow.edit(&edits).map_err(error)?;
    let goals = map.goal_cells();
    flow.update_goals(&mut field, &goals).map_err(error)?.await.map_err(error)?;
    let after = read(&field).await.map_err(error)?;
    let flow = Flow::new(engine, map.grid(connectivity).map_err(error)?).map_err(error)?;
    let field = flow.solve(&goals, &options).map_err(error)?.await.map_err(error)?;
    if read(&field).await.map_err(error)? != after {
        return Err(format!("{}: the field after painting is not that of the painted grid.", plan.name()));
    }
    Ok([before, after])
}

/// Distances in steps to four neighbours, from all goals at once.
fn breadth_first(map: &Map) -> Vec<u32> {
    let mut distances = vec![UNREACHABLE; map.blocked.len()];
    let mut wave: Vec<usize> = map.goals.iter().map(|&goal| goal as usize).collect();
    let mut distance = 0;
    while !wave.is_empty() {
        let mut next = Vec::new();
        for index in wave {
            if map.blocked[index] || distances[index] != UNREACHABLE {
                continue;
            }
            distances[index] = distance;
            let [x, y] = map.cell(index);
            let near = [[x, y - 1], [x + 1, y], [x, y + 1], [x - 1, y]];
            next.extend(near.into_iter().filter_map(|cell| map.index(cell)));
        }
        wave = next;
        distance += 1;
    }
    distances
}
