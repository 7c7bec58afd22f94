//! Elicitations from the server's line to the answer's, on a paused clock.

use tokio::sync::{mpsc, oneshot};
use tokio::task::yield_now;
use tokio::time::{Instant, advance};

use super::*;
use crate::authority::CurrentPermissions;
use crate::connection::outbox::Outbox;
use crate::connection::server_request::Inlet;
use crate::deadline::Deadline;
use crate::permissions::Permissions;

const PATIENCE: Duration = Duration::from_secs(600);
const BUDGET: Duration = Duration::from_secs(2);

/// A connection, and a person who answers what they are asked.
struct Scene {
    inlet: Inlet,
    calls: Arc<Calls>,
    outbox: Arc<Outbox>,
    closed: CancellationToken,
    asked: mpsc::Receiver<Question>,
}

/// What the person was asked. Nobody waits for the answer any more when its channel is closed.
struct Question {
    elicitation: Elicitation,
    answer: oneshot::Sender<ElicitationAnswer>,
}

impl Scene {
    fn new() -> Self {
        let (questions, asked) = mpsc::channel(OPEN);
        let handler = move |elicitation| {
            let (answer, answered) = oneshot::channel();
            questions
                .try_send(Question {
                    elicitation,
                    answer,
                })
                .ok()
                .unwrap();
            async { answered.await.expect("the person answers") }
        };
        Self::with(handler, asked)
    }

    fn with(
        handler: impl crate::elicitation::ElicitationHandler,
        asked: mpsc::Receiver<Question>,
    ) -> Self {
        let (calls, outbox) = (Arc::<Calls>::default(), Arc::<Outbox>::default());
        let interaction = Interaction {
            permissions: CurrentPermissions::default(),
            elicitor: Some(Elicitor(Arc::new(handler))),
            patience: PATIENCE,
            calls: calls.clone(),
        };
        let closed = CancellationToken::new();
        let server = McpServerKey::host("docs".parse().unwrap());
        Self {
            inlet: Inlet::new(&server, interaction, &outbox, &closed),
            calls,
            outbox,
            closed,
            asked,
        }
    }

    /// The server asks whether the person is sure.
    fn ask(&self, id: &str, call: Option<CallId>) {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"elicitation/create","params":{{"message":"sure?"}}}}"#
        );
        self.inlet
            .request(line.as_bytes(), "elicitation/create", call);
    }

    async fn question(&mut self) -> Question {
        self.asked.recv().await.expect("the handler lives")
    }

    /// What the server reads next.
    async fn answer(&self) -> String {
        let line = self.outbox.pop().await.expect("the connection is open");
        let line = String::from_utf8(line).unwrap();
        let line = line.trim_end().trim_end_matches('}');
        line.trim_start_matches(r#"{"jsonrpc":"2.0","#).to_owned()
    }

    /// Whether the server has been told nothing more, once everything that can happen has.
    async fn is_silent(&self) -> bool {
        for _ in 0..10 {
            yield_now().await;
        }
        self.outbox.pop().now_or_never().is_none()
    }
}

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

/// E1, W1
#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn what_a_person_says_reaches_the_server_as_it_is() {
    let mut scene = Scene::new();
    scene.ask("\"a\"", None);
    let question = scene.question().await;
    assert_eq!(question.elicitation.server().name().as_str(), "docs");
    assert_eq!(question.elicitation.message(), "sure?");
    assert_eq!(question.elicitation.call(), None);
    let content = raw("{\"z\": 1e2,\n\"n\":123456789012345678901234567890}");
    let answer = ElicitationAnswer::accept_with(content).unwrap();
    question.answer.send(answer).unwrap();
    assert_eq!(
        scene.answer().await,
        r#""id":"a","result":{"action":"accept","content":{"z": 1e2, "n":123456789012345678901234567890"#
    );
}

/// E1
#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn a_handler_that_panics_is_an_internal_error() {
    let (_questions, asked) = mpsc::channel(OPEN);
    let early = Scene::with(
        |_| -> std::future::Ready<ElicitationAnswer> { panic!("before the first await") },
        asked,
    );
    early.ask("1", None);
    assert!(
        early
            .answer()
            .await
            .starts_with(r#""id":1,"error":{"code":-32603"#)
    );
    let (_questions, asked) = mpsc::channel(OPEN);
    let late = Scene::with(
        async |_| {
            yield_now().await;
            panic!("after it")
        },
        asked,
    );
    late.ask("1", None);
    assert!(
        late.answer()
            .await
            .starts_with(r#""id":1,"error":{"code":-32603"#)
    );
    late.ask("1", None);
    assert!(
        late.answer().await.starts_with(r#""id":1"#),
        "the next one is asked"
    );
}

/// E1
#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn a_person_who_never_answers_has_cancelled() {
    let mut scene = Scene::new();
    let begun = Instant::now();
    scene.ask("1", None);
    let mut question = scene.question().await;
    assert_eq!(
        scene.answer().await,
        r#""id":1,"result":{"action":"cancel""#
    );
    assert_eq!(begun.elapsed(), PATIENCE);
    question.answer.closed().await;
}

/// B3
#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn the_clock_of_a_call_stands_still_from_the_question_to_the_answer() {
    let mut scene = Scene::new();
    let (call, other) = (CallId::next(), CallId::next());
    let (deadline, others) = (Deadline::after(BUDGET), Deadline::after(BUDGET));
    let _under_way = [
        scene.calls.begin(call, Permissions::default(), &deadline),
        scene.calls.begin(other, Permissions::default(), &others),
    ];
    scene.ask("1", Some(call));
    advance(BUDGET * 9).await;
    let question = scene.question().await;
    assert_eq!(question.elicitation.call(), Some(call));
    question.answer.send(ElicitationAnswer::decline()).unwrap();
    assert_eq!(
        scene.answer().await,
        r#""id":1,"result":{"action":"decline""#
    );
    assert_eq!(deadline.remaining(), BUDGET);
    assert!(others.has_passed(), "it is not the other's");
    yield_now().await;
    advance(BUDGET).await;
    assert!(deadline.has_passed(), "it goes on");
}

/// B4
#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn a_call_that_is_given_up_takes_its_question_back() {
    let mut scene = Scene::new();
    let call = CallId::next();
    let under_way = scene
        .calls
        .begin(call, Permissions::default(), &Deadline::after(BUDGET));
    scene.ask("1", Some(call));
    let mut question = scene.question().await;
    drop(under_way);
    question.answer.closed().await;
    assert_eq!(
        scene.answer().await,
        r#""id":1,"result":{"action":"cancel""#
    );
    scene.ask("2", Some(call));
    assert_eq!(
        scene.answer().await,
        r#""id":2,"result":{"action":"cancel""#
    );
    assert!(
        scene.asked.try_recv().is_err(),
        "nobody is asked for a call that is over"
    );
}

/// B4: it may not have been that call's.
#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn a_call_that_is_answered_leaves_its_question_open() {
    let mut scene = Scene::new();
    let call = CallId::next();
    let under_way = scene
        .calls
        .begin(call, Permissions::default(), &Deadline::after(BUDGET));
    scene.ask("1", Some(call));
    let question = scene.question().await;
    under_way.answered();
    assert!(scene.is_silent().await);
    question.answer.send(ElicitationAnswer::accept()).unwrap();
    assert!(scene.answer().await.contains("accept"));
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn a_question_that_the_server_takes_back_is_not_answered_and_its_id_is_free() {
    let mut scene = Scene::new();
    scene.ask("\"a\"", None);
    let mut question = scene.question().await;
    let cancelled = |params: &str| {
        scene
            .inlet
            .notification("notifications/cancelled", Some(&raw(params)));
    };
    for of_another in [r#"{"requestId":"b"}"#, "{}", "7", r#"["a"]"#] {
        cancelled(of_another);
    }
    assert!(scene.is_silent().await && !question.answer.is_closed());
    cancelled(r#"{"requestId":"a","reason":"never mind"}"#);
    question.answer.closed().await;
    assert!(scene.is_silent().await);
    scene.ask("\"a\"", None);
    let answer = scene.question().await.answer;
    answer.send(ElicitationAnswer::decline()).unwrap();
    assert_eq!(
        scene.answer().await,
        r#""id":"a","result":{"action":"decline""#
    );
}

/// R10
#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn the_end_of_the_connection_takes_every_question_back() {
    let mut scene = Scene::new();
    scene.ask("1", None);
    scene.ask("2", None);
    let (mut one, mut other) = (scene.question().await, scene.question().await);
    scene.closed.cancel();
    one.answer.closed().await;
    other.answer.closed().await;
    scene.ask("3", None);
    assert!(scene.is_silent().await);
    assert!(scene.asked.try_recv().is_err());
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn a_server_can_have_so_many_questions_open_and_no_more() {
    let mut scene = Scene::new();
    let mut questions = Vec::new();
    for number in 0..OPEN {
        scene.ask(&number.to_string(), None);
        questions.push(scene.question().await);
    }
    scene.ask("999", None);
    assert!(
        scene
            .answer()
            .await
            .starts_with(r#""id":999,"error":{"code":-32603"#)
    );
    scene
        .inlet
        .request(br#"{"id":"p","method":"ping"}"#, "ping", None);
    assert_eq!(
        scene.answer().await,
        r#""id":"p","result":{"#,
        "all else is answered"
    );
    let first = questions.swap_remove(0).answer;
    first.send(ElicitationAnswer::accept()).unwrap();
    assert!(scene.answer().await.starts_with(r#""id":0,"#));
    scene.ask("999", None);
    assert_eq!(scene.question().await.elicitation.message(), "sure?");
}

/// The answers could not be told apart.
#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn an_id_that_is_in_use_is_refused() {
    let mut scene = Scene::new();
    scene.ask("1", None);
    let question = scene.question().await;
    scene.ask("1", None);
    assert!(
        scene
            .answer()
            .await
            .starts_with(r#""id":1,"error":{"code":-32600"#)
    );
    question.answer.send(ElicitationAnswer::accept()).unwrap();
    assert!(scene.answer().await.contains("accept"));
}
