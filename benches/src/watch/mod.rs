//! `hullfield-bench check`: counts the instructions of small, fixed cases and compares them with a baseline file. Times are noisy
//! on shared machines, counts are not.
//!
//! - Each case runs in a process of its own, on one thread: this program starts itself under valgrind's cachegrind without its simulation
//!   of caches. Where there is no valgrind, `perf stat` counts, if the processor has a counter.
//! - A process counts its start and the setup of its case too. So each case runs twice, once with one round and once with two. The
//!   difference of both counts is what one round takes. The number does not depend on the names of functions or on inlining, as it would with
//!   callgrind's `--toggle-collect`, and perf can do the same.
//! - The library chooses its code by the processor's vector instructions, so counts of different sets of them are not compared. valgrind imitates
//!   a processor without AVX-512.

mod baseline;
mod cases;
mod collide;
mod counter;
mod flow;
mod paths;
mod rounds;

use std::path::PathBuf;

use clap::Args;
use rayon::prelude::*;

use crate::changes::parse_share;
use crate::error::Refusal;
use crate::report::{self, Cell, Report, Table};
use baseline::{Baseline, Count, Setup, Verdict, change, judge, renewal};
use cases::{CASES, Case};
use counter::{Answer, Counter, hex};

#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// The file of counts that is compared with.
    #[arg(long, value_name = "FILE", default_value = "benches/baseline.json")]
    baseline: PathBuf,
    /// The largest increase of a count that passes, as a share of the baseline's.
    #[arg(long, value_name = "SHARE", default_value = "3%", value_parser = parse_share)]
    tolerance: f64,
    /// Only the cases whose names begin with NAME.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Writes the counts to the baseline file instead. With `--only` the other cases of the file stay.
    #[arg(long)]
    renew: bool,
    /// Writes the counts as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Runs a case in this process, which is counted, and prints its answer.
    #[arg(long, value_name = "NAME", hide = true)]
    case: Option<String>,
    /// How often that case runs; 0 runs nothing.
    #[arg(long, value_name = "N", hide = true, default_value_t = 1)]
    rounds: u32,
    /// A case that runs twice as often as it should, to see that this is noticed.
    #[arg(long, value_name = "NAME", hide = true)]
    slow_down: Option<String>,
}

/// Compares counts with the baseline, or renews it. Returns false if a case needs more instructions than before or answers otherwise, or if
/// the cases are not those of the baseline.
///
/// # Errors
/// One sentence: an option that cannot be kept, no counter, a baseline of another setup, a case that fails. Where the counter does not know
/// an instruction of a case, the other cases are compared or written first.
pub(crate) fn run(options: &Options) -> Result<bool, Refusal> {
    if let Some(name) = &options.case {
        answer(name, options.rounds)?;
        return Ok(true);
    }
    let cases = options.cases()?;
    if let Some(path) = &options.json {
        report::check_writable("--json", path)?;
    }
    if options.renew {
        report::check_writable("--baseline", &options.baseline)?;
    }
    // A file that is renewed as a whole may be anything.
    let is_needed = !options.renew || (options.only.is_some() && options.baseline.exists());
    let old = if is_needed { Some(Baseline::read(&options.baseline)?) } else { None };
    let (counter, counter_version) = Counter::find().map_err(Refusal::NotComparable)?;
    let vectors = counter.count(cases[0].name, 0)?.answer.vectors;
    let setup = Setup::here(counter, vectors);
    if let Some(old) = &old {
        old.check_setup(&setup, &options.baseline).map_err(Refusal::NotComparable)?;
    }
    let started = std::time::Instant::now();
    let is_slow = |case: &Case| options.slow_down.as_deref() == Some(case.name);
    let counts: Vec<_> = cases.par_iter().map(|case| count(counter, case, is_slow(case))).collect();
    let (mut counted, mut named, mut not_counted) = (Vec::new(), Vec::new(), Vec::new());
    for (case, count) in cases.into_iter().zip(counts) {
        match count {
            Ok(count) => {
                counted.push(case);
                named.push((case.name.to_owned(), count));
            }
            Err(Refusal::NotComparable(why)) => not_counted.push(why),
            Err(other) => return Err(other),
        }
    }
    if named.is_empty() {
        return Err(Refusal::NotComparable(not_counted.join("; ")));
    }
    let new = Baseline::new(setup, counter_version, named);
    let mut report = Report::new(Vec::new());
    describe(&new, old.as_ref(), &mut report);
    report.fact("took", format!("{:.0} s", started.elapsed().as_secs_f64()));
    compare(options, &counted, &new, old.as_ref(), &mut report);
    if options.renew {
        let mut renewed = old.unwrap_or_else(|| new.clone());
        renewed.take_over(new);
        renewed.write(&options.baseline)?;
        report.fact("written", options.baseline.display().to_string());
    } else {
        report.print_failures();
    }
    if let Some(path) = &options.json {
        report::write(path, &report.to_json())?;
    }
    if !report.failures().is_empty() {
        not_counted.iter().for_each(|why| eprintln!("check: {why}"));
        return Ok(false);
    }
    if not_counted.is_empty() { Ok(true) } else { Err(Refusal::NotComparable(not_counted.join("; "))) }
}

impl Options {
    /// The cases that it names.
    fn cases(&self) -> Result<Vec<&'static Case>, String> {
        let names = || CASES.each_ref().map(|case| case.name).join(", ");
        if let Some(name) = &self.slow_down
            && find(name).is_none()
        {
            return Err(format!("--slow-down {name}: there are the cases {}", names()));
        }
        let cases: Vec<&Case> = CASES.iter().filter(|case| self.selects(case.name)).collect();
        if cases.is_empty() {
            let only = self.only.as_deref().unwrap_or_default();
            return Err(format!("--only {only}: there are the cases {}", names()));
        }
        Ok(cases)
    }

    fn selects(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| name.starts_with(only.as_str()))
    }
}

fn find(name: &str) -> Option<&'static Case> {
    CASES.iter().find(|case| case.name == name)
}

/// Runs a case on this thread alone, and prints what it answers.
fn answer(name: &str, rounds: u32) -> Result<(), String> {
    let case = find(name).ok_or_else(|| format!("--case {name}: there is no such case"))?;
    // No other thread, as one that waits for work counts too.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    alone.map_err(|error| error.to_string())?;
    let checksum = if rounds == 0 { 0 } else { (case.run)(rounds)? };
    report::say(format_args!("{}\n", Answer { checksum, vectors: counter::vectors() }.to_json()));
    Ok(())
}

/// Counts the second round of a case, and of a slow one the second two.
fn count(counter: Counter, case: &Case, is_slow: bool) -> Result<Count, Refusal> {
    let name = case.name;
    let rounds = if is_slow { 2 } else { 1 };
    eprintln!("check: {name}");
    let first = counter.count(name, rounds)?;
    let both = counter.count(name, 2 * rounds)?;
    if first.answer != both.answer {
        return Err(format!("the case {name} gives another answer when it runs again").into());
    }
    let instructions = both.instructions.checked_sub(first.instructions).filter(|&count| count > 0);
    let instructions = instructions.ok_or_else(|| format!("the case {name} counts less with more rounds"))?;
    Ok(Count { instructions, checksum: first.answer.checksum })
}

/// Puts what was counted into the header, and what it was where that differs.
fn describe(new: &Baseline, old: Option<&Baseline>, report: &mut Report) {
    let lines = |of: &Baseline| {
        let mut lines = vec![("program", of.program.clone()), ("commit", of.commit.clone())];
        lines.extend(of.setup.parts().map(|(name, text)| (name, text.to_owned())));
        lines.push(("version", of.counter_version.clone()));
        lines
    };
    let before = old.map(lines);
    for (index, (name, now)) in lines(new).into_iter().enumerate() {
        let before = before.as_ref().map(|lines| &lines[index].1).filter(|before| **before != now);
        report.fact(name, before.map_or(now.clone(), |before| format!("{before} → {now}")));
    }
}

/// Adds the table, and what has failed.
fn compare(
    options: &Options,
    cases: &[&'static Case],
    new: &Baseline,
    old: Option<&Baseline>,
    report: &mut Report,
) {
    let renew = renewal(&options.baseline);
    let mut table = Table::new(
        "check",
        "Instructions of one round, on one thread",
        &["case", "one round", "instructions", "baseline", "change", "verdict", "checksum"],
    );
    let mut failures = Vec::new();
    for (case, &(_, now)) in cases.iter().zip(&new.cases) {
        let before = old.and_then(|old| old.count(case.name));
        let off = before.map_or(f64::NAN, |before| change(before, now));
        let percent = 100.0 * off.abs();
        let allowed = 100.0 * options.tolerance;
        let verdict = match judge(before, now, options.tolerance) {
            Verdict::Same => "same",
            Verdict::More => {
                failures.push(format!(
                    "{}: {percent:.2} % more instructions than in the baseline; {allowed} % are allowed",
                    case.name
                ));
                "more"
            }
            Verdict::Fewer => {
                table.note(format!(
                    "{}: {percent:.2} % fewer instructions than in the baseline; {renew} keeps the gain",
                    case.name
                ));
                "fewer"
            }
            Verdict::OtherAnswer => {
                let before = before.map_or(0, |before| before.checksum);
                failures.push(format!(
                    "{}: the answer changed, as its checksum is {} and was {}",
                    case.name,
                    hex(now.checksum),
                    hex(before)
                ));
                "other answer"
            }
            Verdict::New => {
                failures
                    .push(format!("{}: the baseline does not have this case; {renew} adds it", case.name));
                "new"
            }
        };
        table.row([
            case.name.into(),
            case.work.into(),
            now.instructions.into(),
            before.map_or(Cell::Empty, |before| before.instructions.into()),
            Cell::Share(off, 3),
            if options.renew { "renewed" } else { verdict }.into(),
            hex(now.checksum).into(),
        ]);
    }
    let gone = old.iter().flat_map(|old| &old.cases).filter(|(name, _)| find(name).is_none());
    for (name, _) in gone.filter(|(name, _)| options.selects(name)) {
        failures
            .push(format!("{name}: the baseline has this case, and it does not exist; {renew} removes it"));
    }
    report.table(table);
    if !options.renew {
        failures.into_iter().for_each(|failure| report.fail(failure));
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn options(args: &[&str]) -> Result<Options, String> {
        let line = Line::try_parse_from([&["check"], args].concat());
        line.map(|line| line.options).map_err(|error| error.to_string())
    }

    fn baseline(cases: &[(&str, u64, u64)]) -> Baseline {
        let counts = cases
            .iter()
            .map(|&(name, instructions, checksum)| (name.to_owned(), Count { instructions, checksum }));
        Baseline::new(Setup::here(Counter::Perf, "avx2".into()), "perf 6".into(), counts.collect())
    }

    fn failures(args: &[&str], new: &[(&str, u64, u64)], old: &[(&str, u64, u64)]) -> Vec<String> {
        let options = options(args).unwrap();
        let cases: Vec<&Case> = new.iter().map(|(name, ..)| find(name).unwrap()).collect();
        let mut report = Report::new(Vec::new());
        compare(&options, &cases, &baseline(new), Some(&baseline(old)), &mut report);
        report.failures().to_vec()
    }

    #[test]
    fn what_differs_is_told_by_name() {
        let old = [("rays", 1000, 1), ("hulls", 1000, 1)];
        assert_eq!(failures(&[], &[("rays", 1029, 1), ("hulls", 500, 1)], &old), [""; 0]);
        let more = failures(&[], &[("rays", 1031, 1), ("hulls", 1000, 1)], &old);
        assert_eq!(more, ["rays: 3.10 % more instructions than in the baseline; 3 % are allowed"]);
        let other = failures(&[], &[("rays", 1000, 2), ("hulls", 1000, 1)], &old);
        assert!(other.len() == 1 && other[0].starts_with("rays: the answer changed"), "{other:?}");
        let new = failures(&[], &[("rays", 1000, 1), ("warm", 9, 1)], &old);
        assert!(new.len() == 1 && new[0].starts_with("warm: the baseline does not have"), "{new:?}");
        let gone = failures(&[], &[("rays", 1000, 1)], &[("rays", 1000, 1), ("rats", 7, 7)]);
        assert!(gone.len() == 1 && gone[0].starts_with("rats: the baseline has this case"), "{gone:?}");
        assert_eq!(
            failures(&["--only", "ray"], &[("rays", 1000, 1)], &[("rays", 1000, 1), ("rats", 7, 7)]),
            [""; 0]
        );
        assert_eq!(failures(&["--tolerance", "0.5"], &[("rays", 1400, 1)], &old), [""; 0]);
        assert_eq!(failures(&["--renew"], &[("rays", 9000, 2)], &old), [""; 0]);
    }

    #[test]
    fn shares_and_names_are_checked() {
        assert_eq!(options(&[]).unwrap().tolerance, 0.03);
        assert_eq!(options(&["--tolerance", "1.5%"]).unwrap().tolerance, 0.015);
        for text in ["three", "%", "-1%", "nan"] {
            assert!(
                options(&[&format!("--tolerance={text}")]).unwrap_err().contains("such as 10%"),
                "{text}"
            );
        }
        let selected = options(&["--only", "inter"]).unwrap().cases().unwrap();
        assert_eq!(
            selected.iter().map(|case| case.name).collect::<Vec<_>>(),
            ["intersections-8", "intersections-128"]
        );
        for args in [["--only", "no such"], ["--slow-down", "no such"]] {
            let error = options(&args).unwrap().cases().unwrap_err();
            assert!(error.contains("no such: there are the cases hulls, "), "{error}");
        }
    }
}
