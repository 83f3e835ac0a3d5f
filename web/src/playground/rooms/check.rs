//! Checks paths: a length that is known, the two methods against each other, and that paths stay in the room.

use hullfield::navigate::room::{Method, Options, Path, PathOptions, Room, Strip};
use serde_json::{Value, json};

use crate::playground::rooms::layout::{Layout, SIZE, obstacle};
use crate::playground::seed::Random;

/// Queries of each room.
const QUERY_COUNT: usize = 60;
/// Relative to the room's size: how far rounding may take a point of a path out of the room, or a length off.
const TOLERANCE: f64 = 1e-9;

/// Checks rooms of several seeds and radii.
///
/// # Errors
/// A sentence that says what is wrong.
pub(super) fn check() -> Result<Value, String> {
    let error = |error: hullfield::Error| error.to_string();
    let known = known_length().map_err(error)?;
    let expected = 2.0 * 10.0_f64.sqrt() + 2.0;
    if (known - expected).abs() > TOLERANCE {
        return Err(format!("The path about a square pillar has the length {known}, not {expected}."));
    }
    let mut path_count = 0;
    let mut longer_count = 0;
    for (seed, pillar_count, radius) in [(1, 40, 0.0), (2, 40, 0.7), (3, 150, 0.2)] {
        let layout = Layout::new(seed, pillar_count);
        let mut room = Room::new(&layout.outer, &layout.holes, Options { radius, ..Options::default() })
            .map_err(error)?;
        room.put_obstacle(&obstacle([50.0, 35.0])).map_err(error)?;
        let mut random = Random::new(seed);
        for _ in 0..QUERY_COUNT {
            let [start, goal] = [(); 2].map(|()| [0, 1].map(|axis| random.between(0.0, SIZE[axis])));
            let find = |method: Method| {
                room.path(start, goal, &PathOptions { method, to_nearest: true }).map_err(error)
            };
            let optimal = find(Method::Optimal)?;
            judge(&room, &optimal)?;
            for strip in [Strip::Dijkstra, Strip::BreadthFirst] {
                let funnel = find(Method::Funnel(strip))?;
                judge(&room, &funnel)?;
                if optimal.length > funnel.length + SIZE[0] * TOLERANCE {
                    return Err(format!(
                        "The optimal path is {} long, that of the funnel {}.",
                        optimal.length, funnel.length
                    ));
                }
                longer_count += usize::from(funnel.length > optimal.length + SIZE[0] * TOLERANCE);
            }
            path_count += 1;
        }
    }
    Ok(json!({"paths": path_count, "longer": longer_count, "known": known}))
}

/// The length of the path about a square pillar in a square room.
fn known_length() -> hullfield::Result<f64> {
    let outer = [[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]];
    let pillar = [[4.0, 4.0], [6.0, 4.0], [6.0, 6.0], [4.0, 6.0]];
    let room = Room::new(&outer, &[&pillar], Options::default())?;
    Ok(room.path([1.0, 5.0], [9.0, 5.0], &PathOptions::default())?.length)
}

/// Whether a path is in the room, at its points and between them, and its length is that of its pieces.
fn judge(room: &Room, path: &Path) -> Result<(), String> {
    if path.points.len() < 2 {
        return Err(format!("A path to the nearest point has {} points.", path.points.len()));
    }
    let mut length = 0.0;
    for pair in path.points.windows(2) {
        let [from, to] = [pair[0], pair[1]];
        length += (to[0] - from[0]).hypot(to[1] - from[1]);
        for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let at = [0, 1].map(|axis| from[axis] + share * (to[axis] - from[axis]));
            let nearest = room.nearest_point(at).map_err(|error| error.to_string())?;
            let far = nearest.map_or(f64::INFINITY, |nearest| nearest.distance);
            if far > SIZE[0] * TOLERANCE {
                return Err(format!("A path leaves the room by {far}."));
            }
        }
    }
    if (length - path.length).abs() > SIZE[0] * TOLERANCE {
        return Err(format!("A path of pieces of {length} says that it is {} long.", path.length));
    }
    Ok(())
}
