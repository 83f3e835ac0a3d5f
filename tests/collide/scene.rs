//! Scenes: the rows of every query are those of arenas and compounds over the same bodies, bit for bit, on every engine.

use hullfield::Engine;
use hullfield::collide::next::{self, PairOptions, RowsPer, SceneOptions, Shapes};
use hullfield::collide::{
    Arena, Batch, Body, BodyColumns, CompoundBody, CompoundColumns, Compounds, ContactOptions,
    DistanceOptions, Exclusions, GradientOptions, HeightField, Hull, JointPath, LinkPose, ManifoldOptions,
    Motion, NearestOptions, Options, Pairs, PartPair, PartRow, PathOptions, Phase, PointColumns,
    PointOptions, Ray, RayColumns, RayOptions, ShapeCast, ShapeCastColumns, ShapeCastOptions, SweepOptions,
};
use hullfield_oracle::extent;
use hullfield_oracle::random::Random;

use crate::answers::engines;
use crate::compounds::{compound, crowd, hulls};

/// Bodies of hulls, and what an arena is told of them.
struct Crowd {
    hulls: Vec<Hull>,
    bodies: Vec<next::Body>,
    /// How many of them are not fixed.
    moving: usize,
    excluded: Vec<[u32; 2]>,
}

const NEAR: [f64; 3] = [0.0; 3];
const FAR: [f64; 3] = [1.0e7 + 0.3, -2.0e6 - 0.7, 5.0e6];

impl Crowd {
    fn new(seed: u64, count: usize, fixed: usize, at: [f64; 3], worlds: u32) -> Self {
        let mut random = Random::new(seed);
        let hulls = hulls(&mut random);
        let mut body = |row: usize| {
            let position = at.map(|x| x + random.between(-3.0, 3.0));
            let is_plane = row % 40 == 17 || row == count;
            let shape = if is_plane { 6 } else { row as u32 % 6 };
            let mut body = next::Body::new(shape).at(position).rotated(random.rotation());
            if is_plane {
                body.position[1] -= 3.0;
                body.rotation = [0.0, 0.0, 0.0, 1.0];
            } else {
                body.scale = std::array::from_fn(|_| 0.3 + 0.7 * random.unit() as f32);
            }
            if row % 5 == 4 {
                body.padding = 0.1 * random.unit() as f32;
            }
            if row % 7 == 3 {
                (body.group, body.mask) = (1, 3);
            }
            body
        };
        let mut bodies: Vec<next::Body> = (0..count + fixed).map(&mut body).collect();
        for (row, body) in bodies.iter_mut().enumerate() {
            if row >= count {
                *body = body.fixed();
                body.world = if worlds > 1 { next::Body::EVERY_WORLD } else { 0 };
            } else if worlds > 1 {
                body.world = (row as u32 * 7) % worlds;
                // Owners of one world.
                body.owner = (row % 3 == 0).then_some(body.world * 1000 + row as u32 % 11);
            }
        }
        let excluded =
            if worlds == 2 { vec![] } else { vec![[0, 1], [2, 5], [3, (count + fixed - 1) as u32]] };
        Self { hulls, bodies, moving: count, excluded: if worlds > 1 { vec![] } else { excluded } }
    }

    fn scene(&self, engine: &Engine, options: SceneOptions) -> next::Scene {
        let shapes = Shapes::new(engine, self.hulls.iter().cloned().map(next::Shape::from)).unwrap();
        let mut scene = next::Scene::new(&shapes, &self.bodies, options).unwrap();
        let id = |row: u32| scene.id(row).unwrap();
        let pairs: Vec<_> = self.excluded.iter().map(|pair| pair.map(id)).collect();
        scene.set_exclusions(&pairs, &[]).unwrap();
        scene
    }
}

fn plain(body: &next::Body) -> Body {
    let &next::Body { shape, rotation, scale, padding, group, mask, .. } = body;
    Body { hull: shape, position: [0.0; 3], rotation, scale, padding, group, mask }
}

/// What an arena takes.
struct Old {
    arena: Arena,
    bodies: Vec<Body>,
    positions: Vec<[f64; 3]>,
    worlds: Vec<u32>,
    owners: Vec<u32>,
    exclusions: Exclusions,
}

impl Old {
    fn new(engine: &Engine, crowd: &Crowd, options: SceneOptions) -> Self {
        let (moving, fixed) = crowd.bodies.split_at(crowd.moving);
        let static_positions: Vec<[f64; 3]> = fixed.iter().map(|body| body.position).collect();
        let options = Options {
            precision: options.precision,
            statics: fixed.iter().map(plain).collect(),
            static_positions,
            ..Options::default()
        };
        let has_worlds = moving.iter().any(|body| body.world != 0);
        // Those without an owner have one of their own.
        let owner = |(row, body): (u32, &next::Body)| body.owner.unwrap_or(1_000_000 + row);
        Self {
            arena: Arena::new(engine, &crowd.hulls, options).unwrap(),
            bodies: moving.iter().map(plain).collect(),
            positions: moving.iter().map(|body| body.position).collect(),
            worlds: if has_worlds { moving.iter().map(|body| body.world).collect() } else { vec![] },
            owners: if has_worlds { (0..).zip(moving).map(owner).collect() } else { vec![] },
            exclusions: Exclusions::new(&crowd.excluded).unwrap(),
        }
    }

    fn columns(&self) -> BodyColumns<'_> {
        BodyColumns {
            positions: &self.positions,
            worlds: &self.worlds,
            owners: &self.owners,
            exclusions: Some(&self.exclusions),
            ..BodyColumns::new(&self.bodies)
        }
    }
}

/// Asserts that two answers have the same rows.
#[track_caller]
fn same<R: PartialEq + std::fmt::Debug>(what: &str, found: Vec<R>, expected: Vec<R>, least: usize) {
    let first = found.iter().zip(&expected).position(|(a, b)| a != b);
    if let Some(at) = first {
        panic!("{what}: row {at} of {}: {:?} for {:?}", expected.len(), found[at], expected[at]);
    }
    assert_eq!(found.len(), expected.len(), "{what}");
    assert!(found.len() >= least, "{what}: {} rows", found.len());
}

macro_rules! rows {
    ($query:expr) => {
        $query.unwrap().wait().unwrap().rows
    };
}

/// Rays of a scene as those of an arena, which have their origins apart.
fn lines_and_origins(rays: &[next::Ray]) -> (Vec<Ray>, Vec<[f64; 3]>) {
    let line = |ray: &next::Ray| Ray {
        origin: [0.0; 3],
        direction: ray.direction,
        max_distance: ray.max_distance,
        group: ray.group,
        mask: ray.mask,
    };
    rays.iter().map(|ray| (line(ray), ray.origin)).unzip()
}

fn rays(random: &mut Random, at: [f64; 3], count: usize, worlds: u32) -> Vec<next::Ray> {
    (0..count)
        .map(|index| {
            let origin = at.map(|x| x + random.between(-5.0, 5.0));
            let towards = at.map(|x| x + random.between(-2.0, 2.0));
            let direction = [0, 1, 2].map(|k| (towards[k] - origin[k]) as f32);
            let ray = next::Ray::new(origin, direction).in_world(index as u32 % worlds);
            let ray = if index % 4 == 1 { ray.up_to(3.0) } else { ray };
            if index % 9 == 2 { ray.grouped(2, 1) } else { ray }
        })
        .collect()
}

fn casts(random: &mut Random, at: [f64; 3], count: usize, worlds: u32) -> Vec<next::ShapeCast> {
    rays(random, at, count, worlds)
        .into_iter()
        .enumerate()
        .map(|(index, ray)| {
            let body = next::Body::new(index as u32 % 6)
                .at(ray.origin)
                .rotated(random.rotation())
                .scaled(0.3)
                .in_world(ray.world);
            next::ShapeCast::new(body, ray.direction).up_to(if index % 3 == 0 { 4.0 } else { f32::INFINITY })
        })
        .collect()
}

/// Every query over bodies of hulls.
fn check_hulls(
    what: &str,
    engine: &Engine,
    crowd: &Crowd,
    scene: &next::Scene,
    options: SceneOptions,
    at: [f64; 3],
) {
    let old = Old::new(engine, crowd, options);
    let (arena, columns) = (&old.arena, old.columns());
    let worlds = 1 + crowd.bodies[..crowd.moving].iter().map(|body| body.world).max().unwrap();
    // Of many worlds each has a few bodies.
    let least = if worlds > 3 { 0 } else { 10 };
    let all = [Pairs::BroadPhase, Pairs::Exhaustive];
    let count = crowd.bodies.len() as u32;
    let given: Vec<[u32; 2]> = (0..60)
        .map(|k| [k % count, (k * 13 + 1) % count])
        .filter(|[a, b]| {
            a != b && !(crowd.bodies[*a as usize].shape == 6 && crowd.bodies[*b as usize].shape == 6)
        })
        .collect();
    for pairs in all.into_iter().chain([Pairs::Given(&given)]) {
        let name = |query: &str| format!("{what}: {query} of {pairs:?}");
        same(
            &name("intersections"),
            rows!(scene.intersections(pairs)),
            rows!(arena.intersections(columns, pairs)),
            least,
        );
        for margin in [0.0, 0.2] {
            let options = PairOptions::within(margin);
            same(
                &name("distances"),
                rows!(scene.distances(pairs, &options)),
                rows!(arena.distances(columns, pairs, &DistanceOptions { margin })),
                least,
            );
            same(
                &name("contacts"),
                rows!(scene.contacts(pairs, &options)),
                rows!(arena.contacts(columns, pairs, &ContactOptions { margin })),
                least,
            );
            same(
                &name("manifolds"),
                rows!(scene.manifolds(pairs, &options)),
                rows!(arena.manifolds(columns, pairs, &ManifoldOptions { margin })),
                least,
            );
            same(
                &name("gradients"),
                rows!(scene.gradients(pairs, &options)),
                rows!(arena.gradients(columns, pairs, &GradientOptions { margin })),
                least,
            );
        }
        let mut random = Random::new(77);
        let motion = |row: usize| Motion {
            velocity: std::array::from_fn(|_| random.between(-2.0, 2.0) as f32),
            angular_velocity: if row.is_multiple_of(4) {
                std::array::from_fn(|_| random.between(-1.0, 1.0) as f32)
            } else {
                [0.0; 3]
            },
        };
        let motions: Vec<Motion> = (0..crowd.bodies.len()).map(motion).collect();
        let found =
            rows!(scene.sweeps(&motions, pairs, &next::SweepOptions { witness: true, ..Default::default() }));
        let sweep = SweepOptions { witness: true, ..Default::default() };
        let expected = rows!(arena.sweeps(columns, &motions[..crowd.moving], pairs, &sweep));
        same(&name("sweeps"), found, expected, least);
    }
    let pairs: Vec<[u32; 2]> = scene.candidates().unwrap().wait().unwrap();
    same(what, pairs, arena.candidates(columns).unwrap().wait().unwrap(), least);
    let hits = rows!(scene.hits());
    same(what, hits[..crowd.moving].to_vec(), rows!(arena.hits(columns)), least);
    let counts = rows!(scene.hit_counts());
    same(what, counts[..crowd.moving].to_vec(), rows!(arena.hit_counts(columns)), least);
    let mut of_rows = vec![0; crowd.bodies.len()];
    for row in rows!(scene.intersections(Pairs::BroadPhase)) {
        of_rows[row.a as usize] += 1;
        of_rows[row.b as usize] += 1;
    }
    assert_eq!((hits, &counts), (of_rows.iter().map(|&count| count > 0).collect(), &of_rows), "{what}");
    let found = rows!(scene.distances(Pairs::BroadPhase, &PairOptions::within(f32::INFINITY)));
    same(what, found, rows!(arena.distances(columns, Pairs::BroadPhase, &DistanceOptions::default())), least);
    let mut random = Random::new(78);
    let rays = rays(&mut random, at, extent(60, 400), worlds);
    let (lines, origins) = lines_and_origins(&rays);
    let asked: Vec<u32> =
        if old.worlds.is_empty() { vec![] } else { rays.iter().map(|ray| ray.world).collect() };
    let ray_columns = RayColumns { rays: &lines, origins: &origins, worlds: &asked };
    for skip_start in [false, true] {
        let options = RayOptions { skip_start };
        same(
            what,
            rows!(scene.raycasts(&rays, &options)),
            rows!(arena.raycasts(columns, ray_columns, &options)),
            least,
        );
        same(
            what,
            rows!(scene.raycasts_all(&rays, &options)),
            rows!(arena.raycasts_all(columns, ray_columns, &options)),
            least,
        );
        same(
            what,
            rows!(scene.raycasts_any(&rays, &options)),
            rows!(arena.occlusions(columns, ray_columns, &options)),
            least,
        );
    }
    let points: Vec<next::Point> = rays
        .iter()
        .map(|ray| next::Point::new(at.map(|x| x + ray.direction[0] as f64 * 0.3)).in_world(ray.world))
        .collect();
    let positions: Vec<[f64; 3]> = points.iter().map(|point| point.position).collect();
    let point_columns = PointColumns { worlds: &asked, ..PointColumns::new_f64(&positions) };
    for max_distance in [f32::INFINITY, 0.5] {
        let options = PointOptions { max_distance };
        same(
            what,
            rows!(scene.nearest_points(&points, &options)),
            rows!(arena.nearest_points(columns, point_columns, &options)),
            least,
        );
    }
    same(what, rows!(scene.containments(&points)), rows!(arena.containments(columns, point_columns)), least);
    let casts = casts(&mut random, at, extent(30, 200), worlds);
    let old_casts: Vec<ShapeCast> = casts
        .iter()
        .map(|cast| ShapeCast {
            body: plain(&cast.body),
            direction: cast.direction,
            max_distance: cast.max_distance,
        })
        .collect();
    let positions: Vec<[f64; 3]> = casts.iter().map(|cast| cast.body.position).collect();
    let asked: Vec<u32> =
        if old.worlds.is_empty() { vec![] } else { casts.iter().map(|cast| cast.body.world).collect() };
    let cast_columns = ShapeCastColumns { casts: &old_casts, positions: &positions, worlds: &asked };
    for (skip_start, witness) in [(false, true), (true, false)] {
        let options = ShapeCastOptions { skip_start, witness };
        same(
            what,
            rows!(scene.shape_casts(&casts, &options)),
            rows!(arena.shape_casts(columns, cast_columns, &options)),
            least,
        );
        same(
            what,
            rows!(scene.shape_casts_all(&casts, &options)),
            rows!(arena.shape_casts_all(columns, cast_columns, &options)),
            least,
        );
        same(
            what,
            rows!(scene.shape_casts_any(&casts, &options)),
            rows!(arena.shape_casts_any(columns, cast_columns, &options)),
            least,
        );
    }
    let shapes: Vec<next::Body> = casts.iter().map(|cast| cast.body).collect();
    let old_shapes: Vec<Body> = shapes.iter().map(plain).collect();
    for (count, max_distance) in [(1, f32::INFINITY), (3, 0.5)] {
        let options = NearestOptions { count, max_distance };
        same(
            what,
            rows!(scene.nearest_bodies(&options)),
            rows!(arena.nearest_bodies(columns, &options)),
            least,
        );
        let asked_rows = [3, 0, 9];
        same(
            what,
            rows!(scene.nearest_bodies_of(&asked_rows, &options)),
            rows!(arena.nearest_bodies_of(columns, &asked_rows, &options)),
            least.min(1),
        );
        let shape_columns =
            BodyColumns { positions: &positions, worlds: &asked, ..BodyColumns::new(&old_shapes) };
        same(
            what,
            rows!(scene.nearest_bodies_to(&shapes, &options)),
            rows!(arena.nearest_bodies_to(columns, shape_columns, &options)),
            least,
        );
    }
}

#[test]
fn hulls_have_the_rows_of_an_arena() {
    for (name, engine) in engines() {
        for (at, place) in [(NEAR, "near"), (FAR, "far")] {
            for worlds in [1, 3, 40] {
                let crowd = Crowd::new(5 + u64::from(worlds), extent(120, 160), 25, at, worlds);
                let what = format!("{name}, {place}, {worlds} worlds");
                let options = SceneOptions::default();
                check_hulls(&what, &engine, &crowd, &crowd.scene(&engine, options), options, at);
            }
        }
    }
}

/// A part's row of a compound as a scene has it.
fn joined<R: Parts>(batch: Batch<PartPair<R>>) -> Vec<R> {
    batch.rows.into_iter().map(|pair| pair.row.with_parts([pair.part_a, pair.part_b])).collect()
}

fn named<R: Parts>(batch: Batch<PartRow<R>>) -> Vec<R> {
    batch.rows.into_iter().map(|row| row.row.with_parts([0, row.part])).collect()
}

trait Parts {
    fn with_parts(self, parts: [u32; 2]) -> Self;
}

macro_rules! parts {
    ($($pair:ty),*; $($hit:ty),*; $($first:ty),*) => {
        $(impl Parts for $pair {
            fn with_parts(mut self, parts: [u32; 2]) -> Self {
                [self.part_a, self.part_b] = parts;
                self
            }
        })*
        $(impl Parts for $hit {
            fn with_parts(mut self, parts: [u32; 2]) -> Self {
                self.part = parts[1];
                self
            }
        })*
        $(impl Parts for $first {
            fn with_parts(mut self, parts: [u32; 2]) -> Self {
                if let Some(hit) = &mut self.hit {
                    hit.part = parts[1];
                }
                self
            }
        })*
    };
}

use hullfield::collide::{
    Contact, Containment, Distance, Intersection, Manifold, NearestBody, NearestPoint, RayHit, Raycast,
    ShapeCastFirst, ShapeCastHit, Sweep,
};

parts!(Intersection, Distance, Contact, Manifold, Sweep; RayHit, Containment, ShapeCastHit; Raycast, NearestPoint, ShapeCastFirst);

impl Parts for NearestBody {
    fn with_parts(mut self, parts: [u32; 2]) -> Self {
        [self.query_part, self.part] = parts;
        self
    }
}

/// The same pair of parts with the same status, and numbers that differ by a rounding at most: of a pair of parts these depend on which part comes
/// first, which compounds chose by the order of their search.
trait Close: std::fmt::Debug {
    fn is_close(&self, other: &Self, off: f64) -> bool;
}

fn near(a: &[f64], b: &[f64], off: f64) -> bool {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= off + 1e-15 * a.abs();
    a.len() == b.len() && a.iter().zip(b).all(near)
}

impl Close for Intersection {
    fn is_close(&self, other: &Self, _: f64) -> bool {
        let ids = |row: &Self| (row.a, row.b, row.part_a, row.part_b, row.status);
        ids(self) == ids(other)
    }
}

impl Close for Distance {
    fn is_close(&self, other: &Self, off: f64) -> bool {
        let ids = |row: &Self| (row.a, row.b, row.part_a, row.part_b, row.status);
        let points = |row: &Self| row.points.unwrap_or_default().as_flattened().to_vec();
        ids(self) == ids(other)
            && near(&[self.separation], &[other.separation], off)
            && near(&points(self), &points(other), off)
    }
}

impl Close for Contact {
    fn is_close(&self, other: &Self, off: f64) -> bool {
        let ids = |row: &Self| (row.a, row.b, row.part_a, row.part_b, row.status);
        ids(self) == ids(other)
            && near(&[self.separation], &[other.separation], off)
            && near(&self.normal, &other.normal, off)
            && near(self.points.as_flattened(), other.points.as_flattened(), off)
    }
}

impl Close for Manifold {
    fn is_close(&self, other: &Self, off: f64) -> bool {
        let ids = |row: &Self| (row.a, row.b, row.part_a, row.part_b, row.status);
        let point = |(p, q): (&hullfield::collide::ManifoldPoint, &hullfield::collide::ManifoldPoint)| {
            near(&p.on_a, &q.on_a, off)
                && near(&p.on_b, &q.on_b, off)
                && near(&[p.separation], &[q.separation], off)
        };
        let is_exact = off < 1e-6;
        (!is_exact || self.point_count == other.point_count)
            && ids(self) == ids(other)
            && near(&[self.separation], &[other.separation], off)
            && near(&self.normal, &other.normal, off)
            // Which points are kept may turn on a rounding.
            && (!is_exact || self.points().iter().zip(other.points()).all(point))
    }
}

/// Asserts that two answers have the same rows, but for roundings.
#[track_caller]
fn close<R: Close>(what: &str, found: Vec<R>, expected: Vec<R>, least: usize) {
    // On the GPU engine compounds measured on the CPU what stands among triangles: both are within the tolerance of the truth.
    let off = if what.starts_with("gpu") { 2e-5 } else { 1e-9 };
    let first = found.iter().zip(&expected).position(|(a, b)| !a.is_close(b, off));
    if let Some(at) = first {
        panic!("{what}: row {at} of {}: {:?} for {:?}", expected.len(), found[at], expected[at]);
    }
    assert_eq!(found.len(), expected.len(), "{what}");
    assert!(found.len() >= least, "{what}: {} rows", found.len());
}

/// Compounds, height fields and a half-space that are fixed, and compounds that move.
struct Mixed {
    hulls: Vec<Hull>,
    shapes: Vec<next::Shape>,
    field: HeightField,
    moving: Vec<CompoundBody>,
    fixed: Vec<CompoundBody>,
    ground: [f64; 3],
    worlds: Vec<u32>,
    excluded: Vec<[u32; 2]>,
}

impl Mixed {
    fn new(seed: u64, at: [f64; 3], worlds: u32) -> Self {
        let mut random = Random::new(seed);
        let hulls = hulls(&mut random);
        let compounds = [1, 4, 9].map(|count| compound(&mut random, count));
        let heights: Vec<f32> = (0..12 * 10)
            .map(|at| if at % 23 == 5 { f32::NAN } else { random.between(-0.4, 0.4) as f32 })
            .collect();
        let field = HeightField::new(12, heights, [0.5, 0.625]).unwrap().at([-2.75, -1.0, -2.5]).unwrap();
        let moving = crowd(&mut random, extent(30, 80), 3, 0.6, at, 4.0);
        let mut fixed = crowd(&mut random, 5, 3, 0.8, at, 4.0);
        fixed.push(CompoundBody::new(3).at(at));
        fixed.push(CompoundBody::new(3).at(at.map(|x| x + 0.3)).scaled(0.7).padded(0.05));
        let shapes = hulls
            .iter()
            .cloned()
            .map(next::Shape::from)
            .chain(compounds.into_iter().map(Into::into))
            .chain([field.clone().into()])
            .collect();
        let worlds =
            if worlds > 1 { (0..moving.len() as u32).map(|row| row % worlds).collect() } else { vec![] };
        let ground = [at[0], at[1] - 2.0, at[2]];
        let excluded = vec![[0, 1], [2, moving.len() as u32]];
        Self { hulls, shapes, field, moving, fixed, ground, worlds, excluded }
    }

    fn bodies(&self) -> Vec<next::Body> {
        let of = |body: &CompoundBody| {
            let &CompoundBody { compound, position, rotation, scale, padding, group, mask } = body;
            let body =
                next::Body::new(7 + compound).at(position).rotated(rotation).scaled(scale).padded(padding);
            body.grouped(group, mask)
        };
        let world = |row: usize| self.worlds.get(row).copied().unwrap_or(0);
        let every = if self.worlds.is_empty() { 0 } else { next::Body::EVERY_WORLD };
        let moving = self.moving.iter().enumerate().map(|(row, body)| of(body).in_world(world(row)));
        let ground = next::Body::new(6).at(self.ground).fixed().in_world(every);
        let fixed = self.fixed.iter().map(|body| of(body).fixed().in_world(every));
        moving.chain([ground]).chain(fixed).collect()
    }

    fn compounds(&self, engine: &Engine) -> Compounds {
        let options = Options {
            statics: vec![Body::new(6)],
            static_positions: vec![self.ground],
            ..Options::default()
        };
        let arena = Arena::new(engine, &self.hulls, options).unwrap();
        let compounds: Vec<_> = self
            .shapes
            .iter()
            .filter_map(|shape| {
                if let next::Shape::Compound(compound) = shape { Some(compound.clone()) } else { None }
            })
            .collect();
        let compounds =
            Compounds::new(&arena, &compounds).unwrap().with_height_fields(std::slice::from_ref(&self.field));
        compounds.with_statics(&self.fixed).unwrap()
    }
}

/// Compounds that turn, without height fields: the outcomes and times are those of compounds.
#[test]
fn compounds_that_turn_are_swept_as_compounds_are() {
    for (name, engine) in engines() {
        for (at, place) in [(NEAR, "near"), (FAR, "far")] {
            let mut mixed = Mixed::new(14, at, 1);
            mixed.fixed.truncate(5);
            mixed.excluded = vec![[0, 1]];
            let old = mixed.compounds(&engine);
            let shapes = Shapes::new(&engine, mixed.shapes.clone()).unwrap();
            let bodies = mixed.bodies();
            let mut scene = next::Scene::new(&shapes, &bodies, SceneOptions::default()).unwrap();
            scene.set_exclusions(&[[scene.id(0).unwrap(), scene.id(1).unwrap()]], &[]).unwrap();
            let mut random = Random::new(7);
            let motion = |row: usize| Motion {
                velocity: std::array::from_fn(|_| random.between(-2.0, 2.0) as f32),
                angular_velocity: match row % 3 {
                    0 => [0.0; 3],
                    _ => std::array::from_fn(|_| random.between(-2.0, 2.0) as f32),
                },
            };
            let motions: Vec<Motion> = (0..bodies.len()).map(motion).collect();
            let exclusions = Exclusions::new(&mixed.excluded).unwrap();
            let columns =
                CompoundColumns { exclusions: Some(&exclusions), ..CompoundColumns::new(&mixed.moving) };
            let moving = &motions[..mixed.moving.len()];
            let given: Vec<[u32; 2]> = (0..400).map(|k| [k % 20, 20 + k % 11]).collect();
            for (pairs, rows) in [
                (Pairs::BroadPhase, RowsPer::PairOfParts),
                (Pairs::Given(&given), RowsPer::PairOfParts),
                (Pairs::BroadPhase, RowsPer::PairOfBodies),
            ] {
                let options = SweepOptions::default();
                let expected = match rows {
                    RowsPer::PairOfParts => old.sweeps(columns, moving, pairs, &options),
                    RowsPer::PairOfBodies => old.body_sweeps(columns, moving, pairs, &options),
                };
                let expected = joined(expected.unwrap().wait().unwrap());
                let found =
                    rows!(scene.sweeps(&motions, pairs, &next::SweepOptions { rows, ..Default::default() }));
                let what = format!("{name}, {place}: {pairs:?}");
                assert_eq!(found.len(), expected.len(), "{what}");
                assert!(!found.is_empty(), "{what}");
                for (row, wanted) in found.iter().zip(&expected) {
                    let ids = |row: &Sweep| (row.a, row.b, row.part_a, row.part_b, row.outcome);
                    assert_eq!(ids(row), ids(wanted), "{what}");
                    // On a GPU engine what does not turn is swept on either engine.
                    let off = if name == "gpu" { 1e-4 } else { 0.0 };
                    assert!((row.time - wanted.time).abs() <= off, "{what}: {row:?} for {wanted:?}");
                }
            }
        }
    }
}

#[test]
fn compounds_and_height_fields_have_the_rows_of_compounds() {
    for (name, engine) in engines() {
        for (at, place) in [(NEAR, "near"), (FAR, "far")] {
            for worlds in [1, 4] {
                let mixed = Mixed::new(31 + u64::from(worlds), at, worlds);
                let what = format!("{name}, {place}, {worlds} worlds");
                let old = mixed.compounds(&engine);
                let shapes = Shapes::new(&engine, mixed.shapes.clone()).unwrap();
                let mut scene = next::Scene::new(&shapes, &mixed.bodies(), SceneOptions::default()).unwrap();
                let id = |row: u32| scene.id(row).unwrap();
                let pairs: Vec<_> = mixed.excluded.iter().map(|pair| pair.map(id)).collect();
                scene.set_exclusions(&pairs, &[]).unwrap();
                check_mixed(&what, &mixed, &old, &scene, at, worlds);
            }
        }
    }
}

fn check_mixed(what: &str, mixed: &Mixed, old: &Compounds, scene: &next::Scene, at: [f64; 3], worlds: u32) {
    let exclusions = Exclusions::new(&mixed.excluded).unwrap();
    let columns = CompoundColumns {
        worlds: &mixed.worlds,
        exclusions: Some(&exclusions),
        ..CompoundColumns::new(&mixed.moving)
    };
    let count = scene.len() as u32;
    let given: Vec<[u32; 2]> =
        (0..400).map(|k| [k % count, (k * 13 + k / 7 + 5) % count]).filter(|[a, b]| a != b).collect();
    for pairs in [Pairs::BroadPhase, Pairs::Given(&given)] {
        let name = |query: &str| format!("{what}: {query} of {pairs:?}");
        let least = if pairs == Pairs::BroadPhase { 10 } else { 1 };
        close(
            &name("intersections"),
            rows!(scene.intersections(pairs)),
            joined(old.intersections(columns, pairs).unwrap().wait().unwrap()),
            least,
        );
        for margin in [0.0, 0.1] {
            let options = PairOptions::within(margin);
            let (distance, contact, manifold) =
                (DistanceOptions { margin }, ContactOptions { margin }, ManifoldOptions { margin });
            close(
                &name("distances"),
                rows!(scene.distances(pairs, &options)),
                joined(old.distances(columns, pairs, &distance).unwrap().wait().unwrap()),
                least,
            );
            close(
                &name("contacts"),
                rows!(scene.contacts(pairs, &options)),
                joined(old.contacts(columns, pairs, &contact).unwrap().wait().unwrap()),
                least,
            );
            close(
                &name("manifolds"),
                rows!(scene.manifolds(pairs, &options)),
                joined(old.manifolds(columns, pairs, &manifold).unwrap().wait().unwrap()),
                least,
            );
            let options = PairOptions { rows: RowsPer::PairOfBodies, ..options };
            let found = rows!(scene.contacts(pairs, &options));
            let expected = joined(old.body_contacts(columns, pairs, &contact).unwrap().wait().unwrap());
            close(&name("contacts of bodies"), found, expected, least);
        }
    }
    let mut random = Random::new(78);
    let rays = rays(&mut random, at, extent(60, 400), worlds);
    let (lines, origins) = lines_and_origins(&rays);
    let asked: Vec<u32> =
        if mixed.worlds.is_empty() { vec![] } else { rays.iter().map(|ray| ray.world).collect() };
    let ray_columns = RayColumns { rays: &lines, origins: &origins, worlds: &asked };
    let options = RayOptions::default();
    let wait = "an answer";
    same(
        what,
        rows!(scene.raycasts(&rays, &options)),
        named(old.raycasts(columns, ray_columns, &options).unwrap().wait().expect(wait)),
        10,
    );
    same(
        what,
        rows!(scene.raycasts_all(&rays, &options)),
        named(old.raycasts_all(columns, ray_columns, &options).unwrap().wait().expect(wait)),
        10,
    );
    same(
        what,
        rows!(scene.raycasts_any(&rays, &options)),
        rows!(old.occlusions(columns, ray_columns, &options)),
        10,
    );
    let points: Vec<next::Point> = rays
        .iter()
        .map(|ray| next::Point::new(at.map(|x| x + ray.direction[0] as f64 * 0.3)).in_world(ray.world))
        .collect();
    let positions: Vec<[f64; 3]> = points.iter().map(|point| point.position).collect();
    let point_columns = PointColumns { worlds: &asked, ..PointColumns::new_f64(&positions) };
    let options = PointOptions::default();
    same(
        what,
        rows!(scene.nearest_points(&points, &options)),
        named(old.nearest_points(columns, point_columns, &options).unwrap().wait().expect(wait)),
        10,
    );
    same(
        what,
        rows!(scene.containments(&points)),
        named(old.containments(columns, point_columns).unwrap().wait().expect(wait)),
        0,
    );
    let casts = casts(&mut random, at, extent(30, 200), worlds);
    let old_casts: Vec<ShapeCast> = casts
        .iter()
        .map(|cast| ShapeCast {
            body: plain(&cast.body),
            direction: cast.direction,
            max_distance: cast.max_distance,
        })
        .collect();
    let positions: Vec<[f64; 3]> = casts.iter().map(|cast| cast.body.position).collect();
    let asked: Vec<u32> =
        if mixed.worlds.is_empty() { vec![] } else { casts.iter().map(|cast| cast.body.world).collect() };
    let cast_columns = ShapeCastColumns { casts: &old_casts, positions: &positions, worlds: &asked };
    let options = ShapeCastOptions { witness: true, ..Default::default() };
    same(
        what,
        rows!(scene.shape_casts(&casts, &options)),
        named(old.shape_casts(columns, cast_columns, &options).unwrap().wait().expect(wait)),
        10,
    );
    same(
        what,
        rows!(scene.shape_casts_all(&casts, &options)),
        named(old.shape_casts_all(columns, cast_columns, &options).unwrap().wait().expect(wait)),
        10,
    );
    same(
        what,
        rows!(scene.shape_casts_any(&casts, &options)),
        rows!(old.shape_casts_any(columns, cast_columns, &options)),
        10,
    );
    let shapes: Vec<next::Body> = casts.iter().map(|cast| cast.body).collect();
    let old_shapes: Vec<Body> = shapes.iter().map(plain).collect();
    for (count, max_distance) in [(1, f32::INFINITY), (3, 0.5)] {
        let options = NearestOptions { count, max_distance };
        same(
            what,
            rows!(scene.nearest_bodies(&options)),
            joined(old.nearest_bodies(columns, &options).unwrap().wait().expect(wait)),
            10,
        );
        let shape_columns =
            BodyColumns { positions: &positions, worlds: &asked, ..BodyColumns::new(&old_shapes) };
        same(
            what,
            rows!(scene.nearest_bodies_to(&shapes, &options)),
            named(old.nearest_bodies_to(columns, shape_columns, &options).unwrap().wait().expect(wait)),
            10,
        );
    }
}

/// A scene whose fixed bodies stand among the others, some rows of which hold none: the rows of a scene of the same bodies in the order of an
/// arena, by other names.
#[test]
fn rows_are_named_wherever_fixed_bodies_stand() {
    for (name, engine) in engines() {
        for worlds in [1, 3] {
            let mut random = Random::new(9);
            let crowd = Crowd { excluded: vec![], ..Crowd::new(3, 90, 20, NEAR, worlds) };
            let expected = crowd.scene(&engine, SceneOptions::default());
            // The row of each body in the other scene: a shuffle with gaps.
            let mut order: Vec<usize> = (0..crowd.bodies.len() + 15).collect();
            for at in (1..order.len()).rev() {
                order.swap(at, random.below(at + 1));
            }
            let body_in = |row: usize| order.iter().position(|&other| other == row).unwrap();
            let filler = next::Body::new(3);
            let bodies: Vec<next::Body> = (0..order.len())
                .map(|row| crowd.bodies.get(body_in(row)).copied().unwrap_or(filler))
                .collect();
            let mut scene = next::Scene::new(expected.shapes(), &bodies, SceneOptions::default()).unwrap();
            for row in (0..order.len()).filter(|&row| body_in(row) >= crowd.bodies.len()) {
                assert!(scene.remove(scene.id(row as u32).unwrap()).is_some());
            }
            assert_eq!((scene.len(), scene.row_count()), (crowd.bodies.len(), order.len()));
            let named = |row: u32| order[row as usize] as u32;
            let mut wanted: Vec<Contact> =
                rows!(expected.contacts(Pairs::BroadPhase, &PairOptions::within(0.1)));
            for row in &mut wanted {
                (row.a, row.b) = (named(row.a), named(row.b));
                if row.a > row.b {
                    (row.a, row.b, row.points) = (row.b, row.a, [row.points[1], row.points[0]]);
                    row.normal = row.normal.map(|x| -x);
                }
            }
            let world = |row: &Contact| bodies[row.a as usize].world.min(bodies[row.b as usize].world);
            wanted.sort_by_key(|row| (world(row), row.a, row.b));
            let found: Vec<Contact> = rows!(scene.contacts(Pairs::BroadPhase, &PairOptions::within(0.1)));
            close(&format!("{name}, {worlds} worlds"), found, wanted, 30);
            let rays = rays(&mut random, NEAR, 100, worlds);
            let hits = |scene: &next::Scene, name: &dyn Fn(u32) -> u32| -> Vec<_> {
                let rows = rows!(scene.raycasts_all(&rays, &RayOptions::default()));
                rows.iter().map(|row| (row.ray, row.distance.to_bits(), name(row.body))).collect()
            };
            let mut wanted = hits(&expected, &named);
            wanted.sort_unstable();
            same(name, hits(&scene, &|row| row), wanted, 30);
        }
    }
}

/// A scene that changes has the rows of one that is made anew.
#[test]
fn a_changed_scene_has_the_rows_of_a_new_one() {
    for (name, engine) in engines() {
        for at in [NEAR, FAR] {
            let mixed = Mixed::new(8, at, 1);
            let shapes = Shapes::new(&engine, mixed.shapes.clone()).unwrap();
            let mut bodies = mixed.bodies();
            let count = bodies.len();
            bodies.extend((0..40).map(|row| next::Body::new(row % 6).at(at).scaled(0.5)));
            let mut scene = next::Scene::new(&shapes, &bodies, SceneOptions::default()).unwrap();
            let mut random = Random::new(4);
            let rays = rays(&mut random, at, 60, 1);
            for step in 0..extent(8, 12) {
                let before = scene.clone();
                let held = bodies.clone();
                let mut rows: Vec<usize> = (0..1 + step % 9).map(|_| random.below(bodies.len())).collect();
                // Fixed bodies move at times.
                rows.retain(|&row| step % 4 == 3 || !bodies[row].fixed);
                let poses: Vec<next::Pose> = rows
                    .iter()
                    .map(|_| next::Pose {
                        position: at.map(|x| x + random.between(-3.0, 3.0)),
                        rotation: random.rotation(),
                    })
                    .collect();
                for (&row, &pose) in rows.iter().zip(&poses) {
                    bodies[row] = bodies[row].posed(pose);
                }
                let ids: Vec<_> = rows.iter().map(|&row| scene.id(row as u32).unwrap()).collect();
                scene.set_poses(&ids, &poses).unwrap();
                if step % 5 == 4 {
                    let body = next::Body { padding: 0.05, ..bodies[count] };
                    bodies[count] = body;
                    scene.set(scene.id(count as u32).unwrap(), body).unwrap();
                }
                let what = format!("{name}, step {step}");
                for (scene, bodies) in [(&scene, &bodies), (&before, &held)] {
                    let other = next::Scene::new(&shapes, bodies, SceneOptions::default()).unwrap();
                    let pairs = Pairs::BroadPhase;
                    let options = PairOptions::within(0.05);
                    same(
                        &what,
                        rows!(scene.contacts(pairs, &options)),
                        rows!(other.contacts(pairs, &options)),
                        10,
                    );
                    let options = RayOptions::default();
                    same(
                        &what,
                        rows!(scene.raycasts(&rays, &options)),
                        rows!(other.raycasts(&rays, &options)),
                        10,
                    );
                    let options = NearestOptions::default();
                    same(
                        &what,
                        rows!(scene.nearest_bodies(&options)),
                        rows!(other.nearest_bodies(&options)),
                        10,
                    );
                }
            }
        }
    }
}

#[test]
fn bad_input_changes_nothing_and_is_named() {
    let engine = Engine::cpu();
    let shapes: Vec<next::Shape> = vec![Hull::ball(1.0).unwrap().into(), Hull::half_space().into()];
    let mut all = Shapes::new(&engine, shapes).unwrap();
    let bodies = vec![next::Body::new(0); 1000];
    let mut scene = next::Scene::new(&all, &bodies, SceneOptions::default()).unwrap();
    let other = next::Scene::new(&all, &bodies, SceneOptions::default()).unwrap();
    let text = |error: hullfield::Error| error.to_string();
    // An id of another scene, and a stale one.
    let id = scene.id(3).unwrap();
    assert_eq!(scene.get(other.id(3).unwrap()), None);
    let error = text(scene.set_poses(&[id, other.id(4).unwrap()], &[next::Pose::IDENTITY; 2]).unwrap_err());
    assert!(error.contains("body 1") && error.contains("there is no body 4 of generation 0"), "{error}");
    // One bad pose of a thousand.
    let ids: Vec<_> = scene.ids().collect();
    let mut poses = vec![next::Pose { position: [9.0; 3], ..next::Pose::IDENTITY }; 1000];
    poses[777].position[1] = f64::NAN;
    let error = text(scene.set_poses(&ids, &poses).unwrap_err());
    assert!(error.contains("body 777") && error.contains("position"), "{error}");
    assert_eq!(scene.get(id), Some(next::Body::new(0)));
    // A shape that was removed, while a body is of it.
    let added = all.insert([Hull::cuboid([1.0; 3]).unwrap().into()]).unwrap();
    scene.set_shapes(&all).unwrap();
    let boxed = scene.insert(next::Body::new(added.start)).unwrap();
    all.remove(&[added.start]).unwrap();
    let error = text(scene.set_shapes(&all).unwrap_err());
    assert!(error.contains("body 1000") && error.contains("was removed"), "{error}");
    assert!(scene.remove(boxed).is_some() && scene.remove(boxed).is_none());
    scene.set_shapes(&all).unwrap();
    let error = text(scene.insert(next::Body::new(added.start)).unwrap_err());
    assert!(error.contains("was removed"), "{error}");
    // Bodies that can't be.
    for (body, part) in [
        (next::Body::new(9), "shape"),
        (next::Body { scale: [1.0, 0.0, 1.0], ..next::Body::new(0) }, "scale"),
        (next::Body { padding: -1.0, ..next::Body::new(0) }, "padding"),
        (next::Body { rotation: [0.0; 4], ..next::Body::new(0) }, "rotation"),
        (next::Body::new(0).at([f64::INFINITY, 0.0, 0.0]), "position"),
        (next::Body::new(0).in_world(next::Body::EVERY_WORLD), "world"),
    ] {
        let error = text(scene.insert(body).unwrap_err());
        assert!(error.contains(part), "{error}");
    }
    let gone = scene.remove(id).map(|_| 3).unwrap();
    let error = text(scene.intersections(Pairs::Given(&[[0, gone]])).unwrap_err());
    assert!(error.contains("pair 0"), "{error}");
    for pair in [[0, 0], [0, 5000]] {
        assert!(scene.contacts(Pairs::Given(&[pair]), &PairOptions::default()).is_err());
    }
    assert!(scene.contacts(Pairs::BroadPhase, &PairOptions::within(f32::NAN)).is_err());
    // An answer outlives its scene.
    let pending = scene.hit_counts().unwrap();
    drop(scene);
    assert_eq!(pending.wait().unwrap().rows.len(), 1001);
}

#[test]
fn scenes_may_be_empty() {
    for (_, engine) in engines() {
        let shapes = Shapes::new(&engine, []).unwrap();
        let mut scene = next::Scene::new(&shapes, &[], SceneOptions::default()).unwrap();
        assert!(rows!(scene.intersections(Pairs::BroadPhase)).is_empty());
        assert!(rows!(scene.contacts(Pairs::Exhaustive, &PairOptions::default())).is_empty());
        assert!(rows!(scene.hits()).is_empty());
        let ray = [next::Ray::new([0.0; 3], [1.0, 0.0, 0.0])];
        assert_eq!(rows!(scene.raycasts(&ray, &RayOptions::default()))[0].hit, None);
        let mut more = shapes.clone();
        more.insert([Hull::ball(1.0).unwrap().into()]).unwrap();
        scene.set_shapes(&more).unwrap();
        scene.insert(next::Body::new(0).at([5.0, 0.0, 0.0])).unwrap();
        let hit = rows!(scene.raycasts(&ray, &RayOptions::default()))[0].hit.unwrap();
        assert_eq!((hit.body, hit.distance), (0, 4.0));
    }
}

/// Events by ids are those of a list kept by hand, whatever is moved, inserted and removed, for hulls, compounds and height fields.
#[test]
fn events_are_what_became_of_the_touching_pairs() {
    use std::collections::BTreeSet;
    for (name, engine) in engines() {
        let mixed = Mixed::new(12, NEAR, 1);
        let shapes = Shapes::new(&engine, mixed.shapes.clone()).unwrap();
        let mut scene = next::Scene::new(&shapes, &mixed.bodies(), SceneOptions::default()).unwrap();
        let mut random = Random::new(6);
        let mut touching: BTreeSet<[next::BodyId; 2]> = BTreeSet::new();
        let (mut begun, mut stayed, mut ended) = (0, 0, 0);
        for step in 0..extent(12, 20) {
            let ids: Vec<next::BodyId> = scene.ids().filter(|&id| !scene.get(id).unwrap().fixed).collect();
            let some: Vec<next::BodyId> = (0..4).map(|_| ids[random.below(ids.len())]).collect();
            let poses: Vec<next::Pose> = some
                .iter()
                .map(|_| next::Pose {
                    position: std::array::from_fn(|_| random.between(-2.0, 2.0)),
                    rotation: random.rotation(),
                })
                .collect();
            scene.set_poses(&some, &poses).unwrap();
            if step % 3 == 1 {
                scene.remove(ids[step % ids.len()]);
            }
            // What touches when the answer is asked for; a body is removed meanwhile.
            let pending = match step % 2 {
                0 => scene.contacts(Pairs::BroadPhase, &PairOptions::within(0.1)).unwrap(),
                _ => scene.contacts(Pairs::Exhaustive, &PairOptions::default()).unwrap(),
            };
            let then: Vec<Option<next::BodyId>> =
                (0..scene.row_count() as u32).map(|row| scene.id(row)).collect();
            if step % 4 == 2 {
                let first = scene.ids().next().unwrap();
                scene.remove(first);
                scene.insert(next::Body::new(step as u32 % 6)).unwrap();
            }
            let found = pending.wait().unwrap();
            let now: BTreeSet<[next::BodyId; 2]> = found
                .rows
                .iter()
                .filter(|row| row.status.is_hit())
                .map(|row| [row.a, row.b].map(|row| then[row as usize].unwrap()))
                .filter(|pair| pair.iter().all(|&id| scene.get(id).is_some()))
                .collect();
            let mut wanted: Vec<_> = touching.difference(&now).map(|&[a, b]| (a, b, Phase::End)).collect();
            wanted.extend(now.difference(&touching).map(|&[a, b]| (a, b, Phase::Begin)));
            wanted.extend(now.intersection(&touching).map(|&[a, b]| (a, b, Phase::Stay)));
            wanted.sort_by_key(|&(a, b, _)| (a, b));
            let events = scene.events(&found).unwrap();
            let found_events: Vec<_> = events.iter().map(|event| (event.a, event.b, event.phase)).collect();
            assert_eq!(found_events, wanted, "{name}, step {step}");
            let count = |phase| events.iter().filter(|event| event.phase == phase).count();
            begun += count(Phase::Begin);
            stayed += count(Phase::Stay);
            ended += count(Phase::End);
            touching = now;
            assert!(scene.touching().iter().eq(&touching));
            // An answer is handed in once, and only to its scene.
            assert!(scene.events(&found).is_err() && scene.clone().events(&found).is_err());
        }
        assert!(begun > 10 && stayed > 20 && ended > 5, "{begun} {stayed} {ended}");
    }
}

/// A scene and an arena with the same statics give the same rows for paths and postures, bit for bit. A compound link gives the rows of its parts.
#[test]
fn robots_have_the_rows_of_an_arena() {
    let engine = Engine::cpu();
    for at in [NEAR, FAR] {
        let crowd = Crowd { excluded: vec![], ..Crowd::new(21, 0, 40, at, 1) };
        let scene = crowd.scene(&engine, SceneOptions::default());
        let old = Old::new(&engine, &crowd, SceneOptions::default());
        let mut random = Random::new(5);
        let mut link = |row: u32| {
            let offset = std::array::from_fn(|_| random.between(-0.2, 0.2));
            next::Body::new(row % 6).at(offset).rotated(random.rotation()).scaled(0.25).owned_by(row / 2)
        };
        let links: Vec<next::Body> = (0..8).map(&mut link).collect();
        let (bodies, positions): (Vec<Body>, Vec<[f64; 3]>) =
            links.iter().map(|body| (plain(body), body.position)).unzip();
        let owners: Vec<u32> = links.iter().map(|body| body.owner.unwrap()).collect();
        let exclusions = Exclusions::new(&[[0, 1], [1, 2]]).unwrap().with_statics(&[[0, 3], [2, 7]]);
        let columns = BodyColumns {
            positions: &positions,
            owners: &owners,
            exclusions: Some(&exclusions),
            ..BodyColumns::new(&bodies)
        };
        let robot = next::Robot {
            excluded_links: &[[0, 1], [1, 2]],
            excluded_bodies: &[(0, scene.id(3).unwrap()), (2, scene.id(7).unwrap())],
            ..next::Robot::new(&links)
        };
        let mut poses = |count: usize| -> Vec<LinkPose> {
            // Mostly above the half-spaces.
            let mut pose = |index: usize| LinkPose {
                position: [0, 1, 2].map(|k| {
                    let low = if k == 1 { 1.0 } else { -6.0 };
                    at[k] + random.between(low, 8.0) + 0.4 * (index % 4) as f64
                }),
                rotation: random.rotation().map(f64::from),
            };
            (0..count).map(&mut pose).collect()
        };
        let count = extent(40, 300);
        let postures = poses(4 * count);
        let found = rows!(scene.postures(&robot, count, &postures));
        same("postures", found, rows!(old.arena.postures(columns, count, &postures)), count);
        let samples: Vec<Vec<LinkPose>> = (0..extent(12, 60)).map(|_| poses(4 * 3)).collect();
        let paths: Vec<JointPath> = samples.iter().map(|poses| JointPath::new(3, poses)).collect();
        let options = PathOptions::default();
        let found = rows!(scene.joint_paths(&robot, &paths, &options));
        same("paths", found.clone(), rows!(old.arena.joint_paths(columns, &paths, &options)), paths.len());
        let hits = found.iter().filter(|row| row.pair.is_some()).count();
        assert!(hits > 0 && hits < found.len(), "{hits} of {}", found.len());
        // An excluded body must be fixed and of the scene.
        let other = crowd.scene(&engine, SceneOptions::default());
        let stale = next::Robot { excluded_bodies: &[(0, other.id(0).unwrap())], ..robot };
        assert!(scene.postures(&stale, count, &postures).is_err());
    }
}

/// A stored scene has the ids, exclusions and events that it had.
#[cfg(feature = "serde")]
#[test]
fn a_stored_scene_comes_back() {
    let engine = Engine::cpu();
    let mixed = Mixed::new(3, FAR, 1);
    let shapes = Shapes::new(&engine, mixed.shapes.clone()).unwrap();
    let mut scene = next::Scene::new(&shapes, &mixed.bodies(), SceneOptions::default()).unwrap();
    let ids: Vec<next::BodyId> = scene.ids().collect();
    scene.set_exclusions(&[[ids[0], ids[1]], [ids[2], ids[31]]], &[[4, 9]]).unwrap();
    scene.remove(ids[5]);
    let again = scene.insert(next::Body::new(2).at(FAR).owned_by(4)).unwrap();
    assert_eq!((again.row(), again.generation()), (5, 1));
    scene.remove(ids[6]);
    let found = scene.contacts(Pairs::BroadPhase, &PairOptions::default()).unwrap().wait().unwrap();
    scene.events(&found).unwrap();
    let text = serde_json::to_string(&(&mixed.shapes, scene.state())).unwrap();
    let (read, state): (Vec<next::Shape>, next::SceneState) = serde_json::from_str(&text).unwrap();
    assert_eq!(state, scene.state());
    let other = Shapes::new(&engine, read).unwrap();
    let mut restored = next::Scene::restore(&other, &state).unwrap();
    assert_eq!((restored.len(), restored.row_count()), (scene.len(), scene.row_count()));
    assert!(restored.ids().eq(scene.ids()) && restored.touching() == scene.touching());
    assert!(scene.ids().all(|id| restored.get(id) == scene.get(id)) && restored.get(ids[6]).is_none());
    let expected = rows!(scene.contacts(Pairs::BroadPhase, &PairOptions::default()));
    let answer = restored.contacts(Pairs::BroadPhase, &PairOptions::default()).unwrap().wait().unwrap();
    let events = restored.events(&answer).unwrap();
    same("contacts", answer.rows, expected, 20);
    assert!(events.iter().all(|event| event.phase == Phase::Stay));
    // Bodies that come later have other ids in each.
    let [one, two] = [&mut scene, &mut restored].map(|scene| scene.insert(next::Body::new(1)).unwrap());
    assert_eq!((one.row(), two.row()), (6, 6));
    assert!(one != two && scene.get(two).is_none() && restored.get(one).is_none());
    // A state that is none.
    for (from, to) in [("\"row\":3,", "\"row\":4,"), ("\"shape\":", "\"shape\":9"), ("\"mask\"", "\"mash\"")]
    {
        let broken = text.replace(from, to);
        assert_ne!(broken, text);
        let read: Result<(Vec<next::Shape>, next::SceneState), _> = serde_json::from_str(&broken);
        assert!(read.is_err() || next::Scene::restore(&other, &read.unwrap().1).is_err(), "{from}");
    }
}

/// An answer says how many rows were kept: those of pairs in which neither body moved.
#[test]
fn kept_rows_are_counted() {
    let shapes = Shapes::new(&Engine::cpu(), [next::Hull::ball(1.0).unwrap().into()]).unwrap();
    let bodies = [0.0, 1.5, 9.0, 10.5].map(|x| next::Body::new(0).at([x, 0.0, 0.0]));
    let mut scene = next::Scene::new(&shapes, &bodies, SceneOptions::default()).unwrap();
    let kept = |scene: &next::Scene| {
        let found = scene.contacts(Pairs::BroadPhase, &PairOptions::default()).unwrap().wait().unwrap();
        assert_eq!(found.rows.len(), 2);
        found.stats.skipped_count
    };
    // From the second query on rows are kept.
    assert_eq!([kept(&scene), kept(&scene), kept(&scene)], [0, 0, 2]);
    let id = scene.id(3).unwrap();
    scene.set_poses(&[id], &[next::Pose { position: [10.0, 0.0, 0.0], ..next::Pose::IDENTITY }]).unwrap();
    assert_eq!([kept(&scene), kept(&scene)], [1, 2]);
}
