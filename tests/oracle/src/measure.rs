//! Checks distances, contacts and manifolds against the truth. Numbers must be within their tolerance. Points, axes and normals
//! are checked separately: by projection in f64, and by the distance of a point to a shape.
//!
//! The tolerances, in world units: τ of the pair for [`Precision::Fast`], 1e-9 S for [`Precision::Exact`], plus the rounding of
//! world coordinates to f64, plus the slack of the truth itself. Positions of points are less accurate than depths, because the facet of the Minkowski difference
//! may be a sliver with an uncertain normal: with [`Precision::Exact`] points may be 1e-8 S outside of their bodies. A manifold
//! takes nearly coplanar faces as one: its points may be 1e-6 S off the surface, and their depths are within τ.

use glam::DVec3;
use rayon::prelude::*;

use crate::body64::Body64;
use crate::compare::violation;
use crate::gap::{bodies64, rounded_separation};
use crate::{Placed, Shape, Truth, Verdict};

/// The precision to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// Within τ.
    Fast,
    /// Within 1e-9 of the sum S of the bounding radii.
    Exact,
}

/// A distance under test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistanceRow {
    /// The verdict.
    pub verdict: Verdict,
    /// World units; 0 for overlapping bodies.
    pub distance: f64,
    /// On the first, on the second, world frame.
    pub points: Option<[[f64; 3]; 2]>,
    /// Unit axis from the first to the second.
    pub axis: Option<[f64; 3]>,
}

/// A contact under test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactRow {
    /// The verdict.
    pub verdict: Verdict,
    /// World units; minus the distance of separated bodies.
    pub depth: f64,
    /// Unit normal from the first to the second.
    pub normal: [f64; 3],
    /// On the first, on the second, world frame.
    pub points: [[f64; 3]; 2],
}

/// One point of a manifold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ManifoldPoint {
    /// On the first, world frame.
    pub on_a: [f64; 3],
    /// On the second, world frame.
    pub on_b: [f64; 3],
    /// World units; negative if the surfaces are separated there.
    pub depth: f64,
}

/// A manifold under test.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifoldRow {
    /// The verdict.
    pub verdict: Verdict,
    /// World units; minus the distance of separated bodies.
    pub depth: f64,
    /// Unit normal from the first to the second.
    pub normal: [f64; 3],
    /// One to four points.
    pub points: Vec<ManifoldPoint>,
}

/// The errors of the answers, and the wrong ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Accuracy {
    /// The number of checked pairs.
    pub checked_count: usize,
    /// |error| of the distance of each separated pair, relative to τ.
    pub distance_errors: Vec<f64>,
    /// |error| of the depth of each overlapping pair, relative to the smaller radius R, or to S if that is 0.
    pub depth_errors: Vec<f64>,
    /// The largest |error| relative to the sum S of the radii.
    pub worst_of_sum: f64,
    /// A message for each wrong answer.
    pub failures: Vec<String>,
}

/// The largest value, 0 of none.
pub fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// The 99th percentile, 0 of none.
pub fn percentile_99(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let place = (0.99 * sorted.len() as f64).ceil() as usize;
    place.checked_sub(1).map_or(0.0, |last| sorted[last])
}

impl Accuracy {
    fn joined(mut self, other: Self) -> Self {
        self.checked_count += other.checked_count;
        self.distance_errors.extend(other.distance_errors);
        self.depth_errors.extend(other.depth_errors);
        self.worst_of_sum = self.worst_of_sum.max(other.worst_of_sum);
        self.failures.extend(other.failures);
        self
    }

    /// Checks that there are no failures.
    ///
    /// # Errors
    /// The number of failures and the first ten.
    pub fn passed(&self) -> Result<(), String> {
        if self.failures.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> = self.failures.iter().take(10).map(|text| format!("\n  {text}")).collect();
        Err(format!("{} of {} answers fail:{}", self.failures.len(), self.checked_count, lines.concat()))
    }
}

impl std::fmt::Display for Accuracy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} pairs; distance error / τ: max {:.3}, p99 {:.3}; depth error / R: max {:.1e}, p99 {:.1e}; of S: {:.1e}; {} wrong",
            self.checked_count,
            largest(&self.distance_errors),
            percentile_99(&self.distance_errors),
            largest(&self.depth_errors),
            percentile_99(&self.depth_errors),
            self.worst_of_sum,
            self.failures.len()
        )
    }
}

/// Checks the answers for a scene.
#[derive(Debug, Clone, Copy)]
pub struct Judge<'a> {
    /// The shapes, made from the vertices that the library uses.
    pub shapes: &'a [Shape],
    /// The bodies.
    pub bodies: &'a [Placed],
    /// The precision to check.
    pub precision: Precision,
}

impl Judge<'_> {
    /// Checks the distances of pairs, in the pairs' order.
    ///
    /// # Panics
    /// If the lists differ in length, or an index is out of range.
    pub fn distances(&self, pairs: &[[u32; 2]], rows: &[DistanceRow], truths: &[Truth]) -> Accuracy {
        self.all(pairs, rows, truths, Case::distance)
    }

    /// Checks the contacts of pairs, in the pairs' order.
    ///
    /// # Panics
    /// As [`Judge::distances`].
    pub fn contacts(&self, pairs: &[[u32; 2]], rows: &[ContactRow], truths: &[Truth]) -> Accuracy {
        self.all(pairs, rows, truths, |case, row| {
            case.contact(row.depth, row.normal)?;
            case.contact_points(row.points, row.depth, row.normal, case.point_tolerance)
        })
    }

    /// Checks the manifolds of pairs, in the pairs' order.
    ///
    /// # Panics
    /// As [`Judge::distances`].
    pub fn manifolds(&self, pairs: &[[u32; 2]], rows: &[ManifoldRow], truths: &[Truth]) -> Accuracy {
        self.all(pairs, rows, truths, Case::manifold)
    }

    fn all<R: Answer + Sync>(
        &self,
        pairs: &[[u32; 2]],
        rows: &[R],
        truths: &[Truth],
        check: impl Fn(&Case, &R) -> Result<(), String> + Sync,
    ) -> Accuracy {
        assert_eq!(pairs.len(), rows.len(), "a row for each pair");
        assert_eq!(pairs.len(), truths.len(), "a truth for each pair");
        let one = |k: usize| {
            let case = self.case(pairs[k], &truths[k]);
            let row = &rows[k];
            let mut accuracy = Accuracy { checked_count: 1, ..Accuracy::default() };
            let done = case.verdict(row.verdict()).and_then(|()| check(&case, row));
            if let Err(text) = done {
                let truth = &truths[k];
                accuracy.failures.push(format!(
                    "({}, {}), gap {:e} (τ {:e}, R {:e}, S {:e}): {text}",
                    pairs[k][0], pairs[k][1], truth.gap, truth.tau, truth.radius, truth.radius_sum
                ));
            }
            case.measure(row.gap(), row.has_depth(), &mut accuracy);
            accuracy
        };
        let joined = |a: Accuracy, b: Accuracy| a.joined(b);
        (0..pairs.len())
            .into_par_iter()
            .map(one)
            .fold(Accuracy::default, joined)
            .reduce(Accuracy::default, joined)
    }

    fn case(&self, [a, b]: [u32; 2], truth: &Truth) -> Case {
        let [at_a, at_b] = [a, b].map(|k| &self.bodies[k as usize]);
        let [shape_a, shape_b] = [at_a, at_b].map(|body| &self.shapes[body.hull as usize]);
        let (a, b) = bodies64(shape_a, &at_a.pose, shape_b, &at_b.pose);
        let origin = at_a.pose.position64();
        let coordinate = origin.abs().max_element().max(at_b.pose.position64().abs().max_element());
        let tolerance = match self.precision {
            Precision::Fast => truth.tau,
            Precision::Exact => 1e-9 * truth.radius_sum,
        };
        let (unit_tolerance, point_tolerance, manifold_tolerance) = match self.precision {
            Precision::Fast => (1e-6, truth.tau, truth.tau),
            Precision::Exact => (1e-9, 1e-8 * truth.radius_sum, 1e-6 * truth.radius_sum),
        };
        // The height of a body over a half-space is a difference of numbers as large as its distance along the plane, or as its
        // rounding.
        let has_half_space = a.plane.is_some() || b.plane.is_some();
        let reach = if has_half_space { a.centre.distance(b.centre) + a.rounding + b.rounding } else { 0.0 };
        let rounding_error = 4.0 * f64::EPSILON * coordinate + 16.0 * f64::EPSILON * reach;
        Case {
            a,
            b,
            origin,
            truth: *truth,
            tolerance: tolerance + truth.slack + rounding_error,
            point_tolerance: point_tolerance + rounding_error,
            manifold_tolerance: manifold_tolerance + rounding_error,
            unit_tolerance,
        }
    }
}

/// The parts that every answer has.
trait Answer {
    fn verdict(&self) -> Verdict;
    /// The signed gap of the answer.
    fn gap(&self) -> f64;
    /// Whether the answer gives the depth of an overlap.
    fn has_depth(&self) -> bool;
}

impl Answer for DistanceRow {
    fn verdict(&self) -> Verdict {
        self.verdict
    }
    fn gap(&self) -> f64 {
        self.distance
    }
    fn has_depth(&self) -> bool {
        false
    }
}

impl Answer for ContactRow {
    fn verdict(&self) -> Verdict {
        self.verdict
    }
    fn gap(&self) -> f64 {
        -self.depth
    }
    fn has_depth(&self) -> bool {
        true
    }
}

impl Answer for ManifoldRow {
    fn verdict(&self) -> Verdict {
        self.verdict
    }
    fn gap(&self) -> f64 {
        -self.depth
    }
    fn has_depth(&self) -> bool {
        true
    }
}

/// A pair in f64, relative to the first body's position.
struct Case {
    a: Body64,
    b: Body64,
    origin: DVec3,
    truth: Truth,
    /// The allowed error of a length, in world units.
    tolerance: f64,
    /// The allowed distance of a point outside of its body, in world units.
    point_tolerance: f64,
    /// The allowed distance of a manifold's point from the surface, in world units.
    manifold_tolerance: f64,
    /// The allowed error of a unit vector's length.
    unit_tolerance: f64,
}

impl Case {
    fn verdict(&self, verdict: Verdict) -> Result<(), String> {
        match violation(verdict, &self.truth) {
            None => Ok(()),
            Some((expected, reason)) => Err(format!("{verdict:?}, expected {expected:?}: {reason}")),
        }
    }

    /// Adds the error of the answer.
    fn measure(&self, gap: f64, has_depth: bool, accuracy: &mut Accuracy) {
        let Truth { gap: truth, tau, radius, radius_sum, .. } = self.truth;
        let error = match (truth > 0.0, has_depth) {
            (true, _) | (_, true) => (gap - truth).abs(),
            _ => gap.abs(),
        };
        let size = if radius > 0.0 { radius } else { radius_sum };
        // NaN counts as an infinite error.
        let share = |of: f64| {
            if error.is_nan() {
                f64::INFINITY
            } else if error == 0.0 {
                0.0
            } else {
                error / of
            }
        };
        if truth > 0.0 {
            accuracy.distance_errors.push(share(tau));
        } else if has_depth {
            accuracy.depth_errors.push(share(size));
        }
        accuracy.worst_of_sum = accuracy.worst_of_sum.max(share(radius_sum));
    }

    fn near(&self, what: &str, found: f64, expected: f64) -> Result<(), String> {
        if (found - expected).abs() <= self.tolerance {
            return Ok(());
        }
        Err(format!(
            "{what} is {found:e}, not {expected:e}: off by {:e}, {:e} allowed",
            found - expected,
            self.tolerance
        ))
    }

    fn unit(&self, what: &str, n: [f64; 3]) -> Result<DVec3, String> {
        let n = DVec3::from(n);
        if (n.length() - 1.0).abs() <= self.unit_tolerance {
            Ok(n)
        } else {
            Err(format!("{what} {n} is {} long", n.length()))
        }
    }

    fn within(&self, what: &str, body: &Body64, point: [f64; 3], tolerance: f64) -> Result<(), String> {
        let outside = body.outside(DVec3::from(point) - self.origin);
        if outside <= tolerance {
            return Ok(());
        }
        Err(format!("{what} is {outside:e} outside, {tolerance:e} allowed"))
    }

    fn distance(&self, row: &DistanceRow) -> Result<(), String> {
        self.near("the distance", row.distance, self.truth.gap.max(0.0))?;
        if row.distance < 0.0 {
            return Err(format!("a distance of {:e}", row.distance));
        }
        if row.verdict == Verdict::Penetrating {
            if row.distance != 0.0 || row.points.is_some() || row.axis.is_some() {
                return Err("a penetrating pair with a distance, points or an axis".into());
            }
            return Ok(());
        }
        let separated = row.verdict == Verdict::Separated;
        if separated && (row.axis.is_none() || row.points.is_none()) {
            return Err("a separated pair without its axis or its points".into());
        }
        // Touching bodies may overlap. Then the axis and the points give the overlap, not the distance of 0.
        let overlap = if separated { 0.0 } else { (-self.truth.gap).max(0.0) };
        if let Some(axis) = row.axis {
            let axis = self.unit("the axis", axis)?;
            let shown = rounded_separation(&self.a, &self.b, axis);
            let separates = shown > 0.0 || !separated;
            let is_enough = shown >= row.distance - overlap - self.tolerance;
            if !separates || !is_enough {
                return Err(format!(
                    "the separation along the axis is {shown:e}, the distance {:e}",
                    row.distance
                ));
            }
        }
        if let Some([p, q]) = row.points {
            // For overlapping bodies the two points may be one, in either body.
            if overlap == 0.0 || p != q {
                self.within("the first point", &self.a, p, self.point_tolerance)?;
                self.within("the second point", &self.b, q, self.point_tolerance)?;
            } else if self.within("the point", &self.a, p, self.point_tolerance).is_err() {
                self.within("the point", &self.b, p, self.point_tolerance)?;
            }
            let apart = DVec3::from(p).distance(DVec3::from(q));
            if !(row.distance..=row.distance + overlap).contains(&apart) {
                let expected = row.distance + if apart > row.distance { overlap } else { 0.0 };
                self.near("the points' distance", apart, expected)?;
            }
        }
        Ok(())
    }

    /// Checks the depth, and that moving the second by it along the normal separates the two.
    fn contact(&self, depth: f64, normal: [f64; 3]) -> Result<(), String> {
        self.near("the depth", depth, -self.truth.gap)?;
        let normal = self.unit("the normal", normal)?;
        let left = rounded_separation(&self.a, &self.b, normal) + depth;
        if left >= -self.tolerance {
            return Ok(());
        }
        Err(format!("moved by the depth {depth:e} they overlap by {:e}, {:e} allowed", -left, self.tolerance))
    }

    /// Checks that the points are on their bodies to within `tolerance`, and differ by the depth along the normal.
    fn contact_points(
        &self,
        [p, q]: [[f64; 3]; 2],
        depth: f64,
        normal: [f64; 3],
        tolerance: f64,
    ) -> Result<(), String> {
        self.within("the first point", &self.a, p, tolerance)?;
        self.within("the second point", &self.b, q, tolerance)?;
        let off = DVec3::from(p) - DVec3::from(q) - DVec3::from(normal) * depth;
        if off.length() <= self.tolerance {
            return Ok(());
        }
        Err(format!(
            "the difference of the points is off by {:e}, {:e} allowed",
            off.length(),
            self.tolerance
        ))
    }

    fn manifold(&self, row: &ManifoldRow) -> Result<(), String> {
        self.contact(row.depth, row.normal)?;
        if row.points.is_empty() || row.points.len() > 4 {
            return Err(format!("{} points", row.points.len()));
        }
        for (k, point) in row.points.iter().enumerate() {
            let with_index = |text: String| format!("point {k}: {text}");
            self.contact_points([point.on_a, point.on_b], point.depth, row.normal, self.manifold_tolerance)
                .map_err(with_index)?;
            for (what, body, at) in [("the first", &self.a, point.on_a), ("the second", &self.b, point.on_b)]
            {
                let outside = body.outside(DVec3::from(at) - self.origin);
                if outside < -self.manifold_tolerance {
                    return Err(format!("point {k} is {:e} under the surface of {what}", -outside));
                }
            }
            if point.depth > row.depth + self.manifold_tolerance.max(self.truth.tau) {
                return Err(format!("point {k} is {:e} deep, deeper than {:e}", point.depth, row.depth));
            }
            if row.points[..k].iter().any(|other| other.on_a == point.on_a && other.on_b == point.on_b) {
                return Err(format!("point {k} is there twice"));
            }
        }
        let deepest = row.points.iter().map(|p| p.depth).fold(f64::NEG_INFINITY, f64::max);
        if (deepest - row.depth).abs() <= self.manifold_tolerance.max(self.truth.tau) {
            return Ok(());
        }
        Err(format!(
            "the deepest point is {deepest:e} deep, not {:e}, {:e} allowed",
            row.depth, self.manifold_tolerance
        ))
    }
}

/// Checks the pairs of a query of all bodies with a margin. They must be sorted by (a, b), a < b, each once, and be those of
/// `pairs` with a gap of at most the margin; within τ of the margin either is right. A listed pair that is not among `pairs` is
/// wrong, so give every pair that could be that near.
///
/// # Errors
/// A message with the first pair that is out of order, missing or extra.
///
/// # Panics
/// If the pairs and truths differ in length.
pub fn listed(found: &[[u32; 2]], pairs: &[[u32; 2]], truths: &[Truth], margin: f64) -> Result<(), String> {
    assert_eq!(pairs.len(), truths.len(), "a truth for each pair");
    if let Some([a, b]) = found.iter().find(|[a, b]| a >= b) {
        return Err(format!("the list holds ({a}, {b}), not a < b"));
    }
    if let Some(w) = found.windows(2).find(|w| w[0] >= w[1]) {
        return Err(format!("the list holds {:?} before {:?}", w[0], w[1]));
    }
    let mut known = 0;
    for (pair, truth) in pairs.iter().zip(truths) {
        let is_listed = found.binary_search(pair).is_ok();
        known += usize::from(is_listed);
        if is_listed && truth.gap > margin + truth.tau {
            return Err(format!("{pair:?} is listed, {:e} beyond the margin {margin:e}", truth.gap - margin));
        }
        if !is_listed && truth.gap < margin - truth.tau {
            return Err(format!("{pair:?} is missing, its gap {:e} within the margin {margin:e}", truth.gap));
        }
    }
    if known < found.len() {
        return Err(format!("{} listed pairs are not among those that could be near", found.len() - known));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
