//! How far joints that turn or slide at constant rates take a link from the motion between samples.

/// How a joint changes in a step.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum JointStep {
    /// It turns about its axis.
    Revolute {
        /// By this many radians, of either sign.
        angle: f64,
        /// The greatest distance of a point of the link in question from the joint's axis, at any time of the step, in world units; an upper
        /// bound will do, as the sum of the lengths of the links between.
        reach: f64,
    },
    /// It slides along its axis.
    Prismatic {
        /// By this many world units, of either sign.
        length: f64,
    },
}

/// How far a point of a link may be from where the motion between samples has it, at most, in a step in which all joints before the link
/// turn or slide at constant rates: a bound for [`JointPath::deviations`](crate::collide::JointPath::deviations).
///
/// `joints` are those from the base to the link, in their order. `reach` is the greatest distance of a point of the link from the link's
/// origin.
///
/// # Method
/// Let a point of the link be at x(s) by its joints and at y(s) by the motion between samples, s from 0 to 1. Both are the same at 0 and at
/// 1, so |x − y| ≤ ⅛ max |x″ − y″|. The second derivative of x by the joints i and j, i ≤ j, of axes zᵢ and zⱼ, is zᵢ × (zⱼ × (x − oⱼ)) for two
/// that turn, no longer than the distance from the axis of j; zᵢ × zⱼ where j slides; and 0 where i slides (i < j), or both do. So |x″| is at
/// most the sum over all pairs of the changes times that. |y″| is at most the square of the link's turn, no more than the sum of the angles,
/// times `reach`. (Schwarzer, Saha and Latombe 2005, "Adaptive Dynamic Collision Checking", bound first derivatives in the same way.)
///
/// # Accuracy
/// The bound falls with the square of the step: half as long a step has a quarter of it. Numbers that are not finite give a bound that is not
/// either, which a path refuses.
///
/// ```
/// use hullfield::collide::{JointStep, joint_deviation};
///
/// // An arm of two links of a metre each, both joints turn by 0.02 radians.
/// let shoulder = JointStep::Revolute { angle: 0.02, reach: 2.0 };
/// let elbow = JointStep::Revolute { angle: 0.02, reach: 1.0 };
/// let bound = joint_deviation(&[shoulder, elbow], 1.0);
/// assert!((bound - 0.125 * (0.02 * 0.02) * (2.0 + 3.0 + 4.0)).abs() < 1e-15);
/// ```
pub fn joint_deviation(joints: &[JointStep], reach: f64) -> f64 {
    let (mut bend, mut turn) = (0.0, 0.0);
    for joint in joints {
        match *joint {
            JointStep::Revolute { angle, reach } => {
                let angle = angle.abs();
                bend += angle * (angle + 2.0 * turn) * reach.abs();
                turn += angle;
            }
            JointStep::Prismatic { length } => bend += 2.0 * turn * length.abs(),
        }
    }
    0.125 * (bend + turn * turn * reach.abs())
}
