//! Results that are not the last word: the server wants to know something before it answers (B6).

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use futures_util::future::join_all;
use mcp_keys::McpServerKey;
use serde::ser::{SerializeMap, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use tokio::time::timeout;

use super::elicitations::Interaction;
use crate::call::CallId;
use crate::deadline::Deadline;
use crate::elicitation::{Elicitation, ElicitationAnswer, ElicitationMode};
use crate::object::Object;

/// The characters of a type that are shown.
const SHOWN: usize = 100;

/// Questions of one round. A person does not answer more at once.
const QUESTIONS: usize = 64;

/// What goes with the next request of a conversation; nothing with the first.
#[derive(Debug, Default, Clone)]
pub(crate) struct Input {
    /// What the person said, by the server's names for its questions.
    pub(crate) responses: Option<Box<RawValue>>,
    /// What the server wants to be reminded of, as it wrote it.
    pub(crate) state: Option<Box<RawValue>>,
}

/// What a server wants to know before it answers.
#[derive(Debug)]
pub(super) struct InputRequired {
    questions: Vec<(String, Elicitation)>,
    state: Option<Box<RawValue>>,
}

/// A server asked for input in a way that nobody can answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnfitInput {
    /// It wants something that was not offered to it.
    #[error("the server asks for `{method}` before it answers, which was not offered to it")]
    NotOffered {
        /// What it wants.
        method: String,
    },
    /// One of its questions cannot be understood.
    #[error("the server asks `{question}` before it answers, and that cannot be understood")]
    Question {
        /// The server's name for it.
        question: String,
        /// Why not.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There are too many questions.
    #[error("the server asks {count} questions at once; {QUESTIONS} can be answered")]
    TooMany {
        /// How many.
        count: usize,
    },
    /// The result is of a kind that was not offered to it, such as a task.
    #[error("the server answers with a result of type {kind}, which was not offered to it")]
    Kind {
        /// The beginning of the type as the server wrote it, as JSON.
        kind: String,
    },
    /// It asks nothing, and gives nothing to go on with.
    #[error("the server wants input and does not say which")]
    Nothing,
}

impl InputRequired {
    /// Reads a result; `None` when it is the last word.
    pub(super) fn read(
        server: &McpServerKey,
        call: Option<CallId>,
        result: &RawValue,
    ) -> Result<Option<Self>, UnfitInput> {
        let result = Object::of(result);
        let Some(kind) = result.get("resultType") else {
            return Ok(None);
        };
        match result.text("resultType").as_deref() {
            Some("complete") => return Ok(None),
            Some("input_required") => {}
            _ => {
                let kind = kind.get().chars().take(SHOWN).collect();
                return Err(UnfitInput::Kind { kind });
            }
        }
        let asked = result.get("inputRequests");
        let asked = asked.map(|asked| asked.to_owned());
        let mut questions = Vec::new();
        if let Some(asked) = &asked {
            let asked = Object::of(asked);
            let count = asked.names().count();
            if count > QUESTIONS {
                return Err(UnfitInput::TooMany { count });
            }
            for name in asked.names() {
                let request = asked.get(name);
                questions.push((name.to_owned(), question(server, call, name, request)?));
            }
        }
        // A person is asked in the same order every time.
        questions.sort_by(|(a, _), (b, _)| a.cmp(b));
        let state = result.get("requestState").map(ToOwned::to_owned);
        if questions.is_empty() && state.is_none() {
            return Err(UnfitInput::Nothing);
        }
        Ok(Some(Self { questions, state }))
    }

    /// Whether the server only wants to be asked again.
    pub(super) fn is_postponement(&self) -> bool {
        self.questions.is_empty()
    }

    /// Asks a person everything, while the clock stands still (B3).
    pub(super) async fn answered(self, interaction: &Interaction, deadline: &Deadline) -> Input {
        let Self { questions, state } = self;
        if questions.is_empty() {
            let responses = None;
            return Input { responses, state };
        }
        let asking = questions.into_iter().map(|(name, question)| async move {
            let form = matches!(question.mode(), ElicitationMode::Form { .. });
            let answer = interaction.ask(question, deadline).await;
            (name, form, answer)
        });
        let answers = Answers(join_all(asking).await);
        // Texts and JSON objects are JSON.
        let responses = to_raw_value(&answers).ok();
        Input { responses, state }
    }
}

fn question(
    server: &McpServerKey,
    call: Option<CallId>,
    name: &str,
    request: Option<&RawValue>,
) -> Result<Elicitation, UnfitInput> {
    let request = request.map(Object::of).unwrap_or_default();
    let method = request.text("method").unwrap_or_default();
    if method != "elicitation/create" {
        return Err(UnfitInput::NotOffered { method });
    }
    let read = Elicitation::read(server, call, request.get("params"));
    read.map_err(|unfit| UnfitInput::Question {
        question: name.to_owned(),
        source: unfit.into(),
    })
}

/// Answers by the names of their questions, each with whether a form was asked.
struct Answers(Vec<(String, bool, ElicitationAnswer)>);

impl serde::Serialize for Answers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, form, answer) in &self.0 {
            map.serialize_entry(name, &answer.result(*form))?;
        }
        map.end()
    }
}

impl Interaction {
    /// Asks a person in the course of a request, whose clock stands still for as long as a person may take. One who takes
    /// longer has turned away, and so has a handler that panics.
    async fn ask(&self, elicitation: Elicitation, deadline: &Deadline) -> ElicitationAnswer {
        let permissions = self.permissions(elicitation.call());
        let Some(elicitor) = self.elicitor(&permissions) else {
            return ElicitationAnswer::decline();
        };
        let elicitation = elicitation.under(permissions);
        let server = elicitation.server().clone();
        let _standing_still = deadline.stand_still(self.patience);
        let asking = AssertUnwindSafe(async { elicitor.0.elicit(elicitation).await });
        match timeout(self.patience, asking.catch_unwind()).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_panic)) => {
                tracing::error!(%server, "the host's handler of elicitations panicked");
                ElicitationAnswer::cancel()
            }
            Err(_too_late) => ElicitationAnswer::cancel(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::authority::CurrentPermissions;
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::elicitation::Elicitor;

    /// How many questions are read out of a result, or why they cannot be.
    fn questions(result: &str) -> Result<Option<usize>, String> {
        let server = "docs".parse().map(McpServerKey::host).unwrap();
        let result = RawValue::from_string(result.to_owned()).unwrap();
        let read = InputRequired::read(&server, None, &result);
        let read = read.map_err(|error| crate::ErrorChain(&error).to_string());
        Ok(read?.map(|required| required.questions.len()))
    }

    /// B6
    #[test]
    fn only_what_asks_for_input_is_not_the_last_word() {
        for (result, expected, why) in [
            (r#"{"content":[]}"#, None, "the result of an older era"),
            (r#"{"resultType":"complete"}"#, None, "the last word"),
            (r#"{"resultType":null}"#, None, "of no type"),
            ("[]", None, "no object"),
            (
                r#"{"resultType":"input_required","requestState":"s"}"#,
                Some(0),
                "a postponement",
            ),
            (
                r#"{"resultType":"input_required","inputRequests":{
                    "b":{"method":"elicitation/create","params":{"message":"m"}},
                    "a":{"method":"elicitation/create","params":{"message":"m","mode":"url","url":"https://a.b"}}}}"#,
                Some(2),
                "two questions",
            ),
        ] {
            assert_eq!(questions(result), Ok(expected), "{why}");
        }
    }

    /// B6: what the client does not know is no result, says the protocol.
    #[test]
    fn a_result_of_another_type_is_told() {
        for (kind, shown) in [("\"task\"", "\"task\""), ("7", "7")] {
            let error = questions(&format!(r#"{{"resultType":{kind},"taskId":"1"}}"#)).unwrap_err();
            let expected = format!(
                "the server answers with a result of type {shown}, which was not offered to it"
            );
            assert_eq!(error, expected);
        }
    }

    /// B6
    #[test]
    fn what_nobody_can_answer_is_told() {
        let required = |requests: &str| {
            format!(r#"{{"resultType":"input_required","inputRequests":{requests}}}"#)
        };
        let many: Vec<_> = (0..=QUESTIONS).map(|n| format!(r#""{n}":{{}}"#)).collect();
        for (requests, expected) in [
            (
                r#"{"a":{"method":"sampling/createMessage"}}"#.to_owned(),
                "the server asks for `sampling/createMessage` before it answers, which was not offered to it",
            ),
            (
                r#"{"a":{"method":"elicitation/create","params":{}}}"#.to_owned(),
                "the server asks `a` before it answers, and that cannot be understood: an elicitation has a `message`",
            ),
            (
                "{}".to_owned(),
                "the server wants input and does not say which",
            ),
            (
                format!("{{{}}}", many.join(",")),
                "the server asks 65 questions at once; 64 can be answered",
            ),
        ] {
            let error = questions(&required(&requests)).unwrap_err();
            assert_eq!(error, expected);
        }
    }

    /// B3
    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn the_clock_stands_still_while_a_person_thinks_and_not_for_ever() {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        for (thinks, action, why) in [
            (minutes(5), "accept", "within the patience"),
            (minutes(60), "cancel", "who takes longer has turned away"),
        ] {
            let handler = move |_question| async move {
                tokio::time::sleep(thinks).await;
                ElicitationAnswer::accept()
            };
            let interaction = Interaction {
                permissions: CurrentPermissions::default(),
                elicitor: Some(Elicitor(Arc::new(handler))),
                patience: minutes(10),
                calls: Arc::default(),
            };
            let deadline = Deadline::after(minutes(1));
            let answer = interaction.ask(elicitation(), &deadline).await;
            let said = serde_json::to_value(answer.result(false)).unwrap();
            assert_eq!(said["action"], action, "{why}");
            assert_eq!(deadline.remaining(), minutes(1), "{why}");
        }
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn a_handler_that_panics_has_turned_away() {
        let handler = |_question| async { panic!("on purpose") };
        let interaction = Interaction {
            permissions: CurrentPermissions::default(),
            elicitor: Some(Elicitor(Arc::new(handler))),
            patience: Duration::from_secs(600),
            calls: Arc::default(),
        };
        let deadline = Deadline::after(Duration::from_secs(60));
        let answer = interaction.ask(elicitation(), &deadline).await;
        let said = serde_json::to_value(answer.result(true)).unwrap();
        assert_eq!(said, serde_json::json!({"action": "cancel"}));
        assert!(!deadline.has_passed());
    }

    fn elicitation() -> Elicitation {
        let server = "docs".parse().map(McpServerKey::host).unwrap();
        let params = RawValue::from_string(r#"{"message":"?"}"#.to_owned()).unwrap();
        Elicitation::read(&server, None, Some(&params)).unwrap()
    }
}
