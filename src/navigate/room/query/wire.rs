//! Rooms as serde writes and reads them: what they were made of, and what was changed about them since.

use std::borrow::Cow;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::Result;
use crate::navigate::room::build::options::Options;
use crate::navigate::room::build::source::Floor;
use crate::navigate::room::query::room::Room;

/// A room on the wire. It is made anew of it, so nothing is believed that the constructors do not check.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Room", deny_unknown_fields)]
struct RoomWire<'a> {
    floor: Cow<'a, Floor>,
    #[serde(default)]
    options: Cow<'a, Options>,
    /// The edges of each door beside those of the options, by their vertices.
    #[serde(default)]
    doors: Vec<Vec<[u32; 2]>>,
    /// Numbers of doors, those of the options first.
    #[serde(default)]
    shut_doors: Vec<u32>,
    /// The ring of each obstacle; none where it was taken out.
    #[serde(default)]
    obstacles: Vec<Option<Vec<[f64; 2]>>>,
}

impl Serialize for Room {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let options = &self.source.options;
        let mut wire = RoomWire {
            floor: Cow::Borrowed(&self.source.floor),
            options: Cow::Borrowed(options),
            doors: Vec::new(),
            shut_doors: Vec::new(),
            obstacles: Vec::new(),
        };
        if let Some(edits) = &self.edits {
            let edges = |pairs: &[[u32; 2]]| {
                pairs.iter().map(|&[side, _]| edits.base.end_vertices(side as usize)).collect()
            };
            let added = edits.doors.iter().skip(options.doors.len());
            wire.doors = added.map(|door| edges(&door.pairs)).collect();
            let numbered = (0..).zip(&edits.doors);
            wire.shut_doors = numbered.filter(|(_, door)| door.is_shut).map(|(number, _)| number).collect();
            let rings = edits.obstacles.iter();
            wire.obstacles = rings.map(|obstacle| obstacle.as_ref().map(|own| own.ring.clone())).collect();
        }
        wire.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Room {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        build(RoomWire::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

fn build(wire: RoomWire<'_>) -> Result<Room> {
    let RoomWire { floor, options, doors, shut_doors, obstacles } = wire;
    let options = options.into_owned();
    let mut room = match floor.as_ref() {
        Floor::Rings { outer, holes } => Room::new(outer, holes, options)?,
        Floor::Polygons(polygons) => Room::from_polygons(polygons, options)?,
        Floor::Cells { points, cells } => Room::from_cells(points, cells, options)?,
        Floor::PolyanyaMesh(text) => Room::from_polyanya_mesh(text, options)?,
    };
    if !(doors.is_empty() && shut_doors.is_empty() && obstacles.is_empty()) {
        room.redo_edits(&doors, &shut_doors, obstacles)?;
    }
    Ok(room)
}
