//! What is asked of a surface: tables of queries and of faces.

use std::path::Path;

use hullfield::SurfaceLink;

use super::table::{Column, Table};
use super::{number, shown};
use crate::failure::{Failure, Result};

/// A start and a goal.
pub(crate) type Query = [[f64; 3]; 2];

/// Reads `x0,y0,z0,x1,y1,z1`.
pub(crate) fn queries(path: &Path) -> Result<Vec<Query>> {
    let names = ["x0", "y0", "z0", "x1", "y1", "z1"];
    let mut table = Table::open(path, &names)?;
    let mut columns: Vec<Column> = Vec::with_capacity(6);
    for name in names {
        columns.push(table.required(name)?);
    }
    let mut queries = Vec::new();
    while table.next()? {
        let mut query = [[0.0; 3]; 2];
        for (value, &column) in query.as_flattened_mut().iter_mut().zip(&columns) {
            *value = number(table.text(column)?).map_err(|message| table.wrong(column, message))?;
        }
        queries.push(query);
    }
    Ok(queries)
}

/// Reads `x1,y1,z1`: the goals of one source.
pub(crate) fn goals(path: &Path) -> Result<Vec<[f64; 3]>> {
    let mut table = Table::open(path, &["x1", "y1", "z1"])?;
    let columns = [table.required("x1")?, table.required("y1")?, table.required("z1")?];
    let mut goals = Vec::new();
    while table.next()? {
        let mut goal = [0.0; 3];
        for (value, column) in goal.iter_mut().zip(columns) {
            *value = number(table.text(column)?).map_err(|message| table.wrong(column, message))?;
        }
        goals.push(goal);
    }
    Ok(goals)
}

/// Reads `x0,y0,z0,x1,y1,z1` and, where they are there, `cost` (the distance of the two points where it is not) and
/// `two_way` (0 or 1; 0). The line of each comes with it.
pub(crate) fn links(path: &Path) -> Result<Vec<(SurfaceLink, u64)>> {
    let names = ["x0", "y0", "z0", "x1", "y1", "z1"];
    let mut table = Table::open(path, &[&names[..], &["cost", "two_way"]].concat())?;
    let mut columns: Vec<Column> = Vec::with_capacity(6);
    for name in names {
        columns.push(table.required(name)?);
    }
    let (cost, two_way) = (table.column("cost"), table.column("two_way"));
    let mut links = Vec::new();
    while table.next()? {
        let value = |column: Column| {
            number::<f64>(table.text(column)?).map_err(|message| table.wrong(column, message))
        };
        let mut ends = [[0.0; 3]; 2];
        for (part, &column) in ends.as_flattened_mut().iter_mut().zip(&columns) {
            *part = value(column)?;
        }
        let [from, to] = ends;
        let distance = (0..3).map(|k| (to[k] - from[k]).powi(2)).sum::<f64>().sqrt();
        let two_way = match two_way {
            None => false,
            Some(column) => match table.text(column)? {
                "0" => false,
                "1" => true,
                text => return Err(table.wrong(column, format!("\"{}\" is neither 0 nor 1", shown(text)))),
            },
        };
        links
            .push((SurfaceLink { from, to, cost: cost.map_or(Ok(distance), value)?, two_way }, table.line()));
    }
    Ok(links)
}

/// Reads `model,face`, both from 0; without the column `model` all faces are those of the only one. `face_counts` are those
/// of the models.
pub(crate) fn faces(path: &Path, face_counts: &[usize]) -> Result<Vec<[u32; 2]>> {
    let mut table = Table::open(path, &["model", "face"])?;
    let column = table.required("face")?;
    let of_model = table.column("model");
    if of_model.is_none() && face_counts.len() != 1 {
        return Err(Failure::line(path, 1, "column model is missing, and there are several models"));
    }
    let mut faces = Vec::new();
    while table.next()? {
        let model = of_model.map_or(Ok(0), |column| table.index(column))?;
        let Some(&face_count) = face_counts.get(model as usize) else {
            let message = format!("model {model} does not exist, there are {}", face_counts.len());
            return Err(table.wrong(of_model.unwrap_or(column), message));
        };
        let face = table.index(column)?;
        if face as usize >= face_count {
            let message = format!("face {face} does not exist, model {model} has {face_count}");
            return Err(table.wrong(column, message));
        }
        faces.push([model, face]);
    }
    Ok(faces)
}

/// `x,y,z`, as an option takes it.
pub(crate) fn point(option: &str, text: &str) -> Result<[f64; 3]> {
    let wrong = |message: String| Failure::input(format!("{option}: {message}"));
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    match words.as_slice() {
        [x, y, z] => {
            let mut point = [0.0; 3];
            for (value, word) in point.iter_mut().zip([x, y, z]) {
                *value = number(word).map_err(wrong)?;
            }
            Ok(point)
        }
        _ => Err(wrong(format!("\"{}\" is not x,y,z", shown(text)))),
    }
}
