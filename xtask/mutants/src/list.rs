//! The list of Rust mutants, which `cargo mutants` makes.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use crate::environment::cargo;
use crate::lines::Lines;
use crate::mutant::{Kind, Mutant, name_all};
use crate::sources::Sources;

/// A mutant as `cargo mutants --list --json` describes it.
#[derive(Debug, Deserialize)]
struct Listed {
    name: String,
    file: String,
    function: Option<Function>,
    span: Span,
    replacement: String,
    genre: String,
}

#[derive(Debug, Deserialize)]
struct Function {
    function_name: String,
    span: Span,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Span {
    start: Position,
    end: Position,
}

/// Line and column, in characters, from 1.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Position {
    line: usize,
    column: usize,
}

/// All mutants of the library in `tree`, named.
///
/// # Errors
/// `cargo mutants` is missing or fails, or its list is of another form.
pub(crate) fn list(tree: &Path, sources: &Sources) -> Result<Vec<Mutant>, String> {
    let output = cargo(tree)
        .args(["mutants", "--list", "--json", "--package", "hullfield", "--no-config", "--dir"])
        .arg(tree)
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo mutants: {message}\n`cargo install cargo-mutants` installs it"));
    }
    let listed: Vec<Listed> = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("the list of cargo mutants: {error}"))?;
    convert(listed, sources)
}

fn convert(listed: Vec<Listed>, sources: &Sources) -> Result<Vec<Mutant>, String> {
    let mut lines: HashMap<String, Lines> = HashMap::new();
    let mut mutants = Vec::new();
    for listed in listed {
        let text = sources.get(&listed.file)?;
        let lines = lines.entry(listed.file.clone()).or_insert_with(|| Lines::new(text));
        let kind = match listed.genre.as_str() {
            "FnValue" => Kind::Body,
            "BinaryOperator" => Kind::Binary,
            "UnaryOperator" => Kind::Unary,
            "MatchArm" => Kind::Arm,
            "MatchArmGuard" => Kind::Guard,
            "StructField" => Kind::Field,
            other => return Err(format!("cargo mutants made a mutant of the unknown genre {other}")),
        };
        let Span { start, end } = listed.span;
        let at = |position: Position| lines.offset(text, position.line, position.column);
        let what = listed.name.split_once(": ").map_or(listed.name.as_str(), |(_, what)| what).to_owned();
        let function = listed.function.as_ref();
        mutants.push(Mutant {
            range: at(start)..at(end),
            line: start.line,
            function: function.map(|function| function.function_name.clone()).unwrap_or_default(),
            lines: function.map_or((start.line, end.line), |function| {
                (function.span.start.line, function.span.end.line)
            }),
            what,
            file: listed.file,
            replacement: listed.replacement,
            kind,
            key: String::new(),
        });
    }
    name_all(&mut mutants, |file| sources.get(file).unwrap_or_default());
    Ok(mutants)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutant_of_the_list_is_read() {
        let text = "/// Ä.\nfn f(a: u32) -> bool {\n    /* ä */ a < 1\n}\n";
        let sources = Sources::of([("src/a.rs", text)]);
        let json = r#"[{
            "name": "src/a.rs:3:15: replace < with == in f", "package": "hullfield", "file": "src/a.rs",
            "function": {"function_name": "f", "return_type": "-> bool",
                "span": {"start": {"line": 1, "column": 1}, "end": {"line": 4, "column": 2}}},
            "span": {"start": {"line": 3, "column": 15}, "end": {"line": 3, "column": 16}},
            "replacement": "==", "genre": "BinaryOperator", "diff": ""
        }]"#;
        let mutants = convert(serde_json::from_str(json).unwrap(), &sources).unwrap();
        let [mutant] = &mutants[..] else { panic!("{mutants:?}") };
        assert_eq!(&text[mutant.range.clone()], "<");
        assert_eq!((mutant.kind, mutant.line, mutant.lines), (Kind::Binary, 3, (1, 4)));
        assert_eq!(mutant.what, "replace < with == in f");
        assert_eq!(mutant.key, "src/a.rs|f|/* ä */ a < 1|Binary|<|==|0");
    }
}
