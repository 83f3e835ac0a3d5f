//! The options of a room.

/// How a room is built.
///
/// ```
/// use hullfield::navigate::room::{Options, Room};
///
/// let none: [[[f64; 2]; 0]; 0] = [];
/// let options = Options { radius: 0.5, ..Options::default() };
/// let room = Room::new(&[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]], &none, options)?;
/// assert!((room.area() - 9.0).abs() < 1e-6); // half a unit less on either side
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Options {
    /// The radius of the agents, in the room's units. Walls are moved into the room by it, so paths keep at least this distance from
    /// every wall. Around a corner the moved wall is a chain of tangents, at most 0.09 % of the radius too far out. What remains may be
    /// several islands; it is an error if nothing remains. 0 leaves the walls where they are, and so does a radius below the rounding of
    /// the coordinates, 2⁻⁵² of the largest. At most 1e60.
    pub radius: f64,
    /// Whether a path may squeeze through a single point in which walls touch. Even then it can't squeeze past the end of a shut door or
    /// of another wall without thickness.
    pub squeeze: bool,
    /// Whether triangles are merged into larger convex cells, which are quicker to search. Without it the cells are the triangles of a
    /// constrained Delaunay triangulation.
    pub merge: bool,
    /// Whether rings that cross, repeat points or have no area are repaired (see
    /// [`Room::repairs`](crate::navigate::room::query::room::Room::repairs)); otherwise the first such place is an error. Rings may touch in either case.
    pub repair: bool,
    /// Doors, each a segment from one wall to another, numbered from 0. They are open at first;
    /// [`Room::set_doors`](crate::navigate::room::Room::set_doors) shuts them. An open door is no wall. A shut door is one, also for the
    /// radius.
    ///
    /// A door may go on beyond a wall, end on another door, or miss a wall by 2⁻⁴⁰ of the largest coordinate. A door that crosses no floor
    /// is an error. So is a door of which both ends are on no wall, or one is nearer to a wall than a hundredth of the door's length.
    /// [`Room::free_door_ends`](crate::navigate::room::Room::free_door_ends) lists other ends on no wall; without `repair` they are an error too.
    ///
    /// A room that is made of cells takes none here:
    /// [`Room::add_door`](crate::navigate::room::Room::add_door) makes doors of the edges between its cells.
    pub doors: Vec<[[f64; 2]; 2]>,
}

impl Default for Options {
    /// Radius 0, nothing squeezes through, cells merged, rings repaired, no doors.
    fn default() -> Self {
        Self { radius: 0.0, squeeze: false, merge: true, repair: true, doors: Vec::new() }
    }
}
