//! Bodies of several parts that turn: all parts turn about the origin of the first.

use glam::{DQuat, DVec3};
use hullfield::collide::{Dimension, Hull};

use crate::failure::{Failure, Result};
use crate::read::Bodies;

/// Gives each further part of a body that turns a hull of its own, with vertices about the first part's origin, and puts it there. The
/// vertices are rounded to f32 once more.
///
/// # Errors
/// A half-space that is such a part, and vertices that f32 can't hold.
pub(super) fn turn_about_first_parts(bodies: &mut Bodies<'_>, hulls: &mut Vec<Hull>) -> Result<()> {
    let Some(parts) = &bodies.parts else { return Ok(()) };
    for (body, rows) in (0..parts.body_count() as u32).map(|body| (body, parts.rows_of(body))) {
        let first = rows.start as usize;
        // Only a sweep reads motions.
        if bodies.motions.get(first).is_none_or(|motion| motion.angular_velocity == [0.0; 3]) {
            continue;
        }
        let position_of = |bodies: &Bodies<'_>, row: usize| match bodies.positions.get(row) {
            Some(&position) => DVec3::from(position),
            None => DVec3::from(bodies.bodies[row].position.map(f64::from)),
        };
        let pivot = position_of(bodies, first);
        for row in first + 1..rows.end as usize {
            let part = bodies.bodies[row];
            let hull = &hulls[part.hull as usize];
            let failed = |message: &str| {
                Failure::input(format!("body {body}, part {}: {message}", parts.part_of[row]))
            };
            if hull.dimension() == Dimension::HalfSpace {
                return Err(failed("a half-space can't turn about another part"));
            }
            let turn = DQuat::from_array(part.rotation.map(f64::from)).normalize();
            let scale = DVec3::from(part.scale.map(f64::from));
            let offset = turn.inverse() * (position_of(bodies, row) - pivot) / scale;
            let moved = |v: &[f32; 3]| (DVec3::from(v.map(f64::from)) + offset).as_vec3().to_array();
            let vertices: Vec<[f32; 3]> = hull.vertices().iter().map(moved).collect();
            let about = Hull::from_points(&vertices).and_then(|moved| moved.rounded(hull.rounding()));
            let about = about.map_err(|error| failed(&error.to_string()))?;
            bodies.bodies[row].hull = hulls.len() as u32;
            hulls.push(about);
            bodies.bodies[row].position = bodies.bodies[first].position;
            if let Some(&position) = bodies.positions.get(first) {
                bodies.positions[row] = position;
            }
        }
    }
    Ok(())
}
