//! All parts of all bodies of a query as bodies of their own: for queries that are not asked of pairs of bodies one by one.

use std::ops::Range;

use crate::collide::compound::columns::CompoundColumns;
use crate::collide::compound::compounds::Compounds;
use crate::collide::compound::rows::{NamesBody, PartPair, PartRow};
use crate::collide::narrow_phase::rows::{Batch, Stats};
use crate::collide::query::arena::Arena;
use crate::collide::scene::body::Body;
use crate::collide::scene::budget::RowBudget;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::exclusions::Exclusions;
use crate::collide::shape::nearest::{NearGoal, NearPair};
use crate::collide::shape::rows::NearestBody;
use crate::error::{Error, Location, Result};
use crate::parallel::map_shares;
use crate::pending::Pending;

/// Parts that a thread takes at least.
const SHARE: usize = 256;

/// The parts of the bodies of a query, in the order of bodies and parts.
#[derive(Debug)]
pub(crate) struct Whole {
    bodies: Vec<Body>,
    positions: Vec<[f64; 3]>,
    /// The world of each, where there are worlds.
    worlds: Vec<u32>,
    /// Body and part of each.
    names: Vec<[u32; 2]>,
    body_count: u32,
    /// How many statics the arena has that are single hulls.
    single_count: u32,
}

impl Whole {
    /// Checks the bodies and places their parts.
    pub(crate) fn new(compounds: &Compounds, columns: CompoundColumns<'_>) -> Result<Self> {
        compounds.check(columns)?;
        let CompoundColumns { bodies, worlds, .. } = columns;
        // The triangles of height fields are looked up elsewhere.
        let list_of = |body: u32| compounds.shape(&bodies[body as usize]).list();
        let part_count = |body: u32| list_of(body).map_or(0, |list| list.parts.len());
        let body_count = bodies.len() as u32;
        let count = (0..body_count).map(|body| part_count(body) as u64).sum::<u64>();
        let limit = u64::from(u32::MAX);
        if count + compounds.spread().0.statics().len() as u64 > limit {
            return Err(Error::TooMany { what: "parts", count, limit });
        }
        let budget = RowBudget::new::<(Body, [f64; 3], [u32; 2])>(compounds.arena().engine().answer_limit());
        budget.add(count as usize);
        budget.check()?;
        let of = |body: u32| (0..part_count(body) as u32).map(move |part| [body, part]);
        let names: Vec<[u32; 2]> = (0..body_count).flat_map(of).collect();
        let (parts, positions) = map_shares(&names, SHARE, |&[id, part]| {
            let body = &bodies[id as usize];
            let Some(list) = list_of(id) else { return (Body::new(0), [0.0; 3]) };
            let (part, turn) = (&list.parts[part as usize], &list.turns[part as usize]);
            body.placement().part(part, turn, body.group, body.mask)
        })
        .into_iter()
        .unzip();
        let worlds = match worlds {
            [] => Vec::new(),
            worlds => names.iter().map(|&[body, _]| worlds[body as usize]).collect(),
        };
        let single_count = compounds.arena().statics().len() as u32;
        Ok(Self { bodies: parts, positions, worlds, names, body_count, single_count })
    }

    /// The names of the rows of a query.
    pub(crate) fn names(&self, compounds: &Compounds) -> Names {
        let &Self { ref names, body_count, single_count, .. } = self;
        Names { parts: names.clone(), fixed: compounds.spread().1.to_vec(), body_count, single_count }
    }

    /// Asks an arena, and names bodies and parts in its rows.
    pub(crate) fn ask<R: NamesBody>(
        self,
        compounds: &Compounds,
        ask: impl FnOnce(&Arena, BodyColumns<'_>) -> Result<Pending<Batch<R>>>,
    ) -> Result<Pending<Batch<PartRow<R>>>> {
        let found = self.ask_as_is(compounds, ask)?;
        let names = self.names(compounds);
        Ok(found.chain(move |found| {
            let named = |mut row: R| {
                let mut part = 0;
                if let Some(body) = row.body_mut() {
                    [*body, part] = names.of(*body);
                }
                PartRow { part, row }
            };
            let Batch { rows, stats, .. } = found;
            let rows: Vec<PartRow<R>> = rows.into_iter().map(named).collect();
            Ok(Pending::ready(Batch::new(rows, Stats { ..stats })))
        }))
    }

    /// Where the parts of each body begin, and where the last end.
    pub(crate) fn starts(&self) -> Vec<u32> {
        let of = |body: u32| self.names.partition_point(|name| name[0] < body) as u32;
        (0..=self.body_count).map(of).collect()
    }

    /// The parts, and their positions.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&Body, [f64; 3])> {
        self.bodies.iter().zip(self.positions.iter().copied())
    }

    /// The nearest bodies of each shape or, without shapes, of each body.
    pub(crate) fn nearest(
        self,
        compounds: &Compounds,
        shapes: Option<BodyColumns<'_>>,
        exclusions: Option<&Exclusions>,
        goal: NearGoal,
    ) -> Result<Pending<Batch<PartPair<NearestBody>>>> {
        let starts = self.starts();
        let all = self.names.len() as u32 + compounds.spread().0.statics().len() as u32;
        let names = self.names(compounds);
        let owner_of: Vec<u32> = (0..all).map(|row| names.of(row)[0]).collect();
        let ask = |arena: &Arena, columns: BodyColumns<'_>| {
            arena.nearest_pairs(columns, shapes, [starts, owner_of], goal)
        };
        let found = match shapes {
            Some(_) => self.ask_as_is(compounds, ask)?,
            None => self.ask_with_owners(compounds, exclusions, ask)?,
        };
        Ok(found.chain(move |found| {
            let Batch { rows, stats, .. } = found;
            let named = |NearPair { asker, row }: NearPair| {
                let [body, part_b] = names.of(row.body);
                PartPair { part_a: asker, part_b, row: NearestBody { body, ..row } }
            };
            Ok(Pending::ready(Batch::new(rows.into_iter().map(named).collect(), stats)))
        }))
    }

    /// Asks an arena for rows of pairs of bodies, whose parts don't meet one another. The exclusions must have been checked.
    pub(crate) fn ask_with_owners<R>(
        &self,
        compounds: &Compounds,
        exclusions: Option<&Exclusions>,
        ask: impl FnOnce(&Arena, BodyColumns<'_>) -> Result<Pending<Batch<R>>>,
    ) -> Result<Pending<Batch<R>>> {
        let owners: Vec<u32> = self.bodies_of_parts().collect();
        let exclusions = exclusions.map(|exclusions| self.of_parts(compounds, exclusions)).transpose()?;
        self.ask_as_is(compounds, |arena, columns| {
            ask(arena, BodyColumns { owners: &owners, exclusions: exclusions.as_ref(), ..columns })
        })
    }

    /// The body of each part.
    pub(crate) fn bodies_of_parts(&self) -> impl Iterator<Item = u32> {
        self.names.iter().map(|name| name[0])
    }

    /// The rows of the parts of a body or a static; `starts` are those of [`starts`](Self::starts).
    pub(crate) fn rows_of(&self, compounds: &Compounds, starts: &[u32], id: u32) -> Range<u32> {
        let count = self.names.len() as u32;
        let Some(index) = id.checked_sub(self.body_count) else {
            return starts[id as usize]..starts[id as usize + 1];
        };
        let fixed = match index.checked_sub(self.single_count) {
            None => index..index + 1,
            Some(compound) => self.rows_of_static(compounds, compound),
        };
        count + fixed.start..count + fixed.end
    }

    /// The rows of the parts of a static compound among the statics of the arena that is asked.
    fn rows_of_static(&self, compounds: &Compounds, compound: u32) -> Range<u32> {
        let fixed = compounds.spread().1;
        let first = fixed.partition_point(|name| name[0] < compound);
        let len = fixed[first..].partition_point(|name| name[0] == compound);
        self.single_count + first as u32..self.single_count + (first + len) as u32
    }

    /// Checked exclusions of bodies as those of owners of parts, which are the bodies that have parts. Others are left out.
    fn of_parts(&self, compounds: &Compounds, exclusions: &Exclusions) -> Result<Exclusions> {
        let count = self.body_count;
        let has_parts = |body: u32| self.names.binary_search_by_key(&body, |name| name[0]).is_ok();
        let (mut pairs, mut statics) = (Vec::new(), Vec::new());
        let mut exclude = |body: u32, index: u32| {
            if body >= count || !has_parts(body) {
                return;
            }
            let Some(compound) = index.checked_sub(self.single_count) else {
                return statics.push([body, index]);
            };
            statics.extend(self.rows_of_static(compounds, compound).map(|row| [body, row]));
        };
        for &[a, b] in exclusions.pairs() {
            // The lower id comes first.
            match b.checked_sub(count) {
                Some(index) => exclude(a, index),
                None if has_parts(a) && has_parts(b) => pairs.push([a, b]),
                None => (),
            }
        }
        exclusions.statics().iter().for_each(|&[body, index]| exclude(body, index));
        Ok(Exclusions::new(&pairs)?.with_statics(&statics))
    }

    /// Asks an arena for rows that name no body.
    pub(crate) fn ask_as_is<R>(
        &self,
        compounds: &Compounds,
        ask: impl FnOnce(&Arena, BodyColumns<'_>) -> Result<Pending<Batch<R>>>,
    ) -> Result<Pending<Batch<R>>> {
        let columns = BodyColumns {
            positions: &self.positions,
            worlds: &self.worlds,
            ..BodyColumns::new(&self.bodies)
        };
        let name = |at: Location| match at {
            Location::Body(row) => Location::Body(self.names.get(row).map_or(row, |name| name[0] as usize)),
            at => at,
        };
        ask(compounds.spread().0, columns).map_err(|error| error.moved(name))
    }
}

/// The body and the part of each row of a query over parts.
#[derive(Debug)]
pub(crate) struct Names {
    parts: Vec<[u32; 2]>,
    /// The static and the part of each static that is a part of one.
    fixed: Vec<[u32; 2]>,
    body_count: u32,
    single_count: u32,
}

impl Names {
    pub(crate) fn of(&self, row: u32) -> [u32; 2] {
        // Statics follow the parts: single hulls, then parts of compounds.
        let after = row - (self.parts.len() as u32).min(row);
        match self.parts.get(row as usize) {
            Some(&name) => name,
            None if after < self.single_count => [self.body_count + after, 0],
            None => {
                let [of, part] = self.fixed[(after - self.single_count) as usize];
                [self.body_count + self.single_count + of, part]
            }
        }
    }
}
