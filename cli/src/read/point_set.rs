//! Named point sets.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use super::text::excerpt;
use crate::failure::Failure;

/// The points of one object of one file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PointSet {
    /// The object's name, or the file's if it has none.
    pub(crate) name: String,
    /// The points in the file's order and units, with the file's transforms applied.
    pub(crate) points: Vec<[f64; 3]>,
    /// The file that it was read from.
    pub(crate) file: PathBuf,
    /// Its first line, in a text file.
    pub(crate) line: Option<u64>,
}

/// The point sets of all files, and warnings of a line each.
#[derive(Debug)]
pub(crate) struct PointSets {
    /// Each has points and a unique name.
    pub(crate) sets: Vec<PointSet>,
    /// A warning for each object without points.
    pub(crate) left_out: Vec<String>,
    /// A warning for each file and name with renamed sets.
    pub(crate) renamed: Vec<String>,
}

/// Appends numbers to repeated names, so that all names differ. Returns a warning for each file and name with renamed sets.
pub(super) fn number_equal_names(sets: &mut [PointSet]) -> Vec<String> {
    // A name from a file is never given to another set.
    let given: HashSet<String> = sets.iter().map(|set| set.name.clone()).collect();
    let mut counts: HashMap<String, u64> = HashMap::with_capacity(sets.len());
    let mut renamed: Vec<(PathBuf, String, String, u64)> = Vec::new();
    for set in sets {
        let Some(count) = counts.get_mut(&set.name) else {
            counts.insert(set.name.clone(), 0);
            continue;
        };
        let name = loop {
            *count += 1;
            let name = format!("{}.{count}", set.name);
            if !given.contains(&name) {
                break name;
            }
        };
        match renamed.last_mut() {
            Some((file, of, _, more)) if *file == set.file && *of == set.name => *more += 1,
            _ => renamed.push((set.file.clone(), set.name.clone(), name.clone(), 0)),
        }
        set.name = name;
    }
    let line = |(file, of, name, more): (PathBuf, String, String, u64)| {
        let more = if more > 0 { format!(" (and {more} more get numbers)") } else { String::new() };
        let (of, name) = (excerpt(&of), excerpt(&name));
        Failure::file(&file, format!("the name \"{of}\" is taken, this one is called \"{name}\"{more}"))
            .to_string()
    };
    renamed.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_are_numbered() {
        let set = |name: &str, file: &str| PointSet {
            name: name.to_owned(),
            points: Vec::new(),
            file: file.into(),
            line: None,
        };
        let mut sets = [
            set("Wheels", "a"),
            set("Wheels", "a"),
            set("Wheels", "a"),
            set("Wheels.2", "a"),
            set("Wheels", "b"),
            set("Wheels.2", "b"),
            set("body", "b"),
        ];
        let lines = number_equal_names(&mut sets);
        let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
        assert_eq!(names, ["Wheels", "Wheels.1", "Wheels.3", "Wheels.2", "Wheels.4", "Wheels.2.1", "body"]);
        assert_eq!(
            lines,
            [
                "a: the name \"Wheels\" is taken, this one is called \"Wheels.1\" (and 1 more get numbers)",
                "b: the name \"Wheels\" is taken, this one is called \"Wheels.4\"",
                "b: the name \"Wheels.2\" is taken, this one is called \"Wheels.2.1\"",
            ]
        );
    }
}
