// A node of the tree of boxes: see tree_params.wgsl.
// No twin: the CPU's node has eight boxes side by side (`Node` in src/collide/bvh/tree.rs).

struct Node {
    min: vec3f,
    // The greatest id below it; of a leaf its id. Statics are numbered from 0.
    last: u32,
    max: vec3f,
    // All groups below it.
    groups: u32,
}

// Children of a node.
const WIDTH: u32 = 4u;
