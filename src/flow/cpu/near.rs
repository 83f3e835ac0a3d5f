//! The moves of single cells, found when they are asked for.

use super::masks::FreeRows;
use crate::flow::grid::Grid;
use crate::flow::moves::passes;

/// Answers which moves a cell allows.
pub(super) struct Near<'a> {
    grid: &'a Grid,
    free: FreeRows<'a>,
    ways: [(isize, u32); 32],
    /// In two dimensions the moves by the nine cells around and at a cell, a bit each: `3 (dy + 1) + dx + 1`.
    flat: Vec<u8>,
}

impl<'a> Near<'a> {
    pub(super) fn new(grid: &'a Grid) -> Self {
        let connectivity = grid.connectivity();
        let mut flat = Vec::new();
        if connectivity.dimension() == 2 {
            let moves = |cells: usize| {
                let is_free = |[x, y, _]: [i32; 3]| cells >> (3 * (y + 1) + x + 1) & 1 == 1;
                let offsets = connectivity.offsets().iter().enumerate();
                let open = offsets.filter(|&(_, &offset)| {
                    is_free(offset) && passes(connectivity.corners(), offset, is_free)
                });
                open.fold(0, |mask, (code, _)| mask | 1 << code)
            };
            flat = (0..512).map(moves).collect();
        }
        Self { grid, free: FreeRows::new(grid), ways: super::ways(grid), flat }
    }

    /// The moves that a cell allows, be it free or not, a bit each.
    pub(super) fn mask(&self, at: usize) -> u32 {
        let cell = self.grid.cell(at);
        if self.flat.is_empty() {
            let codes = 0..self.grid.connectivity().neighbour_count() as u8;
            let open = codes.filter(|&code| self.grid.neighbour(cell, code).is_some());
            return open.fold(0, |mask, code| mask | 1 << code);
        }
        let (x, y) = (cell.x as isize, cell.y as isize);
        let three = |y: isize| {
            let word = self.free.word(x / 64, y, 0);
            let bit = x % 64;
            let cells = match bit {
                0 => word << 1 | self.free.word(x / 64 - 1, y, 0) >> 63,
                63 => word >> 62 | self.free.word(x / 64 + 1, y, 0) << 2,
                _ => word >> (bit - 1),
            };
            (cells & 7) as usize
        };
        u32::from(self.flat[three(y - 1) | three(y) << 3 | three(y + 1) << 6])
    }

    /// The cell that a move leads to, and the step's length.
    pub(super) fn to(&self, at: usize, code: u32) -> (usize, u32) {
        let (ahead, step) = self.ways[(code & 31) as usize];
        (at.wrapping_add_signed(ahead), step)
    }

    /// The cells that the moves of a mask lead to, with their codes and the steps' lengths.
    pub(super) fn of(&self, at: usize, mask: u32) -> impl Iterator<Item = (u8, usize, u32)> {
        let mut rest = mask;
        std::iter::from_fn(move || {
            let code = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            let (to, step) = self.to(at, code);
            (code < 32).then_some((code as u8, to, step))
        })
    }
}
