//! Numbers as serde hands them on: formats that people read, such as JSON, have no infinity, so there it is a text.

/// For fields that may be infinite, as `serde(with = "crate::wire::number")`: `"infinity"` or `"-infinity"` in formats that
/// people read, the number itself in all others.
pub(crate) mod number {
    use std::fmt;
    use std::marker::PhantomData;

    use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
    use serde::ser::{Serialize, Serializer};

    const ABOVE: &str = "infinity";
    const BELOW: &str = "-infinity";

    /// What may stand in such a field.
    pub(crate) trait Number: Sized {
        fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
        fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
    }

    pub(crate) fn serialize<T: Number, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        value.write(serializer)
    }

    pub(crate) fn deserialize<'de, T: Number, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        T::read(deserializer)
    }

    /// A float, for what both kinds of them share.
    trait Float: Serialize + for<'de> Deserialize<'de> + Into<f64> + Copy {
        const INFINITY: Self;
        const NEG_INFINITY: Self;
        fn of_f64(value: f64) -> Self;
    }

    impl Float for f32 {
        const INFINITY: Self = Self::INFINITY;
        const NEG_INFINITY: Self = Self::NEG_INFINITY;
        fn of_f64(value: f64) -> Self {
            value as Self
        }
    }

    impl Float for f64 {
        const INFINITY: Self = Self::INFINITY;
        const NEG_INFINITY: Self = Self::NEG_INFINITY;
        fn of_f64(value: f64) -> Self {
            value
        }
    }

    impl<T: Float> Number for T {
        fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let value: f64 = (*self).into();
            if value.is_infinite() && serializer.is_human_readable() {
                serializer.serialize_str(if value > 0.0 { ABOVE } else { BELOW })
            } else {
                self.serialize(serializer)
            }
        }

        fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            if deserializer.is_human_readable() {
                deserializer.deserialize_any(NumberOrText(PhantomData))
            } else {
                Self::deserialize(deserializer)
            }
        }
    }

    /// Such a field that may be empty.
    impl Number for Option<f64> {
        fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self {
                None => serializer.serialize_none(),
                Some(value) => serializer.serialize_some(&Wrapped(*value)),
            }
        }

        fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            Ok(Option::<Wrapped>::deserialize(deserializer)?.map(|wrapped| wrapped.0))
        }
    }

    struct Wrapped(f64);

    impl Serialize for Wrapped {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.write(serializer)
        }
    }

    impl<'de> Deserialize<'de> for Wrapped {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            f64::read(deserializer).map(Self)
        }
    }

    struct NumberOrText<T>(PhantomData<T>);

    impl<T: Float> Visitor<'_> for NumberOrText<T> {
        type Value = T;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(formatter, "a number, \"{ABOVE}\" or \"{BELOW}\"")
        }

        fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
            Ok(T::of_f64(value))
        }

        fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
            Ok(T::of_f64(value as f64))
        }

        fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
            Ok(T::of_f64(value as f64))
        }

        fn visit_str<E: Error>(self, value: &str) -> Result<T, E> {
            match value {
                ABOVE => Ok(T::INFINITY),
                BELOW => Ok(T::NEG_INFINITY),
                _ => Err(E::invalid_value(Unexpected::Str(value), &self)),
            }
        }
    }
}
