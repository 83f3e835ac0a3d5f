//! The broad phase on the CPU: all pairs of overlapping boxes, by a tree of eights over the bodies' Morton
//! order.
//!
//! The GPU's twin (`shaders/collide/broad_count.wgsl`, `broad_write.wgsl`) tests all pairs in tiles; both
//! return the same pairs in the same order, as boxes are equal bit for bit and compared by `<=` alone.
//!
//! Morton codes order the bodies (Morton 1966); eight consecutive bodies make a leaf, eight consecutive nodes
//! the next node up, so the tree is implicit: no pointers, no build beyond the boxes. Each leaf asks the tree
//! for the leaves from itself on, so every pair is met once, and eight boxes are tested at a time.

use super::bounds::Aabb;

/// Boxes in a node.
const WIDTH: usize = 8;
/// Leaves that one task asks for.
const CHUNK: usize = 64;
/// Levels that `WIDTH^LEVELS` needs to pass every 32-bit count of bodies, and one.
const LEVELS: usize = 12;

/// Eight boxes, coordinate by coordinate, so that a test of all eight is a few vector instructions.
#[derive(Clone, Copy)]
struct Node {
    min: [[f32; WIDTH]; 3],
    max: [[f32; WIDTH]; 3],
}

impl Node {
    /// Eight boxes that overlap nothing.
    const EMPTY: Self = Self { min: [[f32::INFINITY; WIDTH]; 3], max: [[f32::NEG_INFINITY; WIDTH]; 3] };

    fn set(&mut self, lane: usize, aabb: &Aabb) {
        for i in 0..3 {
            self.min[i][lane] = aabb.min[i];
            self.max[i][lane] = aabb.max[i];
        }
    }

    fn get(&self, lane: usize) -> Aabb {
        Aabb::new(self.min.map(|x| x[lane]), self.max.map(|x| x[lane]))
    }

    /// The box around all eight.
    fn union(&self) -> Aabb {
        Aabb::new(
            self.min.map(|x| x.into_iter().fold(f32::INFINITY, f32::min)),
            self.max.map(|x| x.into_iter().fold(f32::NEG_INFINITY, f32::max)),
        )
    }

    /// Bit `k` is set where box `k` overlaps `aabb`.
    #[inline(always)]
    fn overlaps(&self, aabb: &Aabb) -> u32 {
        let mut hit = [u32::MAX; WIDTH];
        for i in 0..3 {
            for (k, hit) in hit.iter_mut().enumerate() {
                let apart = (self.min[i][k] <= aabb.max[i]) & (aabb.min[i] <= self.max[i][k]);
                *hit &= u32::from(apart).wrapping_neg();
            }
        }
        let mut mask = 0;
        for (k, hit) in hit.iter().enumerate() {
            mask |= hit & (1 << k);
        }
        mask
    }
}

/// The tree: `levels[0]` holds the bodies, eight to a node; a box of `levels[l + 1]` is around a node of
/// `levels[l]`.
struct Tree {
    levels: Vec<Vec<Node>>,
    /// The body in each lane of `levels[0]`.
    order: Vec<u32>,
}

impl Tree {
    fn new(aabbs: &[Aabb]) -> Self {
        let order = morton_order(aabbs);
        let boxes: Vec<Aabb> = order.iter().map(|&body| aabbs[body as usize]).collect();
        let mut levels = vec![nodes(&boxes)];
        while let Some(below) = levels.last().filter(|level| level.len() > 1) {
            let boxes: Vec<Aabb> = below.iter().map(Node::union).collect();
            levels.push(nodes(&boxes));
        }
        Self { levels, order }
    }

    #[inline(always)]
    fn pairs_of_leaves(&self, from: usize, to: usize, pairs: &mut Vec<[u32; 2]>) {
        let leaves = &self.levels[0];
        for (leaf, node) in leaves.iter().enumerate().take(to).skip(from) {
            self.pairs_within(leaf, node, pairs);
            let around = node.union();
            // Depth first, siblings from the last: at most WIDTH - 1 wait on each level.
            let mut stack = [(0u8, 0u32); WIDTH * LEVELS];
            let mut depth = 1;
            stack[0] = (self.levels.len() as u8 - 1, 0);
            while depth > 0 {
                depth -= 1;
                let (level, index) = stack[depth];
                let (level, index) = (usize::from(level), index as usize);
                if level == 0 {
                    if index != leaf {
                        self.pairs_between(leaf, node, index, &around, pairs);
                    }
                    continue;
                }
                let mut mask = self.levels[level][index].overlaps(&around);
                // Children that end before this leaf have met it already.
                let first_leaf = leaf >> (3 * (level - 1));
                mask &= if first_leaf >= index * WIDTH + WIDTH {
                    0
                } else {
                    u32::MAX << first_leaf.saturating_sub(index * WIDTH)
                };
                while mask != 0 {
                    let lane = 31 - mask.leading_zeros();
                    mask ^= 1 << lane;
                    stack[depth] = (level as u8 - 1, (index * WIDTH) as u32 + lane);
                    depth += 1;
                }
            }
        }
    }

    #[inline(always)]
    fn pairs_within(&self, leaf: usize, node: &Node, pairs: &mut Vec<[u32; 2]>) {
        let bodies = &self.order[leaf * WIDTH..self.order.len().min(leaf * WIDTH + WIDTH)];
        for (k, &a) in bodies.iter().enumerate() {
            let mut mask = node.overlaps(&node.get(k)) & (u32::MAX << (k + 1));
            while mask != 0 {
                let b = bodies[mask.trailing_zeros() as usize];
                mask &= mask - 1;
                pairs.push([a.min(b), a.max(b)]);
            }
        }
    }

    #[inline(always)]
    fn pairs_between(
        &self,
        leaf: usize,
        node: &Node,
        other: usize,
        around: &Aabb,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        // Only boxes of the other leaf that reach into the box around this one can meet anything.
        let mut lanes = self.levels[0][other].overlaps(around);
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let b = self.order[other * WIDTH + lane];
            let mut mask = node.overlaps(&self.levels[0][other].get(lane));
            while mask != 0 {
                let a = self.order[leaf * WIDTH + mask.trailing_zeros() as usize];
                mask &= mask - 1;
                pairs.push([a.min(b), a.max(b)]);
            }
        }
    }
}

/// Appends the overlapping pairs whose first body (in Morton order) lies in the leaves `from..to`.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512vl+avx512dq+avx512bw",
    "x86_64+avx2",
    "x86_64+avx"
))]
fn pairs_of_leaves(tree: &Tree, from: usize, to: usize, pairs: &mut Vec<[u32; 2]>) {
    tree.pairs_of_leaves(from, to, pairs);
}

fn nodes(boxes: &[Aabb]) -> Vec<Node> {
    boxes
        .chunks(WIDTH)
        .map(|boxes| {
            let mut node = Node::EMPTY;
            for (lane, aabb) in boxes.iter().enumerate() {
                node.set(lane, aabb);
            }
            node
        })
        .collect()
}

/// The bodies in Morton order of their boxes' middles, ties by row. The order decides speed only, never the
/// result.
fn morton_order(aabbs: &[Aabb]) -> Vec<u32> {
    let middle = |aabb: &Aabb, i: usize| 0.5 * aabb.min[i] + 0.5 * aabb.max[i];
    let mut least = [f32::INFINITY; 3];
    let mut greatest = [f32::NEG_INFINITY; 3];
    for aabb in aabbs {
        for i in 0..3 {
            least[i] = least[i].min(middle(aabb, i));
            greatest[i] = greatest[i].max(middle(aabb, i));
        }
    }
    // One cell size for all axes: a planar scene is split along its plane only.
    let side = (0..3).map(|i| greatest[i] - least[i]).fold(0.0, f32::max);
    let cells = if side > 0.0 { ((1 << 21) - 1) as f32 / side } else { 0.0 };
    let mut keys: Vec<(u64, u32)> = (0u32..)
        .zip(aabbs)
        .map(|(body, aabb)| {
            let code = (0..3)
                .map(|i| spread(((middle(aabb, i) - least[i]) * cells) as u64) << i)
                .fold(0, |a, b| a | b);
            (code, body)
        })
        .collect();
    keys.sort_unstable();
    keys.into_iter().map(|(_, body)| body).collect()
}

/// Two zero bits after each of the low 21 bits.
fn spread(x: u64) -> u64 {
    let mut x = x.min((1 << 21) - 1);
    x = (x | x << 32) & 0x001f_0000_0000_ffff;
    x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

/// All pairs `[a, b]`, `a < b`, of bodies whose closed boxes share a point, sorted by `a`, then `b`.
pub(crate) fn candidates(aabbs: &[Aabb]) -> Vec<[u32; 2]> {
    if aabbs.len() < 2 {
        return Vec::new();
    }
    let tree = Tree::new(aabbs);
    let leaf_count = tree.levels[0].len();
    let chunk = |i: usize| {
        let mut pairs = Vec::new();
        pairs_of_leaves(&tree, i * CHUNK, leaf_count.min((i + 1) * CHUNK), &mut pairs);
        pairs
    };
    let chunk_count = leaf_count.div_ceil(CHUNK);
    #[cfg(feature = "threads")]
    let found: Vec<Vec<[u32; 2]>> = {
        use rayon::prelude::*;
        (0..chunk_count).into_par_iter().map(chunk).collect()
    };
    #[cfg(not(feature = "threads"))]
    let found: Vec<Vec<[u32; 2]>> = (0..chunk_count).map(chunk).collect();
    sorted(&found, aabbs.len())
}

/// The pairs sorted: counted by `a`, laid out, then each `a`'s few `b` sorted.
fn sorted(found: &[Vec<[u32; 2]>], body_count: usize) -> Vec<[u32; 2]> {
    let mut starts = vec![0usize; body_count + 1];
    for &[a, _] in found.iter().flatten() {
        starts[a as usize + 1] += 1;
    }
    for a in 0..body_count {
        starts[a + 1] += starts[a];
    }
    let mut next = starts.clone();
    let mut pairs = vec![[0u32; 2]; starts[body_count]];
    for &pair in found.iter().flatten() {
        let at = &mut next[pair[0] as usize];
        pairs[*at] = pair;
        *at += 1;
    }
    for a in 0..body_count {
        pairs[starts[a]..starts[a + 1]].sort_unstable();
    }
    pairs
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::bounds::tests::Random;
    use super::*;

    fn cube(middle: [f32; 3], half: f32) -> Aabb {
        Aabb::new(middle.map(|x| x - half), middle.map(|x| x + half))
    }

    fn brute_force(aabbs: &[Aabb]) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        for (a, first) in aabbs.iter().enumerate() {
            for (b, second) in aabbs.iter().enumerate().skip(a + 1) {
                if first.overlaps(second) {
                    pairs.push([a as u32, b as u32]);
                }
            }
        }
        pairs
    }

    /// Scenes of `count` boxes, each with its name.
    pub(crate) fn scenes(count: usize) -> Vec<(&'static str, Vec<Aabb>)> {
        let mut random = Random(7);
        let mut scene = |of: &mut dyn FnMut(usize, &mut Random) -> Aabb| -> Vec<Aabb> {
            (0..count).map(|i| of(i, &mut random)).collect()
        };
        let side = (count as f32).cbrt().ceil().max(1.0) as usize;
        let lattice = |i: usize| [i % side, i / side % side, i / side / side].map(|x| x as f32);
        vec![
            ("coincident", scene(&mut |_, _| cube([1.0, 2.0, 3.0], 0.5))),
            ("points", scene(&mut |i, _| cube([(i / 3) as f32, 0.0, 0.0], 0.0))),
            ("crowd", scene(&mut |_, r| cube([0; 3].map(|_| 10.0 * r.signed()), 0.5 * r.unit()))),
            ("sizes", scene(&mut |_, r| cube([0; 3].map(|_| 100.0 * r.signed()), r.log(1e-5, 50.0)))),
            ("far", scene(&mut |_, r| cube([0; 3].map(|_| 1e6 + 10.0 * r.signed()), r.unit()))),
            ("lattice", scene(&mut |i, _| cube(lattice(i), 0.5))),
            ("plane", scene(&mut |_, r| cube([20.0 * r.signed(), 5.0, 20.0 * r.signed()], 0.5 * r.unit()))),
            ("line", scene(&mut |_, r| cube([0.0, 100.0 * r.signed(), 0.0], r.unit()))),
            (
                "floor",
                scene(&mut |i, r| cube([0; 3].map(|_| 10.0 * r.signed()), if i == 5 { 1e5 } else { 0.1 })),
            ),
            (
                "everything",
                scene(&mut |i, r| {
                    let all = Aabb::new([-f32::MAX; 3], [f32::MAX; 3]);
                    if i % 100 == 3 { all } else { cube([0; 3].map(|_| 1e6 * r.signed()), 1e3) }
                }),
            ),
        ]
    }

    #[test]
    fn candidates_are_those_of_brute_force() {
        for count in [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 511, 512, 513, 700] {
            for (name, aabbs) in scenes(count) {
                assert_eq!(candidates(&aabbs), brute_force(&aabbs), "{name}, {count} bodies");
            }
        }
    }

    #[test]
    fn candidates_of_many_chunks_are_those_of_brute_force() {
        for (name, aabbs) in
            scenes(5_000).into_iter().filter(|(name, _)| *name != "coincident" && *name != "everything")
        {
            assert_eq!(candidates(&aabbs), brute_force(&aabbs), "{name}");
        }
    }
}
