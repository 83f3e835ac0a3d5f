//! Rasters of numbers, read a window at a time and never as a whole: `.npy`, GeoTIFF, and raw files with a header of ENVI or Esri.

mod cache;
mod file;
mod flat;
mod georeference;
mod geotiff;
mod header;
mod kind;
mod unpack;

pub(crate) use file::{RasterFile, is_raster};
pub(crate) use georeference::{GeoValue, Georeference};
