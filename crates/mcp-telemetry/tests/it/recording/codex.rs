//! The names that dashboards made for the Codex CLI know.

use mcp_telemetry::{ErrorCode, ServerLabels, TelemetryProfile};

use mcp_testkit::ExportedTelemetry;

use super::{builder, docs, failed_with, report, search};

#[tokio::test]
async fn calls_have_the_names_of_the_profile() {
    let exported = ExportedTelemetry::begin();
    let telemetry = builder(&exported).profile(TelemetryProfile::Codex).build();
    let docs = docs(&telemetry);
    let call = search(&docs);
    call.call_id(3);
    call.requested(1);
    call.protocol_version("2025-11-25");
    call.answered(&report(r#"{"_meta":{"codex/telemetry":{"span":{"target_id":"t","did_trigger_server_user_flow":false}}}}"#));
    search(&docs).answered(&failed_with("E"));
    let wiki = ServerLabels::http("wiki", "https://w.example", "w.example", 443);
    search(&telemetry.server(wiki)).failed(ErrorCode::RequestTimeout);
    let pipe = "mcp.environment.id=devbox mcp.server.name=docs mcp.server.origin=stdio mcp.transport=stdio rpc.method=tools/call rpc.system=jsonrpc";
    assert_eq!(
        exported.span_lines(),
        [
            format!("mcp.tools.call Client unset codex.mcp.server_user_flow.triggered=false codex.mcp.target.id=t {pipe} tool.call_id=3 tool.name=search"),
            format!("mcp.tools.call Client error codex.mcp.error.code=E error.type=tool_result {pipe} tool.name=search"),
            "mcp.tools.call Client error codex.mcp.error.code=request_timeout error.type=mcp_request mcp.server.name=wiki mcp.server.origin=https://w.example mcp.transport=streamable_http rpc.method=tools/call rpc.system=jsonrpc tool.name=search".to_owned(),
        ]
    );
    let calls = [
        "1 mcp.environment.id=devbox server=docs status=error tool=search",
        "1 mcp.environment.id=devbox server=docs status=ok tool=search",
        "1 server=wiki status=error tool=search",
    ];
    assert_eq!(exported.points("codex.mcp.call"), calls);
    assert_eq!(exported.points("codex.mcp.call.duration_ms"), calls);
    assert_eq!(
        exported.points("codex.mcp.call.error"),
        [
            "1 error_code=E error_type=tool_result mcp.environment.id=devbox server=docs tool=search",
            "1 error_code=request_timeout error_type=mcp_request server=wiki tool=search",
        ]
    );
    let unit = exported.read("codex.mcp.call.duration_ms", |metric| {
        metric.unit().to_owned()
    });
    assert_eq!(unit.as_deref(), Some("ms"));
    let conventional = exported.points("mcp.client.operation.duration");
    assert!(
        conventional.is_empty(),
        "under one name each: {conventional:?}"
    );
}
