//! Tables of bodies and of pairs.

use std::collections::HashMap;
use std::path::Path;

use hullfield::collide::{Body, BodyColumns, Exclusions, Motion};
use hullfield::{Error, Location};

use super::parts::{Common, Parts};
use super::table::{Column, Table};
use super::text::{excerpt, is_positive};
use crate::failure::{Failure, Result};

const KNOWN: [&str; 24] = [
    "hull", "x", "y", "z", "qx", "qy", "qz", "qw", "scale", "sx", "sy", "sz", "radius", "vx", "vy", "vz",
    "wx", "wy", "wz", "group", "mask", "world", "body", "part",
];
const VELOCITY: [&str; 3] = ["vx", "vy", "vz"];
const ANGULAR_VELOCITY: [&str; 3] = ["wx", "wy", "wz"];

/// The bodies of a file.
#[derive(Debug)]
pub(crate) struct Bodies<'a> {
    /// In the order of the rows; with parts in the order of bodies and parts.
    pub(crate) bodies: Vec<Body>,
    /// The position of each body in f64, or empty where the bodies have theirs in f32.
    pub(crate) positions: Vec<[f64; 3]>,
    /// The motion of each body, or empty if motions were not asked for.
    pub(crate) motions: Vec<Motion>,
    /// The world of each row, or empty.
    worlds: Vec<u32>,
    /// Which rows are parts of one body, if the file says so.
    pub(crate) parts: Option<Parts>,
    /// Pairs that are not tested.
    pub(crate) exclusions: Option<Exclusions>,
    /// The file's row of each body, or empty where they are the same.
    file_rows: Vec<u32>,
    file: &'a Path,
}

impl Bodies<'_> {
    /// The bodies with their columns.
    pub(crate) fn columns(&self) -> BodyColumns<'_> {
        BodyColumns {
            bodies: &self.bodies,
            positions: &self.positions,
            worlds: &self.worlds,
            owners: self.parts.as_ref().map_or(&[], |parts| &parts.body_of),
            exclusions: self.exclusions.as_ref(),
        }
    }

    /// Whether there are bodies, and they have worlds; nothing where there are none.
    pub(crate) fn has_worlds(&self) -> Option<bool> {
        (!self.bodies.is_empty()).then_some(!self.worlds.is_empty())
    }

    /// How many bodies there are, each with all of its parts.
    pub(crate) fn body_count(&self) -> usize {
        self.parts.as_ref().map_or(self.bodies.len(), Parts::body_count)
    }

    /// The rows of pairs of bodies: each part of one with each of the other.
    pub(crate) fn rows_of_pairs(&self, pairs: Vec<[u32; 2]>) -> Vec<[u32; 2]> {
        if self.parts.is_none() {
            return pairs;
        }
        pairs.into_iter().flat_map(|pair| self.rows_of_pair(pair)).collect()
    }

    /// What rows of an answer are sorted by, of two rows of bodies: their world, then the two bodies. None where their own order is that.
    pub(crate) fn rank_of_pair(&self, a: u32, b: u32) -> Option<[u32; 3]> {
        let parts = self.parts.as_ref()?;
        let [first, second] = [a, b].map(|row| parts.body_of.get(row as usize).copied().unwrap_or(row));
        Some([self.worlds.get(a as usize).copied().unwrap_or(0), first, second])
    }

    /// The bodies, those of a world after one another, in the order of the worlds' numbers.
    pub(crate) fn by_worlds(&self) -> Vec<u32> {
        let mut bodies: Vec<u32> = (0..self.body_count() as u32).collect();
        if !self.worlds.is_empty() {
            bodies.sort_by_key(|&body| self.worlds[self.rows_of(body).start as usize]);
        }
        bodies
    }

    /// The rows of a body.
    fn rows_of(&self, body: u32) -> std::ops::Range<u32> {
        self.parts.as_ref().map_or(body..body + 1, |parts| parts.rows_of(body))
    }

    /// The rows of a pair of bodies: each part of one with each of the other.
    pub(crate) fn rows_of_pair(&self, [a, b]: [u32; 2]) -> impl Iterator<Item = [u32; 2]> + use<> {
        let others = self.rows_of(b);
        self.rows_of(a).flat_map(move |p| others.clone().map(move |q| [p, q]))
    }

    /// Whether two rows are a pair that a query of all bodies may list.
    pub(crate) fn accepts(&self, a: u32, b: u32) -> bool {
        let [first, second] = [a, b].map(|row| &self.bodies[row as usize]);
        let world = |row: u32| self.worlds.get(row as usize);
        let body = |row: u32| self.parts.as_ref().map_or(row, |parts| parts.body_of[row as usize]);
        first.group & second.mask != 0
            && second.group & first.mask != 0
            && world(a) == world(b)
            && body(a) != body(b)
            && !self.exclusions.as_ref().is_some_and(|all| all.contains(body(a), body(b)))
    }

    /// The row as errors call it.
    fn name(&self, row: usize) -> String {
        match &self.parts {
            Some(parts) if row < self.bodies.len() => {
                format!("body {}, part {}", parts.body_of[row], parts.part_of[row])
            }
            _ => format!("body {row}"),
        }
    }

    /// Turns the library's error about a body into one that names the file and the line.
    ///
    /// The file is read again to find the line. Keeping a line number for each of a million bodies would cost more.
    pub(crate) fn error_at_line(&self, error: Error) -> Failure {
        let (Error::Value { at: Location::Body(row) | Location::Motion(row), .. }
        | Error::Missing { at: Location::Body(row), .. }
        | Error::Invalid { at: Location::Body(row), .. }) = error
        else {
            return error.into();
        };
        // The column of the library's `padding` is called `radius`.
        let error = match error {
            Error::Value { at, field: "padding", value, allowed } => {
                Error::Value { at, field: "radius", value, allowed }
            }
            error => error,
        };
        let text = error.to_string();
        let message = text.split_once(": ").map_or(text.as_str(), |(_, message)| message);
        let file_row = self.file_rows.get(row).map_or(row, |&row| row as usize);
        at_row(self.file, file_row, &format!("{}: {message}", self.name(row)))
    }
}

/// An error in a row of the file, which is read again to find the line.
fn at_row(file: &Path, row: usize, message: &str) -> Failure {
    let line = Table::open(file, &KNOWN).and_then(|mut table| {
        for _ in 0..=row {
            table.next()?;
        }
        Ok(table.line())
    });
    line.map_or_else(|failure| failure, |line| Failure::line(file, line, message))
}

/// Values in another order.
fn reorder<T: Copy>(values: &mut Vec<T>, order: &[u32]) {
    if !values.is_empty() {
        *values = order.iter().map(|&row| values[row as usize]).collect();
    }
}

/// Reads bodies. `names` are the hulls' names; a body's hull is an index of them. With `in_f64` their positions are read as f64.
pub(crate) fn bodies<'a>(
    file: &'a Path,
    names: &[&str],
    with_motions: bool,
    in_f64: bool,
) -> Result<Bodies<'a>> {
    let hulls: HashMap<&str, u32> = names.iter().copied().zip(0..).collect();
    let mut table = Table::open(file, &KNOWN)?;
    let hull = table.required("hull")?;
    let position = [table.required("x")?, table.required("y")?, table.required("z")?];
    let rotation = table.together(["qx", "qy", "qz", "qw"])?;
    let scale = table.column("scale");
    let scales = table.together(["sx", "sy", "sz"])?;
    if scale.is_some() && scales.is_some() {
        return Err(Failure::line(file, 1, "columns scale and sx, sy, sz exclude one another"));
    }
    let scales = scale.map(|scale| [scale; 3]).or(scales);
    let [radius, group, mask] = ["radius", "group", "mask"].map(|name| table.column(name));
    let [world, body_id, part] = ["world", "body", "part"].map(|name| table.column(name));
    if part.is_some() && body_id.is_none() {
        return Err(Failure::line(file, 1, "column part needs column body"));
    }
    // A missing component of a velocity is 0; a quaternion needs all of its components.
    let [velocity, angular_velocity] =
        [VELOCITY, ANGULAR_VELOCITY].map(|names| names.map(|name| table.column(name)));
    let (mut bodies, mut motions, mut positions) = (Vec::new(), Vec::new(), Vec::new());
    let (mut worlds, mut part_rows, mut commons) = (Vec::new(), Vec::new(), Vec::new());
    while table.next()? {
        let name = table.name(hull)?;
        let &index = hulls.get(name).ok_or_else(|| {
            table.invalid(
                hull,
                format!("no hull is called \"{}\", there are {}", excerpt(name), first_names(names)),
            )
        })?;
        let mut body = Body::new(index);
        if in_f64 {
            positions.push(table.numbers(position)?);
        } else {
            body.position = table.numbers(position)?;
        }
        if let Some(columns) = rotation {
            body.rotation = table.numbers(columns)?;
            let length = body.rotation.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
            if (length - 1.0).abs() > 1e-3 {
                let message = format!("qx, qy, qz, qw have length {length:.6}, it must be 1 to within 0.001");
                return Err(table.invalid(columns[0], message));
            }
        }
        if let Some(columns) = scales {
            body.scale = table.numbers(columns)?;
            for (value, column) in body.scale.into_iter().zip(columns) {
                if value == 0.0 && is_positive(table.text(column)?) {
                    let text = excerpt(table.text(column)?);
                    return Err(table.invalid(column, format!("{text} is too small for a 32-bit float")));
                }
                if value <= 0.0 {
                    return Err(table.invalid(column, format!("{value} is not above zero")));
                }
            }
        }
        if let Some(column) = radius {
            body.padding = table.number(column)?;
            if body.padding < 0.0 {
                return Err(table.invalid(column, format!("{} is below zero", body.padding)));
            }
        }
        if let Some(column) = group {
            body.group = table.bits(column)?;
        }
        if let Some(column) = mask {
            body.mask = table.bits(column)?;
        }
        let motion = Motion {
            velocity: numbers_or_zero(&table, velocity)?,
            angular_velocity: numbers_or_zero(&table, angular_velocity)?,
        };
        if with_motions {
            motions.push(motion);
        }
        let own_world = world.map(|column| table.whole(column)).transpose()?;
        worlds.extend(own_world);
        if let Some(column) = body_id {
            let part = part.map(|column| table.whole(column)).transpose()?;
            part_rows.push((table.whole(column)?, part));
            commons.push(Common { world: own_world, groups: [body.group, body.mask], motion });
        }
        bodies.push(body);
    }
    let (parts, file_rows) = match body_id {
        None => (None, Vec::new()),
        Some(_) => {
            let failed = |row: usize, message: String| at_row(file, row, &message);
            let (parts, order) = Parts::new(&part_rows, &commons, failed)?;
            reorder(&mut bodies, &order);
            reorder(&mut positions, &order);
            reorder(&mut motions, &order);
            reorder(&mut worlds, &order);
            (Some(parts), order)
        }
    };
    Ok(Bodies { bodies, positions, motions, worlds, parts, exclusions: None, file_rows, file })
}

fn numbers_or_zero(table: &Table, columns: [Option<Column>; 3]) -> Result<[f32; 3]> {
    let mut values = [0.0; 3];
    for (value, column) in values.iter_mut().zip(columns) {
        if let Some(column) = column {
            *value = table.number(column)?;
        }
    }
    Ok(values)
}

/// The first names of a list, for a message.
fn first_names(names: &[&str]) -> String {
    let first: Vec<&str> = names.iter().copied().take(5).collect();
    match names.len() - first.len() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// Reads pairs of different bodies out of `body_count`.
pub(crate) fn pairs(file: &Path, body_count: usize) -> Result<Vec<[u32; 2]>> {
    let mut table = Table::open(file, &["a", "b"])?;
    let columns = [table.required("a")?, table.required("b")?];
    let mut pairs = Vec::new();
    while table.next()? {
        let mut pair = [0; 2];
        for (body, column) in pair.iter_mut().zip(columns) {
            *body = table.index(column)?;
            if *body as usize >= body_count {
                return Err(
                    table.invalid(column, format!("body {body} does not exist, there are {body_count}"))
                );
            }
        }
        if pair[0] == pair[1] {
            return Err(table.invalid(columns[1], format!("body {} is paired with itself", pair[0])));
        }
        pairs.push(pair);
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(name: &str, text: &str) -> String {
        let path = std::env::temp_dir().join(format!("hullfield-bodies-{}-{name}.csv", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let result = bodies(&path, &["box", "ball"], true, false).map(|found| found.bodies);
        std::fs::remove_file(&path).unwrap();
        let message = result.map(|bodies| format!("{bodies:?}")).unwrap_or_else(|error| error.to_string());
        message.rsplit_once(".csv: ").map(|(_, rest)| rest.to_owned()).unwrap_or(message)
    }

    #[test]
    fn errors_name_line_and_column() {
        let cases = [
            ("hull,x,y,z\nbox,0,0,nan\n", "line 2, column z: \"nan\" is not finite"),
            ("hull,x,y,z\n\nbox,0,0,0\nbox,0,,0\n", "line 4, column y: \"\" is not a number"),
            ("hull,x,y,z\nbox,0,0\n", "line 2, column z: missing: the row has 3 fields, 4 expected"),
            ("hull,x,y,z\nbox,0,0,0,0\n", "line 2: 5 fields, 4 expected"),
            (
                "hull,x,y,z\nbax,0,0,0\n",
                "line 2, column hull: no hull is called \"bax\", there are box, ball",
            ),
            ("hull,x,y,z,scale\nbox,0,0,0,0\n", "line 2, column scale: 0 is not above zero"),
            ("hull,x,y,z,scale\nbox,0,0,0,0e7\n", "line 2, column scale: 0 is not above zero"),
            (
                "hull,x,y,z,scale\nbox,0,0,0,1e-50\n",
                "line 2, column scale: 1e-50 is too small for a 32-bit float",
            ),
            ("hull,x,y,z,sx,sy,sz\nbox,0,0,0,1,-1,1\n", "line 2, column sy: -1 is not above zero"),
            ("hull,x,y,z,sx,sy\nbox,0,0,0,1,1\n", "line 1: column sz is missing: sx, sy, sz go together"),
            ("hull,x,y,z,scale,sx,sy,sz\n", "line 1: columns scale and sx, sy, sz exclude one another"),
            (
                "hull,x,y,z,qx,qy,qz,qw\nbox,0,0,0,0,0,0,1.01\n",
                "line 2, column qx: qx, qy, qz, qw have length 1.010000, it must be 1 to within 0.001",
            ),
            ("hull,x,y,z,radius\nbox,0,0,0,-1\n", "line 2, column radius: -1 is below zero"),
            ("hull,x,y,z,vz\nbox,0,0,0,inf\n", "line 2, column vz: \"inf\" is not finite"),
            ("hull,x,y,z,wx\nbox,0,0,0,\n", "line 2, column wx: \"\" is not a number"),
            (
                "hull,x,y,z,group\nbox,0,0,0,4294967296\n",
                "line 2, column group: \"4294967296\" is not a whole number from 0 to 4294967295",
            ),
            (
                "hull,x,y,z,mask\nbox,0,0,0,-1\n",
                "line 2, column mask: \"-1\" is not a whole number from 0 to 4294967295",
            ),
            ("hull,x,y\n", "line 1: column z is missing, the columns are \"hull, x, y\""),
            ("hull,x,y,z,x\n", "line 1: column x is there twice"),
            ("", "the file is empty"),
        ];
        for (i, (text, expected)) in cases.into_iter().enumerate() {
            assert_eq!(error_of(&i.to_string(), text), expected);
        }
        assert!(
            error_of("unknown", "hull,x,y,z,w\n")
                .starts_with("line 1: unknown column \"w\", known are hull, x")
        );
    }

    #[test]
    fn a_missing_component_of_a_velocity_is_zero() {
        let path = std::env::temp_dir().join(format!("hullfield-motions-{}.csv", std::process::id()));
        std::fs::write(&path, "hull,x,y,z,vy,wx,wz,mask,radius\nbox,0,0,0,3,4,5,6,0.5\n").unwrap();
        let found = bodies(&path, &["box"], true, false).unwrap();
        let motion = Motion { velocity: [0.0, 3.0, 0.0], angular_velocity: [4.0, 0.0, 5.0] };
        assert_eq!(found.motions, [motion]);
        assert_eq!(found.bodies, [Body::new(0).padded(0.5).grouped(u32::MAX, 6)]);
        assert!(found.positions.is_empty());
        let found = bodies(&path, &["box"], false, true).unwrap();
        assert!(found.motions.is_empty() && found.positions == [[0.0; 3]]);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn columns_come_in_any_order_and_with_spaces() {
        let text = error_of("order", "\u{feff}z, hull ,y,x,qw,qx,qy,qz\n3, ball ,2,1,1,0,0,0\n");
        assert_eq!(text, format!("{:?}", [Body::new(1).at([1.0, 2.0, 3.0])]));
    }
}
