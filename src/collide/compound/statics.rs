//! Compounds that do not move: placed once, with one tree over their boxes and one over their parts.

use std::sync::{Arc, Mutex};

use glam::DVec3;

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::static_tree::StaticBoxes;
use crate::collide::compound::body::{CompoundBody, Placement};
use crate::collide::compound::search::Placed;
use crate::collide::compound::shape::Shape;
use crate::collide::query::arena::Arena;
use crate::collide::query::options::Options;
use crate::collide::scene::body::Body;
use crate::error::Result;
use crate::lock::lock;

/// Most origins that boxes are kept about.
const KEPT: usize = 4;

/// Checked compounds that do not move.
#[derive(Debug)]
pub(crate) struct StaticCompounds {
    pub(crate) bodies: Vec<CompoundBody>,
    pub(crate) placements: Vec<Placement>,
    /// The arena with all their parts among its statics, for rays.
    pub(crate) spread: Arena,
    /// The compound and the part of each of those.
    pub(crate) names: Vec<[u32; 2]>,
    /// Boxes of the arena's statics and of these, and the origins that they are about, the last used first.
    boxes: Mutex<Vec<(DVec3, Arc<StaticBoxes>)>>,
}

impl StaticCompounds {
    /// Lays out checked bodies.
    ///
    /// # Errors
    /// As [`Arena::with_options`].
    pub(crate) fn new(arena: &Arena, shapes: &[Arc<Shape>], bodies: &[CompoundBody]) -> Result<Self> {
        let placements: Vec<Placement> = bodies.iter().map(CompoundBody::placement).collect();
        let options = arena.options();
        let mut statics = options.statics.clone();
        let mut static_positions = options.static_positions.clone();
        if static_positions.is_empty() {
            static_positions.extend(statics.iter().map(|body| body.position.map(f64::from)));
        }
        let mut names = Vec::new();
        for ((id, body), placement) in (0..).zip(bodies).zip(&placements) {
            let Some(list) = shapes[body.compound as usize].list() else { continue };
            for ((number, part), turn) in (0..).zip(&list.parts).zip(&list.turns) {
                let (part, position): (Body, _) = placement.part(part, turn, body.group, body.mask);
                names.push([id, number]);
                statics.push(part);
                static_positions.push(position);
            }
        }
        let spread = arena.with_options(Options { statics, static_positions, ..options.clone() })?;
        let boxes = Mutex::default();
        Ok(Self { bodies: bodies.to_vec(), placements, spread, names, boxes })
    }

    /// The boxes of an arena's statics, which are about `origin`, and of these.
    pub(crate) fn boxes_about(
        &self,
        origin: DVec3,
        fixed: &[Aabb],
        shapes: &[Arc<Shape>],
    ) -> Arc<StaticBoxes> {
        let mut kept = lock(&self.boxes);
        let boxes = match kept.iter().position(|(other, _)| *other == origin) {
            Some(at) => kept.remove(at).1,
            None => {
                let mut all = fixed.to_vec();
                all.extend(self.bodies.iter().zip(&self.placements).map(|(body, placement)| {
                    let shape = &shapes[body.compound as usize];
                    let placed = Placed { shape, placement, position: placement.position - origin };
                    Aabb { group: body.group, mask: body.mask, ..placed.bounds().rounded() }
                }));
                Arc::new(StaticBoxes::new(all))
            }
        };
        kept.insert(0, (origin, Arc::clone(&boxes)));
        kept.truncate(KEPT);
        boxes
    }
}
