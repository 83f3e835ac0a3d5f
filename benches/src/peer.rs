//! The named peer: parry3d's `intersection_test` on convex polyhedra, one thread.

use hullfield_oracle::Placed;
use parry3d::math::{Pose, Rotation, Vector};
use parry3d::query;
use parry3d::shape::{ConvexPolyhedron, Shape};

/// Shapes and poses as parry keeps them, built from the same f32 numbers.
pub(crate) struct Peer {
    shapes: Vec<Option<ConvexPolyhedron>>,
    poses: Vec<Pose>,
    hulls: Vec<usize>,
}

impl Peer {
    /// Builds every shape and pose; bodies must have scale 1, which parry's poses lack.
    pub(crate) fn new(sets: &[Vec<[f32; 3]>], bodies: &[Placed]) -> Self {
        let shapes = sets
            .iter()
            .map(|set| {
                let points: Vec<Vector> = set.iter().map(|p| Vector::new(p[0], p[1], p[2])).collect();
                ConvexPolyhedron::from_convex_hull(&points)
            })
            .collect();
        let pose = |body: &Placed| {
            let [x, y, z] = body.pose.position;
            let [i, j, k, w] = body.pose.rotation;
            Pose::from_parts(Vector::new(x, y, z), Rotation::from_xyzw(i, j, k, w))
        };
        let hulls = bodies.iter().map(|body| body.hull as usize).collect();
        Self { shapes, poses: bodies.iter().map(pose).collect(), hulls }
    }

    /// Which point sets parry makes a shape of.
    pub(crate) fn accepts(&self) -> Vec<bool> {
        self.shapes.iter().map(Option::is_some).collect()
    }

    /// Writes each pair's verdict.
    ///
    /// # Errors
    /// A shape that parry would not build.
    pub(crate) fn intersections(&self, pairs: &[[u32; 2]], verdicts: &mut Vec<bool>) -> Result<(), String> {
        verdicts.clear();
        for &[a, b] in pairs {
            let (a, b) = (a as usize, b as usize);
            let (Some(shape_a), Some(shape_b)) = (&self.shapes[self.hulls[a]], &self.shapes[self.hulls[b]])
            else {
                return Err("parry3d made no shape of a hull".into());
            };
            let found = query::intersection_test(
                &self.poses[a],
                shape_a as &dyn Shape,
                &self.poses[b],
                shape_b as &dyn Shape,
            );
            verdicts.push(found.map_err(|error| error.to_string())?.intersecting);
        }
        Ok(())
    }
}
