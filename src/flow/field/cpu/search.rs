//! Which wave suits a grid where all steps are 1 and there are four neighbours.

use crate::flow::field::cpu::masks::FreeRows;
use crate::flow::grid::cells::Grid;

/// The ways to let a wave run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wave {
    /// Many cells of a level lie together.
    Tiles,
    /// Few do: cell by cell.
    Queue,
    /// The same where most cells lead on to one other.
    Straight,
}

/// Cells below which even an open grid is not worth tiles.
const TILES_WORTH_COUNT: usize = 1 << 13;
/// Cells up to which what a queue needs lies near enough to the core for it to do better in a thicket.
const NEAR_COUNT: usize = 3 << 17;

impl Wave {
    /// The wave for a grid, by what lies around its cells.
    pub(crate) fn of(grid: &Grid) -> Self {
        let Around { free, open, straight } = Around::new(grid);
        let is_small = grid.cell_count() < TILES_WORTH_COUNT;
        let open_share = if grid.cell_count() > NEAR_COUNT { 64 } else { 16 };
        if 8 * straight > 7 * free || is_small && 2 * open > free {
            Self::Straight
        } else if is_small || open_share * open < free {
            Self::Queue
        } else {
            Self::Tiles
        }
    }
}

/// Counts of cells.
struct Around {
    free: u64,
    /// With eight free cells around.
    open: u64,
    /// With two neighbours, which are opposite.
    straight: u64,
}

impl Around {
    fn new(grid: &Grid) -> Self {
        let free = FreeRows::new(grid);
        let height = grid.size()[1] as isize;
        let mut counts = Self { free: 0, open: 0, straight: 0 };
        // Every seventh row tells enough.
        for y in (0..height).step_by(7) {
            for word in 0..grid.row_words() as isize {
                let [above, here, below] = [y - 1, y, y + 1].map(|y| free.word(word, y, 0));
                // What is beside the word does not matter.
                let (east, west) = (here >> 1, here << 1);
                let columns = above & here & below;
                counts.free += u64::from(here.count_ones());
                counts.open += u64::from((columns & columns >> 1 & columns << 1).count_ones());
                let across = east & west & !(above | below);
                let along = above & below & !(east | west);
                counts.straight += u64::from((here & (across | along)).count_ones());
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
    fn waves_are_chosen_by_the_grid() {
        let wave = |side: u32, is_wall: &dyn Fn(u32, u32) -> bool| {
            let blocked: Vec<bool> = (0..side * side).map(|at| is_wall(at % side, at / side)).collect();
            Wave::of(&Grid::new([side, side, 1], &blocked, Connectivity::Four.into()).unwrap())
        };
        let noise = |share: u32| {
            move |x: u32, y: u32| {
                let mixed = x.wrapping_mul(374_761_393).wrapping_add(y.wrapping_mul(668_265_263));
                let mixed = (mixed ^ mixed >> 13).wrapping_mul(1_274_126_177);
                (mixed ^ mixed >> 16) & 0xffff < (share << 16) / 100
            }
        };
        for side in [128, 700] {
            assert_eq!(wave(side, &|_, _| false), Wave::Tiles);
            assert_eq!(wave(side, &noise(20)), Wave::Tiles);
            assert_eq!(wave(side, &|x, y| x % 16 == 0 && y % 16 != 3), Wave::Tiles);
            // Corridors, straight ones and such as turn at every other step.
            assert_eq!(wave(side, &|_, y| y % 2 == 1), Wave::Straight);
            assert_eq!(wave(side, &|x, y| (x + y) % 4 > 1), Wave::Queue);
        }
        assert_eq!([128, 700].map(|side| wave(side, &noise(34))), [Wave::Queue, Wave::Tiles]);
        assert_eq!(wave(40, &|_, _| false), Wave::Straight);
    }
}
