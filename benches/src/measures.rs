//! Distances and contacts of given pairs, against parry3d.

use hullfield::Engine;
use hullfield::collide::{Arena, Body, ContactOptions, DistanceOptions, Pairs};
use hullfield_oracle::measure::{self, Judge};
use hullfield_oracle::{Truth, tolerance, whole_truth, whole_truths};
use rayon::ThreadPool;

use crate::error::message;
use crate::options::Options;
use crate::peer::Peer;
use crate::report::{Cell, Report, Table};
use crate::rows::{contact_rows, distance_rows};
use crate::scene::{Scene, scene_of};
use crate::timing::{Samples, interleave, time};

/// The query of each pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Query {
    Distances,
    Contacts,
}

/// Pairs that the oracle checks in each scene.
const CHECKED_PAIRS: usize = 2_000;

impl Query {
    fn name(self) -> &'static str {
        match self {
            Self::Distances => "distances",
            Self::Contacts => "contacts",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Distances => "Distances",
            Self::Contacts => "Contacts",
        }
    }

    /// hullfield's signed gaps (distances are 0 where bodies overlap), and the number of pairs settled in f64.
    pub(crate) fn gaps(
        self,
        arena: &Arena,
        bodies: &[Body],
        pairs: &[[u32; 2]],
    ) -> Result<(Vec<f64>, u64), String> {
        let pairs = Pairs::Given(pairs);
        match self {
            Self::Distances => {
                let found = arena
                    .distances(bodies, pairs, &DistanceOptions { margin: 0.0 })
                    .map_err(message)?
                    .wait()
                    .map_err(message)?;
                Ok((found.rows.iter().map(|row| row.separation).collect(), found.stats.settled_count))
            }
            Self::Contacts => {
                let found = arena
                    .contacts(bodies, pairs, &ContactOptions { margin: 0.0 })
                    .map_err(message)?
                    .wait()
                    .map_err(message)?;
                Ok((found.rows.iter().map(|row| -row.depth()).collect(), found.stats.settled_count))
            }
        }
    }

    /// Runs the query and drops its rows, for timing.
    pub(crate) fn run(self, arena: &Arena, bodies: &[Body], pairs: &[[u32; 2]]) -> Result<(), String> {
        let pairs = Pairs::Given(pairs);
        match self {
            Self::Distances => arena
                .distances(bodies, pairs, &DistanceOptions { margin: 0.0 })
                .map_err(message)?
                .wait()
                .map_err(message)
                .map(drop),
            Self::Contacts => arena
                .contacts(bodies, pairs, &ContactOptions { margin: 0.0 })
                .map_err(message)?
                .wait()
                .map_err(message)
                .map(drop),
        }
    }

    pub(crate) fn peer_gaps(
        self,
        peer: &Peer,
        pairs: &[[u32; 2]],
        gaps: &mut Vec<f32>,
    ) -> Result<(), String> {
        match self {
            Self::Distances => peer.distances(pairs, gaps),
            Self::Contacts => peer.contacts(pairs, 0.0, gaps),
        }
    }

    /// Checks all parts of the answers for `pairs` against the oracle.
    pub(crate) fn check(
        self,
        arena: &Arena,
        scene: &Scene,
        bodies: &[Body],
        pairs: &[[u32; 2]],
    ) -> Result<(), String> {
        let truths = whole_truths(&scene.shapes, &scene.bodies, pairs);
        let judge =
            Judge { shapes: &scene.shapes, bodies: &scene.bodies, precision: measure::Precision::Fast };
        let given = Pairs::Given(pairs);
        match self {
            Self::Distances => {
                let found = arena
                    .distances(bodies, given, &DistanceOptions { margin: 0.0 })
                    .map_err(message)?
                    .wait()
                    .map_err(message)?;
                judge.distances(pairs, &distance_rows(&found), &truths).passed()
            }
            Self::Contacts => {
                let found = arena
                    .contacts(bodies, given, &ContactOptions { margin: 0.0 })
                    .map_err(message)?
                    .wait()
                    .map_err(message)?;
                judge.contacts(pairs, &contact_rows(&found), &truths).passed()
            }
        }
    }

    /// Whether a gap is within τ of the truth.
    fn is_right(self, gap: f64, truth: &Truth) -> bool {
        match self {
            Self::Distances => (gap - truth.gap.max(0.0)).abs() <= truth.tau,
            // Without a margin parry3d gives no contact for separated pairs.
            Self::Contacts if gap.is_nan() => truth.gap >= -truth.tau,
            Self::Contacts => (gap - truth.gap).abs() <= truth.tau,
        }
    }
}

/// Times the CPU engine on one thread and on two, and the peer on one.
pub(crate) fn against_peer(query: Query, options: &Options, report: &mut Report) -> Result<(), String> {
    let pair_count = if options.quick { options.pairs.min(3_000) } else { options.pairs };
    let repetitions = if options.quick { 3 } else { 7 };
    let pool =
        |thread_count| rayon::ThreadPoolBuilder::new().num_threads(thread_count).build().map_err(message);
    let (one, two) = (pool(1)?, pool(2)?);
    let engine = Engine::cpu();
    let mut table = Table::new(
        query.name(),
        format!("{} of given pairs, {repetitions} interleaved repetitions", query.title()),
        &[
            "hulls",
            "pairs",
            "hullfield ns",
            "±",
            "parry3d ns",
            "parry3d ±",
            "ratio",
            "two threads ns",
            "speed-up",
            "settled",
            "judged",
            "differ",
            "parry3d wrong",
        ],
    );
    for kind in ["8", "32", "128", "512", "corpus"] {
        eprintln!("{}: {kind}", query.name());
        let scene = scene_of(kind, pair_count, report)?;
        let peer = Peer::new(&scene.sets, &scene.bodies);
        let bodies = scene.library_bodies();
        let arena =
            Arena::new(&engine, &scene.hulls, hullfield::collide::Options::default()).map_err(message)?;
        // Results are checked first: some against the oracle, all against the peer's, and the oracle decides where these differ.
        let step =
            (scene.pairs.len() / if kind == "512" { CHECKED_PAIRS / 10 } else { CHECKED_PAIRS }).max(1);
        let some: Vec<[u32; 2]> = scene.pairs.iter().copied().step_by(step).collect();
        if let Err(failure) = query.check(&arena, &scene, &bodies, &some) {
            report.fail(format!("{}, {kind}: {failure}", query.name()));
        }
        let (ours, settled_count) = one.install(|| query.gaps(&arena, &bodies, &scene.pairs))?;
        let mut theirs = Vec::with_capacity(scene.pairs.len());
        query.peer_gaps(&peer, &scene.pairs, &mut theirs)?;
        let (differ, peer_wrong) = compare(query, &scene, &ours, &theirs, report);
        let [mine, other] = interleave(
            repetitions,
            || one.install(|| query.run(&arena, &bodies, &scene.pairs)),
            || query.peer_gaps(&peer, &scene.pairs, &mut theirs),
        )?;
        let (alone, both) = threads(query, [&one, &two], repetitions, &arena, &bodies, &scene)?;
        let ns = |samples: &Samples| samples.median() * 1e6 / scene.pairs.len() as f64;
        table.row([
            kind.into(),
            scene.pairs.len().into(),
            Cell::Number(ns(&mine), 0),
            Cell::Share(mine.spread(), 0),
            Cell::Number(ns(&other), 0),
            Cell::Share(other.spread(), 0),
            Cell::Number(mine.ratio(&other), 3),
            Cell::Number(ns(&both), 0),
            Cell::Number(alone.ratio(&both), 2),
            settled_count.into(),
            some.len().into(),
            differ.into(),
            peer_wrong.into(),
        ]);
    }
    table.note("ratio: hullfield's time over parry3d's, one thread each, the median over neighbouring repetitions; ±: half the quartile distance; speed-up: one thread's time over two's.");
    table.note("hullfield's time begins at unpacked bodies, parry3d's at built poses; hullfield tells witness points and an axis or normal as well, parry3d's `contact` nothing of pairs that are apart.");
    table.note("judged: answers held to the f64 oracle part by part, without a fault; differ: gaps told that differ from parry3d's by more than τ; parry3d wrong: of those, by the oracle, in all or at most 500.");
    report.table(table);
    Ok(())
}

/// Times the query on one thread and on two, alternately.
fn threads(
    query: Query,
    [one, two]: [&ThreadPool; 2],
    repetitions: usize,
    arena: &Arena,
    bodies: &[Body],
    scene: &Scene,
) -> Result<(Samples, Samples), String> {
    let (mut alone, mut both) = (Samples::default(), Samples::default());
    for _ in 0..repetitions {
        for (pool, samples) in [(one, &mut alone), (two, &mut both)] {
            let (ms, done) = time(|| pool.install(|| query.run(arena, bodies, &scene.pairs)));
            done?;
            samples.push(ms);
        }
    }
    Ok((alone, both))
}

/// Counts the gaps that differ from the peer's by more than τ, and the peer's wrong ones among them. Ours that are wrong go into the
/// report.
pub(crate) fn compare(
    query: Query,
    scene: &Scene,
    ours: &[f64],
    theirs: &[f32],
    report: &mut Report,
) -> (u64, u64) {
    let (mut differ, mut wrong) = (0, 0);
    for (k, (&mine, &other)) in ours.iter().zip(theirs).enumerate() {
        let other = f64::from(other);
        let [a, b] = scene.pairs[k].map(|body| &scene.bodies[body as usize]);
        let radii = [a, b].map(|body| scene.shapes[body.hull as usize].radius(body.pose.scale));
        let tau = tolerance(radii[0].min(radii[1]), radii[0] + radii[1], mine.max(0.0));
        // If parry3d gives no contact, our pair must be separated.
        let may_differ = if other.is_nan() { mine < 0.0 } else { (mine - other).abs() > 0.9 * tau };
        if !may_differ || differ >= 500 {
            continue;
        }
        let truth =
            whole_truth(&scene.shapes[a.hull as usize], &a.pose, &scene.shapes[b.hull as usize], &b.pose);
        let differs = if other.is_nan() { mine < -truth.tau } else { (mine - other).abs() > truth.tau };
        if !differs {
            continue;
        }
        differ += 1;
        wrong += u64::from(!query.is_right(other, &truth));
        if !query.is_right(mine, &truth) {
            report.fail(format!(
                "{}, pair {:?}: {mine:e}, parry3d {other:e}, truth {truth:?}",
                query.name(),
                scene.pairs[k]
            ));
        }
    }
    (differ, wrong)
}
