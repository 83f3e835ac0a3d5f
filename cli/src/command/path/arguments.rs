//! The flags of `path`.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::command::size;

/// The arguments of `path`.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = concat!("MESH files are OBJ, STL, PLY, OFF or glTF; each is one model, with all its faces, numbered from 0 in the \
    file's order. A polygon is cut into triangles: into a fan where none of its triangles turns over, else by a constrained \
    triangulation. A warning names polygons that meet themselves. Equal points are one point, across all models.\n\n\
    queries.csv has the columns x0,y0,z0,x1,y1,z1. The optional columns model0,face0,model1,face1 name the faces that the start and \
    the goal are on; models and faces count from 0, models in the order of MESH. An empty face names none. The model may be left \
    out where there is one model. The answer has a row for each query, in order: length (inf where there is \
    no path), status (reached, unreachable, start off the mesh, goal off the mesh), snap0 and snap1, how far the start and \
    the goal are from the nearest walkable point (of the face, where it is named), where the path begins and ends, and \
    ambiguous0 and ambiguous1: 1 where several surfaces that share no edge there are equally near, for example two that lie on one another. \
    The path is then the best from any of them; name a face to choose one. A length holds the costs of the links that the \
    path takes. points.csv has a row for each point of each \
    path: query,i,x,y,z, the unit normal nx,ny,nz, and the model and the face that the path crosses after the point (of the last point: \
    before it).\n\n\
    Coordinates and lengths are in the models' units. --save writes a .bin of the program's own, which also goes through a pipe. \
    --png draws the surface, the paths with their normals, and with --field-from bands of distances. The report has the surface's models, faces, vertices, edges, triangles, walkable triangles, islands and area, what was \
    repaired or left out when it was built, and how many vertices lie on edges that they are not joined to (with --json which: found.t_junctions): no path goes across there.\n\n\
    Examples: hullfield path terrain.stl --from 0,0,1 --to 9,4,2 --slope 45 --up 0,0,1 --png path.png\n  \
    hullfield path house.obj --queries q.csv --weld 1e-4 --method exact --out out.csv --points points.csv\n  \
    hullfield path bunny.ply --field-from 0,0.1,0 --out distances.csv",
    files_help!(),
    answer_help!())
)]
pub(crate) struct Arguments {
    /// The models: .obj, .stl, .ply, .off, .gltf or .glb; or one .bin that --save has written
    #[arg(value_name = "MESH", required = true)]
    pub(super) meshes: Vec<PathBuf>,
    /// Where the path begins
    #[arg(long, value_name = "x,y,z", requires = "to", allow_hyphen_values = true)]
    pub(super) from: Option<String>,
    /// Where it leads
    #[arg(long, value_name = "x,y,z", allow_hyphen_values = true)]
    pub(super) to: Option<String>,
    /// The face that --from or --field-from is on. Faces and models count from 0; the model may be left out where there is one
    #[arg(long, value_name = "[MODEL,]FACE")]
    pub(super) from_face: Option<String>,
    /// The face that --to is on
    #[arg(long, value_name = "[MODEL,]FACE", requires = "to")]
    pub(super) to_face: Option<String>,
    /// Many queries, as CSV (columns below)
    #[arg(long, value_name = "q.csv", conflicts_with = "from")]
    pub(super) queries: Option<PathBuf>,
    /// How paths are found [default: geodesic; with --field-from exact]
    #[arg(long, value_enum)]
    pub(super) method: Option<MethodChoice>,
    /// geodesic: how much longer than the shortest a path may be, relative to it [default: 0.001]. 0 is exact; inf takes the first
    /// path that is found
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = tolerance)]
    pub(super) tolerance: Option<f64>,
    /// Cut triangles until no edge is longer
    #[arg(long, value_name = "L", allow_hyphen_values = true, value_parser = interval)]
    pub(super) interval: Option<f64>,
    /// Join points within this distance of one another
    #[arg(long, value_name = "T", default_value = "0", allow_hyphen_values = true, value_parser = length)]
    pub(super) weld: f64,
    /// Walk only where the normal is within so many degrees of up: 90 allows floors and walls, 180 everything
    #[arg(long, value_name = "DEG", allow_hyphen_values = true, value_parser = degrees)]
    pub(super) slope: Option<f64>,
    /// Which way is up, for --slope and --png
    #[arg(long, value_name = "x,y,z", default_value = "0,1,0", allow_hyphen_values = true)]
    pub(super) up: String,
    /// Faces that may not be walked on: columns model (may be left out where there is one) and face
    #[arg(long, value_name = "faces.csv")]
    pub(super) blocked: Option<PathBuf>,
    /// A start or a goal further than this from the surface is off the mesh [default: no limit]
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = length)]
    pub(super) max_snap: Option<f64>,
    /// Links off the surface, such as jumps and ladders: columns x0,y0,z0,x1,y1,z1, and optionally cost (default: the distance)
    /// and two_way (0 or 1, default 0)
    #[arg(long, value_name = "links.csv")]
    pub(super) links: Option<PathBuf>,
    /// One source for many goals: exact distances from there. --queries then has the columns x1,y1,z1, and optionally
    /// model1,face1. Without --queries --out is a table x,y,z,distance of all vertices. A vertex
    /// that lies on a face, or almost at another vertex, without a common edge has a distance of its own. The report names the face and
    /// the vertex that the source is
    #[arg(long, value_name = "x,y,z", allow_hyphen_values = true, conflicts_with_all = ["from", "links"])]
    pub(super) field_from: Option<String>,
    /// Save the built surface, with what may be walked on and the links; the .bin file can be given as MESH again
    #[arg(long, value_name = "s.bin")]
    pub(super) save: Option<PathBuf>,
    /// Write the answers, as .csv
    #[arg(long, value_name = "out.csv")]
    pub(super) out: Option<PathBuf>,
    /// Write the points of the paths, with normals and faces, as .csv
    #[arg(long, value_name = "points.csv")]
    pub(super) points: Option<PathBuf>,
    /// Draw the surface and the paths, as .png
    #[arg(long, value_name = "path.png")]
    pub(super) png: Option<PathBuf>,
    /// Pixels of the picture, 16 to 8192 each way
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1600x1000", value_parser = size)]
    pub(super) size: [usize; 2],
    /// Print one JSON object; without --out it holds the answers
    #[arg(long)]
    pub(super) json: bool,
}

/// How a path is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum MethodChoice {
    /// Dijkstra over triangles, then the funnel: the shortest within one strip of triangles
    Funnel,
    /// Locally shortest, and longer than the shortest by no more than --tolerance
    Geodesic,
    /// The shortest of all
    Exact,
}

/// A finite number from 0.
fn length(text: &str) -> Result<f64, String> {
    let value: f64 = crate::read::number(text.trim())?;
    // A negative zero is a zero.
    if value >= 0.0 { Ok(value.abs()) } else { Err(format!("{value} is below zero")) }
}

/// A number from 0, or infinity.
fn tolerance(text: &str) -> Result<f64, String> {
    let text = text.trim();
    if ["inf", "infinity"].contains(&text.to_ascii_lowercase().as_str()) {
        return Ok(f64::INFINITY);
    }
    if text.parse().is_ok_and(f64::is_nan) {
        return Err("NaN is not a number from 0 to inf".to_owned());
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
