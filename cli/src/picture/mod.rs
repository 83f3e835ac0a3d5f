//! Pictures, drawn on the CPU without a window or a GPU. Equal machines write equal bytes.
//!
//! Solids and surfaces are rendered in 3D: a tiled z-buffer, then a shading pass over its samples with a sun, soft shadows
//! from a shadow map, light from the sky and the ground, ambient occlusion in screen space, and haze. Colours are linear
//! until the last step, which maps them to sRGB. A pixel has four samples. Fields and rooms are drawn flat.

mod camera;
mod canvas;
mod field;
mod floor_plan;
mod png;
mod raster;
mod shade;
mod solid;
mod srgb;
mod surface;

pub(crate) use self::camera::View;
pub(crate) use self::field::{CellState, FieldPicture, grid_states};
pub(crate) use self::floor_plan::FloorPlan;
pub(crate) use self::png::write as write_png;
pub(crate) use self::solid::{Item, Solid, draw};
pub(crate) use self::srgb::{Picture, linear};
pub(crate) use self::surface::SurfacePicture;
