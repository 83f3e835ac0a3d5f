//! Fields over grids, found the plain way: by a queue if all moves have the same length, otherwise by a heap, with sums of 64 bits.
//!
//! Cells are numbered row by row, then layer by layer.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::random::Random;

/// What the exact distance of a cell is from which no path leads to a goal.
pub const UNREACHED: u64 = u64::MAX;

/// Which diagonal moves past obstacles are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Corners {
    /// Those where all cells between the two are free.
    BothFree,
    /// Those where orthogonal moves through free cells lead there too.
    OneFree,
    /// All.
    Any,
}

/// The moves from a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Neighbours {
    /// Along x and y.
    Four,
    /// Along x, y and their diagonals.
    Eight(Corners),
    /// Along x, y and z.
    Six,
    /// Along x, y, z and all their diagonals.
    TwentySix(Corners),
}

/// A grid with obstacles.
#[derive(Debug, Clone, Copy)]
pub struct Grid<'a> {
    /// The cells along x, y and z.
    pub size: [usize; 3],
    /// The moves.
    pub neighbours: Neighbours,
    /// Whether each cell is an obstacle.
    pub blocked: &'a [bool],
    /// What a move into each cell costs, times its length; empty if all costs are 1.
    pub costs: &'a [u32],
}

/// The field of a grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// The distance of each cell, `u32::MAX` where there is none.
    pub distances: Vec<u32>,
    /// The number of the move from each cell, 255 where there is none.
    pub next: Vec<u8>,
}

/// An offset and its length.
type Move = ([i32; 3], u64);

/// The moves in the order of the library's documentation, read from their letters there.
fn moves(neighbours: Neighbours) -> Vec<Move> {
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
        for mark in name.as_bytes().chunks(2) {
            offset[usize::from(mark[1] - b'x')] = if mark[0] == b'-' { -1 } else { 1 };
        }
        offset
    };
    let (names, is_spatial, steps): (&str, bool, [u64; 3]) = match neighbours {
        Neighbours::Four => ("N E S W", false, [1, 0, 0]),
        Neighbours::Eight(_) => ("N E S W NE SE SW NW", false, [408, 577, 0]),
        Neighbours::Six => ("-y +y -x +x -z +z", true, [1, 0, 0]),
        Neighbours::TwentySix(_) => (
            "-y +y -x +x -z +z -y-x -y+x +y-x +y+x -y-z -y+z +y-z +y+z -x-z -x+z +x-z +x+z \
             -y-x-z -y-x+z -y+x-z -y+x+z +y-x-z +y-x+z +y+x-z +y+x+z",
            true,
            [1183, 1673, 2049],
        ),
    };
    let length = |offset: [i32; 3]| steps[offset.iter().filter(|&&part| part != 0).count() - 1];
    let offsets = names.split_whitespace().map(|name| if is_spatial { spatial(name) } else { planar(name) });
    offsets.map(|offset| (offset, length(offset))).collect()
}

fn shifted(cell: [i32; 3], offset: [i32; 3]) -> [i32; 3] {
    std::array::from_fn(|axis| cell[axis] + offset[axis])
}

impl Grid<'_> {
    fn cell(&self, index: usize) -> [i32; 3] {
        let [width, height, _] = self.size;
        [index % width, index / width % height, index / (width * height)].map(|at| at as i32)
    }

    fn index(&self, cell: [i32; 3]) -> Option<usize> {
        let [width, height, _] = self.size;
        let is_inside = (0..3).all(|axis| cell[axis] >= 0 && (cell[axis] as usize) < self.size[axis]);
        let [x, y, z] = cell.map(|at| at as usize);
        is_inside.then(|| (z * height + y) * width + x)
    }

    fn cost(&self, index: usize) -> u64 {
        self.costs.get(index).map_or(1, |&cost| u64::from(cost))
    }

    fn is_free(&self, cell: [i32; 3]) -> bool {
        self.index(cell).is_some_and(|index| !self.blocked[index])
    }

    /// Whether orthogonal moves through free cells lead from a cell to the one at the offset, which need not be free itself.
    fn leads_orthogonally(&self, from: [i32; 3], offset: [i32; 3]) -> bool {
        (0..3).filter(|&axis| offset[axis] != 0).any(|axis| {
            let mut step = [0; 3];
            step[axis] = offset[axis];
            let mut rest = offset;
            rest[axis] = 0;
            let to = shifted(from, step);
            rest == [0; 3] || (self.is_free(to) && self.leads_orthogonally(to, rest))
        })
    }

    /// Whether all cells of the box between a cell and the one at the offset are free, apart from these two.
    fn is_clear(&self, from: [i32; 3], offset: [i32; 3]) -> bool {
        (1..7).all(|bits: i32| {
            let part: [i32; 3] =
                std::array::from_fn(|axis| if bits >> axis & 1 == 1 { offset[axis] } else { 0 });
            part == [0; 3] || part == offset || self.is_free(shifted(from, part))
        })
    }

    fn may_move(&self, from: [i32; 3], offset: [i32; 3]) -> bool {
        let is_diagonal = offset.iter().filter(|&&part| part != 0).count() > 1;
        let (Neighbours::Eight(corners) | Neighbours::TwentySix(corners)) = self.neighbours else {
            return self.is_free(shifted(from, offset));
        };
        self.is_free(shifted(from, offset))
            && match corners {
                _ if !is_diagonal => true,
                Corners::Any => true,
                Corners::OneFree => self.leads_orthogonally(from, offset),
                Corners::BothFree => self.is_clear(from, offset),
            }
    }

    /// The distances to the nearest of `goals` without limits, in 64 bits. Goals on obstacles do not count.
    pub fn exact_distances(&self, goals: &[usize]) -> Vec<u64> {
        let moves = moves(self.neighbours);
        let goals = goals.iter().copied().filter(|&goal| !self.blocked[goal]);
        let mut distances = vec![UNREACHED; self.blocked.len()];
        let enter = |distances: &mut [u64], at: usize, queue: &mut dyn FnMut(u64, usize)| {
            let cell = self.cell(at);
            for &(offset, step) in &moves {
                let from = shifted(cell, offset.map(|part| -part));
                let Some(index) = self.index(from) else { continue };
                let sum = distances[at] + step * self.cost(at);
                if sum < distances[index] && !self.blocked[index] && self.may_move(from, offset) {
                    distances[index] = sum;
                    queue(sum, index);
                }
            }
        };
        if self.costs.is_empty() && moves.iter().all(|&(_, step)| step == 1) {
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

    /// The field to the nearest of `goals`: cells up to `max_distance`, and no farther than the farthest of `until`, unless that can't be
    /// reached.
    ///
    /// # Errors
    /// The first cell whose distance overflows. The cell has no distance itself, but one of its moves leads to a cell that has one.
    pub fn field(
        &self,
        goals: &[usize],
        max_distance: Option<u32>,
        until: &[usize],
    ) -> Result<Expected, usize> {
        let moves = moves(self.neighbours);
        let mut distances = self.exact_distances(goals);
        let most = u64::from(u32::MAX);
        let limit = max_distance.map_or(UNREACHED - 1, u64::from);
        let apply_limit = |distances: &mut [u64], limit: u64| {
            distances
                .iter_mut()
                .filter(|distance| **distance > limit)
                .for_each(|distance| *distance = UNREACHED);
        };
        apply_limit(&mut distances, limit);
        let wanted = until.iter().map(|&cell| distances[cell]);
        // A target on an obstacle counts as one that cannot be reached.
        if let Some(farthest) = wanted.max().filter(|&distance| distance < most) {
            apply_limit(&mut distances, farthest);
        }
        let distance_over = |distances: &[u64], index: usize, (offset, step): Move| {
            let cell = self.cell(index);
            let to = self.index(shifted(cell, offset))?;
            let is_reached = distances[to] < most && self.may_move(cell, offset);
            is_reached.then(|| distances[to] + step * self.cost(to))
        };
        if max_distance.is_none() {
            let is_overflow = |&index: &usize| {
                let is_far = distances[index] != UNREACHED && distances[index] >= most;
                is_far && moves.iter().any(|&by| distance_over(&distances, index, by).is_some())
            };
            if let Some(index) = (0..distances.len()).find(is_overflow) {
                return Err(index);
            }
        }
        apply_limit(&mut distances, most - 1);
        let mut next = vec![255; distances.len()];
        for (index, &distance) in distances.iter().enumerate() {
            if distance != 0 && distance != UNREACHED {
                let attains = |&by: &Move| distance_over(&distances, index, by) == Some(distance);
                next[index] = code(&moves, attains);
            }
        }
        self.add_escape_codes(&moves, &distances, &mut next);
        let distances =
            distances.iter().map(|&distance| u32::try_from(distance).unwrap_or(u32::MAX)).collect();
        Ok(Expected { distances, next })
    }

    /// Escape codes: the way out of obstacles. Each move counts as 1 whatever the corners, and only the last move leaves the obstacles.
    fn add_escape_codes(&self, moves: &[Move], distances: &[u64], next: &mut [u8]) {
        let mut levels: Vec<u64> =
            distances.iter().map(|&distance| if distance == UNREACHED { UNREACHED } else { 0 }).collect();
        let mut queue: VecDeque<usize> = (0..levels.len()).filter(|&index| levels[index] == 0).collect();
        while let Some(at) = queue.pop_front() {
            for &(offset, _) in moves {
                let Some(index) = self.index(shifted(self.cell(at), offset)) else { continue };
                if self.blocked[index] && levels[index] == UNREACHED {
                    levels[index] = levels[at] + 1;
                    queue.push_back(index);
                }
            }
        }
        for index in (0..levels.len()).filter(|&index| levels[index] != UNREACHED && levels[index] != 0) {
            let attains = |&(offset, _): &Move| {
                let to = self.index(shifted(self.cell(index), offset));
                to.is_some_and(|to| levels[to] == levels[index] - 1)
            };
            next[index] = code(moves, attains);
        }
    }
}

/// The number of the first move that attains a distance; there is one.
fn code(moves: &[Move], attains: impl FnMut(&Move) -> bool) -> u8 {
    match moves.iter().position(attains) {
        Some(at) => at as u8,
        None => panic!("no move attains the distance"),
    }
}

/// Random obstacles: each cell is one with this chance.
pub fn noise(size: [usize; 3], chance: f64, random: &mut Random) -> Vec<bool> {
    (0..size.iter().product()).map(|_| random.chance(chance)).collect()
}

/// Large lumps of obstacles with thick walls, some inside others: smoothed noise.
pub fn caves(size: [usize; 3], random: &mut Random) -> Vec<bool> {
    let mut cells = noise(size, 0.47, random);
    let [width, height, depth] = size;
    for _ in 0..4 {
        let old = cells.clone();
        for (index, cell) in cells.iter_mut().enumerate() {
            let (x, y, z) = (index % width, index / width % height, index / (width * height));
            let (mut blocked_count, mut count) = (0, 0);
            for near_z in z.saturating_sub(1)..(z + 2).min(depth) {
                for near_y in y.saturating_sub(1)..(y + 2).min(height) {
                    for near_x in x.saturating_sub(1)..(x + 2).min(width) {
                        count += 1;
                        blocked_count += usize::from(old[(near_z * height + near_y) * width + near_x]);
                    }
                }
            }
            *cell = 2 * blocked_count > count;
        }
    }
    cells
}
