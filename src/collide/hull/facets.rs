//! Facets of a solid hull: coplanar triangles are merged, and points that are not extreme are dropped.

use crate::collide::hull::polygons::Polygons;
use crate::collide::hull::quickhull::HullBuilder;
use crate::error::{Error, Result};

/// The facets of a grown hull: the indices of their extreme points, counter-clockwise seen from outside.
///
/// Two triangles that share an edge belong to one facet exactly where they are coplanar. A point is extreme exactly where at least three
/// facets meet: two meet along an edge.
///
/// # Errors
/// [`Error::Internal`] where the triangles are not a closed surface.
pub(super) fn facets(builder: &HullBuilder<'_>) -> Result<Polygons> {
    const NONE: u32 = u32::MAX;
    let faces = &builder.faces;
    let mut facet_of = vec![NONE; faces.len()];
    let mut facet_count = 0;
    let mut seeds = Vec::new();
    let mut stack = Vec::new();
    for seed in 0..faces.len() {
        if !faces[seed].alive || facet_of[seed] != NONE {
            continue;
        }
        facet_of[seed] = facet_count;
        seeds.push(seed);
        stack.push(seed);
        while let Some(f) = stack.pop() {
            for side in 0..3 {
                let g = faces[f].across[side] as usize;
                let apex = faces[g].corners[(twin(builder, f, side)? + 2) % 3];
                if facet_of[g] == NONE && builder.coplanar(f as u32, apex) {
                    facet_of[g] = facet_count;
                    stack.push(g);
                }
            }
        }
        facet_count += 1;
    }

    // The outline of a facet can start at any triangle with an edge on it.
    let inner = |f: usize, side: usize| facet_of[faces[f].across[side] as usize] == facet_of[f];
    for f in 0..faces.len() {
        if faces[f].alive && (0..3).any(|side| !inner(f, side)) {
            seeds[facet_of[f] as usize] = f;
        }
    }
    let mut outlines = Polygons::default();
    let mut facets_at = vec![0u8; builder.points.len()];
    for &seed in &seeds {
        let Some(first) = (0..3).find(|&side| !inner(seed, side)) else {
            return Err(open_surface("a facet has no outline"));
        };
        let (mut f, mut side, mut going, mut is_closed) = (seed, first, false, false);
        for _ in 0..=3 * faces.len() {
            if inner(f, side) {
                // Around the corner into the facet's next triangle there.
                let back = twin(builder, f, side)?;
                f = faces[f].across[side] as usize;
                side = (back + 1) % 3;
                continue;
            }
            if going && (f, side) == (seed, first) {
                is_closed = true;
                break;
            }
            going = true;
            let corner = faces[f].corners[side];
            outlines.corners.push(corner);
            facets_at[corner as usize] = facets_at[corner as usize].saturating_add(1);
            side = (side + 1) % 3;
        }
        if !is_closed {
            return Err(open_surface("a facet's outline does not close"));
        }
        outlines.close();
    }
    Ok(outlines.retain(|corner| facets_at[corner as usize] >= 3))
}

fn open_surface(message: &str) -> Error {
    Error::internal("collide::hull::facets", message)
}

/// The side of the neighbour across `side` of `f` that both share: it runs the opposite way.
fn twin(builder: &HullBuilder<'_>, f: usize, side: usize) -> Result<usize> {
    let face = &builder.faces[f];
    let end = face.corners[(side + 1) % 3];
    let across = &builder.faces[face.across[side] as usize];
    (0..3)
        .find(|&i| across.corners[i] == end)
        .ok_or_else(|| open_surface("two faces do not share their side"))
}
