//! A flat picture: fills, lines and discs in two dimensions, with smooth edges. Alpha blends, unlike in the other renderers.

use crate::playground::draw::palette::Color;

/// A picture in memory. Places are in its pixels, from the left upper corner; a pixel's centre is at a half.
#[derive(Debug, Clone, Default)]
pub struct Picture {
    size: [u32; 2],
    pixels: Vec<u8>,
    /// Where a row crosses the rings of the polygon that is filled.
    crossings: Vec<f32>,
}

impl Picture {
    /// Begins a picture of this size, all in one colour.
    pub fn clear(&mut self, size: [u32; 2], color: Color) {
        let count = size[0] as usize * size[1] as usize;
        self.size = size;
        self.pixels.clear();
        self.pixels.reserve(4 * count);
        for _ in 0..count {
            self.pixels.extend(color);
        }
    }

    /// Becomes a copy of another one.
    pub fn copy(&mut self, from: &Self) {
        self.size = from.size;
        self.pixels.clone_from(&from.pixels);
    }

    /// Width and height in pixels.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Four bytes a pixel, rows from the top.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// The colour of a pixel of the picture; none outside.
    pub fn pixel(&self, x: i32, y: i32) -> Option<Color> {
        let index = self.index(x, y)?;
        self.pixels.get(index..index + 4)?.try_into().ok()
    }

    fn index(&self, x: i32, y: i32) -> Option<usize> {
        let [width, height] = self.size;
        let is_in = x >= 0 && y >= 0 && (x as u32) < width && (y as u32) < height;
        is_in.then(|| 4 * (y as usize * width as usize + x as usize))
    }

    /// Sets a pixel, opaque.
    pub fn put(&mut self, x: i32, y: i32, color: Color) {
        if let Some(index) = self.index(x, y) {
            self.pixels[index..index + 4].copy_from_slice(&color);
        }
    }

    /// Blends a colour over a pixel; `cover` is the share of the pixel that is covered.
    fn blend(&mut self, x: i32, y: i32, color: Color, cover: f32) {
        let Some(index) = self.index(x, y) else { return };
        let share = cover.clamp(0.0, 1.0) * f32::from(color[3]) / 255.0;
        for (below, &channel) in self.pixels[index..index + 3].iter_mut().zip(&color) {
            let from = f32::from(*below);
            *below = (from + share * (f32::from(channel) - from) + 0.5) as u8;
        }
    }

    /// Fills a square of whole pixels about a point, opaque.
    pub fn square(&mut self, [x, y]: [f32; 2], side: i32, color: Color) {
        let first = [x, y].map(|at| (at - side as f32 / 2.0).round() as i32);
        for y in first[1]..first[1].saturating_add(side) {
            for x in first[0]..first[0].saturating_add(side) {
                self.put(x, y, color);
            }
        }
    }

    /// Fills the pixels about a point by how much of them is covered: `cover` takes the distance from the point.
    fn round(&mut self, [x, y]: [f32; 2], reach: f32, color: Color, cover: impl Fn(f32) -> f32) {
        let [columns, rows] = [self.span(x, reach, 0), self.span(y, reach, 1)];
        for row in rows {
            for column in columns.clone() {
                let far = (column as f32 + 0.5 - x).hypot(row as f32 + 0.5 - y);
                self.blend(column, row, color, cover(far));
            }
        }
    }

    /// The pixels along an axis that are within reach and in the picture.
    fn span(&self, at: f32, reach: f32, axis: usize) -> std::ops::Range<i32> {
        // `as` saturates, so that nothing far off the picture overflows.
        let from = ((at - reach).floor() as i32).max(0);
        from..((at + reach).ceil() as i32).min(self.size[axis] as i32)
    }

    /// Fills a disc.
    pub fn disc(&mut self, at: [f32; 2], radius: f32, color: Color) {
        self.round(at, radius + 1.0, color, |far| radius + 0.5 - far);
    }

    /// Draws a circle.
    pub fn circle(&mut self, at: [f32; 2], radius: f32, width: f32, color: Color) {
        let half = width / 2.0;
        self.round(at, radius + half + 1.0, color, |far| half + 0.5 - (far - radius).abs());
    }

    /// Draws a line with round ends.
    pub fn line(&mut self, from: [f32; 2], to: [f32; 2], width: f32, color: Color) {
        if ![from, to].iter().flatten().all(|at| at.abs() < 1e6) {
            return;
        }
        let along = [to[0] - from[0], to[1] - from[1]];
        let square = along[0] * along[0] + along[1] * along[1];
        let reach = width / 2.0 + 1.0;
        let cover = |x: f32, y: f32| {
            let [dx, dy] = [x - from[0], y - from[1]];
            let share =
                if square > 0.0 { ((dx * along[0] + dy * along[1]) / square).clamp(0.0, 1.0) } else { 0.0 };
            width / 2.0 + 0.5 - (dx - share * along[0]).hypot(dy - share * along[1])
        };
        // Along the longer axis, only the pixels beside the line.
        let long = usize::from(along[1].abs() > along[0].abs());
        let short = 1 - long;
        let (low, high) = (from[long].min(to[long]), from[long].max(to[long]));
        let slope = if along[long] == 0.0 { 0.0 } else { along[short] / along[long] };
        for i in self.span((low + high) / 2.0, (high - low) / 2.0 + reach, long) {
            let at = (i as f32 + 0.5).clamp(low, high);
            let middle = from[short] + slope * (at - from[long]);
            for j in self.span(middle, 1.5 * reach + 0.5, short) {
                let [x, y] = if long == 0 { [i, j] } else { [j, i] };
                let covered = cover(x as f32 + 0.5, y as f32 + 0.5);
                if covered > 0.0 {
                    self.blend(x, y, color, covered);
                }
            }
        }
    }

    /// Draws a chain of lines.
    pub fn chain(&mut self, points: &[[f32; 2]], width: f32, color: Color) {
        for pair in points.windows(2) {
            self.line(pair[0], pair[1], width, color);
        }
    }

    /// Draws a chain in dashes of this length, with gaps as long.
    pub fn dashes(&mut self, points: &[[f32; 2]], dash: f32, width: f32, color: Color) {
        // The length since the chain's start.
        let mut done = 0.0_f32;
        for pair in points.windows(2) {
            let [from, to] = [pair[0], pair[1]];
            let length = (to[0] - from[0]).hypot(to[1] - from[1]);
            let at = |far: f32| [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * (far / length));
            if !(length > 0.0 && length < 1e5) {
                continue;
            }
            let mut number = (done / (2.0 * dash)).floor();
            while 2.0 * dash * number < done + length {
                let begin = (2.0 * dash * number - done).max(0.0);
                let end = (2.0 * dash * number + dash - done).min(length);
                if begin < end {
                    self.line(at(begin), at(end), width, color);
                }
                number += 1.0;
            }
            done += length;
        }
    }

    /// Draws the outline of a ring.
    pub fn outline(&mut self, ring: &[[f32; 2]], width: f32, color: Color) {
        self.chain(ring, width, color);
        if let (Some(&first), Some(&last)) = (ring.first(), ring.last()) {
            self.line(last, first, width, color);
        }
    }

    /// Fills a polygon: the pixels whose centre is within an odd number of its rings.
    pub fn fill(&mut self, rings: &[&[[f32; 2]]], color: Color) {
        let ys = || rings.iter().flat_map(|ring| ring.iter().map(|point| point[1]));
        let (low, high) = (ys().fold(f32::INFINITY, f32::min), ys().fold(f32::NEG_INFINITY, f32::max));
        if !(low <= high && low > -1e6 && high < 1e6) {
            return;
        }
        let mut crossings = std::mem::take(&mut self.crossings);
        for row in self.span((low + high) / 2.0, (high - low) / 2.0, 1) {
            let y = row as f32 + 0.5;
            crossings.clear();
            for ring in rings {
                for (index, b) in ring.iter().enumerate() {
                    let a = ring[if index == 0 { ring.len() - 1 } else { index - 1 }];
                    if (a[1] <= y) != (b[1] <= y) {
                        crossings.push(a[0] + (b[0] - a[0]) * ((y - a[1]) / (b[1] - a[1])));
                    }
                }
            }
            crossings.sort_unstable_by(f32::total_cmp);
            for pair in crossings.chunks_exact(2) {
                let first = ((pair[0] - 0.5).ceil() as i32).max(0);
                let end = ((pair[1] - 0.5).ceil() as i32).min(self.size[0] as i32);
                if color[3] < 255 {
                    for column in first..end {
                        self.blend(column, row, color, 1.0);
                    }
                } else if let (true, Some(begin)) = (first < end, self.index(first, row)) {
                    for pixel in self.pixels[begin..begin + 4 * (end - first) as usize].chunks_exact_mut(4) {
                        pixel.copy_from_slice(&color);
                    }
                }
            }
        }
        self.crossings = crossings;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACK: Color = [0, 0, 0, 255];
    const WHITE: Color = [255; 4];

    fn blank(size: [u32; 2]) -> Picture {
        let mut picture = Picture::default();
        picture.clear(size, BACK);
        picture
    }

    /// The sum of what is covered, in pixels.
    fn covered(picture: &Picture) -> f32 {
        picture.pixels().chunks_exact(4).map(|pixel| f32::from(pixel[0]) / 255.0).sum()
    }

    #[test]
    fn what_is_drawn_covers_its_area() {
        let near = |picture: &Picture, area: f32| {
            let sum = covered(picture);
            assert!((sum - area).abs() < 0.03 * area + 1.0, "{sum} for {area}");
        };
        let mut picture = blank([100, 100]);
        picture.disc([50.3, 49.8], 20.0, WHITE);
        near(&picture, std::f32::consts::PI * 400.0);
        let mut picture = blank([100, 100]);
        picture.circle([50.0, 50.0], 30.0, 4.0, WHITE);
        near(&picture, std::f32::consts::TAU * 30.0 * 4.0);
        for to in [[90.0, 10.0], [10.0, 90.0], [90.0, 60.0], [33.0, 90.0]] {
            let mut picture = blank([100, 100]);
            picture.line([10.0, 10.0], to, 3.0, WHITE);
            let length = (to[0] - 10.0_f32).hypot(to[1] - 10.0);
            near(&picture, 3.0 * length + std::f32::consts::PI * 2.25);
        }
        let (outer, hole) = (
            [[10.0, 10.0], [90.0, 10.0], [90.0, 90.0], [10.0, 90.0]],
            [[30.0, 30.0], [30.0, 50.0], [50.0, 50.0], [50.0, 30.0]],
        );
        let mut picture = blank([100, 100]);
        picture.fill(&[&outer, &hole], WHITE);
        assert_eq!(covered(&picture), 6000.0);
    }

    #[test]
    fn dashes_cover_half_of_a_chain() {
        let mut picture = blank([240, 40]);
        picture.dashes(&[[20.0, 20.0], [90.0, 20.0], [220.0, 20.0]], 10.0, 1.0, WHITE);
        // Eleven dashes, each with half a disc at either end.
        let area = 100.0 + 11.0 * std::f32::consts::PI / 4.0;
        let sum = covered(&picture);
        assert!((sum - area).abs() < 6.0, "{sum} for {area}");
    }

    #[test]
    fn alpha_blends_and_what_is_outside_is_left_out() {
        let mut picture = blank([10, 10]);
        picture.fill(&[&[[-50.0, -50.0], [50.0, -50.0], [50.0, 50.0], [-50.0, 50.0]]], [200, 100, 0, 128]);
        let [red, green, blue, alpha] = picture.pixel(4, 4).unwrap();
        assert!((100..=101).contains(&red) && (50..=51).contains(&green) && blue == 0 && alpha == 255);
        let mut outside = blank([10, 10]);
        outside.disc([-40.0, 5.0], 10.0, WHITE);
        outside.line([-9.0, -9.0], [-2.0, -3.0], 1.0, WHITE);
        outside.line([f32::NAN, 0.0], [5.0, 5.0], 1.0, WHITE);
        outside.square([1e9, -1e9], 3, WHITE);
        outside.fill(&[&[[f32::NAN, 0.0], [5.0, 5.0], [5.0, 0.0]]], WHITE);
        assert!(covered(&outside) < 30.0, "{}", covered(&outside));
        assert_eq!(outside.pixel(10, 0), None);
    }
}
