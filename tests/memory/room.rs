//! Rooms: later queries allocate nothing, and batches are bit-identical to single queries.

use hullfield::navigate::room::{Method, Options as RoomOptions, Path as RoomPath, PathOptions, Room, Strip};
use hullfield_oracle::fuzz::{allocations, thread_allocations};
use hullfield_oracle::random::Random;

use crate::one_at_a_time;

const METHODS: [Method; 3] =
    [Method::Optimal, Method::Funnel(Strip::Dijkstra), Method::Funnel(Strip::BreadthFirst)];

/// A square with pillars that touch, and an obstacle.
fn room(squeeze: bool) -> Room {
    let mut holes = Vec::new();
    for i in 0..10 {
        for k in 0..10 {
            let (x, y) = (10.0 * f64::from(i) + 3.0, 10.0 * f64::from(k) + f64::from(i % 3));
            holes.push(vec![[x, y + 1.0], [x + 3.0, y + 1.0], [x + 3.0, y + 4.0], [x, y + 4.0]]);
            // A triangle that touches the square at a corner.
            holes.push(vec![[x + 3.0, y + 4.0], [x + 6.0, y + 4.0], [x + 4.5, y + 6.0]]);
        }
    }
    let outer = [[0.0, -1.0], [101.0, -1.0], [101.0, 110.0], [0.0, 110.0]];
    let mut room = Room::new(&outer, &holes, RoomOptions { squeeze, ..RoomOptions::default() }).unwrap();
    room.put_obstacle(&[[50.0, 108.0], [60.0, 108.0], [60.0, 109.0], [50.0, 109.0]]).unwrap();
    room
}

/// Queries inside and outside of the room, some with equal start and goal.
fn queries(count: usize) -> Vec<[[f64; 2]; 2]> {
    let mut random = Random::new(3);
    let mut point = || [random.between(-3.0, 104.0), random.between(-4.0, 113.0)];
    (0..count).map(|i| [point(), point()].map(|p| if i % 97 == 0 { [1.0, 1.0] } else { p })).collect()
}

#[test]
fn a_finder_allocates_nothing_after_its_first_queries() {
    let _lock = one_at_a_time();
    for squeeze in [false, true] {
        let room = room(squeeze);
        let queries = queries(500);
        let mut finder = room.finder();
        let mut path = RoomPath::default();
        for method in METHODS {
            let mut run = || {
                for &[start, goal] in &queries {
                    finder.path_into(start, goal, &method.into(), &mut path).unwrap();
                }
            };
            let first = thread_allocations(&mut run);
            let second = thread_allocations(&mut run);
            assert_eq!(second, 0, "{method:?}, squeeze {squeeze}; {first} before");
        }
        let mut run = || {
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
        run();
        assert_eq!(thread_allocations(run), 0, "the nearest, squeeze {squeeze}");
        // A new finder reuses the memory of the last one.
        drop(finder);
        let again = thread_allocations(|| {
            let mut finder = room.finder();
            for &[start, goal] in &queries {
                finder.path_into(start, goal, &Method::Optimal.into(), &mut path).unwrap();
            }
        });
        assert_eq!(again, 0);
    }
    // The counter works.
    assert!(thread_allocations(|| drop(std::hint::black_box(vec![1_u8; 100]))) > 0);
}

#[test]
fn batches_equal_single_queries_to_the_bit_and_allocate_nothing_per_query() {
    let _lock = one_at_a_time();
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
        // Threads take their scratch memory in any order. After some runs each has grown enough for the hardest query.
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
fn the_comparison_finds_one_changed_bit() {
    let _lock = one_at_a_time();
    let room = room(false);
    let path = room.path([1.0, 1.0], [99.0, 99.0], &PathOptions::default()).unwrap();
    assert!(path.is_reached() && path.corners.len() > 1 && is_same(&path, &path.clone()));
    let is_noticed = |change: &dyn Fn(&mut RoomPath)| {
        let mut other = path.clone();
        change(&mut other);
        !is_same(&path, &other)
    };
    assert!(is_noticed(&|path| path.length = path.length.next_up()));
    assert!(is_noticed(&|path| path.points[1][0] = path.points[1][0].next_up()));
    assert!(is_noticed(&|path| path.corners[0] += 1));
    assert!(is_noticed(&|path| path.cells.truncate(1)));
    assert!(is_noticed(&|path| path.crossings[0].point[1] = path.crossings[0].point[1].next_down()));
}
