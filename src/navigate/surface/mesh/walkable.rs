//! Which triangles of a surface may be walked on.

/// A flag for each triangle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walkable<'a>(pub(crate) &'a [bool]);

impl Walkable<'_> {
    /// Whether a triangle may be walked on.
    #[inline(always)]
    pub(crate) fn holds(self, triangle: u32) -> bool {
        self.0[triangle as usize]
    }
}
