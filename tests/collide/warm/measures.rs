//! Measuring queries on a warm arena: rows are bit-equal to those of a cold one.

use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, ContactOptions, DistanceOptions, ManifoldOptions, Options, Pairs, Precision, Stats,
};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, seed};

use super::crowd::{Crowd, hulls, mischief_with};

/// Asserts that a cold and a warm arena answer a measuring query alike. Returns the warm one's statistics and the number
/// of rows.
fn one(query: usize, what: &str, [cold, warm]: [&Arena; 2], bodies: &[Body], margin: f32) -> (Stats, usize) {
    macro_rules! ask {
        ($query:ident, $options:ident) => {{
            let options = &$options { margin };
            let found =
                |arena: &Arena| arena.$query(bodies, Pairs::BroadPhase, options).unwrap().wait().unwrap();
            let (of_cold, of_warm) = (found(cold), found(warm));
            assert_eq!(of_cold.rows, of_warm.rows, "{}, {what}", stringify!($query));
            assert_eq!(of_cold.stats.skipped_count, 0);
            assert_eq!(of_cold.stats.hit_count, of_warm.stats.hit_count, "{what}");
            assert!(of_warm.stats.skipped_count <= of_warm.stats.candidate_count, "{what}");
            (of_warm.stats, of_warm.rows.len())
        }};
    }
    match query {
        0 => ask!(distances, DistanceOptions),
        1 => ask!(contacts, ContactOptions),
        _ => ask!(manifolds, ManifoldOptions),
    }
}

/// The same for all queries that measure.
pub(crate) fn same(what: &str, arenas: [&Arena; 2], bodies: &[Body], margin: f32) -> (Stats, usize) {
    one(1, what, arenas, bodies, margin);
    one(2, what, arenas, bodies, margin);
    one(0, what, arenas, bodies, margin)
}

#[test]
fn measures_of_drifting_crowds() {
    for (seconds, margin, share) in
        [(0.001, 0.1, 0.7), (0.005, 0.0, 0.6), (0.01, 0.5, 0.2), (0.2, 0.1, 0.0), (0.0, 0.2, 0.5)]
    {
        let mut crowd = Crowd::new(500, 6.0, seed(91));
        let cold = Arena::new(&Engine::cpu(), &hulls(), Options::default()).unwrap();
        let warm = cold.with_options(Options { warm_start: true, ..cold.options().clone() }).unwrap();
        let (mut skipped, mut candidates, mut row_count) = (0, 0, 0);
        for frame in 0..extent(15, 40) {
            let what = format!("{seconds} s, margin {margin}, frame {frame}");
            let (stats, rows) = same(&what, [&cold, &warm], &crowd.bodies, margin);
            skipped += stats.skipped_count;
            candidates += stats.candidate_count;
            row_count += rows;
            crowd.go_on(seconds);
        }
        let skipped_share = skipped as f64 / candidates as f64;
        assert!(
            skipped_share >= share && row_count > extent(125, 300),
            "{seconds} s: {skipped_share} {row_count}"
        );
    }
}

#[test]
fn measures_after_mischief() {
    let mut random = Random::new(seed(92));
    let mut crowd = Crowd::new(700, 6.0, seed(93));
    let cold = Arena::new(&Engine::cpu(), &hulls(), Options::default()).unwrap();
    let warm = cold.with_options(Options { warm_start: true, ..cold.options().clone() }).unwrap();
    let mut skipped = 0;
    for frame in 0..35 {
        let deed = mischief_with(&mut random, &mut crowd);
        // A margin that stays for some frames.
        let margin = [0.1, 0.1, 0.3, 0.0, 0.2][frame / 7];
        let what = format!("frame {frame}, deed {deed}, margin {margin}");
        skipped += one(frame % 3, &what, [&cold, &warm], &crowd.bodies, margin).0.skipped_count;
    }
    assert!(skipped > 1_500, "{skipped}");
}

/// One list and one set of bounds serve queries of all kinds, margins and precisions.
#[test]
fn queries_of_all_margins_share_what_is_known() {
    let mut random = Random::new(94);
    let mut crowd = Crowd::new(300, 6.0, 95);
    let cold = Arena::new(&Engine::cpu(), &hulls(), Options::default()).unwrap();
    let warm = cold.with_options(Options { warm_start: true, ..cold.options().clone() }).unwrap();
    let mut skipped = [0; 2];
    for frame in 0..150 {
        let is_exact = random.chance(0.2);
        let precision = if is_exact { Precision::Exact } else { Precision::Fast };
        let both = [
            &cold.with_options(Options { precision, ..cold.options().clone() }).unwrap(),
            &warm.with_options(Options { precision, ..warm.options().clone() }).unwrap(),
        ];
        // The last two are past all pairs, and past what a list may hold.
        let margin = match random.below(12) {
            0..6 => 0.1,
            6 => 0.0,
            7 => 1.0,
            8 => random.log_between(1e-6, 1.0) as f32,
            9 if frame > 75 => f32::MAX,
            10 if frame > 75 => 30.0,
            11 => f32::INFINITY,
            _ => 0.02,
        };
        let what = format!("frame {frame}, margin {margin}, {precision:?}");
        skipped[usize::from(is_exact)] += if margin < 2.0 || !is_exact && frame % 8 == 0 {
            same(&what, both, &crowd.bodies, margin).0.skipped_count
        } else {
            0
        };
        let [of_cold, of_warm] =
            both.map(|arena| arena.intersections(&crowd.bodies, Pairs::BroadPhase).unwrap().wait().unwrap());
        assert_eq!(of_cold.rows, of_warm.rows, "{what}");
        assert_eq!(of_cold.stats.hit_count, of_warm.stats.hit_count, "{what}");
        if random.chance(0.6) {
            crowd.go_on(0.002);
        }
    }
    assert!(skipped.iter().all(|&count| count > 1_000), "{skipped:?}");
}

/// Pairs whose distance oscillates about the margin, by less than the tolerance per frame.
#[test]
fn slow_approach_to_the_margin() {
    let hulls =
        [hullfield::collide::Hull::cuboid([0.5; 3]).unwrap(), hullfield::collide::Hull::ball(0.5).unwrap()];
    let cold = Arena::new(&Engine::cpu(), &hulls, Options::default()).unwrap();
    let warm = cold.with_options(Options { warm_start: true, ..cold.options().clone() }).unwrap();
    let margin = 0.25f32;
    let (mut row_count, mut skipped) = (0, 0);
    for frame in 0..300 {
        let gap = f64::from(margin) + 1e-5 - 1e-7 * f64::from(frame);
        let bodies: Vec<Body> = (0..64u32)
            .flat_map(|k| {
                let y = 3.0 * k as f32;
                let next = (1.0 + gap + 3e-7 * f64::from(k)) as f32;
                [Body::new(k % 2).at([0.0, y, 0.0]), Body::new(k / 2 % 2).at([next, y, 0.0])]
            })
            .collect();
        let (stats, rows) = same(&format!("frame {frame}"), [&cold, &warm], &bodies, margin);
        row_count += rows;
        skipped += stats.skipped_count;
    }
    assert!(row_count > 1_000 && row_count < 64 * 300, "{row_count}");
    assert!(skipped > 0);
}
