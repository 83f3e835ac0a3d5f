//! Answers of rays, points and shapes that height fields add to: the CPU's threads change the rows of those for the parts of compounds.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::collide::compound::field_set::Fields;
use crate::collide::narrow_phase::rows::{Batch, Stats};
use crate::collide::scene::budget::RowBudget;
use crate::error::{Error, Result};
use crate::parallel::{for_each_chunk, map_chunks};
use crate::pending::{Awaited, Pending};

/// Rays, points or shapes in one task.
const TASK: usize = 128;

/// Which hits of a ray or a cast are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    First,
    Any,
    All,
}

/// What a search made of a triangle. The first error ends the search, and is kept.
pub(crate) fn kept<T>(made: Result<T>, failure: &mut Option<Error>) -> Option<T> {
    match made {
        Ok(made) => Some(made),
        Err(error) => {
            *failure = Some(error);
            None
        }
    }
}

impl Fields {
    /// Appends any number of rows for each of some rays, points or shapes, and returns the number of triangles examined.
    pub(crate) fn list<R: Send>(
        &self,
        rows: &mut Vec<R>,
        ids: &[u32],
        awaited: &Awaited,
        work: impl Fn(u32, &mut Vec<R>) -> Result<u64> + Sync + Send,
    ) -> Result<u64> {
        let budget = RowBudget::new::<R>(self.limit_bytes).awaited_by(awaited);
        budget.add(rows.len());
        let parts = map_chunks(ids, TASK, |ids| {
            let (mut all, mut count) = (Vec::new(), 0);
            for &id in ids {
                let before = all.len();
                count += work(id, &mut all)?;
                if !budget.add(all.len() - before) {
                    break;
                }
            }
            Ok((all, count))
        });
        budget.check()?;
        let mut count = 0;
        for part in parts {
            let (part, part_count) = part?;
            rows.extend(part);
            count += part_count;
        }
        Ok(count)
    }
}

/// Changes the rows of an answer on the CPU's threads; `work` returns the number of triangles examined and that of hits.
pub(crate) fn with_rows<R: Send + 'static>(
    found: Pending<Batch<R>>,
    work: impl FnOnce(&mut Vec<R>, &Awaited) -> Result<(u64, usize)> + Send + 'static,
) -> Pending<Batch<R>> {
    found.chain(move |mut found| {
        Ok(Pending::spawn(move |awaited| {
            let (count, hit_count) = work(&mut found.rows, awaited)?;
            let candidate_count = found.stats.candidate_count + count;
            found.stats = Stats { candidate_count, hit_count: hit_count as u64, ..found.stats };
            Ok(found)
        }))
    })
}

/// Changes each row, and returns the number of triangles examined.
pub(crate) fn fill<R: Send>(
    rows: &mut [R],
    awaited: &Awaited,
    work: impl Fn(&mut R) -> Result<u64> + Sync + Send,
) -> Result<u64> {
    let count = AtomicU64::new(0);
    let failure = OnceLock::new();
    for_each_chunk(rows, TASK, |(_, rows)| {
        if awaited.is_awaited() && failure.get().is_none() {
            match rows.iter_mut().map(&work).sum::<Result<u64>>() {
                Ok(more) => _ = count.fetch_add(more, Relaxed),
                Err(error) => _ = failure.set(error),
            }
        }
    });
    awaited.check()?;
    failure.into_inner().map_or(Ok(count.into_inner()), Err)
}
