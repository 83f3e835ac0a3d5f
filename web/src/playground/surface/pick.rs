//! The point of a surface that a ray of the camera meets.

use glam::Vec3;
use hullfield::navigate::surface::Point;

use crate::playground::surface::loaded::Loaded;

/// How near a ray comes to the surface before it meets it, in drawn units: the model's radius is 1.
const NEAR: f64 = 1e-5;
/// How many steps a ray may take. One that runs along the surface comes near it slowly.
const MOST_STEPS: u32 = 300;

/// What a ray meets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Seen {
    /// The surface, here.
    Hit(Point),
    /// Nothing; this point of the surface is the nearest to the ray, as an angle at its origin.
    Beside(Point),
}

impl Seen {
    /// The point of the surface.
    pub(super) fn point(self) -> Point {
        match self {
            Self::Hit(point) | Self::Beside(point) => point,
        }
    }
}

/// Follows a ray from the camera, in drawn units: each step is as long as the surface is far away, so that none leads through it (Hart 1996).
///
/// Cost: O(log n) in the number of triangles for each step, of which most rays take some dozens.
pub(super) fn cast(loaded: &Loaded, origin: Vec3, direction: Vec3) -> Option<Seen> {
    let (origin, direction) = (origin.as_dvec3(), direction.as_dvec3().normalize_or_zero());
    // The model is in the unit ball.
    let end = origin.length() + 1.0;
    let mut along = (origin.length() - 1.0).max(0.0);
    let mut nearest: Option<(f64, Point)> = None;
    for _ in 0..MOST_STEPS {
        let point = loaded.nearest(origin + along * direction)?;
        let far = point.distance / loaded.radius;
        if far <= NEAR {
            return Some(Seen::Hit(point));
        }
        let angle = far / along.max(NEAR);
        if nearest.is_none_or(|(least, _)| angle < least) {
            nearest = Some((angle, point));
        }
        along += far;
        if along > end {
            return nearest.map(|(_, point)| Seen::Beside(point));
        }
    }
    // It runs along the surface, or there are very many steps before it.
    nearest.map(|(_, point)| Seen::Hit(point))
}

/// Whether a point of the surface is visible from an origin: no other part of the surface is in front of it.
pub(super) fn is_visible(loaded: &Loaded, origin: Vec3, point: &Point) -> bool {
    let to = loaded.drawn(point.position);
    let Some(seen) = cast(loaded, origin, to - origin) else { return false };
    let at = loaded.drawn(seen.point().position).as_dvec3();
    let origin = origin.as_dvec3();
    at.distance(origin) > to.as_dvec3().distance(origin) - 0.01
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use hullfield::navigate::surface::{Model, Options, Surface};

    use super::*;
    use crate::playground::draw::camera::Camera;
    use crate::playground::surface::shapes::SHAPES;

    fn cube() -> Loaded {
        let points = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(|x| 1e6 + 1e-3 * f64::from(x))).collect();
        let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        Loaded::new(Surface::new(&[Model::polygons(points, faces)], Options::default()).unwrap()).unwrap()
    }

    #[test]
    fn a_ray_meets_the_side_of_a_small_cube_far_off_the_origin() {
        let cube = cube();
        let half = 1.0 / 3.0_f32.sqrt();
        let Some(Seen::Hit(point)) = cast(&cube, Vec3::new(0.2, 0.1, 5.0), Vec3::NEG_Z) else {
            panic!("no hit")
        };
        let at = cube.drawn(point.position);
        assert!(at.distance(Vec3::new(0.2, 0.1, half)) < 1e-3, "{at}");
        let Some(Seen::Beside(point)) = cast(&cube, Vec3::new(0.8, 0.1, 5.0), Vec3::NEG_Z) else {
            panic!("a hit")
        };
        assert!((cube.drawn(point.position).x - half).abs() < 1e-3);
        assert!(is_visible(&cube, Vec3::new(0.0, 0.0, 5.0), &cube.nearest(DVec3::Z).unwrap()));
        assert!(!is_visible(&cube, Vec3::new(0.0, 0.0, 5.0), &cube.nearest(DVec3::NEG_Z).unwrap()));
    }

    /// The same rays against every triangle (Möller, Trumbore 1997).
    #[test]
    fn rays_meet_the_triangle_that_is_first() {
        for (name, shape) in SHAPES {
            let loaded =
                Loaded::new(Surface::new(&[shape.model(1500)], Options::default()).unwrap()).unwrap();
            let camera = Camera::around(1.0);
            let (mut hits, mut far) = (0, 0);
            for i in 0..400_u32 {
                let at = [i % 20, i / 20].map(|x| (x as f32 - 9.5) / 11.0);
                let (origin, direction) = camera.ray(at, 1.0);
                let mut first = f32::INFINITY;
                for triangle in &loaded.mesh.triangles {
                    let [a, b, c] = triangle.map(|index| Vec3::from(loaded.mesh.positions[index as usize]));
                    let (u, v, from) = (b - a, c - a, origin - a);
                    let across = direction.cross(v);
                    let area = u.dot(across);
                    let turned = from.cross(u);
                    let [p, q, t] =
                        [from.dot(across), direction.dot(turned), v.dot(turned)].map(|part| part / area);
                    if p >= 0.0 && q >= 0.0 && p + q <= 1.0 && t > 0.0 {
                        first = first.min(t);
                    }
                }
                let seen = cast(&loaded, origin, direction).unwrap();
                let at = (loaded.drawn(seen.point().position) - origin).length();
                match seen {
                    Seen::Hit(_) if first.is_finite() => {
                        hits += 1;
                        far += u32::from((at - first).abs() > 2e-3);
                    }
                    // The edge of the picture, within rounding.
                    Seen::Hit(_) => far += 1,
                    Seen::Beside(_) => assert!(first.is_infinite(), "{name} {i}: a ray misses the surface"),
                }
            }
            assert!(hits > 60 && far <= 3, "{name}: {hits} hits, {far} wrong");
        }
    }
}
