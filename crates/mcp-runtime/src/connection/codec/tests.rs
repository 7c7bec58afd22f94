//! Messages as servers write them, and what is made of them.

use super::*;

fn shown(line: &str) -> String {
    match decode(line.as_bytes()) {
        Ok(Inbound::Reply {
            id,
            reply: Reply::Result(result),
        }) => format!("{id} result {result}"),
        Ok(Inbound::Reply {
            id,
            reply: Reply::Error(error),
        }) => {
            format!(
                "{id} error {} {:?} {:?}",
                error.code(),
                error.message(),
                error.data().map(RawValue::get)
            )
        }
        Ok(Inbound::Reply {
            id,
            reply: Reply::Malformed(why),
        }) => format!("{id} malformed: {why}"),
        Ok(Inbound::Stray(_)) => "stray".to_owned(),
        Ok(Inbound::Call {
            method, is_request, ..
        }) => format!("{method} {is_request}"),
        Err(Unreadable { id }) => format!("unreadable {id:?}"),
    }
}

#[test]
fn envelopes_are_read_whatever_is_inside() {
    let rows: &[(&str, &str)] = &[
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"b":1e2,"a":123456789012345678901234567890}}"#,
            r#"1 result {"b":1e2,"a":123456789012345678901234567890}"#,
        ),
        (r#"{"id":"1","result":null}"#, "1 result null"),
        (r#"{"id":1.0,"result":{}}"#, "1 result {}"),
        (r#"{"id":1.5,"result":{}}"#, "stray"),
        (r#"{"id":"+1","result":{}}"#, "stray"),
        (r#"{"id":-1,"result":{}}"#, "stray"),
        (r#"{"id":"","result":{}}"#, "stray"),
        (r#"{"id":[1],"result":{}}"#, "stray"),
        (
            r#"{"id":1,"method":"ping","params":NaN}"#,
            "unreadable None",
        ),
        (r#"{"id":1,"result":{},"error":null}"#, "1 result {}"),
        (r#"{"id":1,"result":1e400}"#, "1 result 1e400"),
        (
            r#"{"id":1,"error":{"code":-32602,"message":"no","data":{"x":[1,null]}}}"#,
            r#"1 error -32602 "no" Some("{\"x\":[1,null]}")"#,
        ),
        (
            r#"{"id":1,"error":{"code":0,"message":""}}"#,
            r#"1 error 0 "" None"#,
        ),
        (
            r#"{"id":1,"error":{"code":4294967296,"message":"m"}}"#,
            r#"1 error 4294967296 "m" None"#,
        ),
        (
            r#"{"id":1,"error":{"code":-32000.0,"message":"m","data":null}}"#,
            r#"1 error -32000 "m" Some("null")"#,
        ),
        (r#"{"id":1,"error":{"code":1}}"#, r#"1 error 1 "" None"#),
        (
            r#"{"id":1,"error":{"code":1,"message":null}}"#,
            r#"1 error 1 "" None"#,
        ),
        (
            r#"{"id":1,"error":{"code":1,"message":{"text":"m"}}}"#,
            r#"1 error 1 "{\"text\":\"m\"}" None"#,
        ),
        (
            r#"{"id":1,"error":{"code":"E1","message":"m"}}"#,
            r#"1 malformed: the reply's error has no integer code: {"code":"E1","message":"m"}"#,
        ),
        (
            r#"{"id":1,"error":{"code":1e100}}"#,
            r#"1 malformed: the reply's error has no integer code: {"code":1e100}"#,
        ),
        (
            r#"{"id":1,"error":[1,"m"]}"#,
            r#"1 malformed: the reply's error has no integer code: [1,"m"]"#,
        ),
        (
            r#"{"id":1,"error":"broken"}"#,
            r#"1 malformed: the reply's error has no integer code: "broken""#,
        ),
        (
            r#"{"id":1}"#,
            "1 malformed: the reply has neither a result nor an error",
        ),
        (r#"{"id":null,"error":{"code":1,"message":"m"}}"#, "stray"),
        (r#"{"id":"nobody","result":1}"#, "stray"),
        (r#"{"id":"+1","result":1}"#, "stray"),
        (r#"{"method":"ping","id":"p"}"#, "ping true"),
        (
            r#"{"method":"notifications/progress","params":{}}"#,
            "notifications/progress false",
        ),
        (r#"{"id":1,"result":NaN}"#, "unreadable Some(1)"),
        (r#"{"id":1,"result":{"a":"#, "unreadable Some(1)"),
        (r#"{"level":"info"}"#, "unreadable None"),
        ("[1,2]", "unreadable None"),
        (r#"[1,"ping",{}]"#, "unreadable None"),
        ("starting up", "unreadable None"),
        ("", "unreadable None"),
    ];
    for (line, expected) in rows {
        assert_eq!(shown(line), *expected, "{line}");
    }
}

/// W1: depth does not matter where nothing is decoded.
#[test]
fn a_deeply_nested_result_is_kept() {
    let deep = format!(
        "{{\"id\":1,\"result\":{}{}}}",
        "[".repeat(3000),
        "]".repeat(3000)
    );
    assert!(shown(&deep).starts_with("1 result [[["));
}

#[test]
fn invalid_utf8_is_attributed() {
    assert_eq!(
        decode(b"{\"id\":5,\"result\":\"\xff\"}").err(),
        Some(Unreadable { id: Some(5) })
    );
}

/// W1
#[test]
fn raw_parameters_are_written_as_they_are_on_one_line() {
    let params = RawValue::from_string("{\"b\": 1e2,\n\"a\":\"x\\ny\"}".to_owned()).unwrap();
    let line = encode_request(3, "tools/call", Some(&params)).unwrap();
    assert_eq!(
        String::from_utf8(line).unwrap(),
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"b\": 1e2, \"a\":\"x\\ny\"}}\n"
    );
}
