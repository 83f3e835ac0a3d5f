//! Convex hulls.

use hullfield::collide;
use js_sys::{Array, Float32Array, Uint32Array};
use wasm_bindgen::prelude::*;

use crate::api::error::thrown;
use crate::api::input::{Read, handle, list, rows, single, single_vector, whole};

/// A convex hull. Handles share it.
#[wasm_bindgen]
#[derive(Debug, Clone)]
pub struct Hull {
    hull: collide::Hull,
}

impl Hull {
    fn of(hull: hullfield::Result<collide::Hull>) -> Read<Self> {
        hull.map(|hull| Self { hull }).map_err(|error| thrown(&error))
    }
}

/// The library's hulls of an array of handles.
pub(crate) fn read_hulls(name: &str, value: &JsValue) -> Read<Vec<collide::Hull>> {
    let hull = |(row, value)| Ok(handle::<Hull>(&format!("{name}[{row}]"), "Hull", &value)?.hull);
    list(name, value)?.iter().enumerate().map(hull).collect()
}

#[wasm_bindgen]
impl Hull {
    /// The hull of points.
    ///
    /// # Errors
    /// No point, or one that is not finite.
    #[wasm_bindgen(js_name = fromPoints)]
    pub fn from_points(points: &JsValue) -> Result<Self, JsValue> {
        Self::of(collide::Hull::from_points(&rows::<Float32Array, 3>("points", points)?))
    }

    /// A box of these half lengths.
    ///
    /// # Errors
    /// A length that is negative or not finite.
    pub fn cuboid(half: &JsValue) -> Result<Self, JsValue> {
        Self::of(collide::Hull::cuboid(single_vector("half", half)?))
    }

    /// A ball.
    ///
    /// # Errors
    /// A radius that is negative or not finite.
    pub fn ball(radius: &JsValue) -> Result<Self, JsValue> {
        Self::of(collide::Hull::ball(single("radius", radius)?))
    }

    /// All points within a radius of a segment.
    ///
    /// # Errors
    /// As for a ball; an end that is not finite.
    pub fn capsule(a: &JsValue, b: &JsValue, radius: &JsValue) -> Result<Self, JsValue> {
        Self::of(collide::Hull::capsule(
            single_vector("a", a)?,
            single_vector("b", b)?,
            single("radius", radius)?,
        ))
    }

    /// A prism around an axis.
    ///
    /// # Errors
    /// As for a capsule; too few or too many sides.
    pub fn cylinder(a: &JsValue, b: &JsValue, radius: &JsValue, sides: &JsValue) -> Result<Self, JsValue> {
        let (a, b) = (single_vector("a", a)?, single_vector("b", b)?);
        Self::of(collide::Hull::cylinder(a, b, single("radius", radius)?, whole("sides", sides)?))
    }

    /// A pyramid.
    ///
    /// # Errors
    /// As for a cylinder.
    pub fn cone(base: &JsValue, tip: &JsValue, radius: &JsValue, sides: &JsValue) -> Result<Self, JsValue> {
        let (base, tip) = (single_vector("base", base)?, single_vector("tip", tip)?);
        Self::of(collide::Hull::cone(base, tip, single("radius", radius)?, whole("sides", sides)?))
    }

    /// All points with y ≤ 0 in the frame of the hull.
    #[wasm_bindgen(js_name = halfSpace)]
    pub fn half_space() -> Self {
        Self { hull: collide::Hull::half_space() }
    }

    /// The hull with a rounding: all points within a radius of it.
    ///
    /// # Errors
    /// As for a ball.
    pub fn rounded(&self, radius: &JsValue) -> Result<Self, JsValue> {
        Self::of(self.hull.clone().rounded(single("radius", radius)?))
    }

    /// The vertices, three numbers each.
    #[wasm_bindgen(getter)]
    pub fn vertices(&self) -> Float32Array {
        Float32Array::from(self.hull.vertices().as_flattened())
    }

    /// The faces, each a list of vertices, counter-clockwise from outside.
    #[wasm_bindgen(getter)]
    pub fn faces(&self) -> Array {
        self.hull.faces().map(Uint32Array::from).collect()
    }

    /// The faces as triangles, three vertices each.
    #[wasm_bindgen(getter)]
    pub fn triangles(&self) -> Uint32Array {
        Uint32Array::from(self.hull.triangles().flatten().collect::<Vec<_>>().as_slice())
    }

    /// The volume, without the rounding.
    #[wasm_bindgen(getter)]
    pub fn volume(&self) -> f64 {
        self.hull.volume()
    }

    /// The radius of the ball about `mean` that holds the vertices.
    #[wasm_bindgen(getter)]
    pub fn radius(&self) -> f64 {
        self.hull.radius()
    }

    /// The radius of the rounding.
    #[wasm_bindgen(getter)]
    pub fn rounding(&self) -> f32 {
        self.hull.rounding()
    }

    /// Another handle of the same hull.
    pub fn copy(&self) -> Self {
        self.clone()
    }
}
