//! The tab flow: a grid whose walls, costs and goals are painted, its field, and agents that follow it.

mod check;
mod crowd;
mod map;
mod painted;
mod picture;
mod second;
mod solver;

use hullfield::flow::{Connectivity, Corners, UNREACHABLE};
use serde_json::{Value, json};

use crate::playground::fields::{Fields, LinkFields, name_of};
use crate::playground::flow::crowd::{Answer, Crowd};
use crate::playground::flow::map::{Map, Plan, Tool};
use crate::playground::flow::picture::{Fit, Painter, Style, farthest};
use crate::playground::flow::solver::Solver;
use crate::playground::host::Host;
use crate::playground::message::{Action, Message, Pointer};
use crate::playground::scene::{Check, Kind, Scene};
use crate::playground::stage::Frame;

/// The tab.
pub(crate) const KIND: Kind = Kind { name: "flow", create, second: second::second };

/// Cells of cost 1 that an agent walks in a second, as a share of the grid's edge.
const SPEED: f32 = 1.0 / 16.0;
/// How often the page is told of agents that arrived, in milliseconds.
const NOTE_MS: f64 = 400.0;

/// What the link says.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Settings {
    plan: Plan,
    side: u32,
    seed: u32,
    agent_count: u32,
    is_eight: bool,
    corners: Corners,
}

const DEFAULTS: Settings = Settings {
    plan: Plan::Map,
    side: 256,
    seed: 1,
    agent_count: 10_000,
    is_eight: true,
    corners: Corners::BothFree,
};

const CORNERS: [(&str, Corners); 3] =
    [("both", Corners::BothFree), ("one", Corners::OneFree), ("any", Corners::Any)];

impl Settings {
    fn connectivity(self) -> Connectivity {
        if self.is_eight { Connectivity::Eight(self.corners) } else { Connectivity::Four }
    }
}

#[derive(Debug)]
struct FlowScene {
    settings: Settings,
    map: Map,
    solver: Solver,
    answer: Answer,
    crowd: Crowd,
    painter: Painter,
    tool: Tool,
    /// The brush's radius, in hundredths of the grid's edge.
    brush: f32,
    speed: f32,
    has_arrows: bool,
    has_distances: bool,
    canvas: [f32; 2],
    /// The middle of the brush, in cells.
    cursor: Option<[f32; 2]>,
    /// Where the stroke was last, in cells, and what it paints.
    stroke: Option<([f32; 2], Tool)>,
    /// The grid as its settings plan it, once something was painted.
    planned: Option<Map>,
    /// What was painted, as a link keeps it; none where it is too much for one.
    painted: Option<String>,
    /// When the page was told of the field last, and of how many agents that arrived.
    noted: Option<(f64, u64)>,
}

fn create(_: &Host) -> Box<dyn Scene> {
    let settings = DEFAULTS;
    let mut scene = FlowScene {
        settings,
        map: Map::new(settings.plan, settings.side, settings.seed.into()),
        solver: Solver::new(KIND.name),
        answer: Answer::default(),
        crowd: Crowd::new(settings.seed.into()),
        painter: Painter::default(),
        tool: Tool::Wall,
        brush: 1.5,
        speed: 1.0,
        has_arrows: true,
        has_distances: true,
        canvas: [1.0; 2],
        cursor: None,
        stroke: None,
        planned: None,
        painted: Some(String::new()),
        noted: None,
    };
    scene.solver.restart();
    Box::new(scene)
}

impl FlowScene {
    /// Makes the grid anew, as its settings say.
    fn rebuild(&mut self) {
        let Settings { plan, side, seed, .. } = self.settings;
        (self.planned, self.painted) = (None, Some(String::new()));
        self.begin(Map::new(plan, side, seed.into()));
    }

    /// Goes on with another grid.
    fn begin(&mut self, map: Map) {
        self.map = map;
        let seed = self.settings.seed;
        self.answer = Answer::default();
        self.crowd = Crowd::new(seed.into());
        (self.cursor, self.stroke, self.noted) = (None, None, None);
        self.solver.restart();
        self.painter.forget();
    }

    /// Makes the grid anew, and paints on it what a link says.
    fn repaint(&mut self, text: &str, host: &Host) {
        let Settings { plan, side, seed, .. } = self.settings;
        let planned = Map::new(plan, side, seed.into());
        match painted::decode(text, planned.clone()) {
            Some(map) => {
                (self.planned, self.painted) = (Some(planned), Some(text.to_owned()));
                self.begin(map);
            }
            None => host.error("What was painted is not whole in this link: it has the grid without it."),
        }
    }

    /// Makes the text of what was painted, for the link, once a stroke has ended.
    fn keep(&mut self) {
        let Settings { plan, side, seed, .. } = self.settings;
        let planned = self.planned.get_or_insert_with(|| Map::new(plan, side, seed.into()));
        self.painted = painted::encode(planned, &self.map);
        self.noted = None;
    }

    /// The brush's radius in cells.
    fn radius(&self) -> f32 {
        self.brush / 100.0 * self.map.side as f32
    }

    fn set(&mut self, message: &Message, host: &Host) {
        const TICKED: &str = "A box is ticked by 1 and not by 0.";
        let mut fields = Fields::of(message);
        let now = self.settings;
        let connectivities = [("four", false), ("eight", true)];
        let settings = Settings {
            plan: fields.choice("scene", &Plan::ALL, "The scene is open, maze or map.").unwrap_or(now.plan),
            side: fields
                .whole("size", 64..=1024, "The size is a whole number of cells from 64 to 1024.")
                .unwrap_or(now.side),
            seed: fields.seed().unwrap_or(now.seed),
            agent_count: fields
                .whole("agents", 0..=50_000, "The agents are a whole number from 0 to 50,000.")
                .unwrap_or(now.agent_count),
            is_eight: fields
                .choice("connectivity", &connectivities, "The connectivity is four or eight.")
                .unwrap_or(now.is_eight),
            corners: fields
                .choice("corners", &CORNERS, "The corner rule is both, one or any.")
                .unwrap_or(now.corners),
        };
        let tool = fields.choice("tool", &Tool::ALL, "The brush paints wall, free, goal, one or cost.");
        self.tool = tool.unwrap_or(self.tool);
        let brush = fields.number("brush", 0.0..=10.0, "The brush is a number from 0 to 10.");
        self.brush = brush.map_or(self.brush, |brush| brush as f32);
        let speed = fields.number("speed", 0.0..=4.0, "The speed is a number from 0 to 4.");
        self.speed = speed.map_or(self.speed, |speed| speed as f32);
        self.has_arrows = fields.flag("arrows", TICKED).unwrap_or(self.has_arrows);
        self.has_distances = fields.flag("distances", TICKED).unwrap_or(self.has_distances);
        let paint = fields.read("paint", "What was painted is a text.", |message, name| {
            message.text(name).map(str::to_owned)
        });
        if let Err(sentence) = fields.finish() {
            host.error(sentence);
        }
        let old = std::mem::replace(&mut self.settings, settings);
        if (old.plan, old.side, old.seed) != (settings.plan, settings.side, settings.seed) {
            host.clear_times();
            self.rebuild();
        } else if old.connectivity() != settings.connectivity() {
            // The codes of the old moves mean other cells.
            host.clear_times();
            self.answer = Answer::default();
            self.solver.restart();
        }
        if let Some(text) = paint {
            self.repaint(&text, host);
        }
    }

    fn pointer(&mut self, pointer: &Pointer) {
        let at = Fit::page(self.canvas, self.map.side).to_cells(pointer.at);
        self.cursor = Some(at);
        match pointer.action {
            Action::Down => {
                // The second button frees.
                let tool = if pointer.button == 2 { Tool::Free } else { self.tool };
                self.stroke = Some((at, tool));
                self.paint(tool, [at, at]);
            }
            Action::Move if pointer.is_down => {
                if let Some((last, tool)) = self.stroke {
                    self.stroke = Some((at, tool));
                    self.paint(tool, [last, at]);
                }
            }
            Action::Move => {}
            Action::Up | Action::Zoom => {
                if self.stroke.take().is_some() {
                    self.keep();
                }
            }
        }
    }

    fn paint(&mut self, tool: Tool, ends: [[f32; 2]; 2]) {
        let mut edits = Vec::new();
        let radius = self.radius();
        if self.map.stroke(tool, ends, radius, &mut edits) {
            self.solver.paint(edits);
            self.painter.forget();
        }
    }

    /// Arrows move the brush, shift by one cell only; space and enter paint; letters choose what.
    fn key(&mut self, key: &str, is_shift: bool) {
        let side = self.map.side as f32;
        let step = if is_shift { 1.0 } else { (side / 40.0).max(1.0).round() };
        let [x, y] = self.cursor.unwrap_or([side / 2.0; 2]).map(|at| at.floor().clamp(0.0, side - 1.0));
        let mut move_to = |dx: f32, dy: f32| {
            self.cursor = Some([x + dx, y + dy].map(|at| at.clamp(0.0, side - 1.0) + 0.5));
        };
        match key {
            "ArrowLeft" => move_to(-step, 0.0),
            "ArrowRight" => move_to(step, 0.0),
            "ArrowUp" => move_to(0.0, -step),
            "ArrowDown" => move_to(0.0, step),
            " " | "Enter" => {
                move_to(0.0, 0.0);
                if let Some(at) = self.cursor {
                    self.paint(self.tool, [at, at]);
                    self.keep();
                }
            }
            "Escape" => self.cursor = None,
            "[" => self.brush = (self.brush - 0.5).max(0.0),
            "]" => self.brush = (self.brush + 0.5).min(10.0),
            "w" => self.tool = Tool::Wall,
            "f" => self.tool = Tool::Free,
            "g" => self.tool = Tool::Goal,
            "m" => self.tool = Tool::OneGoal,
            "c" => self.tool = Tool::Cost,
            _ => return,
        }
        self.noted = None;
    }

    /// Tells the page what the field is like.
    fn note(&mut self, now: f64, is_new: bool, host: &Host) {
        let arrived = self.crowd.arrived_count;
        let is_due =
            is_new || self.noted.is_none_or(|(then, count)| count != arrived && now - then >= NOTE_MS);
        if !is_due {
            return;
        }
        self.noted = Some((now, arrived));
        let reached = self.answer.distances.iter().filter(|&&distance| distance != UNREACHABLE).count();
        let unit = if self.settings.is_eight { 408.0 } else { 1.0 };
        host.post(json!({
            "type": "field",
            "tab": KIND.name,
            "free": self.map.blocked.iter().filter(|is_blocked| !**is_blocked).count(),
            "reached": reached,
            "goals": self.map.goals.len(),
            "farthest": f64::from(farthest(&self.answer)) / unit,
            "arrived": arrived,
            "gpu": self.solver.is_on_gpu(),
            "tool": self.tool.name(),
            "brush": self.brush,
            "kept": self.painted.is_some(),
        }));
    }
}

impl Scene for FlowScene {
    fn message(&mut self, message: &Message, host: &Host) {
        match message.kind() {
            "set" => self.set(message, host),
            "engine" => self.solver.engine_changed(),
            "second" => self.solver.take_second(message, host),
            "reset" => self.rebuild(),
            "scatter" => self.crowd.scatter(&self.map, &self.answer),
            "key" => {
                let is_shift = message.flag("shift").unwrap_or_default();
                self.key(message.key().unwrap_or_default(), is_shift);
            }
            _ => {
                if let Some(pointer) = message.pointer() {
                    self.pointer(&pointer);
                }
            }
        }
    }

    fn frame(&mut self, frame: &mut Frame<'_>, host: &Host) -> bool {
        self.canvas = frame.size();
        self.solver.take_prepared(host);
        let connectivity = self.settings.connectivity();
        let mut is_new = false;
        if let Some(answer) = self.solver.advance(&self.map, connectivity, host) {
            self.answer = answer;
            self.painter.forget();
            is_new = true;
        }
        if self.map.goals.is_empty() && !self.answer.next.is_empty() {
            self.answer = Answer::default();
            self.painter.forget();
            is_new = true;
        }
        let is_solved = !self.answer.next.is_empty();
        if is_solved || self.map.goals.is_empty() {
            self.crowd.resize(self.settings.agent_count as usize, &self.map, &self.answer);
        }
        let length = self.speed * SPEED * self.map.side as f32 * frame.step;
        let is_moved =
            host.timed("agents", || self.crowd.step(&self.map, &self.answer, connectivity, length));
        self.note(frame.now, is_new, host);
        let (size, ratio) = frame.picture_size();
        let style = Style {
            is_dark: frame.is_dark(),
            has_arrows: self.has_arrows,
            has_distances: self.has_distances,
        };
        let brush = self.cursor.map(|at| (at, if self.tool == Tool::OneGoal { 0.0 } else { self.radius() }));
        host.timed("drawing", || {
            self.painter.ground((size, ratio), style, &self.map, &self.answer, connectivity);
            let picture = self.painter.frame(&self.map, &self.crowd, brush);
            frame.put(picture.pixels(), size);
        });
        let can_move = is_solved && self.speed > 0.0 && self.crowd.count() > 0;
        can_move && (is_moved || length == 0.0)
    }

    fn check(&mut self, host: &Host) -> Check {
        Box::pin(check::check(host.clone()))
    }

    fn state(&self) -> Value {
        let mut fields = LinkFields::default();
        let settings = self.settings;
        fields.put("scene", settings.plan.name(), DEFAULTS.plan.name());
        fields.put("size", settings.side, DEFAULTS.side);
        fields.put("seed", settings.seed, DEFAULTS.seed);
        fields.put("agents", settings.agent_count, DEFAULTS.agent_count);
        let connectivity = |is_eight: bool| if is_eight { "eight" } else { "four" };
        fields.put("connectivity", connectivity(settings.is_eight), connectivity(DEFAULTS.is_eight));
        fields.put("corners", name_of(&CORNERS, &settings.corners), name_of(&CORNERS, &DEFAULTS.corners));
        fields.put("paint", self.painted.clone().unwrap_or_default(), String::new());
        fields.into()
    }
}

#[cfg(test)]
mod tests;
