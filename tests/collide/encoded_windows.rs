//! Encoded queries whose pairs or rows are more than one binding holds.

use bytemuck::Pod;
use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, Capacity, ContactOptions, DeviceBodies, DeviceCounts, DeviceMotions, DevicePairs,
    DeviceRows, DistanceOptions, Hull, IntersectionRow, ManifoldOptions, ManifoldRow, MeasuredRow, Motion,
    Options, Pairs, SweepOptions, SweptRow,
};
use hullfield_oracle::pick;
use hullfield_oracle::random::Random;
use wgpu::{BufferUsages, CommandEncoder};

use crate::common;
use crate::encoded::{crowd, encoder, filled, read};
// Windows are of 3,328 pairs, or of 768 that are measured.
use crate::parts::LIMIT;

/// The rows of all parts and their counts. Checks what parts promise.
fn all<T: Pod>(engine: &Engine, encoder: CommandEncoder, found: &DeviceRows) -> (Vec<T>, Vec<DeviceCounts>) {
    engine.device().unwrap().1.submit([encoder.finish()]);
    let (mut rows, mut all_counts) = (Vec::new(), Vec::<DeviceCounts>::new());
    for (at, part) in found.parts().iter().enumerate() {
        let counts: DeviceCounts = read(engine, part.counts())[0];
        let of_part: Vec<T> = read(engine, part.rows());
        assert_eq!(of_part.len(), counts.row_room as usize);
        let kept = counts.row_count.min(counts.row_room) as usize;
        let is_last = at + 1 == found.parts().len();
        assert!(is_last || counts.row_count <= counts.row_room, "{counts:?}");
        // Parts are filled one after the other.
        assert!(counts.row_count == 0 || all_counts.iter().all(|before| before.row_count == before.row_room));
        let status = |row: &T| bytemuck::cast_slice::<u8, u32>(bytemuck::bytes_of(row))[2];
        let mut open: Vec<u32> = read(engine, part.unsettled());
        open.truncate(counts.unsettled_count as usize);
        open.sort_unstable();
        let expected: Vec<u32> =
            (0..).zip(&of_part[..kept]).filter(|(_, row)| status(row) == 3).map(|(k, _)| k).collect();
        assert_eq!(open, expected);
        rows.extend_from_slice(&of_part[..kept]);
        all_counts.push(counts);
    }
    (rows, all_counts)
}

/// An encoded query of any kind.
type Encode<'a> = dyn Fn(&Arena, &mut CommandEncoder, DevicePairs<'_>, Capacity) -> DeviceRows + 'a;

/// The rows of one query by both engines, as words: from one window, and from many. Returns how many rows there are.
fn same<T: Pod + PartialEq + std::fmt::Debug>(
    [whole, cut]: [(&Engine, &Arena); 2],
    pairs: DevicePairs<'_>,
    capacity: Capacity,
    encode: &Encode<'_>,
) -> usize {
    let of = |(engine, arena): (&Engine, &Arena)| {
        let mut encoder = encoder(engine);
        let found = encode(arena, &mut encoder, pairs, capacity);
        all::<T>(engine, encoder, &found)
    };
    let (one, counts_of_one) = of(whole);
    let (mut many, counts_of_many) = of(cut);
    assert_eq!(counts_of_one.len(), 1);
    assert!(counts_of_many.len() > 1, "{} rows in one part", capacity.rows);
    let total: u32 = counts_of_many.iter().map(|counts| counts.row_count).sum();
    assert_eq!(total, counts_of_one[0].row_count);
    for counts in &counts_of_many {
        let same = |counts: &DeviceCounts| (counts.pair_count, counts.pair_room, counts.overflow);
        assert_eq!(same(counts), same(&counts_of_one[0]));
    }
    assert_eq!(counts_of_one[0].overflow, 0);
    let first = many.iter().zip(&one).position(|(row, other)| row != other);
    assert!(many.len() == one.len() && first.is_none(), "{} {} {first:?}", many.len(), one.len());
    // Control.
    many.pop();
    assert!(many != one);
    one.len()
}

#[test]
fn windows_answer_as_the_whole() {
    let (Some(whole), Some(cut)) = (common::gpu(), common::gpu_of_bindings(LIMIT)) else { return };
    let (arena, bodies) = crowd(&whole, 400);
    let of_cut = Arena::new(&cut, arena.hulls(), Options::default()).unwrap();
    let engines = [(&whole, &arena), (&cut, &of_cut)];
    let mut random = Random::new(7);
    let mut given: Vec<[u32; 2]> = (0..4_000).map(|_| [0; 2].map(|_| random.below(400) as u32)).collect();
    given.retain(|[a, b]| a != b);
    let motions: Vec<Motion> = (0..400)
        .map(|_| Motion { velocity: (random.direction() * 3.0).as_vec3().to_array(), ..Motion::default() })
        .collect();
    let host = DeviceBodies::Host(&bodies);
    let capacity = Capacity { pairs: 100_000, rows: 20_000 };
    // The rows of a query by its number.
    let rows_of = |query: usize, pairs: DevicePairs<'_>| match query {
        0 => same::<IntersectionRow>(engines, pairs, capacity, &|arena, encoder, pairs, capacity| {
            arena.encode_intersections(encoder, host, pairs, capacity).unwrap()
        }),
        1 => same::<MeasuredRow>(engines, pairs, capacity, &|arena, encoder, pairs, capacity| {
            let options = DistanceOptions { margin: 1.0 };
            arena.encode_distances(encoder, host, pairs, &options, capacity).unwrap()
        }),
        2 => same::<MeasuredRow>(engines, pairs, capacity, &|arena, encoder, pairs, capacity| {
            let options = ContactOptions { margin: 0.0 };
            arena.encode_contacts(encoder, host, pairs, &options, capacity).unwrap()
        }),
        3 => same::<ManifoldRow>(engines, pairs, capacity, &|arena, encoder, pairs, capacity| {
            let options = ManifoldOptions { margin: 0.0 };
            arena.encode_manifolds(encoder, host, pairs, &options, capacity).unwrap()
        }),
        _ => same::<SweptRow>(engines, pairs, capacity, &|arena, encoder, pairs, capacity| {
            let moves = DeviceMotions::Host(&motions);
            arena.encode_sweeps(encoder, host, moves, pairs, &SweepOptions::default(), capacity).unwrap()
        }),
    };
    // More rows than one part or one window has.
    let least = [100, 853, 100, 100, 1_280];
    for pairs in [DevicePairs::BroadPhase, DevicePairs::Given(&given)] {
        let counts = [0, 1, 2, 3, 4].map(|query| rows_of(query, pairs));
        assert!(counts.iter().zip(least).all(|(&count, least)| count > least), "{counts:?}");
        assert_eq!(counts[2], counts[3]);
    }
    // A software GPU takes long for every pair, so one query tests them.
    for query in pick(1, &[0, 1, 2, 3, 4], 1) {
        let count = rows_of(query, DevicePairs::Exhaustive);
        assert!(count > least[query], "query {query}: {count}");
    }
}

/// Pairs in a buffer of the caller that no binding holds, over a tree, with statics, and with too little room.
#[test]
fn windows_over_a_tree_and_statics() {
    let (Some(whole), Some(cut)) = (common::gpu(), common::gpu_of_bindings(256 << 10)) else { return };
    let hulls = [Hull::cuboid([0.5; 3]).unwrap(), Hull::ball(0.6).unwrap(), Hull::half_space()];
    let mut random = Random::new(8);
    let mut body = |k: usize| {
        let at = [0; 3].map(|_| random.between(-7.0, 7.0) as f32);
        Body::new((k % 2) as u32).at(at)
    };
    let bodies: Vec<Body> = (0..2_500).map(&mut body).collect();
    let mut statics: Vec<Body> = (0..300).map(&mut body).collect();
    statics.push(Body::new(2).at([0.0, -6.0, 0.0]));
    let host = DeviceBodies::Host(&bodies);
    let arenas = [&whole, &cut].map(|engine| {
        Arena::new(engine, &hulls, Options { statics: statics.clone(), ..Options::default() }).unwrap()
    });
    let engines = [(&whole, &arenas[0]), (&cut, &arenas[1])];
    let capacity = Capacity { pairs: 80_000, rows: 30_000 };
    let contacts: &Encode<'_> = &|arena, encoder, pairs, capacity| {
        arena.encode_contacts(encoder, host, pairs, &ContactOptions { margin: 0.1 }, capacity).unwrap()
    };
    let rows = same::<MeasuredRow>(engines, DevicePairs::BroadPhase, capacity, contacts);
    assert!(rows > 6_000, "{rows}");
    // With too little room, the rows that there is room for are the first ones.
    let of = |capacity: Capacity| {
        let mut encoder = encoder(&cut);
        let found = contacts(&arenas[1], &mut encoder, DevicePairs::BroadPhase, capacity);
        all::<MeasuredRow>(&cut, encoder, &found)
    };
    let (all_rows, whole_counts) = of(capacity);
    let (some, counts) = of(Capacity { rows: 5_600, ..capacity });
    assert_eq!((counts.len(), counts[0].overflow, counts[1].overflow), (2, 1, 1));
    assert_eq!(counts[0].row_count + counts[1].row_count, rows as u32);
    assert!(some == all_rows[..5_600]);
    let (_, counts) = of(Capacity { pairs: 6_000, ..capacity });
    assert_eq!((counts[0].overflow & 2, counts[0].pair_count), (2, whole_counts[0].pair_count));

    // Given pairs have a row each, and rows of one status in many windows too.
    let free = [&whole, &cut].map(|engine| Arena::new(engine, &hulls[..2], Options::default()).unwrap());
    let engines = [(&whole, &free[0]), (&cut, &free[1])];
    let given: Vec<[u32; 2]> = (0..40_000).map(|k| [k % 2_500, (k * 7 + 1 + k / 2_500) % 2_500]).collect();
    let given: Vec<[u32; 2]> = given.into_iter().filter(|[a, b]| a != b).collect();
    let expected = free[0].intersections(&bodies, Pairs::Given(&given)).unwrap().wait().unwrap().rows;
    let buffers = [&whole, &cut].map(|engine| filled(engine, &given, BufferUsages::STORAGE));
    let count = given.len() as u32;
    let encoded = [0, 1].map(|k| {
        let (engine, arena) = engines[k];
        let mut encoder = encoder(engine);
        let pairs = DevicePairs::Buffer { buffer: &buffers[k], count };
        let none = Capacity { pairs: 0, rows: 0 };
        let found = arena.encode_intersections(&mut encoder, host, pairs, none).unwrap();
        all::<IntersectionRow>(engine, encoder, &found)
    });
    assert!(encoded[0].0 == encoded[1].0 && encoded[0].0.len() == expected.len() && encoded[1].1.len() > 1);
    for (row, truth) in encoded[1].0.iter().zip(&expected) {
        assert_eq!([row.a, row.b], [truth.a, truth.b]);
        assert!(row.status == 3 || row.status == crate::encoded::code(truth.status), "{row:?} {truth:?}");
    }
}

/// A list of pairs too long for the device's memory, and bodies that one binding does not hold.
#[test]
fn what_does_not_fit_is_one_error() {
    let Some(engine) = common::gpu_of_bindings(LIMIT) else { return };
    let (arena, bodies) = crowd(&engine, 600);
    let host = DeviceBodies::Host(&bodies);
    let mut encoder = encoder(&engine);
    let capacity = Capacity { pairs: 100, rows: 100 };
    let refused =
        arena.encode_intersections(&mut encoder, host, DevicePairs::BroadPhase, capacity).unwrap_err();
    assert!(refused.to_string().contains("one binding of all bodies"), "{refused}");
    // A capacity for more pairs than the bodies have costs nothing more.
    let host = DeviceBodies::Host(&bodies[..20]);
    let capacity = Capacity { pairs: u32::MAX, rows: 1_000 };
    let found = arena.encode_intersections(&mut encoder, host, DevicePairs::BroadPhase, capacity).unwrap();
    let (rows, counts) = all::<IntersectionRow>(&engine, encoder, &found);
    assert_eq!((counts[0].overflow, counts[0].pair_room, counts.len()), (0, 190, 1));
    let settled = arena.intersections(&bodies[..20], Pairs::BroadPhase).unwrap().wait().unwrap().rows;
    assert_eq!(rows.len(), settled.len());
}

/// Many large bodies whose masks refuse all others make long walks without pairs: more than the list of such rows has room for.
#[test]
#[ignore = "long: cargo xtask test --all"]
fn long_walks_are_never_left_out_in_silence() {
    if common::gpu().is_none() {
        return;
    }
    let hulls = [Hull::cuboid([0.5; 3]).unwrap()];
    let side = 40.0;
    let mut random = Random::new(9);
    // Two kinds of bodies that a large one does not meet, though their groups and masks together would: no walk can leave them out early.
    // It meets a hundred others.
    let mut bodies: Vec<Body> = (0..14_000_u32)
        .map(|k| {
            let (group, mask) = match k {
                ..80 => (2, 4),
                80..180 => (4, 2),
                _ if k % 2 == 0 => (4, 8),
                _ => (16, 2),
            };
            Body::new(0).at([0; 3].map(|_| random.between(-side, side) as f32)).grouped(group, mask)
        })
        .collect();
    bodies[..80].iter_mut().for_each(|body| body.scale = [200.0; 3]);
    let arena = Arena::new(&Engine::cpu(), &hulls, Options::default()).unwrap();
    let expected = arena.intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap();
    let of = |pairs: u32| {
        // A new engine's list of such rows is as long as the capacity says.
        let engine = common::own_gpu().unwrap();
        let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
        let mut encoder = encoder(&engine);
        let capacity = Capacity { pairs, rows: 40_000 };
        let host = DeviceBodies::Host(&bodies);
        let found =
            arena.encode_intersections(&mut encoder, host, DevicePairs::BroadPhase, capacity).unwrap();
        let (rows, counts) = all::<IntersectionRow>(&engine, encoder, &found);
        (rows, counts[0])
    };
    let candidates = expected.stats.candidate_count as u32;
    let (rows, counts) = of(candidates);
    // Not all rows, but a flag and a capacity that will do.
    assert!(rows.len() < expected.rows.len(), "{} rows", rows.len());
    assert!(counts.overflow == 2 && counts.pair_count > candidates, "{counts:?}");
    // The answer asks for room for every pair. With that room a software GPU takes a minute, so the test gives room for 80 × 512 pairs more than
    // there are candidates.
    let enough = candidates + 80 * 512;
    assert!(counts.pair_count >= enough, "{counts:?}");
    let (rows, counts) = of(enough);
    assert_eq!((counts.overflow, rows.len()), (0, expected.rows.len()), "{counts:?}");
}
