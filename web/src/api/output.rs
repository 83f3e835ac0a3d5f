//! What goes to JavaScript: objects of typed arrays, and promises.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use hullfield::Pending;
use js_sys::{Float32Array, Float64Array, Int32Array, Object, Promise, Reflect, Uint8Array, Uint32Array};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::future_to_promise;

use crate::api::error::thrown;
use crate::api::input::Read;

/// Stands for a missing index.
pub(crate) const NONE: u32 = u32::MAX;

/// Stands for a missing vector.
pub(crate) const NAN: [f64; 3] = [f64::NAN; 3];

/// An object that is filled field by field.
#[derive(Debug, Default)]
pub(crate) struct Row(Object);

impl Row {
    /// Adds a field.
    pub(crate) fn set(self, name: &str, value: impl Into<JsValue>) -> Self {
        // A new object takes any property.
        let _ = Reflect::set(&self.0, &name.into(), &value.into());
        self
    }

    /// Adds a column of bytes.
    pub(crate) fn bytes(self, name: &str, all: impl Iterator<Item = u8>) -> Self {
        self.set(name, Uint8Array::from(all.collect::<Vec<_>>().as_slice()))
    }

    /// Adds a column of indices.
    pub(crate) fn indices(self, name: &str, all: impl Iterator<Item = u32>) -> Self {
        self.set(name, Uint32Array::from(all.collect::<Vec<_>>().as_slice()))
    }

    /// Adds a column of signed numbers.
    pub(crate) fn integers(self, name: &str, all: impl Iterator<Item = i32>) -> Self {
        self.set(name, Int32Array::from(all.collect::<Vec<_>>().as_slice()))
    }

    /// Adds a column of numbers in f32.
    pub(crate) fn singles(self, name: &str, all: impl Iterator<Item = f32>) -> Self {
        self.set(name, Float32Array::from(all.collect::<Vec<_>>().as_slice()))
    }

    /// Adds a column of numbers.
    pub(crate) fn doubles(self, name: &str, all: impl Iterator<Item = f64>) -> Self {
        self.set(name, Float64Array::from(all.collect::<Vec<_>>().as_slice()))
    }
}

impl From<Row> for JsValue {
    fn from(row: Row) -> Self {
        row.0.into()
    }
}

/// The promise of a call; one that is rejected where its input is wrong.
pub(crate) fn settled(call: impl FnOnce() -> Read<Promise>) -> Promise {
    call().unwrap_or_else(|error| Promise::reject(&error))
}

/// The promise of an answer. One that is ready is finished within the call, so that a fault of the module comes out of it.
pub(crate) fn promised<T: 'static>(
    begun: hullfield::Result<Pending<T>>,
    finish: impl FnOnce(T) -> JsValue + 'static,
) -> Read<Promise> {
    let mut pending = begun.map_err(|error| thrown(&error))?;
    match Pin::new(&mut pending).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => Ok(Promise::resolve(&finish(answer.map_err(|error| thrown(&error))?))),
        Poll::Pending => {
            Ok(future_to_promise(async move { pending.await.map(finish).map_err(|error| thrown(&error)) }))
        }
    }
}
