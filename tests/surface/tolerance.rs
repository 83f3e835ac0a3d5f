//! The guarantee that a path is no longer than its tolerance allows.

use std::time::Instant;

use hullfield::Error;
use hullfield::navigate::surface::{
    Link as SurfaceLink, Method as SurfaceMethod, Model, Options as SurfaceOptions, PathOptions, Surface,
};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, pick, seed};

use crate::models::check::{Point, checked, distance};
use crate::models::{OnSurface as _, cube, mesh, moebius, pairs, some_meshes, terrain, with_landmarks};

fn by(tolerance: f64) -> SurfaceMethod {
    SurfaceMethod::Geodesic { tolerance }
}

/// Rounding.
const SLACK: f64 = 1e-9;

/// Compares paths of all tolerances with the shortest. Returns how many an infinite tolerance leaves longer.
fn check_guarantee(name: &str, surface: &Surface, queries: &[[Point; 2]]) -> usize {
    let ask = |method: SurfaceMethod| surface.paths(queries, &method.into()).unwrap().rows;
    let (exact, any) = (ask(SurfaceMethod::Exact), ask(by(f64::INFINITY)));
    let mut too_long = 0;
    for tolerance in [0.0, 1e-6, 1e-3, 0.1] {
        for (i, path) in ask(by(tolerance)).iter().enumerate() {
            assert_eq!(path.reach.name(), exact[i].reach.name(), "{name} {:?}", queries[i]);
            if !path.is_reached() {
                continue;
            }
            let least = exact[i].length;
            assert!(
                path.length <= least * (1.0 + tolerance) * (1.0 + SLACK)
                    && path.length >= least * (1.0 - SLACK),
                "{name} {:?} by {tolerance}: {} {least}",
                queries[i],
                path.length
            );
            assert!(path.length <= any[i].length * (1.0 + SLACK), "{name} {:?} by {tolerance}", queries[i]);
            too_long += usize::from(tolerance == 1e-3 && any[i].length > least * (1.0 + tolerance + SLACK));
        }
    }
    too_long
}

/// Slender triangles beside wide ones, over three jagged rails.
fn uneven(seed: u64) -> Model {
    let mut random = Random::xorshift(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut rails = [Vec::new(), Vec::new(), Vec::new()];
    let mut all = Vec::new();
    for (k, rail) in rails.iter_mut().enumerate() {
        let mut x = 0.0;
        while x < 40.0 {
            rail.push(all.len() as u32);
            all.push([x, 6.0 * k as f64, 5.0 * random.unit()]);
            x += 0.1 + 12.0 * random.unit().powi(4);
        }
    }
    let mut triangles = Vec::new();
    for pair in rails.windows(2) {
        let (mut i, mut j) = (0, 0);
        while i + 1 < pair[0].len() || j + 1 < pair[1].len() {
            let to_left = match (pair[0].get(i + 1), pair[1].get(j + 1)) {
                (Some(&a), Some(&b)) => all[a as usize][0] < all[b as usize][0],
                (next, _) => next.is_some(),
            };
            let third = if to_left { pair[0][i + 1] } else { pair[1][j + 1] };
            triangles.push([pair[0][i], pair[1][j], third]);
            if to_left { i += 1 } else { j += 1 }
        }
    }
    Model::triangles(all, &triangles)
}

#[test]
fn no_path_is_longer_than_its_tolerance_allows() {
    let mut models = vec![("cube", cube()), ("moebius", moebius(24))];
    models.extend((1..30).map(|seed| ("uneven", uneven(seed))));
    models.extend((0..4).map(|seed| ("terrain", terrain(12, seed))));
    let mut too_long = 0;
    for (i, (name, model)) in models.into_iter().enumerate() {
        let surface = Surface::new(&[model], SurfaceOptions::default()).unwrap();
        let mut random = Random::xorshift(0x5eed + i as u64);
        let queries: Vec<_> = (0..150).map(|_| [random.on(&surface), random.on(&surface)]).collect();
        for surface in [surface.clone(), with_landmarks(&surface)] {
            too_long += check_guarantee(name, &surface, &queries);
        }
    }
    // Otherwise the test would show nothing.
    println!("{too_long} paths needed the second search");
    assert!(too_long > 0);
}

/// Paths between random points of meshes of the corpus, and between vertices whose distances other programs computed. Each run picks other meshes.
/// With `--nocapture` the test prints by how much paths are longer than the shortest, and how long they take.
#[test]
fn no_path_over_the_corpus_is_longer_than_its_tolerance_allows() {
    let mut rows: Vec<(f64, String)> = Vec::new();
    for name in some_meshes(20, extent(4, 6)) {
        let Some((points, model)) = mesh(name) else { return };
        let surface = Surface::new(&[model], SurfaceOptions::default()).unwrap();
        let is_large = surface.triangles().len() > 20_000;
        let random_count = if is_large { extent(8, 16) } else { extent(50, 100) };
        let mut random = Random::new(seed(0x5eed));
        let mut queries: Vec<_> =
            (0..random_count).map(|_| [random.on(&surface), random.on(&surface)]).collect();
        let few = if is_large { extent(2, 4) } else { extent(15, 30) };
        check_guarantee(name, &surface, &queries[..few]);
        let has_known = ["spot.obj", "nav_test.obj", "stanford-bunny.obj"].contains(&name);
        let mut known = if has_known { pairs(&name.replace("obj", "csv")).unwrap() } else { Vec::new() };
        known = pick(21, &known, if is_large { extent(4, 8) } else { extent(20, 50) });
        queries.extend(known.iter().map(|known| known.0.map(|end| points[end])));
        let methods = [by(f64::INFINITY), SurfaceMethod::default(), SurfaceMethod::Exact];
        let [any, promised, exact] = methods.map(|method| {
            let begun = Instant::now();
            let paths = surface.paths(&queries, &method.into()).unwrap().rows;
            (begun.elapsed().as_secs_f64(), paths.iter().map(|path| path.length).collect::<Vec<_>>())
        });
        for (found, (ends, length)) in exact.1[random_count..].iter().zip(known) {
            let is_same = *found == length || (found - length).abs() <= SLACK * length;
            assert!(is_same, "{name} {ends:?}: {found} {length}");
        }
        // The mean and worst excess of first paths, the worst of guaranteed ones, how many are longer than the straight line, and how many
        // too long.
        let (mut mean, mut worst, mut kept) = (0.0, 0.0f64, 0.0f64);
        let (mut count, mut searched, mut open) = (0, 0, 0);
        for (i, &least) in exact.1.iter().enumerate() {
            assert_eq!(promised.1[i].is_finite(), least.is_finite(), "{name} {:?}", queries[i]);
            if !(least > 0.0 && least.is_finite()) {
                continue;
            }
            let [near, found] = [any.1[i], promised.1[i]].map(|length| length / least - 1.0);
            assert!(near >= -SLACK && (-SLACK..=1e-3 + SLACK).contains(&found), "{name} {:?}", queries[i]);
            (mean, worst, kept) = (mean + near, worst.max(near), kept.max(found));
            count += 1;
            let straight = distance(queries[i][0], queries[i][1]);
            searched += usize::from(any.1[i] / 1.001 > straight);
            open += usize::from(near > 1e-3);
        }
        let share = |part: usize| 100.0 * part as f64 / count as f64;
        rows.push((
            worst,
            format!(
                "| {name} | {} | {count} | {:.4} | {:.2} | {:.3} | {:.0} | {:.1} | {:.2} | {:.2} |",
                surface.triangles().len(),
                100.0 * mean / count as f64,
                100.0 * worst,
                100.0 * kept,
                share(searched),
                share(open),
                promised.0 / any.0,
                exact.0 / any.0
            ),
        ));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!(
        "| mesh | triangles | paths | any: mean, worst % | by 0.1 %: worst % | searched % | not closed % | time in any's: 0.1 %, exact |"
    );
    rows.iter().for_each(|(_, row)| println!("{row}"));
}

#[test]
fn a_tolerance_of_zero_is_exact_and_the_default_is_a_thousandth() {
    assert_eq!(SurfaceMethod::default(), by(1e-3));
    let surface = Surface::new(&[terrain(9, 7)], SurfaceOptions::default()).unwrap();
    let mut random = Random::xorshift(11);
    for _ in 0..50 {
        let [from, to] = [random.on(&surface), random.on(&surface)];
        let path = surface.path(from, to, &by(0.0).into()).unwrap();
        assert_eq!(path, surface.path(from, to, &SurfaceMethod::Exact.into()).unwrap());
        assert_eq!(path, surface.path(from, to, &by(-0.0).into()).unwrap());
        assert_eq!(
            surface.path(from, to, &PathOptions::default()).unwrap(),
            surface.path(from, to, &SurfaceMethod::default().into()).unwrap()
        );
        checked(&surface, &path, 9.0);
    }
    // A path without length.
    let at = random.on(&surface);
    for tolerance in [0.0, 1e-3, f64::INFINITY] {
        assert_eq!(surface.path(at, at, &by(tolerance).into()).unwrap().length, 0.0);
    }
}

#[test]
fn bad_tolerances_are_refused() {
    let surface = Surface::new(&[cube()], SurfaceOptions::default()).unwrap();
    let query = [[0.0; 3], [1.0; 3]];
    for tolerance in [f64::NAN, -1e-3, f64::NEG_INFINITY] {
        let expected = format!("tolerance is {tolerance}, it must be 0 or more");
        for refused in [
            surface.path(query[0], query[1], &by(tolerance).into()).unwrap_err(),
            surface
                .path(query[0], query[1], &PathOptions { method: by(tolerance), to_nearest: true })
                .unwrap_err(),
            surface.paths(&[query], &by(tolerance).into()).unwrap_err(),
            surface.paths(&[[[0.0; 3]; 2]; 0], &by(tolerance).into()).unwrap_err(),
        ] {
            assert!(matches!(refused, Error::Value { field: "tolerance", .. }), "{refused:?}");
            assert!(refused.to_string().ends_with(&expected), "{refused}");
        }
    }
}

/// A path with links keeps to the tolerance, because each of its walks does.
#[test]
fn paths_over_links_keep_to_the_tolerance() {
    for seed in 1..12 {
        let bare = Surface::new(&[uneven(seed)], SurfaceOptions::default()).unwrap();
        let mut random = Random::xorshift(seed * 977);
        let mut surface = bare.clone();
        let links: Vec<_> = (0..4)
            .map(|_| {
                let [from, to] = [random.on(&bare), random.on(&bare)];
                SurfaceLink { from, to, cost: 0.3 * distance(from, to), two_way: true }
            })
            .collect();
        surface.set_links(&links).unwrap();
        let queries: Vec<_> = (0..40).map(|_| [random.on(&bare), random.on(&bare)]).collect();
        let exact = surface.paths(&queries, &SurfaceMethod::Exact.into()).unwrap().rows;
        let found = surface.paths(&queries, &SurfaceMethod::default().into()).unwrap().rows;
        for (found, exact) in found.iter().zip(&exact) {
            let most = 1.001 * exact.length * (1.0 + SLACK);
            assert!(found.length <= most && found.length >= exact.length * (1.0 - SLACK), "{seed}");
        }
    }
}
