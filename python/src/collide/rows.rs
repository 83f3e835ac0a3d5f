//! Rows of answers as structured arrays.
//!
//! What may be missing is NaN, and `u32::MAX` for numbers of rows. Fields that begin with `_` fill gaps.

use hullfield::collide::{
    self, BodyPair, BodyRef, Degeneracy, FeatureId, PartPair, PartRow, PathOutcome, Phase, Status,
    SweepOutcome,
};

use crate::arrays::row;

/// A missing number.
pub(crate) const NONE: u32 = u32::MAX;

/// A missing id of a body.
pub(crate) const NO_ID: u64 = u64::MAX;

const NAN: [f64; 3] = [f64::NAN; 3];

/// A status as in `hullfield.collide.Status`.
pub(crate) fn status(status: Status) -> u32 {
    match status {
        Status::Separated => 0,
        Status::Touching => 1,
        Status::Penetrating => 2,
    }
}

/// An outcome as in `hullfield.collide.SweepOutcome`.
pub(crate) fn sweep_outcome(outcome: SweepOutcome) -> u32 {
    match outcome {
        SweepOutcome::Hit => 0,
        SweepOutcome::Miss => 1,
        SweepOutcome::Touching => 2,
    }
}

/// An outcome as in `hullfield.collide.PathOutcome`.
pub(crate) fn path_outcome(outcome: PathOutcome) -> u32 {
    match outcome {
        PathOutcome::Free => 0,
        PathOutcome::Hit => 1,
        PathOutcome::Undecided => 2,
    }
}

/// A phase as in `hullfield.collide.Phase`.
pub(crate) fn phase(phase: Phase) -> u32 {
    match phase {
        Phase::Begin => 0,
        Phase::Stay => 1,
        Phase::End => 2,
    }
}

/// As in `hullfield.collide.Degeneracy`.
pub(crate) fn degeneracy(degeneracy: Degeneracy) -> u32 {
    match degeneracy {
        Degeneracy::Points => 0,
        _ => 1,
    }
}

/// A feature as in `hullfield.collide.FeatureKind`, and its indices.
pub(crate) fn feature(feature: FeatureId) -> (u32, [u32; 2]) {
    match feature {
        FeatureId::Vertex(vertex) => (0, [vertex, NONE]),
        FeatureId::Edge(ends) => (1, ends),
        FeatureId::Face(face) => (2, [face, NONE]),
    }
}

/// Declares a row of a pair; the same row of parts of compounds; and the same row of bodies with ids.
macro_rules! pair_rows {
    ($(#[$doc:meta])* $name:ident, $parted:ident, $named:ident { $($field:ident: $kind:tt),* $(,)? }) => {
        pair_rows! { $(#[$doc])* $name, $parted { $($field: $kind),* } }

        row! {
            $(#[$doc])*
            $named { $($field: $kind),*, id_a: u64, id_b: u64, static_b: u32, _end: u32 }
        }

        impl From<BodyPair<collide::$name>> for $named {
            fn from(pair: BodyPair<collide::$name>) -> Self {
                let ([id_a, id_b], static_b) = ids(pair.a, pair.b);
                let row = $name::from(pair.row);
                Self { $($field: row.$field),*, id_a, id_b, static_b, _end: 0 }
            }
        }
    };
    ($(#[$doc:meta])* $name:ident, $parted:ident { $($field:ident: $kind:tt),* $(,)? }) => {
        row! { $(#[$doc])* $name { $($field: $kind),* } }

        row! { $(#[$doc])* $parted { $($field: $kind),*, part_a: u32, part_b: u32 } }

        impl From<PartPair<collide::$name>> for $parted {
            fn from(pair: PartPair<collide::$name>) -> Self {
                let row = $name::from(pair.row);
                Self { $($field: row.$field),*, part_a: pair.part_a, part_b: pair.part_b }
            }
        }
    };
}

/// Declares a row that names one body, and the same row of parts of compounds, of these rows of the library.
macro_rules! body_rows {
    ($(#[$doc:meta])* $name:ident, $parted:ident { $($field:ident: $kind:tt),* $(,)? } $($source:ident),*) => {
        row! { $(#[$doc])* $name { $($field: $kind),* } }

        row! { $(#[$doc])* $parted { $($field: $kind),*, part: u32, _end: u32 } }

        $(impl From<PartRow<collide::$source>> for $parted {
            fn from(part: PartRow<collide::$source>) -> Self {
                $name::from(part.row).with_part(part.part)
            }
        })*

        impl $name {
            fn with_part(self, part: u32) -> $parted {
                $parted { $($field: self.$field),*, part, _end: 0 }
            }
        }
    };
}

/// The ids of a pair, and the static that its second side is.
pub(crate) fn ids(a: collide::BodyId, b: BodyRef) -> ([u64; 2], u32) {
    match b {
        BodyRef::Body(b) => ([id(a), id(b)], NONE),
        BodyRef::Static(index) => ([id(a), NO_ID], index),
    }
}

/// The id of a body as one number.
pub(crate) fn id(id: collide::BodyId) -> u64 {
    u64::from(id.generation()) << 32 | u64::from(id.index())
}

pair_rows! {
    /// A row of `intersections`.
    Intersection, PartIntersection, NamedIntersection { a: u32, b: u32, status: u32, axis: [f32; 3] }
}

impl From<collide::Intersection> for Intersection {
    fn from(row: collide::Intersection) -> Self {
        let axis = row.axis.unwrap_or([f32::NAN; 3]);
        Self { a: row.a, b: row.b, status: status(row.status), axis }
    }
}

pair_rows! {
    /// A row of `distances`.
    Distance, PartDistance, NamedDistance {
        a: u32, b: u32, status: u32, _gap: u32, separation: f64, points: [[f64; 3]; 2], axis: [f64; 3],
    }
}

impl From<collide::Distance> for Distance {
    fn from(row: collide::Distance) -> Self {
        let collide::Distance { a, b, separation, .. } = row;
        let (points, axis) = (row.points.unwrap_or([NAN; 2]), row.axis.unwrap_or(NAN));
        Self { a, b, status: status(row.status), _gap: 0, separation, points, axis }
    }
}

pair_rows! {
    /// A row of `contacts`.
    Contact, PartContact, NamedContact {
        a: u32, b: u32, status: u32, _gap: u32, separation: f64, normal: [f64; 3], points: [[f64; 3]; 2],
    }
}

impl From<collide::Contact> for Contact {
    fn from(row: collide::Contact) -> Self {
        let collide::Contact { a, b, separation, normal, points, .. } = row;
        Self { a, b, status: status(row.status), _gap: 0, separation, normal, points }
    }
}

pair_rows! {
    /// A row of `manifolds`.
    Manifold, PartManifold, NamedManifold {
        a: u32, b: u32, status: u32, point_count: u32, separation: f64, normal: [f64; 3],
        points: [[[f64; 3]; 2]; 4], separations: [f64; 4],
        feature_kinds: [[u32; 2]; 4], feature_indices: [[[u32; 2]; 2]; 4],
    }
}

impl From<collide::Manifold> for Manifold {
    fn from(row: collide::Manifold) -> Self {
        let collide::Manifold { a, b, separation, normal, point_count, .. } = row;
        let mut to = Self {
            a,
            b,
            status: status(row.status),
            point_count,
            separation,
            normal,
            points: [[NAN; 2]; 4],
            separations: [f64::NAN; 4],
            feature_kinds: [[NONE; 2]; 4],
            feature_indices: [[[NONE; 2]; 2]; 4],
        };
        for (at, point) in row.points().iter().enumerate() {
            to.points[at] = [point.on_a, point.on_b];
            to.separations[at] = point.separation;
            let [(kind_a, on_a), (kind_b, on_b)] = point.features.map(feature);
            to.feature_kinds[at] = [kind_a, kind_b];
            to.feature_indices[at] = [on_a, on_b];
        }
        to
    }
}

row! {
    /// A row of `gradients`.
    Gradient {
        a: u32, b: u32, status: u32, degeneracy: u32, separation: f64,
        position_a: [f64; 3], rotation_a: [f64; 3], position_b: [f64; 3], rotation_b: [f64; 3],
    }
}

impl From<collide::Gradient> for Gradient {
    fn from(row: collide::Gradient) -> Self {
        let collide::Gradient { a, b, separation, position_a, rotation_a, position_b, rotation_b, .. } = row;
        let (status, degeneracy) = (status(row.status), row.degeneracy.map_or(NONE, degeneracy));
        Self { a, b, status, degeneracy, separation, position_a, rotation_a, position_b, rotation_b }
    }
}

pair_rows! {
    /// A row of `sweeps`.
    Sweep, PartSweep {
        a: u32, b: u32, outcome: u32, _gap: u32, time: f64, normal: [f64; 3], points: [[f64; 3]; 2], separation: f64,
    }
}

impl From<collide::Sweep> for Sweep {
    fn from(row: collide::Sweep) -> Self {
        let collide::Sweep { a, b, time, .. } = row;
        Self {
            a,
            b,
            outcome: sweep_outcome(row.outcome),
            _gap: 0,
            time,
            normal: row.normal.unwrap_or(NAN),
            points: row.points.unwrap_or([NAN; 2]),
            separation: row.separation.unwrap_or(f64::NAN),
        }
    }
}

pair_rows! {
    /// A row of `nearest_bodies`.
    NearestBody, PartsNearestBody {
        query: u32, body: u32, status: u32, _gap: u32, separation: f64, normal: [f64; 3], points: [[f64; 3]; 2],
    }
}

impl From<collide::NearestBody> for NearestBody {
    fn from(row: collide::NearestBody) -> Self {
        let collide::NearestBody { query, body, separation, normal, points, .. } = row;
        Self { query, body, status: status(row.status), _gap: 0, separation, normal, points }
    }
}

row! {
    /// A row of `nearest_bodies_to` over compounds.
    PartNearestBody {
        query: u32, body: u32, status: u32, part: u32, separation: f64, normal: [f64; 3], points: [[f64; 3]; 2],
    }
}

impl From<PartRow<collide::NearestBody>> for PartNearestBody {
    fn from(from: PartRow<collide::NearestBody>) -> Self {
        let NearestBody { query, body, status, separation, normal, points, .. } = from.row.into();
        Self { query, body, status, part: from.part, separation, normal, points }
    }
}

body_rows! {
    /// A row of `raycasts` and `raycasts_all`.
    RayHit, PartRayHit {
        ray: u32, body: u32, face: u32, _gap: u32, distance: f64, point: [f64; 3], normal: [f64; 3],
    }
    RayHit, Raycast
}

impl From<collide::RayHit> for RayHit {
    fn from(row: collide::RayHit) -> Self {
        let collide::RayHit { ray, body, distance, point, .. } = row;
        let (normal, face) = (row.normal.unwrap_or(NAN), row.face.unwrap_or(NONE));
        Self { ray, body, face, _gap: 0, distance, point, normal }
    }
}

impl From<collide::Raycast> for RayHit {
    fn from(row: collide::Raycast) -> Self {
        let ray = row.ray;
        let miss = Self { ray, body: NONE, face: NONE, _gap: 0, distance: f64::NAN, point: NAN, normal: NAN };
        row.hit.map_or(miss, Self::from)
    }
}

row! {
    /// A row of `occlusions`.
    Occlusion { ray: u32, occluded: bool, _gap: [u8; 3] }
}

impl From<collide::Occlusion> for Occlusion {
    fn from(row: collide::Occlusion) -> Self {
        Self { ray: row.ray, occluded: row.occluded.into(), _gap: [0; 3] }
    }
}

body_rows! {
    /// A row of `nearest_points`.
    PointHit, PartPointHit { point: u32, body: u32, distance: f64, nearest: [f64; 3], normal: [f64; 3] }
    NearestPoint
}

impl From<collide::PointHit> for PointHit {
    fn from(row: collide::PointHit) -> Self {
        let collide::PointHit { point, body, distance, nearest, normal, .. } = row;
        Self { point, body, distance, nearest, normal }
    }
}

impl From<collide::NearestPoint> for PointHit {
    fn from(row: collide::NearestPoint) -> Self {
        let none = Self { point: row.point, body: NONE, distance: f64::NAN, nearest: NAN, normal: NAN };
        row.hit.map_or(none, Self::from)
    }
}

body_rows! {
    /// A row of `containments`.
    Containment, PartContainment { point: u32, body: u32, distance: f64 }
    Containment
}

impl From<collide::Containment> for Containment {
    fn from(row: collide::Containment) -> Self {
        Self { point: row.point, body: row.body, distance: row.distance }
    }
}

body_rows! {
    /// A row of `shape_casts` and `shape_casts_all`.
    ShapeCastHit, PartShapeCastHit {
        cast: u32, body: u32, initial_overlap: bool, _gap: [u8; 7],
        distance: f64, normal: [f64; 3], points: [[f64; 3]; 2], separation: f64,
    }
    ShapeCastHit, ShapeCastFirst
}

impl From<collide::ShapeCastHit> for ShapeCastHit {
    fn from(row: collide::ShapeCastHit) -> Self {
        let collide::ShapeCastHit { cast, body, distance, normal, .. } = row;
        Self {
            cast,
            body,
            initial_overlap: row.initial_overlap.into(),
            _gap: [0; 7],
            distance,
            normal,
            points: row.points.unwrap_or([NAN; 2]),
            separation: row.separation.unwrap_or(f64::NAN),
        }
    }
}

impl From<collide::ShapeCastFirst> for ShapeCastHit {
    fn from(row: collide::ShapeCastFirst) -> Self {
        let miss = Self {
            cast: row.cast,
            body: NONE,
            initial_overlap: 0,
            _gap: [0; 7],
            distance: f64::NAN,
            normal: NAN,
            points: [NAN; 2],
            separation: f64::NAN,
        };
        row.hit.map_or(miss, Self::from)
    }
}

row! {
    /// A row of `shape_casts_any`.
    ShapeCastAny { cast: u32, is_hit: bool, _gap: [u8; 3] }
}

impl From<collide::ShapeCastAny> for ShapeCastAny {
    fn from(row: collide::ShapeCastAny) -> Self {
        Self { cast: row.cast, is_hit: row.is_hit.into(), _gap: [0; 3] }
    }
}

row! {
    /// A row of `joint_paths`.
    PathCheck { path: u32, outcome: u32, free_until: f64, time: f64, pair: [u32; 2] }
}

impl From<collide::PathCheck> for PathCheck {
    fn from(row: collide::PathCheck) -> Self {
        Self {
            path: row.path,
            outcome: path_outcome(row.outcome),
            free_until: row.free_until,
            time: row.time.unwrap_or(f64::NAN),
            pair: row.pair.unwrap_or([NONE; 2]),
        }
    }
}

row! {
    /// A row of `postures`.
    PostureCheck { posture: u32, is_free: bool, _gap: [u8; 3], pair: [u32; 2] }
}

impl From<collide::PostureCheck> for PostureCheck {
    fn from(row: collide::PostureCheck) -> Self {
        let pair = row.pair.unwrap_or([NONE; 2]);
        Self { posture: row.posture, is_free: row.is_free().into(), _gap: [0; 3], pair }
    }
}

row! {
    /// An event of a set of bodies.
    PairEvent { a: u64, b: u64, static_b: u32, phase: u32 }
}

impl From<collide::PairEvent> for PairEvent {
    fn from(event: collide::PairEvent) -> Self {
        let ([a, b], static_b) = ids(event.a, event.b);
        Self { a, b, static_b, phase: phase(event.phase) }
    }
}

row! {
    /// A pair of a set of bodies.
    TouchingPair { a: u64, b: u64, static_b: u32, _end: u32 }
}

impl From<(collide::BodyId, BodyRef)> for TouchingPair {
    fn from((a, b): (collide::BodyId, BodyRef)) -> Self {
        let ([a, b], static_b) = ids(a, b);
        Self { a, b, static_b, _end: 0 }
    }
}
