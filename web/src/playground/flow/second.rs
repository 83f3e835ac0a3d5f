//! Fields that the second worker solves: those of large grids on the CPU, which frames would wait for.

use std::cell::RefCell;

use hullfield::Engine;
use hullfield::flow::{Connectivity, Corners, Edit, Field, FieldOptions, Flow};
use serde_json::{Value, json};
use web_time::Instant;

use crate::playground::flow::crowd::Answer;
use crate::playground::flow::map::Map;
use crate::playground::host::ready;
use crate::playground::message::Message;
use crate::playground::scene::Reply;

/// Moves, by their number in a question.
const MOVES: [Connectivity; 4] = [
    Connectivity::Four,
    Connectivity::Eight(Corners::BothFree),
    Connectivity::Eight(Corners::OneFree),
    Connectivity::Eight(Corners::Any),
];
/// The bit of a cell's byte that says that it is blocked; the others are its cost.
const BLOCKED: u8 = 0x80;
/// A grid of which more than one cell in so many has changed is solved anew.
const FEW: usize = 16;

/// What the second worker has of the last question.
struct Kept {
    map: Map,
    connectivity: Connectivity,
    flow: Flow,
    /// None after an error.
    field: Option<Field>,
}

thread_local! {
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// The question for the field of a grid. Its bytes: the goals' indices, then a byte for each cell.
pub(super) fn question(tab: &str, map: &Map, connectivity: Connectivity) -> (Value, Vec<u8>) {
    let moves = MOVES.iter().position(|moves| *moves == connectivity);
    let data = json!({"tab": tab, "side": map.side, "moves": moves, "goals": map.goals.len()});
    let mut bytes = Vec::with_capacity(4 * map.goals.len() + map.blocked.len());
    bytes.extend(map.goals.iter().flat_map(|goal| goal.to_le_bytes()));
    let cells = map.blocked.iter().zip(&map.costs);
    bytes.extend(cells.map(|(&is_blocked, &cost)| cost as u8 | if is_blocked { BLOCKED } else { 0 }));
    (data, bytes)
}

/// The grid of a question.
fn asked(message: &Message) -> Option<(Map, Connectivity)> {
    let number = |name: &str| message.number(name).map(|number| number as usize);
    let (side, connectivity) = (number("side")?, *MOVES.get(number("moves")?)?);
    let (goals, cells) = message.bytes().split_at_checked(4 * number("goals")?)?;
    if cells.len() != side * side {
        return None;
    }
    let goals = goals.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    let map = Map {
        side: side as u32,
        blocked: cells.iter().map(|cell| cell & BLOCKED != 0).collect(),
        costs: cells.iter().map(|cell| u32::from(cell & !BLOCKED)).collect(),
        goals,
    };
    Some((map, connectivity))
}

/// Answers a question in the second worker. The answer's bytes: the distances, then the codes of the next cells.
///
/// # Errors
/// A sentence that says why there is no field.
pub(super) fn second(message: &Message) -> Reply {
    let (map, connectivity) = asked(message).ok_or("The question for a field is not complete.")?;
    KEPT.with_borrow_mut(|kept| {
        let begin = Instant::now();
        let is_update = solve(kept, map, connectivity).map_err(|error| error.to_string())?;
        let ms = begin.elapsed().as_secs_f64() * 1e3;
        let field = kept.as_ref().and_then(|kept| kept.field.as_ref()).ok_or("There is no field.")?;
        let bytes = bytes(field).map_err(|error| error.to_string())?;
        Ok((json!({"ms": ms, "update": is_update}), bytes))
    })
}

/// Solves the field of a grid, by an update where the last question was for nearly the same one. Returns whether it was one.
fn solve(kept: &mut Option<Kept>, map: Map, connectivity: Connectivity) -> hullfield::Result<bool> {
    if let Some(mut old) = kept.take()
        && (old.map.side, old.connectivity) == (map.side, connectivity)
        && let Some(edits) = edits(&old.map, &map)
        && let Some(mut field) = old.field.take()
    {
        old.flow.edit(&edits)?;
        ready(old.flow.update_goals(&mut field, &map.goal_cells())?)?;
        *kept = Some(Kept { map, field: Some(field), ..old });
        return Ok(true);
    }
    let flow = Flow::new(&Engine::cpu(), map.grid(connectivity)?)?;
    let field = ready(flow.solve(&map.goal_cells(), &FieldOptions::default())?)?;
    *kept = Some(Kept { map, connectivity, flow, field: Some(field) });
    Ok(false)
}

/// The edits that turn one grid into another of the same size. None where there are so many that a new solve is faster.
fn edits(from: &Map, to: &Map) -> Option<Vec<Edit>> {
    let mut edits = Vec::new();
    for (index, &is_blocked) in to.blocked.iter().enumerate() {
        let cell = || to.cell(index).into();
        if from.blocked[index] != is_blocked {
            edits.push(if is_blocked { Edit::Block(cell()) } else { Edit::Free(cell()) });
        }
        if from.costs[index] != to.costs[index] {
            edits.push(Edit::Cost(cell(), to.costs[index]));
        }
    }
    (edits.len() <= to.blocked.len() / FEW).then_some(edits)
}

fn bytes(field: &Field) -> hullfield::Result<Vec<u8>> {
    let (distances, next) = (ready(field.distances()?)?, ready(field.next_codes()?)?);
    let mut bytes = Vec::with_capacity(5 * next.len());
    bytes.extend_from_slice(bytemuck::cast_slice(&distances));
    bytes.extend_from_slice(&next);
    Ok(bytes)
}

/// A field that the second worker solved.
pub(super) struct Solved {
    pub(super) answer: Answer,
    pub(super) is_update: bool,
    pub(super) ms: f64,
}

/// Reads the answer to a question for the field of so many cells.
///
/// # Errors
/// The second worker's sentence.
pub(super) fn solved(message: &Message, count: usize) -> Result<Solved, String> {
    if let Some(sentence) = message.text("error") {
        return Err(sentence.to_owned());
    }
    let parts = message.bytes().split_at_checked(4 * count).filter(|(_, next)| next.len() == count);
    let (distances, next) = parts.ok_or("The second worker's field has another size.")?;
    let answer = Answer { distances: bytemuck::pod_collect_to_vec(distances), next: next.to_vec() };
    let is_update = message.flag("update").unwrap_or_default();
    Ok(Solved { answer, is_update, ms: message.number("ms").unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playground::flow::map::{Plan, Tool};

    const SIDE: u32 = 96;

    fn directly(map: &Map, connectivity: Connectivity) -> Answer {
        let flow = Flow::new(&Engine::cpu(), map.grid(connectivity).unwrap()).unwrap();
        let field = ready(flow.solve(&map.goal_cells(), &FieldOptions::default()).unwrap()).unwrap();
        let distances = ready(field.distances().unwrap()).unwrap();
        Answer { distances, next: ready(field.next_codes().unwrap()).unwrap() }
    }

    fn by_second(map: &Map, connectivity: Connectivity) -> Solved {
        let (data, bytes) = question("flow", map, connectivity);
        let (data, bytes) = second(&Message::new(data, bytes)).unwrap();
        solved(&Message::new(data, bytes), map.blocked.len()).unwrap()
    }

    #[test]
    fn the_second_workers_field_is_that_of_the_grid_after_each_stroke() {
        for connectivity in MOVES {
            let mut map = Map::new(Plan::Map, SIDE, 3);
            let first = by_second(&map, connectivity);
            assert!(!first.is_update && first.answer == directly(&map, connectivity));
            let tools = [Tool::Cost, Tool::Wall, Tool::Goal, Tool::Free, Tool::Goal, Tool::OneGoal];
            for (step, tool) in (0..).zip(tools) {
                let at = SIDE as f32 * (0.3 + 0.05 * step as f32);
                map.stroke(tool, [[10.0, at], [70.0, at]], 1.5, &mut Vec::new());
                let answer = by_second(&map, connectivity);
                assert!(answer.is_update, "{tool:?}");
                assert!(answer.answer == directly(&map, connectivity), "{tool:?}");
            }
            // Many cells change at once.
            map.stroke(Tool::Wall, [[10.0, 60.0], [90.0, 60.0]], 15.0, &mut Vec::new());
            map.stroke(Tool::Goal, [[48.0, 20.0]; 2], 2.0, &mut Vec::new());
            let answer = by_second(&map, connectivity);
            assert!(!answer.is_update && answer.answer == directly(&map, connectivity));
        }
    }

    #[test]
    fn what_is_not_complete_is_a_sentence() {
        let (data, mut bytes) = question("flow", &Map::new(Plan::Open, 64, 1), Connectivity::Four);
        bytes.pop();
        for (data, bytes) in [(data, bytes), (json!({"tab": "flow"}), Vec::new())] {
            assert!(second(&Message::new(data, bytes)).unwrap_err().ends_with('.'));
        }
        let count = 64 * 64;
        let message = |data, length| Message::new(data, vec![0; length]);
        assert!(solved(&message(json!({}), 5 * count - 1), count).is_err());
        assert!(solved(&message(json!({"error": "No."}), 0), count).is_err_and(|error| error == "No."));
    }
}
