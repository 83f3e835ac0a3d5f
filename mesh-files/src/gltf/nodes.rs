//! The tree of nodes, and where each node is.

use glam::{DMat4, DQuat, DVec3};

use super::json::{Node, NodeDetails, Root};
use crate::error::{Error, Result};

/// A rotation is refused if its length is farther from 1.
const ROTATION_TOLERANCE: f64 = 1e-3;

/// No node.
const NONE: u32 = u32::MAX;

/// The nodes of a file, which are trees.
pub(super) struct Nodes<'a> {
    name: &'a str,
    nodes: &'a [Node],
    /// The parent of each node.
    parents: Vec<u32>,
}

impl<'a> Nodes<'a> {
    /// Checks that each node has at most one parent.
    pub(super) fn new(name: &'a str, root: &'a Root) -> Result<Self> {
        let nodes = root.nodes.as_slice();
        let mut parents = vec![NONE; nodes.len()];
        for (parent, node) in nodes.iter().enumerate() {
            for &child in &node.children {
                let failed = |message: String| Err(Error::file(name, message));
                match parents.get_mut(child as usize) {
                    None => return failed(format!("node {child} does not exist, there are {}", nodes.len())),
                    Some(taken) if *taken != NONE => {
                        return failed(format!("its nodes are not a tree: node {child} is a child twice"));
                    }
                    Some(free) => *free = parent as u32,
                }
            }
        }
        Ok(Self { name, nodes, parents })
    }

    /// The nodes of a scene, each after its parent.
    pub(super) fn of_scene(&self, roots: &[u32]) -> Result<Vec<u32>> {
        let failed = |message: String| Error::file(self.name, message);
        let mut is_root = vec![false; self.nodes.len()];
        let mut order = Vec::new();
        let mut stack = Vec::new();
        for &root in roots {
            match is_root.get_mut(root as usize) {
                None => {
                    return Err(failed(format!(
                        "node {root} does not exist, there are {}",
                        self.nodes.len()
                    )));
                }
                Some(true) => return Err(failed(format!("node {root} is in its scene twice"))),
                Some(seen) => *seen = true,
            }
            // A node in a circle has a parent too.
            if self.parents[root as usize] != NONE {
                return Err(failed(format!(
                    "its nodes are not a tree: node {root} is in its scene and a child of a node"
                )));
            }
            stack.push(root);
            while let Some(node) = stack.pop() {
                order.push(node);
                stack.extend(self.nodes[node as usize].children.iter().rev());
            }
        }
        Ok(order)
    }

    /// Calls `visit` with the transform of each node of a scene, in the order of [`Self::of_scene`].
    pub(super) fn walk(&self, order: &[u32], mut visit: impl FnMut(u32, &DMat4) -> Result<()>) -> Result<()> {
        // The node's ancestors with their transforms.
        let mut path: Vec<(u32, DMat4)> = Vec::new();
        for &node in order {
            let parent = self.parents[node as usize];
            while path.last().is_some_and(|&(last, _)| last != parent) {
                path.pop();
            }
            let above = path.last().map_or(DMat4::IDENTITY, |&(_, world)| world);
            let world = above * self.local(node)?;
            path.push((node, world));
            visit(node, &world)?;
        }
        Ok(())
    }

    /// The transforms of all nodes, whether a scene has them or not.
    pub(super) fn all(&self) -> Result<Vec<DMat4>> {
        let mut worlds = vec![DMat4::IDENTITY; self.nodes.len()];
        let roots: Vec<u32> =
            (0..self.nodes.len() as u32).filter(|&node| self.parents[node as usize] == NONE).collect();
        let order = self.of_scene(&roots)?;
        // What no root leads to is a circle.
        if order.len() < self.nodes.len() {
            return Err(Error::file(self.name, "its nodes are not a tree: some are their own ancestors"));
        }
        self.walk(&order, |node, world| {
            worlds[node as usize] = *world;
            Ok(())
        })?;
        Ok(worlds)
    }

    /// The transform of a node in the frame of its parent.
    fn local(&self, node: u32) -> Result<DMat4> {
        let Some(details) = self.nodes[node as usize].details() else { return Ok(DMat4::IDENTITY) };
        let failed = |message: String| Error::file(self.name, format!("node {node}: {message}"));
        let NodeDetails { matrix, translation, rotation, scale, .. } = details;
        let Some(matrix) = matrix else {
            let translation = translation.unwrap_or_default();
            return placed(
                translation,
                rotation.unwrap_or([0., 0., 0., 1.]),
                scale.unwrap_or([1.; 3]),
                ROTATION_TOLERANCE,
            )
            .map_err(failed);
        };
        if translation.is_some() || rotation.is_some() || scale.is_some() {
            return Err(failed("it has a matrix, and translation, rotation or scale".to_owned()));
        }
        let row = [matrix[3], matrix[7], matrix[11], matrix[15] - 1.0];
        if row.iter().any(|part| part.abs() > 1e-6) {
            return Err(failed("the last row of its matrix is not 0, 0, 0, 1".to_owned()));
        }
        Ok(DMat4::from_cols_array(matrix))
    }
}

/// The transform of a translation, a rotation x, y, z, w and a scale. The rotation's length must be 1 to within `tolerance`; what is left of the
/// difference is divided out.
pub(super) fn placed(
    translation: [f64; 3],
    rotation: [f64; 4],
    scale: [f64; 3],
    tolerance: f64,
) -> Result<DMat4, String> {
    let rotation = DQuat::from_array(rotation);
    let length = rotation.length();
    let is_unit = (length - 1.0).abs() <= tolerance;
    if !is_unit {
        return Err(format!("its rotation has length {length:.6}, it must be 1 to within {tolerance}"));
    }
    let (scale, translation) = (DVec3::from_array(scale), DVec3::from_array(translation));
    Ok(DMat4::from_scale_rotation_translation(scale, rotation.normalize(), translation))
}
