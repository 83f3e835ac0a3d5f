//! EPA entered from simplices of every size, against exhaustive separating axes: whatever corners of `D` the search left
//! off with, one to four, about the origin or to one side of it, in line or in a plane, it ends at the depth.

use glam::{DVec3, Vec3};
use hullfield_oracle::random::Random;
use hullfield_oracle::{Shape, corpus, gap, scenes};

use crate::collide::epa::depth::{Scratch, expand};
use crate::collide::epa::exact_depth::depth;
use crate::collide::gjk::distance::{Corner, End, Nearest, Weighted, Witness};
use crate::collide::gjk::pose::{ExactRelative, Relative, Scales, Spheres};
use crate::collide::gjk::vector::{Real, Vector};
use crate::collide::gjk::verdict::Difference;
use crate::collide::hull::Hull;
use crate::collide::scene::body::Body;
use crate::collide::scene::job::{Job, Scene};
use crate::collide::scene::layout::Layout;
use crate::collide::scene::pairs::Pairs;

/// What a search that found `len` corners, of directions drawn at random, would hand over. Every fourth time the last
/// corner is the first again.
fn handed_over<D: Witness>(
    difference: &D,
    random: &mut Random,
    len: usize,
    repeats: bool,
    of: impl Fn(DVec3) -> D::Vector,
) -> Nearest<D::Vector> {
    let mut direction = || of(random.direction());
    let first = direction();
    let mut corners: [Corner<D::Vector>; 4] = std::array::from_fn(|_| difference.corner(direction()));
    if repeats {
        corners[len - 1] = corners[0];
    }
    let one = <D::Vector as Vector>::Scalar::of(1.0);
    let share = one.over(Real::of(len as f64));
    let simplex = Weighted { corners, weights: [share; 4], len };
    let point = simplex.witness().point;
    // Any direction bounds the gap from below.
    let axis = first * one.over(first.dot(first).root());
    let lower = axis.dot(difference.support(-axis));
    let upper = point.dot(point).root();
    Nearest { end: End::Stalled, lower, upper, axis, simplex }
}

#[test]
fn every_simplex_leads_to_the_depth() {
    let sets = corpus::hulls().unwrap().sets;
    let near = scenes::Near { count: 300, placed: 0.5, seed: 91, ..Default::default() };
    let stretched = scenes::Near { count: 150, placed: 0.5, stretch: 30.0, seed: 92, ..Default::default() };
    let scenes = [
        ("near", scenes::near_pairs(&sets, near)),
        ("stretched", scenes::near_pairs(&sets, stretched)),
        ("kissing", scenes::kissing_boxes(150, 93)),
        ("boxed", scenes::box_in_box(150, 94)),
        ("coincident", scenes::coincident(&sets[..60], 95)),
    ];
    let mut random = Random::new(96);
    for (name, scene) in scenes {
        let hulls: Vec<Hull> = scene.hulls.iter().map(|points| Hull::from_points(points).unwrap()).collect();
        let shapes: Vec<Shape> = hulls.iter().map(|hull| Shape::new(hull.vertices())).collect();
        let body = |placed: &hullfield_oracle::Placed| Body {
            hull: placed.hull,
            position: placed.pose.position,
            rotation: placed.pose.rotation,
            scale: placed.pose.scale,
            ..Body::new(0)
        };
        let bodies: Vec<Body> = scene.bodies.iter().map(body).collect();
        let arena = Scene::new(&hulls).unwrap();
        let layout = Layout { packed: false, placed: true };
        let job = Job::new(&arena, &bodies, None, Pairs::Given(&scene.pairs), layout).unwrap();
        let mut tried = 0;
        let mut settled = [0; 5];
        for (index, &[a, b]) in scene.pairs.iter().enumerate() {
            let [at_a, at_b] = [a, b].map(|row| &scene.bodies[row as usize]);
            let [of_a, of_b] = [at_a, at_b].map(|at| &shapes[at.hull as usize]);
            let truth = gap::gap(of_a, &at_a.pose, of_b, &at_b.pose).gap;
            if truth > 0.0 {
                continue;
            }
            tried += 1;
            let [placed_a, placed_b] = [a, b].map(|row| &job.placed[row as usize]);
            let spheres = Spheres::new(placed_a, placed_b);
            let fast = Relative::new(&arena.supports, placed_a, placed_b, &spheres);
            let scales = Scales::new(placed_a, placed_b, &spheres);
            let exact = ExactRelative::new(&hulls, &bodies[a as usize], &bodies[b as usize]);
            let mut scratch = Scratch::new();
            for len in 1..=4 {
                let repeats = len > 1 && index % 4 == 0;
                let case =
                    || format!("{name} ({a}, {b}) from {len} corners, repeats {repeats}, gap {truth:e}");

                let start = handed_over(&exact, &mut random, len, repeats, |v| v);
                let found = depth(&exact, &start, 1e-11 * exact.sum);
                let gap = truth / exact.unit;
                let permitted = 1e-9 * exact.sum;
                assert!((found.lower - gap).abs() <= permitted, "{}: {found:?}, not {gap:e}", case());
                assert!(found.upper >= gap - permitted, "{}: {found:?}, not {gap:e}", case());
                let shown = -found.normal.dot(exact.support(found.normal));
                assert!(
                    shown >= found.lower - permitted,
                    "{}: the normal shows {shown:e}: {found:?}",
                    case()
                );

                let start = handed_over(&fast, &mut random, len, repeats, DVec3::as_vec3);
                let found = expand(&fast, &start, 0.3 * scales.tolerance, &mut scratch);
                let gap = (truth / f64::from(scales.unit)) as f32;
                // Its bounds are never wrong, whatever they are worth; mostly they meet.
                let error = scales.error + scales.tolerance;
                assert!(found.lower <= gap + error, "{}: {found:?}, not {gap:e}", case());
                assert!(!(found.upper < gap - error), "{}: {found:?}, not {gap:e}", case());
                let shown = -found.normal.dot(fast.support(found.normal));
                let is_shown = found.normal == Vec3::ZERO || shown >= found.lower - error;
                assert!(is_shown, "{}: the normal shows {shown:e}: {found:?}", case());
                if found.upper - found.lower <= scales.tolerance {
                    assert!((found.lower - gap).abs() <= error, "{}: {found:?}, not {gap:e}", case());
                    settled[len] += 1;
                }
            }
        }
        println!("{name}: of {tried} overlaps f32 settles {:?} from 1 to 4 corners", &settled[1..]);
        assert!(tried >= 20, "{name}: {tried}");
        for len in 1..=4 {
            assert!(2 * settled[len] >= tried, "{name}: f32 settles {} of {tried} from {len}", settled[len]);
        }
    }
}
