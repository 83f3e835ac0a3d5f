//! Nearest bodies: each answer equals the sorted contacts of single pairs, bit for bit, on every engine and for every number of threads;
//! against the oracle; and of bad input.

use hullfield::collide::{
    Arena, Body, BodyColumns, Contact, ContactOptions, Hull, NearestBody, NearestOptions, Options, Pairs,
    Precision, Status,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::random::Random;
use hullfield_oracle::{Pose, extent, whole_truth};

use crate::answers::{engines, shapes};
use crate::ray_scenes::{Crowd, crowd};

fn arena(crowd: &Crowd, engine: &Engine) -> Arena {
    let options = Options { statics: crowd.statics.clone(), ..Options::default() };
    Arena::new(engine, &crowd.hulls, options).unwrap()
}

/// Which bodies of a list a body is measured against, and their contacts, by an arena in f64.
fn contacts(crowd: &Crowd, all: &[Body], query: usize) -> Vec<Contact> {
    let options = Options { precision: Precision::Exact, ..Options::default() };
    let arena = Arena::new(&Engine::cpu(), &crowd.hulls, options).unwrap();
    let ground = crowd.hulls.len() as u32 - 1;
    let a = &all[query];
    let pairs: Vec<[u32; 2]> = (0..)
        .zip(all)
        .filter(|&(id, b)| {
            let meets = a.group & b.mask != 0 && b.group & a.mask != 0;
            id != query as u32 && meets && (a.hull != ground || b.hull != ground)
        })
        .map(|(id, _)| [query as u32, id])
        .collect();
    arena.contacts(all, Pairs::Given(&pairs), &ContactOptions::default()).unwrap().wait().unwrap().rows
}

/// The rows that a query should have.
fn nearest(mut contacts: Vec<Contact>, options: &NearestOptions) -> Vec<Contact> {
    contacts
        .retain(|row| row.separation <= f64::from(options.max_distance) || row.status != Status::Separated);
    contacts.sort_by(|a, b| a.separation.total_cmp(&b.separation).then(a.b.cmp(&b.b)));
    contacts.truncate(options.count as usize);
    contacts
}

/// Compares rows with the contacts that they should be. `first` is the id of the first body among those of the contacts.
fn compare(rows: &[NearestBody], query: u32, contacts: &[Contact], first: u32) -> Result<(), String> {
    if rows.len() != contacts.len() {
        return Err(format!("{} rows, not {}", rows.len(), contacts.len()));
    }
    for (row, contact) in rows.iter().zip(contacts) {
        let same = row.query == query
            && row.body + first == contact.b
            && row.status == contact.status
            && (row.separation, row.normal, row.points)
                == (contact.separation, contact.normal, contact.points);
        if !same {
            return Err(format!("{row:?}, not {contact:?}"));
        }
    }
    Ok(())
}

#[test]
fn the_nearest_bodies_are_those_of_all_contacts() {
    let mut seen = [0; 4];
    for (seed, count, spread, far) in [
        (881, 1, 1.0, 0.0),
        (882, 9, 1.0, 0.0),
        (883, 110, 3.0, 10.0),
        (884, 150, 30.0, 1e3),
        (885, 110, 1.0, 1e6),
    ] {
        let crowd = crowd(count, 1, spread, far, seed);
        let all: Vec<Body> = crowd.bodies.iter().chain(&crowd.statics).copied().collect();
        let truths: Vec<Vec<Contact>> = (0..count).map(|query| contacts(&crowd, &all, query)).collect();
        for (name, engine) in engines() {
            let arena = arena(&crowd, &engine);
            for (count, max_distance) in
                [(1, f32::INFINITY), (3, 0.7), (8, f32::INFINITY), (2, 0.0), (u32::MAX, 2.0)]
            {
                let options = NearestOptions { count, max_distance };
                let found = arena.nearest_bodies(&crowd.bodies, &options).unwrap().wait().unwrap();
                let mut rest = &found.rows[..];
                for (query, contacts) in (0..).zip(&truths) {
                    let expected = nearest(contacts.clone(), &options);
                    let (rows, after) = rest.split_at(expected.len().min(rest.len()));
                    rest = after;
                    assert_eq!(
                        compare(rows, query, &expected, 0),
                        Ok(()),
                        "{name}, body {query} of {seed}, {options:?}"
                    );
                    seen[0] += rows.iter().filter(|row| row.separation < 0.0).count();
                    seen[1] += rows.iter().filter(|row| row.separation > 0.0).count();
                    seen[2] += rows.iter().filter(|row| row.body as usize >= crowd.bodies.len()).count();
                    seen[3] += rows.windows(2).filter(|two| two[0].separation == two[1].separation).count();
                }
                assert!(rest.is_empty());
                let hits = found.rows.iter().filter(|row| row.status != Status::Separated).count();
                assert_eq!(found.stats.hit_count, hits as u64);
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 20), "{seen:?}");
}

#[test]
fn the_nearest_bodies_of_shapes_are_those_of_all_contacts() {
    let crowd = crowd(110, 1, 3.0, 0.0, 886);
    let mut random = Random::new(887);
    let shapes: Vec<Body> = (0..extent(40, 400))
        .map(|i| {
            let hull = i % crowd.hulls.len();
            let at = [0; 3].map(|_| (14.0 * random.unit()) as f32);
            Body::new(hull as u32).at(at).rotated(random.rotation()).grouped([u32::MAX, 1][i % 2], u32::MAX)
        })
        .collect();
    let mut row_count = 0;
    for (name, engine) in engines() {
        let arena = arena(&crowd, &engine);
        let options = NearestOptions { count: 4, ..NearestOptions::default() };
        let found = arena.nearest_bodies_to(&crowd.bodies, &shapes, &options).unwrap().wait().unwrap().rows;
        let mut rest = &found[..];
        for (query, shape) in (0..).zip(&shapes) {
            // The shape first: its rows count from 1 there.
            let all: Vec<Body> =
                std::iter::once(shape).chain(&crowd.bodies).chain(&crowd.statics).copied().collect();
            let expected = nearest(contacts(&crowd, &all, 0), &options);
            let (rows, after) = rest.split_at(expected.len().min(rest.len()));
            rest = after;
            assert_eq!(compare(rows, query, &expected, 1), Ok(()), "{name}, shape {query}");
            row_count += rows.len();
        }
        assert!(rest.is_empty());
    }
    assert!(row_count > 100, "{row_count}");
}

/// Wrong rows are found, of each kind.
#[test]
fn the_check_finds_wrong_rows() {
    let crowd = crowd(30, 1, 1.0, 0.0, 888);
    let all: Vec<Body> = crowd.bodies.iter().chain(&crowd.statics).copied().collect();
    let options = NearestOptions { count: 3, ..NearestOptions::default() };
    let found =
        arena(&crowd, &Engine::cpu()).nearest_bodies(&crowd.bodies, &options).unwrap().wait().unwrap();
    let query = 1;
    let rows: Vec<NearestBody> = found.rows.into_iter().filter(|row| row.query == query).collect();
    let expected = nearest(contacts(&crowd, &all, query as usize), &options);
    let judge = |rows: &[NearestBody]| compare(rows, query, &expected, 0);
    assert_eq!((judge(&rows), rows.len()), (Ok(()), 3));
    assert!(judge(&rows[1..]).is_err());
    let mut wrong = rows.clone();
    wrong.swap(0, 1);
    assert!(judge(&wrong).is_err());
    let changes: [fn(&mut NearestBody); 3] =
        [|row| row.body += 1, |row| row.separation += 1e-12, |row| row.normal[0] += 1e-9];
    for change in changes {
        let mut wrong = rows.clone();
        change(&mut wrong[2]);
        assert!(judge(&wrong).is_err());
    }
}

/// The separations are those of the oracle, which shares no code with the library.
#[test]
fn separations_are_those_of_the_oracle() {
    for (scale, far) in [(1.0, 0.0), (1e-5, 1e-3), (1e5, 1e6)] {
        let mut crowd = crowd(extent(12, 60), 1, 1.0, 0.0, 889);
        for body in crowd.bodies.iter_mut().chain(&mut crowd.statics) {
            body.position = body.position.map(|x| x * scale + far);
            body.scale = body.scale.map(|x| x * scale);
            body.padding *= scale;
        }
        let all: Vec<Body> = crowd.bodies.iter().chain(&crowd.statics).copied().collect();
        let shapes = shapes(&crowd.hulls);
        let options = NearestOptions { count: 4, ..NearestOptions::default() };
        let found =
            arena(&crowd, &Engine::cpu()).nearest_bodies(&crowd.bodies, &options).unwrap().wait().unwrap();
        let truth = |a: &Body, b: &Body| {
            let pose = |body: &Body| Pose {
                position: body.position,
                rotation: body.rotation,
                scale: body.scale,
                radius: body.padding,
            };
            whole_truth(&shapes[a.hull as usize], &pose(a), &shapes[b.hull as usize], &pose(b))
        };
        for (query, body) in (0..).zip(&crowd.bodies) {
            let rows: Vec<&NearestBody> = found.rows.iter().filter(|row| row.query == query).collect();
            let slack = |gap: f64, sum: f64| 2e-9 * sum + 1e-12 * gap.abs();
            for row in &rows {
                let truth = truth(body, &all[row.body as usize]);
                let gap = truth.gap;
                let off = (row.separation - gap).abs();
                assert!(off <= slack(gap, truth.radius_sum), "{row:?}, not {gap}");
            }
            // No other one is nearer than the last.
            let Some(last) = rows.last().filter(|_| rows.len() == 4) else { continue };
            for (other, b) in (0..).zip(&all) {
                let meets = body.group & b.mask != 0 && b.group & body.mask != 0;
                if other == query || !meets || rows.iter().any(|row| row.body == other) {
                    continue;
                }
                let truth = truth(body, b);
                let least = truth.gap + slack(truth.gap, truth.radius_sum);
                assert!(least >= last.separation, "body {other} is nearer to {query} than {last:?}");
            }
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let crowd = crowd(extent(600, 5_000), 1, 3.0, 0.0, 890);
    let arena = arena(&crowd, &Engine::cpu());
    let options = NearestOptions { count: 5, ..NearestOptions::default() };
    let ask = || arena.nearest_bodies(&crowd.bodies, &options).unwrap().wait().unwrap().rows;
    let many = ask();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(ask);
    let three = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap().install(ask);
    assert!(many == one && many == three && many.len() > 1_000);
}

#[test]
fn nothing_is_near_nothing() {
    for (_, engine) in engines() {
        let arena = Arena::new(&engine, &[Hull::ball(1.0).unwrap()], Options::default()).unwrap();
        let options = NearestOptions::default();
        assert_eq!(arena.nearest_bodies(&[], &options).unwrap().wait().unwrap().rows, []);
        assert_eq!(arena.nearest_bodies(&[Body::new(0)], &options).unwrap().wait().unwrap().rows, []);
        let body = [Body::new(0)];
        assert_eq!(arena.nearest_bodies_to(&body, &[], &options).unwrap().wait().unwrap().rows, []);
        assert_eq!(arena.nearest_bodies_to(&[], &body, &options).unwrap().wait().unwrap().rows, []);
        // A shape at the place of a body finds it.
        let rows = arena.nearest_bodies_to(&body, &body, &options).unwrap().wait().unwrap().rows;
        assert_eq!((rows.len(), rows[0].body, rows[0].separation), (1, 0, -2.0));
    }
}

#[test]
fn bad_input_is_one_error() {
    let arena = Arena::new(&Engine::cpu(), &[Hull::ball(1.0).unwrap()], Options::default()).unwrap();
    let body = [Body::new(0)];
    let bad = [
        (NearestOptions { count: 0, ..NearestOptions::default() }, "count is 0"),
        (NearestOptions { max_distance: -1.0, ..NearestOptions::default() }, "max_distance is -1.0"),
        (NearestOptions { max_distance: f32::NAN, ..NearestOptions::default() }, "max_distance is NaN"),
    ];
    for (options, text) in bad {
        let errors = [
            arena.nearest_bodies(&body, &options).map(drop).unwrap_err(),
            arena.nearest_bodies_to(&body, &body, &options).map(drop).unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, Error::Value { at: Location::Argument, .. }), "{error}");
            assert!(error.to_string().starts_with(text), "{error}");
        }
    }
    let options = NearestOptions::default();
    let lost = Body { position: [f32::INFINITY; 3], ..body[0] };
    let error = arena.nearest_bodies(&[body[0], lost], &options).map(drop).unwrap_err();
    assert!(matches!(error, Error::Value { at: Location::Body(1), field: "position", .. }), "{error}");
    let error = arena.nearest_bodies_to(&body, &[body[0], lost], &options).map(drop).unwrap_err();
    assert!(matches!(error, Error::Value { at: Location::Query(1), field: "position", .. }), "{error}");
    let error = arena.nearest_bodies_to(&body, &[Body::new(4)], &options).map(drop).unwrap_err();
    assert!(
        matches!(error, Error::Missing { at: Location::Query(0), what: "hull", index: 4, .. }),
        "{error}"
    );
}

/// Bodies of the scene that are asked about: in any order, twice, and in worlds. None finds itself, not even where a larger body holds it.
#[test]
fn some_bodies_find_what_all_find() {
    for (name, engine) in engines() {
        for (seed, count) in [(886, 2), (887, 40)] {
            let crowd = crowd(count, 1, 2.0, 0.0, seed);
            let arena = arena(&crowd, &engine);
            let worlds: Vec<u32> = (0..count as u32).map(|row| 7 - row % 3).collect();
            for worlds in [&[][..], &worlds[..]] {
                let columns = BodyColumns { worlds, ..BodyColumns::new(&crowd.bodies) };
                let options = NearestOptions { count: 3, ..NearestOptions::default() };
                let all = arena.nearest_bodies(columns, &options).unwrap().wait().unwrap().rows;
                let last = count as u32 - 1;
                for asked in [vec![], vec![last], vec![1, 0, 1, last]] {
                    let some = arena.nearest_bodies_of(columns, &asked, &options).unwrap();
                    let some = some.wait().unwrap().rows;
                    let of = |&row: &u32| all.iter().filter(move |found| found.query == row).copied();
                    let expected: Vec<NearestBody> = asked.iter().flat_map(of).collect();
                    assert_eq!(some, expected, "{name}, seed {seed}, {asked:?}");
                    assert!(some.iter().all(|row| row.body != row.query));
                }
                let error = arena.nearest_bodies_of(columns, &[0, count as u32], &options).unwrap_err();
                let (at, index, count) = (Location::Query(1), count as u64, count as u64);
                assert_eq!(error, Error::Missing { at, what: "body", index, count });
            }
        }
    }
    // A small body in a large one is deeper in it than in itself: as a shape it finds the large one first.
    let hulls = [Hull::ball(0.5).unwrap(), Hull::ball(3.0).unwrap()];
    let arena = Arena::new(&Engine::cpu(), &hulls, Options::default()).unwrap();
    let bodies = [Body::new(0), Body::new(1).at([0.25, 0.0, 0.0]), Body::new(0).at([9.0, 0.0, 0.0])];
    let options = NearestOptions { count: 5, ..NearestOptions::default() };
    let found = arena.nearest_bodies_of(&bodies, &[0], &options).unwrap().wait().unwrap().rows;
    assert_eq!(found.iter().map(|row| row.body).collect::<Vec<_>>(), [1, 2]);
}
