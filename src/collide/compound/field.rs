//! A height field laid out for searches: the spans of heights of blocks of cells, and of blocks of blocks.
//!
//! Nothing is kept of the triangles: their boxes and planes are made of the heights where a search comes to them.

use glam::DVec3;

use crate::collide::bvh::aabb::Aabb;
use crate::collide::compound::body::{CompoundBody, Placement};
use crate::collide::compound::boxes::{CenteredBox, SLACK};
use crate::collide::compound::height_field::HeightField;
use crate::collide::compound::layout::PartLayout;
use crate::collide::hull::Hull;
use crate::collide::scene::body::Body;
use crate::error::{Error, Result};

/// Blocks of a level, or cells, along a side of a block of the next.
const SIDE: u32 = 4;

/// A laid out height field.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) heights: HeightField,
    origin: DVec3,
    spacing: [f64; 2],
    /// From blocks of cells up to one block.
    levels: Vec<Level>,
    /// Around all triangles.
    pub(crate) bounds: CenteredBox,
    /// Upper bound of the radius of a triangle.
    reach: f64,
    /// A part that is not missing.
    first_part: u32,
}

/// The blocks of one size.
#[derive(Debug)]
struct Level {
    columns: u32,
    rows: u32,
    /// Least and greatest height of the triangles of each block; the least is above the greatest where it has none.
    spans: Vec<[f32; 2]>,
}

/// What a search of a line or a point does with the triangles that it comes to.
pub(crate) trait TriangleVisit {
    /// What is farther away is skipped: a place along a line, or a distance from a point.
    fn limit(&self) -> f64;
    fn triangle(&mut self, part: u32);
}

/// No height.
const NONE: [f32; 2] = [f32::INFINITY, f32::NEG_INFINITY];

fn joined(a: [f32; 2], b: [f32; 2]) -> [f32; 2] {
    [a[0].min(b[0]), a[1].max(b[1])]
}

impl Level {
    /// The level over `columns` × `rows` blocks or cells with these spans.
    fn over(columns: u32, rows: u32, span: impl Fn(u32, u32) -> [f32; 2]) -> Self {
        let mut level =
            Self { columns: columns.div_ceil(SIDE), rows: rows.div_ceil(SIDE), spans: Vec::new() };
        level.spans.reserve_exact(level.columns as usize * level.rows as usize);
        for row in 0..level.rows {
            for column in 0..level.columns {
                let mut all = NONE;
                for r in row * SIDE..rows.min((row + 1) * SIDE) {
                    for c in column * SIDE..columns.min((column + 1) * SIDE) {
                        all = joined(all, span(r, c));
                    }
                }
                level.spans.push(all);
            }
        }
        level
    }

    fn span(&self, row: u32, column: u32) -> [f32; 2] {
        self.spans[row as usize * self.columns as usize + column as usize]
    }
}

impl Field {
    pub(crate) fn new(heights: &HeightField) -> Self {
        let heights = heights.clone();
        let (columns, rows) = (heights.columns() - 1, heights.rows() - 1);
        let span_of = |part: u32| {
            let corners = heights.corners(part)?;
            let each = corners.map(|[row, column]| heights.height(row, column));
            Some(each.iter().fold(NONE, |span, &height| joined(span, [height, height])))
        };
        let cell = |row: u32, column: u32| {
            let part = 2 * (row * columns + column);
            joined(span_of(part).unwrap_or(NONE), span_of(part + 1).unwrap_or(NONE))
        };
        let mut levels = vec![Level::over(columns, rows, cell)];
        while let Some(last) = levels.last()
            && last.spans.len() > 1
        {
            let next = Level::over(last.columns, last.rows, |row, column| last.span(row, column));
            levels.push(next);
        }
        let (mut steepest, mut first_part) = (0.0_f64, None);
        for part in 0..heights.part_count() {
            if let Some([low, high]) = span_of(part) {
                steepest = steepest.max(f64::from(high) - f64::from(low));
                first_part = first_part.or(Some(part));
            }
        }
        let origin = DVec3::from(heights.origin().map(f64::from));
        let spacing = heights.spacing().map(f64::from);
        let [low, high] = levels.last().map_or([0.0; 2], |last| last.span(0, 0));
        let size = DVec3::new(
            spacing[0] * f64::from(columns),
            f64::from(high) - f64::from(low),
            spacing[1] * f64::from(rows),
        );
        let least = origin + DVec3::Y * f64::from(low);
        Self {
            bounds: CenteredBox::between(least, least + size),
            reach: DVec3::new(spacing[0], steepest, spacing[1]).length(),
            first_part: first_part.unwrap_or(0),
            heights,
            origin,
            spacing,
            levels,
        }
    }

    /// Whether the engines can hold each triangle of a body of this scale and padding.
    pub(crate) fn fits(&self, scale: f64, padding: f64) -> bool {
        let (low, high) = (1.000_001e-18, 0.999_999e18);
        let highest = self.bounds.size() + self.reach;
        // The farthest corner of a right triangle is at two thirds of its longer leg from the mean.
        let least = 0.6 * self.spacing[0].max(self.spacing[1]);
        scale * highest + padding <= high && scale * least + padding >= low && scale >= 1e-37
    }

    /// What rounding may add to the box of a triangle: that of a box in f32, and a share of the triangle itself.
    pub(crate) fn slack(&self) -> f64 {
        1e-6 * self.bounds.size() + SLACK * self.reach
    }

    /// A part that is not missing.
    pub(crate) fn first_part(&self) -> u32 {
        self.first_part
    }

    /// Upper bound of the radius of a triangle.
    pub(crate) fn reach(&self) -> f64 {
        self.reach
    }

    /// More than what f64 rounds off a coordinate.
    pub(crate) fn rounding(&self) -> f64 {
        1e-13 * self.bounds.size()
    }

    /// The corners of a part, in the field's frame.
    #[inline(always)]
    pub(crate) fn corners(&self, part: u32) -> Option<[DVec3; 3]> {
        Some(self.heights.corners(part)?.map(|[row, column]| {
            let height = f64::from(self.heights.height(row, column));
            self.point(row, column) + DVec3::Y * height
        }))
    }

    /// The point that a height is above.
    #[inline(always)]
    fn point(&self, row: u32, column: u32) -> DVec3 {
        let [across, along] = self.spacing;
        self.origin + DVec3::new(f64::from(column) * across, 0.0, f64::from(row) * along)
    }

    /// A part of a body as a hull, and as a body of this hull with its position in f64. The hull is about the point below the cell's first corner,
    /// so that its coordinates are those stored.
    pub(crate) fn part(
        &self,
        body: &CompoundBody,
        placement: &Placement,
        part: u32,
        hull: u32,
    ) -> Result<(Hull, Body, [f64; 3])> {
        let [row, column] = self.heights.cell(part);
        let [across, along] = self.heights.spacing();
        let Some(corners) = self.heights.corners(part) else {
            return Err(Error::internal("collide::compound::Field::part", "a missing triangle"));
        };
        let triangle = Hull::proper_triangle(corners.map(|[r, c]| {
            let height = self.heights.height(r, c);
            [if c > column { across } else { 0.0 }, height, if r > row { along } else { 0.0 }]
        }))?;
        let offset = placement.turn * (placement.scale * self.point(row, column));
        let position = placement.position + offset;
        let hull = Body {
            position: position.as_vec3().to_array(),
            rotation: body.rotation,
            scale: [body.scale; 3],
            padding: body.padding,
            group: body.group,
            mask: body.mask,
            ..Body::new(hull)
        };
        Ok((triangle, hull, position.to_array()))
    }

    /// The cells of a block, or of a cell at level 0: rows and columns.
    #[inline(always)]
    fn cells_of(&self, level: usize, row: u32, column: u32) -> [[u32; 2]; 2] {
        let side = SIDE.saturating_pow(level as u32);
        let range = |at: u32, count: u32| {
            let first = at * side;
            [first, count.min(first.saturating_add(side))]
        };
        [range(row, self.heights.rows() - 1), range(column, self.heights.columns() - 1)]
    }

    /// The box of a block, or of a cell at level 0; `None` where it has no triangle.
    #[inline(always)]
    fn block(&self, level: usize, row: u32, column: u32) -> Option<[DVec3; 2]> {
        let [low, high] = match level.checked_sub(1) {
            Some(below) => self.levels[below].span(row, column),
            None => {
                let first = self.heights.height(row, column);
                let mut span = NONE;
                let corners = [first, self.heights.height(row + 1, column)];
                let others = [self.heights.height(row, column + 1), self.heights.height(row + 1, column + 1)];
                // A NaN leaves the other number.
                for height in corners.into_iter().chain(others) {
                    span = joined(span, [height, height]);
                }
                span
            }
        };
        let [rows, columns] = self.cells_of(level, row, column);
        let least = self.point(rows[0], columns[0]) + DVec3::Y * f64::from(low);
        let most = self.point(rows[1], columns[1]) + DVec3::Y * f64::from(high);
        (low <= high).then_some([least, most])
    }

    /// The blocks or cells that a block of a level is made of.
    #[inline(always)]
    fn children(&self, level: usize, row: u32, column: u32) -> [[u32; 2]; 2] {
        let (columns, rows) = match level.checked_sub(2) {
            Some(below) => (self.levels[below].columns, self.levels[below].rows),
            None => (self.heights.columns() - 1, self.heights.rows() - 1),
        };
        let range = |at: u32, count: u32| [at * SIDE, count.min((at + 1) * SIDE)];
        [range(row, rows), range(column, columns)]
    }

    /// Visits the triangles that a line may come within `grow` of, roughly in their order along it: the points `start` + s · `direction` for s
    /// from 0 to the visitor's limit.
    pub(crate) fn visit_line(
        &self,
        start: DVec3,
        direction: DVec3,
        grow: f64,
        visitor: &mut impl TriangleVisit,
    ) {
        let line = LocalLine { start, direction, inverse: 1.0 / direction, grow };
        self.descend_line(&line, self.levels.len(), 0, 0, visitor);
    }

    fn descend_line(
        &self,
        line: &LocalLine,
        level: usize,
        row: u32,
        column: u32,
        visitor: &mut impl TriangleVisit,
    ) {
        let Some([least, most]) = self.block(level, row, column) else { return };
        if !line.meets_box(least, most, visitor.limit()) {
            return;
        }
        if level == 0 {
            let part = 2 * (row * (self.heights.columns() - 1) + column);
            let first = if line.direction.x + line.direction.z < 0.0 { 1 } else { 0 };
            for part in [part + first, part + (1 - first)] {
                if let Some(corners) = self.corners(part)
                    && line.may_meet(&corners, visitor.limit())
                {
                    visitor.triangle(part);
                }
            }
            return;
        }
        let [rows, columns] = self.children(level, row, column);
        let (row_count, column_count) = (rows[1] - rows[0], columns[1] - columns[0]);
        for at in 0..row_count {
            let row = if line.direction.z < 0.0 { rows[1] - 1 - at } else { rows[0] + at };
            for at in 0..column_count {
                let column = if line.direction.x < 0.0 { columns[1] - 1 - at } else { columns[0] + at };
                self.descend_line(line, level - 1, row, column, visitor);
            }
        }
    }

    /// Visits the triangles that may be within the visitor's limit of a point, less by `grow`, the nearer blocks first.
    pub(crate) fn visit_point(&self, point: DVec3, grow: f64, visitor: &mut impl TriangleVisit) {
        self.descend_point(point, grow, self.levels.len(), 0, 0, visitor);
    }

    fn descend_point(
        &self,
        point: DVec3,
        grow: f64,
        level: usize,
        row: u32,
        column: u32,
        visitor: &mut impl TriangleVisit,
    ) {
        if level == 0 {
            let part = 2 * (row * (self.heights.columns() - 1) + column);
            [part, part + 1].into_iter().filter(|&part| self.heights.corners(part).is_some()).for_each(
                |part| {
                    visitor.triangle(part);
                },
            );
            return;
        }
        // Nearer blocks first.
        let mut near = [(f64::INFINITY, 0, 0); (SIDE * SIDE) as usize];
        let mut count = 0;
        let [rows, columns] = self.children(level, row, column);
        for row in rows[0]..rows[1] {
            for column in columns[0]..columns[1] {
                if let Some([least, most]) = self.block(level - 1, row, column) {
                    let away = (point.clamp(least, most) - point).length();
                    let mut at = count;
                    while at > 0 && near[at - 1].0 > away {
                        near[at] = near[at - 1];
                        at -= 1;
                    }
                    near[at] = (away, row, column);
                    count += 1;
                }
            }
        }
        for &(away, row, column) in &near[..count] {
            if away > visitor.limit() + grow {
                return;
            }
            self.descend_point(point, grow, level - 1, row, column, visitor);
        }
    }

    fn descend_box(
        &self,
        query: &[DVec3; 2],
        level: usize,
        row: u32,
        column: u32,
        found: &mut impl FnMut(u32),
    ) {
        let meets = |[least, most]: [DVec3; 2]| least.cmple(query[1]).all() && most.cmpge(query[0]).all();
        if !self.block(level, row, column).is_some_and(meets) {
            return;
        }
        if level == 0 {
            let part = 2 * (row * (self.heights.columns() - 1) + column);
            for part in [part, part + 1] {
                if let Some([a, b, c]) = self.corners(part)
                    && meets([a.min(b).min(c), a.max(b).max(c)])
                {
                    found(part);
                }
            }
            return;
        }
        // Only the blocks that the box is over.
        let [rows, columns] = self.children(level, row, column);
        let side = f64::from(SIDE.saturating_pow(level as u32 - 1));
        let range = |[first, end]: [u32; 2], least: f64, most: f64, spacing: f64| {
            let at = |x: f64| x / (spacing * side);
            let low = at(least).floor() - 1.0;
            let high = at(most).floor() + 2.0;
            (f64::from(first).max(low) as u32, f64::from(end).min(high).max(0.0) as u32)
        };
        let (least, most) = (query[0] - self.origin, query[1] - self.origin);
        let (first_row, end_row) = range(rows, least.z, most.z, self.spacing[1]);
        let (first_column, end_column) = range(columns, least.x, most.x, self.spacing[0]);
        for row in first_row..end_row {
            for column in first_column..end_column {
                self.descend_box(query, level - 1, row, column, found);
            }
        }
    }
}

impl PartLayout for Field {
    fn bounds(&self) -> &CenteredBox {
        &self.bounds
    }

    fn slack(&self) -> f64 {
        Field::slack(self)
    }

    fn part_box(&self, part: u32) -> CenteredBox {
        let Some([a, b, c]) = self.corners(part) else { return self.bounds };
        CenteredBox::between(a.min(b).min(c), a.max(b).max(c))
    }

    fn ball(&self, part: u32) -> (DVec3, f64) {
        let Some(corners) = self.corners(part) else { return (self.bounds.middle, f64::INFINITY) };
        let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
        (middle, corners.iter().map(|corner| corner.distance(middle)).fold(0.0, f64::max))
    }

    fn is_clear(&self, part: u32, middle: DVec3, radius: f64) -> bool {
        let Some([a, b, c]) = self.corners(part) else { return false };
        let normal = (b - a).cross(c - a);
        normal.dot(middle - a).abs() > radius * normal.length()
    }

    fn for_each_part(&self, query: &Aabb, mut found: impl FnMut(u32)) {
        let query = [query.min, query.max].map(|corner| DVec3::from(corner.map(f64::from)));
        self.descend_box(&query, self.levels.len(), 0, 0, &mut found);
    }

    fn all_parts(&self, found: impl FnMut(u32)) {
        (0..self.heights.part_count()).filter(|&part| self.heights.corners(part).is_some()).for_each(found);
    }

    fn nearest_part(&self, point: DVec3) -> u32 {
        let mut nearest = NearestPart { field: self, point, part: self.first_part, away: f64::INFINITY };
        self.visit_point(point, 0.0, &mut nearest);
        nearest.part
    }
}

/// Finds the triangle nearest to a point of the field's frame.
struct NearestPart<'a> {
    field: &'a Field,
    point: DVec3,
    part: u32,
    away: f64,
}

impl TriangleVisit for NearestPart<'_> {
    fn limit(&self) -> f64 {
        self.away
    }

    fn triangle(&mut self, part: u32) {
        let Some(corners) = self.field.corners(part) else { return };
        let away = distance(self.point, &corners);
        if away < self.away {
            (self.part, self.away) = (part, away);
        }
    }
}

/// How far a point is from a triangle.
fn distance(point: DVec3, &[a, b, c]: &[DVec3; 3]) -> f64 {
    let normal = (b - a).cross(c - a);
    let sides = [[a, b], [b, c], [c, a]];
    if sides.iter().all(|&[from, to]| (to - from).cross(point - from).dot(normal) >= 0.0) {
        return ((point - a).dot(normal) / normal.length()).abs();
    }
    let to_side = |&[from, to]: &[DVec3; 2]| {
        let along = to - from;
        let at = ((point - from).dot(along) / along.dot(along)).clamp(0.0, 1.0);
        point.distance(from + along * at)
    };
    sides.iter().map(to_side).fold(f64::INFINITY, f64::min)
}

/// A line in a field's frame.
struct LocalLine {
    start: DVec3,
    direction: DVec3,
    /// One over each component of the direction.
    inverse: DVec3,
    /// How near it must come to a triangle.
    grow: f64,
}

impl LocalLine {
    /// Whether the line may come near a box before a place.
    #[inline(always)]
    fn meets_box(&self, least: DVec3, most: DVec3, limit: f64) -> bool {
        let (mut enter, mut exit) = (0.0_f64, limit);
        for k in 0..3 {
            let near = (least[k] - self.grow - self.start[k]) * self.inverse[k];
            let far = (most[k] + self.grow - self.start[k]) * self.inverse[k];
            // A line in the box's side, which is 0 · ∞.
            if near.is_nan() || far.is_nan() {
                continue;
            }
            enter = enter.max(near.min(far));
            exit = exit.min(near.max(far));
        }
        enter <= exit + 1e-12 * exit.abs()
    }

    /// Whether the line may come near a triangle before a place.
    #[inline(always)]
    fn may_meet(&self, &[a, b, c]: &[DVec3; 3], limit: f64) -> bool {
        let normal = (b - a).cross(c - a);
        let (length, speed) = (normal.length(), self.direction.length());
        let slope = normal.dot(self.direction);
        // Nearly along the plane a small error is far along the line.
        if slope.abs() <= 1e-4 * length * speed {
            return true;
        }
        let place = normal.dot(a - self.start) / slope;
        // How far a distance of `grow` from the plane is along the line, and so beside the triangle.
        let beside = self.grow * (1.0 + length * speed / slope.abs());
        if place < -beside / speed || place > limit + beside / speed {
            return false;
        }
        let point = self.start + self.direction * place;
        let is_within = |from: DVec3, to: DVec3| {
            let edge = to - from;
            edge.cross(point - from).dot(normal) >= -beside * edge.length() * length
        };
        is_within(a, b) && is_within(b, c) && is_within(c, a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waves(columns: u32, rows: u32) -> Field {
        let height = |at: u32| if at % 17 == 5 { f32::NAN } else { ((at * 31 % 19) as f32 - 9.0) * 0.1 };
        let heights: Vec<f32> = (0..columns * rows).map(height).collect();
        Field::new(&HeightField::new(columns, heights, [0.5, 0.75]).unwrap().at([-3.0, 1.0, 2.0]).unwrap())
    }

    fn parts(field: &Field) -> Vec<u32> {
        (0..field.heights.part_count()).filter(|&part| field.corners(part).is_some()).collect()
    }

    #[test]
    fn a_box_finds_the_triangles_whose_boxes_it_meets() {
        for (columns, rows) in [(2, 2), (5, 4), (17, 6), (40, 33), (3, 70)] {
            let field = waves(columns, rows);
            let all = parts(&field);
            for at in 0..60_u32 {
                let corner = |k: u32| ((at * 7 + k * 13) % 29) as f32 * 0.9 - 4.0;
                let min = [corner(0), corner(1) * 0.2, corner(2)];
                let query = Aabb::new(min, min.map(|x| x + 0.3 + (at % 5) as f32));
                let mut found = Vec::new();
                field.for_each_part(&query, |part| found.push(part));
                found.sort_unstable();
                let meets = |&part: &u32| field.part_box(part).nearest().overlaps(&query);
                // Boxes in f32 may touch where those in f64 do not: none of these does.
                assert_eq!(found, all.iter().copied().filter(meets).collect::<Vec<_>>(), "{columns} {at}");
            }
        }
    }

    struct Seen(Vec<u32>, f64);

    impl TriangleVisit for Seen {
        fn limit(&self) -> f64 {
            self.1
        }

        fn triangle(&mut self, part: u32) {
            self.0.push(part);
        }
    }

    #[test]
    fn a_line_and_a_point_come_to_all_triangles_that_they_are_near() {
        let (mut met, mut passed) = (0, 0);
        for (columns, rows) in [(2, 2), (9, 14), (40, 33)] {
            let field = waves(columns, rows);
            let all = parts(&field);
            for at in 0..300_u32 {
                let number = |k: u32| f64::from((at * 37 + k * 101) % 211) / 211.0;
                let start = DVec3::new(20.0 * number(0) - 3.0, 4.0 * number(1) - 1.0, 20.0 * number(2));
                let mut direction = DVec3::new(number(3) - 0.5, number(4) - 0.5, number(5) - 0.5);
                // Along axes, from a border of cells.
                let start = if at % 5 == 0 { (start * 2.0).round() * 0.5 } else { start };
                if at % 5 == 0 {
                    direction = [DVec3::X, DVec3::NEG_Z, DVec3::NEG_Y][(at / 5 % 3) as usize];
                }
                let mut seen = Seen(Vec::new(), 1e3);
                field.visit_line(start, direction, 1e-6, &mut seen);
                let mut near = Seen(Vec::new(), 2.0);
                field.visit_point(start, 0.0, &mut near);
                for &part in &all {
                    let corners = field.corners(part).unwrap();
                    let is_near = distance(start, &corners) <= 2.0;
                    assert!(!is_near || near.0.contains(&part), "{columns} {at} {part}");
                    passed += usize::from(!seen.0.contains(&part));
                    // A line that misses a ball around the triangle misses the triangle.
                    let radius =
                        corners.iter().fold(0.0, |most, corner| corners[0].distance(*corner).max(most));
                    let along = (corners[0] - start).dot(direction) / direction.length_squared();
                    if corners[0].distance(start + direction * along) > radius + 1.0 {
                        continue;
                    }
                    // Some points of the line, as near to the triangle as any: by bisection of its distance, which is convex.
                    let (mut low, mut high) = (0.0, 1e3);
                    for _ in 0..200 {
                        let [p, q] = [low + (high - low) / 3.0, high - (high - low) / 3.0];
                        let of = |place: f64| distance(start + direction * place, &corners);
                        if of(p) <= of(q) { high = q } else { low = p }
                    }
                    let least = distance(start + direction * low, &corners);
                    assert!(least > 1e-7 || seen.0.contains(&part), "{columns} {at} {part} {least}");
                    met += usize::from(least <= 1e-7);
                }
                let nearest = distance(start, &field.corners(field.nearest_part(start)).unwrap());
                let least = all.iter().map(|&part| distance(start, &field.corners(part).unwrap()));
                assert_eq!(nearest, least.fold(f64::INFINITY, f64::min));
            }
        }
        assert!(met > 100 && passed > 100_000, "{met} {passed}");
    }
}
