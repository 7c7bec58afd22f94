//! What servers ask, and what they are answered, without a handler.

use crate::authority::CurrentPermissions;
use std::time::Duration;

use futures_util::FutureExt;

use super::*;

/// Gives requests to an inlet and takes what it answers.
fn answers(lines: &[String]) -> Vec<String> {
    let outbox = Arc::new(Outbox::default());
    let interaction = Interaction {
        permissions: CurrentPermissions::default(),
        elicitor: None,
        patience: Duration::from_secs(600),
        calls: Arc::default(),
    };
    let server = McpServerKey::host("docs".parse().unwrap());
    let inlet = Inlet::new(&server, interaction, &outbox, &CancellationToken::new());
    for line in lines {
        let Ok(codec::Inbound::Call { method, .. }) = codec::decode(line.as_bytes()) else {
            panic!("no request: {line}")
        };
        inlet.request(line.as_bytes(), &method, None);
    }
    let popped = std::iter::from_fn(|| outbox.pop().now_or_never().flatten());
    popped
        .map(|line| String::from_utf8(line).unwrap().trim_end().to_owned())
        .collect()
}

#[track_caller]
fn check(request: &str, answer: &str) {
    let answers = answers(&[format!(r#"{{"jsonrpc":"2.0",{request}}}"#)]);
    let expected: Vec<_> = Some(answer)
        .filter(|answer| !answer.is_empty())
        .into_iter()
        .collect();
    assert_eq!(answers.len(), expected.len(), "{request}: {answers:?}");
    for (answer, expected) in answers.iter().zip(expected) {
        assert!(answer.contains(expected), "{request}: {answer}");
    }
}

#[test]
fn a_ping_is_answered_under_the_id_as_it_is_written() {
    for id in [
        "1",
        "\"a\"",
        "-7",
        "1.50",
        "123456789012345678901234567890",
        "\"\\u00e9\"",
    ] {
        let pong = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        check(&format!(r#""id":{id},"method":"ping""#), &pong);
        check(&format!(r#""params":7,"method":"ping","id":{id}"#), &pong);
    }
}

/// R7: there is nobody to answer.
#[test]
fn a_request_without_a_usable_id_is_not_answered() {
    for id in ["null", "true", "{}", "[1]"] {
        check(&format!(r#""id":{id},"method":"ping""#), "");
        check(
            &format!(r#""id":{id},"method":"elicitation/create","params":{{"message":"m"}}"#),
            "",
        );
    }
}

/// What was never declared is refused, whatever its parameters are.
#[test]
fn a_method_that_is_not_supported_is_refused() {
    for method in [
        "roots/list",
        "sampling/createMessage",
        "vendor/thing",
        "tools/call",
        "",
    ] {
        for params in ["", r#","params":{"a":1}"#, r#","params":[]"#] {
            check(
                &format!(r#""id":1,"method":"{method}"{params}"#),
                r#""id":1,"error":{"code":-32601,"#,
            );
        }
    }
}

/// E1
#[test]
fn an_elicitation_that_nobody_answers_is_declined() {
    let declined = r#"{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}"#;
    let ask = |params: &str| format!(r#""id":1,"method":"elicitation/create","params":{params}"#);
    check(
        &ask(r#"{"message":"who?","requestedSchema":{"type":"object"}}"#),
        declined,
    );
    check(
        &ask(r#"{"mode":"url","message":"pay","url":"https://pay.example/","elicitationId":"e"}"#),
        declined,
    );
    check(
        &ask("7"),
        r#""code":-32602,"message":"the parameters of an elicitation are an object""#,
    );
    check(
        &ask(r#"{"mode":"voice","message":"m"}"#),
        r#""code":-32602"#,
    );
    check(
        r#""id":1,"method":"elicitation/create""#,
        r#""code":-32602"#,
    );
}

/// R9: nothing is kept from its answer by what came before it.
#[test]
fn a_flood_is_answered_to_the_last_request() {
    let flood = |number: usize| {
        let method = ["vendor/thing", "elicitation/create", "roots/list", "ping"][number % 4];
        format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"{method}"}}"#)
    };
    let answers = answers(&(0..4_000).map(flood).collect::<Vec<_>>());
    assert_eq!(answers.len(), 4_000);
    assert_eq!(answers[3_999], r#"{"jsonrpc":"2.0","id":3999,"result":{}}"#);
}
