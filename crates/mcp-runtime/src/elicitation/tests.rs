//! Elicitations as servers write them, and answers as servers get them.

use super::*;

fn read(params: &str) -> Result<Elicitation, Unfit> {
    let params = RawValue::from_string(params.to_owned()).unwrap();
    let server = McpServerKey::host("docs".parse().unwrap());
    Elicitation::read(&server, None, Some(&params))
}

#[track_caller]
fn check(params: &str, expected: &str) {
    let shown = match read(params) {
        Ok(elicitation) => match elicitation.mode() {
            ElicitationMode::Form { schema } => format!("{}: form {schema}", elicitation.message()),
            ElicitationMode::Url { url, id } => {
                format!("{}: url {url} {id:?}", elicitation.message())
            }
        },
        Err(error) => error.to_string(),
    };
    assert!(shown.contains(expected), "{params}\n gives {shown}");
}

/// E1
#[test]
fn forms_and_pages_are_read_leniently() {
    check(
        r#"{"message": "who?", "requestedSchema": {"n": 1e2}, "x": 1}"#,
        r#"who?: form {"n": 1e2}"#,
    );
    check(
        r#"{"mode": "form", "message": "sure?"}"#,
        r#"sure?: form {"type":"object"}"#,
    );
    check(
        r#"{"mode": null, "message": "", "requestedSchema": null}"#,
        ": form",
    );
    check(
        r#"{"mode": "url", "message": "pay", "url": "https://pay.example/1?a=b", "elicitationId": "e"}"#,
        r#"pay: url https://pay.example/1?a=b Some("e")"#,
    );
    check(
        r#"{"mode": "url", "message": "pay", "url": "http://localhost:1/"}"#,
        "http://localhost:1/ None",
    );
}

/// E1
#[test]
fn what_nobody_can_be_asked_is_told_so() {
    check(r#"[null, "who?"]"#, "an object");
    check("7", "an object");
    check("{}", "a `message`");
    check(r#"{"message": null}"#, "a `message`");
    check(r#"{"message": 7}"#, "wrong type");
    check(r#"{"message": "a", "message": "b"}"#, "wrong type");
    check(r#"{"message": "m", "mode": "voice"}"#, "not supported");
    check(
        r#"{"message": "m", "requestedSchema": []}"#,
        "`requestedSchema`",
    );
    for url in [
        "null",
        "7",
        "\"pay.example\"",
        "\"file:///etc/passwd\"",
        "\"javascript:alert(1)\"",
        "\"\"",
    ] {
        check(
            &format!(r#"{{"message": "m", "mode": "url", "url": {url}}}"#),
            if url == "7" { "wrong type" } else { "`url`" },
        );
    }
    check(
        &format!(r#"{{"message": "{}"}}"#, "x".repeat(LARGEST)),
        "larger than",
    );
    let server = McpServerKey::host("docs".parse().unwrap());
    assert_eq!(
        Elicitation::read(&server, None, None).err(),
        Some(Unfit::NoObject)
    );
}

/// E1: the server's own words stay.
#[test]
fn the_parameters_are_there_as_the_server_wrote_them() {
    let params = r#"{"z":1e2,"message":"m","_meta":{"a":0.10}}"#;
    assert_eq!(read(params).unwrap().params().get(), params);
}

/// E1
#[test]
fn an_answer_has_content_when_a_form_is_accepted_and_only_then() {
    let content = || RawValue::from_string(r#"{"z":1e2,"a":0.10}"#.to_owned()).unwrap();
    let accepted = || ElicitationAnswer::accept_with(content()).unwrap();
    let rows = [
        (
            accepted(),
            true,
            r#"{"action":"accept","content":{"z":1e2,"a":0.10}}"#,
        ),
        (accepted(), false, r#"{"action":"accept"}"#),
        (
            ElicitationAnswer::accept(),
            true,
            r#"{"action":"accept","content":{}}"#,
        ),
        (ElicitationAnswer::accept(), false, r#"{"action":"accept"}"#),
        (
            ElicitationAnswer::decline(),
            true,
            r#"{"action":"decline"}"#,
        ),
        (ElicitationAnswer::cancel(), false, r#"{"action":"cancel"}"#),
    ];
    for (answer, form, expected) in rows {
        assert_eq!(
            serde_json::to_string(&answer.result(form)).unwrap(),
            expected
        );
    }
    for content in ["[]", "null", "\"{}\""] {
        let content = RawValue::from_string(content.to_owned()).unwrap();
        assert_eq!(
            ElicitationAnswer::accept_with(content).err(),
            Some(ContentNotAnObject)
        );
    }
}
