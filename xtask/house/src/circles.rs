//! Circles of imports between files.

use crate::imports::{File, Package};

/// The circles of a package, each with its imports.
pub(crate) fn find(package: &Package) -> Vec<String> {
    let mut imported = vec![Vec::new(); package.len()];
    for import in package.imports() {
        imported[import.from].push(import.to);
    }
    let circle_of = components(&imported);
    let mut circles: Vec<Vec<File>> = vec![Vec::new(); package.len()];
    for (file, &circle) in circle_of.iter().enumerate() {
        circles[circle].push(file);
    }
    circles.retain(|files| files.len() > 1);
    circles
        .iter()
        .map(|files| {
            let imports =
                package.imports().filter(|import| files.contains(&import.from) && files.contains(&import.to));
            let imports = imports.map(|import| {
                format!(
                    "\n    {} -> {}: {}",
                    package.name(import.from),
                    package.name(import.to),
                    import.names()
                )
            });
            format!("a circle of {} files:{}", files.len(), imports.collect::<String>())
        })
        .collect()
}

/// The strongly connected component of each node (Tarjan 1972). A component's number is one of its nodes.
fn components(edges: &[Vec<usize>]) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    let count = edges.len();
    let mut order = vec![UNSEEN; count];
    let mut low = vec![UNSEEN; count];
    let mut component = vec![UNSEEN; count];
    let mut open = Vec::new();
    let mut next = 0;
    for root in 0..count {
        if order[root] != UNSEEN {
            continue;
        }
        // A node and the number of its edges that were followed.
        let mut stack = vec![(root, 0)];
        while let Some((node, edge)) = stack.pop() {
            if edge == 0 {
                order[node] = next;
                low[node] = next;
                next += 1;
                open.push(node);
            }
            if let Some(&to) = edges[node].get(edge) {
                stack.push((node, edge + 1));
                if order[to] == UNSEEN {
                    stack.push((to, 0));
                } else if component[to] == UNSEEN {
                    low[node] = low[node].min(order[to]);
                }
                continue;
            }
            if low[node] == order[node] {
                while let Some(member) = open.pop() {
                    component[member] = node;
                    if member == node {
                        break;
                    }
                }
            }
            if let Some(&(parent, _)) = stack.last() {
                low[parent] = low[parent].min(low[node]);
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn nodes_that_reach_each_other_are_a_component() {
        // 0 -> 1 -> 2 -> 0, 2 -> 3 -> 4 -> 3, 5 alone.
        let found = components(&[vec![1], vec![2], vec![0, 3], vec![4], vec![3], vec![]]);
        assert!(found[0] == found[1] && found[1] == found[2]);
        assert!(found[3] == found[4] && found[3] != found[0]);
        assert!(found[5] != found[0] && found[5] != found[3]);
    }
}
