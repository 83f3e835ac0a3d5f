//! Which pipelines a query over a grid needs, and building them beforehand.

use crate::account::Prepared;
use crate::error::Result;
use crate::flow::gpu::prepare::prepare;
use crate::flow::kinds::Query;
use crate::flow::solve::Flow;
use crate::pending::Pending;

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
