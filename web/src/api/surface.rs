//! Shortest paths over triangle meshes.

use hullfield::navigate::Reach;
use hullfield::navigate::surface::{
    self, Link, LoadOptions, Method, Model, Options, PathLink, PathOptions, Place, Point,
};
use hullfield::{Error, Location};
use js_sys::{Array, Float64Array, Uint8Array, Uint32Array};
use wasm_bindgen::prelude::*;

use crate::api::error::thrown;
use crate::api::input::{Fields, Read, choice, flag, number, numbers, rows, same_length, vector, whole};
use crate::api::output::{NONE, Row};

/// A surface.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Surface {
    surface: surface::Surface,
}

/// A vertex by its number, or the point of the surface nearest to a position.
fn place(name: &str, value: &JsValue) -> Read<Place> {
    if value.as_f64().is_some() {
        return Ok(Place::Vertex(whole(name, value)?));
    }
    Ok(Place::Near(vector(name, value)?))
}

#[derive(Clone, Copy)]
enum Named {
    Geodesic,
    Exact,
    Funnel,
}

fn path_options(options: &JsValue) -> Read<PathOptions> {
    let fields = Fields::of("options", options, &["method", "tolerance", "toNearest"])?;
    let names = [("geodesic", Named::Geodesic), ("exact", Named::Exact), ("funnel", Named::Funnel)];
    let named = fields.read("method", |name, value| choice(name, value, &names), Named::Geodesic)?;
    let tolerance = fields.read("tolerance", number, 1e-3)?;
    let method = match named {
        Named::Geodesic => Method::Geodesic { tolerance },
        Named::Exact => Method::Exact,
        Named::Funnel => Method::Funnel,
    };
    Ok(PathOptions { method, to_nearest: fields.read("toNearest", flag, false)? })
}

/// What the object of a path has.
const PATH_FIELDS: [&str; 8] =
    ["reach", "length", "points", "faces", "arcLengths", "snaps", "links", "nearest"];

/// The path of an object, without normals.
fn given(path: &JsValue) -> Read<surface::Path> {
    let fields = Fields::of("path", path, &PATH_FIELDS)?;
    let mut path = surface::Path::default();
    path.points = fields.need("points", rows::<Float64Array, 3>)?;
    path.normals = vec![[0.0; 3]; path.points.len()];
    path.triangles = fields.need("faces", numbers::<Uint32Array>)?;
    path.arc_lengths = fields.need("arcLengths", numbers::<Float64Array>)?;
    for [piece, link, reversed] in fields.need("links", rows::<Uint32Array, 3>)? {
        let mut taken = PathLink::default();
        (taken.piece, taken.link, taken.reversed) = (piece as usize, link, reversed != 0);
        path.links.push(taken);
    }
    Ok(path)
}

fn found(path: &surface::Path) -> Row {
    let nearest = match &path.reach {
        Reach::Unreachable { nearest } => Some(*nearest),
        Reach::Off { nearest, .. } => *nearest,
        _ => None,
    };
    Row::default()
        .set("reach", path.reach.name())
        .set("length", path.length)
        .doubles("points", path.points.iter().copied().flatten())
        .indices("faces", path.triangles.iter().copied())
        .doubles("arcLengths", path.arc_lengths.iter().copied())
        .doubles("snaps", path.snaps.into_iter())
        .indices(
            "links",
            path.links.iter().flat_map(|taken| [taken.piece as u32, taken.link, u32::from(taken.reversed)]),
        )
        .set("nearest", nearest.map_or(JsValue::NULL, |at| Float64Array::from(at.position.as_slice()).into()))
}

#[wasm_bindgen]
impl Surface {
    /// A surface of vertices and triangular faces.
    ///
    /// # Errors
    /// A number that is not finite, a vertex that does not exist, no triangle, an option that does not exist.
    #[wasm_bindgen(constructor)]
    pub fn new(vertices: &JsValue, faces: &JsValue, options: &JsValue) -> Result<Self, JsValue> {
        let vertices = rows::<Float64Array, 3>("vertices", vertices)?;
        let faces = rows::<Uint32Array, 3>("faces", faces)?;
        let fields = Fields::of("options", options, &["weld", "interval", "maxSnap", "landmarks"])?;
        let plain = Options::default();
        let optional = |name: &str| -> Read<Option<f64>> {
            fields.get(name)?.map(|value| number(name, &value)).transpose()
        };
        let options = Options {
            weld: fields.read("weld", number, plain.weld)?,
            interval: optional("interval")?,
            max_snap: optional("maxSnap")?,
            landmarks: fields.read("landmarks", flag, plain.landmarks)?,
        };
        let surface = surface::Surface::new(&[Model::triangles(vertices, &faces)], options);
        surface.map(|surface| Self { surface }).map_err(|error| thrown(&error))
    }

    /// The vertices that faces use, three numbers each.
    #[wasm_bindgen(getter)]
    pub fn vertices(&self) -> Float64Array {
        Float64Array::from(self.surface.vertices().flatten().collect::<Vec<_>>().as_slice())
    }

    /// The faces, three vertices each.
    #[wasm_bindgen(getter)]
    pub fn faces(&self) -> Uint32Array {
        Uint32Array::from(self.surface.triangles().as_flattened())
    }

    /// The area.
    #[wasm_bindgen(getter)]
    pub fn area(&self) -> f64 {
        self.surface.area()
    }

    /// The vertices that lie on an edge they are not joined to, within a tolerance.
    ///
    /// # Errors
    /// A tolerance below 0, or that is not finite.
    #[wasm_bindgen(js_name = tJunctions)]
    pub fn t_junctions(&self, tolerance: &JsValue) -> Result<JsValue, JsValue> {
        let found =
            self.surface.t_junctions(number("tolerance", tolerance)?).map_err(|error| thrown(&error))?;
        let edges = self.surface.edges();
        Ok(Row::default()
            .set("count", found.len() as u32)
            .indices("vertices", found.iter().map(|at| at.vertex))
            .indices("edges", found.iter().flat_map(|at| edges[at.edge as usize]))
            .doubles("distances", found.iter().map(|at| at.distance))
            .into())
    }

    /// The path from one place to another.
    ///
    /// # Errors
    /// A vertex that does not exist, a number that is not finite, an option that does not exist.
    pub fn path(&self, start: &JsValue, goal: &JsValue, options: &JsValue) -> Result<JsValue, JsValue> {
        let (start, goal) = (place("start", start)?, place("goal", goal)?);
        let path = self.surface.path(start, goal, &path_options(options)?).map_err(|error| thrown(&error))?;
        Ok(found(&path).into())
    }

    /// The paths of many queries, six numbers each: start and goal.
    ///
    /// # Errors
    /// As for one path, with the row.
    pub fn paths(&self, queries: &JsValue, options: &JsValue) -> Result<Array, JsValue> {
        let queries = rows::<Float64Array, 6>("queries", queries)?;
        let queries: Vec<_> = queries.iter().map(|&[a, b, c, d, e, f]| [[a, b, c], [d, e, f]]).collect();
        let paths = self.surface.paths(&queries, &path_options(options)?).map_err(|error| thrown(&error))?;
        Ok(paths.rows.iter().map(|path| JsValue::from(found(path))).collect())
    }

    /// Where an agent is that has followed a path for a length; null where there is no path, and for NaN.
    ///
    /// # Errors
    /// What is not a path.
    #[wasm_bindgen(js_name = pathAt)]
    pub fn path_at(path: &JsValue, arc_length: &JsValue) -> Result<JsValue, JsValue> {
        let place = given(path)?.at(number("arcLength", arc_length)?);
        Ok(place.map_or(JsValue::NULL, |place| {
            Row::default()
                .doubles("position", place.position.into_iter())
                .doubles("tangent", place.tangent.into_iter())
                .set("face", place.triangle)
                .set("link", place.link.map_or(JsValue::NULL, |taken| taken.link.into()))
                .into()
        }))
    }

    /// The exact distance of each vertex from a source; infinite where there is no way.
    ///
    /// # Errors
    /// A vertex that does not exist, a number that is not finite.
    pub fn distances(&self, source: &JsValue) -> Result<Float64Array, JsValue> {
        let distances = self.surface.distances(place("source", source)?).map_err(|error| thrown(&error))?;
        Ok(Float64Array::from(distances.as_slice()))
    }

    /// The point of the surface nearest to a position; none where it is farther than `maxSnap`.
    ///
    /// # Errors
    /// A number that is not finite.
    #[wasm_bindgen(js_name = nearestPoint)]
    pub fn nearest_point(&self, point: &JsValue) -> Result<JsValue, JsValue> {
        let found = self.surface.nearest_point(place("point", point)?).map_err(|error| thrown(&error))?;
        Ok(found.map_or(JsValue::NULL, |found| {
            Row::default()
                .doubles("position", found.position.into_iter())
                .set("distance", found.distance)
                .set("face", found.triangle)
                .set("vertex", self.surface.vertex_at(&found).unwrap_or(NONE))
                .into()
        }))
    }

    /// The vertex that a position on a face is, to the bit; `NONE` where it is none of the face's corners.
    ///
    /// # Errors
    /// A face that does not exist, a number that is not finite.
    #[wasm_bindgen(js_name = vertexAt)]
    pub fn vertex_at(&self, face: &JsValue, position: &JsValue) -> Result<u32, JsValue> {
        let (triangle, position) = (whole("face", face)?, vector::<3>("position", position)?);
        let (index, count) = (u64::from(triangle), self.surface.triangles().len() as u64);
        if index >= count {
            return Err(thrown(&Error::Missing { at: Location::Argument, what: "face", index, count }));
        }
        // It refuses what is not finite.
        let place = Place::Triangle { triangle, position };
        self.surface.nearest_point(place).map_err(|error| thrown(&error))?;
        Ok(self.surface.vertex_at(&Point { triangle, position, distance: 0.0 }).unwrap_or(NONE))
    }

    /// Where a straight walk over the surface meets a wall, or ends; none where it begins off the surface.
    ///
    /// # Errors
    /// A number that is not finite, a direction that does not lie along the surface.
    pub fn raycast(
        &self,
        start: &JsValue,
        direction: &JsValue,
        max_distance: &JsValue,
    ) -> Result<JsValue, JsValue> {
        let (start, direction) = (place("start", start)?, vector::<3>("direction", direction)?);
        let limit = number("maxDistance", max_distance)?;
        let hit = self.surface.raycast(start, direction, limit).map_err(|error| thrown(&error))?;
        Ok(hit.map_or(JsValue::NULL, |hit| {
            let wall = hit.wall.and_then(|edge| self.surface.edges().get(edge as usize).copied());
            Row::default()
                .doubles("point", hit.point.into_iter())
                .doubles("direction", hit.direction.into_iter())
                .set("distance", hit.distance)
                .set("face", hit.triangle)
                .indices("wall", wall.unwrap_or([NONE; 2]).into_iter())
                .into()
        }))
    }

    /// Where an agent stands after a walk that slides along walls; none where it begins off the surface.
    ///
    /// # Errors
    /// A number that is not finite.
    #[wasm_bindgen(js_name = moveAlong)]
    pub fn move_along(&self, start: &JsValue, displacement: &JsValue) -> Result<JsValue, JsValue> {
        let (start, way) = (place("start", start)?, vector::<3>("displacement", displacement)?);
        let end = self.surface.move_along(start, way).map_err(|error| thrown(&error))?;
        Ok(end.map_or(JsValue::NULL, |end| {
            Row::default()
                .doubles("position", end.position.into_iter())
                .doubles("tangent", end.tangent.into_iter())
                .doubles("normal", end.normal.into_iter())
                .set("face", end.triangle)
                .into()
        }))
    }

    /// Sets the links, which join two points of the surface: seven numbers each (from, to, cost), and a byte that is not 0 where a link can be taken
    /// backwards too.
    ///
    /// # Errors
    /// A number that is not finite, a cost below 0, an end off the surface: the links are then unchanged.
    #[wasm_bindgen(js_name = setLinks)]
    pub fn set_links(&mut self, links: &JsValue, two_way: &JsValue) -> Result<(), JsValue> {
        let links = rows::<Float64Array, 7>("links", links)?;
        let two_way = if two_way.is_undefined() {
            vec![1; links.len()]
        } else {
            numbers::<Uint8Array>("twoWay", two_way)?
        };
        same_length("twoWay", two_way.len(), "links", links.len())?;
        let link = |(&[a, b, c, d, e, f, cost], two_way): (&[f64; 7], u8)| Link {
            from: [a, b, c],
            to: [d, e, f],
            cost,
            two_way: two_way != 0,
        };
        let links: Vec<Link> = links.iter().zip(two_way).map(link).collect();
        self.surface.set_links(&links).map_err(|error| thrown(&error))
    }

    /// Makes faces walkable where the angle between their normal and `up` is at most `degrees`; all others are not walkable.
    ///
    /// # Errors
    /// A direction of length 0, degrees that are not from 0 to 180.
    #[wasm_bindgen(js_name = setWalkableSlope)]
    pub fn set_walkable_slope(&mut self, up: &JsValue, degrees: &JsValue) -> Result<(), JsValue> {
        let (up, degrees) = (vector::<3>("up", up)?, number("degrees", degrees)?);
        self.surface.set_walkable_slope(up, degrees).map_err(|error| thrown(&error))
    }

    /// The surface as bytes, for `fromBytes`.
    #[wasm_bindgen(js_name = toBytes)]
    pub fn to_bytes(&self) -> Uint8Array {
        Uint8Array::from(self.surface.to_bytes().as_slice())
    }

    /// A surface of the bytes of `toBytes`.
    ///
    /// # Errors
    /// Bytes that are no saved surface, an option that does not exist.
    #[wasm_bindgen(js_name = fromBytes)]
    pub fn from_bytes(bytes: &JsValue, options: &JsValue) -> Result<Self, JsValue> {
        let bytes = numbers::<Uint8Array>("bytes", bytes)?;
        let fields = Fields::of("options", options, &["maxSnap", "landmarks"])?;
        let options = LoadOptions {
            max_snap: fields.get("maxSnap")?.map(|value| number("maxSnap", &value)).transpose()?,
            landmarks: fields.read("landmarks", flag, false)?,
        };
        let surface = surface::Surface::from_bytes(&bytes, options);
        surface.map(|surface| Self { surface }).map_err(|error| thrown(&error))
    }

    /// Says which faces may be walked on: a byte for each, 0 for no.
    ///
    /// # Errors
    /// A list of another length.
    #[wasm_bindgen(js_name = setWalkable)]
    pub fn set_walkable(&mut self, mask: &JsValue) -> Result<(), JsValue> {
        let mask = numbers::<Uint8Array>("mask", mask)?;
        let count = self.surface.triangles().len();
        same_length("mask", mask.len(), "faces", count)?;
        let allows = |face: u32, _| mask.get(face as usize).is_some_and(|&flag| flag != 0);
        self.surface.set_walkable_where(allows);
        Ok(())
    }
}
