//! Wavefront OBJ.
//!
//! `tobj` is not used: it does not join lines that end in `\`, gives no line of an error, and keeps only points that faces
//! use. A statement `o` begins an object. In a file without `o` each name of `g` is an object. Materials begin none.

use std::collections::HashMap;

use crate::error::{Error, Result, stem};
use crate::mesh::{Mesh, Piece};
use crate::text::{Lines, decoded, excerpt, number};

/// Statements that are ignored, as they change no point, face, line or object.
const IGNORED: [&str; 23] = [
    "vt", "vn", "vp", "s", "mg", "lod", "bevel", "c_interp", "d_interp", "cstype", "deg", "bmat", "step",
    "curv2", "parm", "trim", "hole", "scrv", "sp", "end", "con", "ctech", "stech",
];

/// Statements of a name, which are ignored too. A backslash at their end is of the name.
const IGNORED_NAMES: [&str; 6] = ["usemtl", "mtllib", "usemap", "maplib", "shadow_obj", "trace_obj"];

/// Statements that add geometry that is not read.
const REFUSED: [(&str, &str); 9] = [
    ("curv", FREE_FORM),
    ("surf", FREE_FORM),
    ("res", FREE_FORM),
    ("bsp", FREE_FORM),
    ("bzp", FREE_FORM),
    ("cdc", FREE_FORM),
    ("cdp", FREE_FORM),
    ("call", "statements of other files are not read"),
    ("csh", "commands are not run"),
];
const FREE_FORM: &str = "free-form curves and surfaces are not read: save it as polygons";

/// Begins the comment with the exact name of the object before it, a string as in JSON.
const NAME_COMMENT: &str = "# hullfield name: ";

/// The statement `o` of an object, with its line end. The reader of OBJ finds the name as it is.
///
/// A name that OBJ cannot express (it has control characters or a comment, begins or ends with a blank, ends with `\`, or is empty) is
/// written with `_` in these places. A comment on the line after has the exact name, for hullfield.
pub fn object_statement(name: &str) -> String {
    let breaks_lines = |c: char| c.is_control() || c == '\u{2028}' || c == '\u{2029}';
    let mut plain = String::with_capacity(name.len());
    let mut begins_word = true;
    for c in name.chars() {
        let is_comment = c == '#' && begins_word;
        begins_word = c.is_whitespace();
        plain.push(if is_comment || breaks_lines(c) { '_' } else { c });
    }
    let trimmed = plain.trim();
    let inner = trimmed.strip_suffix('\\').map_or_else(|| trimmed.to_owned(), |begin| format!("{begin}_"));
    let plain = if inner.is_empty() { "_".to_owned() } else { inner };
    if plain == name {
        return format!("o {name}\n");
    }
    let quoted: String = serde_json::Value::from(name)
        .to_string()
        .chars()
        .map(|c| if breaks_lines(c) { format!("\\u{:04x}", c as u32) } else { c.to_string() })
        .collect();
    format!("o {plain}\n{NAME_COMMENT}{quoted}\n")
}

/// A word and the line that it is in.
#[derive(Debug, Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    line_text: &'a str,
    line: u64,
}

impl Word<'_> {
    /// The place of the word in its line, from 1. It is only counted for messages, as the line may be long.
    fn column(&self) -> usize {
        let before = self.text.as_ptr() as usize - self.line_text.as_ptr() as usize;
        self.line_text.get(..before).map_or(0, |before| before.chars().count()) + 1
    }
}

/// The words of a statement after its keyword. A line that ends in `\` continues on the next.
#[derive(Debug)]
struct Words<'a, 'b> {
    lines: &'b mut Lines<'a>,
    line_text: &'a str,
    line: u64,
    rest: std::str::SplitWhitespace<'a>,
    continues: bool,
}

impl<'a, 'b> Words<'a, 'b> {
    /// The words after a keyword. `lines` are those after its line.
    fn after(keyword: Word<'a>, lines: &'b mut Lines<'a>) -> Self {
        let (mut rest, continues) = continued(keyword.line_text);
        rest.next();
        Self { lines, line_text: keyword.line_text, line: keyword.line, rest, continues }
    }
}

/// The words of one line, and whether the statement goes on after it.
fn continued(line: &str) -> (std::str::SplitWhitespace<'_>, bool) {
    let content = without_comment(line);
    let body = content.trim_end().strip_suffix('\\').filter(|_| content.len() == line.len());
    (body.unwrap_or(content).split_whitespace(), body.is_some())
}

impl<'a> Iterator for Words<'a, '_> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        loop {
            if let Some(text) = self.rest.next() {
                return Some(Word { text, line_text: self.line_text, line: self.line });
            }
            if !self.continues {
                return None;
            }
            (self.line_text, self.line) = self.lines.next()?;
            (self.rest, self.continues) = continued(self.line_text);
        }
    }
}

/// The line without its comment. A `#` begins one only at the start of a word.
fn without_comment(line: &str) -> &str {
    let begins = |&(at, _): &(usize, &str)| at == 0 || line.as_bytes()[at - 1].is_ascii_whitespace();
    line.match_indices('#').find(begins).map_or(line, |(at, _)| &line[..at])
}

/// Points and corners after a statement `g`, up to the next.
#[derive(Debug)]
struct Group<'a> {
    name: Option<&'a str>,
    line: u64,
    points: usize,
    corners: usize,
}

/// A file that is being read.
#[derive(Debug)]
struct Reader<'a> {
    name: &'a str,
    mesh: Mesh,
    /// A face may come before its vertices, so the highest index is checked at the end.
    highest: Option<(u32, Word<'a>)>,
    has_objects: bool,
    /// Whether vertices or elements come before the first `o`.
    has_first: bool,
    /// The groups of a file that has no objects so far.
    groups: Vec<Group<'a>>,
}

pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Mesh> {
    let text = decoded(bytes);
    let mut reader = Reader {
        name,
        mesh: Mesh::new(stem(name)),
        highest: None,
        has_objects: false,
        has_first: false,
        groups: Vec::new(),
    };
    let mut lines = Lines::new(&text);
    // Whether the last statement was an `o`, whose exact name a comment may have.
    let mut names_object = false;
    while let Some((line_text, line)) = lines.next() {
        if names_object && let Some(quoted) = line_text.strip_prefix(NAME_COMMENT) {
            if let Ok(exact) = serde_json::from_str::<String>(quoted) {
                reader.mesh.rename(&exact);
            }
            continue;
        }
        let Some(text) = without_comment(line_text).split_whitespace().next() else { continue };
        let keyword = Word { text, line_text, line };
        names_object = text == "o";
        reader.statement(keyword, &mut lines)?;
    }
    reader.finish()
}

/// The name after the keyword of a statement, with its inner blanks.
fn name_after<'a>(keyword: Word<'a>) -> Option<&'a str> {
    let content = without_comment(keyword.line_text).trim();
    content.strip_prefix(keyword.text).map(str::trim).filter(|name| !name.is_empty())
}

impl<'a> Reader<'a> {
    fn invalid(&self, word: Word<'_>, message: String) -> Error {
        Error::field(self.name, word.line, &word.column().to_string(), message)
    }

    fn statement(&mut self, keyword: Word<'a>, lines: &mut Lines<'a>) -> Result<()> {
        match keyword.text {
            "v" => self.vertex(keyword, Words::after(keyword, lines)),
            "f" | "fo" => {
                self.element(keyword, Words::after(keyword, lines), 3, "a face needs three vertices")
            }
            "l" => self.element(keyword, Words::after(keyword, lines), 2, "a line needs two vertices"),
            "p" => self.element(keyword, Words::after(keyword, lines), 1, "a point needs a vertex"),
            "o" => {
                self.has_objects = true;
                self.groups = Vec::new();
                self.mesh.begin(name_after(keyword), Some(keyword.line));
                Ok(())
            }
            "g" => {
                if !self.has_objects {
                    self.group(name_after(keyword), keyword.line);
                }
                Ok(())
            }
            other if IGNORED_NAMES.contains(&other) => Ok(()),
            other if IGNORED.contains(&other) => {
                Words::after(keyword, lines).for_each(drop);
                Ok(())
            }
            other => {
                let refused = REFUSED.iter().find(|(statement, _)| *statement == other);
                let why = refused.map_or("is not a statement of an OBJ file", |(_, why)| why);
                let colon = if refused.is_some() { ":" } else { "" };
                Err(self.invalid(keyword, format!("\"{}\"{colon} {why}", excerpt(other))))
            }
        }
    }

    /// Begins the object of what comes before the first `o`.
    fn begin_first(&mut self) {
        if !self.has_objects && !self.has_first {
            self.has_first = true;
            self.mesh.begin(None, Some(1));
        }
    }

    fn group(&mut self, name: Option<&'a str>, line: u64) {
        let (points, corners) = (self.mesh.points.len(), self.mesh.corners.len());
        // A group that ends where it begins has nothing.
        if self.groups.last().is_some_and(|last| (last.points, last.corners) == (points, corners)) {
            self.groups.pop();
        }
        self.groups.push(Group { name, line, points, corners });
    }

    /// `v x y z`, and a weight of 1 or a colour of three or four numbers.
    fn vertex(&mut self, keyword: Word<'a>, mut words: Words<'a, '_>) -> Result<()> {
        self.begin_first();
        let mut point = [0.0; 3];
        for (given, axis) in ["x", "y", "z"].into_iter().enumerate() {
            let Some(word) = words.next() else {
                return Err(self.invalid(keyword, format!("a vertex needs x, y and z, {given} given")));
            };
            point[given] = number(word.text)
                .map_err(|message| self.invalid(word, format!("{axis} of a vertex: {message}")))?;
        }
        let mut first: Option<Word<'_>> = None;
        let mut count = 0;
        for word in words {
            if word.text.parse::<f64>().is_err() {
                let message =
                    format!("\"{}\" after x, y and z is neither a weight nor a colour", excerpt(word.text));
                return Err(self.invalid(word, message));
            }
            first = first.or(Some(word));
            count += 1;
        }
        match (count, first) {
            (1, Some(word)) if word.text.parse() != Ok(1.0) => {
                let message = format!(
                    "the weight {} of a vertex: without free-form curves it is 1",
                    excerpt(word.text)
                );
                return Err(self.invalid(word, message));
            }
            (2 | 5.., Some(word)) => {
                let message = format!(
                    "{count} numbers after x, y and z: one (a weight of 1), three or four (a colour) may be there"
                );
                return Err(self.invalid(word, message));
            }
            _ => {}
        }
        self.mesh.points.push(point);
        Ok(())
    }

    /// A face, a line or points.
    fn element(&mut self, keyword: Word<'a>, words: Words<'a, '_>, least: usize, what: &str) -> Result<()> {
        self.begin_first();
        let begin = self.mesh.corners.len();
        for word in words {
            let index = vertex_index(word.text, self.mesh.points.len())
                .map_err(|message| self.invalid(word, message))?;
            if self.highest.is_none_or(|(high, _)| index > high) {
                self.highest = Some((index, word));
            }
            self.mesh.corners.push(index);
        }
        let given = self.mesh.corners.len() - begin;
        if given < least {
            return Err(self.invalid(keyword, format!("{what}, {given} given")));
        }
        if least == 3 {
            self.mesh.faces.push(begin..self.mesh.corners.len());
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Mesh> {
        self.mesh.end();
        let count = self.mesh.points.len();
        if let Some((index, word)) = self.highest.filter(|&(index, _)| index as usize >= count) {
            let message = format!("vertex {} does not exist, there are {count}", u64::from(index) + 1);
            return Err(self.invalid(word, message));
        }
        if self.mesh.points.is_empty() {
            return Err(Error::file(self.name, "it has no vertices"));
        }
        if self.has_objects {
            // The part before the first `o` often has the vertices of all objects. It is an object only if it has faces, lines or
            // points.
            if self.has_first {
                self.mesh.remove_first_without_corners();
            }
        } else if self.groups.iter().any(|group| group.name.is_some()) {
            objects_of_groups(&mut self.mesh, &self.groups);
        }
        Ok(self.mesh)
    }
}

/// Makes an object of each name of a group; what is before the first has no name. Vertices are often listed in groups of their own, so a
/// group without faces, lines and points is an object only if none of these uses its vertices.
fn objects_of_groups(mesh: &mut Mesh, groups: &[Group<'_>]) {
    let first = Group { name: None, line: 1, points: 0, corners: 0 };
    let begins: Vec<&Group<'_>> = std::iter::once(&first).chain(groups).collect();
    let mut is_used = vec![false; mesh.points.len()];
    for &corner in &mesh.corners {
        is_used[corner as usize] = true;
    }
    // The pieces of each name, and the places of the names.
    let mut objects: Vec<(&Group<'_>, Vec<Piece>)> = Vec::new();
    let mut places: HashMap<Option<&str>, usize> = HashMap::new();
    for (i, group) in begins.iter().enumerate() {
        let end = begins
            .get(i + 1)
            .map_or((mesh.points.len(), mesh.corners.len()), |next| (next.points, next.corners));
        let piece = Piece { points: group.points..end.0, corners: group.corners..end.1 };
        if piece.points.is_empty() && piece.corners.is_empty() {
            continue;
        }
        let place = *places.entry(group.name).or_insert_with(|| {
            objects.push((group, Vec::new()));
            objects.len() - 1
        });
        objects[place].1.push(piece);
    }
    mesh.objects.clear();
    mesh.pieces.clear();
    for (group, pieces) in objects {
        let has_corners = pieces.iter().any(|piece| !piece.corners.is_empty());
        let lists_only = || pieces.iter().flat_map(|piece| piece.points.clone()).any(|point| is_used[point]);
        if has_corners || !lists_only() {
            mesh.add_object(group.name, Some(group.line), pieces);
        }
    }
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
            sets("v 0 0 0\nv 1 0 0\r\nv 0 1 0 # x\nusemtl part\nf 1/1 2//2 3/3/3\n"),
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

    #[test]
    fn lines_end_with_carriage_returns_too() {
        let text = "\u{feff}# c\nv .5 0 0\nv 1. 0 0\nv 0 +1 0\nf 1 \\\n2 3\n";
        let plain = read("a.obj", text.as_bytes()).unwrap();
        assert_eq!((plain.faces.len(), plain.points[0]), (1, [0.5, 0.0, 0.0]));
        for text in [text.replace('\n', "\r"), text.replace('\n', "\r\n"), text.replacen('\n', "\r", 2)] {
            let mesh = read("a.obj", text.as_bytes()).unwrap();
            assert_eq!(
                (mesh.points, mesh.corners),
                (plain.points.clone(), plain.corners.clone()),
                "{text:?}"
            );
        }
        assert_eq!(
            error_of("v 0 0 0\rv 1 x 0\r"),
            "a.obj: line 2, column 5: y of a vertex: \"x\" is not a number"
        );
    }

    #[test]
    fn a_weight_of_one_and_a_colour_may_follow_a_vertex() {
        for after in ["", " 1", " 1.0", " 255 0 0", " .5 nan 0 1", " # 1 2"] {
            assert_eq!(sets(&format!("v 0 0 0{after}\nv 1 0 0\n")), [("file".to_owned(), 2)], "{after}");
        }
        for (after, message) in [
            (" v 1 0 0", "column 9: \"v\" after x, y and z is neither a weight nor a colour"),
            (" 1 2 3 x", "column 15: \"x\" after x, y and z is neither a weight nor a colour"),
            (
                " 1 2",
                "column 9: 2 numbers after x, y and z: one (a weight of 1), three or four (a colour) may be there",
            ),
            (
                " 1 2 3 4 5",
                "column 9: 5 numbers after x, y and z: one (a weight of 1), three or four (a colour) may be there",
            ),
            (" 2", "column 9: the weight 2 of a vertex: without free-form curves it is 1"),
        ] {
            assert_eq!(error_of(&format!("v 1 0 0\nv 0 0 0{after}\n")), format!("a.obj: line 2, {message}"));
        }
    }

    /// The backslash at the end of a name was taken for a continuation, and the next line was lost.
    #[test]
    fn a_backslash_at_the_end_of_a_name_is_of_the_name() {
        for statement in ["o D:\\", "g D:\\", "# D:\\"] {
            let name = if statement.starts_with('#') { "file" } else { "D:\\" };
            assert_eq!(sets(&format!("{statement}\nv 7 7 7\nv 1 0 0\n")), [(name.to_owned(), 2)]);
        }
        for statement in ["usemtl m\\", "mtllib \\", "usemap \\"] {
            assert_eq!(sets(&format!("{statement}\nv 7 7 7\n")), [("file".to_owned(), 1)]);
        }
        assert_eq!(sets("vt 0 \\\n0\nv 7 7 7\n"), [("file".to_owned(), 1)]);
    }

    #[test]
    fn groups_are_objects_where_there_are_no_others() {
        let names = |text: &str| sets(text);
        let of = |sets: &[(&str, usize)]| {
            sets.iter().map(|&(name, count)| (name.to_owned(), count)).collect::<Vec<_>>()
        };
        // The vertices of all groups may come first, or in a group of their own.
        let vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 5 5\n";
        let faces = "g left\nf 1 2 3\ng\ng right  side\nl 1 4\ng left\np 4\n";
        let found = of(&[("left", 4), ("right  side", 2)]);
        assert_eq!(names(&format!("{vertices}{faces}")), found);
        assert_eq!(names(&format!("g default\n{vertices}{faces}")), found);
        // Clouds of points.
        assert_eq!(names("g a\nv 0 0 0\ng b\nv 1 1 1\ng a\nv 2 2 2\n"), of(&[("a", 2), ("b", 1)]));
        assert_eq!(names("v 0 0 0\nv 1 1 1\ng a\nv 2 2 2\nl 1 2\n"), of(&[("a", 2)]));
        // Objects come before groups, and groups without a name are none.
        assert_eq!(names(&format!("g a\n{vertices}o b\nf 1 2 3\ng c\np 4\n")), of(&[("b", 4)]));
        assert_eq!(names(&format!("g\n{vertices}g\nf 1 2 3\n")), of(&[("file", 3)]));
    }

    #[test]
    fn what_adds_geometry_is_refused() {
        assert_eq!(
            error_of("v 0 0 0\nsurf 0 1 0 1 1 1 1 1\n"),
            "a.obj: line 2, column 1: \"surf\": free-form curves and surfaces are not read: save it as polygons"
        );
        assert_eq!(
            error_of("call b.obj\n"),
            "a.obj: line 1, column 1: \"call\": statements of other files are not read"
        );
    }

    #[test]
    fn written_names_read_back_as_they_were() {
        let names = [
            "box",
            "a b",
            "a  b",
            "a#1",
            "a\nv 9 9 9",
            "D:\\x\\",
            " a ",
            "\t",
            "",
            "#",
            "a # b",
            "\u{85}\u{2028}\r",
            "\u{7}\0",
            "\"q\"",
            "_",
            "ä 名",
            "a\\\\",
            "# hullfield name: \"x\"",
        ];
        for end in ["\n", "\r\n"] {
            let text: String = names.iter().map(|name| object_statement(name) + "v 1 2 3\n").collect();
            let sets = read("a.obj", text.replace('\n', end).as_bytes()).unwrap().point_sets();
            assert_eq!(sets.iter().map(|set| set.name.as_str()).collect::<Vec<_>>(), names, "{text}");
            // Other programs find a name without line ends, a comment or a continuation.
            for line in text.lines().filter_map(|line| line.strip_prefix("o ")) {
                assert!(line == line.trim() && !line.ends_with('\\') && !line.starts_with('#'), "{line:?}");
            }
        }
        assert_eq!(object_statement("a b"), "o a b\n");
        assert_eq!(object_statement("a\nb\\"), "o a_b_\n# hullfield name: \"a\\nb\\\\\"\n");
        // Only the comment after its object names it.
        assert_eq!(sets("o a\nv 1 1 1\n# hullfield name: \"b\"\n"), [("a".to_owned(), 1)]);
    }
}
