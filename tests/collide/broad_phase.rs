//! The broad phase through the public API: groups, half-spaces, statics, triangle levels, crowds.

use hullfield::collide::{
    Arena, Body, ContactOptions, DistanceOptions, Hull, Intersection, ManifoldOptions, Motion, Options,
    Pairs, Precision, Query, SweepOptions,
};
use hullfield::{Backend, BackendChoice, Engine, EngineOptions, Error, Location};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, pick, seed};

use crate::common;

/// Uniform in [low, high).
fn within(random: &mut Random, low: f32, high: f32) -> f32 {
    random.between(low.into(), high.into()) as f32
}

fn engines() -> Vec<Engine> {
    std::iter::once(Engine::cpu()).chain(common::gpu()).collect()
}

/// Arenas whose results may take at most this many bytes.
fn limited_engines(bytes: u64) -> Vec<Engine> {
    let limits = EngineOptions { answer_limit: Some(bytes), ..Default::default() };
    let cpu = Engine::new(&EngineOptions { backend: BackendChoice::Cpu, ..limits }).unwrap();
    std::iter::once(cpu).chain(common::gpu_with(limits)).collect()
}

fn hits(arena: &Arena, bodies: &[Body], pairs: Pairs<'_>) -> Vec<Intersection> {
    arena.intersections(bodies, pairs).unwrap().wait().unwrap().rows
}

fn pairs_of(rows: &[Intersection]) -> Vec<[u32; 2]> {
    rows.iter().map(|row| [row.a, row.b]).collect()
}

/// Boxes, balls and two half-spaces (bodies 3 and 700) in groups.
fn crowd(count: usize, seed: u64) -> (Vec<Hull>, Vec<Body>) {
    let mut random = Random::new(seed);
    let hulls = vec![Hull::cuboid([0.5; 3]).unwrap(), Hull::ball(0.4).unwrap(), Hull::half_space()];
    let side = (count as f32).cbrt();
    let bodies = (0..count).map(|i| {
        let at = [0; 3].map(|_| within(&mut random, -side, side));
        let group = 1 << (i % 3);
        let body = Body::new((i % 2) as u32).at(at).grouped(group, if i % 5 == 0 { 0b101 } else { 0b111 });
        match i {
            3 => Body { hull: 2, position: [0.0, -0.5 * side, 0.0], ..body },
            700 => Body { hull: 2, position: [0.0, -0.6 * side, 0.0], group: 4, ..body },
            _ if i % 7 == 0 => body.padded(0.2),
            _ => body,
        }
    });
    let bodies = bodies.collect();
    (hulls, bodies)
}

fn accepts(a: &Body, b: &Body) -> bool {
    (a.group & b.mask) != 0 && (b.group & a.mask) != 0 && (a.hull != 2 || b.hull != 2)
}

#[test]
fn broad_phase_and_exhaustive_search_find_the_same_hits_in_groups() {
    for count in [1_000, 2_500] {
        let (hulls, bodies) = crowd(count, 5);
        let mut rows = Vec::new();
        for engine in engines() {
            let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
            let near = pairs_of(&hits(&arena, &bodies, Pairs::BroadPhase));
            assert!(near.is_sorted() && near.len() > count / 3, "{}", near.len());
            assert!(near.iter().all(|&[a, b]| accepts(&bodies[a as usize], &bodies[b as usize])));
            assert!(near.iter().any(|&[a, b]| a == 3 || b == 3));
            assert_eq!(near, pairs_of(&hits(&arena, &bodies, Pairs::Exhaustive)));
            rows.push((near, arena.candidates(&bodies).unwrap().wait().unwrap()));
        }
        assert!(rows.iter().all(|found| *found == rows[0]));
        // Without groups there are more.
        let all: Vec<Body> = bodies.iter().map(|body| body.grouped(u32::MAX, u32::MAX)).collect();
        let arena = Arena::new(&Engine::cpu(), &hulls, Options::default()).unwrap();
        assert!(hits(&arena, &all, Pairs::BroadPhase).len() > rows[0].0.len());
    }
}

#[test]
fn statics_are_met_and_do_not_meet() {
    for &(count, still_count) in
        extent(&[(1, 800), (800, 1), (600, 1_100)][..], &[(1, 800), (800, 1), (1_500, 1_200), (900, 3_000)])
    {
        let (hulls, bodies) = crowd(count, 7);
        let (_, still) = crowd(still_count, 11);
        let together = [&bodies[..], &still[..]].concat();
        let mut rows = Vec::new();
        for engine in engines() {
            let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
            let with =
                arena.with_options(Options { statics: still.clone(), ..arena.options().clone() }).unwrap();
            assert_eq!(with.statics().len(), still_count);
            let expected: Vec<[u32; 2]> = pairs_of(&hits(&arena, &together, Pairs::BroadPhase))
                .into_iter()
                .filter(|&[a, _]| (a as usize) < count)
                .collect();
            // Twice: the second query finds the statics in cached lists.
            for _ in 0..2 {
                assert_eq!(pairs_of(&hits(&with, &bodies, Pairs::BroadPhase)), expected);
            }
            assert_eq!(pairs_of(&hits(&with, &bodies, Pairs::Exhaustive)), expected);
            let given: Vec<[u32; 2]> = expected.iter().map(|&[a, b]| [b, a]).collect();
            assert!(hits(&with, &bodies, Pairs::Given(&given)).iter().all(|row| row.status.is_hit()));
            // With a margin, which the cached boxes of the statics do not include.
            let near = |arena: &Arena, bodies: &[Body]| -> Vec<[u32; 2]> {
                let found = arena
                    .distances(bodies, Pairs::BroadPhase, &DistanceOptions { margin: 0.3 })
                    .unwrap()
                    .wait()
                    .unwrap();
                found.rows.iter().map(|row| [row.a, row.b]).filter(|&[a, _]| (a as usize) < count).collect()
            };
            let wide = near(&with, &bodies);
            assert_eq!(wide, near(&arena, &together));
            assert!(wide.len() > expected.len() || count == 1);
            rows.push((expected, wide, with.candidates(&bodies).unwrap().wait().unwrap()));
            let none = with.with_options(Options { statics: Vec::new(), ..with.options().clone() }).unwrap();
            assert_eq!(
                pairs_of(&hits(&none, &bodies, Pairs::BroadPhase)),
                pairs_of(&hits(&arena, &bodies, Pairs::BroadPhase))
            );
        }
        assert!(rows.iter().all(|found| *found == rows[0]), "{count} over {still_count}");
    }
    let arena = Arena::new(&Engine::cpu(), &[Hull::ball(1.0).unwrap()], Options::default()).unwrap();
    let bad = arena
        .with_options(Options { statics: [Body::new(0), Body::new(9)].to_vec(), ..arena.options().clone() })
        .map(drop);
    assert!(
        matches!(bad, Err(Error::Missing { at: Location::Body(1), what: "hull", index: 9, .. })),
        "{bad:?}"
    );
}

/// Hills of `2 side²` triangles, or the corpus' mesh of that name if it is available.
fn level(name: &str, side: usize) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    let path = std::env::var("HULLFIELD_CORPUS").map(|folder| format!("{folder}/meshes/{name}"));
    if let Some(text) = path.ok().and_then(|path| std::fs::read_to_string(path).ok()) {
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        for line in text.lines() {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("v") => {
                    let mut next = || words.next().unwrap().parse::<f32>().unwrap();
                    positions.push([next(), next(), next()]);
                }
                Some("f") => {
                    let corner = |word: &str| word.split('/').next().unwrap().parse::<u32>().unwrap() - 1;
                    let face: Vec<u32> = words.map(corner).collect();
                    triangles.extend((2..face.len()).map(|i| [face[0], face[i - 1], face[i]]));
                }
                _ => (),
            }
        }
        return (positions, triangles);
    }
    println!("no {name}: hills instead");
    let at = |i: usize| {
        let (x, z) = ((i % (side + 1)) as f32 / side as f32, (i / (side + 1)) as f32 / side as f32);
        [x - 0.5, 0.1 * (9.0 * x).sin() * (7.0 * z).cos(), z - 0.5]
    };
    let corner = |x: usize, z: usize| (z * (side + 1) + x) as u32;
    let cells = (0..side * side).map(|i| (i % side, i / side));
    let split = |(x, z)| {
        let [a, b, c, d] = [corner(x, z), corner(x + 1, z), corner(x, z + 1), corner(x + 1, z + 1)];
        [[a, b, c], [b, d, c]]
    };
    ((0..(side + 1) * (side + 1)).map(at).collect(), cells.flat_map(split).collect())
}

#[test]
fn a_mesh_is_a_level_for_thousands_of_bodies() {
    let (positions, triangles) = level("spot.obj", 40);
    let mut hulls = Hull::triangles_of_mesh(&positions, &triangles).unwrap();
    assert_eq!(hulls.len(), triangles.len());
    let still: Vec<Body> = (0..hulls.len() as u32).map(Body::new).collect();
    let ball = hulls.len() as u32;
    hulls.push(Hull::ball(0.02).unwrap());
    hulls.push(Hull::cuboid([0.02, 0.01, 0.03]).unwrap());
    let mut random = Random::new(3);
    let bodies: Vec<Body> = (0..3_000)
        .map(|i| {
            let corner = positions[random.below(positions.len())];
            Body::new(ball + i % 2).at(corner.map(|x| x + within(&mut random, -0.03, 0.03)))
        })
        .collect();
    let found: Vec<[Vec<[u32; 2]>; 2]> = engines()
        .iter()
        .map(|engine| {
            let arena =
                Arena::new(engine, &hulls, Options { statics: still.clone(), ..Default::default() }).unwrap();
            let candidates = arena.candidates(&bodies).unwrap().wait().unwrap();
            [candidates, pairs_of(&hits(&arena, &bodies, Pairs::BroadPhase))]
        })
        .collect();
    let on_level = found[0][1].iter().filter(|pair| pair[1] >= 3_000).count();
    assert!(on_level > 3_000, "{on_level}");
    let arena =
        Arena::new(&Engine::cpu(), &hulls, Options { statics: still.clone(), ..Default::default() }).unwrap();
    let exact =
        arena.with_options(Options { precision: Precision::Exact, ..arena.options().clone() }).unwrap();
    for [candidates, hits] in &found {
        assert!(*candidates == found[0][0]);
        // Within the tolerance both verdicts are allowed.
        let lone = hits.iter().filter(|pair| found[0][1].binary_search(pair).is_err());
        let gone = found[0][1].iter().filter(|pair| hits.binary_search(pair).is_err());
        let unlike: Vec<[u32; 2]> = lone.chain(gone).copied().collect();
        assert!(unlike.len() <= 3, "{unlike:?}");
        for row in exact
            .distances(&bodies, Pairs::Given(&unlike), &DistanceOptions { margin: 0.0 })
            .unwrap()
            .wait()
            .unwrap()
            .rows
        {
            assert!(row.separation > 0.0 && row.separation < 4e-7, "{row:?}");
        }
    }
}

#[test]
fn bad_triangles_are_errors() {
    let positions = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let hulls = Hull::triangles_of_mesh(&positions, &[[0, 1, 2], [0, 1, 1], [2, 2, 2]]).unwrap();
    let counts: Vec<usize> = hulls.iter().map(|hull| hull.vertices().len()).collect();
    assert_eq!(counts, [3, 2, 1]);
    assert!(Hull::triangles_of_mesh(&positions, &[]).unwrap().is_empty());
    let error = Hull::triangles_of_mesh(&positions, &[[0, 1, 2], [0, 3, 1]]).unwrap_err();
    assert!(
        matches!(&error, Error::Value { field: "triangles", value, .. } if value == "[0, 3, 1]"),
        "{error}"
    );
    let error = Hull::triangles_of_mesh(&[[0.0; 3], [f32::NAN, 0.0, 0.0]], &[]).unwrap_err();
    assert!(matches!(error, Error::Value { at: Location::Point(1), .. }), "{error}");
}

#[test]
fn a_hull_that_half_a_binding_does_not_hold_is_an_error() {
    let Some(gpu) = common::own_gpu() else { return };
    let ring = |k: usize| {
        let angle = k as f32 * 0.01;
        [angle.cos(), angle.sin(), (k % 7) as f32]
    };
    let hull = Hull::from_points(&(0..600).map(ring).collect::<Vec<_>>()).unwrap();
    let count = hull.vertices().len() as u64;
    let of = |limit: u64| {
        let gpu = gpu.clone().with_binding_limit(limit);
        Arena::new(&gpu, &vec![hull.clone(); 9], Options::default())
            .map(drop)
            .map_err(|error| error.to_string())
    };
    let tables = of(40 * count);
    assert!(
        tables
            .as_ref()
            .is_err_and(|text| text.contains("half of a binding of the support table of one hull")),
        "{tables:?}"
    );
    let limit = (16 * count) / 256 * 256;
    assert_eq!(
        of(limit),
        Err(format!(
            "half of a binding of the vertices of one hull needs {} bytes of memory, the limit is {}",
            16 * count,
            limit / 2
        ))
    );
    assert_eq!(of(1 << 20), Ok(()));
    // The CPU engine has no bindings.
    assert!(Arena::new(&Engine::cpu(), &[hull], Options::default()).is_ok());
}

/// A million bodies at one place have 5e11 rows. That must be an error early, before the host runs out of memory.
#[test]
fn more_rows_than_there_is_room_for_are_an_error() {
    let bodies = vec![Body::new(0); 500];
    let limit = 1 << 20;
    for engine in limited_engines(limit) {
        let arena = Arena::new(&engine, &[Hull::ball(0.1).unwrap()], Options::default()).unwrap();
        for pairs in [Pairs::BroadPhase, Pairs::Exhaustive] {
            let wait = [
                arena.intersections(&bodies, pairs).unwrap().wait().map(drop),
                arena.distances(&bodies, pairs, &DistanceOptions { margin: 0.0 }).unwrap().wait().map(drop),
                arena.contacts(&bodies, pairs, &ContactOptions { margin: 0.0 }).unwrap().wait().map(drop),
                arena.manifolds(&bodies, pairs, &ManifoldOptions { margin: 0.0 }).unwrap().wait().map(drop),
                arena
                    .sweeps(
                        &bodies,
                        &vec![Motion::default(); 500],
                        pairs,
                        &SweepOptions { duration: 1.0, ..Default::default() },
                    )
                    .unwrap()
                    .wait()
                    .map(drop),
            ];
            for refused in wait {
                let Err(Error::MemoryLimit { what, needed_bytes, limit_bytes }) = refused else {
                    panic!("{:?} {pairs:?}: {refused:?}", engine.backend())
                };
                assert!(
                    what.contains("answer") && needed_bytes > limit && limit_bytes == limit,
                    "{refused:?}"
                );
            }
            // The arena that has just refused still answers queries that fit.
            let found = arena.intersections(&bodies[..100], pairs).unwrap().wait().unwrap();
            assert_eq!(found.rows.len(), 4_950);
        }
    }
}

/// The limit of candidates depended on the arena's previous query, and a GPU engine had none.
#[test]
fn candidates_are_held_to_the_answer_limit_that_is_set() {
    let bodies = vec![Body::new(0); 500];
    let (pairs, pair_bytes) = (500 * 499 / 2, 8);
    let ask = |arena: &Arena, bodies: &[Body]| arena.candidates(bodies).unwrap().wait();
    for count in [500, 2_500] {
        // Few bodies are tested all against all, more with the tree.
        let apart = (500..count).map(|k| Body::new(0).at([k as f32, 0.0, 0.0]));
        let bodies: Vec<Body> = bodies.iter().copied().chain(apart).collect();
        let limit = pairs * pair_bytes;
        for engine in limited_engines(limit - 1) {
            let what = format!("{:?}, {count} bodies", engine.backend());
            // The first query of an arena, and the second one.
            let arena = Arena::new(&engine, &[Hull::ball(0.1).unwrap()], Options::default()).unwrap();
            for _ in 0..2 {
                let refused = ask(&arena, &bodies);
                let expected = Error::MemoryLimit {
                    what: "the part of the answer found so far",
                    needed_bytes: limit,
                    limit_bytes: limit - 1,
                };
                assert_eq!(refused.map(|found| found.len()), Err(expected), "{what}");
            }
            assert_eq!(ask(&arena, &bodies[..100]).unwrap().len(), 4_950, "{what}");
        }
        // A query that needs exactly the limit succeeds, after a smaller and after a larger one.
        for engine in limited_engines(limit) {
            let arena = Arena::new(&engine, &[Hull::ball(0.1).unwrap()], Options::default()).unwrap();
            for _ in 0..2 {
                assert_eq!(ask(&arena, &bodies[..100]).unwrap().len(), 4_950, "{count} bodies");
                assert_eq!(ask(&arena, &bodies).unwrap().len() as u64, pairs, "{count} bodies");
            }
        }
    }
}

/// A million bodies if `HULLFIELD_LARGE` is set, else few enough for CI.
fn large_or(few: usize) -> usize {
    if std::env::var_os("HULLFIELD_LARGE").is_some() { 1_000_000 } else { few }
}

/// Needles along one diagonal: all boxes overlap, but hardly any bodies touch.
fn needles(count: usize) -> (Hull, Vec<Body>) {
    let mut random = Random::new(3);
    let hull = Hull::from_points(&[[-1.0; 3], [1.0; 3]]).unwrap();
    let at = |_| Body::new(0).at([within(&mut random, -0.5, 0.5), within(&mut random, -0.5, 0.5), 0.0]);
    (hull, (0..count).map(at).collect())
}

/// A query without its rows.
type Ask = fn(&Arena, &[Body], Pairs<'_>) -> Result<(), Error>;

const INTERSECTIONS: Ask = |arena, bodies, pairs| arena.intersections(bodies, pairs)?.wait().map(drop);
const DISTANCES: Ask =
    |arena, bodies, pairs| arena.distances(bodies, pairs, &DistanceOptions { margin: 0.5 })?.wait().map(drop);
const CONTACTS: Ask =
    |arena, bodies, pairs| arena.contacts(bodies, pairs, &ContactOptions { margin: 0.0 })?.wait().map(drop);
const MANIFOLDS: Ask =
    |arena, bodies, pairs| arena.manifolds(bodies, pairs, &ManifoldOptions { margin: 0.0 })?.wait().map(drop);
const SWEEPS: Ask = |arena, bodies, pairs| {
    let options = SweepOptions { duration: 1.0, ..Default::default() };
    arena.sweeps(bodies, &vec![Motion::default(); bodies.len()], pairs, &options)?.wait().map(drop)
};
const CANDIDATES: Ask = |arena, bodies, _| arena.candidates(bodies)?.wait().map(drop);

/// The same told beforehand, of more pairs than are held at a time, by a sample of them: the same on both engines. The GPU
/// engine ran on until it had found all that fits; of a million bodies it counted pairs for minutes first.
///
/// A software GPU takes seconds for each query. It answers two of the eleven; each run picks others.
#[test]
fn a_crowd_at_one_place_is_refused_before_it_is_judged_on_both_engines() {
    let count = large_or(6_000);
    let bodies = vec![Body::new(0); count];
    let near = [INTERSECTIONS, DISTANCES, CONTACTS, MANIFOLDS, SWEEPS, CANDIDATES]
        .map(|ask| (ask, Pairs::BroadPhase, false));
    let others = [
        (INTERSECTIONS, Pairs::Exhaustive, false),
        (DISTANCES, Pairs::Exhaustive, false),
        (SWEEPS, Pairs::Exhaustive, false),
        (INTERSECTIONS, Pairs::BroadPhase, true),
        (INTERSECTIONS, Pairs::Exhaustive, true),
    ];
    let cases: Vec<(usize, (Ask, Pairs<'_>, bool))> = near.into_iter().chain(others).enumerate().collect();
    let on_gpu = [pick(21, &cases[..near.len()], 1), pick(22, &cases[near.len()..], 1)].concat();
    let mut told = Vec::new();
    for engine in limited_engines(1 << 20) {
        let arena = Arena::new(&engine, &[Hull::ball(0.1).unwrap()], Options::default()).unwrap();
        let still =
            arena.with_options(Options { statics: bodies.clone(), ..arena.options().clone() }).unwrap();
        let is_cpu = engine.backend() == Backend::Cpu;
        for &(at, (ask, pairs, is_still)) in if is_cpu { &cases } else { &on_gpu } {
            // The second query knows the needs of the first one.
            for _ in 0..if pairs == Pairs::BroadPhase && !is_still { 2 } else { 1 } {
                let begin = std::time::Instant::now();
                let refused = ask(if is_still { &still } else { &arena }, &bodies, pairs);
                println!("{:?}, query {at}: {:?}", engine.backend(), begin.elapsed());
                let Err(Error::MemoryLimit { what, needed_bytes, limit_bytes }) = &refused else {
                    panic!("{:?}, query {at}: {refused:?}", engine.backend())
                };
                // 1.8e7 rows of at least eight bytes, or 5e11, minus a reserve for sampling error.
                let least = 2 * (count * count) as u64;
                assert!(what.contains("sample") && *needed_bytes > least, "{what} {needed_bytes}");
                assert_eq!(*limit_bytes, 1 << 20);
                if told.len() <= at {
                    told.push(refused.clone());
                }
                assert_eq!(refused, told[at], "{:?}, query {at}", engine.backend());
            }
        }
        // The arena that has just refused still answers queries that fit.
        let found = arena.intersections(&bodies[..100], Pairs::BroadPhase).unwrap().wait().unwrap();
        assert_eq!(found.rows.len(), 4_950);
    }
}

/// Groups separate the crowd in two halves, and a few bodies meet all others: the sample must not refuse a query that fits.
///
/// Balls in places of their own, and tiny ones in a corner of their boxes, so few that a thread sorts the partners of a ball.
#[test]
#[ignore = "long: cargo xtask test --all"]
fn crowds_of_many_candidates_and_few_rows_are_answered_on_both_engines() {
    let mut random = Random::new(seed(3));
    let hulls = [Hull::ball(1.0).unwrap(), Hull::ball(1e-3).unwrap()];
    let (place_count, large_count, tiny_count) = (34, 1_000, 500);
    let mut bodies = Vec::new();
    for place in 0..place_count {
        for k in 0..large_count + tiny_count {
            let is_large = k < large_count;
            // Two tiny ones are in the midst of the large ones.
            let (low, high) = if k > large_count + 1 { (0.8, 0.95) } else { (-0.02, 0.02) };
            let mut at = [0; 3].map(|_| within(&mut random, low, high));
            at[0] += 4.0 * place as f32;
            let (group, mask) = if is_large { (1, 2) } else { (2, 1) };
            bodies.push(Body::new((!is_large).into()).at(at).grouped(group, mask));
        }
    }
    // So few that the CPU engine tests each pair of them in a second.
    let few = &bodies[..5_800];
    let mut rows = Vec::new();
    for engine in limited_engines(8 << 20) {
        let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
        let begin = std::time::Instant::now();
        let found = arena.intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap();
        println!("{:?}: {:?}, {:?}", engine.backend(), begin.elapsed(), found.stats);
        assert!(found.stats.candidate_count > 1 << 24, "{:?}", found.stats);
        assert_eq!(found.rows.len(), 2 * place_count * large_count);
        // A software device takes minutes for them.
        if engine.backend() == Backend::Cpu {
            let every = arena.intersections(few, Pairs::Exhaustive).unwrap().wait().unwrap();
            let is_few = |row: &&Intersection| (row.b as usize) < few.len();
            let near: Vec<Intersection> = found.rows.iter().filter(is_few).copied().collect();
            assert_eq!(pairs_of(&every.rows), pairs_of(&near));
        }
        rows.push(pairs_of(&found.rows));
    }
    assert!(rows.iter().all(|found| *found == rows[0]));
}

/// The GPU numbers pairs in 32 bits. It detected an overflow only by counting all pairs, for minutes.
#[test]
#[ignore = "long: cargo xtask test --all"]
fn more_candidates_than_a_device_can_number_are_told_by_a_sample() {
    let Some(engine) = common::own_gpu() else { return };
    // Most of the pairs are with statics: the device counts the partners of movers.
    let (hull, statics) = needles(260_000);
    let bodies = &statics[..large_or(40_000).min(statics.len())];
    let options = Options { statics: statics.clone(), ..Options::default() };
    let arena = Arena::new(&engine, &[hull], options).unwrap();
    let begin = std::time::Instant::now();
    let refused = arena.intersections(bodies, Pairs::BroadPhase).unwrap().wait().map(drop);
    println!("{:?}: {refused:?}", begin.elapsed());
    let Err(Error::TooMany { what, count, limit }) = refused else { panic!("{refused:?}") };
    let all = (bodies.len() * (bodies.len() - 1) / 2 + bodies.len() * statics.len()) as f64;
    assert!(what.contains("sample") && limit == u64::from(u32::MAX), "{what}");
    assert!((0.7..1.0).contains(&(count as f64 / all)), "{count}");
}

/// A warm frame counted all pairs of a crowd that had gathered, only to find that its list would be too long.
#[test]
fn a_warm_crowd_that_comes_together_is_refused_as_a_cold_one() {
    let count = large_or(6_000);
    let limits =
        EngineOptions { backend: BackendChoice::Cpu, answer_limit: Some(1 << 20), ..Default::default() };
    let engine = Engine::new(&limits).unwrap();
    let arena =
        Arena::new(&engine, &[Hull::ball(0.1).unwrap()], Options { warm_start: true, ..Default::default() })
            .unwrap();
    let apart: Vec<Body> = (0..count).map(|k| Body::new(0).at([k as f32, 0.0, 0.0])).collect();
    let bodies = vec![Body::new(0); count];
    for _ in 0..3 {
        assert_eq!(hits(&arena, &apart, Pairs::BroadPhase).len(), 0);
    }
    for _ in 0..4 {
        let refused = arena.intersections(&bodies, Pairs::BroadPhase).unwrap().wait().map(drop);
        assert!(matches!(refused, Err(Error::MemoryLimit { .. })), "{refused:?}");
    }
    // The cache is still valid.
    assert_eq!(hits(&arena, &apart, Pairs::BroadPhase).len(), 0);
}

/// So many bodies that their keys are sorted by digits, of which a list of 32,768 is not; a million where `HULLFIELD_LARGE` is set.
#[test]
fn a_large_crowd_is_the_same_on_both_engines() {
    let count = large_or(33_000);
    let mut random = Random::new(9);
    let side = 1.2 * (count as f32).cbrt();
    let bodies: Vec<Body> = (0..count)
        .map(|i| {
            let at = [0; 3].map(|_| within(&mut random, 0.0, side));
            // One body far away, one that contains a fifth of all, and tiny ones.
            match i {
                17 => Body::new(0).at([1e9, 0.0, -1e9]),
                18 => Body::new(0).at([0.5 * side; 3]).scaled(0.6 * side),
                _ => Body::new(i as u32 % 2).at(at).scaled(if i % 3 == 0 { 0.1 } else { 1.0 }),
            }
        })
        .collect();
    let hulls = [Hull::cuboid([0.5; 3]).unwrap(), Hull::ball(0.5).unwrap()];
    let mut found = Vec::new();
    for engine in engines() {
        let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
        for _ in 0..extent(1, 2) {
            let begin = std::time::Instant::now();
            let answer = arena.intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap();
            println!("{:?}: {:?} {:?}", engine.backend(), begin.elapsed(), answer.stats);
            found.push(pairs_of(&answer.rows));
        }
        if engine.backend() == Backend::Gpu {
            let estimate = arena.estimate(Query::Intersections, count, &Pairs::BroadPhase);
            println!("{estimate:?} {:?}", engine.counters());
            // One body has more partners than one thread sorts.
            assert!(estimate.body_bytes <= 160 * count as u64, "{estimate:?}");
        }
    }
    assert!(found[0].len() > count / 2);
    assert!(found.iter().all(|pairs| *pairs == found[0]));
}
