//! Each kernel's share of its roof: kernels of GPU engines by the device's clock, and the phases of the CPU engine.
//!
//! As in [`roofline`], the bytes and operations of an item are the least that the kernel must move and do.

use hullfield::collide::Stats;
use hullfield::flow::{Connectivity, Corners};
use hullfield::inspect::{KernelTimes, time_kernels};
use hullfield_oracle::random::Random;

use crate::error::Trouble;
use crate::flow_scenes::{Scene as GridScene, noise};
use crate::growth::bodies::{Case, DenseCrowds, Query};
use crate::growth::context::{Context, cpu_name};
use crate::growth::sweep::Author;
use crate::growth::{grids, roofline};
use crate::machine::SEED;
use crate::plot::Bars;
use crate::report::{Cell, Table};
use crate::timing::{Samples, time};

/// Runs of a query that the kernels are timed over, and of a phase of the CPU engine.
const RUNS: u64 = 5;

/// Kernels with a smaller share of their query's kernels have no row.
const LEAST_SHARE: f64 = 0.01;

/// With less time than this, in seconds, the crowds are small.
const SHORT_S: f64 = 5.0;

/// What a kernel works on.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Item {
    Body,
    Candidate,
    Hit,
    Cell,
}

/// The least that a kernel must move and do for an item.
struct Least {
    kernel: &'static str,
    item: Item,
    bytes: f64,
    work: Work,
    why: &'static str,
}

/// Operations of an item.
#[derive(Debug, Clone, Copy)]
enum Work {
    /// So many.
    Operations(f64),
    /// A walk down the tree: two box tests of six comparisons at each level.
    Walk,
    /// So many supports, each of them a product of three for each vertex of a hull.
    Supports(f64),
}

/// The candidates of a body in the crowd.
const CANDIDATES: f64 = 10.0;

const BOX: f64 = 24.0;
const BODY: f64 = 64.0;
const KEY: f64 = 8.0;
const PAIR: f64 = 8.0;
const NODE: f64 = 32.0;

#[rustfmt::skip]
const LEAST: [Least; 18] = [
    Least { kernel: "broad phase", item: Item::Body, bytes: BODY + BOX + CANDIDATES * PAIR, work: Work::Walk, why: "a packed body, its box, ten candidates; a walk down the tree" },
    Least { kernel: "narrow phase, yes or no", item: Item::Candidate, bytes: 2.0 * BODY + PAIR + 32.0, work: Work::Supports(2.0), why: "two packed bodies, the pair, a row of 32 bytes; a support of each hull" },
    Least { kernel: "narrow phase, contacts", item: Item::Candidate, bytes: 2.0 * BODY + PAIR + 96.0, work: Work::Supports(2.0), why: "two packed bodies, the pair, a row of 96 bytes; a support of each hull" },
    Least { kernel: "collide.bounds", item: Item::Body, bytes: BODY + BOX, work: Work::Operations(24.0), why: "a packed body, its box; a matrix of absolute values times the extents" },
    Least { kernel: "collide.morton_runs", item: Item::Body, bytes: BODY + BOX + KEY, work: Work::Operations(24.0), why: "a packed body, its box, its key; the box as in bounds" },
    Least { kernel: "collide.morton_keys", item: Item::Body, bytes: BOX + KEY, work: Work::Operations(6.0), why: "a box, its key" },
    Least { kernel: "gpu.sort_merge", item: Item::Body, bytes: 2.0 * KEY, work: Work::Operations(1.0), why: "a key read and written" },
    Least { kernel: "gpu.sort_count", item: Item::Body, bytes: KEY, work: Work::Operations(1.0), why: "a key read" },
    Least { kernel: "gpu.sort_place", item: Item::Body, bytes: 2.0 * KEY, work: Work::Operations(1.0), why: "a key read and written" },
    Least { kernel: "collide.tree_build", item: Item::Body, bytes: 2.0 * BOX + NODE, work: Work::Operations(6.0), why: "a node: the boxes of two children read, 32 bytes written" },
    Least { kernel: "collide.tree_count", item: Item::Body, bytes: BOX + 4.0, work: Work::Walk, why: "a box, a count; a walk down the tree" },
    Least { kernel: "collide.tree_write", item: Item::Body, bytes: BOX + CANDIDATES * PAIR, work: Work::Walk, why: "a box, ten candidates; a walk down the tree" },
    Least { kernel: "collide.gjk", item: Item::Candidate, bytes: 2.0 * BODY + PAIR + 32.0, work: Work::Supports(2.0), why: "two packed bodies, the pair, a row of 32 bytes; a support of each hull" },
    Least { kernel: "collide.measure", item: Item::Candidate, bytes: 2.0 * BODY + PAIR + 32.0, work: Work::Supports(2.0), why: "two packed bodies, the pair, a row of 32 bytes; a support of each hull" },
    Least { kernel: "collide.depth", item: Item::Hit, bytes: 2.0 * BODY + PAIR + 32.0, work: Work::Supports(8.0), why: "two packed bodies, the pair, a row of 32 bytes; the four corners of a tetrahedron are four supports of each hull" },
    Least { kernel: "flow.small", item: Item::Cell, bytes: 5.125, work: Work::Operations(4.0), why: "a bit that says whether a cell is free, a distance of 4 bytes, a code of 1; four neighbours compared" },
    Least { kernel: "flow.wave", item: Item::Cell, bytes: 5.125, work: Work::Operations(4.0), why: "as flow.small" },
    Least { kernel: "flow.relax_2d", item: Item::Cell, bytes: 8.0, work: Work::Operations(16.0), why: "a cost and a distance of 4 bytes; eight neighbours added and compared" },
];

/// How many items a query had.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    bodies: u64,
    candidates: u64,
    hits: u64,
    cells: u64,
    mean_vertices: f64,
}

impl Counts {
    fn of(&self, item: Item) -> u64 {
        match item {
            Item::Body => self.bodies,
            Item::Candidate => self.candidates,
            Item::Hit => self.hits,
            Item::Cell => self.cells,
        }
    }

    fn operations(&self, work: Work) -> f64 {
        match work {
            Work::Operations(count) => count,
            Work::Walk => (self.bodies.max(2) as f64).log2().ceil() * 2.0 * 6.0,
            Work::Supports(count) => count * self.mean_vertices * 5.0,
        }
    }
}

/// A kernel, or a phase of the CPU engine, that was timed.
struct Timed {
    contender: String,
    query: &'static str,
    kernel: String,
    dispatches: Option<u64>,
    ms: f64,
    counts: Counts,
}

/// What was timed, and what has no row and why.
#[derive(Default)]
struct Measured {
    timed: Vec<Timed>,
    /// Queries with the share of their kernels that have no row.
    others: Vec<String>,
    /// Engines and queries without any row.
    missing: Vec<String>,
    failures: Vec<String>,
}

impl Measured {
    fn extend(&mut self, more: Self) {
        self.timed.extend(more.timed);
        self.others.extend(more.others);
        self.missing.extend(more.missing);
        self.failures.extend(more.failures);
    }

    /// Takes over what a part has measured, or why it has not.
    fn take(&mut self, who: &str, part: Result<Self, Trouble>) {
        match part {
            Ok(more) => self.extend(more),
            Err(Trouble::TooLarge(why)) => self.missing.push(format!("{who}: {why}")),
            Err(trouble) => self.failures.push(format!("kernels, {who}: {trouble}")),
        }
    }
}

/// Times the kernels of each engine.
///
/// # Errors
/// A scene that cannot be made, or an answer that is wrong.
pub(crate) fn run(context: &mut Context<'_>) -> Result<(), String> {
    if context.roofs().is_empty() {
        roofline::run(context)?;
    }
    let crowds = DenseCrowds::new()?;
    let is_short = context.is_quick() || context.left_s() < SHORT_S;
    let mut all = Measured::default();
    let case = crowds.crowd(context, if is_short { 3_000 } else { 30_000 });
    all.take("cpu", case.and_then(|case| phases(context, &case)));
    for engine in 1..context.named_engines().len() {
        let name = context.named_engines()[engine].name;
        let is_software = name == "software gpu";
        let (body_count, side) = match (is_software, is_short) {
            (true, true) => (500, 64),
            (true, false) => (3_000, 256),
            (false, true) => (30_000, 1_024),
            (false, false) => (300_000, 4_096),
        };
        let case = crowds.crowd(context, body_count);
        all.take(name, case.and_then(|case| crowd_kernels(context, engine, &case)));
        all.take(name, field_kernels(context, engine, side));
    }
    publish(context, &all);
    Ok(())
}

/// The two phases of a crowd on the CPU engine, with each number of threads.
fn phases(context: &Context<'_>, case: &Case) -> Result<Measured, Trouble> {
    let (hits, stats) = case.found(0, Query::Intersections)?;
    case.verify(&hits)?;
    case.verify_contacts(0, &hits)?;
    let counts = counts_of(case, &stats);
    let mut measured = Measured::default();
    let candidates = case.candidates()?;
    for (count, pool) in context.pools() {
        let contender = cpu_name(*count);
        let mut samples = [const { Samples::new() }; 3];
        pool.install(|| -> Result<(), Trouble> {
            for _ in 0..RUNS {
                let (ms, found) = time(|| case.candidates());
                if found?.len() != candidates.len() {
                    return Err(format!("{contender}: the candidates differ from run to run").into());
                }
                samples[0].push(ms);
                for (query, samples) in
                    [Query::Intersections, Query::Contacts].into_iter().zip(&mut samples[1..])
                {
                    let (found, stats) = case.found_among(&candidates, query)?;
                    case.compare(Author::Hullfield, &hits, &found)?;
                    samples.push(stats.times.kernels_ms);
                }
            }
            Ok(())
        })?;
        for (kernel, samples) in
            ["broad phase", "narrow phase, yes or no", "narrow phase, contacts"].into_iter().zip(samples)
        {
            let (contender, kernel, ms) = (contender.clone(), kernel.to_owned(), samples.median());
            measured.timed.push(Timed { contender, query: "a crowd", kernel, dispatches: None, ms, counts });
        }
    }
    Ok(measured)
}

fn counts_of(case: &Case, stats: &Stats) -> Counts {
    Counts {
        bodies: case.scene.bodies.len() as u64,
        candidates: stats.candidate_count,
        hits: stats.hit_count,
        cells: 0,
        mean_vertices: case.mean_vertices(),
    }
}

/// The kernels of crowds on a GPU engine.
fn crowd_kernels(context: &Context<'_>, engine: usize, case: &Case) -> Result<Measured, Trouble> {
    let mut measured = Measured::default();
    let (hits, _) = case.found(0, Query::Intersections)?;
    case.verify(&hits)?;
    for (query, name) in
        [(Query::Intersections, "a crowd, yes or no"), (Query::Contacts, "a crowd, contacts")]
    {
        let (found, stats) = case.found(engine, query)?;
        let named = |error: String| format!("{name}: {error}");
        case.compare(Author::Hullfield, &hits, &found).map_err(named)?;
        if let Query::Contacts = query {
            case.verify_contacts(engine, &hits).map_err(named)?;
        }
        let counts = counts_of(case, &stats);
        measured.extend(kernels(context, engine, name, counts, || case.found(engine, query).map(drop))?);
    }
    Ok(measured)
}

/// The kernels of fields on a GPU engine.
fn field_kernels(context: &Context<'_>, engine: usize, side: usize) -> Result<Measured, Trouble> {
    let mut measured = Measured::default();
    let plain = GridScene::flat("", side, side, noise(side * side, 0.2, SEED));
    let mut weighted = plain.clone();
    weighted.connectivity = Connectivity::Eight(Corners::BothFree);
    let mut random = Random::new(SEED);
    weighted.costs = (0..side * side).map(|_| random.below(9) as u32 + 1).collect();
    for (name, scene) in [("a field, steps of 1", plain), ("a field, octile, costs", weighted)] {
        let case = grids::Case::new(context, scene)?;
        let distances = case.distances(0)?;
        case.verify(&distances)?;
        if case.distances(engine)? != distances {
            return Err(format!("{name}: distances differ from the CPU engine's").into());
        }
        let counts = Counts { cells: (side * side) as u64, ..Counts::default() };
        measured.extend(kernels(context, engine, name, counts, || case.distances(engine).map(drop))?);
    }
    Ok(measured)
}

/// Times the kernels of a query that has run before.
fn kernels(
    context: &Context<'_>,
    engine: usize,
    query: &'static str,
    counts: Counts,
    run: impl Fn() -> Result<(), Trouble>,
) -> Result<Measured, Trouble> {
    let mut measured = Measured::default();
    let named = &context.named_engines()[engine];
    let (done, times) = time_kernels(&named.engine, || (0..RUNS).try_for_each(|_| run()));
    done?;
    let Some(KernelTimes { kernels, .. }) = times else {
        measured.missing.push(format!("{}: the device has no timestamps", named.name));
        return Ok(measured);
    };
    let sum: f64 = kernels.iter().map(|kernel| kernel.milliseconds).sum();
    let mut others = 0.0;
    for kernel in kernels {
        let label = kernel.label.trim_start_matches("hullfield.");
        let is_known = LEAST.iter().any(|least| least.kernel == label);
        if !is_known || kernel.milliseconds < LEAST_SHARE * sum {
            others += kernel.milliseconds;
            continue;
        }
        measured.timed.push(Timed {
            contender: named.name.into(),
            query,
            kernel: label.into(),
            dispatches: Some(kernel.dispatch_count / RUNS),
            ms: kernel.milliseconds / RUNS as f64,
            counts,
        });
    }
    if sum > 0.0 {
        let share = 100.0 * others / sum;
        measured.others.push(format!("{}, {query}: {share:.0} % of the kernels' time", named.name));
    } else {
        measured.missing.push(format!("{}, {query}: the device's clock stood still", named.name));
    }
    Ok(measured)
}

fn publish(context: &mut Context<'_>, measured: &Measured) {
    let Measured { timed: all, others, missing, failures } = measured;
    failures.iter().for_each(|failure| context.report().fail(failure.as_str()));
    let mut table = Table::new(
        "kernel_shares",
        "Each kernel's share of its roof",
        &[
            "who",
            "query",
            "kernel",
            "dispatches",
            "kernel ms",
            "items",
            "bytes each",
            "operations each",
            "GB/s",
            "GFLOP/s",
            "limit",
            "share",
        ],
    );
    let mut bars = Vec::new();
    for timed in all {
        let Some(least) = LEAST.iter().find(|least| least.kernel == timed.kernel) else { continue };
        let Some(roof) = context.roofs().iter().find(|roof| roof.contender == timed.contender) else {
            continue;
        };
        let (items, operations) = (timed.counts.of(least.item), timed.counts.operations(least.work));
        let rate = items as f64 / (1e-3 * timed.ms);
        let (limit, share) = roof.share(rate * least.bytes, rate * operations);
        let unit = match least.item {
            Item::Body => "bodies",
            Item::Candidate => "pairs",
            Item::Hit => "hits",
            Item::Cell => "cells",
        };
        table.row([
            timed.contender.as_str().into(),
            timed.query.into(),
            timed.kernel.as_str().into(),
            timed.dispatches.map_or(Cell::Empty, Cell::from),
            Cell::Significant(timed.ms),
            format!("{} {unit}", Cell::Count(items).text()).into(),
            Cell::Number(least.bytes, 1),
            Cell::Number(operations, 0),
            Cell::Significant(1e-9 * rate * least.bytes),
            Cell::Significant(1e-9 * rate * operations),
            limit.into(),
            Cell::Share(share, 1),
        ]);
        // The CPU engine's phases say the query themselves.
        let query = timed.query.split_once(", ").map_or(String::new(), |(_, query)| format!(", {query}"));
        bars.push((format!("{}: {}{query}", timed.contender, timed.kernel), share, 1.0));
    }
    for least in LEAST.iter().filter(|least| all.iter().any(|timed| timed.kernel == least.kernel)) {
        table.note(format!("{}: {}.", least.kernel, least.why));
    }
    table.note("A walk has two box tests of six comparisons at each level of the tree; a support has a product of three for each vertex.");
    table.note(format!(
        "On a GPU: by the device's clock, each dispatch in a pass of its own, means of {RUNS} queries. On the CPU: medians of {RUNS}; the broad phase with the checks and the layout of the bodies."
    ));
    if !others.is_empty() {
        table.note(format!(
            "Kernels with less than {:.0} % of their query, and those without a model, have no row: {}.",
            100.0 * LEAST_SHARE,
            others.join("; ")
        ));
    }
    for why in missing {
        table.note(format!("No rows: {why}."));
    }
    let command = context.command("kernels");
    context.report().section("Kernels and the roofline");
    if !bars.is_empty() {
        let figure = Bars { title: "Share of the roof, by kernel".into(), unit: "of the roof".into(), bars };
        context.report().figure(
            figure
                .figure("The least work of each kernel over what its engine does at best.")
                .with_command(command.clone()),
        );
    }
    context.report().table(table.with_command(command));
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_model_is_of_a_kernel() {
        let labels: HashSet<&str> = hullfield::inspect::kernels().iter().map(|kernel| kernel.label).collect();
        for least in &LEAST {
            let is_phase = least.kernel.contains("phase");
            assert!(
                is_phase || labels.contains(format!("hullfield.{}", least.kernel).as_str()),
                "{}",
                least.kernel
            );
        }
        let kernels: HashSet<&str> = LEAST.iter().map(|least| least.kernel).collect();
        assert_eq!(kernels.len(), LEAST.len());
    }

    #[test]
    fn operations_follow_from_the_counts() {
        let counts = Counts { bodies: 1_000, mean_vertices: 20.0, ..Counts::default() };
        assert_eq!(counts.operations(Work::Operations(4.0)), 4.0);
        assert_eq!(counts.operations(Work::Walk), 120.0);
        assert_eq!(counts.operations(Work::Supports(2.0)), 200.0);
    }
}
