//! sRGB pictures, and sRGB colours as linear light.

use glam::Vec3;

/// An sRGB picture: three bytes per pixel, rows from the top.
#[derive(Debug, Clone)]
pub(crate) struct Picture {
    /// Pixels in a row.
    pub(crate) width: usize,
    /// Rows.
    pub(crate) height: usize,
    /// The bytes.
    pub(crate) rgb: Vec<u8>,
}

/// An sRGB colour `0xRRGGBB` as linear RGB.
pub(crate) fn linear(rgb: u32) -> Vec3 {
    let channel = |shift: u32| {
        let value = ((rgb >> shift) & 255) as f32 / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    Vec3::new(channel(16), channel(8), channel(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_become_linear() {
        assert_eq!(linear(0xff00ff), Vec3::new(1.0, 0.0, 1.0));
        assert!((linear(0x808080).x - 0.2158).abs() < 1e-3);
    }
}
