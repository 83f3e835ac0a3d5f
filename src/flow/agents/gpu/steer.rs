//! Encodes directions for agents on the device.

use bytemuck::Zeroable;

use crate::error::{Error, Result};
use crate::flow::agents::gpu::kernels::{STEER, SteerParams};
use crate::flow::agents::steer::SteerOptions;
use crate::flow::field::gpu::device_field::DeviceField;
use crate::flow::field::gpu::kernels::{FlowParams, corner_rule};
use crate::flow::grid::cells::Grid;
use crate::flow::grid::moves::{Connectivity, Corners};
use crate::gpu::buffer::Buffer;
use crate::gpu::buffer::{chunk_len, chunks};
use crate::gpu::frame::Frame;

/// The cost of an agent in steps (see `Context::pieces`), apart from the steps along a line of sight.
const AGENT_STEPS: u64 = 60;

/// Encodes the directions of agents at positions in the world.
///
/// # Errors
/// [`Error::MemoryLimit`] if the field is in several strips; of the device.
pub(crate) fn encode_directions(
    frame: &mut Frame,
    grid: &Grid,
    device: &DeviceField,
    positions: &Buffer<[f32; 4]>,
    directions: &Buffer<[f32; 4]>,
    options: &SteerOptions,
) -> Result<()> {
    let context = frame.context().clone();
    let [strip] = &device.strips[..] else {
        let needed_bytes = grid.cell_count() as u64 * 4;
        let limit_bytes = context.binding_limit();
        return Err(Error::MemoryLimit {
            what: "a field that directions are encoded of",
            needed_bytes,
            limit_bytes,
        });
    };
    let (size, grid_frame) = (grid.size(), grid.frame());
    let row_words = 2 * grid.row_words() as u32;
    let mut params = FlowParams { size, row_words, ..FlowParams::zeroed() };
    params.set_moves(grid);
    let connectivity = grid.connectivity();
    let sight_rule = match connectivity {
        Connectivity::Four | Connectivity::Six => Corners::BothFree,
        Connectivity::Eight(corners) | Connectivity::TwentySix(corners) => corners,
    };
    let axis = |axis: usize| {
        let [x, y, z] = grid_frame.axes[axis].map(|part| part as f32);
        [x, y, z, 0.0]
    };
    let steer = SteerParams {
        axis_x: axis(0),
        axis_y: axis(1),
        axis_z: axis(2),
        origin: grid_frame.origin.map(|part| part as f32),
        cell_size: grid_frame.cell_size as f32,
        first_distance: strip.first_distance as u32,
        first_word: strip.first_word as u32,
        sight: if grid.costs().is_empty() { options.sight } else { 0 },
        sight_rule: corner_rule(sight_rule),
        is_flat: (connectivity.dimension() == 2).into(),
        ..SteerParams::default()
    };
    let params = frame.uniform(&params)?;
    let chunk = chunk_len::<[f32; 4]>(&context);
    for range in chunks(positions.len(), chunk) {
        let steps = AGENT_STEPS + 4 * u64::from(steer.sight);
        // Pieces start at offsets at which a binding may.
        for piece in context.pieces(range.len() as u64, steps, 256) {
            let part = range.start + piece.start as usize..range.start + piece.end as usize;
            let steer = SteerParams { agent_count: part.len() as u32, ..steer };
            let bound = [
                params.clone(),
                frame.uniform(&steer)?,
                device.blocked.bind(),
                strip.codes.bind(),
                strip.distances.bind(),
                positions.bind_range(part.clone()),
                directions.bind_range(part.clone()),
            ];
            frame.dispatch(&STEER, &bound, STEER.groups(part.len() as u64))?;
        }
    }
    Ok(())
}
