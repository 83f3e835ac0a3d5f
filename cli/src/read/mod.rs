//! Readers of meshes, point sets, maps, rooms and tables.
//!
//! Each object of a mesh file is a point set with the object's name. A file without objects is one point set, with the
//! file's name without extension. Later sets of equal names get a number: `Wheels`, `Wheels.1`. The points of an object are
//! those that its faces, lines or points use, or all of its points if it has none of these. An object without points is left
//! out with a warning. A model is all the faces of a file. Every error names the file, and in text files the line and the
//! field.

mod bodies;
mod cells;
#[cfg(test)]
mod fuzz;
mod goals;
mod input;
mod map;
mod mesh_files;
mod parts;
mod point_set;
mod points;
mod raster;
mod rays;
mod room;
mod surface;
mod table;
mod text;

pub(crate) use bodies::{Bodies, bodies, pairs};
pub(crate) use cells::{CellScenario, cell, cell_scenarios, edits};
pub(crate) use goals::{GoalPlaces, format as goals_format, goals};
pub(crate) use input::{checked_bytes as file_bytes, file_format, is_dash, one_stdin};
pub(crate) use map::{
    FrictionNumbers, Map, MapFiles, MapRaster, MapValues, WholeFriction, costs, friction, map, npy_header,
    raster_size, write_npy,
};
pub(crate) use mesh_files::{models, point_sets};
pub(crate) use parts::Parts;
pub(crate) use point_set::{PointSet, PointSets};
pub(crate) use raster::{GeoValue, Georeference, RasterFile, is_raster};
pub(crate) use rays::{Points, Rays, ray_error_at_line, rays, world_points};
pub(crate) use room::{Query as RoomQuery, Scenario, point as room_point, queries, room, scenarios};
pub(crate) use surface::{
    Query as SurfaceQuery, QueryEnd as SurfaceQueryEnd, face as surface_face, faces as surface_faces,
    goals as surface_goals, links as surface_links, named_face as surface_named_face, point as surface_point,
    queries as surface_queries,
};
pub(crate) use text::{excerpt, number};
