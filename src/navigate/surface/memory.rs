//! What is kept from query to query.

use super::search::Search;
use super::straighten::Straightener;
use super::unfold::{Across, Unfolded};
use super::window::Windows;

/// What is kept from query to query.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) search: Search,
    pub(super) windows: Windows,
    pub(super) straightener: Straightener,
    pub(super) unfolded: Unfolded,
    pub(super) sides: Vec<[u32; 2]>,
    pub(super) exact: Vec<[u32; 2]>,
    pub(super) crossings: Vec<Across>,
    /// The triangles that the start and the goal lie on.
    pub(super) on: [Vec<u32>; 2],
}
