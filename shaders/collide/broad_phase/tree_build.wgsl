// Builds five levels of the tree above the leaves: one workgroup reduces WIDTH⁵ leaves, or nodes of one level, WIDTH an
// invocation, to the node five levels above.
//
// Bindings: params, leaves, nodes.
//
// No twin: the CPU's tree has eight boxes to a node (`Tree::rebuild` in src/collide/bvh/tree.rs).

struct BuildParams {
    // First node of each level to build, and the end of the last one.
    levels: array<vec4u, 2>,
    // The nodes below the lowest of these levels.
    child_begin: u32,
    child_count: u32,
    // 1 if those are leaves.
    from_leaves: u32,
    // First workgroup of this dispatch.
    first: u32,
    // Levels to build.
    level_count: u32,
    // Always zero (see rounding.wgsl).
    zero: u32,
    padding_0: u32,
    padding_1: u32,
}

var<workgroup> children: array<Node, WORKGROUP_SIZE>;

fn level_begin(level: u32) -> u32 {
    return params.levels[level >> 2u][level & 3u];
}

fn child_at(index: u32) -> Node {
    if params.from_leaves != 0u {
        return leaves[index];
    }
    return nodes[params.child_begin + index];
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
        if below < params.child_count {
            node = joined(node, child_at(below));
        }
    }
    if index < level_begin(1u) - level_begin(0u) {
        nodes[level_begin(0u) + index] = node;
    }
    var wide = WORKGROUP_SIZE;
    for (var level = 1u; level < params.level_count; level += 1u) {
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
