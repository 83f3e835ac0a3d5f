//! The rows of queries over compounds.

use crate::collide::narrow_phase::measure::Row;
use crate::collide::narrow_phase::rows::{Contact, Distance, Intersection, Manifold};
use crate::collide::narrow_phase::status::Status;
use crate::collide::ray::rows::{Containment, NearestPoint, RayHit, Raycast};
use crate::collide::shape::rows::{ShapeCastFirst, ShapeCastHit};

/// A row of two bodies, and the parts of them.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PartPair<R> {
    /// The part of `row.a`, or of `row.query`; 0 for a static of the arena.
    pub part_a: u32,
    /// The part of `row.b`, or of `row.body`; 0 for a static of the arena.
    pub part_b: u32,
    /// The row of the two parts. There bodies are named by their rows, followed by the statics.
    pub row: R,
}

/// A row of a query that names one body, and the part of it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PartRow<R> {
    /// The part of the body that the row names; 0 for a static of the arena, and where it names none.
    pub part: u32,
    /// The row of the part. There `body` is the row of the body; statics count on after the bodies.
    pub row: R,
}

/// A row that names at most one body.
pub(crate) trait NamesBody: Send + 'static {
    /// The body.
    fn body_mut(&mut self) -> Option<&mut u32>;
}

macro_rules! names_body {
    ($($hit:ty),*; $($first:ty),*) => {
        $(impl NamesBody for $hit {
            fn body_mut(&mut self) -> Option<&mut u32> {
                Some(&mut self.body)
            }
        })*
        $(impl NamesBody for $first {
            fn body_mut(&mut self) -> Option<&mut u32> {
                self.hit.as_mut().map(|hit| &mut hit.body)
            }
        })*
    };
}

names_body!(RayHit, Containment, ShapeCastHit; Raycast, NearestPoint, ShapeCastFirst);

/// A row that can name other bodies than it was measured with.
pub(crate) trait NamedRow: Row + 'static {
    /// Whether the row has no numbers: two parts that overlap are as good as any other two.
    const IS_VERDICT: bool = false;

    /// The same row of other bodies.
    fn named(self, pair: [u32; 2]) -> Self;

    /// Whether the query with this margin lists the row.
    fn is_listed(&self, margin: f64) -> bool {
        self.status().is_hit() || self.gap().is_some_and(|gap| gap <= margin)
    }

    /// Whether this row stands for a pair of bodies rather than `other`: it overlaps where `other` does not, or is deeper or nearer.
    fn is_before(&self, other: &Self) -> bool {
        let rank = |row: &Self| match row.status() {
            Status::Penetrating => 0,
            Status::Touching => 1,
            Status::Separated => 2,
        };
        let gap = |row: &Self| row.gap().unwrap_or_default();
        (rank(self), gap(self)) < (rank(other), gap(other))
    }
}

macro_rules! named {
    ($($row:ty: $is_verdict:expr),*) => {$(
        impl NamedRow for $row {
            const IS_VERDICT: bool = $is_verdict;

            fn named(self, [a, b]: [u32; 2]) -> Self {
                Self { a, b, ..self }
            }
        }
    )*};
}

named!(Intersection: true, Distance: false, Contact: false, Manifold: false);
