//! From arranged segments to convex cells: a constrained Delaunay triangulation, of which the free triangles are kept and merged.

use glam::DVec2;
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};

use crate::navigate::room::build::arrangement::{Arrangement, FIRST_DOOR_LAYER, Segment};
use crate::navigate::room::build::cells::{Cells, NONE};
use crate::navigate::shared::predicate::orient;

/// The free triangles of an arrangement.
#[derive(Debug, Clone, Default)]
pub(crate) struct Triangles {
    /// The points that segments use.
    pub(crate) points: Vec<DVec2>,
    /// The corners of each triangle, counter-clockwise.
    pub(crate) corners: Vec<[u32; 3]>,
    /// The neighbour across the edge from each corner to the next; [`NONE`] at a wall.
    pub(crate) neighbours: Vec<[u32; 3]>,
    /// The door to which each such edge belongs; [`NONE`] for most.
    pub(crate) door: Vec<[u32; 3]>,
    /// The further doors of edges to which several belong: the ends, the lower first, and the door; sorted.
    pub(crate) more_doors: Vec<([u32; 2], u32)>,
}

/// Why the triangulation failed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Failure {
    /// Two constraints still cross at this place.
    Crossing(DVec2),
    /// `spade` refused the points.
    Refused,
}

/// The place at which a flood is, as the winding numbers of the layers there.
///
/// The flood changes them as it crosses segments, back and forth, so memory does not grow with the number of places times layers.
pub(crate) trait Place {
    /// Adds to the winding number of a layer. They are all 0 at first, outside of everything.
    fn turn(&mut self, layer: u32, turns: i32);

    /// Whether the place, a triangle, is free. The flood asks once for each.
    fn is_free(&mut self, triangle: [DVec2; 3]) -> bool;
}

/// Triangulates the free space.
pub(crate) fn triangulate(arrangement: &Arrangement, place: &mut dyn Place) -> Result<Triangles, Failure> {
    // Keep only points that a segment uses. Other points were ends of segments that cancelled out.
    let mut new_index = vec![NONE; arrangement.points.len()];
    let mut points = Vec::new();
    for segment in &arrangement.segments {
        for vertex in [segment.a, segment.b] {
            if new_index[vertex as usize] == NONE {
                new_index[vertex as usize] = 0;
            }
        }
    }
    // The order of the input stays.
    for (vertex, index) in new_index.iter_mut().enumerate() {
        if *index != NONE {
            *index = points.len() as u32;
            points.push(arrangement.points[vertex]);
        }
    }
    let segments: Vec<Segment> = arrangement
        .segments
        .iter()
        .map(|s| Segment { a: new_index[s.a as usize], b: new_index[s.b as usize], ..*s })
        .collect();
    let mut edges: Vec<[usize; 2]> = segments.iter().map(|s| [s.a as usize, s.b as usize]).collect();
    edges.dedup();
    if points.len() < 3 {
        return Ok(Triangles::default());
    }
    let mut conflict = None;
    let vertices: Vec<Point2<f64>> = points.iter().map(|p| Point2::new(p.x, p.y)).collect();
    let cdt =
        ConstrainedDelaunayTriangulation::<Point2<f64>>::try_bulk_load_cdt(vertices, edges, |[a, _]| {
            conflict = points.get(a).copied();
        })
        .map_err(|_| Failure::Refused)?;
    if let Some(place) = conflict {
        return Err(Failure::Crossing(place));
    }
    if cdt.num_vertices() != points.len() {
        return Err(Failure::Refused);
    }
    Ok(free_part(&cdt, points, &segments, place))
}

/// Crosses the segments between two points, from the right of the way between them to its left.
fn cross(segments: &[Segment], [from, to]: [u32; 2], place: &mut dyn Place) {
    let key = (from.min(to), from.max(to));
    let begin = segments.partition_point(|s| (s.a, s.b) < key);
    for segment in segments[begin..].iter().take_while(|s| (s.a, s.b) == key) {
        if segment.layer < FIRST_DOOR_LAYER {
            place.turn(segment.layer, if from < to { segment.winding } else { -segment.winding });
        }
    }
}

/// A triangle on the way of a flood.
#[derive(Debug, Clone, Copy)]
struct FloodStep {
    face: u32,
    /// The next of its edges to look across.
    next: usize,
    /// The edge that was crossed to come here, with the face on the left; the same point twice where no segment lies on it.
    entry: [u32; 2],
}

fn free_part(
    cdt: &ConstrainedDelaunayTriangulation<Point2<f64>>,
    points: Vec<DVec2>,
    segments: &[Segment],
    place: &mut dyn Place,
) -> Triangles {
    let face_count = cdt.num_all_faces();
    let mut corners = vec![[NONE; 3]; face_count];
    let mut neighbours = vec![[NONE; 3]; face_count];
    let mut is_constraint = vec![[false; 3]; face_count];
    let mut stack = Vec::new();
    for face in cdt.inner_faces() {
        let f = face.fix().index();
        for (k, edge) in face.adjacent_edges().iter().enumerate() {
            corners[f][k] = edge.from().fix().index() as u32;
            is_constraint[f][k] = edge.is_constraint_edge();
            let other = edge.rev().face();
            if other.is_outer() {
                stack.push((f as u32, k as u32));
            } else {
                neighbours[f][k] = other.fix().index() as u32;
            }
        }
    }
    // A flood from outside inwards, from each face at the convex hull. Crossing a segment changes the winding numbers; on the way back it
    // changes them back.
    let mut is_free = vec![false; face_count];
    let mut is_seen = vec![false; face_count];
    let mut steps: Vec<FloodStep> = Vec::new();
    for (first, k) in stack {
        if is_seen[first as usize] {
            continue;
        }
        let own = corners[first as usize];
        steps.push(FloodStep { face: first, next: 0, entry: [own[k as usize], own[(k as usize + 1) % 3]] });
        while let Some(step) = steps.last_mut() {
            let f = step.face as usize;
            if step.next == 0 {
                is_seen[f] = true;
                cross(segments, step.entry, place);
                is_free[f] = place.is_free(corners[f].map(|corner| points[corner as usize]));
            }
            if step.next == 3 {
                let [from, to] = step.entry;
                cross(segments, [to, from], place);
                steps.pop();
                continue;
            }
            let k = step.next;
            step.next += 1;
            let other = neighbours[f][k];
            if other != NONE && !is_seen[other as usize] {
                let (from, to) = (corners[f][(k + 1) % 3], corners[f][k]);
                let entry = if is_constraint[f][k] { [from, to] } else { [from; 2] };
                steps.push(FloodStep { face: other, next: 0, entry });
            }
        }
    }
    let is_free_face = |f: u32| f != NONE && is_free[f as usize];
    let mut new_index = vec![NONE; face_count];
    let mut kept = Vec::new();
    for f in 0..face_count as u32 {
        if corners[f as usize][0] != NONE && is_free_face(f) {
            new_index[f as usize] = kept.len() as u32;
            kept.push(f as usize);
        }
    }
    let door_of = |a: u32, b: u32| {
        let key = (a.min(b), a.max(b));
        let begin = segments.partition_point(|s| (s.a, s.b) < key);
        let mut same = segments[begin..].iter().take_while(|s| (s.a, s.b) == key);
        same.find(|s| s.layer >= FIRST_DOOR_LAYER).map_or(NONE, |s| s.layer - FIRST_DOOR_LAYER)
    };
    let is_door = |s: &&Segment| s.layer >= FIRST_DOOR_LAYER;
    let same_edge = |x: &Segment, y: &Segment| (x.a, x.b) == (y.a, y.b);
    let more_doors = segments
        .chunk_by(same_edge)
        .flat_map(|edge| edge.iter().filter(is_door).skip(1))
        .map(|s| ([s.a, s.b], s.layer - FIRST_DOOR_LAYER))
        .collect();
    let mut result = Triangles { points, more_doors, ..Triangles::default() };
    for &f in &kept {
        let mut across = [NONE; 3];
        let mut doors = [NONE; 3];
        for k in 0..3 {
            if is_free_face(neighbours[f][k]) {
                across[k] = new_index[neighbours[f][k] as usize];
                if is_constraint[f][k] {
                    doors[k] = door_of(corners[f][k], corners[f][(k + 1) % 3]);
                }
            }
        }
        result.corners.push(corners[f]);
        result.neighbours.push(across);
        result.door.push(doors);
    }
    result
}

impl Triangles {
    /// The triangles as cells, and their sides that belong to a door. With `merge`, triangles are merged into larger convex cells.
    ///
    /// Merging is greedy, longest edge first (Hertel and Mehlhorn 1983: at most four times the least number of cells).
    pub(crate) fn cells(self, merge: bool) -> (Cells, Vec<(u32, u32)>) {
        let Self { mut points, corners, neighbours, door, more_doors } = self;
        // The half-edge 3 f + k is edge k of triangle f.
        let count = corners.len();
        let mut next: Vec<u32> = (0..3 * count as u32).map(|h| h - h % 3 + (h + 1) % 3).collect();
        let mut prev: Vec<u32> = (0..3 * count as u32).map(|h| h - h % 3 + (h + 2) % 3).collect();
        let from = |h: u32| corners[h as usize / 3][h as usize % 3];
        let mut twin = vec![NONE; 3 * count];
        for f in 0..count {
            for k in 0..3 {
                let other = neighbours[f][k];
                if other == NONE {
                    continue;
                }
                let to = corners[f][(k + 1) % 3];
                if let Some(m) = (0..3).find(|&m| {
                    corners[other as usize][m] == to && corners[other as usize][(m + 1) % 3] == corners[f][k]
                }) {
                    twin[3 * f + k] = 3 * other + m as u32;
                }
            }
        }
        let mut is_removed = vec![false; 3 * count];
        if merge {
            let at = |v: u32| points[v as usize];
            let mut order: Vec<(f64, u32)> = (0..3 * count as u32)
                .filter(|&h| twin[h as usize] != NONE && h < twin[h as usize])
                .filter(|&h| door[h as usize / 3][h as usize % 3] == NONE)
                .map(|h| (at(from(h)).distance_squared(at(from(twin[h as usize]))), h))
                .collect();
            order.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
            for (_, h) in order {
                let t = twin[h as usize];
                let (before_h, after_h) = (prev[h as usize], next[h as usize]);
                let (before_t, after_t) = (prev[t as usize], next[t as usize]);
                let is_convex = |a: u32, corner: u32, b: u32| {
                    let [a, corner, b] = [from(a), from(corner), from(next[b as usize])].map(at);
                    let turn = orient(a, corner, b);
                    // Where the ring turns back on itself, around the end of a door, the corner is the whole turn.
                    turn > 0.0 || (turn == 0.0 && (a - corner).dot(b - corner) < 0.0)
                };
                if is_convex(before_h, h, after_t) && is_convex(before_t, t, after_h) {
                    next[before_h as usize] = after_t;
                    prev[after_t as usize] = before_h;
                    next[before_t as usize] = after_h;
                    prev[after_h as usize] = before_t;
                    is_removed[h as usize] = true;
                    is_removed[t as usize] = true;
                }
            }
        }
        // Keep only vertices of free cells, in the order of the input.
        let mut new_index = vec![NONE; points.len()];
        for h in 0..3 * count as u32 {
            if !is_removed[h as usize] {
                new_index[from(h) as usize] = 0;
            }
        }
        let mut kept = Vec::new();
        for (v, index) in new_index.iter_mut().enumerate() {
            if *index != NONE {
                *index = kept.len() as u32;
                kept.push(points[v]);
            }
        }
        points = kept;
        let mut cells = Cells { points, ..Cells::default() };
        let mut side_of = vec![NONE; 3 * count];
        let mut ring = Vec::new();
        for h in 0..3 * count as u32 {
            if is_removed[h as usize] || side_of[h as usize] != NONE {
                continue;
            }
            ring.clear();
            let mut at = h;
            loop {
                side_of[at as usize] = (cells.sides.len() + ring.len()) as u32;
                ring.push(new_index[from(at) as usize]);
                at = next[at as usize];
                if at == h {
                    break;
                }
            }
            cells.add(&ring);
        }
        for h in 0..3 * count {
            let t = twin[h];
            if !is_removed[h] && t != NONE && (h as u32) < t {
                cells.link(side_of[h], side_of[t as usize]);
            }
        }
        let mut doors = Vec::new();
        for h in (0..3 * count).filter(|&h| !is_removed[h] && door[h / 3][h % 3] != NONE) {
            doors.push((side_of[h], door[h / 3][h % 3]));
            let (a, b) = (from(h as u32), corners[h / 3][(h + 1 - h / 3 * 3) % 3]);
            let edge = [a.min(b), a.max(b)];
            let begin = more_doors.partition_point(|more| more.0 < edge);
            let more = more_doors[begin..].iter().take_while(|more| more.0 == edge);
            doors.extend(more.map(|&(_, door)| (side_of[h], door)));
        }
        (cells, doors)
    }
}
