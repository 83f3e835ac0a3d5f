//! Worlds, owners and exclusions: which bodies of a query meet.

use std::collections::HashSet;

use hullfield::collide::{
    Arena, Batch, Body, BodyColumns, ContactOptions, DistanceOptions, Exclusions, GradientOptions, Hull,
    ManifoldOptions, Motion, Options, Pairs, PointOptions, Precision, Ray, RayOptions, SweepOptions,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, pick, seed};

use crate::answers::engines;

const BALL: u32 = 1;
const HALF_SPACE: u32 = 3;

fn hulls() -> Vec<Hull> {
    let corners = [[0.6, 0.0, 0.0], [-0.4, 0.5, 0.0], [-0.3, -0.6, 0.1], [0.0, 0.1, 0.7]];
    vec![
        Hull::cuboid([0.5; 3]).unwrap(),
        Hull::ball(0.4).unwrap(),
        Hull::from_points(&corners).unwrap(),
        Hull::half_space(),
    ]
}

/// A crowd in a cube of such a side, one in nine in groups of its own; every `ground`-th body is a half-space below it.
pub(crate) fn crowd(count: usize, side: f64, ground: usize, seed: u64) -> Vec<Body> {
    let mut random = Random::new(seed);
    (0..count)
        .map(|i| {
            let at = [0; 3].map(|_| random.between(-0.5 * side, 0.5 * side) as f32);
            let body = Body::new((i % 3) as u32).at(at);
            match i {
                _ if i % ground == ground - 1 => {
                    Body { hull: HALF_SPACE, position: [0.0, (-0.4 * side) as f32, 0.0], ..body }
                }
                _ if i % 9 == 4 => body.grouped(1 << (i % 2), if i % 5 == 0 { 0b101 } else { 0b111 }),
                _ if i % 7 == 0 => body.padded(0.1),
                _ => body,
            }
        })
        .collect()
}

/// Some fast, some slow, one in ten turns.
pub(crate) fn motions(count: usize, seed: u64) -> Vec<Motion> {
    let mut random = Random::new(seed);
    let mut vector = |length: f64| (random.direction() * length).as_vec3().to_array();
    (0..count)
        .map(|i| Motion {
            velocity: vector(if i % 4 == 0 { 8.0 } else { 1.0 }),
            angular_velocity: if i % 10 == 9 { vector(3.0) } else { [0.0; 3] },
        })
        .collect()
}

pub(crate) fn arena(engine: &Engine, still: &[Body]) -> Arena {
    Arena::new(engine, &hulls(), Options { statics: still.to_vec(), ..Default::default() }).unwrap()
}

/// The rows of a query: the pair, and every number of the row as text, which is equal only where each bit is.
pub(crate) type Rows = Vec<([u32; 2], String)>;

/// The rows of a kind of query, and its number of candidates.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Answer {
    pub(crate) rows: Rows,
    pub(crate) candidate_count: u64,
}

macro_rules! answer {
    ($pending:expr) => {{
        let Batch { rows, stats, .. } = $pending.unwrap().wait().unwrap();
        let mut named = Rows::new();
        for mut row in rows {
            let pair = [std::mem::take(&mut row.a), std::mem::take(&mut row.b)];
            named.push((pair, format!("{row:?}")));
        }
        let rows = named;
        Answer { rows, candidate_count: stats.candidate_count }
    }};
}

/// The answers of all kinds of queries.
pub(crate) fn answers(
    arena: &Arena,
    columns: BodyColumns<'_>,
    motions: &[Motion],
    pairs: Pairs<'_>,
) -> Vec<Answer> {
    let duration = SweepOptions { duration: 0.1, ..Default::default() };
    let mut found = vec![
        answer!(arena.intersections(columns, pairs)),
        answer!(arena.distances(columns, pairs, &DistanceOptions { margin: 0.3 })),
        answer!(arena.contacts(columns, pairs, &ContactOptions { margin: 0.0 })),
        answer!(arena.manifolds(columns, pairs, &ManifoldOptions { margin: 0.1 })),
        answer!(arena.gradients(columns, pairs, &GradientOptions { margin: 0.1 })),
        answer!(arena.sweeps(columns, motions, pairs, &duration)),
    ];
    if pairs == Pairs::BroadPhase {
        let pairs = arena.candidates(columns).unwrap().wait().unwrap();
        let candidate_count = pairs.len() as u64;
        found.push(Answer {
            rows: pairs.into_iter().map(|pair| (pair, String::new())).collect(),
            candidate_count,
        });
    }
    found
}

/// The rows of each world's bodies, in the order of the worlds' ids.
pub(crate) fn rows_of_worlds(worlds: &[u32]) -> Vec<Vec<u32>> {
    let mut ids = worlds.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let mut rows = vec![Vec::new(); ids.len()];
    for (row, world) in (0..).zip(worlds) {
        rows[ids.binary_search(world).unwrap()].push(row);
    }
    rows
}

/// The answers of a query for each world, one after the other, with the rows of the whole.
pub(crate) fn separate(
    arena: &Arena,
    bodies: &[Body],
    worlds: &[u32],
    motions: &[Motion],
    pairs: Pairs<'_>,
) -> Vec<Answer> {
    let mut all: Vec<Answer> = Vec::new();
    for rows in rows_of_worlds(worlds) {
        let own: Vec<Body> = rows.iter().map(|&row| bodies[row as usize]).collect();
        let moved: Vec<Motion> = rows.iter().map(|&row| motions[row as usize]).collect();
        let found = answers(arena, BodyColumns::new(&own), &moved, pairs);
        all.resize(found.len(), Answer::default());
        let name = |id: u32| match rows.get(id as usize) {
            Some(&row) => row,
            None => id - own.len() as u32 + bodies.len() as u32,
        };
        for (all, found) in all.iter_mut().zip(found) {
            all.rows.extend(found.rows.into_iter().map(|(pair, text)| (pair.map(name), text)));
            all.candidate_count += found.candidate_count;
        }
    }
    all
}

/// Compares two lists of answers, and says what differs.
pub(crate) fn same(found: &[Answer], expected: &[Answer]) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!("{} answers instead of {}", found.len(), expected.len()));
    }
    for (kind, (found, expected)) in found.iter().zip(expected).enumerate() {
        let rows = found.rows.iter().zip(&expected.rows);
        if let Some((found, expected)) = rows.into_iter().find(|(found, expected)| found != expected) {
            return Err(format!("query {kind}: {found:?} instead of {expected:?}"));
        }
        let lens = [found, expected].map(|answer| (answer.rows.len(), answer.candidate_count));
        if lens[0] != lens[1] {
            return Err(format!("query {kind}: rows and candidates {lens:?}"));
        }
    }
    Ok(())
}

/// Worlds of bodies: all in turn, in blocks, or one large one among small ones.
pub(crate) fn worlds(kind: &str, count: usize, world_count: usize) -> Vec<u32> {
    let id = |world: usize| (world as u32).wrapping_mul(0x9e37_79b9) >> 4;
    let mut ids: Vec<u32> = (0..world_count).map(id).collect();
    ids.sort_unstable();
    (0..count)
        .map(|i| match kind {
            "in turn" => ids[i * 7 % world_count],
            "in blocks" => (i * world_count / count) as u32,
            "one large" => {
                if i % 3 == 0 {
                    ids[i / 3 % world_count]
                } else {
                    ids[world_count / 2]
                }
            }
            _ => panic!("{kind}"),
        })
        .collect()
}

#[test]
fn worlds_equal_separate_queries() {
    let short = [(300, 5, "in turn"), (2_060, 6, "one large")];
    let full = [
        (2, 2, "in turn"),
        (3, 2, "in blocks"),
        (300, 5, "in turn"),
        (120, 40, "in blocks"),
        (400, 50, "in blocks"),
    ];
    let large = pick(1, &[(2_060, 4, "one large"), (2_060, 40, "in turn")], 1);
    let full = [&full[..], &large].concat();
    let cases = extent(&short[..], &full[..]);
    // A software GPU would take a minute for all. It tests the smallest crowds, each kind of middle crowd with statics or without, and the large one.
    let without = pick(2, &["in turn", "in blocks"], 1)[0];
    let on_gpu = |case: (usize, usize, &str), has_statics: bool| match case.0 {
        0..100 => true,
        100..350 => cases.len() == short.len() || has_statics != (case.2 == without),
        _ => case.0 > 1_000,
    };
    for &(count, world_count, kind) in cases {
        // So many that each body of a world has some partners in it.
        let side = 1.3 * (count as f64 / world_count as f64).cbrt();
        let bodies = crowd(count, side, count / 3 + 50, 1);
        let still = crowd(20, side, 15, 2);
        let moved = motions(count, 3);
        let ids = worlds(kind, count, world_count);
        let both = [&still[..], &[]];
        for still in &both[..if count < 1_000 { extent(1, 2) } else { 1 }] {
            for (name, engine) in engines() {
                if name == "gpu" && !on_gpu((count, world_count, kind), !still.is_empty()) {
                    continue;
                }
                let arena = arena(&engine, still);
                let columns = BodyColumns { worlds: &ids, ..BodyColumns::new(&bodies) };
                let all_pairs = [Pairs::BroadPhase, Pairs::Exhaustive];
                for pairs in &all_pairs[..if count < 1_000 { 2 } else { 1 }] {
                    let what = format!("{name}: {count} bodies, {world_count} worlds {kind}, {pairs:?}");
                    let found = answers(&arena, columns, &moved, *pairs);
                    let expected = separate(&arena, &bodies, &ids, &moved, *pairs);
                    same(&found, &expected).unwrap_or_else(|text| panic!("{what}: {text}"));
                    if count < 300 || name != "cpu" {
                        continue;
                    }
                    assert!(found.iter().all(|answer| answer.rows.len() > 20), "{what}");
                    // Control: a body in another world, and a row left out, are seen.
                    let mut other = ids.clone();
                    let hit = found[0].rows[0].0[0] as usize;
                    other[hit] = other.iter().copied().find(|&world| world != ids[hit]).unwrap();
                    let wrong = separate(&arena, &bodies, &other, &moved, *pairs);
                    assert!(same(&found, &wrong).is_err(), "{what}");
                    let mut short = expected;
                    short[3].rows.pop();
                    assert!(same(&found, &short).is_err(), "{what}");
                }
            }
        }
    }
}

/// The worlds' rows are in the order of the worlds' ids, and by rows within each.
#[test]
fn rows_are_grouped_by_world() {
    let bodies = [Body::new(BALL); 6];
    let ids = [9, 4, 9, 4, u32::MAX, 9];
    for (name, engine) in engines() {
        let found = arena(&engine, &[Body::new(0)])
            .intersections(BodyColumns { worlds: &ids, ..BodyColumns::new(&bodies) }, Pairs::BroadPhase)
            .unwrap()
            .wait()
            .unwrap();
        let pairs: Vec<[u32; 2]> = found.rows.iter().map(|row| [row.a, row.b]).collect();
        let expected = [[1, 3], [1, 6], [3, 6], [0, 2], [0, 5], [0, 6], [2, 5], [2, 6], [5, 6], [4, 6]];
        assert_eq!(pairs, expected, "{name}");
    }
}

/// Bodies past one binding are split into blocks, of whole worlds where that goes, and a world may be larger than a block.
#[cfg(feature = "gpu")]
#[test]
fn blocks_of_bodies_obey_the_rules() {
    use crate::common::{gpu, gpu_of_bindings};

    let (Some(whole), Some(cut)) = (gpu(), gpu_of_bindings(crate::parts::LIMIT)) else { return };
    // A software GPU takes many seconds for a larger crowd. Each larger crowd has one kind of rule; each run picks one of them.
    let larger = pick(30, &[(780, 70, "in turn"), (780, 2, "in blocks"), (600, 600, "in blocks")], 1);
    for &(count, world_count, kind) in
        extent(&[(520, 3, "one large")][..], &[[(520, 3, "one large")].as_slice(), &larger].concat())
    {
        let ids = worlds(kind, count, world_count);
        let moved = motions(count, 32);
        // Without worlds, so that an owner's parts may be of several.
        let owners: Vec<u32> = (0..count as u32).map(|row| row / 5).collect();
        // Whether there are worlds, owners and exclusions. Worlds overlap; bodies of no world have room.
        let ways = [(true, false, true), (false, true, false), (false, false, true), (true, false, false)];
        let ways = match (world_count, kind) {
            (3, _) => &pick(35, &ways[..3], 1)[..],
            (70, _) => &ways[..1],
            (2, _) => &ways[1..2],
            _ => &ways[2..3],
        };
        for &(has_worlds, has_owners, has_exclusions) in ways {
            let sharing = if has_worlds { world_count } else { 1 };
            let side = 1.3 * (count as f64 / sharing as f64).cbrt();
            let bodies = crowd(count, side, count / 3 + 50, 31);
            // In two blocks beside the larger crowds.
            let still = crowd(if world_count == 3 { 60 } else { 300 }, side, 40, 33);
            // A software device keeps memory of each query, so that a crowd is with statics or without.
            let is_without = world_count == 3 && pick(36, &[false, true], 1)[0];
            let still = if is_without { &[] } else { &still[..] };
            // Some pairs that touch too, so that each crowd has rows less. All of them would not fit a binding.
            let touching = arena(&Engine::cpu(), &[])
                .intersections(BodyColumns::new(&bodies), Pairs::BroadPhase)
                .unwrap()
                .wait()
                .unwrap();
            let mut excluded: Vec<[u32; 2]> =
                (0..count as u32 - 9).step_by(3).map(|row| [row, row + 9]).collect();
            excluded.extend(touching.rows.iter().step_by(3).take(60).map(|hit| [hit.a, hit.b]));
            if !still.is_empty() {
                excluded.push([count as u32, 0]);
            }
            let of_statics: &[[u32; 2]] = if still.is_empty() { &[] } else { &[[2, 1]] };
            let exclusions = Exclusions::new(&excluded).unwrap().with_statics(of_statics);
            let columns = BodyColumns {
                worlds: if has_worlds { &ids } else { &[] },
                owners: if has_owners { &owners } else { &[] },
                exclusions: has_exclusions.then_some(&exclusions),
                ..BodyColumns::new(&bodies)
            };
            let (whole, cut) = (arena(&whole, still), arena(&cut, still));
            let free = answers(&whole, BodyColumns::new(&bodies), &moved, Pairs::BroadPhase);
            let ways: &[Pairs<'_>] = match world_count {
                3 => &[Pairs::BroadPhase, Pairs::Exhaustive],
                _ => &[Pairs::BroadPhase],
            };
            for &pairs in ways {
                let found = answers(&cut, columns, &moved, pairs);
                let expected = answers(&whole, columns, &moved, pairs);
                let what = format!(
                    "{count} bodies, {world_count} worlds, columns {:?}, {pairs:?}",
                    (has_worlds, has_owners, has_exclusions)
                );
                same(&found, &expected).unwrap_or_else(|text| panic!("{what}: {text}"));
                // Control: without the columns there are other rows.
                assert!(same(&found, &free).is_err(), "{what}");
            }
        }
    }
}

/// Past the sizes of the tiles, of the runs of a sort, and of 16 bits: against separate queries of the CPU engine, and one engine
/// against the other.
#[test]
fn many_worlds_have_their_own_pairs() {
    let short = [(33_000, 2_100, "in turn")];
    let in_parts = [(33_000, 2_100, "in turn"), (33_000, 100, "one large")];
    let in_blocks = [(65_536, 4_096, "in blocks"), (66_000, 66_000, "in blocks")];
    let full = [pick(7, &in_parts, 1), pick(8, &in_blocks, 1)].concat();
    for &(count, world_count, kind) in extent(&short[..], &full) {
        let side = 1.4 * (count as f64 / world_count as f64).cbrt();
        let (bodies, ids) = (crowd(count, side, usize::MAX, 5), worlds(kind, count, world_count));
        let still = crowd(12, side, 11, 6);
        let columns = BodyColumns { worlds: &ids, ..BodyColumns::new(&bodies) };
        let mut expected = Vec::new();
        let on_cpu = arena(&Engine::cpu(), &still);
        for rows in rows_of_worlds(&ids) {
            let own: Vec<Body> = rows.iter().map(|&row| bodies[row as usize]).collect();
            let pairs = on_cpu.candidates(&own).unwrap().wait().unwrap();
            let name = |id: u32| match rows.get(id as usize) {
                Some(&row) => row,
                None => id - own.len() as u32 + count as u32,
            };
            expected.extend(pairs.into_iter().map(|pair| pair.map(name)));
        }
        let mut hits = None;
        for (name, engine) in engines() {
            let what = format!("{name}: {count} bodies, {world_count} worlds {kind}");
            let arena = arena(&engine, &still);
            let found = arena.candidates(columns).unwrap().wait().unwrap();
            assert!(
                found == expected && found.len() > count / 4,
                "{what}: {} {}",
                found.len(),
                expected.len()
            );
            let found = arena.intersections(columns, Pairs::BroadPhase).unwrap().wait().unwrap();
            assert_eq!(found.stats.candidate_count, expected.len() as u64, "{what}");
            let rows: Vec<_> = found.rows.iter().map(|row| (row.a, row.b, row.status)).collect();
            assert!(*hits.get_or_insert_with(|| rows.clone()) == rows, "{what}");
            // Control.
            assert!(expected[1..] != found.rows.iter().map(|row| [row.a, row.b]).collect::<Vec<_>>());
        }
    }
}

/// A body alone in its world meets the statics only.
#[test]
fn a_hundred_thousand_worlds_of_one_body() {
    let count = extent(20_000, 100_000);
    let bodies: Vec<Body> = (0..count).map(|_| Body::new(BALL)).collect();
    let ids: Vec<u32> = (0..count as u32).rev().collect();
    let columns = BodyColumns { worlds: &ids, ..BodyColumns::new(&bodies) };
    for (name, engine) in engines() {
        let alone = arena(&engine, &[]).intersections(columns, Pairs::BroadPhase).unwrap().wait().unwrap();
        assert_eq!((alone.rows.len(), alone.stats.candidate_count), (0, 0), "{name}");
        let still = [Body::new(0), Body::new(0).at([9.0; 3])];
        let found = arena(&engine, &still).intersections(columns, Pairs::BroadPhase).unwrap().wait().unwrap();
        let pairs = found.rows.iter().map(|row| [row.a, row.b]);
        assert!(pairs.eq((0..count as u32).rev().map(|row| [row, count as u32])), "{name}");
    }
}

/// A set of rules, as a caller gives it.
struct Rules<'a> {
    worlds: &'a [u32],
    owners: &'a [u32],
    pairs: Vec<[u32; 2]>,
    statics: Vec<[u32; 2]>,
}

/// Whether rules let a pair meet: written out for each pair.
struct Judge<'a> {
    rules: &'a Rules<'a>,
    pairs: HashSet<[u32; 2]>,
    statics: HashSet<[u32; 2]>,
    body_count: usize,
}

impl Rules<'_> {
    fn exclusions(&self) -> Exclusions {
        Exclusions::new(&self.pairs).unwrap().with_statics(&self.statics)
    }

    fn judge(&self, body_count: usize) -> Judge<'_> {
        let [pairs, statics] = [&self.pairs, &self.statics].map(|list| list.iter().copied().collect());
        Judge { rules: self, pairs, statics, body_count }
    }
}

impl Judge<'_> {
    fn meet(&self, [a, b]: [u32; 2]) -> bool {
        let Rules { worlds, owners, .. } = self.rules;
        let of = |column: &[u32], row: u32| column.get(row as usize).copied();
        let is_static = |row: u32| row as usize >= self.body_count;
        if !worlds.is_empty() && !is_static(b) && of(worlds, a) != of(worlds, b) {
            return false;
        }
        if !owners.is_empty() && !is_static(b) && of(owners, a) == of(owners, b) {
            return false;
        }
        let id = |row: u32| match owners.is_empty() {
            true => Some(row),
            false => of(owners, row),
        };
        let (Some(of_a), of_b) = (id(a), id(b)) else { return true };
        let is_pair =
            of_b.is_some_and(|of_b| self.pairs.contains(&[of_a, of_b]) || self.pairs.contains(&[of_b, of_a]));
        !(is_pair || is_static(b) && self.statics.contains(&[of_a, b - self.body_count as u32]))
    }
}

/// Rules by themselves and together against the rows of all pairs, of which those that don't meet are taken out one by one.
#[test]
fn owners_and_exclusions_take_out_their_pairs() {
    for &count in extent(&[260][..], &[260, 2_060]) {
        let is_large = count > 1_000;
        let side = if is_large { 1.1 } else { 0.75 } * (count as f64).cbrt();
        let (bodies, still, moved) =
            (crowd(count, side, 100, seed(11)), crowd(15, side, 12, seed(12)), motions(count, seed(13)));
        let mut random = Random::new(seed(14));
        let by_owner: Vec<u32> = (0..count).map(|i| 1_000_003 * (i as u32 / 4)).collect();
        let owner_count = count / 4;
        let ids: Vec<u32> = (0..count).map(|i| (i as u32 / 4) % 3).collect();
        let mut some = |kinds: usize, with: usize, far: u32| -> Vec<[u32; 2]> {
            (0..4 * kinds).map(|_| [far * random.below(kinds) as u32, random.below(with) as u32]).collect()
        };
        let rows = |pairs: Vec<[u32; 2]>| pairs.into_iter().filter(|[a, b]| a != b).collect::<Vec<_>>();
        let owned = |pairs: Vec<[u32; 2]>| {
            rows(pairs.into_iter().map(|[a, b]| [a, 1_000_003 * b]).collect::<Vec<_>>())
        };
        // One body with a long list, so that it is searched by halves.
        let long: Vec<[u32; 2]> =
            (0..count as u32).filter(|row| row % 3 != 1 && *row != 7).map(|row| [7, row]).collect();
        let none: &[u32] = &[];
        let cases = [
            ("owners", Rules { worlds: none, owners: &by_owner, pairs: vec![], statics: vec![] }),
            (
                "rows",
                Rules {
                    worlds: none,
                    owners: none,
                    pairs: rows(some(count, count + 15, 1)),
                    statics: vec![],
                },
            ),
            ("statics", Rules { worlds: none, owners: none, pairs: vec![], statics: some(count, 15, 1) }),
            ("a long list", Rules { worlds: none, owners: none, pairs: long, statics: vec![] }),
            (
                "owners and exclusions",
                Rules {
                    worlds: none,
                    owners: &by_owner,
                    pairs: owned(some(owner_count, owner_count, 1_000_003)),
                    statics: some(owner_count, 15, 1_000_003),
                },
            ),
            (
                "all",
                Rules {
                    worlds: &ids,
                    owners: &by_owner,
                    pairs: owned(some(owner_count, owner_count, 1_000_003)),
                    statics: some(owner_count, 15, 1_000_003),
                },
            ),
            (
                "worlds and rows",
                Rules {
                    worlds: &ids,
                    owners: none,
                    pairs: rows(some(count, count + 15, 1)),
                    statics: vec![],
                },
            ),
        ];
        let kinds: Vec<&str> = cases.iter().map(|(kind, _)| *kind).collect();
        for (name, engine) in engines() {
            let arena = arena(&engine, &still);
            for pairs in [Pairs::BroadPhase, Pairs::Exhaustive] {
                if pairs == Pairs::Exhaustive && is_large {
                    continue;
                }
                // All of them would take a minute, most of it on a software GPU.
                let asked = match (name, pairs) {
                    ("cpu", _) if is_large => pick(17, &kinds, 3),
                    ("cpu", Pairs::Exhaustive) => pick(18, &kinds, 3),
                    ("cpu", _) => kinds.clone(),
                    (_, Pairs::Exhaustive) => pick(15, &kinds, 1),
                    _ => pick(16, &kinds, if is_large { 1 } else { 3 }),
                };
                let whole = answers(&arena, BodyColumns::new(&bodies), &moved, pairs);
                for (kind, rules) in cases.iter().filter(|(kind, _)| asked.contains(kind)) {
                    let what = format!("{name}: {kind}, {count} bodies, {pairs:?}");
                    let (exclusions, judge) = (rules.exclusions(), rules.judge(count));
                    let columns = BodyColumns {
                        worlds: rules.worlds,
                        owners: rules.owners,
                        exclusions: Some(&exclusions),
                        ..BodyColumns::new(&bodies)
                    };
                    let found = answers(&arena, columns, &moved, pairs);
                    let mut taken = 0;
                    for (query, (whole, found)) in whole.iter().zip(&found).enumerate() {
                        let mut expected: Vec<_> =
                            whole.rows.iter().filter(|row| judge.meet(row.0)).cloned().collect();
                        taken += whole.rows.len() - expected.len();
                        let world = |row: u32| rules.worlds.get(row as usize).copied();
                        expected.sort_by_key(|(pair, _)| (world(pair[0]), *pair));
                        assert!(found.rows == expected, "{what}, query {query}: {:?}", {
                            found.rows.iter().zip(&expected).find(|(one, other)| one != other)
                        });
                    }
                    // Control: each kind of rule takes something out of these crowds.
                    assert!(taken > 0, "{what}");
                    if pairs == Pairs::BroadPhase {
                        let counted = found[6].rows.len() as u64;
                        assert_eq!(found[0].candidate_count, counted, "{what}");
                    }
                }
            }
        }
    }
}

/// An arm on a ground that is a static: neighbouring links, and the base and the ground, always touch.
#[test]
fn the_base_of_an_arm_may_stand_on_a_static() {
    // Two boxes a link.
    let at = |k: u32| [0.5 * (k % 2) as f32, 0.9 * (k / 2) as f32 + 0.45, 0.0];
    let bodies: Vec<Body> = (0..8).map(|k| Body::new(0).at(at(k))).collect();
    let owners: Vec<u32> = (0..8).map(|k| k / 2).collect();
    let ground = Body::new(HALF_SPACE);
    let neighbours = Exclusions::new(&[[0, 1], [1, 2], [2, 3]]).unwrap();
    for (name, engine) in engines() {
        let arena = arena(&engine, &[ground]);
        let hits = |exclusions: &Exclusions, bodies: &[Body]| {
            let columns =
                BodyColumns { owners: &owners, exclusions: Some(exclusions), ..BodyColumns::new(bodies) };
            let found = arena.intersections(columns, Pairs::BroadPhase).unwrap().wait().unwrap();
            found.rows.iter().map(|row| [row.a, row.b]).collect::<Vec<_>>()
        };
        assert_eq!(hits(&neighbours, &bodies), [[0, 8], [1, 8]], "{name}");
        let arm = neighbours.clone().with_statics(&[[0, 0]]);
        assert_eq!(hits(&arm, &bodies), [] as [[u32; 2]; 0], "{name}");
        // Another link that comes down is found.
        let mut bent = bodies.clone();
        bent[7].position = [0.9, 0.3, 0.0];
        assert_eq!(hits(&arm, &bent), [[0, 7], [1, 7], [7, 8]], "{name}");
    }
}

#[test]
fn given_pairs_are_all_tested() {
    let bodies = [Body::new(BALL); 4];
    let exclusions = Exclusions::new(&[[0, 2], [1, 3]]).unwrap();
    let columns =
        BodyColumns { worlds: &[1, 0, 1, 0], exclusions: Some(&exclusions), ..BodyColumns::new(&bodies) };
    let given = [[3, 0], [1, 3], [0, 1]];
    for (name, engine) in engines() {
        let found = arena(&engine, &[]).intersections(columns, Pairs::Given(&given)).unwrap().wait().unwrap();
        let pairs: Vec<[u32; 2]> = found.rows.iter().map(|row| [row.a, row.b]).collect();
        assert!(pairs == given && found.rows.iter().all(|row| row.status.is_hit()), "{name}");
    }
}

/// Other precisions, a warm start, an infinite margin, and no bodies at all.
#[test]
fn every_way_obeys_the_rules() {
    let everyone = |body: Body| body.grouped(u32::MAX, u32::MAX);
    let bodies: Vec<Body> = crowd(200, 5.0, usize::MAX, 21).into_iter().map(everyone).collect();
    let ids = worlds("in turn", 200, 4);
    let owners: Vec<u32> = ids.iter().zip(0..).map(|(id, row)| 4 * (row / 16) + id % 4).collect();
    let columns = BodyColumns { worlds: &ids, ..BodyColumns::new(&bodies) };
    let owned = BodyColumns { owners: &owners, ..BodyColumns::new(&bodies) };
    for (name, engine) in engines() {
        let plain = arena(&engine, &[]);
        let exact =
            plain.with_options(Options { precision: Precision::Exact, ..Options::default() }).unwrap();
        let warm = plain.with_options(Options { warm_start: true, ..Options::default() }).unwrap();
        let pairs = |arena: &Arena, columns: BodyColumns<'_>| -> Vec<[u32; 2]> {
            let found = arena.intersections(columns, Pairs::BroadPhase).unwrap().wait().unwrap();
            found.rows.iter().map(|row| [row.a, row.b]).collect()
        };
        for columns in [columns, owned] {
            let expected = pairs(&plain, columns);
            assert_eq!(pairs(&exact, columns), expected, "{name}");
            for _ in 0..4 {
                // A cache of all pairs must not come in.
                assert!(pairs(&warm, BodyColumns::new(&bodies)).len() > expected.len(), "{name}");
                assert_eq!(pairs(&warm, columns), expected, "{name}");
            }
        }
        let far = DistanceOptions { margin: f32::INFINITY };
        let found = plain.distances(columns, Pairs::BroadPhase, &far).unwrap().wait().unwrap();
        assert_eq!(found.rows.len(), 4 * 50 * 49 / 2, "{name}");
        assert_eq!(found.stats.candidate_count, 4 * 50 * 49 / 2, "{name}");
        assert!(pairs(&plain, BodyColumns::default()).is_empty());
    }
}

#[test]
fn wrong_columns_are_errors() {
    let bodies = [Body::new(BALL), Body::new(BALL), Body { hull: 77, ..Body::new(0) }, Body::new(BALL)];
    let good = [Body::new(BALL); 4];
    for (name, engine) in engines() {
        let arena = arena(&engine, &[Body::new(0)]);
        let error = |columns: BodyColumns<'_>, pairs: Pairs<'_>| {
            arena.intersections(columns, pairs).map(drop).unwrap_err()
        };
        let short = error(BodyColumns { worlds: &[1, 2], ..BodyColumns::new(&good) }, Pairs::BroadPhase);
        assert!(matches!(short, Error::Count { what: "worlds", given: 2, .. }), "{name}: {short}");
        let short = error(BodyColumns { owners: &[1; 5], ..BodyColumns::new(&good) }, Pairs::Exhaustive);
        assert!(matches!(short, Error::Count { what: "owners", given: 5, .. }), "{name}: {short}");
        for pairs in [Pairs::BroadPhase, Pairs::Exhaustive, Pairs::Given(&[[0, 1]])] {
            let exclusions = Exclusions::new(&[[3, 5]]).unwrap();
            let unknown =
                error(BodyColumns { exclusions: Some(&exclusions), ..BodyColumns::new(&good) }, pairs);
            assert!(matches!(unknown, Error::Missing { index: 5, count: 5, .. }), "{name}: {unknown}");
            let exclusions = Exclusions::default().with_statics(&[[3, 1]]);
            let unknown =
                error(BodyColumns { exclusions: Some(&exclusions), ..BodyColumns::new(&good) }, pairs);
            assert!(matches!(unknown, Error::Missing { index: 1, count: 1, .. }), "{name}: {unknown}");
            let exclusions = Exclusions::new(&[[3, 4]]).unwrap();
            let columns = BodyColumns {
                owners: &[3, 3, 5, 5],
                exclusions: Some(&exclusions),
                ..BodyColumns::new(&good)
            };
            let unknown = error(columns, pairs);
            assert!(matches!(unknown, Error::Invalid { .. }), "{name}: {unknown}");
            assert!(unknown.to_string().contains("owner 4"), "{name}: {unknown}");
            let columns =
                BodyColumns { worlds: &[1, 2, 1, 2], owners: &[0, 1, 2, 0], ..BodyColumns::new(&good) };
            let split = error(columns, pairs);
            assert!(matches!(split, Error::Invalid { at: Location::Body(3), .. }), "{name}: {split}");
        }
        // A fault is at the caller's row, whatever order the worlds have.
        let columns = BodyColumns { worlds: &[5, 4, 3, 2], ..BodyColumns::new(&bodies) };
        let fault = error(columns, Pairs::BroadPhase);
        assert!(matches!(fault, Error::Missing { at: Location::Body(2), index: 77, .. }), "{name}: {fault}");
        // Bodies have worlds, and the rays none.
        let columns = BodyColumns { worlds: &[0; 4], ..BodyColumns::new(&good) };
        let rays = [Ray::new([3.0, 0.0, 0.0], [-1.0, 0.0, 0.0])];
        let refused = arena.raycasts(columns, &rays, &RayOptions::default()).map(drop).unwrap_err();
        assert!(
            matches!(refused, Error::Invalid { .. }) && refused.to_string().contains("worlds"),
            "{refused}"
        );
        assert!(arena.raycasts_all(columns, &rays, &RayOptions::default()).is_err());
        assert!(arena.occlusions(columns, &rays, &RayOptions::default()).is_err());
        assert!(arena.nearest_points(columns, &[[0.0; 3]], &PointOptions::default()).is_err());
        assert!(arena.containments(columns, &[[0.0; 3]]).is_err());
        // Owners don't matter for them, and a query for pairs leaves nothing behind.
        let columns = BodyColumns { owners: &[0; 4], ..BodyColumns::new(&good) };
        let worlds = BodyColumns { worlds: &[0, 1, 0, 1], ..BodyColumns::new(&good) };
        arena.intersections(worlds, Pairs::BroadPhase).unwrap().wait().unwrap();
        let found = arena.raycasts_all(columns, &rays, &RayOptions::default()).unwrap().wait().unwrap();
        assert_eq!(found.rows.len(), 5, "{name}");
    }
}
