//! What the coordinates of a map are: its coordinate reference system, as far as two of them can be told apart.
//!
//! Sources: OGC GeoTIFF 1.1 (OGC 19-008r4), section 7.4; OGC 01-009 and 18-010r7 (both kinds of well-known text).

/// What coordinates count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coordinates {
    /// Angles: longitude and latitude.
    Geographic,
    /// Lengths.
    Projected,
}

/// A coordinate reference system.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReferenceSystem {
    pub(crate) coordinates: Option<Coordinates>,
    /// Its number in the registry of EPSG.
    pub(crate) epsg: Option<u16>,
    /// A text that is equal for equal systems, of one kind of text: with its kind first.
    details: String,
    name: String,
}

/// Keys of GeoTIFF.
const MODEL_TYPE: u16 = 1024;
const GEODETIC: u16 = 2048;
const PROJECTED: u16 = 3072;
/// Keys of texts for people: they say nothing of the system.
const CITATIONS: [u16; 3] = [1026, 2049, 3073];
/// Keys of what a coordinate of the raster is.
const RASTER_TYPE: u16 = 1025;

impl ReferenceSystem {
    /// From the keys of a GeoTIFF: the directory of keys and its numbers. `None` where they name no system.
    pub(crate) fn from_keys(keys: &[u16], doubles: &[f64], texts: &str) -> Option<Self> {
        let keys: Vec<&[u16]> = keys.chunks_exact(4).skip(1).collect();
        let number = |name: u16| keys.iter().find(|key| key[0] == name && key[1] == 0).map(|key| key[3]);
        let coordinates = match number(MODEL_TYPE) {
            Some(1) => Some(Coordinates::Projected),
            Some(2) => Some(Coordinates::Geographic),
            _ => None,
        };
        let code = match coordinates {
            Some(Coordinates::Projected) => number(PROJECTED),
            Some(Coordinates::Geographic) => number(GEODETIC),
            None => None,
        };
        let epsg = code.filter(|code| (1..32767).contains(code));
        let value = |key: &[u16]| {
            let (count, at) = (usize::from(key[2]), usize::from(key[3]));
            match key[1] {
                0 => Some(key[3].to_string()),
                34736 => doubles.get(at..at + count).map(|values| format!("{values:?}")),
                _ => texts.get(at..at + count).map(str::to_owned),
            }
        };
        let is_of_system = |key: &&&[u16]| !CITATIONS.contains(&key[0]) && key[0] != RASTER_TYPE;
        let details: Vec<String> = keys
            .iter()
            .filter(is_of_system)
            .filter_map(|key| Some(format!("{}={}", key[0], value(key)?)))
            .collect();
        let name = keys.iter().rev().find(|key| CITATIONS.contains(&key[0])).and_then(|key| value(key));
        let name = match (epsg, name) {
            (Some(epsg), _) => format!("EPSG:{epsg}"),
            (None, Some(name)) => name.trim_end_matches(['|', '\0']).to_owned(),
            (None, None) => "a system of its own keys".to_owned(),
        };
        let is_named = coordinates.is_some() || number(PROJECTED).is_some() || number(GEODETIC).is_some();
        is_named.then(|| Self { coordinates, epsg, details: format!("keys {}", details.join(";")), name })
    }

    /// From well-known text, as GDAL and Esri write it. `None` where it is none.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('\u{feff}').trim();
        if let Some(code) = text.strip_prefix("EPSG:").and_then(|code| code.trim().parse().ok()) {
            return Some(Self::from_epsg(code));
        }
        let (word, rest) = text.split_once(['[', '('])?;
        let coordinates = match word.trim().to_uppercase().as_str() {
            "PROJCS" | "PROJCRS" | "PROJECTEDCRS" => Some(Coordinates::Projected),
            "GEOGCS" | "GEOGCRS" | "GEOGRAPHICCRS" | "GEODCRS" | "GEODETICCRS" => {
                Some(Coordinates::Geographic)
            }
            "COMPD_CS" | "COMPOUNDCRS" | "BOUNDCRS" => {
                let upper = rest.to_uppercase();
                let is_projected = upper.contains("PROJCS[") || upper.contains("PROJCRS[");
                Some(if is_projected { Coordinates::Projected } else { Coordinates::Geographic })
            }
            "LOCAL_CS" | "ENGCRS" | "ENGINEERINGCRS" | "GEOCCS" => None,
            _ => return None,
        };
        let name = rest.split('"').nth(1).unwrap_or("a system without a name").to_owned();
        let details: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        Some(Self {
            coordinates,
            epsg: outer_code(rest),
            details: format!("text {}", details.to_uppercase()),
            name,
        })
    }

    /// By its number in the registry of EPSG.
    pub(crate) fn from_epsg(epsg: u16) -> Self {
        let coordinates = match epsg {
            4000..5000 => Some(Coordinates::Geographic),
            20000..32767 => Some(Coordinates::Projected),
            _ => None,
        };
        Self { coordinates, epsg: Some(epsg), details: String::new(), name: format!("EPSG:{epsg}") }
    }

    /// A system that is known by a name alone.
    pub(crate) fn named(name: &str, coordinates: Coordinates) -> Self {
        let details = format!("name {}", name.to_uppercase());
        Self { coordinates: Some(coordinates), epsg: None, details, name: name.to_owned() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether another system is the same; `None` where that can't be told.
    pub(crate) fn equals(&self, other: &Self) -> Option<bool> {
        if let (Some(own), Some(other)) = (self.coordinates, other.coordinates)
            && own != other
        {
            return Some(false);
        }
        match (self.epsg, other.epsg) {
            (Some(own), Some(other)) => Some(own == other),
            _ if !self.details.is_empty() && self.details == other.details => Some(true),
            _ if self.name.eq_ignore_ascii_case(&other.name) => Some(true),
            _ => None,
        }
    }

    /// The keys of a GeoTIFF that name the system, without their header; empty where it has no number.
    pub(crate) fn keys(&self) -> Vec<[u16; 4]> {
        match (self.epsg, self.coordinates) {
            (Some(epsg), Some(Coordinates::Projected)) => {
                vec![[MODEL_TYPE, 0, 1, 1], [PROJECTED, 0, 1, epsg]]
            }
            (Some(epsg), Some(Coordinates::Geographic)) => {
                vec![[MODEL_TYPE, 0, 1, 2], [GEODETIC, 0, 1, epsg]]
            }
            _ => Vec::new(),
        }
    }
}

/// EPSG's number of a text's outermost system: of the `AUTHORITY` or `ID` that lies in no other brackets.
fn outer_code(rest: &str) -> Option<u16> {
    let (mut depth, mut is_quoted, mut code) = (0_u32, false, None);
    for (at, character) in rest.char_indices() {
        match character {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '[' | '(' => {
                let word = word_before(&rest[..at]);
                if depth == 0 && (word.eq_ignore_ascii_case("AUTHORITY") || word.eq_ignore_ascii_case("ID")) {
                    let inner = rest[at + 1..].split([']', ')']).next().unwrap_or_default();
                    let mut parts = inner.split(',').map(|part| part.trim().trim_matches('"'));
                    if parts.next().is_some_and(|name| name.eq_ignore_ascii_case("EPSG")) {
                        code = parts.next().and_then(|number| number.parse().ok());
                    }
                }
                depth += 1;
            }
            ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    code
}

/// The letters that a text ends with, ten at most.
fn word_before(text: &str) -> &str {
    let letters = text.bytes().rev().take(10).take_while(u8::is_ascii_alphabetic).count();
    &text[text.len() - letters..]
}

#[cfg(test)]
mod tests {
    use super::*;

    const UTM: &str = "PROJCS[\"WGS 84 / UTM zone 33N\",GEOGCS[\"WGS 84\",DATUM[\"WGS_1984\",AUTHORITY[\"EPSG\",\"6326\"]],\
        AUTHORITY[\"EPSG\",\"4326\"]],UNIT[\"metre\",1],AUTHORITY[\"EPSG\",\"32633\"]]";

    #[test]
    fn systems_are_read_from_texts_and_keys() {
        let utm = ReferenceSystem::from_text(UTM).unwrap();
        assert_eq!((utm.epsg, utm.coordinates), (Some(32633), Some(Coordinates::Projected)));
        let keys = [1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32633];
        let same = ReferenceSystem::from_keys(&keys, &[], "").unwrap();
        assert_eq!((same.name(), utm.equals(&same)), ("EPSG:32633", Some(true)));
        let text =
            "GEOGCRS[\"WGS 84\",DATUM[\"WGS 84\",ID[\"EPSG\",6326]],CS[ellipsoidal,2],ID[\"EPSG\",4326]]";
        let degrees = ReferenceSystem::from_text(text).unwrap();
        assert_eq!((degrees.epsg, degrees.coordinates), (Some(4326), Some(Coordinates::Geographic)));
        assert_eq!(degrees.equals(&utm), Some(false));
        // Esri's texts have no numbers.
        let esri = ReferenceSystem::from_text("PROJCS[\"WGS_1984_UTM_Zone_33N\",GEOGCS[\"x\"]]").unwrap();
        assert_eq!((esri.epsg, esri.equals(&utm), esri.equals(&esri)), (None, None, Some(true)));
        assert_eq!(esri.equals(&degrees), Some(false));
        assert!(ReferenceSystem::from_text("a text").is_none() && ReferenceSystem::from_text("").is_none());
        // Only what a coordinate of the raster is.
        assert!(ReferenceSystem::from_keys(&[1, 1, 0, 1, 1025, 0, 1, 2], &[], "").is_none());
        assert!(ReferenceSystem::from_keys(&[1, 1, 0, 9, 1024, 34737, 60_000, 60_000], &[], "").is_none());
        for at in 0..UTM.len() {
            ReferenceSystem::from_text(&UTM[..at]);
        }
    }
}
