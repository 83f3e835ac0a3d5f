//! How a room is made: from rings, from convex cells, or from the text of a `.mesh` file.

use glam::DVec2;

use crate::error::{Error, Location, Result, shown, shown_point};
use crate::navigate::room::build::arrangement::{Arrangement, FIRST_DOOR_LAYER};
use crate::navigate::room::build::blocks::Blocks;
use crate::navigate::room::build::cells::Cells;
use crate::navigate::room::build::check::{check_query_point, check_radius, too_dense, triangulation_failed};
use crate::navigate::room::build::convex::{check_and_join, triangulate_nonconvex};
use crate::navigate::room::build::grid::Grid;
use crate::navigate::room::build::options::Options;
use crate::navigate::room::build::rings::{Repair, RepairKind};
use crate::navigate::room::build::source::Source;
use crate::navigate::room::build::triangulate::triangulate;
use crate::navigate::room::build::{offset, polyanya_mesh, rings};
use crate::navigate::room::query::room::Room;

/// Relative to the largest coordinate: a point that is no further from the room than this counts as in it. So a point that a caller
/// computed to lie on a wall is in the room, whatever the rounding.
const SNAP: f64 = 1.0 / (1_u64 << 40) as f64;

impl Room {
    /// Builds a room from its outer ring and its holes. Each ring may run in either direction and may repeat its first point at the end.
    ///
    /// Cost: about O(n log n) in the number of points and crossings, for the triangulation.
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
    /// is negative, not finite or too large for the room; [`Error::Invalid`] for an outer ring of fewer than three different points, and
    /// where the holes leave no room. Rings that cross, touch or repeat points are repaired, and [`Room::repairs`] says where; without
    /// [`Options::repair`] the first such place, unless it is a mere touch, is an error.
    pub fn new(outer: &[[f64; 2]], holes: &[impl AsRef<[[f64; 2]]>], options: Options) -> Result<Self> {
        let holes: Vec<&[[f64; 2]]> = holes.iter().map(AsRef::as_ref).collect();
        Self::of_rings(outer, &holes, options)
    }

    fn of_rings(outer: &[[f64; 2]], holes: &[&[[f64; 2]]], options: Options) -> Result<Self> {
        let doors = &options.doors;
        check_radius(options.radius)?;
        for &[from, to] in doors {
            check_query_point("door", from)?;
            check_query_point("door", to)?;
        }
        let add_doors = |arrangement: &mut Arrangement| {
            for (door, ends) in doors.iter().enumerate() {
                let [from, to] = ends.map(|end| arrangement.point(end.into()));
                arrangement.add(from, to, FIRST_DOOR_LAYER + door as u32);
            }
        };
        let mut repairs = Vec::new();
        let mut arrangement = Arrangement::default();
        let all = std::iter::once(outer).chain(holes.iter().copied());
        rings::add_rings(&mut arrangement, all, &mut repairs)?;
        add_doors(&mut arrangement);
        let intersections = arrangement.arrange().map_err(too_dense)?;
        rings::add_repairs(&intersections, &mut repairs);
        let holes_outside = std::cell::RefCell::new(Vec::new());
        let triangles = triangulate(&arrangement, |winding| {
            rings::collect_holes_outside(winding, &mut holes_outside.borrow_mut());
            rings::is_free(winding)
        })
        .map_err(triangulation_failed)?;
        let mut holes_outside = holes_outside.into_inner();
        holes_outside.sort_unstable();
        holes_outside.dedup();
        for ring in holes_outside.into_iter().map(|ring| ring as usize) {
            let place = rings::first_outside(outer, holes[ring - 1]);
            repairs.push(Repair { ring, kind: RepairKind::HoleOutside, place });
        }
        if !options.repair {
            // A touch is allowed: it only cuts the edge that is touched.
            if let Some(repair) = repairs.iter().find(|repair| repair.kind != RepairKind::Touch) {
                return Err(Error::invalid(
                    Location::Ring(repair.ring),
                    format!(
                        "it needs a repair at {} ({}); set Options::repair to have it repaired",
                        shown_point(&repair.place),
                        repair.kind.name()
                    ),
                ));
            }
        }
        if triangles.corners.is_empty() {
            return Err(Error::invalid(
                Location::Argument,
                "no room is left: the outer ring less the holes has no area",
            ));
        }
        let (cells, door_sides) = triangles.cells(options.merge);
        let source = Source::rings(outer, holes, &options);
        Self::finish(cells, doors.len(), door_sides, add_doors, &options, repairs, source)
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
        Self::finish(cells, 0, Vec::new(), |_| {}, &options, Vec::new(), source)
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
        Self::finish(cells, 0, Vec::new(), |_| {}, &options, Vec::new(), source)
    }

    /// Moves the walls by the radius and makes the handle.
    fn finish(
        mut cells: Cells,
        door_count: usize,
        mut door_sides: Vec<(u32, u32)>,
        add_doors: impl Fn(&mut Arrangement),
        options: &Options,
        repairs: Vec<Repair>,
        source: Source,
    ) -> Result<Self> {
        let vertex_count = cells.points.len();
        cells.classify_vertices(vertex_count);
        if options.radius > 0.0 {
            let mut arrangement = Arrangement::default();
            offset::add_swept(&mut arrangement, &cells, options.radius);
            add_doors(&mut arrangement);
            arrangement.arrange().map_err(too_dense)?;
            let triangles = triangulate(&arrangement, offset::is_free).map_err(triangulation_failed)?;
            (cells, door_sides) = triangles.cells(options.merge);
            if cells.len() == 0 {
                return Err(Error::value(
                    Location::Argument,
                    "radius",
                    shown(options.radius),
                    "it must be less: no agent of that size fits into the room",
                ));
            }
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
            radius: options.radius,
            vertex_count,
            area_sums: Vec::new(),
            snap: SNAP * low.abs().max(high.abs()).max_element(),
            edits: None,
            repairs,
            source,
            scratches: Default::default(),
        };
        room.refresh();
        room.register_ring_doors(door_count, &door_sides);
        Ok(room)
    }
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
