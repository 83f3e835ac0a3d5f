//! Files that are not what their names say by their first bytes, named for a message.

use crate::text::without_mark;

/// First bytes, and what a file is that begins so.
const BEGINNINGS: [(&[u8], &str); 25] = [
    (
        b"version https://git-lfs.github.com/spec/",
        "a Git LFS pointer, not the file itself: \"git lfs pull\" fetches that",
    ),
    (b"/annex/objects/", "a git-annex pointer, not the file itself: \"git annex get\" fetches that"),
    (b"\x1f\x8b", "compressed with gzip: unpack it"),
    (b"BZh", "compressed with bzip2: unpack it"),
    (b"\xfd7zXZ\0", "compressed with xz: unpack it"),
    (b"\x28\xb5\x2f\xfd", "compressed with Zstandard: unpack it"),
    (b"\x04\x22\x4d\x18", "compressed with LZ4: unpack it"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it"),
    (b"Rar!\x1a\x07", "a RAR archive: unpack it"),
    (b"DRACO", "a mesh compressed with Draco, which is not read"),
    (b"Kaydara FBX Binary", "an FBX file, which is not read"),
    (b"; FBX", "an FBX file, which is not read"),
    (b"BLENDER", "a Blender file, which is not read"),
    (b"PXR-USDC", "a USD file, which is not read"),
    (b"#usda", "a USD file, which is not read"),
    (b"#VRML", "a VRML file, which is not read"),
    (b"ISO-10303-21", "a STEP file, which is not read"),
    (b"xof 0", "a DirectX file, which is not read"),
    (b"OpenCTM\0", "an OpenCTM file, which is not read"),
    (b"OCTM", "an OpenCTM file, which is not read"),
    (b"%PDF", "a PDF file"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"\x7fELF", "a program"),
];

/// Words near the beginning of XML, and what it is.
const XML: [(&str, &str); 6] = [
    ("<collada", "a COLLADA file, which is not read"),
    ("<x3d", "an X3D file, which is not read"),
    ("<amf", "an AMF file, which is not read"),
    ("<svg", "an SVG picture"),
    ("<html", "a page of HTML, perhaps the error of a download"),
    ("<!doctype html", "a page of HTML, perhaps the error of a download"),
];

/// What a file is that is not what its name says, by its first bytes: the end of the sentence "it is …". None where these don't tell. Any XML is foreign,
/// as are a pointer of Git LFS, a packed file, text in UTF-16, a page of HTML, a picture and others.
///
/// The first 4,096 bytes are enough, but for 3DS files, which need all.
pub fn foreign_kind(bytes: &[u8]) -> Option<&'static str> {
    foreign_kind_but_xml(bytes).or_else(|| {
        let begin = without_mark(bytes).trim_ascii_start();
        begin.starts_with(b"<").then(|| {
            let head = String::from_utf8_lossy(&begin[..begin.len().min(2048)]).to_lowercase();
            XML.iter()
                .find(|(word, _)| head.contains(word))
                .map_or("an XML file, which is not read", |(_, what)| what)
        })
    })
}

/// As [`foreign_kind`], for readers of XML: no XML is foreign, a page of HTML neither.
pub fn foreign_kind_but_xml(bytes: &[u8]) -> Option<&'static str> {
    if let Some(encoding) = wide_text(bytes) {
        return Some(encoding);
    }
    let plain = without_mark(bytes);
    if let Some((_, what)) = BEGINNINGS.iter().find(|(begin, _)| plain.starts_with(begin)) {
        return Some(what);
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return Some(zip(bytes));
    }
    if bytes.get(257..262) == Some(b"ustar") {
        return Some("a tar archive: unpack it");
    }
    // The main chunk of a 3DS file: its number, and the size of the whole file.
    let size = bytes.get(2..6).and_then(|size| size.try_into().ok()).map(u32::from_le_bytes);
    let is_3ds = bytes.starts_with(b"MM") && size.is_some_and(|size| size as usize == bytes.len());
    is_3ds.then_some("a 3DS file, which is not read")
}

/// A zip archive, by the names of its entries.
fn zip(bytes: &[u8]) -> &'static str {
    let head = &bytes[..bytes.len().min(4096)];
    let has = |name: &[u8]| head.windows(name.len()).any(|window| window.eq_ignore_ascii_case(name));
    if has(b"3dmodel.model") {
        "a 3MF file, which is not read"
    } else if has(b".usdc") || has(b".usda") {
        "a USD file (USDZ), which is not read"
    } else {
        "a zip archive: unpack it"
    }
}

/// Text of 16 or 32 bits a character, by its byte order mark or by its zero bytes.
fn wide_text(bytes: &[u8]) -> Option<&'static str> {
    const UTF_16: &str = "text in UTF-16: save it as UTF-8";
    const UTF_32: &str = "text in UTF-32: save it as UTF-8";
    if bytes.starts_with(b"\xff\xfe\0\0") || bytes.starts_with(b"\0\0\xfe\xff") {
        return Some(UTF_32);
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Some(UTF_16);
    }
    // Without a mark: letters, digits and blanks with a zero byte each, on the same side of all.
    let head = bytes.get(..16)?;
    let is_text = |byte: u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    let alternates =
        |text: usize| (0..16).all(|i| if i % 2 == text { is_text(head[i]) } else { head[i] == 0 });
    (alternates(0) || alternates(1)).then_some(UTF_16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_mesh_is_named() {
        let wide = |order: fn(u16) -> [u8; 2], mark: bool| -> Vec<u8> {
            let text = if mark { "\u{feff}o box\nv 1 2 3\n" } else { "o box\nv 1 2 3\n" };
            text.encode_utf16().flat_map(order).collect()
        };
        let mut small_3ds = b"MM\x0a\0\0\0".to_vec();
        small_3ds.extend([0; 4]);
        let cases: [(Vec<u8>, &str); 14] = [
            (
                b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n".to_vec(),
                "a Git LFS pointer",
            ),
            (wide(u16::to_le_bytes, true), "text in UTF-16"),
            (wide(u16::to_be_bytes, true), "text in UTF-16"),
            (wide(u16::to_le_bytes, false), "text in UTF-16"),
            (wide(u16::to_be_bytes, false), "text in UTF-16"),
            (b"\xff\xfe\0\0v\0\0\0".to_vec(), "text in UTF-32"),
            (b"\x1f\x8b\x08\0".to_vec(), "compressed with gzip"),
            (b"PK\x03\x04....3D/3dmodel.model".to_vec(), "a 3MF file"),
            (b"PK\x03\x04....a.txt".to_vec(), "a zip archive"),
            (b"DRACO\x02\x02".to_vec(), "a mesh compressed with Draco"),
            (b"\xef\xbb\xbf<?xml version=\"1.0\"?>\n<COLLADA>".to_vec(), "a COLLADA file"),
            (b"\n<!DOCTYPE html><p>404".to_vec(), "a page of HTML"),
            (small_3ds, "a 3DS file"),
            (b"<a/>".to_vec(), "an XML file"),
        ];
        for (bytes, what) in cases {
            let found = foreign_kind(&bytes).unwrap_or_default();
            assert!(found.starts_with(what), "{found} {what}");
        }
        for mesh in [
            &b"v 0 0 0\n"[..],
            b"# <x>\n",
            b"solid a\n",
            b"ply\n",
            b"glTF\x02\0\0\0",
            b"{}",
            b"OFF\n",
            b"",
            b"MM",
        ] {
            assert_eq!(foreign_kind(mesh), None, "{}", String::from_utf8_lossy(mesh));
        }
    }

    #[test]
    fn xml_is_foreign_but_to_readers_of_xml() {
        for (text, kind) in [
            (
                "\u{feff}\n <!DOCTYPE html><html><p>404</p></html>",
                "a page of HTML, perhaps the error of a download",
            ),
            ("<?xml version=\"1.0\"?><robot name=\"a\"/>", "an XML file, which is not read"),
        ] {
            assert_eq!(foreign_kind(text.as_bytes()), Some(kind));
            assert_eq!(foreign_kind_but_xml(text.as_bytes()), None);
        }
        for packed in [&b"\x1f\x8b\x08\0"[..], b"\xff\xfe<\0a\0"] {
            assert!(foreign_kind(packed).is_some());
            assert_eq!(foreign_kind(packed), foreign_kind_but_xml(packed));
        }
    }
}
