//! Support mapping of hulls: the vertex furthest along a direction.
//!
//! Small hulls are scanned, eight vertices at a time. Large ones have a table over the cells of a direction cube:
//! each cell lists every vertex that can be furthest along any direction of the cell, so that nothing is missed.
//! `shaders/collide/hull/support.wgsl` reads the same records.

use glam::{DVec3, Vec3, Vec4};

use crate::collide::hull::record::HullRecord;
use crate::collide::hull::{Dimension, Hull};
use crate::error::{Error, Result};

/// Hulls of up to this many vertices are scanned.
pub(crate) const SCAN_LIMIT: usize = 64;

/// A cell whose list would be longer has none: all vertices are scanned for it.
const LIST_LIMIT: usize = 128;

/// Vertices that a kernel reads at once: `VERTEX_GROUP` in `shaders/collide/hull/support.wgsl`.
pub(crate) const VERTEX_GROUP: usize = 4;

/// Most cells along a side of a face of the direction cube; a multiple of [`COARSE`].
const SIDE_LIMIT: u32 = 40;

/// A large table is built from coarser cells, with this many cells along a side.
const COARSE: u32 = 4;

/// Eight vertices, component by component.
#[repr(C, align(32))]
#[derive(Debug, Clone, Copy)]
pub(crate) struct VertexBlock {
    x: [f32; 8],
    y: [f32; 8],
    z: [f32; 8],
}

/// Where the blocks of a hull, or of a cell of it, begin and end.
pub(crate) type BlockRange = std::ops::Range<u32>;

/// All hulls of an arena, as both engines read them.
#[derive(Debug, Default)]
pub(crate) struct Supports {
    /// One record a hull.
    pub(crate) records: Vec<HullRecord>,
    /// Vertices of all hulls: `(v − mean) / radius`, fourth component 0. A hull with fewer than [`VERTEX_GROUP`] is filled up with its
    /// first one.
    pub(crate) vertices: Vec<[f32; 4]>,
    /// The direction-cell tables: see [`Self::push_table`].
    pub(crate) cells: Vec<u32>,
    blocks: Vec<VertexBlock>,
    /// Blocks of each hull.
    spans: Vec<BlockRange>,
    /// Blocks of each cell of each hull with a table.
    cell_spans: Vec<BlockRange>,
    /// First of a hull's cells in `cell_spans`.
    first_cells: Vec<u32>,
}

impl Supports {
    /// Lays out the hulls.
    pub(crate) fn new(hulls: &[Hull]) -> Result<Self> {
        let mut supports = Self::default();
        for hull in hulls {
            supports.push(hull)?;
        }
        Ok(supports)
    }

    fn push(&mut self, hull: &Hull) -> Result<()> {
        let points = hull.vertices();
        let mean = hull.mean();
        // Both engines use the record's rounded mean, so the radius is taken about it too.
        let mean = mean.map(|x| x as f32);
        let center = DVec3::from(mean.map(f64::from));
        let offsets: Vec<DVec3> = points.iter().map(|p| DVec3::from(p.map(f64::from)) - center).collect();
        let radius = offsets.iter().map(|v| v.length()).fold(0.0, f64::max);
        let inverse = if radius > 0.0 { 1.0 / radius } else { 0.0 };
        let normalised: Vec<Vec3> = offsets.iter().map(|&v| (v * inverse).as_vec3()).collect();

        let mut low = DVec3::INFINITY;
        let mut high = DVec3::NEG_INFINITY;
        for &v in &offsets {
            low = low.min(v);
            high = high.max(v);
        }
        let middle = ((low + high) * 0.5).as_vec3();
        let half = (high - middle.as_dvec3()).max(middle.as_dvec3() - low);
        let limit = u64::from(u32::MAX);
        let vertex_offset = self.vertices.len();
        if (vertex_offset + points.len()) as u64 > limit {
            return Err(Error::TooMany {
                what: "hull vertices",
                count: (vertex_offset + points.len()) as u64,
                limit,
            });
        }
        self.vertices.extend(normalised.iter().map(|v| [v.x, v.y, v.z, 0.0]));
        if let Some(&first) = self.vertices.get(vertex_offset) {
            self.vertices.resize(self.vertices.len().max(vertex_offset + VERTEX_GROUP), first);
        }
        let span = self.push_blocks(&normalised);
        self.spans.push(span.clone());
        self.first_cells.push(self.cell_spans.len() as u32);
        let cell_offset = self.cells.len();
        let cell_side = if normalised.len() > SCAN_LIMIT { self.push_table(&normalised, &span) } else { 0 };
        if self.cells.len() as u64 > limit {
            return Err(Error::TooMany { what: "direction cells", count: self.cells.len() as u64, limit });
        }
        self.records.push(HullRecord {
            mean,
            radius: radius as f32,
            middle: middle.to_array(),
            vertex_offset: vertex_offset as u32,
            half: half.to_array().map(round_up),
            vertex_count: points.len() as u32,
            cell_offset: cell_offset as u32,
            cell_side,
            rounding: hull.rounding(),
            half_space: u32::from(hull.dimension() == Dimension::HalfSpace),
        });
        Ok(())
    }

    /// Packs vertices into blocks; the last block is filled up with its first vertex.
    fn push_blocks(&mut self, vertices: &[Vec3]) -> BlockRange {
        let first = self.blocks.len() as u32;
        for chunk in vertices.chunks(8) {
            let at = |lane: usize| chunk.get(lane).copied().unwrap_or(chunk[0]);
            self.blocks.push(VertexBlock {
                x: std::array::from_fn(|lane| at(lane).x),
                y: std::array::from_fn(|lane| at(lane).y),
                z: std::array::from_fn(|lane| at(lane).z),
            });
        }
        first..self.blocks.len() as u32
    }

    /// Builds the direction-cell table and returns its side.
    ///
    /// `cells` gets `6 · side² + 1` words, each the index (from the table's first word) where the list of a cell begins, and then the lists of
    /// vertex indices. A cell with an empty list is scanned in full.
    fn push_table(&mut self, vertices: &[Vec3], all: &BlockRange) -> u32 {
        let wanted = ((vertices.len() as f64) / 12.0).sqrt().ceil() as u32;
        let split = if wanted > 2 * COARSE { COARSE } else { 1 };
        let side = wanted.next_multiple_of(split).clamp(2, SIDE_LIMIT);
        let coarse_side = side / split;
        // A vertex that is furthest in a cell is furthest in the coarser cell around it.
        let everything: Vec<u32> = (0..vertices.len() as u32).collect();
        let coarse: Vec<Vec<u32>> = (0..6 * coarse_side * coarse_side)
            .map(|cell| candidates(vertices, &everything, cell_cone(cell, coarse_side)))
            .collect();
        let cell_count = 6 * side * side;
        let base = self.cells.len();
        self.cells.resize(base + cell_count as usize + 1, 0);
        for cell in 0..cell_count {
            self.cells[base + cell as usize] = (self.cells.len() - base) as u32;
            let (column, row, face) = (cell % side, cell / side % side, cell / (side * side));
            let around = (face * coarse_side + row / split) * coarse_side + column / split;
            let list = candidates(vertices, &coarse[around as usize], cell_cone(cell, side));
            let span = if list.len() > LIST_LIMIT || list.len() * 2 > vertices.len() {
                all.clone()
            } else {
                self.cells.extend(&list);
                let listed: Vec<Vec3> = list.iter().map(|&v| vertices[v as usize]).collect();
                self.push_blocks(&listed)
            };
            self.cell_spans.push(span);
        }
        self.cells[base + cell_count as usize] = (self.cells.len() - base) as u32;
        side
    }

    /// The entries of `vertices` that a hull has.
    pub(crate) fn stored_vertices(&self, hull: u32) -> std::ops::Range<usize> {
        let record = &self.records[hull as usize];
        let first = record.vertex_offset as usize;
        first..first + (record.vertex_count as usize).max(VERTEX_GROUP)
    }

    /// Bounding radius about the mean of the vertices of `hull`, scaled unequally.
    pub(crate) fn radius(&self, hull: u32, scale: [f32; 3]) -> f32 {
        let record = &self.records[hull as usize];
        let scale = DVec3::from(scale.map(f64::from)) * f64::from(record.radius);
        let first = record.vertex_offset as usize;
        self.vertices[first..first + record.vertex_count as usize]
            .iter()
            .map(|&[x, y, z, _]| (scale * DVec3::new(f64::from(x), f64::from(y), f64::from(z))).length())
            .fold(0.0, f64::max) as f32
    }

    /// The vertex of `hull` furthest along `direction`, about its mean and in units of its radius.
    #[inline(always)]
    pub(crate) fn support(&self, hull: u32, direction: Vec3) -> Vec3 {
        self.furthest_of(&self.span(hull, direction), direction)
    }

    /// Whether a hull's vertices are all scanned, whatever the direction.
    #[inline(always)]
    pub(crate) fn is_scanned(&self, hull: u32) -> bool {
        self.records[hull as usize].cell_side == 0
    }

    /// Blocks that a hull without a table has.
    #[inline(always)]
    pub(crate) fn block_count(&self, hull: u32) -> u32 {
        let BlockRange { start, end } = self.spans[hull as usize];
        end - start
    }

    /// The blocks with the vertices that can be furthest along a direction.
    #[inline(always)]
    pub(crate) fn span(&self, hull: u32, direction: Vec3) -> BlockRange {
        let side = self.records[hull as usize].cell_side;
        if side == 0 {
            self.spans[hull as usize].clone()
        } else {
            let cell = cell_of(direction, side);
            self.cell_spans[(self.first_cells[hull as usize] + cell) as usize].clone()
        }
    }

    /// The vertex of a span that is furthest along a direction.
    #[inline(always)]
    pub(crate) fn furthest_of(&self, span: &BlockRange, direction: Vec3) -> Vec3 {
        let blocks = self.blocks.get(span.start as usize..span.end as usize).unwrap_or_default();
        furthest(blocks, direction)
    }
}

/// The vertex of some blocks furthest along `direction`; of equal ones, any, but always the same.
#[inline(always)]
fn furthest(blocks: &[VertexBlock], direction: Vec3) -> Vec3 {
    let Some((first, rest)) = blocks.split_first() else { return Vec3::ZERO };
    let mut most = first.along(direction);
    if rest.is_empty() {
        return first.vertex(lane_of_greatest(&most));
    }
    let mut which = [0_u32; 8];
    for (index, block) in (1..).zip(rest) {
        let along = block.along(direction);
        for lane in 0..8 {
            let better = along[lane] > most[lane];
            most[lane] = if better { along[lane] } else { most[lane] };
            which[lane] = if better { index } else { which[lane] };
        }
    }
    let lane = lane_of_greatest(&most);
    blocks[which[lane] as usize].vertex(lane)
}

impl VertexBlock {
    /// The products of the vertices and a direction.
    #[inline(always)]
    fn along(&self, direction: Vec3) -> [f32; 8] {
        let mut along = [0.0_f32; 8];
        for lane in 0..8 {
            along[lane] =
                self.x[lane] * direction.x + self.y[lane] * direction.y + self.z[lane] * direction.z;
        }
        along
    }

    #[inline(always)]
    fn vertex(&self, lane: usize) -> Vec3 {
        Vec3::new(self.x[lane], self.y[lane], self.z[lane])
    }
}

/// The first lane with the greatest number.
#[inline(always)]
fn lane_of_greatest(&[a, b, c, d, e, f, g, h]: &[f32; 8]) -> usize {
    let (low, high) = (Vec4::new(a, b, c, d), Vec4::new(e, f, g, h));
    let greatest = Vec4::splat(low.max(high).max_element());
    // A NaN direction has no furthest vertex, so any is returned.
    let lane = (low.cmpeq(greatest).bitmask() | high.cmpeq(greatest).bitmask() << 4).trailing_zeros() % 8;
    lane as usize
}

/// Cell of the direction cube that a direction falls in: `(face · side + row) · side + column`, faces +x −x +y −y +z
/// −z, row and column along the next two axes in cyclic order.
#[inline(always)]
pub(crate) fn cell_of(direction: Vec3, side: u32) -> u32 {
    let [x, y, z] = direction.abs().to_array();
    let (face, major, u, v) = if x >= y && x >= z {
        (u32::from(direction.x < 0.0), x, direction.y, direction.z)
    } else if y >= z {
        (2 + u32::from(direction.y < 0.0), y, direction.z, direction.x)
    } else {
        (4 + u32::from(direction.z < 0.0), z, direction.x, direction.y)
    };
    let half = side as f32 * 0.5;
    let inverse = half / major;
    // A zero direction gives NaN here, which becomes 0: any cell is right for it.
    let column = ((u * inverse + half) as u32).min(side - 1);
    let row = ((v * inverse + half) as u32).min(side - 1);
    (face * side + row) * side + column
}

/// Unit direction of a cell's middle, and the largest chord from it to a unit direction of the cell.
fn cell_cone(cell: u32, side: u32) -> (DVec3, f64) {
    let (column, row, face) = (cell % side, cell / side % side, cell / (side * side));
    let at = |column: f64, row: f64| {
        let u = column / f64::from(side) * 2.0 - 1.0;
        let v = row / f64::from(side) * 2.0 - 1.0;
        let sign = if face % 2 == 0 { 1.0 } else { -1.0 };
        match face / 2 {
            0 => DVec3::new(sign, u, v),
            1 => DVec3::new(v, sign, u),
            _ => DVec3::new(u, v, sign),
        }
        .normalize()
    };
    let (column, row) = (f64::from(column), f64::from(row));
    let center = at(column + 0.5, row + 0.5);
    let chord = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]
        .map(|(u, v)| (at(column + u, row + v) - center).length())
        .into_iter()
        .fold(0.0, f64::max);
    // The cell of a direction is found in f32, so slightly more than the cell must be covered.
    (center, chord * (1.0 + 1e-4) + 1e-6)
}

/// Those of the vertices listed in `among` that are furthest along some unit direction within a chord of a cone's
/// middle.
///
/// With `top` furthest along the middle itself: where `v` beats `top` along `middle + e`, `|e| ≤ chord`, there
/// `(top − v) · middle < (v − top) · e ≤ |top − v| chord`.
fn candidates(vertices: &[Vec3], among: &[u32], (middle, chord): (DVec3, f64)) -> Vec<u32> {
    let vertex = |v: u32| vertices[v as usize].as_dvec3();
    let along = |v: u32| vertex(v).dot(middle);
    let Some(top) = among.iter().copied().reduce(|best, v| if along(v) > along(best) { v } else { best })
    else {
        return Vec::new();
    };
    let top = vertex(top);
    let may_beat = |&v: &u32| {
        let offset = top - vertex(v);
        // 1e-6 bounds the error of f32 products of unit vectors.
        offset.dot(middle) <= offset.length() * chord + 1e-6
    };
    among.iter().copied().filter(may_beat).collect()
}

/// The f32 not below an f64.
fn round_up(x: f64) -> f32 {
    let rounded = x as f32;
    if f64::from(rounded) < x { rounded.next_up() } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_hull(count: usize, seed: u64, squash: [f32; 3]) -> Vec<Vec3> {
        let mut state = seed;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 40) as f32 / 8_388_608.0) - 1.0
        };
        (0..count)
            .map(|_| {
                loop {
                    let v = Vec3::new(next(), next(), next());
                    let squared = v.length_squared();
                    if squared > 1e-3 && squared <= 1.0 {
                        return v.normalize() * Vec3::from(squash);
                    }
                }
            })
            .collect()
    }

    #[test]
    fn tables_find_what_a_scan_finds() {
        for (count, squash) in [
            (65, [1.0; 3]),
            (128, [1.0; 3]),
            (512, [1.0; 3]),
            (4096, [1.0; 3]),
            (512, [1.0, 1.0, 1e-5]),
            (512, [1.0, 1e-5, 1e-5]),
            (300, [1.0, 0.3, 0.01]),
        ] {
            let vertices = random_hull(count, 7, squash);
            let hull = Hull::from_points(&vertices.iter().map(|v| v.to_array()).collect::<Vec<_>>()).unwrap();
            let supports = Supports::new(std::slice::from_ref(&hull)).unwrap();
            assert!(supports.records[0].cell_side > 0);
            let mut directions = random_hull(2000, 11, [1.0; 3]);
            directions.extend(random_hull(500, 12, [1.0, 1.0, 1e-4]));
            directions.extend([Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z]);
            for d in directions {
                let found = supports.support(0, d).dot(d);
                let best = supports
                    .vertices
                    .iter()
                    .map(|v| Vec3::new(v[0], v[1], v[2]).dot(d))
                    .fold(f32::MIN, f32::max);
                assert!(found >= best - 3e-7, "{count} {squash:?}: {found} < {best}");
            }
        }
    }
}
