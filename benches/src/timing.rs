//! Medians of interleaved repetitions.

use std::time::Instant;

/// Milliseconds of several repetitions, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples {
    ms: Vec<f64>,
}

impl Samples {
    /// None yet.
    pub(crate) const fn new() -> Self {
        Self { ms: Vec::new() }
    }

    /// Adds a repetition.
    pub(crate) fn push(&mut self, ms: f64) {
        self.ms.push(ms);
    }

    /// The median; of an even count the mean of the middle two.
    pub(crate) fn median(&self) -> f64 {
        quantile(&self.ms, 0.5)
    }

    /// The shortest: other work on the machine disturbed it least.
    pub(crate) fn best(&self) -> f64 {
        quantile(&self.ms, 0.0)
    }

    /// The longest.
    pub(crate) fn worst(&self) -> f64 {
        quantile(&self.ms, 1.0)
    }

    /// The same, each divided by `count`.
    pub(crate) fn divided(mut self, count: f64) -> Self {
        self.ms.iter_mut().for_each(|ms| *ms /= count);
        self
    }

    /// A quantile.
    pub(crate) fn quantile(&self, at: f64) -> f64 {
        quantile(&self.ms, at)
    }

    /// Half the interquartile range, as a share of the median.
    pub(crate) fn spread(&self) -> f64 {
        (quantile(&self.ms, 0.75) - quantile(&self.ms, 0.25)) / (2.0 * self.median())
    }

    /// The median of the ratios of neighbouring repetitions. A slow phase of the machine cancels out.
    pub(crate) fn ratio(&self, other: &Self) -> f64 {
        self.ratio_quantile(other, 0.5)
    }

    /// A quantile of those ratios.
    pub(crate) fn ratio_quantile(&self, other: &Self, at: f64) -> f64 {
        let ratios: Vec<f64> = self.ms.iter().zip(&other.ms).map(|(a, b)| a / b).collect();
        quantile(&ratios, at)
    }
}

fn quantile(values: &[f64], at: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = at * last as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    sorted[low] + (sorted[high] - sorted[low]) * (place - low as f64)
}

/// The time of `job` in milliseconds, and its result.
pub(crate) fn time<T>(job: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let done = job();
    (start.elapsed().as_secs_f64() * 1e3, done)
}

/// Runs two jobs alternately, `repetitions` times each, after a run of each that is not counted.
///
/// # Errors
/// The error of a job.
pub(crate) fn interleave(
    repetitions: usize,
    mut first: impl FnMut() -> Result<(), String>,
    mut second: impl FnMut() -> Result<(), String>,
) -> Result<[Samples; 2], String> {
    interleave_all(repetitions, [&mut first, &mut second])
}

/// Runs jobs in turn, `repetitions` times each, after a run of each that is not counted.
///
/// # Errors
/// The error of a job.
pub(crate) fn interleave_all<const N: usize>(
    repetitions: usize,
    mut jobs: [&mut dyn FnMut() -> Result<(), String>; N],
) -> Result<[Samples; N], String> {
    for job in &mut jobs {
        job()?;
    }
    let mut samples = std::array::from_fn(|_| Samples::default());
    for _ in 0..repetitions {
        for (job, samples) in jobs.iter_mut().zip(&mut samples) {
            let (ms, done) = time(job);
            done?;
            samples.push(ms);
        }
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_ratios() {
        let a = Samples { ms: vec![4.0, 1.0, 100.0, 2.0, 3.0] };
        assert_eq!(a.median(), 3.0);
        assert_eq!(a.spread(), 1.0 / 3.0);
        assert_eq!(a.best(), 1.0);
        let b = Samples { ms: vec![8.0, 2.0, 100.0, 4.0, 6.0] };
        assert_eq!(a.ratio(&b), 0.5);
        assert_eq!(a.ratio_quantile(&b, 1.0), 1.0);
        assert_eq!(Samples { ms: vec![1.0, 2.0] }.median(), 1.5);
        assert!(Samples::default().median().is_nan());
    }

    #[test]
    fn jobs_take_turns() {
        let order = std::cell::RefCell::new(String::new());
        let done = interleave(
            2,
            || {
                order.borrow_mut().push('a');
                Ok(())
            },
            || {
                order.borrow_mut().push('b');
                Ok(())
            },
        );
        assert_eq!(done.map(|samples| samples.map(|s| s.ms.len())), Ok([2, 2]));
        assert_eq!(*order.borrow(), "ababab");
        assert!(interleave(2, || Err("no".into()), || Ok(())).is_err());
    }
}
