//! Fields and agents on the device, shared with kernels of the caller.

use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Location, Result};
use crate::flow::agents::crowd::{Agents, Cells, other_engine};
use crate::flow::agents::gpu::steer::encode_directions;
use crate::flow::agents::steer::SteerOptions;
use crate::flow::field::gpu::device_field::DeviceStrip;
use crate::flow::field::handle::Flow;
use crate::flow::field::solved::Field;
use crate::gpu::buffer::Buffer;
use crate::gpu::frame::Frame;
use crate::gpu::pool::PooledBuffer;

impl Flow {
    /// A crowd in a buffer of the caller's, on the engine's device (see [`Engine::from_device`]): the first `count`
    /// words are the cells of the agents, as [`Agents`] describes. Steps change the buffer in place.
    ///
    /// # Errors
    /// [`Error::NoGpu`] on the CPU engine; [`Error::Invalid`] if the buffer is too small or lacks one of the usages
    /// `STORAGE` and `COPY_SRC`.
    ///
    /// [`Engine::from_device`]: crate::Engine::from_device
    pub fn agents_in(&self, buffer: &wgpu::Buffer, count: u32) -> Result<Agents> {
        let Some(context) = self.device_context() else {
            return Err(no_gpu(
                "agents in a buffer are on a GPU, this engine works on the CPU: call Flow::agents",
            ));
        };
        let label = "agents of the caller";
        check_buffer(label, buffer, u64::from(count) * 4, wgpu::BufferUsages::COPY_SRC)?;
        let cells = Buffer::given(context, label, buffer, count as usize);
        let cells = Cells::Device { context: context.clone(), cells, kept: Vec::new() };
        Ok(Agents { grid: Arc::clone(&self.grid), cells })
    }
}

impl Agents {
    /// [`step`](Self::step) as part of the caller's own frame: its kernels are recorded into `encoder`, which must be
    /// of the engine's device. Nothing runs before the caller submits it. In a browser the agents must live until then,
    /// and only one encoder at a time may hold their steps.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{Connectivity, FieldOptions, Flow, Grid};
    ///
    /// let engine = Engine::auto()?;
    /// let flow = Flow::new(&engine, Grid::new([4, 1, 1], &[], Connectivity::Four.into())?)?;
    /// let field = flow.solve(&[[0, 0].into()], &FieldOptions::default())?.wait()?;
    /// let mut agents = flow.agents(&[[3, 0].into()])?;
    /// if let Some((device, queue)) = engine.device() {
    ///     let mut encoder = device.create_command_encoder(&Default::default());
    ///     agents.encode_steps(&mut encoder, &field, 2)?;
    ///     // Record kernels of your own that bind agents.binding() here.
    ///     queue.submit([encoder.finish()]);
    ///     assert_eq!(agents.cells()?.wait()?, [[1, 0].into()]);
    /// }
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoGpu`] on the CPU engine; otherwise as [`step`](Self::step).
    pub fn encode_steps(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        field: &Field,
        step_count: u32,
    ) -> Result<()> {
        let Cells::Device { context, cells, .. } = &self.cells else {
            return Err(no_gpu("an encoder is on a GPU, these agents are not: call Agents::step"));
        };
        let next_cells = field.device_next_cells().ok_or_else(other_engine)?;
        self.check(field, &next_cells)?;
        let ((), lent) = Frame::encode_into(context, "hullfield.flow.step", encoder, |frame| {
            next_cells.encode_steps(frame, cells, step_count as usize)
        })?;
        if let Cells::Device { kept, .. } = &mut self.cells {
            kept.extend(lent);
        }
        Ok(())
    }

    /// The buffer of the agents, for kernels of the caller: [`count`](Self::count) u32, usage `STORAGE`. `None` on the
    /// CPU engine.
    pub fn binding(&self) -> Option<wgpu::BufferBinding<'_>> {
        match &self.cells {
            Cells::Host(_) => None,
            Cells::Device { cells, .. } => Some(cells.binding()),
        }
    }
}

/// The directions that [`Field::encode_directions`] leaves on the device once its encoder has run.
///
/// The buffer may be larger than its contents: bind the part that [`directions`](Self::directions) gives. The buffer
/// belongs to a pool. When this is dropped, later work may overwrite it, so keep this until your own kernels that read
/// it have been submitted.
#[derive(Debug)]
pub struct DeviceDirections {
    directions: Buffer<[f32; 4]>,
    /// In a browser: what else the encoder needs until it is submitted.
    _kept: Vec<Arc<PooledBuffer>>,
}

impl DeviceDirections {
    /// One `vec4f` per agent. x, y, z: its direction in the world, a unit vector or 0. w: 1 if its position is in the
    /// grid; 0 if it is outside, and then the direction is 0 too.
    pub fn directions(&self) -> wgpu::BufferBinding<'_> {
        self.directions.binding()
    }
}

/// The most steps to a goal that the device looks for.
const MAX_SIGHT: u32 = 2048;

impl Field {
    /// [`directions`](Self::directions) as part of the caller's own frame: its kernels are recorded into `encoder`, and
    /// positions and directions stay on the device. `positions` is a buffer of usage `STORAGE` with at least `count`
    /// `vec4f`; x, y and z are a position in the world, and w is ignored.
    ///
    /// Directions are computed in f32. Let e be the error of a position in cells: about 1e-7 times the number of cells
    /// between it and the origin of the grid, or times its own coordinates in cells, whichever is more. A direction is
    /// within 1e-5 + 4 e of one that [`directions`](Self::directions) gives at a position within e. So where the
    /// direction jumps, between two cells or as a goal comes into sight, either side may be given.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{Connectivity, FieldOptions, Flow, Grid, SteerOptions};
    ///
    /// let engine = Engine::auto()?;
    /// let flow = Flow::new(&engine, Grid::new([4, 1, 1], &[], Connectivity::Four.into())?)?;
    /// let field = flow.solve(&[[0, 0].into()], &FieldOptions::default())?.wait()?;
    /// if let Some((device, queue)) = engine.device() {
    ///     let positions = device.create_buffer(&wgpu::BufferDescriptor {
    ///         label: None,
    ///         size: 16,
    ///         usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
    ///         mapped_at_creation: false,
    ///     });
    ///     queue.write_buffer(&positions, 0, bytemuck::cast_slice(&[3.2_f32, 0.5, 0.0, 0.0]));
    ///     let mut encoder = device.create_command_encoder(&Default::default());
    ///     let found = field.encode_directions(&mut encoder, &positions, 1, &SteerOptions::default())?;
    ///     // Record kernels of your own that bind found.directions() here.
    ///     queue.submit([encoder.finish()]);
    /// }
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoGpu`] if the field is not on a device; [`Error::Value`] for a sight of more than 2048 steps;
    /// [`Error::MemoryLimit`] if the field is larger than one binding; [`Error::Invalid`] if the buffer is too small or
    /// not of usage `STORAGE`; of the device.
    pub fn encode_directions(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        positions: &wgpu::Buffer,
        count: u32,
        options: &SteerOptions,
    ) -> Result<DeviceDirections> {
        let Some(device) = self.device() else {
            return Err(no_gpu("an encoder is on a GPU, this field is not: call Field::directions"));
        };
        if options.sight > MAX_SIGHT {
            let allowed = format!("it must be {MAX_SIGHT} steps at most; Field::directions has no limit");
            return Err(Error::value(Location::Argument, "sight", options.sight, allowed));
        }
        let label = "positions of the caller";
        check_buffer(label, positions, u64::from(count) * 16, wgpu::BufferUsages::empty())?;
        let context = &device.context;
        let given = Buffer::given(context, label, positions, count as usize);
        let directions = Buffer::new(context, "hullfield.flow.directions", count as usize)?;
        let ((), kept) = Frame::encode_into(context, "hullfield.flow.steer", encoder, |frame| {
            encode_directions(frame, self.grid(), device, &given, &directions, options)
        })?;
        Ok(DeviceDirections { directions, _kept: kept })
    }

    /// The arrays of the field on the device, for kernels of the caller: one part after the other, nearly always just
    /// one. Empty if the field is not on a device.
    pub fn device_parts(&self) -> Vec<DevicePart<'_>> {
        self.device().map(|device| device.strips.iter().map(part_of).collect()).unwrap_or_default()
    }
}

/// A part of a field on the device: whole rows, or whole layers, of its grid. The buffers have the usage `STORAGE` and
/// belong to the field: read them only, and only while the field lives.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DevicePart<'a> {
    /// The row-major indices of the cells of the part.
    pub cells: Range<usize>,
    /// The distances, one u32 per cell, starting at the value [`first_distance`](Self::first_distance).
    pub distances: wgpu::BufferBinding<'a>,
    /// The index of the distance of the first cell.
    pub first_distance: usize,
    /// The codes of next cells, four per u32 with the first in the low byte, starting at the word
    /// [`first_word`](Self::first_word).
    pub codes: wgpu::BufferBinding<'a>,
    /// The index of the word with the first four codes.
    pub first_word: usize,
}

fn part_of(strip: &DeviceStrip) -> DevicePart<'_> {
    DevicePart {
        cells: strip.cells.clone(),
        distances: strip.distances.binding(),
        first_distance: strip.first_distance,
        codes: strip.codes.binding(),
        first_word: strip.first_word,
    }
}

/// Checks that a buffer of the caller's is large enough and has these usages and `STORAGE`.
fn check_buffer(
    what: &'static str,
    buffer: &wgpu::Buffer,
    needed_bytes: u64,
    usages: wgpu::BufferUsages,
) -> Result<()> {
    let bytes = buffer.size();
    if needed_bytes > bytes {
        let message = format!("{what}: the buffer has {bytes} bytes, {needed_bytes} are needed");
        return Err(Error::invalid(Location::Argument, message));
    }
    let usages = usages | wgpu::BufferUsages::STORAGE;
    if !buffer.usage().contains(usages) {
        let message =
            format!("{what}: the buffer has the usages {:?}, it must have {usages:?}", buffer.usage());
        return Err(Error::invalid(Location::Argument, message));
    }
    Ok(())
}

fn no_gpu(message: &str) -> Error {
    Error::NoGpu { message: message.to_owned() }
}
