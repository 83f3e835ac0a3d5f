//! What is asked of a surface: tables of queries and of faces.

use std::path::Path;

use hullfield::navigate::surface::Link as SurfaceLink;

use super::table::{Column, Table};
use super::text::{number, shown};
use crate::failure::{Failure, Result};

/// A face as it is named: its model, which may be left out where there is one, and its number.
pub(crate) type FaceName = (Option<u32>, u32);

/// A start or a goal: where it is, and the face that it is on, where that is named.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct QueryEnd {
    pub(crate) position: [f64; 3],
    pub(crate) face: Option<FaceName>,
}

/// A start and a goal, and the line of the file that they stand on.
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
    /// The names that may stand in a file: `x0` and the like.
    fn names(end: usize) -> [String; 5] {
        ["x", "y", "z", "model", "face"].map(|name| format!("{name}{end}"))
    }

    fn find(table: &Table, end: usize) -> Result<Self> {
        let [x, y, z, model, face] = Self::names(end);
        let position = [table.required(&x)?, table.required(&y)?, table.required(&z)?];
        let (model, of_face) = (table.column(&model), table.column(&face));
        if model.is_some() {
            // A model alone names nothing.
            table.required(&face)?;
        }
        Ok(Self { position, model, face: of_face })
    }

    fn read(&self, table: &Table) -> Result<QueryEnd> {
        let mut position = [0.0; 3];
        for (value, &column) in position.iter_mut().zip(&self.position) {
            *value = number(table.text(column)?).map_err(|message| table.wrong(column, message))?;
        }
        let index = |column: Option<Column>| -> Result<Option<u32>> {
            let Some(column) = column else { return Ok(None) };
            if table.text(column)?.is_empty() { Ok(None) } else { table.whole(column).map(Some) }
        };
        let face = match (index(self.model)?, index(self.face)?, self.face) {
            (model, Some(face), _) => Some((model, face)),
            (Some(model), None, Some(column)) => {
                return Err(table.wrong(column, format!("empty, but the model {model} is named")));
            }
            _ => None,
        };
        Ok(QueryEnd { position, face })
    }
}

/// The face that a name is of. `face_counts` are those of the models. A fault is told with whether it lies in the model.
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

/// Reads `x0,y0,z0,x1,y1,z1` and, where they are there, `model0,face0,model1,face1`, which may be empty.
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

/// Reads `x1,y1,z1` and, where they are there, `model1,face1`: the goals of one source.
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
        let model = of_model.map_or(Ok(0), |column| table.whole(column))?;
        let Some(&face_count) = face_counts.get(model as usize) else {
            let message = format!("model {model} does not exist, there are {}", face_counts.len());
            return Err(table.wrong(of_model.unwrap_or(column), message));
        };
        let face = table.whole(column)?;
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

/// `face` or `model,face`, as an option takes it.
pub(crate) fn face(option: &str, text: &str) -> Result<FaceName> {
    let number = |word: &str| {
        word.trim().parse().map_err(|_| {
            Failure::input(format!("{option}: \"{}\" is not FACE or MODEL,FACE, numbers from 0", shown(text)))
        })
    };
    match text.split_once(',') {
        Some((model, face)) => Ok((Some(number(model)?), number(face)?)),
        None => Ok((None, number(text)?)),
    }
}
