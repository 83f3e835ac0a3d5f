//! The files of the tree that is tested, and the copy that is built.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::mutant::hash;

/// The texts of `src` and `shaders`, by their paths from the workspace's root.
#[derive(Debug, Default)]
pub(crate) struct Sources(BTreeMap<String, String>);

impl Sources {
    /// The text of a file.
    ///
    /// # Errors
    /// There is no such file.
    pub(crate) fn get(&self, file: &str) -> Result<&str, String> {
        self.0.get(file).map(String::as_str).ok_or_else(|| format!("there is no file {file}"))
    }

    /// The files whose names end so, and their texts.
    pub(crate) fn of_type(&self, ending: &str) -> impl Iterator<Item = (&str, &str)> {
        let files = self.0.iter().map(|(file, text)| (file.as_str(), text.as_str()));
        files.filter(move |(file, _)| file.ends_with(ending))
    }

    #[cfg(test)]
    pub(crate) fn of<const N: usize>(files: [(&str, &str); N]) -> Self {
        Self(files.map(|(file, text)| (file.to_owned(), text.to_owned())).into())
    }
}

/// How the paths begin of what the tests are built from.
const TESTED: [&str; 8] =
    ["Cargo", "src/", "shaders/", "tests/", "cli/", "mesh-files/", "robot-files/", "examples/"];

/// Copies what git knows or would add from `tree` to `copy`, but for `src` and `shaders`, which it returns: they are written when it is known
/// which mutants they hold. A file that is the same is left alone, so that little is built again. Also returns a hash of what is
/// tested.
///
/// # Errors
/// `tree` is not the root of a git working tree, or a file cannot be read or written.
pub(crate) fn copy(tree: &Path, copy: &Path) -> Result<(Sources, u64), String> {
    let mut sources = Sources::default();
    let mut sum = 0;
    let files = files(tree)?;
    for file in &files {
        let content = std::fs::read(tree.join(file)).map_err(|error| format!("{file}: {error}"))?;
        if TESTED.iter().any(|start| file.starts_with(start)) {
            sum = hash(sum, &format!("{file} {:x}", hash(0, &String::from_utf8_lossy(&content))));
        }
        let is_source = file.starts_with("src/") && file.ends_with(".rs")
            || file.starts_with("shaders/") && file.ends_with(".wgsl");
        match String::from_utf8(content) {
            Ok(text) if is_source => {
                sources.0.insert(file.clone(), text);
            }
            Ok(text) => write(&copy.join(file), text.as_bytes())?,
            Err(error) => write(&copy.join(file), error.as_bytes())?,
        }
    }
    remove_others(copy, &files)?;
    Ok((sources, sum))
}

/// The files below `tree` that git knows or would add, sorted.
fn files(tree: &Path) -> Result<Vec<String>, String> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(tree)
        .output()
        .map_err(|error| format!("git: {error}"))?;
    if !output.status.success() {
        return Err(format!("git: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let names = String::from_utf8(output.stdout).map_err(|error| format!("git: {error}"))?;
    let mut files: Vec<String> =
        names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    // A file that was removed, but not from the index.
    files.retain(|file| tree.join(file).is_file());
    files.sort();
    files.dedup();
    Ok(files)
}

/// Removes what an earlier copy left in the folders that cargo reads. A file of the library that cargo does not know does no harm.
fn remove_others(copy: &Path, files: &[String]) -> Result<(), String> {
    let known: std::collections::HashSet<&str> = files.iter().map(String::as_str).collect();
    let mut folders = vec![String::from("tests"), String::from("cli"), String::from("examples")];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(copy.join(&folder)) else { continue };
        for entry in entries.flatten() {
            let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                folders.push(name);
            } else if !known.contains(name.as_str()) {
                std::fs::remove_file(entry.path()).map_err(|error| format!("{name}: {error}"))?;
            }
        }
    }
    Ok(())
}

/// Writes a file, unless it has this content already.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    if std::fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, content))
        .map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_copied_and_what_is_gone_is_removed() {
        let folder = std::env::temp_dir().join(format!("hullfield-mutants-copy-{}", std::process::id()));
        let (tree, to) = (folder.join("tree"), folder.join("copy"));
        let put = |file: &str, text: &str| write(&tree.join(file), text.as_bytes()).unwrap();
        for file in ["Cargo.toml", "README.md", "src/lib.rs", "shaders/a.wgsl", "tests/old.rs", "target/x"] {
            put(file, file);
        }
        put(".gitignore", "/target\n");
        let git = Command::new("git").args(["init", "--quiet"]).current_dir(&tree).status().unwrap();
        assert!(git.success());
        let (sources, first) = copy(&tree, &to).unwrap();
        assert_eq!(sources.get("src/lib.rs"), Ok("src/lib.rs"));
        assert_eq!(sources.of_type(".wgsl").collect::<Vec<_>>(), [("shaders/a.wgsl", "shaders/a.wgsl")]);
        // Sources are written later, with their mutants.
        let is_there = |file: &str| to.join(file).exists();
        assert!(is_there("README.md") && is_there("tests/old.rs"));
        assert!(!is_there("src/lib.rs") && !is_there("target/x"));
        put("README.md", "other");
        assert_eq!(copy(&tree, &to).unwrap().1, first);
        std::fs::remove_file(tree.join("tests/old.rs")).unwrap();
        assert_ne!(copy(&tree, &to).unwrap().1, first);
        assert!(!is_there("tests/old.rs"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
