//! Resources of all servers at once, and of the one that is meant (P1, K7).

use mcp_runtime::{
    Environment, ErrorCode, MultiEnvironment, QueryErrorKind, QueryOptions, Resource,
};
use mcp_testkit::{Action, Rule, Script, ServerProcess};
use serde_json::Value;

use super::{declaring, definitions, listing, page};
use crate::host::{Host, at_once, builder, stdio, text};

/// A server with this one resource.
fn serving(uri: &str) -> Script {
    listing(
        "resources/list",
        [page(&format!(r#"{{"resources":[{{"uri":"{uri}"}}]}}"#))],
    )
}

/// A server of an environment, and its name.
type Place<'a> = (&'a str, &'a ServerProcess);

/// Servers of the host's own and of two environments.
async fn host(own: &[Place<'_>], ci: &[Place<'_>], devbox: &[Place<'_>]) -> Host {
    let configs = |places: &[Place<'_>]| -> Vec<_> {
        let places = places.iter();
        places.map(|(name, process)| stdio(name, process)).collect()
    };
    let environment = |id: &str, places| {
        let id = id.parse().expect("an environment id");
        Environment::new(id).servers(configs(places))
    };
    let builder = builder()
        .servers(configs(own))
        .environment(environment("devbox", devbox))
        .environment(environment("ci", ci))
        .multi_environment(MultiEnvironment::On);
    let host = Host::begin(builder);
    at_once(host.runtime.settled()).await;
    host
}

fn owners(resources: &[Resource]) -> Vec<(String, &str)> {
    let resources = resources.iter();
    let owners = resources.map(|resource| (resource.server().to_string(), resource.uri()));
    owners.collect()
}

/// P1: in the order of the keys, each entry with its owner.
#[tokio::test]
async fn everything_is_listed_with_its_owner_and_a_failure_costs_itself() {
    let uris = ["mem://own", "mem://ci", "mem://devbox"];
    let [own, ci, devbox] = uris.map(|uri| serving(uri).command());
    // It holds up nobody, and its listing is not half a listing.
    let first = page(r#"{"resources":[{"uri":"mem://half"}],"nextCursor":"x"}"#);
    let broken = Action::ErrorRaw(r#"{"code":-32603,"message":"disk"}"#.to_owned());
    let broken = listing("resources/list", [first, broken]).command();
    // It would not answer: it says that it has no resources, so nobody asks.
    let silent = Script::new().rule(Rule::on("resources/list", []));
    let silent = silent.command();
    let mistaken = declaring().command();
    let host = host(
        &[("docs", &own), ("silent", &silent)],
        &[("docs", &ci), ("broken", &broken)],
        &[("docs", &devbox), ("mistaken", &mistaken)],
    )
    .await;
    let options = QueryOptions::new();
    let (resources, errors) = at_once(host.runtime.list_all_resources(options)).await;
    let expected = ["docs", "docs (ci)", "docs (devbox)"].map(ToOwned::to_owned);
    let expected: Vec<_> = expected.into_iter().zip(uris).collect();
    assert_eq!(owners(&resources), expected);
    assert_eq!(errors.len(), 1, "{errors:?}");
    let server = errors[0].server().map(ToString::to_string);
    assert_eq!(server.as_deref(), Some("broken (ci)"));
    assert_eq!(errors[0].code(), ErrorCode::ProtocolError);
    assert!(text(&errors[0]).contains("disk"), "{}", text(&errors[0]));
    assert_eq!(silent.log().count("resources/list"), 0);
    assert_eq!(mistaken.log().count("resources/list"), 1);
    let listing = host.runtime.list_all_resource_templates(options);
    let (templates, errors) = at_once(listing).await;
    assert!(
        templates.is_empty() && errors.is_empty(),
        "what a server does not implement, it does not have: {errors:?}"
    );
    host.end().await;
}

/// P1, K7: by names and by key.
#[tokio::test]
async fn a_resource_is_read_where_it_was_listed() {
    let place = |place: &str| {
        let contents = page(&format!(r#"{{"contents":[{{"text":"{place}"}}]}}"#));
        serving("mem://a").rule(Rule::on("resources/read", [contents]))
    };
    let [own, ci, devbox] = ["own", "ci", "devbox"].map(|name| place(name).command());
    let host = host(&[("docs", &own)], &[("docs", &ci)], &[("docs", &devbox)]).await;
    let options = QueryOptions::new();
    let (resources, _) = at_once(host.runtime.list_all_resources(options)).await;
    assert_eq!(definitions(&resources), [r#"{"uri":"mem://a"}"#; 3]);
    let expected = [
        (None, "own"),
        (Some("ci"), "ci"),
        (Some("devbox"), "devbox"),
    ];
    for (resource, (environment, place)) in resources.iter().zip(expected) {
        let runtime = &host.runtime;
        let reading = runtime.read_resource(resource.server(), resource.uri(), options);
        let by_key = at_once(reading).await.unwrap();
        let reading = runtime.read_resource(("docs", environment), "mem://a", options);
        let by_name = at_once(reading).await.unwrap();
        for contents in [by_key, by_name] {
            let text: Value = serde_json::from_str(contents.contents()[0].get()).unwrap();
            assert_eq!(text["text"], place);
        }
    }
    host.end().await;
}

/// K7: names that mean no server, or one that is not there; nothing is sent.
#[tokio::test]
async fn an_address_that_leads_nowhere_is_told_why() {
    let [ci, devbox] = ["ci", "devbox"].map(|name| serving(name).command());
    let gone = declaring()
        .rule(Rule::at_start([Action::Exit(1)]))
        .command();
    let host = host(&[("gone", &gone)], &[("docs", &ci)], &[("docs", &devbox)]).await;
    let invalid = ErrorCode::InvalidRequest;
    let rows = [
        (
            "docs",
            None,
            invalid,
            2,
            "several environments are selected",
        ),
        (
            "docs",
            Some("moon"),
            invalid,
            2,
            "no such environment as `moon`",
        ),
        ("gone", Some("ci"), invalid, 1, "leave `environment_id` out"),
        ("dogs", None, invalid, 3, "no such server"),
        (" docs", None, invalid, 0, "white space"),
        ("docs", Some(""), invalid, 0, "empty"),
        (
            "gone",
            None,
            ErrorCode::TransportClosed,
            0,
            "it is not connected",
        ),
    ];
    for (server, environment, code, candidates, says) in rows {
        let address = (server, environment);
        let (runtime, options) = (&host.runtime, QueryOptions::new());
        let errors = [
            runtime.list_resources(address, None, options).await.err(),
            runtime
                .list_resource_templates(address, None, options)
                .await
                .err(),
            runtime
                .read_resource(address, "mem://a", options)
                .await
                .err(),
        ];
        for error in errors {
            let error = error.expect("it leads nowhere");
            let message = text(&error);
            assert_eq!(error.code(), code, "{address:?}: {message}");
            assert_eq!(
                error.candidates().len(),
                candidates,
                "{address:?}: {message}"
            );
            assert!(message.contains(says), "{address:?}: {message}");
            let known = matches!(error.kind(), QueryErrorKind::NotConnected);
            assert_eq!(error.server().is_some(), known, "{address:?}");
        }
    }
    let (resources, errors) = host.runtime.list_all_resources(QueryOptions::new()).await;
    assert_eq!((resources.len(), errors.len()), (2, 0), "{errors:?}");
    for process in [&ci, &devbox] {
        assert_eq!(process.log().count("resources/list"), 1);
        assert_eq!(process.log().count("resources/read"), 0);
    }
    host.end().await;
}
