// The heavy row and the columns that one workgroup of heavy_count.wgsl or heavy_write.wgsl tests.
// No twin: the CPU does not split rows into segments (src/collide/broad_phase/search.rs).

struct HeavyPlace {
    // Index in the list of heavy rows.
    index: u32,
    segment: u32,
    begin: u32,
    end: u32,
}

fn heavy_place(group: u32) -> HeavyPlace {
    let segment = group % params.segment_count;
    let columns = params.body_count + params.static_count;
    let len = (columns + params.segment_count - 1u) / params.segment_count;
    let first = min(segment * len, columns);
    let begin = max(first, params.column_begin);
    return HeavyPlace(params.begin + group / params.segment_count, segment, begin, min(first + len, columns));
}
