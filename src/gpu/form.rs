//! The two forms of a kernel: one that uses subgroup operations, for devices that have them and pass the test of
//! `src/gpu/subgroup_test.rs`, and one for all others. They differ in the files that are listed here, and give the same results.

use crate::gpu::wgsl::wgsl;

/// Sums and exclusive prefixes within a group.
pub(crate) const BLOCK_PREFIX_WGSL: &str = wgsl!("../../shaders/gpu/block_prefix.wgsl");

/// Sums of 64-bit numbers within a group. Needs [`BLOCK_PREFIX_WGSL`] and `shaders/gpu/block.wgsl`.
pub(crate) const BLOCK_SUM_WGSL: &str = wgsl!("../../shaders/gpu/block_sum.wgsl");

/// Each file that has another one in its place where subgroup operations are used.
const PLACES: [(&str, &str); 2] = [
    (BLOCK_PREFIX_WGSL, wgsl!("../../shaders/gpu/block_prefix_subgroups.wgsl")),
    (BLOCK_SUM_WGSL, wgsl!("../../shaders/gpu/block_sum_subgroups.wgsl")),
];

/// Which form of its kernels a device runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Within WebGPU's base.
    Plain,
    /// With subgroup operations, where a kernel has such a form.
    Subgroups,
}

impl Form {
    /// The text that stands in this form where a kernel lists `source`.
    pub(crate) fn text(self, source: &'static str) -> &'static str {
        match self {
            Self::Plain => source,
            Self::Subgroups => {
                PLACES.into_iter().find(|place| place.0 == source).map_or(source, |place| place.1)
            }
        }
    }
}
