//! Links between points of surfaces: which ones a path takes, and how it reports them.

use hullfield::navigate::Reach;
use hullfield::navigate::surface::{
    Link as SurfaceLink, Method as SurfaceMethod, Model, Options as SurfaceOptions, Path as SurfacePath,
    PathOptions, Surface,
};
use hullfield::{Error, Location};
use hullfield_oracle::random::Random;

use crate::models::check::{Point, distance};
use crate::models::{OnSurface as _, cube, obj, terrain, with_max_snap};

/// The shortest path over links, by brute force: every order of all links, in both directions, with exact walks between them.
fn least(bare: &Surface, links: &[SurfaceLink], start: Point, goal: Point) -> f64 {
    fn walk(bare: &Surface, from: Point, to: Point) -> f64 {
        bare.path(from, to, &SurfaceMethod::Exact.into()).unwrap().length
    }
    fn go(bare: &Surface, links: &[SurfaceLink], at: Point, goal: Point, left: &mut Vec<usize>) -> f64 {
        let mut best = walk(bare, at, goal);
        for i in 0..left.len() {
            let link = left.remove(i);
            let SurfaceLink { from, to, cost, two_way } = links[link];
            let ways = if two_way { vec![(from, to), (to, from)] } else { vec![(from, to)] };
            for (from, to) in ways {
                let length = walk(bare, at, from) + cost;
                if length < best {
                    best = best.min(length + go(bare, links, to, goal, left));
                }
            }
            left.insert(i, link);
        }
        best
    }
    go(bare, links, start, goal, &mut (0..links.len()).collect())
}

/// Checks the invariants of a path with links.
fn checked(surface: &Surface, path: &SurfacePath) {
    assert!(path.is_reached(), "{:?}", path.reach);
    assert_eq!(path.points.len(), path.triangles.len() + 1);
    assert_eq!((path.normals.len(), path.arc_lengths.len()), (path.points.len(), path.points.len()));
    assert!(path.arc_lengths.is_sorted());
    assert!((path.arc_lengths.last().unwrap() - path.length).abs() <= 1e-12 * path.length.max(1.0));
    for piece in 0..path.triangles.len() {
        let ends = [path.points[piece], path.points[piece + 1]];
        let length = path.arc_lengths[piece + 1] - path.arc_lengths[piece];
        match path.links.iter().find(|link| link.piece == piece) {
            Some(taken) => {
                let link = surface.links()[taken.link as usize];
                let own = if taken.reversed { [link.to, link.from] } else { [link.from, link.to] };
                assert!(link.two_way || !taken.reversed);
                assert!(distance(own[0], ends[0]) < 1e-9 && distance(own[1], ends[1]) < 1e-9);
                assert!((length - link.cost).abs() <= 1e-12 * path.length);
            }
            None => {
                assert!((length - distance(ends[0], ends[1])).abs() <= 1e-12 * path.length);
                let vertices: Vec<Point> = surface.vertices().collect();
                let own = surface.triangles()[path.triangles[piece] as usize].map(|v| vertices[v as usize]);
                let middle: Point = std::array::from_fn(|i| 0.5 * (ends[0][i] + ends[1][i]));
                let one =
                    Surface::new(&[Model::triangles(own.to_vec(), &[[0, 1, 2]])], SurfaceOptions::default())
                        .unwrap();
                assert!(one.locate(middle).unwrap().unwrap().distance < 1e-9);
            }
        }
    }
    assert!(path.links.is_sorted_by_key(|link| link.piece));
}

#[test]
fn the_best_links_are_taken() {
    let mut taken = 0;
    for seed in 1..9 {
        let bare = Surface::new(&[terrain(6, seed)], SurfaceOptions::default()).unwrap();
        let mut surface = bare.clone();
        let mut random = Random::xorshift(seed * 77 + 1);
        let links: Vec<SurfaceLink> = (0..4)
            .map(|i| SurfaceLink {
                from: random.on(&bare),
                to: random.on(&bare),
                cost: 0.8 * random.unit(),
                two_way: i % 2 == 0,
            })
            .collect();
        surface.set_links(&links).unwrap();
        let queries: Vec<[Point; 2]> = (0..16).map(|_| [random.on(&bare), random.on(&bare)]).collect();
        let all = surface.paths(&queries, &SurfaceMethod::Exact.into()).unwrap().rows;
        for (path, &[start, goal]) in all.iter().zip(&queries) {
            checked(&surface, path);
            let expected = least(&bare, surface.links(), start, goal);
            assert!((path.length - expected).abs() <= 1e-9 * expected, "{seed}: {} {expected}", path.length);
            assert_eq!(*path, surface.path(start, goal, &SurfaceMethod::Exact.into()).unwrap());
            taken += path.links.len();
            for method in [SurfaceMethod::Funnel, SurfaceMethod::default()] {
                let other = surface.path(start, goal, &method.into()).unwrap();
                checked(&surface, &other);
                assert!(other.length >= expected * (1.0 - 1e-9));
                // Never longer than without links.
                assert!(other.length <= bare.path(start, goal, &method.into()).unwrap().length);
            }
        }
    }
    assert!(taken > 25, "{taken}");
}

/// Floors above one another: links make them reachable, in one direction and back.
#[test]
fn links_lead_from_island_to_island() {
    let floor = |z: f64| vec![[0.0, 0.0, z], [4.0, 0.0, z], [4.0, 4.0, z], [0.0, 4.0, z]];
    let models = [0.0, 3.0, 6.0].map(|z| Model::polygons(floor(z), [[0, 1, 2, 3]]));
    let mut surface = Surface::new(&models, SurfaceOptions::default()).unwrap();
    let up =
        |z: f64, two_way| SurfaceLink { from: [4.0, 2.0, z], to: [4.0, 2.0, z + 3.0], cost: 5.0, two_way };
    surface.set_links(&[up(0.0, true), up(3.0, false)]).unwrap();
    let path = surface.path([1.0, 2.0, 0.0], [2.0, 2.0, 6.0], &PathOptions::default()).unwrap();
    checked(&surface, &path);
    assert!((path.length - 15.0).abs() < 1e-12 && path.links.len() == 2, "{path:?}");
    // Two links end to end, without a walk between them.
    assert_eq!((path.links[0].piece + 1, path.links[1].link), (path.links[1].piece, 1));
    // An agent on the way knows the link that it is on: 3 on the floor, 5 up, 5 up, 2 on the floor.
    let link_at = |path: &SurfacePath, arc_length: f64| {
        path.at(arc_length).unwrap().link.map(|taken| (taken.link, taken.reversed))
    };
    for (arc_length, position, link) in [
        (2.0, [3.0, 2.0, 0.0], None),
        (4.0, [4.0, 2.0, 0.6], Some((0, false))),
        (9.0, [4.0, 2.0, 3.6], Some((1, false))),
        (14.0, [3.0, 2.0, 6.0], None),
        (99.0, [2.0, 2.0, 6.0], None),
    ] {
        let place = path.at(arc_length).unwrap();
        assert!(place.position.iter().zip(position).all(|(a, b)| (a - b).abs() < 1e-12), "{place:?}");
        assert_eq!(link_at(&path, arc_length), link, "{arc_length}");
    }
    // From a link's beginning to its end: the link alone. An agent is half way after half its cost.
    let alone = surface.path([4.0, 2.0, 0.0], [4.0, 2.0, 3.0], &PathOptions::default()).unwrap();
    assert_eq!((alone.points.len(), alone.length), (2, 5.0));
    assert_eq!(alone.at(2.5).unwrap().position, [4.0, 2.0, 1.5]);
    // No link leads back from the top, so the nearest reachable point is on the top floor.
    let back = surface.path([1.0, 2.0, 6.0], [2.0, 2.0, 0.0], &PathOptions::default()).unwrap();
    let Reach::Unreachable { nearest } = back.reach else { panic!("{:?}", back.reach) };
    assert_eq!(nearest.position[2], 6.0);
    let down = surface.path([1.0, 2.0, 3.0], [2.0, 2.0, 0.0], &PathOptions::default()).unwrap();
    checked(&surface, &down);
    assert!((down.length - 10.0).abs() < 1e-12 && down.links[0].reversed);
    assert_eq!([1.0, 5.0, 9.0].map(|at| link_at(&down, at)), [None, Some((0, true)), None]);
    // The nearest reachable point may be behind a link.
    surface.set_links(&[up(0.0, true)]).unwrap();
    let path = surface.path([1.0, 2.0, 0.0], [2.0, 2.0, 6.0], &PathOptions::default()).unwrap();
    let Reach::Unreachable { nearest } = path.reach else { panic!("{:?}", path.reach) };
    assert_eq!(nearest.position, [2.0, 2.0, 3.0]);
    let path = surface
        .path([1.0, 2.0, 0.0], [2.0, 2.0, 6.0], &PathOptions { to_nearest: true, ..PathOptions::default() })
        .unwrap();
    checked(&surface, &path);
    assert!((path.length - 10.0).abs() < 1e-12 && path.snaps == [0.0, 3.0], "{path:?}");
    // A link with an end that is not walkable is not used. A clone has its own links.
    let mut other = surface.clone();
    other.set_walkable_where(|triangle, _| triangle != 2 && triangle != 3);
    other.set_walkable(2, false).unwrap();
    assert!(
        !other
            .path([1.0, 2.0, 0.0], [2.0, 2.0, 3.0], &PathOptions::default())
            .unwrap()
            .links
            .iter()
            .any(|_| true)
    );
    other.set_links(&[]).unwrap();
    assert_eq!((surface.links().len(), other.links().len()), (1, 0));
    assert!(surface.path([1.0, 2.0, 0.0], [2.0, 2.0, 3.0], &PathOptions::default()).unwrap().is_reached());
}

#[test]
fn links_that_do_not_help_are_not_taken() {
    let mut surface = Surface::new(&[cube()], SurfaceOptions::default()).unwrap();
    let bare = surface.clone();
    let [start, goal] = [[0.5, 0.5, 0.0], [0.5, 0.5, 1.0]];
    let link = |cost| SurfaceLink { from: start, to: goal, cost, two_way: false };
    surface.set_links(&[link(2.0 + 1e-9)]).unwrap();
    for method in [SurfaceMethod::Funnel, SurfaceMethod::default(), SurfaceMethod::Exact] {
        assert_eq!(
            surface.path(start, goal, &method.into()).unwrap(),
            bare.path(start, goal, &method.into()).unwrap()
        );
    }
    surface.set_links(&[link(2.0 - 1e-9)]).unwrap();
    assert_eq!(surface.path(start, goal, &PathOptions::default()).unwrap().links.len(), 1);
    assert_eq!(surface.path(goal, start, &PathOptions::default()).unwrap().links.len(), 0);
    // A lift that costs nothing, and one that ends where it begins.
    surface.set_links(&[link(0.0), SurfaceLink { to: start, ..link(0.0) }]).unwrap();
    let free = surface.path(start, goal, &PathOptions::default()).unwrap();
    assert_eq!((free.length, free.points.len()), (0.0, 2));
}

#[test]
fn links_over_a_scan() {
    let Some((points, model)) = obj("spot.obj") else { return };
    let bare = Surface::new(&[model], SurfaceOptions::default()).unwrap();
    let mut surface = bare.clone();
    let links: Vec<SurfaceLink> = (0..40)
        .map(|i| SurfaceLink {
            from: points[i * 71 % points.len()],
            to: points[i * 997 % points.len()],
            cost: 0.1,
            two_way: true,
        })
        .collect();
    surface.set_links(&links).unwrap();
    let mut taken = 0;
    for i in 0..40 {
        let (start, goal) = (points[i * 313 % points.len()], points[(i * 1009 + 7) % points.len()]);
        let path = surface.path(start, goal, &PathOptions::default()).unwrap();
        checked(&surface, &path);
        assert!(path.length <= bare.path(start, goal, &PathOptions::default()).unwrap().length);
        taken += path.links.len();
    }
    assert!(taken > 20, "{taken}");
}

#[test]
fn bad_links_are_refused() {
    let mut surface = Surface::new(&[cube()], SurfaceOptions::default()).unwrap();
    let good = SurfaceLink { from: [0.5, 0.5, 0.0], to: [0.5, 0.5, 1.0], cost: 1.0, two_way: true };
    surface.set_links(&[good]).unwrap();
    for bad in [
        SurfaceLink { cost: -1.0, ..good },
        SurfaceLink { cost: f64::NAN, ..good },
        SurfaceLink { cost: f64::INFINITY, ..good },
        SurfaceLink { from: [f64::NAN; 3], ..good },
        SurfaceLink { to: [0.0, f64::INFINITY, 0.0], ..good },
    ] {
        let error = surface.set_links(&[good, bad]).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Value { at: Location::Link(1), .. } | Error::Invalid { at: Location::Link(1), .. }
            ),
            "{error}"
        );
    }
    assert_eq!(surface.links(), [good]);
    let mut near = with_max_snap(&surface, 0.25);
    let error = near.set_links(&[SurfaceLink { to: [0.5, 0.5, 2.0], ..good }]).unwrap_err();
    assert_eq!(error.to_string(), "link 0: to is 1 off the surface, the surface's max_snap is 0.25");
}
