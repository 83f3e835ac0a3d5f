//! EPA entered from simplices of every size, against brute-force separating axes. It must end at the depth whatever simplex
//! the search before it left: one to four corners, around the origin or beside it, in line or in a plane.

use glam::{DVec3, Vec3};

use crate::collide::epa::depth::{Scratch, epa_depth};
use crate::collide::epa::exact_depth::exact_depth;
use crate::collide::gjk::distance::{Corner, Nearest, StopReason, WeightedSimplex, Witness};
use crate::collide::gjk::pose::{ExactRelative, Relative, Scales, Spheres};
use crate::collide::gjk::vector::{Real, Vector};
use crate::collide::gjk::verdict::Difference;
use crate::collide::narrow_phase::test_pairs::{all_kinds, gap_by_separating_axes};
use crate::collide::scene::bounds::tests::Random;
use crate::collide::scene::layout::Layout;
use crate::collide::scene::pairs::Pairs;
use crate::collide::scene::query_input::{QueryInput, Scene};

/// The result of a search that found `len` corners along random directions. With `repeats` the last corner is the first
/// one again.
fn search_result<D: Witness>(
    difference: &D,
    random: &mut Random,
    len: usize,
    repeats: bool,
    of: impl Fn(DVec3) -> D::Vector,
) -> Nearest<D::Vector> {
    let mut direction = || of(DVec3::from([0; 3].map(|_| f64::from(random.signed()))).normalize());
    let first = direction();
    let mut corners: [Corner<D::Vector>; 4] = std::array::from_fn(|_| difference.corner(direction()));
    if repeats {
        corners[len - 1] = corners[0];
    }
    let one = <D::Vector as Vector>::Scalar::from_f64(1.0);
    let share = one.divided_by(Real::from_f64(len as f64));
    let simplex = WeightedSimplex { corners, weights: [share; 4], len };
    let point = simplex.witness().point;
    // Any direction bounds the gap from below.
    let axis = first * one.divided_by(first.dot(first).sqrt());
    let lower = axis.dot(difference.support(-axis));
    let upper = point.dot(point).sqrt();
    Nearest { stop: StopReason::Stalled, lower, upper, axis, simplex }
}

#[test]
fn every_simplex_leads_to_the_depth() {
    let mut random = Random(96);
    for test in all_kinds(200, 30.0) {
        let (name, pairs) = (test.name, test.pairs());
        let arena = Scene::new(&test.hulls).unwrap();
        let layout = Layout { packed: false, placed: true };
        let input =
            QueryInput::new(&arena, (&test.bodies).into(), None, Pairs::Given(&pairs), layout).unwrap();
        let mut overlap_count = 0;
        let mut settled = [0; 5];
        for (index, &[a, b]) in pairs.iter().enumerate() {
            let [body_a, body_b] = [a, b].map(|row| &test.bodies[row as usize]);
            let gap = gap_by_separating_axes(&test.hulls, body_a, body_b);
            if gap > 0.0 {
                continue;
            }
            overlap_count += 1;
            let [placed_a, placed_b] = [a, b].map(|row| &input.placed[row as usize]);
            let spheres = Spheres::new(placed_a, placed_b);
            let fast = Relative::new(&arena.supports, placed_a, placed_b, &spheres);
            let scales = Scales::new(placed_a, placed_b, &spheres);
            let exact = ExactRelative::new(&test.hulls, body_a, body_b);
            let mut scratch = Scratch::new();
            for len in 1..=4 {
                let repeats = len > 1 && index % 4 == 0;
                let case = || format!("{name} ({a}, {b}) from {len} corners, repeats {repeats}, gap {gap:e}");

                let start = search_result(&exact, &mut random, len, repeats, |v| v);
                let found = exact_depth(&exact, &start, 1e-11 * exact.sum);
                let permitted = 1e-9 * exact.sum;
                assert!((found.lower - gap).abs() <= permitted, "{}: {found:?}", case());
                assert!(found.upper >= gap - permitted, "{}: {found:?}", case());
                let shown = -found.normal.dot(exact.support(found.normal));
                assert!(
                    shown >= found.lower - permitted,
                    "{}: the normal shows a gap of {shown:e}: {found:?}",
                    case()
                );

                let start = search_result(&fast, &mut random, len, repeats, DVec3::as_vec3);
                let found = epa_depth(&fast, &start, 0.3 * scales.thresholds.tolerance, &mut scratch);
                let gap = (gap * exact.unit / f64::from(scales.unit)) as f32;
                // The bounds always hold. They need not meet, but mostly do.
                let error = scales.thresholds.error + scales.thresholds.tolerance;
                assert!(found.lower <= gap + error, "{}: {found:?}", case());
                assert!(!(found.upper < gap - error), "{}: {found:?}", case());
                let shown = -found.normal.dot(fast.support(found.normal));
                let is_shown = found.normal == Vec3::ZERO || shown >= found.lower - error;
                assert!(is_shown, "{}: the normal shows a gap of {shown:e}: {found:?}", case());
                if found.upper - found.lower <= scales.thresholds.tolerance {
                    assert!((found.lower - gap).abs() <= error, "{}: {found:?}", case());
                    settled[len] += 1;
                }
            }
        }
        println!("{name}: of {overlap_count} overlaps f32 settles {:?} from 1 to 4 corners", &settled[1..]);
        assert!(overlap_count >= 20, "{name}: {overlap_count}");
        for len in 1..=4 {
            let count = settled[len];
            assert!(
                2 * count >= overlap_count,
                "{name}: f32 settles {count} of {overlap_count} from {len} corners"
            );
        }
    }
}
