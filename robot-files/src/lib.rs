//! Readers of robots from the bytes of URDF and SRDF files.
//!
//! [`read_urdf`] reads a [`Robot`]: links, joints and shapes of collision. [`read_srdf`] reads which pairs of links need no test. Every error
//! is one line that names the file, and the line of the element.
//!
//! Nothing here opens a file: the caller has the bytes, and finds the meshes that a robot names. The bytes of a file bound the memory and the
//! time of its reader. Elements that say nothing about collision (`visual`, `inertial`, `transmission`, those of simulators) are passed over.
//! What would place or move a link, and is not read, is refused.

mod robot;
mod srdf;
mod tree;
mod urdf;
mod xml;

pub use hullfield_mesh_files::{Error, Result};
pub use robot::{Collision, Drive, Frame, Joint, JointKind, Link, Robot, Shape, Variable};
pub use srdf::{LinkPair, Srdf, read_srdf};
pub use urdf::read_urdf;
