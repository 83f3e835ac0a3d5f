//! The moves of single cells, found when they are asked for.

use crate::flow::field::cpu::moves::strides;
use crate::flow::grid::cells::Grid;
use crate::flow::grid::moves::passes;

/// Answers which moves a cell allows.
pub(crate) struct Near<'a> {
    grid: &'a Grid,
    blocked: &'a [u64],
    row_words: usize,
    size: [u32; 3],
    strides: [(isize, u32); 32],
    /// By the borders of the grid that a cell is at, a bit each, the moves that stay in the grid.
    inside: [u32; 64],
    has_corners: bool,
    /// In two dimensions with diagonals, the moves by the nine cells around and at a cell, a bit each:
    /// `3 (dy + 1) + dx + 1`.
    flat: Vec<u8>,
}

impl<'a> Near<'a> {
    pub(crate) fn new(grid: &'a Grid) -> Self {
        let connectivity = grid.connectivity();
        let offsets = connectivity.offsets();
        let has_corners = offsets.len() > 6;
        let mut flat = Vec::new();
        if has_corners && connectivity.dimension() == 2 {
            let moves = |cells: usize| {
                let is_free = |[x, y, _]: [i32; 3]| cells >> (3 * (y + 1) + x + 1) & 1 == 1;
                let open = offsets.iter().enumerate().filter(|&(_, &offset)| {
                    is_free(offset) && passes(connectivity.corners(), offset, is_free)
                });
                open.fold(0, |mask, (code, _)| mask | 1 << code)
            };
            flat = (0..512).map(moves).collect();
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
            has_corners,
            flat,
        }
    }

    /// Column and row, the rows of all layers counted on. Divisions of 32 bits take a fraction of the time.
    fn place(&self, at: usize) -> (u32, u32) {
        (at as u32 % self.size[0], at as u32 / self.size[0])
    }

    pub(crate) fn is_free(&self, at: usize) -> bool {
        let (x, row) = self.place(at);
        self.blocked[row as usize * self.row_words + x as usize / 64] >> (x % 64) & 1 == 0
    }

    /// The cells N, E, S and W in two dimensions; where the grid ends the cell itself.
    #[inline(always)]
    pub(crate) fn orthogonal(&self, at: usize) -> [usize; 4] {
        let (x, row) = self.place(at);
        let width = self.size[0] as usize;
        [
            if row > 0 { at - width } else { at },
            if x + 1 < self.size[0] { at + 1 } else { at },
            if row + 1 < self.size[1] { at + width } else { at },
            if x > 0 { at - 1 } else { at },
        ]
    }

    /// The moves that stay in the grid.
    pub(crate) fn inside(&self, at: usize) -> u32 {
        let (x, row) = self.place(at);
        let [width, height, depth] = self.size;
        let (y, z) = if depth == 1 { (row, 0) } else { (row % height, row / height) };
        let ends = |part: u32, length: u32| u32::from(part == 0) | u32::from(part + 1 == length) << 1;
        let borders = ends(x, width) | ends(y, height) << 2 | ends(z, depth) << 4;
        self.inside[borders as usize & 63]
    }

    /// The moves that a cell allows, be it free or not, a bit each. Without diagonals those to obstacles are among them: these
    /// have no distance, and a look at each takes longer.
    pub(crate) fn mask(&self, at: usize) -> u32 {
        if !self.has_corners {
            return self.inside(at);
        }
        if self.flat.is_empty() {
            let cell = self.grid.cell(at);
            let codes = 0..self.grid.connectivity().neighbour_count() as u8;
            let open = codes.filter(|&code| self.grid.neighbour(cell, code).is_some());
            return open.fold(0, |mask, code| mask | 1 << code);
        }
        let (x, y) = self.place(at);
        let [width, height, _] = self.size;
        let is_inside = x > 0 && x + 1 < width && y > 0 && y + 1 < height;
        let (word, bit) = (x as usize / 64, x % 64);
        if !is_inside || bit == 0 || bit == 63 {
            return self.mask_of_border(x, y);
        }
        let place = y as usize * self.row_words + word;
        let three = |place: usize| (!self.blocked[place] >> (bit - 1) & 7) as usize;
        let [above, here, below] = [place - self.row_words, place, place + self.row_words].map(three);
        u32::from(self.flat[above | here << 3 | below << 6])
    }

    /// The same of a cell at a border of the grid or of a word.
    fn mask_of_border(&self, x: u32, y: u32) -> u32 {
        let is_free = |dx: i64, dy: i64| {
            let (x, y) = (i64::from(x) + dx, i64::from(y) + dy);
            let is_inside = x >= 0 && y >= 0 && x < self.size[0].into() && y < self.size[1].into();
            is_inside && self.blocked[y as usize * self.row_words + x as usize / 64] >> (x % 64) & 1 == 0
        };
        let cells = (0..9).filter(|&cell| is_free(cell % 3 - 1, cell / 3 - 1));
        u32::from(self.flat[cells.fold(0, |cells, cell| cells | 1 << cell)])
    }

    /// The cell that a move leads to, and the step's length.
    pub(crate) fn to(&self, at: usize, code: u32) -> (usize, u32) {
        let (ahead, step) = self.strides[(code & 31) as usize];
        (at.wrapping_add_signed(ahead), step)
    }
}
