//! The headless benchmark program of hullfield.

fn main() {}
