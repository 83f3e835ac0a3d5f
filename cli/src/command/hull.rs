//! `hullfield hull`.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use hullfield::Error;
use hullfield::collide::{Dimension, Hull};
use hullfield_mesh_files::object_statement;
use serde_json::json;

use super::{common_json, extend, print_json};
use crate::engine::whole_u32;
use crate::failure::{Failure, Result};
use crate::output::{OutputFlag, check_outputs, to_file, warn};
use crate::progress::Bar;
use crate::read::{PointSet, PointSets, excerpt, point_sets};
use crate::table::Table;

/// The arguments of `hull`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = concat!(
    "The hull of an object is that of the points that its faces, lines or points use, or of all its points where it has none of \
    these. In CSV the rows of one name are one point set. Lengths are in the file's units. Objects of the same name get a number: Wheels, \
    Wheels.1. In an OBJ file an object is a statement o, or in a file without any a name of g.\n\n\
    Of glTF the transforms of nodes, instances (EXT_mesh_gpu_instancing), skins and morph weights are applied, as the file's nodes stand. Sparse \
    accessors and KHR_mesh_quantization are read; Draco, meshopt and other extensions that a file requires for its shapes are an error. Materials, \
    textures and animations are not read. Buffers are files beside the scene. Nodes may place meshes of 512 MiB, or of 64 times the file's size.\n\n\
    What follows the announced triangles of a binary STL, or the announced rows of PLY and OFF, is not read, with a warning; nor are numbers after those of a row of PLY. --out writes a name that OBJ \
    cannot express with _ for what it cannot, and the name itself in a comment, where hullfield finds it.\n\n\
    Coordinates are read in f64. An object that f32 cannot hold as it stands, because it is far from its origin, very small or very large, has its hull built \
    about its middle and at another scale, good to 1e-7 of its size. --out has the coordinates of the file. In --json a radius or a volume that no 64-bit float holds is null.\n\n\
    The table has a row for each hull: name; points, how many were read; vertices and faces of the hull; dimension (point, segment, \
    polygon, solid); radius, the largest distance of a vertex from the mean of the vertices; volume; error, the largest distance of \
    a left-out vertex from the hull (--max-vertices).\n\n\
    Examples: hullfield hull chair.glb --out hulls.obj\n  \
    hullfield hull rocks.csv --max-vertices 32 --out - | gzip > hulls.obj.gz",
    files_help!(),
    answer_help!()
))]
pub(crate) struct Arguments {
    /// Meshes (OBJ, STL, PLY, OFF, glTF, GLB) and point sets (CSV `hull,x,y,z`)
    ///
    /// Each object is one hull; a file without objects is one, called by its name.
    #[arg(required = true, value_name = "MESH")]
    meshes: Vec<PathBuf>,
    /// Simplify each hull to at most this many vertices, 4 or more for a solid
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = |text: &str| whole_u32(text, 0..=u32::MAX))]
    max_vertices: Option<u32>,
    /// Write the hulls as an OBJ file, one `o NAME` each, faces counter-clockwise from outside
    #[arg(long, value_name = "FILE.obj")]
    out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A hull with its name and file, as it is reported and written.
struct Row {
    name: String,
    file: PathBuf,
    point_count: usize,
    scaled: ScaledHull,
    /// The largest distance of a left-out vertex from the hull, in the scaled hull's units.
    error: f32,
    /// The vertices with the file's coordinates, in the hull's order.
    vertices: Vec<[f64; 3]>,
}

/// A hull in f32 of points in f64. Its coordinates are the points' as they stand; or less their centre, divided by 2^`exponent`.
struct ScaledHull {
    points: Vec<[f32; 3]>,
    hull: Hull,
    exponent: i32,
}

/// Points stay uncentred if rounding moves them by no more than this share of their extent.
const ROUNDING: f64 = 1.2e-7;

/// The binary exponents of extents that need no scaling.
const UNSCALED: std::ops::RangeInclusive<i32> = -100..=100;

impl ScaledHull {
    /// Builds the hull from the coordinates as they stand if f32 represents them well; else from centred, if need be scaled ones.
    fn new(points: &[[f64; 3]]) -> Result<Self, Error> {
        let bounds = [0, 1, 2].map(|k| {
            let values = || points.iter().map(|point| point[k]);
            [values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max)]
        });
        let extent = bounds.iter().map(|[low, high]| (high - low).min(f64::MAX)).fold(0.0, f64::max);
        let moved =
            points.iter().flatten().map(|&part| (part - f64::from(part as f32)).abs()).fold(0.0, f64::max);
        if moved <= ROUNDING * extent {
            let rounded: Vec<[f32; 3]> = points.iter().map(|point| point.map(|part| part as f32)).collect();
            match Hull::from_points(&rounded) {
                Err(Error::Value { field: "bounding radius", .. }) => {}
                hull => return hull.map(|hull| Self { points: rounded, hull, exponent: 0 }),
            }
        }
        let centre = bounds.map(|[low, high]| 0.5 * low + 0.5 * high);
        let exponent = if extent > 0.0 { extent.log2().floor() as i32 - 1 } else { 0 };
        let exponent = if UNSCALED.contains(&exponent) { 0 } else { exponent };
        let place =
            |point: &[f64; 3]| [0, 1, 2].map(|k| times_power_of_two(point[k] - centre[k], -exponent) as f32);
        let rounded: Vec<[f32; 3]> = points.iter().map(place).collect();
        let hull = Hull::from_points(&rounded)?;
        Ok(Self { points: rounded, hull, exponent })
    }

    /// The index of the point that each vertex of `hull` came from. Both are in the same order.
    fn source_points(&self, hull: &Hull) -> Vec<usize> {
        let mut points = self.points.iter().enumerate();
        let find = |vertex: &[f32; 3]| points.find(|(_, point)| *point == vertex).map(|(i, _)| i);
        hull.vertices().iter().filter_map(find).collect()
    }
}

/// `value` times 2^`exponent`, also where the power alone overflows or underflows f64.
fn times_power_of_two(value: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    value * f64::from(half).exp2() * f64::from(exponent - half).exp2()
}

/// `value` times 2^`exponent`, if f64 represents it.
fn finite_times_power_of_two(value: f64, exponent: i32) -> Option<f64> {
    let found = times_power_of_two(value, exponent);
    (value == 0.0 || found.is_normal()).then_some(found)
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let started = Instant::now();
    let inputs: Vec<_> = arguments.meshes.iter().map(|mesh| ("MESH", mesh.as_path())).collect();
    let report_stream =
        check_outputs(&[OutputFlag::text("--out", &arguments.out, &["obj"])], &inputs, arguments.json)?;
    // New names of equal ones appear in the report, so they need no warning.
    let PointSets { sets, left_out, .. } = point_sets(&arguments.meshes)?;
    let mut bar = Bar::new("hulls", sets.len() as u64);
    let mut rows = Vec::with_capacity(sets.len());
    for PointSet { name, points, file, .. } in sets {
        let mut scaled = ScaledHull::new(&points)
            .map_err(|error| Failure::file(&file, format!("hull \"{}\": {error}", excerpt(&name))))?;
        let mut error = 0.0;
        if let Some(max) =
            arguments.max_vertices.map(|max| max as usize).filter(|&max| scaled.hull.vertices().len() > max)
        {
            (scaled.hull, error) = scaled.hull.simplify(max).map_err(|error| {
                Failure::input(format!("--max-vertices: hull \"{}\": {error}", excerpt(&name)))
            })?;
        }
        // Adding 0.0 makes a negative zero positive, as in the hull.
        let vertices = scaled
            .source_points(&scaled.hull)
            .into_iter()
            .map(|i| points[i].map(|part| part + 0.0))
            .collect();
        rows.push(Row { name, file, point_count: points.len(), scaled, error, vertices });
        bar.step(1);
    }
    drop(bar);
    if let Some(out) = &arguments.out {
        to_file(out, |writer| write_obj(writer, &rows))?;
    }
    left_out.iter().for_each(warn);
    if arguments.json {
        let hulls: Vec<_> = rows
            .iter()
            .map(|row| {
                json!({
                    "name": row.name,
                    "file": row.file.display().to_string(),
                    "points": row.point_count,
                    "vertices": row.scaled.hull.vertices().len(),
                    "faces": row.scaled.hull.faces().count(),
                    "dimension": dimension(&row.scaled.hull),
                    "radius": finite_times_power_of_two(row.scaled.hull.radius(), row.scaled.exponent),
                    "volume": finite_times_power_of_two(row.scaled.hull.volume(), 3 * row.scaled.exponent),
                    "error": finite_times_power_of_two(f64::from(row.error), row.scaled.exponent),
                })
            })
            .collect();
        let of = |count: fn(&Row) -> usize| rows.iter().map(|row| count(row) as u64).sum();
        let counts = [
            ("hulls", rows.len() as u64),
            ("points", of(|row| row.point_count)),
            ("vertices", of(|row| row.scaled.hull.vertices().len())),
        ];
        let mut value = common_json(None, started, [], counts);
        let out = arguments.out.as_ref().map(|out| out.display().to_string());
        extend(&mut value, json!({ "hulls": hulls, "out": out }));
        return print_json(&value);
    }
    let mut table =
        Table::new(&["name", "points", "vertices", "faces", "dimension", "radius", "volume", "error"]);
    for row in &rows {
        let ScaledHull { hull, exponent, .. } = &row.scaled;
        table.row(vec![
            // A terminal would obey control characters.
            row.name.replace(char::is_control, "?"),
            row.point_count.to_string(),
            hull.vertices().len().to_string(),
            hull.faces().count().to_string(),
            dimension(hull).to_owned(),
            short(hull.radius(), *exponent),
            short(hull.volume(), 3 * exponent),
            short(f64::from(row.error), *exponent),
        ]);
    }
    report_stream.write(|writer| table.write(writer))
}

/// `value` times 2^`exponent` in six digits, without trailing zeros; in scientific notation if it is very large or small.
fn short(value: f64, exponent: i32) -> String {
    let Some(value) = finite_times_power_of_two(value, exponent) else {
        let digits = value.abs().log10() + f64::from(exponent) * 2f64.log10();
        return format!("{:.4}e{}", value.signum() * 10f64.powf(digits - digits.floor()), digits.floor());
    };
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) {
        return format!("{value:.4e}");
    }
    let digits = if value == 0.0 { 0 } else { (5 - value.abs().log10().floor() as i32).clamp(0, 8) as usize };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn dimension(hull: &Hull) -> &'static str {
    match hull.dimension() {
        Dimension::Point => "point",
        Dimension::Segment => "segment",
        Dimension::Polygon => "polygon",
        Dimension::Solid => "solid",
        Dimension::HalfSpace => "half-space",
    }
}

/// Writes an object for each hull. Vertex numbers run through the whole file.
fn write_obj(writer: &mut dyn Write, rows: &[Row]) -> io::Result<()> {
    writeln!(writer, "# convex hulls, written by hullfield {}", env!("CARGO_PKG_VERSION"))?;
    let mut base = 1;
    for row in rows {
        write!(writer, "{}", object_statement(&row.name))?;
        for vertex in &row.vertices {
            let [x, y, z] = vertex.map(full);
            writeln!(writer, "v {x} {y} {z}")?;
        }
        match row.scaled.hull.dimension() {
            Dimension::Point | Dimension::HalfSpace => writeln!(writer, "p {base}")?,
            Dimension::Segment => writeln!(writer, "l {base} {}", base + 1)?,
            _ => {
                // A flat polygon has two faces with the same vertices; one is written.
                let mut written: HashMap<Vec<u32>, ()> = HashMap::new();
                for face in row.scaled.hull.faces() {
                    let mut corners = face.to_vec();
                    corners.sort_unstable();
                    if written.insert(corners, ()).is_some() {
                        continue;
                    }
                    write!(writer, "f")?;
                    for &vertex in face {
                        write!(writer, " {}", base + vertex as usize)?;
                    }
                    writeln!(writer)?;
                }
            }
        }
        base += row.vertices.len();
    }
    Ok(())
}

/// A number with all digits that it needs to be read back.
fn full(value: f64) -> String {
    if value == 0.0 || (1e-5..1e16).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The corners of a cube around a point.
    fn cube(at: [f64; 3], half: f64) -> Vec<[f64; 3]> {
        let corner = |i: usize| [0, 1, 2].map(|k| at[k] + if i >> k & 1 == 1 { half } else { -half });
        (0..8).map(corner).collect()
    }

    #[test]
    fn cubes_of_any_size_and_place_keep_their_corners() {
        for (at, half, exponent) in [
            ([0.0; 3], 0.5, 0),
            ([1e12, -3e12, 0.5], 0.5, 0),
            ([1.0, 2.0, -1.0], 5e-10, 0),
            ([0.0; 3], 1e-160, -532),
            ([1e-155, 0.0, 3e-157], 1e-160, -532),
            ([0.0; 3], 1e300, 996),
            ([0.0; 3], 1.7e308, 1023),
            ([0.0; 3], 5e-324, -1074),
            ([1e300, 0.0, 0.0], 1e290, 963),
            ([0.0; 3], 1e38, 126),
            ([0.0; 3], 1e-37, -123),
        ] {
            let points = cube(at, half);
            let scaled = ScaledHull::new(&points).unwrap();
            assert_eq!(
                (scaled.hull.dimension(), scaled.exponent),
                (Dimension::Solid, exponent),
                "{at:?} {half:e}"
            );
            assert_eq!(scaled.hull.faces().count(), 6, "{at:?} {half:e}");
            assert_eq!(scaled.source_points(&scaled.hull), [0, 1, 2, 3, 4, 5, 6, 7]);
        }
    }

    /// Moving points would round them, and points of one plane would leave it.
    #[test]
    fn points_that_f32_represents_are_not_moved() {
        let points = cube([1e6, 0.25, 3.0], 0.5);
        let scaled = ScaledHull::new(&points).unwrap();
        assert_eq!(scaled.points[7].map(f64::from), points[7]);
        assert_eq!(
            ScaledHull::new(&[[1e12 + 1.0; 3], [1e12 + 1.0; 3]]).unwrap().hull.dimension(),
            Dimension::Point
        );
    }

    #[test]
    fn numbers_are_short() {
        let cases =
            [(0.0, "0"), (1.0, "1"), (0.866_025_4, "0.866025"), (1234.5678, "1234.57"), (1e-5, "1.0000e-5")];
        for (value, text) in cases {
            assert_eq!(short(value, 0), text);
        }
        assert_eq!(short(1.5, -1600), "3.3736e-482");
        assert_eq!(short(1.0, 2000), "1.1481e602");
        assert_eq!(short(3.0, -1), "1.5");
    }
}
