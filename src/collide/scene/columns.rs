//! The bodies of a query, with what a body has no room for.

use glam::DVec3;

use crate::collide::scene::body::Body;
use crate::collide::scene::exclusions::Exclusions;
#[cfg(doc)]
use crate::collide::scene::pairs::Pairs;
use crate::collide::scene::ray_columns::{check_column, check_f64};
#[cfg(doc)]
use crate::error::Error;
use crate::error::{Location, Result};

/// The bodies of a query, and further columns with one value for each body.
///
/// Queries take it or anything that has bodies: a slice, an array, a vector. An empty column stands for its default. The arena's statics
/// have no part in the columns: each world meets them, and none of them has an owner.
///
/// # Which pairs meet
/// With [`Pairs::BroadPhase`] and [`Pairs::Exhaustive`] two bodies meet where groups and masks accept them, they are in one world, they
/// have different owners, and no exclusion names them. A pair that does not meet is not tested, has no row and is not counted. Given
/// pairs are all tested, as they ignore groups too.
///
/// # Order
/// Rows are grouped by world, in the order of the worlds' ids, and sorted by `(a, b)` in each. Where the bodies come in the order of their
/// worlds this is the order by `(a, b)`. The rows of a world are those of a query of its own over its bodies, bit for bit.
///
/// # What runs where
/// On a GPU engine the broad phase obeys on the device. For [`Pairs::Exhaustive`], and an infinite margin, the host lists the pairs for
/// it. Queries with a world, an owner or an exclusion run without [`Options::warm_start`](crate::collide::Options::warm_start).
///
/// # Cost
/// Worlds cost their pairs alone. Bodies that come in the order of their worlds save a sort. Where no world has more than 32 bodies, no tree
/// is built. Each candidate pair is looked up in the
/// list of the excluded partners of its first body or owner, by binary search.
///
/// # Errors
/// Of queries, beside their own: [`Error::Count`] where a column is as long as neither nothing nor the bodies; [`Error::Missing`] where
/// an exclusion names a body or a static that does not exist; [`Error::Invalid`] where it names an owner that no body has, at its
/// [`Location::Body`] where a body has the owner of a body in another world.
///
/// ```
/// use hullfield::Engine;
/// use hullfield::collide::{Arena, Body, BodyColumns, Hull, Options, Pairs};
///
/// let arena = Arena::new(&Engine::cpu(), &[Hull::ball(1.0)?], Options::default())?;
/// let bodies = [Body::new(0), Body::new(0).at([1.5, 0.0, 0.0]), Body::new(0)];
/// let two_worlds = BodyColumns { worlds: &[0, 0, 1], ..BodyColumns::new(&bodies) };
/// let found = arena.intersections(two_worlds, Pairs::BroadPhase)?.wait()?;
/// assert_eq!((found.rows.len(), found.rows[0].a, found.rows[0].b), (1, 0, 1));
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct BodyColumns<'a> {
    /// The bodies.
    pub bodies: &'a [Body],
    /// World position of each body's hull's origin in f64, in world units, in place of [`Body::position`], which is then not read. Each
    /// coordinate is finite and at most 1e18 in magnitude.
    ///
    /// Bodies far from the world's origin are judged by these numbers as stored: bodies a millimetre apart at 1e7 m as at the origin. Their
    /// boxes are relative to a point amid the bodies, so that candidates are as few. Points in rows are f64 in the world's frame, so
    /// rounded there to 1e-16 of their coordinates; distances, depths and times are not rounded so.
    ///
    /// # Cost
    /// Laying out a body takes a few times as long as with f32. Where the point amid the bodies moves, the arena's statics are laid out
    /// again and, on a GPU engine, uploaded; some are kept. Such queries have no warm start.
    pub positions: &'a [[f64; 3]],
    /// The world of each body: only bodies of one world meet. Any numbers will do. By default all bodies are in one world.
    /// Rays, points and shapes have worlds of their own where bodies have: see
    /// [`RayColumns::worlds`](crate::collide::RayColumns::worlds).
    pub worlds: &'a [u32],
    /// The compound that each body is a part of: parts of one compound never meet one another. Any numbers will do. By default
    /// each body is alone. The parts of a compound are in one world. Rays and points meet all parts.
    pub owners: &'a [u32],
    /// Pairs that are not tested. Where there are owners its ids are owners, and an excluded pair is all pairs of their parts. Else they
    /// are rows of bodies, and statics count on after these as in rows. Either way
    /// [`Exclusions::with_statics`] names statics by their own rows. Rays and points ignore it.
    pub exclusions: Option<&'a Exclusions>,
}

impl<'a> BodyColumns<'a> {
    /// Bodies with the defaults of all columns.
    pub fn new(bodies: &'a [Body]) -> Self {
        Self { bodies, ..Self::default() }
    }

    /// Whether columns may forbid pairs.
    pub(crate) fn has_rules(&self) -> bool {
        !self.worlds.is_empty()
            || !self.owners.is_empty()
            || self.exclusions.is_some_and(|all| !all.is_empty())
    }

    /// Checks that each column is empty or as long as the bodies, and the positions.
    pub(crate) fn check(&self) -> Result<()> {
        let columns = [
            ("positions", self.positions.len()),
            ("worlds", self.worlds.len()),
            ("owners", self.owners.len()),
        ];
        let count = self.bodies.len();
        for (what, given) in columns {
            check_column(what, given, count, "bodies")?;
        }
        check_positions(self.positions)
    }

    /// The bodies, without their own positions where these do not count.
    pub(crate) fn unplaced(&self) -> Vec<Body> {
        let mut bodies = self.bodies.to_vec();
        if !self.positions.is_empty() {
            bodies.iter_mut().for_each(|body| body.position = [0.0; 3]);
        }
        bodies
    }

    /// World position of a body's hull's origin.
    pub(crate) fn position(&self, row: usize) -> DVec3 {
        match self.positions.get(row) {
            Some(&position) => DVec3::from(position),
            None => DVec3::from(self.bodies[row].position.map(f64::from)),
        }
    }
}

/// Checks positions in f64.
fn check_positions(positions: &[[f64; 3]]) -> Result<()> {
    let check = |(row, position)| check_f64(Location::Body(row), "position", position);
    positions.iter().enumerate().try_for_each(check)
}

impl<'a, T: AsRef<[Body]> + ?Sized> From<&'a T> for BodyColumns<'a> {
    fn from(bodies: &'a T) -> Self {
        Self::new(bodies.as_ref())
    }
}
