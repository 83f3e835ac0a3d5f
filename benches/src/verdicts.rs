//! Checks verdicts one by one: by certificates first, and by the f64 oracle if they leave a verdict open.

use glam::DVec3;
use hullfield::collide::{Arena, Batch, Body, Intersection, Pairs, Status};
use hullfield_oracle::compare::{Hit, Report, between_hits};
use hullfield_oracle::{Placed, certify, tolerance, truth};
use rayon::prelude::*;

use crate::error::message;
use crate::rows::verdict;
use crate::scene::Scene;

/// Queries the intersections of one frame.
pub(crate) fn intersections(
    arena: &Arena,
    bodies: &[Body],
    pairs: Pairs<'_>,
) -> Result<Batch<Intersection>, String> {
    arena.intersections(bodies, pairs).map_err(message)?.wait().map_err(message)
}

/// The results of checking the verdicts of a scene.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct VerdictCounts {
    /// Pairs that are touching or penetrating.
    pub(crate) hit_count: u64,
    /// Verdicts that a certificate proves: a separating axis under f64 projection, or a point inside both hulls.
    pub(crate) certified_count: u64,
    /// Verdicts that only the oracle could check.
    pub(crate) oracle_count: u64,
    /// Separated pairs whose axis does not separate them.
    pub(crate) bad_axis_count: u64,
    /// hullfield's verdicts that are wrong beyond τ.
    pub(crate) wrong_count: u64,
    /// The peer's verdicts that are wrong beyond τ.
    pub(crate) peer_wrong_count: u64,
}

impl VerdictCounts {
    fn plus(self, other: Self) -> Self {
        Self {
            hit_count: self.hit_count + other.hit_count,
            certified_count: self.certified_count + other.certified_count,
            oracle_count: self.oracle_count + other.oracle_count,
            bad_axis_count: self.bad_axis_count + other.bad_axis_count,
            wrong_count: self.wrong_count + other.wrong_count,
            peer_wrong_count: self.peer_wrong_count + other.peer_wrong_count,
        }
    }
}

/// Checks `rows`, a row for each pair of the scene, and the peer's verdicts unless `peer` is empty.
pub(crate) fn check_verdicts(scene: &Scene, rows: &[Intersection], peer: &[bool]) -> VerdictCounts {
    rows.par_iter()
        .enumerate()
        .map(|(k, row)| check_pair(scene, row, peer.get(k).copied()))
        .reduce(VerdictCounts::default, VerdictCounts::plus)
}

fn check_pair(scene: &Scene, row: &Intersection, peer: Option<bool>) -> VerdictCounts {
    let a = &scene.bodies[row.a as usize];
    let b = &scene.bodies[row.b as usize];
    let mut counts = VerdictCounts { hit_count: u64::from(row.status.is_hit()), ..VerdictCounts::default() };
    // The gap is in low..=high.
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    match row.status {
        Status::Separated => {
            let separation = row.axis.map_or(f64::NEG_INFINITY, |axis| {
                certify::separation(
                    axis,
                    &scene.sets[a.hull as usize],
                    &a.pose,
                    &scene.sets[b.hull as usize],
                    &b.pose,
                )
            });
            if separation > 0.0 {
                low = separation;
            } else {
                counts.bad_axis_count = 1;
            }
        }
        Status::Penetrating => {
            let depth = common_depth(scene, a, b);
            if depth > 0.0 {
                high = -depth;
            }
        }
        Status::Touching => {}
    }
    let radii = [a, b].map(|body| scene.shapes[body.hull as usize].radius(body.pose.scale));
    let tau_of = |distance: f64| tolerance(radii[0].min(radii[1]), radii[0] + radii[1], distance);
    let is_certified = low > 0.0 || high < 0.0;
    let peer_is_open = match peer {
        None => false,
        // A hit is wrong for a gap above τ, else right. It is open while the gap may be on either side.
        Some(true) => low > 0.0 && low <= tau_of(low),
        Some(false) => high < 0.0 && -high <= tau_of(0.0),
    };
    if is_certified {
        counts.certified_count = 1;
    }
    if !is_certified || peer_is_open {
        counts.oracle_count = u64::from(!is_certified);
        let (shape_a, shape_b) = (&scene.shapes[a.hull as usize], &scene.shapes[b.hull as usize]);
        let truth = truth(shape_a, &a.pose, shape_b, &b.pose);
        (low, high) = if truth.exact { (truth.gap, truth.gap) } else { (truth.gap, f64::INFINITY) };
        let wrong = match row.status {
            Status::Separated => truth.gap < -truth.tau,
            Status::Penetrating => truth.gap > truth.tau,
            Status::Touching => truth.gap.abs() > truth.tau,
        };
        counts.wrong_count = u64::from(wrong);
    }
    counts.peer_wrong_count = u64::from(match peer {
        None => false,
        Some(true) => low > tau_of(low),
        Some(false) => high < -tau_of(0.0),
    });
    counts
}

/// A lower bound of the depth of two hulls, in world units: twice the depth of the deepest of a few points between their
/// centres. It is ≤ 0, and proves nothing, if none is inside both.
fn common_depth(scene: &Scene, a: &Placed, b: &Placed) -> f64 {
    let (shape_a, shape_b) = (&scene.shapes[a.hull as usize], &scene.shapes[b.hull as usize]);
    if shape_a.dimension() < 3
        || shape_b.dimension() < 3
        || a.pose.scale != [1.0; 3]
        || b.pose.scale != [1.0; 3]
    {
        return 0.0;
    }
    // From a's frame into b's: p_b = R_bᵀ (R_a p_a + t_a − t_b).
    let offset = a.pose.position64() - b.pose.position64();
    let (turn_a, turn_b) = (a.pose.rotation64(), b.pose.rotation64());
    let to_b = |p: DVec3| turn_b.inverse() * (turn_a * p + offset);
    let middle_a = DVec3::from(shape_a.mean());
    let middle_b = turn_a.inverse() * (turn_b * DVec3::from(shape_b.mean()) - offset);
    let size = shape_a.radius([1.0; 3]) + shape_b.radius([1.0; 3]);
    let mut best = f64::NEG_INFINITY;
    for step in 0..=12 {
        // The point is exact in a's frame; its transform into b's has an error of 1e-6 of the size.
        let point = middle_a.lerp(middle_b, f64::from(step) / 12.0).as_vec3();
        let inside_a = -shape_a.outside(point.to_array());
        if inside_a <= best {
            continue;
        }
        let inside_b = -shape_b.outside(to_b(point.as_dvec3()).as_vec3().to_array());
        best = best.max(inside_a.min(inside_b));
    }
    2.0 * (best - 1e-6 * size)
}

/// Compares two lists of hits of a scene. A pair that differs must have a gap within τ.
pub(crate) fn compare_hits(scene: &Scene, first: &[Intersection], second: &[Intersection]) -> Report {
    let hits = |rows: &[Intersection]| -> Vec<Hit> {
        rows.iter().map(|row| ([row.a, row.b], verdict(row.status))).collect()
    };
    between_hits(&hits(first), &hits(second), |a, b| {
        let [a, b] = [a, b].map(|body| &scene.bodies[body as usize]);
        truth(&scene.shapes[a.hull as usize], &a.pose, &scene.shapes[b.hull as usize], &b.pose)
    })
}
