//! Distances of 64 bits that the kernel of `relax_2d.wgsl` lowers from some cells. The CPU's form is `src/flow/field/cpu/improve.rs`.

use crate::error::Result;
use crate::flow::field::above::{Above, Work};
use crate::flow::field::cpu::moves::CostRange;
use crate::flow::field::gpu::batch::{FieldBatch, QUEUE_ARRAYS};
use crate::flow::field::gpu::grid::DeviceGrid;
use crate::flow::field::gpu::kernels::{ACTIVE_COUNT, HEADER};
use crate::flow::field::gpu::rounds::{GOAL_PHASE, MAX_ROUNDS, Start};
use crate::flow::field::gpu::solve::SPARE_ROUNDS;
use crate::flow::field::gpu::strips::{Layout, TileMethod};
use crate::flow::grid::cells::Grid;
use crate::gpu::context::Context;
use crate::gpu::frame::Frame;

const LABEL: &str = "hullfield.flow.improve";

/// Lowers distances from the cells `seeds`, whose own have been lowered, as far as moves allow; none beyond `max_distance`. Where no
/// move lowers a distance but from the seeds, no move does afterwards. `u64::MAX` is unreachable.
///
/// Works with what is above the least distance of the seeds, in 32 bits. Returns false, and leaves all distances as they are,
/// where that comes too close to what 32 bits hold, and for a grid that is too large for the device. `spare` is written over.
///
/// Waits for the device, so no thread of the library's pool may call it.
///
/// # Errors
/// Of the device.
pub(crate) fn improve(
    context: &Context,
    grid: &Grid,
    costs: CostRange,
    distances: &mut [u64],
    seeds: &[u32],
    max_distance: u64,
    spare: &mut Vec<u32>,
) -> Result<bool> {
    let above = match Above::of_seeds(distances, seeds, max_distance, costs.longest_step(grid)) {
        Work::Nothing => return Ok(true),
        Work::TooWide => return Ok(false),
        Work::Above(above) => above,
    };
    let Some(device) = DeviceGrid::new(context, grid)? else { return Ok(false) };
    spare.clear();
    spare.extend(distances.iter().map(|&distance| above.of(distance)));
    let mut frame = Frame::new(context, LABEL)?;
    let layout = Layout::new(grid, &device.strips, TileMethod::Relax2d, 1, 0);
    let batch = FieldBatch::without_codes(&mut frame, &device, layout, Some(above.max))?;
    batch.upload_distances(&mut frame, spare)?;
    frame.upload(&batch.queue, 0, &queue(&batch.layout, grid.width(), seeds))?;
    batch.run(frame)?;

    let mut frame = Frame::new(context, LABEL)?;
    let halo = batch.layout.strips.halo;
    let strips = batch.distances.iter().zip(&batch.layout.strips.cells);
    let reads = strips.map(|(strip, cells)| frame.read(strip, halo..halo + cells.len()));
    let reads = reads.collect::<Result<Vec<_>>>()?;
    let results = frame.submit_ahead()?.wait()?;
    let strips = reads.iter().map(|read| results.get(read)).collect::<Result<Vec<_>>>()?;
    if !strips.iter().all(|strip| above.is_exact(strip)) {
        return Ok(false);
    }
    for (strip, cells) in strips.iter().zip(&batch.layout.strips.cells) {
        above.lower(&mut distances[cells.clone()], strip);
    }
    Ok(true)
}

/// The arrays of a queue (see `shaders/flow/field/queue.wgsl`): nothing is active, and changed are the tiles that see a seed, which are its own and those
/// around it.
fn queue(layout: &Layout, width: usize, seeds: &[u32]) -> Vec<u32> {
    let tile_count = layout.tile_count();
    let [across, down, _] = layout.params[0].tiles.map(|count| count as usize);
    let [edge_x, edge_y, _] = layout.method.tile_size().map(|edge| edge as usize);
    let mut has_seed = vec![false; tile_count];
    for &seed in seeds {
        let (x, y) = (seed as usize % width, seed as usize / width);
        has_seed[y / edge_y * across + x / edge_x] = true;
    }
    let mut queue = vec![0; QUEUE_ARRAYS * tile_count];
    let changed = &mut queue[(QUEUE_ARRAYS - 1) * tile_count..];
    for tile in (0..tile_count).filter(|&tile| has_seed[tile]) {
        let (x, y) = (tile % across, tile / across);
        for y in y.saturating_sub(1)..(y + 2).min(down) {
            changed[y * across + x.saturating_sub(1)..y * across + (x + 2).min(across)].fill(1);
        }
    }
    queue
}

impl FieldBatch {
    /// Uploads the distances of all cells, those of the halos included.
    fn upload_distances(&self, frame: &mut Frame, distances: &[u32]) -> Result<()> {
        let strips = &self.layout.strips;
        for (strip, (buffer, cells)) in self.distances.iter().zip(&strips.cells).enumerate() {
            let held = strips.held_cells(strip, distances.len());
            frame.upload(buffer, held.start + strips.halo - cells.start, &distances[held])?;
        }
        Ok(())
    }

    /// Runs a frame and those after it until no tile is active, from the tiles that are marked as changed.
    fn run(&self, mut frame: Frame) -> Result<()> {
        let [x, y, _] = self.layout.params[0].tiles;
        let first_count = (2 * (x + y) + SPARE_ROUNDS).min(MAX_ROUNDS);
        let mut rounds = self.encode_rounds(&mut frame, GOAL_PHASE, first_count, 0, &Start::ChangedTiles)?;
        let mut rounds_done = rounds.round_count();
        loop {
            let state = frame.read(&self.state, 0..HEADER)?;
            let results = frame.submit_ahead()?.wait()?;
            if results.get(&state)?[ACTIVE_COUNT + GOAL_PHASE] == 0 {
                return Ok(());
            }
            drop(results);
            frame = Frame::new(&self.device.context, LABEL)?;
            let start = Start::Resume(&rounds);
            rounds = self.encode_rounds(&mut frame, GOAL_PHASE, MAX_ROUNDS, rounds_done, &start)?;
            rounds_done += rounds.round_count();
        }
    }
}
