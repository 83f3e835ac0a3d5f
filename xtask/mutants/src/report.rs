//! What a person reads of the results.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use crate::results::{Entry, Results, Verdict};

/// The whole report.
pub(crate) fn report(results: &Results) -> String {
    let mut out = String::new();
    for (language, is_wgsl) in [("rust", false), ("wgsl", true)] {
        let of_language = results.mutants.iter().filter(|entry| entry.mutant.kind.is_wgsl() == is_wgsl);
        let entries: Vec<&Entry> = of_language.collect();
        for verdict in [Verdict::Survived, Verdict::Unreached] {
            for entry in entries.iter().filter(|entry| verdict_of(entry) == Some(verdict)) {
                out += &describe(entry, verdict);
            }
        }
        if !entries.is_empty() {
            let _ = writeln!(out, "{language}: {}", summary(&entries));
        }
    }
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for refused in &results.refused {
        let reason = refused.reason.split(':').next().unwrap_or_default();
        *reasons.entry(reason).or_default() += 1;
    }
    for (reason, count) in reasons {
        let _ = writeln!(out, "replaced by the next mutant, because {reason}: {count}");
    }
    let failing = results.tests.iter().filter(|test| test.baseline.as_ref().is_some_and(|run| !run.passes));
    for test in failing {
        let program = &results.programs[test.program].name;
        let _ = writeln!(out, "left out, because it fails without a mutant: {program}: {}", test.name);
    }
    let control = results.control.as_ref().map(|outcome| (outcome.verdict, outcome.seconds));
    if let Some((verdict, seconds)) = control {
        let _ =
            writeln!(out, "a mutant that changes nothing: {} by all tests, {seconds:.0} s", word(verdict));
    }
    out
}

/// The verdicts in numbers, and the share of the mutants that were killed.
fn summary(entries: &[&Entry]) -> String {
    let mut counts: HashMap<Verdict, usize> = HashMap::new();
    let mut seconds = 0.0;
    for outcome in entries.iter().filter_map(|entry| entry.outcome.as_ref()) {
        *counts.entry(outcome.verdict).or_default() += 1;
        seconds += outcome.seconds;
    }
    let count = |verdict| counts.get(&verdict).copied().unwrap_or_default();
    let run: usize = counts.values().sum();
    let killed: usize =
        counts.iter().filter(|(verdict, _)| verdict.is_killed()).map(|(_, count)| count).sum();
    let share = if run == 0 { 0.0 } else { 100.0 * killed as f64 / run as f64 };
    let mut text = format!(
        "{run} mutants, {share:.1} % killed: {} by a test, {} by the time limit; {} survived, {} reached by no test; {seconds:.0} s",
        count(Verdict::Killed),
        count(Verdict::Timeout),
        count(Verdict::Survived),
        count(Verdict::Unreached),
    );
    if run < entries.len() {
        let _ = write!(text, "; {} not run yet", entries.len() - run);
    }
    text
}

fn verdict_of(entry: &Entry) -> Option<Verdict> {
    entry.outcome.as_ref().map(|outcome| outcome.verdict)
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Killed => "KILLED",
        Verdict::Timeout => "TIMED OUT",
        Verdict::Survived => "survived",
        Verdict::Unreached => "unreached",
    }
}

/// A mutant in words, and as a diff.
pub(crate) fn describe(entry: &Entry, verdict: Verdict) -> String {
    let mutant = &entry.mutant;
    let function =
        if mutant.function.is_empty() { String::new() } else { format!(" in {}", mutant.function) };
    // The list of Rust mutants names the function itself.
    let function = if mutant.what.contains(&mutant.function) { String::new() } else { function };
    let diff: String = entry.diff.lines().fold(String::new(), |out, line| out + "    " + line + "\n");
    format!("{}: {}:{}: {}{function}\n{diff}", word(verdict), mutant.file, mutant.line, mutant.what)
}

/// What differs between the results of an earlier run and later ones: the mutants that both have, whose verdicts differ, and those
/// that one has.
pub(crate) fn compare(before: &Results, after: &Results) -> String {
    let by_key = |results: &'_ Results| -> BTreeMap<String, usize> {
        let entries = results.mutants.iter().enumerate();
        entries.map(|(index, entry)| (entry.mutant.key.clone(), index)).collect()
    };
    let (old, new) = (by_key(before), by_key(after));
    let both: Vec<(&Entry, &Entry)> = old
        .iter()
        .filter_map(|(key, &index)| Some((&before.mutants[index], &after.mutants[*new.get(key)?])))
        .filter(|(before, after)| before.outcome.is_some() && after.outcome.is_some())
        .collect();
    let is_killed = |entry: &Entry| verdict_of(entry).is_some_and(Verdict::is_killed);
    let mut out = String::new();
    for (heading, was_killed) in [("killed before, not now", true), ("killed now, not before", false)] {
        for (before, after) in &both {
            if is_killed(before) == was_killed && is_killed(after) != was_killed {
                let entry = if was_killed { after } else { before };
                let verdict = verdict_of(entry).unwrap_or(Verdict::Survived);
                let _ = write!(out, "{heading}: {}", describe(entry, verdict));
            }
        }
    }
    for (name, own, other, results) in [("before", &old, &new, before), ("now", &new, &old, after)] {
        for (key, &index) in own.iter().filter(|(key, _)| !other.contains_key(*key)) {
            let _ = writeln!(
                out,
                "{name} only: {}: {key}",
                verdict_of(&results.mutants[index]).map_or("not run", word)
            );
        }
    }
    let killed = |pick: fn(&(&Entry, &Entry)) -> bool| both.iter().filter(|pair| pick(pair)).count();
    let old_killed = killed(|(before, _)| verdict_of(before).is_some_and(Verdict::is_killed));
    let new_killed = killed(|(_, after)| verdict_of(after).is_some_and(Verdict::is_killed));
    let _ = writeln!(out, "of {} mutants in both: {old_killed} killed before, {new_killed} now", both.len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutant::Kind;
    use crate::mutant::tests::mutant;
    use crate::results::{Outcome, Refused};

    fn entry(replacement: &str, verdict: Verdict) -> Entry {
        let text = "a < b";
        let mut mutant = mutant(text, "<", replacement, Kind::Binary);
        mutant.key = format!("key {replacement}");
        mutant.what = format!("replace < with {replacement} in f");
        let diff = mutant.diff(text);
        let outcome = Some(Outcome { verdict, by: String::new(), seconds: 1.0 });
        Entry { number: 0, mutant, diff, outcome }
    }

    fn results(mutants: Vec<Entry>) -> Results {
        Results { mutants, ..Results::default() }
    }

    #[test]
    fn a_report_has_the_share_and_the_survivors() {
        let mut results = results(vec![
            entry("<=", Verdict::Survived),
            entry(">", Verdict::Killed),
            entry("==", Verdict::Timeout),
            entry("!=", Verdict::Unreached),
        ]);
        let reason = "it does not compile: error: no".to_owned();
        results.refused = vec![Refused { key: String::new(), reason }];
        let expected = "\
survived: a:1: replace < with <= in f
    - a < b
    + a <= b
unreached: a:1: replace < with != in f
    - a < b
    + a != b
rust: 4 mutants, 50.0 % killed: 1 by a test, 1 by the time limit; 1 survived, 1 reached by no test; 4 s
replaced by the next mutant, because it does not compile: 1
";
        assert_eq!(report(&results), expected);
    }

    #[test]
    fn two_runs_are_compared_by_the_mutants_that_both_have() {
        let before = results(vec![
            entry("<=", Verdict::Killed),
            entry(">", Verdict::Killed),
            entry("==", Verdict::Survived),
            entry("!=", Verdict::Survived),
        ]);
        let after = results(vec![
            entry("<=", Verdict::Survived),
            entry(">", Verdict::Timeout),
            entry("==", Verdict::Killed),
            entry(">=", Verdict::Killed),
        ]);
        let expected = "\
killed before, not now: survived: a:1: replace < with <= in f
    - a < b
    + a <= b
killed now, not before: survived: a:1: replace < with == in f
    - a < b
    + a == b
before only: survived: key !=
now only: KILLED: key >=
of 3 mutants in both: 2 killed before, 2 now
";
        assert_eq!(compare(&before, &after), expected);
    }
}
