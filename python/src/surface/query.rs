//! Queries over a surface, as pieces that a caller can end.

use std::sync::Arc;
use std::time::Instant;

use hullfield::Result;
use hullfield::navigate::surface::{Method, PathOptions, Place, Surface};

use crate::arrays::structured;
use crate::batch::{in_pieces, map};
use crate::surface::paths::FlatPaths;
use crate::surface::rows::{self, PlaceRow, PointRow, RayHitRow, WallRow};
use crate::wait::{Finish, Pending, finish};

/// How many quick queries a thread takes at a time.
const GRAIN: usize = 256;

/// The options of a path query, of plain values.
pub(crate) fn path_options(method: &str, tolerance: f64, to_nearest: bool) -> PathOptions {
    let method = match method {
        "funnel" => Method::Funnel,
        "exact" => Method::Exact,
        _ => Method::Geodesic { tolerance },
    };
    PathOptions { method, to_nearest }
}

/// `Surface::path` of one query.
pub(crate) fn path(surface: Arc<Surface>, [start, goal]: [Place; 2], options: PathOptions) -> Pending {
    Pending::run(move |_| {
        let begun = Instant::now();
        let found = FlatPaths::one(&surface.path(start, goal, &options)?);
        Ok(finish(move |py| found.into_arrays(py, milliseconds(begun))))
    })
}

/// `Surface::paths`.
pub(crate) fn paths(surface: Arc<Surface>, queries: Vec<[Place; 2]>, options: PathOptions) -> Pending {
    Pending::run(move |cancel| {
        let begun = Instant::now();
        let mut all = FlatPaths::new();
        in_pieces(queries.len(), cancel, |piece| {
            all.extend(&surface.paths(&queries[piece], &options)?.rows);
            Ok(())
        })?;
        Ok(finish(move |py| all.into_arrays(py, milliseconds(begun))))
    })
}

/// `Surface::path_by_costs`.
pub(crate) fn path_by_costs(surface: Arc<Surface>, [start, goal]: [Place; 2], costs: Vec<f64>) -> Pending {
    Pending::run(move |_| {
        let begun = Instant::now();
        let found = FlatPaths::with_cost(&surface.path_by_costs(start, goal, &costs)?);
        Ok(finish(move |py| found.into_arrays(py, milliseconds(begun))))
    })
}

/// `Surface::funnel_along`.
pub(crate) fn funnel_along(surface: Arc<Surface>, strip: Vec<u32>, [start, goal]: [[f64; 3]; 2]) -> Pending {
    Pending::run(move |_| {
        let begun = Instant::now();
        let found = FlatPaths::one(&surface.funnel_along(&strip, start, goal)?);
        Ok(finish(move |py| found.into_arrays(py, milliseconds(begun))))
    })
}

/// `Surface::locate` where `within_snap`, else `Surface::nearest_point`.
pub(crate) fn points(surface: Arc<Surface>, places: Vec<Place>, within_snap: bool) -> Pending {
    Pending::run(move |cancel| {
        let found: Vec<PointRow> = map(places.len(), GRAIN, cancel, |row| {
            let place = places[row];
            let found = if within_snap { surface.locate(place)? } else { surface.nearest_point(place)? };
            Ok(rows::point(&surface, found))
        })?;
        Ok(finish(move |py| structured(py, found)))
    })
}

/// `Surface::raycast`.
pub(crate) fn raycasts(
    surface: Arc<Surface>,
    starts: Vec<Place>,
    directions: Vec<[f64; 3]>,
    max_distances: Vec<f64>,
) -> Pending {
    Pending::run(move |cancel| {
        let found: Vec<RayHitRow> = map(starts.len(), GRAIN, cancel, |row| {
            surface.raycast(starts[row], directions[row], max_distances[row]).map(rows::ray_hit)
        })?;
        Ok(finish(move |py| structured(py, found)))
    })
}

/// `Surface::move_along`.
pub(crate) fn moves(surface: Arc<Surface>, starts: Vec<Place>, displacements: Vec<[f64; 3]>) -> Pending {
    Pending::run(move |cancel| {
        let found: Vec<PlaceRow> = map(starts.len(), GRAIN, cancel, |row| {
            surface.move_along(starts[row], displacements[row]).map(rows::place)
        })?;
        Ok(finish(move |py| structured(py, found)))
    })
}

/// `Surface::distance_to_wall`.
pub(crate) fn wall_distances(surface: Arc<Surface>, places: Vec<Place>) -> Pending {
    Pending::run(move |cancel| {
        let found: Vec<WallRow> =
            map(places.len(), 1, cancel, |row| surface.distance_to_wall(places[row]).map(rows::wall))?;
        Ok(finish(move |py| structured(py, found)))
    })
}

/// `Surface::random_point`, of three uniform numbers each.
pub(crate) fn random_points(surface: Arc<Surface>, uniform: Vec<[f64; 3]>) -> Pending {
    Pending::run(move |cancel| {
        let found: Vec<PointRow> = map(uniform.len(), GRAIN, cancel, |row| {
            Ok(rows::point(&surface, surface.random_point(uniform[row])?))
        })?;
        Ok(finish(move |py| structured(py, found)))
    })
}

/// Milliseconds since a time.
pub(crate) fn milliseconds(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e3
}

/// Runs work over a surface that gives one Python object.
pub(crate) fn run<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
    make: impl FnOnce(pyo3::Python<'_>, T) -> pyo3::PyResult<pyo3::Py<pyo3::PyAny>> + Send + 'static,
) -> Pending {
    Pending::run(move |_| {
        let value = work()?;
        let made: Finish = finish(move |py| make(py, value));
        Ok(made)
    })
}
