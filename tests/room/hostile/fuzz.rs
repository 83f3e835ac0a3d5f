//! Seeded mutations of rooms: each is built and asked, or refused in one sentence that blames the input.

use hullfield::Error;
use hullfield::navigate::room::{Options as RoomOptions, PathOptions, Room};
use hullfield_oracle::random::Random;
use hullfield_oracle::rooms::Rings;
use hullfield_oracle::{extent, seed};

use crate::hostile::{Ring, block};

/// Numbers that readers and triangulations trip over.
const NUMBERS: [f64; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1e-5,
    1e-9,
    1e-15,
    1e-17,
    1e-41,
    1e-42,
    9e-43,
    5e-324,
    1e6,
    1e9,
    1e15,
    1e30,
    1e59,
    1e60,
    1e61,
    1e150,
    f64::NAN,
    f64::INFINITY,
    f64::MIN_POSITIVE,
];

const RADII: [f64; 16] =
    [0.0, 0.0, 0.0, 0.01, 0.1, 0.5, 2.0, 1e-3, 1e-12, 1e-15, 3e-16, 1e-100, 5e-324, 1e30, 1e60, 1e300];

/// Rooms that were valid or nearly so.
fn base(random: &mut Random) -> Vec<Vec<Ring>> {
    match random.below(6) {
        0 => vec![vec![block(0.0, 0.0, 10.0, 10.0), block(4.0, 4.0, 2.0, 2.0)]],
        1 => vec![vec![block(0.0, 0.0, 10.0, 10.0)], vec![block(10.0, 0.0, 10.0, 10.0)]],
        // A star with thin spikes, and a bow-tie.
        2 => {
            let count = 5 + random.below(40);
            let spike = |k: usize| {
                let (sin, cos) = (std::f64::consts::TAU * k as f64 / count as f64).sin_cos();
                let reach = if k.is_multiple_of(2) { 10.0 } else { 1.0 };
                [reach * cos, reach * sin]
            };
            vec![vec![(0..count).map(spike).collect()]]
        }
        3 => vec![vec![vec![[0.0, 0.0], [4.0, 4.0], [4.0, 0.0], [0.0, 4.0]]]],
        // Points by chance, many crossings.
        4 => vec![vec![
            (0..3 + random.below(30)).map(|_| [random.below(9) as f64, random.below(9) as f64]).collect(),
        ]],
        _ => vec![Rings::random(random, 0).rings],
    }
}

/// Changes one thing.
fn mutate(random: &mut Random, polygons: &mut Vec<Vec<Ring>>) {
    let (at, from) = (random.below(polygons.len()), random.below(polygons.len()));
    if polygons[at].is_empty() || polygons[from].is_empty() {
        return;
    }
    let own = random.below(polygons[at].len());
    let other = polygons[from][random.below(polygons[from].len())].clone();
    let ring = &mut polygons[at][own];
    let (i, j) = (random.below(ring.len().max(1)), random.below(ring.len().max(1)));
    let number = NUMBERS[random.below(NUMBERS.len())];
    match random.below(18) {
        _ if ring.is_empty() => ring.extend(other),
        0 => ring[i][random.below(2)] = number,
        1 => ring[i][random.below(2)] += number.clamp(-1e3, 1e3),
        2 => ring[i] = ring[j],
        3 => ring.swap(i, j),
        4 => ring.reverse(),
        5 => drop(ring.remove(i)),
        // A spike without width, out and back.
        6 => {
            let tip = [ring[i][0] + random.between(-20.0, 20.0), ring[i][1] + random.between(-20.0, 20.0)];
            let foot = ring[i];
            ring.splice(i..i, [foot, tip, foot]);
        }
        // On an edge, but for rounding.
        7 => {
            let (a, b, t) = (ring[i], ring[(i + 1) % ring.len()], random.unit());
            ring.insert(i + 1, [0, 1].map(|k: usize| a[k] + t * (b[k] - a[k])));
        }
        8 => ring.extend(other),
        9 => polygons[at].push(other),
        10 => polygons.push(vec![other]),
        11 => {
            let scale = number.abs().clamp(1e-40, 1e40);
            polygons.iter_mut().flatten().flatten().flatten().for_each(|x| *x *= scale);
        }
        12 => {
            let by = [number, number * random.unit()].map(|x| x.clamp(-1e12, 1e12));
            ring.iter_mut().for_each(|p| *p = [p[0] + by[0], p[1] + by[1]]);
        }
        13 => ring.iter_mut().flatten().for_each(|x| *x = x.round()),
        14 => {
            let (sin, cos) = random.between(0.0, 6.3).sin_cos();
            polygons
                .iter_mut()
                .flatten()
                .flatten()
                .for_each(|p| *p = [cos * p[0] - sin * p[1], sin * p[0] + cos * p[1]]);
        }
        15 => ring[i][0] = f64::from_bits(ring[i][0].to_bits().wrapping_add(1 + random.below(3) as u64)),
        16 => polygons[at].swap(0, own),
        _ => ring.truncate(1 + i),
    }
}

/// What is told of a refusal; an error that blames hullfield fails the test.
fn refusal(what: &str, error: &Error, input: &dyn std::fmt::Debug) -> &'static str {
    let text = error.to_string();
    assert!(!matches!(error, Error::Internal { .. }), "{what}: {text}\n{input:?}");
    assert!(!text.contains('\n') && text.len() < 400, "{what}: {text}");
    match text {
        _ if text.contains("radius") => "a radius",
        _ if text.contains("door") => "a door",
        _ if text.contains("too densely") => "too dense",
        _ if text.contains("meet in more than") => "too many crossings",
        _ if text.contains("no room is left") => "no area",
        _ if text.contains("different points") => "fewer than three points",
        _ => "a coordinate",
    }
}

/// Asks a room that was built. Answers may be anything that is no fault.
fn ask(random: &mut Random, room: &mut Room, polygons: &[Vec<Ring>]) -> hullfield::Result<()> {
    assert!(room.area() >= 0.0 && room.island_count() > 0);
    let points: Vec<[f64; 2]> = polygons.iter().flatten().flatten().copied().collect();
    let point = |random: &mut Random| {
        let (a, b) = (points[random.below(points.len())], points[random.below(points.len())]);
        [0, 1].map(|k: usize| 0.5 * a[k] + 0.5 * b[k])
    };
    for _ in 0..2 {
        let (a, b) = (point(random), point(random));
        let path = room.path(a, b, &PathOptions { to_nearest: true, ..PathOptions::default() })?;
        assert!(!path.length.is_nan());
        room.locate(a)?;
        room.distance_to_wall(b)?;
        room.raycast(a, [1.0, 0.3], 5.0)?;
    }
    room.random_point([random.unit(), random.unit(), random.unit()])?;
    for door in 0..room.door_count() as u32 {
        room.set_doors(&[(door, false)])?;
    }
    let number = room.put_obstacle(&[point(random), point(random), point(random), point(random)])?;
    room.path(point(random), point(random), &PathOptions::default())?;
    room.take_obstacle(number)
}

#[test]
fn mutated_rooms_are_built_or_refused() {
    let mut random = Random::new(seed(0xf022));
    let count = extent(1500, 3000);
    let (mut built, mut refused) = (0, std::collections::BTreeMap::<&str, u32>::new());
    for k in 0..count {
        let mut polygons = base(&mut random);
        for _ in 0..random.below(5) {
            mutate(&mut random, &mut polygons);
        }
        let corner = |random: &mut Random| {
            let rings: Vec<&Ring> = polygons.iter().flatten().filter(|ring| !ring.is_empty()).collect();
            if rings.is_empty() {
                return [0.0; 2];
            }
            let ring = rings[random.below(rings.len())];
            ring[random.below(ring.len())]
        };
        let doors = (0..random.below(3)).map(|_| [corner(&mut random), corner(&mut random)]).collect();
        let options = RoomOptions {
            radius: RADII[random.below(RADII.len())],
            squeeze: random.chance(0.3),
            merge: random.chance(0.7),
            repair: random.chance(0.9),
            doors: if random.chance(0.3) { doors } else { Vec::new() },
        };
        let input = (&polygons, &options);
        match Room::from_polygons(&polygons, options.clone()) {
            Ok(mut room) => {
                built += 1;
                if let Err(error) = ask(&mut random, &mut room, &polygons) {
                    *refused.entry(refusal(&format!("query of room {k}"), &error, &input)).or_default() += 1;
                }
            }
            Err(error) => *refused.entry(refusal(&format!("room {k}"), &error, &input)).or_default() += 1,
        }
    }
    eprintln!("{count} rooms: {built} built, refusals: {refused:?}");
    assert!(built > count / 4 && refused.len() > 3, "{built}, {refused:?}");
}

/// Rings nested in one another, a fan through one point, and a mesh of crossings: memory and time stay near those of the input.
#[test]
fn rings_by_the_thousand_in_one_another_or_through_one_point() {
    let count = extent(3000, 20_000);
    let nested: Vec<Ring> = (0..count)
        .map(|k| {
            let at = f64::from(k) / f64::from(count);
            block(at, at, 3.0 - 2.0 * at, 3.0 - 2.0 * at)
        })
        .collect();
    let room = Room::new(&nested[0], &nested[1..], RoomOptions::default()).unwrap();
    assert_eq!(room.island_count(), 1);
    let polygons: Vec<[Ring; 1]> = nested.into_iter().map(|ring| [ring]).collect();
    let area = Room::from_polygons(&polygons, RoomOptions::default()).unwrap().area();
    assert!((area - 9.0).abs() < 1e-9, "{area}");
    // Edges that all cross are refused before there are as many places as pairs.
    let zigzag: Ring = (0..2 * count)
        .map(|k| {
            let (sin, cos) = (std::f64::consts::TAU * 0.4999 * f64::from(k)).sin_cos();
            [cos, sin]
        })
        .collect();
    let error = Room::new(&zigzag, &[] as &[Ring], RoomOptions::default()).unwrap_err().to_string();
    assert!(error.contains("edges meet in more than"), "{error}");
}
