//! Chooses the wave for a grid of four neighbours in which all steps are 1.

use crate::flow::field::cpu::masks::FreeRows;
use crate::flow::grid::cells::Grid;

/// How a breadth-first wave is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaveMethod {
    /// Over tiles of bits: fast where many cells of a level lie side by side.
    Tiles,
    /// Cell by cell, without branches: fast in thickets and mazes.
    Queue,
    /// Cell by cell, with branches: fast in corridors, where most cells lead on to one other.
    CorridorQueue,
}

/// The fewest cells for which tiles pay off in an open grid.
const TILES_MIN_CELLS: usize = 1 << 13;
/// The most cells whose queue and levels still fit into the cache; larger grids use tiles sooner.
const QUEUE_CACHE_CELLS: usize = 3 << 17;

impl WaveMethod {
    /// Chooses by the kinds of cells in the grid.
    pub(crate) fn of(grid: &Grid) -> Self {
        let CellCounts { free, open, corridor } = CellCounts::new(grid);
        let is_small = grid.cell_count() < TILES_MIN_CELLS;
        let open_share = if grid.cell_count() > QUEUE_CACHE_CELLS { 64 } else { 16 };
        if 8 * corridor > 7 * free || is_small && 2 * open > free {
            Self::CorridorQueue
        } else if is_small || open_share * open < free {
            Self::Queue
        } else {
            Self::Tiles
        }
    }
}

/// How many of the sampled cells are free, open or in a corridor.
struct CellCounts {
    free: u64,
    /// Free cells whose eight neighbours are all free.
    open: u64,
    /// Free cells with exactly two of the four neighbours free, on opposite sides.
    corridor: u64,
}

impl CellCounts {
    fn new(grid: &Grid) -> Self {
        let free = FreeRows::new(grid);
        let height = grid.size()[1] as isize;
        let mut counts = Self { free: 0, open: 0, corridor: 0 };
        // One row in seven is sample enough.
        for y in (0..height).step_by(7) {
            for word in 0..grid.row_words() as isize {
                let [above, row_bits, below] = [y - 1, y, y + 1].map(|y| free.word(word, y, 0));
                // Neighbours in other words are taken as blocked: it changes the counts little.
                let (east, west) = (row_bits >> 1, row_bits << 1);
                let free_columns = above & row_bits & below;
                counts.free += u64::from(row_bits.count_ones());
                counts.open += u64::from((free_columns & free_columns >> 1 & free_columns << 1).count_ones());
                let in_row = east & west & !(above | below);
                let in_column = above & below & !(east | west);
                counts.corridor += u64::from((row_bits & (in_row | in_column)).count_ones());
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::grid::moves::Connectivity;

    #[test]
    fn the_wave_suits_the_grid() {
        let method = |side: u32, is_wall: &dyn Fn(u32, u32) -> bool| {
            let blocked: Vec<bool> = (0..side * side).map(|at| is_wall(at % side, at / side)).collect();
            WaveMethod::of(&Grid::new([side, side, 1], &blocked, Connectivity::Four.into()).unwrap())
        };
        let noise = |share: u32| {
            move |x: u32, y: u32| {
                let mixed = x.wrapping_mul(374_761_393).wrapping_add(y.wrapping_mul(668_265_263));
                let mixed = (mixed ^ mixed >> 13).wrapping_mul(1_274_126_177);
                (mixed ^ mixed >> 16) & 0xffff < (share << 16) / 100
            }
        };
        for side in [128, 700] {
            assert_eq!(method(side, &|_, _| false), WaveMethod::Tiles);
            assert_eq!(method(side, &noise(20)), WaveMethod::Tiles);
            assert_eq!(method(side, &|x, y| x % 16 == 0 && y % 16 != 3), WaveMethod::Tiles);
            // Straight corridors, and corridors that turn at every other step.
            assert_eq!(method(side, &|_, y| y % 2 == 1), WaveMethod::CorridorQueue);
            assert_eq!(method(side, &|x, y| (x + y) % 4 > 1), WaveMethod::Queue);
        }
        assert_eq!([128, 700].map(|side| method(side, &noise(34))), [WaveMethod::Queue, WaveMethod::Tiles]);
        assert_eq!(method(40, &|_, _| false), WaveMethod::CorridorQueue);
    }
}
