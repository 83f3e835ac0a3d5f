//! Rewrites a Rust file so that each of its mutants is active where `crate::mutant::is_active` says so. No line is added, so that
//! messages name the lines of the original.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::mutant::{Kind, Mutant};
use crate::sites::{Sites, contains};

/// A file with guarded mutants.
#[derive(Debug)]
pub(crate) struct Guarded {
    pub(crate) text: String,
    /// The mutants that cannot be guarded, and why.
    pub(crate) refused: Vec<(usize, &'static str)>,
}

/// A piece of the mutated expression.
#[derive(Debug)]
enum Piece {
    /// Of the original, with its own mutants.
    Source(Range<usize>),
    Text(String),
}

/// The number of a mutant, and the mutated expression.
type Branch = (usize, Vec<Piece>);

/// What is written to where.
#[derive(Debug, Default)]
struct Edits {
    /// Insertions, in order.
    inserted: Vec<(usize, String)>,
    /// Expressions, by start and end, with their mutants.
    replaced: BTreeMap<(usize, Reverse<usize>), Vec<Branch>>,
}

/// Guards mutants, each of a number, in the text of their file. The body of the function `wgsl_in` is guarded too.
///
/// # Errors
/// The text is not Rust.
pub(crate) fn guard(text: &str, mutants: &[(usize, &Mutant)]) -> Result<Guarded, String> {
    let sites = Sites::find(text).map_err(|error| error.to_string())?;
    let mut edits = Edits::default();
    if let Some(body) = &sites.composer {
        edits.inserted.push((body.start + 1, " crate::mutant::wgsl({".into()));
    }
    let mut refused = Vec::new();
    for &(number, mutant) in mutants {
        if let Err(reason) = edits.add(number, mutant, &sites) {
            refused.push((number, reason));
        }
    }
    if let Some(body) = &sites.composer {
        edits.inserted.push((body.end - 1, "}) ".into()));
    }
    Ok(Guarded { text: edits.render(text, 0..text.len(), None), refused })
}

fn is_active(number: usize) -> String {
    format!("crate::mutant::is_active({number})")
}

/// Text that belongs to a mutant: an error of the compiler within it is the mutant's.
fn marked(number: usize, text: &str) -> String {
    format!("/*<{number}*/{text}/*{number}>*/")
}

impl Edits {
    fn add(&mut self, number: usize, mutant: &Mutant, sites: &Sites) -> Result<(), &'static str> {
        const NOT_FOUND: &str = "its place was not found";
        if sites.is_constant(&mutant.range) {
            return Err("the compiler evaluates it");
        }
        let Range { start, end } = mutant.range;
        let replacement = &mutant.replacement;
        match mutant.kind {
            Kind::Body => {
                let body = sites.body(&mutant.range).ok_or(NOT_FOUND)?;
                let guard = marked(number, &format!("if {} {{ return {replacement}; }}", is_active(number)));
                self.inserted.push((body.start + 1, format!(" {guard}")));
            }
            Kind::Binary => {
                let site = sites.binaries.get(&start).ok_or(NOT_FOUND)?;
                if site.has_let {
                    return Err("it is in a condition with `let`");
                }
                let pieces = vec![
                    Piece::Text("(".into()),
                    Piece::Source(site.left.clone()),
                    Piece::Text(format!(") {replacement} (")),
                    Piece::Source(site.right.clone()),
                    Piece::Text(")".into()),
                ];
                self.replace(number, &site.whole, pieces);
            }
            Kind::Unary => {
                let site = sites.unaries.get(&start).ok_or(NOT_FOUND)?;
                self.replace(number, &site.whole, vec![Piece::Source(site.operand.clone())]);
            }
            Kind::Guard => {
                let site = sites.guards.get(&start).ok_or("it is a condition with `let`")?;
                self.replace(number, site, vec![Piece::Text(replacement.clone())]);
            }
            Kind::Arm => {
                let site = sites.arms.get(&start).ok_or(NOT_FOUND)?;
                if site.has_guard {
                    return Err("the arm has a guard");
                }
                let guard = marked(number, &format!("!{}", is_active(number)));
                self.inserted.push((site.pattern_end, format!(" if {guard}")));
            }
            Kind::Field => {
                let site = sites.fields.get(&start).ok_or(NOT_FOUND)?;
                let pieces = vec![Piece::Source(site.start..start), Piece::Source(end..site.end)];
                self.replace(number, site, pieces);
            }
            Kind::Constant | Kind::Comparison | Kind::Index => return Err("it is not Rust"),
        }
        Ok(())
    }

    fn replace(&mut self, number: usize, whole: &Range<usize>, pieces: Vec<Piece>) {
        self.replaced.entry((whole.start, Reverse(whole.end))).or_default().push((number, pieces));
    }

    /// The text of `range` with all edits; with `skip`, without the mutants of that expression itself.
    fn render(&self, text: &str, range: Range<usize>, skip: Option<&Range<usize>>) -> String {
        let mut out = String::new();
        let mut at = range.start;
        for (start, end, is_inserted) in self.places(&range) {
            let place = start..end;
            if start < at || !is_inserted && skip == Some(&place) {
                continue;
            }
            out.push_str(&text[at..start]);
            at = end;
            if is_inserted {
                let here = self.inserted.iter().filter(|(position, _)| *position == start);
                out.extend(here.map(|(_, text)| text.as_str()));
            } else {
                out.push_str(&self.choice(text, &place));
            }
        }
        out.push_str(&text[at..range.end]);
        out
    }

    /// Where there are edits within a range, in order: start, end, and whether text is inserted there. An expression comes before those
    /// that it contains. What is inserted at the very ends of a range belongs to what is around it.
    fn places(&self, range: &Range<usize>) -> Vec<(usize, usize, bool)> {
        let inserted =
            self.inserted.iter().map(|(at, _)| *at).filter(|at| range.start < *at && *at < range.end);
        let replaced = self.replaced.keys().map(|&(start, Reverse(end))| (start, end));
        let replaced = replaced.filter(|&(start, end)| contains(range, &(start..end)));
        let mut places: Vec<_> = inserted.map(|at| (at, at, true)).collect();
        places.extend(replaced.map(|(start, end)| (start, end, false)));
        places.sort_by_key(|&(start, end, is_inserted)| (start, !is_inserted, Reverse(end)));
        places.dedup();
        places
    }

    /// The choice between an expression and its mutants.
    fn choice(&self, text: &str, whole: &Range<usize>) -> String {
        let mutants = self.replaced.get(&(whole.start, Reverse(whole.end)));
        let mut out = String::from("(");
        let mut last = 0;
        for (number, pieces) in mutants.into_iter().flatten() {
            let pieces: String = pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Source(range) => self.render(text, range.clone(), Some(whole)),
                    Piece::Text(text) => text.clone(),
                })
                .collect();
            out += &format!("if {} {{ {} }} else ", is_active(*number), marked(*number, &pieces));
            last = *number;
        }
        out += &format!("{{ {} }})", self.render(text, whole.clone(), Some(whole)));
        marked(last, &out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutant::tests::mutant;

    /// A text with guarded mutants, without the marks and the name of the guard.
    fn guarded(text: &str, mutants: &[Mutant]) -> String {
        let numbered: Vec<(usize, &Mutant)> = (1..).zip(mutants).collect();
        let guarded = guard(text, &numbered).unwrap();
        assert_eq!(guarded.refused, []);
        assert_eq!(guarded.text.matches('\n').count(), text.matches('\n').count());
        syn::parse_file(&guarded.text).unwrap();
        let mut plain = guarded.text.replace("crate::mutant::is_active", "on");
        for number in 1..=mutants.len() {
            plain = plain.replace(&format!("/*<{number}*/"), "").replace(&format!("/*{number}>*/"), "");
        }
        plain
    }

    #[test]
    fn a_body_returns_at_once() {
        let text = "fn f() -> u32 {\n    g()\n}\n";
        let mutants = [mutant(text, "g()", "0", Kind::Body), mutant(text, "g()", "1", Kind::Body)];
        assert_eq!(
            guarded(text, &mutants),
            "fn f() -> u32 { if on(1) { return 0; } if on(2) { return 1; }\n    g()\n}\n"
        );
    }

    #[test]
    fn the_body_of_an_inner_function_is_its_own() {
        let text = "fn f() -> u32 { fn g() -> u32 { 7 } g() }";
        let inner = mutant(text, "7", "0", Kind::Body);
        assert_eq!(
            guarded(text, &[inner]),
            "fn f() -> u32 { fn g() -> u32 { if on(1) { return 0; } 7 } g() }"
        );
    }

    #[test]
    fn a_binary_operator_has_its_operands() {
        let text = "fn f() { g(a + b * c) }";
        let mutants = [mutant(text, "*", "+", Kind::Binary)];
        assert_eq!(guarded(text, &mutants), "fn f() { g(a + (if on(1) { (b) + (c) } else { b * c })) }");
        let mutants = [mutant(text, "+", "-", Kind::Binary), mutant(text, "+", "*", Kind::Binary)];
        assert_eq!(
            guarded(text, &mutants),
            "fn f() { g((if on(1) { (a) - (b * c) } else if on(2) { (a) * (b * c) } else { a + b * c })) }"
        );
    }

    #[test]
    fn mutants_within_mutants_are_in_every_branch() {
        let text = "fn f() { a && b < c }";
        let mutants = [mutant(text, "&&", "||", Kind::Binary), mutant(text, "<", ">", Kind::Binary)];
        let inner = "(if on(2) { (b) > (c) } else { b < c })";
        assert_eq!(
            guarded(text, &mutants),
            format!("fn f() {{ (if on(1) {{ (a) || ({inner}) }} else {{ a && {inner} }}) }}")
        );
    }

    #[test]
    fn an_assignment_is_an_operator_too() {
        let text = "fn f() { a[0] += 1; }";
        let mutants = [mutant(text, "+=", "-=", Kind::Binary)];
        assert_eq!(guarded(text, &mutants), "fn f() { (if on(1) { (a[0]) -= (1) } else { a[0] += 1 }); }");
    }

    #[test]
    fn a_unary_operator_is_left_out() {
        let text = "fn f() { g(!a.b) }";
        let mutants = [mutant(text, "!", "", Kind::Unary)];
        assert_eq!(guarded(text, &mutants), "fn f() { g((if on(1) { a.b } else { !a.b })) }");
    }

    #[test]
    fn arms_are_left_out_and_guards_are_replaced() {
        let text = "fn f() { match a { 1 | 2 => b, c if c < 3 => d, _ => e } }";
        let mutants = [
            mutant(text, "1 | 2 => b", "", Kind::Arm),
            mutant(text, "c < 3", "true", Kind::Guard),
            mutant(text, "<", ">", Kind::Binary),
        ];
        assert_eq!(
            guarded(text, &mutants),
            "fn f() { match a { 1 | 2 if !on(1) => b, \
             c if (if on(2) { true } else if on(3) { (c) > (3) } else { c < 3 }) => d, _ => e } }"
        );
    }

    #[test]
    fn a_field_is_left_to_the_base() {
        let text = "fn f() -> S { S { a: 1, b: 2, ..c } }";
        let mutants = [mutant(text, "b: 2,", "", Kind::Field)];
        assert_eq!(
            guarded(text, &mutants),
            "fn f() -> S { (if on(1) { S { a: 1,  ..c } } else { S { a: 1, b: 2, ..c } }) }"
        );
    }

    #[test]
    fn a_mutant_at_the_beginning_of_a_body_that_has_one() {
        let text = "fn f() -> u32 {a+b}";
        let mutants = [mutant(text, "+", "-", Kind::Binary), mutant(text, "a+b", "0", Kind::Body)];
        assert_eq!(
            guarded(text, &mutants),
            "fn f() -> u32 { if on(2) { return 0; }(if on(1) { (a) - (b) } else { a+b })}"
        );
    }

    #[test]
    fn what_composes_wgsl_passes_it_on() {
        let text = "impl Kernel { fn wgsl_in(&self) -> String { let a = 1; a.to_string() } }";
        let expected = "impl Kernel { fn wgsl_in(&self) -> String { crate::mutant::wgsl({ let a = 1; a.to_string() }) } }";
        assert_eq!(guarded(text, &[]), expected);
    }

    #[test]
    fn what_cannot_be_guarded_is_refused() {
        let text = "const A: u32 = 1 + 2; const fn f() -> u32 { 3 % 4 } fn g() { if a && let Some(b) = c { [0; 5 * 6]; } }";
        let mutants = ["+", "%", "&&", "*"].map(|operator| mutant(text, operator, "/", Kind::Binary));
        let numbered: Vec<(usize, &Mutant)> = (1..).zip(&mutants).collect();
        let guarded = guard(text, &numbered).unwrap();
        assert_eq!(guarded.text, text);
        let reasons: Vec<&str> = guarded.refused.iter().map(|(_, reason)| *reason).collect();
        let constant = "the compiler evaluates it";
        assert_eq!(reasons, [constant, constant, "it is in a condition with `let`", constant]);
    }

    /// A mutant that changes nothing is guarded like any other: it is there to be survived.
    #[test]
    fn a_mutant_may_change_nothing() {
        let text = "fn f() { a + b }";
        let mutants = [mutant(text, "+", "+", Kind::Binary)];
        assert_eq!(guarded(text, &mutants), "fn f() { (if on(1) { (a) + (b) } else { a + b }) }");
    }
}
