//! The memory that searches reuse from query to query.

use crate::navigate::room::search::funnel::StripSearch;
use crate::navigate::room::search::polyanya::Search;

/// The memory that a finder reuses from query to query.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) search: Search,
    pub(crate) strip: StripSearch,
    pub(crate) start_cells: Vec<u32>,
    pub(crate) goal_cells: Vec<u32>,
    /// Whether these cells hold the start and the goal exactly, not only within rounding.
    pub(crate) are_exact: [bool; 2],
}
