//! Worlds of about as many bodies as are searched without a tree: 32. Each is held against a query of its own, which has a tree or tiles.

use hullfield::collide::{BodyColumns, Exclusions, Pairs};
use hullfield_oracle::{extent, pick};

use crate::answers::engines;
use crate::worlds::{answers, arena, crowd, motions, same, separate};

/// The world of each body, for worlds of these sizes: one after the other, or in turn.
fn worlds_of(sizes: &[usize], in_turn: bool) -> Vec<u32> {
    let mut left = sizes.to_vec();
    let mut ids = Vec::new();
    // Ids between which there are worlds without bodies.
    let id = |world: usize| 3 * world as u32 + 1;
    if in_turn {
        while left.iter().any(|&size| size > 0) {
            for (world, left) in left.iter_mut().enumerate().filter(|(_, left)| **left > 0) {
                *left -= 1;
                ids.push(id(world));
            }
        }
        return ids;
    }
    sizes.iter().enumerate().flat_map(|(world, &size)| vec![id(world); size]).collect()
}

const ALL_SMALL: &[usize] = &[1, 2, 31, 32, 30, 8, 7, 9, 1, 16, 17, 32];
const MIXED: &[usize] = &[1, 31, 32, 33, 2, 100, 32, 34, 1, 31];

#[test]
fn worlds_around_the_limit_equal_separate_queries() {
    let full: [&[usize]; 6] = [ALL_SMALL, MIXED, &[33, 33], &[32; 9], &[1; 20], &[31, 32]];
    // A software GPU tests four lists of sizes, each in another of the four ways.
    let others = pick(45, &[2, 3, 4, 5], 2);
    let first_way = pick(44, &[0, 1, 2, 3], 1)[0];
    for (at, &sizes) in extent(&full[..2], &full[..]).iter().enumerate() {
        let turn =
            if at < 2 { Some(at) } else { others.iter().position(|&other| other == at).map(|k| k + 2) };
        let count = sizes.iter().sum();
        let moved = motions(count, 43);
        // Without half-spaces among the bodies, and with one in about every other world.
        for (way, (ground, in_turn)) in [(usize::MAX, false), (23, true)].into_iter().enumerate() {
            let bodies = crowd(count, 3.2, ground, 41);
            let ids = worlds_of(sizes, in_turn);
            let still = crowd(20, 3.2, 15, 42);
            for still in [&still[..], &[]] {
                for (name, engine) in engines() {
                    let way = 2 * way + usize::from(still.is_empty());
                    if name == "gpu" && turn.is_none_or(|turn| way != (first_way + turn) % 4) {
                        continue;
                    }
                    let arena = arena(&engine, still);
                    let columns = BodyColumns { worlds: &ids, ..BodyColumns::new(&bodies) };
                    let what = format!("{name}: {sizes:?}, {ground}, {} statics", still.len());
                    let found = answers(&arena, columns, &moved, Pairs::BroadPhase);
                    let expected = separate(&arena, &bodies, &ids, &moved, Pairs::BroadPhase);
                    same(&found, &expected).unwrap_or_else(|text| panic!("{what}: {text}"));
                    if count < 100 {
                        continue;
                    }
                    assert!(found.iter().all(|answer| answer.rows.len() > 20), "{what}");
                    // Control: a body in another world is seen.
                    let mut other = ids.clone();
                    let hit = found[0].rows[0].0[0] as usize;
                    other[hit] = other.iter().copied().find(|&world| world != ids[hit]).unwrap();
                    let wrong =
                        answers(&arena, BodyColumns { worlds: &other, ..columns }, &moved, Pairs::BroadPhase);
                    assert!(same(&wrong, &expected).is_err(), "{what}");
                }
            }
        }
    }
}

/// Owners, exclusions and positions in f64, against every pair.
#[test]
fn rules_and_far_positions_hold_in_worlds_around_the_limit() {
    for sizes in [ALL_SMALL, MIXED] {
        let count: usize = sizes.iter().sum();
        let moved = motions(count, 53);
        let bodies = crowd(count, 3.2, 40, 51);
        let still = crowd(20, 3.2, 15, 52);
        let ids = worlds_of(sizes, false);
        // Two bodies of an owner, but for those at the end of a world.
        let owners: Vec<u32> = (0..count)
            .map(|row| if row % 2 == 1 && ids[row - 1] == ids[row] { row as u32 - 1 } else { row as u32 })
            .collect();
        let excluded: Vec<[u32; 2]> = (0..count as u32 - 3).step_by(7).map(|row| [row, row + 3]).collect();
        let exclusions = Exclusions::new(&excluded).unwrap().with_statics(&[[2, 1], [5, 14]]);
        let positions: Vec<[f64; 3]> = bodies.iter().map(|body| body.position.map(f64::from)).collect();
        let plain = BodyColumns { worlds: &ids, ..BodyColumns::new(&bodies) };
        let ways = [
            BodyColumns { owners: &owners, ..plain },
            BodyColumns { exclusions: Some(&exclusions), ..plain },
            BodyColumns { positions: &positions, exclusions: Some(&exclusions), ..plain },
        ];
        for (name, engine) in engines() {
            let arena = arena(&engine, &still);
            for (way, columns) in ways.into_iter().enumerate() {
                let [mut found, mut expected] = [Pairs::BroadPhase, Pairs::Exhaustive]
                    .map(|pairs| answers(&arena, columns, &moved, pairs));
                found.truncate(expected.len());
                // The broad phase has fewer candidates, and the same rows.
                for answer in found.iter_mut().chain(&mut expected) {
                    answer.candidate_count = 0;
                }
                let what = format!("{name}: {sizes:?}, way {way}");
                // Sweeps list misses of candidates, so other pairs with each broad phase.
                same(&found[..5], &expected[..5]).unwrap_or_else(|text| panic!("{what}: {text}"));
                let free = answers(&arena, plain, &moved, Pairs::BroadPhase);
                assert!(same(&found[..5], &free[..5]).is_err(), "{what}");
            }
        }
    }
}
