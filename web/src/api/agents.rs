//! Agents that follow a field from cell to cell.

use hullfield::flow;
use js_sys::{Int32Array, Promise};
use wasm_bindgen::prelude::*;

use crate::api::error::thrown;
use crate::api::flow::{Field, Flow, cells, coordinates};
use crate::api::input::{handle, whole};
use crate::api::output::{promised, settled};

/// Agents on an engine; on a GPU their cells stay there.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Agents {
    agents: flow::Agents,
    grid: flow::Grid,
}

#[wasm_bindgen]
impl Flow {
    /// Puts agents on the engine that stand in these cells.
    ///
    /// # Errors
    /// A cell off the grid; no memory on the GPU.
    pub fn agents(&self, starts: &JsValue) -> Result<Agents, JsValue> {
        let grid = self.get().grid();
        let starts = cells("cells", starts, grid)?;
        let agents = self.get().agents(&starts).map_err(|error| thrown(&error))?;
        Ok(Agents { agents, grid: grid.clone() })
    }
}

#[wasm_bindgen]
impl Agents {
    /// Moves each agent some cells on, towards the goals of a field; one by default.
    ///
    /// # Errors
    /// Something that is no field, a field over a grid of another size or of another engine.
    pub fn step(&mut self, field: &JsValue, step_count: &JsValue) -> Result<(), JsValue> {
        let field: Field = handle("field", "Field", field)?;
        let step_count = if step_count.is_undefined() { 1 } else { whole("stepCount", step_count)? };
        self.agents.step(field.get(), step_count).map_err(|error| thrown(&error))
    }

    /// The cells of the agents.
    pub fn cells(&self) -> Promise {
        settled(|| {
            let grid = self.grid.clone();
            promised(self.agents.cells(), move |all| {
                Int32Array::from(coordinates(&grid, &all).as_slice()).into()
            })
        })
    }

    /// How many agents there are.
    #[wasm_bindgen(getter)]
    pub fn count(&self) -> usize {
        self.agents.count()
    }
}
