//! The scenes of the collision benches, all from one seed.

use glam::DVec3;
use hullfield::collide::{Body, Hull};
use hullfield_oracle::corpus::{self, Source};
use hullfield_oracle::random::Random;
use hullfield_oracle::{Placed, Pose, Shape};
use rayon::prelude::*;

use crate::machine::SEED;
use crate::peer::Peer;
use crate::report::Report;
use crate::rows::bodies;

/// Hulls, bodies and the pairs to query.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    /// The vertices of each of the library's hulls.
    pub(crate) sets: Vec<Vec<[f32; 3]>>,
    /// The library's hulls.
    pub(crate) hulls: Vec<Hull>,
    /// The oracle's shapes, made from the same vertices.
    pub(crate) shapes: Vec<Shape>,
    /// The bodies, all of scale 1.
    pub(crate) bodies: Vec<Placed>,
    /// The pairs, sorted.
    pub(crate) pairs: Vec<[u32; 2]>,
}

impl Scene {
    /// Hulls without bodies.
    ///
    /// # Errors
    /// A point set that has no hull.
    pub(crate) fn of_hulls(sets: &[Vec<[f32; 3]>]) -> Result<Self, String> {
        let hulls: Result<Vec<Hull>, _> = sets.par_iter().map(|set| Hull::from_points(set)).collect();
        let hulls = hulls.map_err(|error| error.to_string())?;
        let sets: Vec<Vec<[f32; 3]>> = hulls.iter().map(|hull| hull.vertices().to_vec()).collect();
        let shapes = sets.par_iter().map(|set| Shape::new(set)).collect();
        Ok(Self { sets, hulls, shapes, bodies: Vec::new(), pairs: Vec::new() })
    }

    /// The bodies as the library's type.
    pub(crate) fn library_bodies(&self) -> Vec<Body> {
        bodies(&self.bodies)
    }

    /// The bounding radius of a hull around the mean of its vertices.
    fn radius(&self, hull: usize) -> f64 {
        self.shapes[hull].radius([1.0; 3])
    }

    /// A body whose hull's mean is at `centre`.
    fn place(&self, hull: usize, centre: [f64; 3], rotation: [f32; 4]) -> Placed {
        let turned = Pose { rotation, ..Pose::default() };
        let offset = turned.rotation64() * DVec3::from(self.shapes[hull].mean());
        let position = [0, 1, 2].map(|k| (centre[k] - offset[k]) as f32);
        Placed { hull: hull as u32, pose: Pose { position, rotation, ..Pose::default() } }
    }

    /// A uniform crowd of `body_count` bodies. Its density makes `pair_count` pairs closer than `reach` times the sum of their
    /// bounding radii: these are the pairs.
    pub(crate) fn crowd(&mut self, random: &mut Random, body_count: usize, pair_count: usize, reach: f64) {
        self.bodies.clear();
        self.pairs.clear();
        let hulls = (0..body_count).map(|_| random.below(self.sets.len())).collect();
        self.add_crowd(random, hulls, pair_count, reach, [0.0; 3]);
        self.pairs.sort_unstable();
    }

    /// Small crowds far from each other, each of forty bodies of similar size and five pairs per body. With hulls of all sizes, the
    /// largest would dominate a single crowd.
    pub(crate) fn crowds(&mut self, random: &mut Random, pair_count: usize, reach: f64) {
        const BODIES: usize = 40;
        self.bodies.clear();
        self.pairs.clear();
        let mut by_size: Vec<usize> = (0..self.sets.len()).collect();
        by_size.sort_by(|&i, &j| self.radius(i).total_cmp(&self.radius(j)));
        let window = by_size.len().min(200);
        while self.pairs.len() < pair_count {
            let first = random.below(by_size.len() - window + 1);
            let hulls = (0..BODIES).map(|_| by_size[first + random.below(window)]).collect();
            let centre = [0; 3].map(|_| random.between(-100.0, 100.0));
            let count = (5 * BODIES).min(pair_count - self.pairs.len());
            self.add_crowd(random, hulls, count, reach, centre);
        }
        self.pairs.sort_unstable();
    }

    /// Appends bodies of the given hulls, uniform in a cube around `centre`, and their `pair_count` nearest pairs. The last of
    /// these is `reach` times the sum of its bounding radii apart.
    fn add_crowd(
        &mut self,
        random: &mut Random,
        hulls: Vec<usize>,
        pair_count: usize,
        reach: f64,
        centre: [f64; 3],
    ) {
        let bodies: Vec<(usize, [f64; 3], [f32; 4])> =
            hulls.into_iter().map(|hull| (hull, [0; 3].map(|_| random.unit()), random.rotation())).collect();
        let body_count = bodies.len();
        let radii: Vec<f64> = bodies.iter().map(|&(hull, ..)| self.radius(hull)).collect();
        // The nearness of a pair: the sum of the radii over the distance, in a cube of side 1.
        let nearness = |i: usize, j: usize| {
            let (p, q) = (bodies[i].1, bodies[j].1);
            let squared: f64 = (0..3).map(|k| (p[k] - q[k]) * (p[k] - q[k])).sum();
            (radii[i] + radii[j]) / squared.sqrt()
        };
        // A first bound from the volume per pair, lowered until enough pairs are nearer.
        let mean_radius = radii.iter().sum::<f64>() / body_count as f64;
        let per_volume = pair_count as f64 / (body_count as f64 * body_count as f64 / 2.0);
        let mut least = 2.0 * mean_radius / (per_volume * 3.0 / (4.0 * std::f64::consts::PI)).cbrt();
        let pair_limit = pair_count.min(body_count * body_count.saturating_sub(1) / 2);
        let mut near = loop {
            let near: Vec<(f64, [u32; 2])> = (0..body_count)
                .into_par_iter()
                .flat_map_iter(|i| {
                    let nearness = &nearness;
                    (i + 1..body_count).filter_map(move |j| {
                        let near = nearness(i, j);
                        (near > least).then_some((near, [i as u32, j as u32]))
                    })
                })
                .collect();
            if near.len() >= pair_limit {
                break near;
            }
            least *= 0.8;
        };
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        near.truncate(pair_count);
        let side = near.last().map_or(1.0, |&(least, _)| least) * reach;
        let first = self.bodies.len() as u32;
        self.pairs.extend(near.into_iter().map(|(_, [a, b])| [first + a, first + b]));
        for &(hull, place, rotation) in &bodies {
            let at = [0, 1, 2].map(|k| centre[k] + (place[k] - 0.5) * side);
            let body = self.place(hull, at, rotation);
            self.bodies.push(body);
        }
    }

    /// The reach within which a share of pairs overlap, by parry3d, if pairs are uniform in the volume.
    ///
    /// # Errors
    /// As [`Peer::intersections`].
    pub(crate) fn reach_for_overlap(&self, random: &mut Random, share: f64) -> Result<f64, String> {
        const COUNT: usize = 8_000;
        let mut trial = self.clone();
        let mut reaches = Vec::with_capacity(COUNT);
        for k in 0..COUNT {
            let hulls = [random.below(self.sets.len()), random.below(self.sets.len())];
            let reach = 2.0 * random.unit().cbrt();
            let distance = reach * (self.radius(hulls[0]) + self.radius(hulls[1]));
            let offset = random.direction() * distance;
            trial.bodies.push(self.place(hulls[0], [0.0; 3], random.rotation()));
            trial.bodies.push(self.place(hulls[1], offset.to_array(), random.rotation()));
            trial.pairs.push([2 * k as u32, 2 * k as u32 + 1]);
            reaches.push(reach);
        }
        let mut hits = Vec::new();
        Peer::new(&trial.sets, &trial.bodies).intersections(&trial.pairs, &mut hits)?;
        let mut order: Vec<usize> = (0..COUNT).collect();
        order.sort_by(|&i, &j| reaches[i].total_cmp(&reaches[j]));
        let mut hit_count = 0;
        let mut found = 2.0;
        for (rank, &k) in order.iter().enumerate() {
            hit_count += usize::from(hits[k]);
            // The nearest few are too few for a share.
            if hit_count as f64 >= share * (rank + 1) as f64 && rank > COUNT / 20 {
                found = reaches[k];
            }
        }
        Ok(found)
    }
}

/// `set_count` point sets of `vertex_count` points each, uniform on the unit sphere.
pub(crate) fn spheres(random: &mut Random, set_count: usize, vertex_count: usize) -> Vec<Vec<[f32; 3]>> {
    let point = |random: &mut Random| random.direction().to_array().map(|x| x as f32);
    (0..set_count).map(|_| (0..vertex_count).map(|_| point(random)).collect()).collect()
}

/// A scene in which about 30 % of the pairs overlap. `kind` is a number of vertices, `corpus`, or a number with ` near`, where all
/// bounding spheres of the pairs overlap.
pub(crate) fn scene_of(kind: &str, pair_count: usize, report: &mut Report) -> Result<Scene, String> {
    let mut random = Random::new(SEED);
    if kind == "corpus" {
        return corpus_scene(&mut random, pair_count, report);
    }
    let vertex_count = kind.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(32);
    let mut scene = Scene::of_hulls(&spheres(&mut random, 32, vertex_count))?;
    let reach = if kind.ends_with("near") { 1.0 } else { scene.reach_for_overlap(&mut random, 0.3)? };
    scene.crowd(&mut random, (pair_count / 10).max(50), pair_count, reach);
    Ok(scene)
}

/// Small crowds of the corpus's solid hulls that parry3d accepts.
fn corpus_scene(random: &mut Random, pair_count: usize, report: &mut Report) -> Result<Scene, String> {
    let corpus = corpus::hulls()?;
    let all = Scene::of_hulls(&corpus.sets)?;
    let probe: Vec<Placed> =
        (0..all.sets.len()).map(|hull| Placed { hull: hull as u32, pose: Pose::default() }).collect();
    let accepts = Peer::new(&all.sets, &probe).accepts();
    let kept: Vec<Vec<[f32; 3]>> = (0..all.sets.len())
        .filter(|&hull| accepts[hull] && all.shapes[hull].dimension() == 3)
        .map(|hull| all.sets[hull].clone())
        .collect();
    let source = match corpus.source {
        Source::File(_) => "the one that HULLFIELD_CORPUS names",
        Source::StandIns => "seeded stand-ins, HULLFIELD_CORPUS is unset",
    };
    report.fact(
        "corpus",
        format!("{source}, {} hulls, {} of them solids that parry3d takes", all.sets.len(), kept.len()),
    );
    let mut scene = Scene::of_hulls(&kept)?;
    let mut reach = scene.reach_for_overlap(random, 0.3)?;
    let mut hits = Vec::new();
    for _ in 0..3 {
        // Pairs of similar size in a bounded crowd overlap more often, so the reach is corrected by the share found.
        let mut trial = random.clone();
        scene.crowds(&mut trial, pair_count.min(10_000), reach);
        Peer::new(&scene.sets, &scene.bodies).intersections(&scene.pairs, &mut hits)?;
        let share = hits.iter().filter(|&&hit| hit).count() as f64 / hits.len() as f64;
        reach *= (share / 0.3).cbrt();
    }
    scene.crowds(random, pair_count, reach);
    Ok(scene)
}
