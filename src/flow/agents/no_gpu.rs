//! Stands in for agents on the device in a build without the feature `gpu`: types without a value.

#![allow(unused_variables, reason = "a function whose receiver has no value does nothing with its arguments")]

/// Agents on the device: without the feature `gpu` there are none.
pub(crate) mod paths {
    use crate::error::Result;
    use crate::flow::agents::paths::Paths;
    use crate::flow::field::gpu::device_field::DeviceField;
    use crate::flow::field::solved::Field;
    use crate::flow::field::stats::{Batch, CallTimer};
    use crate::gpu::buffer::Buffer;
    use crate::gpu::context::Context;
    use crate::gpu::frame::Frame;
    use crate::pending::{Pending, WasmNotSend};

    /// The next cells of a field on the device.
    #[derive(Debug, Clone)]
    pub(crate) enum DeviceNextCells {}

    impl DeviceNextCells {
        pub(crate) fn new(field: &Field, device: &DeviceField) -> Self {
            match *device.context() {}
        }

        pub(crate) fn context(&self) -> &Context {
            match *self {}
        }

        pub(crate) fn encode_steps(
            &self,
            frame: &mut Frame,
            cells: &Buffer<u32>,
            step_count: usize,
        ) -> Result<()> {
            match *self {}
        }

        pub(crate) fn step<T: WasmNotSend + 'static>(
            &self,
            starts: &[u32],
            then: impl FnOnce(Vec<u32>, CallTimer) -> Result<T> + WasmNotSend + 'static,
        ) -> Result<Pending<T>> {
            match *self {}
        }

        pub(crate) fn distances_at(&self, cells: &[u32]) -> Result<Pending<Batch<u32>>> {
            match *self {}
        }

        pub(crate) fn paths(self, starts: Vec<u32>) -> Result<Pending<Paths>> {
            match self {}
        }
    }
}
