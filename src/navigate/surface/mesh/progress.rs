//! How far a build is, and whether it goes on.

use std::ops::ControlFlow;

use crate::error::{Error, Result};

/// Elements between two looks for a cancel.
pub(crate) const STRIDE: usize = 1 << 15;

/// What a build is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum BuildStage {
    /// Points are placed and checked.
    Points,
    /// Points that are one are joined.
    Weld,
    /// Faces are cut into triangles and checked.
    Triangles,
    /// Triangles are cut until no edge is longer than the interval: counted first (the first half), then made. Left out
    /// where there is none.
    Refine,
    /// Edges are found.
    Edges,
    /// Islands, normals and the tree for places are found.
    Index,
    /// Landmarks are measured, some at a time. Left out where none are wanted.
    Landmarks,
}

/// How far a build has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BuildProgress {
    /// What it is at; stages come in their order.
    pub stage: BuildStage,
    /// Elements of the stage that are done; never less than before within a stage.
    pub done: usize,
    /// Elements of the stage in all.
    pub total: usize,
}

/// Tells the caller how far it is, and asks whether to go on.
pub(crate) struct ProgressReporter<'a> {
    pub(crate) tell: &'a mut dyn FnMut(BuildProgress) -> ControlFlow<()>,
}

impl ProgressReporter<'_> {
    /// Called with each element that is done: speaks every [`STRIDE`] of them and at the ends.
    pub(crate) fn at(&mut self, stage: BuildStage, done: usize, total: usize) -> Result<()> {
        if !done.is_multiple_of(STRIDE) && done != total {
            return Ok(());
        }
        self.tell(stage, done, total)
    }

    /// Speaks at once.
    pub(crate) fn tell(&mut self, stage: BuildStage, done: usize, total: usize) -> Result<()> {
        match (self.tell)(BuildProgress { stage, done, total }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled),
        }
    }
}
