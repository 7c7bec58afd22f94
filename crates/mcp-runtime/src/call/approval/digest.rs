//! What of a tool's definition was approved.

use std::fmt;

use sha2::{Digest, Sha256};

use super::canonical;
use super::hash::Hash;
use crate::tool::Tool;

/// What a tool's definition amounts to: the SHA-256 of its name, title, description, schemas and annotations as canonical
/// JSON (A1). Two definitions have the same digest when they say the same, in whatever order; a changed word or schema is
/// another one. Numbers count as they are spelled.
///
/// It is the same on every machine, and shown as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefinitionDigest(Hash);

/// The members of a definition that a person approves. Others, such as `_meta` and icons, may change.
const APPROVED: &[&str] = &[
    "annotations",
    "description",
    "inputSchema",
    "name",
    "outputSchema",
    "title",
];

impl DefinitionDigest {
    pub(crate) fn of(tool: &Tool) -> Self {
        let text = canonical::object(tool.definition(), APPROVED);
        Self(Hash::of(Sha256::new_with_prefix(text)))
    }
}

impl fmt::Display for DefinitionDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for DefinitionDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DefinitionDigest({self})")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn digest(definition: &str) -> DefinitionDigest {
        let definition = RawValue::from_string(definition.to_owned()).unwrap();
        DefinitionDigest::of(&Tool::new("t".parse().unwrap(), definition))
    }

    const PLAIN: &str = r#"{"name":"t","title":"T","description":"d","inputSchema":{"type":"object","properties":{"a":{"maximum":10}}},"outputSchema":{},"annotations":{"readOnlyHint":true}}"#;

    /// A1
    #[test]
    fn the_same_definition_has_the_same_digest_however_it_is_written() {
        for (same, why) in [
            (
                r#"{ "annotations": {"readOnlyHint" :true}, "outputSchema":{ }, "inputSchema":{"properties":{"a":{"maximum":10}},"type":"object"},
                    "description":"d","title":"T","name":"t"}"#,
                "order and white space",
            ),
            (
                &PLAIN.replace("\"d\"", r#""\u0064""#),
                "an escape that was not needed",
            ),
            (
                &PLAIN.replacen('{', r#"{"_meta":{"n":1},"icons":[],"execution":{},"#, 1),
                "members that nobody approves",
            ),
        ] {
            assert_eq!(digest(same), digest(PLAIN), "{why}");
        }
    }

    /// A1: it is in files, and a new version has to read them.
    #[test]
    fn the_digest_is_the_same_on_every_machine_and_for_ever() {
        // printf '%s' '{"description":"d","name":"t"}' | sha256sum
        assert_eq!(
            digest(r#"{"name":"t","description":"d"}"#).to_string(),
            "b9f15ebfa8bc28bcffb5a46b5a868e0d86c2664f18a2661e6573f8172e1ec05f"
        );
    }

    /// A1
    #[test]
    fn whatever_a_person_approves_changes_it() {
        for (from, to) in [
            ("\"name\":\"t\"", "\"name\":\"u\""),
            ("\"title\":\"T\"", "\"title\":\"U\""),
            ("\"title\":\"T\",", ""),
            ("\"description\":\"d\"", "\"description\":\"D\""),
            ("\"description\":\"d\"", "\"description\":\"d \""),
            ("\"description\":\"d\"", "\"description\":null"),
            (
                "\"description\":\"d\"",
                "\"description\":\"x\",\"description\":\"d\"",
            ),
            ("10", "11"),
            ("10", "1e1"),
            ("\"a\":", "\"A\":"),
            (
                "\"outputSchema\":{}",
                "\"outputSchema\":{\"type\":\"object\"}",
            ),
            ("true", "false"),
        ] {
            let changed = PLAIN.replacen(from, to, 1);
            assert_ne!(changed, PLAIN);
            assert_ne!(digest(&changed), digest(PLAIN), "{from} is {to}");
        }
    }
}
