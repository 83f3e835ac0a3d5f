//! The one error type: what went wrong, where in the input, and what is allowed there.

use std::fmt;

use crate::cell::Cell;

/// Where in a call's input an error lies. Rows count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Location {
    /// An argument or an option of the call.
    #[default]
    Argument,
    /// A point of a point set, or of a list of points.
    Point(usize),
    /// A body.
    Body(usize),
    /// A body's motion.
    Motion(usize),
    /// A pair of bodies.
    Pair(usize),
    /// A part of a compound.
    Part {
        /// The compound.
        compound: usize,
        /// The part in the compound.
        part: usize,
    },
    /// A ray.
    Ray(usize),
    /// A shape cast.
    Cast(usize),
    /// A path of a robot.
    JointPath(usize),
    /// A link at a sample of a robot's path, or in the step from there to the next.
    PathSample {
        /// The path.
        path: usize,
        /// The sample in the path.
        sample: usize,
        /// The link.
        link: usize,
    },
    /// A link in a posture of a robot.
    Posture {
        /// The posture.
        posture: usize,
        /// The link.
        link: usize,
    },
    /// A cell of a grid.
    Cell(Cell),
    /// A position in a grid's world.
    Position(usize),
    /// An edit of a grid.
    Edit(usize),
    /// A ring of a room: 0 is the outer one, then the holes as given.
    Ring(usize),
    /// A point of a ring of a room.
    RingPoint {
        /// The ring: 0 is the outer one, then the holes as given.
        ring: usize,
        /// The point in the ring.
        point: usize,
    },
    /// A polygon of a room's mesh.
    Polygon(usize),
    /// A line of a text, from 1.
    Line(usize),
    /// A byte of a file.
    Byte(usize),
    /// A point of a surface's model.
    ModelPoint {
        /// The model.
        model: usize,
        /// The point in the model.
        point: usize,
    },
    /// A face of a surface's model.
    ModelFace {
        /// The model.
        model: usize,
        /// The face in the model.
        face: usize,
    },
    /// A row of a strip of triangles.
    Strip(usize),
    /// A link of a surface.
    Link(usize),
    /// One of many queries.
    Query(usize),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument => write!(f, "the call"),
            Self::Point(row) => write!(f, "point {row}"),
            Self::Body(row) => write!(f, "body {row}"),
            Self::Motion(row) => write!(f, "motion {row}"),
            Self::Pair(row) => write!(f, "pair {row}"),
            Self::Part { compound, part } => write!(f, "compound {compound}, part {part}"),
            Self::Ray(row) => write!(f, "ray {row}"),
            Self::Cast(row) => write!(f, "shape cast {row}"),
            Self::JointPath(row) => write!(f, "path {row}"),
            Self::PathSample { path, sample, link } => {
                write!(f, "path {path}, sample {sample}, link {link}")
            }
            Self::Posture { posture, link } => write!(f, "posture {posture}, link {link}"),
            Self::Cell(cell) => write!(f, "cell {cell}"),
            Self::Position(row) => write!(f, "position {row}"),
            Self::Edit(row) => write!(f, "edit {row}"),
            Self::Ring(ring) => write!(f, "ring {ring}"),
            Self::RingPoint { ring, point } => write!(f, "ring {ring}, point {point}"),
            Self::Polygon(row) => write!(f, "polygon {row}"),
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
            Self::ModelPoint { model, point } => write!(f, "model {model}, point {point}"),
            Self::ModelFace { model, face } => write!(f, "model {model}, face {face}"),
            Self::Strip(row) => write!(f, "strip, row {row}"),
            Self::Link(row) => write!(f, "link {row}"),
            Self::Query(row) => write!(f, "query {row}"),
        }
    }
}

/// A [`Location`] as messages begin with it: nothing for an argument.
struct Begin<'a>(&'a Location);

impl fmt::Display for Begin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self.0 == Location::Argument { Ok(()) } else { write!(f, "{}: ", self.0) }
    }
}

/// What went wrong: one clear sentence that names what and where.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value is outside of its range.
    #[error("{}{field} is {value}, {allowed}", Begin(at))]
    Value {
        /// Where.
        at: Location,
        /// The name of the parameter or the field.
        field: &'static str,
        /// The value as given, as text.
        value: String,
        /// The allowed range, as a clause.
        allowed: String,
    },
    /// The input names something that does not exist.
    #[error("{}{what} {index} does not exist, there are {count}", Begin(at))]
    Missing {
        /// Where.
        at: Location,
        /// What the input names, as a singular noun.
        what: &'static str,
        /// Its number, from 0.
        index: u64,
        /// How many there are.
        count: u64,
    },
    /// A list has the wrong length.
    #[error("{}{given} {what} were given, {allowed}", Begin(at))]
    Count {
        /// Where.
        at: Location,
        /// What was given, as a plural noun.
        what: &'static str,
        /// How many.
        given: u64,
        /// How many are allowed, as a clause.
        allowed: String,
    },
    /// The input has a form that can't be used.
    #[error("{}{message}", Begin(at))]
    Invalid {
        /// Where.
        at: Location,
        /// What is wrong, and what is allowed.
        message: String,
    },
    /// No GPU can do the work.
    #[error("no GPU can do this: {message}")]
    NoGpu {
        /// What was looked for, what was found, and what to do.
        message: String,
    },
    /// More items than a 32-bit index counts.
    #[error("{count} {what} are more than the {limit} that can be indexed")]
    TooMany {
        /// What is too many, as a plural noun.
        what: &'static str,
        /// How many were given.
        count: u64,
        /// The largest count that is allowed.
        limit: u64,
    },
    /// The job needs more memory than the limit set, than the host has free, or than the device allows for one piece of it.
    #[error("{what} needs {needed_bytes} bytes of memory, the limit is {limit_bytes}")]
    MemoryLimit {
        /// What needs the memory.
        what: &'static str,
        /// How much, in bytes.
        needed_bytes: u64,
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// None of the goals of a field can be used.
    #[error(
        "{}no goal is left: of {given_count} given, {blocked_count} are on obstacles, {outside_count} off the grid",
        Begin(at)
    )]
    NoGoals {
        /// Where.
        at: Location,
        /// Goals given.
        given_count: usize,
        /// Goals on obstacles.
        blocked_count: usize,
        /// Goals off the grid.
        outside_count: usize,
    },
    /// A cell can be reached, but its distance does not fit in 32 bits.
    #[error(
        "{}the distance of cell {cell}, which can be reached, is 2^32 - 1 or more: lower the costs, or set max_distance",
        Begin(at)
    )]
    DistanceOverflow {
        /// Where.
        at: Location,
        /// The first such cell, row-major, with a neighbour whose distance fits.
        cell: Cell,
    },
    /// A file, or a raster or a store of the caller's, could not be read or written.
    #[error("{what}: {message}")]
    Io {
        /// The file or what else it is.
        what: String,
        /// What the system said, or what is wrong with the content.
        message: String,
    },
    /// The caller cancelled the work.
    #[error("the work was cancelled")]
    Cancelled,
    /// The device is out of memory.
    #[error("the device is out of memory: {message}")]
    OutOfMemory {
        /// What the driver said.
        message: String,
    },
    /// The device was lost (reset, removed or destroyed).
    #[error("the GPU device was lost: {message}")]
    DeviceLost {
        /// What the driver said.
        message: String,
    },
    /// A bug in hullfield: please report it.
    #[error("a fault of hullfield itself (please report this): {place}: {message}")]
    Internal {
        /// The function that noticed it, as `module::function`.
        place: &'static str,
        /// What should have held and did not.
        message: String,
    },
}

impl Error {
    /// A value outside of its range; `allowed` is a clause.
    #[allow(dead_code, reason = "a build without some feature may hold no place that calls it")]
    pub(crate) fn value(
        at: Location,
        field: &'static str,
        value: impl fmt::Display,
        allowed: impl Into<String>,
    ) -> Self {
        Self::Value { at, field, value: value.to_string(), allowed: allowed.into() }
    }

    /// Input of a form that can't be used.
    #[allow(dead_code, reason = "a build without some feature may hold no place that calls it")]
    pub(crate) fn invalid(at: Location, message: impl Into<String>) -> Self {
        Self::Invalid { at, message: message.into() }
    }

    /// The same error, moved from the argument to a row of many queries.
    #[allow(dead_code, reason = "a build without some feature may hold no place that calls it")]
    pub(crate) fn in_query(self, row: usize) -> Self {
        self.moved(|at| if at == Location::Argument { Location::Query(row) } else { at })
    }

    /// The same error at another place.
    #[allow(dead_code, reason = "a build without some feature may hold no place that calls it")]
    pub(crate) fn moved(mut self, to: impl Fn(Location) -> Location) -> Self {
        if let Some(at) = self.location() {
            *at = to(*at);
        }
        self
    }

    /// The same error at another location.
    #[allow(dead_code, reason = "a build without some feature may hold no place that calls it")]
    pub(crate) fn moved_to(mut self, location: Location) -> Self {
        if let Some(at) = self.location() {
            *at = location;
        }
        self
    }

    /// Where it is, for the errors that are anywhere.
    #[allow(dead_code, reason = "a build without some feature may hold no place that calls it")]
    fn location(&mut self) -> Option<&mut Location> {
        match self {
            Self::Value { at, .. }
            | Self::Missing { at, .. }
            | Self::Count { at, .. }
            | Self::Invalid { at, .. }
            | Self::NoGoals { at, .. }
            | Self::DistanceOverflow { at, .. } => Some(at),
            _ => None,
        }
    }

    /// A bug in hullfield, noticed at `place` (`module::function`): what should have held and did not.
    #[allow(dead_code, reason = "a build without some feature may hold no place that calls it")]
    pub(crate) fn internal(place: &'static str, message: impl Into<String>) -> Self {
        Self::Internal { place, message: message.into() }
    }
}

/// A number as errors print it: in scientific notation where it is very large or very small.
#[allow(dead_code, reason = "a build without some feature may hold no place that calls it")]
pub(crate) fn shown(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && size.is_finite() && !(1e-5..1e15).contains(&size) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// A point as errors print it: `(x, y)`, `(x, y, z)`.
#[allow(dead_code, reason = "a build without some feature may hold no place that calls it")]
pub(crate) fn shown_point(point: &[f64]) -> String {
    format!("({})", point.iter().map(|&x| shown(x)).collect::<Vec<_>>().join(", "))
}

/// The library's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::Error;

    #[test]
    fn an_internal_error_names_its_place_and_asks_for_a_report() {
        let text = Error::internal("collide::cpu::finish", "row 3 has no verdict").to_string();
        assert!(text.contains("collide::cpu::finish") && text.contains("row 3 has no verdict"), "{text}");
        assert!(text.contains("report"), "{text}");
    }
}
