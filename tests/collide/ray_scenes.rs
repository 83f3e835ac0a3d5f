//! Rays against scenes: each answer equals the least, or all, over single bodies, bit for bit, on every engine and for every number of
//! threads; and of bad input.

use glam::DVec3;
use hullfield::collide::{self, Arena, Body, Hull, Occlusion, Options, Ray, RayHit, RayOptions, Raycast};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::extent;
use hullfield_oracle::random::Random;

use crate::answers::engines;
use crate::ray::{kinds, pose, ray_at};

/// Hulls of every kind and half-spaces, bodies at one size or at many, statics, and rays among them.
pub(crate) struct Crowd {
    pub(crate) hulls: Vec<Hull>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) statics: Vec<Body>,
    pub(crate) rays: Vec<Ray>,
}

pub(crate) fn crowd(count: usize, ray_count: usize, spread: f64, far: f64, seed: u64) -> Crowd {
    let mut random = Random::new(seed);
    let mut hulls: Vec<Hull> = kinds().into_iter().map(|(hull, _)| hull).collect();
    hulls.push(Hull::half_space());
    let ground = hulls.len() - 1;
    let offset = random.direction() * far;
    let side = 3.0 * (count as f64).cbrt();
    let at = |random: &mut Random| {
        (offset + DVec3::new(random.unit(), random.unit(), random.unit()) * side).as_vec3().to_array()
    };
    let body = |random: &mut Random, hull: usize| {
        let size = random.log_between(1.0 / spread, spread) as f32;
        let scale = if random.chance(0.5) {
            [size; 3]
        } else {
            [0; 3].map(|_| size * random.log_between(0.3, 3.0) as f32)
        };
        let padding = if random.chance(0.2) { size * 0.1 } else { 0.0 };
        let body = Body { scale, ..Body::new(hull as u32).at(at(random)).rotated(random.rotation()) };
        let groups = [u32::MAX, 1, 2][random.below(3)];
        body.padded(padding).grouped(groups, [u32::MAX, 1, 2, 0][random.below(4)])
    };
    let mut bodies: Vec<Body> =
        (0..count).map(|i| body(&mut random, if i % 97 == 96 { ground } else { i % ground })).collect();
    let statics: Vec<Body> =
        (0..count / 4).map(|i| body(&mut random, if i == 7 { ground } else { i % ground })).collect();
    // Twins are hit at the same distance.
    for i in (10..count).step_by(17) {
        bodies[i] = bodies[i - 1];
    }
    let rays = (0..ray_count)
        .map(|i| {
            let origin = at(&mut random);
            let direction = match i % 4 {
                0 => [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 2.0]][random.below(3)],
                1 => (DVec3::from(bodies[i % count].position.map(f64::from))
                    - DVec3::from(origin.map(f64::from)))
                .as_vec3()
                .to_array(),
                _ => random.direction().as_vec3().to_array(),
            };
            let direction = if direction == [0.0; 3] { [1.0, 0.0, 0.0] } else { direction };
            let most = if i % 3 == 0 { (side * random.unit()) as f32 } else { f32::INFINITY };
            let group = [u32::MAX, 1, 2, 4][random.below(4)];
            Ray::new(origin, direction).up_to(most).grouped(group, [u32::MAX, 2][random.below(2)])
        })
        .collect();
    Crowd { hulls, bodies, statics, rays }
}

impl Crowd {
    pub(crate) fn arena(&self, engine: &Engine) -> Arena {
        let options = Options { statics: self.statics.clone(), ..Options::default() };
        Arena::new(engine, &self.hulls, options).unwrap()
    }

    /// All hits of each ray, one body after another, sorted.
    fn hits(&self) -> Vec<Vec<RayHit>> {
        let mut hits = vec![Vec::new(); self.rays.len()];
        for (id, body) in (0..).zip(self.bodies.iter().chain(&self.statics)) {
            for (at, hit) in self.alone(body).into_iter().enumerate() {
                let ray = &self.rays[at];
                // The free function has no padding: it is the rounding radius of a hull that is not scaled.
                if body.padding == 0.0 && (at + id as usize).is_multiple_of(16) {
                    let hull = &self.hulls[body.hull as usize];
                    let mut free =
                        collide::raycast(hull, body.pose(), ray.origin, ray.direction, ray.max_distance)
                            .unwrap();
                    free.iter_mut().for_each(|hit| hit.ray = at as u32);
                    assert_eq!(free, hit, "ray {at} at body {id} alone");
                }
                let accepted = ray.group & body.mask != 0 && body.group & ray.mask != 0;
                hits[at].extend(hit.filter(|_| accepted).map(|mut hit| {
                    hit.body = id;
                    hit
                }));
            }
        }
        for hits in &mut hits {
            hits.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.body.cmp(&b.body)));
        }
        hits
    }

    /// What each ray hits of one body, whatever their groups, by an arena that holds no other.
    fn alone(&self, body: &Body) -> Vec<Option<RayHit>> {
        let hull = &self.hulls[body.hull as usize..][..1];
        let arena = Arena::new(&Engine::cpu(), hull, Options::default()).unwrap();
        let body = Body { hull: 0, ..*body }.grouped(u32::MAX, u32::MAX);
        let rays: Vec<Ray> = self.rays.iter().map(|ray| ray.grouped(u32::MAX, u32::MAX)).collect();
        let found = arena.raycasts(&[body], &rays, &RayOptions::default()).unwrap().wait().unwrap();
        found.rows.iter().map(|row| row.hit).collect()
    }
}

fn raycasts(arena: &Arena, crowd: &Crowd, options: &RayOptions) -> Vec<Raycast> {
    arena.raycasts(&crowd.bodies, &crowd.rays, options).unwrap().wait().unwrap().rows
}

#[test]
fn a_scene_is_hit_where_its_bodies_are() {
    let mut counts = [0; 4];
    for (seed, count, spread, far) in [
        (811, 1, 1.0, 0.0),
        (812, 9, 1.0, 0.0),
        (813, 120, 3.0, 10.0),
        (814, 400, 30.0, 1e3),
        (815, 200, 1.0, 1e6),
    ] {
        let crowd = crowd(count, extent(120, 1_000), spread, far, hullfield_oracle::seed(seed));
        let hits = crowd.hits();
        let is_entered = |hit: &&RayHit| hit.normal.is_some();
        let entered = hits.iter().map(|hits| hits.iter().filter(is_entered).copied().collect()).collect();
        let truths: [Vec<Vec<RayHit>>; 2] = [hits, entered];
        for (name, engine) in engines() {
            let arena = crowd.arena(&engine);
            for (skip_start, truths) in [false, true].into_iter().zip(&truths) {
                let options = RayOptions { skip_start };
                let first = raycasts(&arena, &crowd, &options);
                let all = arena.raycasts_all(&crowd.bodies, &crowd.rays, &options).unwrap().wait().unwrap();
                let any = arena.occlusions(&crowd.bodies, &crowd.rays, &options).unwrap().wait().unwrap();
                assert_eq!((first.len(), any.rows.len()), (crowd.rays.len(), crowd.rays.len()));
                let mut listed = all.rows.iter();
                for ((ray, hits), (row, any)) in (0..).zip(truths).zip(first.iter().zip(&any.rows)) {
                    assert_eq!(row.ray, ray, "{name}");
                    assert_eq!(row.hit, hits.first().copied(), "{name}, ray {ray} of {seed}");
                    assert_eq!((any.ray, any.occluded), (ray, !hits.is_empty()), "{name}");
                    for hit in hits {
                        assert_eq!(listed.next(), Some(hit), "{name}, ray {ray} of {seed}");
                    }
                    counts[0] += usize::from(hits.is_empty());
                    counts[1] += usize::from(hits.len() > 1);
                    counts[2] +=
                        usize::from(hits.windows(2).any(|pair| pair[0].distance == pair[1].distance));
                    counts[3] += usize::from(hits.iter().any(|hit| hit.body as usize >= crowd.bodies.len()));
                }
                assert_eq!(listed.next(), None);
                assert_eq!(all.stats.hit_count, all.rows.len() as u64);
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let crowd = crowd(1_000, extent(3_000, 50_000), 3.0, 0.0, 816);
    let arena = crowd.arena(&Engine::cpu());
    let options = RayOptions::default();
    let points: Vec<[f32; 3]> = crowd.rays.iter().map(|ray| ray.origin).collect();
    let ask = || {
        let nearest =
            arena.nearest_points(&crowd.bodies, &points, &Default::default()).unwrap().wait().unwrap();
        let inside = arena.containments(&crowd.bodies, &points).unwrap().wait().unwrap();
        let all = arena.raycasts_all(&crowd.bodies, &crowd.rays, &options).unwrap().wait().unwrap();
        (raycasts(&arena, &crowd, &options), all.rows, nearest.rows, inside.rows)
    };
    let many = ask();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(ask);
    let three = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap().install(ask);
    assert!(many == one && many == three);
    assert!(many.0.iter().filter(|row| row.hit.is_some()).count() > 1_000);
}

/// Rays at corners, edges and faces of bodies, past them by all amounts, along them and from inside, of all sizes and from 1e6 away: each engine
/// finds the same, bit for bit.
#[test]
fn engines_agree_on_rays_that_graze() {
    let mut random = Random::new(818);
    let kinds = kinds();
    let mut counts = [0; 3];
    for (size, far) in [(1.0, 0.0), (1.0, 1e3), (1e-5, 1e-2), (1e5, 1e7), (1.0, 1e6), (1e-5, 1.0)] {
        let mut bodies = Vec::new();
        let mut rays = Vec::new();
        let count = 2 * kinds.len();
        for at in 0..count {
            let (hull, _) = &kinds[at % kinds.len()];
            let own = size * random.log_between(0.1, 1.0);
            let (pose, _) = pose(&mut random, own, far);
            for _ in 0..extent(12, 400) {
                let ray = ray_at(&mut random, hull, &pose, size);
                if ray.direction == [0.0; 3] {
                    continue;
                }
                rays.push(Ray::new(ray.origin, ray.direction).up_to(ray.max_distance));
            }
            bodies.push(Body::new((at % kinds.len()) as u32).posed(pose));
        }
        let hulls: Vec<Hull> = kinds.iter().map(|(hull, _)| hull.clone()).collect();
        let (statics, bodies) = bodies.split_at(count / 3);
        for skip_start in [false, true] {
            let options = RayOptions { skip_start };
            let ask = |engine: &Engine| {
                let held = Options { statics: statics.to_vec(), ..Options::default() };
                let arena = Arena::new(engine, &hulls, held).unwrap();
                let first = arena.raycasts(bodies, &rays, &options).unwrap().wait().unwrap();
                let any = arena.occlusions(bodies, &rays, &options).unwrap().wait().unwrap();
                (first, any.rows)
            };
            let (expected, any) = ask(&Engine::cpu());
            for (name, engine) in engines() {
                let (found, found_any) = ask(&engine);
                for (row, right) in found.rows.iter().zip(&expected.rows) {
                    assert_eq!(row, right, "{name}, {size}, {far}: {:?}", rays[row.ray as usize]);
                }
                assert!(found_any == any, "{name}, {size}, {far}");
                counts[0] += found.rows.iter().filter(|row| row.hit.is_some()).count();
                counts[1] += found.rows.iter().filter(|row| row.hit.is_none()).count();
                counts[2] += found.stats.settled_count as usize;
            }
        }
    }
    println!("{counts:?}: hit, missed, settled");
    assert!(counts[0] > 1_000 && counts[1] > 500, "{counts:?}");
}

/// Rays at the edges and corners that touching boxes share, and into the cracks that f32 leaves between them.
#[test]
fn no_ray_slips_between_touching_boxes() {
    let mut random = Random::new(817);
    let cube = Hull::cuboid([0.05, 0.05, 0.05]).unwrap();
    let side = 12;
    let turned = random.rotation();
    for rotation in [[0.0, 0.0, 0.0, 1.0], turned] {
        let turn = glam::DQuat::from_array(rotation.map(f64::from)).normalize();
        let place = |x: f64, y: f64, z: f64| turn * DVec3::new(0.1 * x, 0.1 * y, z);
        let wall: Vec<Body> = (0..side * side)
            .map(|i| {
                let at = place((i % side) as f64, (i / side) as f64, 0.0);
                Body::new(0).at(at.as_vec3().to_array()).rotated(rotation)
            })
            .collect();
        let arena = Arena::new(&Engine::cpu(), std::slice::from_ref(&cube), Options::default()).unwrap();
        let rays: Vec<Ray> = (0..extent(4_000, 100_000))
            .map(|i| {
                let [x, y] = [0; 2].map(|_| random.below(side - 1) as f64 + 0.5);
                let (x, y) = if i % 2 == 0 { (x, y) } else { (x, 0.5 + random.unit() * (side - 2) as f64) };
                let target = place(x, y, 0.05);
                let origin = if i % 3 == 0 {
                    place(x, y, 3.0)
                } else {
                    place(random.unit() * 10.0, random.unit() * 10.0, 0.5 + random.unit() * 5.0)
                };
                let origin = origin.as_vec3();
                let direction = (target - origin.as_dvec3()).as_vec3();
                Ray::new(origin.to_array(), direction.to_array())
            })
            .collect();
        let found = arena.raycasts(&wall, &rays, &RayOptions::default()).unwrap().wait().unwrap();
        for (row, ray) in found.rows.iter().zip(&rays) {
            assert!(row.hit.is_some(), "{ray:?}");
        }
    }
}

/// A ray that starts in a corner of the boxes of some balls, and hits none of them, is cast against each of them and the half-spaces.
#[test]
fn the_bodies_that_a_ray_is_cast_against_are_counted() {
    let hulls = [Hull::ball(1.0).unwrap(), Hull::half_space()];
    let at = |x: f32| Body::new(0).at([x, 0.0, 0.0]);
    let bodies = [at(0.0), at(100.0), at(0.01), Body::new(1).at([0.0, -5.0, 0.0]), at(-100.0)];
    let held = Options { statics: vec![at(0.02), at(50.0)], ..Options::default() };
    let arena = Arena::new(&Engine::cpu(), &hulls, held).unwrap();
    // Past all bodies, and past all boxes but the start's.
    let rays = [Ray::new([0.9, 0.9, 0.9], [0.0, 1.0, 0.0]), Ray::new([0.0, 9.0, 0.0], [0.0, 1.0, 0.0])];
    let options = RayOptions::default();
    let first = arena.raycasts(&bodies, &rays, &options).unwrap().wait().unwrap();
    let any = arena.occlusions(&bodies, &rays, &options).unwrap().wait().unwrap();
    let all = arena.raycasts_all(&bodies, &rays, &options).unwrap().wait().unwrap();
    assert!(first.rows.iter().all(|row| row.hit.is_none()) && all.rows.is_empty());
    // Three balls and the half-space for one ray, the half-space for the other.
    for stats in [first.stats, any.stats, all.stats] {
        assert_eq!((stats.candidate_count, stats.hit_count), (5, 0));
    }
}

#[test]
fn nothing_is_hit_by_nothing() {
    for (_, engine) in engines() {
        let arena = Arena::new(&engine, &[Hull::ball(1.0).unwrap()], Options::default()).unwrap();
        let options = RayOptions::default();
        let ray = Ray::new([0.0; 3], [1.0, 0.0, 0.0]);
        let found = arena.raycasts(&[], &[ray], &options).unwrap().wait().unwrap();
        assert_eq!((found.rows.len(), found.rows[0].hit), (1, None));
        assert_eq!(arena.raycasts(&[Body::new(0)], &[], &options).unwrap().wait().unwrap().rows, []);
        assert_eq!(arena.raycasts_all(&[], &[], &options).unwrap().wait().unwrap().rows, []);
        let any = arena.occlusions(&[Body::new(0)], &[ray], &options).unwrap().wait().unwrap();
        assert!(matches!(any.rows[..], [Occlusion { ray: 0, occluded: true, .. }]));
        let none = Arena::new(&engine, &[], Options::default()).unwrap();
        assert_eq!(none.raycasts(&[], &[ray], &options).unwrap().wait().unwrap().rows[0].hit, None);
    }
}

#[test]
fn bad_input_is_one_error() {
    let hulls = [Hull::ball(1.0).unwrap(), Hull::ball(2.0).unwrap()];
    let mut arena = Arena::new(&Engine::cpu(), &hulls, Options::default()).unwrap();
    arena.remove_hulls(&[1]).unwrap();
    let good = Ray::new([0.0; 3], [1.0, 0.0, 0.0]);
    let options = RayOptions::default();
    let body = [Body::new(0)];
    let bad = [
        (Ray { origin: [0.0, f32::NAN, 0.0], ..good }, "origin"),
        (Ray { direction: [0.0; 3], ..good }, "direction"),
        (Ray { direction: [f32::INFINITY, 0.0, 0.0], ..good }, "direction"),
        (good.up_to(-0.5), "max_distance"),
        (good.up_to(f32::NAN), "max_distance"),
    ];
    for (ray, name) in bad {
        let rays = [good, good, ray, ray];
        let is_right = |error: &Error| {
            let Error::Value { at: Location::Ray(2), field, .. } = error else { return false };
            *field == name && error.to_string().starts_with("ray 2: ")
        };
        let errors = [
            arena.raycasts(&body, &rays, &options).map(drop).unwrap_err(),
            arena.raycasts_all(&body, &rays, &options).map(drop).unwrap_err(),
            arena.occlusions(&body, &rays, &options).map(drop).unwrap_err(),
        ];
        assert!(errors.iter().all(is_right), "{errors:?}");
    }
    let error = arena.raycasts(&[body[0], Body::new(2)], &[good], &options).map(drop).unwrap_err();
    assert!(matches!(error, Error::Missing { at: Location::Body(1), what: "hull", index: 2, .. }), "{error}");
    let error = arena.raycasts(&[Body::new(1)], &[good], &options).map(drop).unwrap_err();
    assert!(matches!(error, Error::Invalid { at: Location::Body(0), .. }), "{error}");
    let body = Body { position: [f32::NAN; 3], ..Body::new(0) };
    let error = arena.raycasts(&[body], &[good], &options).map(drop).unwrap_err();
    assert!(matches!(error, Error::Value { at: Location::Body(0), field: "position", .. }), "{error}");
}
