//! A robot's bodies in their links, and the pairs of them that may meet.

use std::sync::Arc;

use glam::{DMat3, DVec3};

use crate::collide::hull::record::HullRecord;
use crate::collide::scene::body::Body;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::exclusions::Exclusions;
use crate::collide::scene::placed::rotation;
use crate::collide::scene::query_input::Scene;
use crate::collide::scene::rigid::Rigid;
use crate::collide::scene::statics::Statics;
use crate::error::{Error, Location, Result};

/// A body of a link.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) body: Body,
    pub(crate) link: usize,
    /// Its pose in the link.
    pub(crate) position: DVec3,
    pub(crate) turn: DMat3,
    /// About the link's origin.
    pub(crate) rigid: Rigid,
    /// Bounding radius about the mean, as the f32 path has it.
    pub(crate) radius: f32,
    /// Middle and half extents of its box along the link's axes, without rounding.
    pub(crate) middle: DVec3,
    pub(crate) half: DVec3,
    /// Whether the link is excluded from any static.
    is_excluded: bool,
}

/// The bodies of a robot and of its surroundings.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) scene: Arc<Scene>,
    pub(crate) statics: Option<Arc<Statics>>,
    pub(crate) link_count: usize,
    pub(crate) parts: Vec<Part>,
    /// Pairs of parts that may meet, sorted.
    pub(crate) pairs: Vec<[u32; 2]>,
    exclusions: Exclusions,
}

impl Chain {
    /// Checks the bodies, each placed in its link, and the exclusions.
    ///
    /// # Errors
    /// As [`Arena::joint_paths`](crate::collide::Arena::joint_paths).
    pub(crate) fn new(
        scene: &Arc<Scene>,
        statics: Option<&Arc<Statics>>,
        columns: BodyColumns<'_>,
    ) -> Result<Self> {
        columns.check()?;
        let BodyColumns { bodies, positions, worlds, owners, exclusions, .. } = columns;
        if !worlds.is_empty() {
            let message = "a robot has no worlds: all its links are in one, with the statics";
            return Err(Error::invalid(Location::Argument, message));
        }
        let static_count = statics.map_or(0, |statics| statics.bodies.len());
        let (count, limit) = ((bodies.len() + static_count) as u64, u64::from(u32::MAX));
        if count > limit {
            return Err(Error::TooMany { what: "bodies", count, limit });
        }
        let link_of = |row: usize| owners.get(row).map_or(row, |&owner| owner as usize);
        let link_count = (0..bodies.len()).map(|row| link_of(row) + 1).max().unwrap_or(0);
        let exclusions = exclusions.cloned().unwrap_or_default();
        for &[link, index] in exclusions.statics() {
            let (what, index, count) = match (link as usize) < link_count {
                true => ("static", index, static_count),
                false => ("link", link, link_count),
            };
            if index as usize >= count {
                let (at, index, count) = (Location::Argument, index.into(), count as u64);
                return Err(Error::Missing { at, what, index, count });
            }
        }
        let of_statics = exclusions.statics().iter().map(|&[link, index]| [link, link_count as u32 + index]);
        let all: Vec<[u32; 2]> = exclusions.pairs().iter().copied().chain(of_statics).collect();
        let exclusions = Exclusions::new(&all)?;
        let id_count = (link_count + static_count) as u64;
        for (row, pair) in exclusions.pairs().iter().enumerate() {
            if let Some(&id) = pair.iter().find(|&&id| u64::from(id) >= id_count) {
                let (at, what) = (Location::Pair(row), "link or static");
                return Err(Error::Missing { at, what, index: id.into(), count: id_count });
            }
        }
        let mut parts = Vec::with_capacity(bodies.len());
        for (row, body) in bodies.iter().enumerate() {
            let radius = body.radius(row, &scene.supports)?;
            if record(scene, body).half_space != 0 {
                let message = "a half-space can't be part of a link, only a static";
                return Err(Error::invalid(Location::Body(row), message));
            }
            let position = positions
                .get(row)
                .map_or(DVec3::from(body.position.map(f64::from)), |&position| DVec3::from(position));
            if !(position.abs().max_element() <= 1e18) {
                let allowed = "each must be finite and at most 1e18 in magnitude";
                return Err(Error::value(Location::Body(row), "position", format!("{position:?}"), allowed));
            }
            let rigid = Rigid::about(&scene.hulls[body.hull as usize], body, position);
            let [low, high] = rigid.points.iter().fold([rigid.arm; 2], |[l, h], &p| [l.min(p), h.max(p)]);
            let link = link_of(row);
            let is_of_link = |pair: &[u32; 2]| {
                pair.contains(&(link as u32)) && pair.iter().any(|&id| id as usize >= link_count)
            };
            parts.push(Part {
                body: *body,
                link,
                position,
                turn: rotation(body.rotation),
                rigid,
                radius,
                middle: 0.5 * (low + high),
                half: 0.5 * (high - low),
                is_excluded: exclusions.pairs().iter().any(is_of_link),
            });
        }
        let mut pairs = Vec::new();
        for (a, part_a) in parts.iter().enumerate() {
            for (b, part_b) in parts.iter().enumerate().skip(a + 1) {
                let is_apart = part_a.link != part_b.link
                    && accepts(&part_a.body, &part_b.body)
                    && !exclusions.contains(part_a.link as u32, part_b.link as u32);
                if is_apart {
                    pairs.push([a as u32, b as u32]);
                }
            }
        }
        Ok(Self { scene: Arc::clone(scene), statics: statics.cloned(), link_count, parts, pairs, exclusions })
    }

    pub(crate) fn static_bodies(&self) -> &[Body] {
        self.statics.as_ref().map_or(&[], |statics| &statics.bodies)
    }

    /// What the statics, and so the poses of links, are relative to; none where it is the world's origin.
    pub(crate) fn origin(&self) -> Option<DVec3> {
        self.statics.as_ref().and_then(|statics| statics.origin)
    }

    /// Whether a part and a static may meet.
    pub(crate) fn meets_static(&self, part: &Part, still: u32) -> bool {
        let id = self.link_count as u32 + still;
        accepts(&part.body, &self.static_bodies()[still as usize])
            && !(part.is_excluded && self.exclusions.contains(part.link as u32, id))
    }

    pub(crate) fn record(&self, body: &Body) -> &HullRecord {
        record(&self.scene, body)
    }
}

fn record<'a>(scene: &'a Scene, body: &Body) -> &'a HullRecord {
    &scene.supports.records[body.hull as usize]
}

fn accepts(a: &Body, b: &Body) -> bool {
    (a.group & b.mask) != 0 && (b.group & a.mask) != 0
}
