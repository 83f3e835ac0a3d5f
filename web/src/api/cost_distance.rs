//! Cost distances over rasters.

use std::ops::ControlFlow;

use hullfield::flow::{self, Cell, Connectivity, Corners, CostDistanceOptions, CostRule, Slope};
use js_sys::{Float32Array, Float64Array, Int32Array, Uint8Array, Uint32Array};
use wasm_bindgen::prelude::*;

use crate::api::error::{invalid, thrown};
use crate::api::flow::CORNERS;
use crate::api::input::{Fields, Read, choice, flag, number, numbers, rows, vector};

/// A solved cost distance.
#[wasm_bindgen]
#[derive(Debug)]
pub struct CostDistance {
    solved: flow::CostDistance,
}

const FIELDS: [&str; 10] = [
    "connectivity",
    "corners",
    "costRule",
    "cellSize",
    "maxDistance",
    "allocation",
    "next",
    "elevation",
    "factors",
    "outward",
];

/// Factors of slopes: rows of a slope and its factor, or Tobler's.
fn factors(name: &str, value: &JsValue) -> Read<Vec<[f64; 2]>> {
    if value.as_string().is_some() {
        choice(name, value, &[("tobler", ())])?;
        return Ok(Slope::tobler());
    }
    rows::<Float64Array, 2>(name, value)
}

fn slope(fields: &Fields) -> Read<Option<Slope>> {
    let Some(elevation) = fields.get("elevation")? else {
        for name in ["factors", "outward"] {
            if fields.get(name)?.is_some() {
                return Err(invalid(&format!("{name} is given without elevation")));
            }
        }
        return Ok(None);
    };
    Ok(Some(Slope {
        elevation: numbers::<Float32Array>("elevation", &elevation)?,
        factors: fields.read("factors", factors, Vec::new())?,
        is_outward: fields.read("outward", flag, false)?,
    }))
}

#[wasm_bindgen]
impl CostDistance {
    /// Solves on the thread that calls: `friction` has a number for each cell of a raster of this width and height, row by row.
    ///
    /// # Errors
    /// A list of another length, no target that can be used, an option that does not exist or is out of range.
    #[wasm_bindgen(constructor)]
    pub fn new(
        size: &JsValue,
        friction: &JsValue,
        targets: &JsValue,
        options: &JsValue,
    ) -> Result<Self, JsValue> {
        let size = vector::<2>("size", size)?;
        let allowed = |side: &f64| side.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(side);
        if !size.iter().all(allowed) {
            return Err(invalid(&format!("size is {size:?}, width and height are whole numbers")));
        }
        let size = size.map(|side| side as u32);
        let targets: Vec<Cell> =
            rows::<Int32Array, 2>("targets", targets)?.into_iter().map(Cell::from).collect();
        let fields = Fields::of("options", options, &FIELDS)?;
        let corners = fields.read("corners", |name, value| choice(name, value, &CORNERS), Corners::Any)?;
        let connectivities = [("four", Connectivity::Four), ("eight", Connectivity::Eight(corners))];
        let rules = [("mean", CostRule::Mean), ("entry", CostRule::Entry), ("exit", CostRule::Exit)];
        let plain = CostDistanceOptions::default();
        let options = CostDistanceOptions {
            connectivity: fields.read(
                "connectivity",
                |name, value| choice(name, value, &connectivities),
                connectivities[1].1,
            )?,
            cost_rule: fields.read("costRule", |name, value| choice(name, value, &rules), plain.cost_rule)?,
            cell_size: fields.read("cellSize", vector::<2>, plain.cell_size)?,
            max_distance: fields
                .get("maxDistance")?
                .map(|value| number("maxDistance", &value))
                .transpose()?,
            allocation: fields.read("allocation", flag, false)?,
            next: fields.read("next", flag, false)?,
            slope: slope(&fields)?,
            ..plain
        };
        let go_on = |_| ControlFlow::Continue(());
        let solved = if friction.is_instance_of::<Float64Array>() {
            let friction = numbers::<Float64Array>("friction", friction)?;
            flow::cost_distance(size, &friction, &targets, &options, go_on)
        } else {
            let friction = numbers::<Float32Array>("friction", friction)?;
            flow::cost_distance(size, &friction, &targets, &options, go_on)
        };
        solved.map(|solved| Self { solved }).map_err(|error| thrown(&error))
    }

    /// The distance of each cell, row by row; infinite where no target is reached.
    #[wasm_bindgen(getter)]
    pub fn distances(&self) -> Float32Array {
        Float32Array::from(self.solved.distances.as_slice())
    }

    /// The target of each cell by its row; 4294967295 where none is reached. Empty without the option `allocation`.
    #[wasm_bindgen(getter)]
    pub fn allocation(&self) -> Uint32Array {
        Uint32Array::from(self.solved.allocation.as_slice())
    }

    /// The code of the move from each cell; 255 where there is none. Empty without the option `next`.
    #[wasm_bindgen(getter, js_name = nextCodes)]
    pub fn next_codes(&self) -> Uint8Array {
        Uint8Array::from(self.solved.next.as_slice())
    }

    /// The path from a cell to its target: x and y of each cell.
    ///
    /// # Errors
    /// A cell off the raster, no option `next`.
    pub fn path(&self, start: &JsValue) -> Result<Int32Array, JsValue> {
        let given = vector::<2>("start", start)?;
        if given.iter().any(|x| x.fract() != 0.0 || x.abs() > f64::from(i32::MAX)) {
            return Err(invalid(&format!("start is {given:?}, a cell has whole numbers")));
        }
        let path = self.solved.path(Cell::from(given.map(|x| x as i32))).map_err(|error| thrown(&error))?;
        let all: Vec<i32> = path.iter().flat_map(|cell| [cell.x, cell.y]).collect();
        Ok(Int32Array::from(all.as_slice()))
    }

    /// How many cells are reached.
    #[wasm_bindgen(getter, js_name = reachedCount)]
    pub fn reached_count(&self) -> f64 {
        self.solved.report.reached_count as f64
    }

    /// The largest distance of a reached cell.
    #[wasm_bindgen(getter)]
    pub fn farthest(&self) -> f64 {
        self.solved.report.farthest
    }

    /// The largest relative error of a distance, without the rounding to f32.
    #[wasm_bindgen(getter, js_name = errorBound)]
    pub fn error_bound(&self) -> f64 {
        self.solved.report.error_bound
    }
}
