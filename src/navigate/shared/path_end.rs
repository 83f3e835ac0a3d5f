//! The two ends of a path.

/// One of the two ends of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathEnd {
    /// Where it begins.
    Start,
    /// Where it leads.
    Goal,
}
