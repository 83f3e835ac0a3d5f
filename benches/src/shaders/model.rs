//! What a subgroup issues for a pair, modelled: the instructions of each loop of a compiled kernel, times how often a subgroup of 32 runs
//! it. It compares kernels whose loops differ, where RADV's count of all instructions says little. It says nothing of waiting for memory.

use crate::report::{Cell, Table};

/// Invocations of the subgroups that the trips were counted for.
pub(crate) const SUBGROUP: u32 = 32;

/// A loop of a compiled kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Loop {
    /// Loops around it; 0: the code outside of all loops.
    pub(crate) depth: usize,
    /// Issue slots of its own code, without that of the loops in it.
    pub(crate) slots: u64,
}

/// A block of an assembly listing.
#[derive(Debug, Default)]
struct Block {
    number: usize,
    slots: u64,
    targets: Vec<usize>,
}

/// Instructions that only steer the instruction buffer or wait.
const FREE: [&str; 5] = ["s_waitcnt", "s_nop", "s_clause", "s_inst_prefetch", "s_code_end"];

/// Instructions at a quarter of the rate.
const SLOW: [&str; 3] = ["v_rcp", "v_rsq", "v_sqrt"];

fn slots(operation: &str) -> u64 {
    let starts = |names: &[&str]| names.iter().any(|name| operation.starts_with(name));
    if starts(&FREE) {
        0
    } else if starts(&SLOW) {
        4
    } else {
        1
    }
}

/// The number of a label such as `BB12`.
fn label(word: &str) -> Option<usize> {
    word.strip_prefix("BB")?.parse().ok()
}

/// The loops of an assembly listing of RADV's, in the order of their first blocks; the first entry is the code outside of all loops. A
/// loop is what a branch backwards encloses.
pub(crate) fn loops(assembly: &str) -> Vec<Loop> {
    let mut blocks: Vec<Block> = Vec::new();
    for line in assembly.lines() {
        let code = line.split(';').next().unwrap_or_default().trim();
        if let Some(number) = code.strip_suffix(':').and_then(label) {
            blocks.push(Block { number, ..Block::default() });
            continue;
        }
        let (Some(block), Some(operation)) = (blocks.last_mut(), code.split_whitespace().next()) else {
            continue;
        };
        block.slots += slots(operation);
        if operation.starts_with("s_branch") || operation.starts_with("s_cbranch") {
            block.targets.extend(code.split_whitespace().nth(1).and_then(label));
        }
    }
    let place = |number: usize| blocks.iter().position(|block| block.number == number);
    // First and last block of each loop.
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for (last, block) in blocks.iter().enumerate() {
        for first in block.targets.iter().filter_map(|&number| place(number)).filter(|&first| first <= last) {
            match spans.iter_mut().find(|span| span.0 == first) {
                Some(span) => span.1 = span.1.max(last),
                None => spans.push((first, last)),
            }
        }
    }
    spans.sort_unstable();
    spans.insert(0, (0, blocks.len().saturating_sub(1)));
    let around = |first: usize, last: usize| {
        spans.iter().filter(|span| span.0 <= first && last <= span.1).count().saturating_sub(1)
    };
    let mut found: Vec<Loop> = spans
        .iter()
        .enumerate()
        .map(|(index, &(first, last))| Loop {
            depth: if index == 0 { 0 } else { around(first, last) },
            slots: 0,
        })
        .collect();
    for (at, block) in blocks.iter().enumerate() {
        let inside = (0..spans.len()).filter(|&index| spans[index].0 <= at && at <= spans[index].1);
        if let Some(innermost) = inside.max_by_key(|&index| found[index].depth) {
            found[innermost].slots += block.slots;
        }
    }
    found
}

/// How often a subgroup runs a loop of a kernel: a turn counts if one of its invocations takes it.
#[derive(Debug, Clone, Copy)]
struct Trips {
    depth: usize,
    trips: f64,
}

const fn outside() -> Trips {
    Trips { depth: 0, trips: 1.0 }
}

const fn at(depth: usize, trips: f64) -> Trips {
    Trips { depth, trips }
}

/// Something to model: a kernel, its loops in order, and among how many it is shared out.
struct Quantity {
    name: &'static str,
    kernel: &'static str,
    loops: &'static [Trips],
    share: f64,
}

// The trips of pairs are those of 16,000 random pairs of 32 hulls with 32 vertices on a sphere: 21 % are apart by their spheres, 39 %
// overlap. A program without SIMD ran the same searches, with a record of what each pair does in each step. 32 successive pairs are a
// subgroup. It takes as many turns as the one that needs most, in the mean over the subgroups.
/// Directions of GJK for a verdict, in the subgroups that search, and the faces that they examine for each.
const VERDICT_DIRECTIONS: f64 = 7.3;
const VERDICT_FACES: f64 = 0.82;
/// Of the subgroups of workgroups of 64, those that search: 42 % of the pairs are open after the first direction.
const SEARCHED: f64 = 0.55;
/// The same for a distance; there all search.
const DISTANCE_DIRECTIONS: f64 = 8.9;
const DISTANCE_FACES: f64 = 1.66;
/// The same before EPA.
const DEPTH_DIRECTIONS: f64 = 6.7;
const DEPTH_FACES: f64 = 0.71;
/// Corners that EPA adds.
const CORNERS: f64 = 17.5;
/// Share of the pairs that need EPA.
const OVERLAPS: f64 = 0.39;
/// Turns of a scan of 32 vertices, eight a turn.
const SCAN: f64 = 4.0;
/// For each corner: groups of 32 faces, turns over the faces, two a turn, visible faces, and corners around them.
const FACE_GROUPS: f64 = 3.0;
const FACE_TURNS: f64 = 9.6;
const VISIBLE: f64 = 3.0;
const AROUND: f64 = 4.9;
/// Faces at the end.
const LAST_FACES: f64 = 37.0;
/// Corners that complete a tetrahedron, and directions tried for them: most pairs have one already.
const COMPLETED: f64 = 0.0;
/// Steps of a round of a wave, four a turn, and turns of the loops before and after them.
const STEPS: f64 = 32.0;
const WAVE_TURNS: f64 = STEPS / 4.0;
const WAVE_CLEARS: f64 = 6.1;
const WAVE_LEVELS: f64 = 16.0;

// In a hull without a table the loop over listed vertices is not run.
const LISTED: f64 = 0.0;
// There are no half-spaces, and no margin beyond which a pair has no distance.
const PLANES: f64 = 0.0;
const WITHIN_MARGIN: f64 = 0.0;

const QUANTITIES: [Quantity; 4] = [
    Quantity {
        name: "yes/no, a pair",
        kernel: "hullfield.collide.gjk",
        loops: &[
            outside(),
            at(1, PLANES),
            at(1, PLANES),
            at(1, LISTED),
            at(1, SCAN),
            at(1, LISTED),
            at(1, SCAN),
            at(1, SEARCHED * VERDICT_DIRECTIONS),
            at(2, LISTED),
            at(2, SEARCHED * VERDICT_DIRECTIONS * SCAN),
            at(2, LISTED),
            at(2, SEARCHED * VERDICT_DIRECTIONS * SCAN),
            at(2, SEARCHED * VERDICT_DIRECTIONS * VERDICT_FACES),
        ],
        share: SUBGROUP as f64,
    },
    Quantity {
        name: DISTANCE,
        kernel: "hullfield.collide.measure",
        loops: &[
            outside(),
            at(1, PLANES),
            at(1, PLANES),
            at(1, LISTED),
            at(1, WITHIN_MARGIN),
            at(1, LISTED),
            at(1, WITHIN_MARGIN),
            at(1, DISTANCE_DIRECTIONS),
            at(2, LISTED),
            at(2, DISTANCE_DIRECTIONS * SCAN),
            at(2, LISTED),
            at(2, DISTANCE_DIRECTIONS * SCAN),
            at(2, DISTANCE_DIRECTIONS * DISTANCE_FACES),
        ],
        share: SUBGROUP as f64,
    },
    Quantity {
        name: DEPTH,
        kernel: "hullfield.collide.depth",
        loops: &[
            outside(),
            at(1, DEPTH_DIRECTIONS),
            at(2, LISTED),
            at(2, DEPTH_DIRECTIONS * SCAN),
            at(2, LISTED),
            at(2, DEPTH_DIRECTIONS * SCAN),
            at(2, DEPTH_DIRECTIONS * DEPTH_FACES),
            at(1, COMPLETED),
            at(2, COMPLETED),
            at(3, COMPLETED),
            at(3, COMPLETED),
            at(3, COMPLETED),
            at(3, COMPLETED),
            at(1, CORNERS),
            at(2, LISTED),
            at(2, CORNERS * SCAN),
            at(2, LISTED),
            at(2, CORNERS * SCAN),
            at(2, CORNERS * FACE_GROUPS),
            at(3, CORNERS * FACE_TURNS),
            at(3, CORNERS * VISIBLE),
            at(2, CORNERS * AROUND),
            at(1, LAST_FACES),
        ],
        share: SUBGROUP as f64,
    },
    Quantity {
        name: "wave, a subgroup and step",
        kernel: "hullfield.flow.wave",
        loops: &[outside(), at(1, WAVE_CLEARS), at(1, WAVE_TURNS), at(1, WAVE_LEVELS)],
        share: STEPS,
    },
];
const DISTANCE: &str = "distance, a pair";
const DEPTH: &str = "depth, an overlapping pair";

/// The modelled issue slots, if the kernel has the loops that the model knows.
fn modelled(quantity: &Quantity, found: &[Loop]) -> Option<f64> {
    let known = quantity.loops.iter().map(|known| known.depth);
    let is_known = known.eq(found.iter().map(|found| found.depth));
    let slots = quantity.loops.iter().zip(found).map(|(known, found)| known.trips * found.slots as f64);
    is_known.then(|| slots.sum::<f64>() / quantity.share)
}

/// The table for a target; `rows` are its kernels and their loops. `None` if no kernel is modelled.
pub(crate) fn table(target: &str, rows: &[(&str, &[Loop])]) -> Option<Table> {
    let mut table = Table::new(
        "model",
        "Modelled instructions",
        &["quantity", "kernel", "target", "modelled_instructions"],
    );
    let mut values = Vec::new();
    for quantity in &QUANTITIES {
        let Some((_, found)) = rows.iter().find(|(kernel, _)| *kernel == quantity.kernel) else { continue };
        let value = modelled(quantity, found);
        values.push((quantity.name, value));
        table.row([
            quantity.name.into(),
            quantity.kernel.into(),
            target.into(),
            value.map_or(Cell::Empty, |value| Cell::Number(value, 0)),
        ]);
        if value.is_none() {
            let depths: Vec<String> = found.iter().map(|found| found.depth.to_string()).collect();
            table.note(format!(
                "{}: its loops are not those of the model; their depths are {}",
                quantity.kernel,
                depths.join(" ")
            ));
        }
    }
    let value = |name| values.iter().find(|value| value.0 == name).and_then(|value| value.1);
    if let (Some(distance), Some(depth)) = (value(DISTANCE), value(DEPTH)) {
        table.row([
            "contact, a pair".into(),
            "both".into(),
            target.into(),
            Cell::Number(distance + OVERLAPS * depth, 0),
        ]);
    }
    table.note("issue slots of a subgroup of 32, shared out among its pairs; hulls of 32 vertices, 39 % of pairs overlap");
    (!values.is_empty()).then_some(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "\
BB0:
	s_mov_b32 s0, 0                                             ; be800380
	v_rcp_f32_e32 v0, v1                                        ; 7e005501
	s_cbranch_execz BB9                                         ; bf880009
BB2:
	v_add_f32_e32 v0, v0, v1                                    ; 06000300
	s_waitcnt vmcnt(0)                                          ; bf8c3f70
	s_cbranch_scc1 BB7                                          ; bf850007
BB4:
	v_mul_f32_e32 v0, v0, v1                                    ; 10000300
	v_mul_f32_e32 v0, v0, v1                                    ; 10000300
	s_cbranch_scc0 BB4                                          ; bf840004
BB5:
	s_branch BB2                                                ; bf820002
BB7:
	s_nop 0                                                     ; bf800000
BB8:
	v_add_f32_e32 v0, v0, v1                                    ; 06000300
	s_cbranch_scc0 BB8                                          ; bf840008
BB9:
	s_endpgm                                                    ; bf810000
";

    #[test]
    fn a_loop_is_what_a_branch_backwards_encloses() {
        let expected = [(0, 7), (1, 3), (2, 3), (1, 2)].map(|(depth, slots)| Loop { depth, slots });
        assert_eq!(loops(LISTING), expected);
        assert_eq!(loops(""), [Loop { depth: 0, slots: 0 }]);
    }

    #[test]
    fn trips_multiply_the_loops_they_belong_to() {
        const LOOPS: &[Trips] = &[outside(), at(1, 10.0), at(2, 100.0), at(1, 0.0)];
        let quantity = Quantity { name: "a", kernel: "b", loops: LOOPS, share: 2.0 };
        assert_eq!(modelled(&quantity, &loops(LISTING)), Some((7.0 + 30.0 + 300.0) / 2.0));
        assert_eq!(modelled(&quantity, &loops(LISTING)[..3]), None);
    }

    #[test]
    fn a_kernel_with_other_loops_has_no_value_and_a_note() {
        let found = loops(LISTING);
        let table = table("navi21:32", &[("hullfield.flow.wave", &found)]).unwrap();
        let mut report = crate::report::Report::new(Vec::new());
        report.table(table);
        let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
        let table = &json["tables"][0];
        assert_eq!(table["rows"][0]["modelled_instructions"], serde_json::Value::Null);
        assert!(table["notes"][0].as_str().unwrap().contains("depths are 0 1 2 1"), "{table}");
        assert!(super::table("navi21:32", &[("hullfield.collide.spheres", &found)]).is_none());
    }
}
