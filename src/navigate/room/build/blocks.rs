//! Islands, and the blocks of the dual graph: which crossings can lie on a path at all.
//!
//! A shortest path meets a convex cell once, so its strip is a simple path of the dual graph, and a simple path stays
//! within the biconnected blocks on the way between its ends in the tree of blocks. Everything else (a dead end, a
//! side room with one door, a whole district behind a bridge) needs no look. Hopcroft and Tarjan 1973, "Algorithm
//! 447: Efficient Algorithms for Graph Manipulation".

use crate::navigate::room::build::cells::{Cells, NONE};

/// Which island each cell is on, and the tree of blocks.
///
/// Nodes are the cells, then, where paths may squeeze through, one for each vertex in which sectors touch.
#[derive(Debug, Clone, Default)]
pub(crate) struct Blocks {
    /// The island of each node.
    pub(crate) island: Vec<u32>,
    /// How many islands there are, replaced cells not counted.
    pub(crate) island_count: u32,
    /// The block between a node and the tree's root; [`NONE`] at a root.
    above: Vec<u32>,
    /// The node of each block that is nearest to the root.
    top: Vec<u32>,
    /// How many blocks are above each block.
    depth: Vec<u32>,
}

/// An edge that waits for its block, and the node that it led to first, if any.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    side: u32,
    child: u32,
}

/// A node on the way down.
#[derive(Debug, Clone, Copy)]
struct Visit {
    node: u32,
    next: u32,
    came_by: u32,
    /// How many edges waited when this node was entered.
    mark: u32,
}

impl Blocks {
    /// Finds islands and blocks, and writes each side's block into the cells.
    pub(crate) fn find(cells: &mut Cells, squeeze: bool) -> Self {
        let cell_count = cells.len();
        let mut hub_of = Vec::new();
        let mut hubs = Vec::new();
        if squeeze {
            hub_of.resize(cells.points.len(), NONE);
            for (vertex, kind) in cells.kinds.iter().enumerate() {
                if kind.pinched {
                    let original = cells.original(vertex as u32) as usize;
                    if hub_of[original] == NONE {
                        hub_of[original] = (cell_count + hubs.len()) as u32;
                        hubs.push(original as u32);
                    }
                    hub_of[vertex] = hub_of[original];
                }
            }
        }
        let node_count = cell_count + hubs.len();
        let mut found =
            Self { island: vec![NONE; node_count], above: vec![NONE; node_count], ..Self::default() };
        // The number in the order of visits, from 1, and the least such number that can be reached from below.
        let mut order = vec![0_u32; node_count];
        let mut low = vec![0_u32; node_count];
        let mut visit_count = 0;
        let mut visits: Vec<Visit> = Vec::new();
        let mut waiting: Vec<Waiting> = Vec::new();
        for root in 0..cell_count as u32 {
            if order[root as usize] != 0 || cells.count[root as usize] == 0 {
                continue;
            }
            visit_count += 1;
            order[root as usize] = visit_count;
            low[root as usize] = visit_count;
            found.island[root as usize] = found.island_count;
            visits.push(Visit { node: root, next: 0, came_by: NONE, mark: 0 });
            while let Some(visit) = visits.last_mut() {
                let node = visit.node as usize;
                let step = step(cells, &hub_of, &hubs, visit.node, visit.next);
                visit.next += 1;
                match step {
                    Step::Wall => {}
                    Step::To { side, .. } if side != NONE && side == visit.came_by => {}
                    Step::To { node: other, side } => {
                        if order[other as usize] == 0 {
                            visit_count += 1;
                            order[other as usize] = visit_count;
                            low[other as usize] = visit_count;
                            found.island[other as usize] = found.island_count;
                            let mark = waiting.len() as u32;
                            waiting.push(Waiting { side, child: other });
                            let came_by = if side == NONE { NONE } else { cells.sides[side as usize].twin };
                            visits.push(Visit { node: other, next: 0, came_by, mark });
                        } else if order[other as usize] < order[node] {
                            // The way back to a hub is taken for a second edge: that only makes a block larger.
                            waiting.push(Waiting { side, child: NONE });
                            low[node] = low[node].min(order[other as usize]);
                        }
                    }
                    Step::End => {
                        let done = *visit;
                        visits.pop();
                        let Some(parent) = visits.last().map(|visit| visit.node as usize) else { break };
                        low[parent] = low[parent].min(low[done.node as usize]);
                        if low[done.node as usize] >= order[parent] {
                            let block = found.top.len() as u32;
                            found.top.push(parent as u32);
                            for edge in waiting.drain(done.mark as usize..) {
                                if edge.child != NONE {
                                    found.above[edge.child as usize] = block;
                                }
                                if edge.side != NONE {
                                    let twin = cells.sides[edge.side as usize].twin;
                                    cells.sides[edge.side as usize].block = block;
                                    if twin != NONE {
                                        cells.sides[twin as usize].block = block;
                                    }
                                }
                            }
                        }
                    }
                }
            }
            found.island_count += 1;
        }
        // A block is finished before the one above it.
        found.depth = vec![0; found.top.len()];
        for block in (0..found.top.len()).rev() {
            let above = found.above[found.top[block] as usize];
            if above != NONE {
                found.depth[block] = found.depth[above as usize] + 1;
            }
        }
        found
    }

    /// How many blocks there are.
    pub(crate) fn len(&self) -> usize {
        self.top.len()
    }

    /// Calls `mark` with each block on the way between two cells of one island; it says whether the block is new.
    pub(crate) fn between(&self, a: u32, b: u32, mut mark: impl FnMut(u32)) {
        let (mut a, mut b) = (a as usize, b as usize);
        while a != b {
            let (over_a, over_b) = (self.above[a], self.above[b]);
            if over_a == over_b {
                if over_a != NONE {
                    mark(over_a);
                }
                return;
            }
            let depth = |block: u32| if block == NONE { -1 } else { i64::from(self.depth[block as usize]) };
            let (depth_a, depth_b) = (depth(over_a), depth(over_b));
            if depth_a >= depth_b {
                mark(over_a);
                a = self.top[over_a as usize] as usize;
            }
            if depth_b >= depth_a {
                mark(over_b);
                b = self.top[over_b as usize] as usize;
            }
        }
    }
}

/// Where the next edge of a node leads.
enum Step {
    To { node: u32, side: u32 },
    Wall,
    End,
}

fn step(cells: &Cells, hub_of: &[u32], hubs: &[u32], node: u32, next: u32) -> Step {
    let cell_count = cells.len() as u32;
    if node >= cell_count {
        let fan = cells.around(hubs[(node - cell_count) as usize]);
        return match fan.get(next as usize) {
            Some(&side) => Step::To { node: cells.cell_of[side as usize], side: NONE },
            None => Step::End,
        };
    }
    let sides = cells.sides_of(node);
    let count = sides.len();
    if let Some(side) = sides.get(next as usize) {
        return match side.twin {
            NONE => Step::Wall,
            _ => Step::To { node: side.beyond, side: cells.first[node as usize] + next },
        };
    }
    match sides.get(next as usize - count) {
        Some(side) if !hub_of.is_empty() => match hub_of[side.vertex as usize] {
            NONE => Step::Wall,
            hub => Step::To { node: hub, side: NONE },
        },
        _ => Step::End,
    }
}
