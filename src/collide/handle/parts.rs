//! The parts of all bodies of a scene as hulls of their own, laid out for the engines and kept from query to query.
//!
//! Places come in this order: parts of bodies that move, by worlds where there are several, then by rows; then parts of fixed bodies, by rows.
//! Fixed bodies of one world of several stand among those that move. The triangles of height fields have no places.

use std::sync::Arc;

use glam::DVec3;

use crate::collide::bvh::aabb::Aabb;
use crate::collide::handle::body::Body;
use crate::collide::handle::rows::Names;
use crate::collide::handle::rules::{Excluded, Placed, rules};
use crate::collide::handle::shapes::{LaidOut, ShapeTable};
use crate::collide::query::gpu::arena::GpuArena;
use crate::collide::scene::body::Body as Instance;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::far::{lay_out_about, origin_of_sample, sample};
use crate::collide::scene::frame::Frame;
use crate::collide::scene::moving::MovingBoxes;
use crate::collide::scene::placed_bounds::placed_aabbs_into;
use crate::collide::scene::query_input::{QueryInput, Shared};
use crate::collide::scene::rules::PairRules;
use crate::collide::scene::statics::Statics;
use crate::error::{Error, Result};

/// No place.
const NONE: u32 = u32::MAX;

/// The parts of all bodies.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    /// What queries read. Rows of answers name leaves: parts in the order of rows and parts.
    input: QueryInput,
    /// Row and part of each leaf.
    pub(crate) names: Shared<[u32; 2]>,
    /// Whether a leaf is a row, and has one part.
    pub(crate) is_plain: bool,
    /// Place of the first part of each row; [`NONE`] where it has none.
    places: Shared<u32>,
    /// The device's hulls, with the fixed bodies.
    pub(crate) gpu: Option<Arc<GpuArena>>,
    /// Rows by which the origin is chosen.
    sampled: Shared<u32>,
    /// Whether a query has walked a tree over the places.
    is_walked: bool,
    /// For rays and points, made when first needed.
    frames: Option<Shared<Frame>>,
    /// Worlds of the places of bodies that move.
    pub(crate) worlds: Shared<u32>,
    /// Rows of the height fields, ascending.
    pub(crate) field_rows: Shared<u32>,
    /// Which rows may meet, as far as owners and exclusions say.
    pub(crate) row_rules: Arc<PairRules>,
    /// Whether each row holds a body.
    held: Shared<bool>,
    /// The world of all, where there is one.
    pub(crate) only_world: Option<u32>,
}

impl Parts {
    /// Lays out the bodies in these rows, ascending. They must have been checked.
    pub(crate) fn new(
        table: &ShapeTable,
        bodies: &[Body],
        rows: &[u32],
        excluded: &Excluded<'_>,
    ) -> Result<Self> {
        let body = |row: u32| &bodies[row as usize];
        let mut world_ids: Vec<u32> =
            rows.iter().map(|&row| body(row).world).filter(|&world| world != Body::EVERY_WORLD).collect();
        world_ids.sort_unstable();
        world_ids.dedup();
        let has_worlds = world_ids.len() > 1;
        let stays = |row: u32| body(row).fixed && (!has_worlds || body(row).world == Body::EVERY_WORLD);
        let placed = |&row: &u32| Placed { row, part_count: table.part_count(body(row).shape) as u32 };
        let total: u64 = rows.iter().map(|&row| table.part_count(body(row).shape) as u64).sum();
        let limit = u64::from(u32::MAX);
        if total > limit {
            return Err(Error::TooMany { what: "parts", count: total, limit });
        }
        let (still, mut moving): (Vec<Placed>, Vec<Placed>) =
            rows.iter().map(placed).partition(|placed| stays(placed.row));
        // Without bodies that move, amid the fixed ones.
        let by = if moving.is_empty() { &still } else { &moving };
        let sizable = by.iter().map(|placed| placed.row).filter(|&row| !table.is_half_space(body(row).shape));
        let sampled: Vec<u32> = sample(sizable).collect();
        let origin = origin_of_rows(bodies, &sampled);
        if has_worlds {
            moving.sort_by_key(|placed| body(placed.row).world);
        }
        let (pair_rules, row_rules) = rules(bodies, &moving, &still, has_worlds, excluded);
        let field_rows = rows.iter().copied().filter(|&row| table.field(body(row).shape).is_some()).collect();
        let mut held = vec![false; bodies.len()];
        rows.iter().for_each(|&row| held[row as usize] = true);
        let mut first_leaf = vec![0; bodies.len()];
        let (mut names, mut is_plain) = (Vec::with_capacity(total as usize), true);
        for &row in rows {
            let part_count = table.part_count(body(row).shape) as u32;
            first_leaf[row as usize] = names.len() as u32;
            is_plain &= part_count == 1 && names.len() as u32 == row;
            names.extend((0..part_count).map(|part| [row, part]));
        }
        let mut places = vec![NONE; bodies.len()];
        let (mut order, mut worlds) = (Vec::with_capacity(names.len()), Vec::new());
        let (mut instances, mut positions) =
            (Vec::with_capacity(names.len()), Vec::with_capacity(names.len()));
        for placed in moving.iter().chain(&still) {
            let first = first_leaf[placed.row as usize];
            if placed.part_count > 0 {
                places[placed.row as usize] = order.len() as u32;
            }
            order.extend(first..first + placed.part_count);
            if has_worlds && !stays(placed.row) {
                worlds.resize(order.len(), body(placed.row).world);
            }
            place_parts(table, body(placed.row), |instance, position| {
                instances.push(instance);
                positions.push(position);
            });
        }
        let mover_count = moving.iter().map(|placed| placed.part_count as usize).sum();
        let mut made = Self {
            input: QueryInput::of_scene(mover_count, origin, Arc::new(pair_rules)),
            names: Arc::new(names),
            is_plain,
            places: Arc::new(places),
            gpu: table.gpu.clone(),
            sampled: Arc::new(sampled),
            is_walked: false,
            frames: None,
            worlds: Arc::new(worlds),
            field_rows: Arc::new(field_rows),
            row_rules: Arc::new(row_rules),
            held: Arc::new(held),
            only_world: if has_worlds { None } else { world_ids.first().copied() },
        };
        let is_in_order = order.iter().copied().eq(0..order.len() as u32);
        made.input.order = if is_in_order { Shared::default() } else { Arc::new(order) };
        made.input.bodies = Arc::new(instances);
        made.input.positions = Arc::new(positions);
        made.lay_out(table)?;
        Ok(made)
    }

    /// Lays out all places about the origin.
    fn lay_out(&mut self, table: &ShapeTable) -> Result<()> {
        let input = &mut self.input;
        let (count, all) = (input.mover_count, input.bodies.len());
        let supports = &table.hulls.supports;
        let mut packed = vec![bytemuck::Zeroable::zeroed(); if table.gpu.is_some() { count } else { 0 }];
        let mut placed = vec![Default::default(); all];
        let (bodies, positions) = (&input.bodies[..count], &input.positions[..count]);
        lay_out_about(supports, bodies, positions, input.origin, &mut packed, &mut placed[..count])?;
        input.statics = None;
        self.gpu = table.gpu.clone();
        if count < all {
            let still: Vec<[f64; 3]> = input.positions[count..].iter().map(|at| at.to_array()).collect();
            let columns = BodyColumns { positions: &still, ..BodyColumns::new(&input.bodies[count..]) };
            let (statics, of_device) = Statics::about(supports, &columns, input.origin)?;
            placed[count..].copy_from_slice(&statics.placed);
            self.gpu = table.gpu.as_ref().map(|gpu| gpu.with_statics(&of_device)).transpose()?.map(Arc::new);
            input.statics = Some(Arc::new(statics));
        }
        input.packed = Arc::new(packed);
        input.placed = Arc::new(placed);
        let records = &supports.records;
        let is_plane = |body: &Instance| records[body.hull as usize].half_space != 0;
        input.planes = Arc::new(match table.hulls.has_half_space {
            true => {
                (0..).zip(input.bodies.iter()).filter(|(_, body)| is_plane(body)).map(|(id, _)| id).collect()
            }
            false => Vec::new(),
        });
        (input.tree, self.frames) = (None, None);
        Ok(())
    }

    /// Moves bodies whose pose changed, and nothing else: `rows` may name one more than once. Returns `false` where all must be laid out anew.
    pub(crate) fn move_bodies(&mut self, table: &ShapeTable, bodies: &[Body], rows: &[u32]) -> Result<bool> {
        let count = self.input.mover_count as u32;
        let mut places = Vec::with_capacity(rows.len());
        for &row in rows {
            let (first, part_count) =
                (self.places[row as usize], table.part_count(bodies[row as usize].shape) as u32);
            if first == NONE {
                continue;
            }
            if first >= count {
                return Ok(false);
            }
            places.extend(first..first + part_count);
        }
        if self.input.origin != origin_of_rows(bodies, &self.sampled) {
            return Ok(false);
        }
        let supports = &table.hulls.supports;
        let input = &mut self.input;
        let (instances, positions) = (Arc::make_mut(&mut input.bodies), Arc::make_mut(&mut input.positions));
        let (placed, packed) = (Arc::make_mut(&mut input.placed), Arc::make_mut(&mut input.packed));
        for &row in rows {
            let mut place = self.places[row as usize] as usize;
            place_parts(table, &bodies[row as usize], |instance, position| {
                (instances[place], positions[place]) = (instance, position);
                place += 1;
            });
        }
        // Those that moved, side by side.
        places.sort_unstable();
        places.dedup();
        let moved: Vec<Instance> = places.iter().map(|&place| instances[place as usize]).collect();
        let moved_positions: Vec<DVec3> = places.iter().map(|&place| positions[place as usize]).collect();
        let mut moved_placed = vec![Default::default(); places.len()];
        let packed_count = if packed.is_empty() { 0 } else { places.len() };
        let mut moved_packed = vec![bytemuck::Zeroable::zeroed(); packed_count];
        let (origin, of_device) = (input.origin, &mut moved_packed[..]);
        lay_out_about(supports, &moved, &moved_positions, origin, of_device, &mut moved_placed)?;
        places.iter().zip(&moved_placed).for_each(|(&place, laid_out)| placed[place as usize] = *laid_out);
        places.iter().zip(&moved_packed).for_each(|(&place, laid_out)| packed[place as usize] = *laid_out);
        if let Some(frames) = &mut self.frames {
            let frames = Arc::make_mut(frames);
            for &place in &places {
                let at = place as usize;
                let instance = &instances[at];
                frames[at] = Frame::at(&table.hulls.hulls[instance.hull as usize], instance, positions[at]);
            }
        }
        if let Some(tree) = &mut input.tree {
            let mut boxes = Vec::new();
            placed_aabbs_into(&mut boxes, &moved, &moved_placed, &supports.records, 0.0);
            Arc::make_mut(tree).update(&places, &boxes);
        }
        Ok(true)
    }

    /// The input of a query that walks a tree: with one that is kept, from the second such query on. The first one builds its own, which takes less.
    pub(crate) fn input_to_walk(&mut self, table: &ShapeTable) -> QueryInput {
        if self.is_walked {
            return self.input_with_tree(table);
        }
        self.is_walked = true;
        self.input()
    }

    /// The input of a query over all places, with a tree over them.
    pub(crate) fn input_with_tree(&mut self, table: &ShapeTable) -> QueryInput {
        if self.input.tree.is_none() {
            let (input, count) = (&self.input, self.input.mover_count);
            let mut boxes: Vec<Aabb> = Vec::new();
            let (bodies, placed) = (&input.bodies[..count], &input.placed[..count]);
            placed_aabbs_into(&mut boxes, bodies, placed, &table.hulls.supports.records, 0.0);
            self.input.tree = Some(Arc::new(MovingBoxes::kept(boxes, &input.rules)));
        }
        self.input.clone()
    }

    /// The same with frames, for rays and points.
    pub(crate) fn input_with_frames(&mut self, table: &ShapeTable) -> QueryInput {
        let count = self.input.mover_count;
        let frames = self.frames.get_or_insert_with(|| {
            Arc::new(Frame::all(&table.hulls.hulls, self.input.stored().movers(count)))
        });
        let frames = Arc::clone(frames);
        QueryInput { frames: Some(frames), ..self.input_to_walk(table) }
    }

    /// The input without a tree.
    pub(crate) fn input(&self) -> QueryInput {
        self.input.clone()
    }

    /// Whether a row holds a body.
    pub(crate) fn holds(&self, row: u32) -> bool {
        self.held.get(row as usize) == Some(&true)
    }

    /// How the places are named.
    pub(crate) fn names_of_places(&self) -> Names {
        let (order, leaves) = (Arc::clone(&self.input.order), Arc::clone(&self.names));
        Names { order, leaves, is_plain: self.is_plain }
    }

    /// The places of a row's parts; empty for a height field.
    pub(crate) fn places_of(&self, row: u32, part_count: usize) -> std::ops::Range<u32> {
        match self.places.get(row as usize) {
            Some(&first) if first != NONE => first..first + part_count as u32,
            _ => 0..0,
        }
    }
}

/// The origin for bodies that move, by the positions of a sample.
fn origin_of_rows(bodies: &[Body], sampled: &[u32]) -> DVec3 {
    let positions: Vec<DVec3> =
        sampled.iter().map(|&row| DVec3::from(bodies[row as usize].position)).collect();
    origin_of_sample(&positions)
}

/// Calls `found` with each part of a body that is a hull, and its position.
fn place_parts(table: &ShapeTable, body: &Body, mut found: impl FnMut(Instance, DVec3)) {
    match &table.laid_out[body.shape as usize] {
        LaidOut::Hull(hull) => {
            let (instance, position) = body.instance(*hull);
            found(instance, position);
        }
        LaidOut::Parts(parts) => {
            let Some(list) = parts.list() else { return };
            let placement = body.placement();
            for (part, turn) in list.parts.iter().zip(&list.turns) {
                let (instance, position) = body.part(&placement, part, turn);
                found(instance, position);
            }
        }
        LaidOut::Removed => (),
    }
}
