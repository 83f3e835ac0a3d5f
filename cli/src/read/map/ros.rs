//! Maps of ROS: a YAML file with a picture's name, its frame and the meaning of its shades.
//!
//! Source: `nav2_map_server` (`map_io.cpp`) and `map_server` (`image_loader.cpp`), which agree but at the thresholds themselves; there nav2 is followed.

use std::path::Path;

use hullfield::flow::GridFrame;
use yaml_rust2::parser::{Event, MarkedEventReceiver, Parser};
use yaml_rust2::scanner::Marker;
use yaml_rust2::{Yaml, YamlLoader};

use super::occupancy::Map;
use super::pixels::{Picture, Pixel, read_picture};
use crate::failure::{Failure, Result};
use crate::read::raster::warn_once;
use crate::read::text::excerpt;

/// What shades become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Free, occupied, or unknown between the thresholds.
    Trinary,
    /// Free, occupied, or partly so between the thresholds; what shines through is unknown.
    Scale,
    /// The shade itself, of 255, is the percentage.
    Raw,
}

/// What is known of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Occupancy {
    Free,
    /// Wholly or partly.
    Occupied,
    Unknown,
}

/// How shades are read.
#[derive(Debug, Clone, Copy)]
struct Shades {
    mode: Mode,
    is_negated: bool,
    /// From where on a cell is occupied, and up to where it is free.
    occupied: f64,
    free: f64,
}

impl Shades {
    fn occupancy(self, pixel: Pixel, has_alpha: bool) -> Occupancy {
        let Self { mode, is_negated, occupied, free } = self;
        let shade = if mode == Mode::Trinary && has_alpha { pixel.shade_with_alpha() } else { pixel.shade() };
        let part = if is_negated { shade } else { 1.0 - shade };
        match mode {
            Mode::Raw => match (shade * 255.0).round() {
                0.0 => Occupancy::Free,
                percent if percent <= 100.0 => Occupancy::Occupied,
                _ => Occupancy::Unknown,
            },
            Mode::Scale if !pixel.is_opaque() => Occupancy::Unknown,
            _ if part >= occupied => Occupancy::Occupied,
            _ if part <= free => Occupancy::Free,
            Mode::Trinary => Occupancy::Unknown,
            Mode::Scale => match ((part - free) / (occupied - free) * 100.0).round_ties_even() {
                0.0 => Occupancy::Free,
                _ => Occupancy::Occupied,
            },
        }
    }
}

pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Map> {
    let text = std::str::from_utf8(bytes).map_err(|_| Failure::file(path, "not valid UTF-8"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // Each alias is a copy of what it stands for, and a few levels of them would fill the memory.
    if let Some(line) = alias(text) {
        return Err(Failure::line(path, line, "aliases (*name) are not read"));
    }
    let documents = YamlLoader::load_from_str(text).map_err(|error| {
        let line = error.marker().line() as u64;
        Failure::line(path, line, error.info())
    })?;
    let [document] = documents.as_slice() else {
        return Err(Failure::file(path, format!("{} documents, one expected", documents.len())));
    };
    if document.as_hash().is_none() {
        return Err(Failure::file(path, "it is not a list of fields"));
    }
    let fields = Fields { path, document };
    let resolution = fields.number("resolution", fields.value("resolution")?)?;
    if resolution <= 0.0 {
        return Err(fields.invalid("resolution", format!("{resolution} is not above zero")));
    }
    let origin = match fields.value("origin")?.as_vec().map(Vec::as_slice) {
        Some([x, y, yaw]) => {
            [fields.number("origin", x)?, fields.number("origin", y)?, fields.number("origin", yaw)?]
        }
        _ => return Err(fields.invalid("origin", "not three numbers x, y, yaw".into())),
    };
    let shades = fields.shades()?;
    let image = fields.value("image")?.as_str().filter(|name| !name.is_empty());
    let image = image.ok_or_else(|| fields.invalid("image", "not the name of a file".into()))?;
    // An absolute name stays as it is, as in map_server.
    let image = path.parent().unwrap_or(Path::new("")).join(image);
    let Picture { width, height, pixels, has_alpha } = read_picture(&image, &image_bytes(&image)?)?;
    let mut unknown_count = 0;
    let mut is_obstacle = |&pixel: &Pixel| {
        let occupancy = shades.occupancy(pixel, has_alpha);
        unknown_count += usize::from(occupancy == Occupancy::Unknown);
        // A cell that is not known to be free is an obstacle.
        occupancy != Occupancy::Free
    };
    let obstacles = pixels.iter().map(&mut is_obstacle).collect();
    let frame = frame(origin, resolution, height);
    Ok(Map { unknown_count, frame, ..Map::flat(width, height, obstacles) })
}

/// The line of the first alias of a YAML text.
fn alias(text: &str) -> Option<u64> {
    struct Aliases(Option<u64>);
    impl MarkedEventReceiver for Aliases {
        fn on_event(&mut self, event: Event, marker: Marker) {
            if matches!(event, Event::Alias(_)) {
                self.0.get_or_insert(marker.line() as u64);
            }
        }
    }
    let mut aliases = Aliases(None);
    // What is wrong otherwise is said where the text is loaded.
    let _ = Parser::new_from_str(text).load(&mut aliases, true);
    aliases.0
}

/// The bytes of the picture: a regular file, as its name is not the user's.
fn image_bytes(path: &Path) -> Result<Vec<u8>> {
    let unreadable = |error: std::io::Error| Failure::unreadable(path, &error);
    if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(Failure::file(path, "it is no regular file"));
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    if bytes.is_empty() { Err(Failure::empty(path)) } else { Ok(bytes) }
}

/// The fields of a file. Those that are not known are for other programs, as for map_server.
struct Fields<'a> {
    path: &'a Path,
    document: &'a Yaml,
}

impl Fields<'_> {
    fn invalid(&self, field: &str, message: String) -> Failure {
        Failure::file(self.path, format!("field {field}: {message}"))
    }

    fn value(&self, field: &str) -> Result<&Yaml> {
        match &self.document[field] {
            Yaml::BadValue => Err(self.invalid(field, "missing".into())),
            value => Ok(value),
        }
    }

    fn number(&self, field: &str, value: &Yaml) -> Result<f64> {
        let number = match value {
            Yaml::Integer(whole) => Some(*whole as f64),
            // Texts too: YAML 1.1 has numbers that YAML 1.2 takes for texts.
            Yaml::Real(text) | Yaml::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        number
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| self.invalid(field, "not a finite number".into()))
    }

    fn threshold(&self, field: &str) -> Result<f64> {
        match self.number(field, self.value(field)?)? {
            value if (0.0..=1.0).contains(&value) => Ok(value),
            value => Err(self.invalid(field, format!("{value} is not from 0 to 1"))),
        }
    }

    fn shades(&self) -> Result<Shades> {
        let is_negated = match self.value("negate")? {
            Yaml::Boolean(is_negated) => *is_negated,
            Yaml::Integer(whole) => *whole != 0,
            Yaml::String(text) if ["yes", "on"].contains(&text.to_lowercase().as_str()) => true,
            Yaml::String(text) if ["no", "off"].contains(&text.to_lowercase().as_str()) => false,
            _ => return Err(self.invalid("negate", "neither 0 nor 1".into())),
        };
        let mode = match &self.document["mode"] {
            Yaml::BadValue => Mode::Trinary,
            value => match value.as_str() {
                Some("trinary") => Mode::Trinary,
                Some("scale") => Mode::Scale,
                Some("raw") => Mode::Raw,
                _ => {
                    let mode = shown(value);
                    return Err(self.invalid("mode", format!("{mode} is none of trinary, scale and raw")));
                }
            },
        };
        let (occupied, free) = (self.threshold("occupied_thresh")?, self.threshold("free_thresh")?);
        if free > occupied {
            return Err(self.invalid("free_thresh", format!("{free} is above occupied_thresh, {occupied}")));
        }
        if mode == Mode::Raw && is_negated {
            warn_once(format!("{}: negate means nothing to the mode raw", self.path.display()));
        }
        Ok(Shades { mode, is_negated, occupied, free })
    }
}

/// A value of a field for a message: texts in quotes, and what is none of one word by its kind.
fn shown(value: &Yaml) -> String {
    match value {
        Yaml::String(text) => format!("\"{}\"", excerpt(text)),
        Yaml::Real(text) => excerpt(text),
        Yaml::Integer(whole) => whole.to_string(),
        Yaml::Boolean(flag) => flag.to_string(),
        Yaml::Null => "nothing".to_owned(),
        Yaml::Array(_) => "a list".to_owned(),
        _ => "a list of fields".to_owned(),
    }
}

/// The frame of the grid. The file's origin is the outer corner of the bottom-left pixel, and the picture is turned around
/// it. Rows of the grid run downward from the top.
fn frame([x, y, yaw]: [f64; 3], resolution: f64, height: usize) -> GridFrame {
    let (sin, cos) = yaw.sin_cos();
    let up = resolution * height as f64;
    GridFrame {
        origin: [x - sin * up, y + cos * up, 0.0],
        cell_size: resolution,
        axes: [[cos, sin, 0.0], [sin, -cos, 0.0], [0.0, 0.0, 1.0]],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grey pixel, as read from a PGM.
    fn pixel(value: u8) -> Pixel {
        let bytes = [b"P5 1 1 255\n".as_slice(), &[value]].concat();
        read_picture(Path::new("a.pgm"), &bytes).unwrap().pixels[0]
    }

    #[test]
    fn shades_are_read_as_nav2_reads_them() {
        let of = |mode, is_negated, value| {
            let shades = Shades { mode, is_negated, occupied: 0.8, free: 0.2 };
            shades.occupancy(pixel(value), false)
        };
        // 51 of 255 is a fifth: at the thresholds themselves cells are occupied and free.
        for (value, wanted) in [
            (0, Occupancy::Occupied),
            (51, Occupancy::Occupied),
            (52, Occupancy::Unknown),
            (203, Occupancy::Unknown),
            (204, Occupancy::Free),
            (255, Occupancy::Free),
        ] {
            assert_eq!(of(Mode::Trinary, false, value), wanted, "{value}");
            assert_eq!(of(Mode::Trinary, true, 255 - value), wanted, "{value}");
            let scaled = if wanted == Occupancy::Unknown { Occupancy::Occupied } else { wanted };
            // 203 is a hundredth of the way from free to occupied at most.
            assert_eq!(of(Mode::Scale, false, value), scaled, "{value}");
        }
        for (value, wanted) in [
            (0, Occupancy::Free),
            (1, Occupancy::Occupied),
            (100, Occupancy::Occupied),
            (101, Occupancy::Unknown),
        ] {
            assert_eq!(of(Mode::Raw, false, value), wanted, "{value}");
            assert_eq!(of(Mode::Raw, true, value), wanted, "{value}");
        }
    }

    #[test]
    fn the_lowest_row_is_at_the_origin() {
        let frame = frame([10.0, 20.0, 0.0], 0.5, 4);
        assert_eq!(frame.cell_at([10.1, 20.1, 0.0]), Some([0, 3].into()));
        assert_eq!(frame.cell_at([11.1, 21.9, 0.0]), Some([2, 0].into()));
        assert_eq!(frame.centre([0, 3].into())[..2], [10.25, 20.25]);
        // A quarter turn counter-clockwise: columns run up, and rows run to the right.
        let turned = super::frame([10.0, 20.0, std::f64::consts::FRAC_PI_2], 0.5, 4);
        assert_eq!(turned.cell_at([9.9, 20.1, 0.0]), Some([0, 3].into()));
        assert_eq!(turned.cell_at([9.9, 21.1, 0.0]), Some([2, 3].into()));
    }
}
