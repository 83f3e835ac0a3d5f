// The leaves of the tree: the boxes of the bodies in Morton order. One thread per leaf.
//
// A box is computed from its body once for the key and once here. So there is no list of boxes beside the leaves, unless heavy rows
// need one in the order of the ids.
//
// Bindings: params, what `box_at` reads, order, leaves, boxes (by id; written only with `keeps_boxes`).
//
// No twin: the CPU's tree has eight boxes to a node (`Tree::rebuild` in src/collide/bvh/tree.rs).

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
    let id = order[place];
    let box = box_at(id);
    // Half-spaces are in no box; queries test them separately.
    let lower = select(box.min, vec3f(PLANE), is_plane(box));
    let upper = select(box.max, vec3f(-PLANE), is_plane(box));
    leaves[place] = Node(lower, id, upper, box.group);
    if params.keeps_boxes != 0u {
        boxes[id] = box;
    }
}
