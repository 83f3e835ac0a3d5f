//! The pipelines that a query needs, built beforehand.

use crate::account::Prepared;
use crate::collide::query::arena::Arena;
use crate::collide::query::gpu::prepare::prepare;
use crate::collide::query::kinds::Query;
use crate::collide::scene::pairs::Pairs;
use crate::error::Result;
use crate::pending::Pending;

impl Arena {
    /// Builds the pipelines that these queries over such pairs need, in the background. Later queries build none, and a query that runs
    /// meanwhile waits for those that it needs. The list in [`Pairs::Given`] does not matter. [`Pairs::BroadPhase`] with an infinite margin
    /// counts as [`Pairs::Exhaustive`].
    ///
    /// An engine builds each pipeline once. Without this call the first query of a kind builds its pipelines itself, which takes up to ten
    /// seconds with a software driver and is [`Times::compile_ms`](crate::collide::Times::compile_ms). On the CPU engine, and
    /// with [`Precision::Exact`](crate::collide::Precision::Exact), there is nothing to build.
    ///
    /// Dropping the answer stops the work after the pipelines in progress.
    ///
    /// ```
    /// use hullfield::collide::{Options, Query};
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Hull, Pairs};
    ///
    /// let engine = Engine::auto()?;
    /// let arena = Arena::new(&engine, &[Hull::ball(1.0)?], Options::default())?;
    /// let queries = [(Query::Contacts, Pairs::BroadPhase), (Query::Distances, Pairs::Given(&[]))];
    /// let preparing = arena.prepare(&queries)?;
    /// // Here the scene is loaded.
    /// println!("{} pipelines in {} ms", preparing.wait()?.pipeline_count, engine.counters().pipelines_built);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// Of the device: [`Error::DeviceLost`](crate::Error::DeviceLost), [`Error::OutOfMemory`](crate::Error::OutOfMemory),
    /// [`Error::Internal`](crate::Error::Internal).
    pub fn prepare(&self, queries: &[(Query, Pairs<'_>)]) -> Result<Pending<Prepared>> {
        let Some(gpu) = &self.gpu else {
            return Ok(Pending::ready(Prepared::default()));
        };
        prepare(gpu, self.options().precision, queries)
    }
}
