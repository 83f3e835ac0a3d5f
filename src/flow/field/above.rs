//! Distances of 64 bits that are lowered in 32 bits, as what they are above a base: what both engines' `improve.rs` share.

use crate::flow::field::cpu::relax::MAX_STEP;

/// What it takes to lower distances from some seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Nothing: there is no seed within the largest distance.
    Nothing,
    /// More than 32 bits: the steps are too long, or the seeds' distances differ by too much.
    TooWide,
    /// Lowering what is above the base.
    Above(Above),
}

/// Distances as what they are above the least distance of some seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Above {
    /// The least distance of the seeds.
    base: u64,
    /// The largest distance that counts.
    pub(crate) max: u32,
    /// The distance of cells that are not reached, and of obstacles. One more step does not exceed 32 bits, so no such cell lowers another.
    pub(crate) far: u32,
    /// One step from any distance below this stays below `far`.
    end: u32,
}

impl Above {
    /// How distances are lowered from the cells `seeds`, none beyond `max_distance`, with moves of at most `longest_step`.
    pub(crate) fn of_seeds(distances: &[u64], seeds: &[u32], max_distance: u64, longest_step: u64) -> Work {
        let known = seeds.iter().map(|&seed| distances[seed as usize]);
        let range = known.filter(|&distance| distance <= max_distance).fold(None, |range, distance| {
            let (least, most) = range.unwrap_or((distance, distance));
            Some((distance.min(least), distance.max(most)))
        });
        let Some((base, most)) = range else { return Work::Nothing };
        if longest_step > MAX_STEP {
            return Work::TooWide;
        }
        let longest_step = longest_step as u32;
        let far = u32::MAX - longest_step;
        // A seed as far as that would lower nothing.
        if most - base >= u64::from(far) {
            return Work::TooWide;
        }
        let max = u32::try_from(max_distance - base).unwrap_or(u32::MAX).min(u32::MAX - 1);
        Work::Above(Self { base, max, far, end: far - longest_step })
    }

    /// What a distance is above the base. Cells nearer than the base get 0: no path over a seed is shorter than theirs, and over them
    /// no cell gets less than it has, as no move lowers a distance but from seeds.
    pub(crate) fn of(&self, distance: u64) -> u32 {
        distance.saturating_sub(self.base).min(u64::from(self.far)) as u32
    }

    fn counts(&self, above: u32) -> bool {
        above <= self.max && above < self.far
    }

    /// Whether no step from any of these cells came too close to what 32 bits hold.
    pub(crate) fn is_exact(&self, above: &[u32]) -> bool {
        self.max < self.end || !above.iter().any(|&above| above >= self.end && self.counts(above))
    }

    /// Writes the distances that are lower than they were, and within the largest distance.
    pub(crate) fn lower(&self, distances: &mut [u64], above: &[u32]) {
        for (distance, &above) in distances.iter_mut().zip(above) {
            // Cells that were nearer than the base have 0 and stay as they were.
            if self.counts(above) {
                *distance = (*distance).min(self.base + u64::from(above));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: u64 = u64::MAX;

    #[test]
    fn what_32_bits_do_not_hold_is_too_wide() {
        let work = |distances: &[u64], max, step| {
            let seeds: Vec<u32> = (0..distances.len() as u32).collect();
            Above::of_seeds(distances, &seeds, max, step)
        };
        assert_eq!(work(&[], NONE - 1, 1), Work::Nothing);
        assert_eq!(work(&[9, 8], 7, 1), Work::Nothing);
        let far = u64::from(u32::MAX) - 10;
        assert!(matches!(work(&[7, 7 + far - 1], NONE - 1, 10), Work::Above(Above { base: 7, .. })));
        assert_eq!(work(&[7 + far, 7], NONE - 1, 10), Work::TooWide);
        // A seed beyond the largest distance does not count.
        assert!(matches!(work(&[7 + far, 7], 6 + far, 10), Work::Above(Above { base: 7, .. })));
        assert!(matches!(work(&[7], NONE - 1, MAX_STEP), Work::Above(_)));
        assert_eq!(work(&[7], NONE - 1, MAX_STEP + 1), Work::TooWide);
    }

    #[test]
    fn distances_come_back_or_are_not_exact() {
        let base = 1 << 40;
        let Work::Above(above) = Above::of_seeds(&[base], &[0], NONE - 1, 100) else { panic!() };
        let far = u64::from(above.far);
        let distances = [base - 5, base, base + 7, base + far - 1, base + far, NONE];
        let loaded = distances.map(|distance| above.of(distance));
        assert_eq!(loaded, [0, 0, 7, above.far - 1, above.far, above.far]);
        let mut stored = distances;
        above.lower(&mut stored, &loaded);
        assert_eq!(stored, distances);
        above.lower(&mut stored, &[0, 0, 6, 9, 8, above.far]);
        assert_eq!(stored, [base - 5, base, base + 6, base + 9, base + 8, NONE]);
        assert!(above.is_exact(&[above.end - 1, above.far, above.far + 1, 0]));
        assert!(!above.is_exact(&[above.end]) && !above.is_exact(&[0, above.far - 1]));
        // Beyond the largest distance nothing has to be exact.
        let Work::Above(above) = Above::of_seeds(&[base], &[0], base + 50, 100) else { panic!() };
        assert!(above.is_exact(&[above.end]));
        let mut stored = [NONE; 2];
        above.lower(&mut stored, &[50, 51]);
        assert_eq!(stored, [base + 50, NONE]);
    }
}
