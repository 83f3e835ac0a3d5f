//! Which way is the goal: a field over a grid, solved once and read by any number of agents.

pub(crate) mod agents;
pub(crate) mod clearance;
pub(crate) mod cpu;
pub(crate) mod crowd;
#[cfg(feature = "gpu")]
pub(crate) mod device;
pub(crate) mod edit;
pub(crate) mod field;
pub(crate) mod frame;
pub(crate) mod goals;
#[cfg(feature = "gpu")]
pub(crate) mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu.rs"]
pub(crate) mod gpu;
pub(crate) mod grid;
pub(crate) mod kinds;
pub(crate) mod moves;
pub(crate) mod nearest;
pub(crate) mod options;
pub(crate) mod paths;
pub(crate) mod prepare;
pub(crate) mod sight;
pub(crate) mod solve;
pub(crate) mod stats;
pub(crate) mod steer;
pub(crate) mod update;

pub use crate::cell::Cell;
pub use clearance::Border;
pub use crowd::Agents;
#[cfg(feature = "gpu")]
pub use device::{DeviceDirections, DevicePart};
pub use edit::Edit;
pub use field::{Field, UNREACHABLE};
pub use frame::GridFrame;
pub use goals::GoalReport;
pub use grid::{Grid, GridOptions};
pub use kinds::Query;
pub use moves::{Connectivity, Corners, NEXT_NONE};
pub use options::FieldOptions;
pub use paths::{Path, Paths};
pub use solve::Flow;
pub use stats::{Batch, Stats};
pub use steer::SteerOptions;

#[cfg(all(test, feature = "gpu"))]
pub(crate) use gpu::{KERNELS, WAY_KERNELS};
