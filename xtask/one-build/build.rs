//! Nothing: the features of the build dependencies are what counts.

fn main() {}
