//! Agents that follow a field from cell to cell.

use hullfield::flow::{Connectivity, NEXT_NONE, UNREACHABLE};

use crate::playground::flow::map::Map;
use crate::playground::seed::Random;

/// A field in the host's memory, row-major.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Answer {
    pub(super) distances: Vec<u32>,
    pub(super) next: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Agent {
    /// In cells.
    at: [f32; 2],
    /// The cell that it walks to, or stands in.
    cell: u32,
}

/// The agents.
#[derive(Debug)]
pub(super) struct Crowd {
    agents: Vec<Agent>,
    random: Random,
    /// How many have come to a goal.
    pub(super) arrived_count: u64,
}

/// The most cells that an agent walks in one frame.
const MOST_STEPS: usize = 16;
/// How often a free cell is looked for.
const TRIES: usize = 12;

impl Crowd {
    pub(super) fn new(seed: u64) -> Self {
        Self { agents: Vec::new(), random: Random::new(seed ^ 0x0A6E_0175), arrived_count: 0 }
    }

    /// Sets the number of agents; new ones stand on random free cells.
    pub(super) fn resize(&mut self, count: usize, map: &Map, answer: &Answer) {
        self.agents.truncate(count);
        while self.agents.len() < count {
            let agent = place(&mut self.random, map, answer);
            self.agents.push(agent);
        }
    }

    /// Puts all agents on new cells.
    pub(super) fn scatter(&mut self, map: &Map, answer: &Answer) {
        let count = self.agents.len();
        self.agents.clear();
        self.resize(count, map, answer);
    }

    pub(super) fn count(&self) -> usize {
        self.agents.len()
    }

    /// Where the agents are, in cells. Each has an offset of its own, so that agents in one cell are seen.
    pub(super) fn places(&self) -> impl Iterator<Item = [f32; 2]> + '_ {
        self.agents.iter().enumerate().map(|(index, agent)| {
            let bits = (index as u32).wrapping_mul(0x9e37_79b9);
            let offset = [bits >> 16, bits & 0xffff].map(|half| half as f32 / 65_536.0 * 0.7 - 0.35);
            [agent.at[0] + offset[0], agent.at[1] + offset[1]]
        })
    }

    /// Moves each agent this many cells of cost 1 on. One that comes to a goal begins anew elsewhere. Returns whether any agent moved.
    pub(super) fn step(
        &mut self,
        map: &Map,
        answer: &Answer,
        connectivity: Connectivity,
        length: f32,
    ) -> bool {
        if answer.next.len() != map.blocked.len() || length <= 0.0 {
            return false;
        }
        let offsets = connectivity.offsets();
        let mut is_moved = false;
        for agent in &mut self.agents {
            let mut left = length;
            for _ in 0..MOST_STEPS {
                let index = agent.cell as usize;
                let middle = map.cell(index).map(|at| at as f32 + 0.5);
                let way = [middle[0] - agent.at[0], middle[1] - agent.at[1]];
                let far = way[0].hypot(way[1]);
                // Ground that costs more takes longer.
                let reach = left / map.costs[index] as f32;
                if far > reach {
                    agent.at = [0, 1].map(|axis| agent.at[axis] + way[axis] * (reach / far));
                    is_moved = true;
                    break;
                }
                is_moved |= far > 0.0;
                agent.at = middle;
                left -= far * map.costs[index] as f32;
                let code = answer.next[index];
                if code == NEXT_NONE {
                    if answer.distances[index] == 0 {
                        self.arrived_count += 1;
                        *agent = place(&mut self.random, map, answer);
                        is_moved = true;
                    }
                    break;
                }
                let next = offsets.get(code as usize).and_then(|&[dx, dy, _]| {
                    let [x, y] = map.cell(index);
                    map.index([x + dx, y + dy])
                });
                let Some(next) = next else { break };
                agent.cell = next as u32;
            }
        }
        is_moved
    }
}

/// A random cell from which a goal is reached; where none is found soon, a free one, or any.
fn place(random: &mut Random, map: &Map, answer: &Answer) -> Agent {
    let mut free = None;
    let mut cell = 0;
    for _ in 0..TRIES {
        cell = random.below(map.blocked.len());
        if map.blocked[cell] {
            continue;
        }
        free = Some(cell);
        if answer.distances.get(cell).is_none_or(|&distance| distance != UNREACHABLE && distance > 0) {
            break;
        }
    }
    let cell = free.unwrap_or(cell);
    Agent { at: map.cell(cell).map(|at| at as f32 + 0.5), cell: cell as u32 }
}

#[cfg(test)]
mod tests {
    use hullfield::Engine;
    use hullfield::flow::{FieldOptions, Flow};

    use super::*;
    use crate::playground::flow::map::Plan;

    fn solved(map: &Map, connectivity: Connectivity) -> Answer {
        let flow = Flow::new(&Engine::cpu(), map.grid(connectivity).unwrap()).unwrap();
        let field = flow.solve(&map.goal_cells(), &FieldOptions::default()).unwrap().wait().unwrap();
        Answer {
            distances: field.distances().unwrap().wait().unwrap(),
            next: field.next_codes().unwrap().wait().unwrap(),
        }
    }

    #[test]
    fn agents_come_to_a_goal_and_never_stand_in_a_wall() {
        for connectivity in [Connectivity::Four, Connectivity::default()] {
            let map = Map::new(Plan::Maze, 64, 5);
            let answer = solved(&map, connectivity);
            let mut crowd = Crowd::new(1);
            crowd.resize(300, &map, &answer);
            let mut last: Vec<u32> = Vec::new();
            for _ in 0..400 {
                assert!(crowd.step(&map, &answer, connectivity, 0.8));
                for (index, agent) in crowd.agents.iter().enumerate() {
                    assert!(!map.blocked[agent.cell as usize]);
                    let distance = answer.distances[agent.cell as usize];
                    assert!(distance != UNREACHABLE);
                    // Nearer with each cell, or anew at a middle of a cell.
                    let is_new = agent.at.iter().all(|at| at.fract() == 0.5);
                    assert!(is_new || last.get(index).is_none_or(|&last| distance <= last));
                }
                last = crowd.agents.iter().map(|agent| answer.distances[agent.cell as usize]).collect();
            }
            assert!(crowd.arrived_count > 300, "{}", crowd.arrived_count);
        }
    }

    #[test]
    fn agents_stay_where_no_goal_is() {
        let mut map = Map::new(Plan::Open, 64, 5);
        map.goals.clear();
        let count = map.blocked.len();
        let answer = Answer { distances: vec![UNREACHABLE; count], next: vec![NEXT_NONE; count] };
        let mut crowd = Crowd::new(1);
        crowd.resize(50, &map, &answer);
        assert!(!crowd.step(&map, &answer, Connectivity::Four, 5.0));
        crowd.resize(20, &map, &answer);
        crowd.scatter(&map, &answer);
        assert_eq!((crowd.count(), crowd.places().count(), crowd.arrived_count), (20, 20, 0));
        // A field of another size moves nobody.
        assert!(!crowd.step(&map, &Answer::default(), Connectivity::Four, 5.0));
    }
}
