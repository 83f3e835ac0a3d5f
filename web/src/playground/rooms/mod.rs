//! The tab rooms: a room of polygons, two points that are dragged, and the path between them by both methods.

mod check;
mod layout;
mod picture;

use hullfield::navigate::room::{Method, Options, Path, PathOptions, Room, Strip};
use serde_json::{Value, json};

use crate::playground::draw::picture::Picture;
use crate::playground::fields::{Fields, LinkFields, name_of};
use crate::playground::host::Host;
use crate::playground::message::{Action, Message, Pointer};
use crate::playground::rooms::layout::{Layout, OBSTACLE_RADIUS, SIZE, obstacle};
use crate::playground::rooms::picture::{Fit, Lens, View, are_cells_drawn, draw_ground, draw_paths};
use crate::playground::scene::{Check, Kind, Reply, Scene};
use crate::playground::stage::Frame;

/// The tab.
pub(crate) const KIND: Kind = Kind { name: "rooms", create, second };

/// How near a press takes an end, in pixels of the page.
const REACH: f32 = 22.0;
/// How near a press takes a door, in pixels of the page.
const DOOR_REACH: f32 = 10.0;
/// How much a key zooms.
const KEY_ZOOM: f32 = 1.25;
/// The most doors of a room.
const MOST_DOORS: usize = 3;
const START: usize = 0;
const GOAL: usize = 1;
const OBSTACLE: usize = 2;
/// The fields of the handles in a link.
const FIELDS: [[&str; 2]; 3] = [["sx", "sy"], ["gx", "gy"], ["ox", "oy"]];

/// Which methods are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Both,
    Optimal,
    Funnel,
}

const SHOWN: [(&str, Shown); 3] =
    [("both", Shown::Both), ("optimal", Shown::Optimal), ("funnel", Shown::Funnel)];
const STRIPS: [(&str, Strip); 2] = [("midpoints", Strip::Dijkstra), ("cells", Strip::BreadthFirst)];

/// What the link says.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Settings {
    seed: u32,
    pillar_count: u32,
    radius: f64,
    shown: Shown,
    strip: Strip,
    /// The doors that are shut, a bit each.
    shut: u32,
    /// The start, the goal, and the middle of the obstacle.
    handles: [[f64; 2]; 3],
}

const DEFAULTS: Settings = Settings {
    seed: 1,
    pillar_count: 40,
    radius: 0.0,
    shown: Shown::Both,
    strip: Strip::Dijkstra,
    shut: 0,
    handles: [[12.0, 14.0], [92.0, 50.0], [50.0, 35.0]],
};

/// The paths between the ends.
#[derive(Debug, Default)]
struct Found {
    /// The ends, moved into the room.
    ends: [[f64; 2]; 2],
    optimal: Option<Path>,
    funnel: Option<Path>,
    /// What the page says of the ends.
    text: String,
}

#[derive(Debug)]
struct RoomsScene {
    settings: Settings,
    layout: Layout,
    /// None where the settings leave no room.
    room: Option<Room>,
    /// The obstacle's number in the room.
    obstacle: u32,
    found: Found,
    is_built: bool,
    is_moved: bool,
    is_dirty: bool,
    lens: Lens,
    has_cells: bool,
    chosen: usize,
    /// From the pointer to the handle that is dragged.
    grip: Option<[f64; 2]>,
    canvas: [f32; 2],
    /// Walls and cells, and what they were drawn with: the size, the theme, and whether cells are shown.
    ground: Picture,
    drawn: Option<([u32; 2], bool, bool, Lens)>,
    picture: Picture,
}

fn create(_: &Host) -> Box<dyn Scene> {
    let settings = DEFAULTS;
    Box::new(RoomsScene {
        settings,
        layout: Layout::new(settings.seed.into(), settings.pillar_count as usize),
        room: None,
        obstacle: 0,
        found: Found::default(),
        is_built: false,
        is_moved: false,
        is_dirty: true,
        lens: Lens::default(),
        has_cells: true,
        chosen: START,
        grip: None,
        canvas: [1.0; 2],
        ground: Picture::default(),
        drawn: None,
        picture: Picture::default(),
    })
}

fn second(_: &Message) -> Reply {
    Err("The rooms tab asks the second worker nothing.".to_owned())
}

fn clamped(at: [f64; 2]) -> [f64; 2] {
    // To hundredths, as the link has them.
    [0, 1].map(|axis| (100.0 * at[axis].clamp(-2.0, SIZE[axis] + 2.0)).round() / 100.0)
}

impl RoomsScene {
    fn set(&mut self, message: &Message, host: &Host) {
        const PLACES: &str = "The ends and the obstacle are points from -2 to 102 and from -2 to 72.";
        let mut fields = Fields::of(message);
        let now = self.settings;
        let mut handles = now.handles;
        for (handle, names) in handles.iter_mut().zip(FIELDS) {
            for (axis, name) in names.into_iter().enumerate() {
                handle[axis] = fields.number(name, -2.0..=SIZE[axis] + 2.0, PLACES).unwrap_or(handle[axis]);
            }
        }
        let settings = Settings {
            seed: fields.seed().unwrap_or(now.seed),
            pillar_count: fields
                .whole("pillars", 0..=300, "The pillars are a whole number from 0 to 300.")
                .unwrap_or(now.pillar_count),
            radius: fields
                .number("radius", 0.0..=4.0, "The radius is a number from 0 to 4.")
                .unwrap_or(now.radius),
            shown: fields
                .choice("method", &SHOWN, "The method is both, optimal or funnel.")
                .unwrap_or(now.shown),
            strip: fields.choice("strip", &STRIPS, "The strip is midpoints or cells.").unwrap_or(now.strip),
            shut: fields
                .whole("shut", 0..=(1 << MOST_DOORS) - 1, "The doors that are shut are a number from 0 to 7.")
                .unwrap_or(now.shut),
            handles,
        };
        let has_cells = fields.flag("cells", "A box is ticked by 1 and not by 0.");
        self.has_cells = has_cells.unwrap_or(self.has_cells);
        if let Err(sentence) = fields.finish() {
            host.error(sentence);
        }
        let old = std::mem::replace(&mut self.settings, settings);
        if (old.seed, old.pillar_count) != (settings.seed, settings.pillar_count) {
            self.layout = Layout::new(settings.seed.into(), settings.pillar_count as usize);
            self.is_built = false;
        }
        if old.radius != settings.radius {
            self.is_built = false;
        }
        self.is_moved |= old.handles[OBSTACLE] != settings.handles[OBSTACLE];
        self.is_dirty = true;
    }

    fn pointer(&mut self, pointer: &Pointer) {
        let fit = Fit::new(self.canvas, 1.0, self.lens);
        let at = fit.to_room(pointer.at);
        let reach = f64::from(REACH / fit.scale);
        let door = self.door_at(at, reach, f64::from(DOOR_REACH / fit.scale));
        match (pointer.action, door) {
            (Action::Down, _) if pointer.button != 0 || pointer.shift => self.grip = None,
            (Action::Down, Some(door)) => {
                self.turn_door(door);
                self.grip = None;
            }
            (Action::Down, None) => {
                self.chosen = self.taken(at, reach);
                let handle = self.settings.handles[self.chosen];
                let is_near = |reach: f64| (handle[0] - at[0]).hypot(handle[1] - at[1]) <= reach;
                // A press elsewhere brings the nearer end there.
                let reach = if self.chosen == OBSTACLE { OBSTACLE_RADIUS } else { reach };
                let grip = if is_near(reach) { [handle[0] - at[0], handle[1] - at[1]] } else { [0.0; 2] };
                self.grip = Some(grip);
                self.move_to([at[0] + grip[0], at[1] + grip[1]]);
            }
            // The second button, or shift, moves what is seen.
            (Action::Move, _) if pointer.is_down && (pointer.button != 0 || pointer.shift) => {
                self.look(pointer.at, pointer.moved, 1.0);
            }
            (Action::Move, _) if pointer.is_down => {
                if let Some(grip) = self.grip {
                    self.move_to([at[0] + grip[0], at[1] + grip[1]]);
                }
            }
            (Action::Move, _) => {}
            (Action::Up, _) => self.grip = None,
            (Action::Zoom, _) => {
                self.grip = None;
                self.look(pointer.at, pointer.moved, pointer.zoom.recip());
            }
        }
    }

    /// The door that a press at a point takes: none where an end is nearer.
    fn door_at(&self, at: [f64; 2], reach: f64, door_reach: f64) -> Option<usize> {
        let far = |[x, y]: [f64; 2]| (x - at[0]).hypot(y - at[1]);
        let is_end_near = [START, GOAL].into_iter().any(|end| far(self.settings.handles[end]) <= reach);
        let is_near = |[from, to]: &[[f64; 2]; 2]| {
            let way = [to[0] - from[0], to[1] - from[1]];
            let square = way[0] * way[0] + way[1] * way[1];
            let along = ((at[0] - from[0]) * way[0] + (at[1] - from[1]) * way[1]) / square;
            let share = along.clamp(0.0, 1.0);
            far([from[0] + share * way[0], from[1] + share * way[1]]) <= door_reach
        };
        self.layout.doors.iter().position(is_near).filter(|_| !is_end_near)
    }

    /// Zooms about a place of the canvas, and moves what is seen.
    fn look(&mut self, at: [f32; 2], moved: [f32; 2], factor: f32) {
        self.lens.zoom(self.canvas, at, moved, factor);
        self.is_dirty = true;
    }

    /// Opens or shuts a door.
    fn turn_door(&mut self, door: usize) {
        self.settings.shut ^= 1 << door;
        self.is_dirty = true;
    }

    /// The doors, and whether each is open.
    fn doors(&self) -> Vec<([[f64; 2]; 2], bool)> {
        let is_open = |door: usize| self.settings.shut >> door & 1 == 0;
        self.layout.doors.iter().enumerate().map(|(door, &ends)| (ends, is_open(door))).collect()
    }

    /// The handle that a press at a point takes.
    fn taken(&self, at: [f64; 2], reach: f64) -> usize {
        let far = |handle: usize| {
            let [x, y] = self.settings.handles[handle];
            (x - at[0]).hypot(y - at[1])
        };
        let end = if far(START) <= far(GOAL) { START } else { GOAL };
        if far(end) > reach && far(OBSTACLE) <= OBSTACLE_RADIUS { OBSTACLE } else { end }
    }

    fn move_to(&mut self, at: [f64; 2]) {
        let at = clamped(at);
        if self.settings.handles[self.chosen] != at {
            self.settings.handles[self.chosen] = at;
            self.is_moved |= self.chosen == OBSTACLE;
        }
        self.is_dirty = true;
    }

    /// Arrows move what is chosen, shift by a tenth of the step; S, G and O choose, enter and space the next. D opens or shuts the door nearest to
    /// what is chosen; plus and minus zoom.
    fn key(&mut self, key: &str, is_shift: bool) {
        let step = if is_shift { 0.1 } else { 1.0 };
        let [x, y] = self.settings.handles[self.chosen];
        match key {
            "ArrowLeft" => self.move_to([x - step, y]),
            "ArrowRight" => self.move_to([x + step, y]),
            "ArrowUp" => self.move_to([x, y + step]),
            "ArrowDown" => self.move_to([x, y - step]),
            "s" | "S" => self.chosen = START,
            "g" | "G" => self.chosen = GOAL,
            "o" | "O" => self.chosen = OBSTACLE,
            "Enter" | " " => self.chosen = (self.chosen + 1) % 3,
            "d" | "D" => {
                let far = |[from, to]: &[[f64; 2]; 2]| {
                    let middle = [0, 1].map(|axis| (from[axis] + to[axis]) / 2.0);
                    (middle[0] - x).hypot(middle[1] - y)
                };
                let doors = self.layout.doors.iter().enumerate();
                if let Some((door, _)) = doors.min_by(|a, b| far(a.1).total_cmp(&far(b.1))) {
                    self.turn_door(door);
                }
            }
            "+" | "=" | "-" | "_" => {
                let at = Fit::new(self.canvas, 1.0, self.lens).to_pixels([x, y]);
                let factor = if matches!(key, "+" | "=") { KEY_ZOOM } else { KEY_ZOOM.recip() };
                self.look(at, [0.0; 2], factor);
            }
            _ => return,
        }
        self.is_dirty = true;
    }

    /// Builds the room where its settings have changed, and moves the obstacle.
    fn build(&mut self, host: &Host) -> hullfield::Result<()> {
        let ring = obstacle(self.settings.handles[OBSTACLE]);
        if !self.is_built {
            (self.is_built, self.is_moved) = (true, false);
            (self.room, self.drawn) = (None, None);
            let doors = self.layout.doors.clone();
            let options = Options { radius: self.settings.radius, doors, ..Options::default() };
            let (layout, mut number) = (&self.layout, 0);
            let room = host.timed("room, built", || {
                let mut room = Room::new(&layout.outer, &layout.holes, options)?;
                number = room.put_obstacle(&ring)?;
                Ok::<_, hullfield::Error>(room)
            })?;
            (self.room, self.obstacle) = (Some(room), number);
        } else if std::mem::take(&mut self.is_moved)
            && let Some(room) = &mut self.room
        {
            let number = self.obstacle;
            self.drawn = None;
            host.timed("obstacle, moved", || room.move_obstacle(number, &ring))?;
        }
        let doors: Vec<(u32, bool)> =
            (0..).zip(self.doors()).map(|(door, (_, is_open))| (door, is_open)).collect();
        if let Some(room) = &mut self.room {
            room.set_doors(&doors)?;
        }
        Ok(())
    }

    /// Finds the paths.
    fn find(&mut self, host: &Host) -> hullfield::Result<()> {
        let Some(room) = &self.room else { return Ok(()) };
        let [start, goal, _] = self.settings.handles;
        self.found = Found { ends: [start, goal], ..Found::default() };
        for (end, name) in ["start", "goal"].into_iter().enumerate() {
            let Some(nearest) = room.nearest_point(self.settings.handles[end])? else {
                "The obstacle leaves no room.".clone_into(&mut self.found.text);
                return Ok(());
            };
            if nearest.distance > 0.0 {
                self.found.ends[end] = nearest.position;
                let moved = match nearest.distance {
                    distance if distance < 0.005 => "less than 0.01".to_owned(),
                    distance => format!("{distance:.2}"),
                };
                self.found.text +=
                    &format!("The {name} is off the room: it is moved {moved} m to the nearest point. ");
            }
        }
        let ends = self.found.ends;
        let find = |method: Method, stage: &'static str| {
            let options = PathOptions { method, to_nearest: true };
            host.timed(stage, || room.path(ends[0], ends[1], &options))
        };
        let is_shown = |method: Shown| self.settings.shown == Shown::Both || self.settings.shown == method;
        if is_shown(Shown::Optimal) {
            self.found.optimal = Some(find(Method::Optimal, "path, optimal")?);
        }
        if is_shown(Shown::Funnel) {
            self.found.funnel = Some(find(Method::Funnel(self.settings.strip), "path, funnel")?);
        }
        let any = self.found.optimal.as_ref().or(self.found.funnel.as_ref());
        let last = any.and_then(|path| path.points.last().copied());
        if let Some(last) = last.filter(|last| *last != ends[1]) {
            self.found.ends[1] = last;
            self.found.text += "The goal can't be reached: the path leads to the nearest point that can.";
        }
        Ok(())
    }

    /// Whether the cells are too small to be drawn.
    fn is_dense(&self) -> bool {
        let fit = Fit::new(self.canvas, 1.0, self.lens);
        self.has_cells && self.room.as_ref().is_some_and(|room| !are_cells_drawn(room, fit, 1.0))
    }

    fn note(&self, host: &Host) {
        let length =
            |path: &Option<Path>| path.as_ref().map(|path| path.length).filter(|length| length.is_finite());
        let path = self.found.optimal.as_ref().or(self.found.funnel.as_ref());
        let chosen = ["start", "goal", "obstacle"][self.chosen];
        host.post(json!({
            "type": "path",
            "tab": KIND.name,
            "optimal": length(&self.found.optimal),
            "funnel": length(&self.found.funnel),
            "bends": path.map_or(0, |path| path.corners.len()),
            "funnel_bends": self.found.funnel.as_ref().map_or(0, |path| path.corners.len()),
            "strip": path.map_or(0, |path| path.cells.len()),
            "cells": self.room.as_ref().map_or(0, Room::cell_count),
            "pillars": self.layout.holes.len(),
            "doors": self.layout.doors.len(),
            "shut": self.settings.shut,
            "is_dense": self.is_dense(),
            "chosen": chosen,
            "text": self.found.text.trim_end(),
        }));
    }
}

impl Scene for RoomsScene {
    fn message(&mut self, message: &Message, host: &Host) {
        match message.kind() {
            "set" => self.set(message, host),
            "key" => {
                let is_shift = message.flag("shift").unwrap_or_default();
                self.key(message.key().unwrap_or_default(), is_shift);
            }
            // The table of times was emptied.
            "engine" => self.is_dirty = true,
            _ => {
                if let Some(pointer) = message.pointer() {
                    self.pointer(&pointer);
                }
            }
        }
    }

    fn frame(&mut self, frame: &mut Frame<'_>, host: &Host) -> bool {
        self.canvas = frame.size();
        if std::mem::take(&mut self.is_dirty) {
            self.found = Found::default();
            if let Err(error) = self.build(host).and_then(|()| self.find(host)) {
                host.error(&error.to_string());
            }
            self.note(host);
        }
        let (size, ratio) = frame.picture_size();
        let Some(room) = &self.room else {
            // What was drawn would be another room.
            self.picture.clear(size, frame.look().background);
            frame.put(self.picture.pixels(), size);
            return false;
        };
        let (ring, doors) = (obstacle(self.settings.handles[OBSTACLE]), self.doors());
        let view = View {
            layout: &self.layout,
            room,
            obstacle: &ring,
            has_cells: self.has_cells,
            lens: self.lens,
            doors: &doors,
            radius: self.settings.radius,
            optimal: self.found.optimal.as_ref(),
            funnel: self.found.funnel.as_ref(),
            handles: self.settings.handles,
            ends: self.found.ends,
            chosen: self.chosen,
            is_dark: frame.is_dark(),
        };
        let drawn = Some((size, view.is_dark, view.has_cells, view.lens));
        if self.drawn != drawn {
            self.drawn = drawn;
            host.timed("drawing, room", || draw_ground(&mut self.ground, size, ratio, &view));
        }
        host.timed("drawing, paths", || {
            self.picture.copy(&self.ground);
            draw_paths(&mut self.picture, ratio, &view);
            frame.put(self.picture.pixels(), size);
        });
        false
    }

    fn check(&mut self, _: &Host) -> Check {
        Box::pin(async { check::check() })
    }

    fn state(&self) -> Value {
        let mut fields = LinkFields::default();
        let settings = self.settings;
        fields.put("seed", settings.seed, DEFAULTS.seed);
        fields.put("pillars", settings.pillar_count, DEFAULTS.pillar_count);
        fields.put("radius", settings.radius, DEFAULTS.radius);
        fields.put("method", name_of(&SHOWN, &settings.shown), name_of(&SHOWN, &DEFAULTS.shown));
        fields.put("shut", settings.shut, DEFAULTS.shut);
        fields.put("strip", name_of(&STRIPS, &settings.strip), name_of(&STRIPS, &DEFAULTS.strip));
        for ((names, handle), usual) in FIELDS.iter().zip(settings.handles).zip(DEFAULTS.handles) {
            for axis in 0..2 {
                fields.put(names[axis], handle[axis], usual[axis]);
            }
        }
        fields.into()
    }
}

#[cfg(test)]
mod tests;
