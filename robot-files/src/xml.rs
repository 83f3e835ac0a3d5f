//! XML with the lines of its elements.

use std::fmt::Display;

use hullfield_mesh_files::{Error, Result, excerpt, foreign_kind_but_xml, number, shortened};
use roxmltree::{Document, Node};

/// The longest text that is read.
pub(crate) const MAX_BYTES: usize = 1 << 24;

/// Most attributes of an element: the parser compares each with all before it.
const MAX_ATTRIBUTES: usize = 256;

/// Most declarations of namespaces: an element that has one copies those around it.
const MAX_NAMESPACES: usize = 500;

/// A text of XML that the parser may be given.
pub(crate) struct Source<'a> {
    name: &'a str,
    pub(crate) text: &'a str,
    /// Where each line begins.
    lines: Vec<usize>,
}

impl<'a> Source<'a> {
    /// Checks the bytes. `name` is the file's name in messages.
    ///
    /// # Errors
    /// What is no text, or would take the parser longer than its length says.
    pub(crate) fn new(name: &'a str, bytes: &'a [u8]) -> Result<Self> {
        let error = |message: &dyn Display| Error::new(format!("{name}: {message}"));
        if bytes.len() > MAX_BYTES {
            return Err(error(&format_args!("it has more than {MAX_BYTES} bytes, the most that is read")));
        }
        if let Some(what) = foreign_kind_but_xml(bytes) {
            return Err(error(&format_args!("it is {what}")));
        }
        let text = std::str::from_utf8(bytes).map_err(|fault| {
            let line = 1 + bytes[..fault.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
            error(&format_args!("line {line}: it is not UTF-8"))
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() {
            return Err(error(&"it is empty"));
        }
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let lines = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        let source = Self { name, text, lines };
        if let Some(at) = crowded_element(text) {
            let line = source.line_at(at);
            let message = format!("line {line}: an element has more than {MAX_ATTRIBUTES} attributes");
            return Err(error(&message));
        }
        if text.matches("xmlns").nth(MAX_NAMESPACES).is_some() {
            return Err(error(&format_args!("it declares more than {MAX_NAMESPACES} namespaces")));
        }
        Ok(source)
    }

    /// Parses the text. A document type is refused, and with it every entity of the file's own.
    ///
    /// # Errors
    /// What is not well formed, with its line.
    pub(crate) fn parse(&self) -> Result<Document<'a>> {
        Document::parse(self.text).map_err(|error| match error {
            roxmltree::Error::DtdDetected => {
                Error::new(format!("{}: it has a document type (<!DOCTYPE …>), which is not read", self.name))
            }
            error => {
                let (line, message) = (error.pos().row, shortened(&error.to_string(), 200));
                Error::new(format!("{}: line {line}: it is not well-formed XML: {message}", self.name))
            }
        })
    }

    fn line_at(&self, at: usize) -> u64 {
        self.lines.partition_point(|&begin| begin <= at) as u64
    }

    /// The line of an element, from 1.
    pub(crate) fn line(&self, node: Node<'_, '_>) -> u64 {
        self.line_at(node.range().start)
    }

    /// An error in an element.
    pub(crate) fn error(&self, node: Node<'_, '_>, message: impl Display) -> Error {
        self.error_at(self.line(node), message)
    }

    /// An error in a line.
    pub(crate) fn error_at(&self, line: u64, message: impl Display) -> Error {
        Error::new(format!("{}: line {line}: {message}", self.name))
    }

    /// An error in the file as a whole.
    pub(crate) fn whole(&self, message: impl Display) -> Error {
        Error::new(format!("{}: {message}", self.name))
    }

    /// The root element, which must be called `robot`.
    ///
    /// # Errors
    /// Another root, and what it is.
    pub(crate) fn root<'d>(&self, document: &'d Document<'a>, format: &str) -> Result<Node<'d, 'a>> {
        let root = document.root_element();
        let found = root.tag_name().name();
        match found {
            "robot" => Ok(root),
            "sdf" | "world" | "model" => Err(self.error(root, format!("it is SDF, not {format}"))),
            "mujoco" | "mujocoinclude" => Err(self.error(root, format!("it is MJCF, not {format}"))),
            "COLLADA" => Err(self.error(root, format!("it is COLLADA, not {format}"))),
            _ => {
                let found = excerpt(found);
                Err(self.error(root, format!("the outermost element is {found}, that of {format} is robot")))
            }
        }
    }

    /// The children with these names, each at most once. Others are passed over.
    ///
    /// # Errors
    /// A child that is there twice.
    pub(crate) fn children<'d, const N: usize>(
        &self,
        node: Node<'d, 'a>,
        what: &str,
        names: [&str; N],
    ) -> Result<[Option<Node<'d, 'a>>; N]> {
        let mut found = [None; N];
        for child in own_children(node) {
            let Some(at) = names.iter().position(|&name| name == child.tag_name().name()) else { continue };
            if found[at].replace(child).is_some() {
                return Err(self.error(child, format!("{what} has more than one {}", names[at])));
            }
        }
        Ok(found)
    }

    /// An attribute that must be there.
    ///
    /// # Errors
    /// It is missing.
    pub(crate) fn attribute<'d>(&self, node: Node<'d, 'a>, what: &str, name: &str) -> Result<&'d str> {
        node.attribute(name).ok_or_else(|| {
            let element = node.tag_name().name();
            let of = if what == element { String::new() } else { format!("{what}: ") };
            self.error(node, format!("{of}{element} has no attribute {name}"))
        })
    }

    /// A finite number of an attribute; none where it is missing.
    ///
    /// # Errors
    /// It is no finite number.
    pub(crate) fn number(&self, node: Node<'_, 'a>, what: &str, name: &str) -> Result<Option<f64>> {
        let value = node.attribute(name).map(|text| number::<f64>(text.trim())).transpose();
        value.map_err(|message| self.error(node, format!("{what}: {name} {message}")))
    }

    /// Finite numbers of an attribute, with blanks between; none where it is missing.
    ///
    /// # Errors
    /// They are others, or not as many.
    pub(crate) fn numbers<const N: usize>(
        &self,
        node: Node<'_, 'a>,
        what: &str,
        name: &str,
    ) -> Result<Option<[f64; N]>> {
        let Some(text) = node.attribute(name) else { return Ok(None) };
        let mut found = [0.0; N];
        let mut count = 0;
        for word in text.split_whitespace() {
            if let Some(place) = found.get_mut(count) {
                *place =
                    number(word).map_err(|message| self.error(node, format!("{what}: {name} {message}")))?;
            }
            count += 1;
        }
        if count != N {
            let text = excerpt(text);
            return Err(self.error(node, format!("{what}: {name} \"{text}\" must be {N} numbers")));
        }
        Ok(Some(found))
    }
}

/// The children of an element that are of the same namespace: of the format, and not of a simulator.
pub(crate) fn own_children<'d, 'a>(node: Node<'d, 'a>) -> impl Iterator<Item = Node<'d, 'a>> {
    let namespace = node.tag_name().namespace();
    node.children().filter(move |child| child.is_element() && child.tag_name().namespace() == namespace)
}

/// Where an element begins that has too many attributes: each has an equals sign, and none of their values has a `<`.
fn crowded_element(text: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(begin) = text[at..].find('<').map(|begin| at + begin) {
        let rest = &text[begin..];
        let skipped =
            [("<!--", "-->"), ("<![CDATA[", "]]>")].into_iter().find(|(open, _)| rest.starts_with(open));
        if let Some((open, close)) = skipped {
            let end = rest[open.len()..].find(close)?;
            at = begin + open.len() + end + close.len();
            continue;
        }
        let end = rest[1..].find('<').map_or(text.len(), |end| begin + 1 + end);
        if text[begin..end].bytes().filter(|&byte| byte == b'=').count() > MAX_ATTRIBUTES {
            return Some(begin);
        }
        at = end;
    }
    None
}
