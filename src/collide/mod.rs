//! Who touches whom: convex hulls, bodies, broad phase, GJK.

mod body;
mod bounds;
mod broad;
mod hull;
mod layout;

pub use body::Body;
pub use hull::{Dimension, Hull, Plane};
