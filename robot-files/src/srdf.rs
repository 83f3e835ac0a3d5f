//! SRDF: which pairs of links need no test.

use hullfield_mesh_files::{Result, excerpt};
use roxmltree::Node;

use crate::xml::{Source, own_children};

/// A pair of links by their names, and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkPair {
    /// The names.
    pub links: [String; 2],
    /// The line of the element.
    pub line: u64,
}

/// What an SRDF file says about collisions. A later element does not undo an earlier one, but `enabled` undoes `apart`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Srdf {
    /// Pairs that are never tested (`disable_collisions`).
    pub disabled: Vec<LinkPair>,
    /// Links that meet no other but by `enabled` (`disable_default_collisions`), and their lines.
    pub apart: Vec<(String, u64)>,
    /// Pairs that are tested though a link is in `apart` (`enable_collisions`).
    pub enabled: Vec<LinkPair>,
}

/// Reads the bytes of an SRDF file. `name` is the file's name in messages.
///
/// # Errors
/// What is wrong with the file.
pub fn read_srdf(name: &str, bytes: &[u8]) -> Result<Srdf> {
    let source = Source::new(name, bytes)?;
    let document = source.parse()?;
    let mut found = Srdf::default();
    for element in own_children(source.root(&document, "SRDF")?) {
        match element.tag_name().name() {
            "disable_collisions" => found.disabled.push(pair(&source, element)?),
            "enable_collisions" => found.enabled.push(pair(&source, element)?),
            "disable_default_collisions" => {
                let link = source.attribute(element, "disable_default_collisions", "link")?;
                found.apart.push((link.to_owned(), source.line(element)));
            }
            _ => {}
        }
    }
    Ok(found)
}

fn pair<'a>(source: &Source<'a>, element: Node<'_, 'a>) -> Result<LinkPair> {
    let what = element.tag_name().name();
    let [a, b] = [source.attribute(element, what, "link1")?, source.attribute(element, what, "link2")?];
    if a == b {
        return Err(source.error(element, format!("{what}: both links are {}", excerpt(a))));
    }
    Ok(LinkPair { links: [a, b].map(str::to_owned), line: source.line(element) })
}
