//! Faces of more than three corners, cut into triangles.
//!
//! A face whose fan from its first corner turns nowhere over stays that fan. Any other is laid flat by leaving out the coordinate that
//! its normal leans most to, which rounds nothing, and cut along a constrained Delaunay triangulation with exact predicates (Shewchuk
//! 1997): what the outline winds around is inside (the nonzero rule). Corners off the plane may make the outline cross itself as seen
//! along an axis; it is seen along its normal then (Newell's, as Sutherland, Sproull and Schumacker 1974 give it).

use glam::{DVec2, DVec3};
use spade::handles::FixedVertexHandle;
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};

use crate::navigate::shared::predicate::{MIN_COORDINATE, orient};
use crate::navigate::surface::mesh::topology::NONE;

/// Of the longest side: what is left of a triangle's height that the rounding of lengths alone makes.
const NO_HEIGHT: f64 = 1e-14;

/// Of the largest coordinate: what is left of a height where corners in one line were rounded.
const ROUNDED: f64 = 4.0 * f64::EPSILON;

/// Of the longest side: there is an area, however coarsely corners are rounded.
const SOME_HEIGHT: f64 = 0.1;

/// Of the areas of the fan's triangles: a sum that is less has no direction.
const NO_SUM: f64 = 1e-12;

/// How a face is cut.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cut {
    /// Into a fan from its first corner.
    Fan,
    /// It crosses itself, so that nobody can say what it covers.
    Crossed,
    /// Into these triangles of its corners.
    Triangles {
        corners: Vec<[u32; 3]>,
        /// Whether the outline nowhere meets itself.
        is_simple: bool,
    },
}

/// How a triangle is turned, up to the rounding of its corners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Along,
    Flat,
    Against,
}

/// Cuts the face with these corners, whose places are `place`. Equal corners are one vertex.
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
    let face = Face::new(&places);
    if face.is_line() {
        return Cut::Fan;
    }
    if face.normal.is_some_and(|normal| face.has_fan(normal)) {
        return Cut::Fan;
    }
    let flat = face.flat(&places);
    if is_star(&flat) {
        return Cut::Fan;
    }
    if let [a, b, c, d] = flat[..]
        && orient(b, c, d) > 0.0
        && orient(b, d, a) > 0.0
    {
        let corners = [[outline[0], outline[1], outline[3]], [outline[1], outline[2], outline[3]]];
        return Cut::Triangles { corners: corners.to_vec(), is_simple: true };
    }
    match enclosed(&outline, &flat) {
        Cut::Crossed => match face.normal.map(|normal| enclosed(&outline, &face.along(normal))) {
            Some(cut @ Cut::Triangles { is_simple: true, .. }) => cut,
            _ => Cut::Crossed,
        },
        cut => cut,
    }
}

/// A face as seen from its first corner.
struct Face {
    /// The corners from the first one, in units of the largest part of any.
    from_first: Vec<DVec3>,
    /// The largest coordinate in these units.
    far: f64,
    /// The corner that is farthest from the first.
    farthest: usize,
    /// The unit normal of the whole; none where the areas cancel out.
    normal: Option<DVec3>,
    /// The areas of the triangles of the first, the farthest and any other corner along each axis, whichever way they are turned.
    spread: DVec3,
}

impl Face {
    fn new(places: &[DVec3]) -> Self {
        let first = places[0];
        let size = places.iter().fold(0.0, |most: f64, &at| most.max((at - first).abs().max_element()));
        let far = places.iter().fold(0.0, |most: f64, at| most.max(at.abs().max_element()));
        let from_first: Vec<DVec3> = places.iter().map(|&at| (at - first) / size).collect();
        let areas = || from_first[1..].windows(2).map(|pair| pair[0].cross(pair[1]));
        let (whole, all) = (areas().sum::<DVec3>(), areas().map(DVec3::length).sum::<f64>());
        let normal = if whole.length() > NO_SUM * all { whole.try_normalize() } else { None };
        let farthest = (0..from_first.len())
            .max_by(|&i, &k| from_first[i].length_squared().total_cmp(&from_first[k].length_squared()))
            .unwrap_or(0);
        let spread = from_first.iter().map(|at| from_first[farthest].cross(*at).abs()).sum();
        Self { from_first, far: far / size, farthest, normal, spread }
    }

    /// How a triangle is turned about `normal`; without one, whether it is flat.
    fn turn(&self, [a, b, c]: [usize; 3], normal: Option<DVec3>) -> Turn {
        let [a, b, c] = [a, b, c].map(|corner| self.from_first[corner]);
        let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
        let none = (ROUNDED * (self.far / longest)).clamp(NO_HEIGHT, SOME_HEIGHT);
        let area = ((b - a) / longest).cross((c - a) / longest);
        let height = normal.map_or_else(|| area.length(), |normal| area.dot(normal));
        // What has no longest side is not a number here, and flat.
        if height > none {
            Turn::Along
        } else if height < -none {
            Turn::Against
        } else {
            Turn::Flat
        }
    }

    /// Whether all corners are in one line.
    fn is_line(&self) -> bool {
        (0..self.from_first.len()).all(|i| self.turn([0, self.farthest, i], None) == Turn::Flat)
    }

    /// Whether the fan covers the face, up to rounding: no triangle is turned against the whole, all lie within half a turn of the first
    /// corner, and no spike hides in what is flat. So it is with every convex face.
    fn has_fan(&self, normal: DVec3) -> bool {
        let count = self.from_first.len();
        let turn = |corners| self.turn(corners, Some(normal));
        let mut has_flat = false;
        for i in 1..count - 1 {
            match turn([0, i, i + 1]) {
                Turn::Along => {}
                Turn::Flat => has_flat = true,
                Turn::Against => return false,
            }
        }
        if (2..count).any(|i| turn([0, 1, i]) == Turn::Against) {
            return false;
        }
        let goes_back = |i: usize| {
            let [before, after] = [(i + count - 1) % count, (i + 1) % count];
            let at = self.from_first[i];
            let turns_back = (at - self.from_first[before]).dot(self.from_first[after] - at) < 0.0;
            turns_back && turn([before, i, after]) == Turn::Flat
        };
        !(has_flat && (0..count).any(goes_back))
    }

    /// The corners without the coordinate that the normal leans most to, counter-clockwise where the areas have a sum. Nothing is
    /// rounded but what is less than 1e-42 of the largest coordinate.
    fn flat(&self, places: &[DVec3]) -> Vec<DVec2> {
        let lean = self.normal.map_or(self.spread, DVec3::abs);
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
        // A power of two, near 1 over the largest, in two steps: one alone might overflow.
        let steps = (-largest.log2()).floor().clamp(-1000.0, 1000.0);
        let half = (steps / 2.0).floor();
        let (one, other) = (half.exp2(), (steps - half).exp2());
        let scaled = |value: f64| {
            let value = value * one * other;
            if value.abs() < MIN_COORDINATE { 0.0 } else { value }
        };
        places.iter().map(|at| DVec2::new(scaled(at[kept[0]]), scaled(at[kept[1]]))).collect()
    }

    /// The corners as seen along the normal, counter-clockwise, rounded.
    fn along(&self, normal: DVec3) -> Vec<DVec2> {
        let (across, up) = normal.any_orthonormal_pair();
        let scaled = |value: f64| if value.abs() < MIN_COORDINATE { 0.0 } else { value };
        self.from_first.iter().map(|at| DVec2::new(scaled(at.dot(across)), scaled(at.dot(up)))).collect()
    }
}

/// Whether each triangle of the fan is turned to the left, and all of them together make less than a turn: decided exactly. Then they
/// cover the face, each place once.
fn is_star(flat: &[DVec2]) -> bool {
    let first = flat[0];
    if !flat[1..].windows(2).all(|pair| orient(first, pair[0], pair[1]) > 0.0) {
        return false;
    }
    // Each step makes less than half a turn, so that none can leap over the half that it enters.
    let mut is_past_half = false;
    for &corner in &flat[2..] {
        if orient(first, flat[1], corner) > 0.0 {
            if is_past_half {
                return false;
            }
        } else if is_past_half && orient(first, flat[1], corner) == 0.0 {
            return false;
        } else {
            is_past_half = true;
        }
    }
    true
}

/// The triangles of what an outline winds around.
fn enclosed(outline: &[u32], flat: &[DVec2]) -> Cut {
    // Each vertex once, called by where the outline first comes to it.
    let mut order: Vec<u32> = (0..outline.len() as u32).collect();
    order.sort_by_key(|&at| (outline[at as usize], at));
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
    let points = vertices.iter().map(|&at| flat[at as usize]).map(|at| Point2::new(at.x, at.y)).collect();
    let mut edges: Vec<[usize; 2]> = sides().map(|[a, b]| [a.min(b), a.max(b)]).collect();
    edges.sort_unstable();
    edges.dedup();
    let mut is_crossed = false;
    let made = ConstrainedDelaunayTriangulation::<Point2<f64>>::try_bulk_load_cdt(points, edges, |_| {
        is_crossed = true;
    });
    let Ok(plan) = made else { return Cut::Crossed };
    // Two vertices in one place: which of them is above is not known.
    if is_crossed || plan.num_vertices() != vertices.len() {
        return Cut::Crossed;
    }
    let Some((turns, is_split)) = windings(&plan, sides()) else { return Cut::Crossed };
    let is_simple = !is_split && vertices.len() == outline.len();
    let mut found: Vec<[u32; 3]> = inside(&plan, &turns);
    for corners in &mut found {
        let lowest = (0..3).min_by_key(|&k| corners[k]).unwrap_or(0);
        corners.rotate_left(lowest);
    }
    found.sort_unstable();
    let corner = |vertex: u32| outline[vertices[vertex as usize] as usize];
    Cut::Triangles { corners: found.into_iter().map(|triangle| triangle.map(corner)).collect(), is_simple }
}

type Plan = ConstrainedDelaunayTriangulation<Point2<f64>>;

/// The ends of an edge, the lower vertex first, and how often the outline goes along it that way, less how often the other way.
type Passes = ([u32; 2], i32);

/// How often the outline goes along each edge from its lower vertex to its higher, less how often the other way; sorted. And whether
/// a side of the outline runs through a vertex, and so is several edges. None where a side is not to be found.
fn windings(plan: &Plan, sides: impl Iterator<Item = [usize; 2]>) -> Option<(Vec<Passes>, bool)> {
    let mut along: Vec<Passes> = Vec::new();
    let mut is_split = false;
    let mut push = |from: usize, to: usize| {
        let way = if from < to { 1 } else { -1 };
        along.push(([from.min(to) as u32, from.max(to) as u32], way));
    };
    for [from, to] in sides {
        let [mut at, end] = [from, to].map(FixedVertexHandle::from_index);
        if plan.get_edge_from_neighbors(at, end).is_some_and(|edge| edge.is_constraint_edge()) {
            push(from, to);
            continue;
        }
        is_split = true;
        let place = |vertex: FixedVertexHandle| {
            let at = plan.vertex(vertex).position();
            DVec2::new(at.x, at.y)
        };
        while at != end {
            let (here, goal) = (place(at), place(end));
            let next = plan.vertex(at).out_edges().find_map(|edge| {
                let vertex = edge.to().fix();
                let there = place(vertex);
                // On the line, which is exact, and on the goal's side, of which rounding leaves no doubt.
                let leads = edge.is_constraint_edge()
                    && orient(here, there, goal) == 0.0
                    && (there - here).dot(goal - here) > 0.0;
                leads.then_some(vertex)
            })?;
            push(at.index(), next.index());
            at = next;
        }
    }
    along.sort_unstable();
    let mut turns: Vec<Passes> = Vec::with_capacity(along.len());
    for (edge, way) in along {
        match turns.last_mut() {
            Some(last) if last.0 == edge => last.1 += way,
            _ => turns.push((edge, way)),
        }
    }
    Some((turns, is_split))
}

/// The triangles that the outline winds around, turned as it winds.
fn inside(plan: &Plan, turns: &[Passes]) -> Vec<[u32; 3]> {
    // Going over an edge from its right to its left.
    let change = |from: u32, to: u32| {
        let at = turns.binary_search_by_key(&[from.min(to), from.max(to)], |entry| entry.0);
        let count = at.map_or(0, |at| turns[at].1);
        if from < to { count } else { -count }
    };
    const UNKNOWN: i32 = i32::MAX;
    let mut winding = vec![UNKNOWN; plan.num_all_faces()];
    let mut open = Vec::new();
    for edge in plan.convex_hull() {
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
    plan.inner_faces()
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
