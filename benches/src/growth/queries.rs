//! Rays among bodies, pairs of compounds, and convex hulls of growing point sets.

use hullfield::collide::{Arena, Body, Ray, RayOptions};
use hullfield_oracle::random::Random;

use crate::compounds;
use crate::error::message;
use crate::growth::desk::Desk;
use crate::growth::grown::Topic;
use crate::growth::sweep::{Contender, Plan};
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
pub(crate) fn rays(desk: &mut Desk<'_>) -> Result<(), String> {
    let topic = Topic {
        name: "rays",
        title: "First hits of random rays among 10,000 hulls of 32 vertices",
        axis: "rays",
        cut: "Give each machine all bodies and some of the rays; with more bodies than one holds, cut space and send a ray on from slab to slab.",
    };
    let body_count = if desk.is_quick() { 500 } else { BODIES };
    let mut scene = scene_of("32", 10 * body_count, desk.report())?;
    for body in &mut scene.bodies {
        body.pose.position = body.pose.position.map(|x| 4.0 * x);
    }
    let sizes = desk.sizes(&[100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000]);
    let swept = {
        let bodies: Vec<Body> = scene.library_bodies();
        let arenas = desk.engines().map(|engine| Arena::new(engine, &scene.hulls, Default::default()));
        let arenas: Vec<Arena> = arenas.collect::<Result<_, _>>().map_err(message)?;
        let peer = ScenePeer::new(&Peer::new(&scene.sets, &scene.bodies))?;
        type Hits = Vec<Option<(u32, f32)>>;
        let make = |count: u64| Ok(rays::random_rays(&scene, count as usize));
        let cast = |rays: &Vec<Ray>, engine: usize| -> Result<Hits, String> {
            let pending = arenas[engine].raycasts(&bodies, rays, &RayOptions::default()).map_err(message)?;
            let rows = pending.wait().map_err(message)?.rows;
            Ok(rows.iter().map(|row| row.hit.map(|hit| (hit.body, hit.distance as f32))).collect())
        };
        let mut contenders = desk.ways(cast);
        contenders.push(Contender::peer(PARRY, |rays: &Vec<Ray>| {
            let mut hits = Vec::with_capacity(rays.len());
            peer.first_hits(rays, &mut hits);
            Ok(hits)
        }));
        let verify = |cast: &Vec<Ray>, hits: &Hits| rays::check_hits(&scene, cast, hits);
        let compare = |rays: &Vec<Ray>, hits: &Hits, others: &Hits| {
            let is_same = |one: Option<(u32, f32)>, other: Option<(u32, f32)>| match (one, other) {
                (Some((_, a)), Some((_, b))) => (a - b).abs() <= 1e-4,
                (one, other) => one.is_none() && other.is_none(),
            };
            let differing: Vec<usize> = (0..rays.len()).filter(|&k| !is_same(hits[k], others[k])).collect();
            // Rays that graze a hull: the oracle must find the verified hits right.
            let some: Vec<Ray> = differing.iter().take(50).map(|&k| rays[k]).collect();
            let of_these: Hits = differing.iter().take(50).map(|&k| hits[k]).collect();
            rays::check_hits(&scene, &some, &of_these)?;
            match differing.len() > 2 + rays.len() / 200 {
                true => Err(format!("{} of {} rays differ", differing.len(), rays.len())),
                false => Ok(()),
            }
        };
        desk.sweep(&Plan { sizes: &sizes, make: &make, verify: &verify, compare: &compare }, &contenders)?
    };
    desk.publish(&topic, swept);
    Ok(())
}

/// 10 to 10⁵ pairs of compounds of 32 parts.
pub(crate) fn compounds(desk: &mut Desk<'_>) -> Result<(), String> {
    let topic = Topic {
        name: "compounds",
        title: "Pairs of compounds of 32 parts: the deepest contact of each",
        axis: "pairs",
        cut: "Cut the list of pairs anywhere.",
    };
    let sizes = desk.sizes(&[10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]);
    let swept = {
        type Gaps = Vec<Option<f32>>;
        const QUERY: CompoundQuery = CompoundQuery::Contact;
        let make = |count: u64| compounds::Scene::new(count as usize);
        let mut contenders = desk.cpu_ways(|scene: &compounds::Scene| -> Result<Gaps, String> {
            Ok(scene.ours(QUERY)?.0.into_iter().map(|gap| gap.map(|gap| gap as f32)).collect())
        });
        contenders.push(Contender::peer(PARRY, |scene: &compounds::Scene| {
            let mut gaps = Vec::new();
            scene.peer_answers(QUERY, &mut gaps)?;
            Ok(gaps)
        }));
        let wide = |gaps: &Gaps| -> Vec<Option<f64>> { gaps.iter().map(|gap| gap.map(f64::from)).collect() };
        let verify = |scene: &compounds::Scene, gaps: &Gaps| scene.judge(QUERY, &wide(gaps), gaps).map(drop);
        let compare = |scene: &compounds::Scene, gaps: &Gaps, others: &Gaps| {
            let (differing, _) = scene.judge(QUERY, &wide(gaps), others)?;
            match differing > 2 + gaps.len() / 50 {
                true => Err(format!("{differing} of {} pairs differ", gaps.len())),
                false => Ok(()),
            }
        };
        desk.sweep(&Plan { sizes: &sizes, make: &make, verify: &verify, compare: &compare }, &contenders)?
    };
    desk.publish(&topic, swept);
    Ok(())
}

/// Convex hulls of 10 to 10⁶ points.
pub(crate) fn hulls(desk: &mut Desk<'_>) -> Result<(), String> {
    let topic = Topic {
        name: "hulls",
        title: "The convex hull of points in a ball",
        axis: "points",
        cut: "Build the hull of each part of the points, then the hull of their vertices.",
    };
    let sizes = desk.sizes(&[10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]);
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
                run: Box::new(move |points: &Vec<[f32; 3]>| build(points)),
                clock: None,
            })
            .collect();
        let verify = |points: &Vec<[f32; 3]>, mesh: &hulls::Mesh| {
            let some: Vec<[f32; 3]> =
                points.iter().step_by((points.len() / CHECKED_POINTS).max(1)).copied().collect();
            hulls::check_solid(&some, mesh)
        };
        let compare = |points: &Vec<[f32; 3]>, _: &hulls::Mesh, mesh: &hulls::Mesh| verify(points, mesh);
        desk.sweep(&Plan { sizes: &sizes, make: &make, verify: &verify, compare: &compare }, &contenders)?
    };
    desk.publish(&topic, swept);
    Ok(())
}
