//! The query that the flags choose.

use super::arguments::{Arguments, QueryKind};
use crate::failure::{Failure, Result};

/// A query with its margin or duration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Query {
    Intersects,
    Distance { margin: f32 },
    Contact { margin: f32 },
    Manifold { margin: f32 },
    Sweep { duration: f32 },
}

impl Query {
    /// Reads the flags. A flag that the query does not use, and one that it lacks, is an error.
    pub(super) fn new(arguments: &Arguments) -> Result<Self> {
        let Arguments { query: kind, margin, duration, .. } = *arguments;
        let takes_margin = matches!(kind, QueryKind::Distance | QueryKind::Contact | QueryKind::Manifold);
        let unused = if margin.is_some() && !takes_margin {
            Some("--margin")
        } else if duration.is_some() && kind != QueryKind::Sweep {
            Some("--duration")
        } else {
            None
        };
        if let Some(flag) = unused {
            return Err(Failure::input(format!("{flag} means nothing to --query {}", kind.name())));
        }
        match kind {
            QueryKind::Intersects => Ok(Self::Intersects),
            QueryKind::Distance => Ok(Self::Distance { margin: margin.unwrap_or(f32::INFINITY) }),
            QueryKind::Contact => Ok(Self::Contact { margin: margin.unwrap_or(0.0) }),
            QueryKind::Manifold => Ok(Self::Manifold { margin: margin.unwrap_or(0.0) }),
            QueryKind::Sweep => {
                let missing =
                    || Failure::input("--query sweep needs --duration, the seconds that the bodies move");
                Ok(Self::Sweep { duration: duration.ok_or_else(missing)? })
            }
        }
    }

    /// The largest distance at which a pair has a row.
    pub(super) fn margin(self) -> Option<f32> {
        match self {
            Self::Distance { margin } | Self::Contact { margin } | Self::Manifold { margin } => Some(margin),
            Self::Intersects | Self::Sweep { .. } => None,
        }
    }
}
