//! A case's rounds, and the checksum of the last one's answer.

use std::hint::black_box;

/// A checksum over numbers, by the steps of FNV-1a on words of 64 bits.
#[derive(Debug)]
pub(super) struct Sum(u64);

impl Sum {
    pub(super) fn count(&mut self, word: impl Into<u64>) {
        self.0 = (self.0 ^ word.into()).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    }

    pub(super) fn number(&mut self, number: impl Into<f64>) {
        self.count(number.into().to_bits());
    }

    pub(super) fn point<T: Into<f64>>(&mut self, point: [T; 3]) {
        point.into_iter().for_each(|x| self.number(x));
    }
}

/// Does the work of a round so many times. Returns the checksum of the last answer.
pub(super) fn repeat<A>(
    rounds: u32,
    mut work: impl FnMut() -> Result<A, String>,
    sum_up: impl FnOnce(&A, &mut Sum),
) -> Result<u64, String> {
    let mut last = None;
    for _ in 0..rounds {
        // Freed first, so that every round but the first finds the allocator in the same state. It takes part in the count.
        drop(last.take());
        last = Some(black_box(work()?));
    }
    let mut sum = Sum(0xcbf2_9ce4_8422_2325);
    match &last {
        Some(answer) => sum_up(answer, &mut sum),
        None => return Err("a case must have at least one round".into()),
    }
    Ok(sum.0)
}
