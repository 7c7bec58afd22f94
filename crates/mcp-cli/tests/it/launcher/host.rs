//! A session with the server that confines what it runs.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::leftover::{MARK, gone, running};
use super::said::Said;
use super::workplace::{Permission, Workplace};
use crate::program::{PROGRAM, command};
use crate::session::Session;

pub(super) struct Host {
    session: Session,
    workplace: Workplace,
    /// Numbers requests.
    asked: u32,
}

impl Host {
    /// One environment, with a state and a launcher from the beginning.
    pub(super) fn start(permission: Permission) -> Self {
        let workplace = Workplace::new();
        let mut program = command(["session"]);
        program.env(MARK, workplace.project());
        program.env("HOME", workplace.home());
        let mut session = Session::of(program);
        let start = json!({
            "id": "start",
            "op": "start",
            "launcher": super::launcher(),
            "servers": {"confined": {"command": super::server(), "env_vars": [MARK]}},
            "environments": [{"id": "here", "cwd": workplace.project(), "sandbox_state": workplace.state(permission)}],
        });
        let answer = session.ask(&start);
        assert_eq!(answer["servers"][0]["status"], "ready", "{answer}");
        Self {
            session,
            workplace,
            asked: 0,
        }
    }

    pub(super) fn workplace(&self) -> &Workplace {
        &self.workplace
    }

    pub(super) fn allow(&mut self, permission: Permission) {
        self.set("sandbox_state", &self.workplace.state(permission));
    }

    pub(super) fn set_launcher(&mut self, path: &Path) {
        self.set("launcher", &json!(path));
    }

    fn set(&mut self, member: &str, value: &Value) {
        let request = json!({"op": "set_environment", "environment_id": "here", member: value});
        let answer = self.ask(request);
        assert_eq!(answer["ok"], true, "{answer}");
    }

    /// Runs a line of the shell in a process of its own.
    pub(super) fn run(&mut self, line: &str) -> Said {
        self.call("run", &json!({"argv": ["/bin/sh", "-c", line]}), &json!({}))
    }

    /// Runs a line in the shell that stays.
    pub(super) fn shell(&mut self, line: &str) -> Said {
        self.call("shell", &json!({"line": line}), &json!({}))
    }

    pub(super) fn call(&mut self, tool: &str, arguments: &Value, meta: &Value) -> Said {
        let answer = self.ask(json!({
            "op": "call",
            "server": "confined",
            "tool": tool,
            "arguments": arguments,
            "meta": meta,
        }));
        Said::read(&answer)
    }

    fn ask(&mut self, mut request: Value) -> Value {
        self.asked += 1;
        request["id"] = json!(self.asked.to_string());
        self.session.ask(&request)
    }

    /// Whether anything runs of it but itself and the server.
    pub(super) fn is_busy(&self) -> bool {
        running(&self.workplace, &Self::stay()).is_some()
    }

    /// Waits until nothing runs of it but itself and the server.
    pub(super) fn settles(&self) {
        gone(&self.workplace, &Self::stay());
    }

    /// The host and the server.
    fn stay() -> [PathBuf; 2] {
        [PathBuf::from(PROGRAM), super::server()]
    }

    /// Ends the session, and waits for the end of everything that came of it.
    pub(super) fn end(mut self) {
        let answer = self.ask(json!({"op": "shutdown"}));
        assert_eq!(answer["ok"], true, "{answer}");
        assert_eq!(self.session.end(), Some(0));
        gone(&self.workplace, &[]);
    }
}
