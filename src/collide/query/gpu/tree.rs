//! The tree over the Morton order of the bodies, and the boxes that it is made of.
//!
//! Boxes are computed from the bodies for the keys, and again for the leaves. So no list of boxes takes memory beside the tree. What is
//! sorted lies in the memory of the leaves and nodes, which are written afterwards: a list in each, as a dispatch can't read and
//! write the same buffer. So a tree takes 43 bytes a body, and building it no more.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use crate::collide::broad_phase::kernels::{
    BUILD_LEVELS, BoundsParams, BoxKernels, BuildParams, GRID_WORDS, KEY_BITS, Levels, MortonParams,
    OF_PLACED, TREE_BUILD, WIDTH,
};
use crate::collide::bvh::aabb::Aabb;
use crate::collide::hull::record::HullRecord;
use crate::collide::narrow_phase::kernels::SPHERES;
use crate::collide::query::gpu::rules::WorldTables;
use crate::collide::scene::packed_body::PackedBody;
use crate::collide::scene::packed_motion::PackedMotion;
use crate::collide::sweep::kernels::OF_SWEPT;
use crate::error::Result;
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::frame::Frame;
use crate::gpu::kernel::Kernel;
use crate::gpu::pool::BoundRange;
use crate::gpu::sort::{self, Keyed, RUN_LEN};

/// Most nodes of the topmost level.
const TOP_LIMIT: usize = 16;
/// Estimated steps for the box or the sphere of a body (see `Context::pieces`).
const BODY_STEPS: u64 = 20;
/// Estimated steps for a body's key and its place in a sorted run.
const RUN_STEPS: u64 = 120;

/// How the bodies move, and for how long.
#[derive(Debug, Clone)]
pub(crate) struct MotionBuffer {
    /// One for each mover.
    pub(crate) motions: Buffer<PackedMotion>,
    /// Seconds.
    pub(crate) duration: f32,
}

/// Encodes the spheres of all bodies.
pub(crate) fn encode_spheres(
    frame: &mut Frame,
    hulls: &Buffer<HullRecord>,
    bodies: &Buffer<PackedBody>,
) -> Result<Buffer<[f32; 4]>> {
    let spheres = Buffer::new(frame.context(), "hullfield.collide.spheres", bodies.len())?;
    let params = BoundsParams::zeroed();
    encode_per_body(frame, &SPHERES, &[bodies.bind(), hulls.bind()], &spheres, bodies.len(), params)?;
    Ok(spheres)
}

/// Encodes a kernel that computes a value for each of the first `count` bodies: its box or its sphere.
fn encode_per_body<T: Pod>(
    frame: &mut Frame,
    kernel: &'static Kernel,
    bodies: &[BoundRange],
    made: &Buffer<T>,
    count: usize,
    params: BoundsParams,
) -> Result<()> {
    let context = frame.context().clone();
    for piece in context.pieces(count as u64, BODY_STEPS, kernel.workgroup_size.into()) {
        let params = frame.uniform(&BoundsParams {
            body_count: piece.end as u32,
            first: piece.start as u32,
            ..params
        })?;
        let bound = [&[params], bodies, &[made.bind()]].concat();
        frame.dispatch(kernel, &bound, kernel.groups(piece.end - piece.start))?;
    }
    Ok(())
}

/// Where the boxes of bodies come from: kernels that compute them, and what these read.
#[derive(Debug, Clone)]
pub(crate) struct Boxes {
    pub(crate) kernels: &'static BoxKernels,
    pub(crate) bound: Vec<BoundRange>,
    /// What boxes are wider by on every side.
    pub(crate) grow: f32,
    /// Seconds.
    pub(crate) duration: f32,
    /// Where the bodies are of several worlds.
    pub(crate) worlds: Option<WorldTables>,
}

impl Boxes {
    /// Those of bodies where they are, or of their whole motions, which have no margin.
    pub(crate) fn of(
        hulls: &Buffer<HullRecord>,
        bodies: &Buffer<PackedBody>,
        moves: Option<&MotionBuffer>,
        grow: f32,
    ) -> Self {
        let mut bound = vec![bodies.bind(), hulls.bind()];
        match moves {
            Some(MotionBuffer { motions, duration }) => {
                bound.push(motions.bind());
                Self { kernels: &OF_SWEPT, bound, grow: 0.0, duration: *duration, worlds: None }
            }
            None => Self { kernels: &OF_PLACED, bound, grow, duration: 0.0, worlds: None },
        }
    }

    /// Encodes the list of the first `count`.
    pub(crate) fn encode(&self, frame: &mut Frame, count: usize, boxes: &Buffer<Aabb>) -> Result<()> {
        let Self { kernels, bound, grow, duration, .. } = self;
        let params = BoundsParams { grow: *grow, duration: *duration, ..BoundsParams::zeroed() };
        encode_per_body(frame, kernels.bounds, bound, boxes, count, params)
    }

    /// Encodes a kernel of the tree for the bodies in `piece` of `count`.
    fn dispatch(
        &self,
        frame: &mut Frame,
        kernel: &'static Kernel,
        (piece, count): (Range<u64>, usize),
        keeps_boxes: bool,
        others: &[BoundRange],
        groups: u64,
    ) -> Result<()> {
        let params = frame.uniform(&MortonParams {
            count: count as u32,
            begin: piece.start as u32,
            end: piece.end as u32,
            zero: 0,
            grow: self.grow,
            duration: self.duration,
            keeps_boxes: keeps_boxes.into(),
            world_begin: self.worlds.as_ref().map_or(0, |worlds| worlds.world_begin),
            start_begin: self.worlds.as_ref().map_or(0, |worlds| worlds.start_begin),
            world_scale: (1 << KEY_BITS) / (count as u32).max(1),
            padding_0: 0,
            padding_1: 0,
        })?;
        frame.dispatch(kernel, &[&[params], &self.bound[..], others].concat(), groups)
    }

    /// The kernels that make keys of a long list and of a short one, and what they read beside the boxes.
    fn key_kernels(&self) -> (&'static Kernel, &'static Kernel, Vec<BoundRange>) {
        let BoxKernels { keys, runs, world_keys, world_runs, .. } = *self.kernels;
        match &self.worlds {
            Some(worlds) => (world_keys, world_runs, vec![worlds.words.clone()]),
            None => (keys, runs, Vec::new()),
        }
    }
}

/// The levels of nodes over `count` leaves, which begin at `begin`: where each lies, the topmost, and where the last ends.
pub(crate) fn levels_of(begin: usize, count: usize) -> (Levels, usize, usize) {
    let mut levels = [[0; 4]; 5];
    let (mut begin, mut len, mut top) = (begin, count.div_ceil(WIDTH), 0);
    loop {
        levels[top / 4][top % 4] = begin as u32;
        begin += len;
        levels[(top + 1) / 4][(top + 1) % 4] = begin as u32;
        if len <= TOP_LIMIT {
            return (levels, top, begin);
        }
        len = len.div_ceil(WIDTH);
        top += 1;
    }
}

/// Leaves and nodes of one tree, or of that of the movers and behind it that of the statics.
#[derive(Debug, Clone)]
pub(crate) struct TreeBuffers {
    pub(crate) leaves: Buffer<Aabb>,
    pub(crate) nodes: Buffer<Aabb>,
}

impl TreeBuffers {
    /// Capacity for so many leaves and nodes. The first `count` leaves are sorted: each buffer has room for a list of keys.
    pub(crate) fn new(
        context: &Context,
        labels: [&'static str; 2],
        leaves: usize,
        nodes: usize,
        count: usize,
    ) -> Result<Self> {
        let least = (values_offset(count) as usize + 4 * count).div_ceil(size_of::<Aabb>());
        Ok(Self {
            leaves: Buffer::new(context, labels[0], leaves.max(least))?,
            nodes: Buffer::new(context, labels[1], nodes.max(least))?,
        })
    }

    /// Encodes the tree over the first `count` bodies, to the front of both. The boxes go to `boxes` too, by id, where there is such a list.
    pub(crate) fn build(
        &self,
        frame: &mut Frame,
        source: &Boxes,
        count: usize,
        boxes: Option<&Buffer<Aabb>>,
    ) -> Result<()> {
        let context = frame.context().clone();
        let order = self.sort(frame, source, count)?;
        let none;
        let listed = match boxes {
            Some(boxes) => boxes,
            None => {
                none = Buffer::new(&context, "hullfield.collide.no_boxes", 1)?;
                &none
            }
        };
        let leaves = source.kernels.leaves;
        for piece in context.pieces(count as u64, BODY_STEPS, leaves.workgroup_size.into()) {
            let groups = leaves.groups(piece.end - piece.start);
            let others = [order.bind(), self.leaves.bind(), listed.bind()];
            source.dispatch(frame, leaves, (piece, count), boxes.is_some(), &others, groups)?;
        }
        let (levels, top, _) = levels_of(0, count);
        let level = |level: usize| levels[level / 4][level % 4];
        for lowest in (0..=top).step_by(BUILD_LEVELS) {
            let (child_begin, child_count) = match lowest {
                0 => (0, count as u32),
                _ => (level(lowest - 1), level(lowest) - level(lowest - 1)),
            };
            let mut here = [[0; 4]; 2];
            for k in 0..8.min(20 - lowest) {
                here[k / 4][k % 4] = level(lowest + k);
            }
            let per_group = TREE_BUILD.workgroup_size * WIDTH as u32;
            let group_count = u64::from(child_count.div_ceil(per_group));
            for piece in context.pieces(group_count, per_group.into(), 1) {
                let params = frame.uniform(&BuildParams {
                    levels: here,
                    child_begin,
                    child_count,
                    from_leaves: u32::from(lowest == 0),
                    first: piece.start as u32,
                    level_count: (top + 1 - lowest).min(BUILD_LEVELS) as u32,
                    zero: 0,
                    padding_0: 0,
                    padding_1: 0,
                })?;
                let bound = [params, self.leaves.bind(), self.nodes.bind()];
                frame.dispatch(&TREE_BUILD, &bound, piece.end - piece.start)?;
            }
        }
        Ok(())
    }

    /// Encodes the Morton order of the first `count` bodies. It lies in the memory of `nodes`, and is lost when they are written; `leaves`
    /// has held the other list of the sort.
    fn sort(&self, frame: &mut Frame, source: &Boxes, count: usize) -> Result<Buffer<u32>> {
        let context = frame.context().clone();
        let keyed = |buffer: &Buffer<Aabb>| {
            Result::Ok(Keyed {
                keys: buffer.part(0, count)?,
                values: buffer.part(values_offset(count), count)?,
            })
        };
        let (in_leaves, in_nodes) = (keyed(&self.leaves)?, keyed(&self.nodes)?);
        let (keys, runs, tables) = source.key_kernels();
        let fit = source.kernels.frame;
        let is_short = sort::is_short(&context, count);
        // A merge of several runs ends in the spare list. The digits of a key take an even number of passes, so they end in the first.
        let (list, spare) =
            if is_short && count > RUN_LEN { (in_leaves, in_nodes) } else { (in_nodes, in_leaves) };
        let out = [list.keys.bind(), list.values.bind()];
        if is_short {
            for piece in context.pieces(count as u64, RUN_STEPS, RUN_LEN as u64) {
                let groups = (piece.end - piece.start).div_ceil(RUN_LEN as u64);
                source.dispatch(frame, runs, (piece, count), false, &[&tables[..], &out].concat(), groups)?;
            }
            return Ok(sort::merge_runs(frame, list, spare)?.values);
        }
        // A smaller crowd later needs these kernels. Built now, they cost that frame no time.
        frame.pipeline(runs)?;
        frame.pipeline(&sort::SORT_MERGE)?;
        let grid: Buffer<u32> = Buffer::new(&context, "hullfield.collide.grid", GRID_WORDS)?;
        source.dispatch(frame, fit, (0..0, count), false, &[grid.bind()], 1)?;
        for piece in context.pieces(count as u64, BODY_STEPS, keys.workgroup_size.into()) {
            let groups = keys.groups(piece.end - piece.start);
            let others = [&tables[..], &[grid.bind()], &out].concat();
            source.dispatch(frame, keys, (piece, count), false, &others, groups)?;
        }
        Ok(sort::sort(frame, list, spare, KEY_BITS)?.values)
    }
}

/// Where the values of a list of `count` keys begin in the memory of leaves or nodes: behind the keys, where a binding may begin.
fn values_offset(count: usize) -> u64 {
    (4 * count as u64).next_multiple_of(256)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::scene::bounds;
    use crate::collide::scene::bounds::tests::Random;
    use crate::gpu::readback::Results;
    use crate::gpu::submit::Next;
    use crate::testing;

    fn on_device<T: Pod>(context: &Context, label: &'static str, values: &[T]) -> Buffer<T> {
        let buffer = Buffer::new(context, label, values.len()).unwrap();
        let mut frame = Frame::new(context, "hullfield.test").unwrap();
        frame.upload(&buffer, 0, values).unwrap();
        frame.submit(|_| Ok(Next::Answer(()))).unwrap().wait().unwrap();
        buffer
    }

    #[test]
    fn boxes_are_those_of_the_cpu_bit_for_bit() {
        let Some(engine) = testing::gpu() else { return };
        let context = engine.context().unwrap().clone();
        let mut random = Random(11);
        let mut hulls = bounds::tests::hulls(&mut random, 64);
        hulls[7].half_space = 1;
        hulls[8].half_space = 1;
        let mut bodies = bounds::tests::bodies(&mut random, &hulls, 50_000);
        bodies.extend([1e35, f32::MAX, 1e-38].map(|scale| PackedBody { scale: [scale; 3], ..bodies[0] }));
        let device_hulls = on_device(&context, "hullfield.collide.hulls", &hulls);
        let device_bodies = on_device(&context, "hullfield.collide.bodies", &bodies);
        let count = bodies.len();
        let aabbs = |label| Buffer::<Aabb>::new(&context, label, count).unwrap();
        let (listed, beside) = (aabbs("hullfield.collide.boxes"), aabbs("hullfield.collide.static_boxes"));
        let labels = ["hullfield.collide.leaves", "hullfield.collide.nodes"];
        let tree = TreeBuffers::new(&context, labels, count, levels_of(0, count).2, count).unwrap();
        for grow in [0.0, 0.125, 3e-5, 1e37] {
            let mut frame = Frame::new(&context, "hullfield.test").unwrap();
            let source = Boxes::of(&device_hulls, &device_bodies, None, grow);
            source.encode(&mut frame, count, &listed).unwrap();
            tree.build(&mut frame, &source, count, Some(&beside)).unwrap();
            let reads = [&listed, &beside, &tree.leaves].map(|boxes| frame.read(boxes, 0..count).unwrap());
            let get = move |results: Results| {
                let [listed, beside, leaves] = &reads;
                let read = |read| results.get(read).map(|boxes| boxes.into_owned());
                Ok(Next::Answer([read(listed)?, read(beside)?, read(leaves)?]))
            };
            let [listed, beside, leaves] = frame.submit(get).unwrap().wait().unwrap();
            let expected = bounds::aabbs(&bodies, &hulls, grow);
            for ((body, found), expected) in bodies.iter().zip(&listed).zip(&expected) {
                assert_eq!(
                    bytemuck::bytes_of(found),
                    bytemuck::bytes_of(expected),
                    "{body:?}: {found:?} {expected:?}"
                );
            }
            // The tree computes them again, to the same bits.
            assert!(bytemuck::cast_slice::<_, u8>(&beside) == bytemuck::cast_slice::<_, u8>(&listed));
            // A leaf has the id where a box has the group, and the group where it has the mask.
            let mut ids: Vec<u32> = leaves.iter().map(|leaf| leaf.group).collect();
            for leaf in &leaves {
                let expected = expected[leaf.group as usize];
                assert_eq!(leaf.mask, expected.group);
                assert!(expected.is_plane() || (leaf.min, leaf.max) == (expected.min, expected.max));
                assert!(!expected.is_plane() || leaf.min[1] > leaf.max[1]);
            }
            ids.sort_unstable();
            assert!(ids.into_iter().eq(0..count as u32));
        }
    }
}
