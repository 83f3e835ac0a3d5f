//! How far a goal is from anywhere, nearly, by the distances from landmarks (`landmark.rs`).

/// How many landmarks there are: 64 bytes a vertex.
pub(crate) const COUNT: usize = 16;

/// Of a difference of distances: the rest allows for what they are too long by.
const TRUSTED: f32 = 0.998;

/// What draws a search towards one goal.
#[derive(Debug)]
pub(crate) struct Guide<'a> {
    pub(crate) landmarks: &'a [[f32; COUNT]],
    /// The least and the most that the goal may be away from each landmark.
    pub(crate) goals: [[f32; 2]; COUNT],
    /// What their unit is in the surface's.
    pub(crate) unit: f64,
}

impl Guide<'_> {
    /// How far the goal is at least from a vertex, nearly.
    #[inline]
    pub(crate) fn ahead(&self, vertex: u32) -> f64 {
        let distances = self.landmarks[vertex as usize].iter().zip(&self.goals);
        // The greater of a number and a NaN is the number, where a landmark is on another island or nothing is known; an infinite one says that
        // there is no path at all.
        let most =
            distances.fold(0.0_f32, |most, (&from, goal)| most.max(from - goal[1]).max(goal[0] - from));
        f64::from(TRUSTED * most) * self.unit
    }
}
