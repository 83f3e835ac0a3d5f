//! Stands in for the GPU engine in a build without the feature `gpu`: types without a value, and functions that cannot
//! be called.

#![allow(unused_variables, reason = "a function whose receiver has no value does nothing with its arguments")]

use std::sync::Arc;

use crate::error::Result;
use crate::flow::field::gpu::grid::DeviceGrid;
use crate::flow::field::options::FieldLimits;
use crate::flow::field::solved::{Field, FieldData};
use crate::flow::field::stats::Batch;
use crate::flow::grid::cells::Grid;
use crate::flow::grid::goals::Goals;
use crate::pending::Pending;

pub(crate) fn solve(
    device: &DeviceGrid,
    grid: &Arc<Grid>,
    goals: Goals,
    limits: FieldLimits,
) -> Result<Pending<Field>> {
    match *device {}
}

pub(crate) fn update(
    device: &DeviceGrid,
    grid: &Arc<Grid>,
    field: &FieldData,
    goals: Goals,
    limits: FieldLimits,
) -> Result<Pending<Field>> {
    match *device {}
}

pub(crate) fn solve_batch(
    device: &DeviceGrid,
    grid: &Arc<Grid>,
    requests: Vec<(Goals, FieldLimits)>,
) -> Result<Pending<Batch<Field>>> {
    match *device {}
}

/// Distances that the device lowers: without the feature `gpu` there is none.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod improve {
    use crate::error::Result;
    use crate::flow::field::cpu::moves::CostRange;
    use crate::flow::grid::cells::Grid;
    use crate::gpu::context::Context;

    #[expect(clippy::ptr_arg, reason = "it is called as the one that lowers distances on the device")]
    pub(crate) fn improve(
        context: &Context,
        grid: &Grid,
        costs: CostRange,
        distances: &mut [u64],
        seeds: &[u32],
        max_distance: u64,
        spare: &mut Vec<u32>,
    ) -> Result<bool> {
        match *context {}
    }
}

/// A grid on the device: without the feature `gpu` there is none.
pub(crate) mod grid {
    use crate::error::Result;
    use crate::flow::grid::cells::Grid;
    use crate::flow::grid::edit::Edit;
    use crate::gpu::context::Context;

    /// A grid on the device.
    #[derive(Debug, Clone)]
    pub(crate) enum DeviceGrid {}

    impl DeviceGrid {
        pub(crate) fn new(context: &Context, grid: &Grid) -> Result<Option<Self>> {
            match *context {}
        }

        pub(crate) fn context(&self) -> &Context {
            match *self {}
        }

        pub(crate) fn edited(&self, before: &Grid, after: &Grid, edits: &[Edit]) -> Result<Self> {
            match *self {}
        }
    }
}

/// A field on the device: without the feature `gpu` there is none.
pub(crate) mod device_field {
    use std::ops::Range;

    use crate::error::Result;
    use crate::flow::field::stats::CallTimer;
    use crate::gpu::buffer::Buffer;
    use crate::gpu::context::Context;
    use crate::gpu::frame::Frame;
    use crate::pending::{Pending, WasmNotSend};

    /// Label of frames that only read back.
    pub(crate) const READ_LABEL: &str = "hullfield.flow.read";

    /// A field on the device.
    #[derive(Debug)]
    pub(crate) struct DeviceField {
        none: Context,
    }

    impl DeviceField {
        pub(crate) fn context(&self) -> &Context {
            &self.none
        }

        pub(crate) fn distances(&self) -> Result<Pending<Vec<u32>>> {
            match self.none {}
        }

        pub(crate) fn next_codes(&self) -> Result<Pending<Vec<u8>>> {
            match self.none {}
        }

        pub(crate) fn with_cells<T: WasmNotSend + 'static>(
            &self,
            work: impl FnOnce(&[u32], &[u8], CallTimer) -> Result<T> + WasmNotSend + 'static,
        ) -> Result<Pending<T>> {
            match self.none {}
        }
    }

    pub(crate) fn read_all<T: WasmNotSend + 'static>(
        frame: Frame,
        parts: Vec<(Buffer<u32>, Range<usize>)>,
        timer: CallTimer,
        then: impl FnOnce(Vec<u32>, CallTimer) -> Result<T> + WasmNotSend + 'static,
    ) -> Result<Pending<T>> {
        match frame.0 {}
    }
}
