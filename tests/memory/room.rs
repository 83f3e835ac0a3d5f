//! After the first queries none allocates; and many at once answer bit for bit what one at a time does.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use hullfield::navigate::room::{Method, Options as RoomOptions, Path as RoomPath, PathOptions, Room, Strip};
use hullfield_oracle::random::Random;

use crate::{COUNT, OWN_COUNT, alone};

/// How often this thread asks for memory.
fn own_allocations(work: impl FnOnce()) -> u64 {
    let before = OWN_COUNT.with(Cell::get);
    work();
    OWN_COUNT.with(Cell::get) - before
}

/// How often any thread asks for memory.
fn allocations(work: impl FnOnce()) -> u64 {
    let before = COUNT.load(Ordering::SeqCst);
    work();
    COUNT.load(Ordering::SeqCst) - before
}

const METHODS: [Method; 3] =
    [Method::Optimal, Method::Funnel(Strip::Dijkstra), Method::Funnel(Strip::BreadthFirst)];

/// A square with pillars, and a chamber that nothing leads into.
fn room(squeeze: bool) -> Room {
    let mut holes = Vec::new();
    for i in 0..10 {
        for k in 0..10 {
            let (x, y) = (10.0 * f64::from(i) + 3.0, 10.0 * f64::from(k) + f64::from(i % 3));
            holes.push(vec![[x, y + 1.0], [x + 3.0, y + 1.0], [x + 3.0, y + 4.0], [x, y + 4.0]]);
            // Its corner touches the one before.
            holes.push(vec![[x + 3.0, y + 4.0], [x + 6.0, y + 4.0], [x + 4.5, y + 6.0]]);
        }
    }
    let outer = [[0.0, -1.0], [101.0, -1.0], [101.0, 110.0], [0.0, 110.0]];
    let mut room = Room::new(&outer, &holes, RoomOptions { squeeze, ..RoomOptions::default() }).unwrap();
    room.put_obstacle(&[[50.0, 108.0], [60.0, 108.0], [60.0, 109.0], [50.0, 109.0]]).unwrap();
    room
}

/// Queries of every kind: in the room, off it, to themselves.
fn queries(count: usize) -> Vec<[[f64; 2]; 2]> {
    let mut random = Random::new(3);
    let mut point = || [random.between(-3.0, 104.0), random.between(-4.0, 113.0)];
    (0..count).map(|i| [point(), point()].map(|p| if i % 97 == 0 { [1.0, 1.0] } else { p })).collect()
}

#[test]
fn a_finder_allocates_nothing_once_it_has_answered() {
    let _alone = alone();
    for squeeze in [false, true] {
        let room = room(squeeze);
        let queries = queries(500);
        let mut finder = room.finder();
        let mut path = RoomPath::default();
        for method in METHODS {
            let mut ask = || {
                for &[start, goal] in &queries {
                    finder.path_into(start, goal, &method.into(), &mut path).unwrap();
                }
            };
            let first = own_allocations(&mut ask);
            let second = own_allocations(&mut ask);
            assert_eq!(second, 0, "{method:?}, squeeze {squeeze}; {first} before");
        }
        let mut ask = || {
            for &[start, goal] in &queries {
                finder
                    .path_into(
                        start,
                        goal,
                        &PathOptions { to_nearest: true, ..PathOptions::default() },
                        &mut path,
                    )
                    .unwrap();
            }
        };
        ask();
        assert_eq!(own_allocations(ask), 0, "the nearest, squeeze {squeeze}");
        // A finder made anew takes up the memory of the one before.
        drop(finder);
        let again = own_allocations(|| {
            let mut finder = room.finder();
            for &[start, goal] in &queries {
                finder.path_into(start, goal, &Method::Optimal.into(), &mut path).unwrap();
            }
        });
        assert_eq!(again, 0);
    }
    // The counter counts.
    assert!(own_allocations(|| drop(std::hint::black_box(vec![1_u8; 100]))) > 0);
}

#[test]
fn many_at_once_are_one_at_a_time_to_the_bit_and_allocate_nothing_for_a_query() {
    let _alone = alone();
    let room = room(true);
    let queries = queries(4000);
    let mut finder = room.finder();
    let mut reached = 0;
    for method in METHODS {
        let mut paths = Vec::new();
        room.paths_into(&queries, &method.into(), &mut paths).unwrap();
        for (&[start, goal], many) in queries.iter().zip(&paths) {
            let mut one = RoomPath::default();
            finder.path_into(start, goal, &method.into(), &mut one).unwrap();
            assert!(is_same(&one, many), "{method:?}: {one:?} {many:?}");
            reached += usize::from(one.is_reached());
        }
        // Threads come to their memory in any order; each has answered the hardest query some time.
        let mut least = u64::MAX;
        for _ in 0..20 {
            least = least.min(allocations(|| {
                room.paths_into(&queries, &method.into(), &mut paths).unwrap();
            }));
        }
        assert!(least < 40, "{method:?}: {least} allocations for {} queries", queries.len());
    }
    assert!(reached > 3000, "{reached}");
}

fn is_same(a: &RoomPath, b: &RoomPath) -> bool {
    let bits = |points: &[[f64; 2]]| points.iter().map(|p| p.map(f64::to_bits)).collect::<Vec<_>>();
    let crossings = |path: &RoomPath| {
        path.crossings.iter().map(|c| (c.edge, c.point.map(f64::to_bits))).collect::<Vec<_>>()
    };
    a.length.to_bits() == b.length.to_bits()
        && bits(&a.points) == bits(&b.points)
        && crossings(a) == crossings(b)
        && (a.reach, &a.corners, &a.cells) == (b.reach, &b.corners, &b.cells)
}

#[test]
fn the_comparison_sees_one_bit() {
    let _alone = alone();
    let room = room(false);
    let path = room.path([1.0, 1.0], [99.0, 99.0], &PathOptions::default()).unwrap();
    assert!(path.is_reached() && path.corners.len() > 1 && is_same(&path, &path.clone()));
    let spoilt = |spoil: &dyn Fn(&mut RoomPath)| {
        let mut other = path.clone();
        spoil(&mut other);
        !is_same(&path, &other)
    };
    assert!(spoilt(&|path| path.length = path.length.next_up()));
    assert!(spoilt(&|path| path.points[1][0] = path.points[1][0].next_up()));
    assert!(spoilt(&|path| path.corners[0] += 1));
    assert!(spoilt(&|path| path.cells.truncate(1)));
    assert!(spoilt(&|path| path.crossings[0].point[1] = path.crossings[0].point[1].next_down()));
}
