//! `hullfield demo`: the three jobs on bundled scenes. Ten thousand bodies collide, a field flows, paths crawl over a
//! model; each is checked in a second way, and drawn.

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
use self::path::Crawl;
use super::{common_json, extend, print_json};
use crate::failure::{Failure, Result};
use crate::output::{check_folder, to_stdout};

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let begun = Instant::now();
    check_folder("--out", Some(&arguments.out))?;
    std::fs::create_dir_all(&arguments.out).map_err(|error| Failure::unwritable(&arguments.out, &error))?;
    let engine = arguments.engine.open()?;
    let say = |write: &dyn Fn(&mut dyn Write) -> std::io::Result<()>| match arguments.json {
        true => Ok(()),
        false => to_stdout(|writer| write(writer)),
    };
    say(&|writer| {
        let Arguments { bodies, frames, .. } = arguments;
        writeln!(
            writer,
            "engine: {}\n\n1. who touches whom: {bodies} bodies, {frames} frames",
            engine.reason()
        )
    })?;
    let collide = Collide::run(arguments, &engine)?;
    say(&|writer| collide.write(writer))?;
    say(&|writer| writeln!(writer, "\n2. which way is the goal: a field over a cave, and who follows it"))?;
    let field = FlowField::run(arguments, &engine)?;
    say(&|writer| field.write(writer))?;
    say(&|writer| writeln!(writer, "\n3. the shortest way there: paths over a model, all around it"))?;
    let crawl = Crawl::run(arguments)?;
    say(&|writer| crawl.write(writer))?;
    if arguments.json {
        let mut object = common_json(Some(&engine), begun, collide.stages(), collide.counts(arguments));
        extend(&mut object, collide.json(arguments));
        extend(&mut object, json!({ "flow": field.json(), "path": crawl.json() }));
        print_json(&object)?;
    }
    match collide.fault().or(field.fault()).or(crawl.fault()) {
        Some(fault) => Err(Failure::Failed(format!("the check failed: {fault}"))),
        None => Ok(()),
    }
}
