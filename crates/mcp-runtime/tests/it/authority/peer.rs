//! A server with a tool `t`, somewhere, that says this of itself and notes what it is told.

use std::sync::{Arc, Mutex, PoisonError};

use mcp_runtime::{Era, HttpTransport, ServerConfig};
use mcp_testkit::{
    Action, Exchange, Handshake, HttpHandle, HttpResponse, Rule, Script, ScriptedHttp,
    ServerProcess,
};
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use super::{meta_of, told};
use crate::host::{SERVER, stdio};

/// Where the server is, and in which era it is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Process,
    ModernProcess,
    Endpoint,
    ModernEndpoint,
}

impl Place {
    pub(super) fn is_modern(self) -> bool {
        matches!(self, Self::ModernProcess | Self::ModernEndpoint)
    }
}

/// The server, and how it is configured.
#[derive(Debug)]
pub(super) struct Peer {
    config: ServerConfig,
    notes: Notes,
}

#[derive(Debug)]
enum Notes {
    Process(ServerProcess),
    Endpoint {
        calls: Arc<Mutex<Vec<String>>>,
        serving: AbortHandle,
    },
}

impl Peer {
    pub(super) async fn new(place: Place, capabilities: &Value) -> Self {
        let handshake = Handshake::new().capabilities(capabilities.clone());
        match place {
            Place::Process => Self::process(handshake, Era::Legacy, capabilities),
            Place::ModernProcess => Self::process(handshake, Era::Modern, capabilities),
            Place::Endpoint => Self::endpoint(handshake, Era::Legacy, capabilities).await,
            Place::ModernEndpoint => Self::endpoint(handshake, Era::Modern, capabilities).await,
        }
    }

    fn process(handshake: Handshake, era: Era, capabilities: &Value) -> Self {
        let discovered = Action::Result(discovered(capabilities));
        let script = Script::new().handshake(handshake).tool_named("t");
        let script = script.rule(Rule::on("server/discover", [discovered]));
        let process = script.command();
        Self {
            config: stdio(SERVER, &process).era(era),
            notes: Notes::Process(process),
        }
    }

    async fn endpoint(handshake: Handshake, era: Era, capabilities: &Value) -> Self {
        let (url, server) = ScriptedHttp::bind().await;
        let calls = Arc::default();
        let serving = serve(
            server,
            handshake,
            discovered(capabilities),
            Arc::clone(&calls),
        );
        let serving = tokio::spawn(serving).abort_handle();
        let transport = HttpTransport::new(url.parse().expect("a URL"));
        let name = SERVER.parse().expect("a server name");
        Self {
            config: ServerConfig::http(name, transport).era(era),
            notes: Notes::Endpoint { calls, serving },
        }
    }

    pub(super) fn config(&self) -> ServerConfig {
        self.config.clone()
    }

    /// The `_meta` of every call it got, as it came but for its token.
    pub(super) fn told(&self) -> Vec<String> {
        match &self.notes {
            Notes::Process(process) => told(process),
            Notes::Endpoint { calls, .. } => {
                let calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
                calls.iter().map(|call| meta_of(call)).collect()
            }
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Notes::Endpoint { serving, .. } = &self.notes {
            serving.abort();
        }
    }
}

fn discovered(capabilities: &Value) -> Value {
    json!({"supportedVersions": ["2026-07-28"], "capabilities": capabilities})
}

async fn serve(
    mut server: HttpHandle,
    handshake: Handshake,
    discovered: Value,
    calls: Arc<Mutex<Vec<String>>>,
) {
    loop {
        let request = server.expect_any().await.forgiving();
        let method = request.message()["method"].as_str().unwrap_or_default();
        match method.to_owned().as_str() {
            "initialize" => {
                let result = handshake.result(request.params());
                request.result(result).await;
            }
            "server/discover" => request.result(discovered.clone()).await,
            "tools/list" => request.result(json!({"tools": [{"name": "t"}]})).await,
            "tools/call" => {
                note(&request, &calls);
                request.result(json!({"content": []})).await;
            }
            "" => request.respond(HttpResponse::new(405)).await,
            _ => request.accept().await,
        }
    }
}

fn note(call: &Exchange, calls: &Mutex<Vec<String>>) {
    let body = String::from_utf8(call.body().to_vec()).expect("UTF-8");
    let mut calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
    calls.push(body);
}
