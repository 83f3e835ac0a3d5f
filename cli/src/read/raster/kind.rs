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
    /// 1, 2, 4 or 8; of floats 4 or 8.
    pub(crate) bytes: usize,
}

impl Kind {
    /// `None` for a width that no reader takes.
    pub(crate) fn new(class: Class, bytes: usize) -> Option<Self> {
        let is_known = matches!((class, bytes), (_, 4 | 8) | (Class::Unsigned | Class::Signed, 1 | 2));
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
            ("f", "4" | "8") => Class::Float,
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

    /// Calls `each` with the place and the number of every cell of whole numbers, whose bytes are in this machine's order. Numbers beyond
    /// 63 bits become the largest that there is.
    pub(crate) fn each_whole(self, cells: &[u8], mut each: impl FnMut(usize, i64)) {
        macro_rules! cells_of {
            ($number:ty) => {
                for (place, bytes) in cells.as_chunks().0.iter().enumerate() {
                    each(place, i64::from(<$number>::from_ne_bytes(*bytes)));
                }
            };
        }
        match (self.class, self.bytes) {
            (Class::Signed, 1) => cells_of!(i8),
            (Class::Signed, 2) => cells_of!(i16),
            (Class::Signed, 4) => cells_of!(i32),
            (Class::Signed, _) => cells_of!(i64),
            (_, 1) => cells_of!(u8),
            (_, 2) => cells_of!(u16),
            (_, 4) => cells_of!(u32),
            _ => {
                for (place, bytes) in cells.as_chunks().0.iter().enumerate() {
                    each(place, i64::try_from(u64::from_ne_bytes(*bytes)).unwrap_or(i64::MAX));
                }
            }
        }
    }

    /// Whether f32 holds each cell.
    pub(crate) fn is_single(self) -> bool {
        self.is_float() && self.bytes <= 4
    }

    /// [`Self::each_whole`] for cells of floats.
    pub(crate) fn each_float(self, cells: &[u8], mut each: impl FnMut(usize, f64)) {
        if self.bytes == 4 {
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

/// The number that stands for cells without data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NoData {
    /// As cells of whole numbers have it; none where they can't.
    pub(crate) whole: Option<i64>,
    /// As cells of floats have it: rounded to 32 bits where they have no more.
    pub(crate) float: f64,
}

impl NoData {
    /// Reads the number as text; `None` where it is none.
    pub(crate) fn parse(text: &str, kind: Kind) -> Option<Self> {
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        let value: f64 = text.parse().ok()?;
        let whole = match text.parse::<i128>() {
            Ok(number) => Some(i64::try_from(number).unwrap_or(if number > 0 { i64::MAX } else { i64::MIN })),
            Err(_) => (value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i64),
        };
        let float = if kind.bytes == 4 { f64::from(value as f32) } else { value };
        Some(Self { whole, float })
    }

    pub(crate) fn is_float(self, value: f64) -> bool {
        value == self.float || value.is_nan() && self.float.is_nan()
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
            ("<f4", "f32"),
            (">f8", "f64"),
        ] {
            assert_eq!(Kind::from_descr(descr).map(Kind::name).as_deref(), Some(name));
        }
        for descr in ["", "<", "<f", "<f2", "|S1", "=i8", "<c8", ">b1", "<u16", "<é4"] {
            assert_eq!(Kind::from_descr(descr), None, "{descr}");
        }
    }

    #[test]
    fn no_data_is_compared_in_the_type_of_the_cells() {
        let [float, double, byte] = ["<f4", "<f8", "|u1"].map(|descr| Kind::from_descr(descr).unwrap());
        let text = "-3.4028234663852886e+38\0";
        assert!(NoData::parse(text, float).unwrap().is_float(f64::from(f32::MIN)));
        assert!(NoData::parse(" nan", double).unwrap().is_float(f64::NAN));
        assert!(!NoData::parse("0.1", double).unwrap().is_float(f64::from(0.1_f32)));
        assert_eq!(NoData::parse("255", byte).unwrap().whole, Some(255));
        assert_eq!(NoData::parse("-9999.0", byte).unwrap().whole, Some(-9999));
        assert_eq!(NoData::parse("1.5", byte).unwrap().whole, None);
        assert_eq!(NoData::parse("18446744073709551615", byte).unwrap().whole, Some(i64::MAX));
        assert_eq!(NoData::parse("none", byte), None);
    }
}
