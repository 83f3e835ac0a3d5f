//! Shape casts: each answer equals the sweeps of single pairs, bit for bit, on every engine and for every number of threads; against the
//! oracle; known answers; and of bad input.

use glam::DVec3;
use hullfield::collide::{
    Arena, Body, Hull, Motion, Options, Pairs, Precision, Ray, ShapeCast, ShapeCastFirst, ShapeCastHit,
    ShapeCastOptions, Status, SweepOptions, SweepOutcome,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::random::Random;
use hullfield_oracle::sweep::{self as oracle, Claim};
use hullfield_oracle::{Pose, Shape, extent};

use crate::answers::{engines, shapes};
use crate::ray_scenes::{Crowd, crowd};

/// A crowd and casts: shapes of any hull but a half-space, at the starts of its rays and on their way.
pub(crate) struct Scene {
    pub(crate) crowd: Crowd,
    pub(crate) casts: Vec<ShapeCast>,
}

pub(crate) fn scene(count: usize, cast_count: usize, spread: f64, far: f64, seed: u64) -> Scene {
    let crowd = crowd(count, cast_count, spread, far, seed);
    let mut random = Random::new(seed.wrapping_add(1_000));
    let hull_count = crowd.hulls.len() - 1;
    let cast = |(at, ray): (usize, &Ray)| {
        let &Ray { origin, direction, max_distance, group, mask } = ray;
        let size = random.log_between(0.1, 2.0) as f32;
        let body =
            Body::new(random.below(hull_count) as u32).at(origin).rotated(random.rotation()).scaled(size);
        let padding = if random.chance(0.2) { 0.1 * size } else { 0.0 };
        let length = [1.0, 1e-3, 7.5][at % 3];
        let direction = direction.map(|x| x * length);
        ShapeCast::new(body.padded(padding).grouped(group, mask), direction).up_to(max_distance)
    };
    let casts = crowd.rays.iter().enumerate().map(cast).collect();
    Scene { crowd, casts }
}

fn length(direction: [f32; 3]) -> f64 {
    direction.map(f64::from).iter().map(|x| x * x).sum::<f64>().sqrt()
}

impl Scene {
    fn arena(&self, engine: &Engine, precision: Precision) -> Arena {
        let options = Options { statics: self.crowd.statics.clone(), precision, ..Options::default() };
        Arena::new(engine, &self.crowd.hulls, options).unwrap()
    }

    /// All hits of a cast, sorted, by sweeps of single pairs.
    fn hits(&self, cast: u32, precision: Precision, skip_start: bool) -> Vec<ShapeCastHit> {
        let ShapeCast { body: shape, direction, max_distance } = self.casts[cast as usize];
        let bodies: Vec<Body> = std::iter::once(shape)
            .chain(self.crowd.bodies.iter().chain(&self.crowd.statics).copied())
            .collect();
        let pairs: Vec<[u32; 2]> = (1..)
            .zip(&bodies[1..])
            .filter(|(_, body)| shape.group & body.mask != 0 && body.group & shape.mask != 0)
            .map(|(b, _)| [0, b])
            .collect();
        let mut motions = vec![Motion::default(); bodies.len()];
        motions[0].velocity = direction;
        let length = length(direction);
        // Longer than the cast, so that an end that f32 does not hold changes nothing.
        let most = if max_distance < f32::INFINITY { f64::from(max_distance) } else { 1e12 };
        let options = SweepOptions { duration: (most / length * 1.01) as f32, witness: true };
        let arena =
            Arena::new(&Engine::cpu(), &self.crowd.hulls, Options { precision, ..Options::default() });
        let found =
            arena.unwrap().sweeps(&bodies, &motions, Pairs::Given(&pairs), &options).unwrap().wait().unwrap();
        let template = self.any_hit();
        let mut hits: Vec<ShapeCastHit> = found
            .rows
            .iter()
            .filter(|row| row.outcome != SweepOutcome::Miss)
            .filter(|row| !skip_start || row.outcome == SweepOutcome::Hit)
            .map(|row| {
                let mut hit = template;
                (hit.cast, hit.body, hit.distance) = (cast, row.b - 1, row.time * length);
                hit.normal = row.normal.unwrap().map(|x| -x);
                hit.initial_overlap = row.outcome == SweepOutcome::Touching;
                (hit.points, hit.separation) = (row.points, row.separation);
                hit
            })
            .filter(|hit| hit.distance <= f64::from(max_distance))
            .collect();
        hits.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.body.cmp(&b.body)));
        hits
    }

    /// Some hit, as a row can't be made from without.
    fn any_hit(&self) -> ShapeCastHit {
        let arena = Arena::new(&Engine::cpu(), &[Hull::ball(1.0).unwrap()], Options::default()).unwrap();
        let cast = ShapeCast::new(Body::new(0), [1.0, 0.0, 0.0]);
        let found = arena.shape_casts(&[Body::new(0)], &[cast], &ShapeCastOptions::default());
        found.unwrap().wait().unwrap().rows[0].hit.unwrap()
    }

    fn all(&self, arena: &Arena, options: &ShapeCastOptions) -> Vec<ShapeCastHit> {
        arena.shape_casts_all(&self.crowd.bodies, &self.casts, options).unwrap().wait().unwrap().rows
    }

    fn first(&self, arena: &Arena, options: &ShapeCastOptions) -> Vec<ShapeCastFirst> {
        arena.shape_casts(&self.crowd.bodies, &self.casts, options).unwrap().wait().unwrap().rows
    }

    /// Judges what a cast says of a body.
    fn judge(
        &self,
        shapes: &[Shape],
        cast: u32,
        body: u32,
        hit: Option<&ShapeCastHit>,
        exact: bool,
    ) -> Result<(), String> {
        let ShapeCast { body: shape, direction, max_distance } = self.casts[cast as usize];
        let all: Vec<&Body> = self.crowd.bodies.iter().chain(&self.crowd.statics).collect();
        let other = all[body as usize];
        let pose = |body: &Body| Pose {
            position: body.position,
            rotation: body.rotation,
            scale: body.scale,
            radius: body.padding,
        };
        let pair = oracle::Pair {
            shapes: [&shapes[shape.hull as usize], &shapes[other.hull as usize]],
            poses: [pose(&shape), pose(other)],
            motions: [oracle::Motion { velocity: direction, spin: [0.0; 3] }, oracle::Motion::default()],
        };
        let claim = match hit {
            None => Claim::Miss,
            Some(hit) if hit.initial_overlap => Claim::Touching(hit.normal.map(|x| -x)),
            Some(hit) => Claim::Hit(hit.distance / length(direction), hit.normal.map(|x| -x)),
        };
        let most = if max_distance < f32::INFINITY { f64::from(max_distance) } else { 1e4 };
        let end = hit.map_or(most, |hit| hit.distance.max(most)) / length(direction);
        pair.check(end * (1.0 + 1e-12), claim, exact).map(drop)
    }
}

#[test]
fn a_shape_meets_what_its_sweeps_meet() {
    let mut counts = [0; 5];
    for (seed, count, spread, far) in [
        (851, 1, 1.0, 0.0),
        (852, 9, 1.0, 0.0),
        (853, 120, 3.0, 10.0),
        (854, 300, 30.0, 1e3),
        (855, 150, 1.0, 1e6),
    ] {
        let scene = scene(count, extent(40, 75), spread, far, hullfield_oracle::seed(seed));
        for precision in [Precision::Exact, Precision::Fast] {
            for skip_start in [false, true] {
                let truths: Vec<Vec<ShapeCastHit>> = (0..scene.casts.len() as u32)
                    .map(|cast| scene.hits(cast, precision, skip_start))
                    .collect();
                for (name, engine) in engines() {
                    let arena = scene.arena(&engine, precision);
                    let options = ShapeCastOptions { skip_start, witness: true };
                    let (first, all) = (scene.first(&arena, &options), scene.all(&arena, &options));
                    let any = arena.shape_casts_any(&scene.crowd.bodies, &scene.casts, &options);
                    let any = any.unwrap().wait().unwrap().rows;
                    assert_eq!((first.len(), any.len()), (scene.casts.len(), scene.casts.len()));
                    let mut listed = all.iter();
                    for ((cast, hits), (first, any)) in (0..).zip(&truths).zip(first.iter().zip(&any)) {
                        let mine: Vec<&ShapeCastHit> = listed.by_ref().take(hits.len()).collect();
                        assert!(mine.iter().all(|hit| hit.cast == cast), "{name}, cast {cast} of {seed}");
                        assert_eq!((first.cast, first.hit.as_ref()), (cast, mine.first().copied()), "{name}");
                        assert_eq!((any.cast, any.is_hit), (cast, !mine.is_empty()), "{name}");
                        if precision == Precision::Exact {
                            let same = mine.iter().zip(hits).all(|(mine, hit)| *mine == hit);
                            assert!(same, "{name}, cast {cast} of {seed}: {mine:?}, not {hits:?}");
                        } else {
                            // f32 times are off, but who is hit is the same.
                            let mut ids = [Vec::new(), Vec::new()];
                            ids[0].extend(mine.iter().map(|hit| (hit.body, hit.initial_overlap)));
                            ids[1].extend(hits.iter().map(|hit| (hit.body, hit.initial_overlap)));
                            ids.iter_mut().for_each(|ids| ids.sort_unstable());
                            assert_eq!(ids[0], ids[1], "{name}, cast {cast} of {seed}");
                        }
                        counts[0] += usize::from(hits.is_empty());
                        counts[1] += usize::from(hits.len() > 1);
                        counts[2] +=
                            usize::from(hits.windows(2).any(|two| two[0].distance == two[1].distance));
                        counts[3] += usize::from(hits.iter().any(|hit| hit.body as usize >= count));
                        counts[4] += usize::from(hits.iter().any(|hit| hit.initial_overlap));
                    }
                    assert_eq!(listed.next(), None);
                }
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
}

#[test]
fn hits_and_misses_are_those_of_the_oracle() {
    let mut seen = [0; 3];
    for (seed, spread, far) in [(861, 1.0, 0.0), (862, 10.0, 100.0), (863, 1.0, 1e6)] {
        let mut scene = scene(12, extent(30, 110), spread, far, hullfield_oracle::seed(seed));
        // A third of them graze: the shape is moved aside until it only just meets, or misses, a body.
        for at in (0..scene.casts.len()).step_by(3) {
            let target = scene.crowd.bodies[at % 12].position.map(f64::from);
            let cast = &mut scene.casts[at];
            let way = DVec3::from(cast.direction.map(f64::from)).normalize();
            let aside = way.any_orthonormal_vector() * 0.4;
            cast.body.position = (DVec3::from(target) - way * 5.0 + aside).as_vec3().to_array();
        }
        let shapes = shapes(&scene.crowd.hulls);
        let all: Vec<Body> = scene.crowd.bodies.iter().chain(&scene.crowd.statics).copied().collect();
        for precision in [Precision::Fast, Precision::Exact] {
            let rows = scene.all(&scene.arena(&Engine::cpu(), precision), &ShapeCastOptions::default());
            for (cast, given) in (0..).zip(&scene.casts) {
                for (body, placed) in (0..).zip(&all) {
                    if given.body.group & placed.mask == 0 || placed.group & given.body.mask == 0 {
                        continue;
                    }
                    let hit = rows.iter().find(|hit| hit.cast == cast && hit.body == body);
                    let judged = scene.judge(&shapes, cast, body, hit, precision == Precision::Exact);
                    assert_eq!(judged, Ok(()), "{precision:?}, {given:?}, {placed:?}: {hit:?}");
                    seen[hit.map_or(0, |hit| 1 + usize::from(hit.initial_overlap))] += 1;
                }
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 30), "{seen:?}");
}

/// Wrong claims are found, of each kind.
#[test]
fn the_check_finds_wrong_hits() {
    let scene = scene(9, 300, 1.0, 0.0, 871);
    let shapes = shapes(&scene.crowd.hulls);
    let rows = scene.all(&scene.arena(&Engine::cpu(), Precision::Fast), &ShapeCastOptions::default());
    let mut found_count = 0;
    for hit in rows.iter().filter(|hit| !hit.initial_overlap && hit.distance > 0.5) {
        let judge = |claim: Option<&ShapeCastHit>| scene.judge(&shapes, hit.cast, hit.body, claim, false);
        assert_eq!(judge(Some(hit)), Ok(()));
        let (mut late, mut early, mut tilted) = (*hit, *hit, *hit);
        late.distance += 0.3;
        early.distance -= 0.3;
        tilted.normal = tilted.normal.map(|x| -x);
        found_count += [late, early, tilted].iter().filter(|claim| judge(Some(claim)).is_err()).count();
        found_count += usize::from(judge(None).is_err());
    }
    // A hit that slides along the body may be late, and a grazing one be a miss.
    let hit_count = rows.iter().filter(|hit| !hit.initial_overlap && hit.distance > 0.5).count();
    assert!(hit_count > 10 && found_count * 100 > 4 * hit_count * 90, "{found_count} of 4 × {hit_count}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let scene = scene(1_000, extent(600, 20_000), 3.0, 0.0, 872);
    let arena = scene.arena(&Engine::cpu(), Precision::Fast);
    let options = ShapeCastOptions { witness: true, ..ShapeCastOptions::default() };
    let ask = || (scene.first(&arena, &options), scene.all(&arena, &options));
    let many = ask();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(ask);
    let three = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap().install(ask);
    assert!(many == one && many == three);
    assert!(many.0.iter().filter(|row| row.hit.is_some()).count() > 200);
}

/// The first hit of one cast at one body.
fn cast(hulls: &[Hull], body: Body, cast: ShapeCast) -> Option<ShapeCastHit> {
    let arena = Arena::new(&Engine::cpu(), hulls, Options::default()).unwrap();
    let options = ShapeCastOptions { witness: true, ..ShapeCastOptions::default() };
    arena.shape_casts(&[body], &[cast], &options).unwrap().wait().unwrap().rows[0].hit
}

#[test]
fn well_known_hits_are_right() {
    for scale in [1e-5_f32, 1e-2, 1.0, 1e3, 1e5] {
        let hulls = [Hull::cuboid([scale; 3]).unwrap(), Hull::ball(scale).unwrap(), Hull::half_space()];
        let s = f64::from(scale);
        let at = |x: f32, y: f32, z: f32| [x * scale, y * scale, z * scale];
        let x = [1.0, 0.0, 0.0];
        let meets = |hit: Option<ShapeCastHit>, distance: f64, normal: [f64; 3]| {
            let Some(hit) = hit else { panic!("{scale}: no hit") };
            assert!((hit.distance - distance * s).abs() <= 1e-5 * s, "{scale}: {hit:?}, not {distance}");
            assert!((DVec3::from(hit.normal) - DVec3::from(normal)).length() < 1e-5, "{scale}: {hit:?}");
            assert!(!hit.initial_overlap && hit.separation.unwrap().abs() <= 2e-5 * s, "{hit:?}");
            let [p, q] = hit.points.unwrap().map(DVec3::from);
            assert!((p - q).length() <= 2e-5 * s, "{hit:?}");
        };
        let back = [-1.0, 0.0, 0.0];
        // Face on, by a cube and by a ball, with directions of any length.
        for length in [1.0, 1e-38, 1e-45, 3e38, 123.0] {
            for shape in [0, 1] {
                let start = ShapeCast::new(Body::new(shape).at(at(-5.0, 0.0, 0.0)), [length, 0.0, 0.0]);
                meets(cast(&hulls, Body::new(0), start), 3.0, back);
                meets(cast(&hulls, Body::new(0), start.up_to(3.01 * scale)), 3.0, back);
                assert_eq!(cast(&hulls, Body::new(0), start.up_to(2.99 * scale)), None);
                assert_eq!(
                    cast(&hulls, Body::new(0), ShapeCast { direction: [-length, 0.0, 0.0], ..start }),
                    None
                );
            }
        }
        // Past it by more than the tolerance, and into its edge by more than that.
        for (aside, is_hit) in [(2.001, false), (2.000_1, false), (1.999_9, true), (1.9, true), (0.0, true)] {
            for side in [aside, -aside] {
                let start = ShapeCast::new(Body::new(0).at(at(-5.0, side, 0.0)), x);
                let hit = cast(&hulls, Body::new(0), start);
                assert_eq!(hit.is_some(), is_hit, "{scale}, {side}: {hit:?}");
                if is_hit {
                    meets(hit, 3.0, back);
                }
            }
        }
        // Along the face that it lies on: it touches at the start.
        let resting = ShapeCast::new(Body::new(0).at(at(0.0, 2.0, 0.0)), x);
        let hit = cast(&hulls, Body::new(0), resting).unwrap();
        assert!(hit.initial_overlap && hit.distance == 0.0 && hit.normal[1] > 0.999, "{hit:?}");
        // From within.
        let hit = cast(&hulls, Body::new(0), ShapeCast::new(Body::new(1).at(at(0.0, 1.5, 0.0)), x)).unwrap();
        assert!(hit.initial_overlap && hit.distance == 0.0, "{hit:?}");
        assert!((hit.separation.unwrap() + 0.5 * s).abs() < 1e-5 * s && hit.normal[1] > 0.999, "{hit:?}");
        // A half-space: straight, all but parallel, and away from it, with no end.
        let ground = Body::new(2);
        let above = Body::new(1).at(at(0.0, 4.0, 0.0));
        meets(cast(&hulls, ground, ShapeCast::new(above, [0.0, -2.0, 0.0])), 3.0, [0.0, 1.0, 0.0]);
        let slant = cast(&hulls, ground, ShapeCast::new(above, [1.0, -1e-6, 0.0])).unwrap();
        assert!((slant.distance / s - 3e6).abs() < 30.0, "{slant:?}");
        assert_eq!(cast(&hulls, ground, ShapeCast::new(above, x)), None);
        assert_eq!(cast(&hulls, ground, ShapeCast::new(above, [0.0, 1e-30, 0.0])), None);
        let end = ShapeCast::new(above, [0.0, -1.0, 0.0]).up_to(2.9 * scale);
        assert_eq!(cast(&hulls, ground, end), None);
    }
}

/// A cube between two others that leave it as much room as it is wide, and a little more or less.
#[test]
fn a_gap_of_the_width_of_a_shape_is_judged_by_the_tolerance() {
    let hulls = [Hull::cuboid([0.5; 3]).unwrap()];
    let arena = Arena::new(&Engine::cpu(), &hulls, Options::default()).unwrap();
    for (room, is_hit) in [(1e-4_f32, false), (2e-5, false), (-2e-5, true), (-1e-3, true)] {
        let walls = [1.0, -1.0].map(|side| Body::new(0).at([5.0, side * (1.0 + room), 0.0]));
        let through = ShapeCast::new(Body::new(0), [1.0, 0.0, 0.0]);
        let found =
            arena.shape_casts(&walls, &[through], &ShapeCastOptions::default()).unwrap().wait().unwrap();
        assert_eq!(found.rows[0].hit.is_some(), is_hit, "{room}");
    }
}

/// A character that stands on the ground and walks along it into a wall.
#[test]
fn the_ground_is_skipped_where_asked() {
    let hulls =
        [Hull::half_space(), Hull::cuboid([0.5, 1.0, 0.5]).unwrap(), Hull::cuboid([0.1, 2.0, 3.0]).unwrap()];
    for (_, engine) in engines() {
        let statics = vec![Body::new(0), Body::new(2).at([6.0, 0.0, 0.0])];
        let arena = Arena::new(&engine, &hulls, Options { statics, ..Options::default() }).unwrap();
        let walk = [ShapeCast::new(Body::new(1).at([0.0, 1.0, 0.0]), [3.0, 0.0, 0.0])];
        let first = |skip_start: bool| {
            let options = ShapeCastOptions { skip_start, ..ShapeCastOptions::default() };
            arena.shape_casts(&[], &walk, &options).unwrap().wait().unwrap().rows[0].hit.unwrap()
        };
        assert!(first(false).initial_overlap && first(false).body == 0);
        let wall = first(true);
        assert!(!wall.initial_overlap && wall.body == 1 && (wall.distance - 5.4).abs() < 1e-5, "{wall:?}");
        assert_eq!((wall.points, wall.separation), (None, None));
    }
}

/// The verdict at the start is that of `intersections`, also within the tolerance.
#[test]
fn the_start_is_judged_as_intersections_are() {
    let hulls = [Hull::cuboid([0.5; 3]).unwrap()];
    let arena = Arena::new(&Engine::cpu(), &hulls, Options::default()).unwrap();
    let mut seen = [0; 2];
    for step in -40..40 {
        let bodies = [Body::new(0), Body::new(0).at([0.3, 1.0 + step as f32 * 5e-7, 0.1])];
        let verdict =
            arena.intersections(&bodies, Pairs::Given(&[[0, 1]])).unwrap().wait().unwrap().rows[0].status;
        let slide = ShapeCast::new(bodies[0], [0.0, 0.0, 1.0]).up_to(0.0);
        let found = arena.shape_casts(&bodies[1..], &[slide], &ShapeCastOptions::default());
        let hit = found.unwrap().wait().unwrap().rows[0].hit;
        let overlaps = hit.is_some_and(|hit| hit.initial_overlap);
        assert_eq!(overlaps, verdict != Status::Separated, "{step}");
        seen[usize::from(overlaps)] += 1;
    }
    assert!(seen.iter().all(|&count| count > 5), "{seen:?}");
}

#[test]
fn nothing_meets_nothing() {
    for (_, engine) in engines() {
        let arena = Arena::new(&engine, &[Hull::ball(1.0).unwrap()], Options::default()).unwrap();
        let options = ShapeCastOptions::default();
        let cast = [ShapeCast::new(Body::new(0), [1.0, 0.0, 0.0])];
        assert_eq!(arena.shape_casts(&[], &cast, &options).unwrap().wait().unwrap().rows[0].hit, None);
        assert_eq!(arena.shape_casts(&[Body::new(0)], &[], &options).unwrap().wait().unwrap().rows, []);
        assert_eq!(arena.shape_casts_all(&[], &cast, &options).unwrap().wait().unwrap().rows, []);
        let any = arena.shape_casts_any(&[Body::new(0)], &cast, &options).unwrap().wait().unwrap().rows;
        assert!(any[0].is_hit);
    }
}

#[test]
fn bad_casts_are_one_error() {
    let hulls = [Hull::ball(1.0).unwrap(), Hull::half_space(), Hull::ball(2.0).unwrap()];
    let mut arena = Arena::new(&Engine::cpu(), &hulls, Options::default()).unwrap();
    arena.remove_hulls(&[2]).unwrap();
    let good = ShapeCast::new(Body::new(0), [1.0, 0.0, 0.0]);
    let of = |body: Body| ShapeCast { body, ..good };
    let bad: [(ShapeCast, &str); 12] = [
        (ShapeCast { direction: [0.0; 3], ..good }, "direction"),
        (ShapeCast { direction: [0.0, -0.0, 0.0], ..good }, "direction"),
        (ShapeCast { direction: [f32::NAN, 0.0, 0.0], ..good }, "direction"),
        (ShapeCast { direction: [f32::INFINITY, 0.0, 0.0], ..good }, "direction"),
        (good.up_to(-0.5), "max_distance"),
        (good.up_to(f32::NAN), "max_distance"),
        (of(Body { position: [f32::NAN; 3], ..Body::new(0) }), "position"),
        (of(Body { scale: [0.0; 3], ..Body::new(0) }), "scale"),
        (of(Body::new(0).padded(-1.0)), "padding"),
        (of(Body::new(7)), "hull 7 does not exist, there are 3"),
        (of(Body::new(1)), "a half-space can't be cast"),
        (of(Body::new(2)), "hull 2 was removed"),
    ];
    let options = ShapeCastOptions::default();
    let body = [Body::new(0)];
    for (cast, text) in bad {
        let casts = [good, good, cast, cast];
        let errors = [
            arena.shape_casts(&body, &casts, &options).map(drop).unwrap_err(),
            arena.shape_casts_all(&body, &casts, &options).map(drop).unwrap_err(),
            arena.shape_casts_any(&body, &casts, &options).map(drop).unwrap_err(),
        ];
        for error in errors {
            let at = match &error {
                Error::Value { at, .. } | Error::Missing { at, .. } | Error::Invalid { at, .. } => *at,
                _ => Location::Argument,
            };
            assert_eq!(at, Location::Cast(2), "{error}");
            let message = error.to_string();
            assert!(message.starts_with("shape cast 2: ") && message.contains(text), "{message}");
        }
    }
    let error = arena.shape_casts(&[body[0], Body::new(9)], &[good], &options).map(drop).unwrap_err();
    assert!(matches!(error, Error::Missing { at: Location::Body(1), what: "hull", index: 9, .. }), "{error}");
}
