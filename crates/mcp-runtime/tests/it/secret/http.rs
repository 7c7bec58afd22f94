//! Endpoints that answer, fail and hang, with secrets in every place. They repeat what they were sent, as endpoints do.

use std::time::Duration;

use base64::Engine as _;
use http::{HeaderName, HeaderValue};
use mcp_runtime::{CallOptions, Era, HttpTransport, ServerConfig, ServerState};
use mcp_testkit::{Exchange, Handshake, HeldConnection, HttpHandle, HttpResponse, ScriptedHttp};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::witness::{Secret, Witness};
use super::{ARGUMENT, INHERITED, inherited, options, options_secrets};
use crate::host::{Host, SERVER, at_once, builder, raw};

const HEADER: &str = "hush-value-of-a-header";
const USER: &str = "hush-user-of-a-url";
const PASSWORD: &str = "hush-password-of-a-url";
const PATH: &str = "hush-0123456789-segment-of-a-url";
const QUERY: &str = "hush-query-of-a-url";
const SESSION: &str = "hush-session-of-an-endpoint";

fn secrets() -> Vec<Secret> {
    let basic = base64::prelude::BASE64_STANDARD.encode(format!("{USER}:{PASSWORD}"));
    let mut secrets = options_secrets();
    secrets.extend([
        ("a header", HEADER.to_owned()),
        ("the bearer token", inherited()),
        ("the user of a URL", USER.to_owned()),
        ("the password of a URL", PASSWORD.to_owned()),
        ("the credentials of a URL", basic),
        ("the path of a URL", PATH.to_owned()),
        ("the query of a URL", QUERY.to_owned()),
        ("a session", SESSION.to_owned()),
    ]);
    secrets
}

/// An endpoint at this address, with or without a token of its own in place of the URL's user.
fn guarded(url: &str, with_token: bool) -> ServerConfig {
    let (scheme, rest) = url.split_once("://").expect("a URL");
    let url = format!("{scheme}://{USER}:{PASSWORD}@{rest}/{PATH}?key={QUERY}");
    let transport = HttpTransport::new(url.parse().expect("a URL")).header(
        HeaderName::from_static("x-api-key"),
        HeaderValue::from_static(HEADER),
    );
    let transport = match with_token {
        true => transport.bearer_token_env_var(INHERITED),
        false => transport,
    };
    let server = ServerConfig::http(SERVER.parse().expect("a server name"), transport);
    server
        .era(Era::Legacy)
        .startup_timeout(Duration::from_secs(2))
}

/// A body that repeats what is configured of a request.
fn echo(exchange: &Exchange) -> String {
    let header = |name| exchange.header(name).unwrap_or_default();
    let (path, user, key) = (
        exchange.path(),
        header("authorization"),
        header("x-api-key"),
    );
    format!("cannot {path} as {user} with {key}")
}

/// A way to answer a request with something that is no answer; none when there are no more.
fn refusal(number: usize, exchange: &Exchange) -> Option<HttpResponse> {
    let said = echo(exchange);
    let authorization = exchange.header("authorization").unwrap_or_default();
    let challenge = format!("Bearer realm=\"{authorization}\", error=\"invalid_token\"");
    let elsewhere = format!("http://127.0.0.1:1{}", exchange.path());
    let status = |status| HttpResponse::new(status).body("text/plain", said.clone());
    let mut refusals = vec![
        status(400),
        status(401).header("WWW-Authenticate", &challenge),
        status(403),
        status(404),
        status(429),
        status(500),
        status(307).header("Location", &elsewhere),
        HttpResponse::new(200).body("text/html", said.clone()),
        HttpResponse::new(200).body("application/json", said.clone()),
        HttpResponse::new(200).body("text/event-stream", format!("data: {said}\n\n")),
    ];
    (number < refusals.len()).then(|| refusals.swap_remove(number))
}

fn begin(server: ServerConfig) -> Host {
    Host::begin(builder().server(server))
}

/// The startup fails while this goes on.
async fn fails<F: Future>(witness: &mut Witness, why: &str, server: ServerConfig, serving: F) {
    witness.sees(&server);
    let mut host = begin(server);
    let (_served, ()) = at_once(async { tokio::join!(serving, host.runtime.settled()) }).await;
    let state = host.state(SERVER);
    assert!(
        matches!(state, ServerState::Failed { .. }),
        "{why}: {state:?}"
    );
    witness.visits(&mut host);
    witness.sees(&host.end().await);
}

#[tokio::test]
async fn a_start_that_fails_shows_no_secret() {
    let mut witness = Witness::new();
    let (url, mut server) = ScriptedHttp::bind().await;
    let root = url.trim_end_matches("/mcp").to_owned();
    for number in 0.. {
        let mut is_refused = true;
        let refusing = async {
            let exchange = server.expect_post("initialize").await;
            match refusal(number, &exchange) {
                Some(refusal) => exchange.respond(refusal).await,
                None => {
                    is_refused = false;
                    exchange.close();
                }
            }
        };
        let why = format!("refusal {number}");
        let config = guarded(&root, number % 2 == 0);
        fails(&mut witness, &why, config, refusing).await;
        if !is_refused {
            break;
        }
    }
    let hanging = async { server.expect_post("initialize").await.hang() };
    fails(&mut witness, "it hangs", guarded(&root, true), hanging).await;
    let plain = root.replace("http://", "https://");
    fails(&mut witness, "no TLS", guarded(&plain, true), async {}).await;
    server.close().await;
    fails(&mut witness, "nobody", guarded(&root, true), async {}).await;
    let nowhere = "https://no-such-host.invalid";
    fails(&mut witness, "no host", guarded(nowhere, true), async {}).await;
    witness.has_seen_none_of(&secrets());
}

/// Answers everything but calls, for ever.
async fn serve(server: &mut HttpHandle, mut call: impl AsyncFnMut(Exchange)) {
    loop {
        let exchange = server.expect_any().await.forgiving();
        match exchange.message()["method"].as_str() {
            Some("initialize") => {
                let result = Handshake::new().result(exchange.params());
                let answer = json!({"jsonrpc": "2.0", "id": exchange.id(), "result": result});
                let response = HttpResponse::new(200).header("Mcp-Session-Id", SESSION);
                exchange.respond(response.json(&answer)).await;
            }
            Some("tools/list") => {
                let tool = json!({"name": "t", "inputSchema": {"type": "object"}});
                exchange.result(json!({"tools": [tool]})).await;
            }
            Some("tools/call") => call(exchange).await,
            Some(_) => exchange.accept().await,
            None => exchange.respond(HttpResponse::new(405)).await,
        }
    }
}

/// What is done with a call, as its arguments say.
async fn answer(exchange: Exchange, held: &mut Vec<HeldConnection>) {
    let how = exchange.params()["arguments"]["how"].clone();
    let message = json!({"jsonrpc": "2.0", "id": exchange.id(), "result": {}});
    match how.as_str() {
        Some("event") => {
            let mut stream = exchange.stream(HttpResponse::new(200)).await;
            stream.event_with_id("1", &message).await;
            stream.finish().await;
        }
        Some("broken") => drop(exchange.stream(HttpResponse::new(200)).await),
        Some("closed") => exchange.close(),
        Some("mute") => held.push(exchange.hang()),
        Some(_) => exchange.result(json!({})).await,
        None => {
            let number = how.as_u64().expect("a number");
            let refusal = refusal(usize::try_from(number).expect("small"), &exchange);
            let answered = HttpResponse::new(200).json(&message);
            exchange.respond(refusal.unwrap_or(answered)).await;
        }
    }
}

fn call(how: &Value) -> CallOptions {
    let arguments = json!({"password": ARGUMENT, "how": how}).to_string();
    options().arguments(raw(&arguments))
}

#[tokio::test]
async fn a_call_shows_no_secret_whatever_becomes_of_it() {
    let mut witness = Witness::new();
    let (url, mut server) = ScriptedHttp::bind().await;
    let mut host = begin(guarded(url.trim_end_matches("/mcp"), true));
    let mut held = Vec::new();
    let calling = async {
        at_once(host.runtime.settled()).await;
        witness.visits(&mut host);
        for how in ["good", "event"] {
            let output = host.call_with("t", call(&json!(how))).await;
            witness.sees(&output.expect("it answers"));
        }
        for how in ["broken", "closed", "mute"] {
            let short = call(&json!(how)).timeout(Duration::from_millis(300));
            let error = host.call_with("t", short).await;
            witness.reads(&error.expect_err("it does not answer"));
        }
        let mut number = 0;
        while let Err(error) = host.call_with("t", call(&json!(number))).await {
            witness.reads(&error);
            witness.visits(&mut host);
            number += 1;
        }
        assert!(number > 5, "there are refusals");
        let dropped = host.prepare("t").execute(call(&json!("mute")));
        let _ = timeout(Duration::from_millis(100), dropped).await;
        host.end().await;
        witness.visits(&mut host);
    };
    tokio::select! {
        () = serve(&mut server, async |exchange| answer(exchange, &mut held).await) => {}
        () = calling => {}
    }
    witness.has_seen_none_of(&secrets());
}
