//! Pairs of segments that meet, or almost: found without a look at pairs whose boxes merely overlap, as those of spikes side by side do.
//!
//! A strip of the plane between two uprights holds segments that cross it from side to side, and others. Those that cross it and do not
//! meet are a staircase: each lies above the last. All others look up by bisection which stairs they meet, and go on into the two halves of the
//! strip (Balaban 1995, "An Optimal Algorithm for Finding Segments Intersections", §2). So n segments of which k pairs meet cost
//! O((n + k) log² n).
//!
//! The plane is turned, so that few segments are upright, and coordinates are rounded. Each segment is thickened by more than the rounding.
//! So no pair that meets is missed; pairs that only almost meet may be found too.

use glam::DVec2;

/// The thickness, relative to the extent. Coordinates are rounded by less than a quarter of it.
const THICKNESS: f64 = 32.0 * f64::EPSILON;

/// Pairs among so few segments are not searched further.
const FEW: usize = 8;

/// A segment in the turned plane, from left to right, thickened.
#[derive(Debug, Clone, Copy)]
struct Bar {
    from: DVec2,
    to: DVec2,
    /// How far above and below the middle line it reaches.
    half: f64,
    low: f64,
    high: f64,
}

impl Bar {
    fn new(a: DVec2, b: DVec2, thickness: f64) -> Self {
        let (from, to) = if a.x <= b.x { (a, b) } else { (b, a) };
        let slope = (to.y - from.y).abs() / (to.x - from.x);
        let half = if slope.is_finite() { 2.0 * thickness * (1.0 + slope) } else { f64::INFINITY };
        let (low, high) = (a.y.min(b.y) - thickness, a.y.max(b.y) + thickness);
        Self { from: from - DVec2::X * thickness, to: to + DVec2::X * thickness, half, low, high }
    }

    /// Its least and greatest height at a place; beyond an end, those there.
    fn at(&self, x: f64) -> [f64; 2] {
        let part = ((x - self.from.x) / (self.to.x - self.from.x)).clamp(0.0, 1.0);
        if self.half == f64::INFINITY || part.is_nan() {
            return [self.low, self.high];
        }
        let middle = self.from.y + (self.to.y - self.from.y) * part;
        [(middle - self.half).max(self.low), (middle + self.half).min(self.high)]
    }
}

/// A stair of a staircase: a bar, and its heights at the left and at the right of the strip.
#[derive(Debug, Clone, Copy)]
struct Stair {
    bar: u32,
    left: [f64; 2],
    right: [f64; 2],
}

impl Stair {
    /// Its least and greatest height at a part of the way from left to right.
    fn at(&self, part: f64) -> [f64; 2] {
        [0, 1].map(|k| self.left[k] + (self.right[k] - self.left[k]) * part)
    }
}

struct Search {
    bars: Vec<Bar>,
    pairs: Vec<(u32, u32)>,
    limit: usize,
}

/// The pairs of segments, the lower one first, that may have a point in common; sorted. `None` where there are more than `limit`.
pub(crate) fn candidate_pairs(segments: &[[DVec2; 2]], limit: usize) -> Option<Vec<(u32, u32)>> {
    let ends = || segments.as_flattened().iter().copied();
    let (low, high) =
        (ends().fold(DVec2::INFINITY, DVec2::min), ends().fold(DVec2::NEG_INFINITY, DVec2::max));
    let centre = low + (high - low) * 0.5;
    let thickness = THICKNESS * (high - low).max_element();
    let turn = DVec2::from_angle(1.0);
    let bars: Vec<Bar> = segments
        .iter()
        .map(|&ends| {
            let [a, b] = ends.map(|end| turn.rotate(end - centre));
            Bar::new(a, b, thickness)
        })
        .collect();
    let left = bars.iter().fold(f64::INFINITY, |least, bar| least.min(bar.from.x));
    let right = bars.iter().fold(f64::NEG_INFINITY, |most, bar| most.max(bar.to.x));
    let mut search = Search { bars, pairs: Vec::new(), limit };
    let all: Vec<u32> = (0..segments.len() as u32).collect();
    if !(left < right) {
        // All lie in one point.
        return search.each_with_each(&all, [left, right]).then(|| search.finished());
    }
    let mut strips = vec![(all, left - thickness, right + thickness)];
    while let Some((bars, left, right)) = strips.pop() {
        if !search.strip(bars, [left, right], &mut strips) {
            return None;
        }
    }
    Some(search.finished())
}

impl Search {
    fn finished(mut self) -> Vec<(u32, u32)> {
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.pairs
    }

    /// Adds a pair. False where there are too many.
    fn add(&mut self, a: u32, b: u32) -> bool {
        if self.pairs.len() >= 2 * self.limit {
            // A pair that meets at the border of strips may be there several times.
            self.pairs.sort_unstable();
            self.pairs.dedup();
            if self.pairs.len() > self.limit {
                return false;
            }
        }
        self.pairs.push((a.min(b), a.max(b)));
        true
    }

    /// Adds the pairs that meet within a strip, looking at each.
    fn each_with_each(&mut self, bars: &[u32], strip: [f64; 2]) -> bool {
        (0..bars.len())
            .all(|i| (0..i).all(|j| !self.meets(bars[i], bars[j], strip) || self.add(bars[i], bars[j])))
    }

    /// Adds the pairs that meet on an upright line.
    fn on_line(&mut self, bars: &[u32], x: f64) -> bool {
        let own = |&bar: &u32| (self.bars[bar as usize].at(x), bar);
        let is_here = |bar: &&u32| {
            let bar = &self.bars[**bar as usize];
            bar.from.x <= x && x <= bar.to.x
        };
        let mut here: Vec<([f64; 2], u32)> = bars.iter().filter(is_here).map(own).collect();
        here.sort_by(|a, b| a.0[0].total_cmp(&b.0[0]));
        (0..here.len()).all(|i| {
            let ([_, high], bar) = here[i];
            let above = here[i + 1..].iter().take_while(|other| other.0[0] <= high);
            above.map(|other| other.1).all(|other| self.add(bar, other))
        })
    }

    /// Whether two bars meet within a strip.
    fn meets(&self, i: u32, j: u32, [left, right]: [f64; 2]) -> bool {
        let (a, b) = (&self.bars[i as usize], &self.bars[j as usize]);
        let [from, to] = [left.max(a.from.x).max(b.from.x), right.min(a.to.x).min(b.to.x)];
        let is_above = |a: &Bar, b: &Bar| [from, to].iter().all(|&x| a.at(x)[0] > b.at(x)[1]);
        from <= to && !is_above(a, b) && !is_above(b, a)
    }

    /// Finds the pairs within a strip of which one is a stair, and adds the halves of the strip with all others.
    fn strip(
        &mut self,
        mut bars: Vec<u32>,
        [left, right]: [f64; 2],
        strips: &mut Vec<(Vec<u32>, f64, f64)>,
    ) -> bool {
        loop {
            if bars.len() <= FEW {
                return self.each_with_each(&bars, [left, right]);
            }
            let (staircase, rest) = self.staircase(&bars, [left, right]);
            if !rest.iter().all(|&bar| self.meet(&staircase, bar, [left, right])) {
                return false;
            }
            let ends =
                rest.iter().flat_map(|&bar| [self.bars[bar as usize].from.x, self.bars[bar as usize].to.x]);
            let mut inner: Vec<f64> = ends.filter(|&x| left < x && x < right).collect();
            bars = rest;
            if inner.is_empty() && staircase.is_empty() {
                // What is left only touches the border.
                return [left, right].into_iter().all(|x| self.on_line(&bars, x));
            }
            if inner.is_empty() {
                // Others cross the strip, and meet. Each turn takes some of them.
                continue;
            }
            let half = inner.len() / 2;
            let middle = *inner.select_nth_unstable_by(half, f64::total_cmp).1;
            let side = |is_in: &dyn Fn(&Bar) -> bool| -> Vec<u32> {
                bars.iter().copied().filter(|&bar| is_in(&self.bars[bar as usize])).collect()
            };
            strips.push((side(&|bar| bar.from.x <= middle), left, middle));
            strips.push((side(&|bar| bar.to.x >= middle), middle, right));
            return true;
        }
    }

    /// The stairs of a strip, from the lowest to the highest. All other bars follow.
    fn staircase(&self, bars: &[u32], [left, right]: [f64; 2]) -> (Vec<Stair>, Vec<u32>) {
        let (mut across, mut rest) = (Vec::new(), Vec::new());
        for &bar in bars {
            let own = &self.bars[bar as usize];
            if own.from.x <= left && own.to.x >= right {
                across.push(Stair { bar, left: own.at(left), right: own.at(right) });
            } else {
                rest.push(bar);
            }
        }
        let height = |stair: &Stair| stair.left[0] + stair.right[0];
        across.sort_by(|a, b| height(a).total_cmp(&height(b)).then(a.bar.cmp(&b.bar)));
        let mut staircase: Vec<Stair> = Vec::with_capacity(across.len());
        for stair in across {
            let is_above = |last: &Stair| stair.left[0] > last.left[1] && stair.right[0] > last.right[1];
            if staircase.last().is_none_or(is_above) {
                staircase.push(stair);
            } else {
                rest.push(stair.bar);
            }
        }
        (staircase, rest)
    }

    /// Adds the pairs of a bar and the stairs that it meets.
    fn meet(&mut self, staircase: &[Stair], bar: u32, [left, right]: [f64; 2]) -> bool {
        let own = self.bars[bar as usize];
        let mut found = [staircase.len(), 0];
        for x in [own.from.x.max(left), own.to.x.min(right)] {
            let ([low, high], part) = (own.at(x), (x - left) / (right - left));
            let begin = staircase.partition_point(|stair| stair.at(part)[1] < low);
            let end = staircase.partition_point(|stair| stair.at(part)[0] <= high);
            found = [found[0].min(begin), found[1].max(end)];
        }
        (found[0]..found[1]).all(|stair| self.add(staircase[stair].bar, bar))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::navigate::shared::predicate::orient;

    fn meets([a, b]: [DVec2; 2], [c, d]: [DVec2; 2]) -> bool {
        let overlaps = a.min(b).cmple(c.max(d)).all() && c.min(d).cmple(a.max(b)).all();
        let apart = |p: f64, q: f64| (p > 0.0 && q > 0.0) || (p < 0.0 && q < 0.0);
        overlaps && !apart(orient(a, b, c), orient(a, b, d)) && !apart(orient(c, d, a), orient(c, d, b))
    }

    /// Seeded segments of many kinds: short and long, upright, on a line, through one point, spikes side by side.
    fn segments(kind: u32, count: u32, random: &mut dyn FnMut() -> f64) -> Vec<[DVec2; 2]> {
        let mut point = || DVec2::new(random(), random());
        (0..count)
            .map(|i| {
                let (at, to) = (point(), point());
                let angle = 6.3 * f64::from(i) / f64::from(count);
                match kind {
                    0 => [at, to],
                    1 => [at, at + (to - at) * 0.03],
                    2 => [at, DVec2::new(at.x, to.y)],
                    3 => [at, to].map(|p| DVec2::new((p.x * 20.0).round(), (p.y * 20.0).round())),
                    4 => [at, to].map(|p| DVec2::splat((p.x * 99.0).round())),
                    5 => [DVec2::from_angle(angle), DVec2::from_angle(angle + 0.001) * 50.0],
                    6 => [DVec2::ZERO, at - DVec2::splat(0.5)],
                    7 => [DVec2::new(f64::from(i), 0.0), DVec2::new(f64::from(i + 1), 0.0)]
                        .map(|p| turned(p, at)),
                    _ => [at * 1e-9, to * 1e-9].map(|p| p + DVec2::splat(1e6)),
                }
            })
            .collect()
    }

    fn turned(p: DVec2, _: DVec2) -> DVec2 {
        // In the turned plane of the search all of these are upright, but for rounding.
        DVec2::from_angle(-1.0).perp() * p.x
    }

    #[test]
    fn no_pair_that_meets_is_missed() {
        let mut state = 11_u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / (1 << 24) as f64
        };
        for kind in 0..9 {
            for count in [2, 9, 40, 300] {
                let segments = segments(kind, count, &mut random);
                let found = candidate_pairs(&segments, usize::MAX / 4).unwrap();
                assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
                let mut meeting = 0;
                for i in 0..count {
                    for j in i + 1..count {
                        if meets(segments[i as usize], segments[j as usize]) {
                            meeting += 1;
                            assert!(
                                found.binary_search(&(i, j)).is_ok(),
                                "kind {kind}: {i} and {j} of {count}"
                            );
                        }
                    }
                }
                assert!(found.len() <= meeting + 40, "kind {kind}: {} for {meeting} of {count}", found.len());
            }
        }
    }

    #[test]
    fn spikes_side_by_side_are_no_pairs() {
        let count = 30_000;
        let spike = |i: u32| {
            let angle = 6.2 * f64::from(i) / f64::from(count);
            [DVec2::from_angle(angle), DVec2::from_angle(angle) * 3.0]
        };
        let segments: Vec<_> = (0..count).map(spike).collect();
        assert_eq!(candidate_pairs(&segments, 1000), Some(Vec::new()));
        // Where too many meet, the search ends early.
        let star: Vec<_> = (0..count).map(|i| [DVec2::ZERO, spike(i)[1]]).collect();
        assert_eq!(candidate_pairs(&star, 100_000), None);
    }
}
