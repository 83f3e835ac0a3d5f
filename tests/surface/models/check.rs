//! What every path over a surface has to keep.

use hullfield::navigate::surface::{Path as SurfacePath, Surface};
use hullfield_oracle::surface;

pub(crate) type Point = [f64; 3];

pub(crate) fn minus(a: Point, b: Point) -> Point {
    std::array::from_fn(|i| a[i] - b[i])
}

pub(crate) fn dot(a: Point, b: Point) -> f64 {
    (0..3).map(|i| a[i] * b[i]).sum()
}

pub(crate) fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn length(a: Point) -> f64 {
    dot(a, a).sqrt()
}

pub(crate) fn distance(a: Point, b: Point) -> f64 {
    length(minus(a, b))
}

/// A surface, for checks of many paths over it.
pub(crate) struct Checks<'a> {
    surface: &'a Surface,
    vertices: Vec<Point>,
}

impl<'a> Checks<'a> {
    pub(crate) fn new(surface: &'a Surface) -> Self {
        Self { surface, vertices: surface.vertices().collect() }
    }

    /// Checks all that a path promises; answers its length.
    pub(crate) fn checked(&self, path: &SurfacePath, scale: f64) -> f64 {
        assert!(path.is_reached(), "{:?}", path.reach);
        let parts = surface::Path {
            points: &path.points,
            normals: &path.normals,
            triangles: &path.triangles,
            length: path.length,
        };
        surface::check_path(&self.vertices, self.surface.triangles(), parts, scale)
            .unwrap_or_else(|message| panic!("{message}"))
    }
}

/// The check of one path.
pub(crate) fn checked(surface: &Surface, path: &SurfacePath, scale: f64) -> f64 {
    Checks::new(surface).checked(path, scale)
}
