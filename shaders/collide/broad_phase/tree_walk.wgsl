// Traverses the tree for one row, depth first and without a stack: a node's index gives its successor. Needs
// `add_partner(id)`, which is called for each partner and returns whether there may be more, all_meet.wgsl or pair_rules.wgsl, and
// `first_leaf` and `mask_of` of tree_row.wgsl or world_row.wgsl.
//
// Returns false if the row is too long for one thread.
//
// No twin: the CPU traverses a tree with eight children per node, with a stack (`Tree::visit` in
// src/collide/bvh/tree.rs).

// Half-spaces that one thread tests. With more of them, every row is heavy.
const PLANE_LIMIT: u32 = 4096u;

fn walk(tree: u32, box: Aabb, a: u32) -> bool {
    // Statics are numbered after the moving bodies, so all of their ids are greater.
    let own = select(0u, a + 1u, tree == 0u);
    let first_id = select(params.body_count, 0u, tree == 0u);
    let leaf_count = select(params.static_count, params.body_count, tree == 0u);
    let span = span_of(tree, a, leaf_count);
    let top = top_of(tree, span);
    var level = top;
    var begin = level_begin(tree, level);
    var count = node_count(tree, level, span);
    var index = first_node(level, span);
    if count == 0u {
        return true;
    }
    for (var visit = 0u; visit < VISIT_LIMIT; visit += 1u) {
        let node = nodes[begin + index];
        if node.last >= own && (node.groups & box.mask) != 0u && overlaps(box.min, box.max, node.min, node.max) {
            if level > 0u {
                level -= 1u;
                begin = level_begin(tree, level);
                count = node_count(tree, level, span);
                index *= WIDTH;
                continue;
            }
            // Leaves lie in the order of the trees, as ids do.
            for (var k = 0u; k < WIDTH; k += 1u) {
                let place = WIDTH * index + k;
                let leaf = leaves[first_leaf(tree) + min(place, leaf_count - 1u)];
                if place < span.y && leaf.last >= own && (leaf.groups & box.mask) != 0u
                    && overlaps(box.min, box.max, leaf.min, leaf.max) {
                    let id = first_id + leaf.last;
                    if (mask_of(id) & box.group) != 0u && may_meet(a, id) && !add_partner(id) {
                        return false;
                    }
                }
            }
        }
        index += 1u;
        if index == count || index % WIDTH == 0u {
            // After the last sibling: up, until a level has a next sibling.
            for (var up = level; up < top; up += 1u) {
                level = up + 1u;
                index = (index + WIDTH - 1u) / WIDTH;
                begin = level_begin(tree, level);
                count = node_count(tree, level, span);
                if index < count && index % WIDTH != 0u {
                    break;
                }
            }
            if index >= count {
                return true;
            }
        }
    }
    return false;
}

// Half-spaces of a range of `planes`.
fn add_planes(box: Aabb, a: u32, first: u32, end: u32) -> bool {
    for (var k = first; k < end; k += 1u) {
        let b = planes[k];
        if b > a && b >= params.column_begin && meets(box, boxes[b - params.boxes_begin], select(0.0, params.static_grow, b >= params.body_count))
            && may_meet(a, b) {
            if !add_partner(b) {
                return false;
            }
        }
    }
    return true;
}
