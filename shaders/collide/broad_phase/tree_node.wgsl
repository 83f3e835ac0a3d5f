// A node or a leaf of the tree of boxes: see tree_params.wgsl.
// No twin: the CPU's node has eight boxes side by side (`Node` in src/collide/bvh/tree.rs).

struct Node {
    min: vec3f,
    // Greatest id below the node; for a leaf, its id. Statics are numbered from 0.
    last: u32,
    max: vec3f,
    // Union of the groups below the node.
    groups: u32,
}

// Children per node.
const WIDTH: u32 = 4u;
