//! Weighted paths, over areas of different costs.

use hullfield::Error;
use hullfield::navigate::Reach;
use hullfield::navigate::surface::{
    CostPath, Method as SurfaceMethod, Model, Options as SurfaceOptions, Surface,
};
use hullfield_oracle::random::Random;

use crate::models::check::{Point, distance};
use crate::models::{OnSurface as _, cube, moebius, obj, terrain, with_max_snap};

/// Checks a path, its triangles, and its cost.
fn checked(surface: &Surface, found: &CostPath, costs: &[f64]) {
    let path = &found.path;
    assert!(path.is_reached(), "{:?}", path.reach);
    let vertices: Vec<Point> = surface.vertices().collect();
    let mut cost = 0.0;
    for (ends, &triangle) in path.points.windows(2).zip(&path.triangles) {
        assert!(surface.is_walkable(triangle));
        let own = surface.triangles()[triangle as usize].map(|v| vertices[v as usize]);
        let one =
            Surface::new(&[Model::triangles(own.to_vec(), &[[0, 1, 2]])], SurfaceOptions::default()).unwrap();
        for &end in ends {
            assert!(one.locate(end).unwrap().unwrap().distance < 1e-9);
        }
        cost += distance(ends[0], ends[1]) * costs[triangle as usize];
    }
    assert!((cost - found.cost).abs() <= 1e-9 * cost, "{cost} {}", found.cost);
}

/// Two halves of a floor at different costs. Snell's law says where the cheapest path crosses the border.
#[test]
fn a_path_bends_at_a_border_by_snells_law() {
    let n = 8u32;
    let points: Vec<Point> =
        (0..(n + 1) * (n + 1)).map(|i| [f64::from(i % (n + 1)), f64::from(i / (n + 1)), 0.0]).collect();
    let faces: Vec<[u32; 4]> =
        (0..n * n).map(|i| i / n * (n + 1) + i % n).map(|a| [a, a + 1, a + n + 2, a + n + 1]).collect();
    let surface = Surface::new(&[Model::polygons(points, faces)], SurfaceOptions::default()).unwrap();
    let mut random = Random::xorshift(5);
    let (mut sum, mut worst, mut count) = (0.0, 0.0f64, 0);
    for dear in [1.5, 3.0, 20.0] {
        let costs: Vec<f64> = (0..2 * n * n).map(|t| if t / 2 % n < n / 2 { 1.0 } else { dear }).collect();
        for _ in 0..60 {
            let from = [4.0 * random.unit(), 8.0 * random.unit(), 0.0];
            let to = [4.0 + 4.0 * random.unit(), 8.0 * random.unit(), 0.0];
            let found = surface.path_by_costs(from, to, &costs).unwrap();
            checked(&surface, &found, &costs);
            let cost = |y: f64| {
                let border = [4.0, y, 0.0];
                distance(from, border) + dear * distance(border, to)
            };
            let (mut low, mut high) = (0.0, 8.0);
            for _ in 0..200 {
                let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
                if cost(a) < cost(b) { high = b } else { low = a }
            }
            let excess = found.cost / cost(low) - 1.0;
            assert!(excess > -1e-9, "{dear} {from:?} {to:?}: {excess}");
            (sum, worst, count) = (sum + excess, worst.max(excess), count + 1);
        }
    }
    let mean = sum / f64::from(count);
    println!("a border: {count} ways, mean excess {mean:.2e}, worst {worst:.2e}");
    assert!(mean < 1e-3 && worst < 0.02, "{mean} {worst}");
}

/// Dijkstra's search over forty points of each edge and the vertices: a path that costs little more than the best.
fn dense(surface: &Surface, from: Point, to: Point, costs: &[f64]) -> f64 {
    const EACH: usize = 40;
    let vertices: Vec<Point> = surface.vertices().collect();
    let mut places: Vec<(Point, usize)> = vec![(from, usize::MAX), (to, usize::MAX)];
    let mut of_triangle: Vec<Vec<usize>> = vec![Vec::new(); surface.triangles().len()];
    for (edge, &[a, b]) in surface.edges().iter().enumerate() {
        let [a, b] = [a, b].map(|v| vertices[v as usize]);
        for i in 0..=EACH {
            let part = i as f64 / EACH as f64;
            for t in surface.triangles_at(edge as u32) {
                of_triangle[t as usize].push(places.len());
            }
            places.push((std::array::from_fn(|k| a[k] + (b[k] - a[k]) * part), edge));
        }
    }
    for (end, point) in [from, to].into_iter().enumerate() {
        of_triangle[surface.locate(point).unwrap().unwrap().triangle as usize].push(end);
    }
    let mut triangles_of: Vec<Vec<usize>> = vec![Vec::new(); places.len()];
    for (triangle, own) in of_triangle.iter().enumerate() {
        own.iter().for_each(|&place| triangles_of[place].push(triangle));
    }
    // The ends of edges at one vertex are one node.
    let mut cost = vec![f64::INFINITY; places.len()];
    let mut is_done = vec![false; places.len()];
    let mut heap = std::collections::BTreeSet::new();
    cost[0] = 0.0;
    heap.insert((0u64, 0usize));
    while let Some((_, here)) = heap.pop_first() {
        if std::mem::replace(&mut is_done[here], true) {
            continue;
        }
        if here == 1 {
            break;
        }
        for &triangle in &triangles_of[here] {
            for &there in &of_triangle[triangle] {
                let next = cost[here] + costs[triangle] * distance(places[here].0, places[there].0);
                if next < cost[there] {
                    cost[there] = next;
                    heap.insert((next.to_bits(), there));
                }
            }
        }
    }
    cost[1]
}

#[test]
fn random_costs_are_near_the_best() {
    let (mut sum, mut worst, mut count) = (0.0, 0.0f64, 0);
    for seed in 1..7 {
        let surface = Surface::new(&[terrain(5, seed)], SurfaceOptions::default()).unwrap();
        let mut random = Random::xorshift(seed * 31);
        for most in [2.0, 10.0] {
            let costs: Vec<f64> =
                (0..surface.triangles().len()).map(|_| 1.0 + (most - 1.0) * random.unit()).collect();
            for _ in 0..6 {
                let (from, to) = (random.on(&surface), random.on(&surface));
                let found = surface.path_by_costs(from, to, &costs).unwrap();
                checked(&surface, &found, &costs);
                let excess = found.cost / dense(&surface, from, to, &costs) - 1.0;
                (sum, worst, count) = (sum + excess, worst.max(excess), count + 1);
            }
        }
    }
    let mean = sum / f64::from(count);
    println!("random costs: {count} ways, mean excess {mean:.2e}, worst {worst:.2e}");
    assert!(mean < 0.01 && worst < 0.1, "{mean} {worst}");
}

/// Where all costs are equal, the exact path is only a little shorter.
#[test]
fn equal_costs_give_near_shortest_paths() {
    let mut models = vec![("cube", cube()), ("moebius", moebius(25)), ("terrain", terrain(10, 3))];
    models.extend(obj("spot.obj").map(|(_, model)| ("spot", model)));
    for (name, model) in models {
        let surface = Surface::new(&[model], SurfaceOptions::default()).unwrap();
        for each in [1.0, 7.0] {
            let costs = vec![each; surface.triangles().len()];
            let mut random = Random::xorshift(19);
            let (mut sum, mut worst) = (0.0, 0.0f64);
            for _ in 0..40 {
                let (from, to) = (random.on(&surface), random.on(&surface));
                let found = surface.path_by_costs(from, to, &costs).unwrap();
                checked(&surface, &found, &costs);
                assert!((found.cost - each * found.path.length).abs() < 1e-9 * found.cost);
                let exact = surface.path(from, to, &SurfaceMethod::Exact.into()).unwrap().length;
                let excess = found.path.length / exact - 1.0;
                assert!(excess > -1e-9, "{name}: {excess}");
                (sum, worst) = (sum + excess, worst.max(excess));
            }
            println!("{name}: mean excess {:.2e}, worst {worst:.2e}", sum / 40.0);
            assert!(sum / 40.0 < 0.01 && worst < 0.1, "{name}: {worst}");
        }
    }
}

#[test]
fn around_mud_or_through_it() {
    // Three rows of squares. The middle one is mud, except for its last square.
    let n = 9u32;
    let points: Vec<Point> =
        (0..4 * (n + 1)).map(|i| [f64::from(i % (n + 1)), f64::from(i / (n + 1)), 0.0]).collect();
    let faces: Vec<[u32; 4]> =
        (0..3 * n).map(|i| i / n * (n + 1) + i % n).map(|a| [a, a + 1, a + n + 2, a + n + 1]).collect();
    let surface = Surface::new(&[Model::polygons(points, faces)], SurfaceOptions::default()).unwrap();
    let costs = |mud: f64| -> Vec<f64> {
        (0..6 * n).map(|t| if t / 2 / n == 1 && t / 2 % n < n - 1 { mud } else { 1.0 }).collect()
    };
    let (from, to) = ([0.5, 0.5, 0.0], [0.5, 2.5, 0.0]);
    let through = surface.path_by_costs(from, to, &costs(4.0)).unwrap();
    assert!((through.cost - 5.0).abs() < 1e-9, "{}", through.cost);
    let around = surface.path_by_costs(from, to, &costs(1000.0)).unwrap();
    checked(&surface, &around, &costs(1000.0));
    let expected = 2.0 * 7.5f64.hypot(0.5) + 1.0;
    assert!((around.cost - expected).abs() < 1e-6 * expected, "{} {expected}", around.cost);
    // The middle row is blocked: no path, whatever the costs.
    let mut shut = surface.clone();
    shut.set_walkable_where(|triangle, _| triangle / 2 / n != 1);
    let found = shut.path_by_costs(from, to, &costs(1.0)).unwrap();
    let Reach::Unreachable { nearest } = found.path.reach else { panic!("{:?}", found.path.reach) };
    assert_eq!((nearest.position, found.cost), ([0.5, 1.0, 0.0], f64::INFINITY));
    // The start is the goal.
    let here = surface.path_by_costs(from, from, &costs(4.0)).unwrap();
    assert_eq!((here.cost, here.path.points.len()), (0.0, 2));
}

#[test]
fn bad_costs_are_refused() {
    let surface = Surface::new(&[cube()], SurfaceOptions::default()).unwrap();
    let ends = [[0.5, 0.5, 0.0], [0.5, 0.5, 1.0]];
    for (count, bad) in [(11, 1.0), (13, 1.0), (12, 0.5), (12, f64::NAN), (12, f64::INFINITY), (12, -1.0)] {
        let mut costs = vec![1.0; count];
        costs[7] = bad;
        let error = surface.path_by_costs(ends[0], ends[1], &costs).unwrap_err();
        assert!(
            matches!(error, Error::Value { field: "costs", .. } | Error::Count { what: "costs", .. }),
            "{error}"
        );
    }
    assert!(surface.path_by_costs([f64::NAN; 3], ends[1], &[1.0; 12]).is_err());
    let near = with_max_snap(&surface, 0.5);
    let off = near.path_by_costs(ends[0], [9.0; 3], &[1.0; 12]).unwrap();
    assert!(matches!(off.path.reach, Reach::Off { .. }) && off.cost == f64::INFINITY);
}
