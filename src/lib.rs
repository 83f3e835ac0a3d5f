//! Which of ten thousand convex bodies touch, this frame: for all of them at once, on the GPU through wgpu, or on the
//! CPU where there is none.
//!
//! An [`Engine`] is the machine that does the work, an [`collide::Arena`] the hulls of a scene handed to it once; a query takes
//! bodies only, starts at once and answers through a [`Pending`].
//!
//! ```
//! use hullfield::Engine;
//! use hullfield::collide::{Arena, Body, Hull, Pairs, Status, Options};
//!
//! let engine = Engine::auto()?;
//! let arena = Arena::new(&engine, &[Hull::cuboid([0.5; 3])?], Options::default())?;
//! let bodies = [Body::new(0), Body::new(0).at([1.0, 0.0, 0.0]), Body::new(0).at([0.0, 3.0, 0.0])];
//!
//! // The hits among all bodies, sorted by (a, b), a < b.
//! let near = arena.intersections(&bodies, Pairs::BroadPhase)?.wait()?;
//! assert_eq!((near.rows.len(), near.rows[0].status), (1, Status::Touching));
//!
//! // A row for each pair given, in that order; what is apart comes with an axis that shows it.
//! let given = arena.intersections(&bodies, Pairs::Given(&[[0, 1], [2, 0]]))?.wait()?;
//! assert_eq!((given.rows[1].a, given.rows[1].status), (2, Status::Separated));
//! assert!(given.rows[1].axis.is_some_and(|axis| axis[1] < 0.0));
//! # Ok::<(), hullfield::Error>(())
//! ```
//!
//! # Units and frames
//!
//! Lengths are in the caller's units, the same for hulls and positions up to a body's scale; times are in milliseconds,
//! sizes in bytes. A hull's vertices are in its own frame. A vertex `v` of a body stands in the world at
//! `position + rotation · (scale ⊙ v)`; rotations are unit quaternions `x, y, z, w`. Axes are unit vectors of the world
//! frame, from the first body of a pair to the second. Nothing depends on handedness, but faces are
//! counter-clockwise seen from outside in a right-handed frame.
//!
//! # Arrays
//!
//! Points are `[f32; 3]`, pairs `[u32; 2]` of rows of the bodies given, from 0. Results are rows in a fixed order, the
//! same from run to run on one machine.
//!
//! # Tolerance
//!
//! The truth is the f32 numbers exactly as given. For a pair let R be the smaller and S the sum of the bounding radii, d
//! the distance, and τ = max(1e-5 R, 4e-6 (S + d)). No verdict is wrong where the gap or the depth is beyond τ; what is
//! within a tenth of it is touching. Two engines agree on every pair beyond τ.
//!
//! # Features
//!
//! - `gpu` (default): the GPU engine, through wgpu. Without it wgpu is not compiled; rooms, surfaces and the CPU engine are
//!   there, `Engine::auto` is the CPU engine, and `Engine::gpu` is [`Error::NoGpu`].
//! - `vulkan`, `metal`, `dx12`, `webgpu` (default): wgpu's back ends. Those of other systems are ignored. With `gpu` and none
//!   of them, `Engine::gpu` is [`Error::NoGpu`], which says so.
//! - `threads` (default): CPU work on all cores through rayon. Without it everything runs on the calling thread, as on
//!   `wasm32-unknown-unknown`, where [`Pending`] is awaited: there is no blocking wait.
//!
//! # Rooms
//!
//! A [`navigate::room::Room`] is a polygon with holes, or a mesh of convex cells, in two dimensions and f64; it answers shortest paths,
//! one at a time or on all cores, on the CPU alone and without an [`Engine`].
//!
//! # Flow fields
//!
//! A [`flow::Grid`] of cells in two or three dimensions is handed to an engine as a [`flow::Flow`]; a [`flow::Field`] then holds for every cell
//! how far the nearest goal is and which way leads there.
//!
//! # Surfaces
//!
//! A [`navigate::surface::Surface`] is made of the triangles of 3D [`navigate::surface::Model`]s, in f64; paths lead over it from any point to any other, over walls
//! and ceilings too, the shortest of all
//! or, quicker, the shortest within one strip of triangles; by links off the mesh where those are cheaper. A clone shares
//! the triangles and has walkable ones of its own, for another kind of agents.

#![cfg_attr(
    not(feature = "gpu"),
    allow(
        dead_code,
        unreachable_code,
        reason = "what only the GPU engine calls stands beside its twin on the CPU"
    )
)]

mod account;
mod batch;
mod cell;
pub mod collide;
mod engine;
mod error;
pub mod flow;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu.rs"]
mod gpu;
mod lock;
pub mod navigate;
mod parallel;
mod pending;

pub use account::{Counters, Prepared};
pub use batch::Batch;
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
pub use engine::adapters;
#[cfg(feature = "gpu")]
pub use engine::adapters_async;
pub use engine::{Backend, BackendChoice, Engine, EngineOptions};
pub use error::{Error, Location, Result};
#[cfg(feature = "gpu")]
pub use gpu::adapter::AdapterReport;

pub use pending::Pending;
/// The version of wgpu whose devices, queues, encoders and buffers the library takes.
#[cfg(feature = "gpu")]
pub use wgpu;

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
