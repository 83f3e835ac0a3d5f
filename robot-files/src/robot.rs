//! A robot: plain data.

/// A robot: a tree of links that joints connect. Lengths are in metres, angles in radians, as URDF has them.
#[derive(Debug, Clone, PartialEq)]
pub struct Robot {
    /// Its name; empty where it has none.
    pub name: String,
    /// The links, in the order of the file.
    pub links: Vec<Link>,
    /// The joints, in the order of the file.
    pub joints: Vec<Joint>,
    /// The links by their indices, each after the link that carries it. The first is the base.
    pub order: Vec<usize>,
    /// The joints that are set: those that move and mimic no other, in the order of the file.
    pub variables: Vec<Variable>,
}

/// A link.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Its name, which no other link has.
    pub name: String,
    /// Its line.
    pub line: u64,
    /// The joint that it hangs from; none for the base.
    pub joint: Option<usize>,
    /// Its shapes of collision.
    pub collisions: Vec<Collision>,
}

/// A shape of collision.
#[derive(Debug, Clone, PartialEq)]
pub struct Collision {
    /// Its line.
    pub line: u64,
    /// Its frame in that of the link.
    pub origin: Frame,
    /// The shape.
    pub shape: Shape,
}

/// A shape about the origin of its frame.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A box with these lengths along x, y and z.
    Box {
        /// The lengths.
        size: [f64; 3],
    },
    /// A ball.
    Sphere {
        /// Its radius.
        radius: f64,
    },
    /// A cylinder along z.
    Cylinder {
        /// Its radius.
        radius: f64,
        /// Its length.
        length: f64,
    },
    /// A capsule along z.
    Capsule {
        /// Its radius.
        radius: f64,
        /// The length of the segment that it is about: without the caps.
        length: f64,
    },
    /// A mesh of a file.
    Mesh {
        /// The file, as a path or a URI.
        file: String,
        /// Factors along x, y and z. A negative one mirrors.
        scale: [f64; 3],
    },
}

/// A frame in another one: a point `p` of it is at `position + rotation · p`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// Where its origin is.
    pub position: [f64; 3],
    /// A unit quaternion `x, y, z, w`.
    pub rotation: [f64; 4],
}

impl Frame {
    pub(crate) const IDENTITY: Self = Self { position: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0] };
}

/// How a joint moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JointKind {
    /// It does not move.
    Fixed,
    /// It turns about its axis, within limits.
    Revolute,
    /// It turns about its axis without limits.
    Continuous,
    /// It slides along its axis, within limits.
    Prismatic,
}

impl JointKind {
    /// The word that URDF has for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Revolute => "revolute",
            Self::Continuous => "continuous",
            Self::Prismatic => "prismatic",
        }
    }
}

/// A joint.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// Its name, which no other joint has.
    pub name: String,
    /// Its line.
    pub line: u64,
    /// How it moves.
    pub kind: JointKind,
    /// The link that carries it.
    pub parent: usize,
    /// The link that hangs from it.
    pub child: usize,
    /// The child's frame in that of the parent, where the joint is at 0.
    pub origin: Frame,
    /// A unit vector in the frame of the child.
    pub axis: [f64; 3],
    /// What sets it; none where it is fixed.
    pub drive: Option<Drive>,
}

/// A joint is at `factor` times a variable plus `offset`. The factor is 1 and the offset 0 unless it mimics another joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drive {
    /// The index of the variable.
    pub variable: usize,
    /// The factor.
    pub factor: f64,
    /// The offset.
    pub offset: f64,
}

/// A joint that is set, by its index, and its limits, which are infinite where it is continuous.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Variable {
    /// The index of the joint.
    pub joint: usize,
    /// The least value.
    pub lower: f64,
    /// The greatest value.
    pub upper: f64,
}
