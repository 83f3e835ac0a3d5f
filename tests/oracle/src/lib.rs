//! Independent f64 oracles, public corpora and seeded scenes for the tests and benches of hullfield.
