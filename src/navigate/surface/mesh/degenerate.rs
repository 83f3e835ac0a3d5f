//! Triangles without area: taken out, and what is beyond their longest side cut in two there.
//!
//! Such a triangle covers nothing, and its third corner lies within its longest side. When every triangle beyond that side is cut from
//! that corner to its own far one, the halves meet what is beyond the two short sides, and the surface is the same without it. Left in,
//! it lets through ways of one length on all its sides, of which none is the shortest by more than rounding.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap, HashSet};

use glam::DVec3;

use crate::error::{Error, Result};
use crate::navigate::surface::mesh::progress::STRIDE;
use crate::navigate::surface::mesh::topology::{Mesh, NON_MANIFOLD};

/// Of the longest side: what is left of a height that the rounding of lengths alone makes.
const NO_HEIGHT: f64 = 1e-14;

/// Of the largest coordinate: what is left of a height where corners in one line were rounded.
const ROUNDED: f64 = 4.0 * f64::EPSILON;

/// Of the longest side: there is an area, however coarsely corners are rounded.
const SOME_HEIGHT: f64 = 0.1;

/// Of the longest side: where a part of that side is below it two corners are nearly one.
const NO_PART: f64 = 1e-7;

/// The triangles that were found to have no area, and what was left out besides.
#[derive(Debug, Default)]
pub(crate) struct Dissolved {
    /// The model and face of each that has no area.
    pub(crate) flat: Vec<[u32; 2]>,
    /// Of each half that would have lain over another triangle.
    pub(crate) duplicates: Vec<[u32; 2]>,
}

/// Takes out the triangles that have no area, up to rounding. Of those of which two corners are nearly one only what connects nothing
/// that is not connected without it.
///
/// `look` asks whether to go on, every [`STRIDE`] of them.
pub(crate) fn dissolve(
    mesh: &mut Mesh,
    points: &[DVec3],
    mut look: impl FnMut() -> Result<()>,
) -> Result<Dissolved> {
    let is_flat = |corners: &[u32; 3]| middle(corners.map(|vertex| points[vertex as usize])).is_some();
    let flats: Vec<usize> = (0..mesh.triangle_count()).filter(|&i| is_flat(&mesh.triangles[i])).collect();
    let flat = flats.iter().map(|&triangle| mesh.sources[triangle]).collect();
    if flats.is_empty() {
        return Ok(Dissolved::default());
    }
    let mut halves = Halves::new(mesh, points, &flats);
    let mut count: usize = 0;
    while let Some(Flat { triangle, .. }) = halves.open.pop() {
        halves.dissolve(triangle)?;
        count += 1;
        if count.is_multiple_of(STRIDE) {
            look()?;
        }
    }
    halves.drop_flaps();
    let duplicates = halves.duplicates.iter().map(|&of| mesh.sources[of as usize]).collect();
    let mut kept: Vec<Half> = halves.halves.into_iter().filter(|half| !half.is_gone).collect();
    // The pieces of a triangle take its place.
    kept.sort_by_key(|half| half.of);
    mesh.sources = kept.iter().map(|half| mesh.sources[half.of as usize]).collect();
    mesh.triangles = kept.iter().map(|half| half.corners).collect();
    Ok(Dissolved { flat, duplicates })
}

/// Where three corners are in one line, up to rounding: which of them lies between the others, how far these are apart, and how much of
/// that the shorter part is.
fn middle(corners: [DVec3; 3]) -> Option<(usize, f64, f64)> {
    let across = [0, 1, 2].map(|k| corners[(k + 1) % 3].distance(corners[(k + 2) % 3]));
    let at = (0..3).max_by(|&i, &k| across[i].total_cmp(&across[k]))?;
    let [apex, from, to] = [at, (at + 1) % 3, (at + 2) % 3].map(|k| corners[k]);
    let far = corners.iter().fold(0.0, |most: f64, corner| most.max(corner.abs().max_element()));
    // Of the longest side, so that no square of what is small vanishes.
    let none = (ROUNDED * (far / across[at])).clamp(NO_HEIGHT, SOME_HEIGHT);
    let height = ((from - apex) / across[at]).cross((to - apex) / across[at]).length();
    let part = across[(at + 1) % 3].min(across[(at + 2) % 3]);
    (height <= none).then_some((at, across[at], part))
}

/// A triangle, or a piece of one.
#[derive(Debug, Clone, Copy)]
struct Half {
    corners: [u32; 3],
    of: u32,
    is_gone: bool,
}

/// A triangle without area.
#[derive(Debug, Clone, Copy)]
struct Flat {
    longest: f64,
    triangle: u32,
}

/// What is left to do.
struct Halves<'a> {
    points: &'a [DVec3],
    halves: Vec<Half>,
    /// The triangles at each edge, some of them gone; where a triangle at it touches a marked vertex.
    at: HashMap<[u32; 2], Vec<u32>>,
    /// The vertices of triangles without area.
    is_marked: Vec<bool>,
    /// The longest first: an edge that was cut does not come back with another of them at it.
    open: BinaryHeap<Flat>,
    cut: HashSet<[u32; 2]>,
    /// Triangles without area that are not cut around.
    kept: Vec<u32>,
    /// The triangles whose halves would have lain over another one.
    duplicates: Vec<u32>,
}

impl<'a> Halves<'a> {
    fn new(mesh: &Mesh, points: &'a [DVec3], flats: &[usize]) -> Self {
        let mut is_marked = vec![false; points.len()];
        for vertex in flats.iter().flat_map(|&triangle| mesh.triangles[triangle]) {
            is_marked[vertex as usize] = true;
        }
        let whole = |(&corners, of): (&[u32; 3], u32)| Half { corners, of, is_gone: false };
        let halves: Vec<Half> = mesh.triangles.iter().zip(0..).map(whole).collect();
        let (at, open, cut) = (HashMap::new(), BinaryHeap::new(), HashSet::new());
        let (kept, duplicates) = (Vec::new(), Vec::new());
        let mut all = Self { points, halves, at, is_marked, open, cut, kept, duplicates };
        for triangle in 0..all.halves.len() as u32 {
            if all.halves[triangle as usize].corners.iter().any(|&vertex| all.is_marked[vertex as usize]) {
                all.list(triangle);
            }
        }
        all
    }

    /// Puts a triangle where it will be found.
    fn list(&mut self, triangle: u32) {
        let corners = self.halves[triangle as usize].corners;
        for k in 0..3 {
            self.at.entry(edge(corners[k], corners[(k + 1) % 3])).or_default().push(triangle);
        }
        if let Some((_, longest, part)) = middle(corners.map(|vertex| self.points[vertex as usize])) {
            if part > NO_PART * longest {
                self.open.push(Flat { longest, triangle });
            } else {
                self.kept.push(triangle);
            }
        }
    }

    /// Takes out a triangle, and cuts those beyond its longest side.
    fn dissolve(&mut self, triangle: u32) -> Result<()> {
        let Half { corners, is_gone, .. } = self.halves[triangle as usize];
        let places = corners.map(|vertex| self.points[vertex as usize]);
        let Some((at, ..)) = middle(places).filter(|_| !is_gone) else { return Ok(()) };
        let [apex, from, to] = [at, (at + 1) % 3, (at + 2) % 3].map(|k| corners[k]);
        // Pieces without area, of triangles that hardly had any, may lie where not all is listed, or come back to an edge that was cut.
        let is_listed = self.is_marked[from as usize] || self.is_marked[to as usize];
        if !is_listed || !self.cut.insert(edge(from, to)) {
            return Ok(());
        }
        for other in self.at.remove(&edge(from, to)).unwrap_or_default() {
            let Half { corners, of, is_gone } = self.halves[other as usize];
            self.halves[other as usize].is_gone = true;
            if is_gone || corners.contains(&apex) {
                continue;
            }
            // First what keeps the first of them.
            let ends = if corners.iter().find(|&&vertex| vertex == from || vertex == to) == Some(&from) {
                [to, from]
            } else {
                [from, to]
            };
            for end in ends {
                let far = corners.iter().find(|&&vertex| vertex != from && vertex != to);
                let corners = corners.map(|vertex| if vertex == end { apex } else { vertex });
                let is_same = |&other: &u32| {
                    let other = self.halves[other as usize];
                    !other.is_gone && corners.iter().all(|corner| other.corners.contains(corner))
                };
                let there = far.and_then(|&far| self.at.get(&edge(apex, far)));
                if there.is_some_and(|there| there.iter().any(is_same)) {
                    self.duplicates.push(of);
                    continue;
                }
                let (half, limit) = (self.halves.len() as u32, NON_MANIFOLD / 3 - 1);
                if half >= limit {
                    let (count, limit) = (u64::from(half) + 1, u64::from(limit));
                    return Err(Error::TooMany { what: "triangles", count, limit });
                }
                self.halves.push(Half { corners, of, is_gone: false });
                self.list(half);
            }
        }
        Ok(())
    }

    /// Takes out those kept that hang by one side, or whose free side is a long one: without them that would be a wall, and they connect
    /// nothing but over the short side, which hardly is more than a vertex.
    fn drop_flaps(&mut self) {
        let mut kept = std::mem::take(&mut self.kept);
        loop {
            let before = kept.len();
            kept.retain(|&triangle| {
                let Half { corners, is_gone, .. } = self.halves[triangle as usize];
                let ends = |k: usize| [corners[k], corners[(k + 1) % 3]];
                let lengths = [0, 1, 2].map(|k| {
                    let [a, b] = ends(k).map(|vertex| self.points[vertex as usize]);
                    a.distance(b)
                });
                let short = NO_PART * lengths.into_iter().fold(0.0, f64::max);
                let beyond = [0, 1, 2].map(|k| self.count_beyond(triangle, ends(k)));
                let free_count = beyond.iter().filter(|&&count| count == Some(0)).count();
                let is_long_free = (0..3).any(|k| beyond[k] == Some(0) && lengths[k] > short);
                let is_flap = !beyond.contains(&None) && (free_count > 1 || is_long_free);
                self.halves[triangle as usize].is_gone |= is_flap;
                !is_gone && !is_flap
            });
            if kept.len() == before {
                return;
            }
        }
    }

    /// How many other triangles there are at an edge of a triangle; none where not all are listed.
    fn count_beyond(&self, triangle: u32, [a, b]: [u32; 2]) -> Option<usize> {
        let is_listed = self.is_marked[a as usize] || self.is_marked[b as usize];
        let others = self.at.get(&edge(a, b)).into_iter().flatten().filter(|&&other| other != triangle);
        is_listed.then(|| others.filter(|&&other| !self.halves[other as usize].is_gone).count())
    }
}

fn edge(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

impl Ord for Flat {
    fn cmp(&self, other: &Self) -> Ordering {
        self.longest.total_cmp(&other.longest).then(other.triangle.cmp(&self.triangle))
    }
}

impl PartialOrd for Flat {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Flat {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Flat {}
