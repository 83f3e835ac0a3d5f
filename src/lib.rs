//! Mass collision, flow fields and shortest paths, on the GPU through wgpu and on the CPU.

mod collide;
mod error;

pub use collide::{Body, Dimension, Hull};
pub use error::{Error, Result};
