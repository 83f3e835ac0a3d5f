//! Accuracy of the two precisions on the CPU engine: f64 against the oracle, f32 against f64.

use glam::DVec3;
use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, ContactOptions, DistanceOptions, Hull, Options, Pairs, Precision, Status,
};
use hullfield_oracle::random::Random;
use hullfield_oracle::scenes::{self, Kind, Near, Scene};
use hullfield_oracle::{certify, corpus, extent, gap, seed, tolerance};

use crate::answers::{bodies, extreme, hulls, shapes};

fn arena(hulls: &[Hull], precision: Precision) -> Arena {
    Arena::new(&Engine::cpu(), hulls, Options { precision, ..Options::default() }).unwrap()
}

fn near_pairs(sets: &[Vec<[f32; 3]>], count: usize, placed: f64, stretch: f64, seed: u64) -> Scene {
    scenes::near_pairs(sets, Near { count, placed, stretch, seed, ..Near::default() })
}

fn ball_of_128() -> Vec<[f32; 3]> {
    scenes::convex_set(&mut Random::new(81), Kind::Ball, 128)
}

/// Against exhaustive separating axes, over the scenes that are hardest on GJK and EPA.
#[test]
fn exact_contacts_are_within_a_billionth() {
    let sets = corpus::hulls().unwrap().sets;
    let round = ball_of_128();
    let scenes = [
        ("near", near_pairs(&sets, extent(1_000, 4_000), 0.5, 1.0, seed(1))),
        ("stretched", near_pairs(&sets, extent(500, 2_000), 0.5, 1000.0, seed(2))),
        ("kissing", scenes::kissing_boxes(1_000, seed(78))),
        ("debris", scenes::debris(1_000, true, seed(79))),
        ("coincident", scenes::coincident(&sets[..300], seed(80))),
        ("stacked", scenes::stacked_cubes(3)),
        ("boxed", scenes::box_in_box(500, seed(83))),
        ("round", near_pairs(std::slice::from_ref(&round), 50, 1.0, 1.0, seed(82))),
        ("concentric", scenes::coincident(&[round], seed(84))),
    ];
    for (name, scene) in scenes {
        check_exact(name, &scene);
    }
}

/// Scenes with a pair that was once beyond the bounds.
#[test]
fn exact_contacts_of_what_was_once_wrong() {
    let sets = corpus::hulls().unwrap().sets;
    let mut thin = extreme(&sets[..600]);
    thin.push(scenes::stacked_cubes(1).hulls[0].clone());
    let scenes = [
        // GJK returned the farther of two facets whose normals differ by 1e-8.
        ("kissing", scenes::kissing_boxes(1_000, 6_985_063_163_317_324_657)),
        // GJK was stuck above a depth near the rounding, and EPA was not asked.
        ("stretched", near_pairs(&sets, 500, 0.5, 1000.0, 16_596_645_334_664_370_758)),
        ("coincident", scenes::coincident(&sets[..300], 15_769_984_131_401_266_167)),
        // Needles 1e-8 thick: the normal of a sliver was not perpendicular to its longest edge.
        ("needles", scenes::coincident(&thin, 10_083_140_725_126_667_582)),
        ("needles", scenes::coincident(&thin, 27_749_586_227_946_246)),
    ];
    for (name, scene) in scenes {
        check_exact(name, &scene);
    }
}

fn check_exact(name: &str, scene: &Scene) {
    let hulls = hulls(&scene.hulls);
    let shapes = shapes(&hulls);
    let bodies = bodies(&scene.bodies);
    let arena = arena(&hulls, Precision::Exact);
    let pairs = Pairs::Given(&scene.pairs);
    let found = arena.contacts(&bodies, pairs, &ContactOptions { margin: 0.0 }).unwrap().wait().unwrap();
    let mut worst = [0.0_f64; 3];
    for (row, &[a, b]) in found.rows.iter().zip(&scene.pairs) {
        let [a, b] = [a, b].map(|body| &scene.bodies[body as usize]);
        let [of_a, of_b] = [a, b].map(|body| &shapes[body.hull as usize]);
        let truth = gap(of_a, &a.pose, of_b, &b.pose);
        let sum = of_a.radius(a.pose.scale) + of_b.radius(b.pose.scale);
        // Along the normal the projections must be as far apart as the row says.
        let shown = certify::shown(row.normal, of_a, &a.pose, of_b, &b.pose);
        let size = sum + a.pose.position64().length() * 1e-7;
        let errors = [
            ((row.separation - truth.gap).abs() - truth.slack).max(0.0) / sum,
            (shown - row.separation).abs() / size,
            (DVec3::from(row.normal).length() - 1.0).abs(),
        ];
        for (worst, error) in worst.iter_mut().zip(errors) {
            *worst = worst.max(error);
        }
        assert!(
            errors[0] <= 1e-9 && errors[1] <= 1e-9 && errors[2] <= 1e-12,
            "{name}: {errors:?}: {row:?} against {truth:?} at {a:?} {b:?}"
        );
    }
    println!("{name}: {worst:?}, {} pairs", scene.pairs.len());
}

/// Results of f32 are within the tolerance of f64, and f64 is rarely needed.
#[test]
fn fast_contacts_are_within_the_tolerance_of_exact_ones() {
    let sets = corpus::hulls().unwrap().sets;
    // The last number is the share of pairs that may be left to f64.
    let scenes = [
        ("near", near_pairs(&sets, extent(1_500, 6_000), 0.5, 1.0, 1), 0.07),
        ("stretched", near_pairs(&sets, extent(500, 2_000), 0.5, 1000.0, 2), 0.2),
        ("kissing", scenes::kissing_boxes(1_000, 78), 0.22),
        ("debris", scenes::debris(1_000, true, 79), 0.1),
        ("coincident", scenes::coincident(&sets[..300], 80), 0.6),
        ("stacked", scenes::stacked_cubes(3), 0.01),
        ("boxed", scenes::box_in_box(500, 83), 0.01),
        ("round", near_pairs(&[ball_of_128()], extent(300, 1000), 1.0, 1.0, 82), 0.5),
    ];
    for (name, scene, share) in scenes {
        let hulls = hulls(&scene.hulls);
        let bodies = bodies(&scene.bodies);
        let pairs = Pairs::Given(&scene.pairs);
        for rounding in [0.0, 0.1] {
            let name = format!("{name}, rounding {rounding}");
            let rounded: Vec<Hull> = hulls
                .iter()
                .map(|hull| hull.clone().rounded(rounding * hull.radius() as f32).unwrap())
                .collect();
            let shapes = shapes(&rounded);
            let [fast, exact] =
                [Precision::Fast, Precision::Exact].map(|precision| arena(&rounded, precision));
            let options = ContactOptions { margin: 0.0 };
            let truths = exact.contacts(&bodies, pairs, &options).unwrap().wait().unwrap();
            let found = fast.contacts(&bodies, pairs, &options).unwrap().wait().unwrap();
            let verdicts = fast.intersections(&bodies, pairs).unwrap().wait().unwrap();
            let mut worst = [0.0_f64; 2];
            for (index, truth) in truths.rows.iter().enumerate() {
                let [a, b] = scene.pairs[index].map(|row| &scene.bodies[row as usize]);
                let [of_a, of_b] = [a, b].map(|body| &shapes[body.hull as usize]);
                let [radius_a, radius_b] = [(of_a, a), (of_b, b)].map(|(shape, body)| {
                    let least = body.pose.scale.into_iter().fold(f32::INFINITY, f32::min);
                    shape.radius(body.pose.scale) + shape.rounding() * f64::from(least)
                });
                let tau = tolerance(radius_a.min(radius_b), radius_a + radius_b, truth.separation);
                let is_wrong = |status| match status {
                    Status::Separated => truth.separation < 0.1 * tau,
                    Status::Penetrating => truth.separation > -0.1 * tau,
                    Status::Touching => truth.separation.abs() > tau,
                };
                let (row, verdict) = (&found.rows[index], &verdicts.rows[index]);
                for status in [row.status, verdict.status] {
                    assert!(!is_wrong(status), "{name}: {row:?}, {verdict:?}, not {truth:?}: {a:?} {b:?}");
                }
                if let Some(axis) = verdict.axis {
                    let shown = certify::shown(axis.map(f64::from), of_a, &a.pose, of_b, &b.pose);
                    assert!(shown > 0.0, "{name}: {verdict:?} shows {shown:e}: {a:?} {b:?}");
                }
                let shown = certify::shown(row.normal, of_a, &a.pose, of_b, &b.pose);
                let errors =
                    [(row.separation - truth.separation).abs() / tau, (row.separation - shown).abs() / tau];
                for (worst, error) in worst.iter_mut().zip(errors) {
                    *worst = worst.max(error);
                }
                assert!(
                    errors.iter().all(|&error| error <= 1.0) && DVec3::from(row.normal).is_normalized(),
                    "{name}: {errors:?}: {row:?} against {truth:?}: {a:?} {b:?}"
                );
            }
            let count = scene.pairs.len();
            let settled = [found.stats.settled_count, verdicts.stats.settled_count];
            println!("{name}: {worst:?}, {settled:?} of {count} settled in f64");
            assert!(
                settled.iter().all(|&settled| settled as f64 <= share * count as f64),
                "{name}: {settled:?} of {count} settled in f64"
            );
        }
    }
}

/// Half-spaces far from their origin, turned any way, against rounded hulls near their surface.
#[test]
fn fast_contacts_with_half_spaces_are_within_the_tolerance_of_exact_ones() {
    let sets = corpus::hulls().unwrap().sets;
    let mut random = Random::new(5);
    let mut hulls: Vec<Hull> =
        sets[..50].iter().map(|set| Hull::from_points(set).unwrap().rounded(0.05).unwrap()).collect();
    let ground = hulls.len() as u32;
    hulls.push(Hull::half_space());
    let mut bodies = Vec::new();
    let mut ups = Vec::new();
    for case in 0..2_000 {
        let rotation = random.rotation();
        let up = glam::DQuat::from_array(rotation.map(f64::from)).normalize() * DVec3::Y;
        let far = random.log_between(1e-2, 1e4);
        let position = random.direction() * far;
        let hull = (case % 50) as u32;
        let along = position + up.any_orthonormal_vector() * far * random.unit();
        let height = hulls[hull as usize].radius() * random.between(-1.5, 1.5);
        ups.push(up);
        bodies.push(Body {
            rotation,
            ..Body::new(ground).at(position.as_vec3().to_array()).padded(0.01 * random.unit() as f32)
        });
        let body = Body::new(hull).at((along + up * height).as_vec3().to_array());
        bodies.push(body.rotated(random.rotation()));
    }
    let pairs: Vec<[u32; 2]> =
        (0..2_000).map(|k| if k % 2 == 0 { [2 * k, 2 * k + 1] } else { [2 * k + 1, 2 * k] }).collect();
    let contacts = |precision| {
        let arena = arena(&hulls, precision);
        let options = ContactOptions { margin: 0.0 };
        arena.contacts(&bodies, Pairs::Given(&pairs), &options).unwrap().wait().unwrap()
    };
    let (found, truths) = (contacts(Precision::Fast), contacts(Precision::Exact));
    assert_eq!(found.stats.settled_count, 0);
    for (k, (row, truth)) in found.rows.iter().zip(&truths.rows).enumerate() {
        let ground_first = k % 2 == 0;
        let body = &bodies[2 * k + 1];
        let tau = 1e-5 * hulls[body.hull as usize].radius();
        let apart = |p: [f64; 3], q: [f64; 3]| (DVec3::from(p) - DVec3::from(q)).length();
        let errors = [
            (row.separation - truth.separation).abs(),
            apart(row.points[0], truth.points[0]),
            apart(row.points[1], truth.points[1]),
        ];
        assert!(errors.into_iter().all(|error| error <= 0.1 * tau), "{errors:?}: {row:?} {truth:?}");
        assert!(DVec3::from(row.normal).dot(DVec3::from(truth.normal)) > 1.0 - 1e-12, "{row:?} {truth:?}");
        let sign = if ground_first { 1.0 } else { -1.0 };
        assert!(DVec3::from(truth.normal).dot(ups[k]) * sign > 0.999_999, "{truth:?}");
    }
    // For separated pairs the distances are equal.
    let arena = arena(&hulls, Precision::Fast);
    let distances = arena.distances(&bodies, Pairs::Given(&pairs), &DistanceOptions::default());
    for (row, contact) in distances.unwrap().wait().unwrap().rows.iter().zip(&found.rows) {
        assert_eq!(row.separation, contact.separation.max(0.0) * f64::from(u8::from(row.points.is_some())));
    }
}
