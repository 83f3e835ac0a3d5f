//! Light and colour of rasterized facets.

use std::f32::consts::TAU;
use std::ops::Range;

use glam::{Mat3, Vec2, Vec3};
use rayon::prelude::*;

use super::camera::{Camera, View};
use super::raster::{Buffer, Facet, NO_FACET, ScreenTriangle};
use super::srgb::{Picture, linear};

/// Samples along one side of a pixel.
const SAMPLES: usize = 2;
/// Rows of pixels that one task colours.
const BAND: usize = 16;
/// Samples along one side of the shadow map.
const SHADOW_SIDE: usize = 4096;
/// Shadow-map lookups for a sample of a body, and of the ground, whose shadows are softer.
const SHADOW_TAPS: usize = 8;
const GROUND_TAPS: usize = 48;
/// Occlusion lookups for a sample, near it and farther out.
const NEAR_OCCLUSION_TAPS: usize = 8;
const WIDE_OCCLUSION_TAPS: usize = 6;

/// The sun: parallel light, with a square shadow map over the scene.
#[derive(Debug)]
struct Sun {
    /// Towards the sun.
    direction: Vec3,
    right: Vec3,
    up: Vec3,
    target: Vec3,
    /// Samples of the shadow map per world unit.
    scale: f32,
    extent: f32,
}

impl Sun {
    fn new(view: &View) -> Self {
        let forward = (view.target - view.eye).with_y(0.0).normalize_or(Vec3::NEG_Z);
        let side = forward.cross(Vec3::Y);
        let direction = (Vec3::Y * 1.25 - forward * 0.42 - side * 0.8).normalize();
        let right = direction.cross(Vec3::Y).normalize_or(Vec3::X);
        Self {
            direction,
            right,
            up: right.cross(direction),
            target: view.target,
            scale: SHADOW_SIDE as f32 / (2.0 * view.extent),
            extent: view.extent,
        }
    }

    /// The position on the shadow map, and a positive height that grows towards the sun.
    fn project(&self, point: Vec3) -> (Vec2, f32) {
        let seen = point - self.target;
        let middle = 0.5 * SHADOW_SIDE as f32;
        let position = Vec2::new(seen.dot(self.right), seen.dot(self.up)) * self.scale + Vec2::splat(middle);
        (position, seen.dot(self.direction) + 4.0 * self.extent)
    }
}

/// Interleaved gradient noise (Jimenez 2014): a value in [0, 1) for each sample. Neighbouring values are spread over the range,
/// so that it looks finer than white noise. Each salt gives a different pattern.
fn noise(x: usize, y: usize, salt: u32) -> f32 {
    let shift = 5.588_238 * salt as f32;
    let dot = 0.067_110_56 * (x as f32 + shift) + 0.005_837_15 * (y as f32 + shift);
    fraction(52.982_918 * fraction(dot))
}

/// The fractional part of a number that is not negative. `f32::fract` calls a function of libm on x86-64.
fn fraction(value: f32) -> f32 {
    value - value as u32 as f32
}

/// Points spread over the unit disc: Vogel's spiral.
fn disc<const COUNT: usize>() -> [Vec2; COUNT] {
    std::array::from_fn(|i| {
        let radius = ((i as f32 + 0.5) / COUNT as f32).sqrt();
        Vec2::from_angle(TAU * i as f32 * 0.618_034) * radius
    })
}

/// Directions of the hemisphere around z, distributed by the cosine: points of the disc, lifted to the unit sphere (Malley's method).
fn hemisphere<const COUNT: usize>() -> [Vec3; COUNT] {
    disc::<COUNT>().map(|flat| flat.extend((1.0 - flat.length_squared()).max(0.0).sqrt()))
}

/// Where the lookups of a sample are, before they are turned by its noise.
struct Taps {
    body_shadow: [Vec2; SHADOW_TAPS],
    ground_shadow: [Vec2; GROUND_TAPS],
    near: [Vec3; NEAR_OCCLUSION_TAPS],
    wide: [Vec3; WIDE_OCCLUSION_TAPS],
}

fn smoothstep(from: f32, to: f32, value: f32) -> f32 {
    let t = ((value - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The colour of a facet's item: linear RGB reflectance.
pub(super) type Colours<'a> = &'a (dyn Fn(u32) -> Vec3 + Sync);

struct Renderer<'a> {
    facets: &'a [Facet],
    colours: Colours<'a>,
    view: &'a View,
    camera: Camera,
    sun: Sun,
    visible: Buffer,
    shadow: Buffer,
    taps: Taps,
    /// The facets that shine through others, if there are any.
    through: Option<(Buffer, Range<usize>)>,
}

/// The opacity of facets that shine through others.
const THROUGH_OPACITY: f32 = 0.34;

/// Draws facets. Those in the range `through` show faintly through others that hide them.
pub(super) fn draw(
    facets: &[Facet],
    colours: Colours<'_>,
    through: Range<usize>,
    view: &View,
    width: usize,
    height: usize,
) -> Picture {
    let (across, down) = (width * SAMPLES, height * SAMPLES);
    let camera = Camera::new(view, across, down);
    let sun = Sun::new(view);
    let visible: Vec<ScreenTriangle> = facets
        .par_iter()
        .zip(0u32..facets.len() as u32)
        .filter(|(facet, _)| facet.normal.dot(facet.corners[0] - camera.eye) < 0.0)
        .map(|(facet, index)| {
            let corners = facet.corners.map(|corner| camera.project(corner));
            ScreenTriangle {
                corners: corners.map(|(position, _)| position),
                nearness: corners.map(|(_, near)| near),
                facet: index,
            }
        })
        .filter(|triangle| triangle.nearness.iter().all(|&near| near > 0.0 && near < 1e3))
        .collect();
    let lit: Vec<ScreenTriangle> = facets
        .par_iter()
        .zip(0u32..facets.len() as u32)
        .filter(|(facet, _)| facet.normal.dot(sun.direction) > 0.0)
        .map(|(facet, index)| {
            let corners = facet.corners.map(|corner| sun.project(corner));
            ScreenTriangle {
                corners: corners.map(|(position, _)| position),
                nearness: corners.map(|(_, near)| near),
                facet: index,
            }
        })
        .collect();
    let through = (!through.is_empty()).then(|| {
        let own: Vec<ScreenTriangle> =
            visible.iter().filter(|triangle| through.contains(&(triangle.facet as usize))).copied().collect();
        (Buffer::draw(across, down, &own), through)
    });
    let renderer = Renderer {
        facets,
        colours,
        view,
        camera,
        sun,
        visible: Buffer::draw(across, down, &visible),
        shadow: Buffer::draw(SHADOW_SIDE, SHADOW_SIDE, &lit),
        taps: Taps { body_shadow: disc(), ground_shadow: disc(), near: hemisphere(), wide: hemisphere() },
        through,
    };
    let mut rgb = vec![0; width * height * 3];
    rgb.par_chunks_mut(BAND * width * 3).enumerate().for_each(|(band, lines)| {
        // Column by column, so that lookups around a pixel find what its neighbours have loaded into the cache.
        for column in 0..width {
            for (row, line) in lines.chunks_exact_mut(width * 3).enumerate() {
                let pixel = renderer.pixel(column, band * BAND + row, width, height);
                line[3 * column..3 * column + 3].copy_from_slice(&pixel);
            }
        }
    });
    Picture { width, height, rgb }
}

/// Maps light to 0..1: linear up to 0.6, then a soft shoulder.
fn tone_mapped(light: Vec3) -> Vec3 {
    let curve = |value: f32| {
        let value = value.max(0.0);
        if value < 0.6 { value } else { 0.6 + 0.4 * (1.0 - (-(value - 0.6) / 0.4).exp()) }
    };
    Vec3::new(curve(light.x), curve(light.y), curve(light.z))
}

/// Linear to sRGB.
fn srgb_encoded(value: f32) -> f32 {
    if value <= 0.003_130_8 { value * 12.92 } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 }
}

impl Renderer<'_> {
    /// The sRGB bytes of a pixel.
    fn pixel(&self, column: usize, row: usize, width: usize, height: usize) -> [u8; 3] {
        let samples: [_; SAMPLES * SAMPLES] =
            std::array::from_fn(|i| (column * SAMPLES + i % SAMPLES, row * SAMPLES + i / SAMPLES));
        // Two samples are enough for a pixel without facets.
        let is_empty = samples.iter().all(|&(x, y)| self.visible.at(x, y).1 == NO_FACET);
        let samples = if is_empty { &samples[1..3] } else { &samples[..] };
        // Tone-mapped before averaging, or one bright sample would make a jagged edge.
        let sum: Vec3 = samples.iter().map(|&(x, y)| tone_mapped(self.light(x, y))).sum();
        let mean = sum / samples.len() as f32;
        let at = (Vec2::new(column as f32 + 0.5, row as f32 + 0.5) / Vec2::new(width as f32, height as f32)
            - Vec2::splat(0.5))
            * 2.0;
        let mean = mean * (1.0 - 0.10 * at.length_squared().min(2.0) * 0.5);
        let grain = (noise(column, row, 7) - 0.5) / 255.0;
        mean.to_array().map(|value| ((srgb_encoded(value) + grain) * 255.0 + 0.5).clamp(0.0, 255.0) as u8)
    }

    /// The light that reaches the camera through a sample.
    fn light(&self, x: usize, y: usize) -> Vec3 {
        let (nearness, facet) = self.visible.at(x, y);
        let ray = self.camera.ray(x as f32 + 0.5, y as f32 + 0.5);
        let backdrop = self.backdrop(ray);
        let near_length = self.view.near_length;
        if facet != NO_FACET {
            let index = facet as usize;
            let facet = &self.facets[index];
            let point = self.camera.eye + ray / nearness;
            let colour = (self.colours)(facet.item);
            let taps = &self.taps;
            let sun =
                self.sunlight(point, facet.normal, 0.30 * near_length, &taps.body_shadow, noise(x, y, 1));
            let near = self.visibility(point, facet.normal, 2.2 * near_length, &taps.near, x, y);
            let wide = self.visibility(point, facet.normal, 9.0 * near_length, &taps.wide, x, y);
            let open = near * (0.3 + 0.7 * wide);
            let lit =
                colour * self.diffuse(facet.normal, sun, open) + self.specular(ray, facet.normal, sun, open);
            let haze =
                0.55 * smoothstep(0.6, 2.6, (1.0 / nearness) / (self.view.eye - self.view.target).length());
            let lit = lit.lerp(backdrop, haze);
            let hidden = self.through.as_ref().filter(|(_, range)| !range.contains(&index));
            return match hidden.map(|(buffer, _)| buffer.at(x, y).1) {
                Some(hidden) if hidden != NO_FACET => {
                    lit.lerp((self.colours)(self.facets[hidden as usize].item), THROUGH_OPACITY)
                }
                _ => lit,
            };
        }
        // The ground fades into the backdrop, so there is no horizon.
        let depth = (self.view.ground - self.camera.eye.y) / ray.y;
        if !(ray.y < 0.0 && depth > 0.0) {
            return backdrop;
        }
        let point = self.camera.eye + ray * depth;
        let away = (point - self.view.target).with_y(0.0).length() / self.view.extent;
        if away > 2.2 {
            return backdrop;
        }
        let sun = self.sunlight(point, Vec3::Y, 3.0 * near_length, &self.taps.ground_shadow, noise(x, y, 1));
        backdrop * (1.0 - 0.62 * (1.0 - sun) * (1.0 - smoothstep(1.2, 2.2, away)))
    }

    /// The light of an empty sample.
    fn backdrop(&self, ray: Vec3) -> Vec3 {
        let up = ray.normalize().y;
        linear(0xd8d6d0).lerp(linear(0xb4bcc6), smoothstep(-0.55, 0.35, up))
    }

    /// The light that a white surface reflects in all directions.
    fn diffuse(&self, normal: Vec3, sun: f32, open: f32) -> Vec3 {
        let facing = normal.dot(self.sun.direction).max(0.0);
        let sky = Vec3::new(0.38, 0.45, 0.56);
        let ground = Vec3::new(0.30, 0.275, 0.25);
        let around = ground.lerp(sky, 0.5 + 0.5 * normal.y);
        Vec3::new(1.78, 1.62, 1.42) * (facing * sun) + around * (open * open)
    }

    /// A dull highlight, and a bright rim where the surface turns away.
    fn specular(&self, ray: Vec3, normal: Vec3, sun: f32, open: f32) -> Vec3 {
        let to_eye = -ray.normalize();
        let half = (to_eye + self.sun.direction).normalize_or_zero();
        let spot = normal.dot(half).max(0.0).powi(28) * 0.16 * sun;
        let rim = (1.0 - normal.dot(to_eye).max(0.0)).powi(4) * 0.14 * open;
        Vec3::splat(spot) + Vec3::new(0.8, 0.9, 1.0) * rim
    }

    /// The visible share of the sun's disc.
    fn sunlight(&self, point: Vec3, normal: Vec3, blur: f32, taps: &[Vec2], turn: f32) -> f32 {
        let facing = normal.dot(self.sun.direction);
        if facing <= 0.0 {
            return 0.0;
        }
        let offset = 1.5 / self.sun.scale;
        let (position, height) = self.sun.project(point + normal * offset);
        // Lookups on a sloped surface differ in height, so the slack follows the slope.
        let slope = (1.0 / facing.max(0.15)).min(6.0);
        let turn = Vec2::from_angle(TAU * turn) * blur;
        let is_lit = |tap: Vec2| {
            let at = turn.rotate(tap);
            let position = position + at * self.sun.scale;
            let slack = offset * slope + at.length() * 0.25 * slope;
            let is_inside = position.x >= 0.0 && position.y >= 0.0;
            let (column, row) = (position.x as usize, position.y as usize);
            !is_inside
                || column >= SHADOW_SIDE
                || row >= SHADOW_SIDE
                || self.shadow.at(column, row).0 <= height + slack
        };
        let count = |stride: usize| taps.iter().step_by(stride).filter(|&&tap| is_lit(tap)).count();
        // Most samples of the ground are fully lit or fully dark, which every sixth lookup shows.
        if taps.len() > 16 {
            match count(6) {
                0 => return 0.0,
                all if all == taps.len().div_ceil(6) => return 1.0,
                _ => {}
            }
        }
        count(1) as f32 / taps.len() as f32
    }

    /// The share of the sky over a surface that nothing within `reach` hides: ambient occlusion in screen space.
    fn visibility(&self, point: Vec3, normal: Vec3, reach: f32, taps: &[Vec3], x: usize, y: usize) -> f32 {
        let (right, up) = normal.any_orthonormal_pair();
        let turn = Vec2::from_angle(TAU * noise(x, y, 2));
        let shift = noise(x, y, 3);
        let point = point + normal * (0.01 * reach);
        let frame = Mat3::from_cols(right * turn.x + up * turn.y, up * turn.x - right * turn.y, normal);
        let projection = self.camera.projection(point, frame * reach);
        let mut hidden = 0.0;
        for (tap, &direction) in taps.iter().enumerate() {
            let length = fraction(tap as f32 * 0.754_877_7 + shift);
            let (at, nearness) = projection.project(direction * (length * length.sqrt()));
            if !(at.x >= 0.0 && at.y >= 0.0 && nearness > 0.0) {
                continue;
            }
            let (column, row) = (at.x as usize, at.y as usize);
            if column >= self.visible.width || row >= self.visible.height {
                continue;
            }
            let found = self.visible.at(column, row).0;
            if found > nearness * 1.0002 {
                // A thing far in front hides the surface from the camera, not from the sky.
                let apart = 1.0 / nearness - 1.0 / found;
                hidden += 1.0 - smoothstep(0.6 * reach, 2.0 * reach, apart);
            }
        }
        let share = hidden / taps.len() as f32;
        (1.0 - share).clamp(0.0, 1.0)
    }
}
