//! Surfaces of triangles: the check of a path, and the distance to the nearest wall by Dijkstra's search over points on edges.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::DVec3;

/// A point in space.
pub type Point = [f64; 3];

/// How far a point is from a triangle: outside its plane or, within it, outside its sides.
pub fn off_triangle(corners: [Point; 3], point: Point) -> f64 {
    let (corners, point) = (corners.map(DVec3::from), DVec3::from(point));
    let sides = [0, 1, 2].map(|i| corners[(i + 1) % 3] - corners[i]);
    // How far the point is from each side.
    let beside = [0, 1, 2].map(|i| {
        let (from, side) = (point - corners[i], sides[i]);
        let part = (from.dot(side) / side.dot(side)).clamp(0.0, 1.0);
        (from - part * side).length()
    });
    let nearest = beside.iter().fold(f64::INFINITY, |least, &off| least.min(off));
    let area = sides[0].cross(sides[1]);
    let long = (0..3).max_by(|&i, &j| sides[i].dot(sides[i]).total_cmp(&sides[j].dot(sides[j]))).unwrap_or(0);
    let (from, long) = (corners[long], sides[long]);
    let is_flat = area.length() <= 1e-12 * long.dot(long);
    let is_within = (0..3).all(|i| (point - corners[i]).cross(sides[i]).dot(area) <= 0.0);
    // Rounding leans a needle's normal any way; along its longest side that would count a million times over.
    let lean = area.dot(long) / long.dot(long);
    let normal = area - lean * long;
    if is_flat || !is_within { nearest } else { (point - from).dot(normal).abs() / normal.length() }
}

/// A path over a surface.
#[derive(Debug, Clone, Copy)]
pub struct Path<'a> {
    /// The ends of its pieces.
    pub points: &'a [Point],
    /// The normal at each point.
    pub normals: &'a [Point],
    /// The triangle of each piece.
    pub triangles: &'a [u32],
    /// Its length.
    pub length: f64,
}

/// Checks a path. Each piece lies in its triangle, up to the rounding of coordinates of size `scale`. The triangles of neighbouring pieces share
/// a vertex. Normals have length 1. Returns the sum of the lengths of the pieces.
///
/// # Errors
/// What is wrong.
pub fn check_path(
    vertices: &[Point],
    triangles: &[[u32; 3]],
    path: Path<'_>,
    scale: f64,
) -> Result<f64, String> {
    let Path { points, normals, .. } = path;
    let counts = [points.len(), normals.len(), path.triangles.len() + 1];
    if counts != [points.len(); 3] {
        return Err(format!("points, normals, and triangles and one: {counts:?}"));
    }
    let mut sum = 0.0;
    for (piece, &triangle) in path.triangles.iter().enumerate() {
        let corners = triangles[triangle as usize];
        let places = corners.map(|corner| vertices[corner as usize]);
        for point in [points[piece], points[piece + 1]] {
            let off = off_triangle(places, point);
            if !(off <= 1e-12 * scale) {
                return Err(format!("piece {piece} is {off} off triangle {triangle}"));
            }
        }
        if piece > 0 {
            let before = triangles[path.triangles[piece - 1] as usize];
            if !before.iter().any(|corner| corners.contains(corner)) {
                return Err(format!("pieces {} and {piece} share no vertex", piece - 1));
            }
            if points[piece] == points[piece - 1] {
                return Err("points coincide".to_owned());
            }
        }
        sum += DVec3::from(points[piece + 1]).distance(DVec3::from(points[piece]));
    }
    for &normal in normals {
        let length = DVec3::from(normal).length();
        if !((length - 1.0).abs() < 1e-12) {
            return Err(format!("the normal {normal:?} is {length} long"));
        }
    }
    if !((sum - path.length).abs() <= 1e-12 * sum) {
        return Err(format!("the pieces are {sum} long, the path {}", path.length));
    }
    Ok(sum)
}

/// A surface whose triangles may share edges with any number of others.
#[derive(Debug, Clone)]
pub struct Walls {
    /// The points.
    pub vertices: Vec<Point>,
    /// The ends of each edge.
    pub edges: Vec<[u32; 2]>,
    /// The edges of each triangle.
    pub edges_of: Vec<[u32; 3]>,
    /// The walkable triangles at each edge. An edge with only one is a wall.
    pub walkable_at: Vec<Vec<u32>>,
}

impl Walls {
    /// The longest edge.
    pub fn longest(&self) -> f64 {
        let length = |&[a, b]: &[u32; 2]| {
            DVec3::from(self.vertices[a as usize]).distance(DVec3::from(self.vertices[b as usize]))
        };
        self.edges.iter().map(length).fold(0.0, f64::max)
    }

    /// The shortest path from `start`, in the triangle `first`, to a wall, over `part_count` points of each edge, none of them a vertex, so
    /// that paths pass from triangle to triangle only over edges. It is at least the exact distance, and only a little longer; infinite where
    /// no wall can be reached.
    pub fn over_places(&self, start: Point, first: u32, part_count: usize) -> f64 {
        let start = DVec3::from(start);
        let place = |node: usize| {
            let ends = self.edges[node / part_count];
            let [a, b] = ends.map(|vertex| DVec3::from(self.vertices[vertex as usize]));
            let part = ((node % part_count) as f64 + 0.5) / part_count as f64;
            a + (b - a) * part
        };
        let places: Vec<DVec3> = (0..self.edges.len() * part_count).map(place).collect();
        let mut distances = vec![f64::INFINITY; places.len()];
        // Distances are not negative, so their bits sort like the numbers.
        let mut open = BinaryHeap::new();
        let nodes_of = |triangle: u32| {
            let edges = self.edges_of[triangle as usize];
            edges
                .into_iter()
                .flat_map(move |edge| edge as usize * part_count..(edge as usize + 1) * part_count)
        };
        for node in nodes_of(first) {
            distances[node] = start.distance(places[node]);
            open.push(Reverse((distances[node].to_bits(), node)));
        }
        while let Some(Reverse((bits, node))) = open.pop() {
            let distance = f64::from_bits(bits);
            if distance > distances[node] {
                continue;
            }
            let triangles = &self.walkable_at[node / part_count];
            if triangles.len() == 1 {
                return distance;
            }
            for other in triangles.iter().flat_map(|&triangle| nodes_of(triangle)) {
                let to = distance + places[node].distance(places[other]);
                if to < distances[other] {
                    distances[other] = to;
                    open.push(Reverse((to.to_bits(), other)));
                }
            }
        }
        f64::INFINITY
    }
}
