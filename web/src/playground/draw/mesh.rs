//! Meshes.

use glam::Vec3;
use hullfield::collide::Hull;

/// Triangles with a unit normal at each vertex, counter-clockwise seen from outside.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mesh {
    /// The vertices.
    pub positions: Vec<[f32; 3]>,
    /// Their unit normals.
    pub normals: Vec<[f32; 3]>,
    /// Indices of vertices.
    pub triangles: Vec<[u32; 3]>,
}

impl Mesh {
    /// A mesh with the normals of its triangles, averaged at each vertex by area. Indices must be below the number of positions.
    pub fn smooth(positions: Vec<[f32; 3]>, triangles: Vec<[u32; 3]>) -> Self {
        let mut normals = vec![Vec3::ZERO; positions.len()];
        for triangle in &triangles {
            let [a, b, c] = triangle.map(|index| Vec3::from(positions[index as usize]));
            for index in triangle {
                normals[*index as usize] += (b - a).cross(c - a);
            }
        }
        let normals = normals.iter().map(|normal| normal.normalize_or(Vec3::Y).to_array()).collect();
        Self { positions, normals, triangles }
    }

    /// The mesh of a hull, about the mean of its vertices, as a `PackedBody` has its position there.
    ///
    /// A hull without rounding has flat faces. One with rounding is the sum of the hull and a ball: where a body scales it by different
    /// factors along its axes, its rounding is drawn stretched, but the library rounds by the least factor.
    pub fn of_hull(hull: &Hull) -> Self {
        let mean = Vec3::from(hull.mean().map(|x| x as f32));
        let corner = |index: u32| Vec3::from(hull.vertices()[index as usize]) - mean;
        let rounding = hull.rounding();
        if rounding > 0.0 {
            return Self::rounded(&|direction| support(hull, direction) - mean, rounding);
        }
        let mut mesh = Self::default();
        for triangle in hull.triangles() {
            let corners = triangle.map(corner);
            let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or(Vec3::Y);
            let first = mesh.positions.len() as u32;
            mesh.positions.extend(corners.map(|corner| corner.to_array()));
            mesh.normals.extend([normal.to_array(); 3]);
            mesh.triangles.push([first, first + 1, first + 2]);
        }
        mesh
    }

    /// A sphere's triangles, each vertex moved to the furthest point in its direction. Where neighbours have other furthest points the
    /// triangles between them are the flat and the cylindrical parts.
    fn rounded(support: &dyn Fn(Vec3) -> Vec3, rounding: f32) -> Self {
        let sphere = sphere();
        let positions = sphere.positions.iter().map(|&direction| {
            let direction = Vec3::from(direction);
            (support(direction) + rounding * direction).to_array()
        });
        Self { positions: positions.collect(), ..sphere }
    }
}

/// The vertex of a hull that is furthest in a direction.
fn support(hull: &Hull, direction: Vec3) -> Vec3 {
    let mut best = (f32::NEG_INFINITY, Vec3::ZERO);
    for &vertex in hull.vertices() {
        let vertex = Vec3::from(vertex);
        let height = vertex.dot(direction);
        if height > best.0 {
            best = (height, vertex);
        }
    }
    best.1
}

/// Sides of an octant of [`sphere`].
const STEPS: u32 = 6;

/// A unit sphere: an octahedron whose faces are divided evenly. So the planes through its axes are planes of edges, and a
/// capsule along an axis has a straight seam.
fn sphere() -> Mesh {
    let mut mesh = Mesh::default();
    for octant in 0..8_u32 {
        let sign = |axis: u32| if octant >> axis & 1 == 0 { 1.0 } else { -1.0 };
        let (first, is_mirrored) = (mesh.positions.len() as u32, octant.count_ones() % 2 == 1);
        // Row `row` has `STEPS - row + 1` vertices.
        let at = |row: u32, column: u32| first + row * (2 * STEPS + 3 - row) / 2 + column;
        for row in 0..=STEPS {
            for column in 0..=STEPS - row {
                let rest = STEPS - row - column;
                let point = Vec3::new(sign(0) * column as f32, sign(1) * row as f32, sign(2) * rest as f32);
                mesh.positions.push(point.normalize().to_array());
                if row + column < STEPS {
                    let mut lower = vec![[at(row, column), at(row, column + 1), at(row + 1, column)]];
                    if row + column + 1 < STEPS {
                        lower.push([at(row, column + 1), at(row + 1, column + 1), at(row + 1, column)]);
                    }
                    mesh.triangles.extend(
                        lower.into_iter().map(|[a, b, c]| if is_mirrored { [a, c, b] } else { [a, b, c] }),
                    );
                }
            }
        }
    }
    mesh.normals.clone_from(&mesh.positions);
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The volume that the triangles enclose; positive where they are counter-clockwise seen from outside.
    fn volume(mesh: &Mesh) -> f32 {
        let corner = |index: u32| Vec3::from(mesh.positions[index as usize]);
        let tetrahedron = |t: &[u32; 3]| corner(t[0]).dot(corner(t[1]).cross(corner(t[2]))) / 6.0;
        mesh.triangles.iter().map(tetrahedron).sum()
    }

    fn close(actual: f32, expected: f32, share: f32) -> bool {
        (actual - expected).abs() <= share * expected
    }

    #[test]
    fn a_box_has_its_volume_and_flat_faces() {
        let mesh = Mesh::of_hull(&Hull::cuboid([0.5, 1.0, 1.5]).unwrap());
        assert_eq!(mesh.triangles.len(), 12);
        assert!(close(volume(&mesh), 6.0, 1e-5));
        for normal in &mesh.normals {
            assert_eq!(normal.iter().filter(|x| x.abs() == 1.0).count(), 1);
        }
    }

    #[test]
    fn rounded_hulls_are_a_little_smaller_than_the_true_ones() {
        let pi = std::f32::consts::PI;
        let ball = volume(&Mesh::of_hull(&Hull::ball(2.0).unwrap()));
        assert!(close(ball, 32.0 * pi / 3.0, 0.05) && ball < 32.0 * pi / 3.0, "{ball}");
        let capsule = Hull::capsule([0.0, -1.0, 0.0], [0.0, 1.0, 0.0], 0.5).unwrap();
        let (capsule, exact) = (volume(&Mesh::of_hull(&capsule)), pi * 0.25 * 2.0 + pi / 6.0);
        assert!(close(capsule, exact, 0.06) && capsule < exact, "{capsule} {exact}");
    }

    #[test]
    fn a_hull_is_drawn_about_its_mean() {
        let hull =
            Hull::from_points(&[[10.0, 0.0, 0.0], [11.0, 0.0, 0.0], [10.0, 1.0, 0.0], [10.0, 0.0, 1.0]])
                .unwrap();
        let mesh = Mesh::of_hull(&hull);
        let sum: Vec3 = hull.triangles().flatten().map(|v| Vec3::from(hull.vertices()[v as usize])).sum();
        let drawn: Vec3 = mesh.positions.iter().map(|&position| Vec3::from(position)).sum();
        assert!((sum - 12.0 * Vec3::from(hull.mean().map(|x| x as f32)) - drawn).length() < 1e-4);
        assert!(close(volume(&mesh), 1.0 / 6.0, 1e-5));
    }

    #[test]
    fn smooth_normals_are_those_of_the_faces_on_a_plane() {
        let mesh = Mesh::smooth(
            vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, -1.0], [0.0, 0.0, -1.0]],
            vec![[0, 1, 2], [0, 2, 3]],
        );
        assert!(mesh.normals.iter().all(|&normal| normal == [0.0, 1.0, 0.0]), "{:?}", mesh.normals);
    }
}
