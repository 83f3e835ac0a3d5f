//! The URIs of buffers: base64 data, or files beside the scene.

use crate::text::excerpt;

/// Where the bytes of a buffer are.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place<'a> {
    /// Base64 of the bytes.
    Data(&'a str),
    /// A file, by its path from the scene's folder: names with `/` between.
    File(String),
}

/// The place that a URI names. An error is a message.
pub(super) fn place(uri: &str) -> Result<Place<'_>, String> {
    if uri.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) {
        let base64 = uri.split_once(";base64,").map(|(_, text)| text);
        return base64.map(Place::Data).ok_or_else(|| "a data URI is not base64".to_owned());
    }
    let outside = || format!("\"{}\" is not a file beside it", excerpt(uri));
    let path = decoded(uri).unwrap_or_else(|| uri.to_owned());
    if has_scheme(&path) || path.starts_with(['/', '\\']) || path.contains('\0') {
        return Err(outside());
    }
    let mut names = Vec::new();
    for name in path.split(['/', '\\']) {
        match name {
            ".." => return Err(outside()),
            "" | "." => {}
            name => names.push(name),
        }
    }
    if names.is_empty() {
        return Err(outside());
    }
    // A backslash is of a name where folders are not divided by it.
    Ok(Place::File(if path.contains('\\') { path } else { names.join("/") }))
}

/// Whether it begins like `file:`, `https:` or `C:`.
fn has_scheme(path: &str) -> bool {
    let Some((scheme, _)) = path.split_once(':') else { return false };
    let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_of_scheme)
}

/// The bytes of base64, in the alphabet of files or of URLs.
pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut word, mut bit_count) = (0u32, 0);
    for symbol in text.trim_end_matches('=').bytes() {
        let value = match symbol {
            b'A'..=b'Z' => symbol - b'A',
            b'a'..=b'z' => symbol - b'a' + 26,
            b'0'..=b'9' => symbol - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        word = word << 6 | u32::from(value);
        bit_count += 6;
        if bit_count >= 8 {
            bit_count -= 8;
            bytes.push((word >> bit_count) as u8);
        }
    }
    Some(bytes)
}

/// The text with its escapes (`%20`) decoded. None if a percent sign begins no escape: some programs write names as they are.
fn decoded(uri: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' {
            let digits = tail.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = tail.get(2..)?;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_data_or_a_file_beside_the_scene() {
        let file = |name: &str| Ok(Place::File(name.to_owned()));
        for (uri, found) in [
            ("data:application/octet-stream;base64,aGk=", Ok(Place::Data("aGk="))),
            ("DATA:;base64,", Ok(Place::Data(""))),
            ("a.bin", file("a.bin")),
            ("./parts//a.bin", file("parts/a.bin")),
            ("a%20b.bin", file("a b.bin")),
            ("100%.bin", file("100%.bin")),
            ("b..bin", file("b..bin")),
            ("a b/ä.bin", file("a b/ä.bin")),
        ] {
            assert_eq!(place(uri), found, "{uri}");
        }
        for uri in [
            "/dev/zero",
            "../a.bin",
            "a/../../b.bin",
            "%2e%2e/a.bin",
            "..%2Fa.bin",
            "\\\\server\\a.bin",
            "a\\..\\..\\b.bin",
            "file:///etc/passwd",
            "http://x/a.bin",
            "C:\\a.bin",
            "c:a.bin",
            "%2Fdev/zero",
            "",
            ".",
            "a%00.bin",
        ] {
            assert!(place(uri).is_err_and(|message| message.ends_with("is not a file beside it")), "{uri}");
        }
        assert!(place("data:,hi").is_err());
    }

    #[test]
    fn base64_decodes() {
        assert_eq!(base64("aGk="), Some(b"hi".to_vec()));
        assert_eq!(base64("a*"), None);
        assert_eq!(decoded("a%2"), None);
        assert_eq!(decoded("%+1"), None);
    }
}
