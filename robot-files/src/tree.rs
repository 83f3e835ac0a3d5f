//! The tree of links and joints.

use hullfield_mesh_files::{Result, excerpt};

use crate::robot::{Joint, Link};
use crate::xml::Source;

/// The links in an order in which parents come first, each link's children in the order of the file. It fills in [`Link::joint`].
///
/// # Errors
/// A link below two joints, no base or several, and a loop.
pub(crate) fn parents_first(source: &Source<'_>, links: &mut [Link], joints: &[Joint]) -> Result<Vec<usize>> {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); links.len()];
    for (at, joint) in joints.iter().enumerate() {
        if let Some(other) = links[joint.child].joint.replace(at) {
            let [link, first, second] =
                [&links[joint.child].name, &joints[other].name, &joint.name].map(|name| excerpt(name));
            let message = format!("link {link} is the child of two joints, {first} and {second}");
            return Err(source.error_at(joint.line, message));
        }
        below[joint.parent].push(joint.child);
    }
    let mut roots = (0..links.len()).filter(|&link| links[link].joint.is_none());
    let Some(root) = roots.next() else {
        let message = match links.len() {
            0 => "it has no link",
            _ => "no link is the base: each is the child of a joint",
        };
        return Err(source.whole(message));
    };
    if let Some(other) = roots.next() {
        let [first, second] = [root, other].map(|link| excerpt(&links[link].name));
        let message =
            format!("the links {first} and {second} are the child of no joint: one link must be the base");
        return Err(source.error_at(links[other].line, message));
    }
    let mut order = Vec::with_capacity(links.len());
    let mut is_placed = vec![false; links.len()];
    let mut stack = vec![root];
    while let Some(link) = stack.pop() {
        order.push(link);
        is_placed[link] = true;
        stack.extend(below[link].iter().rev());
    }
    match is_placed.iter().position(|placed| !placed) {
        Some(link) => {
            let name = excerpt(&links[link].name);
            Err(source.error_at(links[link].line, format!("link {name} hangs from a loop of joints")))
        }
        None => Ok(order),
    }
}
