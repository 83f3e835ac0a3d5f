//! The kernels of sweeps on the GPU engine: see `query/gpu/sweeps.rs`.

use crate::collide::broad_phase::kernels::{
    BOUNDS_CORE, BoxKernels, BoxSource, ROTATION, TYPES, bounds, morton_frame, morton_keys, morton_runs,
    tree_leaves, world_keys, world_runs,
};
use crate::collide::narrow_phase::kernels::{
    DEPTH, DEPTH_EXHAUSTIVE, DEVICE_ROWS, EXHAUSTIVE, GJK_CORE, HIT_WRITE_MEASURED,
    HIT_WRITE_MEASURED_EXHAUSTIVE, HIT_WRITE_SOURCE, LISTED, MEASURED_CODES, MEASURED_ROWS, MEASURES_OUT,
    NARROW, PairSource, REFINE_LIST, SEARCH_MAIN, Stages, search, write,
};
use crate::gpu::kernel::Binding;
use crate::gpu::kernel::{Kernel, Trust, parts, read, read_write, uniform};
use crate::gpu::wgsl::wgsl;
use crate::gpu::{DISPATCH_WGSL, TWICE_WGSL};

const MOTION: &str = wgsl!("../../../shaders/collide/scene/motion.wgsl");
const PACKED_MOTION: &str = wgsl!("../../../shaders/collide/scene/packed_motion.wgsl");
const WAY: &str = wgsl!("../../../shaders/collide/sweep/meeting.wgsl");

/// The boxes of the whole motions of bodies.
const SWEPT: BoxSource = BoxSource {
    sources: &[
        TYPES,
        BOUNDS_CORE,
        ROTATION,
        PACKED_MOTION,
        MOTION,
        wgsl!("../../../shaders/collide/sweep/bounds.wgsl"),
    ],
    bindings: &[
        read("bodies", "array<PackedBody>"),
        read("hulls", "array<HullRecord>"),
        read("motions", "array<PackedMotion>"),
    ],
};

pub(crate) static OF_SWEPT: BoxKernels = BoxKernels {
    bounds: &SWEEP_BOUNDS,
    frame: &SWEEP_MORTON_FRAME,
    keys: &SWEEP_MORTON_KEYS,
    runs: &SWEEP_MORTON_RUNS,
    world_keys: &SWEEP_WORLD_KEYS,
    world_runs: &SWEEP_WORLD_RUNS,
    leaves: &SWEEP_TREE_LEAVES,
};

/// The kernels of the broad phase that compute the boxes of motions.
pub(crate) static BOX_KERNELS: &[&Kernel] = &[
    &SWEEP_BOUNDS,
    &SWEEP_MORTON_FRAME,
    &SWEEP_MORTON_KEYS,
    &SWEEP_MORTON_RUNS,
    &SWEEP_WORLD_KEYS,
    &SWEEP_WORLD_RUNS,
    &SWEEP_TREE_LEAVES,
];

static SWEEP_BOUNDS: Kernel = bounds("hullfield.collide.sweep_bounds", SWEPT);
static SWEEP_MORTON_FRAME: Kernel = morton_frame("hullfield.collide.sweep_morton_frame", SWEPT);
static SWEEP_MORTON_KEYS: Kernel = morton_keys("hullfield.collide.sweep_morton_keys", SWEPT);
static SWEEP_MORTON_RUNS: Kernel = morton_runs("hullfield.collide.sweep_morton_runs", SWEPT);
static SWEEP_WORLD_KEYS: Kernel = world_keys("hullfield.collide.sweep_world_keys", SWEPT);
static SWEEP_WORLD_RUNS: Kernel = world_runs("hullfield.collide.sweep_world_runs", SWEPT);
static SWEEP_TREE_LEAVES: Kernel = tree_leaves("hullfield.collide.sweep_tree_leaves", SWEPT);

/// A kernel that cuts the path of each pair down to where its bounding spheres meet.
const fn cut(label: &'static str, pairs: PairSource) -> Kernel {
    const MAIN: &[&str] =
        &[ROTATION, PACKED_MOTION, MOTION, WAY, TWICE_WGSL, wgsl!("../../../shaders/collide/sweep/cut.wgsl")];
    const BODIES: &[Binding] = &[
        uniform("params", "NarrowParams"),
        read("bodies", "array<PackedBody>"),
        read("hulls", "array<HullRecord>"),
    ];
    const WAYS: &[Binding] = &[
        read("refine", "RefineList"),
        read("motions", "array<PackedMotion>"),
        read_write("verdicts", "array<u32>"),
        read_write("measures", "array<vec4f>"),
    ];
    Kernel {
        label,
        sources: parts([&[DISPATCH_WGSL, TYPES, NARROW, REFINE_LIST], pairs.sources, pairs.apart, MAIN]),
        workgroup_size: 64,
        trust: Trust::Checked,
        bindings: parts([BODIES, pairs.bindings, WAYS]),
    }
}

pub(crate) static SWEEP_CUT: Kernel = cut("hullfield.collide.sweep_cut", LISTED);
/// Without a test of spheres: bodies that are apart now may meet later.
pub(crate) static SWEEP_CUT_EXHAUSTIVE: Kernel = cut(
    "hullfield.collide.sweep_cut_exhaustive",
    PairSource {
        apart: &[wgsl!("../../../shaders/collide/narrow_phase/exhaustive_no_spheres.wgsl")],
        ..EXHAUSTIVE
    },
);

const SWEEP_MAIN: &[&str] = &[
    GJK_CORE,
    WAY,
    wgsl!("../../../shaders/collide/sweep/cast.wgsl"),
    wgsl!("../../../shaders/collide/sweep/pair.wgsl"),
    SEARCH_MAIN,
];
pub(crate) static SWEEP: Kernel = search("hullfield.collide.sweep", LISTED, SWEEP_MAIN, MEASURES_OUT);
pub(crate) static SWEEP_EXHAUSTIVE: Kernel = search(
    "hullfield.collide.sweep_exhaustive",
    PairSource { apart: &[], ..EXHAUSTIVE },
    SWEEP_MAIN,
    MEASURES_OUT,
);

const SWEPT_MAIN: &[&str] = &[
    MEASURED_CODES,
    WAY,
    DEVICE_ROWS,
    wgsl!("../../../shaders/collide/sweep/hit_row.wgsl"),
    HIT_WRITE_SOURCE,
];
pub(crate) static HIT_WRITE_SWEPT: Kernel =
    write("hullfield.collide.hit_write_swept", LISTED, SWEPT_MAIN, MEASURED_ROWS);
pub(crate) static HIT_WRITE_SWEPT_EXHAUSTIVE: Kernel =
    write("hullfield.collide.hit_write_swept_exhaustive", EXHAUSTIVE, SWEPT_MAIN, MEASURED_ROWS);

/// Sweeps. Pairs that touch at the start go to the kernels that measure depths.
const STAGES: Stages = Stages {
    prepare: Some([&SWEEP_CUT, &SWEEP_CUT_EXHAUSTIVE]),
    search: [&SWEEP, &SWEEP_EXHAUSTIVE, &SWEEP_EXHAUSTIVE],
    refine: [&DEPTH, &DEPTH_EXHAUSTIVE],
    write: [&HIT_WRITE_MEASURED, &HIT_WRITE_MEASURED_EXHAUSTIVE],
    row_words: 12,
    data_words: 8,
    rows_have_data: true,
    row_label: "hullfield.collide.measured",
    data_label: "hullfield.collide.measures",
    effort: 3,
};

/// Sweeps whose rows go to the host, which makes the answer.
pub(crate) static SWEEPS: Stages = STAGES;

/// Sweeps whose rows stay on the device.
pub(crate) static ENCODED_SWEEPS: Stages = Stages {
    write: [&HIT_WRITE_SWEPT, &HIT_WRITE_SWEPT_EXHAUSTIVE],
    row_words: 8,
    row_label: "hullfield.collide.swept",
    ..STAGES
};

/// The bodies meet after the start: `VERDICT_HIT` in `shaders/collide/sweep/meeting.wgsl`.
pub(crate) const VERDICT_HIT: u32 = 5;
/// Apart at the start, but by too little for f32 to show: `VERDICT_WITHIN` in `shaders/collide/narrow_phase/measured_codes.wgsl`.
pub(crate) const VERDICT_WITHIN: u32 = 4;

/// The kernels of this file, for the module `inspect`.
#[cfg(any(feature = "inspect", test))]
pub(crate) static KERNELS: &[&Kernel] = &[
    &SWEEP_BOUNDS,
    &SWEEP_MORTON_FRAME,
    &SWEEP_MORTON_KEYS,
    &SWEEP_MORTON_RUNS,
    &SWEEP_TREE_LEAVES,
    &SWEEP_CUT,
    &SWEEP_CUT_EXHAUSTIVE,
    &SWEEP,
    &SWEEP_EXHAUSTIVE,
    &HIT_WRITE_SWEPT,
    &HIT_WRITE_SWEPT_EXHAUSTIVE,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::narrow_phase::kernels::tests::{constant, same_layout};
    use crate::collide::scene::packed_motion::PackedMotion;
    use crate::collide::sweep::cast;

    #[test]
    fn structs_have_the_same_layout_in_both_languages() {
        for kernel in [&SWEEP_BOUNDS, &SWEEP_CUT, &SWEEP_CUT_EXHAUSTIVE] {
            same_layout!(kernel, PackedMotion { velocity, padding_0, angular_velocity, padding_1 });
        }
    }

    #[test]
    fn constants_are_the_same_in_both_languages() {
        assert_eq!(constant(&SWEEP, "CAST_LIMIT"), f64::from(cast::CAST_LIMIT));
        assert_eq!(constant(&SWEEP, "VERDICT_HIT"), f64::from(VERDICT_HIT));
        assert_eq!(constant(&DEPTH, "VERDICT_WITHIN"), f64::from(VERDICT_WITHIN));
        assert_eq!(constant(&SWEEP, "CUT_ERROR"), constant(&SWEEP_CUT, "CUT_ERROR"));
        assert_eq!(
            constant(&HIT_WRITE_SWEPT, "OUTCOME_UNSETTLED"),
            constant(&HIT_WRITE_SWEPT, "STATUS_UNSETTLED")
        );
    }
}
