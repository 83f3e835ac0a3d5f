//! PLY, text and binary, with `ply-rs-bw`.

use ply_rs_bw::parser::{ParseError, Parser, Reader};
use ply_rs_bw::ply::{DefaultElement, ElementDef, Encoding, Property, PropertyAccess, PropertyAccessResult};

use crate::error::{Error, Result, stem};
use crate::mesh::Mesh;

/// A vertex; NaN until it is read.
#[derive(Debug)]
struct Vertex([f64; 3]);

impl PropertyAccess for Vertex {
    fn new() -> Self {
        Self([f64::NAN; 3])
    }

    fn set_property(&mut self, name: &str, property: Property) -> PropertyAccessResult {
        let Some(axis) = ["x", "y", "z"].iter().position(|&axis| axis == name) else {
            return PropertyAccessResult::Ignored;
        };
        self.0[axis] = match property {
            Property::Char(value) => value.into(),
            Property::UChar(value) => value.into(),
            Property::Short(value) => value.into(),
            Property::UShort(value) => value.into(),
            Property::Int(value) => value.into(),
            Property::UInt(value) => value.into(),
            Property::Float(value) => value.into(),
            Property::Double(value) => value,
            _ => return PropertyAccessResult::UnsupportedType,
        };
        PropertyAccessResult::Set
    }
}

/// The vertices of a face, or of strips with a negative number after each strip.
#[derive(Debug)]
struct Corners(Vec<i64>);

impl PropertyAccess for Corners {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn set_property(&mut self, name: &str, property: Property) -> PropertyAccessResult {
        if name != "vertex_indices" && name != "vertex_index" {
            return PropertyAccessResult::Ignored;
        }
        fn numbers<T: Into<i64>>(list: Vec<T>) -> Vec<i64> {
            list.into_iter().map(T::into).collect()
        }
        self.0 = match property {
            Property::ListChar(list) => numbers(list),
            Property::ListUChar(list) => numbers(list),
            Property::ListShort(list) => numbers(list),
            Property::ListUShort(list) => numbers(list),
            Property::ListInt(list) => numbers(list),
            Property::ListUInt(list) => numbers(list),
            _ => return PropertyAccessResult::UnsupportedType,
        };
        PropertyAccessResult::Set
    }
}

pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Mesh> {
    let failed = |error: ParseError| {
        let (column, message) = cause(&error);
        match (error.line(), column) {
            (Some(line), Some(column)) => Error::field(name, line as u64, &column, message),
            (Some(line), None) => Error::line(name, line as u64, message),
            _ => Error::file(name, message),
        }
    };
    let mut reader = Reader::new(bytes);
    let header = Parser::<DefaultElement>::new().read_header(&mut reader).map_err(failed)?;
    let mut vertices: Vec<Vertex> = Vec::new();
    let mut first_line = 0;
    // The lists, and the line of the first.
    let (mut faces, mut strips) = ((Vec::new(), 0), (Vec::new(), 0));
    let is_text = header.encoding == Encoding::Ascii;
    for element in header.elements.values() {
        let line = reader.line() as u64;
        match element.name.as_str() {
            "vertex" => {
                check_axes(name, element)?;
                first_line = line;
                let read = Parser::<Vertex>::new().read_payload_for_element(&mut reader, element, &header);
                vertices = read.map_err(failed)?;
            }
            "face" | "tristrips" => {
                let read = Parser::<Corners>::new().read_payload_for_element(&mut reader, element, &header);
                let lists = (read.map_err(failed)?, line);
                *(if element.name == "face" { &mut faces } else { &mut strips }) = lists;
            }
            _ => {
                let read =
                    Parser::<DefaultElement>::new().read_payload_for_element(&mut reader, element, &header);
                read.map_err(failed)?;
            }
        }
    }
    let row_error = |line: u64, row: u64, what: &str, field: &str, message: String| {
        if is_text {
            Error::field(name, line + row, field, message)
        } else {
            Error::file(name, format!("{what} {row}, property {field}: {message}"))
        }
    };
    if vertices.is_empty() {
        return Err(Error::file(name, "it has no vertices"));
    }
    let mut mesh = Mesh::new();
    mesh.begin(stem(name), None);
    for (Vertex(point), row) in vertices.iter().zip(0u64..) {
        if let Some(axis) = (0..3).find(|&axis| !point[axis].is_finite()) {
            let message = format!("{} is not finite", point[axis]);
            return Err(row_error(first_line, row, "vertex", ["x", "y", "z"][axis], message));
        }
        mesh.points.push(*point);
    }
    let count = mesh.points.len();
    let checked_index = |index: i64| match u32::try_from(index) {
        Ok(index) if (index as usize) < count => Ok(index),
        Err(_) if index < 0 => Err("a negative vertex number".to_owned()),
        _ => Err(format!("vertex {index} does not exist, there are {count}")),
    };
    for ((Corners(corners), row), line) in faces.0.iter().zip(0u64..).zip(std::iter::repeat(faces.1)) {
        let invalid = |message| row_error(line, row, "face", "vertex_indices", message);
        if corners.len() < 3 {
            return Err(invalid(format!("a face needs three vertices, {} given", corners.len())));
        }
        let begin = mesh.corners.len();
        for &corner in corners {
            mesh.corners.push(checked_index(corner).map_err(invalid)?);
        }
        mesh.faces.push(begin..mesh.corners.len());
    }
    for (Corners(corners), row) in strips.0.iter().zip(0u64..) {
        // A negative number ends each strip but the last.
        for strip in corners.split(|&corner| corner < 0) {
            let strip: Result<Vec<u32>, String> = strip.iter().map(|&corner| checked_index(corner)).collect();
            let strip =
                strip.map_err(|message| row_error(strips.1, row, "tristrips", "vertex_indices", message))?;
            strip_faces(&mut mesh, &strip);
        }
    }
    mesh.end();
    Ok(mesh)
}

/// Adds the triangles of a strip; every other one is reversed. Triangles with equal corners only connect parts of a strip.
fn strip_faces(mesh: &mut Mesh, strip: &[u32]) {
    for (i, corners) in strip.windows(3).enumerate() {
        let [a, b, c] = [corners[0], corners[1], corners[2]];
        if a != b && b != c && c != a {
            mesh.face(if i % 2 == 0 { [a, b, c] } else { [b, a, c] });
        }
    }
}

fn check_axes(name: &str, element: &ElementDef) -> Result<()> {
    for axis in ["x", "y", "z"] {
        if !element.properties.contains_key(axis) {
            return Err(Error::file(name, format!("its element vertex has no property {axis}")));
        }
    }
    Ok(())
}

/// The parser's column, from 1, if it gives one, and its message without the quoted line and grammar.
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
    use crate::mesh::ObjectPoints;

    const HEADER: &str = "ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 4\nproperty float x\n\
        property double y\nproperty int z\nproperty uchar red\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";

    fn error_of(text: &str) -> String {
        read("a.ply", text.as_bytes()).unwrap_err().to_string()
    }

    fn sets(bytes: &[u8]) -> Vec<ObjectPoints> {
        let file = "a.ply";
        read(file, bytes).unwrap().point_sets()
    }

    fn faces(text: &str) -> Vec<Vec<u32>> {
        let file = "a.ply";
        let model = read(file, text.as_bytes()).unwrap().faces(file).unwrap().model();
        (0..model.face_count()).map(|face| model.face(face).to_vec()).collect()
    }

    #[test]
    fn strips_become_triangles_of_one_orientation() {
        let header = HEADER.replace("element face 1", "element tristrips 1");
        let text = format!("{header}0 0 0 9\n1 0 0 9\n0 1 0 9\n1 1 0 9\n8 0 1 2 3 -1 3 2 1\n");
        assert_eq!(faces(&text), [[0, 1, 2], [2, 1, 3], [3, 2, 1]]);
        // Connected by repeated corners, and ended by a negative number.
        let text = format!("{header}0 0 0 9\n1 0 0 9\n0 1 0 9\n1 1 0 9\n8 0 1 2 2 1 1 3 -1\n");
        assert_eq!(faces(&text), [[0, 1, 2]]);
        let bad = error_of(&format!("{header}0 0 0 9\n1 0 0 9\n0 1 0 9\n1 1 0 9\n4 0 1 2 7\n"));
        assert_eq!(bad, "a.ply: line 16, column vertex_indices: vertex 7 does not exist, there are 4");
    }

    #[test]
    fn polygons_and_doubles_are_kept() {
        let text = format!("{HEADER}0 0.1 0 9\n1 0 0 9\n1 1 0 9\n0 1 0 9\n4 0 1 2 3\n");
        assert_eq!(faces(&text), [[0, 1, 2, 3]]);
        let mesh = read("a.ply", text.as_bytes()).unwrap();
        assert_eq!(mesh.points[0], [0.0, 0.1, 0.0]);
    }

    #[test]
    fn a_text_file_gives_the_points_its_faces_use() {
        let text = format!("{HEADER}0 0 0 9\n1 0 0 9\n0 1 0 9\n5 5 5 9\n3 0 1 2\n");
        let sets = sets(text.as_bytes());
        assert_eq!(sets[0].points, [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.]]);
    }

    #[test]
    fn a_binary_file_is_read() {
        let mut bytes =
            b"ply\nformat binary_big_endian 1.0\nelement vertex 2\nproperty float x\nproperty float y\n\
            property float z\nend_header\n"
                .to_vec();
        bytes.extend([1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0].iter().flat_map(|value| value.to_be_bytes()));
        assert_eq!(sets(&bytes)[0].points, [[1., 2., 3.], [4., 5., 6.]]);
        assert!(read("a.ply", &bytes[..bytes.len() - 1]).is_err());
    }

    #[test]
    fn errors_name_the_line() {
        for word in ["zero", "nan"] {
            let bad = error_of(&format!("{HEADER}0 0 0 9\n1 {word} 0 9\n0 1 0 9\n5 5 5 9\n3 0 1 2\n"));
            assert_eq!(
                bad,
                "a.ply: line 13, column 3: not a finite number, or not what the header announces"
            );
        }
        let bad = error_of(&format!("{HEADER}0 0 0 9\n1 0 0\n0 1 0 9\n5 5 5 9\n3 0 1 2\n"));
        assert!(bad.starts_with("a.ply: line 13: "), "{bad}");
        let bad = error_of(&format!("{HEADER}0 0 0 9\n1 1e999 0 9\n0 1 0 9\n5 5 5 9\n3 0 1 2\n"));
        assert_eq!(bad, "a.ply: line 13, column y: inf is not finite");
        let bad = error_of(&format!("{HEADER}0 0 0 9\n1 0 0 9\n0 1 0 9\n5 5 5 9\n3 0 1 4\n"));
        assert_eq!(bad, "a.ply: line 16, column vertex_indices: vertex 4 does not exist, there are 4");
        let bad = error_of(&format!("{HEADER}0 0 0 9\n1 0 0 9\n"));
        assert!(bad.starts_with("a.ply: line 14: "), "{bad}");
        let bad = error_of(&format!("{HEADER}0 0 0 9\n1 0 0 9\n0 1 0 9\n5 5 5 9\n2 0 1\n"));
        assert_eq!(bad, "a.ply: line 16, column vertex_indices: a face needs three vertices, 2 given");
        let bad = error_of(&format!("{HEADER}0 0 0 9\n1 0 0 9\n0 1 0 9\n5 5 5 9\n3 0 1 -2\n"));
        assert_eq!(bad, "a.ply: line 16, column vertex_indices: a negative vertex number");
        let bad = error_of("plx\n");
        assert!(bad.starts_with("a.ply: line 1: "), "{bad}");
    }
}
