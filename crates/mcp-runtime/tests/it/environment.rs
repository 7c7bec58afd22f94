//! Servers of several environments, side by side and hidden (K4, K7, K8).

use mcp_runtime::{
    CallOptions, Environment, ErrorCode, McpServerKey, MultiEnvironment, RuntimeEvent, ServerState,
};
use mcp_testkit::{Action, Script, ServerProcess};
use serde_json::json;

use crate::host::{Host, at_once, builder, stdio};

/// A server whose tool `where` answers with the place it runs in.
fn server_in(place: &str) -> ServerProcess {
    let answer = json!({"content": [{"type": "text", "text": place}]});
    crate::host::with_tool(Script::new(), "where", [Action::Result(answer)]).command()
}

fn environment(id: &str, servers: &[(&str, &ServerProcess)]) -> Environment {
    let servers = servers.iter().map(|(name, process)| stdio(name, process));
    Environment::new(id.parse().expect("an environment id")).servers(servers)
}

fn host_key(name: &str) -> McpServerKey {
    McpServerKey::host(name.parse().expect("a server name"))
}

fn key(environment: &str, name: &str) -> McpServerKey {
    let environment = environment.parse().expect("an environment id");
    McpServerKey::in_environment(environment, name.parse().expect("a server name"))
}

/// What each exposed tool is, by its server's key, and where a call of it by its model-visible name arrives.
async fn check(host: &Host, expected: &[(McpServerKey, &str)]) {
    let binding = host.runtime.capture();
    let mut seen = Vec::new();
    for tool in binding.tools() {
        let call = binding.prepare(tool.name().flat()).unwrap();
        assert_eq!(call.key(), tool.key());
        let output = at_once(call.execute(CallOptions::new())).await.unwrap();
        seen.push((tool.key().server().clone(), output.text()));
    }
    let expected: Vec<_> = expected
        .iter()
        .map(|(key, place)| (key.clone(), (*place).to_owned()))
        .collect();
    assert_eq!(seen, expected);
}

/// The hidden servers, as told.
fn hidden(host: &mut Host) -> Vec<(McpServerKey, String)> {
    let told = host.told().into_iter();
    let hidden = told.filter_map(|event| match event {
        RuntimeEvent::Hidden { server, reason } => Some((server, reason.to_string())),
        _ => None,
    });
    hidden.collect()
}

/// K4, K7, K8
#[tokio::test]
async fn namesakes_of_two_environments_are_two_servers() {
    let (devbox, ci, own) = (server_in("devbox"), server_in("ci"), server_in("host"));
    let builder = builder()
        .server(stdio("docs", &own))
        .environment(environment("devbox", &[("docs", &devbox)]))
        .environment(environment("ci", &[("docs", &ci)]))
        .multi_environment(MultiEnvironment::On);
    let mut host = Host::begin(builder);
    at_once(host.runtime.settled()).await;
    assert_eq!(hidden(&mut host), []);
    let expected = [
        (host_key("docs"), "host"),
        (key("ci", "docs"), "ci"),
        (key("devbox", "docs"), "devbox"),
    ];
    check(&host, &expected).await;
    let binding = host.runtime.capture();
    let names: Vec<_> = binding
        .tools()
        .map(|tool| tool.name().flat().to_owned())
        .collect();
    assert_eq!(names[0], "mcp__docs__where");
    assert!(names[1].starts_with("mcp__docs_at_ci_x"), "{names:?}");
    assert!(names[2].starts_with("mcp__docs_at_devbox_x"), "{names:?}");
    for (environment, place) in [
        (None, "host"),
        (Some("ci"), "ci"),
        (Some("devbox"), "devbox"),
    ] {
        let call = binding.prepare_tool("docs", environment, "where").unwrap();
        let output = at_once(call.execute(CallOptions::new())).await.unwrap();
        assert_eq!(output.text(), place);
    }
    for process in [&devbox, &ci, &own] {
        assert_eq!(process.log().count_calls("where"), 2);
    }
    host.end().await;
}

/// K8
#[tokio::test]
async fn without_the_feature_only_the_primary_environment_is_exposed() {
    let (first, second, unselected) = (server_in("first"), server_in("second"), server_in("third"));
    let builder = builder()
        .environment(environment("first", &[("docs", &first)]))
        .environment(environment(
            "second",
            &[("docs", &second), ("more", &second)],
        ))
        .environment(environment("third", &[("docs", &unselected)]).selected(false));
    let mut host = Host::begin(builder);
    at_once(host.runtime.settled()).await;
    check(&host, &[(host_key("docs"), "first")]).await;
    let hidden = hidden(&mut host);
    let keys: Vec<_> = hidden.iter().map(|(key, _)| key.clone()).collect();
    assert_eq!(
        keys,
        [
            key("second", "docs"),
            key("second", "more"),
            key("third", "docs")
        ]
    );
    assert!(
        hidden[0].1.contains("multi_environment_mcp"),
        "{}",
        hidden[0].1
    );
    assert!(hidden[2].1.contains("select it"), "{}", hidden[2].1);
    assert!(matches!(host.state("more"), ServerState::Hidden { .. }));
    // What is hidden does not exist for a caller either: no advice leads to a server that never starts (K7).
    let binding = host.runtime.capture();
    for environment in [None, Some("second")] {
        let error = binding
            .prepare_tool("more", environment, "where")
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidRequest, "{environment:?}");
        let mut advice = error.candidates().iter();
        assert!(advice.all(|key| key.environment().is_none()), "{error:?}");
    }
    host.end().await;
    for process in [second, unselected] {
        assert_eq!(
            process.log().pids(),
            [0; 0],
            "what is hidden is not started"
        );
    }
}

/// K8
#[tokio::test]
async fn without_the_feature_the_hosts_server_wins() {
    let (own, shadowed, other) = (server_in("host"), server_in("devbox"), server_in("other"));
    let builder = builder()
        .server(stdio("docs", &own))
        .environment(environment(
            "devbox",
            &[("docs", &shadowed), ("other", &other)],
        ));
    let mut host = Host::begin(builder);
    at_once(host.runtime.settled()).await;
    check(
        &host,
        &[(host_key("docs"), "host"), (host_key("other"), "other")],
    )
    .await;
    let hidden = hidden(&mut host);
    assert_eq!(hidden.len(), 1);
    assert_eq!(hidden[0].0, key("devbox", "docs"));
    assert!(hidden[0].1.contains("rename one"), "{}", hidden[0].1);
    host.end().await;
    assert_eq!(shadowed.log().pids(), [0; 0]);
}

/// K7: which server a name means, or what could have been meant.
#[tokio::test]
async fn a_name_that_means_no_server_names_the_candidates() {
    let (devbox, ci, own) = (server_in("devbox"), server_in("ci"), server_in("host"));
    let builder = builder()
        .server(stdio("own", &own))
        .environment(environment("devbox", &[("docs", &devbox)]))
        .environment(environment("ci", &[("docs", &ci)]))
        .multi_environment(MultiEnvironment::On);
    let host = Host::begin(builder);
    at_once(host.runtime.settled()).await;
    let binding = host.runtime.capture();
    let both = || vec![key("devbox", "docs"), key("ci", "docs")];
    let rows = [
        (
            "docs",
            None,
            both(),
            "write `environment_id` one of `devbox`, `ci`",
        ),
        (
            "docs",
            Some("moon"),
            both(),
            "no such environment as `moon`",
        ),
        (
            "own",
            Some("ci"),
            vec![host_key("own")],
            "leave `environment_id` out",
        ),
        (
            "dogs",
            None,
            vec![host_key("own"), key("devbox", "docs"), key("ci", "docs")],
            "name one of the servers `docs`, `own`",
        ),
        ("docs", Some(" ci"), vec![], "white space"),
    ];
    for (server, environment, candidates, says) in rows {
        let row = format!("{server} in {environment:?}");
        let error = binding
            .prepare_tool(server, environment, "where")
            .unwrap_err();
        let message = crate::host::text(&error);
        assert_eq!(error.code(), ErrorCode::InvalidRequest, "{row}: {message}");
        assert_eq!(error.candidates(), candidates, "{row}: {message}");
        assert!(message.contains(says), "{row}: {message}");
        let refresh = at_once(host.runtime.refresh((server, environment))).await;
        assert_eq!(
            refresh.unwrap_err().code(),
            ErrorCode::InvalidRequest,
            "{row}"
        );
    }
    let unknown = binding
        .prepare_tool("docs", Some("ci"), "which")
        .unwrap_err();
    assert_eq!(unknown.code(), ErrorCode::InvalidRequest);
    let unknown = binding.prepare("mcp__docs__where").unwrap_err();
    assert_eq!(
        unknown.code(),
        ErrorCode::InvalidRequest,
        "no host-scoped `docs` is known"
    );
    host.end().await;
}

/// K7: with a single environment nothing has to be said.
#[tokio::test]
async fn the_server_of_the_only_environment_needs_no_id() {
    let devbox = server_in("devbox");
    let builder = builder()
        .environment(environment("devbox", &[("docs", &devbox)]))
        .multi_environment(MultiEnvironment::On);
    let host = Host::begin(builder);
    at_once(host.runtime.settled()).await;
    for environment in [None, Some("devbox")] {
        let call = host
            .runtime
            .capture()
            .prepare_tool("docs", environment, "where");
        assert_eq!(call.unwrap().key().server(), &key("devbox", "docs"));
    }
    host.end().await;
}
