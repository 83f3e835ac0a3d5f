//! The pipelines that queries need.

use crate::account::Prepared;
use crate::collide::broad_phase::kernels::{
    KERNELS as BROAD_PHASE, MORTON_FRAME, MORTON_KEYS, MORTON_RUNS, TREE_BUILD, TREE_LEAVES,
};
use crate::collide::narrow_phase::kernels::{
    DEVICE_COUNTS, HIT_COUNT, MANIFOLD, MEASURES, REFINE_GROUPS, SPHERES, Stages, VERDICTS,
};
use crate::collide::narrow_phase::rows::Precision;
use crate::collide::query::gpu::arena::GpuArena;
use crate::collide::query::kinds::Query;
use crate::collide::ray::kernels::RAY_SEARCH;
use crate::collide::scene::pairs::Pairs;
use crate::collide::sweep::kernels::{BOX_KERNELS, ENCODED_SWEEPS, SWEEPS};
use crate::error::Result;
use crate::gpu::kernel::Kernel;
use crate::gpu::prepare::prepare as prepare_kernels;
use crate::gpu::{scan, sort};
use crate::pending::Pending;

/// Builds the pipelines of these queries.
///
/// # Errors
/// Of the device.
pub(crate) fn prepare(
    gpu: &GpuArena,
    precision: Precision,
    queries: &[(Query, Pairs<'_>)],
) -> Result<Pending<Prepared>> {
    let mut kernels = Vec::new();
    for &(query, pairs) in queries {
        let stages = query.stages();
        // Candidates are the same for both precisions.
        let is_exact = precision == Precision::Exact && query != Query::Candidates && !query.is_encoded();
        // Queries that a software rasteriser can't run are answered by the CPU.
        let is_taken = stages.is_none_or(|(_, measured)| gpu.can_run(measured));
        if !is_exact && is_taken {
            kernels.extend(needed(query, pairs, stages.map(|(stages, _)| stages)));
        }
    }
    prepare_kernels(&gpu.context, kernels)
}

/// The kernels of a query.
fn needed(query: Query, pairs: Pairs<'_>, stages: Option<&'static Stages>) -> Vec<&'static Kernel> {
    let mut kernels: Vec<&'static Kernel> = Vec::new();
    if query == Query::Raycasts {
        kernels.extend([&MORTON_FRAME, &MORTON_KEYS, &MORTON_RUNS, &TREE_LEAVES, &TREE_BUILD, &RAY_SEARCH]);
        kernels.extend(scan::KERNELS);
        kernels.extend(sort::KERNELS);
        return kernels;
    }
    // `Query::Candidates` always uses the broad phase.
    if pairs == Pairs::BroadPhase || stages.is_none() {
        kernels.extend(BROAD_PHASE);
        kernels.extend(scan::KERNELS);
        kernels.extend(sort::KERNELS);
        if matches!(query, Query::Sweeps | Query::EncodedSweeps) {
            kernels.extend(BOX_KERNELS);
        }
    }
    let Some(stages) = stages else { return kernels };
    let kind = usize::from(pairs == Pairs::Exhaustive);
    kernels.extend(stages.prepare.map(|kernels| kernels[kind]));
    kernels.extend([stages.search[kind], stages.refine[kind]]);
    if kind == 1 {
        // Whether bodies have groups is known only in the query.
        kernels.extend([&SPHERES, stages.search[2]]);
    }
    if query.is_encoded() {
        kernels.extend([&DEVICE_COUNTS, &REFINE_GROUPS]);
        kernels.extend((query == Query::EncodedManifolds).then_some(&MANIFOLD));
    }
    if query.is_encoded() || !matches!(pairs, Pairs::Given(_)) {
        kernels.extend([&HIT_COUNT, stages.write[kind]]);
    }
    kernels
}

impl Query {
    /// The stages of its narrow phase, where it has one, and whether it measures.
    pub(crate) fn stages(self) -> Option<(&'static Stages, bool)> {
        match self {
            Self::Candidates | Self::Raycasts => None,
            Self::Intersections | Self::EncodedIntersections => Some((&VERDICTS, false)),
            Self::Distances
            | Self::Contacts
            | Self::Manifolds
            | Self::Gradients
            | Self::EncodedDistances
            | Self::EncodedContacts
            | Self::EncodedManifolds => Some((&MEASURES, true)),
            Self::Sweeps => Some((&SWEEPS, true)),
            Self::EncodedSweeps => Some((&ENCODED_SWEEPS, true)),
        }
    }

    /// Whether the caller submits it.
    pub(crate) fn is_encoded(self) -> bool {
        matches!(
            self,
            Self::EncodedIntersections
                | Self::EncodedDistances
                | Self::EncodedContacts
                | Self::EncodedManifolds
                | Self::EncodedSweeps
        )
    }
}
