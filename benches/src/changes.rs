//! `hullfield-bench compare`: what changed between two reports of `all`, beyond the noise of both.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use crate::report::{Cell, Report, Table};

/// A change is one beyond so many times the spread of both measurements together.
const SPREADS: f64 = 4.0;

/// A measurement of fewer runs has no spread that says anything.
const LEAST_RUNS: u64 = 3;

/// So many cases of peers tell how much times differ between the two runs though no code changed.
const LEAST_CONTROLS: usize = 10;

/// The share of the peers' cases that is taken for noise.
const CONTROL_SHARE: f64 = 0.9;

/// The lines of the header that are shown: their keys in JSON, and their names.
const HEADER: [(&str, &str); 11] = [
    ("program", "program"),
    ("command", "command"),
    ("commit", "commit"),
    ("date", "date"),
    ("cpu", "cpu"),
    ("cores", "cores"),
    ("compiler", "compiler"),
    ("profile", "profile"),
    ("threads", "threads"),
    ("seed", "seed"),
    ("gpu_driver", "gpu driver"),
];

#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// Old reports, then the new one, as JSON of `all`. A case counts as changed only if it changed against every old report. Several old
    /// reports of the same program show how much its times vary.
    #[arg(required = true, num_args = 2.., value_names = ["OLD", "NEW"])]
    reports: Vec<PathBuf>,
    /// Reports no smaller change.
    #[arg(long, value_name = "SHARE", default_value = "10%", value_parser = parse_share)]
    least: f64,
}

/// What a case took in a report.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Measured {
    ms: f64,
    /// Half the interquartile range over the median.
    spread: f64,
    runs: u64,
    /// Whether it is of a peer: code that is the same in both reports.
    is_peer: bool,
}

/// The table, the sizes and names of a row: what is the same in both reports.
type Key = (String, String);

#[derive(Debug, Clone, PartialEq)]
enum Verdict {
    Slower,
    Faster,
    /// The change is within the noise, or below what is told.
    Same,
    /// Too few runs to tell.
    Unknown,
}

/// Compares two reports. Returns false if something is slower.
///
/// # Errors
/// A file that is no report, or two reports that have nothing in common.
pub(crate) fn run(options: &Options) -> Result<bool, String> {
    let reports = options.reports.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let Some(([old, ..], new)) = reports.split_last().map(|(new, olds)| (olds, new)) else {
        return Err("two reports are needed".into());
    };
    let mut report = Report::new(Vec::new());
    for (key, name) in HEADER {
        let [before, after] = [old, new].map(|report| report["header"][key].as_str().unwrap_or("unknown"));
        let value = if before == after { before.to_owned() } else { format!("{before} → {after}") };
        report.fact(name, value);
    }
    let same_machine =
        ["cpu", "cores", "threads", "profile"].iter().all(|name| old["header"][name] == new["header"][name]);
    if !same_machine {
        report.fact("note", "the machines or the builds differ: so may the times".into());
    }
    let [before, after] = [measurements(old), measurements(new)];
    let others: Vec<BTreeMap<Key, Measured>> =
        reports[1..reports.len() - 1].iter().map(measurements).collect();
    let common: Vec<(&Key, [Measured; 2])> =
        before.iter().filter_map(|(key, &one)| Some((key, [one, *after.get(key)?]))).collect();
    if common.is_empty() {
        return Err(format!(
            "{} and {} have no case in common: both must be the JSON of `hullfield-bench all`",
            options.reports[0].display(),
            options.reports[options.reports.len() - 1].display()
        ));
    }
    let controls: Vec<[Measured; 2]> =
        common.iter().map(|&(_, both)| both).filter(|both| both.iter().all(|one| one.is_peer)).collect();
    let between = between_runs(&controls);
    let least = between.as_ref().map_or(options.least, |between| between.noise.max(options.least));
    let mut table = Table::new(
        "changes",
        format!("What changed by {:.0} % or more, beyond the noise of both", 100.0 * options.least),
        &["of", "case", "before ms", "±", "after ms", "± ", "after over before", "change"],
    );
    let mut counts = [0_usize; 4];
    let mut rows: Vec<(f64, Vec<Cell>)> = Vec::new();
    for (key, [one, other]) in common.iter().filter(|(_, [one, _])| !one.is_peer) {
        // Of all old runs the one that is nearest to the new.
        let olds = others.iter().filter_map(|report| report.get(*key)).chain([one]);
        let verdicts: Vec<(Measured, Verdict)> = olds.map(|&one| (one, judge(one, *other, least))).collect();
        let (one, verdict) = agreed(verdicts, *other);
        counts[verdict.clone() as usize] += 1;
        let change = match verdict {
            Verdict::Slower => "slower",
            Verdict::Faster => "faster",
            Verdict::Same | Verdict::Unknown => continue,
        };
        let ratio = other.ms / one.ms;
        rows.push((
            ratio,
            vec![
                key.0.as_str().into(),
                key.1.as_str().into(),
                Cell::Significant(one.ms),
                Cell::Share(one.spread, 0),
                Cell::Significant(other.ms),
                Cell::Share(other.spread, 0),
                Cell::Number(ratio, 2),
                change.into(),
            ],
        ));
    }
    rows.sort_by(|one, other| other.0.total_cmp(&one.0));
    rows.into_iter().for_each(|(_, row)| table.row(row));
    let [slower, faster, same, unknown] = counts;
    table.note(format!(
        "{} cases of hullfield in both: {slower} slower, {faster} faster, {same} the same, {unknown} with fewer than {LEAST_RUNS} runs.",
        counts.iter().sum::<usize>()
    ));
    for (name, report, other) in [("before", &before, &after), ("after", &after, &before)] {
        let alone = report.keys().filter(|key| !other.contains_key(*key)).count();
        if alone > 0 {
            table.note(format!("{alone} cases are in the report {name} only."));
        }
    }
    table.note(format!("beyond the noise: by more than {SPREADS} times the spread of both, and by more than peers differ between the runs."));
    table.note(match between {
        Some(Between { noise, median, count }) => format!(
            "{count} cases of peers, whose code is the same in both: {:.0} % of them differ by less than {:.0} %; their median ratio is {median:.2}.",
            100.0 * CONTROL_SHARE,
            100.0 * noise
        ),
        None => format!("There are fewer than {LEAST_CONTROLS} cases of peers to tell how much the runs differ."),
    });
    report.table(table);
    Ok(slower == 0)
}

/// How much times differ between two runs of the same code.
#[derive(Debug, PartialEq)]
struct Between {
    /// What [`CONTROL_SHARE`] of the ratios, or their inverses, stay below, less one.
    noise: f64,
    /// The median ratio: above one the second run was slower.
    median: f64,
    count: usize,
}

fn between_runs(controls: &[[Measured; 2]]) -> Option<Between> {
    let mut logs: Vec<f64> = controls
        .iter()
        .filter(|both| both.iter().all(|one| one.runs >= LEAST_RUNS))
        .map(|[one, other]| (other.ms / one.ms).ln())
        .collect();
    let count = logs.len();
    if count < LEAST_CONTROLS {
        return None;
    }
    logs.sort_by(f64::total_cmp);
    let median = logs[count / 2].exp();
    logs.iter_mut().for_each(|log| *log = log.abs());
    logs.sort_by(f64::total_cmp);
    let at = ((CONTROL_SHARE * count as f64).ceil() as usize).clamp(1, count) - 1;
    Some(Between { noise: logs[at].exp() - 1.0, median, count })
}

/// What all old runs say of a case, with the one that is nearest to the new run.
fn agreed(verdicts: Vec<(Measured, Verdict)>, new: Measured) -> (Measured, Verdict) {
    let is_one = verdicts.windows(2).all(|two| two[0].1 == two[1].1);
    let distance = |old: &Measured| (new.ms / old.ms).ln().abs();
    let nearest = verdicts.into_iter().min_by(|one, other| distance(&one.0).total_cmp(&distance(&other.0)));
    match nearest {
        Some((old, verdict)) if is_one => (old, verdict),
        Some((old, _)) => (old, Verdict::Same),
        None => (new, Verdict::Unknown),
    }
}

fn judge(one: Measured, other: Measured, least: f64) -> Verdict {
    if one.runs < LEAST_RUNS || other.runs < LEAST_RUNS {
        return Verdict::Unknown;
    }
    let noise = (SPREADS * one.spread.hypot(other.spread)).max(least);
    let ratio = other.ms / one.ms;
    if ratio > 1.0 + noise {
        Verdict::Slower
    } else if ratio < 1.0 / (1.0 + noise) {
        Verdict::Faster
    } else {
        Verdict::Same
    }
}

/// The rows that have a time, a spread and a number of runs. What else is in them, but for other numbers with decimals, names the case.
fn measurements(report: &Value) -> BTreeMap<Key, Measured> {
    let mut all = BTreeMap::new();
    for table in report["tables"].as_array().into_iter().flatten() {
        let Some(name) = table["name"].as_str() else { continue };
        for row in table["rows"].as_array().into_iter().flatten().filter_map(Value::as_object) {
            let number = |key: &str| row.get(key).and_then(Value::as_f64);
            let (Some(ms), Some(spread), Some(runs)) =
                (number("ms"), number("±"), row.get("runs").and_then(Value::as_u64))
            else {
                continue;
            };
            // Counts and words up to the time name the case; what follows was measured.
            let case: Vec<String> = row
                .iter()
                .take_while(|(key, _)| *key != "ms")
                .map(|(key, value)| match value.as_str() {
                    Some(text) => text.to_owned(),
                    None => format!("{value} {}", key.replace('_', " ")),
                })
                .collect();
            let who = row.get("who").and_then(Value::as_str);
            let is_peer = who.is_some_and(|who| !who.starts_with("cpu") && !who.ends_with("gpu"));
            if ms > 0.0 {
                all.insert((name.to_owned(), case.join(", ")), Measured { ms, spread, runs, is_peer });
            }
        }
    }
    all
}

fn read(path: &Path) -> Result<Value, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let value: Value =
        serde_json::from_str(&text).map_err(|error| format!("{} is not JSON: {error}", path.display()))?;
    if value["tables"].is_array() {
        Ok(value)
    } else {
        Err(format!("{} is no report: it has no tables", path.display()))
    }
}

/// Reads a share such as `10%` or `0.1`.
///
/// # Errors
/// A message for the user.
pub(crate) fn parse_share(text: &str) -> Result<f64, String> {
    let (number, factor) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), 0.01),
        None => (text.trim(), 1.0),
    };
    match number.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(factor * value),
        _ => Err("it must be a share of zero or more, such as 10% or 0.1".into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn measured(ms: f64, spread: f64) -> Measured {
        Measured { ms, spread, runs: 11, is_peer: false }
    }

    #[test]
    fn a_change_must_be_beyond_the_noise_of_both() {
        assert_eq!(judge(measured(1.0, 0.01), measured(1.2, 0.01), 0.1), Verdict::Slower);
        assert_eq!(judge(measured(1.2, 0.01), measured(1.0, 0.01), 0.1), Verdict::Faster);
        assert_eq!(judge(measured(1.0, 0.01), measured(1.05, 0.01), 0.1), Verdict::Same);
        assert_eq!(judge(measured(1.0, 0.1), measured(1.2, 0.1), 0.1), Verdict::Same);
        assert_eq!(
            judge(measured(1.0, 0.0), Measured { runs: 1, ..measured(9.0, 0.0) }, 0.1),
            Verdict::Unknown
        );
    }

    #[test]
    fn a_change_must_be_one_against_each_old_run() {
        let new = measured(1.5, 0.01);
        let verdicts = |olds: &[f64]| {
            olds.iter().map(|&ms| (measured(ms, 0.01), judge(measured(ms, 0.01), new, 0.1))).collect()
        };
        assert_eq!(agreed(verdicts(&[1.0, 1.2]), new), (measured(1.2, 0.01), Verdict::Slower));
        assert_eq!(agreed(verdicts(&[1.0, 1.6]), new), (measured(1.6, 0.01), Verdict::Same));
        assert_eq!(agreed(verdicts(&[1.0, 2.0]), new).1, Verdict::Same);
        assert_eq!(agreed(verdicts(&[1.8, 2.0]), new), (measured(1.8, 0.01), Verdict::Faster));
    }

    #[test]
    fn peers_tell_how_much_the_runs_differ() {
        let both = |ratio: f64| [measured(2.0, 0.01), measured(2.0 * ratio, 0.01)];
        assert_eq!(between_runs(&[both(1.0); LEAST_CONTROLS - 1]), None);
        let mut controls = vec![both(1.0); 6];
        controls.extend([both(0.8), both(1.25), both(0.8), both(9.0)]);
        let between = between_runs(&controls).unwrap();
        assert!((between.noise - 0.25).abs() < 1e-9, "{between:?}");
        assert!((between.median - 1.0).abs() < 1e-9 && between.count == 10, "{between:?}");
        // Too few runs tell nothing.
        controls.iter_mut().for_each(|both| both[1].runs = 1);
        assert_eq!(between_runs(&controls), None);
    }

    #[test]
    fn rows_are_named_by_what_comes_before_the_time() {
        let report = json!({"tables": [
            {"name": "pairs", "rows": [
                {"pairs": 1000, "who": "cpu, 1 thread", "ms": 2.0, "±": 0.01, "runs": 11, "peak_bytes": 7},
                {"pairs": 1000, "who": "gpu", "ms": null, "±": null, "runs": 0},
                {"pairs": 1000, "who": "parry3d 0.31.1", "ms": 5.0, "±": 0.01, "runs": 11, "peak_bytes": 7},
            ]},
            {"name": "growth", "rows": [{"of": "pairs", "exponent": 1.0}]},
        ]});
        let all = measurements(&report);
        assert_eq!(all.len(), 2);
        assert!(all[&("pairs".to_owned(), "1000 pairs, parry3d 0.31.1".to_owned())].is_peer);
        assert_eq!(all[&("pairs".to_owned(), "1000 pairs, cpu, 1 thread".to_owned())], measured(2.0, 0.01));
    }

    #[test]
    fn shares() {
        assert_eq!(parse_share("10%"), Ok(0.1));
        assert_eq!(parse_share("0.25"), Ok(0.25));
        for text in ["", "%", "-1%", "ten", "nan", "inf"] {
            assert!(parse_share(text).is_err(), "{text}");
        }
    }
}
