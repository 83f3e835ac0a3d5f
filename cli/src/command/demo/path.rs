//! The third job: shortest paths over a model, by each method.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use glam::DVec3;
use hullfield::navigate::surface::{
    Method as SurfaceMethod, Options as SurfaceOptions, Path as SurfacePath, Surface,
};
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::model::{knot, place};
use crate::failure::Result;
use crate::picture::{self, SurfacePicture};
use crate::progress::Spinner;

/// File name of the picture.
const PICTURE: &str = "path.png";

/// The starts and goals of the paths, as `turn` and `around` of [`place`].
const ENDS: [[[f64; 2]; 2]; 3] =
    [[[0.00, -0.25], [0.26, 0.22]], [[0.34, 0.28], [0.59, -0.12]], [[0.68, 0.05], [0.93, -0.30]]];

/// Relative rounding error of a length.
const TOLERANCE: f64 = 1e-9;

/// The results of the job.
pub(super) struct SurfacePaths {
    triangle_count: usize,
    build_ms: f64,
    /// Name, milliseconds and lengths of each method.
    methods: Vec<(&'static str, f64, Vec<f64>)>,
    error: Option<String>,
    picture: PathBuf,
}

impl SurfacePaths {
    pub(super) fn run(arguments: &Arguments) -> Result<Self> {
        let started = Instant::now();
        let surface = Surface::new(&[knot()], SurfaceOptions::default())?;
        let build_ms = started.elapsed().as_secs_f64() * 1e3;
        let queries = ENDS.map(|ends| ends.map(|[turn, around]| place(turn, around)));
        let mut methods = Vec::new();
        let mut found = Vec::new();
        for (name, method) in [
            ("funnel", SurfaceMethod::Funnel),
            ("geodesic", SurfaceMethod::default()),
            ("exact", SurfaceMethod::Exact),
        ] {
            let _spinner = Spinner::new(name);
            let started = Instant::now();
            let paths = surface.paths(&queries, &method.into())?.rows;
            let ms = started.elapsed().as_secs_f64() * 1e3;
            methods.push((name, ms, paths.iter().map(|path| path.length).collect()));
            found.push(paths);
        }
        let back =
            surface.paths(&queries.map(|[start, goal]| [goal, start]), &SurfaceMethod::Exact.into())?.rows;
        let path = arguments.out.join(PICTURE);
        let picture = {
            let _spinner = Spinner::new("drawing");
            let [width, height] = arguments.size;
            SurfacePicture { surface: &surface, paths: &found[1], distances: None, up: [0.0, 1.0, 0.0] }
                .draw(width, height)
        };
        picture::write_png(&picture, &path)?;
        Ok(Self {
            triangle_count: surface.triangles().len(),
            build_ms,
            methods,
            error: find_error(&surface, &found, &back),
            picture: path,
        })
    }

    /// The message of a failed check.
    pub(super) fn error(&self) -> Option<String> {
        self.error.clone()
    }

    pub(super) fn write(&self, writer: &mut dyn Write) -> io::Result<()> {
        writeln!(writer, "model:   {} triangles, built in {:.3} ms", self.triangle_count, self.build_ms)?;
        for (name, ms, lengths) in &self.methods {
            let lengths = lengths.iter().map(|length| format!("{length:.6}")).collect::<Vec<_>>().join(", ");
            writeln!(writer, "{:<8} {} paths in {ms:.3} ms: {lengths} long", format!("{name}:"), ENDS.len())?;
        }
        match &self.error {
            None => writeln!(
                writer,
                "check:   the paths lie on the surface; no other is shorter than the exact one, which is as long from the other end"
            )?,
            Some(error) => writeln!(writer, "check:   WRONG: {error}")?,
        }
        writeln!(writer, "picture: {}", self.picture.display())
    }

    pub(super) fn json(&self) -> Value {
        let methods: Vec<Value> = self
            .methods
            .iter()
            .map(|(name, ms, lengths)| json!({ "method": name, "ms": ms, "lengths": lengths }))
            .collect();
        json!({
            "triangles": self.triangle_count,
            "build_ms": self.build_ms,
            "methods": methods,
            "fault": self.error,
            "picture": self.picture.display().to_string(),
        })
    }
}

/// The first error in the paths of each method (exact last), or in the exact paths from goal to start.
fn find_error(surface: &Surface, found: &[Vec<SurfacePath>], back: &[SurfacePath]) -> Option<String> {
    let vertices: Vec<DVec3> = surface.vertices().map(DVec3::from).collect();
    let [low, high] = surface.bounds().map(DVec3::from);
    let tolerance = 1e-9 * low.distance(high);
    for path in found.iter().flatten().chain(back) {
        if !path.is_reached() {
            return Some("a goal was not reached".to_owned());
        }
        let mut length = 0.0;
        for (piece, &triangle) in path.points.windows(2).zip(&path.triangles) {
            let [from, to] = [piece[0], piece[1]].map(DVec3::from);
            length += from.distance(to);
            let corners = surface.triangles()[triangle as usize].map(|corner| vertices[corner as usize]);
            if [from, to].into_iter().any(|at| !lies_on(corners, at, tolerance)) {
                return Some(format!("a path leaves triangle {triangle}"));
            }
        }
        if (length - path.length).abs() > TOLERANCE * length {
            return Some(format!("a path is {length} long and not {}", path.length));
        }
    }
    let exact = found.last()?;
    for (row, best) in exact.iter().enumerate() {
        if let Some(path) =
            found.iter().map(|paths| &paths[row]).find(|path| path.length < best.length * (1.0 - TOLERANCE))
        {
            return Some(format!(
                "a path is {} long, shorter than the exact one of {}",
                path.length, best.length
            ));
        }
        if (back[row].length - best.length).abs() > TOLERANCE * best.length {
            return Some(format!("{} one way, {} the other", best.length, back[row].length));
        }
    }
    None
}

/// Whether a point is within `tolerance` of a triangle.
fn lies_on([a, b, c]: [DVec3; 3], at: DVec3, tolerance: f64) -> bool {
    let normal = (b - a).cross(c - a).normalize_or_zero();
    let beyond = |from: DVec3, to: DVec3| (to - from).normalize_or_zero().cross(normal).dot(at - from);
    (at - a).dot(normal).abs() <= tolerance && beyond(a, b).max(beyond(b, c)).max(beyond(c, a)) <= tolerance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_is_found() {
        let surface = Surface::new(&[knot()], SurfaceOptions::default()).unwrap();
        let query = [ENDS[0].map(|[turn, around]| place(turn, around))];
        let find = |method: SurfaceMethod, query: &[[[f64; 3]; 2]]| {
            surface.paths(query, &method.into()).unwrap().rows
        };
        let back = find(SurfaceMethod::Exact, &query.map(|[start, goal]| [goal, start]));
        let found = [find(SurfaceMethod::Funnel, &query), find(SurfaceMethod::Exact, &query)];
        assert_eq!(find_error(&surface, &found, &back), None);
        // The funnel's path is longer, so it cannot pass for the exact one.
        let turned = [found[1].clone(), found[0].clone()];
        assert!(find_error(&surface, &turned, &back).unwrap().contains("shorter than the exact one"));
        assert!(find_error(&surface, &found[1..], &found[0]).unwrap().contains("the other"));
        let mut off = found.clone();
        off[0][0].points[3][1] += 1e-6;
        assert!(find_error(&surface, &off, &back).unwrap().contains("leaves triangle"));
        let mut wrong = found;
        wrong[1][0].length *= 1.0 + 1e-8;
        assert!(find_error(&surface, &wrong, &back).unwrap().contains("and not"));
    }
}
