//! The memory that an answer may take on the host. Rows are counted while they are found, so that a crowd where every body meets every
//! other one ends in an error before the host runs out of memory.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::account::available_bytes;
use crate::error::{Error, Result};
use crate::pending::Awaited;

/// The host's free memory is not read for rows of fewer bytes.
const SMALL_BYTES: u64 = 64 << 20;

/// Counts the rows of one answer.
#[derive(Debug)]
pub(crate) struct RowBudget {
    row_bytes: u64,
    /// The caller's limit; `u64::MAX` where the host's memory is the limit.
    limit_bytes: u64,
    /// Whether anybody waits for the answer.
    awaited: Awaited,
    count: AtomicU64,
    /// Bytes at which the host's free memory is read again.
    next_look: AtomicU64,
    over: OnceLock<(u64, u64)>,
}

impl RowBudget {
    /// The budget for rows of type `R`.
    pub(crate) fn new<R>(limit_bytes: u64) -> Self {
        Self::of_bytes(size_of::<R>(), limit_bytes)
    }

    /// The budget for rows of this size.
    pub(crate) fn of_bytes(row_bytes: usize, limit_bytes: u64) -> Self {
        Self {
            row_bytes: row_bytes as u64,
            limit_bytes,
            awaited: Awaited::default(),
            count: AtomicU64::new(0),
            next_look: AtomicU64::new(SMALL_BYTES),
            over: OnceLock::new(),
        }
    }

    /// The same budget, which also ends where the answer is cancelled.
    pub(crate) fn awaited_by(self, awaited: &Awaited) -> Self {
        Self { awaited: awaited.clone(), ..self }
    }

    /// Counts more rows; `false` once there are too many, or the answer is cancelled.
    pub(crate) fn add(&self, rows: usize) -> bool {
        let count = self.count.fetch_add(rows as u64, Ordering::Relaxed) + rows as u64;
        let bytes = count.saturating_mul(self.row_bytes);
        if bytes > self.limit_bytes {
            self.over.get_or_init(|| (bytes, self.limit_bytes));
        } else if self.limit_bytes == u64::MAX && bytes >= self.next_look.load(Ordering::Relaxed) {
            self.next_look.store(bytes + SMALL_BYTES, Ordering::Relaxed);
            // Joining the parts at the end needs twice their size.
            let left = available_bytes();
            if left < bytes {
                self.over.get_or_init(|| (bytes.saturating_mul(2), bytes.saturating_add(left)));
            }
        }
        self.goes_on()
    }

    /// Whether more rows are wanted: `false` once there are too many, or the answer is cancelled.
    pub(crate) fn goes_on(&self) -> bool {
        self.over.get().is_none() && self.awaited.is_awaited()
    }

    /// Whether so many rows could be far too many, so that a sample should check them.
    pub(crate) fn is_at_risk(&self, rows: u64) -> bool {
        let bytes = rows.saturating_mul(self.row_bytes);
        bytes / 2 > self.limit_bytes || bytes / 2 > available_bytes()
    }

    /// Fails where a sample shows far too many rows, so that such a query ends before it has filled the memory. `sample` has the
    /// estimated number of rows of each sampled body.
    ///
    /// The tenth of the sample with the most rows is left out, and the limit is twice the budget. A query that passes may still end
    /// in an error once its rows are found.
    pub(crate) fn check_row_count(&self, sample: Vec<f64>, body_count: usize) -> Result<()> {
        let needed_bytes = (estimated_total(sample, body_count) * self.row_bytes as f64) as u64;
        let limit_bytes = self.limit_bytes.min(available_bytes());
        if needed_bytes / 2 <= limit_bytes {
            return Ok(());
        }
        Err(Error::MemoryLimit { what: "the answer, by a sample of its pairs,", needed_bytes, limit_bytes })
    }

    /// The error where there were too many rows, or the answer is cancelled.
    pub(crate) fn check(&self) -> Result<()> {
        self.awaited.check()?;
        match self.over.get() {
            None => Ok(()),
            Some(&(needed_bytes, limit_bytes)) => Err(Error::MemoryLimit {
                what: "the part of the answer found so far",
                needed_bytes,
                limit_bytes,
            }),
        }
    }
}

/// The estimated sum over `body_count` bodies, from the values of a sample. The tenth of the sample with the largest values is left
/// out.
pub(crate) fn estimated_total(mut sample: Vec<f64>, body_count: usize) -> f64 {
    sample.sort_unstable_by(f64::total_cmp);
    let kept = &sample[..sample.len() * 9 / 10];
    kept.iter().sum::<f64>() / sample.len().max(1) as f64 * body_count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pending::Pending;

    #[test]
    fn the_row_past_the_limit_is_one_too_many() {
        let budget = RowBudget::new::<[u8; 10]>(100);
        assert!(budget.add(4) && budget.add(6) && budget.check().is_ok());
        assert!(!budget.add(1) && !budget.add(0));
        let error = budget.check().unwrap_err();
        assert!(matches!(error, Error::MemoryLimit { needed_bytes: 110, limit_bytes: 100, .. }), "{error}");
    }

    #[test]
    fn the_estimate_leaves_out_the_bodies_with_the_most_rows() {
        let budget = RowBudget::new::<[u8; 10]>(1_000);
        let with = |rows: f64, many: usize| {
            let mut sample = vec![rows; 100];
            sample[..many].fill(1e9);
            budget.check_row_count(sample, 10)
        };
        assert!(with(1.0, 0).is_ok() && with(1.0, 10).is_ok() && with(20.0, 0).is_ok());
        assert!(with(1.0, 11).is_err());
        let error = with(30.0, 0).unwrap_err();
        assert!(
            matches!(error, Error::MemoryLimit { needed_bytes: 2_700, limit_bytes: 1_000, .. }),
            "{error}"
        );
        assert!(budget.check_row_count(Vec::new(), 10).is_ok());
        assert!(budget.is_at_risk(201) && !budget.is_at_risk(200));
    }

    #[test]
    fn rows_of_a_cancelled_answer_are_not_counted() {
        let (promise, pending) = Pending::<()>::channel();
        let budget = RowBudget::new::<u8>(100).awaited_by(&promise.awaited());
        assert!(budget.add(1) && budget.check().is_ok());
        drop(pending);
        assert!(!budget.add(1));
        assert!(matches!(budget.check(), Err(Error::Cancelled)));
    }

    #[test]
    fn more_rows_than_the_host_has_memory_for_are_too_many() {
        let budget = RowBudget::new::<u8>(u64::MAX);
        let host = available_bytes();
        assert!(budget.add(1));
        if cfg!(target_os = "linux") {
            assert!((SMALL_BYTES..1 << 50).contains(&host), "{host}");
            assert!(!budget.add(1 << 50));
            let error = budget.check().unwrap_err();
            assert!(matches!(error, Error::MemoryLimit { .. }), "{error}");
        }
    }
}
