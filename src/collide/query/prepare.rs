//! Which pipelines a query needs, and building them beforehand.

use crate::account::Prepared;
use crate::collide::broad_phase::kernels::KERNELS as NEAR;
use crate::collide::narrow_phase::kernels::{DEVICE_COUNTS, HIT_COUNT, MEASURES, SPHERES, Stages, VERDICTS};
use crate::collide::narrow_phase::rows::Precision;
use crate::collide::query::arena::Arena;
use crate::collide::scene::pairs::Pairs;
use crate::collide::sweep::kernels::{SWEEP_BOUNDS, SWEEPS};
use crate::error::Result;
use crate::gpu::kernel::Kernel;
use crate::gpu::prepare::prepare;
use crate::gpu::{scan, sort};
use crate::pending::Pending;

/// A query of an [`Arena`], to be named to [`Arena::prepare`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Query {
    /// [`Arena::candidates`].
    Candidates,
    /// [`Arena::intersections`].
    Intersections,
    /// [`Arena::distances`].
    Distances,
    /// [`Arena::contacts`].
    Contacts,
    /// [`Arena::manifolds`].
    Manifolds,
    /// [`Arena::sweeps`].
    Sweeps,
    /// [`Arena::encode_intersections`].
    EncodedIntersections,
    /// [`Arena::encode_distances`].
    EncodedDistances,
    /// [`Arena::encode_contacts`].
    EncodedContacts,
}

impl Query {
    /// The stages of its narrow phase, where it has one, and whether it measures.
    fn stages(self) -> Option<(&'static Stages, bool)> {
        match self {
            Self::Candidates => None,
            Self::Intersections | Self::EncodedIntersections => Some((&VERDICTS, false)),
            Self::Distances
            | Self::Contacts
            | Self::Manifolds
            | Self::EncodedDistances
            | Self::EncodedContacts => Some((&MEASURES, true)),
            Self::Sweeps => Some((&SWEEPS, true)),
        }
    }

    fn is_encoded(self) -> bool {
        matches!(self, Self::EncodedIntersections | Self::EncodedDistances | Self::EncodedContacts)
    }
}

impl Arena {
    /// Builds the pipelines that these queries over such pairs need, in the background: a query asked afterwards builds none,
    /// and one that is asked meanwhile waits for those that it needs. The list of [`Pairs::Given`] does not matter; near pairs
    /// within an infinite margin are [`Pairs::Every`].
    ///
    /// A pipeline is built once an engine, by whoever needs it first: a query that is the first of its kind builds its own, which takes
    /// up to ten seconds with a software driver and is [`Times::compile_ms`](crate::collide::Times::compile_ms). On the CPU engine, and
    /// with [`Precision::Exact`], there is nothing to build.
    ///
    /// Dropping the answer ends it with the pipelines that are under way.
    ///
    /// ```
    /// use hullfield::collide::Query;
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Hull, Pairs};
    ///
    /// let engine = Engine::auto()?;
    /// let arena = Arena::new(&engine, &[Hull::ball(1.0)?])?;
    /// let queries = [(Query::Contacts, Pairs::Near), (Query::Distances, Pairs::Given(&[]))];
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
        let (Some(gpu), Some(context)) = (&self.gpu, self.engine().context()) else {
            return Ok(Pending::ready(Prepared::default()));
        };
        let mut kernels = Vec::new();
        for &(query, pairs) in queries {
            let stages = query.stages();
            let is_exact = self.precision() == Precision::Exact && stages.is_some() && !query.is_encoded();
            // What a software rasteriser would not get through is done by the CPU.
            let is_taken = stages.is_none_or(|(_, measured)| query.is_encoded() || gpu.takes(measured));
            if !is_exact && is_taken {
                kernels.extend(needed(query, pairs, stages.map(|(stages, _)| stages)));
            }
        }
        prepare(context, kernels)
    }
}

/// The kernels of a query.
fn needed(query: Query, pairs: Pairs<'_>, stages: Option<&'static Stages>) -> Vec<&'static Kernel> {
    let mut kernels: Vec<&'static Kernel> = Vec::new();
    // Candidates are those of near pairs, whatever is said.
    if pairs == Pairs::Near || stages.is_none() {
        kernels.extend(NEAR);
        kernels.extend(scan::KERNELS);
        kernels.extend(sort::KERNELS);
        if query == Query::Sweeps {
            kernels.push(&SWEEP_BOUNDS);
        }
    }
    let Some(stages) = stages else { return kernels };
    let kind = usize::from(pairs == Pairs::Every);
    kernels.extend(stages.prepare.map(|kernels| kernels[kind]));
    kernels.extend([stages.search[kind], stages.refine[kind]]);
    if kind == 1 {
        // Whether bodies have groups is not known before the query.
        kernels.extend([&SPHERES, stages.search[2]]);
    }
    if query.is_encoded() {
        kernels.push(&DEVICE_COUNTS);
    }
    if query.is_encoded() || !matches!(pairs, Pairs::Given(_)) {
        kernels.extend([&HIT_COUNT, stages.write[kind]]);
        kernels.extend(scan::KERNELS);
    }
    kernels
}
