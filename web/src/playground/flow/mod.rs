//! The tab flow: a grid whose walls, costs and goals are painted, its field, and agents that follow it.

mod check;
mod crowd;
mod map;
mod picture;
mod solver;

use hullfield::flow::{Connectivity, Corners, UNREACHABLE};
use serde_json::{Value, json};

use crate::playground::flow::crowd::{Answer, Crowd};
use crate::playground::flow::map::{Map, Plan, Tool};
use crate::playground::flow::picture::{Fit, Painter, Style, farthest};
use crate::playground::flow::solver::Solver;
use crate::playground::host::Host;
use crate::playground::message::{Action, Message, Pointer};
use crate::playground::scene::{Check, Kind, Reply, Scene};
use crate::playground::stage::Frame;

/// The tab.
pub(crate) const KIND: Kind = Kind { name: "flow", create, second };

/// The most pixels of a picture; a larger canvas is drawn coarser.
const MOST_PIXELS: f32 = 1.2e6;
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

    fn corners_name(self) -> &'static str {
        CORNERS.iter().find(|(_, corners)| *corners == self.corners).map_or("", |(name, _)| name)
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
    /// When the page was told of the field last, and of how many agents that arrived.
    noted: Option<(f64, u64)>,
}

fn create(_: &Host) -> Box<dyn Scene> {
    let settings = DEFAULTS;
    let mut scene = FlowScene {
        settings,
        map: Map::new(settings.plan, settings.side, settings.seed.into()),
        solver: Solver::default(),
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
        noted: None,
    };
    scene.solver.restart();
    Box::new(scene)
}

fn second(_: &Message) -> Reply {
    Err("The flow tab asks the second worker nothing.".to_owned())
}

impl FlowScene {
    /// Makes the grid anew, as its settings say.
    fn rebuild(&mut self) {
        let Settings { plan, side, seed, .. } = self.settings;
        self.map = Map::new(plan, side, seed.into());
        self.answer = Answer::default();
        self.crowd = Crowd::new(seed.into());
        (self.cursor, self.stroke, self.noted) = (None, None, None);
        self.solver.restart();
        self.painter.forget();
    }

    /// The brush's radius in cells.
    fn radius(&self) -> f32 {
        self.brush / 100.0 * self.map.side as f32
    }

    fn set(&mut self, message: &Message, host: &Host) {
        let mut settings = self.settings;
        let mut wrong = Vec::new();
        let number = |name: &str, range: std::ops::RangeInclusive<f64>| {
            message.has(name).then(|| message.number(name).filter(|number| range.contains(number)))
        };
        if message.has("scene") {
            match Plan::ALL.iter().find(|(name, _)| message.text("scene") == Some(name)) {
                Some((_, plan)) => settings.plan = *plan,
                None => wrong.push("The scene is open, maze or map."),
            }
        }
        match number("size", 64.0..=1024.0) {
            Some(Some(side)) => settings.side = side.round() as u32,
            Some(None) => wrong.push("The size is a number of cells from 64 to 1024."),
            None => {}
        }
        match number("seed", 0.0..=4_294_967_295.0) {
            Some(Some(seed)) => settings.seed = seed.round() as u32,
            Some(None) => wrong.push("The seed is a number from 0 to 4294967295."),
            None => {}
        }
        match number("agents", 0.0..=50_000.0) {
            Some(Some(count)) => settings.agent_count = count.round() as u32,
            Some(None) => wrong.push("The agents are a number from 0 to 50000."),
            None => {}
        }
        match (message.has("connectivity"), message.text("connectivity")) {
            (true, Some("four")) => settings.is_eight = false,
            (true, Some("eight")) => settings.is_eight = true,
            (true, _) => wrong.push("The connectivity is four or eight."),
            _ => {}
        }
        if message.has("corners") {
            match CORNERS.iter().find(|(name, _)| message.text("corners") == Some(name)) {
                Some((_, corners)) => settings.corners = *corners,
                None => wrong.push("The corner rule is both, one or any."),
            }
        }
        if message.has("tool") {
            match Tool::ALL.iter().find(|(name, _)| message.text("tool") == Some(name)) {
                Some((_, tool)) => self.tool = *tool,
                None => wrong.push("The brush paints wall, free, goal, one or cost."),
            }
        }
        match number("brush", 0.0..=10.0) {
            Some(Some(brush)) => self.brush = brush as f32,
            Some(None) => wrong.push("The brush is a number from 0 to 10."),
            None => {}
        }
        match number("speed", 0.0..=4.0) {
            Some(Some(speed)) => self.speed = speed as f32,
            Some(None) => wrong.push("The speed is a number from 0 to 4."),
            None => {}
        }
        for (name, flag) in [("arrows", &mut self.has_arrows), ("distances", &mut self.has_distances)] {
            match (message.has(name), message.flag(name)) {
                (true, Some(value)) => *flag = value,
                (true, None) => wrong.push("A box is ticked by 1 and not by 0."),
                _ => {}
            }
        }
        if let Some(sentence) = wrong.first() {
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
            Action::Up | Action::Zoom => self.stroke = None,
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
        }));
    }
}

impl Scene for FlowScene {
    fn message(&mut self, message: &Message, host: &Host) {
        match message.kind() {
            "set" => self.set(message, host),
            "engine" => self.solver.engine_changed(),
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
        let [width, height] = frame.pixels().map(|side| side as f32);
        let scale = (MOST_PIXELS / (width * height)).sqrt().min(1.0);
        let size = [width, height].map(|side| ((side * scale).round() as u32).max(1));
        let ratio = size[0] as f32 / self.canvas[0].max(1.0);
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
        let mut state = serde_json::Map::new();
        let settings = self.settings;
        let mut put = |name: &str, value: Value, is_default: bool| {
            if !is_default {
                state.insert(name.to_owned(), value);
            }
        };
        put("scene", json!(settings.plan.name()), settings.plan == DEFAULTS.plan);
        put("size", json!(settings.side), settings.side == DEFAULTS.side);
        put("seed", json!(settings.seed), settings.seed == DEFAULTS.seed);
        put("agents", json!(settings.agent_count), settings.agent_count == DEFAULTS.agent_count);
        let connectivity = if settings.is_eight { "eight" } else { "four" };
        put("connectivity", json!(connectivity), settings.is_eight == DEFAULTS.is_eight);
        put("corners", json!(settings.corners_name()), settings.corners == DEFAULTS.corners);
        Value::Object(state)
    }
}

#[cfg(test)]
mod tests;
