//! The kernels of sweeps on the GPU engine: see `gpu/sweeps.rs`.

use super::super::broad_kernels::{AABB, BOUNDS_CORE, ROUNDING};
use super::super::kernels::{
    BOUNDS_PARAMS, DEPTH, DEPTH_EVERY, GJK_CORE, HIT_WRITE_MEASURED, HIT_WRITE_MEASURED_EVERY, NARROW,
    PAIR_EVERY, PAIR_LISTED, PLANE, POSE, REFINE_APPEND, REFINE_LIST, ROTATION, SUPPORT, Stages, TYPES,
};
use crate::gpu::{DISPATCH_WGSL, Kernel, read, read_write, uniform};

const MOTION: &str = include_str!("../../../shaders/collide/sweep_motion.wgsl");
const WAY: &str = include_str!("../../../shaders/collide/sweep_way.wgsl");
const CUT_MAIN: &str = include_str!("../../../shaders/collide/sweep_cut.wgsl");
const SWEEP_CORE: &str = include_str!("../../../shaders/collide/sweep_core.wgsl");
const SWEEP_MAIN: &str = include_str!("../../../shaders/collide/sweep.wgsl");
const EVERY_NONE: &str = include_str!("../../../shaders/collide/every_none.wgsl");

pub(crate) static SWEEP_BOUNDS: Kernel = Kernel {
    label: "hullfield.collide.sweep_bounds",
    sources: &[
        DISPATCH_WGSL,
        TYPES,
        BOUNDS_PARAMS,
        ROUNDING,
        AABB,
        BOUNDS_CORE,
        ROTATION,
        MOTION,
        include_str!("../../../shaders/collide/sweep_bounds.wgsl"),
    ],
    workgroup_size: 64,
    bindings: &[
        uniform("params", "BoundsParams"),
        read("bodies", "array<PackedBody>"),
        read("hulls", "array<HullRecord>"),
        read("motions", "array<PackedMotion>"),
        read_write("boxes", "array<Aabb>"),
    ],
};

pub(crate) static SWEEP_CUT: Kernel = Kernel {
    label: "hullfield.collide.sweep_cut",
    sources: &[DISPATCH_WGSL, TYPES, NARROW, REFINE_LIST, PAIR_LISTED, ROTATION, MOTION, WAY, CUT_MAIN],
    workgroup_size: 64,
    bindings: &[
        uniform("params", "NarrowParams"),
        read("bodies", "array<PackedBody>"),
        read("hulls", "array<HullRecord>"),
        read("pairs", "array<vec2u>"),
        read("refine", "RefineList"),
        read("motions", "array<PackedMotion>"),
        read_write("verdicts", "array<u32>"),
        read_write("measures", "array<vec4f>"),
    ],
};

pub(crate) static SWEEP_CUT_EVERY: Kernel = Kernel {
    label: "hullfield.collide.sweep_cut_every",
    sources: &[
        DISPATCH_WGSL,
        TYPES,
        NARROW,
        REFINE_LIST,
        PAIR_EVERY,
        EVERY_NONE,
        ROTATION,
        MOTION,
        WAY,
        CUT_MAIN,
    ],
    workgroup_size: 64,
    bindings: &[
        uniform("params", "NarrowParams"),
        read("bodies", "array<PackedBody>"),
        read("hulls", "array<HullRecord>"),
        read("spheres", "array<vec4f>"),
        read("refine", "RefineList"),
        read("motions", "array<PackedMotion>"),
        read_write("verdicts", "array<u32>"),
        read_write("measures", "array<vec4f>"),
    ],
};

pub(crate) static SWEEP: Kernel = Kernel {
    label: "hullfield.collide.sweep",
    sources: &[
        DISPATCH_WGSL,
        TYPES,
        NARROW,
        REFINE_APPEND,
        PAIR_LISTED,
        SUPPORT,
        ROTATION,
        POSE,
        PLANE,
        GJK_CORE,
        WAY,
        SWEEP_CORE,
        SWEEP_MAIN,
    ],
    workgroup_size: 64,
    bindings: &[
        uniform("params", "NarrowParams"),
        read("bodies", "array<PackedBody>"),
        read("hulls", "array<HullRecord>"),
        read("vertices", "array<vec4f>"),
        read("cells", "array<u32>"),
        read("pairs", "array<vec2u>"),
        read_write("refine", "RefineList"),
        read_write("verdicts", "array<u32>"),
        read_write("measures", "array<vec4f>"),
    ],
};

pub(crate) static SWEEP_EVERY: Kernel = Kernel {
    label: "hullfield.collide.sweep_every",
    sources: &[
        DISPATCH_WGSL,
        TYPES,
        NARROW,
        REFINE_APPEND,
        PAIR_EVERY,
        SUPPORT,
        ROTATION,
        POSE,
        PLANE,
        GJK_CORE,
        WAY,
        SWEEP_CORE,
        SWEEP_MAIN,
    ],
    workgroup_size: 64,
    bindings: &[
        uniform("params", "NarrowParams"),
        read("bodies", "array<PackedBody>"),
        read("hulls", "array<HullRecord>"),
        read("vertices", "array<vec4f>"),
        read("cells", "array<u32>"),
        read("spheres", "array<vec4f>"),
        read_write("refine", "RefineList"),
        read_write("verdicts", "array<u32>"),
        read_write("measures", "array<vec4f>"),
    ],
};

/// Sweeps: what touches at the start is left to the kernels that measure depths.
pub(crate) static SWEEPS: Stages = Stages {
    prepare: Some([&SWEEP_CUT, &SWEEP_CUT_EVERY]),
    search: [&SWEEP, &SWEEP_EVERY, &SWEEP_EVERY],
    refine: [&DEPTH, &DEPTH_EVERY],
    write: [&HIT_WRITE_MEASURED, &HIT_WRITE_MEASURED_EVERY],
    row_words: 12,
    data_words: 8,
    rows_have_data: true,
    row_label: "hullfield.collide.measured",
    data_label: "hullfield.collide.measures",
    effort: 3,
};

/// The bodies meet after the start: `VERDICT_HIT` in `shaders/collide/sweep_way.wgsl`.
pub(crate) const VERDICT_HIT: u32 = 5;
/// Apart at the start, but by less than shows it: `VERDICT_WITHIN` in `shaders/collide/measured_codes.wgsl`.
pub(crate) const VERDICT_WITHIN: u32 = 4;

/// The kernels of this file, for the tests that look at every kernel.
#[cfg(test)]
pub(crate) static KERNELS: &[&Kernel] = &[&SWEEP_BOUNDS, &SWEEP_CUT, &SWEEP_CUT_EVERY, &SWEEP, &SWEEP_EVERY];

#[cfg(test)]
mod tests {
    use super::super::super::kernels::{NarrowParams, tests::constant};
    use super::super::super::layout::PackedMotion;
    use super::super::cast;
    use super::*;
    use crate::gpu::layout::{compare, host_struct};

    #[test]
    fn structs_have_the_same_layout_in_both_languages() {
        for kernel in [&SWEEP_BOUNDS, &SWEEP_CUT, &SWEEP_CUT_EVERY] {
            let motion = host_struct!(PackedMotion { velocity, padding_0, angular_velocity, padding_1 });
            compare(&kernel.wgsl(), "PackedMotion", &motion).unwrap();
        }
        let params = host_struct!(NarrowParams {
            zero,
            first,
            window_begin,
            window_len,
            body_count,
            every_row,
            every_column,
            write_axes,
            margin,
            with_depth,
            keep_all,
            duration,
            column_count,
            padding_0,
            padding_1,
            padding_2
        });
        compare(&SWEEP.wgsl(), "NarrowParams", &params).unwrap();
    }

    #[test]
    fn constants_are_the_same_in_both_languages() {
        assert_eq!(constant(&SWEEP, "CAST_LIMIT"), f64::from(cast::CAST_LIMIT));
        assert_eq!(constant(&SWEEP, "VERDICT_HIT"), f64::from(VERDICT_HIT));
        assert_eq!(constant(&DEPTH, "VERDICT_WITHIN"), f64::from(VERDICT_WITHIN));
        assert_eq!(constant(&SWEEP, "CUT_ERROR"), constant(&SWEEP_CUT, "CUT_ERROR"));
    }
}
