//! The fields of a batch on the device: their buffers, what these begin with, and what they are when the fields are solved.

use crate::error::{Error, Result};
use crate::flow::field::gpu::arrays::{DeviceField, DeviceStrip};
use crate::flow::field::gpu::grid::DeviceGrid;
use crate::flow::field::gpu::job::{FieldInfo, Job, upload_state};
use crate::flow::field::gpu::kernels;
use crate::flow::field::gpu::kernels::{FIELD_WORDS, HEADER};
use crate::flow::field::gpu::strips::{Kind, Layout};
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::grid::cells::Grid;
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::frame::Frame;

/// The fields that are solved together, and their buffers.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) device: DeviceGrid,
    pub(crate) layout: Layout,
    /// Of each strip.
    pub(crate) distances: Vec<Buffer<u32>>,
    pub(crate) codes: Vec<Buffer<u32>>,
    /// The bit planes, for even rounds and for odd ones.
    pub(crate) planes: Option<[Buffer<[u32; 2]>; 2]>,
    pub(crate) queue: Buffer<u32>,
    pub(crate) state: Buffer<u32>,
    /// The cells that the fields need only reach, and room for their distances.
    pub(crate) until: Option<(Buffer<u32>, Buffer<u32>)>,
    pub(crate) has_obstacles: bool,
}

impl Work {
    /// The buffers of a batch, with the state that it begins with.
    pub(crate) fn new(frame: &mut Frame, job: &Job, asked: &[FieldInfo]) -> Result<Self> {
        let (device, field_count) = (&job.device, asked.len());
        let until_count = asked.iter().map(|(request, _)| request.reach.until.len()).max().unwrap_or(0);
        let context: &Context = &device.context;
        let kind = device.kind(&job.grid);
        let layout = Layout::new(&job.grid, &device.strips, kind, field_count, until_count);
        let strips = 0..layout.strips.cells.len();
        let make = |label, len: usize| Buffer::<u32>::new(context, label, len);
        let distances = strips.clone().map(|at| make("hullfield.flow.distances", layout.distances_len(at)));
        let codes = strips.map(|at| make("hullfield.flow.codes", layout.code_words(at)));
        let plane = |label| Buffer::<[u32; 2]>::new(context, label, layout.plane_words());
        let planes = match kind {
            Kind::Wave => Some([plane("hullfield.flow.planes_even")?, plane("hullfield.flow.planes_odd")?]),
            Kind::Flat | Kind::Solid => None,
        };
        let state = make("hullfield.flow.state", HEADER + field_count * FIELD_WORDS)?;
        upload_state(frame, &state, field_count, job.max_distance)?;
        let until = if until_count == 0 {
            None
        } else {
            let cells = until_cells(&job.grid, asked, until_count)?;
            let held = make("hullfield.flow.until", cells.len())?;
            frame.upload(&held, 0, &cells)?;
            Some((held, make("hullfield.flow.gathered", cells.len())?))
        };
        Ok(Self {
            distances: distances.collect::<Result<_>>()?,
            codes: codes.collect::<Result<_>>()?,
            queue: make("hullfield.flow.queue", 4 * layout.tile_count())?,
            device: device.clone(),
            has_obstacles: job.grid.obstacle_count() > 0,
            layout,
            planes,
            state,
            until,
        })
    }

    /// Nothing is reached, nothing is awake.
    pub(crate) fn clear(&self, frame: &mut Frame) -> Result<()> {
        frame.clear(&self.queue);
        for distances in &self.distances {
            let groups = kernels::FILL.groups(distances.len() as u64);
            frame.dispatch(&kernels::FILL, &[distances.bind()], groups)?;
        }
        if let Some(planes) = &self.planes {
            let params = frame.uniform(&self.layout.params[0])?;
            let bound = [params, self.device.blocked.bind(), planes[0].bind(), planes[1].bind()];
            let groups = kernels::PLANES.groups(self.layout.plane_words() as u64);
            frame.dispatch(&kernels::PLANES, &bound, groups)?;
        }
        Ok(())
    }

    /// A field of the batch.
    pub(crate) fn field(&self, field: usize) -> DeviceField {
        let strip = |(strip, cells): (usize, &std::ops::Range<usize>)| DeviceStrip {
            cells: cells.clone(),
            distances: self.distances[strip].clone(),
            first_distance: field * self.layout.field_pitch + self.layout.strips.halo,
            codes: self.codes[strip].clone(),
            first_word: field * self.layout.field_pitch / 4,
        };
        let strips = self.layout.strips.cells.iter().enumerate().map(strip).collect();
        let (context, blocked) = (self.device.context.clone(), self.device.blocked.clone());
        DeviceField { context, strips, blocked }
    }
}

/// The cells that each field need only reach, as many for each: a field with fewer has its last one again, one that is to be
/// whole has [`UNREACHABLE`], which no cell is.
fn until_cells(grid: &Grid, asked: &[FieldInfo], until_count: usize) -> Result<Vec<u32>> {
    let mut cells = Vec::with_capacity(asked.len() * until_count);
    for (request, _) in asked {
        let mut last = UNREACHABLE;
        for &cell in &request.reach.until {
            let outside = || {
                Error::internal(
                    "flow::field::gpu::work::until_cells",
                    format!("cell {cell} is beside the grid"),
                )
            };
            last = grid.index(cell).ok_or_else(outside)? as u32;
            cells.push(last);
        }
        cells.extend(std::iter::repeat_n(last, until_count - request.reach.until.len()));
    }
    Ok(cells)
}
