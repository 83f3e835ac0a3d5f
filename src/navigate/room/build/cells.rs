//! The navigation mesh: convex cells, their neighbours, and the corners at which a path can turn.

use std::collections::HashMap;

use glam::DVec2;

use crate::navigate::shared::predicate::orient;

/// No cell, side, vertex, root or node.
pub(crate) const NONE: u32 = u32::MAX;

/// A half-edge: a corner of a cell, and the edge from it to the cell's next corner. It has 32 bytes, so that a cell of four corners fits
/// in two cache lines and a search reads nothing else.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side {
    /// Where the corner is.
    pub(crate) point: DVec2,
    /// The vertex of the corner.
    pub(crate) vertex: u32,
    /// The opposite half-edge; [`NONE`] at a wall.
    pub(crate) twin: u32,
    /// The cell across the edge; [`NONE`] at a wall.
    pub(crate) neighbour: u32,
    /// The block of the dual graph to which the edge belongs.
    pub(crate) block: u32,
}

/// Convex cells over shared vertices. The corners of each cell run counter-clockwise; collinear corners are allowed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cells {
    /// The vertices.
    pub(crate) points: Vec<DVec2>,
    /// The sides of cell `c` are `sides[first[c] .. first[c] + count[c]]`.
    pub(crate) first: Vec<u32>,
    /// How many sides each cell has; 0 for a cell that an edit has replaced.
    pub(crate) count: Vec<u32>,
    /// All sides.
    pub(crate) sides: Vec<Side>,
    /// The cell of each side.
    pub(crate) cell_of: Vec<u32>,
    /// The kind of each vertex.
    pub(crate) vertex_kinds: Vec<VertexKind>,
    /// The originals of the last vertices, which are the sectors' copies.
    pub(crate) copy_of: Vec<u32>,
    /// The sides that begin at vertex `v` or a copy of it are `sides_at[sides_at_first[v] .. sides_at_first[v + 1]]`.
    pub(crate) sides_at_first: Vec<u32>,
    /// Sides, sorted by the vertex at which they begin.
    pub(crate) sides_at: Vec<u32>,
}

/// The kind of a vertex: what a path can do there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct VertexKind {
    /// The free space around it makes more than a half turn: a shortest path may bend there.
    pub(crate) is_corner: bool,
    /// Walls divide the free space around it into two sectors or more, which touch only in this point.
    pub(crate) is_pinched: bool,
}

impl Cells {
    /// Cells from their corners, linked where two share an edge. `Err` is two cells that have the same edge in the same direction, and so
    /// overlap.
    pub(crate) fn join(points: Vec<DVec2>, polygons: &[u32], counts: &[u32]) -> Result<Self, [u32; 2]> {
        let mut cells = Self::lay_out(points, polygons, counts);
        // The first half-edge of an edge waits for the second.
        let mut waiting: HashMap<u64, u32, EdgeHash> =
            HashMap::with_capacity_and_hasher(polygons.len() / 2 + 1, EdgeHash);
        for cell in 0..cells.first.len() as u32 {
            for side in cells.range(cell) {
                let (a, b) = (cells.sides[side].vertex, cells.sides[cells.after(side)].vertex);
                if let Some(twin) = waiting.remove(&(u64::from(b) << 32 | u64::from(a))) {
                    cells.link(side as u32, twin);
                } else if let Some(other) = waiting.insert(u64::from(a) << 32 | u64::from(b), side as u32) {
                    return Err([cells.cell_of[other as usize], cell]);
                }
            }
        }
        Ok(cells)
    }

    /// Cells without neighbours.
    pub(crate) fn lay_out(points: Vec<DVec2>, polygons: &[u32], counts: &[u32]) -> Self {
        let mut cells = Self { points, ..Self::default() };
        cells.sides.reserve(polygons.len());
        cells.cell_of.reserve(polygons.len());
        let mut rest = polygons;
        for &count in counts {
            let (corners, tail) = rest.split_at(count as usize);
            cells.add(corners);
            rest = tail;
        }
        cells
    }

    /// Adds a cell without neighbours and returns its index.
    pub(crate) fn add(&mut self, corners: &[u32]) -> u32 {
        let cell = self.first.len() as u32;
        self.first.push(self.sides.len() as u32);
        self.count.push(corners.len() as u32);
        for &vertex in corners {
            let point = self.points[vertex as usize];
            self.sides.push(Side { point, vertex, twin: NONE, neighbour: NONE, block: 0 });
            self.cell_of.push(cell);
        }
        cell
    }

    /// Makes two half-edges twins: paths can cross the edge.
    pub(crate) fn link(&mut self, side: u32, twin: u32) {
        for (a, b) in [(side, twin), (twin, side)] {
            self.sides[a as usize].twin = b;
            self.sides[a as usize].neighbour = self.cell_of[b as usize];
        }
    }

    /// Makes a wall of an edge.
    pub(crate) fn shut(&mut self, side: u32) {
        let twin = self.sides[side as usize].twin;
        for side in [side, twin] {
            if side != NONE {
                self.close(side);
            }
        }
    }

    /// Turns one side of an edge into a wall, whether or not its twin still exists.
    pub(crate) fn close(&mut self, side: u32) {
        self.sides[side as usize].twin = NONE;
        self.sides[side as usize].neighbour = NONE;
    }

    /// The number of cells, replaced ones included.
    pub(crate) fn len(&self) -> usize {
        self.first.len()
    }

    /// The indices of a cell's sides.
    #[inline]
    pub(crate) fn range(&self, cell: u32) -> std::ops::Range<usize> {
        let first = self.first[cell as usize] as usize;
        first..first + self.count[cell as usize] as usize
    }

    /// The sides of a cell.
    #[inline]
    pub(crate) fn sides_of(&self, cell: u32) -> &[Side] {
        &self.sides[self.range(cell)]
    }

    /// The next side of the same cell, counter-clockwise.
    #[inline]
    pub(crate) fn after(&self, side: usize) -> usize {
        let range = self.range(self.cell_of[side]);
        if side + 1 == range.end { range.start } else { side + 1 }
    }

    /// The previous side of the same cell.
    #[inline]
    pub(crate) fn before(&self, side: usize) -> usize {
        let range = self.range(self.cell_of[side]);
        if side == range.start { range.end - 1 } else { side - 1 }
    }

    /// The two ends of a side: its own corner, and the next.
    #[inline]
    pub(crate) fn ends(&self, side: usize) -> [DVec2; 2] {
        [self.sides[side].point, self.sides[self.after(side)].point]
    }

    /// The vertices at the two ends of a side.
    pub(crate) fn end_vertices(&self, side: usize) -> [u32; 2] {
        [self.sides[side].vertex, self.sides[self.after(side)].vertex]
    }

    /// Twice the area of a cell.
    pub(crate) fn double_area(&self, cell: u32) -> f64 {
        let sides = self.sides_of(cell);
        let Some(origin) = sides.first().map(|side| side.point) else { return 0.0 };
        sides.windows(2).map(|pair| orient(origin, pair[0].point, pair[1].point)).sum()
    }

    /// Removes the copies of vertices that [`Cells::classify_vertices`] made.
    pub(crate) fn merge_sectors(&mut self, vertex_count: usize) {
        let copies = std::mem::take(&mut self.copy_of);
        for side in &mut self.sides {
            if side.vertex as usize >= vertex_count {
                side.vertex = copies[side.vertex as usize - vertex_count];
            }
        }
        self.points.truncate(vertex_count);
    }

    /// Finds the sides around each vertex and the kind of the vertex.
    ///
    /// Where walls divide the free space around a vertex into sectors that touch only in this point, each sector after the first gets a
    /// copy of the vertex: a path that bends in one sector does not bend in another.
    pub(crate) fn classify_vertices(&mut self, vertex_count: usize) {
        self.merge_sectors(vertex_count);
        self.vertex_kinds.clear();
        self.vertex_kinds.resize(vertex_count, VertexKind::default());
        self.sides_at_first.clear();
        self.sides_at_first.resize(vertex_count + 1, 0);
        let live: Vec<u32> = (0..self.sides.len() as u32).filter(|&side| self.is_live(side)).collect();
        for &side in &live {
            self.sides_at_first[self.sides[side as usize].vertex as usize + 1] += 1;
        }
        for v in 0..vertex_count {
            self.sides_at_first[v + 1] += self.sides_at_first[v];
        }
        let mut next = self.sides_at_first.clone();
        self.sides_at.clear();
        self.sides_at.resize(live.len(), 0);
        for side in live {
            let place = &mut next[self.sides[side as usize].vertex as usize];
            self.sides_at[*place as usize] = side;
            *place += 1;
        }
        for vertex in 0..vertex_count as u32 {
            self.classify_vertex(vertex);
        }
    }

    fn classify_vertex(&mut self, vertex: u32) {
        let range =
            self.sides_at_first[vertex as usize] as usize..self.sides_at_first[vertex as usize + 1] as usize;
        let mut sector_count = 0;
        for i in range.clone() {
            // The clockwise end of a sector is a wall: the side's own edge.
            let begin = self.sides_at[i] as usize;
            if self.sides[begin].twin != NONE {
                continue;
            }
            let own = if sector_count == 0 {
                vertex
            } else {
                self.copy_of.push(vertex);
                self.points.push(self.points[vertex as usize]);
                self.vertex_kinds.push(VertexKind::default());
                self.points.len() as u32 - 1
            };
            sector_count += 1;
            let [corner, from] = self.ends(begin);
            let mut last = begin;
            // Counter-clockwise to the wall at the other end; each cell is visited once.
            for _ in range.clone() {
                self.sides[last].vertex = own;
                match self.sides[self.before(last)].twin {
                    NONE => break,
                    twin => last = twin as usize,
                }
            }
            let to = self.sides[self.before(last)].point;
            let angle = orient(corner, from, to);
            let vertex_kind = &mut self.vertex_kinds[own as usize];
            vertex_kind.is_corner = angle < 0.0 || (angle == 0.0 && (from - corner).dot(to - corner) > 0.0);
        }
        if sector_count > 1 && !self.is_thin_wall_end(&self.sides_at[range.clone()]) {
            for i in range {
                let own = self.sides[self.sides_at[i] as usize].vertex;
                self.vertex_kinds[own as usize].is_pinched = true;
            }
        }
    }

    /// Whether a wall without thickness, such as a shut door, ends where these sides begin. Nothing squeezes past the end of such a
    /// wall.
    fn is_thin_wall_end(&self, outgoing: &[u32]) -> bool {
        let is_wall = |side: usize| self.sides[side].twin == NONE;
        let walls = |side: &u32| is_wall(*side as usize).then(|| self.ends(*side as usize)[1]);
        outgoing.iter().filter_map(walls).any(|to| {
            outgoing
                .iter()
                .map(|&side| self.before(side as usize))
                .any(|before| is_wall(before) && self.sides[before].point == to)
        })
    }

    fn is_live(&self, side: u32) -> bool {
        self.count[self.cell_of[side as usize] as usize] > 0
    }

    /// The vertex as the caller knows it: the original of a copy, or else the vertex itself.
    pub(crate) fn original(&self, vertex: u32) -> u32 {
        let given = self.points.len() - self.copy_of.len();
        if vertex as usize >= given { self.copy_of[vertex as usize - given] } else { vertex }
    }

    /// The sides that begin at a vertex or at a copy of it, one for each cell around it.
    pub(crate) fn around(&self, vertex: u32) -> &[u32] {
        let v = self.original(vertex) as usize;
        &self.sides_at[self.sides_at_first[v] as usize..self.sides_at_first[v + 1] as usize]
    }

    /// The first reflex corner of a cell, if any. `slack`, relative to the cell's size squared, allows for rounding.
    pub(crate) fn reflex_corner(&self, cell: u32, slack: f64) -> Option<usize> {
        let range = self.range(cell);
        let size = self.sides_of(cell).iter().fold(0.0_f64, |size, side| {
            size.max((side.point - self.sides[range.start].point).abs().max_element())
        });
        range.clone().find(|&side| {
            let (a, b) = (self.sides[side].point, self.sides[self.after(side)].point);
            let c = self.sides[self.after(self.after(side))].point;
            orient(a, b, c) < -slack * size * size
        })
    }
}

/// Hashes two vertex indices by one multiplication. It does not defend against chosen keys.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EdgeHash;

/// The state of an [`EdgeHash`].
#[derive(Debug, Default)]
pub(crate) struct EdgeHasher(u64);

impl std::hash::BuildHasher for EdgeHash {
    type Hasher = EdgeHasher;

    fn build_hasher(&self) -> EdgeHasher {
        EdgeHasher(0)
    }
}

impl std::hash::Hasher for EdgeHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}
