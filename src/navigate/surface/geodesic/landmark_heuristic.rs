//! The landmark heuristic (ALT): nearly a lower bound of the distance to the goal, from the distances of landmarks (`landmark.rs`).

/// The number of landmarks. Their distances take 64 bytes a vertex.
pub(crate) const LANDMARK_COUNT: usize = 16;

/// The factor of a difference of distances. It allows for distances that are a little too long.
const SAFETY_FACTOR: f32 = 0.998;

/// The heuristic of a search for one goal.
#[derive(Debug)]
pub(crate) struct LandmarkHeuristic<'a> {
    pub(crate) distances: &'a [[f32; LANDMARK_COUNT]],
    /// The least and the greatest possible distance of the goal from each landmark.
    pub(crate) goal_bounds: [[f32; 2]; LANDMARK_COUNT],
    /// The unit of these distances, in the surface's units.
    pub(crate) unit: f64,
}

impl LandmarkHeuristic<'_> {
    /// The estimated distance from a vertex to the goal, in the surface's units. It can be above the true distance by a little, because
    /// some distances of landmarks are a little too long.
    #[inline]
    pub(crate) fn estimate(&self, vertex: u32) -> f64 {
        let from_landmarks = self.distances[vertex as usize].iter().zip(&self.goal_bounds);
        // A difference is NaN where the landmark is on another island or says nothing about the vertex; `max` ignores NaN. An infinite
        // difference says that there is no path.
        let best =
            from_landmarks.fold(0.0_f32, |best, (&from, goal)| best.max(from - goal[1]).max(goal[0] - from));
        f64::from(SAFETY_FACTOR * best) * self.unit
    }
}
