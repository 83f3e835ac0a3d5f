//! Refinement: every edge longer than an interval is cut into equal parts, as few as possible, and triangles are cut to match.

use std::collections::HashMap;

use glam::DVec3;

use crate::account::available_bytes;
use crate::error::{Error, Location, Result, shown};
use crate::navigate::surface::mesh::progress::{BuildStage, ProgressReporter, REPORT_STRIDE};
use crate::navigate::surface::mesh::topology::{Mesh, NON_MANIFOLD};
use crate::navigate::surface::mesh::weld::FastHash;

/// Relative to the largest coordinate: with a smaller interval, points of an edge could coincide.
const MIN_INTERVAL: f64 = 1e-12;

/// The memory that a build takes for a triangle, in bytes, over all tables.
const TRIANGLE_BYTES: u64 = 200;

/// Relative to the largest number of parts of an edge: edges with fewer are not cut together with it, so that slender triangles become less
/// slender.
const CUT_TOGETHER: f64 = 0.7;

/// The least ratio of a slender triangle: of the parts of its longest edge to those of its shortest. Its other two edges are about as long.
const SLENDER: u64 = 16;

/// A part of a triangle that may have edges to cut.
#[derive(Debug, Clone, Copy)]
enum Piece {
    Triangle(Triangle),
    Strip(Strip),
}

/// A triangle to cut: its corners, their positions, and the number of parts into which each edge must be cut.
#[derive(Debug, Clone, Copy)]
struct Triangle {
    corners: [u32; 3],
    places: [DVec3; 3],
    parts: [u64; 3],
}

impl Triangle {
    fn new(corners: [u32; 3], points: &[DVec3], interval: f64) -> Self {
        let places = corners.map(|vertex| points[vertex as usize]);
        let parts = [0, 1, 2].map(|k| parts(places[k], places[(k + 1) % 3], interval));
        Self { corners, places, parts }
    }
}

/// A quadrilateral between two long edges, and the number of parts into which each of them must be cut. Both edges point the same way. The strip is
/// to the left of the first.
#[derive(Debug, Clone, Copy)]
struct Strip {
    edges: [[PlacedVertex; 2]; 2],
    parts: [u64; 2],
}

/// The number of parts into which an edge must be cut.
fn parts(a: DVec3, b: DVec3, interval: f64) -> u64 {
    let least = a.distance(b) / interval;
    // An earlier check keeps this below 2³³.
    let count = least.ceil() as u64;
    // Where parts are as long as the interval, rounding may make some of them longer.
    if count > 1 && count as f64 - least < 1e-9 * least && !fits(a, b, count, interval) {
        return count + 1;
    }
    count
}

/// Whether all of so many parts of an edge are no longer than the interval.
fn fits(a: DVec3, b: DVec3, count: u64, interval: f64) -> bool {
    if count == 1 {
        return a.distance(b) <= interval;
    }
    let (place, before, behind) = cut_point(a, b, count);
    fits(a, place, before, interval) && fits(place, b, behind, interval)
}

/// Where an edge of so many parts is cut, and how many of them are before and after the cut. The fewer parts are at the end of lesser
/// coordinates, in whichever order the ends are given.
fn cut_point(a: DVec3, b: DVec3, count: u64) -> (DVec3, u64, u64) {
    let (fewer, more) = (count / 2, count.div_ceil(2));
    if fewer == more {
        return (0.5 * (a + b), fewer, fewer);
    }
    let part = fewer as f64 / count as f64;
    if a.to_array() < b.to_array() {
        (a + (b - a) * part, fewer, more)
    } else {
        (b + (a - b) * part, more, fewer)
    }
}

/// Cuts triangles until no edge is longer than `interval`. The pieces of a triangle take its place, and its source.
///
/// The two ends of an edge alone decide whether and where it is cut, so all triangles at it match. It is cut between two of its equal
/// parts, as near to the middle as possible. Of a triangle, the edge with the most parts is cut, and those with about as many. One cut
/// leads to the opposite corner. Two cuts are joined, and the rest is cut along its shorter diagonal. Three cuts make four triangles.
///
/// The short edge of a slender triangle is cut first. Once it needs no cut, one cut across both long edges leaves a triangle and a strip. A strip is
/// cut across into two until its edges have two parts at most. So the number of triangles grows linearly with the number of parts.
pub(crate) fn refine(mesh: &mut Mesh, interval: f64, progress: &mut ProgressReporter<'_>) -> Result<()> {
    let refuse = |allowed: &str| Err(Error::value(Location::Argument, "interval", shown(interval), allowed));
    if !(interval > 0.0 && interval.is_finite()) {
        return refuse("it must be more than 0 and finite");
    }
    let largest = mesh.points.iter().fold(0.0, |most: f64, point| most.max(point.abs().max_element()));
    if interval < MIN_INTERVAL * largest {
        return refuse(
            "it must be at least 1e-12 of the largest coordinate, or points of an edge would coincide",
        );
    }
    let old = std::mem::take(&mut mesh.triangles);
    let sources = std::mem::take(&mut mesh.sources);
    let places = |corners: [u32; 3]| corners.map(|vertex| mesh.points[vertex as usize]);
    check_count(old.iter().map(|&corners| min_triangle_count(places(corners), interval)).sum::<f64>() as u64)?;
    // Count the triangles first, which takes no memory.
    let total = 2 * old.len();
    let mut stack = Vec::new();
    let mut count = 0u64;
    progress.report(BuildStage::Refine, 0, total)?;
    for (done, &corners) in old.iter().enumerate() {
        stack.push(Piece::Triangle(Triangle::new(corners, &mesh.points, interval)));
        while let Some(piece) = stack.pop() {
            if cut(&piece, interval, &mut stack, |_, _| 0).is_some() {
                count += 1;
                if count.is_multiple_of(REPORT_STRIDE as u64) {
                    check_count(count)?;
                    progress.report_now(BuildStage::Refine, done, total)?;
                }
            }
        }
        progress.report(BuildStage::Refine, done + 1, total)?;
    }
    check_count(count)?;
    if count == old.len() as u64 {
        (mesh.triangles, mesh.sources) = (old, sources);
        return progress.report(BuildStage::Refine, total, total);
    }
    mesh.triangles.reserve_exact(count as usize);
    mesh.sources.reserve_exact(count as usize);
    let mut cuts: HashMap<[u32; 2], u32, FastHash> = HashMap::default();
    for (done, (&corners, source)) in old.iter().zip(sources).enumerate() {
        stack.push(Piece::Triangle(Triangle::new(corners, &mesh.points, interval)));
        while let Some(piece) = stack.pop() {
            let vertex = |[a, b]: [u32; 2], place: DVec3| {
                *cuts.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                    mesh.points.push(place);
                    mesh.points.len() as u32 - 1
                })
            };
            if let Some(corners) = cut(&piece, interval, &mut stack, vertex) {
                mesh.triangles.push(corners);
                mesh.sources.push(source);
                if mesh.triangles.len().is_multiple_of(REPORT_STRIDE) {
                    progress.report_now(BuildStage::Refine, old.len() + done, total)?;
                }
            }
        }
        progress.report(BuildStage::Refine, old.len() + done + 1, total)?;
    }
    mesh.points.shrink_to_fit();
    Ok(())
}

/// Refuses more triangles than indices or the free memory allow.
fn check_count(count: u64) -> Result<()> {
    let limit = u64::from(NON_MANIFOLD / 3) - 1;
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

/// A lower bound of the number of triangles, by the area and by the longest side.
fn min_triangle_count([a, b, c]: [DVec3; 3], interval: f64) -> f64 {
    // The largest triangle whose sides are no longer than the interval has equal sides.
    let by_area = 2.0 * ((b - a) / interval).cross((c - a) / interval).length() / 3f64.sqrt();
    let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
    // A quarter of either is a safe bound: rounding must not refuse what is possible.
    (0.25 * by_area.max(longest / interval)).floor().max(1.0)
}

/// A vertex and its position.
type PlacedVertex = (u32, DVec3);

/// Cuts a piece once and pushes what it is cut into onto the stack. A triangle without an edge to cut is done: returns its corners.
fn cut(
    piece: &Piece,
    interval: f64,
    stack: &mut Vec<Piece>,
    vertex: impl FnMut([u32; 2], DVec3) -> u32,
) -> Option<[u32; 3]> {
    match piece {
        Piece::Triangle(triangle) => {
            (!cut_triangle(triangle, interval, stack, vertex)).then_some(triangle.corners)
        }
        Piece::Strip(strip) => {
            cut_strip(strip, interval, stack, vertex);
            None
        }
    }
}

/// The number of parts into which an edge must still be cut. Rounding may leave a single part too long: then it is two.
fn parts_left(parts: u64, a: DVec3, b: DVec3, interval: f64) -> u64 {
    match parts {
        0 | 1 => 1 + u64::from(a.distance(b) > interval),
        more => more,
    }
}

/// A triangle of placed vertices.
fn placed_triangle(corners: [PlacedVertex; 3], parts: [u64; 3]) -> Piece {
    Piece::Triangle(Triangle { corners: corners.map(|at| at.0), places: corners.map(|at| at.1), parts })
}

/// Cuts a strip across both long edges into two strips. A strip whose long edges have two parts at most becomes two triangles.
fn cut_strip(
    strip: &Strip,
    interval: f64,
    stack: &mut Vec<Piece>,
    mut vertex: impl FnMut([u32; 2], DVec3) -> u32,
) {
    let [[p, p_end], [q, q_end]] = strip.edges;
    let [of_p, of_q] = strip.parts;
    if of_p.min(of_q) > 1 && of_p.max(of_q) > 2 {
        let mut middle = |a: PlacedVertex, b: PlacedVertex, parts: u64| {
            let (place, before, behind) = cut_point(a.1, b.1, parts);
            ((vertex([a.0, b.0], place), place), before, behind)
        };
        let (p_middle, p_before, p_behind) = middle(p, p_end, of_p);
        let (q_middle, q_before, q_behind) = middle(q, q_end, of_q);
        let half = |edges, parts| Piece::Strip(Strip { edges, parts });
        stack.push(half([[p_middle, p_end], [q_middle, q_end]], [p_behind, q_behind]));
        stack.push(half([[p, p_middle], [q, q_middle]], [p_before, q_before]));
        return;
    }
    let across = |a: PlacedVertex, b: PlacedVertex| parts(a.1, b.1, interval);
    let mut push = |corners: [PlacedVertex; 3], parts: [u64; 3]| stack.push(placed_triangle(corners, parts));
    let (begin, end) = (across(p, q), across(p_end, q_end));
    if p.1.distance(q_end.1) <= q.1.distance(p_end.1) {
        let diagonal = across(p, q_end);
        push([p, p_end, q_end], [of_p, end, diagonal]);
        push([p, q_end, q], [diagonal, of_q, begin]);
    } else {
        let diagonal = across(q, p_end);
        push([p_end, q_end, q], [end, of_q, diagonal]);
        push([p, p_end, q], [of_p, diagonal, begin]);
    }
}

/// Cuts a triangle once and pushes what it is cut into onto the stack, the first part last. Returns false where no edge is too long.
fn cut_triangle(
    triangle: &Triangle,
    interval: f64,
    stack: &mut Vec<Piece>,
    mut vertex: impl FnMut([u32; 2], DVec3) -> u32,
) -> bool {
    let Triangle { corners, places, parts: wanted } = *triangle;
    let wanted = [0, 1, 2].map(|k| parts_left(wanted[k], places[k], places[(k + 1) % 3], interval));
    let most = wanted.into_iter().fold(1, u64::max);
    if most == 1 {
        return false;
    }
    let mut is_cut = wanted.map(|parts| parts > 1 && parts as f64 >= CUT_TOGETHER * most as f64);
    let least = wanted.into_iter().fold(u64::MAX, u64::min);
    let is_slender = is_cut.iter().filter(|&&is_cut| is_cut).count() == 2 && most >= SLENDER * least;
    if is_slender && least > 1 {
        is_cut = is_cut.map(|is_cut| !is_cut);
    }
    let count = is_cut.iter().filter(|&&is_cut| is_cut).count();
    // Rotate the triangle so that an edge that is cut comes first, and two such edges meet in the first corner.
    let first = match count {
        1 => is_cut.iter().position(|&is_cut| is_cut),
        2 => is_cut.iter().position(|&is_cut| !is_cut).map(|whole| (whole + 2) % 3),
        _ => Some(0),
    };
    let turned = [0, 1, 2].map(|k| (first.unwrap_or(0) + k) % 3);
    let [a, b, c]: [PlacedVertex; 3] = turned.map(|k| (corners[k], places[k]));
    let [of_ab, of_bc, of_ca] = turned.map(|k| wanted[k]);
    let mut cut_point = |a: PlacedVertex, b: PlacedVertex, parts: u64| {
        let (place, before, behind) = cut_point(a.1, b.1, parts);
        ((vertex([a.0, b.0], place), place), before, behind)
    };
    let across = |a: PlacedVertex, b: PlacedVertex| parts(a.1, b.1, interval);
    let mut push = |corners: [PlacedVertex; 3], parts: [u64; 3]| stack.push(placed_triangle(corners, parts));
    let (ab, a_ab, ab_b) = cut_point(a, b, of_ab);
    match count {
        1 => {
            let middle = across(ab, c);
            push([ab, b, c], [ab_b, of_bc, middle]);
            push([a, ab, c], [a_ab, middle, of_ca]);
        }
        2 => {
            let (ca, c_ca, ca_a) = cut_point(c, a, of_ca);
            let middle = across(ab, ca);
            if is_slender {
                push([a, ab, ca], [a_ab, middle, ca_a]);
                stack.push(Piece::Strip(Strip { edges: [[ab, b], [ca, c]], parts: [ab_b, c_ca] }));
                return true;
            }
            if ab.1.distance(c.1) <= ca.1.distance(b.1) {
                let diagonal = across(ab, c);
                push([ab, c, ca], [diagonal, c_ca, middle]);
                push([ab, b, c], [ab_b, of_bc, diagonal]);
            } else {
                let diagonal = across(b, ca);
                push([b, c, ca], [of_bc, c_ca, diagonal]);
                push([ab, b, ca], [ab_b, diagonal, middle]);
            }
            push([a, ab, ca], [a_ab, middle, ca_a]);
        }
        _ => {
            let (bc, b_bc, bc_c) = cut_point(b, c, of_bc);
            let (ca, c_ca, ca_a) = cut_point(c, a, of_ca);
            let [at_a, at_b, at_c] = [across(ab, ca), across(ab, bc), across(bc, ca)];
            push([ab, bc, ca], [at_b, at_c, at_a]);
            push([ca, bc, c], [at_c, bc_c, c_ca]);
            push([ab, b, bc], [ab_b, b_bc, at_b]);
            push([a, ab, ca], [a_ab, at_a, ca_a]);
        }
    }
    true
}
