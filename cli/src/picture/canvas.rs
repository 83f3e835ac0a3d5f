//! Flat drawing: antialiased discs, lines and triangles on an sRGB picture.

use glam::Vec2;

use super::srgb::Picture;

/// An sRGB colour.
pub(super) type Colour = [u8; 3];

/// The colour `0xRRGGBB`.
pub(super) const fn colour(rgb: u32) -> Colour {
    [(rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8]
}

/// The colour at `share` of the way between two colours.
pub(super) fn mix(from: Colour, to: Colour, share: f32) -> Colour {
    let part = |k: usize| {
        let (from, to) = (f32::from(from[k]), f32::from(to[k]));
        (from + (to - from) * share.clamp(0.0, 1.0)).round() as u8
    };
    [part(0), part(1), part(2)]
}

/// A picture to draw on. Positions are in pixels, y down; the first pixel spans 0 to 1.
#[derive(Debug)]
pub(super) struct Canvas {
    picture: Picture,
}

impl Canvas {
    /// A picture of one colour.
    pub(super) fn new(width: usize, height: usize, ground: Colour) -> Self {
        Self { picture: Picture { width, height, rgb: ground.repeat(width * height) } }
    }

    pub(super) fn finish(self) -> Picture {
        self.picture
    }

    /// Fills a rectangle of whole pixels.
    pub(super) fn fill(&mut self, [x, y]: [usize; 2], [width, height]: [usize; 2], colour: Colour) {
        let row_length = self.picture.width;
        for row in y..(y + height).min(self.picture.height) {
            let end = (x + width).min(row_length);
            for pixel in
                self.picture.rgb[(row * row_length + x) * 3..(row * row_length + end) * 3].chunks_exact_mut(3)
            {
                pixel.copy_from_slice(&colour);
            }
        }
    }

    /// Draws a line segment of width 2 `radius` with round ends; equal ends make a disc.
    pub(super) fn stroke(&mut self, from: Vec2, to: Vec2, radius: f32, colour: Colour, opacity: f32) {
        let along = to - from;
        let length = along.length_squared();
        self.blend(from.min(to) - radius, from.max(to) + radius, colour, opacity, |place| {
            let share = if length > 0.0 { ((place - from).dot(along) / length).clamp(0.0, 1.0) } else { 0.0 };
            radius - place.distance(from + along * share)
        });
    }

    /// Draws a triangle whose corners run clockwise in the picture.
    pub(super) fn triangle(&mut self, corners: [Vec2; 3], colour: Colour, opacity: f32) {
        let [a, b, c] = corners;
        let within =
            |place: Vec2, from: Vec2, to: Vec2| (to - from).normalize_or_zero().perp_dot(place - from);
        self.blend(a.min(b).min(c), a.max(b).max(c), colour, opacity, |place| {
            within(place, a, b).min(within(place, b, c)).min(within(place, c, a))
        });
    }

    /// Blends a shape into the pixels of a box. `depth` is the distance from the shape's edge, positive inside.
    fn blend(&mut self, low: Vec2, high: Vec2, colour: Colour, opacity: f32, depth: impl Fn(Vec2) -> f32) {
        let (width, height) = (self.picture.width, self.picture.height);
        let span = |low: f32, high: f32, length: usize| {
            let from = (low - 1.0).floor().max(0.0) as usize;
            from..((high + 1.0).ceil().max(0.0) as usize).min(length)
        };
        for y in span(low.y, high.y, height) {
            for x in span(low.x, high.x, width) {
                let share =
                    (depth(Vec2::new(x as f32 + 0.5, y as f32 + 0.5)) + 0.5).clamp(0.0, 1.0) * opacity;
                if share > 0.0 {
                    let pixel = &mut self.picture.rgb[(y * width + x) * 3..][..3];
                    pixel.copy_from_slice(&mix([pixel[0], pixel[1], pixel[2]], colour, share));
                }
            }
        }
    }
}
