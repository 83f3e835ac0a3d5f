//! Distances, contacts and manifolds with answers computed by hand; margins, symmetries, bad input.

use std::collections::HashMap;

use hullfield::collide::{
    Arena, Body, Contact, ContactOptions, Distance, DistanceOptions, Hull, Manifold, ManifoldOptions,
    Options, Pairs, Precision, Status,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::measure::listed;
use hullfield_oracle::scenes::{self, Near, Scene, overlapping_boxes};
use hullfield_oracle::{Truth, corpus, extent, seed};

use crate::answers::{JudgedScene, contact_rows, distance_rows, engines, extreme, judged_places};

const PRECISIONS: [Precision; 2] = [Precision::Fast, Precision::Exact];

/// Runs the query on every engine, fast and exact.
fn each(hulls: &[Hull], mut with: impl FnMut(&str, &Arena)) {
    for (name, engine) in engines() {
        for precision in PRECISIONS {
            let arena = Arena::new(&engine, hulls, Options { precision, ..Default::default() }).unwrap();
            with(&format!("{precision:?} on {name}"), &arena);
        }
    }
}

fn distance(arena: &Arena, a: Body, b: Body) -> Distance {
    arena
        .distances(&[a, b], Pairs::Given(&[[0, 1]]), &DistanceOptions { margin: 0.0 })
        .unwrap()
        .wait()
        .unwrap()
        .rows[0]
}

fn contact(arena: &Arena, a: Body, b: Body) -> Contact {
    arena
        .contacts(&[a, b], Pairs::Given(&[[0, 1]]), &ContactOptions { margin: 0.0 })
        .unwrap()
        .wait()
        .unwrap()
        .rows[0]
}

fn manifold(arena: &Arena, a: Body, b: Body) -> Manifold {
    arena
        .manifolds(&[a, b], Pairs::Given(&[[0, 1]]), &ManifoldOptions { margin: 0.0 })
        .unwrap()
        .wait()
        .unwrap()
        .rows[0]
}

#[track_caller]
fn near(name: &str, found: f64, wanted: f64) {
    assert!((found - wanted).abs() <= 1e-6, "{name}: {found:e}, not {wanted:e}");
}

#[track_caller]
fn near3(name: &str, found: [f64; 3], wanted: [f64; 3]) {
    assert!(
        found.iter().zip(&wanted).all(|(f, w)| (f - w).abs() <= 2e-6),
        "{name}: {found:?}, not {wanted:?}"
    );
}

#[test]
fn distances_and_depths_of_the_usual_shapes() {
    let hulls = [
        Hull::cuboid([0.5; 3]).unwrap(),
        Hull::ball(0.5).unwrap(),
        Hull::capsule([0.0, -1.0, 0.0], [0.0, 1.0, 0.0], 0.25).unwrap(),
        Hull::half_space(),
        Hull::triangle([[-1.0, 0.0, -1.0], [1.0, 0.0, -1.0], [0.0, 0.0, 1.0]]).unwrap(),
    ];
    let [cube, ball, capsule, ground, triangle] = [0, 1, 2, 3, 4].map(Body::new);
    let turned = capsule.rotated([0.0, 0.0, 0.5f32.sqrt(), 0.5f32.sqrt()]);
    // From the first body to the second: the signed gap, and the axis if it is unique.
    let x = Some([1.0, 0.0, 0.0]);
    let y = Some([0.0, 1.0, 0.0]);
    let cases = [
        (cube, cube.at([1.75, 0.25, 0.0]), 0.75, x),
        (cube, cube.at([0.75, 0.25, 0.0]), -0.25, x),
        (cube, cube, -1.0, None),
        (cube, cube.at([1.0, 0.0, 0.0]), 0.0, None),
        (cube, cube.at([2.0, 2.0, 0.0]), 2f64.sqrt(), Some([0.5f64.sqrt(), 0.5f64.sqrt(), 0.0])),
        (cube, ball.at([0.0, 1.25, 0.0]), 0.25, y),
        (cube, ball.at([0.0, 0.75, 0.0]), -0.25, y),
        (cube, ball, -1.0, None),
        (ball, ball.at([3.0, 0.0, 0.0]), 2.0, x),
        (ball, ball.at([0.25, 0.0, 0.0]), -0.75, x),
        (ball, ball, -1.0, None),
        (ball, ball.at([0.0, 1.0, 0.0]), 0.0, y),
        (capsule, capsule.at([1.0, 1.5, 0.0]), 0.5, x),
        (capsule, capsule.at([0.0, 3.0, 0.0]), 0.5, y),
        (capsule, turned, -0.5, None),
        (capsule, turned.at([0.0, 0.0, 0.25]), -0.25, Some([0.0, 0.0, 1.0])),
        (ground, cube.at([70.0, 1.0, -300.0]), 0.5, y),
        (ground, ball.at([0.0, -2.0, 0.0]), -2.5, y),
        (cube, ground.at([0.0, -1.5, 0.0]), 1.0, Some([0.0, -1.0, 0.0])),
        (ground, capsule, -1.25, y),
        (ground, triangle.at([0.0, 0.125, 0.0]), 0.125, y),
        (triangle, ball.at([0.0, 0.625, 0.0]), 0.125, y),
        (triangle, ball.at([0.0, 0.25, 0.0]), -0.25, y),
        (triangle, triangle.at([0.0, 0.25, 0.0]), 0.25, y),
        (triangle, triangle, 0.0, None),
        (triangle.padded(0.125), triangle, -0.125, None),
        (ball.padded(0.25), ball.padded(0.25).at([2.0, 0.0, 0.0]), 0.5, x),
        // The hull's rounding is scaled by the least scale, the body's padding is not.
        (
            ground,
            Body { scale: [3.0, 0.5, 2.0], padding: 0.125, ..ball }.at([0.0, 1.0, 0.0]),
            1.0 - 0.25 - 0.125,
            y,
        ),
    ];
    each(&hulls, |name, arena| {
        for (k, &(a, b, gap, axis)) in cases.iter().enumerate() {
            let name = format!("case {k}, {name}");
            let status = if gap == 0.0 {
                Status::Touching
            } else if gap > 0.0 {
                Status::Separated
            } else {
                Status::Penetrating
            };
            let found = distance(arena, a, b);
            assert_eq!(found.status, status, "{name}: {found:?}");
            near(&name, found.separation, gap.max(0.0));
            assert_eq!(found.points.is_none(), status == Status::Penetrating, "{name}: {found:?}");
            if let (Some(found), Some(wanted), true) = (found.axis, axis, gap > 0.0) {
                near3(&name, found, wanted);
            }
            let found = contact(arena, a, b);
            assert_eq!(found.status, status, "{name}: {found:?}");
            near(&name, found.depth(), -gap);
            let length = found.normal.iter().map(|x| x * x).sum::<f64>().sqrt();
            near(&name, length, 1.0);
            if let Some(wanted) = axis {
                near3(&name, found.normal, wanted);
            }
            let along = [0, 1, 2].map(|i| found.points[1][i] + found.depth() * found.normal[i]);
            near3(&name, found.points[0], along);
            let found = manifold(arena, a, b);
            assert_eq!(found.status, status, "{name}: {found:?}");
            near(&name, found.depth(), -gap);
            assert!((1..=4).contains(&found.points().len()), "{name}: {found:?}");
        }
    });
}

/// A name, the two bodies, the depth, and x and z of the points wanted.
type Resting = (&'static str, Body, Body, f64, Vec<[f64; 2]>);

/// Number and positions of the manifold points of resting bodies.
/// The line between two corners of the difference passes through the origin: the search has no direction left, and needs none.
#[test]
fn round_bodies_on_one_axis_overlap_without_f64() {
    let hulls = [
        Hull::capsule([0.0, -2.0, 0.0], [0.0, 2.0, 0.0], 0.25).unwrap(),
        Hull::capsule([0.0, -1.0, 0.0], [0.0, 1.0, 0.0], 0.25).unwrap(),
        Hull::ball(0.25).unwrap(),
    ];
    let arena = Arena::new(&Engine::cpu(), &hulls, Options::default()).unwrap();
    for (other, y) in [(0, 0.5), (0, -0.75), (0, 1.5), (1, 0.5), (1, -1.0), (2, 0.5), (2, -0.75)] {
        let bodies = [Body::new(0), Body::new(other).at([0.0, y, 0.0])];
        let found = arena.distances(&bodies, Pairs::Given(&[[0, 1]]), &DistanceOptions { margin: 0.0 });
        let found = found.unwrap().wait().unwrap();
        assert_eq!(found.rows[0].status, Status::Penetrating, "hull {other} at {y}");
        assert_eq!(found.stats.settled_count, 0, "hull {other} at {y}");
    }
}

#[test]
fn manifolds_of_resting_bodies() {
    let cube = Hull::cuboid([0.5; 3]).unwrap();
    let hulls = [
        cube.clone(),
        Hull::ball(0.5).unwrap(),
        Hull::capsule([0.0, -1.0, 0.0], [0.0, 1.0, 0.0], 0.25).unwrap(),
        Hull::half_space(),
        cube.rounded(0.125).unwrap(),
        Hull::triangle([[-2.0, 0.0, -2.0], [2.0, 0.0, -2.0], [0.0, 0.0, 2.0]]).unwrap(),
        Hull::cylinder([0.0, -0.5, 0.0], [0.0, 0.5, 0.0], 1.0, 32).unwrap(),
    ];
    let [cube, ball, capsule, ground, rounded, triangle, cylinder] = [0, 1, 2, 3, 4, 5, 6].map(Body::new);
    let half = 0.5f32.sqrt();
    let lying = capsule.rotated([0.0, 0.0, half, half]);
    let corners = |x: [f64; 2], z: [f64; 2]| vec![[x[0], z[0]], [x[0], z[1]], [x[1], z[0]], [x[1], z[1]]];
    // On y ≈ 0: the x and z of the points wanted.
    let cases: Vec<Resting> = vec![
        ("cube on the ground", ground, cube.at([3.0, 0.4375, 0.0]), 0.0625, corners([2.5, 3.5], [-0.5, 0.5])),
        (
            "cube on cube",
            cube.at([0.0, -0.5, 0.0]),
            cube.at([0.25, 0.4375, 0.125]),
            0.0625,
            corners([-0.25, 0.5], [-0.375, 0.5]),
        ),
        (
            "cube above cube",
            cube.at([0.0, -0.5, 0.0]),
            cube.at([0.25, 0.5625, 0.0]),
            -0.0625,
            corners([-0.25, 0.5], [-0.5, 0.5]),
        ),
        (
            "rounded cube on the ground",
            ground,
            rounded.at([0.0, 0.5625, 0.0]),
            0.0625,
            corners([-0.5, 0.5], [-0.5, 0.5]),
        ),
        (
            "cube on a triangle",
            triangle,
            cube.scaled(0.5).at([0.0, 0.1875, 0.0]),
            0.0625,
            corners([-0.25, 0.25], [-0.25, 0.25]),
        ),
        ("ball on the ground", ground, ball.at([0.0, 0.4375, 0.0]), 0.0625, vec![[0.0, 0.0]]),
        ("ball on cube", cube.at([0.0, -0.5, 0.0]), ball.at([0.25, 0.4375, 0.0]), 0.0625, vec![[0.25, 0.0]]),
        (
            "capsule on the ground",
            ground,
            lying.at([0.0, 0.1875, 0.0]),
            0.0625,
            vec![[-1.0, 0.0], [1.0, 0.0]],
        ),
        (
            "capsule on cube",
            cube.at([0.0, -0.5, 0.0]),
            lying.at([1.0, 0.1875, 0.0]),
            0.0625,
            vec![[0.0, 0.0], [0.5, 0.0]],
        ),
    ];
    each(&hulls, |engine, arena| {
        for (name, a, b, depth, wanted) in &cases {
            let name = format!("{name}, {engine}");
            for swapped in [false, true] {
                let found = if swapped { manifold(arena, *b, *a) } else { manifold(arena, *a, *b) };
                near(&name, found.depth(), *depth);
                near3(&name, found.normal, [0.0, if swapped { -1.0 } else { 1.0 }, 0.0]);
                let mut left = wanted.clone();
                for point in found.points() {
                    near(&name, point.depth(), *depth);
                    let [x, _, z] = point.on_a;
                    let place = left.iter().position(|w| (w[0] - x).abs() < 1e-5 && (w[1] - z).abs() < 1e-5);
                    let place =
                        place.unwrap_or_else(|| panic!("{name}: {point:?} is none of {left:?}; {found:?}"));
                    left.remove(place);
                }
                assert!(left.is_empty(), "{name}: {left:?} are missing; {found:?}");
            }
        }
        // More than four corners meet: the four that span most of the area.
        let found = manifold(arena, ground, cylinder.at([0.0, 0.4375, 0.0]));
        assert_eq!(found.points().len(), 4, "{engine}: {found:?}");
        let at: Vec<[f64; 2]> = found.points().iter().map(|p| [p.on_b[0], p.on_b[2]]).collect();
        for p in &at {
            near(engine, p[0].hypot(p[1]), 1.0);
        }
        let widest = at.iter().flat_map(|p| at.iter().map(|q| (p[0] - q[0]).hypot(p[1] - q[1])));
        assert!(widest.fold(0.0, f64::max) > 1.9, "{engine}: {found:?}");
        // A cube tipped by a little: the lower edge is deeper, the upper one not deep at all.
        let tipped = cube.rotated([0.0, 0.0, 0.005, (1.0f32 - 2.5e-5).sqrt()]).at([0.0, 0.5, 0.0]);
        let pair = [ground, tipped];
        let within = |margin: f32| {
            arena
                .manifolds(&pair, Pairs::Given(&[[0, 1]]), &ManifoldOptions { margin })
                .unwrap()
                .wait()
                .unwrap()
                .rows[0]
        };
        assert_eq!(within(0.0).points().len(), 2, "{engine}: {:?}", within(0.0));
        let found = within(0.05);
        assert_eq!(found.points().len(), 4, "{engine}: {found:?}");
        let deep = found.points().iter().filter(|p| p.depth() > 0.0045).count();
        let shallow = found.points().iter().filter(|p| p.depth() < -0.0045).count();
        assert_eq!((deep, shallow), (2, 2), "{engine}: {found:?}");
    });
}

#[test]
fn swapping_and_moving_change_nothing() {
    let near = Near { count: 2_000, rounded: 0.2, seed: 81, ..Near::default() };
    let mut scene = scenes::near_pairs(&extreme(&scenes::convex_sets(48, 1.0, 81)), near);
    // On a grid that f32 holds out to 4096, so that the move below is exact.
    for body in &mut scene.bodies {
        body.pose.position = body.pose.position.map(|x| (x * 4096.0).round() / 4096.0);
    }
    let mut swapped = scene.clone();
    swapped.pairs = scene.pairs.iter().map(|&[a, b]| [b, a]).collect();
    let mut moved = scene.clone();
    let mut turned = scene.clone();
    for (body, (moved, turned)) in scene.bodies.iter().zip(moved.bodies.iter_mut().zip(&mut turned.bodies)) {
        moved.pose.position = body.pose.position.map(|x| x + 1024.0);
        // Half a turn about z, by signs and places alone.
        let ([x, y, z], [i, j, k, w]) = (body.pose.position, body.pose.rotation);
        turned.pose.position = [-x, -y, z];
        turned.pose.rotation = [-j, i, w, -k];
    }
    let known = JudgedScene::new("as it is", scene);
    let others =
        [("swapped", swapped), ("moved", moved), ("turned", turned)].map(|(n, s)| JudgedScene::new(n, s));
    for (name, engine) in engines() {
        for precision in PRECISIONS {
            // The exact path is the same on every engine.
            if precision == Precision::Exact && name != "cpu" {
                continue;
            }
            let gaps = |known: &JudgedScene| -> Vec<[f64; 2]> {
                let part = known.part_for(&engine);
                let known = part.as_ref().unwrap_or(known);
                let arena = known.arena(&engine, precision);
                let given = Pairs::Given(&known.scene.pairs);
                let distances = arena
                    .distances(&known.bodies, given, &DistanceOptions { margin: 0.0 })
                    .unwrap()
                    .wait()
                    .unwrap();
                let contacts = arena
                    .contacts(&known.bodies, given, &ContactOptions { margin: 0.0 })
                    .unwrap()
                    .wait()
                    .unwrap();
                let judge = known.judge(precision);
                let rows = (distance_rows(&distances), contact_rows(&contacts));
                for accuracy in [
                    judge.distances(&known.scene.pairs, &rows.0, &known.truths),
                    judge.contacts(&known.scene.pairs, &rows.1, &known.truths),
                ] {
                    accuracy
                        .passed()
                        .unwrap_or_else(|text| panic!("{}, {precision:?} on {name}: {text}", known.name));
                }
                distances.rows.iter().zip(&contacts.rows).map(|(d, c)| [d.separation, -c.depth()]).collect()
            };
            let here = gaps(&known);
            let places = judged_places(&engine, known.truths.len());
            for other in &others {
                for ((here, there), &place) in here.iter().zip(gaps(other)).zip(&places) {
                    let truth = &known.truths[place];
                    let permitted = match precision {
                        Precision::Fast => truth.tau,
                        Precision::Exact => 1e-9 * truth.radius_sum,
                    };
                    for k in 0..2 {
                        let off = (here[k] - there[k]).abs();
                        assert!(
                            off <= permitted,
                            "{}, {precision:?} on {name}: {off:e} off, {truth:?}",
                            other.name
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_within_the_margin_is_listed() {
    let sets = extreme(&corpus::hulls().unwrap().sets);
    let mut scene = scenes::tumbling(&sets[..60], extent(300, 340), 20.0, seed(82)).scene;
    scene.roundings = (0..60).map(|k| 0.05 * (k % 3) as f32).collect();
    for (k, body) in scene.bodies.iter_mut().enumerate() {
        body.pose.radius = if k % 5 == 0 { 0.1 } else { 0.0 };
    }
    for margin in extent(&[0.05f32][..], &[0.0, 0.05, 1.0]) {
        let margin = *margin;
        let pairs = overlapping_boxes(&scene, f64::from(margin) + 1e-3);
        let known = JudgedScene::new("crowd", Scene { pairs, ..scene.clone() });
        let truth_of: HashMap<[u32; 2], Truth> =
            known.scene.pairs.iter().copied().zip(known.truths.iter().copied()).collect();
        let mut first: Option<Vec<[u32; 2]>> = None;
        each(&known.hulls, |name, arena| {
            // The exact path is the same on every engine.
            if arena.options().precision == Precision::Exact && name.ends_with("gpu") {
                return;
            }
            for pairs in [Pairs::BroadPhase, Pairs::Exhaustive] {
                let distances = arena
                    .distances(&known.bodies, pairs, &DistanceOptions { margin })
                    .unwrap()
                    .wait()
                    .unwrap();
                let contacts =
                    arena.contacts(&known.bodies, pairs, &ContactOptions { margin }).unwrap().wait().unwrap();
                let manifolds = arena
                    .manifolds(&known.bodies, pairs, &ManifoldOptions { margin })
                    .unwrap()
                    .wait()
                    .unwrap();
                for (query, list) in [
                    ("distances", distances.rows.iter().map(|row| [row.a, row.b]).collect::<Vec<_>>()),
                    ("contacts", contacts.rows.iter().map(|row| [row.a, row.b]).collect()),
                    ("manifolds", manifolds.rows.iter().map(|row| [row.a, row.b]).collect()),
                ] {
                    let name = format!("{query} of {pairs:?} within {margin}, {name}");
                    listed(&list, &known.scene.pairs, &known.truths, f64::from(margin))
                        .unwrap_or_else(|text| panic!("{name}: {text}"));
                    assert!(list.len() > 100, "{name}: {}", list.len());
                    let first = first.get_or_insert_with(|| list.clone());
                    let differing = first.iter().filter(|p| list.binary_search(p).is_err()).count();
                    assert!(differing <= 2, "{name}: {differing} of {} are not listed", first.len());
                }
                // What is listed is right as well.
                let given: Vec<[u32; 2]> = contacts.rows.iter().map(|row| [row.a, row.b]).collect();
                let truths: Vec<Truth> = given.iter().map(|pair| truth_of[pair]).collect();
                let judge = known.judge(arena.options().precision);
                judge.contacts(&given, &contact_rows(&contacts), &truths).passed().unwrap();
            }
        });
    }
}

#[test]
fn an_infinite_margin_lists_every_pair() {
    let bodies: Vec<Body> = (0..40u16).map(|k| Body::new(0).at([3.0 * f32::from(k), 0.0, 0.0])).collect();
    each(&[Hull::cuboid([0.5; 3]).unwrap()], |name, arena| {
        for pairs in [Pairs::BroadPhase, Pairs::Exhaustive] {
            let found = arena
                .distances(&bodies, pairs, &DistanceOptions { margin: f32::INFINITY })
                .unwrap()
                .wait()
                .unwrap();
            assert_eq!(found.rows.len(), 40 * 39 / 2, "{name}");
            for row in &found.rows {
                let wanted = f64::from(3 * (row.b - row.a)) - 1.0;
                assert!((row.separation - wanted).abs() <= 4e-6 * (wanted + 2.0), "{name}: {row:?}");
            }
        }
    });
}

#[test]
fn bad_margins_and_two_grounds_are_refused() {
    let hulls = [Hull::cuboid([0.5; 3]).unwrap(), Hull::half_space()];
    each(&hulls, |name, arena| {
        let bodies = [Body::new(0), Body::new(0), Body::new(1), Body::new(1).at([0.0, 1.0, 0.0])];
        let margin = |margin: f32| {
            let errors = [
                arena
                    .distances(&bodies, Pairs::BroadPhase, &DistanceOptions { margin })
                    .map(drop)
                    .unwrap_err(),
                arena.contacts(&bodies, Pairs::BroadPhase, &ContactOptions { margin }).map(drop).unwrap_err(),
                arena
                    .manifolds(&bodies, Pairs::BroadPhase, &ManifoldOptions { margin })
                    .map(drop)
                    .unwrap_err(),
            ];
            for error in errors {
                assert!(error.to_string().contains("margin"), "{name}: {error}");
            }
        };
        margin(-1e-6);
        margin(f32::NAN);
        margin(f32::NEG_INFINITY);
        let two = |pairs: &[[u32; 2]]| {
            arena.contacts(&bodies, Pairs::Given(pairs), &ContactOptions { margin: 0.0 }).map(drop)
        };
        assert!(two(&[[0, 2], [2, 3]]).is_err(), "{name}: two half-spaces");
        assert!(two(&[[0, 2], [3, 1]]).is_ok(), "{name}");
        let itself = two(&[[1, 1]]).unwrap_err();
        assert_eq!(itself.to_string(), "pair 0: body 1 is paired with itself", "{name}");
        for pairs in [Pairs::BroadPhase, Pairs::Exhaustive] {
            let found =
                arena.contacts(&bodies, pairs, &ContactOptions { margin: 10.0 }).unwrap().wait().unwrap();
            let list: Vec<[u32; 2]> = found.rows.iter().map(|row| [row.a, row.b]).collect();
            assert_eq!(list, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3]], "{name}, {pairs:?}");
        }
        let bad = Body { padding: -1.0, ..Body::new(0) };
        let refused = arena
            .distances(&[bad, bodies[0]], Pairs::BroadPhase, &DistanceOptions { margin: 0.0 })
            .map(drop)
            .unwrap_err();
        assert!(
            matches!(refused, Error::Value { at: Location::Body(0), field: "padding", .. }),
            "{name}: {refused}"
        );
    });
}

#[test]
fn points_segments_and_polygons_have_manifolds_too() {
    let flat = [
        Hull::from_points(&[[0.0; 3]]).unwrap(),
        Hull::from_points(&[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]).unwrap(),
        Hull::triangle([[-1.0, 0.0, -1.0], [1.0, 0.0, -1.0], [0.0, 0.0, 1.0]]).unwrap(),
    ];
    let mut scene =
        Scene { hulls: flat.iter().map(|hull| hull.vertices().to_vec()).collect(), ..Scene::default() };
    for rotation in [[0.0, 0.0, 0.0, 1.0], [0.1, 0.2, 0.3, 0.927_361_85]] {
        for position in [[0.0; 3], [0.25, 0.0, 0.0], [0.0, 0.5, 0.0], [0.5, 1e-7, -0.25]] {
            for hull in 0..3 {
                let pose = hullfield_oracle::Pose { rotation, ..hullfield_oracle::Pose::at(position) };
                scene.bodies.push(hullfield_oracle::Placed { hull, pose });
            }
        }
    }
    let count = scene.bodies.len() as u32;
    scene.pairs = (0..count).flat_map(|a| (0..count).map(move |b| [a, b])).filter(|[a, b]| a != b).collect();
    JudgedScene::new("flat", scene.clone()).check();
    for body in &mut scene.bodies {
        body.pose.radius = 0.25;
    }
    JudgedScene::new("flat and rounded", scene).check();
}

#[test]
fn nothing_asked_nothing_answered() {
    each(&[Hull::ball(1.0).unwrap()], |name, arena| {
        for bodies in [vec![], vec![Body::new(0)]] {
            for pairs in [Pairs::BroadPhase, Pairs::Exhaustive, Pairs::Given(&[])] {
                assert!(
                    arena
                        .distances(&bodies, pairs, &DistanceOptions { margin: 1.0 })
                        .unwrap()
                        .wait()
                        .unwrap()
                        .rows
                        .is_empty(),
                    "{name}"
                );
                assert!(
                    arena
                        .contacts(&bodies, pairs, &ContactOptions { margin: 1.0 })
                        .unwrap()
                        .wait()
                        .unwrap()
                        .rows
                        .is_empty(),
                    "{name}"
                );
                assert!(
                    arena
                        .manifolds(&bodies, pairs, &ManifoldOptions { margin: 1.0 })
                        .unwrap()
                        .wait()
                        .unwrap()
                        .rows
                        .is_empty(),
                    "{name}"
                );
            }
        }
    });
}
