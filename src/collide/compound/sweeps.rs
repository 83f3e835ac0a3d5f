//! Sweeps of compounds: all parts as bodies of their own that move as their bodies do.

use glam::DVec3;

use crate::collide::compound::columns::CompoundColumns;
use crate::collide::compound::compounds::Compounds;
use crate::collide::compound::field_nearest::NearRules;
use crate::collide::compound::field_sweeps::{FieldSweeps, Numbered, levers};
use crate::collide::compound::job::Rows;
use crate::collide::compound::rows::PartPair;
use crate::collide::compound::whole::Whole;
use crate::collide::hull::Dimension;
use crate::collide::narrow_phase::rows::{Batch, Stats};
use crate::collide::narrow_phase::timed_call::timed_call;
use crate::collide::query::options::SweepOptions;
use crate::collide::scene::budget::RowBudget;
use crate::collide::scene::motion::Motion;
use crate::collide::scene::pairs::{Pairs, check as check_pairs};
use crate::collide::sweep::query::{Moves, check};
use crate::collide::sweep::rows::{Sweep, SweepOutcome};
use crate::error::Result;
use crate::observe::span;
use crate::pending::Pending;

impl Compounds {
    /// Finds the first time of impact of pairs of parts of bodies that move for `duration` seconds, sorted by bodies and parts:
    /// [`Arena::sweeps`](crate::collide::Arena::sweeps).
    ///
    /// Bodies move as `motions` say, each as one rigid body: with velocity v and angular velocity ω, at time t the position of a body is
    /// `position + v t`, and its parts have turned by exp(ω t) about it. There is a row for each pair of parts of two bodies that meets.
    /// [`Pairs::Given`] gives pairs of bodies, and has rows for their parts that meet, in the order of the pairs. Rows are those of
    /// the parts as bodies of one query, where [`parts`](Self::parts) places them, and which turn about the positions of their bodies.
    ///
    /// Height fields are met too, as bodies that may move and turn, and as [statics](Self::with_statics). Their parts are their triangles, each
    /// a hull of its own.
    ///
    /// # Tolerance
    /// That of [`Arena::sweeps`](crate::collide::Arena::sweeps). For what turns, how far a part is from the position of its body counts as its
    /// path does: beyond about 1e9 times S (1e5 with [`Precision::Exact`](crate::collide::Precision::Exact)) f64's error of its place exceeds τ.
    ///
    /// # What runs where
    /// As [`Arena::sweeps`](crate::collide::Arena::sweeps). On a GPU engine the CPU's threads sweep the pairs with a part that turns about another
    /// point than its hull's origin, and those with a triangle of a height field.
    ///
    /// # Cost
    /// That of a query over all parts as bodies. Of a given pair each part of one body is swept against each part of the other. Where a body turns,
    /// the boxes of its parts are those of their whole ways about its position. Of a height field the triangles are swept that a ball
    /// around the part comes near, along a line of the field's frame; where the field turns, the ball is larger by the chord that this moves it
    /// along, as far as it is away.
    ///
    /// # Errors
    /// The call itself fails for bad input: for the motions and the duration as [`Arena::sweeps`](crate::collide::Arena::sweeps); for bodies and pairs as
    /// [`intersections`](Self::intersections). [`Error::TooMany`](crate::Error::TooMany) and [`Error::MemoryLimit`](crate::Error::MemoryLimit) for
    /// the parts and for given pairs of them.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{
    ///     Arena, Compound, CompoundBody, Compounds, Hull, Motion, Options, Pairs, Part, SweepOptions,
    /// };
    ///
    /// let arena = Arena::new(&Engine::cpu(), &[Hull::ball(0.5)?], Options::default())?;
    /// let dumbbell = Compound::new([Part::new(0).at([-1.0, 0.0, 0.0]), Part::new(0).at([1.0, 0.0, 0.0])]);
    /// let compounds = Compounds::new(&arena, &[dumbbell])?;
    /// let bodies = [CompoundBody::new(0), CompoundBody::new(0).at([5.0, 0.0, 0.0])];
    /// let motions = [Motion::default(), Motion { velocity: [-4.0, 0.0, 0.0], ..Motion::default() }];
    /// let found = compounds.sweeps(&bodies, &motions, Pairs::BroadPhase, &SweepOptions::default())?.wait()?;
    /// let row = &found.rows[0];
    /// assert_eq!((found.rows.len(), row.row.a, row.row.b, row.part_a, row.part_b), (1, 0, 1, 1, 0));
    /// assert!((row.row.time - 0.5).abs() < 1e-5);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn sweeps<'a>(
        &self,
        bodies: impl Into<CompoundColumns<'a>>,
        motions: &[Motion],
        pairs: Pairs<'_>,
        options: &SweepOptions,
    ) -> Result<Pending<Batch<PartPair<Sweep>>>> {
        self.sweeps_inner(bodies.into(), motions, pairs, options)
    }

    fn sweeps_inner(
        &self,
        columns: CompoundColumns<'_>,
        motions: &[Motion],
        pairs: Pairs<'_>,
        options: &SweepOptions,
    ) -> Result<Pending<Batch<PartPair<Sweep>>>> {
        span!("hullfield.collide.compounds.sweeps", bodies = columns.bodies.len());
        timed_call(|| self.swept(columns, motions, pairs, options, Rows::Parts))
    }

    /// Finds the first time of impact of pairs of bodies: one row a pair of bodies that meets, of the parts that meet first, of several the
    /// least.
    ///
    /// # Cost
    /// That of [`sweeps`](Self::sweeps), whose rows are held until the first of each pair is found.
    ///
    /// # Errors
    /// As [`sweeps`](Self::sweeps).
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{
    ///     Arena, Compound, CompoundBody, Compounds, Hull, Motion, Options, Pairs, Part, SweepOptions,
    /// };
    ///
    /// let arena = Arena::new(&Engine::cpu(), &[Hull::ball(0.5)?], Options::default())?;
    /// let dumbbell = Compound::new([Part::new(0).at([-1.0, 0.0, 0.0]), Part::new(0).at([1.0, 0.0, 0.0])]);
    /// let compounds = Compounds::new(&arena, &[dumbbell])?;
    /// let bodies = [CompoundBody::new(0), CompoundBody::new(0).at([5.0, 0.0, 0.0])];
    /// let motions = [Motion::default(), Motion { velocity: [-8.0, 0.0, 0.0], ..Motion::default() }];
    /// let options = SweepOptions::default();
    /// let all = compounds.sweeps(&bodies, &motions, Pairs::BroadPhase, &options)?.wait()?;
    /// let first = compounds.body_sweeps(&bodies, &motions, Pairs::BroadPhase, &options)?.wait()?;
    /// assert_eq!((all.rows.len(), first.rows.len(), first.rows[0].part_a, first.rows[0].part_b), (4, 1, 1, 0));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn body_sweeps<'a>(
        &self,
        bodies: impl Into<CompoundColumns<'a>>,
        motions: &[Motion],
        pairs: Pairs<'_>,
        options: &SweepOptions,
    ) -> Result<Pending<Batch<PartPair<Sweep>>>> {
        self.body_sweeps_inner(bodies.into(), motions, pairs, options)
    }

    fn body_sweeps_inner(
        &self,
        columns: CompoundColumns<'_>,
        motions: &[Motion],
        pairs: Pairs<'_>,
        options: &SweepOptions,
    ) -> Result<Pending<Batch<PartPair<Sweep>>>> {
        span!("hullfield.collide.compounds.body_sweeps", bodies = columns.bodies.len());
        timed_call(|| self.swept(columns, motions, pairs, options, Rows::Bodies))
    }

    fn swept(
        &self,
        columns: CompoundColumns<'_>,
        motions: &[Motion],
        pairs: Pairs<'_>,
        options: &SweepOptions,
        kept: Rows,
    ) -> Result<Pending<Batch<PartPair<Sweep>>>> {
        check(columns.bodies.len(), motions, options.duration)?;
        let whole = Whole::new(self, columns)?;
        let rules = NearRules::new(self.rules(columns)?);
        let given = match pairs {
            Pairs::Given(pairs) => Some(self.pairs_of_parts(columns, &whole, pairs)?),
            _ => None,
        };
        let fields = self.field_sweeps(columns, motions, pairs, options, &rules)?;
        let of_parts: Vec<Motion> = whole.bodies_of_parts().map(|body| motions[body as usize]).collect();
        let arms = whole.bodies_of_parts().zip(whole.parts()).map(|(body, (_, position))| {
            DVec3::from(position) - DVec3::from(columns.bodies[body as usize].position)
        });
        let levers = levers(&of_parts, arms);
        let names = whole.names(self);
        let found = whole.ask_with_owners(self, columns.exclusions, |arena, parts| {
            let pairs = given.as_ref().map_or(pairs, |given| Pairs::Given(&given.pairs));
            let moves = Moves { levers: &levers, ..Moves::new(&of_parts) };
            arena.sweeps_with_levers(parts, moves, pairs, options)
        })?;
        Ok(found.chain(move |found| {
            let Batch { rows, stats, .. } = found;
            let named = |(at, row): (usize, Sweep)| {
                let [[a, part_a], [b, part_b]] = [row.a, row.b].map(|id| names.of(id));
                let number = given.as_ref().map_or(0, |given| given.numbers[at]);
                (number, PartPair { part_a, part_b, row: Sweep { a, b, ..row } })
            };
            let rows: Numbered = rows
                .into_iter()
                .enumerate()
                .filter(|(_, row)| row.outcome != SweepOutcome::Miss)
                .map(named)
                .collect();
            Ok(match fields {
                None => Pending::ready(in_order(rows, stats, kept, &rules)),
                Some(fields) => fields.run()?.map(move |(more, of_fields)| {
                    let (mut rows, mut stats) = (rows, stats);
                    rows.extend(more);
                    stats.add(&of_fields);
                    in_order(rows, stats, kept, &rules)
                }),
            })
        }))
    }

    /// The sweeps of the pairs of checked bodies with at least one height field; `None` where no body is one.
    fn field_sweeps(
        &self,
        columns: CompoundColumns<'_>,
        motions: &[Motion],
        pairs: Pairs<'_>,
        options: &SweepOptions,
        rules: &NearRules,
    ) -> Result<Option<FieldSweeps>> {
        if !self.all_bodies(columns).any(|(_, body)| self.shape(body).field().is_some()) {
            return Ok(None);
        }
        let crowd = self.crowd(columns, 0.0)?;
        let mut fields =
            FieldSweeps { crowd, motions: motions.to_vec(), options: *options, pairs: Vec::new() };
        match pairs {
            Pairs::Given(pairs) => fields.take_given(pairs),
            Pairs::BroadPhase | Pairs::Exhaustive => fields.list_pairs(columns.worlds, rules)?,
        }
        Ok(Some(fields))
    }

    /// The pairs of parts of given pairs of bodies.
    fn pairs_of_parts(
        &self,
        columns: CompoundColumns<'_>,
        whole: &Whole,
        pairs: &[[u32; 2]],
    ) -> Result<GivenParts> {
        let (count, statics, hulls) =
            (columns.bodies.len() as u32, self.arena().statics(), self.arena().hulls());
        let all = columns.bodies.len() + statics.len() + self.statics().len();
        let is_plane = |id: u32| {
            let fixed = id.checked_sub(count).and_then(|at| statics.get(at as usize));
            fixed.is_some_and(|body| hulls[body.hull as usize].dimension() == Dimension::HalfSpace)
        };
        check_pairs(pairs, all, self.arena().scene.has_half_space, is_plane)?;
        let starts = whole.starts();
        let parts_of = |id: u32| whole.rows_of(self, &starts, id);
        let budget =
            RowBudget::new::<(PartPair<Sweep>, [u32; 2], usize)>(self.arena().engine().answer_limit());
        for &[a, b] in pairs {
            budget.add(parts_of(a).len().saturating_mul(parts_of(b).len()));
            budget.check()?;
        }
        let mut given = GivenParts::default();
        for (number, &[a, b]) in pairs.iter().enumerate() {
            let of_b = parts_of(b);
            let each = parts_of(a).flat_map(|p| of_b.clone().map(move |q| [p, q]));
            given.pairs.extend(each);
            given.numbers.resize(given.pairs.len(), number);
        }
        Ok(given)
    }
}

/// The rows of an answer in their order: all, or the first of each pair of bodies.
fn in_order(mut rows: Numbered, stats: Stats, kept: Rows, rules: &NearRules) -> Batch<PartPair<Sweep>> {
    let key = |(number, row): &(usize, PartPair<Sweep>)| {
        (*number, [row.row.a, row.row.b].map(|id| rules.place(id)))
    };
    if kept == Rows::Bodies {
        rows.sort_by(|a, b| {
            let parts = |row: &PartPair<Sweep>| (row.part_a, row.part_b);
            let by_time = a.1.row.time.total_cmp(&b.1.row.time);
            key(a).cmp(&key(b)).then(by_time).then(parts(&a.1).cmp(&parts(&b.1)))
        });
        rows.dedup_by_key(|row| key(row));
    } else {
        rows.sort_by_key(|row| (key(row), row.1.part_a, row.1.part_b));
    }
    let rows: Vec<PartPair<Sweep>> = rows.into_iter().map(|(_, row)| row).collect();
    let stats = Stats { hit_count: rows.len() as u64, ..stats };
    Batch::new(rows, stats)
}

/// Pairs of parts, and the numbers of the pairs of bodies that they are of.
#[derive(Debug, Default)]
struct GivenParts {
    pairs: Vec<[u32; 2]>,
    numbers: Vec<usize>,
}
