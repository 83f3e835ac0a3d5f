//! What is kept from query to query.

use crate::navigate::room::funnel::StripSearch;
use crate::navigate::room::search::Search;

/// What a finder keeps from query to query.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) search: Search,
    pub(super) strip: StripSearch,
    pub(super) start_cells: Vec<u32>,
    pub(super) goal_cells: Vec<u32>,
    /// Whether they hold the start and the goal, and not only within rounding.
    pub(super) are_exact: [bool; 2],
}
