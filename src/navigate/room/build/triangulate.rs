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
}

/// Why the triangulation failed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Failure {
    /// Two constraints still cross at this place.
    Crossing(DVec2),
    /// `spade` refused the points.
    Refused,
}

/// Triangulates the free space. `is_free` gets the (layer, winding number) pairs of a place, without those of winding number 0.
pub(crate) fn triangulate(
    arrangement: &Arrangement,
    is_free: impl Fn(&[(u32, i32)]) -> bool,
) -> Result<Triangles, Failure> {
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
    Ok(free_part(&cdt, points, &segments, is_free))
}

fn free_part(
    cdt: &ConstrainedDelaunayTriangulation<Point2<f64>>,
    points: Vec<DVec2>,
    segments: &[Segment],
    is_free: impl Fn(&[(u32, i32)]) -> bool,
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
    // A flood from outside inwards. Crossing a segment changes the winding numbers. Faces with equal ones share a label.
    let mut labels: Vec<Vec<(u32, i32)>> = vec![Vec::new()];
    let mut label_of = vec![NONE; face_count];
    let label_across = |labels: &mut Vec<Vec<(u32, i32)>>, label: u32, from: u32, to: u32| -> u32 {
        // The face is left of the edge `from` to `to`.
        let key = (from.min(to), from.max(to));
        let begin = segments.partition_point(|s| (s.a, s.b) < key);
        let mut winding = labels[label as usize].clone();
        for segment in segments[begin..].iter().take_while(|s| (s.a, s.b) == key) {
            if segment.layer >= FIRST_DOOR_LAYER {
                continue;
            }
            let turns = if from < to { segment.winding } else { -segment.winding };
            match winding.binary_search_by_key(&segment.layer, |entry| entry.0) {
                Ok(i) => {
                    winding[i].1 += turns;
                    if winding[i].1 == 0 {
                        winding.remove(i);
                    }
                }
                Err(i) => winding.insert(i, (segment.layer, turns)),
            }
        }
        if winding == labels[label as usize] {
            return label;
        }
        labels.push(winding);
        labels.len() as u32 - 1
    };
    // From each face at the convex hull.
    let mut queue: Vec<u32> = Vec::new();
    for (f, k) in stack {
        if label_of[f as usize] == NONE {
            let [from, to] = [corners[f as usize][k as usize], corners[f as usize][(k as usize + 1) % 3]];
            label_of[f as usize] = label_across(&mut labels, 0, from, to);
            queue.push(f);
        }
        while let Some(f) = queue.pop() {
            let f = f as usize;
            for k in 0..3 {
                let other = neighbours[f][k];
                if other == NONE || label_of[other as usize] != NONE {
                    continue;
                }
                label_of[other as usize] = if is_constraint[f][k] {
                    label_across(&mut labels, label_of[f], corners[f][(k + 1) % 3], corners[f][k])
                } else {
                    label_of[f]
                };
                queue.push(other);
            }
        }
    }
    let free: Vec<bool> = labels.iter().map(|label| is_free(label)).collect();
    let is_free_face =
        |f: u32| f != NONE && label_of[f as usize] != NONE && free[label_of[f as usize] as usize];
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
    let mut result = Triangles { points, ..Triangles::default() };
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
        let Self { mut points, corners, neighbours, door } = self;
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
                    orient(at(from(a)), at(from(corner)), at(from(next[b as usize]))) >= 0.0
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
        let doors = (0..3 * count)
            .filter(|&h| !is_removed[h] && door[h / 3][h % 3] != NONE)
            .map(|h| (side_of[h], door[h / 3][h % 3]))
            .collect();
        (cells, doors)
    }
}
