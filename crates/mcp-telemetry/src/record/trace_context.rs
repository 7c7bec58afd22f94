//! What a request says of the trace it belongs to.

use std::fmt::Write as _;

use opentelemetry::Context;
use opentelemetry::baggage::{Baggage, BaggageExt};
use opentelemetry::trace::{SpanContext, TraceContextExt};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// What the W3C does not let into the text of baggage as it is.
const NOT_IN_BAGGAGE: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b',')
    .add(b';')
    .add(b'\\')
    .add(b'%');
/// What is longer need not be passed on, and is not.
const LONGEST_BAGGAGE: usize = 8192;

/// The trace that a request belongs to, as the W3C spells it: members of the request's `_meta`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    parent: String,
    state: Option<String>,
    baggage: Option<String>,
}

impl TraceContext {
    /// That of the current span; `None` outside of any trace.
    ///
    /// The current span is that of OpenTelemetry's context, which `tracing-opentelemetry` keeps in step with that of
    /// `tracing`.
    pub(super) fn current(with_baggage: bool) -> Option<Self> {
        Context::map_current(|context| {
            let span = context.span();
            let span = span.span_context();
            if !span.is_valid() {
                return None;
            }
            let state = span.trace_state().header();
            Some(Self {
                parent: parent(span),
                state: (!state.is_empty()).then_some(state),
                baggage: with_baggage.then(|| baggage(context.baggage())).flatten(),
            })
        })
    }

    /// Name and text of each member.
    pub fn members(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let state = self.state.as_deref().map(|state| ("tracestate", state));
        let baggage = self.baggage.as_deref().map(|text| ("baggage", text));
        [Some(("traceparent", self.parent.as_str())), state, baggage]
            .into_iter()
            .flatten()
    }
}

fn parent(span: &SpanContext) -> String {
    let mut parent = String::with_capacity(55);
    let (trace, id, flags) = (span.trace_id(), span.span_id(), span.trace_flags());
    // Writing into a string does not fail.
    let _ = write!(parent, "00-{trace}-{id}-{:02x}", flags.to_u8());
    parent
}

fn baggage(baggage: &Baggage) -> Option<String> {
    let mut text = String::new();
    for (key, (value, metadata)) in baggage {
        let comma = if text.is_empty() { "" } else { "," };
        let value = utf8_percent_encode(value.as_str(), NOT_IN_BAGGAGE);
        let _ = write!(text, "{comma}{key}={value}");
        if !metadata.as_str().is_empty() {
            let _ = write!(text, ";{metadata}");
        }
    }
    (!text.is_empty() && text.len() <= LONGEST_BAGGAGE).then_some(text)
}
