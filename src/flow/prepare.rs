//! The pipelines that each query over a grid needs, and how they are built before its first call.

use crate::account::Prepared;
use crate::error::Result;
#[cfg(feature = "gpu")]
use crate::flow::agents::gpu::kernels::{GATHER, MEASURE, STEER, STEP, TRACE};
use crate::flow::field::gpu::grid::DeviceGrid;
#[cfg(feature = "gpu")]
use crate::flow::field::gpu::solve::kernels_of;
#[cfg(feature = "gpu")]
use crate::flow::field::gpu::update::kernels_of_update;
use crate::flow::field::handle::Flow;
use crate::flow::grid::cells::Grid;
use crate::pending::Pending;

/// A query of a [`Flow`] or of its fields, named in a call of [`Flow::prepare`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Query {
    /// [`Flow::solve`] and [`Flow::fields`] for whole fields.
    Solve,
    /// [`Flow::solve`] and [`Flow::fields`] with [`FieldOptions::until`](crate::flow::FieldOptions::until) or
    /// [`until_each`](crate::flow::FieldOptions::until_each), and [`Flow::path_to_nearest`].
    SolveUntil,
    /// [`Flow::update`] and [`Flow::update_goals`]. Where too much has changed they solve afresh, which needs [`Query::Solve`] too.
    Update,
    /// [`Field::next_cells`](crate::flow::Field::next_cells), [`Agents::step`](crate::flow::Agents::step) and
    /// [`Agents::encode_steps`](crate::flow::Agents::encode_steps).
    Step,
    /// [`Field::path`](crate::flow::Field::path) and [`Field::paths`](crate::flow::Field::paths).
    Paths,
    /// [`Field::distance_at`](crate::flow::Field::distance_at) and [`Field::distances_at`](crate::flow::Field::distances_at).
    DistancesAt,
    /// [`Field::encode_directions`](crate::flow::Field::encode_directions).
    EncodedDirections,
}

impl Flow {
    /// Builds in the background the pipelines that these queries need over a grid of this size and connectivity. A
    /// query called afterwards builds none; a query called meanwhile waits for the pipelines that it needs. If a later
    /// edit gives the grid its first costs, its fields need other pipelines.
    ///
    /// Each engine builds a pipeline once. Without this call the first query of a kind builds its pipelines, which
    /// takes up to seconds with a software driver. On the CPU engine there is nothing to build. If the answer is
    /// dropped, building stops after the pipelines that are under way.
    ///
    /// ```
    /// use hullfield::flow::Query;
    /// use hullfield::Engine;
    /// use hullfield::flow::{Connectivity, Flow, Grid};
    ///
    /// let flow = Flow::new(&Engine::auto()?, Grid::new([4, 1, 1], &[], Connectivity::Four.into())?)?;
    /// let preparing = flow.prepare(&[Query::Solve, Query::Paths])?;
    /// // Load the rest of the scene here.
    /// println!("{} pipelines", preparing.wait()?.pipeline_count);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// Of the device: [`Error::DeviceLost`](crate::Error::DeviceLost), [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn prepare(&self, queries: &[Query]) -> Result<Pending<Prepared>> {
        let Some(device) = self.device() else { return Ok(Pending::ready(Prepared::default())) };
        prepare(device, self.grid(), queries)
    }
}

/// Builds the pipelines of these queries.
///
/// # Errors
/// Of the device.
#[cfg(feature = "gpu")]
fn prepare(device: &DeviceGrid, grid: &Grid, queries: &[Query]) -> Result<Pending<Prepared>> {
    let kernels = queries.iter().flat_map(|query| match query {
        Query::Solve => kernels_of(device, grid, false),
        Query::SolveUntil => kernels_of(device, grid, true),
        Query::Update => kernels_of_update(device, grid),
        Query::Step => vec![&STEP],
        Query::Paths => vec![&MEASURE, &TRACE],
        Query::DistancesAt => vec![&GATHER],
        Query::EncodedDirections => vec![&STEER],
    });
    crate::gpu::prepare::prepare(device.context(), kernels.collect())
}

/// Never runs: without the feature `gpu` no grid is on a device.
#[cfg(not(feature = "gpu"))]
fn prepare(device: &DeviceGrid, _: &Grid, _: &[Query]) -> Result<Pending<Prepared>> {
    match *device {}
}
