//! Maps of ROS's `map_server`: a YAML file with a picture's name, its frame and the meaning of its shades.

use std::path::Path;

use hullfield::flow::GridFrame;
use yaml_rust2::{Yaml, YamlLoader};

use super::occupancy::Map;
use super::pixels::{GreyImage, read_grey};
use crate::failure::{Failure, Result};
use crate::read::text::excerpt;

/// The fields that `map_server` writes.
const FIELDS: [&str; 7] =
    ["image", "resolution", "origin", "negate", "occupied_thresh", "free_thresh", "mode"];

pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Map> {
    let text = std::str::from_utf8(bytes).map_err(|_| Failure::file(path, "not valid UTF-8"))?;
    let documents = YamlLoader::load_from_str(text).map_err(|error| {
        let line = error.marker().line() as u64;
        Failure::line(path, line, error.info())
    })?;
    let [document] = documents.as_slice() else {
        return Err(Failure::file(path, format!("{} documents, one expected", documents.len())));
    };
    let Some(fields) = document.as_hash() else {
        return Err(Failure::file(path, "it is not a list of fields"));
    };
    for (name, _) in fields {
        let name = name.as_str().unwrap_or("?");
        if !FIELDS.contains(&name) {
            let known = FIELDS.join(", ");
            return Err(Failure::file(
                path,
                format!("unknown field \"{}\", known are {known}", excerpt(name)),
            ));
        }
    }
    let invalid = |field: &str, message: String| Failure::file(path, format!("field {field}: {message}"));
    let value_of = |field: &str| match &document[field] {
        Yaml::BadValue => Err(invalid(field, "missing".into())),
        value => Ok(value),
    };
    let number = |field: &str, value: &Yaml| match value.as_f64().or(value.as_i64().map(|whole| whole as f64))
    {
        Some(number) if number.is_finite() => Ok(number),
        _ => Err(invalid(field, "not a finite number".into())),
    };
    let from_zero_to_one = |field: &str| match number(field, value_of(field)?)? {
        value if (0.0..=1.0).contains(&value) => Ok(value),
        value => Err(invalid(field, format!("{value} is not from 0 to 1"))),
    };
    let image =
        value_of("image")?.as_str().ok_or_else(|| invalid("image", "not the name of a file".into()))?;
    let resolution = number("resolution", value_of("resolution")?)?;
    if resolution <= 0.0 {
        return Err(invalid("resolution", format!("{resolution} is not above zero")));
    }
    let origin = match value_of("origin")?.as_vec().map(Vec::as_slice) {
        Some([x, y, yaw]) => [number("origin", x)?, number("origin", y)?, number("origin", yaw)?],
        _ => return Err(invalid("origin", "not three numbers x, y, yaw".into())),
    };
    let is_negated = match value_of("negate")? {
        Yaml::Boolean(is_negated) => *is_negated,
        Yaml::Integer(whole @ 0..=1) => *whole == 1,
        _ => return Err(invalid("negate", "neither 0 nor 1".into())),
    };
    let occupied = from_zero_to_one("occupied_thresh")?;
    let free = from_zero_to_one("free_thresh")?;
    if free > occupied {
        return Err(invalid("free_thresh", format!("{free} is above occupied_thresh, {occupied}")));
    }
    match &document["mode"] {
        Yaml::BadValue => {}
        Yaml::String(mode) if ["trinary", "scale"].contains(&mode.as_str()) => {}
        other => {
            let mode = other.as_str().unwrap_or("?");
            return Err(invalid("mode", format!("\"{}\" is neither trinary nor scale", excerpt(mode))));
        }
    }
    let image = path.parent().unwrap_or(Path::new("")).join(image);
    let bytes = crate::read::input::bytes(&image)?;
    let GreyImage { width, height, shades } = read_grey(&image, &bytes)?;
    let mut unknown_count = 0;
    let mut is_obstacle = |shade: f32| {
        let occupancy = if is_negated { f64::from(shade) } else { 1.0 - f64::from(shade) };
        // A cell that is not known to be free is an obstacle.
        unknown_count += usize::from(occupancy >= free && occupancy <= occupied);
        occupancy >= free
    };
    let obstacles = shades.iter().map(|&shade| is_obstacle(shade)).collect();
    let frame = frame(origin, resolution, height);
    Ok(Map { unknown_count, frame, ..Map::flat(width, height, obstacles) })
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
