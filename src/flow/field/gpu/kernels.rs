//! The kernels of fields, and the structs that they share with the host.

use bytemuck::{Pod, Zeroable};

use crate::flow::grid::cells::Grid;
use crate::flow::grid::moves::Corners;
use crate::gpu::DISPATCH_WGSL;
use crate::gpu::kernel::{Kernel, Trust, dynamic_uniform, only, read, read_write, uniform};
use crate::gpu::wgsl::wgsl;

/// Words of the state before those of the fields: see `shaders/flow/field/params.wgsl`.
pub(crate) const HEADER: usize = 8;
/// Words of the state of one field.
pub(crate) const FIELD_WORDS: usize = 8;
/// The first of the words of the header that hold, for each phase, how many tiles were still active after the rounds of
/// a frame.
pub(crate) const ACTIVE_COUNT: usize = 3;

/// The state of a field on the device.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct FieldState {
    /// The largest distance that a cell may get.
    pub(crate) limit: u32,
    /// The number of reached cells.
    pub(crate) reached: u32,
    /// The largest distance of a reached cell.
    pub(crate) farthest: u32,
    /// The least index of a cell that has a reached neighbour, but whose distance exceeds the limit or 32 bits;
    /// UNREACHABLE if there is none.
    pub(crate) overflow: u32,
    /// 1 once all targets of the field are reached.
    pub(crate) settled: u32,
    pub(crate) unused: [u32; 3],
}

/// The parameters of nearly all kernels: the grid, its tiles, and the strip of the dispatch.
/// `shaders/flow/field/params.wgsl` documents the fields.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct FlowParams {
    pub(crate) size: [u32; 3],
    pub(crate) field_count: u32,
    pub(crate) tiles: [u32; 3],
    pub(crate) tile_count: u32,
    pub(crate) tile_size: [u32; 3],
    pub(crate) row_words: u32,
    pub(crate) first_cell: u32,
    pub(crate) cell_count: u32,
    pub(crate) halo: u32,
    pub(crate) field_pitch: u32,
    pub(crate) strip: u32,
    pub(crate) strip_count: u32,
    pub(crate) strip_tiles: u32,
    pub(crate) is_weighted: u32,
    pub(crate) move_count: u32,
    pub(crate) corner_rule: u32,
    pub(crate) is_escape: u32,
    pub(crate) target_count: u32,
    pub(crate) moves: [[i32; 4]; 26],
}

/// What differs between the dispatches of the rounds.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct RoundParams {
    pub(crate) round: u32,
    pub(crate) slot: u32,
    pub(crate) next_slot: u32,
    pub(crate) phase: u32,
}

/// The parameters of the kernel for small grids. `shaders/flow/field/small.wgsl` documents the fields.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct SmallParams {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) row_words: u32,
    pub(crate) columns: u32,
    pub(crate) blocks: u32,
    pub(crate) field_count: u32,
    pub(crate) field_pitch: u32,
    pub(crate) level_limit: u32,
    pub(crate) limit: u32,
    pub(crate) has_obstacles: u32,
    pub(crate) padding_0: u32,
    pub(crate) padding_1: u32,
}

impl FlowParams {
    /// Sets the moves of a grid and the lengths of their steps.
    pub(crate) fn set_moves(&mut self, grid: &Grid) {
        let connectivity = grid.connectivity();
        for (code, (target, &[x, y, z])) in (0..).zip(self.moves.iter_mut().zip(connectivity.offsets())) {
            *target = [x, y, z, connectivity.step(code) as i32];
        }
        self.move_count = connectivity.neighbour_count() as u32;
        self.corner_rule = corner_rule(connectivity.corners());
    }

    /// The parameters for the wave out of obstacles, in which each move counts as 1 and corner rules do not apply.
    pub(crate) fn for_escape(mut self) -> Self {
        self.moves.iter_mut().for_each(|step| step[3] = 1);
        self.corner_rule = corner_rule(Corners::Any);
        self.is_escape = 1;
        self
    }
}

pub(crate) const PARAMS_WGSL: &str = wgsl!("../../../../shaders/flow/field/params.wgsl");
const QUEUE_WGSL: &str = wgsl!("../../../../shaders/flow/field/queue.wgsl");
const DEQUEUE_WGSL: &str = wgsl!("../../../../shaders/flow/field/dequeue.wgsl");
pub(crate) const BLOCKED_WGSL: &str = wgsl!("../../../../shaders/flow/grid/blocked.wgsl");
pub(crate) const MOVES_WGSL: &str = wgsl!("../../../../shaders/flow/grid/moves.wgsl");
const SEED_WGSL: &str = wgsl!("../../../../shaders/flow/field/seed.wgsl");
const FIELD_MOVES_WGSL: &str = wgsl!("../../../../shaders/flow/field/field_moves.wgsl");
const CHANGED_TILES_WGSL: &str = wgsl!("../../../../shaders/flow/field/changed_tiles.wgsl");
const FACES_WGSL: &str = wgsl!("../../../../shaders/flow/field/faces.wgsl");

/// The number of a corner rule in the shaders: see `shaders/flow/grid/moves.wgsl`.
pub(crate) fn corner_rule(corners: Corners) -> u32 {
    match corners {
        Corners::BothFree => 0,
        Corners::OneFree => 1,
        Corners::Any => 2,
    }
}

const PARAMS: crate::gpu::kernel::Binding = uniform("params", "FlowParams");
const ROUND_PARAMS: crate::gpu::kernel::Binding = dynamic_uniform("round_params", "RoundParams");
const STATE: crate::gpu::kernel::Binding = read_write("state", "array<atomic<u32>>");
const QUEUE: crate::gpu::kernel::Binding = read_write("queue", "array<atomic<u32>>");
const COUNTS_OUT: crate::gpu::kernel::Binding = read_write("counts_out", "array<atomic<u32>>");

pub(crate) static FILL: Kernel = Kernel {
    label: "hullfield.flow.fill",
    sources: only(&[DISPATCH_WGSL, wgsl!("../../../../shaders/flow/field/fill.wgsl")]),
    workgroup_size: 256,
    trust: Trust::Checked,
    bindings: only(&[read_write("distances", "array<u32>")]),
};

pub(crate) static INIT_PLANES: Kernel = Kernel {
    label: "hullfield.flow.init_planes",
    sources: only(&[
        DISPATCH_WGSL,
        PARAMS_WGSL,
        BLOCKED_WGSL,
        wgsl!("../../../../shaders/flow/field/init_planes.wgsl"),
    ]),
    workgroup_size: 256,
    trust: Trust::Checked,
    bindings: only(&[
        PARAMS,
        read("blocked", "array<u32>"),
        read_write("planes_even", "array<vec2<u32>>"),
        read_write("planes_odd", "array<vec2<u32>>"),
    ]),
};

pub(crate) static SEED_PLANES: Kernel = Kernel {
    label: "hullfield.flow.seed_planes",
    sources: only(&[
        DISPATCH_WGSL,
        PARAMS_WGSL,
        QUEUE_WGSL,
        wgsl!("../../../../shaders/flow/field/mark_planes.wgsl"),
        SEED_WGSL,
    ]),
    workgroup_size: 64,
    trust: Trust::Checked,
    bindings: only(&[
        PARAMS,
        ROUND_PARAMS,
        read("goals", "array<vec2<u32>>"),
        read_write("distances", "array<u32>"),
        QUEUE,
        COUNTS_OUT,
        read_write("planes_even", "array<atomic<u32>>"),
        read_write("planes_odd", "array<atomic<u32>>"),
    ]),
};

pub(crate) static SEED: Kernel = Kernel {
    label: "hullfield.flow.seed",
    sources: only(&[
        DISPATCH_WGSL,
        PARAMS_WGSL,
        QUEUE_WGSL,
        wgsl!("../../../../shaders/flow/field/mark_none.wgsl"),
        SEED_WGSL,
    ]),
    workgroup_size: 64,
    trust: Trust::Checked,
    bindings: only(&[
        PARAMS,
        ROUND_PARAMS,
        read("goals", "array<vec2<u32>>"),
        read_write("distances", "array<u32>"),
        QUEUE,
        COUNTS_OUT,
    ]),
};

pub(crate) static WAVE: Kernel = Kernel {
    label: "hullfield.flow.wave",
    sources: only(&[
        DISPATCH_WGSL,
        PARAMS_WGSL,
        QUEUE_WGSL,
        DEQUEUE_WGSL,
        wgsl!("../../../../shaders/flow/field/wave.wgsl"),
    ]),
    workgroup_size: 256,
    trust: Trust::LoopsAndIndices(
        "constant bounds; the queue holds numbers of tiles only, a bit is open only where the grid has a cell, and the window in \
         workgroup memory has a border",
    ),
    bindings: only(&[
        PARAMS,
        ROUND_PARAMS,
        read("planes_in", "array<vec2<u32>>"),
        read_write("planes_out", "array<vec2<u32>>"),
        read_write("distances", "array<u32>"),
        QUEUE,
        read("counts_in", "array<u32>"),
        COUNTS_OUT,
        STATE,
    ]),
};

const RELAX_BINDINGS: &[crate::gpu::kernel::Binding] = &[
    PARAMS,
    ROUND_PARAMS,
    read_write("distances", "array<atomic<u32>>"),
    read("blocked", "array<u32>"),
    read("costs", "array<u32>"),
    QUEUE,
    read("counts_in", "array<u32>"),
    COUNTS_OUT,
    STATE,
];

pub(crate) static RELAX_2D: Kernel = Kernel {
    label: "hullfield.flow.relax_2d",
    sources: only(&[
        DISPATCH_WGSL,
        PARAMS_WGSL,
        QUEUE_WGSL,
        DEQUEUE_WGSL,
        BLOCKED_WGSL,
        MOVES_WGSL,
        FACES_WGSL,
        wgsl!("../../../../shaders/flow/field/relax_2d.wgsl"),
    ]),
    // Four lines of as many cells as a tile has along an edge.
    workgroup_size: 128,
    trust: Trust::Loops("constant bounds"),
    bindings: only(RELAX_BINDINGS),
};

pub(crate) static RELAX_3D: Kernel = Kernel {
    label: "hullfield.flow.relax_3d",
    sources: only(&[
        DISPATCH_WGSL,
        PARAMS_WGSL,
        QUEUE_WGSL,
        DEQUEUE_WGSL,
        BLOCKED_WGSL,
        MOVES_WGSL,
        FACES_WGSL,
        wgsl!("../../../../shaders/flow/field/relax_3d.wgsl"),
    ]),
    workgroup_size: 256,
    trust: Trust::Loops("constant bounds, the number of moves, and a bit cleared a round"),
    bindings: only(RELAX_BINDINGS),
};

pub(crate) static SEED_CHANGES: Kernel = Kernel {
    label: "hullfield.flow.seed_changes",
    sources: only(&[
        DISPATCH_WGSL,
        PARAMS_WGSL,
        QUEUE_WGSL,
        CHANGED_TILES_WGSL,
        BLOCKED_WGSL,
        wgsl!("../../../../shaders/flow/field/seed_changes.wgsl"),
    ]),
    workgroup_size: 64,
    trust: Trust::Checked,
    bindings: only(&[
        PARAMS,
        ROUND_PARAMS,
        read("changes", "array<vec2<u32>>"),
        read_write("distances", "array<u32>"),
        read("blocked", "array<u32>"),
        QUEUE,
        COUNTS_OUT,
    ]),
};

pub(crate) static INVALIDATE: Kernel = Kernel {
    label: "hullfield.flow.invalidate",
    sources: only(&[
        DISPATCH_WGSL,
        PARAMS_WGSL,
        QUEUE_WGSL,
        DEQUEUE_WGSL,
        CHANGED_TILES_WGSL,
        BLOCKED_WGSL,
        MOVES_WGSL,
        wgsl!("../../../../shaders/flow/field/atomic_distances.wgsl"),
        FIELD_MOVES_WGSL,
        FACES_WGSL,
        wgsl!("../../../../shaders/flow/field/invalidate.wgsl"),
    ]),
    // Four cells of a tile for each invocation.
    workgroup_size: 256,
    trust: Trust::Checked,
    bindings: only(RELAX_BINDINGS),
};

pub(crate) static ACTIVATE_CHANGED: Kernel = Kernel {
    label: "hullfield.flow.activate_changed",
    sources: only(&[
        DISPATCH_WGSL,
        PARAMS_WGSL,
        QUEUE_WGSL,
        CHANGED_TILES_WGSL,
        wgsl!("../../../../shaders/flow/field/activate_changed.wgsl"),
    ]),
    workgroup_size: 256,
    trust: Trust::Checked,
    bindings: only(&[PARAMS, ROUND_PARAMS, QUEUE, COUNTS_OUT, STATE]),
};

pub(crate) static SMALL: Kernel = Kernel {
    label: "hullfield.flow.small",
    sources: only(&[DISPATCH_WGSL, wgsl!("../../../../shaders/flow/field/small.wgsl")]),
    workgroup_size: 256,
    trust: Trust::Checked,
    bindings: only(&[
        uniform("params", "SmallParams"),
        ROUND_PARAMS,
        read("blocked", "array<u32>"),
        read("goals", "array<u32>"),
        read_write("distances", "array<u32>"),
        read_write("codes", "array<u32>"),
        read_write("saved", "array<u32>"),
        read("counts_in", "array<u32>"),
        COUNTS_OUT,
        STATE,
    ]),
};

pub(crate) static COUNT_ACTIVE: Kernel = Kernel {
    label: "hullfield.flow.count_active",
    sources: only(&[PARAMS_WGSL, wgsl!("../../../../shaders/flow/field/count_active.wgsl")]),
    workgroup_size: 1,
    trust: Trust::Checked,
    bindings: only(&[PARAMS, ROUND_PARAMS, read("counts_in", "array<u32>"), STATE]),
};

pub(crate) static GATHER_TARGETS: Kernel = Kernel {
    label: "hullfield.flow.gather_targets",
    sources: only(&[DISPATCH_WGSL, PARAMS_WGSL, wgsl!("../../../../shaders/flow/field/gather_targets.wgsl")]),
    workgroup_size: 64,
    trust: Trust::Checked,
    bindings: only(&[
        PARAMS,
        read("targets", "array<u32>"),
        read("distances", "array<u32>"),
        read_write("gathered", "array<u32>"),
    ]),
};

pub(crate) static LIMIT_BY_TARGETS: Kernel = Kernel {
    label: "hullfield.flow.limit_by_targets",
    sources: only(&[
        DISPATCH_WGSL,
        PARAMS_WGSL,
        wgsl!("../../../../shaders/flow/field/limit_by_targets.wgsl"),
    ]),
    workgroup_size: 64,
    trust: Trust::Checked,
    bindings: only(&[PARAMS, read("gathered", "array<u32>"), STATE]),
};

pub(crate) static APPLY_LIMIT: Kernel = Kernel {
    label: "hullfield.flow.apply_limit",
    sources: only(&[DISPATCH_WGSL, PARAMS_WGSL, wgsl!("../../../../shaders/flow/field/apply_limit.wgsl")]),
    workgroup_size: 256,
    trust: Trust::Checked,
    bindings: only(&[PARAMS, read_write("distances", "array<u32>"), STATE]),
};

pub(crate) static ESCAPE_PLANES: Kernel = Kernel {
    label: "hullfield.flow.escape_planes",
    sources: only(&[
        DISPATCH_WGSL,
        PARAMS_WGSL,
        QUEUE_WGSL,
        BLOCKED_WGSL,
        wgsl!("../../../../shaders/flow/field/escape_planes.wgsl"),
    ]),
    workgroup_size: 256,
    trust: Trust::Checked,
    bindings: only(&[
        PARAMS,
        ROUND_PARAMS,
        read("blocked", "array<u32>"),
        read("distances", "array<u32>"),
        read_write("planes_even", "array<vec2<u32>>"),
        read_write("planes_odd", "array<vec2<u32>>"),
        QUEUE,
        COUNTS_OUT,
        STATE,
    ]),
};

pub(crate) static ESCAPE_TILES: Kernel = Kernel {
    label: "hullfield.flow.escape_tiles",
    sources: only(&[
        DISPATCH_WGSL,
        PARAMS_WGSL,
        QUEUE_WGSL,
        wgsl!("../../../../shaders/flow/field/escape_tiles.wgsl"),
    ]),
    workgroup_size: 256,
    trust: Trust::Checked,
    bindings: only(&[PARAMS, ROUND_PARAMS, read("blocked", "array<u32>"), QUEUE, COUNTS_OUT, STATE]),
};

pub(crate) static CODES: Kernel = Kernel {
    label: "hullfield.flow.codes",
    sources: only(&[
        DISPATCH_WGSL,
        PARAMS_WGSL,
        BLOCKED_WGSL,
        MOVES_WGSL,
        wgsl!("../../../../shaders/flow/field/plain_distances.wgsl"),
        FIELD_MOVES_WGSL,
        wgsl!("../../../../shaders/flow/field/codes.wgsl"),
    ]),
    workgroup_size: 256,
    trust: Trust::Loops("constant bounds and the number of moves"),
    bindings: only(&[
        PARAMS,
        uniform("piece", "vec4<u32>"),
        read("distances", "array<u32>"),
        read("blocked", "array<u32>"),
        read("costs", "array<u32>"),
        read_write("codes", "array<u32>"),
        STATE,
    ]),
};

pub(crate) static RESET_OBSTACLES: Kernel = Kernel {
    label: "hullfield.flow.reset_obstacles",
    sources: only(&[
        DISPATCH_WGSL,
        PARAMS_WGSL,
        BLOCKED_WGSL,
        wgsl!("../../../../shaders/flow/field/reset_obstacles.wgsl"),
    ]),
    workgroup_size: 256,
    trust: Trust::Checked,
    bindings: only(&[
        PARAMS,
        uniform("piece", "vec4<u32>"),
        read_write("distances", "array<u32>"),
        read("blocked", "array<u32>"),
        STATE,
    ]),
};

pub(crate) static HALO: Kernel = Kernel {
    label: "hullfield.flow.halo",
    sources: only(&[DISPATCH_WGSL, wgsl!("../../../../shaders/flow/field/halo.wgsl")]),
    workgroup_size: 256,
    trust: Trust::Checked,
    bindings: only(&[
        uniform("piece", "vec4<u32>"),
        read_write("before", "array<u32>"),
        read_write("after", "array<u32>"),
    ]),
};

/// All kernels, for the tests of the GPU floor and the module `inspect`.
#[cfg(any(feature = "inspect", test))]
pub(crate) static KERNELS: &[&Kernel] = &[
    &FILL,
    &INIT_PLANES,
    &SEED_PLANES,
    &SEED,
    &WAVE,
    &RELAX_2D,
    &RELAX_3D,
    &SEED_CHANGES,
    &INVALIDATE,
    &ACTIVATE_CHANGED,
    &SMALL,
    &COUNT_ACTIVE,
    &GATHER_TARGETS,
    &LIMIT_BY_TARGETS,
    &APPLY_LIMIT,
    &ESCAPE_PLANES,
    &ESCAPE_TILES,
    &CODES,
    &RESET_OBSTACLES,
    &HALO,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::layout::{compare, host_struct};

    #[test]
    fn host_structs_match_the_shaders() {
        let params = host_struct!(FlowParams {
            size,
            field_count,
            tiles,
            tile_count,
            tile_size,
            row_words,
            first_cell,
            cell_count,
            halo,
            field_pitch,
            strip,
            strip_count,
            strip_tiles,
            is_weighted,
            move_count,
            corner_rule,
            is_escape,
            target_count,
            moves,
        });
        let round_params = host_struct!(RoundParams { round, slot, next_slot, phase });
        let small = host_struct!(SmallParams {
            width,
            height,
            row_words,
            columns,
            blocks,
            field_count,
            field_pitch,
            level_limit,
            limit,
            has_obstacles,
            padding_0,
            padding_1,
        });
        compare(&SMALL.wgsl(), "SmallParams", &small).unwrap();
        compare(&SMALL.wgsl(), "RoundParams", &round_params).unwrap();
        for kernel in KERNELS {
            let wgsl = kernel.wgsl();
            if wgsl.contains("struct FlowParams") {
                compare(&wgsl, "FlowParams", &params).unwrap();
                compare(&wgsl, "RoundParams", &round_params).unwrap();
            }
        }
    }

    #[test]
    fn state_words_match_the_shaders() {
        let state = host_struct!(FieldState { limit, reached, farthest, overflow, settled, unused });
        assert_eq!(state.size, 4 * FIELD_WORDS);
        for (name, word) in [("HEADER", HEADER), ("FIELD_WORDS", FIELD_WORDS), ("ACTIVE_COUNT", ACTIVE_COUNT)]
            .into_iter()
            .chain(state.fields[..5].iter().map(|&(name, offset)| (name, offset / 4)))
        {
            let line = format!("const {}: u32 = {word}u;", name.to_uppercase());
            assert!(PARAMS_WGSL.contains(&line), "{line}");
            // The kernel of small grids has only some of these constants.
            let small = SMALL.wgsl();
            assert!(
                small.contains(&line) || !small.contains(&format!("const {}:", name.to_uppercase())),
                "{line}"
            );
        }
    }
}
