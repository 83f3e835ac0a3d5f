//! Dijkstra with a binary heap over distances of 64 bits: for corridors, and for steps and paths that are too long for 32 bits.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::flow::field::cpu::masks;
use crate::flow::field::cpu::moves::strides;
use crate::flow::grid::cells::Grid;
use crate::flow::raster::store::RASTER_UNREACHABLE;
use crate::flow::weighted::rule::MoveCosts;

/// Lowers distances from the cells `seeds`, whose own have been lowered, as far as moves allow; none beyond `max_distance`.
///
/// # Errors
/// The position of a cell whose distance does not fit in 64 bits.
pub(crate) fn improve(
    grid: &Grid,
    moves: &MoveCosts,
    distances: &mut [u64],
    seeds: &[u32],
    max_distance: u64,
) -> Result<(), usize> {
    let masks = masks::masks::<u8>(grid);
    let strides = strides(grid);
    let cost_of = |index: usize| grid.costs().get(index).map_or(1, |&cost| cost);
    let mut heap: BinaryHeap<Reverse<(u64, u32)>> =
        seeds.iter().map(|&seed| Reverse((distances[seed as usize], seed))).collect();
    while let Some(Reverse((distance, index))) = heap.pop() {
        let from = index as usize;
        if distance > distances[from] || distance > max_distance {
            continue;
        }
        // A move and its reverse obey the same corner rule, so the mask of the settled cell serves for both.
        let mut mask = masks[from];
        while mask != 0 {
            let code = mask.trailing_zeros() as u8;
            mask &= mask - 1;
            let to = from.wrapping_add_signed(strides[usize::from(code)].0);
            // The path goes from there over the settled cell.
            let lowered = distance.saturating_add(moves.weight(code, cost_of(to), cost_of(from)));
            if lowered < distances[to] && lowered <= max_distance {
                distances[to] = lowered;
                heap.push(Reverse((lowered, to as u32)));
            } else if lowered == RASTER_UNREACHABLE && distances[to] == RASTER_UNREACHABLE {
                return Err(to);
            }
        }
    }
    Ok(())
}
