//! Errors of the library as errors of JavaScript.

use hullfield::Error;
use wasm_bindgen::JsValue;

/// An `Error` of JavaScript with the library's message; its `name` is `HullfieldError`.
pub(crate) fn thrown(error: &Error) -> JsValue {
    let thrown = js_sys::Error::new(&error.to_string());
    thrown.set_name("HullfieldError");
    thrown.into()
}
