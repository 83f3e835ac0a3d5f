//! What was read when kernels were trusted ([`Trust`]): a test fails where their WGSL has changed since.
//!
//! To trust changed WGSL, argue again in ARCHITECTURE ("Trusted shaders"), then write here what is there now.

use std::collections::BTreeSet;

use crate::gpu::kernel::{Kernel, Trust};
use crate::inspect::all as kernels;

/// The heads of all loops in kernels whose loops are trusted, and why each ends whatever the buffers hold.
const LOOPS: &[(&str, &[&str])] = &[
    (
        "a counter runs to a constant, in steps that can't pass over 2³²",
        &[
            "for (var attempt = 0u; attempt < 2u; attempt += 1u) {",
            "for (var attempt = 0u; attempt < 3u; attempt += 1u) {",
            "for (var axis = 0u; axis < 3u; axis += 1u) {",
            "for (var corner = 0u; corner < 8u; corner += 1u) {",
            "for (var end = 0u; end < 2u; end += 1u) {",
            "for (var face = 0u; face < 4u; face += 1u) {",
            "for (var face = select(3u, 0u, simplex.len == 4u); face < 4u; face += 1u) {",
            "for (var i = 0u; i < 3u; i += 1u) {",
            "for (var i = 0u; i < 4u; i += 1u) {",
            "for (var i = 0u; i < 7u; i += 1u) {",
            "for (var i = local; i < 2u * FRONT_WORDS; i += WORKGROUP_SIZE) {",
            "for (var i = local; i < 32u * TILE_WORDS; i += WORKGROUP_SIZE) {",
            "for (var i = local; i < EDGE * EDGE; i += WORKGROUP_SIZE) {",
            "for (var i = local; i < WINDOW_CELLS; i += WORKGROUP_SIZE) {",
            "for (var i = local; i < WINDOW_EDGE * WINDOW_EDGE; i += WORKGROUP_SIZE) {",
            "for (var iteration = 0u; iteration < CAST_LIMIT; iteration += 1u) {",
            "for (var iteration = 0u; iteration < ITERATION_LIMIT; iteration += 1u) {",
            "for (var iteration = 1u; iteration <= DISTANCE_LIMIT; iteration += 1u) {",
            "for (var iteration = 4u; iteration <= POLYTOPE_POINTS; iteration += 1u) {",
            "for (var iteration = 4u; iteration <= VERDICT_POINTS && !is_stopped; iteration += 1u) {",
            "for (var k = 0u; k < STRIP; k += 1u) {",
            "for (var k = 0u; k < WIDTH; k += 1u) {",
            "for (var k = 1u; k < WIDTH; k += 1u) {",
            "for (var step = 0u; step < EDGE; step += 1u) {",
            "for (var step = 0u; step < STEPS; step += 4u) {",
            "for (var sweep = 1u; sweep <= MAX_SWEEPS; sweep += 1u) {",
            "for (var turn = 1u; turn <= MAX_TURNS; turn += 1u) {",
            "for (var visit = 0u; visit < VISIT_LIMIT && !is_done; visit += 1u) {",
            "for (var visit = 0u; visit < VISIT_LIMIT; visit += 1u) {",
        ],
    ),
    (
        "a power of two grows past a small constant",
        &[
            "for (var axis = 1u; axis < 8u; axis <<= 1u) {",
            "for (var reach = 1u; reach < WORKGROUP_SIZE; reach *= 2u) {",
        ],
    ),
    (
        "a counter rises by 1 to a number that doesn't change, so it meets it whatever that is",
        &[
            "for (var code = 0u; code < params.move_count; code += 1u) {",
            "for (var crossing = 0u; crossing < 3u * limit; crossing += 1u) {",
            "for (var i = 0u; i < hull.plane_count; i += 1u) {",
            "for (var i = 0u; i < probe_count && !is_stopped; i += 1u) {",
            "for (var i = 0u; i < written; i += 1u) {",
            "for (var i = 1u; i < written; i += 1u) {",
            "for (var index = 0u; index < plane_count; index += 1u) {",
            "for (var index = 0u; is_deep && index < plane_count; index += 1u) {",
            "for (var k = 0u; k < end; k += 1u) {",
            "for (var k = 0u; k < width; k += 1u) {",
            "for (var k = first; k < end; k += 1u) {",
            "for (var part = 1u; part < axes; part += 1u) {",
            "for (var step = 0u; step < params.step_limit; step += 1u) {",
            "for (var step = 0u; step < steer.sight; step += 1u) {",
            "for (var up = level; up < top; up += 1u) {",
            "for (var up = rank; up <= top && pending == 0u; up += 1u) {",
        ],
    ),
    (
        "a counter falls by 1 to zero; the sort of a row begins with `written - 1` only for rows of more than SHORT_ROW",
        &[
            "for (; j > 0u; j -= 1u) {",
            "for (var i = written / 2u; i > 0u; i -= 1u) {",
            "for (var len = written - 1u; len > 0u; len -= 1u) {",
        ],
    ),
    ("three rounds: the body takes 32 from it", &["for (var first = 96u; first > 0u; ) {"]),
    (
        "the host asks for five levels at most",
        &["for (var level = 1u; level < params.level_count; level += 1u) {"],
    ),
    (
        "the bound is at most `first + 32`, which is at most 96",
        &["for (var face = first; face < end; face += 2u) {"],
    ),
    (
        "the bound is at most the number of columns, below 2²⁸ as each body takes 80 bytes; a step is at most 2¹¹",
        &[
            "for (var b = columns.x + local; b < columns.y; b += WORKGROUP_SIZE) {",
            "for (var first = place.column_begin; first < place.column_end; first += WORKGROUP_SIZE) {",
            "for (var strip = columns.x; strip < columns.y; strip += WORKGROUP_SIZE * STRIP) {",
        ],
    ),
    (
        "the record is that of a hull that exists, so the bound is an index of `cells` or `vertices`, below 2³⁰",
        &[
            "for (var at = index; at < last + VERTEX_GROUP; at += 2u * VERTEX_GROUP) {",
            "for (var i = begin; i < end; i += 2u) {",
        ],
    ),
    (
        "a child in the heap is greater than its parent, and `len` is at most ROW_LIMIT",
        &["for (var child = 2u * top + 1u; child < len; child = 2u * hole + 1u) {"],
    ),
    (
        "each round clears a bit that is set",
        &[
            "for (var moves_left = allowed[i]; moves_left != 0u; moves_left &= moves_left - 1u) {",
            "while faces != 0u {",
            "while is_any(around) {",
            "while visible != 0u {",
        ],
    ),
    (
        "a subgroup has the invocation that counts it, so its length is 1 to 128; the bound is at most 64",
        &["for (var begin = 0u; begin < BLOCK_SLOTS; begin += span.y) {"],
    ),
    ("each round adds a point", &["while len < 4u && !is_stopped {"]),
];

/// The kernels whose indices are trusted, each with a hash of its WGSL.
const INDICES: &[(&str, u64)] =
    &[("hullfield.collide.tree_build", 14288787202847387314), ("hullfield.flow.wave", 13989341588972168901)];

/// The lines of all forms of a kernel without comments and indentation.
fn code(kernel: &Kernel) -> String {
    let forms: String = kernel.forms().iter().map(|&form| kernel.wgsl_in(form)).collect();
    let lines = forms.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The heads of the loops in some code: lines that begin one.
fn loops(code: &str) -> BTreeSet<String> {
    let is_loop = |line: &&str| {
        let line = line.trim_start_matches(['{', '}', ' ']);
        ["for", "while", "loop"].iter().any(|word| {
            line.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '(', '{']) || rest.is_empty())
        })
    };
    code.lines().filter(is_loop).map(str::to_owned).collect()
}

/// FNV-1a (Fowler, Noll, Vo).
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[test]
fn every_loop_of_a_trusted_kernel_was_read() {
    let trusted = || kernels().into_iter().filter(|kernel| kernel.trust != Trust::Checked);
    let found: BTreeSet<String> = trusted().flat_map(|kernel| loops(&code(kernel))).collect();
    let read = LOOPS.iter().flat_map(|(_, heads)| heads.iter().map(|&head| head.to_owned()));
    let read: BTreeSet<String> = read.collect();
    let new: Vec<_> = found.difference(&read).collect();
    assert!(new.is_empty(), "argue that these loops end, or trust their kernels no longer: {new:#?}");
    let gone: Vec<_> = read.difference(&found).collect();
    assert!(gone.is_empty(), "no trusted kernel has these loops any more: {gone:#?}");
    // Each loop of naga's module has one of those heads: no loop was overlooked.
    for kernel in trusted() {
        let in_form = |&form| {
            let module = naga::front::wgsl::parse_str(&kernel.wgsl_in(form)).unwrap();
            let functions = module.functions.iter().map(|(_, function)| function);
            let entries = module.entry_points.iter().map(|entry| &entry.function);
            functions.chain(entries).map(|function| count_loops(&function.body)).sum::<usize>()
        };
        let loop_count: usize = kernel.forms().iter().map(in_form).sum();
        let head_count = code(kernel).lines().map(|line| loops(line).len()).sum::<usize>();
        assert_eq!(head_count, loop_count, "{}", kernel.label);
    }
}

fn count_loops(block: &naga::Block) -> usize {
    block
        .iter()
        .map(|statement| match statement {
            naga::Statement::Block(block) => count_loops(block),
            naga::Statement::If { accept, reject, .. } => count_loops(accept) + count_loops(reject),
            naga::Statement::Switch { cases, .. } => cases.iter().map(|case| count_loops(&case.body)).sum(),
            naga::Statement::Loop { body, continuing, .. } => 1 + count_loops(body) + count_loops(continuing),
            _ => 0,
        })
        .sum()
}

#[test]
fn every_kernel_with_trusted_indices_is_as_it_was_read() {
    let trusted = kernels().into_iter().filter(|kernel| matches!(kernel.trust, Trust::LoopsAndIndices(_)));
    let mut found: Vec<_> = trusted.map(|kernel| (kernel.label, hash(&code(kernel)))).collect();
    found.sort_unstable();
    assert_eq!(found, INDICES, "argue again that the indices of what changed are in bounds");
}

#[test]
fn a_changed_kernel_is_found() {
    let kernel = kernels().into_iter().find(|kernel| kernel.label == "hullfield.flow.wave").unwrap();
    let text = code(kernel);
    assert!(!text.contains("//") && hash(&text) != hash(&text.replace("PITCH", "pitch")));
    assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
    let heads = "for (var i = 0u; i < n; i += 1u) {\n} while x {\nloop {\nlet forward = 1;\nfor x\nwhilex\n";
    let expected = ["for (var i = 0u; i < n; i += 1u) {", "} while x {", "loop {", "for x"];
    assert_eq!(loops(heads), expected.map(str::to_owned).into());
}

#[test]
fn a_trusted_kernel_says_why() {
    for kernel in kernels() {
        if let Trust::Loops(why) | Trust::LoopsAndIndices(why) = kernel.trust {
            assert!(why.len() > 10, "{}", kernel.label);
        }
    }
}
