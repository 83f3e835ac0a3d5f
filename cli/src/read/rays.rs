//! Tables of rays and of points in a world.

use std::path::Path;

use hullfield::collide::Ray;
use hullfield::{Error, Location};

use super::table::{Column, Table};
use super::text::Real;
use crate::failure::{Failure, Result};

const RAY_COLUMNS: [&str; 8] = ["ox", "oy", "oz", "dx", "dy", "dz", "max", "world"];
const POINT_COLUMNS: [&str; 4] = ["x", "y", "z", "world"];

/// The rays of a file.
#[derive(Debug, Default)]
pub(crate) struct Rays {
    pub(crate) rays: Vec<Ray>,
    /// Where they start in f64; empty where they start at their own origins.
    pub(crate) origins: Vec<[f64; 3]>,
    /// The world of each, where the file says it.
    pub(crate) worlds: Option<Vec<u32>>,
}

/// The points of a file.
#[derive(Debug)]
pub(crate) struct Points<T> {
    pub(crate) points: Vec<[T; 3]>,
    /// The world of each, where the file says it.
    pub(crate) worlds: Option<Vec<u32>>,
}

/// Reads rays. With `in_f64` their origins are a list of their own, else that is empty.
pub(crate) fn rays(file: &Path, in_f64: bool) -> Result<Rays> {
    let mut table = Table::open(file, &RAY_COLUMNS)?;
    let origin = [table.required("ox")?, table.required("oy")?, table.required("oz")?];
    let direction = [table.required("dx")?, table.required("dy")?, table.required("dz")?];
    let (most, world) = (table.column("max"), table.column("world"));
    let mut found = Rays { worlds: world.map(|_| Vec::new()), ..Rays::default() };
    while table.next()? {
        let start = if in_f64 {
            found.origins.push(table.numbers(origin)?);
            [0.0; 3]
        } else {
            table.numbers(origin)?
        };
        let mut ray = Ray::new(start, read_direction(&table, direction)?);
        if let Some(column) = most
            && table.text(column)? != "inf"
        {
            ray.max_distance = table.number(column)?;
            if ray.max_distance < 0.0 {
                return Err(table.invalid(column, format!("{} is below zero", ray.max_distance)));
            }
        }
        if let (Some(worlds), Some(column)) = (&mut found.worlds, world) {
            worlds.push(table.whole(column)?);
        }
        found.rays.push(ray);
    }
    Ok(found)
}

/// A direction of any length. One that is very short or long is divided by its largest component: f32 holds few of its digits, or none.
fn read_direction(table: &Table, columns: [Column; 3]) -> Result<[f32; 3]> {
    let direction: [f64; 3] = table.numbers(columns)?;
    let most = direction.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if most == 0.0 {
        return Err(table.invalid(columns[0], "dx, dy, dz are 0, a direction has a length"));
    }
    if (1e-30..=1e30).contains(&most) {
        return table.numbers(columns);
    }
    Ok(direction.map(|x| (x / most) as f32))
}

/// Reads points in the world, as f32 or as f64.
pub(crate) fn world_points<T: Real + Default>(file: &Path) -> Result<Points<T>> {
    let mut table = Table::open(file, &POINT_COLUMNS)?;
    let columns = [table.required("x")?, table.required("y")?, table.required("z")?];
    let world = table.column("world");
    let mut found = Points { points: Vec::new(), worlds: world.map(|_| Vec::new()) };
    while table.next()? {
        found.points.push(table.numbers(columns)?);
        if let (Some(worlds), Some(column)) = (&mut found.worlds, world) {
            worlds.push(table.whole(column)?);
        }
    }
    Ok(found)
}

/// Turns the library's error about a ray or a point into one that names the file and the line; `None` for another error. `first` is the
/// row of the query's first one.
pub(crate) fn ray_error_at_line(file: &Path, first: usize, error: &Error) -> Option<Failure> {
    let Error::Value { at: Location::Ray(row) | Location::Point(row), .. } = error else { return None };
    let text = error.to_string();
    let message = text.split_once(": ").map_or(text.as_str(), |(_, message)| message);
    let known: Vec<&str> = RAY_COLUMNS.into_iter().chain(POINT_COLUMNS).collect();
    let line = Table::open(file, &known).and_then(|mut table| {
        for _ in 0..=first + row {
            table.next()?;
        }
        Ok(table.line())
    });
    Some(line.map_or_else(|failure| failure, |line| Failure::line(file, line, message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T>(name: &str, text: &str, read: impl FnOnce(&Path) -> Result<T>) -> Result<T, String> {
        let path = std::env::temp_dir().join(format!("hullfield-rays-{}-{name}.csv", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let result = read(&path);
        std::fs::remove_file(&path).unwrap();
        result.map_err(|error| error.to_string().rsplit_once(".csv: ").unwrap().1.to_owned())
    }

    fn plain(file: &Path) -> Result<Vec<Ray>> {
        let Rays { rays, origins, worlds } = rays(file, false)?;
        assert!(origins.is_empty() && worlds.is_none());
        Ok(rays)
    }

    #[test]
    fn origins_in_f64_keep_their_digits() {
        let text = "ox,oy,oz,dx,dy,dz\n10000000.000001,0.1,-1e300,0,0,1\n";
        let found = read("far", text, |file| rays(file, true)).unwrap();
        assert_eq!(found.origins, [[10_000_000.000_001, 0.1, -1e300]]);
        assert_eq!(found.rays, [Ray::new([0.0; 3], [0.0, 0.0, 1.0])]);
        let found = read("far-points", "x,y,z\n1e9,0.1,0.3\n", world_points::<f64>).unwrap();
        assert_eq!(found.points, [[1e9, 0.1, 0.3]]);
    }

    #[test]
    fn rays_have_an_optional_end() {
        let found = read("good", "dx,dy,dz,ox,oy,oz\n0,0,-2,1,2,3\n", plain).unwrap();
        assert_eq!(found, [Ray::new([1.0, 2.0, 3.0], [0.0, 0.0, -2.0])]);
        let found = read("end", "ox,oy,oz,dx,dy,dz,max\n0,0,0,1,0,0,2.5\n0,0,0,1,0,0,inf\n", plain).unwrap();
        let ray = Ray::new([0.0; 3], [1.0, 0.0, 0.0]);
        assert_eq!(found, [ray.up_to(2.5), ray]);
        let found = read("points", "z,y,x\n3,2,1\n", world_points::<f32>).unwrap();
        assert_eq!((found.points, found.worlds), (vec![[1.0, 2.0, 3.0]], None));
    }

    /// 1e-46 was 0 and an error, 1e39 too large, and of 1e-45 and 2e-45 only the ratio of two f32 was left.
    #[test]
    fn directions_have_any_length() {
        let text = "ox,oy,oz,dx,dy,dz\n0,0,0,1e-46,0,-2e-46\n0,0,0,1e39,1e39,0\n0,0,0,-1e-45,2e-45,0\n0,0,0,1e300,0,0\n0,0,0,5e-324,0,0\n";
        let found: Vec<_> = read("lengths", text, plain).unwrap().iter().map(|ray| ray.direction).collect();
        let expected =
            [[0.5, 0.0, -1.0], [1.0, 1.0, 0.0], [-0.5, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]];
        assert_eq!(found, expected);
        let text = "ox,oy,oz,dx,dy,dz\n0,0,0,0.1,1e-50,3e-30\n0,0,0,0,-0,0\n";
        let error = read("no-length", text, plain).unwrap_err();
        assert_eq!(error, "line 3, column dx: dx, dy, dz are 0, a direction has a length");
    }

    #[test]
    fn a_world_is_a_number() {
        let text = "world,ox,oy,oz,dx,dy,dz\n7,1,2,3,0,0,-2\n4294967295,1,2,3,0,0,-2\n";
        assert_eq!(read("worlds", text, |file| rays(file, false)).unwrap().worlds, Some(vec![7, u32::MAX]));
        let found = read("of-points", "x,y,z,world\n1,2,3,0\n", world_points::<f64>).unwrap();
        assert_eq!((found.points, found.worlds), (vec![[1.0, 2.0, 3.0]], Some(vec![0])));
        for bad in ["", "-1", "0.5", "4294967296", "a"] {
            let text = format!("x,y,z,world\n1,2,3,0\n1,2,3,{bad}\n");
            let error = read("bad-world", &text, world_points::<f32>).unwrap_err();
            assert!(error.starts_with("line 3, column world: "), "{error}");
        }
    }

    #[test]
    fn errors_name_line_and_column() {
        let head = "ox,oy,oz,dx,dy,dz,max";
        let cases = [
            (
                format!("{head}\n0,0,0,0,0,0,1\n"),
                "line 2, column dx: dx, dy, dz are 0, a direction has a length",
            ),
            (format!("{head}\n\n0,0,0,1,0,0,-1\n"), "line 3, column max: -1 is below zero"),
            (format!("{head}\n0,0,0,1,0,0,nan\n"), "line 2, column max: \"nan\" is not finite"),
            (format!("{head}\n0,0,0,1,0,0,\n"), "line 2, column max: \"\" is not a number"),
            (format!("{head}\n0,inf,0,1,0,0,1\n"), "line 2, column oy: \"inf\" is not finite"),
            (
                format!("{head},body\n"),
                "line 1: unknown column \"body\", known are ox, oy, oz, dx, dy, dz, max, world",
            ),
            (
                "ox,oy,oz,dx,dy\n".to_owned(),
                "line 1: column dz is missing, the columns are \"ox, oy, oz, dx, dy\"",
            ),
            (String::new(), "the file is empty"),
        ];
        for (at, (text, expected)) in cases.into_iter().enumerate() {
            assert_eq!(read(&at.to_string(), &text, plain).unwrap_err(), expected);
        }
        assert_eq!(
            read("point", "x,y,z\n1,2,x\n", world_points::<f32>).unwrap_err(),
            "line 2, column z: \"x\" is not a number"
        );
    }
}
