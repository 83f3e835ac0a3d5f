//! Rasters of numbers, and what they mean: `.npy`, GeoTIFF, raw files with a header of ENVI or Esri, Esri's grids in text, and virtual rasters of one source. All but the
//! grids in text are read a window at a time and never as a whole.
//!
//! What has no data, what numbers are scaled by and where cells lie is decided here alone, as GDAL decides it: a mask comes before a number of no data, and that
//! before opacity; what stands beside a file comes before what it says itself, and a world file last.

mod ascii_grid;
mod cache;
mod epsg;
mod file;
mod flat;
mod georeference;
mod geotiff;
mod header;
mod ifd;
mod kind;
mod metadata;
mod opened;
mod reference_system;
mod unpack;
mod virtual_raster;
mod well_known_text;

pub(crate) use file::{RasterFile, is_raster, warn_once};
pub(crate) use georeference::{GeoValue, Georeference};
