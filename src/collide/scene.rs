//! What a query is about: the hulls, shared by all queries, and the bodies and pairs of one query.

use std::sync::{Mutex, PoisonError};

use super::layout::PackedBody;
use super::manifold::FaceTables;
use super::pose::Placed;
use super::query::Pairs;
use super::support::Supports;
use super::{Body, Hull};
use crate::{Error, Result};

/// Jobs that are kept for their memory, at most.
const SPARE_LIMIT: usize = 4;

/// Bodies that one task packs.
const TASK: usize = 1024;

/// The hulls of an arena and their layout.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) hulls: Vec<Hull>,
    pub(crate) supports: Supports,
    /// For manifolds.
    pub(crate) faces: FaceTables,
    spare: Mutex<Vec<Job>>,
}

impl Scene {
    /// Lays out the hulls.
    pub(crate) fn new(hulls: &[Hull]) -> Result<Self> {
        Ok(Self {
            supports: Supports::new(hulls)?,
            hulls: hulls.to_vec(),
            faces: FaceTables::new(hulls.len()),
            spare: Mutex::default(),
        })
    }

    /// Keeps the memory of a finished job for the next one.
    pub(crate) fn give_back(&self, job: Job) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < SPARE_LIMIT {
            spare.push(job);
        }
    }
}

/// [`Pairs`] that outlive the call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum OwnedPairs {
    Near,
    Every,
    Given(Vec<[u32; 2]>),
}

/// What an engine wants of the bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// [`Job::packed`]: for the GPU, and for world boxes.
    pub(crate) packed: bool,
    /// [`Job::placed`]: for the CPU engine's narrow phase.
    pub(crate) placed: bool,
}

/// The checked input of one query.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) bodies: Vec<Body>,
    /// One a body, or none: see [`Layout`].
    pub(crate) packed: Vec<PackedBody>,
    /// One a body, or none: see [`Layout`].
    pub(crate) placed: Vec<Placed>,
    pub(crate) pairs: OwnedPairs,
    /// Milliseconds that checking and packing took.
    pub(crate) upload_ms: f64,
}

impl Job {
    /// Whether there is no pair to examine.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.pairs {
            OwnedPairs::Near | OwnedPairs::Every => self.bodies.len() < 2,
            OwnedPairs::Given(pairs) => pairs.is_empty(),
        }
    }

    /// Checks bodies and pairs and lays the bodies out.
    pub(crate) fn new(scene: &Scene, bodies: &[Body], pairs: Pairs<'_>, layout: Layout) -> Result<Self> {
        let begin = web_time::Instant::now();
        if bodies.len() as u64 > u64::from(u32::MAX) {
            return Err(Error::TooMany {
                what: "bodies",
                count: bodies.len() as u64,
                limit: u64::from(u32::MAX),
            });
        }
        let spare = scene.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut job = spare.unwrap_or_else(|| Self {
            bodies: Vec::new(),
            packed: Vec::new(),
            pairs: OwnedPairs::Near,
            placed: Vec::new(),
            upload_ms: 0.0,
        });
        job.lay_out(scene, bodies, layout)?;
        job.pairs = match pairs {
            Pairs::Near => OwnedPairs::Near,
            Pairs::Every => OwnedPairs::Every,
            Pairs::Given(pairs) => {
                let records = &scene.supports.records;
                check(pairs, bodies.len(), |body| {
                    records[bodies[body as usize].hull as usize].half_space != 0
                })?;
                let mut owned = if let OwnedPairs::Given(owned) = job.pairs { owned } else { Vec::new() };
                owned.clear();
                owned.extend_from_slice(pairs);
                OwnedPairs::Given(owned)
            }
        };
        job.upload_ms = begin.elapsed().as_secs_f64() * 1e3;
        Ok(job)
    }

    /// Checks each body, copies it and lays it out, all in one pass: what is slow here is memory.
    fn lay_out(&mut self, scene: &Scene, bodies: &[Body], layout: Layout) -> Result<()> {
        let count = bodies.len();
        self.bodies.resize(count, Body::new(0));
        self.packed.resize(if layout.packed { count } else { 0 }, bytemuck::Zeroable::zeroed());
        self.placed.resize(if layout.placed { count } else { 0 }, Placed::default());
        let mut packed = self.packed.chunks_mut(TASK);
        let mut placed = self.placed.chunks_mut(TASK);
        let tasks: Vec<Task<'_>> = bodies
            .chunks(TASK)
            .zip(self.bodies.chunks_mut(TASK))
            .enumerate()
            .map(|(task, (bodies, copies))| Task {
                first: task * TASK,
                bodies,
                copies,
                packed: packed.next(),
                placed: placed.next(),
            })
            .collect();
        // All tasks are run, so that the error named is always that of the first bad body.
        #[cfg(feature = "threads")]
        let results: Vec<Result<()>> = {
            use rayon::prelude::*;
            tasks.into_par_iter().map(|task| task.run(&scene.supports)).collect()
        };
        #[cfg(not(feature = "threads"))]
        let results: Vec<Result<()>> = tasks.into_iter().map(|task| task.run(&scene.supports)).collect();
        results.into_iter().collect()
    }
}

/// Some of the bodies, and where their layouts go.
struct Task<'a> {
    first: usize,
    bodies: &'a [Body],
    copies: &'a mut [Body],
    packed: Option<&'a mut [PackedBody]>,
    placed: Option<&'a mut [Placed]>,
}

impl Task<'_> {
    fn run(self, supports: &Supports) -> Result<()> {
        self.copies.copy_from_slice(self.bodies);
        if let Some(placed) = self.placed {
            place(self.bodies, self.first, supports, placed)?;
        }
        if let Some(packed) = self.packed {
            for (at, (body, packed)) in self.bodies.iter().zip(packed).enumerate() {
                *packed = body.pack(self.first + at, supports)?;
            }
        }
        Ok(())
    }
}

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn place(bodies: &[Body], first: usize, supports: &Supports, placed: &mut [Placed]) -> Result<()> {
    for (at, (body, placed)) in bodies.iter().zip(placed).enumerate() {
        *placed = Placed::new(body, body.radius(first + at, supports)?, supports);
    }
    Ok(())
}

/// Checks that pairs name bodies that exist, and no body twice or two half-spaces.
pub(super) fn check(
    pairs: &[[u32; 2]],
    body_count: usize,
    is_half_space: impl Fn(u32) -> bool,
) -> Result<()> {
    for (pair, &[a, b]) in pairs.iter().enumerate() {
        for body in [a, b] {
            if body as usize >= body_count {
                return Err(Error::PairOutOfRange { pair, body, body_count });
            }
        }
        if a == b {
            return Err(Error::PairWithItself { pair, body: a });
        }
        if is_half_space(a) && is_half_space(b) {
            return Err(Error::PairOfHalfSpaces { pair, a, b });
        }
    }
    Ok(())
}
