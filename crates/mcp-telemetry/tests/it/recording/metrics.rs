//! Metrics of calls, requests, startups, listings and sessions.

use std::time::Duration;

use mcp_telemetry::{ErrorCode, ListingJoin, ListingOrigin, Telemetry};
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};

use mcp_testkit::ExportedTelemetry;

use super::{docs, failed_with, report, search, telemetry};

const SERVER: &str = "mcp.environment.id=devbox";

/// T4, T5
#[tokio::test]
async fn calls_are_counted_by_how_they_ended() {
    let exported = ExportedTelemetry::begin();
    let docs = docs(&telemetry(&exported));
    search(&docs).answered(&report("{}"));
    search(&docs).answered(&failed_with("RATE LIMITED"));
    search(&docs).failed(ErrorCode::RequestTimeout);
    drop(search(&docs));
    docs.request("resources/read")
        .failed(ErrorCode::ProtocolError);
    docs.call_of_unknown_tool()
        .failed(ErrorCode::InvalidRequest);
    let call = "gen_ai.operation.name=execute_tool gen_ai.tool.name=search";
    let rest =
        format!("{SERVER} mcp.method.name=tools/call mcp.server.name=docs network.transport=pipe");
    assert_eq!(
        exported.points("mcp.client.operation.duration"),
        [
            format!("1 error.type=cancelled {call} {rest}"),
            format!("1 error.type=invalid_request gen_ai.operation.name=execute_tool {rest}"),
            format!(
                "1 error.type=protocol_error {SERVER} mcp.method.name=resources/read mcp.server.name=docs network.transport=pipe"
            ),
            format!("1 error.type=request_timeout {call} {rest}"),
            format!("1 error.type=tool_error {call} {rest}"),
            format!("1 {call} {rest}"),
        ]
    );
    let tool = "gen_ai.tool.name=search";
    assert_eq!(
        exported.points("mcp.client.call.errors"),
        [
            format!(
                "1 error.type=cancelled {tool} {SERVER} mcp.error.code=cancelled mcp.server.name=docs"
            ),
            format!(
                "1 error.type=invalid_request {SERVER} mcp.error.code=invalid_request mcp.server.name=docs"
            ),
            format!(
                "1 error.type=request_timeout {tool} {SERVER} mcp.error.code=request_timeout mcp.server.name=docs"
            ),
            format!(
                "1 error.type=tool_error {tool} {SERVER} mcp.error.code=RATE_LIMITED mcp.server.name=docs"
            ),
        ],
        "of calls only"
    );
}

/// T5
#[tokio::test]
async fn startups_listings_and_sessions_are_counted() {
    let exported = ExportedTelemetry::begin();
    let docs = docs(&telemetry(&exported));
    docs.startup().ready(ListingOrigin::Shared, "2025-11-25");
    docs.startup().failed(ErrorCode::StartupFailed);
    drop(docs.startup());
    let joins = [
        ListingJoin::Led,
        ListingJoin::Shared,
        ListingJoin::Retried,
        ListingJoin::OptedOut,
    ];
    for join in joins {
        docs.joined(join);
    }
    docs.session("2025-11-25").lost();
    drop(docs.session("2025-11-25"));
    let server = format!("{SERVER} mcp.server.name=docs network.transport=pipe");
    assert_eq!(
        exported.points("mcp.client.startup.duration"),
        [
            format!("1 error.type=cancelled {server}"),
            format!("1 error.type=startup_failed {server}"),
            format!("1 {SERVER} mcp.listing=shared mcp.server.name=docs network.transport=pipe"),
        ]
    );
    let joined = |how: &str| format!("1 {SERVER} mcp.listing.join={how} mcp.server.name=docs");
    assert_eq!(
        exported.points("mcp.client.listing.joins"),
        ["led", "opted_out", "retried", "shared"].map(joined)
    );
    let session = format!(
        "{SERVER} mcp.protocol.version=2025-11-25 mcp.server.name=docs network.transport=pipe"
    );
    assert_eq!(
        exported.points("mcp.client.session.duration"),
        [
            format!("1 error.type=transport_closed {session}"),
            format!("1 {session}"),
        ]
    );
}

/// T5: units and buckets are part of the contract with dashboards.
#[tokio::test(start_paused = true)]
async fn durations_are_seconds_in_the_conventional_buckets() {
    let exported = ExportedTelemetry::begin();
    let docs = docs(&telemetry(&exported));
    let (call, startup, session) = (search(&docs), docs.startup(), docs.session("2025-11-25"));
    tokio::time::advance(Duration::from_millis(1500)).await;
    call.succeeded();
    startup.ready(ListingOrigin::Fetched, "2025-11-25");
    session.lost();
    let durations = [
        "mcp.client.operation.duration",
        "mcp.client.startup.duration",
        "mcp.client.session.duration",
    ];
    for name in durations {
        let read = exported.read(name, |metric| {
            let AggregatedMetrics::F64(MetricData::Histogram(histogram)) = metric.data() else {
                panic!("{metric:?}");
            };
            let point = histogram.data_points().next().unwrap();
            let bounds: Vec<_> = point.bounds().collect();
            (metric.unit().to_owned(), point.sum(), bounds)
        });
        let buckets = vec![
            0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
        ];
        assert_eq!(read, Some(("s".to_owned(), 1.5, buckets)), "{name}");
    }
}

#[tokio::test]
async fn what_is_off_records_nothing() {
    let exported = ExportedTelemetry::begin();
    let docs = docs(&Telemetry::off());
    search(&docs).failed(ErrorCode::Blocked);
    docs.startup().failed(ErrorCode::Blocked);
    docs.joined(ListingJoin::Led);
    docs.session("2025-11-25").lost();
    assert!(search(&docs).span().is_disabled());
    assert!(exported.span_lines().is_empty());
}
