//! Events of pairs that stay on the device.
//!
//! `shaders/collide/query/device_events.wgsl` has the same structs; a test compares every offset with naga's.

use bytemuck::{Pod, Zeroable};

/// What happened to a pair, as it stays on the device, 12 bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EventRow {
    /// Row of the first body.
    pub a: u32,
    /// Row of the second body.
    pub b: u32,
    /// 0 the pair begins to touch, 1 it stays, 2 it ends.
    pub phase: u32,
}

/// How many events there are on the device, 32 bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EventCounts {
    /// Events, of all phases.
    pub event_count: u32,
    /// Pairs that touch and did not before.
    pub begin_count: u32,
    /// Pairs that touch and did before.
    pub stay_count: u32,
    /// Pairs that touched before and no longer do.
    pub end_count: u32,
    /// Pairs that touch now.
    pub touching_count: u32,
    /// 0 where all fits. 1 where the rows of the query did not fit, 2 where more pairs touch than there is room for, 3 for both: then there are
    /// no events and the memory of touching pairs stays as it was, so the events of the next step that fits count from there.
    pub overflow: u32,
    /// Keeps the size a multiple of 16.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub padding: [u32; 2],
}

const _: () = assert!(size_of::<EventRow>() == 12 && size_of::<EventCounts>() == 32);
