//! The bodies of a query, with what a body has no room for.

use crate::collide::scene::body::Body;
use crate::collide::scene::exclusions::Exclusions;
use crate::error::{Error, Location, Result};

/// The bodies of a query, and further columns with one value for each body.
///
/// Queries take it or anything that has bodies: a slice, an array, a vector. An empty column stands for its default. The arena's statics
/// have no part in the columns: each world meets them.
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
    /// World position of each body's hull's origin in f64, in world units, in place of [`Body::position`].
    pub positions: &'a [[f64; 3]],
    /// The world of each body: only bodies of one world meet. Any numbers will do. By default all bodies are in one world.
    pub worlds: &'a [u32],
    /// The compound that each body is a part of: parts of one compound never meet one another. Any numbers will do. By default
    /// each body is alone.
    pub owners: &'a [u32],
    /// Pairs that are not tested: of compounds where there are owners, else of bodies.
    pub exclusions: Option<&'a Exclusions>,
}

impl<'a> BodyColumns<'a> {
    /// Bodies with the defaults of all columns.
    pub fn new(bodies: &'a [Body]) -> Self {
        Self { bodies, ..Self::default() }
    }

    /// Checks that each column is empty or as long as the bodies.
    pub(crate) fn check(&self) -> Result<()> {
        let columns = [
            ("positions", self.positions.len()),
            ("worlds", self.worlds.len()),
            ("owners", self.owners.len()),
        ];
        let count = self.bodies.len();
        for (what, given) in columns {
            if given != 0 && given != count {
                return Err(Error::Count {
                    at: Location::Argument,
                    what,
                    given: given as u64,
                    allowed: format!("there must be none or one for each of the {count} bodies"),
                });
            }
        }
        Ok(())
    }
}

impl<'a, T: AsRef<[Body]> + ?Sized> From<&'a T> for BodyColumns<'a> {
    fn from(bodies: &'a T) -> Self {
        Self::new(bodies.as_ref())
    }
}
