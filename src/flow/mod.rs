//! Distance and flow fields over grids: solved once, then followed by any number of agents.

pub(crate) mod agents;
pub(crate) mod cost_distance;
pub(crate) mod field;
pub(crate) mod grid;
pub(crate) mod prepare;
pub(crate) mod raster;
pub(crate) mod weighted;

pub use crate::cell::Cell;
pub use agents::crowd::Agents;
#[cfg(feature = "gpu")]
pub use agents::device::{DeviceDirections, DevicePart};
pub use agents::paths::{Path, Paths};
pub use agents::steer::SteerOptions;
pub use cost_distance::friction::FrictionValue;
pub use cost_distance::options::{CostDistanceOptions, CostDistanceProgress, Slope};
pub use cost_distance::solve::cost_distance;
pub use cost_distance::solved::{CostDistance, CostDistanceReport, NO_TARGET, allocation};
pub use field::handle::Flow;
pub use field::options::FieldOptions;
pub use field::solved::{Field, UNREACHABLE};
pub use field::stats::{Batch, Stats};
pub use grid::cells::{Grid, GridOptions};
pub use grid::clearance::Border;
pub use grid::edit::Edit;
pub use grid::frame::GridFrame;
pub use grid::goals::GoalReport;
pub use grid::moves::{Connectivity, Corners, NEXT_NONE};
pub use prepare::Query;
pub use raster::field::RasterField;
#[cfg(not(target_arch = "wasm32"))]
pub use raster::files::TileFiles;
pub use raster::friction::{FrictionOptions, FrictionReport};
pub use raster::options::{RasterOptions, RasterProgress, RasterReport};
pub use raster::solve::{solve_raster, solve_raster_on};
pub use raster::solver::RasterSolver;
pub use raster::source::{MemoryFriction, MemoryRaster, Raster, RasterWindow};
pub use raster::store::{MemoryTiles, RASTER_UNREACHABLE, TileStore};
pub use raster::task::{TileAnswer, TileTask};
pub use weighted::geographic::{Ellipsoid, Geographic};
pub use weighted::rule::{CostRule, StepLengths};

#[cfg(all(feature = "gpu", any(feature = "inspect", test)))]
pub(crate) use agents::gpu::kernels::KERNELS as AGENT_KERNELS;
#[cfg(all(feature = "gpu", any(feature = "inspect", test)))]
pub(crate) use field::gpu::kernels::KERNELS;
