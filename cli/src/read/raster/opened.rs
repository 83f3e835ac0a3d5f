//! What the reader of a format finds out of a raster.

use super::georeference::Georeference;
use super::kind::Kind;

/// What a format gives.
pub(super) struct Opened {
    pub(super) size: [usize; 2],
    pub(super) kind: Kind,
    pub(super) no_data: Option<String>,
    /// Scale and offset.
    pub(super) scaling: [Option<f64>; 2],
    pub(super) georeference: Georeference,
}
