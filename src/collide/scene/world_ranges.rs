//! Which bodies the rays, points or shapes of a query see, by their worlds.

use std::ops::Range;

use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::ray_columns::check_column;
use crate::error::{Error, Location, Result};

/// For each ray, point or shape the movers of its world, in the order that worlds put them into. By default all see all.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorldRanges(Vec<[u32; 2]>);

impl WorldRanges {
    /// Those of `count` things with these worlds; `what` names them.
    ///
    /// # Errors
    /// [`Error::Count`] where `worlds` is as long as neither nothing nor the things; [`Error::Invalid`] where either these or the bodies have
    /// worlds, but not both; as [`BodyColumns::check`].
    pub(crate) fn new(what: &str, worlds: &[u32], count: usize, bodies: &BodyColumns<'_>) -> Result<Self> {
        if !check_worlds(what, worlds, count, bodies.bodies.len(), bodies.worlds)? {
            return Ok(Self::default());
        }
        bodies.check()?;
        Ok(Self::of(worlds, bodies.worlds))
    }

    /// Those of things with the worlds `asked`, among bodies with these worlds.
    pub(crate) fn of(asked: &[u32], worlds: &[u32]) -> Self {
        let mut sorted = worlds.to_vec();
        if !sorted.is_sorted() {
            sorted.sort_unstable();
        }
        let range = |&world: &u32| {
            let first = sorted.partition_point(|&other| other < world);
            let len = sorted[first..].partition_point(|&other| other == world);
            [first as u32, (first + len) as u32]
        };
        let mut last = None;
        let mut ranges = Vec::with_capacity(asked.len());
        for world in asked {
            // Neighbours are often of one world.
            let found = match last {
                Some((other, range)) if other == world => range,
                _ => range(world),
            };
            last = Some((world, found));
            ranges.push(found);
        }
        Self(ranges)
    }

    /// The movers that one of them sees; `None` where it sees all.
    #[inline(always)]
    pub(crate) fn get(&self, index: u32) -> Option<Range<u32>> {
        self.0.get(index as usize).map(|&[begin, end]| begin..end)
    }

    /// Whether each of them sees all movers. There may be one world, and some ask about another.
    #[cfg(feature = "gpu")]
    pub(crate) fn see_all(&self, mover_count: usize) -> bool {
        self.0.iter().all(|&[begin, end]| begin == 0 && end as usize == mover_count)
    }
}

/// Whether each sees the bodies of its world alone; else all see all. The bodies' own worlds are not counted.
///
/// # Errors
/// [`Error::Count`] where `worlds` is as long as neither nothing nor the `count` things that `what` names; [`Error::Invalid`] where either
/// these or the bodies have worlds, but not both.
pub(crate) fn check_worlds(
    what: &str,
    worlds: &[u32],
    count: usize,
    body_count: usize,
    body_worlds: &[u32],
) -> Result<bool> {
    check_column("worlds", worlds.len(), count, what)?;
    if body_count == 0 || count == 0 {
        return Ok(false);
    }
    let message = match (worlds.is_empty(), body_worlds.is_empty()) {
        (true, true) => return Ok(false),
        (false, false) => return Ok(true),
        (true, false) => format!("the bodies have worlds, but the {what} have none: give each its world"),
        (false, true) => {
            format!("the {what} have worlds, but the bodies have none: give each body its world")
        }
    };
    Err(Error::invalid(Location::Argument, message))
}

/// Those of some ascending ids of bodies that are in a world: movers of its range, and all statics.
pub(crate) fn ids_of_world<'a>(
    ids: &'a [u32],
    world: &Range<u32>,
    mover_count: usize,
) -> impl Iterator<Item = u32> + 'a {
    let place = |id: u32| ids.partition_point(|&other| other < id);
    let (begin, end, statics) = (place(world.start), place(world.end), place(mover_count as u32));
    ids[begin..end].iter().chain(&ids[statics..]).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::scene::body::Body;

    fn ranges(asked: &[u32], count: usize, worlds: &[u32]) -> Result<Vec<Option<Range<u32>>>> {
        let bodies = vec![Body::new(0); 5];
        let columns = BodyColumns { worlds, ..BodyColumns::new(&bodies) };
        let found = WorldRanges::new("rays", asked, count, &columns)?;
        Ok((0..count as u32).map(|at| found.get(at)).collect())
    }

    #[test]
    fn each_sees_the_range_of_its_world() {
        let found = ranges(&[7, 7, 0, 3, 9, u32::MAX], 6, &[7, 3, 7, u32::MAX, 7]).unwrap();
        let expected = [1..4, 1..4, 0..0, 0..1, 4..4, 4..5].map(Some);
        assert_eq!(found, expected);
        assert_eq!(ranges(&[2, 4], 2, &[4; 5]).unwrap(), [Some(0..0), Some(0..5)]);
        assert_eq!(ranges(&[], 2, &[]).unwrap(), [None, None]);
        assert_eq!(ranges(&[], 0, &[4; 5]).unwrap(), []);
    }

    #[test]
    fn worlds_of_one_side_alone_are_errors() {
        let error = |asked: &[u32], worlds: &[u32]| ranges(asked, 2, worlds).unwrap_err();
        assert!(matches!(error(&[1], &[4; 5]), Error::Count { what: "worlds", given: 1, .. }));
        assert!(matches!(error(&[1; 2], &[4; 3]), Error::Count { what: "worlds", given: 3, .. }));
        let text = error(&[], &[4; 5]).to_string();
        assert!(
            text.ends_with("the bodies have worlds, but the rays have none: give each its world"),
            "{text}"
        );
        let text = error(&[1; 2], &[]).to_string();
        assert!(text.contains("the rays have worlds, but the bodies have none"), "{text}");
    }

    #[test]
    fn ids_of_a_world_are_its_movers_and_all_statics() {
        let ids = [0, 3, 4, 9, 10, 12];
        let of = |world: Range<u32>| ids_of_world(&ids, &world, 10).collect::<Vec<_>>();
        assert_eq!(of(3..9), [3, 4, 10, 12]);
        assert_eq!(of(5..5), [10, 12]);
        assert_eq!(of(0..10), ids);
    }
}
