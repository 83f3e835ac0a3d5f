//! A flat map in files, with or without costs, read a window at a time.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use hullfield::Error;
use hullfield::flow::{Geographic, GridFrame, Raster, RasterWindow};

use super::occupancy::Map;
use crate::failure::{Failure, Result};
use crate::read::raster::{Georeference, RasterFile, is_raster, warn_once};

/// What the numbers of a map mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MapValues {
    /// 0 is road, 1 an obstacle.
    Obstacles,
    /// What entering a cell costs; an obstacle where that is 0 or less.
    Friction,
}

/// The files of a map, and what is asked of their numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MapFiles<'a> {
    pub(crate) map: &'a Path,
    pub(crate) costs: Option<&'a Path>,
    /// By default the numbers of a map are friction in GeoTIFF, raw files and the like, where no costs are given beside them, and else obstacles.
    pub(crate) values: Option<MapValues>,
    /// The band of files of several, counted from 1.
    pub(crate) band: Option<usize>,
    /// Whether distances are in map units or in metres, whatever the type of the numbers.
    pub(crate) in_map_units: bool,
    /// Whether they are in metres, over degrees.
    pub(crate) in_metres: bool,
    /// Whether cells of friction 0 are free to travel; else they are obstacles.
    pub(crate) zero_is_free: bool,
}

/// What entering each cell costs.
#[derive(Debug)]
struct Friction {
    file: RasterFile,
    /// Whether 0 and negative costs are obstacles, as in GeoTIFF and raw files; else they are errors.
    has_obstacles: bool,
    /// Whether 0 is free to travel; it is read as 0 then, and not as an obstacle.
    zero_is_free: bool,
    /// Cells of 0 and of less, among those that were read.
    zero_count: AtomicU64,
    negative_count: AtomicU64,
    /// Both, once all cells were read.
    counted: OnceLock<[u64; 2]>,
}

/// A flat map: its obstacles, what entering each cell costs, or both.
#[derive(Debug)]
pub(crate) struct MapRaster {
    obstacles: Option<RasterFile>,
    friction: Option<Friction>,
    /// Whether friction counts as floats, and distances are in map units.
    is_float: bool,
    /// Where cells lie on a globe, if distances are in metres.
    geographic: Option<Geographic>,
}

impl Friction {
    fn open(path: &Path, has_obstacles: bool, files: &MapFiles<'_>, cache_bytes: u64) -> Result<Self> {
        let file = RasterFile::open(path, files.band, cache_bytes)?;
        let zero_is_free = files.zero_is_free;
        let is_cost = ["u16", "u32"].contains(&file.kind.name().as_str());
        if !has_obstacles && !is_cost && !file.has_floats() {
            return Err(Failure::file(path, "u16 or u32 expected, or floats"));
        }
        let [zero_count, negative_count] = [0, 0].map(AtomicU64::new);
        Ok(Self { file, has_obstacles, zero_is_free, zero_count, negative_count, counted: OnceLock::new() })
    }

    fn count(&self, zero_count: u64, negative_count: u64) {
        self.zero_count.fetch_add(zero_count, Ordering::Relaxed);
        self.negative_count.fetch_add(negative_count, Ordering::Relaxed);
    }

    /// Reads cells as floats: friction that is no number, infinite, 0 or less, and no data, are NaN.
    fn read_floats(
        &self,
        window: RasterWindow,
        mut segment: impl FnMut(usize, &[f64]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let file = &self.file;
        let has_obstacles = self.has_obstacles || file.has_floats();
        let mut friction = Vec::new();
        file.read_floats(window, &mut |first, values| {
            friction.clear();
            let [mut zero_count, mut negative_count] = [0, 0];
            for (place, &value) in values.iter().enumerate() {
                zero_count += u64::from(value == 0.0);
                negative_count += u64::from(value < 0.0);
                let is_friction = value > 0.0 && value < f64::INFINITY;
                if !is_friction && !has_obstacles {
                    let allowed = "it must be 1 or more";
                    return Err(file.cell_error(window, first + place, "cost", value, allowed));
                }
                let is_free = self.zero_is_free && value == 0.0;
                friction.push(if is_friction || is_free { value } else { f64::NAN });
            }
            self.count(zero_count, negative_count);
            segment(first, &friction)
        })
    }

    /// Reads costs of whole numbers; 0 for obstacles.
    fn read_whole(&self, window: RasterWindow, costs: &mut [u32]) -> Result<(), Error> {
        let file = &self.file;
        file.read_whole(window, &mut |first, values| {
            let [mut zero_count, mut negative_count] = [0, 0];
            for (place, &value) in values.iter().enumerate() {
                let wrong = |allowed| {
                    let value = value.unwrap_or(0);
                    Err(file.cell_error(window, first + place, "cost", value, allowed))
                };
                zero_count += u64::from(value == Some(0));
                negative_count += u64::from(value.is_some_and(|value| value < 0));
                costs[first + place] = match value {
                    Some(value @ 1..) => match u32::try_from(value) {
                        Ok(cost) => cost,
                        Err(_) => return wrong("it must be 4294967295 at most"),
                    },
                    _ if self.has_obstacles => 0,
                    _ => return wrong("it must be 1 or more"),
                };
            }
            self.count(zero_count, negative_count);
            Ok(())
        })
    }

    /// Keeps the counts of cells of 0 and less: all cells were read once.
    fn note_counts(&self) {
        self.counted.get_or_init(|| {
            [&self.zero_count, &self.negative_count].map(|count| count.load(Ordering::Relaxed))
        });
    }

    /// Warns of cells whose friction is 0 or less.
    fn warn_of_zeros(&self) {
        let &[zero, less] = self.counted.get().unwrap_or(&[0, 0]);
        let zero = if self.zero_is_free { 0 } else { zero };
        let text = match (zero, less) {
            (0, 0) => return,
            (zero, 0) => format!("{zero} of 0"),
            (0, less) => format!("{less} below 0"),
            (zero, less) => format!("{zero} of 0 and {less} below 0"),
        };
        warn_once(format!(
            "{}: cells whose friction is 0 or less are obstacles: {text}; --units map --zero-friction free makes those of 0 free to travel",
            self.file.path.display()
        ));
    }
}

impl MapRaster {
    /// Opens a map, and costs beside it. `cache_bytes` is what decoded strips or tiles may take.
    pub(crate) fn open(files: &MapFiles<'_>, cache_bytes: u64) -> Result<Self> {
        let &MapFiles { map, costs, values, band, in_map_units, in_metres, .. } = files;
        let default =
            if is_raster(map) && costs.is_none() { MapValues::Friction } else { MapValues::Obstacles };
        let cache_bytes = if costs.is_some() { cache_bytes / 2 } else { cache_bytes };
        let mut raster = Self { obstacles: None, friction: None, is_float: in_map_units, geographic: None };
        if values.unwrap_or(default) == MapValues::Friction {
            if costs.is_some() {
                return Err(Failure::input(
                    "--cost: the map's own numbers are friction, give one of the two",
                ));
            }
            raster.friction = Some(Friction::open(map, true, files, cache_bytes)?);
        } else {
            let obstacles = RasterFile::open(map, band, cache_bytes)?;
            if obstacles.has_floats() {
                let name = if obstacles.kind.is_float() { obstacles.kind.name() } else { "scaled".into() };
                return Err(Failure::file(
                    map,
                    format!("its cells are {name}, bool or whole numbers expected (|b1, |u1, <i8)"),
                ));
            }
            raster.obstacles = Some(obstacles);
            let open = |path: &Path| Friction::open(path, is_raster(path), files, cache_bytes);
            raster.friction = costs.map(open).transpose()?;
        }
        raster.is_float |= raster.has_floats();
        raster.check_alike()?;
        if in_metres {
            raster.geographic = Some(raster.find_geographic()?);
        }
        raster.check_place(in_map_units && !raster.has_floats())?;
        Ok(raster)
    }

    /// Checks that costs lie where the map lies.
    fn check_alike(&self) -> Result<()> {
        let (Some(map), Some(Friction { file, .. })) = (&self.obstacles, &self.friction) else {
            return Ok(());
        };
        let (map_place, place) = (map.georeference.as_ref(), file.georeference.as_ref());
        if file.size != map.size {
            let [[width, height], [other_width, other_height]] = [file.size, map.size];
            let message =
                format!("its shape is [{height}, {width}], the map's is [{other_height}, {other_width}]");
            return Err(Failure::file(&file.path, message));
        }
        match (map_place, place) {
            (Some(map_place), Some(place)) => alike(place, map_place, file, &map.path),
            // NumPy's arrays never say where they lie.
            _ => Ok(()),
        }
    }

    /// Where the cells lie on a globe.
    fn find_geographic(&self) -> Result<Geographic> {
        let [_, row_count] = self.size();
        let of_file = |file: &RasterFile| -> std::result::Result<Geographic, String> {
            let place =
                file.georeference.as_ref().ok_or("it says no place on a map, so its cells have no size")?;
            place.geographic(row_count)
        };
        let placed =
            self.files().find(|file| file.georeference.as_ref().is_some_and(Georeference::has_place));
        let Some(file) = placed.or(self.files().next()) else {
            return Err(Failure::input("--units metres: the map has no file"));
        };
        of_file(file).map_err(|message| Failure::file(&file.path, format!("{message} (--units metres)")))
    }

    /// Checks that the map's place gives its cells lengths, where they are needed. Warns of lengths that are none.
    fn check_place(&self, in_map_units: bool) -> Result<()> {
        if in_map_units && self.georeference().is_none() {
            let path =
                self.files().next().map_or_else(Default::default, |file| file.path.display().to_string());
            return Err(Failure::input(format!(
                "--units map: {path} says no place on a map, so its cells have no size"
            )));
        }
        let Some(file) = self.files().find(|file| file.georeference.is_some()) else { return Ok(()) };
        let Some(place) = &file.georeference else { return Ok(()) };
        let path = file.path.display();
        let (control_point_count, use_of_cells) =
            (place.control_point_count(), "distances take its cells for squares");
        if control_point_count > 0 && !place.has_place() {
            let message = format!(
                "its place is said by {control_point_count} control points, which lie on no grid (gdalwarp)"
            );
            if self.is_float {
                return Err(Failure::file(&file.path, message));
            }
            warn_once(format!("{path}: {message}: {use_of_cells}"));
        }
        if place.is_sheared() {
            let message = "its columns and rows form no right angle (gdalwarp)";
            if self.is_float {
                return Err(Failure::file(&file.path, message));
            }
            warn_once(format!("{path}: {message}: {use_of_cells}"));
        }
        if place.is_in_degrees() && self.geographic.is_none() {
            warn_once(match self.is_float {
                true => format!(
                    "{path}: its coordinates are degrees, so distances are degrees times friction, and a degree of longitude counts as one of latitude; \
                    --units metres has true lengths"
                ),
                false => format!("{path}: its coordinates are degrees: {use_of_cells}"),
            });
        }
        Ok(())
    }

    /// Whether friction is in floats in its file.
    fn has_floats(&self) -> bool {
        self.friction.as_ref().is_some_and(|friction| friction.file.has_floats())
    }

    fn files(&self) -> impl Iterator<Item = &RasterFile> {
        self.obstacles.iter().chain(self.friction.as_ref().map(|friction| &friction.file))
    }

    /// Whether reading takes memory for decoded strips or tiles.
    pub(crate) fn is_packed(&self) -> bool {
        self.files().any(RasterFile::is_packed)
    }

    /// Whether friction counts as floats, and distances are in map units.
    pub(crate) fn is_float(&self) -> bool {
        self.is_float
    }

    /// Where cells lie on a globe, if distances are in metres.
    pub(crate) fn geographic(&self) -> Option<Geographic> {
        self.geographic
    }

    /// Reads friction once, and counts its cells of 0 and less.
    pub(crate) fn count_zeros(&self) -> Result<()> {
        let Some(friction) = &self.friction else { return Ok(()) };
        let [width, height] = friction.file.size;
        friction.read_floats(RasterWindow { x: 0, y: 0, width, height }, |_, _| Ok(()))?;
        friction.note_counts();
        Ok(())
    }

    /// Warns of cells whose friction is 0 or less. They must have been counted.
    pub(crate) fn warn_of_zeros(&self) {
        if let Some(friction) = &self.friction {
            friction.warn_of_zeros();
        }
    }

    /// The size of a cell along x and y, in the units of the map; 1 where the files don't say.
    pub(crate) fn cell_size(&self) -> [f64; 2] {
        self.georeference().and_then(Georeference::cell_size).unwrap_or([1.0, 1.0])
    }

    /// About the length of a step along the shorter side of a cell, in the units of distances.
    fn step_length(&self) -> f64 {
        let [width, height] = self.cell_size();
        let Some(geographic) = &self.geographic else { return width.min(height) };
        let [_, row_count] = self.size();
        let [along, beside, _] = geographic.step_lengths(row_count / 2, row_count);
        if beside > 0.0 { along.min(beside) } else { along }
    }

    /// The costs of a window as the files have them, whole or not; 0 for obstacles.
    pub(crate) fn exact_costs(&self, window: RasterWindow) -> Result<Vec<f64>> {
        let mut costs = vec![1.0; window.cell_count()];
        self.each_friction(window, |at, value| costs[at] = if value.is_nan() { 0.0 } else { value })?;
        Ok(costs)
    }

    /// The friction of all cells.
    pub(crate) fn friction(&self) -> Result<WholeFriction> {
        let [width, height] = self.size();
        let path = self.files().next().map(|file| file.path.as_path()).unwrap_or(Path::new(""));
        let window = RasterWindow { x: 0, y: 0, width, height };
        let is_single = self.friction.as_ref().is_some_and(|friction| friction.file.has_singles());
        let zero_is_free = self.friction.as_ref().is_some_and(|friction| friction.zero_is_free);
        let mut least_distance = 0.0;
        let numbers = if is_single && !zero_is_free {
            let mut cells = array(path, [width, height], 1.0_f32)?;
            self.each_friction(window, |at, value| cells[at] = value as f32)?;
            FrictionNumbers::Single(cells)
        } else {
            let mut cells = array(path, [width, height], 1.0_f64)?;
            self.each_friction(window, |at, value| cells[at] = value)?;
            if zero_is_free {
                least_distance = replace_zeros(&mut cells, self.step_length());
            }
            FrictionNumbers::Double(cells)
        };
        if let Some(friction) = &self.friction {
            friction.note_counts();
            friction.warn_of_zeros();
        }
        Ok(WholeFriction { numbers, least_distance })
    }

    /// Reads the friction of a window as the files have it, whole or not; NaN for obstacles. `put` has the place of a cell in the window, and gets none of the cells of a
    /// map without costs that are no obstacles: their friction is 1.
    fn each_friction(&self, window: RasterWindow, mut put: impl FnMut(usize, f64)) -> Result<(), Error> {
        if let Some(friction) = &self.friction {
            friction.read_floats(window, |first, friction| {
                friction.iter().enumerate().for_each(|(place, &value)| put(first + place, value));
                Ok(())
            })?;
        }
        self.each_obstacle(window, |place| put(place, f64::NAN))
    }

    /// The place on a map of the first file that has one.
    pub(crate) fn georeference(&self) -> Option<&Georeference> {
        self.files().filter_map(|file| file.georeference.as_ref()).find(|place| place.has_place())
    }

    /// Reads all of it: a map, and costs of 1 or more, those of obstacles 1.
    pub(crate) fn whole(&self) -> Result<(Map, Vec<u32>)> {
        let [width, height] = self.size();
        let path = self.files().next().map(|file| file.path.as_path()).unwrap_or(Path::new(""));
        let mut costs = costs_of(path, [width, height])?;
        self.read(RasterWindow { x: 0, y: 0, width, height }, &mut costs)?;
        if let Some(friction) = &self.friction {
            friction.note_counts();
            friction.warn_of_zeros();
        }
        let obstacles = costs.iter().map(|&cost| cost == 0).collect();
        costs.iter_mut().for_each(|cost| *cost = (*cost).max(1));
        let size = [width, height, 1];
        let map = Map { size, is_volume: false, obstacles, unknown_count: 0, frame: GridFrame::default() };
        Ok((map, costs))
    }

    /// Calls `each` with the place of every obstacle of a window that the map has, not its costs.
    fn each_obstacle(&self, window: RasterWindow, mut each: impl FnMut(usize)) -> Result<(), Error> {
        let Some(file) = &self.obstacles else { return Ok(()) };
        file.read_whole(window, &mut |first, values| {
            for (place, &value) in values.iter().enumerate() {
                match value {
                    Some(0) => {}
                    None | Some(1) => each(first + place),
                    Some(value) => {
                        let allowed = "it must be 0 (road) or 1 (obstacle)";
                        return Err(file.cell_error(window, first + place, "cell", value, allowed));
                    }
                }
            }
            Ok(())
        })
    }
}

/// Checks that costs have the place of a map. Warns where that is not known.
fn alike(place: &Georeference, map_place: &Georeference, costs: &RasterFile, map: &Path) -> Result<()> {
    if let Some(difference) = place.difference(map_place, costs.size) {
        return Err(Failure::file(
            &costs.path,
            format!("{difference}: both must have the same cells (gdalwarp)"),
        ));
    }
    let (costs, map) = (costs.path.display(), map.display());
    match [place.has_place(), map_place.has_place()] {
        [true, false] => {
            warn_once(format!("{map} says no place on a map: its cells are taken for those of {costs}"))
        }
        [false, true] => {
            warn_once(format!("{costs} says no place on a map: its cells are taken for those of {map}"))
        }
        _ => {}
    }
    if let Some([own, maps]) = place.unlike_systems(map_place) {
        warn_once(format!("{costs} is in {own}, {map} in {maps}: they are taken for the same"));
    }
    Ok(())
}

/// The friction of all cells of a map.
#[derive(Debug)]
pub(crate) struct WholeFriction {
    pub(crate) numbers: FrictionNumbers,
    /// Shorter distances are 0: their paths lead over cells of friction 0 alone.
    pub(crate) least_distance: f64,
}

/// What stands for a friction of 0, as part of the least one above it: a path over 2³⁰ such cells adds less than f32 can show.
const ALMOST_ZERO: f64 = 1.0 / (1_u64 << 60) as f64;

/// Replaces friction of 0 by almost nothing, as a step must have a length. Returns the distance below which all of a path's cells had 0.
fn replace_zeros(cells: &mut [f64], step_length: f64) -> f64 {
    let least = cells.iter().copied().filter(|&value| value > 0.0).fold(f64::INFINITY, f64::min);
    let least = if least < f64::INFINITY { least } else { 1.0 };
    let almost_zero = (least * ALMOST_ZERO).max(f64::MIN_POSITIVE);
    cells.iter_mut().filter(|value| **value == 0.0).for_each(|value| *value = almost_zero);
    // Half of a step onto the cell of least friction, by the mean of both, is much more.
    least * step_length / f64::from(1 << 20)
}

/// The friction of the cells of a map, row-major; NaN for obstacles.
#[derive(Debug)]
pub(crate) enum FrictionNumbers {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

/// An array for the costs of all cells.
fn costs_of(path: &Path, size: [u32; 2]) -> Result<Vec<u32>> {
    array(path, size, 0)
}

/// An array of a value for all cells.
fn array<T: Clone>(path: &Path, [width, height]: [u32; 2], value: T) -> Result<Vec<T>> {
    let mut cells = Vec::new();
    let count = u64::from(width) * u64::from(height);
    // A header may claim any size: what is large must have bytes too.
    let file_bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let is_claim = count > LARGE_COUNT && count / MOST_CELLS_A_BYTE > file_bytes;
    match usize::try_from(count) {
        Ok(count) if count < u32::MAX as usize && !is_claim && cells.try_reserve_exact(count).is_ok() => {
            cells.resize(count, value);
            Ok(cells)
        }
        _ => Err(Failure::file(
            path,
            format!("its {count} cells are too many for one piece: --tiles solves it in tiles"),
        )),
    }
}

/// From how many cells on, and for how many of them a byte, a file counts as a claim that its bytes do not bear out.
const LARGE_COUNT: u64 = 1 << 24;
const MOST_CELLS_A_BYTE: u64 = 1 << 13;

/// Puts costs from a file into a map: obstacles where they are 0 or less. Returns the costs, and the file's place.
pub(crate) fn friction(
    files: &MapFiles<'_>,
    path: &Path,
    map: &mut Map,
) -> Result<(Vec<u32>, Option<Georeference>)> {
    let costs_file = Friction::open(path, true, files, u64::MAX)?;
    let file = &costs_file.file;
    if file.has_floats() {
        let name = if file.kind.is_float() { file.kind.name() } else { "scaled".into() };
        let message = format!("its cells are {name}; beside a map that is no raster costs are whole numbers");
        return Err(Failure::file(path, message));
    }
    let [width, height] = file.size;
    if map.size != [width, height, 1] {
        let [map_width, map_height, layers] = map.size;
        let message =
            format!("it has {width} x {height} cells, the map {map_width} x {map_height} x {layers}");
        return Err(Failure::file(path, message));
    }
    if let (Some(map_place), Some(place)) = (map.place(), &file.georeference) {
        alike(place, &map_place, file, files.map)?;
    }
    let mut costs = costs_of(path, [width, height])?;
    costs_file.read_whole(RasterWindow { x: 0, y: 0, width, height }, &mut costs)?;
    costs_file.note_counts();
    costs_file.warn_of_zeros();
    for (cost, is_obstacle) in costs.iter_mut().zip(&mut map.obstacles) {
        *is_obstacle |= *cost == 0;
        *cost = (*cost).max(1);
    }
    Ok((costs, costs_file.file.georeference))
}

impl Raster for MapRaster {
    fn size(&self) -> [u32; 2] {
        self.files().next().map_or([0, 0], |file| file.size)
    }

    fn identity(&self) -> String {
        let what = if self.obstacles.is_none() { "friction " } else { "" };
        let versions: Vec<&str> = self.files().map(|file| file.version.as_str()).collect();
        format!("{what}{}", versions.join("; "))
    }

    fn read(&self, window: RasterWindow, costs: &mut [u32]) -> Result<(), Error> {
        match &self.friction {
            Some(friction) => friction.read_whole(window, costs)?,
            None => costs.fill(1),
        }
        self.each_obstacle(window, |place| costs[place] = 0)
    }

    fn read_friction(&self, window: RasterWindow, friction: &mut [f64]) -> Result<(), Error> {
        friction.fill(1.0);
        self.each_friction(window, |place, value| friction[place] = value)
    }
}

/// Columns and rows of a map that can be solved in tiles; none where it is another file, or no flat map.
pub(crate) fn raster_size(files: &MapFiles<'_>) -> Option<[u64; 2]> {
    RasterFile::open(files.map, files.band, u64::MAX).ok().map(|file| file.size.map(u64::from))
}
