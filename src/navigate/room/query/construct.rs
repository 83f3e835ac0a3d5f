//! How a room is made: from rings, from convex cells, or from the text of a `.mesh` file.

use glam::DVec2;

use crate::error::{Error, Location, Result, shown, shown_point};
use crate::navigate::room::build::arrangement::Arrangement;
use crate::navigate::room::build::blocks::Blocks;
use crate::navigate::room::build::cells::Cells;
use crate::navigate::room::build::check::{check_query_point, check_radius, not_cut, triangulation_failed};
use crate::navigate::room::build::convex::{check_and_join, triangulate_nonconvex};
use crate::navigate::room::build::doors::{Doors, FreeDoorEnd};
use crate::navigate::room::build::grid::Grid;
use crate::navigate::room::build::offset::{SweepError, SweptPlace};
use crate::navigate::room::build::options::Options;
use crate::navigate::room::build::rings::{PolygonPlace, Repair, RepairKind};
use crate::navigate::room::build::source::Source;
use crate::navigate::room::build::triangulate::{Triangles, triangulate};
use crate::navigate::room::build::{offset, polyanya_mesh, rings};
use crate::navigate::room::query::room::Room;

/// Relative to the largest coordinate: a point that is no further from the room than this counts as in it. So a point that a caller
/// computed to lie on a wall is in the room, whatever the rounding.
const SNAP: f64 = 1.0 / (1_u64 << 40) as f64;

impl Room {
    /// Builds a room from its outer ring and its holes. Each ring may run in either direction and may repeat its first point at the end.
    ///
    /// Cost: about O(n log n) in the number of points and crossings, for the triangulation; with a radius at most O(n log² n) of
    /// them. Walls nearer to one another than the radius cost most: 100,000 spikes around a ring, with gaps narrower than the radius, take minutes. Rings
    /// whose edges meet in more than 20,000 places, and sixteen more for each point, are refused.
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, Room};
    ///
    /// // A square with a pillar in the middle.
    /// let outer = [[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]];
    /// let pillar = [[4.0, 4.0], [6.0, 4.0], [6.0, 6.0], [4.0, 6.0]];
    /// let room = Room::new(&outer, &[&pillar], Options::default())?;
    /// assert_eq!(room.area(), 96.0);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for a coordinate that is not finite or out of range (0, or a magnitude from 1e-42 to 1e60), and for a radius that
    /// is negative, not finite or too large for the room; [`Error::Invalid`] for an outer ring of fewer than three different points,
    /// where the holes leave no room, for edges that meet in too many places, and for a [door](Options::doors) that misses its walls or crosses no floor. Rings that cross, touch or
    /// repeat points are repaired, and [`Room::repairs`] says where; without [`Options::repair`] the first such place, unless it is a mere
    /// touch, is an error.
    pub fn new(outer: &[[f64; 2]], holes: &[impl AsRef<[[f64; 2]]>], options: Options) -> Result<Self> {
        let rings = std::iter::once(outer).chain(holes.iter().map(AsRef::as_ref)).collect();
        Self::of_polygons(&[rings], options)
    }

    /// Builds a room from several polygons: each its rings, the outer one first, then its holes.
    ///
    /// The floor is what any of the polygons holds. So polygons may overlap, and one may fill a hole of another. Polygons that share a part
    /// of an edge are one floor; polygons apart from one another, or that touch in a point, are islands, and no path leads from one to another
    /// (but see [`Options::squeeze`]).
    ///
    /// Cost: as [`Room::new`].
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, PathOptions, Room};
    ///
    /// // Two squares side by side are one floor; a third is apart.
    /// let square = |x: f64| [[[x, 0.0], [x + 2.0, 0.0], [x + 2.0, 2.0], [x, 2.0]]];
    /// let room = Room::from_polygons(&[square(0.0), square(2.0), square(5.0)], Options::default())?;
    /// assert_eq!((room.area(), room.island_count()), (12.0, 2));
    /// let reaches = |goal| Ok::<_, hullfield::Error>(room.path([1.0, 1.0], goal, &PathOptions::default())?.is_reached());
    /// assert!(reaches([3.0, 1.0])? && !reaches([6.0, 1.0])?);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Room::new`]; [`Error::Invalid`] for a polygon without rings. Rings are counted over all polygons.
    pub fn from_polygons<R: AsRef<[[f64; 2]]>>(
        polygons: &[impl AsRef<[R]>],
        options: Options,
    ) -> Result<Self> {
        let rings = |polygon| AsRef::<[R]>::as_ref(polygon).iter().map(AsRef::as_ref).collect();
        let polygons: Vec<Vec<&[[f64; 2]]>> = polygons.iter().map(rings).collect();
        Self::of_polygons(&polygons, options)
    }

    fn of_polygons(polygons: &[Vec<&[[f64; 2]]>], options: Options) -> Result<Self> {
        check_radius(options.radius)?;
        for &[from, to] in &options.doors {
            check_query_point("door", from)?;
            check_query_point("door", to)?;
        }
        if let Some(at) = polygons.iter().position(Vec::is_empty) {
            return Err(Error::invalid(Location::Polygon(at), "it has no rings, it needs an outer one"));
        }
        let mut doors = Doors::new(&options.doors);
        let coordinates = polygons.iter().flatten().flat_map(|ring| ring.as_flattened());
        let largest = coordinates.fold(0.0, |largest: f64, x| largest.max(x.abs()));
        let mut is_checked = false;
        let (cells, door_sides, repairs) = loop {
            let mut repairs = Vec::new();
            let triangles = triangulate_rings(polygons, &doors, &mut repairs)?;
            refuse_repairs(&repairs, &options)?;
            if triangles.corners.is_empty() {
                return Err(Error::invalid(
                    Location::Argument,
                    "no room is left: the outer ring less the holes has no area",
                ));
            }
            let (cells, door_sides) = triangles.cells(options.merge);
            // A door whose end lies on a wall but for rounding is lengthened, once.
            if is_checked || !doors.check(&cells, &door_sides, SNAP * largest)? {
                break (cells, door_sides, repairs);
            }
            is_checked = true;
        };
        if let (false, Some(end)) = (options.repair, doors.free_ends.first()) {
            let at = shown_point(&end.end);
            let message = format!(
                "door {} ends at {at}, on no wall; set Options::repair for a door that agents can walk around",
                end.door
            );
            return Err(Error::invalid(Location::Argument, message));
        }
        let source = Source::polygons(polygons, &options);
        let free_ends = doors.free_ends;
        Self::finish(cells, door_sides, &options, repairs, free_ends, source)
    }

    /// Builds a room from a navigation mesh: vertices, and convex cells over them. Each cell is the indices of its corners,
    /// counter-clockwise. Cells are neighbours where they share an edge.
    ///
    /// A cell that rounding left not quite convex is cut into triangles. The first triangle keeps the cell's index; the others come after
    /// the last cell. "Not quite" means that twice the area of the triangle at a reflex corner is at most 1e-12 of the cell's size squared.
    ///
    /// Cost: linear in the number of corners.
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, PathOptions, Room};
    ///
    /// let points = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0], [4.0, 0.0], [4.0, 1.0]];
    /// let room = Room::from_cells(&points, &[[0, 1, 2, 3], [1, 4, 5, 2]], Options::default())?;
    /// assert_eq!(room.path([0.0, 0.5], [4.0, 0.5], &PathOptions::default())?.length, 4.0);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for a coordinate that is not finite or out of range, or a radius as in [`Room::new`]; [`Error::Missing`] for a
    /// vertex that does not exist; [`Error::Count`] for a cell of fewer than three corners, and for doors in the options;
    /// [`Error::Invalid`] for a cell that is not convex or not counter-clockwise, or that shares an edge with two others.
    pub fn from_cells(points: &[[f64; 2]], cells: &[impl AsRef<[u32]>], options: Options) -> Result<Self> {
        let cells: Vec<&[u32]> = cells.iter().map(AsRef::as_ref).collect();
        Self::of_cells(points, &cells, options)
    }

    fn of_cells(points: &[[f64; 2]], cells: &[&[u32]], options: Options) -> Result<Self> {
        check_radius(options.radius)?;
        refuse_doors(&options)?;
        let source = Source::cells(points, cells, &options);
        let points = points
            .iter()
            .enumerate()
            .map(|(index, &point)| Ok(rings::check_point(Location::Point(index), point)? + DVec2::ZERO))
            .collect::<Result<Vec<_>>>()?;
        let mut corners = Vec::new();
        let mut counts = Vec::new();
        for (cell, &own) in cells.iter().enumerate() {
            if let Some(vertex) = own.iter().find(|&&vertex| vertex as usize >= points.len()) {
                let (index, count) = (u64::from(*vertex), points.len() as u64);
                return Err(Error::Missing { at: Location::Polygon(cell), what: "vertex", index, count });
            }
            if own.len() < 3 {
                return Err(Error::Count {
                    at: Location::Polygon(cell),
                    what: "corners",
                    given: own.len() as u64,
                    allowed: "a polygon needs three".to_owned(),
                });
            }
            corners.extend_from_slice(own);
            counts.push(own.len() as u32);
        }
        let cells = triangulate_nonconvex(check_and_join(points, &corners, &counts)?)?;
        Self::finish(cells, Vec::new(), &options, Vec::new(), Vec::new(), source)
    }

    /// Builds a room from the text of a `.mesh` file: version 2 of the format in which the authors of Polyanya publish their meshes.
    ///
    /// Cost: linear in the length of the text.
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, Room};
    ///
    /// // Version, counts; each vertex with the polygons around it; each polygon with its vertices and its neighbours.
    /// let text = "mesh 2  3 1  0 0 1 0  1 0 1 0  0 1 1 0  3 0 1 2 -1 -1 -1";
    /// assert_eq!(Room::from_polyanya_mesh(text, Options::default())?.area(), 0.5);
    /// let error = Room::from_polyanya_mesh("mesh\n2\n3 one", Options::default()).unwrap_err();
    /// assert_eq!(error.to_string(), "line 3: \"one\" is not the number of polygons");
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Room::from_cells`]; [`Error::Invalid`], with the line, for text that is not such a file.
    pub fn from_polyanya_mesh(text: &str, options: Options) -> Result<Self> {
        check_radius(options.radius)?;
        refuse_doors(&options)?;
        let cells = triangulate_nonconvex(polyanya_mesh::read(text)?)?;
        let source = Source::polyanya_mesh(text, &options);
        Self::finish(cells, Vec::new(), &options, Vec::new(), Vec::new(), source)
    }

    /// Moves the walls by the radius and makes the handle.
    fn finish(
        mut cells: Cells,
        mut door_sides: Vec<(u32, u32)>,
        options: &Options,
        repairs: Vec<Repair>,
        free_door_ends: Vec<FreeDoorEnd>,
        source: Source,
    ) -> Result<Self> {
        let vertex_count = cells.points.len();
        cells.classify_vertices(vertex_count);
        let radius = effective_radius(options.radius, &cells.points);
        if radius > 0.0 {
            cells = moved_walls(&cells, radius, options)?;
            // A shut door sweeps a part of the floor, as an obstacle does.
            door_sides.clear();
            let vertex_count = cells.points.len();
            cells.classify_vertices(vertex_count);
        }
        if cells.len() == 0 {
            return Err(Error::invalid(Location::Argument, "the mesh has no cells, a room needs one"));
        }
        let vertex_count = cells.points.len() - cells.copy_of.len();
        let grid = Grid::new(&cells);
        let [low, high] = grid.bounds();
        let mut room = Self {
            cells,
            blocks: Blocks::default(),
            grid,
            squeeze: options.squeeze,
            radius,
            vertex_count,
            area_sums: Vec::new(),
            snap: SNAP * low.abs().max(high.abs()).max_element(),
            edits: None,
            repairs,
            free_door_ends,
            source,
            scratches: Default::default(),
        };
        room.refresh();
        room.register_ring_doors(&options.doors, &door_sides);
        Ok(room)
    }
}

/// The triangles of the floor of polygons, cut along their doors, and the repairs.
fn triangulate_rings(
    polygons: &[Vec<&[[f64; 2]]>],
    doors: &Doors<'_>,
    repairs: &mut Vec<Repair>,
) -> Result<Triangles> {
    let mut place = PolygonPlace::new(polygons.iter().map(Vec::len));
    let mut arrangement = Arrangement::default();
    let all = polygons.iter().flatten().copied();
    rings::add_rings(&mut arrangement, all, |ring| place.is_outer(ring), repairs)?;
    doors.add_to(&mut arrangement);
    let intersections = arrangement.arrange().map_err(not_cut)?;
    rings::add_repairs(&intersections, repairs);
    let triangles = triangulate(&arrangement, &mut place).map_err(triangulation_failed)?;
    let mut ring = 0;
    for polygon in polygons {
        for own in polygon {
            if let Some(triangle) = place.outside[ring] {
                let place = rings::place_outside(own, triangle);
                repairs.push(Repair { ring, kind: RepairKind::HoleOutside, place });
            }
            ring += 1;
        }
    }
    Ok(triangles)
}

/// Refuses repairs where the options allow none.
fn refuse_repairs(repairs: &[Repair], options: &Options) -> Result<()> {
    // A touch is allowed: it only cuts the edge that is touched.
    let Some(repair) = repairs.iter().find(|repair| repair.kind != RepairKind::Touch) else { return Ok(()) };
    if options.repair {
        return Ok(());
    }
    Err(Error::invalid(
        Location::Ring(repair.ring),
        format!(
            "it needs a repair at {} ({}); set Options::repair to have it repaired",
            shown_point(&repair.place),
            repair.kind.name()
        ),
    ))
}

/// The radius; 0 for one that is below the rounding of the coordinates, by which no wall can be moved.
fn effective_radius(radius: f64, points: &[DVec2]) -> f64 {
    let largest = points.iter().fold(0.0, |largest: f64, point| largest.max(point.abs().max_element()));
    if radius > f64::EPSILON * largest { radius } else { 0.0 }
}

/// The cells between the walls moved by a radius.
fn moved_walls(cells: &Cells, radius: f64, options: &Options) -> Result<Cells> {
    let too_large = || {
        let allowed = "it must be less: no agent of that size fits into the room";
        Err(Error::value(Location::Argument, "radius", shown(options.radius), allowed))
    };
    let empty = [DVec2::INFINITY, DVec2::NEG_INFINITY];
    let [low, high] =
        cells.points.iter().fold(empty, |[low, high], &point| [low.min(point), high.max(point)]);
    if !(2.0 * radius < (high - low).min_element()) {
        return too_large();
    }
    let mut arrangement = Arrangement::default();
    offset::add_swept(&mut arrangement, cells, radius).map_err(|error| match error {
        SweepError::Cutting(error) => not_cut(error),
        SweepError::Triangulation(failure) => triangulation_failed(failure),
    })?;
    arrangement.arrange().map_err(not_cut)?;
    let triangles = triangulate(&arrangement, &mut SweptPlace::default()).map_err(triangulation_failed)?;
    let (cells, _) = triangles.cells(options.merge);
    if cells.len() == 0 { too_large() } else { Ok(cells) }
}

/// Refuses doors in the options of a room of cells. Such doors are segments that cut rings; given cells are not cut.
fn refuse_doors(options: &Options) -> Result<()> {
    if options.doors.is_empty() {
        return Ok(());
    }
    Err(Error::Count {
        at: Location::Argument,
        what: "doors",
        given: options.doors.len() as u64,
        allowed: "a room of cells takes none here; make doors of its edges with Room::add_door".to_owned(),
    })
}
