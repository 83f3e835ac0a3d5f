//! PLY, text and binary.
//!
//! `ply-rs-bw` is not used: it makes room for whatever counts a header claims, refuses numbers like `.5`, and rounds text to the type of its
//! property. Of elements other than `vertex`, `face` and `tristrips` nothing is read; their rows are skipped.

mod header;
mod rows;

use header::{Element, Encoding, Kind};
use rows::{Binary, Row, Rows, Text, Use};

use crate::error::{Error, Result, stem};
use crate::mesh::Mesh;
use crate::text::excerpt;

/// The names of the list of a face's vertices: the first two are usual, the others are seen.
const CORNER_LISTS: [&str; 6] =
    ["vertex_indices", "vertex_index", "vertex_indexes", "vertex_list", "vertices", "indices"];

/// What a row of an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Vertex,
    Face,
    Strips,
    Nothing,
}

impl Role {
    fn of(element: &Element) -> Self {
        match element.name.as_str() {
            "vertex" => Self::Vertex,
            "face" => Self::Face,
            "tristrips" => Self::Strips,
            _ => Self::Nothing,
        }
    }
}

pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Mesh> {
    let header = header::parse(name, bytes)?;
    let vertices = header.elements.iter().find(|element| Role::of(element) == Role::Vertex);
    let vertex_count = vertices.map_or(0, |element| element.count);
    if vertex_count == 0 {
        return Err(Error::file(name, "it has no vertices"));
    }
    let body = &bytes[header.end..];
    let mut rows: Box<dyn Rows + '_> = match header.encoding {
        Encoding::Text => Box::new(Text::new(body, header.line_count)),
        Encoding::LittleEndian => Box::new(Binary::new(body, false)),
        Encoding::BigEndian => Box::new(Binary::new(body, true)),
    };
    let mut mesh = Mesh::new(stem(name));
    mesh.begin(None, None);
    for element in &header.elements {
        if element.count > 0 {
            let uses = uses(name, element)?;
            rows.check(element).map_err(|message| Error::file(name, message))?;
            read_element(name, element, &uses, rows.as_mut(), (&mut mesh, vertex_count))?;
        }
    }
    if let Some(line) = rows.first_longer_line() {
        mesh.note(
            name,
            format!(
                "line {line} is the first with more numbers than the header announces, they are not read"
            ),
        );
    }
    if let Some(rest) = rows.rest() {
        mesh.note(name, format!("{rest} after the rows that its header announces, they are not read"));
    }
    mesh.end();
    Ok(mesh)
}

/// What the properties of an element are used for.
fn uses(name: &str, element: &Element) -> Result<Vec<Use>> {
    let wrong =
        |message: String| Error::file(name, format!("its element {} {message}", excerpt(&element.name)));
    if element.properties.is_empty() {
        return Err(wrong(format!("has {} rows without properties", element.count)));
    }
    let mut uses = vec![Use::Nothing; element.properties.len()];
    match Role::of(element) {
        Role::Vertex => {
            for (axis, label) in ["x", "y", "z"].into_iter().enumerate() {
                let is_axis = |property: &header::Property| {
                    property.name == label && matches!(property.kind, Kind::Number(_))
                };
                let found = element.properties.iter().position(is_axis);
                uses[found.ok_or_else(|| wrong(format!("has no property {label}")))?] = Use::Axis(axis);
            }
        }
        Role::Face | Role::Strips => {
            let is_list = |property: &&header::Property| matches!(property.kind, Kind::List { .. });
            let lists: Vec<&str> =
                element.properties.iter().filter(is_list).map(|list| list.name.as_str()).collect();
            let corners = CORNER_LISTS.iter().find(|&&name| lists.contains(&name));
            let Some(&corners) = corners else {
                let has = if lists.is_empty() {
                    "has no list".to_owned()
                } else {
                    format!("has the lists {}", excerpt(&lists.join(", ")))
                };
                return Err(wrong(format!(
                    "{has}: its vertices are read from vertex_indices or vertex_index"
                )));
            };
            for (property, used) in element.properties.iter().zip(&mut uses) {
                match property.kind {
                    Kind::List { item, .. } if property.name == corners => {
                        if !item.is_integer() {
                            return Err(wrong(format!(
                                "has a list {corners} of fractions: vertex numbers are whole"
                            )));
                        }
                        *used = Use::Corners;
                    }
                    _ => {}
                }
            }
        }
        Role::Nothing => {}
    }
    Ok(uses)
}

/// Reads all rows of an element. Vertices may come after the faces, so their number is that of the header.
fn read_element(
    name: &str,
    element: &Element,
    uses: &[Use],
    rows: &mut dyn Rows,
    (mesh, vertex_count): (&mut Mesh, u64),
) -> Result<()> {
    let role = Role::of(element);
    if role == Role::Nothing && rows.skip(element) {
        return Ok(());
    }
    let mut row = Row::default();
    for number in 0..element.count {
        let invalid = |rows: &dyn Rows, (field, message): (String, String)| match rows.line() {
            Some(line) if field.is_empty() => Error::line(name, line, message),
            Some(line) => Error::field(name, line, &excerpt(&field), message),
            None => Error::file(
                name,
                format!("{} {number}, property {}: {message}", excerpt(&element.name), excerpt(&field)),
            ),
        };
        row.corners.clear();
        rows.next(element, uses, &mut row).map_err(|error| invalid(rows, error))?;
        let added = match role {
            Role::Vertex => {
                mesh.points.push(row.point);
                Ok(())
            }
            Role::Face => face(mesh, &row.corners, vertex_count),
            Role::Strips => strips(mesh, &row.corners, vertex_count),
            Role::Nothing => Ok(()),
        };
        added.map_err(|message| {
            let list = element.properties.iter().zip(uses).find(|(_, used)| **used == Use::Corners);
            invalid(rows, (list.map_or_else(String::new, |(list, _)| list.name.clone()), message))
        })?;
    }
    Ok(())
}

fn checked_index(index: i64, count: u64) -> Result<u32, String> {
    match u32::try_from(index) {
        Ok(index) if u64::from(index) < count => Ok(index),
        Err(_) if index < 0 => Err("a negative vertex number".to_owned()),
        _ => Err(format!("vertex {index} does not exist, there are {count}")),
    }
}

fn face(mesh: &mut Mesh, corners: &[i64], vertex_count: u64) -> Result<(), String> {
    if corners.len() < 3 {
        return Err(format!("a face needs three vertices, {} given", corners.len()));
    }
    let begin = mesh.corners.len();
    for &corner in corners {
        mesh.corners.push(checked_index(corner, vertex_count)?);
    }
    mesh.faces.push(begin..mesh.corners.len());
    Ok(())
}

/// Adds the triangles of strips. A negative number ends each strip but the last.
fn strips(mesh: &mut Mesh, corners: &[i64], vertex_count: u64) -> Result<(), String> {
    for strip in corners.split(|&corner| corner < 0) {
        let strip: Result<Vec<u32>, String> =
            strip.iter().map(|&corner| checked_index(corner, vertex_count)).collect();
        // Every other triangle is reversed. Triangles with equal corners only connect parts of a strip.
        for (i, corners) in strip?.windows(3).enumerate() {
            let [a, b, c] = [corners[0], corners[1], corners[2]];
            if a != b && b != c && c != a {
                mesh.face(if i % 2 == 0 { [a, b, c] } else { [b, a, c] });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
