//! OFF, the text format of Geomview.
//!
//! The first word is `OFF`, or `OFF` after letters that say what a vertex has besides its position: `ST` two numbers of a texture, `C` a colour,
//! `N` a normal. It may be missing. Then there are the numbers of vertices, of faces and perhaps of edges. Each vertex and
//! each face begins on a new line. It continues on the next lines while numbers are missing. A face may have a colour after its corners, on the same
//! line as the last. A face of one or two corners is a point or a line.

use std::str::SplitWhitespace;

use crate::error::{Error, Result, stem};
use crate::mesh::Mesh;
use crate::text::{Lines, decoded, excerpt, number};

/// What the first word says.
#[derive(Debug, Clone, Copy, Default)]
struct Header<'a> {
    has_texture: bool,
    has_colour: bool,
    has_normal: bool,
    /// What follows the letters `OFF` in the same word.
    rest: &'a str,
}

impl<'a> Header<'a> {
    /// The header of a word. None for a word that is none.
    fn of_word(word: &'a str) -> Option<Self> {
        let (letters, rest) = word.split_once("OFF")?;
        let mut header = Self { rest, ..Self::default() };
        let mut letters = letters;
        for (letter, has) in
            [("ST", &mut header.has_texture), ("C", &mut header.has_colour), ("N", &mut header.has_normal)]
        {
            if let Some(after) = letters.strip_prefix(letter) {
                (letters, *has) = (after, true);
            }
        }
        letters.is_empty().then_some(header)
    }

    /// The count of numbers in the normal and the texture coordinates of a vertex.
    fn fixed(self) -> usize {
        3 * usize::from(self.has_normal) + 2 * usize::from(self.has_texture)
    }

    /// The least count of numbers after the position of a vertex.
    fn least_extra(self) -> usize {
        self.fixed() + 3 * usize::from(self.has_colour)
    }

    /// Whether a vertex may have so many numbers after its position. A colour is three or four numbers; without letters it may be there too.
    fn allows(self, extra: usize) -> bool {
        let fixed = self.fixed();
        let is_plain = !self.has_colour && fixed == 0;
        let colour = extra.checked_sub(fixed);
        colour.is_some_and(|count| match count {
            0 => !self.has_colour,
            3 | 4 => self.has_colour || is_plain,
            _ => false,
        })
    }
}

/// Whether this is the first word of an OFF file.
pub(crate) fn is_header(word: &str) -> bool {
    Header::of_word(word).is_some_and(|header| header.rest.bytes().all(|byte| byte.is_ascii_digit()))
        || is_refused(word).is_some()
}

/// Why a first word that is of OFF is not read.
fn is_refused(word: &str) -> Option<String> {
    let letters = word.strip_suffix("OFF")?;
    let kind = letters.trim_start_matches(['S', 'T', 'C', 'N']);
    matches!(kind, "4" | "n" | "4n")
        .then(|| format!("{word}: vertices of three numbers are read, these have four or more"))
}

/// The lines that have words, without comments.
struct Rows<'a> {
    lines: Lines<'a>,
}

impl<'a> Rows<'a> {
    fn next(&mut self) -> Option<(&'a str, u64)> {
        self.lines.by_ref().find_map(|(text, line)| {
            let text = text.split('#').next().unwrap_or_default().trim();
            (!text.is_empty()).then_some((text, line))
        })
    }

    fn row(&mut self, name: &str, what: &str, row: u64, count: u64) -> Result<Words<'a>> {
        let (text, line) = self.next().ok_or_else(|| {
            Error::line(name, self.lines.number(), format!("the file ends after {row} of {count} {what}"))
        })?;
        Ok(Words { words: text.split_whitespace(), line })
    }
}

/// The words of a vertex or of a face.
struct Words<'a> {
    words: SplitWhitespace<'a>,
    /// The line of the last word.
    line: u64,
}

impl<'a> Words<'a> {
    /// The next word on this line. After the last word, the first one of the next line that has any.
    fn next(&mut self, rows: &mut Rows<'a>) -> Option<&'a str> {
        if let Some(word) = self.words.next() {
            return Some(word);
        }
        let (text, line) = rows.next()?;
        (self.words, self.line) = (text.split_whitespace(), line);
        self.words.next()
    }
}

pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Mesh> {
    let text = decoded(bytes);
    let mut rows = Rows { lines: Lines::new(&text) };
    let (header, [vertex_count, face_count]) = header(name, &mut rows)?;
    if vertex_count == 0 {
        return Err(Error::file(name, "it has no vertices"));
    }
    let mut mesh = Mesh::new(stem(name));
    mesh.begin(None, None);
    for row in 0..vertex_count {
        let mut words = rows.row(name, "vertices", row, vertex_count)?;
        let mut point = [0.0; 3];
        for (value, axis) in point.iter_mut().zip(["x", "y", "z"]) {
            let word = words.next(&mut rows);
            let word = word.ok_or_else(|| Error::field(name, words.line, axis, "missing"))?;
            *value = number(word).map_err(|message| Error::field(name, words.line, axis, message))?;
        }
        let extra = numbers_left(name, &mut words, &mut rows, header.least_extra())?;
        if !header.allows(extra) {
            let message =
                format!("{extra} numbers follow the vertex, which is not what the first line announces");
            return Err(Error::line(name, words.line, message));
        }
        mesh.points.push(point);
    }
    for row in 0..face_count {
        let words = rows.row(name, "faces", row, face_count)?;
        face(name, words, &mut rows, &mut mesh)?;
    }
    if let Some((_, line)) = rows.next() {
        mesh.note(name, format!("lines from {line} on stand after its faces, they are not read"));
    }
    mesh.end();
    Ok(mesh)
}

/// The first word, and the numbers of vertices and faces.
fn header<'a>(name: &str, rows: &mut Rows<'a>) -> Result<(Header<'a>, [u64; 2])> {
    let ends = || Error::file(name, "it ends before the number of vertices");
    let (mut text, mut line) = rows.next().ok_or_else(ends)?;
    let mut header = Header::default();
    let first = text.split_whitespace().next().unwrap_or_default();
    if let Some(message) = is_refused(first) {
        return Err(Error::line(name, line, message));
    }
    if let Some(found) = Header::of_word(first) {
        header = found;
        // "OFF8 6 12" is seen too.
        text = &text[first.len() - found.rest.len()..];
        if text.trim().eq_ignore_ascii_case("binary") {
            return Err(Error::line(name, line, "binary OFF is not read, text is"));
        }
        if text.trim().is_empty() {
            (text, line) = rows.next().ok_or_else(ends)?;
        }
    } else if !first.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Error::line(
            name,
            line,
            format!("it begins with \"{}\", not with \"OFF\"", excerpt(first)),
        ));
    }
    let words: Vec<&str> = text.split_whitespace().take(4).collect();
    let counts: Option<Vec<u64>> = words.iter().map(|word| word.parse().ok()).collect();
    match counts.as_deref() {
        Some([vertices, faces] | [vertices, faces, _]) => Ok((header, [*vertices, *faces])),
        _ => {
            let message = format!("\"{}\" are not the numbers of vertices, faces and edges", excerpt(text));
            Err(Error::line(name, line, message))
        }
    }
}

/// Counts the numbers left on this line. Reads the next lines too until there are `least` of them.
fn numbers_left<'a>(name: &str, words: &mut Words<'a>, rows: &mut Rows<'a>, least: usize) -> Result<usize> {
    let mut count = 0;
    loop {
        let word = if count < least { words.next(rows) } else { words.words.next() };
        let Some(word) = word else { return Ok(count) };
        if word.parse::<f64>().is_err() {
            return Err(Error::line(name, words.line, format!("\"{}\" is not a number", excerpt(word))));
        }
        count += 1;
    }
}

/// `n i1 … in`, and a colour: an index, or three or four numbers.
fn face<'a>(name: &str, mut words: Words<'a>, rows: &mut Rows<'a>, mesh: &mut Mesh) -> Result<()> {
    let count = words.words.next().unwrap_or_default();
    let count: u64 = count.parse().ok().filter(|&count| count > 0).ok_or_else(|| {
        Error::line(name, words.line, format!("\"{}\" is not a number of corners", excerpt(count)))
    })?;
    let begin = mesh.corners.len();
    for corner in 0..count {
        let word = words.next(rows);
        let invalid = |message: String| Error::line(name, words.line, message);
        let word = word.ok_or_else(|| invalid(format!("a face of {count} corners, {corner} given")))?;
        let index: u32 =
            word.parse().map_err(|_| invalid(format!("\"{}\" is not a vertex number", excerpt(word))))?;
        if index as usize >= mesh.points.len() {
            return Err(invalid(format!("vertex {index} does not exist, there are {}", mesh.points.len())));
        }
        mesh.corners.push(index);
    }
    let extra = numbers_left(name, &mut words, rows, 0)?;
    if !matches!(extra, 0 | 1 | 3 | 4) {
        let message =
            format!("{extra} numbers follow the corners: a colour is an index, or three or four numbers");
        return Err(Error::line(name, words.line, message));
    }
    if count > 2 {
        mesh.faces.push(begin..mesh.corners.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(text: &str) -> String {
        read("a.off", text.as_bytes()).unwrap_err().to_string()
    }

    const SQUARE: &str = "0 0 0\n2. 0 0\n2 .5 0\n0 .5 0\n";

    #[test]
    fn vertices_and_faces_are_read_after_every_kind_of_header() {
        for (header, vertices) in [
            ("OFF\n4 2 5\n", SQUARE.to_owned()),
            ("# made by hand\n\nOFF 4 2 5\r\n", SQUARE.replace('\n', "\r\n")),
            ("OFF4 2 5\r", SQUARE.replace('\n', "\r")),
            ("4 2\n", SQUARE.replace(" 0\n", " 0 # corner\n\n")),
            ("OFF\n4 2 0\n", SQUARE.replace('\n', " 255 0 0\n")),
            ("COFF\n4 2 0\n", SQUARE.replace('\n', " 0.5 0 0 1\n")),
            ("NOFF\n4 2 0\n", SQUARE.replace('\n', " 0 0 1\n")),
            ("STCNOFF\n4 2 0\n", SQUARE.replace('\n', " 0 0 1 9 9 9 7 7\n")),
            ("\u{feff}OFF\n4 2 0\n", SQUARE.to_owned()),
        ] {
            let text = format!("{header}{vertices}3 0 1 2 0.5 0 0\n3 0 2 3\n");
            let mesh = read("a.off", text.as_bytes()).unwrap_or_else(|error| panic!("{header}: {error}"));
            assert_eq!(mesh.points, [[0., 0., 0.], [2., 0., 0.], [2., 0.5, 0.], [0., 0.5, 0.]], "{header}");
            assert_eq!(mesh.corners, [0, 1, 2, 0, 2, 3], "{header}");
            assert_eq!((mesh.faces.len(), mesh.notes().len()), (2, 0), "{header}");
        }
    }

    #[test]
    fn polygons_are_kept_and_faces_of_two_corners_are_lines() {
        let text = format!("OFF\n4 3 0\n{SQUARE}4 0 1 2 3 7\n2 0 2\n1 3\nmore\n");
        let mesh = read("a.off", text.as_bytes()).unwrap();
        assert_eq!((mesh.faces.len(), mesh.faces[0].clone(), mesh.corners.len()), (1, 0..4, 7));
        assert_eq!(mesh.notes(), ["a.off: lines from 10 on stand after its faces, they are not read"]);
    }

    #[test]
    fn a_vertex_and_a_face_go_on_in_the_next_lines() {
        let text = "NOFF\n4 2 0\n0\n0 0\n0 0 1\n2. 0 0 0 0\n1\n2 .5 0 0 0 1\n0 .5 0 0 0 1\n\n3 0\n1 # corner\n2 0.5 0 0\n3\n0\n2\n3\n";
        let mesh = read("a.off", text.as_bytes()).unwrap();
        assert_eq!(mesh.points, [[0., 0., 0.], [2., 0., 0.], [2., 0.5, 0.], [0., 0.5, 0.]]);
        assert_eq!((&mesh.corners[..], mesh.notes().len()), (&[0, 1, 2, 0, 2, 3][..], 0));
        let text = format!("OFF\n4 1 0\n{SQUARE}4 0\n1\nx\n2\n");
        assert_eq!(error_of(&text), "a.off: line 9: \"x\" is not a vertex number");
    }

    #[test]
    fn errors_name_the_line() {
        for (text, message) in [
            ("off\n", "line 1: it begins with \"off\", not with \"OFF\""),
            (
                "4OFF\n1 0 0\n0 0 0 1\n",
                "line 1: 4OFF: vertices of three numbers are read, these have four or more",
            ),
            ("OFF BINARY\n", "line 1: binary OFF is not read, text is"),
            ("OFF\n1 x 0\n", "line 2: \"1 x 0\" are not the numbers of vertices, faces and edges"),
            ("OFF\n0 0 0\n", "it has no vertices"),
            ("OFF\n", "it ends before the number of vertices"),
            ("OFF\n99999999999 1 0\n0 0 0\n", "line 3: the file ends after 1 of 99999999999 vertices"),
            ("OFF\n1 0 0\n0 0\n", "line 3, column z: missing"),
            ("OFF\n1 0 0\n0 0 nan\n", "line 3, column z: \"nan\" is not finite"),
            (
                "OFF\n1 0 0\n0 0 0 1 1\n",
                "line 3: 2 numbers follow the vertex, which is not what the first line announces",
            ),
            (
                "NOFF\n1 0 0\n0 0 0\n",
                "line 3: 0 numbers follow the vertex, which is not what the first line announces",
            ),
            ("OFF\n1 1 0\n0 0 0\n3 0 0\n", "line 4: a face of 3 corners, 2 given"),
            ("OFF\n1 1 0\n0 0 0\n3 0 0 1\n", "line 4: vertex 1 does not exist, there are 1"),
            (
                "OFF\n1 1 0\n0 0 0\n3 0 0 0 1 2\n",
                "line 4: 2 numbers follow the corners: a colour is an index, or three or four numbers",
            ),
        ] {
            assert_eq!(error_of(text), format!("a.off: {message}"), "{text}");
        }
    }
}
