//! Slots that are used again, with a warm start.

use hullfield::Engine;
use hullfield::collide::{Bodies, Body, BodyRef, Options, Phase};

use super::{arena, ball, frame};

/// A long row of balls, and one that is about to be replaced.
fn resting(gap: f32) -> (Bodies, Vec<hullfield::collide::BodyId>) {
    let options = Options { warm_start: true, ..Options::default() };
    let mut bodies = Bodies::new(&arena(&Engine::cpu(), options));
    let ids: Vec<_> = (0..40).map(|k| bodies.insert(ball((2.0 + gap) * k as f32), ()).unwrap()).collect();
    for at in 0..6 {
        sway(&mut bodies, at);
    }
    let found = bodies.intersections().unwrap().wait().unwrap();
    assert!(gap < 0.0 || found.stats.skipped_count > 0, "the warm start is not in use: {:?}", found.stats);
    (bodies, ids)
}

/// A frame in which all move by the same, to and fro.
fn sway(bodies: &mut Bodies, at: usize) {
    let step = if at.is_multiple_of(2) { 0.02 } else { -0.02 };
    bodies.iter_mut().for_each(|(_, body, ())| body.position[1] += step);
    frame(bodies);
}

/// The pairs of a body.
fn of(bodies: &mut Bodies, id: hullfield::collide::BodyId) -> Vec<(BodyRef, Phase)> {
    let events = frame(bodies);
    let mut pairs = Vec::new();
    for (a, b, phase) in events {
        if a == id {
            pairs.push((b, phase));
        } else if b == BodyRef::Body(id) {
            pairs.push((BodyRef::Body(a), phase));
        }
    }
    pairs
}

/// Replaces a body within one frame, so that the warm start never sees the slot empty.
#[test]
fn a_reused_slot_is_not_the_old_body() {
    // Apart, with bounds that hold; then another hull, another scale, or another place, in touch.
    for body in [
        Body { hull: 1, ..ball(2.05 * 7.0).scaled(5.0) },
        ball(2.05 * 7.0).scaled(1.6),
        ball(2.05 * 8.0 - 1.0),
        ball(2.05 * 31.0 + 0.5),
    ] {
        let (mut bodies, ids) = resting(0.05);
        bodies.remove(ids[7]).unwrap();
        let new = bodies.insert(body, ()).unwrap();
        assert_eq!(new.index(), 7);
        let pairs = of(&mut bodies, new);
        assert!(!pairs.is_empty() && pairs.iter().all(|pair| pair.1 == Phase::Begin), "{body:?}: {pairs:?}");
        assert!(of(&mut bodies, new).iter().all(|pair| pair.1 == Phase::Stay));
    }
    // In touch, and known to be; then far away, smaller, or of other groups.
    for body in [
        ball(1e4),
        ball(-1.9 * 7.0).at([0.0, 30.0, 0.0]),
        ball(1.9 * 7.0).scaled(0.2),
        Body { hull: 1, ..ball(1.9 * 7.0) },
        ball(1.9 * 7.0).grouped(1, 0),
    ] {
        let (mut bodies, ids) = resting(-0.1);
        bodies.remove(ids[7]).unwrap();
        let new = bodies.insert(body, ()).unwrap();
        assert_eq!(new.index(), 7);
        let events = frame(&mut bodies);
        let ended: Vec<_> = events.iter().filter(|event| event.2 == Phase::End).collect();
        let [before, old, after] = [6, 7, 8].map(|k| ids[k]);
        let expected = [&(before, BodyRef::Body(old), Phase::End), &(old, BodyRef::Body(after), Phase::End)];
        assert_eq!(ended, expected, "{body:?}");
        assert_eq!(events.len(), 39, "{body:?}");
        assert!(of(&mut bodies, new).is_empty());
    }
    // The same body again: a body of its own, whose pairs end and begin.
    let (mut bodies, ids) = resting(-0.1);
    let (body, ()) = bodies.remove(ids[7]).unwrap();
    let new = bodies.insert(body, ()).unwrap();
    assert_eq!(of(&mut bodies, new).len(), 2);
    assert_eq!(of(&mut bodies, ids[7]), []);
}

/// Bodies that are removed and inserted for many frames leave the warm start in use.
#[test]
fn warm_frames_come_back() {
    let (mut bodies, mut ids) = resting(0.05);
    for k in 0..30 {
        bodies.remove(ids[k]).unwrap();
        sway(&mut bodies, 0);
        ids[k] = bodies.insert(ball(2.05 * k as f32), ()).unwrap();
        sway(&mut bodies, 1);
    }
    for at in 0..40 {
        sway(&mut bodies, at);
    }
    let found = bodies.intersections().unwrap().wait().unwrap();
    assert!(found.stats.skipped_count > 0, "{:?}", found.stats);
}
