//! Figures of the report, as SVG: curves over two logarithmic axes, and bars.
//!
//! The colours are properties of the page: `--c0` to `--c7`, `--ink`, `--grid` and `--paper`.

mod axis;
mod bars;
mod style;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use crate::page::escape;
use crate::plot::style::{
    Anchor, FONT, LABEL_GAP, Stroke, WIDTH, coloured, cut, line, spread, text, width_of,
};
use crate::report::Figure;
use axis::{Axis, is_drawable};

pub(crate) use axis::Unit;
pub(crate) use bars::Bars;

/// The least height of the field of curves.
const FIELD_HEIGHT: f64 = 320.0;
/// The distance from the border of the field to the ends of its axes.
const INSET: f64 = 10.0;
/// The room for a curve's label at most.
const LABEL_ROOM: f64 = 190.0;
/// A label of a vertical line keeps this distance to the next.
const MARK_GAP: f64 = 12.0;

/// A measured point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mark {
    pub(crate) at: f64,
    pub(crate) value: f64,
    /// The lower quartile.
    pub(crate) low: f64,
    /// The upper quartile.
    pub(crate) high: f64,
}

impl Mark {
    fn is_drawable(&self) -> bool {
        is_drawable(self.at) && is_drawable(self.value)
    }

    /// The quartiles in order, if both can be drawn.
    fn quartiles(&self) -> Option<[f64; 2]> {
        let both = [self.low.min(self.high), self.low.max(self.high)];
        (is_drawable(self.low) && is_drawable(self.high) && self.low != self.high).then_some(both)
    }
}

/// A named series of points.
#[derive(Debug, Clone, Default)]
pub(crate) struct Curve {
    pub(crate) label: String,
    /// A peer's curve is dashed, and its markers are hollow.
    pub(crate) is_peer: bool,
    pub(crate) points: Vec<Mark>,
}

impl Curve {
    /// The points that can be drawn, from left to right.
    fn marks(&self) -> Vec<&Mark> {
        let mut marks: Vec<&Mark> = self.points.iter().filter(|mark| mark.is_drawable()).collect();
        marks.sort_by(|a, b| a.at.total_cmp(&b.at));
        marks
    }
}

/// A straight line between two points: the fit of a curve, drawn as a wide pale line below it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    /// The index of the curve that it fits.
    pub(crate) curve: usize,
    pub(crate) from: [f64; 2],
    pub(crate) to: [f64; 2],
}

impl Line {
    fn is_drawable(&self) -> bool {
        [self.from, self.to].concat().into_iter().all(is_drawable)
    }
}

/// A labelled vertical line across the field, such as for the size of a cache.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Level {
    pub(crate) label: String,
    pub(crate) at: f64,
}

/// Curves over two logarithmic axes. What is not finite and positive is left out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plot {
    pub(crate) title: String,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    pub(crate) x_unit: Unit,
    pub(crate) y_unit: Unit,
    pub(crate) curves: Vec<Curve>,
    pub(crate) lines: Vec<Line>,
    /// Vertical lines. Those beside the curves are left out.
    pub(crate) marks_x: Vec<Level>,
}

/// Where things are drawn.
#[derive(Debug)]
struct Field {
    x: Axis,
    y: Axis,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Field {
    fn x(&self, value: f64) -> f64 {
        self.left + INSET + self.x.place(value) * (self.right - self.left - 2.0 * INSET)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - INSET - self.y.place(value) * (self.bottom - self.top - 2.0 * INSET)
    }

    fn point(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.x(x), self.y(y)]
    }

    /// The border, the grid, and the axes with their labels.
    fn grid(&self, plot: &Plot) -> String {
        let (left, right, top, bottom) = (self.left, self.right, self.top, self.bottom);
        let mut svg = format!(
            "<rect x=\"{left:.2}\" y=\"{top:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"none\" stroke=\"var(--grid)\"/>\n",
            right - left,
            bottom - top
        );
        for (place, label) in self.x.labels_within(right - left - 2.0 * INSET, width_of) {
            let x = left + INSET + place * (right - left - 2.0 * INSET);
            svg += &line([x, top], [x, bottom + 4.0], "stroke=\"var(--grid)\"");
            if !label.is_empty() {
                svg += &text(x, bottom + 5.0 + FONT, Anchor::Middle, &label);
            }
        }
        for (place, label) in self.y.labels() {
            let y = bottom - INSET - place * (bottom - top - 2.0 * INSET);
            svg += &line([left - 4.0, y], [right, y], "stroke=\"var(--grid)\"");
            svg += &text(left - 8.0, y, Anchor::End, &label);
        }
        svg += &text(4.0, FONT, Anchor::Start, &plot.y_label);
        svg + &text(0.5 * (left + right), bottom + 10.0 + 2.2 * FONT, Anchor::Middle, &plot.x_label)
    }
}

impl Plot {
    /// The plot as SVG.
    pub(crate) fn svg(&self) -> String {
        let Some(field) = self.field() else { return style::blank(&self.title) };
        let mut svg = style::open(&self.title, field.bottom + 14.0 + 3.0 * FONT);
        svg += &field.grid(self);
        svg += &self.draw_marks_x(&field);
        svg += &self.draw_lines(&field);
        svg += &self.draw_labels(&field);
        svg += &self.draw_curves(&field);
        svg + "</svg>\n"
    }

    /// The legend as HTML.
    pub(crate) fn legend(&self) -> String {
        let swatch = |content: &str| {
            format!(
                "<svg viewBox=\"0 0 40 14\" width=\"40\" height=\"14\" aria-hidden=\"true\">{content}</svg>"
            )
        };
        let mut html = String::from("<ul class=\"legend\">\n");
        for (curve, stroke) in self.curves.iter().zip(self.strokes()) {
            let sample = format!(
                "<path d=\"M1 7H39\" stroke=\"{}\" stroke-width=\"2\"{}/>{}",
                stroke.colour(),
                stroke.dashes(),
                stroke.marker(20.0, 7.0).trim_end()
            );
            let missing = if curve.marks().is_empty() { " (no point was measured)" } else { "" };
            let _ = writeln!(html, "<li>{}{}{missing}</li>", swatch(&sample), escape(&curve.label));
        }
        let mut explain = |content: &str, words: &str| {
            let _ = writeln!(html, "<li class=\"key\">{}{words}</li>", swatch(content));
        };
        if self.curves.iter().any(|curve| curve.is_peer) {
            let sample =
                "<path d=\"M1 7H39\" stroke=\"var(--ink)\" stroke-width=\"2\" stroke-dasharray=\"7 4\"/>";
            explain(sample, "dashed, hollow: a peer");
        }
        if self.curves.iter().flat_map(Curve::marks).any(|mark| mark.quartiles().is_some()) {
            explain(
                "<path d=\"M20 0V14\" stroke=\"var(--ink)\" stroke-width=\"1.5\"/>",
                "from quartile to quartile",
            );
        }
        if self.fits().next().is_some() {
            let sample =
                "<path d=\"M1 7H39\" stroke=\"var(--ink)\" stroke-width=\"8\" stroke-opacity=\".25\"/>";
            explain(sample, "wide, pale: the fit");
        }
        html + "</ul>\n"
    }

    /// The figure for a report.
    pub(crate) fn figure(&self, caption: impl Into<String>) -> Figure {
        Figure::new(&self.title, self.svg(), self.legend(), caption)
    }

    fn strokes(&self) -> Vec<Stroke> {
        Stroke::each(self.curves.iter().map(|curve| curve.is_peer))
    }

    /// The lines that can be drawn.
    fn fits(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.curve < self.curves.len() && line.is_drawable())
    }

    /// The axes and the room around them. `None` without a point.
    fn field(&self) -> Option<Field> {
        let marks: Vec<&Mark> = self.curves.iter().flat_map(Curve::marks).collect();
        if marks.is_empty() {
            return None;
        }
        let ends = || self.fits().flat_map(|line| [line.from, line.to]);
        let xs = marks.iter().map(|mark| mark.at).chain(ends().map(|[x, _]| x));
        let quartiles = marks.iter().filter_map(|mark| mark.quartiles()).flatten();
        let ys = marks.iter().map(|mark| mark.value).chain(ends().map(|[_, y]| y)).chain(quartiles);
        let (x, y) = (Axis::over(xs, self.x_unit, 7)?, Axis::over(ys, self.y_unit, 9)?);
        let widest =
            |words: &mut dyn Iterator<Item = String>| words.map(|words| width_of(&words)).fold(0.0, f64::max);
        let left = 18.0 + widest(&mut y.labels().into_iter().map(|(_, label)| label));
        let right =
            WIDTH - 26.0 - widest(&mut self.curves.iter().map(|curve| curve.label.clone())).min(LABEL_ROOM);
        let mut field = Field { x, y, left, right, top: 10.0 + FONT, bottom: 0.0 };
        field.top +=
            LABEL_GAP * self.mark_rows(&field).iter().map(|(row, ..)| row + 1).max().unwrap_or(0) as f64;
        let label_height = LABEL_GAP * self.curves.len() as f64;
        field.bottom = field.top + label_height.max(FIELD_HEIGHT);
        Some(field)
    }

    /// The vertical lines: the row of each label, counted upward from the field, its middle, and the line.
    fn mark_rows(&self, field: &Field) -> Vec<(usize, f64, &Level)> {
        let mut marks: Vec<&Level> = self.marks_x.iter().filter(|mark| field.x.holds(mark.at)).collect();
        marks.sort_by(|a, b| a.at.total_cmp(&b.at));
        // The end of the last label of each row.
        let mut ends: Vec<f64> = Vec::new();
        let mut rows = Vec::new();
        for mark in marks {
            let half = 0.5 * width_of(&mark.label);
            let middle = field.x(mark.at).min(WIDTH - 4.0 - half).max(4.0 + half);
            let is_free = |end: &f64| *end + MARK_GAP <= middle - half;
            let row = ends.iter().position(is_free).unwrap_or(ends.len());
            ends.resize(ends.len().max(row + 1), f64::NEG_INFINITY);
            ends[row] = middle + half;
            rows.push((row, middle, mark));
        }
        rows
    }

    fn draw_marks_x(&self, field: &Field) -> String {
        let mut svg = String::new();
        for (row, middle, mark) in self.mark_rows(field) {
            let (x, y) = (field.x(mark.at), field.top - LABEL_GAP * (row as f64 + 0.5));
            let tip = format!("{}: {}", mark.label, self.x_unit.text(mark.at));
            let _ = writeln!(svg, "<g><title>{}</title>", escape(&tip));
            svg += &line([x, y + 0.5 * FONT], [x, field.bottom], "stroke=\"var(--ink)\" stroke-width=\".8\"");
            svg += &text(middle, y, Anchor::Middle, &mark.label);
            svg += "</g>\n";
        }
        svg
    }

    fn draw_lines(&self, field: &Field) -> String {
        let strokes = self.strokes();
        let mut svg = String::new();
        for fit in self.fits() {
            let run = fit.to[0].log10() - fit.from[0].log10();
            let exponent = (fit.to[1].log10() - fit.from[1].log10()) / run;
            let label = &self.curves[fit.curve].label;
            let tip = if exponent.is_finite() {
                format!("{label}: fit of exponent {exponent:.2}")
            } else {
                format!("{label}: fit")
            };
            let colour = strokes[fit.curve].colour();
            let style = format!("stroke=\"{colour}\" stroke-width=\"8\" stroke-opacity=\".25\"");
            let drawn = line(field.point(fit.from), field.point(fit.to), &style);
            let _ = writeln!(svg, "<g><title>{}</title>\n{drawn}</g>", escape(&tip));
        }
        svg
    }

    fn draw_curves(&self, field: &Field) -> String {
        let mut svg = String::new();
        for (curve, stroke) in self.curves.iter().zip(self.strokes()) {
            let marks = curve.marks();
            let (colour, dashes) = (stroke.colour(), stroke.dashes());
            let mut points = String::new();
            for mark in &marks {
                let _ = write!(points, "{:.2},{:.2} ", field.x(mark.at), field.y(mark.value));
            }
            if marks.len() > 1 {
                let points = points.trim_end();
                let _ = writeln!(
                    svg,
                    "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"{dashes}/>"
                );
            }
            for mark in marks {
                let [x, y] = field.point([mark.at, mark.value]);
                let mut tip = format!("{}\n", curve.label);
                if !self.x_label.is_empty() {
                    let _ = write!(tip, "{}: ", self.x_label);
                }
                let _ = write!(tip, "{}\n{}", self.x_unit.text(mark.at), self.y_unit.text(mark.value));
                let mut bar = String::new();
                if let Some([low, high]) = mark.quartiles() {
                    let _ = write!(tip, " ({} to {})", self.y_unit.text(low), self.y_unit.text(high));
                    let style = format!("stroke=\"{colour}\" stroke-width=\"1.2\"");
                    bar = line([x, field.y(low)], [x, field.y(high)], &style);
                }
                let _ = writeln!(svg, "<g><title>{}</title>\n{bar}{}</g>", escape(&tip), stroke.marker(x, y));
            }
        }
        svg
    }

    /// The label of each curve right of the field, with a thin line from the curve's last point.
    fn draw_labels(&self, field: &Field) -> String {
        let ends = self.curves.iter().zip(self.strokes()).filter_map(|(curve, stroke)| {
            let last = *curve.marks().last()?;
            Some((curve, stroke, field.point([last.at, last.value])))
        });
        let ends: Vec<_> = ends.collect();
        let wanted: Vec<f64> = ends.iter().map(|(.., [_, y])| *y).collect();
        let heights = spread(&wanted, LABEL_GAP, [field.top + 0.5 * FONT, field.bottom - 0.5 * FONT]);
        let mut svg = String::new();
        for ((curve, stroke, [x, y]), height) in ends.into_iter().zip(heights) {
            let (colour, right) = (stroke.colour(), field.right);
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.2} {y:.2}H{right:.2}L{:.2} {height:.2}\" fill=\"none\" stroke=\"{colour}\" \
                 stroke-width=\".8\" stroke-dasharray=\"1 2\"/>",
                right + 14.0
            );
            svg += &coloured(right + 18.0, height, Anchor::Start, &cut(&curve.label, LABEL_ROOM), &colour);
        }
        svg
    }
}
