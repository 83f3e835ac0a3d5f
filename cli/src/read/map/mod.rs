//! Maps of cells: MovingAI, PNG, PGM, ROS, and NumPy volumes.

mod file;
mod movingai;
mod npy;
mod occupancy;
mod pixels;
mod ros;

pub(crate) use file::map;
pub(crate) use npy::{costs, write as write_npy};
pub(crate) use occupancy::Map;
