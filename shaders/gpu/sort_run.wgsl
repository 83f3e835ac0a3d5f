// A stable merge sort of RUN_LEN keys with their values by one workgroup, four neighbours an invocation.
//
// Each invocation sorts its four. Then sorted runs are merged two by two: the place of a key is its index in its own run
// and the number of keys of the other run that come before it, by binary search. No bit of a key is left out.
//
// No twin: the CPU's radix sort is `Sorter` in src/collide/bvh/morton.rs; a test compares this one with a stable sort.

const KEYS_PER_INVOCATION: u32 = 4u;
const RUN_LEN: u32 = WORKGROUP_SIZE * KEYS_PER_INVOCATION;

var<workgroup> run_keys: array<u32, RUN_LEN>;
var<workgroup> run_values: array<u32, RUN_LEN>;

// Keys of an invocation, and their values.
struct Own {
    keys: vec4<u32>,
    values: vec4<u32>,
}

// The four of an invocation, sorted: neighbours change places only where the first is greater.
fn sorted_own(given: Own) -> Own {
    var own = given;
    for (var turn = 0u; turn < 2u; turn += 1u) {
        let outer = own.keys.xz > own.keys.yw;
        let low = select(own.keys.xz, own.keys.yw, outer);
        let high = select(own.keys.yw, own.keys.xz, outer);
        let low_values = select(own.values.xz, own.values.yw, outer);
        let high_values = select(own.values.yw, own.values.xz, outer);
        own.keys = vec4<u32>(low.x, high.x, low.y, high.y);
        own.values = vec4<u32>(low_values.x, high_values.x, low_values.y, high_values.y);
        if (own.keys.y > own.keys.z) {
            own.keys = own.keys.xzyw;
            own.values = own.values.xzyw;
        }
    }
    return own;
}

// Which keys of a run stand at `at`.
fn run_keys_at(at: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(run_keys[at.x], run_keys[at.y], run_keys[at.z], run_keys[at.w]);
}

// One for each key of `seen` that comes before its key of `keys`; those that are equal only if `or_equal`.
fn come_before(seen: vec4<u32>, keys: vec4<u32>, or_equal: vec4<bool>) -> vec4<u32> {
    return select(vec4<u32>(0u), vec4<u32>(1u), (seen < keys) | (or_equal & (seen == keys)));
}

// Sorts the keys of the workgroup, in the order of the invocations. They come to stand in `run_keys` and `run_values`, with a barrier behind.
fn sort_run(local: u32, given: Own) {
    var own = sorted_own(given);
    let first = local * KEYS_PER_INVOCATION;
    var places = vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u);
    for (var len = KEYS_PER_INVOCATION; len <= RUN_LEN; len *= 2u) {
        for (var k = 0u; k < KEYS_PER_INVOCATION; k += 1u) {
            run_keys[places[k]] = own.keys[k];
            run_values[places[k]] = own.values[k];
        }
        workgroupBarrier();
        if (len < RUN_LEN) {
            for (var k = 0u; k < KEYS_PER_INVOCATION; k += 1u) {
                own.keys[k] = run_keys[first + k];
                own.values[k] = run_values[first + k];
            }
            // The run that this one is merged with.
            let other = (first ^ len) & ~(len - 1u);
            let or_equal = vec4<bool>(other < first);
            var found = vec4<u32>(0u);
            for (var step = len / 2u; step > 0u; step /= 2u) {
                found += step * come_before(run_keys_at(other + found + (step - 1u)), own.keys, or_equal);
            }
            found += come_before(run_keys_at(other + found), own.keys, or_equal);
            let pair = first & ~(2u * len - 1u);
            places = pair + (first & (len - 1u)) + vec4<u32>(0u, 1u, 2u, 3u) + found;
            workgroupBarrier();
        }
    }
}
