//! Sweeps against height fields, beside those of the parts of compounds: the triangles that each part may come near, as hulls of their own.
//!
//! A part is looked for along a line of the field's frame. While it turns about the position of its body, the middle of the ball around
//! it is never farther from where translation alone takes it than the chord of its arm, and never farther from the body's position than the arm: the
//! line is that of the middle or that of the position, whichever leaves less. Where the field turns, each point is seen from it turned back, which
//! moves it by the chord of its distance from the field's position, and never takes it farther from there. What is left of these is added to
//! the ball's radius.

use glam::DVec3;

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::tree::{Tree, Visit, WIDTH};
use crate::collide::compound::body::Placement;
use crate::collide::compound::boxes::CenteredBox;
use crate::collide::compound::crowd::{Crowd, Found, Instances};
use crate::collide::compound::field::{Field, TriangleVisit};
use crate::collide::compound::field_nearest::NearRules;
use crate::collide::compound::field_set::{FieldBody, SHARE};
use crate::collide::compound::layout::PartLayout;
use crate::collide::compound::rows::PartPair;
use crate::collide::narrow_phase::rows::{Batch, Stats};
use crate::collide::query::arena::Arena;
use crate::collide::query::options::SweepOptions;
use crate::collide::scene::body::Body;
use crate::collide::scene::budget::RowBudget;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::frame::Frame;
use crate::collide::scene::motion::Motion;
use crate::collide::scene::pairs::Pairs;
use crate::collide::scene::placed::rotation;
use crate::collide::sweep::query::Moves;
use crate::collide::sweep::rows::{Sweep, SweepOutcome};
use crate::error::{Error, Result};
use crate::pending::{Pending, Round};

/// Pairs of a part and a triangle that are swept together.
const WINDOW: usize = 1 << 14;

/// More than what f64 rounds off a place in a field's frame, as a share of how far it is from the field's origin.
const ROUNDED: f64 = 1e-14;

/// Sweeps of pairs of bodies with at least one height field.
#[derive(Debug)]
pub(crate) struct FieldSweeps {
    pub(crate) crowd: Crowd,
    /// One for each body.
    pub(crate) motions: Vec<Motion>,
    pub(crate) options: SweepOptions,
    /// Numbered pairs of bodies.
    pub(crate) pairs: Vec<(usize, [u32; 2])>,
}

/// Rows with the numbers of their pairs of bodies.
pub(crate) type Numbered = Vec<(usize, PartPair<Sweep>)>;

/// What is left of a query.
#[derive(Debug)]
struct Job {
    sweeps: FieldSweeps,
    /// First pair of bodies that was not searched yet.
    next: usize,
    /// Pairs of parts that were found, and not swept yet.
    open: Vec<Found>,
    rows: Numbered,
    stats: Stats,
}

impl FieldSweeps {
    /// The rows of the parts that meet, and counts of their pairs.
    pub(crate) fn run(self) -> Result<Pending<(Numbered, Stats)>> {
        let job = Job { sweeps: self, next: 0, open: Vec::new(), rows: Vec::new(), stats: Stats::default() };
        Pending::rounds(job, |mut job: Job| {
            job.search()?;
            match job.open.is_empty() {
                true => Ok(Round::Done((job.rows, job.stats))),
                false => job.sweep().map(Round::Next),
            }
        })
    }

    fn duration(&self) -> f64 {
        f64::from(self.options.duration)
    }

    /// The motion of a body; statics have none.
    fn motion(&self, id: u32) -> Motion {
        self.motions.get(id as usize).copied().unwrap_or_default()
    }

    /// The angle that a body turns by, in radians.
    fn angle(&self, id: u32) -> f64 {
        DVec3::from(self.motion(id).angular_velocity.map(f64::from)).length() * self.duration()
    }

    fn velocity(&self, id: u32) -> DVec3 {
        DVec3::from(self.motion(id).velocity.map(f64::from))
    }

    /// The height field that a body is.
    fn field(&self, id: u32) -> Option<(&Field, FieldBody)> {
        let (body, placement) = self.crowd.body(id)?;
        let field = self.crowd.shapes[body.compound as usize].field()?;
        Some((field, FieldBody { id, body: *body, placement: *placement }))
    }

    /// World position of a body or a static of the arena, which is that of the point that it turns about.
    fn position(&self, id: u32) -> DVec3 {
        match self.crowd.body(id) {
            Some((_, placement)) => placement.position,
            None => self.fixed(id).1,
        }
    }

    /// A static of the arena.
    fn fixed(&self, id: u32) -> (&Body, DVec3) {
        let at = id as usize - self.crowd.bodies.len();
        let options = self.crowd.arena.options();
        let body = &options.statics[at];
        let position = match options.static_positions.get(at) {
            Some(&position) => DVec3::from(position),
            None => DVec3::from(body.position.map(f64::from)),
        };
        (body, position)
    }

    /// The box of the whole motion of a body, relative to the origin of the crowd.
    ///
    /// A point of the box at the start is no farther from the body's position than the farthest corner, and stays as far however the body turns. And
    /// turning moves it by the chord of that distance at most.
    fn swept_box(&self, id: u32) -> CenteredBox {
        let Some(placed) = self.crowd.placed(id) else { return CenteredBox::default() };
        let (mut around, pivot) = (placed.bounds(), placed.position);
        let angle = self.angle(id);
        if angle > 0.0 {
            let reach = ((around.middle - pivot).abs() + around.half).length() * (1.0 + 1e-12);
            let wide = around.grown(reach * angle.min(2.0));
            let least = (wide.middle - wide.half).max(pivot - reach);
            around = CenteredBox::between(least, (wide.middle + wide.half).min(pivot + reach));
        }
        let way = self.velocity(id) * self.duration();
        let (least, most) = (around.middle - around.half, around.middle + around.half);
        CenteredBox::between(least.min(least + way), most.max(most + way))
    }

    /// Calls `found` with each triangle of a field that a ball may touch, which a body carries. `middle` is from the field's position to the ball's
    /// middle at the start, world axes.
    fn near(
        &self,
        (field, body): (&Field, &FieldBody),
        carrier: u32,
        (middle, radius): (DVec3, f64),
        found: &mut impl FnMut(u32),
    ) {
        let duration = self.duration();
        let pivot = self.position(carrier) - body.placement.position;
        let arm = (middle - pivot).length();
        let angle = self.angle(carrier);
        // The line that the middle is near, and how near.
        let (mut start, mut off) = if angle < 1.0 { (middle, arm * angle) } else { (pivot, arm) };
        let mut velocity = self.velocity(carrier) - self.velocity(body.id);
        let turned = self.angle(body.id);
        if turned > 0.0 {
            let farthest = start.length().max((start + velocity * duration).length()) + off;
            if turned < 1.0 {
                off += farthest * turned;
            } else {
                (start, velocity, off) = (DVec3::ZERO, DVec3::ZERO, farthest);
            }
        }
        let Placement { turn, scale, .. } = body.placement;
        let back = turn.transpose() * (1.0 / scale);
        let (start, direction) = (back * start, back * velocity);
        let rounded = ROUNDED * (start.length() + direction.length() * duration);
        let grow = body.reach_of(field, radius + off) + rounded;
        field.visit_line(start, direction, grow, &mut Along { duration, found });
    }

    /// Finds the pairs of parts that may meet, for two bodies of which at least one is a height field.
    fn find(&self, (row, bodies): (usize, [u32; 2]), found: &mut Vec<Found>) {
        let is_second = self.field(bodies[1]).is_some();
        let [other, of_field] = if is_second { bodies } else { [bodies[1], bodies[0]] };
        let Some((field, body)) = self.field(of_field) else { return };
        let mut add = |part: u32, triangle: u32| {
            let parts = if is_second { [part, triangle] } else { [triangle, part] };
            found.push(Found { row, bodies, parts });
        };
        if let Some((askers, asker)) = self.field(other) {
            let mut parts = Vec::new();
            let (middle, size) = (field.bounds.middle, field.bounds.half.length());
            let between = body.placement.position - asker.placement.position;
            let ball = self.ball_of(&body, middle, size, between);
            self.near((askers, &asker), of_field, ball, &mut |part| parts.push(part));
            for part in parts {
                let (middle, size) = askers.ball(part);
                let ball = self.ball_of(&asker, middle, size + askers.rounding(), -between);
                self.near((field, &body), other, ball, &mut |triangle| add(part, triangle));
            }
            return;
        }
        for (part, hull, position) in self.hulls(other) {
            let frame = Frame::at(&self.crowd.arena.hulls()[hull.hull as usize], &hull, position);
            if self.crowd.is_half_space(&hull) {
                self.above_plane((field, &body), &hull, position, &mut |triangle| add(part, triangle));
                continue;
            }
            let middle = (position - body.placement.position) + frame.offset;
            let ball = (middle, frame.radius);
            self.near((field, &body), other, ball, &mut |triangle| add(part, triangle));
        }
    }

    /// A ball of a field's frame in the world, and `between` added to its middle about the field's position.
    fn ball_of(&self, body: &FieldBody, middle: DVec3, size: f64, between: DVec3) -> (DVec3, f64) {
        let Placement { turn, scale, padding, .. } = body.placement;
        let radius = (scale * size + padding) * (1.0 + SHARE) + body.placement.rounding();
        (between + turn * (scale * middle), radius)
    }

    /// The parts of a body that is no field, or a static of the arena, as hulls with their positions.
    fn hulls(&self, id: u32) -> Vec<(u32, Body, DVec3)> {
        let Some((body, placement)) = self.crowd.body(id) else {
            let (body, position) = self.fixed(id);
            return vec![(0, *body, position)];
        };
        let Some(list) = self.crowd.shapes[body.compound as usize].list() else { return Vec::new() };
        let place = |(part, (own, turn))| {
            let (hull, position) = placement.part(own, turn, body.group, body.mask);
            (part, hull, DVec3::from(position))
        };
        (0..).zip(list.parts.iter().zip(&list.turns)).map(place).collect()
    }

    /// Calls `found` with each triangle of a field that may come down to a half-space, which does not move. The height of a corner above the
    /// plane changes at a constant rate while the field does not turn. Turning by an angle adds at most the chord of that angle on the circle
    /// on which the corner moves about the field's position.
    fn above_plane(
        &self,
        (field, body): (&Field, &FieldBody),
        plane: &Body,
        position: DVec3,
        found: &mut impl FnMut(u32),
    ) {
        let Placement { turn, scale, padding, .. } = body.placement;
        let up = rotation(plane.rotation) * DVec3::Y;
        let off = body.placement.position - position;
        let falls = up.dot(self.velocity(body.id) * self.duration()).min(0.0);
        let chord = self.angle(body.id).min(2.0);
        let paddings = padding + f64::from(plane.padding);
        let slack = SHARE * (scale * field.reach() + paddings)
            + body.placement.rounding()
            + scale * field.rounding()
            + ROUNDED * (off.length() - falls);
        field.all_parts(|part| {
            let Some(corners) = field.corners(part) else { return };
            let least = corners.into_iter().fold(f64::INFINITY, |least, corner| {
                let arm = turn * (scale * corner);
                least.min(up.dot(off + arm) - chord * arm.length())
            });
            if least + falls - paddings <= slack {
                found(part);
            }
        });
    }
}

impl Job {
    /// Searches pairs of bodies until a window is full.
    fn search(&mut self) -> Result<()> {
        let budget = RowBudget::new::<Found>(self.sweeps.crowd.arena.engine().answer_limit());
        while self.open.len() < WINDOW
            && let Some(&pair) = self.sweeps.pairs.get(self.next)
        {
            let before = self.open.len();
            self.sweeps.find(pair, &mut self.open);
            budget.add(self.open.len() - before);
            budget.check()?;
            self.next += 1;
        }
        Ok(())
    }

    /// Sweeps a window of the pairs of parts that are open.
    fn sweep(mut self) -> Result<Pending<Self>> {
        let rest = self.open.split_off(self.open.len().min(WINDOW));
        let found = std::mem::replace(&mut self.open, rest);
        let mut instances = self.sweeps.crowd.place(&found)?;
        put_in_order(&mut instances);
        let sweeps = &self.sweeps;
        let motions: Vec<Motion> = instances.names.iter().map(|&id| sweeps.motion(id)).collect();
        let levers = levers(
            &motions,
            instances
                .names
                .iter()
                .zip(&instances.positions)
                .map(|(&id, &position)| DVec3::from(position) - sweeps.position(id)),
        );
        let options = sweeps.options;
        let ask = move |arena: &Arena, columns: BodyColumns<'_>, pairs: Pairs<'_>| {
            arena.sweeps_with_levers(
                columns,
                Moves { levers: &levers, ..Moves::new(&motions) },
                pairs,
                &options,
            )
        };
        let pending = instances.ask(&sweeps.crowd.arena, &ask)?;
        Ok(pending.chain(move |batch: Batch<Sweep>| {
            self.stats.add(&batch.stats);
            if batch.rows.len() != found.len() {
                return Err(Error::internal("collide::compound::field_sweeps", "a pair without a row"));
            }
            let budget =
                RowBudget::new::<(usize, PartPair<Sweep>)>(self.sweeps.crowd.arena.engine().answer_limit());
            let named =
                found.into_iter().zip(batch.rows).filter(|(_, row)| row.outcome != SweepOutcome::Miss);
            self.rows.extend(named.map(
                |(Found { row: number, bodies: [a, b], parts: [part_a, part_b] }, row)| {
                    (number, PartPair { part_a, part_b, row: Sweep { a, b, ..row } })
                },
            ));
            budget.add(self.rows.len());
            budget.check()?;
            Ok(Pending::ready(self))
        }))
    }
}

/// Puts the parts into the order of their bodies: of a pair the lower goes first in a sweep, here as in a query over all parts.
fn put_in_order(instances: &mut Instances) {
    let count = instances.names.len() as u32;
    let mut order: Vec<u32> = (0..count).collect();
    order.sort_by_key(|&at| instances.names[at as usize]);
    let mut places = vec![0; order.len()];
    (0..).zip(&order).for_each(|(place, &at)| places[at as usize] = place);
    let each = || order.iter().map(|&at| at as usize);
    instances.bodies = each().map(|at| instances.bodies[at]).collect();
    instances.positions = each().map(|at| instances.positions[at]).collect();
    instances.names = each().map(|at| instances.names[at]).collect();
    for id in instances.pairs.iter_mut().flatten() {
        *id = places.get(*id as usize).copied().unwrap_or(*id);
    }
}

/// The levers of parts that turn with their bodies: see [`Moves`]. Empty where all are 0.
pub(crate) fn levers(motions: &[Motion], arms: impl Iterator<Item = DVec3>) -> Vec<DVec3> {
    let lever = |(motion, arm): (&Motion, DVec3)| match motion.angular_velocity == [0.0; 3] {
        true => DVec3::ZERO,
        false => arm,
    };
    let levers: Vec<DVec3> = motions.iter().zip(arms).map(lever).collect();
    if levers.iter().all(|lever| *lever == DVec3::ZERO) { Vec::new() } else { levers }
}

/// Gathers the triangles along a line until the end of a sweep.
struct Along<'a, F> {
    duration: f64,
    found: &'a mut F,
}

impl<F: FnMut(u32)> TriangleVisit for Along<'_, F> {
    fn limit(&self) -> f64 {
        self.duration
    }

    fn triangle(&mut self, part: u32) {
        (self.found)(part);
    }
}

impl FieldSweeps {
    /// Lists the pairs of bodies with at least one height field that groups and masks, worlds and exclusions accept, and whose swept boxes
    /// overlap.
    pub(crate) fn list_pairs(&mut self, worlds: &[u32], rules: &NearRules) -> Result<()> {
        let count = self.crowd.bodies.len() as u32;
        let fields: Vec<u32> = (0..self.crowd.end()).filter(|&id| self.field(id).is_some()).collect();
        let boxes: Vec<Aabb> = fields.iter().map(|&id| self.swept_box(id).rounded()).collect();
        let mut tree = Tree::default();
        tree.rebuild(&boxes);
        let budget = RowBudget::new::<(usize, [u32; 2])>(self.crowd.arena.engine().answer_limit());
        let world = |id: u32| worlds.get(id as usize);
        let mut pairs = Vec::new();
        for id in 0..self.crowd.end() {
            let before = pairs.len();
            let is_field = self.field(id).is_some();
            let [group, mask] = self.crowd.groups(id);
            let mut meet = |other: u32| {
                let [low, high] = [id.min(other), id.max(other)];
                let [of_other, meets] = self.crowd.groups(other);
                let is_new = low < count && low != high && (!is_field || id < other);
                let is_apart = high < count && world(low) != world(high);
                if is_new && !is_apart && group & meets != 0 && of_other & mask != 0 && rules.allow(low, high)
                {
                    pairs.push((0, [low, high]));
                }
            };
            match self.crowd.fixed(id) {
                Some(plane) if plane.is_plane() => fields.iter().for_each(|&field| meet(field)),
                fixed => {
                    let query = fixed.copied().unwrap_or_else(|| self.swept_box(id).rounded());
                    let mut meeting =
                        Meeting { tree: &tree, query: &query, found: |at: u32| meet(fields[at as usize]) };
                    tree.visit(&query, 0, &mut meeting);
                }
            }
            budget.add(pairs.len() - before);
            budget.check()?;
        }
        self.pairs = pairs;
        Ok(())
    }

    /// Keeps those given pairs of bodies that have at least one height field, with their numbers.
    pub(crate) fn take_given(&mut self, pairs: &[[u32; 2]]) {
        let is_field = |&(_, pair): &(usize, [u32; 2])| pair.iter().any(|&id| self.field(id).is_some());
        self.pairs = pairs.iter().copied().enumerate().filter(is_field).collect();
    }
}

/// Calls `found` for each box of a tree that overlaps another.
struct Meeting<'a, F> {
    tree: &'a Tree,
    query: &'a Aabb,
    found: F,
}

impl<F: FnMut(u32)> Visit for Meeting<'_, F> {
    fn leaf(&mut self, leaf: usize) {
        let mut lanes = self.tree.levels[0][leaf].overlaps(self.query);
        while lanes != 0 {
            (self.found)(self.tree.order[leaf * WIDTH + lanes.trailing_zeros() as usize]);
            lanes &= lanes - 1;
        }
    }
}
