//! Lines.

use bytemuck::{Pod, Zeroable};

use crate::playground::draw::palette::Color;

/// A line between two points of the world. Where both are the same it is a square.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct Line {
    /// One end.
    pub from: [f32; 3],
    /// Its width, in pixels of the page.
    pub width: f32,
    /// The other end.
    pub to: [f32; 3],
    /// Its colour.
    pub color: Color,
}
