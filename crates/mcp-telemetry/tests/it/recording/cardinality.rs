//! However many texts servers think of, there are few series (T3).

use mcp_telemetry::{ServerLabels, ServerRecorder};
use tokio::time::Instant;

use mcp_testkit::ExportedTelemetry;

use super::{failed_with, report, telemetry};

fn server(telemetry: &mcp_telemetry::Telemetry, n: usize) -> ServerRecorder {
    telemetry.server(ServerLabels::stdio(format!("server {n}")))
}

/// T3: 32 codes of a server, 512 in all, and one more series for the rest; the span keeps the code.
#[tokio::test]
async fn ten_thousand_codes_make_a_bounded_number_of_series() {
    let exported = ExportedTelemetry::begin();
    let telemetry = telemetry(&exported);
    for n in 0..10_000 {
        // A recorder that is asked for again is the same one, and has spent what it has spent.
        let call = server(&telemetry, n % 20).call("search", Instant::now());
        call.answered(&failed_with(&format!("code-{n}")));
    }
    let points = exported.points("mcp.client.call.errors");
    let others = points
        .iter()
        .filter(|point| point.contains("mcp.error.code=other"));
    assert_eq!(others.count(), 20);
    assert_eq!(
        points.len(),
        512 + 20,
        "16 servers with 32, and the rest of all"
    );
    assert_eq!(exported.points("mcp.client.operation.duration").len(), 20);
    let spans = exported.spans();
    let last = spans.last().unwrap().attributes.iter();
    let mut code = last.filter(|attribute| attribute.key.as_str() == "mcp.error.code");
    assert_eq!(code.next().unwrap().value.as_str(), "code-9999");
}

/// T3
#[tokio::test]
async fn the_codes_of_the_list_are_never_too_many() {
    let exported = ExportedTelemetry::begin();
    let server = server(&telemetry(&exported), 0);
    for n in 0..100 {
        let call = server.call("search", Instant::now());
        call.answered(&failed_with(&format!("code-{n}")));
    }
    for result in [
        r#"{"isError":true}"#,
        r#"{"isError":true,"_meta":{"codex/telemetry":{"error_code":"kernel_exited"}}}"#,
    ] {
        server
            .call("search", Instant::now())
            .answered(&report(result));
    }
    let points = exported.points("mcp.client.call.errors");
    assert_eq!(points.len(), 32 + 1 + 2);
    for code in ["unknown", "kernel_exited"] {
        let is_there = |point: &String| point.contains(&format!("mcp.error.code={code} "));
        assert!(points.iter().any(is_there), "{code}: {points:?}");
    }
}

/// T3: tools likewise.
#[tokio::test]
async fn ten_thousand_tools_make_a_bounded_number_of_series() {
    let exported = ExportedTelemetry::begin();
    let telemetry = telemetry(&exported);
    for n in 0..10_000 {
        let call = server(&telemetry, n % 10).call(&format!("tool-{n}"), Instant::now());
        call.succeeded();
    }
    let points = exported.points("mcp.client.operation.duration");
    assert_eq!(
        points.len(),
        1024 + 10,
        "8 servers with 128, and the rest of all"
    );
    let spans = exported.spans();
    assert_eq!(spans.last().unwrap().name, "tools/call tool-9999");
}
