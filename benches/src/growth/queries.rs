//! Rays among bodies, pairs of compounds, and convex hulls of growing point sets.

use std::collections::HashSet;

use hullfield::collide::{Arena, Body, Ray, RayOptions};
use hullfield_oracle::random::Random;

use crate::compounds;
use crate::error::{Trouble, message};
use crate::growth::context::Context;
use crate::growth::scaling::Topic;
use crate::growth::sweep::{Author, Contender, Plan, same_length, same_rows};
use crate::hulls;
use crate::machine::SEED;
use crate::peer::{CompoundQuery, PARRY, Peer, ScenePeer};
use crate::rays;
use crate::scene::scene_of;

/// Bodies that rays are cast among.
const BODIES: usize = 10_000;

/// The most points of a cloud that a hull is checked against.
const CHECKED_POINTS: usize = 2_000;

/// 10² to 10⁷ rays among 10,000 hulls.
pub(crate) fn rays(context: &mut Context<'_>) -> Result<(), String> {
    let topic = Topic {
        name: "rays",
        title: "First hits of random rays among 10,000 hulls of 32 vertices",
        axis: "rays",
        cut: "Give each machine all bodies and some of the rays; with more bodies than one holds, cut space and send a ray on from slab to slab.",
    };
    let body_count = if context.is_quick() { 500 } else { BODIES };
    let mut scene = scene_of("32", 10 * body_count, context.report())?;
    for body in &mut scene.bodies {
        body.pose.position = body.pose.position.map(|x| 4.0 * x);
    }
    let sizes = context.sizes(&[100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000]);
    let swept = {
        let bodies: Vec<Body> = scene.library_bodies();
        let arenas = context.engines().map(|engine| Arena::new(engine, &scene.hulls, Default::default()));
        let arenas: Vec<Arena> = arenas.collect::<Result<_, _>>().map_err(message)?;
        let peer = ScenePeer::new(&Peer::new(&scene.sets, &scene.bodies))?;
        type Hits = Vec<Option<(u32, f32)>>;
        let make = |count: u64| Ok(rays::random_rays(&scene, count as usize));
        let cast = |rays: &Vec<Ray>, engine: usize| -> Result<Hits, Trouble> {
            let rows = arenas[engine].raycasts(&bodies, rays, &RayOptions::default())?.wait()?.rows;
            Ok(rows.iter().map(|row| row.hit.map(|hit| (hit.body, hit.distance as f32))).collect())
        };
        let mut contenders = context.contenders(cast);
        contenders.push(Contender::peer(PARRY, |rays: &Vec<Ray>| {
            let mut hits = Vec::with_capacity(rays.len());
            peer.first_hits(rays, &mut hits);
            Ok(hits)
        }));
        let verify = |cast: &Vec<Ray>, hits: &Hits| rays::check_hits(&scene, cast, hits);
        let compare = |author: Author<'_>, rays: &Vec<Ray>, hits: &Hits, others: &Hits| {
            same_length(hits.len(), others.len())?;
            let is_same = |one: Option<(u32, f32)>, other: Option<(u32, f32)>| match (one, other) {
                (Some((_, a)), Some((_, b))) => (a - b).abs() <= 1e-4,
                (one, other) => one.is_none() && other.is_none(),
            };
            let differing: Vec<usize> = (0..rays.len()).filter(|&k| !is_same(hits[k], others[k])).collect();
            // Rays that graze a hull: the oracle must find the verified hits right, and those of another engine of hullfield too.
            let some: Vec<Ray> = differing.iter().take(50).map(|&k| rays[k]).collect();
            let of_these = |hits: &Hits| -> Hits { differing.iter().take(50).map(|&k| hits[k]).collect() };
            rays::check_hits(&scene, &some, &of_these(hits))?;
            if author == Author::Hullfield {
                rays::check_hits(&scene, &some, &of_these(others))?;
            }
            match differing.len() > 2 + rays.len() / 200 {
                true => Err(format!("{} of {} rays differ", differing.len(), rays.len())),
                false => Ok(()),
            }
        };
        context.sweep(&Plan { sizes: &sizes, make: &make, verify: &verify, compare: &compare }, &contenders)
    };
    context.publish(&topic, swept);
    Ok(())
}

/// 10 to 10⁵ pairs of compounds of 32 parts.
pub(crate) fn compounds(context: &mut Context<'_>) -> Result<(), String> {
    let topic = Topic {
        name: "compounds",
        title: "Pairs of compounds of 32 parts: the deepest contact of each",
        axis: "pairs",
        cut: "Cut the list of pairs anywhere.",
    };
    let sizes = context.sizes(&[10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]);
    let swept = {
        type Gaps = Vec<Option<f32>>;
        const QUERY: CompoundQuery = CompoundQuery::Contact;
        let make = |count: u64| -> Result<compounds::Scene, Trouble> {
            compounds::Scene::new(count as usize).map_err(Trouble::Failed)
        };
        let mut contenders = context.cpu_contenders(|scene: &compounds::Scene| -> Result<Gaps, String> {
            Ok(scene.ours(QUERY)?.0.into_iter().map(|gap| gap.map(|gap| gap as f32)).collect())
        });
        contenders.push(Contender::peer(PARRY, |scene: &compounds::Scene| {
            let mut gaps = Vec::new();
            scene.peer_answers(QUERY, &mut gaps)?;
            Ok(gaps)
        }));
        let wide = |gaps: &Gaps| -> Vec<Option<f64>> { gaps.iter().map(|gap| gap.map(f64::from)).collect() };
        let verify = |scene: &compounds::Scene, gaps: &Gaps| {
            same_length(scene.pair_count(), gaps.len())?;
            scene.judge(QUERY, &wide(gaps), gaps).map(drop)
        };
        let compare = |author: Author<'_>, scene: &compounds::Scene, gaps: &Gaps, others: &Gaps| {
            if author == Author::Hullfield {
                return same_rows(gaps, others);
            }
            same_length(gaps.len(), others.len())?;
            let (differing, _) = scene.judge(QUERY, &wide(gaps), others)?;
            match differing > 2 + gaps.len() / 50 {
                true => Err(format!("{differing} of {} pairs differ", gaps.len())),
                false => Ok(()),
            }
        };
        context.sweep(&Plan { sizes: &sizes, make: &make, verify: &verify, compare: &compare }, &contenders)
    };
    context.publish(&topic, swept);
    Ok(())
}

/// Convex hulls of 10 to 10⁶ points.
pub(crate) fn hulls(context: &mut Context<'_>) -> Result<(), String> {
    let topic = Topic {
        name: "hulls",
        title: "The convex hull of points in a ball",
        axis: "points",
        cut: "Build the hull of each part of the points, then the hull of their vertices.",
    };
    let sizes = context.sizes(&[10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]);
    let swept = {
        let make = |count: u64| {
            let mut random = Random::new(SEED);
            Ok((0..count).map(|_| hulls::in_ball(&mut random)).collect::<Vec<_>>())
        };
        let builders = hulls::BUILDERS.iter();
        let contenders: Vec<Contender<'_, Vec<[f32; 3]>, hulls::Mesh>> = builders
            .map(|&(name, build)| Contender {
                name: if name == hulls::OURS { "cpu, 1 thread".into() } else { name.into() },
                is_peer: name != hulls::OURS,
                run: Box::new(move |points: &Vec<[f32; 3]>| build(points).map_err(Trouble::Failed)),
                clock: None,
            })
            .collect();
        // Nothing of the hull is outside the cloud's box, and no point of the cloud outside the hull.
        let check = |points: &[[f32; 3]], mesh: &hulls::Mesh| {
            let some: Vec<[f32; 3]> =
                points.iter().step_by((points.len() / CHECKED_POINTS).max(1)).copied().collect();
            let out = mesh.0.iter().find(|vertex| !vertex.iter().all(|x| x.abs() <= 1.0 + 1e-6));
            out.map_or(Ok(()), |vertex| {
                Err(format!("the vertex {vertex:?} is outside the ball of the points"))
            })?;
            hulls::check_solid(&some, mesh)
        };
        let verify = |points: &Vec<[f32; 3]>, mesh: &hulls::Mesh| {
            let cloud: HashSet<[u32; 3]> = points.iter().map(|point| point.map(f32::to_bits)).collect();
            let stray = mesh.0.iter().find(|vertex| !cloud.contains(&vertex.map(f32::to_bits)));
            stray.map_or(Ok(()), |vertex| Err(format!("the vertex {vertex:?} is no point of the cloud")))?;
            check(points, mesh)
        };
        let compare =
            |_: Author<'_>, points: &Vec<[f32; 3]>, _: &hulls::Mesh, mesh: &hulls::Mesh| check(points, mesh);
        context.sweep(&Plan { sizes: &sizes, make: &make, verify: &verify, compare: &compare }, &contenders)
    };
    context.publish(&topic, swept);
    Ok(())
}
