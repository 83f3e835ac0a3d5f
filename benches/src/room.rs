//! Shortest paths in a room against the crate `polyanya`, on public meshes with known lengths; building a large room; many
//! threads. Lengths are checked before times are printed.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use hullfield::navigate::room::{Finder, Method, Options as RoomOptions, Path as RoomPath, Room, Strip};
use hullfield_oracle::random::Random;

use crate::options::Options;
use crate::report::{Cell, Report, Table};
use crate::timing::{Samples, interleave, time};

type Query = [[f64; 2]; 2];

/// A mesh as text, queries, and their true lengths if these are known.
struct Scene {
    name: &'static str,
    mesh: String,
    queries: Vec<Query>,
    lengths: Option<Vec<f64>>,
    /// Passes over all queries in a repetition.
    rounds: usize,
}

/// Relative tolerance of lengths: ours, and that of the peer in f32.
const TOLERANCE: f64 = 1e-9;
const PEER_TOLERANCE: f64 = 1e-4;

/// Adds the tables of rooms.
///
/// # Errors
/// A file that cannot be read.
pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), String> {
    let scenes = scenes(options)?;
    if options.selects("peer") {
        peer(options, report, &scenes)?;
    }
    if options.selects("threads") {
        threads(options, report, &scenes)?;
    }
    if options.selects("build") {
        build(options, report)?;
    }
    Ok(())
}

fn scenes(options: &Options) -> Result<Vec<Scene>, String> {
    let folder = std::env::var_os("HULLFIELD_CORPUS").filter(|folder| !folder.is_empty());
    let Some(folder) = folder.map(PathBuf::from) else {
        eprintln!("HULLFIELD_CORPUS is not set: a seeded room replaces the corpus");
        return Ok(vec![stand_in()?]);
    };
    let read = |name: &str| {
        let path = folder.join("rooms").join(name);
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let mut scenes = Vec::new();
    for (name, answers, rounds) in
        [("arena-merged", "arena_optimal.csv", 100), ("aurora-merged", "aurora_optimal.csv", 1)]
    {
        let mut queries = Vec::new();
        let mut lengths = Vec::new();
        for (line, row) in read(answers)?.lines().enumerate().skip(1) {
            let row: Vec<f64> = row.split(',').map_while(|word| word.parse().ok()).collect();
            let [_, x0, y0, x1, y1, length, _] = row[..] else {
                return Err(format!("{answers}: line {}: seven numbers expected", line + 1));
            };
            if !options.quick || line % 20 == 0 {
                queries.push([[x0, y0], [x1, y1]]);
                lengths.push(length);
            }
        }
        scenes.push(Scene {
            name,
            mesh: read(&format!("{name}.mesh"))?,
            queries,
            lengths: Some(lengths),
            rounds,
        });
    }
    Ok(scenes)
}

/// A square with pillars.
pub(crate) fn pillars(columns: u32, rows: u32) -> (Vec<[f64; 2]>, Vec<Vec<[f64; 2]>>) {
    let mut random = Random::new(3);
    let mut holes = Vec::new();
    for column in 0..columns {
        for row in 0..rows {
            let centre = [4.0 * f64::from(column) + 2.0, 4.0 * f64::from(row) + 2.0];
            let corner = |k: u32| {
                let angle = -std::f64::consts::FRAC_PI_2 * (f64::from(k) + 0.8 * random.unit());
                let reach = random.between(0.5, 1.8);
                [centre[0] + reach * angle.cos(), centre[1] + reach * angle.sin()]
            };
            holes.push((0..4).map(corner).collect());
        }
    }
    let (width, height) = (4.0 * f64::from(columns), 4.0 * f64::from(rows));
    (vec![[0.0, 0.0], [width, 0.0], [width, height], [0.0, height]], holes)
}

fn stand_in() -> Result<Scene, String> {
    let (outer, holes) = pillars(40, 40);
    let room = Room::new(&outer, &holes, RoomOptions::default()).map_err(|error| error.to_string())?;
    let mut random = Random::new(4);
    let mut point = || match room.random_point([random.unit(), random.unit(), random.unit()]) {
        Ok(Some(point)) => Ok(point.position),
        Ok(None) => Err("the room has no area".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    let queries = (0..1000).map(|_| Ok([point()?, point()?])).collect::<Result<_, String>>()?;
    Ok(Scene { name: "pillars", mesh: mesh_text(&room), queries, lengths: None, rounds: 1 })
}

/// A room as a `.mesh` file.
pub(crate) fn mesh_text(room: &Room) -> String {
    let mut around = vec![Vec::new(); room.vertices().len()];
    let mut polygons = String::new();
    for cell in 0..room.cell_count() as u32 {
        let corners: Vec<u32> = room.cell(cell).collect();
        let _ = write!(polygons, "{}", corners.len());
        for &corner in &corners {
            around[corner as usize].push(cell);
            let _ = write!(polygons, " {corner}");
        }
        let mut beyond: Vec<i64> = room.neighbours(cell).map(|n| n.map_or(-1, i64::from)).collect();
        beyond.rotate_right(1);
        for neighbour in beyond {
            let _ = write!(polygons, " {neighbour}");
        }
        polygons.push('\n');
    }
    let mut text = format!("mesh\n2\n{} {}\n", room.vertices().len(), room.cell_count());
    for (vertex, cells) in room.vertices().zip(&around) {
        let _ = write!(text, "{} {} {}", vertex[0], vertex[1], cells.len() + 1);
        for cell in cells {
            let _ = write!(text, " {cell}");
        }
        text.push_str(" -1\n");
    }
    text + &polygons
}

fn find_all(finder: &mut Finder<'_>, path: &mut RoomPath, queries: &[Query]) -> Result<f64, String> {
    let mut sum = 0.0;
    for &[start, goal] in queries {
        finder.path_into(start, goal, &Method::Optimal.into(), path).map_err(|error| error.to_string())?;
        sum += path.length;
    }
    Ok(sum)
}

fn peer(options: &Options, report: &mut Report, scenes: &[Scene]) -> Result<(), String> {
    let mut table = Table::new(
        "room_peer",
        "Shortest paths, one thread, against polyanya 0.18 (f32) on the same mesh and queries",
        &[
            "scene",
            "cells",
            "hullfield queries/s",
            "polyanya queries/s",
            "ratio",
            "p50 ms",
            "p99 ms",
            "funnel queries/s",
            "worst error",
            "polyanya worst",
        ],
    );
    for scene in scenes {
        let room = Room::from_polyanya_mesh(&scene.mesh, RoomOptions::default())
            .map_err(|error| error.to_string())?;
        let theirs: polyanya::Mesh = polyanya::PolyanyaFile::from_bytes(scene.mesh.as_bytes())
            .try_into()
            .map_err(|error| format!("polyanya refuses {}: {error:?}", scene.name))?;
        let points: Vec<[glam33::Vec2; 2]> =
            scene.queries.iter().map(|query| query.map(|p| glam33::vec2(p[0] as f32, p[1] as f32))).collect();
        let mut finder = room.finder();
        let mut path = RoomPath::default();
        let (mut worst, mut peer_worst) = (0.0_f64, 0.0_f64);
        for (i, &[start, goal]) in scene.queries.iter().enumerate() {
            finder
                .path_into(start, goal, &Method::Optimal.into(), &mut path)
                .map_err(|error| error.to_string())?;
            let truth = scene.lengths.as_ref().map_or(path.length, |lengths| lengths[i]);
            let error = (path.length - truth).abs() / truth.max(1e-9);
            let found =
                theirs.path(points[i][0], points[i][1]).map_or(f64::INFINITY, |path| f64::from(path.length));
            worst = worst.max(error);
            peer_worst = peer_worst.max((found - truth).abs() / truth.max(1e-9));
        }
        if worst > TOLERANCE {
            report.fail(format!("{}: hullfield's lengths are off by {worst:e}", scene.name));
            continue;
        }
        if peer_worst > PEER_TOLERANCE {
            report.fail(format!(
                "{}: polyanya's lengths are off by {peer_worst:e}: other queries?",
                scene.name
            ));
        }
        let rounds = if options.quick { 1 } else { scene.rounds };
        let [ours, peers] = interleave(
            if options.quick { 1 } else { 7 },
            || {
                for _ in 0..rounds {
                    black_box(find_all(&mut finder, &mut path, &scene.queries)?);
                }
                Ok(())
            },
            || {
                for _ in 0..rounds {
                    for points in &points {
                        black_box(theirs.path(points[0], points[1]));
                    }
                }
                Ok(())
            },
        )?;
        let mut each = Vec::with_capacity(scene.queries.len());
        let mut funnels = Samples::default();
        for &[start, goal] in &scene.queries {
            // The shortest of three, as a pause of the machine is not a slow query.
            let mut least = f64::INFINITY;
            for _ in 0..3 {
                let started = Instant::now();
                finder
                    .path_into(start, goal, &Method::Optimal.into(), &mut path)
                    .map_err(|error| error.to_string())?;
                least = least.min(started.elapsed().as_secs_f64() * 1e3);
            }
            each.push(least);
        }
        let (ms, done) = time(|| {
            for &[start, goal] in &scene.queries {
                finder.path_into(start, goal, &Method::Funnel(Strip::Dijkstra).into(), &mut path)?;
            }
            Ok::<(), hullfield::Error>(())
        });
        done.map_err(|error| error.to_string())?;
        funnels.push(ms);
        each.sort_by(f64::total_cmp);
        let count = (scene.queries.len() * rounds) as f64;
        table.row([
            scene.name.into(),
            room.cell_count().into(),
            Cell::Number(count / ours.median() * 1e3, 0),
            Cell::Number(count / peers.median() * 1e3, 0),
            Cell::Number(peers.ratio(&ours), 2),
            Cell::Number(each[each.len() / 2], 4),
            Cell::Number(each[(each.len() * 99 / 100).min(each.len() - 1)], 3),
            Cell::Number(scene.queries.len() as f64 / funnels.median() * 1e3, 0),
            format!("{worst:.1e}").into(),
            format!("{peer_worst:.1e}").into(),
        ]);
    }
    table.note("ratio: how many times as many queries as polyanya, the median over repetitions side by side");
    report.table(table);
    Ok(())
}

fn threads(options: &Options, report: &mut Report, scenes: &[Scene]) -> Result<(), String> {
    let mut table = Table::new(
        "room_threads",
        "Many queries at once",
        &["scene", "threads", "queries/s", "times one thread"],
    );
    for scene in scenes {
        let room = Room::from_polyanya_mesh(&scene.mesh, RoomOptions::default())
            .map_err(|error| error.to_string())?;
        let queries: Vec<Query> =
            scene.queries.iter().copied().cycle().take(scene.queries.len() * scene.rounds).collect();
        let (mut one, mut all) = (Vec::new(), Vec::new());
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|error| error.to_string())?;
        let [single, many] = interleave(
            if options.quick { 1 } else { 5 },
            || {
                pool.install(|| room.paths_into(&queries, &Method::Optimal.into(), &mut one))
                    .map(drop)
                    .map_err(|error| error.to_string())
            },
            || {
                room.paths_into(&queries, &Method::Optimal.into(), &mut all)
                    .map(drop)
                    .map_err(|error| error.to_string())
            },
        )?;
        if one != all {
            report.fail(format!("{}: many threads answer otherwise than one", scene.name));
        }
        for (count, samples) in [(1, &single), (rayon::current_num_threads(), &many)] {
            table.row([
                scene.name.into(),
                count.into(),
                Cell::Number(queries.len() as f64 / samples.median() * 1e3, 0),
                Cell::Number(single.ratio(samples), 2),
            ]);
        }
    }
    report.table(table);
    Ok(())
}

fn build(options: &Options, report: &mut Report) -> Result<(), String> {
    let mut table = Table::new("room_build", "Building a room", &["room", "vertices", "cells", "ms"]);
    let (columns, rows) = if options.quick { (20, 20) } else { (158, 158) };
    let (outer, holes) = pillars(columns, rows);
    for (name, merge) in [("pillars, triangles", false), ("pillars, merged", true)] {
        let mut samples = Samples::default();
        let mut counts = (0, 0);
        for _ in 0..if options.quick { 1 } else { 5 } {
            let options = RoomOptions { merge, ..RoomOptions::default() };
            let (ms, room) = time(|| Room::new(&outer, &holes, options));
            let room = room.map_err(|error| error.to_string())?;
            if room.island_count() != 1 {
                report.fail(format!("{name}: {} islands instead of one", room.island_count()));
            }
            counts = (room.vertices().len(), room.cell_count());
            samples.push(ms);
        }
        table.row([name.into(), counts.0.into(), counts.1.into(), Cell::Number(samples.best(), 0)]);
    }
    table.note("the best of five");
    report.table(table);
    Ok(())
}
