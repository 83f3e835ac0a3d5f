//! Lists of indices: the corners of faces, the neighbours of vertices.

/// Lists of indices, one after another.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Polygons {
    /// Where each list ends in `corners`.
    pub(super) ends: Vec<u32>,
    pub(super) corners: Vec<u32>,
}

impl Polygons {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.corners[start as usize..self.ends[i] as usize]
    }

    /// Ends the list that was being pushed to `corners`.
    pub(super) fn close(&mut self) {
        self.ends.push(self.corners.len() as u32);
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> + Clone {
        (0..self.len()).map(|i| self.get(i))
    }

    pub(super) fn retain(&self, keep: impl Fn(u32) -> bool) -> Self {
        let mut kept = Self::default();
        for polygon in self.iter() {
            kept.corners.extend(polygon.iter().copied().filter(|&corner| keep(corner)));
            kept.close();
        }
        kept
    }
}
