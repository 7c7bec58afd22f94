//! One spelling for JSON that means the same.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::object::Object;

/// Below this depth a value counts as it is spelled. Each level is read once more than the one above it.
const DEPTH: usize = 32;

fn write_at(value: &RawValue, depth: usize, to: &mut String) {
    let text = value.get();
    match (text.as_bytes().first(), depth.checked_sub(1)) {
        (Some(b'{'), Some(depth)) => {
            let object = Object::of(value);
            let members: BTreeMap<&str, &RawValue> = object
                .names()
                .filter_map(|name| Some((name, object.get_or_null(name)?)))
                .collect();
            write_object(&members, depth, to);
        }
        (Some(b'['), Some(depth)) => match serde_json::from_str::<Vec<&RawValue>>(text) {
            Ok(items) => {
                to.push('[');
                for (n, item) in items.into_iter().enumerate() {
                    separate(n, to);
                    write_at(item, depth, to);
                }
                to.push(']');
            }
            Err(_odd) => to.push_str(text),
        },
        (Some(b'"'), _) => match serde_json::from_str::<Cow<'_, str>>(text) {
            Ok(decoded) => push_text(&decoded, to),
            // Half a surrogate pair has but one spelling that matters.
            Err(_odd) => to.push_str(text),
        },
        _ => to.push_str(text),
    }
}

/// Writes an object of these members without white space, members sorted by name, texts spelled in one way. Of several
/// members with one name the last counts; numbers are kept as they are spelled, since no reading of them is exact for
/// everybody.
pub(super) fn write_members(members: &BTreeMap<&str, &RawValue>, to: &mut String) {
    write_object(members, DEPTH, to);
}

fn write_object(members: &BTreeMap<&str, &RawValue>, depth: usize, to: &mut String) {
    to.push('{');
    for (n, (name, value)) in members.iter().enumerate() {
        separate(n, to);
        push_text(name, to);
        to.push(':');
        write_at(value, depth, to);
    }
    to.push('}');
}

fn separate(n: usize, to: &mut String) {
    if n > 0 {
        to.push(',');
    }
}

fn push_text(text: &str, to: &mut String) {
    to.push_str(&serde_json::Value::from(text).to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(json: &str) -> String {
        let mut written = String::new();
        let value = RawValue::from_string(json.to_owned()).unwrap();
        write_at(&value, DEPTH, &mut written);
        written
    }

    /// A1
    #[test]
    fn what_means_the_same_is_written_the_same() {
        for (json, expected, why) in [
            (
                r#"{"b":1,"a":[true, null]}"#,
                r#"{"a":[true,null],"b":1}"#,
                "order and space",
            ),
            (r#"{"\u0061":"\u00e9\/"}"#, r#"{"a":"é/"}"#, "escapes"),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#, "the last counts"),
            ("1e2", "1e2", "numbers as they are"),
            (
                "123456789012345678901234567890.10",
                "123456789012345678901234567890.10",
                "however long",
            ),
            (r#""\ud83d""#, r#""\ud83d""#, "half a pair"),
        ] {
            assert_eq!(canonical(json), expected, "{why}");
        }
    }

    /// R9: a definition can be nested as deeply as a line is long.
    #[test]
    fn depth_costs_neither_stack_nor_time() {
        let deep = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(canonical(&deep(100)), deep(100));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

        #[test]
        fn writing_again_changes_nothing(value in proptest::prelude::any::<(String, i64, Vec<String>)>()) {
            let (name, number, texts) = value;
            let json = serde_json::json!({name: {"z": texts, "a": number}}).to_string();
            let once = canonical(&json);
            proptest::prop_assert_eq!(canonical(&once), once.clone());
            let read: serde_json::Value = serde_json::from_str(&once).unwrap();
            proptest::prop_assert_eq!(read, serde_json::from_str::<serde_json::Value>(&json).unwrap());
        }
    }
}
