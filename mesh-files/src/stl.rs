//! STL, binary and text.
//!
//! `stl_io` is not used: it takes a binary file that begins with `solid` for text, reads only the first solid, and gives no
//! line of an error. Each solid of a text file is an object. Normals are not read.

use std::str::SplitWhitespace;

use crate::error::{Error, Result, stem};
use crate::mesh::Mesh;
use crate::text::{Lines, decoded, excerpt, number, without_mark};

const HEADER_BYTES: usize = 84;
const TRIANGLE_BYTES: usize = 50;

/// The number of triangles that the header of a binary file says, and the size of such a file.
fn announced(bytes: &[u8]) -> Option<(u32, u64)> {
    let count = u32::from_le_bytes(bytes.get(80..84)?.try_into().ok()?);
    Some((count, HEADER_BYTES as u64 + u64::from(count) * TRIANGLE_BYTES as u64))
}

/// Whether these are the bytes of a whole binary file.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    announced(bytes).is_some_and(|(_, size)| size == bytes.len() as u64)
}

/// Whether these may be the bytes of a binary file, perhaps with more behind its triangles.
pub(crate) fn may_be_binary(bytes: &[u8]) -> bool {
    announced(bytes).is_some_and(|(count, size)| count > 0 && size <= bytes.len() as u64)
}

pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Mesh> {
    if is_binary(bytes) {
        return binary(name, bytes);
    }
    let plain = without_mark(bytes).trim_ascii_start();
    let begins_as_text = plain.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    // A binary file may begin so too, but it contains zero bytes: in the count, or at the end of each triangle.
    if begins_as_text && !bytes.contains(&0) {
        return text(name, &decoded(bytes));
    }
    let has = bytes.len() as u64;
    let message = match announced(bytes) {
        Some((count, size)) if has > size && count > 0 => return binary(name, bytes),
        Some((0, _)) => {
            format!("a binary STL of 0 triangles by its header, {} bytes follow", has - HEADER_BYTES as u64)
        }
        Some((count, expected)) => {
            let whole = (has - HEADER_BYTES as u64) / TRIANGLE_BYTES as u64;
            let ends = if (has - HEADER_BYTES as u64).is_multiple_of(TRIANGLE_BYTES as u64) {
                format!("it is cut short after {whole} of them")
            } else {
                format!("it is cut short within triangle {whole}")
            };
            format!("a binary STL of {count} triangles has {expected} bytes, this file has {has}: {ends}")
        }
        _ if begins_as_text => {
            format!(
                "a binary STL begins with {HEADER_BYTES} bytes of header, this file has {has}: it is cut short"
            )
        }
        _ => format!(
            "neither text (it does not begin with \"solid\") nor a binary STL (it has {has} bytes, a header alone \
             {HEADER_BYTES})"
        ),
    };
    Err(Error::file(name, message))
}

/// Reads the triangles that the header announces. Bytes after them give a note.
fn binary(name: &str, bytes: &[u8]) -> Result<Mesh> {
    let mut mesh = Mesh::new(stem(name));
    mesh.begin(None, None);
    let (count, size) = announced(bytes).unwrap_or_default();
    let triangles = bytes[HEADER_BYTES..].chunks_exact(TRIANGLE_BYTES).take(count as usize);
    for (i, triangle) in triangles.enumerate() {
        for (corner, vertex) in triangle[12..48].chunks_exact(12).enumerate() {
            let value = |axis: usize| {
                let at = 4 * axis;
                f32::from_le_bytes([vertex[at], vertex[at + 1], vertex[at + 2], vertex[at + 3]])
            };
            let point = [value(0), value(1), value(2)];
            if let Some(axis) = (0..3).find(|&axis| !point[axis].is_finite()) {
                return Err(Error::file(
                    name,
                    format!(
                        "triangle {i}, corner {corner}, {}: {} is not finite",
                        ["x", "y", "z"][axis],
                        point[axis]
                    ),
                ));
            }
            mesh.points.push(point.map(f64::from));
        }
        facet(&mut mesh);
    }
    if mesh.points.is_empty() {
        return Err(Error::file(name, "it has no triangles"));
    }
    let rest = bytes.len() as u64 - size;
    if rest > 0 {
        mesh.note(
            name,
            format!("{rest} bytes follow the {count} triangles that its header announces, they are not read"),
        );
    }
    mesh.end();
    Ok(mesh)
}

/// Adds a face of the last three points.
fn facet(mesh: &mut Mesh) {
    let end = mesh.points.len() as u32;
    mesh.face(end - 3..end);
}

fn text(name: &str, text: &str) -> Result<Mesh> {
    let mut mesh = Mesh::new(stem(name));
    let mut inside = false;
    // The corners of the open loop.
    let mut corner_count = 0;
    let mut lines = Lines::new(text);
    for (content, line) in lines.by_ref() {
        let mut words = content.split_whitespace();
        let Some(keyword) = words.next() else { continue };
        let mut lower = keyword.to_ascii_lowercase();
        // Some programs write "end loop" for "endloop".
        if lower == "end"
            && let Some(next) = words.next()
        {
            lower.push_str(&next.to_ascii_lowercase());
        }
        match lower.as_str() {
            "solid" => {
                if inside {
                    return Err(Error::line(name, line, "\"solid\" before the last one's \"endsolid\""));
                }
                inside = true;
                let solid = content.trim().get(keyword.len()..).map(str::trim);
                mesh.begin(solid.filter(|solid| !solid.is_empty()), Some(line));
            }
            "vertex" if inside => {
                mesh.points.push(vertex(name, line, words)?);
                corner_count += 1;
            }
            "endloop" if inside => {
                if corner_count != 3 {
                    return Err(Error::line(name, line, "a facet has three vertices"));
                }
                facet(&mut mesh);
                corner_count = 0;
                alone(name, line, keyword, words, 0)?;
            }
            "endsolid" | "facet" | "outer" | "endfacet" if inside && corner_count > 0 => {
                let message = format!("\"{}\" comes before \"endloop\"", excerpt(keyword));
                return Err(Error::line(name, line, message));
            }
            "endsolid" if inside => inside = false,
            // A normal, which the corners say too.
            "facet" if inside => alone(name, line, keyword, words, 4)?,
            "outer" if inside => alone(name, line, keyword, words, 1)?,
            "endfacet" if inside => alone(name, line, keyword, words, 0)?,
            _ => {
                return Err(Error::line(
                    name,
                    line,
                    format!("\"{}\" is not expected here", excerpt(keyword)),
                ));
            }
        }
    }
    if inside {
        return Err(Error::line(name, lines.number(), "the file ends before \"endsolid\""));
    }
    if corner_count != 0 {
        return Err(Error::line(name, lines.number(), "a vertex is not in a closed loop"));
    }
    mesh.end();
    Ok(mesh)
}

/// Refuses words of a line beyond so many after its statement: what follows would be lost.
fn alone(name: &str, line: u64, keyword: &str, mut words: SplitWhitespace<'_>, most: usize) -> Result<()> {
    match words.nth(most) {
        Some(extra) => {
            let (extra, keyword) = (excerpt(extra), excerpt(keyword));
            Err(Error::line(
                name,
                line,
                format!("\"{extra}\" follows \"{keyword}\": a statement has a line of its own"),
            ))
        }
        None => Ok(()),
    }
}

/// The numbers after `vertex`.
fn vertex(name: &str, line: u64, mut words: SplitWhitespace<'_>) -> Result<[f64; 3]> {
    let mut point = [0.0; 3];
    for (value, axis) in point.iter_mut().zip(["x", "y", "z"]) {
        let word = words.next().ok_or_else(|| Error::field(name, line, axis, "missing"))?;
        *value = number(word).map_err(|message| Error::field(name, line, axis, message))?;
    }
    match words.next() {
        Some(extra) => Err(Error::line(name, line, format!("\"{}\" follows the vertex", excerpt(extra)))),
        None => Ok(point),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::ObjectPoints;

    const FACET: &str = "facet normal nan 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n  vertex 0 1 0\n endloop\nendfacet\n";

    fn error_of(bytes: &[u8]) -> String {
        read("a.stl", bytes).unwrap_err().to_string()
    }

    fn sets(bytes: &[u8]) -> Vec<ObjectPoints> {
        let file = "a.stl";
        read(file, bytes).unwrap().point_sets()
    }

    fn binary_file(header: &[u8], values: &[f32]) -> Vec<u8> {
        let mut bytes = header.to_vec();
        bytes.resize(80, b' ');
        bytes.extend(((values.len() / 9) as u32).to_le_bytes());
        for triangle in values.chunks(9) {
            bytes.extend([0; 12]);
            bytes.extend(triangle.iter().flat_map(|value| value.to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }

    #[test]
    fn each_solid_of_a_text_file_is_an_object() {
        let text = format!("solid one\n{FACET}endsolid one\nsolid\n{FACET}endsolid\n");
        let sets = sets(text.as_bytes());
        let names: Vec<_> = sets.iter().map(|set| (set.name.as_str(), set.points.len())).collect();
        assert_eq!(names, [("one", 3), ("a", 3)]);
    }

    #[test]
    fn lines_end_with_carriage_returns_too_and_ends_may_be_two_words() {
        let text = format!("solid  a  b \n{FACET}endsolid\nsolid\n{FACET}endsolid\n");
        let plain = sets(text.as_bytes());
        assert_eq!(plain[0].name, "a  b");
        let spaced = text
            .replace("endloop", "end loop")
            .replace("endfacet", "End Facet")
            .replace("endsolid", "END solid");
        for end in ["\n", "\r", "\r\n"] {
            for text in [&text, &spaced, &format!("\u{feff}{text}")] {
                assert_eq!(sets(text.replace('\n', end).as_bytes()), plain, "{text}");
            }
        }
        let numbers = FACET.replace("vertex 0 1 0", "vertex +.5 1. -.25e1");
        let found = sets(format!("solid\r{numbers}endsolid").as_bytes());
        assert_eq!(found[0].points[2], [0.5, 1.0, -2.5]);
    }

    #[test]
    fn a_binary_file_may_begin_with_solid() {
        let sets = sets(&binary_file(b"solid box", &[0., 0., 0., 1., 0., 0., 0., 1., 0.]));
        assert_eq!((sets[0].name.as_str(), sets[0].points.len()), ("a", 3));
    }

    /// A binary file whose header begins with "solid" was read as text.
    #[test]
    fn a_truncated_binary_file_is_not_taken_for_text() {
        for header in ["", "solid box", "solid"] {
            let whole = binary_file(header.as_bytes(), &[1.5; 27]);
            let has = |bytes: usize| {
                format!("a.stl: a binary STL of 3 triangles has 234 bytes, this file has {bytes}: ")
            };
            assert_eq!(error_of(&whole[..84]), has(84) + "it is cut short after 0 of them");
            assert_eq!(error_of(&whole[..134]), has(134) + "it is cut short after 1 of them");
            assert_eq!(error_of(&whole[..183]), has(183) + "it is cut short within triangle 1");
            let more = [&whole[..], b"more"].concat();
            let mesh = read("a.stl", &more).unwrap();
            let note = "a.stl: 4 bytes follow the 3 triangles that its header announces, they are not read";
            assert_eq!((mesh.faces.len(), mesh.notes()), (3, &[note.to_owned()][..]));
        }
        let whole = binary_file(b"solid box\0", &[1.5; 27]);
        assert_eq!(
            error_of(&whole[..83]),
            "a.stl: a binary STL begins with 84 bytes of header, this file has 83: it is cut short"
        );
        assert_eq!(
            error_of(&binary_file(b"box", &[])[..40]),
            "a.stl: neither text (it does not begin with \"solid\") nor a binary STL (it has 40 bytes, a header alone 84)"
        );
        // Truncated text has a line.
        let text = format!("solid x\n{FACET}{FACET}endsolid x\n");
        assert_eq!(
            error_of(&text.as_bytes()[..text.len() - 12]),
            "a.stl: line 15: the file ends before \"endsolid\""
        );
        assert_eq!(error_of(b"solid box"), "a.stl: line 1: the file ends before \"endsolid\"");
    }

    #[test]
    fn facets_are_faces() {
        let file = "a.stl";
        let text = format!("solid one\n{}endsolid one\nsolid\n{FACET}endsolid\n", FACET.replace('1', "0.1"));
        let model = read(file, text.as_bytes()).unwrap().faces(file).unwrap().model();
        assert_eq!((model.face_count(), model.face(1)), (2, &[3, 4, 5][..]));
        assert_eq!(model.points()[1], [0.1, 0.0, 0.0]);
        let bytes = binary_file(b"", &[0., 0., 0., 1., 0., 0., 0., 1., 0.]);
        assert_eq!(read(file, &bytes).unwrap().faces(file).unwrap().model().face(0), [0, 1, 2]);
    }

    #[test]
    fn errors_name_their_place() {
        assert_eq!(
            error_of(&binary_file(b"", &[0., 0., 0., 1., f32::NAN, 0., 0., 1., 0.])),
            "a.stl: triangle 0, corner 1, y: NaN is not finite"
        );
        let mut cut = binary_file(b"", &[0.0; 9]);
        cut.pop();
        assert_eq!(
            error_of(&cut),
            "a.stl: a binary STL of 1 triangles has 134 bytes, this file has 133: it is cut short within triangle 0"
        );
        assert_eq!(error_of(&binary_file(b"", &[])), "a.stl: it has no triangles");
        let wrong = format!("solid x\n{}", FACET.replace("1 0 0", "1 zero 0"));
        assert_eq!(error_of(wrong.as_bytes()), "a.stl: line 5, column y: \"zero\" is not a number");
        let cut = format!("solid x\n{FACET}");
        assert_eq!(error_of(cut.as_bytes()), "a.stl: line 8: the file ends before \"endsolid\"");
        let two = format!("solid x\n{}", FACET.replace("  vertex 1 0 0\n", ""));
        assert_eq!(error_of(two.as_bytes()), "a.stl: line 6: a facet has three vertices");
        // What shares a line would be lost.
        for (from, to, line, words) in [
            ("0 1\n outer", "0 1 outer", 2, "\"outer\" follows \"facet\""),
            ("loop\n  vertex 0", "loop vertex 0", 3, "\"vertex\" follows \"outer\""),
            ("endloop\nendfacet", "endloop endfacet", 7, "\"endfacet\" follows \"endloop\""),
            ("endfacet\n", "endfacet facet\n", 8, "\"facet\" follows \"endfacet\""),
        ] {
            let shared = format!("solid x\n{}endsolid x\n", FACET.replace(from, to));
            let wanted = format!("a.stl: line {line}: {words}: a statement has a line of its own");
            assert_eq!(error_of(shared.as_bytes()), wanted);
        }
        let open = format!("solid x\n{}endsolid x\n", FACET.replace(" endloop\n", ""));
        assert_eq!(error_of(open.as_bytes()), "a.stl: line 7: \"endfacet\" comes before \"endloop\"");
    }
}
