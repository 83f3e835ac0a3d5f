//! Bodies with positions in f64: the origin of a query, and its bodies laid out about it.
//!
//! Boxes, packed bodies and placed bodies hold positions relative to the origin of the query, so that f32 has as many digits for bodies far
//! from the world's origin as for bodies near it. Without positions in f64 the origin is the world's, and none of this runs.
//!
//! This file has no shader: positions are made relative on the host, where f64 is exact enough.

use glam::DVec3;

use crate::collide::hull::support::Supports;
use crate::collide::scene::body::Body;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::packed_body::PackedBody;
use crate::collide::scene::placed::{Placed, center_at};
use crate::error::Result;
use crate::parallel::each;

/// Bodies that one task lays out.
const TASK: usize = 1024;

/// Most bodies that the origin is chosen by.
const SAMPLE: usize = 1023;

/// The origin of a query with positions in f64: their median along each axis, rounded. Half-spaces do not count, as they have no middle.
///
/// The median lets outliers be. It is rounded to multiples of a power of two that is at least the widest interquartile range, so that the
/// origin mostly stays from frame to frame, and statics need not be laid out again. It only says how many digits f32 has for the boxes and
/// the fast path: statuses do not depend on it.
pub(crate) fn origin_of(columns: &BodyColumns<'_>, supports: &Supports) -> DVec3 {
    let is_plane =
        |body: &Body| supports.records.get(body.hull as usize).is_some_and(|record| record.half_space != 0);
    let rows = (0..columns.bodies.len()).filter(|&row| !is_plane(&columns.bodies[row]));
    let sampled: Vec<DVec3> = sample(rows).map(|row| columns.position(row)).collect();
    origin_of_sample(&sampled)
}

/// Those of some rows that the origin is chosen by.
pub(crate) fn sample<T>(rows: impl Iterator<Item = T> + Clone) -> impl Iterator<Item = T> {
    let count = rows.clone().count();
    rows.step_by(count.div_ceil(SAMPLE).max(1))
}

/// [`origin_of`] the positions of a sample.
pub(crate) fn origin_of_sample(sampled: &[DVec3]) -> DVec3 {
    if sampled.is_empty() {
        return DVec3::ZERO;
    }
    let quartiles = [0, 1, 2].map(|axis| {
        let mut along: Vec<f64> = sampled.iter().map(|position| position[axis]).collect();
        along.sort_unstable_by(f64::total_cmp);
        let at = |share: usize| along[(along.len() - 1) * share / 4];
        [at(1), at(2), at(3)]
    });
    let spread = quartiles.iter().map(|[low, _, high]| high - low).fold(0.0, f64::max);
    DVec3::from(quartiles.map(|[_, middle, _]| rounded(middle, spread)))
}

/// A number rounded to multiples of the next power of two above `spread`; the number itself where that is 0.
fn rounded(middle: f64, spread: f64) -> f64 {
    let cell = f64::from_bits(((spread.to_bits() >> 52) + 1) << 52);
    let count = (middle / cell).round();
    // Beyond 2⁵³ cells there is nothing to round.
    if spread > 0.0 && count.abs() < 9e15 { count * cell } else { middle }
}

/// Checks bodies and lays them out about an origin. `packed` and `placed` have one element for each body, or are empty.
///
/// # Errors
/// The error of the first bad body.
pub(crate) fn lay_out_about(
    supports: &Supports,
    bodies: &[Body],
    positions: &[DVec3],
    origin: DVec3,
    packed: &mut [PackedBody],
    placed: &mut [Placed],
) -> Result<()> {
    let (mut packed, mut placed) = (packed.chunks_mut(TASK), placed.chunks_mut(TASK));
    let tasks: Vec<_> = bodies
        .chunks(TASK)
        .zip(positions.chunks(TASK))
        .enumerate()
        .map(|(task, (bodies, positions))| (task * TASK, bodies, positions, packed.next(), placed.next()))
        .collect();
    // All tasks run, so that the error is always that of the first bad body.
    let results = each(tasks, |(first, bodies, positions, mut packed, mut placed)| {
        for (at, (body, &position)) in bodies.iter().zip(positions).enumerate() {
            let radius = body.radius(first + at, supports)?;
            let record = &supports.records[body.hull as usize];
            let center = center_at(body, position - origin, false, record);
            if let Some(packed) = &mut packed {
                packed[at] = body.packed(radius, &center, supports);
            }
            if let Some(placed) = &mut placed {
                placed[at] = Placed::centered(body, radius, record, center);
            }
        }
        Ok(())
    });
    results.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::hull::Hull;

    fn origin(positions: &[[f64; 3]]) -> DVec3 {
        let supports = Supports::new(&[Hull::ball(1.0).unwrap()]).unwrap();
        let bodies = vec![Body::new(0); positions.len()];
        origin_of(&BodyColumns { positions, ..BodyColumns::new(&bodies) }, &supports)
    }

    #[test]
    fn the_origin_is_near_most_bodies_and_mostly_stays() {
        assert_eq!(origin(&[]), DVec3::ZERO);
        assert_eq!(origin(&[[1e9, -3.3, 1e-300]]), DVec3::new(1e9, -3.3, 1e-300));
        let mut crowd: Vec<[f64; 3]> = (0..5_000)
            .map(|at| [1e7 + 0.001 * f64::from(at), -1e7 + 0.002 * f64::from(at), f64::from(at % 7)])
            .collect();
        let first = origin(&crowd);
        for position in &crowd {
            assert!((DVec3::from(*position) - first).abs().max_element() <= 20.0, "{first}");
        }
        // Outliers do not move it, and small steps leave it.
        crowd[0] = [-1e18; 3];
        crowd[4_999] = [1e18; 3];
        assert_eq!(origin(&crowd), first);
        crowd.iter_mut().for_each(|position| position[0] += 0.01);
        assert_eq!(origin(&crowd), first);
        // Large steps do not: the crowd would have fewer digits.
        crowd.iter_mut().for_each(|position| position[0] += 100.0);
        assert_ne!(origin(&crowd), first);
    }
}
