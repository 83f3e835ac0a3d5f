//! The playground's readers of mesh files.
//!
//! They are a module of their own, which the second worker loads with the first file: a page that reads none does not load them.

use hullfield_mesh_files::{Error, Format, excerpt};
use wasm_bindgen::prelude::wasm_bindgen;

/// Reads a file of at most `most` triangles: the bytes of [`hullfield_mesh_files::Faces`].
///
/// # Errors
/// A sentence that names the file.
#[wasm_bindgen]
pub fn read(name: &str, bytes: &[u8], most: usize) -> Result<Vec<u8>, String> {
    let format = Format::of_name(name).ok_or_else(|| {
        format!("{name}: unknown format by its extension: obj, stl, ply, off, gltf or glb is read.")
    })?;
    if bytes.is_empty() {
        return Err(format!("{name}: the file is empty."));
    }
    let beside = |file: &str, _| {
        let file = excerpt(file);
        Err(Error::new(format!(
            "{name}: its buffer \"{file}\" is another file, and one file is read here: save it as GLB"
        )))
    };
    let sentence = |error: Error| format!("{error}.");
    let mesh = format.read(name, bytes, &beside).map_err(sentence)?;
    let count = mesh.triangle_count();
    if count > most {
        return Err(format!("{name}: it has {count} triangles, {most} are allowed."));
    }
    Ok(mesh.faces(name).map_err(sentence)?.to_bytes())
}

#[cfg(test)]
mod tests {
    use hullfield_mesh_files::Faces;

    use super::read;

    #[test]
    fn a_file_has_no_more_triangles_than_allowed() {
        let square = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
        let faces = Faces::from_bytes(&read("a.obj", square, 2).unwrap()).unwrap();
        assert_eq!(faces.triangle_count(), 2);
        assert_eq!(read("a.obj", square, 1).unwrap_err(), "a.obj: it has 2 triangles, 1 are allowed.");
    }

    #[test]
    fn what_is_no_mesh_is_one_sentence() {
        for (name, bytes, sentence) in [
            ("a", "", "a: unknown format by its extension: obj, stl, ply, off, gltf or glb is read."),
            ("a.STL", "", "a.STL: the file is empty."),
            ("a.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n", "a.obj: it has no faces."),
        ] {
            let found = read(name, bytes.as_bytes(), 9).unwrap_err();
            assert_eq!(found, sentence);
        }
    }
}
