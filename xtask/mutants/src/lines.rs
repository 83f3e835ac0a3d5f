//! Converts between byte offsets, and lines and columns.

/// Where each line of a text begins, in bytes.
#[derive(Debug)]
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(ends).collect())
    }

    /// The byte of a line and a column in characters, both from 1.
    pub(crate) fn offset(&self, text: &str, line: usize, column: usize) -> usize {
        let Some(&start) = line.checked_sub(1).and_then(|line| self.0.get(line)) else { return text.len() };
        let mut characters = text[start..].char_indices();
        characters.nth(column.saturating_sub(1)).map_or(text.len(), |(at, _)| start + at)
    }

    /// The line of a byte, from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.0.partition_point(|&start| start <= offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_characters() {
        let text = "ä<\nöü>";
        let lines = Lines::new(text);
        assert_eq!(&text[lines.offset(text, 1, 2)..][..1], "<");
        assert_eq!(&text[lines.offset(text, 2, 3)..], ">");
        assert_eq!([lines.line(0), lines.line(2), lines.line(4), lines.line(8)], [1, 1, 2, 2]);
        assert_eq!(lines.offset(text, 9, 1), text.len());
    }
}
