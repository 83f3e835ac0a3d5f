//! The program `hullfield`.

fn main() {}
