//! Hostile rooms and queries: each is answered, repaired with a report, or refused with the place named.

mod arguments;
mod cells;
mod fuzz;
mod paths;
mod rays;
mod rings;

use hullfield::navigate::room::{
    Method, Options as RoomOptions, Path as RoomPath, RayHit, RepairKind, Room, Strip,
};

type Ring = Vec<[f64; 2]>;

const SQUARE: [[f64; 2]; 4] = [[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]];

fn block(x: f64, y: f64, width: f64, height: f64) -> Ring {
    vec![[x, y], [x + width, y], [x + width, y + height], [x, y + height]]
}

fn build(outer: &[[f64; 2]], holes: &[Ring]) -> Room {
    Room::new(outer, holes, RoomOptions::default()).unwrap()
}

fn strict(outer: &[[f64; 2]], holes: &[Ring]) -> hullfield::Result<Room> {
    Room::new(outer, holes, RoomOptions { repair: false, ..RoomOptions::default() })
}

/// The repairs as (ring, kind), without successive duplicates.
fn repairs(room: &Room) -> Vec<(usize, RepairKind)> {
    let mut found: Vec<_> = room.repairs().iter().map(|r| (r.ring, r.kind)).collect();
    found.dedup();
    found
}

fn every_method(room: &Room, start: [f64; 2], goal: [f64; 2]) -> Vec<RoomPath> {
    [Method::Optimal, Method::Funnel(Strip::Dijkstra), Method::Funnel(Strip::BreadthFirst)]
        .map(|method| room.path(start, goal, &method.into()).unwrap())
        .into()
}

/// A ray from one point to another.
fn look(room: &Room, from: [f64; 2], to: [f64; 2]) -> hullfield::Result<Option<RayHit>> {
    let by = [to[0] - from[0], to[1] - from[1]];
    // A ray to its own start has no direction.
    let direction = if by == [0.0; 2] { [1.0, 0.0] } else { by };
    room.raycast(from, direction, by[0].hypot(by[1]))
}
