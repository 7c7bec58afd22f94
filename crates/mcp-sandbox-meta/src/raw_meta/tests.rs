//! What is kept is kept to the byte, and nothing reserved gets past.

use std::collections::BTreeMap;

use proptest::prelude::{Just, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};
use serde::de::IgnoredAny;

use super::*;
use crate::reserved::{SANDBOX_LAUNCHER_KEY, SANDBOX_STATE_KEY, SANDBOX_STATE_META_KEY};

#[track_caller]
fn check(meta: &str, expected: &str, why: &str) {
    let raw: &RawValue = serde_json::from_str(meta).unwrap();
    let kept = RawMeta::without_reserved(raw).unwrap();
    assert_eq!(serde_json::to_string(&kept).unwrap(), expected, "{why}");
    assert_eq!(kept.is_empty(), expected == "{}", "{why}");
}

/// S6
#[test]
fn unreserved_members_keep_order_spelling_and_repetitions() {
    check("{}", "{}", "nothing to keep");
    check(
        r#"{ "z" : 1e2 , "a":[1,  2.0],"z":18446744073709551616 }"#,
        r#"{"z":1e2,"a":[1,  2.0],"z":18446744073709551616}"#,
        "order, numbers, inner white space, a repeated member",
    );
    check(
        r#"{"\u0061\/b":"\u00e9"}"#,
        r#"{"\u0061\/b":"\u00e9"}"#,
        "escapes",
    );
    check(
        r#"{"\ud800":"\ud800","a":1}"#,
        r#"{"\ud800":"\ud800","a":1}"#,
        "half a surrogate pair",
    );
    check(
        r#"{"a":{"progressToken":1}}"#,
        r#"{"a":{"progressToken":1}}"#,
        "only the top level is the host's",
    );
}

/// S6
#[test]
fn reserved_members_are_removed_however_they_are_spelled() {
    check(r#"{"progressToken":1}"#, "{}", "the only member");
    check(
        r#"{"a":1,"baggage":2,"b":3}"#,
        r#"{"a":1,"b":3}"#,
        "between others",
    );
    check(
        r#"{"codex\u002fsandbox-state":1,"codex\/sandbox-launcher":2}"#,
        "{}",
        "escaped slashes",
    );
    check(
        r#"{"\u0070rogressToken":1,"\u0070rogressToken":2}"#,
        "{}",
        "escaped letters, twice",
    );
    check(
        r#"{"codex/sandbox-\ud800":1}"#,
        "{}",
        "a prefix before half a surrogate pair",
    );
}

#[test]
fn what_is_no_object_is_refused() {
    for other in ["null", "[]", "\"x\"", "1", "true"] {
        let raw: &RawValue = serde_json::from_str(other).unwrap();
        assert_eq!(
            RawMeta::without_reserved(raw),
            Err(MetaNotAnObject),
            "{other}"
        );
    }
}

#[test]
fn debug_shows_no_contents() {
    let raw: &RawValue = serde_json::from_str(r#"{"token":"secret"}"#).unwrap();
    let shown = format!("{:?}", RawMeta::without_reserved(raw));
    assert_eq!(shown, "Ok(RawMeta(<16 bytes>))");
}

/// S2, S6: a real host's `_meta`, taken apart and put together again.
#[test]
fn recorded_metadata_survives_with_the_hosts_members_put_back() {
    #[derive(serde::Deserialize)]
    struct Call<'a> {
        #[serde(borrow)]
        params: Params<'a>,
    }
    #[derive(serde::Deserialize)]
    struct Params<'a> {
        #[serde(borrow, rename = "_meta")]
        meta: &'a RawValue,
    }

    let recorded = include_str!("../../tests/fixtures/tools_call_params.json");
    let scenarios: BTreeMap<String, Vec<Call<'_>>> = serde_json::from_str(recorded).unwrap();
    assert_eq!(scenarios.values().flatten().count(), 20);
    for (scenario, calls) in scenarios {
        for call in calls {
            let mut meta = RawMeta::without_reserved(call.params.meta).unwrap();
            let kept = serde_json::to_string(&meta).unwrap();
            let kept: BTreeMap<String, IgnoredAny> = serde_json::from_str(&kept).unwrap();
            let names: Vec<_> = kept.keys().map(String::as_str).collect();
            let of_host = [
                "callId",
                "itemId",
                "sessionId",
                "threadId",
                "windowId",
                "x-codex-turn-metadata",
            ];
            assert_eq!(names, of_host, "{scenario}");

            let original = members::read(call.params.meta.get()).unwrap();
            for key in [
                SANDBOX_STATE_KEY,
                SANDBOX_STATE_META_KEY,
                SANDBOX_LAUNCHER_KEY,
                "progressToken",
            ] {
                if let Some(member) = original.iter().find(|member| member.name == key.as_bytes()) {
                    meta.push(key, member.value);
                }
            }
            assert_eq!(
                without_space_between_members(call.params.meta),
                serde_json::to_string(&meta).unwrap(),
                "{scenario}"
            );
        }
    }
}

fn without_space_between_members(object: &RawValue) -> String {
    let members = members::read(object.get()).unwrap();
    let texts: Vec<_> = members
        .iter()
        .map(|m| format!("{}:{}", m.spelled, m.value))
        .collect();
    format!("{{{}}}", texts.join(","))
}

/// A name as JSON text, with any of its characters escaped.
fn spell(name: &str, escaped: &[bool]) -> String {
    let mut text = String::from('"');
    for (index, character) in name.chars().enumerate() {
        if escaped.get(index).copied().unwrap_or(false) {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            let json = serde_json::to_string(&character).unwrap();
            text.push_str(&json[1..json.len() - 1]);
        }
    }
    text.push('"');
    text
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        Just("progressToken".to_owned()),
        Just("traceparent".to_owned()),
        Just("tracestate".to_owned()),
        Just("baggage".to_owned()),
        "codex/sandbox-[a-z]{0,6}",
        "io\\.modelcontextprotocol/[a-z]{0,6}",
        "codex/[a-z]{0,6}",
    ]
}

fn values() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?[1-9][0-9]{0,25}(\\.[0-9]{1,4})?([eE][+-]?[0-9]{1,3})?",
        "[a-z/ ]{0,8}".prop_map(|text| format!("\"{text}\\u002f\"")),
        Just(r#"{"progressToken": [1, 1.0],"a":1,"a":2}"#.to_owned()),
        Just("null".to_owned()),
    ]
}

proptest! {
    /// S6
    #[test]
    fn exactly_the_unreserved_members_remain_byte_for_byte(
        members in prop::collection::vec((names(), prop::collection::vec(any::<bool>(), 0..40), values()), 0..8)
    ) {
        let spelled: Vec<_> = members
            .iter()
            .map(|(name, escaped, value)| (name, format!("{}:{value}", spell(name, escaped))))
            .collect();
        let all: Vec<_> = spelled.iter().map(|(_, text)| text.as_str()).collect();
        let meta = RawValue::from_string(format!("{{ {} }}", all.join(" , "))).unwrap();
        let remaining: Vec<_> = spelled
            .iter()
            .filter(|(name, _)| !crate::is_reserved_meta_key(name))
            .map(|(_, text)| text.as_str())
            .collect();
        let kept = serde_json::to_string(&RawMeta::without_reserved(&meta).unwrap()).unwrap();
        prop_assert_eq!(kept, format!("{{{}}}", remaining.join(",")));
    }

    #[test]
    fn a_pushed_name_reads_back(name in any::<String>()) {
        let mut meta = RawMeta::new();
        meta.push(&name, &RawValue::from_string("1e2".to_owned()).unwrap());
        let json = serde_json::to_string(&meta).unwrap();
        let members = members::read(&json).unwrap();
        prop_assert_eq!(members.len(), 1);
        prop_assert_eq!(&members[0].name, name.as_bytes());
        prop_assert_eq!(members[0].value.get(), "1e2");
    }
}

#[test]
fn replacing_leaves_one_of_each_name_that_is_given_anew() {
    let meta = |json: &str| {
        RawMeta::without_reserved(&RawValue::from_string(json.to_owned()).unwrap()).unwrap()
    };
    for (left, right, expected) in [
        (r#"{"a":1e2,"b":2}"#, r#"{"a":3}"#, r#"{"b":2,"a":3}"#),
        (
            r#"{"a":1,"a":2,"b":[]}"#,
            r#"{"\u0061":3,"a":4}"#,
            r#"{"b":[],"\u0061":3,"a":4}"#,
        ),
        (
            r#"{"\ud83d":1}"#,
            r#"{"\ud83e":2}"#,
            r#"{"\ud83d":1,"\ud83e":2}"#,
        ),
        (r#"{"a":1}"#, "{}", r#"{"a":1}"#),
        ("{}", r#"{"a":1}"#, r#"{"a":1}"#),
    ] {
        let mut replaced = meta(left);
        replaced.replace_with(&meta(right));
        assert_eq!(serde_json::to_string(&replaced).unwrap(), expected);
    }
}

#[test]
fn extending_joins_what_there_is() {
    let meta = |json: &str| {
        RawMeta::without_reserved(&RawValue::from_string(json.to_owned()).unwrap()).unwrap()
    };
    for (left, right, expected) in [
        (r#"{"a":1e2}"#, r#"{"b":2}"#, r#"{"a":1e2,"b":2}"#),
        ("{}", r#"{"b":2}"#, r#"{"b":2}"#),
        (r#"{"a":1e2}"#, "{}", r#"{"a":1e2}"#),
        ("{}", "{}", "{}"),
    ] {
        let mut joined = meta(left);
        joined.extend(&meta(right));
        assert_eq!(serde_json::to_string(&joined).unwrap(), expected);
    }
}
