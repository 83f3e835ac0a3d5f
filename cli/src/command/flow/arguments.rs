//! The flags of `flow`.

use std::path::PathBuf;

use clap::ValueEnum;
use hullfield::flow::{Connectivity, Corners, CostRule};

use crate::engine::{EngineArguments, whole_u32};
use crate::failure::{Failure, Result};
use crate::read::{MapFiles, MapValues};

/// The arguments of `flow`.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = concat!("A map is a MovingAI .map; a .png or .pgm, where pixels darker than middle grey are obstacles; a .yaml of ROS (map_server, nav2; modes trinary, scale and raw) with its picture, where every cell not known to be free is an obstacle; a .npy of bool or whole numbers, \
    [height, width] or [depth, height, width], 0 road and 1 obstacle; or a raster of friction, what entering each cell costs, where 0, less and \
    no data are obstacles, and the program counts those of 0 and less (--zero-friction free makes those of 0 free to travel): a GeoTIFF (.tif; strips or tiles, BigTIFF, whole numbers of 1 to 64 bits or floats of 16 to 64, stored as they are or by LZW, Deflate, PackBits or Zstandard), \
    a raw file (.raw, .img, .bil, .bsq, .bip, .dat, .bin, .flt) with a header of ENVI or Esri (.hdr) beside it, a grid of Esri in text (.asc), or a .vrt of one source. \
    Rasters mean what they mean to GDAL: a mask (in the file, or FILE.msk) comes before a number of no data, and that before a band of opacity; scale and offset are applied; FILE.aux.xml comes before the file, \
    and a world file last. --cost must lie where the map lies. x is the column, y the row, z the layer; \
    (0, 0) is top left.\n\n\
    A distance is the least sum of steps to a goal, each times the cost of the cell entered, the goal's included. A step is 1 \
    long with --connectivity 4 or 6; with 8 it is 408 along an axis and 577 across, with 26 1183, 1673 and 2049. --out writes \
    them as .npy of the map's shape, [height, width] or [depth, height, width]: u32, 4294967295 where no goal is reached; with \
    --units cells f32, steps divided by 1, 408 or 1183, inf where none is. --next writes .npy of u8: the next cell is, with 4 and 8, \
    0 N (the row above), 1 E, 2 S, 3 W, 4 NE, 5 SE, 6 SW, 7 NW; with 6 and 26, 0 -y, 1 +y, 2 -x, 3 +x, 4 -z, 5 +z, then \
    the edges 6 -y-x, 7 -y+x, 8 +y-x, 9 +y+x, 10 -y-z, 11 -y+z, 12 +y-z, 13 +y+z, 14 -x-z, 15 -x+z, 16 +x-z, 17 +x+z, then \
    the corners 18 -y-x-z, 19 -y-x+z, 20 -y+x-z, 21 -y+x+z, 22 +y-x-z, 23 +y-x+z, 24 +y+x-z, 25 +y+x+z; 255 is none. \
    An obstacle has no distance; its code leads the shortest way out of the obstacles, but with distances in map units, another --cost-rule than entry or --allocation it is none. With --clearance a cell is an obstacle too \
    where its centre is nearer than that to an obstacle's nearest point or to the border.\n\n\
    cost.npy is u16 or u32 of the map's shape, 1 or more. Another raster of costs may have any numbers: 0, less and no data are \
    obstacles too. edits.csv has the columns x,y,what and optionally z and cost; what is \
    block, free or cost. The field is solved, the map is edited, and the field is updated; the outputs are of the updated field.\n\n\
    --scenarios solves a field for each goal, up to the last of its starts; scenarios with the same goal share it. A scenario's \
    last column is the length of the shortest path in cells, with diagonals of the square root of 2. The exit code is 1 where a length \
    differs from it by more than 1e-5 of it. A goal on an obstacle or outside the map is left out with a warning; where no goal is left \
    the exit code is 2.\n\n\
    A GeoTIFF is written in tiles, as BigTIFF where it may need it, with the map's place, and with the number of unreached cells as its no-data value.\n\n\
    With friction in floats, and with --units map of a raster that has a place, distances are in map units times friction, over cells of any width and height: --out is f32. They are added up in f64, and the report has the \
    largest relative error, about 1e-14, but for the rounding to f32. A raster whose columns and rows form no right angle has no map units; where coordinates are degrees, so are map units, with a warning; of a map of ROS they are metres. Such a map, one with another --cost-rule than entry, and --allocation are solved on the CPU.\n\n\
    --units metres is for rasters whose coordinates are degrees (a geographic reference system), with columns along meridians. A step is as long as the shortest line on the ellipsoid between the centres of its two cells \
    (Vincenty 1975, within 1e-9). The ellipsoid and the unit of angles are those of the reference system; without one, WGS 84 and degrees. The first and the last column are no neighbours, even where the map spans the globe.\n\n\
    --check proves each cell by its neighbours: a goal has 0, an obstacle none, and any other cell a step more than its best neighbour. It reads \
    only these cells. Distances in f32 must be right but for their rounding. The exit code is 1 where one is wrong.\n\n\
    In tiles whole distances have 64 bits: --out is u32 as long as all are less than 4294967295, else u64 with 18446744073709551615 where no \
    goal is reached. All equal those of a map solved in one piece, bit for bit, those over friction in floats too, which must be 1e-251 or more in tiles. A GPU solves tiles too, but for friction in floats and other cost rules than entry.\n\n\
    The report has the map's size, obstacles, goals used, cells reached and unreached, the farthest distance, levels (different \
    distances) and rounds of the engine; for each --trace its distance and the cells where it bends (with --json every cell).\n\n\
    Examples: hullfield flow maze.map --goal 3,4 --goal 90,12 --out distance.npy --png field.png\n  \
    hullfield flow floor.yaml --goal 10,20 --clearance 0.3 --trace 50,60 --json\n  \
    hullfield flow maze.map --scenarios maze.map.scen\n  \
    hullfield flow huge.npy --cost cost.npy --goal 7,9 --memory-limit 2G --out distance.npy\n  \
    hullfield flow friction.tif --goal-at 512345,4187650 --backend cpu --memory-limit 2G --out distance.tif --compression deflate\n  \
    hullfield flow friction.tif --goal-at 512345,4187650 --check distance.tif",
    files_help!(),
    answer_help!())
)]
pub(crate) struct Arguments {
    /// The map: .map, .png, .pgm, .yaml or .npy; or a raster of friction: .tif, .asc, .vrt, or raw with .hdr
    #[arg(value_name = "MAP")]
    pub(super) map: PathBuf,
    /// A goal, or several by giving it again; in a volume x,y,z
    #[arg(
        long = "goal",
        value_name = "x,y",
        allow_hyphen_values = true,
        required_unless_present_any = ["scenarios", "goals_at", "goals_file"]
    )]
    pub(super) goals: Vec<String>,
    /// A goal in map coordinates, of a raster that has a place, or of a map of ROS in metres
    #[arg(long = "goal-at", value_name = "X,Y", allow_hyphen_values = true, conflicts_with = "scenarios")]
    pub(super) goals_at: Vec<String>,
    /// Goals from a file: a .csv of cells with the columns x,y and optionally z; the points of a .geojson in map coordinates; or a raster of the map's
    /// size, whose cells are goals where they are not 0 and have data
    #[arg(long = "goals", value_name = "goals.csv", conflicts_with = "scenarios")]
    pub(super) goals_file: Option<PathBuf>,
    /// Neighbours of a cell [default: 8, of a volume 26]
    #[arg(long, value_name = "4|8|6|26")]
    pub(super) connectivity: Option<String>,
    /// When a diagonal step may pass between cells [default: both-free]
    #[arg(long, value_enum)]
    pub(super) corners: Option<CornersChoice>,
    /// What entering each cell costs, as a factor of the step: .npy, GeoTIFF, raw, .asc or .vrt
    #[arg(long, value_name = "cost.npy")]
    pub(super) cost: Option<PathBuf>,
    /// What the map's numbers are [default: friction for rasters but .npy without --cost, else obstacles]
    #[arg(long, value_enum)]
    pub(super) map_values: Option<MapValuesChoice>,
    /// What cells of friction 0 are; free only with distances in map units, of a raster in one piece
    #[arg(long, value_enum, default_value = "obstacle", conflicts_with_all = ["check", "tiles", "scenarios"])]
    pub(super) zero_friction: ZeroFriction,
    /// The band of a raster of several, counted from 1; of MAP and of --cost alike
    #[arg(long, value_name = "N", value_parser = |text: &str| whole_u32(text, 1..=65536))]
    pub(super) band: Option<u32>,
    /// Leave cells unreached that are farther than this, in steps: one along an axis is 1, 408 or 1183 (see below); with distances in map units in these
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = length)]
    pub(super) max_distance: Option<f64>,
    /// Keep this far from obstacles and from the map's border: in cells, with ROS maps in metres; at most 32767 cells
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    pub(super) clearance: Option<f64>,
    /// Edit the map after the first solve, and update the field
    #[arg(long, value_name = "edits.csv")]
    pub(super) edits: Option<PathBuf>,
    /// Write the distances, as .npy or as GeoTIFF (.tif) with the place of the map
    #[arg(long, value_name = "distance.npy")]
    pub(super) out: Option<PathBuf>,
    /// How the GeoTIFF of --out is packed
    #[arg(long, value_enum, default_value = "none", requires = "out")]
    pub(super) compression: PackingChoice,
    /// Solve nothing, but check distances that were written before: those of the goals, and of random cells by their neighbours
    #[arg(
        long,
        value_name = "distance.npy",
        conflicts_with_all = ["scenarios", "edits", "out", "next", "png", "traces", "traces_at", "paths", "clearance", "tiles", "allocation"]
    )]
    pub(super) check: Option<PathBuf>,
    /// Random cells that --check looks at
    #[arg(long, value_name = "N", default_value_t = 10_000, requires = "check")]
    pub(super) check_cells: u64,
    /// Write the codes of the next cells, as .npy
    #[arg(long, value_name = "next.npy")]
    pub(super) next: Option<PathBuf>,
    /// Write the number of the goal that each cell's path leads to, from 0 in the order given, as .npy or as GeoTIFF of u32: 4294967295 where none is reached
    #[arg(long, value_name = "goal.npy")]
    pub(super) allocation: Option<PathBuf>,
    /// Draw distances, arrows, goals, obstacles and traces, as .png
    #[arg(long, value_name = "field.png")]
    pub(super) png: Option<PathBuf>,
    /// Print the path from a cell, and draw it; in a volume x,y,z
    #[arg(long = "trace", value_name = "x,y", allow_hyphen_values = true)]
    pub(super) traces: Vec<String>,
    /// Print the path from a place in map coordinates, as --trace does
    #[arg(long = "trace-at", value_name = "X,Y", allow_hyphen_values = true)]
    pub(super) traces_at: Vec<String>,
    /// Write the paths of --trace as GeoJSON, in map coordinates; of a map without a place in cells, whose centres are at halves
    #[arg(long, value_name = "paths.geojson")]
    pub(super) paths: Option<PathBuf>,
    /// Solve every scenario of a file, and compare the lengths
    #[arg(
        long,
        value_name = "FILE.scen",
        conflicts_with_all = ["goals", "max_distance", "edits", "out", "next", "png", "traces", "traces_at", "paths", "units", "allocation"]
    )]
    pub(super) scenarios: Option<PathBuf>,
    /// Solve a .npy, GeoTIFF or raw map in tiles read from disk. It need not fit into memory; --memory-limit decides the size of the tiles. This folder
    /// keeps them until the end, so that the same command goes on where it was stopped [default: FILE.tiles beside --out FILE, where
    /// --memory-limit is too small for the map]
    #[arg(
        long,
        value_name = "FOLDER",
        conflicts_with_all = ["scenarios", "edits", "next", "png", "traces", "traces_at", "paths", "clearance", "allocation"]
    )]
    pub(super) tiles: Option<PathBuf>,
    /// Unit of the distances that are written and reported; --max-distance is in steps, with map in map units, with metres in metres
    /// [default: steps, with friction in floats map]
    #[arg(long, value_enum)]
    units: Option<Units>,
    /// Which cells' costs a step pays
    #[arg(long, value_enum, default_value = "entry", conflicts_with = "scenarios")]
    pub(super) cost_rule: CostRuleChoice,
    #[command(flatten)]
    pub(super) engine: EngineArguments,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// Reads a length of 0 or more.
fn length(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(length @ 0.0..) if f64::is_finite(length) => Ok(length),
        _ => Err(format!("\"{text}\" is not a finite number of 0 or more")),
    }
}

impl Arguments {
    /// The unit of distances. `is_scaled`: friction is in floats.
    pub(super) fn units(&self, is_scaled: bool) -> Units {
        self.units.unwrap_or(if is_scaled { Units::Map } else { Units::Steps })
    }

    /// Which cells' costs a step pays.
    pub(super) fn cost_rule(&self) -> CostRule {
        match self.cost_rule {
            CostRuleChoice::Entry => CostRule::Entry,
            CostRuleChoice::Exit => CostRule::Exit,
            CostRuleChoice::Mean => CostRule::Mean,
        }
    }

    /// The files of the map, and what is asked of their numbers.
    pub(super) fn map_files(&self) -> MapFiles<'_> {
        MapFiles {
            map: &self.map,
            costs: self.cost.as_deref(),
            values: self.map_values(),
            band: self.band.map(|band| band as usize),
            in_map_units: self.units.is_some_and(Units::is_of_map),
            in_metres: self.units == Some(Units::Metres),
            zero_is_free: self.zero_friction == ZeroFriction::Free,
        }
    }

    /// What the numbers of the map are, where that is said.
    pub(super) fn map_values(&self) -> Option<MapValues> {
        self.map_values.map(|choice| match choice {
            MapValuesChoice::Obstacles => MapValues::Obstacles,
            MapValuesChoice::Friction => MapValues::Friction,
        })
    }

    /// The neighbours of a cell: by the flag, or by the map's dimension.
    pub(super) fn connectivity(&self, layer_count: u32) -> Result<Connectivity> {
        let corners = match self.corners {
            None | Some(CornersChoice::BothFree) => Corners::BothFree,
            Some(CornersChoice::OneFree) => Corners::OneFree,
            Some(CornersChoice::Any) => Corners::Any,
        };
        let is_deep = layer_count > 1;
        let name = self.connectivity.as_deref().unwrap_or(if is_deep { "26" } else { "8" });
        let connectivity = match name {
            "4" => Connectivity::Four,
            "8" => Connectivity::Eight(corners),
            "6" => Connectivity::Six,
            "26" => Connectivity::TwentySix(corners),
            _ => return Err(Failure::input(format!("--connectivity: \"{name}\" is none of 4, 8, 6 and 26"))),
        };
        if is_deep && connectivity.dimension() == 2 {
            let message = format!("--connectivity {name} is flat, the map has {layer_count} layers");
            return Err(Failure::input(message));
        }
        if let (Connectivity::Four | Connectivity::Six, Some(corners)) = (connectivity, self.corners) {
            let message = format!("--corners {} means nothing to --connectivity {name}", corners.name());
            return Err(Failure::input(message));
        }
        Ok(connectivity)
    }
}

/// What the numbers of a map are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum MapValuesChoice {
    /// 0 is road, 1 an obstacle
    Obstacles,
    /// What entering the cell costs, as a factor of the step; 0, less, and no data are obstacles
    Friction,
}

impl CostRuleChoice {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Exit => "exit",
            Self::Mean => "mean",
        }
    }
}

/// What cells of friction 0 are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ZeroFriction {
    /// Obstacles, as those of less and of no data are
    Obstacle,
    /// Free to travel: a path over them adds nothing to a distance
    Free,
}

/// Which cells' costs a step pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum CostRuleChoice {
    /// That of the cell entered
    Entry,
    /// That of the cell left
    Exit,
    /// The mean of both cells'; whole steps then count halves
    Mean,
}

/// How the tiles of a GeoTIFF are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PackingChoice {
    /// As they are
    None,
    /// LZW, with differences between neighbours
    Lzw,
    /// Deflate at its fastest, with differences between neighbours
    Deflate,
}

/// The unit of distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Units {
    /// Whole steps, exact: u32, 4294967295 where no goal is reached
    Steps,
    /// Sides of a cell: steps divided by the length of one along an axis (1, 408 or 1183), f32, inf where no goal is reached
    Cells,
    /// Map units times friction, f32, inf where no goal is reached: of a raster with a place, with cells of its width and height; of a map of ROS metres
    Map,
    /// Metres times friction, as map units: of a raster whose coordinates are degrees, by the shortest lines on its ellipsoid
    Metres,
}

impl Units {
    /// What the numbers count, in reports.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Cells => "cells",
            Self::Map => "map units",
            Self::Metres => "metres",
        }
    }

    /// Whether distances are lengths times friction.
    pub(super) fn is_of_map(self) -> bool {
        matches!(self, Self::Map | Self::Metres)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Cells => "cells",
            Self::Map => "map",
            Self::Metres => "metres",
        }
    }
}

/// When a diagonal move is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum CornersChoice {
    /// Where both orthogonal neighbours are free: no corner is cut
    BothFree,
    /// Where at least one of the two is free
    OneFree,
    /// Always
    Any,
}

impl CornersChoice {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::BothFree => "both-free",
            Self::OneFree => "one-free",
            Self::Any => "any",
        }
    }
}
