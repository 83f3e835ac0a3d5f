//! The oracle: fields found the plain way, by a queue if all moves have the same length, otherwise by a heap, with sums
//! of 64 bits.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use hullfield::flow::{Cell, Connectivity, Corners};

use super::Scene;

/// The field of a scene.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expected {
    pub(crate) distances: Vec<u32>,
    pub(crate) next: Vec<u8>,
}

const UNREACHED: u64 = u64::MAX;

/// The moves in the order of the library's documentation, read from their letters there.
fn moves(connectivity: Connectivity) -> Vec<([i32; 3], u64)> {
    let planar = |name: &str| {
        let mut offset = [0; 3];
        for letter in name.chars() {
            match letter {
                'N' => offset[1] = -1,
                'S' => offset[1] = 1,
                'E' => offset[0] = 1,
                _ => offset[0] = -1,
            }
        }
        offset
    };
    let spatial = |name: &str| {
        let mut offset = [0; 3];
        let letters: Vec<char> = name.chars().collect();
        for mark in letters.chunks(2) {
            let axis = ['x', 'y', 'z'].iter().position(|&axis| axis == mark[1]).unwrap();
            offset[axis] = if mark[0] == '-' { -1 } else { 1 };
        }
        offset
    };
    let (names, is_spatial, steps): (&str, bool, [u64; 3]) = match connectivity {
        Connectivity::Four => ("N E S W", false, [1, 0, 0]),
        Connectivity::Eight(_) => ("N E S W NE SE SW NW", false, [408, 577, 0]),
        Connectivity::Six => ("-y +y -x +x -z +z", true, [1, 0, 0]),
        Connectivity::TwentySix(_) => (
            "-y +y -x +x -z +z -y-x -y+x +y-x +y+x -y-z -y+z +y-z +y+z -x-z -x+z +x-z +x+z \
             -y-x-z -y-x+z -y+x-z -y+x+z +y-x-z +y-x+z +y+x-z +y+x+z",
            true,
            [1183, 1673, 2049],
        ),
        _ => panic!("{connectivity:?} is not known"),
    };
    let length = |offset: [i32; 3]| steps[offset.iter().filter(|&&part| part != 0).count() - 1];
    let offsets = names.split_whitespace().map(|name| if is_spatial { spatial(name) } else { planar(name) });
    offsets.map(|offset| (offset, length(offset))).collect()
}

fn shifted(cell: Cell, offset: [i32; 3]) -> Cell {
    Cell { x: cell.x + offset[0], y: cell.y + offset[1], z: cell.z + offset[2] }
}

fn is_free(scene: &Scene, cell: Cell) -> bool {
    scene.index(cell).is_some_and(|index| !scene.blocked[index])
}

/// Whether orthogonal moves through free cells lead from a cell to the one at the offset, which need not be free
/// itself.
fn leads_orthogonally(scene: &Scene, from: Cell, offset: [i32; 3]) -> bool {
    (0..3).filter(|&axis| offset[axis] != 0).any(|axis| {
        let mut step = [0; 3];
        step[axis] = offset[axis];
        let mut rest = offset;
        rest[axis] = 0;
        let to = shifted(from, step);
        rest == [0; 3] || (is_free(scene, to) && leads_orthogonally(scene, to, rest))
    })
}

/// Whether all cells of the box between a cell and the one at the offset are free, apart from these two.
fn is_clear(scene: &Scene, from: Cell, offset: [i32; 3]) -> bool {
    (1..7).all(|bits: i32| {
        let part: [i32; 3] = std::array::from_fn(|axis| if bits >> axis & 1 == 1 { offset[axis] } else { 0 });
        part == [0; 3] || part == offset || is_free(scene, shifted(from, part))
    })
}

fn may_move(scene: &Scene, from: Cell, offset: [i32; 3]) -> bool {
    let is_diagonal = offset.iter().filter(|&&part| part != 0).count() > 1;
    let (Connectivity::Eight(corners) | Connectivity::TwentySix(corners)) = scene.connectivity else {
        return is_free(scene, shifted(from, offset));
    };
    is_free(scene, shifted(from, offset))
        && match corners {
            _ if !is_diagonal => true,
            Corners::Any => true,
            Corners::OneFree => leads_orthogonally(scene, from, offset),
            Corners::BothFree => is_clear(scene, from, offset),
        }
}

/// The field of a scene, or the first cell, row-major, whose distance overflows: it has no distance, but a move to a
/// cell that has one.
pub(crate) fn expected(scene: &Scene) -> Result<Expected, Cell> {
    let cost = |index: usize| scene.costs.get(index).map_or(1, |&cost| u64::from(cost));
    finish(scene, &moves(scene.connectivity), exact_distances(scene), cost)
}

/// The distances of a scene without limits, in 64 bits.
pub(crate) fn exact_distances(scene: &Scene) -> Vec<u64> {
    let moves = moves(scene.connectivity);
    let cell_count = scene.blocked.len();
    let cost = |index: usize| scene.costs.get(index).map_or(1, |&cost| u64::from(cost));
    let goals = scene.goals.iter().filter_map(|&goal| scene.index(goal)).filter(|&goal| !scene.blocked[goal]);
    let mut distances = vec![UNREACHED; cell_count];
    let enter = |distances: &mut [u64], at: usize, queue: &mut dyn FnMut(u64, usize)| {
        let cell = scene.cell(at);
        for &(offset, step) in &moves {
            let from = shifted(cell, offset.map(|part| -part));
            let Some(index) = scene.index(from) else { continue };
            let sum = distances[at] + step * cost(at);
            if sum < distances[index] && !scene.blocked[index] && may_move(scene, from, offset) {
                distances[index] = sum;
                queue(sum, index);
            }
        }
    };
    if scene.costs.is_empty() && moves.iter().all(|&(_, step)| step == 1) {
        let mut queue: VecDeque<usize> = goals.collect();
        queue.iter().for_each(|&goal| distances[goal] = 0);
        while let Some(at) = queue.pop_front() {
            enter(&mut distances, at, &mut |_, index| queue.push_back(index));
        }
    } else {
        let mut heap: BinaryHeap<Reverse<(u64, usize)>> = goals.map(|goal| Reverse((0, goal))).collect();
        heap.iter().for_each(|&Reverse((_, goal))| distances[goal] = 0);
        while let Some(Reverse((distance, at))) = heap.pop() {
            if distance == distances[at] {
                enter(&mut distances, at, &mut |sum, index| heap.push(Reverse((sum, index))));
            }
        }
    }
    distances
}

/// Applies the limits, and finds overflows, codes and escape codes, from exact distances.
fn finish(
    scene: &Scene,
    moves: &[([i32; 3], u64)],
    mut distances: Vec<u64>,
    cost: impl Fn(usize) -> u64,
) -> Result<Expected, Cell> {
    let most = u64::from(u32::MAX);
    let limit = scene.options.max_distance.map_or(UNREACHED - 1, u64::from);
    let apply_limit = |distances: &mut [u64], limit: u64| {
        distances.iter_mut().filter(|distance| **distance > limit).for_each(|distance| *distance = UNREACHED);
    };
    apply_limit(&mut distances, limit);
    let wanted = scene.options.until.iter().map(|&cell| distances[scene.index(cell).unwrap()]);
    // A target on an obstacle counts as one that cannot be reached.
    if let Some(farthest) = wanted.max().filter(|&distance| distance < most) {
        apply_limit(&mut distances, farthest);
    }
    let distance_over = |distances: &[u64], index: usize, (offset, step): ([i32; 3], u64)| {
        let cell = scene.cell(index);
        let to = scene.index(shifted(cell, offset))?;
        let is_reached = distances[to] < most && may_move(scene, cell, offset);
        is_reached.then(|| distances[to] + step * cost(to))
    };
    if scene.options.max_distance.is_none() {
        let is_overflow = |&index: &usize| {
            let is_far = distances[index] != UNREACHED && distances[index] >= most;
            is_far && moves.iter().any(|&by| distance_over(&distances, index, by).is_some())
        };
        if let Some(index) = (0..distances.len()).find(is_overflow) {
            return Err(scene.cell(index));
        }
    }
    apply_limit(&mut distances, most - 1);
    let mut next = vec![255; distances.len()];
    for (index, &distance) in distances.iter().enumerate() {
        if distance != 0 && distance != UNREACHED {
            let attains = |&by: &([i32; 3], u64)| distance_over(&distances, index, by) == Some(distance);
            next[index] = moves.iter().position(attains).unwrap() as u8;
        }
    }
    add_escape_codes(scene, moves, &distances, &mut next);
    let distances = distances.iter().map(|&distance| u32::try_from(distance).unwrap_or(u32::MAX)).collect();
    Ok(Expected { distances, next })
}

/// Escape codes: the way out of obstacles. Each move counts as 1 whatever the corners, and only the last move leaves
/// the obstacles.
fn add_escape_codes(scene: &Scene, moves: &[([i32; 3], u64)], distances: &[u64], next: &mut [u8]) {
    let mut levels: Vec<u64> =
        distances.iter().map(|&distance| if distance == UNREACHED { UNREACHED } else { 0 }).collect();
    let mut queue: VecDeque<usize> = (0..levels.len()).filter(|&index| levels[index] == 0).collect();
    while let Some(at) = queue.pop_front() {
        for &(offset, _) in moves {
            let Some(index) = scene.index(shifted(scene.cell(at), offset)) else { continue };
            if scene.blocked[index] && levels[index] == UNREACHED {
                levels[index] = levels[at] + 1;
                queue.push_back(index);
            }
        }
    }
    for index in (0..levels.len()).filter(|&index| levels[index] != UNREACHED && levels[index] != 0) {
        let attains = |&(offset, _): &([i32; 3], u64)| {
            let to = scene.index(shifted(scene.cell(index), offset));
            to.is_some_and(|to| levels[to] == levels[index] - 1)
        };
        next[index] = moves.iter().position(attains).unwrap() as u8;
    }
}
