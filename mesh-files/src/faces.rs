//! The faces of a mesh file: what a surface is made of.

use hullfield::navigate::surface::Model;

/// The faces of a mesh file. They can be sent as bytes to a program that has no readers.
#[derive(Debug, Clone, PartialEq)]
pub struct Faces {
    /// The points in the file's order and units, with the file's transforms applied.
    pub(crate) points: Vec<[f64; 3]>,
    /// The corners of one face after the other, as valid indices of `points`.
    pub(crate) corners: Vec<u32>,
    /// How many corners each face has, at least three; empty where all faces are triangles.
    pub(crate) sizes: Vec<u32>,
}

/// The bytes begin with the numbers of points, of corners and of sizes, each a little-endian u64.
const HEADER: usize = 3 * size_of::<u64>();

impl Faces {
    /// How many triangles they are cut into.
    pub fn triangle_count(&self) -> usize {
        self.corners.len() - 2 * if self.sizes.is_empty() { self.corners.len() / 3 } else { self.sizes.len() }
    }

    /// A model of these faces.
    pub fn model(self) -> Model {
        let Self { points, corners, sizes } = self;
        if sizes.is_empty() {
            return Model::triangles(points, corners.as_chunks().0);
        }
        let mut rest = corners.as_slice();
        let faces = sizes.iter().map_while(|&size| {
            let (face, after) = rest.split_at_checked(size as usize)?;
            rest = after;
            Some(face)
        });
        Model::polygons(points, faces)
    }

    /// The faces as bytes: the three numbers of the header, then points, corners and sizes, all little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { points, corners, sizes } = self;
        let indices = corners.len() + sizes.len();
        let mut bytes =
            Vec::with_capacity(HEADER + size_of_val(points.as_slice()) + indices * size_of::<u32>());
        for count in [points.len(), corners.len(), sizes.len()] {
            bytes.extend((count as u64).to_le_bytes());
        }
        bytes.extend(points.as_flattened().iter().flat_map(|coordinate| coordinate.to_le_bytes()));
        bytes.extend(corners.iter().chain(sizes).flat_map(|index| index.to_le_bytes()));
        bytes
    }

    /// The faces of [`Self::to_bytes`]. None for bytes of another length than their header says.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (header, rest) = bytes.split_at_checked(HEADER)?;
        let [point_count, corner_count, size_count] =
            [0, 1, 2].map(|at| header.as_chunks().0.get(at).map_or(0, |&count| u64::from_le_bytes(count)));
        let point_bytes = usize::try_from(point_count.checked_mul(size_of::<[f64; 3]>() as u64)?).ok()?;
        let (points, indices) = rest.split_at_checked(point_bytes)?;
        let coordinates = points.as_chunks().0.iter().map(|&coordinate| f64::from_le_bytes(coordinate));
        let coordinates: Vec<f64> = coordinates.collect();
        let index_bytes = corner_count.checked_add(size_count)?.checked_mul(size_of::<u32>() as u64)?;
        if index_bytes != indices.len() as u64 {
            return None;
        }
        let indices: Vec<u32> =
            indices.as_chunks().0.iter().map(|&index| u32::from_le_bytes(index)).collect();
        let (corners, sizes) = indices.split_at_checked(usize::try_from(corner_count).ok()?)?;
        Some(Self {
            points: coordinates.as_chunks().0.to_vec(),
            corners: corners.to_vec(),
            sizes: sizes.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_come_back_from_their_bytes() {
        let points = vec![[0.1, -2.0, 3e300], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 5e-324]];
        let triangles = Faces { points: points.clone(), corners: vec![0, 1, 2, 2, 1, 3], sizes: Vec::new() };
        let mixed = Faces { points, corners: vec![0, 1, 3, 2, 2, 1, 3], sizes: vec![4, 3] };
        for faces in [triangles, mixed] {
            let bytes = faces.to_bytes();
            assert_eq!(Faces::from_bytes(&bytes).as_ref(), Some(&faces));
            for length in 0..bytes.len() {
                assert_eq!(Faces::from_bytes(&bytes[..length]), None, "{length}");
            }
            for at in 0..HEADER {
                let mut other = bytes.clone();
                other[at] = !other[at];
                assert_ne!(Faces::from_bytes(&other).as_ref(), Some(&faces), "{at}");
            }
            let model = faces.clone().model();
            assert_eq!((model.face_count(), model.face(1).len()), (2, 3));
            assert_eq!(faces.triangle_count(), faces.corners.len() - 4);
        }
    }
}
