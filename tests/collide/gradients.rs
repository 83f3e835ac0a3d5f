//! Gradients of the separation: through the engines, and against differences of the separations of bodies as stored.

use hullfield::collide::{
    self, Arena, Body, ContactOptions, GradientOptions, Hull, Options, Pairs, Pose, Precision, Query, Status,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::random::Random;
use hullfield_oracle::scenes::{self, Near};

use crate::answers::{arena, bodies, engines, scene_hulls};

/// A gradient has the pair, the status and the separation of the contact, on every engine and in both precisions, to the bit.
#[test]
fn gradients_are_the_same_on_every_engine() {
    let sets = scenes::convex_sets(24, 1.0, 2);
    let near = scenes::near_pairs(&sets, Near { count: 400, rounded: 0.5, seed: 301, ..Near::default() });
    for scene in [near, scenes::pile(scenes::Pile::Pyramid, 120, 302), scenes::ground(&sets, 60, true, 303)] {
        let placed = bodies(&scene.bodies);
        let mut reference = None;
        for (name, engine) in engines() {
            for precision in [Precision::Fast, Precision::Exact] {
                let arena = arena(&engine, &scene);
                let arena = arena.with_options(Options { precision, ..Options::default() }).unwrap();
                arena.prepare(&[(Query::Gradients, Pairs::Given(&scene.pairs))]).unwrap().wait().unwrap();
                let given = Pairs::Given(&scene.pairs);
                let found =
                    arena.gradients(&placed, given, &GradientOptions::default()).unwrap().wait().unwrap();
                assert_eq!(found.rows.len(), scene.pairs.len());
                let expected = reference.get_or_insert_with(|| found.rows.clone());
                assert_eq!(&found.rows, expected, "{name} {precision:?}");
                let options = ContactOptions::default();
                let contacts = arena.contacts(&placed, given, &options).unwrap().wait().unwrap();
                for (row, contact) in found.rows.iter().zip(&contacts.rows) {
                    assert_eq!((row.a, row.b, row.status), (contact.a, contact.b, contact.status), "{name}");
                    if precision == Precision::Exact {
                        assert_eq!(row.separation, contact.separation);
                        assert_eq!(row.position_b, contact.normal);
                    }
                }
            }
        }
    }
}

/// Of all bodies, the pairs listed are those of the contacts with the same margin.
#[test]
fn margins_list_the_pairs_of_contacts() {
    let sets = scenes::convex_sets(24, 1.0, 2);
    let scene = scenes::ground(&sets, 100, false, 304);
    let placed = bodies(&scene.bodies);
    for (name, engine) in engines() {
        let arena = arena(&engine, &scene);
        for margin in [0.0, 0.25, f32::INFINITY] {
            let options = GradientOptions { margin };
            let found = arena.gradients(&placed, Pairs::BroadPhase, &options);
            let contacts = arena.contacts(&placed, Pairs::BroadPhase, &ContactOptions { margin });
            // Several half-spaces have no gap.
            let (Ok(found), Ok(contacts)) = (found, contacts) else {
                assert_eq!(margin, f32::INFINITY, "{name}");
                continue;
            };
            let pairs: Vec<_> = found.wait().unwrap().rows.iter().map(|row| [row.a, row.b]).collect();
            let expected: Vec<_> = contacts.wait().unwrap().rows.iter().map(|row| [row.a, row.b]).collect();
            assert!(!pairs.is_empty());
            assert_eq!(pairs, expected, "{name} {margin}");
        }
    }
}

/// Positions on a lattice of powers of two move without rounding, so differences of separations are those of the bodies as stored.
#[test]
fn rates_of_positions_are_differences_of_separations() {
    let mut random = Random::new(305);
    let hulls = scene_hulls(&scenes::near_pairs(
        &scenes::convex_sets(16, 1.0, 2),
        Near { count: 1, ..Near::default() },
    ));
    let step = 2.0f32.powi(-18);
    let (mut compared, mut overlapping) = (0, 0);
    for _ in 0..300 {
        let [a, b] = [0; 2].map(|_| &hulls[random.below(hulls.len())]);
        let lattice = |x: f64| (x * 256.0).round() as f32 / 256.0;
        let at = [0; 3].map(|_| lattice(random.between(-1.5, 1.5)));
        let pose = Pose::at(at).rotated(random.rotation());
        let row = collide::gradient(a, Pose::IDENTITY, b, pose).unwrap();
        if row.degeneracy.is_some() || row.separation.abs() < 0.01 {
            continue;
        }
        compared += 1;
        overlapping += usize::from(row.status == Status::Penetrating);
        for axis in 0..3 {
            let gap = |by: f32| {
                let mut moved = pose;
                moved.position[axis] += by;
                collide::contact(a, Pose::IDENTITY, b, moved).unwrap().separation
            };
            let rate = (gap(step) - gap(-step)) / (2.0 * f64::from(step));
            assert!((rate - row.position_b[axis]).abs() < 1e-3, "{rate} {row:?}");
            assert_eq!(row.position_a[axis], -row.position_b[axis]);
        }
    }
    assert!(compared > 100 && overlapping > 30, "{compared} {overlapping}");
}

#[test]
fn bad_input_is_one_clear_error() {
    let arena = Arena::new(
        &Engine::cpu(),
        &[Hull::half_space(), Hull::cuboid([0.5; 3]).unwrap()],
        Options::default(),
    );
    let arena = arena.unwrap();
    let bodies = [Body::new(0), Body::new(0), Body::new(1)];
    let gradients = |pairs, margin| arena.gradients(&bodies, pairs, &GradientOptions { margin }).map(|_| ());
    assert!(matches!(gradients(Pairs::BroadPhase, f32::NAN), Err(Error::Value { field: "margin", .. })));
    assert!(matches!(gradients(Pairs::BroadPhase, -1.0), Err(Error::Value { field: "margin", .. })));
    assert!(matches!(gradients(Pairs::Given(&[[0, 1]]), 0.0), Err(Error::Invalid { .. })));
    assert!(matches!(gradients(Pairs::Given(&[[0, 0]]), 0.0), Err(Error::Invalid { .. })));
    assert!(matches!(gradients(Pairs::Given(&[[0, 3]]), 0.0), Err(Error::Missing { .. })));
    let plane = Hull::half_space();
    let found = collide::gradient(&plane, Pose::IDENTITY, &plane, Pose::IDENTITY);
    assert!(matches!(found, Err(Error::Invalid { at: Location::Argument, .. })));
    let nan = Pose::at([f32::NAN, 0.0, 0.0]);
    let found = collide::gradient(&Hull::ball(1.0).unwrap(), Pose::IDENTITY, &plane, nan);
    assert!(matches!(found, Err(Error::Value { at: Location::Body(1), field: "position", .. })));
}
