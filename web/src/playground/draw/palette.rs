//! Colours by number.

/// Red, green, blue and alpha, sRGB. Alpha blends in a [`Picture`](super::picture::Picture) only; the other renderers draw opaque.
pub type Color = [u8; 4];

/// The colours of the marks 0 to 7.
pub type Palette = [Color; 8];

/// The colour of a mark. A mark that is too large has the last one.
pub fn color_of(palette: &Palette, mark: u32) -> Color {
    palette[(mark as usize).min(palette.len() - 1)]
}

/// A colour, `0xrrggbb`.
pub const fn rgb(hex: u32) -> Color {
    [(hex >> 16) as u8, (hex >> 8) as u8, hex as u8, 255]
}
