//! What a body may be made of.

use crate::collide::compound::height_field::HeightField;
use crate::collide::compound::part::Compound;
use crate::collide::hull::Hull;

/// What a body is made of.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Shape {
    /// A convex hull: the body has one part.
    Hull(Hull),
    /// Several hulls, which are shapes of the same [`Shapes`](crate::collide::next::Shapes).
    Compound(Compound),
    /// The triangles over a grid of heights.
    HeightField(HeightField),
}

impl From<Hull> for Shape {
    fn from(hull: Hull) -> Self {
        Self::Hull(hull)
    }
}

impl From<Compound> for Shape {
    fn from(compound: Compound) -> Self {
        Self::Compound(compound)
    }
}

impl From<HeightField> for Shape {
    fn from(field: HeightField) -> Self {
        Self::HeightField(field)
    }
}
