//! Postures: a robot's poses at single times, tested as bodies are.

use glam::DVec3;

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::tree::bodies_within;
use crate::collide::gjk::pose::Placement;
use crate::collide::joint_path::chain::Chain;
use crate::collide::joint_path::motion::{Box64, LinkFrame, box_pad};
use crate::collide::narrow_phase::exact::settle_placed;
use crate::collide::narrow_phase::rows::Intersection;
use crate::collide::narrow_phase::status::Status;
use crate::collide::narrow_phase::verdict::{Unsettled, find_verdicts};
use crate::collide::scene::joint_path::LinkPose;
use crate::collide::scene::placed::Placed;

/// Postures that are tested side by side.
pub(crate) const BLOCK: usize = 32;

/// Pairs of a posture that are tested before it is asked whether one of them meets.
const ROUND: usize = 8;

/// A row that is not written yet.
const BLANK: Intersection =
    Intersection { a: 0, b: 0, part_a: 0, part_b: 0, status: Status::Touching, axis: None };

/// Counts of the pairs examined.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) candidates: u64,
    pub(crate) refined: u64,
    pub(crate) settled: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.candidates += other.candidates;
        self.refined += other.refined;
        self.settled += other.settled;
    }
}

/// The memory of a thread that tests postures.
#[derive(Debug, Default)]
pub(crate) struct Postures {
    /// The statics, then the parts of each posture of a block.
    placed: Vec<Placed>,
    frames: Vec<LinkFrame>,
    /// Boxes of the parts of one posture.
    boxes: Vec<Box64>,
    /// Candidates of each posture, sorted by the rows of the bodies, and where each posture's begin.
    candidates: Vec<[u32; 2]>,
    begins: Vec<usize>,
    /// The pairs of a round: indices of `placed`, and of `candidates`.
    pairs: Vec<[u32; 2]>,
    origins: Vec<(usize, usize)>,
    rows: Vec<Intersection>,
    near: Vec<u32>,
    pub(crate) counts: Counts,
}

impl Postures {
    /// The first pair of each of at most [`BLOCK`] postures, `[posture, link]`. Statics count on after the parts.
    pub(crate) fn first_pairs(&mut self, chain: &Chain, poses: &[LinkPose], found: &mut [Option<[u32; 2]>]) {
        let still = chain.statics.as_ref().map_or(&[][..], |statics| &statics.placed);
        let (static_count, part_count) = (still.len(), chain.parts.len());
        if self.placed.len() < static_count {
            self.placed.extend_from_slice(still);
        }
        self.placed.truncate(static_count);
        self.frames.clear();
        self.frames.extend(poses.iter().map(LinkFrame::new));
        self.candidates.clear();
        self.begins.clear();
        for posture in 0..found.len() {
            self.begins.push(self.candidates.len());
            self.place(chain, posture);
        }
        self.begins.push(self.candidates.len());
        found.fill(None);
        // All postures in rounds of some pairs each, so that the search has enough pairs to work side by side.
        let mut at: Vec<usize> = self.begins[..found.len()].to_vec();
        loop {
            self.pairs.clear();
            self.origins.clear();
            for (posture, at) in at.iter_mut().enumerate() {
                let end = self.begins[posture + 1];
                if found[posture].is_some() || *at == end {
                    continue;
                }
                let last = end.min(*at + ROUND);
                let first = static_count + posture * part_count;
                let index = |id: u32| {
                    let id = id as usize;
                    if id < part_count { (first + id) as u32 } else { (id - part_count) as u32 }
                };
                for candidate in *at..last {
                    self.pairs.push(self.candidates[candidate].map(index));
                    self.origins.push((posture, candidate));
                }
                *at = last;
            }
            if self.pairs.is_empty() {
                return;
            }
            self.examine(chain, found);
        }
    }

    /// Places the parts of a posture and lists its candidates.
    fn place(&mut self, chain: &Chain, posture: usize) {
        let frames = &self.frames[posture * chain.link_count..];
        self.boxes.clear();
        for part in &chain.parts {
            let frame = &frames[part.link];
            let (position, turn) = frame.place(part);
            let record = chain.record(&part.body);
            self.placed.push(Placed::at(position, turn, &part.body, part.radius, record));
            self.boxes.push(frame.part_box(part).grown(box_pad(part)));
        }
        let mut pairs = chain.pairs.iter().peekable();
        for (a, part) in (0..).zip(&chain.parts) {
            let own = self.boxes[a as usize];
            while let Some(&&[_, b]) = pairs.peek().filter(|pair| pair[0] == a) {
                pairs.next();
                if own.overlaps(&self.boxes[b as usize]) {
                    self.candidates.push([a, b]);
                }
            }
            let Some(statics) = &chain.statics else { continue };
            self.near.clear();
            let aabb: Aabb = own.to_aabb();
            bodies_within(&statics.boxes.tree, &aabb, &mut self.near);
            let planes = statics.boxes.planes();
            self.near.extend(planes.filter(|&plane| aabb.reaches(&statics.boxes.boxes[plane as usize], 0.0)));
            self.near.retain(|&id| chain.meets_static(part, id));
            self.near.sort_unstable();
            let first = chain.parts.len() as u32;
            self.candidates.extend(self.near.iter().map(|id| [a, first + id]));
        }
    }

    /// Examines the pairs of a round.
    fn examine(&mut self, chain: &Chain, found: &mut [Option<[u32; 2]>]) {
        self.rows.clear();
        self.rows.resize(self.pairs.len(), BLANK);
        let mut unsettled = Unsettled::default();
        find_verdicts(
            &chain.scene.supports,
            &self.placed,
            &self.pairs,
            false,
            &mut self.rows,
            &mut unsettled,
        );
        self.counts.candidates += self.pairs.len() as u64;
        self.counts.refined += unsettled.refined_count;
        self.counts.settled += unsettled.open.len() as u64;
        let mut open = unsettled.open.iter().peekable();
        for (at, &(posture, candidate)) in self.origins.iter().enumerate() {
            let is_open = open.next_if(|&&index| index == at).is_some();
            if found[posture].is_some() {
                continue;
            }
            let pair = self.candidates[candidate];
            let status = if is_open {
                let frames = &self.frames[posture * chain.link_count..];
                settle_placed(&pair.map(|id| placement(chain, frames, id))).status
            } else {
                self.rows[at].status
            };
            if status.is_hit() {
                found[posture] = Some(pair);
            }
        }
    }
}

/// The placement of a part, where the links are, or of a static, in f64.
pub(crate) fn placement<'a>(chain: &'a Chain, frames: &[LinkFrame], id: u32) -> Placement<'a> {
    let hulls = &chain.scene.hulls;
    match chain.parts.get(id as usize) {
        Some(part) => {
            let (position, turn) = frames[part.link].place(part);
            Placement::posed(&hulls[part.body.hull as usize], &part.body, position, turn)
        }
        None => {
            let still = id as usize - chain.parts.len();
            let body = &chain.static_bodies()[still];
            let position = chain.statics.as_ref().map_or(DVec3::ZERO, |statics| statics.position(still));
            Placement::at(&hulls[body.hull as usize], body, position)
        }
    }
}
