//! Starts and goals as places on the surface, with the faces that their rows name.

use hullfield::Error;
use hullfield::navigate::surface::{ModelFace, Place as SurfacePlace, Surface};

use super::arguments::Arguments;
use crate::failure::{Failure, Result};
use crate::read::{SurfaceQuery, SurfaceQueryEnd, surface_named_face};

/// A start and a goal on the surface.
pub(super) type Places = [SurfacePlace; 2];

/// Looks up the faces of starts and goals, and names their rows or flags in errors.
pub(super) struct PlaceResolver<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) face_counts: &'a [usize],
}

impl PlaceResolver<'_> {
    /// The places of all queries.
    pub(super) fn places(&self, queries: &[SurfaceQuery]) -> Result<Vec<Places>> {
        let ends = |query: &SurfaceQuery| {
            let [start, goal] = &query.ends;
            Ok([self.place(0, start, query.line)?, self.place(1, goal, query.line)?])
        };
        queries.iter().map(ends).collect()
    }

    /// The place of a start (`end` 0) or a goal (`end` 1).
    pub(super) fn place(&self, end: usize, query_end: &SurfaceQueryEnd, line: u64) -> Result<SurfacePlace> {
        let Some(name) = query_end.face else { return Ok(SurfacePlace::Near(query_end.position)) };
        let [model, face] = surface_named_face(name, self.face_counts)
            .map_err(|(is_model, message)| self.failure(end, line, is_model, message))?;
        Ok(SurfacePlace::Face { face: ModelFace { model, face }, position: query_end.position })
    }

    /// Checks that the surface has the named faces: a face without area is left out.
    pub(super) fn check(&self, surface: &Surface, places: &[Places], queries: &[SurfaceQuery]) -> Result<()> {
        for (places, query) in places.iter().zip(queries) {
            for (end, &place) in places.iter().enumerate() {
                self.check_one(surface, end, place, query.line)?;
            }
        }
        Ok(())
    }

    /// [`Self::check`] for one place.
    pub(super) fn check_one(
        &self,
        surface: &Surface,
        end: usize,
        place: SurfacePlace,
        line: u64,
    ) -> Result<()> {
        match place {
            SurfacePlace::Face { face, .. } if surface.triangles_of(face).is_empty() => {
                let message = match surface.locate(place) {
                    Err(Error::Value { value, allowed, .. }) => format!("{value}, {allowed}"),
                    _ => format!("no triangle comes from face {} of model {}", face.face, face.model),
                };
                Err(self.failure(end, line, false, message))
            }
            _ => Ok(()),
        }
    }

    fn failure(&self, end: usize, line: u64, is_model: bool, message: String) -> Failure {
        let is_flag = end == 0 && self.arguments.field_from.is_some();
        match &self.arguments.queries {
            Some(path) if !is_flag => {
                let column = format!("{}{end}", if is_model { "model" } else { "face" });
                Failure::field(path, line, &column, message)
            }
            _ => Failure::input(format!("--{}-face: {message}", ["from", "to"][end])),
        }
    }
}
