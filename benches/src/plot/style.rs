//! What the figures share: text, markers, dashes, and labels that keep apart.

use std::fmt::Write as _;

use crate::page::escape;

/// The size of the text, in units of the view box.
pub(super) const FONT: f64 = 14.0;
/// The distance of two labels' baselines.
pub(super) const LABEL_GAP: f64 = 17.0;
/// The width of the view box.
pub(super) const WIDTH: f64 = 660.0;
/// The number of colours of a page: `--c0` to `--c7`.
pub(super) const COLOURS: usize = 8;

/// How a text is placed at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// The beginning of a figure.
pub(super) fn open(title: &str, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"100%\" role=\"img\" \
         font-size=\"{FONT}\">\n<title>{}</title>\n",
        escape(title)
    )
}

/// A figure without a point.
pub(super) fn blank(title: &str) -> String {
    let height = 80.0;
    let text = text(WIDTH / 2.0, height / 2.0, Anchor::Middle, "no point was measured");
    format!("{}{text}</svg>\n", open(title, height))
}

/// A text; `y` is the height of its middle.
pub(super) fn text(x: f64, y: f64, anchor: Anchor, words: &str) -> String {
    coloured(x, y, anchor, words, "var(--ink)")
}

/// A text in a colour. A rim in the colour of the paper keeps it readable above lines.
pub(super) fn coloured(x: f64, y: f64, anchor: Anchor, words: &str, colour: &str) -> String {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let baseline = y + 0.35 * FONT;
    format!(
        "<text x=\"{x:.2}\" y=\"{baseline:.2}\" text-anchor=\"{anchor}\" fill=\"{colour}\" stroke=\"var(--paper)\" \
         stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\">{}</text>\n",
        escape(words)
    )
}

/// A straight line; `style` has its further attributes.
pub(super) fn line(from: [f64; 2], to: [f64; 2], style: &str) -> String {
    let ([x1, y1], [x2, y2]) = (from, to);
    format!("<line x1=\"{x1:.2}\" y1=\"{y1:.2}\" x2=\"{x2:.2}\" y2=\"{y2:.2}\" {style}/>\n")
}

/// The width of a character in common fonts, on average.
const CHARACTER: f64 = 0.53 * FONT;

/// About the width of a text.
pub(super) fn width_of(words: &str) -> f64 {
    CHARACTER * words.chars().count() as f64
}

/// A text cut to a width.
pub(super) fn cut(words: &str, width: f64) -> String {
    let count = (width / CHARACTER).floor() as usize;
    if words.chars().count() <= count {
        return words.into();
    }
    let kept: String = words.chars().take(count.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stroke {
    index: usize,
    /// The curve's number among the peers.
    peer: Option<usize>,
}

impl Stroke {
    /// The stroke of each curve.
    pub(super) fn each(is_peer: impl Iterator<Item = bool>) -> Vec<Self> {
        let mut peer_count = 0;
        let one = |(index, is_peer): (usize, bool)| {
            let peer = is_peer.then_some(peer_count);
            peer_count += usize::from(is_peer);
            Self { index, peer }
        };
        is_peer.enumerate().map(one).collect()
    }

    pub(super) fn colour(self) -> String {
        format!("var(--c{})", self.index % COLOURS)
    }

    /// The dashes of a peer's curve, as an attribute. Our own curves are solid.
    pub(super) fn dashes(self) -> String {
        let patterns = ["7 4", "2 3", "10 3 2 3", "4 2", "14 5", "10 3 2 3 2 3"];
        let attribute = |peer: usize| format!(" stroke-dasharray=\"{}\"", patterns[peer % patterns.len()]);
        self.peer.map(attribute).unwrap_or_default()
    }

    /// The marker around a point. A peer's marker is hollow. The ninth curve takes the second shape in the first colour.
    pub(super) fn marker(self, x: f64, y: f64) -> String {
        let shapes: [&[[f64; 2]]; 7] = [
            &[[-3.6, -3.6], [3.6, -3.6], [3.6, 3.6], [-3.6, 3.6]],
            &[[0.0, -5.0], [4.6, 3.4], [-4.6, 3.4]],
            &[[0.0, -5.2], [5.2, 0.0], [0.0, 5.2], [-5.2, 0.0]],
            &[[-4.6, -3.4], [4.6, -3.4], [0.0, 5.0]],
            &[[-4.4, -4.4], [4.4, -4.4], [-4.4, 4.4], [4.4, 4.4]],
            &[
                [-1.7, -5.0],
                [1.7, -5.0],
                [1.7, -1.7],
                [5.0, -1.7],
                [5.0, 1.7],
                [1.7, 1.7],
                [1.7, 5.0],
                [-1.7, 5.0],
                [-1.7, 1.7],
                [-5.0, 1.7],
                [-5.0, -1.7],
                [-1.7, -1.7],
            ],
            &[[0.0, -5.0], [4.8, -1.5], [2.9, 4.0], [-2.9, 4.0], [-4.8, -1.5]],
        ];
        let colour = self.colour();
        let fill = if self.peer.is_some() { "var(--paper)" } else { &colour };
        let style = format!("fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"1.5\"");
        match (self.index + self.index / COLOURS) % (shapes.len() + 1) {
            0 => format!("<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"4\" {style}/>\n"),
            shape => {
                let mut corners = String::new();
                for [dx, dy] in shapes[shape - 1] {
                    let _ = write!(corners, "{:.2},{:.2} ", x + dx, y + dy);
                }
                format!("<polygon points=\"{}\" {style}/>\n", corners.trim_end())
            }
        }
    }
}

/// Heights near the wanted ones, in the order of the wanted ones, at least `gap` apart and between `low` and `high` if there is room.
/// The sum of the squared moves is the smallest (pool adjacent violators).
pub(super) fn spread(wanted: &[f64], gap: f64, [low, high]: [f64; 2]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    // Blocks of labels that touch: the sum of the heights of their first label, and their count.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (rank, &index) in order.iter().enumerate() {
        let mut block = (wanted[index] - gap * rank as f64, 1);
        while let Some(&(sum, count)) = blocks.last() {
            if sum * block.1 as f64 <= block.0 * count as f64 {
                break;
            }
            block = (block.0 + sum, block.1 + count);
            blocks.pop();
        }
        blocks.push(block);
    }
    let last = high - gap * wanted.len().saturating_sub(1) as f64;
    let mut placed = vec![0.0; wanted.len()];
    let firsts = blocks.iter().flat_map(|&(sum, count)| std::iter::repeat_n(sum / count as f64, count));
    for ((rank, &index), first) in order.iter().enumerate().zip(firsts) {
        placed[index] = first.min(last).max(low) + gap * rank as f64;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_apart() {
        assert_eq!(spread(&[10.0, 50.0], 16.0, [0.0, 100.0]), [10.0, 50.0]);
        assert_eq!(spread(&[30.0, 30.0], 16.0, [0.0, 100.0]), [22.0, 38.0]);
        assert_eq!(spread(&[99.0, 98.0, 97.0], 10.0, [0.0, 100.0]), [100.0, 90.0, 80.0]);
        assert_eq!(spread(&[0.0, 0.0], 10.0, [0.0, 100.0]), [0.0, 10.0]);
        assert_eq!(spread(&[], 10.0, [0.0, 100.0]), [0.0; 0]);
        let many: Vec<f64> = (0..40).map(|index| f64::from(index * 37 % 40)).collect();
        let mut placed = spread(&many, 16.0, [0.0, 100.0]);
        placed.sort_by(f64::total_cmp);
        assert!(placed.windows(2).all(|pair| pair[1] - pair[0] > 15.999));
    }

    #[test]
    fn each_curve_has_its_own_look() {
        let strokes = Stroke::each((0..24).map(|index| index % 3 == 0));
        let shape_of = |stroke: &Stroke| {
            let marker = stroke.marker(0.0, 0.0);
            marker + &stroke.dashes()
        };
        let mut looks: Vec<String> = strokes.iter().map(shape_of).collect();
        looks.sort();
        looks.dedup();
        assert_eq!(looks.len(), 24);
        assert!(strokes.iter().all(|stroke| stroke.dashes().is_empty() == stroke.peer.is_none()));
    }

    #[test]
    fn long_labels_are_cut() {
        assert_eq!(cut("short", 5.5 * CHARACTER), "short");
        assert_eq!(cut("a label of many words", 10.5 * CHARACTER), "a label o…");
    }
}
