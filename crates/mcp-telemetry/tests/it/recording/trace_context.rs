//! What requests say of the trace they belong to.

use mcp_telemetry::{Telemetry, TraceContext};
use opentelemetry::baggage::BaggageExt;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use opentelemetry::{Context, KeyValue};

use mcp_testkit::ExportedTelemetry;

use super::{docs, search, telemetry};

fn members(context: Option<&TraceContext>) -> Vec<(&'static str, String)> {
    let context = context.into_iter().flat_map(TraceContext::members);
    context
        .map(|(name, text)| (name, text.to_owned()))
        .collect()
}

fn remote(state: &str) -> Context {
    let span = SpanContext::new(
        TraceId::from(0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128),
        SpanId::from(0x00f0_67aa_0ba9_02b7_u64),
        TraceFlags::SAMPLED,
        true,
        state.parse::<TraceState>().unwrap(),
    );
    Context::new().with_remote_span_context(span)
}

/// T5
#[tokio::test]
async fn a_request_names_the_span_of_its_call() {
    let exported = ExportedTelemetry::begin();
    let telemetry = telemetry(&exported);
    let call = search(&docs(&telemetry));
    let sent = call
        .span()
        .in_scope(|| members(telemetry.trace_context().as_ref()));
    call.succeeded();
    let span = exported.spans().remove(0).span_context;
    let parent = format!("00-{}-{}-01", span.trace_id(), span.span_id());
    assert_eq!(sent, [("traceparent", parent)]);
}

/// T5
#[tokio::test]
async fn the_state_of_the_trace_is_passed_on_and_baggage_only_if_that_is_asked_for() {
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".to_owned();
    let parent = ("traceparent", parent);
    let baggage = [
        KeyValue::new("user", "a,b \"ü\""),
        KeyValue::new("tier", "1"),
    ];
    let context = remote("vendor=1,other=2").with_baggage(baggage);
    let _attached = context.attach();
    let state = ("tracestate", "vendor=1,other=2".to_owned());
    let quiet = members(Telemetry::default().trace_context().as_ref());
    assert_eq!(quiet, [parent.clone(), state.clone()]);
    let open = Telemetry::builder().send_baggage(true).build();
    let mut sent = members(open.trace_context().as_ref());
    let (name, text) = sent.pop().unwrap();
    assert_eq!(sent, [parent, state]);
    let mut entries: Vec<_> = text.split(',').collect();
    entries.sort_unstable();
    assert_eq!(
        (name, entries),
        ("baggage", vec!["tier=1", "user=a%2Cb%20%22%C3%BC%22"])
    );
}

#[tokio::test]
async fn outside_of_a_trace_nothing_is_sent() {
    assert_eq!(members(Telemetry::default().trace_context().as_ref()), []);
    let _attached = remote("").attach();
    assert_eq!(members(Telemetry::off().trace_context().as_ref()), []);
    assert_eq!(
        members(Telemetry::default().trace_context().as_ref()).len(),
        1,
        "an empty state is none"
    );
}
