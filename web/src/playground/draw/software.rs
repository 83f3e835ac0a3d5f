//! The renderer on the CPU: a depth buffer, and one colour for each triangle, or for each pixel of a mesh with numbers.

use glam::{Quat, Vec3, Vec4, Vec4Swizzles};
use hullfield::collide::PackedBody;

use crate::playground::draw::light::View;
use crate::playground::draw::line::Line;
use crate::playground::draw::mesh::Mesh;
use crate::playground::draw::palette::{Color, Palette, color_of};
use crate::playground::draw::scale::Scale;

/// How much nearer lines are taken to be, in depth, so that those on a surface are seen. The shader has the same number.
pub const LINE_LIFT: f32 = 5e-5;

/// A picture in memory.
#[derive(Debug, Default)]
pub struct Software {
    size: [u32; 2],
    pixels: Vec<u8>,
    depth: Vec<f32>,
    /// The clip-space vertices of the mesh that is drawn.
    corners: Vec<Vec4>,
}

/// A corner on the canvas.
#[derive(Debug, Clone, Copy)]
struct Corner {
    x: f32,
    y: f32,
    depth: f32,
    /// One over the distance along the view, by which numbers are interpolated.
    over_w: f32,
    /// The number at the corner, times `over_w`.
    value: f32,
}

impl Software {
    /// Begins a picture of this size, all in one colour.
    pub fn clear(&mut self, size: [u32; 2], background: Color) {
        let count = size[0] as usize * size[1] as usize;
        self.size = size;
        self.pixels.clear();
        self.pixels.reserve(4 * count);
        for _ in 0..count {
            self.pixels.extend(background);
        }
        self.depth.clear();
        self.depth.resize(count, 1.0);
    }

    /// Width and height in pixels.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Four bytes a pixel, rows from the top.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// Draws bodies. `meshes` has the mesh of each hull, `marks` the mark of each body.
    pub fn bodies(
        &mut self,
        view: &View,
        meshes: &[Mesh],
        bodies: &[PackedBody],
        marks: &[u32],
        palette: &Palette,
    ) {
        for (body, &mark) in bodies.iter().zip(marks) {
            let Some(mesh) = meshes.get(body.hull as usize) else { continue };
            let (at, turn) = (Vec3::from(body.position), Quat::from_array(body.rotation));
            let scale = Vec3::from(body.scale);
            let center = view.matrix * at.extend(1.0);
            if center.w < -body.radius {
                continue;
            }
            let mut corners = std::mem::take(&mut self.corners);
            corners.clear();
            let world = |position: &[f32; 3]| at + turn * (scale * Vec3::from(*position));
            corners.extend(mesh.positions.iter().map(|position| view.matrix * world(position).extend(1.0)));
            let color = color_of(palette, mark);
            for triangle in &mesh.triangles {
                let clip = triangle.map(|index| corners[index as usize]);
                if is_outside(&clip) || is_turned_away(&clip) {
                    continue;
                }
                let sum: Vec3 = triangle.iter().map(|&index| Vec3::from(mesh.normals[index as usize])).sum();
                let normal = (turn * (sum / scale)).normalize_or(Vec3::Y);
                let lit = lit(color, view.brightness(world(&mesh.positions[triangle[0] as usize]), normal));
                self.triangle(clip.map(|clip| (clip, 0.0)), |_| lit);
            }
            self.corners = corners;
        }
    }

    /// Draws a mesh with a number at each vertex. It may be open: both sides are drawn.
    pub fn bands(&mut self, view: &View, mesh: &Mesh, values: &[f32], scale: &Scale) {
        let mut corners = std::mem::take(&mut self.corners);
        corners.clear();
        corners.extend(mesh.positions.iter().map(|&position| view.matrix * Vec3::from(position).extend(1.0)));
        for triangle in &mesh.triangles {
            let clip = triangle.map(|index| corners[index as usize]);
            if is_outside(&clip) {
                continue;
            }
            let [a, b, c] = triangle.map(|index| Vec3::from(mesh.positions[index as usize]));
            let brightness = view.brightness(a, (b - a).cross(c - a).normalize_or(Vec3::Y));
            let value = |corner: usize| values.get(triangle[corner] as usize).copied().unwrap_or(f32::NAN);
            let corners = [0, 1, 2].map(|corner| (clip[corner], value(corner)));
            self.triangle(corners, |value| lit(scale.color(value), brightness));
        }
        self.corners = corners;
    }

    /// Draws lines. Widths are in pixels of this picture.
    pub fn lines(&mut self, view: &View, lines: &[Line]) {
        for line in lines {
            let ends = [line.from, line.to].map(|end| view.matrix * Vec3::from(end).extend(1.0));
            let Some(ends) = clip_line(ends) else { continue };
            let [a, b] = ends.map(|end| self.corner(end, 0.0));
            let along = [b.x - a.x, b.y - a.y];
            let steps = along[0].abs().max(along[1].abs()).ceil().clamp(1.0, 8192.0);
            let half = line.width.max(1.0) / 2.0;
            for step in 0..=steps as u32 {
                let share = step as f32 / steps;
                let at = [a.x + share * along[0], a.y + share * along[1]];
                let depth = a.depth + share * (b.depth - a.depth) - LINE_LIFT;
                let [x, y] = at.map(|at| pixels(at - half, at + half));
                for y in y.clone() {
                    for x in x.clone() {
                        self.put(x, y, depth, line.color);
                    }
                }
            }
        }
    }

    fn put(&mut self, x: i32, y: i32, depth: f32, color: Color) {
        let [width, height] = self.size;
        if x < 0 || y < 0 || x as u32 >= width || y as u32 >= height {
            return;
        }
        let index = y as usize * width as usize + x as usize;
        if depth <= self.depth[index] {
            self.depth[index] = depth;
            self.pixels[4 * index..4 * index + 4].copy_from_slice(&color);
        }
    }

    fn corner(&self, clip: Vec4, value: f32) -> Corner {
        let over_w = 1.0 / clip.w;
        let [width, height] = self.size.map(|side| side as f32);
        Corner {
            x: (0.5 + 0.5 * clip.x * over_w) * width,
            y: (0.5 - 0.5 * clip.y * over_w) * height,
            depth: clip.z * over_w,
            over_w,
            value: value * over_w,
        }
    }

    /// Draws a triangle of clip space, each corner with its number. What is nearer than the near plane is cut off.
    fn triangle(&mut self, corners: [(Vec4, f32); 3], color: impl Fn(f32) -> Color) {
        let (cut, count) = clip_triangle(corners);
        let at = |index: usize| self.corner(cut[index].0, cut[index].1);
        match count {
            3 => self.fill([at(0), at(1), at(2)], &color),
            4 => {
                let (first, second) = ([at(0), at(1), at(2)], [at(0), at(2), at(3)]);
                self.fill(first, &color);
                self.fill(second, &color);
            }
            _ => {}
        }
    }

    /// Fills the pixels whose centre is within the triangle.
    fn fill(&mut self, [a, mut b, mut c]: [Corner; 3], color: &impl Fn(f32) -> Color) {
        let mut area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        if area < 0.0 {
            (b, c, area) = (c, b, -area);
        }
        if !(area > 0.0 && area.is_finite()) {
            return;
        }
        let [width, height] = self.size.map(|side| side as i32);
        let bounds = |side: i32, values: [f32; 3]| {
            let low = values.into_iter().fold(f32::INFINITY, f32::min);
            let high = values.into_iter().fold(f32::NEG_INFINITY, f32::max);
            let range = pixels(low, high);
            range.start.max(0)..range.end.min(side)
        };
        let (columns, rows) = (bounds(width, [a.x, b.x, c.x]), bounds(height, [a.y, b.y, c.y]));
        for row in rows {
            let y = row as f32 + 0.5;
            let edge = |from: &Corner, to: &Corner, x: f32| {
                (to.x - from.x) * (y - from.y) - (to.y - from.y) * (x - from.x)
            };
            for column in columns.clone() {
                let x = column as f32 + 0.5;
                let [of_a, of_b, of_c] = [edge(&b, &c, x), edge(&c, &a, x), edge(&a, &b, x)];
                if of_a < 0.0 || of_b < 0.0 || of_c < 0.0 {
                    continue;
                }
                let share = [of_a / area, of_b / area, of_c / area];
                let blend =
                    |of: fn(&Corner) -> f32| share[0] * of(&a) + share[1] * of(&b) + share[2] * of(&c);
                let depth = blend(|corner| corner.depth);
                let index = row as usize * width as usize + column as usize;
                if depth < self.depth[index] {
                    self.depth[index] = depth;
                    let value = blend(|corner| corner.value) / blend(|corner| corner.over_w);
                    self.pixels[4 * index..4 * index + 4].copy_from_slice(&color(value));
                }
            }
        }
    }
}

/// The pixels whose centres are from `low` to `high`.
fn pixels(low: f32, high: f32) -> std::ops::Range<i32> {
    // `as` saturates, so that nothing far off the canvas overflows.
    (low - 0.5).ceil() as i32..((high - 0.5).floor() as i32).saturating_add(1)
}

fn lit(color: Color, brightness: f32) -> Color {
    let channel = |value: u8| (f32::from(value) * brightness + 0.5) as u8;
    [channel(color[0]), channel(color[1]), channel(color[2]), 255]
}

/// Whether all corners are beyond one side of the view.
fn is_outside(clip: &[Vec4; 3]) -> bool {
    let all = |test: fn(&Vec4) -> bool| clip.iter().all(test);
    all(|v| v.x < -v.w)
        || all(|v| v.x > v.w)
        || all(|v| v.y < -v.w)
        || all(|v| v.y > v.w)
        || all(|v| v.z < 0.0)
        || all(|v| v.z > v.w)
}

/// Whether the triangle's back is seen, by the sign of its homogeneous area.
fn is_turned_away(clip: &[Vec4; 3]) -> bool {
    let [a, b, c] = clip.map(|v| Vec3::new(v.x, v.y, v.w));
    a.dot(b.cross(c)) <= 0.0
}

/// The part of a triangle that is beyond the near plane: three corners, or four, or none.
fn clip_triangle(corners: [(Vec4, f32); 3]) -> ([(Vec4, f32); 4], usize) {
    let mut cut = [(Vec4::ZERO, 0.0); 4];
    let mut count = 0;
    let mut push = |corner| {
        if let Some(place) = cut.get_mut(count) {
            *place = corner;
            count += 1;
        }
    };
    for index in 0..3 {
        let (from, to) = (corners[index], corners[(index + 1) % 3]);
        if from.0.z >= 0.0 {
            push(from);
        }
        if (from.0.z >= 0.0) != (to.0.z >= 0.0) {
            let share = from.0.z / (from.0.z - to.0.z);
            push((from.0.lerp(to.0, share), from.1 + share * (to.1 - from.1)));
        }
    }
    (cut, count)
}

/// The part of a line that is beyond the near plane and within reach of the canvas.
fn clip_line([mut a, mut b]: [Vec4; 2]) -> Option<[Vec4; 2]> {
    // Each side as the plane's normal; twice the canvas, so that wide lines are not cut short.
    let sides: [fn(Vec4) -> f32; 5] =
        [|v| v.z, |v| 2.0 * v.w - v.x, |v| 2.0 * v.w + v.x, |v| 2.0 * v.w - v.y, |v| 2.0 * v.w + v.y];
    for side in sides {
        let [of_a, of_b] = [side(a), side(b)];
        if of_a < 0.0 && of_b < 0.0 {
            return None;
        }
        if of_a < 0.0 {
            a = a.lerp(b, of_a / (of_a - of_b));
        } else if of_b < 0.0 {
            b = a.lerp(b, of_a / (of_a - of_b));
        }
    }
    [a, b].iter().all(|v| v.w > 0.0 && v.xyz().is_finite()).then_some([a, b])
}

#[cfg(test)]
mod tests {
    use glam::Mat4;

    use super::*;
    use crate::playground::draw::camera::Camera;
    use crate::playground::draw::palette::rgb;
    use hullfield::Engine;
    use hullfield::collide::{Arena, Body, Hull, Options};

    const BACK: Color = [10, 20, 30, 255];

    /// A view whose clip space is the world: x right, y up, depth z.
    fn flat() -> View {
        View { matrix: Mat4::IDENTITY, eye: Vec3::new(0.0, 0.0, -1e6), light: Vec3::NEG_Z }
    }

    fn pixel(picture: &Software, x: u32, y: u32) -> Color {
        let index = 4 * (y * picture.size()[0] + x) as usize;
        picture.pixels()[index..index + 4].try_into().unwrap()
    }

    fn plain(color: Color) -> Scale {
        Scale { colors: [color; 4], range: 1.0, band: 0.0, none: BACK }
    }

    /// A rectangle at one depth.
    fn sheet(low: [f32; 2], high: [f32; 2], z: f32) -> Mesh {
        let positions =
            vec![[low[0], low[1], z], [high[0], low[1], z], [high[0], high[1], z], [low[0], high[1], z]];
        Mesh::smooth(positions, vec![[0, 1, 2], [0, 2, 3]])
    }

    fn count(picture: &Software, wanted: impl Fn(Color) -> bool) -> usize {
        let [width, height] = picture.size();
        (0..width * height).filter(|index| wanted(pixel(picture, index % width, index / width))).count()
    }

    #[test]
    fn a_sheet_covers_the_pixels_whose_centres_are_in_it() {
        let mut picture = Software::default();
        picture.clear([8, 8], BACK);
        // A quarter of the canvas, right and up.
        picture.bands(&flat(), &sheet([0.0, 0.0], [1.0, 1.0], 0.5), &[0.5; 4], &plain(rgb(0xff0000)));
        assert_eq!(count(&picture, |color| color == [255, 0, 0, 255]), 16);
        assert_eq!(pixel(&picture, 4, 3), [255, 0, 0, 255]);
        assert_eq!(pixel(&picture, 3, 3), BACK);
        assert_eq!(pixel(&picture, 4, 4), BACK);
    }

    #[test]
    fn the_nearer_one_is_seen_in_either_order() {
        let (near, far) = (sheet([-1.0, -1.0], [1.0, 1.0], 0.25), sheet([-1.0, -1.0], [1.0, 1.0], 0.5));
        for order in [[0, 1], [1, 0]] {
            let mut picture = Software::default();
            picture.clear([4, 4], BACK);
            for index in order {
                let (mesh, color) = [(&near, 0x00ff00), (&far, 0x0000ff)][index];
                picture.bands(&flat(), mesh, &[0.0; 4], &plain(rgb(color)));
            }
            assert_eq!(count(&picture, |color| color == [0, 255, 0, 255]), 16);
        }
    }

    #[test]
    fn numbers_are_interpolated_over_a_mesh() {
        let mut picture = Software::default();
        picture.clear([100, 1], BACK);
        let scale = Scale {
            colors: [[0, 0, 0, 255], [60, 0, 0, 255], [120, 0, 0, 255], [180, 0, 0, 255]],
            range: 1.0,
            band: 0.0,
            none: BACK,
        };
        picture.bands(&flat(), &sheet([-1.0, -1.0], [1.0, 1.0], 0.5), &[0.0, 1.0, 1.0, 0.0], &scale);
        for x in 0..100 {
            let expected = 180.0 * (x as f32 + 0.5) / 100.0;
            assert!((f32::from(pixel(&picture, x, 0)[0]) - expected).abs() <= 1.0, "{x}");
        }
    }

    #[test]
    fn what_is_before_the_near_plane_is_cut_off() {
        let mut picture = Software::default();
        picture.clear([10, 10], BACK);
        // It leans: depth −0.5 at the bottom, 0.5 at the top.
        let positions = vec![[-1.0, -1.0, -0.5], [1.0, -1.0, -0.5], [1.0, 1.0, 0.5], [-1.0, 1.0, 0.5]];
        let mesh = Mesh::smooth(positions, vec![[0, 1, 2], [0, 2, 3]]);
        picture.bands(&flat(), &mesh, &[0.0; 4], &plain(rgb(0xffffff)));
        for y in 0..10 {
            assert_eq!(pixel(&picture, 5, y) != BACK, y < 5, "{y}");
        }
    }

    #[test]
    fn lines_are_hidden_by_what_is_nearer() {
        let mut picture = Software::default();
        picture.clear([20, 20], BACK);
        picture.bands(&flat(), &sheet([0.0, -1.0], [1.0, 1.0], 0.4), &[0.0; 4], &plain(rgb(0xffffff)));
        let line =
            |z: f32| Line { from: [-1.0, 0.05, z], to: [1.0, 0.05, z], width: 1.0, color: rgb(0x00ff00) };
        picture.lines(&flat(), &[line(0.5)]);
        assert_eq!(count(&picture, |color| color == [0, 255, 0, 255]), 10);
        // One on the sheet is seen.
        picture.lines(&flat(), &[line(0.4)]);
        assert_eq!(count(&picture, |color| color == [0, 255, 0, 255]), 20);
    }

    #[test]
    fn a_line_of_no_length_is_a_square_and_one_far_off_is_nothing() {
        let mut picture = Software::default();
        picture.clear([20, 20], BACK);
        let point =
            |x: f32| Line { from: [x, 0.0, 0.5], to: [x, 0.0, 0.5], width: 4.0, color: rgb(0xff00ff) };
        picture.lines(&flat(), &[point(0.0), point(1e30), point(f32::NAN)]);
        assert_eq!(count(&picture, |color| color == [255, 0, 255, 255]), 16);
    }

    #[test]
    fn bodies_are_drawn_where_they_are_with_the_colours_of_their_marks() {
        let hulls = [Hull::cuboid([0.5; 3]).unwrap(), Hull::ball(0.5).unwrap()];
        let arena = Arena::new(&Engine::cpu(), &hulls, Options::default()).unwrap();
        let bodies = [Body::new(0).at([-1.0, 0.0, 0.0]), Body::new(1).at([1.0, 0.0, 0.0])];
        let packed = arena.pack(&bodies).unwrap();
        let meshes: Vec<Mesh> = hulls.iter().map(Mesh::of_hull).collect();
        let mut palette = [BACK; 8];
        (palette[2], palette[3]) = (rgb(0xff0000), rgb(0x0000ff));
        let camera = Camera { yaw: 0.0, pitch: 0.0, ..Camera::around(2.0) };
        let mut picture = Software::default();
        picture.clear([200, 100], BACK);
        let view = View::new(&camera, picture.size());
        picture.bodies(&view, &meshes, &packed, &[2, 3], &palette);
        for (body, channel) in bodies.iter().zip([0, 2]) {
            let seen = view.matrix.project_point3(Vec3::from(body.position));
            let [x, y] = [(0.5 + 0.5 * seen.x) * 200.0, (0.5 - 0.5 * seen.y) * 100.0];
            let color = pixel(&picture, x as u32, y as u32);
            assert!(color[channel] > 100 && color[2 - channel] == 0, "{color:?}");
        }
        // The box fills more than the ball.
        let [red, blue] = [0, 2].map(|channel| count(&picture, |color| color[channel] > 60 && color[1] == 0));
        assert!(red > blue && blue > 100, "{red} {blue}");
    }
}
