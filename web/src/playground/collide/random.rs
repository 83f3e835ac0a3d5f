//! Seeded random numbers, the same in every browser.

use glam::{Quat, Vec3, Vec4};

/// A linear congruential generator of 64 bits (Knuth's constants), whose upper bits are used.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u32) -> Self {
        let mut random = Self(u64::from(seed) ^ 0x9e37_79b9_7f4a_7c15);
        // Seeds that are near begin apart.
        for _ in 0..4 {
            random.unit();
        }
        random
    }

    /// From 0, below 1.
    pub(super) fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }

    /// From −1, below 1.
    pub(super) fn signed(&mut self) -> f32 {
        2.0 * self.unit() - 1.0
    }

    /// A whole number below `count`, which must not be 0.
    pub(super) fn below(&mut self, count: usize) -> usize {
        ((self.unit() * count as f32) as usize).min(count - 1)
    }

    /// A unit vector.
    pub(super) fn direction(&mut self) -> Vec3 {
        loop {
            let point = Vec3::new(self.signed(), self.signed(), self.signed());
            if (0.01..1.0).contains(&point.length_squared()) {
                return point.normalize();
            }
        }
    }

    /// A rotation.
    pub(super) fn rotation(&mut self) -> Quat {
        loop {
            let point = Vec4::new(self.signed(), self.signed(), self.signed(), self.signed());
            if (0.01..1.0).contains(&point.length_squared()) {
                return Quat::from_vec4(point.normalize());
            }
        }
    }
}
