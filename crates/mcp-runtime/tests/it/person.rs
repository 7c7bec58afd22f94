//! A person who is asked, and answers when the test does.

use mcp_runtime::{Elicitation, ElicitationAnswer, ElicitationHandler};
use tokio::sync::{mpsc, oneshot};

use crate::host::at_once;

/// What a person was asked.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) elicitation: Elicitation,
    answer: oneshot::Sender<ElicitationAnswer>,
}

/// Whoever sits behind the handler of a host.
#[derive(Debug)]
pub(crate) struct Person {
    questions: mpsc::Receiver<Question>,
}

/// A handler, and the person behind it.
pub(crate) fn person() -> (impl ElicitationHandler, Person) {
    let (asked, questions) = mpsc::channel(64);
    let handler = move |elicitation| {
        let (answer, answered) = oneshot::channel();
        let question = Question {
            elicitation,
            answer,
        };
        asked.try_send(question).expect("the person is there");
        async { answered.await.expect("the person answers") }
    };
    (handler, Person { questions })
}

impl Person {
    /// The next question.
    pub(crate) async fn question(&mut self) -> Question {
        let question = at_once(self.questions.recv()).await;
        question.expect("the handler lives")
    }
}

impl Question {
    /// Answers; what was asked.
    pub(crate) fn answer(self, answer: ElicitationAnswer) -> Elicitation {
        self.answer.send(answer).expect("somebody waits");
        self.elicitation
    }

    /// Resolves when nobody waits for the answer any more.
    pub(crate) async fn taken_back(&mut self) {
        at_once(self.answer.closed()).await;
    }
}
