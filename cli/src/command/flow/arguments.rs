//! The flags of `flow`.

use std::path::PathBuf;

use clap::ValueEnum;
use hullfield::flow::{Connectivity, Corners};

use crate::engine::{EngineArguments, whole_u32};
use crate::failure::{Failure, Result};

/// The arguments of `flow`.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = concat!("A map is a MovingAI .map; a .png or .pgm, where pixels darker than middle grey are obstacles; a .yaml of ROS's map_server with its picture beside it, where every cell not known to be free is an obstacle; or a .npy of bool or whole numbers, \
    [height, width] or [depth, height, width], 0 road and 1 obstacle. x is the column, y the row, z the layer; \
    (0, 0) is top left.\n\n\
    A distance is the least sum of steps to a goal, each times the cost of the cell entered, the goal's included. A step is 1 \
    long with --connectivity 4 or 6; with 8 it is 408 along an axis and 577 across, with 26 1183, 1673 and 2049. --out writes \
    them as .npy of the map's shape, [height, width] or [depth, height, width]: u32, 4294967295 where no goal is reached; with \
    --units cells f32, steps divided by 1, 408 or 1183, inf where none is. --next writes .npy of u8: the next cell is, with 4 and 8, \
    0 N (the row above), 1 E, 2 S, 3 W, 4 NE, 5 SE, 6 SW, 7 NW; with 6 and 26, 0 -y, 1 +y, 2 -x, 3 +x, 4 -z, 5 +z, then \
    the edges 6 -y-x, 7 -y+x, 8 +y-x, 9 +y+x, 10 -y-z, 11 -y+z, 12 +y-z, 13 +y+z, 14 -x-z, 15 -x+z, 16 +x-z, 17 +x+z, then \
    the corners 18 -y-x-z, 19 -y-x+z, 20 -y+x-z, 21 -y+x+z, 22 +y-x-z, 23 +y-x+z, 24 +y+x-z, 25 +y+x+z; 255 is none. \
    An obstacle has no distance; its code leads the shortest way out of the obstacles. With --clearance a cell is an obstacle too \
    where its centre is nearer than that to an obstacle's nearest point or to the border.\n\n\
    cost.npy is u16 or u32 of the map's shape, 1 or more. edits.csv has the columns x,y,what and optionally z and cost; what is \
    block, free or cost. The field is solved, the map is edited, and the field is updated; the outputs are of the updated field.\n\n\
    --scenarios solves a field for each goal, up to the last of its starts; scenarios with the same goal share it. A scenario's \
    last column is the length of the shortest path in cells, with diagonals of the square root of 2. The exit code is 1 where a length \
    differs from it by more than 1e-5 of it. A goal on an obstacle or outside the map is left out with a warning; where no goal is left \
    the exit code is 2.\n\n\
    In tiles distances have 64 bits: --out is u32 as long as all are less than 4294967295, else u64 with 18446744073709551615 where no \
    goal is reached. They equal those of a map solved in one piece.\n\n\
    The report has the map's size, obstacles, goals used, cells reached and unreached, the farthest distance, levels (different \
    distances) and rounds of the engine; for each --trace its distance and the cells where it bends (with --json every cell).\n\n\
    Examples: hullfield flow maze.map --goal 3,4 --goal 90,12 --out distance.npy --png field.png\n  \
    hullfield flow floor.yaml --goal 10,20 --clearance 0.3 --trace 50,60 --json\n  \
    hullfield flow maze.map --scenarios maze.map.scen\n  \
    hullfield flow huge.npy --cost cost.npy --goal 7,9 --backend cpu --memory-limit 2G --out distance.npy",
    files_help!(),
    answer_help!())
)]
pub(crate) struct Arguments {
    /// The map: .map, .png, .pgm, .yaml or .npy
    #[arg(value_name = "MAP")]
    pub(super) map: PathBuf,
    /// A goal, or several by giving it again; in a volume x,y,z
    #[arg(
        long = "goal",
        value_name = "x,y",
        allow_hyphen_values = true,
        required_unless_present = "scenarios"
    )]
    pub(super) goals: Vec<String>,
    /// Neighbours of a cell [default: 8, of a volume 26]
    #[arg(long, value_name = "4|8|6|26")]
    pub(super) connectivity: Option<String>,
    /// When a diagonal step may pass between cells [default: both-free]
    #[arg(long, value_enum)]
    pub(super) corners: Option<CornersChoice>,
    /// What entering each cell costs, as a factor of the step
    #[arg(long, value_name = "cost.npy")]
    pub(super) cost: Option<PathBuf>,
    /// Leave cells unreached that are farther than this, in whole steps: one along an axis is 1, 408 or 1183 (see below)
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = |text: &str| whole_u32(text, 0..=u32::MAX))]
    pub(super) max_distance: Option<u32>,
    /// Keep this far from obstacles and from the map's border: in cells, with ROS maps in metres; at most 32767 cells
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    pub(super) clearance: Option<f64>,
    /// Edit the map after the first solve, and update the field
    #[arg(long, value_name = "edits.csv")]
    pub(super) edits: Option<PathBuf>,
    /// Write the distances, as .npy
    #[arg(long, value_name = "distance.npy")]
    pub(super) out: Option<PathBuf>,
    /// Write the codes of the next cells, as .npy
    #[arg(long, value_name = "next.npy")]
    pub(super) next: Option<PathBuf>,
    /// Draw distances, arrows, goals, obstacles and traces, as .png
    #[arg(long, value_name = "field.png")]
    pub(super) png: Option<PathBuf>,
    /// Print the path from a cell, and draw it; in a volume x,y,z
    #[arg(long = "trace", value_name = "x,y", allow_hyphen_values = true)]
    pub(super) traces: Vec<String>,
    /// Solve every scenario of a file, and compare the lengths
    #[arg(
        long,
        value_name = "FILE.scen",
        conflicts_with_all = ["goals", "max_distance", "edits", "out", "next", "png", "traces", "units"]
    )]
    pub(super) scenarios: Option<PathBuf>,
    /// Solve a .npy map in tiles read from disk. It need not fit into memory; --memory-limit decides the size of the tiles. This folder
    /// keeps them until the end, so that the same command goes on where it was stopped [default: FILE.tiles beside --out FILE, where
    /// --memory-limit is too small for the map]
    #[arg(
        long,
        value_name = "FOLDER",
        conflicts_with_all = ["scenarios", "edits", "next", "png", "traces", "clearance"]
    )]
    pub(super) tiles: Option<PathBuf>,
    /// Unit of the distances that are written and reported; --max-distance is always in steps
    #[arg(long, value_enum, default_value = "steps")]
    pub(super) units: Units,
    #[command(flatten)]
    pub(super) engine: EngineArguments,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

impl Arguments {
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

/// The unit of distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Units {
    /// Whole steps, exact: u32, 4294967295 where no goal is reached
    Steps,
    /// Sides of a cell: steps divided by the length of one along an axis (1, 408 or 1183), f32, inf where no goal is reached
    Cells,
}

impl Units {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Cells => "cells",
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
