//! Warm start for given pairs: one row for each, in their order.

use crate::collide::narrow_phase::cpu::examine_all;
use crate::collide::narrow_phase::rows::{Intersection, Stats};
use crate::collide::narrow_phase::settle::Rows;
use crate::collide::narrow_phase::status::Status;
use crate::collide::scene::pairs::OwnedPairs;
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::collide::warm::bound_requests::{BoundRequest, BoundResult};
use crate::collide::warm::cache::Cache;
use crate::collide::warm::list::Travel;
use crate::error::{Error, Result};
use crate::pending::Awaited;

/// Rows of which some are still to be settled in f64, and the counts.
pub(crate) struct UnsettledRows {
    pub(crate) rows: Rows,
    pub(crate) stats: Stats,
}

impl Cache {
    /// One row for each of the given pairs.
    pub(crate) fn given_rows(&mut self, scene: &Scene, input: &mut QueryInput) -> Result<UnsettledRows> {
        self.advance(scene, input);
        let OwnedPairs::Given(pairs) = std::mem::replace(&mut input.pairs, OwnedPairs::BroadPhase) else {
            return Err(Error::internal("collide::warm::given::given_rows", "the pairs are not given ones"));
        };
        let travel = Travel { odometers: &self.odometers, turns: &self.turns, balls: &self.balls };
        let active = self.given.scan(&pairs, &travel);
        self.place(scene, input, active.iter().flat_map(|&at| pairs[at as usize]))?;
        let requests: Vec<BoundRequest> = active
            .iter()
            .map(|&at| self.given.pairs.bound_request(pairs[at as usize][0], at, None))
            .collect();
        let found = self.find_bounds(scene, input, &requests, 0.0);
        let travel = Travel { odometers: &self.odometers, turns: &self.turns, balls: &self.balls };
        let known = &mut self.given.pairs;
        let mut cold = Vec::new();
        for (&at, found) in active.iter().zip(found) {
            let [a, b] = pairs[at as usize];
            match found {
                BoundResult::Separated(bound) => known.set_bound(a, at, &bound, &travel),
                BoundResult::Penetrating(depth) => known.set_deep(at, travel.limit(a, b, depth)),
                BoundResult::NotFound => cold.push(at),
            }
        }
        let left: Vec<[u32; 2]> = cold.iter().map(|&at| pairs[at as usize]).collect();
        let examined = examine_all(scene, &input.placed, &left, &Awaited::default());
        let mut rows: Vec<Intersection> = pairs
            .iter()
            .zip(&known.known)
            .zip(&known.limits)
            .map(|((&[a, b], known), &limit)| {
                // Pairs without a bound get their rows below.
                if limit >= 0.0 {
                    Intersection {
                        a,
                        b,
                        part_a: 0,
                        part_b: 0,
                        status: Status::Separated,
                        axis: Some(known.axis),
                    }
                } else {
                    Intersection { a, b, part_a: 0, part_b: 0, status: Status::Penetrating, axis: None }
                }
            })
            .collect();
        for (&at, row) in cold.iter().zip(&examined.rows) {
            rows[at as usize] = *row;
            match row.axis {
                Some(axis) => known.set_axis(at, axis),
                None => known.set_row(at, row.status),
            }
        }
        let open = examined.open.iter().map(|&index| cold[index] as usize).collect();
        let stats = Stats {
            candidate_count: pairs.len() as u64,
            skipped_count: (pairs.len() - active.len()) as u64,
            ..Stats::default()
        };
        input.pairs = OwnedPairs::Given(pairs);
        Ok(UnsettledRows { rows: Rows { rows, open, refined_count: examined.refined_count }, stats })
    }
}
