//! Convex hulls: hullfield against the crates `quickhull` and `parry3d`, on real point sets and on degenerate clouds at many
//! scales. Each result is checked before times are printed.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use hullfield::collide::{Dimension, Hull};
use hullfield_oracle::corpus;
use hullfield_oracle::random::Random;

use crate::options::Options;
use crate::report::{Cell, Report, Table};

pub(crate) type Point = [f32; 3];

/// Vertices and triangles.
pub(crate) type Mesh = (Vec<Point>, Vec<[u32; 3]>);

/// A hull builder: returns a mesh or an error.
pub(crate) type Builder = fn(&[Point]) -> Result<Mesh, String>;

/// A builder that takes longer counts as hung.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A point outside the hull by more than this share of the cloud's size is a failure.
const TOLERANCE: f64 = 1e-6;

pub(crate) const OURS: &str = "hullfield";

pub(crate) const BUILDERS: [(&str, Builder); 3] =
    [(OURS, with_hullfield), ("quickhull", with_quickhull), ("parry3d", with_parry)];

fn with_hullfield(points: &[Point]) -> Result<Mesh, String> {
    let hull = Hull::from_points(points).map_err(|error| error.to_string())?;
    Ok((hull.vertices().to_vec(), hull.triangles().collect()))
}

fn with_quickhull(points: &[Point]) -> Result<Mesh, String> {
    let points: Vec<_> = points.iter().map(|&p| p.into()).collect();
    let mesh = quickhull::ConvexTriangleMesh::try_from_points(&points, None)
        .map_err(|error| format!("{error:?}"))?;
    let (vertices, triangles) = mesh.into_parts();
    Ok((vertices.into_iter().map(Into::into).collect(), triangles))
}

fn with_parry(points: &[Point]) -> Result<Mesh, String> {
    let points: Vec<_> = points.iter().map(|&p| p.into()).collect();
    let mesh = parry3d::transformation::try_convex_hull(&points).map_err(|error| format!("{error:?}"))?;
    let (vertices, triangles) = mesh;
    Ok((vertices.into_iter().map(Into::into).collect(), triangles))
}

/// The result of a builder on a cloud.
#[derive(Debug, Clone, PartialEq)]
enum Outcome {
    Panicked,
    Hung,
    Refused(String),
    /// The surface is not closed: an edge is not in exactly two triangles in opposite directions, or there are no triangles.
    Open,
    /// A point is above a triangle's plane by this share of the size.
    Outside(f64),
    Good {
        vertex_count: usize,
    },
}

impl Outcome {
    fn is_good(&self) -> bool {
        matches!(self, Self::Good { .. })
    }

    fn short(&self) -> String {
        match self {
            Self::Panicked => "panic".into(),
            Self::Hung => "hang".into(),
            Self::Refused(_) => "error".into(),
            Self::Open => "open".into(),
            Self::Outside(by) => format!("out {by:.0e}"),
            Self::Good { vertex_count } => vertex_count.to_string(),
        }
    }
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The diagonal of the cloud's bounding box.
fn size(points: &[Point]) -> f64 {
    let extent = [0, 1, 2].map(|k| {
        let along = || points.iter().map(|p| f64::from(p[k]));
        along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
    });
    dot(extent, extent).sqrt()
}

fn check(points: &[Point], solid: bool, (vertices, triangles): &Mesh) -> Outcome {
    let mut edges: HashMap<[u32; 2], u32> = HashMap::new();
    for t in triangles {
        for k in 0..3 {
            *edges.entry([t[k], t[(k + 1) % 3]]).or_default() += 1;
        }
    }
    // The two sides of a flat hull may share diagonals. A solid has each edge once in each direction.
    let paired =
        edges.iter().all(|(&[a, b], &count)| (count == 1 || !solid) && edges.get(&[b, a]) == Some(&count));
    if !paired || solid && triangles.is_empty() {
        return Outcome::Open;
    }
    let size = size(points);
    let mut worst = 0.0f64;
    for t in triangles {
        let [a, b, c] = t.map(|i| vertices[i as usize].map(f64::from));
        let normal = cross(minus(b, a), minus(c, a));
        let length = dot(normal, normal).sqrt();
        if length > 0.0 {
            for p in points {
                worst = worst.max(dot(normal, minus(p.map(f64::from), a)) / length);
            }
        }
    }
    if worst > TOLERANCE * size {
        Outcome::Outside(worst / size)
    } else {
        Outcome::Good { vertex_count: vertices.len() }
    }
}

/// Checks the mesh of a solid against points of its cloud.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn check_solid(points: &[Point], mesh: &Mesh) -> Result<(), String> {
    match check(points, true, mesh) {
        Outcome::Good { .. } => Ok(()),
        other => Err(format!("the hull is wrong: {}", other.short())),
    }
}

/// Whether the points span three dimensions, exactly as stored.
fn is_solid(points: &[Point]) -> bool {
    Hull::from_points(points).is_ok_and(|hull| hull.dimension() == Dimension::Solid)
}

/// Runs a builder on a thread, where it may panic or hang.
fn outcome(build: Builder, points: &[Point], solid: bool) -> Outcome {
    let (sender, receiver) = channel();
    let cloud = points.to_vec();
    thread::spawn(move || sender.send(build(&cloud)));
    match receiver.recv_timeout(TIMEOUT) {
        Ok(Ok(mesh)) => check(points, solid, &mesh),
        Ok(Err(message)) => Outcome::Refused(message),
        Err(RecvTimeoutError::Timeout) => Outcome::Hung,
        Err(RecvTimeoutError::Disconnected) => Outcome::Panicked,
    }
}

/// The shortest of `repeats` runs, in microseconds.
fn least_us(build: Builder, points: &[Point], repeats: usize) -> f64 {
    let once = || {
        let start = Instant::now();
        let _ = black_box(build(black_box(points)));
        start.elapsed().as_secs_f64() * 1e6
    };
    (0..repeats).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

pub(crate) fn in_ball(random: &mut Random) -> Point {
    loop {
        let p = [0; 3].map(|_| random.between(-1.0, 1.0));
        if dot(p, p) <= 1.0 {
            return p.map(|x| x as f32);
        }
    }
}

fn on_sphere(random: &mut Random) -> Point {
    let p = in_ball(random).map(f64::from);
    p.map(|x| (x / dot(p, p).sqrt()) as f32)
}

fn grid(along: [usize; 3]) -> Vec<Point> {
    let mut points = Vec::new();
    for x in 0..along[0] {
        for y in 0..along[1] {
            points.extend((0..along[2]).map(|z| [x as f32, y as f32, z as f32]));
        }
    }
    points
}

/// The cloud under a fixed rotation.
fn rotated(points: &[Point]) -> Vec<Point> {
    let rotation = [[0.36f32, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]];
    points.iter().map(|p| rotation.map(|row| row[0] * p[0] + row[1] * p[1] + row[2] * p[2])).collect()
}

fn stretched(points: &[Point], by: Point) -> Vec<Point> {
    points.iter().map(|p| [p[0] * by[0], p[1] * by[1], p[2] * by[2]]).collect()
}

/// Degenerate clouds with their names.
fn degenerate() -> Vec<(&'static str, Vec<Point>)> {
    let mut random = Random::new(1);
    let ball: Vec<Point> = (0..200).map(|_| in_ball(&mut random)).collect();
    let sphere: Vec<Point> = (0..500).map(|_| on_sphere(&mut random)).collect();
    let doubled: Vec<Point> = ball.iter().chain(&ball).copied().collect();
    let mut near_doubled = doubled.clone();
    for p in &mut near_doubled[200..] {
        p[0] = p[0].next_up();
    }
    let mut surface = grid([8, 8, 8]);
    surface.retain(|p| p.iter().any(|&x| x == 0.0 || x == 7.0));
    let mut lattice = grid([19, 19, 19]);
    lattice.retain(|p| p.map(|x| (x - 9.0) * (x - 9.0)).iter().sum::<f32>() == 81.0);
    let circle = |z: f32| {
        (0..100).map(move |i| {
            let (sin, cos) = (i as f32 * std::f32::consts::TAU / 100.0).sin_cos();
            [cos, sin, z]
        })
    };
    let prism: Vec<Point> = circle(0.0).chain(circle(1.0)).collect();
    vec![
        ("one point", vec![[1.0, 2.0, 3.0]]),
        ("one point, 50 times", vec![[1.0, 2.0, 3.0]; 50]),
        ("collinear", (0..50).map(|i| [i as f32, 2.0 * i as f32, -3.0 * i as f32]).collect()),
        ("coplanar grid", grid([12, 12, 1])),
        ("coplanar grid, turned", rotated(&grid([12, 12, 1]))),
        ("ball, every point twice", doubled),
        ("ball, twice, one ulp apart", near_doubled),
        ("cube with grids on its faces", surface.clone()),
        ("the same, turned", rotated(&surface)),
        ("full grid", grid([8, 8, 8])),
        ("plate 1:1e-5", stretched(&ball, [1.0, 1.0, 1e-5])),
        ("plate, turned", rotated(&stretched(&ball, [1.0, 1.0, 1e-5]))),
        ("grid plate 1:1e-5", stretched(&surface, [1.0, 1.0, 1e-5])),
        ("needle 1:1e-5", stretched(&ball, [1.0, 1e-5, 1e-5])),
        ("needle, turned", rotated(&stretched(&ball, [1.0, 1e-5, 1e-5]))),
        ("sphere, rounded", sphere),
        ("lattice points of a sphere", lattice),
        ("prism of 100 sides", prism.clone()),
        ("prism, turned", rotated(&prism)),
    ]
}

/// Adds the tables of the corpus, of degenerate clouds and of large clouds.
///
/// # Errors
/// A corpus that cannot be read.
pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), String> {
    // The peers' panics are counted, not printed.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let done = point_sets(options, report);
    if done.is_ok() {
        degenerate_clouds(report);
        large_clouds(options, report);
    }
    std::panic::set_hook(hook);
    done
}

fn point_sets(options: &Options, report: &mut Report) -> Result<(), String> {
    let mut corpus = corpus::hulls()?;
    if options.quick {
        corpus.sets.truncate(300);
    }
    let solid: Vec<bool> = corpus.sets.iter().map(|set| is_solid(set)).collect();
    let source = match corpus.source {
        corpus::Source::File(_) => "the corpus that HULLFIELD_CORPUS names",
        corpus::Source::StandIns => "seeded stand-ins for a corpus",
    };
    let mut table = Table::new(
        "hulls",
        format!("Hulls of {} point sets, {source}; times of one thread", corpus.sets.len()),
        &[
            "builder",
            "panic",
            "error",
            "open",
            "outside",
            "worst outside",
            "vertices",
            "median µs",
            "total ratio",
        ],
    );
    let mut first_total = None;
    for (name, build) in BUILDERS {
        let outcomes: Vec<Outcome> =
            corpus.sets.iter().zip(&solid).map(|(set, &solid)| outcome(build, set, solid)).collect();
        let count = |wanted: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| wanted(outcome)).count();
        let worst =
            outcomes.iter().map(|o| if let Outcome::Outside(by) = o { *by } else { 0.0 }).fold(0.0, f64::max);
        let vertices: usize = outcomes
            .iter()
            .map(|o| if let Outcome::Good { vertex_count } = o { *vertex_count } else { 0 })
            .sum();
        let good = count(Outcome::is_good);
        if name == OURS && good != outcomes.len() {
            report.fail(format!("hulls: {} of {} point sets fail", outcomes.len() - good, outcomes.len()));
        }
        let mut times = Vec::new();
        for (set, outcome) in corpus.sets.iter().zip(&outcomes) {
            if !matches!(outcome, Outcome::Panicked | Outcome::Hung) {
                times.push(least_us(build, set, 5));
            }
        }
        let total: f64 = times.iter().sum();
        let first = *first_total.get_or_insert(total);
        table.row([
            name.into(),
            count(|o| matches!(o, Outcome::Panicked | Outcome::Hung)).into(),
            count(|o| matches!(o, Outcome::Refused(_))).into(),
            count(|o| *o == Outcome::Open).into(),
            count(|o| matches!(o, Outcome::Outside(_))).into(),
            format!("{worst:.0e}").into(),
            Cell::Number(vertices as f64 / good as f64, 2),
            Cell::Number(median(times), 2),
            Cell::Number(total / first, 2),
        ]);
    }
    table.note("outside: a point lies above a face's plane by more than 1e-6 of the size; open: the surface is not closed.");
    report.table(table);
    Ok(())
}

fn degenerate_clouds(report: &mut Report) {
    const SCALES: [f32; 6] = [1e-30, 1e-5, 1e-2, 1.0, 1e2, 1e5];
    let mut table = Table::new(
        "degenerate",
        "Degenerate clouds: how many vertices where the hull is good, else what failed",
        &["cloud", "scale", "hullfield", "quickhull", "parry3d"],
    );
    let mut good = [0; BUILDERS.len()];
    let mut count = 0;
    for (name, points) in degenerate() {
        for scale in SCALES {
            let points = stretched(&points, [scale; 3]);
            let solid = is_solid(&points);
            let outcomes = BUILDERS.map(|(_, build)| outcome(build, &points, solid));
            count += 1;
            for (good, outcome) in good.iter_mut().zip(&outcomes) {
                *good += usize::from(outcome.is_good());
            }
            let row = [Cell::from(name), format!("{scale:.0e}").into()];
            table.row(row.into_iter().chain(outcomes.iter().map(|outcome| outcome.short().into())));
        }
    }
    for ((name, _), good) in BUILDERS.iter().zip(good) {
        table.note(format!("{name}: {good} of {count} good"));
        if *name == OURS && good != count {
            report.fail(format!("hulls: {} of {count} degenerate clouds fail", count - good));
        }
    }
    report.table(table);
}

fn large_clouds(options: &Options, report: &mut Report) {
    let mut random = Random::new(2);
    let most = if options.quick { 10_000 } else { 1_000_000 };
    let clouds: [(&str, Vec<Point>); 4] = [
        ("ball, 1e6 points", (0..1_000_000.min(most)).map(|_| in_ball(&mut random)).collect()),
        ("sphere, 1e4 points", (0..10_000.min(most)).map(|_| on_sphere(&mut random)).collect()),
        ("sphere, 1e5 points", (0..100_000.min(most)).map(|_| on_sphere(&mut random)).collect()),
        ("grid of 100³", grid([100, 100, 100])),
    ];
    let mut table = Table::new(
        "large clouds",
        "Large clouds, one run each",
        &["cloud", "points", "builder", "ms", "vertices"],
    );
    for (name, points) in clouds {
        if points.len() > most {
            continue;
        }
        for (builder, build) in BUILDERS {
            let (sender, receiver) = channel();
            let cloud = points.clone();
            thread::spawn(move || {
                let start = Instant::now();
                let built = build(&cloud).map(|(vertices, _)| vertices.len());
                sender.send((built, start.elapsed().as_secs_f64() * 1e3))
            });
            let [ms, vertices] = match receiver.recv_timeout(TIMEOUT) {
                Ok((Ok(count), ms)) => [Cell::Number(ms, 1), count.into()],
                Ok((Err(_), _)) => [Cell::Empty, "error".into()],
                Err(RecvTimeoutError::Timeout) => [Cell::Empty, "hang".into()],
                Err(RecvTimeoutError::Disconnected) => [Cell::Empty, "panic".into()],
            };
            table.row([name.into(), points.len().into(), builder.into(), ms, vertices]);
        }
    }
    report.table(table);
}
