//! A budget of time: its parts' shares, and whether a job still fits into one. Times are seconds since the start of the run.

use std::collections::BTreeMap;

/// How many times its fair share a part may take: most parts take less than theirs, and what they leave would come too late for the
/// ones before.
const GENEROSITY: f64 = 1.5;

/// A budget and the weights of the parts that share it, in order.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    total_s: f64,
    weights: Vec<f64>,
}

impl Plan {
    /// `weights` are relative to each other.
    pub(crate) fn new(total_s: f64, weights: Vec<f64>) -> Self {
        Self { total_s, weights }
    }

    /// When a part that begins at `now_s` must end. What earlier parts left over is shared by all that are to come.
    pub(crate) fn end_of(&self, part: usize, now_s: f64) -> f64 {
        let rest: f64 = self.weights.iter().skip(part).sum();
        let weight = self.weights.get(part).copied().unwrap_or(0.0);
        let left = (self.total_s - now_s).max(0.0);
        now_s + if rest > 0.0 { left * (GENEROSITY * weight / rest).min(1.0) } else { 0.0 }
    }
}

/// The share of one part, and what its jobs took so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Share {
    end_s: f64,
    /// The last two jobs of each kind: their work, in units of the kind, and their seconds.
    done: BTreeMap<String, Vec<[f64; 2]>>,
}

impl Share {
    /// A share that ends at `end_s`.
    pub(crate) fn until(end_s: f64) -> Self {
        Self { end_s, done: BTreeMap::new() }
    }

    /// Whether a job of this kind and this much work fits.
    ///
    /// # Errors
    /// Why not, as a clause.
    pub(crate) fn admit(&self, kind: &str, work: f64, now_s: f64) -> Result<(), String> {
        let left_s = self.end_s - now_s;
        if left_s <= 0.0 {
            return Err("the part's share of the budget is spent".into());
        }
        match self.predict(kind, work) {
            Some(needed_s) if needed_s > left_s => Err(format!(
                "it would take about {}, {} are left of the part's share of the budget",
                seconds(needed_s),
                seconds(left_s)
            )),
            _ => Ok(()),
        }
    }

    /// Takes note of a job that is done.
    pub(crate) fn note(&mut self, kind: &str, work: f64, took_s: f64) {
        let done = self.done.entry(kind.to_owned()).or_default();
        if done.len() == 2 {
            done.remove(0);
        }
        done.push([work, took_s]);
    }

    /// The seconds that a job will take: along the line through the last two of its kind, in proportion to the work where there is
    /// one, and none where there is no such job yet.
    fn predict(&self, kind: &str, work: f64) -> Option<f64> {
        match self.done.get(kind)?[..] {
            [[last, took_s]] => Some(took_s * (work / last).max(1.0)),
            [[before, took_before_s], [last, took_s]] if last > before => {
                let slope = ((took_s - took_before_s) / (last - before)).max(0.0);
                // A device that is not full yet hides the growth.
                let in_proportion = took_s * (work / last);
                Some((took_s + slope * (work - last)).max(0.25 * in_proportion))
            }
            [.., [_, took_s]] => Some(took_s),
            [] => None,
        }
    }
}

/// A time for people.
pub(crate) fn seconds(s: f64) -> String {
    if s < 10.0 { format!("{s:.1} s") } else { format!("{s:.0} s") }
}

/// Reads a duration such as `8m`, `90s`, `1.5m` or `480`, in seconds.
///
/// # Errors
/// A message for the user.
pub(crate) fn parse_duration(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) => (number, text.chars().last()),
        None => (text, None),
    };
    let factor = match unit {
        Some('m') => 60.0,
        Some('h') => 3600.0,
        _ => 1.0,
    };
    match number.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value * factor >= 1.0 => Ok(value * factor),
        _ => Err("it must be a time of one second or more, such as 8m or 90s".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_by_weight_and_pass_on_what_is_left() {
        let plan = Plan::new(100.0, vec![1.0, 2.0, 3.0, 6.0]);
        // One and a half times the twelfth part.
        assert_eq!(plan.end_of(0, 0.0), 12.5);
        // The first part took 12 seconds, or none: the others have the rest.
        assert_eq!(plan.end_of(1, 12.0), 36.0);
        assert!((plan.end_of(1, 0.0) - 300.0 / 11.0).abs() < 1e-9);
        assert_eq!(plan.end_of(2, 40.0), 70.0);
        assert_eq!(plan.end_of(3, 90.0), 100.0);
        // Past the budget nothing is left.
        assert_eq!(plan.end_of(3, 130.0), 130.0);
        assert_eq!(plan.end_of(9, 10.0), 10.0);
    }

    #[test]
    fn a_job_fits_or_says_why_not() {
        let mut share = Share::until(10.0);
        // Of the first job of a kind nothing is known.
        assert_eq!(share.admit("frame", 1e6, 9.9), Ok(()));
        share.note("frame", 1e3, 1.0);
        assert_eq!(share.admit("frame", 5e3, 1.0), Ok(()));
        let why = share.admit("frame", 1e4, 1.0).unwrap_err();
        assert_eq!(why, "it would take about 10 s, 9.0 s are left of the part's share of the budget");
        // Another kind is not slowed by it.
        assert_eq!(share.admit("field", 1e9, 1.0), Ok(()));
        assert!(share.admit("field", 1.0, 10.0).unwrap_err().contains("spent"));
    }

    #[test]
    fn fixed_costs_do_not_grow_with_the_work() {
        let mut share = Share::until(100.0);
        share.note("frame", 1e3, 2.0);
        share.note("frame", 1e4, 2.9);
        // 1.9 s fixed, 0.1 ms a unit.
        assert!((share.predict("frame", 1e5).unwrap() - 11.9).abs() < 1e-9);
        share.note("frame", 1e5, 11.9);
        assert!((share.predict("frame", 1e6).unwrap() - 101.9).abs() < 1e-9);
        // Two jobs that took as long as each other say little about a much larger one.
        share.note("pairs", 1e4, 1.0);
        share.note("pairs", 1e5, 1.0);
        assert_eq!(share.predict("pairs", 1e6), Some(2.5));
    }

    #[test]
    fn durations() {
        for (text, expected) in [("8m", 480.0), ("90s", 90.0), ("480", 480.0), ("1.5m", 90.0), ("1h", 3600.0)]
        {
            assert_eq!(parse_duration(text), Ok(expected), "{text}");
        }
        for text in ["", "m", "0", "0.5s", "-8m", "8 minutes", "inf", "nan"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
