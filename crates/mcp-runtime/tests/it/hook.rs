//! What a host does before and after each call (H1).

use std::future::pending;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use mcp_runtime::{
    ApprovalPolicy, Blocked, CallErrorKind, CallHandler, CallOptions, CallOutcome, ErrorCode,
    HandlerFuture, HookOutput, Invocation, McpRuntime, McpRuntimeBuilder, McpServerKey, ToolHook,
};
use serde_json::json;

use crate::host::{at_once, builder, raw, text};
use crate::pair::{DEVBOX, LOCAL, Pair, docs_in, docs_of_the_host};

/// Writes down what it sees, and says this each time.
#[derive(Clone)]
struct Witness {
    seen: Arc<Mutex<Vec<String>>>,
    says: HookOutput,
}

impl Witness {
    fn new(says: HookOutput) -> Self {
        Self {
            seen: Arc::default(),
            says,
        }
    }

    fn write(&self, when: &str, call: &Invocation, outcome: &str) {
        let (key, environment) = (call.key(), call.environment());
        let line = format!(
            "{when} {key} in {environment} with {}{outcome}",
            call.arguments()
        );
        self.seen
            .lock()
            .expect("no panic while it is held")
            .push(line);
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().expect("no panic while it is held").clone()
    }
}

impl ToolHook for Witness {
    fn before(&self, call: Invocation) -> HandlerFuture<'_, HookOutput> {
        Box::pin(async move {
            self.write("before", &call, "");
            self.says.clone()
        })
    }

    fn after<'a>(&'a self, call: Invocation, outcome: CallOutcome<'a>) -> HandlerFuture<'a, ()> {
        let outcome = match outcome {
            Ok(output) => format!(": {}", output.is_error()),
            Err(error) => format!(": {}", error.code()),
        };
        Box::pin(async move { self.write("after", &call, &outcome) })
    }
}

fn asking(arguments: &str) -> CallOptions {
    CallOptions::new().arguments(raw(arguments))
}

/// H1
#[tokio::test]
async fn a_hook_sees_whose_call_it_is_and_what_becomes_of_it() {
    let witness = Witness::new(HookOutput::proceed());
    let pair = Pair::start(builder().hook(witness.clone())).await;
    for (environment, arguments) in [(DEVBOX, r#"{"n":1e2}"#), (LOCAL, "{}")] {
        pair.search(environment, asking(arguments))
            .await
            .expect("a result");
    }
    let seen = [
        r#"before docs (devbox)/search in devbox with {"n":1e2}"#,
        r#"after docs (devbox)/search in devbox with {"n":1e2}: false"#,
        "before docs (local)/search in local with {}",
        "after docs (local)/search in local with {}: false",
    ];
    assert_eq!(witness.seen(), seen);
    pair.host.end().await;
}

/// H1, W1: each on what the one before it has left, and the server gets the last of it to the byte.
#[tokio::test]
async fn hooks_run_in_their_order() {
    let replacing = |text: &str| Witness::new(HookOutput::proceed().arguments(raw(text)));
    let (first, second) = (replacing(r#"{"first":1}"#), replacing(r#"{"z":1e2,"a":1}"#));
    let hooks = builder().hook(first.clone()).hook(second.clone());
    let pair = Pair::start(hooks).await;
    let output = pair.search(DEVBOX, asking("{}")).await.expect("a result");
    assert!(
        output.text().contains(r#""arguments":{"a":1,"z":1"#),
        "{}",
        output.text()
    );
    assert!(first.seen()[0].ends_with("with {}"));
    assert!(second.seen()[0].ends_with(r#"with {"first":1}"#));
    let after = r#"after docs (devbox)/search in devbox with {"z":1e2,"a":1}: false"#;
    assert_eq!(first.seen()[1], after, "what was sent");
    let lines = pair.devbox.log().lines();
    assert!(
        lines
            .iter()
            .any(|line| line.contains(r#""arguments":{"z":1e2,"a":1}"#)),
        "{lines:?}"
    );
    pair.host.end().await;
}

/// A call of devbox's `search` that ends before anything is sent, and why.
async fn check(builder: McpRuntimeBuilder, code: ErrorCode, kind: &str, why: &str) {
    let pair = Pair::start(builder).await;
    let options = asking("{}").timeout(Duration::from_secs(1));
    let error = pair.search(DEVBOX, options).await.expect_err(why);
    assert_eq!(error.code(), code, "{why}: {}", text(&error));
    assert!(
        format!("{:?}", error.kind()).contains(kind),
        "{why}: {:?}",
        error.kind()
    );
    assert!(pair.arrived().iter().all(Vec::is_empty), "{why}");
    pair.host.end().await;
}

/// H1: what is decided is whose call it is.
#[tokio::test]
async fn a_hook_that_answers_for_another_environment_or_server_is_rejected() {
    let other = McpServerKey::in_environment(
        DEVBOX.parse().expect("an id"),
        "wiki".parse().expect("a name"),
    );
    for (named, why) in [
        (docs_in(LOCAL), "another environment"),
        (docs_in("nowhere"), "an environment that is none"),
        (docs_of_the_host(), "the host's server of the same name"),
        (other, "another server of the same environment"),
    ] {
        let hook = Witness::new(HookOutput::proceed().owner(named).arguments(raw("{}")));
        let builder = builder().hook(hook.clone());
        check(builder, ErrorCode::Blocked, "Moved", why).await;
        assert_eq!(
            hook.seen().len(),
            1,
            "{why}: nothing was sent that has an outcome"
        );
    }
    let own = HookOutput::proceed().owner(docs_in(DEVBOX));
    let pair = Pair::start(builder().hook(Witness::new(own))).await;
    pair.search(DEVBOX, asking("{}"))
        .await
        .expect("it is its own");
    pair.host.end().await;
}

/// H1
#[tokio::test]
async fn a_hook_that_does_not_let_a_call_pass_ends_it() {
    let denying = Witness::new(HookOutput::deny("not today"));
    let late = Witness::new(HookOutput::proceed());
    let hooks = builder().hook(denying).hook(late.clone());
    check(
        hooks,
        ErrorCode::Blocked,
        r#"Hook { message: "not today" }"#,
        "it denies",
    )
    .await;
    assert_eq!(late.seen(), [""; 0], "nobody sees a call that was denied");
    let array = Witness::new(HookOutput::proceed().arguments(raw("[1]")));
    check(
        builder().hook(array),
        ErrorCode::InvalidRequest,
        "Arguments",
        "no object",
    )
    .await;
    let panics = builder().hook(|_| async { panic!("on purpose") });
    check(
        panics,
        ErrorCode::Blocked,
        "Panicked { handler: Hook }",
        "it panics",
    )
    .await;
    let hangs = builder().hook(|_| pending::<HookOutput>());
    check(hangs, ErrorCode::RequestTimeout, "Timeout", "it hangs (B3)").await;
}

/// H1
#[tokio::test]
async fn what_a_hook_adds_comes_back_with_the_outcome() {
    let says = |context: &str| HookOutput::proceed().context(raw(context));
    let (first, second) = (Witness::new(says(r#"{"n":1e2}"#)), Witness::new(says("2")));
    let pair = Pair::start(builder().hook(first).hook(second)).await;
    let output = pair.search(LOCAL, asking("{}")).await.expect("a result");
    let said = |context: &[Box<serde_json::value::RawValue>]| {
        let texts = context.iter().map(|said| said.get().to_owned());
        texts.collect::<Vec<_>>()
    };
    assert_eq!(said(output.context()), [r#"{"n":1e2}"#, "2"]);
    assert!(!output.raw().get().contains("1e2"), "B5");
    let wrong = pair
        .search(LOCAL, asking("[]"))
        .await
        .expect_err("no object");
    assert!(wrong.context().is_empty(), "no hook has seen it");
    pair.host.end().await;

    let denying = HookOutput::deny("no").context(raw("3"));
    let hooks = builder()
        .hook(Witness::new(says("1")))
        .hook(Witness::new(denying));
    let pair = Pair::start(hooks).await;
    let error = pair
        .search(LOCAL, asking("{}"))
        .await
        .expect_err("it is denied");
    assert_eq!(said(error.context()), ["1", "3"]);
    pair.host.end().await;
}

/// H1, B3: a call that ran into its time is one that was sent.
#[tokio::test]
async fn a_hook_sees_that_a_call_ran_into_its_time() {
    let witness = Witness::new(HookOutput::proceed());
    let pair = Pair::start(builder().hook(witness.clone())).await;
    let call = pair.prepare(LOCAL, "mute");
    let options = CallOptions::new().timeout(Duration::from_millis(300));
    let error = at_once(call.execute(options))
        .await
        .expect_err("nobody answers");
    assert_eq!(error.code(), ErrorCode::RequestTimeout);
    assert!(
        witness.seen()[1].ends_with(": request_timeout"),
        "{:?}",
        witness.seen()
    );
    pair.host.end().await;
}

/// Is there in time before a call, and does this after it.
struct After(fn() -> HandlerFuture<'static, ()>);

impl ToolHook for After {
    fn after<'a>(&'a self, _: Invocation, _: CallOutcome<'a>) -> HandlerFuture<'a, ()> {
        (self.0)()
    }
}

/// H1, B3
#[tokio::test]
async fn a_hook_after_a_call_cannot_take_its_result_away() {
    for (hook, why) in [
        (After(|| Box::pin(pending())), "it hangs"),
        (
            After(|| Box::pin(async { panic!("on purpose") })),
            "it panics",
        ),
    ] {
        let witness = Witness::new(HookOutput::proceed());
        let pair = Pair::start(builder().hook(hook).hook(witness.clone())).await;
        let options = CallOptions::new().timeout(Duration::from_secs(1));
        let output = pair.search(LOCAL, options).await.expect(why);
        assert!(!output.is_error());
        assert_eq!(
            witness.seen().len(),
            2,
            "{why}: the next one sees it all the same"
        );
        pair.host.end().await;
    }
}

/// H1: nothing is locked while a hook runs.
#[tokio::test]
async fn a_hook_may_call_the_server_of_its_call() {
    let place = Arc::new(OnceLock::<Weak<McpRuntime>>::new());
    let runtime = place.clone();
    let hook = move |call: Invocation| {
        let runtime = runtime.get().and_then(Weak::upgrade).expect("under test");
        async move {
            if call.arguments().get() == "{}" {
                let binding = runtime.capture();
                let inner = binding
                    .prepare_tool("docs", Some(DEVBOX), "search")
                    .expect("a tool");
                inner
                    .execute(asking(r#"{"inner":true}"#))
                    .await
                    .expect("a result");
            }
            HookOutput::proceed()
        }
    };
    let pair = Pair::start(McpRuntime::builder(ApprovalPolicy::approve_all()).hook(hook)).await;
    let Pair { host, devbox, .. } = pair;
    let runtime = Arc::new(host.runtime);
    place.set(Arc::downgrade(&runtime)).expect("once");
    let call = runtime
        .capture()
        .prepare_tool("docs", Some(DEVBOX), "search")
        .expect("a tool");
    at_once(call.execute(asking("{}"))).await.expect("a result");
    let sent: Vec<_> = crate::pair::calls(&devbox)
        .iter()
        .map(|call| call["arguments"].clone())
        .collect();
    assert_eq!(sent, [json!({"inner": true}), json!({})]);
    at_once(runtime.shutdown(McpRuntime::DEFAULT_SHUTDOWN_TIMEOUT)).await;
}

/// R10: nobody waits for a handler on behalf of a server that is gone.
#[tokio::test]
async fn a_server_that_dies_takes_its_calls_from_their_hooks() {
    let (begun, waiting) = tokio::sync::watch::channel(false);
    let hook = move |_| {
        begun.send_replace(true);
        pending::<HookOutput>()
    };
    let pair = Pair::start(builder().hook(hook)).await;
    let dying = async {
        waiting
            .clone()
            .wait_for(|begun| *begun)
            .await
            .expect("the hook is there");
        pair.host.end().await;
    };
    let (outcome, ()) = tokio::join!(pair.search(LOCAL, asking("{}")), dying);
    let error = outcome.expect_err("its server is gone");
    assert_eq!(error.code(), ErrorCode::TransportClosed);
    assert!(pair.arrived().iter().all(Vec::is_empty));
}

/// T2: what was refused says by whom.
#[test]
fn a_refusal_says_who_refused() {
    let panicked = Blocked::Panicked {
        handler: CallHandler::AccessLookup,
    };
    assert_eq!(panicked.to_string(), "the host's access lookup panicked");
    let moved = CallErrorKind::from(Blocked::Moved {
        named: docs_in(LOCAL),
    });
    let expected = "a hook answered for server `docs (local)`, and may not move the call there";
    assert_eq!(moved.to_string(), expected);
}
