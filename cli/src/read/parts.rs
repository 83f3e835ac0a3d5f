//! Rows of a table of bodies that are parts of one body.

use hullfield::collide::Motion;

use crate::failure::{Failure, Result};

/// The columns `body` and `part` of a table of bodies, whose rows are then in the order of bodies and parts.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Parts {
    /// The body of each row, ascending.
    pub(crate) body_of: Vec<u32>,
    /// The part that each row is of its body, ascending within a body.
    pub(crate) part_of: Vec<u32>,
    /// Where the rows of each body begin, and where those of the last end.
    pub(crate) begins: Vec<u32>,
}

/// What rows of one body must have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Common {
    pub(super) world: Option<u32>,
    pub(super) groups: [u32; 2],
    pub(super) motion: Motion,
}

impl Parts {
    /// Sorts rows by body and part. `rows` has the body and the part of each row of the file; without a part it is the number of rows of
    /// that body before. Returns the parts and the file's row of each.
    ///
    /// # Errors
    /// A body without a row, a part that is there twice, or rows of a body that differ in `common`; `failed` makes the error of a row.
    pub(super) fn new(
        rows: &[(u32, Option<u32>)],
        common: &[Common],
        failed: impl Fn(usize, String) -> Failure,
    ) -> Result<(Self, Vec<u32>)> {
        let body_count = rows.iter().map(|&(body, _)| body as usize + 1).max().unwrap_or(0);
        // More bodies than rows: some body has none.
        let mut row_counts = vec![0u32; body_count.min(rows.len())];
        let numbered: Vec<(u32, u32)> = rows
            .iter()
            .map(|&(body, part)| {
                let count =
                    row_counts.get_mut(body as usize).map(|count| std::mem::replace(count, *count + 1));
                (body, part.or(count).unwrap_or_default())
            })
            .collect();
        let empty = row_counts.iter().position(|&count| count == 0);
        if let Some(missing) = empty.or((body_count > rows.len()).then_some(row_counts.len())) {
            let last = rows.iter().position(|&(body, _)| body as usize + 1 == body_count).unwrap_or_default();
            let message = format!("no row is of body {missing}: bodies are numbered from 0 without gaps");
            return Err(failed(last, message));
        }
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        order.sort_by_key(|&row| numbered[row as usize]);
        for pair in order.windows(2) {
            let [first, second] = [pair[0] as usize, pair[1] as usize];
            let (body, part) = numbered[second];
            if numbered[first] == (body, part) {
                return Err(failed(second, format!("part {part} of body {body} is there twice")));
            }
            if numbered[first].0 == body && common[first] != common[second] {
                let what = common[first].difference(&common[second]);
                let message =
                    format!("body {body} has another {what} than in an earlier row, its parts must agree");
                return Err(failed(first.max(second), message));
            }
        }
        let (body_of, part_of) = order.iter().map(|&row| numbered[row as usize]).unzip();
        let mut begins = vec![0u32; body_count + 1];
        for (body, count) in row_counts.iter().enumerate() {
            begins[body + 1] = begins[body] + count;
        }
        Ok((Self { body_of, part_of, begins }, order))
    }

    /// How many bodies there are.
    pub(crate) fn body_count(&self) -> usize {
        self.begins.len() - 1
    }

    /// The rows of a body.
    pub(crate) fn rows_of(&self, body: u32) -> std::ops::Range<u32> {
        self.begins[body as usize]..self.begins[body as usize + 1]
    }
}

impl Common {
    fn difference(&self, other: &Self) -> &'static str {
        if self.world != other.world {
            "world"
        } else if self.groups != other.groups {
            "group or mask"
        } else {
            "velocity"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(rows: &[(u32, Option<u32>)]) -> std::result::Result<(Parts, Vec<u32>), String> {
        let common = Common { world: None, groups: [1, 1], motion: Motion::default() };
        let failed = |row: usize, message: String| Failure::input(format!("{row}: {message}"));
        Parts::new(rows, &vec![common; rows.len()], failed).map_err(|error| error.to_string())
    }

    #[test]
    fn rows_are_sorted_by_body_and_part() {
        let (parts, order) = parts(&[(1, Some(7)), (0, None), (1, Some(2)), (0, None)]).unwrap();
        assert_eq!(order, [1, 3, 2, 0]);
        assert_eq!((parts.body_of.clone(), parts.part_of.clone()), (vec![0, 0, 1, 1], vec![0, 1, 2, 7]));
        assert_eq!((parts.body_count(), parts.rows_of(1)), (2, 2..4));
    }

    #[test]
    fn gaps_repetitions_and_differences_are_errors() {
        let error = |rows: &[(u32, Option<u32>)]| parts(rows).unwrap_err();
        assert!(error(&[(0, None), (2, None)]).contains("1: no row is of body 1"));
        assert!(error(&[(4_000_000_000, None)]).contains("0: no row is of body 0"));
        assert!(error(&[(0, Some(1)), (0, Some(1))]).contains("1: part 1 of body 0 is there twice"));
        let common = |world| Common { world: Some(world), groups: [1, 1], motion: Motion::default() };
        let failed = |row: usize, message: String| Failure::input(format!("{row}: {message}"));
        let error = Parts::new(&[(0, None), (0, None)], &[common(1), common(2)], failed).unwrap_err();
        assert!(error.to_string().contains("1: body 0 has another world"), "{error}");
    }
}
