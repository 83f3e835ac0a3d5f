//! The kinds of queries, by name.

/// The name of a query of an [`Arena`](crate::collide::Arena), for [`Arena::prepare`](crate::collide::Arena::prepare).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Query {
    /// [`Arena::candidates`](crate::collide::Arena::candidates).
    Candidates,
    /// [`Arena::intersections`](crate::collide::Arena::intersections).
    Intersections,
    /// [`Arena::distances`](crate::collide::Arena::distances).
    Distances,
    /// [`Arena::contacts`](crate::collide::Arena::contacts).
    Contacts,
    /// [`Arena::manifolds`](crate::collide::Arena::manifolds).
    Manifolds,
    /// [`Arena::gradients`](crate::collide::Arena::gradients).
    Gradients,
    /// [`Arena::sweeps`](crate::collide::Arena::sweeps).
    Sweeps,
    /// [`Arena::raycasts`](crate::collide::Arena::raycasts) and [`Arena::occlusions`](crate::collide::Arena::occlusions). The pairs do not matter.
    Raycasts,
    /// [`Arena::encode_intersections`](crate::collide::Arena::encode_intersections).
    EncodedIntersections,
    /// [`Arena::encode_distances`](crate::collide::Arena::encode_distances).
    EncodedDistances,
    /// [`Arena::encode_contacts`](crate::collide::Arena::encode_contacts).
    EncodedContacts,
    /// [`Arena::encode_manifolds`](crate::collide::Arena::encode_manifolds).
    EncodedManifolds,
    /// [`Arena::encode_sweeps`](crate::collide::Arena::encode_sweeps).
    EncodedSweeps,
}
