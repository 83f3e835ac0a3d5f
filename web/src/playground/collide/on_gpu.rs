//! The tab on the GPU's device: its pipelines are built in the background, then it judges and draws there.

use std::ops::Range;

use hullfield::Engine;
use hullfield::collide::{Arena, Hull, Options, Pairs, Query};

use crate::playground::collide::judge::Judge;
use crate::playground::collide::verdicts::CHOSEN;
use crate::playground::collide::world::World;
use crate::playground::draw::gpu::{GpuBodies, GpuLines, GpuMesh, GpuRenderer, Item};
use crate::playground::draw::mesh::Mesh;
use crate::playground::host::{Host, Task};

/// What is there of the GPU's part.
#[derive(Debug)]
pub(super) enum OnGpu {
    /// Nothing yet.
    No,
    /// Its pipelines are being built.
    Building(Task<hullfield::Result<Judge>>),
    /// It judges and draws.
    Ready(Box<Ready>),
    /// It can't be used.
    Failed,
}

#[derive(Debug)]
pub(super) struct Ready {
    pub(super) judge: Judge,
    drawn: Option<Drawn>,
}

/// What is drawn, until the bodies or the chosen one change.
#[derive(Debug)]
struct Drawn {
    meshes: Vec<GpuMesh>,
    /// All but the chosen one.
    bodies: GpuBodies,
    ranges: Vec<Range<u32>>,
    chosen: Option<usize>,
    /// The chosen one, in a colour of its own, and its hull.
    filled: Option<(usize, GpuBodies)>,
}

/// Builds the pipelines, a query at a time, so that the bar moves.
async fn build(engine: &Engine, hulls: &[Hull], host: &Host) -> hullfield::Result<Judge> {
    const QUERIES: [(Query, &str); 2] =
        [(Query::Candidates, "the broad phase"), (Query::EncodedIntersections, "the narrow phase")];
    let arena = Arena::new(engine, hulls, Options::default())?;
    for (done, (query, what)) in (0..).zip(QUERIES) {
        let text = format!("Building the GPU's pipelines: {what}. The CPU engine draws meanwhile.");
        host.progress(&text, done, QUERIES.len() as u32);
        arena.prepare(&[(query, Pairs::BroadPhase)])?.await?;
    }
    Judge::new(arena)
}

impl OnGpu {
    /// Begins to build the pipelines where the GPU shall be used, and takes them when they are there.
    pub(super) fn prepare(&mut self, hulls: &[Hull], host: &Host) {
        if matches!(self, Self::No) && host.uses_gpu() {
            let (engine, hulls, of_task) = (host.engine(), hulls.to_vec(), host.clone());
            *self = Self::Building(host.spawn(async move {
                let judge = build(&engine, &hulls, &of_task).await;
                of_task.progress("", 1, 1);
                judge
            }));
        }
        let Self::Building(task) = self else { return };
        match task.take() {
            Some(Ok(judge)) => {
                *self = Self::Ready(Box::new(Ready { judge, drawn: None }));
                // They were the CPU's.
                host.clear_times();
            }
            Some(Err(error)) => self.fail(&error, host),
            None => {}
        }
    }

    /// The GPU can't be used; the CPU engine goes on.
    pub(super) fn fail(&mut self, error: &hullfield::Error, host: &Host) {
        *self = Self::Failed;
        host.clear_times();
        if host.gpu().is_some() {
            host.error(&format!("The GPU can't judge these bodies ({error}); the CPU engine goes on."));
        }
    }

    /// The part that judges and draws, where it is built.
    pub(super) fn ready(&mut self) -> Option<&mut Ready> {
        match self {
            Self::Ready(ready) => Some(ready),
            _ => None,
        }
    }

    /// Whether numbers of the device are still on their way.
    pub(super) fn is_reading(&self) -> bool {
        matches!(self, Self::Ready(ready) if ready.judge.is_reading())
    }

    /// The bodies are others.
    pub(super) fn forget_bodies(&mut self) {
        if let Self::Ready(ready) = self {
            ready.drawn = None;
        }
    }
}

impl Ready {
    /// Makes the buffers for these bodies where they are not there. `meshes` are those of the hulls.
    pub(super) fn lay_out(
        &mut self,
        renderer: &GpuRenderer,
        world: &World,
        meshes: &[Mesh],
        chosen: Option<usize>,
    ) {
        let is_new = self.judge.resize(world.bodies.len() as u32);
        if self.drawn.as_ref().is_some_and(|drawn| !is_new && drawn.chosen == chosen) {
            return;
        }
        let Some([bodies, marks]) = self.judge.buffers() else { return };
        let (order, ranges) = world.order(meshes.len(), chosen);
        let meshes = match self.drawn.take() {
            Some(drawn) => drawn.meshes,
            None => meshes.iter().map(|mesh| renderer.mesh(mesh)).collect(),
        };
        let binding = bodies.as_entire_buffer_binding();
        let filled = chosen.and_then(|row| Some((row, world.bodies.get(row)?.hull as usize)));
        let filled = filled.map(|(row, hull)| {
            // Its verdict is not what it shows.
            let marks = renderer.marks(&vec![CHOSEN; world.bodies.len()]);
            (hull, renderer.bodies(binding.clone(), marks.as_entire_buffer_binding(), &[row as u32]))
        });
        let bodies = renderer.bodies(binding, marks.as_entire_buffer_binding(), &order);
        self.drawn = Some(Drawn { meshes, bodies, ranges, chosen, filled });
    }

    /// What the picture shows.
    pub(super) fn items<'a>(&'a self, lines: &'a GpuLines) -> Vec<Item<'a>> {
        let drawn = self.drawn.iter();
        let bodies = drawn.flat_map(|drawn| {
            drawn.meshes.iter().zip(&drawn.ranges).map(|(mesh, range)| Item::Bodies {
                mesh,
                bodies: &drawn.bodies,
                range: range.clone(),
            })
        });
        let filled = self.drawn.iter().filter_map(|drawn| {
            let (hull, bodies) = drawn.filled.as_ref()?;
            Some(Item::Bodies { mesh: drawn.meshes.get(*hull)?, bodies, range: 0..1 })
        });
        bodies.chain(filled).chain([Item::Lines(lines)]).collect()
    }
}
