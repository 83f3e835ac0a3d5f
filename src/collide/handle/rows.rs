//! Rows of parts, named by the bodies of a scene.

use glam::DVec3;

use crate::collide::handle::options::RowsPer;
use crate::collide::narrow_phase::rows::{
    Batch, Contact, Distance, Gradient, Intersection, Manifold, ManifoldPoint,
};
use crate::collide::narrow_phase::status::Status;
use crate::collide::scene::query_input::Shared;
use crate::collide::sweep::rows::{Sweep, SweepOutcome};

/// A row of a pair of parts.
pub trait PairRow: Copy + Send + Sync + 'static + sealed::Sealed {
    /// The rows of the bodies.
    fn bodies(&self) -> [u32; 2];
    /// Their parts.
    fn parts(&self) -> [u32; 2];
    /// Whether the pair touches or overlaps, or meets in a sweep.
    fn is_hit(&self) -> bool;
}

mod sealed {
    /// Only rows of this crate are rows of pairs.
    pub trait Sealed {}
}

macro_rules! pair_rows {
    ($($row:ty: $is_hit:expr),*) => {$(
        impl sealed::Sealed for $row {}

        impl PairRow for $row {
            fn bodies(&self) -> [u32; 2] {
                [self.a, self.b]
            }

            fn parts(&self) -> [u32; 2] {
                [self.part_a, self.part_b]
            }

            fn is_hit(&self) -> bool {
                let is_hit: fn(&Self) -> bool = $is_hit;
                is_hit(self)
            }
        }
    )*};
}

pair_rows!(
    Intersection: |row| row.status.is_hit(),
    Distance: |row| row.status.is_hit(),
    Contact: |row| row.status.is_hit(),
    Manifold: |row| row.status.is_hit(),
    Gradient: |row| row.status.is_hit(),
    Sweep: |row| row.outcome != SweepOutcome::Miss
);

/// A row of a pair as a scene names it.
pub(crate) trait SceneRow: PairRow {
    /// The bodies.
    fn pair_mut(&mut self) -> [&mut u32; 2];
    /// Their parts.
    fn parts_mut(&mut self) -> [&mut u32; 2];
    /// The same row with its bodies the other way round.
    fn swapped(self) -> Self;
    /// Whether this row stands for a pair of bodies rather than `other`.
    fn is_before(&self, other: &Self) -> bool;
    /// Whether a query with this margin lists the row.
    fn is_listed(&self, margin: f64) -> bool;
    /// Whether the row depends on what its bodies turn about.
    const HAS_PIVOTS: bool = false;
    /// The row for bodies that turn about points that are the negatives of these from their parts' origins.
    fn about(&mut self, _arms: [DVec3; 2]) {}
}

/// The order of a status among those of parts of two bodies.
fn rank(status: Status) -> u8 {
    match status {
        Status::Penetrating => 0,
        Status::Touching => 1,
        Status::Separated => 2,
    }
}

fn negated<T: std::ops::Neg<Output = T>>(vector: [T; 3]) -> [T; 3] {
    vector.map(|x| -x)
}

macro_rules! pair {
    () => {
        fn pair_mut(&mut self) -> [&mut u32; 2] {
            [&mut self.a, &mut self.b]
        }

        fn parts_mut(&mut self) -> [&mut u32; 2] {
            [&mut self.part_a, &mut self.part_b]
        }
    };
}

macro_rules! measured {
    ($gap:expr) => {
        fn is_before(&self, other: &Self) -> bool {
            let gap: fn(&Self) -> f64 = $gap;
            (rank(self.status), gap(self)) < (rank(other.status), gap(other))
        }

        fn is_listed(&self, margin: f64) -> bool {
            let gap: fn(&Self) -> f64 = $gap;
            self.status.is_hit() || gap(self) <= margin
        }
    };
}

impl SceneRow for Intersection {
    pair!();

    fn swapped(self) -> Self {
        let axis = self.axis.map(negated);
        Self { a: self.b, b: self.a, part_a: self.part_b, part_b: self.part_a, axis, ..self }
    }

    fn is_before(&self, other: &Self) -> bool {
        rank(self.status) < rank(other.status)
    }

    fn is_listed(&self, _: f64) -> bool {
        self.status.is_hit()
    }
}

impl SceneRow for Distance {
    pair!();
    measured!(|row| row.separation);

    fn swapped(self) -> Self {
        let points = self.points.map(|[p, q]| [q, p]);
        let axis = self.axis.map(negated);
        Self { a: self.b, b: self.a, part_a: self.part_b, part_b: self.part_a, points, axis, ..self }
    }
}

impl SceneRow for Contact {
    pair!();
    measured!(|row| row.separation);

    fn swapped(self) -> Self {
        let [p, q] = self.points;
        let (points, normal) = ([q, p], negated(self.normal));
        Self { a: self.b, b: self.a, part_a: self.part_b, part_b: self.part_a, points, normal, ..self }
    }
}

impl SceneRow for Manifold {
    pair!();
    measured!(|row| row.separation);

    fn swapped(self) -> Self {
        let points = self.points.map(|point| {
            let [p, q] = point.features;
            ManifoldPoint { on_a: point.on_b, on_b: point.on_a, features: [q, p], ..point }
        });
        let normal = negated(self.normal);
        Self { a: self.b, b: self.a, part_a: self.part_b, part_b: self.part_a, points, normal, ..self }
    }
}

impl SceneRow for Gradient {
    pair!();
    measured!(|row| row.separation);
    const HAS_PIVOTS: bool = true;

    fn swapped(self) -> Self {
        Self {
            a: self.b,
            b: self.a,
            part_a: self.part_b,
            part_b: self.part_a,
            position_a: self.position_b,
            position_b: self.position_a,
            rotation_a: self.rotation_b,
            rotation_b: self.rotation_a,
            ..self
        }
    }

    fn about(&mut self, arms: [DVec3; 2]) {
        // A point that turns about a pivot at `arm` more moves by the rotation's cross product with `arm` more.
        let turned = |rotation: [f64; 3], position: [f64; 3], arm: DVec3| {
            (DVec3::from(rotation) + arm.cross(DVec3::from(position))).to_array()
        };
        self.rotation_a = turned(self.rotation_a, self.position_a, arms[0]);
        self.rotation_b = turned(self.rotation_b, self.position_b, arms[1]);
    }
}

impl SceneRow for Sweep {
    pair!();

    fn swapped(self) -> Self {
        let points = self.points.map(|[p, q]| [q, p]);
        let normal = self.normal.map(negated);
        Self { a: self.b, b: self.a, part_a: self.part_b, part_b: self.part_a, points, normal, ..self }
    }

    fn is_before(&self, other: &Self) -> bool {
        let rank = |row: &Self| (row.outcome == SweepOutcome::Miss, row.time);
        rank(self) < rank(other)
    }

    fn is_listed(&self, _: f64) -> bool {
        self.is_hit()
    }
}

/// How the places of a query are named.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    /// The leaf at each place; empty where they are in order.
    pub(crate) order: Shared<u32>,
    /// Row and part of each leaf.
    pub(crate) leaves: Shared<[u32; 2]>,
    /// Whether a leaf is a row, and has one part.
    pub(crate) is_plain: bool,
}

impl Names {
    pub(crate) fn leaf(&self, place: u32) -> u32 {
        self.order.get(place as usize).copied().unwrap_or(place)
    }

    /// Row and part of a leaf.
    pub(crate) fn of(&self, leaf: u32) -> [u32; 2] {
        if self.is_plain { [leaf, 0] } else { self.leaves[leaf as usize] }
    }

    /// Names the bodies and parts of a row.
    pub(crate) fn name(&self, row: &mut impl SceneRow) {
        let leaves = row.bodies().map(|place| self.leaf(place));
        let [a, b] = leaves.map(|leaf| self.of(leaf));
        let ([id_a, id_b], [part_a, part_b]) = ([a[0], b[0]], [a[1], b[1]]);
        for (id, named) in row.pair_mut().into_iter().zip([id_a, id_b]) {
            *id = named;
        }
        for (part, named) in row.parts_mut().into_iter().zip([part_a, part_b]) {
            *part = named;
        }
    }

    /// Values of leaves by the rows of a scene, of which there are `count`. Each body has one part.
    pub(crate) fn of_rows<T: Copy + Default>(&self, found: Batch<T>, count: usize) -> Batch<T> {
        if self.is_plain && found.rows.len() == count {
            return found;
        }
        let mut rows = vec![T::default(); count];
        for (leaf, value) in (0..).zip(found.rows) {
            rows[self.of(leaf)[0] as usize] = value;
        }
        Batch::new(rows, found.stats)
    }

    /// Whether places are rows.
    pub(crate) fn are_rows(&self) -> bool {
        self.is_plain && self.order.is_empty()
    }
}

/// Keeps one row of each pair of bodies, where that is asked for; `key` names the pair. Rows of a pair are neighbours.
pub(crate) fn reduce<R: SceneRow, K: PartialEq>(
    rows: Vec<R>,
    per: RowsPer,
    key: impl Fn(&R, usize) -> K,
) -> Vec<R> {
    if per == RowsPer::PairOfParts {
        return rows;
    }
    let (mut kept, mut last): (Vec<R>, Option<K>) = (Vec::new(), None);
    for (at, row) in rows.into_iter().enumerate() {
        let key = key(&row, at);
        match kept.last_mut().filter(|_| last.as_ref() == Some(&key)) {
            Some(best) if row.is_before(best) => *best = row,
            Some(_) => (),
            None => {
                kept.push(row);
                last = Some(key);
            }
        }
    }
    kept
}
