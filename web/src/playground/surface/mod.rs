//! The tab surface: a model, two points that are dragged over it, the shortest path between them, and bands of distance from the start.

mod check;
mod lines;
mod loaded;
mod pick;
mod second;
mod shapes;
mod solver;

use glam::Vec3;
use hullfield::navigate::surface::{LoadOptions, Options, Point, Surface};
use hullfield_mesh_files::Format;
use serde_json::{Value, json};

use crate::playground::draw::camera::Camera;
use crate::playground::draw::gpu::{GpuMesh, GpuValues, Item};
use crate::playground::draw::light::View;
use crate::playground::draw::line::Line;
use crate::playground::draw::palette::rgb;
use crate::playground::draw::scale::Scale;
use crate::playground::fields::{Fields, LinkFields, name_of};
use crate::playground::host::Host;
use crate::playground::message::{Action, Message, Pointer};
use crate::playground::orbit::orbit;
use crate::playground::scene::{Check, Kind, Scene};
use crate::playground::stage::Frame;
use crate::playground::surface::lines::Lines;
use crate::playground::surface::loaded::Loaded;
use crate::playground::surface::pick::{Seen, cast, is_visible};
use crate::playground::surface::shapes::{SHAPES, Shape};
use crate::playground::surface::solver::{Shown, Solver};

/// The tab.
pub(crate) const KIND: Kind = Kind { name: "surface", create, second: second::second };

/// The least and the greatest distance of the camera: the model's radius is 1.
const RANGE: [f32; 2] = [0.15, 20.0];
/// How near a press takes an end, in pixels of the page.
const REACH: f32 = 22.0;
/// How far a click may move, in pixels of the page.
const MOST_CLICK: f32 = 5.0;
/// How far an arrow key moves an end, in pixels of the page.
const STEP: f32 = 12.0;
const ENDS: [&str; 2] = ["start", "goal"];
const ENDS_ALLOWED: [&str; 2] = [
    "The start is the number of a triangle and two barycentric coordinates, such as 120,0.25,0.5.",
    "The goal is the number of a triangle and two barycentric coordinates, such as 120,0.25,0.5.",
];
/// Where the ends are at first: what the camera sees at these places of a square canvas, −1 to 1, right and up, or nearer to its middle.
const PLACES: [[f32; 2]; 2] = [[-0.1, -0.62], [0.3, 0.3]];

/// How high the camera is at first.
const FIRST_PITCH: f32 = 0.6;
/// The most points that the first view is fitted to.
const MOST_FRAMED: usize = 20_000;
/// How far apart points are that are welded, relative to the model's radius.
const WELD: f64 = 1e-3;

/// What the link says.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Settings {
    shape: Shape,
    triangle_count: u32,
    has_bands: bool,
    has_funnel: bool,
}

const DEFAULTS: Settings =
    Settings { shape: Shape::Knot, triangle_count: 6000, has_bands: true, has_funnel: true };

/// An end of the path.
#[derive(Debug, Clone, Copy, Default)]
struct End {
    at: Option<Point>,
    /// Whether the user has moved it.
    is_moved: bool,
    /// Where a link puts it: a triangle, and the barycentric coordinates of its second and third corner. Taken when the model is built.
    wanted: Option<(u32, [f64; 2])>,
}

/// What a press on the canvas has taken.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Grip {
    /// The chosen end; from the pointer to it, in pixels of the page.
    End([f32; 2]),
    /// The camera; how far the pointer has moved.
    Camera(f32),
}

struct SurfaceScene {
    settings: Settings,
    loaded: Option<Loaded>,
    /// The number of the model that is shown, and of the last one.
    model: u64,
    last_model: u64,
    /// The name of the file that is shown, and how many triangles it has.
    file: Option<(String, u64)>,
    /// The number and the name of the file that is being read.
    reading: Option<(u64, String)>,
    is_built: bool,
    ends: [End; 2],
    chosen: usize,
    grip: Option<Grip>,
    /// Where the pointer is that drags an end.
    dragged_to: Option<[f32; 2]>,
    solver: Solver,
    camera: Camera,
    canvas: [f32; 2],
    is_noted: bool,
    gpu: Option<OnGpu>,
}

/// What the GPU draws, and what it was made of.
struct OnGpu {
    model: u64,
    mesh: GpuMesh,
    values: GpuValues,
    /// The number of the bands, and the theme.
    drawn: (u64, bool),
}

fn create(_: &Host) -> Box<dyn Scene> {
    scene()
}

fn scene() -> Box<SurfaceScene> {
    Box::new(SurfaceScene {
        settings: DEFAULTS,
        loaded: None,
        model: 0,
        last_model: 0,
        file: None,
        reading: None,
        is_built: false,
        ends: [End::default(); 2],
        chosen: 0,
        grip: None,
        dragged_to: None,
        solver: Solver::default(),
        camera: Camera::around(1.0),
        canvas: [1.0; 2],
        is_noted: false,
        gpu: None,
    })
}

/// The camera at first: the model fills the canvas.
fn first_camera(loaded: &Loaded) -> Camera {
    let mut camera = Camera { pitch: FIRST_PITCH, ..Camera::around(1.0) };
    let positions = &loaded.mesh.positions;
    camera.frame(positions.iter().step_by(positions.len() / MOST_FRAMED + 1).map(|&at| Vec3::from(at)));
    camera
}

/// The point of the surface that a camera sees at a place of a square canvas. Where it sees none, the place moves towards the middle.
fn first_place(loaded: &Loaded, camera: &Camera, place: [f32; 2]) -> Option<Point> {
    let look = |step: u8| {
        let (eye, direction) = camera.ray(place.map(|at| at * f32::from(10 - step) / 10.0), 1.0);
        cast(loaded, eye, direction)
    };
    let seen: Vec<Seen> = (0..=10).filter_map(look).collect();
    let hit = seen.iter().find(|seen| matches!(seen, Seen::Hit(_)));
    hit.or(seen.first()).map(|seen| seen.point())
}

/// A triangle and two barycentric coordinates, as a link has them.
fn parse_end(text: &str) -> Option<(u32, [f64; 2])> {
    let mut parts = text.split(',');
    let triangle = parts.next()?.parse().ok()?;
    let mut coordinate = || parts.next()?.parse().ok().filter(|at: &f64| (0.0..=1.0).contains(at));
    let barycentric = [coordinate()?, coordinate()?];
    parts.next().is_none().then_some((triangle, barycentric))
}

fn scale(range: f32, band: f32, is_dark: bool) -> Scale {
    let colors = [0x2b4c7e, 0x3f8f8a, 0x9bc53d, 0xf2e863].map(rgb);
    // A length of 0 has no colours between.
    Scale {
        colors,
        range: range.max(f32::MIN_POSITIVE),
        band,
        none: rgb(if is_dark { 0x6b7c8d } else { 0x9fb0c0 }),
    }
}

impl SurfaceScene {
    fn set(&mut self, message: &Message, host: &Host) {
        const TICKED: &str = "A box is ticked by 1 and not by 0.";
        let mut fields = Fields::of(message);
        let now = self.settings;
        self.settings = Settings {
            shape: fields.choice("model", &SHAPES, "The model is knot, stone or hills.").unwrap_or(now.shape),
            triangle_count: fields
                .whole("triangles", 1000..=50_000, "The triangles are a whole number from 1,000 to 50,000.")
                .unwrap_or(now.triangle_count),
            has_bands: fields.flag("bands", TICKED).unwrap_or(now.has_bands),
            has_funnel: fields.flag("funnel", TICKED).unwrap_or(now.has_funnel),
        };
        for ((end, name), allowed) in self.ends.iter_mut().zip(ENDS).zip(ENDS_ALLOWED) {
            let wanted = fields.read(name, allowed, |message, name| message.text(name).and_then(parse_end));
            end.wanted = wanted.or(end.wanted);
        }
        if let Err(sentence) = fields.finish() {
            host.error(sentence);
        } else if message.has("model") || message.has("triangles") {
            self.is_built = false;
        }
        self.solver.change();
    }

    /// Shows a surface; none is an error for the page's bar, and what was shown stays.
    fn show(&mut self, surface: Surface, model: u64, file: Option<(String, u64)>, host: &Host) {
        let Some(loaded) = Loaded::new(surface) else {
            let name = file.map(|(name, _)| name).unwrap_or_default();
            return host.error(&format!("{name}: its points have no extent that can be shown."));
        };
        let is_other = self.loaded.is_none() || file.is_some() || self.file.is_some();
        let camera = first_camera(&loaded);
        for (end, place) in self.ends.iter_mut().zip(PLACES) {
            // Another model of the page's own keeps its ends, as far as it can.
            let kept = end
                .at
                .filter(|_| !is_other && end.is_moved)
                .and_then(|point| loaded.surface.nearest_point(point.position).ok().flatten());
            *end = End {
                is_moved: kept.is_some(),
                at: kept.or_else(|| first_place(&loaded, &camera, place)),
                wanted: end.wanted,
            };
        }
        if is_other {
            self.camera = camera;
        }
        self.solver.begin(model, loaded.surface.triangles().len());
        (self.loaded, self.model, self.file, self.gpu) = (Some(loaded), model, file, None);
        (self.grip, self.dragged_to) = (None, None);
    }

    /// Builds the model that the settings name, and takes the ends of a link.
    fn build(&mut self, host: &Host) {
        if !self.is_built {
            self.is_built = true;
            let Settings { shape, triangle_count, .. } = self.settings;
            let built = host
                .timed("surface, built", || Surface::new(&[shape.model(triangle_count)], Options::default()));
            self.last_model += 1;
            match built {
                Ok(surface) => self.show(surface, self.last_model, None, host),
                Err(error) => host.error(&error.to_string()),
            }
        }
        let Some(loaded) = &self.loaded else { return };
        for (end, name) in self.ends.iter_mut().zip(ENDS) {
            let Some((triangle, barycentric)) = end.wanted.take() else { continue };
            match loaded.at(triangle, barycentric) {
                Some(point) => (end.at, end.is_moved) = (Some(point), true),
                None => host.error(&format!(
                    "The {name} {triangle},{},{} is not on the model, which has {} triangles.",
                    barycentric[0],
                    barycentric[1],
                    loaded.surface.triangles().len()
                )),
            }
            self.solver.change();
        }
    }

    /// A file's bytes go to the second worker, where the readers take them.
    fn read(&mut self, message: &Message, host: &Host) {
        let name = message.text("name").unwrap_or_default();
        if Format::of_name(name).is_none() {
            return host.error(&format!(
                "{name}: unknown format by its extension: obj, stl, ply, off, gltf or glb is read."
            ));
        }
        self.last_model += 1;
        self.reading = Some((self.last_model, name.to_owned()));
        host.error("");
        host.progress(&format!("Reading {name}"), 0, 1);
        let question = json!({
            "tab": KIND.name, "ask": "read", "model": self.last_model, "name": name, "most": second::MOST_TRIANGLES
        });
        host.ask(question, message.bytes());
        self.solver.reads();
    }

    /// Lets the second worker join the points that are near.
    fn weld(&mut self, host: &Host) {
        let Some(loaded) = &self.loaded else { return };
        self.solver.give(loaded, host);
        self.last_model += 1;
        let name = self.file.as_ref().map_or_else(String::new, |(name, _)| name.clone());
        host.progress("Welding", 0, 1);
        let by = WELD * loaded.radius;
        host.ask(
            json!({"tab": KIND.name, "ask": "weld", "model": self.last_model, "of": self.model, "by": by}),
            &[],
        );
        self.reading = Some((self.last_model, name));
        self.solver.reads();
    }

    /// Takes an answer of the second worker.
    fn answered(&mut self, message: &Message, host: &Host) {
        let model = message.number("model").unwrap_or_default() as u64;
        if message.flag("lost").unwrap_or_default() {
            self.solver.lose();
        }
        if !matches!(message.text("ask"), Some("read" | "weld")) {
            if let Some(sentence) = self.solver.answered(message, model) {
                host.error(&sentence);
            }
            return;
        }
        if message.text("error").is_none() {
            self.solver.has_read(model);
        }
        let Some((_, name)) = self.reading.take_if(|(number, _)| *number == model) else { return };
        host.progress("", 1, 1);
        if let Some(sentence) = message.text("error") {
            return host.error(sentence);
        }
        let surface =
            host.timed("surface, taken", || Surface::from_bytes(message.bytes(), LoadOptions::default()));
        match surface {
            Ok(surface) => {
                self.is_built = true;
                let count = message.number("triangles").unwrap_or_default() as u64;
                self.show(surface, model, Some((name, count)), host);
            }
            Err(error) => host.error(&format!("{name}: {error}.")),
        }
    }

    /// The ray of the camera through a place on the canvas, in pixels of the page.
    fn ray(&self, at: [f32; 2]) -> (Vec3, Vec3) {
        let [width, height] = self.canvas.map(|side| side.max(1.0));
        let place = [2.0 * at[0] / width - 1.0, 1.0 - 2.0 * at[1] / height];
        self.camera.ray(place, width / height)
    }

    /// Where an end is on the canvas, in pixels of the page. None where something is before it.
    fn place(&self, end: usize) -> Option<[f32; 2]> {
        let (loaded, point) = (self.loaded.as_ref()?, self.ends[end].at?);
        let [width, height] = self.canvas.map(|side| side.max(1.0));
        let seen = self.camera.view_projection(width / height).project_point3(loaded.drawn(point.position));
        let is_before = (0.0..=1.0).contains(&seen.z);
        (is_before && is_visible(loaded, self.camera.eye(), &point))
            .then_some([(seen.x + 1.0) * width / 2.0, (1.0 - seen.y) * height / 2.0])
    }

    fn pointer(&mut self, pointer: &Pointer, message: &Message) {
        match pointer.action {
            Action::Down => {
                let far = |place: [f32; 2]| (place[0] - pointer.at[0]).hypot(place[1] - pointer.at[1]);
                let ends = [0, 1].map(|end| self.place(end).filter(|place| far(*place) <= REACH));
                let nearest = [0, 1]
                    .into_iter()
                    .filter_map(|end| Some((end, ends[end]?)))
                    .min_by(|a, b| far(a.1).total_cmp(&far(b.1)));
                self.grip = Some(match nearest.filter(|_| pointer.button == 0) {
                    Some((end, place)) => {
                        self.choose(end);
                        Grip::End([place[0] - pointer.at[0], place[1] - pointer.at[1]])
                    }
                    None => Grip::Camera(0.0),
                });
            }
            Action::Move if pointer.is_down => match &mut self.grip {
                Some(Grip::End([x, y])) => self.dragged_to = Some([pointer.at[0] + *x, pointer.at[1] + *y]),
                Some(Grip::Camera(far)) => {
                    *far += pointer.moved[0].hypot(pointer.moved[1]);
                    orbit(&mut self.camera, message, self.canvas, RANGE);
                }
                None => {
                    orbit(&mut self.camera, message, self.canvas, RANGE);
                }
            },
            Action::Move => {}
            Action::Up => {
                let is_click = matches!(self.grip, Some(Grip::Camera(far)) if far <= MOST_CLICK);
                // Where a second finger comes down, the first one counts as up too.
                if is_click && !pointer.is_down && pointer.button == 0 {
                    let (origin, direction) = self.ray(pointer.at);
                    let seen = self.loaded.as_ref().and_then(|loaded| cast(loaded, origin, direction));
                    if let Some(Seen::Hit(point)) = seen {
                        self.move_to(point);
                    }
                }
                self.grip = None;
            }
            Action::Zoom => {
                self.grip = None;
                orbit(&mut self.camera, message, self.canvas, RANGE);
            }
        }
    }

    fn choose(&mut self, end: usize) {
        self.chosen = end;
        self.is_noted = false;
    }

    fn move_to(&mut self, point: Point) {
        let end = &mut self.ends[self.chosen];
        if end.at.is_none_or(|at| at.position != point.position || at.triangle != point.triangle) {
            (end.at, end.is_moved) = (Some(point), true);
            self.solver.change();
        }
    }

    /// Moves the end that is dragged to where the pointer is now.
    fn follow(&mut self, host: &Host) {
        let Some(at) = self.dragged_to.take() else { return };
        let (origin, direction) = self.ray(at);
        let Some(loaded) = &self.loaded else { return };
        if let Some(seen) = host.timed("ray", || cast(loaded, origin, direction)) {
            self.move_to(seen.point());
        }
    }

    /// Arrows move the chosen end over the surface, shift by a tenth of the step; S and G choose, enter and space the other one.
    fn key(&mut self, key: &str, is_shift: bool, message: &Message) {
        let arrow = match key {
            "ArrowLeft" => [-1.0, 0.0],
            "ArrowRight" => [1.0, 0.0],
            "ArrowUp" => [0.0, 1.0],
            "ArrowDown" => [0.0, -1.0],
            "s" | "S" => return self.choose(0),
            "g" | "G" => return self.choose(1),
            "Enter" | " " => return self.choose(1 - self.chosen),
            "Home" => return self.camera.turn(-0.1, 0.0),
            "End" => return self.camera.turn(0.1, 0.0),
            "PageUp" => return self.camera.turn(0.0, 0.1),
            "PageDown" => return self.camera.turn(0.0, -0.1),
            _ => {
                orbit(&mut self.camera, message, self.canvas, RANGE);
                return;
            }
        };
        let (Some(loaded), Some(point)) = (&self.loaded, self.ends[self.chosen].at) else { return };
        let [right, up] = self.camera.across();
        let far = loaded.drawn(point.position).distance(self.camera.eye()) / self.camera.distance;
        let pixel = far * self.camera.height_at_target(self.canvas) / self.canvas[1].max(1.0);
        let step = if is_shift { 0.1 * STEP } else { STEP } * pixel;
        let moved = (step * (arrow[0] * right + arrow[1] * up)).as_dvec3() * loaded.radius;
        if let Ok(Some(place)) = loaded.surface.move_along(point, moved.to_array()) {
            self.move_to(Point { triangle: place.triangle, position: place.position, distance: 0.0 });
        }
    }

    /// Finds paths and distances, or asks for them.
    fn solve(&mut self, host: &Host) {
        let (Some(loaded), [Some(start), Some(goal)]) = (&self.loaded, self.ends.map(|end| end.at)) else {
            return;
        };
        let wanted = Shown { bands: self.settings.has_bands, funnel: self.settings.has_funnel };
        match self.solver.solve(loaded, [start, goal], wanted, host) {
            Ok(is_news) => self.is_noted &= !is_news,
            Err(error) => host.error(&format!("{error}.")),
        }
    }

    fn note(&mut self, host: &Host) {
        if std::mem::replace(&mut self.is_noted, true) {
            return;
        }
        let Some(loaded) = &self.loaded else { return };
        let shape = name_of(&SHAPES, &self.settings.shape);
        let mut note = self.solver.note();
        note["type"] = json!("path");
        note["tab"] = json!(KIND.name);
        note["triangles"] = json!(loaded.surface.triangles().len());
        note["islands"] = json!(loaded.surface.report().island_count);
        note["model"] = json!(shape);
        note["file"] = json!(self.file.as_ref().map(|(name, _)| name));
        note["file_triangles"] = json!(self.file.as_ref().map(|(_, count)| count));
        note["weld"] = json!(self.file.as_ref().and(self.loaded.as_ref()).map(|loaded| WELD * loaded.radius));
        note["chosen"] = json!(ENDS[self.chosen]);
        host.post(note);
    }

    /// The lines of the paths and of their ends; widths are multiplied by `ratio`.
    fn lines(&self, loaded: &Loaded, ratio: f32) -> Vec<Line> {
        let mut lines = Lines::new(&self.camera, self.canvas, ratio);
        let drawn =
            |points: &[[f64; 3]]| -> Vec<Vec3> { points.iter().map(|&at| loaded.drawn(at)).collect() };
        if let Some(path) = self.solver.funnel().filter(|_| self.settings.has_funnel) {
            lines.funnel(&drawn(&path.points));
        }
        if let Some(path) = self.solver.geodesic() {
            let points = drawn(&path.points);
            lines.geodesic(&points);
            let ends: Vec<Vec3> =
                self.ends.iter().filter_map(|end| Some(loaded.drawn(end.at?.position))).collect();
            lines.ghost(&points, &ends);
        }
        for (number, end) in self.ends.iter().enumerate() {
            if let Some(point) = end.at {
                lines.end(loaded.drawn(point.position), number == 1, number == self.chosen);
            }
        }
        lines.finish()
    }

    fn draw(&mut self, frame: &mut Frame<'_>, host: &Host) {
        let Some(loaded) = &self.loaded else { return };
        let is_dark = frame.is_dark();
        let bands = self.solver.bands().filter(|_| self.settings.has_bands);
        let scale = bands.map_or(scale(1.0, 0.0, is_dark), |bands| scale(bands.far, bands.band, is_dark));
        let none;
        let values = match bands {
            Some(bands) => &bands.values[..],
            None => {
                none = vec![-1.0; loaded.mesh.positions.len()];
                &none[..]
            }
        };
        let view = View::new(&self.camera, frame.pixels());
        let drawn = (bands.map_or(0, |bands| bands.number), is_dark);
        if host.uses_gpu()
            && let Some(renderer) = frame.renderer()
        {
            let gpu = match self.gpu.take().filter(|gpu| gpu.model == self.model) {
                Some(gpu) if gpu.drawn == drawn => gpu,
                old => OnGpu {
                    model: self.model,
                    mesh: old.map_or_else(|| renderer.mesh(&loaded.mesh), |old| old.mesh),
                    values: renderer.values(values, &scale),
                    drawn,
                },
            };
            let lines = renderer.lines(&self.lines(loaded, 1.0));
            let encoder = renderer
                .device()
                .create_command_encoder(&hullfield::wgpu::CommandEncoderDescriptor::default());
            let items = [Item::Bands { mesh: &gpu.mesh, values: &gpu.values }, Item::Lines(&lines)];
            host.timed("encoding", || frame.draw_gpu(encoder, &view, &items));
            self.gpu = Some(gpu);
        } else {
            host.timed("drawing", || {
                frame.draw_software(|picture| {
                    let ratio = picture.size()[0] as f32 / self.canvas[0].max(1.0);
                    picture.bands(&view, &loaded.mesh, values, &scale);
                    picture.lines(&view, &self.lines(loaded, ratio));
                });
            });
        }
    }
}

impl Scene for SurfaceScene {
    fn message(&mut self, message: &Message, host: &Host) {
        match message.kind() {
            "set" => self.set(message, host),
            "file" => self.read(message, host),
            "weld" => self.weld(host),
            "second" => self.answered(message, host),
            "engine" => {
                if host.gpu().is_none() {
                    self.gpu = None;
                }
            }
            "key" => {
                let is_shift = message.flag("shift").unwrap_or_default();
                self.key(message.key().unwrap_or_default(), is_shift, message);
            }
            _ => {
                if let Some(pointer) = message.pointer() {
                    self.pointer(&pointer, message);
                }
            }
        }
    }

    fn frame(&mut self, frame: &mut Frame<'_>, host: &Host) -> bool {
        self.canvas = frame.size();
        self.build(host);
        self.follow(host);
        self.solve(host);
        self.note(host);
        self.draw(frame, host);
        false
    }

    fn check(&mut self, _: &Host) -> Check {
        Box::pin(async { check::check() })
    }

    fn state(&self) -> Value {
        let mut fields = LinkFields::default();
        let settings = self.settings;
        fields.put("model", name_of(&SHAPES, &settings.shape), name_of(&SHAPES, &DEFAULTS.shape));
        fields.put("triangles", settings.triangle_count, DEFAULTS.triangle_count);
        fields.put("bands", settings.has_bands, DEFAULTS.has_bands);
        fields.put("funnel", settings.has_funnel, DEFAULTS.has_funnel);
        // A link can't hold a file, and the ends are on it.
        if let Some(loaded) = self.loaded.as_ref().filter(|_| self.file.is_none()) {
            for (end, name) in self.ends.iter().zip(ENDS) {
                if let Some(point) = end.at.filter(|_| end.is_moved) {
                    let [second, third] = loaded.barycentric(&point);
                    fields.put(name, format!("{},{second},{third}", point.triangle), String::new());
                }
            }
        }
        fields.into()
    }
}

#[cfg(test)]
mod tests;
