//! Tables of queries, goals, links and faces of a surface.

use std::path::Path;

use hullfield::navigate::surface::Link as SurfaceLink;

use super::table::{Column, Table};
use super::text::{excerpt, number};
use crate::failure::{Failure, Result};

/// A face as the user names it: its model, optional if there is only one, and its number.
pub(crate) type FaceName = (Option<u32>, u32);

/// A start or a goal: a position, and optionally the face that it is on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct QueryEnd {
    pub(crate) position: [f64; 3],
    pub(crate) face: Option<FaceName>,
}

/// A start, a goal and their line in the file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Query {
    pub(crate) ends: [QueryEnd; 2],
    pub(crate) line: u64,
}

/// The columns of a start or a goal.
struct EndColumns {
    position: [Column; 3],
    model: Option<Column>,
    face: Option<Column>,
}

impl EndColumns {
    /// The names of the columns, such as `x0`.
    fn names(end: usize) -> [String; 5] {
        ["x", "y", "z", "model", "face"].map(|name| format!("{name}{end}"))
    }

    fn find(table: &Table, end: usize) -> Result<Self> {
        let [x, y, z, model, face] = Self::names(end);
        let position = [table.required(&x)?, table.required(&y)?, table.required(&z)?];
        let (model_column, face_column) = (table.column(&model), table.column(&face));
        if model_column.is_some() {
            // A model without a face has no meaning.
            table.required(&face)?;
        }
        Ok(Self { position, model: model_column, face: face_column })
    }

    fn read(&self, table: &Table) -> Result<QueryEnd> {
        let mut position = [0.0; 3];
        for (value, &column) in position.iter_mut().zip(&self.position) {
            *value = number(table.text(column)?).map_err(|message| table.invalid(column, message))?;
        }
        let index = |column: Option<Column>| -> Result<Option<u32>> {
            let Some(column) = column else { return Ok(None) };
            if table.text(column)?.is_empty() { Ok(None) } else { table.whole(column).map(Some) }
        };
        let face = match (index(self.model)?, index(self.face)?, self.face) {
            (model, Some(face), _) => Some((model, face)),
            (Some(model), None, Some(column)) => {
                return Err(table.invalid(column, format!("empty, but model {model} is named")));
            }
            _ => None,
        };
        Ok(QueryEnd { position, face })
    }
}

/// The model and face of a name. `face_counts` has a number for each model. An error says whether the model is at fault.
pub(crate) fn named_face((model, face): FaceName, face_counts: &[usize]) -> Result<[u32; 2], (bool, String)> {
    let model = match (model, face_counts.len()) {
        (Some(model), _) => model,
        (None, 1) => 0,
        (None, count) => return Err((true, format!("no model is named, and there are {count}"))),
    };
    let Some(&face_count) = face_counts.get(model as usize) else {
        return Err((true, format!("model {model} does not exist, there are {}", face_counts.len())));
    };
    if face as usize >= face_count {
        return Err((false, format!("face {face} does not exist, model {model} has {face_count}")));
    }
    Ok([model, face])
}

/// Reads the columns `x0,y0,z0,x1,y1,z1` and optionally `model0,face0,model1,face1`, whose fields may be empty.
pub(crate) fn queries(path: &Path) -> Result<Vec<Query>> {
    let names = [EndColumns::names(0), EndColumns::names(1)].concat();
    let mut table = Table::open(path, &names.iter().map(String::as_str).collect::<Vec<_>>())?;
    let [start, goal] = [EndColumns::find(&table, 0)?, EndColumns::find(&table, 1)?];
    let mut queries = Vec::new();
    while table.next()? {
        queries.push(Query { ends: [start.read(&table)?, goal.read(&table)?], line: table.line() });
    }
    Ok(queries)
}

/// Reads goals for one source: the columns `x1,y1,z1` and optionally `model1,face1`.
pub(crate) fn goals(path: &Path, source: QueryEnd) -> Result<Vec<Query>> {
    let names = EndColumns::names(1);
    let mut table = Table::open(path, &names.each_ref().map(String::as_str))?;
    let goal = EndColumns::find(&table, 1)?;
    let mut goals = Vec::new();
    while table.next()? {
        goals.push(Query { ends: [source, goal.read(&table)?], line: table.line() });
    }
    Ok(goals)
}

/// Reads links with their lines: the columns `x0,y0,z0,x1,y1,z1` and optionally `cost` (default: the distance of the points)
/// and `two_way` (0 or 1, default 0).
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
            number::<f64>(table.text(column)?).map_err(|message| table.invalid(column, message))
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
                text => {
                    return Err(table.invalid(column, format!("\"{}\" is neither 0 nor 1", excerpt(text))));
                }
            },
        };
        links
            .push((SurfaceLink { from, to, cost: cost.map_or(Ok(distance), value)?, two_way }, table.line()));
    }
    Ok(links)
}

/// Reads the columns `model,face`, both from 0. With a single model the column `model` is optional. `face_counts` has a number
/// for each model.
pub(crate) fn faces(path: &Path, face_counts: &[usize]) -> Result<Vec<[u32; 2]>> {
    let mut table = Table::open(path, &["model", "face"])?;
    let column = table.required("face")?;
    let model_column = table.column("model");
    if model_column.is_none() && face_counts.len() != 1 {
        return Err(Failure::line(path, 1, "column model is missing, and there are several models"));
    }
    let mut faces = Vec::new();
    while table.next()? {
        let model = model_column.map_or(Ok(0), |column| table.whole(column))?;
        let Some(&face_count) = face_counts.get(model as usize) else {
            let message = format!("model {model} does not exist, there are {}", face_counts.len());
            return Err(table.invalid(model_column.unwrap_or(column), message));
        };
        let face = table.whole(column)?;
        if face as usize >= face_count {
            let message = format!("face {face} does not exist, model {model} has {face_count}");
            return Err(table.invalid(column, message));
        }
        faces.push([model, face]);
    }
    Ok(faces)
}

/// Reads `x,y,z` from a flag.
pub(crate) fn point(option: &str, text: &str) -> Result<[f64; 3]> {
    let invalid = |message: String| Failure::input(format!("{option}: {message}"));
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    match words.as_slice() {
        [x, y, z] => {
            let mut point = [0.0; 3];
            for (value, word) in point.iter_mut().zip([x, y, z]) {
                *value = number(word).map_err(invalid)?;
            }
            Ok(point)
        }
        _ => Err(invalid(format!("\"{}\" is not x,y,z", excerpt(text)))),
    }
}

/// Reads `face` or `model,face` from a flag.
pub(crate) fn face(option: &str, text: &str) -> Result<FaceName> {
    let number = |word: &str| {
        word.trim().parse().map_err(|_| {
            Failure::input(format!(
                "{option}: \"{}\" is not FACE or MODEL,FACE, numbers from 0",
                excerpt(text)
            ))
        })
    };
    match text.split_once(',') {
        Some((model, face)) => Ok((Some(number(model)?), number(face)?)),
        None => Ok((None, number(text)?)),
    }
}
