//! The types of a raster's cells.

/// What the cells of a raster are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Unsigned,
    Signed,
    Float,
}

/// The type of a raster's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) class: Class,
    /// 1, 2, 4 or 8; of floats 2, 4 or 8.
    pub(crate) bytes: usize,
}

impl Kind {
    /// `None` for a width that no reader takes.
    pub(crate) fn new(class: Class, bytes: usize) -> Option<Self> {
        let is_known = matches!((class, bytes), (_, 2 | 4 | 8) | (Class::Unsigned | Class::Signed, 1));
        is_known.then_some(Self { class, bytes })
    }

    /// By NumPy's notation, `|u1` or `<f4`.
    pub(crate) fn from_descr(descr: &str) -> Option<Self> {
        match descr {
            "|b1" | "|u1" => return Self::new(Class::Unsigned, 1),
            "|i1" => return Self::new(Class::Signed, 1),
            _ => {}
        }
        let class = match descr.strip_prefix(['<', '>'])?.split_at_checked(1)? {
            ("u", "2" | "4" | "8") => Class::Unsigned,
            ("i", "2" | "4" | "8") => Class::Signed,
            ("f", "2" | "4" | "8") => Class::Float,
            _ => return None,
        };
        Self::new(class, descr[2..].parse().ok()?)
    }

    /// `u16`, `f32`.
    pub(crate) fn name(self) -> String {
        let letter = match self.class {
            Class::Unsigned => 'u',
            Class::Signed => 'i',
            Class::Float => 'f',
        };
        format!("{letter}{}", 8 * self.bytes)
    }

    pub(crate) fn is_float(self) -> bool {
        self.class == Class::Float
    }

    /// Calls `each` with the place and the number of every cell of whole numbers, whose bytes are in this machine's order; `None` for the number of no
    /// data. Numbers beyond 63 bits become the largest that there is.
    pub(crate) fn each_whole(
        self,
        cells: &[u8],
        no_data: Option<i128>,
        mut each: impl FnMut(usize, Option<i64>),
    ) {
        macro_rules! cells_of {
            ($number:ty, $wide:expr) => {{
                let no_data = no_data.and_then(|number| <$number>::try_from(number).ok());
                for (place, bytes) in cells.as_chunks().0.iter().enumerate() {
                    let number = <$number>::from_ne_bytes(*bytes);
                    each(place, if no_data == Some(number) { None } else { Some($wide(number)) });
                }
            }};
        }
        match (self.class, self.bytes) {
            (Class::Signed, 1) => cells_of!(i8, i64::from),
            (Class::Signed, 2) => cells_of!(i16, i64::from),
            (Class::Signed, 4) => cells_of!(i32, i64::from),
            (Class::Signed, _) => cells_of!(i64, std::convert::identity),
            (_, 1) => cells_of!(u8, i64::from),
            (_, 2) => cells_of!(u16, i64::from),
            (_, 4) => cells_of!(u32, i64::from),
            _ => cells_of!(u64, |number| i64::try_from(number).unwrap_or(i64::MAX)),
        }
    }

    /// Whether f32 holds each cell.
    pub(crate) fn is_single(self) -> bool {
        self.is_float() && self.bytes <= 4
    }

    /// [`Self::each_whole`] for cells of floats.
    pub(crate) fn each_float(self, cells: &[u8], mut each: impl FnMut(usize, f64)) {
        if self.bytes == 2 {
            for (place, bytes) in cells.as_chunks().0.iter().enumerate() {
                each(place, half::f16::from_ne_bytes(*bytes).to_f64());
            }
        } else if self.bytes == 4 {
            for (place, bytes) in cells.as_chunks().0.iter().enumerate() {
                each(place, f64::from(f32::from_ne_bytes(*bytes)));
            }
        } else {
            for (place, bytes) in cells.as_chunks().0.iter().enumerate() {
                each(place, f64::from_ne_bytes(*bytes));
            }
        }
    }
}

/// The number that stands for cells without data, as it is compared with the numbers of cells before any scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NoData {
    /// As cells of whole numbers have it; none where they can't.
    pub(crate) whole: Option<i128>,
    pub(crate) float: f64,
    /// What floats may differ by, as part of both numbers together: they are written with few digits, and in more or fewer bits.
    slack: f64,
}

impl NoData {
    /// Reads the number as text; `None` where it is none.
    pub(crate) fn parse(text: &str, kind: Kind) -> Option<Self> {
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        let float: f64 = text.parse().ok()?;
        let whole = match text.parse::<i128>() {
            Ok(number) => Some(number),
            Err(_) => (float.fract() == 0.0 && float.abs() < 1e30).then_some(float as i128),
        };
        // GDAL's, but for 16 bits, which it has as 32.
        let slack = match kind.bytes {
            2 => 2.0 * f64::from(half::f16::EPSILON),
            4 => 2.0 * f64::from(f32::EPSILON),
            _ => 2.0 * f64::EPSILON,
        };
        Some(Self { whole, float, slack })
    }

    /// Whether cells of whole numbers can hold the number.
    pub(crate) fn is_whole(self) -> bool {
        self.whole.is_some()
    }

    pub(crate) fn is_float(self, value: f64) -> bool {
        value == self.float
            || value.is_nan() && self.float.is_nan()
            || value.is_finite() && (value - self.float).abs() < self.slack * (value + self.float).abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_names() {
        for (descr, name) in [
            ("|b1", "u8"),
            ("|i1", "i8"),
            ("<u2", "u16"),
            (">i4", "i32"),
            ("<u8", "u64"),
            ("<f2", "f16"),
            ("<f4", "f32"),
            (">f8", "f64"),
        ] {
            assert_eq!(Kind::from_descr(descr).map(Kind::name).as_deref(), Some(name));
        }
        for descr in ["", "<", "<f", "<f1", "|S1", "=i8", "<c8", ">b1", "<u16", "<é4"] {
            assert_eq!(Kind::from_descr(descr), None, "{descr}");
        }
    }

    #[test]
    fn no_data_is_compared_in_the_type_of_the_cells() {
        let [float, double, byte] = ["<f4", "<f8", "|u1"].map(|descr| Kind::from_descr(descr).unwrap());
        let text = "-3.4028234663852886e+38\0";
        assert!(NoData::parse(text, float).unwrap().is_float(f64::from(f32::MIN)));
        assert!(NoData::parse(" nan", double).unwrap().is_float(f64::NAN));
        assert!(NoData::parse("-3.40282346600000016e+38", float).unwrap().is_float(f64::from(f32::MIN)));
        assert!(!NoData::parse("-9999", float).unwrap().is_float(-9998.9));
        for other in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.0, 1.0] {
            assert!(!NoData::parse("-9999", double).unwrap().is_float(other));
        }
        assert!(NoData::parse("inf", float).unwrap().is_float(f64::INFINITY));
        assert!(!NoData::parse("inf", float).unwrap().is_float(1.0));
        assert!(!NoData::parse("0.1", double).unwrap().is_float(f64::from(0.1_f32)));
        assert_eq!(NoData::parse("255", byte).unwrap().whole, Some(255));
        assert_eq!(NoData::parse("-9999.0", byte).unwrap().whole, Some(-9999));
        assert_eq!(NoData::parse("1.5", byte).unwrap().whole, None);
        assert_eq!(NoData::parse("18446744073709551615", byte).unwrap().whole, Some(u64::MAX.into()));
        assert_eq!(NoData::parse("none", byte), None);
    }
}
