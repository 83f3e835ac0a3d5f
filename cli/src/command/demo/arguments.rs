//! The flags of `demo`.

use std::path::PathBuf;

use crate::command::size;
use crate::engine::{EngineArguments, whole, whole_u32};

/// The arguments of `demo`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = concat!(
    "Three jobs on scenes made in code. First, a crowd of bodies that push one another; the other engine answers the last frame \
    again. Second, a flow field over a cave; each cell is compared with its neighbours. Third, paths over a knot, by each method and \
    from both ends. A difference beyond the tolerance is exit code 1. The pictures are collide.png, flow.png and path.png.\n\n\
    The table has a row for each frame of the crowd: candidates of the broad phase, skipped (pairs that --warm need not look at), \
    hits, refined (pairs that EPA saw), settled (pairs decided in f64), and milliseconds by stage. In --json counts are those of \
    the last frame, and times_ms are medians of all frames but the first.",
    answer_help!()
))]
pub(crate) struct Arguments {
    /// Frames to run, 1 or more
    #[arg(long, value_name = "N", default_value_t = 60, allow_hyphen_values = true, value_parser = |text: &str| whole_u32(text, 1..=u32::MAX))]
    pub(super) frames: u32,
    /// Bodies in the scene, 1 to 1000000
    #[arg(long, value_name = "N", default_value_t = 10_000, allow_hyphen_values = true, value_parser = |text: &str| whole_u32(text, 1..=1_000_000))]
    pub(super) bodies: u32,
    /// Seed of the scene
    #[arg(long, value_name = "SEED", default_value_t = 2, allow_hyphen_values = true, value_parser = |text: &str| whole(text, 0..=u64::MAX))]
    pub(super) seed: u64,
    /// Folder for the pictures, made where it is missing
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub(super) out: PathBuf,
    /// Pixels of the pictures of bodies and of the model, 16 to 8192 each way
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1600x1000", value_parser = size)]
    pub(super) size: [usize; 2],
    #[command(flatten)]
    pub(super) engine: EngineArguments,
    /// Reuse what earlier frames found out: the same hits, sooner where bodies move little in a frame (CPU engine only)
    #[arg(long)]
    pub(super) warm: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}
