//! The synopsis of README.md names the same flags as the help of each subcommand.

use std::collections::{BTreeMap, BTreeSet};

use super::Folder;

/// The flags in a text: what begins with two dashes.
fn flags(text: &str) -> BTreeSet<String> {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    text.split(|c| !is_of_word(c))
        .filter(|word| {
            word.strip_prefix("--").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
        })
        .map(str::to_owned)
        .collect()
}

/// The flags of each subcommand in README.md.
fn synopsis() -> BTreeMap<String, BTreeSet<String>> {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
    let block = readme.split("\n## The program\n").nth(1).and_then(|text| text.split("```").nth(1)).unwrap();
    let mut of: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut command = String::new();
    for line in block.lines().skip(1) {
        if let Some(rest) = line.strip_prefix("hullfield ") {
            command = rest.split_whitespace().next().unwrap().to_owned();
        }
        of.entry(command.clone()).or_default().extend(flags(line));
    }
    of
}

/// Those that several subcommands have, which the text below the synopsis explains.
const COMMON: [&str; 4] = ["--json", "--backend", "--memory-limit", "--help"];

#[test]
fn the_readme_names_every_flag_and_no_other() {
    let folder = Folder::new();
    let synopsis = synopsis();
    let commands = folder.run("--help").good();
    let listed = commands.split("Commands:").nth(1).unwrap().lines().skip(1);
    let names: Vec<&str> = listed
        .take_while(|line| line.starts_with("  "))
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|&name| name != "help")
        .collect();
    assert!(names.contains(&"flow") && names.contains(&"man"), "{commands}");
    for name in &names {
        // In the list of options each flag begins a line.
        let help = folder.run(&format!("{name} -h")).good();
        let options = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        let has: BTreeSet<String> = options
            .filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")))
            .map(str::to_owned)
            .collect();
        let common = |flag: &&String| !COMMON.contains(&flag.as_str());
        let told = synopsis.get(*name).unwrap_or_else(|| panic!("README.md has no synopsis of {name}"));
        let missing: Vec<_> = has.difference(told).filter(common).collect();
        let unknown: Vec<_> = told.difference(&has).collect();
        assert!(
            missing.is_empty() && unknown.is_empty(),
            "{name}: README.md lacks {missing:?}, and has {unknown:?}"
        );
    }
    assert_eq!(synopsis.len(), names.len());
}
