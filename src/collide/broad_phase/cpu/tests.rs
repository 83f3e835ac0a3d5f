//! The broad phase against all pairs, one by one.

use crate::collide::broad_phase::cpu::*;
use crate::collide::bvh::aabb::PLANE;
use crate::collide::scene::bounds::EVERYTHING;
use crate::collide::scene::bounds::tests::Random;
use crate::collide::scene::rules::SMALL_WORLD;

fn cube(middle: [f32; 3], half: f32) -> Aabb {
    Aabb::new(middle.map(|x| x - half), middle.map(|x| x + half))
}

fn brute_force(aabbs: &[Aabb]) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    for (a, first) in aabbs.iter().enumerate() {
        for (b, second) in aabbs.iter().enumerate().skip(a + 1) {
            if first.meets(second, 0.0) {
                pairs.push([a as u32, b as u32]);
            }
        }
    }
    pairs
}

/// Scenes of `count` boxes, each with its name.
pub(crate) fn scenes(count: usize) -> Vec<(&'static str, Vec<Aabb>)> {
    let mut random = Random(7);
    let mut scene = |of: &mut dyn FnMut(usize, &mut Random) -> Aabb| -> Vec<Aabb> {
        (0..count).map(|i| of(i, &mut random)).collect()
    };
    let side = (count as f32).cbrt().ceil().max(1.0) as usize;
    let lattice = |i: usize| [i % side, i / side % side, i / side / side].map(|x| x as f32);
    vec![
        ("coincident", scene(&mut |_, _| cube([1.0, 2.0, 3.0], 0.5))),
        ("points", scene(&mut |i, _| cube([(i / 3) as f32, 0.0, 0.0], 0.0))),
        ("crowd", scene(&mut |_, r| cube([0; 3].map(|_| 10.0 * r.signed()), 0.5 * r.unit()))),
        ("sizes", scene(&mut |_, r| cube([0; 3].map(|_| 100.0 * r.signed()), r.log(1e-5, 50.0)))),
        ("far", scene(&mut |_, r| cube([0; 3].map(|_| 1e6 + 10.0 * r.signed()), r.unit()))),
        ("lattice", scene(&mut |i, _| cube(lattice(i), 0.5))),
        ("plane", scene(&mut |_, r| cube([20.0 * r.signed(), 5.0, 20.0 * r.signed()], 0.5 * r.unit()))),
        ("line", scene(&mut |_, r| cube([0.0, 100.0 * r.signed(), 0.0], r.unit()))),
        ("floor", scene(&mut |i, r| cube([0; 3].map(|_| 10.0 * r.signed()), if i == 5 { 1e5 } else { 0.1 }))),
        (
            "grouped",
            scene(&mut |i, r| Aabb {
                group: 1 << (i % 3),
                mask: if i % 4 == 0 { 5 } else { 6 },
                ..cube([0; 3].map(|_| 10.0 * r.signed()), r.unit())
            }),
        ),
        (
            "ground",
            scene(&mut |i, r| {
                let n = [0.0, 1.0, 0.0];
                if i == 1 || i % 300 == 40 {
                    Aabb { min: [PLANE, n[0], n[1]], max: [-PLANE, n[2], -9.0], ..cube([0.0; 3], 0.0) }
                } else {
                    cube([0; 3].map(|_| 10.0 * r.signed()), 0.1 + 0.2 * r.unit())
                }
            }),
        ),
        (
            "one far off",
            scene(&mut |i, r| {
                let all = cube([0; 3].map(|_| 10.0 * r.signed()), 0.3 * r.unit());
                if i == 2 { cube([1e18, -1e18, 3.0], 1.0) } else { all }
            }),
        ),
        (
            "everything",
            scene(&mut |i, r| {
                let all = Aabb::new([-EVERYTHING; 3], [EVERYTHING; 3]);
                if i % 100 == 3 { all } else { cube([0; 3].map(|_| 1e6 * r.signed()), 1e3) }
            }),
        ),
    ]
}

#[test]
fn candidates_are_those_of_brute_force() {
    for count in [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 511, 512, 513, 700] {
        for (name, aabbs) in scenes(count) {
            assert_eq!(candidates(&aabbs), brute_force(&aabbs), "{name}, {count} bodies");
        }
    }
}

#[test]
fn statics_come_after_the_bodies() {
    let scenes = scenes(900).into_iter().zip(scenes(500).into_iter().rev());
    for ((name, boxes), (other, static_boxes)) in scenes {
        let static_boxes = StaticBoxes::new(static_boxes);
        for grow in [0.0, 0.25] {
            let mut expected = brute_force(&boxes);
            for (a, first) in (0..).zip(&boxes) {
                let meets = |second: &&Aabb| first.meets(second, grow);
                let with = (900..).zip(static_boxes.boxes()).filter(|(_, second)| meets(second));
                expected.extend(with.map(|(b, _)| [a, b]));
            }
            expected.sort_unstable();
            assert!(with_statics(&boxes, &static_boxes, grow) == expected, "{name} over {other}, {grow}");
        }
    }
}

#[test]
fn windows_hand_out_the_same_pairs() {
    let static_boxes = StaticBoxes::new(scenes(300)[2].1.clone());
    for (name, boxes) in scenes(700) {
        let expected = with_statics(&boxes, &static_boxes, 0.1);
        let mut broad = BroadPhase::default();
        *broad.boxes() = boxes;
        broad.begin(&static_boxes, 0.1);
        broad.count_rows(&static_boxes, 0.1);
        let total: usize = broad.counts.iter().map(|&count| count as usize).sum();
        assert_eq!(total, expected.len(), "{name}");
        let mut pairs = Vec::new();
        while let Some(found) = broad.next(&static_boxes, 0.1) {
            pairs.extend_from_slice(found);
        }
        assert!(pairs == expected, "{name}");
    }
}

/// Rules of worlds of these sizes, over and over, as far as the bodies go. With owners each body of a world has one in common with another.
fn rules(sizes: &[usize], count: usize, has_owners: bool) -> PairRules {
    let (mut starts, mut world_of) = (vec![0], Vec::new());
    for (world, size) in (0..).zip(sizes.iter().cycle()) {
        world_of.resize((world_of.len() + size).min(count), world);
        starts.push(world_of.len() as u32);
        if world_of.len() == count {
            break;
        }
    }
    let owner_of = if has_owners { (0..count as u32 + 500).map(|id| id / 2).collect() } else { Vec::new() };
    PairRules { starts, world_of, owner_of, ..PairRules::default() }
}

/// Worlds are searched without a tree up to 32 bodies. Where all are small there is none; where some are not, small ones lie in it unsorted.
#[test]
fn worlds_around_the_limit_have_the_pairs_of_brute_force() {
    const COUNT: usize = 700;
    let sizes: [&[usize]; 9] = [
        &[1],
        &[2],
        &[31],
        &[32],
        &[33],
        &[1, 31, 32, 2, 8, 7, 9, 16, 17],
        &[1, 31, 32, 33, 2, 100, 32, 34, 1, 31],
        &[32, 300],
        &[400, 1, 2, 3],
    ];
    let of_statics = [scenes(0), scenes(90)]
        .map(|scenes| scenes.into_iter().map(|(_, boxes)| StaticBoxes::new(boxes)).rev().collect::<Vec<_>>());
    for (at, (name, boxes)) in scenes(COUNT).into_iter().enumerate() {
        for (sizes, has_owners) in sizes.iter().flat_map(|sizes| [(sizes, false), (sizes, true)]) {
            let rules = Arc::new(rules(sizes, COUNT, has_owners));
            let is_small = sizes.iter().all(|&size| size <= SMALL_WORLD);
            assert_eq!(rules.has_small_worlds_only(), is_small, "{sizes:?}");
            for static_boxes in of_statics.iter().map(|all| &all[at]) {
                for grow in [0.0, 0.25] {
                    let mut expected = brute_force(&boxes);
                    expected.retain(|&[a, b]| rules.world_of[a as usize] == rules.world_of[b as usize]);
                    for (a, first) in (0..).zip(&boxes) {
                        let meets = |second: &&Aabb| first.meets(second, grow);
                        let with =
                            (COUNT as u32..).zip(static_boxes.boxes()).filter(|(_, second)| meets(second));
                        expected.extend(with.map(|(b, _)| [a, b]));
                    }
                    expected.retain(|&[a, b]| rules.allows(a, b));
                    expected.sort_unstable();
                    let mut broad = BroadPhase { rules: Arc::clone(&rules), ..Default::default() };
                    *broad.boxes() = boxes.clone();
                    for has_rows in [false, true] {
                        let mut found = Vec::new();
                        broad.begin(static_boxes, grow);
                        if has_rows {
                            // As where there are too many pairs to hold.
                            broad.count_rows(static_boxes, grow);
                        }
                        while let Some(pairs) = broad.next(static_boxes, grow) {
                            found.extend_from_slice(pairs);
                        }
                        assert!(
                            found == expected,
                            "{name}, worlds {sizes:?}, {has_owners}, {grow}, {has_rows}"
                        );
                    }
                }
            }
        }
    }
}

/// 6,000 bodies at one place are 17,997,000 pairs: more than are held at a time.
#[test]
fn more_pairs_than_a_window_holds_come_in_several() {
    let boxes = vec![cube([0.0; 3], 1.0); 6_000];
    let mut broad = BroadPhase::default();
    *broad.boxes() = boxes;
    let static_boxes = StaticBoxes::default();
    broad.begin(&static_boxes, 0.0);
    let (mut windows, mut next) = (0, [0, 0]);
    while let Some(found) = broad.next(&static_boxes, 0.0) {
        windows += 1;
        assert!(found.len() <= WINDOW);
        for &pair in found {
            next = if next[1] == 5_999 { [next[0] + 1, next[0] + 2] } else { [next[0], next[1] + 1] };
            assert_eq!(pair, next);
        }
    }
    assert_eq!((windows, next), (2, [5_998, 5_999]));
}

#[test]
fn candidates_of_many_chunks_are_those_of_brute_force() {
    for (name, aabbs) in
        scenes(5_000).into_iter().filter(|(name, _)| *name != "coincident" && *name != "everything")
    {
        assert_eq!(candidates(&aabbs), brute_force(&aabbs), "{name}");
    }
}
