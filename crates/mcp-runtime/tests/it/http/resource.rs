//! Resources over HTTP (P1, W1).

use mcp_runtime::QueryOptions;

use super::{end, ready};
use crate::host::{SERVER, at_once};

/// As over stdio: pages, and what the server wrote.
#[tokio::test]
async fn resources_come_as_the_endpoint_wrote_them() {
    let (host, mut server) = ready(&["t"]).await;
    let options = QueryOptions::new();
    let (a, b) = (r#"{"uri":"mem://a","n":1e2}"#, r#"{"size":5e12,"uri":"b"}"#);
    let answering = async {
        let first = server.expect_post("resources/list").await;
        let page = format!(r#"{{"resources":[{a}],"nextCursor":"x"}}"#);
        first.result_raw(&page).await;
        let second = server.expect_post("resources/list").await;
        assert_eq!(second.params()["cursor"], "x");
        second
            .result_raw(&format!(r#"{{"resources":[{b}]}}"#))
            .await;
    };
    let listing = at_once(host.runtime.list_resources(SERVER, None, options));
    let listed = tokio::join!(listing, answering).0.unwrap();
    let listed: Vec<_> = listed
        .items()
        .iter()
        .map(|resource| resource.definition().get())
        .collect();
    assert_eq!(listed, [a, b]);

    let contents = r#"{"z":1.0,"contents":[{"uri":"mem://a","text":"A","x":1,"x":2}]}"#;
    let answering = async {
        let request = server.expect_post("resources/read").await;
        assert_eq!(request.params()["uri"], "mem://a");
        request.result_raw(contents).await;
    };
    let reading = at_once(host.runtime.read_resource(SERVER, "mem://a", options));
    let read = tokio::join!(reading, answering).0.unwrap();
    assert_eq!(read.raw().get(), contents);
    end(&host, server).await;
}
