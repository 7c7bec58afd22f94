//! Prompts of servers, as they list and fill them in (P2, R8, B5).

use mcp_runtime::{
    Environment, ErrorCode, MultiEnvironment, Prompt, QueryError, QueryErrorKind, QueryOptions,
};
use mcp_testkit::{Action, Handshake, Rule, Script, ServerProcess};
use serde_json::{Value, json};

use crate::host::{Host, SERVER, at_once, builder, raw, stdio, text};

fn declaring() -> Script {
    let capabilities = json!({"tools": {}, "prompts": {}});
    Script::new().handshake(Handshake::new().capabilities(capabilities))
}

fn page(json: &str) -> Action {
    Action::ResultRaw(json.to_owned())
}

fn definitions(prompts: &[Prompt]) -> Vec<&str> {
    prompts
        .iter()
        .map(|prompt| prompt.definition().get())
        .collect()
}

/// The parameters of each request with this method, as the server read them.
fn params(process: &ServerProcess, method: &str) -> Vec<Value> {
    let messages = process.log().messages().into_iter();
    let of = messages.filter(|message| message["method"] == method);
    of.map(|message| message["params"].clone()).collect()
}

/// P2, W1
#[tokio::test]
async fn all_pages_are_listed_and_every_object_is_what_the_server_wrote() {
    let (first, second) = (
        r#"{"name":"review","arguments":[{"name":"n","required":null}],"vendor":1e2}"#,
        r#"{ "description":null,"name":"two words / é" }"#,
    );
    let script = declaring()
        .rule(
            Rule::on(
                "prompts/list",
                [page(&format!(
                    r#"{{"prompts":[{first},{{}}],"nextCursor":"p2"}}"#
                ))],
            )
            .times(1),
        )
        .rule(
            Rule::on(
                "prompts/list",
                [page(&format!(r#"{{"prompts":[{second}]}}"#))],
            )
            .times(1),
        );
    let (host, process) = Host::play(&script).await;
    let listing = host.runtime.list_prompts(SERVER, None, QueryOptions::new());
    let listed = at_once(listing).await.expect("a listing");
    assert_eq!(definitions(listed.items()), [first, second]);
    assert_eq!(listed.items()[1].name(), "two words / é");
    assert_eq!(listed.items()[0].server().to_string(), SERVER);
    let asked = params(&process, "prompts/list");
    assert_eq!(asked[1]["cursor"], "p2");
    host.end().await;
}

/// P2, B5: what the caller writes reaches the server, and what the server writes the caller.
#[tokio::test]
async fn a_prompt_is_what_the_server_wrote() {
    let result =
        r#"{"zeta":1e2,"messages":[{"role":"x","content":{"n":1,"n":2}}],"_meta":{"a":1.0}}"#;
    let script = declaring().rule(Rule::on("prompts/get", [page(result)]));
    let (host, process) = Host::play(&script).await;
    let arguments = r#"{"z":1e2,"a":18446744073709551616,"z":"\u00e9"}"#;
    for given in [Some(raw(arguments)), None] {
        let getting =
            host.runtime
                .get_prompt(SERVER, "no such one", given.as_deref(), QueryOptions::new());
        let got = at_once(getting).await.expect("a result");
        assert_eq!(got.raw().get(), result);
        assert_eq!(got.messages().len(), 1);
    }
    let lines = process.log().lines();
    let sent: Vec<_> = lines
        .iter()
        .filter(|line| line.contains("\"prompts/get\""))
        .collect();
    assert!(
        sent[0].contains(&format!("\"arguments\":{arguments}")),
        "{}",
        sent[0]
    );
    assert!(!sent[1].contains("\"arguments\""), "{}", sent[1]);
    assert_eq!(params(&process, "prompts/get")[0]["name"], "no such one");
    host.end().await;
}

/// P2, K7, P1: prompts are addressed as resources are.
#[tokio::test]
async fn prompts_are_addressed_by_exact_identity() {
    let of = |place: &str| {
        let list = format!(r#"{{"prompts":[{{"name":"{place}"}}]}}"#);
        let message = format!(r#"{{"messages":["{place}"]}}"#);
        let script = declaring().rule(Rule::on("prompts/list", [page(&list)]));
        script
            .rule(Rule::on("prompts/get", [page(&message)]))
            .command()
    };
    let (local, devbox) = (of("local"), of("devbox"));
    let environment = |id: &str, process| {
        Environment::new(id.parse().expect("an id")).server(stdio("docs", process))
    };
    let builder = builder()
        .multi_environment(MultiEnvironment::On)
        .environment(environment("local", &local))
        .environment(environment("devbox", &devbox));
    let host = Host::begin(builder).settled().await;
    let options = QueryOptions::new();
    let (all, errors) = at_once(host.runtime.list_all_prompts(options)).await;
    assert!(errors.is_empty(), "{errors:?}");
    let all: Vec<_> = all
        .iter()
        .map(|prompt| {
            (
                prompt.server().environment().map(ToString::to_string),
                prompt.name(),
            )
        })
        .collect();
    let both = [
        (Some("devbox".to_owned()), "devbox"),
        (Some("local".to_owned()), "local"),
    ];
    assert_eq!(all, both);
    for place in ["local", "devbox"] {
        let server = ("docs", Some(place));
        let got = at_once(host.runtime.get_prompt(server, "p", None, options)).await;
        let got = got.expect("a result");
        assert_eq!(got.messages()[0].get(), format!("\"{place}\""));
    }
    let vague = at_once(host.runtime.get_prompt("docs", "p", None, options)).await;
    let vague = vague.expect_err("two could be meant");
    assert_eq!(vague.candidates().len(), 2, "{}", text(&vague));
    host.end().await;
}

fn code(error: &QueryError) -> ErrorCode {
    error.code()
}

/// P2, R8, R9
#[tokio::test]
async fn a_prompt_that_cannot_be_had_says_why() {
    let script = declaring()
        .rule(Rule::on("prompts/get", [page("{}")]).times(1))
        .rule(Rule::on("prompts/get", []));
    let (host, process) = Host::play(&script).await;
    let get = |arguments: Option<&'static str>| {
        let timeout = std::time::Duration::from_millis(300);
        let options = QueryOptions::new().timeout(timeout);
        let runtime = &host.runtime;
        async move {
            let arguments = arguments.map(raw);
            let got = runtime.get_prompt(SERVER, "p", arguments.as_deref(), options);
            at_once(got).await.expect_err("it fails")
        }
    };
    let refused = get(Some("[1]")).await;
    assert!(
        matches!(refused.kind(), QueryErrorKind::Arguments),
        "{}",
        text(&refused)
    );
    assert_eq!(code(&refused), ErrorCode::InvalidRequest);
    assert_eq!(process.log().count("prompts/get"), 0, "nothing was sent");
    assert_eq!(code(&get(None).await), ErrorCode::UnexpectedResponse);
    assert_eq!(code(&get(None).await), ErrorCode::RequestTimeout);
    host.end().await;
}
