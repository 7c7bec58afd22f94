//! Finds the id of a message that cannot be decoded, while its bytes flow by.
//!
//! A reply that is cut short, not UTF-8 or longer than the limit still answers some request, and that request should
//! fail at once instead of waiting for its deadline (R7, R9). The scan looks at bytes only: it follows strings and
//! nesting, and reads the number (or the digits in a string) behind a top-level `"id"`. A message with a `"method"` is the
//! server's own, whatever id it gave it. The scan needs no memory but a few bytes, so it works on a message of any
//! length, in chunks.

/// The state of a scan; feed it the message in any chunks.
#[derive(Debug, Default)]
pub(crate) struct IdScan {
    depth: u32,
    at: At,
    name: Name,
    id: Option<u64>,
    /// The value of the id is over: what was read is final.
    settled: bool,
    kind: Option<Kind>,
}

/// What a message is, by the members that only one of the two has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Reply,
    /// A request or a notification.
    Call,
    /// No message at all.
    Noise,
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

/// The last top-level string, as far as it can be the name of a member that matters.
#[derive(Debug, Default, Clone, Copy)]
struct Name {
    bytes: [u8; LONGEST_NAME],
    /// Larger than `bytes` when it does not fit.
    length: usize,
}

const LONGEST_NAME: usize = "method".len();

impl Name {
    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
        }
        self.length = self.length.saturating_add(1);
    }

    fn get(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

impl IdScan {
    /// Looks at the next bytes of the message.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.settled && self.kind.is_some() {
                return;
            }
            self.step(byte);
        }
    }

    /// The id, if the message may be a reply and its id is a number we could have given out.
    ///
    /// Only once its end was seen: the digits of an id that is cut short belong to somebody else.
    pub(crate) fn id(&self) -> Option<u64> {
        self.id.filter(|_| self.settled && !self.is_call())
    }

    /// Whether the message is a request or a notification, and so answers nobody.
    pub(crate) fn is_call(&self) -> bool {
        self.kind == Some(Kind::Call)
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
                self.name = Name::default();
            }
            _ if self.depth == 0 && byte != b'{' => {
                if !byte.is_ascii_whitespace() {
                    self.noise();
                }
            }
            b':' => self.member(),
            b'{' | b'[' => self.depth = self.depth.saturating_add(1),
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ if byte.is_ascii_whitespace() => {}
            _ => self.name = Name::default(),
        }
    }

    /// Nothing that begins like this, or goes on behind its end, is a message.
    fn noise(&mut self) {
        self.settled = true;
        self.kind = self.kind.or(Some(Kind::Noise));
    }

    /// A name has ended and its value begins.
    fn member(&mut self) {
        let name = std::mem::take(&mut self.name);
        if self.depth != 1 {
            return;
        }
        match name.get() {
            b"id" if !self.settled => self.at = At::Value { quoted: false },
            b"method" => self.kind = Some(Kind::Call),
            b"result" | b"error" => self.kind = self.kind.or(Some(Kind::Reply)),
            _ => {}
        }
    }

    fn text(&mut self, byte: u8, escaped: bool) {
        self.at = match byte {
            b'"' if !escaped => At::Gap,
            b'\\' => At::Text { escaped: !escaped },
            _ => At::Text { escaped: false },
        };
        if self.depth == 1 && self.at != At::Gap {
            self.name.push(byte);
        }
    }

    fn value(&mut self, byte: u8, quoted: bool) {
        match byte {
            b'0'..=b'9' => {
                let digit = u64::from(byte - b'0');
                let id = self.id.unwrap_or(0).checked_mul(10);
                self.id = id.and_then(|id| id.checked_add(digit));
                if self.id.is_none() {
                    self.settle(quoted, byte);
                }
            }
            b'"' if self.id.is_none() && !quoted => self.at = At::Value { quoted: true },
            b'"' if quoted => self.settle(false, byte),
            _ if byte.is_ascii_whitespace() && self.id.is_none() && !quoted => {}
            _ if !quoted && (byte.is_ascii_whitespace() || matches!(byte, b',' | b'}')) => {
                self.settle(false, byte);
                self.gap(byte);
            }
            // A sign, a fraction, letters: not an id of ours.
            _ => {
                self.id = None;
                self.settle(quoted, byte);
                if !quoted {
                    self.gap(byte);
                }
            }
        }
    }

    /// At this byte the id is known, or known to be none of ours; `quoted` while the string around it goes on.
    fn settle(&mut self, quoted: bool, byte: u8) {
        self.settled = true;
        self.at = if quoted {
            let escaped = byte == b'\\';
            At::Text { escaped }
        } else {
            At::Gap
        };
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
            ("{\n  \"id\": 4\n}", Some(4), "over several lines"),
            ("{\"id\"\r\n:\t4\r\n,", Some(4), "white space of all kinds"),
            (
                r#"{"id":4,"method":"ping","params":NaN}"#,
                None,
                "a request of the server's own",
            ),
            (r#"{"method":"ping","id":4}"#, None, "whichever comes first"),
            (
                r#"{"id":4,"result":{"method":"x"}}"#,
                Some(4),
                "a method of somebody else's",
            ),
            (
                r#"{"id":4,"result":{},"method":"x"}"#,
                Some(4),
                "what comes first decides, and what follows is not looked at",
            ),
            (r#"{"id":"4\"","result":1}"#, None, "an escape is no digit"),
            (
                r#"{"methods":1,"id":4}"#,
                Some(4),
                "a longer name is another",
            ),
            (
                r#"{"id":"x","id":4,"result":1}"#,
                None,
                "the first id counts",
            ),
            ("plain text", None, "noise"),
            (r#"log: {"id":4}"#, None, "noise with a message in it"),
            (
                r#"{"id":4} trailing"#,
                Some(4),
                "a message with noise behind it",
            ),
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
