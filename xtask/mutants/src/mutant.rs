//! A mutant, and the order in which mutants are chosen.

use std::collections::HashMap;
use std::hash::Hasher as _;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

/// A change of a source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mutant {
    /// The file, relative to the workspace's root.
    pub(crate) file: String,
    /// The line, from 1.
    pub(crate) line: usize,
    /// The function that it is in; empty outside of functions.
    pub(crate) function: String,
    /// The first and last line of that function.
    pub(crate) lines: (usize, usize),
    /// What it does, in words.
    pub(crate) what: String,
    /// The bytes of the file that it replaces.
    pub(crate) range: Range<usize>,
    /// What stands there instead.
    pub(crate) replacement: String,
    pub(crate) kind: Kind,
    /// Its name in every version of the tree: see [`name_all`].
    pub(crate) key: String,
}

/// How a mutant is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// A function returns a value at once.
    Body,
    /// Another binary operator, also one that assigns.
    Binary,
    /// A unary operator is left out.
    Unary,
    /// An arm of a `match` is left out.
    Arm,
    /// The guard of an arm is true or false.
    Guard,
    /// A field of a structure with a base is left out.
    Field,
    /// Another constant in WGSL.
    Constant,
    /// Another comparison in WGSL.
    Comparison,
    /// Another index in WGSL.
    Index,
}

impl Kind {
    /// Whether the mutant is of a WGSL file.
    pub(crate) fn is_wgsl(self) -> bool {
        matches!(self, Self::Constant | Self::Comparison | Self::Index)
    }
}

/// Gives each mutant its key: file, function, line of text, what is replaced by what, and its number among those that are equal in all
/// this. Neither line numbers nor other functions are in it, so most keys outlive a change of the file. `text` returns a file's text.
pub(crate) fn name_all<'a>(mutants: &mut [Mutant], text: impl Fn(&str) -> &'a str) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for mutant in mutants {
        let text = text(&mutant.file);
        let line = text.lines().nth(mutant.line - 1).unwrap_or_default().trim();
        // The body of a function may be long, and a change of it leaves the mutant what it was.
        let (line, old) = match mutant.kind {
            Kind::Body => ("", ""),
            _ => (line, &text[mutant.range.clone()]),
        };
        let Mutant { file, function, kind, replacement, .. } = &mutant;
        let key = format!("{file}|{function}|{line}|{kind:?}|{old}|{replacement}");
        let count = seen.entry(key.clone()).or_default();
        mutant.key = format!("{key}|{count}");
        *count += 1;
    }
}

/// A hash that is equal in every version of this program.
pub(crate) fn hash(seed: u64, text: &str) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(seed, 0);
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// Puts mutants into the order of the sample: by a hash of the seed and the key. Those of each kind of WGSL take turns.
pub(crate) fn order(mutants: &mut [Mutant], seed: u64) {
    mutants.sort_by_cached_key(|mutant| hash(seed, &mutant.key));
    let mut counts: HashMap<Kind, usize> = HashMap::new();
    mutants.sort_by_cached_key(|mutant| {
        if !mutant.kind.is_wgsl() {
            return (0, 0);
        }
        let count = counts.entry(mutant.kind).or_default();
        *count += 1;
        (*count, mutant.kind as usize)
    });
}

impl Mutant {
    /// The change as a diff of its first line.
    pub(crate) fn diff(&self, text: &str) -> String {
        let start = text[..self.range.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[self.range.end..].find('\n').map_or(text.len(), |at| self.range.end + at);
        let first = |text: &str| match text.trim_end().split_once('\n') {
            Some((first, _)) => format!("{} …", first.trim()),
            None => text.trim().to_owned(),
        };
        if self.kind == Kind::Body {
            let lines = text.lines().skip(self.lines.0 - 1).map(str::trim);
            let mut lines = lines
                .skip_while(|line| line.starts_with("//") || line.starts_with('#') || !line.contains("fn "));
            let mut signature = lines.next().unwrap_or_default().to_owned();
            while let Some(line) = lines.next().filter(|_| !signature.contains('{')) {
                signature = format!("{signature} {line}");
            }
            let new = signature.split('{').next().unwrap_or_default().trim_end();
            return format!("- {signature}\n+ {new} {{ {} }}", self.replacement);
        }
        let new = [&text[start..self.range.start], &self.replacement, &text[self.range.end..end]].concat();
        format!("- {}\n+ {}", first(&text[start..end]), first(&new))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A mutant of the file `a` that replaces the first `old` of a text.
    pub(crate) fn mutant(text: &str, old: &str, replacement: &str, kind: Kind) -> Mutant {
        let start = text.find(old).unwrap();
        Mutant {
            file: "a".into(),
            line: text[..start].matches('\n').count() + 1,
            function: "f".into(),
            lines: (1, text.lines().count()),
            what: String::new(),
            range: start..start + old.len(),
            replacement: replacement.into(),
            kind,
            key: String::new(),
        }
    }

    #[test]
    fn keys_do_not_change_when_lines_are_added() {
        let (old, new) =
            ("fn f() {\n    a + b;\n}\n", "fn g() {}\n\nfn f() {\n    let c = 1;\n    a + b;\n}\n");
        let key = |text: &'static str| {
            let mut mutants = [mutant(text, "+", "-", Kind::Binary), mutant(text, "+", "-", Kind::Binary)];
            name_all(&mut mutants, |_| text);
            mutants.map(|mutant| mutant.key)
        };
        assert_eq!(key(old), key(new));
        assert_eq!(key(old), ["a|f|a + b;|Binary|+|-|0", "a|f|a + b;|Binary|+|-|1"]);
    }

    #[test]
    fn the_order_depends_on_the_seed_alone_and_kinds_of_wgsl_take_turns() {
        let text = "1 < a[2]";
        let kinds = [(Kind::Constant, "1"), (Kind::Comparison, "<"), (Kind::Index, "2")];
        let mut mutants: Vec<Mutant> =
            (0..30).map(|n| mutant(text, kinds[n % 3].1, &n.to_string(), kinds[n % 3].0)).collect();
        name_all(&mut mutants, |_| text);
        let ordered = |seed: u64, mutants: &[Mutant]| {
            let mut mutants = mutants.to_vec();
            order(&mut mutants, seed);
            mutants
        };
        let one = ordered(1, &mutants);
        mutants.reverse();
        assert_eq!(one, ordered(1, &mutants));
        assert_ne!(one, ordered(2, &mutants));
        for three in one.chunks(3) {
            let kinds: Vec<Kind> = three.iter().map(|mutant| mutant.kind).collect();
            assert_eq!(kinds, [Kind::Constant, Kind::Comparison, Kind::Index]);
        }
        // Fewer mutants of a longer list are the same as those of a shorter one.
        let mut fewer = one[..10].to_vec();
        order(&mut fewer, 1);
        assert_eq!(fewer, one[..10]);
    }

    #[test]
    fn a_hash_never_changes() {
        assert_eq!(hash(7, "a mutant"), 872_584_529_091_582_284);
    }

    #[test]
    fn a_diff_shows_the_first_line() {
        let text = "fn f() {\n    if a < b {\n    }\n}\n";
        assert_eq!(mutant(text, "<", ">", Kind::Binary).diff(text), "- if a < b {\n+ if a > b {");
        let text = "/// A fn of f.\n#[inline]\nfn f() {\n    if a < b {\n    }\n}\n";
        let body = mutant(text, "if a < b {\n    }", "return", Kind::Body);
        assert_eq!(body.diff(text), "- fn f() {\n+ fn f() { return }");
        let text = "fn f(\n    a: u32,\n) -> u32 {\n    a\n}\n";
        let body = Mutant { lines: (1, 5), ..mutant(text, "a\n}", "0", Kind::Body) };
        assert_eq!(body.diff(text), "- fn f( a: u32, ) -> u32 {\n+ fn f( a: u32, ) -> u32 { 0 }");
        let arms = "match a {\n    1 => {\n    }\n    _ => {}\n}";
        let arm = mutant(arms, "1 => {\n    }", "", Kind::Arm);
        assert_eq!(arm.diff(arms), "- 1 => { …\n+ ");
    }
}
