//! GJK on the Minkowski difference of a pair: until a verdict is certain, or until the distance is known.

pub(crate) mod distance;
pub(crate) mod lanes;
pub(crate) mod pair_lanes;
pub(crate) mod pose;
pub(crate) mod tolerance;
pub(crate) mod vec3x4;
pub(crate) mod vector;
pub(crate) mod verdict;
pub(crate) mod verdict_lanes;
