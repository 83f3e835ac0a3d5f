//! Which bodies hit another one, and how many.
//!
//! Each body's partners are tested some at a time, and no list of pairs is kept: the memory is that of the bodies, however many pairs there
//! are.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::near_first::{BodyVisit, NearBox, NearPlane};
use crate::collide::narrow_phase::exact;
use crate::collide::narrow_phase::rows::Intersection;
use crate::collide::narrow_phase::status::Status;
use crate::collide::narrow_phase::verdict::{Unsettled, find_verdicts};
use crate::collide::shape::cast::Counts;
use crate::collide::shape::crowd::Crowd;

/// Pairs that are tested together where the first hit ends the search.
const FEW: usize = 16;
/// Pairs that are tested together where all are tested.
const MANY: usize = 256;

/// Nothing is known of the body.
const OPEN: u8 = 0;
/// It hits nothing.
const FREE: u8 = 1;
/// It hits another.
const HIT: u8 = 2;

/// What is known of each body. Threads may read it late, which costs time and changes no answer.
pub(crate) struct HitFlags(Vec<AtomicU8>);

impl HitFlags {
    pub(crate) fn new(count: usize) -> Self {
        Self((0..count).map(|_| AtomicU8::new(OPEN)).collect())
    }

    /// What is known of a body; nothing of statics.
    fn get(&self, body: u32) -> u8 {
        self.0.get(body as usize).map_or(OPEN, |flag| flag.load(Relaxed))
    }

    fn set(&self, body: u32, to: u8) {
        if let Some(flag) = self.0.get(body as usize) {
            flag.store(to, Relaxed);
        }
    }

    /// Whether each body hits another.
    pub(crate) fn into_rows(self) -> Vec<bool> {
        self.0.into_iter().map(|flag| flag.into_inner() == HIT).collect()
    }
}

/// A counter for each body.
pub(crate) fn counters(count: usize) -> Vec<AtomicU32> {
    (0..count).map(|_| AtomicU32::new(0)).collect()
}

/// Pairs of one body that wait for their test.
struct Waiting<const N: usize> {
    pairs: [[u32; 2]; N],
    len: usize,
}

impl<const N: usize> Waiting<N> {
    fn new() -> Self {
        Self { pairs: [[0; 2]; N], len: 0 }
    }

    /// Adds a pair, and returns whether there is no room for more.
    #[inline(always)]
    fn push(&mut self, pair: [u32; 2]) -> bool {
        self.pairs[self.len] = pair;
        self.len += 1;
        self.len == N
    }

    /// Tests the pairs, and calls `hit` with those that touch or penetrate.
    fn test(&mut self, crowd: &Crowd<'_>, counts: &mut Counts, mut hit: impl FnMut([u32; 2])) {
        let pairs = &self.pairs[..self.len];
        let blank = Intersection { a: 0, b: 0, part_a: 0, part_b: 0, status: Status::Touching, axis: None };
        let mut rows = [blank; N];
        let rows = &mut rows[..pairs.len()];
        let mut part = Unsettled::default();
        find_verdicts(&crowd.scene.supports, &crowd.input.placed, pairs, false, rows, &mut part);
        for &open in &part.open {
            rows[open].status = exact::settle(&crowd.scene.hulls, crowd.input.stored(), pairs[open]).status;
        }
        counts.visited += pairs.len() as u64;
        counts.settled += part.open.len() as u64;
        for (pair, row) in pairs.iter().zip(rows) {
            if row.status.is_hit() {
                hit(*pair);
            }
        }
        self.len = 0;
    }
}

/// Walks to the bodies of a mover's world whose boxes meet its own.
#[inline(always)]
fn walk(crowd: &Crowd<'_>, body: u32, aabb: &Aabb, visitor: &mut impl BodyVisit) {
    let world = crowd.world_of(body);
    if crowd.input.placed[body as usize].is_half_space() {
        crowd.walk(&NearPlane(*aabb), world.as_ref(), visitor);
    } else {
        crowd.walk(&NearBox(*aabb), world.as_ref(), visitor);
    }
}

/// Finds whether a body hits another one.
struct Finder<'a> {
    crowd: &'a Crowd<'a>,
    body: u32,
    flags: &'a HitFlags,
    waiting: Waiting<FEW>,
    is_hit: bool,
    counts: &'a mut Counts,
}

impl Finder<'_> {
    fn test(&mut self) {
        let (flags, is_hit) = (self.flags, &mut self.is_hit);
        self.waiting.test(self.crowd, self.counts, |pair| {
            *is_hit = true;
            pair.into_iter().for_each(|body| flags.set(body, HIT));
        });
    }
}

impl BodyVisit for Finder<'_> {
    #[inline(always)]
    fn limit(&self) -> f32 {
        // Boxes that meet have a distance of 0.
        if self.is_hit { -1.0 } else { 0.0 }
    }

    #[inline(always)]
    fn body(&mut self, other: u32) {
        let pair = [self.body.min(other), self.body.max(other)];
        // All pairs of a body that hits nothing were tested.
        if self.is_hit
            || other == self.body
            || self.flags.get(other) == FREE
            || !self.crowd.input.accepts(self.crowd.scene, pair[0], pair[1])
        {
            return;
        }
        if self.waiting.push(pair) {
            self.test();
        }
    }
}

/// Finds whether a mover hits another body, and sets the flags.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn find(crowd: &Crowd<'_>, body: u32, aabb: &Aabb, flags: &HitFlags, counts: &mut Counts) {
    if flags.get(body) == HIT {
        return;
    }
    let mut finder = Finder { crowd, body, flags, waiting: Waiting::new(), is_hit: false, counts };
    walk(crowd, body, aabb, &mut finder);
    if !finder.is_hit && finder.waiting.len > 0 {
        finder.test();
    }
    if !finder.is_hit {
        flags.set(body, FREE);
    }
}

/// Counts the hits of a body with those of higher ids.
struct Counter<'a> {
    crowd: &'a Crowd<'a>,
    body: u32,
    counters: &'a [AtomicU32],
    waiting: Waiting<MANY>,
    is_awaited: bool,
    counts: &'a mut Counts,
}

impl Counter<'_> {
    fn test(&mut self) {
        let counters = self.counters;
        self.waiting.test(self.crowd, self.counts, |pair| {
            for body in pair {
                if let Some(counter) = counters.get(body as usize) {
                    counter.fetch_add(1, Relaxed);
                }
            }
        });
        self.is_awaited = self.crowd.input.awaited.is_awaited();
    }
}

impl BodyVisit for Counter<'_> {
    #[inline(always)]
    fn limit(&self) -> f32 {
        if self.is_awaited { 0.0 } else { -1.0 }
    }

    #[inline(always)]
    fn body(&mut self, other: u32) {
        if other > self.body
            && self.is_awaited
            && self.crowd.input.accepts(self.crowd.scene, self.body, other)
            && self.waiting.push([self.body, other])
        {
            self.test();
        }
    }
}

/// Counts the hits of a mover with those of higher ids, statics too, for both.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn count(crowd: &Crowd<'_>, body: u32, aabb: &Aabb, counters: &[AtomicU32], counts: &mut Counts) {
    let is_awaited = crowd.input.awaited.is_awaited();
    let mut counter = Counter { crowd, body, counters, waiting: Waiting::new(), is_awaited, counts };
    walk(crowd, body, aabb, &mut counter);
    if counter.waiting.len > 0 {
        counter.test();
    }
}
