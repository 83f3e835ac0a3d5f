//! Given pairs: their number, and the vertices of their hulls.

use std::sync::OnceLock;

use hullfield::collide::{Arena, Body, ContactOptions, Pairs};
use hullfield_oracle::random::Random;
use hullfield_oracle::truth;
use serde_json::json;

use crate::error::Trouble;
use crate::growth::context::Context;
use crate::growth::python::Array;
use crate::growth::scaling::Topic;
use crate::growth::sweep::{Author, Contender, Plan, Swept, same_length};
use crate::machine::SEED;
use crate::measures;
use crate::peer::{PARRY, Peer};
use crate::scene::{Scene, scene_of, spheres};

/// Pairs of the scene that larger ones repeat.
const TILE: u64 = 10_000;

/// Pairs at each number of vertices.
const PAIRS: u64 = 2_000;

/// The most pairs of an answer that the oracle judges.
const JUDGED: usize = 200;

/// The most contacts whose normals and points the oracle judges.
const WHOLLY_JUDGED: usize = 20;

/// The oracle's time grows with the square of the vertices. Fewer pairs are judged where hulls have more vertices than this.
const JUDGED_VERTICES: usize = 256;

/// Pairs that the oracle judges at least.
const LEAST_JUDGED: usize = 3;

/// The margin of contacts, in world units.
const MARGIN: f32 = 0.0;

/// For each pair: minus the depth of those that overlap, and 1 for all others. Of a yes or no, overlap is −1.
type Gaps = Vec<f32>;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Query {
    Intersections,
    Contacts,
}

struct Case {
    scene: Scene,
    bodies: Vec<Body>,
    arenas: Vec<Arena>,
    peer: OnceLock<Peer>,
}

impl Case {
    fn new(context: &Context<'_>, scene: Scene) -> Result<Self, Trouble> {
        let arenas = context.engines().map(|engine| Arena::new(engine, &scene.hulls, Default::default()));
        let arenas = arenas.collect::<Result<_, _>>()?;
        Ok(Self { bodies: scene.library_bodies(), scene, arenas, peer: OnceLock::new() })
    }

    fn ours(&self, query: Query, engine: usize) -> Result<Gaps, Trouble> {
        let (arena, pairs) = (&self.arenas[engine], Pairs::Given(&self.scene.pairs));
        Ok(match query {
            Query::Intersections => {
                let found = arena.intersections(&self.bodies, pairs)?.wait()?;
                found.rows.iter().map(|row| if row.status.is_hit() { -1.0 } else { 1.0 }).collect()
            }
            Query::Contacts => {
                let options = ContactOptions { margin: MARGIN };
                let found = arena.contacts(&self.bodies, pairs, &options)?.wait()?;
                let gap = |gap: f64| if gap < 0.0 { gap as f32 } else { 1.0 };
                found.rows.iter().map(|row| gap(row.separation)).collect()
            }
        })
    }

    fn theirs(&self, query: Query) -> Result<Gaps, String> {
        let peer = self.peer.get_or_init(|| Peer::new(&self.scene.sets, &self.scene.bodies));
        match query {
            Query::Intersections => {
                let mut hits = Vec::new();
                peer.intersections(&self.scene.pairs, &mut hits)?;
                Ok(hits.into_iter().map(|hit| if hit { -1.0 } else { 1.0 }).collect())
            }
            Query::Contacts => {
                let mut gaps = Vec::new();
                peer.contacts(&self.scene.pairs, MARGIN, &mut gaps)?;
                // Without a contact the gap is not a number, and no comparison with it holds.
                Ok(gaps.into_iter().map(|gap| if gap < 0.0 { gap } else { 1.0 }).collect())
            }
        }
    }

    /// For Python: vertices, vertices of each hull, the hull, position and rotation of each body, pairs.
    fn arrays(&self) -> Vec<Array> {
        let Scene { sets, bodies, pairs, .. } = &self.scene;
        let vertices: Vec<f32> = sets.iter().flatten().flatten().copied().collect();
        let counts: Vec<u32> = sets.iter().map(|set| set.len() as u32).collect();
        let hulls: Vec<u32> = bodies.iter().map(|body| body.hull).collect();
        let positions: Vec<f32> = bodies.iter().flat_map(|body| body.pose.position).collect();
        let rotations: Vec<f32> = bodies.iter().flat_map(|body| body.pose.rotation).collect();
        vec![
            Array::f32(&vertices, &[vertices.len() / 3, 3]),
            Array::u32(&counts, &[counts.len()]),
            Array::u32(&hulls, &[hulls.len()]),
            Array::f32(&positions, &[bodies.len(), 3]),
            Array::f32(&rotations, &[bodies.len(), 4]),
            Array::u32(pairs.as_flattened(), &[pairs.len(), 2]),
        ]
    }

    /// Whether a gap is that of the oracle: the same side, and the same depth.
    fn is_right(&self, query: Query, pair: usize, gap: f32) -> bool {
        let [a, b] = self.scene.pairs[pair].map(|body| &self.scene.bodies[body as usize]);
        let [shape_a, shape_b] = [a, b].map(|body| &self.scene.shapes[body.hull as usize]);
        let side = truth(shape_a, &a.pose, shape_b, &b.pose);
        if gap > 0.0 {
            return side.gap >= -side.tau;
        }
        if query == Query::Intersections {
            return side.gap <= side.tau;
        }
        let deep = hullfield_oracle::whole_truth(shape_a, &a.pose, shape_b, &b.pose);
        (deep.gap - f64::from(gap)).abs() <= deep.tau + 1e-6 * deep.radius_sum
    }

    /// Pairs that the oracle judges.
    fn judged_count(&self) -> usize {
        let most = self.scene.sets.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let share = (JUDGED_VERTICES as f64 / most as f64).powi(2).min(1.0);
        ((JUDGED as f64 * share) as usize).max(LEAST_JUDGED)
    }

    fn verify(&self, query: Query, gaps: &Gaps) -> Result<(), String> {
        same_length(self.scene.pairs.len(), gaps.len())?;
        let judged = |most: usize| {
            let most = self.judged_count().min(most);
            (0..gaps.len()).step_by((gaps.len() / most).max(1))
        };
        if let Some(pair) = judged(JUDGED).find(|&k| !self.is_right(query, k, gaps[k])) {
            return Err(format!("pair {pair}: the oracle rejects the gap {}", gaps[pair]));
        }
        match query {
            Query::Intersections => Ok(()),
            // Normals and points too.
            Query::Contacts => {
                let some: Vec<[u32; 2]> = judged(WHOLLY_JUDGED).map(|pair| self.scene.pairs[pair]).collect();
                measures::Query::Contacts.check(&self.arenas[0], &self.scene, &self.bodies, &some)
            }
        }
    }

    /// Checks other gaps against verified ones. The oracle must find the verified one right where they differ, and that of another engine of
    /// hullfield too. A peer may differ in one of 200.
    fn compare(&self, author: Author<'_>, query: Query, gaps: &Gaps, others: &Gaps) -> Result<(), String> {
        same_length(gaps.len(), others.len())?;
        let mut differing = 0;
        for (pair, (&gap, &other)) in gaps.iter().zip(others).enumerate() {
            if (gap - other).abs() <= 1e-4 {
                continue;
            }
            differing += 1;
            if differing <= JUDGED && !self.is_right(query, pair, gap) {
                return Err(format!("pair {pair} has {other} here, and {gap} is wrong"));
            }
            if author == Author::Hullfield && !self.is_right(query, pair, other) {
                return Err(format!("pair {pair}: the oracle rejects the gap {other}"));
            }
        }
        match differing > 5 + gaps.len() / 200 {
            true => Err(format!("{differing} of {} pairs differ", gaps.len())),
            false => Ok(()),
        }
    }
}

/// A scene whose pairs are those of a smaller one again and again, of bodies of their own.
fn repeated(scene: &Scene, pair_count: u64) -> Scene {
    let copies = pair_count.div_ceil(scene.pairs.len() as u64);
    let body_count = scene.bodies.len() as u32;
    let mut all = Scene { bodies: Vec::new(), pairs: Vec::new(), ..scene.clone() };
    for copy in 0..copies as u32 {
        all.bodies.extend_from_slice(&scene.bodies);
        all.pairs.extend(scene.pairs.iter().map(|pair| pair.map(|body| copy * body_count + body)));
    }
    all.pairs.truncate(pair_count as usize);
    all
}

fn sweep(
    context: &Context<'_>,
    query: Query,
    sizes: &[u64],
    make: &dyn Fn(u64) -> Result<Case, Trouble>,
) -> Swept {
    let mut contenders = context.contenders(move |case: &Case, engine| case.ours(query, engine));
    contenders.push(Contender::peer(PARRY, move |case: &Case| case.theirs(query)));
    if query == Query::Contacts
        && let Some(python) = &context.python
    {
        let key = |case: &Case| case.scene.pairs.len() as u64 ^ (case.scene.sets[0].len() as u64) << 40;
        let gaps = |gaps: Vec<f64>| {
            gaps.into_iter().map(|gap| if gap < 0.0 { gap as f32 } else { 1.0 }).collect::<Gaps>()
        };
        contenders.extend(python.contender(
            "coal",
            "coal_contacts",
            move |case| (key(case), case.arrays(), json!({})),
            key,
            gaps,
        ));
    }
    let plan = Plan {
        sizes,
        make,
        verify: &|case: &Case, gaps: &Gaps| case.verify(query, gaps),
        compare: &|author, case: &Case, one: &Gaps, other: &Gaps| case.compare(author, query, one, other),
    };
    context.sweep(&plan, &contenders)
}

const CUT: &str = "Cut the list of pairs anywhere: a pair needs its two bodies and their hulls only.";

/// 10³ to 10⁷ given pairs, yes or no.
pub(crate) fn intersections(context: &mut Context<'_>) -> Result<(), String> {
    let topic = Topic {
        name: "pairs",
        title: "Given pairs of hulls of 32 vertices, 30 % of which overlap: yes or no",
        axis: "pairs",
        cut: CUT,
    };
    given(context, Query::Intersections, &topic)
}

/// 10³ to 10⁷ given pairs, contacts.
pub(crate) fn contacts(context: &mut Context<'_>) -> Result<(), String> {
    let topic = Topic {
        name: "contacts",
        title: "Given pairs of hulls of 32 vertices, 30 % of which overlap: contacts",
        axis: "pairs",
        cut: CUT,
    };
    given(context, Query::Contacts, &topic)
}

fn given(context: &mut Context<'_>, query: Query, topic: &Topic) -> Result<(), String> {
    let tile = scene_of("32", TILE as usize, context.report())?;
    let sizes =
        context.sizes(&[1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]);
    let swept = sweep(context, query, &sizes, &|count| Case::new(context, repeated(&tile, count)));
    context.publish(topic, swept);
    Ok(())
}

/// Hulls of 4 to 4,096 vertices.
pub(crate) fn vertices(context: &mut Context<'_>) -> Result<(), String> {
    let topic = Topic {
        name: "vertices",
        title: "2,000 given pairs of hulls of more and more vertices: contacts",
        axis: "vertices",
        cut: "A hull is not cut: a pair of hulls of 4,096 vertices is one item of work.",
    };
    let sizes = context.sizes(&[4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]);
    let make = &|count: u64| {
        let mut random = Random::new(SEED);
        let mut scene = Scene::of_hulls(&spheres(&mut random, 16, count as usize))?;
        let reach = scene.reach_for_overlap(&mut random, 0.3)?;
        scene.crowd(&mut random, PAIRS as usize / 10, PAIRS as usize, reach);
        Case::new(context, scene)
    };
    let swept = sweep(context, Query::Contacts, &sizes, make);
    context.publish(&topic, swept);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_pairs_have_bodies_of_their_own() {
        let mut scene = Scene::of_hulls(&spheres(&mut Random::new(1), 2, 8)).unwrap();
        scene.crowd(&mut Random::new(2), 50, 100, 1.0);
        let all = repeated(&scene, 250);
        assert_eq!((all.pairs.len(), all.bodies.len()), (250, 150));
        assert_eq!(all.pairs[207], scene.pairs[7].map(|body| body + 100));
        assert_eq!(all.bodies[149], scene.bodies[49]);
    }
}
