//! The script of a server process: what a correct server would be, and where this one departs from it.

use std::panic::Location;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::action::Action;
use crate::handshake::Handshake;
use crate::process::ServerProcess;
use crate::rule::Rule;

/// Data for the program `scripted-server`. An empty script is a correct server without tools; rules change what it does.
///
/// ```
/// use mcp_testkit::{Action, Rule, Script};
///
/// // Answers `initialize` and the listing, dies in the middle of the second call.
/// let script = Script::new()
///     .tool_named("search")
///     .rule(Rule::on_tool("search", [Action::Standard]).times(1))
///     .rule(Rule::on_tool("search", [Action::Stderr("out of memory".into()), Action::Exit(101)]));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[must_use = "a script does nothing until a process plays it"]
pub struct Script {
    handshake: Handshake,
    pages: Vec<Vec<Value>>,
    rules: Vec<Rule>,
}

impl Script {
    /// A correct server without tools: answers `initialize`, `ping` and `tools/list`, refuses other requests with -32601,
    /// exits at the end of stdin.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what the server says of itself.
    pub fn handshake(mut self, handshake: Handshake) -> Self {
        self.handshake = handshake;
        self
    }

    /// Adds a tool to the last page of the listing, as it shall stand there, well-formed or not. A call of a listed tool
    /// is answered with its name.
    pub fn tool(mut self, definition: Value) -> Self {
        if self.pages.is_empty() {
            self.pages.push(Vec::new());
        }
        if let Some(page) = self.pages.last_mut() {
            page.push(definition);
        }
        self
    }

    /// Adds a well-formed tool without parameters to the last page of the listing.
    pub fn tool_named(self, name: &str) -> Self {
        self.tool(json!({"name": name, "description": format!("the tool {name}"), "inputSchema": {"type": "object"}}))
    }

    /// Begins the next page of the listing. The cursors are `page-2`, `page-3` and so on.
    pub fn next_page(mut self) -> Self {
        if self.pages.is_empty() {
            self.pages.push(Vec::new());
        }
        self.pages.push(Vec::new());
        self
    }

    /// Adds a rule; earlier rules go first.
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Stays when stdin ends.
    pub fn ignores_end(self) -> Self {
        self.rule(Rule::at_end([]))
    }

    /// Stays when it gets SIGTERM.
    pub fn ignores_sigterm(self) -> Self {
        self.rule(Rule::at_start([Action::IgnoreSigterm]))
    }

    /// The process that plays this script, with the program found by [`ServerProcess::locate`].
    ///
    /// # Panics
    ///
    /// When the program has not been built, or the script cannot be written to a temporary directory.
    #[track_caller]
    #[must_use]
    pub fn command(&self) -> ServerProcess {
        self.command_of(ServerProcess::locate())
    }

    /// The process that plays this script, with the program given.
    ///
    /// # Panics
    ///
    /// When the script cannot be written to a temporary directory.
    #[track_caller]
    #[must_use]
    pub fn command_of(&self, program: impl Into<PathBuf>) -> ServerProcess {
        ServerProcess::new(program.into(), self, Location::caller())
    }

    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// What a correct server answers to a request: `Ok` a result, `Err` an error.
    pub(crate) fn standard_answer(&self, method: &str, params: &Value) -> Result<Value, Value> {
        match method {
            "initialize" => Ok(self.handshake.result(params)),
            "ping" => Ok(json!({})),
            "tools/list" => self.page(&params["cursor"]),
            "tools/call" if self.lists(&params["name"]) => {
                Ok(json!({"content": [{"type": "text", "text": params["name"]}]}))
            }
            "tools/call" => {
                Err(json!({"code": -32602, "message": format!("Unknown tool: {}", params["name"])}))
            }
            _ => Err(json!({"code": -32601, "message": format!("Method not found: {method}")})),
        }
    }

    fn lists(&self, tool: &Value) -> bool {
        self.pages
            .iter()
            .flatten()
            .any(|definition| definition["name"] == *tool)
    }

    fn page(&self, cursor: &Value) -> Result<Value, Value> {
        let number = match cursor.as_str().map(|cursor| {
            cursor
                .strip_prefix("page-")
                .unwrap_or_default()
                .parse::<usize>()
        }) {
            None => 1,
            Some(Ok(number)) if (2..=self.pages.len()).contains(&number) => number,
            Some(_) => return Err(json!({"code": -32602, "message": "Invalid cursor"})),
        };
        let mut result = json!({"tools": self.pages.get(number - 1).cloned().unwrap_or_default()});
        if number < self.pages.len() {
            result["nextCursor"] = json!(format!("page-{}", number + 1));
        }
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correct_server_answers_what_it_knows() {
        let script = Script::new()
            .tool(json!({"name": "a"}))
            .next_page()
            .tool(json!({"name": "b"}));
        let first = json!({"tools": [{"name": "a"}], "nextCursor": "page-2"});
        let second = json!({"tools": [{"name": "b"}]});
        let called = json!({"content": [{"type": "text", "text": "b"}]});
        let rows = [
            ("ping", Value::Null, Ok(json!({}))),
            ("tools/list", Value::Null, Ok(first)),
            ("tools/list", json!({"cursor": "page-2"}), Ok(second)),
            ("tools/list", json!({"cursor": "page-3"}), Err(-32602)),
            ("tools/list", json!({"cursor": ""}), Err(-32602)),
            ("tools/call", json!({"name": "b"}), Ok(called)),
            ("tools/call", json!({"name": "c"}), Err(-32602)),
            ("vendor/thing", Value::Null, Err(-32601)),
        ];
        for (method, params, expected) in rows {
            let answer = script.standard_answer(method, &params);
            let answer = answer.map_err(|error| error["code"].as_i64().expect("a code"));
            assert_eq!(answer, expected, "{method} {params}");
        }
    }

    #[test]
    fn a_script_survives_its_file() {
        let script = Script::new()
            .handshake(Handshake::new().protocol_version("2024-11-05"))
            .tool_named("a")
            .ignores_sigterm()
            .rule(
                Rule::on_tool(
                    "a",
                    [
                        Action::stdout(b"\xff"),
                        Action::Repeat(3, vec![Action::Echo]),
                    ],
                )
                .times(1)
                .in_process(2),
            );
        let file = serde_json::to_string(&script).expect("a script is JSON");
        assert_eq!(
            serde_json::from_str::<Script>(&file).expect("the same script"),
            script
        );
    }

    #[test]
    fn a_mistake_in_a_script_is_refused() {
        assert!(
            serde_json::from_str::<Script>(r#"{"rule": []}"#).is_err(),
            "an unknown member"
        );
        assert!(
            serde_json::from_str::<Script>(r#"{"rules": [{"on": "start", "run": ["dance"]}]}"#)
                .is_err(),
            "an unknown action"
        );
    }
}
