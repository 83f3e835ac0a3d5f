//! Rays next to where their answer changes: a kernel in f32 must know what it can't tell.
//!
//! A family of rays depends on one number. Bisection by the CPU engine, which the oracle judges elsewhere, finds where each ray's answer
//! changes, and both engines are asked a little to either side of that. So a bound of the kernel's errors that is too small gives a wrong row.

use glam::{DQuat, DVec3};
use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, BodyColumns, Hull, Options, Ray, RayColumns, RayHit, RayOptions, Raycast,
};
use hullfield_oracle::random::Random;
use hullfield_oracle::seed;

use crate::answers::engines;
use crate::ray::kinds;

/// A body and where it is.
#[derive(Clone)]
struct Target {
    body: Body,
    position: DVec3,
    /// The mean of its vertices, relative to its position, and how far it reaches from there.
    center: DVec3,
    size: f64,
}

/// A crowd of bodies far apart in their sizes, and rays about each of them.
struct Family {
    hulls: Vec<Hull>,
    targets: Vec<Target>,
    /// The ray of each number, without its start.
    rays: Vec<Ray>,
    /// The body of each ray.
    at: Vec<usize>,
    /// Where each ray starts, relative to its body's centre: at the first, moved by a number along the second.
    starts: Vec<[DVec3; 2]>,
    /// Whether bodies have positions in f32, which hold them.
    in_f32: bool,
}

/// `stretch` is the greatest ratio of two scales, `spacing` how far bodies are apart in their sizes.
fn targets(random: &mut Random, hulls: &[Hull], count: usize, stretch: f64, spacing: f64) -> Vec<Target> {
    let size = random.log_between(1e-3, 1e3);
    let row = |at: usize| {
        let hull = &hulls[at % hulls.len()];
        let even = at.is_multiple_of(2);
        let scales = [0; 3].map(|_| if even { 1.0 } else { random.log_between(1.0, stretch) });
        let largest = scales.iter().copied().fold(0.0, f64::max);
        let scale = scales.map(|x| (size * x / (largest * hull.radius().max(1e-3))) as f32);
        let body = Body { scale, rotation: random.rotation(), ..Body::new((at % hulls.len()) as u32) };
        let turn = DQuat::from_array(body.rotation.map(f64::from)).normalize();
        let scale = DVec3::from(scale.map(f64::from));
        let center = turn * (scale * DVec3::from(hull.mean()));
        let reach = hull
            .vertices()
            .iter()
            .map(|v| (scale * (DVec3::from(v.map(f64::from)) - DVec3::from(hull.mean()))).length());
        let size = reach.fold(0.0, f64::max) + f64::from(hull.rounding()) * scale.min_element();
        let place = [at % 5, at / 5 % 5, at / 25].map(|x| x as f64 + 0.3 * random.unit());
        Target { body, position: DVec3::from(place) * spacing * 2.0 * size.max(1e-9), center, size }
    };
    let all: Vec<Target> = (0..count).map(row).collect();
    // Points without rounding have no size.
    all.into_iter().filter(|target| target.size > 0.0).collect()
}

impl Family {
    fn arena(&self, engine: &Engine) -> Arena {
        Arena::new(engine, &self.hulls, Options::default()).unwrap()
    }

    /// The CPU engine's arena, and those of the other engines with their names.
    fn arenas(&self) -> (Arena, Vec<(&'static str, Arena)>) {
        let others = engines().into_iter().skip(1).map(|(name, engine)| (name, self.arena(&engine)));
        (self.arena(&Engine::cpu()), others.collect())
    }

    /// Calls `ask` with the bodies, and with each ray moved by its number.
    fn with_moved<T>(&self, moved: &[f64], ask: impl FnOnce(BodyColumns<'_>, RayColumns<'_>) -> T) -> T {
        let placed = |target: &Target| target.body.at(target.position.as_vec3().to_array());
        let bodies: Vec<Body> = self.targets.iter().map(placed).collect();
        let all = if self.in_f32 { &[][..] } else { &self.targets[..] };
        let positions: Vec<[f64; 3]> = all.iter().map(|target| target.position.to_array()).collect();
        let start = |((&[from, along], &at), &by): ((&[DVec3; 2], &usize), &f64)| {
            let Target { position, center, .. } = self.targets[at];
            (position + (center + from + along * by)).to_array()
        };
        let origins: Vec<[f64; 3]> = self.starts.iter().zip(&self.at).zip(moved).map(start).collect();
        let columns = BodyColumns { positions: &positions, ..BodyColumns::new(&bodies) };
        ask(columns, RayColumns { origins: &origins, ..RayColumns::new(&self.rays) })
    }

    /// The rows of an arena.
    fn ask(&self, arena: &Arena, moved: &[f64], options: &RayOptions) -> (Vec<Raycast>, Vec<bool>) {
        self.with_moved(moved, |bodies, rays| {
            let rows = arena.raycasts(bodies, rays, options).unwrap().wait().unwrap().rows;
            let any = arena.occlusions(bodies, rays, options).unwrap().wait().unwrap().rows;
            (rows, any.iter().map(|row| row.occluded).collect())
        })
    }

    /// Where the answer of each ray changes, between 0 and so many sizes of its body.
    fn changes(&self, most: f64, is: impl Fn(Option<RayHit>) -> bool) -> Vec<f64> {
        let arena = self.arena(&Engine::cpu());
        let sizes: Vec<f64> = self.at.iter().map(|&at| self.targets[at].size).collect();
        let (mut low, mut high) =
            (vec![0.0; sizes.len()], sizes.iter().map(|size| most * size).collect::<Vec<_>>());
        for _ in 0..48 {
            let middle: Vec<f64> = low.iter().zip(&high).map(|(a, b)| 0.5 * (a + b)).collect();
            let rows = self.with_moved(&middle, |bodies, rays| {
                arena.raycasts(bodies, rays, &RayOptions::default()).unwrap().wait().unwrap().rows
            });
            for (at, row) in rows.iter().enumerate() {
                (if is(row.hit) { &mut low } else { &mut high })[at] = middle[at];
            }
        }
        low
    }

    /// Asks every engine next to these places.
    fn compare(&self, random: &mut Random, places: &[f64], what: &str) {
        let (cpu, others) = self.arenas();
        for turn in 0..6 {
            let near = |(&place, &at): (&f64, &usize)| {
                let by = self.targets[at].size * random.log_between(1e-10, 1e-5);
                place + if random.chance(0.5) { by } else { -by }
            };
            let moved: Vec<f64> = places.iter().zip(&self.at).map(near).collect();
            for skip_start in [false, true] {
                let options = RayOptions { skip_start };
                let (rows, any) = self.ask(&cpu, &moved, &options);
                for (name, arena) in &others {
                    let (found, found_any) = self.ask(arena, &moved, &options);
                    for (at, row) in rows.iter().enumerate() {
                        let target = || &self.targets[self.at[at]];
                        assert_eq!(
                            found[at].hit,
                            row.hit,
                            "{what}, turn {turn}, {name}: ray {at} of a body of size {}, {:?}, hull {}",
                            target().size,
                            target().body.scale,
                            target().body.hull
                        );
                        assert_eq!(
                            found_any[at], any[at],
                            "{what}, turn {turn}, {name}: whether ray {at} hits"
                        );
                    }
                }
            }
        }
    }
}

/// A direction that matters to a body: any, or across one of its faces.
fn outward(random: &mut Random, hull: &Hull, target: &Target) -> DVec3 {
    let planes: Vec<DVec3> = hull.planes().map(|plane| DVec3::from(plane.normal)).collect();
    if planes.is_empty() || random.chance(0.5) {
        return random.direction();
    }
    let turn = DQuat::from_array(target.body.rotation.map(f64::from)).normalize();
    let scale = DVec3::from(target.body.scale.map(f64::from));
    (turn * (planes[random.below(planes.len())] / scale)).normalize()
}

/// A family of rays about bodies. A ray leads `along` and starts `away` sizes before the point next to the centre.
fn family(
    random: &mut Random,
    [stretch, spacing]: [f64; 2],
    away: impl Fn(&mut Random) -> f64,
    along: impl Fn(&mut Random, DVec3) -> DVec3,
) -> Family {
    let hulls: Vec<Hull> = kinds().into_iter().map(|(hull, _)| hull).collect();
    let targets = targets(random, &hulls, 2 * hulls.len(), stretch, spacing);
    let (mut rays, mut at, mut starts) = (Vec::new(), Vec::new(), Vec::new());
    for (number, target) in targets.iter().enumerate() {
        for _ in 0..24 {
            let out = outward(random, &hulls[target.body.hull as usize], target);
            let direction = along(random, out).as_vec3();
            let unit = direction.as_dvec3().normalize();
            let away = away(random) * target.size;
            rays.push(Ray::new([0.0; 3], direction.to_array()).up_to((away + 8.0 * target.size) as f32));
            at.push(number);
            starts.push([-unit * away, out]);
        }
    }
    Family { hulls, targets, rays, at, starts, in_f32: false }
}

/// Shapes of a scene: how stretched bodies are, and how far apart in their sizes.
const SCENES: [[f64; 2]; 4] = [[3.0, 40.0], [300.0, 40.0], [1e5, 40.0], [3.0, 1e9]];

#[test]
fn rays_that_just_hit_or_miss() {
    let mut random = Random::new(seed(841));
    for scene in SCENES {
        for (what, steepest) in [("across", 0.0), ("shallow", 1e-2)] {
            let made = family(
                &mut random,
                scene,
                |random| random.log_between(1.0, 6.0),
                |random, out| {
                    let tilt =
                        if steepest > 0.0 { random.sign() * random.log_between(1e-8, steepest) } else { 0.0 };
                    (out.cross(random.direction()).normalize() + out * tilt).normalize()
                },
            );
            let places = made.changes(3.0, |hit| hit.is_some());
            made.compare(&mut random, &places, &format!("{what} {scene:?}"));
        }
    }
}

/// Lines almost along an edge, or along the axis of a capsule.
#[test]
fn rays_along_edges_that_just_hit_or_miss() {
    let mut random = Random::new(seed(845));
    for scene in SCENES {
        let mut made = family(&mut random, scene, |_| 0.0, |random, _| random.direction());
        for at in 0..made.rays.len() {
            let target = &made.targets[made.at[at]];
            let hull = &made.hulls[target.body.hull as usize];
            let vertices = hull.vertices();
            let edges: Vec<[u32; 2]> = hull.edges().collect();
            if edges.is_empty() {
                continue;
            }
            let turn = DQuat::from_array(target.body.rotation.map(f64::from)).normalize();
            let [a, b] =
                edges[random.below(edges.len())].map(|v| DVec3::from(vertices[v as usize].map(f64::from)));
            let edge = turn * (DVec3::from(target.body.scale.map(f64::from)) * (b - a)).normalize();
            let tilt = random.direction() * random.log_between(1e-7, 0.4);
            let direction = (edge + tilt).normalize().as_vec3();
            made.rays[at].direction = direction.to_array();
            let unit = direction.as_dvec3().normalize();
            let out = unit.cross(random.direction()).normalize();
            made.starts[at] = [-unit * target.size * random.log_between(1.0, 6.0), out];
        }
        let places = made.changes(3.0, |hit| hit.is_some());
        made.compare(&mut random, &places, &format!("along {scene:?}"));
    }
}

/// Bodies whose places f32 holds, so that their own have no error, and starts that the sum of two f32 does not hold.
#[test]
fn rays_that_start_where_two_floats_are_coarse() {
    let mut random = Random::new(seed(846));
    let hulls =
        [Hull::ball(1.0).unwrap(), Hull::cuboid([1.0; 3]).unwrap(), Hull::cuboid([1.0, 0.5, 0.25]).unwrap()];
    let (mut targets, mut rays, mut at, mut starts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for number in 0..27 {
        let hull = &hulls[number % 3];
        let place = [number % 3, number / 3 % 3, number / 9].map(|x| (x as f64 - 1.0) * 2_f64.powi(37));
        let body = Body::new(number as u32 % 3).rotated(random.rotation());
        let size = hull.radius() + f64::from(hull.rounding());
        targets.push(Target { body, position: DVec3::from(place), center: DVec3::ZERO, size });
        for _ in 0..40 {
            let unit = random.direction().as_vec3();
            rays.push(Ray::new([0.0; 3], unit.to_array()).up_to(20.0));
            at.push(number);
            starts.push([-unit.as_dvec3() * 3.0, unit.as_dvec3().cross(random.direction()).normalize()]);
        }
    }
    let made = Family { hulls: hulls.to_vec(), targets, rays, at, starts, in_f32: true };
    let places = made.changes(3.0, |hit| hit.is_some());
    let (cpu, others) = made.arenas();
    for by in [0.0, 1e-4, -1e-4, 3e-4, -3e-4, 1e-3, -1e-3] {
        let moved: Vec<f64> = places.iter().map(|place| place + by).collect();
        let expected = made.ask(&cpu, &moved, &RayOptions::default());
        for (name, arena) in &others {
            assert!(made.ask(arena, &moved, &RayOptions::default()) == expected, "{name}, {by}");
        }
    }
}

/// Over 1e18 a component of 5e-19 leads to a body or past it.
#[test]
fn components_that_a_device_may_not_know_count() {
    for (name, engine) in engines() {
        let arena = Arena::new(&engine, &[Hull::ball(0.3).unwrap()], Options::default()).unwrap();
        for sign in [1.0_f32, -1.0] {
            let body = [Body::new(0).at([1e18, sign * 0.5, 0.0])];
            let rays = [5e-19, -5e-19, 3e-25, 0.0].map(|slope| Ray::new([0.0; 3], [1.0, sign * slope, 0.0]));
            let found = arena.raycasts(&body, &rays, &RayOptions::default()).unwrap().wait().unwrap();
            let hits: Vec<bool> = found.rows.iter().map(|row| row.hit.is_some()).collect();
            assert_eq!(hits, [true, false, false, false], "{name}, {sign}");
        }
    }
}

#[test]
fn rays_that_just_start_in_a_body_or_not() {
    let mut random = Random::new(seed(842));
    for scene in SCENES {
        let made = family(
            &mut random,
            scene,
            |_| 0.0,
            |random, out| (random.direction() + out * random.unit()).normalize(),
        );
        let places = made.changes(3.0, |hit| hit.is_some_and(|hit| hit.normal.is_none()));
        made.compare(&mut random, &places, &format!("start {scene:?}"));
    }
}

/// Rays that enter by the flat part of a face, most of them at a shallow angle.
fn at_faces(random: &mut Random, scene: [f64; 2]) -> Family {
    let mut made = family(random, scene, |_| 0.0, |random, _| random.direction());
    for at in 0..made.rays.len() {
        let target = &made.targets[made.at[at]];
        let hull = &made.hulls[target.body.hull as usize];
        let triangles: Vec<[u32; 3]> = hull.triangles().collect();
        if triangles.is_empty() {
            continue;
        }
        let turn = DQuat::from_array(target.body.rotation.map(f64::from)).normalize();
        let scale = DVec3::from(target.body.scale.map(f64::from));
        let mean = DVec3::from(hull.mean());
        let placed =
            |v: u32| turn * (scale * (DVec3::from(hull.vertices()[v as usize].map(f64::from)) - mean));
        let corners = triangles[random.below(triangles.len())].map(placed);
        let middle = corners.iter().sum::<DVec3>() / 3.0;
        let on_face = middle.lerp(corners[random.below(3)], 0.8 * random.unit());
        let Some(normal) = (corners[1] - corners[0]).cross(corners[2] - corners[0]).try_normalize() else {
            continue;
        };
        let out = if normal.dot(middle) < 0.0 { -normal } else { normal };
        let top = on_face + out * f64::from(hull.rounding()) * scale.min_element();
        let tilt = random.log_between(1e-5, 3.0);
        let direction = (out.cross(random.direction()).normalize() - out * tilt).normalize().as_vec3();
        made.rays[at].direction = direction.to_array();
        let unit = direction.as_dvec3().normalize();
        made.starts[at] = [top - unit * target.size * random.log_between(0.3, 3.0), out];
    }
    made
}

/// The end is an f32, so it is the distance as computed or one of its neighbours.
#[test]
fn rays_that_just_reach_a_body_or_not() {
    let mut random = Random::new(seed(843));
    for (scene, faces) in SCENES.into_iter().flat_map(|scene| [(scene, false), (scene, true)]) {
        let along = |random: &mut Random, out: DVec3| {
            let tilt = random.log_between(1e-6, 3.0);
            (out.cross(random.direction()).normalize() - out * tilt).normalize()
        };
        let mut made = match faces {
            true => at_faces(&mut random, scene),
            false => family(&mut random, scene, |random| random.log_between(0.5, 3.0), along),
        };
        let part = if faces { 0.0 } else { 0.9 };
        let moved: Vec<f64> =
            made.at.iter().map(|&at| part * made.targets[at].size * random.unit()).collect();
        let (cpu, others) = made.arenas();
        let (rows, _) = made.ask(&cpu, &moved, &RayOptions::default());
        let ways: Vec<Option<f64>> = rows.iter().map(|row| row.hit.map(|hit| hit.distance)).collect();
        assert!(ways.iter().flatten().filter(|&&way| way > 0.0).count() > 100);
        for _ in 0..6 {
            for (ray, way) in made.rays.iter_mut().zip(&ways) {
                let Some(way) = way else { continue };
                // By some units in the last place, or by a share.
                let share = random.sign() * random.log_between(1e-8, 1e-3);
                ray.max_distance =
                    if random.chance(0.5) { (way * (1.0 + share)) as f32 } else { *way as f32 };
                for _ in 0..random.below(8) {
                    let end = ray.max_distance;
                    ray.max_distance =
                        if random.chance(0.5) { end.next_up() } else { end.next_down().max(0.0) };
                }
            }
            for skip_start in [false, true] {
                let options = RayOptions { skip_start };
                let expected = made.ask(&cpu, &moved, &options);
                for (name, arena) in &others {
                    let found = made.ask(arena, &moved, &options);
                    assert!(found == expected, "{name}, {scene:?}");
                }
            }
        }
    }
}

/// Two bodies that a ray enters at about the same distance: the second is moved along the ray to where the first is entered.
#[test]
fn rays_that_hit_either_of_two_bodies_first() {
    let mut random = Random::new(seed(844));
    let mut seen = [0; 2];
    for scene in SCENES {
        let along = |random: &mut Random, out: DVec3| {
            let tilt = random.log_between(1e-4, 3.0);
            (out.cross(random.direction()).normalize() - out * tilt).normalize()
        };
        let mut made = family(&mut random, scene, |random| random.log_between(1.5, 3.0), along);
        // One ray a body.
        let count = made.targets.len();
        let keep: Vec<usize> = (0..made.rays.len()).step_by(24).collect();
        made.rays = keep.iter().map(|&at| Ray { max_distance: f32::INFINITY, ..made.rays[at] }).collect();
        made.starts = keep.iter().map(|&at| made.starts[at]).collect();
        made.at = keep.iter().map(|&at| made.at[at]).collect();
        let moved: Vec<f64> = made.at.iter().map(|&at| 0.4 * made.targets[at].size * random.unit()).collect();
        // The families below have the same hulls.
        let (cpu, others) = made.arenas();
        let firsts = made.ask(&cpu, &moved, &RayOptions::default()).0;
        // The partner of each is another body, as large, about the same line.
        let mut partners = made.targets.clone();
        partners.rotate_left(7);
        for (at, partner) in partners.iter_mut().enumerate() {
            let own = &made.targets[at];
            let scale = own.size / partner.size;
            partner.body.scale = partner.body.scale.map(|x| (f64::from(x) * scale) as f32);
            partner.center *= scale;
            partner.size = own.size;
            partner.position =
                own.position + own.center - partner.center + 0.2 * own.size * random.direction();
        }
        let alone = Family {
            hulls: made.hulls.clone(),
            targets: partners.clone(),
            rays: made.rays.clone(),
            at: made.at.clone(),
            starts: (0..count)
                .map(|at| {
                    let [from, out] = made.starts[at];
                    let (own, partner) = (&made.targets[at], &partners[at]);
                    [from + own.position + own.center - partner.position - partner.center, out]
                })
                .collect(),
            in_f32: false,
        };
        let seconds = alone.ask(&cpu, &moved, &RayOptions::default()).0;
        let way = |row: &Raycast, at: usize, lengths: f64| {
            row.hit
                .filter(|hit| hit.body as usize == at && hit.distance > 0.0 && hit.distance < lengths)
                .map(|hit| hit.distance)
        };
        let both: Vec<(usize, f64)> = (0..count)
            .filter_map(|at| {
                let most = 20.0 * made.targets[at].size;
                Some((at, way(&firsts[at], at, most)? - way(&seconds[at], at, most)?))
            })
            .collect();
        for _ in 0..60 {
            let mut pairs = Family {
                hulls: made.hulls.clone(),
                targets: made.targets.clone(),
                rays: made.rays.clone(),
                at: made.at.clone(),
                starts: made.starts.clone(),
                in_f32: false,
            };
            for &(at, way) in &both {
                let unit = DVec3::from(made.rays[at].direction.map(f64::from)).normalize();
                let size = made.targets[at].size;
                let by = way + size * random.sign() * random.log_between(1e-9, 1e-5);
                let partner = &partners[at];
                pairs.targets.push(Target { position: partner.position + unit * by, ..partner.clone() });
            }
            let expected = pairs.ask(&cpu, &moved, &RayOptions::default());
            for (name, arena) in &others {
                let found = pairs.ask(arena, &moved, &RayOptions::default());
                for (row, right) in found.0.iter().zip(&expected.0) {
                    assert_eq!(row, right, "{name}, {scene:?}");
                }
            }
            for &(at, _) in &both {
                let first = expected.0[at].hit.is_some_and(|hit| hit.body as usize == at);
                seen[usize::from(first)] += 1;
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 500), "{seen:?}");
}
