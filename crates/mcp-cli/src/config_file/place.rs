//! Where something stands in the text of a configuration.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A line and a column, both counted from one, the column in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    line: usize,
    column: usize,
}

impl Place {
    /// The place right after some text.
    pub(super) fn after(text: &[u8]) -> Self {
        let line_start = text
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |end| end + 1);
        Self {
            line: text.iter().filter(|&&byte| byte == b'\n').count() + 1,
            column: text.len() - line_start + 1,
        }
    }

    /// Where a JSON error is, and what it says apart from that.
    pub(super) fn of_json_error(error: &serde_json::Error) -> (Self, String) {
        let place = Self {
            line: error.line(),
            column: error.column().max(1),
        };
        let text = error.to_string();
        let suffix = format!(" at line {} column {}", error.line(), error.column());
        let message = text.strip_suffix(&suffix).unwrap_or(&text).to_owned();
        (place, message)
    }
}

/// As editors and terminals know it: `:3:14`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}:{}", self.line, self.column)
    }
}

/// The parts of a configuration that mistakes are in, as far as they are there.
#[derive(Debug)]
pub(super) struct Outline<'a> {
    text: &'a str,
    servers: Option<&'a RawValue>,
    entries: BTreeMap<String, &'a RawValue>,
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow, default, rename = "mcpServers")]
    mcp_servers: Option<&'a RawValue>,
    #[serde(borrow, default)]
    servers: Option<&'a RawValue>,
}

impl<'a> Outline<'a> {
    /// Reads text of any shape.
    ///
    /// # Errors
    ///
    /// Only when it is not JSON.
    pub(super) fn read(text: &'a str) -> Result<Self, serde_json::Error> {
        // Editors on Windows write a byte order mark.
        let json = text.trim_start_matches('\u{feff}');
        serde_json::from_str::<&RawValue>(json)?;
        let servers = serde_json::from_str::<File<'_>>(json)
            .ok()
            .and_then(|file| file.mcp_servers.or(file.servers));
        let entries = servers.and_then(|servers| serde_json::from_str(servers.get()).ok());
        Ok(Self {
            text,
            servers,
            entries: entries.unwrap_or_default(),
        })
    }

    /// Where a member's value begins, or else the entry.
    pub(super) fn member_place(&self, server: &str, member: Option<&str>) -> Option<Place> {
        let entry = self.entries.get(server)?;
        let members: BTreeMap<String, &RawValue> =
            serde_json::from_str(entry.get()).unwrap_or_default();
        self.place(
            member
                .and_then(|member| members.get(member))
                .unwrap_or(entry),
        )
    }

    /// Where the object of all entries begins, or else the text.
    pub(super) fn whole_place(&self) -> Place {
        self.servers
            .and_then(|servers| self.place(servers))
            .unwrap_or(Place { line: 1, column: 1 })
    }

    /// Whether an entry says of itself that it is required, whatever else is wrong with it.
    pub(super) fn is_required(&self, server: &str) -> bool {
        #[derive(Deserialize)]
        struct Entry {
            #[serde(default)]
            required: bool,
        }
        let entry = self.entries.get(server);
        entry
            .and_then(|entry| serde_json::from_str::<Entry>(entry.get()).ok())
            .is_some_and(|entry| entry.required)
    }

    fn place(&self, part: &RawValue) -> Option<Place> {
        // The part is borrowed from the text.
        let offset = part
            .get()
            .as_ptr()
            .addr()
            .checked_sub(self.text.as_ptr().addr())?;
        Some(Place::after(self.text.as_bytes().get(..offset)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_counted_from_one() {
        let at = |line, column| Place { line, column };
        assert_eq!(Place::after(b""), at(1, 1));
        assert_eq!(Place::after(b"ab\ncd"), at(2, 3));
    }

    #[test]
    fn entries_and_members_are_found_where_they_stand() {
        let outline =
            Outline::read("{\"mcpServers\": {\n  \"a\": {},\n  \"b\": {\"required\": true}}}")
                .unwrap();
        let place = |server, member| {
            outline
                .member_place(server, member)
                .map(|place| place.to_string())
        };
        assert_eq!(place("a", None).as_deref(), Some(":2:8"));
        assert_eq!(place("b", Some("absent")).as_deref(), Some(":3:8"));
        assert_eq!(place("b", Some("required")).as_deref(), Some(":3:21"));
        assert_eq!(place("c", None), None);
        assert!(outline.is_required("b") && !outline.is_required("a"));
    }
}
