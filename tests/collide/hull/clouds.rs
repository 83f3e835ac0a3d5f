//! Point sets to build hulls of: public ones, degenerate ones, and random ones.

use hullfield_oracle::random::Random;

use super::Point;
use super::checkers::length;

/// Draws in f32.
pub(super) trait Cloud {
    fn signed(&mut self) -> f32;
    fn in_cube(&mut self) -> Point;
    fn in_ball(&mut self) -> Point;
    fn on_sphere(&mut self) -> Point;
    fn matrix(&mut self) -> [[f32; 3]; 3];
}

impl Cloud for Random {
    /// Uniform in [-1, 1).
    fn signed(&mut self) -> f32 {
        self.between(-1.0, 1.0) as f32
    }

    fn in_cube(&mut self) -> Point {
        [self.signed(), self.signed(), self.signed()]
    }

    fn in_ball(&mut self) -> Point {
        loop {
            let p = self.in_cube();
            if length(p.map(f64::from)) <= 1.0 {
                return p;
            }
        }
    }

    fn on_sphere(&mut self) -> Point {
        let p = self.in_ball().map(f64::from);
        p.map(|x| (x / length(p)) as f32)
    }

    /// A rotation matrix, rounded to f32.
    fn matrix(&mut self) -> [[f32; 3]; 3] {
        let x = self.on_sphere();
        let other = self.on_sphere();
        let cross = |a: Point, b: Point| {
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        };
        let y = cross(x, other);
        let y = y.map(|c| c / length(y.map(f64::from)) as f32);
        [x, y, cross(x, y)]
    }
}

pub(super) fn turned(points: &[Point], by: [[f32; 3]; 3]) -> Vec<Point> {
    points.iter().map(|p| by.map(|row| row[0] * p[0] + row[1] * p[1] + row[2] * p[2])).collect()
}

pub(super) fn scaled(points: &[Point], by: Point) -> Vec<Point> {
    points.iter().map(|p| [p[0] * by[0], p[1] * by[1], p[2] * by[2]]).collect()
}

/// A grid from 0, with `n` points along each axis for which `along` is set.
pub(super) fn grid(n: usize, along: [bool; 3]) -> Vec<Point> {
    let range = |axis: usize| 0..if along[axis] { n } else { 1 };
    let mut points = Vec::new();
    for x in range(0) {
        for y in range(1) {
            points.extend(range(2).map(|z| [x as f32, y as f32, z as f32]));
        }
    }
    points
}

/// Degenerate clouds, by name.
pub(super) fn degenerate() -> Vec<(&'static str, Vec<Point>)> {
    let mut random = Random::new(7);
    let ball: Vec<Point> = (0..60).map(|_| random.in_ball()).collect();
    let mut twice = ball.clone();
    twice.extend(&ball);
    twice.extend(ball.iter().map(|p| p.map(|x| -0.0 + x)));
    let turn = random.matrix();
    let cube = grid(6, [true; 3]);
    let sphere: Vec<Point> = (0..300).map(|_| random.on_sphere()).collect();
    let circle = |z: f32, n: usize| {
        (0..n).map(move |i| {
            let (s, c) = (i as f32 / n as f32 * std::f32::consts::TAU).sin_cos();
            [c, s, z]
        })
    };
    let mut whole_sphere = Vec::new();
    for x in -9i32..=9 {
        for y in -9i32..=9 {
            for z in -9i32..=9 {
                if x * x + y * y + z * z == 81 {
                    whole_sphere.push([x as f32, y as f32, z as f32]);
                }
            }
        }
    }
    let line: Vec<Point> = (0..50).map(|i| [0.1, 0.2, 0.4].map(|x: f32| x * (i as f32 - 20.0))).collect();
    let mut clusters = ball.clone();
    clusters.extend(ball.iter().map(|p| p.map(|x| x * 1e-6 + 1000.0)));
    let mut near_corners = Vec::new();
    for corner in grid(2, [true; 3]) {
        near_corners.extend(
            (0..8).map(|i| [0, 1, 2].map(|k| if i >> k & 1 == 1 { corner[k].next_up() } else { corner[k] })),
        );
    }
    vec![
        ("a point", vec![[1.0, 2.0, 3.0]]),
        ("one point often", vec![[1.0, 2.0, 3.0]; 30]),
        ("zeros of both signs", vec![[0.0, -0.0, 0.0], [-0.0, 0.0, 0.0], [0.0; 3]]),
        ("two points", vec![[1.0, 2.0, 3.0], [1.0, 2.0, 4.0]]),
        ("collinear", (0..40).map(|i| [i as f32, 2.0 * i as f32, -i as f32]).collect()),
        ("nearly collinear", line),
        ("duplicates", twice),
        ("flat grid", grid(12, [true, false, true])),
        ("flat grid, turned", turned(&grid(12, [true, false, true]), turn)),
        ("grid", cube.clone()),
        ("grid, turned", turned(&cube, turn)),
        ("grid on a plate", scaled(&cube, [1.0, 1.0, 1e-5])),
        ("needle", scaled(&ball, [1.0, 1e-5, 1e-5])),
        ("needle, turned", turned(&scaled(&ball, [1.0, 1e-5, 1e-5]), turn)),
        ("plate", scaled(&ball, [1.0, 1.0, 1e-5])),
        ("plate, turned", turned(&scaled(&ball, [1.0, 1.0, 1e-5]), turn)),
        ("sphere", sphere),
        ("cospherical, exactly", whole_sphere),
        ("prism", circle(0.0, 60).chain(circle(1.0, 60)).collect()),
        ("cone", circle(0.0, 60).chain([[0.0, 0.0, 1.0]]).collect()),
        ("flat circle", circle(0.5, 60).collect()),
        ("two clusters", clusters),
        ("corners one ulp apart", near_corners),
    ]
}

/// The point sets of the public corpus, or as many of the same kinds where it is not there.
pub(super) fn point_sets() -> Vec<Vec<Point>> {
    let Ok(folder) = std::env::var("HULLFIELD_CORPUS") else {
        println!("HULLFIELD_CORPUS is unset: seeded stand-ins instead of the public point sets");
        return stand_ins(500);
    };
    let path = std::path::Path::new(&folder).join("hulls/point_sets.bin");
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let words: Vec<[u8; 4]> =
        bytes.chunks_exact(4).map(|word| word.try_into().expect("four bytes")).collect();
    let mut sets = Vec::new();
    let mut rest = &words[..];
    while let [count, tail @ ..] = rest {
        let count = u32::from_le_bytes(*count) as usize;
        let (set, tail) = tail.split_at(3 * count);
        sets.push(set.chunks_exact(3).map(|p| [0, 1, 2].map(|i| f32::from_le_bytes(p[i]))).collect());
        rest = tail;
    }
    assert_eq!(sets.len(), 3378);
    sets
}

/// Small sets like those of level pieces: boxes, cut balls, some flat, in any position and size.
pub(super) fn stand_ins(count: usize) -> Vec<Vec<Point>> {
    let mut random = Random::new(11);
    let mut sets = Vec::new();
    for i in 0..count {
        let n = 4 + random.below(40);
        let points: Vec<Point> = match i % 5 {
            0 => (0..n).map(|_| random.in_ball()).collect(),
            1 => (0..n).map(|_| random.on_sphere()).collect(),
            2 => grid(2, [true; 3])
                .into_iter()
                .chain((0..n).map(|_| random.in_cube().map(|x| (x * 2.0).round() * 0.5)))
                .collect(),
            3 => (0..n).map(|_| random.in_cube().map(|x| x.clamp(-0.4, 0.4))).collect(),
            _ => scaled(
                &(0..n).map(|_| random.in_ball()).collect::<Vec<_>>(),
                [1.0, 1.0, if i % 2 == 0 { 0.0 } else { 1e-4 }],
            ),
        };
        let turn = random.matrix();
        let offset = random.in_cube();
        let size = 10f32.powf(3.0 * random.signed());
        let placed = turned(&points, turn).into_iter().map(|p| [0, 1, 2].map(|k| (p[k] + offset[k]) * size));
        sets.push(placed.collect());
    }
    sets
}
