//! The cases of the watch. Each does a fixed, seeded amount of work on the CPU engine, as often as it is told.

use crate::watch::collide::{
    broad, compounds, contacts, distances, hulls, intersections, rays, sweeps, warm_frames,
};
use crate::watch::flow::{cost_distances, edits, field_of_costs, fields};
use crate::watch::paths::{room_paths, surface_field};

/// A case.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// What one round does.
    pub(crate) work: &'static str,
    /// Runs so many rounds, at least one. Returns a checksum of the last round's answer. What comes before the first round and after the last
    /// one does not depend on their number.
    pub(crate) run: fn(u32) -> Result<u64, String>,
}

pub(crate) const CASES: [Case; 17] = [
    Case { name: "hulls", work: "24 convex hulls of 500 points", run: hulls },
    Case {
        name: "intersections-8",
        work: "40,000 pairs of hulls of 8 vertices",
        run: |rounds| intersections(rounds, 8, 40_000),
    },
    Case {
        name: "intersections-128",
        work: "40,000 pairs of hulls of 128 vertices",
        run: |rounds| intersections(rounds, 128, 40_000),
    },
    Case { name: "distances", work: "20,000 pairs of hulls of 32 vertices", run: distances },
    Case { name: "contacts", work: "10,000 pairs of hulls of 32 vertices", run: contacts },
    Case { name: "sweeps", work: "8,000 pairs of hulls of 32 vertices", run: sweeps },
    Case { name: "broad", work: "candidates of 16 crowds of 2,000 bodies", run: broad },
    Case { name: "rays", work: "20,000 rays among 1,000 hulls of 32 vertices", run: rays },
    Case { name: "compounds", work: "contacts of 400 pairs of compounds of 32 parts", run: compounds },
    Case {
        name: "field-open",
        work: "8 fields over 512² cells, none blocked",
        run: |rounds| fields(rounds, 0.0),
    },
    Case {
        name: "field-20",
        work: "8 fields over 512² cells, 20 % blocked",
        run: |rounds| fields(rounds, 0.2),
    },
    Case {
        name: "field-costs",
        work: "a field over 512² cells, diagonals, costs to 9, 20 % blocked",
        run: field_of_costs,
    },
    Case { name: "field-edit", work: "16 walls of 32 cells put up and taken down, 512² cells", run: edits },
    Case {
        name: "cost-distance",
        work: "4 cost distances over 256² cells of float friction",
        run: cost_distances,
    },
    Case { name: "room", work: "100 optimal paths in a room of 400 pillars", run: room_paths },
    Case { name: "surface-field", work: "the exact distances over 3,480 triangles", run: surface_field },
    Case { name: "warm", work: "12 frames of 1,000 moving bodies, warm start", run: warm_frames },
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_round_gives_the_same_answer() {
        let mut sums = HashSet::new();
        for case in &CASES {
            let once = (case.run)(1).unwrap();
            assert_eq!((case.run)(2), Ok(once), "{}", case.name);
            assert!((case.run)(0).is_err(), "{}", case.name);
            assert!(sums.insert(once), "{} sums up nothing", case.name);
        }
    }

    #[test]
    fn names_are_unique_and_fit_a_command_line() {
        let names: HashSet<&str> = CASES.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), CASES.len());
        for name in names {
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{name}");
        }
    }
}
