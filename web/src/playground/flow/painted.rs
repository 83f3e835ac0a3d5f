//! What was painted on a grid, as a text for a link: the cells that are not as they were planned, row by row, as lengths of runs in base64.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use crate::playground::flow::map::{Map, PAINTED_COST};

/// The longest text that a link keeps.
const MOST_TEXT: usize = 8192;
/// A run of equal cells is one number. This many low bits of it are the kind of the cells; the others are the length of the run.
const KIND_BITS: u32 = 4;
/// The kind of a cell that is as planned. Others are one more than the sum of these.
const PLANNED: u8 = 0;
const WALL: u8 = 1;
const GOAL: u8 = 2;
const COST_1: u8 = 4;
const COST_PAINTED: u8 = 8;

/// What a cell of a painted grid is. None where no brush paints that.
fn kind(planned: &Map, painted: &Map, index: usize) -> Option<u8> {
    let is_goal = |map: &Map| map.goals.contains(&(index as u32));
    let all = |map: &Map| (map.blocked[index], is_goal(map), map.costs[index]);
    if all(planned) == all(painted) {
        return Some(PLANNED);
    }
    let cost = match painted.costs[index] {
        cost if cost == planned.costs[index] => 0,
        1 => COST_1,
        PAINTED_COST => COST_PAINTED,
        _ => return None,
    };
    let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
    Some(1 + bit(painted.blocked[index], WALL) + bit(is_goal(painted), GOAL) + cost)
}

/// The text of a painted grid; empty where nothing was painted. None where it is too long for a link.
pub(super) fn encode(planned: &Map, painted: &Map) -> Option<String> {
    let mut runs: Vec<(u64, u8)> = Vec::new();
    for index in 0..painted.blocked.len() {
        let kind = kind(planned, painted, index)?;
        match runs.last_mut() {
            Some((length, last)) if *last == kind => *length += 1,
            _ => runs.push((1, kind)),
        }
    }
    // The rest is as planned.
    runs.pop_if(|(_, kind)| *kind == PLANNED);
    let mut bytes = Vec::new();
    for (length, kind) in runs {
        // Seven bits a byte, the lowest first; the highest bit says that more follow.
        let mut number = length << KIND_BITS | u64::from(kind);
        while number > 0x7f {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
        if bytes.len() > MOST_TEXT {
            return None;
        }
    }
    Some(BASE64_URL_SAFE_NO_PAD.encode(bytes)).filter(|text| text.len() <= MOST_TEXT)
}

/// Paints what a text says on a grid as it was planned. None where it is no such text, or more than the grid has.
pub(super) fn decode(text: &str, mut map: Map) -> Option<Map> {
    let mut bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?.into_iter();
    let mut at = 0_usize;
    while let Some(first) = bytes.next() {
        let (mut number, mut byte, mut shift) = (u64::from(first & 0x7f), first, 7);
        while byte & 0x80 != 0 {
            byte = bytes.next()?;
            // A grid has fewer than 2³⁰ cells.
            if shift > 28 {
                return None;
            }
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
        }
        let (length, kind) = ((number >> KIND_BITS) as usize, (number & ((1 << KIND_BITS) - 1)) as u8);
        let end = at.checked_add(length).filter(|&end| end <= map.blocked.len())?;
        if let Some(bits) = kind.checked_sub(1) {
            let has = |bit: u8| bits & bit != 0;
            if has(WALL) && has(GOAL) || has(COST_1) && has(COST_PAINTED) {
                return None;
            }
            for index in at..end {
                map.blocked[index] = has(WALL);
                if has(COST_1) {
                    map.costs[index] = 1;
                } else if has(COST_PAINTED) {
                    map.costs[index] = PAINTED_COST;
                }
                if has(GOAL) {
                    map.goals.insert(index as u32);
                } else {
                    map.goals.remove(&(index as u32));
                }
            }
        }
        at = end;
    }
    Some(map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playground::flow::map::{Plan, Tool};

    #[test]
    fn a_text_gives_the_painted_grid_back() {
        for (name, plan) in Plan::ALL {
            let planned = Map::new(plan, 96, 4);
            let mut painted = planned.clone();
            assert_eq!(encode(&planned, &painted).as_deref(), Some(""), "{name}");
            let mut edits = Vec::new();
            for (tool, ends, radius) in [
                (Tool::Wall, [[3.0, 10.5], [90.0, 60.5]], 2.5),
                (Tool::Cost, [[20.0, 90.0], [70.0, 5.0]], 4.0),
                (Tool::Free, [[-4.0, 40.0], [120.0, 44.0]], 1.0),
                (Tool::Goal, [[50.5, 50.5], [55.5, 50.5]], 0.0),
                (Tool::Wall, [[95.5, 95.5]; 2], 0.0),
            ] {
                painted.stroke(tool, ends, radius, &mut edits);
                let text = encode(&planned, &painted).unwrap();
                assert!(text.len() < 2500, "{name}: {}", text.len());
                assert!(decode(&text, planned.clone()).unwrap() == painted, "{name}");
            }
            painted.stroke(Tool::OneGoal, [[50.5, 50.5], [60.5, 41.5]], 0.0, &mut edits);
            let text = encode(&planned, &painted).unwrap();
            assert_eq!(decode(&text, planned.clone()).unwrap().goals, painted.goals, "{name}");
        }
    }

    #[test]
    fn a_text_that_is_cut_or_changed_is_a_grid_or_refused() {
        let planned = Map::new(Plan::Map, 64, 2);
        let mut painted = planned.clone();
        painted.stroke(Tool::Wall, [[0.0, 30.0], [64.0, 33.0]], 3.0, &mut Vec::new());
        let text = encode(&planned, &painted).unwrap();
        for cut in 0..text.len() {
            let taken = decode(&text[..cut], planned.clone());
            assert!(taken.is_none_or(|map| map.goals.iter().all(|&goal| !map.blocked[goal as usize])));
        }
        // No base64; a run beyond the grid; a wall that is a goal; two costs; a number without an end.
        let far = BASE64_URL_SAFE_NO_PAD.encode([0xf2, 0xff, 0xff, 0x7f]);
        let [both, costs] = [1 + WALL + GOAL, 1 + COST_1 + COST_PAINTED]
            .map(|kind| BASE64_URL_SAFE_NO_PAD.encode([1 << KIND_BITS | kind]));
        let endless = BASE64_URL_SAFE_NO_PAD.encode([0xff; 12]);
        for bad in ["?", "ü", &far, &both, &costs, &endless] {
            assert!(decode(bad, planned.clone()).is_none(), "{bad}");
        }
        assert!(decode("", planned.clone()).unwrap() == planned);
    }

    #[test]
    fn a_text_that_is_too_long_is_none() {
        let planned = Map::new(Plan::Open, 512, 1);
        let mut painted = planned.clone();
        for index in (0..painted.blocked.len()).step_by(7) {
            painted.blocked[index] ^= true;
            painted.goals.remove(&(index as u32));
        }
        assert_eq!(encode(&planned, &painted), None);
    }
}
