//! What a warm start keeps from frame to frame.

use std::sync::{Arc, Mutex};

use crate::collide::broad_phase::cpu::BroadPhase;
use crate::collide::bvh::aabb::Aabb;
use crate::collide::hull::support::Supports;
use crate::collide::scene::body::Body;
use crate::collide::scene::layout::Layout;
use crate::collide::scene::placed::Placed;
use crate::collide::scene::query_input::{QueryInput, Scene, renewed};
use crate::collide::warm::bound_requests::{BoundRequest, BoundResult, find_bounds};
use crate::collide::warm::list::{GivenPairs, NeighbourList};
use crate::collide::warm::motion::{AdvanceTask, BodyBall, FrameMotion};
use crate::collide::warm::tasks::{TASK, map_items, map_tasks};
use crate::error::Result;
use crate::lock::lock;
use crate::parallel::each;

/// Frames after which odometers restart at 0, so that the sums keep their precision.
const REBASE_FRAMES: u64 = 1024;

/// The cache of a warm-started arena, shared by its clones.
#[derive(Debug, Default)]
pub(crate) struct WarmStart {
    /// Taken while a frame uses it.
    cache: Mutex<Slot>,
}

#[derive(Debug)]
enum Slot {
    Free(Box<Cache>),
    Taken,
}

impl Default for Slot {
    fn default() -> Self {
        Self::Free(Box::default())
    }
}

/// The cache while one frame uses it. No mutex is held meanwhile: a thread that waits for its part of a frame may start another
/// frame, and would wait for itself.
pub(crate) struct CacheGuard<'a> {
    of: &'a WarmStart,
    pub(crate) cache: Box<Cache>,
}

impl Drop for CacheGuard<'_> {
    fn drop(&mut self) {
        // After a panic the cache may be half updated, so it is dropped.
        let cache = if std::thread::panicking() { Box::default() } else { std::mem::take(&mut self.cache) };
        *lock(&self.of.cache) = Slot::Free(cache);
    }
}

impl WarmStart {
    /// The cache, unless another frame uses it.
    pub(crate) fn try_lock(&self) -> Option<CacheGuard<'_>> {
        let mut slot = lock(&self.cache);
        match std::mem::replace(&mut *slot, Slot::Taken) {
            Slot::Free(cache) => Some(CacheGuard { of: self, cache }),
            Slot::Taken => None,
        }
    }

    /// The layouts of the bodies that the next frame will most likely need.
    pub(crate) fn layout(&self) -> Layout {
        let slot = lock(&self.cache);
        let everything = !matches!(&*slot, Slot::Free(cache) if cache.is_warm);
        Layout { packed: everything, placed: everything }
    }
}

/// What a warm start keeps from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// The bodies of the last frame, and the statics.
    pub(crate) bodies: Vec<Body>,
    /// How many of them are not statics.
    pub(crate) mover_count: usize,
    /// For each body, an upper bound of how far any of its points has moved since the odometers restarted; world units.
    pub(crate) odometers: Vec<f64>,
    /// The part of each odometer that is due to turning.
    pub(crate) turns: Vec<f64>,
    pub(crate) balls: Vec<BodyBall>,
    /// How far each body moved in a frame recently, in world units: only a guess.
    pub(crate) paces: Vec<f64>,
    pub(crate) neighbours: NeighbourList,
    pub(crate) given: GivenPairs,
    /// Memory for [`QueryInput::placed`]; a warm frame fills in only the bodies that it needs.
    pub(crate) placed: Vec<Placed>,
    /// The frame in which each entry of `placed` was filled in.
    pub(crate) placed_in: Vec<u64>,
    /// Memory for the boxes of a frame, the pairs of a list, and the search among strays.
    pub(crate) plain: Vec<Aabb>,
    pub(crate) pairs: Vec<[u32; 2]>,
    pub(crate) stray_search: BroadPhase,
    /// Queries so far.
    pub(crate) frame: u64,
    /// The frame in which the list was made.
    pub(crate) built_in: u64,
    /// Length in frames of the last pause without a warm start, and the frame in which it ends.
    pub(crate) cold_frames: u64,
    pub(crate) cold_until: u64,
    /// The margin for which the list was too long, and the frame in which it is tried again.
    pub(crate) long_list_margin: f64,
    pub(crate) long_list_until: u64,
    /// Whether the last frame used the list.
    pub(crate) is_warm: bool,
}

impl Cache {
    /// Measures how the bodies moved. Clears the cache where their number changed.
    pub(crate) fn advance(&mut self, scene: &Scene, input: &QueryInput) -> Option<FrameMotion> {
        let bodies = &input.bodies[..];
        self.frame += 1;
        let count = bodies.len();
        if self.bodies.len() != count || self.mover_count != input.mover_count {
            *self = Self { frame: self.frame, mover_count: input.mover_count, ..Self::default() };
            self.bodies = bodies.to_vec();
            self.odometers = vec![0.0; count];
            self.turns = vec![0.0; count];
            self.paces = vec![0.0; count];
            let rows: Vec<usize> = (0..count).collect();
            self.balls = map_items(&rows, |&row| BodyBall::new(&bodies[row], row, &scene.supports));
            return None;
        }
        let none = Vec::new();
        let limits = if self.neighbours.limits.len() == count { &self.neighbours.limits } else { &none };
        let parts = self.bodies.chunks_mut(TASK).zip(self.odometers.chunks_mut(TASK));
        let parts = parts.zip(self.turns.chunks_mut(TASK)).zip(self.paces.chunks_mut(TASK));
        let tasks: Vec<_> = parts
            .zip(self.balls.chunks_mut(TASK))
            .zip(bodies.chunks(TASK))
            .enumerate()
            .map(|(at, (((((before, odometers), turns), paces), balls), now))| AdvanceTask {
                first: at * TASK,
                before,
                odometers,
                turns,
                paces,
                balls,
                now,
                limits: limits.get(at * TASK..(at * TASK + now.len())).unwrap_or_default(),
            })
            .collect();
        let parts = each(tasks, |task| task.run(scene));
        let moves = parts.into_iter().fold(FrameMotion::default(), FrameMotion::plus);
        if moves.changed_count > 0 || self.frame.is_multiple_of(REBASE_FRAMES) {
            self.neighbours.rebase(&self.odometers, &self.turns);
            self.given.rebase(&self.odometers, &self.turns);
            self.odometers.fill(0.0);
            self.turns.fill(0.0);
        }
        self.neighbours.note_changes(&moves);
        Some(moves)
    }

    /// Fills in [`QueryInput::placed`] for some bodies.
    pub(crate) fn place(
        &mut self,
        scene: &Scene,
        input: &mut QueryInput,
        bodies: impl Iterator<Item = u32>,
    ) -> Result<()> {
        let count = input.bodies.len();
        if input.placed.len() == count {
            return Ok(());
        }
        self.placed.resize(count, Placed::default());
        self.placed_in.resize(count, 0);
        let mut needed = Vec::new();
        for body in bodies {
            let seen = &mut self.placed_in[body as usize];
            if *seen != self.frame {
                *seen = self.frame;
                needed.push(body);
            }
        }
        // Equal to the query's bodies, and still in this core's cache.
        let placed = map_tasks(&needed, |needed| place(&self.bodies, needed, &scene.supports));
        for (&body, placed) in needed.iter().zip(placed) {
            self.placed[body as usize] = placed?;
        }
        std::mem::swap(renewed(&mut input.placed), &mut self.placed);
        Ok(())
    }

    /// Takes the memory of [`QueryInput::placed`] back where it belongs to the cache.
    pub(crate) fn give_back(&mut self, input: &mut QueryInput) {
        if self.placed.len() != input.bodies.len() && self.placed_in.len() == input.bodies.len() {
            std::mem::swap(Arc::make_mut(&mut input.placed), &mut self.placed);
        }
    }

    /// Finds bounds above a margin for some pairs.
    pub(crate) fn find_bounds(
        &self,
        scene: &Scene,
        input: &QueryInput,
        requests: &[BoundRequest],
        margin: f64,
    ) -> Vec<BoundResult> {
        map_tasks(requests, |requests| {
            let mut found = vec![BoundResult::NotFound; requests.len()];
            find_bounds(&scene.supports, &input.placed, &self.paces, requests, margin, &mut found);
            found
        })
    }
}

/// Prepares some checked bodies for the narrow phase.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn place(bodies: &[Body], rows: &[u32], supports: &Supports) -> Vec<Result<Placed>> {
    let place = |&row: &u32| {
        let body = &bodies[row as usize];
        let radius = body.radius(row as usize, supports)?;
        Ok(Placed::new(body, radius, &supports.records[body.hull as usize]))
    };
    rows.iter().map(place).collect()
}
