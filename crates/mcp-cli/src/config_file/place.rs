//! Where something stands in the text of a configuration.

use std::collections::BTreeMap;
use std::fmt;

use mcp_runtime::{ConfigError, ConfigErrorKind, ErrorChain};
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

    /// The place in a text of what is at `inner` in a part of it that begins here.
    fn then(self, inner: Self) -> Self {
        if inner.line > 1 {
            return Self {
                line: self.line + inner.line - 1,
                ..inner
            };
        }
        Self {
            line: self.line,
            column: self.column + inner.column - 1,
        }
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

    /// Where an entry's value begins.
    pub(super) fn entry_place(&self, server: &str) -> Option<Place> {
        self.place(self.entries.get(server)?)
    }

    /// Where in an entry a mistake is, and what it is.
    pub(super) fn locate_in_entry(
        &self,
        server: &str,
        error: &serde_json::Error,
    ) -> (Option<Place>, String) {
        let (inner, why) = Place::of_json_error(error);
        let place = self.entry_place(server).map(|entry| entry.then(inner));
        (place, why)
    }

    /// Where a mistake of the whole configuration is, and what it is. Its text is JSON, of another shape.
    pub(super) fn locate_whole(&self, error: &ConfigError) -> (Option<Place>, String) {
        match (error.kind(), self.servers) {
            (ConfigErrorKind::Json(error), Some(servers)) => {
                let (inner, why) = Place::of_json_error(error);
                (self.place(servers).map(|servers| servers.then(inner)), why)
            }
            (ConfigErrorKind::Json(error), None) => {
                let (place, why) = Place::of_json_error(error);
                (Some(place), why)
            }
            (kind, _) => (None, ErrorChain(kind).to_string()),
        }
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
    fn places_add_up() {
        let at = |line, column| Place { line, column };
        assert_eq!(Place::after(b""), at(1, 1));
        assert_eq!(Place::after(b"ab\ncd"), at(2, 3));
        assert_eq!(at(3, 10).then(at(1, 4)), at(3, 13));
        assert_eq!(at(3, 10).then(at(2, 4)), at(4, 4));
    }

    #[test]
    fn an_entry_is_found_where_it_stands() {
        let outline =
            Outline::read("{\"mcpServers\": {\n  \"a\": {},\n  \"b\": {\"required\": true}}}")
                .unwrap();
        assert_eq!(outline.entry_place("a").unwrap().to_string(), ":2:8");
        assert_eq!(outline.entry_place("b").unwrap().to_string(), ":3:8");
        assert!(outline.entry_place("c").is_none());
        assert!(outline.is_required("b") && !outline.is_required("a"));
    }
}
