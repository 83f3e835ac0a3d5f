//! Queries with paths and postures: in batches, on all cores.

use web_time::Instant;

use crate::collide::joint_path::chain::Chain;
use crate::collide::joint_path::posture::{BLOCK, Counts, Postures};
use crate::collide::joint_path::rows::{PathCheck, PathOutcome, PostureCheck};
use crate::collide::joint_path::walk::{Walk, Walked};
use crate::collide::narrow_phase::rows::{Batch, Stats};
use crate::collide::scene::budget::RowBudget;
use crate::collide::scene::joint_path::{JointPath, LinkPose};
use crate::error::Result;
use crate::parallel::{map_chunks, map_init};
use crate::pending::Awaited;

/// Paths whose checks share a thread's memory.
const PATHS: usize = 8;

/// Blocks of postures in one task.
const TASK: usize = 8;

/// Copies of checked paths, in one piece.
#[derive(Debug)]
pub(crate) struct OwnedPaths {
    pub(crate) poses: Vec<LinkPose>,
    deviations: Vec<f64>,
    /// Number of samples, first pose and first deviation of each path.
    paths: Vec<OwnedPath>,
    link_count: usize,
}

#[derive(Debug, Clone, Copy)]
struct OwnedPath {
    sample_count: usize,
    first_pose: usize,
    first_deviation: usize,
    deviation_count: usize,
}

impl OwnedPaths {
    /// Checks and copies paths.
    ///
    /// # Errors
    /// That of the first bad path.
    pub(crate) fn new(paths: &[JointPath<'_>], link_count: usize) -> Result<Self> {
        for (row, path) in paths.iter().enumerate() {
            path.check(row, link_count)?;
        }
        let mut owned = Self {
            poses: Vec::with_capacity(paths.iter().map(|path| path.poses.len()).sum()),
            deviations: Vec::with_capacity(paths.iter().map(|path| path.deviations.len()).sum()),
            paths: Vec::with_capacity(paths.len()),
            link_count,
        };
        for path in paths {
            owned.paths.push(OwnedPath {
                sample_count: path.sample_count,
                first_pose: owned.poses.len(),
                first_deviation: owned.deviations.len(),
                deviation_count: path.deviations.len(),
            });
            owned.poses.extend_from_slice(path.poses);
            owned.deviations.extend_from_slice(path.deviations);
        }
        Ok(owned)
    }

    fn path(&self, path: &OwnedPath) -> JointPath<'_> {
        let &OwnedPath { sample_count, first_pose, first_deviation, deviation_count } = path;
        JointPath {
            sample_count,
            poses: &self.poses[first_pose..][..sample_count * self.link_count],
            deviations: &self.deviations[first_deviation..][..deviation_count],
        }
    }
}

/// Answers a query with paths: a row each, in their order.
pub(crate) fn joint_paths(
    chain: &Chain,
    paths: &OwnedPaths,
    step_limit: u32,
    answer_limit: u64,
    awaited: &Awaited,
) -> Result<Batch<PathCheck>> {
    let begin = Instant::now();
    let budget = RowBudget::new::<PathCheck>(answer_limit).awaited_by(awaited);
    budget.add(paths.paths.len());
    budget.check()?;
    let tasks: Vec<(usize, &[OwnedPath])> = paths.paths.chunks(PATHS).enumerate().collect();
    let parts = map_init(&tasks, Walk::default, |walk, &(task, some)| {
        let mut rows = Vec::with_capacity(some.len());
        for (at, path) in some.iter().enumerate().take_while(|_| awaited.is_awaited()) {
            let Walked { outcome, free_until, time, pair } = walk.walk(chain, &paths.path(path), step_limit);
            rows.push(PathCheck { path: (task * PATHS + at) as u32, outcome, free_until, time, pair });
        }
        (rows, walk.take_counts())
    });
    budget.check()?;
    Ok(batch(parts, begin, |row| row.outcome == PathOutcome::Hit))
}

/// Answers a query with checked postures, `[posture, link]`: a row each, in their order.
pub(crate) fn postures(
    chain: &Chain,
    posture_count: usize,
    poses: &[LinkPose],
    answer_limit: u64,
    awaited: &Awaited,
) -> Result<Batch<PostureCheck>> {
    let begin = Instant::now();
    let budget = RowBudget::new::<PostureCheck>(answer_limit).awaited_by(awaited);
    budget.add(posture_count);
    budget.check()?;
    let blocks: Vec<usize> = (0..posture_count).step_by(BLOCK).collect();
    let parts = map_chunks(&blocks, TASK, |blocks| {
        let mut memory = Postures::default();
        let mut rows = Vec::with_capacity(blocks.len() * BLOCK);
        for &first in blocks.iter().take_while(|_| awaited.is_awaited()) {
            let count = BLOCK.min(posture_count - first);
            let mut found = [None; BLOCK];
            let poses = &poses[first * chain.link_count..(first + count) * chain.link_count];
            memory.first_pairs(chain, poses, &mut found[..count]);
            let row = |(posture, &pair)| PostureCheck { posture, pair };
            rows.extend((first as u32..).zip(&found[..count]).map(row));
        }
        (rows, memory.counts)
    });
    budget.check()?;
    Ok(batch(parts, begin, |row| row.pair.is_some()))
}

fn batch<R>(parts: Vec<(Vec<R>, Counts)>, begin: Instant, is_hit: impl Fn(&R) -> bool) -> Batch<R> {
    let mut rows = Vec::with_capacity(parts.iter().map(|(rows, _)| rows.len()).sum());
    let mut counts = Counts::default();
    for (more, counted) in parts {
        rows.extend(more);
        counts.add(&counted);
    }
    let mut stats = Stats {
        candidate_count: counts.candidates,
        refined_count: counts.refined,
        settled_count: counts.settled,
        hit_count: rows.iter().filter(|row| is_hit(row)).count() as u64,
        ..Stats::default()
    };
    stats.times.kernels_ms = begin.elapsed().as_secs_f64() * 1e3;
    Batch::new(rows, stats)
}
