//! Which pipelines the queries over a grid need.

use crate::account::Prepared;
use crate::error::Result;
use crate::flow::gpu::grid::DeviceGrid;
use crate::flow::gpu::solve::kernels_of;
use crate::flow::gpu::way_kernels::{GATHER, MEASURE, STEER, STEP, TRACE};
use crate::flow::grid::Grid;
use crate::flow::kinds::Query;
use crate::gpu::prepare::prepare as prepare_kernels;
use crate::pending::Pending;

/// Builds the pipelines of these queries.
///
/// # Errors
/// Of the device.
pub(crate) fn prepare(device: &DeviceGrid, grid: &Grid, queries: &[Query]) -> Result<Pending<Prepared>> {
    let kernels = queries.iter().flat_map(|query| match query {
        Query::Solve => kernels_of(device, grid, false),
        Query::SolveUntil => kernels_of(device, grid, true),
        Query::Step => vec![&STEP],
        Query::Paths => vec![&MEASURE, &TRACE],
        Query::DistancesAt => vec![&GATHER],
        Query::EncodedDirections => vec![&STEER],
    });
    prepare_kernels(device.context(), kernels.collect())
}
