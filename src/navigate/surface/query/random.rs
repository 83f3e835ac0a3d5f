//! Random points of a surface.

use glam::DVec3;

use crate::error::{Error, Location, Result, shown};
use crate::navigate::surface::query::path::Point;
use crate::navigate::surface::query::surface::Surface;

impl Surface {
    /// A random point of the walkable triangles, uniform by area, from three numbers uniform in [0, 1). `None` where no walkable triangle
    /// has an area.
    ///
    /// Cost: O(log n) in the number of triangles; O(n) for the first call after walkable triangles have changed.
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Options, Surface};
    ///
    /// let points = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 4.0, 0.0], [0.0, 4.0, 0.0]];
    /// let surface = Surface::new(&[Model::polygons(points, [[0, 1, 2, 3]])], Options::default())?;
    /// let found = surface.random_point([0.3, 0.6, 0.9])?.expect("the surface has an area");
    /// assert_eq!((found.triangle, found.position[2]), (0, 0.0));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for a number that is not in [0, 1).
    pub fn random_point(&self, uniform: [f64; 3]) -> Result<Option<Point>> {
        if let Some(value) = uniform.iter().find(|&&u| !(0.0..1.0).contains(&u)) {
            return Err(Error::value(Location::Argument, "uniform", shown(*value), "it must be in [0, 1)"));
        }
        // Prefix sums of the areas, computed once until the walkable triangles change.
        let areas = self.areas.get_or_init(|| {
            let mut sum = 0.0;
            let mut up_to = |triangle: usize| {
                if self.walkable[triangle] {
                    sum += 0.5 * self.mesh.area_vector(triangle as u32).length();
                }
                sum
            };
            (0..self.walkable.len()).map(&mut up_to).collect()
        });
        let whole = areas.last().copied().unwrap_or(0.0);
        if !(whole > 0.0) {
            return Ok(None);
        }
        // The product may round up to the whole area. Then it is the last triangle with an area.
        let wanted = uniform[0] * whole;
        let past = areas.partition_point(|&sum| sum <= wanted);
        let triangle = past.min(areas.partition_point(|&sum| sum < whole)) as u32;
        let [a, b, c] = self.mesh.corners(triangle);
        let (u, v) = (uniform[1].sqrt(), uniform[2]);
        let position: DVec3 = a * (1.0 - u) + b * (u * (1.0 - v)) + c * (u * v);
        Ok(Some(Point { triangle, position: position.to_array(), distance: 0.0 }))
    }
}
