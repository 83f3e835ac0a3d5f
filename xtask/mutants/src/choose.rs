//! Chooses Rust mutants that compile, and writes the instrumented copy of the workspace.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use crate::environment::cargo;
use crate::guard::{Guarded, guard};
use crate::messages::{self, Diagnostic, Message, Span};
use crate::mutant::Mutant;
use crate::sources::{Sources, write};

/// The module that is added to the copy.
const SHIM: &str = include_str!("../shim/mutant.rs");

/// The choice of mutants so far, and the copy of the workspace that it is tried in.
#[derive(Debug)]
pub(crate) struct Choice<'a> {
    pub(crate) copy: &'a Path,
    pub(crate) build: &'a Path,
    pub(crate) sources: &'a Sources,
    /// In the order of the sample. A mutant's number is its place here.
    pub(crate) candidates: &'a [Mutant],
    /// Why a candidate is not used.
    pub(crate) refused: BTreeMap<usize, String>,
    /// The files with mutants, as they were written last.
    written: HashMap<String, String>,
}

impl<'a> Choice<'a> {
    pub(crate) fn new(
        copy: &'a Path,
        build: &'a Path,
        sources: &'a Sources,
        candidates: &'a [Mutant],
    ) -> Self {
        Self { copy, build, sources, candidates, refused: BTreeMap::new(), written: HashMap::new() }
    }

    /// Chooses the first `count` candidates that compile and that are part of the build, and writes the copy with them. Some more are tried,
    /// so that those that take the place of others need no further try.
    ///
    /// # Errors
    /// The copy does not compile, whatever mutants it has.
    pub(crate) fn choose(&mut self, count: usize) -> Result<Vec<usize>, String> {
        loop {
            let tried = self.write(count + count / 3 + 3)?;
            eprintln!("mutants: cargo check with {} of {} mutants", tried.len(), self.candidates.len());
            let mut command = cargo(self.copy);
            // Some code is there in tests only.
            command.args(["check", "--quiet", "--package", "hullfield", "--lib", "--profile", "test"]);
            command.args(["--features", "serde,tracing", "--target-dir"]).arg(self.build);
            let (messages, has_passed) = messages::run(&mut command)?;
            if !has_passed {
                self.refuse(&messages)?;
                eprintln!("mutants: {} cannot be used so far", self.refused.len());
                continue;
            }
            let compiled = self.compiled(&messages);
            let absent: Vec<usize> = tried.into_iter().filter(|number| !compiled.contains(number)).collect();
            if absent.is_empty() {
                return self.write(count);
            }
            for number in absent {
                self.refused.insert(number, "it is not part of this build".into());
            }
        }
    }

    /// Refuses the mutants that cause errors of the compiler.
    ///
    /// # Errors
    /// An error has nothing to do with a mutant.
    pub(crate) fn refuse(&mut self, messages: &[Message]) -> Result<(), String> {
        let before = self.refused.len();
        let mut unexplained = String::new();
        for message in messages {
            let Message::Compiler { message } = message else { continue };
            if !message.is_error() {
                continue;
            }
            let rendered = message.rendered.clone().unwrap_or_default();
            let culprits = self.culprits(message);
            if culprits.is_empty() && !message.spans.is_empty() {
                unexplained.push_str(&rendered);
            }
            let reason = rendered.lines().next().unwrap_or_default();
            for number in culprits {
                self.refused.entry(number).or_insert_with(|| format!("it does not compile: {reason}"));
            }
        }
        if self.refused.len() == before {
            return Err(format!("the instrumented copy does not compile\n{unexplained}"));
        }
        Ok(())
    }

    /// Writes `src`, `shaders` and the module of the mutants, with the first `count` candidates that are not refused. Returns these.
    fn write(&mut self, count: usize) -> Result<Vec<usize>, String> {
        loop {
            let numbers = (0..self.candidates.len()).filter(|number| !self.refused.contains_key(number));
            let numbers: Vec<usize> = numbers.take(count).collect();
            let before = self.refused.len();
            for (file, text) in self.sources.of_type(".rs") {
                let own = numbers.iter().filter(|&&number| self.candidates[number].file == file);
                let own: Vec<(usize, &Mutant)> =
                    own.map(|&number| (number, &self.candidates[number])).collect();
                let mut guarded = if own.is_empty() && !text.contains("fn wgsl_in(") {
                    Guarded { text: text.to_owned(), refused: Vec::new() }
                } else {
                    guard(text, &own).map_err(|error| format!("{file}: {error}"))?
                };
                if file == "src/lib.rs" {
                    guarded.text.push_str("\nmod mutant;\n");
                }
                self.refused.extend(guarded.refused.iter().map(|(number, why)| (*number, (*why).to_owned())));
                write(&self.copy.join(file), guarded.text.as_bytes())?;
                self.written.insert(file.to_owned(), guarded.text);
            }
            if self.refused.len() == before {
                self.write_shaders()?;
                return Ok(numbers);
            }
        }
    }

    /// Writes the shaders, which don't change, and the module of the mutants.
    fn write_shaders(&self) -> Result<(), String> {
        let composer = "crate::mutant::wgsl(";
        if !self.written.values().any(|text| text.contains(composer)) {
            return Err("the function `wgsl_in` composed a kernel's WGSL: what does now? See sites.rs".into());
        }
        let mut files = String::new();
        for (file, text) in self.sources.of_type(".wgsl") {
            write(&self.copy.join(file), text.as_bytes())?;
            files += &format!("    ({file:?}, include_str!({:?})),\n", format!("../{file}"));
        }
        let count = self.candidates.len();
        let shim = format!(
            "{SHIM}\n/// How many numbers mutants have.\nconst COUNT: usize = {count};\n\n\
             /// The shaders.\nconst FILES: &[(&str, &str)] = &[\n{files}];\n"
        );
        write(&self.copy.join("src/mutant.rs"), shim.as_bytes())
    }

    /// The mutants that are part of the build. The guards are deprecated, so the compiler warns of each that it sees.
    fn compiled(&self, messages: &[Message]) -> BTreeSet<usize> {
        let diagnostics = messages.iter().filter_map(|message| match message {
            Message::Compiler { message } => Some(message),
            _ => None,
        });
        let deprecated =
            diagnostics.filter(|message| message.code.as_ref().is_some_and(|code| code.code == "deprecated"));
        deprecated.flat_map(Diagnostic::places).filter_map(|span| self.guarded(span)).collect()
    }

    /// The number of the guard whose name is at `span`.
    fn guarded(&self, span: &Span) -> Option<usize> {
        let text = self.written.get(&span.file_name)?.get(span.byte_start..)?;
        let (name, rest) = text.split_once('(')?;
        let is_guard = name.ends_with("is_active") && !name.contains(char::is_whitespace);
        is_guard.then(|| rest.split_once(')')?.0.parse().ok()).flatten()
    }

    /// The mutants to blame for an error: the innermost one that it is in; else those that it is around; else those of the
    /// function that it is in.
    fn culprits(&self, error: &Diagnostic) -> BTreeSet<usize> {
        let places: Vec<_> = error
            .places()
            .into_iter()
            .filter_map(|span| Some((span, marks(self.written.get(&span.file_name)?))))
            .collect();
        for (span, marks) in &places {
            let around = marks.iter().filter(|mark| mark.1 <= span.byte_start && span.byte_end <= mark.2);
            if let Some(mark) = around.min_by_key(|mark| mark.2 - mark.1) {
                return [mark.0].into();
            }
        }
        for (span, marks) in &places {
            let within = marks.iter().filter(|mark| span.byte_start <= mark.1 && mark.2 <= span.byte_end);
            let within: BTreeSet<usize> = within.map(|mark| mark.0).collect();
            if !within.is_empty() {
                return within;
            }
        }
        let is_near = |number: usize| {
            let Mutant { file, lines, .. } = &self.candidates[number];
            places.iter().any(|(span, _)| {
                span.file_name == *file && lines.0 <= span.line_start && span.line_start <= lines.1
            })
        };
        let all = places.iter().flat_map(|(_, marks)| marks.iter().map(|mark| mark.0));
        all.filter(|&number| is_near(number)).collect()
    }
}

/// The marked parts of a text: number, begin, end.
fn marks(text: &str) -> Vec<(usize, usize, usize)> {
    let mut open = Vec::new();
    let mut marks = Vec::new();
    for (at, _) in text.match_indices("/*") {
        let Some((comment, _)) = text[at + 2..].split_once("*/") else { break };
        if let Some(number) = comment.strip_prefix('<').and_then(|number| number.parse::<usize>().ok()) {
            open.push((number, at));
        } else if let Some(number) = comment.strip_suffix('>').and_then(|number| number.parse::<usize>().ok())
            && let Some((_, start)) = open.pop()
        {
            marks.push((number, start, at + comment.len() + 4));
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutant::Kind;
    use crate::mutant::tests::mutant;

    const TEXT: &str = "fn f() { g(a + b * c); h() }";

    fn error(text: &str, part: &str) -> Message {
        let start = text.find(part).unwrap();
        let json = serde_json::json!({
            "reason": "compiler-message",
            "message": {"level": "error", "code": {"code": "E0308"}, "rendered": "error: no", "spans": [{
                "file_name": "a", "byte_start": start, "byte_end": start + part.len(), "line_start": 1,
                "is_primary": true, "expansion": null
            }]}
        });
        serde_json::from_value(json).unwrap()
    }

    /// The mutants that are refused for an error at a part of the guarded text.
    fn refused(part: &str) -> Result<Vec<usize>, String> {
        let candidates = [mutant(TEXT, "+", "-", Kind::Binary), mutant(TEXT, "*", "/", Kind::Binary)];
        let sources = Sources::default();
        let mut choice = Choice::new(Path::new(""), Path::new(""), &sources, &candidates);
        let text = guard(TEXT, &[(0, &candidates[0]), (1, &candidates[1])]).unwrap().text;
        choice.written.insert("a".into(), text.clone());
        choice.refuse(&[error(&text, part)])?;
        Ok(choice.refused.into_keys().collect())
    }

    #[test]
    fn an_error_is_blamed_on_the_mutant_that_it_is_in() {
        assert_eq!(refused("(b) / (c)"), Ok(vec![1]));
        assert_eq!(refused("- ("), Ok(vec![0]));
        // In neither, but in their function.
        assert_eq!(refused("h()"), Ok(vec![0, 1]));
    }

    #[test]
    fn the_number_of_a_guard_is_read_at_a_warning() {
        let sources = Sources::default();
        let mut choice = Choice::new(Path::new(""), Path::new(""), &sources, &[]);
        let text = "if crate::mutant::is_active(12) {";
        choice.written.insert("a".into(), text.into());
        let number = |part: &str| {
            let Message::Compiler { message } = error(text, part) else { panic!() };
            choice.guarded(&message.spans[0])
        };
        assert_eq!(number("is_active"), Some(12));
        assert_eq!(number("crate::mutant::is_active"), Some(12));
        assert_eq!(number("if"), None);
    }
}
