//! Readers of meshes from the bytes of OBJ, STL, PLY, OFF and glTF files.
//!
//! A [`Format`] reads a [`Mesh`]: points, faces and named objects. All [`Faces`] together are a model of a surface; the points of each object are
//! a point set. Each object of a file keeps the object's name. A file without objects is one object, with the file's name without
//! extension. Every error is one line. It names the file, and in text files the line and the field.
//!
//! Nothing here opens a file: the caller has the bytes, and gives those of a buffer that a glTF file names. The bytes of a file bound the
//! memory and the time of its reader, whatever counts the file claims.

mod error;
mod faces;
mod foreign;
mod format;
mod gltf;
mod mesh;
mod obj;
mod off;
mod ply;
mod stl;
mod text;

pub use error::{Error, Result};
pub use faces::Faces;
pub use foreign::{foreign_kind, foreign_kind_but_xml};
pub use format::Format;
pub use mesh::{EmptyObject, Mesh, ObjectPoints};
pub use obj::object_statement;
pub use text::{Real, excerpt, number, shortened};
