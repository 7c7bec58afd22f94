//! An MCP server whose tools run programs under the authority of each call, and not at all without one.
//!
//! - `run {"argv": [...]}` runs a program and returns its output and exit status.
//! - `shell {"line": "..."}` runs a line in a shell that stays, and refuses when the authority changed since its start.
//!
//! `--dangerously-run-unsandboxed` is the operator's opt-out for hosts that send no launcher. It speaks JSON lines on
//! standard input and output, one request after the other; a real server would also bound the time of a call.

mod shell;

use std::io::{self, BufRead as _, Write as _};
use std::process::{Command, Stdio};

use mcp_sandbox_meta::{
    SandboxCommand, SandboxCommandError, SandboxMetadata, advertise_sandbox_state,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use shell::Shell;

type Failure = Box<dyn std::error::Error>;

#[derive(Deserialize)]
struct Request<'a> {
    id: Option<Value>,
    method: String,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// The params of `tools/call`. `_meta` stays as it was received.
#[derive(Deserialize)]
struct Call<'a> {
    name: String,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(default)]
    arguments: Map<String, Value>,
}

struct Server {
    operator_opted_out: bool,
    shell: Option<Shell>,
}

fn main() -> Result<(), Failure> {
    let operator_opted_out = std::env::args().any(|arg| arg == "--dangerously-run-unsandboxed");
    let mut server = Server {
        operator_opted_out,
        shell: None,
    };
    for line in io::stdin().lock().lines() {
        let line = line?;
        // What is no request is not answered.
        let Ok(request) = serde_json::from_str::<Request<'_>>(&line) else {
            continue;
        };
        let Some(id) = request.id else { continue };
        let mut answer = json!({ "jsonrpc": "2.0", "id": id });
        match server.answer(&request.method, request.params) {
            Some(result) => answer["result"] = result,
            None => answer["error"] = json!({ "code": -32601, "message": "unknown method" }),
        }
        writeln!(io::stdout(), "{answer}")?;
    }
    Ok(())
}

impl Server {
    fn answer(&mut self, method: &str, params: Option<&RawValue>) -> Option<Value> {
        match method {
            "initialize" => {
                let mut experimental = Map::new();
                advertise_sandbox_state(&mut experimental);
                Some(json!({
                    "protocolVersion": "2025-06-18",
                    "serverInfo": { "name": "confined-server", "version": env!("CARGO_PKG_VERSION") },
                    "capabilities": { "tools": {}, "experimental": experimental },
                }))
            }
            "ping" => Some(json!({})),
            "tools/list" => Some(json!({ "tools": tools() })),
            "tools/call" => Some(self.call(params).unwrap_or_else(|failure| {
                let text = failure.to_string();
                json!({ "content": [{ "type": "text", "text": text }], "isError": true })
            })),
            _ => None,
        }
    }

    fn call(&mut self, params: Option<&RawValue>) -> Result<Value, Failure> {
        let call: Call<'_> = serde_json::from_str(params.map_or("null", RawValue::get))?;
        // The only place that authority comes from.
        let authority = call.meta.map(SandboxMetadata::from_meta).transpose()?;
        let authority = authority.flatten();
        let outcome = match call.name.as_str() {
            "run" => self.run(authority.as_ref(), &call.arguments)?,
            "shell" => self.shell(authority.as_ref(), &call.arguments)?,
            _ => return Err("unknown tool".into()),
        };
        let failed = outcome["status"] != 0;
        Ok(json!({
            "content": [{ "type": "text", "text": outcome.to_string() }],
            "structuredContent": outcome,
            "isError": failed,
        }))
    }

    /// The one way to a command in this server.
    fn command(
        &self,
        authority: Option<&SandboxMetadata>,
        program: &str,
    ) -> Result<SandboxCommand, SandboxCommandError> {
        if self.operator_opted_out {
            return SandboxCommand::new_or_unsandboxed_by_operator_opt_out(authority, program);
        }
        SandboxCommand::new(authority, program)
    }

    fn run(
        &self,
        authority: Option<&SandboxMetadata>,
        arguments: &Map<String, Value>,
    ) -> Result<Value, Failure> {
        let argv = arguments.get("argv").cloned().unwrap_or_default();
        let argv: Vec<String> = serde_json::from_value(argv)?;
        let (program, args) = argv.split_first().ok_or("`argv` is empty")?;
        let command = self.command(authority, program)?.args(args);
        let confined = command.is_confined();
        let output = Command::from(command).stdin(Stdio::null()).output()?;
        Ok(json!({
            "status": output.status.code(),
            "stdout": String::from_utf8_lossy(&output.stdout),
            "stderr": String::from_utf8_lossy(&output.stderr),
            "confined": confined,
        }))
    }

    fn shell(
        &mut self,
        authority: Option<&SandboxMetadata>,
        arguments: &Map<String, Value>,
    ) -> Result<Value, Failure> {
        let line = arguments.get("line").and_then(Value::as_str);
        let line = line.ok_or("`line` is a string")?;
        let mut shell = match self.shell.take() {
            Some(shell) => {
                // Refused, and the old shell ends here: the next call begins anew.
                shell.authority().check(authority)?;
                shell
            }
            None => Shell::start(self.command(authority, "/bin/sh")?, authority)?,
        };
        let outcome = shell.run(line)?;
        self.shell = Some(shell);
        Ok(outcome)
    }
}

fn tools() -> Value {
    let tool = |name: &str, argument: &str, schema: Value| {
        json!({
            "name": name,
            "inputSchema": { "type": "object", "properties": { argument: schema }, "required": [argument] },
        })
    };
    let strings = json!({ "type": "array", "items": { "type": "string" } });
    json!([
        tool("run", "argv", strings),
        tool("shell", "line", json!({ "type": "string" }))
    ])
}
