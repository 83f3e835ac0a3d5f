//! Lists split into tasks, which run on all cores where there are threads; results keep their order.

use crate::parallel::each;

/// Bodies, rows of pairs, or pairs in one task.
pub(crate) const TASK: usize = 1024;

/// Maps slices of a list in parallel; one result for each item.
pub(crate) fn map_tasks<T: Sync, U: Send>(items: &[T], f: impl Fn(&[T]) -> Vec<U> + Sync + Send) -> Vec<U> {
    // Several tasks for each thread even out the load.
    let len = (items.len() / 16).clamp(64, TASK);
    if items.len() <= len {
        return f(items);
    }
    let parts = each(items.chunks(len).collect(), f);
    let mut all = Vec::with_capacity(items.len());
    parts.into_iter().for_each(|part| all.extend(part));
    all
}

/// Maps each item.
pub(crate) fn map_items<T: Sync, U: Send>(items: &[T], f: impl Fn(&T) -> U + Sync + Send) -> Vec<U> {
    map_tasks(items, |items| items.iter().map(&f).collect())
}

/// Splits a list whose rows begin at `starts` into parts of [`TASK`] rows.
pub(crate) fn split_rows<'a, T>(starts: &[u32], mut list: &'a mut [T]) -> Vec<&'a mut [T]> {
    let mut parts = Vec::new();
    let mut begin = 0;
    for end in ends(starts) {
        let (part, rest) = std::mem::take(&mut list).split_at_mut((end - begin) as usize);
        parts.push(part);
        (list, begin) = (rest, end);
    }
    parts
}

/// Where each part of [`TASK`] rows ends.
fn ends(starts: &[u32]) -> impl Iterator<Item = u32> + '_ {
    let rows = starts.len().saturating_sub(1);
    (0..rows).step_by(TASK).map(move |row| starts[(row + TASK).min(rows)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_hold_all_rows_in_order() {
        for rows in [0, 1, TASK - 1, TASK, TASK + 1, 3 * TASK + 5] {
            let starts: Vec<u32> = (0..=rows as u32).map(|row| row * 3 / 2).collect();
            let len = starts.last().copied().unwrap_or(0);
            let mut list: Vec<u32> = (0..len).collect();
            let parts = split_rows(&starts, &mut list);
            assert_eq!(parts.len(), rows.div_ceil(TASK));
            assert!(parts.iter().flat_map(|part| part.iter().copied()).eq(0..len));
        }
        assert!(split_rows::<u32>(&[], &mut []).is_empty());
    }

    #[test]
    fn maps_in_order() {
        for len in [0, 1, 63, 64, 65, 5000] {
            let items: Vec<usize> = (0..len).collect();
            let mapped = map_tasks(&items, |part| {
                // A list that is not short is split.
                assert!(part.len() <= TASK && (len <= 64 || part.len() < len), "{} of {len}", part.len());
                part.iter().map(|x| x * 2).collect()
            });
            assert!(mapped.into_iter().eq((0..len).map(|x| x * 2)));
        }
    }
}
