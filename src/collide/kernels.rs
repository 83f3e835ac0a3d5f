//! The GPU engine's kernels: which WGSL files make each, what it binds, and its parameters.

use bytemuck::{Pod, Zeroable};

use crate::gpu::{DISPATCH_WGSL, Kernel, read, read_write, uniform};

pub(crate) const TYPES: &str = concat!(
    include_str!("../../shaders/collide/packed_body.wgsl"),
    include_str!("../../shaders/collide/types.wgsl")
);
pub(crate) const BOUNDS_PARAMS: &str = include_str!("../../shaders/collide/bounds_params.wgsl");
pub(crate) const SUPPORT: &str = include_str!("../../shaders/collide/support.wgsl");
pub(crate) const ROTATION: &str = include_str!("../../shaders/collide/rotation.wgsl");
pub(crate) const POSE: &str = include_str!("../../shaders/collide/pose.wgsl");
pub(crate) const PLANE: &str = include_str!("../../shaders/collide/plane.wgsl");
const DISTANCE_CORE: &str = include_str!("../../shaders/collide/distance_core.wgsl");
const DEPTH_CORE: &str = include_str!("../../shaders/collide/depth_core.wgsl");
const MEASURED_CODES: &str = include_str!("../../shaders/collide/measured_codes.wgsl");
const MEASURE_OUT: &str = include_str!("../../shaders/collide/measure_out.wgsl");
const MEASURE_MAIN: &str = include_str!("../../shaders/collide/measure.wgsl");
const DEPTH_MAIN: &str = include_str!("../../shaders/collide/depth.wgsl");
const HIT_WRITE_MEASURED_MAIN: &str = include_str!("../../shaders/collide/hit_write_measured.wgsl");
pub(crate) const GJK_CORE: &str = include_str!("../../shaders/collide/gjk_core.wgsl");
const EPA_CORE: &str = include_str!("../../shaders/collide/epa_core.wgsl");
pub(crate) const NARROW: &str = include_str!("../../shaders/collide/narrow.wgsl");
pub(crate) const REFINE_LIST: &str = include_str!("../../shaders/collide/refine_list.wgsl");
pub(crate) const REFINE_APPEND: &str = include_str!("../../shaders/collide/refine_append.wgsl");
pub(crate) const PAIR_LISTED: &str = include_str!("../../shaders/collide/pair_listed.wgsl");
pub(crate) const PAIR_EVERY: &str = include_str!("../../shaders/collide/pair_every.wgsl");
const EVERY_APART_PLAIN: &str = include_str!("../../shaders/collide/every_apart_plain.wgsl");
const PLANE_NONE: &str = include_str!("../../shaders/collide/plane_none.wgsl");
const EVERY_APART: &str = include_str!("../../shaders/collide/every_apart.wgsl");
const GJK_MAIN: &str = include_str!("../../shaders/collide/gjk.wgsl");
const EPA_MAIN: &str = include_str!("../../shaders/collide/epa.wgsl");
const HIT_WRITE_MAIN: &str = include_str!("../../shaders/collide/hit_write.wgsl");

pub(crate) static SPHERES: Kernel = Kernel {
    label: "hullfield.collide.spheres",
    sources: &[DISPATCH_WGSL, TYPES, BOUNDS_PARAMS, include_str!("../../shaders/collide/spheres.wgsl")],
    workgroup_size: 64,
    bindings: &[
        uniform("params", "BoundsParams"),
        read("bodies", "array<PackedBody>"),
        read("hulls", "array<HullRecord>"),
        read_write("spheres", "array<vec4f>"),
    ],
};

pub(crate) static GJK: Kernel = Kernel {
    label: "hullfield.collide.gjk",
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
        GJK_MAIN,
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
        read_write("axes", "array<f32>"),
    ],
};

pub(crate) static GJK_EVERY: Kernel = Kernel {
    label: "hullfield.collide.gjk_every",
    sources: &[
        DISPATCH_WGSL,
        TYPES,
        NARROW,
        REFINE_APPEND,
        PAIR_EVERY,
        EVERY_APART,
        SUPPORT,
        ROTATION,
        POSE,
        PLANE,
        GJK_CORE,
        GJK_MAIN,
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
        read_write("axes", "array<f32>"),
    ],
};

pub(crate) static GJK_EVERY_PLAIN: Kernel = Kernel {
    label: "hullfield.collide.gjk_every_plain",
    sources: &[
        DISPATCH_WGSL,
        TYPES,
        NARROW,
        REFINE_APPEND,
        PAIR_EVERY,
        EVERY_APART_PLAIN,
        SUPPORT,
        ROTATION,
        POSE,
        PLANE_NONE,
        GJK_CORE,
        GJK_MAIN,
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
        read_write("axes", "array<f32>"),
    ],
};

pub(crate) static EPA: Kernel = Kernel {
    label: "hullfield.collide.epa",
    sources: &[
        DISPATCH_WGSL,
        TYPES,
        NARROW,
        REFINE_LIST,
        PAIR_LISTED,
        SUPPORT,
        ROTATION,
        POSE,
        GJK_CORE,
        EPA_CORE,
        DISTANCE_CORE,
        EPA_MAIN,
    ],
    workgroup_size: 64,
    bindings: &[
        uniform("params", "NarrowParams"),
        read("bodies", "array<PackedBody>"),
        read("hulls", "array<HullRecord>"),
        read("vertices", "array<vec4f>"),
        read("cells", "array<u32>"),
        read("pairs", "array<vec2u>"),
        read("refine", "RefineList"),
        read_write("verdicts", "array<u32>"),
        read_write("axes", "array<f32>"),
    ],
};

pub(crate) static EPA_EVERY: Kernel = Kernel {
    label: "hullfield.collide.epa_every",
    sources: &[
        DISPATCH_WGSL,
        TYPES,
        NARROW,
        REFINE_LIST,
        PAIR_EVERY,
        SUPPORT,
        ROTATION,
        POSE,
        GJK_CORE,
        EPA_CORE,
        DISTANCE_CORE,
        EPA_MAIN,
    ],
    workgroup_size: 64,
    bindings: &[
        uniform("params", "NarrowParams"),
        read("bodies", "array<PackedBody>"),
        read("hulls", "array<HullRecord>"),
        read("vertices", "array<vec4f>"),
        read("cells", "array<u32>"),
        read("spheres", "array<vec4f>"),
        read("refine", "RefineList"),
        read_write("verdicts", "array<u32>"),
        read_write("axes", "array<f32>"),
    ],
};

pub(crate) static HIT_COUNT: Kernel = Kernel {
    label: "hullfield.collide.hit_count",
    sources: &[DISPATCH_WGSL, NARROW, REFINE_LIST, include_str!("../../shaders/collide/hit_count.wgsl")],
    workgroup_size: 256,
    bindings: &[
        uniform("params", "NarrowParams"),
        read("refine", "RefineList"),
        read("verdicts", "array<u32>"),
        read_write("counts", "array<u32>"),
    ],
};

pub(crate) static HIT_WRITE: Kernel = Kernel {
    label: "hullfield.collide.hit_write",
    sources: &[DISPATCH_WGSL, NARROW, REFINE_LIST, PAIR_LISTED, HIT_WRITE_MAIN],
    workgroup_size: 256,
    bindings: &[
        uniform("params", "NarrowParams"),
        read("refine", "RefineList"),
        read("verdicts", "array<u32>"),
        read("pairs", "array<vec2u>"),
        read("offsets", "array<u32>"),
        read_write("hits", "array<u32>"),
    ],
};

pub(crate) static HIT_WRITE_EVERY: Kernel = Kernel {
    label: "hullfield.collide.hit_write_every",
    sources: &[DISPATCH_WGSL, NARROW, REFINE_LIST, PAIR_EVERY, HIT_WRITE_MAIN],
    workgroup_size: 256,
    bindings: &[
        uniform("params", "NarrowParams"),
        read("refine", "RefineList"),
        read("verdicts", "array<u32>"),
        read("spheres", "array<vec4f>"),
        read("offsets", "array<u32>"),
        read_write("hits", "array<u32>"),
    ],
};

pub(crate) static MEASURE: Kernel = Kernel {
    label: "hullfield.collide.measure",
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
        DISTANCE_CORE,
        MEASURED_CODES,
        MEASURE_OUT,
        MEASURE_MAIN,
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

pub(crate) static MEASURE_EVERY: Kernel = Kernel {
    label: "hullfield.collide.measure_every",
    sources: &[
        DISPATCH_WGSL,
        TYPES,
        NARROW,
        REFINE_APPEND,
        PAIR_EVERY,
        EVERY_APART,
        SUPPORT,
        ROTATION,
        POSE,
        PLANE,
        GJK_CORE,
        DISTANCE_CORE,
        MEASURED_CODES,
        MEASURE_OUT,
        MEASURE_MAIN,
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

pub(crate) static MEASURE_EVERY_PLAIN: Kernel = Kernel {
    label: "hullfield.collide.measure_every_plain",
    sources: &[
        DISPATCH_WGSL,
        TYPES,
        NARROW,
        REFINE_APPEND,
        PAIR_EVERY,
        EVERY_APART_PLAIN,
        SUPPORT,
        ROTATION,
        POSE,
        PLANE_NONE,
        GJK_CORE,
        DISTANCE_CORE,
        MEASURED_CODES,
        MEASURE_OUT,
        MEASURE_MAIN,
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

pub(crate) static DEPTH: Kernel = Kernel {
    label: "hullfield.collide.depth",
    sources: &[
        DISPATCH_WGSL,
        TYPES,
        NARROW,
        REFINE_LIST,
        PAIR_LISTED,
        SUPPORT,
        ROTATION,
        POSE,
        GJK_CORE,
        DISTANCE_CORE,
        DEPTH_CORE,
        MEASURED_CODES,
        MEASURE_OUT,
        DEPTH_MAIN,
    ],
    workgroup_size: 64,
    bindings: &[
        uniform("params", "NarrowParams"),
        read("bodies", "array<PackedBody>"),
        read("hulls", "array<HullRecord>"),
        read("vertices", "array<vec4f>"),
        read("cells", "array<u32>"),
        read("pairs", "array<vec2u>"),
        read("refine", "RefineList"),
        read_write("verdicts", "array<u32>"),
        read_write("measures", "array<vec4f>"),
    ],
};

pub(crate) static DEPTH_EVERY: Kernel = Kernel {
    label: "hullfield.collide.depth_every",
    sources: &[
        DISPATCH_WGSL,
        TYPES,
        NARROW,
        REFINE_LIST,
        PAIR_EVERY,
        SUPPORT,
        ROTATION,
        POSE,
        GJK_CORE,
        DISTANCE_CORE,
        DEPTH_CORE,
        MEASURED_CODES,
        MEASURE_OUT,
        DEPTH_MAIN,
    ],
    workgroup_size: 64,
    bindings: &[
        uniform("params", "NarrowParams"),
        read("bodies", "array<PackedBody>"),
        read("hulls", "array<HullRecord>"),
        read("vertices", "array<vec4f>"),
        read("cells", "array<u32>"),
        read("spheres", "array<vec4f>"),
        read("refine", "RefineList"),
        read_write("verdicts", "array<u32>"),
        read_write("measures", "array<vec4f>"),
    ],
};

pub(crate) static HIT_WRITE_MEASURED: Kernel = Kernel {
    label: "hullfield.collide.hit_write_measured",
    sources: &[DISPATCH_WGSL, NARROW, REFINE_LIST, PAIR_LISTED, MEASURED_CODES, HIT_WRITE_MEASURED_MAIN],
    workgroup_size: 256,
    bindings: &[
        uniform("params", "NarrowParams"),
        read("refine", "RefineList"),
        read("verdicts", "array<u32>"),
        read("pairs", "array<vec2u>"),
        read("offsets", "array<u32>"),
        read("measures", "array<vec4f>"),
        read_write("rows", "array<vec4u>"),
    ],
};

pub(crate) static HIT_WRITE_MEASURED_EVERY: Kernel = Kernel {
    label: "hullfield.collide.hit_write_measured_every",
    sources: &[DISPATCH_WGSL, NARROW, REFINE_LIST, PAIR_EVERY, MEASURED_CODES, HIT_WRITE_MEASURED_MAIN],
    workgroup_size: 256,
    bindings: &[
        uniform("params", "NarrowParams"),
        read("refine", "RefineList"),
        read("verdicts", "array<u32>"),
        read("spheres", "array<vec4f>"),
        read("offsets", "array<u32>"),
        read("measures", "array<vec4f>"),
        read_write("rows", "array<vec4u>"),
    ],
};

pub(crate) static DEVICE_COUNTS: Kernel = Kernel {
    label: "hullfield.collide.device_counts",
    sources: &[
        DISPATCH_WGSL,
        include_str!("../../shaders/collide/device_rows.wgsl"),
        include_str!("../../shaders/collide/device_counts.wgsl"),
    ],
    workgroup_size: 256,
    bindings: &[
        uniform("params", "DeviceParams"),
        read("pair_total", "array<u32>"),
        read("row_total", "array<u32>"),
        read("rows", "array<u32>"),
        read_write("counts", "CountsOut"),
        read_write("unsettled", "array<u32>"),
    ],
};

/// The kernels of a narrow phase, each for listed pairs and for every pair.
#[derive(Debug)]
pub(crate) struct Stages {
    /// What goes before GJK, where anything does: it binds the bodies' motions.
    pub(crate) prepare: Option<[&'static Kernel; 2]>,
    /// GJK; the third for every pair of bodies that have no groups and are no half-spaces.
    pub(crate) search: [&'static Kernel; 3],
    /// EPA.
    pub(crate) refine: [&'static Kernel; 2],
    /// The rows.
    pub(crate) write: [&'static Kernel; 2],
    /// Words of a row.
    pub(crate) row_words: usize,
    /// Words that the search writes of a pair besides its verdict.
    pub(crate) data_words: usize,
    /// Whether the rows are made from those.
    pub(crate) rows_have_data: bool,
    pub(crate) row_label: &'static str,
    pub(crate) data_label: &'static str,
    /// How much more a pair takes than a verdict.
    pub(crate) effort: u64,
}

/// Yes or no.
pub(crate) static VERDICTS: Stages = Stages {
    prepare: None,
    search: [&GJK, &GJK_EVERY, &GJK_EVERY_PLAIN],
    refine: [&EPA, &EPA_EVERY],
    write: [&HIT_WRITE, &HIT_WRITE_EVERY],
    row_words: 3,
    data_words: 3,
    rows_have_data: false,
    row_label: "hullfield.collide.hits",
    data_label: "hullfield.collide.axes",
    effort: 1,
};

/// Distances and contacts.
pub(crate) static MEASURES: Stages = Stages {
    prepare: None,
    search: [&MEASURE, &MEASURE_EVERY, &MEASURE_EVERY_PLAIN],
    refine: [&DEPTH, &DEPTH_EVERY],
    write: [&HIT_WRITE_MEASURED, &HIT_WRITE_MEASURED_EVERY],
    row_words: 12,
    data_words: 8,
    rows_have_data: true,
    row_label: "hullfield.collide.measured",
    data_label: "hullfield.collide.measures",
    effort: 3,
};

/// The kernels of this folder, for the tests that look at every kernel.
#[cfg(test)]
pub(crate) static KERNELS: &[&Kernel] = &[
    &SPHERES,
    &GJK,
    &GJK_EVERY,
    &GJK_EVERY_PLAIN,
    &EPA,
    &EPA_EVERY,
    &HIT_COUNT,
    &HIT_WRITE,
    &HIT_WRITE_EVERY,
    &MEASURE,
    &MEASURE_EVERY,
    &MEASURE_EVERY_PLAIN,
    &DEPTH,
    &DEPTH_EVERY,
    &HIT_WRITE_MEASURED,
    &HIT_WRITE_MEASURED_EVERY,
    &DEVICE_COUNTS,
];

/// Verdicts that one thread of the compaction looks at: `RUN` in `shaders/collide/narrow.wgsl`.
pub(crate) const RUN: usize = 16;

/// As in `shaders/collide/bounds_params.wgsl`.
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

/// As in `shaders/collide/narrow.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct NarrowParams {
    pub(crate) zero: u32,
    pub(crate) first: u32,
    pub(crate) window_begin: u32,
    pub(crate) window_len: u32,
    pub(crate) body_count: u32,
    pub(crate) every_row: u32,
    pub(crate) every_column: u32,
    pub(crate) write_axes: u32,
    pub(crate) margin: f32,
    pub(crate) with_depth: u32,
    pub(crate) keep_all: u32,
    pub(crate) duration: f32,
    pub(crate) column_count: u32,
    pub(crate) padding_0: u32,
    pub(crate) padding_1: u32,
    pub(crate) padding_2: u32,
}

/// As in `shaders/collide/device_counts.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct DeviceParams {
    pub(crate) row_words: u32,
    pub(crate) row_room: u32,
    pub(crate) pair_room: u32,
    pub(crate) padding: u32,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::layout::{DeviceCounts, HullRecord, IntersectionRow, MeasuredRow, PackedBody};
    use super::super::{gjk, narrow};
    use super::*;
    use crate::gpu::layout::{compare, host_struct};

    /// Fails where a host struct and the struct of its name in a kernel's WGSL differ.
    macro_rules! same_layout {
        ($kernel:expr, $host:ident { $($field:ident),+ $(,)? }) => {
            compare(&$kernel.wgsl(), stringify!($host), &host_struct!($host { $($field),+ })).unwrap()
        };
    }

    #[test]
    fn structs_have_the_same_layout_in_both_languages() {
        same_layout!(
            GJK,
            PackedBody {
                position,
                hull,
                rotation,
                scale,
                radius,
                remainder,
                excess,
                rounding,
                group,
                mask,
                padding
            }
        );
        same_layout!(
            GJK,
            HullRecord {
                mean,
                radius,
                middle,
                vertex_offset,
                half,
                vertex_count,
                cell_offset,
                cell_side,
                rounding,
                half_space
            }
        );
        same_layout!(DEVICE_COUNTS, DeviceParams { row_words, row_room, pair_room, padding });
        same_layout!(DEVICE_COUNTS, IntersectionRow { a, b, status });
        same_layout!(DEVICE_COUNTS, MeasuredRow { a, b, status, gap, normal, anchor, point, error });
        same_layout!(
            DEVICE_COUNTS,
            DeviceCounts { row_count, row_room, pair_count, pair_room, overflow, unsettled_count, padding }
        );
        same_layout!(
            GJK,
            NarrowParams {
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
            }
        );
    }

    /// A constant of a kernel's WGSL.
    pub(crate) fn constant(kernel: &Kernel, name: &str) -> f64 {
        let module = naga::front::wgsl::parse_str(&kernel.wgsl()).unwrap();
        let (_, constant) = module
            .constants
            .iter()
            .find(|(_, constant)| constant.name.as_deref() == Some(name))
            .unwrap_or_else(|| panic!("no {name} in {}", kernel.label));
        match module.global_expressions[constant.init] {
            naga::Expression::Literal(naga::Literal::F32(x)) => f64::from(x),
            naga::Expression::Literal(naga::Literal::U32(x)) => f64::from(x),
            ref other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn constants_are_the_same_in_both_languages() {
        assert_eq!(constant(&GJK, "ITERATION_LIMIT"), f64::from(gjk::ITERATION_LIMIT));
        assert_eq!(constant(&HIT_COUNT, "RUN"), RUN as f64);
        assert_eq!(constant(&EPA, "POLYTOPE_POINTS"), narrow::POLYTOPE_POINTS as f64);
        assert_eq!(constant(&EPA, "POLYTOPE_FACES"), narrow::POLYTOPE_FACES as f64);
    }
}
