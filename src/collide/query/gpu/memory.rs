//! The device memory that a query takes: what [`Arena::estimate`](crate::collide::Arena::estimate) answers.

use std::sync::atomic::Ordering::Relaxed;

use crate::collide::bvh::aabb::Aabb;
use crate::collide::narrow_phase::kernels::{RUN, Stages, VERDICTS};
use crate::collide::query::estimate::Estimate;
use crate::collide::query::gpu::arena::{GpuArena, SEGMENT_COUNT, pair_total};
use crate::collide::query::gpu::broad::{GpuBroadPhase, TILE_LIMIT};
use crate::collide::query::gpu::rules::RuleTables;
use crate::collide::query::gpu::statics::GpuStatics;
use crate::collide::query::gpu::tree::levels_of;
use crate::collide::query::kinds::Query;
use crate::collide::ray::kernels::DeviceRay;
use crate::collide::scene::packed_body::PackedBody;
use crate::collide::scene::packed_motion::PackedMotion;
use crate::collide::scene::pairs::Pairs;
use crate::collide::scene::rules::PairRules;
use crate::gpu::sort;

const BODY: u64 = size_of::<PackedBody>() as u64;
const BOX: u64 = size_of::<Aabb>() as u64;
const RAY: u64 = size_of::<DeviceRay>() as u64;
const MOTION: u64 = size_of::<PackedMotion>() as u64;

impl GpuArena {
    /// The device memory that a query over so many movers takes.
    pub(crate) fn estimate(
        &self,
        query: Query,
        body_count: usize,
        pairs: &Pairs<'_>,
        rules: Option<&PairRules>,
    ) -> Estimate {
        let columns = body_count + self.statics().map_or(0, GpuStatics::len);
        // Where the bodies do not fit in one binding, two blocks are on the device at a time, one of them with a tree of its own.
        let (movers, columns, block) = match self.fits(columns) {
            true => (body_count, columns, 0),
            false => {
                let block = self.block_len();
                (body_count.min(block), columns.min(2 * block), block.min(columns))
            }
        };
        if query == Query::Raycasts {
            return self.ray_bytes(body_count, columns);
        }
        let stages = query.stages().map(|(stages, _)| stages);
        let pairs = if stages.is_none() { &Pairs::BroadPhase } else { pairs };
        let motions = match query {
            Query::Sweeps | Query::EncodedSweeps => MOTION * movers as u64,
            _ => 0,
        };
        let searched = match pairs {
            Pairs::BroadPhase => self.broad_phase_bytes(query, movers, columns, rules),
            Pairs::Exhaustive => 16 * columns as u64,
            Pairs::Given(_) => 0,
        };
        let tables = match (pairs, rules) {
            (Pairs::BroadPhase, Some(rules)) => RuleTables::bytes(rules, columns),
            _ => 0,
        };
        let of_block = if block > 0 { (BODY + BOX) * block as u64 + tree_bytes(block) } else { 0 };
        let body_bytes = BODY * columns as u64 + motions + searched + tables + of_block;
        let (candidate_bytes, read_bytes) = self.pair_bytes(query, stages, body_count, pairs);
        let given = match pairs {
            Pairs::Given(pairs) => 8 * pairs.len().min(self.window_limit(body_count, &VERDICTS)) as u64,
            _ => 0,
        };
        let staging_bytes = BODY * movers as u64 + motions + tables + given + read_bytes;
        Estimate { hull_bytes: self.hull_bytes(), body_bytes, candidate_bytes, staging_bytes }
    }

    /// What a query with a window of rays takes; nothing where the bodies do not fit, as the CPU answers then.
    fn ray_bytes(&self, movers: usize, columns: usize) -> Estimate {
        if !self.fits(columns) {
            return Estimate::default();
        }
        let digits = if sort::is_short(&self.context, movers) { 0 } else { sort::counts_bytes(movers) };
        let body_bytes = BODY * columns as u64 + tree_bytes(columns) + digits;
        let candidate_bytes = (RAY + 4) * self.ray_window(columns) as u64;
        let staging_bytes = BODY * movers as u64 + candidate_bytes;
        Estimate { hull_bytes: self.hull_bytes(), body_bytes, candidate_bytes, staging_bytes }
    }

    /// What the broad phase keeps of each body: counts, and boxes or a tree.
    fn broad_phase_bytes(
        &self,
        query: Query,
        movers: usize,
        columns: usize,
        rules: Option<&PairRules>,
    ) -> u64 {
        if columns <= TILE_LIMIT && rules.is_none() {
            let counts = movers * SEGMENT_COUNT as usize + 1;
            return BOX * columns as u64 + 4 * counts as u64;
        }
        if rules.is_some_and(PairRules::has_small_worlds_only) {
            // The partners of a mover in its world, and its count.
            return BOX * columns as u64 + 4 * (2 * movers as u64 + 1);
        }
        let has_heavy_rows = query.is_encoded() || self.high_water.heavy.load(Relaxed) > 0;
        let boxes = if has_heavy_rows { BOX * columns as u64 } else { 0 };
        let digits = if sort::is_short(&self.context, movers) { 0 } else { sort::counts_bytes(movers) };
        tree_bytes(columns) + 4 * (movers as u64 + 1) + digits + boxes
    }

    /// What a window of pairs takes, and how much of it is read back.
    fn pair_bytes(
        &self,
        query: Query,
        stages: Option<&'static Stages>,
        body_count: usize,
        pairs: &Pairs<'_>,
    ) -> (u64, u64) {
        if query.is_encoded() {
            return (0, 0);
        }
        let Some(stages) = stages else {
            let window = self.candidate_capacity(body_count);
            return (8 * GpuBroadPhase::room(window) as u64, 8 * window as u64);
        };
        let limit = self.window_limit(body_count, stages);
        let total = match pairs {
            Pairs::BroadPhase => self.candidate_capacity(body_count).min(limit) as u64,
            Pairs::Exhaustive => pair_total(body_count),
            Pairs::Given(pairs) => pairs.len() as u64,
        };
        let len = usize::try_from(total).unwrap_or(usize::MAX).min(limit);
        // Of several windows, two are on the device at a time.
        let times = if total > len as u64 { 2 } else { 1 };
        let is_given = matches!(pairs, Pairs::Given(_));
        let listed = match pairs {
            Pairs::BroadPhase => 8 * GpuBroadPhase::room(len) as u64,
            Pairs::Exhaustive => 0,
            Pairs::Given(_) => 8 * len as u64,
        };
        let data = if is_given || stages.rows_have_data { 4 * stages.data_words as u64 } else { 0 };
        // A verdict, an entry in the list of pairs to refine, data.
        let own = (4 + 4 + data) * len as u64;
        let (rows, read) = match is_given {
            true => (0, (4 + data) * len as u64),
            false => {
                let rows = 4 * (stages.row_words * self.hit_capacity(len)) as u64;
                (rows + 4 * len.div_ceil(RUN) as u64, rows)
            }
        };
        (times * (listed + own + rows), times * read)
    }
}

/// Leaves and nodes.
fn tree_bytes(count: usize) -> u64 {
    BOX * (count + levels_of(0, count).2) as u64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::collide::narrow_phase::rows::{Contact, Precision, Stats};
    use crate::collide::narrow_phase::settle::MeasureRequest;
    use crate::collide::query::gpu::arena::HighWaterMarks;
    use crate::collide::query::gpu::{candidates, measures, sweeps, verdicts};
    use crate::collide::scene::body::Body;
    use crate::collide::scene::columns::BodyColumns;
    use crate::collide::scene::exclusions::Exclusions;
    use crate::collide::scene::layout::Layout;
    use crate::collide::scene::motion::Motion;
    use crate::collide::scene::query_input::{QueryInput, Scene};
    use crate::engine::Engine;
    use crate::testing;

    /// A lattice of unit cubes. In a row two of three gaps are wide, so a body has two thirds of a partner.
    fn sparse(count: usize) -> Vec<Body> {
        lattice(count, |at| [0.0, 0.9, 3.0][at % 3] + (at / 3) as f32 * 5.0, 3.0)
    }

    /// A lattice of unit cubes that overlap with all their neighbours, 26 inside.
    fn dense(count: usize) -> Vec<Body> {
        lattice(count, |at| at as f32 * 0.9, 0.9)
    }

    fn lattice(count: usize, along: impl Fn(usize) -> f32, step: f32) -> Vec<Body> {
        let side = (1..).find(|side| side * side * side >= count).unwrap();
        let place = |at: usize| {
            let (y, z) = (at / side % side, at / side / side);
            [along(at % side), y as f32 * step, z as f32 * step]
        };
        (0..count).map(|at| Body::new(0).at(place(at))).collect()
    }

    /// Bytes of one steady frame without staging and hulls, and the estimate.
    fn frame_bytes(query: Query, columns: BodyColumns<'_>) -> (u64, Estimate, Stats) {
        let bodies = columns.bodies;
        let hulls = [crate::collide::Hull::cuboid([0.5; 3]).unwrap()];
        let scene = Arc::new(Scene::new(&hulls).unwrap());
        let mut marks = Arc::<HighWaterMarks>::default();
        // The first run finds the numbers of pairs and rows. The second begins with them, on a device that has no buffers yet, and runs
        // one frame.
        let mut run = |engine: Engine| {
            let context = engine.context()?;
            let arena = GpuArena::new(context, &scene).unwrap();
            let arena = Arc::new(GpuArena { high_water: Arc::clone(&marks), ..arena });
            let layout = Layout { packed: true, placed: false };
            let input = QueryInput::new(&scene, columns, None, Pairs::BroadPhase, layout).unwrap();
            let rules = Some(&*input.rules).filter(|rules| !rules.allow_all());
            let estimate = arena.estimate(query, bodies.len(), &Pairs::BroadPhase, rules);
            let stats = match query {
                Query::Candidates => {
                    candidates::candidates(&arena, &scene, input).unwrap().wait().unwrap();
                    Stats::default()
                }
                Query::Intersections => {
                    verdicts::intersections(&arena, &scene, input).unwrap().wait().unwrap().stats
                }
                Query::Contacts => {
                    let request = MeasureRequest { margin: 0.0, precision: Precision::Fast };
                    let found = measures::measures::<Contact>(&arena, &scene, input, request);
                    found.unwrap().wait().unwrap().stats
                }
                _ => {
                    let motions =
                        vec![Motion { velocity: [0.0, 0.1, 0.0], ..Motion::default() }; bodies.len()];
                    let found = sweeps::sweeps(&arena, &scene, input, motions, 1.0, false);
                    found.unwrap().wait().unwrap().stats
                }
            };
            marks = Arc::clone(&arena.high_water);
            let taken = context.pool().free_bytes();
            for (label, bytes) in &taken {
                println!("{query:?}: {label} {bytes}, {:.2} a body", *bytes as f64 / bodies.len() as f64);
            }
            Some((taken.iter().map(|(_, bytes)| bytes).sum(), estimate, stats))
        };
        run(testing::gpu().unwrap());
        run(testing::own_gpu().unwrap()).unwrap()
    }

    fn check(query: Query, bodies: &[Body], most: f64) {
        check_columns(query, bodies.into(), most);
    }

    fn check_columns(query: Query, columns: BodyColumns<'_>, most: f64) -> Estimate {
        let bodies = columns.bodies;
        let (taken, estimate, stats) = frame_bytes(query, columns);
        let estimated = estimate.body_bytes + estimate.candidate_bytes;
        let (count, pairs) = (bodies.len() as f64, stats.candidate_count as f64);
        let a_body = (taken - estimate.candidate_bytes) as f64 / count;
        println!(
            "{count} bodies, {query:?}: {a_body:.2} bytes a body, {:.2} for each of {pairs} pairs",
            estimate.candidate_bytes as f64 / pairs
        );
        assert_eq!(stats.rerun_count, 0);
        // Uniforms, the list of half-spaces and the like.
        let small = 64 << 10;
        assert!(taken >= estimated && taken <= estimated + small, "{query:?}: {taken} bytes, {estimate:?}");
        assert!(estimate.body_bytes as f64 / count <= most, "{query:?}: {estimate:?}");
        estimate
    }

    #[test]
    fn a_body_takes_at_most_128_bytes() {
        if testing::gpu().is_none() {
            return;
        }
        // The large crowd is sorted by digits.
        let [few, many] = [3_000, 33_000].map(sparse);
        for (query, bodies, most) in [
            (Query::Candidates, &many, 128.0),
            (Query::Intersections, &few, 128.0),
            (Query::Contacts, &few, 128.0),
            (Query::Contacts, &many, 128.0),
            (Query::Sweeps, &many, 160.0),
        ] {
            check(query, bodies, most);
        }
        // Tiles: a box and eight counts.
        check(Query::Intersections, &sparse(2_000), 144.1);
    }

    /// Worlds, owners and exclusions: ten bytes a body here, in tables.
    #[test]
    fn rules_take_a_few_bytes_of_each_body() {
        if testing::gpu().is_none() {
            return;
        }
        for count in [2_000, 33_000] {
            let bodies = sparse(count);
            let worlds: Vec<u32> = (0..count as u32).map(|row| row / 1_000).collect();
            let owners: Vec<u32> = (0..count as u32).map(|row| row / 2).collect();
            let exclusions = Exclusions::new(&[[1, 2], [3, 4]]).unwrap();
            let columns = BodyColumns {
                worlds: &worlds,
                owners: &owners,
                exclusions: Some(&exclusions),
                ..BodyColumns::new(&bodies)
            };
            let limited = check_columns(Query::Intersections, columns, 148.0);
            let (_, plain, _) = frame_bytes(Query::Intersections, (&bodies).into());
            // Few bodies are in tiles without rules, and in a tree with them.
            let more = limited.body_bytes as f64 - plain.body_bytes as f64;
            let a_body = more / count as f64;
            assert!(count < 33_000 || (10.0..10.1).contains(&a_body), "{a_body}");
        }
    }

    /// Small worlds: a box, a word of partners and a count, and the tables.
    #[test]
    fn a_body_of_a_small_world_takes_128_bytes() {
        if testing::gpu().is_none() {
            return;
        }
        for count in [300, 33_000] {
            let bodies = sparse(count);
            let worlds: Vec<u32> = (0..count as u32).map(|row| row / 32).collect();
            let columns = BodyColumns { worlds: &worlds, ..BodyColumns::new(&bodies) };
            for query in [Query::Candidates, Query::Intersections] {
                check_columns(query, columns, 128.0);
            }
        }
    }

    #[test]
    fn a_pair_takes_at_most_28_bytes() {
        if testing::gpu().is_none() {
            return;
        }
        let bodies = dense(3_000);
        check(Query::Intersections, &bodies, 128.0);
        let (_, estimate, stats) = frame_bytes(Query::Intersections, (&bodies).into());
        // All these pairs have rows. The room is for an eighth more, and for two rows that a window cuts.
        let least = stats.candidate_count + stats.candidate_count / 8;
        let a_pair = (estimate.candidate_bytes - 8 * 1024) as f64 / least as f64;
        assert!(stats.hit_count == stats.candidate_count && a_pair <= 28.3, "{a_pair}: {stats:?}");
    }

    #[test]
    fn a_heavy_row_takes_a_box_of_each_body() {
        if testing::gpu().is_none() {
            return;
        }
        let mut bodies = sparse(3_000);
        bodies[0].scale = [1000.0; 3];
        check(Query::Intersections, &bodies, 160.0);
        let (_, estimate, _) = frame_bytes(Query::Intersections, (&bodies).into());
        // Control: without the boxes it would be less.
        assert!(estimate.body_bytes > 150 * 3_000, "{estimate:?}");
    }

    #[test]
    #[ignore = "long: cargo xtask test --all"]
    fn a_body_of_a_large_crowd_takes_at_most_128_bytes() {
        if testing::gpu().is_none() {
            return;
        }
        let bodies = sparse(300_000);
        check(Query::Intersections, &bodies, 128.0);
    }
}
