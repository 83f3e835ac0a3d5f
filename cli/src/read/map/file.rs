//! Map files of every format.

use std::path::Path;

use super::occupancy::Map;
use super::{movingai, npy, pixels, ros};
use crate::failure::Result;
use crate::read::input::{self, unknown_format};

/// The formats of maps, and of rasters, which are read by windows.
const FORMATS: &str = "map, png, pgm, yaml, yml, npy, tif, tiff, gtiff, asc, vrt, or raw, img, bil, bsq, bip, dat, bin, flt with .hdr is read";

/// Reads a map, by the file's extension; from stdin, by its first bytes.
pub(crate) fn map(path: &Path) -> Result<Map> {
    let read = || input::checked_bytes(path);
    match input::file_format(path)?.as_str() {
        "map" => movingai::read(path, &read()?),
        // What a picture is that is neither, its reader says.
        "png" | "pgm" => pixels::read(path, &input::bytes(path)?),
        "yaml" | "yml" => ros::read(path, &read()?),
        "npy" => npy::read(path, &read()?),
        _ => Err(unknown_format(path, FORMATS)),
    }
}
