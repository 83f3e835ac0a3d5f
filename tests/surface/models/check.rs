//! What every path over a surface has to keep.

use hullfield::navigate::surface::{Path as SurfacePath, Surface};

pub(crate) type Point = [f64; 3];

pub(crate) fn minus(a: Point, b: Point) -> Point {
    std::array::from_fn(|i| a[i] - b[i])
}

pub(crate) fn dot(a: Point, b: Point) -> f64 {
    (0..3).map(|i| a[i] * b[i]).sum()
}

pub(crate) fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn length(a: Point) -> f64 {
    dot(a, a).sqrt()
}

pub(crate) fn distance(a: Point, b: Point) -> f64 {
    length(minus(a, b))
}

/// How far a point is from a triangle: outside its plane or, within it, outside its sides.
pub(crate) fn off_triangle(corners: [Point; 3], point: Point) -> f64 {
    let sides = [0, 1, 2].map(|i| minus(corners[(i + 1) % 3], corners[i]));
    // How far the point is from each side.
    let beside = [0, 1, 2].map(|i| {
        let (from, side) = (minus(point, corners[i]), sides[i]);
        let part = (dot(from, side) / dot(side, side)).clamp(0.0, 1.0);
        length(std::array::from_fn(|k| from[k] - part * side[k]))
    });
    let nearest = beside.iter().fold(f64::INFINITY, |least, &off| least.min(off));
    let area = cross(sides[0], sides[1]);
    let long =
        (0..3).max_by(|&i, &j| dot(sides[i], sides[i]).total_cmp(&dot(sides[j], sides[j]))).unwrap_or(0);
    let (from, long) = (corners[long], sides[long]);
    let is_flat = length(area) <= 1e-12 * dot(long, long);
    let is_within = (0..3).all(|i| dot(cross(minus(point, corners[i]), sides[i]), area) <= 0.0);
    // Rounding leans a needle's normal any way; along its longest side that would count a million times over.
    let lean = dot(area, long) / dot(long, long);
    let normal: Point = std::array::from_fn(|k| area[k] - lean * long[k]);
    if is_flat || !is_within { nearest } else { dot(minus(point, from), normal).abs() / length(normal) }
}

/// Checks all that a path promises; answers its length.
pub(crate) fn checked(surface: &Surface, path: &SurfacePath, scale: f64) -> f64 {
    assert!(path.is_reached(), "{:?}", path.reach);
    assert_eq!(path.points.len(), path.normals.len());
    assert_eq!(path.points.len(), path.triangles.len() + 1);
    let mut sum = 0.0;
    let vertices: Vec<Point> = surface.vertices().collect();
    for (piece, &triangle) in path.triangles.iter().enumerate() {
        let corners = surface.triangles()[triangle as usize].map(|v| vertices[v as usize]);
        for point in [path.points[piece], path.points[piece + 1]] {
            let off = off_triangle(corners, point);
            assert!(off <= 1e-12 * scale, "piece {piece} is {off} off triangle {triangle}");
        }
        if piece > 0 {
            let before = surface.triangles()[path.triangles[piece - 1] as usize];
            let shared = before.iter().any(|v| surface.triangles()[triangle as usize].contains(v));
            assert!(shared, "pieces {} and {piece} share no vertex", piece - 1);
            assert!(path.points[piece] != path.points[piece - 1], "points coincide");
        }
        sum += length(minus(path.points[piece + 1], path.points[piece]));
    }
    for normal in &path.normals {
        assert!((length(*normal) - 1.0).abs() < 1e-12, "{normal:?}");
    }
    assert!((sum - path.length).abs() <= 1e-12 * sum, "{sum} {}", path.length);
    sum
}
