//! How a grid is cut into tiles, and into strips if one binding does not hold it.

use std::ops::Range;

use crate::flow::grid::cells::Grid;
use crate::gpu::buffer::chunk_len;
use crate::gpu::context::Context;

use crate::flow::field::gpu::kernels::FlowParams;

/// In two dimensions a strip has a multiple of this many rows: the rows of the largest tile.
const STRIP_ROW_MULTIPLE: u32 = 64;
/// In three dimensions a strip has a multiple of this many layers: those of a tile.
const STRIP_LAYER_MULTIPLE: u32 = 8;
/// The fields of a batch start at multiples of this many cells, so that a workgroup of the codes' kernel has cells of
/// one field only.
const PITCH_MULTIPLE: usize = 1024;

/// How the tiles of a field are solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TileMethod {
    /// Four neighbours and unit costs: bit planes, in tiles of 64 × 64 cells.
    BitWave,
    /// All other grids of two dimensions: relaxation, in tiles of 32 × 32 cells.
    Relax2d,
    /// Three dimensions: relaxation, in tiles of 16 × 8 × 8 cells.
    Relax3d,
}

impl TileMethod {
    /// The cells of a tile along each axis.
    pub(crate) fn tile_size(self) -> [u32; 3] {
        match self {
            Self::BitWave => [64, 64, 1],
            Self::Relax2d => [32, 32, 1],
            Self::Relax3d => [16, 8, 8],
        }
    }
}

/// The strips of a grid: ranges of whole rows (or layers) of tiles, each with buffers of its own. If there are several,
/// the arrays of a strip also hold a halo: the nearest row (or layer) of cells of both neighbours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Strips {
    /// The cells of each strip.
    pub(crate) cells: Vec<Range<usize>>,
    /// The rows or layers of a strip; the last one may have fewer.
    slices: u32,
    /// The cells of a row, or of a layer.
    pub(crate) slice_cells: usize,
    /// The cells of the halo on each side; 0 if there is one strip.
    pub(crate) halo: usize,
}

impl Strips {
    /// Cuts a grid into strips; `None` if not even one row (or layer) of tiles fits into a binding.
    pub(crate) fn new(context: &Context, grid: &Grid) -> Option<Self> {
        let [width, height, depth] = grid.size();
        let is_flat = grid.connectivity().dimension() == 2;
        let (slice_cells, slice_count, multiple) = if is_flat {
            (width as usize, height, STRIP_ROW_MULTIPLE)
        } else {
            (width as usize * height as usize, depth, STRIP_LAYER_MULTIPLE)
        };
        let max_len = chunk_len::<u32>(context).min((context.limits().max_buffer_size / 4) as usize);
        let cell_count = grid.cell_count();
        if cell_count.next_multiple_of(PITCH_MULTIPLE) <= max_len {
            let cells = std::iter::once(0..cell_count).collect();
            return Some(Self { cells, slices: slice_count, slice_cells, halo: 0 });
        }
        // One multiple is left free, because arrays of codes are rounded up to whole words.
        let fitting_slices = (max_len.saturating_sub(PITCH_MULTIPLE) / slice_cells).saturating_sub(2);
        let slices = (fitting_slices as u64).min(slice_count.into()) as u32 / multiple * multiple;
        if slices == 0 {
            return None;
        }
        let step = slices as usize * slice_cells;
        let cells = crate::gpu::buffer::chunks(cell_count, step).collect();
        Some(Self { cells, slices, slice_cells, halo: slice_cells })
    }

    /// The length of the arrays of a strip, halos included.
    pub(crate) fn len(&self, strip: usize) -> usize {
        self.cells[strip].len() + 2 * self.halo
    }

    /// The cells that the arrays of a strip hold, those of its halo included.
    pub(crate) fn held_cells(&self, strip: usize, cell_count: usize) -> Range<usize> {
        let cells = &self.cells[strip];
        cells.start.saturating_sub(self.halo)..(cells.end + self.halo).min(cell_count)
    }

    /// The strip that a cell belongs to.
    pub(crate) fn strip_of(&self, cell: usize) -> usize {
        cell / (self.slices as usize * self.slice_cells)
    }

    /// The strips whose arrays hold a cell, itself or in a halo, and its position there.
    pub(crate) fn positions(&self, cell: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let own = self.strip_of(cell);
        (own.saturating_sub(1)..(own + 2).min(self.cells.len())).filter_map(move |strip| {
            let first = self.cells[strip].start as i64 - self.halo as i64;
            let position = cell as i64 - first;
            (position >= 0 && position < self.len(strip) as i64).then_some((strip, position as usize))
        })
    }
}

/// The layout of a batch: the strips, the tiles, and the fields that lie one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) method: TileMethod,
    pub(crate) strips: Strips,
    pub(crate) field_count: usize,
    /// The cells from the start of one field to the next.
    pub(crate) field_pitch: usize,
    /// The parameters of the kernels, for each strip.
    pub(crate) params: Vec<FlowParams>,
}

impl Layout {
    pub(crate) fn new(
        grid: &Grid,
        strips: &Strips,
        method: TileMethod,
        field_count: usize,
        target_count: usize,
    ) -> Self {
        let (size, tile_size) = (grid.size(), method.tile_size());
        let tiles: [u32; 3] = std::array::from_fn(|axis| size[axis].div_ceil(tile_size[axis]));
        let strip_axis = if grid.connectivity().dimension() == 2 { 1 } else { 2 };
        let slice_tiles: u32 = tiles[..strip_axis].iter().product();
        let field_pitch = strips.cells[0].len().next_multiple_of(PITCH_MULTIPLE);
        let strip_params = |(strip, cells): (usize, &Range<usize>)| {
            let mut params = FlowParams {
                size,
                field_count: field_count as u32,
                tiles,
                tile_count: tiles.iter().product(),
                tile_size,
                row_words: 2 * grid.row_words() as u32,
                first_cell: cells.start as u32,
                cell_count: cells.len() as u32,
                halo: strips.halo as u32,
                field_pitch: field_pitch as u32,
                strip: strip as u32,
                strip_count: strips.cells.len() as u32,
                strip_tiles: strips.slices.div_ceil(tile_size[strip_axis]) * slice_tiles,
                is_weighted: u32::from(!grid.costs().is_empty()),
                move_count: 0,
                corner_rule: 0,
                is_escape: 0,
                target_count: target_count as u32,
                moves: [[0; 4]; 26],
            };
            params.set_moves(grid);
            params
        };
        let params = strips.cells.iter().enumerate().map(strip_params).collect();
        Self { method, strips: strips.clone(), field_count, field_pitch, params }
    }

    pub(crate) fn tile_count(&self) -> usize {
        self.field_count * self.params[0].tile_count as usize
    }

    /// The words of a bit plane for all fields.
    pub(crate) fn plane_words(&self) -> usize {
        let params = &self.params[0];
        self.field_count * params.size[1] as usize * 2 * params.tiles[0] as usize
    }

    /// The length of the distances of a strip, halos included.
    pub(crate) fn distances_len(&self, strip: usize) -> usize {
        if self.field_count == 1 { self.strips.len(strip) } else { self.field_count * self.field_pitch }
    }

    /// The words of the codes of a strip.
    pub(crate) fn code_words(&self, strip: usize) -> usize {
        if self.field_count == 1 {
            self.strips.cells[strip].len().div_ceil(4)
        } else {
            self.field_count * self.field_pitch / 4
        }
    }
}
