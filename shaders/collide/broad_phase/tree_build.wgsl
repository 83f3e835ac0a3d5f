// Builds five levels of the tree: one workgroup reduces WIDTH⁵ nodes of one level (or bodies in Morton order), WIDTH an
// invocation, to the node five levels above.
//
// Bindings: params, boxes, order, nodes.
//
// No twin: the CPU's tree has eight boxes to a node (`Tree::rebuild` in src/collide/bvh/tree.rs).

struct BuildParams {
    // First node of each level, from the lowest level of this dispatch, and the end of the last level.
    levels: array<vec4u, 2>,
    // 1 if the lowest level is that of the bodies, which is first gathered from `boxes`.
    gathers: u32,
    // First workgroup of this dispatch.
    first: u32,
    // Levels to build above the lowest.
    level_count: u32,
    // Always zero (see rounding.wgsl).
    zero: u32,
}

var<workgroup> children: array<Node, WORKGROUP_SIZE>;

fn level_begin(level: u32) -> u32 {
    return params.levels[level >> 2u][level & 3u];
}

fn gather(index: u32) -> Node {
    // The order is a permutation; the bound holds whatever it is.
    let body = min(order[index], arrayLength(&boxes) - 1u);
    let box = boxes[body];
    // Half-spaces are in no box; queries test them separately.
    let lower = select(box.min, vec3f(PLANE), is_plane(box));
    let upper = select(box.max, vec3f(-PLANE), is_plane(box));
    return Node(lower, body, upper, box.group);
}

fn joined(a: Node, b: Node) -> Node {
    return Node(min(a.min, b.min), max(a.last, b.last), max(a.max, b.max), a.groups | b.groups);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let block = params.first + flat_group(group, groups);
    var index = block * WORKGROUP_SIZE + local;
    var node = Node(vec3f(PLANE), 0u, vec3f(-PLANE), 0u);
    for (var k = 0u; k < WIDTH; k += 1u) {
        let below = index * WIDTH + k;
        if below < level_begin(1u) - level_begin(0u) {
            var child: Node;
            if params.gathers != 0u {
                child = gather(below);
                nodes[below] = child;
            } else {
                child = nodes[level_begin(0u) + below];
            }
            node = joined(node, child);
        }
    }
    if params.level_count > 0u && index < level_begin(2u) - level_begin(1u) {
        nodes[level_begin(1u) + index] = node;
    }
    var wide = WORKGROUP_SIZE;
    for (var level = 2u; level <= params.level_count; level += 1u) {
        workgroupBarrier();
        if local < wide {
            children[local] = node;
        }
        workgroupBarrier();
        wide /= WIDTH;
        if local < wide {
            node = children[WIDTH * local];
            for (var k = 1u; k < WIDTH; k += 1u) {
                node = joined(node, children[WIDTH * local + k]);
            }
            index = block * wide + local;
            if index < level_begin(level + 1u) - level_begin(level) {
                nodes[level_begin(level) + index] = node;
            }
        }
    }
}
