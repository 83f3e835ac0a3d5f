//! How far a wave goes.

use crate::flow::field::options::Reach;
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::grid::cells::Grid;
use crate::pending::Awaited;

/// How far a wave goes.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// The largest distance, below [`UNREACHABLE`].
    pub(crate) most: u32,
    /// Cells after which the wave may end, those settled left out at times; none, and it goes on.
    pub(crate) until: Vec<usize>,
    pub(crate) is_until: bool,
    /// Whether anybody waits for the field: a wave that nobody waits for ends where it is.
    pub(crate) awaited: Awaited,
}

impl Limits {
    pub(crate) fn new(grid: &Grid, reach: &Reach) -> Self {
        let most = reach.max_distance.unwrap_or(UNREACHABLE).min(UNREACHABLE - 1);
        let until: Vec<usize> = reach.until.iter().filter_map(|&cell| grid.index(cell)).collect();
        Self { most, is_until: !until.is_empty(), until, awaited: Awaited::default() }
    }

    /// Whether the wave may end: all cells that it need only reach are settled, of which `is_settled` tells, or nobody waits.
    pub(crate) fn are_settled(&mut self, is_settled: impl Fn(usize) -> bool) -> bool {
        while self.until.pop_if(|&mut cell| is_settled(cell)).is_some() {}
        self.is_until && self.until.is_empty() || !self.awaited.is_awaited()
    }
}
