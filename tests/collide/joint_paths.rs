//! Paths and postures of robots: against the oracle at ten thousand times a path, on every engine, and of bad input.

use glam::{DQuat, DVec3};
use hullfield::collide::{
    Arena, Body, BodyColumns, Exclusions, Hull, JointPath, JointStep, LinkPose, Options, Pairs, PathCheck,
    PathOptions, PathOutcome, joint_deviation,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::joint_path::LinkFrame;
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, seed};

use crate::answers::engines;
use crate::joint_path_scenes::{Course, Robot};

fn ask(arena: &Arena, robot: &Robot, paths: &[JointPath<'_>]) -> Vec<PathCheck> {
    arena.joint_paths(robot.columns(), paths, &PathOptions::default()).unwrap().wait().unwrap().rows
}

/// Courses of a robot: some short, some long, some of one step.
fn courses(robot: &Robot, random: &mut Random, count: usize) -> Vec<Course> {
    let course = |_| {
        let from = robot.configuration(random, 1.0);
        let spread = [0.1, 0.4, 1.0][random.below(3)];
        let change = robot.configuration(random, spread);
        let to: Vec<f64> = from.iter().zip(&change).map(|(a, b)| a + b).collect();
        Course::new(robot, &from, &to, [2, 3, 6, 17][random.below(4)])
    };
    (0..count).map(course).collect()
}

/// No path that is called free penetrates anywhere, at 1e-4 of its length; hits are hits, and nothing is hit before.
#[test]
fn paths_are_as_the_oracle_sees_them() {
    use rayon::prelude::*;
    let robots: Vec<u64> = (0..extent(12, 100)).collect();
    let counts: Vec<[usize; 3]> = robots
        .par_iter()
        .map(|&seed| {
            let mut random = Random::new(900 + seed);
            let size = [1.0, 0.1, 1e3, 1e-4][seed as usize % 4];
            let obstacle_count = 2 + random.below(14);
            let robot = Robot::new(&mut random, size, obstacle_count);
            let arena = robot.arena(&Engine::cpu());
            let courses = courses(&robot, &mut random, 10);
            let paths: Vec<JointPath<'_>> = courses.iter().map(Course::path).collect();
            let rows = ask(&arena, &robot, &paths);
            let mut counts = [0; 3];
            for (at, (row, course)) in rows.iter().zip(&courses).enumerate() {
                assert_eq!(row.path as usize, at);
                if let Err(what) = robot.judge(&course.samples, row, 1e4) {
                    panic!("robot {seed}, path {at}: {what}\n{row:?}");
                }
                counts[row.outcome as usize] += 1;
            }
            counts
        })
        .collect();
    let [free, hit, undecided] = [0, 1, 2].map(|k| counts.iter().map(|counts| counts[k]).sum::<usize>());
    println!("{free} free, {hit} hit, {undecided} undecided");
    assert!(free * 5 > free + hit && hit * 5 > free + hit, "{free} {hit}");
    assert_eq!(undecided, 0);
}

/// The check can fail: a path that is hit is not free, nor free for longer.
#[test]
fn wrong_answers_are_found() {
    let mut random = Random::new(77);
    let mut tried = 0;
    while tried < 10 {
        let robot = Robot::new(&mut random, 1.0, 8);
        let arena = robot.arena(&Engine::cpu());
        let courses = courses(&robot, &mut random, 10);
        let paths: Vec<JointPath<'_>> = courses.iter().map(Course::path).collect();
        for (row, course) in ask(&arena, &robot, &paths).iter().zip(&courses) {
            let last = (course.samples.len() - 1) as f64;
            let Some(time) = row.time.filter(|&time| time > 0.0 && time < 0.9 * last) else { continue };
            let mut wrong = *row;
            (wrong.outcome, wrong.free_until, wrong.time, wrong.pair) = (PathOutcome::Free, last, None, None);
            assert!(robot.judge(&course.samples, &wrong, 1e4).is_err(), "{row:?}");
            let mut late = *row;
            (late.free_until, late.time) = (time + 0.05 * last, Some(time + 0.05 * last));
            assert!(robot.judge(&course.samples, &late, 1e4).is_err(), "{row:?}");
            let mut early = *row;
            (early.free_until, early.time) = (0.9 * time, Some(0.9 * time));
            let is_moving = row.time.is_some_and(|time| time > 0.05 * last);
            assert!(!is_moving || robot.judge(&course.samples, &early, 1e4).is_err(), "{row:?}");
            tried += 1;
        }
    }
}

/// With the bounds of the deviations, paths that are called free are free along the arcs that joints make.
#[test]
fn free_paths_are_free_along_the_arcs_of_joints() {
    use rayon::prelude::*;
    let robots: Vec<u64> = (0..extent(10, 100)).collect();
    let counts: Vec<[usize; 4]> = robots
        .par_iter()
        .map(|&seed| {
            let mut random = Random::new(2000 + seed);
            let obstacle_count = 2 + random.below(8);
            let robot = Robot::new(&mut random, 1.0, obstacle_count);
            let arena = robot.arena(&Engine::cpu());
            let courses = courses(&robot, &mut random, 10);
            let paths: Vec<JointPath<'_>> = courses.iter().map(Course::path_within).collect();
            let without: Vec<JointPath<'_>> = courses.iter().map(Course::path).collect();
            let plain = ask(&arena, &robot, &without);
            let mut counts = [0; 4];
            for (at, (row, course)) in ask(&arena, &robot, &paths).iter().zip(&courses).enumerate() {
                counts[row.outcome as usize] += 1;
                assert!(row.free_until <= plain[at].free_until + 1e-9, "{row:?} {:?}", plain[at]);
                let last = (course.samples.len() - 1) as f64;
                if let Some(time) = row.time {
                    // Only samples show a hit.
                    assert_eq!(time.fract(), 0.0);
                    let gap = robot.gap(row.pair.unwrap(), &course.samples[time as usize]);
                    assert!(gap < 1e-5 * robot.size, "robot {seed}, path {at}: {row:?} has a gap of {gap:e}");
                    counts[3] += usize::from(row.free_until < time);
                }
                let links_at = |time: f64| {
                    let step = (time as usize).min(course.samples.len() - 2);
                    let [from, to] = [step, step + 1].map(|at| &course.values[at]);
                    let share = time - step as f64;
                    let values: Vec<f64> = from.iter().zip(to).map(|(a, b)| a + (b - a) * share).collect();
                    robot.links(&values)
                };
                let speed = 2.0
                    * (robot.speed(&course.samples)
                        + course.deviations.iter().fold(0.0, |a: f64, b| a.max(8.0 * b)));
                for pair in robot.pairs() {
                    if row.free_until > 0.0
                        && let Err(what) =
                            robot.march(pair, row.free_until, 1e-4 * last, 0.7, speed, &links_at)
                    {
                        panic!("robot {seed}, path {at}: {what}\n{row:?}");
                    }
                }
            }
            counts
        })
        .collect();
    let [free, hit, undecided, later] =
        [0, 1, 2, 3].map(|k| counts.iter().map(|counts| counts[k]).sum::<usize>());
    println!("{free} free, {hit} hit, {undecided} undecided, {later} hit later than free");
    assert!(free > 0 && hit > 0 && undecided > 0 && later > 0);
}

/// The bound of the deviation holds, and is not far too large.
#[test]
fn deviations_of_joints_are_bounded() {
    let mut random = Random::new(seed(31));
    let (mut worst, mut broken) = (0.0_f64, 0);
    for _ in 0..extent(300, 3_000) {
        let robot = Robot::new(&mut random, 1.0, 0);
        let from = robot.configuration(&mut random, 3.0);
        let spread = random.log_between(1e-3, 0.8);
        let change = robot.configuration(&mut random, spread);
        let to: Vec<f64> = from.iter().zip(&change).map(|(a, b)| a + b).collect();
        let bounds = robot.deviations(&from, &to);
        let [first, last] = [&from, &to].map(|values| robot.links(values));
        for time in (1..20).map(|k| f64::from(k) / 20.0) {
            let values: Vec<f64> = from.iter().zip(&to).map(|(a, b)| a + (b - a) * time).collect();
            let truth = robot.links(&values);
            for (body, &link) in robot.bodies.iter().zip(&robot.owners) {
                let link = link as usize;
                let between = LinkFrame::between(&first[link], &last[link], time);
                let carried = robot.carried(body);
                for v in robot.hulls[body.hull as usize].vertices() {
                    let v = carried.pose.scale64() * DVec3::from(v.map(f64::from));
                    let point = carried.pose.position64() + carried.pose.rotation64() * v;
                    let at = |frame: &LinkFrame| frame.position + frame.rotation * point;
                    let off = at(&between).distance(at(&truth[link]));
                    assert!(off <= bounds[link] + 1e-14, "{off:e} {:e}", bounds[link]);
                    if bounds[link] > 1e-12 {
                        worst = worst.max(off / bounds[link]);
                        broken += usize::from(off > 0.1 * bounds[link]);
                    }
                }
            }
        }
    }
    // A tenth of the bound would not hold.
    println!("worst {worst}, {broken} above a tenth");
    assert!(worst > 0.3 && broken > 0, "{worst} {broken}");
}

/// Many samples a path: no sample of a free path touches, by the verdict of postures, and few paths are undecided.
fn check_sampled(path_count: usize) {
    let (mut open, mut free, mut checked) = (0, 0, 0);
    let mut random = Random::new(seed(5));
    while checked < path_count {
        let robot = Robot::new(&mut random, 1.0, 6);
        let arena = robot.arena(&Engine::cpu());
        let courses: Vec<Course> = (0..50.min(path_count - checked))
            .map(|_| {
                let from = robot.configuration(&mut random, 1.0);
                let to = robot.configuration(&mut random, 1.0);
                Course::new(&robot, &from, &to, 64)
            })
            .collect();
        checked += courses.len();
        let paths: Vec<JointPath<'_>> = courses.iter().map(Course::path_within).collect();
        for (row, course) in ask(&arena, &robot, &paths).iter().zip(&courses) {
            let found = arena.postures(robot.columns(), 64, &course.poses).unwrap().wait().unwrap();
            let first = found.rows.iter().position(|row| !row.is_free());
            match row.outcome {
                PathOutcome::Free => {
                    assert_eq!(first, None, "{row:?}");
                    free += 1;
                }
                PathOutcome::Hit => {
                    let (time, first) = (row.time.unwrap(), first.map_or(f64::INFINITY, |at| at as f64));
                    // Links that only slide do not deviate, so they are found hit between samples too.
                    assert!(
                        if time.fract() == 0.0 { time == first } else { time < first },
                        "{row:?} {first}"
                    );
                }
                PathOutcome::Undecided => {
                    assert_eq!(first, None, "{row:?}");
                    open += 1;
                }
            }
            assert!(first.is_none_or(|at| row.free_until <= at as f64), "{row:?}");
        }
    }
    println!("{checked} paths: {free} free, {open} undecided");
    assert!(free > checked / 20 && open < checked / 5, "{checked} {free} {open}");
}

#[test]
fn no_sample_of_a_free_path_touches() {
    check_sampled(extent(200, 2_000));
}

#[test]
#[ignore = "long: cargo xtask test --all"]
fn no_sample_of_thousands_of_free_paths_touches() {
    check_sampled(10_000);
}

/// Rows are the same bit for bit, on every engine and for every number of threads.
#[test]
fn engines_and_threads_agree_bit_for_bit() {
    let mut random = Random::new(6);
    let robot = Robot::new(&mut random, 1.0, 12);
    let courses = courses(&robot, &mut random, 60);
    let mut paths: Vec<JointPath<'_>> = courses.iter().map(Course::path).collect();
    paths.extend(courses.iter().map(Course::path_within));
    let poses: Vec<LinkPose> = courses.iter().flat_map(|course| course.poses.clone()).collect();
    let count = poses.len() / robot.joints.len();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let three = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let arena = robot.arena(&Engine::cpu());
    let rows = ask(&arena, &robot, &paths);
    let postures = arena.postures(robot.columns(), count, &poses).unwrap().wait().unwrap().rows;
    for pool in [&one, &three] {
        assert_eq!(pool.install(|| ask(&arena, &robot, &paths)), rows);
    }
    for (name, engine) in engines() {
        let arena = robot.arena(&engine);
        assert_eq!(ask(&arena, &robot, &paths), rows, "{name}");
        assert_eq!(
            arena.postures(robot.columns(), count, &poses).unwrap().wait().unwrap().rows,
            postures,
            "{name}"
        );
    }
    // One path at a time, and all at once.
    for (path, row) in paths.iter().zip(&rows).take(20) {
        let mut alone = ask(&arena, &robot, &[*path])[0];
        alone.path = row.path;
        assert_eq!(alone, *row);
    }
}

/// Postures are what queries with bodies at the same poses say.
#[test]
fn postures_are_those_of_intersections() {
    let mut random = Random::new(8);
    let (mut hit_count, mut free_count) = (0, 0);
    for _ in 0..extent(12, 100) {
        let mut robot = Robot::new(&mut random, 1.0, 10);
        // Each body is its own link and at its origin, so that poses of bodies need no arithmetic.
        for body in &mut robot.bodies {
            *body = body.at([0.0; 3]).rotated([0.0, 0.0, 0.0, 1.0]);
        }
        let arena = robot.arena(&Engine::cpu());
        let count = 40;
        let poses: Vec<LinkPose> = (0..count * robot.bodies.len())
            .map(|_| LinkPose {
                position: (random.direction() * random.between(0.0, 9.0)).as_vec3().to_array().map(f64::from),
                rotation: random.rotation().map(f64::from),
            })
            .collect();
        let found = arena.postures(&robot.bodies, count, &poses).unwrap().wait().unwrap();
        for (row, poses) in found.rows.iter().zip(poses.chunks(robot.bodies.len())) {
            let place = |(body, pose): (&Body, &LinkPose)| {
                body.at(pose.position.map(|x| x as f32)).rotated(pose.rotation.map(|x| x as f32))
            };
            let bodies: Vec<Body> = robot.bodies.iter().zip(poses).map(place).collect();
            let hits = arena.intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap();
            assert_eq!(row.pair, hits.rows.first().map(|hit| [hit.a, hit.b]));
            hit_count += usize::from(row.pair.is_some());
            free_count += usize::from(row.is_free());
        }
    }
    assert!(hit_count > 50 && free_count > 50, "{hit_count} {free_count}");
}

fn at(x: f64, y: f64, z: f64) -> LinkPose {
    LinkPose { position: [x, y, z], ..LinkPose::IDENTITY }
}

fn turned(axis: DVec3, angle: f64) -> LinkPose {
    LinkPose { position: [0.0; 3], rotation: DQuat::from_axis_angle(axis, angle).to_array() }
}

fn check(statics: Vec<Body>, links: BodyColumns<'_>, path: JointPath<'_>) -> PathCheck {
    let hulls = [Hull::cuboid([0.5; 3]).unwrap(), Hull::half_space(), Hull::cuboid([1.0, 0.1, 0.1]).unwrap()];
    let arena = Arena::new(&Engine::cpu(), &hulls, Options { statics, ..Default::default() }).unwrap();
    arena.joint_paths(links, &[path], &PathOptions::default()).unwrap().wait().unwrap().rows[0]
}

#[test]
fn times_of_impact_are_known() {
    let cube = [Body::new(0)];
    // A cube at 4 meets one that comes at a unit a step.
    let poses: Vec<LinkPose> = (0..6).map(|k| at(f64::from(k), 0.0, 0.0)).collect();
    let row = check(vec![Body::new(0).at([4.0, 0.2, 0.0])], (&cube).into(), JointPath::new(6, &poses));
    assert_eq!((row.outcome, row.pair), (PathOutcome::Hit, Some([0, 1])));
    assert!((row.time.unwrap() - 3.0).abs() < 1e-5 && Some(row.free_until) == row.time, "{row:?}");
    // An arm that turns about z until its lower side is on the floor: sin α − 0.1 (cos α − …) below, found by its corners.
    let arm = [Body::new(2).at([1.0, 0.0, 0.0])];
    let poses: Vec<LinkPose> = (0..4).map(|k| turned(DVec3::Z, -0.3 * f64::from(k))).collect();
    let row = check(vec![Body::new(1).at([0.0, -1.0, 0.0])], (&arm).into(), JointPath::new(4, &poses));
    // The corner (2, −0.1) is at −2 sin α − 0.1 cos α.
    let below = |time: f64| 2.0 * (0.3 * time).sin() + 0.1 * (0.3 * time).cos() - 1.0;
    assert_eq!(row.outcome, PathOutcome::Hit);
    assert!(below(row.time.unwrap()).abs() < 2e-5, "{row:?}");
    // Nothing is there.
    let row = check(vec![], (&arm).into(), JointPath::new(4, &poses));
    assert_eq!((row.outcome, row.free_until, row.time, row.pair), (PathOutcome::Free, 3.0, None, None));
}

#[test]
fn a_path_that_starts_in_contact_is_hit_at_once() {
    let cube = [Body::new(0)];
    for (x, outcome) in [(1.0, PathOutcome::Hit), (0.5, PathOutcome::Hit), (1.001, PathOutcome::Free)] {
        // It leaves at once, which does not matter.
        let poses = [at(0.0, 0.0, 0.0), at(-1.0, 0.0, 0.0)];
        let statics = vec![Body::new(0).at([x, 0.0, 0.0])];
        let path = JointPath::new(2, &poses);
        let row = check(statics.clone(), (&cube).into(), path);
        assert_eq!(row.outcome, outcome, "{x}");
        if outcome == PathOutcome::Hit {
            assert_eq!((row.free_until, row.time, row.pair), (0.0, Some(0.0), Some([0, 1])));
            // With deviations too: samples have none.
            let row = check(statics.clone(), (&cube).into(), path.within(&[0.1]));
            assert_eq!((row.outcome, row.time), (PathOutcome::Hit, Some(0.0)));
        }
        // What it holds is excluded.
        let held = Exclusions::new(&[[0, 1]]).unwrap();
        let links = BodyColumns { exclusions: Some(&held), ..BodyColumns::new(&cube) };
        assert_eq!(check(statics, links, path).outcome, PathOutcome::Free);
    }
}

#[test]
fn links_owners_groups_and_exclusions_say_which_pairs_meet() {
    // Two cubes fly into one another.
    let bodies = [Body::new(0), Body::new(0)];
    let poses = [at(0.0, 0.0, 0.0), at(3.0, 0.0, 0.0), at(2.0, 0.0, 0.0), at(1.0, 0.0, 0.0)];
    let path = JointPath::new(2, &poses);
    let links = BodyColumns::new(&bodies);
    let row = check(vec![], links, path);
    assert_eq!((row.outcome, row.pair), (PathOutcome::Hit, Some([0, 1])));
    assert!((row.time.unwrap() - 0.5).abs() < 1e-5, "{row:?}");
    let neighbours = Exclusions::new(&[[0, 1]]).unwrap();
    let free = BodyColumns { exclusions: Some(&neighbours), ..links };
    assert_eq!(check(vec![], free, path).outcome, PathOutcome::Free);
    let grouped = bodies.map(|body| body.grouped(1, 2));
    assert_eq!(check(vec![], (&grouped).into(), path).outcome, PathOutcome::Free);
    // Two bodies of one link overlap, and never meet. A static counts on after the links.
    let owners = [0, 0];
    let one = BodyColumns { owners: &owners, ..links };
    let statics = vec![Body::new(0).at([9.0, 0.0, 0.0]), Body::new(0).at([2.5, 0.0, 0.0])];
    let poses = [at(0.0, 0.0, 0.0), at(4.0, 0.0, 0.0)];
    let path = JointPath::new(2, &poses);
    let row = check(statics.clone(), one, path);
    assert_eq!((row.outcome, row.pair), (PathOutcome::Hit, Some([0, 3])));
    let [other, this] = [[0, 1], [0, 2]].map(|pair| Exclusions::new(&[pair]).unwrap());
    assert_eq!(check(statics.clone(), BodyColumns { exclusions: Some(&other), ..one }, path), row);
    let free = BodyColumns { exclusions: Some(&this), ..one };
    assert_eq!(check(statics.clone(), free, path).outcome, PathOutcome::Free);
    // A position in f64 in place of the body's.
    let positions = [[0.0, 5.0, 0.0]; 2];
    let aside = BodyColumns { positions: &positions, ..one };
    assert_eq!(check(statics, aside, path).outcome, PathOutcome::Free);
}

#[test]
fn deviations_leave_open_what_they_may_hide() {
    let cube = [Body::new(0)];
    let statics = vec![Body::new(0).at([2.0, 1.01, 0.0])];
    // Past a cube, 0.01 away.
    let poses: Vec<LinkPose> = (0..5).map(|k| at(f64::from(k), 0.0, 0.0)).collect();
    let path = JointPath::new(5, &poses);
    let ask = |deviation: f64| check(statics.clone(), (&cube).into(), path.within(&[deviation; 4]));
    assert_eq!(ask(0.0099).outcome, PathOutcome::Free);
    let row = ask(0.02);
    assert_eq!((row.outcome, row.time, row.pair), (PathOutcome::Undecided, None, Some([0, 1])));
    assert!((row.free_until - 1.0).abs() < 0.03, "{row:?}");
    // Later it is certainly hit at a sample.
    let mut blocked = statics.clone();
    blocked.push(Body::new(0).at([4.3, -0.5, 0.0]));
    let row = check(blocked, (&cube).into(), path.within(&[0.02; 4]));
    assert_eq!((row.outcome, row.time, row.pair), (PathOutcome::Hit, Some(4.0), Some([0, 2])));
    assert!((row.free_until - 1.0).abs() < 0.03, "{row:?}");
    // Only the first step deviates, so the hit is found within a later one.
    let poses: Vec<LinkPose> = (0..5).map(|k| at(0.7 * f64::from(k), 0.0, 0.0)).collect();
    let path = JointPath::new(5, &poses).within(&[0.02, 0.0, 0.0, 0.0]);
    let row = check(vec![Body::new(0).at([2.5, 0.0, 0.0])], (&cube).into(), path);
    assert_eq!(row.outcome, PathOutcome::Hit);
    assert!((row.time.unwrap() - 1.5 / 0.7).abs() < 1e-4, "{row:?}");
    assert_eq!(joint_deviation(&[JointStep::Prismatic { length: 3.0 }], 1.0), 0.0);
}

/// Nearly touching surfaces that slide along one another take many steps; a limit leaves them open.
#[test]
fn a_limit_of_steps_leaves_a_path_open() {
    let hulls = [Hull::cuboid([0.5; 3]).unwrap(), Hull::ball(0.5).unwrap()];
    let statics = vec![Body::new(1).at([1.21, 0.0, 0.0])];
    let arena = Arena::new(&Engine::cpu(), &hulls, Options { statics, ..Default::default() }).unwrap();
    let poses = [turned(DVec3::Z, 0.0), turned(DVec3::Z, 1.5)];
    let ask = |step_limit| {
        let path = [JointPath::new(2, &poses)];
        arena.joint_paths(&[Body::new(0)], &path, &PathOptions { step_limit }).unwrap().wait().unwrap().rows
            [0]
    };
    let (short, long) = (ask(1), ask(1000));
    assert_eq!(short.outcome, PathOutcome::Undecided);
    assert!(short.free_until < 1.0 && short.pair == Some([0, 1]), "{short:?}");
    assert_eq!(long.outcome, PathOutcome::Free);
}

#[test]
fn robots_and_paths_of_nothing_are_free() {
    let arena = Arena::new(&Engine::cpu(), &[Hull::ball(1.0).unwrap()], Options::default()).unwrap();
    let options = PathOptions::default();
    let none: &[Body] = &[];
    assert!(arena.joint_paths(none, &[], &options).unwrap().wait().unwrap().rows.is_empty());
    let rows = arena.joint_paths(none, &[JointPath::new(3, &[])], &options).unwrap().wait().unwrap().rows;
    assert_eq!((rows[0].outcome, rows[0].free_until), (PathOutcome::Free, 2.0));
    assert_eq!(arena.postures(none, 2, &[]).unwrap().wait().unwrap().rows.len(), 2);
    assert!(arena.postures(&[Body::new(0)], 0, &[]).unwrap().wait().unwrap().rows.is_empty());
    // A link without bodies has poses.
    let owners = [2];
    let bodies = [Body::new(0)];
    let links = BodyColumns { owners: &owners, ..BodyColumns::new(&bodies) };
    let poses = [LinkPose::IDENTITY; 6];
    let rows = arena.joint_paths(links, &[JointPath::new(2, &poses)], &options).unwrap().wait().unwrap().rows;
    assert_eq!(rows[0].outcome, PathOutcome::Free);
}

#[test]
fn far_from_the_origin_and_of_every_size_the_answer_is_the_same() {
    for size in [1e-5_f64, 1.0, 1e5] {
        for far in [0.0, 1e6] {
            let hulls = [Hull::cuboid([0.5 * size as f32; 3]).unwrap()];
            let origin = far * size;
            let statics = vec![Body::new(0).at([(origin + 2.0 * size) as f32, 0.0, 0.0])];
            // The static's place as stored.
            let there = f64::from(statics[0].position[0]);
            let arena =
                Arena::new(&Engine::cpu(), &hulls, Options { statics, ..Default::default() }).unwrap();
            let poses = [at(origin, 0.0, 0.0), at(origin + 2.0 * size, 0.0, 0.0)];
            let path = [JointPath::new(2, &poses)];
            let row = arena
                .joint_paths(&[Body::new(0)], &path, &PathOptions::default())
                .unwrap()
                .wait()
                .unwrap()
                .rows[0];
            assert_eq!(row.outcome, PathOutcome::Hit, "{size} {far}");
            let due = (there - size - origin) / (2.0 * size);
            assert!((row.time.unwrap() - due).abs() < 1e-5, "{size} {far}: {row:?} {due}");
        }
    }
}

/// Statics in f64, and a robot among them: as at the origin, bit for bit where the point amid the statics moves by as much as they do.
#[test]
fn far_statics_in_f64_are_met_as_at_the_origin() {
    let grid = |position: [f64; 3]| position.map(|x| (x * 1_048_576.0).round() / 1_048_576.0);
    let mut random = Random::new(931);
    let mut counts = [0; 3];
    for _ in 0..extent(6, 40) {
        let mut robot = Robot::new(&mut random, 1.0, 8);
        let positions: Vec<[f64; 3]> =
            robot.statics.iter().map(|body| grid(body.position.map(f64::from))).collect();
        for (body, position) in robot.statics.iter_mut().zip(&positions) {
            body.position = position.map(|x| x as f32);
            assert_eq!(body.position.map(f64::from), *position);
        }
        let courses = courses(&robot, &mut random, 20);
        let links = courses[0].path().poses.len() / courses[0].path().sample_count;
        let poses: Vec<Vec<LinkPose>> = (courses.iter())
            .map(|course| {
                let place = |pose: &LinkPose| LinkPose { position: grid(pose.position), ..*pose };
                course.path().poses.iter().map(place).collect()
            })
            .collect();
        for (_, engine) in engines() {
            let run = |statics: Vec<Body>, shift: Option<[f64; 3]>| {
                let by = shift.unwrap_or_default();
                let shifted = |position: [f64; 3]| [0, 1, 2].map(|k| position[k] + by[k]);
                let static_positions = match shift {
                    Some(_) => positions.iter().map(|&position| shifted(position)).collect(),
                    None => Vec::new(),
                };
                let options = Options { statics, static_positions, ..Options::default() };
                let arena = Arena::new(&engine, &robot.hulls, options).unwrap();
                let place = |pose: &LinkPose| LinkPose { position: shifted(pose.position), ..*pose };
                let moved: Vec<Vec<LinkPose>> =
                    poses.iter().map(|poses| poses.iter().map(place).collect()).collect();
                let paths: Vec<JointPath<'_>> =
                    moved.iter().map(|poses| JointPath::new(poses.len() / links, poses)).collect();
                let all = moved.concat();
                let postures = arena.postures(robot.columns(), all.len() / links, &all);
                (ask(&arena, &robot, &paths), postures.unwrap().wait().unwrap().rows)
            };
            let nowhere: Vec<Body> = robot.statics.iter().map(|body| body.at([f32::NAN; 3])).collect();
            let plain = run(robot.statics.clone(), None);
            let here = run(nowhere.clone(), Some([0.0; 3]));
            for shift in [[1024.0 * 9_765.0, 0.0, 0.0], [-1024.0 * 9_765.0, 1024.0, 1024.0 * 9_764.0]] {
                assert_eq!(run(nowhere.clone(), Some(shift)), here);
            }
            for found in [&run(nowhere, Some([9_999_999.0, -17.0, 3.0])), &here] {
                for (one, other) in found.0.iter().zip(&plain.0) {
                    assert_eq!((one.outcome, one.pair), (other.outcome, other.pair));
                    assert!((one.free_until - other.free_until).abs() <= 1e-6, "{one:?} {other:?}");
                }
                assert_eq!(found.1, plain.1);
            }
            plain.0.iter().for_each(|row| counts[row.outcome as usize] += 1);
        }
    }
    assert!(counts[0] > 20 && counts[1] > 20, "{counts:?}");
}

#[test]
fn bad_input_is_an_error_that_names_path_sample_and_link() {
    let hulls = [Hull::ball(1.0).unwrap(), Hull::half_space()];
    let statics = vec![Body::new(0).at([9.0; 3])];
    let arena = Arena::new(&Engine::cpu(), &hulls, Options { statics, ..Default::default() }).unwrap();
    let links = [Body::new(0), Body::new(0)];
    let good = [LinkPose::IDENTITY; 4];
    let ask = |paths: &[JointPath<'_>]| {
        arena.joint_paths(&links, paths, &PathOptions::default()).map(drop).unwrap_err()
    };
    let one = JointPath::new(2, &good);
    for count in [0, 1] {
        let error = ask(&[one, JointPath::new(count, &good[..2 * count])]);
        assert!(
            matches!(error, Error::Value { at: Location::JointPath(1), field: "sample_count", .. }),
            "{error}"
        );
    }
    for wrong in [JointPath::new(2, &good[..3]), JointPath::new(3, &good), JointPath::new(usize::MAX, &good)]
    {
        let error = ask(&[one, one, wrong]);
        assert!(matches!(error, Error::Count { at: Location::JointPath(2), what: "poses", .. }), "{error}");
    }
    let error = ask(&[one.within(&[0.0])]);
    assert!(matches!(error, Error::Count { at: Location::JointPath(0), what: "deviations", .. }), "{error}");
    for bad in [f64::NAN, -1e-9, f64::INFINITY] {
        let error = ask(&[one.within(&[0.0, bad])]);
        let at = Location::PathSample { path: 0, sample: 0, link: 1 };
        assert!(
            matches!(error, Error::Value { at: found, field: "deviation", .. } if found == at),
            "{error}"
        );
    }
    let at = Location::PathSample { path: 1, sample: 1, link: 0 };
    let mut poses = good;
    for bad in [f64::NAN, f64::INFINITY, 1e19] {
        poses[2].position[1] = bad;
        let error = ask(&[one, JointPath::new(2, &poses)]);
        assert!(matches!(error, Error::Value { at: found, field: "position", .. } if found == at), "{error}");
    }
    poses = good;
    for bad in [[0.0; 4], [0.0, 0.0, 0.0, 1.1], [f64::NAN, 0.0, 0.0, 1.0]] {
        poses[2].rotation = bad;
        let error = ask(&[one, JointPath::new(2, &poses)]);
        assert!(matches!(error, Error::Value { at: found, field: "rotation", .. } if found == at), "{error}");
        assert!(error.to_string().starts_with("path 1, sample 1, link 0: rotation is"), "{error}");
    }
    // Half a turn has no shorter way around; a little less has.
    poses[2].rotation = turned(DVec3::X, std::f64::consts::PI).rotation;
    let error = ask(&[JointPath::new(2, &poses)]);
    let at = Location::PathSample { path: 0, sample: 0, link: 0 };
    assert!(matches!(error, Error::Invalid { at: found, .. } if found == at), "{error}");
    poses[2].rotation = turned(DVec3::X, std::f64::consts::PI - 1e-5).rotation;
    let path = [JointPath::new(2, &poses)];
    arena.joint_paths(&links, &path, &PathOptions::default()).unwrap().wait().unwrap();
    let error = arena.joint_paths(&links, &[one], &PathOptions { step_limit: 0 }).map(drop).unwrap_err();
    assert!(matches!(error, Error::Value { field: "step_limit", .. }), "{error}");

    let unknown = Exclusions::new(&[[0, 1], [1, 3]]).unwrap();
    let columns = BodyColumns { exclusions: Some(&unknown), ..BodyColumns::new(&links) };
    let ask = |columns: BodyColumns<'_>| arena.postures(columns, 2, &good).map(drop).unwrap_err();
    let error = ask(columns);
    assert!(matches!(error, Error::Missing { at: Location::Pair(1), index: 3, count: 3, .. }), "{error}");
    let ground = [Body::new(0), Body::new(1)];
    assert!(matches!(ask((&ground).into()), Error::Invalid { at: Location::Body(1), .. }));
    let missing = [Body::new(0), Body::new(2)];
    assert!(matches!(ask((&missing).into()), Error::Missing { at: Location::Body(1), .. }));
    let worlds = [0, 0];
    assert!(matches!(
        ask(BodyColumns { worlds: &worlds, ..BodyColumns::new(&links) }),
        Error::Invalid { .. }
    ));
    let owners = [0];
    assert!(matches!(ask(BodyColumns { owners: &owners, ..BodyColumns::new(&links) }), Error::Count { .. }));
    // An owner that is far too great asks for as many poses.
    let owners = [0, u32::MAX];
    assert!(matches!(ask(BodyColumns { owners: &owners, ..BodyColumns::new(&links) }), Error::Count { .. }));
    let positions = [[0.0; 3], [f64::NAN; 3]];
    let columns = BodyColumns { positions: &positions, ..BodyColumns::new(&links) };
    assert!(matches!(ask(columns), Error::Value { at: Location::Body(1), field: "position", .. }));
    let error = arena.postures(&links, 3, &good).map(drop).unwrap_err();
    assert!(matches!(error, Error::Count { at: Location::Argument, what: "poses", .. }), "{error}");
    let mut poses = good;
    poses[3].position[0] = f64::NAN;
    let error = arena.postures(&links, 2, &poses).map(drop).unwrap_err();
    let at = Location::Posture { posture: 1, link: 1 };
    assert!(matches!(error, Error::Value { at: found, .. } if found == at), "{error}");
}

/// The walk took a step for each sample, though there was nothing to move: 2⁶⁰ of them do not end.
#[test]
fn a_robot_without_links_is_free_at_once() {
    let statics = vec![Body::new(0)];
    let options = Options { statics, ..Options::default() };
    let arena = Arena::new(&Engine::cpu(), &[Hull::ball(1.0).unwrap()], options).unwrap();
    for sample_count in [2, 1 << 60, usize::MAX] {
        let paths = [JointPath::new(sample_count, &[])];
        let rows = arena.joint_paths(&[], &paths, &PathOptions::default()).unwrap().wait().unwrap().rows;
        let free_until = (sample_count - 1) as f64;
        assert_eq!((rows[0].outcome, rows[0].free_until), (PathOutcome::Free, free_until));
    }
}
