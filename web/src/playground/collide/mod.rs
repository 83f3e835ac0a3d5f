//! The tab collide: bodies that tumble in a box, judged and drawn on one device, coloured by their verdicts.

mod check;
mod compare;
mod hand;
mod judge;
mod on_gpu;
mod settings;
mod shapes;
mod verdicts;
mod world;

use glam::Vec3;
use hullfield::collide::{Arena, Options};
use serde_json::{Value, json};

use crate::playground::collide::compare::{Comparison, to_bytes};
use crate::playground::collide::hand::{Hand, Sight, Touch};
use crate::playground::collide::on_gpu::OnGpu;
use crate::playground::collide::settings::Settings;
use crate::playground::collide::shapes::Shapes;
use crate::playground::collide::verdicts::{CHOSEN, Counts, NAMES, Verdicts};
use crate::playground::collide::world::World;
use crate::playground::draw::camera::Camera;
use crate::playground::draw::light::View;
use crate::playground::draw::line::Line;
use crate::playground::draw::palette::Palette;
use crate::playground::host::Host;
use crate::playground::message::{Action, Message};
use crate::playground::orbit::orbit;
use crate::playground::scene::{Check, Kind, Scene};
use crate::playground::stage::Frame;

/// Milliseconds between two messages of the same table.
const TABLE_MS: f64 = 250.0;
/// How far a key moves the chosen body.
const KEY_STEP: f32 = 0.1;

/// The tab.
pub(crate) const fn kind() -> Kind {
    Kind { name: "collide", create, second: compare::second }
}

fn create(host: &Host) -> Box<dyn Scene> {
    match Collide::new(host) {
        Ok(scene) => Box::new(scene),
        Err(error) => {
            host.error(&error.to_string());
            Box::new(Nothing)
        }
    }
}

/// A camera that looks at the whole box from where another one does.
fn camera_of(world: &World, Camera { yaw, pitch, .. }: Camera) -> Camera {
    let mut camera = Camera { yaw, pitch, ..Camera::around(1.8 * world.half) };
    camera.frame(world.corners().map(Vec3::from));
    camera
}

struct Collide {
    shapes: Shapes,
    cpu: Arena,
    settings: Settings,
    world: World,
    camera: Camera,
    canvas: [f32; 2],
    now: f64,
    /// The canvas's size and theme as the GPU last drew it; none where the picture is not what it should be.
    shown: Option<([u32; 2], bool)>,
    hand: Option<Hand>,
    gpu: OnGpu,
    comparison: Comparison,
    tables: Tables,
}

/// When the page's tables were sent.
#[derive(Debug, Default)]
struct Tables {
    counts: Option<(f64, Counts, bool)>,
    contacts: Option<(f64, Value)>,
}

impl Collide {
    fn new(host: &Host) -> hullfield::Result<Self> {
        let shapes = Shapes::new()?;
        let cpu = Arena::new(&host.cpu(), &shapes.hulls, Options::default())?;
        let settings = Settings::default();
        let world = World::new(&settings, &shapes);
        let camera = camera_of(&world, Camera::around(1.0));
        Ok(Self {
            shapes,
            cpu,
            settings,
            world,
            camera,
            canvas: [1.0; 2],
            now: 0.0,
            shown: None,
            hand: None,
            gpu: OnGpu::No,
            comparison: Comparison::default(),
            tables: Tables::default(),
        })
    }

    fn set(&mut self, message: &Message, host: &Host) {
        let before = self.settings;
        if let Err(sentence) = self.settings.set(message) {
            host.error(sentence);
        }
        if !self.settings.has_bodies_of(&before) {
            let before = self.world.half;
            self.world = World::new(&self.settings, &self.shapes);
            if self.world.half != before {
                self.camera = camera_of(&self.world, self.camera);
            }
            self.hand = None;
            self.gpu.forget_bodies();
            self.comparison.cancel();
        }
    }

    fn sight(&self, point: [f32; 2]) -> Sight {
        self.camera.ray(point, self.canvas[0].max(1.0) / self.canvas[1].max(1.0))
    }

    fn pick(&mut self, point: [f32; 2], host: &Host) -> bool {
        match Hand::pick(&self.cpu, &self.world, self.sight(point)) {
            Ok(Some(hand)) => {
                self.hand = Some(hand);
                return true;
            }
            Ok(None) => {}
            Err(error) => host.error(&error.to_string()),
        }
        false
    }

    /// Takes a pointer's message that is about a body. Returns whether it was.
    fn point(&mut self, message: &Message, host: &Host) -> bool {
        let Some(pointer) = message.pointer() else { return false };
        match pointer.action {
            Action::Down if pointer.button == 0 && !pointer.shift => self.pick(pointer.on(self.canvas), host),
            Action::Move if pointer.is_down => {
                let sight = self.sight(pointer.on(self.canvas));
                match &mut self.hand {
                    Some(hand) if hand.is_held() => {
                        hand.drag(&mut self.world, &self.camera, sight);
                        true
                    }
                    _ => false,
                }
            }
            Action::Up => {
                if let Some(hand) = &mut self.hand {
                    hand.let_go();
                }
                false
            }
            _ => false,
        }
    }

    /// Takes a key that is about bodies. Returns whether it was.
    fn press(&mut self, message: &Message, host: &Host) -> bool {
        let Some(key) = message.key() else { return false };
        let count = self.world.bodies.len();
        let chosen = self.hand.map(|hand| hand.body);
        let lower = key.to_lowercase();
        let [right, up] = self.camera.across();
        let ways = [
            ("d", right),
            ("a", -right),
            ("w", up),
            ("s", -up),
            ("e", right.cross(up)),
            ("q", up.cross(right)),
        ];
        match lower.as_str() {
            " " => self.settings.is_paused = !self.settings.is_paused,
            "pagedown" if count > 0 => {
                self.hand = Some(Hand::new(chosen.map_or(0, |body| (body + 1) % count)));
            }
            "pageup" if count > 0 => {
                self.hand = Some(Hand::new(chosen.map_or(count - 1, |body| (body + count - 1) % count)));
            }
            "enter" => {
                if self.pick([0.0; 2], host)
                    && let Some(hand) = &mut self.hand
                {
                    hand.let_go();
                }
            }
            "escape" => self.hand = None,
            _ => match (chosen, ways.iter().find(|(name, _)| *name == lower)) {
                (Some(body), Some((_, way))) => {
                    let at = Vec3::from(self.world.bodies[body].position);
                    self.world.place(body, at + KEY_STEP * *way);
                }
                _ => return false,
            },
        }
        true
    }

    /// The contacts of the chosen body, posted as a list.
    fn touches(&mut self, host: &Host) -> Vec<Touch> {
        let mut listed = json!({"body": null, "count": 0, "rows": []});
        let mut touches = Vec::new();
        if let Some(hand) = self.hand {
            let found =
                host.timed("contacts of the body", || hand::contacts(&self.cpu, &self.world, hand.body));
            match found {
                Ok(found) => {
                    listed = hand::list(&self.world, hand.body, &found);
                    touches = found;
                }
                Err(error) => host.error(&error.to_string()),
            }
        }
        let is_new = self.tables.contacts.as_ref().is_none_or(|(when, last)| {
            let is_other = last["body"] != listed["body"];
            is_other || *last != listed && (self.settings.is_paused || self.now - when >= TABLE_MS)
        });
        if is_new {
            self.tables.contacts = Some((self.now, listed.clone()));
            listed["type"] = json!("contacts");
            listed["tab"] = json!("collide");
            host.post(listed);
        }
        touches
    }

    fn post_counts(&mut self, counts: Counts, palette: &Palette, is_dark: bool, host: &Host) {
        let is_due = self.tables.counts.is_none_or(|(when, last, was_dark)| {
            was_dark != is_dark || last != counts && (self.settings.is_paused || self.now - when >= TABLE_MS)
        });
        if !is_due {
            return;
        }
        self.tables.counts = Some((self.now, counts, is_dark));
        let color = |mark: usize| {
            let [r, g, b, _] = palette[mark];
            format!("#{r:02x}{g:02x}{b:02x}")
        };
        let mut message = counts.to_value();
        message["type"] = json!("counts");
        message["tab"] = json!("collide");
        message["names"] = json!(NAMES);
        message["colors"] = json!([0, 1, 2, 3].map(color));
        host.post(message);
    }

    fn post_comparison(result: Option<Value>, host: &Host) {
        if let Some(mut result) = result {
            result["type"] = json!("comparison");
            result["tab"] = json!("collide");
            host.post(result);
        }
    }

    /// Judges and draws by the CPU.
    fn draw_by_cpu(&mut self, frame: &mut Frame<'_>, lines: &[Line], host: &Host) -> hullfield::Result<()> {
        self.shown = None;
        let verdicts = host.timed("judge", || Verdicts::of_cpu(&self.cpu, &self.world.bodies))?;
        let packed = host.timed("lay out", || self.cpu.pack(&self.world.bodies))?;
        let (look, view) = (frame.look(), View::new(&self.camera, frame.pixels()));
        let chosen = self.hand.map_or(packed.len(), |hand| hand.body.min(packed.len()));
        host.timed("draw", || {
            frame.draw_software(|picture| {
                let meshes = &self.shapes.coarse;
                let rest = (chosen + 1).min(packed.len());
                for part in [0..chosen, rest..packed.len()] {
                    let (bodies, marks) = (&packed[part.clone()], &verdicts.marks[part]);
                    picture.bodies(&view, meshes, bodies, marks, &look.palette);
                }
                picture.bodies(&view, meshes, &packed[chosen..rest], &[CHOSEN], &look.palette);
                picture.lines(&view, lines);
            });
        });
        self.post_counts(verdicts.counts, &look.palette, frame.is_dark(), host);
        Ok(())
    }

    /// Judges and draws by the GPU. Returns false where it can't just now.
    fn draw_by_gpu(&mut self, frame: &mut Frame<'_>, lines: &[Line], host: &Host) -> hullfield::Result<bool> {
        self.take_reports(frame, host);
        let chosen = self.hand.map(|hand| hand.body);
        let Some(gpu) = self.gpu.ready() else { return Ok(false) };
        let Some(renderer) = frame.renderer() else { return Ok(false) };
        let shown = Some((frame.pixels(), frame.is_dark()));
        if !gpu.judge.can_read() || self.settings.is_paused && self.shown == shown {
            return Ok(true);
        }
        let is_slow = host.gpu().is_some_and(|gpu| gpu.is_software);
        let meshes = if is_slow { &self.shapes.coarse } else { &self.shapes.fine };
        gpu.lay_out(renderer, &self.world, meshes, chosen);
        host.timed("upload", || {
            gpu.judge.upload(&self.cpu.pack(&self.world.bodies)?);
            Ok(())
        })?;
        let encoder = host.timed("encode", || gpu.judge.encode())?;
        let lines = renderer.lines(lines);
        let view = View::new(&self.camera, frame.pixels());
        let is_drawn = host.timed("submit", || frame.draw_gpu(encoder, &view, &gpu.items(&lines)));
        self.shown = shown.filter(|_| is_drawn);
        let ticket = if self.settings.is_paused { None } else { self.comparison.begin(self.now) };
        if let Some(ticket) = ticket {
            host.ask(json!({"tab": "collide", "ticket": ticket}), &to_bytes(&self.world.bodies));
        }
        gpu.judge.read(ticket);
        Ok(true)
    }

    /// Takes what came back of earlier frames.
    fn take_reports(&mut self, frame: &Frame<'_>, host: &Host) {
        while let Some(report) = self.gpu.ready().and_then(|gpu| gpu.judge.take()) {
            let stages = [("judge (GPU's clock)", report.judge_ms), ("draw (GPU's clock)", report.draw_ms)];
            for (stage, ms) in stages {
                if let Some(ms) = ms {
                    host.time(stage, ms);
                }
            }
            host.time("read back (later)", report.read_ms);
            if !report.is_whole {
                self.comparison.cancel();
                self.shown = None;
                continue;
            }
            let result = self.comparison.take_gpu(self.now, &report);
            Self::post_comparison(result, host);
            self.post_counts(report.counts, &frame.look().palette, frame.is_dark(), host);
        }
    }
}

impl Scene for Collide {
    fn message(&mut self, message: &Message, host: &Host) {
        if message.kind() != "second" {
            self.shown = None;
        }
        match message.kind() {
            "set" => self.set(message, host),
            "engine" => {
                if host.gpu().is_none() {
                    self.gpu = OnGpu::No;
                }
                self.comparison.cancel();
                self.tables = Tables::default();
                if !host.uses_gpu() {
                    host.post(json!({"type": "comparison", "tab": "collide", "equal": null}));
                }
            }
            "second" => {
                let result = self.comparison.take_cpu(self.now, message);
                Self::post_comparison(result, host);
            }
            _ => {
                let range = [0.5, 8.0 * self.world.half];
                if !self.point(message, host) && !self.press(message, host) {
                    orbit(&mut self.camera, message, self.canvas, range);
                }
            }
        }
    }

    fn frame(&mut self, frame: &mut Frame<'_>, host: &Host) -> bool {
        self.canvas = frame.size();
        self.now = frame.now;
        if !self.settings.is_paused {
            let held = self.hand.filter(Hand::is_held).map(|hand| hand.body);
            let seconds = self.settings.speed * frame.step;
            host.timed("move", || self.world.step(seconds, held));
        }
        let palette = frame.look().palette;
        let touches = self.touches(host);
        let mut lines = self.world.edges(palette[7]);
        if let Some(hand) = self.hand {
            lines.extend(hand::lines(&self.shapes, &self.world, hand.body, &touches, &palette));
        }
        self.gpu.prepare(&self.shapes.hulls, host);
        let on_gpu = if host.uses_gpu() { self.draw_by_gpu(frame, &lines, host) } else { Ok(false) };
        let drawn = match on_gpu {
            Ok(true) => Ok(()),
            Ok(false) => self.draw_by_cpu(frame, &lines, host),
            // A lost device is told by the page; the CPU goes on.
            Err(error) => {
                self.gpu.fail(&error, host);
                self.draw_by_cpu(frame, &lines, host)
            }
        };
        if let Err(error) = drawn {
            host.error(&error.to_string());
            return false;
        }
        // What is read later is taken in a frame.
        !self.settings.is_paused || self.gpu.is_reading()
    }

    fn check(&mut self, host: &Host) -> Check {
        Box::pin(check::check(host.cpu(), host.gpu().map(|gpu| gpu.engine)))
    }

    fn state(&self) -> Value {
        self.settings.state()
    }
}

/// A tab whose scene could not be made.
struct Nothing;

impl Scene for Nothing {
    fn message(&mut self, _: &Message, _: &Host) {}

    fn frame(&mut self, _: &mut Frame<'_>, _: &Host) -> bool {
        false
    }

    fn check(&mut self, _: &Host) -> Check {
        Box::pin(async { Err("the scene could not be made".to_owned()) })
    }

    fn state(&self) -> Value {
        json!({})
    }
}
