//! Writes PNG files.

use std::path::Path;

use super::srgb::Picture;
use crate::failure::Result;
use crate::output::to_file;

/// Writes the picture as an 8-bit sRGB PNG.
pub(crate) fn write(picture: &Picture, path: &Path) -> Result<()> {
    to_file(path, |writer| {
        // Encoded in memory, because the crate's errors hide the kind of a write error, such as a closed pipe.
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, picture.width as u32, picture.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.set_compression(png::Compression::Balanced);
        let mut image = encoder.write_header()?;
        image.write_image_data(&picture.rgb)?;
        image.finish()?;
        writer.write_all(&bytes)
    })
}
