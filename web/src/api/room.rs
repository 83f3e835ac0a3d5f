//! Shortest paths between walls.

use hullfield::navigate::Reach;
use hullfield::navigate::room::{self, Method, Options, PathOptions, Point, Strip};
use js_sys::{Array, Float64Array, Uint32Array};
use wasm_bindgen::prelude::*;

use crate::api::error::thrown;
use crate::api::input::{Fields, Read, choice, flag, list, number, numbers, rows, vector, whole};
use crate::api::output::{NONE, Row};

/// A room in two dimensions.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Room {
    room: room::Room,
}

fn room_options(options: &JsValue) -> Read<Options> {
    let fields = Fields::of("options", options, &["radius", "squeeze", "merge", "repair", "doors"])?;
    let plain = Options::default();
    let doors = fields.read("doors", rows::<Float64Array, 4>, Vec::new())?;
    Ok(Options {
        radius: fields.read("radius", number, plain.radius)?,
        squeeze: fields.read("squeeze", flag, plain.squeeze)?,
        merge: fields.read("merge", flag, plain.merge)?,
        repair: fields.read("repair", flag, plain.repair)?,
        doors: doors.into_iter().map(|[a, b, c, d]| [[a, b], [c, d]]).collect(),
    })
}

/// A point of a room; null where there is none.
fn point_row(found: Option<Point>) -> JsValue {
    found.map_or(JsValue::NULL, |found| {
        Row::default()
            .doubles("position", found.position.into_iter())
            .set("distance", found.distance)
            .set("cell", found.cell)
            .into()
    })
}

fn path_options(options: &JsValue) -> Read<PathOptions> {
    let fields = Fields::of("options", options, &["method", "strip", "toNearest"])?;
    let strips = [("dijkstra", Strip::Dijkstra), ("breadthFirst", Strip::BreadthFirst)];
    let strip = fields.read("strip", |name, value| choice(name, value, &strips), Strip::Dijkstra)?;
    let methods = [("optimal", Method::Optimal), ("funnel", Method::Funnel(strip))];
    let method = fields.read("method", |name, value| choice(name, value, &methods), Method::Optimal)?;
    Ok(PathOptions { method, to_nearest: fields.read("toNearest", flag, false)? })
}

/// The rings of a polygon, or of holes: a list of rows of two numbers.
fn rings(name: &str, value: &JsValue) -> Read<Vec<Vec<[f64; 2]>>> {
    let ring = |(at, ring)| rows::<Float64Array, 2>(&format!("{name}[{at}]"), &ring);
    list(name, value)?.iter().enumerate().map(ring).collect()
}

/// Where a path that is not there could end; none where there is a path.
fn nearest(reach: &Reach<[f64; 2]>) -> Option<[f64; 2]> {
    match reach {
        Reach::Unreachable { nearest } => Some(*nearest),
        Reach::Off { nearest, .. } => *nearest,
        _ => None,
    }
}

/// The length of the path from the start to each point.
fn arc_lengths(points: &[[f64; 2]]) -> Vec<f64> {
    let mut sum = 0.0;
    let mut before = None;
    let mut length = |&[x, y]: &[f64; 2]| {
        let [from_x, from_y] = before.replace([x, y]).unwrap_or([x, y]);
        sum += (x - from_x).hypot(y - from_y);
        sum
    };
    points.iter().map(&mut length).collect()
}

/// What the object of a path has.
const PATH_FIELDS: [&str; 7] = ["reach", "length", "points", "arcLengths", "corners", "cells", "nearest"];

fn found(path: &room::Path) -> Row {
    let nearest = nearest(&path.reach);
    Row::default()
        .set("reach", path.reach.name())
        .set("length", path.length)
        .doubles("points", path.points.iter().copied().flatten())
        .doubles("arcLengths", arc_lengths(&path.points).into_iter())
        .indices("corners", path.corners.iter().copied())
        .indices("cells", path.cells.iter().copied())
        .set("nearest", nearest.map_or(JsValue::NULL, |point| Float64Array::from(point.as_slice()).into()))
}

#[wasm_bindgen]
impl Room {
    /// A room of an outer ring and holes, x and y for each point.
    ///
    /// # Errors
    /// A ring of fewer than three points, a number that is not finite, an option that does not exist.
    #[wasm_bindgen(constructor)]
    pub fn new(outer: &JsValue, holes: &JsValue, options: &JsValue) -> Result<Self, JsValue> {
        let outer = rows::<Float64Array, 2>("outer", outer)?;
        let has_holes = !holes.is_undefined() && !holes.is_null();
        let holes = if has_holes { rings("holes", holes)? } else { Vec::new() };
        let room = room::Room::new(&outer, &holes, room_options(options)?);
        room.map(|room| Self { room }).map_err(|error| thrown(&error))
    }

    /// A room of several polygons, each a list of rings: the outer one, then holes. The floor is what any of them holds.
    ///
    /// # Errors
    /// As the constructor; a polygon without rings.
    #[wasm_bindgen(js_name = fromPolygons)]
    pub fn from_polygons(polygons: &JsValue, options: &JsValue) -> Result<Self, JsValue> {
        let polygon = |(at, polygon)| rings(&format!("polygons[{at}]"), &polygon);
        let polygons: Vec<_> =
            list("polygons", polygons)?.iter().enumerate().map(polygon).collect::<Read<_>>()?;
        let room = room::Room::from_polygons(&polygons, room_options(options)?);
        room.map(|room| Self { room }).map_err(|error| thrown(&error))
    }

    /// A room of convex cells that share their vertices, x and y for each vertex.
    ///
    /// # Errors
    /// A cell of fewer than three vertices or that is not convex, a vertex that does not exist, an option that does not exist.
    #[wasm_bindgen(js_name = fromCells)]
    pub fn from_cells(vertices: &JsValue, cells: &JsValue, options: &JsValue) -> Result<Self, JsValue> {
        let vertices = rows::<Float64Array, 2>("vertices", vertices)?;
        let cell = |(row, cell)| numbers::<Uint32Array>(&format!("cells[{row}]"), &cell);
        let cells = list("cells", cells)?.iter().enumerate().map(cell).collect::<Read<Vec<_>>>()?;
        let room = room::Room::from_cells(&vertices, &cells, room_options(options)?);
        room.map(|room| Self { room }).map_err(|error| thrown(&error))
    }

    /// The path from one point to another.
    ///
    /// # Errors
    /// A point that is not finite, an option that does not exist.
    pub fn path(&self, start: &JsValue, goal: &JsValue, options: &JsValue) -> Result<JsValue, JsValue> {
        let (start, goal) = (vector::<2>("start", start)?, vector::<2>("goal", goal)?);
        let path = self.room.path(start, goal, &path_options(options)?).map_err(|error| thrown(&error))?;
        Ok(found(&path).into())
    }

    /// The paths of many queries, four numbers each: start and goal.
    ///
    /// # Errors
    /// As for one path, with the row.
    pub fn paths(&self, queries: &JsValue, options: &JsValue) -> Result<Array, JsValue> {
        let queries = rows::<Float64Array, 4>("queries", queries)?;
        let queries: Vec<_> = queries.iter().map(|&[a, b, c, d]| [[a, b], [c, d]]).collect();
        let paths = self.room.paths(&queries, &path_options(options)?).map_err(|error| thrown(&error))?;
        Ok(paths.rows.iter().map(|path| JsValue::from(found(path))).collect())
    }

    /// Where an agent is that has followed a path for a length; null where there is no path, and for NaN.
    ///
    /// # Errors
    /// What is not a path.
    #[wasm_bindgen(js_name = pathAt)]
    pub fn path_at(path: &JsValue, arc_length: &JsValue) -> Result<JsValue, JsValue> {
        let mut given = room::Path::default();
        given.points = Fields::of("path", path, &PATH_FIELDS)?.need("points", rows::<Float64Array, 2>)?;
        Ok(given.at(number("arcLength", arc_length)?).map_or(JsValue::NULL, |place| {
            Row::default()
                .doubles("position", place.position.into_iter())
                .doubles("tangent", place.tangent.into_iter())
                .set("piece", place.piece as u32)
                .into()
        }))
    }

    /// The point of the room nearest to a point; none where nothing of the room is left.
    ///
    /// # Errors
    /// A number that is not finite.
    #[wasm_bindgen(js_name = nearestPoint)]
    pub fn nearest_point(&self, point: &JsValue) -> Result<JsValue, JsValue> {
        let found = self.room.nearest_point(vector::<2>("point", point)?);
        found.map(point_row).map_err(|error| thrown(&error))
    }

    /// A point that is in the room, with its cell; none where it is off the room.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn locate(&self, point: &JsValue) -> Result<JsValue, JsValue> {
        let found = self.room.locate(vector::<2>("point", point)?);
        found.map(point_row).map_err(|error| thrown(&error))
    }

    /// Where an agent stands after a move that slides along walls; none where it begins off the room.
    ///
    /// # Errors
    /// A number that is not finite.
    #[wasm_bindgen(js_name = moveAlong)]
    pub fn move_along(&self, start: &JsValue, displacement: &JsValue) -> Result<JsValue, JsValue> {
        let (start, way) = (vector::<2>("start", start)?, vector::<2>("displacement", displacement)?);
        self.room.move_along(start, way).map(point_row).map_err(|error| thrown(&error))
    }

    /// The wall nearest to a point; none where the point is off the room.
    ///
    /// # Errors
    /// A number that is not finite.
    #[wasm_bindgen(js_name = distanceToWall)]
    pub fn distance_to_wall(&self, point: &JsValue) -> Result<JsValue, JsValue> {
        let found =
            self.room.distance_to_wall(vector::<2>("point", point)?).map_err(|error| thrown(&error))?;
        Ok(found.map_or(JsValue::NULL, |found| {
            Row::default()
                .doubles("point", found.point.into_iter())
                .set("distance", found.distance)
                .indices("wall", found.wall.into_iter())
                .into()
        }))
    }

    /// Puts an obstacle into the room; returns its number.
    ///
    /// # Errors
    /// A ring of fewer than three points, a number that is not finite: the room is then unchanged.
    #[wasm_bindgen(js_name = putObstacle)]
    pub fn put_obstacle(&mut self, ring: &JsValue) -> Result<u32, JsValue> {
        let ring = rows::<Float64Array, 2>("ring", ring)?;
        self.room.put_obstacle(&ring).map_err(|error| thrown(&error))
    }

    /// Gives an obstacle another ring.
    ///
    /// # Errors
    /// As `putObstacle`; an obstacle that does not exist.
    #[wasm_bindgen(js_name = moveObstacle)]
    pub fn move_obstacle(&mut self, obstacle: &JsValue, ring: &JsValue) -> Result<(), JsValue> {
        let (obstacle, ring) = (whole("obstacle", obstacle)?, rows::<Float64Array, 2>("ring", ring)?);
        self.room.move_obstacle(obstacle, &ring).map_err(|error| thrown(&error))
    }

    /// Takes an obstacle out.
    ///
    /// # Errors
    /// An obstacle that does not exist.
    #[wasm_bindgen(js_name = takeObstacle)]
    pub fn take_obstacle(&mut self, obstacle: &JsValue) -> Result<(), JsValue> {
        self.room.take_obstacle(whole("obstacle", obstacle)?).map_err(|error| thrown(&error))
    }

    /// Makes a door of edges between cells, two vertices each; returns its number. It is open at first.
    ///
    /// # Errors
    /// An edge that is not between two cells.
    #[wasm_bindgen(js_name = addDoor)]
    pub fn add_door(&mut self, edges: &JsValue) -> Result<u32, JsValue> {
        let edges = rows::<Uint32Array, 2>("edges", edges)?;
        self.room.add_door(&edges).map_err(|error| thrown(&error))
    }

    /// Makes a door of whole cells; returns its number. It is open at first.
    ///
    /// # Errors
    /// A cell that does not exist.
    #[wasm_bindgen(js_name = addDoorCells)]
    pub fn add_door_cells(&mut self, cells: &JsValue) -> Result<u32, JsValue> {
        let cells = numbers::<Uint32Array>("cells", cells)?;
        self.room.add_door_cells(&cells).map_err(|error| thrown(&error))
    }

    /// Opens or shuts a door.
    ///
    /// # Errors
    /// A door that does not exist.
    #[wasm_bindgen(js_name = setDoor)]
    pub fn set_door(&mut self, door: &JsValue, is_open: &JsValue) -> Result<(), JsValue> {
        let door = (whole("door", door)?, flag("isOpen", is_open)?);
        self.room.set_doors(&[door]).map_err(|error| thrown(&error))
    }

    /// How many doors there are.
    #[wasm_bindgen(getter, js_name = doorCount)]
    pub fn door_count(&self) -> usize {
        self.room.door_count()
    }

    /// The ends of doors that are on no wall, so that agents can walk around them: the door, the end, and how far the nearest wall is.
    #[wasm_bindgen(getter, js_name = freeDoorEnds)]
    pub fn free_door_ends(&self) -> Array {
        let row = |free: &room::FreeDoorEnd| {
            let row = Row::default().set("door", free.door).doubles("end", free.end.into_iter());
            JsValue::from(row.set("distance", free.distance))
        };
        self.room.free_door_ends().iter().map(row).collect()
    }

    /// How many parts the room has between which there is no way.
    #[wasm_bindgen(getter, js_name = islandCount)]
    pub fn island_count(&self) -> usize {
        self.room.island_count()
    }

    /// Where a ray first meets a wall; none where it begins off the room.
    ///
    /// # Errors
    /// A number that is not finite, a direction of length 0.
    pub fn raycast(
        &self,
        start: &JsValue,
        direction: &JsValue,
        max_distance: &JsValue,
    ) -> Result<JsValue, JsValue> {
        let (start, direction) = (vector::<2>("start", start)?, vector::<2>("direction", direction)?);
        let limit = number("maxDistance", max_distance)?;
        let hit = self.room.raycast(start, direction, limit).map_err(|error| thrown(&error))?;
        Ok(hit.map_or(JsValue::NULL, |hit| {
            Row::default()
                .doubles("point", hit.point.into_iter())
                .set("distance", hit.distance)
                .set("cell", hit.cell)
                .indices("wall", hit.wall.unwrap_or([NONE; 2]).into_iter())
                .into()
        }))
    }

    /// The vertices, two numbers each.
    #[wasm_bindgen(getter)]
    pub fn vertices(&self) -> Float64Array {
        Float64Array::from(self.room.vertices().flatten().collect::<Vec<_>>().as_slice())
    }

    /// The cells, each a list of vertices.
    #[wasm_bindgen(getter)]
    pub fn cells(&self) -> Array {
        let cell =
            |cell| JsValue::from(Uint32Array::from(self.room.cell(cell).collect::<Vec<_>>().as_slice()));
        (0..self.room.cell_count() as u32).map(cell).collect()
    }

    /// The area inside the walls.
    #[wasm_bindgen(getter)]
    pub fn area(&self) -> f64 {
        self.room.area()
    }
}
