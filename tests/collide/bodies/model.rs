//! A model of a set, by brute force in f64: which pairs touch, and so which events there are.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hullfield::collide::{Body, BodyId, BodyRef, Hull, PairEvent, Phase};
use hullfield_oracle::{Pose, Shape, truth};

/// What was told of the pairs, and what must be told.
#[derive(Default)]
pub(crate) struct Model {
    shapes: Vec<Shape>,
    radii: Vec<f64>,
    statics: Vec<Body>,
    touching: BTreeSet<(BodyId, BodyRef)>,
    /// By pair: begins less ends.
    sums: HashMap<(BodyId, BodyRef), i32>,
}

impl Model {
    pub(crate) fn new(hulls: &[Hull], statics: &[Body]) -> Self {
        let shapes = hulls.iter().map(|hull| Shape::new(hull.vertices())).collect();
        let far = |hull: &Hull| {
            let length = |v: &[f32; 3]| v.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
            hull.vertices().iter().map(length).fold(0.0, f64::max)
        };
        Self { shapes, radii: hulls.iter().map(far).collect(), statics: statics.to_vec(), ..Self::default() }
    }

    fn touch(&self, a: &Body, b: &Body) -> bool {
        let off = (0..3).map(|k| f64::from(a.position[k]) - f64::from(b.position[k]));
        let radius = |body: &Body| {
            self.radii[body.hull as usize] * body.scale.into_iter().map(f64::from).fold(0.0, f64::max)
        };
        let reach = radius(a) + radius(b);
        if off.map(|x| x * x).sum::<f64>() > 1.01 * reach * reach {
            return false;
        }
        let pose = |body: &Body| Pose {
            position: body.position,
            rotation: body.rotation,
            scale: body.scale,
            radius: 0.0,
        };
        let truth = truth(&self.shapes[a.hull as usize], &pose(a), &self.shapes[b.hull as usize], &pose(b));
        truth.gap <= 0.75 * truth.tau
    }

    /// The events of the next frame.
    pub(crate) fn advance(&mut self, bodies: &BTreeMap<BodyId, Body>) -> Vec<(BodyId, BodyRef, Phase)> {
        let mut now = BTreeSet::new();
        for (&a, body) in bodies {
            for (&b, other) in bodies.range(a..).skip(1) {
                if self.touch(body, other) {
                    now.insert((a, BodyRef::Body(b)));
                }
            }
            for (at, other) in (0..).zip(&self.statics) {
                if self.touch(body, other) {
                    now.insert((a, BodyRef::Static(at)));
                }
            }
        }
        let before = std::mem::replace(&mut self.touching, now);
        let phase = |pair| match (before.contains(pair), self.touching.contains(pair)) {
            (false, _) => Phase::Begin,
            (true, true) => Phase::Stay,
            (true, false) => Phase::End,
        };
        before.union(&self.touching).map(|pair| (pair.0, pair.1, phase(pair))).collect()
    }

    /// Compares the events of a frame with those that must be.
    pub(crate) fn check(
        &mut self,
        expected: &[(BodyId, BodyRef, Phase)],
        events: &[PairEvent],
    ) -> Result<(), String> {
        if events.len() != expected.len() {
            return Err(format!("{} events instead of {}", events.len(), expected.len()));
        }
        for (event, expected) in events.iter().zip(expected) {
            let PairEvent { a, b, phase, .. } = *event;
            if (a, b, phase) != *expected {
                return Err(format!("{event:?} instead of {expected:?}"));
            }
            let sum = self.sums.entry((a, b)).or_default();
            match phase {
                Phase::Begin => *sum += 1,
                Phase::Stay => (),
                Phase::End => *sum -= 1,
            }
        }
        self.sums.retain(|_, sum| *sum != 0);
        let adds_up = self.sums.len() == self.touching.len()
            && self.touching.iter().all(|pair| self.sums.get(pair) == Some(&1));
        if adds_up { Ok(()) } else { Err("begins less ends are not the pairs that touch".to_owned()) }
    }
}
