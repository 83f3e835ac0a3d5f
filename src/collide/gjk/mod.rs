//! GJK on the Minkowski difference of a pair: its verdict, and its distance.

pub(crate) mod distance;
pub(crate) mod lanes;
pub(crate) mod pose;
pub(crate) mod vector;
pub(crate) mod verdict;
pub(crate) mod wide;
