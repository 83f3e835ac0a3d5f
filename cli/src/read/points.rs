//! Point sets as CSV `hull,x,y,z`. All rows of one name are a point set; sets are in the order of their first rows.

use std::collections::HashMap;
use std::path::Path;

use super::point_set::PointSet;
use super::table::Table;
use crate::failure::{Failure, Result};

pub(super) fn read(file: &Path) -> Result<Vec<PointSet>> {
    let mut table = Table::open(file, &["hull", "x", "y", "z"])?;
    let hull = table.required("hull")?;
    let axes = [table.required("x")?, table.required("y")?, table.required("z")?];
    let mut sets: Vec<PointSet> = Vec::new();
    let mut rows: HashMap<String, usize> = HashMap::new();
    while table.next()? {
        let name = table.name(hull)?;
        let point = table.numbers(axes)?;
        let set = match rows.get(name) {
            Some(&set) => set,
            None => {
                rows.insert(name.to_owned(), sets.len());
                sets.push(PointSet {
                    name: name.to_owned(),
                    points: Vec::new(),
                    file: file.to_owned(),
                    line: Some(table.line()),
                });
                sets.len() - 1
            }
        };
        if let Some(set) = sets.get_mut(set) {
            set.points.push(point);
        }
    }
    if sets.is_empty() {
        return Err(Failure::file(file, "it has no points"));
    }
    Ok(sets)
}
