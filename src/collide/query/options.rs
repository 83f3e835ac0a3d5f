//! The options of an arena and of its queries.

use crate::collide::narrow_phase::rows::Precision;
use crate::collide::scene::body::Body;
#[cfg(doc)]
use crate::collide::scene::columns::BodyColumns;

/// The options of an [`Arena`](crate::collide::Arena).
///
/// ```
/// use hullfield::Engine;
/// use hullfield::collide::{Arena, Body, Hull, Options, Pairs};
///
/// // A ground that is uploaded once.
/// let hulls = [Hull::ball(0.5)?, Hull::cuboid([50.0, 1.0, 50.0])?];
/// let options = Options { statics: vec![Body::new(1)], ..Default::default() };
/// let arena = Arena::new(&Engine::cpu(), &hulls, options)?;
/// let found = arena.intersections(&[Body::new(0).at([3.0, 1.2, 0.0])], Pairs::BroadPhase)?.wait()?;
/// assert_eq!((found.rows[0].a, found.rows[0].b), (0, 1));
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Options {
    /// How exact answers are.
    pub precision: Precision,
    /// Bodies that do not move.
    ///
    /// They are checked, laid out, put into a tree of their own and, on a GPU engine, uploaded once, with the arena. Each query pairs its
    /// bodies with them. Statics are not paired with one another, unless [`Pairs::Given`](crate::collide::Pairs::Given) names such a pair. Their ids follow those of the query's bodies: the static `i` of a query with `n` bodies is `n + i`.
    pub statics: Vec<Body>,
    /// World position of each static's hull's origin in f64, in world units, in place of [`Body::position`], which is then not read: empty, or one
    /// for each static; each coordinate finite and at most 1e18 in magnitude. See [`BodyColumns::positions`].
    ///
    /// Queries then treat their bodies as with positions in f64, be these given or not. The statics are laid out about a point amid the bodies of each
    /// query, once for each such point; the last four are kept.
    pub static_positions: Vec<[f64; 3]>,
    /// Whether queries reuse the results of earlier ones over as many bodies.
    ///
    /// The arena keeps a list of the pairs that may meet soon and, for each pair, how far its bodies may still move before
    /// they can meet. A pair whose bodies have moved less costs one comparison. The broad phase runs again only once bodies
    /// have left their neighbourhoods. So a coherent crowd that is mostly apart takes a fraction of the time.
    ///
    /// The answers stay the same. Skipped pairs are apart by more than the tolerance τ (see
    /// [`Arena::intersections`](crate::collide::Arena::intersections)), where only one verdict is right. All other pairs are computed from
    /// this frame's bodies as without a warm start. For [`Pairs::BroadPhase`](crate::collide::Pairs::BroadPhase) the
    /// CPU engine's rows are equal to the bit to those without. For [`Pairs::Given`](crate::collide::Pairs::Given) so are the
    /// statuses. The axis of a separated pair may be that of an earlier frame, and separates the pair in this
    /// one. [`Pairs::Exhaustive`](crate::collide::Pairs::Exhaustive) has no warm start.
    ///
    /// Distances, contacts, manifolds and [`Precision::Exact`] skip the pairs of the broad phase that are certainly farther apart than the
    /// margin, and measure all others as without a warm start: rows are equal to the bit. Given pairs are measured in each frame.
    ///
    /// A GPU engine ignores this option: the host would need about as long to find the pairs to skip as a device for the whole frame.
    /// Sweeps ignore it too, and queries with positions in f64.
    ///
    /// Bodies are identified by their row. Any change is detected: motion, jumps, another hull, scale, padding or group, rows in another
    /// order, another number of bodies (which clears the cache). Of several queries at a time one uses the cache, and the others run
    /// without it. Where bodies move too fast for the cache to help, queries run without it too.
    ///
    /// The cache takes about 450 bytes for each body and 110 for each pair of the list (two to five times the candidates) on the host.
    pub warm_start: bool,
}

/// The options of [`Arena::distances`](crate::collide::Arena::distances).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct DistanceOptions {
    /// Pairs that are farther apart are not listed, in world units, ≥ 0. Infinity, the default, lists every pair. Given
    /// pairs ignore it.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
    pub margin: f32,
}

impl Default for DistanceOptions {
    fn default() -> Self {
        Self { margin: f32::INFINITY }
    }
}

/// The options of [`Arena::contacts`](crate::collide::Arena::contacts).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct ContactOptions {
    /// Pairs that are farther apart are not listed, in world units, ≥ 0; 0 by default. Given pairs
    /// ignore it.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
    pub margin: f32,
}

/// The options of [`Arena::manifolds`](crate::collide::Arena::manifolds).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct ManifoldOptions {
    /// Pairs that are farther apart are not listed, in world units, ≥ 0; 0 by default. Points that are farther apart are
    /// left out, also of given pairs, except for the nearest point.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
    pub margin: f32,
}

/// The options of [`Arena::gradients`](crate::collide::Arena::gradients).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct GradientOptions {
    /// Pairs that are farther apart are not listed, in world units, ≥ 0; 0 by default. Given pairs
    /// ignore it.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
    pub margin: f32,
}

/// The options of [`Arena::sweeps`](crate::collide::Arena::sweeps).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct SweepOptions {
    /// For how many seconds the bodies move, ≥ 0; 1 by default.
    pub duration: f32,
    /// Whether rows have the points that meet and the separation at that time; off by default. Each pair that meets costs one measurement in
    /// f64, some microseconds on one core of the host.
    pub witness: bool,
}

impl Default for SweepOptions {
    fn default() -> Self {
        Self { duration: 1.0, witness: false }
    }
}

/// The options of [`Arena::raycasts`](crate::collide::Arena::raycasts) and its like.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct RayOptions {
    /// Whether a ray does not hit the bodies that it starts in, or within the tolerance of: say, that of the character who looks, or the one
    /// whose surface the ray leaves. Off by default.
    pub skip_start: bool,
}

/// The options of [`Arena::nearest_points`](crate::collide::Arena::nearest_points).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct PointOptions {
    /// Bodies that are farther away are not found, in world units, ≥ 0; infinity by default. The nearer the limit, the less there is to
    /// search.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
    pub max_distance: f32,
}

impl Default for PointOptions {
    fn default() -> Self {
        Self { max_distance: f32::INFINITY }
    }
}

/// The options of [`Arena::shape_casts`](crate::collide::Arena::shape_casts) and its like.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct ShapeCastOptions {
    /// Whether a shape does not hit the bodies that it touches or overlaps at the start: say, the ground that a character stands on. Off by
    /// default.
    pub skip_start: bool,
    /// Whether rows have the points that meet and the separation there; off by default. Each hit costs one measurement in f64, some
    /// microseconds.
    pub witness: bool,
}

/// The options of [`Arena::nearest_bodies`](crate::collide::Arena::nearest_bodies) and
/// [`nearest_bodies_to`](crate::collide::Arena::nearest_bodies_to).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct NearestOptions {
    /// How many bodies are listed at most, ≥ 1; 1 by default.
    pub count: u32,
    /// Bodies that are farther away are not listed, in world units, ≥ 0; infinity by default. The nearer the limit, the less there is to
    /// search.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
    pub max_distance: f32,
}

impl Default for NearestOptions {
    fn default() -> Self {
        Self { count: 1, max_distance: f32::INFINITY }
    }
}

/// The options of [`Arena::joint_paths`](crate::collide::Arena::joint_paths).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct PathOptions {
    /// How many steps of conservative advancement a pair may take between two samples, at least 1, before the path is undecided; 1,000 by
    /// default. Pairs that only pass near take a handful.
    pub step_limit: u32,
}

impl Default for PathOptions {
    fn default() -> Self {
        Self { step_limit: 1000 }
    }
}
