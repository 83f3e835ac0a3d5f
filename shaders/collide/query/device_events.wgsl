// Events of pairs that stay on the device.

// What happened to a pair.
const PHASE_BEGIN: u32 = 0u;
const PHASE_STAY: u32 = 1u;
const PHASE_END: u32 = 2u;

struct EventRow {
    a: u32,
    b: u32,
    phase: u32,
}

struct EventCounts {
    // Rows of events.
    event_count: u32,
    // Those of each phase.
    begin_count: u32,
    stay_count: u32,
    end_count: u32,
    // Pairs that touch now.
    touching_count: u32,
    // Bits. 1: the rows of the query did not fit; 2: more pairs touch than there is room for. Then there are no events, and nothing
    // changes.
    overflow: u32,
    padding: vec2u,
}
