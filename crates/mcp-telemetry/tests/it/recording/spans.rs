//! Spans of calls, requests and startups.

use mcp_telemetry::{
    ErrorCode, ListingOrigin, OperationRecording, RequestFailure, ServerLabels, Telemetry,
};
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use mcp_testkit::ExportedTelemetry;

use super::{docs, report, search, telemetry};

/// What every call of the tool says of itself.
const CALL: &str = "gen_ai.operation.name=execute_tool gen_ai.tool.name=search";
const SERVER: &str = "mcp.environment.id=devbox";

/// The one span of a call that ends like this.
#[track_caller]
fn check(end: impl Fn(OperationRecording), expected: &str, why: &str) {
    for activates in [true, false] {
        let exported = ExportedTelemetry::with_activation(activates);
        end(search(&docs(&telemetry(&exported))));
        assert_eq!(exported.span_lines(), [expected], "{why}; {activates}");
    }
}

/// T4, T5: the attributes as an exporter gets them.
#[tokio::test]
async fn a_call_has_one_span_with_the_conventional_attributes() {
    let rest = "mcp.method.name=tools/call mcp.server.name=docs network.transport=pipe";
    check(
        |call| call.answered(&report(r#"{"content":[]}"#)),
        &format!("tools/call search Client unset {CALL} {SERVER} {rest}"),
        "the tool answered",
    );
    check(
        |call| {
            call.protocol_version("2025-11-25");
            call.requested(7);
            call.requested(8);
            call.succeeded();
        },
        &format!(
            "tools/call search Client unset {CALL} jsonrpc.request.id=7 {SERVER} mcp.method.name=tools/call mcp.protocol.version=2025-11-25 mcp.server.name=docs network.transport=pipe"
        ),
        "what is known later, and of several rounds the first",
    );
}

/// T3, T4
#[tokio::test]
async fn a_failed_call_says_so_on_its_span() {
    let line = |error_type: &str, code: &str| {
        format!(
            "tools/call search Client error error.type={error_type} {CALL} {SERVER} mcp.error.code={code} mcp.method.name=tools/call mcp.server.name=docs network.transport=pipe"
        )
    };
    check(
        |call| call.answered(&report(r#"{"isError":true}"#)),
        &line("tool_error", "unknown"),
        "the tool says that it failed, and not why",
    );
    check(
        |call| {
            let long = format!("{} ü", "x".repeat(300));
            call.answered(&super::failed_with(&long));
        },
        &line("tool_error", &"x".repeat(256)),
        "sanitised and cut, and never `other`",
    );
    for code in ErrorCode::ALL {
        let why = code.as_str();
        check(|call| call.failed(*code), &line(why, why), why);
    }
    check(
        drop,
        &line("cancelled", "cancelled"),
        "its future was dropped",
    );
}

/// T4: a JSON-RPC error keeps its number on the span.
#[tokio::test]
async fn the_number_of_an_rpc_error_is_on_the_span_only() {
    let exported = ExportedTelemetry::begin();
    let call = search(&docs(&telemetry(&exported)));
    call.failed(RequestFailure::new(ErrorCode::ProtocolError).rpc_status(-32602));
    let spans = exported.span_lines();
    assert!(
        spans[0].contains(" rpc.response.status_code=-32602"),
        "{spans:?}"
    );
    let points = exported.points("mcp.client.operation.duration");
    assert!(
        !points[0].contains("rpc."),
        "a server may send any number: {points:?}"
    );
}

/// T3
#[tokio::test]
async fn the_spans_fields_of_a_result_are_on_the_span() {
    let meta = r#"{"_meta":{"codex/telemetry":{"span":{"target_id":"t","did_trigger_server_user_flow":true}}}}"#;
    check(
        |call| call.answered(&report(meta)),
        &format!(
            "tools/call search Client unset {CALL} {SERVER} mcp.method.name=tools/call mcp.server.name=docs mcp.server_user_flow.triggered=true mcp.target.id=t network.transport=pipe"
        ),
        "as the server says",
    );
}

/// T5
#[tokio::test]
async fn other_requests_and_startups_have_spans_too() {
    let exported = ExportedTelemetry::begin();
    let telemetry = telemetry(&exported);
    let labels = ServerLabels::http("wiki", "https://w.example:8443", "w.example", 8443);
    let wiki = telemetry.server(labels);
    let startup = wiki.startup();
    startup
        .span()
        .in_scope(|| wiki.request("tools/list").succeeded());
    startup.ready(ListingOrigin::Fetched, "2026-07-28");
    wiki.startup().failed(ErrorCode::AuthRequired);
    drop(wiki.startup());
    telemetry
        .call_of_unknown_server()
        .failed(ErrorCode::InvalidRequest);
    let reach = "network.transport=tcp server.address=w.example server.port=8443";
    assert_eq!(
        exported.span_lines(),
        [
            format!("tools/list Client unset mcp.method.name=tools/list mcp.server.name=wiki {reach}"),
            format!("mcp.client.startup Internal unset mcp.listing=fetched mcp.protocol.version=2026-07-28 mcp.server.name=wiki {reach}"),
            format!("mcp.client.startup Internal error error.type=auth_required mcp.error.code=auth_required mcp.server.name=wiki {reach}"),
            format!("mcp.client.startup Internal error error.type=cancelled mcp.error.code=cancelled mcp.server.name=wiki {reach}"),
            "tools/call Client error error.type=invalid_request gen_ai.operation.name=execute_tool mcp.error.code=invalid_request mcp.method.name=tools/call".to_owned(),
        ]
    );
    let spans = exported.spans();
    assert_eq!(spans[0].parent_span_id, spans[1].span_context.span_id());
}

/// T5: attributes reach whoever listens to `tracing`, also without OpenTelemetry.
#[tokio::test]
async fn a_subscriber_of_another_kind_sees_the_attributes_as_fields() {
    #[derive(Clone, Default)]
    struct Fields(std::sync::Arc<std::sync::Mutex<Vec<String>>>);
    impl Visit for Fields {
        fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
            let mut fields = self.0.lock().unwrap();
            fields.push(format!("{}={value:?}", field.name()));
        }
    }
    impl<S: tracing::Subscriber> Layer<S> for Fields {
        fn on_new_span(
            &self,
            span: &tracing::span::Attributes<'_>,
            _: &tracing::Id,
            _: Context<'_, S>,
        ) {
            span.record(&mut self.clone());
        }
        fn on_record(
            &self,
            _: &tracing::Id,
            values: &tracing::span::Record<'_>,
            _: Context<'_, S>,
        ) {
            values.record(&mut self.clone());
        }
    }

    let fields = Fields::default();
    let subscriber = tracing_subscriber::registry().with(fields.clone());
    tracing::subscriber::with_default(subscriber, || {
        search(&docs(&Telemetry::default())).failed(ErrorCode::Blocked);
    });
    let mut seen = fields.0.lock().unwrap().clone();
    seen.sort();
    assert_eq!(
        seen,
        [
            r#"error.type="blocked""#,
            r#"gen_ai.operation.name="execute_tool""#,
            r#"gen_ai.tool.name="search""#,
            r#"mcp.environment.id="devbox""#,
            r#"mcp.error.code="blocked""#,
            r#"mcp.method.name="tools/call""#,
            r#"mcp.server.name="docs""#,
            r#"network.transport="pipe""#,
            r#"otel.kind="client""#,
            r#"otel.name="tools/call search""#,
            r#"otel.status_code="error""#,
        ]
    );
}

#[tokio::test]
async fn a_span_that_is_not_sampled_costs_the_call_nothing_but_its_attributes() {
    use opentelemetry::trace::TracerProvider as _;
    use opentelemetry_sdk::trace::{InMemorySpanExporter, Sampler, SdkTracerProvider};

    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder();
    let provider = provider.with_sampler(Sampler::AlwaysOff);
    let provider = provider.with_simple_exporter(exporter.clone()).build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
    let exported = ExportedTelemetry::begin();
    let subscriber = tracing_subscriber::registry().with(layer);
    tracing::subscriber::with_default(subscriber, || {
        search(&docs(&telemetry(&exported))).succeeded();
    });
    assert!(exporter.get_finished_spans().unwrap().is_empty());
    assert_eq!(exported.points("mcp.client.operation.duration").len(), 1);
}
