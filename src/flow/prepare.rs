//! Which pipelines a query over a grid needs, and building them beforehand.

use crate::account::Prepared;
use crate::error::Result;
#[cfg(feature = "gpu")]
use crate::flow::agents::gpu::kernels::{GATHER, MEASURE, STEER, STEP, TRACE};
use crate::flow::field::gpu::grid::DeviceGrid;
#[cfg(feature = "gpu")]
use crate::flow::field::gpu::solve::kernels_of;
use crate::flow::field::handle::Flow;
use crate::flow::grid::cells::Grid;
use crate::pending::Pending;

/// Something that is asked of a [`Flow`] or of its fields, to be named to [`Flow::prepare`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Query {
    /// [`Flow::solve`] and [`Flow::fields`] without cells to end at.
    Solve,
    /// The same with [`FieldOptions::until`](crate::flow::FieldOptions::until) or
    /// [`until_each`](crate::flow::FieldOptions::until_each), and [`Flow::path_to_nearest`].
    SolveUntil,
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
    /// Builds the pipelines that these queries need over a grid of this size and connectivity, in the background: a query asked
    /// afterwards builds none, and one that is asked meanwhile waits for those that it needs. Where a grid gets its first
    /// costs by an edit, its fields need others.
    ///
    /// A pipeline is built once an engine, by whoever needs it first: the first query of a kind builds its own, which takes up to
    /// seconds with a software driver. On the CPU engine there is nothing to build. Dropping the answer ends it with the
    /// pipelines that are under way.
    ///
    /// ```
    /// use hullfield::flow::Query;
    /// use hullfield::Engine;
    /// use hullfield::flow::{Connectivity, Flow, Grid};
    ///
    /// let flow = Flow::new(&Engine::auto()?, Grid::new([4, 1, 1], &[], Connectivity::Four.into())?)?;
    /// let preparing = flow.prepare(&[Query::Solve, Query::Paths])?;
    /// // Here the rest of the scene is loaded.
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
        Query::Step => vec![&STEP],
        Query::Paths => vec![&MEASURE, &TRACE],
        Query::DistancesAt => vec![&GATHER],
        Query::EncodedDirections => vec![&STEER],
    });
    crate::gpu::prepare::prepare(device.context(), kernels.collect())
}

/// No grid is on a device in a build without the feature `gpu`.
#[cfg(not(feature = "gpu"))]
fn prepare(device: &DeviceGrid, _: &Grid, _: &[Query]) -> Result<Pending<Prepared>> {
    match *device {}
}
