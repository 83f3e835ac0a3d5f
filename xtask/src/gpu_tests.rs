//! Lists the tests that need a GPU adapter. It reads the sources, because the test harness does not know.
//!
//! A test needs an adapter if it, or a function that it calls, calls `gpu()` or another helper of `src/testing.rs` that opens an engine, or
//! reads `HULLFIELD_REQUIRE_GPU`. Called functions are searched in the test's file and in the files of its program without tests.
//! Functions are identified by name only, so a test too many may be listed. [`crate::test`] checks that each listed test has
//! run.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// The packages with such tests, as folders of the workspace.
const PACKAGES: [&str; 2] = ["", "cli"];

/// The functions that open an adapter.
const HELPERS: [&str; 4] = ["gpu", "gpu_of_bindings", "gpu_with", "own_gpu"];

/// The variable that the program's tests read instead.
const VARIABLE: &str = "HULLFIELD_REQUIRE_GPU";

/// A test program, as `cargo test` names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Program {
    /// `--lib`.
    Library,
    /// `--bins`.
    Binaries,
    /// `--test NAME`.
    Test(String),
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Library => f.write_str("--lib"),
            Self::Binaries => f.write_str("--bins"),
            Self::Test(name) => write!(f, "--test {name}"),
        }
    }
}

/// A test that needs an adapter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GpuTest {
    pub(crate) program: Program,
    /// The name in the test harness, with modules.
    pub(crate) name: String,
    /// Whether it runs only with `--all`.
    pub(crate) is_long: bool,
}

/// The tests of the workspace in `root` that need an adapter, sorted.
///
/// # Errors
/// A source that cannot be read.
pub(crate) fn all(root: &Path) -> Result<Vec<GpuTest>, String> {
    let mut found = BTreeSet::new();
    for package in PACKAGES {
        let folder = root.join(package);
        let mut programs = vec![
            (Program::Library, folder.join("src/lib.rs")),
            (Program::Binaries, folder.join("src/main.rs")),
        ];
        for entry in std::fs::read_dir(folder.join("tests")).into_iter().flatten().flatten() {
            let path = entry.path();
            let Some(stem) = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()) else {
                continue;
            };
            if path.is_dir() {
                programs.push((Program::Test(stem), path.join("main.rs")));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                programs.push((Program::Test(stem), path));
            }
        }
        for (program, file) in programs.into_iter().filter(|(_, file)| file.is_file()) {
            let mut sources = Vec::new();
            read(&file, &[], true, &mut sources)?;
            let (own, mut shared): (Vec<&Source>, Vec<&Source>) =
                sources.iter().partition(|source| source.functions.iter().any(|function| function.is_test));
            if matches!(program, Program::Library) {
                // A library repeats names, so only functions of the same file count.
                shared.clear();
            }
            for source in own {
                let tests = tests_that_need_gpu(&[&[source], &shared[..]].concat());
                found.extend(tests.into_iter().map(|(name, is_long)| GpuTest {
                    program: program.clone(),
                    name,
                    is_long,
                }));
            }
        }
    }
    Ok(found.into_iter().collect())
}

/// A word, a punctuation mark or the text of a string.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Mark(char),
}

impl Token {
    fn is(&self, mark: char) -> bool {
        *self == Token::Mark(mark)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self, Token::Word(own) if own == word)
    }
}

#[derive(Debug, Default, PartialEq)]
struct Function {
    /// The modules and the name.
    path: String,
    name: String,
    is_test: bool,
    is_ignored: bool,
    calls: BTreeSet<String>,
    /// Whether it opens an adapter itself.
    opens_gpu: bool,
}

/// A file's functions, and its modules in other files.
#[derive(Debug, Default, PartialEq)]
struct Source {
    functions: Vec<Function>,
    /// Each module's parents, its name, and the path of its `#[path]` attribute.
    modules: Vec<(Vec<String>, String, Option<String>)>,
}

/// The tests that open an adapter, directly or through calls, and whether they are long.
fn tests_that_need_gpu(sources: &[&Source]) -> Vec<(String, bool)> {
    let functions = || sources.iter().flat_map(|source| &source.functions);
    let mut opening: BTreeSet<&str> =
        functions().filter(|function| function.opens_gpu).map(|function| function.name.as_str()).collect();
    loop {
        let before = opening.len();
        let calls = |function: &&Function| function.calls.iter().any(|name| opening.contains(name.as_str()));
        let more: Vec<&str> = functions().filter(calls).map(|function| function.name.as_str()).collect();
        opening.extend(more);
        if opening.len() == before {
            break;
        }
    }
    let is_gpu_test = |function: &&Function| {
        function.is_test
            && (function.opens_gpu || function.calls.iter().any(|name| opening.contains(name.as_str())))
    };
    functions().filter(is_gpu_test).map(|function| (function.path.clone(), function.is_ignored)).collect()
}

/// Reads a file and its modules. The modules of a root or a `mod.rs` are in its folder, those of another file in the folder of
/// its name.
fn read(file: &Path, around: &[String], is_root: bool, sources: &mut Vec<Source>) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let source = parse(&tokens(&text), around);
    let beside = file.parent().map(PathBuf::from).unwrap_or_default();
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = if is_root || stem == "mod" { beside.clone() } else { beside.join(stem) };
    let modules: Vec<_> = source.modules.clone();
    sources.push(source);
    for (outer, name, path) in modules {
        let inner = outer[around.len()..].iter().fold(folder.clone(), |folder, name| folder.join(name));
        let candidates = match path {
            Some(path) => vec![beside.join(path)],
            None => vec![inner.join(format!("{name}.rs")), inner.join(&name).join("mod.rs")],
        };
        if let Some(file) = candidates.iter().find(|file| file.is_file()) {
            read(file, &[outer, vec![name]].concat(), false, sources)?;
        }
    }
    Ok(())
}

fn parse(tokens: &[Token], around: &[String]) -> Source {
    let mut source = Source::default();
    // For each open brace the name of its module; none for other braces.
    let mut braces: Vec<Option<String>> = Vec::new();
    let (mut is_test, mut is_ignored, mut path) = (false, false, None);
    let mut at = 0;
    while at < tokens.len() {
        let modules =
            || -> Vec<String> { around.iter().cloned().chain(braces.iter().flatten().cloned()).collect() };
        match &tokens[at..] {
            [hash, open, word, close, ..]
                if hash.is('#') && open.is('[') && word.is_word("test") && close.is(']') =>
            {
                is_test = true;
                at += 4;
            }
            [hash, open, word, ..] if hash.is('#') && open.is('[') && word.is_word("ignore") => {
                is_ignored = true;
                at += 3;
            }
            [hash, open, word, equals, Token::Text(text), ..]
                if hash.is('#') && open.is('[') && word.is_word("path") && equals.is('=') =>
            {
                path = Some(text.clone());
                at += 5;
            }
            [word, Token::Word(name), after, ..] if word.is_word("mod") && after.is(';') => {
                source.modules.push((modules(), name.clone(), path.take()));
                at += 3;
            }
            [word, Token::Word(name), after, ..] if word.is_word("mod") && after.is('{') => {
                braces.push(Some(name.clone()));
                at += 3;
            }
            [word, Token::Word(name), ..] if word.is_word("fn") => {
                let body = body_range(tokens, at + 2);
                let path = modules().iter().map(|module| format!("{module}::")).collect::<String>() + name;
                let mut function =
                    Function { path, name: name.clone(), is_test, is_ignored, ..Function::default() };
                record_calls(&tokens[body.clone()], &mut function);
                source.functions.push(function);
                (is_test, is_ignored) = (false, false);
                at = body.end;
            }
            [brace, ..] if brace.is('{') => {
                braces.push(None);
                at += 1;
            }
            [brace, ..] if brace.is('}') => {
                braces.pop();
                at += 1;
            }
            _ => at += 1,
        }
    }
    source
}

/// The range of a function's body with its braces; empty without a body.
fn body_range(tokens: &[Token], from: usize) -> std::ops::Range<usize> {
    let mut depth = 0;
    let mut begin = from;
    while let Some(token) = tokens.get(begin) {
        match token {
            Token::Mark('(' | '[') => depth += 1,
            Token::Mark(')' | ']') => depth -= 1,
            Token::Mark(';') if depth == 0 => return begin..begin,
            Token::Mark('{') if depth == 0 => break,
            _ => {}
        }
        begin += 1;
    }
    let mut end = begin;
    let mut open = 0;
    while let Some(token) = tokens.get(end) {
        end += 1;
        match token {
            Token::Mark('{') => open += 1,
            Token::Mark('}') => open -= 1,
            _ => {}
        }
        if open == 0 {
            break;
        }
    }
    begin..end
}

/// Records the functions that a body calls.
fn record_calls(body: &[Token], function: &mut Function) {
    for (at, token) in body.iter().enumerate() {
        match token {
            Token::Text(text) => function.opens_gpu |= text == VARIABLE,
            Token::Word(word) if body.get(at + 1).is_some_and(|next| next.is('(')) => {
                // `Engine::gpu` is the library's constructor, not the tests' helper.
                let is_constructor = at >= 3 && body[at - 1].is(':') && body[at - 3].is_word("Engine");
                if HELPERS.contains(&word.as_str()) {
                    function.opens_gpu |= !is_constructor;
                } else {
                    function.calls.insert(word.clone());
                }
            }
            _ => {}
        }
    }
}

/// The tokens of Rust source, without comments.
fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let is_word = |c: &char| c.is_alphanumeric() || *c == '_';
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        match chars[at..] {
            ['/', '/', ..] => at += chars[at..].iter().take_while(|&&c| c != '\n').count(),
            ['/', '*', ..] => {
                let mut depth = 0;
                while at < chars.len() {
                    match chars[at..] {
                        ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
                        ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
                        _ => at += 1,
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
            ['"', ..] => {
                let mut text = String::new();
                at += 1;
                while let Some(&c) = chars.get(at) {
                    at += 1;
                    match c {
                        '"' => break,
                        '\\' => at += 1,
                        c => text.push(c),
                    }
                }
                tokens.push(Token::Text(text));
            }
            ['r', '"' | '#', ..] => {
                let hashes = chars[at + 1..].iter().take_while(|&&c| c == '#').count();
                let from = at + 2 + hashes;
                if chars.get(from - 1) == Some(&'"') {
                    let ends = |end: &usize| {
                        chars[*end] == '"'
                            && chars[end + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes
                    };
                    let end = (from..chars.len()).find(ends).unwrap_or(chars.len());
                    tokens.push(Token::Text(chars[from..end].iter().collect()));
                    at = end + 1 + hashes;
                } else {
                    // A raw identifier.
                    at += 2;
                }
            }
            // A character, not a lifetime.
            ['\'', '\\', ..] => at += 3 + chars[at + 3..].iter().take_while(|&&c| c != '\'').count() + 1,
            ['\'', _, '\'', ..] => at += 3,
            [c, ..] if is_word(&c) => {
                let word: String = chars[at..].iter().take_while(|c| is_word(c)).collect();
                at += word.chars().count();
                tokens.push(Token::Word(word));
            }
            [c, ..] => {
                if !c.is_whitespace() {
                    tokens.push(Token::Mark(c));
                }
                at += 1;
            }
            [] => {}
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        tests_that_need_gpu(&[&parse(&tokens(text), &["outer".to_string()])])
            .into_iter()
            .map(|(name, is_long)| name + if is_long { " (long)" } else { "" })
            .collect()
    }

    #[test]
    fn tests_that_open_an_adapter_directly_or_through_calls_are_found() {
        let text = r##"
            fn engines() -> [Engine; 2] { both(common::gpu()) }
            fn crowd(count: usize) -> Vec<Body>;
            #[test]
            #[should_panic(expected = "}")]
            fn asks() { let Some(gpu) = common::gpu() else { return }; }
            #[test]
            fn asks_through_another() { for engine in engines() { let c = '"'; } }
            #[test]
            fn does_not_ask() { /* gpu() { */ let text = r#"gpu() { " } "#; Engine::gpu(); crowd(1); } // gpu()
            mod inner {
                #[test]
                #[ignore = "long"]
                fn asks<'a>() where [u8; 2]: Sized { if true { gpu(); } }
            }
            fn backend() -> &'static str { std::env::var("HULLFIELD_REQUIRE_GPU") }
            #[test]
            fn looks() { assert_eq!(backend(), "\"") }
        "##;
        let expected = ["asks", "asks_through_another", "inner::asks (long)", "looks"];
        assert_eq!(names(text), expected.map(|name| format!("outer::{name}")));
    }

    /// Tests of each kind. If the helper's name or place changes, this program must change too.
    #[test]
    fn the_gpu_tests_of_the_workspace_are_found() {
        let found = all(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))).unwrap();
        for (program, name) in [
            (Program::Library, "gpu::tests::scan_equals_the_host"),
            (Program::Test("collide".into()), "engines::candidates_are_equal_on_both_engines"),
            (Program::Test("collide".into()), "broad_phase::a_large_crowd_is_the_same_on_both_engines"),
            (Program::Test("collide".into()), "warm::drifting_crowds"),
            (Program::Test("collide".into()), "sweep_gpu::runs_repeat_and_counts_do_not_matter"),
        ] {
            let expected = GpuTest { program, name: name.into(), is_long: false };
            assert!(found.contains(&expected), "{expected:?} is not among {found:#?}");
        }
        assert!(!found.iter().any(|test| test.name == "adapters::auto_never_takes_a_software_rasteriser"));
    }
}
