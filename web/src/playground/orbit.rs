//! Moves a camera by the pointer and by keys.

use crate::playground::draw::camera::Camera;
use crate::playground::message::{Action, Message};

/// Radians that the camera turns for a pixel of the page.
const TURN: f32 = 0.008;
/// Radians for a press of an arrow key.
const KEY_TURN: f32 = 0.1;

/// Moves the camera: a drag turns it, a drag with the second button, with shift or by two fingers moves the target, a wheel or two fingers
/// zoom; arrows, plus and minus do so by keys. `range` limits the distance. Returns whether the message was one of these.
pub fn orbit(camera: &mut Camera, message: &Message, canvas: [f32; 2], range: [f32; 2]) -> bool {
    if let Some(pointer) = message.pointer() {
        let [dx, dy] = pointer.moved;
        match pointer.action {
            Action::Zoom => {
                camera.zoom(pointer.zoom, range);
                shift(camera, pointer.moved, canvas);
            }
            Action::Move if pointer.is_down && (pointer.button != 0 || pointer.shift) => {
                shift(camera, pointer.moved, canvas);
            }
            Action::Move if pointer.is_down => camera.turn(-TURN * dx, TURN * dy),
            _ => return false,
        }
        return true;
    }
    match message.key() {
        Some("ArrowLeft") => camera.turn(-KEY_TURN, 0.0),
        Some("ArrowRight") => camera.turn(KEY_TURN, 0.0),
        Some("ArrowUp") => camera.turn(0.0, KEY_TURN),
        Some("ArrowDown") => camera.turn(0.0, -KEY_TURN),
        Some("+" | "=") => camera.zoom(0.9, range),
        Some("-" | "_") => camera.zoom(1.0 / 0.9, range),
        _ => return false,
    }
    true
}

/// Moves the target so that it follows the pointer.
fn shift(camera: &mut Camera, moved: [f32; 2], canvas: [f32; 2]) {
    let [right, up] = camera.across();
    let unit = camera.height_at_target(canvas) / canvas[1].max(1.0);
    camera.target += unit * (-moved[0] * right + moved[1] * up);
}

#[cfg(test)]
mod tests {
    use glam::Vec3;
    use serde_json::json;

    use super::*;

    const CANVAS: [f32; 2] = [300.0, 200.0];

    #[test]
    fn a_drag_with_the_second_button_keeps_the_point_under_the_pointer() {
        let mut camera = Camera::around(2.0);
        let aspect = CANVAS[0] / CANVAS[1];
        let before = camera.view_projection(aspect).project_point3(Vec3::ZERO);
        let data =
            json!({"type": "pointer", "action": "move", "dx": 30, "dy": 20, "down": true, "button": 2});
        assert!(orbit(&mut camera, &Message::new(data, Vec::new()), CANVAS, [0.1, 100.0]));
        let after = camera.view_projection(aspect).project_point3(Vec3::ZERO);
        let moved = [(after.x - before.x) * CANVAS[0] / 2.0, (before.y - after.y) * CANVAS[1] / 2.0];
        assert!((moved[0] - 30.0).abs() < 0.5 && (moved[1] - 20.0).abs() < 0.5, "{moved:?}");
    }

    #[test]
    fn keys_turn_and_zoom_within_the_range() {
        let mut camera = Camera::around(2.0);
        let key = |key: &str| Message::new(json!({"type": "key", "key": key}), Vec::new());
        let before = camera;
        assert!(orbit(&mut camera, &key("ArrowLeft"), CANVAS, [1.0, 10.0]) && camera.yaw != before.yaw);
        for _ in 0..100 {
            assert!(orbit(&mut camera, &key("+"), CANVAS, [1.0, 10.0]));
        }
        assert_eq!(camera.distance, 1.0);
        assert!(!orbit(&mut camera, &key("x"), CANVAS, [1.0, 10.0]));
    }
}
