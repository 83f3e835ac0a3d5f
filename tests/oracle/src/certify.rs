//! The separation of two placed point sets along an axis.

use glam::DVec3;

use crate::gap::{self, bodies64};
use crate::{Pose, Shape};

/// The separation of two placed point sets along an axis, in world units: the lowest projection of the second's points minus the
/// highest of the first's. A value > 0 proves that the hulls are at least that far apart.
///
/// `axis` is a vector of the world frame from the first to the second; it is normalised in f64. Every point is projected,
/// relative to the first body's position. An axis without a direction (zero or not finite) gives −∞, which proves nothing.
///
/// # Panics
/// If a point set is empty.
pub fn separation(axis: [f32; 3], a: &[[f32; 3]], pose_a: &Pose, b: &[[f32; 3]], pose_b: &Pose) -> f64 {
    assert!(!a.is_empty() && !b.is_empty(), "a point set is empty");
    let axis = DVec3::from(axis.map(f64::from));
    let Some(n) = axis.try_normalize() else { return f64::NEG_INFINITY };
    // n · (rotation · (scale ⊙ v)) = (scale ⊙ (rotation⁻¹ · n)) · v
    let local = |pose: &Pose| pose.scale64() * (pose.rotation64().inverse() * n);
    let (local_a, local_b) = (local(pose_a), local(pose_b));
    let project = |v: &[f32; 3], m: DVec3| m.dot(DVec3::from(v.map(f64::from)));
    let high = a.iter().map(|v| project(v, local_a)).fold(f64::NEG_INFINITY, f64::max);
    let low = b.iter().map(|v| project(v, local_b)).fold(f64::INFINITY, f64::min);
    n.dot(pose_b.position64() - pose_a.position64()) + low - high
}

/// The separation of two placed shapes along an axis, with their rounding. For a half-space only its normal, to within 1e-5,
/// gives one; any other axis gives −∞.
///
/// # Panics
/// If both are half-spaces.
pub fn shown(axis: [f64; 3], a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> f64 {
    let Some(n) = DVec3::from(axis).try_normalize() else { return f64::NEG_INFINITY };
    let (a, b) = bodies64(a, pose_a, b, pose_b);
    gap::rounded_separation(&a, &b, n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gap;
    use crate::random::Random;
    use crate::scenes::{Kind, convex_set};

    #[test]
    fn the_separation_is_the_gap_along_its_axis_and_at_most_the_gap_along_others() {
        let mut random = Random::new(3);
        for _ in 0..100 {
            let a = convex_set(&mut random, Kind::Ball, 20);
            let b = convex_set(&mut random, Kind::Ellipsoid, 20);
            let pose_a =
                Pose { rotation: random.rotation(), scale: [1.0, 0.5, 2.0], ..Pose::at([100.0, 0.0, 7.0]) };
            let far = random.direction() * random.between(1.0, 4.0) + pose_a.position64();
            let pose_b = Pose { rotation: random.rotation(), ..Pose::at(far.as_vec3().to_array()) };
            let found = gap(&Shape::new(&a), &pose_a, &Shape::new(&b), &pose_b);
            let shown = separation(found.axis.map(|x| x as f32), &a, &pose_a, &b, &pose_b);
            assert!((shown - found.gap).abs() < 1e-6, "{shown} {found:?}");
            let other = random.direction().as_vec3().to_array();
            assert!(separation(other, &a, &pose_a, &b, &pose_b) <= found.gap + 1e-12);
        }
    }

    #[test]
    fn an_axis_without_direction_proves_nothing() {
        let p = [[0.0f32; 3]];
        for axis in [[0.0; 3], [f32::NAN, 0.0, 0.0]] {
            let shown = separation(axis, &p, &Pose::default(), &p, &Pose::at([9.0, 0.0, 0.0]));
            assert_eq!(shown, f64::NEG_INFINITY);
        }
    }
}
