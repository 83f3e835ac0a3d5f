//! Drawing, by two renderers that draw the same things: `software` and `gpu`.

pub mod camera;
