//! Distances, contacts and manifolds on the device: reading back windows and making the answer.

use crate::collide::narrow_phase::cpu::listed_count;
use std::{marker::PhantomData, sync::Arc};

use glam::DVec3;

use crate::collide::broad_phase::estimate::CountedSoFar;
use crate::collide::narrow_phase::kernels::{MEASURES, Stages};
use crate::collide::narrow_phase::measure::Row;
use crate::collide::narrow_phase::measured::Measured;
use crate::collide::narrow_phase::rows::{Batch, Stats};
use crate::collide::narrow_phase::settle;
use crate::collide::narrow_phase::settle::{MeasureRequest, Measures};
use crate::collide::query::device_rows::MeasuredRow;
use crate::collide::query::gpu::arena::GpuArena;
use crate::collide::query::gpu::narrow::{DeviceQuery, check_row_count_unmoved, start};
use crate::collide::query::gpu::verdicts::status_of;
use crate::collide::scene::budget::RowBudget;
use crate::collide::scene::placed::{center, center_at};
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::error::Result;
use crate::parallel::map;
use crate::pending::Pending;

/// Answers a measuring query.
pub(crate) fn measures<R: Row + 'static>(
    arena: &Arc<GpuArena>,
    scene: &Arc<Scene>,
    input: QueryInput,
    request: MeasureRequest,
) -> Result<Pending<Batch<R>>> {
    start(arena, scene, input, MeasureQuery { request, rows: Vec::new(), of: PhantomData })
}

/// A measuring query on the device, with its rows so far.
struct MeasureQuery<R> {
    request: MeasureRequest,
    rows: Vec<MeasuredRow>,
    of: PhantomData<fn() -> R>,
}

impl<R: Row + 'static> DeviceQuery for MeasureQuery<R> {
    type Answer = Batch<R>;
    const LABEL: &'static str = "hullfield.collide.measures";
    const ROW_BYTES: usize = size_of::<R>();

    fn stages(&self) -> &'static Stages {
        &MEASURES
    }

    fn margin(&self) -> f32 {
        self.request.margin as f32
    }

    fn with_depth(&self) -> bool {
        R::WITH_DEPTH
    }

    fn take_rows(&mut self, words: &[u32]) {
        self.rows.extend_from_slice(bytemuck::cast_slice::<u32, MeasuredRow>(words));
    }

    fn take_given(&mut self, pairs: &[[u32; 2]], verdicts: &[u32], data: &[u32]) {
        for ((&[a, b], &verdict), data) in pairs.iter().zip(verdicts).zip(data.chunks_exact(8)) {
            let [gap, nx, ny, nz, x, y, z, error] = std::array::from_fn(|at| f32::from_bits(data[at]));
            let code = verdict & 0xff;
            self.rows.push(MeasuredRow {
                a,
                b,
                // The code of pairs apart within the margin means separated here.
                status: if code == 4 { 0 } else { code },
                gap,
                normal: [nx, ny, nz],
                anchor: verdict >> 8,
                point: [x, y, z],
                error,
            });
        }
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
        let request = self.request;
        check_row_count_unmoved(scene, input, counted_so_far, self.grow(), budget, &|sample, pairs| {
            listed_count::<R>(scene, &sample.input, pairs, request)
        })
    }

    fn finish(
        mut self,
        scene: &Scene,
        input: &QueryInput,
        refined: u64,
        stats: Stats,
        sorted: bool,
    ) -> Result<Batch<R>> {
        if !sorted {
            self.rows.sort_unstable_by_key(|row| (row.a, row.b));
        }
        let margin = self.request.margin;
        let rows = map(&self.rows, |row| match measured(scene, input, row) {
            Some(measured) => R::of_stored(scene, input.stored(), [row.a, row.b], &measured, margin),
            None => R::open(row.a, row.b),
        });
        let open = (0..self.rows.len()).filter(|&at| status_of(self.rows[at].status).is_none()).collect();
        let found = Measures { rows, open, refined_count: refined, settled_count: 0 };
        Ok(settle::finish_measures(scene, input, self.request, found, stats))
    }
}

/// The measurement of a row, in world units, its point relative to the pair's base; `None` where only f64 can decide.
fn measured(scene: &Scene, input: &QueryInput, row: &MeasuredRow) -> Option<Measured> {
    let status = status_of(row.status)?;
    let gap = f64::from(row.gap);
    let normal = DVec3::from(row.normal.map(f64::from));
    let anchor = if row.anchor == 0 { row.a } else { row.b };
    let body = &input.bodies[anchor as usize];
    let record = &scene.supports.records[body.hull as usize];
    let center = match input.stored().base(&scene.hulls, [row.a, row.b]) {
        None => center(body, record),
        Some(base) => center_at(body, input.positions[anchor as usize] - base, false, record),
    };
    let point = center.position + DVec3::from(row.point.map(f64::from));
    let on_a = if row.anchor == 0 { point } else { point - normal * gap };
    Some(Measured { status, gap, normal, on_a })
}
