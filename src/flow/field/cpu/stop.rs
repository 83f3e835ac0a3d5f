//! When a wave stops.

use crate::flow::field::options::FieldLimits;
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::grid::cells::Grid;
use crate::pending::Awaited;

/// The conditions under which a wave stops before all cells are settled.
#[derive(Debug, Clone)]
pub(crate) struct StopConditions {
    /// The largest distance that the wave may give a cell; always less than [`UNREACHABLE`].
    pub(crate) max_distance: u32,
    /// Targets that were not settled at the last check. The wave stops once none is left.
    pub(crate) open_targets: Vec<usize>,
    /// Whether the field has targets at all.
    pub(crate) has_targets: bool,
    /// Tells whether the caller still waits for the field. If not, the wave stops where it is.
    pub(crate) awaited: Awaited,
}

impl StopConditions {
    pub(crate) fn new(grid: &Grid, limits: &FieldLimits) -> Self {
        let max_distance = limits.max_distance.unwrap_or(UNREACHABLE).min(UNREACHABLE - 1);
        let open_targets: Vec<usize> = limits.targets.iter().filter_map(|&cell| grid.index(cell)).collect();
        Self {
            max_distance,
            has_targets: !open_targets.is_empty(),
            open_targets,
            awaited: Awaited::default(),
        }
    }

    /// Whether the wave may stop: all targets are settled, as `is_settled` tells of each, or nobody waits.
    pub(crate) fn should_stop(&mut self, is_settled: impl Fn(usize) -> bool) -> bool {
        while self.open_targets.pop_if(|&mut cell| is_settled(cell)).is_some() {}
        self.has_targets && self.open_targets.is_empty() || !self.awaited.is_awaited()
    }
}
