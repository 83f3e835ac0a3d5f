//! How a field over a raster is solved, how far the work is, and what was solved.

use crate::error::{Error, Location, Result};
use crate::flow::grid::goals::GoalReport;
use crate::flow::grid::moves::Connectivity;
use crate::flow::raster::friction::{FrictionOptions, FrictionReport};
use crate::flow::weighted::rule::{CostRule, MoveCosts, StepLengths};

/// How a field over a raster is solved.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct RasterOptions {
    /// The neighbours of a cell: [`Connectivity::Four`], or [`Connectivity::Eight`], the default.
    pub connectivity: Connectivity,
    /// The most bytes that the work may take, beside what the raster and the store hold themselves. It decides the size of the tiles.
    /// `None`: what the host has free.
    pub memory_limit: Option<u64>,
    /// Cells along the edge of a tile, 1 to 32,768. `None`: the largest up to 4,096 that the memory limit allows.
    pub tile_edge: Option<u32>,
    /// The largest distance, as a whole number like all distances. Cells farther than this are left unreachable. `None`: no limit.
    pub max_distance: Option<u64>,
    /// Which cells' costs a move pays. By default [`CostRule::Entry`], as in all fields.
    pub cost_rule: CostRule,
    /// The lengths of steps, each up to 2²⁴. `None`: those of [`Connectivity`].
    pub step_lengths: Option<StepLengths>,
    /// Costs are friction in floats ([`Raster::read_friction`](crate::flow::Raster::read_friction)), and distances are floats
    /// ([`RasterField::map_distances`](crate::flow::RasterField::map_distances)). `None`: both are whole numbers.
    pub friction: Option<FrictionOptions>,
}

impl RasterOptions {
    /// The moves, and what they cost.
    pub(crate) fn moves(&self) -> MoveCosts {
        let lengths = self.step_lengths.unwrap_or_else(|| StepLengths::of(self.connectivity));
        MoveCosts { connectivity: self.connectivity, rule: self.cost_rule, lengths }
    }
}

/// How far the work is. No count ever falls but that of the tiles that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RasterProgress {
    /// Tiles of the raster.
    pub tile_count: usize,
    /// Tiles that have been solved at least once.
    pub solved_count: usize,
    /// Tiles solved so far, each as often as it was.
    pub visit_count: usize,
    /// Tiles that wait to be solved, for the first time or again.
    pub waiting_count: usize,
}

/// What was solved, and how.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RasterReport {
    /// Which goals were used, and which were left out.
    pub goals: GoalReport,
    /// Cells from which a goal is reached, goals included.
    pub reached_count: u64,
    /// The largest distance of a reached cell; 0 over friction in floats, which has its own.
    pub farthest: u64,
    /// What else there is over friction in floats.
    pub friction: Option<FrictionReport>,
    /// Cells along the edge of a tile.
    pub tile_edge: u32,
    /// Tiles of the raster.
    pub tile_count: usize,
    /// Tiles solved by this call, each as often as it was.
    pub visit_count: usize,
    /// Tiles that an earlier call for the same job had left in the store.
    pub resumed_count: usize,
}

/// # Errors
/// [`Error::Value`] for a size, a connectivity, lengths of steps or friction that a raster can't have; [`Error::Invalid`] for options that exclude one another.
pub(crate) fn check(size: [u32; 2], options: &RasterOptions) -> Result<()> {
    let refuse =
        |field, value: String, allowed: &str| Err(Error::value(Location::Argument, field, value, allowed));
    if size.iter().any(|length| !(1..=i32::MAX as u32).contains(length)) {
        return refuse("size", format!("{size:?}"), "a raster has 1 to 2,147,483,647 cells along each axis");
    }
    if options.connectivity.dimension() != 2 {
        return refuse(
            "connectivity",
            options.connectivity.to_string(),
            "a raster has two dimensions: 4 or 8 of them",
        );
    }
    if let Some(friction) = &options.friction {
        if options.step_lengths.is_some() || options.max_distance.is_some() {
            let message =
                "with friction, step_lengths and max_distance are those of the friction's own options";
            return Err(Error::invalid(Location::Argument, message));
        }
        friction.check(options.connectivity, size)?;
    }
    options.step_lengths.map_or(Ok(()), StepLengths::check)
}
