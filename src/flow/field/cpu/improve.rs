//! Lowers distances of 64 bits from some cells, by the tiles of `relax.rs`. `src/flow/field/gpu/improve.rs` does the same on a GPU.

use crate::flow::field::above::{Above, Work};
use crate::flow::field::cpu::moves::CostRange;
use crate::flow::field::cpu::relax::{EDGE, MARGIN, Tile, Tiles};
use crate::flow::field::cpu::stop::StopConditions;
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::grid::cells::Grid;
use crate::pending::Awaited;

/// Lowers distances from the cells `seeds`, whose own have been lowered, as far as moves allow; none beyond `max_distance`. Where no
/// move lowers a distance but from the seeds, no move does afterwards. `u64::MAX` is unreachable.
///
/// Works with what is above the least distance of the seeds, in 32 bits. Returns false, and leaves all distances as they are,
/// where that comes too close to what 32 bits hold. `spare` is written over.
pub(crate) fn improve(
    grid: &Grid,
    costs: CostRange,
    distances: &mut [u64],
    seeds: &[u32],
    max_distance: u64,
    spare: &mut Vec<u32>,
) -> bool {
    let above = match Above::of_seeds(distances, seeds, max_distance, costs.longest_step(grid)) {
        Work::Nothing => return true,
        Work::TooWide => return false,
        Work::Above(above) => above,
    };
    let mut tiles = Tiles::new(grid, costs, std::mem::take(spare));
    tiles.load(distances, &above);
    tiles.add_seeds(seeds);
    let mut stop = StopConditions {
        max_distance: above.max,
        open_targets: Vec::new(),
        has_targets: false,
        awaited: Awaited::default(),
    };
    tiles.run(&mut stop);
    let is_exact = tiles.store(distances, &above);
    *spare = tiles.distances;
    is_exact
}

impl Tiles<'_> {
    fn load(&mut self, distances: &[u64], above: &Above) {
        let (width, pitch) = (self.grid.width(), self.pitch);
        for (distances, padded) in distances.chunks(width).zip(self.distances[pitch..].chunks_mut(pitch)) {
            for (&distance, padded) in distances.iter().zip(&mut padded[MARGIN..]) {
                *padded = above.of(distance);
            }
        }
    }

    /// Adds cells from which moves may lower distances.
    fn add_seeds(&mut self, seeds: &[u32]) {
        let width = self.grid.width();
        let mut least = vec![UNREACHABLE; self.tiles.len()];
        for &seed in seeds {
            let (x, y) = (seed as usize % width, seed as usize / width);
            let tile = &mut least[y / EDGE * self.tile_counts[0] + x / EDGE];
            *tile = (*tile).min(self.distances[(y + 1) * self.pitch + x + MARGIN]);
        }
        for (tile, &distance) in least.iter().enumerate() {
            if distance >= self.far {
                continue;
            }
            let (x, y) = ((tile % self.tile_counts[0]) as isize, (tile / self.tile_counts[0]) as isize);
            for (y, x) in (y - 1..=y + 1).flat_map(|y| (x - 1..=x + 1).map(move |x| (y, x))) {
                self.wake([x, y], distance, Tile::ALL);
            }
        }
    }

    /// Writes the distances that are lower than they were. Returns false, and writes nothing, if some come too close to what 32 bits hold.
    fn store(&self, distances: &mut [u64], above: &Above) -> bool {
        let (width, pitch) = (self.grid.width(), self.pitch);
        let rows = || self.distances[pitch..].chunks(pitch).map(|row| &row[MARGIN..MARGIN + width]);
        if !rows().take(distances.len() / width).all(|row| above.is_exact(row)) {
            return false;
        }
        distances.chunks_mut(width).zip(rows()).for_each(|(distances, row)| above.lower(distances, row));
        true
    }
}
