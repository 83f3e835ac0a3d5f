//! Draws a room: walls, cells, the strip of a path, both paths and their ends.

use hullfield::navigate::room::{Path, Room};

use crate::playground::draw::palette::{Color, rgb};
use crate::playground::draw::picture::Picture;
use crate::playground::rooms::layout::{Layout, SIZE};

/// The margin around the room, in pixels of the page.
const MARGIN: f32 = 14.0;
/// How near the room can be seen.
const MOST_ZOOM: f32 = 40.0;
/// Cells whose sides are shorter than this on average are not drawn, in pixels of the page.
const LEAST_CELL: f32 = 24.0;

/// Where the room is on a canvas. The room's y is up, that of pixels down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fit {
    /// Where the room's origin is.
    origin: [f32; 2],
    /// Pixels of a unit.
    pub(super) scale: f32,
}

/// The part of the room that is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Lens {
    /// How much larger the room is than where all of it is seen.
    zoom: f32,
    /// The point in the middle of the canvas.
    middle: [f64; 2],
}

impl Default for Lens {
    fn default() -> Self {
        Self { zoom: 1.0, middle: SIZE.map(|length| length / 2.0) }
    }
}

impl Lens {
    /// Zooms about a place of the canvas, which keeps its point of the room, and then moves that point: `factor` above 1 is nearer.
    pub(super) fn zoom(&mut self, canvas: [f32; 2], at: [f32; 2], moved: [f32; 2], factor: f32) {
        let before = Fit::new(canvas, 1.0, *self).to_room([0, 1].map(|axis| at[axis] - moved[axis]));
        self.zoom = (self.zoom * factor).clamp(1.0, MOST_ZOOM);
        let after = Fit::new(canvas, 1.0, *self).to_room(at);
        for axis in 0..2 {
            // The middle stays in the room, and where all of it is seen it stays in the middle.
            let half = SIZE[axis] / 2.0;
            let reach = half * (1.0 - 1.0 / f64::from(self.zoom));
            let middle = self.middle[axis] + before[axis] - after[axis];
            self.middle[axis] = middle.clamp(half - reach, half + reach);
        }
    }
}

impl Fit {
    /// The room as large as a canvas of this size lets it be, or larger by a lens; `ratio` is how many of its pixels are one of the page.
    pub(super) fn new(size: [f32; 2], ratio: f32, lens: Lens) -> Self {
        let space = size.map(|length| (length - 2.0 * MARGIN * ratio).max(1.0));
        let edges = SIZE.map(|length| length as f32);
        let scale = lens.zoom * (space[0] / edges[0]).min(space[1] / edges[1]);
        let [x, y] = lens.middle.map(|middle| scale * middle as f32);
        Self { origin: [size[0] / 2.0 - x, size[1] / 2.0 + y], scale }
    }

    /// A point of the canvas, in the room's frame.
    pub(super) fn to_room(self, at: [f32; 2]) -> [f64; 2] {
        [at[0] - self.origin[0], self.origin[1] - at[1]].map(|length| f64::from(length / self.scale))
    }

    /// A point of the room, on the canvas.
    pub(super) fn to_pixels(self, at: [f64; 2]) -> [f32; 2] {
        let [x, y] = at.map(|length| length as f32 * self.scale);
        [self.origin[0] + x, self.origin[1] - y]
    }

    fn ring(self, ring: &[[f64; 2]]) -> Vec<[f32; 2]> {
        ring.iter().map(|&point| self.to_pixels(point)).collect()
    }
}

/// What is drawn.
#[derive(Debug)]
pub(super) struct View<'a> {
    pub(super) layout: &'a Layout,
    pub(super) room: &'a Room,
    pub(super) obstacle: &'a [[f64; 2]],
    pub(super) has_cells: bool,
    pub(super) lens: Lens,
    /// The doors, and whether each is open.
    pub(super) doors: &'a [([[f64; 2]; 2], bool)],
    /// The radius of the agent.
    pub(super) radius: f64,
    pub(super) optimal: Option<&'a Path>,
    pub(super) funnel: Option<&'a Path>,
    /// The start, the goal and the middle of the obstacle, as they were dragged.
    pub(super) handles: [[f64; 2]; 3],
    /// The start and the goal in the room.
    pub(super) ends: [[f64; 2]; 2],
    /// Which of the handles is chosen.
    pub(super) chosen: usize,
    pub(super) is_dark: bool,
}

struct Colors {
    back: Color,
    margin: Color,
    floor: Color,
    strip: Color,
    /// Opaque, so that edges close together are no darker.
    edge: Color,
    corner: Color,
    wall: Color,
    obstacle: Color,
    door: Color,
    optimal: Color,
    funnel: Color,
    text: Color,
}

fn colors(is_dark: bool) -> Colors {
    if is_dark {
        Colors {
            back: rgb(0x101418),
            margin: rgb(0x3a2f27),
            floor: rgb(0x26303a),
            strip: [0x57, 0xc4, 0xbb, 46],
            edge: rgb(0x46525e),
            corner: rgb(0x7b8896),
            wall: rgb(0x8e9cab),
            obstacle: rgb(0x7d5ab5),
            door: rgb(0xe4572e),
            optimal: rgb(0x57c4bb),
            funnel: rgb(0xf2b134),
            text: rgb(0xffffff),
        }
    } else {
        Colors {
            back: rgb(0xdfe4e9),
            margin: rgb(0xf3e1cf),
            floor: rgb(0xffffff),
            strip: [0x0b, 0x8e, 0x85, 36],
            edge: rgb(0xcbd3db),
            corner: rgb(0x8a98a6),
            wall: rgb(0x39424d),
            obstacle: rgb(0x9b7bd1),
            door: rgb(0xd13f1b),
            optimal: rgb(0x0b6e69),
            funnel: rgb(0xd9780f),
            text: rgb(0x111418),
        }
    }
}

/// The rings of the room's cells on the canvas.
fn cell_ring(room: &Room, vertices: &[[f32; 2]], cell: u32) -> Vec<[f32; 2]> {
    room.cell(cell).filter_map(|vertex| vertices.get(vertex as usize).copied()).collect()
}

fn vertices(room: &Room, fit: Fit) -> Vec<[f32; 2]> {
    room.vertices().map(|point| fit.to_pixels(point)).collect()
}

/// Whether the cells of a room are large enough to be drawn.
pub(super) fn are_cells_drawn(room: &Room, fit: Fit, ratio: f32) -> bool {
    let side = (room.area() / room.cell_count().max(1) as f64).sqrt() as f32;
    side * fit.scale >= LEAST_CELL * ratio
}

/// Draws what stays while an end is dragged: walls and cells. `ratio` is how many pixels of the picture are one of the page.
pub(super) fn draw_ground(picture: &mut Picture, size: [u32; 2], ratio: f32, view: &View<'_>) {
    let colors = colors(view.is_dark);
    let fit = Fit::new(size.map(|length| length as f32), ratio, view.lens);
    picture.clear(size, colors.back);
    let outer = fit.ring(&view.layout.outer);
    // What is left between this and the cells is nearer to a wall than the agents' radius.
    picture.fill(&[&outer], colors.margin);
    let vertices = vertices(view.room, fit);
    let cells: Vec<Vec<[f32; 2]>> =
        (0..view.room.cell_count() as u32).map(|cell| cell_ring(view.room, &vertices, cell)).collect();
    for ring in &cells {
        picture.fill(&[ring], colors.floor);
    }
    if view.has_cells && are_cells_drawn(view.room, fit, ratio) {
        for (index, ring) in cells.iter().enumerate() {
            for (side, neighbour) in view.room.neighbours(index as u32).enumerate() {
                // Each edge once; walls are drawn below.
                if neighbour.is_some_and(|neighbour| neighbour as usize > index)
                    && let (Some(&from), Some(&to)) =
                        (ring.get(side), ring.get((side + 1) % ring.len().max(1)))
                {
                    picture.line(from, to, ratio, colors.edge);
                }
            }
        }
        for ring in &cells {
            for &at in ring {
                picture.disc(at, 1.4 * ratio, colors.corner);
            }
        }
    }
    let walls = [(view.obstacle, colors.obstacle)].into_iter();
    let holes = view.layout.holes.iter().map(|hole| (hole.as_slice(), colors.wall));
    for (ring, color) in walls.chain(holes) {
        let ring = fit.ring(ring);
        picture.fill(&[&ring], color);
        picture.outline(&ring, 1.5 * ratio, color);
    }
    picture.outline(&outer, 2.5 * ratio, colors.wall);
}

/// Draws the paths and their ends over the ground.
pub(super) fn draw_paths(picture: &mut Picture, ratio: f32, view: &View<'_>) {
    let colors = colors(view.is_dark);
    let fit = Fit::new(picture.size().map(|length| length as f32), ratio, view.lens);
    if view.has_cells
        && let Some(path) = view.optimal.or(view.funnel)
    {
        let vertices = vertices(view.room, fit);
        for &cell in &path.cells {
            picture.fill(&[&cell_ring(view.room, &vertices, cell)], colors.strip);
        }
    }
    for &(ends, is_open) in view.doors {
        let ends = ends.map(|end| fit.to_pixels(end));
        if is_open {
            picture.dashes(&ends, 3.0 * ratio, 2.0 * ratio, colors.door);
        } else {
            picture.chain(&ends, 6.0 * ratio, colors.door);
        }
        for end in ends {
            picture.disc(end, 4.0 * ratio, colors.door);
        }
    }
    if let Some(path) = view.funnel {
        let points = fit.ring(&path.points);
        picture.dashes(&points, 7.0 * ratio, 4.0 * ratio, colors.funnel);
        bends(picture, &points, 4.0 * ratio, colors.funnel);
    }
    if let Some(path) = view.optimal {
        let points = fit.ring(&path.points);
        picture.chain(&points, 2.5 * ratio, colors.optimal);
        bends(picture, &points, 4.0 * ratio, colors.optimal);
    }
    ends(picture, fit, ratio, view, &colors);
}

/// The corners at which a path bends.
fn bends(picture: &mut Picture, points: &[[f32; 2]], radius: f32, color: Color) {
    for &at in points.iter().skip(1).take(points.len().saturating_sub(2)) {
        picture.disc(at, radius, color);
    }
}

/// The start is a disc, the goal a ring with a point.
fn ends(picture: &mut Picture, fit: Fit, ratio: f32, view: &View<'_>, colors: &Colors) {
    let radius = 8.0 * ratio;
    for end in 0..2 {
        let [dragged, used] = [view.handles[end], view.ends[end]].map(|at| fit.to_pixels(at));
        if dragged != used {
            picture.dashes(&[dragged, used], 3.0 * ratio, 1.5 * ratio, colors.text);
            picture.disc(used, 3.0 * ratio, colors.text);
        }
        if view.radius > 0.0 {
            // As large as the agent is.
            picture.circle(used, view.radius as f32 * fit.scale, 1.5 * ratio, colors.optimal);
        }
        picture.disc(dragged, radius + 2.0 * ratio, colors.back);
        if end == 0 {
            picture.disc(dragged, radius, colors.optimal);
        } else {
            picture.circle(dragged, radius - ratio, 2.5 * ratio, colors.optimal);
            picture.disc(dragged, 3.0 * ratio, colors.optimal);
        }
    }
    let at = fit.to_pixels(view.handles[view.chosen]);
    picture.circle(at, radius + 4.0 * ratio, 1.5 * ratio, colors.text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_drawn_where_the_pointer_finds_it_and_the_room_fits() {
        for size in [[900.0, 400.0], [400.0, 800.0]] {
            let fit = Fit::new(size, 1.0, Lens::default());
            let found = fit.to_room(fit.to_pixels([12.5, 60.0]));
            assert!((found[0] - 12.5).abs() < 1e-3 && (found[1] - 60.0).abs() < 1e-3, "{found:?}");
            for corner in [[0.0, 0.0], SIZE] {
                let [x, y] = fit.to_pixels(corner);
                assert!(x >= MARGIN - 0.01 && y >= MARGIN - 0.01 && x <= size[0] && y <= size[1], "{x} {y}");
            }
            assert!(fit.to_pixels([0.0, 10.0])[1] < fit.to_pixels([0.0, 0.0])[1]);
        }
    }

    #[test]
    fn a_zoom_keeps_the_point_under_the_pointer_and_the_room_in_sight() {
        let (canvas, at) = ([900.0, 400.0], [300.0, 150.0]);
        let mut lens = Lens::default();
        let before = Fit::new(canvas, 1.0, lens).to_room(at);
        lens.zoom(canvas, at, [0.0; 2], 4.0);
        let after = Fit::new(canvas, 1.0, lens).to_room(at);
        assert!((before[0] - after[0]).abs() < 1e-3 && (before[1] - after[1]).abs() < 1e-3);
        // Two fingers that move keep the point that is under them.
        lens.zoom(canvas, [320.0, 160.0], [20.0, 10.0], 1.1);
        let moved = Fit::new(canvas, 1.0, lens).to_room([320.0, 160.0]);
        assert!((before[0] - moved[0]).abs() < 1e-3 && (before[1] - moved[1]).abs() < 1e-3);
        lens.zoom(canvas, [0.0; 2], [1e6; 2], 1.0);
        assert!(lens.middle.iter().zip(SIZE).all(|(middle, length)| (0.0..=length).contains(middle)));
        lens.zoom(canvas, at, [0.0; 2], 1e-9);
        assert_eq!(lens, Lens::default());
    }
}
