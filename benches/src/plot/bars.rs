//! Horizontal bars: shares of a bound.

use crate::page::escape;
use crate::plot::axis::{is_drawable, significant};
use crate::plot::style::{self, Anchor, FONT, WIDTH, coloured, cut, line, text, width_of};
use crate::report::Figure;

/// The height of a row.
const ROW: f64 = 28.0;
/// The room for the share right of the bars.
const SHARE_ROOM: f64 = 80.0;

/// Bars that show which share of a bound is reached.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bars {
    pub(crate) title: String,
    /// The unit of the values and the bounds, such as GB/s.
    pub(crate) unit: String,
    /// A label, a value, and the bound that is 100 %.
    pub(crate) bars: Vec<(String, f64, f64)>,
}

impl Bars {
    /// The bars as SVG. A bar above 100 % ends there with a slanted edge; its number is the full one.
    pub(crate) fn svg(&self) -> String {
        let is_drawn = |bar: &&(String, f64, f64)| {
            is_drawable(bar.1) && is_drawable(bar.2) && is_drawable(bar.1 / bar.2)
        };
        let bars: Vec<_> = self.bars.iter().filter(is_drawn).collect();
        if bars.is_empty() {
            return style::blank(&self.title);
        }
        let widest = bars.iter().map(|(label, ..)| width_of(label)).fold(0.0, f64::max);
        let left = (widest + 12.0).min(0.52 * WIDTH);
        let (right, bottom) = (WIDTH - SHARE_ROOM, 10.0 + ROW * bars.len() as f64);
        let mut svg = style::open(&self.title, bottom + 2.2 * FONT);
        for percent in [0, 25, 50, 75, 100] {
            let x = left + (right - left) * f64::from(percent) / 100.0;
            svg += &line([x, 6.0], [x, bottom], "stroke=\"var(--grid)\"");
            svg += &text(x, bottom + FONT, Anchor::Middle, &format!("{percent} %"));
        }
        for (index, (label, value, of)) in bars.into_iter().enumerate() {
            let share = value / of;
            let middle = 8.0 + ROW * (index as f64 + 0.5);
            let (top, low) = (middle - 0.3 * ROW, middle + 0.3 * ROW);
            let end = left + (right - left) * share.min(1.0);
            let slant = if share > 1.0 { 8.0 } else { 0.0 };
            let unit = &self.unit;
            let tip = format!("{label}: {} {unit} of {} {unit}", significant(*value), significant(*of));
            svg += &format!("<g><title>{}</title>\n", escape(&tip));
            svg += &format!(
                "<polygon points=\"{left:.2},{top:.2} {end:.2},{top:.2} {:.2},{low:.2} {left:.2},{low:.2}\" fill=\"var(--c0)\"/>\n",
                end - slant
            );
            svg += &text(left - 8.0, middle, Anchor::End, &cut(label, left - 10.0));
            svg += &coloured(end + 8.0, middle, Anchor::Start, &percent(share), "var(--ink)");
            svg += "</g>\n";
        }
        svg + "</svg>\n"
    }

    /// The figure for a report.
    pub(crate) fn figure(&self, caption: impl Into<String>) -> Figure {
        Figure::new(&self.title, self.svg(), String::new(), caption)
    }
}

/// A share in per cent.
fn percent(share: f64) -> String {
    match 100.0 * share {
        percent if percent >= 9.95 => format!("{percent:.0} %"),
        percent if percent >= 0.1 => format!("{percent:.1} %"),
        percent => format!("{} %", significant(percent)),
    }
}
