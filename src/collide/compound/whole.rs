//! All parts of all bodies of a query as bodies of their own: for queries that no pair of bodies is asked of.

use crate::collide::compound::columns::CompoundColumns;
use crate::collide::compound::compounds::Compounds;
use crate::collide::compound::rows::{NamesBody, PartRow};
use crate::collide::narrow_phase::rows::{Batch, Stats};
use crate::collide::query::arena::Arena;
use crate::collide::scene::body::Body;
use crate::collide::scene::budget::RowBudget;
use crate::collide::scene::columns::BodyColumns;
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

    /// Asks an arena, and names bodies and parts in its rows.
    pub(crate) fn ask<R: NamesBody>(
        self,
        compounds: &Compounds,
        ask: impl FnOnce(&Arena, BodyColumns<'_>) -> Result<Pending<Batch<R>>>,
    ) -> Result<Pending<Batch<PartRow<R>>>> {
        let found = self.ask_as_is(compounds, ask)?;
        let fixed = compounds.spread().1.to_vec();
        let Self { names, body_count, single_count, .. } = self;
        Ok(found.chain(move |found| {
            let count = names.len() as u32;
            let named = |mut row: R| {
                let mut part = 0;
                if let Some(body) = row.body_mut() {
                    // Statics follow the parts: single hulls, then parts of compounds.
                    let after = *body - count.min(*body);
                    (*body, part) = match names.get(*body as usize) {
                        Some(&[of, part]) => (of, part),
                        None if after < single_count => (body_count + after, 0),
                        None => {
                            let [of, part] = fixed[(after - single_count) as usize];
                            (body_count + single_count + of, part)
                        }
                    };
                }
                PartRow { part, row }
            };
            let Batch { rows, stats, .. } = found;
            let rows: Vec<PartRow<R>> = rows.into_iter().map(named).collect();
            Ok(Pending::ready(Batch::new(rows, Stats { ..stats })))
        }))
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
