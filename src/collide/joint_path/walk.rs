//! A walk along one path, step by step, with a proof for each pair that it does not meet.
//!
//! A pair of bodies is passed over in a step where one of these shows that it stays apart by more than a clearance, the gap at which bodies
//! touch and the deviations of both links in the step:
//!
//! 1. *Boxes.* Around some steps of a part lies one box: that of its boxes at the samples, wider by how far its points may leave the
//!    straight lines between. Statics whose boxes do not meet it are not listed for these steps.
//! 2. *What is left of a gap.* The pair was apart by some gap at an earlier sample, and no point of the two has moved by more than that,
//!    less the clearance, in sum. (Schwarzer, Saha and Latombe 2005, "Adaptive Dynamic Collision Checking for Single and Multiple Articulated Robots in
//!    Complex Environments".)
//! 3. *Balls and boxes* at the sample at which the step begins are that far apart.
//! 4. *Conservative advancement* of the pair, thickened by the clearance, through the step: see `sweep/exact.rs`.
//!
//! What the last one can't pass is measured in f64 at that time.

use glam::DVec3;

use crate::collide::bvh::tree::bodies_within;
use crate::collide::gjk::tolerance::{tolerance, touching_limit};
use crate::collide::joint_path::chain::{Chain, Part};
use crate::collide::joint_path::motion::{Box64, LinkFrame, LinkStep, box_pad};
use crate::collide::joint_path::posture::{BLOCK, Counts, Postures, placement};
use crate::collide::joint_path::rows::PathOutcome;
use crate::collide::narrow_phase::exact::measure_placed;
use crate::collide::scene::joint_path::JointPath;
use crate::collide::scene::rigid::Rigid;
use crate::collide::sweep::exact::{Advanced, ExactPair, Impact, SweptBody};

/// Most steps for which statics are listed at a time.
const AHEAD: usize = 32;
/// How far a part may move in these steps, in its radii, if it is more than one step.
const AHEAD_RADII: f64 = 2.0;

/// Bound of the error of an f64 gap and of the motion, against the sum of the bounding radii.
const GAP_ERROR: f64 = 2e-9;
/// The same, against the coordinates of positions and the distances of the hulls from the links' origins.
const PLACE_ERROR: f64 = 2e-14;
/// Share of the tolerance within which the thickened bodies must meet for an impact.
const NEAR_SHARE: f64 = 0.05;
/// A little more than 1, for sums that are rounded.
const UP: f64 = 1.0 + 1e-12;

/// What is known of a pair.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// The second body: a part or a static.
    other: u32,
    /// The sum of how far both have moved since the path's start up to which they are apart by more than what touches.
    safe: f64,
    /// A direction that separated them, from the second body to the part; 0 where none is known.
    axis: DVec3,
}

impl Known {
    fn nothing(other: u32) -> Self {
        Self { other, safe: 0.0, axis: DVec3::ZERO }
    }
}

/// The statics that a part may meet for some steps.
#[derive(Debug, Default)]
struct Near {
    /// They are listed for all steps before this one.
    until: usize,
    list: Vec<Known>,
}

/// A part's box at a sample, and how far the part has moved until then.
#[derive(Debug, Clone, Copy)]
struct PartSample {
    aabb: Box64,
    moved: f64,
}

/// Which body a part may meet.
#[derive(Debug, Clone, Copy)]
enum Other {
    Part(usize),
    Static(usize),
}

/// A step of a robot's path.
#[derive(Debug, Clone, Copy)]
struct Step<'a> {
    chain: &'a Chain,
    number: usize,
    /// Most steps of an advancement.
    limit: u32,
}

/// A contact, or what may be one.
#[derive(Debug, Clone, Copy)]
struct Contact {
    /// In the step, from 0 to 1.
    time: f64,
    pair: [u32; 2],
    deviation: f64,
}

/// The answer for one path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walked {
    pub(crate) outcome: PathOutcome,
    pub(crate) free_until: f64,
    pub(crate) time: Option<f64>,
    pub(crate) pair: Option<[u32; 2]>,
}

/// The memory of a thread that walks.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    /// `[sample, link]`, as far as they have been needed.
    frames: Vec<LinkFrame>,
    /// `[step, link]`.
    steps: Vec<LinkStep>,
    /// `[sample, part]`.
    samples: Vec<PartSample>,
    /// One for each pair of parts.
    pairs: Vec<Known>,
    /// One for each part.
    near: Vec<Near>,
    found: Vec<u32>,
    postures: Postures,
    counts: Counts,
}

impl Walk {
    /// What has been counted since the last call.
    pub(crate) fn take_counts(&mut self) -> Counts {
        let mut counts = std::mem::take(&mut self.counts);
        counts.add(&std::mem::take(&mut self.postures.counts));
        counts
    }

    /// Walks along a checked path.
    pub(crate) fn walk(&mut self, chain: &Chain, path: &JointPath<'_>, step_limit: u32) -> Walked {
        self.frames.clear();
        self.steps.clear();
        self.samples.clear();
        self.pairs.clear();
        self.pairs.extend(chain.pairs.iter().map(|&[_, b]| Known::nothing(b)));
        self.near.resize_with(chain.parts.len(), Near::default);
        for near in &mut self.near {
            near.until = 0;
            near.list.clear();
        }
        self.extend(chain, path, 0);
        let step_count = path.sample_count - 1;
        // A robot without links meets nothing, however many samples there are.
        for number in 0..if chain.parts.is_empty() { 0 } else { step_count } {
            self.extend(chain, path, number + 1);
            if let Some(contact) = self.first_contact(&Step { chain, number, limit: step_limit }, path) {
                return self.judge(chain, path, number, &contact);
            }
        }
        Walked { outcome: PathOutcome::Free, free_until: step_count as f64, time: None, pair: None }
    }

    /// Follows the links up to a sample.
    fn extend(&mut self, chain: &Chain, path: &JointPath<'_>, sample: usize) {
        let (links, parts) = (chain.link_count, chain.parts.len());
        if links == 0 {
            return;
        }
        for sample in self.frames.len() / links..=sample {
            let poses = &path.poses[sample * links..][..links];
            self.frames.extend(poses.iter().map(LinkFrame::new));
            let frames = &self.frames[sample * links..];
            let Some(step) = sample.checked_sub(1) else {
                let at_start =
                    |part: &Part| PartSample { aabb: frames[part.link].part_box(part), moved: 0.0 };
                self.samples.extend(chain.parts.iter().map(at_start));
                continue;
            };
            for link in 0..links {
                let row = step * links + link;
                let deviation = path.deviations.get(row).copied().unwrap_or(0.0);
                self.steps.push(LinkStep::new(&self.frames[row], &self.frames[row + links], deviation));
            }
            for (at, part) in chain.parts.iter().enumerate() {
                let aabb = frames[part.link].part_box(part);
                let travel = self.steps[step * links + part.link].travel(part);
                let moved = self.samples[step * parts + at].moved + travel;
                self.samples.push(PartSample { aabb, moved });
            }
        }
    }

    /// The first contact in a step, or what may be one.
    fn first_contact(&mut self, step: &Step<'_>, path: &JointPath<'_>) -> Option<Contact> {
        let chain = step.chain;
        let mut best = None;
        for (at, &[a, b]) in chain.pairs.iter().enumerate() {
            let mut known = self.pairs[at];
            self.pass(step, a as usize, Other::Part(b as usize), &mut known, &mut best);
            self.pairs[at] = known;
        }
        for a in 0..chain.parts.len() {
            if self.near[a].until <= step.number {
                self.list(chain, path, step.number, a);
            }
            let mut list = std::mem::take(&mut self.near[a].list);
            for known in &mut list {
                let other = Other::Static(known.other as usize);
                self.pass(step, a, other, known, &mut best);
            }
            self.near[a].list = list;
        }
        best
    }

    /// Lists the statics that a part may meet in this and some further steps.
    fn list(&mut self, chain: &Chain, path: &JointPath<'_>, step: usize, a: usize) {
        let Some(statics) = &chain.statics else { return };
        let (part, parts, links) = (&chain.parts[a], chain.parts.len(), chain.link_count);
        let mut whole = self.samples[step * parts + a].aabb;
        let (mut end, mut wide, mut travelled) = (step, 0.0_f64, 0.0);
        // A long way has a large box.
        while end == step
            || end < path.sample_count - 1
                && end < step + AHEAD
                && travelled < AHEAD_RADII * part.rigid.radius
        {
            self.extend(chain, path, end + 1);
            let motion = &self.steps[end * links + part.link];
            wide = wide.max(motion.sagitta(part) + motion.deviation);
            travelled += motion.travel(part);
            end += 1;
            whole = whole.union(&self.samples[end * parts + a].aabb);
        }
        let aabb = whole.grown(wide * UP + box_pad(part)).to_aabb();
        self.found.clear();
        bodies_within(&statics.boxes.tree, &aabb, &mut self.found);
        let planes = statics.boxes.planes();
        self.found.extend(planes.filter(|&plane| aabb.reaches(&statics.boxes.boxes[plane as usize], 0.0)));
        self.found.retain(|&id| chain.meets_static(part, id));
        self.found.sort_unstable();
        // Both lists are sorted. What is known of a static stays.
        let near = &mut self.near[a];
        let mut old = near.list.drain(..).peekable();
        let keep = |&id: &u32| {
            while old.next_if(|known| known.other < id).is_some() {}
            old.next_if(|known| known.other == id).unwrap_or(Known::nothing(id))
        };
        let list: Vec<Known> = self.found.iter().map(keep).collect();
        drop(old);
        near.list = list;
        near.until = end;
        self.counts.candidates += near.list.len() as u64;
    }

    /// Shows that a pair is apart throughout a step, or takes it for the first contact.
    fn pass(
        &mut self,
        &Step { chain, number: step, limit }: &Step<'_>,
        a: usize,
        other: Other,
        known: &mut Known,
        best: &mut Option<Contact>,
    ) {
        let (links, parts) = (chain.link_count, chain.parts.len());
        let part = &chain.parts[a];
        let sample = |sample: usize, part: usize| &self.samples[sample * parts + part];
        let motion = |link: usize| &self.steps[step * links + link];
        let (mut deviation, mut begin, mut end) =
            (motion(part.link).deviation, sample(step, a).moved, sample(step + 1, a).moved);
        if let Other::Part(b) = other {
            deviation += motion(chain.parts[b].link).deviation;
            begin += sample(step, b).moved;
            end += sample(step + 1, b).moved;
        }
        let needed = (end + deviation) * UP;
        if needed <= known.safe {
            return;
        }
        let frame = |link: usize| &self.frames[step * links + link];
        let from = frame(part.link);
        let own = &part.rigid;
        let (theirs, position, arm): (&Rigid, DVec3, DVec3) = match other {
            Other::Part(b) => {
                let part = &chain.parts[b];
                let frame = frame(part.link);
                (&part.rigid, frame.position, frame.turn * part.rigid.arm)
            }
            Other::Static(b) => {
                let Some(statics) = &chain.statics else { return };
                let rigid = &statics.rigids(&chain.scene.hulls)[b];
                (rigid, statics.position(b), rigid.arm)
            }
        };
        let offset = from.position - position;
        let between = offset + (from.turn * own.arm - arm);
        let is_planar = theirs.plane.is_some();
        let [smaller, sum] = if is_planar {
            [own.radius; 2]
        } else {
            [own.radius.min(theirs.radius), own.radius + theirs.radius]
        };
        let places = from.position.abs().element_sum() + position.abs().element_sum();
        let error = GAP_ERROR * sum + PLACE_ERROR * (places + own.arm.length() + arm.length());
        let clearance = touching_limit(smaller, sum) + error;
        if !is_planar {
            let box_gap = match other {
                Other::Part(b) => sample(step, a).aabb.distance(&sample(step, b).aabb),
                Other::Static(b) => {
                    let boxes = chain.statics.as_ref().map_or(&[][..], |statics| &statics.boxes.boxes);
                    sample(step, a).aabb.distance(&Box64::of(&boxes[b]))
                }
            };
            known.safe = known.safe.max(begin + (between.length() - sum).max(box_gap) - clearance);
            if needed <= known.safe {
                return;
            }
        }
        let duration = best.map_or(1.0, |contact: Contact| contact.time);
        if duration == 0.0 {
            return;
        }
        let motion_a = motion(part.link);
        let side_a = SweptBody::turning(own, from.turn, motion_a.spin, clearance + deviation);
        let (side_b, velocity) = match other {
            Other::Part(b) => {
                let part = &chain.parts[b];
                let motion = motion(part.link);
                (
                    SweptBody::turning(theirs, frame(part.link).turn, motion.spin, 0.0),
                    motion_a.velocity - motion.velocity,
                )
            }
            Other::Static(_) => (SweptBody::still(theirs), motion_a.velocity),
        };
        let near = (NEAR_SHARE * tolerance(smaller, sum, 0.0)).max(error);
        let guess = if known.axis == DVec3::ZERO { between } else { known.axis };
        let pair = ExactPair::between(side_a, side_b, offset, velocity);
        let Advanced { impact, gap, axis } = pair.first_contact(duration, near, guess, limit);
        self.counts.settled += 1;
        known.axis = axis;
        let time = match impact {
            Impact::Miss => {
                known.safe = known.safe.max(begin + gap + deviation);
                return;
            }
            Impact::Hit { time, .. } => time,
            Impact::Start => 0.0,
        };
        let id = match other {
            Other::Part(b) => b as u32,
            Other::Static(b) => (parts + b) as u32,
        };
        if best.is_none_or(|contact| time < contact.time) {
            *best = Some(Contact { time, pair: [a as u32, id], deviation });
        }
    }

    /// Finds out whether the path is certainly hit, at a contact or at a later sample.
    fn judge(&mut self, chain: &Chain, path: &JointPath<'_>, step: usize, contact: &Contact) -> Walked {
        let links = chain.link_count;
        let free_until = step as f64 + contact.time;
        if contact.deviation == 0.0 {
            let after = |(from, step): (&LinkFrame, &LinkStep)| from.after(step, contact.time);
            let rows = step * links..(step + 1) * links;
            let frames: Vec<LinkFrame> =
                self.frames[rows.clone()].iter().zip(&self.steps[rows]).map(after).collect();
            let measured = measure_placed(&contact.pair.map(|id| placement(chain, &frames, id)));
            let rigid = |id: u32| match chain.parts.get(id as usize) {
                Some(part) => Some(&part.rigid),
                None => chain.statics.as_ref().and_then(|statics| {
                    statics.rigids(&chain.scene.hulls).get(id as usize - chain.parts.len())
                }),
            };
            let radii =
                contact.pair.map(|id| rigid(id).filter(|rigid| rigid.plane.is_none()).map(|r| r.radius));
            let [smaller, sum] = match radii {
                [Some(a), Some(b)] => [a.min(b), a + b],
                [a, b] => [a.or(b).unwrap_or(0.0); 2],
            };
            if measured.gap <= tolerance(smaller, sum, measured.gap) {
                let (time, pair) = (Some(free_until), Some(contact.pair));
                return Walked { outcome: PathOutcome::Hit, free_until, time, pair };
            }
        }
        // At samples there is no deviation.
        let mut sample = if contact.time == 0.0 { step } else { step + 1 };
        while sample < path.sample_count {
            let count = BLOCK.min(path.sample_count - sample);
            let mut found = [None; BLOCK];
            self.postures.first_pairs(
                chain,
                &path.poses[sample * links..(sample + count) * links],
                &mut found[..count],
            );
            if let Some(at) = found.iter().position(Option::is_some) {
                let time = Some((sample + at) as f64);
                return Walked { outcome: PathOutcome::Hit, free_until, time, pair: found[at] };
            }
            sample += count;
        }
        Walked { outcome: PathOutcome::Undecided, free_until, time: None, pair: Some(contact.pair) }
    }
}
