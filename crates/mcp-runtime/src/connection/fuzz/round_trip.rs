//! Messages that are written, framed and cut anyhow, and read again.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::lines::Told;
use super::{events, lines};

const LIMIT: usize = 1024 * 1024;

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[\r\n\u{feff}\"\\\\ {}:\u{0}a\u{2028}]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("id|result|method|[a-z\"\r\n]{0,4}", inner, 0..4)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

fn message() -> impl Strategy<Value = Value> {
    (0u64..12, value(), any::<i64>(), 0..5).prop_map(|(id, value, code, kind)| match kind {
        0 => json!({"jsonrpc": "2.0", "id": id.to_string(), "result": value}),
        1 => json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": value.to_string(), "data": value}}),
        2 => json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": value}}),
        3 => json!({"jsonrpc": "2.0", "method": "vendor/thing", "id": id, "params": value}),
        _ => json!({"jsonrpc": "2.0", "id": id, "result": value}),
    })
}

/// The bytes in pieces that end anywhere.
fn pieces<'a>(bytes: &'a [u8], cuts: &'a [prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut ends: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    ends.extend([0, bytes.len()]);
    ends.sort_unstable();
    ends.windows(2)
        .map(|ends| &bytes[ends[0]..ends[1]])
        .collect()
}

fn told(messages: &[Value]) -> Vec<Told> {
    let whole = |message: &Value| Told::Whole(message.to_string().into_bytes());
    messages.iter().map(whole).collect()
}

fn frame(messages: &[Value], frames: &[&'static str], before: &str) -> Vec<u8> {
    let framed = messages.iter().zip(frames.iter().cycle());
    let framed = framed.map(|(message, end)| format!("{before}{message}{end}"));
    framed.collect::<String>().into_bytes()
}

proptest! {
    /// R7: the messages of a process come out as they were written, in their order.
    #[test]
    fn lines_give_back_every_message(
        messages in prop::collection::vec(message(), 1..6),
        ends in prop::collection::vec(prop_oneof![Just("\n"), Just("\r\n")], 1..4),
        mark in any::<bool>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let bytes = frame(&messages, &ends, if mark { "\u{feff}" } else { "" });
        let (lines, effects) = lines::read(LIMIT, pieces(&bytes, &cuts));
        prop_assert_eq!(lines, told(&messages));
        prop_assert_eq!(effects, lines::read(LIMIT, [bytes.as_slice()]).1);
    }

    /// R7: and so do those of an endpoint.
    #[test]
    fn events_give_back_every_message(
        messages in prop::collection::vec(message(), 1..6),
        ends in prop::collection::vec(prop_oneof![Just("\n\n"), Just("\r\n\r\n"), Just("\r\r"), Just("\nid: 1\nevent: message\n\n")], 1..4),
        mark in any::<bool>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let mut bytes = frame(&messages, &ends, "data: ");
        if mark {
            bytes.splice(0..0, *b"\xEF\xBB\xBF");
        }
        prop_assert_eq!(events::read(LIMIT, pieces(&bytes, &cuts)).events, told(&messages));
    }
}
