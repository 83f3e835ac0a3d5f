//! A floor of convex cells: corners, what lies across each edge, and where a path can turn.

use std::collections::HashMap;

use glam::DVec2;

use crate::navigate::shared::predicate::orient;

/// No such thing: a wall where a cell is asked for, a root where a parent is.
pub(crate) const NONE: u32 = u32::MAX;

/// One corner of a cell, and the edge from it to the cell's next corner. 32 bytes, so that a cell of four is two
/// cache lines and a search reads nothing else.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side {
    /// Where the corner is.
    pub(crate) point: DVec2,
    /// Index of the corner among the floor's vertices.
    pub(crate) vertex: u32,
    /// The side of the neighbour that is this edge turned round; [`NONE`] at a wall.
    pub(crate) twin: u32,
    /// The cell across the edge; [`NONE`] at a wall.
    pub(crate) beyond: u32,
    /// The block of the dual graph that this crossing belongs to.
    pub(crate) block: u32,
}

/// Convex cells with shared corners. Each cell's corners run counter-clockwise; collinear corners are allowed.
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
    /// What a path can do at each vertex.
    pub(crate) kinds: Vec<Kind>,
    /// The vertices that the last ones, the sectors' own, are copies of.
    pub(crate) copy_of: Vec<u32>,
    /// The sides that begin at vertex `v` or a copy of it are `fan[fan_first[v] .. fan_first[v + 1]]`.
    pub(crate) fan_first: Vec<u32>,
    /// Sides by the vertex they begin at.
    pub(crate) fan: Vec<u32>,
}

/// What a path can do at a vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Kind {
    /// The free space around it is wider than a half turn somewhere: a shortest path may bend there.
    pub(crate) turns: bool,
    /// Walls part the free space around it into two sectors or more, which touch in this point alone.
    pub(crate) pinched: bool,
    /// It is on a wall.
    pub(crate) walled: bool,
}

impl Cells {
    /// Cells from their corners, joined where two share an edge; `Err` names two cells that have the same edge in the same
    /// direction (they overlap).
    pub(crate) fn join(points: Vec<DVec2>, polygons: &[u32], counts: &[u32]) -> Result<Self, [u32; 2]> {
        let mut cells = Self::lay_out(points, polygons, counts);
        // An edge is met from either side once; the first to come waits for the second.
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

    /// Adds a cell without neighbours and gives its index.
    pub(crate) fn add(&mut self, corners: &[u32]) -> u32 {
        let cell = self.first.len() as u32;
        self.first.push(self.sides.len() as u32);
        self.count.push(corners.len() as u32);
        for &vertex in corners {
            let point = self.points[vertex as usize];
            self.sides.push(Side { point, vertex, twin: NONE, beyond: NONE, block: 0 });
            self.cell_of.push(cell);
        }
        cell
    }

    /// Opens the edge between two sides.
    pub(crate) fn link(&mut self, side: u32, twin: u32) {
        for (a, b) in [(side, twin), (twin, side)] {
            self.sides[a as usize].twin = b;
            self.sides[a as usize].beyond = self.cell_of[b as usize];
        }
    }

    /// Makes a wall of an edge.
    pub(crate) fn shut(&mut self, side: u32) {
        let twin = self.sides[side as usize].twin;
        for side in [side, twin] {
            if side != NONE {
                self.sides[side as usize].twin = NONE;
                self.sides[side as usize].beyond = NONE;
            }
        }
    }

    /// How many cells there are, replaced ones included.
    pub(crate) fn len(&self) -> usize {
        self.first.len()
    }

    /// The sides of a cell.
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

    /// The side before it in the same cell.
    #[inline]
    pub(crate) fn before(&self, side: usize) -> usize {
        let range = self.range(self.cell_of[side]);
        if side == range.start { range.end - 1 } else { side - 1 }
    }

    /// The two ends of an edge: the side's own vertex, and the next.
    #[inline]
    pub(crate) fn ends(&self, side: usize) -> [DVec2; 2] {
        [self.sides[side].point, self.sides[self.after(side)].point]
    }

    /// The vertices at the two ends of an edge.
    pub(crate) fn end_vertices(&self, side: usize) -> [u32; 2] {
        [self.sides[side].vertex, self.sides[self.after(side)].vertex]
    }

    /// Twice the area of a cell.
    pub(crate) fn double_area(&self, cell: u32) -> f64 {
        let sides = self.sides_of(cell);
        let Some(origin) = sides.first().map(|side| side.point) else { return 0.0 };
        sides.windows(2).map(|pair| orient(origin, pair[0].point, pair[1].point)).sum()
    }

    /// Takes back what [`Cells::survey`] did to the vertices.
    pub(crate) fn unite(&mut self, vertex_count: usize) {
        let copies = std::mem::take(&mut self.copy_of);
        for side in &mut self.sides {
            if side.vertex as usize >= vertex_count {
                side.vertex = copies[side.vertex as usize - vertex_count];
            }
        }
        self.points.truncate(vertex_count);
    }

    /// Works out the fans around vertices and what a path can do at each.
    ///
    /// Where walls part the free space around a vertex into sectors that touch in this point alone, each sector after the
    /// first gets a vertex of its own, a copy at the same place: a path that bends in one does not bend in another.
    pub(crate) fn survey(&mut self, vertex_count: usize) {
        self.unite(vertex_count);
        self.kinds.clear();
        self.kinds.resize(vertex_count, Kind::default());
        self.fan_first.clear();
        self.fan_first.resize(vertex_count + 1, 0);
        let live: Vec<u32> = (0..self.sides.len() as u32).filter(|&side| self.is_live(side)).collect();
        for &side in &live {
            self.fan_first[self.sides[side as usize].vertex as usize + 1] += 1;
        }
        for v in 0..vertex_count {
            self.fan_first[v + 1] += self.fan_first[v];
        }
        let mut next = self.fan_first.clone();
        self.fan.clear();
        self.fan.resize(live.len(), 0);
        for side in live {
            let place = &mut next[self.sides[side as usize].vertex as usize];
            self.fan[*place as usize] = side;
            *place += 1;
        }
        for vertex in 0..vertex_count as u32 {
            self.survey_vertex(vertex);
        }
    }

    fn survey_vertex(&mut self, vertex: u32) {
        let fan = self.fan_first[vertex as usize] as usize..self.fan_first[vertex as usize + 1] as usize;
        let mut sector_count = 0;
        for i in fan.clone() {
            // A sector begins, clockwise, at a wall: the side's own edge.
            let begin = self.fan[i] as usize;
            if self.sides[begin].twin != NONE {
                continue;
            }
            let own = if sector_count == 0 {
                vertex
            } else {
                self.copy_of.push(vertex);
                self.points.push(self.points[vertex as usize]);
                self.kinds.push(Kind::default());
                self.points.len() as u32 - 1
            };
            sector_count += 1;
            let [corner, from] = self.ends(begin);
            let mut last = begin;
            // Counter-clockwise to the other wall; each cell is met once.
            for _ in fan.clone() {
                self.sides[last].vertex = own;
                match self.sides[self.before(last)].twin {
                    NONE => break,
                    twin => last = twin as usize,
                }
            }
            let to = self.sides[self.before(last)].point;
            let turn = orient(corner, from, to);
            let kind = &mut self.kinds[own as usize];
            kind.walled = true;
            kind.turns = turn < 0.0 || (turn == 0.0 && (from - corner).dot(to - corner) > 0.0);
        }
        if sector_count > 1 && !self.ends_thin(&self.fan[fan.clone()]) {
            for i in fan {
                let own = self.sides[self.fan[i] as usize].vertex;
                self.kinds[own as usize].pinched = true;
            }
        }
    }

    /// Whether a wall without thickness, as a shut door is, ends where these sides begin. It is fixed to what it meets there:
    /// nothing squeezes past its end.
    fn ends_thin(&self, fan: &[u32]) -> bool {
        let is_wall = |side: usize| self.sides[side].twin == NONE;
        let walls = |side: &u32| is_wall(*side as usize).then(|| self.ends(*side as usize)[1]);
        fan.iter().filter_map(walls).any(|to| {
            fan.iter()
                .map(|&side| self.before(side as usize))
                .any(|before| is_wall(before) && self.sides[before].point == to)
        })
    }

    fn is_live(&self, side: u32) -> bool {
        self.count[self.cell_of[side as usize] as usize] > 0
    }

    /// The vertex as it was given: a sector's own vertex is a copy of it.
    pub(crate) fn original(&self, vertex: u32) -> u32 {
        let given = self.points.len() - self.copy_of.len();
        if vertex as usize >= given { self.copy_of[vertex as usize - given] } else { vertex }
    }

    /// The sides that begin at a vertex or at a copy of it, one a cell around it.
    pub(crate) fn around(&self, vertex: u32) -> &[u32] {
        let v = self.original(vertex) as usize;
        &self.fan[self.fan_first[v] as usize..self.fan_first[v + 1] as usize]
    }

    /// Where a cell is not convex, within `slack` of its size: the corner.
    pub(crate) fn dent(&self, cell: u32, slack: f64) -> Option<usize> {
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

/// A hash of two vertex indices: one multiplication, as nobody chooses them to collide.
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
