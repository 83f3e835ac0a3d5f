//! Shortest paths over surfaces against the crate `navmesh`, on public meshes with known lengths; two threads; building a large
//! surface, and its memory; a search of a whole large surface. Lengths are checked before times are printed.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use hullfield::navigate::surface::{
    Method as SurfaceMethod, Model, Options as SurfaceOptions, Path as SurfacePath, Surface,
};
use hullfield_oracle::random::Random;
use navmesh::{NavMesh, NavPathMode, NavQuery, NavTriangle, NavVec3};

use crate::error::message;
use crate::machine::SEED;
use crate::memory;
use crate::options::Options;
use crate::report::{Cell, Report, Table};
use crate::timing::{Samples, interleave, interleave_all, time};

type Query = [[f64; 3]; 2];
/// Points, and triangles over them.
pub(crate) type Mesh = (Vec<[f64; 3]>, Vec<[u32; 3]>);

/// A mesh, queries, and their true lengths if another program has computed them.
struct Scene {
    name: &'static str,
    points: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
    queries: Vec<Query>,
    lengths: Option<Vec<f64>>,
}

/// Relative tolerance of lengths. No path may be shorter than the shortest, and none by the exact method longer.
const TOLERANCE: f64 = 1e-9;

/// The first path found, without a bound on its length.
const UNBOUNDED: SurfaceMethod = SurfaceMethod::Geodesic { tolerance: f64::INFINITY };

/// The default method: its paths are longer than the shortest by at most [`DEFAULT_TOLERANCE`].
const DEFAULT: SurfaceMethod = SurfaceMethod::Geodesic { tolerance: DEFAULT_TOLERANCE };

/// The default tolerance, relative to the shortest length.
const DEFAULT_TOLERANCE: f64 = 1e-3;

/// Name, method, and whether the surface has landmarks.
const METHODS: [(&str, SurfaceMethod, bool); 6] = [
    ("funnel", SurfaceMethod::Funnel, false),
    ("geodesic, any", UNBOUNDED, false),
    ("geodesic, any, landmarks", UNBOUNDED, true),
    ("geodesic, 0.1 %", DEFAULT, false),
    ("geodesic, 0.1 %, landmarks", DEFAULT, true),
    ("exact", SurfaceMethod::Exact, false),
];

/// Adds the tables of paths over surfaces.
///
/// # Errors
/// A file that cannot be read, or an error of the library.
pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), String> {
    if ["paths", "peer", "field"].iter().any(|part| options.selects(part)) {
        let scenes = scenes(options)?;
        if options.selects("paths") {
            paths(options, report, &scenes)?;
        }
        if options.selects("peer") {
            peer(options, report, &scenes)?;
        }
        if options.selects("field") {
            field(options, report, &scenes)?;
        }
    }
    if options.selects("build") {
        build(options, report)?;
    }
    if options.selects("search") {
        search(options, report)?;
    }
    Ok(())
}

impl Scene {
    fn surface(&self) -> Result<Surface, String> {
        self.surface_with(false)
    }

    fn surface_with(&self, landmarks: bool) -> Result<Surface, String> {
        let model = Model::triangles(self.points.clone(), &self.triangles);
        Surface::new(&[model], SurfaceOptions { landmarks, ..SurfaceOptions::default() }).map_err(message)
    }

    /// The true lengths: from another program, else by the exact method.
    fn truth(&self, surface: &Surface) -> Result<Vec<f64>, String> {
        match &self.lengths {
            Some(lengths) => Ok(lengths.clone()),
            None => {
                let paths = surface.paths(&self.queries, &SurfaceMethod::Exact.into()).map_err(message)?.rows;
                Ok(paths.iter().map(|path| path.length).collect())
            }
        }
    }
}

fn corpus() -> Option<PathBuf> {
    std::env::var_os("HULLFIELD_CORPUS").filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

fn scenes(options: &Options) -> Result<Vec<Scene>, String> {
    let Some(folder) = corpus() else {
        eprintln!("HULLFIELD_CORPUS is not set: seeded models replace the corpus");
        let mut scenes = vec![stand_in("lump, 5,852", 54)];
        if !options.quick {
            scenes.push(stand_in("lump, 69,564", 186));
        }
        return Ok(scenes);
    };
    let names: &[&'static str] = if options.quick { &["spot"] } else { &["spot", "stanford-bunny"] };
    names.iter().map(|name| scene(&folder, name)).collect()
}

fn scene(folder: &Path, name: &'static str) -> Result<Scene, String> {
    let read = |path: PathBuf| {
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let (points, triangles) = obj(&read(folder.join("meshes").join(format!("{name}.obj")))?)
        .ok_or_else(|| format!("{name}.obj: not a file of vertices and faces"))?;
    let (mut queries, mut lengths) = (Vec::new(), Vec::new());
    for (line, row) in read(folder.join("geodesics").join(format!("{name}.csv")))?.lines().enumerate().skip(1)
    {
        let row: Vec<f64> = row.split(',').map_while(|word| word.parse().ok()).collect();
        let (Some(&[from, to, length]), true) = (row.first_chunk(), row.len() >= 3) else {
            return Err(format!("{name}.csv: line {}: three numbers expected", line + 1));
        };
        let point = |vertex: f64| points.get(vertex as usize).copied();
        let (Some(from), Some(to)) = (point(from), point(to)) else {
            return Err(format!("{name}.csv: line {}: no such vertex", line + 1));
        };
        if length.is_finite() && length > 0.0 {
            queries.push([from, to]);
            lengths.push(length);
        }
    }
    Ok(Scene { name, points, triangles, queries, lengths: Some(lengths) })
}

/// The points and triangles of an OBJ file. Polygons are cut into fans.
fn obj(text: &str) -> Option<Mesh> {
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let mut point = [0.0; 3];
                for part in &mut point {
                    *part = words.next()?.parse().ok()?;
                }
                points.push(point);
            }
            Some("f") => {
                let corner = |word: &str| word.split('/').next()?.parse::<u32>().ok()?.checked_sub(1);
                let corners: Vec<u32> = words.map(corner).collect::<Option<_>>()?;
                for pair in corners.get(1..)?.windows(2) {
                    triangles.push([corners[0], pair[0], pair[1]]);
                }
            }
            _ => {}
        }
    }
    Some((points, triangles))
}

/// A closed, bumpy surface of `n` rings and 4 (n − 1) n triangles.
pub(crate) fn lump(n: u32) -> Mesh {
    use std::f64::consts::{PI, TAU};
    let around = 2 * n;
    let radius = |x: f64, y: f64, z: f64| {
        1.0 + 0.22 * (3.0 * x + 1.3).sin() * (2.0 * y).cos()
            + 0.16 * (5.0 * z + 2.0 * x).sin()
            + 0.1 * (7.0 * y).sin()
    };
    let place = |down: f64, turn: f64| {
        let [x, y, z] = [down.sin() * turn.cos(), down.sin() * turn.sin(), down.cos()];
        [x, y, z].map(|part| part * radius(x, y, z))
    };
    let mut points = vec![place(0.0, 0.0)];
    for ring in 1..n {
        for step in 0..around {
            // Every other ring is turned by half a step.
            let turn = TAU * (f64::from(step) + 0.5 * f64::from(ring % 2)) / f64::from(around);
            points.push(place(PI * f64::from(ring) / f64::from(n), turn));
        }
    }
    points.push(place(PI, 0.0));
    let last = points.len() as u32 - 1;
    let at = |ring: u32, step: u32| 1 + (ring - 1) * around + step % around;
    let mut triangles = Vec::new();
    for step in 0..around {
        triangles.push([0, at(1, step), at(1, step + 1)]);
        triangles.push([last, at(n - 1, step + 1), at(n - 1, step)]);
        for ring in 1..n - 1 {
            let shift = ring % 2;
            let (a, b) = (at(ring, step), at(ring, step + 1));
            let (c, d) = (at(ring + 1, step + shift), at(ring + 1, step + shift + 1));
            // Which diagonal cuts the quadrilateral depends on which ring is turned.
            if shift == 0 {
                triangles.extend([[a, c, b], [b, c, d]]);
            } else {
                triangles.extend([[a, at(ring + 1, step), c], [a, c, b]]);
            }
        }
    }
    (points, triangles)
}

fn stand_in(name: &'static str, n: u32) -> Scene {
    let (points, triangles) = lump(n);
    let mut random = Random::new(SEED);
    let mut point = || points[random.below(points.len())];
    let queries = (0..100).map(|_| [point(), point()]).filter(|[start, goal]| start != goal).collect();
    Scene { name, points, triangles, queries, lengths: None }
}

/// The excess of paths over the shortest lengths, relative to these.
struct Excess {
    mean: f64,
    /// The share of paths with an excess of at most a thousandth.
    close: f64,
    worst: f64,
    /// The largest amount by which a path is shorter than the shortest.
    short: f64,
}

impl Excess {
    fn of(lengths: &[f64], truth: &[f64]) -> Self {
        let ratios: Vec<f64> =
            lengths.iter().zip(truth).map(|(length, truth)| length / truth - 1.0).collect();
        let count = ratios.len() as f64;
        Self {
            mean: ratios.iter().sum::<f64>() / count,
            close: ratios.iter().filter(|&&ratio| ratio <= 1e-3).count() as f64 / count,
            worst: ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            short: -ratios.iter().copied().fold(f64::INFINITY, f64::min),
        }
    }

    fn cells(&self) -> [Cell; 3] {
        // A negative excess is rounding.
        [Cell::Share(self.mean.max(0.0), 4), Cell::Share(self.close, 1), Cell::Share(self.worst.max(0.0), 3)]
    }
}

fn lengths(paths: &[SurfacePath]) -> Vec<f64> {
    paths.iter().map(|path| path.length).collect()
}

fn pool(threads: usize) -> Result<rayon::ThreadPool, String> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| error.to_string())
}

fn paths(options: &Options, report: &mut Report, scenes: &[Scene]) -> Result<(), String> {
    let mut table = Table::new(
        "path_methods",
        "Shortest paths over surfaces, one thread and two",
        &[
            "scene",
            "triangles",
            "method",
            "paths/s",
            "two threads",
            "p50 ms",
            "p99 ms",
            "mean excess",
            "within 0.1 %",
            "worst excess",
        ],
    );
    let [one, two] = [pool(1)?, pool(2)?];
    for scene in scenes {
        let plain = scene.surface()?;
        let truth = scene.truth(&plain)?;
        let with_landmarks = scene.surface_with(true)?;
        for (name, method, has_landmarks) in METHODS {
            let surface = if has_landmarks { &with_landmarks } else { &plain };
            let exact = method == SurfaceMethod::Exact;
            let few = if options.quick || exact { 20 } else { scene.queries.len() };
            let queries = &scene.queries[..few.min(scene.queries.len())];
            let ask = |pool: &rayon::ThreadPool, queries: &[Query]| {
                pool.install(|| surface.paths(queries, &method.into())).map_err(message)
            };
            let (ms, found) = time(|| ask(&one, queries));
            let found = found?;
            let excess = Excess::of(&lengths(&found.rows), &truth[..queries.len()]);
            let is_exact = !exact || excess.worst <= TOLERANCE;
            if excess.short > TOLERANCE || !is_exact {
                report.fail(format!(
                    "{}, {name}: {:e} shorter, {:e} longer than the shortest",
                    scene.name, excess.short, excess.worst
                ));
                continue;
            }
            if ask(&two, queries)?.rows != found.rows {
                report.fail(format!("{}, {name}: two threads answer otherwise than one", scene.name));
            }
            let rounds = if options.quick { 1 } else { (400.0 / ms).clamp(1.0, 100.0) as usize };
            let many: Vec<Query> = queries.iter().copied().cycle().take(queries.len() * rounds).collect();
            let repetitions = if options.quick { 1 } else { 5 };
            let [single, double] = interleave(
                repetitions,
                || ask(&one, &many).map(|paths| drop(black_box(paths))),
                || ask(&two, &many).map(|paths| drop(black_box(paths))),
            )?;
            let mut each = Vec::with_capacity(queries.len());
            for &[start, goal] in queries {
                let started = Instant::now();
                black_box(surface.path(start, goal, &method.into()).map_err(message)?);
                each.push(started.elapsed().as_secs_f64() * 1e3);
            }
            each.sort_by(f64::total_cmp);
            let at = |share: usize| each[(each.len() * share / 100).min(each.len() - 1)];
            let row = [
                scene.name.into(),
                scene.triangles.len().into(),
                name.into(),
                Cell::Number(many.len() as f64 / single.median() * 1e3, 0),
                Cell::Number(single.ratio(&double), 2),
                Cell::Number(at(50), 3),
                Cell::Number(at(99), 3),
            ];
            table.row(row.into_iter().chain(excess.cells()));
        }
    }
    table.note("two threads: how many times as many paths, the median over repetitions side by side");
    table.note("excess: how much longer than the shortest path, whose length another program has found; the exact method is asked for 20");
    if corpus().is_none() {
        table.note("without the corpus the excess is that over the exact method's own paths");
    }
    report.table(table);
    Ok(())
}

/// Times the exact field from one source.
fn field(options: &Options, report: &mut Report, scenes: &[Scene]) -> Result<(), String> {
    let mut table = Table::new(
        "path_field",
        "Exact distances from one source to everywhere, one thread",
        &[
            "scene",
            "triangles",
            "sources",
            "ms",
            "worst ms",
            "bytes a triangle",
            "ms a path traced back",
            "worst error",
        ],
    );
    let one = pool(1)?;
    for scene in scenes {
        let surface = scene.surface()?;
        let truth = scene.truth(&surface)?;
        let count = if options.quick { 2 } else { 10 }.min(scene.queries.len());
        let (mut samples, mut traces) = (Samples::default(), Samples::default());
        let (mut worst, mut bytes) = (0.0_f64, 0);
        for (&[source, goal], &truth) in scene.queries.iter().zip(&truth).take(count) {
            let (ms, found) = one.install(|| time(|| surface.field(source)));
            let found = found.map_err(message)?;
            samples.push(ms);
            let distance = found.distance(goal).map_err(message)?.unwrap_or(f64::INFINITY);
            let (ms, path) = time(|| found.path(goal));
            traces.push(ms);
            for length in [distance, path.map_err(message)?.length] {
                worst = worst.max((length - truth).abs() / truth);
            }
        }
        {
            let counter = memory::AllocationCounter::start();
            let found = surface.field(scene.queries[0][0]).map_err(message)?;
            bytes = bytes.max(counter.current_bytes());
            drop(black_box(found));
        }
        if worst > TOLERANCE {
            report.fail(format!("{}: a distance of the field is off by {worst:e}", scene.name));
            continue;
        }
        table.row([
            scene.name.into(),
            scene.triangles.len().into(),
            count.into(),
            Cell::Number(samples.median(), 1),
            Cell::Number(samples.worst(), 1),
            Cell::Number(bytes as f64 / scene.triangles.len() as f64, 0),
            Cell::Number(traces.median(), 3),
            Cell::Small(worst),
        ]);
    }
    report.table(table);
    Ok(())
}

fn peer(options: &Options, report: &mut Report, scenes: &[Scene]) -> Result<(), String> {
    let mut table = Table::new(
        "path_peer",
        "The quick method, with no guarantee, against navmesh 0.12 (f32), one thread, the same mesh and queries",
        &[
            "scene",
            "queries",
            "paths/s",
            "with landmarks",
            "navmesh paths/s",
            "ratio",
            "with landmarks",
            "mean excess",
            "with landmarks",
            "navmesh mean",
            "navmesh worst",
            "shorter than possible",
            "not found",
        ],
    );
    let one = pool(1)?;
    for scene in scenes {
        let surface = scene.surface()?;
        let with_landmarks = scene.surface_with(true)?;
        let truth = scene.truth(&surface)?;
        let vertex = |point: &[f64; 3]| NavVec3::new(point[0] as f32, point[1] as f32, point[2] as f32);
        let vertices: Vec<NavVec3> = scene.points.iter().map(vertex).collect();
        let triangles: Vec<NavTriangle> = scene.triangles.iter().copied().map(NavTriangle::from).collect();
        let theirs = NavMesh::new(vertices, triangles)
            .map_err(|error| format!("navmesh refuses {}: {error:?}", scene.name))?;
        let queries: Vec<[NavVec3; 2]> =
            scene.queries.iter().map(|query| [vertex(&query[0]), vertex(&query[1])]).collect();
        let find =
            |[from, to]: [NavVec3; 2]| theirs.find_path(from, to, NavQuery::Accuracy, NavPathMode::Accuracy);
        // Queries without a path are counted, not compared.
        let found: Vec<Option<f64>> = queries
            .iter()
            .map(|&query| find(query).map(|path| f64::from(NavMesh::path_length(&path))))
            .collect();
        let pairs =
            || found.iter().zip(&truth).filter_map(|(found, truth)| found.map(|length| (length, *truth)));
        let (lengths_found, truth_found): (Vec<f64>, Vec<f64>) = pairs().unzip();
        let peers = Excess::of(&lengths_found, &truth_found);
        let ask = |surface: &Surface| {
            one.install(|| surface.paths(&scene.queries, &UNBOUNDED.into())).map_err(message)
        };
        let excess = Excess::of(&lengths(&ask(&surface)?.rows), &truth);
        let landmark_excess = Excess::of(&lengths(&ask(&with_landmarks)?.rows), &truth);
        let short = excess.short.max(landmark_excess.short);
        if short > TOLERANCE {
            report.fail(format!("{}: a path is {short:e} shorter than the shortest", scene.name));
            continue;
        }
        let repetitions = if options.quick { 1 } else { 3 };
        let [first, second, third] = interleave_all(
            repetitions,
            [
                &mut || ask(&surface).map(|paths| drop(black_box(paths))),
                &mut || ask(&with_landmarks).map(|paths| drop(black_box(paths))),
                &mut || {
                    for &query in &queries {
                        black_box(find(query));
                    }
                    Ok(())
                },
            ],
        )?;
        let count = scene.queries.len() as f64;
        table.row([
            scene.name.into(),
            scene.queries.len().into(),
            Cell::Number(count / first.median() * 1e3, 0),
            Cell::Number(count / second.median() * 1e3, 0),
            Cell::Number(count / third.median() * 1e3, 0),
            Cell::Number(third.ratio(&first), 1),
            Cell::Number(third.ratio(&second), 1),
            Cell::Share(excess.mean.max(0.0), 4),
            Cell::Share(landmark_excess.mean.max(0.0), 4),
            Cell::Share(peers.mean, 2),
            Cell::Share(peers.worst, 1),
            // The tolerance covers the rounding of f32.
            pairs().filter(|(length, truth)| length / truth < 1.0 - 1e-5).count().into(),
            found.iter().filter(|found| found.is_none()).count().into(),
        ]);
    }
    table.note("shorter than possible: paths of navmesh that leave the surface");
    report.table(table);
    Ok(())
}

/// Splits every triangle into four. Vertices keep their numbers, and lengths do not change.
pub(crate) fn split(points: &mut Vec<[f64; 3]>, triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut middles = std::collections::HashMap::new();
    let mut middle = |a: u32, b: u32| {
        *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
            let [a, b] = [points[a as usize], points[b as usize]];
            points.push([0, 1, 2].map(|k: usize| 0.5 * (a[k] + b[k])));
            points.len() as u32 - 1
        })
    };
    let mut parts = Vec::with_capacity(4 * triangles.len());
    for &[a, b, c] in triangles {
        let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
        parts.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
    }
    parts
}

/// The large scene: a model of the corpus, or a lump, with split triangles.
fn large(options: &Options, splits: u32) -> Result<Scene, String> {
    let splits = if options.quick { 1 } else { splits };
    let mut scene = match corpus() {
        Some(folder) => scene(&folder, "spot")?,
        None => stand_in("lump", 54),
    };
    for _ in 0..splits {
        scene.triangles = split(&mut scene.points, &scene.triangles);
    }
    Ok(scene)
}

fn build(options: &Options, report: &mut Report) -> Result<(), String> {
    let mut table = Table::new(
        "path_build",
        "Building a surface of many triangles",
        &[
            "scene",
            "triangles",
            "ms",
            "bytes a triangle",
            "most while building",
            "after 20 queries",
            "landmarks ms",
            "with landmarks",
        ],
    );
    let scene = large(options, 3)?;
    let model = Model::triangles(scene.points.clone(), &scene.triangles);
    let mut samples = Samples::default();
    let mut bytes_per_triangle = [0.0; 4];
    let landmarks_ms;
    let count = scene.triangles.len() as f64;
    for _ in 0..if options.quick { 1 } else { 5 } {
        let (ms, surface) = time(|| Surface::new(std::slice::from_ref(&model), SurfaceOptions::default()));
        drop(surface.map_err(message)?);
        samples.push(ms);
    }
    {
        let counter = memory::AllocationCounter::start();
        let surface =
            Surface::new(std::slice::from_ref(&model), SurfaceOptions::default()).map_err(message)?;
        (bytes_per_triangle[0], bytes_per_triangle[1]) =
            (counter.current_bytes() as f64 / count, counter.peak_bytes() as f64 / count);
        let few = &scene.queries[..20.min(scene.queries.len())];
        let found = pool(1)?.install(|| surface.paths(few, &UNBOUNDED.into())).map_err(message)?;
        let lengths = lengths(&found.rows);
        drop(found);
        bytes_per_triangle[2] = counter.current_bytes() as f64 / count;
        if let Some(truth) = &scene.lengths {
            let excess = Excess::of(&lengths, &truth[..few.len()]);
            if excess.short > TOLERANCE {
                report.fail(format!(
                    "split {}: a path is {:e} shorter than the shortest",
                    scene.name, excess.short
                ));
            }
        }
        drop(surface);
        // The time of landmarks is the difference of a build with them and one without.
        let with_landmarks = SurfaceOptions { landmarks: true, ..SurfaceOptions::default() };
        let (ms, with_landmarks) = time(|| Surface::new(std::slice::from_ref(&model), with_landmarks));
        let with_landmarks = with_landmarks.map_err(message)?;
        landmarks_ms = ms - samples.median();
        drop(pool(1)?.install(|| with_landmarks.paths(few, &UNBOUNDED.into())).map_err(message)?);
        bytes_per_triangle[3] = counter.current_bytes() as f64 / count;
        drop(black_box(with_landmarks));
    }
    let [built, peak, after_queries, with_landmarks] = bytes_per_triangle.map(|bytes| Cell::Number(bytes, 0));
    let row = [
        format!("{}, split", scene.name).into(),
        scene.triangles.len().into(),
        Cell::Number(samples.median(), 0),
    ];
    table.row(row.into_iter().chain([
        built,
        peak,
        after_queries,
        Cell::Number(landmarks_ms, 0),
        with_landmarks,
    ]));
    table.note(
        "ms: all threads, from a model in memory, the median of five; bytes a triangle: allocated after the build, the peak during it, then after the queries, then with landmarks; the model itself is not counted",
    );
    report.table(table);
    Ok(())
}

/// Times a search of every triangle: the goal is on another island.
fn search(options: &Options, report: &mut Report) -> Result<(), String> {
    let mut table = Table::new(
        "path_search",
        "Dijkstra over every triangle: a goal that cannot be reached",
        &["scene", "triangles", "ms", "ns a triangle"],
    );
    let n = if options.quick { 40 } else { 224 };
    let (mut points, mut triangles) = lump(n);
    let count = triangles.len();
    let first = points.len() as u32;
    points.extend([[9.0, 0.0, 0.0], [9.0, 1.0, 0.0], [9.0, 0.0, 1.0]]);
    triangles.push([first, first + 1, first + 2]);
    let start = points[0];
    let surface =
        Surface::new(&[Model::triangles(points, &triangles)], SurfaceOptions::default()).map_err(message)?;
    let mut samples = Samples::default();
    for _ in 0..if options.quick { 1 } else { 9 } {
        let (ms, path) = time(|| surface.path(start, [9.0, 0.2, 0.2], &SurfaceMethod::Funnel.into()));
        if path.map_err(message)?.is_reached() {
            report.fail("an island was reached");
        }
        samples.push(ms);
    }
    table.row([
        "lump".into(),
        count.into(),
        Cell::Number(samples.median(), 1),
        Cell::Number(samples.median() * 1e6 / count as f64, 0),
    ]);
    table.note("the funnel method, one thread; with the look for the nearest point that can be reached");
    report.table(table);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lumps_are_closed() {
        for n in [3, 54] {
            let (points, triangles) = lump(n);
            assert_eq!(triangles.len() as u32, 4 * n * (n - 1));
            let surface =
                Surface::new(&[Model::triangles(points, &triangles)], SurfaceOptions::default()).unwrap();
            let found = surface.report();
            assert_eq!((found.boundary_edge_count, found.non_manifold_edge_count), (0, 0));
            assert_eq!((found.turned_edge_count, found.island_count), (0, 1));
        }
    }

    #[test]
    fn splitting_keeps_the_area_and_the_vertices() {
        let (mut points, triangles) = lump(5);
        let before = points.clone();
        let surface =
            Surface::new(&[Model::triangles(points.clone(), &triangles)], SurfaceOptions::default()).unwrap();
        let parts = split(&mut points, &triangles);
        assert_eq!(points[..before.len()], before);
        let halved = Surface::new(&[Model::triangles(points, &parts)], SurfaceOptions::default()).unwrap();
        assert_eq!(halved.triangles().len(), 4 * surface.triangles().len());
        assert!((halved.area() - surface.area()).abs() < 1e-12);
    }

    #[test]
    fn excess_measures_longer_and_shorter_paths() {
        let excess = Excess::of(&[1.0, 2.2, 0.9, 4.0], &[1.0, 2.0, 1.0, 4.0]);
        assert!((excess.worst - 0.1).abs() < 1e-12 && (excess.short - 0.1).abs() < 1e-12);
        assert!(excess.mean.abs() < 1e-12 && excess.close == 0.75);
    }
}
