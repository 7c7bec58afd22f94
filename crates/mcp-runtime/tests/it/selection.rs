//! Which environments are selected, for the runtime and for a step (B1, K7, K8).

use mcp_runtime::{
    Binding, CallOptions, Environment, EnvironmentId, HiddenReason, MultiEnvironment,
    ReconnectPolicy, RuntimeEvent, SelectionError, ServerState,
};
use mcp_testkit::{Action, Script, ServerProcess};
use serde_json::json;

use crate::host::{Host, at_once, builder, stdio, text, with_tool};
use crate::pair::{docs_in, docs_of_the_host};

fn id(text: &str) -> EnvironmentId {
    text.parse().expect("an environment id")
}

/// A server `docs` whose tool `where` answers with the place it runs in.
fn docs(place: &str) -> ServerProcess {
    let answer = json!({"content": [{"type": "text", "text": place}]});
    with_tool(Script::new(), "where", [Action::Result(answer)]).command()
}

fn environment(name: &str, process: &ServerProcess) -> Environment {
    Environment::new(id(name)).server(stdio("docs", process))
}

/// Two environments, `a` selected and `b` not, with a server `docs` each.
struct Two {
    host: Host,
    a: ServerProcess,
    b: ServerProcess,
}

async fn two(feature: MultiEnvironment) -> Two {
    let (a, b) = (docs("a"), docs("b"));
    let builder = builder()
        .reconnect(ReconnectPolicy::never())
        .multi_environment(feature)
        .environment(environment("a", &a))
        .environment(environment("b", &b).selected(false));
    let host = Host::begin(builder);
    at_once(host.runtime.settled()).await;
    Two { host, a, b }
}

/// Calls `where` of `docs` without saying of which environment; where that is, or why it is nowhere.
async fn place(binding: &Binding) -> Result<String, String> {
    let prepared = binding.prepare_tool("docs", None, "where");
    let call = prepared.map_err(|error| text(&error))?;
    let output = at_once(call.execute(CallOptions::new())).await;
    Ok(output.expect("it answers").text())
}

async fn check(binding: &Binding, expected: Result<&str, &str>, why: &str) {
    match (place(binding).await, expected) {
        (Ok(place), Ok(expected)) => assert_eq!(place, expected, "{why}"),
        (Err(error), Err(expected)) => assert!(error.contains(expected), "{why}: {error}"),
        (seen, expected) => panic!("{why}: {seen:?}, and not {expected:?}"),
    }
}

/// B1, K7: what is selected later is seen by later captures, and only by them.
#[tokio::test]
async fn a_selection_is_that_of_its_capture() {
    let Two { host, a, b } = two(MultiEnvironment::On).await;
    let runtime = &host.runtime;
    let before = runtime.capture();
    assert_eq!(b.log().pids(), [0; 0], "nobody has selected it");
    runtime.set_selected(&id("b"), true).unwrap();
    at_once(runtime.settled()).await;
    let both = runtime.capture();
    runtime.set_selected(&id("a"), false).unwrap();
    let after = runtime.capture();
    check(&before, Ok("a"), "one was selected").await;
    check(&both, Err("`environment_id` one of `a`, `b`"), "two were").await;
    check(&after, Ok("b"), "the other one is").await;
    let gone = after.prepare_tool("docs", Some("a"), "where").unwrap_err();
    assert!(text(&gone).contains("not selected"), "{}", text(&gone));
    runtime.set_selected(&id("a"), true).unwrap();
    assert_eq!(runtime.capture().tools().len(), 2);
    assert_eq!(a.log().pids().len(), 1, "it was connected all the time");
    assert_eq!(b.log().pids().len(), 1);
    host.end().await;
    for process in [&a, &b] {
        process.log().expect_all_gone().await;
    }
}

/// B1: a step may select for itself; the runtime's own selection stays.
#[tokio::test]
async fn a_step_selects_for_itself() {
    let Two { host, b, .. } = two(MultiEnvironment::On).await;
    let runtime = &host.runtime;
    let early = runtime.capture_in([id("b")]).unwrap();
    assert_eq!(early.tools().len(), 0, "its server has only begun to start");
    let ready = async {
        while runtime.capture_in([id("b")]).unwrap().tools().len() == 0 {
            tokio::task::yield_now().await;
        }
    };
    at_once(ready).await;
    check(&runtime.capture_in([id("b")]).unwrap(), Ok("b"), "alone").await;
    let both = runtime.capture_in([id("b"), id("a")]).unwrap();
    check(
        &both,
        Err("`environment_id` one of `b`, `a`"),
        "in its order",
    )
    .await;
    assert_eq!(both.tools().len(), 2);
    check(&runtime.capture(), Ok("a"), "the runtime's own").await;
    let status = runtime.status();
    let states: Vec<_> = status
        .iter()
        .map(|status| (status.key(), status.state()))
        .collect();
    assert!(
        matches!(
            states.as_slice(),
            [
                (one, ServerState::Ready { .. }),
                (other, ServerState::Hidden { reason: HiddenReason::NotSelected })
            ] if **one == docs_in("a") && **other == docs_in("b")
        ),
        "{states:?}"
    );
    assert_eq!(b.log().pids().len(), 1);
    host.end().await;
    b.log().expect_all_gone().await;
}

/// K8: with the feature off, whoever is primary is what is exposed, under the host's keys.
#[tokio::test]
async fn without_the_feature_the_first_selected_environment_is_exposed() {
    let Two { mut host, a, b } = two(MultiEnvironment::Off).await;
    let runtime = &host.runtime;
    let before = runtime.capture();
    runtime.set_selected(&id("b"), true).unwrap();
    assert_eq!(
        b.log().pids(),
        [0; 0],
        "it is selected, and not the primary"
    );
    runtime.set_selected(&id("a"), false).unwrap();
    at_once(runtime.settled()).await;
    let after = runtime.capture();
    for (binding, place) in [(&before, "a"), (&after, "b")] {
        check(binding, Ok(place), "the primary one").await;
        let keys: Vec<_> = binding
            .tools()
            .map(|tool| tool.key().server().clone())
            .collect();
        assert_eq!(keys, [docs_of_the_host()]);
    }
    let told = host.told().into_iter();
    let hidden = told.filter_map(|event| match event {
        RuntimeEvent::Hidden { server, reason } => Some((server, reason)),
        _ => None,
    });
    let expected = [
        (docs_in("b"), HiddenReason::NotSelected),
        (docs_in("b"), HiddenReason::NotPrimary),
        (docs_in("a"), HiddenReason::NotSelected),
    ];
    assert_eq!(hidden.collect::<Vec<_>>(), expected, "each is told once");
    host.end().await;
    for process in [&a, &b] {
        process.log().expect_all_gone().await;
    }
}

#[tokio::test]
async fn a_selection_that_cannot_be_is_refused_and_changes_nothing() {
    let Two { host, .. } = two(MultiEnvironment::On).await;
    let runtime = &host.runtime;
    let unknown = |error: &SelectionError| matches!(error, SelectionError::Unknown(_));
    let invalid = |error: &SelectionError| matches!(error, SelectionError::Invalid(_));
    assert!(unknown(
        &runtime.set_selected(&id("moon"), true).unwrap_err()
    ));
    assert!(invalid(&runtime.set_selected(&id("a"), false).unwrap_err()));
    assert!(unknown(
        &runtime.capture_in([id("a"), id("moon")]).unwrap_err()
    ));
    assert!(invalid(&runtime.capture_in([]).unwrap_err()));
    assert!(invalid(
        &runtime.capture_in([id("a"), id("a")]).unwrap_err()
    ));
    check(&runtime.capture(), Ok("a"), "as before").await;
    assert_eq!(runtime.environments(), [id("a"), id("b")]);
    host.end().await;
}

/// R11: what was selected once, for the runtime or for a step, ends with it.
#[tokio::test]
async fn nothing_survives_that_was_selected_once() {
    let Two { host, a, b } = two(MultiEnvironment::On).await;
    let _early = host.runtime.capture_in([id("b")]).unwrap();
    at_once(b.log().expect("initialize", 1)).await;
    drop(host);
    for process in [&a, &b] {
        at_once(process.log().expect_all_gone()).await;
    }
}
