//! The moves that each cell allows, one bit per move, found for 64 cells of a row at a time.

use crate::flow::field::cpu::rows;
use crate::flow::grid::cells::Grid;
use crate::flow::grid::moves::Corners;

/// The free cells of a grid, one bit per cell in the word layout of [`Grid`]; bits past the end of a row are 0.
pub(crate) struct FreeRows<'a> {
    blocked: &'a [u64],
    row_words: usize,
    size: [usize; 3],
}

impl<'a> FreeRows<'a> {
    pub(crate) fn new(grid: &'a Grid) -> Self {
        let size = grid.size().map(|length| length as usize);
        Self { blocked: grid.blocked_words(), row_words: grid.row_words(), size }
    }

    /// The bits of the word `word` of a row that are cells.
    pub(crate) fn inside(&self, word: isize) -> u64 {
        let width = self.size[0] as isize;
        let cell_count = (width - word * 64).clamp(0, 64);
        if word < 0 || cell_count == 0 { 0 } else { u64::MAX >> (64 - cell_count) }
    }

    /// A word of free cells; 0 outside the grid.
    pub(crate) fn word(&self, word: isize, y: isize, z: isize) -> u64 {
        if y < 0 || z < 0 || y >= self.size[1] as isize || z >= self.size[2] as isize {
            return 0;
        }
        let inside = self.inside(word);
        if inside == 0 {
            return 0;
        }
        let row = z as usize * self.size[1] + y as usize;
        !self.blocked[row * self.row_words + word as usize] & inside
    }

    /// For each cell of a word: whether the cell `dx` columns further is free.
    fn shifted_word(&self, word: isize, dx: i32, y: isize, z: isize) -> u64 {
        let own = self.word(word, y, z);
        match dx {
            0 => own,
            1 => own >> 1 | self.word(word + 1, y, z) << 63,
            _ => own << 1 | self.word(word - 1, y, z) >> 63,
        }
    }
}

/// Which of 64 cells allow a move: its target is free, and the corner rule allows it as in
/// [`passes`](crate::flow::grid::moves::passes). `neighbours` holds the free cells at each offset, at the index `9 (z +
/// 1) + 3 (y + 1) + x + 1`.
fn allowed(corners: Corners, offset: [i32; 3], neighbours: &[u64; 27]) -> u64 {
    let free = |part: [i32; 3]| neighbours[(9 * (part[2] + 1) + 3 * (part[1] + 1) + part[0] + 1) as usize];
    let axes: usize = (0..3).filter(|&axis| offset[axis] != 0).map(|axis| 1 << axis).sum();
    if axes.count_ones() < 2 || corners == Corners::Any {
        return free(offset);
    }
    let offset_of =
        |bits: usize| std::array::from_fn(|axis| if bits >> axis & 1 == 1 { offset[axis] } else { 0 });
    // `reached` is indexed by the subset of axes already moved along. Under `BothFree` every order of the axes must
    // cross free cells only, under `OneFree` one order must.
    let mut reached = [0; 8];
    reached[0] = u64::MAX;
    for bits in 1..8 {
        if bits & !axes != 0 {
            continue;
        }
        let paths = (0..3).filter(|&axis| bits >> axis & 1 == 1).map(|axis| reached[bits & !(1 << axis)]);
        let path = match corners {
            Corners::BothFree => paths.fold(u64::MAX, |all, path| all & path),
            _ => paths.fold(0, |any, path| any | path),
        };
        reached[bits] = path & free(offset_of(bits));
    }
    reached[axes]
}

/// The moves that a cell allows: bit `k` is set if the move with the code `k` is allowed. `u8` holds the moves of two
/// dimensions.
pub(crate) trait MoveMask: Copy + Default + Send + Sync + Into<u32> {
    /// The mask with these bits.
    fn from_bits(bits: u32) -> Self;
}

impl MoveMask for u8 {
    fn from_bits(bits: u32) -> Self {
        bits as Self
    }
}

impl MoveMask for u32 {
    fn from_bits(bits: u32) -> Self {
        bits
    }
}

/// The moves that each cell allows, row-major.
pub(crate) fn masks<M: MoveMask>(grid: &Grid) -> Vec<M> {
    let free = FreeRows::new(grid);
    let [width, height, _] = grid.size().map(|length| length as usize);
    let mut masks = vec![M::default(); grid.cell_count()];
    let chunk_rows = rows::rows_per_chunk(width);
    rows::map_chunks(&mut masks, chunk_rows * width, |number, chunk| {
        for (row, cells) in chunk.chunks_mut(width).enumerate() {
            let row = number * chunk_rows + row;
            row_masks(&free, grid, (row % height, row / height), cells);
        }
    });
    masks
}

/// Finds the moves that the cells of a row allow.
fn row_masks<M: MoveMask>(free: &FreeRows<'_>, grid: &Grid, (y, z): (usize, usize), cells: &mut [M]) {
    let offsets = grid.connectivity().offsets();
    let corners = grid.connectivity().corners();
    let is_flat = grid.connectivity().dimension() == 2;
    for (word, cells) in cells.chunks_mut(64).enumerate() {
        let mut neighbours = [0; 27];
        for (offset_index, neighbours) in neighbours.iter_mut().enumerate() {
            let [dx, dy, dz] =
                [offset_index % 3, offset_index / 3 % 3, offset_index / 9].map(|part| part as i32 - 1);
            if !(is_flat && dz != 0) {
                *neighbours =
                    free.shifted_word(word as isize, dx, y as isize + dy as isize, z as isize + dz as isize);
            }
        }
        let mut words = [0; 32];
        for (word, &offset) in words.iter_mut().zip(offsets) {
            *word = allowed(corners, offset, &neighbours);
        }
        for (byte, cells) in cells.chunks_mut(8).enumerate() {
            for (group, words) in words.chunks(8).enumerate().take(offsets.len().div_ceil(8)) {
                let rows = words
                    .iter()
                    .enumerate()
                    .fold(0, |rows, (k, word)| rows | (word >> (8 * byte) & 0xff) << (8 * k));
                let columns = transposed(rows);
                for (x, cell) in cells.iter_mut().enumerate() {
                    *cell =
                        M::from_bits((*cell).into() | ((columns >> (8 * x) & 0xff) as u32) << (8 * group));
                }
            }
        }
    }
}

/// Transposes an 8 × 8 bit matrix whose rows are the bytes (Warren, "Hacker's Delight", 2nd edition, section 7-3).
#[inline(always)]
pub(crate) fn transposed(rows: u64) -> u64 {
    let mut bits = rows;
    for (shift, mask) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let swap = (bits ^ bits >> shift) & mask;
        bits ^= swap ^ swap << shift;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::grid::moves::Connectivity;

    #[test]
    fn bit_matrices_are_transposed() {
        for (at, to) in [(0, 0), (1, 8), (7, 56), (8, 1), (63, 63), (62, 55)] {
            assert_eq!(transposed(1 << at), 1 << to);
        }
    }

    #[test]
    fn masks_equal_grid_neighbours() {
        let corners = [Corners::BothFree, Corners::OneFree, Corners::Any];
        let mut kinds = vec![(Connectivity::Four, [70, 9, 1]), (Connectivity::Six, [67, 4, 5])];
        kinds.extend(corners.map(|corners| (Connectivity::Eight(corners), [129, 11, 1])));
        kinds.extend(corners.map(|corners| (Connectivity::TwentySix(corners), [66, 5, 6])));
        for (connectivity, size) in kinds {
            let count = size.iter().product::<u32>();
            let blocked: Vec<bool> = (0..count).map(|at| at.wrapping_mul(2_654_435_761) >> 30 == 0).collect();
            let Ok(grid) = Grid::new(size, &blocked, connectivity.into()) else { unreachable!() };
            for (index, mask) in masks::<u32>(&grid).into_iter().enumerate() {
                let codes = 0..connectivity.neighbour_count() as u8;
                let wanted: u32 = codes
                    .filter(|&code| grid.neighbour(grid.cell(index), code).is_some())
                    .map(|code| 1 << code)
                    .sum();
                assert_eq!(mask, wanted, "{connectivity:?} {}", grid.cell(index));
            }
        }
    }
}
