//! Seeded random numbers of the scenes, equal in every browser: SplitMix64 (Steele, Lea, Flood 2014).

use glam::{Quat, Vec3, Vec4};

/// The generator.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform in [0, 1), with the bits that f32 has.
    pub fn unit_f32(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u32 << 24) as f32
    }

    /// Uniform in [−1, 1).
    pub fn signed_f32(&mut self) -> f32 {
        2.0 * self.unit_f32() - 1.0
    }

    /// A unit vector, uniform over the sphere.
    pub fn direction(&mut self) -> Vec3 {
        loop {
            let point = Vec3::from([0.0; 3].map(|_| self.signed_f32()));
            if (0.01..1.0).contains(&point.length_squared()) {
                return point.normalize();
            }
        }
    }

    /// A rotation, uniform over all of them.
    pub fn rotation(&mut self) -> Quat {
        loop {
            let point = Vec4::from([0.0; 4].map(|_| self.signed_f32()));
            if (0.01..1.0).contains(&point.length_squared()) {
                return Quat::from_vec4(point.normalize());
            }
        }
    }

    /// Uniform in 0..count; 0 where `count` is 0. For counts below 2³².
    pub fn below(&mut self, count: usize) -> usize {
        (((self.bits() >> 32) * count as u64) >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_paper_and_in_their_ranges() {
        // The first number of SplitMix64 from the seed 0.
        assert_eq!(Random::new(0).bits(), 0xe220_a839_7b1d_cdaf);
        let mut random = Random::new(5);
        let mut seen = [false; 7];
        for _ in 0..1000 {
            assert!((0.0..1.0).contains(&random.unit()) && (-2.0..3.0).contains(&random.between(-2.0, 3.0)));
            seen[random.below(7)] = true;
        }
        assert_eq!(seen, [true; 7]);
        assert_eq!(random.below(0), 0);
        let mut sum = Vec3::ZERO;
        for _ in 0..1000 {
            assert!((0.0..1.0).contains(&random.unit_f32()) && random.rotation().is_normalized());
            let direction = random.direction();
            assert!(direction.is_normalized());
            sum += direction;
        }
        // Four standard deviations of the sum of 1,000 of them.
        assert!(sum.abs().max_element() < 73.0, "{sum}");
    }
}
