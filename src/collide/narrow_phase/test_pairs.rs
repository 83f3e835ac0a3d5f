//! Seeded pairs that are hard on GJK and EPA, for the tests of private functions.
//!
//! The tests in `tests/collide` use scenes of the oracle instead. That crate is not published, so these do without it.

use glam::DVec3;

use crate::collide::gjk::pose::{ExactRelative, Placement};
use crate::collide::hull::Hull;
use crate::collide::narrow_phase::exact;
use crate::collide::scene::body::Body;
use crate::collide::scene::bounds::tests::Random;

/// Body `2 k` and body `2 k + 1` are a pair.
pub(crate) struct TestPairs {
    pub(crate) name: &'static str,
    pub(crate) hulls: Vec<Hull>,
    pub(crate) bodies: Vec<Body>,
}

impl TestPairs {
    pub(crate) fn pairs(&self) -> Vec<[u32; 2]> {
        (0..self.bodies.len() as u32 / 2).map(|k| [2 * k, 2 * k + 1]).collect()
    }
}

/// Solids of 6 to 40 points: in a ball, on a sphere, and on a lattice, which makes parallel faces.
fn solids(random: &mut Random, count: usize) -> Vec<Hull> {
    let mut hulls = Vec::new();
    while hulls.len() < count {
        let point_count = 6 + (random.bits() % 35) as usize;
        let kind = hulls.len() % 3;
        let points: Vec<[f32; 3]> = (0..point_count)
            .map(|_| {
                let point = [0; 3].map(|_| random.signed());
                let length = point.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-3);
                match kind {
                    0 => point,
                    1 => point.map(|x| x / length),
                    _ => point.map(|x| (2.0 * x).round()),
                }
            })
            .collect();
        let hull = Hull::from_points(&points).unwrap();
        if hull.dimension() == crate::collide::hull::Dimension::Solid {
            hulls.push(hull);
        }
    }
    hulls
}

/// Pairs whose gap is near zero, scaled unequally by up to `stretch`.
fn near(name: &'static str, count: usize, stretch: f32, seed: u64) -> TestPairs {
    let mut random = Random(seed);
    let hulls = solids(&mut random, 48);
    let mut bodies = Vec::with_capacity(2 * count);
    for k in 0..count {
        let mut pair = [0; 2].map(|_| Body {
            scale: [0; 3].map(|_| random.log(1.0 / stretch, stretch)),
            ..Body::new((random.bits() % 48) as u32).rotated(random.rotation())
        });
        let size = f64::from(stretch);
        let wanted = size * [0.0, 1e-6, 1e-5, 1e-3, 1e-1][k % 5] * f64::from(random.signed());
        let mut offset = DVec3::from([0; 3].map(|_| size * f64::from(random.signed())));
        for _ in 0..4 {
            pair[1].position = offset.as_vec3().to_array();
            let measured = exact::measure(&hulls, (&pair[..]).into(), [0, 1]);
            offset += measured.normal * (wanted - measured.gap);
        }
        pair[1].position = offset.as_vec3().to_array();
        bodies.extend(pair);
    }
    TestPairs { name, hulls, bodies }
}

/// Boxes that lie face to face, some with no gap at all, turned alike.
fn face_to_face(count: usize, seed: u64) -> TestPairs {
    let mut random = Random(seed);
    let hulls = vec![Hull::cuboid([0.5; 3]).unwrap()];
    let mut bodies = Vec::with_capacity(2 * count);
    for k in 0..count {
        let rotation = if k % 4 == 0 { [0.0, 0.0, 0.0, 1.0] } else { random.rotation() };
        let gap = [0.0, 1e-6, -1e-6, 1e-4, -1e-4, -1e-2][k % 6];
        let aside = [0; 2].map(|_| if k % 3 == 0 { 0.0 } else { f64::from(random.signed()) });
        let turn = glam::DQuat::from_array(rotation.map(f64::from)).normalize();
        let position = (turn * DVec3::new(aside[0], 1.0 + gap, aside[1])).as_vec3().to_array();
        bodies.push(Body::new(0).rotated(rotation));
        bodies.push(Body::new(0).rotated(rotation).at(position));
    }
    TestPairs { name: "face to face", hulls, bodies }
}

/// Small boxes inside of large ones, turned alike: several faces are equally deep.
fn box_in_box(count: usize, seed: u64) -> TestPairs {
    let mut random = Random(seed);
    let hulls = vec![Hull::cuboid([1.0; 3]).unwrap()];
    let mut bodies = Vec::with_capacity(2 * count);
    for k in 0..count {
        let rotation = if k % 2 == 0 { [0.0, 0.0, 0.0, 1.0] } else { random.rotation() };
        let position = if k % 5 == 0 { [0.0; 3] } else { [0; 3].map(|_| 0.5 * random.signed()) };
        bodies.push(Body::new(0).rotated(rotation));
        bodies.push(Body::new(0).rotated(rotation).at(position).scaled(random.log(0.05, 0.5)));
    }
    TestPairs { name: "box in box", hulls, bodies }
}

/// A body and its copy at the same place, or moved by a thousandth or a ten-millionth.
fn coincident(count: usize, seed: u64) -> TestPairs {
    let mut random = Random(seed);
    let hulls = solids(&mut random, count);
    let mut bodies = Vec::with_capacity(2 * count);
    for k in 0..count {
        let body = Body::new(k as u32).rotated(random.rotation());
        let by = [0.0, 1e-3, 1e-7][k % 3];
        bodies.push(body);
        bodies.push(body.at([0; 3].map(|_| by * random.signed())));
    }
    TestPairs { name: "coincident", hulls, bodies }
}

/// Pairs of all kinds, `count` of each.
pub(crate) fn all_kinds(count: usize, stretch: f32) -> Vec<TestPairs> {
    vec![
        near("near", count, 1.0, 91),
        near("stretched", count, stretch, 92),
        face_to_face(count, 93),
        box_in_box(count, 94),
        coincident(count, 95),
    ]
}

/// The signed gap of two overlapping solids in the pair's unit, by brute force: the largest separation along a face normal of
/// either hull or a cross product of two edges (Gottschalk 1996). Of hulls that are apart it is a lower bound.
pub(crate) fn gap_by_separating_axes(hulls: &[Hull], a: &Body, b: &Body) -> f64 {
    use crate::collide::gjk::verdict::Difference;
    let pair = ExactRelative::new(hulls, a, b);
    let sides = [a, b].map(|body| {
        let hull = &hulls[body.hull as usize];
        let Placement { rotation, scale, .. } = Placement::new(hull, body);
        let normals: Vec<DVec3> =
            hull.planes().map(|plane| rotation * (DVec3::from(plane.normal) / scale)).collect();
        let vertex = |v: u32| DVec3::from(hull.vertices()[v as usize].map(f64::from));
        let edges: Vec<DVec3> =
            hull.edges().map(|[v, w]| rotation * (scale * (vertex(w) - vertex(v)))).collect();
        (normals, edges)
    });
    let [(normals_a, edges_a), (normals_b, edges_b)] = &sides;
    let crossed = edges_a.iter().flat_map(|e| edges_b.iter().map(move |f| e.cross(*f)));
    let mut best = f64::NEG_INFINITY;
    for axis in normals_a.iter().chain(normals_b).copied().chain(crossed) {
        let Some(axis) = axis.try_normalize() else { continue };
        for axis in [axis, -axis] {
            best = best.max(-axis.dot(pair.support(axis)));
        }
    }
    best
}
