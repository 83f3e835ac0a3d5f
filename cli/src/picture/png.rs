//! PNG out.

use std::path::Path;

use super::srgb::Picture;
use crate::failure::Result;
use crate::output::to_file;

/// Writes the picture as an 8-bit sRGB PNG.
pub(crate) fn write(picture: &Picture, path: &Path) -> Result<()> {
    to_file(path, |writer| {
        let mut encoder = png::Encoder::new(writer, picture.width as u32, picture.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.set_compression(png::Compression::Balanced);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&picture.rgb)?;
        writer.finish()?;
        Ok(())
    })
}
