//! The rows of an answer as CSV and as JSON.
//!
//! Numbers have the fewest digits that read back as the same f64.

use hullfield::collide::{
    Contact, Distance, Intersection, Manifold, NearestPoint, Raycast, Status, Sweep, SweepOutcome,
};

use crate::read::Parts;

/// A row that can be written.
pub(super) trait Row: Send + Sync + 'static {
    /// The line of column names.
    const COLUMNS: &'static str;
    /// Whether it is of a pair of bodies.
    const IS_PAIR: bool = true;
    /// The names of the verdicts, in the order of [`Row::verdict`].
    const VERDICTS: [&'static str; 3] = STATUSES;
    /// The row's verdict, as an index of [`Row::VERDICTS`].
    fn verdict(&self) -> usize;
    /// The two rows of bodies that it is of, where it is of a pair.
    fn pair(&self) -> Option<[u32; 2]> {
        None
    }
    /// Appends the row's line or lines.
    fn csv(&self, text: &mut Text<'_>);
    /// Appends the row as an object.
    fn json(&self, text: &mut Text<'_>);
}

const STATUSES: [&str; 3] = ["separated", "touching", "penetrating"];

fn index_of(status: Status) -> usize {
    match status {
        Status::Separated => 0,
        Status::Touching => 1,
        Status::Penetrating => 2,
    }
}

impl Row for Intersection {
    const COLUMNS: &'static str = "a,b,status";

    fn verdict(&self) -> usize {
        index_of(self.status)
    }

    fn pair(&self) -> Option<[u32; 2]> {
        Some([self.a, self.b])
    }

    fn csv(&self, text: &mut Text<'_>) {
        text.pair(self.a, self.b, self.status.name());
        text.end();
    }

    fn json(&self, text: &mut Text<'_>) {
        text.open(self.a, self.b, self.status.name());
        text.close();
    }
}

impl Row for Distance {
    const COLUMNS: &'static str = "a,b,status,distance,ax,ay,az,bx,by,bz,nx,ny,nz";

    fn verdict(&self) -> usize {
        index_of(self.status)
    }

    fn pair(&self) -> Option<[u32; 2]> {
        Some([self.a, self.b])
    }

    fn csv(&self, text: &mut Text<'_>) {
        text.pair(self.a, self.b, self.status.name());
        text.cell(self.separation);
        let [on_a, on_b] = self.points.map_or([None; 2], |points| points.map(Some));
        for cells in [on_a, on_b, self.axis] {
            text.cells(cells);
        }
        text.end();
    }

    fn json(&self, text: &mut Text<'_>) {
        text.open(self.a, self.b, self.status.name());
        text.field("distance", |text| text.number(self.separation));
        text.field("points", |text| text.option(self.points, Text::points));
        text.field("normal", |text| text.option(self.axis, Text::array));
        text.close();
    }
}

impl Row for Contact {
    const COLUMNS: &'static str = "a,b,status,depth,nx,ny,nz,ax,ay,az,bx,by,bz";

    fn verdict(&self) -> usize {
        index_of(self.status)
    }

    fn pair(&self) -> Option<[u32; 2]> {
        Some([self.a, self.b])
    }

    fn csv(&self, text: &mut Text<'_>) {
        text.pair(self.a, self.b, self.status.name());
        text.cell(self.depth());
        let [on_a, on_b] = self.points;
        for cells in [self.normal, on_a, on_b] {
            text.cells(Some(cells));
        }
        text.end();
    }

    fn json(&self, text: &mut Text<'_>) {
        text.open(self.a, self.b, self.status.name());
        text.field("depth", |text| text.number(self.depth()));
        text.field("normal", |text| text.array(self.normal));
        text.field("points", |text| text.points(self.points));
        text.close();
    }
}

/// A line for each point, with that point's depth.
impl Row for Manifold {
    const COLUMNS: &'static str = Contact::COLUMNS;

    fn verdict(&self) -> usize {
        index_of(self.status)
    }

    fn pair(&self) -> Option<[u32; 2]> {
        Some([self.a, self.b])
    }

    fn csv(&self, text: &mut Text<'_>) {
        if self.points().is_empty() {
            text.pair(self.a, self.b, self.status.name());
            text.cell(self.depth());
            [Some(self.normal), None, None].into_iter().for_each(|cells| text.cells(cells));
            text.end();
        }
        for point in self.points() {
            text.pair(self.a, self.b, self.status.name());
            text.cell(point.depth());
            for cells in [self.normal, point.on_a, point.on_b] {
                text.cells(Some(cells));
            }
            text.end();
        }
    }

    fn json(&self, text: &mut Text<'_>) {
        text.open(self.a, self.b, self.status.name());
        text.field("depth", |text| text.number(self.depth()));
        text.field("normal", |text| text.array(self.normal));
        text.field("points", |text| {
            text.raw("[");
            for (i, point) in self.points().iter().enumerate() {
                text.raw(if i > 0 { ",{\"depth\":" } else { "{\"depth\":" });
                text.number(point.depth());
                text.field("on_a", |text| text.array(point.on_a));
                text.field("on_b", |text| text.array(point.on_b));
                text.raw("}");
            }
            text.raw("]");
        });
        text.close();
    }
}

impl Row for Sweep {
    const COLUMNS: &'static str = "a,b,status,time,nx,ny,nz";
    const VERDICTS: [&'static str; 3] = ["miss", "touching", "hit"];

    fn verdict(&self) -> usize {
        match self.outcome {
            SweepOutcome::Miss => 0,
            SweepOutcome::Touching => 1,
            SweepOutcome::Hit => 2,
        }
    }

    fn pair(&self) -> Option<[u32; 2]> {
        Some([self.a, self.b])
    }

    fn csv(&self, text: &mut Text<'_>) {
        text.pair(self.a, self.b, Self::VERDICTS[self.verdict()]);
        match self.outcome {
            // A miss has no time.
            SweepOutcome::Miss => text.raw(","),
            _ => text.cell(self.time),
        }
        text.cells(self.normal);
        text.end();
    }

    fn json(&self, text: &mut Text<'_>) {
        text.open(self.a, self.b, Self::VERDICTS[self.verdict()]);
        let time = (self.outcome != SweepOutcome::Miss).then_some(self.time);
        text.field("time", |text| text.option(time, Text::number));
        text.field("normal", |text| text.option(self.normal, Text::array));
        text.close();
    }
}

/// A ray that hits nothing has empty cells. A body without parts is part 0 of itself.
impl Row for Raycast {
    const COLUMNS: &'static str = "ray,body,part,distance,nx,ny,nz";
    const IS_PAIR: bool = false;
    const VERDICTS: [&'static str; 3] = ["miss", "hit", "inside"];

    fn verdict(&self) -> usize {
        self.hit.map_or(0, |hit| if hit.normal.is_some() { 1 } else { 2 })
    }

    fn csv(&self, text: &mut Text<'_>) {
        text.whole(self.ray);
        match self.hit {
            Some(hit) => {
                text.body(hit.body, hit.distance);
                text.cells(hit.normal);
            }
            None => text.raw(",,,,,,"),
        }
        text.end();
    }

    fn json(&self, text: &mut Text<'_>) {
        text.raw("{\"ray\":");
        text.whole(self.ray);
        text.body_fields(self.hit.map(|hit| (hit.body, hit.distance)));
        text.field("normal", |text| text.option(self.hit.and_then(|hit| hit.normal), Text::array));
        text.raw("}");
    }
}

/// A point without any body has empty cells.
impl Row for NearestPoint {
    const COLUMNS: &'static str = "point,body,part,distance,px,py,pz";
    const IS_PAIR: bool = false;
    const VERDICTS: [&'static str; 3] = ["none", "outside", "inside"];

    fn verdict(&self) -> usize {
        self.hit.map_or(0, |hit| if hit.distance > 0.0 { 1 } else { 2 })
    }

    fn csv(&self, text: &mut Text<'_>) {
        text.whole(self.point);
        match self.hit {
            Some(hit) => {
                text.body(hit.body, hit.distance);
                text.cells(Some(hit.nearest));
            }
            None => text.raw(",,,,,,"),
        }
        text.end();
    }

    fn json(&self, text: &mut Text<'_>) {
        text.raw("{\"point\":");
        text.whole(self.point);
        text.body_fields(self.hit.map(|hit| (hit.body, hit.distance)));
        text.field("nearest", |text| text.option(self.hit.map(|hit| hit.nearest), Text::array));
        text.raw("}");
    }
}

/// Text that rows are appended to.
#[derive(Debug, Default)]
pub(super) struct Text<'a> {
    pub(super) bytes: Vec<u8>,
    /// Which rows are parts of one body.
    parts: Option<&'a Parts>,
    /// The rows of the pair that is being written.
    pair: Option<[u32; 2]>,
}

impl<'a> Text<'a> {
    pub(super) fn new(parts: Option<&'a Parts>) -> Self {
        Self { parts, ..Self::default() }
    }

    /// The body and the part of a row; without parts the row is the body, and part 0 of it.
    fn name(&self, row: u32) -> [u32; 2] {
        match self.parts {
            Some(parts) => [parts.body_of[row as usize], parts.part_of[row as usize]],
            None => [row, 0],
        }
    }

    /// The parts of the pair that is being written, where bodies have any.
    fn take_parts(&mut self) -> Option<[u32; 2]> {
        let pair = self.pair.take()?;
        self.parts.map(|_| pair.map(|row| self.name(row)[1]))
    }

    pub(super) fn raw(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn whole(&mut self, value: u32) {
        self.raw(itoa::Buffer::new().format(value));
    }

    /// A number with the fewest digits that read back as it; `null` where it is not finite.
    fn number(&mut self, value: f64) {
        if !value.is_finite() {
            return self.raw("null");
        }
        // The sum turns a negative zero into a positive one.
        let mut buffer = zmij::Buffer::new();
        let text = buffer.format_finite(value + 0.0);
        self.raw(text.strip_suffix(".0").unwrap_or(text));
    }

    // CSV.

    fn pair(&mut self, a: u32, b: u32, verdict: &str) {
        self.pair = Some([a, b]);
        self.whole(self.name(a)[0]);
        self.raw(",");
        self.whole(self.name(b)[0]);
        self.raw(",");
        self.raw(verdict);
    }

    fn cell(&mut self, value: f64) {
        self.raw(",");
        if value.is_finite() {
            self.number(value);
        }
    }

    /// Three cells, empty without an answer.
    fn cells(&mut self, values: Option<[f64; 3]>) {
        match values {
            Some(values) => values.into_iter().for_each(|value| self.cell(value)),
            None => self.raw(",,,"),
        }
    }

    /// A body, its part and the distance.
    fn body(&mut self, body: u32, distance: f64) {
        let name = self.name(body);
        for number in name {
            self.raw(",");
            self.whole(number);
        }
        self.cell(distance);
    }

    /// Ends a line; that of a pair with its parts.
    fn end(&mut self) {
        for part in self.take_parts().into_iter().flatten() {
            self.raw(",");
            self.whole(part);
        }
        self.raw("\n");
    }

    // JSON.

    fn open(&mut self, a: u32, b: u32, verdict: &str) {
        self.pair = Some([a, b]);
        self.raw("{\"a\":");
        self.whole(self.name(a)[0]);
        self.raw(",\"b\":");
        self.whole(self.name(b)[0]);
        self.raw(",\"status\":\"");
        self.raw(verdict);
        self.raw("\"");
    }

    /// Ends the object of a pair, with its parts.
    fn close(&mut self) {
        if let Some([part_a, part_b]) = self.take_parts() {
            self.field("part_a", |text| text.whole(part_a));
            self.field("part_b", |text| text.whole(part_b));
        }
        self.raw("}");
    }

    /// A body, its part and the distance.
    fn body_fields(&mut self, found: Option<(u32, f64)>) {
        let name = found.map(|(row, _)| self.name(row));
        self.field("body", |text| text.option(name, |text, [body, _]| text.whole(body)));
        self.field("part", |text| text.option(name, |text, [_, part]| text.whole(part)));
        self.field("distance", |text| text.option(found, |text, (_, distance)| text.number(distance)));
    }

    fn field(&mut self, name: &str, value: impl FnOnce(&mut Self)) {
        self.raw(",\"");
        self.raw(name);
        self.raw("\":");
        value(self);
    }

    fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        match value {
            Some(value) => write(self, value),
            None => self.raw("null"),
        }
    }

    fn array(&mut self, values: [f64; 3]) {
        for (value, before) in values.into_iter().zip(["[", ",", ","]) {
            self.raw(before);
            self.number(value);
        }
        self.raw("]");
    }

    fn points(&mut self, [on_a, on_b]: [[f64; 3]; 2]) {
        self.raw("[");
        self.array(on_a);
        self.raw(",");
        self.array(on_b);
        self.raw("]");
    }
}

#[cfg(test)]
mod tests {
    use hullfield::collide::{self, Hull, ManifoldOptions, Motion, Pose, SweepOptions};

    use super::*;

    fn csv(row: &impl Row) -> String {
        let mut text = Text::default();
        row.csv(&mut text);
        String::from_utf8(text.bytes).unwrap()
    }

    fn json<R: Row>(row: &R) -> serde_json::Value {
        let mut text = Text::default();
        row.json(&mut text);
        serde_json::from_slice(&text.bytes).unwrap()
    }

    #[track_caller]
    fn assert_has_all_cells<R: Row>(row: &R) {
        let columns = R::COLUMNS.split(',').count();
        assert!(csv(row).lines().all(|line| line.split(',').count() == columns), "{}", csv(row));
    }

    #[test]
    fn numbers_read_back_as_themselves() {
        let mut bits = 1u64;
        let values = (0..2000).map(|_| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from_bits(bits)
        });
        for value in
            values.filter(|value| value.is_finite()).chain([0.1 + 0.2, 1e16, 1e-7, 5e-324, f64::MAX, -3.0])
        {
            let mut text = Text::default();
            text.number(value);
            assert_eq!(std::str::from_utf8(&text.bytes).unwrap().parse(), Ok(value));
        }
        for (value, expected) in [(0.0, "0"), (-0.0, "0"), (2.0, "2"), (-0.5, "-0.5"), (10.0, "10")] {
            let mut text = Text::default();
            text.number(value);
            assert_eq!(text.bytes, expected.as_bytes());
        }
    }

    #[test]
    fn a_missing_answer_is_an_empty_cell() {
        let point = Hull::ball(0.0).unwrap();
        let mut apart = collide::distance(&point, Pose::IDENTITY, &point, Pose::at([1.0, 0.0, 0.0])).unwrap();
        (apart.b, apart.separation) = (4_294_967_295, 0.5);
        apart.points = Some([[0.5, 0.0, -0.0], [1.0, 0.0, 0.25]]);
        assert_eq!(csv(&apart), "0,4294967295,separated,0.5,0.5,0,0,1,0,0.25,1,0,0\n");
        assert_eq!(json(&apart)["points"][1][2], 0.25);
        let mut together = apart;
        (together.status, together.separation) = (Status::Penetrating, 0.0);
        (together.points, together.axis) = (None, None);
        assert_eq!(csv(&together), "0,4294967295,penetrating,0,,,,,,,,,\n");
        assert_eq!(json(&together)["normal"], serde_json::Value::Null);
        assert_has_all_cells(&apart);
        assert_has_all_cells(&together);
    }

    #[test]
    fn a_miss_has_no_time() {
        let (ball, still) = (Hull::ball(1.0).unwrap(), Motion::default());
        let options = SweepOptions::default();
        let mut sweep =
            collide::sweep(&ball, Pose::IDENTITY, still, &ball, Pose::IDENTITY, still, &options).unwrap();
        (sweep.a, sweep.b, sweep.outcome, sweep.time) = (3, 4, SweepOutcome::Hit, 0.25);
        sweep.normal = Some([0.0, 1.0, 0.0]);
        assert_eq!(csv(&sweep), "3,4,hit,0.25,0,1,0\n");
        assert_eq!(json(&sweep)["time"], 0.25);
        assert_has_all_cells(&sweep);
        (sweep.outcome, sweep.normal) = (SweepOutcome::Miss, None);
        assert_eq!(csv(&sweep), "3,4,miss,,,,\n");
        assert_eq!(json(&sweep)["time"], serde_json::Value::Null);
        assert_has_all_cells(&sweep);
    }

    #[test]
    fn a_ray_that_hits_nothing_has_empty_cells() {
        let ball = Hull::ball(1.0).unwrap();
        let cast = |from: f32| {
            collide::raycast(&ball, Pose::IDENTITY, [from, 0.0, 0.0], [-1.0, 0.0, 0.0], f32::INFINITY)
                .unwrap()
        };
        let arena = |from: f32| {
            let arena = hullfield::collide::Arena::new(&hullfield::Engine::cpu(), &[], Default::default());
            let ray = hullfield::collide::Ray::new([from, 0.0, 0.0], [1.0, 0.0, 0.0]);
            let found = arena.unwrap().raycasts(&[], &[ray], &Default::default()).unwrap().wait().unwrap();
            found.rows[0]
        };
        let mut row = arena(0.0);
        row.ray = 7;
        assert_eq!(csv(&row), "7,,,,,,\n");
        assert_eq!(json(&row)["body"], serde_json::Value::Null);
        assert_has_all_cells(&row);
        row.hit = cast(3.0);
        assert_eq!(csv(&row), "7,0,0,2,1,0,0\n");
        assert_eq!((&json(&row)["part"], &json(&row)["distance"]), (&0.into(), &2.into()));
        assert_has_all_cells(&row);
        row.hit = cast(0.5);
        assert_eq!(csv(&row), "7,0,0,0,,,\n");
        assert_has_all_cells(&row);
    }

    #[test]
    fn a_manifold_has_a_line_for_each_point() {
        let cube = Hull::cuboid([1.0; 3]).unwrap();
        let above = Pose::at([0.0, 0.0, 1.5]);
        let options = ManifoldOptions::default();
        let mut manifold = collide::manifold(&cube, Pose::IDENTITY, &cube, above, &options).unwrap();
        assert_eq!(manifold.point_count, 4);
        (manifold.a, manifold.b, manifold.normal) = (1, 2, [0.0, 0.0, 1.0]);
        manifold.separation = -0.5;
        for (point, x) in manifold.points.iter_mut().zip([0.0, 1.0, 2.0, 3.0]) {
            (point.on_a, point.on_b, point.separation) = ([x, 0.0, 1.0], [x, 0.0, 0.5], -0.5);
        }
        assert_eq!(csv(&manifold).lines().count(), 4);
        assert_eq!(csv(&manifold).lines().nth(2), Some("1,2,penetrating,0.5,0,0,1,2,0,1,2,0,0.5"));
        assert_eq!(json(&manifold)["points"][3]["on_b"][0], 3.0);
        assert_has_all_cells(&manifold);
        manifold.point_count = 1;
        assert_eq!(csv(&manifold).lines().count(), 1);
        assert_eq!(json(&manifold)["points"].as_array().unwrap().len(), 1);
        // A pair without points still has a line.
        manifold.point_count = 0;
        assert_eq!(csv(&manifold), "1,2,penetrating,0.5,0,0,1,,,,,,\n");
    }
}
