//! The WGSL files, as they are compiled into the program. In a browser's module, which is loaded over a network, they have no comments and no
//! indentation: 221 kB for 377 kB.

/// The text of WGSL files, one after the other. Their paths begin at the file that names them.
#[cfg(not(target_arch = "wasm32"))]
macro_rules! wgsl {
    ($($path:literal),+ $(,)?) => {
        concat!($(include_str!($path)),+)
    };
}

/// The text of WGSL files, one after the other, packed. Their paths begin at the file that names them.
#[cfg(target_arch = "wasm32")]
macro_rules! wgsl {
    ($($path:literal),+ $(,)?) => {{
        const WHOLE: &str = concat!($(include_str!($path)),+);
        const LENGTH: usize = $crate::gpu::wgsl::pack::<{ WHOLE.len() }>(WHOLE).1;
        const PACKED: [u8; LENGTH] = $crate::gpu::wgsl::pack(WHOLE).0;
        // What is left of a text is a text.
        const TEXT: &str = match str::from_utf8(&PACKED) {
            Ok(text) => text,
            Err(_) => WHOLE,
        };
        TEXT
    }};
}

pub(crate) use wgsl;

/// A WGSL text without comments, indentation and empty lines, cut off or filled up to so many bytes, and how many there are.
#[cfg(any(test, target_arch = "wasm32"))]
pub(crate) const fn pack<const LENGTH: usize>(text: &str) -> ([u8; LENGTH], usize) {
    let text = text.as_bytes();
    let (mut packed, mut length) = ([0; LENGTH], 0);
    let (mut at, mut is_indented, mut is_comment) = (0, true, false);
    while at < text.len() {
        let byte = text[at];
        let is_end = byte == b'\n';
        is_comment = !is_end && (is_comment || (byte == b'/' && at + 1 < text.len() && text[at + 1] == b'/'));
        let is_left_out = is_comment || (is_indented && byte.is_ascii_whitespace());
        if !is_left_out {
            if length < LENGTH {
                packed[length] = byte;
            }
            length += 1;
            is_indented = is_end;
        }
        at += 1;
    }
    (packed, length)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::pack;

    fn each_file(folder: &Path, work: &mut impl FnMut(&Path, &str)) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                each_file(&path, work);
            } else if path.extension().is_some_and(|extension| extension == "wgsl") {
                work(&path, &std::fs::read_to_string(&path).unwrap());
            }
        }
    }

    #[test]
    fn packed_files_have_all_lines_but_comments_and_empty_ones() {
        let mut sizes = [0, 0];
        each_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders"), &mut |path, text| {
            assert!(!text.contains("/*"), "{}: a comment of more than a line", path.display());
            let (bytes, length) = pack::<{ 1 << 16 }>(text);
            let packed = str::from_utf8(&bytes[..length]).unwrap();
            let lines = |text: &str| -> Vec<String> {
                let code = text.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
                code.filter(|line| !line.is_empty()).map(str::to_owned).collect()
            };
            assert_eq!(lines(packed), lines(text), "{}", path.display());
            assert!(
                packed.lines().all(|line| !line.is_empty() && !line.contains("//")),
                "{}",
                path.display()
            );
            sizes = [sizes[0] + text.len(), sizes[1] + length];
        });
        assert!(sizes[0] > 100_000 && sizes[1] < sizes[0] * 2 / 3, "{sizes:?}");
    }

    #[test]
    fn a_text_that_does_not_fit_is_cut_off_and_its_length_said() {
        assert_eq!(pack::<4>("  a // b\n\n\tc / d;"), (*b"a \nc", 9));
        assert_eq!(pack::<3>("// b"), ([0; 3], 0));
    }
}
