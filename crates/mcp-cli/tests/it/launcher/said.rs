//! What a tool of the server said.

use serde_json::Value;

/// The command ran and left something, or the server ran nothing and said why.
#[derive(Debug)]
pub(super) struct Said(Result<Left, String>);

/// What a command left.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) status: Option<i64>,
    pub(super) output: String,
    pub(super) error: String,
}

impl Said {
    /// Reads the answer to a call.
    #[track_caller]
    pub(super) fn read(answer: &Value) -> Self {
        let result = &answer["result"];
        let said = &result["structuredContent"];
        if !said.is_object() {
            let why = result["content"][0]["text"].as_str();
            assert!(why.is_some(), "the call failed: {answer}");
            return Self(Err(why.unwrap_or_default().to_owned()));
        }
        assert_ne!(said["confined"], false, "{answer}");
        let text = |member: &str| said[member].as_str().unwrap_or_default();
        Self(Ok(Left {
            status: said["status"].as_i64(),
            // The shell that stays writes both into one stream.
            output: format!("{}{}", text("stdout"), text("output")),
            error: text("stderr").to_owned(),
        }))
    }

    #[track_caller]
    pub(super) fn ran(self) -> Left {
        self.0.expect("the command runs")
    }

    /// Checks that the command ran to its end with a status; its output.
    #[track_caller]
    pub(super) fn with_status(self, expected: i64) -> String {
        let left = self.ran();
        assert_eq!(left.status, Some(expected), "{left:?}");
        left.output
    }

    /// Checks that the command ran and failed, and said why.
    #[track_caller]
    pub(super) fn failed(self, because: &str) {
        let left = self.ran();
        assert_ne!(left.status, Some(0), "{left:?}");
        let told = left.output.contains(because) || left.error.contains(because);
        assert!(told, "no `{because}` in: {left:?}");
    }

    /// Checks that the server ran nothing, and said why.
    #[track_caller]
    pub(super) fn refused(self, because: &str) {
        let why = self.0.expect_err("nothing may run");
        assert!(why.contains(because), "no `{because}` in: {why}");
    }
}
