//! What the flags ask of each pair.

use super::arguments::{Arguments, Query};
use crate::failure::{Failure, Result};

/// A query with the number it takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Question {
    Intersects,
    Distance { margin: f32 },
    Contact { margin: f32 },
    Manifold { margin: f32 },
    Sweep { duration: f32 },
}

impl Question {
    /// A flag that the query has no use for is a fault, and so is one that is missing.
    pub(super) fn of(arguments: &Arguments) -> Result<Self> {
        let Arguments { query, margin, duration, .. } = *arguments;
        let takes_margin = matches!(query, Query::Distance | Query::Contact | Query::Manifold);
        let unused = if margin.is_some() && !takes_margin {
            Some("--margin")
        } else if duration.is_some() && query != Query::Sweep {
            Some("--duration")
        } else {
            None
        };
        if let Some(flag) = unused {
            return Err(Failure::input(format!("{flag} means nothing to --query {}", query.name())));
        }
        match query {
            Query::Intersects => Ok(Self::Intersects),
            Query::Distance => Ok(Self::Distance { margin: margin.unwrap_or(f32::INFINITY) }),
            Query::Contact => Ok(Self::Contact { margin: margin.unwrap_or(0.0) }),
            Query::Manifold => Ok(Self::Manifold { margin: margin.unwrap_or(0.0) }),
            Query::Sweep => {
                let missing =
                    || Failure::input("--query sweep needs --duration, the seconds that the bodies move");
                Ok(Self::Sweep { duration: duration.ok_or_else(missing)? })
            }
        }
    }

    /// How far apart pairs may be that have rows.
    pub(super) fn margin(self) -> Option<f32> {
        match self {
            Self::Distance { margin } | Self::Contact { margin } | Self::Manifold { margin } => Some(margin),
            Self::Intersects | Self::Sweep { .. } => None,
        }
    }
}
