//! Hulls and rays against a height field: against parry3d's `HeightField`.

use glam::DVec3;
use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, Compound, CompoundBody, Compounds, ContactOptions, HeightField, Hull, Pairs, Ray, RayOptions,
};
use hullfield_oracle::random::Random;
use hullfield_oracle::{Pose as OraclePose, Shape, whole_truth};

use crate::error::message;
use crate::machine::SEED;
use crate::options::Options;
use crate::peer::HeightPeer;
use crate::report::{Cell, Report, Table};
use crate::timing::{Samples, interleave};

/// Cells along a side of the field, of one unit each.
const SIDE: u32 = 512;
/// Answers that the oracle computes, and at most as many that differ from the peer's.
const JUDGED: usize = 60;

/// A field, hulls near its surface, and rays.
struct Scene {
    field: HeightField,
    level: Compounds,
    bodies: Vec<CompoundBody>,
    sets: Vec<Vec<[f32; 3]>>,
    rays: Vec<Ray>,
    peer: HeightPeer,
}

/// Times the CPU engine on one thread against the peer.
///
/// # Errors
/// A query that fails. A wrong answer goes into the report.
pub(crate) fn against_peer(options: &Options, report: &mut Report) -> Result<(), String> {
    let count = if options.quick { 300 } else { 20_000 };
    let repetitions = if options.quick { 3 } else { 9 };
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(message)?;
    let scene = Scene::new(count)?;
    let mut table = Table::new(
        "heights",
        format!(
            "A height field of {SIDE} × {SIDE} cells, one thread each, {repetitions} interleaved repetitions"
        ),
        &[
            "query",
            "asked",
            "hits",
            "triangles a query",
            "hullfield µs",
            "±",
            "parry3d µs",
            "parry3d ±",
            "ratio",
            "judged",
            "differ",
            "parry3d wrong",
        ],
    );
    for is_ray in [false, true] {
        let name = if is_ray { "first hit of rays" } else { "deepest contact of hulls" };
        eprintln!("heights: {name}");
        let ours = || if is_ray { scene.our_rays() } else { scene.our_contacts() };
        let theirs = |answers: &mut Vec<Option<f32>>| {
            if !is_ray {
                return scene.peer.contacts(answers);
            }
            scene.peer.rays(&scene.rays, answers);
            Ok(())
        };
        let (answers, examined) = one.install(ours)?;
        let mut of_peer = Vec::new();
        theirs(&mut of_peer)?;
        let (differ_count, wrong_count) = match scene.judge(is_ray, &answers, &of_peer) {
            Ok(counts) => counts,
            Err(error) => {
                report.fail(format!("heights, {name}: {error}"));
                (0, 0)
            }
        };
        let [mine, other] = interleave(repetitions, || one.install(ours).map(drop), || theirs(&mut of_peer))?;
        let us = |samples: &Samples| samples.median() * 1e3 / count as f64;
        table.row([
            name.into(),
            count.into(),
            Cell::Share(answers.iter().flatten().count() as f64 / count as f64, 0),
            Cell::Number(examined as f64 / count as f64, 1),
            Cell::Number(us(&mine), 2),
            Cell::Share(mine.spread(), 0),
            Cell::Number(us(&other), 2),
            Cell::Share(other.spread(), 0),
            Cell::Number(mine.ratio(&other), 3),
            JUDGED.min(count).into(),
            differ_count.into(),
            wrong_count.into(),
        ]);
    }
    table.note(
        "hullfield's time begins at the poses of bodies, parry3d's at built poses and hulls. judged: by the f64 oracle triangle by triangle, or by \
         rays against all triangles in f64; differ: answers that differ from parry3d's by more than 1e-3; parry3d wrong: of those that were judged, \
         all or the first of them.",
    );
    report.table(table);
    Ok(())
}

impl Scene {
    fn new(count: usize) -> Result<Self, String> {
        let mut random = Random::new(SEED);
        let columns = SIDE + 1;
        let height = |x: u32, z: u32, noise: f64| {
            let [x, z] = [x, z].map(f64::from);
            (6.0 * (0.031 * x).sin() * (0.027 * z).cos() + 1.5 * (0.17 * x + 0.21 * z).sin() + noise) as f32
        };
        let heights: Vec<f32> = (0..columns * columns)
            .map(|at| height(at % columns, at / columns, 0.2 * random.unit()))
            .collect();
        let half = f64::from(SIDE) / 2.0;
        let field = HeightField::new(columns, heights, [1.0, 1.0])
            .and_then(|field| field.at([-half as f32, 0.0, -half as f32]))
            .map_err(message)?;
        let sets = hullfield_oracle::scenes::convex_sets(24, 0.8, SEED);
        let hulls: Vec<Hull> =
            sets.iter().map(|set| Hull::from_points(set)).collect::<Result<_, _>>().map_err(message)?;
        let sets: Vec<Vec<[f32; 3]>> = hulls.iter().map(|hull| hull.vertices().to_vec()).collect();
        let above = |random: &mut Random, least: f64, most: f64| {
            let [x, z] = [0, 1].map(|_| random.between(2.0 - half, half - 2.0));
            let cell = [x, z].map(|x| (x + half) as u32);
            let ground = field.heights()[(cell[1] * columns + cell[0]) as usize];
            [x as f32, ground + random.between(least, most) as f32, z as f32]
        };
        let mut plain = Vec::new();
        for _ in 0..count {
            let hull = random.below(hulls.len()) as u32;
            plain.push(Body::new(hull).at(above(&mut random, -0.5, 1.5)).rotated(random.rotation()));
        }
        // From above the hills, some steep and some nearly level.
        let rays = (0..count)
            .map(|at| {
                let from = above(&mut random, 3.0, 20.0);
                let down = if at % 2 == 0 { 1.0 } else { 0.15 };
                let turn = random.between(0.0, std::f64::consts::TAU);
                Ray::new(from, [turn.cos() as f32, -down, turn.sin() as f32])
            })
            .collect();
        let peer = HeightPeer::new(columns as usize, field.heights(), &sets, &plain)?;
        let arena =
            Arena::new(&Engine::cpu(), &hulls, hullfield::collide::Options::default()).map_err(message)?;
        let shapes: Vec<Compound> = (0..hulls.len() as u32).map(|hull| Compound::of_hulls([hull])).collect();
        let compounds = Compounds::new(&arena, &shapes).map_err(message)?;
        let compounds = compounds.with_height_fields(std::slice::from_ref(&field));
        let level = compounds.with_statics(&[CompoundBody::new(shapes.len() as u32)]).map_err(message)?;
        let bodies = plain
            .iter()
            .map(|body| CompoundBody::new(body.hull).at(body.position.map(f64::from)).rotated(body.rotation))
            .collect();
        Ok(Self { field, level, bodies, sets, rays, peer })
    }

    /// The signed gap of each body that touches the field, and how many triangles were measured.
    fn our_contacts(&self) -> Result<(Vec<Option<f64>>, u64), String> {
        let field = self.bodies.len() as u32;
        let pairs: Vec<[u32; 2]> = (0..field).map(|body| [body, field]).collect();
        let found = self
            .level
            .body_contacts(&self.bodies, Pairs::Given(&pairs), &ContactOptions { margin: 0.0 })
            .map_err(message)?
            .wait()
            .map_err(message)?;
        let mut gaps = vec![None; self.bodies.len()];
        found.rows.iter().for_each(|row| gaps[row.row.a as usize] = Some(row.row.separation));
        Ok((gaps, found.stats.candidate_count))
    }

    /// How far each ray goes until it hits the field, in its lengths, and how many triangles were cast against.
    fn our_rays(&self) -> Result<(Vec<Option<f64>>, u64), String> {
        let found = self
            .level
            .raycasts(&[], &self.rays, &RayOptions::default())
            .map_err(message)?
            .wait()
            .map_err(message)?;
        let length = |ray: &Ray| DVec3::from(ray.direction.map(f64::from)).length();
        let place = |(row, ray): (&hullfield::collide::PartRow<hullfield::collide::Raycast>, &Ray)| {
            row.row.hit.map(|hit| hit.distance / length(ray))
        };
        let places = found.rows.iter().zip(&self.rays).map(place).collect();
        Ok((places, found.stats.candidate_count))
    }

    /// The triangles of the field over a square about a point.
    fn triangles(&self, about: [f64; 3], reach: f64) -> Vec<[[f64; 3]; 3]> {
        let half = f64::from(SIDE) / 2.0;
        let range = |x: f64| {
            let clamp = |x: f64| (x + half).floor().clamp(0.0, f64::from(SIDE - 1)) as u32;
            clamp(x - reach)..=clamp(x + reach)
        };
        let cells = range(about[2]).flat_map(|row| range(about[0]).map(move |column| row * SIDE + column));
        cells.flat_map(|cell| [2 * cell, 2 * cell + 1]).filter_map(|part| self.field.triangle(part)).collect()
    }

    /// The least gap of a body and the triangles near it, by the oracle.
    fn contact_truth(&self, body: usize) -> f64 {
        let CompoundBody { compound, position, rotation, .. } = self.bodies[body];
        let shape = Shape::new(&self.sets[compound as usize]);
        let pose = OraclePose { position: position.map(|x| x as f32), rotation, ..OraclePose::default() };
        let gap = |corners: [[f64; 3]; 3]| {
            let triangle = Shape::new(&corners.map(|corner| corner.map(|x| x as f32)));
            whole_truth(&triangle, &OraclePose::default(), &shape, &pose).gap
        };
        self.triangles(position, 2.5).into_iter().map(gap).fold(f64::INFINITY, f64::min)
    }

    /// The place where a ray first meets a triangle, by Möller and Trumbore 1997, and how clear it is of the edges.
    fn ray_truth(&self, ray: usize) -> (Option<f64>, f64) {
        let Ray { origin, direction, .. } = self.rays[ray];
        let [origin, direction] = [origin, direction].map(|v| DVec3::from(v.map(f64::from)));
        let (mut first, mut clear) = (None::<f64>, f64::INFINITY);
        for corners in self.triangles([0.0; 3], f64::from(SIDE)) {
            let [a, b, c] = corners.map(DVec3::from);
            let (ab, ac, from) = (b - a, c - a, origin - a);
            let across = direction.cross(ac);
            let volume = ab.dot(across);
            let (u, v) = (from.dot(across) / volume, direction.dot(from.cross(ab)) / volume);
            let place = ac.dot(from.cross(ab)) / volume;
            let inside = u.min(v).min(1.0 - u - v);
            if place >= 0.0 {
                clear = clear.min(inside.abs());
                if inside >= 0.0 && first.is_none_or(|first| place < first) {
                    first = Some(place);
                }
            }
        }
        (first, clear)
    }

    /// Holds our answers against the oracle's, and counts those that differ from the peer's and those of them where the peer is wrong.
    fn judge(
        &self,
        is_ray: bool,
        ours: &[Option<f64>],
        theirs: &[Option<f32>],
    ) -> Result<(usize, usize), String> {
        let same = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-3,
            (a, b) => a.is_none() && b.is_none(),
        };
        let differ: Vec<usize> =
            (0..ours.len()).filter(|&at| !same(ours[at], theirs[at].map(f64::from))).collect();
        let step = (ours.len() / JUDGED).max(1);
        let mut wrong_count = 0;
        for at in (0..ours.len()).step_by(step).chain(differ.iter().copied().take(JUDGED)) {
            let (truth, is_close) = if is_ray {
                let (truth, clear) = self.ray_truth(at);
                (truth, clear < 1e-5)
            } else {
                let gap = self.contact_truth(at);
                ((gap <= 0.0).then_some(gap), gap.abs() < 1e-4)
            };
            // On a threshold, or through an edge, either answer will do.
            if is_close {
                continue;
            }
            if !same(ours[at], truth) {
                return Err(format!(
                    "{at}: {:?}, the oracle says {truth:?}, parry3d {:?}",
                    ours[at], theirs[at]
                ));
            }
            wrong_count += usize::from(!same(theirs[at].map(f64::from), truth));
        }
        Ok((differ.len(), wrong_count))
    }
}
