//! Distances of 64 bits, whole or the bits of floats, lowered from some cells.

use crate::flow::field::cpu::moves::CostRange;
use crate::flow::grid::cells::Grid;
use crate::flow::weighted::costs::TileCosts;
use crate::flow::weighted::distance::{Distance, exponent, power_of_two};
use crate::flow::weighted::lengths::Lengths;
use crate::flow::weighted::rule::MoveCosts;
use crate::flow::weighted::tiles::{State, Tiles};
use crate::flow::weighted::weights::FlatWeights;
use crate::flow::weighted::window::EDGE;

/// Lowers distances from the cells `seeds`, whose own have been lowered, as far as moves allow; none beyond `max_distance`. Where no
/// move lowers a distance but from the seeds, no move does afterwards. `u64::MAX` is unreachable.
///
/// Works with what is above the least distance of the seeds. Returns false, and leaves all distances as they are, where that comes
/// too close to 2⁶⁰, or a seed is farther than that above the least.
pub(crate) fn improve(
    moves: &MoveCosts,
    grid: &Grid,
    distances: &mut [u64],
    seeds: &[u32],
    max_distance: u64,
) -> bool {
    let known = seeds.iter().map(|&seed| distances[seed as usize]);
    let range = known.filter(|&distance| distance <= max_distance).fold(None, |range, distance| {
        let (least, most) = range.unwrap_or((distance, distance));
        Some((distance.min(least), distance.max(most)))
    });
    let Some((base, most)) = range else { return true };
    let far = i64::FAR as u64;
    // A seed as far as that would lower nothing.
    if most - base >= far {
        return false;
    }
    let max_above = (max_distance - base).min(far - 1);
    let width = grid.width();
    let read = |y: usize, line: &mut [u32]| {
        match grid.costs().get(y * width..(y + 1) * width) {
            Some(costs) => line.copy_from_slice(costs),
            None => line.fill(1),
        }
        let blocked = &grid.blocked_words()[y * grid.row_words()..];
        for (line, &blocked) in line.chunks_mut(64).zip(blocked).filter(|(_, blocked)| **blocked != 0) {
            for (x, cost) in line.iter_mut().enumerate() {
                *cost = if blocked >> x & 1 == 1 { 0 } else { *cost };
            }
        }
    };
    let costs = CostRange::new(grid);
    let tile_costs = TileCosts::new([width, grid.size()[1] as usize], read);
    let weights = FlatWeights::whole(&tile_costs, moves);
    let typical_cost = u32::try_from(costs.mean).unwrap_or(u32::MAX);
    let mut tiles =
        Tiles::new(&weights, i64::try_from(moves.weight(1, typical_cost, typical_cost)).unwrap_or(i64::MAX));
    let across = tile_costs.tile_counts[0];
    for (y, distances) in distances.chunks(width).enumerate() {
        for (tile, distances) in tiles.distances[y / EDGE * across..].iter_mut().zip(distances.chunks(EDGE)) {
            for (cell, &distance) in tile[y % EDGE].iter_mut().zip(distances) {
                // Cells nearer than `base` get 0: no path over a seed is shorter than theirs.
                *cell = distance.saturating_sub(base).min(far) as i64;
            }
        }
    }
    let seeds = seeds.iter().map(|&seed| seed as usize);
    let seeds: Vec<_> =
        seeds.map(|seed| ([seed % width, seed / width], (distances[seed] - base).min(far) as i64)).collect();
    tiles.add_seeds(seeds.into_iter());
    while tiles.run(u64::MAX >> 1, max_above as i64) != State::Done {}
    // One step from any nearer cell stays below `FAR`.
    let end = far.saturating_sub(moves.longest_weight(costs.max));
    let counts = |above: u64| above <= max_above && above < far;
    let is_large = |&above: &i64| counts(above as u64) && above as u64 >= end;
    if max_above >= end && tiles.distances.iter().flatten().flatten().any(is_large) {
        return false;
    }
    for (y, distances) in distances.chunks_mut(width).enumerate() {
        for (tile, distances) in tiles.distances[y / EDGE * across..].iter().zip(distances.chunks_mut(EDGE)) {
            for (&cell, distance) in tile[y % EDGE].iter().zip(distances) {
                // Cells that were nearer than `base` have 0 and stay as they were.
                if counts(cell as u64) {
                    *distance = (*distance).min(base + cell as u64);
                }
            }
        }
    }
    true
}

/// What distances in floats are lowered over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ground<'a> {
    /// Columns and rows.
    pub(crate) size: [usize; 2],
    /// Row-major; 0 for barriers.
    pub(crate) friction: &'a [f64],
    /// The rule and the connectivity.
    pub(crate) moves: &'a MoveCosts,
    /// Those of the rows of the grid.
    pub(crate) lengths: &'a Lengths,
}

/// [`improve`] for distances in floats, which are held as their bits: those of numbers that are not negative sort like them. `u64::MAX` is unreachable.
pub(crate) fn improve_floats(ground: &Ground<'_>, distances: &mut [u64], seeds: &[u32], max_distance: u64) {
    let Ground { size: [width, _], friction, moves, lengths } = *ground;
    if seeds.is_empty() {
        return;
    }
    let max_distance = f64::from_bits(max_distance);
    let float = |distance: u64| if distance == u64::MAX { f64::FAR } else { f64::from_bits(distance) };
    let costs = TileCosts::new(ground.size, |y, line: &mut [f64]| {
        line.copy_from_slice(&friction[y * width..(y + 1) * width]);
    });
    let ([entry_lengths, exit_lengths], rows) = lengths.shares(moves.rule);
    let connectivity = moves.connectivity;
    let weights = FlatWeights { costs: &costs, connectivity, entry_lengths, exit_lengths, rows: &rows };
    let free = friction.iter().filter(|&&value| value > 0.0);
    let (count, log_sum) =
        free.fold((0, 0), |(count, sum), &value| (count + 1, sum + i64::from(exponent(value))));
    let typical = power_of_two((log_sum / i64::max(count, 1)) as i32);
    let mut tiles = Tiles::new(&weights, typical * lengths.typical);
    let across = costs.tile_counts[0];
    for (y, distances) in distances.chunks(width).enumerate() {
        for (tile, distances) in tiles.distances[y / EDGE * across..].iter_mut().zip(distances.chunks(EDGE)) {
            for (cell, &distance) in tile[y % EDGE].iter_mut().zip(distances) {
                *cell = float(distance);
            }
        }
    }
    let seeds = seeds.iter().map(|&seed| seed as usize);
    tiles.add_seeds(seeds.map(|seed| ([seed % width, seed / width], float(distances[seed]))));
    while tiles.run(u64::MAX >> 1, max_distance) != State::Done {}
    for (y, distances) in distances.chunks_mut(width).enumerate() {
        for (tile, distances) in tiles.distances[y / EDGE * across..].iter().zip(distances.chunks_mut(EDGE)) {
            for (&cell, distance) in tile[y % EDGE].iter().zip(distances) {
                if cell <= max_distance {
                    *distance = cell.to_bits();
                }
            }
        }
    }
}
