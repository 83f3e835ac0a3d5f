//! The flags of `demo`.

use std::path::PathBuf;

use crate::command::size;
use crate::engine::{EngineArguments, whole, whole_u32};

/// What `demo` takes.
#[derive(Debug, clap::Args)]
#[command(after_long_help = concat!(
    "Three jobs on scenes made in code: a crowd of bodies that push one another, from poses to hits, whose last frame the other \
    engine answers again; a flow field over a cave, each of whose cells is held against its neighbours; paths over a knot, by each \
    method and from both ends. A difference beyond the tolerance is exit code 1. Pictures: collide.png, flow.png, path.png.\n\n\
    Told of the crowd, a frame: candidates of the broad phase, skipped (by --warm, as nothing changed), hits, refined (looked at \
    again in f32), settled (in f64), and milliseconds by stage; in --json counts are those of the last frame, times_ms medians \
    of all but the first.",
    answer_help!()
))]
pub(crate) struct Arguments {
    /// Frames to run
    #[arg(long, value_name = "N", default_value_t = 60, allow_hyphen_values = true, value_parser = |text: &str| whole_u32(text, 1..=u32::MAX))]
    pub(super) frames: u32,
    /// Bodies in the scene
    #[arg(long, value_name = "N", default_value_t = 10_000, allow_hyphen_values = true, value_parser = |text: &str| whole_u32(text, 1..=1_000_000))]
    pub(super) bodies: u32,
    /// Seed of the scene
    #[arg(long, value_name = "SEED", default_value_t = 2, allow_hyphen_values = true, value_parser = |text: &str| whole(text, 0..=u64::MAX))]
    pub(super) seed: u64,
    /// Folder for the pictures, made where it is missing
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub(super) out: PathBuf,
    /// Pixels of the pictures of bodies and of the model
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1600x1000", value_parser = size)]
    pub(super) size: [usize; 2],
    #[command(flatten)]
    pub(super) engine: EngineArguments,
    /// Reuse what earlier frames found out: the same hits, and faster where bodies move little in a frame (CPU engine)
    #[arg(long)]
    pub(super) warm: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}
