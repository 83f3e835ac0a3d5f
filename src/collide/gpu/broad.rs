//! The broad phase on the device: world boxes, and the pairs of those that overlap.

use std::{
    ops::Range,
    sync::{Arc, atomic::Ordering::Relaxed},
};

use bytemuck::Pod;

use super::super::bounds::Aabb;
use super::super::kernels::{BOUNDS, BROAD_COUNT, BROAD_WRITE, BoundsParams, BroadParams, VERDICTS};
use super::super::layout::{HullRecord, PackedBody};
use super::super::scene::{Job, Scene};
use super::{BODY_STEPS, GpuArena, SEGMENT_COUNT, buffer, total_of};
use crate::gpu::{Bound, Buffer, Done, Frame, Kernel, Read, Step, scan};
use crate::{Error, Pending, Result};

/// Encodes a kernel that makes one value of each body: its box or its sphere.
pub(super) fn of_bodies<T: Pod>(
    frame: &mut Frame,
    kernel: &'static Kernel,
    hulls: &Buffer<HullRecord>,
    bodies: &Buffer<PackedBody>,
    label: &'static str,
) -> Result<Buffer<T>> {
    let context = frame.context().clone();
    let made = buffer(&context, label, bodies.len())?;
    for piece in context.pieces(bodies.len() as u64, BODY_STEPS, kernel.workgroup_size.into()) {
        let params = frame.uniform(&BoundsParams {
            body_count: piece.end as u32,
            zero: 0,
            first: piece.start as u32,
            padding: 0,
        })?;
        let bound = [params, bodies.bind(), hulls.bind(), made.bind()];
        frame.dispatch(kernel, &bound, kernel.groups(piece.end - piece.start))?;
    }
    Ok(made)
}

/// The broad phase of one job: boxes and scanned counts stay on the device for all of its windows.
#[derive(Debug, Clone)]
pub(super) struct Broad {
    body_count: u32,
    boxes: Buffer<Aabb>,
    /// Of each row and segment, where its pairs begin.
    offsets: Buffer<u32>,
    /// Number of candidate pairs, low and high word.
    pub(super) total: Buffer<u32>,
}

impl Broad {
    /// Encodes bounds, counts and their scan.
    pub(super) fn encode(frame: &mut Frame, arena: &GpuArena, bodies: &Buffer<PackedBody>) -> Result<Self> {
        let context = arena.context.clone();
        let body_count = bodies.len() as u32;
        let boxes = of_bodies(frame, &BOUNDS, &arena.hulls, bodies, "hullfield.collide.boxes")?;
        let counts = buffer(&context, "hullfield.collide.counts", bodies.len() * SEGMENT_COUNT as usize)?;
        let mut broad = Self {
            body_count,
            boxes,
            offsets: counts,
            total: buffer(&context, "hullfield.collide.none", 2)?,
        };
        broad.rows(frame, &BROAD_COUNT, 0..0, |params, broad| {
            vec![params, broad.boxes.bind(), broad.offsets.bind()]
        })?;
        broad.total = scan(frame, &broad.offsets)?;
        Ok(broad)
    }

    /// Encodes the pairs of one window of their order.
    pub(super) fn write(
        &self,
        frame: &mut Frame,
        window: Range<u32>,
        pairs: &Buffer<[u32; 2]>,
    ) -> Result<()> {
        self.rows(frame, &BROAD_WRITE, window, |params, broad| {
            vec![params, broad.boxes.bind(), broad.offsets.bind(), pairs.bind()]
        })
    }

    /// Runs a kernel over all rows, in pieces.
    fn rows(
        &self,
        frame: &mut Frame,
        kernel: &'static Kernel,
        window: Range<u32>,
        bind: impl Fn(Bound, &Self) -> Vec<Bound>,
    ) -> Result<()> {
        let count = u64::from(self.body_count);
        let context = frame.context().clone();
        for piece in context.pieces(count, count, kernel.workgroup_size.into()) {
            let params = frame.uniform(&BroadParams {
                body_count: self.body_count,
                segment_count: SEGMENT_COUNT,
                row_begin: piece.start as u32,
                row_end: piece.end as u32,
                window_begin: window.start,
                window_len: window.end - window.start,
                padding: [0; 2],
            })?;
            let groups = kernel.groups(piece.end - piece.start) * u64::from(SEGMENT_COUNT);
            frame.dispatch(kernel, &bind(params, self), groups)?;
        }
        Ok(())
    }
}

pub(super) fn check_total(total: u64) -> Result<()> {
    let limit = u64::from(u32::MAX);
    if total > limit {
        return Err(Error::TooMany { what: "candidate pairs", count: total, limit });
    }
    Ok(())
}

/// The sorted candidate pairs: see [`Arena::candidates`](super::super::Arena::candidates).
pub(crate) fn candidates(arena: &Arc<GpuArena>, scene: &Scene, job: Job) -> Result<Pending<Vec<[u32; 2]>>> {
    let count = job.packed.len();
    arena.check_bodies(count)?;
    let context = &arena.context;
    let mut frame = Frame::new(context, "hullfield.collide.candidates")?;
    let bodies = buffer(context, "hullfield.collide.bodies", count)?;
    frame.upload(&bodies, 0, &job.packed)?;
    scene.give_back(job);
    let broad = Broad::encode(&mut frame, arena, &bodies)?;
    let total = frame.read(&broad.total, 0..2)?;
    let capacity = arena.candidate_capacity(count);
    let window = 0..capacity as u32;
    let pairs = buffer(context, "hullfield.collide.pairs", capacity)?;
    broad.write(&mut frame, window, &pairs)?;
    let pairs = frame.read(&pairs, 0..capacity)?;
    let arena = Arc::clone(arena);
    frame.submit(move |done| {
        let total = total_of(&done, &total);
        check_total(total)?;
        arena.candidate_mark.fetch_max(total as usize, Relaxed);
        more_candidates(arena, broad, Vec::new(), &done, &pairs, total as usize)
    })
}

/// Takes a window of pairs, and asks for the next where there are more.
fn more_candidates(
    arena: Arc<GpuArena>,
    broad: Broad,
    mut found: Vec<[u32; 2]>,
    done: &Done,
    window: &Read<[u32; 2]>,
    total: usize,
) -> Result<Step<Vec<[u32; 2]>>> {
    let window = done.get(window);
    found.extend_from_slice(&window[..window.len().min(total - found.len())]);
    if found.len() == total {
        return Ok(Step::Done(found));
    }
    let capacity = (total - found.len()).min(arena.window_limit(broad.body_count as usize, &VERDICTS));
    let begin = found.len() as u32;
    let mut frame = Frame::new(&arena.context, "hullfield.collide.candidates")?;
    let pairs = buffer(&arena.context, "hullfield.collide.pairs", capacity)?;
    broad.write(&mut frame, begin..begin + capacity as u32, &pairs)?;
    let window = frame.read(&pairs, 0..capacity)?;
    Ok(Step::again(frame, move |done| more_candidates(arena, broad, found, &done, &window, total)))
}

#[cfg(test)]
mod tests {
    use super::super::super::bounds::{self, tests::Random};
    use super::*;
    use crate::gpu::Context;
    use crate::{Engine, common};

    fn engine() -> Option<(Engine, Context)> {
        let engine = common::gpu()?;
        let context = engine.context()?.clone();
        Some((engine, context))
    }

    fn on_device<T: Pod>(context: &Context, label: &'static str, values: &[T]) -> Buffer<T> {
        let buffer = Buffer::new(context, label, values.len()).unwrap();
        let mut frame = Frame::new(context, "hullfield.test").unwrap();
        frame.upload(&buffer, 0, values).unwrap();
        frame.submit(|_| Ok(Step::Done(()))).unwrap().wait().unwrap();
        buffer
    }

    #[test]
    fn boxes_are_those_of_the_cpu_bit_for_bit() {
        let Some((_engine, context)) = engine() else { return };
        let mut random = Random(11);
        let hulls = bounds::tests::hulls(&mut random, 64);
        let mut bodies = bounds::tests::bodies(&mut random, &hulls, 50_000);
        bodies.extend([1e35, f32::MAX, 1e-38].map(|scale| PackedBody { scale: [scale; 3], ..bodies[0] }));
        let device_hulls = on_device(&context, "hullfield.collide.hulls", &hulls);
        let device_bodies = on_device(&context, "hullfield.collide.bodies", &bodies);
        let mut frame = Frame::new(&context, "hullfield.test").unwrap();
        let boxes =
            of_bodies::<Aabb>(&mut frame, &BOUNDS, &device_hulls, &device_bodies, "hullfield.collide.boxes")
                .unwrap();
        let read = frame.read(&boxes, 0..bodies.len()).unwrap();
        let found: Vec<Aabb> =
            frame.submit(move |done| Ok(Step::Done(done.get(&read).into_owned()))).unwrap().wait().unwrap();
        for ((body, found), expected) in bodies.iter().zip(&found).zip(bounds::aabbs(&bodies, &hulls)) {
            assert_eq!(
                bytemuck::bytes_of(found),
                bytemuck::bytes_of(&expected),
                "{body:?}: {found:?} {expected:?}"
            );
        }
    }
}
