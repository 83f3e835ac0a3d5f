//! Seeded random numbers, equal on every machine: SplitMix64 (Steele, Lea, Flood 2014).

use std::f32::consts::TAU;

use glam::{Quat, Vec3};

/// The generator.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// Starts from a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u32 << 24) as f32
    }

    /// Uniform in [low, high).
    pub(crate) fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// Uniform in 0..count, for a small count.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        (((self.bits() >> 32) * count as u64) >> 32) as usize
    }

    /// Uniform on the unit sphere.
    pub(crate) fn direction(&mut self) -> Vec3 {
        let z = self.between(-1.0, 1.0);
        let (sin, cos) = self.between(0.0, TAU).sin_cos();
        let around = (1.0 - z * z).max(0.0).sqrt();
        Vec3::new(around * cos, around * sin, z)
    }

    /// Uniform over all rotations (Shoemake 1992).
    pub(crate) fn rotation(&mut self) -> Quat {
        let (u, v, w) = (self.unit(), self.between(0.0, TAU), self.between(0.0, TAU));
        let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
        Quat::from_xyzw(a * v.sin(), a * v.cos(), b * w.sin(), b * w.cos()).normalize()
    }
}
