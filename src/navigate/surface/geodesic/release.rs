//! Gives windows back while a search for the distances of vertices runs.
//!
//! Such a search makes the windows of an exact one, in the same order, but traces no path. So a window serves only to prune later windows of
//! its side, and to measure the corners of the triangle that it enters. Once the search has come so far that every further window would be
//! longer than a path over the triangle's corners, none enters the triangle any more (Xin and Wang's filter, in `propagate.rs`). Then its
//! corners are measured, and its windows are used again: only those around the wavefront are in memory.
//!
//! Windows come nearest first up to a bucket's width, and no window is nearer than the one it comes from, up to rounding. Rounding may
//! still bring a window to a triangle whose windows were dropped. The search then reports it, and its caller computes the distances again with all
//! windows in memory.

use crate::navigate::shared::heap::Entry;
use crate::navigate::surface::geodesic::propagate::Propagation;
use crate::navigate::surface::geodesic::window::{CORNER_NEAREST, LATEST, SearchMode};
use crate::navigate::surface::mesh::topology::NONE;

/// After so many windows have been propagated, it is first looked which can be given back.
const FIRST_RELEASE: usize = 1 << 14;

/// Relative to a distance: further than the filters of windows can miss by rounding.
const ROUNDING: f64 = 1e-11;

impl<const TO_WALL: bool> Propagation<'_, '_, TO_WALL> {
    /// Notes that a window has been propagated, and gives windows back now and then.
    pub(crate) fn retire(&mut self, entry: Entry) {
        let window = &mut self.search.state.windows[entry.index as usize];
        let triangle = window.entry / 3;
        if self.search.state.triangles[triangle as usize].is_released {
            self.search.free.push_back(entry.index);
            self.search.is_released_early |= entry.key <= self.last_entry(triangle);
            return;
        }
        // No path is traced, so its exit is of no use.
        window.exit = NONE;
        self.search.retired_count += 1;
        let kept_count = self.search.state.windows.len() - self.search.free.len();
        if self.search.retired_count >= FIRST_RELEASE.max(kept_count / 2) {
            self.search.retired_count = 0;
            let SearchMode::Vertices { slack } = self.query.mode else { return };
            self.release(self.search.open.reached() - slack);
        }
    }

    /// Notes a window that enters a triangle whose windows were given back.
    #[inline]
    pub(crate) fn check_entry(&mut self, triangle: u32) {
        let state = &self.search.state;
        let entered = &state.triangles[triangle as usize];
        self.search.is_released_early |= entered.is_released && entered.generation == state.generation;
    }

    /// Measures the corners of the triangles that no window enters after the search has reached a distance, and gives their windows back.
    pub(crate) fn release(&mut self, reached: f64) {
        let mut entered = std::mem::take(&mut self.search.entered);
        entered.retain(|&triangle| {
            let is_over = self.last_entry(triangle) < reached;
            if is_over {
                self.release_triangle(triangle);
            }
            !is_over
        });
        self.search.entered = entered;
    }

    /// Measures the corners of all triangles that are left, at the end of the search.
    pub(crate) fn release_all(&mut self) {
        for triangle in std::mem::take(&mut self.search.entered) {
            self.release_triangle(triangle);
        }
    }

    /// A window that is longer enters a triangle no more. Infinite where a corner was not reached.
    fn last_entry(&self, triangle: u32) -> f64 {
        let distances = self.nodes[triangle as usize].map(|node| self.search.state.distance(node));
        let lengths = self.query.mesh.faces[triangle as usize].lengths;
        let largest = |all: [f64; 3]| all.into_iter().fold(0.0, f64::max);
        (largest(distances) + largest(lengths)) * (1.0 + ROUNDING)
    }

    fn release_triangle(&mut self, triangle: u32) {
        let (mesh, search) = (self.query.mesh, &mut *self.search);
        let vertices = mesh.triangles[triangle as usize];
        for side in 3 * triangle..3 * triangle + 3 {
            search.state.for_each_through(mesh, side, mesh.corners(triangle), |corner, length, index| {
                let distance = &mut search.at_vertices[vertices[corner] as usize];
                *distance = distance.min(length);
                // Those that are still to be propagated are given back then.
                if corner == 0 && search.state.windows[index as usize].exit == NONE {
                    search.free.push_back(index);
                }
            });
        }
        let entered = &mut search.state.triangles[triangle as usize];
        for side in &mut entered.windows {
            (side[LATEST], side[CORNER_NEAREST]) = (NONE, NONE);
        }
        entered.is_released = true;
    }
}
