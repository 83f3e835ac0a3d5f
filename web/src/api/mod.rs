//! The classes of the npm package.

pub mod engine;
pub mod error;
