use super::*;
use crate::corpus;

/// The number of gaps, relative to the smaller radius, in each decade from 1e-7 to 1, by sign.
fn decades(truths: &[Truth]) -> [[usize; 7]; 2] {
    let mut counts = [[0; 7]; 2];
    for t in truths {
        let decade = (t.gap.abs() / t.radius).log10().floor();
        if (-7.0..0.0).contains(&decade) {
            counts[usize::from(t.gap > 0.0)][(decade + 7.0) as usize] += 1;
        }
    }
    counts
}

#[test]
fn corpus_pairs_cover_every_decade_of_both_signs() {
    let corpus = corpus::hulls().expect("the corpus is readable");
    let scene = near_pairs(&corpus.sets, Near { count: 3000, ..Near::default() });
    let truths = scene.truths();
    assert_eq!((scene.bodies.len(), truths.len()), (6000, 3000));
    let counts = decades(&truths);
    assert!(counts.iter().flatten().skip(1).filter(|&&n| n < 20).count() <= 2, "{counts:?}");
    let in_band = truths.iter().filter(|t| t.gap.abs() <= t.tau).count();
    assert!(in_band * 4 < truths.len(), "{in_band}");
}

#[test]
fn kissing_boxes_have_their_gaps() {
    let scene = kissing_boxes(660, 9);
    for (k, t) in scene.truths().iter().enumerate() {
        let wanted = KISSING_GAPS[(k / 6) % KISSING_GAPS.len()] * t.radius;
        assert!((t.gap - wanted).abs() < 1e-6, "pair {k}: {} wanted {wanted}", t.gap);
    }
}

#[test]
fn tiny_far_and_debris_have_both_signs() {
    for (name, scene) in [
        ("0.01", tiny(0.01, 300, 1)),
        ("0.001", tiny(0.001, 300, 2)),
        ("1e-5", tiny(1e-5, 300, 3)),
        ("far", far(300, 4)),
        ("debris", debris(300, false, 5)),
        ("tilted debris", debris(300, true, 6)),
    ] {
        let truths = scene.truths();
        for sign in [-1.0, 1.0] {
            let count = truths.iter().filter(|t| t.gap * sign > t.tau).count();
            assert!(count > 60, "{name}: {count} of sign {sign}");
        }
        if name.ends_with("debris") {
            assert!(truths.iter().any(|t| t.radius_sum > 700.0 * t.radius));
            assert!(truths.iter().filter(|t| t.gap.abs() < t.tau).count() > 10, "{name}");
        }
    }
}

#[test]
fn coincident_and_nested_bodies_overlap() {
    let scene = coincident(&convex_sets(24, 1.0, 3), 8);
    assert_eq!(scene.pairs.len(), 72);
    for (k, t) in scene.truths().iter().enumerate() {
        // A plate moved by more than its thickness is separated by no more than the move.
        assert!(t.gap <= [-1e-7, 1.001e-3, 1.001e-7][k % 3] * t.radius, "pair {k}: {t:?}");
    }
    let truths = box_in_box(300, 8).truths();
    assert!(truths.iter().any(|t| (t.gap + 2.5).abs() < 1e-6));
    assert!(truths.iter().any(|t| t.gap.abs() < 1e-6));
}

#[test]
fn stacked_cubes_touch_exactly() {
    let scene = stacked_cubes(4);
    // 3 · 48 faces, 6 · 36 edges, 4 · 27 corners.
    assert_eq!(scene.pairs.len(), 144 + 216 + 108);
    assert!(scene.truths().iter().all(|t| t.gap == 0.0));
}

#[test]
fn the_boxes_of_piles_are_in_contact() {
    for kind in [Pile::Pyramid, Pile::Wall, Pile::Heap] {
        let scene = pile(kind, 200, 12);
        assert!((200..260).contains(&scene.bodies.len()), "{kind:?} {}", scene.bodies.len());
        let truths = scene.truths();
        let near = |low: f64, high: f64| truths.iter().filter(|t| (low..high).contains(&t.gap)).count();
        let (below, zero, above) = (near(-5e-3, -1e-5), near(-1e-6, 1e-6), near(1e-5, 5e-3));
        assert!(below > 20 && above > 20 && zero > 5, "{kind:?}: {below} {zero} {above}");
    }
}

#[test]
fn the_given_share_overlaps() {
    for point_count in [8, 32, 64] {
        let truths = overlapping_share(point_count, 300, 0.3, 2).truths();
        let hits = truths.iter().filter(|t| t.gap < 0.0).count();
        assert!((60..120).contains(&hits), "{point_count}: {hits}");
    }
}

#[test]
fn tumbling_bodies_have_the_given_number_of_neighbours() {
    let hulls = convex_sets(12, 1.0, 4);
    let tumbling = tumbling(&hulls, 3000, 20.0, 6);
    for seconds in [0.0, 1.5] {
        let scene = Scene { bodies: tumbling.at(seconds), ..tumbling.scene.clone() };
        let pairs = overlapping_boxes(&scene, 0.0).len();
        assert!((27_000..33_000).contains(&pairs), "{pairs} after {seconds} s");
    }
}

#[test]
fn swept_boxes_equal_all_pairs() {
    let hulls = convex_sets(12, 1.0, 4);
    let scene = tumbling(&hulls, 150, 10.0, 7).scene;
    let all = super::crowd::world_boxes(&scene);
    let mut expected = Vec::new();
    for i in 0..all.len() {
        for j in i + 1..all.len() {
            let ([a, b], [c, d]) = (all[i], all[j]);
            if a.cmple(d).all() && c.cmple(b).all() {
                expected.push([i as u32, j as u32]);
            }
        }
    }
    assert_eq!(overlapping_boxes(&scene, 0.0), expected);
}

#[test]
fn a_seed_gives_one_scene() {
    let draw = |seed| tiny(1.0, 20, seed).bodies;
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
}

#[test]
fn round_slender_and_grounded_bodies_have_both_signs() {
    let near = Near { count: 300, ..Near::default() };
    let corpus = corpus::stand_ins(100, 3);
    for (name, scene) in [
        ("round", round_pairs(near)),
        ("rounded", near_pairs(&corpus, Near { rounded: 0.5, stretch: 2.0, ..near })),
        ("slender", slender(near)),
        ("large", large(128, Near { count: 60, ..near })),
        ("ground", ground(&corpus, 300, false, 4)),
        ("tilted ground", ground(&corpus, 300, true, 5)),
    ] {
        let truths = scene.truths();
        for sign in [-1.0, 1.0] {
            let count = truths.iter().filter(|t| t.gap * sign > t.tau).count();
            assert!(count * 6 > truths.len(), "{name}: {count} of {} of sign {sign}", truths.len());
        }
        let band = truths.iter().filter(|t| t.gap.abs() < t.tau).count();
        assert!(band * 100 > truths.len(), "{name}: {band} of {} in the band", truths.len());
    }
}

#[test]
fn scaling_and_moving_keep_the_gaps() {
    let scene = round_pairs(Near { count: 100, rounded: 0.3, ..Near::default() });
    let truths = scene.truths();
    for factor in [1e-5, 1e5] {
        for (t, s) in truths.iter().zip(scene.scaled(factor).truths()) {
            let permitted = 1e-6 * t.radius_sum;
            assert!((t.gap - s.gap / factor).abs() <= permitted, "{factor}: {t:?} {s:?}");
        }
    }
    for (t, s) in truths.iter().zip(scene.moved([1e3, -1e3, 1e3]).truths()) {
        assert!((t.gap - s.gap).abs() <= 1e-3, "{t:?} {s:?}");
    }
}
