//! The cases of collision.

use glam::{DQuat, DVec3};
use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, Compound, CompoundBody, Compounds, Contact, ContactOptions, DistanceOptions, Hull,
    Intersection, Motion, Options as ArenaOptions, Pairs, Part, Pose, Ray, RayOptions, SweepOptions,
};
use hullfield_oracle::random::Random;

use crate::error::message;
use crate::machine::SEED;
use crate::scene::spheres;
use crate::watch::rounds::{Sum, repeat};

pub(super) fn hulls(rounds: u32) -> Result<u64, String> {
    let mut random = Random::new(SEED);
    let mut point = || (random.direction() * random.unit().cbrt()).as_vec3().to_array();
    let clouds: Vec<Vec<[f32; 3]>> = (0..24).map(|_| (0..500).map(|_| point()).collect()).collect();
    let build = || clouds.iter().map(|cloud| Hull::from_points(cloud)).collect::<Result<Vec<_>, _>>();
    repeat(
        rounds,
        || build().map_err(message),
        |hulls, sum| {
            for hull in hulls {
                hull.vertices().iter().for_each(|&vertex| sum.point(vertex));
                hull.triangles().flatten().for_each(|corner| sum.count(corner));
            }
        },
    )
}

/// Given pairs of bodies, of which no body is in two.
struct Given {
    arena: Arena,
    bodies: Vec<Body>,
    pairs: Vec<[u32; 2]>,
}

impl Given {
    /// Pairs of bodies at distances of up to 1.2 times the sum of their radii.
    fn new(vertex_count: usize, pair_count: u32) -> Result<Self, String> {
        let mut random = Random::new(SEED);
        let hulls = hulls_of(&spheres(&mut random, 16, vertex_count))?;
        let mut bodies = Vec::new();
        for _ in 0..pair_count {
            let at = DVec3::from([0; 3].map(|_| random.between(-20.0, 20.0)));
            let other = at + random.direction() * (2.4 * random.unit().cbrt());
            for place in [at, other] {
                bodies.push(body(&mut random, hulls.len(), place));
            }
        }
        let pairs = (0..pair_count).map(|pair| [2 * pair, 2 * pair + 1]).collect();
        Ok(Self { arena: arena(&hulls)?, bodies, pairs })
    }
}

fn hulls_of(sets: &[Vec<[f32; 3]>]) -> Result<Vec<Hull>, String> {
    sets.iter().map(|set| Hull::from_points(set)).collect::<Result<_, _>>().map_err(message)
}

fn arena(hulls: &[Hull]) -> Result<Arena, String> {
    Arena::new(&Engine::cpu(), hulls, ArenaOptions::default()).map_err(message)
}

fn body(random: &mut Random, hull_count: usize, at: DVec3) -> Body {
    let hull = random.below(hull_count) as u32;
    Body::new(hull).at(at.as_vec3().to_array()).rotated(random.rotation())
}

/// Bodies anywhere in a cube that has a volume of `spacing`³ for each.
fn crowd(random: &mut Random, hull_count: usize, body_count: usize, spacing: f64) -> Vec<Body> {
    let side = spacing * (body_count as f64).cbrt();
    (0..body_count)
        .map(|_| {
            let at = DVec3::from([0; 3].map(|_| random.between(0.0, side)));
            body(random, hull_count, at)
        })
        .collect()
}

fn sum_hits(rows: &[Intersection], sum: &mut Sum) {
    for row in rows {
        [row.a, row.b, row.status as u32].into_iter().for_each(|word| sum.count(word));
        sum.point(row.axis.unwrap_or_default());
    }
}

fn sum_contact(row: &Contact, sum: &mut Sum) {
    [row.a, row.b, row.status as u32].into_iter().for_each(|word| sum.count(word));
    sum.number(row.separation);
    sum.point(row.normal);
}

pub(super) fn intersections(rounds: u32, vertex_count: usize, pair_count: u32) -> Result<u64, String> {
    let Given { arena, bodies, pairs } = Given::new(vertex_count, pair_count)?;
    let query = || arena.intersections(&bodies, Pairs::Given(&pairs))?.wait();
    repeat(rounds, || query().map_err(message), |found, sum| sum_hits(&found.rows, sum))
}

pub(super) fn distances(rounds: u32) -> Result<u64, String> {
    let Given { arena, bodies, pairs } = Given::new(32, 20_000)?;
    let options = DistanceOptions { margin: f32::INFINITY };
    let query = || arena.distances(&bodies, Pairs::Given(&pairs), &options)?.wait();
    repeat(
        rounds,
        || query().map_err(message),
        |found, sum| {
            for row in &found.rows {
                [row.a, row.b, row.status as u32].into_iter().for_each(|word| sum.count(word));
                sum.number(row.separation);
                sum.point(row.axis.unwrap_or_default());
            }
        },
    )
}

pub(super) fn contacts(rounds: u32) -> Result<u64, String> {
    let Given { arena, bodies, pairs } = Given::new(32, 10_000)?;
    let query = || arena.contacts(&bodies, Pairs::Given(&pairs), &ContactOptions::default())?.wait();
    repeat(
        rounds,
        || query().map_err(message),
        |found, sum| found.rows.iter().for_each(|row| sum_contact(row, sum)),
    )
}

pub(super) fn sweeps(rounds: u32) -> Result<u64, String> {
    let Given { arena, bodies, pairs } = Given::new(32, 8_000)?;
    let mut random = Random::new(SEED + 1);
    let velocity = |random: &mut Random| (random.direction() * 2.0 * random.unit()).as_vec3().to_array();
    let motions: Vec<Motion> =
        bodies.iter().map(|_| Motion { velocity: velocity(&mut random), ..Motion::default() }).collect();
    let query = || arena.sweeps(&bodies, &motions, Pairs::Given(&pairs), &SweepOptions::default())?.wait();
    repeat(
        rounds,
        || query().map_err(message),
        |found, sum| {
            for row in &found.rows {
                [row.a, row.b, row.outcome as u32].into_iter().for_each(|word| sum.count(word));
                sum.number(row.time);
                sum.point(row.normal.unwrap_or_default());
            }
        },
    )
}

pub(super) fn broad(rounds: u32) -> Result<u64, String> {
    let mut random = Random::new(SEED);
    let hulls = hulls_of(&spheres(&mut random, 16, 12))?;
    let arena = arena(&hulls)?;
    let crowds: Vec<Vec<Body>> = (0..16).map(|_| crowd(&mut random, hulls.len(), 2_000, 1.8)).collect();
    let query = |bodies: &Vec<Body>| arena.candidates(bodies)?.wait();
    repeat(
        rounds,
        || crowds.iter().map(query).collect::<Result<Vec<_>, _>>().map_err(message),
        |found, sum| found.iter().flatten().flatten().for_each(|&row| sum.count(row)),
    )
}

pub(super) fn rays(rounds: u32) -> Result<u64, String> {
    let mut random = Random::new(SEED);
    let hulls = hulls_of(&spheres(&mut random, 16, 32))?;
    let arena = arena(&hulls)?;
    let bodies = crowd(&mut random, hulls.len(), 1_000, 8.0);
    let rays: Vec<Ray> = (0..20_000)
        .map(|_| {
            let at = DVec3::from([0; 3].map(|_| random.between(0.0, 80.0)));
            Ray::new(at.as_vec3().to_array(), random.direction().as_vec3().to_array())
        })
        .collect();
    let query = || arena.raycasts(&bodies, &rays, &RayOptions::default())?.wait();
    repeat(
        rounds,
        || query().map_err(message),
        |found, sum| {
            for hit in found.rows.iter().filter_map(|row| row.hit.as_ref()) {
                [hit.ray, hit.body].into_iter().for_each(|word| sum.count(word));
                sum.number(hit.distance);
                sum.point(hit.normal.unwrap_or_default());
            }
        },
    )
}

pub(super) fn compounds(rounds: u32) -> Result<u64, String> {
    let mut random = Random::new(SEED);
    let mut hulls = spheres(&mut random, 16, 20);
    hulls.iter_mut().flatten().for_each(|point| *point = point.map(|x| 0.25 * x));
    let hulls = hulls_of(&hulls)?;
    let part = |random: &mut Random| {
        let position = (random.direction() * random.unit().cbrt()).as_vec3().to_array();
        Part::new(random.below(hulls.len()) as u32).posed(Pose::at(position).rotated(random.rotation()))
    };
    let kinds: Vec<Compound> =
        (0..8).map(|_| Compound::new((0..32).map(|_| part(&mut random)).collect::<Vec<_>>())).collect();
    let mut bodies = Vec::new();
    for _ in 0..400 {
        let at = DVec3::from([0; 3].map(|_| random.between(-50.0, 50.0)));
        let other = at + random.direction() * random.between(1.0, 2.4);
        for place in [at, other] {
            let kind = random.below(kinds.len()) as u32;
            bodies.push(CompoundBody::new(kind).at(place.to_array()).rotated(random.rotation()));
        }
    }
    let pairs: Vec<[u32; 2]> = (0..400).map(|pair| [2 * pair, 2 * pair + 1]).collect();
    let compounds = Compounds::new(&arena(&hulls)?, &kinds).map_err(message)?;
    let options = ContactOptions::default();
    let query = || compounds.body_contacts(&bodies[..], Pairs::Given(&pairs), &options)?.wait();
    repeat(
        rounds,
        || query().map_err(message),
        |found, sum| found.rows.iter().for_each(|row| sum_contact(&row.row, sum)),
    )
}

pub(super) fn warm_frames(rounds: u32) -> Result<u64, String> {
    let mut random = Random::new(SEED);
    let hulls = hulls_of(&spheres(&mut random, 16, 24))?;
    let cold = arena(&hulls)?;
    let start = crowd(&mut random, hulls.len(), 1_000, 2.4);
    let moves: Vec<(DVec3, DQuat)> = start
        .iter()
        .map(|_| (0.01 * random.direction(), DQuat::from_axis_angle(random.direction(), 0.005)))
        .collect();
    let mut frames = vec![start];
    for frame in 1..12 {
        let before: &Vec<Body> = &frames[frame - 1];
        let moved = before.iter().zip(&moves).map(|(body, &(by, turn))| {
            let at = DVec3::from(body.position.map(f64::from)) + by;
            let rotation = turn * DQuat::from_array(body.rotation.map(f64::from));
            body.at(at.as_vec3().to_array()).rotated(rotation.normalize().as_quat().to_array())
        });
        let moved = moved.collect();
        frames.push(moved);
    }
    let play = || {
        let warm = cold.with_options(ArenaOptions { warm_start: true, ..cold.options().clone() })?;
        let query = |bodies: &Vec<Body>| warm.intersections(bodies, Pairs::BroadPhase)?.wait();
        frames.iter().map(query).collect::<hullfield::Result<Vec<_>>>()
    };
    repeat(
        rounds,
        || play().map_err(message),
        |found, sum| found.iter().for_each(|batch| sum_hits(&batch.rows, sum)),
    )
}
