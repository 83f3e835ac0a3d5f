//! The memory that a query takes on the device.

#[cfg(doc)]
use crate::collide::scene::pairs::Pairs;

/// The memory that a query takes on the device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
pub struct Estimate {
    /// Device memory of the hulls, shared by all frames, in bytes.
    pub hull_bytes: u64,
    /// Device memory of a frame that grows with the bodies, in bytes.
    pub body_bytes: u64,
    /// Device memory of a frame that grows with the pairs, in bytes; for [`Pairs::BroadPhase`] at the capacity that the
    /// engine starts with or has grown to.
    pub candidate_bytes: u64,
    /// Staging memory, through which the host writes bodies and reads results, in bytes.
    pub staging_bytes: u64,
}

impl Estimate {
    /// All device memory except staging, in bytes.
    pub fn device_bytes(&self) -> u64 {
        self.hull_bytes + self.body_bytes + self.candidate_bytes
    }
}
