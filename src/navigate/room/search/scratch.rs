//! The memory that searches keep from query to query.

use crate::navigate::room::search::funnel::StripSearch;
use crate::navigate::room::search::polyanya::Search;

/// The memory that a finder keeps from query to query.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) search: Search,
    pub(crate) strip: StripSearch,
    pub(crate) start_cells: Vec<u32>,
    pub(crate) goal_cells: Vec<u32>,
    /// Whether they hold the start and the goal, and not only within rounding.
    pub(crate) are_exact: [bool; 2],
}
