//! Resources and templates of one server, as it lists them (P1, R8).

mod contents;
mod everyone;

use mcp_runtime::{ErrorCode, Listed, QueryOptions, Resource, RuntimeEvent};
use mcp_testkit::{Action, Handshake, Rule, Script};
use serde_json::{Value, json};

use crate::host::{Host, SERVER, at_once, raw, text};

/// A server that says it has resources, and knows no method for them.
fn declaring() -> Script {
    let capabilities = json!({"tools": {}, "resources": {}});
    Script::new().handshake(Handshake::new().capabilities(capabilities))
}

/// A server whose listings are these, one after the other.
fn listing(method: &str, pages: impl IntoIterator<Item = Action>) -> Script {
    pages.into_iter().fold(declaring(), |script, page| {
        script.rule(Rule::on(method, [page]).times(1))
    })
}

fn page(json: &str) -> Action {
    Action::ResultRaw(json.to_owned())
}

fn definitions(resources: &[Resource]) -> Vec<&str> {
    resources
        .iter()
        .map(|resource| resource.definition().get())
        .collect()
}

async fn list(host: &Host, cursor: Option<&str>) -> Listed<Resource> {
    let cursor = cursor.map(raw);
    let listing = host
        .runtime
        .list_resources(SERVER, cursor.as_deref(), QueryOptions::new());
    let listed = at_once(listing).await;
    listed.unwrap_or_else(|error| panic!("{}", text(&error)))
}

/// What is remarked on listings, as told.
fn remarks(host: &mut Host) -> Vec<String> {
    let told = host.told().into_iter();
    let remarks = told.filter_map(|event| match event {
        RuntimeEvent::Listing { message, .. } => Some(message),
        _ => None,
    });
    remarks.collect()
}

/// P1, W1: unknown members, nulls, huge numbers, URIs that are none.
#[tokio::test]
async fn all_pages_are_listed_and_every_object_is_what_the_server_wrote() {
    let (first, second) = (
        r#"{"uri":"mem://a","size":5000000000000000000001,"description":null,"vendor":{"x":1e2}}"#,
        r#"{ "name":"b","uri":"not a URI at all","icons":[] }"#,
    );
    let third = r#"{"uri":"mem://a","name":"the same URI once more"}"#;
    let pages = [
        page(&format!(
            r#"{{"resources":[{first},{second}],"nextCursor":"r2","vendorTop":1}}"#
        )),
        page(&format!(r#"{{"resources":[{third}]}}"#)),
    ];
    let (mut host, process) = Host::play(&listing("resources/list", pages)).await;
    let listed = list(&host, None).await;
    assert_eq!(definitions(listed.items()), [first, second, third]);
    assert_eq!(listed.items()[1].uri(), "not a URI at all");
    assert_eq!(listed.items()[0].server().to_string(), SERVER);
    assert!(listed.next_cursor().is_none() && !listed.is_cut_short());
    assert_eq!(remarks(&mut host), [""; 0]);
    host.end().await;
    process.log().expect_all_gone().await;
}

/// P1
#[tokio::test]
async fn templates_are_listed_likewise() {
    let template = r#"{"uriTemplate":"mem://{id}/x{?q*}","name":"t","vendor":2.0}"#;
    let pages = [page(&format!(
        r#"{{"resourceTemplates":[{template},{{}}]}}"#
    ))];
    let script = listing("resources/templates/list", pages);
    let (mut host, _process) = Host::play(&script).await;
    let options = QueryOptions::new();
    let listing = host.runtime.list_resource_templates(SERVER, None, options);
    let listed = at_once(listing).await.unwrap().into_items();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].uri_template(), "mem://{id}/x{?q*}");
    assert_eq!(listed[0].server().to_string(), SERVER);
    assert_eq!(listed[0].definition().get(), template);
    let remarks = remarks(&mut host);
    assert!(
        remarks.len() == 1 && remarks[0].contains("a resource template is left out"),
        "{remarks:?}"
    );
    host.end().await;
}

/// P1: what is asked with a cursor, which page comes, and the cursor after it.
#[tokio::test]
async fn a_cursor_asks_for_one_page() {
    let of = |uri: &str, next: &str| {
        page(&format!(
            r#"{{"resources":[{{"uri":"{uri}"}}],"nextCursor":{next}}}"#
        ))
    };
    // cursor, page, next cursor, cut short, why
    let rows = [
        (
            r#""x""#,
            of("a", r#""y""#),
            Some(r#""y""#),
            false,
            "one page and no more",
        ),
        (
            r#""a/+=&\u00e9\"""#,
            of("b", "null"),
            None,
            false,
            "the last page",
        ),
        (
            r#""y""#,
            of("c", r#""""#),
            None,
            false,
            "an empty cursor is none",
        ),
        (
            r#""z""#,
            of("d", r#""z""#),
            None,
            true,
            "a page that leads to itself",
        ),
        (
            r#"{"page":7e0}"#,
            of("e", "8"),
            Some("8"),
            false,
            "cursors that are no text",
        ),
    ];
    let pages = rows.iter().map(|(_, page, ..)| page.clone());
    let (host, process) = Host::play(&listing("resources/list", pages)).await;
    for (number, (cursor, _, next, cut_short, why)) in rows.iter().enumerate() {
        let listed = list(&host, Some(cursor)).await;
        let after = listed.next_cursor().map(serde_json::value::RawValue::get);
        assert_eq!((after, listed.is_cut_short()), (*next, *cut_short), "{why}");
        assert_eq!(listed.items().len(), 1, "{why}");
        let asked = process.log().messages().into_iter();
        let asked: Vec<Value> = asked
            .filter(|message| message["method"] == "resources/list")
            .map(|message| message["params"]["cursor"].clone())
            .collect();
        assert_eq!(asked.len(), number + 1, "{why}");
        let sent: Value = serde_json::from_str(cursor).unwrap();
        assert_eq!(asked[number], sent, "{why}");
    }
    host.end().await;
}

/// R8
#[tokio::test]
async fn a_listing_that_goes_wrong_gives_what_there_is_and_says_so() {
    let malformed =
        r#"{"resources":[null,"a",["mem://a"],{"name":"none"},{"uri":7},{"uri":"mem://a"}]}"#;
    let round = r#"{"resources":[{"uri":"mem://a"}],"nextCursor":"x"}"#;
    let left_out = "a resource is left out: it is no object with a URI";
    let cut = "the listing is cut short after 2 resources: the server repeats a cursor";
    let rows = [
        (vec![malformed], 1, vec![left_out; 5]),
        (vec![round, round], 2, vec![cut]),
    ];
    for (pages, items, expected) in rows {
        let pages = pages.into_iter().map(page);
        let (mut host, _process) = Host::play(&listing("resources/list", pages)).await;
        let listed = list(&host, None).await;
        assert_eq!(listed.items().len(), items);
        assert_eq!(listed.is_cut_short(), items == 2);
        assert_eq!(remarks(&mut host), expected);
        host.end().await;
    }
}

/// P1: asked for by name, nothing is made of a server that has no resources, declared or not.
#[tokio::test]
async fn a_server_without_resources_says_so_when_it_is_asked() {
    for script in [Script::new(), declaring()] {
        let (host, process) = Host::play(&script).await;
        let options = QueryOptions::new();
        let listing = host.runtime.list_resources(SERVER, None, options);
        let error = at_once(listing).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ProtocolError);
        let rpc = error.request_error().and_then(|request| request.rpc());
        assert_eq!(rpc.map(mcp_runtime::RpcError::code), Some(-32_601));
        assert_eq!(
            error.server().map(ToString::to_string).as_deref(),
            Some(SERVER)
        );
        assert_eq!(
            text(&error),
            "asking server `scripted` failed: `resources/list` failed: Method not found: resources/list \
             (JSON-RPC error -32601)"
        );
        assert_eq!(process.log().count("resources/list"), 1);
        host.end().await;
    }
}

/// A page that is none fails the listing, with the type of any answer that does not fit.
#[tokio::test]
async fn an_answer_that_is_no_page_is_an_error() {
    let rows = ["{}", r#"{"resources":{}}"#, r#"{"tools":[]}"#, "[]", "null"];
    let pages = rows.into_iter().map(page);
    let (host, _process) = Host::play(&listing("resources/list", pages)).await;
    for row in rows {
        let options = QueryOptions::new();
        let listing = host.runtime.list_resources(SERVER, None, options);
        let error = at_once(listing).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::UnexpectedResponse, "{row}");
    }
    host.end().await;
}
