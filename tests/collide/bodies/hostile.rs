//! Bad input: one error that names what and where, and nothing lost.

use hullfield::collide::{Bodies, Body, BodyRef, ContactOptions, Options, Phase};
use hullfield::{Engine, Error, Location};

use super::{arena, ball, frame};

#[test]
fn stale_ids() {
    let mut bodies = Bodies::new(&arena(&Engine::cpu(), Options::default()));
    let a = bodies.insert(ball(0.0), 'a').unwrap();
    let b = bodies.insert(ball(9.0), 'b').unwrap();
    bodies.remove(a).unwrap();
    let text = |bodies: &mut Bodies<char>, id| bodies.set(id, ball(1.0)).unwrap_err().to_string();
    assert_eq!(text(&mut bodies, a), "body 0 of generation 0 is not in the set: its slot is empty");
    let c = bodies.insert(ball(0.0), 'c').unwrap();
    let stale = "body 0 of generation 0 is not in the set: its slot holds a body of generation 1";
    assert_eq!(text(&mut bodies, a), stale);
    assert_eq!((bodies.get(a), bodies.user_data(a)), (None, None));
    assert!(
        bodies.remove(a).is_none()
            && bodies.get_mut(a).is_none()
            && bodies.user_data_mut(a).is_none()
            && !bodies.contains(a)
    );
    assert_eq!((bodies.get(c), bodies.get(b)), (Some(&ball(0.0)), Some(&ball(9.0))));
    // The id of a slot that this set does not have.
    let mut other = Bodies::new(bodies.arena());
    let error = other.set(b, ball(1.0)).unwrap_err();
    assert_eq!(error, Error::Missing { at: Location::Argument, what: "body", index: 1, count: 0 }, "{error}");
    other.insert(ball(0.0), 'x').unwrap();
    assert!(!other.contains(b) && other.remove(b).is_none());
}

#[test]
fn bodies_that_can_not_be_placed() {
    let mut bodies = Bodies::new(&arena(&Engine::cpu(), Options::default()));
    let id = bodies.insert(ball(0.0), 1).unwrap();
    let bad = [
        (Body::new(2), "hull 2 does not exist, there are 2"),
        (ball(f32::NAN), "position is [NaN, 0.0, 0.0], each must be finite and at most 1e18 in magnitude"),
        (ball(0.0).scaled(0.0), "scale is [0.0, 0.0, 0.0], each must be above zero and at most 1e18"),
        (ball(0.0).scaled(1e-18).padded(-1.0), "padding is -1.0, it must be from 0 to 1e18"),
        (ball(0.0).rotated([0.0; 4]), "rotation is [0.0, 0.0, 0.0, 0.0]"),
    ];
    for (body, message) in bad {
        let error = bodies.insert(body, 2).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
        let error = bodies.set(id, body).unwrap_err().to_string();
        assert!(error.starts_with(&format!("body 0: {message}")), "{error}");
    }
    assert_eq!((bodies.len(), bodies.rows().len(), bodies.get(id)), (1, 1, Some(&ball(0.0))));
    let error = bodies.contacts(&ContactOptions { margin: f32::NAN }).unwrap_err().to_string();
    assert_eq!(error, "margin is NaN, it must be zero or more");
}

#[test]
fn answers_of_another_set() {
    let arena = arena(&Engine::cpu(), Options::default());
    let [mut bodies, mut other] = [0, 1].map(|_| Bodies::new(&arena));
    for set in [&mut bodies, &mut other] {
        for x in [0.0, 1.0] {
            set.insert(ball(x), ()).unwrap();
        }
    }
    let found = other.intersections().unwrap().wait().unwrap();
    let error = bodies.events(&found).unwrap_err().to_string();
    assert_eq!(error, "the answer is that of another set of bodies");
    assert_eq!(frame(&mut bodies)[0].2, Phase::Begin);
    assert_eq!(other.events(&found).unwrap()[0].phase, Phase::Begin);
}

/// The caller may take rows out, put them in another order, or twice.
#[test]
fn changed_rows() {
    let mut bodies = Bodies::new(&arena(&Engine::cpu(), Options::default()));
    let ids: Vec<_> = (0..3).map(|k| bodies.insert(ball(1.9 * k as f32), ()).unwrap()).collect();
    let mut found = bodies.intersections().unwrap().wait().unwrap();
    found.rows.reverse();
    found.rows.extend_from_within(..);
    let events = bodies.events(&found).unwrap();
    let told: Vec<_> = events.iter().map(|event| (event.a, event.b, event.phase)).collect();
    let begin = |k: usize| (ids[k], BodyRef::Body(ids[k + 1]), Phase::Begin);
    assert_eq!(told, [begin(0), begin(1)]);
    let mut found = bodies.intersections().unwrap().wait().unwrap();
    found.rows.retain(|pair| pair.a != ids[0]);
    assert_eq!(bodies.events(&found).unwrap().iter().filter(|event| event.phase == Phase::End).count(), 1);
}

/// A crowd that all ends in one place, many times over: empty slots are not all in that place.
#[test]
fn removed_in_one_place() {
    let mut bodies = Bodies::new(&arena(&Engine::cpu(), Options::default()));
    let ids: Vec<_> = (0..2000).map(|k| bodies.insert(ball(3.0 * k as f32), ()).unwrap()).collect();
    for &id in &ids[1000..] {
        bodies.get_mut(id).unwrap().position = [0.0, 100.0, 0.0];
        bodies.remove(id).unwrap();
    }
    let mut places: Vec<_> =
        bodies.rows()[1000..].iter().map(|body| body.position.map(f32::to_bits)).collect();
    places.sort_unstable();
    let most = places.chunk_by(|p, q| p == q).map(<[_]>::len).max().unwrap();
    assert!(most < 12, "{most} empty slots in one place");
    assert!(bodies.rows()[1000..].iter().all(|body| body.group == 0 && body.mask == 0));
    assert_eq!(bodies.intersections().unwrap().wait().unwrap().stats.candidate_count, 0);
}
