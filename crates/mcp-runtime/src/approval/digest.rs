//! What a person has seen of a tool.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::str::FromStr;

use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::canonical;
use crate::object::Object;

/// The digest of what a tool's definition means to whoever approves it: its name, title, description, schemas and
/// annotations as canonical JSON (A1). It is the same on every machine and in every run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefinitionDigest([u8; 32]);

/// The members that count.
const MEMBERS: [&str; 6] = [
    "name",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
];

impl DefinitionDigest {
    pub(crate) fn of(definition: &RawValue) -> Self {
        let object = Object::of(definition);
        let members: BTreeMap<&str, &RawValue> = MEMBERS
            .into_iter()
            .filter_map(|name| Some((name, object.get(name)?)))
            .collect();
        let mut text = String::with_capacity(definition.get().len());
        canonical::write_members(&members, &mut text);
        Self(Sha256::digest(text).into())
    }
}

/// A digest is 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a digest is 64 hexadecimal digits in lower case")]
pub struct InvalidDigest;

macro_rules! hexadecimal {
    ($digest:ident) => {
        impl fmt::Display for $digest {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                super::digest::write_hexadecimal(&self.0, f)
            }
        }

        impl fmt::Debug for $digest {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $digest {
            type Err = super::digest::InvalidDigest;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                super::digest::read_hexadecimal(text).map(Self)
            }
        }

        impl serde::Serialize for $digest {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $digest {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(super) use hexadecimal;

hexadecimal!(DefinitionDigest);

pub(super) fn write_hexadecimal(digest: &[u8; 32], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = String::with_capacity(64);
    for byte in digest {
        write!(text, "{byte:02x}")?;
    }
    f.write_str(&text)
}

pub(super) fn read_hexadecimal(text: &str) -> Result<[u8; 32], InvalidDigest> {
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(InvalidDigest),
    };
    let mut digest = [0; 32];
    if text.len() != 64 {
        return Err(InvalidDigest);
    }
    for (byte, pair) in digest.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Ok(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(definition: &str) -> DefinitionDigest {
        DefinitionDigest::of(&RawValue::from_string(definition.to_owned()).unwrap())
    }

    /// A1
    #[test]
    fn what_a_person_saw_is_what_counts() {
        let seen = digest(r#"{"name":"t","description":"d","inputSchema":{"a":1,"b":2}}"#);
        for (definition, same, why) in [
            (
                r#"{"inputSchema":{"b":2, "a":1},"description":"\u0064","name":"t"}"#,
                true,
                "spelled otherwise",
            ),
            (
                r#"{"name":"t","description":"d","inputSchema":{"a":1,"b":2},"title":null}"#,
                true,
                "null is absent",
            ),
            (
                r#"{"name":"t","description":"d","inputSchema":{"a":1,"b":2},"_meta":{"x":1}}"#,
                true,
                "not seen",
            ),
            (
                r#"{"name":"t","description":"D","inputSchema":{"a":1,"b":2}}"#,
                false,
                "another description",
            ),
            (
                r#"{"name":"t","description":"d","inputSchema":{"a":1,"b":3}}"#,
                false,
                "another schema",
            ),
            (
                r#"{"name":"t","description":"d","inputSchema":{"a":1,"b":2},"outputSchema":{}}"#,
                false,
                "one schema more",
            ),
            (
                r#"{"name":"t","description":"d","inputSchema":{"a":1,"b":2},"annotations":{"readOnlyHint":true}}"#,
                false,
                "other annotations",
            ),
            (
                r#"{"name":"u","description":"d","inputSchema":{"a":1,"b":2}}"#,
                false,
                "another name",
            ),
        ] {
            assert_eq!(digest(definition) == seen, same, "{why}");
        }
    }

    /// A1: persisted approvals are read by later versions.
    #[test]
    fn a_digest_is_the_same_for_ever() {
        let digest = digest(
            r#"{"name":"search","description":"Looks it up","inputSchema":{"type":"object"}}"#,
        );
        let text = digest.to_string();
        insta::assert_snapshot!(text, @"3c4595bf24245bd292c2aca11bb76d93f79af13ea29f7e7b9bb3f3d97f6b30cf");
        assert_eq!(text.parse(), Ok(digest));
        for wrong in [
            "",
            "0",
            &text[1..],
            &text.to_uppercase(),
            &format!("{text}0"),
        ] {
            assert_eq!(
                wrong.parse::<DefinitionDigest>(),
                Err(InvalidDigest),
                "{wrong}"
            );
        }
    }
}
