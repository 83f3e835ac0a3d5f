//! Compares the answers of two engines. Numbers may differ by what the library promises of each, and no more.

use std::collections::BTreeMap;

use glam::DVec3;
use hullfield::collide::{Contact, Distance, Intersection, Manifold, Motion, Sweep, SweepOutcome};
use hullfield_oracle::compare::Verdict;
use hullfield_oracle::{Placed, Shape, Truth, sweep, tolerance, whole_truth};

use crate::rows::verdict;

/// The most differences that are listed.
const LISTED: usize = 20;

/// The answer of one engine for a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Answer {
    pub(crate) pair: [u32; 2],
    pub(crate) verdict: Verdict,
    /// The signed gap in world units; none of a yes or no.
    pub(crate) gap: Option<f64>,
}

/// A row that an [`Answer`] can be made of.
pub(crate) trait Row {
    fn answer(&self) -> Answer;
}

impl Row for Intersection {
    fn answer(&self) -> Answer {
        Answer { pair: [self.a, self.b], verdict: verdict(self.status), gap: None }
    }
}

macro_rules! measured {
    ($($row:ty),*) => {$(
        impl Row for $row {
            fn answer(&self) -> Answer {
                Answer { pair: [self.a, self.b], verdict: verdict(self.status), gap: Some(self.separation) }
            }
        }
    )*};
}

measured!(Distance, Contact, Manifold);

/// The answers of rows, in order.
pub(crate) fn answers<R: Row>(rows: &[R]) -> Vec<Answer> {
    rows.iter().map(Row::answer).collect()
}

/// A status that differs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StatusDifference {
    pub(crate) pair: [u32; 2],
    /// The true signed gap, in world units.
    pub(crate) gap: f64,
    pub(crate) tau: f64,
    /// Of the two engines; "none" where one does not list the pair.
    pub(crate) statuses: [String; 2],
}

/// How the answers of two engines differ.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Differences {
    /// Pairs that either engine has.
    pub(crate) row_count: u64,
    /// Pairs with different statuses.
    pub(crate) status_count: u64,
    /// Pairs whose numbers differ by more than τ, both within τ of the truth.
    pub(crate) number_count: u64,
    /// The largest difference of two numbers, in τ.
    pub(crate) worst: f64,
    /// What the library does not allow.
    pub(crate) failure_count: u64,
    /// The first failures.
    pub(crate) failures: Vec<String>,
    /// The first statuses that differ.
    pub(crate) listed: Vec<StatusDifference>,
}

impl Differences {
    fn fail(&mut self, text: String) {
        self.failure_count += 1;
        if self.failures.len() < LISTED {
            self.failures.push(text);
        }
    }

    /// Statuses that differ are always a failure.
    fn status(&mut self, difference: StatusDifference) {
        self.status_count += 1;
        let StatusDifference { pair, gap, tau, statuses: [one, other] } = &difference;
        self.fail(format!("{pair:?}: {one} and {other} at a gap of {gap:e}, τ is {tau:e}"));
        if self.listed.len() < LISTED {
            self.listed.push(difference);
        }
    }

    /// Whether nothing differs.
    #[cfg(test)]
    fn is_clean(&self) -> bool {
        (self.status_count, self.number_count, self.failure_count) == (0, 0, 0)
    }
}

/// What the truth of a pair follows from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bodies<'a> {
    pub(crate) shapes: &'a [Shape],
    pub(crate) bodies: &'a [Placed],
}

impl<'a> Bodies<'a> {
    fn of(&self, [a, b]: [u32; 2]) -> Option<[(&'a Shape, &'a Placed); 2]> {
        let of = |id: u32| {
            let body = self.bodies.get(id as usize)?;
            Some((self.shapes.get(body.hull as usize)?, body))
        };
        Some([of(a)?, of(b)?])
    }

    fn truth(&self, pair: [u32; 2]) -> Option<Truth> {
        let [(shape_a, a), (shape_b, b)] = self.of(pair)?;
        Some(whole_truth(shape_a, &a.pose, shape_b, &b.pose))
    }

    fn tau(&self, pair: [u32; 2], gap: f64) -> Option<f64> {
        let [a, b] = self.of(pair)?.map(|(shape, body)| {
            shape.radius(body.pose.scale)
                + shape.rounding() * body.pose.scale64().min_element()
                + f64::from(body.pose.radius)
        });
        Some(tolerance(a.min(b), a + b, gap))
    }
}

/// Which rows a query gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Listing {
    /// One for each given pair, in their order.
    Given,
    /// Those of pairs within the margin, sorted by pair.
    Sorted,
}

/// Compares the answers of two engines to one query.
pub(crate) fn compare(
    ours: &[Answer],
    theirs: &[Answer],
    listing: Listing,
    bodies: Bodies<'_>,
) -> Differences {
    let mut found = Differences::default();
    match listing {
        Listing::Given => {
            if ours.len() != theirs.len() {
                found.fail(format!("{} rows, the other engine has {}", ours.len(), theirs.len()));
            }
            for (row, (one, other)) in ours.iter().zip(theirs).enumerate() {
                found.row_count += 1;
                if one.pair == other.pair {
                    compare_answers(&mut found, one, other, bodies);
                } else {
                    found.fail(format!(
                        "row {row} is of {:?}, of {:?} on the other engine",
                        one.pair, other.pair
                    ));
                }
            }
        }
        Listing::Sorted => {
            let mut pairs: BTreeMap<[u32; 2], [Option<&Answer>; 2]> = BTreeMap::new();
            for (side, list) in [ours, theirs].into_iter().enumerate() {
                if let Some(at) = list.windows(2).position(|two| two[0].pair >= two[1].pair) {
                    found.fail(format!("row {} is not sorted: {:?}", at + 1, list[at + 1].pair));
                }
                for answer in list {
                    pairs.entry(answer.pair).or_default()[side] = Some(answer);
                }
            }
            for (pair, sides) in pairs {
                found.row_count += 1;
                if let [Some(one), Some(other)] = sides {
                    compare_answers(&mut found, one, other, bodies);
                } else {
                    compare_missing(&mut found, pair, sides, bodies);
                }
            }
        }
    }
    found
}

fn compare_answers(found: &mut Differences, one: &Answer, other: &Answer, bodies: Bodies<'_>) {
    let pair = one.pair;
    if one.verdict != other.verdict {
        let Some(truth) = bodies.truth(pair) else { return found.fail(format!("{pair:?} is no pair")) };
        let statuses = [one, other].map(|answer| format!("{:?}", answer.verdict).to_lowercase());
        let difference = StatusDifference { pair, gap: truth.gap, tau: truth.tau, statuses };
        found.status(difference);
    }
    let (Some(gap), Some(other_gap)) = (one.gap, other.gap) else { return };
    let Some(tau) = bodies.tau(pair, gap.max(other_gap)) else {
        return found.fail(format!("{pair:?} is no pair"));
    };
    // Not a number is infinitely wrong.
    let apart = (gap - other_gap).abs();
    let apart = if apart.is_nan() { f64::INFINITY } else { apart / tau };
    found.worst = found.worst.max(apart);
    if apart <= 1.0 {
        return;
    }
    let Some(truth) = bodies.truth(pair) else { return found.fail(format!("{pair:?} is no pair")) };
    // A distance of bodies that overlap is 0.
    let is_right = |answer: &Answer, gap: f64| {
        let is_near = |to: f64| (gap - to).abs() <= truth.tau + 1e-9 * truth.radius_sum;
        is_near(truth.gap) || answer.verdict != Verdict::Separated && gap == 0.0 && truth.gap <= truth.tau
    };
    if truth.exact && is_right(one, gap) && is_right(other, other_gap) {
        found.number_count += 1;
    } else if truth.exact || apart > 2.0 {
        found.fail(format!("{pair:?}: {gap:e} and {other_gap:e}, the truth is {:e}, τ {tau:e}", truth.gap));
    } else {
        found.number_count += 1;
    }
}

/// A pair that only one engine lists.
fn compare_missing(found: &mut Differences, pair: [u32; 2], sides: [Option<&Answer>; 2], bodies: Bodies<'_>) {
    let Some(truth) = bodies.truth(pair) else { return found.fail(format!("{pair:?} is no pair")) };
    let status = |side: Option<&Answer>| {
        side.map_or("none".into(), |answer| format!("{:?}", answer.verdict).to_lowercase())
    };
    let difference = StatusDifference { pair, gap: truth.gap, tau: truth.tau, statuses: sides.map(status) };
    found.status(difference);
}

/// A scene in motion, for the truth of sweeps. No body rotates.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MovingBodies<'a> {
    pub(crate) bodies: Bodies<'a>,
    pub(crate) motions: &'a [Motion],
    pub(crate) duration: f64,
}

impl<'a> MovingBodies<'a> {
    fn pair(&self, pair: [u32; 2]) -> Option<sweep::Pair<'a>> {
        let [a, b] = self.bodies.of(pair)?;
        let motion = |id: u32| {
            let motion = self.motions.get(id as usize)?;
            Some(sweep::Motion { velocity: motion.velocity, spin: motion.angular_velocity })
        };
        Some(sweep::Pair {
            shapes: [a.0, b.0],
            poses: [a.1.pose, b.1.pose],
            motions: [motion(pair[0])?, motion(pair[1])?],
        })
    }
}

/// Compares the sweeps of two engines. An outcome or a time that differs by more than the tolerance must be right on both. A pair
/// that one engine does not list is a miss there.
pub(crate) fn compare_sweeps(
    ours: &[Sweep],
    theirs: &[Sweep],
    listing: Listing,
    moving: MovingBodies<'_>,
) -> Differences {
    let mut found = Differences::default();
    if listing == Listing::Given {
        if ours.len() != theirs.len() {
            found.fail(format!("{} rows, the other engine has {}", ours.len(), theirs.len()));
        }
        for (row, (one, other)) in ours.iter().zip(theirs).enumerate() {
            found.row_count += 1;
            if [one.a, one.b] == [other.a, other.b] {
                compare_sweep(&mut found, [Some(one), Some(other)], [one.a, one.b], moving);
            } else {
                found.fail(format!(
                    "row {row} is of [{}, {}], of [{}, {}] on the other engine",
                    one.a, one.b, other.a, other.b
                ));
            }
        }
        return found;
    }
    let mut pairs: BTreeMap<[u32; 2], [Option<&Sweep>; 2]> = BTreeMap::new();
    for (side, rows) in [ours, theirs].into_iter().enumerate() {
        for row in rows {
            if pairs.entry([row.a, row.b]).or_default()[side].replace(row).is_some() {
                found.fail(format!("[{}, {}] is listed twice", row.a, row.b));
            }
        }
    }
    for (pair, rows) in pairs {
        found.row_count += 1;
        compare_sweep(&mut found, rows, pair, moving);
    }
    found
}

fn compare_sweep(
    found: &mut Differences,
    rows: [Option<&Sweep>; 2],
    pair: [u32; 2],
    moving: MovingBodies<'_>,
) {
    let Some(truth) = moving.pair(pair) else { return found.fail(format!("{pair:?} is no pair")) };
    let duration = moving.duration;
    let tau = truth.tolerance(0.0, duration, false);
    let outcome = |row: Option<&Sweep>| row.map_or(SweepOutcome::Miss, |row| row.outcome);
    let time = |row: Option<&Sweep>| row.map_or(duration, |row| row.time);
    let [velocity_a, velocity_b] = truth.motions.map(|motion| DVec3::from(motion.velocity.map(f64::from)));
    let closing = |row: Option<&Sweep>| {
        let normal = row.and_then(|row| row.normal);
        normal.map_or(0.0, |normal| DVec3::from(normal).dot(velocity_a - velocity_b).abs())
    };
    let way = (time(rows[0]) - time(rows[1])).abs() * closing(rows[0]).max(closing(rows[1])) / tau;
    let is_same = outcome(rows[0]) == outcome(rows[1]);
    if is_same {
        found.worst = found.worst.max(if way.is_nan() { f64::INFINITY } else { way });
        if way <= 2.0 {
            return;
        }
    }
    if is_same {
        let fault = rows.into_iter().find_map(|row| {
            let claim = match (outcome(row), row.and_then(|row| row.normal)) {
                (SweepOutcome::Miss, _) => sweep::Claim::Miss,
                (SweepOutcome::Hit, Some(normal)) => sweep::Claim::Hit(time(row), normal),
                (SweepOutcome::Touching, Some(normal)) => sweep::Claim::Touching(normal),
                _ => return Some(format!("{row:?} has no normal")),
            };
            truth.check(duration, claim, false).err()
        });
        match fault {
            None => found.number_count += 1,
            Some(fault) => {
                found.fail(format!("{pair:?}: times {} and {}: {fault}", time(rows[0]), time(rows[1])))
            }
        }
        return;
    }
    let statuses = rows.map(|row| format!("{:?}", outcome(row)).to_lowercase());
    let difference = StatusDifference { pair, gap: truth.gap(0.0), tau, statuses };
    found.status(difference);
}

/// The number of values that differ, and the index of the first. Values past the end of the shorter list differ.
pub(crate) fn differing<T: PartialEq>(ours: &[T], theirs: &[T]) -> (u64, Option<usize>) {
    let common = ours.len().min(theirs.len());
    let mut count = (ours.len().max(theirs.len()) - common) as u64;
    let mut first = None;
    for (at, (one, other)) in ours.iter().zip(theirs).enumerate() {
        if one != other {
            count += 1;
            first.get_or_insert(at);
        }
    }
    (count, first.or((count > 0).then_some(common)))
}

#[cfg(test)]
mod tests {
    use hullfield::Engine;
    use hullfield::collide::{Arena, DistanceOptions, Options, Pairs, SweepOptions};
    use hullfield_oracle::scenes::{self, Near};

    use super::*;
    use crate::scene::Scene;
    use crate::sweeps::motions_of;

    fn scene() -> Scene {
        let placed = scenes::near_pairs(
            &scenes::convex_sets(12, 1.0, 3),
            Near { count: 200, seed: 4, ..Near::default() },
        );
        let mut scene = Scene::of_hulls(&placed.hulls).unwrap();
        (scene.bodies, scene.pairs) = (placed.bodies, placed.pairs);
        scene
    }

    fn bodies(scene: &Scene) -> Bodies<'_> {
        Bodies { shapes: &scene.shapes, bodies: &scene.bodies }
    }

    fn arena(scene: &Scene) -> Arena {
        Arena::new(&Engine::cpu(), &scene.hulls, Options::default()).unwrap()
    }

    /// Where a pair is clearly apart.
    fn apart(scene: &Scene, all: &[Answer]) -> usize {
        all.iter()
            .position(|answer| answer.gap.unwrap() > 0.05 && bodies(scene).truth(answer.pair).unwrap().exact)
            .unwrap()
    }

    #[test]
    fn one_wrong_row_of_given_pairs_is_found() {
        let scene = scene();
        let found = arena(&scene)
            .distances(&scene.library_bodies(), Pairs::Given(&scene.pairs), &DistanceOptions::default())
            .unwrap()
            .wait()
            .unwrap();
        let right = answers(&found.rows);
        let check = |wrong: &[Answer]| compare(wrong, &right, Listing::Given, bodies(&scene));
        let same = check(&right);
        assert!(same.is_clean() && same.row_count == 200 && same.worst == 0.0, "{same:?}");
        let at = apart(&scene, &right);
        let change = |change: &dyn Fn(&mut Answer)| {
            let mut wrong = right.clone();
            change(&mut wrong[at]);
            check(&wrong)
        };
        let flipped = change(&|answer| answer.verdict = Verdict::Penetrating);
        assert_eq!((flipped.status_count, flipped.failure_count), (1, 1));
        assert_eq!(flipped.listed[0].pair, right[at].pair);
        assert!((flipped.listed[0].gap - right[at].gap.unwrap()).abs() < 1e-4);
        let tau = bodies(&scene).tau(right[at].pair, 0.1).unwrap();
        let moved = change(&|answer| answer.gap = answer.gap.map(|gap| gap + 3.0 * tau));
        assert_eq!((moved.failure_count, moved.status_count), (1, 0));
        assert!(moved.worst > 2.5);
        assert_eq!(change(&|answer| answer.gap = Some(f64::NAN)).failure_count, 1);
        assert_eq!(change(&|answer| answer.pair.swap(0, 1)).failure_count, 1);
        assert_eq!(check(&right[1..]).failure_count, 200);
        // Within the tolerance a number may differ.
        assert!(change(&|answer| answer.gap = answer.gap.map(|gap| gap + 0.3 * tau)).is_clean());
    }

    #[test]
    fn a_status_within_the_tolerance_is_a_failure_too() {
        let scene = scene();
        let found = arena(&scene)
            .distances(&scene.library_bodies(), Pairs::Given(&scene.pairs), &DistanceOptions::default())
            .unwrap()
            .wait()
            .unwrap();
        let right = answers(&found.rows);
        let at = right.iter().position(|answer| answer.verdict == Verdict::Touching).unwrap();
        let mut other = right.clone();
        other[at].verdict = Verdict::Separated;
        let found = compare(&other, &right, Listing::Given, bodies(&scene));
        assert_eq!((found.status_count, found.listed.len()), (1, 1));
        assert_eq!(found.failure_count, 1);
        assert_eq!(found.listed[0].statuses, ["separated", "touching"]);
    }

    #[test]
    fn one_missing_or_wrong_row_of_all_bodies_is_found() {
        let scene = scene();
        let found = arena(&scene)
            .distances(&scene.library_bodies(), Pairs::BroadPhase, &DistanceOptions { margin: 0.2 })
            .unwrap()
            .wait()
            .unwrap();
        let right = answers(&found.rows);
        let check = |wrong: &[Answer]| compare(wrong, &right, Listing::Sorted, bodies(&scene));
        assert!(check(&right).is_clean());
        let at = right.iter().position(|answer| answer.verdict == Verdict::Penetrating).unwrap();
        let without: Vec<Answer> =
            right.iter().copied().filter(|answer| answer.pair != right[at].pair).collect();
        let missing = check(&without);
        let deep = bodies(&scene).truth(right[at].pair).unwrap();
        assert_eq!(missing.listed[0].statuses[0], "none");
        assert_eq!((missing.status_count, missing.failure_count), (1, 1), "{deep:?}");
        let mut turned = right.clone();
        turned.swap(0, 1);
        assert_eq!(check(&turned).failure_count, 1);
    }

    #[test]
    fn one_wrong_sweep_is_found() {
        let scene = scene();
        let motions = motions_of(&scene);
        let moving = MovingBodies { bodies: bodies(&scene), motions: &motions, duration: 1.0 };
        let right = arena(&scene)
            .sweeps(&scene.library_bodies(), &motions, Pairs::Given(&scene.pairs), &SweepOptions::default())
            .unwrap()
            .wait()
            .unwrap()
            .rows;
        let check = |wrong: &[Sweep], listing| compare_sweeps(wrong, &right, listing, moving);
        assert!(check(&right, Listing::Given).is_clean());
        assert!(check(&right, Listing::Sorted).is_clean());
        let hit = right.iter().position(|row| row.outcome == SweepOutcome::Hit && row.time > 0.1).unwrap();
        let change = |change: fn(&mut Sweep)| {
            let mut wrong = right.clone();
            change(&mut wrong[hit]);
            check(&wrong, Listing::Given)
        };
        assert_eq!(change(|row| row.time -= 0.05).failure_count, 1);
        assert_eq!(change(|row| row.outcome = SweepOutcome::Touching).failure_count, 1);
        assert_eq!(change(|row| row.b = row.a).failure_count, 1);
        let deep = right.iter().position(|row| row.outcome == SweepOutcome::Touching).unwrap();
        let mut without = right.clone();
        without.remove(deep);
        assert!(check(&without, Listing::Sorted).failure_count >= 1);
    }

    #[test]
    fn values_that_differ_are_counted() {
        assert_eq!(differing(&[1, 2, 3], &[1, 2, 3]), (0, None));
        assert_eq!(differing(&[1, 0, 3], &[1, 2, 4]), (2, Some(1)));
        assert_eq!(differing(&[1, 2], &[1, 2, 3, 4]), (2, Some(2)));
        assert_eq!(differing::<u8>(&[], &[]), (0, None));
    }
}
