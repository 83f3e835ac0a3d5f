//! Drawing, by two renderers that draw the same three things: [`software`] on the CPU, [`gpu`] through wgpu; [`picture`] draws flat ones.
//!
//! - Bodies: a mesh for each kind of hull ([`mesh::Mesh::of_hull`]), drawn once for each body. Poses are the library's `PackedBody`,
//!   the colour of a body is a mark, an index into a [`palette::Palette`].
//! - A mesh with a number at each vertex, coloured by a [`scale::Scale`] in bands.
//! - [`line::Line`]s, tested against the depth of what was drawn.
//!
//! Colours are sRGB, four bytes; light multiplies them as they are.

pub mod camera;
pub mod gpu;
pub mod light;
pub mod line;
pub mod mesh;
pub mod palette;
pub mod picture;
pub mod scale;
pub mod software;
