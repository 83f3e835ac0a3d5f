//! Queries by kernels with subgroup operations against the same kernels without, on one device. Where the device has none, both are the same.

use hullfield::collide::{Arena, Body, Hull, Intersection, Options, Pairs};
use hullfield::{Engine, EngineOptions};
use hullfield_oracle::scenes;

use crate::common;

/// One device: kernels without subgroup operations, and with them.
fn engines() -> Option<[Engine; 2]> {
    let first = common::own_gpu()?;
    let (device, queue) = first.device().unwrap();
    let second = Engine::from_device(device.clone(), queue.clone(), &EngineOptions::default()).unwrap();
    Some([first.with_subgroups(false), second.with_subgroups(true)])
}

/// Hulls that touch now and then, above a half-space that all of them may touch; the first hundred at one place.
fn crowd(count: usize) -> (Vec<Hull>, Vec<Body>) {
    let scene = scenes::tumbling(&scenes::convex_sets(4, 1.0, 5), count, 12.0, 9).scene;
    let mut hulls: Vec<Hull> = scene.hulls.iter().map(|points| Hull::from_points(points).unwrap()).collect();
    hulls.push(Hull::half_space());
    let placed = scene.bodies.iter().enumerate().map(|(i, placed)| {
        let size = if i < 100 { 1e-3 } else { 1.0 };
        let body = Body::new(placed.hull).at(placed.pose.position.map(|x| size * x));
        Body { rotation: placed.pose.rotation, ..body }
    });
    let mut bodies: Vec<Body> = placed.collect();
    bodies.push(Body::new(hulls.len() as u32 - 1).at([0.0, -3.0, 0.0]));
    (hulls, bodies)
}

fn rows(arena: &Arena, bodies: &[Body], pairs: Pairs<'_>) -> Vec<Intersection> {
    arena.intersections(bodies, pairs).unwrap().wait().unwrap().rows
}

#[test]
fn both_forms_find_the_same_rows() {
    let Some(engines) = engines() else { return };
    // With a tree, and with rows that belong to whole workgroups: the half-space, and those of the crowd.
    let (hulls, bodies) = crowd(3000);
    let arenas = engines.map(|engine| Arena::new(&engine, &hulls, Options::default()).unwrap());
    let [plain, subgroups] = arenas.each_ref().map(|arena| rows(arena, &bodies, Pairs::BroadPhase));
    assert!(plain.len() > 5000, "{}", plain.len());
    assert!(plain == subgroups);
    // Control: a row that is missing is found.
    assert!(plain[1..] != subgroups[..]);
    // Compaction: runs of 16 pairs, groups of 256 runs.
    for count in [0, 1, 16, 17, 4095, 4096, 4097, 5 * 4096 + 7] {
        let given: Vec<[u32; 2]> =
            (0..count).map(|k| [k % 2999, (k % 2999 + 1 + k / 2999 * 7) % 3000]).collect();
        let [plain, subgroups] = arenas.each_ref().map(|arena| rows(arena, &bodies, Pairs::Given(&given)));
        assert_eq!(plain, subgroups, "{count} pairs");
    }
}
