//! Rasterizes triangles into a tiled depth buffer.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// Samples along one side of a tile.
const TILE_SIDE: usize = 64;

/// The facet of an empty sample.
pub(super) const NO_FACET: u32 = u32::MAX;

/// A triangle in the world.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facet {
    pub(super) corners: [Vec3; 3],
    /// Outward unit normal.
    pub(super) normal: Vec3,
    pub(super) item: u32,
}

/// A triangle on the sample grid: positions in samples, and at each corner a value that is linear on the grid and larger when nearer.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScreenTriangle {
    pub(super) corners: [Vec2; 3],
    pub(super) nearness: [f32; 3],
    pub(super) facet: u32,
}

/// The nearest facet at each sample.
#[derive(Debug)]
pub(super) struct Buffer {
    pub(super) width: usize,
    pub(super) height: usize,
    tiles_across: usize,
    tiles: Vec<Tile>,
}

#[derive(Debug)]
struct Tile {
    nearness: Vec<f32>,
    facet: Vec<u32>,
}

impl Buffer {
    /// Draws triangles on a grid of `width` times `height` samples. An empty sample has nearness 0.
    pub(super) fn draw(width: usize, height: usize, triangles: &[ScreenTriangle]) -> Self {
        let (tiles_across, tiles_down) = (width.div_ceil(TILE_SIDE), height.div_ceil(TILE_SIDE));
        let mut bins: Vec<Vec<u32>> = vec![Vec::new(); tiles_across * tiles_down];
        for (index, triangle) in triangles.iter().enumerate() {
            let low = triangle.corners[0].min(triangle.corners[1]).min(triangle.corners[2]);
            let high = triangle.corners[0].max(triangle.corners[1]).max(triangle.corners[2]);
            if !(high.x >= 0.0 && high.y >= 0.0 && low.x < width as f32 && low.y < height as f32) {
                continue;
            }
            let tile = |value: f32, count: usize| (value.max(0.0) as usize / TILE_SIDE).min(count - 1);
            for y in tile(low.y, tiles_down)..=tile(high.y, tiles_down) {
                for x in tile(low.x, tiles_across)..=tile(high.x, tiles_across) {
                    bins[y * tiles_across + x].push(index as u32);
                }
            }
        }
        let tiles = bins
            .par_iter()
            .enumerate()
            .map(|(index, bin)| {
                let origin = [(index % tiles_across) * TILE_SIDE, (index / tiles_across) * TILE_SIDE];
                let mut tile = Tile {
                    nearness: vec![0.0; TILE_SIDE * TILE_SIDE],
                    facet: vec![NO_FACET; TILE_SIDE * TILE_SIDE],
                };
                for &triangle in bin {
                    tile.fill(origin, &triangles[triangle as usize]);
                }
                tile
            })
            .collect();
        Self { width, height, tiles_across, tiles }
    }

    /// The nearness and the facet at a sample of the grid.
    pub(super) fn at(&self, x: usize, y: usize) -> (f32, u32) {
        let tile = &self.tiles[(y / TILE_SIDE) * self.tiles_across + x / TILE_SIDE];
        let index = (y % TILE_SIDE) * TILE_SIDE + x % TILE_SIDE;
        (tile.nearness[index], tile.facet[index])
    }
}

impl Tile {
    fn fill(&mut self, origin: [usize; 2], triangle: &ScreenTriangle) {
        let base = Vec2::new(origin[0] as f32, origin[1] as f32);
        let [a, b, c] = triangle.corners.map(|corner| corner - base);
        let area = (b - a).perp_dot(c - a);
        if area == 0.0 {
            return;
        }
        let low = a.min(b).min(c);
        let high = a.max(b).max(c);
        // A sample is at the centre of its cell.
        let first = |value: f32| (value - 0.5).ceil().max(0.0) as usize;
        let last = |value: f32| ((value + 0.5).floor().max(0.0) as usize).min(TILE_SIDE);
        let per_area = 1.0 / area;
        let step = Vec3::new(b.y - c.y, c.y - a.y, a.y - b.y) * per_area;
        let nearness = Vec3::from_array(triangle.nearness);
        for y in first(low.y)..last(high.y) {
            let sample = Vec2::new(first(low.x) as f32 + 0.5, y as f32 + 0.5);
            let mut weights = Vec3::new(
                (c - b).perp_dot(sample - b),
                (a - c).perp_dot(sample - c),
                (b - a).perp_dot(sample - a),
            ) * per_area;
            for x in first(low.x)..last(high.x) {
                if weights.min_element() >= 0.0 {
                    let value = weights.dot(nearness);
                    let index = y * TILE_SIDE + x;
                    if value > self.nearness[index] {
                        self.nearness[index] = value;
                        self.facet[index] = triangle.facet;
                    }
                }
                weights += step;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_of_two_triangles_has_no_gap() {
        let square =
            [Vec2::new(10.0, 10.0), Vec2::new(90.0, 14.0), Vec2::new(86.0, 90.0), Vec2::new(6.0, 86.0)];
        let triangle = |corners: [usize; 3], facet| ScreenTriangle {
            corners: corners.map(|i| square[i]),
            nearness: [1.0; 3],
            facet,
        };
        let buffer = Buffer::draw(100, 100, &[triangle([0, 1, 2], 0), triangle([0, 2, 3], 1)]);
        let mut covered_count = 0;
        for y in 0..100 {
            for x in 0..100 {
                let inside = (0..4).all(|i| {
                    let (from, to) = (square[i], square[(i + 1) % 4]);
                    (to - from).perp_dot(Vec2::new(x as f32 + 0.5, y as f32 + 0.5) - from) > 0.5
                });
                if inside {
                    covered_count += 1;
                    assert_ne!(buffer.at(x, y).1, NO_FACET, "hole at {x}, {y}");
                }
            }
        }
        assert!(covered_count > 5000);
    }
}
