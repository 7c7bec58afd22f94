//! Listings, whole or not (R8).

use mcp_runtime::{RuntimeEvent, ToolFilter};
use mcp_testkit::{Action, Rule, Script};
use serde_json::{Value, json};

use crate::host::{Host, SERVER, stdio};

/// A listing: the results of `tools/list` one after the other, the cursors that must be asked for, the names offered, and
/// what is remarked on.
struct Row {
    why: &'static str,
    pages: Vec<Value>,
    cursors: Vec<Value>,
    names: &'static [&'static str],
    remarks: &'static [&'static str],
}

async fn check(row: Row) {
    let why = row.why;
    let pages = row.pages.into_iter().fold(Script::new(), |script, page| {
        script.rule(Rule::on("tools/list", [Action::Result(page)]).times(1))
    });
    let (mut host, process) = Host::play(&pages).await;
    let listings = process.log().messages().into_iter();
    let cursors: Vec<_> = listings
        .filter(|message| message["method"] == "tools/list")
        .filter_map(|message| message["params"].get("cursor").cloned())
        .collect();
    assert_eq!(cursors, row.cursors, "{why}");
    assert_eq!(host.tools(), row.names, "{why}");
    let told = host.told();
    let remarks: Vec<_> = told
        .iter()
        .filter_map(|event| match event {
            RuntimeEvent::Listing { message, .. } => Some(message.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(remarks.len(), row.remarks.len(), "{why}: {remarks:?}");
    for (remark, expected) in remarks.iter().zip(row.remarks) {
        assert!(
            remark.contains(expected),
            "{why}: {remark:?} lacks {expected:?}"
        );
    }
    host.end().await;
}

/// R8
#[tokio::test]
async fn all_pages_are_read_whatever_their_cursors_look_like() {
    let odd = ["a/+=&é\n\"", "0", " "].map(|cursor| json!(cursor));
    let mut pages: Vec<_> = odd
        .iter()
        .enumerate()
        .map(
            |(number, next)| json!({"tools": [{"name": format!("t{number}")}], "nextCursor": next}),
        )
        .collect();
    pages.push(json!({"tools": [{"name": "t3"}], "nextCursor": null}));
    check(Row {
        why: "a null cursor ends a listing",
        pages,
        cursors: odd.to_vec(),
        names: &["t0", "t1", "t2", "t3"],
        remarks: &[],
    })
    .await;
}

/// R8: whatever it is, it is the server's own business.
#[tokio::test]
async fn a_cursor_goes_back_as_it_came() {
    let odd = [
        json!(7),
        json!(true),
        json!({"page": [1, null]}),
        json!(["x"]),
    ];
    let page = |next| json!({"tools": [], "nextCursor": next});
    let mut pages: Vec<_> = odd.iter().map(page).collect();
    pages.push(json!({"tools": [{"name": "t"}]}));
    check(Row {
        why: "cursors that are no text",
        pages,
        cursors: odd.to_vec(),
        names: &["t"],
        remarks: &[],
    })
    .await;
}

/// R8: definitions are kept, not read; so neither depth nor number matters.
#[tokio::test]
async fn a_listing_may_be_deep_and_long() {
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let mut tools: Vec<_> = (0..9_999)
        .map(|number| format!("{{\"name\":\"t{number}\"}}"))
        .collect();
    tools.push(format!(
        r#"{{"name":"deep","inputSchema":{{"type":"object","x":{deep}}}}}"#
    ));
    let listed = Action::ResultRaw(format!("{{\"tools\":[{}]}}", tools.join(",")));
    let (host, _process) = Host::play(&Script::new().rule(Rule::on("tools/list", [listed]))).await;
    assert_eq!(host.tools().len(), 10_000);
    let call = host.prepare("deep");
    assert!(call.tool().input_schema().ends_with(&format!("{deep}}}")));
    assert_eq!(
        host.call("t9998")
            .await
            .map(|output| output.is_error())
            .ok(),
        None,
        "it answers -32602"
    );
    host.end().await;
}

/// R8
#[tokio::test]
async fn a_cursor_ends_a_listing_when_it_is_empty_or_was_seen_before() {
    let page = |name: &str, next: &str| json!({"tools": [{"name": name}], "nextCursor": next});
    check(Row {
        why: "an empty cursor is none",
        pages: vec![page("a", "next"), page("b", "")],
        cursors: vec![json!("next")],
        names: &["a", "b"],
        remarks: &[],
    })
    .await;
    check(Row {
        why: "a cursor that repeats itself",
        pages: vec![page("a", "x"), page("b", "x")],
        cursors: vec![json!("x")],
        names: &["a", "b"],
        remarks: &["cut short after 2 tools: the server repeats a cursor"],
    })
    .await;
    check(Row {
        why: "cursors that go round",
        pages: vec![page("a", "x"), page("b", "y"), page("c", "x")],
        cursors: vec![json!("x"), json!("y")],
        names: &["a", "b", "c"],
        remarks: &["the server repeats a cursor"],
    })
    .await;
}

/// R8: and what is well-formed stays, with all its members.
#[tokio::test]
async fn a_malformed_tool_costs_itself() {
    let tools = json!([
        {"name": "good", "x-vendor": {"a": [1]}},
        {"description": "nameless"},
        {"name": 7},
        "text",
        null,
        ["listed"],
        {"name": " padded "},
        {"name": "good", "description": "again"},
        {"name": "bare"},
        {"name": "odd", "inputSchema": null, "description": 7},
    ]);
    check(Row {
        why: "each wrong entry has its remark",
        pages: vec![json!({"tools": tools.clone()})],
        cursors: vec![],
        names: &["bare", "good", "odd"],
        remarks: &[
            "left out",
            "left out",
            "left out",
            "left out",
            "left out",
            "left out",
            "`good` is listed more than once",
        ],
    })
    .await;
    let listed = Rule::on("tools/list", [Action::Result(json!({"tools": tools}))]);
    let (host, _process) = Host::play(&Script::new().rule(listed)).await;
    let good = host.prepare("good");
    let definition: Value = serde_json::from_str(good.tool().definition().get()).unwrap();
    assert_eq!(
        definition,
        json!({"name": "good", "x-vendor": {"a": [1]}}),
        "the first stays"
    );
    assert_eq!(good.tool().input_schema(), r#"{"type":"object"}"#);
    host.end().await;
}

/// R8, W1
#[tokio::test]
async fn a_definition_is_what_the_server_wrote() {
    let definition = r#"{"title":"Z","name":"t","inputSchema":{"maximum":1e2,"type":"object","x":123456789012345678901}}"#;
    let listed = Action::ResultRaw(format!("{{\"tools\":[{definition}]}}"));
    let (host, _process) = Host::play(&Script::new().rule(Rule::on("tools/list", [listed]))).await;
    assert_eq!(host.prepare("t").tool().definition().get(), definition);
    host.end().await;
}

/// R8
#[tokio::test]
async fn filters_decide_what_is_offered() {
    let rows: [(ToolFilter, &[&str], &str); 5] = [
        (ToolFilter::all(), &["a", "b", "c"], "everything"),
        (
            ToolFilter::all().only(["a", "x"]),
            &["a"],
            "only what is named and there",
        ),
        (
            ToolFilter::all().except(["b"]),
            &["a", "c"],
            "all but what is named",
        ),
        (
            ToolFilter::all().only(["a", "b"]).except(["b"]),
            &["a"],
            "disabled wins",
        ),
        (
            ToolFilter::all().only(Vec::<String>::new()),
            &[],
            "an empty list admits nothing",
        ),
    ];
    let process = Script::new()
        .tool_named("a")
        .tool_named("b")
        .tool_named("c")
        .command();
    for (filter, names, why) in rows {
        let mut host = Host::ready(stdio(SERVER, &process).tool_filter(filter)).await;
        assert_eq!(host.tools(), names, "{why}");
        host.await_event(
            |event| matches!(event, RuntimeEvent::Ready { tools, .. } if *tools == names.len()),
        )
        .await;
        if !names.contains(&"b") {
            let refused = host.runtime.capture().prepare_tool(SERVER, None, "b");
            assert!(refused.is_err(), "{why}");
        }
        host.end().await;
    }
}
