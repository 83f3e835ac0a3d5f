//! A run of the kit: parts that share a budget, jobs that fit or are named as skipped, and a JSON file that is written anew after
//! each part.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hullfield::Engine;
use serde_json::{Value, json};

use crate::budget::{Plan, Share, seconds};
use crate::error::{Trouble, panic_text};
use crate::report::{self, Cell, Report, Table, say};

/// The part of the budget that is planned. The rest is for what takes longer than predicted.
const PLANNED: f64 = 0.93;

/// Of the budget, how much longer a run may take before it is ended. A machine that is lent for a time ends it without a word.
const GRACE: f64 = 0.15;

/// Seconds that a run may take on top of that: a job that has begun ends. In a reduced run, a software driver may have to compile a kernel,
/// which takes it more than ten seconds where its cache is empty.
const LAST_JOB: f64 = 10.0;
const LAST_JOB_OF_SOFTWARE: f64 = 120.0;

/// How a part ended.
#[derive(Debug, Clone, PartialEq)]
struct PartRow {
    name: &'static str,
    state: &'static str,
    took_s: f64,
    job_count: usize,
    /// Errors, and why the part did not run.
    notes: Vec<String>,
}

/// A job that did not run, or that the device's memory did not hold.
#[derive(Debug, Clone, PartialEq)]
struct Skipped {
    part: &'static str,
    what: String,
    why: String,
}

/// The state of a run.
pub(crate) struct Kit {
    pub(crate) report: Report,
    /// Small sizes and few repetitions.
    pub(crate) is_reduced: bool,
    adapter: String,
    engine: Option<Engine>,
    json: Option<PathBuf>,
    start: Instant,
    budget_s: f64,
    plan: Plan,
    share: Share,
    /// The part that runs.
    part: PartRow,
    parts: Vec<PartRow>,
    skipped: Vec<Skipped>,
    running: Arc<Mutex<String>>,
}

impl Kit {
    /// A run on an adapter. The parts have `weights`.
    pub(crate) fn new(
        report: Report,
        adapter: &str,
        json: Option<PathBuf>,
        budget_s: f64,
        weights: Vec<f64>,
        is_reduced: bool,
    ) -> Self {
        let kit = Self {
            report,
            is_reduced,
            adapter: adapter.to_owned(),
            engine: None,
            json,
            start: Instant::now(),
            budget_s,
            plan: Plan::new(PLANNED * budget_s, weights),
            share: Share::default(),
            part: PartRow { name: "", state: "", took_s: 0.0, job_count: 0, notes: Vec::new() },
            parts: Vec::new(),
            skipped: Vec::new(),
            running: Arc::default(),
        };
        kit.end_late();
        kit
    }

    /// Ends the process where a job hangs, unless the kit has been dropped: what was measured before is in the file.
    fn end_late(&self) {
        let (running, budget_s) = (Arc::downgrade(&self.running), self.budget_s);
        let grace_s = budget_s * GRACE + if self.is_reduced { LAST_JOB_OF_SOFTWARE } else { LAST_JOB };
        let file = self.json.as_ref().map(|path| path.display().to_string());
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs_f64(budget_s + grace_s));
            let Some(running) = running.upgrade() else { return };
            let running = running.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let kept = file.map_or(String::new(), |file| format!("; {file} has the parts before it"));
            eprintln!(
                "hullfield-bench: stopped: \"{running}\" still ran {} past the budget of {}{kept}",
                seconds(grace_s),
                seconds(budget_s)
            );
            std::process::exit(1);
        });
    }

    fn now_s(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Runs a part. Its error, a lost device too, goes into the part's row, and the next part has a device of its own.
    ///
    /// # Errors
    /// If the JSON file cannot be written.
    pub(crate) fn part(
        &mut self,
        index: usize,
        name: &'static str,
        run: impl FnOnce(&mut Self) -> Result<(), Trouble>,
    ) -> Result<(), String> {
        let begin_s = self.now_s();
        self.share = Share::until(self.plan.end_of(index, begin_s));
        self.part = PartRow { name, state: "done", took_s: 0.0, job_count: 0, notes: Vec::new() };
        let skipped_before = self.skipped.len();
        self.say(name);
        self.write(false)?;
        let done = catch_unwind(AssertUnwindSafe(|| run(self)));
        match done {
            Ok(Ok(())) => {}
            Ok(Err(trouble)) => self.fail(trouble.to_string()),
            Err(panic) => self.fail(panic_text(&panic)),
        }
        // Memory and faults of one part are not those of the next.
        self.engine = None;
        self.part.took_s = self.now_s() - begin_s;
        let is_cut = self.skipped.len() > skipped_before;
        self.part.state = match (self.part.notes.is_empty(), self.part.job_count, is_cut) {
            (false, ..) => "failed",
            (true, 0, true) => "skipped",
            (true, _, true) => "in part",
            (true, _, false) => "done",
        };
        self.parts.push(self.part.clone());
        self.write(false)
    }

    /// Runs a job on the part's engine, if it fits into the part's share. `kind` and `work` are what its time is predicted from: jobs
    /// of a kind come in the order of their work. None where it did not run or did not end; the tables name it then.
    pub(crate) fn job<T>(
        &mut self,
        kind: &str,
        what: &str,
        work: f64,
        run: impl FnOnce(&Engine) -> Result<T, Trouble>,
    ) -> Option<T> {
        if let Err(why) = self.share.admit(kind, work, self.now_s()) {
            self.skip(what, why);
            return None;
        }
        let engine = match self.open() {
            Ok(engine) => engine,
            Err(error) => {
                self.fail(format!("{what}: {error}"));
                return None;
            }
        };
        self.say(&format!("{}: {what}", self.part.name));
        let begin_s = self.now_s();
        let done = catch_unwind(AssertUnwindSafe(|| run(&engine)))
            .unwrap_or_else(|panic| Err(Trouble::Failed(panic_text(&panic))));
        self.share.note(kind, work, self.now_s() - begin_s);
        match done {
            Ok(found) => {
                self.part.job_count += 1;
                return Some(found);
            }
            Err(Trouble::TooLarge(why)) => self.skip(what, why),
            Err(Trouble::Lost(why)) => {
                self.engine = None;
                self.fail(format!("{what}: {why}"));
            }
            Err(Trouble::Failed(why)) => self.fail(format!("{what}: {why}")),
        }
        None
    }

    /// The part's engine. It is opened anew after a loss.
    fn open(&mut self) -> Result<Engine, hullfield::Error> {
        let engine = match self.engine.take() {
            Some(engine) => engine,
            None => hullfield::inspect::engine_on(&self.adapter)?,
        };
        Ok(self.engine.insert(engine).clone())
    }

    /// Adds a table, if it has a row.
    pub(crate) fn table(&mut self, table: Table) {
        if !table.is_empty() {
            self.report.table(table);
        }
    }

    /// Names what did not run.
    pub(crate) fn skip(&mut self, what: &str, why: impl Into<String>) {
        self.skipped.push(Skipped { part: self.part.name, what: what.into(), why: why.into() });
    }

    /// Adds an error to the part's row, and to the failures.
    pub(crate) fn fail(&mut self, text: String) {
        self.report.fail(format!("{}: {text}", self.part.name));
        self.part.notes.push(text);
    }

    fn say(&self, text: &str) {
        eprintln!("gpu: {text}");
        text.clone_into(&mut self.running.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Adds the tables of the parts and of what was skipped, and writes the file for the last time.
    ///
    /// # Errors
    /// If the JSON file cannot be written.
    pub(crate) fn finish(&mut self) -> Result<(), String> {
        let mut table =
            Table::new("parts", "The parts of this run", &["part", "state", "jobs", "s", "notes"]);
        for part in &self.parts {
            table.row([
                part.name.into(),
                part.state.into(),
                part.job_count.into(),
                Cell::Number(part.took_s, 1),
                if part.notes.is_empty() { Cell::Empty } else { part.notes.join("; ").into() },
            ]);
        }
        let (total_s, budget_s) = (self.now_s(), self.budget_s);
        table.note(format!("{} of a budget of {}", seconds(total_s), seconds(budget_s)));
        if !self.skipped.is_empty() {
            table.note("what did not fit is named below");
        }
        self.report.table(table);
        if !self.skipped.is_empty() {
            let mut table = Table::new("skipped", "What did not run, and why", &["part", "what", "why"]);
            for Skipped { part, what, why } in &self.skipped {
                table.row([(*part).into(), what.as_str().into(), why.as_str().into()]);
            }
            self.report.table(table);
        }
        self.write(true)
    }

    /// Prints the failed checks, or that there are none.
    pub(crate) fn print_conclusion(&self) {
        match (self.report.failures().is_empty(), self.skipped.len()) {
            (true, skipped @ 1..) => {
                say(format_args!("\nno check failed, but {skipped} jobs were skipped\n"))
            }
            _ => self.report.print_failures(),
        }
    }

    fn write(&self, is_complete: bool) -> Result<(), String> {
        let Some(path) = &self.json else { return Ok(()) };
        let running = (!is_complete).then_some(self.part.name);
        report::write(path, &format!("{:#}\n", self.to_value(is_complete, running)))
    }

    /// Everything so far.
    fn to_value(&self, is_complete: bool, running: Option<&str>) -> Value {
        let part = |part: &PartRow| json!({ "name": part.name, "state": part.state, "seconds": part.took_s, "jobs": part.job_count, "notes": part.notes });
        let skipped =
            |skipped: &Skipped| json!({ "part": skipped.part, "what": skipped.what, "why": skipped.why });
        let mut value = json!({
            "kit": 1,
            "is_complete": is_complete,
            "is_reduced": self.is_reduced,
            "running": running,
            "budget_s": self.budget_s,
            "elapsed_s": self.now_s(),
            "parts": self.parts.iter().map(part).collect::<Vec<_>>(),
            "skipped": self.skipped.iter().map(skipped).collect::<Vec<_>>(),
        });
        if let (Value::Object(all), Value::Object(report)) = (&mut value, self.report.to_value()) {
            all.extend(report);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kit(budget_s: f64) -> Kit {
        Kit::new(Report::new(vec![("adapter", "none".into())]), "none", None, budget_s, vec![1.0, 1.0], true)
    }

    #[test]
    fn the_json_has_its_keys_before_and_after() {
        let mut kit = kit(100.0);
        let value = kit.to_value(false, Some("frames"));
        assert_eq!(
            (&value["kit"], &value["is_complete"], &value["running"]),
            (&json!(1), &json!(false), &json!("frames"))
        );
        kit.part(0, "frames", |kit| {
            kit.skip("1,000,000 bodies", "too long");
            Ok(())
        })
        .unwrap();
        kit.part(1, "fields", |_| Err(Trouble::Lost("the GPU device was lost".into()))).unwrap();
        kit.finish().unwrap();
        let value = kit.to_value(true, None);
        for key in ["header", "tables", "failures", "budget_s", "elapsed_s", "parts", "skipped", "is_reduced"]
        {
            assert!(!value[key].is_null(), "{key}: {value}");
        }
        assert_eq!(value["running"], Value::Null);
        assert_eq!(value["parts"][0]["state"], "skipped");
        assert_eq!(value["parts"][1]["state"], "failed");
        assert_eq!(value["parts"][1]["notes"][0], "the GPU device was lost");
        assert_eq!(
            value["skipped"][0],
            json!({ "part": "frames", "what": "1,000,000 bodies", "why": "too long" })
        );
        assert_eq!(value["tables"][0]["rows"][1]["part"], "fields");
        assert_eq!(value["failures"], json!(["fields: the GPU device was lost"]));
    }

    #[test]
    fn a_panic_and_a_missing_adapter_end_a_part_only() {
        let mut kit = kit(100.0);
        kit.part(0, "frames", |_| panic!("on purpose")).unwrap();
        kit.part(1, "fields", |kit| {
            assert_eq!(kit.job("field", "64²", 1.0, |_| Ok(1)), None);
            Ok(())
        })
        .unwrap();
        assert!(kit.parts[0].notes[0].contains("on purpose"));
        assert_eq!((kit.parts[1].state, kit.parts[1].job_count), ("failed", 0));
    }

    /// The job after a lost device has a new one.
    #[test]
    fn a_lost_device_ends_a_job_only() {
        use hullfield::collide::{Arena, Body, Hull, Options, Pairs};
        let adapters = hullfield::adapters();
        let Some(adapter) = adapters.first() else {
            eprintln!("skipped: no GPU");
            return;
        };
        let report = Report::new(Vec::new());
        let mut kit = Kit::new(report, &adapter.name, None, 1000.0, vec![1.0], true);
        let ask = |engine: &Engine| -> Result<usize, Trouble> {
            let arena = Arena::new(engine, &[Hull::ball(1.0)?], Options::default())?;
            let bodies = [Body::new(0), Body::new(0).at([1.5, 0.0, 0.0])];
            Ok(arena.intersections(&bodies, Pairs::BroadPhase)?.wait()?.rows.len())
        };
        kit.part(0, "frames", |kit| {
            let lost = kit.job("frame", "lost", 1.0, |engine| {
                engine.device().unwrap().0.destroy();
                ask(engine)
            });
            assert_eq!(lost, None);
            assert_eq!(kit.job("frame", "next", 1.0, ask), Some(1));
            Ok(())
        })
        .unwrap();
        assert_eq!((kit.parts[0].state, kit.parts[0].job_count), ("failed", 1));
        assert!(kit.parts[0].notes[0].contains("lost"), "{:?}", kit.parts[0].notes);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let mut kit = kit(1e-9);
        kit.part(0, "frames", |kit| {
            assert_eq!(kit.job("frame", "1,000 bodies", 1.0, |_| Ok(1)), None);
            Ok(())
        })
        .unwrap();
        assert_eq!(kit.parts[0].state, "skipped");
        assert_eq!(kit.skipped[0].what, "1,000 bodies");
        assert!(kit.report.failures().is_empty());
    }
}
