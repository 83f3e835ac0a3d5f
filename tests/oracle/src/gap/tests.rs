use super::*;
use crate::random::Random;
use crate::scenes::{Kind, convex_set};

fn cuboid(half: [f32; 3]) -> Shape {
    let mut points = Vec::new();
    for k in 0..8u8 {
        points.push([0, 1, 2].map(|i| if k >> i & 1 == 0 { -half[i] } else { half[i] }));
    }
    Shape::new(&points)
}

fn gap_at(a: &Shape, b: &Shape, position: [f32; 3]) -> f64 {
    gap(a, &Pose::default(), b, &Pose::at(position)).gap
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12 * (1.0 + expected.abs()), "{found:e}, expected {expected:e}");
}

#[test]
fn known_answers_for_cubes() {
    let cube = cuboid([0.5; 3]);
    near(gap_at(&cube, &cube, [2.0, 0.0, 0.0]), 1.0);
    near(gap_at(&cube, &cube, [0.0, -1.5, 0.25]), 0.5);
    // Face to face at exactly 0, edge to edge, corner to corner.
    near(gap_at(&cube, &cube, [1.0, 0.0, 0.0]), 0.0);
    near(gap_at(&cube, &cube, [1.0, 1.0, 0.0]), 0.0);
    near(gap_at(&cube, &cube, [2.0, 2.0, 0.0]), 2f64.sqrt());
    near(gap_at(&cube, &cube, [2.0, 2.0, 2.0]), 3f64.sqrt());
    near(gap_at(&cube, &cube, [0.0, 0.75, 0.0]), -0.25);
    near(gap_at(&cube, &cube, [0.0; 3]), -1.0);
    // A box inside a box.
    near(gap_at(&cuboid([2.0; 3]), &cube, [0.5, 0.0, 0.0]), -2.0);
    // A box and its copy moved by 2⁻¹⁰ and 2⁻²³.
    near(gap_at(&cube, &cube, [2f32.powi(-10), 0.0, 0.0]), 2f64.powi(-10) - 1.0);
    near(gap_at(&cube, &cube, [2f32.powi(-23), 0.0, 0.0]), 2f64.powi(-23) - 1.0);
}

#[test]
fn known_answers_for_crossing_edges() {
    // Two cubes rotated by 45° about x and y, so that an edge along x faces one along y. Each reaches √½.
    let cube = cuboid([0.5; 3]);
    let half = (std::f64::consts::PI / 8.0).sin_cos();
    let turned =
        |x: f64, y: f64| Pose { rotation: [x as f32, y as f32, 0.0, half.1 as f32], ..Pose::default() };
    let (a, mut b) = (turned(half.0, 0.0), turned(0.0, half.0));
    for (z, tolerance) in [(1.5f32, 1e-6), (1.4, 1e-6), (1.25, 1e-6)] {
        b.position = [0.0, 0.0, z];
        let found = gap(&cube, &a, &cube, &b);
        let expected = f64::from(z) - 2f64.sqrt();
        assert!((found.gap - expected).abs() < tolerance, "{} {expected}", found.gap);
        assert!(found.axis[2] > 0.999_999);
    }
}

#[test]
fn known_answers_for_flat_shapes() {
    let point = Shape::new(&[[0.0; 3]]);
    let segment = Shape::new(&[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]);
    let across = Shape::new(&[[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]]);
    let square = Shape::new(&[[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]);
    let upright = Shape::new(&[[0.0, -1.0, -1.0], [0.0, 1.0, -1.0], [0.0, 1.0, 1.0], [0.0, -1.0, 1.0]]);
    let cube = cuboid([1.0; 3]);
    // Equal points, a point on a segment, beyond its end, beside it.
    near(gap_at(&point, &point, [0.0; 3]), 0.0);
    near(gap_at(&point, &point, [0.0, 3.0, 4.0]), 5.0);
    near(gap_at(&point, &segment, [0.5, 0.0, 0.0]), 0.0);
    near(gap_at(&point, &segment, [3.0, 0.0, 0.0]), 2.0);
    near(gap_at(&segment, &point, [0.0, 3.0, 0.0]), 3.0);
    // Segments: collinear, overlapping and apart; parallel; crossing; skew; the end of one on the other.
    near(gap_at(&segment, &segment, [0.5, 0.0, 0.0]), 0.0);
    near(gap_at(&segment, &segment, [2.5, 0.0, 0.0]), 0.5);
    near(gap_at(&segment, &segment, [0.5, 0.25, 0.0]), 0.25);
    near(gap_at(&segment, &across, [0.5, 0.0, 0.0]), 0.0);
    near(gap_at(&segment, &across, [0.5, 0.5, 0.75]), 0.75);
    near(gap_at(&segment, &across, [0.0, 1.0, 0.0]), 0.0);
    near(gap_at(&segment, &across, [0.0, 1.5, 0.0]), 0.5);
    // Polygons: coplanar and overlapping, nested, apart; parallel; one through the other; sharing an edge.
    near(gap_at(&square, &square, [0.5, 0.25, 0.0]), 0.0);
    near(gap_at(&square, &square, [0.0; 3]), 0.0);
    near(gap_at(&square, &square, [3.0, 0.0, 0.0]), 1.0);
    near(gap_at(&square, &square, [0.0, 0.0, 0.5]), 0.5);
    near(gap_at(&square, &upright, [0.0; 3]), -1.0);
    near(gap_at(&square, &upright, [0.75, 0.0, 0.0]), -0.25);
    near(gap_at(&square, &upright, [1.0, 0.0, 0.0]), 0.0);
    near(gap_at(&square, &upright, [0.0, 0.0, 1.5]), 0.5);
    near(gap_at(&square, &point, [0.5, 0.5, 0.0]), 0.0);
    near(gap_at(&square, &point, [0.5, 0.5, -0.5]), 0.5);
    near(gap_at(&square, &segment, [0.25, 0.0, 0.0]), 0.0);
    near(gap_at(&segment, &upright, [0.25, 0.0, 0.0]), -0.75);
    // Against a solid.
    near(gap_at(&cube, &point, [0.75, 0.0, 0.0]), -0.25);
    near(gap_at(&cube, &point, [1.0, 1.0, 1.0]), 0.0);
    near(gap_at(&cube, &segment, [2.5, 0.0, 0.0]), 0.5);
    near(gap_at(&cube, &segment, [0.0; 3]), -1.0);
    near(gap_at(&cube, &square, [0.0, 0.0, 0.75]), -0.25);
    near(gap_at(&cube, &square, [0.0, 0.0, 1.0]), 0.0);
}

#[test]
fn icospheres_are_nearly_balls() {
    let mut random = Random::new(5);
    let points: Vec<[f32; 3]> = (0..400).map(|_| random.direction().as_vec3().to_array()).collect();
    let ball = Shape::new(&points);
    for d in [3.0f32, 2.0, 1.5] {
        let found = gap_at(&ball, &ball, [0.0, d, 0.0]);
        assert!((found - (f64::from(d) - 2.0)).abs() < 0.06, "{d} {found}");
    }
}

fn random_pose(random: &mut Random, reach: f64) -> Pose {
    let position = (random.direction() * reach * random.unit()).as_vec3().to_array();
    let scale = [0; 3].map(|_| random.between(0.5, 2.0) as f32);
    Pose { position, rotation: random.rotation(), scale, radius: 0.0 }
}

#[test]
fn the_gap_is_invariant_under_pruning_swapping_and_common_motion() {
    let mut random = Random::new(21);
    let mut seen = [0; 2];
    for round in 0..400 {
        let kinds = Kind::ALL;
        let count = 4 + random.below(20);
        let a = Shape::new(&convex_set(&mut random, kinds[round % kinds.len()], count));
        let b = Shape::new(&convex_set(&mut random, kinds[(round / kinds.len()) % kinds.len()], count));
        let (pose_a, pose_b) = (random_pose(&mut random, 1.0), random_pose(&mut random, 3.0));
        let (body_a, body_b) = bodies64(&a, &pose_a, &b, &pose_b);
        let sum = body_a.radius + body_b.radius;
        let found = gap_of(&body_a, &body_b, true);
        seen[usize::from(found.gap > 0.0)] += 1;
        assert!(found.slack <= 1e-9 * sum, "round {round}: {found:?}");
        assert!((found.gap - gap_of(&body_a, &body_b, false).gap).abs() <= 1e-12 * sum);
        assert!((found.gap - gap(&b, &pose_b, &a, &pose_a).gap).abs() <= 1e-12 * sum);
        let turn = random.rotation64();
        let shift = random.direction() * 10.0;
        let moved = |shape: &Shape, pose: &Pose| {
            let offset = turn * pose.position64() + shift;
            Body64::new(shape, turn * pose.rotation64(), pose.scale64(), 0.0, offset)
        };
        let again = gap_of(&moved(&a, &pose_a), &moved(&b, &pose_b), true);
        assert!((found.gap - again.gap).abs() <= 1e-12 * (sum + 20.0), "round {round}: {found:?} {again:?}");
        // Moving b along the axis by −gap makes the bodies touch.
        let place = |by: f64| {
            let offset = pose_b.position64() - pose_a.position64() + DVec3::from(found.axis) * by;
            gap_of(&body_a, &Body64::new(&b, pose_b.rotation64(), pose_b.scale64(), 0.0, offset), true).gap
        };
        assert!(place(-found.gap).abs() <= 1e-9 * sum, "round {round}: {found:?} {:e}", place(-found.gap));
    }
    assert!(seen.iter().all(|&n| n > 50), "{seen:?}");
}

/// In every kind of scene: for separated bodies the two bounds of the distance agree. For overlapping ones, moving by the depth
/// makes features touch, so no axis was missed.
#[test]
fn the_gaps_of_every_scene_are_certified() {
    use crate::scenes::*;
    let mut flat = convex_sets(12, 1.0, 5);
    flat.extend(flat.clone().into_iter().map(|set| set.into_iter().map(|[x, y, _]| [x, y, 0.0]).collect()));
    flat.extend([vec![[0.25, 0.5, 0.75]], vec![[-1.0, 0.0, 0.5], [1.0, 0.5, 0.0]]]);
    for (name, scene) in [
        (
            "near",
            near_pairs(&convex_sets(48, 1.0, 2), Near { count: COUNT, stretch: 20.0, ..Near::default() }),
        ),
        ("corpus", near_pairs(&crate::corpus::stand_ins(400, 4), Near { count: COUNT, ..Near::default() })),
        ("flat", near_pairs(&flat, Near { count: COUNT, ..Near::default() })),
        ("kissing", kissing_boxes(COUNT, 1)),
        ("tiny", tiny(1e-5, COUNT, 1)),
        ("far", far(COUNT, 1)),
        ("debris", debris(COUNT, false, 1)),
        ("tilted", debris(COUNT, true, 1)),
        ("coincident", coincident(&flat, 1)),
        ("nested", box_in_box(COUNT, 1)),
        ("lattice", stacked_cubes(4)),
        ("pyramid", pile(Pile::Pyramid, 150, 1)),
        ("heap", pile(Pile::Heap, 150, 1)),
    ] {
        let shapes = scene.shapes();
        for [i, j] in &scene.pairs {
            let (a, b) = (&scene.bodies[*i as usize], &scene.bodies[*j as usize]);
            let (shape_a, shape_b) = (&shapes[a.hull as usize], &shapes[b.hull as usize]);
            let (body_a, body_b) = bodies64(shape_a, &a.pose, shape_b, &b.pose);
            let sum = body_a.radius + body_b.radius;
            // The distance of the centres counts for points, which have no radius.
            let permitted = 1e-9 * sum + 1e-15 * (body_a.centre.length() + body_b.centre.length());
            let found = gap_of(&body_a, &body_b, true);
            assert!(found.slack <= permitted, "{name} ({i}, {j}): {found:?} of {sum}");
            if found.gap >= 0.0 {
                continue;
            }
            let offset = b.pose.position64() - a.pose.position64() - DVec3::from(found.axis) * found.gap;
            let moved =
                Body64::new(shape_b, b.pose.rotation64(), b.pose.scale64(), f64::from(b.pose.radius), offset);
            let rest = gap_of(&body_a, &moved, true);
            assert!(rest.gap.abs() <= permitted, "{name} ({i}, {j}): {found:?}, then {rest:?} of {sum}");
        }
    }
}

/// Pairs of each scene above.
const COUNT: usize = 300;

/// No axis of a dense sample, refined in small steps, has a larger separation than the gap.
#[test]
fn no_sampled_axis_beats_the_gap() {
    let mut random = Random::new(33);
    for round in 0..60 {
        let kinds = Kind::ALL;
        let a = Shape::new(&convex_set(&mut random, kinds[round % kinds.len()], 16));
        let b = Shape::new(&convex_set(&mut random, kinds[(round * 7 + 3) % kinds.len()], 12));
        let (pose_a, pose_b) = (Pose::default(), random_pose(&mut random, 2.5));
        let (body_a, body_b) = bodies64(&a, &pose_a, &b, &pose_b);
        let found = gap_of(&body_a, &body_b, true).gap;
        let mut best = (f64::NEG_INFINITY, DVec3::X);
        for _ in 0..2000 {
            let n = random.direction();
            best = [best, (separation(&body_a, &body_b, n), n)]
                [usize::from(separation(&body_a, &body_b, n) > best.0)];
        }
        let mut step = 0.3;
        while step > 1e-10 {
            for _ in 0..12 {
                let n = (best.1 + random.direction() * step).normalize();
                let s = separation(&body_a, &body_b, n);
                if s > best.0 {
                    best = (s, n);
                }
            }
            step *= 0.8;
        }
        let sum = body_a.radius + body_b.radius;
        assert!(best.0 <= found + 1e-12 * sum, "round {round}: {} beats {found}", best.0);
        // The sample comes close, so a gap that is too large would be found too.
        assert!(best.0 >= found - 0.05 * sum, "round {round}: {} far below {found}", best.0);
    }
}

#[test]
fn tolerance_is_the_larger_of_its_terms() {
    assert_eq!(tolerance(1.0, 2.0, 0.0), 1e-5);
    assert_eq!(tolerance(1.0, 1001.0, 0.0), 4e-6 * 1001.0);
    assert_eq!(tolerance(1.0, 2.0, -5.0), 1e-5);
}

#[test]
fn the_gap_of_far_pairs_is_not_computed() {
    let cube = cuboid([0.5; 3]);
    let far = truth(&cube, &Pose::default(), &cube, &Pose::at([5.0, 0.0, 0.0]));
    assert!(!far.exact && far.gap > 3.0 && far.gap <= 4.0);
    let near = truth(&cube, &Pose::default(), &cube, &Pose::at([1.5, 0.0, 0.0]));
    assert!(near.exact && near.gap == 0.5);
}

#[test]
fn known_answers_for_round_shapes() {
    let ball = |radius: f32| Shape::new(&[[0.0; 3]]).rounded(radius);
    let capsule = Shape::new(&[[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]]).rounded(0.5);
    let cube = cuboid([0.5; 3]);
    // Balls beside, across and inside one another.
    near(gap_at(&ball(1.0), &ball(0.5), [3.0, 4.0, 0.0]), 3.5);
    near(gap_at(&ball(1.0), &ball(0.5), [1.5, 0.0, 0.0]), 0.0);
    near(gap_at(&ball(1.0), &ball(0.5), [0.25, 0.0, 0.0]), -1.25);
    near(gap_at(&ball(1.0), &ball(0.5), [0.0; 3]), -1.5);
    // A capsule beside, above, and in line with another.
    near(gap_at(&capsule, &capsule, [2.0, 0.5, 0.0]), 1.0);
    near(gap_at(&capsule, &ball(0.25), [0.0, 2.0, 0.0]), 0.25);
    near(gap_at(&capsule, &capsule, [0.0, 1.0, 0.0]), -1.0);
    // A ball over a cube's corner, on its face, and in its middle.
    near(gap_at(&cube, &ball(1.0), [1.5; 3]), 3f64.sqrt() - 1.0);
    near(gap_at(&cube, &ball(0.25), [0.0, 0.625, 0.0]), -0.125);
    near(gap_at(&cube, &ball(0.25), [0.0; 3]), -0.75);
    // The least scale, and the pose's own radius.
    let pose = Pose { scale: [2.0, 0.5, 3.0], radius: 0.125, ..Pose::at([4.0, 0.0, 0.0]) };
    near(gap(&ball(1.0), &Pose::default(), &ball(1.0), &pose).gap, 4.0 - 1.0 - 0.5 - 0.125);
    let truth = truth(&ball(1.0), &Pose::default(), &ball(1.0), &pose);
    assert_eq!((truth.radius, truth.radius_sum), (0.625, 1.625));
}

#[test]
fn known_answers_for_the_ground() {
    let ground = Shape::half_space();
    let ball = Shape::new(&[[0.0; 3]]).rounded(0.5);
    let cube = cuboid([0.5; 3]);
    near(gap_at(&ground, &cube, [100.0, 2.0, -7.0]), 1.5);
    near(gap_at(&ground, &cube, [0.0, -3.0, 0.0]), -3.5);
    near(gap_at(&ground, &ball, [0.0, 0.25, 0.0]), -0.25);
    near(gap_at(&cube, &ground, [0.0, -2.0, 0.0]), 1.5);
    let sloped = Pose { rotation: [0.0, 0.0, 0.6, 0.8], ..Pose::default() };
    // +y rotated about z by 2 asin 0.6, as stored.
    let normal = sloped.rotation64() * DVec3::Y;
    let found = gap(&ground, &sloped, &ball, &Pose::at([-4.0, 1.0, 9.0]));
    near(found.gap, normal.dot(DVec3::new(-4.0, 1.0, 9.0)) - 0.5);
    assert_eq!(found.axis, normal.to_array());
    let truth = truth(&ground, &sloped, &cube, &Pose::at([-1e6, 1e6, 0.0]));
    assert!(truth.exact && truth.radius == truth.radius_sum && (truth.radius - 0.75f64.sqrt()).abs() < 1e-12);
}

#[test]
#[should_panic(expected = "two half-spaces")]
fn two_half_spaces_have_no_gap() {
    gap_at(&Shape::half_space(), &Shape::half_space(), [0.0; 3]);
}
