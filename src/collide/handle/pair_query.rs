//! What is measured of pairs, and which engine measures it.

use std::sync::Arc;

use glam::DVec3;

use crate::collide::broad_phase::search_pool::SearchPool;
use crate::collide::handle::rows::SceneRow;
use crate::collide::narrow_phase::measure::Row;
use crate::collide::narrow_phase::rows::{Batch, Intersection, Precision};
use crate::collide::narrow_phase::settle::MeasureRequest;
use crate::collide::query::cpu;
use crate::collide::query::gpu;
use crate::collide::query::gpu::arena::GpuArena;
use crate::collide::scene::far::lay_out_about;
use crate::collide::scene::motion::Motion;
use crate::collide::scene::pairs::OwnedPairs;
use crate::collide::scene::query_input::{QueryInput, Scene as HullSet, Shared};
use crate::collide::sweep::query::{self, Moves};
use crate::collide::sweep::rows::Sweep;
use crate::error::Result;
use crate::pending::Pending;

/// The hulls of a query, and the memory of the CPU's searches.
pub(crate) type Hulls<'a> = (&'a Arc<HullSet>, &'a Arc<SearchPool>);

/// A query of pairs: what it measures.
pub(crate) trait PairQuery: Clone + Send + 'static {
    type Row: SceneRow;
    /// Whether bodies move, so that any parts of two may meet.
    const MOVES: bool = false;

    /// Pairs that are farther apart are not listed, in world units.
    fn margin(&self) -> f64;
    /// Asks an engine. On a GPU the device answers where it can.
    fn ask(
        &self,
        hulls: Hulls<'_>,
        gpu: Option<&Arc<GpuArena>>,
        input: QueryInput,
    ) -> Result<Pending<Batch<Self::Row>>>;
}

/// Which parts touch or overlap.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Intersections {
    pub(crate) precision: Precision,
}

impl PairQuery for Intersections {
    type Row = Intersection;

    fn margin(&self) -> f64 {
        0.0
    }

    fn ask(
        &self,
        hulls: Hulls<'_>,
        gpu: Option<&Arc<GpuArena>>,
        input: QueryInput,
    ) -> Result<Pending<Batch<Intersection>>> {
        if self.precision == Precision::Exact {
            return Measures::<Intersection>::new(0.0, self.precision).ask(hulls, gpu, input);
        }
        let (hulls, searches) = (Arc::clone(hulls.0), Arc::clone(hulls.1));
        if let Some(gpu) = gpu.filter(|gpu| gpu.can_run(false) && !input.is_empty()) {
            return gpu::verdicts::intersections(gpu, &hulls, input);
        }
        Ok(Pending::spawn(move |awaited| cpu::intersections(&hulls, input.awaited_by(awaited), &searches)))
    }
}

/// What a row of this kind measures.
#[derive(Debug)]
pub(crate) struct Measures<R> {
    request: MeasureRequest,
    of: std::marker::PhantomData<fn() -> R>,
}

impl<R> Clone for Measures<R> {
    fn clone(&self) -> Self {
        Self { request: self.request, of: self.of }
    }
}

impl<R> Measures<R> {
    pub(crate) fn new(margin: f32, precision: Precision) -> Self {
        Self {
            request: MeasureRequest { margin: f64::from(margin), precision },
            of: std::marker::PhantomData,
        }
    }
}

impl<R: Row + SceneRow> PairQuery for Measures<R> {
    type Row = R;

    fn margin(&self) -> f64 {
        self.request.margin
    }

    fn ask(
        &self,
        hulls: Hulls<'_>,
        gpu: Option<&Arc<GpuArena>>,
        mut input: QueryInput,
    ) -> Result<Pending<Batch<R>>> {
        if input.pairs == OwnedPairs::BroadPhase && self.request.margin == f64::INFINITY {
            input.pairs = OwnedPairs::Exhaustive;
        }
        let (hulls, searches, request) = (Arc::clone(hulls.0), Arc::clone(hulls.1), self.request);
        let is_fast = request.precision == Precision::Fast;
        if let Some(gpu) = gpu.filter(|gpu| is_fast && gpu.can_run(true) && !input.is_empty()) {
            return gpu::measures::measures(gpu, &hulls, input, request);
        }
        Ok(Pending::spawn(move |awaited| {
            cpu::measures(&hulls, input.awaited_by(awaited), request, &searches)
        }))
    }
}

/// When parts first meet.
#[derive(Debug, Clone)]
pub(crate) struct Sweeps {
    /// Of the parts of bodies that move, by their places.
    pub(crate) motions: Shared<Motion>,
    /// From the points that they turn about to the parts' origins; empty where none turns about another point than its origin.
    pub(crate) levers: Shared<DVec3>,
    pub(crate) duration: f32,
    pub(crate) witness: bool,
    pub(crate) precision: Precision,
}

impl PairQuery for Sweeps {
    type Row = Sweep;
    const MOVES: bool = true;

    fn margin(&self) -> f64 {
        0.0
    }

    fn ask(
        &self,
        hulls: Hulls<'_>,
        gpu: Option<&Arc<GpuArena>>,
        input: QueryInput,
    ) -> Result<Pending<Batch<Sweep>>> {
        let &Self { ref motions, ref levers, duration, witness, precision } = self;
        let (hulls, motions) = (Arc::clone(hulls.0), Arc::clone(motions));
        // No kernel knows levers.
        let is_fast = precision == Precision::Fast && levers.is_empty();
        if let Some(gpu) = gpu.filter(|gpu| is_fast && gpu.can_run(true) && !input.is_empty()) {
            return gpu::sweeps::sweeps(gpu, &hulls, input, motions.to_vec(), duration, witness);
        }
        let (input, levers) = (packed(&hulls, input)?, Arc::clone(levers));
        Ok(Pending::spawn(move |awaited| {
            let input = input.awaited_by(awaited);
            let moves = Moves { levers: &levers, ..Moves::new(&motions) };
            let found = query::sweeps(&hulls, &input, moves, duration, precision, witness);
            hulls.give_back(input);
            found
        }))
    }
}

/// The input with packed bodies, which swept boxes are made of.
fn packed(hulls: &HullSet, input: QueryInput) -> Result<QueryInput> {
    if input.packed.len() == input.mover_count {
        return Ok(input);
    }
    let mut packed = vec![bytemuck::Zeroable::zeroed(); input.mover_count];
    let (bodies, positions) = (&input.bodies[..input.mover_count], &input.positions[..input.mover_count]);
    lay_out_about(&hulls.supports, bodies, positions, input.origin, &mut packed, &mut [])?;
    Ok(QueryInput { packed: Arc::new(packed), ..input })
}
