//! Rows named as the caller numbers the bodies, where worlds put the bodies of a query into an order of their own.

use crate::collide::narrow_phase::rows::{Batch, Contact, Distance, Gradient, Intersection, Manifold};
use crate::collide::scene::query_input::Shared;
use crate::collide::sweep::rows::Sweep;
use crate::pending::Pending;

/// A row of a pair.
pub(super) trait PairRow {
    /// The rows of the pair's bodies.
    fn pair_mut(&mut self) -> [&mut u32; 2];
}

macro_rules! pair_rows {
    ($($row:ty),*) => {$(
        impl PairRow for $row {
            fn pair_mut(&mut self) -> [&mut u32; 2] {
                [&mut self.a, &mut self.b]
            }
        }
    )*};
}

pair_rows!(Intersection, Distance, Contact, Manifold, Gradient, Sweep);

impl PairRow for [u32; 2] {
    fn pair_mut(&mut self) -> [&mut u32; 2] {
        let [a, b] = self;
        [a, b]
    }
}

/// Names the bodies of rows: `order` has the caller's row of each mover, or nothing where they are the same. Within a world both are in
/// the same order, so the lower row stays the first.
fn name(rows: &mut [impl PairRow], order: &[u32]) {
    for id in rows.iter_mut().flat_map(PairRow::pair_mut) {
        // Statics keep their numbers.
        *id = order.get(*id as usize).copied().unwrap_or(*id);
    }
}

/// The rows of a batch, named.
pub(super) fn named<R: PairRow + Send + 'static>(
    pending: Pending<Batch<R>>,
    order: Shared<u32>,
) -> Pending<Batch<R>> {
    if order.is_empty() {
        return pending;
    }
    pending.chain(move |mut batch| {
        name(&mut batch.rows, &order);
        Ok(Pending::ready(batch))
    })
}

/// Pairs, named.
pub(super) fn named_pairs(pending: Pending<Vec<[u32; 2]>>, order: Shared<u32>) -> Pending<Vec<[u32; 2]>> {
    if order.is_empty() {
        return pending;
    }
    pending.chain(move |mut pairs| {
        name(&mut pairs, &order);
        Ok(Pending::ready(pairs))
    })
}
