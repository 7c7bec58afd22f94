//! The requests of a session, as they are read.

use std::path::PathBuf;

use mcp_runtime::SandboxState;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::bindings::Release;
use super::start::Start;
use super::{Id, MAIN};
use super::{access, approval, elicitation, hook};
use crate::environment::{PermissionsMembers, given};
use crate::report::ErrorReport;

/// What a request asks for.
#[derive(Debug)]
pub(super) enum Operation {
    Start(Box<Start>),
    Cancel { target: Box<RawValue> },
    Reply(Reply),
    SetEnvironment { runtime: String, change: Change },
    Hold { runtime: String, hold: Hold },
    On { runtime: String, request: Request },
    Shutdown { runtime: String },
}

/// An answer to what the runtime asked.
#[derive(Debug)]
pub(super) enum Reply {
    Elicitation(elicitation::Reply),
    Hook(hook::Reply),
    Approval(approval::Reply),
    Access(access::Reply),
}

/// What has to do with bindings and calls that are held.
#[derive(Debug)]
pub(super) enum Hold {
    Capture(Capture),
    Prepare(Box<Prepare>),
    Execute(Execute),
    Release(Release),
}

/// What is asked of a runtime that was started.
#[derive(Debug)]
pub(super) enum Request {
    Status,
    Tools,
    Call(Box<Call>),
    Refresh(Target),
    Resources(List),
    ResourceTemplates(List),
    ReadResource(Read),
    Prompts(List),
    GetPrompt(GetPrompt),
}

/// `set_environment`: what of an environment is another now.
#[derive(Debug, Deserialize)]
pub(super) struct Change {
    pub(super) environment_id: String,
    /// `null` takes it away; absent leaves it.
    #[serde(default, deserialize_with = "given")]
    pub(super) sandbox_state: Option<Option<SandboxState>>,
    /// As `sandbox_state`.
    #[serde(default, deserialize_with = "given")]
    pub(super) launcher: Option<Option<PathBuf>>,
    /// What is not said of them stays.
    #[serde(default)]
    pub(super) permissions: PermissionsMembers,
    pub(super) selected: Option<bool>,
}

/// A tool, by its model-visible name, or by server and tool.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Selection {
    pub(super) name: Option<String>,
    pub(super) server: Option<String>,
    pub(super) environment_id: Option<String>,
    pub(super) tool: Option<String>,
}

/// `capture`.
#[derive(Debug, Deserialize)]
pub(super) struct Capture {
    /// Those that the step selects; absent, those that the runtime does.
    pub(super) environments: Option<Vec<String>>,
}

/// `prepare`.
#[derive(Debug, Deserialize)]
pub(super) struct Prepare {
    pub(super) binding: String,
    /// Read by itself: raw JSON cannot stand beside what is flattened.
    #[serde(skip)]
    pub(super) selection: Selection,
    #[serde(default)]
    pub(super) arguments: Option<Box<RawValue>>,
}

/// `execute`.
#[derive(Debug, Deserialize)]
pub(super) struct Execute {
    pub(super) call: String,
    #[serde(default)]
    pub(super) meta: Option<Box<RawValue>>,
    pub(super) timeout_ms: Option<f64>,
}

/// `call`.
#[derive(Debug, Deserialize)]
pub(super) struct Call {
    #[serde(skip)]
    pub(super) selection: Selection,
    #[serde(default)]
    pub(super) arguments: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) meta: Option<Box<RawValue>>,
    pub(super) timeout_ms: Option<f64>,
}

/// A server, or all of them.
#[derive(Debug, Deserialize)]
pub(super) struct Target {
    pub(super) server: Option<String>,
    pub(super) environment_id: Option<String>,
}

/// `resources`, `resource_templates` and `prompts`: those of a server, or of all.
#[derive(Debug, Deserialize)]
pub(super) struct List {
    pub(super) server: Option<String>,
    pub(super) environment_id: Option<String>,
    #[serde(default)]
    pub(super) cursor: Option<Box<RawValue>>,
    pub(super) timeout_ms: Option<f64>,
}

/// `read_resource`.
#[derive(Debug, Deserialize)]
pub(super) struct Read {
    pub(super) server: String,
    pub(super) environment_id: Option<String>,
    pub(super) uri: String,
    pub(super) timeout_ms: Option<f64>,
}

/// `get_prompt`.
#[derive(Debug, Deserialize)]
pub(super) struct GetPrompt {
    pub(super) server: String,
    pub(super) environment_id: Option<String>,
    pub(super) name: String,
    #[serde(default)]
    pub(super) arguments: Option<Box<RawValue>>,
    pub(super) timeout_ms: Option<f64>,
}

/// Operations of the protocol that this version does not have.
const LATER: &[&str] = &["telemetry"];

/// Reads a line: the id as far as there is one, and what is asked for or what is wrong.
pub(super) fn read(line: &str) -> (Option<Id>, Result<Operation, ErrorReport>) {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow, default)]
        id: Option<&'a RawValue>,
        #[serde(default)]
        op: Option<String>,
        #[serde(default)]
        runtime: Option<String>,
    }
    if !line.trim_start().starts_with('{') {
        return (
            None,
            Err(ErrorReport::invalid(
                "a request is a JSON object on one line",
            )),
        );
    }
    let head: Head<'_> = match serde_json::from_str(line) {
        Ok(head) => head,
        Err(error) => {
            return (
                id_of(line),
                Err(ErrorReport::invalid(format!(
                    "the request cannot be read: {error}"
                ))),
            );
        }
    };
    let id = head.id.map(ToOwned::to_owned);
    let Some(op) = head.op else {
        return (id, Err(ErrorReport::invalid("the request has no `op`")));
    };
    (
        id,
        operation(&op, head.runtime.unwrap_or_else(|| MAIN.to_owned()), line),
    )
}

/// The id of a request whose other members are of the wrong type.
fn id_of(line: &str) -> Option<Id> {
    #[derive(Deserialize)]
    struct Id {
        id: Box<RawValue>,
    }
    serde_json::from_str::<Id>(line).ok().map(|head| head.id)
}

fn operation(op: &str, runtime: String, line: &str) -> Result<Operation, ErrorReport> {
    #[derive(Deserialize)]
    struct Cancel {
        target: Box<RawValue>,
    }
    let request = match op {
        "start" => {
            let start: Start = members(op, line)?;
            return Ok(Operation::Start(Box::new(start.named(runtime))));
        }
        "cancel" => {
            let Cancel { target } = members(op, line)?;
            return Ok(Operation::Cancel { target });
        }
        "set_environment" => {
            let change = members(op, line)?;
            return Ok(Operation::SetEnvironment { runtime, change });
        }
        "elicit_reply" | "hook_reply" | "approval_reply" | "access_reply" => {
            return reply(op, line).map(Operation::Reply);
        }
        "capture" | "prepare" | "execute" | "release" => {
            let hold = hold(op, line)?;
            return Ok(Operation::Hold { runtime, hold });
        }
        "status" => Request::Status,
        "tools" => Request::Tools,
        "call" => {
            let mut call: Call = members(op, line)?;
            call.selection = members(op, line)?;
            Request::Call(Box::new(call))
        }
        "refresh" => Request::Refresh(members(op, line)?),
        "resources" => Request::Resources(members(op, line)?),
        "resource_templates" => Request::ResourceTemplates(members(op, line)?),
        "read_resource" => Request::ReadResource(members(op, line)?),
        "prompts" => Request::Prompts(members(op, line)?),
        "get_prompt" => Request::GetPrompt(members(op, line)?),
        "shutdown" => return Ok(Operation::Shutdown { runtime }),
        op if LATER.contains(&op) => return Err(unsupported(op)),
        op => {
            let known = "start, status, set_environment, tools, call, capture, prepare, execute, release, resources, \
                         resource_templates, read_resource, prompts, get_prompt, cancel, refresh, elicit_reply, hook_reply, approval_reply, \
                         access_reply, shutdown";
            return Err(ErrorReport::invalid(format!(
                "there is no operation `{op}`; use one of {known}"
            )));
        }
    };
    Ok(Operation::On { runtime, request })
}

fn reply(op: &str, line: &str) -> Result<Reply, ErrorReport> {
    match op {
        "hook_reply" => members(op, line).map(Reply::Hook),
        "approval_reply" => members(op, line).map(Reply::Approval),
        "access_reply" => members(op, line).map(Reply::Access),
        _ => members(op, line).map(Reply::Elicitation),
    }
}

fn hold(op: &str, line: &str) -> Result<Hold, ErrorReport> {
    match op {
        "capture" => members(op, line).map(Hold::Capture),
        "prepare" => {
            let mut prepare: Prepare = members(op, line)?;
            prepare.selection = members(op, line)?;
            Ok(Hold::Prepare(Box::new(prepare)))
        }
        "execute" => members(op, line).map(Hold::Execute),
        _ => members(op, line).map(Hold::Release),
    }
}

fn unsupported(member: &str) -> ErrorReport {
    ErrorReport::invalid(format!("`{member}` is not supported by this version"))
}

fn members<'a, T: Deserialize<'a>>(op: &str, line: &'a str) -> Result<T, ErrorReport> {
    serde_json::from_str(line)
        .map_err(|error| ErrorReport::invalid(format!("`{op}` cannot be read: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, id: Option<&str>, wrong: &str) {
        let (read_id, operation) = read(line);
        assert_eq!(read_id.as_deref().map(RawValue::get), id, "{line}");
        let message = operation
            .err()
            .map(|failure| failure.message().to_owned())
            .unwrap_or_default();
        assert!(
            message.contains(wrong) && message.is_empty() == wrong.is_empty(),
            "{line}: {message}"
        );
    }

    #[test]
    fn a_request_that_is_wrong_is_told_what_and_keeps_its_id() {
        check("[1]", None, "a JSON object");
        check("hello", None, "a JSON object");
        check(r#"{"id":1"#, None, "cannot be read");
        check(r#"{"id":1}"#, Some("1"), "no `op`");
        check(
            r#"{"id":{"a":1e2},"op":"fly"}"#,
            Some(r#"{"a":1e2}"#),
            "no operation `fly`",
        );
        check(r#"{"id":1,"op":7}"#, Some("1"), "cannot be read");
        check(
            r#"{"id":"x","op":"telemetry"}"#,
            Some("\"x\""),
            "`telemetry` is not supported",
        );
        check(
            r#"{"id":1,"op":"call","timeout_ms":"soon"}"#,
            Some("1"),
            "`call` cannot be read",
        );
        check(
            r#"{"id":1,"op":"read_resource","server":"docs"}"#,
            Some("1"),
            "missing field `uri`",
        );
        check(
            r#"{"id":1,"op":"cancel"}"#,
            Some("1"),
            "missing field `target`",
        );
        check(
            r#"{"id":1,"op":"elicit_reply","elicitation":1,"action":"shrug"}"#,
            Some("1"),
            "`elicit_reply` cannot be read",
        );
        check(
            r#"{"id":1,"op":"hook_reply","deny":"no"}"#,
            Some("1"),
            "missing field `request`",
        );
        check(
            r#"{"id":1,"op":"approval_reply","request":1,"decision":"maybe"}"#,
            Some("1"),
            "`approval_reply` cannot be read",
        );
        check(
            r#"{"id":1,"op":"capture","environments":"a"}"#,
            Some("1"),
            "`capture` cannot be read",
        );
        check(
            r#"{"id":1,"op":"set_environment","environment_id":"a","permissions":{"network":false}}"#,
            Some("1"),
            "unknown field `network`",
        );
        check(
            r#"{"id":1,"op":"prepare","name":"t"}"#,
            Some("1"),
            "missing field `binding`",
        );
        check(r#"{"id":1,"op":"status","more":true}"#, Some("1"), "");
    }
}
