//! The kernels of the GPU's broad phase: world boxes, the tree over them, and pairs. `query/gpu/broad.rs` runs them.

use bytemuck::{Pod, Zeroable};

use crate::gpu::form::BLOCK_PREFIX_WGSL;
use crate::gpu::kernel::{Binding, Kernel, Trust, only, parts, read, read_write, uniform};
use crate::gpu::sort::{RUN_INVOCATIONS, SORT_RUN_WGSL};
use crate::gpu::wgsl::wgsl;
use crate::gpu::{DISPATCH_WGSL, ROUNDING_WGSL};

const PLACE: &str = wgsl!("../../../shaders/collide/broad_phase/tiled_place.wgsl");
pub(crate) const TYPES: &str =
    wgsl!("../../../shaders/collide/scene/packed_body.wgsl", "../../../shaders/collide/hull/record.wgsl");
pub(crate) const BOUNDS_PARAMS: &str = wgsl!("../../../shaders/collide/scene/bounds_params.wgsl");
pub(crate) const ROTATION: &str = wgsl!("../../../shaders/collide/scene/rotation.wgsl");
pub(crate) const AABB: &str = wgsl!("../../../shaders/collide/bvh/aabb.wgsl");
pub(crate) const BOUNDS_CORE: &str = wgsl!("../../../shaders/collide/scene/bounds_core.wgsl");
const GRID: &str = wgsl!("../../../shaders/collide/broad_phase/morton_grid.wgsl");
const FIT: &str = wgsl!("../../../shaders/collide/broad_phase/morton_fit.wgsl");
const KEY: &str = wgsl!("../../../shaders/collide/broad_phase/morton_key.wgsl");
pub(crate) const NODE: &str = wgsl!("../../../shaders/collide/broad_phase/tree_node.wgsl");
const TREE_PARAMS: &str = wgsl!("../../../shaders/collide/broad_phase/tree_params.wgsl");
pub(crate) const LEVELS: &str = wgsl!("../../../shaders/collide/broad_phase/tree_levels.wgsl");
const WALK: &str = wgsl!("../../../shaders/collide/broad_phase/tree_walk.wgsl");
/// Rows are the leaves of the tree.
const TREE_ROW: &str = wgsl!("../../../shaders/collide/broad_phase/tree_row.wgsl");
/// Rows are the bodies, all of small worlds.
const WORLD_ROW: &str = wgsl!("../../../shaders/collide/broad_phase/world_row.wgsl");
const COUNT_MAIN: &str = wgsl!("../../../shaders/collide/broad_phase/tree_count.wgsl");
const WRITE_MAIN: &str = wgsl!("../../../shaders/collide/broad_phase/tree_write.wgsl");
const HEAVY_PLACE: &str = wgsl!("../../../shaders/collide/broad_phase/heavy_place.wgsl");
/// All pairs may meet.
const ALL_MEET: &str = wgsl!("../../../shaders/collide/broad_phase/all_meet.wgsl");
/// Worlds, owners and exclusions say which pairs may meet. Kernels with these have trusted neither loops nor indices.
const PAIR_RULES: &str = wgsl!("../../../shaders/collide/broad_phase/pair_rules.wgsl");
const BOX_KEY: &str = wgsl!("../../../shaders/collide/broad_phase/box_key.wgsl");
const WORLD_KEY: &str = wgsl!("../../../shaders/collide/broad_phase/world_key.wgsl");
/// The tables of [`WORLD_KEY`].
const RULES: &[Binding] = &[read("rules", "array<u32>")];

/// Where kernels get the box of a body from: the WGSL of `box_at`, and its bindings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoxSource {
    pub(crate) sources: &'static [&'static str],
    pub(crate) bindings: &'static [Binding],
}

/// The boxes of bodies where they are.
pub(crate) const PLACED: BoxSource = BoxSource {
    sources: &[TYPES, BOUNDS_CORE, wgsl!("../../../shaders/collide/scene/body_box.wgsl")],
    bindings: &[read("bodies", "array<PackedBody>"), read("hulls", "array<HullRecord>")],
};

/// The kernels that compute boxes, of one source.
#[derive(Debug)]
pub(crate) struct BoxKernels {
    /// The list of all boxes.
    pub(crate) bounds: &'static Kernel,
    pub(crate) frame: &'static Kernel,
    pub(crate) keys: &'static Kernel,
    pub(crate) runs: &'static Kernel,
    /// Those that make keys, for bodies of several worlds.
    pub(crate) world_keys: &'static Kernel,
    pub(crate) world_runs: &'static Kernel,
    pub(crate) leaves: &'static Kernel,
}

pub(crate) static OF_PLACED: BoxKernels = BoxKernels {
    bounds: &BOUNDS,
    frame: &MORTON_FRAME,
    keys: &MORTON_KEYS,
    runs: &MORTON_RUNS,
    world_keys: &WORLD_KEYS,
    world_runs: &WORLD_RUNS,
    leaves: &TREE_LEAVES,
};

/// A kernel that writes a list of boxes.
pub(crate) const fn bounds(label: &'static str, boxes: BoxSource) -> Kernel {
    const UNIFORM: &[Binding] = &[uniform("params", "BoundsParams")];
    const BOXES: &[Binding] = &[read_write("boxes", "array<Aabb>")];
    Kernel {
        label,
        sources: parts([
            &[DISPATCH_WGSL, BOUNDS_PARAMS, ROUNDING_WGSL, AABB],
            boxes.sources,
            &[wgsl!("../../../shaders/collide/scene/bounds.wgsl")],
        ]),
        workgroup_size: 64,
        trust: Trust::Checked,
        bindings: parts([UNIFORM, boxes.bindings, BOXES]),
    }
}

const MORTON_HEAD: &[&str] = &[DISPATCH_WGSL, ROUNDING_WGSL, AABB, GRID];
const MORTON_UNIFORM: &[Binding] = &[uniform("params", "MortonParams")];

/// A kernel that fits the grid of a long list.
pub(crate) const fn morton_frame(label: &'static str, boxes: BoxSource) -> Kernel {
    const GRID: &[Binding] = &[read_write("grid", "Grid")];
    Kernel {
        label,
        sources: parts([
            MORTON_HEAD,
            boxes.sources,
            &[FIT, wgsl!("../../../shaders/collide/broad_phase/morton_frame.wgsl")],
        ]),
        workgroup_size: 128,
        trust: Trust::Checked,
        bindings: parts([MORTON_UNIFORM, boxes.bindings, GRID]),
    }
}

/// A kernel that makes the keys of a long list.
pub(crate) const fn morton_keys(label: &'static str, boxes: BoxSource) -> Kernel {
    keys(label, boxes, &[BOX_KEY], &[])
}

/// The same for bodies of several worlds.
pub(crate) const fn world_keys(label: &'static str, boxes: BoxSource) -> Kernel {
    keys(label, boxes, &[WORLD_KEY], RULES)
}

const fn keys(
    label: &'static str,
    boxes: BoxSource,
    key: &'static [&'static str],
    rules: &'static [Binding],
) -> Kernel {
    const KEYED: &[Binding] =
        &[read("grid", "Grid"), read_write("keys", "array<u32>"), read_write("values", "array<u32>")];
    Kernel {
        label,
        sources: parts([
            MORTON_HEAD,
            boxes.sources,
            &[KEY],
            key,
            &[wgsl!("../../../shaders/collide/broad_phase/morton_keys.wgsl")],
        ]),
        workgroup_size: 128,
        trust: Trust::Checked,
        bindings: parts([MORTON_UNIFORM, boxes.bindings, rules, KEYED]),
    }
}

/// A kernel that makes the keys of a short list, and sorts them in runs.
pub(crate) const fn morton_runs(label: &'static str, boxes: BoxSource) -> Kernel {
    runs(label, boxes, &[BOX_KEY], &[])
}

/// The same for bodies of several worlds.
pub(crate) const fn world_runs(label: &'static str, boxes: BoxSource) -> Kernel {
    runs(label, boxes, &[WORLD_KEY], RULES)
}

const fn runs(
    label: &'static str,
    boxes: BoxSource,
    key: &'static [&'static str],
    rules: &'static [Binding],
) -> Kernel {
    const KEYED: &[Binding] = &[read_write("keys", "array<u32>"), read_write("values", "array<u32>")];
    Kernel {
        label,
        sources: parts([
            MORTON_HEAD,
            boxes.sources,
            &[FIT, KEY],
            key,
            &[SORT_RUN_WGSL, wgsl!("../../../shaders/collide/broad_phase/morton_runs.wgsl")],
        ]),
        workgroup_size: RUN_INVOCATIONS,
        trust: Trust::Checked,
        bindings: parts([MORTON_UNIFORM, boxes.bindings, rules, KEYED]),
    }
}

/// A kernel that writes the leaves of the tree.
pub(crate) const fn tree_leaves(label: &'static str, boxes: BoxSource) -> Kernel {
    const LEAVES: &[Binding] = &[
        read("order", "array<u32>"),
        read_write("leaves", "array<Node>"),
        read_write("boxes", "array<Aabb>"),
    ];
    Kernel {
        label,
        sources: parts([
            MORTON_HEAD,
            boxes.sources,
            &[NODE, wgsl!("../../../shaders/collide/broad_phase/tree_leaves.wgsl")],
        ]),
        workgroup_size: 64,
        trust: Trust::Checked,
        bindings: parts([MORTON_UNIFORM, boxes.bindings, LEAVES]),
    }
}

pub(crate) static BOUNDS: Kernel = bounds("hullfield.collide.bounds", PLACED);
pub(crate) static MORTON_FRAME: Kernel = morton_frame("hullfield.collide.morton_frame", PLACED);
pub(crate) static MORTON_KEYS: Kernel = morton_keys("hullfield.collide.morton_keys", PLACED);
pub(crate) static MORTON_RUNS: Kernel = morton_runs("hullfield.collide.morton_runs", PLACED);
pub(crate) static WORLD_KEYS: Kernel = world_keys("hullfield.collide.world_keys", PLACED);
pub(crate) static WORLD_RUNS: Kernel = world_runs("hullfield.collide.world_runs", PLACED);
pub(crate) static TREE_LEAVES: Kernel = tree_leaves("hullfield.collide.tree_leaves", PLACED);

pub(crate) static TILED_COUNT: Kernel = Kernel {
    label: "hullfield.collide.tiled_count",
    sources: only(&[
        DISPATCH_WGSL,
        ROUNDING_WGSL,
        AABB,
        PLACE,
        wgsl!("../../../shaders/collide/broad_phase/tiled_count.wgsl"),
    ]),
    workgroup_size: 128,
    trust: Trust::Loops("counters run in steps of a workgroup to a number of bodies"),
    bindings: only(&[
        uniform("params", "TileParams"),
        read("boxes", "array<Aabb>"),
        read_write("counts", "array<u32>"),
    ]),
};

pub(crate) static TILED_WRITE: Kernel = Kernel {
    label: "hullfield.collide.tiled_write",
    sources: only(&[
        DISPATCH_WGSL,
        ROUNDING_WGSL,
        AABB,
        PLACE,
        wgsl!("../../../shaders/collide/broad_phase/tiled_write.wgsl"),
    ]),
    workgroup_size: 128,
    trust: Trust::Loops("counters run in steps of a workgroup to a number of bodies"),
    bindings: only(&[
        uniform("params", "TileParams"),
        read("boxes", "array<Aabb>"),
        read("offsets", "array<u32>"),
        read_write("pairs", "array<vec2u>"),
        read_write("refine", "array<u32>"),
    ]),
};

pub(crate) static TREE_BUILD: Kernel = Kernel {
    label: "hullfield.collide.tree_build",
    sources: only(&[
        DISPATCH_WGSL,
        ROUNDING_WGSL,
        AABB,
        NODE,
        wgsl!("../../../shaders/collide/broad_phase/tree_build.wgsl"),
    ]),
    workgroup_size: 256,
    trust: Trust::LoopsAndIndices(
        "five levels at most; the levels lie in `nodes` one after the other, and each index of `leaves` and `nodes` is compared with the \
         length of its level",
    ),
    bindings: only(&[
        uniform("params", "BuildParams"),
        read("leaves", "array<Node>"),
        read_write("nodes", "array<Node>"),
    ]),
};

const fn tree_count(label: &'static str, rules: &'static [&'static str], trust: Trust) -> Kernel {
    const BINDINGS: &[Binding] = &[
        uniform("params", "TreeParams"),
        read("bodies", "array<PackedBody>"),
        read("leaves", "array<Node>"),
        read("nodes", "array<Node>"),
        read("planes", "array<u32>"),
        read("boxes", "array<Aabb>"),
        read_write("counts", "array<u32>"),
        read_write("heavy", "array<atomic<u32>>"),
    ];
    Kernel {
        label,
        sources: parts([
            &[DISPATCH_WGSL, TYPES, TREE_PARAMS, ROUNDING_WGSL, AABB, NODE],
            &[LEVELS],
            rules,
            &[WALK, TREE_ROW, COUNT_MAIN],
        ]),
        workgroup_size: 64,
        trust,
        bindings: only(BINDINGS),
    }
}

pub(crate) static TREE_COUNT: Kernel = tree_count(
    "hullfield.collide.tree_count",
    &[ALL_MEET],
    Trust::Loops("a constant number of visits, each with a way up of at most all levels"),
);
pub(crate) static TREE_COUNT_RULES: Kernel =
    tree_count("hullfield.collide.tree_count_rules", &[PAIR_RULES], Trust::Checked);

const fn tree_write(label: &'static str, rules: &'static [&'static str], trust: Trust) -> Kernel {
    const BINDINGS: &[Binding] = &[
        uniform("params", "TreeParams"),
        read("bodies", "array<PackedBody>"),
        read("leaves", "array<Node>"),
        read("nodes", "array<Node>"),
        read("planes", "array<u32>"),
        read("boxes", "array<Aabb>"),
        read("offsets", "array<u32>"),
        read_write("pairs", "array<vec2u>"),
        read_write("refine", "array<u32>"),
    ];
    Kernel {
        label,
        sources: parts([
            &[DISPATCH_WGSL, TYPES, TREE_PARAMS, ROUNDING_WGSL, AABB, NODE],
            &[LEVELS],
            rules,
            &[WALK, TREE_ROW, WRITE_MAIN],
        ]),
        workgroup_size: 64,
        trust,
        bindings: only(BINDINGS),
    }
}

pub(crate) static TREE_WRITE: Kernel = tree_write(
    "hullfield.collide.tree_write",
    &[ALL_MEET],
    Trust::Loops("the walk is that of the counts; a sift goes down a heap of at most ROW_LIMIT entries"),
);
pub(crate) static TREE_WRITE_RULES: Kernel =
    tree_write("hullfield.collide.tree_write_rules", &[PAIR_RULES], Trust::Checked);

/// Counts the pairs where all worlds are small.
pub(crate) static WORLD_COUNT: Kernel = Kernel {
    label: "hullfield.collide.world_count",
    sources: parts([
        &[DISPATCH_WGSL, TREE_PARAMS, ROUNDING_WGSL, AABB, NODE],
        &[LEVELS, PAIR_RULES],
        &[WALK, WORLD_ROW, wgsl!("../../../shaders/collide/broad_phase/world_find.wgsl"), COUNT_MAIN],
    ]),
    workgroup_size: 64,
    trust: Trust::Checked,
    bindings: only(&[
        uniform("params", "TreeParams"),
        read("boxes", "array<Aabb>"),
        read("leaves", "array<Node>"),
        read("nodes", "array<Node>"),
        read("planes", "array<u32>"),
        read_write("counts", "array<u32>"),
        read_write("heavy", "array<atomic<u32>>"),
        read_write("masks", "array<u32>"),
    ]),
};

/// Writes the pairs where all worlds are small.
pub(crate) static WORLD_WRITE: Kernel = Kernel {
    label: "hullfield.collide.world_write",
    sources: parts([
        &[DISPATCH_WGSL, TREE_PARAMS, ROUNDING_WGSL, AABB, NODE],
        &[LEVELS, PAIR_RULES],
        &[WALK, WORLD_ROW, wgsl!("../../../shaders/collide/broad_phase/world_found.wgsl"), WRITE_MAIN],
    ]),
    workgroup_size: 64,
    trust: Trust::Checked,
    bindings: only(&[
        uniform("params", "TreeParams"),
        read("boxes", "array<Aabb>"),
        read("leaves", "array<Node>"),
        read("nodes", "array<Node>"),
        read("planes", "array<u32>"),
        read("offsets", "array<u32>"),
        read("masks", "array<u32>"),
        read_write("pairs", "array<vec2u>"),
        read_write("refine", "array<u32>"),
    ]),
};

/// What kernels of heavy rows read beside boxes where rules say which pairs may meet.
const HEAVY_RULES: &[Binding] = &[read("planes", "array<u32>")];

const fn heavy_count(
    label: &'static str,
    rules: &'static [&'static str],
    tables: &'static [Binding],
    trust: Trust,
) -> Kernel {
    const UNIFORM: &[Binding] = &[uniform("params", "TreeParams"), read("boxes", "array<Aabb>")];
    const SUMS: &[Binding] = &[read("heavy", "array<u32>"), read_write("sums", "array<u32>")];
    Kernel {
        label,
        sources: parts([
            &[DISPATCH_WGSL, TREE_PARAMS, ROUNDING_WGSL, AABB],
            rules,
            &[HEAVY_PLACE, BLOCK_PREFIX_WGSL, wgsl!("../../../shaders/collide/broad_phase/heavy_count.wgsl")],
        ]),
        workgroup_size: 128,
        trust,
        bindings: parts([UNIFORM, tables, SUMS]),
    }
}

pub(crate) static HEAVY_COUNT: Kernel = heavy_count(
    "hullfield.collide.heavy_count",
    &[LEVELS, ALL_MEET],
    &[],
    Trust::Loops("counters run in steps of a workgroup to a number of bodies"),
);
pub(crate) static HEAVY_COUNT_RULES: Kernel =
    heavy_count("hullfield.collide.heavy_count_rules", &[LEVELS, PAIR_RULES], HEAVY_RULES, Trust::Checked);

pub(crate) static HEAVY_SUM: Kernel = Kernel {
    label: "hullfield.collide.heavy_sum",
    sources: only(&[
        DISPATCH_WGSL,
        TREE_PARAMS,
        wgsl!("../../../shaders/collide/broad_phase/heavy_sum.wgsl"),
    ]),
    workgroup_size: 64,
    trust: Trust::Checked,
    bindings: only(&[
        uniform("params", "TreeParams"),
        read("heavy", "array<u32>"),
        read_write("sums", "array<u32>"),
        read_write("counts", "array<u32>"),
    ]),
};

const fn heavy_write(
    label: &'static str,
    rules: &'static [&'static str],
    tables: &'static [Binding],
    trust: Trust,
) -> Kernel {
    const UNIFORM: &[Binding] = &[uniform("params", "TreeParams"), read("boxes", "array<Aabb>")];
    const PAIRS: &[Binding] = &[
        read("heavy", "array<u32>"),
        read("sums", "array<u32>"),
        read("offsets", "array<u32>"),
        read_write("pairs", "array<vec2u>"),
    ];
    Kernel {
        label,
        sources: parts([
            &[DISPATCH_WGSL, TREE_PARAMS, ROUNDING_WGSL, AABB],
            rules,
            &[HEAVY_PLACE, BLOCK_PREFIX_WGSL, wgsl!("../../../shaders/collide/broad_phase/heavy_write.wgsl")],
        ]),
        workgroup_size: 128,
        trust,
        bindings: parts([UNIFORM, tables, PAIRS]),
    }
}

pub(crate) static HEAVY_WRITE: Kernel = heavy_write(
    "hullfield.collide.heavy_write",
    &[LEVELS, ALL_MEET],
    &[],
    Trust::Loops("counters run in steps of a workgroup to a number of bodies"),
);
pub(crate) static HEAVY_WRITE_RULES: Kernel =
    heavy_write("hullfield.collide.heavy_write_rules", &[LEVELS, PAIR_RULES], HEAVY_RULES, Trust::Checked);

/// The kernels of the broad phase, without those of the scan and the sort.
pub(crate) static KERNELS: &[&Kernel] = &[
    &BOUNDS,
    &TILED_COUNT,
    &TILED_WRITE,
    &MORTON_FRAME,
    &MORTON_KEYS,
    &MORTON_RUNS,
    &WORLD_KEYS,
    &WORLD_RUNS,
    &TREE_LEAVES,
    &TREE_BUILD,
    &TREE_COUNT,
    &TREE_COUNT_RULES,
    &TREE_WRITE,
    &TREE_WRITE_RULES,
    &WORLD_COUNT,
    &WORLD_WRITE,
    &HEAVY_COUNT,
    &HEAVY_COUNT_RULES,
    &HEAVY_SUM,
    &HEAVY_WRITE,
    &HEAVY_WRITE_RULES,
];

/// Children of a node: `WIDTH` in `shaders/collide/broad_phase/tree_node.wgsl`.
pub(crate) const WIDTH: usize = 4;
/// Longest row that one thread sorts: `ROW_LIMIT` in `shaders/collide/broad_phase/tree_params.wgsl`.
pub(crate) const ROW_LIMIT: usize = 512;
/// Bits of a key: `KEY_BITS` in `shaders/collide/broad_phase/morton_grid.wgsl`.
pub(crate) const KEY_BITS: u32 = 30;
/// Levels of the tree that one dispatch builds.
pub(crate) const BUILD_LEVELS: usize = 5;

/// As in `shaders/collide/scene/bounds_params.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct BoundsParams {
    pub(crate) body_count: u32,
    pub(crate) zero: u32,
    pub(crate) first: u32,
    pub(crate) grow: f32,
    pub(crate) duration: f32,
    pub(crate) padding_0: u32,
    pub(crate) padding_1: u32,
    pub(crate) padding_2: u32,
}

/// As in `shaders/collide/broad_phase/tiled_place.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct TileParams {
    pub(crate) body_count: u32,
    pub(crate) segment_count: u32,
    pub(crate) row_begin: u32,
    pub(crate) row_end: u32,
    pub(crate) window_begin: u32,
    pub(crate) window_len: u32,
    pub(crate) zero: u32,
    pub(crate) column_count: u32,
    pub(crate) static_grow: f32,
    pub(crate) column_begin: u32,
    pub(crate) padding_1: u32,
    pub(crate) padding_2: u32,
}

/// As in `shaders/collide/broad_phase/morton_grid.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct MortonParams {
    pub(crate) count: u32,
    pub(crate) begin: u32,
    pub(crate) end: u32,
    pub(crate) zero: u32,
    pub(crate) grow: f32,
    pub(crate) duration: f32,
    pub(crate) keeps_boxes: u32,
    pub(crate) world_begin: u32,
    pub(crate) start_begin: u32,
    pub(crate) world_scale: u32,
    pub(crate) padding_0: u32,
    pub(crate) padding_1: u32,
}

/// Words of `Grid` in `shaders/collide/broad_phase/morton_grid.wgsl`.
pub(crate) const GRID_WORDS: usize = 16;

/// As in `shaders/collide/broad_phase/tree_build.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct BuildParams {
    pub(crate) levels: [[u32; 4]; 2],
    pub(crate) child_begin: u32,
    pub(crate) child_count: u32,
    pub(crate) from_leaves: u32,
    pub(crate) first: u32,
    pub(crate) level_count: u32,
    pub(crate) zero: u32,
    pub(crate) padding_0: u32,
    pub(crate) padding_1: u32,
}

/// Where each level of a tree begins in the list of nodes, leaves apart, and where the last one ends.
pub(crate) type Levels = [[u32; 4]; 5];

/// As in `shaders/collide/broad_phase/tree_params.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct TreeParams {
    pub(crate) body_count: u32,
    pub(crate) static_count: u32,
    pub(crate) plane_count: u32,
    pub(crate) zero: u32,
    pub(crate) begin: u32,
    pub(crate) end: u32,
    pub(crate) window_begin: u32,
    pub(crate) window_len: u32,
    pub(crate) heavy_capacity: u32,
    pub(crate) segment_count: u32,
    pub(crate) mover_top: u32,
    pub(crate) static_top: u32,
    pub(crate) static_grow: f32,
    pub(crate) column_begin: u32,
    pub(crate) boxes_begin: u32,
    pub(crate) world_begin: u32,
    pub(crate) start_begin: u32,
    pub(crate) owner_begin: u32,
    pub(crate) list_begin: u32,
    pub(crate) moving_plane_count: u32,
    pub(crate) mover_levels: Levels,
    pub(crate) static_levels: Levels,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::bvh::aabb::{self, Aabb};
    use crate::collide::narrow_phase::kernels::tests::{constant, same_layout};
    use crate::collide::scene::bounds;
    use crate::collide::scene::rules::SMALL_WORLD;
    use crate::gpu::sort::RUN_LEN;
    use crate::rounding;

    #[test]
    fn structs_have_the_same_layout_in_both_languages() {
        same_layout!(BOUNDS, Aabb { min, group, max, mask });
        same_layout!(
            BOUNDS,
            BoundsParams { body_count, zero, first, grow, duration, padding_0, padding_1, padding_2 }
        );
        same_layout!(
            TILED_COUNT,
            TileParams {
                body_count,
                segment_count,
                row_begin,
                row_end,
                window_begin,
                window_len,
                zero,
                column_count,
                static_grow,
                column_begin,
                padding_1,
                padding_2
            }
        );
        for kernel in [&MORTON_FRAME, &MORTON_KEYS, &MORTON_RUNS, &TREE_LEAVES] {
            same_layout!(
                kernel,
                MortonParams {
                    count,
                    begin,
                    end,
                    zero,
                    grow,
                    duration,
                    keeps_boxes,
                    world_begin,
                    start_begin,
                    world_scale,
                    padding_0,
                    padding_1
                }
            );
        }
        same_layout!(
            TREE_BUILD,
            BuildParams {
                levels,
                child_begin,
                child_count,
                from_leaves,
                first,
                level_count,
                zero,
                padding_0,
                padding_1
            }
        );
        for kernel in [&TREE_COUNT, &HEAVY_COUNT, &WORLD_COUNT] {
            same_layout!(
                kernel,
                TreeParams {
                    body_count,
                    static_count,
                    plane_count,
                    zero,
                    begin,
                    end,
                    window_begin,
                    window_len,
                    heavy_capacity,
                    segment_count,
                    mover_top,
                    static_top,
                    static_grow,
                    column_begin,
                    boxes_begin,
                    world_begin,
                    start_begin,
                    owner_begin,
                    list_begin,
                    moving_plane_count,
                    mover_levels,
                    static_levels
                }
            );
        }
    }

    #[test]
    fn constants_are_the_same_in_both_languages() {
        for (name, value) in [
            ("TINY", rounding::TINY),
            ("FLOOR", bounds::FLOOR),
            ("PAD_BOX", bounds::PAD_BOX),
            ("PAD_RADIUS", bounds::PAD_RADIUS),
            ("PAD_POSITION", bounds::PAD_POSITION),
            ("PAD_PLANE", aabb::PAD_PLANE),
            ("PAD_GROWN", aabb::PAD_GROWN),
            ("PLANE", aabb::PLANE),
            ("EVERYTHING", bounds::EVERYTHING),
        ] {
            assert_eq!(constant(&BOUNDS, name), f64::from(value), "{name}");
        }
        assert_eq!(constant(&BOUNDS, "HUGE_BITS"), f64::from(bounds::HUGE.to_bits()));
        assert_eq!(constant(&TREE_BUILD, "WIDTH"), WIDTH as f64);
        assert_eq!(constant(&TREE_COUNT, "ROW_LIMIT"), ROW_LIMIT as f64);
        assert_eq!(constant(&WORLD_COUNT, "SMALL_WORLD"), SMALL_WORLD as f64);
        assert_eq!(constant(&MORTON_KEYS, "KEY_BITS"), f64::from(KEY_BITS));
        let per_group = WIDTH.pow(BUILD_LEVELS as u32);
        assert_eq!(TREE_BUILD.workgroup_size as usize * WIDTH, per_group);
        assert_eq!(constant(&MORTON_RUNS, "RUN_LEN"), RUN_LEN as f64);
        for kernel in [&MORTON_FRAME, &MORTON_RUNS] {
            assert!(f64::from(kernel.workgroup_size) >= constant(kernel, "SAMPLE"), "{}", kernel.label);
        }
    }
}
