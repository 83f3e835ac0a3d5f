//! Half-spaces against balls and boxes on all engines: which pairs a margin lists, and their rows. The truth is
//! computed here in f64: the height of a ball's centre, or of a box's nearest corner, above the plane.

use std::collections::BTreeMap;

use crate::common;
use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, ContactOptions, DistanceOptions, Hull, ManifoldOptions, Motion, Options, Pairs, Precision,
    Status, SweepOptions, SweepOutcome,
};
#[cfg(feature = "gpu")]
use hullfield::collide::{Capacity, DeviceBodies, DeviceCounts, DevicePairs, DeviceRows, MeasuredRow};
use hullfield_oracle::{extent, pick};

type Vec3 = [f64; 3];

/// Hulls of the arenas below.
const GROUND: u32 = 0;
const BALL: u32 = 1;
const BOX: u32 = 2;
const ROUNDED: u32 = 3;
/// Radius of the ball, half the sides of the boxes, rounding of the last one.
const RADIUS: f32 = 0.5;
const HALF: [f32; 3] = [0.5, 0.25, 0.75];
const ROUNDING: f32 = 0.125;

fn hulls() -> Vec<Hull> {
    vec![
        Hull::half_space(),
        Hull::ball(RADIUS).unwrap(),
        Hull::cuboid(HALF).unwrap(),
        Hull::cuboid(HALF).unwrap().rounded(ROUNDING).unwrap(),
    ]
}

fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn minus(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// The columns of a stored rotation's matrix.
fn axes(rotation: [f32; 4]) -> [Vec3; 3] {
    let [x, y, z, w] = rotation.map(f64::from);
    let s = 2.0 / (x * x + y * y + z * z + w * w);
    [
        [1.0 - s * (y * y + z * z), s * (x * y + w * z), s * (x * z - w * y)],
        [s * (x * y - w * z), 1.0 - s * (x * x + z * z), s * (y * z + w * x)],
        [s * (x * z + w * y), s * (y * z - w * x), 1.0 - s * (x * x + y * y)],
    ]
}

/// Extent of the body from its origin against the ground's normal.
fn reach(body: &Body, up: Vec3) -> f64 {
    let scale = body.scale.map(f64::from);
    let least = scale[0].min(scale[1]).min(scale[2]);
    let corner = || {
        let axes = axes(body.rotation);
        (0..3).map(|k| (dot(axes[k], up) * scale[k] * f64::from(HALF[k])).abs()).sum::<f64>()
    };
    let own = match body.hull {
        BALL => f64::from(RADIUS) * least,
        BOX => corner(),
        _ => corner() + f64::from(ROUNDING) * least,
    };
    own + f64::from(body.padding)
}

/// The signed gap, and the tolerance of the pair: R and S are both the body's radius.
fn truth(ground: &Body, body: &Body) -> (f64, f64) {
    let up = axes(ground.rotation)[1];
    let apart = minus(body.position.map(f64::from), ground.position.map(f64::from));
    let gap = dot(up, apart) - reach(body, up) - f64::from(ground.padding);
    let scale = body.scale.map(f64::from);
    let most = scale[0].max(scale[1]).max(scale[2]);
    let core = HALF.map(|half| f64::from(half) * most);
    let radius = match body.hull {
        BALL => f64::from(RADIUS) * most,
        _ => dot(core, core).sqrt() + f64::from(ROUNDING) * most,
    } + f64::from(body.padding);
    (gap, (1e-5 * radius).max(4e-6 * (radius + gap.max(0.0))))
}

/// Position of the ground among the bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    First,
    Between,
    Last,
}

/// A ground, and the heights of its bodies.
#[derive(Debug, Clone, Copy)]
struct Slope {
    name: &'static str,
    rotation: [f32; 4],
    position: [f32; 3],
    /// World units between the bodies.
    step: f32,
}

const SLOPES: [Slope; 4] = [
    Slope { name: "level", rotation: [0.0, 0.0, 0.0, 1.0], position: [0.0; 3], step: 4.0 },
    Slope { name: "level, far off", rotation: [0.0, 0.6, 0.0, 0.8], position: [3e4, -20.0, 1e4], step: 4.0 },
    Slope { name: "tilted", rotation: [0.3, 0.1, -0.2, 0.927_361_85], position: [1.0, -2.0, 3.0], step: 4.0 },
    // Here the error of a height in f32 is much greater than a body's tolerance.
    Slope {
        name: "tilted, far along",
        rotation: [0.3, 0.1, -0.2, 0.927_361_85],
        position: [2.0, 0.5, 1.0],
        step: 3e4,
    },
];

/// Some are closer to a margin than the error of an f32 height far along a tilted ground.
const GAPS: [f64; 18] = [
    -40.0, -0.3, -1e-3, -1e-4, 0.0, 1e-4, 1e-3, 0.05, 0.15, 0.9, 0.999, 0.9998, 1.0002, 1.001, 1.1, 4.5,
    60.0, 2e3,
];

/// A ground, and bodies of all shapes at all gaps from it.
fn bodies(slope: &Slope, place: Place) -> Vec<Body> {
    let ground = Body::new(GROUND).rotated(slope.rotation).at(slope.position);
    let [right, up, ahead] = axes(slope.rotation);
    let mut crowd = Vec::new();
    for hull in [BALL, BOX, ROUNDED] {
        for (k, &gap) in GAPS.iter().enumerate() {
            let turned = [0.1 * k as f32, 0.2, -0.3, 0.8];
            let length = turned.iter().map(|x| x * x).sum::<f32>().sqrt();
            let mut body = Body::new(hull).rotated(turned.map(|x| x / length));
            body.scale = if hull == BOX { [1.0, 2.0, 0.5] } else { [1.5; 3] };
            if k % 3 == 0 {
                body.padding = 0.0625;
            }
            let height = gap + reach(&body, up);
            let (x, z) = ((k as f64 - 6.0) * f64::from(slope.step), f64::from(hull) * f64::from(slope.step));
            let at = |axis: usize| {
                f64::from(slope.position[axis]) + right[axis] * x + up[axis] * height + ahead[axis] * z
            };
            body.position = [at(0) as f32, at(1) as f32, at(2) as f32];
            crowd.push(body);
        }
    }
    let at = match place {
        Place::First => 0,
        Place::Between => crowd.len() / 2,
        Place::Last => crowd.len(),
    };
    crowd.insert(at, ground);
    crowd
}

/// A query's answer for a pair: the gap, if the query measures it, and the verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PairAnswer {
    gap: Option<f64>,
    status: Option<Status>,
}

type Rows = BTreeMap<(u32, u32), PairAnswer>;

/// Compares the listed pairs of the ground with the truth.
fn judge(what: &str, bodies: &[Body], margin: f64, rows: &Rows) {
    let ground = bodies.iter().position(|body| body.hull == GROUND).unwrap();
    let mut listed = 0;
    for (other, body) in bodies.iter().enumerate().filter(|&(other, _)| other != ground) {
        let (gap, tau) = truth(&bodies[ground], body);
        let answer = rows.get(&(ground.min(other) as u32, ground.max(other) as u32));
        let must = gap <= 0.1 * tau || gap <= margin - tau;
        let may = gap <= margin.max(0.0) + tau;
        let fails = |how: &str| -> ! {
            panic!("{what}, margin {margin}, body {other} {gap:e} above ({tau:e}): {how}, {answer:?}")
        };
        let Some(answer) = answer else {
            if must {
                fails("not listed");
            }
            continue;
        };
        if !may {
            fails("listed");
        }
        listed += 1;
        if answer.gap.is_some_and(|found| (found - gap).abs() > tau) {
            fails("another gap");
        }
        let is_right = match answer.status {
            Some(Status::Separated) => gap > 0.1 * tau,
            Some(Status::Penetrating) => gap < -0.1 * tau,
            Some(Status::Touching) => gap.abs() <= tau,
            None => true,
        };
        if !is_right {
            fails("another status");
        }
    }
    assert!(listed > 0, "{what}: nothing listed");
}

/// Pairs outside a margin's tolerance band must have the same status in both lists.
fn agree(what: &str, bodies: &[Body], margin: f64, one: &Rows, other: &Rows) {
    let is_ground = |row: u32| bodies[row as usize].hull == GROUND;
    for &(a, b) in one.keys().chain(other.keys()) {
        let (ground, body) = if is_ground(a) { (a, b) } else { (b, a) };
        if is_ground(ground) {
            let (gap, tau) = truth(&bodies[ground as usize], &bodies[body as usize]);
            if (gap - margin).abs() <= tau || gap.abs() <= tau {
                continue;
            }
        }
        let statuses =
            [one.get(&(a, b)), other.get(&(a, b))].map(|answer| answer.map(|answer| answer.status));
        assert_eq!(statuses[0], statuses[1], "{what}, margin {margin}: bodies {a} and {b}");
    }
}

fn answer(gap: Option<f64>, status: Status) -> PairAnswer {
    PairAnswer { gap, status: Some(status) }
}

/// All queries that list pairs, by name.
fn asked(arena: &Arena, bodies: &[Body], pairs: Pairs<'_>, margin: f32) -> Vec<(&'static str, Rows)> {
    let distances = arena.distances(bodies, pairs, &DistanceOptions { margin }).unwrap().wait().unwrap();
    let contacts = arena.contacts(bodies, pairs, &ContactOptions { margin }).unwrap().wait().unwrap();
    let manifolds = arena.manifolds(bodies, pairs, &ManifoldOptions { margin }).unwrap().wait().unwrap();
    let mut all = vec![
        (
            "distances",
            distances
                .rows
                .iter()
                .map(|row| {
                    let gap = (row.status == Status::Separated).then_some(row.separation);
                    ((row.a, row.b), answer(gap, row.status))
                })
                .collect(),
        ),
        (
            "contacts",
            contacts
                .rows
                .iter()
                .map(|row| ((row.a, row.b), answer(Some(-row.depth()), row.status)))
                .collect(),
        ),
        (
            "manifolds",
            manifolds
                .rows
                .iter()
                .map(|row| ((row.a, row.b), answer(Some(-row.depth()), row.status)))
                .collect(),
        ),
    ];
    if margin == 0.0 {
        let hits = arena.intersections(bodies, pairs).unwrap().wait().unwrap();
        all.push((
            "intersections",
            hits.rows.iter().map(|row| ((row.a, row.b), answer(None, row.status))).collect(),
        ));
    }
    all
}

const MARGINS: [f32; 6] = [0.0, 0.1, 1.0, 50.0, 1e4, f32::INFINITY];

/// Both engines, and variants that take other code paths.
fn arenas() -> Vec<(&'static str, Arena)> {
    let cpu = Arena::new(&Engine::cpu(), &hulls(), Options::default()).unwrap();
    let mut all = vec![
        (
            "CPU, exact",
            cpu.with_options(Options { precision: Precision::Exact, ..cpu.options().clone() }).unwrap(),
        ),
        ("CPU, warm", cpu.with_options(Options { warm_start: true, ..cpu.options().clone() }).unwrap()),
        ("CPU", cpu),
    ];
    if let Some(gpu) = common::gpu() {
        let gpu = Arena::new(&gpu, &hulls(), Options::default()).unwrap();
        all.push((
            "GPU, warm",
            gpu.with_options(Options { warm_start: true, ..gpu.options().clone() }).unwrap(),
        ));
        all.push(("GPU", gpu));
    }
    all
}

/// The GPU engine listed a ball whose lowest point is 4.5 above the ground, if the ground was the first body.
#[test]
fn a_ball_above_the_ground_is_not_listed_beyond_the_margin() {
    for (engine, arena) in arenas() {
        let bodies = [Body::new(GROUND), Body::new(BALL).at([0.0, 5.0, 0.0])];
        for pairs in [Pairs::BroadPhase, Pairs::Exhaustive] {
            let distances =
                arena.distances(&bodies, pairs, &DistanceOptions { margin: 0.1 }).unwrap().wait().unwrap();
            assert_eq!(distances.rows.len(), 0, "{engine}, {pairs:?}: {:?}", distances.rows);
            let contacts =
                arena.contacts(&bodies, pairs, &ContactOptions { margin: 0.0 }).unwrap().wait().unwrap();
            assert_eq!(contacts.rows.len(), 0, "{engine}, {pairs:?}: {:?}", contacts.rows);
            let manifolds =
                arena.manifolds(&bodies, pairs, &ManifoldOptions { margin: 4.25 }).unwrap().wait().unwrap();
            assert_eq!(manifolds.rows.len(), 0, "{engine}, {pairs:?}: {:?}", manifolds.rows);
            let distances =
                arena.distances(&bodies, pairs, &DistanceOptions { margin: 4.75 }).unwrap().wait().unwrap();
            assert_eq!(distances.rows.len(), 1, "{engine}, {pairs:?}");
            assert!((distances.rows[0].separation - 4.5).abs() < 1e-5);
        }
    }
}

#[test]
fn what_a_margin_lists_of_a_half_space_is_what_is_that_near() {
    let arenas = arenas();
    // A software GPU takes a minute for all cases. It tests one margin for each slope and place, and each margin at two of these.
    let first_margin = pick(1, &[0, 1, 2, 3, 4, 5], 1)[0];
    let mut case = first_margin;
    for slope in &SLOPES {
        for place in [Place::First, Place::Between, Place::Last] {
            let bodies = bodies(slope, place);
            case += 1;
            for (at, margin) in MARGINS.into_iter().enumerate() {
                let is_chosen = at == case % MARGINS.len();
                if !extent(is_chosen, true) {
                    continue;
                }
                for pairs in [Pairs::BroadPhase, Pairs::Exhaustive] {
                    let mut others: Option<Vec<(&'static str, Rows)>> = None;
                    for (engine, arena) in
                        arenas.iter().filter(|(engine, _)| is_chosen || engine.starts_with("CPU"))
                    {
                        // The cache is used from the second query on. The GPU engine has none.
                        let times = if *engine == "CPU, warm" { 3 } else { 1 };
                        for time in 0..times {
                            let found = asked(arena, &bodies, pairs, margin);
                            for (at, (query, rows)) in found.iter().enumerate() {
                                let what =
                                    format!("{engine} {time}, {query}, {}, {place:?}, {pairs:?}", slope.name);
                                judge(&what, &bodies, margin.into(), rows);
                                if let Some(others) = &others {
                                    agree(&what, &bodies, margin.into(), rows, &others[at].1);
                                }
                            }
                            others = Some(found);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn given_pairs_of_a_half_space_are_true_in_both_orders() {
    let arenas = arenas();
    for slope in &SLOPES {
        for place in [Place::First, Place::Last] {
            let bodies = bodies(slope, place);
            let ground = bodies.iter().position(|body| body.hull == GROUND).unwrap() as u32;
            let others = (0..bodies.len() as u32).filter(|&row| row != ground);
            let given: Vec<[u32; 2]> = others.flat_map(|row| [[row, ground], [ground, row]]).collect();
            for (engine, arena) in &arenas {
                let what = format!("{engine}, {}, {place:?}", slope.name);
                // Given pairs have a row whatever the margin.
                let hits = arena.intersections(&bodies, Pairs::Given(&given)).unwrap().wait().unwrap();
                let distances = arena
                    .distances(&bodies, Pairs::Given(&given), &DistanceOptions { margin: 0.0 })
                    .unwrap()
                    .wait()
                    .unwrap();
                let contacts = arena
                    .contacts(&bodies, Pairs::Given(&given), &ContactOptions { margin: 0.1 })
                    .unwrap()
                    .wait()
                    .unwrap();
                let manifolds = arena
                    .manifolds(&bodies, Pairs::Given(&given), &ManifoldOptions { margin: 9.0 })
                    .unwrap()
                    .wait()
                    .unwrap();
                assert_eq!(
                    [hits.rows.len(), distances.rows.len(), contacts.rows.len(), manifolds.rows.len()],
                    [given.len(); 4],
                    "{what}"
                );
                for (at, &[a, b]) in given.iter().enumerate() {
                    let body = &bodies[if a == ground { b } else { a } as usize];
                    let (gap, tau) = truth(&bodies[ground as usize], body);
                    let up = axes(bodies[ground as usize].rotation)[1];
                    let sign = if a == ground { 1.0 } else { -1.0 };
                    let contact = &contacts.rows[at];
                    let what = format!("{what}, pair {a} {b}, {gap:e} above ({tau:e}): {contact:?}");
                    for (status, row) in [
                        (hits.rows[at].status, [hits.rows[at].a, hits.rows[at].b]),
                        (distances.rows[at].status, [distances.rows[at].a, distances.rows[at].b]),
                        (contact.status, [contact.a, contact.b]),
                        (manifolds.rows[at].status, [manifolds.rows[at].a, manifolds.rows[at].b]),
                    ] {
                        assert_eq!(row, [a, b], "{what}");
                        assert!(status != Status::Separated || gap > 0.1 * tau, "{what}");
                        assert!(status != Status::Penetrating || gap < -0.1 * tau, "{what}");
                        assert!(status != Status::Touching || gap.abs() <= tau, "{what}");
                    }
                    assert!((-contact.depth() - gap).abs() <= tau, "{what}");
                    assert!((-manifolds.rows[at].depth() - gap).abs() <= tau, "{what}");
                    assert!((distances.rows[at].separation - gap.max(0.0)).abs() <= tau, "{what}");
                    let normal = contact.normal;
                    assert!(dot(normal, up) * sign > 1.0 - 1e-6, "{what}");
                    // Each point is on its own body.
                    let origin = bodies[ground as usize].position.map(f64::from);
                    let heights = contact.points.map(|point| dot(up, minus(point, origin)));
                    let (own, its) =
                        if a == ground { (heights[0], heights[1]) } else { (heights[1], heights[0]) };
                    assert!(own.abs() <= tau && (its - gap).abs() <= tau, "{what}: {heights:?}");
                }
            }
        }
    }
}

/// Among statics a half-space has the higher id; among bodies that meet statics the lower.
#[test]
fn the_margin_holds_for_half_spaces_among_statics_and_against_statics() {
    let arenas = arenas();
    for slope in [&SLOPES[0], &SLOPES[2]] {
        let all = bodies(slope, Place::First);
        let (ground, crowd) = (all[..1].to_vec(), all[1..].to_vec());
        for (moving, still) in [(&ground, &crowd), (&crowd, &ground)] {
            let both = [&moving[..], &still[..]].concat();
            for (engine, arena) in &arenas {
                let arena = arena
                    .with_options(Options { statics: still.to_vec(), ..arena.options().clone() })
                    .unwrap();
                for margin in MARGINS {
                    for pairs in [Pairs::BroadPhase, Pairs::Exhaustive] {
                        for (query, rows) in asked(&arena, moving, pairs, margin) {
                            let what = format!(
                                "{engine}, {query}, {}, {pairs:?}, {} still",
                                slope.name,
                                still.len()
                            );
                            judge(&what, &both, margin.into(), &rows);
                        }
                    }
                }
            }
        }
    }
}

/// Enough bodies for the tree, with a ground first and last: a half-space's rows come from the tree.
#[test]
fn the_margin_holds_for_half_spaces_in_a_crowd() {
    let arenas = arenas();
    for place in [Place::First, Place::Last] {
        let mut bodies = bodies(&SLOPES[2], place);
        let ground = bodies.iter().find(|body| body.hull == GROUND).copied().unwrap();
        let up = axes(ground.rotation)[1];
        let far = |k: usize| {
            let height = 3e3 + 4.0 * k as f64;
            let at = |axis: usize| (f64::from(ground.position[axis]) + up[axis] * height) as f32;
            Body::new(BALL).at([at(0), at(1), at(2)])
        };
        let insert = bodies.len() / 2;
        bodies.splice(insert..insert, (0..2_100).map(far));
        for (engine, arena) in arenas.iter().filter(|(engine, _)| !engine.ends_with("exact")) {
            for margin in [0.0, 1.0] {
                for (query, rows) in asked(arena, &bodies, Pairs::BroadPhase, margin) {
                    judge(&format!("{engine}, {query}, {place:?}"), &bodies, margin.into(), &rows);
                }
            }
        }
    }
}

/// Far along a tilted ground the error of f32 is a hundredth of a unit: f64 decides pairs that near the margin.
#[test]
fn far_along_a_tilted_ground_the_margin_is_as_sharp_as_elsewhere() {
    let ground = Body::new(GROUND).rotated(SLOPES[2].rotation).at(SLOPES[2].position);
    let [right, up, ahead] = axes(ground.rotation);
    let place = |k: usize| {
        let (x, z) = (700.0 * k as f64, 300.0 * (k % 7) as f64);
        let height = f64::from(RADIUS) + 1.0 + 0.02 * ((k as f64 * 0.618_034) % 1.0 - 0.5);
        let at = |axis: usize| {
            f64::from(ground.position[axis]) + right[axis] * x + up[axis] * height + ahead[axis] * z
        };
        Body::new(BALL).at([at(0) as f32, at(1) as f32, at(2) as f32])
    };
    let mut bodies: Vec<Body> = (0..400).map(place).collect();
    for first in [true, false] {
        bodies.retain(|body| body.hull != GROUND);
        bodies.insert(if first { 0 } else { bodies.len() }, ground);
        for (engine, arena) in arenas() {
            for pairs in [Pairs::BroadPhase, Pairs::Exhaustive] {
                for (query, rows) in asked(&arena, &bodies, pairs, 1.0) {
                    let what = format!("{engine}, {query}, {first}, {pairs:?}");
                    judge(&what, &bodies, 1.0, &rows);
                    assert!((100..300).contains(&rows.len()), "{what}: {}", rows.len());
                }
            }
        }
    }
}

/// Bodies fall on a ground, or the ground rises: which pairs meet within a second, and when.
#[test]
fn sweeps_of_half_spaces_are_true_in_both_orders() {
    for (engine, arena) in arenas().into_iter().filter(|(engine, _)| !engine.ends_with("warm")) {
        for slope in &SLOPES[..3] {
            let up = axes(slope.rotation)[1];
            for (place, falls) in [(Place::First, true), (Place::Last, true), (Place::First, false)] {
                let bodies = bodies(slope, place);
                let ground = bodies.iter().position(|body| body.hull == GROUND).unwrap();
                let speed = 2.0;
                let motions: Vec<Motion> = (0..bodies.len())
                    .map(|row| {
                        let along = match (falls, row == ground) {
                            (true, false) => -speed,
                            (false, true) => speed,
                            _ => 0.0,
                        };
                        let velocity = up.map(|axis| (axis * along) as f32);
                        Motion { velocity, ..Motion::default() }
                    })
                    .collect();
                let others = (0..bodies.len()).filter(|&row| row != ground);
                let given: Vec<[u32; 2]> = others
                    .map(|row| if row % 2 == 0 { [row, ground] } else { [ground, row] })
                    .map(|pair| pair.map(|row| row as u32))
                    .collect();
                for pairs in [Pairs::BroadPhase, Pairs::Exhaustive, Pairs::Given(&given)] {
                    let found = arena
                        .sweeps(
                            &bodies,
                            &motions,
                            pairs,
                            &SweepOptions { duration: 1.0, ..Default::default() },
                        )
                        .unwrap()
                        .wait()
                        .unwrap();
                    let keys = |a: u32, b: u32| (a.min(b), a.max(b));
                    let rows: BTreeMap<_, _> =
                        found.rows.iter().map(|row| (keys(row.a, row.b), row)).collect();
                    for (other, body) in bodies.iter().enumerate().filter(|&(other, _)| other != ground) {
                        let (gap, tau) = truth(&bodies[ground], body);
                        let what = format!(
                            "{engine}, {}, {place:?}, {falls}, body {other} {gap:e} above",
                            slope.name
                        );
                        let row = rows.get(&keys(ground as u32, other as u32));
                        let outcome = row.map_or(SweepOutcome::Miss, |row| row.outcome);
                        match outcome {
                            SweepOutcome::Touching => assert!(gap <= tau, "{what}: {row:?}"),
                            SweepOutcome::Hit => {
                                assert!(gap > 0.1 * tau && gap <= speed + tau, "{what}: {row:?}");
                                let time = row.unwrap().time;
                                assert!((time * speed - gap).abs() <= 2.0 * tau, "{what}: {row:?}");
                                let normal = row.unwrap().normal.unwrap();
                                let sign = if row.unwrap().a == ground as u32 { 1.0 } else { -1.0 };
                                assert!(dot(normal, up) * sign > 1.0 - 1e-6, "{what}: {row:?}");
                            }
                            SweepOutcome::Miss => assert!(gap > speed - tau, "{what}: {row:?}"),
                        }
                    }
                }
            }
        }
    }
}

#[cfg(feature = "gpu")]
fn read<T: bytemuck::Pod>(engine: &Engine, part: wgpu::BufferBinding<'_>) -> Vec<T> {
    let (device, queue) = engine.device().unwrap();
    let size = part.size.unwrap().get();
    let staging = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(part.buffer, part.offset, &staging, 0, Some(size));
    encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., |_| ());
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    bytemuck::pod_collect_to_vec(&staging.get_mapped_range(..).unwrap())
}

/// Rows on the device; unsettled ones have no verdict and no gap.
#[cfg(feature = "gpu")]
fn device_rows(engine: &Engine, encoder: wgpu::CommandEncoder, found: &DeviceRows) -> Rows {
    engine.device().unwrap().1.submit([encoder.finish()]);
    let counts: DeviceCounts = read(engine, found.counts())[0];
    assert_eq!(counts.overflow, 0, "{counts:?}");
    let rows: Vec<MeasuredRow> = read(engine, found.rows());
    rows[..counts.row_count as usize]
        .iter()
        .map(|row| {
            let status = match row.status {
                0 => Some(Status::Separated),
                1 => Some(Status::Touching),
                2 => Some(Status::Penetrating),
                _ => None,
            };
            let gap = status.filter(|status| *status == Status::Separated).map(|_| f64::from(row.gap));
            ((row.a, row.b), PairAnswer { gap, status })
        })
        .collect()
}

#[cfg(feature = "gpu")]
#[test]
fn rows_on_the_device_keep_the_margin_of_half_spaces() {
    let Some(engine) = common::gpu() else { return };
    let arena = Arena::new(&engine, &hulls(), Options::default()).unwrap();
    let capacity = Capacity { pairs: 10_000, rows: 10_000 };
    let encoder =
        || engine.device().unwrap().0.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    for slope in &SLOPES {
        for place in [Place::First, Place::Between, Place::Last] {
            let bodies = bodies(slope, place);
            let host = DeviceBodies::Host(&bodies);
            for margin in [0.0, 0.1, 50.0, 1e4] {
                for pairs in [DevicePairs::BroadPhase, DevicePairs::Exhaustive] {
                    let mut one = encoder();
                    let distances = arena
                        .encode_distances(&mut one, host, pairs, &DistanceOptions { margin }, capacity)
                        .unwrap();
                    let distances = device_rows(&engine, one, &distances);
                    let mut one = encoder();
                    let contacts = arena
                        .encode_contacts(&mut one, host, pairs, &ContactOptions { margin }, capacity)
                        .unwrap();
                    let contacts = device_rows(&engine, one, &contacts);
                    for (query, mut rows) in [("distances", distances), ("contacts", contacts)] {
                        let what = format!("encoded {query}, {}, {place:?}, {pairs:?}", slope.name);
                        // Unsettled pairs may be listed at any gap; no pair that must be listed may be missing.
                        let open: Vec<_> = rows
                            .iter()
                            .filter(|(_, answer)| answer.status.is_none())
                            .map(|(&key, _)| key)
                            .collect();
                        if slope.name.starts_with("level") {
                            assert!(open.len() <= 8, "{what}: {open:?}");
                        }
                        for key in open {
                            let ground = bodies.iter().position(|body| body.hull == GROUND).unwrap() as u32;
                            let body = if key.0 == ground { key.1 } else { key.0 };
                            let (gap, _) = truth(&bodies[ground as usize], &bodies[body as usize]);
                            if gap > f64::from(margin) {
                                rows.remove(&key);
                            }
                        }
                        judge(&what, &bodies, margin.into(), &rows);
                    }
                }
            }
        }
    }
}

/// Each given pair has a row, with the point on the body, whichever of the two that is.
#[cfg(feature = "gpu")]
#[test]
fn given_rows_on_the_device_are_true_in_both_orders() {
    let Some(engine) = common::gpu() else { return };
    let arena = Arena::new(&engine, &hulls(), Options::default()).unwrap();
    let bodies = bodies(&SLOPES[2], Place::Between);
    let ground = bodies.iter().position(|body| body.hull == GROUND).unwrap() as u32;
    let others = (0..bodies.len() as u32).filter(|&row| row != ground);
    let given: Vec<[u32; 2]> = others.flat_map(|row| [[row, ground], [ground, row]]).collect();
    let mut encoder =
        engine.device().unwrap().0.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let (host, pairs) = (DeviceBodies::Host(&bodies), DevicePairs::Given(&given));
    let room = Capacity { pairs: 0, rows: 0 };
    let found =
        arena.encode_contacts(&mut encoder, host, pairs, &ContactOptions { margin: 0.0 }, room).unwrap();
    engine.device().unwrap().1.submit([encoder.finish()]);
    let rows: Vec<MeasuredRow> = read(&engine, found.rows());
    assert_eq!(rows.len(), given.len());
    let up = axes(bodies[ground as usize].rotation)[1];
    for (row, &[a, b]) in rows.iter().zip(&given) {
        assert_eq!([row.a, row.b], [a, b]);
        let other = if a == ground { b } else { a };
        let (gap, tau) = truth(&bodies[ground as usize], &bodies[other as usize]);
        assert_eq!(row.anchor, u32::from(b == other), "{row:?}");
        assert!((f64::from(row.gap) - gap).abs() <= tau + f64::from(row.error), "{row:?}, {gap:e}");
        // The hulls' means are their origins, to within rounding.
        let lowest = -dot(up, row.point.map(f64::from));
        assert!((lowest - reach(&bodies[other as usize], up)).abs() <= tau, "{row:?}");
    }
}
