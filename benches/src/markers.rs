//! `hullfield-bench write-tables`: writes tables of a report between their markers in Markdown files.
//!
//! A table stands between the lines `<!-- bench: NAME -->` and `<!-- /bench -->`. `NAME` is the table's name in JSON; words after it, separated
//! by `|`, name the columns that are shown.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use crate::report;

const END: &str = "<!-- /bench -->";

#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// The report, as JSON.
    report: PathBuf,
    /// The files with markers.
    #[arg(default_values = ["README.md", "benches/README.md"])]
    files: Vec<PathBuf>,
    /// Changes nothing, and fails where a table is not the report's.
    #[arg(long)]
    check: bool,
}

/// Writes the tables. With `--check` returns false where a file would change.
///
/// # Errors
/// A file that cannot be read or written, a marker without its end, or a table that the report does not have.
pub(crate) fn run(options: &Options) -> Result<bool, String> {
    let read = |path: &PathBuf| {
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let report: Value = serde_json::from_str(&read(&options.report)?)
        .map_err(|error| format!("{} is not JSON: {error}", options.report.display()))?;
    let mut is_same = true;
    // All files are made before the first one is written.
    let mut written = Vec::new();
    for path in &options.files {
        let text = read(path)?;
        let (new, count) =
            replaced(&text, &report).map_err(|error| format!("{}: {error}", path.display()))?;
        report::say(format_args!(
            "{}: {count} tables{}\n",
            path.display(),
            if new == text { ", as they were" } else { "" }
        ));
        is_same &= new == text;
        written.push((path, new));
    }
    if !options.check {
        for (path, text) in written {
            report::write(path, &text)?;
        }
    }
    Ok(is_same || !options.check)
}

/// The text with new tables, and how many there are.
fn replaced(text: &str, report: &Value) -> Result<(String, usize), String> {
    let (mut new, mut count, mut lines) = (String::new(), 0, text.lines().enumerate());
    while let Some((number, line)) = lines.next() {
        new += line;
        new.push('\n');
        let Some(words) = line.trim().strip_prefix("<!-- bench:").and_then(|rest| rest.strip_suffix("-->"))
        else {
            continue;
        };
        let name = words.split('|').next().unwrap_or_default().trim();
        let columns: Vec<&str> = words.split('|').skip(1).map(str::trim).collect();
        let table = report["tables"].as_array().into_iter().flatten().find(|table| table["name"] == name);
        let table =
            table.ok_or_else(|| format!("line {}: the report has no table \"{name}\"", number + 1))?;
        new += &markdown(table, &columns).map_err(|error| format!("line {}: {error}", number + 1))?;
        new += &machine(report);
        if !lines.any(|(_, line)| line.trim() == END) {
            return Err(format!("line {}: the marker has no end: {END}", number + 1));
        }
        new += END;
        new.push('\n');
        count += 1;
    }
    Ok((new, count))
}

/// What the report was measured on.
fn machine(report: &Value) -> String {
    let fact = |name: &str| report["header"][name].as_str().unwrap_or("unknown").to_owned();
    let day = fact("date").chars().take(10).collect::<String>();
    let compiler = fact("compiler").split(' ').take(2).collect::<Vec<_>>().join(" ");
    format!("- {}, {} cores, {compiler}, {}, {day}\n", fact("cpu"), fact("cores"), fact("profile"))
}

/// A table in Markdown, with its title, its notes and the command that makes it.
fn markdown(table: &Value, columns: &[&str]) -> Result<String, String> {
    let shown =
        table["shown"].as_array().ok_or("the report is of another version: its tables have no text")?;
    let names: Vec<&str> =
        shown.first().and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let index = |column: &&str| {
        names
            .iter()
            .position(|name| name == column)
            .ok_or_else(|| format!("the table has no column \"{column}\"; it has {}", names.join(", ")))
    };
    let indices: Vec<usize> = if columns.is_empty() {
        (0..names.len()).collect()
    } else {
        columns.iter().map(index).collect::<Result<_, _>>()?
    };
    let mut text = format!("{}.\n\n", table["title"].as_str().unwrap_or_default().trim_end_matches('.'));
    for (at, row) in shown.iter().filter_map(Value::as_array).enumerate() {
        let cell =
            |&index: &usize| row.get(index).and_then(Value::as_str).unwrap_or_default().replace('|', "\\|");
        text += &format!("| {} |\n", indices.iter().map(cell).collect::<Vec<_>>().join(" | "));
        if at == 0 {
            text += &format!("|{}\n", "---|".repeat(indices.len()));
        }
    }
    text.push('\n');
    for note in table["notes"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        text += &format!("- {note}\n");
    }
    if let Some(command) = table["command"].as_str() {
        text += &format!("- `{command}`\n");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report() -> Value {
        let header = json!({"cpu": "A CPU", "cores": "2", "compiler": "rustc 1.95.0 (x)", "profile": "release", "date": "2026-01-02 03:04"});
        json!({"header": header, "tables": [{
            "name": "growth",
            "title": "Growth",
            "shown": [["of", "exponent"], ["pairs | x", "1.02"]],
            "notes": ["A note."],
            "command": "hullfield-bench all",
        }]})
    }

    #[test]
    fn a_table_takes_the_place_of_the_old_one() {
        let text = "# Speed\n\n<!-- bench: growth -->\nold\n<!-- /bench -->\n\nAfter.\n";
        let (new, count) = replaced(text, &report()).unwrap();
        let table = "Growth.\n\n| of | exponent |\n|---|---|\n| pairs \\| x | 1.02 |\n\n- A note.\n- `hullfield-bench all`\n- A CPU, 2 cores, rustc 1.95.0, release, 2026-01-02\n";
        assert_eq!(new, format!("# Speed\n\n<!-- bench: growth -->\n{table}<!-- /bench -->\n\nAfter.\n"));
        assert_eq!(count, 1);
        // Once more changes nothing.
        assert_eq!(replaced(&new, &report()).unwrap().0, new);
    }

    #[test]
    fn a_marker_may_choose_columns() {
        let text = "<!-- bench: growth | exponent -->\n<!-- /bench -->\n";
        assert!(replaced(text, &report()).unwrap().0.contains("| exponent |\n|---|\n| 1.02 |\n"));
        let wrong = "<!-- bench: growth | slope -->\n<!-- /bench -->\n";
        assert_eq!(
            replaced(wrong, &report()).unwrap_err(),
            "line 1: the table has no column \"slope\"; it has of, exponent"
        );
    }

    #[test]
    fn a_broken_marker_is_named() {
        assert_eq!(
            replaced("\n<!-- bench: growth -->\n", &report()).unwrap_err(),
            "line 2: the marker has no end: <!-- /bench -->"
        );
        assert_eq!(
            replaced("<!-- bench: nothing -->\n<!-- /bench -->\n", &report()).unwrap_err(),
            "line 1: the report has no table \"nothing\""
        );
    }
}
