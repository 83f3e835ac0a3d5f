//! Maps of cells: MovingAI, PNG, PGM, ROS, and NumPy volumes.

mod file;
mod movingai;
mod npy;
mod occupancy;
mod pixels;
mod raster;
mod ros;

pub(crate) use file::map;
pub(crate) use npy::{
    HEADER_ROOM as NPY_HEADER_ROOM, Header as NpyHeader, costs, header as parse_npy_header,
    header_bytes as npy_header, shape_text as npy_shape_text, write as write_npy,
};
pub(crate) use occupancy::{Map, check_size};
pub(crate) use raster::{
    FrictionNumbers, MapFiles, MapRaster, MapValues, WholeFriction, friction, raster_size,
};
