//! A line clipped against the planes of a hull (Cyrus and Beck 1978), four planes at a time.

use glam::DVec3;

use crate::collide::hull::plane_table::{LANES, PlaneBlock};

/// Blocks between two looks at whether anything is left of the line.
const TOGETHER: usize = 2;

/// The part of a line within some planes: empty where `enter` is above `exit`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) enter: f64,
    pub(crate) exit: f64,
}

impl Span {
    /// Whether it and a part of the line overlap.
    #[inline(always)]
    pub(crate) fn meets(&self, begin: f64, end: f64) -> bool {
        let enter = if self.enter > begin { self.enter } else { begin };
        let exit = if self.exit < end { self.exit } else { end };
        enter <= exit
    }

    /// Whether a place of the line is within.
    #[inline(always)]
    pub(crate) fn holds(&self, at: f64) -> bool {
        self.enter <= at && at <= self.exit
    }
}

/// The greatest of some entries and the least of some exits, lane by lane.
struct Bounds {
    enter: [f64; LANES],
    exit: [f64; LANES],
}

impl Bounds {
    const ALL: Self = Self { enter: [f64::NEG_INFINITY; LANES], exit: [f64::INFINITY; LANES] };

    /// Cuts off what is above a plane: `slope` is the line's along its normal, `height` how far below the plane its start is.
    #[inline(always)]
    fn cut(&mut self, lane: usize, slope: f64, height: f64) {
        // Of a parallel line an infinity remains, of the right sign as the slope is no negative zero, or NaN in the plane, which is ignored.
        let at = height / slope;
        let enter = if slope < 0.0 { at } else { f64::NEG_INFINITY };
        let exit = if slope < 0.0 { f64::INFINITY } else { at };
        self.enter[lane] = if enter > self.enter[lane] { enter } else { self.enter[lane] };
        self.exit[lane] = if exit < self.exit[lane] { exit } else { self.exit[lane] };
    }

    #[inline(always)]
    fn span(&self) -> Span {
        let [a, b, c, d] = self.enter;
        let [e, f, g, h] = self.exit;
        let more = |x: f64, y: f64| if x > y { x } else { y };
        let less = |x: f64, y: f64| if x < y { x } else { y };
        Span { enter: more(more(a, b), more(c, d)), exit: less(less(e, f), less(g, h)) }
    }
}

/// Slope and height of one lane.
#[inline(always)]
fn slope_and_height(block: &PlaneBlock, lane: usize, start: DVec3, direction: DVec3) -> (f64, f64) {
    let [x, y, z] = [block.normal[0][lane], block.normal[1][lane], block.normal[2][lane]];
    // The sum with 0 turns a negative zero into a positive one.
    let slope = x * direction.x + y * direction.y + z * direction.z + 0.0;
    (slope, block.offset[lane] - (x * start.x + y * start.y + z * start.z))
}

/// The part of the line within the planes moved out by `wide`; some empty span where that misses `begin` to `end`. All is in the hull's
/// units and frame.
#[inline(always)]
pub(crate) fn clip(
    blocks: &[PlaneBlock],
    start: DVec3,
    direction: DVec3,
    wide: f64,
    [begin, end]: [f64; 2],
) -> Span {
    let mut bounds = Bounds { enter: [begin; LANES], exit: [end; LANES] };
    for some in blocks.chunks(TOGETHER) {
        for block in some {
            for lane in 0..LANES {
                let (slope, height) = slope_and_height(block, lane, start, direction);
                bounds.cut(lane, slope, height + wide);
            }
        }
        let span = bounds.span();
        if span.enter > span.exit {
            break;
        }
    }
    bounds.span()
}

/// The part of the line within the planes, each moved out by `wide` world units; `inverse` is one over the scale.
#[inline(always)]
pub(crate) fn clip_rounded(
    blocks: &[PlaneBlock],
    start: DVec3,
    direction: DVec3,
    wide: f64,
    inverse: DVec3,
) -> Span {
    let mut bounds = Bounds::ALL;
    for block in blocks {
        for lane in 0..LANES {
            let (slope, height) = slope_and_height(block, lane, start, direction);
            let height = height + wide * stretch(block, lane, inverse);
            bounds.cut(lane, slope, height);
        }
    }
    bounds.span()
}

/// Length of a plane's normal in world units, where it is 1 in the hull's: what a height in world units is multiplied by.
#[inline(always)]
fn stretch(block: &PlaneBlock, lane: usize, inverse: DVec3) -> f64 {
    let [x, y, z] = [
        block.normal[0][lane] * inverse.x,
        block.normal[1][lane] * inverse.y,
        block.normal[2][lane] * inverse.z,
    ];
    (x * x + y * y + z * z).sqrt()
}

/// The first plane by which the line enters at `enter`, as [`clip`] has it.
pub(crate) fn entered_plane(
    blocks: &[PlaneBlock],
    start: DVec3,
    direction: DVec3,
    enter: f64,
) -> Option<usize> {
    let is_entered = |at: &usize| {
        let (slope, height) = slope_and_height(&blocks[at / LANES], at % LANES, start, direction);
        slope < 0.0 && height / slope == enter
    };
    (0..blocks.len() * LANES).find(is_entered)
}

/// The height of a point above each plane, in world units, and the plane's unit normal there. `point` is in the hull's units and frame.
pub(crate) fn planes_at(
    blocks: &[PlaneBlock],
    point: DVec3,
    inverse: DVec3,
) -> impl Iterator<Item = (f64, DVec3)> + '_ {
    let all = blocks.iter().flat_map(|block| (0..LANES).map(move |lane| (block, lane)));
    all.filter_map(move |(block, lane)| {
        let (_, below) = slope_and_height(block, lane, point, DVec3::ZERO);
        let length = stretch(block, lane, inverse);
        let normal = DVec3::from(block.normal.map(|x| x[lane])) * inverse;
        (length > 0.0).then(|| (-below / length, normal / length))
    })
}

/// How far a point is above the highest of the planes, in world units, and the first such plane. `point` is in the hull's units and
/// frame.
#[inline(always)]
pub(crate) fn highest_plane(blocks: &[PlaneBlock], point: DVec3, inverse: DVec3) -> (f64, usize) {
    let mut best = [f64::NEG_INFINITY; LANES];
    let mut at = [0; LANES];
    for (number, block) in blocks.iter().enumerate() {
        for lane in 0..LANES {
            let (_, below) = slope_and_height(block, lane, point, DVec3::ZERO);
            // Minus infinity for a lane without a plane.
            let length = stretch(block, lane, inverse);
            let height = if length > 0.0 { -below / length } else { f64::NEG_INFINITY };
            if height > best[lane] {
                best[lane] = height;
                at[lane] = number * LANES + lane;
            }
        }
    }
    let mut lane = 0;
    for other in 1..LANES {
        if best[other] > best[lane] || best[other] == best[lane] && at[other] < at[lane] {
            lane = other;
        }
    }
    (best[lane], at[lane])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::hull::Hull;
    use crate::collide::hull::plane_table::PlaneTable;

    #[test]
    fn a_cube_cuts_its_span_out_of_a_line() {
        let table = PlaneTable::new(&Hull::cuboid([1.0; 3]).unwrap());
        let start = DVec3::new(-5.0, 0.25, 1.0);
        // In the plane of a face, which is part of the cube.
        let all = [f64::NEG_INFINITY, f64::INFINITY];
        let clipped = |start, direction, wide| clip(&table.blocks, start, direction, wide, all);
        let sharp = clipped(start, DVec3::new(2.0, 0.0, 0.0), 0.0);
        let widened = clipped(start, DVec3::new(2.0, 0.0, 0.0), 0.5);
        assert_eq!((sharp.enter, sharp.exit), (2.0, 3.0));
        assert_eq!((widened.enter, widened.exit), (1.75, 3.25));
        // The same line the other way, with zeros of both signs.
        let back = clipped(DVec3::new(5.0, -0.0, 1.0), DVec3::new(-2.0, -0.0, 0.0), 0.0);
        assert_eq!((back.enter, back.exit), (2.0, 3.0));
        let plane = entered_plane(&table.blocks, start, DVec3::new(2.0, 0.0, 0.0), 2.0).unwrap();
        assert_eq!(table.normal(plane), DVec3::NEG_X);
        let above = DVec3::new(-5.0, 0.25, 1.0 + 1e-15);
        let (sharp, widened) = (clipped(above, DVec3::X, 0.0), clipped(above, DVec3::X, 0.5));
        assert!(!sharp.meets(f64::NEG_INFINITY, f64::INFINITY) && widened.meets(0.0, 10.0));
        assert!(!widened.meets(0.0, 3.0) && widened.holds(4.0));
        assert!(!widened.holds(3.25) && !widened.holds(6.75));
        // Twice as wide: half a world unit is a quarter of the hull's.
        let span = clip_rounded(&table.blocks, start, DVec3::X, 0.5, DVec3::splat(0.5));
        assert_eq!((span.enter, span.exit), (3.75, 6.25));
        let (height, plane) = highest_plane(&table.blocks, DVec3::new(0.5, -3.0, 0.0), DVec3::splat(0.5));
        assert_eq!((height, table.normal(plane)), (4.0, DVec3::NEG_Y));
    }
}
