//! The summary of a query: lines for people, fields for programs.

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use hullfield::Engine;
use hullfield::collide::Precision;
use serde_json::{Map, Value, json};

use super::query::Query;
use super::stream::Totals;
use super::trace::PairTrace;
use crate::command::{common_json, extend, print_json, stages_of};
use crate::failure::Result;
use crate::output::{ReportStream, Sink, to_stdout};

/// Milliseconds of the program's own stages; the query's are in its statistics.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stages {
    /// Reading the files and building the hulls.
    pub(super) read_ms: f64,
    /// Opening the engine and building the arena.
    pub(super) arena_ms: f64,
    /// The whole run.
    pub(super) wall_ms: f64,
}

/// The query, its results and its times.
pub(super) struct Report<'a> {
    pub(super) query: Query,
    pub(super) query_name: &'static str,
    pub(super) precision: Precision,
    pub(super) pairs: &'static str,
    pub(super) body_count: usize,
    pub(super) totals: &'a Totals,
    pub(super) stages: Stages,
    /// When the run began.
    pub(super) started: Instant,
    /// Where the trace's table goes.
    pub(super) report_stream: ReportStream,
    pub(super) trace: Option<&'a PairTrace>,
    /// The file of the rows, if there is one.
    pub(super) out: Option<&'a Path>,
}

impl Report<'_> {
    fn row_count(&self) -> u64 {
        self.totals.counts.iter().sum()
    }

    fn fields(&self, engine: &Engine) -> Map<String, Value> {
        let (totals, stats) = (self.totals, &self.totals.stats);
        let own =
            [("read", self.stages.read_ms), ("arena", self.stages.arena_ms), ("write", totals.write_ms)];
        let counts = [
            ("bodies", self.body_count as u64),
            ("candidates", stats.candidate_count),
            ("hits", stats.hit_count),
            ("rows", self.row_count()),
            ("refined", stats.refined_count),
            ("settled", stats.settled_count),
        ];
        let stages = own.into_iter().chain(stages_of(&stats.times));
        let mut object = common_json(Some(engine), self.started, stages, counts);
        for (verdict, count) in totals.verdicts.into_iter().zip(totals.counts) {
            object["counts"][verdict] = json!(count);
        }
        object["query"] = json!(self.query_name);
        object["precision"] = json!(if self.precision == Precision::Exact { "exact" } else { "fast" });
        match self.query {
            Query::Intersects => {}
            Query::Distance { margin } | Query::Contact { margin } | Query::Manifold { margin } => {
                // JSON has no infinity: null stands for it.
                object["margin"] = json!(margin.is_finite().then(|| shortest(margin)));
            }
            Query::Sweep { duration } => object["duration"] = json!(shortest(duration)),
        }
        object["pairs"] = json!(self.pairs);
        if let Some(trace) = self.trace {
            extend(&mut object, json!({ "trace": trace.json() }));
        }
        if let Some(out) = self.out {
            object["out"] = json!(out.display().to_string());
        }
        match object {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }

    /// Completes the JSON object that begins with the rows.
    pub(super) fn end_json(&self, engine: &Engine, sink: &mut Sink) -> Result<()> {
        let fields = Value::Object(self.fields(engine));
        let text = format!("{fields:#}\n");
        sink.put(text.trim_start_matches("{\n").as_bytes())
    }

    /// Writes the part of the report that did not come with the rows.
    pub(super) fn show(&self, engine: &Engine, as_json: bool) -> Result<()> {
        match (as_json, self.out) {
            (true, Some(_)) => print_json(&Value::Object(self.fields(engine))),
            (true, None) => Ok(()),
            (false, Some(_)) => to_stdout(|writer| {
                if let Some(trace) = self.trace {
                    trace.write_table(writer)?;
                }
                self.write(writer, engine)
            }),
            (false, None) => {
                if let Some(trace) = self.trace {
                    self.report_stream.write(|writer| {
                        writeln!(writer)?;
                        trace.write_table(writer)
                    })?;
                }
                let _ = self.write(&mut io::stderr().lock(), engine);
                Ok(())
            }
        }
    }

    fn write(&self, writer: &mut dyn Write, engine: &Engine) -> io::Result<()> {
        let (stats, times) = (&self.totals.stats, &self.totals.stats.times);
        let [[_, first, second], [no_hit, ..]] = [self.totals.verdicts, self.totals.verdicts];
        let [no_hits, firsts, seconds] = self.totals.counts;
        writeln!(writer, "engine      {}", engine.reason())?;
        writeln!(writer, "bodies      {}", self.body_count)?;
        writeln!(writer, "candidates  {} ({})", stats.candidate_count, self.pairs)?;
        writeln!(writer, "hits        {} ({first} {firsts}, {second} {seconds})", stats.hit_count)?;
        writeln!(writer, "{no_hit:<10}  {no_hits} of the {} pairs listed", self.row_count())?;
        writeln!(writer, "refined     {}", stats.refined_count)?;
        writeln!(writer, "settled     {} in f64", stats.settled_count)?;
        writeln!(
            writer,
            "time        {:.3} ms (compile {:.3}, upload {:.3}, kernels {:.3}, readback {:.3}, settle {:.3})",
            times.total_ms,
            times.compile_ms,
            times.upload_ms,
            times.kernels_ms,
            times.readback_ms,
            times.settle_ms
        )?;
        writeln!(
            writer,
            "program     {:.3} ms (read {:.3}, arena {:.3}, write {:.3})",
            self.stages.wall_ms, self.stages.read_ms, self.stages.arena_ms, self.totals.write_ms
        )
    }
}

/// The f64 that prints with the same digits as the f32.
fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}
