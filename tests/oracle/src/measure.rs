//! Distances, contacts and manifolds against the truth: the numbers within their tolerance, and what comes with them
//! (points, axes, normals) checked on its own by f64 projection and by the distance of a point to a shape.
//!
//! What is permitted, in world units: τ of the pair for [`Precision::Fast`], 1e-9 S for [`Precision::Exact`]; to
//! points of the world frame, what rounding coordinates of that size to f64 costs is granted. Where points lie is known
//! less well than how deep: the facet of the Minkowski difference that they are on may be a sliver, whose normal f64 knows
//! to its width only. For [`Precision::Exact`] they may lie 1e-8 S outside of their bodies. The points of a manifold are
//! those of faces, and nearly coplanar faces are one face: they may lie 1e-6 S off the surface even then, and their
//! depths are within τ.

use glam::DVec3;
use rayon::prelude::*;

use crate::body64::Body64;
use crate::compare::broken;
use crate::gap::{bodies64, shown};
use crate::{Placed, Shape, Truth, Verdict};

/// Which of the two promises is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// Within τ.
    Fast,
    /// Within 1e-9 of the sum S of the bounding radii.
    Exact,
}

/// What is said of a pair's distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistanceRow {
    /// The verdict.
    pub verdict: Verdict,
    /// World units; 0 where overlapping.
    pub distance: f64,
    /// On the first, on the second, world frame.
    pub points: Option<[[f64; 3]; 2]>,
    /// Unit axis from the first to the second.
    pub axis: Option<[f64; 3]>,
}

/// What is said of a pair's contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactRow {
    /// The verdict.
    pub verdict: Verdict,
    /// World units; minus the distance where apart.
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
    /// World units; negative where the surfaces are apart there.
    pub depth: f64,
}

/// What is said of a pair's manifold.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifoldRow {
    /// The verdict.
    pub verdict: Verdict,
    /// World units; minus the distance where apart.
    pub depth: f64,
    /// Unit normal from the first to the second.
    pub normal: [f64; 3],
    /// One to four.
    pub points: Vec<ManifoldPoint>,
}

/// How accurate the answers are, and which break a promise.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Accuracy {
    /// How many pairs were checked.
    pub checked_count: usize,
    /// |error| of each distance (pairs apart), as a share of its τ.
    pub distance_errors: Vec<f64>,
    /// |error| of each depth (pairs that overlap), as a share of the smaller radius R; of a pair of points, of S.
    pub depth_errors: Vec<f64>,
    /// The largest |error| of any as a share of the sum S of the radii.
    pub worst_of_sum: f64,
    /// What broke a promise, in words.
    pub failures: Vec<String>,
}

/// The largest, 0 of none.
pub fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// The value that 99 of 100 do not exceed, 0 of none.
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

    /// Says nothing where nothing failed.
    ///
    /// # Errors
    /// A text of the number of failures and the first ten.
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

/// The shapes and bodies that answers are about.
#[derive(Debug, Clone, Copy)]
pub struct Judge<'a> {
    /// The shapes, made of the vertices that the library uses.
    pub shapes: &'a [Shape],
    /// The bodies.
    pub bodies: &'a [Placed],
    /// What is promised.
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
            case.meeting_points(row.points, row.depth, row.normal, case.astray)
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
            case.measure(row.gap(), row.knows_depth(), &mut accuracy);
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
        let permitted = match self.precision {
            Precision::Fast => truth.tau,
            Precision::Exact => 1e-9 * truth.radius_sum,
        };
        let (unit, astray, merged) = match self.precision {
            Precision::Fast => (1e-6, truth.tau, truth.tau),
            Precision::Exact => (1e-9, 1e-8 * truth.radius_sum, 1e-6 * truth.radius_sum),
        };
        // Of a half-space's partner far along the plane, heights are differences of numbers as large as the way there, or
        // as its rounding.
        let is_ground = a.plane.is_some() || b.plane.is_some();
        let way = if is_ground { a.centre.distance(b.centre) + a.rounding + b.rounding } else { 0.0 };
        let grain = 4.0 * f64::EPSILON * coordinate + 16.0 * f64::EPSILON * way;
        Case {
            a,
            b,
            origin,
            truth: *truth,
            permitted: permitted + grain,
            astray: astray + grain,
            merged: merged + grain,
            unit,
        }
    }
}

/// What every kind of answer has.
trait Answer {
    fn verdict(&self) -> Verdict;
    /// The signed gap that the answer says.
    fn gap(&self) -> f64;
    /// False where an overlap's depth is not said.
    fn knows_depth(&self) -> bool;
}

impl Answer for DistanceRow {
    fn verdict(&self) -> Verdict {
        self.verdict
    }
    fn gap(&self) -> f64 {
        self.distance
    }
    fn knows_depth(&self) -> bool {
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
    fn knows_depth(&self) -> bool {
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
    fn knows_depth(&self) -> bool {
        true
    }
}

/// One pair, in f64 about the first body's position.
struct Case {
    a: Body64,
    b: Body64,
    origin: DVec3,
    truth: Truth,
    /// How far any length may be off, in world units.
    permitted: f64,
    /// How far outside of its body a point may lie, in world units.
    astray: f64,
    /// How far off the surface a manifold's point may lie, in world units.
    merged: f64,
    /// How far a unit vector's length may be off.
    unit: f64,
}

impl Case {
    fn verdict(&self, verdict: Verdict) -> Result<(), String> {
        match broken(verdict, &self.truth) {
            None => Ok(()),
            Some((wanted, reason)) => Err(format!("{verdict:?} where {wanted:?}: {reason}")),
        }
    }

    /// Adds how far the answer is off.
    fn measure(&self, gap: f64, knows_depth: bool, accuracy: &mut Accuracy) {
        let Truth { gap: truth, tau, radius, radius_sum, .. } = self.truth;
        let error = match (truth > 0.0, knows_depth) {
            (true, _) | (_, true) => (gap - truth).abs(),
            _ => gap.abs(),
        };
        let size = if radius > 0.0 { radius } else { radius_sum };
        // A NaN is the largest error there is.
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
        } else if knows_depth {
            accuracy.depth_errors.push(share(size));
        }
        accuracy.worst_of_sum = accuracy.worst_of_sum.max(share(radius_sum));
    }

    fn near(&self, what: &str, found: f64, wanted: f64) -> Result<(), String> {
        if (found - wanted).abs() <= self.permitted {
            return Ok(());
        }
        Err(format!(
            "{what} is {found:e}, not {wanted:e}: off by {:e}, {:e} permitted",
            found - wanted,
            self.permitted
        ))
    }

    fn unit(&self, what: &str, n: [f64; 3]) -> Result<DVec3, String> {
        let n = DVec3::from(n);
        if (n.length() - 1.0).abs() <= self.unit {
            Ok(n)
        } else {
            Err(format!("{what} {n} is {} long", n.length()))
        }
    }

    fn within(&self, what: &str, body: &Body64, point: [f64; 3], permitted: f64) -> Result<(), String> {
        let outside = body.outside(DVec3::from(point) - self.origin);
        if outside <= permitted {
            return Ok(());
        }
        Err(format!("{what} lies {outside:e} outside, {permitted:e} permitted"))
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
        // Touching bodies may overlap: an axis or two points then show that, not the distance of 0.
        let overlap = if separated { 0.0 } else { (-self.truth.gap).max(0.0) };
        if let Some(axis) = row.axis {
            let axis = self.unit("the axis", axis)?;
            let shown = shown(&self.a, &self.b, axis);
            let parts = shown > 0.0 || !separated;
            let enough = shown >= row.distance - overlap - self.permitted;
            if !parts || !enough {
                return Err(format!("the axis shows {shown:e} of the distance {:e}", row.distance));
            }
        }
        if let Some([p, q]) = row.points {
            // Where they overlap, one point of either may do for both.
            if overlap == 0.0 || p != q {
                self.within("the first point", &self.a, p, self.astray)?;
                self.within("the second point", &self.b, q, self.astray)?;
            } else if self.within("the point", &self.a, p, self.astray).is_err() {
                self.within("the point", &self.b, p, self.astray)?;
            }
            let apart = DVec3::from(p).distance(DVec3::from(q));
            if !(row.distance..=row.distance + overlap).contains(&apart) {
                let wanted = row.distance + if apart > row.distance { overlap } else { 0.0 };
                self.near("the points' distance", apart, wanted)?;
            }
        }
        Ok(())
    }

    /// The depth, and that moving the second along the normal by it parts the two.
    fn contact(&self, depth: f64, normal: [f64; 3]) -> Result<(), String> {
        self.near("the depth", depth, -self.truth.gap)?;
        let normal = self.unit("the normal", normal)?;
        let left = shown(&self.a, &self.b, normal) + depth;
        if left >= -self.permitted {
            return Ok(());
        }
        Err(format!(
            "moved by the depth {depth:e} they overlap by {:e}, {:e} permitted",
            -left, self.permitted
        ))
    }

    /// The points lie on their bodies to within `permitted`, and apart as the depth and the normal say.
    fn meeting_points(
        &self,
        [p, q]: [[f64; 3]; 2],
        depth: f64,
        normal: [f64; 3],
        permitted: f64,
    ) -> Result<(), String> {
        self.within("the first point", &self.a, p, permitted)?;
        self.within("the second point", &self.b, q, permitted)?;
        let off = DVec3::from(p) - DVec3::from(q) - DVec3::from(normal) * depth;
        if off.length() <= self.permitted {
            return Ok(());
        }
        Err(format!(
            "the points differ by the depth times the normal and {:e}, {:e} permitted",
            off.length(),
            self.permitted
        ))
    }

    fn manifold(&self, row: &ManifoldRow) -> Result<(), String> {
        self.contact(row.depth, row.normal)?;
        if row.points.is_empty() || row.points.len() > 4 {
            return Err(format!("{} points", row.points.len()));
        }
        for (k, point) in row.points.iter().enumerate() {
            let named = |text: String| format!("point {k}: {text}");
            self.meeting_points([point.on_a, point.on_b], point.depth, row.normal, self.merged)
                .map_err(named)?;
            for (what, body, at) in [("the first", &self.a, point.on_a), ("the second", &self.b, point.on_b)]
            {
                let outside = body.outside(DVec3::from(at) - self.origin);
                if outside < -self.merged {
                    return Err(format!("point {k} lies {:e} under the surface of {what}", -outside));
                }
            }
            if point.depth > row.depth + self.merged.max(self.truth.tau) {
                return Err(format!("point {k} is {:e} deep, deeper than {:e}", point.depth, row.depth));
            }
            if row.points[..k].iter().any(|other| other.on_a == point.on_a && other.on_b == point.on_b) {
                return Err(format!("point {k} stands there twice"));
            }
        }
        let deepest = row.points.iter().map(|p| p.depth).fold(f64::NEG_INFINITY, f64::max);
        if (deepest - row.depth).abs() <= self.merged.max(self.truth.tau) {
            return Ok(());
        }
        Err(format!(
            "the deepest point is {deepest:e} deep, not {:e}, {:e} permitted",
            row.depth, self.merged
        ))
    }
}

/// Checks which pairs an all-body query with a margin lists: sorted by (a, b), a < b, each once; every one of `pairs`
/// whose gap is at most the margin, none whose gap is more; within τ of the margin either is right. A pair listed that is
/// not among `pairs` is wrong, so give every pair that could be that near.
///
/// # Errors
/// A text that names the first pair out of order, missing or too many.
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
        let there = found.binary_search(pair).is_ok();
        known += usize::from(there);
        if there && truth.gap > margin + truth.tau {
            return Err(format!("{pair:?} is listed, {:e} beyond the margin {margin:e}", truth.gap - margin));
        }
        if !there && truth.gap < margin - truth.tau {
            return Err(format!("{pair:?} is missing, its gap {:e} within the margin {margin:e}", truth.gap));
        }
    }
    if known < found.len() {
        return Err(format!("{} pairs are listed that can't be near", found.len() - known));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
