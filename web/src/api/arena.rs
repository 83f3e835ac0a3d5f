//! Queries over bodies.

use hullfield::collide::{
    self, ContactOptions, DistanceOptions, GradientOptions, ManifoldOptions, NearestOptions, Options, Pairs,
    PointOptions, Precision, Query, RayOptions, ShapeCastOptions, SweepOptions,
};
use js_sys::{Promise, Uint32Array};
use wasm_bindgen::prelude::*;

use crate::api::bodies::{Bodies, Positions, Rays, ShapeCasts, read_motions};
use crate::api::engine::Engine;
use crate::api::error::{invalid, thrown};
use crate::api::hull::read_hulls;
use crate::api::input::{
    Fields, Read, choice, flag, handle, list, numbers, rows as read_rows, single, whole,
};
use crate::api::output::{promised, settled};
use crate::api::rows;

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
            return Ok(Self::Given(read_rows::<Uint32Array, 2>(name, value)?));
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

fn nearest_options(fields: &Fields) -> Read<NearestOptions> {
    let plain = NearestOptions::default();
    Ok(NearestOptions {
        count: fields.read("count", whole, plain.count)?,
        max_distance: fields.read("maxDistance", single, plain.max_distance)?,
    })
}

fn ray_options(options: &JsValue) -> Read<RayOptions> {
    let fields = Fields::of("options", options, &["skipStart"])?;
    Ok(RayOptions { skip_start: fields.read("skipStart", flag, false)? })
}

fn cast_options(options: &JsValue) -> Read<ShapeCastOptions> {
    let fields = Fields::of("options", options, &["skipStart", "witness"])?;
    let plain = ShapeCastOptions::default();
    Ok(ShapeCastOptions {
        skip_start: fields.read("skipStart", flag, plain.skip_start)?,
        witness: fields.read("witness", flag, plain.witness)?,
    })
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
            promised(self.arena.intersections(bodies.columns(), chosen.pairs()), rows::intersections)
        })
    }

    /// How far bodies are apart.
    pub fn distances(&self, bodies: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let bodies = Bodies::read("bodies", bodies)?;
            let (chosen, margin) = pair_options(options, f32::INFINITY)?;
            let options = DistanceOptions { margin };
            promised(self.arena.distances(bodies.columns(), chosen.pairs(), &options), rows::distances)
        })
    }

    /// How deep bodies overlap, or how far they are apart within a margin, and where.
    pub fn contacts(&self, bodies: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let bodies = Bodies::read("bodies", bodies)?;
            let (chosen, margin) = pair_options(options, 0.0)?;
            let options = ContactOptions { margin };
            promised(self.arena.contacts(bodies.columns(), chosen.pairs(), &options), rows::contacts)
        })
    }

    /// As `contacts`, with how the separation changes with the poses.
    pub fn gradients(&self, bodies: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let bodies = Bodies::read("bodies", bodies)?;
            let (chosen, margin) = pair_options(options, GradientOptions::default().margin)?;
            let options = GradientOptions { margin };
            promised(self.arena.gradients(bodies.columns(), chosen.pairs(), &options), rows::gradients)
        })
    }

    /// The pairs whose boxes overlap.
    pub fn candidates(&self, bodies: &JsValue) -> Promise {
        settled(|| {
            let bodies = Bodies::read("bodies", bodies)?;
            promised(self.arena.candidates(bodies.columns()), |pairs| {
                Uint32Array::from(pairs.as_flattened()).into()
            })
        })
    }

    /// Whether each body touches another one.
    pub fn hits(&self, bodies: &JsValue) -> Promise {
        settled(|| {
            let bodies = Bodies::read("bodies", bodies)?;
            promised(self.arena.hits(bodies.columns()), rows::hits)
        })
    }

    /// How many bodies each body touches.
    #[wasm_bindgen(js_name = hitCounts)]
    pub fn hit_counts(&self, bodies: &JsValue) -> Promise {
        settled(|| {
            let bodies = Bodies::read("bodies", bodies)?;
            promised(self.arena.hit_counts(bodies.columns()), rows::hit_counts)
        })
    }

    /// As `contacts`, with up to four points a pair.
    pub fn manifolds(&self, bodies: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let bodies = Bodies::read("bodies", bodies)?;
            let (chosen, margin) = pair_options(options, 0.0)?;
            let options = ManifoldOptions { margin };
            promised(self.arena.manifolds(bodies.columns(), chosen.pairs(), &options), rows::manifolds)
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
            promised(self.arena.sweeps(bodies.columns(), &motions, chosen.pairs(), &options), rows::sweeps)
        })
    }

    /// The nearest other bodies of each body.
    #[wasm_bindgen(js_name = nearestBodies)]
    pub fn nearest_bodies(&self, bodies: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let bodies = Bodies::read("bodies", bodies)?;
            let fields = Fields::of("options", options, &["count", "maxDistance", "of"])?;
            let of = fields.get("of")?.map(|of| numbers::<Uint32Array>("of", &of)).transpose()?;
            let options = nearest_options(&fields)?;
            let begun = match of {
                Some(of) => self.arena.nearest_bodies_of(bodies.columns(), &of, &options),
                None => self.arena.nearest_bodies(bodies.columns(), &options),
            };
            promised(begun, rows::nearest_bodies)
        })
    }

    /// The bodies nearest to each of other bodies.
    #[wasm_bindgen(js_name = nearestBodiesTo)]
    pub fn nearest_bodies_to(&self, bodies: &JsValue, shapes: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let (bodies, shapes) = (Bodies::read("bodies", bodies)?, Bodies::read("shapes", shapes)?);
            let options = nearest_options(&Fields::of("options", options, &["count", "maxDistance"])?)?;
            let begun = self.arena.nearest_bodies_to(bodies.columns(), shapes.columns(), &options);
            promised(begun, rows::nearest_bodies)
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
            let options = ray_options(options)?;
            promised(self.arena.raycasts(bodies.columns(), rays.columns(), &options), rows::raycasts)
        })
    }

    /// All bodies that each ray meets.
    #[wasm_bindgen(js_name = raycastsAll)]
    pub fn raycasts_all(&self, bodies: &JsValue, rays: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let (bodies, rays) = (Bodies::read("bodies", bodies)?, Rays::read("rays", rays)?);
            let options = ray_options(options)?;
            let begun = self.arena.raycasts_all(bodies.columns(), rays.columns(), &options);
            promised(begun, rows::raycasts_all)
        })
    }

    /// Whether each ray meets a body.
    pub fn occlusions(&self, bodies: &JsValue, rays: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let (bodies, rays) = (Bodies::read("bodies", bodies)?, Rays::read("rays", rays)?);
            let options = ray_options(options)?;
            promised(self.arena.occlusions(bodies.columns(), rays.columns(), &options), rows::occlusions)
        })
    }

    /// The first body that each moved shape meets.
    #[wasm_bindgen(js_name = shapeCasts)]
    pub fn shape_casts(&self, bodies: &JsValue, casts: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let (bodies, casts) = (Bodies::read("bodies", bodies)?, ShapeCasts::read("casts", casts)?);
            let options = cast_options(options)?;
            promised(self.arena.shape_casts(bodies.columns(), casts.columns(), &options), rows::shape_casts)
        })
    }

    /// All bodies that each moved shape meets.
    #[wasm_bindgen(js_name = shapeCastsAll)]
    pub fn shape_casts_all(&self, bodies: &JsValue, casts: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let (bodies, casts) = (Bodies::read("bodies", bodies)?, ShapeCasts::read("casts", casts)?);
            let options = cast_options(options)?;
            let begun = self.arena.shape_casts_all(bodies.columns(), casts.columns(), &options);
            promised(begun, rows::shape_casts_all)
        })
    }

    /// Whether each moved shape meets a body.
    #[wasm_bindgen(js_name = shapeCastsAny)]
    pub fn shape_casts_any(&self, bodies: &JsValue, casts: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let (bodies, casts) = (Bodies::read("bodies", bodies)?, ShapeCasts::read("casts", casts)?);
            let options = cast_options(options)?;
            let begun = self.arena.shape_casts_any(bodies.columns(), casts.columns(), &options);
            promised(begun, rows::shape_casts_any)
        })
    }

    /// The body nearest to each point.
    #[wasm_bindgen(js_name = nearestPoints)]
    pub fn nearest_points(&self, bodies: &JsValue, points: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let (bodies, points) = (Bodies::read("bodies", bodies)?, Positions::read("points", points)?);
            let fields = Fields::of("options", options, &["maxDistance"])?;
            let options = PointOptions { max_distance: fields.read("maxDistance", single, f32::INFINITY)? };
            promised(
                self.arena.nearest_points(bodies.columns(), points.points(), &options),
                rows::nearest_points,
            )
        })
    }

    /// Which bodies hold each point.
    pub fn containments(&self, bodies: &JsValue, points: &JsValue) -> Promise {
        settled(|| {
            let (bodies, points) = (Bodies::read("bodies", bodies)?, Positions::read("points", points)?);
            promised(self.arena.containments(bodies.columns(), points.points()), rows::containments)
        })
    }

    /// Adds hulls; returns the number of the first.
    ///
    /// # Errors
    /// Something that is no hull; no memory on the GPU.
    #[wasm_bindgen(js_name = addHulls)]
    pub fn add_hulls(&mut self, hulls: &JsValue) -> Result<u32, JsValue> {
        let hulls = read_hulls("hulls", hulls)?;
        self.arena.add_hulls(&hulls).map(|range| range.start).map_err(|error| thrown(&error))
    }

    /// Removes hulls; other hulls keep their numbers, and removed numbers are not used again.
    ///
    /// # Errors
    /// A hull that does not exist, or that a static is made of.
    #[wasm_bindgen(js_name = removeHulls)]
    pub fn remove_hulls(&mut self, ids: &JsValue) -> Result<(), JsValue> {
        let ids = numbers::<Uint32Array>("ids", ids)?;
        self.arena.remove_hulls(&ids).map_err(|error| thrown(&error))
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
