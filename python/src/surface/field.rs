//! Fields: exact distances from one source to everywhere, and from many sources at once.

use std::sync::Arc;
use std::time::Instant;

use hullfield::Error;
use hullfield::navigate::surface::{Field as NativeField, Place, Surface as NativeSurface};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::arrays::{array, shaped, structured};
use crate::batch::{in_pieces, map};
use crate::surface::paths::FlatPaths;
use crate::surface::places::Places;
use crate::surface::query::{milliseconds, run};
use crate::surface::rows;
use crate::wait::{Pending, finish};

self_cell::self_cell!(
    /// A field with the surface that it borrows.
    struct OwnedField {
        owner: Arc<NativeSurface>,
        #[covariant]
        dependent: NativeField,
    }
);

/// A field over a surface as it was when the field was made.
#[pyclass(frozen, module = "hullfield._native", name = "SurfaceField")]
pub(crate) struct Field(Arc<OwnedField>);

/// `Surface::field`.
pub(crate) fn field(surface: Arc<NativeSurface>, source: Place) -> Pending {
    run(
        move || OwnedField::try_new(surface, |surface| surface.field(source)),
        |py, field| Field(Arc::new(field)).into_py_any(py),
    )
}

/// Stands for the source of a vertex that no source reaches.
const NO_SOURCE: u32 = u32::MAX;

/// What the fields of several sources become.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Combine {
    /// A row for each source.
    Rows,
    /// For each vertex the least distance, and its source, the lowest one of several.
    Least,
}

/// The distances of vertices from each source, or from the nearest one. `wanted` lists the vertices, or all where it is `None`;
/// `u32::MAX` in it stands for a vertex that no triangle has, which is infinitely far.
pub(crate) fn distances(
    surface: Arc<NativeSurface>,
    sources: Vec<Place>,
    wanted: Option<Vec<u32>>,
    combine: Combine,
) -> Pending {
    Pending::run(move |cancel| {
        let count = wanted.as_ref().map_or(surface.vertices().len(), Vec::len);
        let row = |source: usize| {
            let all = surface.distances(sources[source])?;
            let Some(wanted) = &wanted else { return Ok(all) };
            let pick = |&vertex: &u32| all.get(vertex as usize).copied().unwrap_or(f64::INFINITY);
            Ok(wanted.iter().map(pick).collect::<Vec<f64>>())
        };
        if combine == Combine::Rows {
            // Rows are joined some at a time, so that they are not in memory twice.
            let mut all = Vec::new();
            let needed = count.saturating_mul(sources.len());
            if all.try_reserve_exact(needed).is_err() {
                let (what, needed_bytes) = ("the table of distances", (needed as u64).saturating_mul(8));
                return Err(Error::MemoryLimit { what, needed_bytes, limit_bytes: isize::MAX as u64 });
            }
            let step = 4 * hullfield::thread_count();
            for from in (0..sources.len()).step_by(step) {
                let len = step.min(sources.len() - from);
                for row in map(len, 1, cancel, |item| row(from + item))? {
                    all.extend(row);
                }
            }
            let shape = [sources.len(), count];
            return Ok(finish(move |py| shaped(py, all, &shape)));
        }
        let (mut least, mut nearest) = (vec![f64::INFINITY; count], vec![NO_SOURCE; count]);
        let step = 4 * hullfield::thread_count();
        for from in (0..sources.len()).step_by(step) {
            let len = step.min(sources.len() - from);
            for (row, source) in map(len, 1, cancel, |item| row(from + item))?.into_iter().zip(from as u32..)
            {
                for ((least, nearest), distance) in least.iter_mut().zip(&mut nearest).zip(row) {
                    if distance < *least {
                        (*least, *nearest) = (distance, source);
                    }
                }
            }
        }
        Ok(finish(move |py| (array(py, least), array(py, nearest)).into_py_any(py)))
    })
}

#[pymethods]
impl Field {
    #[getter]
    fn source(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let field = &self.0;
        let found = field.borrow_dependent().source();
        found.map(|point| structured(py, vec![rows::point(field.borrow_owner(), Some(point))])).transpose()
    }

    #[getter]
    fn is_ambiguous(&self) -> bool {
        self.0.borrow_dependent().is_ambiguous()
    }

    fn at_vertices(&self) -> Pending {
        let field = Arc::clone(&self.0);
        run(move || Ok(field.borrow_dependent().at_vertices()), |py, all| Ok(array(py, all)))
    }

    fn distances(&self, points: &Places) -> Pending {
        let (field, points) = (Arc::clone(&self.0), points.0.clone());
        Pending::run(move |cancel| {
            let field = field.borrow_dependent();
            let all = map(points.len(), 64, cancel, |row| {
                Ok(field.distance(points[row])?.unwrap_or(f64::INFINITY))
            })?;
            Ok(finish(move |py| Ok(array(py, all))))
        })
    }

    fn paths(&self, goals: &Places) -> Pending {
        let (field, goals) = (Arc::clone(&self.0), goals.0.clone());
        Pending::run(move |cancel| {
            let begun = Instant::now();
            let field = field.borrow_dependent();
            let mut all = FlatPaths::new();
            in_pieces(goals.len(), cancel, |piece| {
                all.extend(&field.paths(&goals[piece])?.rows);
                Ok(())
            })?;
            Ok(finish(move |py| all.into_arrays(py, milliseconds(begun))))
        })
    }

    fn path(&self, goal: &Places) -> PyResult<Pending> {
        let (field, goal) = (Arc::clone(&self.0), goal.one()?);
        Ok(Pending::run(move |_| {
            let begun = Instant::now();
            let found = FlatPaths::one(&field.borrow_dependent().path(goal)?);
            Ok(finish(move |py| found.into_arrays(py, milliseconds(begun))))
        }))
    }
}
