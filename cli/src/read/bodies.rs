//! The tables of `collide`: bodies and pairs.

use std::collections::HashMap;
use std::path::Path;

use hullfield::Body;

use super::shown;
use super::table::Table;
use crate::failure::Result;

const KNOWN: [&str; 12] = ["hull", "x", "y", "z", "qx", "qy", "qz", "qw", "scale", "sx", "sy", "sz"];
const NOT_BUILT: [&str; 9] = ["radius", "vx", "vy", "vz", "wx", "wy", "wz", "group", "mask"];

/// Reads bodies; their ids are their row numbers from 0, their hulls rows of `names`.
pub(crate) fn bodies(file: &Path, names: &[&str]) -> Result<Vec<Body>> {
    let hulls: HashMap<&str, u32> = names.iter().copied().zip(0..).collect();
    let mut table = Table::open(file, &KNOWN, &NOT_BUILT)?;
    let hull = table.required("hull")?;
    let position = [table.required("x")?, table.required("y")?, table.required("z")?];
    let rotation = table.together(["qx", "qy", "qz", "qw"])?;
    let scale = table.column("scale");
    let scales = table.together(["sx", "sy", "sz"])?;
    if scale.is_some() && scales.is_some() {
        return Err(crate::failure::Failure::line(
            file,
            1,
            "columns scale and sx, sy, sz exclude one another",
        ));
    }
    let mut bodies = Vec::new();
    while table.next()? {
        let name = table.name(hull)?;
        let &index = hulls.get(name).ok_or_else(|| {
            table.wrong(hull, format!("no hull is called \"{}\", there are {}", shown(name), listed(names)))
        })?;
        let mut body = Body::new(index).at(table.numbers(position)?);
        if let Some(columns) = rotation {
            body.rotation = table.numbers(columns)?;
            let length = body.rotation.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
            if (length - 1.0).abs() > 1e-3 {
                let message = format!("qx, qy, qz, qw have length {length:.6}, it must be 1 to within 0.001");
                return Err(table.wrong(columns[0], message));
            }
        }
        let columns = scale.map(|scale| [scale; 3]).or(scales);
        if let Some(columns) = columns {
            body.scale = table.numbers(columns)?;
            for (value, column) in body.scale.into_iter().zip(columns) {
                if value <= 0.0 {
                    return Err(table.wrong(column, format!("{value} is not above zero")));
                }
            }
        }
        bodies.push(body);
    }
    Ok(bodies)
}

/// The first names of a list, for a message.
fn listed(names: &[&str]) -> String {
    let first: Vec<&str> = names.iter().copied().take(5).collect();
    match names.len() - first.len() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// Reads pairs of different bodies out of `body_count`.
pub(crate) fn pairs(file: &Path, body_count: usize) -> Result<Vec<[u32; 2]>> {
    let mut table = Table::open(file, &["a", "b"], &[])?;
    let columns = [table.required("a")?, table.required("b")?];
    let mut pairs = Vec::new();
    while table.next()? {
        let mut pair = [0; 2];
        for (body, column) in pair.iter_mut().zip(columns) {
            *body = table.index(column)?;
            if *body as usize >= body_count {
                return Err(
                    table.wrong(column, format!("body {body} does not exist, there are {body_count}"))
                );
            }
        }
        if pair[0] == pair[1] {
            return Err(table.wrong(columns[1], format!("body {} is paired with itself", pair[0])));
        }
        pairs.push(pair);
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(name: &str, text: &str) -> String {
        let path = std::env::temp_dir().join(format!("hullfield-bodies-{}-{name}.csv", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let result = bodies(&path, &["box", "ball"]);
        std::fs::remove_file(&path).unwrap();
        let message = result.map(|bodies| format!("{bodies:?}")).unwrap_or_else(|error| error.to_string());
        message.rsplit_once(".csv: ").map(|(_, rest)| rest.to_owned()).unwrap_or(message)
    }

    #[test]
    fn faults_name_line_and_column() {
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
            ("hull,x,y,z,sx,sy,sz\nbox,0,0,0,1,-1,1\n", "line 2, column sy: -1 is not above zero"),
            ("hull,x,y,z,sx,sy\nbox,0,0,0,1,1\n", "line 1: column sz is missing: sx, sy, sz come together"),
            ("hull,x,y,z,scale,sx,sy,sz\n", "line 1: columns scale and sx, sy, sz exclude one another"),
            (
                "hull,x,y,z,qx,qy,qz,qw\nbox,0,0,0,0,0,0,1.01\n",
                "line 2, column qx: qx, qy, qz, qw have length 1.010000, it must be 1 to within 0.001",
            ),
            ("hull,x,y,z,radius\n", "line 1: column radius is not built yet"),
            ("hull,x,y\n", "line 1: column z is missing, the columns are \"hull, x, y\""),
            ("hull,x,y,z,x\n", "line 1: column x stands there twice"),
            ("", "line 1: column hull is missing, the columns are \"\""),
        ];
        for (i, (text, expected)) in cases.into_iter().enumerate() {
            assert_eq!(fault(&i.to_string(), text), expected);
        }
        assert!(
            fault("unknown", "hull,x,y,z,w\n").starts_with("line 1: unknown column \"w\", known are hull, x")
        );
    }

    #[test]
    fn columns_come_in_any_order_and_with_spaces() {
        let text = fault("order", "\u{feff}z, hull ,y,x,qw,qx,qy,qz\n3, ball ,2,1,1,0,0,0\n");
        assert_eq!(text, format!("{:?}", [Body::new(1).at([1.0, 2.0, 3.0])]));
    }
}
