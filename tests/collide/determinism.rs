//! The status of a pair is a function of its f64 gap: equal on every engine, by every query, in both orders, however the pair is found.
//!
//! No band is left out. The scenes put gaps where engines would differ first: near the thresholds, near a margin, and on features that touch
//! in faces, edges and corners.

use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, ContactOptions, DistanceOptions, ManifoldOptions, Options, Pairs, Precision, Status,
};
use hullfield_oracle::compare::{against_truth, between};
use hullfield_oracle::scenes::{self, Near, Scene};
use hullfield_oracle::{extent, pick, seed, whole_truths};

use crate::answers::{bodies, engines, scene_hulls, shapes};
use crate::rows::verdict;

/// Scenes whose gaps are near the thresholds of the status, by name.
fn all_scenes() -> Vec<(String, Scene)> {
    let sets = scenes::convex_sets(48, 1.0, seed(300));
    let near = |count, stretch, seed| Near { count, stretch, seed, ..Near::default() };
    let plain = scenes::near_pairs(&sets, near(extent(1_000, 5_000), 1.0, seed(301)));
    let scaled =
        [1e-5_f64, 1e-2, 1.0, 1e3, 1e5].map(|scale| (format!("near, {scale:e}"), plain.scaled(scale)));
    let others = [
        ("stretched", scenes::near_pairs(&sets, near(extent(300, 1_500), 30.0, seed(302)))),
        (
            "rounded",
            scenes::near_pairs(&sets, Near { rounded: 1.0, ..near(extent(300, 1_500), 1.0, seed(303)) }),
        ),
        ("round", scenes::round_pairs(near(extent(300, 1_500), 1.0, seed(304)))),
        ("slender", scenes::slender(near(extent(200, 1_000), 1.0, seed(305)))),
        ("far", scenes::far(extent(300, 1_500), seed(306))),
        ("on the ground", scenes::ground(&sets, extent(300, 1_500), false, seed(307))),
        ("on slopes", scenes::ground(&sets, extent(300, 1_500), true, seed(308))),
        ("debris", scenes::debris(extent(300, 1_500), true, seed(309))),
        // Gaps of 0 and of ±1e-7 to ±1e-3.
        ("kissing boxes", scenes::kissing_boxes(extent(660, 1_980), seed(310))),
        ("coincident", scenes::coincident(&sets, seed(311))),
        ("stacked cubes", scenes::stacked_cubes(4)),
        ("boxes in boxes", scenes::box_in_box(extent(100, 400), seed(312))),
        ("a wall", scenes::pile(scenes::Pile::Wall, extent(200, 1_000), seed(313))),
    ];
    scaled.into_iter().chain(others.map(|(name, scene)| (name.to_owned(), scene))).collect()
}

fn arena_of(engine: &Engine, scene: &Scene, precision: Precision) -> Arena {
    Arena::new(engine, &scene_hulls(scene), Options { precision, ..Options::default() }).unwrap()
}

/// The status of each given pair by each query.
fn statuses(arena: &Arena, bodies: &[Body], pairs: &[[u32; 2]]) -> [Vec<Status>; 4] {
    let given = Pairs::Given(pairs);
    let found = arena.intersections(bodies, given).unwrap().wait().unwrap();
    let verdicts = found.rows.iter().map(|row| row.status).collect();
    let found = arena.distances(bodies, given, &DistanceOptions::default()).unwrap().wait().unwrap();
    let distances = found.rows.iter().map(|row| row.status).collect();
    let found = arena.contacts(bodies, given, &ContactOptions::default()).unwrap().wait().unwrap();
    let contacts = found.rows.iter().map(|row| row.status).collect();
    let found = arena.manifolds(bodies, given, &ManifoldOptions::default()).unwrap().wait().unwrap();
    let manifolds = found.rows.iter().map(|row| row.status).collect();
    [verdicts, distances, contacts, manifolds]
}

/// Pairs of a scene that the oracle judges; it takes longer than the engines.
const JUDGED: usize = 1_000;

/// Pairs of a scene that the GPU engine judges, others in each run: two workgroups. A software GPU takes a hundred times as long for a pair.
const ON_GPU: usize = 130;

#[test]
fn a_pair_has_one_status() {
    for (name, scene) in all_scenes() {
        let placed = bodies(&scene.bodies);
        let exact = arena_of(&Engine::cpu(), &scene, Precision::Exact);
        let shapes = shapes(exact.hulls());
        let [expected, ..] = statuses(&exact, &placed, &scene.pairs);
        let verdicts = |found: &[Status]| found.iter().map(|&status| verdict(status)).collect::<Vec<_>>();
        let judged = &scene.pairs[..scene.pairs.len().min(JUDGED)];
        let truths = whole_truths(&shapes, &scene.bodies, judged);
        against_truth(judged, &verdicts(&expected[..judged.len()]), &truths)
            .passed()
            .unwrap_or_else(|text| panic!("{name}: {text}"));
        let check = |places: &[usize], found: &[Status]| {
            let pairs: Vec<[u32; 2]> = places.iter().map(|&k| scene.pairs[k]).collect();
            let expected: Vec<Status> = places.iter().map(|&k| expected[k]).collect();
            let truth = |k: usize| whole_truths(&shapes, &scene.bodies, &pairs[k..=k])[0];
            between(&pairs, &verdicts(found), &verdicts(&expected), truth).passed()
        };
        for (engine_name, engine) in engines() {
            let every: Vec<usize> = (0..scene.pairs.len()).collect();
            let places = if engine_name == "cpu" { every } else { pick(350, &every, ON_GPU) };
            let given: Vec<[u32; 2]> = places.iter().map(|&k| scene.pairs[k]).collect();
            let turned: Vec<[u32; 2]> = given.iter().map(|&[a, b]| [b, a]).collect();
            for precision in [Precision::Fast, Precision::Exact] {
                let arena = arena_of(&engine, &scene, precision);
                for (order, pairs) in [("as given", &given), ("turned", &turned)] {
                    // The exact path is the same on every engine, and in one order it is the reference.
                    if precision == Precision::Exact && (order == "as given" || engine_name != "cpu") {
                        continue;
                    }
                    let all = statuses(&arena, &placed, pairs);
                    for (query, found) in
                        ["intersections", "distances", "contacts", "manifolds"].iter().zip(all)
                    {
                        check(&places, &found).unwrap_or_else(|text| {
                            panic!("{name}, {query}, {engine_name}, {precision:?}, {order}: {text}")
                        });
                    }
                }
            }
        }
        // Control: one status flipped must be found, also next to a threshold.
        let mut flipped = expected.clone();
        let middle = flipped.len() / 2;
        flipped[middle] =
            if flipped[middle] == Status::Touching { Status::Separated } else { Status::Touching };
        let every: Vec<usize> = (0..flipped.len()).collect();
        assert!(check(&every, &flipped).is_err(), "{name}");
    }
}

/// The pairs of rows, with their statuses.
type Listed = Vec<([u32; 2], Status)>;

/// However pairs are found, the rows are those whose gap in f64 is within the margin or that touch.
#[test]
fn the_same_rows_are_listed_however_pairs_are_found() {
    let sets = scenes::convex_sets(24, 1.0, seed(320));
    // A software GPU takes seconds for all pairs, and so does the exact path. They test all pairs of a scene at one margin.
    let first_margin = pick(325, &[0, 1, 2, 3], 1)[0];
    for (turn, (name, scene)) in [
        ("debris", scenes::debris(132, true, seed(321))),
        ("a heap", scenes::pile(scenes::Pile::Heap, 132, seed(322))),
        ("tumbling", scenes::tumbling(&sets, 132, 3.0, seed(323)).scene),
        ("kissing boxes", scenes::kissing_boxes(132, seed(324))),
    ]
    .into_iter()
    .enumerate()
    {
        let placed = bodies(&scene.bodies);
        let exact = arena_of(&Engine::cpu(), &scene, Precision::Exact);
        let every: Vec<[u32; 2]> = (0..placed.len() as u32)
            .flat_map(|a| (a + 1..placed.len() as u32).map(move |b| [a, b]))
            .collect();
        let given = exact
            .contacts(&placed, Pairs::Given(&every), &ContactOptions::default())
            .unwrap()
            .wait()
            .unwrap();
        // Margins at the gap of a pair, and at the next numbers, decide about that pair.
        let gap =
            given.rows.iter().map(|row| row.separation).filter(|&gap| gap > 1e-3).fold(f64::MAX, f64::min);
        let margins = [0.0, gap as f32, (gap as f32).next_up(), (gap as f32).next_down()];
        let arenas: Vec<(&str, Precision, Arena)> = engines()
            .into_iter()
            .flat_map(|(name, engine)| {
                [Precision::Fast, Precision::Exact]
                    .map(|precision| (name, precision, arena_of(&engine, &scene, precision)))
            })
            // The exact path is the same on every engine.
            .filter(|&(name, precision, _)| precision == Precision::Fast || name == "cpu")
            .collect();
        for (at, margin) in margins.into_iter().enumerate() {
            let is_listed = |row: &&hullfield::collide::Contact| {
                row.status.is_hit() || row.separation <= f64::from(margin)
            };
            let expected: Listed =
                given.rows.iter().filter(is_listed).map(|row| ([row.a, row.b], row.status)).collect();
            let options = ContactOptions { margin };
            for (engine_name, precision, arena) in &arenas {
                for pairs in [Pairs::BroadPhase, Pairs::Exhaustive] {
                    let is_slow = *engine_name == "gpu" || *precision == Precision::Exact;
                    let is_long = is_slow && pairs == Pairs::Exhaustive;
                    if is_long && at != (first_margin + turn) % 4 {
                        continue;
                    }
                    let found = arena.contacts(&placed, pairs, &options).unwrap().wait().unwrap();
                    let found: Listed = found.rows.iter().map(|row| ([row.a, row.b], row.status)).collect();
                    assert!(found == expected, "{name}, {engine_name}, {precision:?}, margin {margin:e}");
                }
            }
        }
    }
}

/// A warm start changes no status.
#[test]
fn a_warm_start_gives_the_same_rows() {
    let mut scene = scenes::pile(scenes::Pile::Heap, extent(200, 1_000), 330);
    let options = |warm_start| Options { warm_start, ..Options::default() };
    let [warm, cold] =
        [true, false].map(|warm| Arena::new(&Engine::cpu(), &scene_hulls(&scene), options(warm)).unwrap());
    let mut hits = 0;
    for frame in 0..12 {
        for (index, body) in scene.bodies.iter_mut().enumerate() {
            // A few millionths of a size, so that statuses change from frame to frame.
            body.pose.position[1] += 3e-6 * ((index * 7 + frame * 3) % 5) as f32 - 6e-6;
        }
        let placed = bodies(&scene.bodies);
        let [warm, cold] = [&warm, &cold]
            .map(|arena| arena.intersections(&placed, Pairs::BroadPhase).unwrap().wait().unwrap().rows);
        assert_eq!(warm, cold, "frame {frame}");
        hits += warm.iter().filter(|row| row.status == Status::Touching).count();
    }
    assert!(hits > 100, "{hits}");
}
