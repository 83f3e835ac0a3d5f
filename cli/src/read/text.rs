//! Texts of files, parsed as numbers and quoted in messages.

pub(crate) use hullfield_mesh_files::{Real, excerpt, number};

/// Whether a number's text is above zero, even if its float underflows to zero.
pub(super) fn is_positive(text: &str) -> bool {
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    !digits.starts_with('-') && digits.bytes().any(|byte| (b'1'..=b'9').contains(&byte))
}
