//! The kernels of the GPU's narrow phase: their WGSL files, bindings and parameters.

use crate::collide::broad_phase::kernels::{BOUNDS_PARAMS, ROTATION, TYPES};
use crate::gpu::wgsl::wgsl;
use bytemuck::{Pod, Zeroable};

use crate::gpu::DISPATCH_WGSL;
use crate::gpu::form::BLOCK_PREFIX_WGSL;
use crate::gpu::kernel::Binding;
use crate::gpu::kernel::{Kernel, Trust, only, parts, read, read_write, uniform};

pub(crate) const GJK_CORE: &str = wgsl!("../../../shaders/collide/gjk/verdict.wgsl");
pub(crate) const NARROW: &str = wgsl!("../../../shaders/collide/narrow_phase/params.wgsl");
pub(crate) const REFINE_LIST: &str = wgsl!("../../../shaders/collide/narrow_phase/refine_list.wgsl");
const DISTANCE_CORE: &str = wgsl!("../../../shaders/collide/gjk/distance.wgsl");
const POLYTOPE: &str = wgsl!("../../../shaders/collide/epa/polytope.wgsl");
pub(crate) const MEASURED_CODES: &str = wgsl!("../../../shaders/collide/narrow_phase/measured_codes.wgsl");
pub(crate) const DEVICE_ROWS: &str = wgsl!("../../../shaders/collide/query/device_rows.wgsl");
const MEASURE_OUT: &str = wgsl!("../../../shaders/collide/narrow_phase/measure_out.wgsl");

pub(crate) static SPHERES: Kernel = Kernel {
    label: "hullfield.collide.spheres",
    sources: only(&[
        DISPATCH_WGSL,
        TYPES,
        BOUNDS_PARAMS,
        wgsl!("../../../shaders/collide/narrow_phase/spheres.wgsl"),
    ]),
    workgroup_size: 64,
    trust: Trust::Checked,
    bindings: only(&[
        uniform("params", "BoundsParams"),
        read("bodies", "array<PackedBody>"),
        read("hulls", "array<HullRecord>"),
        read_write("spheres", "array<vec4f>"),
    ]),
};

/// Where a kernel's pairs come from: the WGSL that finds the bodies of a pair, and its bindings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairSource {
    pub(crate) sources: &'static [&'static str],
    pub(crate) bindings: &'static [Binding],
    /// Rejects pairs before their hulls are read.
    pub(crate) apart: &'static [&'static str],
    /// Handles half-spaces.
    pub(crate) plane: &'static [&'static str],
}

/// Pairs in a list: candidates, or given pairs.
pub(crate) const LISTED: PairSource = PairSource {
    sources: &[wgsl!("../../../shaders/collide/narrow_phase/pair_listed.wgsl")],
    bindings: &[read("pairs", "array<vec2u>")],
    apart: &[],
    plane: &[wgsl!("../../../shaders/collide/narrow_phase/plane.wgsl")],
};

/// All pairs, without a list.
pub(crate) const EXHAUSTIVE: PairSource = PairSource {
    sources: &[wgsl!("../../../shaders/collide/narrow_phase/pair_exhaustive.wgsl")],
    bindings: &[read("spheres", "array<vec4f>")],
    apart: &[wgsl!("../../../shaders/collide/narrow_phase/exhaustive_apart.wgsl")],
    ..LISTED
};

/// All pairs of bodies without groups and half-spaces.
const EXHAUSTIVE_PLAIN: PairSource = PairSource {
    apart: &[wgsl!("../../../shaders/collide/narrow_phase/exhaustive_apart_plain.wgsl")],
    plane: &[wgsl!("../../../shaders/collide/narrow_phase/no_planes.wgsl")],
    ..EXHAUSTIVE
};

/// The bindings for bodies and hulls of every kernel of the narrow phase.
const BODIES: &[Binding] = &[
    uniform("params", "NarrowParams"),
    read("bodies", "array<PackedBody>"),
    read("hulls", "array<HullRecord>"),
    read("vertices", "array<vec4f>"),
    read("cells", "array<u32>"),
];
const SHAPES: &[&str] = &[
    wgsl!("../../../shaders/collide/hull/support.wgsl"),
    ROTATION,
    wgsl!("../../../shaders/collide/gjk/pose.wgsl"),
];
const AXES: &[Binding] = &[read_write("axes", "array<f32>")];
pub(crate) const MEASURES_OUT: &[Binding] = &[read_write("measures", "array<vec4f>")];

/// Not the indices: bodies and pairs may come from a caller's buffers.
const PAIR_LOOPS: &str = "searches have a constant number of rounds, loops over bits clear one a round, and a scan ends with the \
                          vertices of a hull that exists (`known_hull`)";

/// A kernel that examines each pair, writes its verdict and data, and appends pairs near the surface to the refine list.
pub(crate) const fn search(
    label: &'static str,
    pairs: PairSource,
    main: &'static [&'static str],
    data: &'static [Binding],
) -> Kernel {
    const HEAD: &[&str] =
        &[DISPATCH_WGSL, TYPES, NARROW, wgsl!("../../../shaders/collide/narrow_phase/refine_append.wgsl")];
    const VERDICTS: &[Binding] = &[read_write("refine", "RefineList"), read_write("verdicts", "array<u32>")];
    Kernel {
        label,
        sources: parts([HEAD, pairs.sources, pairs.apart, SHAPES, pairs.plane, main]),
        workgroup_size: 64,
        trust: Trust::Loops(PAIR_LOOPS),
        bindings: parts([BODIES, pairs.bindings, VERDICTS, data]),
    }
}

/// A kernel that runs EPA on the pairs of the refine list.
const fn refine(
    label: &'static str,
    pairs: PairSource,
    main: &'static [&'static str],
    data: &'static [Binding],
) -> Kernel {
    const HEAD: &[&str] = &[DISPATCH_WGSL, TYPES, NARROW, REFINE_LIST];
    const VERDICTS: &[Binding] = &[read("refine", "RefineList"), read_write("verdicts", "array<u32>")];
    Kernel {
        label,
        sources: parts([HEAD, pairs.sources, SHAPES, main]),
        workgroup_size: 64,
        trust: Trust::Loops(PAIR_LOOPS),
        bindings: parts([BODIES, pairs.bindings, VERDICTS, data]),
    }
}

/// A kernel that writes the rows of the pairs that have one.
pub(crate) const fn write(
    label: &'static str,
    pairs: PairSource,
    main: &'static [&'static str],
    rows: &'static [Binding],
) -> Kernel {
    const VERDICTS: &[Binding] =
        &[uniform("params", "NarrowParams"), read("refine", "RefineList"), read("verdicts", "array<u32>")];
    Kernel {
        label,
        sources: parts([&[DISPATCH_WGSL, NARROW, REFINE_LIST], pairs.sources, main]),
        workgroup_size: COMPACTION_GROUP,
        trust: Trust::Checked,
        bindings: parts([VERDICTS, pairs.bindings, rows]),
    }
}

/// The entry point of kernels that define `decide` and `search`.
pub(crate) const SEARCH_MAIN: &str = wgsl!("../../../shaders/collide/narrow_phase/search.wgsl");
const GJK_MAIN: &[&str] =
    &[GJK_CORE, wgsl!("../../../shaders/collide/narrow_phase/verdict.wgsl"), SEARCH_MAIN];
pub(crate) static GJK: Kernel = search("hullfield.collide.gjk", LISTED, GJK_MAIN, AXES);
pub(crate) static GJK_EXHAUSTIVE: Kernel =
    search("hullfield.collide.gjk_exhaustive", EXHAUSTIVE, GJK_MAIN, AXES);
pub(crate) static GJK_EXHAUSTIVE_PLAIN: Kernel =
    search("hullfield.collide.gjk_exhaustive_plain", EXHAUSTIVE_PLAIN, GJK_MAIN, AXES);

const EPA_MAIN: &[&str] = &[
    GJK_CORE,
    DISTANCE_CORE,
    POLYTOPE,
    wgsl!("../../../shaders/collide/epa/verdict.wgsl"),
    wgsl!("../../../shaders/collide/narrow_phase/verdict_refine.wgsl"),
];
pub(crate) static EPA: Kernel = refine("hullfield.collide.epa", LISTED, EPA_MAIN, AXES);
pub(crate) static EPA_EXHAUSTIVE: Kernel =
    refine("hullfield.collide.epa_exhaustive", EXHAUSTIVE, EPA_MAIN, AXES);

pub(crate) static HIT_COUNT: Kernel = Kernel {
    label: "hullfield.collide.hit_count",
    sources: only(&[
        DISPATCH_WGSL,
        NARROW,
        REFINE_LIST,
        BLOCK_PREFIX_WGSL,
        wgsl!("../../../shaders/collide/narrow_phase/hit_count.wgsl"),
    ]),
    workgroup_size: COMPACTION_GROUP,
    trust: Trust::Checked,
    bindings: only(&[
        uniform("params", "NarrowParams"),
        read("refine", "RefineList"),
        read("verdicts", "array<u32>"),
        read_write("offsets", "array<u32>"),
        read_write("row_sums", "array<u32>"),
    ]),
};

pub(crate) const HIT_WRITE_SOURCE: &str = wgsl!("../../../shaders/collide/narrow_phase/hit_write.wgsl");
const HIT_WRITE_MAIN: &[&str] =
    &[wgsl!("../../../shaders/collide/narrow_phase/hit_row.wgsl"), HIT_WRITE_SOURCE];
const HITS: &[Binding] =
    &[read("offsets", "array<u32>"), read_write("row_sums", "array<u32>"), read_write("hits", "array<u32>")];
pub(crate) static HIT_WRITE: Kernel = write("hullfield.collide.hit_write", LISTED, HIT_WRITE_MAIN, HITS);
pub(crate) static HIT_WRITE_EXHAUSTIVE: Kernel =
    write("hullfield.collide.hit_write_exhaustive", EXHAUSTIVE, HIT_WRITE_MAIN, HITS);

const MEASURE_MAIN: &[&str] = &[
    GJK_CORE,
    DISTANCE_CORE,
    MEASURED_CODES,
    MEASURE_OUT,
    wgsl!("../../../shaders/collide/narrow_phase/measure.wgsl"),
    SEARCH_MAIN,
];
pub(crate) static MEASURE: Kernel = search("hullfield.collide.measure", LISTED, MEASURE_MAIN, MEASURES_OUT);
pub(crate) static MEASURE_EXHAUSTIVE: Kernel =
    search("hullfield.collide.measure_exhaustive", EXHAUSTIVE, MEASURE_MAIN, MEASURES_OUT);
pub(crate) static MEASURE_EXHAUSTIVE_PLAIN: Kernel =
    search("hullfield.collide.measure_exhaustive_plain", EXHAUSTIVE_PLAIN, MEASURE_MAIN, MEASURES_OUT);

const DEPTH_MAIN: &[&str] = &[
    GJK_CORE,
    DISTANCE_CORE,
    POLYTOPE,
    wgsl!("../../../shaders/collide/epa/depth.wgsl"),
    MEASURED_CODES,
    MEASURE_OUT,
    wgsl!("../../../shaders/collide/narrow_phase/measure_refine.wgsl"),
];
pub(crate) static DEPTH: Kernel = refine("hullfield.collide.depth", LISTED, DEPTH_MAIN, MEASURES_OUT);
pub(crate) static DEPTH_EXHAUSTIVE: Kernel =
    refine("hullfield.collide.depth_exhaustive", EXHAUSTIVE, DEPTH_MAIN, MEASURES_OUT);

const HIT_WRITE_MEASURED_MAIN: &[&str] =
    &[MEASURED_CODES, wgsl!("../../../shaders/collide/narrow_phase/hit_row_measured.wgsl"), HIT_WRITE_SOURCE];
pub(crate) const MEASURED_ROWS: &[Binding] = &[
    read("offsets", "array<u32>"),
    read_write("row_sums", "array<u32>"),
    read("measures", "array<vec4f>"),
    read_write("rows", "array<vec4u>"),
];
pub(crate) static HIT_WRITE_MEASURED: Kernel =
    write("hullfield.collide.hit_write_measured", LISTED, HIT_WRITE_MEASURED_MAIN, MEASURED_ROWS);
pub(crate) static HIT_WRITE_MEASURED_EXHAUSTIVE: Kernel = write(
    "hullfield.collide.hit_write_measured_exhaustive",
    EXHAUSTIVE,
    HIT_WRITE_MEASURED_MAIN,
    MEASURED_ROWS,
);

pub(crate) static DEVICE_COUNTS: Kernel = Kernel {
    label: "hullfield.collide.device_counts",
    sources: only(&[DISPATCH_WGSL, DEVICE_ROWS, wgsl!("../../../shaders/collide/query/device_counts.wgsl")]),
    workgroup_size: 256,
    trust: Trust::Checked,
    bindings: only(&[
        uniform("params", "DeviceParams"),
        read("pair_total", "array<u32>"),
        read("heavy", "array<u32>"),
        read("row_total", "array<u32>"),
        read("rows", "array<u32>"),
        read_write("counts", "CountsOut"),
        read_write("unsettled", "array<u32>"),
    ]),
};

/// Clips the features that meet along the normals of measured rows.
pub(crate) static MANIFOLD: Kernel = Kernel {
    label: "hullfield.collide.manifold",
    sources: only(&[
        DISPATCH_WGSL,
        TYPES,
        ROTATION,
        DEVICE_ROWS,
        wgsl!("../../../shaders/collide/narrow_phase/manifold.wgsl"),
    ]),
    workgroup_size: 64,
    trust: Trust::Checked,
    bindings: only(&[
        uniform("params", "ManifoldParams"),
        read("bodies", "array<PackedBody>"),
        read("hulls", "array<HullRecord>"),
        read("vertices", "array<vec4f>"),
        read("features", "array<u32>"),
        read("measured", "array<MeasuredRow>"),
        read("counts", "DeviceCounts"),
        read_write("rows", "array<ManifoldRow>"),
    ]),
};

/// Turns the length of the refine list into the workgroup counts of the dispatches that refine it.
pub(crate) static REFINE_GROUPS: Kernel = Kernel {
    label: "hullfield.collide.refine_groups",
    sources: only(&[
        DISPATCH_WGSL,
        REFINE_LIST,
        wgsl!("../../../shaders/collide/narrow_phase/refine_groups.wgsl"),
    ]),
    workgroup_size: 64,
    trust: Trust::Checked,
    bindings: only(&[
        uniform("params", "RefineGroupsParams"),
        read("refine", "RefineList"),
        read_write("counts", "array<u32>"),
    ]),
};

/// The kernels of a narrow phase, each for listed pairs and for all pairs.
#[derive(Debug)]
pub(crate) struct Stages {
    /// Runs before GJK and reads the bodies' motions; only for sweeps.
    pub(crate) prepare: Option<[&'static Kernel; 2]>,
    /// GJK; the third is for all pairs of bodies without groups and half-spaces.
    pub(crate) search: [&'static Kernel; 3],
    /// EPA.
    pub(crate) refine: [&'static Kernel; 2],
    /// The rows.
    pub(crate) write: [&'static Kernel; 2],
    /// Words of a row.
    pub(crate) row_words: usize,
    /// Words that the search writes for a pair besides its verdict.
    pub(crate) data_words: usize,
    /// Whether the rows contain them.
    pub(crate) rows_have_data: bool,
    pub(crate) row_label: &'static str,
    pub(crate) data_label: &'static str,
    /// The cost of a pair, as a multiple of that of a verdict.
    pub(crate) effort: u64,
}

/// Verdicts alone.
pub(crate) static VERDICTS: Stages = Stages {
    prepare: None,
    search: [&GJK, &GJK_EXHAUSTIVE, &GJK_EXHAUSTIVE_PLAIN],
    refine: [&EPA, &EPA_EXHAUSTIVE],
    write: [&HIT_WRITE, &HIT_WRITE_EXHAUSTIVE],
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
    search: [&MEASURE, &MEASURE_EXHAUSTIVE, &MEASURE_EXHAUSTIVE_PLAIN],
    refine: [&DEPTH, &DEPTH_EXHAUSTIVE],
    write: [&HIT_WRITE_MEASURED, &HIT_WRITE_MEASURED_EXHAUSTIVE],
    row_words: 12,
    data_words: 8,
    rows_have_data: true,
    row_label: "hullfield.collide.measured",
    data_label: "hullfield.collide.measures",
    effort: 3,
};

/// The kernels of this folder, for the module `inspect`.
#[cfg(any(feature = "inspect", test))]
pub(crate) static KERNELS: &[&Kernel] = &[
    &SPHERES,
    &GJK,
    &GJK_EXHAUSTIVE,
    &GJK_EXHAUSTIVE_PLAIN,
    &EPA,
    &EPA_EXHAUSTIVE,
    &HIT_COUNT,
    &HIT_WRITE,
    &HIT_WRITE_EXHAUSTIVE,
    &MEASURE,
    &MEASURE_EXHAUSTIVE,
    &MEASURE_EXHAUSTIVE_PLAIN,
    &DEPTH,
    &DEPTH_EXHAUSTIVE,
    &HIT_WRITE_MEASURED,
    &HIT_WRITE_MEASURED_EXHAUSTIVE,
    &DEVICE_COUNTS,
    &REFINE_GROUPS,
    &MANIFOLD,
];

/// Words of a hull's table of features before its faces, and words of a face: constants of `shaders/collide/narrow_phase/manifold.wgsl`.
pub(crate) const TABLE_HEAD: usize = 3;
pub(crate) const FACE_WORDS: usize = 6;

/// Verdicts that one thread of the compaction reads: `RUN` in `shaders/collide/narrow_phase/params.wgsl`.
pub(crate) const RUN: usize = 16;
/// Threads of a workgroup of the compaction: those that count rows and those that write them have the same runs.
pub(crate) const COMPACTION_GROUP: u32 = 256;
/// Where the rows of each workgroup begin: `ROW_SUMS` in `shaders/collide/narrow_phase/params.wgsl`.
pub(crate) const ROW_SUMS: usize = 3;

/// As in `shaders/collide/narrow_phase/params.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct NarrowParams {
    pub(crate) zero: u32,
    pub(crate) first: u32,
    pub(crate) window_begin: u32,
    pub(crate) window_len: u32,
    pub(crate) body_count: u32,
    pub(crate) exhaustive_row: u32,
    pub(crate) exhaustive_column: u32,
    pub(crate) write_axes: u32,
    pub(crate) margin: f32,
    pub(crate) with_depth: u32,
    pub(crate) keep_all: u32,
    pub(crate) duration: f32,
    pub(crate) column_count: u32,
    pub(crate) row_begin: u32,
    pub(crate) is_later_window: u32,
    pub(crate) padding_0: u32,
}

/// As in `shaders/collide/query/device_counts.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct DeviceParams {
    pub(crate) row_words: u32,
    pub(crate) row_room: u32,
    pub(crate) row_begin: u32,
    pub(crate) total_room: u32,
    pub(crate) pair_room: u32,
    pub(crate) heavy_room: u32,
    pub(crate) row_limit: u32,
    pub(crate) padding: u32,
}

/// As in `shaders/collide/narrow_phase/manifold.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct ManifoldParams {
    pub(crate) margin: f32,
    pub(crate) row_room: u32,
    pub(crate) padding_0: u32,
    pub(crate) padding_1: u32,
}

/// As in `shaders/collide/narrow_phase/refine_groups.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct RefineGroupsParams {
    pub(crate) piece_len: u32,
    pub(crate) piece_count: u32,
    pub(crate) group_size: u32,
    pub(crate) padding: u32,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::collide::hull::record::HullRecord;
    use crate::collide::hull::support::VERTEX_GROUP;
    use crate::collide::narrow_phase::verdict::{POLYTOPE_FACES, POLYTOPE_POINTS};
    use crate::collide::query::device_rows::{
        DeviceCounts, IntersectionRow, ManifoldRow, MeasuredRow, SweptRow,
    };
    use crate::collide::scene::packed_body::PackedBody;

    /// Fails if a host struct and the struct of its name in a kernel's WGSL differ in layout.
    macro_rules! same_layout {
        ($kernel:expr, $host:ident { $($field:ident),+ $(,)? }) => {{
            use $crate::gpu::layout::{compare, host_struct};
            compare(&$kernel.wgsl(), stringify!($host), &host_struct!($host { $($field),+ })).unwrap()
        }};
    }
    pub(crate) use same_layout;

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
                half_space,
                inner_radius,
                padding
            }
        );
        same_layout!(
            DEVICE_COUNTS,
            DeviceParams {
                row_words,
                row_room,
                row_begin,
                total_room,
                pair_room,
                heavy_room,
                row_limit,
                padding
            }
        );
        same_layout!(MANIFOLD, ManifoldParams { margin, row_room, padding_0, padding_1 });
        same_layout!(
            MANIFOLD,
            ManifoldRow { a, b, status, gap, normal, point_count, points, anchor, error, padding }
        );
        same_layout!(REFINE_GROUPS, RefineGroupsParams { piece_len, piece_count, group_size, padding });
        same_layout!(DEVICE_COUNTS, SweptRow { a, b, outcome, time, normal, rest });
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
                exhaustive_row,
                exhaustive_column,
                write_axes,
                margin,
                with_depth,
                keep_all,
                duration,
                column_count,
                row_begin,
                is_later_window,
                padding_0
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
        assert_eq!(
            constant(&GJK, "ITERATION_LIMIT"),
            f64::from(crate::collide::gjk::verdict::ITERATION_LIMIT)
        );
        assert_eq!(constant(&GJK, "VERTEX_GROUP"), VERTEX_GROUP as f64);
        assert_eq!(constant(&HIT_COUNT, "RUN"), RUN as f64);
        assert_eq!(constant(&HIT_COUNT, "ROW_SUMS"), ROW_SUMS as f64);
        assert!((constant(&MANIFOLD, "LEVEL") - crate::collide::narrow_phase::manifold::LEVEL).abs() < 1e-8);
        assert_eq!(constant(&MANIFOLD, "TABLE_HEAD"), TABLE_HEAD as f64);
        assert_eq!(constant(&MANIFOLD, "FACE_WORDS"), FACE_WORDS as f64);
        assert_eq!(constant(&EPA, "VERDICT_POINTS"), POLYTOPE_POINTS as f64);
        assert!(constant(&EPA, "POLYTOPE_FACES") >= POLYTOPE_FACES as f64);
    }
}
