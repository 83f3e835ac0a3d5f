// Marks each body by the verdicts of its pairs, from the rows that a query leaves on the device, and counts both.
// `mark_of` of src/playground/collide/verdicts.rs has the same marks.

@group(0) @binding(0) var<storage, read> rows: array<IntersectionRow>;
@group(0) @binding(1) var<storage, read> counts: DeviceCounts;
// For each body a bit for each status of its pairs; 0 at the beginning.
@group(0) @binding(2) var<storage, read_write> met: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> marks: array<u32>;
// Bodies by their marks, 0 to 3, then rows by their status, 0 to 3; 0 at the beginning.
@group(0) @binding(4) var<storage, read_write> tally: array<atomic<u32>, 8>;

// The numbers of a group, which go to the device's memory at once.
var<workgroup> of_group: array<atomic<u32>, 4>;

@compute @workgroup_size(64)
fn rows_main(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) lane: u32,
    @builtin(num_workgroups) groups: vec3u,
) {
    let count = min(counts.row_count, counts.row_room);
    for (var index = id.x; index < count; index += 64u * groups.x) {
        let row = rows[index];
        let status = min(row.status, 3u);
        atomicOr(&met[row.a], 1u << status);
        atomicOr(&met[row.b], 1u << status);
        atomicAdd(&of_group[status], 1u);
    }
    workgroupBarrier();
    if lane < 4u {
        atomicAdd(&tally[4u + lane], atomicLoad(&of_group[lane]));
    }
}

fn mark_of(statuses: u32) -> u32 {
    if (statuses & (1u << STATUS_PENETRATING)) != 0u { return STATUS_PENETRATING; }
    if (statuses & (1u << STATUS_UNSETTLED)) != 0u { return STATUS_UNSETTLED; }
    if (statuses & (1u << STATUS_TOUCHING)) != 0u { return STATUS_TOUCHING; }
    return STATUS_SEPARATED;
}

@compute @workgroup_size(64)
fn bodies_main(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) lane: u32,
    @builtin(num_workgroups) groups: vec3u,
) {
    let count = arrayLength(&marks);
    for (var index = id.x; index < count; index += 64u * groups.x) {
        let mark = mark_of(atomicLoad(&met[index]));
        marks[index] = mark;
        atomicAdd(&of_group[mark], 1u);
    }
    workgroupBarrier();
    if lane < 4u {
        atomicAdd(&tally[lane], atomicLoad(&of_group[lane]));
    }
}
