//! Collision: pairs against parry3d, frames of a crowd, every pair of a crowd, a pile at rest, kernel rates.

use hullfield::collide::{Arena, Batch, Intersection, Pairs, Query};
use hullfield::{Backend, Engine};
use hullfield_oracle::random::Random;
use hullfield_oracle::scenes::{self, Pile, Tumbling};

use crate::engines::{NamedEngine, engines};
use crate::error::message;
use crate::kernels;
use crate::machine::SEED;
use crate::measures;
use crate::options::Options;
use crate::peer::Peer;
use crate::report::{Cell, Report, Table};
use crate::rows::bodies;
use crate::scene::{Scene, scene_of};
use crate::sweeps;
use crate::timing::{Samples, interleave, time};
use crate::verdicts::{check_verdicts, compare_hits, intersections};

/// Runs the selected parts.
///
/// # Errors
/// A part that cannot run. A failed check goes into the report instead.
pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), String> {
    let engines = engines(report);
    if options.selects("pairs") {
        pairs(options, report)?;
    }
    if options.selects("regimes") {
        crate::regimes::regimes(options, report)?;
    }
    if options.selects("distances") {
        measures::against_peer(measures::Query::Distances, options, report)?;
    }
    if options.selects("contacts") {
        measures::against_peer(measures::Query::Contacts, options, report)?;
    }
    if options.selects("sweeps") {
        sweeps::against_peer(options, report)?;
        sweeps::on_engines(options, report, &engines)?;
    }
    if options.selects("broad") {
        crate::broad::against_peer(options, report)?;
    }
    if options.selects("rays") {
        crate::rays::against_peer(options, &engines, report)?;
    }
    if options.selects("compounds") {
        crate::compounds::against_peer(options, report)?;
    }
    if options.selects("heights") {
        crate::heights::against_peer(options, report)?;
    }
    if options.selects("casts") {
        crate::shapes::casts(options, report)?;
    }
    if options.selects("nearest") {
        crate::shapes::nearest(options, report)?;
    }
    if options.selects("planner") {
        crate::planner::against_peer(options, report)?;
    }
    if options.selects("frame") {
        frame(options, report, &engines)?;
    }
    if options.selects("dispatches") {
        crate::dispatches::of_frames(options, report)?;
    }
    if options.selects("every") {
        every(options, report, &engines)?;
    }
    if options.selects("pile") {
        pile(options, report)?;
    }
    if options.selects("warm") {
        crate::warm::warm(options, report, &engines)?;
    }
    if options.selects("worlds") {
        crate::worlds::worlds(options, report, &engines)?;
    }
    if options.selects("kernels") {
        kernels::given(options, report, &engines)?;
    }
    if options.selects("crowds") {
        kernels::crowds(options, report, &engines)?;
    }
    Ok(())
}

/// The CPU engine on one thread against the peer, pair by pair.
fn pairs(options: &Options, report: &mut Report) -> Result<(), String> {
    let pair_count = if options.quick { options.pairs.min(5_000) } else { options.pairs };
    let repetitions = if options.quick { 3 } else { 11 };
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(message)?;
    let arena_engine = Engine::cpu();
    let mut table = Table::new(
        "pairs",
        format!(
            "Given pairs, one thread each, {repetitions} interleaved repetitions: yes or no, and hullfield's axes"
        ),
        &[
            "hulls",
            "pairs",
            "overlap",
            "hullfield ns",
            "hullfield ±",
            "parry3d ns",
            "parry3d ±",
            "ratio",
            "ratio of best",
            "settled",
            "certified",
            "oracle",
            "wrong",
            "parry3d wrong",
        ],
    );
    let mut medians = Vec::new();
    for kind in ["8", "32", "128", "512", "corpus", "32 near"] {
        eprintln!("pairs: {kind}");
        let scene = scene_of(kind, pair_count, report)?;
        let peer = Peer::new(&scene.sets, &scene.bodies);
        let bodies = scene.library_bodies();
        let arena = Arena::new(&arena_engine, &scene.hulls, hullfield::collide::Options::default())
            .map_err(message)?;
        // Results are checked first: only right answers are timed.
        let found = one.install(|| intersections(&arena, &bodies, Pairs::Given(&scene.pairs)))?;
        let mut verdicts = Vec::with_capacity(scene.pairs.len());
        peer.intersections(&scene.pairs, &mut verdicts)?;
        let checked = check_verdicts(&scene, &found.rows, &verdicts);
        if found.rows.len() != scene.pairs.len() {
            report.fail(format!("pairs, {kind}: {} rows for {} pairs", found.rows.len(), scene.pairs.len()));
        }
        if checked.wrong_count + checked.bad_axis_count > 0 {
            report.fail(format!(
                "pairs, {kind}: {} verdicts wrong beyond the tolerance, {} axes that separate nothing",
                checked.wrong_count, checked.bad_axis_count
            ));
        }
        let [ours, theirs] = interleave(
            repetitions,
            || one.install(|| intersections(&arena, &bodies, Pairs::Given(&scene.pairs))).map(drop),
            || peer.intersections(&scene.pairs, &mut verdicts),
        )?;
        let ns = |samples: &Samples| samples.median() * 1e6 / scene.pairs.len() as f64;
        medians.push((kind, ns(&ours), ns(&theirs)));
        table.row([
            kind.into(),
            scene.pairs.len().into(),
            Cell::Share(checked.hit_count as f64 / scene.pairs.len() as f64, 0),
            Cell::Number(ns(&ours), 0),
            Cell::Share(ours.spread(), 0),
            Cell::Number(ns(&theirs), 0),
            Cell::Share(theirs.spread(), 0),
            Cell::Number(ours.ratio(&theirs), 3),
            Cell::Number(ours.best() / theirs.best(), 3),
            found.stats.settled_count.into(),
            checked.certified_count.into(),
            checked.oracle_count.into(),
            checked.wrong_count.into(),
            checked.peer_wrong_count.into(),
        ]);
    }
    let at = |name: &str| {
        medians.iter().find(|(kind, ..)| *kind == name).map_or((f64::NAN, f64::NAN), |&(_, a, b)| (a, b))
    };
    let (large, small) = (at("512"), at("32"));
    table.note(format!(
        "512 vertices take {:.2} times as long as 32 ({:.2} times with parry3d).",
        large.0 / small.0,
        large.1 / small.1
    ));
    table.note("hulls: vertices on a unit sphere; corpus: a physics engine's, in their own sizes; 32 near: bounding spheres overlap.");
    table.note("ratio: hullfield's time over parry3d's, the median over neighbouring repetitions; of best: of the fastest repetition of each; ±: half the quartile distance.");
    table.note("certified: a separating axis under f64 projection, or a point inside both; oracle: by the f64 oracle's gap.");
    table.note("wrong: beyond the tolerance of the pair; hullfield's time begins at unpacked bodies, parry3d's at built poses.");
    report.table(table);
    Ok(())
}

/// A tumbling crowd with about ten candidates per body.
pub(crate) struct Crowd {
    pub(crate) scene: Scene,
    tumbling: Tumbling,
}

impl Crowd {
    pub(crate) fn new(body_count: usize) -> Result<Self, String> {
        let sets = scenes::convex_sets(24, 1.0, SEED);
        let mut scene = Scene::of_hulls(&sets)?;
        let arena = Arena::new(&Engine::cpu(), &scene.hulls, hullfield::collide::Options::default())
            .map_err(message)?;
        // The scene is made for a number of overlapping boxes. The library's boxes are wider, so that number is adjusted.
        let mut neighbours = 20.0;
        let mut tumbling = scenes::tumbling(&sets, body_count, neighbours, SEED);
        for _ in 0..3 {
            scene.bodies = tumbling.at(0.0);
            let candidates =
                arena.candidates(&scene.library_bodies()).map_err(message)?.wait().map_err(message)?;
            neighbours *= 10.0 * body_count as f64 / candidates.len().max(1) as f64;
            tumbling = scenes::tumbling(&sets, body_count, neighbours, SEED);
        }
        scene.bodies = tumbling.at(0.0);
        Ok(Self { scene, tumbling })
    }

    /// Moves every body to its pose in a frame, at 60 frames per second.
    pub(crate) fn move_to_frame(&mut self, frame: usize) {
        self.scene.bodies = self.tumbling.at(frame as f64 / 60.0);
    }
}

/// Times frames from poses to hits on each engine.
fn frame(options: &Options, report: &mut Report, engines: &[NamedEngine]) -> Result<(), String> {
    let body_count = if options.quick { 1_000 } else { 10_000 };
    let (warm_count, frame_count) = if options.quick { (3, 5) } else { (10, 60) };
    let mut table = Table::new(
        "frame",
        format!(
            "A frame of {body_count} bodies, broad phase inside, poses in to hits out; medians of {frame_count} frames, ms"
        ),
        &["engine", "candidates", "hits", "settled", "frame", "±", "upload", "kernels", "readback", "settle"],
    );
    let mut memory = Table::new(
        "memory",
        "What such a frame takes",
        &[
            "engine",
            "bytes a body",
            "bytes a candidate",
            "staging bytes",
            "bytes held",
            "allocations a steady frame",
            "pipelines a steady frame",
        ],
    );
    let mut last: Vec<Batch<Intersection>> = Vec::new();
    let mut rows = Vec::new();
    for NamedEngine { name, engine } in engines {
        let mut crowd = Crowd::new(body_count)?;
        let arena = Arena::new(engine, &crowd.scene.hulls, hullfield::collide::Options::default())
            .map_err(message)?;
        let mut total = Samples::default();
        let mut stages = [const { Vec::new() }; 4];
        let mut counters = engine.counters();
        let mut found = None;
        for frame in 0..warm_count + frame_count {
            crowd.move_to_frame(frame);
            if frame == warm_count {
                counters = engine.counters();
            }
            let bodies = crowd.scene.library_bodies();
            let (ms, answer) = time(|| intersections(&arena, &bodies, Pairs::BroadPhase));
            let answer = answer?;
            if frame >= warm_count {
                total.push(ms);
                let times = answer.stats.times;
                for (samples, ms) in stages.iter_mut().zip([
                    times.upload_ms,
                    times.kernels_ms,
                    times.readback_ms,
                    times.settle_ms,
                ]) {
                    samples.push(ms);
                }
            }
            found = Some(answer);
        }
        let after = engine.counters();
        let made = |before: u64, after: u64| Cell::Number((after - before) as f64 / frame_count as f64, 2);
        let Some(found) = found else { continue };
        if engine.backend() == Backend::Gpu && after.submissions == counters.submissions {
            report.fail(format!("frame: {name} submitted nothing to its device"));
        }
        let candidates = found.stats.candidate_count;
        let estimate = arena.estimate(Query::Intersections, body_count, &Pairs::BroadPhase);
        let [body_bytes, candidate_bytes] = [
            estimate.body_bytes as f64 / body_count as f64,
            estimate.candidate_bytes as f64 / candidates.max(1) as f64,
        ];
        if body_bytes > 160.0 || candidate_bytes > 32.0 {
            report.fail(format!(
                "frame: {name} takes {body_bytes} bytes a body, {candidate_bytes} a candidate"
            ));
        }
        if (after.buffers_created, after.staging_created, after.pipelines_built)
            != (counters.buffers_created, counters.staging_created, counters.pipelines_built)
        {
            report.fail(format!("frame: {name} made buffers or pipelines in steady frames: {after:?}"));
        }
        let [upload, kernels, readback, settle] = stages.map(|ms| {
            let mut samples = Samples::default();
            ms.into_iter().for_each(|ms| samples.push(ms));
            Cell::Number(samples.median(), 3)
        });
        table.row([
            (*name).into(),
            candidates.into(),
            found.stats.hit_count.into(),
            found.stats.settled_count.into(),
            Cell::Number(total.median(), 3),
            Cell::Share(total.spread(), 0),
            upload,
            kernels,
            readback,
            settle,
        ]);
        memory.row([
            (*name).into(),
            Cell::Number(body_bytes, 1),
            Cell::Number(candidate_bytes, 1),
            estimate.staging_bytes.into(),
            after.buffer_bytes.into(),
            made(
                counters.buffers_created + counters.staging_created,
                after.buffers_created + after.staging_created,
            ),
            made(counters.pipelines_built, after.pipelines_built),
        ]);
        rows.push(*name);
        last.push(found);
        if let [first, .., second] = &last[..] {
            let compared = compare_hits(&crowd.scene, &first.rows, &second.rows);
            table.note(format!("last frame, {} against {name}: {compared}.", rows[0]));
            if let Err(difference) = compared.passed() {
                report.fail(format!("frame: {name} against {}: {difference}", rows[0]));
            }
            if first.stats.candidate_count != second.stats.candidate_count {
                report.fail(format!(
                    "frame: {} candidates on {}, {candidates} on {name}",
                    first.stats.candidate_count, rows[0]
                ));
            }
        }
    }
    memory.note("A body takes at most 160 bytes with the tree and a candidate 32, staging apart; a steady frame makes no buffer and no pipeline.");
    report.table(table);
    report.table(memory);
    Ok(())
}

/// Times every pair of a crowd, without a broad phase.
fn every(options: &Options, report: &mut Report, engines: &[NamedEngine]) -> Result<(), String> {
    let body_count = if options.quick { 1_000 } else { 10_000 };
    let repetitions = if options.quick { 1 } else { 3 };
    let pair_count = body_count * (body_count - 1) / 2;
    let crowd = Crowd::new(body_count)?;
    let bodies = crowd.scene.library_bodies();
    let mut table = Table::new(
        "every",
        format!("Every pair of {body_count} bodies, no broad phase; median of {repetitions}"),
        &["engine", "pairs", "hits", "settled", "ms", "±", "M pairs a second"],
    );
    let mut first: Option<Batch<Intersection>> = None;
    for NamedEngine { name, engine } in engines {
        let arena = Arena::new(engine, &crowd.scene.hulls, hullfield::collide::Options::default())
            .map_err(message)?;
        let near = intersections(&arena, &bodies, Pairs::BroadPhase)?;
        let mut samples = Samples::default();
        let mut found = intersections(&arena, &bodies, Pairs::Exhaustive)?;
        for _ in 0..repetitions {
            let (ms, answer) = time(|| intersections(&arena, &bodies, Pairs::Exhaustive));
            found = answer?;
            samples.push(ms);
        }
        table.row([
            (*name).into(),
            pair_count.into(),
            found.stats.hit_count.into(),
            found.stats.settled_count.into(),
            Cell::Number(samples.median(), 1),
            Cell::Share(samples.spread(), 0),
            Cell::Number(pair_count as f64 / samples.median() / 1e3, 1),
        ]);
        let mut check = |what: String, other: &Batch<Intersection>| {
            let compared = compare_hits(&crowd.scene, &other.rows, &found.rows);
            table.note(format!("{what}: {compared}."));
            if let Err(difference) = compared.passed() {
                report.fail(format!("every, {what}: {difference}"));
            }
        };
        check(format!("{name}, against its own broad phase"), &near);
        if let Some(first) = &first {
            check(format!("{name}, against {}", engines[0].name), first);
        }
        first.get_or_insert(found);
    }
    report.table(table);
    Ok(())
}

/// A pile of boxes at rest, every contact a tie, against a crowd of as many boxes at random.
fn pile(options: &Options, report: &mut Report) -> Result<(), String> {
    let repetitions = if options.quick { 3 } else { 15 };
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(message)?;
    let engine = Engine::cpu();
    let mut table = Table::new(
        "pile",
        "1,000 boxes at rest upon one another, against 1,000 at random: CPU engine, one thread",
        &["scene", "candidates", "hits", "refined", "settled", "settled share", "ns a pair", "±"],
    );
    let mut piles = Vec::new();
    for (name, kind) in [("pyramid", Pile::Pyramid), ("wall", Pile::Wall), ("heap", Pile::Heap)] {
        let resting = scenes::pile(kind, 1_000, SEED);
        let mut scene = Scene::of_hulls(&resting.hulls)?;
        scene.bodies = resting.bodies;
        piles.push((name, scene));
    }
    let boxes = scenes::pile(Pile::Pyramid, 4, SEED).hulls;
    let mut loose = Scene::of_hulls(&boxes[..1])?;
    loose.crowd(&mut Random::new(SEED), 1_000, 10_000, 1.0);
    piles.push(("random", loose));
    for (name, scene) in &mut piles {
        let arena =
            Arena::new(&engine, &scene.hulls, hullfield::collide::Options::default()).map_err(message)?;
        let bodies = bodies(&scene.bodies);
        let pairs = arena.candidates(&bodies).map_err(message)?.wait().map_err(message)?;
        scene.pairs = pairs;
        let found = one.install(|| intersections(&arena, &bodies, Pairs::Given(&scene.pairs)))?;
        let checked = check_verdicts(scene, &found.rows, &[]);
        if checked.wrong_count + checked.bad_axis_count > 0 {
            report.fail(format!(
                "pile, {name}: {} verdicts wrong beyond the tolerance, {} axes that separate nothing",
                checked.wrong_count, checked.bad_axis_count
            ));
        }
        let mut samples = Samples::default();
        for _ in 0..repetitions {
            let (ms, answer) =
                time(|| one.install(|| intersections(&arena, &bodies, Pairs::Given(&scene.pairs))));
            answer?;
            samples.push(ms);
        }
        let pair_count = scene.pairs.len();
        table.row([
            (*name).into(),
            pair_count.into(),
            found.stats.hit_count.into(),
            found.stats.refined_count.into(),
            found.stats.settled_count.into(),
            Cell::Share(found.stats.settled_count as f64 / pair_count as f64, 2),
            Cell::Number(samples.median() * 1e6 / pair_count as f64, 0),
            Cell::Share(samples.spread(), 0),
        ]);
    }
    table.note("settled: the pairs that went to the exact path in f64.");
    report.table(table);
    Ok(())
}
