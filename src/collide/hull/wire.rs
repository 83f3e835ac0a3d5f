//! Hulls as serde writes and reads them: their vertices, from which everything else is built again.

use std::borrow::Cow;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::collide::hull::{Dimension, Hull};
use crate::error::{Error, Location, Result};

/// A hull on the wire. A hull depends on nothing but its vertices and their order, so these give it back bit for bit.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Hull", deny_unknown_fields)]
struct HullWire<'a> {
    vertices: Cow<'a, [[f32; 3]]>,
    #[serde(default)]
    rounding: f32,
    #[serde(default)]
    half_space: bool,
}

impl Serialize for Hull {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let half_space = self.dimension == Dimension::HalfSpace;
        let vertices = Cow::Borrowed(self.vertices());
        HullWire { vertices, rounding: self.rounding, half_space }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Hull {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        build(&HullWire::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

fn build(wire: &HullWire<'_>) -> Result<Hull> {
    let hull = if !wire.half_space {
        Hull::from_points(&wire.vertices)?
    } else if *wire.vertices == [[0.0; 3]] {
        Hull::half_space()
    } else {
        let message = "the only vertex of a half-space is the origin: its body says where it stands";
        return Err(Error::invalid(Location::Argument, message));
    };
    hull.rounded(wire.rounding)
}
