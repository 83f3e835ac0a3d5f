// What agents on the device know of a field: the strip that a dispatch is about, and where each code leads.
// No twin: struct declarations; the Rust structs are in src/flow/agents/gpu/kernels.rs.

struct AgentParams {
    // The strip's first cell, how many it has, and where its distances and codes begin.
    first_cell: u32,
    cell_count: u32,
    first_distance: u32,
    first_word: u32,
    agent_count: u32,
    // Most steps of an agent in this dispatch.
    step_limit: u32,
    // Where agents cross from strip to strip: which of their steps this is, from 1. 0 where there is one strip.
    stamp: u32,
    // 1 where those that are not there yet are counted.
    is_counted: u32,
    // Cells that there is room for.
    window_len: u32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
    // What each code adds to an index, modulo 2^32.
    strides: array<vec4<u32>, 7>,
}

const UNREACHABLE: u32 = 0xffffffffu;

// An agent that walks to its goal. `slot`: where its next cell goes, or the distance of its first cell that is no obstacle.
struct Walker {
    at: u32,
    step_count: u32,
    slot: u32,
    left: u32,
}

// Whether a cell belongs to the strip.
fn is_here(at: u32) -> bool {
    return at - params.first_cell < params.cell_count;
}
