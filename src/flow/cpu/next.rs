//! Next cells, from final distances.

use crate::flow::cell::Cell;
use crate::flow::field::UNREACHABLE;
use crate::flow::grid::Grid;
use crate::flow::moves::NEXT_NONE;

/// The code of each cell's next one: along the way, and out of obstacles.
pub(super) fn codes(grid: &Grid, distances: &[u32]) -> Vec<u8> {
    let connectivity = grid.connectivity();
    let mut codes = vec![NEXT_NONE; distances.len()];
    for (index, &distance) in distances.iter().enumerate() {
        if distance == 0 || distance == UNREACHABLE {
            continue;
        }
        let cell = grid.cell(index);
        let attains = |&code: &u8| {
            grid.neighbour(cell, code).is_some_and(|to| sum(grid, distances, to, code) == u64::from(distance))
        };
        codes[index] = (0..connectivity.neighbour_count() as u8).find(attains).unwrap_or(NEXT_NONE);
    }
    exits(grid, distances, &mut codes);
    codes
}

/// The distance by way of the cell `to`, entered by the move `code`; past 2³² where it is not reached.
fn sum(grid: &Grid, distances: &[u32], to: Cell, code: u8) -> u64 {
    match grid.index(to).map(|to| distances[to]) {
        Some(distance) if distance != UNREACHABLE => {
            u64::from(distance) + u64::from(grid.connectivity().step(code)) * u64::from(grid.cost(to))
        }
        _ => u64::MAX,
    }
}

/// The first free cell, row-major, that has no distance which 32 bits hold but a move to one that has.
pub(super) fn overflowing(grid: &Grid, distances: &[u32]) -> Option<Cell> {
    let reaches = |cell: Cell| {
        let codes = 0..grid.connectivity().neighbour_count() as u8;
        codes
            .filter_map(|code| Some((code, grid.neighbour(cell, code)?)))
            .any(|(code, to)| sum(grid, distances, to, code) != u64::MAX)
    };
    let open = (0..distances.len()).filter(|&index| distances[index] == UNREACHABLE);
    open.map(|index| grid.cell(index)).find(|&cell| grid.is_free(cell) && reaches(cell))
}

/// The ways out of obstacles: a wave from all reached cells through obstacles alone, all steps one long.
fn exits(grid: &Grid, distances: &[u32], codes: &mut [u8]) {
    let offsets = grid.connectivity().offsets();
    let mut levels: Vec<u32> =
        distances.iter().map(|&distance| if distance == UNREACHABLE { UNREACHABLE } else { 0 }).collect();
    let beside = |index: usize, offset: [i32; 3]| {
        let cell = grid.cell(index);
        let [x, y, z] = offset;
        grid.index(Cell { x: cell.x + x, y: cell.y + y, z: cell.z + z })
    };
    let mut front: Vec<usize> = (0..levels.len()).filter(|&index| levels[index] == 0).collect();
    for level in 1.. {
        let mut ahead = Vec::new();
        for &index in &front {
            for to in offsets.iter().filter_map(|&offset| beside(index, offset)) {
                if levels[to] == UNREACHABLE && grid.is_obstacle(grid.cell(to)) {
                    levels[to] = level;
                    ahead.push(to);
                }
            }
        }
        for &index in &ahead {
            let leads = |&offset: &[i32; 3]| beside(index, offset).is_some_and(|to| levels[to] == level - 1);
            codes[index] = offsets.iter().position(leads).map_or(NEXT_NONE, |code| code as u8);
        }
        if ahead.is_empty() {
            break;
        }
        front = ahead;
    }
}
