//! Given pairs on one thread, regime by regime: how much of parry3d's time each takes.
//!
//! The other benches of pairs draw a few hulls and a crowd in which every body is in ten pairs, so that nearly everything stays in the
//! first cache. Here the hulls are few or many, bodies are shared or fresh, and the pairs of a row are all apart, all near or all deep.

use hullfield::Engine;
use hullfield::collide::{Arena, Body, ContactOptions, Pairs, Status};
use hullfield_oracle::random::Random;
use hullfield_oracle::{Pose, whole_truth};
use rayon::ThreadPool;

use crate::error::message;
use crate::machine::SEED;
use crate::measures::{self, Query};
use crate::options::Options;
use crate::peer::Peer;
use crate::report::{Cell, Report, Table};
use crate::scene::{Scene, spheres};
use crate::timing::{Samples, interleave};
use crate::verdicts::{check_verdicts, intersections};

/// Pairs that are judged by the oracle in each row, besides those whose answers differ from the peer's.
const JUDGED: usize = 200;

/// Gaps up to which the peer measures contacts, farther than any pair is apart: hullfield measures every given pair.
const PREDICTION: f32 = 2.0;

/// How far the bodies of a pair are apart, as the signed gap over the radius of a hull.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    Apart,
    Near,
    Deep,
}

impl Gap {
    const ALL: [Self; 3] = [Self::Apart, Self::Near, Self::Deep];

    fn name(self) -> &'static str {
        match self {
            Self::Apart => "apart",
            Self::Near => "near",
            Self::Deep => "deep",
        }
    }

    fn holds(self, gap: f64) -> bool {
        match self {
            Self::Apart => (0.05..1.0).contains(&gap),
            Self::Near => gap.abs() < 0.02,
            Self::Deep => gap < -0.2,
        }
    }
}

/// What a row asks of each pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    YesOrNo,
    Measured(Query),
}

impl Asked {
    const ALL: [Self; 3] = [Self::YesOrNo, Self::Measured(Query::Distances), Self::Measured(Query::Contacts)];

    fn name(self) -> &'static str {
        match self {
            Self::YesOrNo => "yes or no",
            Self::Measured(Query::Distances) => "distance",
            Self::Measured(Query::Contacts) => "contact",
        }
    }

    fn run(self, arena: &Arena, bodies: &[Body], pairs: &[[u32; 2]]) -> Result<(), String> {
        match self {
            Self::YesOrNo => intersections(arena, bodies, Pairs::Given(pairs)).map(drop),
            Self::Measured(query) => query.run(arena, bodies, pairs),
        }
    }

    fn run_peer(self, peer: &Peer, pairs: &[[u32; 2]], answers: &mut PeerAnswers) -> Result<(), String> {
        match self {
            Self::YesOrNo => peer.intersections(pairs, &mut answers.verdicts),
            Self::Measured(Query::Contacts) => peer.contacts(pairs, PREDICTION, &mut answers.gaps),
            Self::Measured(query) => query.peer_gaps(peer, pairs, &mut answers.gaps),
        }
    }
}

/// Memory for the peer's answers.
#[derive(Debug, Default)]
struct PeerAnswers {
    verdicts: Vec<bool>,
    gaps: Vec<f32>,
}

/// A crowd in which bodies overlap many others.
struct Crowd {
    scene: Scene,
    /// Pairs whose bounding spheres overlap or nearly do, in random order, and their signed gaps.
    pairs: Vec<([u32; 2], f64)>,
}

impl Crowd {
    /// A crowd of `body_count` bodies of `hull_count` hulls on the unit sphere.
    fn new(
        engine: &Engine,
        hull_count: usize,
        vertex_count: usize,
        body_count: usize,
    ) -> Result<Self, String> {
        let mut random = Random::new(SEED);
        let mut scene = Scene::of_hulls(&spheres(&mut random, hull_count, vertex_count))?;
        // Of these pairs one in fifty is near, so that a body is in about ten near pairs.
        let near_count = (body_count * 500).min(body_count * (body_count - 1) / 2);
        scene.crowd(&mut random, body_count, near_count, 1.0);
        let arena =
            Arena::new(engine, &scene.hulls, hullfield::collide::Options::default()).map_err(message)?;
        let found = arena
            .contacts(&scene.library_bodies(), Pairs::Given(&scene.pairs), &ContactOptions { margin: 0.0 })
            .map_err(message)?
            .wait()
            .map_err(message)?;
        let mut pairs: Vec<([u32; 2], f64)> =
            scene.pairs.iter().zip(&found.rows).map(|(&pair, row)| (pair, row.separation)).collect();
        for at in (1..pairs.len()).rev() {
            pairs.swap(at, random.below(at + 1));
        }
        Ok(Self { scene, pairs })
    }

    /// `pair_count` pairs with such gaps. Fresh bodies are copies, made for one pair each.
    fn select(&self, gap: Gap, pair_count: usize, is_fresh: bool) -> Scene {
        let mut scene = self.scene.clone();
        let chosen = self.pairs.iter().filter(|(_, of_pair)| gap.holds(*of_pair)).map(|&(pair, _)| pair);
        scene.pairs = chosen.take(pair_count).collect();
        if is_fresh {
            scene.bodies = scene
                .pairs
                .iter()
                .flat_map(|pair| pair.map(|body| self.scene.bodies[body as usize]))
                .collect();
            scene.pairs = (0..scene.pairs.len() as u32).map(|k| [2 * k, 2 * k + 1]).collect();
        } else {
            scene.pairs.sort_unstable();
        }
        scene
    }
}

/// The grid: all of it, or the rows at its ends.
struct Grid {
    vertex_counts: &'static [usize],
    /// Numbers of hulls, and whether bodies are fresh.
    sharing: &'static [(usize, bool)],
}

const GRID: Grid =
    Grid { vertex_counts: &[8, 32, 128], sharing: &[(16, false), (16, true), (512, false), (512, true)] };
const ENDS: Grid = Grid { vertex_counts: &[8, 32, 128], sharing: &[(16, false), (512, true)] };
const QUICK: Grid = Grid { vertex_counts: &[32], sharing: &[(16, false), (512, true)] };

/// Times every regime against the peer.
pub(crate) fn regimes(options: &Options, report: &mut Report) -> Result<(), String> {
    let pair_count = options.pairs.min(if options.quick { 1_000 } else { 20_000 });
    let repetitions = options.repetitions.unwrap_or(if options.quick { 3 } else { 11 }).max(1);
    let grid = match (options.quick, options.full) {
        (true, _) => QUICK,
        (false, false) => ENDS,
        (false, true) => GRID,
    };
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(message)?;
    let engine = Engine::cpu();
    let mut table = Table::new(
        "regimes",
        format!("Given pairs by regime, one thread each, {repetitions} interleaved repetitions"),
        &[
            "query",
            "bodies",
            "hulls",
            "vertices",
            "gap",
            "pairs",
            "hullfield ns",
            "parry3d ns",
            "ratio",
            "quartile",
            "to",
            "of best",
            "differ",
            "parry3d wrong",
        ],
    );
    for &vertex_count in grid.vertex_counts {
        for &(hull_count, is_fresh) in grid.sharing {
            let name = |gap: Gap| {
                let bodies = if is_fresh { "fresh" } else { "shared" };
                format!("{hull_count} hulls of {vertex_count} vertices, {bodies} bodies, {}", gap.name())
            };
            let selects =
                |gap: Gap, asked: Asked| options.selects_regime(&format!("{} {}", asked.name(), name(gap)));
            let selects_any = |gap: Gap| Asked::ALL.iter().any(|&asked| selects(gap, asked));
            if !Gap::ALL.iter().any(|&gap| selects_any(gap)) {
                continue;
            }
            eprintln!("regimes: {hull_count} hulls of {vertex_count} vertices");
            let crowd = Crowd::new(&engine, hull_count, vertex_count, (pair_count / 10).max(200))?;
            for gap in Gap::ALL.into_iter().filter(|&gap| selects_any(gap)) {
                let scene = crowd.select(gap, pair_count, is_fresh);
                for asked in Asked::ALL.into_iter().filter(|&asked| selects(gap, asked)) {
                    let row = time_regime(asked, &name(gap), &scene, &engine, &one, repetitions, report)?;
                    let ns = |samples: &Samples| samples.median() * 1e6 / scene.pairs.len() as f64;
                    let ratio = |at: f64| Cell::Number(row.ours.ratio_quantile(&row.theirs, at), 3);
                    table.row([
                        asked.name().into(),
                        if is_fresh { "fresh" } else { "shared" }.into(),
                        hull_count.into(),
                        vertex_count.into(),
                        gap.name().into(),
                        scene.pairs.len().into(),
                        Cell::Number(ns(&row.ours), 0),
                        Cell::Number(ns(&row.theirs), 0),
                        ratio(0.5),
                        ratio(0.25),
                        ratio(0.75),
                        Cell::Number(row.ours.best() / row.theirs.best(), 3),
                        row.differ_count.into(),
                        row.peer_wrong_count.into(),
                    ]);
                }
            }
        }
    }
    table.note("gap, over the radius of a hull: apart 0.05 to 1, near within ±0.02, deep below −0.2; the bounding spheres overlap, or nearly do.");
    table.note("shared: pairs of one crowd, sorted; fresh: the bodies of each pair are its own, in random order, so that no hull and no body is in the cache from the pair before.");
    table.note("ratio: hullfield's time over parry3d's, the median over neighbouring repetitions, with its quartiles; of best: of the fastest repetition of each; hullfield's time begins at unpacked bodies, parry3d's at built poses.");
    table.note("contact: parry3d's with a prediction of 2, so that it measures pairs that are apart too, as hullfield does.");
    table.note("differ: answers that differ from parry3d's beyond the tolerance of the pair; parry3d wrong: of those, by the oracle, in all or at most 500.");
    if table.is_empty() {
        return Err(format!(
            "--regime {}: no row of the grid has all of these words",
            options.regime.join(",")
        ));
    }
    report.table(table);
    Ok(())
}

/// The times of a regime, and how the answers compare.
struct Regime {
    ours: Samples,
    theirs: Samples,
    differ_count: u64,
    peer_wrong_count: u64,
}

/// Checks the answers first, and times both then.
fn time_regime(
    asked: Asked,
    name: &str,
    scene: &Scene,
    engine: &Engine,
    one: &ThreadPool,
    repetitions: usize,
    report: &mut Report,
) -> Result<Regime, String> {
    let peer = Peer::new(&scene.sets, &scene.bodies);
    let bodies = scene.library_bodies();
    let arena = Arena::new(engine, &scene.hulls, hullfield::collide::Options::default()).map_err(message)?;
    let mut answers = PeerAnswers::default();
    asked.run_peer(&peer, &scene.pairs, &mut answers)?;
    let judged: Vec<[u32; 2]> =
        scene.pairs.iter().copied().step_by((scene.pairs.len() / JUDGED).max(1)).collect();
    let (differ_count, peer_wrong_count) = match asked {
        Asked::YesOrNo => compare_verdicts(name, scene, (&arena, &bodies), &judged, &answers, report)?,
        Asked::Measured(query) => {
            if let Err(failure) = query.check(&arena, scene, &bodies, &judged) {
                report.fail(format!("{}, {name}: {failure}", asked.name()));
            }
            let (ours, _) = query.gaps(&arena, &bodies, &scene.pairs)?;
            measures::compare(query, scene, &ours, &answers.gaps, report)
        }
    };
    let [ours, theirs] = interleave(
        repetitions,
        || one.install(|| asked.run(&arena, &bodies, &scene.pairs)),
        || asked.run_peer(&peer, &scene.pairs, &mut answers),
    )?;
    Ok(Regime { ours, theirs, differ_count, peer_wrong_count })
}

/// Compares the verdicts with the peer's, and checks some of them with their axes.
fn compare_verdicts(
    name: &str,
    scene: &Scene,
    (arena, bodies): (&Arena, &[Body]),
    judged: &[[u32; 2]],
    answers: &PeerAnswers,
    report: &mut Report,
) -> Result<(u64, u64), String> {
    let checked = check_verdicts(scene, &intersections(arena, bodies, Pairs::Given(judged))?.rows, &[]);
    if checked.wrong_count + checked.bad_axis_count > 0 {
        report.fail(format!("yes or no, {name}: {checked:?}"));
    }
    let rows = intersections(arena, bodies, Pairs::Given(&scene.pairs))?.rows;
    if rows.len() != scene.pairs.len() {
        report.fail(format!("yes or no, {name}: {} rows for {} pairs", rows.len(), scene.pairs.len()));
    }
    let (mut differ, mut peer_wrong) = (0, 0);
    for (row, &hit) in rows.iter().zip(&answers.verdicts) {
        if row.status.is_hit() == hit || differ >= 500 {
            continue;
        }
        let [a, b] = [row.a, row.b].map(|body| &scene.bodies[body as usize]);
        let (shape_a, shape_b) = (&scene.shapes[a.hull as usize], &scene.shapes[b.hull as usize]);
        let (pose_a, pose_b): (&Pose, &Pose) = (&a.pose, &b.pose);
        let truth = whole_truth(shape_a, pose_a, shape_b, pose_b);
        if truth.gap.abs() <= truth.tau {
            continue;
        }
        differ += 1;
        peer_wrong += u64::from(hit != (truth.gap < 0.0));
        if (row.status != Status::Separated) != (truth.gap < 0.0) {
            report.fail(format!("yes or no, {name}, pair {:?}: {row:?}, truth {truth:?}", [row.a, row.b]));
        }
    }
    Ok((differ, peer_wrong))
}
