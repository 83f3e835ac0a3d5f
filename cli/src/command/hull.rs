//! `hullfield hull`.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use hullfield::{Dimension, Hull};
use serde_json::json;

use super::{NamedHull, common_json, extend, named_hulls, print_json};
use crate::failure::{Failure, Result};
use crate::output::{Wanted, check_outputs, to_file};
use crate::table::Table;

/// What `hull` takes.
#[derive(Debug, clap::Args)]
#[command(after_long_help = concat!(
    "Of an object the points are taken that its faces, lines or points use, or all of them where it has none. In CSV the rows of \
    one name are one point set. Transforms of glTF are applied; lengths are in the file's units.\n\n\
    Told of each hull: its name; points, how many were read; vertices and faces of the hull; dimension (point, segment, polygon, \
    solid); radius, of the ball about the mean of its vertices that holds it; volume; error, how far the vertices that \
    --max-vertices left out lie outside of it at most.\n\n\
    Examples: hullfield hull chair.glb --out hulls.obj\n  \
    hullfield hull rocks.csv --max-vertices 32 --out - | gzip > hulls.obj.gz",
    files_help!(),
    answer_help!()
))]
pub(crate) struct Arguments {
    /// Meshes (OBJ, STL, PLY, glTF, GLB) and point sets (CSV `hull,x,y,z`)
    ///
    /// Each object is one hull; a file without objects is one, called by its name.
    #[arg(required = true, value_name = "MESH")]
    meshes: Vec<PathBuf>,
    /// Shrink each hull to at most this many vertices
    #[arg(long, value_name = "N")]
    max_vertices: Option<usize>,
    /// Write the hulls as an OBJ file, one `o NAME` each, faces counter-clockwise from outside
    #[arg(long, value_name = "FILE.obj")]
    out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A hull as it is written, and by how much it shrank.
struct Row {
    name: String,
    file: PathBuf,
    point_count: usize,
    hull: Hull,
    error: f32,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let begun = Instant::now();
    let inputs: Vec<_> = arguments.meshes.iter().map(|mesh| ("MESH", mesh.as_path())).collect();
    let reports = check_outputs(&[Wanted::text("--out", &arguments.out, &["obj"])], &inputs, arguments.json)?;
    let mut rows = Vec::new();
    for NamedHull { name, file, point_count, hull } in named_hulls(&arguments.meshes)? {
        let (hull, error) = match arguments.max_vertices {
            Some(max) if hull.vertices().len() > max => hull
                .simplify(max)
                .map_err(|error| Failure::input(format!("--max-vertices: hull \"{name}\": {error}")))?,
            _ => (hull, 0.0),
        };
        rows.push(Row { name, file, point_count, hull, error });
    }
    if let Some(out) = &arguments.out {
        to_file(out, |writer| write_obj(writer, &rows))?;
    }
    if arguments.json {
        let hulls: Vec<_> = rows
            .iter()
            .map(|row| {
                json!({
                    "name": row.name,
                    "file": row.file.display().to_string(),
                    "points": row.point_count,
                    "vertices": row.hull.vertices().len(),
                    "faces": row.hull.faces().count(),
                    "dimension": dimension(&row.hull),
                    "radius": row.hull.radius(),
                    "volume": row.hull.volume(),
                    "error": row.error,
                })
            })
            .collect();
        let of = |count: fn(&Row) -> usize| rows.iter().map(|row| count(row) as u64).sum();
        let counts = [
            ("hulls", rows.len() as u64),
            ("points", of(|row| row.point_count)),
            ("vertices", of(|row| row.hull.vertices().len())),
        ];
        let mut value = common_json(None, begun, [], counts);
        let out = arguments.out.as_ref().map(|out| out.display().to_string());
        extend(&mut value, json!({ "hulls": hulls, "out": out }));
        return print_json(&value);
    }
    let mut table =
        Table::new(&["name", "points", "vertices", "faces", "dimension", "radius", "volume", "error"]);
    for row in &rows {
        table.row(vec![
            row.name.clone(),
            row.point_count.to_string(),
            row.hull.vertices().len().to_string(),
            row.hull.faces().count().to_string(),
            dimension(&row.hull).to_owned(),
            short(row.hull.radius()),
            short(row.hull.volume()),
            short(f64::from(row.error)),
        ]);
    }
    reports.say(|writer| table.write(writer))
}

/// Six digits, without a tail of zeros; powers of ten where it is very large or small.
fn short(value: f64) -> String {
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

/// One object a hull; vertex numbers run on through the file.
fn write_obj(writer: &mut dyn Write, rows: &[Row]) -> io::Result<()> {
    writeln!(writer, "# convex hulls, written by hullfield {}", env!("CARGO_PKG_VERSION"))?;
    let mut base = 1;
    for row in rows {
        writeln!(writer, "o {}", row.name)?;
        for [x, y, z] in row.hull.vertices() {
            writeln!(writer, "v {x} {y} {z}")?;
        }
        match row.hull.dimension() {
            Dimension::Point | Dimension::HalfSpace => writeln!(writer, "p {base}")?,
            Dimension::Segment => writeln!(writer, "l {base} {}", base + 1)?,
            _ => {
                // A polygon has two sides, of which one is enough: it is the same points.
                let mut written: HashMap<Vec<u32>, ()> = HashMap::new();
                for face in row.hull.faces() {
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
        base += row.hull.vertices().len();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_are_short() {
        let cases =
            [(0.0, "0"), (1.0, "1"), (0.866_025_4, "0.866025"), (1234.5678, "1234.57"), (1e-5, "1.0000e-5")];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }
}
