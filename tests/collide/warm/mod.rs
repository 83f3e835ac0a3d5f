//! Warm-started frames compared with the same frames cold.

mod crowd;
mod measures;

use crowd::{Crowd, hulls, mischief_with};
use glam::DVec3;
use hullfield::Engine;
use hullfield::collide::{Arena, Batch, Body, Hull, Intersection, Options, Pairs, Status};
use hullfield_oracle::compare::{Hit, between_hits};
use hullfield_oracle::random::Random;
use hullfield_oracle::scenes::{self, Pile};
use hullfield_oracle::{Pose, Shape, Truth, Verdict, certify, extent, seed, truth};

use crate::common;

fn find(arena: &Arena, bodies: &[Body], pairs: Pairs<'_>) -> Batch<Intersection> {
    arena.intersections(bodies, pairs).unwrap().wait().unwrap()
}

fn pose(body: &Body) -> Pose {
    Pose { position: body.position, rotation: body.rotation, scale: body.scale, ..Pose::default() }
}

fn hits(rows: &[Intersection]) -> Vec<Hit> {
    let verdict = |status| match status {
        Status::Separated => Verdict::Separated,
        Status::Touching => Verdict::Touching,
        Status::Penetrating => Verdict::Penetrating,
    };
    rows.iter().map(|row| ([row.a, row.b], verdict(row.status))).collect()
}

/// A cold and a warm arena of one engine, and the number of pairs that the warm one skipped.
struct ColdAndWarm {
    cold: Arena,
    warm: Arena,
    shapes: Vec<Shape>,
    candidates: u64,
    skipped: u64,
}

impl ColdAndWarm {
    fn new(engine: &Engine, hulls: &[Hull]) -> Self {
        let cold = Arena::new(engine, hulls, Options::default()).unwrap();
        let warm = cold.with_options(Options { warm_start: true, ..cold.options().clone() }).unwrap();
        let shapes = hulls.iter().map(|hull| Shape::new(hull.vertices())).collect();
        Self { cold, warm, shapes, candidates: 0, skipped: 0 }
    }

    fn truth_of(&self, bodies: &[Body], a: u32, b: u32) -> Truth {
        let [a, b] = [a, b].map(|row| bodies[row as usize]);
        truth(&self.shapes[a.hull as usize], &pose(&a), &self.shapes[b.hull as usize], &pose(&b))
    }

    /// The near pairs of one frame: equal to the bit on the CPU engine, beyond the tolerance on a device.
    fn near(&mut self, what: &str, bodies: &[Body]) -> usize {
        let cold = find(&self.cold, bodies, Pairs::BroadPhase);
        let warm = find(&self.warm, bodies, Pairs::BroadPhase);
        assert_eq!(cold.stats.skipped_count, 0);
        assert_eq!(warm.stats.hit_count as usize, warm.rows.len(), "{what}");
        assert!(warm.stats.skipped_count <= warm.stats.candidate_count, "{what}");
        if self.cold.engine().backend() == hullfield::Backend::Cpu {
            assert_eq!(cold.rows, warm.rows, "{what}");
        }
        between_hits(&hits(&cold.rows), &hits(&warm.rows), |a, b| self.truth_of(bodies, a, b))
            .passed()
            .unwrap_or_else(|text| panic!("{what}: {text}"));
        self.candidates += warm.stats.candidate_count;
        self.skipped += warm.stats.skipped_count;
        cold.rows.len()
    }

    /// Given pairs: the same verdicts, and axes that f64 projection confirms.
    fn given(&mut self, what: &str, bodies: &[Body], pairs: &[[u32; 2]]) {
        let cold = find(&self.cold, bodies, Pairs::Given(pairs));
        let warm = find(&self.warm, bodies, Pairs::Given(pairs));
        assert_eq!(cold.rows.len(), warm.rows.len(), "{what}");
        for (cold, warm) in cold.rows.iter().zip(&warm.rows) {
            assert_eq!((cold.a, cold.b), (warm.a, warm.b), "{what}");
            if cold.status != warm.status {
                let truth = self.truth_of(bodies, warm.a, warm.b);
                assert!(truth.gap.abs() <= truth.tau, "{what}: {cold:?}, {warm:?}, gap {:e}", truth.gap);
            }
            assert_eq!(warm.axis.is_some(), warm.status == Status::Separated, "{what}: {warm:?}");
            let Some(axis) = warm.axis else { continue };
            let [a, b] = [warm.a, warm.b].map(|row| &bodies[row as usize]);
            let [of_a, of_b] = [a, b].map(|body| self.cold.hulls()[body.hull as usize].vertices());
            let gap = certify::separation(axis, of_a, &pose(a), of_b, &pose(b));
            assert!(gap > 0.0, "{what}: {warm:?} shows {gap:e}");
        }
        self.candidates += warm.stats.candidate_count;
        self.skipped += warm.stats.skipped_count;
    }

    fn skipped_share(&self) -> f64 {
        self.skipped as f64 / self.candidates as f64
    }
}

/// Each engine, and by how much to divide the work: a software device is a hundred times slower.
fn engines() -> Vec<(Engine, usize)> {
    let mut engines = vec![(Engine::cpu(), 1)];
    engines.extend(common::gpu().map(|gpu| (gpu, 30)));
    engines
}

/// The engine that keeps a cache.
fn cpu() -> [(Engine, usize); 1] {
    [(Engine::cpu(), 1)]
}

#[test]
fn drifting_crowds() {
    for (engine, less) in engines() {
        for (seconds, share) in [(0.001, 0.8), (0.02, 0.3), (0.2, 0.0), (2.0, 0.0)] {
            let mut crowd = Crowd::new(2_000 / less.min(4), 6.0, seed(72));
            let mut arenas = ColdAndWarm::new(&engine, &hulls());
            let mut hit_count = 0;
            for frame in 0..60 / less {
                hit_count += arenas.near(&format!("{seconds} s, frame {frame}"), &crowd.bodies);
                crowd.go_on(seconds);
            }
            assert!(hit_count > 0, "{hit_count}");
            assert!(less > 1 || arenas.skipped_share() >= share, "{seconds} s: {}", arenas.skipped_share());
        }
    }
}

/// All changes that a caller may make to bodies between two frames.
#[test]
fn mischief() {
    for (engine, less) in cpu() {
        let mut random = Random::new(seed(73));
        let mut crowd = Crowd::new(700, 6.0, seed(74));
        let mut arenas = ColdAndWarm::new(&engine, &hulls());
        for frame in 0..120 / less {
            let deed = mischief_with(&mut random, &mut crowd);
            arenas.near(&format!("frame {frame}, deed {deed}"), &crowd.bodies);
        }
        assert!(arenas.skipped > 0);
    }
}

#[test]
fn an_explosion_and_a_stop() {
    for (engine, less) in cpu() {
        let mut crowd = Crowd::new(1_000 / less.min(4), 40.0, 75);
        let middle = DVec3::splat(0.5 * crowd.size);
        for (body, velocity) in crowd.bodies.iter().zip(&mut crowd.velocities) {
            *velocity = (DVec3::from(body.position.map(f64::from)) - middle) * 2.0;
        }
        crowd.size = 1e3;
        let mut arenas = ColdAndWarm::new(&engine, &hulls());
        for frame in 0..150 / less {
            arenas.near(&format!("frame {frame}"), &crowd.bodies);
            // At rest, then ever faster, then at rest again.
            let seconds = if (20 / less..100 / less).contains(&frame) {
                1e-4 * 1.08f64.powi(frame as i32)
            } else {
                0.0
            };
            crowd.go_on(seconds);
        }
        assert!(arenas.skipped_share() > 0.3, "{}", arenas.skipped_share());
    }
}

#[test]
fn a_pile_at_rest_and_disturbed() {
    for (engine, less) in cpu() {
        let pile = scenes::pile(Pile::Wall, 400, 76);
        let hulls: Vec<Hull> = pile.hulls.iter().map(|points| Hull::from_points(points).unwrap()).collect();
        let mut bodies: Vec<Body> = pile
            .bodies
            .iter()
            .map(|p| Body {
                scale: p.pose.scale,
                ..Body::new(p.hull).at(p.pose.position).rotated(p.pose.rotation)
            })
            .collect();
        let mut random = Random::new(77);
        let mut arenas = ColdAndWarm::new(&engine, &hulls);
        for frame in 0..80 / less {
            let hit_count = arenas.near(&format!("frame {frame}"), &bodies);
            assert!(hit_count > 100, "{hit_count}");
            match frame % 8 {
                // A solver that pushes a little, by a few units in the last place.
                5 => bodies.iter_mut().for_each(|body| {
                    body.position = body.position.map(|x| x + x.abs() * 1e-7 * random.below(3) as f32);
                }),
                6 => {
                    let row = random.below(bodies.len());
                    bodies[row].position[1] += 0.01;
                }
                _ => (),
            }
        }
        assert!(arenas.skipped_share() > 0.5, "{}", arenas.skipped_share());
    }
}

#[test]
fn slow_approach_through_the_tolerance() {
    for (engine, less) in cpu() {
        // Boxes that close in by a hundredth of a tolerance a frame, at several distances from the origin.
        let hulls = [Hull::cuboid([0.5; 3]).unwrap()];
        for far in [0.0f32, 100.0] {
            let mut arenas = ColdAndWarm::new(&engine, &hulls);
            for frame in 0..400 / less {
                let gap = 3e-5 - 2e-7 * (frame * less) as f64;
                let bodies: Vec<Body> = (0..64)
                    .flat_map(|k| {
                        let y = 3.0 * k as f32;
                        let next = (f64::from(far) + 1.0 + gap * (1.0 + 0.05 * f64::from(k))) as f32;
                        [Body::new(0).at([far, y, 0.0]), Body::new(0).at([next, y, 0.0])]
                    })
                    .collect();
                let pairs: Vec<[u32; 2]> = (0..64).map(|k| [2 * k, 2 * k + 1]).collect();
                arenas.near(&format!("far {far}, frame {frame}"), &bodies);
                arenas.given(&format!("far {far}, frame {frame}, given"), &bodies, &pairs);
            }
        }
    }
}

#[test]
fn given_pairs_and_their_axes() {
    for (engine, less) in engines() {
        let mut random = Random::new(78);
        let mut crowd = Crowd::new(500, 6.0, 79);
        let mut arenas = ColdAndWarm::new(&engine, &hulls());
        let mut pairs: Vec<[u32; 2]> = (0..3_000)
            .map(|k| [k % 500, (k % 500 + 1 + k / 500 * 37) % 500])
            .filter(|[a, b]| a != b)
            .collect();
        for frame in 0..100 / less {
            arenas.given(&format!("frame {frame}"), &crowd.bodies, &pairs);
            crowd.go_on(0.003);
            match frame % 10 {
                3 => {
                    let at = random.below(pairs.len());
                    pairs[at].swap(0, 1);
                }
                5 => drop(pairs.pop()),
                7 => pairs.rotate_left(1),
                8 => crowd.bodies[random.below(500)].scale = [0.7; 3],
                _ => (),
            }
        }
        if less == 1 {
            assert!(arenas.skipped_share() > 0.4, "{}", arenas.skipped_share());
        }
    }
}

/// The row of a skipped pair has the axis along which the pair is known to be apart.
#[test]
fn skipped_pairs_above_the_ground_have_its_normal_as_their_axis() {
    let hulls = [Hull::half_space(), Hull::cuboid([0.5; 3]).unwrap()];
    let warm =
        Arena::new(&Engine::cpu(), &hulls, Options { warm_start: true, ..Default::default() }).unwrap();
    // The second half-space is turned by a quarter about z: its normal is −x.
    let (sin, cos) = std::f32::consts::FRAC_PI_4.sin_cos();
    let bodies =
        [Body::new(0), Body::new(1).at([-4.0, 3.0, 0.0]), Body::new(0).rotated([0.0, 0.0, sin, cos])];
    let pairs = [[0, 1], [1, 0], [2, 1], [1, 2]];
    let normals = [[0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]];
    let mut skipped = 0;
    for frame in 0..4 {
        let found = find(&warm, &bodies, Pairs::Given(&pairs));
        skipped += found.stats.skipped_count;
        for (row, normal) in found.rows.iter().zip(normals) {
            assert_eq!(row.status, Status::Separated, "frame {frame}");
            let off = row.axis.map(|axis| [0, 1, 2].map(|k| (axis[k] - normal[k]).abs()));
            assert!(off.is_some_and(|off| off.into_iter().all(|x| x < 1e-6)), "frame {frame}: {row:?}");
        }
    }
    assert!(skipped >= 4, "{skipped}");
}

#[test]
fn queries_of_several_kinds_share_a_handle() {
    let mut crowd = Crowd::new(400, 6.0, 80);
    let mut arenas = ColdAndWarm::new(&Engine::cpu(), &hulls());
    let pairs: Vec<[u32; 2]> = (0..399).map(|k| [k + 1, k]).collect();
    for frame in 0..60 {
        let what = format!("frame {frame}");
        if frame % 3 != 1 {
            arenas.near(&what, &crowd.bodies);
        }
        arenas.given(&what, &crowd.bodies, &pairs);
        if frame % 4 == 2 {
            arenas.near(&what, &crowd.bodies);
        }
        let every = find(&arenas.warm, &crowd.bodies, Pairs::Exhaustive);
        assert_eq!(every.rows, find(&arenas.cold, &crowd.bodies, Pairs::Exhaustive).rows);
        // A frame of another scene in between starts with nothing.
        if frame % 20 == 19 {
            arenas.near(&what, &crowd.bodies[..100]);
        }
        if frame % 2 == 0 {
            crowd.go_on(0.002);
        }
    }
}

#[test]
fn frames_in_flight_share_what_is_kept() {
    for (engine, _) in engines() {
        let mut crowd = Crowd::new(300, 6.0, 81);
        let cold = Arena::new(&engine, &hulls(), Options::default()).unwrap();
        let warm = cold.with_options(Options { warm_start: true, ..cold.options().clone() }).unwrap();
        let mut expected = Vec::new();
        let mut pending = Vec::new();
        for _ in 0..12 {
            crowd.go_on(0.002);
            expected.push(find(&cold, &crowd.bodies, Pairs::BroadPhase).rows);
            pending.push(warm.clone().intersections(&crowd.bodies, Pairs::BroadPhase).unwrap());
        }
        for (k, (pending, expected)) in pending.into_iter().zip(expected).enumerate().rev() {
            if k % 3 != 1 {
                assert_eq!(hits(&pending.wait().unwrap().rows), hits(&expected), "frame {k}");
            }
        }
        // The cache still works.
        let found: Vec<u64> =
            (0..4).map(|_| find(&warm, &crowd.bodies, Pairs::BroadPhase).stats.skipped_count).collect();
        assert!(engine.backend() == hullfield::Backend::Gpu || found[3] > 0, "{found:?}");
    }
}

#[test]
fn bad_bodies_are_refused_in_warm_frames_too() {
    let mut crowd = Crowd::new(100, 6.0, 82);
    let warm =
        Arena::new(&Engine::cpu(), &hulls(), Options { warm_start: true, ..Default::default() }).unwrap();
    for _ in 0..5 {
        find(&warm, &crowd.bodies, Pairs::BroadPhase);
        crowd.go_on(0.001);
    }
    let good = find(&warm, &crowd.bodies, Pairs::BroadPhase).rows;
    for (row, bad) in [
        (99, Body { scale: [0.0; 3], ..crowd.bodies[99] }),
        (7, Body { position: [f32::NAN; 3], ..crowd.bodies[7] }),
        (0, Body { hull: 12, ..crowd.bodies[0] }),
    ] {
        let mut bodies = crowd.bodies.clone();
        bodies[row] = bad;
        let refused = warm.intersections(&bodies, Pairs::BroadPhase).map(drop);
        assert!(refused.unwrap_err().to_string().contains(&row.to_string()));
        assert_eq!(find(&warm, &crowd.bodies, Pairs::BroadPhase).rows, good);
    }
    for count in [0, 1, 2] {
        assert!(find(&warm, &crowd.bodies[..count], Pairs::BroadPhase).rows.len() <= 1);
    }
}

/// Statics, the ground, groups and rounding radii: all inputs of the broad phase besides boxes.
#[test]
fn statics_the_ground_groups_and_rounding() {
    let mut random = Random::new(83);
    let mut hulls = hulls();
    hulls.push(Hull::half_space());
    hulls.push(Hull::capsule([0.0, -0.5, 0.0], [0.0, 0.5, 0.0], 0.3).unwrap());
    let (ground, capsule) = (12, 13);
    let mut crowd = Crowd::new(500, 6.0, 84);
    for (k, body) in crowd.bodies.iter_mut().enumerate() {
        body.group = 1 << (k % 3);
        body.mask = if k % 5 == 0 { 0b101 } else { u32::MAX };
        body.padding = if k % 7 == 0 { 0.1 } else { 0.0 };
        body.hull = if k % 4 == 0 { capsule } else { body.hull };
    }
    let middle = [0.5 * crowd.size as f32; 3];
    let statics: Vec<Body> = (0..100)
        .map(|k| Body::new(k % 12).at([0; 3].map(|_| random.between(0.0, crowd.size) as f32)))
        .chain([Body::new(ground).at(middle)])
        .collect();
    let bare = Arena::new(&Engine::cpu(), &hulls, Options::default()).unwrap();
    let warm = bare
        .with_options(Options { statics: statics.clone(), warm_start: true, ..bare.options().clone() })
        .unwrap();
    let cold = bare.with_options(Options { statics: statics.clone(), ..bare.options().clone() }).unwrap();
    let fewer = statics[1..].to_vec();
    let (mut skipped, mut hit_count) = (0, 0);
    for frame in 0..120 {
        let deed = frame % 30;
        // A half-space that moves, turns, and rests for a while.
        let mut bodies = crowd.bodies.clone();
        bodies[3] = Body::new(ground).at([0.0, 0.01 * (frame / 10) as f32 - 1.0, 0.0]);
        if frame > 60 {
            bodies[3] = bodies[3].rotated([0.0, 0.0, 0.1f32.sin(), 0.1f32.cos()]);
        }
        match deed {
            10 => bodies[8].group = 0,
            12 => bodies[9].mask = 0,
            14 => bodies[10].padding = 0.5,
            16 => bodies[11].position = middle,
            _ => (),
        }
        // The same cache with other statics: one fewer of them, and one more body.
        let (cold, warm) = if deed == 20 {
            bodies.push(statics[0]);
            (
                bare.with_options(Options { statics: fewer.clone(), ..bare.options().clone() }).unwrap(),
                warm.with_options(Options { statics: fewer.clone(), ..warm.options().clone() }).unwrap(),
            )
        } else {
            (cold.clone(), warm.clone())
        };
        let expected = find(&cold, &bodies, Pairs::BroadPhase);
        let found = find(&warm, &bodies, Pairs::BroadPhase);
        assert_eq!(expected.rows, found.rows, "frame {frame}");
        skipped += found.stats.skipped_count;
        hit_count += found.rows.len();
        measures::same(&format!("frame {frame}"), [&cold, &warm], &bodies, [0.0, 0.2, 0.4][frame % 3]);
        let pairs: Vec<[u32; 2]> =
            (0..bodies.len() as u32 - 1).map(|k| [k, 500 + k % 100]).filter(|[a, b]| a != b).collect();
        let expected = find(&cold, &bodies, Pairs::Given(&pairs));
        let found = find(&warm, &bodies, Pairs::Given(&pairs));
        for (expected, found) in expected.rows.iter().zip(&found.rows) {
            assert_eq!(
                (expected.a, expected.b, expected.status),
                (found.a, found.b, found.status),
                "frame {frame}"
            );
        }
        crowd.go_on(0.003);
    }
    assert!(skipped > 10_000 && hit_count > 1_000, "{skipped} {hit_count}");
}

/// Bodies that change their groups, some in each frame, and come and go: whatever query is the first to see it, the others know.
#[test]
fn groups_that_change() {
    let mut random = Random::new(seed(85));
    let mut crowd = Crowd::new(700, 6.0, seed(86));
    let mut arenas = ColdAndWarm::new(&Engine::cpu(), &hulls());
    let groups = [[u32::MAX, u32::MAX], [0, 0], [1, 1], [2, 3], [1, 2]];
    for frame in 0..extent(120, 160) {
        let what = format!("frame {frame}");
        for _ in 0..random.below(3) {
            let row = random.below(crowd.bodies.len());
            [crowd.bodies[row].group, crowd.bodies[row].mask] = groups[random.below(groups.len())];
            if random.chance(0.3) {
                crowd.bodies[row].position = [0; 3].map(|_| random.between(0.0, crowd.size) as f32);
            }
        }
        for query in [0, 1, 2].map(|k| (k + frame) % 3) {
            match query {
                0 => _ = arenas.near(&what, &crowd.bodies),
                1 => arenas.given(&what, &crowd.bodies, &[[0, 1], [5, 3]]),
                _ => _ = measures::same(&what, [&arenas.cold, &arenas.warm], &crowd.bodies, 0.05),
            }
        }
        crowd.go_on(if frame % 40 < 30 { 0.003 } else { 0.0 });
    }
    assert!(arenas.skipped_share() > 0.3, "{}", arenas.skipped_share());
}
