//! Distance fields over grids.

use hullfield::flow::{
    self, Border, Cell, Connectivity, Corners, Edit, FieldOptions, GridFrame, GridOptions, Query,
    SteerOptions,
};
use js_sys::{Array, Float32Array, Float64Array, Int32Array, Promise, Uint8Array, Uint32Array};
use wasm_bindgen::prelude::*;

use crate::api::engine::Engine;
use crate::api::error::{invalid, thrown};
use crate::api::input::{
    Fields, Read, choice, handle, kind, length, list, number, numbers, rows, same_length, taken, vector,
    whole,
};
use crate::api::output::{Row, promised, settled};

/// A grid of cells: obstacles and costs.
#[wasm_bindgen]
#[derive(Debug, Clone)]
pub struct Grid {
    grid: flow::Grid,
}

/// When diagonal moves cut corners.
pub(crate) const CORNERS: [(&str, Corners); 3] =
    [("bothFree", Corners::BothFree), ("oneFree", Corners::OneFree), ("any", Corners::Any)];

/// Cells of a typed array: x and y each, in three dimensions z too.
pub(crate) fn cells(name: &str, value: &JsValue, grid: &flow::Grid) -> Read<Vec<Cell>> {
    if grid.connectivity().dimension() == 2 {
        return Ok(rows::<Int32Array, 2>(name, value)?.into_iter().map(Cell::from).collect());
    }
    Ok(rows::<Int32Array, 3>(name, value)?.into_iter().map(Cell::from).collect())
}

/// One cell: an array of two numbers, in three dimensions of three.
fn cell(name: &str, value: &JsValue, grid: &flow::Grid) -> Read<Cell> {
    let given = if grid.connectivity().dimension() == 2 {
        vector::<2>(name, value).map(|[x, y]| [x, y, 0.0])?
    } else {
        vector::<3>(name, value)?
    };
    let range = f64::from(i32::MIN)..=f64::from(i32::MAX);
    if given.iter().all(|x| x.fract() == 0.0 && range.contains(x)) {
        return Ok(Cell::from(given.map(|x| x as i32)));
    }
    Err(invalid(&format!("{name} is {given:?}, a cell has whole numbers")))
}

/// The numbers of cells, as many each as a grid has dimensions.
pub(crate) fn coordinates(grid: &flow::Grid, all: &[Cell]) -> Vec<i32> {
    let dimension = grid.connectivity().dimension() as usize;
    all.iter().flat_map(|cell| [cell.x, cell.y, cell.z].into_iter().take(dimension)).collect()
}

#[wasm_bindgen]
impl Grid {
    /// A grid of width, height and, in three dimensions, depth; a byte of `obstacles` that is not 0 is an obstacle.
    ///
    /// # Errors
    /// A size of 0 or too large, a list of another length, an option that does not exist or is out of range.
    #[wasm_bindgen(constructor)]
    pub fn new(size: &JsValue, obstacles: &JsValue, options: &JsValue) -> Result<Self, JsValue> {
        let names = ["connectivity", "corners", "costs", "origin", "cellSize", "clearance", "border"];
        let fields = Fields::of("options", options, &names)?;
        let wrong = || {
            let allowed = "it must be [width, height] or [width, height, depth]";
            invalid(&format!("size is {}, {allowed}", kind(size)))
        };
        if !Array::is_array(size) && !Uint32Array::instanceof(size) {
            return Err(wrong());
        }
        let dimension = length(size)?;
        if !matches!(dimension, 2 | 3) {
            return Err(wrong());
        }
        let given = Array::from(size);
        let depth = if dimension == 2 { JsValue::from(1) } else { given.get(2) };
        let size = [given.get(0), given.get(1), depth];
        let size = [whole("width", &size[0])?, whole("height", &size[1])?, whole("depth", &size[2])?];
        let corners =
            fields.read("corners", |name, value| choice(name, value, &CORNERS), Corners::BothFree)?;
        let connectivities = [
            ("four", Connectivity::Four),
            ("eight", Connectivity::Eight(corners)),
            ("six", Connectivity::Six),
            ("twentySix", Connectivity::TwentySix(corners)),
        ];
        let default = if dimension == 2 { connectivities[1].1 } else { connectivities[3].1 };
        let plain = GridFrame::default();
        let borders = [("open", Border::Open), ("wall", Border::Wall)];
        let options = GridOptions {
            connectivity: fields.read(
                "connectivity",
                |name, value| choice(name, value, &connectivities),
                default,
            )?,
            costs: fields.read("costs", numbers::<Uint32Array>, Vec::new())?,
            frame: GridFrame {
                origin: fields.read("origin", vector::<3>, plain.origin)?,
                cell_size: fields.read("cellSize", number, plain.cell_size)?,
                ..plain
            },
            clearance: fields.read("clearance", number, 0.0)?,
            border: fields.read("border", |name, value| choice(name, value, &borders), Border::Open)?,
        };
        let obstacles: Vec<bool> =
            numbers::<Uint8Array>("obstacles", obstacles)?.into_iter().map(|byte| byte != 0).collect();
        let grid = flow::Grid::new(size, &obstacles, options).map_err(|error| thrown(&error))?;
        Ok(Self { grid })
    }

    /// Width, height and depth, in cells.
    #[wasm_bindgen(getter)]
    pub fn size(&self) -> Uint32Array {
        Uint32Array::from(self.grid.size().as_slice())
    }

    /// 2 or 3.
    #[wasm_bindgen(getter)]
    pub fn dimension(&self) -> u32 {
        self.grid.connectivity().dimension()
    }

    /// The obstacles, with those that the clearance made: a byte a cell.
    #[wasm_bindgen(getter)]
    pub fn obstacles(&self) -> Uint8Array {
        let all: Vec<u8> = self.grid.obstacles().into_iter().map(u8::from).collect();
        Uint8Array::from(all.as_slice())
    }

    /// The cost of each cell; empty where all are 1.
    #[wasm_bindgen(getter)]
    pub fn costs(&self) -> Uint32Array {
        Uint32Array::from(self.grid.costs())
    }

    /// The moves by their codes: three numbers each.
    #[wasm_bindgen(getter)]
    pub fn offsets(&self) -> Int32Array {
        Int32Array::from(self.grid.connectivity().offsets().as_flattened())
    }

    /// The distance from each cell's centre to the nearest obstacle.
    ///
    /// # Errors
    /// A border that does not exist.
    pub fn clearances(&self, border: &JsValue) -> Result<Float32Array, JsValue> {
        let borders = [("open", Border::Open), ("wall", Border::Wall)];
        let border = if border.is_undefined() { Border::Open } else { choice("border", border, &borders)? };
        Ok(Float32Array::from(self.grid.clearances(border).as_slice()))
    }

    /// Another handle of a copy.
    pub fn copy(&self) -> Self {
        self.clone()
    }
}

/// A grid on an engine.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Flow {
    flow: flow::Flow,
}

impl Flow {
    /// The library's handle.
    pub(crate) fn get(&self) -> &flow::Flow {
        &self.flow
    }
}

#[wasm_bindgen]
impl Flow {
    /// Puts a grid on an engine. Without the option `engine` fields are solved on the CPU.
    ///
    /// # Errors
    /// Something that is no grid; no memory on the GPU.
    #[wasm_bindgen(constructor)]
    pub fn new(grid: &JsValue, options: &JsValue) -> Result<Self, JsValue> {
        let fields = Fields::of("options", options, &["engine"])?;
        let engine = fields.get("engine")?.map(|value| handle("engine", "Engine", &value));
        let engine = engine.transpose()?.unwrap_or_else(Engine::cpu);
        let grid: Grid = handle("grid", "Grid", grid)?;
        let flow = flow::Flow::new(engine.get(), grid.grid).map_err(|error| thrown(&error))?;
        Ok(Self { flow })
    }

    /// The grid as it is now.
    #[wasm_bindgen(getter)]
    pub fn grid(&self) -> Grid {
        Grid { grid: self.flow.grid().clone() }
    }

    /// Solves a field: the distance of each cell to the nearest goal.
    pub fn solve(&self, goals: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let goals = cells("goals", goals, self.flow.grid())?;
            let options = self.field_options(options)?;
            promised(self.flow.solve(&goals, &options), |field| JsValue::from(Field { field }))
        })
    }

    /// Solves many fields, one for each list of goals.
    pub fn fields(&self, goals: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let read = |(row, value)| cells(&format!("goals[{row}]"), &value, self.flow.grid());
            let goals = list("goals", goals)?.iter().enumerate().map(read).collect::<Read<Vec<_>>>()?;
            let options = self.field_options(options)?;
            promised(self.flow.fields(&goals, &options), |fields| {
                let fields = fields.rows.into_iter().map(|field| JsValue::from(Field { field }));
                fields.collect::<Array>().into()
            })
        })
    }

    /// Updates a field after edits of the map. If `goals` are given, they replace the field's goals. After a success the old handle of the field
    /// can't be used any longer.
    pub fn update(&self, field: &JsValue, goals: &JsValue) -> Promise {
        settled(|| {
            let goals = if goals.is_undefined() || goals.is_null() {
                None
            } else {
                Some(cells("goals", goals, self.flow.grid())?)
            };
            let Field { field: mut updated } = handle("field", "Field", field)?;
            let begun = match goals {
                Some(goals) => self.flow.update_goals(&mut updated, &goals),
                None => self.flow.update(&mut updated),
            };
            let old = field.clone();
            promised(begun, move |()| {
                // Only now, as an error leaves the caller's handle as it was. It may have been freed meanwhile.
                drop(taken::<Field>("field", "Field", &old));
                // A clone of the handle lets the memory of the old field go.
                JsValue::from(Field { field: updated.clone() })
            })
        })
    }

    /// Edits the grid: `block` and `free` are lists of cells, `cost` is a list of cells with a cost for each. Fields that are solved already stay
    /// as they are.
    ///
    /// # Errors
    /// A cell off the grid, a cost of 0: then no cell is changed.
    pub fn edit(&mut self, edits: &JsValue) -> Result<(), JsValue> {
        let fields = Fields::of("edits", edits, &["block", "free", "cost"])?;
        let read = |name: &str, value: &JsValue| cells(name, value, self.flow.grid());
        let (block, free) = (fields.read("block", read, Vec::new())?, fields.read("free", read, Vec::new())?);
        let cost = fields.get("cost")?.unwrap_or(JsValue::UNDEFINED);
        let cost = Fields::of("cost", &cost, &["cells", "costs"])?;
        let changed = cost.read("cells", read, Vec::new())?;
        let costs = cost.read("costs", numbers::<Uint32Array>, Vec::new())?;
        same_length("costs", costs.len(), "cells", changed.len())?;
        let edits: Vec<Edit> = (block.into_iter().map(Edit::Block))
            .chain(free.into_iter().map(Edit::Free))
            .chain(changed.into_iter().zip(costs).map(|(cell, cost)| Edit::Cost(cell, cost)))
            .collect();
        self.flow.edit(&edits).map_err(|error| thrown(&error))
    }

    /// Builds what a GPU needs for some queries.
    pub fn prepare(&self, queries: &JsValue) -> Promise {
        settled(|| {
            let names = [
                ("solve", Query::Solve),
                ("solveUntil", Query::SolveUntil),
                ("update", Query::Update),
                ("step", Query::Step),
                ("paths", Query::Paths),
                ("distancesAt", Query::DistancesAt),
            ];
            let query = |(row, value)| choice(&format!("queries[{row}]"), &value, &names);
            let queries =
                list("queries", queries)?.iter().enumerate().map(query).collect::<Read<Vec<_>>>()?;
            promised(self.flow.prepare(&queries), |_| JsValue::UNDEFINED)
        })
    }

    fn field_options(&self, options: &JsValue) -> Read<FieldOptions> {
        let fields = Fields::of("options", options, &["maxDistance", "until"])?;
        let until = |name: &str, value: &JsValue| cells(name, value, self.flow.grid());
        Ok(FieldOptions {
            max_distance: fields.get("maxDistance")?.map(|value| whole("maxDistance", &value)).transpose()?,
            until: fields.read("until", until, Vec::new())?,
            ..FieldOptions::default()
        })
    }
}

/// A solved field.
#[wasm_bindgen]
#[derive(Debug, Clone)]
pub struct Field {
    field: flow::Field,
}

impl Field {
    /// The library's field.
    pub(crate) fn get(&self) -> &flow::Field {
        &self.field
    }
}

#[wasm_bindgen]
impl Field {
    /// The distance of each cell, row by row; 4294967295 where no goal can be reached.
    pub fn distances(&self) -> Promise {
        settled(|| promised(self.field.distances(), |all| Uint32Array::from(all.as_slice()).into()))
    }

    /// The code of the move from each cell towards the nearest goal; 255 where there is none.
    #[wasm_bindgen(js_name = nextCodes)]
    pub fn next_codes(&self) -> Promise {
        settled(|| promised(self.field.next_codes(), |all| Uint8Array::from(all.as_slice()).into()))
    }

    /// The distances of some cells.
    #[wasm_bindgen(js_name = distancesAt)]
    pub fn distances_at(&self, list: &JsValue) -> Promise {
        settled(|| {
            let list = cells("cells", list, self.field.grid())?;
            promised(self.field.distances_at(&list), |all| Uint32Array::from(all.rows.as_slice()).into())
        })
    }

    /// The cells that agents in some cells go to next.
    #[wasm_bindgen(js_name = nextCells)]
    pub fn next_cells(&self, list: &JsValue) -> Promise {
        settled(|| {
            let list = cells("cells", list, self.field.grid())?;
            let grid = self.field.grid().clone();
            promised(self.field.next_cells(&list), move |all| {
                Int32Array::from(coordinates(&grid, &all.rows).as_slice()).into()
            })
        })
    }

    /// The path from a cell to the nearest goal.
    pub fn path(&self, start: &JsValue) -> Promise {
        settled(|| {
            let start = cell("start", start, self.field.grid())?;
            let grid = self.field.grid().clone();
            promised(self.field.path(start), move |path| {
                let all = coordinates(&grid, &path.cells);
                Row::default().integers("cells", all.into_iter()).set("length", f64::from(path.length)).into()
            })
        })
    }

    /// The paths from many cells: the indices of all cells, and where each path begins.
    pub fn paths(&self, starts: &JsValue) -> Promise {
        settled(|| {
            let starts = cells("starts", starts, self.field.grid())?;
            promised(self.field.paths(&starts), |paths| {
                Row::default()
                    .indices("offsets", paths.offsets.iter().map(|&at| at as u32))
                    .indices("cells", paths.cells.iter().copied())
                    .indices("lengths", paths.lengths.iter().copied())
                    .into()
            })
        })
    }

    /// Which way positions go: a unit vector each, 0 where there is no way.
    pub fn directions(&self, positions: &JsValue, options: &JsValue) -> Promise {
        settled(|| {
            let positions = rows::<Float64Array, 3>("positions", positions)?;
            let fields = Fields::of("options", options, &["sight"])?;
            let options = SteerOptions { sight: fields.read("sight", whole, SteerOptions::default().sight)? };
            promised(self.field.directions(&positions, &options), |all| {
                Float64Array::from(all.rows.as_flattened()).into()
            })
        })
    }

    /// How many cells are reached.
    #[wasm_bindgen(getter, js_name = reachedCount)]
    pub fn reached_count(&self) -> usize {
        self.field.stats().reached_count
    }

    /// Another handle of the same field.
    pub fn copy(&self) -> Self {
        self.clone()
    }
}
