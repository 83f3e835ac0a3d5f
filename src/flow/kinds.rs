//! The kinds of queries, by name.

/// Something that is asked of a [`Flow`](crate::flow::Flow) or of its fields, to be named to [`Flow::prepare`](crate::flow::Flow::prepare).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Query {
    /// [`Flow::solve`](crate::flow::Flow::solve) and [`Flow::fields`](crate::flow::Flow::fields) without cells to end at.
    Solve,
    /// The same with [`FieldOptions::until`](crate::flow::FieldOptions::until) or
    /// [`until_each`](crate::flow::FieldOptions::until_each), and [`Flow::path_to_nearest`](crate::flow::Flow::path_to_nearest).
    SolveUntil,
    /// [`Field::next_cells`](crate::flow::Field::next_cells), [`Agents::step`](crate::flow::Agents::step) and
    /// [`Agents::encode_steps`](crate::flow::Agents::encode_steps).
    Step,
    /// [`Field::path`](crate::flow::Field::path) and [`Field::paths`](crate::flow::Field::paths).
    Paths,
    /// [`Field::distance_at`](crate::flow::Field::distance_at) and [`Field::distances_at`](crate::flow::Field::distances_at).
    DistancesAt,
    /// [`Field::encode_directions`](crate::flow::Field::encode_directions).
    EncodedDirections,
}
