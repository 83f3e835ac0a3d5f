//! The header of a PLY file.

use crate::error::{Error, Result};
use crate::text::{excerpt, without_mark};

/// How the rows after the header are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Text,
    LittleEndian,
    BigEndian,
}

/// The type of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Scalar {
    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return None,
        })
    }

    pub(super) fn bytes(self) -> u64 {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    pub(super) fn is_integer(self) -> bool {
        !matches!(self, Self::F32 | Self::F64)
    }
}

/// A number, or a list of numbers after their count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number(Scalar),
    List { count: Scalar, item: Scalar },
}

#[derive(Debug)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// Rows of one kind.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) count: u64,
    pub(super) properties: Vec<Property>,
}

impl Element {
    /// The bytes of a row whose lists are empty.
    pub(super) fn least_bytes(&self) -> u64 {
        let bytes = |property: &Property| match property.kind {
            Kind::Number(scalar) => scalar.bytes(),
            Kind::List { count, .. } => count.bytes(),
        };
        self.properties.iter().map(bytes).sum()
    }

    pub(super) fn has_lists(&self) -> bool {
        self.properties.iter().any(|property| matches!(property.kind, Kind::List { .. }))
    }
}

#[derive(Debug)]
pub(super) struct Header {
    pub(super) encoding: Encoding,
    pub(super) elements: Vec<Element>,
    /// Where the rows begin.
    pub(super) end: usize,
    /// How many lines the header has.
    pub(super) line_count: u64,
}

/// The lines of a header as the first one ends: by line feeds, perhaps after carriage returns, or by carriage returns alone. So bytes after
/// the last line are never taken for a line end.
struct HeaderLines<'a> {
    bytes: &'a [u8],
    at: usize,
    end_byte: u8,
}

impl<'a> HeaderLines<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let end = bytes.iter().position(|&byte| byte == b'\n' || byte == b'\r').unwrap_or(bytes.len());
        let is_return = bytes.get(end) == Some(&b'\r') && bytes.get(end + 1) != Some(&b'\n');
        Self { bytes, at: 0, end_byte: if is_return { b'\r' } else { b'\n' } }
    }

    fn next(&mut self) -> Option<String> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = rest.iter().position(|&byte| byte == self.end_byte).unwrap_or(rest.len());
        self.at += (length + 1).min(rest.len());
        Some(String::from_utf8_lossy(&rest[..length]).trim().to_owned())
    }
}

pub(super) fn parse(name: &str, bytes: &[u8]) -> Result<Header> {
    let marked = bytes.len() - without_mark(bytes).len();
    let mut lines = HeaderLines::new(&bytes[marked..]);
    if lines.next().as_deref() != Some("ply") {
        return Err(Error::line(name, 1, "it does not begin with \"ply\""));
    }
    let mut encoding = None;
    let mut elements: Vec<Element> = Vec::new();
    let mut line = 1;
    loop {
        line += 1;
        let invalid = |message: String| Error::line(name, line, message);
        let text = lines.next().ok_or_else(|| invalid("the file ends before \"end_header\"".to_owned()))?;
        let words: Vec<&str> = text.split_whitespace().take(6).collect();
        match words.as_slice() {
            ["end_header"] => break,
            ["format", found, "1.0"] if encoding.is_none() => {
                encoding = Some(encoding_of(found).map_err(invalid)?);
            }
            ["comment" | "obj_info", ..] => {}
            ["element", element, count] => {
                let count =
                    count.parse().map_err(|_| invalid(format!("\"{}\" is not a count", excerpt(count))))?;
                elements.push(Element { name: (*element).to_owned(), count, properties: Vec::new() });
            }
            ["property", words @ ..] => {
                let element = elements.last_mut();
                let element =
                    element.ok_or_else(|| invalid("a property comes before the first element".to_owned()))?;
                add_property(element, words).map_err(invalid)?;
            }
            // Old exporters wrote comments without the word (Blender 2.47), or blank lines.
            _ if elements.is_empty() && words.first() != Some(&"format") => {}
            [] => {}
            _ => return Err(invalid(format!("\"{}\" is not a line of a header", excerpt(&text)))),
        }
    }
    let encoding = encoding.ok_or_else(|| Error::file(name, "its header has no format"))?;
    if let Some(twice) = twice(elements.iter().map(|element| element.name.as_str())) {
        return Err(Error::file(name, format!("its header has the element {} twice", excerpt(twice))));
    }
    for Element { name: of, properties, .. } in &elements {
        if let Some(twice) = twice(properties.iter().map(|property| property.name.as_str())) {
            let message = format!("its element {} has the property {} twice", excerpt(of), excerpt(twice));
            return Err(Error::file(name, message));
        }
    }
    Ok(Header { encoding, elements, end: marked + lines.at, line_count: line })
}

/// A name that is there twice.
fn twice<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut sorted: Vec<&str> = names.collect();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

fn encoding_of(name: &str) -> Result<Encoding, String> {
    Ok(match name {
        "ascii" => Encoding::Text,
        "binary_little_endian" => Encoding::LittleEndian,
        "binary_big_endian" => Encoding::BigEndian,
        _ => {
            return Err(format!(
                "format \"{}\": ascii, binary_little_endian and binary_big_endian are read",
                excerpt(name)
            ));
        }
    })
}

fn add_property(element: &mut Element, words: &[&str]) -> Result<(), String> {
    let scalar = |name: &str| {
        Scalar::of_name(name).ok_or_else(|| format!("\"{}\" is not a type of numbers", excerpt(name)))
    };
    let (name, kind) = match words {
        ["list", count, item, name] => (name, Kind::List { count: scalar(count)?, item: scalar(item)? }),
        [kind, name] => (name, Kind::Number(scalar(kind)?)),
        _ => {
            return Err("a property is \"property TYPE NAME\" or \"property list TYPE TYPE NAME\"".to_owned());
        }
    };
    if let Kind::List { count, .. } = kind
        && !count.is_integer()
    {
        return Err(format!("the count of list {} is of no whole numbers", excerpt(name)));
    }
    element.properties.push(Property { name: (*name).to_owned(), kind });
    Ok(())
}
