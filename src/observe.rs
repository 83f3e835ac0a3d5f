//! Spans and events for the crate `tracing`. Without the feature `tracing` these macros expand to nothing.

/// Opens a span that lasts until the end of the block: its name, then fields as `tracing` takes them.
#[cfg(feature = "tracing")]
macro_rules! span {
    ($name:literal $($fields:tt)*) => {
        let _span = ::tracing::debug_span!(target: "hullfield", $name $($fields)*).entered();
    };
}
#[cfg(not(feature = "tracing"))]
macro_rules! span {
    ($($any:tt)*) => {};
}

/// Records an event: fields as `tracing` takes them, then a text.
#[cfg(feature = "tracing")]
macro_rules! event {
    ($($fields:tt)*) => {
        ::tracing::debug!(target: "hullfield", $($fields)*)
    };
}
#[cfg(not(feature = "tracing"))]
macro_rules! event {
    ($($any:tt)*) => {};
}

pub(crate) use {event, span};

/// The span of the caller, for the thread that does the work.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

impl Scope {
    /// The span that this thread is in.
    pub(crate) fn here() -> Self {
        Self {
            #[cfg(feature = "tracing")]
            span: tracing::Span::current(),
        }
    }

    /// Runs `work` within the span.
    pub(crate) fn run<R>(&self, work: impl FnOnce() -> R) -> R {
        #[cfg(feature = "tracing")]
        let _entered = self.span.enter();
        work()
    }
}
