//! What the coordinates of a map are: its coordinate reference system, as far as two of them can be told apart.
//!
//! Sources: OGC GeoTIFF 1.1 (OGC 19-008r4), section 7.4; OGC 01-009 and 18-010r7 (both kinds of well-known text).

use super::epsg;
use super::epsg::Coordinates;
use super::well_known_text::Text;

/// A coordinate reference system.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReferenceSystem {
    pub(crate) coordinates: Option<Coordinates>,
    /// Its number in the registry of EPSG.
    pub(crate) epsg: Option<u16>,
    /// The globe of longitudes and latitudes.
    pub(crate) globe: Globe,
    /// A text that is equal for equal systems, of one kind of text: with its kind first.
    details: String,
    name: String,
}

/// The unit of longitudes and latitudes, and the ellipsoid that they are on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Globe {
    /// The degrees in one unit of a coordinate.
    pub(crate) degrees_a_unit: f64,
    /// The radius of the equator in metres, and the flattening; `None` where the system does not say it, and so is one of the Earth.
    pub(crate) ellipsoid: Option<[f64; 2]>,
    /// Whether the poles of the coordinates are others than those of the ellipsoid.
    pub(crate) is_turned: bool,
}

impl Globe {
    const EARTH: Self = Self { degrees_a_unit: 1.0, ellipsoid: None, is_turned: false };
}

/// Keys of GeoTIFF.
const MODEL_TYPE: u16 = 1024;
const GEODETIC: u16 = 2048;
const ANGULAR_UNIT: u16 = 2054;
/// In radians.
const ANGULAR_UNIT_SIZE: u16 = 2055;
const SEMI_MAJOR_AXIS: u16 = 2057;
const SEMI_MINOR_AXIS: u16 = 2058;
const INVERSE_FLATTENING: u16 = 2059;
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
        let is_code = |code: &u16| (1..32767).contains(code);
        let coordinates = match number(MODEL_TYPE) {
            Some(1) => Some(Coordinates::Projected),
            Some(2) => Some(Coordinates::Geographic),
            // 3 is geocentric.
            Some(_) => None,
            None => {
                let code = number(PROJECTED).filter(is_code).or(number(GEODETIC).filter(is_code));
                code.and_then(epsg::coordinates)
            }
        };
        let code = match coordinates {
            Some(Coordinates::Projected) => number(PROJECTED),
            Some(Coordinates::Geographic) => number(GEODETIC),
            None => None,
        };
        let epsg = code.filter(is_code);
        let double = |name: u16| {
            let key = keys.iter().find(|key| key[0] == name && key[1] == 34736)?;
            doubles.get(usize::from(key[3])).copied()
        };
        let globe = Globe {
            degrees_a_unit: match (number(ANGULAR_UNIT), double(ANGULAR_UNIT_SIZE)) {
                (Some(9101), _) => 1.0_f64.to_degrees(),
                (Some(9103), _) => 1.0 / 60.0,
                (Some(9104), _) => 1.0 / 3600.0,
                (Some(9105 | 9106), _) => 0.9,
                (Some(32767), Some(size)) => size.to_degrees(),
                (Some(_), _) => 1.0,
                (None, _) => epsg.map_or(1.0, epsg::degrees_a_unit),
            },
            ellipsoid: double(SEMI_MAJOR_AXIS).and_then(|equator| {
                let of_pole = |pole: f64| (equator - pole) / equator;
                let flattening = double(INVERSE_FLATTENING).map(flattening_of);
                Some([equator, flattening.or(double(SEMI_MINOR_AXIS).map(of_pole))?])
            }),
            is_turned: false,
        };
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
        is_named.then(|| Self {
            coordinates,
            epsg,
            globe,
            details: format!("keys {}", details.join(";")),
            name,
        })
    }

    /// From well-known text, as GDAL and Esri write it. `None` where it is none.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('\u{feff}').trim();
        if let Some(code) = text.strip_prefix("EPSG:").and_then(|code| code.trim().parse().ok()) {
            return Some(Self::from_epsg(code));
        }
        let text_items = Text::new(text);
        let coordinates = match text_items.first()?.to_uppercase().as_str() {
            "PROJCS" | "PROJCRS" | "PROJECTEDCRS" | "DERIVEDPROJCRS" => Some(Coordinates::Projected),
            "GEOGCS" | "GEOGCRS" | "GEOGRAPHICCRS" | "GEODCRS" | "GEODETICCRS" => {
                text_items.geographic().map(|_| Coordinates::Geographic)
            }
            "COMPD_CS" | "COMPOUNDCRS" | "BOUNDCRS" => {
                let is_projected = text_items.has(&["PROJCS", "PROJCRS", "PROJECTEDCRS"]);
                let geographic = text_items.geographic().map(|_| Coordinates::Geographic);
                if is_projected { Some(Coordinates::Projected) } else { geographic }
            }
            "LOCAL_CS" | "ENGCRS" | "ENGINEERINGCRS" | "GEOCCS" => None,
            _ => return None,
        };
        let details: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let name = text_items.name().unwrap_or("a system without a name").to_owned();
        let epsg = text_items.code();
        let globe = Globe {
            degrees_a_unit: text_items.radians_a_unit().map_or(1.0, f64::to_degrees),
            ellipsoid: text_items.ellipsoid().map(|[equator, inverse]| [equator, flattening_of(inverse)]),
            is_turned: text_items.has(&["DERIVINGCONVERSION"]),
        };
        Some(Self { coordinates, epsg, globe, details: format!("text {}", details.to_uppercase()), name })
    }

    /// By its number in the registry of EPSG.
    pub(crate) fn from_epsg(epsg: u16) -> Self {
        let globe = Globe { degrees_a_unit: epsg::degrees_a_unit(epsg), ..Globe::EARTH };
        let (coordinates, name) = (epsg::coordinates(epsg), format!("EPSG:{epsg}"));
        Self { coordinates, epsg: Some(epsg), globe, details: String::new(), name }
    }

    /// A system that is known by a name alone.
    pub(crate) fn named(name: &str, coordinates: Coordinates) -> Self {
        let details = format!("name {}", name.to_uppercase());
        let (coordinates, globe) = (Some(coordinates), Globe::EARTH);
        Self { coordinates, epsg: None, globe, details, name: name.to_owned() }
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

/// The flattening by its inverse, which is 0 for a sphere.
fn flattening_of(inverse: f64) -> f64 {
    if inverse == 0.0 { 0.0 } else { 1.0 / inverse }
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

    /// The kind of a system is what it says; a number says it only where nothing else does.
    #[test]
    fn kinds_of_systems_are_told_apart() {
        let kind = |text: &str| ReferenceSystem::from_text(text).unwrap().coordinates;
        for (text, wanted) in [
            ("EPSG:4326", Some(Coordinates::Geographic)),
            ("EPSG:4979", Some(Coordinates::Geographic)),
            ("EPSG:7844", Some(Coordinates::Geographic)),
            ("EPSG:4087", Some(Coordinates::Projected)),
            ("EPSG:3857", Some(Coordinates::Projected)),
            ("EPSG:4978", None),
            (
                "GEOCCS[\"WGS 84\",DATUM[\"x\",SPHEROID[\"y\",6378137,298.25]],AUTHORITY[\"EPSG\",\"4978\"]]",
                None,
            ),
            (
                "GEODCRS[\"WGS 84\",DATUM[\"x\"],CS[Cartesian,3],AXIS[\"(X)\",geocentricX],ID[\"EPSG\",4978]]",
                None,
            ),
            (
                "GEODCRS[\"x\",DATUM[\"x\"],CS[ellipsoidal,2],ID[\"EPSG\",4326]]",
                Some(Coordinates::Geographic),
            ),
            (
                "PROJCS[\"World Equidistant Cylindrical\",GEOGCS[\"WGS 84\"],AUTHORITY[\"EPSG\",\"4087\"]]",
                Some(Coordinates::Projected),
            ),
            ("COMPD_CS[\"a\",GEOGCS[\"b\"],VERT_CS[\"c\"]]", Some(Coordinates::Geographic)),
            ("COMPD_CS[\"a\",PROJCS [\"b\"],VERT_CS[\"c\"]]", Some(Coordinates::Projected)),
        ] {
            assert_eq!(kind(text), wanted, "{text}");
        }
        let of_keys = |keys: &[[u16; 4]]| {
            let mut all = vec![1, 1, 0, keys.len() as u16];
            all.extend(keys.iter().flatten());
            ReferenceSystem::from_keys(&all, &[], "").and_then(|system| system.coordinates)
        };
        assert_eq!(of_keys(&[[1024, 0, 1, 1], [3072, 0, 1, 4087]]), Some(Coordinates::Projected));
        assert_eq!(of_keys(&[[1024, 0, 1, 3], [2048, 0, 1, 4978]]), None);
        assert_eq!(of_keys(&[[1024, 0, 1, 2], [2048, 0, 1, 4326]]), Some(Coordinates::Geographic));
        // Without a type the number decides.
        assert_eq!(of_keys(&[[2048, 0, 1, 4326]]), Some(Coordinates::Geographic));
        assert_eq!(of_keys(&[[2048, 0, 1, 4978]]), None);
        assert_eq!(of_keys(&[[2048, 0, 1, 4326], [3072, 0, 1, 4087]]), Some(Coordinates::Projected));
    }

    #[test]
    fn units_and_globes_are_read() {
        let globe = |text: &str| ReferenceSystem::from_text(text).unwrap().globe;
        let moon = "GEOGCS[\"Moon\",DATUM[\"D\",SPHEROID[\"S\",1737400,0]],PRIMEM[\"P\",0],UNIT[\"degree\",0.0174532925199433]]";
        assert_eq!(globe(moon).ellipsoid, Some([1_737_400.0, 0.0]));
        assert!((globe(moon).degrees_a_unit - 1.0).abs() < 1e-12);
        let grads = "GEOGCRS[\"NTF (Paris)\",DATUM[\"N\",ELLIPSOID[\"Clarke\",6378249.2,293.466021293627,LENGTHUNIT[\"metre\",1]]],\
            PRIMEM[\"Paris\",2.5969213,ANGLEUNIT[\"grad\",0.015707963267949]],CS[ellipsoidal,2],AXIS[\"latitude\",north,ORDER[1]],\
            ANGLEUNIT[\"grad\",0.015707963267949]]";
        let read = globe(grads);
        assert!((read.degrees_a_unit - 0.9).abs() < 1e-12);
        assert!((read.ellipsoid.unwrap()[1] - 1.0 / 293.466_021_293_627).abs() < 1e-15);
        // The unit of a prime meridian, and that of heights, are not those of coordinates.
        let mixed = "COMPD_CS[\"a\",GEOGCS[\"b\",PRIMEM[\"c\",0,ANGLEUNIT[\"grad\",0.0157]],UNIT[\"degree\",0.0174532925199433]],\
            VERT_CS[\"d\",UNIT[\"metre\",1]]]";
        assert!((globe(mixed).degrees_a_unit - 1.0).abs() < 1e-12);
        let of_axis = "GEOGCRS[\"a\",CS[ellipsoidal,2],AXIS[\"lat\",north,ANGLEUNIT[\"grad\",0.015707963267949]],AXIS[\"lon\",east]]";
        assert!((globe(of_axis).degrees_a_unit - 0.9).abs() < 1e-12);
        let turned =
            "GEOGCRS[\"rotated\",BASEGEOGCRS[\"WGS 84\"],DERIVINGCONVERSION[\"pole\"],CS[ellipsoidal,2]]";
        assert!(globe(turned).is_turned && !globe(moon).is_turned);
        assert_eq!(ReferenceSystem::from_epsg(4807).globe.degrees_a_unit, 0.9);
        let keys = [
            1, 1, 0, 5, 1024, 0, 1, 2, 2048, 0, 1, 32767, 2054, 0, 1, 9105, 2057, 34736, 1, 0, 2059, 34736,
            1, 1,
        ];
        let read = ReferenceSystem::from_keys(&keys, &[3_396_190.0, 169.894_447], "").unwrap().globe;
        assert_eq!((read.degrees_a_unit, read.ellipsoid), (0.9, Some([3_396_190.0, 1.0 / 169.894_447])));
    }
}
