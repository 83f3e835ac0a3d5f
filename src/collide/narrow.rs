//! The narrow phase of the CPU engine: the f32 search, then what it leaves to the exact path.

use super::epa::{Decision, epa};
use super::gjk::{Outcome, gjk, reach};
use super::pose::{Placed, Relative, Spheres};
use super::query::Intersection;
use super::status::Status;
use super::support::Supports;

/// Corners and faces of the f32 polytope, the same on the GPU.
pub(crate) const POLYTOPE_POINTS: usize = 20;
/// See [`POLYTOPE_POINTS`]: a closed surface of `n` corners has `2 n − 4` triangles, and a few more while it grows.
pub(crate) const POLYTOPE_FACES: usize = 40;

/// What the f32 search says of a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Verdict {
    /// The status, `None` where only the exact path can say.
    pub(crate) status: Option<Status>,
    /// Whether GJK left it to EPA.
    pub(crate) refined: bool,
    /// For a separated pair the unit axis from `a` to `b`, world frame.
    pub(crate) axis: [f32; 3],
}

impl Verdict {
    /// The row of a pair with this verdict; one that is still open counts as touching until it is settled.
    #[inline(always)]
    pub(crate) fn row(&self, a: u32, b: u32) -> Intersection {
        let status = self.status.unwrap_or(Status::Touching);
        Intersection { a, b, status, axis: (status == Status::Separated).then_some(self.axis) }
    }
}

/// What there is to say of some pairs besides their rows.
#[derive(Debug, Default)]
pub(crate) struct Unsettled {
    /// Indices of the rows that only the exact path can fill, ascending.
    pub(crate) open: Vec<usize>,
    /// Pairs that GJK left to EPA.
    pub(crate) refined_count: u64,
}

/// Writes the row of each of `pairs`, in order; the axes of separated ones only where they are wanted.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn narrow(
    supports: &Supports,
    placed: &[Placed],
    pairs: &[[u32; 2]],
    with_axes: bool,
    rows: &mut [Intersection],
    rest: &mut Unsettled,
) {
    for (index, (&[a, b], row)) in pairs.iter().zip(rows).enumerate() {
        let verdict = verdict(supports, &placed[a as usize], &placed[b as usize], with_axes);
        rest.refined_count += u64::from(verdict.refined);
        if verdict.status.is_none() {
            rest.open.push(index);
        }
        *row = verdict.row(a, b);
    }
}

#[inline(always)]
fn verdict(supports: &Supports, a: &Placed, b: &Placed, with_axes: bool) -> Verdict {
    let separated = |axis| Verdict { status: Some(Status::Separated), refined: false, axis };
    if !(a.is_plain() & b.is_plain()) {
        return Verdict { status: None, refined: false, axis: [0.0; 3] };
    }
    let spheres = Spheres::new(a, b);
    if spheres.apart() {
        return separated(if with_axes { spheres.axis() } else { [0.0; 3] });
    }
    let pair = Relative::new(supports, a, b, &spheres);
    match gjk(&pair, pair.offset, &pair.limits, |_, _| ()) {
        Outcome::Separated { axis } => separated(if with_axes { pair.world_axis(axis) } else { [0.0; 3] }),
        Outcome::Penetrating => Verdict { status: Some(Status::Penetrating), refined: false, axis: [0.0; 3] },
        Outcome::Near { simplex } => {
            let near = reach(&simplex) <= pair.limits.touching;
            refine(&pair, &simplex, near)
        }
    }
}

/// Kept out of the hot loop: its arrays are large and few pairs need it.
#[inline(never)]
fn refine(pair: &Relative<'_>, simplex: &super::gjk::Simplex<glam::Vec3>, near: bool) -> Verdict {
    let decided = |status| Verdict { status: Some(status), refined: true, axis: [0.0; 3] };
    match epa::<_, POLYTOPE_POINTS, POLYTOPE_FACES>(pair, simplex, near, &pair.limits) {
        Decision::Separated { axis } => {
            Verdict { status: Some(Status::Separated), refined: true, axis: pair.world_axis(axis) }
        }
        Decision::Touching => decided(Status::Touching),
        Decision::Penetrating => decided(Status::Penetrating),
        Decision::Undecided { .. } => Verdict { status: None, refined: true, axis: [0.0; 3] },
    }
}
