//! The narrow phase: verdict, distance, contact and manifold of each pair, in f32 where its error bounds suffice, otherwise in f64.

pub(crate) mod cpu;
pub(crate) mod exact;
pub(crate) mod gradient;
#[cfg(feature = "gpu")]
pub(crate) mod kernels;
pub(crate) mod manifold;
pub(crate) mod measure;
pub(crate) mod measured;
pub(crate) mod rows;
pub(crate) mod settle;
pub(crate) mod status;
#[cfg(test)]
pub(crate) mod test_pairs;
pub(crate) mod timed_call;
pub(crate) mod trace;
pub(crate) mod verdict;
