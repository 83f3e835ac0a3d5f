//! Draws the grid: distances in bands, walls, costs, goals, arrows and agents.

use hullfield::flow::{Connectivity, NEXT_NONE, UNREACHABLE};

use crate::playground::draw::palette::{Color, rgb};
use crate::playground::draw::picture::Picture;
use crate::playground::draw::scale::Scale;
use crate::playground::flow::crowd::{Answer, Crowd};
use crate::playground::flow::map::{MOST_COST, Map};

/// The margin around the grid, in pixels of the page.
const MARGIN: f32 = 8.0;
/// The spacing of arrows, at least, in pixels of the page.
const SPACING: f32 = 22.0;
/// How many bands the largest distance has.
const BANDS: f32 = 24.0;
/// Colours that distances are drawn in.
const SHADES: usize = 2048;
/// The most goals that are drawn as discs; more are drawn as cells only.
const MOST_DISCS: usize = 64;

/// Where a square grid is on a canvas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fit {
    /// The left upper corner.
    origin: [f32; 2],
    /// Pixels a cell.
    pub(super) scale: f32,
}

impl Fit {
    /// The largest square within a canvas of this size.
    pub(super) fn new(size: [f32; 2], side: u32, margin: f32) -> Self {
        let edge = (size[0].min(size[1]) - 2.0 * margin).max(1.0);
        Self { origin: size.map(|length| (length - edge) / 2.0), scale: edge / side.max(1) as f32 }
    }

    /// The fit on a canvas of the page.
    pub(super) fn page(size: [f32; 2], side: u32) -> Self {
        Self::new(size, side, MARGIN)
    }

    /// A point of the canvas, in cells.
    pub(super) fn to_cells(self, at: [f32; 2]) -> [f32; 2] {
        [0, 1].map(|axis| (at[axis] - self.origin[axis]) / self.scale)
    }

    /// A point in cells, on the canvas.
    fn to_pixels(self, at: [f32; 2]) -> [f32; 2] {
        [0, 1].map(|axis| self.origin[axis] + at[axis] * self.scale)
    }
}

/// What is drawn besides the grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Style {
    pub(super) is_dark: bool,
    pub(super) has_arrows: bool,
    pub(super) has_distances: bool,
}

/// The picture of the grid, kept from frame to frame.
#[derive(Debug, Default)]
pub(super) struct Painter {
    /// Everything but agents, the discs of goals and the brush.
    ground: Picture,
    picture: Picture,
    /// The size in pixels, the pixels in one CSS pixel, and the style that `ground` was drawn with.
    drawn: Option<([u32; 2], f32, Style)>,
}

struct Colors {
    distances: [Color; 4],
    free: Color,
    unreachable: Color,
    wall: Color,
    cost: Color,
    goal: Color,
    arrow: Color,
    agent: Color,
    back: Color,
}

fn colors(is_dark: bool) -> Colors {
    if is_dark {
        Colors {
            distances: [0xd9a441, 0x3f8f7a, 0x2b5c8a, 0x3d3573].map(rgb),
            free: rgb(0x2c353f),
            unreachable: rgb(0x4a5058),
            wall: rgb(0x06080b),
            cost: rgb(0x5a2d1c),
            goal: rgb(0xff6b4a),
            arrow: [255, 255, 255, 120],
            agent: rgb(0xffffff),
            back: rgb(0x101418),
        }
    } else {
        Colors {
            distances: [0xfde8a0, 0x9fd8b4, 0x74add6, 0x9a93d6].map(rgb),
            free: rgb(0xffffff),
            unreachable: rgb(0xc6ccd3),
            wall: rgb(0x39424d),
            cost: rgb(0x8a4b2a),
            goal: rgb(0xd13f1b),
            arrow: [20, 30, 40, 120],
            agent: rgb(0x10151b),
            back: rgb(0xf4f6f8),
        }
    }
}

fn mixed(from: Color, to: Color, share: f32) -> Color {
    let mut color = from;
    for channel in 0..3 {
        let [a, b] = [from[channel], to[channel]].map(f32::from);
        color[channel] = (a + share * (b - a) + 0.5) as u8;
    }
    color
}

/// The part of a line that is on the grid, and as far from its border as this margin. None where no part is.
fn clip([from, to]: [[f32; 2]; 2], fit: Fit, side: u32, margin: f32) -> Option<[[f32; 2]; 2]> {
    let (mut begin, mut end) = (0.0_f32, 1.0_f32);
    for axis in 0..2 {
        let low = fit.origin[axis] + margin;
        let high = fit.origin[axis] + fit.scale * side as f32 - margin;
        let way = to[axis] - from[axis];
        if way == 0.0 && !(low..=high).contains(&from[axis]) {
            return None;
        }
        if way != 0.0 {
            let [first, second] = [(low - from[axis]) / way, (high - from[axis]) / way];
            begin = begin.max(first.min(second));
            end = end.min(first.max(second));
        }
    }
    let at = |share: f32| [0, 1].map(|axis| from[axis] + share * (to[axis] - from[axis]));
    (begin < end).then(|| [at(begin), at(end)])
}

/// The largest distance that is reached.
pub(super) fn farthest(answer: &Answer) -> u32 {
    answer.distances.iter().copied().filter(|&distance| distance != UNREACHABLE).max().unwrap_or(0)
}

impl Painter {
    /// The grid or its field has changed.
    pub(super) fn forget(&mut self) {
        self.drawn = None;
    }

    /// Draws the ground where it is not drawn yet. `ratio` is how many pixels of the picture are one of the page.
    pub(super) fn ground(
        &mut self,
        (size, ratio): ([u32; 2], f32),
        style: Style,
        map: &Map,
        answer: &Answer,
        connectivity: Connectivity,
    ) {
        if self.drawn == Some((size, ratio, style)) {
            return;
        }
        self.drawn = Some((size, ratio, style));
        let colors = colors(style.is_dark);
        self.ground.clear(size, colors.back);
        let fit = Fit::new(size.map(|length| length as f32), map.side, MARGIN * ratio);
        let cells = cell_colors(map, answer, style, &colors);
        let of_pixel = |pixel: u32, axis: usize| {
            let cell = ((pixel as f32 + 0.5 - fit.origin[axis]) / fit.scale).floor();
            (cell >= 0.0 && cell < map.side as f32).then_some(cell as usize)
        };
        let columns: Vec<Option<usize>> = (0..size[0]).map(|pixel| of_pixel(pixel, 0)).collect();
        for row in 0..size[1] {
            let Some(first) = of_pixel(row, 1).map(|cell| cell * map.side as usize) else { continue };
            for (pixel, column) in columns.iter().enumerate() {
                if let Some(column) = column {
                    self.ground.put(pixel as i32, row as i32, cells[first + column]);
                }
            }
        }
        if style.has_arrows && answer.next.len() == map.blocked.len() {
            self.arrows(fit, ratio, map, answer, (connectivity, colors.arrow));
        }
    }

    fn arrows(
        &mut self,
        fit: Fit,
        ratio: f32,
        map: &Map,
        answer: &Answer,
        (connectivity, color): (Connectivity, Color),
    ) {
        let stride = (SPACING * ratio / fit.scale).ceil().max(1.0) as i32;
        let half = 0.32 * fit.scale * stride as f32;
        let offsets = connectivity.offsets();
        for y in (stride / 2..map.side as i32).step_by(stride as usize) {
            for x in (stride / 2..map.side as i32).step_by(stride as usize) {
                let Some(index) = map.index([x, y]).filter(|&index| !map.blocked[index]) else { continue };
                let code = answer.next[index];
                let Some(&[dx, dy, _]) = offsets.get(code as usize).filter(|_| code != NEXT_NONE) else {
                    continue;
                };
                let length = (dx as f32).hypot(dy as f32);
                let way = [dx as f32 / length, dy as f32 / length];
                let at = fit.to_pixels([x as f32 + 0.5, y as f32 + 0.5]);
                let place = |along: f32, across: f32| {
                    [at[0] + along * way[0] - across * way[1], at[1] + along * way[1] + across * way[0]]
                };
                let tip = place(half, 0.0);
                let tails =
                    [place(-half, 0.0), place(0.3 * half, -0.45 * half), place(0.3 * half, 0.45 * half)];
                for tail in tails {
                    if let Some([from, to]) = clip([tail, tip], fit, map.side, 0.65 * ratio) {
                        self.ground.line(from, to, 1.3 * ratio, color);
                    }
                }
            }
        }
    }

    /// The picture of a frame: the ground, the agents, the goals, and a ring where the brush is.
    pub(super) fn frame(&mut self, map: &Map, crowd: &Crowd, brush: Option<([f32; 2], f32)>) -> &Picture {
        let Some((size, ratio, style)) = self.drawn else { return &self.ground };
        let colors = colors(style.is_dark);
        self.picture.copy(&self.ground);
        let fit = Fit::new(size.map(|length| length as f32), map.side, MARGIN * ratio);
        let dot = (0.5 * fit.scale).clamp(2.0, 3.0 * ratio).round() as i32;
        for place in crowd.places() {
            self.picture.square(fit.to_pixels(place), dot, colors.agent);
        }
        if map.goals.len() <= MOST_DISCS {
            for &goal in &map.goals {
                let at = fit.to_pixels(map.cell(goal as usize).map(|at| at as f32 + 0.5));
                self.picture.disc(at, (0.5 * fit.scale).max(4.0 * ratio), colors.goal);
                self.picture.circle(
                    at,
                    (0.5 * fit.scale).max(4.0 * ratio) + 2.0 * ratio,
                    1.5 * ratio,
                    colors.agent,
                );
            }
        }
        if let Some((at, radius)) = brush {
            let radius = (radius.max(0.5) * fit.scale).max(2.0 * ratio);
            self.picture.circle(fit.to_pixels(at), radius, 3.0 * ratio, colors.back);
            self.picture.circle(fit.to_pixels(at), radius, 1.5 * ratio, colors.agent);
        }
        &self.picture
    }
}

fn cell_colors(map: &Map, answer: &Answer, style: Style, colors: &Colors) -> Vec<Color> {
    let is_solved = answer.distances.len() == map.blocked.len();
    let farthest = farthest(answer).max(1);
    let scale = Scale {
        colors: colors.distances,
        range: SHADES as f32,
        band: SHADES as f32 / BANDS,
        none: colors.unreachable,
    };
    let shades: Vec<Color> = (0..=SHADES).map(|shade| scale.color(shade as f32)).collect();
    let factor = SHADES as f32 / farthest as f32;
    let tints: Vec<f32> =
        (0..=MOST_COST).map(|cost| 0.55 * cost.saturating_sub(1) as f32 / (MOST_COST - 1) as f32).collect();
    let color = |index: usize| {
        if map.blocked[index] {
            return colors.wall;
        }
        let color = match answer.distances.get(index) {
            Some(&UNREACHABLE) => colors.unreachable,
            Some(&distance) if style.has_distances && is_solved => {
                shades[((distance as f32 * factor) as usize).min(SHADES)]
            }
            _ => colors.free,
        };
        match map.costs[index] {
            1 => color,
            cost => mixed(color, colors.cost, tints[cost.min(MOST_COST) as usize]),
        }
    };
    let mut cells: Vec<Color> = (0..map.blocked.len()).map(color).collect();
    for &goal in &map.goals {
        cells[goal as usize] = colors.goal;
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playground::flow::map::Plan;

    #[test]
    fn a_cell_is_drawn_where_the_pointer_finds_it() {
        let fit = Fit::page([900.0, 400.0], 64);
        for cell in [[0.0, 0.0], [63.9, 0.1], [31.5, 40.25]] {
            let found = fit.to_cells(fit.to_pixels(cell));
            assert!((found[0] - cell[0]).abs() < 1e-3 && (found[1] - cell[1]).abs() < 1e-3, "{found:?}");
        }
        assert!(fit.to_pixels([0.0, 0.0])[1] == MARGIN && fit.to_pixels([64.0, 64.0])[1] == 400.0 - MARGIN);
    }

    #[test]
    fn lines_end_at_the_border_of_the_grid() {
        let fit = Fit::page([116.0, 116.0], 10);
        let clipped = |from, to| clip([from, to], fit, 10, 0.0);
        assert_eq!(clipped([20.0, 50.0], [120.0, 50.0]), Some([[20.0, 50.0], [108.0, 50.0]]));
        assert_eq!(clipped([58.0, 0.0], [58.0, 16.0]), Some([[58.0, 8.0], [58.0, 16.0]]));
        assert_eq!(clipped([0.0, 0.0], [16.0, 16.0]), Some([[8.0, 8.0], [16.0, 16.0]]));
        assert_eq!(clipped([20.0, 30.0], [40.0, 30.0]), Some([[20.0, 30.0], [40.0, 30.0]]));
        assert_eq!([clipped([0.0, 50.0], [7.0, 50.0]), clipped([110.0, 0.0], [110.0, 90.0])], [None; 2]);
    }

    #[test]
    fn walls_goals_and_distances_have_their_colours() {
        let mut map = Map::new(Plan::Open, 64, 1);
        map.blocked.fill(false);
        map.goals = [0].into();
        map.blocked[63] = true;
        let mut answer = Answer { distances: (0..4096).collect(), next: vec![NEXT_NONE; 4096] };
        answer.distances[1] = UNREACHABLE;
        let style = Style { is_dark: false, has_arrows: true, has_distances: true };
        let mut painter = Painter::default();
        painter.ground(([144, 144], 1.0), style, &map, &answer, Connectivity::Four);
        let crowd = Crowd::new(1);
        let picture = painter.frame(&map, &crowd, None).clone();
        let at = |x: i32, y: i32| picture.pixel(9 + 2 * x, 9 + 2 * y).unwrap();
        let colors = colors(false);
        assert_eq!([at(0, 0), at(63, 0), at(63, 63)], [colors.goal, colors.wall, colors.distances[3]]);
        assert_eq!(picture.pixel(1, 1), Some(colors.back));
        // Without distances cells are plain.
        let plain = Style { has_distances: false, ..style };
        painter.ground(([144, 144], 1.0), plain, &map, &answer, Connectivity::Four);
        assert_eq!(painter.frame(&map, &crowd, None).pixel(9 + 126, 9 + 126), Some(colors.free));
    }
}
