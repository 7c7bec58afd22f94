//! What a call sends: arguments as given, metadata without what is the host's own (W1, S6).

#[cfg(unix)]
use std::fs;

use mcp_runtime::{CallErrorKind, CallOptions, ErrorCode};
use mcp_testkit::Script;
#[cfg(unix)]
use mcp_testkit::ServerProcess;

#[cfg(unix)]
use crate::host::SERVER;
use crate::host::{Host, raw};

/// A server behind a copier, which keeps every byte that the client wrote.
#[cfg(unix)]
fn tapped(process: &ServerProcess, copy: &std::path::Path) -> mcp_runtime::ServerConfig {
    let text = |path: &std::ffi::OsStr| path.to_str().expect("test paths are text").to_owned();
    let mut args = vec!["-c".to_owned(), "tee \"$0\" | \"$@\"".to_owned()];
    args.push(text(copy.as_os_str()));
    args.push(text(process.program().as_os_str()));
    args.extend(process.args().iter().map(|arg| text(arg)));
    let transport = mcp_runtime::StdioTransport::new("sh").args(args);
    mcp_runtime::ServerConfig::stdio(SERVER.parse().expect("a server name"), transport)
}

/// The line of each call holds these members, and the metadata is exactly this and the request's own token.
#[cfg(unix)]
async fn check(rows: &[(CallOptions, &str, &str)]) {
    let process = Script::new().tool_named("t").command();
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("sent");
    let host = Host::ready(tapped(&process, &copy)).await;
    for (options, ..) in rows {
        host.call_with("t", options.clone()).await.unwrap();
    }
    host.end().await;
    let sent = fs::read_to_string(&copy).unwrap();
    let calls: Vec<_> = sent
        .lines()
        .filter(|line| line.contains("\"tools/call\""))
        .collect();
    assert_eq!(calls.len(), rows.len(), "{sent}");
    for (line, (_, params, why)) in calls.iter().zip(rows) {
        let message: serde_json::Value = serde_json::from_str(line).unwrap();
        let id = &message["id"];
        assert_eq!(
            message["params"]["_meta"]["progressToken"], *id,
            "{why}: {line}"
        );
        let (params, meta) = params.split_once(" | ").unwrap_or((params, ""));
        let meta = match meta {
            "" => format!("{{\"progressToken\":{id}}}"),
            meta => format!("{{{meta},\"progressToken\":{id}}}"),
        };
        let expected =
            format!("\"params\":{{\"name\":\"t\",\"arguments\":{params},\"_meta\":{meta}}}");
        assert!(line.contains(&expected), "{why}: {line} has no {expected}");
    }
}

/// W1
#[cfg(unix)]
#[tokio::test]
async fn arguments_are_written_as_they_are_given() {
    let row = |arguments: &str| CallOptions::new().arguments(raw(arguments));
    check(&[
        (CallOptions::new(), "{}", "no arguments are an empty object"),
        (
            row(r#"{"n":1e2,"big":123456789012345678901234567890,"f":1.0}"#),
            r#"{"n":1e2,"big":123456789012345678901234567890,"f":1.0}"#,
            "numbers keep their spelling",
        ),
        (
            row(r#"{"z":1,"a":2,"z":3}"#),
            r#"{"z":1,"a":2,"z":3}"#,
            "order and duplicates",
        ),
        (row(r#"{"t":"\u00e9\/"}"#), r#"{"t":"\u00e9\/"}"#, "escapes"),
        (
            row("{ \"a\" :\n[ 1 ,\r\n2 ] }"),
            "{ \"a\" : [ 1 ,  2 ] }",
            "white space, but on one line",
        ),
    ])
    .await;
}

/// S6
#[cfg(unix)]
#[tokio::test]
async fn reserved_metadata_is_left_out_and_the_rest_stays_as_it_is() {
    let row = |meta: &str| CallOptions::new().meta(raw(meta));
    check(&[
        (
            row(r#"{"own/key":{"n":1e2,"b":1,"a":2},"big":123456789012345678901}"#),
            r#"{} | "own/key":{"n":1e2,"b":1,"a":2},"big":123456789012345678901"#,
            "what is the caller's own passes byte for byte",
        ),
        (
            row(
                r#"{"codex/sandbox-state":{"mode":"none"},"codex/sandbox-state-meta":1,"codex/sandbox-launcher":{},"keep":1,"io.modelcontextprotocol/related-task":{},"progressToken":7,"traceparent":"00-","tracestate":"x","baggage":"y"}"#,
            ),
            r#"{} | "keep":1"#,
            "every reserved key",
        ),
        (
            row(r#"{"codex\/sandbox-state":1,"progress\u0054oken":2}"#),
            "{}",
            "reserved keys behind escapes",
        ),
        (
            row(r#"{"nested":{"progressToken":1}}"#),
            r#"{} | "nested":{"progressToken":1}"#,
            "only the top level is reserved",
        ),
    ])
    .await;
}

/// T1
#[tokio::test]
async fn what_is_no_object_is_refused_and_nothing_is_sent() {
    let (host, process) = Host::play(&Script::new().tool_named("t")).await;
    for json in ["[]", "null", "\"{}\"", "7"] {
        let error = host
            .call_with("t", CallOptions::new().arguments(raw(json)))
            .await;
        let error = error.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidRequest, "{json}");
        assert!(matches!(error.kind(), CallErrorKind::Arguments), "{json}");
        let error = host
            .call_with("t", CallOptions::new().meta(raw(json)))
            .await;
        let error = error.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidRequest, "{json}");
        assert!(matches!(error.kind(), CallErrorKind::Meta(_)), "{json}");
    }
    host.call("t").await.unwrap();
    assert_eq!(process.log().count("tools/call"), 1);
    host.end().await;
}
