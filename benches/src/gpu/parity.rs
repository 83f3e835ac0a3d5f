//! The GPU engine against the CPU engine: collision at three scales, fields, agents. Its answers are judged by the f64 oracle too.

use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, ContactOptions, DistanceOptions, ManifoldOptions, Motion, Pairs, Stats, SweepOptions,
};
use hullfield::flow::{Connectivity, Corners, Field, FieldOptions, Flow};
use hullfield_oracle::measure::{Accuracy, Judge, Precision};
use hullfield_oracle::random::Random;
use hullfield_oracle::scenes::{self, Near};
use hullfield_oracle::whole_truths;

use crate::error::Trouble;
use crate::flow_scenes::{Scene as Map, count_of_fields, noise};
use crate::gpu::compare::{
    Bodies, Differences, Listing, MovingBodies, answers, compare, compare_sweeps, differing,
};
use crate::gpu::kit::Kit;
use crate::gpu::parity_encoded;
use crate::machine::SEED;
use crate::report::{Cell, Table};
use crate::rows::{contact_rows, distance_rows, manifold_rows};
use crate::scene::Scene;
use crate::sweeps::{self, motions_of};
use crate::verdicts::check_verdicts;

/// The sizes of hulls.
const SCALES: [f64; 3] = [1e-5, 1.0, 1e5];

/// Pairs of each query that the oracle judges.
const JUDGED: usize = 1_000;

fn scale_name(scale: f64) -> String {
    if scale == 1.0 { "1".into() } else { format!("{scale:e}") }
}

/// What is asked of each pair.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Question {
    Intersections,
    Distances,
    Contacts,
    Manifolds,
    Sweeps,
}

impl Question {
    const ALL: [Self; 5] =
        [Self::Intersections, Self::Distances, Self::Contacts, Self::Manifolds, Self::Sweeps];

    fn name(self) -> &'static str {
        match self {
            Self::Intersections => "yes or no",
            Self::Distances => "distance",
            Self::Contacts => "contact",
            Self::Manifolds => "manifold",
            Self::Sweeps => "sweep",
        }
    }
}

/// A scene at one scale.
struct Case {
    name: &'static str,
    scale: f64,
    scene: Scene,
}

/// The result of a query on both engines.
struct Compared {
    differences: Differences,
    /// Answers that the oracle judged, and those that it found wrong, with the first.
    judged: usize,
    wrong: Option<String>,
    stats: Stats,
}

/// Compares all queries.
///
/// # Errors
/// A scene that cannot be built.
pub(crate) fn run(kit: &mut Kit) -> Result<(), Trouble> {
    collide(kit)?;
    encoded(kit)?;
    fields(kit)?;
    agents(kit)
}

fn near(count: usize, scale: f64) -> Result<Case, Trouble> {
    let near = Near { count, seed: SEED, ..Near::default() };
    let placed = scenes::near_pairs(&scenes::convex_sets(48, 1.0, SEED), near);
    case("near pairs", scale, placed.scaled(scale))
}

fn case(name: &'static str, scale: f64, placed: scenes::Scene) -> Result<Case, Trouble> {
    let mut scene = Scene::of_hulls(&placed.hulls)?;
    (scene.bodies, scene.pairs) = (placed.bodies, placed.pairs);
    Ok(Case { name, scale, scene })
}

fn collide(kit: &mut Kit) -> Result<(), Trouble> {
    let (pair_count, body_count) = if kit.is_reduced { (400, 250) } else { (20_000, 2_500) };
    let mut table = Table::new(
        "parity",
        "Parity: the GPU engine's rows against the CPU engine's, margin 0, sweeps of a second",
        &[
            "scene",
            "scale",
            "pairs",
            "query",
            "rows",
            "statuses differ",
            "numbers differ",
            "worst in τ",
            "failures",
            "judged",
            "wrong",
            "settled",
        ],
    );
    let mut listed = Table::new(
        "parity_statuses",
        "Statuses that differ, the first of each query",
        &["scene", "scale", "pairs", "query", "a", "b", "gpu", "cpu", "gap", "gap in τ"],
    );
    let mut status_count = 0;
    let mut run = |kit: &mut Kit, case: &Case, pairs: Pairs<'_>| {
        let way = match pairs {
            Pairs::Given(_) => "given",
            Pairs::Exhaustive => "exhaustive",
            _ => "all bodies",
        };
        for question in Question::ALL {
            let what =
                format!("{} of {}, scale {}, {way}", question.name(), case.name, scale_name(case.scale));
            let work = match pairs {
                Pairs::Given(pairs) => pairs.len(),
                Pairs::Exhaustive => case.scene.bodies.len() * case.scene.bodies.len() / 2,
                _ => 10 * case.scene.bodies.len(),
            };
            let kind = format!("{way} {}", question.name());
            let found = kit.job(&kind, &what, work as f64, |engine| ask(engine, case, pairs, question));
            let Some(found) = found else { continue };
            let Differences { row_count, number_count, worst, failure_count, .. } = found.differences;
            status_count += found.differences.status_count;
            table.row([
                case.name.into(),
                scale_name(case.scale).into(),
                way.into(),
                question.name().into(),
                row_count.into(),
                found.differences.status_count.into(),
                number_count.into(),
                Cell::Number(worst, 3),
                failure_count.into(),
                found.judged.into(),
                Cell::Count(u64::from(found.wrong.is_some())),
                found.stats.settled_count.into(),
            ]);
            for difference in found.differences.listed {
                listed.row([
                    case.name.into(),
                    scale_name(case.scale).into(),
                    way.into(),
                    question.name().into(),
                    Cell::Count(difference.pair[0].into()),
                    Cell::Count(difference.pair[1].into()),
                    difference.statuses[0].as_str().into(),
                    difference.statuses[1].as_str().into(),
                    Cell::Small(difference.gap),
                    Cell::Number(difference.gap / difference.tau, 3),
                ]);
            }
            if let Some(first) = found.differences.failures.first() {
                kit.fail(format!("{what}: {failure_count} differences are not allowed, first {first}"));
            }
            if let Some(wrong) = found.wrong {
                kit.fail(format!("{what}: {wrong}"));
            }
        }
    };
    for scale in SCALES {
        let case = near(pair_count, scale)?;
        run(kit, &case, Pairs::Given(&case.scene.pairs));
    }
    let kissing = case("kissing boxes", 1.0, scenes::kissing_boxes(pair_count / 5, SEED))?;
    run(kit, &kissing, Pairs::Given(&kissing.scene.pairs));
    for scale in SCALES {
        let tumbling = scenes::tumbling(&scenes::convex_sets(24, 1.0, SEED), body_count, 20.0, SEED).scene;
        let case = case("a crowd", scale, tumbling.scaled(scale))?;
        run(kit, &case, Pairs::BroadPhase);
        run(kit, &case, Pairs::Exhaustive);
    }
    table.note("statuses differ: all within τ, unless they are among the failures; numbers differ: by more than τ, both right.");
    table.note("failures: differences that the library does not allow; judged: rows held to the f64 oracle part by part; wrong: 1 where it found a fault.");
    table.note(format!("{status_count} statuses differ in all"));
    kit.table(table);
    if status_count > 0 {
        kit.table(listed);
    }
    Ok(())
}

fn encoded(kit: &mut Kit) -> Result<(), Trouble> {
    let (pair_count, body_count) = if kit.is_reduced { (400, 250) } else { (20_000, 2_500) };
    let mut table = parity_encoded::table();
    for scale in SCALES {
        let case = near(pair_count, scale)?;
        let named = (case.name, &scale_name(scale)[..]);
        parity_encoded::compare_all(kit, &mut table, named, &case.scene, Pairs::Given(&case.scene.pairs));
        let tumbling = scenes::tumbling(&scenes::convex_sets(24, 1.0, SEED), body_count, 20.0, SEED).scene;
        let crowd = self::case("a crowd", scale, tumbling.scaled(scale))?;
        let named = (crowd.name, &scale_name(scale)[..]);
        parity_encoded::compare_all(kit, &mut table, named, &crowd.scene, Pairs::BroadPhase);
    }
    let kissing = case("kissing boxes", 1.0, scenes::kissing_boxes(pair_count / 5, SEED))?;
    let named = (kissing.name, "1");
    parity_encoded::compare_all(kit, &mut table, named, &kissing.scene, Pairs::Given(&kissing.scene.pairs));
    table.note("unsettled: what f32 cannot decide, which the device says; wrong: any other status, and rows that are missing.");
    kit.table(table);
    Ok(())
}

/// The rows of a query on both engines, compared.
fn ask(engine: &Engine, case: &Case, pairs: Pairs<'_>, question: Question) -> Result<Compared, Trouble> {
    let scene = &case.scene;
    let bodies = scene.library_bodies();
    let arenas: Vec<Arena> = [engine, &Engine::cpu()]
        .into_iter()
        .map(|engine| Arena::new(engine, &scene.hulls, Default::default()))
        .collect::<Result<_, _>>()?;
    let [gpu, cpu] = &arenas[..] else { return Err("two engines".into()) };
    let motions: Vec<Motion> = motions_of(scene);
    let listing = if matches!(pairs, Pairs::Given(_)) { Listing::Given } else { Listing::Sorted };
    let truth = Bodies { shapes: &scene.shapes, bodies: &scene.bodies };
    let judge = Judge { shapes: &scene.shapes, bodies: &scene.bodies, precision: Precision::Fast };
    macro_rules! both {
        ($method:ident, $options:expr, $rows:ident, $judge:ident) => {{
            let [ours, theirs] = [gpu, cpu].map(|arena| arena.$method(&bodies, pairs, &$options)?.wait());
            let (ours, theirs) = (ours?, theirs?);
            let differences = compare(&answers(&ours.rows), &answers(&theirs.rows), listing, truth);
            let step = ours.rows.len().div_ceil(JUDGED).max(1);
            let some: Vec<[u32; 2]> = ours.rows.iter().step_by(step).map(|row| [row.a, row.b]).collect();
            let rows: Vec<_> = $rows(&ours).into_iter().step_by(step).collect();
            let truths = whole_truths(&scene.shapes, &scene.bodies, &some);
            let accuracy: Accuracy = judge.$judge(&some, &rows, &truths);
            Compared { differences, judged: some.len(), wrong: accuracy.passed().err(), stats: ours.stats }
        }};
    }
    Ok(match question {
        Question::Intersections => {
            let [ours, theirs] = [gpu, cpu].map(|arena| arena.intersections(&bodies, pairs)?.wait());
            let (ours, theirs) = (ours?, theirs?);
            let differences = compare(&answers(&ours.rows), &answers(&theirs.rows), listing, truth);
            let checked = check_verdicts(scene, &ours.rows, &[]);
            let is_wrong = checked.wrong_count + checked.bad_axis_count > 0;
            let wrong = is_wrong.then(|| {
                format!(
                    "{} verdicts are wrong, {} axes separate nothing",
                    checked.wrong_count, checked.bad_axis_count
                )
            });
            Compared { differences, judged: ours.rows.len(), wrong, stats: ours.stats }
        }
        Question::Distances => both!(distances, DistanceOptions { margin: 0.0 }, distance_rows, distances),
        Question::Contacts => both!(contacts, ContactOptions { margin: 0.0 }, contact_rows, contacts),
        Question::Manifolds => both!(manifolds, ManifoldOptions { margin: 0.0 }, manifold_rows, manifolds),
        Question::Sweeps => sweep(gpu, cpu, scene, &bodies, &motions, pairs, listing)?,
    })
}

fn sweep(
    gpu: &Arena,
    cpu: &Arena,
    scene: &Scene,
    bodies: &[Body],
    motions: &[Motion],
    pairs: Pairs<'_>,
    listing: Listing,
) -> Result<Compared, Trouble> {
    let options = SweepOptions { duration: sweeps::DURATION, ..Default::default() };
    let [ours, theirs] = [gpu, cpu].map(|arena| arena.sweeps(bodies, motions, pairs, &options)?.wait());
    let (ours, theirs) = (ours?, theirs?);
    let moving = MovingBodies {
        bodies: Bodies { shapes: &scene.shapes, bodies: &scene.bodies },
        motions,
        duration: f64::from(sweeps::DURATION),
    };
    let differences = compare_sweeps(&ours.rows, &theirs.rows, listing, moving);
    let (judged, wrong) = match sweeps::check_rows(scene, motions, &ours.rows, JUDGED) {
        Ok(count) => (count, None),
        Err(text) => (JUDGED.min(ours.rows.len()), Some(text)),
    };
    Ok(Compared { differences, judged, wrong, stats: ours.stats })
}

/// Maps of every kind of step. Their walls enclose cells that no goal reaches, and obstacles have a way out.
fn maps(is_reduced: bool) -> Vec<Map> {
    let factor = if is_reduced { 1 } else { 8 };
    let random = &mut Random::new(SEED);
    let mut costs = |count: usize, most: usize| -> Vec<u32> {
        (0..count).map(|_| random.below(most) as u32 + 1).collect()
    };
    let eight = Connectivity::Eight(Corners::BothFree);
    let mut maps = Vec::new();
    for (name, connectivity, most_cost, side) in [
        ("4 neighbours", Connectivity::Four, 1, 130),
        ("8 neighbours", eight, 1, 70),
        ("4 neighbours, costs to 9", Connectivity::Four, 9, 70),
        ("8 neighbours, costs to 9", eight, 9, 70),
        ("8 neighbours, any corner", Connectivity::Eight(Corners::Any), 1, 70),
    ] {
        let side = side * factor;
        let mut map = Map::flat(name, side, side, noise(side * side, 0.35, SEED));
        map.connectivity = connectivity;
        if most_cost > 1 {
            map.costs = costs(side * side, most_cost);
        }
        maps.push(map);
    }
    let side = if is_reduced { 12 } else { 64 };
    for (name, connectivity, most_cost) in [
        ("6 neighbours", Connectivity::Six, 1),
        ("26 neighbours", Connectivity::TwentySix(Corners::BothFree), 1),
        ("26 neighbours, costs to 9", Connectivity::TwentySix(Corners::BothFree), 9),
    ] {
        let mut map = Map::volume(name, side, connectivity, noise(side.pow(3), 0.35, SEED));
        if most_cost > 1 {
            map.costs = costs(side.pow(3), most_cost);
        }
        maps.push(map);
    }
    maps
}

fn fields(kit: &mut Kit) -> Result<(), Trouble> {
    let mut table = Table::new(
        "parity_fields",
        "Parity of fields, bit for bit: distances, next cells, ways out of obstacles",
        &["grid", "size", "fields", "cells", "distances differ", "codes differ"],
    );
    for map in maps(kit.is_reduced) {
        for field_count in [1, 7] {
            let what = format!("{}, {}", count_of_fields(field_count), map.name);
            let work = (map.blocked.len() * field_count) as f64;
            let found = kit.job(&map.name, &what, work, |engine| compare_fields(engine, &map, field_count));
            let Some([distances, codes]) = found else { continue };
            table.row([
                map.name.as_str().into(),
                format!("{:?}", map.size).into(),
                field_count.into(),
                (map.blocked.len() * field_count).into(),
                distances.into(),
                codes.into(),
            ]);
            if distances + codes > 0 {
                kit.fail(format!("{what}: {distances} distances and {codes} codes differ"));
            }
        }
    }
    kit.table(table);
    Ok(())
}

/// The numbers of distances and codes that differ.
fn compare_fields(engine: &Engine, map: &Map, field_count: usize) -> Result<[u64; 2], Trouble> {
    let grid = map.grid()?;
    let free: Vec<usize> = (0..map.blocked.len()).filter(|&at| !map.blocked[at]).collect();
    let random = &mut Random::new(SEED);
    let goals: Vec<Vec<_>> = (0..field_count)
        .map(|count| (0..=count).map(|_| grid.cell(free[random.below(free.len())])).collect())
        .collect();
    let mut all: Vec<Vec<Field>> = Vec::new();
    for engine in [engine, &Engine::cpu()] {
        let flow = Flow::new(engine, grid.clone())?;
        all.push(match &goals[..] {
            [goals] => vec![flow.solve(goals, &FieldOptions::default())?.wait()?],
            _ => flow.fields(&goals, &FieldOptions::default())?.wait()?.rows,
        });
    }
    let mut counts = [0, 0];
    for (ours, theirs) in all[0].iter().zip(&all[1]) {
        counts[0] += differing(&ours.distances()?.wait()?, &theirs.distances()?.wait()?).0;
        counts[1] += differing(&ours.next_codes()?.wait()?, &theirs.next_codes()?.wait()?).0;
    }
    Ok(counts)
}

fn agents(kit: &mut Kit) -> Result<(), Trouble> {
    let (side, count) = if kit.is_reduced { (96, 2_000) } else { (1024, 200_000) };
    let mut table = Table::new(
        "parity_agents",
        "Parity of agents on a field, bit for bit",
        &["grid", "agents", "what", "values", "differ"],
    );
    let eight = Connectivity::Eight(Corners::BothFree);
    for (name, connectivity) in [("4 neighbours", Connectivity::Four), ("8 neighbours", eight)] {
        let mut map = Map::flat(&format!("{name} {side}²"), side, side, noise(side * side, 0.2, SEED));
        map.connectivity = connectivity;
        let what = format!("agents, {}", map.name);
        let found = kit.job("agents", &what, count as f64, |engine| compare_agents(engine, &map, count));
        for (part, values, differ) in found.into_iter().flatten() {
            table.row([map.name.as_str().into(), count.into(), part.into(), values.into(), differ.into()]);
            if differ > 0 {
                kit.fail(format!("{what}: {part}: {differ} of {values} differ"));
            }
        }
    }
    kit.table(table);
    Ok(())
}

/// For each kind of answer the number of values, and how many differ.
fn compare_agents(
    engine: &Engine,
    map: &Map,
    count: usize,
) -> Result<Vec<(&'static str, usize, u64)>, Trouble> {
    let grid = map.grid()?;
    let random = &mut Random::new(SEED);
    let starts: Vec<_> = (0..count).map(|_| grid.cell(random.below(map.blocked.len()))).collect();
    let goal = [grid.cell(map.goal)];
    let mut all = Vec::new();
    for engine in [engine, &Engine::cpu()] {
        let flow = Flow::new(engine, grid.clone())?;
        let field = flow.solve(&goal, &FieldOptions::default())?.wait()?;
        let mut crowd = flow.agents(&starts)?;
        crowd.step(&field, 5)?;
        let cells = crowd.cells()?.wait()?;
        let next = field.next_cells(&starts)?.wait()?.rows;
        let distances = field.distances_at(&starts)?.wait()?.rows;
        let paths = field.paths(&starts[..count / 10])?.wait()?;
        all.push((cells, next, distances, paths));
    }
    let [ours, theirs] = &all[..] else { return Err("two engines".into()) };
    Ok(vec![
        ("5 steps", ours.0.len(), differing(&ours.0, &theirs.0).0),
        ("next cells", ours.1.len(), differing(&ours.1, &theirs.1).0),
        ("distances", ours.2.len(), differing(&ours.2, &theirs.2).0),
        ("cells of paths", ours.3.cells.len(), differing(&ours.3.cells, &theirs.3.cells).0),
        ("lengths of paths", ours.3.lengths.len(), differing(&ours.3.lengths, &theirs.3.lengths).0),
    ])
}
