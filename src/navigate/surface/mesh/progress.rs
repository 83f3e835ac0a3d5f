//! The progress of a build, and its cancellation.

use std::ops::ControlFlow;

use crate::error::{Error, Result};

/// How many elements are built between two reports.
pub(crate) const REPORT_STRIDE: usize = 1 << 15;

/// A stage of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum BuildStage {
    /// Points are placed and checked.
    Points,
    /// Near or equal points are joined.
    Weld,
    /// Faces are cut into triangles and checked.
    Triangles,
    /// Triangles are cut until no edge is longer than the interval. The first half of the elements are triangles that are counted, the second
    /// half triangles that are cut. Skipped without an interval.
    Refine,
    /// Edges are found.
    Edges,
    /// Islands and the tree of boxes are built.
    Index,
    /// Landmarks are measured, four at a time. Skipped without landmarks.
    Landmarks,
}

/// The progress of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BuildProgress {
    /// The current stage. Stages come in the order of their declaration.
    pub stage: BuildStage,
    /// How many elements of the stage are done. It never decreases within a stage.
    pub done: usize,
    /// How many elements the stage has.
    pub total: usize,
}

/// Reports progress to the caller, who may cancel.
pub(crate) struct ProgressReporter<'a> {
    pub(crate) on_progress: &'a mut dyn FnMut(BuildProgress) -> ControlFlow<()>,
}

impl ProgressReporter<'_> {
    /// Called after each element: reports every [`REPORT_STRIDE`] elements, at 0 and at the end.
    pub(crate) fn report(&mut self, stage: BuildStage, done: usize, total: usize) -> Result<()> {
        if !done.is_multiple_of(REPORT_STRIDE) && done != total {
            return Ok(());
        }
        self.report_now(stage, done, total)
    }

    /// Reports at once.
    pub(crate) fn report_now(&mut self, stage: BuildStage, done: usize, total: usize) -> Result<()> {
        match (self.on_progress)(BuildProgress { stage, done, total }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled),
        }
    }
}
