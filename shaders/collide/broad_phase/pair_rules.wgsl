// Which pairs of bodies may meet, by worlds, owners and exclusions. all_meet.wgsl is the form without these.
//
// The tables lie in `planes`, behind the half-spaces; a table that begins at 0 is not there. Moving bodies come in the order of their
// worlds, and their leaves too (world_key.wgsl), so the ids of a world's bodies are also the places of its leaves.
//
// No twin: the CPU's form is `PairRules` in src/collide/scene/rules.rs, src/collide/query/gpu/rules.rs makes the tables.

// The world of statics, which meet all.
const ANY_WORLD: u32 = 0xffffffffu;
// Nodes that a walk begins with at most, where there are enough levels.
const FEW_NODES: u32 = 8u;

fn world_span(a: u32) -> vec2u {
    let at = params.start_begin + planes[params.world_begin + a];
    return vec2u(planes[at], planes[at + 1u]);
}

// The leaves of a tree that may be partners of body `a`: from the first up to, not including, the second.
fn span_of(tree: u32, a: u32, leaf_count: u32) -> vec2u {
    if tree != 0u || params.world_begin == 0u {
        return vec2u(0u, leaf_count);
    }
    let span = world_span(a);
    // The last of its world has no partner in it.
    return select(span, vec2u(0u), a + 1u >= span.y);
}

// The level at which a walk over these leaves begins: the lowest that has few nodes above them.
fn top_of(tree: u32, span: vec2u) -> u32 {
    let highest = select(params.static_top, params.mover_top, tree == 0u);
    var top = 0u;
    for (; top < highest && node_count(tree, top, span) > first_node(top, span) + FEW_NODES; top += 1u) {
    }
    return top;
}

// The node of a level above the first of these leaves.
fn first_node(level: u32, span: vec2u) -> u32 {
    return span.x >> (2u * level + 2u);
}

// The number of nodes of a level that are above these leaves, or above leaves before them. A node of a level is above WIDTH^(level + 1).
fn node_count(tree: u32, level: u32, span: vec2u) -> u32 {
    let shift = 2u * level + 2u;
    return (span.y >> shift) + select(0u, 1u, (span.y & ((1u << shift) - 1u)) != 0u);
}

// The first of the half-spaces of moving bodies whose id is at least this.
fn plane_from(id: u32) -> u32 {
    var low = 0u;
    var high = params.moving_plane_count;
    for (var turn = 0u; turn < 32u && low < high; turn += 1u) {
        let middle = (low + high) / 2u;
        if planes[middle] < id {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

// The half-spaces that may be partners of body `a`: two ranges of `planes`.
fn plane_spans(a: u32) -> vec4u {
    if params.world_begin == 0u {
        return vec4u(0u, params.plane_count, 0u, 0u);
    }
    let span = vec2u(plane_from(a + 1u), plane_from(world_span(a).y));
    return vec4u(span, params.moving_plane_count, params.plane_count);
}

// The columns of a range that may be partners of body `a`, and perhaps others.
fn columns_of(a: u32, begin: u32, end: u32) -> vec2u {
    var columns = vec2u(max(begin, a + 1u), end);
    if params.world_begin > 0u {
        let last = world_span(a).y;
        if columns.x >= last {
            columns.x = max(columns.x, params.body_count);
        }
        if columns.y <= params.body_count {
            columns.y = min(columns.y, last);
        }
    }
    return columns;
}

fn may_meet(a: u32, b: u32) -> bool {
    if params.world_begin > 0u {
        let world = planes[params.world_begin + b];
        if world != planes[params.world_begin + a] && world != ANY_WORLD {
            return false;
        }
    }
    return owners_meet(a, b);
}

// Whether owners and exclusions let two bodies of one world meet.
fn owners_meet(a: u32, b: u32) -> bool {
    if params.owner_begin == 0u {
        return true;
    }
    let one = planes[params.owner_begin + a];
    let other = planes[params.owner_begin + b];
    if one == other {
        return false;
    }
    if params.list_begin == 0u {
        return true;
    }
    var low = planes[params.list_begin + one];
    var high = planes[params.list_begin + one + 1u];
    for (var turn = 0u; turn < 32u && low < high; turn += 1u) {
        let middle = (low + high) / 2u;
        let entry = planes[middle];
        if entry == other {
            return false;
        }
        if entry < other {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return true;
}
