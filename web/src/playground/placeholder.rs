//! A tab whose scene is not there yet: some turning bodies, their contacts, and a surface in bands.

use glam::Quat;
use hullfield::Engine;
use hullfield::collide::{Arena, Body, Hull, Intersection, Options, Pairs};
use hullfield::wgpu;
use serde_json::{Value, json};

use crate::playground::draw::camera::Camera;
use crate::playground::draw::gpu::{GpuBodies, GpuLines, GpuMesh, GpuValues, Item};
use crate::playground::draw::light::View;
use crate::playground::draw::line::Line;
use crate::playground::draw::mesh::Mesh;
use crate::playground::draw::palette::rgb;
use crate::playground::draw::scale::Scale;
use crate::playground::host::{Host, ready};
use crate::playground::message::Message;
use crate::playground::orbit::orbit;
use crate::playground::scene::{Check, Kind, Reply, Scene};
use crate::playground::stage::Frame;

/// A tab of this name.
pub(crate) const fn kind(name: &'static str) -> Kind {
    Kind { name, create, second }
}

const BODY_COUNT: usize = 64;

struct Placeholder {
    hulls: Vec<Hull>,
    meshes: Vec<Mesh>,
    arena: Option<Arena>,
    camera: Camera,
    canvas: [f32; 2],
    time: f32,
    speed: f64,
    ground: Mesh,
    values: Vec<f32>,
    gpu: Option<OnGpu>,
}

struct OnGpu {
    meshes: Vec<GpuMesh>,
    bodies: wgpu::Buffer,
    marks: wgpu::Buffer,
    group: GpuBodies,
    ground: GpuMesh,
    values: GpuValues,
    frame: GpuLines,
}

fn hulls() -> hullfield::Result<Vec<Hull>> {
    let ring = |radius: f32, y: f32| {
        (0..12).map(move |side| {
            let (sin, cos) = (side as f32 * std::f32::consts::TAU / 12.0).sin_cos();
            [radius * cos, y, radius * sin]
        })
    };
    let cone: Vec<[f32; 3]> = ring(0.4, -0.3).chain([[0.0, 0.5, 0.0]]).collect();
    Ok(vec![
        Hull::cuboid([0.4, 0.3, 0.35])?,
        Hull::ball(0.4)?,
        Hull::capsule([0.0, -0.3, 0.0], [0.0, 0.3, 0.0], 0.25)?,
        Hull::from_points(&cone)?,
    ])
}

fn create(host: &Host) -> Box<dyn Scene> {
    let hulls = hulls().unwrap_or_default();
    let arena = Arena::new(&host.cpu(), &hulls, Options::default());
    if let Err(error) = &arena {
        host.error(&error.to_string());
    }
    let (ground, values) = ground();
    let meshes = hulls.iter().map(Mesh::of_hull).collect();
    Box::new(Placeholder {
        meshes,
        hulls,
        arena: arena.ok(),
        camera: Camera::around(4.0),
        canvas: [1.0; 2],
        time: 0.0,
        speed: 1.0,
        ground,
        values,
        gpu: None,
    })
}

fn second(message: &Message) -> Reply {
    let time = message.number("time").ok_or("A time is missing.")? as f32;
    let judged =
        hulls().and_then(|hulls| marks(&Arena::new(&Engine::cpu(), &hulls, Options::default())?, time));
    let marks = judged.map_err(|error| error.to_string())?;
    Ok((json!({"hits": marks.iter().filter(|&&mark| mark > 0).count()}), Vec::new()))
}

/// A wavy square below the bodies, with the distance from its middle.
fn ground() -> (Mesh, Vec<f32>) {
    const SIDE: u32 = 40;
    let at = |i: u32| 7.0 * (i as f32 / SIDE as f32 - 0.5);
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for z in 0..=SIDE {
        for x in 0..=SIDE {
            positions.push([at(x), -2.8 + 0.3 * (1.5 * at(x)).sin() * at(z).cos(), at(z)]);
            if x < SIDE && z < SIDE {
                let first = z * (SIDE + 1) + x;
                let next = first + SIDE + 1;
                triangles.extend([[first, next, first + 1], [first + 1, next, next + 1]]);
            }
        }
    }
    let values = positions.iter().map(|position| position[0].hypot(position[2])).collect();
    (Mesh::smooth(positions, triangles), values)
}

fn scale() -> Scale {
    let colors = [0x2b4c7e, 0x3f8f8a, 0x9bc53d, 0xf2e863].map(rgb);
    Scale { colors, range: 5.0, band: 0.5, none: rgb(0x808080) }
}

/// The edges of the box that the bodies are in.
fn edges() -> Vec<Line> {
    let corner = |index: u32| [0, 1, 2].map(|axis| if index >> axis & 1 == 0 { -2.4 } else { 2.4 });
    let from = |index: u32| {
        (0..3).filter(move |axis| index >> axis & 1 == 0).map(move |axis| [index, index | 1 << axis])
    };
    let line = |[a, b]: [u32; 2]| Line { from: corner(a), width: 1.5, to: corner(b), color: rgb(0x7a8797) };
    (0..8).flat_map(from).map(line).collect()
}

fn bodies(time: f32) -> Vec<Body> {
    let body = |index: usize| {
        let place = [index % 4, index / 4 % 4, index / 16].map(|step| 1.2 * step as f32 - 1.8);
        let turn = Quat::from_euler(glam::EulerRot::XYZ, time + index as f32, 0.7 * time, 0.3 * index as f32);
        let sway = 0.25 * (time + index as f32).sin();
        let position = [place[0] + sway, place[1], place[2] - sway];
        Body { rotation: turn.to_array(), ..Body::new(index as u32 % 4).at(position) }
    };
    (0..BODY_COUNT).map(body).collect()
}

/// The mark of each body at a time: the greatest status of its pairs.
fn marks(arena: &Arena, time: f32) -> hullfield::Result<Vec<u32>> {
    let pending = arena.intersections(&bodies(time), Pairs::BroadPhase)?;
    Ok(of_rows(&ready(pending)?.rows))
}

fn of_rows(rows: &[Intersection]) -> Vec<u32> {
    let mut marks = vec![0; BODY_COUNT];
    for row in rows {
        for body in [row.a, row.b] {
            let mark: &mut u32 = &mut marks[body as usize];
            *mark = (*mark).max(row.status as u32);
        }
    }
    marks
}

impl OnGpu {
    fn new(scene: &Placeholder, frame: &Frame<'_>) -> Option<Self> {
        let renderer = frame.renderer()?;
        let buffer = |size: usize| {
            renderer.device().create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: size as u64,
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let (bodies, marks) = (buffer(80 * BODY_COUNT), buffer(4 * BODY_COUNT));
        let order: Vec<u32> =
            (0..4).flat_map(|hull| (0..BODY_COUNT as u32 / 4).map(move |index| 4 * index + hull)).collect();
        let group =
            renderer.bodies(bodies.as_entire_buffer_binding(), marks.as_entire_buffer_binding(), &order);
        Some(Self {
            meshes: scene.meshes.iter().map(|mesh| renderer.mesh(mesh)).collect(),
            bodies,
            marks,
            group,
            ground: renderer.mesh(&scene.ground),
            values: renderer.values(&scene.values, &scale()),
            frame: renderer.lines(&edges()),
        })
    }

    fn items(&self) -> Vec<Item<'_>> {
        let each = BODY_COUNT as u32 / 4;
        let mut items: Vec<Item<'_>> = (0..)
            .zip(&self.meshes)
            .map(|(hull, mesh)| Item::Bodies {
                mesh,
                bodies: &self.group,
                range: each * hull..each * (hull + 1),
            })
            .collect();
        items.push(Item::Bands { mesh: &self.ground, values: &self.values });
        items.push(Item::Lines(&self.frame));
        items
    }
}

impl Scene for Placeholder {
    fn message(&mut self, message: &Message, host: &Host) {
        if message.kind() == "set" && message.has("speed") {
            match message.number("speed") {
                Some(speed) if (0.0..=4.0).contains(&speed) => self.speed = speed,
                _ => host.error("The speed is a number from 0 to 4."),
            }
        }
        if message.kind() == "engine" && host.gpu().is_none() {
            self.gpu = None;
        }
        if message.kind() == "compare" {
            host.ask(json!({"tab": message.text("tab"), "time": 1.0}), &[]);
        }
        if message.kind() == "second" {
            host.post(
                json!({"type": "compared", "hits": message.number("hits"), "error": message.text("error")}),
            );
        }
        orbit(&mut self.camera, message, self.canvas, [2.0, 40.0]);
    }

    fn frame(&mut self, frame: &mut Frame<'_>, host: &Host) -> bool {
        self.canvas = frame.size();
        self.time += self.speed as f32 * frame.step;
        let Some(arena) = &self.arena else { return false };
        let judged = host.timed("verdicts", || {
            let bodies = bodies(self.time);
            Ok((arena.pack(&bodies)?, marks(arena, self.time)?))
        });
        let (bodies, marks) = match judged {
            Ok(judged) => judged,
            Err(error) => {
                let error: hullfield::Error = error;
                host.error(&error.to_string());
                return false;
            }
        };
        let is_on_gpu = host.uses_gpu();
        if is_on_gpu && self.gpu.is_none() {
            self.gpu = OnGpu::new(self, frame);
        }
        let view = View::new(&self.camera, frame.pixels());
        if is_on_gpu && let (Some(gpu), Some(renderer)) = (&self.gpu, frame.renderer()) {
            renderer.queue().write_buffer(&gpu.bodies, 0, bytemuck::cast_slice(&bodies));
            renderer.queue().write_buffer(&gpu.marks, 0, bytemuck::cast_slice(&marks));
            let encoder =
                renderer.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            host.timed("encoding", || frame.draw_gpu(encoder, &view, &gpu.items()));
        } else {
            let look = frame.look();
            host.timed("drawing", || {
                frame.draw_software(|picture| {
                    picture.bodies(&view, &self.meshes, &bodies, &marks, &look.palette);
                    picture.bands(&view, &self.ground, &self.values, &scale());
                    picture.lines(&view, &edges());
                });
            });
        }
        self.speed > 0.0
    }

    fn check(&mut self, host: &Host) -> Check {
        let (hulls, cpu, gpu) = (self.hulls.clone(), host.cpu(), host.gpu());
        Box::pin(async move {
            let error = |error: hullfield::Error| error.to_string();
            let arena = Arena::new(&cpu, &hulls, Options::default()).map_err(error)?;
            let all =
                arena.intersections(&bodies(1.0), Pairs::Exhaustive).map_err(error)?.await.map_err(error)?;
            let near =
                arena.intersections(&bodies(1.0), Pairs::BroadPhase).map_err(error)?.await.map_err(error)?;
            let hits: Vec<Intersection> =
                all.rows.iter().filter(|row| row.status.is_hit()).copied().collect();
            if hits != near.rows || hits.is_empty() {
                return Err(format!("{} hits of all pairs, {} of near ones", hits.len(), near.rows.len()));
            }
            let on_gpu = match gpu {
                None => false,
                Some(gpu) => {
                    let arena = Arena::new(&gpu.engine, &hulls, Options::default()).map_err(error)?;
                    let pending = arena.intersections(&bodies(1.0), Pairs::BroadPhase).map_err(error)?;
                    let rows = pending.await.map_err(error)?.rows;
                    if rows != near.rows {
                        return Err(format!(
                            "{} hits on the CPU, {} on the GPU",
                            near.rows.len(),
                            rows.len()
                        ));
                    }
                    true
                }
            };
            let marked = of_rows(&near.rows).iter().filter(|&&mark| mark > 0).count();
            Ok(json!({"hits": marked, "gpu": on_gpu}))
        })
    }

    fn state(&self) -> Value {
        if self.speed == 1.0 { json!({}) } else { json!({"speed": self.speed}) }
    }
}
