//! `hullfield path`.

mod names;
mod report;

use std::collections::HashSet;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use hullfield::{
    BuildStage, Error, Model, Surface, SurfaceMethod, SurfaceOptions, SurfacePath, SurfacePlace,
};

use names::{Names, Places};

use super::{common_json, extend, has_extension, print_json};
use crate::failure::{Failure, Result, input_name};
use crate::output::{Reports, Wanted, check_outputs, to_file, warn};
use crate::picture::{self, SurfacePicture};
use crate::progress::{Spinner, StageBar};
use crate::read::{
    SurfaceQuery, SurfaceQueryEnd, file_bytes, kind, models, surface_face, surface_faces, surface_goals,
    surface_links, surface_point, surface_queries,
};

/// What `path` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = concat!("MESH files are OBJ, STL, PLY or glTF; each is one model, with all its faces, numbered from 0 in the \
    file's order. A polygon is cut into triangles, by a fan where that turns over nowhere; of one that meets itself a \
    warning tells. Points that are equal are one, of all models together.\n\n\
    queries.csv has the columns x0,y0,z0,x1,y1,z1, and if you like model0,face0,model1,face1: the face that the start and the \
    goal are on, both numbered from 0, models in the order of MESH. An empty face names none; model may be left out where there is \
    one. The answer has a row for each query, in order: length (inf where there is \
    no path), status (reached, unreachable, start off the mesh, goal off the mesh), snap0 and snap1, how far the start and \
    the goal are from the nearest walkable point (of the face, where it is named), where the path begins and ends, and \
    ambiguous0 and ambiguous1: 1 where surfaces that no edge connects there are equally near, as two that lie on one another. The \
    path is then the best of them; a face tells them apart. A length holds the costs of the links that the \
    path takes. points.csv has a row for each point of each \
    path: query,i,x,y,z, the unit normal nx,ny,nz, and model and face that the path goes on over from there (of the last \
    point, that it came over).\n\n\
    Coordinates and lengths are in the models' units. --save writes a .bin of the program's own, which also goes through a pipe. \
    --png draws the surface, the paths with their normals, and with --field-from bands of distances. Told of the surface: models, \
    faces, vertices, edges, triangles, walkable ones, islands, area, and what was found while it was built.\n\n\
    Examples: hullfield path terrain.stl --from 0,0,1 --to 9,4,2 --slope 45 --up 0,0,1 --png path.png\n  \
    hullfield path house.obj --queries q.csv --weld 1e-4 --method exact --out out.csv --points points.csv\n  \
    hullfield path bunny.ply --field-from 0,0.1,0 --out distances.csv",
    files_help!(),
    answer_help!())
)]
pub(crate) struct Arguments {
    /// The models: .obj, .stl, .ply, .gltf or .glb; or one .bin that --save has written
    #[arg(value_name = "MESH", required = true)]
    meshes: Vec<PathBuf>,
    /// Where the path begins
    #[arg(long, value_name = "x,y,z", requires = "to", allow_hyphen_values = true)]
    from: Option<String>,
    /// Where it leads
    #[arg(long, value_name = "x,y,z", allow_hyphen_values = true)]
    to: Option<String>,
    /// The face that --from or --field-from is on: its number, from 0, and before it the model's where there are several
    #[arg(long, value_name = "[MODEL,]FACE")]
    from_face: Option<String>,
    /// The face that --to is on
    #[arg(long, value_name = "[MODEL,]FACE", requires = "to")]
    to_face: Option<String>,
    /// Many queries
    #[arg(long, value_name = "q.csv", conflicts_with = "from")]
    queries: Option<PathBuf>,
    /// How paths are found: geodesic if not given, exact with --field-from
    #[arg(long, value_enum)]
    method: Option<MethodChoice>,
    /// By how much a path by geodesic may be longer than the shortest, relative to it: 0.001 if not given; 0 is exact, inf takes the
    /// first path that is found
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = tolerance)]
    tolerance: Option<f64>,
    /// Cut triangles until no edge is longer
    #[arg(long, value_name = "L", allow_hyphen_values = true, value_parser = interval)]
    interval: Option<f64>,
    /// Join points within this distance of one another
    #[arg(long, value_name = "T", default_value = "0", allow_hyphen_values = true, value_parser = length)]
    weld: f64,
    /// Walk only where the surface faces up within so many degrees: 90 allows floors and walls, 180 everything
    #[arg(long, value_name = "DEG", allow_hyphen_values = true, value_parser = degrees)]
    slope: Option<f64>,
    /// Which way is up, for --slope and --png
    #[arg(long, value_name = "x,y,z", default_value = "0,1,0", allow_hyphen_values = true)]
    up: String,
    /// Faces that may not be walked on: columns model (may be left out where there is one) and face
    #[arg(long, value_name = "faces.csv")]
    blocked: Option<PathBuf>,
    /// A start or a goal further from the surface than that is off the mesh
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = length)]
    max_snap: Option<f64>,
    /// Ways off the surface, as jumps and ladders: columns x0,y0,z0,x1,y1,z1, and if you like cost (the distance if left out)
    /// and two_way (0 or 1)
    #[arg(long, value_name = "links.csv")]
    links: Option<PathBuf>,
    /// One source for many goals: the exact distance of everything from there. --queries has the columns x1,y1,z1 then, and
    /// model1,face1 if you like;
    /// without goals --out is a table x,y,z,distance of all vertices
    #[arg(long, value_name = "x,y,z", allow_hyphen_values = true, conflicts_with_all = ["from", "links"])]
    field_from: Option<String>,
    /// Save the built surface, with what may be walked on and the links; the .bin file can be given as MESH again
    #[arg(long, value_name = "s.bin")]
    save: Option<PathBuf>,
    /// Write the answers, as .csv
    #[arg(long, value_name = "out.csv")]
    out: Option<PathBuf>,
    /// Write the points of the paths, with normals and faces, as .csv
    #[arg(long, value_name = "points.csv")]
    points: Option<PathBuf>,
    /// Draw the surface and the paths, as .png
    #[arg(long, value_name = "path.png")]
    png: Option<PathBuf>,
    /// Pixels of the picture
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1600x1000", value_parser = super::size)]
    size: [usize; 2],
    /// Print one JSON object; without --out it holds the answers
    #[arg(long)]
    json: bool,
}

/// How a path is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodChoice {
    /// Dijkstra over triangles, then the funnel: the shortest within one strip of triangles
    Funnel,
    /// Locally shortest, and longer than the shortest by no more than --tolerance
    Geodesic,
    /// The shortest of all
    Exact,
}

/// How long the stages took, in milliseconds.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    read_ms: f64,
    build_ms: f64,
    paths_ms: f64,
}

/// What was asked and answered.
struct Answers<'a> {
    arguments: &'a Arguments,
    face_counts: Vec<usize>,
    surface: &'a Surface,
    queries: &'a [Places],
    paths: &'a [SurfacePath],
    /// How far each start and goal is from the nearest walkable point, where there is one.
    snaps: Vec<[Option<f64>; 2]>,
    /// The distance of each vertex from the one source, where that is what was asked for.
    distances: Option<&'a [f64]>,
    times: Times,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let started = Instant::now();
    let reports = outputs(arguments)?;
    let method = method(arguments)?;
    let up = surface_point("--up", &arguments.up)?;
    let Asked { source, queries: asked } = asked(arguments)?;
    let mut times = Times::default();

    let begun = Instant::now();
    let (models, saved) = {
        let _spinner = Spinner::new("reading");
        read(arguments)?
    };
    let face_counts = match &saved {
        Some(surface) => face_counts(surface)
            .ok_or_else(|| Failure::file(&arguments.meshes[0], format!("more than {MAX_MODELS} models")))?,
        None => models.iter().map(Model::face_count).collect(),
    };
    let blocked = match &arguments.blocked {
        Some(path) => surface_faces(path, &face_counts)?,
        None => Vec::new(),
    };
    let names = Names { arguments, face_counts: &face_counts };
    let queries = names.places(&asked)?;
    let source = source.map(|source| names.place(0, &source, 0)).transpose()?;
    times.read_ms = begun.elapsed().as_secs_f64() * 1e3;

    let begun = Instant::now();
    let mut surface = match saved {
        Some(surface) => surface,
        None => build(arguments, &models)?,
    };
    if let Some(max_snap) = arguments.max_snap {
        surface = surface.with_max_snap(max_snap)?;
    }
    drop(models);
    if let Some(degrees) = arguments.slope {
        surface
            .set_walkable_slope(up, degrees)
            .map_err(|error| Failure::input(format!("--slope: {error}")))?;
    }
    names.check(&surface, &queries, &asked)?;
    drop(asked);
    if let Some(source) = source {
        names.check_one(&surface, 0, source, 0)?;
    }
    block(&mut surface, blocked)?;
    if let Some(file) = &arguments.links {
        let (links, lines): (Vec<_>, Vec<u64>) = surface_links(file)?.into_iter().unzip();
        surface.set_links(&links).map_err(|error| match error {
            Error::SurfaceLink { link, message } => {
                Failure::line(file, lines.get(link).copied().unwrap_or_default(), message)
            }
            error => error.into(),
        })?;
    }
    if let Some(file) = &arguments.save {
        to_file(file, |writer| writer.write_all(&surface.to_bytes()))?;
    }
    times.build_ms = begun.elapsed().as_secs_f64() * 1e3;

    let begun = Instant::now();
    let (paths, distances) = match source {
        None => {
            let _spinner = Spinner::new(format!("{} paths", queries.len()));
            (surface.paths(method, &queries)?, None)
        }
        Some(source) => {
            let from = arguments.field_from.as_deref().unwrap_or_default();
            let _spinner = Spinner::new(format!("distances from {from}"));
            let field = surface.field(source)?;
            let goals: Vec<SurfacePlace> = queries.iter().map(|&[_, goal]| goal).collect();
            (field.paths(&goals)?, Some(field.at_vertices()))
        }
    };
    times.paths_ms = begun.elapsed().as_secs_f64() * 1e3;

    let snaps = snaps(&surface, &queries, &paths)?;
    let distances = distances.as_deref();
    let answers = Answers {
        arguments,
        face_counts,
        surface: &surface,
        queries: &queries,
        paths: &paths,
        snaps,
        distances,
        times,
    };
    if let Some(out) = &arguments.out {
        to_file(out, |writer| match distances {
            Some(distances) if queries.is_empty() => write_distances(writer, &surface, distances),
            _ => write_rows(writer, &answers),
        })?;
    }
    if let Some(out) = &arguments.points {
        to_file(out, |writer| write_points(writer, &surface, &paths))?;
    }
    if let Some(out) = &arguments.png {
        let picture = {
            let _spinner = Spinner::new("drawing");
            let [width, height] = arguments.size;
            SurfacePicture { surface: &surface, paths: &paths, distances, up }.draw(width, height)
        };
        picture::write_png(&picture, out)?;
    }
    warn_of_faces(arguments, &surface);
    if !arguments.json {
        return reports.say(|writer| answers.write(writer));
    }
    let stages = [("read", times.read_ms), ("build", times.build_ms), ("paths", times.paths_ms)];
    let mut value = common_json(None, started, stages, answers.counts());
    extend(&mut value, answers.json());
    print_json(&value)
}

/// Looks at what is to be read and written before any work is done.
fn outputs(arguments: &Arguments) -> Result<Reports> {
    let meshes = arguments.meshes.iter().map(|mesh| ("MESH", mesh.as_path()));
    let tables =
        [("--queries", &arguments.queries), ("--blocked", &arguments.blocked), ("--links", &arguments.links)];
    let tables = tables.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
    let inputs: Vec<_> = meshes.chain(tables).collect();
    let wanted = [
        Wanted::binary("--save", &arguments.save, &["bin"]),
        Wanted::text("--out", &arguments.out, &["csv"]),
        Wanted::text("--points", &arguments.points, &["csv"]),
        Wanted::binary("--png", &arguments.png, &["png"]),
    ];
    check_outputs(&wanted, &inputs, arguments.json)
}

/// The method that is asked for; a field knows only one.
fn method(arguments: &Arguments) -> Result<SurfaceMethod> {
    let is_near = matches!(arguments.method, None | Some(MethodChoice::Geodesic));
    if arguments.tolerance.is_some() && !(is_near && arguments.field_from.is_none()) {
        return Err(Failure::input("--tolerance: it is for --method geodesic alone"));
    }
    match (arguments.method, &arguments.field_from) {
        (None | Some(MethodChoice::Exact), Some(_)) => Ok(SurfaceMethod::Exact),
        (Some(_), Some(_)) => {
            Err(Failure::input("--field-from: its distances are exact, no other --method is known"))
        }
        (Some(MethodChoice::Funnel), None) => Ok(SurfaceMethod::Funnel),
        (None | Some(MethodChoice::Geodesic), None) => {
            let near = |tolerance| SurfaceMethod::Geodesic { tolerance };
            Ok(arguments.tolerance.map_or_else(SurfaceMethod::default, near))
        }
        (Some(MethodChoice::Exact), None) => Ok(SurfaceMethod::Exact),
    }
}

/// What is asked for.
struct Asked {
    /// Of `--field-from`.
    source: Option<SurfaceQueryEnd>,
    queries: Vec<SurfaceQuery>,
}

fn asked(arguments: &Arguments) -> Result<Asked> {
    let face =
        |option, text: &Option<String>| text.as_deref().map(|text| surface_face(option, text)).transpose();
    let from_face = face("--from-face", &arguments.from_face)?;
    let to_face = face("--to-face", &arguments.to_face)?;
    let from = match (&arguments.from, &arguments.field_from) {
        (Some(from), _) => Some(surface_point("--from", from)?),
        (None, Some(source)) => Some(surface_point("--field-from", source)?),
        (None, None) => None,
    };
    if from.is_none() && from_face.is_some() {
        return Err(Failure::input("--from-face needs --from or --field-from"));
    }
    let from = from.map(|position| SurfaceQueryEnd { position, face: from_face });
    let queries = match (from, &arguments.to, &arguments.queries) {
        (_, Some(_), Some(_)) => return Err(Failure::input("--to and --queries cannot be used together")),
        (Some(from), Some(to), None) => {
            let to = SurfaceQueryEnd { position: surface_point("--to", to)?, face: to_face };
            vec![SurfaceQuery { ends: [from, to], line: 0 }]
        }
        (None, Some(_), None) => return Err(Failure::input("--to needs --from or --field-from")),
        (Some(source), None, Some(path)) => surface_goals(path, source)?,
        (None, None, Some(path)) => surface_queries(path)?,
        (_, None, None) => Vec::new(),
    };
    Ok(Asked { source: arguments.field_from.as_ref().and(from), queries })
}

/// The models, or the one surface that was saved.
fn read(arguments: &Arguments) -> Result<(Vec<Model>, Option<Surface>)> {
    let mut saved = None;
    for file in &arguments.meshes {
        if kind(file)? == "bin" {
            saved = Some(file);
        }
    }
    let Some(file) = saved else { return Ok((models(&arguments.meshes)?, None)) };
    let wrong = |message| Err(Failure::file(file, message));
    if arguments.meshes.len() > 1 {
        return wrong("a saved surface stands alone, nothing can be joined to it");
    }
    if arguments.weld != 0.0 || arguments.interval.is_some() {
        return wrong("a saved surface is built: --weld and --interval come too late");
    }
    let bytes = file_bytes(file)?;
    let surface = Surface::from_bytes(&bytes).map_err(|error| Failure::file(file, error))?;
    Ok((Vec::new(), Some(surface)))
}

/// The most models that a saved surface may name: a spoiled one could name any number.
const MAX_MODELS: usize = 1 << 20;

/// As many faces of each model as its triangles come from; none where there are too many models.
fn face_counts(surface: &Surface) -> Option<Vec<usize>> {
    let mut counts: Vec<usize> = Vec::new();
    for source in (0..surface.triangles().len() as u32).filter_map(|triangle| surface.source(triangle)) {
        let model = source.model as usize;
        if model >= MAX_MODELS {
            return None;
        }
        counts.resize(counts.len().max(model + 1), 0);
        counts[model] = counts[model].max(source.face as usize + 1);
    }
    Some(counts)
}

fn build(arguments: &Arguments, models: &[Model]) -> Result<Surface> {
    let options = SurfaceOptions { weld: arguments.weld, interval: arguments.interval };
    let mut bar = StageBar::new();
    let built = Surface::build(models, &options, |progress| {
        bar.at(stage_name(progress.stage), progress.done as u64, progress.total as u64);
        ControlFlow::Continue(())
    });
    drop(bar);
    let file = |model: usize| arguments.meshes.get(model).cloned().unwrap_or_default();
    built.map_err(|error| match error {
        Error::SurfacePoint { model, index, point: [x, y, z], expected } => {
            Failure::file(&file(model), format!("point {index} is ({x}, {y}, {z}): {expected}"))
        }
        Error::SurfaceFace { model, face, message } => {
            Failure::file(&file(model), format!("face {face}: {message}"))
        }
        error @ Error::EmptySurface { .. } if models.len() == 1 => Failure::file(&file(0), error),
        error => error.into(),
    })
}

/// Names the first face that is no simple polygon, if there is one.
fn warn_of_faces(arguments: &Arguments, surface: &Surface) {
    let faces = &surface.report().not_simple;
    let Some(first) = faces.first() else { return };
    // A saved surface is one file, whatever it was built from.
    let meshes = &arguments.meshes;
    let (file, of) = match meshes.get(first.model as usize) {
        Some(file) if !has_extension(file, "bin") => (Some(file), String::new()),
        _ => (meshes.last(), format!(" of model {}", first.model)),
    };
    let more = match faces.len() - 1 {
        0 => String::new(),
        1 => " (and 1 face more)".to_owned(),
        more => format!(" (and {more} faces more)"),
    };
    warn(format_args!(
        "{}: face {}{of} is no simple polygon{more}: where it crosses itself a path over it may cross what is no part of it",
        file.map_or_else(String::new, |file| input_name(file).to_string()),
        first.face,
    ));
}

fn stage_name(stage: BuildStage) -> &'static str {
    match stage {
        BuildStage::Points => "placing points",
        BuildStage::Weld => "joining points",
        BuildStage::Triangles => "cutting faces",
        BuildStage::Refine => "cutting edges",
        BuildStage::Edges => "finding edges",
        BuildStage::Index => "finding islands",
        _ => "building",
    }
}

fn block(surface: &mut Surface, faces: Vec<[u32; 2]>) -> Result<()> {
    if faces.is_empty() {
        return Ok(());
    }
    let faces: HashSet<[u32; 2]> = faces.into_iter().collect();
    for triangle in 0..surface.triangles().len() as u32 {
        if surface.source(triangle).is_some_and(|source| faces.contains(&[source.model, source.face])) {
            surface.set_walkable(triangle, false)?;
        }
    }
    Ok(())
}

fn snaps(surface: &Surface, queries: &[Places], paths: &[SurfacePath]) -> Result<Vec<[Option<f64>; 2]>> {
    queries
        .iter()
        .zip(paths)
        .map(|(query, path)| {
            if path.is_reached() {
                return Ok(path.snaps.map(Some));
            }
            let [start, goal] = query;
            let snap = |&place: &SurfacePlace| surface.locate(place).map(|found| found.map(|at| at.distance));
            Ok([snap(start)?, snap(goal)?])
        })
        .collect()
}

fn write_rows(writer: &mut dyn Write, answers: &Answers<'_>) -> io::Result<()> {
    writeln!(writer, "length,status,snap0,snap1,ambiguous0,ambiguous1")?;
    for (path, snaps) in answers.paths.iter().zip(&answers.snaps) {
        let [start, goal] = snaps.map(|snap| snap.map_or_else(String::new, |snap| snap.to_string()));
        // An end that no walkable point answers has no cell for its surfaces either.
        let told = |end: usize| match snaps[end] {
            Some(_) => u8::from(path.ambiguous[end]).to_string(),
            None => String::new(),
        };
        writeln!(writer, "{},{},{start},{goal},{},{}", path.length, path.reach.name(), told(0), told(1))?;
    }
    Ok(())
}

fn write_distances(writer: &mut dyn Write, surface: &Surface, distances: &[f64]) -> io::Result<()> {
    writeln!(writer, "x,y,z,distance")?;
    for ([x, y, z], distance) in surface.vertices().zip(distances) {
        writeln!(writer, "{x},{y},{z},{distance}")?;
    }
    Ok(())
}

fn write_points(writer: &mut dyn Write, surface: &Surface, paths: &[SurfacePath]) -> io::Result<()> {
    writeln!(writer, "query,i,x,y,z,nx,ny,nz,model,face")?;
    for (query, path) in paths.iter().enumerate() {
        for (i, (&[x, y, z], &[nx, ny, nz])) in path.points.iter().zip(&path.normals).enumerate() {
            let [model, face] = face_at(surface, path, i);
            writeln!(writer, "{query},{i},{x},{y},{z},{nx},{ny},{nz},{model},{face}")?;
        }
    }
    Ok(())
}

/// The model and the face that a path goes on over from one of its points; of the last point, that it came over.
fn face_at(surface: &Surface, path: &SurfacePath, point: usize) -> [u32; 2] {
    let triangle = path.triangles.get(point).or(path.triangles.last());
    let source = triangle.and_then(|&triangle| surface.source(triangle));
    source.map_or([0; 2], |source| [source.model, source.face])
}

/// A finite number from 0.
fn length(text: &str) -> Result<f64, String> {
    let value: f64 = crate::read::number(text.trim())?;
    // A negative zero is a zero.
    if value >= 0.0 { Ok(value.abs()) } else { Err(format!("{value} is below zero")) }
}

/// A number from 0, or infinity.
fn tolerance(text: &str) -> Result<f64, String> {
    if ["inf", "infinity"].contains(&text.trim().to_ascii_lowercase().as_str()) {
        return Ok(f64::INFINITY);
    }
    length(text)
}

fn interval(text: &str) -> Result<f64, String> {
    let value = length(text)?;
    if value > 0.0 { Ok(value) } else { Err("it must be above 0".to_owned()) }
}

fn degrees(text: &str) -> Result<f64, String> {
    let value: f64 = crate::read::number(text.trim())?;
    if (0.0..=180.0).contains(&value) { Ok(value) } else { Err(format!("{value} is not from 0 to 180")) }
}
