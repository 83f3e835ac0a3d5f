//! Circles of files that import one another.

use crate::imports::{File, Package};

/// The circles of a package, a line each: its files, and what ties them.
pub(crate) fn find(package: &Package) -> Vec<String> {
    let mut beyond = vec![Vec::new(); package.len()];
    for import in package.imports() {
        beyond[import.from].push(import.to);
    }
    let circle_of = strong(&beyond);
    let mut circles: Vec<Vec<File>> = vec![Vec::new(); package.len()];
    for (file, &circle) in circle_of.iter().enumerate() {
        circles[circle].push(file);
    }
    circles.retain(|files| files.len() > 1);
    circles
        .iter()
        .map(|files| {
            let ties =
                package.imports().filter(|import| files.contains(&import.from) && files.contains(&import.to));
            let ties = ties.map(|import| {
                format!(
                    "\n    {} -> {}: {}",
                    package.name(import.from),
                    package.name(import.to),
                    import.names()
                )
            });
            format!("a circle of {} files:{}", files.len(), ties.collect::<String>())
        })
        .collect()
}

/// Which strongly connected component each node is in (Tarjan 1972), the components numbered by one of their nodes.
fn strong(beyond: &[Vec<usize>]) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    let count = beyond.len();
    let mut order = vec![UNSEEN; count];
    let mut low = vec![UNSEEN; count];
    let mut component = vec![UNSEEN; count];
    let mut open = Vec::new();
    let mut next = 0;
    for root in 0..count {
        if order[root] != UNSEEN {
            continue;
        }
        // A node and how many of its edges were followed.
        let mut stack = vec![(root, 0)];
        while let Some((node, edge)) = stack.pop() {
            if edge == 0 {
                order[node] = next;
                low[node] = next;
                next += 1;
                open.push(node);
            }
            if let Some(&to) = beyond[node].get(edge) {
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
    use super::strong;

    #[test]
    fn components_are_those_that_reach_one_another() {
        // 0 -> 1 -> 2 -> 0, 2 -> 3 -> 4 -> 3, 5 alone.
        let found = strong(&[vec![1], vec![2], vec![0, 3], vec![4], vec![3], vec![]]);
        assert!(found[0] == found[1] && found[1] == found[2]);
        assert!(found[3] == found[4] && found[3] != found[0]);
        assert!(found[5] != found[0] && found[5] != found[3]);
    }
}
