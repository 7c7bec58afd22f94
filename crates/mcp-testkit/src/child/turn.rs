//! The actions of one rule, carried out one after the other.

use std::future::pending;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::stage::Stage;
use crate::action::Action;
use crate::os;

/// Numbers the requests of this process's own.
static ASKED: AtomicU64 = AtomicU64::new(1);

/// One message and what is done about it.
#[derive(Debug)]
pub(super) struct Turn {
    stage: Arc<Stage>,
    /// `null` at start and end.
    message: Value,
}

impl Turn {
    pub(super) fn new(stage: Arc<Stage>, message: Value) -> Self {
        Self { stage, message }
    }

    pub(super) async fn run(&self, actions: &[Action]) {
        for action in actions {
            if let Err(error) = self.perform(action).await {
                let details = json!({"action": format!("{action:?}"), "error": error.to_string()});
                // A log that cannot be written leaves nothing to report to; the test misses its entries.
                let _ = self.stage.journal.event("failed", details);
            }
        }
    }

    async fn perform(&self, action: &Action) -> io::Result<()> {
        match action {
            Action::Result(result) => self.answer("result", &result.to_string()),
            Action::ResultRaw(result) => self.answer("result", result),
            Action::ResultOfSize(bytes) => self.answer_text(&"x".repeat(*bytes)),
            Action::Echo => self.answer_text(&self.message["params"].to_string()),
            Action::Error {
                code,
                message,
                data,
            } => {
                let mut error = json!({"code": code, "message": message});
                if !data.is_null() {
                    error["data"] = data.clone();
                }
                self.answer("error", &error.to_string())
            }
            Action::ErrorRaw(error) => self.answer("error", error),
            Action::Standard => self.answer_as_standard(),
            Action::Send(message) => write_stdout(format!("{}\n", self.filled(message)).as_bytes()),
            Action::Ask { method, params } => self.ask(method, params).await,
            Action::Stdout(bytes) => write_stdout(&replace(
                bytes,
                b"$id",
                self.message["id"].to_string().as_bytes(),
            )),
            Action::Stderr(line) => writeln!(io::stderr(), "{line}"),
            Action::DelayMs(milliseconds) => {
                sleep(Duration::from_millis(*milliseconds)).await;
                Ok(())
            }
            Action::Repeat(times, actions) => {
                for _ in 0..*times {
                    Box::pin(self.run(actions)).await;
                }
                Ok(())
            }
            Action::StopReading => {
                self.stage.deaf.store(true, Ordering::Relaxed);
                Ok(())
            }
            Action::CloseInput => {
                self.stage.deaf.store(true, Ordering::Relaxed);
                os::close_stdin()
            }
            Action::CloseOutput => os::close_stdout(),
            Action::Exit(status) => {
                // Full only when another turn ends the process already.
                let _ = self.stage.exit.try_send(*status);
                pending().await
            }
            Action::Kill => os::kill_self(),
            Action::IgnoreSigterm => os::ignore_sigterm(),
            Action::SpawnGrandchild {
                own_group,
                holds_output,
            } => self.spawn_grandchild(*own_group, *holds_output).await,
        }
    }

    fn answer(&self, member: &str, text: &str) -> io::Result<()> {
        let id = &self.message["id"];
        write_stdout(
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"{member}\":{text}}}\n").as_bytes(),
        )
    }

    fn answer_text(&self, text: &str) -> io::Result<()> {
        self.answer(
            "result",
            &json!({"content": [{"type": "text", "text": text}]}).to_string(),
        )
    }

    fn answer_as_standard(&self) -> io::Result<()> {
        let method = self.message["method"].as_str().unwrap_or_default();
        match self
            .stage
            .script
            .standard_answer(method, &self.message["params"])
        {
            Ok(result) => self.answer("result", &result.to_string()),
            Err(error) => self.answer("error", &error.to_string()),
        }
    }

    async fn ask(&self, method: &str, params: &Value) -> io::Result<()> {
        let id = format!("server-{}", ASKED.fetch_add(1, Ordering::Relaxed));
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
        if !params.is_null() {
            message["params"] = self.filled(params);
        }
        let answer = self.stage.ask(id);
        write_stdout(format!("{message}\n").as_bytes())?;
        answer.await.map_err(io::Error::other)
    }

    async fn spawn_grandchild(&self, own_group: bool, holds_output: bool) -> io::Result<()> {
        let ready = self.stage.journal.beside("ready");
        let pid = os::spawn_grandchild(&ready, own_group, holds_output)?;
        self.stage.journal.event("spawned", json!({"child": pid}))?;
        while !ready.exists() {
            sleep(Duration::from_millis(2)).await;
        }
        std::fs::remove_file(&ready)
    }

    /// The value with the placeholders replaced.
    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) if text == "$id" => self.message["id"].clone(),
            Value::String(text) if text == "$progressToken" => {
                self.message["params"]["_meta"]["progressToken"].clone()
            }
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(name, member)| (name.clone(), self.filled(member)))
                .collect(),
            other => other.clone(),
        }
    }
}

/// Waits while the client does not read, and the whole process with it, as most servers do.
fn write_stdout(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

fn replace(bytes: &[u8], placeholder: &[u8], value: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest
        .windows(placeholder.len())
        .position(|window| window == placeholder)
    {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(value);
        rest = &rest[at + placeholder.len()..];
    }
    replaced.extend_from_slice(rest);
    replaced
}
