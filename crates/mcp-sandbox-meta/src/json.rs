//! JSON values as they compare: members in any order, numbers as they are spelled.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::members;

/// As deep as `serde_json` reads into a value, hence as deep as the launcher would.
const DEEPEST: usize = 128;

/// A value that everybody reads alike.
///
/// Numbers keep their spelling: whether `1`, `1.0` and `1e0` are the same depends on the reader.
#[derive(PartialEq, Eq)]
pub(crate) enum Json<'a> {
    /// A number, `true`, `false` or `null`.
    Literal(&'a str),
    /// Decoded; bytes, because text may hold half a surrogate pair.
    Text(Vec<u8>),
    List(Vec<Json<'a>>),
    Object(BTreeMap<Vec<u8>, Json<'a>>),
}

/// A value that two readers may understand differently: it repeats a name in an object, or nests too deep.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AmbiguousJson;

impl<'a> Json<'a> {
    pub(crate) fn read(value: &'a RawValue) -> Result<Self, AmbiguousJson> {
        Self::read_within(value, DEEPEST)
    }

    fn read_within(value: &'a RawValue, levels: usize) -> Result<Self, AmbiguousJson> {
        let text = value.get();
        match text.as_bytes().first() {
            Some(b'{' | b'[') if levels == 0 => Err(AmbiguousJson),
            Some(b'{') => {
                let mut object = BTreeMap::new();
                for member in members::read(text).map_err(|_syntax| AmbiguousJson)? {
                    let read = Self::read_within(member.value, levels - 1)?;
                    if object.insert(member.name, read).is_some() {
                        return Err(AmbiguousJson);
                    }
                }
                Ok(Self::Object(object))
            }
            Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(text)
                .map_err(|_syntax| AmbiguousJson)?
                .into_iter()
                .map(|item| Self::read_within(item, levels - 1))
                .collect::<Result<_, _>>()
                .map(Self::List),
            Some(b'"') => members::decode(value)
                .map(Self::Text)
                .map_err(|_syntax| AmbiguousJson),
            _ => Ok(Self::Literal(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> &RawValue {
        serde_json::from_str(json).unwrap()
    }

    #[track_caller]
    fn check(one: &str, other: &str, same: bool, why: &str) {
        let (one, other) = (raw(one), raw(other));
        assert!(
            (Json::read(one) == Json::read(other)) == same,
            "{why}: {one} and {other}"
        );
    }

    #[test]
    fn spelling_does_not_count_but_for_numbers() {
        let object = r#"{"a":[1,{"b":null}],"c":"é"}"#;
        let other = r#"{ "c" : "\u00e9", "\u0061": [ 1, {"b":null} ] }"#;
        check(object, other, true, "order, space and escapes");
        check("[1,2]", "[2,1]", false, "a list has an order");
        check("\"1\"", "1", false, "kinds differ");
        check("{}", "[]", false, "kinds differ");
        check(r#"{"a":null}"#, "{}", false, "null is not nothing");
        check("1", "1.0", false, "readers differ about numbers");
        check(
            "9007199254740993",
            "9007199254740992",
            false,
            "equal as doubles only",
        );
        check(
            r#""\ud800""#,
            r#""\uD800""#,
            true,
            "half a surrogate pair is text",
        );
    }

    #[test]
    fn what_readers_may_understand_differently_is_refused() {
        for json in [r#"{"a":1,"a":1}"#, r#"[{"x":{"a":1,"\u0061":2}}]"#] {
            assert!(Json::read(raw(json)) == Err(AmbiguousJson), "{json}");
        }
        for (levels, fine) in [(DEEPEST, true), (DEEPEST + 1, false), (1_000, false)] {
            let nested = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
            // Not through the parser of values, which has a limit of its own.
            let nested = RawValue::from_string(nested).unwrap();
            assert_eq!(Json::read(&nested).is_ok(), fine, "{levels}");
        }
    }
}
