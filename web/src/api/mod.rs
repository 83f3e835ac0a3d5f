//! The classes of the npm package. `web/package/index.d.ts` says what each gives and takes.

pub mod agents;
pub mod arena;
mod bodies;
pub mod cost_distance;
pub mod engine;
pub mod error;
pub mod flow;
pub mod hull;
mod input;
mod output;
pub mod room;
mod rows;
pub mod surface;
