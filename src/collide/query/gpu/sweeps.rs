//! Sweeps on the device: reading back windows and making the answer.
//!
//! One kernel cuts the path of each pair down to where its bounding spheres meet, and another casts the rest. Pairs that may touch at
//! the start go on to EPA. The host settles in f64, on all cores, the pairs that f32 cannot decide and those with a body that rotates
//! that come near each other.

use std::sync::Arc;

use glam::DVec3;
use web_time::Instant;

use crate::collide::broad_phase::estimate::{CountedSoFar, check_row_count_on_host};
use crate::collide::narrow_phase::kernels::Stages;
use crate::collide::narrow_phase::rows::{Batch, Precision, Stats};
use crate::collide::narrow_phase::settle::{log_settled, milliseconds};
use crate::collide::query::gpu::arena::GpuArena;
use crate::collide::query::gpu::narrow::{DeviceQuery, start};
use crate::collide::scene::budget::RowBudget;
use crate::collide::scene::motion::Motion;
use crate::collide::scene::packed_motion::PackedMotion;
use crate::collide::scene::pairs::OwnedPairs;
use crate::collide::scene::placed::rotation;
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::collide::sweep::kernels::{SWEEPS, VERDICT_HIT, VERDICT_WITHIN};
use crate::collide::sweep::outcome::Swept;
use crate::collide::sweep::query::{Moves, SweepQuery};
use crate::collide::sweep::rows::{Sweep, SweepOutcome};
use crate::error::{Error, Result};
use crate::parallel::map;
use crate::pending::Pending;

/// Answers a query: see [`Arena::sweeps`](crate::collide::query::arena::Arena::sweeps).
pub(crate) fn sweeps(
    arena: &Arc<GpuArena>,
    scene: &Arc<Scene>,
    input: QueryInput,
    motions: Vec<Motion>,
    duration: f32,
    witness: bool,
) -> Result<Pending<Batch<Sweep>>> {
    let packed = map(&motions, |&motion| PackedMotion::from(motion));
    start(arena, scene, input, DeviceSweeps { motions, packed, duration, witness, rows: Vec::new() })
}

/// A row as the device returns it.
#[derive(Debug, Clone, Copy)]
struct DeviceSweepRow {
    a: u32,
    b: u32,
    /// A verdict of `shaders/collide/narrow_phase/params.wgsl`, or [`VERDICT_HIT`] or [`VERDICT_WITHIN`].
    code: u32,
    /// For a hit: after this time the bodies move by `way` at `rate` until they meet.
    time: f32,
    way: f32,
    rate: f32,
    /// Unit vector from `a` to `b`.
    normal: [f32; 3],
}

impl DeviceSweepRow {
    fn of(a: u32, b: u32, code: u32, data: [u32; 6]) -> Self {
        let [time, x, y, z, way, rate] = data.map(f32::from_bits);
        Self { a, b, code, time, way, rate, normal: [x, y, z] }
    }

    /// The normal. That of a half-space is computed in f64: with the least error, bodies far away would not lie above the plane.
    fn normal(&self, scene: &Scene, input: &QueryInput) -> DVec3 {
        for (body, sign) in [(self.a, 1.0), (self.b, -1.0)] {
            let body = &input.bodies[body as usize];
            if scene.supports.records[body.hull as usize].half_space != 0 {
                return rotation(body.rotation) * (DVec3::Y * sign);
            }
        }
        DVec3::from(self.normal.map(f64::from))
    }

    /// The result; `None` where only f64 can decide.
    fn swept(&self, scene: &Scene, input: &QueryInput, duration: f64) -> Option<Swept> {
        let normal = || self.normal(scene, input);
        match self.code {
            0 => Some(Swept::MISS),
            1 | 2 => Some(Swept::touching(normal())),
            VERDICT_HIT => {
                let time = f64::from(self.time) + f64::from(self.way) / f64::from(self.rate);
                Some(Swept::hit(time.clamp(0.0, duration), normal()))
            }
            _ => None,
        }
    }
}

/// A query for sweeps on the device, with its rows so far.
struct DeviceSweeps {
    motions: Vec<Motion>,
    packed: Vec<PackedMotion>,
    duration: f32,
    /// Whether rows have the points that meet.
    witness: bool,
    rows: Vec<DeviceSweepRow>,
}

impl DeviceQuery for DeviceSweeps {
    type Answer = Batch<Sweep>;
    const LABEL: &'static str = "hullfield.collide.sweeps";
    const ROW_BYTES: usize = size_of::<Sweep>();

    fn stages(&self) -> &'static Stages {
        &SWEEPS
    }

    // Pairs that may touch at the start, but are apart, must have rows too.
    fn margin(&self) -> f32 {
        f32::MAX
    }

    fn with_depth(&self) -> bool {
        true
    }

    fn grow(&self) -> f32 {
        0.0
    }

    fn motions(&self) -> Option<(&[PackedMotion], f32)> {
        Some((&self.packed, self.duration))
    }

    fn take_rows(&mut self, words: &[u32]) {
        self.rows.extend(words.chunks_exact(12).map(|words| {
            // A separated pair has a row only where it may touch at the start.
            let code = if words[2] == 0 { VERDICT_WITHIN } else { words[2] };
            DeviceSweepRow::of(
                words[0],
                words[1],
                code,
                [words[3], words[4], words[5], words[6], words[8], words[9]],
            )
        }));
    }

    fn take_given(&mut self, pairs: &[[u32; 2]], verdicts: &[u32], data: &[u32]) {
        let rows = pairs.iter().zip(verdicts).zip(data.chunks_exact(8));
        self.rows.extend(rows.map(|((&[a, b], &code), data)| {
            DeviceSweepRow::of(a, b, code & 0xff, [data[0], data[1], data[2], data[3], data[4], data[5]])
        }));
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn check_row_count(
        &self,
        scene: &Scene,
        input: &QueryInput,
        counted_so_far: CountedSoFar,
        budget: &RowBudget,
    ) -> Result<bool> {
        let (motions, duration) = (&self.motions[..], f64::from(self.duration));
        let (moves, precision) = (Moves::new(motions), Precision::Fast);
        let boxes = || SweepQuery { scene, input, moves, duration, precision }.boxes();
        check_row_count_on_host(scene, input, counted_so_far, 0.0, &boxes, budget, &|sample, pairs| {
            // Statics do not move.
            let motion = |&id: &u32| motions.get(id as usize).copied().unwrap_or_default();
            let motions: Vec<Motion> = sample.ids.iter().map(motion).collect();
            let (input, moves) = (&sample.input, Moves::new(&motions));
            SweepQuery { scene, input, moves, duration, precision }.row_count(pairs)
        })
    }

    fn finish(
        mut self,
        scene: &Scene,
        input: &QueryInput,
        refined: u64,
        mut stats: Stats,
        sorted: bool,
    ) -> Result<Batch<Sweep>> {
        if !sorted {
            self.rows.sort_unstable_by_key(|row| (row.a, row.b));
        }
        let settle_begin = Instant::now();
        let duration = f64::from(self.duration);
        let (moves, precision) = (Moves::new(&self.motions), Precision::Fast);
        let query = SweepQuery { scene, input, moves, duration, precision };
        let found = map(&self.rows, |row| row.swept(scene, input, duration));
        let open: Vec<&DeviceSweepRow> =
            self.rows.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(row, _)| row).collect();
        let mut settled = map(&open, |row| {
            let normal = (row.code == VERDICT_WITHIN).then(|| row.normal(scene, input));
            query.settle_whole(row.a, row.b, normal)
        })
        .into_iter();
        stats.settled_count = open.len() as u64;
        log_settled(&stats);
        let keep_all = matches!(input.pairs, OwnedPairs::Given(_));
        let mut rows = Vec::with_capacity(self.rows.len());
        for (row, found) in self.rows.iter().zip(found) {
            let Some(swept) = found.or_else(|| settled.next()) else {
                let message = format!("pair {} {} is open, and was not settled", row.a, row.b);
                return Err(Error::internal("collide::gpu::sweeps::finish", message));
            };
            if keep_all || swept.outcome != SweepOutcome::Miss {
                rows.push(swept.row(row.a, row.b, duration));
            }
        }
        if self.witness {
            query.add_witnesses(&mut rows);
        }
        stats.refined_count = refined;
        stats.hit_count = rows.iter().filter(|row| row.outcome != SweepOutcome::Miss).count() as u64;
        stats.times.upload_ms += input.upload_ms;
        stats.times.settle_ms = milliseconds(settle_begin);
        Ok(Batch::new(rows, stats))
    }
}
