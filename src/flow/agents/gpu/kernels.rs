//! The kernels for agents, and the structs that they share with the host.

use bytemuck::{Pod, Zeroable};

use crate::flow::field::gpu::kernels::{BLOCKED_WGSL, MOVES_WGSL, PARAMS_WGSL};
use crate::flow::grid::cells::Grid;
use crate::gpu::DISPATCH_WGSL;
use crate::gpu::kernel::Binding;
use crate::gpu::kernel::{Kernel, Trust, only, read, read_write, uniform};
use crate::gpu::wgsl::wgsl;

/// The parameters of the kernels: a strip of a field, and the agents. `shaders/flow/agents/params.wgsl` documents the
/// fields.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(crate) struct AgentParams {
    pub(crate) first_cell: u32,
    pub(crate) cell_count: u32,
    pub(crate) first_distance: u32,
    pub(crate) first_word: u32,
    pub(crate) agent_count: u32,
    pub(crate) step_limit: u32,
    pub(crate) stamp: u32,
    pub(crate) is_counted: u32,
    pub(crate) window_len: u32,
    pub(crate) padding_0: u32,
    pub(crate) padding_1: u32,
    pub(crate) padding_2: u32,
    pub(crate) strides: [[u32; 4]; 7],
}

/// An agent that follows its path.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct Walker {
    pub(crate) cell: u32,
    pub(crate) step_count: u32,
    pub(crate) slot: u32,
    pub(crate) cells_left: u32,
}

/// The parameters of directions, beside those of the grid. `shaders/flow/agents/steer.wgsl` documents the fields.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(crate) struct SteerParams {
    pub(crate) axis_x: [f32; 4],
    pub(crate) axis_y: [f32; 4],
    pub(crate) axis_z: [f32; 4],
    pub(crate) origin: [f32; 3],
    pub(crate) cell_size: f32,
    pub(crate) agent_count: u32,
    pub(crate) first_distance: u32,
    pub(crate) first_word: u32,
    pub(crate) sight: u32,
    pub(crate) sight_rule: u32,
    pub(crate) is_flat: u32,
    pub(crate) padding_0: u32,
    pub(crate) padding_1: u32,
}

/// What each code adds to the index of a cell, modulo 2³².
pub(crate) fn strides(grid: &Grid) -> [[u32; 4]; 7] {
    let [width, height, _] = grid.size().map(|length| length as i32);
    let mut strides = [[0; 4]; 7];
    for (code, &[x, y, z]) in grid.connectivity().offsets().iter().enumerate() {
        let stride = z.wrapping_mul(height).wrapping_add(y).wrapping_mul(width).wrapping_add(x);
        strides[code / 4][code % 4] = stride as u32;
    }
    strides
}

const AGENT_PARAMS_WGSL: &str = wgsl!("../../../../shaders/flow/agents/params.wgsl");
const NEXT_CELLS_WGSL: &str = wgsl!("../../../../shaders/flow/agents/next_cells.wgsl");
const PARAMS: Binding = uniform("params", "AgentParams");
const CODES: Binding = read("codes", "array<u32>");
const DISTANCES: Binding = read("distances", "array<u32>");
const WALKERS: Binding = read_write("walkers", "array<Walker>");
const UNFINISHED: Binding = read_write("unfinished", "array<atomic<u32>>");

pub(crate) static STEP: Kernel = Kernel {
    label: "hullfield.flow.step",
    sources: only(&[
        DISPATCH_WGSL,
        AGENT_PARAMS_WGSL,
        NEXT_CELLS_WGSL,
        wgsl!("../../../../shaders/flow/agents/step.wgsl"),
    ]),
    workgroup_size: 256,
    trust: Trust::Loops("the number of steps of a dispatch"),
    bindings: only(&[PARAMS, CODES, read_write("cells", "array<u32>"), read_write("stamps", "array<u32>")]),
};

pub(crate) static MEASURE: Kernel = Kernel {
    label: "hullfield.flow.measure",
    sources: only(&[
        DISPATCH_WGSL,
        AGENT_PARAMS_WGSL,
        NEXT_CELLS_WGSL,
        wgsl!("../../../../shaders/flow/agents/measure.wgsl"),
    ]),
    workgroup_size: 256,
    trust: Trust::Loops("the number of steps of a dispatch"),
    bindings: only(&[PARAMS, CODES, WALKERS, UNFINISHED, DISTANCES]),
};

pub(crate) static TRACE: Kernel = Kernel {
    label: "hullfield.flow.trace",
    sources: only(&[
        DISPATCH_WGSL,
        AGENT_PARAMS_WGSL,
        NEXT_CELLS_WGSL,
        wgsl!("../../../../shaders/flow/agents/trace.wgsl"),
    ]),
    workgroup_size: 256,
    trust: Trust::Loops("the number of steps of a dispatch"),
    bindings: only(&[PARAMS, CODES, WALKERS, UNFINISHED, read_write("cells", "array<u32>")]),
};

pub(crate) static GATHER: Kernel = Kernel {
    label: "hullfield.flow.gather",
    sources: only(&[DISPATCH_WGSL, AGENT_PARAMS_WGSL, wgsl!("../../../../shaders/flow/agents/gather.wgsl")]),
    workgroup_size: 256,
    trust: Trust::Checked,
    bindings: only(&[PARAMS, DISTANCES, read("cells", "array<u32>"), read_write("found", "array<u32>")]),
};

pub(crate) static STEER: Kernel = Kernel {
    label: "hullfield.flow.steer",
    sources: only(&[
        DISPATCH_WGSL,
        PARAMS_WGSL,
        BLOCKED_WGSL,
        MOVES_WGSL,
        wgsl!("../../../../shaders/flow/grid/sight.wgsl"),
        wgsl!("../../../../shaders/flow/agents/steer.wgsl"),
    ]),
    workgroup_size: 64,
    trust: Trust::Loops("constant bounds, the length of sight, and a bit that moves up"),
    bindings: only(&[
        uniform("params", "FlowParams"),
        uniform("steer", "SteerParams"),
        read("blocked", "array<u32>"),
        CODES,
        DISTANCES,
        read("positions", "array<vec4<f32>>"),
        read_write("directions", "array<vec4<f32>>"),
    ]),
};

/// All kernels, for the tests of the GPU floor and the module `inspect`.
#[cfg(any(feature = "inspect", test))]
pub(crate) static KERNELS: &[&Kernel] = &[&STEP, &MEASURE, &TRACE, &GATHER, &STEER];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::grid::moves::{Connectivity, Corners};
    use crate::gpu::layout::{compare, host_struct};

    #[test]
    fn host_structs_match_the_shaders() {
        let walker = host_struct!(Walker { cell, step_count, slot, cells_left });
        let params = host_struct!(AgentParams {
            first_cell,
            cell_count,
            first_distance,
            first_word,
            agent_count,
            step_limit,
            stamp,
            is_counted,
            window_len,
            padding_0,
            padding_1,
            padding_2,
            strides,
        });
        for kernel in [&STEP, &MEASURE, &TRACE, &GATHER] {
            compare(&kernel.wgsl(), "Walker", &walker).unwrap();
            compare(&kernel.wgsl(), "AgentParams", &params).unwrap();
        }
        let steer = host_struct!(SteerParams {
            axis_x,
            axis_y,
            axis_z,
            origin,
            cell_size,
            agent_count,
            first_distance,
            first_word,
            sight,
            sight_rule,
            is_flat,
            padding_0,
            padding_1,
        });
        compare(&STEER.wgsl(), "SteerParams", &steer).unwrap();
    }

    /// Strides of grids past 2³¹ cells wrap to the right cell.
    #[test]
    fn strides_lead_where_moves_do() {
        for (size, connectivity) in [
            ([7, 5, 1], Connectivity::Eight(Corners::Any)),
            ([7, 5, 3], Connectivity::TwentySix(Corners::Any)),
            ([60_000, 60_000, 1], Connectivity::Four),
            ([40_000, 50_000, 2], Connectivity::Six),
        ] {
            let grid = Grid::new(size, &[], connectivity.into()).unwrap();
            let strides = strides(&grid);
            let last = grid.cell_count() - 1;
            for (from, code) in [0, last].into_iter().flat_map(|from| (0..26).map(move |code| (from, code))) {
                if let Some(to) = grid.neighbour(grid.cell(from), code) {
                    let stride = strides[usize::from(code) / 4][usize::from(code) % 4];
                    assert_eq!((from as u32).wrapping_add(stride) as usize, grid.index(to).unwrap());
                }
            }
        }
    }
}
