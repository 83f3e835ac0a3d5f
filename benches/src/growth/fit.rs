//! Power laws through measured points: on log axes a power law is a straight line, and its slope is the exponent.

/// A power law `value = factor · size^exponent`, by least squares on log axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PowerLaw {
    pub(crate) exponent: f64,
    /// Half the width of the exponent's 95 % confidence interval, by Student's t. Not a number with two points.
    pub(crate) half_width: f64,
    /// The natural logarithm of the factor.
    log_factor: f64,
    /// The smallest and the largest size.
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) point_count: usize,
    /// The sum of the squared residuals of the logarithms.
    residue: f64,
}

/// A curve as one power law, or as two that meet at a bend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Growth {
    /// The law of the largest sizes.
    pub(crate) law: PowerLaw,
    /// The law of the sizes below the bend, where there is one.
    pub(crate) before: Option<PowerLaw>,
}

/// The fewest points of a part of a curve that has a bend.
const FEWEST: usize = 3;

/// The exponents of the two parts of a curve with a bend differ by at least this much.
const LEAST_BEND: f64 = 0.12;

impl PowerLaw {
    /// The law through points of positive sizes and values. None with fewer than two sizes.
    pub(crate) fn through(points: &[[f64; 2]]) -> Option<Self> {
        let logs: Vec<[f64; 2]> = points.iter().map(|point| point.map(f64::ln)).collect();
        if logs.len() < 2 || logs.iter().flatten().any(|x| !x.is_finite()) {
            return None;
        }
        let count = logs.len() as f64;
        let mean = |k: usize| logs.iter().map(|point| point[k]).sum::<f64>() / count;
        let (mean_x, mean_y) = (mean(0), mean(1));
        let spread_x: f64 = logs.iter().map(|[x, _]| (x - mean_x).powi(2)).sum();
        if spread_x < 1e-12 {
            return None;
        }
        let exponent = logs.iter().map(|[x, y]| (x - mean_x) * (y - mean_y)).sum::<f64>() / spread_x;
        let log_factor = mean_y - exponent * mean_x;
        let residue: f64 = logs.iter().map(|[x, y]| (y - log_factor - exponent * x).powi(2)).sum();
        let freedom = logs.len() - 2;
        let error = (residue / freedom.max(1) as f64 / spread_x).sqrt();
        let sizes = || points.iter().map(|point| point[0]);
        Some(Self {
            exponent,
            half_width: if freedom == 0 { f64::NAN } else { student_95(freedom) * error },
            log_factor,
            from: sizes().fold(f64::INFINITY, f64::min),
            to: sizes().fold(0.0, f64::max),
            point_count: points.len(),
            residue,
        })
    }

    /// The law's value for a size.
    pub(crate) fn at(&self, size: f64) -> f64 {
        (self.log_factor + self.exponent * size.ln()).exp()
    }

    /// The size for which the law has this value.
    pub(crate) fn size_of(&self, value: f64) -> f64 {
        ((value.ln() - self.log_factor) / self.exponent).exp()
    }
}

impl Growth {
    /// The law of a curve whose points come in the order of their sizes. Two laws take the place of one where Bayes' information criterion prefers
    /// them: a bend costs two more numbers.
    pub(crate) fn of(points: &[[f64; 2]]) -> Option<Self> {
        let whole = PowerLaw::through(points)?;
        let count = points.len() as f64;
        // Residues below a hundredth are noise of any measurement.
        let score = |residue: f64, parameters: f64| {
            count * (residue / count).max(1e-4).ln() + parameters * count.ln()
        };
        let mut best = (score(whole.residue, 2.0), Self { law: whole, before: None });
        for cut in FEWEST..points.len().saturating_sub(FEWEST - 1) {
            // The point at the bend belongs to both parts.
            let (Some(before), Some(law)) =
                (PowerLaw::through(&points[..cut]), PowerLaw::through(&points[cut - 1..]))
            else {
                continue;
            };
            if (law.exponent - before.exponent).abs() < LEAST_BEND {
                continue;
            }
            let of_two = score(before.residue + law.residue, 4.0);
            if of_two < best.0 {
                best = (of_two, Self { law, before: Some(before) });
            }
        }
        Some(best.1)
    }

    /// The size at the bend.
    pub(crate) fn bend(&self) -> Option<f64> {
        self.before.map(|_| self.law.from)
    }
}

/// The 97.5 % quantile of Student's t distribution.
fn student_95(freedom: usize) -> f64 {
    const TABLE: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    match TABLE.get(freedom.wrapping_sub(1)) {
        Some(quantile) => *quantile,
        // Cornish and Fisher's expansion about the normal quantile, to its first term.
        None => {
            let z = 1.959_964_f64;
            z + (z.powi(3) + z) / (4.0 * freedom as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use hullfield_oracle::random::Random;

    use super::*;

    fn sizes() -> impl Iterator<Item = f64> {
        (0..12).map(|k| 1000.0 * 2.0_f64.powi(k))
    }

    #[test]
    fn a_power_law_is_found_exactly() {
        let points: Vec<[f64; 2]> = sizes().map(|n| [n, 3e-4 * n.powf(1.25)]).collect();
        let found = Growth::of(&points).unwrap();
        assert!((found.law.exponent - 1.25).abs() < 1e-12 && found.law.half_width < 1e-6, "{found:?}");
        assert_eq!(found.bend(), None);
        assert!((found.law.at(5e4) / (3e-4 * 5e4_f64.powf(1.25)) - 1.0).abs() < 1e-9);
        assert!((found.law.size_of(found.law.at(5e4)) / 5e4 - 1.0).abs() < 1e-9);
        assert_eq!((found.law.from, found.law.to, found.law.point_count), (1000.0, 2_048_000.0, 12));
    }

    #[test]
    fn noise_widens_the_confidence_and_makes_no_bend() {
        let mut random = Random::new(8);
        let mut inside = 0;
        for _ in 0..200 {
            let points: Vec<[f64; 2]> =
                sizes().map(|n| [n, 1e-3 * n * (0.1 * random.normal()).exp()]).collect();
            let law = PowerLaw::through(&points).unwrap();
            inside += usize::from((law.exponent - 1.0).abs() <= law.half_width);
        }
        // 95 % of 200, give or take three standard deviations.
        assert!((180..=199).contains(&inside), "{inside}");
    }

    #[test]
    fn a_fixed_cost_bends_a_curve() {
        // 1 ms to launch, then 1 µs each.
        let points: Vec<[f64; 2]> = (0..14).map(|k| 2.0_f64.powi(k)).map(|n| [n, 1.0 + 1e-3 * n]).collect();
        let found = Growth::of(&points).unwrap();
        let before = found.before.unwrap();
        assert!(before.exponent < 0.3 && found.law.exponent > 0.5, "{found:?}");
        let bend = found.bend().unwrap();
        assert!((100.0..3000.0).contains(&bend), "{bend}");
    }

    #[test]
    fn a_cache_that_is_outgrown_bends_a_curve() {
        let points: Vec<[f64; 2]> =
            sizes().map(|n| [n, 1e-6 * n * if n > 64e3 { (n / 64e3).powf(0.4) } else { 1.0 }]).collect();
        let found = Growth::of(&points).unwrap();
        assert_eq!(found.bend(), Some(64_000.0));
        assert!(
            (found.law.exponent - 1.4).abs() < 0.01 && (found.before.unwrap().exponent - 1.0).abs() < 0.01
        );
    }

    #[test]
    fn too_few_or_unusable_points_have_no_law() {
        assert_eq!(PowerLaw::through(&[]), None);
        assert_eq!(PowerLaw::through(&[[10.0, 1.0]]), None);
        assert_eq!(PowerLaw::through(&[[10.0, 1.0], [10.0, 2.0]]), None);
        assert_eq!(PowerLaw::through(&[[10.0, 0.0], [20.0, 2.0]]), None);
        assert_eq!(PowerLaw::through(&[[10.0, f64::NAN], [20.0, 2.0]]), None);
        let two = PowerLaw::through(&[[10.0, 1.0], [20.0, 2.0]]).unwrap();
        assert!((two.exponent - 1.0).abs() < 1e-12 && two.half_width.is_nan());
    }
}
