//! The triangulation of faces with more than three corners.
//!
//! A face becomes the fan from its first corner if no triangle of the fan turns over. Any other face is projected along the axis nearest to
//! its normal, which rounds nothing, and cut along a constrained Delaunay triangulation with exact predicates (Shewchuk 1997). What the
//! outline winds around is inside (the nonzero rule). Corners off the plane may make the outline cross itself in that projection. Then it
//! is projected along its normal (Newell's, as Sutherland, Sproull and Schumacker 1974 give it).

use glam::{DVec2, DVec3};
use spade::handles::FixedVertexHandle;
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};

use crate::navigate::shared::predicate::{MIN_COORDINATE, orient};
use crate::navigate::surface::mesh::check::height_tolerance;
use crate::navigate::surface::mesh::topology::NONE;
use crate::order::sort_ids;

/// Relative to the sum of the areas of the fan's triangles: a smaller area vector has no reliable direction.
const MIN_AREA_SUM: f64 = 1e-12;

/// How a face is triangulated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cut {
    /// As the fan from its first corner.
    Fan,
    /// Its outline crosses itself, so that what it covers is undefined.
    Crossed,
    /// As these triangles of its corners.
    Triangles {
        corners: Vec<[u32; 3]>,
        /// Whether the outline does not meet itself.
        is_simple: bool,
    },
}

/// The orientation of a triangle about a normal, up to the rounding of its corners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Orientation {
    Positive,
    Degenerate,
    Negative,
}

/// Triangulates the face with these corners. `place` gives the position of a corner. Equal corners are one vertex.
pub(crate) fn cut(corners: &[u32], place: impl Fn(u32) -> DVec3) -> Cut {
    if corners.len() <= 3 {
        return Cut::Fan;
    }
    let mut outline: Vec<u32> = corners.to_vec();
    outline.dedup();
    while outline.len() > 1 && outline.first() == outline.last() {
        outline.pop();
    }
    if outline.len() <= 3 {
        return Cut::Fan;
    }
    let places: Vec<DVec3> = outline.iter().map(|&corner| place(corner)).collect();
    let face = FaceOutline::new(&places);
    if face.is_line() {
        return Cut::Fan;
    }
    if face.normal.is_some_and(|normal| face.has_fan(normal)) {
        return Cut::Fan;
    }
    let projected = face.drop_axis(&places);
    if is_star(&projected) {
        return Cut::Fan;
    }
    if let [a, b, c, d] = projected[..]
        && orient(b, c, d) > 0.0
        && orient(b, d, a) > 0.0
    {
        let corners = [[outline[0], outline[1], outline[3]], [outline[1], outline[2], outline[3]]];
        return Cut::Triangles { corners: corners.to_vec(), is_simple: true };
    }
    match triangulate_enclosed(&outline, &projected) {
        Cut::Crossed => match face.normal.map(|normal| triangulate_enclosed(&outline, &face.project(normal)))
        {
            Some(cut @ Cut::Triangles { is_simple: true, .. }) => cut,
            _ => Cut::Crossed,
        },
        cut => cut,
    }
}

/// The outline of a face, relative to its first corner.
struct FaceOutline {
    /// The corners relative to the first one, in units of the largest of their coordinates.
    from_first: Vec<DVec3>,
    /// The largest coordinate of the corners' positions, in these units.
    max_coordinate: f64,
    /// The corner farthest from the first.
    farthest: usize,
    /// The unit normal of the face; `None` where the areas cancel out.
    normal: Option<DVec3>,
    /// Along each axis, the sum of the unsigned areas of the triangles of the first, the farthest and any other corner.
    axis_areas: DVec3,
}

impl FaceOutline {
    fn new(places: &[DVec3]) -> Self {
        let first = places[0];
        let size = places.iter().fold(0.0, |most: f64, &at| most.max((at - first).abs().max_element()));
        let max_coordinate = places.iter().fold(0.0, |most: f64, at| most.max(at.abs().max_element()));
        let from_first: Vec<DVec3> = places.iter().map(|&at| (at - first) / size).collect();
        let areas = || from_first[1..].windows(2).map(|pair| pair[0].cross(pair[1]));
        let (whole, all) = (areas().sum::<DVec3>(), areas().map(DVec3::length).sum::<f64>());
        let normal = if whole.length() > MIN_AREA_SUM * all { whole.try_normalize() } else { None };
        let farthest = (0..from_first.len())
            .max_by(|&i, &k| from_first[i].length_squared().total_cmp(&from_first[k].length_squared()))
            .unwrap_or(0);
        let axis_areas = from_first.iter().map(|at| from_first[farthest].cross(*at).abs()).sum();
        Self { from_first, max_coordinate: max_coordinate / size, farthest, normal, axis_areas }
    }

    /// The orientation of a triangle about `normal`; without a normal, whether it is degenerate.
    fn orientation(&self, [a, b, c]: [usize; 3], normal: Option<DVec3>) -> Orientation {
        let [a, b, c] = [a, b, c].map(|corner| self.from_first[corner]);
        let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
        let tolerance = height_tolerance(self.max_coordinate, longest);
        let area = ((b - a) / longest).cross((c - a) / longest);
        let height = normal.map_or_else(|| area.length(), |normal| area.dot(normal));
        // A triangle without a longest side has a height of NaN, and is degenerate.
        if height > tolerance {
            Orientation::Positive
        } else if height < -tolerance {
            Orientation::Negative
        } else {
            Orientation::Degenerate
        }
    }

    /// Whether all corners are collinear.
    fn is_line(&self) -> bool {
        (0..self.from_first.len())
            .all(|i| self.orientation([0, self.farthest, i], None) == Orientation::Degenerate)
    }

    /// Whether the fan covers the face, up to rounding: no triangle is turned against the normal, all lie within half a turn around the first
    /// corner, and no degenerate triangle hides a spike. This holds for every convex face.
    fn has_fan(&self, normal: DVec3) -> bool {
        let count = self.from_first.len();
        let orientation = |corners| self.orientation(corners, Some(normal));
        let mut has_flat = false;
        for i in 1..count - 1 {
            match orientation([0, i, i + 1]) {
                Orientation::Positive => {}
                Orientation::Degenerate => has_flat = true,
                Orientation::Negative => return false,
            }
        }
        if (2..count).any(|i| orientation([0, 1, i]) == Orientation::Negative) {
            return false;
        }
        let goes_back = |i: usize| {
            let [before, after] = [(i + count - 1) % count, (i + 1) % count];
            let at = self.from_first[i];
            let turns_back = (at - self.from_first[before]).dot(self.from_first[after] - at) < 0.0;
            turns_back && orientation([before, i, after]) == Orientation::Degenerate
        };
        !(has_flat && (0..count).any(goes_back))
    }

    /// The corners projected along the axis nearest to the normal, counter-clockwise if there is a normal. Nothing is rounded except
    /// coordinates of less than 1e-42 of the largest one.
    fn drop_axis(&self, places: &[DVec3]) -> Vec<DVec2> {
        let lean = self.normal.map_or(self.axis_areas, DVec3::abs);
        let axis = if lean.x >= lean.y && lean.x >= lean.z {
            0
        } else if lean.y >= lean.z {
            1
        } else {
            2
        };
        let mut kept = [(axis + 1) % 3, (axis + 2) % 3];
        if self.normal.is_some_and(|normal| normal[axis] < 0.0) {
            kept.swap(0, 1);
        }
        let largest = places.iter().flat_map(|at| kept.map(|k| at[k].abs())).fold(0.0, |a: f64, b| a.max(b));
        // Scale by a power of two near the reciprocal of the largest, in two steps, because one alone might overflow.
        let steps = (-largest.log2()).floor().clamp(-1000.0, 1000.0);
        let half = (steps / 2.0).floor();
        let (one, other) = (half.exp2(), (steps - half).exp2());
        let scaled = |value: f64| {
            let value = value * one * other;
            if value.abs() < MIN_COORDINATE { 0.0 } else { value }
        };
        places.iter().map(|at| DVec2::new(scaled(at[kept[0]]), scaled(at[kept[1]]))).collect()
    }

    /// The corners projected along the normal, counter-clockwise, rounded.
    fn project(&self, normal: DVec3) -> Vec<DVec2> {
        let (across, up) = normal.any_orthonormal_pair();
        let scaled = |value: f64| if value.abs() < MIN_COORDINATE { 0.0 } else { value };
        self.from_first.iter().map(|at| DVec2::new(scaled(at.dot(across)), scaled(at.dot(up)))).collect()
    }
}

/// Whether all triangles of the fan turn left and together make less than a full turn, decided exactly. Then the fan covers each place of
/// the face once.
fn is_star(projected: &[DVec2]) -> bool {
    let first = projected[0];
    if !projected[1..].windows(2).all(|pair| orient(first, pair[0], pair[1]) > 0.0) {
        return false;
    }
    // Each triangle makes less than half a turn, so none can skip the second half.
    let mut is_past_half = false;
    for &corner in &projected[2..] {
        if orient(first, projected[1], corner) > 0.0 {
            if is_past_half {
                return false;
            }
        } else if is_past_half && orient(first, projected[1], corner) == 0.0 {
            return false;
        } else {
            is_past_half = true;
        }
    }
    true
}

/// The triangles of what an outline winds around.
fn triangulate_enclosed(outline: &[u32], projected: &[DVec2]) -> Cut {
    // Each vertex once, named by its first place in the outline.
    let mut order: Vec<u32> = (0..outline.len() as u32).collect();
    sort_ids(&mut order, &|a, b| outline[a as usize].cmp(&outline[b as usize]));
    let mut first_at: Vec<u32> = vec![0; outline.len()];
    for same in order.chunk_by(|&a, &b| outline[a as usize] == outline[b as usize]) {
        for &at in same {
            first_at[at as usize] = same[0];
        }
    }
    let mut number = vec![NONE; outline.len()];
    let mut vertices: Vec<u32> = Vec::with_capacity(outline.len());
    for at in 0..outline.len() {
        if first_at[at] as usize == at {
            number[at] = vertices.len() as u32;
            vertices.push(at as u32);
        }
    }
    let nothing = || Cut::Triangles { corners: Vec::new(), is_simple: false };
    if vertices.len() < 3 {
        return nothing();
    }
    let loops: Vec<usize> = first_at.iter().map(|&at| number[at as usize] as usize).collect();
    let sides = || (0..loops.len()).map(|i| [loops[i], loops[(i + 1) % loops.len()]]);
    let points =
        vertices.iter().map(|&at| projected[at as usize]).map(|at| Point2::new(at.x, at.y)).collect();
    let mut edges: Vec<[usize; 2]> = sides().map(|[a, b]| [a.min(b), a.max(b)]).collect();
    edges.sort_unstable();
    edges.dedup();
    let mut is_crossed = false;
    let made = ConstrainedDelaunayTriangulation::<Point2<f64>>::try_bulk_load_cdt(points, edges, |_| {
        is_crossed = true;
    });
    let Ok(cdt) = made else { return Cut::Crossed };
    // With two vertices at one place, it is unknown which of them is above.
    if is_crossed || cdt.num_vertices() != vertices.len() {
        return Cut::Crossed;
    }
    let Some((windings, is_split)) = edge_windings(&cdt, sides()) else { return Cut::Crossed };
    let is_simple = !is_split && vertices.len() == outline.len();
    let mut found: Vec<[u32; 3]> = inside(&cdt, &windings);
    for corners in &mut found {
        let lowest = (0..3).min_by_key(|&k| corners[k]).unwrap_or(0);
        corners.rotate_left(lowest);
    }
    found.sort_unstable();
    let corner = |vertex: u32| outline[vertices[vertex as usize] as usize];
    Cut::Triangles { corners: found.into_iter().map(|triangle| triangle.map(corner)).collect(), is_simple }
}

type Cdt = ConstrainedDelaunayTriangulation<Point2<f64>>;

/// The ends of an edge, the lower vertex first, and how often the outline runs along it that way, less how often the other way.
type EdgeWinding = ([u32; 2], i32);

/// The windings of all edges, sorted, and whether a side of the outline runs through a vertex and so is several edges. `None` where a side
/// can't be found.
fn edge_windings(cdt: &Cdt, sides: impl Iterator<Item = [usize; 2]>) -> Option<(Vec<EdgeWinding>, bool)> {
    let mut windings_along: Vec<EdgeWinding> = Vec::new();
    let mut is_split = false;
    let mut push = |from: usize, to: usize| {
        let sign = if from < to { 1 } else { -1 };
        windings_along.push(([from.min(to) as u32, from.max(to) as u32], sign));
    };
    for [from, to] in sides {
        let [mut at, end] = [from, to].map(FixedVertexHandle::from_index);
        if cdt.get_edge_from_neighbors(at, end).is_some_and(|edge| edge.is_constraint_edge()) {
            push(from, to);
            continue;
        }
        is_split = true;
        let place = |vertex: FixedVertexHandle| {
            let at = cdt.vertex(vertex).position();
            DVec2::new(at.x, at.y)
        };
        while at != end {
            let (here, goal) = (place(at), place(end));
            let next = cdt.vertex(at).out_edges().find_map(|edge| {
                let vertex = edge.to().fix();
                let there = place(vertex);
                // On the line, decided exactly, and towards the goal, which rounding can't change.
                let leads = edge.is_constraint_edge()
                    && orient(here, there, goal) == 0.0
                    && (there - here).dot(goal - here) > 0.0;
                leads.then_some(vertex)
            })?;
            push(at.index(), next.index());
            at = next;
        }
    }
    windings_along.sort_unstable();
    let mut windings: Vec<EdgeWinding> = Vec::with_capacity(windings_along.len());
    for (edge, sign) in windings_along {
        match windings.last_mut() {
            Some(last) if last.0 == edge => last.1 += sign,
            _ => windings.push((edge, sign)),
        }
    }
    Some((windings, is_split))
}

/// The triangles that the outline winds around, oriented as it winds.
fn inside(cdt: &Cdt, windings: &[EdgeWinding]) -> Vec<[u32; 3]> {
    // The change of the winding number across an edge from its right to its left.
    let change = |from: u32, to: u32| {
        let at = windings.binary_search_by_key(&[from.min(to), from.max(to)], |entry| entry.0);
        let count = at.map_or(0, |at| windings[at].1);
        if from < to { count } else { -count }
    };
    const UNKNOWN: i32 = i32::MAX;
    let mut winding = vec![UNKNOWN; cdt.num_all_faces()];
    let mut open = Vec::new();
    for edge in cdt.convex_hull() {
        let inner = edge.rev();
        if let Some(face) = inner.face().as_inner() {
            let [from, to] = inner.vertices().map(|vertex| vertex.fix().index() as u32);
            let at = &mut winding[face.fix().index()];
            if *at == UNKNOWN {
                *at = change(from, to);
                open.push(face);
            }
        }
    }
    while let Some(face) = open.pop() {
        let here = winding[face.fix().index()];
        for edge in face.adjacent_edges() {
            let beyond = edge.rev();
            if let Some(face) = beyond.face().as_inner() {
                let [from, to] = beyond.vertices().map(|vertex| vertex.fix().index() as u32);
                let at = &mut winding[face.fix().index()];
                if *at == UNKNOWN {
                    *at = here + change(from, to);
                    open.push(face);
                }
            }
        }
    }
    cdt.inner_faces()
        .filter_map(|face| {
            let [a, b, c] = face.vertices().map(|vertex| vertex.fix().index() as u32);
            match winding[face.fix().index()] {
                0 | UNKNOWN => None,
                1.. => Some([a, b, c]),
                _ => Some([a, c, b]),
            }
        })
        .collect()
}
