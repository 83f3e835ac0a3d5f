//! The GPU floor of a build without the feature `gpu`: the types that the engines name, none of which has a value. So code
//! that a GPU would run compiles to nothing, and what asks for a GPU gets an error.

// Only signatures are of use here.
#![allow(unused_variables, reason = "a function whose receiver has no value does nothing with its arguments")]

#[path = "no_gpu/adapter.rs"]
pub(crate) mod adapter;

/// There is no device.
pub(crate) mod context {
    /// A device and all that goes with it.
    #[derive(Debug, Clone)]
    pub(crate) enum Context {}

    impl Context {
        pub(crate) fn adapter_name(&self) -> &str {
            match *self {}
        }

        pub(crate) fn close(&self) {
            match *self {}
        }

        pub(crate) fn set_binding_limit(&self, bytes: u64) {
            match *self {}
        }

        pub(crate) fn set_discrete_steps(&self) {
            match *self {}
        }

        pub(crate) fn set_subgroups(&self, _are_used: bool) {
            match *self {}
        }

        pub(crate) fn set_checked(&self, are_kept: bool) {
            match *self {}
        }

        pub(crate) fn is_same(&self, other: &Self) -> bool {
            match *self {}
        }

        pub(crate) fn flush_for_caller(&self) {
            match *self {}
        }
    }
}

/// There are no buffers.
pub(crate) mod buffer {
    use std::marker::PhantomData;

    use crate::error::Result;
    use crate::gpu::context::Context;

    /// Values on the device.
    #[derive(Debug, Clone)]
    pub(crate) struct Buffer<T> {
        none: Context,
        of: PhantomData<T>,
    }

    impl<T> Buffer<T> {
        pub(crate) fn new(context: &Context, label: &'static str, len: usize) -> Result<Self> {
            match *context {}
        }

        pub(crate) fn len(&self) -> usize {
            match self.none {}
        }
    }
}

/// There is nothing to submit.
pub(crate) mod frame {
    use crate::error::Result;
    use crate::gpu::buffer::Buffer;
    use crate::gpu::context::Context;

    /// The commands of one submission.
    #[derive(Debug)]
    pub(crate) struct Frame(pub(crate) Context);

    impl Frame {
        pub(crate) fn new(context: &Context, label: &'static str) -> Result<Self> {
            match *context {}
        }

        pub(crate) fn upload<T>(&mut self, buffer: &Buffer<T>, start: usize, values: &[T]) -> Result<()> {
            match self.0 {}
        }

        pub(crate) fn send(self) -> Result<()> {
            match self.0 {}
        }
    }
}

/// There is no pool.
pub(crate) mod pool {
    /// A buffer from the pool.
    #[derive(Debug)]
    pub(crate) enum PooledBuffer {}
}
