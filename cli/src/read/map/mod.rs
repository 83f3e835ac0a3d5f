//! Maps of cells: MovingAI, PNG, PGM, ROS, and NumPy volumes.

mod file;
mod movingai;
mod npy;
mod occupancy;
mod pixels;
mod raster;
mod ros;

pub(crate) use file::map;
pub(crate) use npy::{costs, header_bytes as npy_header, write as write_npy};
pub(crate) use occupancy::Map;
pub(crate) use raster::{MapRaster, flat_size};
