//! Hulls on the device: all of them, or some where one binding does not hold all.

use crate::collide::hull::record::HullRecord;
use crate::collide::hull::support::Supports;
use crate::error::{Error, Result};
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::frame::Frame;

/// The buffers of hulls that kernels read.
#[derive(Debug, Clone)]
pub(crate) struct Hulls {
    pub(crate) records: Buffer<HullRecord>,
    pub(crate) vertices: Buffer<[f32; 4]>,
    pub(crate) cells: Buffer<u32>,
}

impl Hulls {
    /// Uploads all hulls. `None` where one binding does not hold them, but half of one holds each hull alone.
    pub(crate) fn of_all(context: &Context, supports: &Supports) -> Result<Option<Self>> {
        let Supports { records, vertices, cells, .. } = supports;
        let limit = context.binding_limit();
        if Self::largest_bytes(supports) <= limit {
            return Self::upload(context, records, vertices, cells).map(Some);
        }
        let most = (0..records.len())
            .map(|hull| HullBytes::of(supports, hull))
            .fold(HullBytes::default(), HullBytes::max);
        for (what, needed_bytes) in [
            ("half of a binding of the vertices of one hull", most.vertices),
            ("half of a binding of the support table of one hull", most.cells),
        ] {
            if needed_bytes > limit / 2 {
                return Err(Error::MemoryLimit { what, needed_bytes, limit_bytes: limit / 2 });
            }
        }
        Ok(None)
    }

    /// Bytes of the largest binding for all hulls.
    pub(crate) fn largest_bytes(supports: &Supports) -> u64 {
        let Supports { records, vertices, cells, .. } = supports;
        size_of_val(&records[..]).max(size_of_val(&vertices[..])).max(size_of_val(&cells[..])) as u64
    }

    /// Uploads some hulls; their ids are ascending.
    pub(crate) fn of_some(context: &Context, supports: &Supports, hulls: &[u32]) -> Result<Self> {
        let (mut records, mut vertices, mut cells) = (Vec::new(), Vec::new(), Vec::new());
        for &hull in hulls {
            let record = supports.records[hull as usize];
            records.push(HullRecord {
                vertex_offset: vertices.len() as u32,
                cell_offset: cells.len() as u32,
                ..record
            });
            vertices.extend_from_slice(&supports.vertices[supports.stored_vertices(hull)]);
            // The entries of a table are relative to its own first word.
            cells.extend_from_slice(&supports.cells[cells_of(supports, hull as usize)]);
        }
        Self::upload(context, &records, &vertices, &cells)
    }

    fn upload(
        context: &Context,
        records: &[HullRecord],
        vertices: &[[f32; 4]],
        cells: &[u32],
    ) -> Result<Self> {
        let made = Self {
            records: Buffer::new(context, "hullfield.collide.hulls", records.len())?,
            vertices: Buffer::new(context, "hullfield.collide.vertices", vertices.len())?,
            cells: Buffer::new(context, "hullfield.collide.cells", cells.len())?,
        };
        let mut frame = Frame::new(context, "hullfield.collide.arena")?;
        frame.upload(&made.records, 0, records)?;
        frame.upload(&made.vertices, 0, vertices)?;
        frame.upload(&made.cells, 0, cells)?;
        // The queue runs in order, so nothing needs to wait for this.
        frame.send()?;
        Ok(made)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.records.bind().bytes + self.vertices.bind().bytes + self.cells.bind().bytes
    }
}

/// The cells of a hull. Tables are in the order of the hulls, and a hull without a table has no cells.
fn cells_of(supports: &Supports, hull: usize) -> std::ops::Range<usize> {
    let end = supports.records.get(hull + 1).map_or(supports.cells.len(), |next| next.cell_offset as usize);
    supports.records[hull].cell_offset as usize..end
}

/// Bytes of hulls on the device.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HullBytes {
    records: u64,
    vertices: u64,
    cells: u64,
}

impl HullBytes {
    pub(crate) fn of(supports: &Supports, hull: usize) -> Self {
        Self {
            records: size_of::<HullRecord>() as u64,
            vertices: 16 * supports.stored_vertices(hull as u32).len() as u64,
            cells: 4 * cells_of(supports, hull).len() as u64,
        }
    }

    fn max(self, other: Self) -> Self {
        Self {
            records: self.records.max(other.records),
            vertices: self.vertices.max(other.vertices),
            cells: self.cells.max(other.cells),
        }
    }

    /// The bytes of both together.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            records: self.records + other.records,
            vertices: self.vertices + other.vertices,
            cells: self.cells + other.cells,
        }
    }

    /// Whether each kind fits in so many bytes.
    pub(crate) fn fits(self, bytes: u64) -> bool {
        self.records.max(self.vertices).max(self.cells) <= bytes
    }
}
