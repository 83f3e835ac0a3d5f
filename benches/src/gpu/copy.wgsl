// Moves 16 bytes an invocation.
@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> target_words: array<vec4<u32>>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let index = (group.y * groups.x + group.x) * 256u + local;
    if (index < arrayLength(&target_words)) {
        target_words[index] = source[index];
    }
}
