//! The vertices of hulls as the CPU engine scans them: eight at a time.
//!
//! The blocks of a large hull are clusters: the eight vertices of one are near one another. Its table has for each cell of the
//! direction cube the four blocks that hold every vertex that can be furthest along a direction of the cell. So the table takes little
//! more of a cache than the vertices do, and there is no loop whose end could be mispredicted. A cell that needs more blocks has none,
//! and all are scanned for it.

use glam::{Vec3, Vec4};

use crate::collide::hull::cells::{cell_of, for_cells};
use crate::order::sort_ids;

/// Vertices in a block.
const LANES: usize = 8;

/// Blocks that are scanned for a cell.
const CELL_BLOCKS: usize = 4;

/// Stands for the blocks of a cell for which all are scanned.
const ALL: [u16; CELL_BLOCKS] = [u16::MAX; CELL_BLOCKS];

/// Most cells along a side of a face of the direction cube.
const SIDE_LIMIT: u32 = 40;

/// Eight vertices, component by component.
#[repr(C, align(32))]
#[derive(Debug, Clone, Copy)]
struct VertexBlock {
    x: [f32; LANES],
    y: [f32; LANES],
    z: [f32; LANES],
}

/// The blocks and tables of all hulls of an arena.
#[derive(Debug, Clone, Default)]
pub(crate) struct Blocks {
    blocks: Vec<VertexBlock>,
    cells: Vec<[u16; CELL_BLOCKS]>,
    places: Vec<Place>,
}

/// Where a hull's blocks and cells are.
#[derive(Debug, Clone, Copy)]
struct Place {
    first_block: u32,
    block_count: u32,
    first_cell: u32,
    /// Cells along one side of a face of the direction cube; 0: no table.
    side: u32,
}

/// The blocks of one hull, and its table if it has one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HullBlocks<'a> {
    blocks: &'a [VertexBlock],
    cells: &'a [[u16; CELL_BLOCKS]],
    side: u32,
}

impl Blocks {
    /// Lays out the vertices of the next hull.
    pub(crate) fn push(&mut self, vertices: &[Vec3], with_table: bool) {
        let (first_block, first_cell) = (self.blocks.len(), self.cells.len());
        let mut order: Vec<u32> = (0..vertices.len() as u32).collect();
        if with_table {
            cluster(&mut order, vertices);
        }
        for chunk in order.chunks(LANES) {
            // The last block is filled up with its first vertex.
            let at = |lane: usize| vertices[*chunk.get(lane).unwrap_or(&chunk[0]) as usize];
            self.blocks.push(VertexBlock {
                x: std::array::from_fn(|lane| at(lane).x),
                y: std::array::from_fn(|lane| at(lane).y),
                z: std::array::from_fn(|lane| at(lane).z),
            });
        }
        let block_count = self.blocks.len() - first_block;
        let with_table = with_table && block_count < usize::from(u16::MAX);
        let side = if with_table { self.push_table(vertices, &order) } else { 0 };
        self.places.push(Place {
            first_block: first_block as u32,
            block_count: block_count as u32,
            first_cell: first_cell as u32,
            side,
        });
    }

    /// Keeps the first hulls.
    pub(crate) fn truncate(&mut self, hull_count: usize) {
        if let Some(place) = self.places.get(hull_count) {
            self.blocks.truncate(place.first_block as usize);
            self.cells.truncate(place.first_cell as usize);
            self.places.truncate(hull_count);
        }
    }

    /// Appends the blocks of each cell, and returns the number of cells along a side.
    fn push_table(&mut self, vertices: &[Vec3], order: &[u32]) -> u32 {
        let mut block_of = vec![0; vertices.len()];
        for (at, &vertex) in order.iter().enumerate() {
            block_of[vertex as usize] = (at / LANES) as u16;
        }
        // Fine enough for nine of ten cells to need no more than three blocks.
        let wanted = ((vertices.len() as f64).sqrt() * 0.5).ceil() as u32;
        let split = if wanted > 8 { 4 } else { 2 };
        let side = wanted.next_multiple_of(split).clamp(split, SIDE_LIMIT);
        for_cells(vertices, side, split, |list| {
            let mut blocks: Vec<u16> = list.iter().map(|&vertex| block_of[vertex as usize]).collect();
            blocks.sort_unstable();
            blocks.dedup();
            let cell = if blocks.len() > CELL_BLOCKS {
                ALL
            } else {
                std::array::from_fn(|at| *blocks.get(at).unwrap_or(&blocks[0]))
            };
            self.cells.push(cell);
        });
        side
    }

    /// The blocks of a hull.
    #[inline(always)]
    pub(crate) fn of(&self, hull: u32) -> HullBlocks<'_> {
        let Place { first_block, block_count, first_cell, side } = self.places[hull as usize];
        let (first_block, first_cell) = (first_block as usize, first_cell as usize);
        let cell_count = 6 * (side * side) as usize;
        HullBlocks {
            blocks: &self.blocks[first_block..first_block + block_count as usize],
            cells: &self.cells[first_cell..first_cell + cell_count],
            side,
        }
    }

    /// How many blocks of a hull are scanned for a direction; 0 where the hull has a table.
    #[inline(always)]
    pub(crate) fn scan_len(&self, hull: u32) -> usize {
        let Place { block_count, side, .. } = self.places[hull as usize];
        if side == 0 { block_count as usize } else { 0 }
    }
}

/// Sorts vertices so that each run of eight is a cluster: halves them along their widest axis, again and again.
fn cluster(order: &mut [u32], vertices: &[Vec3]) {
    if order.len() <= LANES {
        return;
    }
    let of = |&vertex: &u32| vertices[vertex as usize];
    let low = order.iter().map(of).fold(Vec3::INFINITY, Vec3::min);
    let high = order.iter().map(of).fold(Vec3::NEG_INFINITY, Vec3::max);
    let [x, y, z] = (high - low).to_array();
    let axis = if x >= y && x >= z {
        0
    } else if y >= z {
        1
    } else {
        2
    };
    sort_ids(order, &|one, other| of(&one)[axis].total_cmp(&of(&other)[axis]));
    let half = order.len().div_ceil(LANES) / 2 * LANES;
    let (low, high) = order.split_at_mut(half);
    cluster(low, vertices);
    cluster(high, vertices);
}

impl<'a> HullBlocks<'a> {
    /// No hull.
    pub(crate) const NONE: Self = Self { blocks: &[], cells: &[], side: 0 };

    /// The vertex furthest along `direction`; of equal ones, any, but always the same.
    #[inline(always)]
    pub(crate) fn furthest(&self, direction: Vec3) -> Vec3 {
        if self.side != 0 {
            let cell = self.cells.get(cell_of(direction, self.side) as usize).copied().unwrap_or(ALL);
            if let [Some(a), Some(b), Some(c), Some(d)] = cell.map(|block| self.blocks.get(block as usize)) {
                return furthest_of_four([a, b, c, d], direction);
            }
        }
        furthest(self.blocks, direction)
    }
}

/// The vertex of some blocks furthest along `direction`; of equal ones, any, but always the same.
#[inline(always)]
fn furthest(blocks: &[VertexBlock], direction: Vec3) -> Vec3 {
    let Some((first, rest)) = blocks.split_first() else { return Vec3::ZERO };
    let mut most = first.along(direction);
    if rest.is_empty() {
        return first.vertex(lane_of_greatest(&most));
    }
    let mut which = [0_u32; LANES];
    for (index, block) in (1..).zip(rest) {
        let along = block.along(direction);
        for lane in 0..LANES {
            let better = along[lane] > most[lane];
            most[lane] = if better { along[lane] } else { most[lane] };
            which[lane] = if better { index } else { which[lane] };
        }
    }
    let lane = lane_of_greatest(&most);
    blocks[which[lane] as usize].vertex(lane)
}

/// The same for four blocks.
#[inline(always)]
fn furthest_of_four(blocks: [&VertexBlock; CELL_BLOCKS], direction: Vec3) -> Vec3 {
    let mut most = blocks[0].along(direction);
    let mut which = [0_u32; LANES];
    for index in 1..CELL_BLOCKS {
        let along = blocks[index].along(direction);
        for lane in 0..LANES {
            let better = along[lane] > most[lane];
            most[lane] = if better { along[lane] } else { most[lane] };
            which[lane] = if better { index as u32 } else { which[lane] };
        }
    }
    let lane = lane_of_greatest(&most);
    blocks[which[lane] as usize % CELL_BLOCKS].vertex(lane)
}

impl VertexBlock {
    /// The products of the vertices and a direction.
    #[inline(always)]
    fn along(&self, direction: Vec3) -> [f32; LANES] {
        let mut along = [0.0_f32; LANES];
        for lane in 0..LANES {
            along[lane] =
                self.x[lane] * direction.x + self.y[lane] * direction.y + self.z[lane] * direction.z;
        }
        along
    }

    #[inline(always)]
    fn vertex(&self, lane: usize) -> Vec3 {
        Vec3::new(self.x[lane], self.y[lane], self.z[lane])
    }
}

/// The first lane with the greatest number.
#[inline(always)]
fn lane_of_greatest(&[a, b, c, d, e, f, g, h]: &[f32; LANES]) -> usize {
    let (low, high) = (Vec4::new(a, b, c, d), Vec4::new(e, f, g, h));
    let greatest = Vec4::splat(low.max(high).max_element());
    // A NaN direction has no furthest vertex, so any is returned.
    let lane = (low.cmpeq(greatest).bitmask() | high.cmpeq(greatest).bitmask() << 4).trailing_zeros() % 8;
    lane as usize
}
