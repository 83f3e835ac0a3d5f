//! Well-known text of a coordinate reference system: words with brackets, texts and numbers.
//!
//! Sources: OGC 01-009 and 18-010r7 (both kinds of well-known text).

/// Words of systems of longitude and latitude.
const GEOGRAPHIC: [&str; 5] = ["GEOGCS", "GEOGCRS", "GEOGRAPHICCRS", "GEODCRS", "GEODETICCRS"];
/// The letters of the longest word.
const MAX_WORD: usize = 24;

/// A word with brackets.
#[derive(Debug, Clone, Copy)]
struct Item<'a> {
    /// In how many brackets it lies.
    depth: usize,
    word: &'a str,
    /// What follows its opening bracket, to the end of the whole text.
    rest: &'a str,
}

impl<'a> Item<'a> {
    fn is(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.word.eq_ignore_ascii_case(word))
    }

    /// What stands in its brackets before any other bracket, cut at commas.
    fn arguments(&self) -> impl Iterator<Item = &'a str> {
        let mut is_quoted = false;
        let ends = |character: char| {
            is_quoted ^= character == '"';
            !is_quoted && matches!(character, '[' | '(' | ']' | ')')
        };
        let own = &self.rest[..self.rest.find(ends).unwrap_or(self.rest.len())];
        let mut is_quoted = false;
        own.split(move |character: char| {
            is_quoted ^= character == '"';
            !is_quoted && character == ','
        })
        .map(|part| part.trim().trim_matches('"'))
    }

    /// The number in this place.
    fn number(&self, place: usize) -> Option<f64> {
        let number: f64 = self.arguments().nth(place)?.parse().ok()?;
        number.is_finite().then_some(number)
    }
}

/// All words of a text that have brackets, in their order.
#[derive(Debug)]
pub(super) struct Text<'a>(Vec<Item<'a>>);

impl<'a> Text<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let (mut depth, mut is_quoted, mut items) = (0_usize, false, Vec::new());
        for (at, character) in text.char_indices() {
            match character {
                '"' => is_quoted = !is_quoted,
                _ if is_quoted => {}
                '[' | '(' => {
                    items.push(Item { depth, word: word_before(&text[..at]), rest: &text[at + 1..] });
                    depth += 1;
                }
                ']' | ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        Self(items)
    }

    /// The word of the outermost system.
    pub(super) fn first(&self) -> Option<&'a str> {
        self.0.first().map(|item| item.word)
    }

    /// The name of the outermost system.
    pub(super) fn name(&self) -> Option<&'a str> {
        self.0.first()?.rest.split('"').nth(1)
    }

    /// Whether a word stands anywhere.
    pub(super) fn has(&self, words: &[&str]) -> bool {
        self.0.iter().any(|item| item.is(words))
    }

    /// What lies in the brackets of the item in this place.
    fn inside(&self, place: usize) -> &[Item<'a>] {
        let depth = self.0[place].depth;
        let after = &self.0[place + 1..];
        &after[..after.iter().position(|item| item.depth <= depth).unwrap_or(after.len())]
    }

    /// The place of the first system of longitude and latitude.
    pub(super) fn geographic(&self) -> Option<usize> {
        let place = self.0.iter().position(|item| item.is(&GEOGRAPHIC))?;
        // The same word stands for geocentric systems.
        let is_cartesian = |item: &Item<'_>| {
            item.is(&["CS"])
                && item.arguments().next().is_some_and(|kind| kind.eq_ignore_ascii_case("Cartesian"))
        };
        (!self.inside(place).iter().any(is_cartesian)).then_some(place)
    }

    /// The radians in one unit of longitude and latitude, where that is said.
    pub(super) fn radians_a_unit(&self) -> Option<f64> {
        let place = self.geographic()?;
        let depth = self.0[place].depth + 1;
        let mut of_axis = None;
        let mut parent = "";
        for item in self.inside(place) {
            let is_unit = item.is(&["UNIT", "ANGLEUNIT"]);
            if item.depth == depth {
                parent = item.word;
                if is_unit {
                    return item.number(1).filter(|&size| size > 0.0);
                }
            } else if is_unit && item.depth == depth + 1 && parent.eq_ignore_ascii_case("AXIS") {
                of_axis = of_axis.or(item.number(1).filter(|&size| size > 0.0));
            }
        }
        of_axis
    }

    /// The radius of the equator in metres, and the inverse of the flattening, 0 for a sphere.
    pub(super) fn ellipsoid(&self) -> Option<[f64; 2]> {
        let place = self.0.iter().position(|item| item.is(&["SPHEROID", "ELLIPSOID"]))?;
        let item = self.0[place];
        let unit = self.inside(place).iter().find(|inner| inner.is(&["LENGTHUNIT", "UNIT"]));
        let metres = unit.and_then(|unit| unit.number(1)).unwrap_or(1.0);
        Some([item.number(1)? * metres, item.number(2)?])
    }

    /// EPSG's number of the outermost system.
    pub(super) fn code(&self) -> Option<u16> {
        let codes = self.0.iter().filter(|item| item.depth == 1 && item.is(&["AUTHORITY", "ID"]));
        let of_epsg = codes.filter_map(|item| {
            let mut parts = item.arguments();
            let is_epsg = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("EPSG"));
            parts.next().filter(|_| is_epsg).and_then(|number| number.parse().ok())
        });
        of_epsg.fold(None, |_, code| Some(code))
    }
}

/// The letters that a text ends with, some at most.
fn word_before(text: &str) -> &str {
    let text = text.trim_end();
    let is_of_word = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    let letters = text.bytes().rev().take(MAX_WORD).take_while(is_of_word).count();
    &text[text.len() - letters..]
}
