//! Tests of `collide`: intersections, distances, depths and sweeps.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod answers;
mod arena;
mod bodies;
mod breaks;
mod broad_phase;
#[path = "../../src/testing.rs"]
mod common;
mod compound_columns;
mod compound_rays;
mod compound_shapes;
mod compound_statics;
mod compound_sweeps;
mod compound_turns;
mod compounds;
mod determinism;
mod determinism_extreme;
#[cfg(feature = "gpu")]
mod device_events;
#[cfg(feature = "gpu")]
mod device_poses;
#[cfg(feature = "gpu")]
mod encoded;
#[cfg(feature = "gpu")]
mod encoded_manifolds;
#[cfg(feature = "gpu")]
mod encoded_sweeps;
#[cfg(feature = "gpu")]
mod encoded_windows;
mod engines;
mod engines_measure;
mod far_out;
mod far_shapes;
mod features;
#[cfg(feature = "gpu")]
mod frames;
mod gradients;
mod half_space;
mod height_field_sweeps;
mod height_fields;
mod height_fields_extreme;
mod height_fields_shapes;
mod hits;
mod hostile;
mod hull;
mod joint_path_scenes;
mod joint_paths;
mod manifold;
mod measures;
mod measures_known;
mod measures_random;
mod nearest_bodies;
mod pair;
#[cfg(feature = "gpu")]
mod parts;
mod points;
mod precision;
mod ray;
mod ray_margins;
mod ray_scenes;
mod rows;
mod scene;
#[cfg(feature = "serde")]
mod serde;
mod shape_casts;
mod shapes;
#[cfg(feature = "gpu")]
mod subgroups;
mod sweep;
#[cfg(feature = "gpu")]
mod sweep_gpu;
mod sweep_scenes;
mod times;
#[cfg(feature = "gpu")]
mod trusted;
mod verdicts;
mod warm;
#[cfg(feature = "serde")]
#[path = "../common/wire.rs"]
mod wire;
mod worlds;
mod worlds_probed;
mod worlds_shapes;
mod worlds_small;
