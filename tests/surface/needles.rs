//! Needle triangles, as in CAD meshes: ten thousand to ten million times as long as wide. Paths over them are compared with lengths in
//! closed form.

use std::f64::consts::{PI, TAU};

use hullfield::navigate::surface::{Method as SurfaceMethod, Model, Options as SurfaceOptions, Surface};
use hullfield_oracle::extent;
use hullfield_oracle::random::Random;

use crate::models::OnSurface as _;
use crate::models::check::{Checks, Point, checked, distance};

/// Places along a rail from 0 to 1: some far apart, some in clusters as narrow as 1e-11.
fn places(random: &mut Random, count: usize) -> Vec<f64> {
    let mut places = vec![0.0, 1.0];
    while places.len() < count {
        let at = random.unit();
        places.push(at);
        while random.unit() < 0.4 {
            let beside = at + 10f64.powf(-11.0 + 8.0 * random.unit());
            places.extend((beside < 1.0).then_some(beside));
        }
    }
    places.sort_unstable_by(f64::total_cmp);
    places.dedup_by(|a, b| *a - *b < 1e-11);
    *places.last_mut().unwrap() = 1.0;
    places
}

/// Triangulates the strips between neighbouring rails, each given by its points' indices and their positions along it, from 0 to 1. Where
/// two rails begin in one point, `is_flat` allows triangles without area along one of them.
fn stitch(rails: &[Vec<(u32, f64)>], is_flat: bool, random: &mut Random) -> Vec<[u32; 3]> {
    let mut triangles = Vec::new();
    for pair in rails.windows(2) {
        let (left, right) = (&pair[0], &pair[1]);
        let (mut i, mut j) = (0, 0);
        if left[0].0 == right[0].0 && !is_flat {
            triangles.push([left[0].0, right[1].0, left[1].0]);
            (i, j) = (1, 1);
        }
        while i + 1 < left.len() || j + 1 < right.len() {
            let to_left = match (left.get(i + 1), right.get(j + 1)) {
                (Some(a), Some(b)) => a.1 < b.1 || (a.1 == b.1 && random.unit() < 0.5),
                (next, _) => next.is_some(),
            };
            let third = if to_left { left[i + 1].0 } else { right[j + 1].0 };
            triangles.push([left[i].0, right[j].0, third]);
            if to_left { i += 1 } else { j += 1 }
        }
    }
    triangles
}

/// Rotates about a general axis, and moves.
fn turned([x, y, z]: Point, off: f64) -> Point {
    let (sin, cos) = 0.7f64.sin_cos();
    let [x, y] = [cos * x - sin * y, sin * x + cos * y];
    let (sin, cos) = 1.1f64.sin_cos();
    let [y, z] = [cos * y - sin * z, sin * y + cos * z];
    [x + off, y - 0.3 * off, z + 0.1 * off]
}

/// Compares each query with its true length: by the exact method, in both directions and through a field, and by the default method.
fn check(name: &str, model: Model, scale: f64, queries: &[([Point; 2], f64)]) {
    let surface = Surface::new(&[model], SurfaceOptions::default()).unwrap();
    let points: Vec<Point> = surface.vertices().collect();
    let is_slim = |t: &&[u32; 3]| {
        let sides = [0, 1, 2].map(|k| distance(points[t[k] as usize], points[t[(k + 1) % 3] as usize]));
        sides.iter().any(|&long| sides.iter().any(|&short| long > 1e4 * short))
    };
    let slim = surface.triangles().iter().filter(is_slim).count();
    assert!(10 * slim > surface.triangles().len(), "{name}: {slim} needles");
    let checks = Checks::new(&surface);
    for (i, &([from, to], truth)) in queries.iter().enumerate() {
        // Coordinates are rounded.
        let slack = 1e-9 * truth + 1e-14 * scale;
        let field = surface.field(from).unwrap();
        let mut found = vec![("field", field.path(to).unwrap())];
        for (what, method, ends) in [
            ("exact", SurfaceMethod::Exact, [from, to]),
            ("exact, back", SurfaceMethod::Exact, [to, from]),
            ("near", SurfaceMethod::Geodesic { tolerance: f64::INFINITY }, [from, to]),
            ("promised", SurfaceMethod::default(), [from, to]),
            ("funnel", SurfaceMethod::Funnel, [from, to]),
        ] {
            found.push((what, surface.path(ends[0], ends[1], &method.into()).unwrap()));
        }
        for (what, path) in &found {
            let length = checks.checked(path, scale);
            assert!(length >= truth - slack, "{name} {i}, {what}: {length} < {truth}");
            let most = match *what {
                "near" | "funnel" => f64::INFINITY,
                "promised" => 1.001 * truth,
                _ => truth,
            };
            assert!(length <= most + slack, "{name} {i}, {what}: {length} > {truth}");
        }
        let told = field.distance(to).unwrap().unwrap();
        assert!((told - truth).abs() <= slack, "{name} {i}: {told} {truth}");
    }
}

/// A random point of the triangles: a vertex, on an edge, or inside.
fn somewhere(points: &[Point], triangles: &[[u32; 3]], random: &mut Random) -> Point {
    let triangle = triangles[(random.unit() * triangles.len() as f64) as usize].map(|v| points[v as usize]);
    let [u, v] = match (3.0 * random.unit()) as u32 {
        0 => [0.0, 0.0],
        1 => [random.unit(), 0.0],
        _ => {
            let [u, v] = [random.unit(), random.unit()];
            if u + v > 1.0 { [1.0 - u, 1.0 - v] } else { [u, v] }
        }
    };
    std::array::from_fn(|k| (1.0 - u - v) * triangle[0][k] + u * triangle[1][k] + v * triangle[2][k])
}

/// A sheet, 1 wide and `width` long, with rails across it, some of them 1e-11 apart: its points in the plane, and its triangles.
fn sheet(width: f64, folds: &[f64], random: &mut Random) -> (Vec<[f64; 2]>, Vec<[u32; 3]>) {
    let mut across: Vec<f64> = places(random, 12).into_iter().map(|at| at * width).collect();
    across.retain(|at| folds.iter().all(|fold| (at - fold).abs() > 1e-11));
    across.extend(folds);
    across.sort_unstable_by(f64::total_cmp);
    let mut points = Vec::new();
    let mut rails = Vec::new();
    for x in across {
        let rail = places(random, 14).into_iter().map(|y| {
            points.push([x, y]);
            (points.len() as u32 - 1, y)
        });
        rails.push(rail.collect());
    }
    (points, stitch(&rails, false, random))
}

/// On a flat sheet paths are straight lines, along its edges too.
#[test]
fn paths_over_flat_sheets_of_needles() {
    for seed in 1..=12 {
        let mut random = Random::xorshift(seed);
        let (places, triangles) = sheet(2.0, &[], &mut random);
        let off = if seed % 3 == 0 { 1e3 } else { 0.0 };
        let points: Vec<Point> = places.iter().map(|&[x, y]| turned([x, y, 0.0], off)).collect();
        let mut queries: Vec<[Point; 2]> =
            (0..20).map(|_| [0, 1].map(|_| somewhere(&points, &triangles, &mut random))).collect();
        // From vertex to vertex along the edges of one rail.
        for _ in 0..20 {
            let from = (random.unit() * points.len() as f64) as usize;
            let beside = |to: &usize| places[*to][0] == places[from][0] && *to != from;
            let along: Vec<usize> = (0..points.len()).filter(beside).collect();
            queries.push([points[from], points[along[(random.unit() * along.len() as f64) as usize]]]);
        }
        let queries: Vec<_> = queries.into_iter().map(|ends| (ends, distance(ends[0], ends[1]))).collect();
        check(&format!("sheet {seed}"), Model::triangles(points, &triangles), 2.0 + off, &queries);
    }
}

/// Rays and moves over flat sheets of needles go straight on, up to the boundary.
#[test]
fn rays_and_moves_over_flat_sheets_of_needles() {
    let mut at_rim = 0;
    for seed in 1..=12 {
        let mut random = Random::xorshift(seed + 50);
        let (places, triangles) = sheet(2.0, &[], &mut random);
        let points: Vec<Point> = places.iter().map(|&[x, y]| turned([x, y, 0.0], 0.0)).collect();
        let surface =
            Surface::new(&[Model::triangles(points, &triangles)], SurfaceOptions::default()).unwrap();
        for query in 0..60 {
            let from = [2.0 * random.unit(), random.unit()];
            let turn = TAU * random.unit();
            let way = [turn.cos(), turn.sin()];
            let wanted = 1.5 * random.unit();
            // How far away the boundary is.
            let room = [0, 1].map(|k| {
                let most = [2.0, 1.0][k];
                if way[k] > 0.0 { (most - from[k]) / way[k] } else { -from[k] / way[k] }
            });
            let length = wanted.min(room[0]).min(room[1]);
            let [start, end, ahead] = [
                turned([from[0], from[1], 0.0], 0.0),
                turned([from[0] + length * way[0], from[1] + length * way[1], 0.0], 0.0),
                turned([way[0], way[1], 0.0], 0.0),
            ];
            let hit = surface.raycast(start, ahead, wanted).unwrap().unwrap();
            assert!((hit.distance - length).abs() < 1e-12, "{seed} {query}: {} {length}", hit.distance);
            assert!(distance(hit.point, end) < 1e-12, "{seed} {query}: {:?} {end:?}", hit.point);
            assert_eq!(hit.wall.is_some(), length < wanted, "{seed} {query}");
            at_rim += usize::from(hit.wall.is_some());
            if length == wanted {
                let moved = surface.move_along(start, ahead.map(|part| part * wanted)).unwrap().unwrap();
                assert!(
                    distance(moved.position, end) < 1e-12,
                    "{seed} {query}: {:?} {end:?}",
                    moved.position
                );
            }
        }
    }
    assert!(at_rim > 200, "{at_rim}");
}

/// A sheet folded into a closed prism of four unequal sides: paths lead straight around it, either way.
#[test]
fn paths_around_prisms_of_needles() {
    let corners = [[0.0, 0.0], [1.2, 0.0], [1.2, 0.5], [0.2, 0.7]];
    let mut starts = vec![0.0];
    for k in 0..4 {
        let ([x, y], [u, v]): ([f64; 2], [f64; 2]) = (corners[k], corners[(k + 1) % 4]);
        starts.push(starts[k] + (u - x).hypot(v - y));
    }
    let around = starts[4];
    let fold = |[along, up]: [f64; 2]| {
        let k = (0..3).rev().find(|&k| along >= starts[k]).unwrap();
        let k = if along >= starts[3] { 3 } else { k };
        let part = (along - starts[k]) / (starts[k + 1] - starts[k]);
        let ([x, y], [u, v]) = (corners[k], corners[(k + 1) % 4]);
        [x + part * (u - x), y + part * (v - y), up]
    };
    for seed in 1..=8 {
        let mut random = Random::xorshift(seed + 100);
        let (places, mut triangles) = sheet(around, &starts[1..4], &mut random);
        // The last rail is the first: its points replace the other's, and the strip before it is triangulated again.
        let first: Vec<u32> = (0..places.len() as u32).filter(|&v| places[v as usize][0] == 0.0).collect();
        let last: Vec<u32> = (0..places.len() as u32).filter(|&v| places[v as usize][0] == around).collect();
        let before = places[last[0] as usize - 1][0];
        triangles.retain(|t| !t.iter().any(|v| last.contains(v)));
        let rail = |of: &[u32]| of.iter().map(|&v| (v, places[v as usize][1])).collect::<Vec<_>>();
        let beside: Vec<u32> =
            (0..places.len() as u32).filter(|&v| places[v as usize][0] == before).collect();
        triangles.extend(stitch(&[rail(&beside), rail(&first)], false, &mut random));
        let points: Vec<Point> = places.iter().map(|&at| turned(fold(at), 0.0)).collect();
        let flat = |random: &mut Random| {
            let inner = (random.unit() * (triangles.len() - 40) as f64) as usize;
            let corners = triangles[inner].map(|v| places[v as usize]);
            let [u, v] = [random.unit(), 0.0];
            let place: [f64; 2] = std::array::from_fn(|k| {
                (1.0 - u - v) * corners[0][k] + u * corners[1][k] + v * corners[2][k]
            });
            place
        };
        let queries: Vec<([Point; 2], f64)> = (0..30)
            .map(|_| {
                let [a, b] = [0, 1].map(|_| flat(&mut random));
                let apart = (a[0] - b[0]).abs();
                ([a, b].map(|at| turned(fold(at), 0.0)), apart.min(around - apart).hypot(a[1] - b[1]))
            })
            .collect();
        check(&format!("prism {seed}"), Model::triangles(points, &triangles), 2.0, &queries);
    }
}

/// Needles around a tip, with less or more than a full turn: a path is straight when unfolded, or leads over the tip. Triangles without area
/// are included: earlier versions bent paths at the wrong ones of nearly collinear nodes, and put crossings of edges along a path too far
/// ahead.
#[test]
fn paths_around_cones_and_saddles_of_needles() {
    for (seed, is_flat) in
        (1..=extent(3, 8)).map(|seed| (seed, false)).chain([1, 5, 8, 21].map(|seed| (seed, true)))
    {
        let mut random = Random::xorshift(seed + 200);
        // The angle of each rail, some of them 1e-11 apart, and the angle of the whole surface.
        let whole = if seed % 2 == 0 { 4.2 } else { 7.9 };
        let mut turns: Vec<f64> = places(&mut random, 14).iter().map(|at| at * whole).collect();
        turns.pop();
        // No sector much wider than the others.
        turns.extend((1..24).map(|k| whole * f64::from(k) / 24.0));
        turns.sort_unstable_by(f64::total_cmp);
        turns.dedup_by(|a, b| *a - *b < 1e-11);
        // The rails' directions on a circular cone, or around a saddle, with the wanted angles between them.
        let count = turns.len();
        let sectors: Vec<f64> =
            (0..count).map(|k| turns.get(k + 1).copied().unwrap_or(whole) - turns[k]).collect();
        let directions = rails(&sectors);
        let mut points: Vec<Point> = vec![turned([0.0; 3], 0.0)];
        let mut flat = vec![[0.0, 0.0]];
        let mut all: Vec<Vec<(u32, f64)>> = Vec::new();
        for (direction, &turn) in directions.iter().zip(&turns) {
            let rail = places(&mut random, 14).into_iter().map(|r| {
                if r == 0.0 {
                    return (0, 0.0);
                }
                points.push(turned(direction.map(|part| part * r), 0.0));
                flat.push([turn, r]);
                (points.len() as u32 - 1, r)
            });
            all.push(rail.collect());
        }
        all.push(all[0].clone());
        let mut triangles = stitch(&all, is_flat, &mut random);
        triangles.retain(|t| t[0] != t[1]);
        let apart = |a: f64, b: f64| (a - b).abs().min(whole - (a - b).abs());
        let queries: Vec<([Point; 2], f64)> = (0..40)
            .map(|_| {
                let [a, b] = [0, 1].map(|_| (random.unit() * points.len() as f64) as usize);
                let ([turn, one], [other_turn, other]) = (flat[a], flat[b]);
                let angle = apart(turn, other_turn);
                let truth = if angle >= PI {
                    one + other
                } else {
                    // (one − other)² + 4 one other sin²(angle / 2): exact for small angles.
                    (one - other).hypot(2.0 * (one * other).sqrt() * (0.5 * angle).sin())
                };
                ([points[a], points[b]], truth)
            })
            .collect();
        let name = if is_flat { "flat cone" } else { "cone" };
        check(&format!("{name} {seed}"), Model::triangles(points, &triangles), 1.0, &queries);
    }
}

/// Unit vectors around the origin with given angles between neighbours: on a circular cone for less than a full turn, on a saddle for more.
fn rails(sectors: &[f64]) -> Vec<Point> {
    let direction = |turn: f64, rise: f64| {
        let lift = rise * (if rise < 0.0 { 1.0 } else { (3.0 * turn).cos() });
        [turn.cos() * lift.cos(), turn.sin() * lift.cos(), lift.sin()]
    };
    let angle = |a: Point, b: Point| 2.0 * (0.5 * distance(a, b)).asin();
    // The azimuth of the next one, so that the angle between them is as wanted.
    let around = |rise: f64| {
        let mut turns = vec![0.0f64];
        for &sector in sectors {
            let from = turns[turns.len() - 1];
            let (mut low, mut high) = (0.0, 4.0 * sector);
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                let here = angle(direction(from, rise), direction(from + middle, rise));
                if here < sector { low = middle } else { high = middle }
            }
            turns.push(from + high);
        }
        turns
    };
    let whole: f64 = sectors.iter().sum();
    // The steeper the saddle, the less azimuth it takes. Find the one that closes it.
    let (mut low, mut high) = if whole < TAU { (-1.5, 0.0) } else { (0.0, 1.2) };
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        let turn = around(middle)[sectors.len()];
        if turn > TAU { low = middle } else { high = middle }
    }
    let directions: Vec<Point> = around(high).iter().map(|&turn| direction(turn, high)).collect();
    for (pair, &sector) in directions.windows(2).zip(sectors) {
        let found = angle(pair[0], pair[1]);
        assert!((found - sector).abs() < 1e-14, "{found} {sector}");
    }
    assert!(distance(directions[0], directions[sectors.len()]) < 1e-14);
    directions[..sectors.len()].to_vec()
}

/// Lattices, with each cell cut along either diagonal. Straight paths to a vertex lead through other vertices, and rounding decides which
/// of two windows sees it. With even cells, and with rows and columns of any width.
#[test]
fn paths_through_the_vertices_of_lattices() {
    for seed in 1..=16 {
        let mut random = Random::xorshift(seed + 300);
        let count = [6, 25];
        // The width of a lattice whose rows are 1 long: its cells are needles.
        let width = if seed % 2 == 0 { 10f64.powf(-6.0 + 3.0 * random.unit()) } else { 1.0 };
        let lines = count.map(|count| {
            if seed % 2 == 0 {
                (0..=count).map(|i| f64::from(i) / f64::from(count)).collect()
            } else {
                places(&mut random, count as usize)
            }
        });
        let [rows, columns] = &lines;
        let at = |i: usize, j: usize| (i * columns.len() + j) as u32;
        let mut points = Vec::new();
        for row in rows {
            points.extend(columns.iter().map(|column| turned([*row, width * column, 0.0], 0.0)));
        }
        let mut triangles = Vec::new();
        for i in 0..rows.len() - 1 {
            for j in 0..columns.len() - 1 {
                let [a, b, c, d] = [at(i, j), at(i, j + 1), at(i + 1, j), at(i + 1, j + 1)];
                if random.unit() < 0.5 {
                    triangles.extend([[a, c, b], [b, c, d]]);
                } else {
                    triangles.extend([[a, c, d], [a, d, b]]);
                }
            }
        }
        let queries: Vec<([Point; 2], f64)> = (0..60)
            .map(|_| {
                let ends = [0, 1].map(|_| points[(random.unit() * points.len() as f64) as usize]);
                (ends, distance(ends[0], ends[1]))
            })
            .collect();
        check(&format!("lattice {seed}"), Model::triangles(points, &triangles), 1.0, &queries);
    }
}

/// A box with points along its edges, each face a fan from one of its points. The triangles along the fan's own edges have no area, except
/// by how far the points are off their edge.
fn fanned_box(low: Point, size: Point, off: f64, random: &mut Random) -> Model {
    let corner = |i: usize| [0, 1, 2].map(|k| low[k] + size[k] * (i >> k & 1) as f64);
    let mut points: Vec<Point> = (0..8).map(corner).collect();
    let mut between = std::collections::BTreeMap::new();
    let mut triangles = Vec::new();
    for face in BOX {
        let mut ring: Vec<u32> = Vec::new();
        for k in 0..4 {
            let (a, b) = (face[k], face[(k + 1) % 4]);
            let edge = between.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                let count = (3.0 * random.unit()) as usize;
                let mut parts: Vec<f64> = (0..count).map(|_| random.unit()).collect();
                parts.sort_unstable_by(f64::total_cmp);
                let [low, high] = [a.min(b), a.max(b)].map(|end| corner(end as usize));
                let first = points.len() as u32;
                points.extend(parts.iter().map(|at| {
                    [0, 1, 2].map(|k| low[k] + at * (high[k] - low[k]) + off * (random.unit() - 0.5))
                }));
                (first..points.len() as u32).collect::<Vec<u32>>()
            });
            ring.push(a);
            if a < b { ring.extend(edge.iter()) } else { ring.extend(edge.iter().rev()) }
        }
        let first = (random.unit() * ring.len() as f64) as usize;
        ring.rotate_left(first);
        triangles.extend(ring[1..].windows(2).map(|pair| [ring[0], pair[0], pair[1]]));
    }
    Model::triangles(points, &triangles)
}

/// The faces of a box. The index of a corner is made of its coordinates.
const BOX: [[u32; 4]; 6] =
    [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];

/// Rows of triangles with no or hardly any area along the edges of boxes. Many paths of nearly equal length lead back and forth around them.
/// Distances are those on the plain box, and searches end.
#[test]
fn paths_over_boxes_with_fanned_faces() {
    let mut random = Random::xorshift(41);
    let (mut flat, mut slender) = (0, 0);
    for seed in 0..280 {
        // How far the points are off their edges, and how far the box is from the origin.
        let (off, far) =
            [(0.0, 0.0), (1e-13, 0.0), (1e-12, 0.0), (1e-10, 0.0), (1e-8, 0.0), (0.0, 1e2), (0.0, 1e6)]
                [seed % 7];
        let size = [0.2; 3].map(|least| least + random.unit());
        let low = [0.0; 3].map(|least| least + far * random.unit());
        let corners = (0..8).map(|i| [0, 1, 2].map(|k| low[k] + size[k] * f64::from(i >> k & 1))).collect();
        let plain = Surface::new(&[Model::polygons(corners, BOX)], SurfaceOptions::default()).unwrap();
        let fanned =
            Surface::new(&[fanned_box(low, size, off, &mut random)], SurfaceOptions::default()).unwrap();
        let zero_area_count = fanned.report().zero_area.len();
        if off == 0.0 {
            // The flat triangles are removed, and nothing else.
            flat += zero_area_count;
            let again = Model::triangles(fanned.vertices().collect(), fanned.triangles());
            assert!(Surface::new(&[again], SurfaceOptions::default()).unwrap().report().zero_area.is_empty());
            assert_eq!(
                (fanned.report().boundary_edge_count, fanned.report().non_manifold_edge_count),
                (0, 0)
            );
        } else {
            slender += 1;
        }
        assert!((fanned.area() / plain.area() - 1.0).abs() < 1e-9 + 20.0 * (off + 1e-15 * far), "{seed}");
        let allowed = 1e-9 + 20.0 * (off + 1e-15 * far);
        for _ in 0..30 {
            // On an edge of the box.
            let (axis, at, side) =
                ((random.unit() * 3.0) as usize, random.unit(), (random.unit() * 4.0) as usize);
            let mut start = low;
            start[axis] += at * size[axis];
            start[(axis + 1) % 3] += size[(axis + 1) % 3] * (side & 1) as f64;
            start[(axis + 2) % 3] += size[(axis + 2) % 3] * (side >> 1) as f64;
            let goal = random.on(&plain);
            let truth = plain.path(start, goal, &SurfaceMethod::Exact.into()).unwrap().length;
            let field = fanned.field(start).unwrap().path(goal).unwrap();
            let there = fanned.path(start, goal, &SurfaceMethod::Exact.into()).unwrap();
            let back = fanned.path(goal, start, &SurfaceMethod::Exact.into()).unwrap();
            for (what, path) in [("there", &there), ("back", &back), ("field", &field)] {
                let length = checked(&fanned, path, 1.2 + far);
                let is_right = (length - truth).abs() <= allowed * truth.max(0.1);
                assert!(is_right, "{seed}: {what} {start:?} {goal:?}: {length} {truth}");
            }
        }
    }
    assert!(flat > 300 && slender > 100, "{flat} triangles without area");
}
