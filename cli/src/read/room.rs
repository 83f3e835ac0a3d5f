//! Rooms (GeoJSON polygons, `.mesh` files), scenarios (`.scen`) and tables of queries.

use std::path::Path;

use hullfield::navigate::room::{Options as RoomOptions, Room};
use serde_json::Value;

use super::input::{self, unknown_format};
use super::table::Table;
use super::text::{excerpt, number};
use crate::failure::{Failure, Result};

/// A start and a goal.
pub(crate) type Query = [[f64; 2]; 2];

/// A scenario: a query, and the largest allowed length of its path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scenario {
    /// Its line in the file.
    pub(crate) line: u64,
    pub(crate) query: Query,
    pub(crate) cost: f64,
}

/// Reads a room, by the file's extension; from stdin, by its first bytes.
pub(crate) fn room(path: &Path, options: RoomOptions) -> Result<Room> {
    match input::file_format(path)?.as_str() {
        "mesh" => {
            Room::from_polyanya_mesh(&input::text(path)?, options).map_err(|error| Failure::file(path, error))
        }
        "geojson" | "json" => {
            let text = input::text(path)?;
            let value: Value = serde_json::from_str(&text).map_err(|error| Failure::file(path, error))?;
            let polygons = polygons(&value).map_err(|message| Failure::file(path, message))?;
            drop((value, text));
            Room::from_polygons(&polygons, options).map_err(|error| Failure::file(path, error))
        }
        _ => Err(unknown_format(path, "geojson, json or mesh is read")),
    }
}

/// The rings of a polygon, the outer one first.
type Polygon = Vec<Vec<[f64; 2]>>;

/// The polygons of a GeoJSON object.
fn polygons(value: &Value) -> Result<Vec<Polygon>, String> {
    let mut found = Vec::new();
    collect(value, &mut found, 0)?;
    // An empty geometry is as none (RFC 7946, 3.1).
    let count = found.len();
    found.retain(|polygon| !polygon.as_array().is_some_and(Vec::is_empty));
    if found.is_empty() {
        return Err(if count > 0 { "the polygon has no rings" } else { "it has no polygon" }.into());
    }
    let name = |at: usize| if found.len() > 1 { format!("polygon {at}, ") } else { String::new() };
    found.iter().enumerate().map(|(at, rings)| polygon(rings).map_err(|error| name(at) + &error)).collect()
}

/// Collects the coordinates of all polygons in a GeoJSON object.
fn collect<'a>(value: &'a Value, polygons: &mut Vec<&'a Value>, depth: u32) -> Result<(), String> {
    if depth > 16 {
        return Err("collections are nested too deep".into());
    }
    // A feature without a place has the geometry null.
    if value.is_null() && depth > 0 {
        return Ok(());
    }
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    let member = |name: &str| value.get(name).ok_or_else(|| format!("a {kind} has no \"{name}\""));
    let list = |name: &str| {
        member(name)?.as_array().ok_or_else(|| format!("the \"{name}\" of a {kind} is not an array"))
    };
    match kind {
        "Polygon" => polygons.push(member("coordinates")?),
        "MultiPolygon" => polygons.extend(list("coordinates")?),
        "Feature" => collect(member("geometry")?, polygons, depth + 1)?,
        "FeatureCollection" => {
            for feature in list("features")? {
                collect(feature, polygons, depth + 1)?;
            }
        }
        "GeometryCollection" => {
            for geometry in list("geometries")? {
                collect(geometry, polygons, depth + 1)?;
            }
        }
        "Point" | "MultiPoint" | "LineString" | "MultiLineString" => {}
        _ => return Err(format!("\"{}\" is not a type of GeoJSON", excerpt(kind))),
    }
    Ok(())
}

fn polygon(rings: &Value) -> Result<Vec<Vec<[f64; 2]>>, String> {
    let rings = rings.as_array().ok_or("the coordinates of a polygon are not an array of rings")?;
    rings
        .iter()
        .enumerate()
        .map(|(r, ring)| {
            let ring = ring.as_array().ok_or_else(|| format!("ring {r} is not an array of points"))?;
            ring.iter()
                .enumerate()
                .map(|(i, point)| {
                    // A third number, a height, is ignored.
                    let number = |k: usize| point.get(k).and_then(Value::as_f64);
                    match (number(0), number(1)) {
                        (Some(x), Some(y)) => Ok([x, y]),
                        _ => Err(format!("ring {r}, point {i} is not two numbers")),
                    }
                })
                .collect()
        })
        .collect()
}

/// Reads `x0,y0,x1,y1`.
pub(crate) fn queries(path: &Path) -> Result<Vec<Query>> {
    let names = ["x0", "y0", "x1", "y1"];
    let mut table = Table::open(path, &names)?;
    let mut columns = Vec::with_capacity(4);
    for name in names {
        columns.push(table.required(name)?);
    }
    let mut queries = Vec::new();
    while table.next()? {
        let mut values = [0.0; 4];
        for (value, &column) in values.iter_mut().zip(&columns) {
            *value = number(table.text(column)?).map_err(|message| table.invalid(column, message))?;
        }
        queries.push([[values[0], values[1]], [values[2], values[3]]]);
    }
    Ok(queries)
}

/// Reads a `.scen` file of version 1: `bucket map width height x0 y0 x1 y1 cost`, separated by white space.
pub(crate) fn scenarios(path: &Path) -> Result<Vec<Scenario>> {
    let text = input::text(path)?;
    let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    match lines.next() {
        Some((line, _)) if line.split_whitespace().next() == Some("version") => {}
        _ => return Err(Failure::line(path, 1, "a scenario file begins with the word version")),
    }
    lines
        .map(|(text, line)| {
            let words: Vec<&str> = text.split_whitespace().collect();
            if words.len() != 9 {
                return Err(Failure::line(path, line, format!("{} fields, 9 expected", words.len())));
            }
            let field = |k: usize, name: &str| {
                number(words[k]).map_err(|message| Failure::field(path, line, name, message))
            };
            let query =
                [[field(4, "start x")?, field(5, "start y")?], [field(6, "goal x")?, field(7, "goal y")?]];
            Ok(Scenario { line, query, cost: field(8, "cost")? })
        })
        .collect()
}

/// Reads `x,y` from a flag.
pub(crate) fn point(option: &str, text: &str) -> Result<[f64; 2]> {
    let invalid = |message: String| Failure::input(format!("{option}: {message}"));
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    match words.as_slice() {
        [x, y] => Ok([number(x).map_err(invalid)?, number(y).map_err(invalid)?]),
        _ => Err(invalid(format!("\"{}\" is not x,y", excerpt(text)))),
    }
}

#[cfg(test)]
mod tests {
    use hullfield_oracle::random::Random;
    use hullfield_oracle::{extent, seed};

    use super::*;

    #[test]
    fn polygons_are_found_where_geojson_puts_them() {
        let ring = "[[[0,0],[1,0],[0,1,5],[0,0]]]";
        let polygon = format!(r#"{{"type":"Polygon","coordinates":{ring}}}"#);
        let feature = |geometry: &str| format!(r#"{{"type":"Feature","geometry":{geometry}}}"#);
        let multi = format!(r#"{{"type":"MultiPolygon","coordinates":[{ring}]}}"#);
        let features = |list: &[&str]| {
            let list: Vec<String> = list.iter().map(|geometry| feature(geometry)).collect();
            format!(r#"{{"type":"FeatureCollection","features":[{}]}}"#, list.join(","))
        };
        let geometries =
            |list: &[&str]| format!(r#"{{"type":"GeometryCollection","geometries":[{}]}}"#, list.join(","));
        let point = r#"{"type":"Point","coordinates":[0,0]}"#;
        let empty = r#"{"type":"Polygon","coordinates":[]}"#;
        for (text, count) in [
            (polygon.clone(), 1),
            (feature(&polygon), 1),
            (multi.clone(), 1),
            (features(&[&polygon]), 1),
            (features(&["null", &polygon, "null", point, empty]), 1),
            (features(&[&polygon, &multi, &polygon]), 3),
            (geometries(&[point, &polygon, &geometries(&[&multi, &polygon]), empty]), 3),
            (format!(r#"{{"type":"MultiPolygon","coordinates":[{ring},{ring}]}}"#), 2),
        ] {
            let found = polygons(&serde_json::from_str(&text).unwrap()).unwrap();
            assert_eq!(found.len(), count, "{text}");
            assert!(found.iter().all(|rings| *rings == [[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]]));
        }
        for (text, part) in [
            (point, "no polygon"),
            (&feature("null"), "no polygon"),
            (empty, "the polygon has no rings"),
            ("null", "not a type"),
            (r#"{"type":"Feature"}"#, "no \"geometry\""),
            (r#"{"type":"Polygon"}"#, "no \"coordinates\""),
            (r#"{"type":"Polygon","coordinates":[[[0,"a"]]]}"#, "ring 0, point 0"),
            (
                r#"{"type":"MultiPolygon","coordinates":[[],[[[0,0],[1,0],[0,1]]],[[],[[]]]]}"#,
                "polygon 1, ring 1, point 0",
            ),
            (r#"{"type":"Cube"}"#, "\"Cube\""),
            ("[]", "not a type"),
        ] {
            let message = polygons(&serde_json::from_str(text).unwrap()).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    /// Texts near GeoJSON, by seeded changes of bytes, words and numbers: each is read as a room, or refused in one sentence.
    #[test]
    fn changed_texts_are_rooms_or_refused() {
        let block = |x: f64| format!("[[{x},0],[{0},0.5],[{0},8],[{x},7.25],[{x},0]]", x + 4.0);
        let hole = "[[1,1],[2,1,7],[2.5e0,2],[1,1]]";
        let seeds = [
            format!(r#"{{"type":"Polygon","coordinates":[{},{hole}]}}"#, block(0.0)),
            format!(r#"{{"type":"MultiPolygon","coordinates":[[{}],[{},{hole}]]}}"#, block(0.0), block(4.0)),
            format!(
                r#"{{"type":"FeatureCollection","features":[{{"type":"Feature","properties":{{}},"geometry":null}},
                {{"type":"Feature","geometry":{{"type":"Polygon","coordinates":[{}]}}}}]}}"#,
                block(-1e6)
            ),
        ];
        let words = [
            "null",
            "[]",
            "{}",
            "[[]]",
            "-0",
            "1e-45",
            "1e300",
            "1e400",
            "1e60",
            "0.1",
            "\"type\"",
            "\"Polygon\"",
            ",",
            "[",
            "]",
            "[[[[[",
            "\"Feature\"",
            "\u{feff}",
            "é",
            "1e-5",
        ];
        let mut random = Random::new(seed(0x9e05));
        let count = extent(4_000, 8_000);
        let mut below = move |most: usize| random.below(most.max(1));
        let (mut built, mut refused) = (0, 0);
        for _ in 0..count {
            let mut text = seeds[below(seeds.len())].clone().into_bytes();
            for _ in 0..below(4) {
                if text.is_empty() {
                    break;
                }
                let at = below(text.len());
                let end = (at + below(6)).min(text.len());
                match below(6) {
                    0 => text[at] = below(256) as u8,
                    1 => drop(text.drain(at..end)),
                    2 => text.truncate(at.max(1)),
                    3 => {
                        let part = text[at..end].to_vec();
                        text.splice(at..at, part);
                    }
                    _ => drop(text.splice(at..end, words[below(words.len())].bytes())),
                }
            }
            let Ok(text) = String::from_utf8(text) else { continue };
            let found = serde_json::from_str(&text)
                .map_err(|error| error.to_string())
                .and_then(|value| polygons(&value));
            let radius = [0.0, 0.1, 1e-100][below(3)];
            let options = RoomOptions { radius, ..RoomOptions::default() };
            let room = found
                .and_then(|found| Room::from_polygons(&found, options).map_err(|error| error.to_string()));
            match room {
                Ok(room) => {
                    built += 1;
                    assert!(room.area() > 0.0, "{text}");
                }
                Err(message) => {
                    refused += 1;
                    let is_clear = !message.contains("fault of hullfield")
                        && !message.contains('\n')
                        && message.len() < 300;
                    assert!(is_clear, "{text}: {message}");
                }
            }
        }
        eprintln!("{count} texts: {built} rooms, {refused} refused");
        assert!(built > count / 10 && refused > count / 10, "{built} {refused}");
    }
}
