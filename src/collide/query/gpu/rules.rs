//! The tables of `shaders/collide/broad_phase/pair_rules.wgsl`: which pairs of the bodies on a device may meet.

use std::ops::Range;

use crate::collide::scene::rules::PairRules;
use crate::gpu::pool::BoundRange;

/// The world of bodies that meet all: `ANY_WORLD` in `pair_rules.wgsl`.
const ANY_WORLD: u32 = u32::MAX;

/// The bodies on a device: rows, then columns, each with the ids of a query.
#[derive(Debug, Clone)]
pub(crate) struct DeviceIds {
    pub(crate) rows: Range<usize>,
    pub(crate) columns: Range<usize>,
}

/// The tables, behind the ids of the half-spaces. A table that begins at 0 is not there.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleTables {
    pub(crate) words: Vec<u32>,
    /// The world of each body.
    pub(crate) world_begin: u32,
    /// The first row of each world, and one past the last row.
    pub(crate) start_begin: u32,
    /// The owner of each body.
    pub(crate) owner_begin: u32,
    /// Where in `words` the list of each owner begins, and where the last one ends.
    pub(crate) list_begin: u32,
    /// Whether there are worlds, and all are small.
    pub(crate) has_small_worlds_only: bool,
}

impl RuleTables {
    /// Those of some rules behind `planes`, the half-spaces.
    pub(crate) fn new(rules: &PairRules, planes: &[u32], ids: &DeviceIds) -> Self {
        let all = || ids.rows.clone().chain(ids.columns.clone());
        let has_small_worlds_only = rules.has_small_worlds_only();
        let mut made = Self { words: planes.to_vec(), has_small_worlds_only, ..Self::default() };
        // No table begins at 0.
        made.words.push(0);
        if rules.has_worlds() {
            made.world_begin = made.words.len() as u32;
            made.words.reserve(ids.rows.len() + ids.columns.len() + rules.starts.len());
            for ids in [&ids.rows, &ids.columns] {
                let movers = ids.start.min(rules.world_of.len())..ids.end.min(rules.world_of.len());
                let others = ids.len() - movers.len();
                made.words.extend_from_slice(&rules.world_of[movers]);
                made.words.resize(made.words.len() + others, ANY_WORLD);
            }
            made.start_begin = made.words.len() as u32;
            let row_of = |&id: &u32| (id as usize).clamp(ids.rows.start, ids.rows.end) - ids.rows.start;
            made.words.extend(rules.starts.iter().map(|id| row_of(id) as u32));
        }
        if rules.has_filter() {
            made.owner_begin = made.words.len() as u32;
            let owner = |id: usize| rules.owner_of.get(id).copied().unwrap_or(id as u32);
            made.words.extend(all().map(owner));
        }
        if !rules.list_starts.is_empty() {
            made.list_begin = made.words.len() as u32;
            let first = (made.words.len() + rules.list_starts.len()) as u32;
            made.words.extend(rules.list_starts.iter().map(|start| first + start));
            made.words.extend(&rules.excluded);
        }
        made
    }

    /// Bytes of the tables for so many bodies on a device.
    pub(crate) fn bytes(rules: &PairRules, body_count: usize) -> u64 {
        let worlds = if rules.has_worlds() { body_count + rules.starts.len() } else { 0 };
        let owners = if rules.has_filter() { body_count } else { 0 };
        let lists = rules.list_starts.len() + rules.excluded.len();
        4 * (1 + worlds + owners + lists) as u64
    }
}

/// What the kernels of keys read of the tables, where there are worlds.
#[derive(Debug, Clone)]
pub(crate) struct WorldTables {
    pub(crate) words: BoundRange,
    pub(crate) world_begin: u32,
    pub(crate) start_begin: u32,
}
