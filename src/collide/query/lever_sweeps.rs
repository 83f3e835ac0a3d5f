//! Sweeps of bodies that turn about other points than their positions: parts of compounds.

use std::sync::Arc;

use glam::DVec3;

use crate::collide::narrow_phase::rows::{Batch, Stats};
use crate::collide::query::arena::Arena;
use crate::collide::query::options::SweepOptions;
use crate::collide::scene::body::Body;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::pairs::Pairs;
use crate::collide::sweep::query::Moves;
use crate::collide::sweep::rows::Sweep;
use crate::error::Result;
use crate::pending::Pending;

impl Arena {
    /// [`sweeps`](Self::sweeps) of bodies that turn about other points than their positions: see [`Moves`]. The motions must have been checked.
    ///
    /// A GPU engine sweeps the pairs in which neither has a lever. The CPU's threads sweep the others, as no kernel knows levers.
    /// There the rows of pairs that are not given come in no order.
    pub(crate) fn sweeps_with_levers(
        &self,
        columns: BodyColumns<'_>,
        moves: Moves<'_>,
        pairs: Pairs<'_>,
        options: &SweepOptions,
    ) -> Result<Pending<Batch<Sweep>>> {
        let arena = self.about(&columns)?;
        if moves.levers.is_empty() || !arena.sweeps_on_gpu() {
            return arena.sweeps_about(columns, moves, pairs, options);
        }
        let on_cpu = arena.over(Arc::clone(&arena.scene));
        let on_device = Moves::new(moves.motions);
        if let Pairs::Given(pairs) = pairs {
            let (turning, others): (Vec<[u32; 2]>, Vec<[u32; 2]>) =
                pairs.iter().copied().partition(|&pair| moves.has_lever(pair));
            let is_turning: Vec<bool> = pairs.iter().map(|&pair| moves.has_lever(pair)).collect();
            let others = arena.sweeps_about(columns, on_device, Pairs::Given(&others), options)?;
            let turning = on_cpu.sweeps_about(columns, moves, Pairs::Given(&turning), options)?;
            return Ok(both(others, turning, move |others, turning| {
                let (mut others, mut turning) = (others.into_iter(), turning.into_iter());
                let next = |is_turning: bool| if is_turning { turning.next() } else { others.next() };
                is_turning.into_iter().filter_map(next).collect()
            }));
        }
        // On the device those with a lever meet nothing.
        let away = |(body, lever): (&Body, &DVec3)| match *lever == DVec3::ZERO {
            true => *body,
            false => body.grouped(0, 0),
        };
        let bodies: Vec<Body> = columns.bodies.iter().zip(moves.levers).map(away).collect();
        let without = BodyColumns { bodies: &bodies, ..columns };
        let others = arena.sweeps_about(without, on_device, pairs, options)?;
        let turning = on_cpu.sweeps_about(columns, Moves { levers_only: true, ..moves }, pairs, options)?;
        Ok(both(others, turning, |mut others, turning| {
            others.extend(turning);
            others
        }))
    }
}

/// The rows and the counts of two queries as those of one.
fn both(
    first: Pending<Batch<Sweep>>,
    second: Pending<Batch<Sweep>>,
    join: impl FnOnce(Vec<Sweep>, Vec<Sweep>) -> Vec<Sweep> + Send + 'static,
) -> Pending<Batch<Sweep>> {
    first.chain(move |first| {
        Ok(second.map(move |second| {
            let mut stats = first.stats;
            stats.add(&second.stats);
            let rows = join(first.rows, second.rows);
            let hit_count = stats.hit_count + second.stats.hit_count;
            Batch::new(rows, Stats { hit_count, ..stats })
        }))
    })
}
