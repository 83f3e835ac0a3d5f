//! The picture of a surface and paths over it: walkable triangles, the triangles under each path, paths as tubes and normals
//! as spikes. The camera is placed where most of the paths is visible. Hidden parts of paths shine through faintly.

use std::f32::consts::TAU;

use glam::{DVec3, Quat, Vec2, Vec3};
use hullfield::navigate::surface::{Path as SurfacePath, Surface};
use rayon::prelude::*;

use super::camera::{Camera, View};
use super::raster::{Buffer, Facet, ScreenTriangle};
use super::srgb::{Picture, linear};
use super::{field, shade};

/// The radius of the model in the picture's frame.
const RADIUS: f32 = 10.0;
/// Vertical field of view, radians.
const FIELD: f32 = 0.5;
/// With at most this many paths, strips and normals are drawn too.
const MAX_DETAILED_PATHS: usize = 12;
/// Sample points along the paths, to compare cameras.
const SAMPLE_COUNT: usize = 400;
/// Rows of the pictures that compare cameras.
const SAMPLE_HEIGHT: usize = 270;
/// Cameras around the model, and their elevations in degrees, each with a penalty.
const AZIMUTHS: usize = 16;
const ELEVATIONS: [(f32, f32); 6] =
    [(28.0, 0.0), (45.0, 0.03), (12.0, 0.05), (65.0, 0.08), (-20.0, 0.3), (-50.0, 0.4)];

/// A surface and what is drawn on it.
#[derive(Debug)]
pub(crate) struct SurfacePicture<'a> {
    pub(crate) surface: &'a Surface,
    pub(crate) paths: &'a [SurfacePath],
    /// The distance of each vertex from a source, drawn as colours.
    pub(crate) distances: Option<&'a [f64]>,
    /// Which way is up in the surface's frame.
    pub(crate) up: [f64; 3],
}

/// The part of the picture that a facet belongs to: the index of its colour.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
enum Part {
    Walkable,
    Blocked = SHADES,
    Strip = 2 * SHADES,
    Normal = 3 * SHADES,
    Start,
    Goal,
    Link,
    Path,
}

/// Colours of distances. Every other band is darker, so that lines of equal distance show.
const BANDS: u32 = 60;

/// Shades of a colour, so that coplanar triangles can be told apart.
const SHADES: u32 = 4;
const PATHS: [u32; 6] = [0xe8590c, 0xc2255c, 0x9c36b5, 0x1971c2, 0x2f9e44, 0xb08900];

/// The transform from the surface's frame to the picture's: y up, the model in a ball around the origin.
struct Frame {
    centre: DVec3,
    scale: f64,
    turn: Quat,
}

impl Frame {
    fn of(surface: &Surface, up: [f64; 3]) -> Self {
        let [low, high] = surface.bounds().map(DVec3::from);
        let centre = (low + high) * 0.5;
        let reach = surface.vertices().map(|at| DVec3::from(at).distance(centre)).fold(0.0, f64::max);
        let scale = if reach > 0.0 { f64::from(RADIUS) / reach } else { 1.0 };
        let up = DVec3::from(up).normalize_or(DVec3::Y).as_vec3();
        Self { centre, scale, turn: Quat::from_rotation_arc(up, Vec3::Y) }
    }

    fn point(&self, at: [f64; 3]) -> Vec3 {
        self.turn * ((DVec3::from(at) - self.centre) * self.scale).as_vec3()
    }

    fn direction(&self, direction: [f64; 3]) -> Vec3 {
        self.turn * DVec3::from(direction).as_vec3()
    }
}

impl SurfacePicture<'_> {
    /// Draws the picture.
    pub(crate) fn draw(&self, width: usize, height: usize) -> Picture {
        let frame = Frame::of(self.surface, self.up);
        let vertices: Vec<Vec3> = self.surface.vertices().map(|at| frame.point(at)).collect();
        let fronts = self.fronts(&vertices);
        let lines: Vec<Line> = self.reached().map(|path| Line::of(path, &frame)).collect();
        let extent = focus(&lines);
        let ground = vertices.iter().map(|at| at.y).fold(f32::INFINITY, f32::min) - 0.02;
        let search = ViewSearch {
            vertices: &vertices,
            lines: &lines,
            focus: extent,
            aspect: width as f32 / height as f32,
        };
        let (view, is_open) = search.best_view(&fronts, ground);

        // Back faces are left out of an open view, where they would hide the paths.
        let mut facets = fronts;
        if !is_open {
            let backs: Vec<Facet> = facets.par_iter().map(reversed).collect();
            facets.extend(backs);
        }
        let surface_count = facets.len();
        let distance = (view.eye - view.target).length();
        // The same thickness on the picture at any distance.
        let thickness = 0.0032 * distance;
        let is_detailed = lines.len() <= MAX_DETAILED_PATHS;
        let sides = match lines.iter().map(|line| line.points.len()).sum::<usize>() {
            0..=10_000 => 10,
            10_001..=100_000 => 5,
            _ => 3,
        };
        for (index, line) in lines.iter().enumerate() {
            let colour = Part::Path as u32 + (index % PATHS.len()) as u32;
            line.draw(thickness, sides, colour, is_detailed, &mut facets);
        }
        let end = facets.len();
        let colours = colours();
        shade::draw(&facets, &|item| colours[item as usize], surface_count..end, &view, width, height)
    }

    fn reached(&self) -> impl Iterator<Item = &SurfacePath> {
        self.paths.iter().filter(|path| path.is_reached())
    }

    /// The front faces of the surface's triangles.
    fn fronts(&self, vertices: &[Vec3]) -> Vec<Facet> {
        let mut is_strip = vec![false; self.surface.triangles().len()];
        if self.reached().count() <= MAX_DETAILED_PATHS {
            for &triangle in self.reached().flat_map(|path| &path.triangles) {
                is_strip[triangle as usize] = true;
            }
        }
        let farthest =
            self.distances.unwrap_or_default().iter().copied().filter(|distance| distance.is_finite());
        let farthest = farthest.fold(f64::MIN_POSITIVE, f64::max);
        let band = |corners: &[u32; 3]| {
            let of =
                |corner: u32| self.distances.and_then(|distances| distances.get(corner as usize)).copied();
            let mean = corners.iter().map(|&corner| of(corner)).sum::<Option<f64>>()? / 3.0;
            let part = mean.is_finite().then_some(mean / farthest)?;
            Some(Part::Path as u32 + PATHS.len() as u32 + ((part * f64::from(BANDS)) as u32).min(BANDS - 1))
        };
        let facet = |(triangle, of): (usize, &[u32; 3])| {
            let corners = of.map(|corner| vertices[corner as usize]);
            let part = match (is_strip[triangle], self.surface.is_walkable(triangle as u32)) {
                (true, _) => Part::Strip,
                (false, true) => Part::Walkable,
                (false, false) => Part::Blocked,
            };
            let shade = (triangle as u32).wrapping_mul(0x9e37_79b9) >> 30;
            let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero();
            let band = matches!(part, Part::Walkable).then(|| band(of)).flatten();
            Facet { corners, normal, item: band.unwrap_or(part as u32 + shade) }
        };
        let facets = self.surface.triangles().par_iter().enumerate().map(facet);
        facets.filter(|facet| facet.normal != Vec3::ZERO).collect()
    }
}

fn colours() -> Vec<Vec3> {
    let parts = [0xc9ced1, 0x5b5f66, 0xf2cf7d].into_iter();
    let shaded =
        parts.flat_map(|part| (0..SHADES).map(move |shade| linear(part) * (1.0 - 0.035 * shade as f32)));
    let plain = [0x1c7ed6, 0x2f9e44, 0xd6336c, 0x3bc9db].into_iter().chain(PATHS);
    let bands = (0..BANDS).map(|band| {
        let [red, green, blue] = field::ramp((band as f32 + 0.5) / BANDS as f32).map(u32::from);
        linear(red << 16 | green << 8 | blue) * if band % 2 == 0 { 1.0 } else { 0.82 }
    });
    shaded.chain(plain.map(linear)).chain(bands).collect()
}

fn reversed(facet: &Facet) -> Facet {
    let [a, b, c] = facet.corners;
    Facet { corners: [a, c, b], normal: -facet.normal, ..*facet }
}

/// A path in the picture's frame.
#[derive(Debug)]
struct Line {
    points: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// The indices of the segments that are links.
    links: Vec<usize>,
}

impl Line {
    fn of(path: &SurfacePath, frame: &Frame) -> Self {
        Self {
            points: path.points.iter().map(|&at| frame.point(at)).collect(),
            normals: path.normals.iter().map(|&normal| frame.direction(normal)).collect(),
            links: path.links.iter().map(|taken| taken.piece).collect(),
        }
    }

    /// Draws the tube; with details its ends too, and normals spaced so that they can be told apart.
    fn draw(&self, thickness: f32, sides: usize, colour: u32, is_detailed: bool, facets: &mut Vec<Facet>) {
        let lifted: Vec<Vec3> = self
            .points
            .iter()
            .zip(&self.normals)
            .map(|(&at, &normal)| at + normal * (0.6 * thickness))
            .collect();
        for (i, &at) in lifted.iter().enumerate() {
            if is_detailed {
                ball(at, thickness, 5, colour, facets);
            }
            let Some(&next) = lifted.get(i + 1) else { continue };
            if self.links.contains(&i) {
                cone([at, next], [0.5 * thickness; 2], sides, Part::Link as u32, facets);
            } else {
                cone([at, next], [thickness; 2], sides, colour, facets);
            }
        }
        if !is_detailed {
            return;
        }
        let (Some(&start), Some(&goal)) = (lifted.first(), lifted.last()) else { return };
        ball(start, 2.6 * thickness, 12, Part::Start as u32, facets);
        ball(goal, 2.6 * thickness, 12, Part::Goal as u32, facets);
        let mut last = None;
        for (&at, &normal) in lifted.iter().zip(&self.normals) {
            if last.is_none_or(|last: Vec3| last.distance(at) > 3.2 * thickness) {
                let tip = at + normal * (15.0 * thickness);
                let radii = [0.55 * thickness, 0.1 * thickness];
                cone([at, tip], radii, sides, Part::Normal as u32, facets);
                last = Some(at);
            }
        }
    }
}

/// Adds a tube between two points, with a radius at each.
fn cone([from, to]: [Vec3; 2], radii: [f32; 2], sides: usize, item: u32, facets: &mut Vec<Facet>) {
    let Some(along) = (to - from).try_normalize() else { return };
    let (right, up) = along.any_orthonormal_pair();
    let around = |k: usize| {
        let (sin, cos) = (TAU * k as f32 / sides as f32).sin_cos();
        right * cos + up * sin
    };
    for k in 0..sides {
        let [a, b] = [around(k), around(k + 1)];
        let normal = (a + b).normalize_or_zero();
        let corners = [from + a * radii[0], from + b * radii[0], to + b * radii[1], to + a * radii[1]];
        facets.push(Facet { corners: [corners[0], corners[1], corners[2]], normal, item });
        facets.push(Facet { corners: [corners[0], corners[2], corners[3]], normal, item });
    }
}

/// Adds a ball of facets, `rows` from pole to pole.
fn ball(centre: Vec3, radius: f32, rows: usize, item: u32, facets: &mut Vec<Facet>) {
    let columns = 2 * rows;
    let at = |row: usize, column: usize| {
        let (sin, cos) = (0.5 * TAU * row as f32 / rows as f32).sin_cos();
        let (y, x) = (TAU * column as f32 / columns as f32).sin_cos();
        centre + radius * Vec3::new(sin * x, cos, sin * y)
    };
    for row in 0..rows {
        for column in 0..columns {
            let corners =
                [at(row, column), at(row, column + 1), at(row + 1, column + 1), at(row + 1, column)];
            let normal = (corners.iter().sum::<Vec3>() * 0.25 - centre).normalize_or_zero();
            facets.push(Facet { corners: [corners[0], corners[1], corners[2]], normal, item });
            facets.push(Facet { corners: [corners[0], corners[2], corners[3]], normal, item });
        }
    }
}

/// The corners of a box around the paths, if they are a small part of the model. The picture must show the box.
fn focus(lines: &[Line]) -> Option<[Vec3; 8]> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let low = points().fold(Vec3::INFINITY, |low, &at| low.min(at));
    let high = points().fold(Vec3::NEG_INFINITY, |high, &at| high.max(at));
    let radius = 0.5 * (high - low).length();
    // Without paths the box is empty and the radius is not a number below the bound.
    if radius.is_nan() || radius >= 0.3 * RADIUS {
        return None;
    }
    let (centre, reach) = (0.5 * (low + high), (1.5 * radius).max(0.08 * RADIUS));
    Some(std::array::from_fn(|i| {
        let sign = |bit: usize| if i >> bit & 1 == 1 { reach } else { -reach };
        centre + Vec3::new(sign(0), sign(1), sign(2))
    }))
}

/// The search for a view.
struct ViewSearch<'a> {
    vertices: &'a [Vec3],
    lines: &'a [Line],
    focus: Option<[Vec3; 8]>,
    aspect: f32,
}

impl ViewSearch<'_> {
    /// The view that shows most of the paths, and whether it is open: without back faces.
    fn best_view(&self, fronts: &[Facet], ground: f32) -> (View, bool) {
        let samples = self.samples();
        // The first view is from the front, a little to the right.
        let around = if samples.is_empty() { 1 } else { AZIMUTHS };
        let elevations = if samples.is_empty() { &ELEVATIONS[..1] } else { &ELEVATIONS[..] };
        let mut best: Option<(f32, View, bool)> = None;
        for &(elevation, penalty) in elevations {
            for step in 0..around {
                let turn = TAU * (0.08 + step as f32 / around as f32);
                let (sin, cos) = elevation.to_radians().sin_cos();
                let view = self.view(Vec3::new(turn.sin() * cos, sin, turn.cos() * cos), ground);
                if samples.is_empty() {
                    return (view, false);
                }
                let [whole, open] = self.shares(&view, fronts, &samples);
                // An open view has a penalty, so that a whole model is preferred.
                for (share, penalty, is_open) in [(whole, penalty, false), (open, penalty + 0.25, true)] {
                    let score = share - penalty;
                    if best.as_ref().is_none_or(|(most, ..)| score > *most) {
                        best = Some((score, view, is_open));
                    }
                }
            }
        }
        best.map_or_else(|| (self.view(Vec3::Z, ground), false), |(_, view, is_open)| (view, is_open))
    }

    /// Sample points along the paths, a little above the surface, with normals.
    fn samples(&self) -> Vec<[Vec3; 2]> {
        let total: f32 =
            self.lines.iter().flat_map(|line| line.points.windows(2)).map(|p| p[0].distance(p[1])).sum();
        let step = total / SAMPLE_COUNT as f32;
        let mut samples = Vec::new();
        for line in self.lines {
            let mut since = step;
            for (pair, normals) in line.points.windows(2).zip(line.normals.windows(2)) {
                let length = pair[0].distance(pair[1]);
                let mut at = step - since;
                while at <= length && length > 0.0 && samples.len() < 2 * SAMPLE_COUNT {
                    let part = at / length;
                    let normal = normals[0].lerp(normals[1], part);
                    samples.push([pair[0].lerp(pair[1], part) + normal * (0.008 * RADIUS), normal]);
                    at += step;
                }
                since = length - (at - step);
            }
        }
        samples
    }

    /// The nearest view from a direction that shows all.
    fn view(&self, direction: Vec3, ground: f32) -> View {
        let mut view = View {
            eye: direction,
            target: Vec3::ZERO,
            field: FIELD,
            ground,
            extent: 1.35 * RADIUS,
            near_length: 0.03 * RADIUS,
        };
        let all: &[Vec3] = self.focus.as_ref().map_or(self.vertices, |corners| corners);
        let stride = all.len().div_ceil(4096).max(1);
        let slope = 0.85 * (0.5 * FIELD).tan();
        // Centring changes the needed distance, so it takes a few rounds.
        for _ in 0..3 {
            let camera = Camera::new(&View { eye: view.target + direction, ..view }, 2, 2);
            let seen: Vec<Vec3> =
                all.iter().step_by(stride).map(|&at| camera.to_camera(at - view.target)).collect();
            let away = |at: &Vec3| (at.x.abs() / (slope * self.aspect)).max(at.y.abs() / slope) - at.z;
            let distance = seen.iter().map(away).fold(0.05 * RADIUS, f32::max);
            let positions = seen.iter().map(|at| Vec2::new(at.x, at.y) / (distance + at.z));
            let (low, high) = positions
                .fold((Vec2::INFINITY, Vec2::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
            let middle = 0.5 * (low + high) * distance;
            view.eye = view.target + direction * distance;
            let shift = camera.to_world(middle);
            (view.eye, view.target) = (view.eye + shift, view.target + shift);
        }
        view
    }

    /// The visible share of the paths: with back faces, and without.
    fn shares(&self, view: &View, fronts: &[Facet], samples: &[[Vec3; 2]]) -> [f32; 2] {
        let (width, height) = ((SAMPLE_HEIGHT as f32 * self.aspect).max(1.0) as usize, SAMPLE_HEIGHT);
        let camera = Camera::new(view, width, height);
        let triangles = |with_backs: bool| -> Vec<ScreenTriangle> {
            let triangle = |facet: &Facet| {
                let corners = facet.corners.map(|corner| camera.project(corner));
                ScreenTriangle {
                    corners: corners.map(|(position, _)| position),
                    nearness: corners.map(|(_, near)| near),
                    facet: 0,
                }
            };
            let is_seen = |facet: &&Facet| with_backs || facet.normal.dot(facet.corners[0] - view.eye) < 0.0;
            let triangles = fronts.par_iter().filter(is_seen).map(triangle);
            triangles.filter(|triangle| triangle.nearness.iter().all(|&near| near > 0.0)).collect()
        };
        [true, false].map(|with_backs| {
            let buffer = Buffer::draw(width, height, &triangles(with_backs));
            let seen = |&[at, normal]: &[Vec3; 2]| {
                let (position, nearness) = camera.project(at);
                let is_inside = position.x >= 0.0 && position.y >= 0.0 && nearness > 0.0;
                let (x, y) = (position.x as usize, position.y as usize);
                if !(is_inside && x < width && y < height && buffer.at(x, y).0 <= nearness * 1.001) {
                    return 0.0;
                }
                // At a grazing angle a path looks short.
                0.4 + 0.6 * normal.dot((view.eye - at).normalize_or_zero()).max(0.0)
            };
            samples.iter().map(seen).sum::<f32>() / samples.len() as f32
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hullfield::navigate::surface::{Model, Options as SurfaceOptions, PathOptions};

    fn cube() -> Surface {
        let points = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from)).collect();
        let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        Surface::new(&[Model::polygons(points, faces)], SurfaceOptions::default()).unwrap()
    }

    /// Pixels that are much redder than they are blue.
    fn red_count(picture: &Picture) -> usize {
        picture.rgb.chunks_exact(3).filter(|pixel| pixel[0] > 60 && pixel[0] / 2 > pixel[2]).count()
    }

    #[test]
    fn a_path_is_visible_on_every_side_of_the_model() {
        let surface = cube();
        let draw = |paths: &[SurfacePath], up| {
            SurfacePicture { surface: &surface, paths, distances: None, up }.draw(240, 160)
        };
        let none = red_count(&draw(&[], [0.0, 1.0, 0.0]));
        let sides = [
            [0.0, 0.5, 0.5],
            [1.0, 0.5, 0.5],
            [0.5, 0.0, 0.5],
            [0.5, 1.0, 0.5],
            [0.5, 0.5, 0.0],
            [0.5, 0.5, 1.0],
        ];
        // Each side with one of three directions up, another in each run: a picture takes a second without optimization.
        let run = hullfield_oracle::seed(0);
        let ups = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]];
        for (side, middle) in (0..).zip(sides) {
            let up = ups[(run.wrapping_add(side) % 3) as usize];
            let goal = [0, 1, 2].map(|k: usize| if middle[k] == 0.5 { 0.9 } else { middle[k] });
            let path = surface.path(middle, goal, &PathOptions::default()).unwrap();
            let count = red_count(&draw(std::slice::from_ref(&path), up));
            assert!(count > none + 30, "{middle:?}, up {up:?}: {count} red pixels, {none} without a path");
        }
    }

    #[test]
    fn blocked_triangles_are_darker() {
        let mut surface = cube();
        let light = |surface: &Surface| {
            let picture =
                SurfacePicture { surface, paths: &[], distances: None, up: [0.0, 1.0, 0.0] }.draw(64, 64);
            picture.rgb.iter().map(|&byte| u64::from(byte)).sum::<u64>()
        };
        let free = light(&surface);
        surface.set_walkable_where(|_, _| false);
        assert!(light(&surface) * 10 < free * 9);
    }
}
