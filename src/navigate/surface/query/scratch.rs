//! The memory that searches reuse from query to query.

use crate::navigate::surface::geodesic::straighten::Straightener;
use crate::navigate::surface::geodesic::strip::StripSearch;
use crate::navigate::surface::geodesic::unfold::{EdgeCrossing, Unfolded};
use crate::navigate::surface::geodesic::window::WindowSearch;

/// The memory that searches reuse from query to query.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) strip: StripSearch,
    pub(crate) windows: WindowSearch,
    pub(crate) straightener: Straightener,
    pub(crate) unfolded: Unfolded,
    pub(crate) sides: Vec<[u32; 2]>,
    pub(crate) exact_sides: Vec<[u32; 2]>,
    pub(crate) crossings: Vec<EdgeCrossing>,
    /// The triangles on which the start and the goal lie.
    pub(crate) end_triangles: [Vec<u32>; 2],
}
