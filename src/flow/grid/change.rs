//! What changed from one grid to another of the same shape.

use crate::flow::grid::cells::Grid;

/// Indices of the cells of two grids of the same shape that became an obstacle, became free or changed their cost. `None` if there
/// are more than `limit`.
pub(crate) fn changed_cells(old: &Grid, grid: &Grid, limit: usize) -> Option<Vec<u32>> {
    let mut edited = Vec::new();
    let (width, row_words) = (grid.width(), grid.row_words());
    let words = old.blocked_words().iter().zip(grid.blocked_words()).enumerate();
    for (index, (old, word)) in words.filter(|(_, (old, word))| old != word) {
        let mut bits = old ^ word;
        while bits != 0 {
            let x = index % row_words * 64 + bits.trailing_zeros() as usize;
            edited.push((index / row_words * width + x) as u32);
            bits &= bits - 1;
        }
        if edited.len() > limit {
            return None;
        }
    }
    let costs = [old.costs(), grid.costs()];
    if costs.iter().any(|costs| !costs.is_empty()) {
        let unit = [1; 1024];
        for from in (0..grid.cell_count()).step_by(unit.len()) {
            let to = (from + unit.len()).min(grid.cell_count());
            let [old, new] = costs.map(|costs| costs.get(from..to).unwrap_or(&unit[..to - from]));
            if old != new {
                let differ = (from..to).filter(|index| old[index - from] != new[index - from]);
                edited.extend(differ.map(|index| index as u32));
                if edited.len() > limit {
                    return None;
                }
            }
        }
    }
    Some(edited)
}
