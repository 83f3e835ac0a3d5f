//! The GPU engine of a build without the feature `gpu`: a type without values, and its functions.

#![allow(unused_variables, reason = "a function whose receiver has no value does nothing with its arguments")]

/// There is no arena on a device.
pub(crate) mod arena {
    use crate::collide::query::estimate::Estimate;
    use crate::collide::query::kinds::Query;
    use crate::collide::scene::packed_body::PackedBody;
    use crate::collide::scene::pairs::Pairs;
    use crate::collide::scene::query_input::Scene;
    use crate::collide::scene::rules::PairRules;
    use crate::error::Result;
    use crate::gpu::context::Context;

    /// The hulls of an arena on the device.
    #[derive(Debug)]
    pub(crate) enum GpuArena {}

    impl GpuArena {
        pub(crate) fn new(context: &Context, scene: &Scene) -> Result<Self> {
            match *context {}
        }

        pub(crate) fn with_statics(&self, packed: &[PackedBody]) -> Result<Self> {
            match *self {}
        }

        pub(crate) fn can_run(&self, measured: bool) -> bool {
            match *self {}
        }

        pub(crate) fn estimate(
            &self,
            query: Query,
            body_count: usize,
            pairs: &Pairs<'_>,
            rules: Option<&PairRules>,
        ) -> Estimate {
            match *self {}
        }
    }
}

/// There are no pipelines.
pub(crate) mod prepare {
    use crate::account::Prepared;
    use crate::collide::narrow_phase::rows::Precision;
    use crate::collide::query::gpu::arena::GpuArena;
    use crate::collide::query::kinds::Query;
    use crate::collide::scene::pairs::Pairs;
    use crate::error::Result;
    use crate::pending::Pending;

    pub(crate) fn prepare(
        gpu: &GpuArena,
        precision: Precision,
        queries: &[(Query, Pairs<'_>)],
    ) -> Result<Pending<Prepared>> {
        match *gpu {}
    }
}

/// No verdicts.
pub(crate) mod verdicts {
    use std::sync::Arc;

    use crate::collide::narrow_phase::rows::{Batch, Intersection};
    use crate::collide::query::gpu::arena::GpuArena;
    use crate::collide::scene::query_input::{QueryInput, Scene};
    use crate::error::Result;
    use crate::pending::Pending;

    pub(crate) fn intersections(
        arena: &Arc<GpuArena>,
        scene: &Arc<Scene>,
        input: QueryInput,
    ) -> Result<Pending<Batch<Intersection>>> {
        match **arena {}
    }
}

/// No measures.
pub(crate) mod measures {
    use std::sync::Arc;

    use crate::collide::narrow_phase::measure::Row;
    use crate::collide::narrow_phase::rows::Batch;
    use crate::collide::narrow_phase::settle::MeasureRequest;
    use crate::collide::query::gpu::arena::GpuArena;
    use crate::collide::scene::query_input::{QueryInput, Scene};
    use crate::error::Result;
    use crate::pending::Pending;

    pub(crate) fn measures<R: Row + 'static>(
        arena: &Arc<GpuArena>,
        scene: &Arc<Scene>,
        input: QueryInput,
        request: MeasureRequest,
    ) -> Result<Pending<Batch<R>>> {
        match **arena {}
    }
}

/// No sweeps.
pub(crate) mod sweeps {
    use std::sync::Arc;

    use crate::collide::narrow_phase::rows::Batch;
    use crate::collide::query::gpu::arena::GpuArena;
    use crate::collide::scene::motion::Motion;
    use crate::collide::scene::query_input::{QueryInput, Scene};
    use crate::collide::sweep::rows::Sweep;
    use crate::error::Result;
    use crate::pending::Pending;

    pub(crate) fn sweeps(
        arena: &Arc<GpuArena>,
        scene: &Arc<Scene>,
        input: QueryInput,
        motions: Vec<Motion>,
        duration: f32,
        witness: bool,
    ) -> Result<Pending<Batch<Sweep>>> {
        match **arena {}
    }
}

/// No rays.
pub(crate) mod rays {
    use std::sync::Arc;

    use crate::collide::query::gpu::arena::GpuArena;
    use crate::collide::ray::query::{OwnedRays, RayCodes, RayGoal};
    use crate::collide::scene::query_input::{QueryInput, Scene};
    use crate::error::Result;
    use crate::pending::Pending;

    pub(crate) fn search(
        arena: &Arc<GpuArena>,
        scene: &Scene,
        input: &QueryInput,
        rays: &Arc<OwnedRays>,
        goal: RayGoal,
    ) -> Result<Option<Pending<RayCodes>>> {
        match **arena {}
    }
}

/// No candidates.
pub(crate) mod candidates {
    use std::sync::Arc;

    use crate::collide::query::gpu::arena::GpuArena;
    use crate::collide::scene::query_input::{QueryInput, Scene};
    use crate::error::Result;
    use crate::pending::Pending;

    pub(crate) fn candidates(
        arena: &Arc<GpuArena>,
        scene: &Arc<Scene>,
        input: QueryInput,
    ) -> Result<Pending<Vec<[u32; 2]>>> {
        match **arena {}
    }
}
