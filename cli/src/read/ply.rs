//! PLY, text and binary, with `ply-rs-bw`.

use std::path::Path;

use ply_rs_bw::parser::{ParseError, Parser, Reader};
use ply_rs_bw::ply::{DefaultElement, ElementDef, Encoding, Property, PropertyAccess, PropertyAccessResult};

use super::{PointSet, stem, used};
use crate::failure::{Failure, Result};

/// A vertex; NaN until it is read.
#[derive(Debug)]
struct Vertex([f32; 3]);

impl PropertyAccess for Vertex {
    fn new() -> Self {
        Self([f32::NAN; 3])
    }

    fn set_property(&mut self, name: &str, property: Property) -> PropertyAccessResult {
        let Some(axis) = ["x", "y", "z"].iter().position(|&axis| axis == name) else {
            return PropertyAccessResult::Ignored;
        };
        match property.to_f32_lossy() {
            Some(value) => {
                self.0[axis] = value;
                PropertyAccessResult::Set
            }
            None => PropertyAccessResult::UnsupportedType,
        }
    }
}

/// The vertices of a face; `None` stands for a number that no vertex can have.
#[derive(Debug)]
struct Face(Vec<Option<u32>>);

impl PropertyAccess for Face {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn set_property(&mut self, name: &str, property: Property) -> PropertyAccessResult {
        if name != "vertex_indices" && name != "vertex_index" {
            return PropertyAccessResult::Ignored;
        }
        fn indices<T: TryInto<u32>>(list: Vec<T>) -> Vec<Option<u32>> {
            list.into_iter().map(|index| index.try_into().ok()).collect()
        }
        self.0 = match property {
            Property::ListChar(list) => indices(list),
            Property::ListUChar(list) => indices(list),
            Property::ListShort(list) => indices(list),
            Property::ListUShort(list) => indices(list),
            Property::ListInt(list) => indices(list),
            Property::ListUInt(list) => indices(list),
            _ => return PropertyAccessResult::UnsupportedType,
        };
        PropertyAccessResult::Set
    }
}

pub(super) fn read(file: &Path, bytes: &[u8]) -> Result<Vec<PointSet>> {
    let failed = |error: ParseError| {
        let (column, message) = cause(&error);
        match (error.line(), column) {
            (Some(line), Some(column)) => Failure::field(file, line as u64, &column, message),
            (Some(line), None) => Failure::line(file, line as u64, message),
            _ => Failure::file(file, message),
        }
    };
    let mut reader = Reader::new(bytes);
    let header = Parser::<DefaultElement>::new().read_header(&mut reader).map_err(failed)?;
    let mut points: Vec<[f32; 3]> = Vec::new();
    let mut first_line = 0;
    let mut faces: Vec<(Face, u64)> = Vec::new();
    let text = header.encoding == Encoding::Ascii;
    for element in header.elements.values() {
        let line = reader.line() as u64;
        match element.name.as_str() {
            "vertex" => {
                check_axes(file, element)?;
                first_line = line;
                let read = Parser::<Vertex>::new().read_payload_for_element(&mut reader, element, &header);
                points = read.map_err(failed)?.into_iter().map(|vertex| vertex.0).collect();
            }
            "face" => {
                let read = Parser::<Face>::new().read_payload_for_element(&mut reader, element, &header);
                faces = read.map_err(failed)?.into_iter().zip(line..).collect();
            }
            _ => {
                let read =
                    Parser::<DefaultElement>::new().read_payload_for_element(&mut reader, element, &header);
                read.map_err(failed)?;
            }
        }
    }
    let at = |line: u64, row: u64, what: &str, field: &str, message: String| {
        if text {
            Failure::field(file, line, field, message)
        } else {
            Failure::file(file, format!("{what} {row}, property {field}: {message}"))
        }
    };
    for (point, row) in points.iter().zip(0u64..) {
        if let Some(axis) = (0..3).find(|&axis| !point[axis].is_finite()) {
            let message = format!("{} is not finite", point[axis]);
            return Err(at(first_line + row, row, "vertex", ["x", "y", "z"][axis], message));
        }
    }
    let mut indices = Vec::new();
    for ((face, line), row) in faces.iter().zip(0u64..) {
        for index in &face.0 {
            match index {
                Some(index) if (*index as usize) < points.len() => indices.push(*index),
                _ => {
                    let message = match index {
                        Some(index) => format!("vertex {index} does not exist, there are {}", points.len()),
                        None => "a negative vertex number".to_owned(),
                    };
                    return Err(at(*line, row, "face", "vertex_indices", message));
                }
            }
        }
    }
    if points.is_empty() {
        return Err(Failure::file(file, "it has no vertices"));
    }
    Ok(vec![PointSet { name: stem(file), points: used(&points, &indices), file: file.to_owned() }])
}

fn check_axes(file: &Path, element: &ElementDef) -> Result<()> {
    for axis in ["x", "y", "z"] {
        if !element.properties.contains_key(axis) {
            return Err(Failure::file(file, format!("its element vertex has no property {axis}")));
        }
    }
    Ok(())
}

/// What the parser says, shortened: it repeats the line's text and lists the grammar it expected. The column, from 1,
/// where it gives one.
fn cause(error: &ParseError) -> (Option<String>, String) {
    let text = error.to_string();
    if let Some((_, place)) = text.split_once("error at 1:") {
        let column = place.chars().take_while(char::is_ascii_digit).collect();
        return (Some(column), "not a finite number, or not what the header announces".to_owned());
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with("String:"));
    let joined = lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
    let message = match joined.split_once(": ") {
        Some((place, rest)) if place.starts_with("Line ") => rest.to_owned(),
        _ => joined,
    };
    (None, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 4\nproperty float x\n\
        property double y\nproperty int z\nproperty uchar red\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";

    fn fault(text: &str) -> String {
        read(Path::new("a.ply"), text.as_bytes()).unwrap_err().one_line()
    }

    #[test]
    fn a_text_file_gives_the_points_its_faces_use() {
        let text = format!("{HEADER}0 0 0 9\n1 0 0 9\n0 1 0 9\n5 5 5 9\n3 0 1 2\n");
        let sets = read(Path::new("a.ply"), text.as_bytes()).unwrap();
        assert_eq!(sets[0].points, [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.]]);
    }

    #[test]
    fn a_binary_file_is_read() {
        let mut bytes =
            b"ply\nformat binary_big_endian 1.0\nelement vertex 2\nproperty float x\nproperty float y\n\
            property float z\nend_header\n"
                .to_vec();
        bytes.extend([1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0].iter().flat_map(|value| value.to_be_bytes()));
        let sets = read(Path::new("a.ply"), &bytes).unwrap();
        assert_eq!(sets[0].points, [[1., 2., 3.], [4., 5., 6.]]);
        assert!(read(Path::new("a.ply"), &bytes[..bytes.len() - 1]).is_err());
    }

    #[test]
    fn faults_name_the_line() {
        for word in ["zero", "nan"] {
            let bad = fault(&format!("{HEADER}0 0 0 9\n1 {word} 0 9\n0 1 0 9\n5 5 5 9\n3 0 1 2\n"));
            assert_eq!(
                bad,
                "a.ply: line 13, column 3: not a finite number, or not what the header announces"
            );
        }
        let bad = fault(&format!("{HEADER}0 0 0 9\n1 0 0\n0 1 0 9\n5 5 5 9\n3 0 1 2\n"));
        assert!(bad.starts_with("a.ply: line 13: "), "{bad}");
        let bad = fault(&format!("{HEADER}0 0 0 9\n1 1e999 0 9\n0 1 0 9\n5 5 5 9\n3 0 1 2\n"));
        assert_eq!(bad, "a.ply: line 13, column y: inf is not finite");
        let bad = fault(&format!("{HEADER}0 0 0 9\n1 0 0 9\n0 1 0 9\n5 5 5 9\n3 0 1 4\n"));
        assert_eq!(bad, "a.ply: line 16, column vertex_indices: vertex 4 does not exist, there are 4");
        let bad = fault(&format!("{HEADER}0 0 0 9\n1 0 0 9\n"));
        assert!(bad.starts_with("a.ply: line 14: "), "{bad}");
        let bad = fault("plx\n");
        assert!(bad.starts_with("a.ply: line 1: "), "{bad}");
    }
}
