//! The flags of `collide`.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::engine::EngineArguments;

/// The arguments of `collide`.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = concat!("bodies.csv has the columns hull,x,y,z. Optional columns, with their defaults: qx,qy,qz,qw, a unit quaternion (0,0,0,1); \
    scale, or sx,sy,sz (1); radius, a rounding radius in world units (0); vx,vy,vz, the velocity in world units a second (0); \
    wx,wy,wz, the angular velocity about the body's origin in radians a second (0); group and mask, sets of bits (all bits); world, a number: \
    only bodies of one world meet; body and part. \
    Bodies are numbered by row, from 0. pairs.csv has the columns a,b.\n\n\
    With a column body the rows of one body, numbered from 0 without gaps, are its parts, each at its own pose in the world. Parts of a body never \
    meet. part numbers them, else their order does. World, group, mask and velocities are the same for all parts, and a body turns about the \
    origin of its first part. a,b are then bodies, here and in the answer, whose last columns are part_a,part_b.\n\n\
    Coordinates of hulls are rounded to f32. A hull that f32 cannot hold is an error; a hull that loses much of its shape is a \
    warning. Hulls of the same name get a number: Wheels, Wheels.1. A hull of one point with a radius is a ball, of two points a \
    capsule. Two bodies are a pair where the group of each has a bit in the mask of the other; --pairs ignores groups. \
    Velocities are always checked, but only a sweep uses them.\n\n\
    x,y,z are f64, as are the points of points.csv and the origins of rays.csv: bodies far from the origin are judged as those near it. \
    With --positions f32 they are rounded to f32, which has steps of a metre at 1e7 m.\n\n\
    The answer is CSV, in the world's frame and units; n is a unit vector from a to b; a cell without an answer is empty:\n  \
    intersects  a,b,status\n  \
    distance    a,b,status,distance,ax,ay,az,bx,by,bz,nx,ny,nz\n  \
    contact     a,b,status,depth,nx,ny,nz,ax,ay,az,bx,by,bz\n  \
    manifold    the same, a row for each of up to four points, with the depth there\n  \
    sweep       a,b,status,time,nx,ny,nz\n\
    status is separated, touching or penetrating; of a sweep hit, miss or touching (at the start). A negative depth is a \
    distance. With --pairs each pair has its rows, in the order of the file, whatever the margin. Without, the pairs have rows that touch, \
    penetrate, meet or lie within the margin, sorted by a, b, part_a and part_b; those of each world together, in the order of the worlds' numbers.\n\n\
    rays.csv has the columns ox,oy,oz,dx,dy,dz: the origin, and a direction of any length but 0; optional is max, how far the ray goes \
    in world units (inf). points.csv has x,y,z. Where the bodies have a column world, both need one: a ray or a point sees the bodies of its \
    world. Each has a row, in the order of the file:\n  \
    --rays      ray,body,part,distance,nx,ny,nz\n  \
    --points    point,body,part,distance,px,py,pz\n\
    The first hit, with its distance in world units and the outward normal of the body; empty where nothing is hit. A ray that starts \
    in a body hits it at 0 and has no normal. The nearest body, with its distance, negative inside, and the nearest point of its surface. Without a column body part is 0. \
    Rays and points meet bodies of all groups, in f64 on the CPU.\n\n\
    --trace a,b prints the simplices that GJK goes through for one pair. With --out FILE.obj they are written as OBJ lines \
    on the Minkowski difference a - b. With --pairs, --all-pairs or an --out of another kind the query runs too. The lines then go to a file beside that one, of the \
    same name with .trace.obj.\n\n\
    Without --out the rows go to stdout and the summary to stderr: candidates of the broad phase, hits, refined (pairs that EPA saw), settled (pairs decided in f64), and milliseconds by stage.\n\n\
    Examples: hullfield collide --hulls robot.glb walls.obj --bodies bodies.csv\n  \
    hullfield collide --hulls hulls.obj --bodies bodies.csv --query distance --margin 0.5 --out near.csv\n  \
    generate | hullfield collide --hulls hulls.obj --bodies - --query sweep --duration 0.1 --backend gpu --memory-limit 512M\n  \
    hullfield collide --hulls hulls.obj --bodies bodies.csv --rays rays.csv --out hits.csv",
    files_help!(),
    answer_help!())
)]
pub(crate) struct Arguments {
    /// Files of hulls: OBJ, STL, PLY, OFF, glTF, GLB, or CSV `hull,x,y,z`
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    pub(super) hulls: Vec<PathBuf>,
    /// The bodies, as CSV (columns below)
    #[arg(long, value_name = "bodies.csv")]
    pub(super) bodies: PathBuf,
    /// How x,y,z of bodies and points and ox,oy,oz of rays are read
    #[arg(long, value_enum, default_value = "f64")]
    pub(super) positions: Positions,
    /// Examine these pairs only
    #[arg(long, value_name = "pairs.csv", conflicts_with = "all_pairs")]
    pub(super) pairs: Option<PathBuf>,
    /// Never examine these pairs
    #[arg(long, value_name = "pairs.csv", conflicts_with = "pairs")]
    pub(super) exclude: Option<PathBuf>,
    /// Examine every pair, without a broad phase
    #[arg(long)]
    pub(super) all_pairs: bool,
    /// Find what each of these rays hits first, instead of pairs
    #[arg(long, value_name = "rays.csv", conflicts_with_all = ["points", "pairs", "exclude", "all_pairs", "query", "margin", "duration", "exact", "trace"])]
    pub(super) rays: Option<PathBuf>,
    /// Find the body nearest to each of these points, instead of pairs
    #[arg(long, value_name = "points.csv", conflicts_with_all = ["pairs", "exclude", "all_pairs", "query", "margin", "duration", "exact", "trace"])]
    pub(super) points: Option<PathBuf>,
    /// What to find out about each pair
    #[arg(long, value_enum, default_value = "intersects")]
    pub(super) query: QueryKind,
    /// distance, contact, manifold: how far apart pairs may be, in world units [default: inf for distance, else 0]
    #[arg(long, value_name = "M", allow_hyphen_values = true, value_parser = margin)]
    pub(super) margin: Option<f32>,
    /// sweep: for how many seconds the bodies move
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = duration)]
    pub(super) duration: Option<f32>,
    /// Settle every pair in f64
    #[arg(long)]
    pub(super) exact: bool,
    /// Print the simplices that GJK goes through for bodies a and b
    #[arg(long, value_name = "a,b")]
    pub(super) trace: Option<String>,
    /// Write the answer to a file instead of stdout, as .csv; a --trace alone as .obj too
    #[arg(long, value_name = "out.csv")]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) engine: EngineArguments,
    /// Print one JSON object; without --out it holds the rows
    #[arg(long)]
    pub(super) json: bool,
}

/// How positions are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Positions {
    /// Rounded to 32-bit floats
    F32,
    /// As 64-bit floats
    F64,
}

impl Positions {
    pub(super) fn is_f64(self) -> bool {
        self == Self::F64
    }
}

/// The queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum QueryKind {
    /// Whether two bodies touch
    Intersects,
    /// How far apart they are, and where they are nearest
    Distance,
    /// How deep they overlap, along which normal, and where
    Contact,
    /// The same with up to four points
    Manifold,
    /// When they first meet, as they move
    Sweep,
}

impl QueryKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Intersects => "intersects",
            Self::Distance => "distance",
            Self::Contact => "contact",
            Self::Manifold => "manifold",
            Self::Sweep => "sweep",
        }
    }
}

/// A number from 0, or infinity.
fn margin(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if value == f32::INFINITY && !text.bytes().any(|byte| byte.is_ascii_digit()) => Ok(value),
        _ => duration(text),
    }
}

/// A finite number from 0.
fn duration(text: &str) -> Result<f32, String> {
    let value: f32 = crate::read::number(text.trim())?;
    // A negative zero is a zero.
    if value >= 0.0 { Ok(value.abs()) } else { Err(format!("{value} is below zero")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_and_durations_are_numbers_from_zero() {
        assert_eq!(margin("inf"), Ok(f32::INFINITY));
        assert_eq!(margin("1e-3"), Ok(1e-3));
        assert_eq!(margin("-0").map(f32::to_bits), Ok(0));
        assert!(margin("-inf").is_err());
        assert!(margin("nan").is_err());
        assert_eq!(margin("1e39").unwrap_err(), "1e39 is too large for a 32-bit float");
        assert_eq!(margin("-1").unwrap_err(), "-1 is below zero");
        assert_eq!(duration("inf").unwrap_err(), "\"inf\" is not finite");
        assert_eq!(duration("0.5"), Ok(0.5));
        assert_eq!(duration("").unwrap_err(), "\"\" is not a number");
    }
}
