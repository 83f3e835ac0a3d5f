//! Floor plans of rooms as SVG: cells, a strip, walls, the funnel and paths. y is up.

use std::fmt::Write as _;

use hullfield::navigate::room::Room;

/// A floor plan. Each call draws over the ones before.
#[derive(Debug)]
pub(crate) struct FloorPlan {
    low: [f64; 2],
    high: [f64; 2],
    /// Units of the room per unit of the picture.
    unit: f64,
    /// A factor of line widths: less than 1 with many cells.
    weight: f64,
    body: String,
}

/// The longer side of a picture, in its own units.
const SIZE: f64 = 1000.0;

const MARGIN: f64 = 20.0;

/// With more cells than this, lines get thinner.
const MAX_FULL_WIDTH_CELLS: f64 = 1500.0;

/// Bends are marked on paths with at most this many.
const MAX_MARKED_BENDS: usize = 24;

impl FloorPlan {
    /// An empty plan of a room.
    pub(crate) fn new(room: &Room) -> Self {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for point in room.vertices() {
            for k in 0..2 {
                low[k] = low[k].min(point[k]);
                high[k] = high[k].max(point[k]);
            }
        }
        let size = (high[0] - low[0]).max(high[1] - low[1]).max(f64::MIN_POSITIVE);
        // Half the width for four times the cells.
        let weight = (MAX_FULL_WIDTH_CELLS / room.cell_count().max(1) as f64).sqrt().clamp(0.25, 1.0);
        Self { low, high, unit: size / SIZE, weight, body: String::new() }
    }

    fn at(&self, point: [f64; 2]) -> [f64; 2] {
        [(point[0] - self.low[0]) / self.unit, (self.high[1] - point[1]) / self.unit]
    }

    fn points(&self, points: &[[f64; 2]]) -> String {
        let mut text = String::new();
        for &point in points {
            let [x, y] = self.at(point);
            let _ = write!(text, "{x:.2},{y:.2} ");
        }
        text.truncate(text.trim_end().len());
        text
    }

    /// Draws the cells, filled, optionally with lines between them.
    pub(crate) fn cells(&mut self, room: &Room, lines: bool) -> &mut Self {
        let stroke = if lines { "#c9d3df" } else { "#f4f6f9" };
        let vertices: Vec<[f64; 2]> = room.vertices().collect();
        let _ = writeln!(
            self.body,
            "<g fill=\"#f4f6f9\" stroke=\"{stroke}\" stroke-width=\"{:.2}\">",
            0.8 * self.weight
        );
        for cell in 0..room.cell_count() as u32 {
            let corners: Vec<[f64; 2]> = room.cell(cell).map(|v| vertices[v as usize]).collect();
            if !corners.is_empty() {
                let _ = writeln!(self.body, "<polygon points=\"{}\"/>", self.points(&corners));
            }
        }
        let _ = writeln!(self.body, "</g>");
        self
    }

    /// Draws the cells of a strip, highlighted.
    pub(crate) fn strip(&mut self, room: &Room, strip: &[u32]) -> &mut Self {
        let vertices: Vec<[f64; 2]> = room.vertices().collect();
        let _ = writeln!(
            self.body,
            "<g fill=\"#ffe9b8\" stroke=\"#e2b953\" stroke-width=\"{:.2}\">",
            0.8 * self.weight
        );
        for &cell in strip {
            let corners: Vec<[f64; 2]> = room.cell(cell).map(|v| vertices[v as usize]).collect();
            let _ = writeln!(self.body, "<polygon points=\"{}\"/>", self.points(&corners));
        }
        let _ = writeln!(self.body, "</g>");
        self
    }

    /// Draws the walls.
    pub(crate) fn walls(&mut self, room: &Room) -> &mut Self {
        let vertices: Vec<[f64; 2]> = room.vertices().collect();
        let mut path = String::new();
        for cell in 0..room.cell_count() as u32 {
            let corners: Vec<u32> = room.cell(cell).collect();
            for (i, beyond) in room.neighbours(cell).enumerate() {
                if beyond.is_none() {
                    let [a, b] =
                        [corners[i], corners[(i + 1) % corners.len()]].map(|v| self.at(vertices[v as usize]));
                    let _ = write!(path, "M{:.2} {:.2}L{:.2} {:.2}", a[0], a[1], b[0], b[1]);
                }
            }
        }
        let _ = writeln!(
            self.body,
            "<path d=\"{path}\" fill=\"none\" stroke=\"#27364a\" stroke-width=\"{:.2}\" stroke-linecap=\"round\"/>",
            2.5 * self.weight
        );
        self
    }

    /// Draws a polyline.
    pub(crate) fn line(&mut self, points: &[[f64; 2]], colour: &str, width: f64) -> &mut Self {
        let _ = writeln!(
            self.body,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" \
             stroke-linejoin=\"round\" stroke-linecap=\"round\"/>",
            self.points(points)
        );
        self
    }

    /// Draws a filled polygon.
    pub(crate) fn area(&mut self, points: &[[f64; 2]], colour: &str) -> &mut Self {
        let _ = writeln!(
            self.body,
            "<polygon points=\"{}\" fill=\"{colour}\" fill-opacity=\"0.6\"/>",
            self.points(points)
        );
        self
    }

    /// Draws dots.
    pub(crate) fn dots(&mut self, points: &[[f64; 2]], colour: &str, radius: f64) -> &mut Self {
        for &point in points {
            let [x, y] = self.at(point);
            let _ =
                writeln!(self.body, "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius}\" fill=\"{colour}\"/>");
        }
        self
    }

    /// Draws a path with its ends and bends.
    pub(crate) fn path(&mut self, points: &[[f64; 2]]) -> &mut Self {
        if let [start, bends @ .., goal] = points {
            let marked = if bends.len() > MAX_MARKED_BENDS { &[] } else { bends };
            self.line(points, "#d6336c", 3.5).dots(marked, "#d6336c", 4.5);
            self.dots(&[*start], "#2b8a3e", 7.0).dots(&[*goal], "#c92a2a", 7.0);
        }
        self
    }

    /// The SVG, with a title below the plan.
    pub(crate) fn finish(&self, title: &str) -> String {
        let [width, height] = [0, 1].map(|k| (self.high[k] - self.low[k]) / self.unit + 2.0 * MARGIN);
        let title = title.replace('&', "&amp;").replace('<', "&lt;");
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{0} {0} {width:.2} {1:.2}\" width=\"{width:.0}\" \
             height=\"{1:.0}\">\n<rect x=\"{0}\" y=\"{0}\" width=\"{width:.2}\" height=\"{1:.2}\" fill=\"#dfe4ea\"/>\n\
             {2}<text x=\"0\" y=\"{3:.2}\" font-family=\"sans-serif\" font-size=\"18\" fill=\"#27364a\">{title}</text>\n\
             </svg>\n",
            -MARGIN,
            height + 24.0,
            self.body,
            height - 2.0 * MARGIN + 30.0,
        )
    }
}
