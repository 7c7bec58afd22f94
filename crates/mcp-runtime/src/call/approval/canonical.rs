//! JSON in one of the ways in which it can be written.
//!
//! Members are sorted by name, there is no white space, and strings escape only what they must. Members of the same name
//! all stay, in their order, and numbers are as they were spelled: whoever reads the two texts may tell them apart.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Levels below this one stay as they are written.
const DEEPEST: usize = 32;
/// What is longer, in bytes, stays as it is written.
const LONGEST: usize = 1024 * 1024;

/// The canonical text of an object, with those of its members that are named.
pub(super) fn object(json: &RawValue, named: &[&str]) -> Vec<u8> {
    let text = json.get();
    let members = (text.len() <= LONGEST).then(|| members(text)).flatten();
    let Some(mut members) = members else {
        return text.as_bytes().to_vec();
    };
    members.retain(|(name, _)| named.iter().any(|wanted| wanted.as_bytes() == name));
    let mut written = Vec::with_capacity(text.len());
    write_object(members, DEEPEST, &mut written);
    written
}

fn write(json: &RawValue, levels: usize, into: &mut Vec<u8>) {
    let text = json.get();
    let read = levels > 0;
    match text.as_bytes().first() {
        Some(b'{') if read => match members(text) {
            Some(members) => write_object(members, levels - 1, into),
            None => into.extend_from_slice(text.as_bytes()),
        },
        Some(b'[') if read => match serde_json::from_str::<Vec<&RawValue>>(text) {
            Ok(items) => {
                into.push(b'[');
                for (at, item) in items.into_iter().enumerate() {
                    if at > 0 {
                        into.push(b',');
                    }
                    write(item, levels - 1, into);
                }
                into.push(b']');
            }
            Err(_) => into.extend_from_slice(text.as_bytes()),
        },
        Some(b'"') => match decode(text) {
            Some(string) => write_string(&string, into),
            None => into.extend_from_slice(text.as_bytes()),
        },
        _ => into.extend_from_slice(text.as_bytes()),
    }
}

fn write_object(mut members: Vec<(Vec<u8>, &RawValue)>, levels: usize, into: &mut Vec<u8>) {
    // Stable: those of one name keep their order.
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    into.push(b'{');
    for (at, (name, value)) in members.into_iter().enumerate() {
        if at > 0 {
            into.push(b',');
        }
        write_string(&name, into);
        into.push(b':');
        write(value, levels, into);
    }
    into.push(b'}');
}

fn write_string(string: &[u8], into: &mut Vec<u8>) {
    into.push(b'"');
    for &byte in string {
        match byte {
            b'"' | b'\\' => into.extend_from_slice(&[b'\\', byte]),
            0..=0x1f => into.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => into.push(byte),
        }
    }
    into.push(b'"');
}

/// The members of an object in their order, with decoded names.
fn members(text: &str) -> Option<Vec<(Vec<u8>, &RawValue)>> {
    struct Members;

    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(&'de RawValue, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }

    let mut reader = serde_json::Deserializer::from_str(text);
    let members = reader.deserialize_map(Members).ok()?;
    let decoded = members
        .into_iter()
        .map(|(name, value)| Some((decode(name.get())?, value)));
    decoded.collect()
}

/// The text of a string; bytes, because half a surrogate pair can be spelled and no `str` holds it.
fn decode(text: &str) -> Option<Vec<u8>> {
    struct Bytes;

    impl Visitor<'_> for Bytes {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_owned())
        }
    }

    let mut reader = serde_json::Deserializer::from_str(text);
    reader.deserialize_bytes(Bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn canonical(json: &str) -> Vec<u8> {
        let json = RawValue::from_string(json.to_owned()).unwrap();
        let mut written = Vec::new();
        write(&json, DEEPEST, &mut written);
        written
    }

    #[track_caller]
    fn check(json: &str, expected: &str) {
        let written = canonical(json);
        assert_eq!(String::from_utf8_lossy(&written), expected, "{json}");
    }

    #[test]
    fn there_is_one_way_to_write_it() {
        check("  7 ", "7");
        check("[ 1e2 , -0.0,100 ]", "[1e2,-0.0,100]");
        check(
            r#"{"b":[{"d":1,"c":null}], "a" : {}}"#,
            r#"{"a":{},"b":[{"c":null,"d":1}]}"#,
        );
        check(r#""\u0041\/\n\"\\\u001f""#, r#""A/\u000a\"\\\u001f""#);
        check(r#"{"\u0062":1,"a":2}"#, r#"{"a":2,"b":1}"#);
        check(r#"{"b":1,"a":2,"b":0}"#, r#"{"a":2,"b":1,"b":0}"#);
    }

    #[test]
    fn halves_of_surrogate_pairs_are_told_apart() {
        assert_ne!(canonical(r#""\ud83d""#), canonical(r#""\ud83e""#));
    }

    #[test]
    fn no_depth_overflows() {
        let deep = 100_000;
        let json = "[".repeat(deep) + " 1 " + &"]".repeat(deep);
        let written = canonical(&json);
        assert!(String::from_utf8_lossy(&written).contains(" 1 "));
    }

    #[test]
    fn what_is_too_long_stays_as_it_is() {
        let json = format!(r#"{{ "name": "{}" }}"#, "x".repeat(LONGEST));
        let raw = RawValue::from_string(json.clone()).unwrap();
        assert_eq!(object(&raw, &["name"]), json.as_bytes());
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_says_the_same_and_its_canonical_text_is_itself(value in json()) {
            let written = canonical(&serde_json::to_string_pretty(&value).unwrap());
            let text = String::from_utf8(written).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Value>(&text).unwrap(), &value);
            prop_assert_eq!(String::from_utf8(canonical(&text)).unwrap(), text);
        }
    }
}
