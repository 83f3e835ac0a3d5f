//! The picture of a field: distances as colours, arrows, goals, obstacles and traces.

use glam::Vec2;
use hullfield::flow::{Cell, Connectivity, Grid, UNREACHABLE};

use super::canvas::{Canvas, Colour, colour, mix};
use super::srgb::Picture;

/// What a cell of the picture shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum CellState {
    Obstacle,
    Unreached,
    /// The distance, as a share of the largest one.
    Reached(f32),
}

/// A field and what is drawn over it.
#[derive(Debug)]
pub(crate) struct FieldPicture<'a> {
    pub(crate) size: [u32; 3],
    pub(crate) connectivity: Connectivity,
    /// One for each cell.
    pub(crate) states: Vec<CellState>,
    pub(crate) next: &'a [u8],
    pub(crate) goals: &'a [Cell],
    /// The cells of each trace, as indices.
    pub(crate) traces: Vec<&'a [u32]>,
}

/// The longer side to which small maps are enlarged, in pixels.
const ENLARGED_SIDE: usize = 1280;
/// The longer side to which large maps are reduced, in pixels.
const MAX_SIDE: usize = 4096;
/// The largest side of a cell, in pixels.
const MAX_CELL: usize = 48;
/// The smallest cell with an arrow, in pixels.
const ARROW_CELL: usize = 12;
/// The smallest cell with an outline, in pixels.
const LINED_CELL: usize = 8;
/// Pixels between the layers of a volume.
const GAP: usize = 12;

const GROUND: Colour = colour(0x0f1722);
const OBSTACLE: Colour = colour(0x26313f);
const UNREACHED: Colour = colour(0xb9c0c9);
const GOAL: Colour = colour(0x12b76a);
const TRACE: Colour = colour(0xffffff);
const TRACE_EDGE: Colour = colour(0x101828);
const ARROW: Colour = colour(0x101828);
const EXIT_ARROW: Colour = colour(0x7c8ba1);
const LIGHT: Colour = colour(0xffffff);

/// The colours of distances, from the goal to the farthest cell.
const RAMP: [Colour; 6] = [
    colour(0xfff3b8),
    colour(0xffc05f),
    colour(0xf3776b),
    colour(0xc0508f),
    colour(0x7a52a8),
    colour(0x3f6bb4),
];

/// The positions of the cells in the picture.
#[derive(Debug)]
struct Layout {
    size: [usize; 3],
    /// Pixels along a cell.
    scale: usize,
    /// Cells along a pixel, if they are smaller than one.
    step: usize,
    /// Layers in a row of the picture.
    across: usize,
}

impl Layout {
    fn new(size: [u32; 3]) -> Self {
        let size = size.map(|length| length as usize);
        let [width, height, depth] = size;
        // As square as possible.
        let across =
            ((depth * height) as f64 / width as f64).sqrt().round().clamp(1.0, depth as f64) as usize;
        let side = (across * width).max(depth.div_ceil(across) * height);
        Self { size, scale: (ENLARGED_SIDE / side).clamp(1, MAX_CELL), step: side.div_ceil(MAX_SIDE), across }
    }

    /// Pixels along a layer.
    fn layer(&self) -> [usize; 2] {
        [self.size[0], self.size[1]].map(|length| length.div_ceil(self.step) * self.scale)
    }

    /// Pixels along the picture.
    fn picture(&self) -> [usize; 2] {
        let [width, height] = self.layer();
        let down = self.size[2].div_ceil(self.across);
        [self.across * (width + GAP) - GAP, down * (height + GAP) - GAP]
    }

    /// The upper left pixel of a layer.
    fn corner(&self, z: usize) -> [usize; 2] {
        let [width, height] = self.layer();
        [z % self.across * (width + GAP), z / self.across * (height + GAP)]
    }

    /// The centre of a cell, and its layer.
    fn centre(&self, index: usize) -> (Vec2, usize) {
        let [width, height, _] = self.size;
        let (x, y, z) = (index % width, index / width % height, index / width / height);
        let corner = self.corner(z);
        let at = |cell: usize, corner: usize| corner as f32 + (cell as f32 + 0.5) * self.pixels();
        (Vec2::new(at(x, corner[0]), at(y, corner[1])), z)
    }

    /// Pixels along a cell.
    fn pixels(&self) -> f32 {
        self.scale as f32 / self.step as f32
    }
}

/// The states of the cells of a grid.
pub(crate) fn grid_states(grid: &Grid, distances: &[u32]) -> Vec<CellState> {
    let reached = distances.iter().filter(|&&distance| distance != UNREACHABLE);
    let farthest = reached.max().copied().unwrap_or(0).max(1);
    let state = |(index, &distance)| match distance {
        UNREACHABLE if grid.is_obstacle(grid.cell(index)) => CellState::Obstacle,
        UNREACHABLE => CellState::Unreached,
        distance => CellState::Reached(distance as f32 / farthest as f32),
    };
    distances.iter().enumerate().map(state).collect()
}

impl FieldPicture<'_> {
    /// Draws it.
    pub(crate) fn draw(&self) -> Picture {
        let layout = Layout::new(self.size);
        let [width, height] = layout.picture();
        let mut canvas = Canvas::new(width, height, GROUND);
        self.cells(&mut canvas, &layout);
        if layout.scale >= ARROW_CELL {
            self.arrows(&mut canvas, &layout);
        }
        self.traces(&mut canvas, &layout);
        self.goals(&mut canvas, &layout);
        canvas.finish()
    }

    fn cells(&self, canvas: &mut Canvas, layout: &Layout) {
        let [width, height, depth] = layout.size;
        let colour_of = |index: usize| match self.states[index] {
            CellState::Obstacle => OBSTACLE,
            CellState::Unreached => UNREACHED,
            CellState::Reached(share) => ramp(share),
        };
        for z in 0..depth {
            let [left, top] = layout.corner(z);
            for (row, y) in (0..height).step_by(layout.step).enumerate() {
                for (column, x) in (0..width).step_by(layout.step).enumerate() {
                    // The mean of the cells in the pixel.
                    let (mut sum, mut count) = ([0_u32; 3], 0);
                    for y in y..(y + layout.step).min(height) {
                        for x in x..(x + layout.step).min(width) {
                            let colour = colour_of((z * height + y) * width + x);
                            (0..3).for_each(|k| sum[k] += u32::from(colour[k]));
                            count += 1;
                        }
                    }
                    let colour = sum.map(|part| (part / count) as u8);
                    let place = [left + column * layout.scale, top + row * layout.scale];
                    canvas.fill(place, [layout.scale; 2], colour);
                    if layout.scale >= LINED_CELL {
                        let line = mix(colour, GROUND, 0.14);
                        canvas.fill(place, [layout.scale, 1], line);
                        canvas.fill(place, [1, layout.scale], line);
                    }
                }
            }
        }
    }

    fn arrows(&self, canvas: &mut Canvas, layout: &Layout) {
        let offsets = self.connectivity.offsets();
        let cell = layout.pixels();
        for (index, &code) in self.next.iter().enumerate() {
            let Some(&[x, y, z]) = offsets.get(usize::from(code)) else { continue };
            let (centre, _) = layout.centre(index);
            let is_reached = matches!(self.states[index], CellState::Reached(_));
            let (colour, opacity) = if is_reached { (ARROW, 0.62) } else { (EXIT_ARROW, 0.7) };
            let along = Vec2::new(x as f32, y as f32).normalize_or_zero();
            let weight = (cell * 0.045).max(0.7);
            if along == Vec2::ZERO {
                // To another layer: a dot, with a light centre if it is the next one up.
                canvas.stroke(centre, centre, cell * 0.2, colour, opacity);
                if z > 0 {
                    canvas.stroke(centre, centre, cell * 0.1, LIGHT, opacity);
                }
                continue;
            }
            let (tail, neck) = (centre - along * cell * 0.3, centre + along * cell * 0.06);
            canvas.stroke(tail, neck, weight, colour, opacity);
            let beside = along.perp() * cell * 0.16;
            canvas.triangle([centre + along * cell * 0.34, neck + beside, neck - beside], colour, opacity);
        }
    }

    fn traces(&self, canvas: &mut Canvas, layout: &Layout) {
        let radius = (layout.pixels() * 0.16).clamp(1.0, 4.0);
        for (radius, colour) in [(radius + 1.2, TRACE_EDGE), (radius, TRACE)] {
            for trace in &self.traces {
                for pair in trace.windows(2) {
                    let [(from, layer), (to, other)] =
                        [pair[0], pair[1]].map(|cell| layout.centre(cell as usize));
                    if layer == other {
                        canvas.stroke(from, to, radius, colour, 1.0);
                    }
                }
            }
        }
        for trace in &self.traces {
            if let Some(&start) = trace.first() {
                self.dot(canvas, layout, start as usize, TRACE);
            }
        }
    }

    fn goals(&self, canvas: &mut Canvas, layout: &Layout) {
        let [width, height, depth] = layout.size;
        for &Cell { x, y, z } in self.goals {
            let inside = |at: i32, length: usize| usize::try_from(at).ok().filter(|&at| at < length);
            if let (Some(x), Some(y), Some(z)) = (inside(x, width), inside(y, height), inside(z, depth)) {
                let index = (z * height + y) * width + x;
                // A goal on an obstacle is none.
                if matches!(self.states[index], CellState::Reached(_)) {
                    self.dot(canvas, layout, index, GOAL);
                }
            }
        }
    }

    /// Draws a dot with a contrasting rim.
    fn dot(&self, canvas: &mut Canvas, layout: &Layout, index: usize, colour: Colour) {
        let (centre, _) = layout.centre(index);
        let radius = (layout.pixels() * 0.3).clamp(4.5, 11.0);
        canvas.stroke(centre, centre, radius + 2.2, if colour == LIGHT { TRACE_EDGE } else { LIGHT }, 1.0);
        canvas.stroke(centre, centre, radius, colour, 1.0);
    }
}

/// The colour of a distance, as a share of the largest one.
pub(super) fn ramp(share: f32) -> Colour {
    let place = share.clamp(0.0, 1.0) * (RAMP.len() - 1) as f32;
    let low = (place as usize).min(RAMP.len() - 2);
    mix(RAMP[low], RAMP[low + 1], place - low as f32)
}

#[cfg(test)]
mod tests {
    use hullfield::flow::Connectivity;

    use super::*;

    #[test]
    fn goals_obstacles_and_distances_have_their_colours() {
        // A goal, a reached cell, an obstacle and an unreached cell in a row.
        let grid = Grid::new([4, 1, 1], &[false, false, true, false], Connectivity::Four.into()).unwrap();
        let picture = FieldPicture {
            size: grid.size(),
            connectivity: grid.connectivity(),
            states: grid_states(&grid, &[0, 1, UNREACHABLE, UNREACHABLE]),
            next: &[255, 3, 3, 255],
            goals: &[Cell::from([0, 0])],
            traces: Vec::new(),
        };
        let drawn = picture.draw();
        assert_eq!((drawn.width, drawn.height), (4 * MAX_CELL, MAX_CELL));
        let at = |x: usize, y: usize| &drawn.rgb[(y * drawn.width + x) * 3..][..3];
        let half = MAX_CELL / 2;
        assert_eq!(at(half, half), GOAL);
        assert_eq!(at(3, 3), RAMP[0]);
        assert_eq!(at(MAX_CELL + 3, 3), RAMP[RAMP.len() - 1]);
        assert_eq!(at(2 * MAX_CELL + 3, 3), OBSTACLE);
        assert_eq!(at(3 * MAX_CELL + 3, 3), UNREACHED);
        // The arrow of the second cell points to the left.
        assert_ne!(at(MAX_CELL + half - 6, half), at(MAX_CELL + 3, 3));
    }

    /// Layers are drawn side by side, and large maps are reduced.
    #[test]
    fn pictures_have_bounds() {
        for size in [[1, 1, 1], [1, 300, 1], [20, 10, 30], [9000, 3, 1], [5, 5, 2000]] {
            let [width, height] = Layout::new(size).picture();
            let bounds = 1..=MAX_SIDE + GAP * 200;
            let is_within = bounds.contains(&width) && bounds.contains(&height);
            assert!(is_within, "{size:?}: {width} x {height}");
        }
    }
}
