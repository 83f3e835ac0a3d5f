//! Logarithmic axes of base 10: their range, their ticks and the labels.

/// What the numbers of an axis mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Milliseconds, labelled in ns, µs, ms or s.
    Milliseconds,
    /// Counts and other plain numbers.
    #[default]
    None,
}

impl Unit {
    /// A number with three significant digits and its unit. Whole plain numbers keep every digit.
    pub(crate) fn text(self, value: f64) -> String {
        match self {
            Self::Milliseconds => {
                let (scale, unit) = match value {
                    x if x < 1e-3 => (1e6, "ns"),
                    x if x < 1.0 => (1e3, "µs"),
                    x if x < 1e3 => (1.0, "ms"),
                    _ => (1e-3, "s"),
                };
                format!("{} {unit}", significant(value * scale))
            }
            Self::None if value.fract() == 0.0 && value.abs() < 1e15 => grouped(&format!("{value:.0}")),
            Self::None => significant(value),
        }
    }
}

/// A number with three significant digits.
pub(super) fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let exponent = value.abs().log10().floor();
    if !(-4.0..9.0).contains(&exponent) {
        return format!("{value:.2e}");
    }
    let decimals = (2.0 - exponent).max(0.0) as usize;
    grouped(&format!("{value:.decimals$}"))
}

/// Separates the thousands of a number that is written out.
fn grouped(number: &str) -> String {
    let (whole, fraction) = number.split_at(number.find('.').unwrap_or(number.len()));
    let mut text = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

/// A tick at `digit` · 10^`exponent`; the digit is 1, 2 or 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tick {
    digit: u8,
    exponent: i32,
}

impl Tick {
    /// How far a logarithm may lie on the wrong side of a tick.
    const SLACK: f64 = 1e-9;

    fn log(self) -> f64 {
        f64::from(self.exponent) + f64::from(self.digit).log10()
    }

    /// The highest tick that is not above a logarithm.
    fn below(log: f64) -> Self {
        let exponent = (log + Self::SLACK).floor() as i32;
        let reached = |digit: &u8| Self { digit: *digit, exponent }.log() <= log + Self::SLACK;
        Self { digit: [5, 2].into_iter().find(reached).unwrap_or(1), exponent }
    }

    fn before(self) -> Self {
        match self.digit {
            1 => Self { digit: 5, exponent: self.exponent - 1 },
            2 => Self { digit: 1, ..self },
            _ => Self { digit: 2, ..self },
        }
    }

    fn next(self) -> Self {
        match self.digit {
            1 => Self { digit: 2, ..self },
            2 => Self { digit: 5, ..self },
            _ => Self { digit: 1, exponent: self.exponent + 1 },
        }
    }

    /// The label; `None` where the power has to be written.
    fn label(self, unit: Unit) -> Option<String> {
        let plain = |shift: i32| {
            let shift = self.exponent - shift;
            if shift < 0 {
                format!("0.{}{}", "0".repeat((-1 - shift) as usize), self.digit)
            } else {
                grouped(&format!("{}{}", self.digit, "0".repeat(shift as usize)))
            }
        };
        match (unit, self.exponent) {
            (Unit::Milliseconds, -6..=-4) => Some(format!("{} ns", plain(-6))),
            (Unit::Milliseconds, -3..=-1) => Some(format!("{} µs", plain(-3))),
            (Unit::Milliseconds, 0..=2) => Some(format!("{} ms", plain(0))),
            (Unit::Milliseconds, 3..=7) => Some(format!("{} s", plain(3))),
            (Unit::None, -3..=6) => Some(plain(0)),
            _ => None,
        }
    }

    /// The label as a power of ten.
    fn power(self, unit: Unit) -> String {
        let suffix = match unit {
            Unit::Milliseconds => " ms",
            Unit::None => "",
        };
        let factor = if self.digit == 1 { String::new() } else { format!("{}·", self.digit) };
        format!("{factor}10{}{suffix}", superscript(self.exponent))
    }
}

fn superscript(number: i32) -> String {
    let raised = |digit: char| match digit.to_digit(10) {
        Some(digit) => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit as usize],
        None => '⁻',
    };
    number.to_string().chars().map(raised).collect()
}

/// A logarithmic axis that begins and ends at a tick.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    /// The logarithms of both ends.
    ends: [f64; 2],
    unit: Unit,
    ticks: Vec<Tick>,
}

impl Axis {
    /// The axis that holds every value that is finite and positive, with at most `label_count` decades labelled.
    /// `None` where there is no such value.
    pub(super) fn over(values: impl Iterator<Item = f64>, unit: Unit, label_count: usize) -> Option<Self> {
        let logs = values.filter(|value| is_drawable(*value)).map(f64::log10);
        let [least, most] = logs
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], log| [least.min(log), most.max(log)]);
        if least > most {
            return None;
        }
        let mut low = Tick::below(least);
        let mut high = Tick::below(most);
        if high.log() < most - Tick::SLACK {
            high = high.next();
        }
        if low == high {
            (low, high) = (low.before(), high.next());
        }
        let ends = [low.log(), high.log()];
        let is_short = ends[1] - ends[0] < 2.0 - Tick::SLACK;
        let ticks = if is_short {
            std::iter::successors(Some(low), |tick| (*tick != high).then(|| tick.next())).collect()
        } else {
            let exponents = (ends[0] - Tick::SLACK).ceil() as i32..=high.exponent;
            let count = exponents.clone().count();
            let steps = [1, 2, 3, 5, 10, 20, 50, 100, 200];
            let step = steps.into_iter().find(|&step| count.div_ceil(step) <= label_count).unwrap_or(500);
            let labelled = exponents.filter(|exponent| exponent.rem_euclid(step as i32) == 0);
            labelled.map(|exponent| Tick { digit: 1, exponent }).collect()
        };
        Some(Self { ends, unit, ticks })
    }

    /// Where a value lies: 0 at the beginning of the axis, 1 at its end.
    pub(super) fn place(&self, value: f64) -> f64 {
        (value.log10() - self.ends[0]) / (self.ends[1] - self.ends[0])
    }

    /// Whether a value lies on the axis.
    pub(super) fn holds(&self, value: f64) -> bool {
        is_drawable(value) && (0.0..=1.0).contains(&self.place(value))
    }

    /// The place and the label of each tick. If one needs a power of ten, all have one.
    pub(super) fn labels(&self) -> Vec<(f64, String)> {
        let plain: Option<Vec<String>> = self.ticks.iter().map(|tick| tick.label(self.unit)).collect();
        plain.map_or_else(|| self.powers(), |labels| self.placed(labels))
    }

    /// The same on an axis of a length. Labels that would overlap become powers of ten; if these overlap too, some are empty.
    pub(super) fn labels_within(&self, length: f64, width_of: fn(&str) -> f64) -> Vec<(f64, String)> {
        let overlap = |left: &(f64, String), right: &(f64, String)| {
            let gap = 0.6 * width_of("0");
            (right.0 - left.0) * length < 0.5 * (width_of(&left.1) + width_of(&right.1)) + gap
        };
        let plain = self.labels();
        if !plain.windows(2).any(|pair| overlap(&pair[0], &pair[1])) {
            return plain;
        }
        let is_short = self.ticks.iter().any(|tick| tick.digit != 1);
        let mut labels = if is_short { plain } else { self.powers() };
        let mut last = 0;
        for index in 1..labels.len() {
            if overlap(&labels[last], &labels[index]) {
                labels[index].1.clear();
            } else {
                last = index;
            }
        }
        labels
    }

    fn powers(&self) -> Vec<(f64, String)> {
        self.placed(self.ticks.iter().map(|tick| tick.power(self.unit)).collect())
    }

    fn placed(&self, labels: Vec<String>) -> Vec<(f64, String)> {
        let length = self.ends[1] - self.ends[0];
        let places = self.ticks.iter().map(|tick| (tick.log() - self.ends[0]) / length);
        places.zip(labels).collect()
    }
}

/// Whether a logarithmic axis has a place for a value.
pub(super) fn is_drawable(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, unit: Unit) -> Vec<String> {
        let axis = Axis::over([low, high].into_iter(), unit, 8).unwrap();
        axis.labels().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn decades_are_labelled() {
        assert_eq!(labels(10.0, 100_000.0, Unit::None), ["10", "100", "1,000", "10,000", "100,000"]);
        assert_eq!(
            labels(0.0005, 2000.0, Unit::Milliseconds),
            ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"]
        );
        assert_eq!(labels(1e3, 1e9, Unit::None)[..2], ["10³", "10⁴"]);
        assert_eq!(labels(1e-9, 1e-5, Unit::Milliseconds)[..2], ["10⁻⁹ ms", "10⁻⁸ ms"]);
    }

    #[test]
    fn a_short_range_has_minor_ticks() {
        assert_eq!(labels(0.9, 11.0, Unit::None), ["0.5", "1", "2", "5", "10", "20"]);
        assert_eq!(labels(1.0, 50.0, Unit::None), ["1", "2", "5", "10", "20", "50"]);
        assert_eq!(labels(0.3, 0.4, Unit::Milliseconds), ["200 µs", "500 µs"]);
        assert_eq!(labels(3e8, 4e8, Unit::None), ["2·10⁸", "5·10⁸"]);
        assert_eq!(labels(0.02, 0.05, Unit::None), ["0.02", "0.05"]);
    }

    #[test]
    fn one_value_has_a_range() {
        assert_eq!(labels(1.0, 1.0, Unit::None), ["0.5", "1", "2"]);
        assert_eq!(labels(3.0, 3.0, Unit::None), ["2", "5"]);
    }

    #[test]
    fn a_long_range_has_few_labels() {
        let found = labels(1e-300, 1e300, Unit::None);
        assert!(found.len() <= 8 && found.len() >= 5, "{found:?}");
        assert!(found.contains(&"10⁻²⁰⁰".into()) && found.contains(&"10⁰".into()), "{found:?}");
    }

    #[test]
    fn labels_that_overlap_become_powers_or_empty() {
        let within = |low: f64, high: f64, length: f64| -> Vec<String> {
            let axis = Axis::over([low, high].into_iter(), Unit::None, 8).unwrap();
            let labels = axis.labels_within(length, |words| 8.0 * words.chars().count() as f64);
            labels.into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(within(1.0, 1e3, 300.0), ["1", "10", "100", "1,000"]);
        assert_eq!(within(1.0, 1e6, 300.0)[5..], ["10⁵", "10⁶"]);
        assert_eq!(within(1.0, 1e6, 100.0), ["10⁰", "", "10²", "", "10⁴", "", "10⁶"]);
        assert_eq!(within(10.0, 500.0, 80.0), ["10", "", "50", "", "200", ""]);
    }

    #[test]
    fn no_value_has_no_axis() {
        let hostile = [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        assert!(Axis::over(hostile.into_iter(), Unit::None, 8).is_none());
    }

    #[test]
    fn ticks_lie_at_their_values() {
        let axis = Axis::over([1.0, 1000.0].into_iter(), Unit::None, 8).unwrap();
        let places: Vec<f64> = axis.labels().into_iter().map(|(place, _)| place).collect();
        for (place, value) in places.iter().zip([1.0, 10.0, 100.0, 1000.0]) {
            assert!((place - axis.place(value)).abs() < 1e-12);
        }
        assert!(axis.holds(1.0) && axis.holds(1000.0) && !axis.holds(0.9) && !axis.holds(f64::NAN));
    }

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!(Unit::Milliseconds.text(0.001_234), "1.23 µs");
        assert_eq!(Unit::Milliseconds.text(123_456.0), "123 s");
        assert_eq!(Unit::Milliseconds.text(2e-5), "20.0 ns");
        assert_eq!(Unit::None.text(1_234_567.0), "1,234,567");
        assert_eq!(Unit::None.text(1234.5), "1,234");
        assert_eq!(Unit::None.text(1e300), "1.00e300");
        assert_eq!(Unit::None.text(1e-300), "1.00e-300");
    }
}
