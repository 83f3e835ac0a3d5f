//! Tests of the reader of PLY.

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
        let what = if word == "nan" { "finite" } else { "a number" };
        assert_eq!(bad, format!("a.ply: line 13, column y: \"{word}\" is not {what}"));
    }
    let bad = error_of(&format!("{HEADER}0 0 0 9\n1 0 0\n0 1 0 9\n5 5 5 9\n3 0 1 2\n"));
    assert_eq!(bad, "a.ply: line 13, column red: missing");
    let bad = error_of(&format!("{HEADER}0 0 0 9\n1 1e999 0 9\n0 1 0 9\n5 5 5 9\n3 0 1 2\n"));
    assert_eq!(bad, "a.ply: line 13, column y: 1e999 is too large for a 64-bit float");
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

/// A header of three vertices and a face, with lines that end so.
fn header(format: &str, end: &str) -> String {
    let lines = [
        "ply",
        &format!("format {format} 1.0"),
        "comment by hand",
        "element vertex 3",
        "property float x",
        "property float y",
        "property float z",
        "element face 1",
        "property list uchar int vertex_indices",
        "end_header",
    ];
    lines.map(|line| format!("{line}{end}")).concat()
}

const POINTS: [[f64; 3]; 3] = [[0.0, 0.0, 0.0], [0.5, 0.0, 2.0], [-0.25, 1.0, 10.0]];

/// The rows of [`POINTS`] and of a face, as bytes. The first byte is 10 or 13 where a line end could be.
fn binary_rows(first: f32) -> Vec<u8> {
    let mut points = POINTS.map(|point| point.map(|part| part as f32));
    points[0][0] = first;
    let mut bytes: Vec<u8> = points.iter().flatten().flat_map(|part| part.to_le_bytes()).collect();
    bytes.push(3);
    bytes.extend([0i32, 1, 2].iter().flat_map(|index| index.to_le_bytes()));
    bytes
}

#[test]
fn lines_end_with_carriage_returns_too_and_numbers_need_no_digit_on_both_sides() {
    for end in ["\n", "\r", "\r\n"] {
        let rows = "0 0 0\n.5 0. 2\n\n-.25 +1 1.e1\n3 0 1 2\n".replace('\n', end);
        for mark in ["", "\u{feff}"] {
            let text = format!("{mark}{}{rows}", header("ascii", end));
            let mesh = read("a.ply", text.as_bytes()).unwrap();
            assert_eq!((mesh.points.as_slice(), mesh.corners.len()), (&POINTS[..], 3), "{text:?}");
        }
        // Bytes after the header that look like a line end are not of it.
        for first in [f32::from_le_bytes(*b"\n\n\0\0"), f32::from_le_bytes(*b"\r\n\0\0")] {
            let bytes = [header("binary_little_endian", end).as_bytes(), &binary_rows(first)].concat();
            let mesh = read("a.ply", &bytes).unwrap();
            assert_eq!((mesh.points[0][0], mesh.points[2]), (f64::from(first), POINTS[2]), "{end:?}");
            assert_eq!(mesh.notes().len(), 0);
        }
    }
}

#[test]
fn a_header_may_have_a_line_without_a_keyword_before_the_elements() {
    let rows = "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    let text = header("ascii", "\n") + rows;
    for line in ["Created by Blender3D 245 - source file: a.blend", "", "obj_info 3"] {
        assert_eq!(faces(&text.replace("comment by hand", line)), [[0, 1, 2]]);
    }
    let bad = error_of(&text.replace("property float y", "proprety float y"));
    assert_eq!(bad, "a.ply: line 6: \"proprety float y\" is not a line of a header");
}

#[test]
fn other_lists_are_read_or_named() {
    let text = header("ascii", "\n") + "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    for name in ["vertex_index", "vertex_list", "vertices"] {
        assert_eq!(faces(&text.replace("vertex_indices", name)), [[0, 1, 2]]);
    }
    assert_eq!(
        error_of(&text.replace("vertex_indices", "corner_numbers")),
        "a.ply: its element face has the lists corner_numbers: its vertices are read from vertex_indices or vertex_index"
    );
    assert_eq!(
        error_of(&text.replace("list uchar int vertex", "list uchar float vertex")),
        "a.ply: its element face has a list vertex_indices of fractions: vertex numbers are whole"
    );
    assert_eq!(
        error_of(&text.replace("list uchar int vertex_indices", "int vertex_indices")),
        "a.ply: its element face has no list: its vertices are read from vertex_indices or vertex_index"
    );
}

#[test]
fn counts_are_bounded_by_the_bytes_of_the_file() {
    let body = binary_rows(0.0);
    let with = |from: &str, to: &str, format: &str| {
        let text = header(format, "\n").replace(from, to);
        read("a.ply", &[text.as_bytes(), &body].concat()).unwrap_err().to_string()
    };
    let little = "binary_little_endian";
    let empty = "element nothing 3000000000\nelement vertex 3";
    for format in ["ascii", little] {
        let bad = with("element vertex 3", empty, format);
        assert_eq!(bad, "a.ply: its element nothing has 3000000000 rows without properties");
    }
    assert_eq!(
        with("element vertex 3", "element vertex 2000000000", little),
        "a.ply: 2000000000 rows of element vertex take 12 bytes each, 49 bytes are left: it is cut short"
    );
    assert_eq!(
        with("element face 1", "element face 18446744073709551615", little),
        "a.ply: 18446744073709551615 rows of element face take at least 1 bytes each, 13 bytes are left: it is cut short"
    );
    assert_eq!(
        with("list uchar int", "list uint int", little),
        "a.ply: face 0, property vertex_indices: a list of 3 numbers reaches past the end of the file: it is cut short"
    );
    assert_eq!(
        with("list uchar int", "list int int", "binary_big_endian"),
        "a.ply: face 0, property vertex_indices: a list of 50331648 numbers reaches past the end of the file: it is cut short"
    );
    let text = header("ascii", "\n").replace("face 1", "face 99999999999") + "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    assert_eq!(error_of(&text), "a.ply: line 15: the file ends before the 99999999999 rows of element face");
    let text = header("ascii", "\n") + "0 0 0\n1 0 0\n0 1 0\n99999999999 0 1 2\n";
    assert_eq!(error_of(&text), "a.ply: line 14, column vertex_indices: missing");
    assert_eq!(
        error_of(&text.replace("0 1 0", "0 1 0 x")),
        "a.ply: line 13: \"x\" follows the values that the header announces"
    );
}

#[test]
fn what_follows_the_rows_is_noted() {
    let bytes = [header("binary_little_endian", "\r\n").as_bytes(), &binary_rows(0.0), b"more"].concat();
    let mesh = read("a.ply", &bytes).unwrap();
    assert_eq!(
        mesh.notes(),
        ["a.ply: 4 bytes stand after the rows that its header announces, they are not read"]
    );
    let text = header("ascii", "\n") + "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n\nmore\n";
    let mesh = read("a.ply", text.as_bytes()).unwrap();
    assert_eq!(
        mesh.notes(),
        ["a.ply: lines from 16 on stand after the rows that its header announces, they are not read"]
    );
    assert_eq!(mesh.faces.len(), 1);
}

#[test]
fn elements_may_come_in_any_order_and_others_are_skipped() {
    let text = "ply\nformat binary_big_endian 1.0\nelement face 1\nproperty uchar flag\nproperty list ushort ushort vertex_indices\n\
        element edge 2\nproperty int a\nelement strip 1\nproperty list uchar double w\nelement vertex 3\nproperty double x\n\
        property short z\nproperty uchar y\nend_header\n";
    let mut bytes = text.as_bytes().to_vec();
    bytes.extend([7, 0, 3, 0, 2, 0, 1, 0, 0]);
    bytes.extend([9; 8]);
    bytes.push(2);
    bytes.extend([9; 16]);
    for (x, z, y) in [(1.5f64, -2i16, 200u8), (0.0, 3, 1), (-4.0, 300, 0)] {
        bytes.extend(x.to_be_bytes());
        bytes.extend(z.to_be_bytes());
        bytes.push(y);
    }
    let mesh = read("a.ply", &bytes).unwrap();
    assert_eq!(mesh.points, [[1.5, 200.0, -2.0], [0.0, 1.0, 3.0], [-4.0, 0.0, 300.0]]);
    assert_eq!((mesh.corners, mesh.faces.len()), (vec![2, 1, 0], 1));
}

#[test]
fn more_numbers_than_announced_are_noted() {
    let text = header("ascii", "\n") + "0 0 0\n1 0 0 255\n0 1 0 3 nan\n3 0 1 2 9 9\n";
    let mesh = read("a.ply", text.as_bytes()).unwrap();
    assert_eq!((mesh.points.len(), mesh.corners.len()), (3, 3));
    assert_eq!(
        mesh.notes(),
        ["a.ply: line 12 is the first with more numbers than the header announces, they are not read"]
    );
}

#[test]
fn names_are_there_once() {
    let text = header("ascii", "\n") + "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    assert_eq!(
        error_of(&text.replace("float y", "float x")),
        "a.ply: its element vertex has the property x twice"
    );
    assert_eq!(
        error_of(&text.replace("element face", "element vertex")),
        "a.ply: its header has the element vertex twice"
    );
}
