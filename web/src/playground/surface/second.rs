//! What the second worker does: it makes surfaces of files, and solves what takes too long for a frame. It keeps the surface that it had last.

use std::cell::RefCell;

use hullfield::navigate::surface::{LoadOptions, Method, Model, Options, PathOptions, Point, Surface};
use hullfield_mesh_files::Faces;
use serde_json::{Value, json};
use web_time::Instant;

use crate::playground::message::Message;
use crate::playground::scene::Reply;

/// The most triangles of a file.
pub(super) const MOST_TRIANGLES: usize = 2_000_000;
/// The most triangles of a surface whose distances are solved: more take many seconds.
pub(super) const MOST_SOLVED: usize = 300_000;

/// A surface of fewer triangles is cut into some thousand.
const FEW_TRIANGLES: usize = 3000;
/// How many squares as wide as the longest edge may be have the area of a surface that is cut.
const CUT_TRIANGLES: f64 = 2500.0;

thread_local! {
    /// The surface that was given or read last, and its number.
    static LAST: RefCell<Option<(u64, Surface)>> = const { RefCell::new(None) };
}

/// The method of paths over a surface of this many triangles, and whether their length is guaranteed.
pub(super) fn method(triangle_count: usize) -> (Method, bool) {
    let is_guaranteed = triangle_count <= MOST_SOLVED;
    let tolerance = if is_guaranteed { 1e-3 } else { f64::INFINITY };
    (Method::Geodesic { tolerance }, is_guaranteed)
}

/// Answers a question: `read` takes a file's `name` and the bytes of its faces, or the readers' `error`; `take` the bytes of a surface; `weld` joins the points of the surface `of`
/// that are as near as `by`; `solve` asks for a path or for distances.
/// Each has the `model`, a number.
pub(super) fn second(message: &Message) -> Reply {
    let question = message.text("ask").unwrap_or_default();
    let model = message.number("model").ok_or("A model is missing.")? as u64;
    let answer = match question {
        "read" => {
            let name = message.text("name").unwrap_or_default();
            // The readers' own error comes as it is.
            let faces = message.text("error").map_or(Ok(message.bytes()), |error| Err(error.to_owned()));
            faces.and_then(|faces| surface(name, faces)).map(|(surface, count)| {
                let (mut data, bytes) = keep(model, surface, true);
                data["triangles"] = json!(count);
                (data, bytes)
            })
        }
        "take" => Surface::from_bytes(message.bytes(), LoadOptions::default())
            .map(|surface| keep(model, surface, false))
            .map_err(|error| format!("{error}.")),
        "weld" => weld(message).map(|surface| {
            let count = surface.triangles().len();
            let (mut data, bytes) = keep(model, surface, true);
            data["triangles"] = json!(count);
            (data, bytes)
        }),
        "solve" => solve(model, message),
        _ => Err(format!("The second worker knows no question “{question}”.")),
    };
    // An error names the question too.
    let (mut data, bytes) = answer.unwrap_or_else(|error| (json!({"error": error}), Vec::new()));
    data["ask"] = json!(question);
    data["model"] = json!(model);
    data["serial"] = message.data().get("serial").cloned().unwrap_or_default();
    Ok((data, bytes))
}

type Answer = (Value, Vec<u8>);

fn keep(model: u64, surface: Surface, is_wanted: bool) -> Answer {
    let bytes = if is_wanted { surface.to_bytes() } else { Vec::new() };
    LAST.set(Some((model, surface)));
    (json!({}), bytes)
}

/// A surface of the faces that the readers found in a file, and the number of the file's triangles. An error is a sentence.
fn surface(name: &str, faces: &[u8]) -> Result<(Surface, usize), String> {
    let faces =
        Faces::from_bytes(faces).ok_or_else(|| format!("{name}: what was read of it is cut short."))?;
    let count = faces.triangle_count();
    let model = faces.model();
    let failed = |error| format!("{name}: {error}.");
    let surface = Surface::new(std::slice::from_ref(&model), Options::default()).map_err(failed)?;
    if surface.triangles().len() >= FEW_TRIANGLES {
        return Ok((surface, count));
    }
    // Colours are interpolated between vertices, and few of them would show other distances. The surface stays the same.
    let interval = (surface.area() / CUT_TRIANGLES).sqrt();
    let cut = Surface::new(&[model], Options { interval: Some(interval), ..Options::default() });
    Ok((cut.map_err(failed)?, count))
}

/// The surface `of`, with points that are near joined.
fn weld(message: &Message) -> Result<Surface, String> {
    let (of, by) =
        (message.number("of").map(|number| number as u64), message.number("by").unwrap_or_default());
    LAST.with_borrow(|last| {
        let Some((_, surface)) = last.as_ref().filter(|(number, _)| Some(*number) == of) else {
            return Err("The second worker does not have this surface.".to_owned());
        };
        let model = Model::triangles(surface.vertices().collect(), surface.triangles());
        Surface::new(&[model], Options { weld: by, ..Options::default() })
            .map_err(|error| format!("{error}."))
    })
}

fn solve(model: u64, message: &Message) -> Result<Answer, String> {
    let end = |name: &str| -> Option<Point> {
        let parts = message.data().get(name)?.as_array()?;
        let number = |at: usize| parts.get(at)?.as_f64();
        let position = [number(1)?, number(2)?, number(3)?];
        Some(Point { triangle: number(0)? as u32, position, distance: 0.0 })
    };
    let failed = |error: hullfield::Error| format!("{error}.");
    let start = end("start").ok_or("A start is missing.")?;
    LAST.with_borrow(|last| {
        let Some((_, surface)) = last.as_ref().filter(|(number, _)| *number == model) else {
            return Err("The second worker does not have this surface.".to_owned());
        };
        let begun = Instant::now();
        let ms = || begun.elapsed().as_secs_f64() * 1e3;
        if let Some(goal) = end("goal") {
            let method = method(surface.triangles().len()).0;
            let path =
                surface.path(start, goal, &PathOptions { method, to_nearest: true }).map_err(failed)?;
            let length = path.length.is_finite().then_some(path.length);
            return Ok((json!({"ms": ms(), "points": path.points, "length": length}), Vec::new()));
        }
        let distances = distances(surface, start).map_err(failed)?;
        Ok((json!({"ms": ms()}), bytemuck::cast_slice(&distances).to_vec()))
    })
}

/// The exact distance of each vertex from a point, rounded to f32 for drawing.
///
/// # Errors
/// Those of [`Surface::distances`].
pub(super) fn distances(surface: &Surface, start: Point) -> hullfield::Result<Vec<f32>> {
    Ok(surface.distances(start)?.iter().map(|&distance| distance as f32).collect())
}

/// A point of a surface, in a question.
pub(super) fn end(point: &Point) -> Value {
    let [x, y, z] = point.position;
    json!([point.triangle, x, y, z])
}
