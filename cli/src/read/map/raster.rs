//! A flat map in files, with or without costs, read a window at a time.

use std::path::Path;

use hullfield::flow::{Connectivity, CostRule, FrictionScale, GridFrame, Raster, RasterWindow};
use hullfield::{Error, Location};

use super::occupancy::Map;
use crate::failure::{Failure, Result};
use crate::output::warn;
use crate::read::raster::{Georeference, RasterFile, is_raster};

/// What the numbers of a map mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MapValues {
    /// 0 is road, 1 an obstacle.
    Obstacles,
    /// What entering a cell costs; an obstacle where that is 0 or less.
    Friction,
}

/// What entering each cell costs.
#[derive(Debug)]
struct Friction {
    file: RasterFile,
    /// Whether 0 and negative costs are obstacles, as in GeoTIFF and raw files; else they are errors.
    has_obstacles: bool,
    /// What floats are scaled by.
    scale: Option<FrictionScale>,
    /// The least and the largest of the floats that are scaled.
    range: [f64; 2],
}

/// A flat map: its obstacles, what entering each cell costs, or both.
#[derive(Debug)]
pub(crate) struct MapRaster {
    obstacles: Option<RasterFile>,
    friction: Option<Friction>,
}

impl Friction {
    fn open(path: &Path, has_obstacles: bool, cache_bytes: u64) -> Result<Self> {
        let file = RasterFile::open(path, cache_bytes)?;
        let is_cost = ["u16", "u32"].contains(&file.kind.name().as_str());
        if !has_obstacles && !is_cost && !file.kind.is_float() {
            return Err(Failure::file(path, "u16 or u32 expected, or floats"));
        }
        Ok(Self { file, has_obstacles, scale: None, range: [1.0; 2] })
    }

    /// Reads cells of floats: friction that is no number, infinite, 0 or less, and no data, are NaN.
    fn read_floats(
        &self,
        window: RasterWindow,
        mut segment: impl FnMut(usize, &[f64]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let file = &self.file;
        let mut friction = Vec::new();
        file.read(window, &mut |first, cells| {
            friction.clear();
            file.kind.each_float(cells, |_, value| {
                let has_data = value > 0.0
                    && value < f64::INFINITY
                    && !file.no_data.is_some_and(|number| number.is_float(value));
                friction.push(if has_data { value } else { f64::NAN });
            });
            segment(first, &friction)
        })
    }

    fn read(&self, window: RasterWindow, costs: &mut [u32]) -> Result<(), Error> {
        let file = &self.file;
        if let Some(scale) = &self.scale {
            return self.read_floats(window, |first, friction| {
                let width = friction.len() as u32;
                let row = RasterWindow { x: 0, y: 0, width, height: 1 };
                scale.costs(friction, row, &mut costs[first..first + friction.len()]).map_err(|error| {
                    let message = format!("{}: it changed while it was read: {error}", file.path.display());
                    Error::Invalid { at: Location::Argument, message }
                })
            });
        }
        let no_data = file.no_data.and_then(|number| number.whole);
        file.read(window, &mut |first, cells| {
            let mut wrong = None;
            let costs = &mut costs[first..first + cells.len() / file.kind.bytes];
            file.kind.each_whole(cells, |place, value| {
                costs[place] = if value <= 0 || Some(value) == no_data { 0 } else { value as u32 };
                if value > i64::from(u32::MAX) && costs[place] != 0 && wrong.is_none() {
                    wrong = Some((first + place, value));
                }
            });
            if let Some((place, value)) = wrong {
                let allowed = "it must be 4294967295 at most";
                return Err(file.cell_error(window, place, "cost", value, allowed));
            }
            match costs.iter().position(|&cost| cost == 0) {
                Some(place) if !self.has_obstacles => {
                    Err(file.cell_error(window, first + place, "cost", 0, "it must be 1 or more"))
                }
                _ => Ok(()),
            }
        })
    }
}

impl MapRaster {
    /// Opens a map, and costs beside it. `values` says what the map's numbers are; by default those of GeoTIFF and raw files are friction where no
    /// costs are given beside them, and others obstacles. `cache_bytes` is what decoded strips or tiles may take.
    pub(crate) fn open(
        map: &Path,
        costs: Option<&Path>,
        values: Option<MapValues>,
        cache_bytes: u64,
    ) -> Result<Self> {
        let default =
            if is_raster(map) && costs.is_none() { MapValues::Friction } else { MapValues::Obstacles };
        let cache_bytes = if costs.is_some() { cache_bytes / 2 } else { cache_bytes };
        if values.unwrap_or(default) == MapValues::Friction {
            if costs.is_some() {
                return Err(Failure::input(
                    "--cost: the map's own numbers are friction, give one of the two",
                ));
            }
            let friction = Some(Friction::open(map, true, cache_bytes)?);
            return Ok(Self { obstacles: None, friction });
        }
        let obstacles = RasterFile::open(map, cache_bytes)?;
        if obstacles.kind.is_float() {
            let name = obstacles.kind.name();
            return Err(Failure::file(
                map,
                format!("its cells are {name}, bool or whole numbers expected (|b1, |u1, <i8)"),
            ));
        }
        let friction = costs.map(|path| Friction::open(path, is_raster(path), cache_bytes)).transpose()?;
        if let Some(Friction { file, .. }) = &friction
            && file.size != obstacles.size
        {
            let [[width, height], [other_width, other_height]] = [file.size, obstacles.size];
            return Err(Failure::file(
                &file.path,
                format!("its shape is [{height}, {width}], the map's is [{other_height}, {other_width}]"),
            ));
        }
        Ok(Self { obstacles: Some(obstacles), friction })
    }

    fn files(&self) -> impl Iterator<Item = &RasterFile> {
        self.obstacles.iter().chain(self.friction.as_ref().map(|friction| &friction.file))
    }

    /// Whether reading takes memory for decoded strips or tiles.
    pub(crate) fn is_packed(&self) -> bool {
        self.files().any(RasterFile::is_packed)
    }

    /// Whether friction is in floats.
    pub(crate) fn is_float(&self) -> bool {
        self.friction.as_ref().is_some_and(|friction| friction.file.kind.is_float())
    }

    /// The scale of friction in floats, by which costs are read from now on; none where they are whole numbers. Reads the whole raster once, for the
    /// least and the largest.
    pub(crate) fn scale(
        &mut self,
        connectivity: Connectivity,
        rule: CostRule,
    ) -> Result<Option<FrictionScale>> {
        let cell = self.cell_size();
        let Some(friction) = self.friction.as_mut().filter(|friction| friction.file.kind.is_float()) else {
            return Ok(None);
        };
        let [width, height] = friction.file.size;
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        friction.read_floats(RasterWindow { x: 0, y: 0, width, height }, |_, friction| {
            for &value in friction {
                (least, most) = (least.min(value), most.max(value));
            }
            Ok(())
        })?;
        // Where there are only obstacles any scale will do: no goal is left.
        let range = if least <= most { [least, most] } else { [1.0, 1.0] };
        let scale = FrictionScale::new(range, connectivity, rule, cell)
            .map_err(|error| Failure::file(&friction.file.path, error))?;
        friction.scale = Some(scale);
        friction.range = range;
        Ok(Some(scale))
    }

    /// Refuses the whole costs of a scale where they are too coarse, and warns of less coarse ones.
    pub(crate) fn check_scale(&self) -> Result<()> {
        let Some(friction) = &self.friction else { return Ok(()) };
        let Some(scale) = friction.scale else { return Ok(()) };
        check_error(scale, friction.range).map_err(|message| Failure::file(&friction.file.path, message))
    }

    /// The size of a cell along x and y, in the units of the map; 1 where the files don't say.
    pub(crate) fn cell_size(&self) -> [f64; 2] {
        self.georeference().and_then(Georeference::cell_size).unwrap_or([1.0, 1.0])
    }

    /// The costs of a window as the files have them, whole or not; 0 for obstacles.
    pub(crate) fn exact_costs(&self, window: RasterWindow) -> Result<Vec<f64>> {
        let mut costs = vec![0.0; window.cell_count()];
        self.read_friction(window, |at, value| costs[at] = if value.is_nan() { 0.0 } else { value })?;
        Ok(costs)
    }

    /// The friction of all cells, row-major; NaN for obstacles.
    pub(crate) fn friction(&self) -> Result<FrictionNumbers> {
        let [width, height] = self.size();
        let path = self.files().next().map(|file| file.path.as_path()).unwrap_or(Path::new(""));
        let window = RasterWindow { x: 0, y: 0, width, height };
        let is_single = self.friction.as_ref().is_some_and(|friction| friction.file.kind.is_single());
        if is_single {
            let mut cells = array(path, [width, height], f32::NAN)?;
            self.read_friction(window, |at, value| cells[at] = value as f32)?;
            Ok(FrictionNumbers::Single(cells))
        } else {
            let mut cells = array(path, [width, height], f64::NAN)?;
            self.read_friction(window, |at, value| cells[at] = value)?;
            Ok(FrictionNumbers::Double(cells))
        }
    }

    /// Reads the friction of a window as the files have it, whole or not; NaN for obstacles. `put` has the place of a cell in the window.
    fn read_friction(&self, window: RasterWindow, mut put: impl FnMut(usize, f64)) -> Result<(), Error> {
        match self.friction.as_ref().filter(|friction| friction.file.kind.is_float()) {
            Some(friction) => friction.read_floats(window, |first, friction| {
                friction.iter().enumerate().for_each(|(place, &value)| put(first + place, value));
                Ok(())
            })?,
            // A row at a time: whole costs take memory too.
            None => {
                let mut costs = vec![0; window.width as usize];
                for row in 0..window.height {
                    let line = RasterWindow { y: window.y + row, height: 1, ..window };
                    self.read(line, &mut costs)?;
                    let first = row as usize * costs.len();
                    for (place, &cost) in costs.iter().enumerate() {
                        put(first + place, if cost == 0 { f64::NAN } else { f64::from(cost) });
                    }
                }
                return Ok(());
            }
        }
        self.each_obstacle(window, |place| put(place, f64::NAN))
    }

    /// The place on a map of the first file that has one.
    pub(crate) fn georeference(&self) -> Option<&Georeference> {
        self.files().filter_map(|file| file.georeference.as_ref()).find(|place| !place.tags.is_empty())
    }

    /// Reads all of it: a map, and costs of 1 or more, those of obstacles 1.
    pub(crate) fn whole(&self) -> Result<(Map, Vec<u32>)> {
        let [width, height] = self.size();
        let path = self.files().next().map(|file| file.path.as_path()).unwrap_or(Path::new(""));
        let mut costs = costs_of(path, [width, height])?;
        self.read(RasterWindow { x: 0, y: 0, width, height }, &mut costs)?;
        let obstacles = costs.iter().map(|&cost| cost == 0).collect();
        costs.iter_mut().for_each(|cost| *cost = (*cost).max(1));
        let size = [width, height, 1];
        let map = Map { size, is_volume: false, obstacles, unknown_count: 0, frame: GridFrame::default() };
        Ok((map, costs))
    }
}

impl MapRaster {
    /// Calls `each` with the place in the window of each cell that the map's own numbers make an obstacle.
    fn each_obstacle(&self, window: RasterWindow, mut each: impl FnMut(usize)) -> Result<(), Error> {
        let Some(file) = &self.obstacles else { return Ok(()) };
        let no_data = file.no_data.and_then(|number| number.whole);
        file.read(window, &mut |first, cells| {
            let mut wrong = None;
            file.kind.each_whole(cells, |place, value| match value {
                0 if no_data != Some(0) => {}
                0 | 1 => each(first + place),
                _ if Some(value) == no_data => each(first + place),
                _ => wrong = wrong.or(Some((first + place, value))),
            });
            let allowed = "it must be 0 (road) or 1 (obstacle)";
            wrong.map_or(Ok(()), |(place, value)| Err(file.cell_error(window, place, "cell", value, allowed)))
        })
    }
}

/// The friction of the cells of a map; NaN for obstacles.
#[derive(Debug)]
pub(crate) enum FrictionNumbers {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

/// The relative error of distances from which there is a warning, and from which there is no field.
const WARNED_ERROR: f64 = 1e-5;
pub(crate) const LARGEST_ERROR: f64 = 1e-3;

/// # Errors
/// That friction covers too wide a range for whole costs. Less wide ones get a warning.
fn check_error(scale: FrictionScale, [least, most]: [f64; 2]) -> std::result::Result<(), String> {
    let error = scale.error_bound();
    if error < WARNED_ERROR {
        return Ok(());
    }
    let message =
        format!("friction from {least:e} to {most:e}: distances may be off by {error:.1e} of themselves");
    if error <= LARGEST_ERROR {
        warn(&message);
        return Ok(());
    }
    Err(format!(
        "{message} in tiles, and at most {LARGEST_ERROR:e} is allowed; in one piece there is no such error; if the largest or the least value means that there is none, make such cells no data or a barrier (NaN)"
    ))
}

/// An array for the costs of all cells.
fn costs_of(path: &Path, size: [u32; 2]) -> Result<Vec<u32>> {
    array(path, size, 0)
}

/// An array of a value for all cells.
fn array<T: Clone>(path: &Path, [width, height]: [u32; 2], value: T) -> Result<Vec<T>> {
    let mut cells = Vec::new();
    let count = u64::from(width) * u64::from(height);
    match usize::try_from(count) {
        Ok(count) if count < u32::MAX as usize && cells.try_reserve_exact(count).is_ok() => {
            cells.resize(count, value);
            Ok(cells)
        }
        _ => Err(Failure::file(
            path,
            format!("its {count} cells are too many for one piece: --tiles solves it in tiles"),
        )),
    }
}

/// Puts costs from a file into a map: obstacles where they are 0 or less. Returns the costs, and the file's place.
pub(crate) fn friction(path: &Path, map: &mut Map) -> Result<(Vec<u32>, Option<Georeference>)> {
    let file = Friction::open(path, true, u64::MAX)?;
    if file.file.kind.is_float() {
        let name = file.file.kind.name();
        let message = format!("its cells are {name}; beside a map that is no raster costs are whole numbers");
        return Err(Failure::file(path, message));
    }
    let [width, height] = file.file.size;
    if map.size != [width, height, 1] {
        let [map_width, map_height, layers] = map.size;
        let message =
            format!("it has {width} x {height} cells, the map {map_width} x {map_height} x {layers}");
        return Err(Failure::file(path, message));
    }
    let mut costs = costs_of(path, [width, height])?;
    file.read(RasterWindow { x: 0, y: 0, width, height }, &mut costs)?;
    for (cost, is_obstacle) in costs.iter_mut().zip(&mut map.obstacles) {
        *is_obstacle |= *cost == 0;
        *cost = (*cost).max(1);
    }
    Ok((costs, file.file.georeference))
}

impl Raster for MapRaster {
    fn size(&self) -> [u32; 2] {
        self.files().next().map_or([0, 0], |file| file.size)
    }

    fn identity(&self) -> String {
        let what = if self.obstacles.is_none() { "friction " } else { "" };
        let versions: Vec<&str> = self.files().map(|file| file.version.as_str()).collect();
        let scale = self.friction.as_ref().and_then(|friction| friction.scale);
        let scale = scale.map_or(String::new(), |scale| format!(", factor {}", scale.factor()));
        format!("{what}{}{scale}", versions.join("; "))
    }

    fn read(&self, window: RasterWindow, costs: &mut [u32]) -> Result<(), Error> {
        match &self.friction {
            Some(friction) => friction.read(window, costs)?,
            None => costs.fill(1),
        }
        self.each_obstacle(window, |place| costs[place] = 0)
    }
}

/// Columns and rows of a map that can be solved in tiles; none where it is another file, or no flat map.
pub(crate) fn raster_size(path: &Path) -> Option<[u64; 2]> {
    RasterFile::open(path, u64::MAX).ok().map(|file| file.size.map(u64::from))
}
