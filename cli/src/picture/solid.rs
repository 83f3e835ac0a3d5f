//! Solids placed in the world.

use glam::{Affine3A, Vec3};
use rayon::prelude::*;

use super::camera::View;
use super::raster::Facet;
use super::shade;
use super::srgb::Picture;

/// A convex solid in its own frame.
#[derive(Debug, Clone)]
pub(crate) struct Solid {
    /// Its corners.
    pub(crate) vertices: Vec<Vec3>,
    /// Its faces, counter-clockwise from outside.
    pub(crate) faces: Vec<Vec<u32>>,
}

/// A solid placed in the world.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    /// The index of the solid.
    pub(crate) solid: usize,
    /// From the solid's frame into the world.
    pub(crate) placed: Affine3A,
    /// Linear RGB reflectance.
    pub(crate) colour: Vec3,
}

/// Draws the items.
pub(crate) fn draw(solids: &[Solid], items: &[Item], view: &View, width: usize, height: usize) -> Picture {
    let facets = facets(solids, items);
    shade::draw(&facets, &|item| items[item as usize].colour, 0..0, view, width, height)
}

/// The triangles of all items.
fn facets(solids: &[Solid], items: &[Item]) -> Vec<Facet> {
    let of_item = |(index, item): (usize, &Item)| {
        let mut found = Vec::new();
        let Some(solid) = solids.get(item.solid) else { return found };
        let vertices: Vec<Vec3> =
            solid.vertices.iter().map(|&vertex| item.placed.transform_point3(vertex)).collect();
        for face in &solid.faces {
            // Newell's sum gives the normal of any planar polygon, even if some edges are short.
            let next = face.iter().cycle().skip(1);
            let sum: Vec3 =
                face.iter().zip(next).map(|(&a, &b)| vertices[a as usize].cross(vertices[b as usize])).sum();
            let normal = sum.normalize_or_zero();
            for corner in 2..face.len() {
                let corners =
                    [face[0], face[corner - 1], face[corner]].map(|vertex| vertices[vertex as usize]);
                found.push(Facet { corners, normal, item: index as u32 });
            }
        }
        found
    };
    items.par_iter().enumerate().flat_map_iter(of_item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::srgb::linear;

    /// A cube of half extent 1.
    fn cube() -> Solid {
        let vertices = (0..8)
            .map(|i| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32) * 2.0 - Vec3::ONE)
            .collect();
        let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        Solid { vertices, faces: faces.iter().map(|face| face.to_vec()).collect() }
    }

    #[test]
    fn the_nearer_of_two_cubes_hides_the_other() {
        let item = |z: f32, colour| Item {
            solid: 0,
            placed: Affine3A::from_translation(Vec3::new(0.0, 0.0, z)),
            colour,
        };
        let items = [item(0.0, linear(0xff0000)), item(5.0, linear(0x0000ff))];
        let view = View {
            eye: Vec3::new(0.0, 0.0, 20.0),
            target: Vec3::ZERO,
            field: 0.4,
            ground: -4.0,
            extent: 10.0,
            near_length: 1.0,
        };
        let picture = draw(&[cube()], &items, &view, 80, 50);
        let middle = &picture.rgb[(25 * 80 + 40) * 3..][..3];
        assert!(middle[2] > 2 * middle[0], "{middle:?} is not blue");
        // Nothing is drawn at the upper left: the backdrop is nearly grey.
        let corner = &picture.rgb[..3];
        assert!(corner[0].abs_diff(corner[2]) < 60, "{corner:?}");
    }
}
