// Merge sort of a short list, second dispatch: merges sorted runs (sort_run.wgsl) into one. One invocation a key.
//
// The place of a key is its index in its own run and the number of keys of each other run that come before it, by binary
// search, four runs at a time. Keys that are equal keep their order, so every key has a place of its own, and no
// invocation needs to know of another.
//
// Reads `keys`, `values`, writes `sorted_keys`, `sorted_values`.
//
// No twin: the CPU's radix sort is `Sorter` in src/collide/bvh/morton.rs; a test compares this one with a stable sort.


struct MergeParams {
    // Keys in the whole list.
    key_count: u32,
    // Keys of this dispatch.
    begin: u32,
    end: u32,
    // Keys of a sorted run: a power of two. The last one may be shorter.
    run_len: u32,
    // How many runs are merged into one.
    ways: u32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
}

fn key_at(at: u32) -> u32 {
    return keys[min(at, params.key_count - 1u)];
}

// For each of four runs: whether its key at `at` comes before `key`. Past the end of the list none does.
fn come_before(at: vec4<u32>, key: u32, or_equal: vec4<bool>) -> vec4<u32> {
    let seen = vec4<u32>(key_at(at.x), key_at(at.y), key_at(at.z), key_at(at.w));
    let own = vec4<u32>(key);
    let before = (seen < own) | (or_equal & (seen == own));
    return select(vec4<u32>(0u), vec4<u32>(1u), before & (at < vec4<u32>(params.key_count)));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = params.begin + flat_index(group, group_count, local);
    if (index >= params.end) {
        return;
    }
    let key = keys[index];
    let run = index / params.run_len;
    let merged = run - run % params.ways;
    var place = merged * params.run_len;
    for (var first = 0u; first < params.ways; first += 4u) {
        let runs = merged + first + vec4<u32>(0u, 1u, 2u, 3u);
        let begins = runs * params.run_len;
        if (begins.x >= params.key_count) {
            break;
        }
        let or_equal = runs < vec4<u32>(run);
        var found = vec4<u32>(0u);
        for (var step = params.run_len / 2u; step > 0u; step /= 2u) {
            found += step * come_before(begins + found + (step - 1u), key, or_equal);
        }
        found += come_before(begins + found, key, or_equal);
        found = select(found, vec4<u32>(index - run * params.run_len), runs == vec4<u32>(run));
        place += found.x + found.y + found.z + found.w;
    }
    sorted_keys[place] = key;
    sorted_values[place] = values[index];
}
