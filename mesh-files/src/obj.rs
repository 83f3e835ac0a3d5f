//! Wavefront OBJ.
//!
//! `tobj` is not used: it does not join lines that end in `\`, gives no line of an error, and keeps only points that faces
//! use. A statement `o` begins an object; groups and materials do not.

use crate::error::{Error, Result, stem};
use crate::mesh::Mesh;
use crate::text::{excerpt, number};

/// Statements that are ignored, as they change no point, face, line or object.
const IGNORED: [&str; 37] = [
    "vt",
    "vn",
    "vp",
    "g",
    "s",
    "mg",
    "usemtl",
    "mtllib",
    "usemap",
    "maplib",
    "shadow_obj",
    "trace_obj",
    "lod",
    "bevel",
    "c_interp",
    "d_interp",
    "cstype",
    "deg",
    "bmat",
    "step",
    "curv",
    "curv2",
    "surf",
    "parm",
    "trim",
    "hole",
    "scrv",
    "sp",
    "end",
    "con",
    "ctech",
    "stech",
    "call",
    "csh",
    "res",
    "bzp",
    "bsp",
];

/// A word with its line and column, from 1.
#[derive(Debug, Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    line: u64,
    column: usize,
}

/// The words of each statement. A line that ends in `\` continues on the next; `#` begins a comment.
fn statements(text: &str) -> impl Iterator<Item = Vec<Word<'_>>> {
    let mut lines = text.lines().zip(1u64..);
    std::iter::from_fn(move || {
        let mut words = Vec::new();
        let mut has_line = false;
        for (line_text, line) in lines.by_ref() {
            has_line = true;
            let content = without_comment(line_text);
            let trimmed = content.trim_end();
            let (body, continues) = match trimmed.strip_suffix('\\') {
                Some(body) if content.len() == line_text.len() => (body, true),
                _ => (trimmed, false),
            };
            words.extend(body.split_whitespace().map(|word| {
                let before = word.as_ptr() as usize - line_text.as_ptr() as usize;
                Word { text: word, line, column: line_text[..before].chars().count() + 1 }
            }));
            if !continues {
                break;
            }
        }
        has_line.then_some(words)
    })
}

/// The line without its comment. A `#` begins one only at the start of a word.
fn without_comment(line: &str) -> &str {
    let begins = |&(at, _): &(usize, &str)| at == 0 || line.as_bytes()[at - 1].is_ascii_whitespace();
    line.match_indices('#').find(begins).map_or(line, |(at, _)| &line[..at])
}

pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Mesh> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let invalid =
        |word: &Word<'_>, message: String| Error::field(name, word.line, &word.column.to_string(), message);
    let mut mesh = Mesh::new();
    mesh.begin(stem(name), Some(1));
    // A face may come before its vertices, so indices are checked at the end.
    let mut highest: Option<(u32, u64, usize)> = None;
    for words in statements(text) {
        let Some((keyword, rest)) = words.split_first() else { continue };
        match keyword.text {
            "v" => {
                if rest.len() < 3 {
                    return Err(invalid(keyword, format!("a vertex needs x, y and z, {} given", rest.len())));
                }
                let mut point = [0.0; 3];
                for ((value, word), axis) in point.iter_mut().zip(rest).zip(["x", "y", "z"]) {
                    *value = number(word.text)
                        .map_err(|message| invalid(word, format!("{axis} of a vertex: {message}")))?;
                }
                mesh.points.push(point);
            }
            "f" | "l" | "p" => {
                let (least, what) = match keyword.text {
                    "f" => (3, "a face needs three vertices"),
                    "l" => (2, "a line needs two vertices"),
                    _ => (1, "a point needs a vertex"),
                };
                if rest.len() < least {
                    return Err(invalid(keyword, format!("{what}, {} given", rest.len())));
                }
                let begin = mesh.corners.len();
                for word in rest {
                    let index = vertex_index(word.text, mesh.points.len())
                        .map_err(|message| invalid(word, message))?;
                    if highest.is_none_or(|(high, ..)| index > high) {
                        highest = Some((index, word.line, word.column));
                    }
                    mesh.corners.push(index);
                }
                if keyword.text == "f" {
                    mesh.faces.push(begin..mesh.corners.len());
                }
            }
            "o" => {
                let object = rest.iter().map(|word| word.text).collect::<Vec<_>>().join(" ");
                mesh.begin(if object.is_empty() { stem(name) } else { object }, Some(keyword.line));
            }
            other if IGNORED.contains(&other) => {}
            other => {
                return Err(invalid(
                    keyword,
                    format!("\"{}\" is not a statement of an OBJ file", excerpt(other)),
                ));
            }
        }
    }
    mesh.end();
    let count = mesh.points.len();
    if let Some((index, line, column)) = highest.filter(|&(index, ..)| index as usize >= count) {
        let word = Word { text: "", line, column };
        return Err(invalid(
            &word,
            format!("vertex {} does not exist, there are {count}", u64::from(index) + 1),
        ));
    }
    if mesh.points.is_empty() {
        return Err(Error::file(name, "it has no vertices"));
    }
    // The part before the first `o` often has the vertices of all objects. It is an object only if it has faces, lines or points.
    if mesh.objects.len() > 1 && mesh.objects[0].corners.is_empty() {
        mesh.objects.remove(0);
    }
    Ok(mesh)
}

/// The vertex index of `i`, `i/t`, `i//n` or `i/t/n`, from 0. A negative `i` counts back from the last vertex so far.
fn vertex_index(text: &str, point_count: usize) -> Result<u32, String> {
    let first = text.split('/').next().unwrap_or_default();
    let index: i64 = first.parse().map_err(|_| format!("\"{}\" is not a vertex number", excerpt(text)))?;
    let from_zero = match index {
        0 => return Err("vertex 0 does not exist, they count from 1".to_owned()),
        1.. => index - 1,
        _ => point_count as i64 + index,
    };
    u32::try_from(from_zero)
        .map_err(|_| format!("vertex {index} does not exist, there are {point_count} so far"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(text: &str) -> Vec<(String, usize)> {
        let file = "dir/file.obj";
        let found = read(file, text.as_bytes()).unwrap().point_sets();
        found.into_iter().map(|set| (set.name, set.points.len())).collect()
    }

    fn error_of(text: &str) -> String {
        let file = "a.obj";
        read(file, text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn a_file_without_objects_is_one_hull() {
        assert_eq!(
            sets("v 0 0 0\nv 1 0 0\r\nv 0 1 0 # x\ng part\nf 1/1 2//2 3/3/3\n"),
            [("file".to_owned(), 3)]
        );
    }

    #[test]
    fn unused_vertices_are_left_out_unless_none_is_used() {
        assert_eq!(sets("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 9 9 9\nf -4 -3 -2"), [("file".to_owned(), 3)]);
        assert_eq!(sets("v 0 0 0\nv 1 0 0\n"), [("file".to_owned(), 2)]);
    }

    #[test]
    fn objects_share_the_vertices_of_the_file() {
        let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\no a\nf 1 2 3\no b c\nv 5 5 5\nl 1 4\no cloud\nv 7 7 7";
        assert_eq!(
            sets("o a#1 # x\nv 0 0 0\no a#2\nv 0 0 0 #"),
            [("a#1".to_owned(), 1), ("a#2".to_owned(), 1)]
        );
        assert_eq!(sets(text), [("a".to_owned(), 3), ("b c".to_owned(), 2), ("cloud".to_owned(), 1)]);
    }

    #[test]
    fn lines_continue_after_a_backslash() {
        assert_eq!(sets("v 0 \\\n 0 0\nv 1 0 0\nv 0 1 0\nf 1 \\\n2 \\\n3\n"), [("file".to_owned(), 3)]);
        assert_eq!(
            error_of("v 0 \\\n  x 0\n"),
            "a.obj: line 2, column 3: y of a vertex: \"x\" is not a number"
        );
    }

    #[test]
    fn a_model_has_the_faces_of_all_objects_in_full_precision() {
        let text =
            "o a\nv 0.1 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nl 1 2\nf 1 2 \\\n 4 3\np 1\no b\nf 1 -3/7 -2//3\n";
        let file = "a.obj";
        let model = read(file, text.as_bytes()).unwrap().faces(file).unwrap().model();
        assert_eq!(model.points()[0], [0.1, 0.0, 0.0]);
        assert_eq!(
            (model.face_count(), model.face(0), model.face(1)),
            (2, &[0, 1, 3, 2][..], &[0, 1, 2][..])
        );
        let none = read(file, b"v 0 0 0\nv 1 0 0\nl 1 2\n").unwrap().faces(file).unwrap_err();
        assert_eq!(none.to_string(), "a.obj: it has no faces");
    }

    #[test]
    fn errors_name_line_and_column() {
        assert_eq!(
            error_of("v 0 0 0\nv 1 nan 0\n"),
            "a.obj: line 2, column 5: y of a vertex: \"nan\" is not finite"
        );
        assert_eq!(error_of("v 0 0\n"), "a.obj: line 1, column 1: a vertex needs x, y and z, 2 given");
        assert_eq!(
            error_of("v 0 0 0\nf 1 1 4\n"),
            "a.obj: line 2, column 7: vertex 4 does not exist, there are 1"
        );
        assert_eq!(
            error_of("v 0 0 0\nf 1 -2 1\n"),
            "a.obj: line 2, column 5: vertex -2 does not exist, there are 1 so far"
        );
        assert_eq!(error_of("v 0 0 0\nf 1 a 1\n"), "a.obj: line 2, column 5: \"a\" is not a vertex number");
        assert_eq!(
            error_of("hello\n"),
            "a.obj: line 1, column 1: \"hello\" is not a statement of an OBJ file"
        );
        assert_eq!(error_of("# nothing\n"), "a.obj: it has no vertices");
    }
}
