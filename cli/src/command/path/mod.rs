//! `hullfield path`.

mod arguments;
mod places;
mod report;

use std::collections::HashSet;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::time::Instant;

use hullfield::navigate::surface::{
    BuildStage, LoadOptions, Method as SurfaceMethod, Model, Options as SurfaceOptions, Path as SurfacePath,
    Place as SurfacePlace, Surface, TJunction,
};
use hullfield::{Error, Location};

pub(crate) use self::arguments::Arguments;
use self::arguments::MethodChoice;
use self::places::{PlaceResolver, Places};
use self::report::{Answers, Times, face_at};
use super::{common_json, extend, has_extension, print_json, status};
use crate::failure::{Failure, Result, input_name};
use crate::output::{OutputFlag, ReportStream, check_outputs, to_file, warn};
use crate::picture::{self, SurfacePicture};
use crate::progress::{Spinner, StageBar};
use crate::read::{
    SurfaceQuery, SurfaceQueryEnd, file_bytes, file_format, models, surface_face, surface_faces,
    surface_goals, surface_links, surface_point, surface_queries,
};

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let started = Instant::now();
    let report_stream = check_files(arguments)?;
    let method = method(arguments)?;
    let up = surface_point("--up", &arguments.up)?;
    let Request { source, queries: rows } = request(arguments)?;
    let mut times = Times::default();

    let read_start = Instant::now();
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
    let resolver = PlaceResolver { arguments, face_counts: &face_counts };
    let queries = resolver.places(&rows)?;
    let source = source.map(|source| resolver.place(0, &source, 0)).transpose()?;
    times.read_ms = read_start.elapsed().as_secs_f64() * 1e3;

    let build_start = Instant::now();
    let mut surface = match saved {
        Some(surface) => surface,
        None => build(arguments, &models)?,
    };
    drop(models);
    if let Some(degrees) = arguments.slope {
        surface
            .set_walkable_slope(up, degrees)
            .map_err(|error| Failure::input(format!("--slope: {error}")))?;
    }
    resolver.check(&surface, &queries, &rows)?;
    drop(rows);
    if let Some(source) = source {
        resolver.check_one(&surface, 0, source, 0)?;
    }
    block(&mut surface, blocked)?;
    if let Some(file) = &arguments.links {
        let (links, lines): (Vec<_>, Vec<u64>) = surface_links(file)?.into_iter().unzip();
        surface.set_links(&links).map_err(|error| match error {
            Error::Value { at: Location::Link(row), field, value, allowed } => {
                let line = lines.get(row).copied().unwrap_or_default();
                Failure::line(file, line, format!("{field} is {value}, {allowed}"))
            }
            Error::Invalid { at: Location::Link(row), message } => {
                Failure::line(file, lines.get(row).copied().unwrap_or_default(), message)
            }
            error => error.into(),
        })?;
    }
    if let Some(file) = &arguments.save {
        to_file(file, |writer| writer.write_all(&surface.to_bytes()))?;
    }
    times.build_ms = build_start.elapsed().as_secs_f64() * 1e3;

    let paths_start = Instant::now();
    let mut is_ambiguous = false;
    let mut field_source = None;
    let (paths, distances) = match source {
        None => {
            let _spinner = Spinner::new(format!("{} paths", queries.len()));
            (surface.paths(&queries, &method.into())?.rows, None)
        }
        Some(source) => {
            let from = arguments.field_from.as_deref().unwrap_or_default();
            let _spinner = Spinner::new(format!("distances from {from}"));
            let field = surface.field(source)?;
            // With goals the column ambiguous0 says so.
            is_ambiguous = field.is_ambiguous() && queries.is_empty();
            field_source = field.source();
            let goals: Vec<SurfacePlace> = queries.iter().map(|&[_, goal]| goal).collect();
            (field.paths(&goals)?.rows, Some(field.at_vertices()))
        }
    };
    times.paths_ms = paths_start.elapsed().as_secs_f64() * 1e3;

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
        source: field_source,
        t_junctions: t_junctions(&surface),
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
    if is_ambiguous {
        warn(
            "--field-from: surfaces that no edge connects are equally near there; each distance is the least from any of them; --from-face chooses one",
        );
    }
    if !arguments.json {
        return report_stream.write(|writer| answers.write(writer));
    }
    let stages = [("read", times.read_ms), ("build", times.build_ms), ("paths", times.paths_ms)];
    let mut value = common_json(None, started, stages, answers.counts());
    extend(&mut value, answers.json());
    print_json(&value)
}

/// Checks inputs and outputs before any work.
fn check_files(arguments: &Arguments) -> Result<ReportStream> {
    let meshes = arguments.meshes.iter().map(|mesh| ("MESH", mesh.as_path()));
    let tables =
        [("--queries", &arguments.queries), ("--blocked", &arguments.blocked), ("--links", &arguments.links)];
    let tables = tables.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
    let inputs: Vec<_> = meshes.chain(tables).collect();
    let outputs = [
        OutputFlag::binary("--save", &arguments.save, &["bin"]),
        OutputFlag::text("--out", &arguments.out, &["csv"]),
        OutputFlag::text("--points", &arguments.points, &["csv"]),
        OutputFlag::binary("--png", &arguments.png, &["png"]),
    ];
    let report_stream = check_outputs(&outputs, &inputs, arguments.json)?;
    let has_queries = arguments.from.is_some() || arguments.queries.is_some();
    if arguments.out.is_some() && !has_queries && arguments.field_from.is_none() {
        return Err(Failure::input("--out needs --from and --to, --queries or --field-from"));
    }
    if arguments.points.is_some() && !has_queries {
        return Err(Failure::input("--points needs --from and --to, or --queries"));
    }
    Ok(report_stream)
}

/// The method of the flags. A field is always exact.
fn method(arguments: &Arguments) -> Result<SurfaceMethod> {
    let is_geodesic = matches!(arguments.method, None | Some(MethodChoice::Geodesic));
    if arguments.tolerance.is_some() && !(is_geodesic && arguments.field_from.is_none()) {
        return Err(Failure::input("--tolerance applies to --method geodesic only"));
    }
    match (arguments.method, &arguments.field_from) {
        (None | Some(MethodChoice::Exact), Some(_)) => Ok(SurfaceMethod::Exact),
        (Some(_), Some(_)) => Err(Failure::input("--field-from is always exact: it takes no other --method")),
        (Some(MethodChoice::Funnel), None) => Ok(SurfaceMethod::Funnel),
        (None | Some(MethodChoice::Geodesic), None) => {
            let geodesic = |tolerance| SurfaceMethod::Geodesic { tolerance };
            Ok(arguments.tolerance.map_or_else(SurfaceMethod::default, geodesic))
        }
        (Some(MethodChoice::Exact), None) => Ok(SurfaceMethod::Exact),
    }
}

/// The queries as they were given, their faces not looked up yet.
struct Request {
    /// The source of `--field-from`.
    source: Option<SurfaceQueryEnd>,
    queries: Vec<SurfaceQuery>,
}

/// Reads the flags and files that give the queries.
fn request(arguments: &Arguments) -> Result<Request> {
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
    Ok(Request { source: arguments.field_from.as_ref().and(from), queries })
}

/// Reads the models, or a saved surface.
fn read(arguments: &Arguments) -> Result<(Vec<Model>, Option<Surface>)> {
    let mut saved = None;
    for file in &arguments.meshes {
        if file_format(file)? == "bin" {
            saved = Some(file);
        }
    }
    let Some(file) = saved else { return Ok((models(&arguments.meshes)?, None)) };
    let invalid = |message| Err(Failure::file(file, message));
    if arguments.meshes.len() > 1 {
        return invalid("a saved surface stands alone: no other MESH can be joined to it");
    }
    if arguments.weld != 0.0 || arguments.interval.is_some() {
        return invalid("a saved surface is built already: --weld and --interval no longer apply");
    }
    let bytes = file_bytes(file)?;
    let options = LoadOptions { max_snap: arguments.max_snap, ..LoadOptions::default() };
    let surface = Surface::from_bytes(&bytes, options).map_err(|error| Failure::file(file, error))?;
    Ok((Vec::new(), Some(surface)))
}

/// The most models of a saved surface: a corrupt file could name any number.
const MAX_MODELS: usize = 1 << 20;

/// The number of faces of each model, from the sources of the triangles; none if there are more than [`MAX_MODELS`] models.
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
    let options = SurfaceOptions {
        weld: arguments.weld,
        interval: arguments.interval,
        max_snap: arguments.max_snap,
        landmarks: false,
    };
    let mut bar = StageBar::new();
    let built = Surface::build(models, options, |progress| {
        bar.at(stage_name(progress.stage), progress.done as u64, progress.total as u64);
        ControlFlow::Continue(())
    });
    drop(bar);
    let file = |model: usize| arguments.meshes.get(model).cloned().unwrap_or_default();
    built.map_err(|error| match error {
        Error::Value { at: Location::ModelPoint { model, point }, field, value, allowed } => {
            Failure::file(&file(model), format!("point {point}: {field} is {value}, {allowed}"))
        }
        Error::Count { at: Location::ModelFace { model, face }, what, given, allowed } => {
            Failure::file(&file(model), format!("face {face}: {given} {what} were given, {allowed}"))
        }
        Error::Missing { at: Location::ModelFace { model, face }, what, index, count } => {
            let message = format!("face {face}: {what} {index} does not exist, there are {count}");
            Failure::file(&file(model), message)
        }
        error @ Error::Invalid { at: Location::Argument, .. } if models.len() == 1 => {
            Failure::file(&file(0), error)
        }
        error => error.into(),
    })
}

/// Warns of faces that are not simple polygons, naming the first.
fn warn_of_faces(arguments: &Arguments, surface: &Surface) {
    let faces = &surface.report().not_simple;
    let Some(first) = faces.first() else { return };
    // A saved surface is one file with several models.
    let meshes = &arguments.meshes;
    let (file, model) = match meshes.get(first.model as usize) {
        Some(file) if !has_extension(file, "bin") => (Some(file), String::new()),
        _ => (meshes.last(), format!(" of model {}", first.model)),
    };
    let more = match faces.len() - 1 {
        0 => String::new(),
        1 => " (and 1 more face)".to_owned(),
        more => format!(" (and {more} more faces)"),
    };
    warn(format_args!(
        "{}: face {}{model} is not a simple polygon{more}: where it crosses itself, a path may leave it",
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
        BuildStage::Landmarks => "measuring landmarks",
        _ => "building",
    }
}

/// How far a vertex may be from an edge that it is not joined to, relative to the largest extent of the surface: what f32 rounds is found. A point far from all
/// others must not hide what is between these: so the middle length of edges bounds it too.
const JUNCTION_TOLERANCE: f64 = 1e-6;
const OF_MIDDLE_EDGE: f64 = 1e-2;

/// The vertices that lie on edges they are not joined to. A closed surface of one island has no gaps that they could make.
fn t_junctions(surface: &Surface) -> Vec<TJunction> {
    let report = surface.report();
    if report.boundary_edge_count == 0 && report.island_count <= 1 {
        return Vec::new();
    }
    let [low, high] = surface.bounds();
    let size = low.iter().zip(high).fold(0.0, |size, (low, high)| f64::max(size, high - low));
    let vertices: Vec<[f64; 3]> = surface.vertices().collect();
    let length = |&[a, b]: &[u32; 2]| {
        let [a, b] = [a, b].map(|end| vertices[end as usize]);
        a.iter().zip(b).fold(0.0, |length, (a, b)| f64::hypot(length, a - b))
    };
    let mut lengths: Vec<f64> = surface.edges().iter().map(length).collect();
    let middle = lengths.len() / 2;
    let middle = lengths.select_nth_unstable_by(middle, f64::total_cmp).1;
    let tolerance = f64::min(JUNCTION_TOLERANCE * size, OF_MIDDLE_EDGE * *middle);
    surface.t_junctions(tolerance).unwrap_or_else(|_| {
        let name = "vertices on edges that they are not joined to";
        warn(format_args!("{name} were not looked for: too many triangles lie at one place"));
        Vec::new()
    })
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
            let snap =
                |&place: &SurfacePlace| surface.nearest_point(place).map(|found| found.map(|at| at.distance));
            Ok([snap(start)?, snap(goal)?])
        })
        .collect()
}

fn write_rows(writer: &mut dyn Write, answers: &Answers<'_>) -> io::Result<()> {
    writeln!(writer, "length,status,snap0,snap1,ambiguous0,ambiguous1")?;
    for (path, snaps) in answers.paths.iter().zip(&answers.snaps) {
        let [start, goal] = snaps.map(|snap| snap.map_or_else(String::new, |snap| snap.to_string()));
        // An end with no walkable point near has empty cells.
        let ambiguity = |end: usize| match snaps[end] {
            Some(_) => u8::from(path.ambiguous[end]).to_string(),
            None => String::new(),
        };
        writeln!(
            writer,
            "{},{},{start},{goal},{},{}",
            path.length,
            status(&path.reach, "mesh"),
            ambiguity(0),
            ambiguity(1)
        )?;
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
