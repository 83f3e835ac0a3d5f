//! A grid on the device.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::Result;
use crate::flow::field::gpu::strips::{Strips, TileMethod};
use crate::flow::grid::cells::Grid;
use crate::flow::grid::edit::Edit;
use crate::gpu::buffer::Buffer;
use crate::gpu::buffer::chunk_len;
use crate::gpu::context::Context;
use crate::gpu::frame::Frame;

/// The most words that an edit sends one by one; more are sent as the whole range that they span.
const MAX_SINGLE_WORDS: usize = 256;

/// A grid on the device: its obstacles, and its costs if there are any. Cloning it clones handles.
#[derive(Debug, Clone)]
pub(crate) struct DeviceGrid {
    pub(crate) context: Context,
    pub(crate) strips: Strips,
    /// The words of [`Grid::blocked_words`], low half first.
    pub(crate) blocked: Buffer<u32>,
    /// The costs of each strip, halos included; one word each if all costs are 1.
    pub(crate) costs: Vec<Buffer<u32>>,
    pub(crate) last_rounds: Arc<LastRounds>,
}

/// How many rounds each phase of the last field took, and of the last update: the next one starts with about as many.
#[derive(Debug, Default)]
pub(crate) struct LastRounds {
    rounds: [AtomicU32; 4],
}

impl LastRounds {
    pub(crate) fn get(&self, phase: usize) -> u32 {
        self.rounds[phase].load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, phase: usize, rounds: u32) {
        self.rounds[phase].store(rounds, Ordering::Relaxed);
    }
}

impl DeviceGrid {
    /// Sends a grid to the device; `None` if the obstacles, or a single row (or layer) of tiles, do not fit into one
    /// binding.
    ///
    /// # Errors
    /// Of the device.
    pub(crate) fn new(context: &Context, grid: &Grid) -> Result<Option<Self>> {
        let words: &[u32] = bytemuck::cast_slice(grid.blocked_words());
        let Some(strips) = Strips::new(context, grid).filter(|_| words.len() <= chunk_len::<u32>(context))
        else {
            return Ok(None);
        };
        let mut frame = Frame::new(context, "hullfield.flow.grid")?;
        let blocked = Buffer::new(context, "hullfield.flow.blocked", words.len())?;
        frame.upload(&blocked, 0, words)?;
        let costs = Self::send_costs(&mut frame, &strips, grid)?;
        frame.send()?;
        Ok(Some(Self { context: context.clone(), strips, blocked, costs, last_rounds: Arc::default() }))
    }

    fn send_costs(frame: &mut Frame, strips: &Strips, grid: &Grid) -> Result<Vec<Buffer<u32>>> {
        let costs = grid.costs();
        let send = |(strip, cells): (usize, &std::ops::Range<usize>)| {
            let len = if costs.is_empty() { 1 } else { strips.len(strip) };
            let buffer = Buffer::new(frame.context(), "hullfield.flow.costs", len)?;
            if !costs.is_empty() {
                let held = strips.held_cells(strip, costs.len());
                frame.upload(&buffer, held.start + strips.halo - cells.start, &costs[held])?;
            }
            Ok(buffer)
        };
        strips.cells.iter().enumerate().map(send).collect()
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// How fields over this grid are solved. Bit planes must fit into one binding; otherwise tiles are relaxed.
    pub(crate) fn tile_method(&self, grid: &Grid) -> TileMethod {
        let [width, height, _] = grid.size();
        let plane_bytes = u64::from(width.div_ceil(64)) * u64::from(height) * 16;
        match (grid.connectivity().dimension(), grid.connectivity().neighbour_count()) {
            (2, 4) if grid.costs().is_empty() && plane_bytes <= self.context.binding_limit() => {
                TileMethod::BitWave
            }
            (2, _) => TileMethod::Relax2d,
            _ => TileMethod::Relax3d,
        }
    }

    /// The grid after these edits, which turned the grid `before` into `after`. Sends only what changed. Fields being
    /// solved over the old grid keep it.
    ///
    /// # Errors
    /// Of the device.
    pub(crate) fn edited(&self, before: &Grid, after: &Grid, edits: &[Edit]) -> Result<Self> {
        let context = &self.context;
        let words: &[u32] = bytemuck::cast_slice(after.blocked_words());
        let mut frame = Frame::new(context, "hullfield.flow.edit")?;
        // In a frame all uploads come before all copies, so the copies need a frame of their own.
        let blocked = Buffer::new(context, "hullfield.flow.blocked", words.len())?;
        frame.copy(&self.blocked, 0..words.len(), &blocked, 0)?;
        let has_costs = !after.costs().is_empty();
        let costs = if has_costs && !before.costs().is_empty() {
            let copied = |old: &Buffer<u32>| {
                let buffer = Buffer::new(context, "hullfield.flow.costs", old.len())?;
                frame.copy(old, 0..old.len(), &buffer, 0)?;
                Ok(buffer)
            };
            self.costs.iter().map(copied).collect::<Result<Vec<_>>>()?
        } else {
            Vec::new()
        };
        frame.send()?;

        let mut frame = Frame::new(context, "hullfield.flow.edit")?;
        let changed_words = edits.iter().filter_map(|&edit| {
            let index = after.index(edit.cell())?;
            let row = index / after.width();
            Some(row * 2 * after.row_words() + edit.cell().x as usize / 32)
        });
        send_changed(&mut frame, changed_words.collect(), |frame, range| {
            frame.upload(&blocked, range.start, &words[range])
        })?;
        let costs = if !has_costs {
            self.costs.clone()
        } else if before.costs().is_empty() {
            Self::send_costs(&mut frame, &self.strips, after)?
        } else {
            for (strip, buffer) in costs.iter().enumerate() {
                let positions_in_strip = edits.iter().filter_map(|&edit| match edit {
                    Edit::Cost(cell, _) => {
                        let positions = self.strips.positions(after.index(cell)?);
                        positions
                            .filter(|&(other_strip, _)| other_strip == strip)
                            .map(|(_, position)| position)
                            .next()
                    }
                    _ => None,
                });
                let cells = &self.strips.cells[strip];
                let halo = self.strips.halo;
                send_changed(&mut frame, positions_in_strip.collect(), |frame, range| {
                    let from = range.start + cells.start - halo;
                    frame.upload(buffer, range.start, &after.costs()[from..from + range.len()])
                })?;
            }
            costs
        };
        frame.send()?;
        let (context, strips, last_rounds) =
            (context.clone(), self.strips.clone(), Arc::clone(&self.last_rounds));
        Ok(Self { context, strips, blocked, costs, last_rounds })
    }
}

/// Sends the changed positions: each run of neighbours, or the whole range if there are many.
fn send_changed(
    frame: &mut Frame,
    mut positions: Vec<usize>,
    mut send: impl FnMut(&mut Frame, std::ops::Range<usize>) -> Result<()>,
) -> Result<()> {
    positions.sort_unstable();
    positions.dedup();
    if positions.len() > MAX_SINGLE_WORDS {
        return send(frame, positions[0]..positions[positions.len() - 1] + 1);
    }
    for range in positions.chunk_by(|a, b| a + 1 == *b) {
        send(frame, range[0]..range[0] + range.len())?;
    }
    Ok(())
}
