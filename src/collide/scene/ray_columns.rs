//! The rays and points of a query, with their positions where these are in f64.

use crate::collide::scene::pose::is_placed;
use crate::collide::scene::ray::Ray;
use crate::error::{Error, Location, Result};

/// Largest magnitude of a position in f64.
const MOST: f64 = 1e18;
const ALLOWED: &str = "each must be finite and at most 1e18 in magnitude";

/// The rays of a query, and where they start in f64.
///
/// Queries take it or anything that has rays: a slice, an array, a vector.
#[derive(Debug, Clone, Copy, Default)]
pub struct RayColumns<'a> {
    /// The rays.
    pub rays: &'a [Ray],
    /// Where each ray starts, in world units, in place of [`Ray::origin`], which is then not read: empty, or one for each ray; each coordinate
    /// finite and at most 1e18 in magnitude.
    pub origins: &'a [[f64; 3]],
    /// The world of each ray, where the bodies have [worlds](crate::collide::BodyColumns::worlds): a ray meets the bodies of its world, and statics. Else
    /// empty.
    pub worlds: &'a [u32],
}

impl<'a> RayColumns<'a> {
    /// Rays that start where they say.
    pub fn new(rays: &'a [Ray]) -> Self {
        Self { rays, ..Self::default() }
    }

    /// Checks the rays and their starts.
    ///
    /// # Errors
    /// [`Error::Count`] of the starts; [`Error::Value`] at the [`Location::Ray`] of the first bad ray.
    pub(crate) fn check(&self) -> Result<()> {
        let (count, given) = (self.rays.len(), self.origins.len());
        if given == 0 {
            return self.rays.iter().enumerate().try_for_each(|(row, ray)| ray.check(Location::Ray(row)));
        }
        check_column("origins", given, count, "rays")?;
        for (row, (ray, origin)) in self.rays.iter().zip(self.origins).enumerate() {
            check_f64(Location::Ray(row), "origin", origin)?;
            Ray { origin: [0.0; 3], ..*ray }.check(Location::Ray(row))?;
        }
        Ok(())
    }
}

impl<'a, T: AsRef<[Ray]> + ?Sized> From<&'a T> for RayColumns<'a> {
    fn from(rays: &'a T) -> Self {
        Self::new(rays.as_ref())
    }
}

/// The points of a query, in f32 or in f64.
///
/// Queries take it or anything that has points in f32: a slice, an array, a vector.
#[derive(Debug, Clone, Copy, Default)]
pub struct PointColumns<'a> {
    /// The points, in world units, each coordinate finite and at most 1e18 in magnitude.
    pub points: &'a [[f32; 3]],
    /// The points in f64, in place of [`Self::points`], which must then be empty.
    pub positions: &'a [[f64; 3]],
    /// The world of each point, where the bodies have [worlds](crate::collide::BodyColumns::worlds): a point sees the bodies of its world, and statics. Else
    /// empty.
    pub worlds: &'a [u32],
}

impl<'a> PointColumns<'a> {
    /// Points in f32.
    pub fn new(points: &'a [[f32; 3]]) -> Self {
        Self { points, ..Self::default() }
    }

    /// Points in f64.
    pub fn new_f64(positions: &'a [[f64; 3]]) -> Self {
        Self { positions, ..Self::default() }
    }

    /// How many points there are.
    pub(crate) fn len(&self) -> usize {
        self.points.len().max(self.positions.len())
    }

    /// The checked points, in f64.
    ///
    /// # Errors
    /// [`Error::Count`] where there are points of both kinds; [`Error::Value`] at the [`Location::Point`] of the first bad one.
    pub(crate) fn checked(&self) -> Result<Vec<[f64; 3]>> {
        if !self.points.is_empty() && !self.positions.is_empty() {
            return Err(Error::Count {
                at: Location::Argument,
                what: "points",
                given: self.points.len() as u64,
                allowed: "there must be none where there are positions in f64".to_owned(),
            });
        }
        for (row, &point) in self.points.iter().enumerate() {
            check_point(Location::Point(row), point)?;
        }
        for (row, position) in self.positions.iter().enumerate() {
            check_f64(Location::Point(row), "point", position)?;
        }
        let wide = self.points.iter().map(|point| point.map(f64::from));
        Ok(wide.chain(self.positions.iter().copied()).collect())
    }
}

impl<'a, T: AsRef<[[f32; 3]]> + ?Sized> From<&'a T> for PointColumns<'a> {
    fn from(points: &'a T) -> Self {
        Self::new(points.as_ref())
    }
}

/// Checks a point.
///
/// # Errors
/// [`Error::Value`] at `at`.
pub(crate) fn check_point(at: Location, point: [f32; 3]) -> Result<()> {
    if is_placed(point) {
        return Ok(());
    }
    Err(Error::value(at, "point", format!("{point:?}"), ALLOWED))
}

/// Checks that a column is empty or as long as what it belongs to.
pub(crate) fn check_column(what: &'static str, given: usize, count: usize, of: &str) -> Result<()> {
    if given == 0 || given == count {
        return Ok(());
    }
    Err(Error::Count {
        at: Location::Argument,
        what,
        given: given as u64,
        allowed: format!("there must be none or one for each of the {count} {of}"),
    })
}

/// Checks a position in f64.
pub(crate) fn check_f64(at: Location, field: &'static str, position: &[f64; 3]) -> Result<()> {
    // NaN fails the comparison.
    if position.iter().all(|x| x.abs() <= MOST) {
        return Ok(());
    }
    Err(Error::value(at, field, format!("{position:?}"), ALLOWED))
}
