//! The memory that searches keep from query to query.

use crate::navigate::surface::geodesic::straighten::Straightener;
use crate::navigate::surface::geodesic::strip::Search;
use crate::navigate::surface::geodesic::unfold::{Across, Unfolded};
use crate::navigate::surface::geodesic::window::Windows;

/// The memory that searches keep from query to query.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) search: Search,
    pub(crate) windows: Windows,
    pub(crate) straightener: Straightener,
    pub(crate) unfolded: Unfolded,
    pub(crate) sides: Vec<[u32; 2]>,
    pub(crate) exact: Vec<[u32; 2]>,
    pub(crate) crossings: Vec<Across>,
    /// The triangles that the start and the goal lie on.
    pub(crate) on: [Vec<u32>; 2],
}
