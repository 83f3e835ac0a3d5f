//! Joint paths: whether a robot that moves along sampled poses of its links meets anything, and postures, its poses at single times.
//!
//! A stage without a shader: every engine runs it on the host.

pub(crate) mod chain;
pub(crate) mod deviation;
pub(crate) mod motion;
pub(crate) mod posture;
pub(crate) mod query;
pub(crate) mod rows;
pub(crate) mod walk;
