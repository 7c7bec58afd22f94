//! Finds the id of a JSON-RPC message that cannot be decoded.
//!
//! A reply that is too long, cut short or broken somewhere still belongs to one request, and that request should
//! fail at once instead of waiting for its deadline (R7, R9). The scan looks at bytes only: it follows strings and
//! nesting, and reads the number (or the digits in a string) behind a top-level `"id"`. It needs no memory but a few
//! bytes, so it works on a line of any length, in chunks.

/// The state of a scan; feed it the message in any chunks.
#[derive(Debug, Default)]
pub(crate) struct IdScan {
    depth: u32,
    at: At,
    key: Key,
    id: Option<u64>,
    /// The value is over: what was read is final.
    settled: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum At {
    /// Between tokens.
    #[default]
    Gap,
    /// In a string; `escaped` after a backslash.
    Text { escaped: bool },
    /// Behind `"id":`, at or in the value.
    Value { quoted: bool },
}

/// How much of a top-level `"id"` has been seen.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Key {
    #[default]
    No,
    Open,
    I,
    Id,
    Closed,
}

impl IdScan {
    /// Looks at the next bytes of the message.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.settled {
                return;
            }
            self.step(byte);
        }
    }

    /// The id, if one was found and is a number we could have given out.
    ///
    /// Only once its end was seen: the digits of an id that is cut short belong to somebody else.
    pub(crate) fn id(&self) -> Option<u64> {
        self.id.filter(|_| self.settled)
    }

    fn step(&mut self, byte: u8) {
        match self.at {
            At::Gap => self.gap(byte),
            At::Text { escaped } => self.text(byte, escaped),
            At::Value { quoted } => self.value(byte, quoted),
        }
    }

    fn gap(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.at = At::Text { escaped: false };
                self.key = if self.depth == 1 { Key::Open } else { Key::No };
            }
            b':' if self.key == Key::Closed => {
                self.at = At::Value { quoted: false };
                self.key = Key::No;
            }
            b'{' | b'[' => self.depth = self.depth.saturating_add(1),
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => self.key = Key::No,
        }
    }

    fn text(&mut self, byte: u8, escaped: bool) {
        self.at = match byte {
            b'"' if !escaped => At::Gap,
            b'\\' => At::Text { escaped: !escaped },
            _ => At::Text { escaped: false },
        };
        self.key = match (self.key, byte) {
            (Key::Open, b'i') => Key::I,
            (Key::I, b'd') => Key::Id,
            (Key::Id, b'"') => Key::Closed,
            _ => Key::No,
        };
    }

    fn value(&mut self, byte: u8, quoted: bool) {
        match byte {
            b'0'..=b'9' => {
                let digit = u64::from(byte - b'0');
                self.id = self
                    .id
                    .unwrap_or(0)
                    .checked_mul(10)
                    .and_then(|id| id.checked_add(digit));
                self.settled = self.id.is_none();
            }
            b' ' | b'\t' | b'\r' | b'\n' if self.id.is_none() && !quoted => {}
            b'"' if self.id.is_none() && !quoted => self.at = At::Value { quoted: true },
            b',' | b'}' | b' ' | b'\t' | b'\r' | b'\n' if !quoted => self.settled = true,
            b'"' if quoted => self.settled = true,
            // A sign, a fraction, letters: not an id of ours.
            _ => {
                self.id = None;
                self.settled = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_level_id_is_found_and_no_other() {
        let rows: &[(&str, Option<u64>, &str)] = &[
            (r#"{"id":12,"result":"#, Some(12), "before the result"),
            (
                r#"{"result":{"id":3,"a":["]"]},"id" : 12}"#,
                Some(12),
                "after the result, with blanks",
            ),
            (
                "{\n  \"result\": {},\n  \"id\"\r\n:\r\n12\n}",
                Some(12),
                "over several lines, as an event may be",
            ),
            (r#"{"id":"12","result":{}}"#, Some(12), "digits in a string"),
            (
                r#"{"result":"\"id\":3","id":4}"#,
                Some(4),
                "an id inside a string is text",
            ),
            (r#"{"x":"id","id":4}"#, Some(4), "id as a value is no key"),
            (r#"{"id":NaN,"result":1}"#, None, "no number"),
            (r#"{"id":1.5}"#, None, "a fraction is none of ours"),
            (r#"{"id":-1}"#, None, "a sign is none of ours"),
            (r#"{"id":null}"#, None, "null answers nobody"),
            (
                r#"{"id":99999999999999999999999}"#,
                None,
                "beyond what we count",
            ),
            (r#"[{"id":4}]"#, None, "a batch is no message"),
            (r#"{"id":12"#, None, "cut short"),
            ("plain text", None, "noise"),
        ];
        for (text, expected, reason) in rows {
            let mut whole = IdScan::default();
            whole.feed(text.as_bytes());
            assert_eq!(whole.id(), *expected, "{reason}: {text}");
            let mut bytewise = IdScan::default();
            for byte in text.as_bytes() {
                bytewise.feed(&[*byte]);
            }
            assert_eq!(bytewise.id(), *expected, "bytewise, {reason}: {text}");
        }
    }
}
