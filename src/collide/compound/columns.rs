//! The compound bodies of a query, with what a body has no room for.

use crate::collide::compound::body::CompoundBody;
#[cfg(doc)]
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::exclusions::Exclusions;

/// The bodies of a query over compounds, and further columns with one value for each body.
///
/// Queries take it or anything that has bodies: a slice, an array, a vector. An empty column stands for its default. What the columns mean, the
/// order of the rows, the cost and the errors are those of [`BodyColumns`], with whole bodies in place of hulls.
///
/// ```
/// use hullfield::Engine;
/// use hullfield::collide::{
///     Arena, Compound, CompoundBody, CompoundColumns, Compounds, Exclusions, Hull, Options, Pairs,
/// };
///
/// let arena = Arena::new(&Engine::cpu(), &[Hull::ball(1.0)?], Options::default())?;
/// let compounds = Compounds::new(&arena, &[Compound::of_hulls([0])])?;
/// let bodies = [CompoundBody::new(0); 4];
/// let exclusions = Exclusions::new(&[[2, 3]])?;
/// let columns = CompoundColumns {
///     worlds: &[0, 1, 0, 0],
///     exclusions: Some(&exclusions),
///     ..CompoundColumns::new(&bodies)
/// };
/// let found = compounds.body_intersections(columns, Pairs::BroadPhase)?.wait()?;
/// let pairs: Vec<_> = found.rows.iter().map(|row| [row.row.a, row.row.b]).collect();
/// assert_eq!(pairs, [[0, 2], [0, 3]]);
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct CompoundColumns<'a> {
    /// The bodies.
    pub bodies: &'a [CompoundBody],
    /// The world of each body: only bodies of one world meet. Any numbers will do. By default all bodies are in one world. Statics are in each
    /// world.
    pub worlds: &'a [u32],
    /// Pairs of bodies that are not tested: none of their parts are. Its ids are rows of bodies, and statics count on after these as in
    /// rows. [`Exclusions::with_statics`] names statics by their own rows.
    pub exclusions: Option<&'a Exclusions>,
}

impl<'a> CompoundColumns<'a> {
    /// Bodies with the defaults of all columns.
    pub fn new(bodies: &'a [CompoundBody]) -> Self {
        Self { bodies, ..Self::default() }
    }
}

impl<'a, T: AsRef<[CompoundBody]> + ?Sized> From<&'a T> for CompoundColumns<'a> {
    fn from(bodies: &'a T) -> Self {
        Self::new(bodies.as_ref())
    }
}
