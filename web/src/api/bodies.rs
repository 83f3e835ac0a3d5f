//! Bodies, rays, moved shapes and points as columns of typed arrays.

use hullfield::collide::{self, Body, Motion, Ray, ShapeCast};
use js_sys::{Float32Array, Float64Array, Uint32Array};
use wasm_bindgen::{JsCast, JsValue};

use crate::api::error::invalid;
use crate::api::input::{Fields, Read, Typed, kind, numbers, rows, same_length, whole};

const BODY_FIELDS: [&str; 9] =
    ["hulls", "positions", "rotations", "scales", "paddings", "groups", "masks", "worlds", "owners"];
const CAST_FIELDS: [&str; 10] = [
    "hulls",
    "positions",
    "rotations",
    "scales",
    "paddings",
    "groups",
    "masks",
    "worlds",
    "directions",
    "maxDistances",
];
const RAY_FIELDS: [&str; 6] = ["origins", "directions", "maxDistances", "groups", "masks", "worlds"];

/// Points in f32, or in f64 where f32 does not hold all of them.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    short: Vec<[f32; 3]>,
    long: Vec<[f64; 3]>,
}

impl Positions {
    /// Reads a `Float32Array` or a `Float64Array`.
    pub(crate) fn read(name: &str, value: &JsValue) -> Read<Self> {
        if value.is_instance_of::<Float32Array>() {
            return Ok(Self { short: rows::<Float32Array, 3>(name, value)?, long: Vec::new() });
        }
        if !value.is_instance_of::<Float64Array>() {
            let message = format!("{name} is {}, it must be a Float32Array or a Float64Array", kind(value));
            return Err(invalid(&message));
        }
        let long = rows::<Float64Array, 3>(name, value)?;
        let is_exact = |x: &f64| f64::from(*x as f32) == *x;
        if long.iter().flatten().all(is_exact) {
            return Ok(Self { short: long.iter().map(|p| p.map(|x| x as f32)).collect(), long: Vec::new() });
        }
        Ok(Self { short: Vec::new(), long })
    }

    fn count(&self) -> usize {
        self.short.len().max(self.long.len())
    }

    /// The library's columns of points.
    pub(crate) fn points(&self) -> collide::PointColumns<'_> {
        if self.long.is_empty() {
            collide::PointColumns::new(&self.short)
        } else {
            collide::PointColumns::new_f64(&self.long)
        }
    }
}

/// A column with as many rows as the first; empty where it is missing.
fn column<A: Typed>(fields: &Fields, name: &str, first: (&str, usize)) -> Read<Vec<A::Number>> {
    let Some(value) = fields.get(name)? else { return Ok(Vec::new()) };
    let all = numbers::<A>(name, &value)?;
    same_length(name, all.len(), first.0, first.1)?;
    Ok(all)
}

/// As [`column`], with `N` numbers a row.
fn wide<A: Typed, const N: usize>(
    fields: &Fields,
    name: &str,
    first: (&str, usize),
) -> Read<Vec<[A::Number; N]>> {
    let Some(value) = fields.get(name)? else { return Ok(Vec::new()) };
    let all = rows::<A, N>(name, &value)?;
    same_length(name, all.len(), first.0, first.1)?;
    Ok(all)
}

/// The bodies of a query.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    pub(crate) bodies: Vec<Body>,
    pub(crate) positions: Vec<[f64; 3]>,
    pub(crate) worlds: Vec<u32>,
    pub(crate) owners: Vec<u32>,
}

impl Bodies {
    /// Reads the columns of an object.
    pub(crate) fn read(name: &str, value: &JsValue) -> Read<Self> {
        Self::of_fields(&Fields::of(name, value, &BODY_FIELDS)?)
    }

    fn of_fields(fields: &Fields) -> Read<Self> {
        let positions = fields.need("positions", Positions::read)?;
        let count = positions.count();
        let first = ("positions", count);
        // One number stands for the hull of all bodies.
        let hulls = match fields.get("hulls")?.unwrap_or(JsValue::UNDEFINED) {
            value if value.as_f64().is_some() => vec![whole("hulls", &value)?; count],
            value => {
                let hulls = numbers::<Uint32Array>("hulls", &value)?;
                same_length("hulls", hulls.len(), first.0, first.1)?;
                hulls
            }
        };
        let rotations = wide::<Float32Array, 4>(fields, "rotations", first)?;
        let scales = wide::<Float32Array, 3>(fields, "scales", first)?;
        let paddings = column::<Float32Array>(fields, "paddings", first)?;
        let groups = column::<Uint32Array>(fields, "groups", first)?;
        let masks = column::<Uint32Array>(fields, "masks", first)?;
        let worlds = column::<Uint32Array>(fields, "worlds", first)?;
        let owners = column::<Uint32Array>(fields, "owners", first)?;
        let body = |(row, hull)| {
            let plain = Body::new(hull);
            Body {
                hull,
                position: positions.short.get(row).copied().unwrap_or(plain.position),
                rotation: rotations.get(row).copied().unwrap_or(plain.rotation),
                scale: scales.get(row).copied().unwrap_or(plain.scale),
                padding: paddings.get(row).copied().unwrap_or(plain.padding),
                group: groups.get(row).copied().unwrap_or(plain.group),
                mask: masks.get(row).copied().unwrap_or(plain.mask),
            }
        };
        let bodies = hulls.into_iter().enumerate().map(body).collect();
        Ok(Self { bodies, positions: positions.long, worlds, owners })
    }

    /// The library's columns.
    pub(crate) fn columns(&self) -> collide::BodyColumns<'_> {
        collide::BodyColumns {
            positions: &self.positions,
            worlds: &self.worlds,
            owners: &self.owners,
            ..collide::BodyColumns::new(&self.bodies)
        }
    }
}

/// The rays of a query.
#[derive(Debug, Default)]
pub(crate) struct Rays {
    rays: Vec<Ray>,
    origins: Vec<[f64; 3]>,
    worlds: Vec<u32>,
}

impl Rays {
    /// Reads the columns of an object.
    pub(crate) fn read(name: &str, value: &JsValue) -> Read<Self> {
        let fields = Fields::of(name, value, &RAY_FIELDS)?;
        let origins = fields.need("origins", Positions::read)?;
        let first = ("origins", origins.count());
        let directions = fields.need("directions", rows::<Float32Array, 3>)?;
        same_length("directions", directions.len(), first.0, first.1)?;
        let limits = column::<Float32Array>(&fields, "maxDistances", first)?;
        let groups = column::<Uint32Array>(&fields, "groups", first)?;
        let masks = column::<Uint32Array>(&fields, "masks", first)?;
        let worlds = column::<Uint32Array>(&fields, "worlds", first)?;
        let ray = |(row, direction)| {
            let plain = Ray::new(origins.short.get(row).copied().unwrap_or_default(), direction);
            Ray {
                max_distance: limits.get(row).copied().unwrap_or(plain.max_distance),
                group: groups.get(row).copied().unwrap_or(plain.group),
                mask: masks.get(row).copied().unwrap_or(plain.mask),
                ..plain
            }
        };
        let rays = directions.into_iter().enumerate().map(ray).collect();
        Ok(Self { rays, origins: origins.long, worlds })
    }

    /// The library's columns.
    pub(crate) fn columns(&self) -> collide::RayColumns<'_> {
        collide::RayColumns { rays: &self.rays, origins: &self.origins, worlds: &self.worlds }
    }
}

/// The moved shapes of a query.
#[derive(Debug, Default)]
pub(crate) struct ShapeCasts {
    casts: Vec<ShapeCast>,
    positions: Vec<[f64; 3]>,
    worlds: Vec<u32>,
}

impl ShapeCasts {
    /// Reads the columns of an object: those of bodies, and where they go.
    pub(crate) fn read(name: &str, value: &JsValue) -> Read<Self> {
        let fields = Fields::of(name, value, &CAST_FIELDS)?;
        let shapes = Bodies::of_fields(&fields)?;
        let first = ("positions", shapes.bodies.len());
        let directions = fields.need("directions", rows::<Float32Array, 3>)?;
        same_length("directions", directions.len(), first.0, first.1)?;
        let limits = column::<Float32Array>(&fields, "maxDistances", first)?;
        let cast = |(row, (body, direction))| {
            let plain = ShapeCast::new(body, direction);
            ShapeCast { max_distance: limits.get(row).copied().unwrap_or(plain.max_distance), ..plain }
        };
        let casts = shapes.bodies.into_iter().zip(directions).enumerate().map(cast).collect();
        Ok(Self { casts, positions: shapes.positions, worlds: shapes.worlds })
    }

    /// The library's columns.
    pub(crate) fn columns(&self) -> collide::ShapeCastColumns<'_> {
        collide::ShapeCastColumns { casts: &self.casts, positions: &self.positions, worlds: &self.worlds }
    }
}

/// Reads the motions of a sweep.
pub(crate) fn read_motions(name: &str, value: &JsValue) -> Read<Vec<Motion>> {
    let fields = Fields::of(name, value, &["velocities", "angularVelocities"])?;
    let velocities = fields.need("velocities", rows::<Float32Array, 3>)?;
    let turns = wide::<Float32Array, 3>(&fields, "angularVelocities", ("velocities", velocities.len()))?;
    let motion =
        |(row, velocity)| Motion { velocity, angular_velocity: turns.get(row).copied().unwrap_or_default() };
    Ok(velocities.into_iter().enumerate().map(motion).collect())
}
