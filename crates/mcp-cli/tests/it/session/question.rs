//! A session that is asked about its calls.

use serde_json::{Value, json};

use super::Session;

impl Session {
    /// A session with two environments, `local` and `devbox`, whose servers have these entries, and these handlers.
    #[track_caller]
    pub(crate) fn of_two(local: &Value, devbox: &Value, handlers: &[&str]) -> Self {
        let mut session = Self::open();
        let environments = json!([{"id": "local", "servers": {"docs": local}}, {"id": "devbox", "servers": {"docs": devbox}}]);
        let start = json!({"id": "start", "op": "start", "environments": environments, "handlers": handlers,
            "features": {"multi_environment_mcp": true}});
        let answer = session.ask(&start);
        assert_eq!(answer["ok"], true, "{answer}");
        session
    }

    /// The next event of this kind.
    #[track_caller]
    pub(crate) fn event(&mut self, event: &str) -> Value {
        self.wait(|line| line["event"] == event)
    }

    /// Answers a question with these members; the answer to that.
    #[track_caller]
    pub(crate) fn reply(&mut self, op: &str, question: &Value, members: &Value) -> Value {
        let mut reply = members.clone();
        reply["id"] = json!("reply");
        reply["op"] = json!(op);
        reply["request"] = question["request"].clone();
        self.ask(&reply)
    }
}
