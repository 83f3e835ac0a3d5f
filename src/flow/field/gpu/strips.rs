//! How a grid is cut into tiles, and into strips where one binding does not hold it.

use std::ops::Range;

use crate::flow::grid::cells::Grid;
use crate::gpu::buffer::chunk_len;
use crate::gpu::context::Context;

use crate::flow::field::gpu::kernels::FlowParams;

/// Rows of a strip are a multiple of that, in two dimensions: the rows of the largest tile.
const FLAT_GRANULE: u32 = 64;
/// Layers of a strip, in three dimensions: those of a tile.
const SOLID_GRANULE: u32 = 8;
/// Cells between the fields of a batch are a multiple of that: a group of the codes' kernel has one field's only.
const PITCH_GRANULE: usize = 1024;

/// How fields are solved over a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Unit cost and four neighbours, by bit planes, in tiles of 64 × 64.
    Wave,
    /// Anything else of two dimensions, in tiles of 32 × 32.
    Flat,
    /// Three dimensions, in tiles of 16 × 8 × 8.
    Solid,
}

impl Kind {
    /// Cells of a tile along each axis.
    pub(crate) fn tile(self) -> [u32; 3] {
        match self {
            Self::Wave => [64, 64, 1],
            Self::Flat => [32, 32, 1],
            Self::Solid => [16, 8, 8],
        }
    }
}

/// The strips of a grid: ranges of whole rows (or layers) of tiles, each with buffers of its own. Where there are several,
/// a strip's arrays hold the next row (or layer) of both neighbours too: its halo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Strips {
    /// Cells of each strip.
    pub(crate) cells: Vec<Range<usize>>,
    /// Rows or layers of a strip, the last one apart.
    slices: u32,
    /// Cells of a row, or of a layer.
    pub(crate) slice_cells: usize,
    /// Cells of the halo on each side; 0 where there is one strip.
    pub(crate) halo: usize,
}

impl Strips {
    /// None where not even one row (or layer) of tiles fits into a binding.
    pub(crate) fn new(context: &Context, grid: &Grid) -> Option<Self> {
        let [width, height, depth] = grid.size();
        let is_flat = grid.connectivity().dimension() == 2;
        let (slice_cells, slice_count, granule) = if is_flat {
            (width as usize, height, FLAT_GRANULE)
        } else {
            (width as usize * height as usize, depth, SOLID_GRANULE)
        };
        let most = chunk_len::<u32>(context).min((context.limits().max_buffer_size / 4) as usize);
        let cell_count = grid.cell_count();
        if cell_count.next_multiple_of(PITCH_GRANULE) <= most {
            let cells = std::iter::once(0..cell_count).collect();
            return Some(Self { cells, slices: slice_count, slice_cells, halo: 0 });
        }
        // What codes a word has four of is rounded up as well.
        let fitting = (most.saturating_sub(PITCH_GRANULE) / slice_cells).saturating_sub(2);
        let slices = (fitting as u64).min(slice_count.into()) as u32 / granule * granule;
        if slices == 0 {
            return None;
        }
        let step = slices as usize * slice_cells;
        let cells = crate::gpu::buffer::chunks(cell_count, step).collect();
        Some(Self { cells, slices, slice_cells, halo: slice_cells })
    }

    /// Values of the arrays of a strip, halos included.
    pub(crate) fn len(&self, strip: usize) -> usize {
        self.cells[strip].len() + 2 * self.halo
    }

    /// The strip of a cell.
    pub(crate) fn of(&self, cell: usize) -> usize {
        cell / (self.slices as usize * self.slice_cells)
    }

    /// The strips whose arrays hold a cell, and its place there.
    pub(crate) fn places(&self, cell: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let held = self.of(cell);
        (held.saturating_sub(1)..(held + 2).min(self.cells.len())).filter_map(move |strip| {
            let first = self.cells[strip].start as i64 - self.halo as i64;
            let place = cell as i64 - first;
            (place >= 0 && place < self.len(strip) as i64).then_some((strip, place as usize))
        })
    }
}

/// A job's layout: the strips, the tiles, and how many fields lie one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) kind: Kind,
    pub(crate) strips: Strips,
    pub(crate) field_count: usize,
    /// Cells from one field to the next.
    pub(crate) field_pitch: usize,
    /// What the kernels know, of each strip.
    pub(crate) params: Vec<FlowParams>,
}

impl Layout {
    pub(crate) fn new(grid: &Grid, strips: &Strips, kind: Kind, field_count: usize, until: usize) -> Self {
        let (size, tile) = (grid.size(), kind.tile());
        let tiles: [u32; 3] = std::array::from_fn(|axis| size[axis].div_ceil(tile[axis]));
        let slab = if grid.connectivity().dimension() == 2 { 1 } else { 2 };
        let slab_tiles: u32 = tiles[..slab].iter().product();
        let field_pitch = strips.cells[0].len().next_multiple_of(PITCH_GRANULE);
        let strip_params = |(strip, cells): (usize, &Range<usize>)| {
            let mut params = FlowParams {
                size,
                field_count: field_count as u32,
                tiles,
                tile_count: tiles.iter().product(),
                tile,
                row_words: 2 * grid.row_words() as u32,
                first_cell: cells.start as u32,
                cell_count: cells.len() as u32,
                halo: strips.halo as u32,
                field_pitch: field_pitch as u32,
                strip: strip as u32,
                strip_count: strips.cells.len() as u32,
                strip_tiles: strips.slices.div_ceil(tile[slab]) * slab_tiles,
                is_weighted: u32::from(!grid.costs().is_empty()),
                move_count: 0,
                corner_rule: 0,
                is_exit: 0,
                until_count: until as u32,
                moves: [[0; 4]; 26],
            };
            params.set_moves(grid);
            params
        };
        let params = strips.cells.iter().enumerate().map(strip_params).collect();
        Self { kind, strips: strips.clone(), field_count, field_pitch, params }
    }

    pub(crate) fn tile_count(&self) -> usize {
        self.field_count * self.params[0].tile_count as usize
    }

    /// Words of a bit plane, of all fields.
    pub(crate) fn plane_words(&self) -> usize {
        let params = &self.params[0];
        self.field_count * params.size[1] as usize * 2 * params.tiles[0] as usize
    }

    /// Values of the arrays of a strip's distances, halos included.
    pub(crate) fn distances_len(&self, strip: usize) -> usize {
        if self.field_count == 1 { self.strips.len(strip) } else { self.field_count * self.field_pitch }
    }

    /// Words of the codes of a strip.
    pub(crate) fn code_words(&self, strip: usize) -> usize {
        if self.field_count == 1 {
            self.strips.cells[strip].len().div_ceil(4)
        } else {
            self.field_count * self.field_pitch / 4
        }
    }
}
