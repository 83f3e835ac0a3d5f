//! A strip of triangles unfolded into the plane, and the funnel within it.
//!
//! A strip may turn by more than a full turn and then overlap itself in the plane. So nothing here asks where a point is, only on which
//! side of a line it lies, among points of one funnel.

use glam::{DVec2, DVec3};

use crate::navigate::surface::mesh::topology::Mesh;

/// A turn whose sine is no greater counts as straight.
const STRAIGHT_SINE: f64 = 1e-13;

/// The rounding of a node's position, relative to the largest coordinate of all nodes: a near node may depend on far ones.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// A strip of triangles in the plane.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unfolded {
    /// The strip's vertices in order. A vertex that comes back after the strip has left it is another node.
    nodes: Vec<Node>,
    /// The portals: for each edge that the strip crosses its left and right node.
    portals: Vec<[u32; 2]>,
    /// The goal in the plane; the start is `nodes[0]`.
    goal: DVec2,
    /// The largest coordinate of the nodes, by magnitude.
    max_coordinate: f64,
    /// The funnel: nodes from the left end over the apex to the right end.
    deque: FunnelDeque,
    /// The nodes at which the path bends, in order.
    bends: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    place: DVec2,
    vertex: u32,
    /// The previous node on the shortest path to it within the strip.
    before: u32,
}

/// The funnel's deque, with room at both ends for all nodes.
#[derive(Debug, Clone, Default)]
struct FunnelDeque {
    slots: Vec<u32>,
    left: usize,
    right: usize,
    apex: usize,
}

/// Where a path crosses an edge of its strip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EdgeCrossing {
    /// The edge's vertices, left and right of the path.
    pub(crate) ends: [u32; 2],
    /// Where it is crossed, from 0 at the left end to 1 at the right one. It is exactly 0 or 1 where the path bends at that end.
    pub(crate) fraction: f64,
}

/// A vertex at which a path bends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PathVertex {
    /// The vertex.
    pub(crate) vertex: u32,
    /// The first and the last portal that ends there, as indices along the strip.
    pub(crate) first_portal: usize,
    pub(crate) last_portal: usize,
    /// The angle by which the path turns, in radians.
    pub(crate) turn: f64,
}

impl Unfolded {
    /// Unfolds a strip. Each pair of `sides` is the side by which a triangle is left and the side of the next triangle on the same edge.
    /// `start` lies in the triangle of the first side, `goal` in the triangle of the last.
    pub(crate) fn lay_out(&mut self, mesh: &Mesh, start: DVec3, goal: DVec3, sides: &[[u32; 2]]) {
        self.nodes.clear();
        self.portals.clear();
        self.max_coordinate = 0.0;
        self.nodes.push(Node { place: DVec2::ZERO, vertex: u32::MAX, before: u32::MAX });
        let Some(&[first, _]) = sides.first() else {
            self.goal = DVec2::new(start.distance(goal), 0.0);
            return;
        };
        // Seen from inside its triangle, a side leads from right to left.
        let [right, left] = mesh.ends(first);
        let at = |vertex: u32| mesh.points[vertex as usize];
        // The first edge lies on the x axis, its left end at 0, and the start below it.
        let width = at(left).distance(at(right));
        let (along, height) = edge_coordinates(at(left), at(right), width, start);
        self.nodes[0].place = DVec2::new(along, -height);
        self.max_coordinate = along.abs().max(height.abs());
        let mut portal = [self.push(DVec2::ZERO, left), self.push(DVec2::new(width, 0.0), right)];
        // From the portal's left end to its right one.
        let mut direction = DVec2::X;
        for (i, &[_, entry]) in sides.iter().enumerate() {
            self.portals.push(portal);
            let apex = mesh.opposite(entry);
            let [left, right] = portal.map(|node| self.nodes[node as usize]);
            let (from, to) = (at(left.vertex), at(right.vertex));
            let width = from.distance(to);
            let place = |point: DVec3| {
                let (along, height) = edge_coordinates(from, to, width, point);
                (left.place + direction * along + direction.perp() * height, along, height)
            };
            let Some(&[exit, _]) = sides.get(i + 1) else {
                self.goal = place(goal).0;
                break;
            };
            let (place, along, height) = place(at(apex));
            let ends = mesh.ends(exit);
            let node = self.push(place, apex);
            // The next direction comes from the lengths and angle in space, not from positions in the plane: so errors do not add up, and a
            // short portal has a good direction.
            let onward = if ends.contains(&left.vertex) {
                portal[1] = node;
                direction * along + direction.perp() * height
            } else {
                portal[0] = node;
                let (back, _) = edge_coordinates(to, from, width, at(apex));
                direction * back - direction.perp() * height
            };
            direction = onward.normalize_or(direction);
        }
    }

    fn push(&mut self, place: DVec2, vertex: u32) -> u32 {
        self.max_coordinate = self.max_coordinate.max(place.abs().max_element());
        self.nodes.push(Node { place, vertex, before: 0 });
        self.nodes.len() as u32 - 1
    }

    /// Finds the shortest path within the strip ("string pulling": Chazelle 1982; Lee, Preparata 1984) and returns its length. Each node
    /// enters the funnel once and leaves it once, so it takes O(n).
    pub(crate) fn pull(&mut self) -> f64 {
        self.bends.clear();
        let Some(&[left, right]) = self.portals.first() else { return self.goal.x };
        let room = self.nodes.len() + 1;
        self.deque.reset(room, left, 0, right);
        for i in 1..self.portals.len() {
            let ([old_left, _], [left, right]) = (self.portals[i - 1], self.portals[i]);
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
        // Twice the signed area of the triangle a, b, new; on the right side with the opposite sign. It is positive where a path
        // over a and b to the new node bends at b. A bend within the rounding error counts as straight: otherwise the path could go
        // back and forth along collinear nodes, such as those of a triangle without area.
        let turn = |a: u32, b: u32| {
            let (a, b) = (place(a), place(b));
            let (one, other) = (b - a, new - b);
            let area = one.perp_dot(other);
            // The 1-norm is at least the length and needs no root.
            let (width, height) = (one.abs().element_sum(), other.abs().element_sum());
            if area.abs()
                <= STRAIGHT_SINE * width * height + ROUNDING * self.max_coordinate * (width + height)
            {
                0.0
            } else if is_left {
                area
            } else {
                -area
            }
        };
        let deque = &mut self.deque;
        if is_left {
            // Shorten the node's own chain, from its end to the apex.
            while deque.left < deque.apex && turn(deque.slots[deque.left + 1], deque.slots[deque.left]) <= 0.0
            {
                deque.left += 1;
            }
            if deque.left == deque.apex {
                // Move the apex along the other chain.
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
    pub(crate) fn crossings(&self, crossings: &mut Vec<EdgeCrossing>) {
        crossings.clear();
        let place = |node: u32| self.nodes[node as usize].place;
        // The first bend that is not before the portal.
        let mut piece = 0;
        // The bend at which the piece begins, and how far along the piece the last crossing is.
        let (mut last, mut min_along) = (None, 0.0);
        for (i, portal) in self.portals.iter().enumerate() {
            let holds = |portal: &[u32; 2], piece: usize| {
                self.bends.get(piece).is_some_and(|bend| portal.contains(bend))
            };
            while i > 0 && !holds(portal, piece) && holds(&self.portals[i - 1], piece) {
                piece += 1;
            }
            let at = self.bends.get(piece).filter(|bend| portal.contains(bend));
            let ends = portal.map(|node| self.nodes[node as usize].vertex);
            let fraction = match at {
                Some(bend) if portal[0] == *bend => 0.0,
                Some(_) => 1.0,
                None => {
                    let before = piece.checked_sub(1).map(|before| self.bends[before]);
                    let from = place(before.unwrap_or(0));
                    let to = self.bends.get(piece).map_or(self.goal, |&bend| place(bend));
                    if before != last {
                        (last, min_along) = (before, 0.0);
                    }
                    portal_fraction([from, to], portal.map(place), &mut min_along)
                }
            };
            crossings.push(EdgeCrossing { ends, fraction });
        }
    }
}

impl Unfolded {
    /// The bends of the path that [`pull`](Self::pull) found, in order.
    pub(crate) fn bends(&self, found: &mut Vec<PathVertex>) {
        found.clear();
        let place = |node: u32| self.nodes[node as usize].place;
        let mut portal = 0;
        for (i, &bend) in self.bends.iter().enumerate() {
            let holds = |portal: usize| self.portals.get(portal).is_some_and(|portal| portal.contains(&bend));
            while portal < self.portals.len() && !holds(portal) {
                portal += 1;
            }
            let first_portal = portal;
            let mut last_portal = portal;
            while holds(last_portal + 1) {
                last_portal += 1;
            }
            if !holds(first_portal) {
                return;
            }
            let from = place(if i == 0 { 0 } else { self.bends[i - 1] });
            let to = self.bends.get(i + 1).map_or(self.goal, |&next| place(next));
            let turn = (place(bend) - from).angle_to(to - place(bend)).abs();
            // A bend at the very start or goal has no direction.
            if turn.is_finite() && place(bend) != from && place(bend) != to {
                let vertex = self.nodes[bend as usize].vertex;
                found.push(PathVertex { vertex, first_portal, last_portal, turn });
            }
        }
    }
}

impl FunnelDeque {
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

/// Where a straight piece of a path crosses a portal, from 0 at its left end to 1 at its right one. The crossing is no nearer to the
/// piece's beginning than `min_along`, which is then set to it.
fn portal_fraction([from, to]: [DVec2; 2], [left, right]: [DVec2; 2], min_along: &mut f64) -> f64 {
    let piece = to - from;
    let reach = piece.length();
    let (over_left, over_right) = (piece.perp_dot(left - from), piece.perp_dot(right - from));
    // Up to rounding, the left end has a positive area with the piece, and the right end a negative one.
    let fraction = over_left / (over_left - over_right);
    let fraction = if fraction.is_nan() { 0.5 } else { fraction.clamp(0.0, 1.0) };
    if reach <= 1e-12 * left.distance(right) {
        // The piece is one point but for rounding. The crossing is the portal's point nearest to it.
        let portal = right - left;
        let fraction = (from - left).dot(portal) / portal.length_squared();
        return if fraction.is_nan() { 0.0 } else { fraction.clamp(0.0, 1.0) };
    }
    // A portal along the piece has no well-defined crossing. Take the first point that they share, so that no later portal ends before it,
    // but never go back.
    let along = |point: DVec2| (point - from).dot(piece) / reach;
    let (at_left, at_right) = (along(left), along(right));
    let width = left.distance(right);
    let (mut at, is_steep) =
        (at_left + fraction * (at_right - at_left), (at_right - at_left).abs() < 0.5 * width);
    let max_coordinate = from.abs().max(to.abs()).max(left.abs()).max(right.abs()).max_element();
    let uncertainty = ROUNDING * max_coordinate * reach / (over_left - over_right).abs();
    if !is_steep && !(uncertainty <= 1e-9) {
        let first = [fraction - uncertainty, fraction + uncertainty]
            .map(|fraction| at_left + fraction.clamp(0.0, 1.0) * (at_right - at_left));
        at = if first[0].is_nan() { at_left.min(at_right) } else { first[0].min(first[1]) };
    }
    let wanted = at.clamp(min_along.min(reach), reach);
    *min_along = wanted;
    // A steep portal has a well-defined crossing. Moving along it would not move along the piece.
    if is_steep || wanted == at_left + fraction * (at_right - at_left) {
        return fraction;
    }
    ((wanted - at_left) / (at_right - at_left)).clamp(0.0, 1.0)
}

/// Adds a crossing to a strip. A triangle that would be left by the edge by which it was entered drops out: the path need only touch it.
pub(crate) fn push_crossing(sides: &mut Vec<[u32; 2]>, crossing: [u32; 2]) {
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

/// The coordinates of a point relative to the edge from `from` to `to`, which is `width` long: along it, and the distance from it.
fn edge_coordinates(from: DVec3, to: DVec3, width: f64, point: DVec3) -> (f64, f64) {
    let (edge, offset) = (to - from, point - from);
    if width == 0.0 {
        return (0.0, offset.length());
    }
    (offset.dot(edge) / width, offset.cross(edge).length() / width)
}
