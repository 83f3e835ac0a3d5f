//! Islands, and the blocks (biconnected components) of the dual graph: they prune edges that no shortest path can cross.
//!
//! A shortest path visits a convex cell once, so its strip is a simple path of the dual graph. A simple path stays within the blocks
//! between its ends in the block tree. A search can skip everything else: a dead end, a side room with one door, a district behind a
//! bridge. Hopcroft and Tarjan 1973, "Algorithm 447: Efficient Algorithms for Graph Manipulation".

use crate::navigate::room::build::cells::{Cells, NONE};

/// The island of each cell, and the tree of blocks.
///
/// The nodes of the graph are the cells. Where paths may squeeze, a node for each pinch point (a vertex in which sectors touch) follows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Blocks {
    /// The island of each node.
    pub(crate) island: Vec<u32>,
    /// The number of islands; replaced cells are on none.
    pub(crate) island_count: u32,
    /// The block between a node and its parent in the depth-first tree; [`NONE`] at a root.
    parent_block: Vec<u32>,
    /// For each block its node nearest to the root.
    top_node: Vec<u32>,
    /// For each block the number of its ancestors.
    depth: Vec<u32>,
}

/// An edge whose block is not known yet, and the node that was discovered across it, if any.
#[derive(Debug, Clone, Copy)]
struct PendingEdge {
    side: u32,
    child: u32,
}

/// A node on the stack of the depth-first search.
#[derive(Debug, Clone, Copy)]
struct DfsFrame {
    node: u32,
    next: u32,
    entry_side: u32,
    /// How many edges were pending when this node was discovered.
    pending_count: u32,
}

impl Blocks {
    /// Finds islands and blocks, and writes the block of each side into the cells.
    pub(crate) fn find(cells: &mut Cells, squeeze: bool) -> Self {
        let cell_count = cells.len();
        let mut pinch_node_of = Vec::new();
        let mut pinch_vertices = Vec::new();
        if squeeze {
            pinch_node_of.resize(cells.points.len(), NONE);
            for (vertex, kind) in cells.vertex_kinds.iter().enumerate() {
                if kind.is_pinched {
                    let original = cells.original(vertex as u32) as usize;
                    if pinch_node_of[original] == NONE {
                        pinch_node_of[original] = (cell_count + pinch_vertices.len()) as u32;
                        pinch_vertices.push(original as u32);
                    }
                    pinch_node_of[vertex] = pinch_node_of[original];
                }
            }
        }
        let node_count = cell_count + pinch_vertices.len();
        let mut found =
            Self { island: vec![NONE; node_count], parent_block: vec![NONE; node_count], ..Self::default() };
        // Hopcroft and Tarjan's numbers: the order of discovery, from 1, and the low point.
        let mut order = vec![0_u32; node_count];
        let mut low = vec![0_u32; node_count];
        let mut order_count = 0;
        let mut stack: Vec<DfsFrame> = Vec::new();
        let mut pending: Vec<PendingEdge> = Vec::new();
        for root in 0..cell_count as u32 {
            if order[root as usize] != 0 || cells.count[root as usize] == 0 {
                continue;
            }
            order_count += 1;
            order[root as usize] = order_count;
            low[root as usize] = order_count;
            found.island[root as usize] = found.island_count;
            stack.push(DfsFrame { node: root, next: 0, entry_side: NONE, pending_count: 0 });
            while let Some(frame) = stack.last_mut() {
                let node = frame.node as usize;
                let edge = next_edge(cells, &pinch_node_of, &pinch_vertices, frame.node, frame.next);
                frame.next += 1;
                match edge {
                    NextEdge::Wall => {}
                    NextEdge::To { side, .. } if side != NONE && side == frame.entry_side => {}
                    NextEdge::To { node: other, side } => {
                        if order[other as usize] == 0 {
                            order_count += 1;
                            order[other as usize] = order_count;
                            low[other as usize] = order_count;
                            found.island[other as usize] = found.island_count;
                            let pending_count = pending.len() as u32;
                            pending.push(PendingEdge { side, child: other });
                            let entry_side =
                                if side == NONE { NONE } else { cells.sides[side as usize].twin };
                            stack.push(DfsFrame { node: other, next: 0, entry_side, pending_count });
                        } else if order[other as usize] < order[node] {
                            // The edge back to a pinch point counts as a second edge. That only makes a block larger.
                            pending.push(PendingEdge { side, child: NONE });
                            low[node] = low[node].min(order[other as usize]);
                        }
                    }
                    NextEdge::End => {
                        let done = *frame;
                        stack.pop();
                        let Some(parent) = stack.last().map(|frame| frame.node as usize) else { break };
                        low[parent] = low[parent].min(low[done.node as usize]);
                        if low[done.node as usize] >= order[parent] {
                            let block = found.top_node.len() as u32;
                            found.top_node.push(parent as u32);
                            for edge in pending.drain(done.pending_count as usize..) {
                                if edge.child != NONE {
                                    found.parent_block[edge.child as usize] = block;
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
        // A block comes before its parent block.
        found.depth = vec![0; found.top_node.len()];
        for block in (0..found.top_node.len()).rev() {
            let parent_block = found.parent_block[found.top_node[block] as usize];
            if parent_block != NONE {
                found.depth[block] = found.depth[parent_block as usize] + 1;
            }
        }
        found
    }

    /// The number of blocks.
    pub(crate) fn len(&self) -> usize {
        self.top_node.len()
    }

    /// Calls `visit` with each block between two cells of one island.
    pub(crate) fn visit_between(&self, a: u32, b: u32, mut pending_count: impl FnMut(u32)) {
        let (mut a, mut b) = (a as usize, b as usize);
        while a != b {
            let (block_a, block_b) = (self.parent_block[a], self.parent_block[b]);
            if block_a == block_b {
                if block_a != NONE {
                    pending_count(block_a);
                }
                return;
            }
            let depth = |block: u32| if block == NONE { -1 } else { i64::from(self.depth[block as usize]) };
            let (depth_a, depth_b) = (depth(block_a), depth(block_b));
            if depth_a >= depth_b {
                pending_count(block_a);
                a = self.top_node[block_a as usize] as usize;
            }
            if depth_b >= depth_a {
                pending_count(block_b);
                b = self.top_node[block_b as usize] as usize;
            }
        }
    }
}

/// Where an edge of a node leads.
enum NextEdge {
    To { node: u32, side: u32 },
    Wall,
    End,
}

fn next_edge(cells: &Cells, pinch_node_of: &[u32], pinch_vertices: &[u32], node: u32, next: u32) -> NextEdge {
    let cell_count = cells.len() as u32;
    if node >= cell_count {
        let outgoing = cells.around(pinch_vertices[(node - cell_count) as usize]);
        return match outgoing.get(next as usize) {
            Some(&side) => NextEdge::To { node: cells.cell_of[side as usize], side: NONE },
            None => NextEdge::End,
        };
    }
    let sides = cells.sides_of(node);
    let count = sides.len();
    if let Some(side) = sides.get(next as usize) {
        return match side.twin {
            NONE => NextEdge::Wall,
            _ => NextEdge::To { node: side.neighbour, side: cells.first[node as usize] + next },
        };
    }
    match sides.get(next as usize - count) {
        Some(side) if !pinch_node_of.is_empty() => match pinch_node_of[side.vertex as usize] {
            NONE => NextEdge::Wall,
            pinch_node => NextEdge::To { node: pinch_node, side: NONE },
        },
        _ => NextEdge::End,
    }
}
