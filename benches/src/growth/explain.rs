//! What the fitted laws say: exponents, where memory ends, and how work is cut beyond one machine.

use crate::growth::desk::Desk;
use crate::growth::grown::Grown;
use crate::machine;
use crate::report::{Cell, Table};

/// How many times the largest measured size a law is drawn on.
const MOST_DRAWN_ON: f64 = 1e4;

/// A peer takes the place of one before it in the summary where it went so many times as far.
const FARTHER: u64 = 4;

/// Adds a table with a line for each sweep, at the front of the report: hullfield beside its first peer, at the largest size that both have.
pub(crate) fn summary(desk: &mut Desk<'_>) {
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
    let mut topics: Vec<&Grown> = Vec::new();
    for grown in desk.grown() {
        if topics.iter().all(|other| other.topic != grown.topic) {
            topics.push(grown);
        }
    }
    for first in topics {
        let of_topic = || desk.grown().iter().filter(|grown| grown.topic == first.topic);
        let at = |grown: &Grown, size: u64| {
            grown.series.points.iter().find(|point| point.size == size).map(|point| point.samples.median())
        };
        let reach = |peer: &Grown| {
            peer.series.points.iter().rev().map(|point| point.size).find(|&size| at(first, size).is_some())
        };
        // The first peer, or one that went much further.
        let peers =
            of_topic().filter(|grown| grown.series.is_peer).filter_map(|peer| Some((reach(peer)?, peer)));
        let best = peers.fold(None, |best: Option<(u64, &Grown)>, (size, peer)| match best {
            Some((most, _)) if size < FARTHER * most => best,
            _ => Some((size, peer)),
        });
        let Some((size, peer)) = best else { continue };
        let named = |is_it: &dyn Fn(&str) -> bool| {
            of_topic().filter(|grown| is_it(&grown.series.name)).filter_map(|grown| at(grown, size)).last()
        };
        let cell = |ms: Option<f64>| ms.map_or(Cell::Empty, Cell::Significant);
        let ratio = at(first, size).zip(at(peer, size)).map(|(ours, theirs)| ours / theirs);
        table.row([
            first.topic.into(),
            format!("{} {}", Cell::Count(size).text(), first.axis).into(),
            cell(at(first, size)),
            cell(named(&|name| name.starts_with("cpu"))),
            cell(named(&|name| name.ends_with("gpu"))),
            peer.series.name.as_str().into(),
            cell(at(peer, size)),
            ratio.map_or(Cell::Empty, |ratio| Cell::Number(ratio, 3)),
            first.time.map_or(Cell::Empty, |growth| Cell::Number(growth.law.exponent, 2)),
        ]);
    }
    table.note("one thread over peer: below 1 hullfield is faster. exponent: of hullfield's time on one thread at its largest sizes.");
    if desk.named_engines().iter().any(|named| named.name == "software gpu") {
        table.note("gpu: a software driver, which runs on the CPU; its times say nothing about a GPU.");
    }
    let command = desk.command("growth");
    desk.report().section("At a glance");
    desk.report().table(table.with_command(command));
    desk.report().move_last_section_to_front();
}

/// Adds the table of exponents, and the one of memory and of cuts.
pub(crate) fn growth(desk: &mut Desk<'_>) {
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
            "an hour's worth",
            "the cut beyond it",
        ],
    );
    let total = machine::memory_bytes();
    for grown in desk.grown() {
        let Some(time) = grown.time else { continue };
        table.row([
            format!("{} ({})", grown.topic, grown.axis).into(),
            grown.series.name.as_str().into(),
            Cell::Number(time.law.exponent, 2),
            Cell::Number(time.law.half_width, 2),
            Cell::Count(time.law.from as u64),
            Cell::Count(time.law.to as u64),
            time.law.point_count.into(),
            time.bend().map_or(Cell::Empty, |at| Cell::Count(at as u64)),
            time.before.map_or(Cell::Empty, |law| Cell::Number(law.exponent, 2)),
        ]);
    }
    for grown in largest_ways(desk.grown()) {
        let each = grown.bytes_each();
        // Memory that grows faster than the size ends sooner than that of the largest size drawn on.
        let fit = total.zip(each).map(|(total, each)| {
            let law = grown.memory.map(|growth| growth.law).filter(|law| law.exponent > 1.0);
            law.map_or(f64::INFINITY, |law| law.size_of(total as f64)).min(total as f64 / each)
        });
        // Few points say little of sizes beyond them.
        let law = grown.time.map(|growth| growth.law).filter(|law| law.point_count >= 4);
        let hour = law
            .map(|law| law.size_of(3.6e6))
            .filter(|&size| law.is_some_and(|law| size < MOST_DRAWN_ON * law.to));
        memory.row([
            format!("{} ({}), {}", grown.topic, grown.axis, grown.series.name).into(),
            grown.memory.map_or(Cell::Empty, |growth| Cell::Number(growth.law.exponent, 2)),
            each.map_or(Cell::Empty, |each| Cell::Number(each, 0)),
            fit.map_or(Cell::Empty, |fit| format!("{fit:.1e} {}", grown.axis).into()),
            hour.filter(|size| size.is_finite())
                .map_or(Cell::Empty, |size| format!("{size:.0e} {}", grown.axis).into()),
            grown.cut.into(),
        ]);
    }
    table.note("A curve with a bend has two laws; the exponent is that of the larger sizes, which begin at \"from\".");
    table.note("±: half of the 95 % confidence interval by Student's t; – with two points. It says how straight the line is, not how far it may be drawn on.");
    memory.note("bytes each: the most that a run allocates, its answer too, at the largest size; what was there before a run is not in it.");
    memory.note("fit in this machine: its memory over the bytes of each, or fewer where the law of memory says so; an hour's worth: by the law of time, drawn on beyond what was measured.");
    let command = desk.command("growth");
    desk.report().section("Growth");
    desk.report().table(table.with_command(command.clone()));
    desk.report().table(memory.with_command(command));
}

/// Of each topic the way of hullfield that went furthest, software GPUs apart; of equals the last, which has the most threads.
fn largest_ways(all: &[Grown]) -> Vec<&Grown> {
    let mut ways: Vec<&Grown> = Vec::new();
    let is_way = |grown: &&Grown| {
        !grown.series.is_peer && !grown.series.points.is_empty() && grown.series.name != "software gpu"
    };
    for grown in all.iter().filter(is_way) {
        let size = |grown: &Grown| grown.series.points.last().map_or(0, |point| point.size);
        match ways.iter_mut().find(|way| way.topic == grown.topic) {
            Some(way) if size(grown) >= size(way) => *way = grown,
            Some(_) => {}
            None => ways.push(grown),
        }
    }
    ways
}
