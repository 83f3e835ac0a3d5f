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
    /// The row of a pair with this verdict; one without counts as touching until it is settled.
    pub(crate) fn row(&self, a: u32, b: u32) -> Intersection {
        let status = self.status.unwrap_or(Status::Touching);
        Intersection { a, b, status, axis: (status == Status::Separated).then_some(self.axis) }
    }

    const UNSETTLED: Self = Self { status: None, refined: true, axis: [0.0; 3] };
}

/// Gives the verdict for each of `pairs`, in order.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn narrow(supports: &Supports, placed: &[Placed], pairs: &[[u32; 2]], out: &mut Vec<Verdict>) {
    for &[a, b] in pairs {
        out.push(verdict(supports, &placed[a as usize], &placed[b as usize]));
    }
}

#[inline(always)]
fn verdict(supports: &Supports, a: &Placed, b: &Placed) -> Verdict {
    let separated = |axis| Verdict { status: Some(Status::Separated), refined: false, axis };
    let spheres = Spheres::new(a, b);
    if let Some(axis) = spheres.apart() {
        return separated(axis);
    }
    let pair = Relative::new(supports, a, b, &spheres);
    match gjk(&pair, pair.offset, &pair.limits, |_, _| ()) {
        Outcome::Separated { axis } => separated(pair.world_axis(axis)),
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
        Decision::Undecided => Verdict::UNSETTLED,
    }
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;
    use crate::collide::exact::settle;
    use crate::collide::{Body, Hull};

    struct Random(u64);

    impl Random {
        fn unit(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 33) as f64) / f64::from(1_u32 << 31)
        }
        fn vector(&mut self) -> DVec3 {
            loop {
                let v = DVec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - 1.0;
                if v.length_squared() <= 1.0 && v.length_squared() > 0.01 {
                    return v.normalize();
                }
            }
        }
        fn rotation(&mut self) -> [f32; 4] {
            let v = self.vector();
            DQuat::from_axis_angle(v, self.unit() * 6.0).as_quat().to_array()
        }
    }

    #[test]
    fn quick_look() {
        let mut random = Random(5);
        let mut hulls = Vec::new();
        for n in [1usize, 2, 3, 4, 5, 8, 12, 20, 32, 64, 200, 512] {
            for squash in [[1.0, 1.0, 1.0], [1.0, 1.0, 1e-5], [1.0, 1e-3, 1e-3], [1.0, 0.5, 0.0]] {
                let points: Vec<[f32; 3]> =
                    (0..n).map(|_| (random.vector() * DVec3::from(squash)).as_vec3().to_array()).collect();
                hulls.push(Hull::from_points(&points).unwrap());
            }
        }
        for half in [[1.0f32, 1.0, 1.0], [1.0, 0.2, 0.1]] {
            let points: Vec<[f32; 3]> = (0..8)
                .map(|i| [0, 1, 2].map(|axis| if i >> axis & 1 == 0 { -half[axis] } else { half[axis] }))
                .collect();
            for _ in 0..8 {
                hulls.push(Hull::from_points(&points).unwrap());
            }
        }
        let supports = Supports::new(&hulls).unwrap();
        let mut counts = [0usize; 8];
        for ratio in [1.0f32, 10.0, 1000.0] {
            for round in 0..40000 {
                let h = [0, 1].map(|_| (random.unit() * hulls.len() as f64) as u32);
                let common = random.rotation();
                let aligned = round % 4 == 0;
                let mut a = Body::new(h[0]).rotated(if aligned { common } else { random.rotation() });
                let mut b =
                    Body::new(h[1]).rotated(if aligned { common } else { random.rotation() }).scaled(ratio);
                let rel = random.vector() * random.unit() * 2.0 * f64::from(ratio);
                b.position = rel.as_vec3().to_array();
                if round % 2 == 0 {
                    // bisect along the line to a gap near zero
                    let (mut lo, mut hi) = (0.0f64, 3.0 + 3.0 * f64::from(ratio));
                    let dir = if aligned && round % 8 == 0 {
                        DQuat::from_array(common.map(f64::from)) * DVec3::X
                    } else {
                        random.vector()
                    };
                    for _ in 0..60 {
                        let mid = 0.5 * (lo + hi);
                        b.position = (dir * mid).as_vec3().to_array();
                        if settle(&hulls, &a, &b).status == Status::Separated { hi = mid } else { lo = mid }
                    }
                    let sign = if random.unit() < 0.5 { -1.0 } else { 1.0 };
                    let gap = sign * 10f64.powf(-7.0 + 7.0 * random.unit());
                    b.position = (dir * (hi + gap)).as_vec3().to_array();
                }
                a.position = [0.0; 3];
                let packed = [a.pack(0, &supports).unwrap(), b.pack(1, &supports).unwrap()];
                let placed = [
                    Placed::new(&a, packed[0].radius, &supports),
                    Placed::new(&b, packed[1].radius, &supports),
                ];
                let mut out = Vec::new();
                narrow(&supports, &placed, &[[0, 1]], &mut out);
                let truth = settle(&hulls, &a, &b);
                counts[0] += 1;
                match out[0].status {
                    None => counts[1] += 1,
                    Some(s) => {
                        if out[0].refined {
                            counts[2] += 1;
                        }
                        if s != truth.status {
                            counts[3] += 1;
                            if s != Status::Touching && truth.status != Status::Touching {
                                counts[4] += 1;
                                println!("{s:?} {truth:?} {a:?} {b:?}");
                            }
                        }
                    }
                }
            }
            println!("total, unsettled, refined, differ, wrong {counts:?}");
        }
    }
}
