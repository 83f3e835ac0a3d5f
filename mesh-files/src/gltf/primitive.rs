//! The points and corners of a primitive, morphed and skinned.

use glam::{DMat4, DVec3};

use super::accessor::{Buffers, Component, Values};
use super::extensions::DRACO;
use super::json::{self, Primitive, Shape};
use crate::error::{Error, Result};

/// How many sets of four joints a vertex may have.
const JOINT_SETS: usize = 16;

/// Weights of joints are refused if their sum is farther from 1.
const WEIGHT_TOLERANCE: f64 = 0.05;

/// What a primitive costs besides its points and corners: it takes time in place of memory.
const PRIMITIVE_COST: u64 = 400;

/// What a primitive takes when it is placed once, and how many numbers are added up for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    pub(super) corners: u64,
    pub(super) bytes: u64,
}

/// A primitive with its place in messages.
pub(super) struct Reader<'a> {
    buffers: &'a Buffers<'a>,
    primitive: &'a Primitive,
    place: String,
}

/// The points of a primitive, and its corners as indices into them.
#[derive(Debug)]
pub(super) struct Shaped {
    pub(super) points: Vec<DVec3>,
    pub(super) corners: Vec<u32>,
    /// Whether its transform mirrors a point, where each has its own.
    pub(super) is_mirrored: Option<Vec<bool>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(buffers: &'a Buffers<'a>, mesh: u32, number: usize, primitive: &'a Primitive) -> Self {
        Self { buffers, primitive, place: format!("mesh {mesh}, primitive {number}") }
    }

    pub(super) fn invalid(&self, message: impl std::fmt::Display) -> Error {
        Error::file(self.buffers.name, format!("{}: {message}", self.place))
    }

    /// What it takes with `morph_count` morph targets that are applied.
    pub(super) fn cost(&self, morph_count: u64) -> Result<Cost> {
        let positions = self.positions()?;
        let corners = self.indices()?.map_or(positions.count, |indices| indices.count);
        let faces = match self.primitive.mode {
            4 => corners / 3,
            5 | 6 => corners.saturating_sub(2),
            _ => 0,
        };
        let points = positions.count.min(corners);
        let size = size_of::<[f64; 3]>() as u64;
        let face_bytes = (size_of::<std::ops::Range<usize>>() + 3 * size_of::<u32>()) as u64;
        // A morph target takes time in place of memory.
        let bytes = points
            .saturating_mul(size.saturating_mul(1 + morph_count))
            .saturating_add(faces.saturating_mul(face_bytes));
        Ok(Cost {
            corners,
            bytes: bytes.saturating_add(corners.saturating_mul(4)).saturating_add(PRIMITIVE_COST),
        })
    }

    fn positions(&self) -> Result<Values> {
        let index = self.primitive.attributes.get("POSITION");
        let values = self.three(*index.ok_or_else(|| self.invalid("it has no positions"))?, "positions")?;
        if self.primitive.is_draco() && values.has_no_buffer() {
            return Err(self.invalid(DRACO));
        }
        Ok(values)
    }

    /// Three numbers of an accessor of positions or of what is added to them.
    fn three(&self, index: u32, what: &str) -> Result<Values> {
        let json::Accessor { shape, component_type, .. } = *self.buffers.accessor(index)?;
        let kind = Component::of_code(component_type);
        if shape != Shape::Vec3 || kind == Some(Component::U32) {
            return Err(self.invalid(format!(
                "{what} are three 32-bit floats, or by KHR_mesh_quantization three integers of 8 or 16 bits; these are {shape:?} of {}",
                kind.map_or_else(|| component_type.to_string(), |kind| format!("{kind:?}"))
            )));
        }
        self.buffers.values(index).map_err(|error| self.placed(error))
    }

    /// The error of an accessor, with the place of the primitive.
    fn placed(&self, error: Error) -> Error {
        let text = error.to_string();
        let message = text.strip_prefix(self.buffers.name).and_then(|rest| rest.strip_prefix(": "));
        message.map_or(error, |message| self.invalid(message))
    }

    fn indices(&self) -> Result<Option<Values>> {
        let Some(index) = self.primitive.indices else { return Ok(None) };
        let shape = self.buffers.accessor(index)?.shape;
        let values = self.buffers.values(index).map_err(|error| self.placed(error))?;
        if self.primitive.is_draco() && values.has_no_buffer() {
            return Err(self.invalid(DRACO));
        }
        if !values.is_whole() || shape != Shape::Scalar {
            return Err(self.invalid(format!(
                "indices are unsigned integers; these are {shape:?} of {:?}",
                values.kind
            )));
        }
        Ok(Some(values))
    }

    /// The points that its corners use, in the mesh's frame or, with the transforms of joints, in the scene's.
    pub(super) fn read(&self, weights: &[f64], joints: Option<&[DMat4]>) -> Result<Shaped> {
        let positions = self.positions()?;
        let (used, corners) = self.used(&positions)?;
        let mut points = Vec::with_capacity(used.len());
        for &index in &used {
            let point: [f64; 3] = positions.numbers(u64::from(index));
            if let Some(axis) = (0..3).find(|&axis| !point[axis].is_finite()) {
                let message =
                    format!("position {index}, {}: {} is not finite", ["x", "y", "z"][axis], point[axis]);
                return Err(self.invalid(message));
            }
            points.push(DVec3::from_array(point));
        }
        self.morph(&positions, weights, &used, &mut points)?;
        let is_mirrored =
            joints.map(|joints| self.skin(&positions, joints, &used, &mut points)).transpose()?;
        Ok(Shaped { points, corners, is_mirrored })
    }

    /// The positions that corners use, in order, and the corners as indices into these. Primitives may share one long list of positions.
    fn used(&self, positions: &Values) -> Result<(Vec<u32>, Vec<u32>)> {
        let count = u32::try_from(positions.count).map_err(|_| {
            self.invalid(format!("{} positions are more than 32-bit indices can name", positions.count))
        })?;
        let Some(values) = self.indices()? else {
            return Ok(((0..count).collect(), (0..count).collect()));
        };
        let mut corners: Vec<u32> = (0..values.count).map(|i| values.whole(i, 0)).collect();
        if let Some(index) = corners.iter().find(|&&index| index >= count) {
            return Err(self.invalid(format!("index {index} does not exist, there are {count} positions")));
        }
        let mut used = corners.clone();
        used.sort_unstable();
        used.dedup();
        for corner in &mut corners {
            *corner = used.partition_point(|other| other < corner) as u32;
        }
        Ok((used, corners))
    }

    /// Adds the morph targets by their weights.
    fn morph(&self, positions: &Values, weights: &[f64], used: &[u32], points: &mut [DVec3]) -> Result<()> {
        let targets = &self.primitive.targets;
        // A primitive without targets stays where it is.
        if !targets.is_empty()
            && weights.len() != targets.len()
            && weights.iter().any(|&weight| weight != 0.0)
        {
            let message = format!("{} weights for {} morph targets", weights.len(), targets.len());
            return Err(self.invalid(message));
        }
        for (number, (target, &weight)) in targets.iter().zip(weights).enumerate() {
            let Some(index) = target.positions.filter(|_| weight != 0.0) else { continue };
            let moves = self.three(index, "morph targets")?;
            if moves.count != positions.count {
                let message =
                    format!("morph target {number} has {} positions, not {}", moves.count, positions.count);
                return Err(self.invalid(message));
            }
            for (point, &index) in points.iter_mut().zip(used) {
                *point += weight * DVec3::from_array(moves.numbers(u64::from(index)));
            }
        }
        Ok(())
    }

    /// Moves each point by its joints. Says of each whether it is mirrored.
    fn skin(
        &self,
        positions: &Values,
        joints: &[DMat4],
        used: &[u32],
        points: &mut [DVec3],
    ) -> Result<Vec<bool>> {
        let sets = self.joint_sets(positions)?;
        let mut is_mirrored = Vec::with_capacity(points.len());
        for (point, &index) in points.iter_mut().zip(used) {
            let mut blended = DMat4::ZERO;
            let mut sum = 0.0;
            for (names, weights) in &sets {
                for part in 0..4 {
                    let weight = weights.number(u64::from(index), part);
                    if weight == 0.0 {
                        continue;
                    }
                    let joint = names.whole(u64::from(index), part);
                    let Some(transform) = joints.get(joint as usize) else {
                        let message = format!(
                            "vertex {index}: joint {joint} does not exist, its skin has {}",
                            joints.len()
                        );
                        return Err(self.invalid(message));
                    };
                    blended += *transform * weight;
                    sum += weight;
                }
            }
            let is_whole = (sum - 1.0).abs() <= WEIGHT_TOLERANCE;
            if !is_whole {
                let message =
                    format!("vertex {index}: the weights of its joints add up to {sum}, they must to 1");
                return Err(self.invalid(message));
            }
            // Rounded weights add up to nearly 1.
            blended *= 1.0 / sum;
            *point = blended.transform_point3(*point);
            is_mirrored.push(blended.determinant() < 0.0);
        }
        Ok(is_mirrored)
    }

    /// The sets of joints and of their weights: `JOINTS_0` and `WEIGHTS_0`, and so on.
    fn joint_sets(&self, positions: &Values) -> Result<Vec<(Values, Values)>> {
        let mut sets = Vec::new();
        let attributes = &self.primitive.attributes;
        for set in 0..=JOINT_SETS {
            let named = [format!("JOINTS_{set}"), format!("WEIGHTS_{set}")];
            let [Some(&joints), Some(&weights)] = named.each_ref().map(|name| attributes.get(name)) else {
                if named.iter().any(|name| attributes.contains_key(name)) {
                    return Err(self.invalid(format!("of {} and {} one is missing", named[0], named[1])));
                }
                break;
            };
            if set == JOINT_SETS {
                return Err(self.invalid(format!("it has more than {JOINT_SETS} sets of joints")));
            }
            let mut read = [joints, weights].into_iter().map(|index| {
                let shape = self.buffers.accessor(index)?.shape;
                let values = self.buffers.values(index).map_err(|error| self.placed(error))?;
                if shape != Shape::Vec4 || values.count != positions.count {
                    return Err(self
                        .invalid(format!("set {set} of its joints is not four numbers for each position")));
                }
                Ok(values)
            });
            if let (Some(joints), Some(weights)) = (read.next().transpose()?, read.next().transpose()?) {
                if !matches!(joints.kind, Component::U8 | Component::U16) {
                    return Err(self.invalid("joints are integers of 8 or 16 bits"));
                }
                sets.push((joints, weights));
            }
        }
        if sets.is_empty() {
            return Err(self.invalid("its node has a skin, and it has no JOINTS_0 and WEIGHTS_0"));
        }
        Ok(sets)
    }
}
