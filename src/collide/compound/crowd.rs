//! The bodies of a query over compounds: which pairs of them, and which pairs of their parts, may meet.

use std::collections::HashMap;
use std::sync::Arc;

use glam::DVec3;

use crate::collide::broad_phase::cpu::BroadPhase;
use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::static_tree::StaticBoxes;
use crate::collide::compound::body::{CompoundBody, Placement};
use crate::collide::compound::field_scenes::FieldScenes;
use crate::collide::compound::search::{Placed, any_part, near_parts, part_pairs, parts_near_static};
use crate::collide::compound::shape::Shape;
use crate::collide::compound::statics::StaticCompounds;
use crate::collide::hull::{Dimension, Hull};
use crate::collide::narrow_phase::rows::Batch;
use crate::collide::query::arena::Arena;
use crate::collide::scene::body::Body;
use crate::collide::scene::bounds::half;
use crate::collide::scene::budget::RowBudget;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::pairs::{Pairs, check};
use crate::collide::scene::rules::PairRules;
use crate::error::{Error, Location, Result};
use crate::parallel::{map_chunks, map_shares};
use crate::pending::Pending;

/// Pairs of parts that a GPU measures together.
const WINDOW: usize = 1 << 20;
/// The same on the CPU, so that the parts stay in its cache.
const CPU_WINDOW: usize = 1 << 14;
/// Pairs of bodies that one task searches.
const TASK: usize = 64;
/// Bodies that a thread takes at least.
pub(crate) const SHARE: usize = 256;

/// A pair of parts in a window, and the pair of bodies that it is of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    /// Number of the pair of bodies.
    pub(crate) row: usize,
    pub(crate) bodies: [u32; 2],
    pub(crate) parts: [u32; 2],
}

/// Asks the arena for rows of given pairs.
pub(crate) trait Ask<R>:
    Fn(&Arena, BodyColumns<'_>, Pairs<'_>) -> Result<Pending<Batch<R>>> + Send + Sync + 'static
{
}

impl<R, F: Fn(&Arena, BodyColumns<'_>, Pairs<'_>) -> Result<Pending<Batch<R>>> + Send + Sync + 'static> Ask<R>
    for F
{
}

/// The bodies of a query.
#[derive(Debug)]
pub(crate) struct Crowd {
    /// With its statics about the origin.
    pub(crate) arena: Arena,
    pub(crate) listing: Arena,
    /// What boxes are relative to.
    pub(crate) origin: DVec3,
    pub(crate) shapes: Arc<[Arc<Shape>]>,
    /// Where a shape may be a height field.
    pub(crate) fields: Option<Arc<FieldScenes>>,
    pub(crate) bodies: Vec<CompoundBody>,
    pub(crate) placements: Vec<Placement>,
    /// Compounds that do not move: they follow the arena's statics.
    pub(crate) statics: Option<Arc<StaticCompounds>>,
    pub(crate) margin: f64,
    /// Which bodies may meet, by their places in the order of their worlds.
    pub(crate) rules: Arc<PairRules>,
    /// The row of the body at each place; empty where they are in order.
    pub(crate) order: Vec<u32>,
    pub(crate) slots: Slots,
}

/// No place in a list.
const NONE: u32 = u32::MAX;

/// Where the parts of a window are in the list of its instances. The memory is that of the crowd, and only what a window wrote is cleared after
/// it: windows are many, and a window names few of many bodies.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    /// Where the parts of each body begin in `of_parts`.
    begins: Vec<u32>,
    /// The bodies that begin somewhere.
    begun: Vec<u32>,
    of_parts: Vec<u32>,
    /// Those of triangles of height fields, of which few are used.
    of_triangles: HashMap<[u32; 2], u32>,
}

impl Slots {
    /// Makes room for so many bodies.
    fn begin(&mut self, body_count: u32) {
        self.begins.resize(body_count as usize, NONE);
    }

    /// The slot of a part of a body of so many parts.
    fn of_part(&mut self, body: u32, part: u32, part_count: usize) -> &mut u32 {
        let begin = &mut self.begins[body as usize];
        if *begin == NONE {
            *begin = self.of_parts.len() as u32;
            self.begun.push(body);
            self.of_parts.resize(self.of_parts.len() + part_count, NONE);
        }
        &mut self.of_parts[(*begin + part) as usize]
    }

    fn clear(&mut self) {
        for body in self.begun.drain(..) {
            self.begins[body as usize] = NONE;
        }
        self.of_parts.clear();
        self.of_triangles.clear();
    }
}

impl Crowd {
    /// The compound body `id`, static or not; `None` for a static of the arena.
    pub(crate) fn body(&self, id: u32) -> Option<(&CompoundBody, &Placement)> {
        let id = id as usize;
        if id < self.bodies.len() {
            return Some((&self.bodies[id], &self.placements[id]));
        }
        let statics = self.statics.as_ref()?;
        let at = id.checked_sub(self.first_compound() as usize)?;
        Some((statics.bodies.get(at)?, statics.placements.get(at)?))
    }

    /// The id of the first compound that does not move.
    fn first_compound(&self) -> u32 {
        (self.bodies.len() + self.arena.statics().len()) as u32
    }

    /// One past the last id.
    pub(crate) fn end(&self) -> u32 {
        self.first_compound() + self.statics.as_ref().map_or(0, |statics| statics.bodies.len() as u32)
    }

    /// The compound body `id`, static or not, where it is.
    pub(crate) fn placed(&self, id: u32) -> Option<Placed<'_>> {
        let (body, placement) = self.body(id)?;
        let shape = &self.shapes[body.compound as usize];
        Some(Placed { shape, placement, position: placement.position - self.origin })
    }

    /// How many pairs of parts are measured together.
    pub(crate) fn window(&self) -> usize {
        if self.arena.gpu.is_some() { WINDOW } else { CPU_WINDOW }
    }

    /// How many pairs of bodies are begun with two parts each.
    pub(crate) fn round(&self) -> usize {
        // A body may be near very many triangles.
        if self.fields.is_some() { 64 } else { self.window() / 16 }
    }

    /// The row of the body or the static at a place.
    fn row_at(&self, place: u32) -> u32 {
        self.order.get(place as usize).copied().unwrap_or(place)
    }

    /// The box of a static, relative to the origin.
    pub(crate) fn fixed(&self, id: u32) -> Option<&Aabb> {
        self.arena.statics.as_ref()?.boxes.boxes().get((id as usize).checked_sub(self.bodies.len())?)
    }

    /// The pairs of bodies to search.
    pub(crate) fn body_pairs(&self, pairs: Pairs<'_>) -> Result<Vec<[u32; 2]>> {
        let (count, statics) = (self.bodies.len() as u32, self.arena.statics());
        let all = self.end();
        if let Pairs::Given(pairs) = pairs {
            let hulls = self.arena.hulls();
            let is_plane = |id: u32| {
                let fixed = id.checked_sub(count).and_then(|at| statics.get(at as usize));
                fixed.is_some_and(|body| hulls[body.hull as usize].dimension() == Dimension::HalfSpace)
            };
            check(pairs, all as usize, self.arena.scene.has_half_space, is_plane)?;
            return Ok(pairs.to_vec());
        }
        let budget = RowBudget::new::<[u32; 2]>(self.arena.engine().answer_limit());
        if self.margin == f64::INFINITY {
            return self.all_pairs(all, &budget);
        }
        let none = StaticBoxes::default();
        let fixed = self.arena.statics.as_ref().map_or(&none, |statics| &statics.boxes);
        let both = self.statics.as_ref();
        let both = both.map(|statics| statics.boxes_about(self.origin, fixed.boxes(), &self.shapes));
        let fixed = both.as_deref().unwrap_or(fixed);
        let grow = half(self.margin);
        let mut search = BroadPhase::default();
        let rows: Vec<u32> = (0..count).map(|place| self.row_at(place)).collect();
        search.rules = Arc::clone(&self.rules);
        *search.boxes() = map_shares(&rows, SHARE, |&row| {
            let around = self.placed(row).map(|placed| placed.bounds()).unwrap_or_default();
            let body = &self.bodies[row as usize];
            Aabb { group: body.group, mask: body.mask, ..around.grown(f64::from(grow)).rounded() }
        });
        search.begin(fixed, grow);
        let mut found = Vec::new();
        while let Some(pairs) = search.next(fixed, grow) {
            budget.add(pairs.len());
            budget.check()?;
            found.extend(pairs.iter().map(|pair| pair.map(|place| self.row_at(place))));
        }
        Ok(found)
    }

    /// The groups of a body or a static, and those that it meets.
    pub(crate) fn groups(&self, id: u32) -> [u32; 2] {
        match self.body(id) {
            Some((body, _)) => [body.group, body.mask],
            None => {
                let body = &self.arena.statics()[id as usize - self.bodies.len()];
                [body.group, body.mask]
            }
        }
    }

    /// Whether a hull is a half-space.
    pub(crate) fn is_half_space(&self, body: &Body) -> bool {
        self.arena.hulls()[body.hull as usize].dimension() == Dimension::HalfSpace
    }

    /// All pairs of bodies, and of bodies and statics, that groups and masks, worlds and exclusions accept.
    fn all_pairs(&self, all: u32, budget: &RowBudget) -> Result<Vec<[u32; 2]>> {
        let mut found = Vec::new();
        let count = self.bodies.len() as u32;
        for place in 0..count {
            let a = self.row_at(place);
            let [group, mask] = self.groups(a);
            let before = found.len();
            let others = (place + 1..self.rules.end_of(place, count)).chain(count..all);
            let allowed = others.filter(|&other| self.rules.allows(place, other));
            found.extend(allowed.map(|other| [a, self.row_at(other)]).filter(|&[_, b]| {
                let [other, meets] = self.groups(b);
                group & meets != 0 && other & mask != 0
            }));
            budget.add(found.len() - before);
            budget.check()?;
        }
        Ok(found)
    }

    /// Appends the pairs of parts of a pair of bodies that may touch or be within a distance.
    fn find_parts(&self, bodies: [u32; 2], within: f64, pairs: &mut Vec<[u32; 2]>) {
        let near_static = |placed: &Placed<'_>, id: u32| {
            let mut parts = Vec::new();
            if let Some(fixed) = self.fixed(id) {
                parts_near_static(placed, fixed, within, &mut parts);
            }
            parts
        };
        match (self.placed(bodies[0]), self.placed(bodies[1])) {
            (Some(a), Some(b)) => part_pairs(&a, &b, within, pairs),
            (Some(a), None) => pairs.extend(near_static(&a, bodies[1]).into_iter().map(|part| [part, 0])),
            (None, Some(b)) => pairs.extend(near_static(&b, bodies[0]).into_iter().map(|part| [0, part])),
            (None, None) => pairs.push([0, 0]),
        }
    }

    /// The pairs of parts of numbered pairs of bodies, in order. `within` has a limit for each pair of bodies, or is empty.
    pub(crate) fn find_all(&self, body_pairs: &[(usize, [u32; 2])], within: &[f64]) -> Vec<Found> {
        let rows: Vec<(usize, (usize, [u32; 2]))> = body_pairs.iter().copied().enumerate().collect();
        let tasks = map_chunks(&rows, TASK, |rows| {
            let (mut pairs, mut found) = (Vec::new(), Vec::new());
            for &(at, (row, bodies)) in rows {
                let within = within.get(at).map_or(self.margin, |within| within.min(self.margin));
                pairs.clear();
                self.find_parts(bodies, within, &mut pairs);
                found.extend(pairs.iter().map(|&parts| Found { row, bodies, parts }));
            }
            found
        });
        tasks.concat()
    }

    /// The number of pairs of parts of some pairs of bodies, all of which are asked for.
    pub(crate) fn pair_total(&self, body_pairs: &[[u32; 2]]) -> u64 {
        let count =
            |id: u32| self.body(id).map_or(1, |(body, _)| self.shapes[body.compound as usize].part_count());
        body_pairs.iter().fold(0, |sum: u64, &[a, b]| sum.saturating_add(count(a).saturating_mul(count(b))))
    }

    /// Two parts near one another for each pair of bodies.
    pub(crate) fn near(&self, body_pairs: &[(usize, [u32; 2])]) -> Vec<Found> {
        map_shares(body_pairs, TASK, |&(row, bodies)| {
            let parts = match (self.placed(bodies[0]), self.placed(bodies[1])) {
                (Some(a), Some(b)) => near_parts(&a, &b),
                (a, b) => [a, b].map(|placed| placed.map_or(0, |placed| any_part(&placed))),
            };
            Found { row, bodies, parts }
        })
    }

    /// Makes a body of each part that these pairs name, once, with its position in f64. The pairs then name these bodies.
    ///
    /// # Errors
    /// Those of hulls, where a triangle of a height field is none.
    pub(crate) fn place(&mut self, found: &[Found]) -> Result<Instances> {
        let mut slots = std::mem::take(&mut self.slots);
        slots.begin(self.end());
        let mut used: Vec<[u32; 2]> = Vec::new();
        let mut pairs = Vec::with_capacity(found.len());
        for &Found { bodies, parts, .. } in found {
            let mut pair = bodies;
            for k in 0..2 {
                let Some((body, _)) = self.body(bodies[k]) else { continue };
                let slot = match self.shapes[body.compound as usize].list() {
                    Some(list) => slots.of_part(bodies[k], parts[k], list.parts.len()),
                    None => slots.of_triangles.entry([bodies[k], parts[k]]).or_insert(NONE),
                };
                if *slot == NONE {
                    *slot = used.len() as u32;
                    used.push([bodies[k], parts[k]]);
                }
                pair[k] = *slot;
            }
            pairs.push(pair);
        }
        let has_triangles = !slots.of_triangles.is_empty();
        slots.clear();
        self.slots = slots;
        // The arena's statics follow the parts.
        let (own, count) = (self.bodies.len() as u32, used.len() as u32);
        let fixed = own..self.first_compound();
        for (pair, Found { bodies, .. }) in pairs.iter_mut().zip(found) {
            for (id, body) in pair.iter_mut().zip(bodies) {
                if fixed.contains(body) {
                    *id = count + (body - own);
                }
            }
        }
        let names = used.iter().map(|&[body, _]| body).collect();
        if has_triangles {
            return self.place_with_triangles(&used, pairs, names);
        }
        let (bodies, positions) = map_shares(&used, SHARE, |&[id, part]| {
            // Each is a part of a compound.
            let listed = self.body(id).and_then(|(body, placement)| {
                Some((body, placement, self.shapes[body.compound as usize].list()?))
            });
            let Some((body, placement, list)) = listed else { return (Body::new(0), [0.0; 3]) };
            let part = part as usize;
            placement.part(&list.parts[part], &list.turns[part], body.group, body.mask)
        })
        .into_iter()
        .unzip();
        Ok(Instances { bodies, positions, pairs, names, triangles: None })
    }

    /// The same where some parts are triangles of height fields.
    fn place_with_triangles(
        &self,
        used: &[[u32; 2]],
        pairs: Vec<[u32; 2]>,
        names: Vec<u32>,
    ) -> Result<Instances> {
        let Some(scenes) = &self.fields else {
            return Err(Error::internal("collide::compound::Crowd::place", "a triangle without a field"));
        };
        let placed = map_shares(used, SHARE, |&[id, part]| {
            let Some((body, placement)) = self.body(id) else {
                return Err(Error::internal("collide::compound::Crowd::place", "a part of no body"));
            };
            match &*self.shapes[body.compound as usize] {
                Shape::Parts(list) => {
                    let (part, turn) = (&list.parts[part as usize], &list.turns[part as usize]);
                    let (part, position) = placement.part(part, turn, body.group, body.mask);
                    Ok((None, part, position))
                }
                Shape::Field(field) => {
                    let (hull, part, position) = field.part(body, placement, part, 0)?;
                    Ok((Some(hull), part, position))
                }
            }
        });
        let (mut bodies, mut positions) = (Vec::with_capacity(used.len()), Vec::with_capacity(used.len()));
        let mut triangles = Vec::new();
        for part in placed {
            let (hull, mut body, position) = part?;
            if let Some(hull) = hull {
                body.hull = (scenes.hull_count() + triangles.len()) as u32;
                triangles.push(hull);
            }
            bodies.push(body);
            positions.push(position);
        }
        let triangles = Some((Arc::clone(scenes), triangles));
        Ok(Instances { bodies, positions, pairs, names, triangles })
    }
}

/// Parts as bodies of their own.
#[derive(Debug)]
pub(crate) struct Instances {
    pub(crate) bodies: Vec<Body>,
    pub(crate) positions: Vec<[f64; 3]>,
    pub(crate) pairs: Vec<[u32; 2]>,
    /// The body that each is a part of.
    pub(crate) names: Vec<u32>,
    /// The hulls among them that are not the arena's.
    pub(crate) triangles: Option<(Arc<FieldScenes>, Vec<Hull>)>,
}

impl Instances {
    /// Asks an arena for rows of the pairs. Triangles of height fields are measured on the CPU.
    pub(crate) fn ask<R: Send + 'static>(
        &mut self,
        arena: &Arena,
        ask: &impl Ask<R>,
    ) -> Result<Pending<Batch<R>>> {
        let Some((scenes, triangles)) = self.triangles.take() else { return self.ask_as_is(arena, ask) };
        let scene = scenes.with(triangles)?;
        let found = self.ask_as_is(&arena.over(Arc::clone(&scene)), ask)?;
        Ok(found.chain(move |found| {
            scenes.give_back(scene);
            Ok(Pending::ready(found))
        }))
    }

    fn ask_as_is<R>(&self, arena: &Arena, ask: &impl Ask<R>) -> Result<Pending<Batch<R>>> {
        let columns = BodyColumns { positions: &self.positions, ..BodyColumns::new(&self.bodies) };
        let name = |at: Location| match at {
            Location::Body(row) => Location::Body(self.names.get(row).map_or(row, |&body| body as usize)),
            at => at,
        };
        ask(arena, columns, Pairs::Given(&self.pairs)).map_err(|error| error.moved(name))
    }
}
