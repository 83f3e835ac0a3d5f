//! Queries over bodies.

use hullfield::collide::{
    self, Batch, Contact, ContactOptions, Containment, Distance, DistanceOptions, Intersection, Manifold,
    ManifoldOptions, NearestBody, NearestOptions, NearestPoint, Options, Pairs, PointOptions, Precision,
    Query, RayOptions, Raycast, Status, Sweep, SweepOptions, SweepOutcome,
};
use js_sys::{Promise, Uint32Array};
use wasm_bindgen::prelude::*;

use crate::api::bodies::{Bodies, Positions, Rays, read_motions};
use crate::api::engine::Engine;
use crate::api::error::{invalid, thrown};
use crate::api::hull::read_hulls;
use crate::api::input::{Fields, Read, choice, flag, handle, list, rows, single, whole};
use crate::api::output::{NAN, NONE, Row, promised, settled};

/// The hulls of a scene, and the queries over bodies made of them.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Arena {
    arena: collide::Arena,
}

/// Which pairs a query examines.
enum Chosen {
    BroadPhase,
    Exhaustive,
    Given(Vec<[u32; 2]>),
}

impl Chosen {
    fn read(name: &str, value: &JsValue) -> Read<Self> {
        if value.as_string().is_none() {
            return Ok(Self::Given(rows::<Uint32Array, 2>(name, value)?));
        }
        let is_exhaustive = choice(name, value, &[("broadPhase", false), ("exhaustive", true)])?;
        Ok(if is_exhaustive { Self::Exhaustive } else { Self::BroadPhase })
    }

    fn pairs(&self) -> Pairs<'_> {
        match self {
            Self::BroadPhase => Pairs::BroadPhase,
            Self::Exhaustive => Pairs::Exhaustive,
            Self::Given(pairs) => Pairs::Given(pairs),
        }
    }
}

/// Pairs and margin of a query.
fn pair_options(options: &JsValue, margin: f32) -> Read<(Chosen, f32)> {
    let fields = Fields::of("options", options, &["pairs", "margin"])?;
    Ok((fields.read("pairs", Chosen::read, Chosen::BroadPhase)?, fields.read("margin", single, margin)?))
}

fn code(status: Status) -> u8 {
    match status {
        Status::Separated => 0,
        Status::Touching => 1,
        Status::Penetrating => 2,
    }
}

/// The number of rows, and the statistics of a query.
fn begun<R>(batch: &Batch<R>) -> Row {
    let stats = &batch.stats;
    let stats = Row::default()
        .set("candidateCount", stats.candidate_count as f64)
        .set("hitCount", stats.hit_count as f64)
        .set("settledCount", stats.settled_count as f64)
        .set("compileMs", stats.times.compile_ms)
        .set("totalMs", stats.times.total_ms);
    Row::default().set("count", batch.rows.len() as f64).set("stats", stats)
}

fn intersections(batch: Batch<Intersection>) -> JsValue {
    let rows = &batch.rows;
    begun(&batch)
        .indices("a", rows.iter().map(|row| row.a))
        .indices("b", rows.iter().map(|row| row.b))
        .bytes("status", rows.iter().map(|row| code(row.status)))
        .singles("axis", rows.iter().flat_map(|row| row.axis.unwrap_or([f32::NAN; 3])))
        .into()
}

fn distances(batch: Batch<Distance>) -> JsValue {
    let rows = &batch.rows;
    begun(&batch)
        .indices("a", rows.iter().map(|row| row.a))
        .indices("b", rows.iter().map(|row| row.b))
        .bytes("status", rows.iter().map(|row| code(row.status)))
        .doubles("separation", rows.iter().map(|row| row.separation))
        .doubles("points", rows.iter().flat_map(|row| row.points.unwrap_or([NAN; 2])).flatten())
        .doubles("axis", rows.iter().flat_map(|row| row.axis.unwrap_or(NAN)))
        .into()
}

fn contacts(batch: Batch<Contact>) -> JsValue {
    let rows = &batch.rows;
    begun(&batch)
        .indices("a", rows.iter().map(|row| row.a))
        .indices("b", rows.iter().map(|row| row.b))
        .bytes("status", rows.iter().map(|row| code(row.status)))
        .doubles("separation", rows.iter().map(|row| row.separation))
        .doubles("normal", rows.iter().flat_map(|row| row.normal))
        .doubles("points", rows.iter().flat_map(|row| row.points).flatten())
        .into()
}

fn raycasts(batch: Batch<Raycast>) -> JsValue {
    let hits = || batch.rows.iter().map(|row| row.hit.as_ref());
    begun(&batch)
        .indices("body", hits().map(|hit| hit.map_or(NONE, |hit| hit.body)))
        .indices("face", hits().map(|hit| hit.and_then(|hit| hit.face).unwrap_or(NONE)))
        .doubles("distance", hits().map(|hit| hit.map_or(f64::NAN, |hit| hit.distance)))
        .doubles("point", hits().flat_map(|hit| hit.map_or(NAN, |hit| hit.point)))
        .doubles("normal", hits().flat_map(|hit| hit.and_then(|hit| hit.normal).unwrap_or(NAN)))
        .into()
}

fn nearest_points(batch: Batch<NearestPoint>) -> JsValue {
    let hits = || batch.rows.iter().map(|row| row.hit.as_ref());
    begun(&batch)
        .indices("body", hits().map(|hit| hit.map_or(NONE, |hit| hit.body)))
        .doubles("distance", hits().map(|hit| hit.map_or(f64::NAN, |hit| hit.distance)))
        .doubles("nearest", hits().flat_map(|hit| hit.map_or(NAN, |hit| hit.nearest)))
        .doubles("normal", hits().flat_map(|hit| hit.map_or(NAN, |hit| hit.normal)))
        .into()
}

fn containments(batch: Batch<Containment>) -> JsValue {
    let rows = &batch.rows;
    begun(&batch)
        .indices("point", rows.iter().map(|row| row.point))
        .indices("body", rows.iter().map(|row| row.body))
        .doubles("distance", rows.iter().map(|row| row.distance))
        .into()
}

fn manifolds(batch: Batch<Manifold>) -> JsValue {
    let rows = &batch.rows;
    // Four points a row, those that are missing NaN.
    let points = || rows.iter().flat_map(|row| (0..4).map(|at| row.points().get(at)));
    begun(&batch)
        .indices("a", rows.iter().map(|row| row.a))
        .indices("b", rows.iter().map(|row| row.b))
        .bytes("status", rows.iter().map(|row| code(row.status)))
        .doubles("separation", rows.iter().map(|row| row.separation))
        .doubles("normal", rows.iter().flat_map(|row| row.normal))
        .bytes("pointCount", rows.iter().map(|row| row.points().len() as u8))
        .doubles(
            "points",
            points().flat_map(|point| point.map_or([NAN; 2], |point| [point.on_a, point.on_b])).flatten(),
        )
        .doubles("separations", points().map(|point| point.map_or(f64::NAN, |point| point.separation)))
        .into()
}

fn sweeps(batch: Batch<Sweep>) -> JsValue {
    let rows = &batch.rows;
    let outcome = |outcome| match outcome {
        SweepOutcome::Hit => 0,
        SweepOutcome::Miss => 1,
        SweepOutcome::Touching => 2,
    };
    begun(&batch)
        .indices("a", rows.iter().map(|row| row.a))
        .indices("b", rows.iter().map(|row| row.b))
        .bytes("outcome", rows.iter().map(|row| outcome(row.outcome)))
        .doubles("time", rows.iter().map(|row| row.time))
        .doubles("normal", rows.iter().flat_map(|row| row.normal.unwrap_or(NAN)))
        .doubles("points", rows.iter().flat_map(|row| row.points.unwrap_or([NAN; 2])).flatten())
        .doubles("separation", rows.iter().map(|row| row.separation.unwrap_or(f64::NAN)))
        .into()
}

fn nearest_bodies(batch: Batch<NearestBody>) -> JsValue {
    let rows = &batch.rows;
    begun(&batch)
        .indices("query", rows.iter().map(|row| row.query))
        .indices("body", rows.iter().map(|row| row.body))
        .bytes("status", rows.iter().map(|row| code(row.status)))
        .doubles("separation", rows.iter().map(|row| row.separation))
        .doubles("normal", rows.iter().flat_map(|row| row.normal))
        .doubles("points", rows.iter().flat_map(|row| row.points).flatten())
        .into()
}

#[wasm_bindgen]
impl Arena {
    /// Lays hulls out, on a GPU also there. Without the option `engine` queries run on the CPU.
    ///
    /// # Errors
    /// Something that is no hull, an option that does not exist, statics that can't be used, no memory on the GPU.
    #[wasm_bindgen(constructor)]
    pub fn new(hulls: &JsValue, options: &JsValue) -> Result<Self, JsValue> {
        let hulls = read_hulls("hulls", hulls)?;
        let fields = Fields::of("options", options, &["engine", "precision", "warmStart", "statics"])?;
        let engine = fields.get("engine")?.map(|value| handle("engine", "Engine", &value));
        let engine = engine.transpose()?.unwrap_or_else(Engine::cpu);
        let precisions = [("fast", Precision::Fast), ("exact", Precision::Exact)];
        let statics = fields.read("statics", Bodies::read, Bodies::default())?;
        if !statics.worlds.is_empty() || !statics.owners.is_empty() {
            return Err(invalid("statics have worlds or owners, which bodies that do not move have not"));
        }
        let options = Options {
            precision: fields.read(
                "precision",
                |name, value| choice(name, value, &precisions),
                Precision::Fast,
            )?,
            warm_start: fields.read("warmStart", flag, false)?,
            statics: statics.bodies,
            static_positions: statics.positions,
        };
        let arena = collide::Arena::new(engine.get(), &hulls, options).map_err(|error| thrown(&error))?;
        Ok(Self { arena })
    }

    /// Which bodies touch.
    pub fn intersections(&self, bodies: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let bodies = Bodies::read("bodies", bodies)?;
            let fields = Fields::of("options", options, &["pairs"])?;
            let chosen = fields.read("pairs", Chosen::read, Chosen::BroadPhase)?;
            promised(self.arena.intersections(bodies.columns(), chosen.pairs()), intersections)
        })
    }

    /// How far bodies are apart.
    pub fn distances(&self, bodies: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let bodies = Bodies::read("bodies", bodies)?;
            let (chosen, margin) = pair_options(options, f32::INFINITY)?;
            let options = DistanceOptions { margin };
            promised(self.arena.distances(bodies.columns(), chosen.pairs(), &options), distances)
        })
    }

    /// How deep bodies overlap, or how far they are apart within a margin, and where.
    pub fn contacts(&self, bodies: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let bodies = Bodies::read("bodies", bodies)?;
            let (chosen, margin) = pair_options(options, 0.0)?;
            let options = ContactOptions { margin };
            promised(self.arena.contacts(bodies.columns(), chosen.pairs(), &options), contacts)
        })
    }

    /// As `contacts`, with up to four points a pair.
    pub fn manifolds(&self, bodies: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let bodies = Bodies::read("bodies", bodies)?;
            let (chosen, margin) = pair_options(options, 0.0)?;
            let options = ManifoldOptions { margin };
            promised(self.arena.manifolds(bodies.columns(), chosen.pairs(), &options), manifolds)
        })
    }

    /// When moving bodies first meet.
    pub fn sweeps(&self, bodies: &JsValue, motions: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let bodies = Bodies::read("bodies", bodies)?;
            let motions = read_motions("motions", motions)?;
            let fields = Fields::of("options", options, &["pairs", "duration", "witness"])?;
            let chosen = fields.read("pairs", Chosen::read, Chosen::BroadPhase)?;
            let plain = SweepOptions::default();
            let options = SweepOptions {
                duration: fields.read("duration", single, plain.duration)?,
                witness: fields.read("witness", flag, plain.witness)?,
            };
            promised(self.arena.sweeps(bodies.columns(), &motions, chosen.pairs(), &options), sweeps)
        })
    }

    /// The nearest other bodies of each body.
    #[wasm_bindgen(js_name = nearestBodies)]
    pub fn nearest_bodies(&self, bodies: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let bodies = Bodies::read("bodies", bodies)?;
            let fields = Fields::of("options", options, &["count", "maxDistance"])?;
            let plain = NearestOptions::default();
            let options = NearestOptions {
                count: fields.read("count", whole, plain.count)?,
                max_distance: fields.read("maxDistance", single, plain.max_distance)?,
            };
            promised(self.arena.nearest_bodies(bodies.columns(), &options), nearest_bodies)
        })
    }

    /// Builds what a GPU needs for some queries.
    pub fn prepare(&self, queries: &JsValue) -> Promise {
        settled(|| {
            let names = [
                ("intersections", Query::Intersections),
                ("distances", Query::Distances),
                ("contacts", Query::Contacts),
                ("manifolds", Query::Manifolds),
                ("sweeps", Query::Sweeps),
                ("raycasts", Query::Raycasts),
            ];
            let query =
                |(row, value)| Ok((choice(&format!("queries[{row}]"), &value, &names)?, Pairs::BroadPhase));
            let queries =
                list("queries", queries)?.iter().enumerate().map(query).collect::<Read<Vec<_>>>()?;
            promised(self.arena.prepare(&queries), |_| JsValue::UNDEFINED)
        })
    }

    /// The first body that each ray meets.
    pub fn raycasts(&self, bodies: &JsValue, rays: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let (bodies, rays) = (Bodies::read("bodies", bodies)?, Rays::read("rays", rays)?);
            let fields = Fields::of("options", options, &["skipStart"])?;
            let options = RayOptions { skip_start: fields.read("skipStart", flag, false)? };
            promised(self.arena.raycasts(bodies.columns(), rays.columns(), &options), raycasts)
        })
    }

    /// The body nearest to each point.
    #[wasm_bindgen(js_name = nearestPoints)]
    pub fn nearest_points(&self, bodies: &JsValue, points: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let (bodies, points) = (Bodies::read("bodies", bodies)?, Positions::read("points", points)?);
            let fields = Fields::of("options", options, &["maxDistance"])?;
            let options = PointOptions { max_distance: fields.read("maxDistance", single, f32::INFINITY)? };
            promised(self.arena.nearest_points(bodies.columns(), points.points(), &options), nearest_points)
        })
    }

    /// Which bodies hold each point.
    pub fn containments(&self, bodies: &JsValue, points: &JsValue) -> Promise {
        settled(|| {
            let (bodies, points) = (Bodies::read("bodies", bodies)?, Positions::read("points", points)?);
            promised(self.arena.containments(bodies.columns(), points.points()), containments)
        })
    }

    /// Where queries run.
    #[wasm_bindgen(getter)]
    pub fn engine(&self) -> Engine {
        Engine::of(self.arena.engine().clone())
    }

    /// How many hulls there are.
    #[wasm_bindgen(getter, js_name = hullCount)]
    pub fn hull_count(&self) -> usize {
        self.arena.hulls().len()
    }
}
