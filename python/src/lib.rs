//! The native half of the Python package `hullfield`.
//!
//! Each module binds one of the library's and is used by the Python module of its name, which checks arrays, and has the signatures and the
//! documentation. What may take long comes back as a [`wait::Pending`].

mod arrays;
mod batch;
mod collide;
mod cost_distance;
mod engine;
mod error;
mod flow;
mod fork;
mod progress;
mod room;
mod surface;
mod wait;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::collide::{
        arena::Arena,
        bodies::{Bodies, Found},
        columns::{BodyColumns, RayColumns, ShapeCastColumns, poses_of_matrices},
        compounds::{CompoundColumns, Compounds, HeightField},
        hull::Hull,
        pair::{
            NativePose, collide_codes, hull_nearest_point, hull_raycast, pair_contact, pair_distance,
            pair_distance_lower_bound, pair_gradient, pair_intersection, pair_intersects, pair_manifold,
            pair_sweep, pose_of_half_space,
        },
        robot::{joint_deviation, joint_deviations, joint_paths, postures},
        robot_files::{read_file, read_mesh_points, read_srdf, read_urdf},
    };
    #[pymodule_export]
    use crate::cost_distance::{CostDistance, cost_distance, tobler};
    #[pymodule_export]
    use crate::engine::{Engine, adapters, get_num_threads, set_num_threads};
    #[pymodule_export]
    use crate::flow::{
        agents::Agents,
        field::Field as FlowField,
        grid::Grid,
        handle::Flow,
        raster::{RasterField, solve_raster},
        raster_tasks::{RasterSolver, raster_solver, solve_tile},
    };
    #[pymodule_export]
    use crate::room::{handle::Room, room_path_at};
    #[pymodule_export]
    use crate::surface::{field::Field, handle::Surface, path_at, places::Places};
    #[pymodule_export]
    use crate::wait::Pending;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
