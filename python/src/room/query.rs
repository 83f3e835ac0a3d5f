//! Queries over a room, as pieces that a caller can end.

use std::time::Instant;

use hullfield::Result;
use hullfield::navigate::room::{Method, PathOptions, Room, Strip};

use crate::arrays::{Row, structured};
use crate::batch::{in_pieces, map};
use crate::room::paths::{FlatPaths, steps};
use crate::room::shared::Reading;
use crate::wait::{Pending, finish};
use pyo3::IntoPyObjectExt;

/// How many quick queries a thread takes at a time.
const GRAIN: usize = 256;

/// The strip of a funnel by its name.
pub(crate) fn strip(name: &str) -> Strip {
    if name == "breadth_first" { Strip::BreadthFirst } else { Strip::Dijkstra }
}

/// The options of a path query, of plain values.
pub(crate) fn path_options(method: &str, strip_name: &str, to_nearest: bool) -> PathOptions {
    let method = if method == "funnel" { Method::Funnel(strip(strip_name)) } else { Method::Optimal };
    PathOptions { method, to_nearest }
}

/// `Room::path` of one query.
pub(crate) fn path(room: Reading, [start, goal]: [[f64; 2]; 2], options: PathOptions) -> Pending {
    Pending::run(move |_| {
        let begun = Instant::now();
        let mut all = FlatPaths::new();
        all.push(&room.get().path(start, goal, &options)?, goal);
        drop(room);
        Ok(finish(move |py| all.into_arrays(py, begun.elapsed().as_secs_f64() * 1e3)))
    })
}

/// `Room::paths`.
pub(crate) fn paths(room: Reading, queries: Vec<[[f64; 2]; 2]>, options: PathOptions) -> Pending {
    Pending::run(move |cancel| {
        let begun = Instant::now();
        let mut all = FlatPaths::new();
        let mut found = Vec::new();
        in_pieces(queries.len(), cancel, |piece| {
            let queries = &queries[piece];
            room.get().paths_into(queries, &options, &mut found)?;
            queries.iter().zip(&found).for_each(|(query, path)| all.push(path, query[1]));
            Ok(())
        })?;
        drop(room);
        Ok(finish(move |py| all.into_arrays(py, begun.elapsed().as_secs_f64() * 1e3)))
    })
}

/// `Room::funnel_steps`.
pub(crate) fn funnel_steps(room: Reading, strip: Strip, [start, goal]: [[f64; 2]; 2]) -> Pending {
    Pending::run(move |_| {
        let found = room.get().funnel_steps(strip, start, goal)?;
        drop(room);
        Ok(finish(move |py| steps(py, found, goal)?.into_py_any(py)))
    })
}

/// A row for each query, of a query that takes microseconds.
pub(crate) fn rows<R: Row + 'static>(
    room: Reading,
    count: usize,
    answer: impl Fn(&Room, usize) -> Result<R> + Send + Sync + 'static,
) -> Pending {
    Pending::run(move |cancel| {
        let found = {
            let room = room.get();
            let room: &Room = &room;
            map(count, GRAIN, cancel, |row| answer(room, row))?
        };
        drop(room);
        Ok(finish(move |py| structured(py, found)))
    })
}
