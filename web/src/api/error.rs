//! Errors of the library as errors of JavaScript.

use hullfield::Error;
use wasm_bindgen::JsValue;

/// An `Error` of JavaScript with the library's message; its `name` is `HullfieldError`, its `code` the kind of error.
pub(crate) fn thrown(error: &Error) -> JsValue {
    let code = match error {
        Error::Value { .. } => "value",
        Error::Missing { .. } => "missing",
        Error::Count { .. } => "count",
        Error::NoGpu { .. } => "noGpu",
        Error::TooMany { .. } => "tooMany",
        Error::MemoryLimit { .. } => "memoryLimit",
        Error::NoGoals { .. } => "noGoals",
        Error::DistanceOverflow { .. } => "distanceOverflow",
        Error::Io { .. } => "io",
        Error::Cancelled => "cancelled",
        Error::OutOfMemory { .. } => "outOfMemory",
        Error::DeviceLost { .. } => "deviceLost",
        Error::Internal { .. } => "internal",
        _ => "invalid",
    };
    coded(&error.to_string(), code)
}

/// An error of input whose form is wrong.
pub(crate) fn invalid(message: &str) -> JsValue {
    coded(message, "invalid")
}

/// An error of a list whose length is wrong.
pub(crate) fn wrong_count(message: &str) -> JsValue {
    coded(message, "count")
}

fn coded(message: &str, code: &str) -> JsValue {
    let thrown = js_sys::Error::new(message);
    thrown.set_name("HullfieldError");
    // A new object takes any property.
    let _ = js_sys::Reflect::set(&thrown, &"code".into(), &code.into());
    thrown.into()
}
