//! The moves that single cells allow, found one cell at a time: for updates, which touch few cells.

use crate::flow::field::cpu::moves::strides;
use crate::flow::grid::cells::Grid;
use crate::flow::grid::moves::passes;

/// Looks up which moves a cell allows.
pub(crate) struct MoveLookup<'a> {
    grid: &'a Grid,
    blocked: &'a [u64],
    row_words: usize,
    size: [u32; 3],
    strides: [(isize, u32); 32],
    /// The moves that stay in the grid, indexed by the borders that the cell lies at, one bit each.
    inside: [u32; 64],
    has_diagonals: bool,
    /// In two dimensions with diagonals: the allowed moves, indexed by which of the 3 × 3 cells around and at a cell
    /// are free, one bit each: `3 (dy + 1) + dx + 1`. Empty otherwise.
    planar_moves: Vec<u8>,
}

impl<'a> MoveLookup<'a> {
    pub(crate) fn new(grid: &'a Grid) -> Self {
        let connectivity = grid.connectivity();
        let offsets = connectivity.offsets();
        let has_diagonals = offsets.len() > 6;
        let mut planar_moves = Vec::new();
        if has_diagonals && connectivity.dimension() == 2 {
            let moves = |cells: usize| {
                let is_free = |[x, y, _]: [i32; 3]| cells >> (3 * (y + 1) + x + 1) & 1 == 1;
                let open = offsets.iter().enumerate().filter(|&(_, &offset)| {
                    is_free(offset) && passes(connectivity.corners(), offset, is_free)
                });
                open.fold(0, |mask, (code, _)| mask | 1 << code)
            };
            planar_moves = (0..512).map(moves).collect();
        }
        let inside = std::array::from_fn(|borders| {
            let stays = |offset: &[i32; 3]| {
                (0..3).all(|axis| match offset[axis] {
                    -1 => borders >> (2 * axis) & 1 == 0,
                    1 => borders >> (2 * axis + 1) & 1 == 0,
                    _ => true,
                })
            };
            let moves = offsets.iter().enumerate().filter(|(_, offset)| stays(offset));
            moves.fold(0, |mask, (code, _)| mask | 1 << code)
        });
        Self {
            grid,
            blocked: grid.blocked_words(),
            row_words: grid.row_words(),
            size: grid.size(),
            strides: strides(grid),
            inside,
            has_diagonals,
            planar_moves,
        }
    }

    /// The column and the row of a cell; the rows of all layers are counted in one sequence. 32-bit divisions take a
    /// fraction of the time of 64-bit ones.
    fn column_row(&self, index: usize) -> (u32, u32) {
        (index as u32 % self.size[0], index as u32 / self.size[0])
    }

    pub(crate) fn is_free(&self, index: usize) -> bool {
        let (x, row) = self.column_row(index);
        self.blocked[row as usize * self.row_words + x as usize / 64] >> (x % 64) & 1 == 0
    }

    /// The cells N, E, S and W in two dimensions; at the border of the grid the cell itself.
    #[inline(always)]
    pub(crate) fn orthogonal(&self, index: usize) -> [usize; 4] {
        let (x, row) = self.column_row(index);
        let width = self.size[0] as usize;
        [
            if row > 0 { index - width } else { index },
            if x + 1 < self.size[0] { index + 1 } else { index },
            if row + 1 < self.size[1] { index + width } else { index },
            if x > 0 { index - 1 } else { index },
        ]
    }

    /// The moves that stay in the grid, one bit each.
    pub(crate) fn inside(&self, index: usize) -> u32 {
        let (x, row) = self.column_row(index);
        let [width, height, depth] = self.size;
        let (y, z) = if depth == 1 { (row, 0) } else { (row % height, row / height) };
        let border_bits = |part: u32, length: u32| u32::from(part == 0) | u32::from(part + 1 == length) << 1;
        let borders = border_bits(x, width) | border_bits(y, height) << 2 | border_bits(z, depth) << 4;
        self.inside[borders as usize & 63]
    }

    /// The moves that a cell allows, one bit each, whether or not the cell is free. Without diagonals, moves into
    /// obstacles are included: obstacles have no distance, and testing each would take longer.
    pub(crate) fn mask(&self, index: usize) -> u32 {
        if !self.has_diagonals {
            return self.inside(index);
        }
        if self.planar_moves.is_empty() {
            let cell = self.grid.cell(index);
            let codes = 0..self.grid.connectivity().neighbour_count() as u8;
            let open = codes.filter(|&code| self.grid.neighbour(cell, code).is_some());
            return open.fold(0, |mask, code| mask | 1 << code);
        }
        let (x, y) = self.column_row(index);
        let [width, height, _] = self.size;
        let is_inside = x > 0 && x + 1 < width && y > 0 && y + 1 < height;
        let (word, bit) = (x as usize / 64, x % 64);
        if !is_inside || bit == 0 || bit == 63 {
            return self.border_mask(x, y);
        }
        let word_index = y as usize * self.row_words + word;
        let three_bits = |word_index: usize| (!self.blocked[word_index] >> (bit - 1) & 7) as usize;
        let [above, middle, below] =
            [word_index - self.row_words, word_index, word_index + self.row_words].map(three_bits);
        u32::from(self.planar_moves[above | middle << 3 | below << 6])
    }

    /// The same for a cell at a border of the grid or of a word.
    fn border_mask(&self, x: u32, y: u32) -> u32 {
        let is_free = |dx: i64, dy: i64| {
            let (x, y) = (i64::from(x) + dx, i64::from(y) + dy);
            let is_inside = x >= 0 && y >= 0 && x < self.size[0].into() && y < self.size[1].into();
            is_inside && self.blocked[y as usize * self.row_words + x as usize / 64] >> (x % 64) & 1 == 0
        };
        let cells = (0..9).filter(|&cell| is_free(cell % 3 - 1, cell / 3 - 1));
        u32::from(self.planar_moves[cells.fold(0, |cells, cell| cells | 1 << cell)])
    }

    /// The cell that a move leads to, and the length of the step.
    pub(crate) fn target(&self, index: usize, code: u32) -> (usize, u32) {
        let (stride, step) = self.strides[(code & 31) as usize];
        (index.wrapping_add_signed(stride), step)
    }
}
