//! What the fitted laws say: exponents, where memory ends, and how work is cut beyond one machine.

use crate::growth::context::{Context, cpu_name};
use crate::growth::scaling::Scaling;
use crate::machine;
use crate::report::{Cell, Table};

/// How many times the largest measured size a law is extrapolated to.
const MOST_EXTRAPOLATED: f64 = 1e4;

/// A peer takes the place of one before it in the summary where it went so many times as far.
const FARTHER: u64 = 4;

/// Adds a table with a line for each sweep, at the front of the report: hullfield beside its first peer, at the largest size that both have.
pub(crate) fn summary(context: &mut Context<'_>) {
    let mut table = Table::new(
        "summary",
        "Each sweep at the largest size that hullfield on one thread and a peer both reached",
        &[
            "of",
            "size",
            "one thread ms",
            "all threads ms",
            "gpu ms",
            "peer",
            "its ms",
            "one thread over peer",
            "exponent",
        ],
    );
    let mut topics: Vec<&Scaling> = Vec::new();
    for scaling in context.scalings() {
        if topics.iter().all(|other| other.topic != scaling.topic) {
            topics.push(scaling);
        }
    }
    let all_threads = context.pools().last().map_or(String::new(), |(count, _)| cpu_name(*count));
    for first in topics {
        let of_topic = || context.scalings().iter().filter(|scaling| scaling.topic == first.topic);
        let at = |scaling: &Scaling, size: u64| {
            scaling.series.points.iter().find(|point| point.size == size).map(|point| point.samples.median())
        };
        let reach = |peer: &Scaling| {
            peer.series.points.iter().rev().map(|point| point.size).find(|&size| at(first, size).is_some())
        };
        // The first peer, or one that went much further.
        let peers =
            of_topic().filter(|scaling| scaling.series.is_peer).filter_map(|peer| Some((reach(peer)?, peer)));
        let best = peers.fold(None, |best: Option<(u64, &Scaling)>, (size, peer)| match best {
            Some((most, _)) if size < FARTHER * most => best,
            _ => Some((size, peer)),
        });
        let Some((size, peer)) = best else { continue };
        let named = |is_it: &dyn Fn(&str) -> bool| {
            of_topic().find(|scaling| is_it(&scaling.series.name)).and_then(|scaling| at(scaling, size))
        };
        let cell = |ms: Option<f64>| ms.map_or(Cell::Empty, Cell::Significant);
        let ratio = at(first, size).zip(at(peer, size)).map(|(ours, theirs)| ours / theirs);
        table.row([
            first.topic.into(),
            format!("{} {}", Cell::Count(size).text(), first.axis).into(),
            cell(at(first, size)),
            cell(named(&|name| name == all_threads)),
            cell(named(&|name| name.ends_with("gpu"))),
            peer.series.name.as_str().into(),
            cell(at(peer, size)),
            ratio.map_or(Cell::Empty, |ratio| Cell::Number(ratio, 3)),
            first.time.map_or(Cell::Empty, |growth| Cell::Number(growth.law.exponent, 2)),
        ]);
    }
    table.note("one thread over peer: below 1 hullfield is faster. exponent: of hullfield's time on one thread at its largest sizes.");
    if context.named_engines().iter().any(|named| named.name == "software gpu") {
        table.note("gpu: a software driver, which runs on the CPU; its times say nothing about a GPU.");
    }
    let command = context.command("growth");
    context.report().section("At a glance");
    context.report().table(table.with_command(command));
    context.report().move_last_section_to_front();
}

/// Adds the table of exponents, and the one of memory and of cuts.
pub(crate) fn growth(context: &mut Context<'_>) {
    let mut table = Table::new(
        "growth",
        "Growth of time with size: time ~ size^exponent, by least squares on log axes",
        &["of", "who", "exponent", "± (95 %)", "from", "to", "points", "bend", "exponent before"],
    );
    let mut memory = Table::new(
        "ends",
        "Memory, and where one machine ends",
        &[
            "of",
            "memory exponent",
            "bytes each",
            "fit in this machine",
            "solved in an hour",
            "how to split it over machines",
        ],
    );
    let total = machine::memory_bytes();
    for scaling in context.scalings() {
        let Some(time) = scaling.time else { continue };
        table.row([
            format!("{} ({})", scaling.topic, scaling.axis).into(),
            scaling.series.name.as_str().into(),
            Cell::Number(time.law.exponent, 2),
            Cell::Number(time.law.half_width, 2),
            Cell::Count(time.law.from as u64),
            Cell::Count(time.law.to as u64),
            time.law.point_count.into(),
            time.bend().map_or(Cell::Empty, |at| Cell::Count(at as u64)),
            time.before.map_or(Cell::Empty, |law| Cell::Number(law.exponent, 2)),
        ]);
    }
    for scaling in largest_series(context.scalings()) {
        let each = scaling.bytes_each();
        // Memory that grows faster than the size ends sooner than the largest size says.
        let fit = total.zip(each).map(|(total, each)| {
            let law = scaling.memory.map(|growth| growth.law).filter(|law| law.exponent > 1.0);
            law.map_or(f64::INFINITY, |law| law.size_of(total as f64)).min(total as f64 / each)
        });
        // Few points say little of sizes beyond them.
        let law = scaling.time.map(|growth| growth.law).filter(|law| law.point_count >= 4);
        let hour = law
            .map(|law| law.size_of(3.6e6))
            .filter(|&size| law.is_some_and(|law| size < MOST_EXTRAPOLATED * law.to));
        memory.row([
            format!("{} ({}), {}", scaling.topic, scaling.axis, scaling.series.name).into(),
            scaling.memory.map_or(Cell::Empty, |growth| Cell::Number(growth.law.exponent, 2)),
            each.map_or(Cell::Empty, |each| Cell::Number(each, 0)),
            fit.map_or(Cell::Empty, |fit| format!("{fit:.1e} {}", scaling.axis).into()),
            hour.filter(|size| size.is_finite())
                .map_or(Cell::Empty, |size| format!("{size:.0e} {}", scaling.axis).into()),
            scaling.cut.into(),
        ]);
    }
    table.note("A curve with a bend has two laws; the exponent is that of the larger sizes, which begin at \"from\".");
    table.note("±: half of the 95 % confidence interval by Student's t; – with two points. It measures the fit, not whether the law holds beyond the measured sizes.");
    memory.note("bytes each: the most that a run allocates, its answer too, at the largest size; what was there before a run is not in it.");
    memory.note("fit in this machine: its memory over the bytes of each, or fewer where the law of memory says so; solved in an hour: by the law of time, extrapolated.");
    let command = context.command("growth");
    context.report().section("Growth");
    context.report().table(table.with_command(command.clone()));
    context.report().table(memory.with_command(command));
}

/// Of each topic the series of hullfield that went furthest, software GPUs apart; of equals the last, which has the most threads.
fn largest_series(all: &[Scaling]) -> Vec<&Scaling> {
    let mut largest: Vec<&Scaling> = Vec::new();
    let is_counted = |scaling: &&Scaling| {
        !scaling.series.is_peer && !scaling.series.points.is_empty() && scaling.series.name != "software gpu"
    };
    for scaling in all.iter().filter(is_counted) {
        let size = |scaling: &Scaling| scaling.series.points.last().map_or(0, |point| point.size);
        match largest.iter_mut().find(|other| other.topic == scaling.topic) {
            Some(other) if size(scaling) >= size(other) => *other = scaling,
            Some(_) => {}
            None => largest.push(scaling),
        }
    }
    largest
}
