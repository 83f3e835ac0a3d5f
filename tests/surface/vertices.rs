//! A field's distances at vertices are those of the vertices, not of what else lies there.

use hullfield::navigate::surface::{
    Method as SurfaceMethod, Model, ModelFace, Options as SurfaceOptions, Place, Surface,
};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, seed};

use crate::models::check::{Checks, Point, length, minus};
use crate::models::{OnSurface as _, cube, mesh, moebius, some_meshes, terrain};

/// Along which diagonals the cells of a sheet are cut.
const CUTS: [&str; 5] = ["up", "down", "alternating", "rows in turn", "by chance"];

/// A sheet of cells with integer corners, each cut in two along one of its diagonals. `place` maps a corner into space. In a `closed` sheet,
/// the column after the last is the first.
fn sheet(
    [columns, rows]: [u32; 2],
    cut: &str,
    closed: bool,
    place: impl Fn(u32, u32) -> Point,
) -> (Vec<Point>, Vec<[u32; 3]>) {
    let across = if closed { columns } else { columns + 1 };
    let points =
        (0..=rows).flat_map(|y| (0..across).map(move |x| (x, y))).map(|(x, y)| place(x, y)).collect();
    let mut random = Random::xorshift(0x5eed);
    let mut triangles = Vec::new();
    for (x, y) in (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y))) {
        let at = |x: u32, y: u32| y * across + x % across;
        let [a, b, c, d] = [at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1)];
        let is_up = match cut {
            "up" => true,
            "down" => false,
            "alternating" => (x + y) % 2 == 0,
            "rows in turn" => y % 2 == 0,
            _ => random.unit() < 0.5,
        };
        triangles.extend(if is_up { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] });
    }
    (points, triangles)
}

/// Compares the distances at vertices with those of the vertices as places, and of points there, bit for bit, and returns them.
fn same_as_points(name: &str, surface: &Surface, source: impl Into<Place> + Copy) -> Vec<f64> {
    let source: Place = source.into();
    let field = surface.field(source).unwrap();
    let distances = field.at_vertices();
    assert_eq!(surface.distances(source).unwrap(), distances, "{name}: from {source:?}, without a field");
    assert_eq!(distances.len(), surface.vertices().len());
    for (i, (vertex, &distance)) in surface.vertices().zip(&distances).enumerate() {
        let there = field.distance(Place::Vertex(i as u32)).unwrap().unwrap_or(f64::INFINITY);
        assert_eq!(distance, there, "{name}: vertex {i} from {source:?}");
        // A position takes the best of all surfaces there; one on no walkable triangle is moved elsewhere.
        let located = surface.locate_all(vertex).unwrap();
        if located.len() == 1 && surface.vertex_at(&located[0]) == Some(i as u32) {
            let there = field.distance(vertex).unwrap().unwrap_or(f64::INFINITY);
            assert_eq!(distance, there, "{name}: the position of vertex {i} from {source:?}");
        }
    }
    distances
}

/// Compares the distances between all pairs of vertices, both ways and with the exact paths, and returns them.
fn same_both_ways(name: &str, surface: &Surface) -> Vec<Vec<f64>> {
    let count = surface.vertices().len() as u32;
    let rows: Vec<Vec<f64>> =
        (0..count).map(|source| same_as_points(name, surface, Place::Vertex(source))).collect();
    let queries: Vec<[Place; 2]> =
        (0..count).flat_map(|a| (0..count).map(move |b| [a, b].map(Place::Vertex))).collect();
    let paths = surface.paths(&queries, &SurfaceMethod::Exact.into()).unwrap().rows;
    for (k, path) in paths.iter().enumerate() {
        let [a, b] = [k / count as usize, k % count as usize];
        for (what, other) in [("back", rows[b][a]), ("path", path.length)] {
            let found = rows[a][b];
            let is_same = found == other || (found - other).abs() <= 1e-12 * found;
            assert!(is_same, "{name}, from {a} to {b}: {found}, {what} {other}");
        }
    }
    rows
}

/// Checks that the distances at all vertices, at points there, and along traced paths are those in the plane.
fn as_in_the_plane(name: &str, surface: &Surface, source: usize, apart: impl Fn(usize) -> f64) {
    let vertices: Vec<Point> = surface.vertices().collect();
    let scale = vertices.as_flattened().iter().fold(0.0f64, |most, at| most.max(at.abs()));
    let distances = same_as_points(name, surface, vertices[source]);
    let field = surface.field(vertices[source]).unwrap();
    let checks = Checks::new(surface);
    for (i, path) in field.paths(&vertices).unwrap().rows.iter().enumerate() {
        let expected = apart(i);
        for (what, found) in [("value", distances[i]), ("path", checks.checked(path, scale))] {
            assert!(
                (found - expected).abs() <= 1e-12 * scale.max(expected),
                "{name}, {what} from vertex {source} to {i}: {found}, not {expected}"
            );
        }
    }
}

/// For all choices of diagonals, and of the first corner of each triangle.
#[test]
fn the_diagonal_of_a_square_of_eight_triangles_is_exact() {
    let at: Vec<Point> = (0..9).map(|i| [f64::from(i % 3), f64::from(i / 3), 0.0]).collect();
    for (cuts, first) in (0..16).flat_map(|cuts| (0..3).map(move |first| (cuts, first))) {
        let cell = |i: u32| {
            let a = i / 2 * 3 + i % 2;
            let [b, c, d] = [a + 1, a + 4, a + 3];
            if cuts >> i & 1 == 1 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] }
        };
        let mut triangles: Vec<[u32; 3]> = (0..4).flat_map(cell).collect();
        triangles.iter_mut().for_each(|corners| corners.rotate_left(first));
        let surface =
            Surface::new(&[Model::triangles(at.clone(), &triangles)], SurfaceOptions::default()).unwrap();
        for from in 0..9 {
            let field = surface.field(at[from]).unwrap();
            for (to, found) in field.at_vertices().into_iter().enumerate() {
                let expected = length(minus(at[to], at[from]));
                assert!((found - expected).abs() < 1e-14, "{triangles:?}, {from} to {to}: {found}");
                assert_eq!(Some(found), field.distance(at[to]).unwrap(), "{triangles:?}");
                let path = field.path(at[to]).unwrap();
                assert!((path.length - expected).abs() < 1e-14, "{triangles:?}, {from} to {to}");
            }
        }
    }
}

/// A tent on a floor to which it is not welded, with one foot in the middle of a triangle and one on its side: no edge joins them.
#[test]
fn a_vertex_on_another_sheet_has_a_distance_of_its_own() {
    let floor = vec![[0.0, 0.0, 0.0], [8.0, 0.0, 0.0], [0.0, 8.0, 0.0]];
    let tent = vec![[2.0, 2.0, 0.0], [2.0, 2.0, 3.0], [3.0, 0.0, 0.0]];
    let models = [floor, tent].map(|points| Model::triangles(points, &[[0, 1, 2]]));
    let mut surface = Surface::new(&models, SurfaceOptions::default()).unwrap();
    let rows = same_both_ways("tent", &surface);
    for (a, b) in (0..6).flat_map(|a| (0..6).map(move |b| (a, b))) {
        assert_eq!(rows[a][b].is_finite(), (a < 3) == (b < 3), "{a}, {b}: {}", rows[a][b]);
    }
    assert_eq!((rows[0][1], rows[3][4]), (8.0, 3.0));
    // A position takes both sheets, and says so; a name takes one.
    let foot = [2.0, 2.0, 0.0];
    assert!(surface.field(foot).unwrap().is_ambiguous() && surface.locate_all(foot).unwrap().len() == 2);
    let face = |model: u32| Place::Face { face: ModelFace { model, face: 0 }, position: foot };
    for model in [0, 1] {
        let distances = surface.field(face(model)).unwrap().at_vertices();
        assert!((0..6).all(|i| distances[i].is_finite() == ((i < 3) == (model == 0))), "{distances:?}");
    }
    // With only the floor walkable, the tent's vertices are on nothing.
    surface.set_walkable_where(|triangle, _| triangle == 0);
    let distances = surface.field([0.0; 3]).unwrap().at_vertices();
    assert!(distances[3..].iter().all(|distance| distance.is_infinite()), "{distances:?}");
}

/// A strip of squares bent once around, its last corners beside its first: `gap` away, or joined for a gap of 0.
fn slit_band(gap: f64, scale: f64) -> Surface {
    let corners = [[2.0, 0.0], [2.0, 3.0], [0.0, 3.0], [0.0, 0.0], [2.0, -gap]];
    let points: Vec<Point> =
        corners.iter().flat_map(|&[x, y]| [0.0, 1.0].map(|z| [scale * x, scale * y, scale * z])).collect();
    let triangles: Vec<[u32; 3]> =
        (0..4).flat_map(|k| [[2 * k, 2 * k + 2, 2 * k + 3], [2 * k, 2 * k + 3, 2 * k + 1]]).collect();
    Surface::new(&[Model::triangles(points, &triangles)], SurfaceOptions::default()).unwrap()
}

/// However narrow a slit is, vertices on its two sides are as far apart as the way around. Joined by equal coordinates, it is none.
#[test]
fn a_slit_of_a_few_ulps_is_a_slit() {
    for (gap, scale) in [(1e-3, 1.0), (1e-9, 1.0), (2e-15, 1.0), (4.5e-16, 1.0), (2e-15, 1e6), (3e-15, 1e-5)]
    {
        let surface = slit_band(gap, scale);
        assert_eq!(surface.vertices().len(), 10, "{gap}");
        let rows = same_both_ways("slit", &surface);
        let around = 8.0 + 2f64.hypot(gap);
        for (i, way) in [(8, around), (9, around.hypot(1.0)), (1, 1.0), (2, 3.0)] {
            let [found, way] = [rows[0][i], way * scale];
            assert!((found - way).abs() < 1e-12 * way, "gap {gap}, scale {scale}: {found} to {i}, not {way}");
        }
        // A position that is a vertex, bit for bit, is that vertex.
        let vertices: Vec<Point> = surface.vertices().collect();
        for (i, &vertex) in vertices.iter().enumerate() {
            let at = surface.locate(vertex).unwrap().unwrap();
            assert_eq!((surface.vertex_at(&at), at.distance), (Some(i as u32), 0.0), "gap {gap}");
            let field = surface.field(vertex).unwrap();
            assert_eq!((field.at_vertices(), field.is_ambiguous()), (rows[i].clone(), false), "gap {gap}");
            let path = surface.path(vertex, vertices[0], &SurfaceMethod::Exact.into()).unwrap();
            assert!((path.length - rows[i][0]).abs() <= 1e-12 * scale, "gap {gap}: {}", path.length);
        }
    }
    let closed = slit_band(0.0, 1.0);
    assert_eq!((closed.vertices().len(), closed.report().welded_count), (8, 2));
}

/// A box on a floor without a common vertex, its bottom in the floor's plane, some of its corners on the floor's sides.
#[test]
fn a_box_on_a_floor_is_an_island() {
    let floor = vec![[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [9.0, 9.0, 0.0], [0.0, 9.0, 0.0]];
    let points =
        (0..8).map(|i| [(2 + (i & 1)) as f64, 3.0 * (i >> 1 & 1) as f64, f64::from(i >> 2)]).collect();
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let models = [Model::polygons(floor, [[0, 1, 2, 3]]), Model::polygons(points, faces)];
    let surface = Surface::new(&models, SurfaceOptions::default()).unwrap();
    let rows = same_both_ways("box", &surface);
    for (a, b) in (0..12).flat_map(|a| (0..12).map(move |b| (a, b))) {
        assert_eq!(rows[a][b].is_finite(), (a < 4) == (b < 4), "{a}, {b}: {}", rows[a][b]);
    }
}

/// Flat, rolled up to half a turn, and folded at each column, with every choice of diagonals: all unfold into the plane.
#[test]
fn vertices_of_flat_rolled_and_folded_sheets_are_as_far_as_in_the_plane() {
    let [columns, rows] = [13, 11];
    let bend = std::f64::consts::PI / f64::from(columns);
    // Chords of a circle, of length 1.
    let radius = 0.5 / (0.5 * bend).sin();
    let mut angles = Random::xorshift(0xf01d);
    let folds: Vec<f64> = (0..columns).map(|_| 2.8 * (angles.unit() - 0.5)).collect();
    let folded = |x: u32| {
        let mut at = [0.0; 2];
        for angle in &folds[..x as usize] {
            at = [at[0] + angle.cos(), at[1] + angle.sin()];
        }
        at
    };
    for cut in CUTS {
        for shape in ["flat", "rolled", "folded"] {
            let place = |x: u32, y: u32| {
                let (turn, y) = (bend * f64::from(x), f64::from(y));
                match shape {
                    "flat" => [f64::from(x), y, 0.0],
                    "rolled" => [radius * turn.cos(), y, radius * turn.sin()],
                    _ => [folded(x)[0], y, folded(x)[1]],
                }
            };
            let (points, triangles) = sheet([columns, rows], cut, false, place);
            let surface =
                Surface::new(&[Model::triangles(points, &triangles)], SurfaceOptions::default()).unwrap();
            let cell = |i: usize| [i as u32 % (columns + 1), i as u32 / (columns + 1)].map(f64::from);
            for &source in extent(&[0, 83][..], &[0, 13, 59, 83, 154]) {
                let [x, y] = cell(source);
                let apart = |i: usize| (cell(i)[0] - x).hypot(cell(i)[1] - y);
                as_in_the_plane(&format!("{shape}, cut {cut}"), &surface, source, apart);
            }
        }
    }
}

/// A pipe of flat sides unfolds into the plane; a path may go around either way, or several times.
#[test]
fn vertices_of_pipes_are_as_far_as_in_the_plane() {
    for [columns, rows] in [[3, 12], [4, 8], [9, 7]] {
        let bend = std::f64::consts::TAU / f64::from(columns);
        let radius = 0.5 / (0.5 * bend).sin();
        let place = |x: u32, y: u32| {
            let turn = bend * f64::from(x);
            [radius * turn.cos(), f64::from(y), radius * turn.sin()]
        };
        for cut in CUTS {
            let (points, triangles) = sheet([columns, rows], cut, true, place);
            let surface =
                Surface::new(&[Model::triangles(points, &triangles)], SurfaceOptions::default()).unwrap();
            let cell = |i: usize| [i as u32 % columns, i as u32 / columns].map(f64::from);
            for source in [0, 2, surface.vertices().len() / 2] {
                let [x, y] = cell(source);
                let apart = |i: usize| {
                    let one = (cell(i)[0] - x).abs();
                    one.min(f64::from(columns) - one).hypot(cell(i)[1] - y)
                };
                as_in_the_plane(&format!("{columns} sides, cut {cut}"), &surface, source, apart);
            }
        }
    }
}

/// Whether the segment between two points avoids the inside of a block.
fn sees(a: [f64; 2], b: [f64; 2], [low, high]: [[f64; 2]; 2]) -> bool {
    let (mut from, mut to) = (0.0f64, 1.0f64);
    for k in 0..2 {
        let way = b[k] - a[k];
        if way == 0.0 {
            if a[k] <= low[k] || a[k] >= high[k] {
                return true;
            }
            continue;
        }
        let [one, other] = [(low[k] - a[k]) / way, (high[k] - a[k]) / way];
        (from, to) = (from.max(one.min(other)), to.min(one.max(other)));
    }
    from >= to - 1e-12
}

/// Paths straight through vertices to a block's corner and around it: distances behind a corner add up from the distance there.
#[test]
fn vertices_behind_the_corners_of_a_block_are_as_far_as_in_the_plane() {
    let [columns, rows] = [12, 12];
    for (cut, block) in CUTS.iter().flat_map(|cut| {
        let blocks = [[[3.0, 3.0], [7.0, 7.0]], [[4.0, 2.0], [5.0, 9.0]], [[6.0, 3.0], [11.0, 6.0]]];
        blocks.map(|block| (cut, block))
    }) {
        let flat = |x: u32, y: u32| [f64::from(x), f64::from(y), 0.0];
        let (points, triangles) = sheet([columns, rows], cut, false, flat);
        let mut surface =
            Surface::new(&[Model::triangles(points.clone(), &triangles)], SurfaceOptions::default()).unwrap();
        let [low, high] = block;
        surface.set_walkable_where(|triangle, _| {
            let middle = |k: usize| {
                triangles[triangle as usize].iter().map(|&corner| points[corner as usize][k]).sum::<f64>()
                    / 3.0
            };
            !(0..2).all(|k| middle(k) > low[k] && middle(k) < high[k])
        });
        let corners = [low, [high[0], low[1]], high, [low[0], high[1]]];
        let flat = |i: usize| [points[i][0], points[i][1]];
        let apart = |a: [f64; 2], b: [f64; 2]| {
            if sees(a, b, block) { (a[0] - b[0]).hypot(a[1] - b[1]) } else { f64::INFINITY }
        };
        for source in [0, 5, 13, 40, 84, 168] {
            if (0..2).all(|k| points[source][k] > low[k] && points[source][k] < high[k]) {
                continue;
            }
            // To each corner, possibly around others, then on.
            let mut to_corner = corners.map(|corner| apart(flat(source), corner));
            for _ in 0..4 {
                for i in 0..4 {
                    for j in 0..4 {
                        to_corner[i] = to_corner[i].min(to_corner[j] + apart(corners[j], corners[i]));
                    }
                }
            }
            let distances = same_as_points(&format!("{block:?}, cut {cut}"), &surface, points[source]);
            let field = surface.field(points[source]).unwrap();
            for (i, &found) in distances.iter().enumerate() {
                if (0..2).all(|k| points[i][k] > low[k] && points[i][k] < high[k]) {
                    continue;
                }
                let around = corners.iter().zip(&to_corner).map(|(&corner, to)| to + apart(corner, flat(i)));
                let expected = around.fold(apart(flat(source), flat(i)), f64::min);
                let path = field.path(points[i]).unwrap();
                let exact = surface.path(points[source], points[i], &SurfaceMethod::Exact.into()).unwrap();
                for (what, found) in [("value", found), ("path", path.length), ("exact", exact.length)] {
                    assert!(
                        (found - expected).abs() <= 1e-12 * expected.max(12.0),
                        "{block:?}, cut {cut}, {what} from {source} to {i}: {found}, not {expected}"
                    );
                }
            }
        }
    }
}

/// Every vertex of meshes of the corpus, others in each run, and of stand-ins.
#[test]
fn distances_at_vertices_equal_those_of_points_there() {
    let mut models = vec![("cube", cube()), ("moebius", moebius(24)), ("terrain", terrain(20, 3))];
    for name in some_meshes(22, extent(4, 6)) {
        models.extend(mesh(name).map(|(_, model)| (name, model)));
    }
    for (name, model) in models {
        let surface = Surface::new(&[model], SurfaceOptions::default()).unwrap();
        let vertices: Vec<Point> = surface.vertices().collect();
        let mut random = Random::new(seed(0x5eed));
        let count = if surface.triangles().len() > 20_000 { 1 } else { extent(1, 2) };
        let mut sources: Vec<Point> = (0..count).map(|_| random.on(&surface)).collect();
        sources.extend((0..count).map(|_| vertices[(random.unit() * vertices.len() as f64) as usize]));
        for source in sources {
            same_as_points(name, &surface, source);
        }
    }
}

/// Windows are given back while the distances are searched, whatever the sizes of triangles, where three triangles meet in an edge, and where
/// parts are not walkable.
#[test]
fn distances_without_a_field_are_those_of_fields() {
    let lift = |[x, y]: [f64; 2]| [x, y, 2.0 * (0.9 * x).sin() * (0.7 * y).cos()];
    let even = |x: u32, y: u32| lift([x, y].map(f64::from));
    // From 1 to 4,000 units in a row.
    let growing = |x: u32, y: u32| [1.15_f64.powi(x as i32), 3.0 * f64::from(y), f64::from(x * y % 5)];
    let needles = |x: u32, y: u32| [1e-3 * f64::from(x), 40.0 * f64::from(y), f64::from((x + y) % 3)];
    let tall = |x: u32, y: u32| [f64::from(x), 60.0 * f64::from((x * 7 + y * 5) % 3), f64::from(y)];
    let mut sheets = vec![
        ("even", sheet([60, 60], "by chance", false, even)),
        ("growing", sheet([60, 40], "up", false, growing)),
        ("needles", sheet([40, 30], "alternating", false, needles)),
        ("tall", sheet([40, 40], "down", false, tall)),
    ];
    // Three sheets at one edge.
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for angle in [0.0, 2.0, 4.0_f64] {
        let (sin, cos) = angle.sin_cos();
        let (own, faces) = sheet([30, 30], "rows in turn", false, |x, y| {
            [f64::from(x) * cos, f64::from(x) * sin, f64::from(y)]
        });
        let first = points.len() as u32;
        points.extend(own);
        triangles.extend(faces.into_iter().map(|face| face.map(|corner| corner + first)));
    }
    sheets.push(("three sheets", (points, triangles)));
    for (name, (points, triangles)) in sheets {
        let mut surface =
            Surface::new(&[Model::triangles(points, &triangles)], SurfaceOptions::default()).unwrap();
        let count = surface.triangles().len() as u32;
        let mut random = Random::new(seed(0xd157));
        for step in 0..extent(4, 12) {
            if step % 2 == 1 {
                surface.set_walkable_where(|triangle, _| triangle * 7 % 11 > 1 || triangle + 2 > count);
            }
            let source = random.on(&surface);
            let source: Place = if step % 3 == 0 { Place::Vertex(step as u32) } else { source.into() };
            let expected = surface.field(source).unwrap().at_vertices();
            assert!(expected.iter().any(|distance| distance.is_finite()), "{name}: {source:?}");
            assert_eq!(surface.distances(source).unwrap(), expected, "{name}: {source:?}");
        }
    }
}
