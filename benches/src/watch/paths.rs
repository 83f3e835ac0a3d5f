//! The cases of paths through a room and over a surface.

use hullfield::navigate::room::{Method, Options as RoomOptions, Room};
use hullfield::navigate::surface::{Model, Options as SurfaceOptions, Surface};
use hullfield_oracle::random::Random;

use crate::error::message;
use crate::machine::SEED;
use crate::watch::rounds::repeat;
use crate::{path, room};

pub(super) fn room_paths(rounds: u32) -> Result<u64, String> {
    let (outer, holes) = room::pillars(20, 20);
    let room = Room::new(&outer, &holes, RoomOptions::default()).map_err(message)?;
    let mut random = Random::new(SEED);
    let mut point = || match room.random_point([random.unit(), random.unit(), random.unit()]) {
        Ok(Some(point)) => Ok(point.position),
        Ok(None) => Err("the room has no area".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    let queries = (0..100).map(|_| Ok([point()?, point()?])).collect::<Result<Vec<_>, String>>()?;
    repeat(
        rounds,
        || room.paths(&queries, &Method::Optimal.into()).map_err(message),
        |found, sum| {
            for path in &found.rows {
                sum.number(path.length);
                path.corners.iter().for_each(|&corner| sum.count(corner));
            }
        },
    )
}

pub(super) fn surface_field(rounds: u32) -> Result<u64, String> {
    let (points, triangles) = path::lump(30);
    let model = Model::triangles(points.clone(), &triangles);
    let surface = Surface::new(&[model], SurfaceOptions::default()).map_err(message)?;
    let measure = || -> hullfield::Result<Vec<f64>> {
        let field = surface.field(points[0])?;
        points.iter().map(|&point| Ok(field.distance(point)?.unwrap_or(f64::INFINITY))).collect()
    };
    repeat(
        rounds,
        || measure().map_err(message),
        |distances, sum| distances.iter().for_each(|&distance| sum.number(distance)),
    )
}
