//! Runs queries on all engines and checks the answers against the oracle.

use hullfield::collide::{
    Arena, Batch, Body, ContactOptions, DistanceOptions, Hull, Intersection, ManifoldOptions, Options, Pairs,
    Precision, Stats, Status,
};
use hullfield::{Backend, Engine};
use hullfield_oracle::compare::{self, Hit, Verdict};
use hullfield_oracle::measure::{Accuracy, Judge};
use hullfield_oracle::memo::Memo;
use hullfield_oracle::scenes::Scene;
use hullfield_oracle::{Placed, Shape, Truth, certify, extent, measure, whole_truths};

use crate::common;
pub(crate) use crate::rows::{bodies, contact_rows, distance_rows, manifold_rows, verdict};

/// The CPU engine, and the GPU engine where there is an adapter, with their names.
pub(crate) fn engines() -> Vec<(&'static str, Engine)> {
    let gpu = common::gpu().map(|engine| ("gpu", engine));
    std::iter::once(("cpu", Engine::cpu())).chain(gpu).collect()
}

/// The places of the pairs that an engine judges of a long list: all on the CPU engine; on the GPU engine a few workgroups, spread over the
/// list. A software GPU takes a hundred times as long for a pair.
pub(crate) fn judged_places(engine: &Engine, count: usize) -> Vec<usize> {
    let most = match engine.backend() {
        Backend::Gpu => extent(201, 1_001),
        _ => count,
    };
    let step = (count / most.max(1)).max(1);
    // One further on at each step: scenes repeat their kinds of pairs, and the step may be a multiple of that.
    (0..count.min(most)).map(|k| k * step + k % step).collect()
}

/// The scene with the pairs that an engine judges of it: all on the CPU engine, and some of them on the GPU engine.
pub(crate) fn part_for(engine: &Engine, scene: &Scene) -> Scene {
    let pairs = judged_places(engine, scene.pairs.len()).into_iter().map(|k| scene.pairs[k]).collect();
    Scene { pairs, ..scene.clone() }
}

pub(crate) fn hulls(sets: &[Vec<[f32; 3]>]) -> Vec<Hull> {
    sets.iter().map(|points| hull(points)).collect()
}

/// The library's hull of these points.
fn hull(points: &[[f32; 3]]) -> Hull {
    static HULLS: Memo<Hull> = Memo::new();
    HULLS.get(points, || Hull::from_points(points).unwrap())
}

/// The point sets with each reduced to the vertices that the library keeps, so that the library and the oracle define R and S alike.
pub(crate) fn extreme(sets: &[Vec<[f32; 3]>]) -> Vec<Vec<[f32; 3]>> {
    hulls(sets).iter().map(|hull| hull.vertices().to_vec()).collect()
}

/// The library's hulls of a scene, rounded; half-spaces where a set is empty.
pub(crate) fn scene_hulls(scene: &Scene) -> Vec<Hull> {
    let rounded = |(k, points): (usize, &Vec<[f32; 3]>)| {
        let core = if points.is_empty() { Hull::half_space() } else { hull(points) };
        core.rounded(scene.rounding(k)).unwrap()
    };
    scene.hulls.iter().enumerate().map(rounded).collect()
}

/// The oracle's shapes, of the same vertices as the engines use.
pub(crate) fn shapes(hulls: &[Hull]) -> Vec<Shape> {
    let shape = |hull: &Hull| {
        let core = match hull.dimension() {
            hullfield::collide::Dimension::HalfSpace => Shape::half_space(),
            _ => Shape::new(hull.vertices()),
        };
        core.rounded(hull.rounding())
    };
    hulls.iter().map(shape).collect()
}

pub(crate) fn verdicts(found: &Batch<Intersection>) -> Vec<Verdict> {
    found.rows.iter().map(|row| verdict(row.status)).collect()
}

pub(crate) fn hits(found: &Batch<Intersection>) -> Vec<Hit> {
    found.rows.iter().map(|row| ([row.a, row.b], verdict(row.status))).collect()
}

pub(crate) fn arena(engine: &Engine, scene: &Scene) -> Arena {
    Arena::new(engine, &scene_hulls(scene), Options::default()).unwrap()
}

pub(crate) fn ask(engine: &Engine, scene: &Scene, pairs: Pairs<'_>) -> Batch<Intersection> {
    arena(engine, scene).intersections(&bodies(&scene.bodies), pairs).unwrap().wait().unwrap()
}

/// Checks that the axis of each separated row separates the bodies in f64, and that no other row has one.
pub(crate) fn certified(name: &str, shapes: &[Shape], placed: &[Placed], found: &Batch<Intersection>) {
    for row in &found.rows {
        assert_eq!(row.axis.is_some(), row.status == Status::Separated, "{name}: {row:?}");
        let Some(axis) = row.axis else { continue };
        let [a, b] = [row.a, row.b].map(|body| &placed[body as usize]);
        let axis = axis.map(f64::from);
        let [of_a, of_b] = [a, b].map(|body| &shapes[body.hull as usize]);
        let gap = certify::shown(axis, of_a, &a.pose, of_b, &b.pose);
        assert!(gap > 0.0, "{name}: {row:?}: the axis shows a gap of {gap:e}: {a:?} {b:?}");
        let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!((length - 1.0).abs() < 1e-6, "{name}: {row:?}: the axis has length {length}");
    }
}

/// Compares the engines' verdicts on the scene's pairs with the truth and with each other. The GPU engine judges [some](judged_places) of
/// them. Returns each engine's answer.
pub(crate) fn check_verdicts(name: &str, scene: &Scene) -> Vec<Batch<Intersection>> {
    check_verdicts_at(name, scene, judged_places)
}

/// [`check_verdicts`] with all pairs on both engines.
pub(crate) fn check_every_verdict(name: &str, scene: &Scene) -> Vec<Batch<Intersection>> {
    check_verdicts_at(name, scene, |_, count| (0..count).collect())
}

fn check_verdicts_at(
    name: &str,
    scene: &Scene,
    places_of: impl Fn(&Engine, usize) -> Vec<usize>,
) -> Vec<Batch<Intersection>> {
    let shapes = shapes(&scene_hulls(scene));
    let truths = hullfield_oracle::truths(&shapes, &scene.bodies, &scene.pairs);
    let mut answers: Vec<Batch<Intersection>> = Vec::new();
    for (engine_name, engine) in engines() {
        let name = format!("{name} on {engine_name}");
        let places = places_of(&engine, scene.pairs.len());
        let pairs: Vec<[u32; 2]> = places.iter().map(|&k| scene.pairs[k]).collect();
        let truths: Vec<Truth> = places.iter().map(|&k| truths[k]).collect();
        let found = ask(&engine, scene, Pairs::Given(&pairs));
        let given: Vec<[u32; 2]> = found.rows.iter().map(|row| [row.a, row.b]).collect();
        assert_eq!(given, pairs, "{name}: the pairs and their order");
        let report = compare::against_truth(&pairs, &verdicts(&found), &truths);
        let stats = found.stats;
        println!("{name}: {report}; {} by EPA, {} in f64", stats.refined_count, stats.settled_count);
        report.passed().unwrap_or_else(|text| panic!("{name}: {text}"));
        certified(&name, &shapes, &scene.bodies, &found);
        if let Some(first) = answers.first() {
            let of_first = verdicts(first);
            let of_first: Vec<Verdict> = places.iter().map(|&k| of_first[k]).collect();
            let report = compare::between(&pairs, &of_first, &verdicts(&found), |k| truths[k]);
            println!("{name} against cpu: {report}");
            report.passed().unwrap_or_else(|text| panic!("{name} against cpu: {text}"));
        }
        answers.push(found);
    }
    answers
}

/// A scene with the oracle's truth, computed once.
#[derive(Debug)]
pub(crate) struct JudgedScene {
    pub(crate) name: String,
    pub(crate) scene: Scene,
    pub(crate) hulls: Vec<Hull>,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) truths: Vec<Truth>,
    pub(crate) bodies: Vec<Body>,
}

/// A measuring query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MeasureQuery {
    Distances,
    Contacts,
    Manifolds,
}

impl MeasureQuery {
    pub(crate) const ALL: [Self; 3] = [Self::Distances, Self::Contacts, Self::Manifolds];
}

impl JudgedScene {
    pub(crate) fn new(name: impl Into<String>, scene: Scene) -> Self {
        let hulls = scene_hulls(&scene);
        let shapes = shapes(&hulls);
        let truths = whole_truths(&shapes, &scene.bodies, &scene.pairs);
        let bodies = bodies(&scene.bodies);
        Self { name: name.into(), scene, hulls, shapes, truths, bodies }
    }

    pub(crate) fn arena(&self, engine: &Engine, precision: Precision) -> Arena {
        Arena::new(engine, &self.hulls, Options { precision, ..Default::default() }).unwrap()
    }

    pub(crate) fn judge(&self, precision: Precision) -> Judge<'_> {
        let precision = match precision {
            Precision::Fast => measure::Precision::Fast,
            Precision::Exact => measure::Precision::Exact,
        };
        Judge { shapes: &self.shapes, bodies: &self.scene.bodies, precision }
    }

    /// One arena's answer for the scene's pairs, judged.
    pub(crate) fn answer(&self, arena: &Arena, query: MeasureQuery) -> (Accuracy, Vec<Verdict>, Stats) {
        let pairs = Pairs::Given(&self.scene.pairs);
        let judge = self.judge(arena.options().precision);
        let (pairs_given, truths) = (&self.scene.pairs, &self.truths);
        match query {
            MeasureQuery::Distances => {
                let found = arena
                    .distances(&self.bodies, pairs, &DistanceOptions { margin: 0.0 })
                    .unwrap()
                    .wait()
                    .unwrap();
                self.ordered(found.rows.iter().map(|row| [row.a, row.b]));
                let rows = distance_rows(&found);
                let verdicts = rows.iter().map(|row| row.verdict).collect();
                (judge.distances(pairs_given, &rows, truths), verdicts, found.stats)
            }
            MeasureQuery::Contacts => {
                let found = arena
                    .contacts(&self.bodies, pairs, &ContactOptions { margin: 0.0 })
                    .unwrap()
                    .wait()
                    .unwrap();
                self.ordered(found.rows.iter().map(|row| [row.a, row.b]));
                let rows = contact_rows(&found);
                let verdicts = rows.iter().map(|row| row.verdict).collect();
                (judge.contacts(pairs_given, &rows, truths), verdicts, found.stats)
            }
            MeasureQuery::Manifolds => {
                let found = arena
                    .manifolds(&self.bodies, pairs, &ManifoldOptions { margin: 0.0 })
                    .unwrap()
                    .wait()
                    .unwrap();
                self.ordered(found.rows.iter().map(|row| [row.a, row.b]));
                let rows = manifold_rows(&found);
                let verdicts = rows.iter().map(|row| row.verdict).collect();
                (judge.manifolds(pairs_given, &rows, truths), verdicts, found.stats)
            }
        }
    }

    /// The part of the scene that an engine [judges](judged_places); none if that is all of it.
    pub(crate) fn part_for(&self, engine: &Engine) -> Option<Self> {
        let places = judged_places(engine, self.truths.len());
        (places.len() < self.truths.len()).then(|| Self {
            name: self.name.clone(),
            scene: part_for(engine, &self.scene),
            hulls: self.hulls.clone(),
            shapes: self.shapes.clone(),
            truths: places.into_iter().map(|k| self.truths[k]).collect(),
            bodies: self.bodies.clone(),
        })
    }

    fn ordered(&self, given: impl Iterator<Item = [u32; 2]>) {
        assert!(given.eq(self.scene.pairs.iter().copied()), "{}: the pairs and their order", self.name);
    }

    /// Runs each query on every engine, fast and exact. All answers must be as accurate as documented, and the engines must
    /// agree. The GPU engine judges [some](judged_places) of the pairs. Returns the fast answers' statistics.
    pub(crate) fn check(&self) -> Vec<Stats> {
        self.check_parts(Self::part_for)
    }

    /// [`check`](Self::check) with all pairs on both engines.
    pub(crate) fn check_every(&self) -> Vec<Stats> {
        self.check_parts(|_, _| None)
    }

    fn check_parts(&self, part_for: impl Fn(&Self, &Engine) -> Option<Self>) -> Vec<Stats> {
        let mut all = Vec::new();
        for (engine_name, engine) in engines() {
            let part = part_for(self, &engine);
            let known = part.as_ref().unwrap_or(self);
            for precision in [Precision::Fast, Precision::Exact] {
                // The exact path is the same on every engine.
                if precision == Precision::Exact && engine_name != "cpu" {
                    continue;
                }
                let arena = known.arena(&engine, precision);
                for query in MeasureQuery::ALL {
                    let name = format!("{}, {query:?} {precision:?} on {engine_name}", self.name);
                    let (accuracy, verdicts, stats) = known.answer(&arena, query);
                    println!("{name}: {accuracy}; {} in f64", stats.settled_count);
                    accuracy.passed().unwrap_or_else(|text| panic!("{name}: {text}"));
                    let report = compare::against_truth(&known.scene.pairs, &verdicts, &known.truths);
                    report.passed().unwrap_or_else(|text| panic!("{name}: {text}"));
                    if precision == Precision::Fast {
                        all.push(stats);
                    }
                }
            }
        }
        all
    }
}
