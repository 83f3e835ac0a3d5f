//! Paths as near to a goal as agents get.

use crate::error::Result;
use crate::navigate::surface::query::path::{Path, Reach};
use crate::navigate::surface::query::paths::Method;
use crate::navigate::surface::query::place::Place;
use crate::navigate::surface::query::surface::Surface;

impl Surface {
    /// A path to the goal by [`Method::Geodesic`] or, where it can't be reached, to the point nearest to it that can, as
    /// the crow flies; a start or a goal off the surface is first moved to the nearest walkable point, however far it is. The
    /// path is always reached, unless no triangle is walkable, or none of those that an end names; how far its end is from the goal is in
    /// [`Path::snaps`].
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Surface};
    ///
    /// // Two squares, with a gap between them.
    /// let square = |x: f64| vec![[x, 0.0, 0.0], [x + 2.0, 0.0, 0.0], [x + 2.0, 2.0, 0.0], [x, 2.0, 0.0]];
    /// let models = [0.0, 3.0].map(|x| Model::polygons(square(x), [[0, 1, 2, 3]]));
    /// let surface = Surface::new(&models)?;
    /// assert!(!surface.path([1.0, 1.0, 0.0], [4.0, 1.0, 0.0])?.is_reached());
    /// let path = surface.path_to_nearest([1.0, 1.0, 0.0], [4.0, 1.0, 0.0])?;
    /// assert!(path.is_reached() && path.points.last() == Some(&[2.0, 1.0, 0.0]));
    /// assert_eq!(path.snaps, [0.0, 2.0]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`funnel`](Self::funnel).
    pub fn path_to_nearest(&self, start: impl Into<Place>, goal: impl Into<Place>) -> Result<Path> {
        self.path_to_nearest_by(Method::default(), start, goal)
    }

    /// [`path_to_nearest`](Self::path_to_nearest) by a method of choice.
    ///
    /// # Errors
    /// As [`path_by`](Self::path_by).
    pub fn path_to_nearest_by(
        &self,
        method: Method,
        start: impl Into<Place>,
        goal: impl Into<Place>,
    ) -> Result<Path> {
        method.check()?;
        let [start, goal] = [start.into(), goal.into()];
        let mut path = Path::default();
        self.with_memory(|memory| {
            self.answer(memory, method, [start, goal], f64::INFINITY, &mut path)?;
            let Reach::Unreachable { nearest } = path.reach else { return Ok(()) };
            let ambiguous = path.ambiguous;
            self.answer(memory, method, [start, nearest.position.into()], f64::INFINITY, &mut path)?;
            path.snaps[1] = self.position_of(goal).distance(nearest.position.into());
            path.ambiguous = ambiguous;
            Ok(())
        })?;
        Ok(path)
    }
}
