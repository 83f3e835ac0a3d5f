//! MovingAI's `.map` files (Sturtevant 2012): a header of four lines, then a character for each cell.

use std::path::Path;

use super::occupancy::{Map, check_size};
use crate::failure::{Failure, Result};
use crate::read::text::excerpt;

/// Walkable terrain: ground and swamp. Water cannot be entered from either, so it is an obstacle, like trees and cells out
/// of bounds.
const FREE: &[u8] = b".GS";
const BLOCKED: &[u8] = b"@OTW";

pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Map> {
    // A final line end starts no further line.
    let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let mut lines = text.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut next = |number: u64| {
        lines.next().ok_or_else(|| Failure::line(path, number, "the file ends before this line"))
    };
    let header_error = |number: u64, line: &[u8], expected: &str| {
        let found = excerpt(&String::from_utf8_lossy(line));
        Failure::line(path, number, format!("\"{found}\", expected was {expected}"))
    };
    let first = next(1)?;
    if words(first) != ["type", "octile"] {
        return Err(header_error(1, first, "\"type octile\""));
    }
    let mut length = |number: u64, name: &str| -> Result<usize> {
        let line = next(number)?;
        let words = words(line);
        let value = match words.as_slice() {
            [word, value] if *word == name => value.parse().ok(),
            _ => None,
        };
        let value = value.ok_or_else(|| header_error(number, line, &format!("\"{name} N\"")))?;
        if value == 0 {
            return Err(Failure::line(path, number, format!("the {name} is 0, it must be 1 or more")));
        }
        Ok(value)
    };
    let height = length(2, "height")?;
    let width = length(3, "width")?;
    check_size(path, [width, height, 1])?;
    let last = next(4)?;
    if words(last) != ["map"] {
        return Err(header_error(4, last, "\"map\""));
    }
    // The header may claim any size, so no more is reserved than the file has bytes.
    let mut obstacles = Vec::with_capacity(bytes.len());
    for row in 0..height {
        let number = row as u64 + 5;
        let Some(line) = lines.next() else {
            return Err(Failure::line(path, number, format!("row {row} is missing, the height is {height}")));
        };
        if line.len() != width {
            return Err(Failure::line(
                path,
                number,
                format!("row {row} has {} cells, {width} expected", line.len()),
            ));
        }
        for (x, cell) in line.iter().enumerate() {
            let is_blocked = BLOCKED.contains(cell);
            if !is_blocked && !FREE.contains(cell) {
                let found = excerpt(&char::from(*cell).to_string());
                let message = format!("cell ({x}, {row}): \"{found}\" is no terrain, it is one of .GS@OTW");
                return Err(Failure::line(path, number, message));
            }
            obstacles.push(is_blocked);
        }
    }
    for (line, number) in lines.zip(height as u64 + 5..) {
        if !line.iter().all(u8::is_ascii_whitespace) {
            return Err(Failure::line(path, number, format!("the map goes on, but its height is {height}")));
        }
    }
    Ok(Map::flat(width, height, obstacles))
}

/// The words of a line; none if it is not UTF-8.
fn words(line: &[u8]) -> Vec<&str> {
    std::str::from_utf8(line).map(|line| line.split_ascii_whitespace().collect()).unwrap_or_default()
}
