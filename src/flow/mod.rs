//! Which way is the goal: a field over a grid, solved once and read by any number of agents.

mod agents;
mod clearance;
mod cpu;
mod crowd;
mod edit;
mod field;
mod goals;
mod gpu;
mod grid;
mod moves;
mod nearest;
mod options;
mod paths;
mod prepare;
mod sight;
mod solve;
mod steer;
mod update;

pub use clearance::Border;
pub use crowd::{Agents, DeviceDirections, DevicePart};
pub use edit::Edit;
pub use field::{Field, FieldSummary, UNREACHABLE};
pub use goals::GoalReport;
pub use grid::{Grid, GridFrame};
pub use moves::{Connectivity, Corners, NEXT_NONE};
pub use options::FieldOptions;
pub use paths::Paths;
pub use prepare::FlowQuery;
pub use solve::Flow;
pub use steer::SteerOptions;

#[cfg(test)]
pub(crate) use gpu::{KERNELS, WAY_KERNELS};
