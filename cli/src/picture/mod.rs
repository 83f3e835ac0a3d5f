//! Pictures of solids in the world, drawn on the CPU: no window, no GPU, the same bytes on every machine of a kind.
//!
//! A z-buffer over tiles, then one shading pass over its samples: a sun with soft shadows from a shadow map, light from
//! the sky and back from the ground, occlusion by what stands near, and haze with distance. All colours are linear until
//! the last step, which maps them to sRGB. Four samples make a pixel.

mod canvas;
mod field;
mod plan;
mod png;
mod raster;
mod shade;
mod surface;

use glam::{Affine3A, Vec3};

pub(crate) use self::field::FieldPicture;
pub(crate) use self::plan::Plan;
pub(crate) use self::png::write as write_png;
pub(crate) use self::surface::SurfacePicture;

/// A convex solid in its own frame.
#[derive(Debug, Clone)]
pub(crate) struct Solid {
    /// Its corners.
    pub(crate) vertices: Vec<Vec3>,
    /// Its faces, counter-clockwise seen from outside.
    pub(crate) faces: Vec<Vec<u32>>,
}

/// A solid placed in the world.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    /// Which solid.
    pub(crate) solid: usize,
    /// From the solid's frame into the world.
    pub(crate) placed: Affine3A,
    /// Linear RGB reflectance.
    pub(crate) colour: Vec3,
}

/// Where the camera stands and where it looks; y is up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    /// Position of the camera.
    pub(crate) eye: Vec3,
    /// The point in the middle of the picture.
    pub(crate) target: Vec3,
    /// Vertical field of view, radians.
    pub(crate) field: f32,
    /// Height of the ground.
    pub(crate) ground: f32,
    /// Radius of the scene around the target: what the shadow map must cover.
    pub(crate) extent: f32,
    /// A length that near things are apart: how far occlusion reaches.
    pub(crate) near_length: f32,
}

/// An sRGB picture, three bytes a pixel, rows from the top.
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

/// Draws the items.
pub(crate) fn draw(solids: &[Solid], items: &[Item], view: &View, width: usize, height: usize) -> Picture {
    let facets = raster::facets(solids, items);
    shade::draw(&facets, &|item| items[item as usize].colour, 0..0, view, width, height)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube of half extent 1.
    pub(super) fn cube() -> Solid {
        let vertices = (0..8)
            .map(|i| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32) * 2.0 - Vec3::ONE)
            .collect();
        let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        Solid { vertices, faces: faces.iter().map(|face| face.to_vec()).collect() }
    }

    #[test]
    fn the_nearer_of_two_cubes_hides_the_other() {
        let item = |z: f32, colour| Item {
            solid: 0,
            placed: Affine3A::from_translation(Vec3::new(0.0, 0.0, z)),
            colour,
        };
        let items = [item(0.0, linear(0xff0000)), item(5.0, linear(0x0000ff))];
        let view = View {
            eye: Vec3::new(0.0, 0.0, 20.0),
            target: Vec3::ZERO,
            field: 0.4,
            ground: -4.0,
            extent: 10.0,
            near_length: 1.0,
        };
        let picture = draw(&[cube()], &items, &view, 80, 50);
        let middle = &picture.rgb[(25 * 80 + 40) * 3..][..3];
        assert!(middle[2] > 2 * middle[0], "{middle:?} is not blue");
        // Nothing is drawn at the upper left: the backdrop is nearly grey.
        let corner = &picture.rgb[..3];
        assert!(corner[0].abs_diff(corner[2]) < 60, "{corner:?}");
    }

    #[test]
    fn colours_become_linear() {
        assert_eq!(linear(0xff00ff), Vec3::new(1.0, 0.0, 1.0));
        assert!((linear(0x808080).x - 0.2158).abs() < 1e-3);
    }
}
