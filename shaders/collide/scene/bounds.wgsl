// World boxes of bodies, one thread per body: see bounds_core.wgsl. With the boxes of sweep/bounds.wgsl, those of the whole motions.
//
// Bindings: params, what `box_at` reads, boxes.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = params.first + flat_index(group, groups, local);
    if index >= params.body_count {
        return;
    }
    boxes[index] = box_at(index);
}
