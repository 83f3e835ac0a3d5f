//! Pictures of solids in the world, drawn on the CPU: no window, no GPU, the same bytes on every machine of a kind.
//!
//! A z-buffer over tiles, then one shading pass over its samples: a sun with soft shadows from a shadow map, light from
//! the sky and back from the ground, occlusion by what stands near, and haze with distance. All colours are linear until
//! the last step, which maps them to sRGB. Four samples make a pixel.

mod camera;
mod canvas;
mod field;
mod plan;
mod png;
mod raster;
mod shade;
mod solid;
mod srgb;
mod surface;

pub(crate) use self::camera::View;
pub(crate) use self::field::FieldPicture;
pub(crate) use self::plan::Plan;
pub(crate) use self::png::write as write_png;
pub(crate) use self::solid::{Item, Solid, draw};
pub(crate) use self::srgb::{Picture, linear};
pub(crate) use self::surface::SurfacePicture;
