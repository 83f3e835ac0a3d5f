//! What the sweeps share: engines, thread pools, the budget of time, and the report that takes their series.

use std::time::Instant;

use hullfield::Engine;
use rayon::ThreadPool;

use crate::budget::Plan as Budget;
use crate::engines::NamedEngine;
use crate::error::Trouble;
use crate::growth::bends;
use crate::growth::python::Python;
use crate::growth::scaling::{Scaling, Topic};
use crate::growth::sweep::{self, Bounds, Contender, Plan, Series, Swept, bytes_text};
use crate::machine;
use crate::plot::{Curve, Level, Line, Mark, Plot, Unit};
use crate::report::{Cell, Report, Table};

/// The name of the contender that is the CPU engine with so many threads.
pub(super) fn cpu_name(thread_count: usize) -> String {
    if thread_count == 1 { "cpu, 1 thread".into() } else { format!("cpu, {thread_count} threads") }
}

/// What a contender of hullfield does at best.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Roof {
    /// As in the sweeps.
    pub(crate) contender: String,
    /// Bytes a second, read and written.
    pub(crate) bandwidth: f64,
    /// Floating-point operations a second, in f32; a multiply-add is two.
    pub(crate) arithmetic: f64,
}

impl Roof {
    /// What limits work of so many bytes and operations a second, and its share of that.
    pub(crate) fn share(&self, bytes: f64, operations: f64) -> (&'static str, f64) {
        let (bytes, operations) = (bytes / self.bandwidth, operations / self.arithmetic);
        if bytes > operations { ("bandwidth", bytes) } else { ("arithmetic", operations) }
    }
}

/// What the sweeps share.
pub(crate) struct Context<'a> {
    report: &'a mut Report,
    engines: Vec<NamedEngine>,
    /// Thread counts of the CPU engine: 1, 2, 4 … and all.
    pools: Vec<(usize, ThreadPool)>,
    start: Instant,
    budget: Budget,
    end_s: f64,
    is_quick: bool,
    /// How the run was started, without `--only`.
    command: String,
    scalings: Vec<Scaling>,
    roofs: Vec<Roof>,
    /// The peers in Python, if they were asked for.
    pub(crate) python: Option<Python>,
}

impl<'a> Context<'a> {
    /// `budget` has a weight for each part.
    pub(crate) fn new(
        report: &'a mut Report,
        engines: Vec<NamedEngine>,
        pools: Vec<(usize, ThreadPool)>,
        budget: Budget,
        is_quick: bool,
        command: String,
    ) -> Self {
        let start = Instant::now();
        Self {
            report,
            engines,
            pools,
            start,
            budget,
            end_s: 0.0,
            is_quick,
            command,
            scalings: Vec::new(),
            roofs: Vec::new(),
            python: None,
        }
    }

    pub(crate) fn report(&mut self) -> &mut Report {
        self.report
    }

    pub(crate) fn is_quick(&self) -> bool {
        self.is_quick
    }

    pub(crate) fn named_engines(&self) -> &[NamedEngine] {
        &self.engines
    }

    pub(crate) fn engines(&self) -> impl Iterator<Item = &Engine> {
        self.engines.iter().map(|named| &named.engine)
    }

    /// The pools of the CPU engine, the one of one thread first.
    pub(crate) fn pools(&self) -> &[(usize, ThreadPool)] {
        &self.pools
    }

    pub(crate) fn scalings(&self) -> &[Scaling] {
        &self.scalings
    }

    /// What each contender of hullfield does at best; empty before it was measured.
    pub(crate) fn roofs(&self) -> &[Roof] {
        &self.roofs
    }

    pub(crate) fn set_roofs(&mut self, roofs: Vec<Roof>) {
        self.roofs = roofs;
    }

    /// Begins a part, with its share of the budget.
    pub(crate) fn begin(&mut self, part: usize) {
        self.end_s = self.budget.end_of(part, self.now_s());
    }

    pub(crate) fn now_s(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Seconds that are left of the part's share.
    pub(crate) fn left_s(&self) -> f64 {
        (self.end_s - self.now_s()).max(0.0)
    }

    /// The command that makes a part.
    pub(crate) fn command(&self, part: &str) -> String {
        format!("{} --only {part}", self.command)
    }

    /// The sizes, or the first few in a quick run.
    pub(crate) fn sizes(&self, all: &[u64]) -> Vec<u64> {
        let count = if self.is_quick { 3 } else { all.len() };
        all.iter().copied().take(count).collect()
    }

    /// The contenders of hullfield: the CPU engine with each number of threads, then each other engine. `run` gets the
    /// index of the engine.
    pub(crate) fn contenders<'d, C: Sync, A: Send, E: Into<Trouble> + Send>(
        &'d self,
        run: impl Fn(&C, usize) -> Result<A, E> + Copy + Sync + 'd,
    ) -> Vec<Contender<'d, C, A>> {
        let mut all = self.cpu_contenders(move |case| run(case, 0));
        for (index, named) in self.engines.iter().enumerate().skip(1) {
            all.push(Contender::ours(named.name, move |case| run(case, index)));
        }
        all
    }

    /// A contender for each number of threads.
    pub(crate) fn cpu_contenders<'d, C: Sync, A: Send, E: Into<Trouble> + Send>(
        &'d self,
        run: impl Fn(&C) -> Result<A, E> + Copy + Sync + 'd,
    ) -> Vec<Contender<'d, C, A>> {
        let contender = |(count, pool): &'d (usize, ThreadPool)| {
            Contender::ours(cpu_name(*count), move |case: &C| pool.install(|| run(case)))
        };
        self.pools.iter().map(contender).collect()
    }

    /// Runs a sweep within what is left of the part's share of the budget.
    pub(crate) fn sweep<C, A>(&self, plan: &Plan<'_, C, A>, contenders: &[Contender<'_, C, A>]) -> Swept {
        self.sweep_share(plan, contenders, 1.0)
    }

    /// The same with a share of what is left, where the part has more sweeps.
    pub(crate) fn sweep_share<C, A>(
        &self,
        plan: &Plan<'_, C, A>,
        contenders: &[Contender<'_, C, A>],
        share: f64,
    ) -> Swept {
        let end_s = self.now_s() + share * self.left_s();
        sweep::sweep(
            plan,
            contenders,
            &Bounds { now_s: &|| self.now_s(), end_s, free_bytes: &machine::free_memory_bytes },
        )
    }

    /// Adds the figure, the table and the growth of a sweep.
    pub(crate) fn publish(&mut self, topic: &Topic, (all, failures): Swept) {
        self.report.section(topic.title);
        self.report.sentence(format!("Beyond one machine: {}", topic.cut));
        for failure in failures {
            self.report.fail(format!("{}, {failure}", topic.name));
        }
        let peer = all.iter().find(|series| series.is_peer);
        let mut table = Table::new(
            topic.name,
            topic.title,
            &[topic.axis, "who", "ms", "±", "runs", "µs each", "of the peer's", "peak bytes"],
        );
        for series in &all {
            for point in &series.points {
                let theirs = peer.and_then(|peer| peer.points.iter().find(|other| other.size == point.size));
                let median = point.samples.median();
                let ratio = theirs.filter(|_| !series.is_peer).map(|other| median / other.samples.median());
                table.row([
                    point.size.into(),
                    series.name.as_str().into(),
                    Cell::Significant(median),
                    Cell::Share(point.samples.spread(), 0),
                    point.repetitions.into(),
                    Cell::Significant(median * 1e3 / point.size as f64),
                    ratio.map_or(Cell::Empty, |ratio| Cell::Number(ratio, 3)),
                    point.peak_bytes.into(),
                ]);
            }
        }
        for series in &all {
            table.note(format!("{} ends at {}: {}.", series.name, last_size(series), series.end));
        }
        if let Some(peer) = peer {
            table.note(format!("of the peer's: the time over that of {} at the same size.", peer.name));
        }
        let command = self.command(topic.name);
        let scalings: Vec<Scaling> = all.into_iter().map(|series| Scaling::new(topic, series)).collect();
        let caption = "Medians, with bars from quartile to quartile. Pale lines: the fitted power laws. Upright lines: where a run of the CPU engine on one \
                       thread outgrows a cache.";
        self.report.figure(figure(topic, &scalings).figure(caption).with_command(command.clone()));
        for line in bends::of(&scalings) {
            table.note(line);
        }
        self.report.table(table.with_command(command));
        self.scalings.extend(scalings);
    }
}

fn last_size(series: &Series) -> String {
    series.points.last().map_or("nothing".into(), |point| point.size.to_string())
}

/// The times of a topic over the sizes, with the fitted laws, and marks where the memory of a run outgrows a cache.
fn figure(topic: &Topic, scalings: &[Scaling]) -> Plot {
    let mut plot = Plot {
        title: topic.title.into(),
        x_label: topic.axis.into(),
        y_label: "time of a run".into(),
        y_unit: Unit::Milliseconds,
        ..Plot::default()
    };
    for (index, each) in scalings.iter().enumerate() {
        let mark = |point: &sweep::Point| {
            let [low, high] = [0.25, 0.75].map(|at| point.samples.quantile(at));
            Mark { at: point.size as f64, value: point.samples.median(), low, high }
        };
        plot.curves.push(Curve {
            label: each.series.name.clone(),
            is_peer: each.series.is_peer,
            points: each.series.points.iter().map(mark).collect(),
        });
        if let Some(law) = each.time.map(|growth| growth.law).filter(|_| !each.series.is_peer) {
            plot.lines.push(Line {
                curve: index,
                from: [law.from, law.at(law.from)],
                to: [law.to, law.at(law.to)],
            });
        }
    }
    for cache in machine::caches() {
        let law = scalings.iter().find(|each| !each.series.is_peer).and_then(|each| each.memory);
        let size = law.map(|growth| growth.law.size_of(cache.bytes as f64));
        if let Some(size) = size.filter(|size| size.is_finite() && *size >= 1.0) {
            plot.marks_x
                .push(Level { label: format!("{} ({})", cache.name, bytes_text(cache.bytes)), at: size });
        }
    }
    plot
}
