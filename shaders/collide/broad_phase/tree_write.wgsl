// Writes the pairs of each row that one thread can handle, sorted, with the traversal of tree_count.wgsl.
//
// Each thread writes its row's pairs to the position that the scan of the counts gives, and sorts them by the second
// body. Only the pairs in one window of the order are written. A row that straddles an end of the window is assembled
// behind the window, where there is space for one such row at either end; the part that belongs in the window is then
// copied. Pairs of heavy rows are incomplete here; heavy_write.wgsl overwrites them.
//
// Bindings: params, bodies, leaves, nodes, planes, boxes (of half-spaces), offsets (the scanned counts), pairs of the window,
// refine (the list of pairs for EPA, whose second word becomes the number of all pairs). With small worlds: params, boxes (of all bodies),
// leaves and nodes (of the statics), planes, offsets, masks (of the count), pairs, refine.
//
// No twin: the CPU finds pairs leaf by leaf and arranges the rows afterwards (`find_all` in
// src/collide/broad_phase/cpu.rs).

// Rows of up to this many pairs are sorted by insertion.
const SHORT_ROW: u32 = 24u;

var<private> row: u32;
var<private> base: u32;
var<private> room: u32;
var<private> written: u32;

fn add_partner(id: u32) -> bool {
    if written < room {
        pairs[base + written] = vec2u(row, id);
        written += 1u;
    }
    return written < room;
}

// Sifts the entry at `from` down the heap of `len` entries.
fn sift(top: u32, len: u32) {
    let entry = pairs[base + top];
    var hole = top;
    for (var child = 2u * top + 1u; child < len; child = 2u * hole + 1u) {
        var greatest = child;
        if child + 1u < len && pairs[base + child + 1u].y > pairs[base + child].y {
            greatest = child + 1u;
        }
        let above = pairs[base + greatest];
        if above.y <= entry.y {
            break;
        }
        pairs[base + hole] = above;
        hole = greatest;
    }
    pairs[base + hole] = entry;
}

fn sort_row() {
    if written <= SHORT_ROW {
        for (var i = 1u; i < written; i += 1u) {
            let entry = pairs[base + i];
            var j = i;
            for (; j > 0u; j -= 1u) {
                let before = pairs[base + j - 1u];
                if before.y < entry.y {
                    break;
                }
                pairs[base + j] = before;
            }
            pairs[base + j] = entry;
        }
        return;
    }
    for (var i = written / 2u; i > 0u; i -= 1u) {
        sift(i - 1u, written);
    }
    for (var len = written - 1u; len > 0u; len -= 1u) {
        let greatest = pairs[base];
        pairs[base] = pairs[base + len];
        pairs[base + len] = greatest;
        sift(0u, len);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let place = params.begin + flat_index(group, groups, local);
    if place >= params.end {
        return;
    }
    if place == 0u {
        refine[1] = offsets[params.body_count];
    }
    row = row_at(place);
    let begin = offsets[row];
    let end = offsets[row + 1u];
    room = end - begin;
    if room == 0u || room > ROW_LIMIT {
        return;
    }
    let begins_inside = begin >= params.window_begin && begin - params.window_begin < params.window_len;
    let ends_inside = end > params.window_begin && end - params.window_begin <= params.window_len;
    let covers = begin < params.window_begin && end > params.window_begin;
    if !begins_inside && !ends_inside && !covers {
        return;
    }
    base = begin - params.window_begin;
    let cut = !(begins_inside && ends_inside);
    if cut {
        base = params.window_len + select(0u, ROW_LIMIT, begins_inside);
    }
    written = 0u;
    walk_row(place);
    sort_row();
    if cut {
        for (var i = 0u; i < written; i += 1u) {
            // Indices before the window wrap to large numbers.
            let at = begin + i - params.window_begin;
            if at < params.window_len {
                pairs[at] = pairs[base + i];
            }
        }
    }
}
