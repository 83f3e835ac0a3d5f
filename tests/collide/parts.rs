//! Bodies that exceed one binding of the device: queries are split into parts, with the same results.

use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, Capacity, ContactOptions, DeviceBodies, DevicePairs, DistanceOptions, Hull, Intersection,
    ManifoldOptions, Motion, Options, Pairs, SweepOptions,
};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, seed};

use crate::common;

/// A binding that holds 512 bodies: blocks are of 256. Tests of other modules have the same, so that they share an engine.
pub(crate) const LIMIT: u64 = 40 << 10;

/// A crowd of boxes, balls and tetrahedra in groups, some round, and half-spaces at both ends of it.
fn crowd(count: usize, seed: u64) -> Vec<Body> {
    let mut random = Random::new(seed);
    let side = 0.7 * (count as f64).cbrt();
    (0..count)
        .map(|i| {
            let at = [0; 3].map(|_| random.between(-side, side) as f32);
            let body = Body::new((i % 3) as u32)
                .at(at)
                .grouped(1 << (i % 3), if i % 5 == 0 { 0b101 } else { 0b111 });
            let ground = |height: f64| Body { hull: 3, position: [0.0, (height * side) as f32, 0.0], ..body };
            match i {
                3 => ground(-0.7),
                _ if i + 5 == count => ground(-0.8),
                _ if i % 7 == 0 => body.padded(0.2),
                _ => body,
            }
        })
        .collect()
}

fn hulls() -> Vec<Hull> {
    let corners = [[0.6, 0.0, 0.0], [-0.4, 0.5, 0.0], [-0.3, -0.6, 0.1], [0.0, 0.1, 0.7]];
    vec![
        Hull::cuboid([0.5; 3]).unwrap(),
        Hull::ball(0.4).unwrap(),
        Hull::from_points(&corners).unwrap(),
        Hull::half_space(),
    ]
}

/// Some fast, some slow, one in ten turns.
fn motions(count: usize, seed: u64) -> Vec<Motion> {
    let mut random = Random::new(seed);
    let mut vector = |length: f64| (random.direction() * length).as_vec3().to_array();
    (0..count)
        .map(|i| Motion {
            velocity: vector(if i % 4 == 0 { 8.0 } else { 1.0 }),
            angular_velocity: if i % 10 == 9 { vector(3.0) } else { [0.0; 3] },
        })
        .collect()
}

/// Queries and their results.
struct Query<'a> {
    bodies: &'a [Body],
    still: &'a [Body],
    motions: &'a [Motion],
    pairs: Pairs<'a>,
}

/// How many queries [`answer`] knows.
const QUERY_COUNT: usize = 5;

/// A query's rows as text, which is equal only where each number is, and the number of candidates.
fn answer(engine: &Engine, query: &Query<'_>, at: usize) -> (String, u64) {
    let Query { bodies, still, motions, pairs } = *query;
    let arena =
        Arena::new(engine, &hulls(), Options { statics: still.to_vec(), ..Default::default() }).unwrap();
    macro_rules! told {
        ($pending:expr) => {{
            let found = $pending.unwrap().wait().unwrap();
            (format!("{:?}", found.rows), found.stats.candidate_count)
        }};
    }
    match at {
        0 => told!(arena.intersections(bodies, pairs)),
        1 => told!(arena.distances(bodies, pairs, &DistanceOptions { margin: 0.4 })),
        2 => told!(arena.contacts(bodies, pairs, &ContactOptions { margin: 0.0 })),
        3 => told!(arena.manifolds(bodies, pairs, &ManifoldOptions { margin: 0.1 })),
        _ => {
            let options = SweepOptions { duration: 0.25, ..Default::default() };
            told!(arena.sweeps(bodies, motions, pairs, &options))
        }
    }
}

fn hits(engine: &Engine, query: &Query<'_>) -> Vec<Intersection> {
    let arena = Arena::new(engine, &hulls(), Options { statics: query.still.to_vec(), ..Default::default() })
        .unwrap();
    arena.intersections(query.bodies, query.pairs).unwrap().wait().unwrap().rows
}

#[test]
fn parts_answer_as_the_whole() {
    let (Some(whole), Some(cut)) = (common::gpu(), common::gpu_of_bindings(LIMIT)) else { return };
    // Each size and kind of pairs has one query of the five, another in each run; a short test has all of them.
    let mut turn = seed(31) as usize % QUERY_COUNT;
    // The bodies in parts, the statics alone, both, and both only together; tiles, and trees of the whole.
    for &(count, still_count) in extent(&[(300, 290)][..], &[(520, 0), (100, 500), (260, 260), (1_200, 300)])
    {
        let (bodies, still, motions) = (crowd(count, 1), crowd(still_count, 2), motions(count, 3));
        let candidates = |engine: &Engine| {
            let arena =
                Arena::new(engine, &hulls(), Options { statics: still.clone(), ..Default::default() })
                    .unwrap();
            arena.candidates(&bodies).unwrap().wait().unwrap()
        };
        let expected = candidates(&Engine::cpu());
        assert!(candidates(&cut) == expected && candidates(&whole) == expected && expected.len() > 300);
        // All of those, the other way round, and others, statics among themselves too.
        let mut random = Random::new(4);
        let mut any = || [0; 2].map(|_| random.below(count + still_count) as u32);
        let mut given: Vec<[u32; 2]> = expected.iter().flat_map(|&[a, b]| [[b, a], any()]).collect();
        let is_plane = |&id: &u32| {
            let id = id as usize;
            bodies.get(id).or_else(|| still.get(id - count)).is_some_and(|body| body.hull == 3)
        };
        given.retain(|pair| pair[0] != pair[1] && !pair.iter().all(is_plane));
        for (name, pairs) in
            [("near", Pairs::BroadPhase), ("every", Pairs::Exhaustive), ("given", Pairs::Given(&given))]
        {
            let query = Query { bodies: &bodies, still: &still, motions: &motions, pairs };
            let what = format!("{count} over {still_count}, {name}");
            // So many pairs that none of the windows of a small binding would end.
            if count > 1_000 && pairs == Pairs::Exhaustive {
                continue;
            }
            let found = hits(&cut, &query);
            let status = |rows: &[Intersection]| -> Vec<_> {
                rows.iter().map(|row| (row.a, row.b, row.status)).collect()
            };
            let hit_count = found.iter().filter(|row| row.status.is_hit()).count();
            assert!(hit_count > 20, "{what}: {hit_count}");
            assert!(status(&found) == status(&hits(&Engine::cpu(), &query)), "{what}");
            for _ in 0..extent(QUERY_COUNT, 1) {
                turn = (turn + 1) % QUERY_COUNT;
                let at = turn;
                let (one, other) = (answer(&whole, &query, at), answer(&cut, &query, at));
                assert!(one.0 == other.0, "{what}, query {at}");
                // Of a margin either box has a half, or a mover's all of it, which rounds otherwise.
                assert!(one.1 == other.1 || at == 1 || at == 3, "{what}, query {at}: {} {}", one.1, other.1);
            }
        }
    }
}

/// Hulls whose vertices, support tables or records are more than a binding holds, and so few bodies that they are not.
#[test]
fn hulls_in_parts_answer_as_the_whole() {
    let (Some(whole), Some(cut)) = (common::gpu(), common::gpu_of_bindings(LIMIT)) else { return };
    let mut random = Random::new(5);
    let mut round = |count: usize| {
        let points: Vec<[f32; 3]> =
            (0..count).map(|_| (random.direction() * 0.6).as_vec3().to_array()).collect();
        Hull::from_points(&points).unwrap()
    };
    let with_vertices: Vec<Hull> = (0..90).map(|_| round(40)).collect();
    let with_tables: Vec<Hull> = (0..30).map(|_| round(90)).chain([Hull::half_space()]).collect();
    let with_records: Vec<Hull> = (0..700).map(|i| Hull::ball(0.3 + 0.001 * i as f32).unwrap()).collect();
    let kinds = [("vertices", with_vertices), ("tables", with_tables), ("records", with_records)];
    for (name, hulls) in kinds.into_iter().skip(extent(2, 0)) {
        let mut bodies = crowd(150, 6);
        for (i, body) in bodies.iter_mut().enumerate() {
            body.hull = (i * 7 % hulls.len()) as u32;
        }
        let (still, motions) = (bodies.split_off(105), motions(105, 7));
        let given: Vec<[u32; 2]> = (0..149).map(|i| [i + 1, i]).collect();
        let arenas = [&whole, &cut].map(|engine| {
            Arena::new(engine, &hulls, Options { statics: still.clone(), ..Default::default() }).unwrap()
        });
        for &pairs in extent(&[Pairs::Given(&given)][..], &[Pairs::BroadPhase, Pairs::Given(&given)]) {
            let of = |arena: &Arena| {
                let deep = arena
                    .contacts(&bodies, pairs, &ContactOptions { margin: 0.05 })
                    .unwrap()
                    .wait()
                    .unwrap()
                    .rows;
                let swept = arena
                    .sweeps(&bodies, &motions, pairs, &SweepOptions { duration: 0.25, ..Default::default() })
                    .unwrap()
                    .wait()
                    .unwrap()
                    .rows;
                (deep, swept)
            };
            let [whole, cut] = [of(&arenas[0]), of(&arenas[1])];
            assert!(whole.0.len() > 100 && whole.1.len() > 100, "{name}");
            assert!(whole == cut, "{name}");
        }
        // Encoded queries have only one part.
        let (device, _) = cut.device().unwrap();
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let capacity = Capacity { pairs: 100, rows: 100 };
        let host = DeviceBodies::Host(&bodies[..10]);
        let none = Arena::new(&cut, &hulls, Options::default()).unwrap();
        let refused =
            none.encode_intersections(&mut encoder, host, DevicePairs::BroadPhase, capacity).map(drop);
        assert!(
            refused.as_ref().is_err_and(|error| error.to_string().contains("of all hulls")),
            "{name}: {refused:?}"
        );
    }
}

/// Several frames in flight return the same answer, in each run.
#[test]
fn parts_in_flight_do_not_mix() {
    let Some(cut) = common::gpu_of_bindings(LIMIT) else { return };
    let arena = Arena::new(&cut, &hulls(), Options::default()).unwrap();
    let crowds: Vec<Vec<Body>> = (0..4).map(|seed| crowd(500 + 100 * seed as usize, seed)).collect();
    let pendings: Vec<_> = crowds
        .iter()
        .map(|bodies| arena.contacts(bodies, Pairs::BroadPhase, &ContactOptions { margin: 0.1 }).unwrap())
        .collect();
    for (bodies, pending) in crowds.iter().zip(pendings) {
        let again = arena
            .contacts(bodies, Pairs::BroadPhase, &ContactOptions { margin: 0.1 })
            .unwrap()
            .wait()
            .unwrap();
        assert_eq!(pending.wait().unwrap().rows, again.rows);
    }
}
