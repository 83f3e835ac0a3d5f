//! Compares verdicts with the truth and with each other.
//!
//! The rule, for a pair with true signed gap g and tolerance τ: the verdict is touching if |g| ≤ ¾ τ, else penetrating if g < 0 and
//! separated if g > 0. Where the truth's own error of 1e-9 S reaches across a threshold, the verdicts on both sides of it pass. Two results
//! of the same pair must be equal always.

use std::collections::BTreeMap;
use std::fmt;

use crate::Truth;

/// The verdict on a pair of hulls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Not in contact.
    Separated,
    /// Separated or overlapping by at most the tolerance.
    Touching,
    /// Overlapping.
    Penetrating,
}

/// A pair with a wrong or differing verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The two bodies.
    pub pair: [u32; 2],
    /// True signed gap, in world units.
    pub gap: f64,
    /// Tolerance of the pair, in world units.
    pub tau: f64,
    /// The verdicts: the one under test, then the other's or the expected one.
    pub verdicts: [Verdict; 2],
    /// The reason for listing it.
    pub reason: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pair: [a, b], gap, tau, verdicts: [x, y], reason } = self;
        write!(f, "({a}, {b}): {x:?} / {y:?}, gap {gap:e} = {:.3} tolerances of {tau:e}: {reason}", gap / tau)
    }
}

/// The result of a comparison.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// The number of compared pairs.
    pub checked_count: usize,
    /// The number of pairs so close to a threshold that the truth allows either verdict.
    pub close_count: usize,
    /// The violations of the rule.
    pub failures: Vec<Finding>,
}

impl Report {
    /// Checks that there are no failures.
    ///
    /// # Errors
    /// The number of failures and the first ten.
    pub fn passed(&self) -> Result<(), String> {
        if self.failures.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> =
            self.failures.iter().take(10).map(|finding| format!("\n  {finding}")).collect();
        Err(format!("{} of {} pairs fail:{}", self.failures.len(), self.checked_count, lines.concat()))
    }

    /// Panics if there are failures.
    ///
    /// # Panics
    /// With the message of [`Report::passed`].
    #[track_caller]
    pub fn assert_passed(&self) {
        if let Err(text) = self.passed() {
            panic!("{text}");
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (close, wrong) = (self.close_count, self.failures.len());
        write!(f, "{} pairs, {close} on a threshold, {wrong} wrong", self.checked_count)
    }
}

/// The verdict by the sign of the gap.
fn sign_of(truth: &Truth) -> Verdict {
    if truth.gap > 0.0 { Verdict::Separated } else { Verdict::Penetrating }
}

/// The share of τ up to which a pair touches.
const TOUCHING_SHARE: f64 = 0.75;

/// Whether the truth's error reaches across a threshold.
fn is_close(truth: &Truth) -> bool {
    truth.exact && (truth.gap.abs() - TOUCHING_SHARE * truth.tau).abs() <= 1e-9 * truth.radius_sum
}

/// If a verdict breaks the rule: the expected verdict and the reason.
pub(crate) fn violation(verdict: Verdict, truth: &Truth) -> Option<(Verdict, &'static str)> {
    let touches = truth.exact && truth.gap.abs() <= TOUCHING_SHARE * truth.tau;
    let expected = if touches { Verdict::Touching } else { sign_of(truth) };
    if verdict == expected || is_close(truth) && (verdict == Verdict::Touching || verdict == sign_of(truth)) {
        return None;
    }
    Some((
        expected,
        match (expected, verdict) {
            (Verdict::Touching, _) => "not touching within ¾ of the tolerance",
            (_, Verdict::Touching) => "touching beyond ¾ of the tolerance",
            _ => "the wrong verdict",
        },
    ))
}

/// Compares the verdicts of given pairs with the truth. All are in the pairs' order.
///
/// # Panics
/// If the three differ in length.
pub fn against_truth(pairs: &[[u32; 2]], verdicts: &[Verdict], truths: &[Truth]) -> Report {
    assert_eq!(pairs.len(), verdicts.len(), "a verdict for each pair");
    assert_eq!(pairs.len(), truths.len(), "a truth for each pair");
    let mut report = Report { checked_count: pairs.len(), ..Report::default() };
    for ((&pair, &verdict), truth) in pairs.iter().zip(verdicts).zip(truths) {
        let finding = |expected, reason| Finding {
            pair,
            gap: truth.gap,
            tau: truth.tau,
            verdicts: [verdict, expected],
            reason,
        };
        report.close_count += usize::from(is_close(truth));
        if let Some((expected, reason)) = violation(verdict, truth) {
            report.failures.push(finding(expected, reason));
        }
    }
    report
}

/// Compares two engines' verdicts of given pairs, in the pairs' order. They must be equal.
///
/// `truth_of(k)` is called for differing pairs only.
///
/// # Panics
/// If the three differ in length.
pub fn between(
    pairs: &[[u32; 2]],
    left: &[Verdict],
    right: &[Verdict],
    truth_of: impl Fn(usize) -> Truth,
) -> Report {
    assert_eq!(pairs.len(), left.len(), "a verdict for each pair");
    assert_eq!(pairs.len(), right.len(), "a verdict for each pair");
    let mut report = Report { checked_count: pairs.len(), ..Report::default() };
    for (k, &pair) in pairs.iter().enumerate() {
        if left[k] != right[k] {
            differ(&mut report, pair, [left[k], right[k]], &truth_of(k));
        }
    }
    report
}

fn differ(report: &mut Report, pair: [u32; 2], verdicts: [Verdict; 2], truth: &Truth) {
    let reason = "they differ";
    report.failures.push(Finding { pair, gap: truth.gap, tau: truth.tau, verdicts, reason });
}

/// A pair that was reported as touching or penetrating.
pub type Hit = ([u32; 2], Verdict);

/// The verdict of each hit's pair. Errors of the list itself are failures.
fn by_pair(hits: &[Hit], report: &mut Report) -> BTreeMap<[u32; 2], Verdict> {
    let mut found = BTreeMap::new();
    let mut last = None;
    for &(pair, verdict) in hits {
        let mut refuse = |reason| {
            report.failures.push(Finding {
                pair,
                gap: f64::NAN,
                tau: f64::NAN,
                verdicts: [verdict; 2],
                reason,
            });
        };
        if pair[0] >= pair[1] {
            refuse("a hit's first body must come before its second");
        }
        if verdict == Verdict::Separated {
            refuse("a hit is never separated");
        }
        if last.is_some_and(|before| before >= pair) {
            refuse("hits must be sorted by pair, each once");
        }
        last = Some(pair);
        found.insert(pair, verdict);
    }
    found
}

/// Compares the hits of a query of all bodies with the truth of the given pairs. A pair that is not listed counts as separated. A
/// hit that is not among the given pairs is a failure, so give every pair that could touch.
///
/// The list must be sorted by pair, a < b, each pair once, none separated.
///
/// # Panics
/// If the pairs and truths differ in length.
pub fn hits_against_truth(hits: &[Hit], pairs: &[[u32; 2]], truths: &[Truth]) -> Report {
    let mut list = Report::default();
    let mut found = by_pair(hits, &mut list);
    let verdicts: Vec<Verdict> =
        pairs.iter().map(|p| found.remove(p).unwrap_or(Verdict::Separated)).collect();
    let mut report = against_truth(pairs, &verdicts, truths);
    report.failures.extend(list.failures);
    for (pair, verdict) in found {
        let verdicts = [verdict, Verdict::Separated];
        let reason = "a hit that is not among the pairs that could touch";
        report.failures.push(Finding { pair, gap: f64::NAN, tau: f64::NAN, verdicts, reason });
    }
    report
}

/// Compares two engines' hits of a query of all bodies. They must be equal.
///
/// Each list must be sorted by pair, a < b, each pair once, none separated. `truth_of(a, b)` is called for differing pairs only.
pub fn between_hits(left: &[Hit], right: &[Hit], truth_of: impl Fn(u32, u32) -> Truth) -> Report {
    let mut report = Report::default();
    let (left, right) = (by_pair(left, &mut report), by_pair(right, &mut report));
    let mut pairs: Vec<[u32; 2]> = left.keys().chain(right.keys()).copied().collect();
    pairs.sort_unstable();
    pairs.dedup();
    report.checked_count = pairs.len();
    for pair in pairs {
        let verdict = |list: &BTreeMap<_, _>| list.get(&pair).copied().unwrap_or(Verdict::Separated);
        let verdicts = [verdict(&left), verdict(&right)];
        if verdicts[0] != verdicts[1] {
            differ(&mut report, pair, verdicts, &truth_of(pair[0], pair[1]));
        }
    }
    report
}

/// Compares two lists of pairs, for example the candidates of two engines. They must be equal and sorted by (a, b), a < b, each once.
///
/// # Errors
/// A message with the first pair that is out of order, missing or extra.
pub fn same_pairs(left: &[[u32; 2]], right: &[[u32; 2]]) -> Result<(), String> {
    for (name, list) in [("first", left), ("second", right)] {
        if let Some([a, b]) = list.iter().find(|[a, b]| a >= b) {
            return Err(format!("the {name} list holds ({a}, {b}), not a < b"));
        }
        if let Some(w) = list.windows(2).find(|w| w[0] >= w[1]) {
            return Err(format!("the {name} list holds {:?} before {:?}", w[0], w[1]));
        }
    }
    let at = left.iter().zip(right).take_while(|(l, r)| l == r).count();
    match (left.get(at), right.get(at)) {
        (None, None) => Ok(()),
        (l, r) => Err(format!(
            "the lists ({} and {} pairs) differ at row {at}: {l:?}, {r:?}",
            left.len(),
            right.len()
        )),
    }
}

/// Checks that every pair of `needed` is among `found`; both are sorted. A broad phase may report more pairs than needed, but not
/// fewer.
///
/// # Errors
/// The number of missing pairs, and the first.
pub fn complete(found: &[[u32; 2]], needed: &[[u32; 2]]) -> Result<(), String> {
    let missing: Vec<_> = needed.iter().filter(|p| found.binary_search(p).is_err()).collect();
    match missing.first() {
        None => Ok(()),
        Some(first) => {
            Err(format!("{} of {} needed pairs are missing, first {first:?}", missing.len(), needed.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict::{Penetrating, Separated, Touching};
    use super::*;

    const TAU: f64 = 1e-5;

    fn truth(gap: f64) -> Truth {
        Truth { gap, tau: TAU, radius_sum: 2.0, radius: 1.0, axis: [1.0, 0.0, 0.0], slack: 0.0, exact: true }
    }

    fn one(verdict: Verdict, gap: f64) -> Report {
        against_truth(&[[0, 1]], &[verdict], &[truth(gap)])
    }

    #[test]
    fn the_rule_holds_at_every_gap() {
        for (gap, passes) in [
            (-1.0, [false, false, true]),
            (-1.1 * TAU, [false, false, true]),
            (-0.76 * TAU, [false, false, true]),
            // The truth is known to 2e-9 here, 2e-4 of τ.
            (-0.7501 * TAU, [false, true, true]),
            (-0.7499 * TAU, [false, true, true]),
            (-0.74 * TAU, [false, true, false]),
            (0.0, [false, true, false]),
            (0.74 * TAU, [false, true, false]),
            (0.7499 * TAU, [true, true, false]),
            (0.7501 * TAU, [true, true, false]),
            (0.76 * TAU, [true, false, false]),
            (1.1 * TAU, [true, false, false]),
            (1.0, [true, false, false]),
        ] {
            for (verdict, pass) in [Separated, Touching, Penetrating].into_iter().zip(passes) {
                assert_eq!(one(verdict, gap).passed().is_ok(), pass, "{verdict:?} at {gap:e}");
            }
        }
    }

    #[test]
    fn pairs_on_a_threshold_are_counted() {
        assert_eq!(one(Touching, 0.75 * TAU).close_count, 1);
        assert_eq!(one(Touching, 0.5 * TAU).close_count, 0);
    }

    #[test]
    fn a_flipped_verdict_fails_and_is_named() {
        let gaps: Vec<f64> = (0..100).map(|k| if k % 2 == 0 { 0.1 } else { -0.1 }).collect();
        let truths: Vec<Truth> = gaps.iter().map(|&g| truth(g)).collect();
        let pairs: Vec<[u32; 2]> = (0..100).map(|k| [k, k + 1]).collect();
        let mut verdicts: Vec<Verdict> = truths.iter().map(sign_of).collect();
        against_truth(&pairs, &verdicts, &truths).assert_passed();
        verdicts[42] = Penetrating;
        let report = against_truth(&pairs, &verdicts, &truths);
        assert_eq!(report.failures.len(), 1);
        assert_eq!(report.failures[0].pair, [42, 43]);
        assert!(report.passed().unwrap_err().contains("(42, 43)"));
    }

    #[test]
    fn far_pairs_need_no_exact_gap() {
        let far = Truth { exact: false, ..truth(5.0) };
        assert!(against_truth(&[[0, 1]], &[Separated], &[far]).passed().is_ok());
        assert!(against_truth(&[[0, 1]], &[Touching], &[far]).passed().is_err());
    }

    #[test]
    #[should_panic(expected = "a verdict for each pair")]
    fn a_verdict_too_few_fails() {
        against_truth(&[[0, 1]], &[], &[truth(0.0)]);
    }

    #[test]
    fn engines_must_not_differ() {
        let pairs = [[0, 1], [0, 2]];
        let same = between(&pairs, &[Separated, Touching], &[Separated, Touching], |_| unreachable!());
        assert_eq!((same.checked_count, same.failures.len()), (2, 0));
        for gap in [0.5 * TAU, 0.75 * TAU, 2.0 * TAU] {
            let report = between(&pairs, &[Separated, Touching], &[Separated, Separated], |_| truth(gap));
            assert_eq!(report.failures.len(), 1);
            assert!(report.passed().unwrap_err().contains("(0, 2)"));
        }
    }

    #[test]
    fn hit_lists_are_checked_against_the_truth() {
        let pairs = [[0, 1], [0, 2], [1, 2]];
        let truths = [truth(-0.5), truth(0.5), truth(0.0)];
        let good = [([0, 1], Penetrating), ([1, 2], Touching)];
        let fails = |hits: &[Hit]| hits_against_truth(hits, &pairs, &truths).passed().is_err();
        assert!(!fails(&good));
        assert!(fails(&good[..1]), "a hit left out");
        assert!(fails(&[good[0], ([0, 2], Touching), good[1]]), "a hit too many");
        assert!(fails(&[good[0], good[1], ([3, 4], Touching)]), "a hit that is not among the pairs");
        assert!(fails(&[good[1], good[0]]), "out of order");
        assert!(fails(&[good[0], good[0], good[1]]), "twice");
        assert!(fails(&[([0, 1], Touching), good[1]]), "touching beyond the tolerance");
        assert!(fails(&[good[0], ([0, 2], Separated), good[1]]), "a hit that is separated");
        assert!(fails(&[([1, 0], Penetrating), good[1]]), "b before a");
    }

    #[test]
    fn hit_lists_of_two_engines_must_not_differ() {
        let left = [([0, 1], Penetrating), ([1, 2], Touching)];
        assert!(between_hits(&left, &left, |_, _| unreachable!()).passed().is_ok());
        let near = between_hits(&left, &left[..1], |a, b| {
            assert_eq!((a, b), (1, 2));
            truth(0.5 * TAU)
        });
        assert_eq!(near.failures.len(), 1);
        let flipped = [([0, 1], Touching), left[1]];
        assert!(between_hits(&left, &flipped, |_, _| truth(-0.5)).passed().is_err());
        let swapped = [left[1], left[0]];
        assert!(between_hits(&left, &swapped, |_, _| truth(0.0)).passed().is_err());
    }

    #[test]
    fn pair_lists_must_be_sorted_equal_and_complete() {
        let list = [[0, 1], [0, 2], [1, 2]];
        assert_eq!(same_pairs(&list, &list), Ok(()));
        assert_eq!(same_pairs(&[], &[]), Ok(()));
        assert!(same_pairs(&list, &list[..2]).is_err());
        assert!(same_pairs(&list[1..], &list).is_err());
        assert!(same_pairs(&[[1, 0]], &[[1, 0]]).is_err());
        assert!(same_pairs(&[[0, 2], [0, 1]], &[[0, 2], [0, 1]]).is_err());
        assert_eq!(complete(&list, &list[1..]), Ok(()));
        assert!(complete(&list[1..], &list).is_err());
    }
}
