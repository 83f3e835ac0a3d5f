//! Mutants of WGSL: another constant, comparison or index.

use std::ops::Range;

use crate::lines::Lines;
use crate::mutant::{Kind, Mutant, name_all};
use crate::sources::Sources;

/// All mutants of the shaders, named.
pub(crate) fn list(sources: &Sources) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for (file, text) in sources.of_type(".wgsl") {
        mutants.extend(mutate(file, text));
    }
    name_all(&mut mutants, |file| sources.get(file).unwrap_or_default());
    mutants
}

/// The text of a file with a mutant.
pub(crate) fn mutated(mutant: &Mutant, text: &str) -> String {
    [&text[..mutant.range.start], &mutant.replacement, &text[mutant.range.end..]].concat()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    Word,
    Number,
    Symbol,
}

#[derive(Debug, Clone)]
struct Token {
    kind: TokenKind,
    range: Range<usize>,
}

/// Symbols of more than one character. Those that begin with `>` may be the ends of templates.
const SYMBOLS: [&str; 22] = [
    "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "->", "+=", "-=", "*=", "/=", "%=", "&=",
    "|=", "^=", "++", "--", "::",
];

/// The tokens of a text, without comments.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = |is_part: fn(char) -> bool| rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let mut kind = None;
        let step = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first.is_whitespace() {
            first.len_utf8()
        } else if first.is_alphabetic() || first == '_' {
            kind = Some(TokenKind::Word);
            length(|c| c.is_alphanumeric() || c == '_')
        } else if first.is_ascii_digit()
            || first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())
        {
            kind = Some(TokenKind::Number);
            number_length(rest)
        } else {
            kind = Some(TokenKind::Symbol);
            SYMBOLS
                .iter()
                .find(|symbol| rest.starts_with(**symbol))
                .map_or(first.len_utf8(), |symbol| symbol.len())
        };
        tokens.extend(kind.map(|kind| Token { kind, range: at..at + step }));
        at += step;
    }
    tokens
}

/// The length of the number that a text begins with.
fn number_length(text: &str) -> usize {
    let is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let mut before = ' ';
    let end = text.find(|c: char| {
        let is_exponent =
            if is_hexadecimal { matches!(before, 'p' | 'P') } else { matches!(before, 'e' | 'E') };
        let is_part = c.is_alphanumeric() || c == '.' || is_exponent && matches!(c, '+' | '-');
        before = c;
        !is_part
    });
    end.unwrap_or(text.len())
}

/// Another number in place of one; none where it has a form that shaders here don't use.
fn other_number(text: &str) -> Option<String> {
    let is_hexadecimal = text.starts_with("0x");
    let digits = text.trim_end_matches(['u', 'i']);
    let suffix = &text[digits.len()..];
    if is_hexadecimal {
        let value = u32::from_str_radix(digits.strip_prefix("0x")?, 16).ok()?;
        return Some(format!("{:#x}{suffix}", value.checked_add(1).unwrap_or_else(|| value - 1)));
    }
    if let Ok(value) = digits.parse::<u32>() {
        return Some(format!("{}{suffix}", value.checked_add(1).unwrap_or_else(|| value - 1)));
    }
    let digits = text.trim_end_matches(['f', 'h']);
    let value: f64 = digits.parse().ok()?;
    // Twice the largest number is none.
    let other = if value == 0.0 {
        1.0
    } else if value > 1e38 {
        value / 2.0
    } else {
        value * 2.0
    };
    Some(format!("{other:?}{}", &text[digits.len()..]))
}

/// What a comparison is replaced by.
fn other_comparisons(symbol: &str) -> &'static [&'static str] {
    match symbol {
        "<" => &["<=", ">="],
        "<=" => &["<", ">"],
        ">" => &[">=", "<="],
        ">=" => &[">", "<"],
        "==" => &["!="],
        "!=" => &["=="],
        _ => &[],
    }
}

/// Whether a word before `<` has a template.
fn has_template(word: &str) -> bool {
    let is_counted = ["vec", "mat"].iter().any(|name| {
        word.strip_prefix(name).is_some_and(|rest| rest.starts_with(|c: char| ('2'..='4').contains(&c)))
    });
    is_counted
        || matches!(word, "array" | "atomic" | "ptr" | "bitcast" | "var")
        || word.starts_with("texture_")
}

/// Reads the tokens of a file and makes its mutants.
#[derive(Debug)]
struct Mutator<'a> {
    file: &'a str,
    text: &'a str,
    lines: Lines,
    /// The functions: name and range.
    functions: Vec<(String, Range<usize>)>,
    mutants: Vec<Mutant>,
}

/// The mutants of a file.
fn mutate(file: &str, text: &str) -> Vec<Mutant> {
    let tokens = tokens(text);
    let functions = functions(text, &tokens);
    let mut mutator = Mutator { file, text, lines: Lines::new(text), functions, mutants: Vec::new() };
    mutator.read(&tokens);
    mutator.mutants
}

/// The functions of a file: name, and the bytes from it to the end of its body.
fn functions(text: &str, tokens: &[Token]) -> Vec<(String, Range<usize>)> {
    let mut functions = Vec::new();
    for (index, pair) in tokens.windows(2).enumerate() {
        if &text[pair[0].range.clone()] != "fn" {
            continue;
        }
        let mut depth = 0;
        let end = tokens[index..].iter().find(|token| {
            match &text[token.range.clone()] {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => return false,
            }
            depth == 0
        });
        let end = end.map_or(text.len(), |token| token.range.end);
        functions.push((text[pair[1].range.clone()].to_owned(), pair[0].range.start..end));
    }
    functions
}

impl Mutator<'_> {
    fn read(&mut self, tokens: &[Token]) {
        let text = self.text;
        let word = |index: usize| tokens.get(index).map_or("", |token| &text[token.range.clone()]);
        // How many templates are open, and the parentheses of an attribute.
        let (mut templates, mut attribute) = (0_usize, 0_usize);
        for (index, token) in tokens.iter().enumerate() {
            let symbol = word(index);
            let before = index.checked_sub(1).map_or("", word);
            if attribute > 0 || symbol == "(" && index > 1 && word(index - 2) == "@" {
                match symbol {
                    "(" => attribute += 1,
                    ")" => attribute -= 1,
                    _ => {}
                }
                continue;
            }
            match token.kind {
                TokenKind::Number => {
                    if let Some(other) = other_number(symbol) {
                        self.add(Kind::Constant, token.range.clone(), other);
                    }
                }
                TokenKind::Symbol if symbol == "<" && has_template(before) => templates += 1,
                TokenKind::Symbol if templates > 0 && matches!(symbol, ">" | ">>" | ">=" | ">>=") => {
                    templates = templates.saturating_sub(symbol.matches('>').count());
                }
                TokenKind::Symbol if symbol == "[" => self.add_index(tokens, index),
                TokenKind::Symbol => {
                    for other in other_comparisons(symbol) {
                        self.add(Kind::Comparison, token.range.clone(), (*other).to_owned());
                    }
                }
                TokenKind::Word => {}
            }
        }
    }

    /// Adds the mutants of the index whose bracket is the token `open`. A number has mutants of its own.
    fn add_index(&mut self, tokens: &[Token], open: usize) {
        let text = self.text;
        let mut depth = 0;
        let close = tokens[open..].iter().position(|token| {
            match &text[token.range.clone()] {
                "[" => depth += 1,
                "]" => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some(count) = close.filter(|&count| count > 1) else { return };
        let inside = &tokens[open + 1..open + count];
        if inside.len() == 1 && inside[0].kind == TokenKind::Number {
            return;
        }
        let range = inside[0].range.start..inside[count - 2].range.end;
        let index = &text[range.clone()];
        let next = if inside.len() == 1 { format!("{index} + 1") } else { format!("({index}) + 1") };
        self.add(Kind::Index, range.clone(), next);
        self.add(Kind::Index, range, "0".into());
    }

    fn add(&mut self, kind: Kind, range: Range<usize>, replacement: String) {
        let line = self.lines.line(range.start);
        let function = self.functions.iter().find(|(_, body)| body.contains(&range.start));
        let what = format!("replace {} with {replacement}", &self.text[range.clone()]);
        self.mutants.push(Mutant {
            file: self.file.to_owned(),
            line,
            function: function.map(|(name, _)| name.clone()).unwrap_or_default(),
            lines: function
                .map_or((line, line), |(_, body)| (self.lines.line(body.start), self.lines.line(body.end))),
            what,
            range,
            replacement,
            kind,
            key: String::new(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mutants of a text, each as the whole text.
    fn mutants(text: &str, kind: Kind) -> Vec<String> {
        let mutants = mutate("a.wgsl", text);
        mutants.iter().filter(|mutant| mutant.kind == kind).map(|mutant| mutated(mutant, text)).collect()
    }

    #[test]
    fn constants_change() {
        let change = |text: &str| mutants(text, Kind::Constant).join(" ");
        for (old, new) in [
            ("0", "1"),
            ("32u", "33u"),
            ("-7i", "-8i"),
            ("0xffu", "0x100u"),
            ("0xffffffffu", "0xfffffffeu"),
            ("0.0", "1.0"),
            ("0.5", "1.0"),
            ("1e-5", "2e-5"),
            ("3.0e+2f", "600.0f"),
            ("3e38", "1.5e38"),
            (".5", "1.0"),
        ] {
            assert_eq!(change(old), new);
        }
        assert_eq!(change("vec3f x1 0x1p-3"), "");
    }

    #[test]
    fn comments_and_attributes_do_not_change() {
        let text = "// a < 1\n/* b[i] == 2 */ @compute @workgroup_size(64, 1) @group(0) fn f() {}";
        assert_eq!(mutate("a.wgsl", text), []);
    }

    #[test]
    fn comparisons_change_and_templates_do_not() {
        let text = "var<storage, read> a: array<vec2<u32>>; let b = vec3<u32>(c) < d << 1;";
        assert_eq!(
            mutants(text, Kind::Comparison),
            ["<=", ">="].map(|other| text.replace(") < d", &format!(") {other} d")))
        );
        assert_eq!(mutants("a == b", Kind::Comparison), ["a != b"]);
        assert_eq!(mutants("bitcast<u32>(a) >= b >> c", Kind::Comparison).len(), 2);
        assert_eq!(mutants("a >>= b; c -> d", Kind::Comparison).len(), 0);
    }

    #[test]
    fn indices_change() {
        assert_eq!(mutants("a[i] + b", Kind::Index), ["a[i + 1] + b", "a[0] + b"]);
        assert_eq!(
            mutants("a[b[i] >> 1]", Kind::Index),
            ["a[(b[i] >> 1) + 1]", "a[0]", "a[b[i + 1] >> 1]", "a[b[0] >> 1]"]
        );
        assert_eq!(mutants("a[1]", Kind::Index), [""; 0]);
        assert_eq!(mutants("a[1]", Kind::Constant), ["a[2]"]);
    }

    #[test]
    fn a_mutant_knows_its_function_and_line() {
        let text = "const A = 1;\nfn f(a: u32) {\n    if a {\n    }\n    g(2);\n}\n";
        let mutants = mutate("a.wgsl", text);
        let [first, second] = &mutants[..] else { panic!("{mutants:?}") };
        assert_eq!((first.function.as_str(), first.line), ("", 1));
        assert_eq!((second.function.as_str(), second.line, second.lines), ("f", 5, (2, 6)));
        assert_eq!(second.diff(text), "- g(2);\n+ g(3);");
    }
}
