//! Reads the `.mesh` format, version 2, of the authors of Polyanya.

use glam::DVec2;

use crate::error::{Error, Location, Result, shown, shown_point};
use crate::navigate::room::build::cells::{Cells, NONE};
use crate::navigate::room::build::convex::check_and_join;
use crate::navigate::shared::predicate::{MAX_COORDINATE, MIN_COORDINATE};

/// The tokens of a text, with their lines.
struct Tokens<'a> {
    tokens: Box<dyn Iterator<Item = (usize, &'a str)> + 'a>,
    line: usize,
}

impl<'a> Tokens<'a> {
    fn next(&mut self, what: &str) -> Result<&'a str> {
        match self.tokens.next() {
            Some((line, token)) => {
                self.line = line;
                Ok(token)
            }
            None => Err(self.error(format!("the text ends where {what} should be"))),
        }
    }

    fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T> {
        let token = self.next(what)?;
        token.parse().map_err(|_| self.error(format!("\"{token}\" is not {what}")))
    }

    fn error(&self, message: String) -> Error {
        Error::invalid(Location::Line(self.line), message)
    }
}

/// Reads cells and links them.
pub(crate) fn read(text: &str) -> Result<Cells> {
    let tokens =
        text.lines().enumerate().flat_map(|(i, line)| line.split_whitespace().map(move |w| (i + 1, w)));
    let mut tokens = Tokens { tokens: Box::new(tokens), line: 1 };
    if tokens.next("the word mesh")? != "mesh" {
        return Err(tokens.error("a mesh file begins with the word mesh".into()));
    }
    let version: u32 = tokens.number("a version")?;
    if version != 2 {
        return Err(tokens.error(format!("the version is {version}, only 2 is read")));
    }
    let vertex_count: usize = tokens.number("the number of vertices")?;
    let cell_count: usize = tokens.number("the number of polygons")?;
    // Counts are not trusted: memory grows with the tokens that are there.
    let mut points: Vec<DVec2> = Vec::new();
    for vertex in 0..vertex_count {
        let mut point = [0.0; 2];
        for x in &mut point {
            *x = tokens.number("a coordinate")?;
            if !f64::is_finite(*x) || x.abs() > MAX_COORDINATE || (*x != 0.0 && x.abs() < MIN_COORDINATE) {
                return Err(tokens.error(format!(
                    "vertex {vertex} has the coordinate {}, it must be 0 or from 1e-42 to 1e60",
                    shown(*x)
                )));
            }
        }
        points.push(DVec2::from(point) + DVec2::ZERO);
        // The polygons around a vertex follow from the polygons themselves.
        let count: usize = tokens.number("a count")?;
        for _ in 0..count {
            let _: i64 = tokens.number("a polygon's index")?;
        }
    }
    let (mut corners, mut counts, mut neighbours) = (Vec::<u32>::new(), Vec::<u32>::new(), Vec::<i64>::new());
    for cell in 0..cell_count {
        let count: u32 = tokens.number("a count")?;
        if count < 3 {
            return Err(tokens.error(format!("polygon {cell} has {count} vertices, it needs three")));
        }
        for _ in 0..count {
            let vertex: u32 = tokens.number("a vertex's index")?;
            if vertex as usize >= points.len() {
                return Err(tokens.error(format!(
                    "polygon {cell}: vertex {vertex} does not exist, there are {}",
                    points.len()
                )));
            }
            corners.push(vertex);
        }
        let first = neighbours.len();
        for _ in 0..count {
            neighbours.push(tokens.number("a neighbour's index or -1")?);
        }
        // The file lists the neighbour across the edge that ends at a vertex; a side is the edge that begins there.
        neighbours[first..].rotate_left(1);
        counts.push(count);
    }
    if let Ok(token) = tokens.next("") {
        return Err(tokens.error(format!("\"{token}\" after the last polygon")));
    }
    let mut cells = check_and_join(points, &corners, &counts)?;
    for side in 0..cells.sides.len() {
        let (named, found) = (neighbours[side], cells.sides[side].neighbour);
        if named == -1 {
            if found != NONE {
                // A wall without thickness.
                cells.shut(side as u32);
            }
        } else if named != i64::from(found) && found != NONE || named >= 0 && found == NONE {
            let place = cells.sides[side].point.to_array();
            let cell = cells.cell_of[side] as usize;
            let is_shut = named >= 0 && (named as usize) < counts.len() && found == NONE && {
                let twin_shut = |other: usize| {
                    let [a, b] = cells.end_vertices(side);
                    cells.range(other as u32).any(|s| cells.end_vertices(s) == [b, a])
                };
                twin_shut(named as usize)
            };
            if !is_shut {
                return Err(Error::invalid(
                    Location::Polygon(cell),
                    format!(
                        "polygon {named} is named across the edge at {}, but does not share it",
                        shown_point(&place)
                    ),
                ));
            }
        }
    }
    Ok(cells)
}
