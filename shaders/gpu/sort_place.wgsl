// Radix sort, second half of a pass: each key and its value to their place.
//
// One group a block, which first sorts its block by the digit in workgroup memory, four bits at a time, so that
// neighbours then write to neighbouring places. Stable: counts of equal digits are taken invocation by invocation, in
// the order of the keys. After Satish, Harris, Garland ("Designing efficient sorting algorithms for manycore GPUs",
// 2009); no group waits for another.
//
// Reads `keys`, `values`, `offsets` (the scanned counts of sort_count.wgsl), writes those slots of the output that
// `sorted_keys` and `sorted_values` show.
//
// No twin: the CPU's radix sort is `Sorter` in src/collide/bvh/morton.rs; a test compares this one with a stable sort.

// How many keys of each invocation have each nibble: word `w` of an invocation counts the nibbles `w` (low half) and
// `w + 8` (high half). Word by word, so that a plain scan is in the order of the nibbles, then of the keys.
var<workgroup> tally: array<u32, SORT_BLOCK>;
var<workgroup> exchange: array<u32, SORT_BLOCK>;
var<workgroup> starts: array<u32, DIGITS>;

// Places by one nibble for the invocation's keys, one slot each.
fn nibble_of(key: u32, shift: u32) -> u32 {
    return (key >> shift) & 15u;
}

// The invocation's word that counts a nibble, and how far up in it.
fn word_of(nibble: u32, local: u32) -> u32 {
    return (nibble & 7u) * WORKGROUP_SIZE + local;
}

fn half_of(nibble: u32) -> u32 {
    return (nibble >> 3u) * 16u;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = params.block_begin + flat_group(group, group_count);
    if (block >= params.block_end) {
        return;
    }
    let first = block * SORT_BLOCK;
    let skipped = params.block_begin * SORT_BLOCK;
    let begin = local * KEYS_PER_INVOCATION;
    // Past the end: the greatest key, which stays behind all others of the block as the sort is stable.
    var own_keys: array<u32, KEYS_PER_INVOCATION>;
    var own_values: array<u32, KEYS_PER_INVOCATION>;
    for (var k = 0u; k < KEYS_PER_INVOCATION; k += 1u) {
        own_keys[k] = 0xffffffffu;
        let index = first + begin + k;
        if (index < params.key_count) {
            own_keys[k] = keys[index - skipped];
            own_values[k] = values[index - skipped];
        }
    }
    for (var bits = 0u; bits < 8u; bits += 4u) {
        let shift = params.shift + bits;
        for (var w = 0u; w < 8u; w += 1u) {
            tally[w * WORKGROUP_SIZE + local] = 0u;
        }
        for (var k = 0u; k < KEYS_PER_INVOCATION; k += 1u) {
            let nibble = nibble_of(own_keys[k], shift);
            tally[word_of(nibble, local)] += 1u << half_of(nibble);
        }
        workgroupBarrier();
        var sum = 0u;
        for (var w = 0u; w < 8u; w += 1u) {
            sum += tally[begin + w];
        }
        let block = block_prefix(local, sum);
        // All nibbles below 8 come before those from 8 on.
        var before = block.before + ((block.all & 0xffffu) << 16u);
        for (var w = 0u; w < 8u; w += 1u) {
            let own = tally[begin + w];
            tally[begin + w] = before;
            before += own;
        }
        workgroupBarrier();
        var slots: array<u32, KEYS_PER_INVOCATION>;
        for (var k = 0u; k < KEYS_PER_INVOCATION; k += 1u) {
            let nibble = nibble_of(own_keys[k], shift);
            let word = word_of(nibble, local);
            slots[k] = (tally[word] >> half_of(nibble)) & 0xffffu;
            tally[word] += 1u << half_of(nibble);
            exchange[slots[k]] = own_keys[k];
        }
        workgroupBarrier();
        for (var k = 0u; k < KEYS_PER_INVOCATION; k += 1u) {
            own_keys[k] = exchange[begin + k];
        }
        workgroupBarrier();
        for (var k = 0u; k < KEYS_PER_INVOCATION; k += 1u) {
            exchange[slots[k]] = own_values[k];
        }
        workgroupBarrier();
        for (var k = 0u; k < KEYS_PER_INVOCATION; k += 1u) {
            own_values[k] = exchange[begin + k];
        }
        workgroupBarrier();
    }
    for (var k = 0u; k < KEYS_PER_INVOCATION; k += 1u) {
        exchange[begin + k] = digit_of(own_keys[k]);
    }
    workgroupBarrier();
    for (var k = 0u; k < KEYS_PER_INVOCATION; k += 1u) {
        let digit = digit_of(own_keys[k]);
        let at = begin + k;
        if (at == 0u || exchange[max(at, 1u) - 1u] != digit) {
            starts[digit] = at;
        }
    }
    workgroupBarrier();
    for (var k = 0u; k < KEYS_PER_INVOCATION; k += 1u) {
        let digit = digit_of(own_keys[k]);
        let at = begin + k;
        // What lies past the end has come to stand past the block's keys.
        if (first + at < params.key_count) {
            let slot = offsets[digit * params.block_count + block] + at - starts[digit];
            if (slot >= params.slot_begin && slot < params.slot_end) {
                sorted_keys[slot - params.slot_begin] = own_keys[k];
                sorted_values[slot - params.slot_begin] = own_values[k];
            }
        }
    }
}
