//! Mass collision, flow fields and shortest paths, on the GPU through wgpu and on the CPU.

mod collide;
mod engine;
mod error;
mod gpu;
mod pending;

pub use collide::{
    Arena, Body, Dimension, Estimate, Hull, Intersection, Intersections, Pairs, Stats, Status, Times, Trace,
    TraceStep,
};
#[cfg(not(target_arch = "wasm32"))]
pub use engine::adapters;
pub use engine::{AdapterReport, Backend, Counters, Engine, adapters_async};
pub use error::{Error, Result};
pub use pending::Pending;

// The integration tests' helper serves the unit tests too; it calls the crate by its name.
#[cfg(test)]
extern crate self as hullfield;
#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;

/// Its examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
