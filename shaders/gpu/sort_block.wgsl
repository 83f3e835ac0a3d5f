// What the passes of the radix sort share: a block is 1,024 keys, eight neighbours an invocation.
// No twin: the CPU's radix sort is `Sorter` in src/collide/bvh/morton.rs; the Rust struct is in src/gpu/sort.rs.

const KEYS_PER_INVOCATION: u32 = 8u;
const SORT_BLOCK: u32 = WORKGROUP_SIZE * KEYS_PER_INVOCATION;
const DIGITS: u32 = 256u;

struct SortParams {
    // Keys in the whole list.
    key_count: u32,
    // Blocks that hold them.
    block_count: u32,
    // First block of this dispatch, and the one after its last; `keys` and `values` begin with the first.
    block_begin: u32,
    block_end: u32,
    // Bits below the digit.
    shift: u32,
    // Slots of the output that this dispatch may write.
    slot_begin: u32,
    slot_end: u32,
    padding: u32,
}

fn digit_of(key: u32) -> u32 {
    return (key >> params.shift) & (DIGITS - 1u);
}
