//! Checks verdicts one by one: certificates first, the f64 oracle for what they leave open.

use glam::DVec3;
use hullfield::collide::{Intersection, Status};
use hullfield_oracle::compare::{Hit, Report, between_hits};
use hullfield_oracle::{Placed, certify, tolerance, truth};
use rayon::prelude::*;

use crate::rows::verdict;
use crate::scene::Scene;

/// How the verdicts on a scene's pairs stand up.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Judged {
    /// Pairs that are touching or penetrating.
    pub(crate) hit_count: u64,
    /// Verdicts proved by a certificate: a separating axis under f64 projection, or a point inside both hulls.
    pub(crate) certified_count: u64,
    /// Verdicts that only the oracle could check.
    pub(crate) oracle_count: u64,
    /// Separations whose axis proved nothing.
    pub(crate) bad_axis_count: u64,
    /// hullfield's verdicts that are wrong beyond τ.
    pub(crate) wrong_count: u64,
    /// The peer's verdicts that are wrong beyond τ.
    pub(crate) peer_wrong_count: u64,
}

impl Judged {
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

/// Judges a row of `rows` and a verdict of the peer for each pair of the scene; an empty `peer` is not judged.
pub(crate) fn judge(scene: &Scene, rows: &[Intersection], peer: &[bool]) -> Judged {
    rows.par_iter()
        .enumerate()
        .map(|(k, row)| judge_pair(scene, row, peer.get(k).copied()))
        .reduce(Judged::default, Judged::plus)
}

fn judge_pair(scene: &Scene, row: &Intersection, peer: Option<bool>) -> Judged {
    let a = &scene.bodies[row.a as usize];
    let b = &scene.bodies[row.b as usize];
    let mut judged = Judged { hit_count: u64::from(row.status.is_hit()), ..Judged::default() };
    // The gap is known to lie in low..=high.
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
                judged.bad_axis_count = 1;
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
        // A hit is wrong beyond τ and right at or below it: open while the gap may lie on either side.
        Some(true) => low > 0.0 && low <= tau_of(low),
        Some(false) => high < 0.0 && -high <= tau_of(0.0),
    };
    if is_certified {
        judged.certified_count = 1;
    }
    if !is_certified || peer_is_open {
        judged.oracle_count = u64::from(!is_certified);
        let (shape_a, shape_b) = (&scene.shapes[a.hull as usize], &scene.shapes[b.hull as usize]);
        let truth = truth(shape_a, &a.pose, shape_b, &b.pose);
        (low, high) = if truth.exact { (truth.gap, truth.gap) } else { (truth.gap, f64::INFINITY) };
        let wrong = match row.status {
            Status::Separated => truth.gap < -truth.tau,
            Status::Penetrating => truth.gap > truth.tau,
            Status::Touching => truth.gap.abs() > truth.tau,
        };
        judged.wrong_count = u64::from(wrong);
    }
    judged.peer_wrong_count = u64::from(match peer {
        None => false,
        Some(true) => low > tau_of(low),
        Some(false) => high < -tau_of(0.0),
    });
    judged
}

/// A depth that the two hulls overlap by at least, in world units: twice how deep inside both the best of a few points
/// between their middles lies; ≤ 0 where none is inside both, which proves nothing.
fn common_depth(scene: &Scene, a: &Placed, b: &Placed) -> f64 {
    let (shape_a, shape_b) = (&scene.shapes[a.hull as usize], &scene.shapes[b.hull as usize]);
    if shape_a.dimension() < 3
        || shape_b.dimension() < 3
        || a.pose.scale != [1.0; 3]
        || b.pose.scale != [1.0; 3]
    {
        return 0.0;
    }
    // Into b's frame, relative to a's: p_b = R_bᵀ (R_a p_a + t_a − t_b).
    let offset = a.pose.position64() - b.pose.position64();
    let (turn_a, turn_b) = (a.pose.rotation64(), b.pose.rotation64());
    let to_b = |p: DVec3| turn_b.inverse() * (turn_a * p + offset);
    let middle_a = DVec3::from(shape_a.mean());
    let middle_b = turn_a.inverse() * (turn_b * DVec3::from(shape_b.mean()) - offset);
    let size = shape_a.radius([1.0; 3]) + shape_b.radius([1.0; 3]);
    let mut best = f64::NEG_INFINITY;
    for step in 0..=12 {
        // A point of f32s: where it lies in a's frame is exact, the way into b's frame is right to 1e-6 of the size.
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

/// Compares two lists of hits on a scene by the oracle's rule: a pair that differs must have a gap within τ.
pub(crate) fn compare(scene: &Scene, first: &[Intersection], second: &[Intersection]) -> Report {
    let hits = |rows: &[Intersection]| -> Vec<Hit> {
        rows.iter().map(|row| ([row.a, row.b], verdict(row.status))).collect()
    };
    between_hits(&hits(first), &hits(second), |a, b| {
        let [a, b] = [a, b].map(|body| &scene.bodies[body as usize]);
        truth(&scene.shapes[a.hull as usize], &a.pose, &scene.shapes[b.hull as usize], &b.pose)
    })
}
