//! Arithmetic on four vectors side by side, with the vector instructions that every machine has.

use std::ops::{Add, Neg, Sub};

use glam::Vec4;

/// Number of lanes.
pub(crate) const LANES: usize = 4;

/// One number for each lane.
pub(crate) type LaneScalars = [f32; LANES];

/// One vector for each lane, as stored.
pub(crate) type LaneVectors = [LaneScalars; 3];

/// One vector for each lane.
#[derive(Clone, Copy)]
pub(crate) struct Vec3x4 {
    pub(crate) x: Vec4,
    pub(crate) y: Vec4,
    pub(crate) z: Vec4,
}

impl Add for Vec3x4 {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl Sub for Vec3x4 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
}

impl Neg for Vec3x4 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { x: -self.x, y: -self.y, z: -self.z }
    }
}

impl Vec3x4 {
    #[inline(always)]
    pub(crate) fn load(stored: &LaneVectors) -> Self {
        let [x, y, z] = *stored;
        Self { x: Vec4::from_array(x), y: Vec4::from_array(y), z: Vec4::from_array(z) }
    }

    #[inline(always)]
    pub(crate) fn store(self) -> LaneVectors {
        [self.x.to_array(), self.y.to_array(), self.z.to_array()]
    }

    #[inline(always)]
    pub(crate) fn scaled(self, by: Vec4) -> Self {
        Self { x: self.x * by, y: self.y * by, z: self.z * by }
    }

    #[inline(always)]
    pub(crate) fn dot(self, other: Self) -> Vec4 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    #[inline(always)]
    pub(crate) fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - other.y * self.z,
            y: self.z * other.x - other.z * self.x,
            z: self.x * other.y - other.x * self.y,
        }
    }
}

#[inline(always)]
pub(crate) fn sqrt(x: Vec4) -> Vec4 {
    let [x, y, z, w] = x.to_array();
    Vec4::new(x.sqrt(), y.sqrt(), z.sqrt(), w.sqrt())
}
