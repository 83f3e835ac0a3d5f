//! No edge longer than an interval: every longer one is halved, and halved again, and the triangles are cut to match.

use std::collections::HashMap;

use glam::DVec3;

use super::build::{BuildStage, STRIDE, Watch};
use super::mesh::{MANY, Mesh};
use super::weld::Mixing;
use crate::error::{Error, Result};
use crate::host::available_bytes;

/// Of the largest coordinate: an interval below it could not tell an edge's points apart.
const FINEST: f64 = 1e-12;

/// What a triangle of a surface takes while it is built, in bytes, all tables together.
const TRIANGLE_BYTES: u64 = 200;

/// A triangle that is being cut: its corners, and where they are.
#[derive(Debug, Clone, Copy)]
struct Piece {
    corners: [u32; 3],
    places: [DVec3; 3],
}

/// Cuts triangles until no edge is longer than `interval`. The pieces of a triangle take its place, and its source.
///
/// Whether and where an edge is cut is decided by its two ends alone, so the triangles at it match, however many there are. A
/// triangle of which one edge is too long is cut to the corner opposite; of which two, along the line between their middles and
/// along the shorter diagonal of what is left; of which all three, into four of its own shape.
pub(super) fn refine(mesh: &mut Mesh, interval: f64, watch: &mut Watch<'_>) -> Result<()> {
    let refuse =
        |expected| Err(Error::SurfaceField { field: "interval", value: interval.to_string(), expected });
    if !(interval > 0.0 && interval.is_finite()) {
        return refuse("it must be more than 0 and finite");
    }
    let largest = mesh.points.iter().fold(0.0, |most: f64, point| most.max(point.abs().max_element()));
    if interval < FINEST * largest {
        return refuse(
            "it must be at least 1e-12 of the largest coordinate, or points of an edge would coincide",
        );
    }
    let old = std::mem::take(&mut mesh.triangles);
    let sources = std::mem::take(&mut mesh.sources);
    let piece = |corners: [u32; 3]| Piece { corners, places: corners.map(|v| mesh.points[v as usize]) };
    check(old.iter().map(|&corners| least(piece(corners).places, interval)).sum::<f64>() as u64)?;
    // Counted first: that takes no memory.
    let total = 2 * old.len();
    let mut stack = Vec::new();
    let mut count = 0u64;
    watch.at(BuildStage::Refine, 0, total)?;
    for (done, &corners) in old.iter().enumerate() {
        stack.push(piece(corners));
        while let Some(piece) = stack.pop() {
            if !cut(&piece, interval, &mut stack, |_, _| 0) {
                count += 1;
                if count.is_multiple_of(STRIDE as u64) {
                    check(count)?;
                    watch.tell(BuildStage::Refine, done, total)?;
                }
            }
        }
        watch.at(BuildStage::Refine, done + 1, total)?;
    }
    check(count)?;
    if count == old.len() as u64 {
        (mesh.triangles, mesh.sources) = (old, sources);
        return watch.at(BuildStage::Refine, total, total);
    }
    mesh.triangles.reserve_exact(count as usize);
    mesh.sources.reserve_exact(count as usize);
    let mut middles: HashMap<[u32; 2], u32, Mixing> = HashMap::default();
    for (done, (&corners, source)) in old.iter().zip(sources).enumerate() {
        stack.push(Piece { corners, places: corners.map(|v| mesh.points[v as usize]) });
        while let Some(piece) = stack.pop() {
            let middle = |[a, b]: [u32; 2], place: DVec3| {
                *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                    mesh.points.push(place);
                    mesh.points.len() as u32 - 1
                })
            };
            if !cut(&piece, interval, &mut stack, middle) {
                mesh.triangles.push(piece.corners);
                mesh.sources.push(source);
                if mesh.triangles.len().is_multiple_of(STRIDE) {
                    watch.tell(BuildStage::Refine, old.len() + done, total)?;
                }
            }
        }
        watch.at(BuildStage::Refine, old.len() + done + 1, total)?;
    }
    mesh.points.shrink_to_fit();
    Ok(())
}

/// Whether so many triangles can be: by their indices, and by the memory that is left.
fn check(count: u64) -> Result<()> {
    let limit = u64::from(MANY / 3) - 1;
    if count > limit {
        return Err(Error::TooMany { what: "triangles, none longer than the interval,", count, limit });
    }
    let (needed_bytes, limit_bytes) = (count.saturating_mul(TRIANGLE_BYTES), available_bytes());
    if needed_bytes > limit_bytes {
        return Err(Error::MemoryLimit {
            what: "the surface refined to the interval",
            needed_bytes,
            limit_bytes,
        });
    }
    Ok(())
}

/// How many triangles there must be at least, by the area and by the longest side.
fn least([a, b, c]: [DVec3; 3], interval: f64) -> f64 {
    // The largest triangle whose sides are no longer than the interval has equal sides.
    let by_area = 2.0 * ((b - a) / interval).cross((c - a) / interval).length() / 3f64.sqrt();
    let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
    // A quarter of either is surely not too many: rounding must not refuse what could be.
    (0.25 * by_area.max(longest / interval)).floor().max(1.0)
}

/// Cuts a piece once, the parts onto the stack so that the first comes off first; false where it has no edge too long.
fn cut(
    piece: &Piece,
    interval: f64,
    stack: &mut Vec<Piece>,
    mut middle: impl FnMut([u32; 2], DVec3) -> u32,
) -> bool {
    let Piece { corners, places } = *piece;
    let is_long = [0, 1, 2].map(|k| places[k].distance(places[(k + 1) % 3]) > interval);
    let count = is_long.iter().filter(|&&is_long| is_long).count();
    if count == 0 {
        return false;
    }
    // Turned so that an edge that is too long comes first and, of two, they meet in the first corner.
    let first = match count {
        1 => is_long.iter().position(|&is_long| is_long),
        2 => is_long.iter().position(|&is_long| !is_long).map(|short| (short + 2) % 3),
        _ => Some(0),
    };
    let turned = [0, 1, 2].map(|k| (first.unwrap_or(0) + k) % 3);
    let [a, b, c] = turned.map(|k| (corners[k], places[k]));
    let mut between = |a: (u32, DVec3), b: (u32, DVec3)| {
        let place = 0.5 * (a.1 + b.1);
        (middle([a.0, b.0], place), place)
    };
    let mut push = |parts: &[[(u32, DVec3); 3]]| {
        let piece =
            |part: &[(u32, DVec3); 3]| Piece { corners: part.map(|at| at.0), places: part.map(|at| at.1) };
        stack.extend(parts.iter().rev().map(piece));
    };
    let ab = between(a, b);
    match count {
        1 => push(&[[a, ab, c], [ab, b, c]]),
        2 => {
            let ca = between(c, a);
            if ab.1.distance(c.1) <= ca.1.distance(b.1) {
                push(&[[a, ab, ca], [ab, b, c], [ab, c, ca]]);
            } else {
                push(&[[a, ab, ca], [ab, b, ca], [b, c, ca]]);
            }
        }
        _ => {
            let (bc, ca) = (between(b, c), between(c, a));
            push(&[[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
    }
    true
}
