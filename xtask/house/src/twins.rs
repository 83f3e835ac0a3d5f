//! The rule that each shader has a Rust file of its name, its twin, or says in its header why not.

use std::path::{Path, PathBuf};

/// The beginning of the header line that gives the reason.
const NO_TWIN: &str = "// No twin:";

/// The violations of the rule, a line each.
///
/// # Errors
/// A file that cannot be read.
pub(crate) fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut shaders = Vec::new();
    find_shaders(&root.join("shaders"), &mut shaders)?;
    shaders.sort();
    let mut violations = Vec::new();
    for shader in shaders {
        let relative = shader.strip_prefix(root.join("shaders")).unwrap_or(&shader);
        let twin = Path::new("src").join(relative).with_extension("rs");
        let text =
            std::fs::read_to_string(&shader).map_err(|error| format!("{}: {error}", shader.display()))?;
        let header = text.lines().take_while(|line| line.starts_with("//"));
        let mut reasons = header.filter_map(|line| line.strip_prefix(NO_TWIN)).map(str::trim);
        let name = Path::new("shaders").join(relative);
        match (root.join(&twin).is_file(), reasons.next()) {
            (true, None) => {}
            (false, Some(reason)) if !reason.is_empty() => {}
            (true, Some(_)) => {
                violations.push(format!(
                    "{}: says that it has no twin, but {} exists",
                    name.display(),
                    twin.display()
                ));
            }
            (false, _) => violations.push(format!(
                "{}: has no twin {}; name the Rust file so, or say why in the header: `{NO_TWIN} …`",
                name.display(),
                twin.display()
            )),
        }
    }
    Ok(violations)
}

fn find_shaders(folder: &Path, shaders: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
        if path.is_dir() {
            find_shaders(&path, shaders)?;
        } else if path.extension().is_some_and(|extension| extension == "wgsl") {
            shaders.push(path);
        }
    }
    Ok(())
}
