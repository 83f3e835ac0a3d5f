//! The `.mesh` format, version 2, of the authors of Polyanya.

use glam::DVec2;

use crate::error::{Error, Location, Result, shown, shown_point};
use crate::navigate::room::build::cells::{Cells, NONE};
use crate::navigate::room::build::convex::join;
use crate::navigate::shared::predicate::{MAX_COORDINATE, MIN_COORDINATE};

/// Words of a text with their lines.
struct Words<'a> {
    words: Box<dyn Iterator<Item = (usize, &'a str)> + 'a>,
    line: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self, what: &str) -> Result<&'a str> {
        match self.words.next() {
            Some((line, word)) => {
                self.line = line;
                Ok(word)
            }
            None => Err(self.fault(format!("the text ends where {what} should be"))),
        }
    }

    fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T> {
        let word = self.next(what)?;
        word.parse().map_err(|_| self.fault(format!("\"{word}\" is not {what}")))
    }

    fn fault(&self, message: String) -> Error {
        Error::invalid(Location::Line(self.line), message)
    }
}

/// Reads cells and joins them.
pub(crate) fn read(text: &str) -> Result<Cells> {
    let words =
        text.lines().enumerate().flat_map(|(i, line)| line.split_whitespace().map(move |w| (i + 1, w)));
    let mut words = Words { words: Box::new(words), line: 1 };
    if words.next("the word mesh")? != "mesh" {
        return Err(words.fault("a mesh file begins with the word mesh".into()));
    }
    let version: u32 = words.number("a version")?;
    if version != 2 {
        return Err(words.fault(format!("the version is {version}, only 2 is read")));
    }
    let vertex_count: usize = words.number("the number of vertices")?;
    let cell_count: usize = words.number("the number of polygons")?;
    // Counts are not believed: memory is taken as words come.
    let mut points: Vec<DVec2> = Vec::new();
    for vertex in 0..vertex_count {
        let mut point = [0.0; 2];
        for x in &mut point {
            *x = words.number("a coordinate")?;
            if !f64::is_finite(*x) || x.abs() > MAX_COORDINATE || (*x != 0.0 && x.abs() < MIN_COORDINATE) {
                return Err(words.fault(format!(
                    "vertex {vertex} has the coordinate {}, it must be 0 or from 1e-42 to 1e60",
                    shown(*x)
                )));
            }
        }
        points.push(DVec2::from(point) + DVec2::ZERO);
        // The polygons around it follow from the polygons themselves.
        let count: usize = words.number("a count")?;
        for _ in 0..count {
            let _: i64 = words.number("a polygon's index")?;
        }
    }
    let (mut corners, mut counts, mut neighbours) = (Vec::<u32>::new(), Vec::<u32>::new(), Vec::<i64>::new());
    for cell in 0..cell_count {
        let count: u32 = words.number("a count")?;
        if count < 3 {
            return Err(words.fault(format!("polygon {cell} has {count} vertices, it needs three")));
        }
        for _ in 0..count {
            let vertex: u32 = words.number("a vertex's index")?;
            if vertex as usize >= points.len() {
                return Err(words.fault(format!(
                    "polygon {cell}: vertex {vertex} does not exist, there are {}",
                    points.len()
                )));
            }
            corners.push(vertex);
        }
        let first = neighbours.len();
        for _ in 0..count {
            neighbours.push(words.number("a neighbour's index or -1")?);
        }
        // Theirs is across the edge that ends at the vertex, ours across the one that begins there.
        neighbours[first..].rotate_left(1);
        counts.push(count);
    }
    if let Ok(word) = words.next("") {
        return Err(words.fault(format!("\"{word}\" after the last polygon")));
    }
    let mut cells = join(points, &corners, &counts)?;
    for side in 0..cells.sides.len() {
        let (said, joined) = (neighbours[side], cells.sides[side].beyond);
        if said == -1 {
            if joined != NONE {
                // A wall without thickness.
                cells.shut(side as u32);
            }
        } else if said != i64::from(joined) && joined != NONE || said >= 0 && joined == NONE {
            let place = cells.sides[side].point.to_array();
            let cell = cells.cell_of[side] as usize;
            let is_shut = said >= 0 && (said as usize) < counts.len() && joined == NONE && {
                let twin_shut = |other: usize| {
                    let [a, b] = cells.end_vertices(side);
                    cells.range(other as u32).any(|s| cells.end_vertices(s) == [b, a])
                };
                twin_shut(said as usize)
            };
            if !is_shut {
                return Err(Error::invalid(
                    Location::Polygon(cell),
                    format!(
                        "polygon {said} is named across the edge at {}, but does not share it",
                        shown_point(&place)
                    ),
                ));
            }
        }
    }
    Ok(cells)
}
