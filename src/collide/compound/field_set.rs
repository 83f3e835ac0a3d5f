//! The height fields among the bodies of a query, in trees over their boxes.

use std::sync::Arc;

use glam::DVec3;

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::near_first::{BodyVisit, Probe};
use crate::collide::bvh::tree::Tree;
use crate::collide::compound::body::{CompoundBody, Placement};
use crate::collide::compound::columns::CompoundColumns;
use crate::collide::compound::compounds::Compounds;
use crate::collide::compound::field::Field;
use crate::collide::compound::search::Placed;
use crate::collide::compound::shape::Shape;
use crate::collide::scene::world_ranges::{WorldRanges, check_worlds};
use crate::collide::shape::crowd::at_least;
use crate::error::Result;

/// More than the tolerance τ of two bodies, as a share of the sum of their bounding radii.
pub(crate) const SHARE: f64 = 2e-5;

/// A body that is a height field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldBody {
    pub(crate) id: u32,
    pub(crate) body: CompoundBody,
    pub(crate) placement: Placement,
}

/// Some of them, and a tree over their boxes.
#[derive(Debug, Default)]
struct Group {
    bodies: Vec<FieldBody>,
    tree: Tree,
}

impl Group {
    /// `starts` as for [`Tree::rebuild_groups`].
    fn new(shapes: &[Arc<Shape>], bodies: Vec<FieldBody>, starts: &[u32], origin: DVec3) -> Self {
        let around = |body: &FieldBody| -> Aabb {
            let FieldBody { body, placement, .. } = body;
            let shape = &shapes[body.compound as usize];
            let placed = Placed { shape, placement, position: placement.position - origin };
            placed.bounds().grown(placement.rounding()).rounded()
        };
        let boxes: Vec<Aabb> = bodies.iter().map(around).collect();
        let mut tree = Tree::default();
        tree.rebuild_groups(&boxes, starts, 0);
        Self { bodies, tree }
    }
}

/// The rays, points or shapes that a query asks about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Askers<'a> {
    /// Their name, in the plural.
    pub(crate) what: &'static str,
    pub(crate) count: usize,
    pub(crate) worlds: &'a [u32],
}

/// The height fields among the bodies of a query.
#[derive(Debug)]
pub(crate) struct Fields {
    shapes: Arc<[Arc<Shape>]>,
    /// In the order of their worlds.
    movers: Group,
    statics: Group,
    /// The movers that each ray, point or shape sees.
    worlds: WorldRanges,
    /// What the boxes are relative to.
    pub(crate) origin: DVec3,
    pub(crate) limit_bytes: u64,
}

impl Fields {
    /// Those among checked bodies and the statics; `None` where there are none.
    ///
    /// # Errors
    /// As [`check_worlds`], with height fields or without.
    pub(crate) fn of(
        compounds: &Compounds,
        columns: CompoundColumns<'_>,
        askers: Askers<'_>,
    ) -> Result<Option<Self>> {
        let count = columns.bodies.len();
        let has_worlds = check_worlds(askers.what, askers.worlds, askers.count, count, columns.worlds)?;
        let (mut movers, statics): (Vec<FieldBody>, Vec<FieldBody>) = compounds
            .all_bodies(columns)
            .filter(|(_, body)| compounds.shape(body).field().is_some())
            .map(|(id, body)| FieldBody { id, body: *body, placement: body.placement() })
            .partition(|body| (body.id as usize) < count);
        let Some(first) = movers.first().or(statics.first()) else { return Ok(None) };
        // Any will do: boxes are rounded outward.
        let origin = first.placement.position;
        let (mut worlds, mut starts) = (WorldRanges::default(), Vec::new());
        if has_worlds {
            let world_of = |body: &FieldBody| columns.worlds[body.id as usize];
            movers.sort_by_key(world_of);
            let of_movers: Vec<u32> = movers.iter().map(world_of).collect();
            worlds = WorldRanges::of(askers.worlds, &of_movers);
            starts.extend((0..).zip(&of_movers).filter_map(|(at, world)| {
                let is_first = at == 0 || of_movers[at - 1] != *world;
                is_first.then_some(at as u32)
            }));
            starts.push(movers.len() as u32);
        }
        let shapes = compounds.shapes();
        let limit_bytes = compounds.arena().engine().answer_limit();
        let movers = Group::new(&shapes, movers, &starts, origin);
        let statics = Group::new(&shapes, statics, &[], origin);
        Ok(Some(Self { shapes, movers, statics, worlds, origin, limit_bytes }))
    }

    /// Those of a scene, each with its world: `every` is that of those that all see. `asked` are the worlds of the rays, points or shapes.
    pub(crate) fn among(
        shapes: Arc<[Arc<Shape>]>,
        bodies: Vec<(u32, FieldBody)>,
        every: u32,
        asked: &[u32],
        limit_bytes: u64,
    ) -> Self {
        // Any will do: boxes are rounded outward.
        let origin = bodies.first().map_or(DVec3::ZERO, |(_, body)| body.placement.position);
        let (statics, mut movers): (Vec<_>, Vec<_>) =
            bodies.into_iter().partition(|(world, _)| *world == every);
        movers.sort_by_key(|(world, _)| *world);
        let of_movers: Vec<u32> = movers.iter().map(|(world, _)| *world).collect();
        let mut starts: Vec<u32> = (0..)
            .zip(&of_movers)
            .filter_map(|(at, world)| {
                let is_first = at == 0 || of_movers[at - 1] != *world;
                is_first.then_some(at as u32)
            })
            .collect();
        starts.push(movers.len() as u32);
        let bodies = |all: Vec<(u32, FieldBody)>| all.into_iter().map(|(_, body)| body).collect();
        let worlds = WorldRanges::of(asked, &of_movers);
        let movers = Group::new(&shapes, bodies(movers), &starts, origin);
        let statics = Group::new(&shapes, bodies(statics), &[], origin);
        Self { shapes, movers, statics, worlds, origin, limit_bytes }
    }

    /// Calls `work` with the height fields whose boxes are within a limit of something, nearer ones mostly first: those in the world of the ray,
    /// point or shape `asker`, and the statics. `work` gets the limit, and returns one that is no farther; so does the walk.
    pub(crate) fn walk(
        &self,
        probe: &impl Probe,
        asker: u32,
        limit: f64,
        work: &mut dyn FnMut(&FieldBody, &Field, f64) -> f64,
    ) -> f64 {
        let world = self.worlds.get(asker).map(|world| world.start as usize..world.end as usize);
        let mut walk = Walk { shapes: &self.shapes, bodies: &self.movers.bodies, limit, work };
        // One call, as the walk is inlined.
        for (group, places) in [(&self.movers, world), (&self.statics, None)] {
            walk.bodies = &group.bodies;
            group.tree.near_first(probe, places, &mut walk);
        }
        walk.limit
    }
}

/// Visits the bodies of one tree.
struct Walk<'a> {
    shapes: &'a [Arc<Shape>],
    bodies: &'a [FieldBody],
    limit: f64,
    work: &'a mut dyn FnMut(&FieldBody, &Field, f64) -> f64,
}

impl BodyVisit for Walk<'_> {
    fn limit(&self) -> f32 {
        at_least(self.limit)
    }

    fn body(&mut self, body: u32) {
        let body = &self.bodies[body as usize];
        if let Some(field) = self.shapes[body.body.compound as usize].field() {
            self.limit = (self.work)(body, field, self.limit);
        }
    }
}
