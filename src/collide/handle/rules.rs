//! Which parts of a scene may meet: worlds, owners, exclusions, and fixed bodies.

use std::collections::{BTreeMap, BTreeSet};

use crate::collide::handle::body::Body;
use crate::collide::scene::rules::PairRules;

/// A body in the order of the rules: its row, and how many parts it has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) row: u32,
    pub(crate) part_count: u32,
}

/// What is excluded, by rows and by owners. Each pair stands for both orders.
#[derive(Debug, Clone, Default)]
pub(crate) struct Excluded<'a> {
    pub(crate) rows: &'a [[u32; 2]],
    pub(crate) owners: &'a [[u32; 2]],
}

/// The rules for parts in this order: those of bodies in `movers`, by worlds where there are several, then those of `others`, which are in
/// every world and never meet one another. And the same for rows, without worlds.
pub(crate) fn rules(
    bodies: &[Body],
    movers: &[Placed],
    others: &[Placed],
    has_worlds: bool,
    excluded: &Excluded<'_>,
) -> (PairRules, PairRules) {
    let (mut rules, mut of_rows) = (PairRules::default(), PairRules::default());
    if has_worlds {
        let mut last = None;
        let mut place = 0;
        for placed in movers {
            let world = bodies[placed.row as usize].world;
            if last.replace(world) != Some(world) {
                rules.starts.push(place);
            }
            let number = rules.starts.len() as u32 - 1;
            place += placed.part_count;
            rules.world_of.resize(place as usize, number);
        }
        rules.starts.push(place);
    }
    let all = || movers.iter().chain(others);
    let has_filter = movers.iter().any(|placed| bodies[placed.row as usize].fixed)
        || all().any(|placed| placed.part_count > 1 || bodies[placed.row as usize].owner.is_some())
        || !excluded.rows.is_empty();
    if has_filter {
        let ranks = Ranks::new(bodies, movers, others, excluded);
        of_rows.owner_of.clone_from(&ranks.of_row);
        ranks.add_to(&mut rules, all());
        of_rows.list_starts.clone_from(&rules.list_starts);
        of_rows.excluded.clone_from(&rules.excluded);
    }
    (rules, of_rows)
}

/// Each body belongs to one rank. Bodies of the same rank never meet, nor do bodies of two ranks that exclude each other.
struct Ranks {
    /// Of each row; `u32::MAX` where it holds no body.
    of_row: Vec<u32>,
    count: u32,
    excluded: BTreeSet<[u32; 2]>,
}

/// What makes bodies one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    Row(u32),
    Owner {
        world: u32,
        owner: u32,
    },
    /// The fixed bodies of one world of several.
    Surroundings(u32),
}

impl Ranks {
    fn new(bodies: &[Body], movers: &[Placed], others: &[Placed], excluded: &Excluded<'_>) -> Self {
        let mut rows: Vec<u32> = movers.iter().chain(others).map(|placed| placed.row).collect();
        rows.sort_unstable();
        let body = |row: u32| &bodies[row as usize];
        // Where a body of an owner is excluded by itself, or one that is fixed, owners are spelled out.
        let excluded_rows: BTreeSet<u32> = excluded.rows.iter().flatten().copied().collect();
        let fixed: BTreeSet<u32> =
            movers.iter().filter(|placed| body(placed.row).fixed).map(|placed| placed.row).collect();
        let is_alone = |row: u32| excluded_rows.contains(&row) || fixed.contains(&row);
        let spelled_out: BTreeSet<(u32, u32)> = rows
            .iter()
            .filter(|&&row| is_alone(row))
            .filter_map(|&row| Some((body(row).world, body(row).owner?)))
            .collect();
        let unit = |row: u32| match body(row).owner {
            Some(owner) if spelled_out.contains(&(body(row).world, owner)) => Unit::Row(row),
            Some(owner) => Unit::Owner { world: body(row).world, owner },
            None if fixed.contains(&row) && !excluded_rows.contains(&row) => {
                Unit::Surroundings(body(row).world)
            }
            None => Unit::Row(row),
        };
        let mut of_row = vec![u32::MAX; bodies.len()];
        let mut of_unit: BTreeMap<Unit, u32> = BTreeMap::new();
        let mut count = 0;
        for &row in &rows {
            of_row[row as usize] = match unit(row) {
                Unit::Row(_) => {
                    count += 1;
                    count - 1
                }
                unit => *of_unit.entry(unit).or_insert_with(|| {
                    count += 1;
                    count - 1
                }),
            };
        }
        let mut made = Self { of_row, count, excluded: BTreeSet::new() };
        made.exclude_among(
            rows.iter().copied().filter(|row| {
                body(*row).owner.is_some_and(|owner| spelled_out.contains(&(body(*row).world, owner)))
            }),
            |a, b| (body(a).world, body(a).owner) == (body(b).world, body(b).owner),
        );
        made.exclude_among(fixed.iter().copied(), |a, b| body(a).world == body(b).world);
        for &[a, b] in excluded.rows {
            made.exclude(a, b);
        }
        if !excluded.owners.is_empty() {
            made.exclude_owners(bodies, &rows, excluded.owners);
        }
        made
    }

    fn exclude(&mut self, a: u32, b: u32) {
        let [a, b] = [a, b].map(|row| self.of_row[row as usize]);
        if a != b && a != u32::MAX && b != u32::MAX {
            self.excluded.insert([a, b]);
            self.excluded.insert([b, a]);
        }
    }

    /// Excludes those of some rows from one another that are of one kind.
    fn exclude_among(&mut self, rows: impl Iterator<Item = u32>, is_one: impl Fn(u32, u32) -> bool) {
        let rows: Vec<u32> = rows.collect();
        for (at, &a) in rows.iter().enumerate() {
            rows[at + 1..].iter().filter(|&&b| is_one(a, b)).for_each(|&b| self.exclude(a, b));
        }
    }

    fn exclude_owners(&mut self, bodies: &[Body], rows: &[u32], owners: &[[u32; 2]]) {
        let mut rows_of: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &row in rows {
            if let Some(owner) = bodies[row as usize].owner {
                rows_of.entry(owner).or_default().push(row);
            }
        }
        let none = Vec::new();
        for [one, other] in owners {
            let [one, other] = [one, other].map(|owner| rows_of.get(owner).unwrap_or(&none));
            for &a in one {
                for &b in other {
                    let [p, q] = [a, b].map(|row| bodies[row as usize].world);
                    if p == q || p == Body::EVERY_WORLD || q == Body::EVERY_WORLD {
                        self.exclude(a, b);
                    }
                }
            }
        }
    }

    fn add_to<'a>(self, rules: &mut PairRules, all: impl Iterator<Item = &'a Placed>) {
        for placed in all {
            let len = rules.owner_of.len() + placed.part_count as usize;
            rules.owner_of.resize(len, self.of_row[placed.row as usize]);
        }
        if self.excluded.is_empty() {
            return;
        }
        let starts = &mut rules.list_starts;
        starts.resize(self.count as usize + 1, 0);
        self.excluded.iter().for_each(|&[a, _]| starts[a as usize + 1] += 1);
        (0..self.count as usize).for_each(|rank| starts[rank + 1] += starts[rank]);
        rules.excluded.extend(self.excluded.iter().map(|&[_, b]| b));
    }
}
