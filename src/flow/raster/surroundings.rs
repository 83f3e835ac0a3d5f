//! A tile and the cells around it, while a path crosses it.

use std::collections::VecDeque;

use crate::flow::grid::moves::Corners;
use crate::flow::raster::friction::{FrictionOptions, float_of};
use crate::flow::raster::source::RasterWindow;
use crate::flow::raster::store::RASTER_UNREACHABLE;
use crate::flow::weighted::lengths::{Lengths, RowShares};
use crate::flow::weighted::rule::MoveCosts;

/// A window of a field: its costs or its friction, and its distances.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    /// The tile that lies in the window with all cells around it, if one does.
    pub(crate) tile: Option<usize>,
    window: Option<RasterWindow>,
    moves: Option<MoveCosts>,
    /// Over friction in floats: those of the rows of the window.
    lengths: Option<Lengths>,
    pub(crate) costs: Vec<u32>,
    /// In place of costs; 0 for barriers.
    pub(crate) friction: Vec<f64>,
    pub(crate) distances: Vec<u64>,
}

/// Where a path goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// The code of the move, and the cell that it leads to.
    Move(u8, [u32; 2]),
    /// At a goal, or where none is reached.
    End,
    /// Only to cells that are as far: rounding has lost the step.
    Tied,
    Nowhere,
}

impl Surroundings {
    /// For a window of a raster that has this many rows. Its numbers are read next.
    pub(crate) fn set(
        &mut self,
        window: RasterWindow,
        moves: &MoveCosts,
        friction: Option<&FrictionOptions>,
        row_count: u32,
    ) {
        self.tile = None;
        self.window = Some(window);
        self.moves = Some(*moves);
        let rows = window.y..window.y + window.height;
        self.lengths = friction.map(|friction| friction.lengths(rows, row_count));
    }

    /// The place of a cell in the window.
    fn index(&self, [x, y]: [i64; 2]) -> Option<usize> {
        let cell = [x, y].map(|at| u32::try_from(at).unwrap_or(u32::MAX));
        self.window?.index(cell)
    }

    fn is_free(&self, cell: [i64; 2]) -> bool {
        self.index(cell).is_some_and(|index| match self.lengths {
            Some(_) => self.friction[index] > 0.0,
            None => self.costs[index] > 0,
        })
    }

    /// The moves from a cell that corner rules allow: their codes, and where they lead.
    fn moves_from(&self, cell: [u32; 2]) -> impl Iterator<Item = (u8, [i64; 2])> {
        let [x, y] = cell.map(i64::from);
        let connectivity = self.moves.map(|moves| moves.connectivity);
        let offsets = connectivity.map_or(&[][..], |connectivity| connectivity.offsets());
        offsets.iter().enumerate().filter_map(move |(code, &[dx, dy, _])| {
            let [dx, dy] = [dx, dy].map(i64::from);
            let next = [x + dx, y + dy];
            let beside = || [[x + dx, y], [x, y + dy]].map(|cell| self.is_free(cell));
            let is_allowed = dx == 0
                || dy == 0
                || match connectivity.map(|connectivity| connectivity.corners()) {
                    Some(Corners::BothFree) => beside() == [true; 2],
                    Some(Corners::OneFree) => beside() != [false; 2],
                    _ => true,
                };
            (is_allowed && self.is_free(next)).then_some((code as u8, next))
        })
    }

    /// The distance of a cell by its move to another one; `None` where it does not fit.
    fn over(&self, code: u8, [from, to]: [usize; 2], lower_row: u32) -> Option<u64> {
        let moves = self.moves.as_ref()?;
        let distance = self.distances[to];
        let Some(lengths) = &self.lengths else {
            return distance.checked_add(moves.weight(code, self.costs[from], self.costs[to]));
        };
        if distance == RASTER_UNREACHABLE {
            return None;
        }
        // As the weights of tiles are made.
        let lengths = lengths.at(lower_row as usize);
        let [entered, left]: RowShares = moves.rule.shares(lengths, lengths.map(|length| 0.5 * length), 0.0);
        let axis = match code {
            1 | 3 => 0,
            0 | 2 => 1,
            _ => 2,
        };
        let weight = self.friction[from] * left[axis] + self.friction[to] * entered[axis];
        Some((float_of(distance) + weight).to_bits())
    }

    pub(crate) fn next(&self, cell: [u32; 2]) -> Next {
        let Some(from) = self.index(cell.map(i64::from)) else { return Next::Nowhere };
        let distance = self.distances[from];
        if distance == 0 || distance == RASTER_UNREACHABLE {
            return Next::End;
        }
        let mut is_tied = false;
        for (code, next) in self.moves_from(cell) {
            let Some(to) = self.index(next) else { continue };
            if self.distances[to] > distance
                || self.over(code, [from, to], lower(cell, next)) != Some(distance)
            {
                continue;
            }
            if self.distances[to] < distance {
                return Next::Move(code, next.map(|at| at as u32));
            }
            is_tied = true;
        }
        if is_tied { Next::Tied } else { Next::Nowhere }
    }

    /// The cells over which a path leads from one whose neighbours are as far to the nearest that has a nearer neighbour, without the first; `None` where none is in the window.
    pub(crate) fn way_over_ties(&self, cell: [u32; 2]) -> Option<Vec<[u32; 2]>> {
        let start = self.index(cell.map(i64::from))?;
        let distance = self.distances[start];
        // Where each cell was come to from.
        let mut before = vec![u32::MAX; self.distances.len()];
        before[start] = start as u32;
        let mut waiting = VecDeque::from([cell]);
        while let Some(at) = waiting.pop_front() {
            let from = self.index(at.map(i64::from))?;
            // Only what the window shows whole: then no two windows lead back and forth.
            if at != cell && matches!(self.next(at), Next::Move(..)) {
                return self.way_back(&before, from);
            }
            for (code, next) in self.moves_from(at) {
                let Some(to) = self.index(next) else { continue };
                let is_tied = self.distances[to] == distance
                    && self.over(code, [from, to], lower(at, next)) == Some(distance);
                if is_tied && before[to] == u32::MAX {
                    before[to] = from as u32;
                    waiting.push_back(next.map(|at| at as u32));
                }
            }
        }
        None
    }

    /// The cells up to one, by where each was come to from, without the first.
    fn way_back(&self, before: &[u32], end: usize) -> Option<Vec<[u32; 2]>> {
        let RasterWindow { x, y, width, .. } = self.window?;
        let (mut way, mut at) = (Vec::new(), end);
        while before[at] as usize != at {
            way.push([x + at as u32 % width, y + at as u32 / width]);
            at = before[at] as usize;
        }
        way.reverse();
        Some(way)
    }
}

/// The row whose lengths a move has: the lower one of its two cells'.
fn lower(one: [u32; 2], other: [i64; 2]) -> u32 {
    one[1].max(other[1] as u32)
}
