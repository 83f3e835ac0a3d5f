//! A strip of triangles laid out in the plane, the funnel within it, and the way back into space.
//!
//! A strip may turn by more than a full turn and then lie over itself in the plane, so nothing here asks where a point is:
//! only which side of a line two other points lie on, among points of one funnel.

use glam::{DVec2, DVec3};

use crate::navigate::surface::mesh::topology::Mesh;

/// The sine of an angle that is none.
const STRAIGHT: f64 = 1e-13;

/// Of how far the nodes are from the origin of the plane: what their places may be off by. A near one may hang on far ones.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// A strip of triangles in the plane.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unfolded {
    /// The strip's vertices as they come: one that comes back after it was left behind is another node.
    nodes: Vec<Node>,
    /// For each edge that the strip crosses its nodes left and right.
    gates: Vec<[u32; 2]>,
    /// The goal in the plane; the start is `nodes[0]`.
    goal: DVec2,
    /// How far the nodes are from the origin at most, along an axis.
    far: f64,
    /// The funnel: nodes from the left end over the apex to the right end.
    deque: Deque,
    /// The nodes that the path bends at, in order.
    bends: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    place: DVec2,
    vertex: u32,
    /// The node before it on the shortest path to it within the strip.
    before: u32,
}

/// Room at both ends for as many nodes as there are.
#[derive(Debug, Clone, Default)]
struct Deque {
    slots: Vec<u32>,
    left: usize,
    right: usize,
    apex: usize,
}

/// A path over a strip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Across {
    /// The edge's vertices, left and right of the path.
    pub(crate) ends: [u32; 2],
    /// Where it is crossed: 0 at the left end, 1 at the right one; there to the bit where the path bends at it.
    pub(crate) part: f64,
}

/// Where a path bends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bend {
    /// The vertex that it bends around.
    pub(crate) vertex: u32,
    /// The first and the last edge crossed, counted along the strip, that end there.
    pub(crate) first_gate: usize,
    pub(crate) last_gate: usize,
    /// By how much, in radians.
    pub(crate) turn: f64,
}

impl Unfolded {
    /// Lays out the strip that starts at `start` in the triangle of the first side, leaves it by that side, and so on; each
    /// pair of `sides` is the side that a triangle is left by and the side of the next one that is the same edge. It ends at
    /// `goal` in the triangle of the last side.
    pub(crate) fn lay_out(&mut self, mesh: &Mesh, start: DVec3, goal: DVec3, sides: &[[u32; 2]]) {
        self.nodes.clear();
        self.gates.clear();
        self.far = 0.0;
        self.nodes.push(Node { place: DVec2::ZERO, vertex: u32::MAX, before: u32::MAX });
        let Some(&[first, _]) = sides.first() else {
            self.goal = DVec2::new(start.distance(goal), 0.0);
            return;
        };
        // Seen from within, counter-clockwise, a side leads from right to left.
        let [right, left] = mesh.ends(first);
        let at = |vertex: u32| mesh.points[vertex as usize];
        // The first edge lies on the x axis, the start below it: facing the edge from there left is at smaller x.
        let width = at(left).distance(at(right));
        let (along, height) = local(at(left), at(right), width, start);
        self.nodes[0].place = DVec2::new(along, -height);
        self.far = along.abs().max(height.abs());
        let mut gate = [self.push(DVec2::ZERO, left), self.push(DVec2::new(width, 0.0), right)];
        // From the gate's left to its right.
        let mut direction = DVec2::X;
        for (i, &[_, entry]) in sides.iter().enumerate() {
            self.gates.push(gate);
            let apex = mesh.opposite(entry);
            let [left, right] = gate.map(|node| self.nodes[node as usize]);
            let (from, to) = (at(left.vertex), at(right.vertex));
            let width = from.distance(to);
            let place = |point: DVec3| {
                let (along, height) = local(from, to, width, point);
                (left.place + direction * along + direction.perp() * height, along, height)
            };
            let Some(&[exit, _]) = sides.get(i + 1) else {
                self.goal = place(goal).0;
                break;
            };
            let (place, along, height) = place(at(apex));
            let ends = mesh.ends(exit);
            let node = self.push(place, apex);
            // The length and the angle in space, not in the plane: errors do not add up in it, and a short gate's places would not tell
            // its direction.
            let onward = if ends.contains(&left.vertex) {
                gate[1] = node;
                direction * along + direction.perp() * height
            } else {
                gate[0] = node;
                let (back, _) = local(to, from, width, at(apex));
                direction * back - direction.perp() * height
            };
            direction = onward.normalize_or(direction);
        }
    }

    fn push(&mut self, place: DVec2, vertex: u32) -> u32 {
        self.far = self.far.max(place.abs().max_element());
        self.nodes.push(Node { place, vertex, before: 0 });
        self.nodes.len() as u32 - 1
    }

    /// Pulls the string tight (Lee and Preparata 1984; Chazelle 1982): the length of the shortest path within the strip. Each
    /// node enters the funnel once and leaves it once.
    pub(crate) fn pull(&mut self) -> f64 {
        self.bends.clear();
        let Some(&[left, right]) = self.gates.first() else { return self.goal.x };
        let room = self.nodes.len() + 1;
        self.deque.reset(room, left, 0, right);
        for i in 1..self.gates.len() {
            let ([old_left, _], [left, right]) = (self.gates[i - 1], self.gates[i]);
            if left == old_left {
                self.add(right, false);
            } else {
                self.add(left, true);
            }
        }
        let goal = self.push(self.goal, u32::MAX);
        self.add(goal, true);
        let mut length = 0.0;
        let mut node = goal;
        while node != 0 {
            let before = self.nodes[node as usize].before;
            length += self.nodes[node as usize].place.distance(self.nodes[before as usize].place);
            if before != 0 {
                self.bends.push(before);
            }
            node = before;
        }
        self.nodes.pop();
        self.bends.reverse();
        length
    }

    /// Adds a node at the left or the right end of the funnel.
    fn add(&mut self, node: u32, is_left: bool) {
        let nodes = &self.nodes;
        let place = |node: u32| nodes[node as usize].place;
        let new = place(node);
        // Twice the area of a, b, new, seen from the side that the node comes from: positive where the way from a over b to
        // the new node bends around b as around a wall of that side. What bends by rounding alone is straight: where nodes
        // are in one line, as those of a triangle without area, it would lead forth and back.
        let turn = |a: u32, b: u32| {
            let (a, b) = (place(a), place(b));
            let (one, other) = (b - a, new - b);
            let area = one.perp_dot(other);
            // As long as they are or a little longer, without a root.
            let (width, height) = (one.abs().element_sum(), other.abs().element_sum());
            if area.abs() <= STRAIGHT * width * height + ROUNDING * self.far * (width + height) {
                0.0
            } else if is_left {
                area
            } else {
                -area
            }
        };
        let deque = &mut self.deque;
        if is_left {
            // Its own chain, from the end to the apex.
            while deque.left < deque.apex && turn(deque.slots[deque.left + 1], deque.slots[deque.left]) <= 0.0
            {
                deque.left += 1;
            }
            if deque.left == deque.apex {
                // Past the apex along the other chain.
                while deque.apex < deque.right
                    && turn(deque.slots[deque.apex], deque.slots[deque.apex + 1]) < 0.0
                {
                    deque.apex += 1;
                }
                deque.left = deque.apex;
            }
            let before = deque.slots[deque.left];
            deque.left -= 1;
            deque.slots[deque.left] = node;
            self.nodes[node as usize].before = before;
        } else {
            while deque.right > deque.apex
                && turn(deque.slots[deque.right - 1], deque.slots[deque.right]) <= 0.0
            {
                deque.right -= 1;
            }
            if deque.right == deque.apex {
                while deque.apex > deque.left
                    && turn(deque.slots[deque.apex], deque.slots[deque.apex - 1]) < 0.0
                {
                    deque.apex -= 1;
                }
                deque.right = deque.apex;
            }
            let before = deque.slots[deque.right];
            deque.right += 1;
            deque.slots[deque.right] = node;
            self.nodes[node as usize].before = before;
        }
    }

    /// Where the path that [`pull`](Self::pull) found crosses each edge of the strip.
    pub(crate) fn crossings(&self, crossings: &mut Vec<Across>) {
        crossings.clear();
        let place = |node: u32| self.nodes[node as usize].place;
        // The first bend that is not behind the gate.
        let mut piece = 0;
        // The bend that the piece begins at, and how far along it the last crossing is.
        let (mut last, mut come) = (None, 0.0);
        for (i, gate) in self.gates.iter().enumerate() {
            let holds =
                |gate: &[u32; 2], piece: usize| self.bends.get(piece).is_some_and(|bend| gate.contains(bend));
            while i > 0 && !holds(gate, piece) && holds(&self.gates[i - 1], piece) {
                piece += 1;
            }
            let at = self.bends.get(piece).filter(|bend| gate.contains(bend));
            let ends = gate.map(|node| self.nodes[node as usize].vertex);
            let part = match at {
                Some(bend) if gate[0] == *bend => 0.0,
                Some(_) => 1.0,
                None => {
                    let before = piece.checked_sub(1).map(|before| self.bends[before]);
                    let from = place(before.unwrap_or(0));
                    let to = self.bends.get(piece).map_or(self.goal, |&bend| place(bend));
                    if before != last {
                        (last, come) = (before, 0.0);
                    }
                    cut([from, to], gate.map(place), &mut come)
                }
            };
            crossings.push(Across { ends, part });
        }
    }
}

impl Unfolded {
    /// The bends of the path that [`pull`](Self::pull) found, in order.
    pub(crate) fn bends(&self, found: &mut Vec<Bend>) {
        found.clear();
        let place = |node: u32| self.nodes[node as usize].place;
        let mut gate = 0;
        for (i, &bend) in self.bends.iter().enumerate() {
            let holds = |gate: usize| self.gates.get(gate).is_some_and(|gate| gate.contains(&bend));
            while gate < self.gates.len() && !holds(gate) {
                gate += 1;
            }
            let first_gate = gate;
            let mut last_gate = gate;
            while holds(last_gate + 1) {
                last_gate += 1;
            }
            if !holds(first_gate) {
                return;
            }
            let from = place(if i == 0 { 0 } else { self.bends[i - 1] });
            let to = self.bends.get(i + 1).map_or(self.goal, |&next| place(next));
            let turn = (place(bend) - from).angle_to(to - place(bend)).abs();
            // Bends at the very start or goal have no direction.
            if turn.is_finite() && place(bend) != from && place(bend) != to {
                let vertex = self.nodes[bend as usize].vertex;
                found.push(Bend { vertex, first_gate, last_gate, turn });
            }
        }
    }
}

impl Deque {
    fn reset(&mut self, room: usize, left: u32, apex: u32, right: u32) {
        self.slots.clear();
        self.slots.resize(2 * room + 1, 0);
        self.apex = room;
        self.left = room - 1;
        self.right = room + 1;
        self.slots[self.left] = left;
        self.slots[self.apex] = apex;
        self.slots[self.right] = right;
    }
}

/// Where a piece of a path crosses a gate: 0 at its left end, 1 at its right one; no nearer to the piece's beginning than
/// `come`, which becomes the place found.
fn cut([from, to]: [DVec2; 2], [left, right]: [DVec2; 2], come: &mut f64) -> f64 {
    let piece = to - from;
    let reach = piece.length();
    let (over_left, over_right) = (piece.perp_dot(left - from), piece.perp_dot(right - from));
    // Left lies on the left of the piece: a positive area, and right a negative one, up to rounding.
    let part = over_left / (over_left - over_right);
    let part = if part.is_nan() { 0.5 } else { part.clamp(0.0, 1.0) };
    if reach <= 1e-12 * left.distance(right) {
        // The piece is one point but for rounding, and the gate's nearest to it the crossing.
        let gate = right - left;
        let part = (from - left).dot(gate) / gate.length_squared();
        return if part.is_nan() { 0.0 } else { part.clamp(0.0, 1.0) };
    }
    // A gate along the piece has no certain crossing: the first of the places that they share, so that none of the next gates
    // ends before it, but never back.
    let along = |point: DVec2| (point - from).dot(piece) / reach;
    let (at_left, at_right) = (along(left), along(right));
    let width = left.distance(right);
    let (mut at, is_steep) =
        (at_left + part * (at_right - at_left), (at_right - at_left).abs() < 0.5 * width);
    let far = from.abs().max(to.abs()).max(left.abs()).max(right.abs()).max_element();
    let doubt = ROUNDING * far * reach / (over_left - over_right).abs();
    if !is_steep && !(doubt <= 1e-9) {
        let first =
            [part - doubt, part + doubt].map(|part| at_left + part.clamp(0.0, 1.0) * (at_right - at_left));
        at = if first[0].is_nan() { at_left.min(at_right) } else { first[0].min(first[1]) };
    }
    let wanted = at.clamp(come.min(reach), reach);
    *come = wanted;
    // Steep gates have a certain crossing, and moving along them would not move along the piece.
    if is_steep || wanted == at_left + part * (at_right - at_left) {
        return part;
    }
    ((wanted - at_left) / (at_right - at_left)).clamp(0.0, 1.0)
}

/// Adds a crossing to a strip: a triangle that would be left by the edge that it was entered by drops out, for there the path
/// need only touch it.
pub(crate) fn cross(sides: &mut Vec<[u32; 2]>, crossing: [u32; 2]) {
    match sides.last_mut() {
        Some(last) if last[1] == crossing[0] => {
            last[1] = crossing[1];
            if last[0] == last[1] {
                sides.pop();
            }
        }
        _ => sides.push(crossing),
    }
}

/// A point relative to the line from `from` to `to`, `width` apart: how far along it, and how far from it, never negative.
fn local(from: DVec3, to: DVec3, width: f64, point: DVec3) -> (f64, f64) {
    let (edge, offset) = (to - from, point - from);
    if width == 0.0 {
        return (0.0, offset.length());
    }
    (offset.dot(edge) / width, offset.cross(edge).length() / width)
}
