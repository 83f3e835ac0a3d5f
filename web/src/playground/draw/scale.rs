//! Colours of numbers, in bands.

use crate::playground::draw::palette::Color;

/// Colours of numbers. Every second band is darker, so that lines of equal numbers are seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// From 0 to `range`, evenly spaced and blended in between; the last one for what is larger.
    pub colors: [Color; 4],
    /// The number of the last colour; above 0.
    pub range: f32,
    /// The width of a band; 0 for none.
    pub band: f32,
    /// The colour of what has no number: negative, infinite or NaN.
    pub none: Color,
}

/// How bright every second band is.
pub const DARK_BAND: f32 = 0.82;

impl Scale {
    /// The colour of a number.
    pub fn color(&self, value: f32) -> Color {
        if !(0.0..=f32::MAX).contains(&value) {
            return self.none;
        }
        let place = (value / self.range).min(1.0) * 3.0;
        let below = (place as usize).min(2);
        let share = place - below as f32;
        let is_dark = self.band > 0.0 && (value / self.band).floor() % 2.0 == 1.0;
        let factor = if is_dark { DARK_BAND } else { 1.0 };
        let mut color = [255; 4];
        for (channel, value) in color.iter_mut().enumerate().take(3) {
            let [from, to] = [below, below + 1].map(|index| f32::from(self.colors[index][channel]));
            *value = (factor * (from + share * (to - from)) + 0.5) as u8;
        }
        color
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: Scale = Scale {
        colors: [[0, 0, 0, 255], [30, 0, 0, 255], [60, 0, 0, 255], [90, 200, 0, 255]],
        range: 3.0,
        band: 0.0,
        none: [1, 2, 3, 255],
    };

    #[test]
    fn colours_are_blended_between_their_numbers() {
        assert_eq!(SCALE.color(0.0), [0, 0, 0, 255]);
        assert_eq!(SCALE.color(1.5), [45, 0, 0, 255]);
        assert_eq!(SCALE.color(2.5), [75, 100, 0, 255]);
        assert_eq!(SCALE.color(3.0), [90, 200, 0, 255]);
        assert_eq!(SCALE.color(1e30), [90, 200, 0, 255]);
    }

    #[test]
    fn what_is_no_distance_has_its_own_colour() {
        for value in [f32::NAN, f32::INFINITY, -1.0] {
            assert_eq!(SCALE.color(value), SCALE.none);
        }
    }

    #[test]
    fn every_second_band_is_darker() {
        let banded = Scale { band: 1.0, ..SCALE };
        assert_eq!(banded.color(0.5), SCALE.color(0.5));
        assert_eq!(banded.color(1.5), [37, 0, 0, 255]);
        assert_eq!(banded.color(2.5), SCALE.color(2.5));
    }
}
