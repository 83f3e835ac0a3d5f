//! Crowds of bodies, and worlds side by side: bodies in to hits out, broad phase inside.

use std::sync::OnceLock;

use hullfield::Engine;
use hullfield::collide::{Arena, Body, BodyColumns, ContactOptions, Options, Pairs, Stats};
use hullfield_oracle::random::Random;
use hullfield_oracle::{Placed, Pose, scenes, truth};

use crate::error::{Trouble, message};
use crate::growth::context::Context;
use crate::growth::scaling::Topic;
use crate::growth::sweep::{Author, Contender, Plan, Swept};
use crate::machine::SEED;
use crate::measures;
use crate::peer::{PARRY, Peer};
use crate::scene::Scene;

/// Candidates of a body, on average.
const CANDIDATES: f64 = 10.0;

/// Bodies of a world.
const WORLD: usize = 16;

/// Bodies whose partners are looked for among all others.
const PROBED: usize = 12;

/// The most hits of an answer that the oracle checks, and the most that differ from a peer's.
const JUDGED: usize = 200;

/// A query of a crowd.
#[derive(Debug, Clone, Copy)]
pub(super) enum Query {
    Intersections,
    /// Without a margin.
    Contacts,
}

/// Pairs that hit, sorted.
pub(super) type Hits = Vec<[u32; 2]>;

pub(super) struct Case {
    pub(super) scene: Scene,
    /// The bodies that move; those of the scene after them are the arenas' statics.
    bodies: Vec<Body>,
    /// The world of each body; empty if there is one world.
    worlds: Vec<u32>,
    /// An arena on each engine.
    arenas: Vec<Arena>,
    peer: OnceLock<Peer>,
}

impl Case {
    /// A crowd in which bodies from `moving` on are statics.
    ///
    /// # Errors
    /// As the library.
    pub(super) fn new(
        context: &Context<'_>,
        scene: Scene,
        worlds: Vec<u32>,
        moving: usize,
    ) -> Result<Self, Trouble> {
        let mut bodies = scene.library_bodies();
        let statics = bodies.split_off(moving.min(bodies.len()));
        let options = || Options { statics: statics.clone(), ..Options::default() };
        let arenas = context.engines().map(|engine| Arena::new(engine, &scene.hulls, options()));
        let arenas = arenas.collect::<Result<_, _>>()?;
        Ok(Self { bodies, scene, worlds, arenas, peer: OnceLock::new() })
    }

    fn peer(&self) -> &Peer {
        self.peer.get_or_init(|| Peer::new(&self.scene.sets, &self.scene.bodies))
    }

    /// The peer's hits.
    ///
    /// # Errors
    /// As the peer.
    pub(super) fn peer_hits(&self, world: Option<usize>) -> Result<Hits, String> {
        self.peer().hits(world, self.bodies.len())
    }

    /// The hits of an engine.
    ///
    /// # Errors
    /// As the library.
    pub(super) fn hits(&self, engine: usize) -> Result<Hits, Trouble> {
        self.found(engine, Query::Intersections).map(|(hits, _)| hits)
    }

    /// The hits of an engine by a query, with its statistics.
    ///
    /// # Errors
    /// As the library.
    pub(super) fn found(&self, engine: usize, query: Query) -> Result<(Hits, Stats), Trouble> {
        self.answer(engine, query, Pairs::BroadPhase)
    }

    /// The hits of the CPU engine among given pairs.
    ///
    /// # Errors
    /// As the library.
    pub(super) fn found_among(&self, pairs: &[[u32; 2]], query: Query) -> Result<(Hits, Stats), Trouble> {
        self.answer(0, query, Pairs::Given(pairs))
    }

    fn answer(&self, engine: usize, query: Query, pairs: Pairs<'_>) -> Result<(Hits, Stats), Trouble> {
        let columns = BodyColumns { worlds: &self.worlds, ..BodyColumns::new(&self.bodies) };
        let arena = &self.arenas[engine];
        match query {
            Query::Intersections => {
                let found = arena.intersections(columns, pairs)?.wait()?;
                let hits = found.rows.iter().filter(|row| row.status.is_hit()).map(|row| [row.a, row.b]);
                Ok((hits.collect(), found.stats))
            }
            Query::Contacts => {
                let options = ContactOptions { margin: 0.0 };
                let found = arena.contacts(columns, pairs, &options)?.wait()?;
                let hits = found.rows.iter().filter(|row| row.status.is_hit()).map(|row| [row.a, row.b]);
                Ok((hits.collect(), found.stats))
            }
        }
    }

    /// Checks the contacts of an engine for some of the hits by the oracle: depths, normals and points.
    ///
    /// # Errors
    /// What is wrong.
    pub(super) fn verify_contacts(&self, engine: usize, hits: &Hits) -> Result<(), String> {
        let some: Hits = hits.iter().copied().step_by((hits.len() / JUDGED).max(1)).collect();
        measures::Query::Contacts.check(&self.arenas[engine], &self.scene, &self.bodies, &some)
    }

    /// The candidates of the CPU engine.
    ///
    /// # Errors
    /// As the library.
    pub(super) fn candidates(&self) -> Result<Hits, String> {
        self.arenas[0].candidates(&self.bodies).map_err(message)?.wait().map_err(message)
    }

    /// The mean number of vertices of a hull.
    pub(super) fn mean_vertices(&self) -> f64 {
        let hulls = &self.scene.hulls;
        hulls.iter().map(|hull| hull.vertices().len()).sum::<usize>() as f64 / hulls.len().max(1) as f64
    }

    /// The true gap of a pair, and its tolerance.
    fn gap(&self, [a, b]: [u32; 2]) -> (f64, f64) {
        let [a, b] = [a, b].map(|body| &self.scene.bodies[body as usize]);
        let shape = |body: &Placed| &self.scene.shapes[body.hull as usize];
        let truth = truth(shape(a), &a.pose, shape(b), &b.pose);
        (truth.gap, truth.tau)
    }

    /// Checks hits by the oracle, and that some bodies have no other partner.
    ///
    /// # Errors
    /// What is wrong.
    pub(super) fn verify(&self, hits: &Hits) -> Result<(), String> {
        if hits.windows(2).any(|two| two[0] >= two[1]) {
            return Err("the rows are not sorted".into());
        }
        for &pair in hits.iter().step_by((hits.len() / JUDGED).max(1)) {
            let (gap, tau) = self.gap(pair);
            if gap > tau {
                return Err(format!("{pair:?} is no hit: its gap is {gap:e}"));
            }
        }
        let centre = |body: &Placed| {
            let mean = self.scene.shapes[body.hull as usize].mean();
            body.pose.position64() + body.pose.rotation64() * glam::DVec3::from(mean)
        };
        let radius = |body: &Placed| self.scene.shapes[body.hull as usize].radius([1.0; 3]);
        let count = self.bodies.len();
        for probe in (0..count).step_by((count / PROBED).max(1)) {
            let body = &self.scene.bodies[probe];
            let (at, reach) = (centre(body), radius(body));
            for (other, placed) in self.scene.bodies.iter().enumerate() {
                let same_world = self.worlds.is_empty() || self.worlds[probe] == self.worlds[other];
                if other == probe || !same_world || at.distance(centre(placed)) > reach + radius(placed) {
                    continue;
                }
                let pair = [probe.min(other) as u32, probe.max(other) as u32];
                let (gap, tau) = self.gap(pair);
                if gap < -tau && hits.binary_search(&pair).is_err() {
                    return Err(format!("{pair:?} is missing: its gap is {gap:e}"));
                }
            }
        }
        Ok(())
    }

    /// Checks other hits against those that were verified. Where they differ, the oracle must find the verified ones right, and those of another
    /// engine of hullfield too. Of a peer one in fifty may be wrong.
    ///
    /// # Errors
    /// What is wrong.
    pub(super) fn compare(&self, author: Author<'_>, hits: &Hits, others: &Hits) -> Result<(), String> {
        let (mut differing, mut judged, mut wrong) = (0, 0, 0);
        for (list, other, is_ours) in [(hits, others, true), (others, hits, false)] {
            for &pair in list.iter().filter(|pair| other.binary_search(pair).is_err()) {
                differing += 1;
                if judged < JUDGED {
                    judged += 1;
                    let (gap, tau) = self.gap(pair);
                    if is_ours && gap > tau || !is_ours && gap < -tau {
                        return Err(format!("{pair:?} is wrong here: its gap is {gap:e}"));
                    }
                    // On the threshold either will do, as bodies at rest upon one another are.
                    wrong += usize::from(gap.abs() > tau);
                }
            }
        }
        // Of more than were judged the same share is wrong.
        let wrong = (wrong * differing).div_ceil(judged.max(1));
        let allowed = if author == Author::Hullfield { 0 } else { 5 + hits.len() / 50 };
        match wrong > allowed {
            true => Err(format!("{wrong} of {} hits are wrong", hits.len())),
            false => Ok(()),
        }
    }
}

/// What dense crowds of any size are made of: bodies of 24 hulls, uniform in a cube, about [`CANDIDATES`] a body.
pub(super) struct DenseCrowds {
    /// The hulls, without bodies.
    scene: Scene,
    /// The cube's volume for each body.
    volume: f64,
}

impl DenseCrowds {
    /// # Errors
    /// As the library.
    pub(super) fn new() -> Result<Self, String> {
        let scene = Scene::of_hulls(&scenes::convex_sets(24, 1.0, SEED))?;
        let volume = volume(&scene)?;
        Ok(Self { scene, volume })
    }

    /// A crowd of so many bodies.
    ///
    /// # Errors
    /// As the library.
    pub(super) fn crowd(&self, context: &Context<'_>, count: u64) -> Result<Case, Trouble> {
        let mut random = Random::new(SEED);
        let side = (self.volume * count as f64).cbrt();
        let mut scene = self.scene.clone();
        scene.bodies = (0..count as usize).map(|at| body(&mut random, at % scene.sets.len(), side)).collect();
        let moving = scene.bodies.len();
        Case::new(context, scene, Vec::new(), moving)
    }
}

fn body(random: &mut Random, hull: usize, side: f64) -> Placed {
    let position = [0; 3].map(|_| random.between(-0.5 * side, 0.5 * side) as f32);
    Placed { hull: hull as u32, pose: Pose { position, rotation: random.rotation(), ..Pose::default() } }
}

/// The volume for each body that gives [`CANDIDATES`].
fn volume(scene: &Scene) -> Result<f64, String> {
    const COUNT: usize = 10_000;
    let arena = Arena::new(&Engine::cpu(), &scene.hulls, Default::default()).map_err(message)?;
    let mut volume = 8.0;
    for _ in 0..6 {
        let mut random = Random::new(SEED);
        let side = (volume * COUNT as f64).cbrt();
        let placed: Vec<Placed> =
            (0..COUNT).map(|at| body(&mut random, at % scene.sets.len(), side)).collect();
        let bodies = crate::rows::bodies(&placed);
        let found = arena.candidates(&bodies).and_then(hullfield::Pending::wait).map_err(message)?;
        volume *= found.len().max(1) as f64 / (CANDIDATES * COUNT as f64);
    }
    Ok(volume)
}

/// Crowds of 10³ to 10⁷ bodies.
pub(crate) fn crowds(context: &mut Context<'_>) -> Result<(), String> {
    let crowds = DenseCrowds::new()?;
    let topic = Topic {
        name: "bodies",
        title: "Crowds: bodies in to hits out, about ten candidates a body",
        axis: "bodies",
        cut: "Cut space into slabs. A body whose box crosses a cut is given to both sides, and of a pair that both sides find the one with the lower \
              slab counts. In a cube of n bodies a slab's side has about n^(2/3) of them.",
    };
    let sizes: Vec<u64> =
        context.sizes(&[1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]);
    let swept = sweep(context, &sizes, &|count| crowds.crowd(context, count), None);
    context.publish(&topic, swept);
    Ok(())
}

/// Worlds of 16 bodies, 1 to 10⁵ of them.
pub(crate) fn worlds(context: &mut Context<'_>) -> Result<(), String> {
    let scene = Scene::of_hulls(&scenes::convex_sets(24, 1.0, SEED))?;
    let topic = Topic {
        name: "worlds",
        title: "Worlds of 16 bodies side by side: bodies in to hits out",
        axis: "worlds",
        cut: "Worlds know nothing of each other: give each machine some of them.",
    };
    let sizes = context.sizes(&[1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]);
    let make = &|count: u64| {
        let mut random = Random::new(SEED);
        let mut scene = scene.clone();
        let bodies = WORLD * count as usize;
        scene.bodies = (0..bodies).map(|at| body(&mut random, at % scene.sets.len(), 4.5)).collect();
        Case::new(context, scene, (0..bodies).map(|at| (at / WORLD) as u32).collect(), bodies)
    };
    let swept = sweep(context, &sizes, make, Some(WORLD));
    context.publish(&topic, swept);
    Ok(())
}

/// hullfield on each engine, the CPU's with each number of threads, and parry3d with a tree over each world of so many bodies.
fn sweep(
    context: &Context<'_>,
    sizes: &[u64],
    make: &dyn Fn(u64) -> Result<Case, Trouble>,
    world: Option<usize>,
) -> Swept {
    let mut contenders = context.contenders(|case: &Case, engine| case.hits(engine));
    contenders.push(Contender::peer(PARRY, move |case: &Case| case.peer_hits(world)));
    let verify = |case: &Case, hits: &Hits| case.verify(hits);
    let compare = |author: Author<'_>, case: &Case, a: &Hits, b: &Hits| case.compare(author, a, b);
    context.sweep(&Plan { sizes, make, verify: &verify, compare: &compare }, &contenders)
}
