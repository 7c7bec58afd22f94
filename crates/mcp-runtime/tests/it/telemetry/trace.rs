//! The trace that a request belongs to (T5, S6).

use mcp_runtime::{CallOptions, QueryOptions};
use mcp_testkit::{Action, Handshake, Rule, Script, ServerLog};
use opentelemetry::trace::SpanContext;
use serde_json::{Value, json};

use super::Watched;
use crate::host::{SERVER, at_once, raw};

/// The `_meta` of the first request of this method.
fn meta(log: &ServerLog, method: &str) -> Value {
    let messages = log.messages();
    let request = messages.iter().find(|message| message["method"] == method);
    request.expect("it was requested")["params"]["_meta"].clone()
}

fn parent(span: &SpanContext) -> String {
    format!("00-{}-{}-01", span.trace_id(), span.span_id())
}

/// T5, S6: what is sent is ours, and in step with what is exported.
#[tokio::test]
async fn a_server_is_told_which_span_asks_it() {
    let resources = Action::Result(json!({"resources": []}));
    let script = Script::new()
        .handshake(Handshake::new())
        .tool_named("t")
        .rule(Rule::on("resources/list", [resources]));
    let watched = Watched::play(&script).await;
    let forged = r#"{"traceparent":"00-00000000000000000000000000000001-0000000000000001-01","tracestate":"a=b","baggage":"a=b","kept":1}"#;
    let call = watched
        .host
        .call_with("t", CallOptions::new().meta(raw(forged)));
    call.await.unwrap();
    let options = QueryOptions::new();
    at_once(watched.host.runtime.list_resources(SERVER, None, options))
        .await
        .unwrap();
    let log = watched.process.log();
    for (method, name) in [
        ("tools/list", "tools/list"),
        ("tools/call", "tools/call t"),
        ("resources/list", "resources/list"),
    ] {
        let spans = watched.exported.spans();
        let span = spans.iter().find(|span| span.name == name).expect(name);
        let mut meta = meta(&log, method);
        let meta = meta.as_object_mut().expect(method);
        meta.remove("progressToken");
        let sent = meta.remove("traceparent");
        assert_eq!(sent, Some(parent(&span.span_context).into()), "{method}");
        let kept = if method == "tools/call" {
            json!({"kept": 1})
        } else {
            json!({})
        };
        assert_eq!(json!(meta), kept, "{method}");
    }
    watched.host.end().await;
}

/// T5: a span of the host's is above those of its calls.
#[tokio::test]
async fn a_call_belongs_to_the_span_that_makes_it() {
    use tracing::Instrument;

    let watched = Watched::play(&Script::new().tool_named("t")).await;
    let step = tracing::info_span!("step");
    watched.host.call("t").instrument(step).await.unwrap();
    let spans = watched.exported.spans();
    let find = |name| spans.iter().find(|span| span.name == name).expect(name);
    let (call, step) = (find("tools/call t"), find("step"));
    assert_eq!(call.parent_span_id, step.span_context.span_id());
    watched.host.end().await;
}
