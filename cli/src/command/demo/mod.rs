//! `hullfield demo`: three jobs on scenes made in code: bodies that collide, a field of distances, and paths over a model.
//! Each is checked in a second way, and drawn.

mod arguments;
mod collide;
mod field;
mod model;
mod path;

use std::io::Write;
use std::time::Instant;

use serde_json::json;

pub(crate) use self::arguments::Arguments;
use self::collide::Collide;
use self::field::FlowField;
use self::path::SurfacePaths;
use super::{common_json, extend, print_json};
use crate::failure::{Failure, Result};
use crate::output::{check_folder, to_stdout};

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let started = Instant::now();
    check_folder("--out", Some(&arguments.out))?;
    std::fs::create_dir_all(&arguments.out).map_err(|error| Failure::unwritable(&arguments.out, &error))?;
    let engine = arguments.engine.open()?;
    let print = |write: &dyn Fn(&mut dyn Write) -> std::io::Result<()>| match arguments.json {
        true => Ok(()),
        false => to_stdout(|writer| write(writer)),
    };
    print(&|writer| {
        let Arguments { bodies, frames, .. } = arguments;
        writeln!(
            writer,
            "engine: {}\n\n1. who touches whom: {bodies} bodies, {frames} frames",
            engine.reason()
        )
    })?;
    let collide = Collide::run(arguments, &engine)?;
    print(&|writer| collide.write(writer))?;
    print(&|writer| writeln!(writer, "\n2. which way is the goal: a field over a cave, and who follows it"))?;
    let field = FlowField::run(arguments, &engine)?;
    print(&|writer| field.write(writer))?;
    print(&|writer| writeln!(writer, "\n3. the shortest way there: paths over a model, all around it"))?;
    let paths = SurfacePaths::run(arguments)?;
    print(&|writer| paths.write(writer))?;
    if arguments.json {
        let mut object = common_json(Some(&engine), started, collide.stages(), collide.counts(arguments));
        extend(&mut object, collide.json(arguments));
        extend(&mut object, json!({ "flow": field.json(), "path": paths.json() }));
        print_json(&object)?;
    }
    match collide.error().or(field.error()).or(paths.error()) {
        Some(error) => Err(Failure::Failed(format!("the check failed: {error}"))),
        None => Ok(()),
    }
}
