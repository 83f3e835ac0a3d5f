use super::*;
use crate::scenes::{Near, round_pairs};
use crate::{Pose, whole_truth, whole_truths};

fn cube(half: f32) -> Shape {
    let points: Vec<[f32; 3]> =
        (0..8u8).map(|k| [0, 1, 2].map(|i| if k >> i & 1 == 0 { -half } else { half })).collect();
    Shape::new(&points)
}

/// A pair with a known answer.
struct Known {
    shapes: Vec<Shape>,
    bodies: [Placed; 2],
}

impl Known {
    fn new(a: Shape, b: Shape, at: [f32; 3]) -> Self {
        // Far from the origin, so that an error of frames shows.
        let home = [1000.0, -500.0, 250.0];
        let there = [0, 1, 2].map(|k| home[k] + at[k]);
        let bodies = [Placed { hull: 0, pose: Pose::at(home) }, Placed { hull: 1, pose: Pose::at(there) }];
        Self { shapes: vec![a, b], bodies }
    }

    fn world(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        [x + 1000.0, y - 500.0, z + 250.0]
    }

    fn truth(&self) -> Truth {
        whole_truth(&self.shapes[0], &self.bodies[0].pose, &self.shapes[1], &self.bodies[1].pose)
    }

    fn judge(&self, precision: Precision) -> Judge<'_> {
        Judge { shapes: &self.shapes, bodies: &self.bodies, precision }
    }

    fn distance(&self, row: &DistanceRow) -> [bool; 2] {
        let passes =
            |precision| self.judge(precision).distances(&[[0, 1]], &[*row], &[self.truth()]).passed().is_ok();
        [passes(Precision::Fast), passes(Precision::Exact)]
    }

    fn contact(&self, row: &ContactRow) -> [bool; 2] {
        let passes =
            |precision| self.judge(precision).contacts(&[[0, 1]], &[*row], &[self.truth()]).passed().is_ok();
        [passes(Precision::Fast), passes(Precision::Exact)]
    }

    fn manifold(&self, row: &ManifoldRow) -> [bool; 2] {
        let passes = |precision| {
            let rows = std::slice::from_ref(row);
            self.judge(precision).manifolds(&[[0, 1]], rows, &[self.truth()]).passed().is_ok()
        };
        [passes(Precision::Fast), passes(Precision::Exact)]
    }
}

const RIGHT: [bool; 2] = [true; 2];
const WRONG: [bool; 2] = [false; 2];
/// The accuracy of f32.
const ROUGH: [bool; 2] = [true, false];

/// τ of two unit-sized cubes is 1.4e-5.
const LARGE: f64 = 1e-3;
const SMALL: f64 = 1e-6;

#[test]
fn every_part_of_a_distance_is_checked() {
    let known = Known::new(cube(0.5), cube(0.5), [1.5, 0.25, 0.0]);
    let points = [[0.5, 0.25, 0.0], [1.0, 0.25, 0.0]].map(|p| known.world(p));
    let right = DistanceRow {
        verdict: Verdict::Separated,
        distance: 0.5,
        points: Some(points),
        axis: Some([1.0, 0.0, 0.0]),
    };
    assert_eq!(known.distance(&right), RIGHT);
    for (by, wanted) in [(SMALL, ROUGH), (LARGE, WRONG), (f64::NAN, WRONG)] {
        assert_eq!(known.distance(&DistanceRow { distance: 0.5 + by, ..right }), wanted, "{by}");
        for k in 0..2 {
            for axis in 0..3 {
                let mut moved = points;
                moved[k][axis] += by;
                // A point may be anywhere on the face, but then the other is too far away.
                let wanted = if axis > 0 && by == SMALL { RIGHT } else { wanted };
                let row = DistanceRow { points: Some(moved), ..right };
                assert_eq!(
                    known.distance(&row),
                    if axis > 0 && by == LARGE { ROUGH } else { wanted },
                    "{k} {axis} {by}"
                );
            }
        }
        let off = DistanceRow { axis: Some([1.0, by, 0.0]), ..right };
        assert_eq!(known.distance(&off), wanted, "axis {by}");
    }
    for bad in [
        DistanceRow { verdict: Verdict::Touching, ..right },
        DistanceRow { verdict: Verdict::Penetrating, ..right },
        DistanceRow { points: None, ..right },
        DistanceRow { axis: None, ..right },
        DistanceRow { axis: Some([-1.0, 0.0, 0.0]), ..right },
        DistanceRow { axis: Some([0.999, 0.0, 0.0]), ..right },
        DistanceRow { points: Some([points[1], points[0]]), ..right },
        // Both points outside by a step, at the same distance.
        DistanceRow { points: Some(points.map(|[x, y, z]| [x, y + 1.0, z])), ..right },
    ] {
        assert_eq!(known.distance(&bad), WRONG, "{bad:?}");
    }
    let deep = Known::new(cube(0.5), cube(0.5), [0.5, 0.0, 0.0]);
    let inside = DistanceRow { verdict: Verdict::Penetrating, distance: 0.0, points: None, axis: None };
    assert_eq!(deep.distance(&inside), RIGHT);
    assert_eq!(deep.distance(&DistanceRow { points: Some(points), ..inside }), WRONG);
    assert_eq!(deep.distance(&DistanceRow { axis: right.axis, ..inside }), WRONG);
    assert_eq!(deep.distance(&right), WRONG);
}

#[test]
fn every_part_of_a_contact_is_checked() {
    // A rounded cube on another, 0.25 deep.
    let known = Known::new(cube(0.5), cube(0.25).rounded(0.25), [0.125, 0.75, 0.0]);
    assert_eq!(known.truth().gap, -0.25);
    let points = [[0.125, 0.5, 0.0], [0.125, 0.25, 0.0]].map(|p| known.world(p));
    let normal = [0.0, 1.0, 0.0];
    let right = ContactRow { verdict: Verdict::Penetrating, depth: 0.25, normal, points };
    assert_eq!(known.contact(&right), RIGHT);
    for (by, wanted) in [(SMALL, ROUGH), (LARGE, WRONG), (f64::NAN, WRONG)] {
        assert_eq!(known.contact(&ContactRow { depth: 0.25 + by, ..right }), wanted);
        assert_eq!(known.contact(&ContactRow { normal: [by, 1.0, 0.0], ..right }), wanted);
        for k in 0..2 {
            for axis in 0..3 {
                let mut moved = points;
                moved[k][axis] += by;
                assert_eq!(known.contact(&ContactRow { points: moved, ..right }), wanted, "{k} {axis} {by}");
            }
        }
    }
    for bad in [
        ContactRow { verdict: Verdict::Separated, ..right },
        ContactRow { normal: [0.0, -1.0, 0.0], ..right },
        ContactRow { normal: [1.0, 0.0, 0.0], ..right },
        ContactRow { depth: -0.25, ..right },
        ContactRow { points: [points[1], points[0]], ..right },
        ContactRow { points: points.map(|[x, y, z]| [x + 0.5, y, z]), ..right },
        // Through the wrong side: it separates the bodies, but is not the least depth.
        ContactRow { depth: 1.125, normal: [1.0, 0.0, 0.0], ..right },
    ] {
        assert_eq!(known.contact(&bad), WRONG, "{bad:?}");
    }
    let apart = Known::new(cube(0.5), cube(0.5), [0.0, 1.5, 0.0]);
    let points = [[0.25, 0.5, 0.0], [0.25, 1.0, 0.0]].map(|p| apart.world(p));
    let row = ContactRow { verdict: Verdict::Separated, depth: -0.5, normal, points };
    assert_eq!(apart.contact(&row), RIGHT);
    assert_eq!(apart.contact(&ContactRow { depth: 0.5, ..row }), WRONG);
}

#[test]
fn every_point_of_a_manifold_is_checked() {
    // A cube 0.125 deep in the ground; the ground is the first body.
    let known = Known::new(Shape::half_space(), cube(0.5), [3.0, 0.375, 0.0]);
    let point = |x: f64, z: f64| ManifoldPoint {
        on_a: known.world([3.0 + x, 0.0, z]),
        on_b: known.world([3.0 + x, -0.125, z]),
        depth: 0.125,
    };
    let corners = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)];
    let right = ManifoldRow {
        verdict: Verdict::Penetrating,
        depth: 0.125,
        normal: [0.0, 1.0, 0.0],
        points: corners.map(|(x, z)| point(x, z)).to_vec(),
    };
    assert_eq!(known.manifold(&right), RIGHT);
    for count in 1..4 {
        assert_eq!(
            known.manifold(&ManifoldRow { points: right.points[..count].to_vec(), ..right.clone() }),
            RIGHT
        );
    }
    let with = |change: &dyn Fn(&mut ManifoldRow)| {
        let mut row = right.clone();
        change(&mut row);
        known.manifold(&row)
    };
    for (by, wanted) in [(SMALL, ROUGH), (LARGE, WRONG), (f64::NAN, WRONG)] {
        assert_eq!(with(&|row| row.depth += by), wanted);
        assert_eq!(with(&|row| row.points[2].depth += by), wanted);
        assert_eq!(with(&|row| row.points[2].on_a[1] += by), wanted);
        assert_eq!(with(&|row| row.points[2].on_b[0] += by), wanted);
        assert_eq!(with(&|row| row.normal[2] += by), wanted);
    }
    assert_eq!(with(&|row| row.points.clear()), WRONG);
    assert_eq!(with(&|row| row.points.push(point(0.0, 0.0))), WRONG);
    assert_eq!(with(&|row| row.points[1] = row.points[0]), WRONG);
    assert_eq!(with(&|row| row.points[1] = point(0.6, 0.0)), WRONG);
    // Both points under the surfaces, with the same depth.
    assert_eq!(
        with(&|row| {
            let low = |[x, y, z]: [f64; 3]| [x, y - 0.125, z];
            row.points[1].on_a = low(row.points[1].on_b);
            row.points[1].on_b = low(row.points[1].on_a);
        }),
        WRONG
    );
    // No point is as deep as the depth.
    assert_eq!(
        with(&|row| {
            for point in &mut row.points {
                point.depth -= 0.01;
                point.on_a[1] -= 0.01;
            }
        }),
        WRONG
    );
}

#[test]
fn the_signed_distance_of_a_point_is_known() {
    let outside = |shape: Shape, p: [f64; 3]| {
        Body64::placed(&shape, &Pose::default(), DVec3::ZERO).outside(DVec3::from(p))
    };
    let near = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-12, "{found} {wanted}");
    near(outside(cube(1.0), [1.0, 2.0, 2.0]), 2f64.sqrt());
    near(outside(cube(1.0), [0.0, 0.75, 0.5]), -0.25);
    near(outside(cube(1.0).rounded(0.5), [0.0, 0.75, 0.5]), -0.75);
    near(outside(cube(1.0).rounded(0.5), [2.0, 0.0, 0.0]), 0.5);
    near(outside(Shape::new(&[[0.0; 3]]).rounded(1.0), [0.0, 3.0, 4.0]), 4.0);
    let segment = Shape::new(&[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]);
    near(outside(segment.clone(), [0.5, 0.0, 2.0]), 2.0);
    near(outside(segment.rounded(0.5), [4.0, 4.0, 0.0]), 4.5);
    let triangle = Shape::new(&[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    near(outside(triangle, [0.25, 0.25, -3.0]), 3.0);
    near(outside(Shape::half_space().rounded(0.25), [9.0, 1.0, 9.0]), 0.75);
}

#[test]
fn a_list_with_a_margin_is_checked() {
    let truth = |gap: f64| Truth {
        gap,
        tau: 1e-5,
        radius_sum: 2.0,
        radius: 1.0,
        axis: [1.0, 0.0, 0.0],
        slack: 0.0,
        exact: true,
    };
    let pairs = [[0, 1], [0, 2], [1, 2], [1, 3]];
    let truths = [truth(-0.5), truth(0.25), truth(0.5), truth(0.500_005)];
    let fails = |found: &[[u32; 2]], margin: f64| listed(found, &pairs, &truths, margin).is_err();
    assert!(!fails(&[[0, 1], [0, 2]], 0.3));
    assert!(!fails(&[[0, 1]], 0.0));
    // A pair at the margin may be listed or not.
    assert!(!fails(&[[0, 1], [0, 2], [1, 2]], 0.5) && !fails(&[[0, 1], [0, 2], [1, 3]], 0.5));
    assert!(fails(&[[0, 1]], 0.3), "one missing");
    assert!(fails(&[[0, 1], [0, 2], [1, 2]], 0.3), "one too many");
    assert!(fails(&[[0, 2], [0, 1]], 0.3), "out of order");
    assert!(fails(&[[0, 1], [0, 2], [2, 3]], 0.3), "one that can't be");
    assert!(fails(&[[1, 0], [0, 2]], 0.3), "b before a");
}

/// Rows made from the true nearest features of random pairs pass.
#[test]
fn true_rows_pass_and_rows_of_another_pair_fail() {
    let scene = round_pairs(Near { count: 500, rounded: 0.2, stretch: 2.0, ..Near::default() });
    let shapes = scene.shapes();
    let truths = whole_truths(&shapes, &scene.bodies, &scene.pairs);
    let judge = Judge { shapes: &shapes, bodies: &scene.bodies, precision: Precision::Exact };
    let mut rows = Vec::new();
    let mut kept: (Vec<[u32; 2]>, Vec<Truth>) = (Vec::new(), Vec::new());
    for (&pair, truth) in scene.pairs.iter().zip(&truths) {
        let case = judge.case(pair, truth);
        let nearest = crate::nearest::nearest(&case.a, &case.b, None);
        let Some(axis) = (nearest.on_b - nearest.on_a).try_normalize() else { continue };
        if truth.gap <= 1e-3 * truth.radius_sum {
            continue;
        }
        let [p, q] = [nearest.on_a + axis * case.a.rounding, nearest.on_b - axis * case.b.rounding];
        rows.push(DistanceRow {
            verdict: Verdict::Separated,
            distance: truth.gap,
            points: Some([p, q].map(|p| (p + case.origin).to_array())),
            axis: Some(axis.to_array()),
        });
        kept.0.push(pair);
        kept.1.push(*truth);
    }
    assert!(rows.len() > 100, "{}", rows.len());
    let accuracy = judge.distances(&kept.0, &rows, &kept.1);
    accuracy.passed().unwrap();
    assert_eq!((accuracy.checked_count, accuracy.worst_of_sum), (rows.len(), 0.0));
    // The row of another pair fails.
    rows.rotate_left(1);
    assert!(judge.distances(&kept.0, &rows, &kept.1).failures.len() * 10 > 9 * rows.len());
}

#[test]
fn percentiles_are_computed() {
    let values: Vec<f64> = (1..=200).map(f64::from).collect();
    assert_eq!((percentile_99(&values), largest(&values)), (198.0, 200.0));
    assert_eq!((percentile_99(&[]), largest(&[])), (0.0, 0.0));
    assert_eq!(percentile_99(&[3.0]), 3.0);
}
