//! The body that the user holds, and its contacts.

use glam::{Quat, Vec3};
use hullfield::collide::{Arena, Body, Contact, ContactOptions, Pairs, Ray, RayOptions};
use serde_json::{Value, json};

use crate::playground::collide::shapes::{Shapes, kind_of};
use crate::playground::collide::world::World;
use crate::playground::draw::camera::Camera;
use crate::playground::draw::line::Line;
use crate::playground::draw::palette::{Palette, color_of};
use crate::playground::host::ready;

/// The most contacts in the page's list.
const MOST_LISTED: usize = 12;

/// The chosen body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hand {
    pub(super) body: usize,
    /// Where the pointer has it, while it is down.
    grip: Option<Grip>,
}

#[derive(Debug, Clone, Copy)]
struct Grip {
    /// A point of the plane that the pointer moves on; the plane faces the camera.
    point: Vec3,
    /// From there to the body's position.
    offset: Vec3,
}

/// A ray from the camera: its origin and its direction.
pub(super) type Sight = (Vec3, Vec3);

impl Hand {
    pub(super) fn new(body: usize) -> Self {
        Self { body, grip: None }
    }

    /// The first body that a ray meets, held at the point where it does.
    ///
    /// # Errors
    /// Those of the query.
    pub(super) fn pick(
        arena: &Arena,
        world: &World,
        (origin, direction): Sight,
    ) -> hullfield::Result<Option<Self>> {
        if direction == Vec3::ZERO {
            return Ok(None);
        }
        let ray = Ray::new(origin.to_array(), direction.to_array());
        // The camera may be in a body.
        let options = RayOptions { skip_start: true };
        let found = ready(arena.raycasts(&world.bodies, &[ray], &options)?)?;
        let Some(hit) = found.rows.first().and_then(|row| row.hit) else { return Ok(None) };
        let body = hit.body as usize;
        let point = origin + hit.distance as f32 * direction;
        let grip = Grip { point, offset: Vec3::from(world.bodies[body].position) - point };
        Ok(Some(Self { body, grip: Some(grip) }))
    }

    /// Whether the pointer has it.
    pub(super) fn is_held(&self) -> bool {
        self.grip.is_some()
    }

    /// Moves the body so that the point that was met stays under the pointer.
    pub(super) fn drag(&mut self, world: &mut World, camera: &Camera, (origin, direction): Sight) {
        let Some(grip) = &mut self.grip else { return };
        let back = (camera.eye() - camera.target).normalize_or(Vec3::Z);
        let along = (grip.point - origin).dot(back) / direction.dot(back);
        if along.is_finite() && along > 0.0 {
            grip.point = origin + along * direction;
            world.place(self.body, grip.point + grip.offset);
        }
    }

    /// Lets it move by itself again; it stays chosen.
    pub(super) fn let_go(&mut self) {
        self.grip = None;
    }
}

/// A contact of the chosen body with another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Touch {
    pub(super) other: u32,
    /// As the library gives it, with the rows of the world.
    pub(super) contact: Contact,
    is_first: bool,
}

impl Touch {
    /// The points on the chosen body and on the other one.
    fn points(&self) -> [Vec3; 2] {
        let [on_a, on_b] = self.contact.points.map(|point| Vec3::from(point.map(|x| x as f32)));
        if self.is_first { [on_a, on_b] } else { [on_b, on_a] }
    }

    /// The unit vector from the other body to the chosen one.
    fn away(&self) -> Vec3 {
        let normal = Vec3::from(self.contact.normal.map(|x| x as f32));
        if self.is_first { -normal } else { normal }
    }
}

/// The contacts of one body, the deepest first. Only the bodies near it go into the query, in their order, so each contact is that of a
/// query over all bodies.
///
/// # Errors
/// Those of the query.
pub(super) fn contacts(arena: &Arena, world: &World, body: usize) -> hullfield::Result<Vec<Touch>> {
    let near = world.near(body);
    let bodies: Vec<Body> = near.iter().map(|&row| world.bodies[row as usize]).collect();
    let Some(own) = near.iter().position(|&row| row as usize == body) else { return Ok(Vec::new()) };
    let pairs: Vec<[u32; 2]> = (0..near.len())
        .filter(|&other| other != own)
        .map(|other| [own.min(other) as u32, own.max(other) as u32])
        .collect();
    let found = ready(arena.contacts(&bodies, Pairs::Given(&pairs), &ContactOptions::default())?)?;
    let hits = found.rows.into_iter().filter(|row| row.status.is_hit());
    let mut touches: Vec<Touch> = hits
        .map(|mut contact| {
            let is_first = contact.a as usize == own;
            (contact.a, contact.b) = (near[contact.a as usize], near[contact.b as usize]);
            Touch { other: if is_first { contact.b } else { contact.a }, contact, is_first }
        })
        .collect();
    touches.sort_by(|a, b| a.contact.separation.total_cmp(&b.contact.separation));
    Ok(touches)
}

/// The list for the page.
pub(super) fn list(world: &World, body: usize, touches: &[Touch]) -> Value {
    let kind = |row: u32| world.bodies.get(row as usize).map_or("", |body| kind_of(body.hull));
    let rows: Vec<Value> = touches
        .iter()
        .take(MOST_LISTED)
        .map(|touch| {
            json!({
                "body": touch.other,
                "kind": kind(touch.other),
                "status": touch.contact.status.name(),
                "depth": touch.contact.depth(),
                "normal": touch.contact.normal,
            })
        })
        .collect();
    json!({"body": body, "kind": kind(body as u32), "count": touches.len(), "rows": rows})
}

/// The outlines of the chosen body and of those that it meets, and for each contact its points and its normal.
pub(super) fn lines(
    shapes: &Shapes,
    world: &World,
    body: usize,
    touches: &[Touch],
    palette: &Palette,
) -> Vec<Line> {
    let color = color_of(palette, 4);
    let mut lines = Vec::new();
    for other in std::iter::once(body).chain(touches.iter().map(|touch| touch.other as usize)) {
        let Some(placed) = world.bodies.get(other) else { continue };
        let (at, turn) = (Vec3::from(placed.position), Quat::from_array(placed.rotation));
        let place = |point: Vec3| (at + turn * (Vec3::from(placed.scale) * point)).to_array();
        let edges = shapes.outlines.get(placed.hull as usize).into_iter().flatten();
        lines.extend(edges.map(|edge| Line { from: place(edge[0]), width: 1.0, to: place(edge[1]), color }));
    }
    for touch in touches {
        let [own, other] = touch.points().map(|point| point.to_array());
        let color = color_of(palette, 5);
        let tip = (Vec3::from(other) + 0.45 * touch.away()).to_array();
        lines.push(Line { from: other, width: 3.0, to: tip, color });
        for point in [own, other] {
            lines.push(Line { from: point, width: 9.0, to: point, color });
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use hullfield::Engine;
    use hullfield::collide::Options;

    use super::*;
    use crate::playground::collide::settings::Settings;

    fn scene(count: u32) -> (Shapes, World, Arena) {
        let shapes = Shapes::new().unwrap();
        let world = World::new(&Settings { count, ..Settings::default() }, &shapes);
        let arena = Arena::new(&Engine::cpu(), &shapes.hulls, Options::default()).unwrap();
        (shapes, world, arena)
    }

    #[test]
    fn contacts_of_a_body_are_those_of_a_query_over_all_bodies() {
        let (_, world, arena) = scene(400);
        let all =
            ready(arena.contacts(&world.bodies, Pairs::BroadPhase, &ContactOptions::default()).unwrap());
        let all = all.unwrap().rows;
        assert!(all.len() > 50);
        let mut seen = 0;
        for body in 0..400 {
            let mut found = contacts(&arena, &world, body).unwrap();
            assert!(found.is_sorted_by(|a, b| a.contact.separation <= b.contact.separation));
            found.sort_by_key(|touch| (touch.contact.a, touch.contact.b));
            let found: Vec<Contact> = found.iter().map(|touch| touch.contact).collect();
            let of_body = |row: &&Contact| row.a as usize == body || row.b as usize == body;
            let expected: Vec<Contact> = all.iter().filter(of_body).copied().collect();
            assert_eq!(found, expected);
            seen += found.len();
        }
        assert_eq!(seen, 2 * all.len());
    }

    #[test]
    fn a_dragged_body_follows_the_pointer() {
        let (_, mut world, arena) = scene(60);
        let camera = Camera::around(2.0 * world.half);
        let aim = |at: Vec3| {
            let seen = camera.view_projection(1.0).project_point3(at);
            ([seen.x, seen.y], camera.ray([seen.x, seen.y], 1.0))
        };
        // The nearest body of all is hidden by none.
        let distance = |row: &usize| Vec3::from(world.bodies[*row].position).distance(camera.eye());
        let nearest = (0..60).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
        let (at, sight) = aim(Vec3::from(world.bodies[nearest].position));
        let mut hand = Hand::pick(&arena, &world, sight).unwrap().unwrap();
        assert!(hand.body == nearest && hand.is_held());
        let before = Vec3::from(world.bodies[nearest].position);
        hand.drag(&mut world, &camera, sight);
        assert!(before.distance(Vec3::from(world.bodies[nearest].position)) < 1e-4);
        // A little to the middle, where it stays in the box.
        let wanted = [0.8 * at[0], 0.8 * at[1]];
        hand.drag(&mut world, &camera, camera.ray(wanted, 1.0));
        let seen = camera.view_projection(1.0).project_point3(Vec3::from(world.bodies[nearest].position));
        assert!((seen.x - wanted[0]).abs() < 0.05 && (seen.y - wanted[1]).abs() < 0.05, "{seen} {wanted:?}");
        // Held, it does not move by itself.
        let held = world.bodies[nearest];
        world.step(0.1, Some(nearest));
        assert_eq!(world.bodies[nearest], held);
        hand.let_go();
        assert!(!hand.is_held());
    }

    #[test]
    fn nothing_is_picked_beside_all_bodies() {
        let (_, world, arena) = scene(5);
        let up = (Vec3::new(0.0, 100.0, 0.0), Vec3::Y);
        assert!(Hand::pick(&arena, &world, up).unwrap().is_none());
        assert!(Hand::pick(&arena, &world, (Vec3::ZERO, Vec3::ZERO)).unwrap().is_none());
    }

    #[test]
    fn a_contact_is_drawn_and_listed_from_the_chosen_body() {
        let shapes = Shapes::new().unwrap();
        let arena = Arena::new(&Engine::cpu(), &shapes.hulls, Options::default()).unwrap();
        let mut world = World::new(&Settings { count: 2, kinds: 0b10, ..Settings::default() }, &shapes);
        for (body, x) in world.bodies.iter_mut().zip([0.0, 0.7]) {
            *body = Body::new(1).at([x, 0.0, 0.0]);
        }
        for body in [0, 1] {
            let touches = contacts(&arena, &world, body).unwrap();
            let [own, other] = touches[0].points();
            // Balls of radius 0.4: the other one's surface is nearer to this one's centre than its own.
            let center = Vec3::from(world.bodies[body].position);
            assert!((own.distance(center) - 0.4).abs() < 1e-5 && (other.distance(center) - 0.3).abs() < 1e-5);
            assert!(touches[0].away().dot(center - other) > 0.0);
            let listed = list(&world, body, &touches);
            assert_eq!((&listed["count"], &listed["rows"][0]["body"]), (&json!(1), &json!(1 - body)));
            assert!((listed["rows"][0]["depth"].as_f64().unwrap() - 0.1).abs() < 1e-6);
            assert_eq!(lines(&shapes, &world, body, &touches, &[[0; 4]; 8]).len(), 2 * 72 + 3);
        }
    }
}
