//! A plain implementation of a field of unit costs and four neighbours: breadth-first search with a queue, then a pass over
//! each cell's neighbours. Its results equal the library's: distances, next cells with the same ties, exits from obstacles.

/// Distances and next-cell codes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PlainField {
    pub(crate) distances: Vec<u32>,
    pub(crate) next: Vec<u8>,
}

const UNREACHED: u32 = u32::MAX;
const NONE: u8 = 255;

/// The field from free goals, given as indices. The grid gets a border of obstacles, so that neighbours need no bounds check.
pub(crate) fn field(width: usize, height: usize, blocked: &[bool], goals: &[usize]) -> PlainField {
    let across = width + 2;
    let bordered = |index: usize| (index / width + 1) * across + index % width + 1;
    // An obstacle has level 0, so that the search never enters it.
    let mut levels = vec![0u32; across * (height + 2)];
    for (row, cells) in blocked.chunks(width).enumerate() {
        let to = &mut levels[(row + 1) * across + 1..][..width];
        to.iter_mut().zip(cells).for_each(|(level, &is_wall)| *level = if is_wall { 0 } else { UNREACHED });
    }
    let mut queue: Vec<u32> = Vec::with_capacity(width * height);
    for &goal in goals {
        levels[bordered(goal)] = 0;
        queue.push(bordered(goal) as u32);
    }
    let mut head = 0;
    while head < queue.len() {
        let at = queue[head] as usize;
        head += 1;
        let level = levels[at] + 1;
        for near in [at - across, at + 1, at + across, at - 1] {
            if levels[near] == UNREACHED {
                levels[near] = level;
                queue.push(near as u32);
            }
        }
    }
    let mut distances = Vec::with_capacity(width * height);
    for (row, cells) in blocked.chunks(width).enumerate() {
        let from = &levels[(row + 1) * across + 1..][..width];
        distances
            .extend(from.iter().zip(cells).map(|(&level, &is_wall)| if is_wall { UNREACHED } else { level }));
    }
    let next = next_cells(width, height, blocked, &distances);
    PlainField { distances, next }
}

/// The first cell whose distance does not follow from its neighbours'. If there is none, the distances are right.
pub(crate) fn first_inconsistent(
    width: usize,
    is_blocked: impl Fn(usize) -> bool,
    distances: &[u32],
    goal: usize,
) -> Option<usize> {
    let height = distances.len() / width;
    (0..distances.len()).find(|&at| {
        if is_blocked(at) {
            return distances[at] != UNREACHED;
        }
        // Obstacles are UNREACHED, the largest value.
        let near = neighbours(width, height, at).into_iter().flatten().map(|near| distances[near]);
        let expected = if at == goal { 0 } else { near.min().unwrap_or(UNREACHED).saturating_add(1) };
        distances[at] != expected
    })
}

/// The four neighbours by their codes; none outside the grid.
fn neighbours(width: usize, height: usize, at: usize) -> [Option<usize>; 4] {
    let x = at % width;
    [
        (at >= width).then(|| at - width),
        (x + 1 < width).then(|| at + 1),
        (at + width < width * height).then(|| at + width),
        (x > 0).then(|| at - 1),
    ]
}

/// Next cells and exits, from distances.
fn next_cells(width: usize, height: usize, blocked: &[bool], distances: &[u32]) -> Vec<u8> {
    let mut next = vec![NONE; distances.len()];
    let (mut walls, mut deep) = (Vec::new(), false);
    for y in 0..height {
        for x in 0..width {
            let at = y * width + x;
            let distance = distances[at];
            if distance == 0 || distance == UNREACHED && !blocked[at] {
                continue;
            }
            let fits =
                |near: u32| if distance == UNREACHED { near != UNREACHED } else { near == distance - 1 };
            next[at] = if y > 0 && fits(distances[at - width]) {
                0
            } else if x + 1 < width && fits(distances[at + 1]) {
                1
            } else if y + 1 < height && fits(distances[at + width]) {
                2
            } else if x > 0 && fits(distances[at - 1]) {
                3
            } else {
                deep = true;
                NONE
            };
            if distance == UNREACHED && next[at] != NONE {
                walls.push(at as u32);
            }
        }
    }
    if deep {
        // Obstacles deep inside: a search from those beside free cells.
        let mut levels = vec![UNREACHED; distances.len()];
        walls.iter().for_each(|&wall| levels[wall as usize] = 1);
        let mut head = 0;
        while head < walls.len() {
            let at = walls[head] as usize;
            head += 1;
            for (code, near) in neighbours(width, height, at).into_iter().enumerate() {
                let Some(near) = near.filter(|&near| blocked[near]) else { continue };
                let back = (code ^ 2) as u8;
                if levels[near] == UNREACHED {
                    levels[near] = levels[at] + 1;
                    next[near] = back;
                    walls.push(near as u32);
                } else if levels[near] == levels[at] + 1 {
                    next[near] = next[near].min(back);
                }
            }
        }
    }
    next
}
