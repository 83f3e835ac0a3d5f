//! Fields and agents on the device, for kernels of the caller's.

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
    /// Takes agents that stand in a buffer of the caller's on the engine's device (see [`Engine::from_device`]): the indices of
    /// their cells, as [`Agents`] tells, `count` of them from its beginning. They are stepped in place.
    ///
    /// # Errors
    /// [`Error::NoGpu`] on the CPU engine; [`Error::Invalid`] where the buffer is too small, or lacks the usages `STORAGE`
    /// and `COPY_SRC`.
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
    /// Does the same as a part of the caller's own frame: its kernels go into `encoder`, which must be of the engine's device.
    /// Nothing is run before the caller submits it. In a browser the agents must live until then, and be encoded into one
    /// encoder at a time.
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
    ///     // Here come kernels of your own that bind agents.binding().
    ///     queue.submit([encoder.finish()]);
    ///     assert_eq!(agents.cells()?.wait()?, [[1, 0].into()]);
    /// }
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoGpu`] on the CPU engine; else as [`step`](Self::step).
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
        let ((), loans) = Frame::encode_into(context, "hullfield.flow.step", encoder, |frame| {
            next_cells.encode_steps(frame, cells, step_count as usize)
        })?;
        if let Cells::Device { kept, .. } = &mut self.cells {
            kept.extend(loans);
        }
        Ok(())
    }

    /// The agents' buffer, for kernels of the caller's: [`count`](Self::count) u32, usage `STORAGE`. None on the CPU engine.
    pub fn binding(&self) -> Option<wgpu::BufferBinding<'_>> {
        match &self.cells {
            Cells::Host(_) => None,
            Cells::Device { cells, .. } => Some(cells.binding()),
        }
    }
}

/// What [`Field::encode_directions`] leaves on the device once its encoder has been run.
///
/// The buffer may be larger than what stands in it: bind the part that [`directions`](Self::directions) gives. It is lent: when
/// this is dropped, later work uses it again, so keep it until your own kernels that read it have been submitted.
#[derive(Debug)]
pub struct DeviceDirections {
    directions: Buffer<[f32; 4]>,
    /// In a browser what else the encoder needs, until it is submitted.
    _kept: Vec<Arc<PooledBuffer>>,
}

impl DeviceDirections {
    /// A `vec4f` an agent: its direction in the world, a unit vector or 0, then 1 where its position is in the grid and 0 where it
    /// is beside it (the direction is then 0).
    pub fn directions(&self) -> wgpu::BufferBinding<'_> {
        self.directions.binding()
    }
}

/// Most steps that a goal may be away to be looked for on the device.
const SIGHT_LIMIT: u32 = 2048;

impl Field {
    /// [`directions`](Self::directions) as a part of the caller's own frame: its kernels go into `encoder`, and positions and
    /// directions stay on the device. `positions` is a buffer of usage `STORAGE` with `count` `vec4f` from its beginning, of which
    /// x, y and z are a position in the world and the last is not looked at.
    ///
    /// They are reckoned in f32. Where a position is within e cells of the one that f64 would have (e is about 1e-7 times the cells
    /// between it and the grid's origin, and times its coordinates in cells, whichever is more), a direction is within
    /// 1e-5 + 4 e of the one that [`directions`](Self::directions) gives there or within e of there: where it turns from one cell to
    /// the next, or a goal comes into sight, either may be given.
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
    ///     // Here come kernels of your own that bind found.directions().
    ///     queue.submit([encoder.finish()]);
    /// }
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoGpu`] where the field is not on a device; [`Error::Value`] for a sight of more than 2048 steps;
    /// [`Error::MemoryLimit`] where the field is larger than one binding; [`Error::Invalid`] where the buffer is too small or
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
        if options.sight > SIGHT_LIMIT {
            let allowed = format!("it must be {SIGHT_LIMIT} steps at most; Field::directions has no limit");
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

    /// The field's arrays on the device, for kernels of the caller's: one part after the other, nearly always one in all. None
    /// where the field is not there.
    pub fn device_parts(&self) -> Vec<DevicePart<'_>> {
        self.device().map(|device| device.strips.iter().map(part_of).collect()).unwrap_or_default()
    }
}

/// A part of a field on the device: whole rows, or whole layers, of its grid. Buffers of usage `STORAGE` that belong to the
/// field: read them, as long as it lives.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DevicePart<'a> {
    /// Indices of the part's cells in the grid's row-major arrays.
    pub cells: Range<usize>,
    /// A u32 a cell, its distance, from [`first_distance`](Self::first_distance) on.
    pub distances: wgpu::BufferBinding<'a>,
    /// The place of the first cell's distance.
    pub first_distance: usize,
    /// Four codes of next cells a u32, the first in the low byte, from the word [`first_word`](Self::first_word) on.
    pub codes: wgpu::BufferBinding<'a>,
    /// The place of the word of the first four codes.
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

/// Looks whether a buffer of the caller's is large enough, and may be bound.
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
