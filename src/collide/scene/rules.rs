//! Which pairs of a query's bodies may meet at all, by the columns of [`BodyColumns`]: worlds, owners and exclusions.
//!
//! The movers of a query are in the order of their worlds, so a world is a range of ids. An owner that the caller names by any number has
//! a rank, and each rank has the sorted list of the ranks that it never meets. The device reads the same tables
//! (`shaders/collide/broad_phase/pair_rules.wgsl`).

use std::ops::Range;

use crate::collide::scene::columns::BodyColumns;
use crate::error::{Error, Location, Result};
use crate::order::sort_pairs;

/// Up to so many movers of a world are searched without a tree: all pairs of their boxes are tested. The partners of a mover in its world are the
/// bits of a word (`shaders/collide/broad_phase/world_find.wgsl`).
pub(crate) const SMALL_WORLD: usize = 32;

/// Which pairs may meet. By default all.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PairRules {
    /// Where the movers of each world begin, in the order of the worlds, and where the last ones end. Empty where there is one world.
    pub(crate) starts: Vec<u32>,
    /// The number of each mover's world in that order. Empty where there is one world.
    pub(crate) world_of: Vec<u32>,
    /// The rank of the owner of each body, statics included. Empty where each body is its own.
    pub(crate) owner_of: Vec<u32>,
    /// Where the list of each rank begins in `excluded`, and where the last ends. Empty where nothing is excluded.
    pub(crate) list_starts: Vec<u32>,
    /// The ranks that each rank never meets, ascending.
    pub(crate) excluded: Vec<u32>,
}

impl PairRules {
    /// Whether all pairs may meet.
    pub(crate) fn allow_all(&self) -> bool {
        !self.has_worlds() && !self.has_filter()
    }

    /// Whether there is more than one world.
    #[inline(always)]
    pub(crate) fn has_worlds(&self) -> bool {
        !self.starts.is_empty()
    }

    /// Whether some bodies of one world don't meet.
    pub(crate) fn has_filter(&self) -> bool {
        !self.owner_of.is_empty() || !self.list_starts.is_empty()
    }

    /// The first mover of the world of mover `a`.
    pub(crate) fn begin_of(&self, a: u32) -> u32 {
        self.world_of.get(a as usize).map_or(0, |&world| self.starts[world as usize])
    }

    /// One past the last of `mover_count` movers in the world of mover `a`.
    #[inline(always)]
    pub(crate) fn end_of(&self, a: u32, mover_count: u32) -> u32 {
        self.world_of.get(a as usize).map_or(mover_count, |&world| self.starts[world as usize + 1])
    }

    /// The number of worlds, where there are several.
    pub(crate) fn world_count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The movers of a world.
    #[inline(always)]
    pub(crate) fn movers_of(&self, world: usize) -> Range<u32> {
        self.starts[world]..self.starts[world + 1]
    }

    /// Whether there are worlds, and that of mover `a` is small.
    #[inline(always)]
    pub(crate) fn is_in_small_world(&self, a: u32) -> bool {
        let world = self.world_of.get(a as usize);
        world.is_some_and(|&world| self.movers_of(world as usize).len() <= SMALL_WORLD)
    }

    /// Whether there are worlds, and all are small.
    pub(crate) fn has_small_worlds_only(&self) -> bool {
        self.has_worlds() && self.starts.windows(2).all(|ends| (ends[1] - ends[0]) as usize <= SMALL_WORLD)
    }

    /// Whether owners and exclusions let two bodies of one world meet.
    #[inline]
    pub(crate) fn allows(&self, a: u32, b: u32) -> bool {
        let rank = |body: u32| self.owner_of.get(body as usize).copied().unwrap_or(body);
        let (a, b) = (rank(a), rank(b));
        if a == b {
            return false;
        }
        let Some(list) = self.list_starts.get(a as usize..a as usize + 2) else { return true };
        let list = &self.excluded[list[0] as usize..list[1] as usize];
        // Most are empty or short.
        if list.len() <= 8 { !list.contains(&b) } else { list.binary_search(&b).is_err() }
    }

    /// The number of pairs of movers of one world, where there are several.
    pub(crate) fn pair_total_in_worlds(&self) -> u64 {
        let lens = self.starts.windows(2).map(|ends| u64::from(ends[1] - ends[0]));
        lens.map(|len| len * len.saturating_sub(1) / 2).sum()
    }
}

/// The rules of some columns, and the order in which the movers must come for them.
#[derive(Debug, Default)]
pub(crate) struct OrderedRules {
    pub(crate) rules: PairRules,
    /// The row of each mover; empty where they are in order.
    pub(crate) order: Vec<u32>,
}

impl OrderedRules {
    /// Those of columns of the right lengths.
    ///
    /// # Errors
    /// [`Error::Missing`] where an exclusion names what does not exist; [`Error::Invalid`] at its [`Location::Body`] where a body has the owner
    /// of a body in another world.
    pub(crate) fn new(columns: &BodyColumns<'_>, static_count: usize) -> Result<Self> {
        let mut made = Self::default();
        if !columns.worlds.is_empty() {
            made.sort_worlds(columns.worlds);
        }
        made.rank_owners(columns, static_count)?;
        Ok(made)
    }

    fn sort_worlds(&mut self, worlds: &[u32]) {
        if worlds.is_sorted() {
            return self.number_worlds(worlds);
        }
        let (ranks, ids) = Ranks::of(worlds);
        if ids.len() < 2 {
            return;
        }
        let mut starts = vec![0; ids.len() + 1];
        ranks.iter().for_each(|&rank| starts[rank as usize + 1] += 1);
        (0..ids.len()).for_each(|world| starts[world + 1] += starts[world]);
        let mut ends = starts.clone();
        self.order.resize(worlds.len(), 0);
        for (row, &rank) in (0..).zip(&ranks) {
            let end = &mut ends[rank as usize];
            self.order[*end as usize] = row;
            *end += 1;
        }
        self.rules.world_of = world_of_each(&starts);
        self.rules.starts = starts;
    }

    /// Worlds that are in order.
    fn number_worlds(&mut self, worlds: &[u32]) {
        let mut starts = vec![0];
        let ends = worlds.windows(2).zip(1..).filter(|(pair, _)| pair[0] != pair[1]).map(|(_, end)| end);
        starts.extend(ends);
        if starts.len() < 2 {
            return;
        }
        starts.push(worlds.len() as u32);
        self.rules.world_of = world_of_each(&starts);
        self.rules.starts = starts;
    }

    fn rank_owners(&mut self, columns: &BodyColumns<'_>, static_count: usize) -> Result<()> {
        let count = columns.bodies.len();
        let exclusions = columns.exclusions.filter(|exclusions| !exclusions.is_empty());
        let (ranks, owners) =
            if columns.owners.is_empty() { Default::default() } else { Ranks::of(columns.owners) };
        if !columns.worlds.is_empty() {
            check_owners(columns, &ranks, owners.len())?;
        }
        let mut place_of = Vec::new();
        if !self.order.is_empty() {
            place_of.resize(count, 0);
            (0..).zip(&self.order).for_each(|(place, &row)| place_of[row as usize] = place);
        }
        // Where owners are alone, and nothing is excluded, no pair is forbidden.
        if !ranks.is_empty() && (owners.len() < count || exclusions.is_some()) {
            let owner_of = &mut self.rules.owner_of;
            match &self.order[..] {
                [] => *owner_of = ranks,
                order => owner_of.extend(order.iter().map(|&row| ranks[row as usize])),
            }
            // A static has no owner but itself.
            let first = owners.len() as u32;
            owner_of.extend(first..first + static_count as u32);
        }
        let Some(exclusions) = exclusions else { return Ok(()) };
        let has_owners = !columns.owners.is_empty();
        let own_count = if has_owners { owners.len() } else { count };
        let missing = |what, index: u32, count: usize| Error::Missing {
            at: Location::Argument,
            what,
            index: index.into(),
            count: count as u64,
        };
        let rank_of = |id: u32| {
            if has_owners {
                let rank = owners.binary_search(&id).map(|rank| rank as u32);
                return rank.map_err(|_| {
                    let message = format!("exclusions name the owner {id}, which no body has");
                    Error::invalid(Location::Argument, message)
                });
            }
            if id as usize >= count + static_count {
                return Err(missing("excluded body", id, count + static_count));
            }
            Ok(place_of.get(id as usize).copied().unwrap_or(id))
        };
        let mut pairs = Vec::with_capacity(2 * (exclusions.pairs().len() + exclusions.statics().len()));
        for &[a, b] in exclusions.pairs() {
            pairs.push([rank_of(a)?, rank_of(b)?]);
        }
        for &[a, index] in exclusions.statics() {
            if index as usize >= static_count {
                return Err(missing("excluded static", index, static_count));
            }
            pairs.push([rank_of(a)?, own_count as u32 + index]);
        }
        let mirrored: Vec<[u32; 2]> = pairs.iter().map(|&[a, b]| [b, a]).collect();
        pairs.extend(mirrored);
        sort_pairs(&mut pairs);
        pairs.dedup();
        let rank_count = own_count + static_count;
        let PairRules { list_starts, excluded, .. } = &mut self.rules;
        list_starts.resize(rank_count + 1, 0);
        pairs.iter().for_each(|&[a, _]| list_starts[a as usize + 1] += 1);
        (0..rank_count).for_each(|rank| list_starts[rank + 1] += list_starts[rank]);
        excluded.extend(pairs.iter().map(|&[_, b]| b));
        Ok(())
    }
}

/// The number of each mover's world, by where the movers of each begin.
fn world_of_each(starts: &[u32]) -> Vec<u32> {
    let mut world_of = Vec::with_capacity(starts.last().map_or(0, |&end| end as usize));
    for (world, ends) in (0..).zip(starts.windows(2)) {
        world_of.resize(ends[1] as usize, world);
    }
    world_of
}

/// Checks that bodies of one owner are in one world.
fn check_owners(columns: &BodyColumns<'_>, ranks: &[u32], owner_count: usize) -> Result<()> {
    let mut first_of = vec![u32::MAX; owner_count];
    for (row, &rank) in (0..).zip(ranks) {
        let first = &mut first_of[rank as usize];
        if *first == u32::MAX {
            *first = row;
        }
        let (world, other) = (columns.worlds[row as usize], columns.worlds[*first as usize]);
        if world != other {
            let message = format!(
                "it is of owner {} and in world {world}, body {first} of the same owner is in world {other}; an owner has one world",
                columns.owners[row as usize],
            );
            return Err(Error::invalid(Location::Body(row as usize), message));
        }
    }
    Ok(())
}

/// Ids of any value, numbered in their order.
struct Ranks;

impl Ranks {
    /// The rank of each id, and the ids that there are, ascending.
    fn of(ids: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let most = ids.iter().copied().max().unwrap_or(0) as usize;
        if most < 4 * ids.len() + 1024 {
            let mut rank_of = vec![0u32; most + 1];
            ids.iter().for_each(|&id| rank_of[id as usize] = 1);
            let mut held = Vec::new();
            for (id, rank) in (0..).zip(&mut rank_of) {
                if *rank == 1 {
                    *rank = held.len() as u32;
                    held.push(id);
                }
            }
            return (ids.iter().map(|&id| rank_of[id as usize]).collect(), held);
        }
        let mut held = ids.to_vec();
        held.sort_unstable();
        held.dedup();
        // Each id is in the list.
        let rank = |id: &u32| held.partition_point(|other| other < id) as u32;
        (ids.iter().map(rank).collect(), held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::scene::body::Body;
    use crate::collide::scene::exclusions::Exclusions;

    fn rules(columns: BodyColumns<'_>, static_count: usize) -> Result<OrderedRules> {
        OrderedRules::new(&columns, static_count)
    }

    #[test]
    fn worlds_are_ranges_in_the_order_of_their_ids() {
        let bodies = [Body::new(0); 6];
        for ids in [[0, 1, 7], [5, 1_000_000, u32::MAX]] {
            let worlds = [ids[1], ids[0], ids[2], ids[0], ids[1], ids[1]];
            let made = rules(BodyColumns { worlds: &worlds, ..BodyColumns::new(&bodies) }, 2).unwrap();
            assert_eq!(made.order, [1, 3, 0, 4, 5, 2]);
            assert_eq!(made.rules.starts, [0, 2, 5, 6]);
            assert_eq!(made.rules.world_of, [0, 0, 1, 1, 1, 2]);
            assert_eq!((made.rules.begin_of(3), made.rules.end_of(3, 6)), (2, 5));
            assert_eq!(made.rules.pair_total_in_worlds(), 1 + 3);
            assert!(made.rules.has_worlds() && !made.rules.has_filter());
            let sorted = [ids[0], ids[0], ids[1], ids[1], ids[1], ids[2]];
            let made = rules(BodyColumns { worlds: &sorted, ..BodyColumns::new(&bodies) }, 2).unwrap();
            assert!(made.order.is_empty() && made.rules.world_of == [0, 0, 1, 1, 1, 2]);
        }
        let one = rules(BodyColumns { worlds: &[9; 6], ..BodyColumns::new(&bodies) }, 0).unwrap();
        assert!(one.order.is_empty() && one.rules.allow_all());
        assert_eq!((one.rules.begin_of(3), one.rules.end_of(3, 6)), (0, 6));
    }

    #[test]
    fn owners_and_exclusions_forbid_pairs() {
        let bodies = [Body::new(0); 5];
        let (owners, worlds) = ([7, 7, 3, u32::MAX, 3], [4, 4, 2, 4, 2]);
        let exclusions = Exclusions::new(&[[7, u32::MAX]]).unwrap().with_statics(&[[3, 1]]);
        let columns =
            BodyColumns { owners: &owners, exclusions: Some(&exclusions), ..BodyColumns::new(&bodies) };
        for columns in [columns, BodyColumns { worlds: &worlds, ..columns }] {
            let OrderedRules { rules, order } = rules(columns, 2).unwrap();
            let row = |id: u32| order.get(id as usize).map_or(id, |&row| row);
            let forbidden = [[0, 1], [2, 4], [0, 3], [1, 3], [2, 6], [4, 6]];
            for a in 0..7 {
                for b in (0..7).filter(|&b| b != a) {
                    let [one, other] = [row(a), row(b)];
                    let is_forbidden = forbidden.contains(&[one.min(other), one.max(other)]);
                    assert_eq!(rules.allows(a, b), !is_forbidden, "{one} {other}");
                }
            }
        }
        // Without owners rows are excluded, statics by the rows that they have after the bodies, or as statics.
        let worlds = [4, 4, 2, 4, 2];
        for pairs in [
            Exclusions::new(&[[4, 2], [6, 0]]),
            Exclusions::new(&[[2, 4]]).map(|all| all.with_statics(&[[0, 1]])),
        ] {
            let exclusions = pairs.unwrap();
            let columns =
                BodyColumns { worlds: &worlds, exclusions: Some(&exclusions), ..BodyColumns::new(&bodies) };
            let OrderedRules { rules, order } = rules(columns, 2).unwrap();
            assert_eq!(order, [2, 4, 0, 1, 3]);
            assert!(!rules.allows(0, 1) && !rules.allows(1, 0) && !rules.allows(2, 6) && rules.allows(2, 5));
        }
        // Each owner alone, and nothing excluded.
        let alone = rules(BodyColumns { owners: &[4, 1, 2, 3, 0], ..BodyColumns::new(&bodies) }, 2).unwrap();
        assert!(alone.rules.allow_all());
    }

    #[test]
    fn unknown_bodies_owners_and_statics_are_errors() {
        let bodies = [Body::new(0); 3];
        let check = |owners: &[u32], pairs: &[[u32; 2]], statics: &[[u32; 2]]| {
            let exclusions = Exclusions::new(pairs).unwrap().with_statics(statics);
            let columns = BodyColumns { owners, exclusions: Some(&exclusions), ..BodyColumns::new(&bodies) };
            rules(columns, 2).map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[], &[[0, 4]], &[[2, 1]]), Ok(()));
        assert_eq!(check(&[], &[[0, 5]], &[]), Err("excluded body 5 does not exist, there are 5".into()));
        assert_eq!(check(&[], &[], &[[0, 2]]), Err("excluded static 2 does not exist, there are 2".into()));
        assert_eq!(check(&[], &[], &[[9, 1]]), Err("excluded body 9 does not exist, there are 5".into()));
        assert_eq!(check(&[1, 1, 8], &[[8, 1]], &[[8, 0]]), Ok(()));
        let error = Err("exclusions name the owner 0, which no body has".into());
        assert_eq!(check(&[1, 1, 8], &[[0, 1]], &[]), error);
    }

    #[test]
    fn an_owner_in_two_worlds_is_an_error_at_its_row() {
        let bodies = [Body::new(0); 4];
        let columns =
            BodyColumns { worlds: &[1, 2, 2, 3], owners: &[5, 6, 7, 6], ..BodyColumns::new(&bodies) };
        let error = rules(columns, 0).unwrap_err();
        assert!(matches!(error, Error::Invalid { at: Location::Body(3), .. }), "{error}");
        assert!(error.to_string().contains("owner 6") && error.to_string().contains("body 1"), "{error}");
    }
}
