// Parameters of the kernels for agents: the strip of the dispatch, and the stride of each code.
// No twin: struct declarations; the Rust structs are in src/flow/agents/gpu/kernels.rs.

struct AgentParams {
    // The first cell of the strip, its number of cells, and where its distances and codes start.
    first_cell: u32,
    cell_count: u32,
    first_distance: u32,
    first_word: u32,
    agent_count: u32,
    // The most steps of an agent in this dispatch.
    step_limit: u32,
    // If there are several strips: the number of this step, from 1. Otherwise 0.
    stamp: u32,
    // 1 if the agents that are not finished are counted.
    is_counted: u32,
    // The number of cells in the window of paths.
    window_len: u32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
    // What each code adds to the index of a cell, modulo 2^32.
    strides: array<vec4<u32>, 7>,
}

const UNREACHABLE: u32 = 0xffffffffu;

// An agent that follows its path. `slot`: the distance of its first cell that is not an obstacle (measure.wgsl), or
// where its next cell goes (trace.wgsl).
struct Walker {
    cell: u32,
    step_count: u32,
    slot: u32,
    cells_left: u32,
}

// Whether a cell belongs to this strip.
fn is_in_strip(cell: u32) -> bool {
    return cell - params.first_cell < params.cell_count;
}
