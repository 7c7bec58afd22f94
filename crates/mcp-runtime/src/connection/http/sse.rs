//! Cuts an event stream into messages, by the book: <https://html.spec.whatwg.org/multipage/server-sent-events.html>.
//!
//! The buffer is pure: bytes go in as they arrive, messages come out. Comments, fields that nobody knows and events
//! of another type than `message` are skipped. An event over the limit is not kept: its length is counted, and the id
//! of the message in it is looked for while it flows by.

use std::time::Duration;

use memchr::memchr2;

use crate::connection::id_scan::IdScan;

/// What is kept of a buffer between lines.
const LARGEST_IDLE: usize = 1024 * 1024;
/// Room for what stands before the value of a line, so that what is too long is known by its name.
const NAME: usize = 16;
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// The longest pause a server may ask for; beyond it, nobody waits.
const LONGEST_RETRY: Duration = Duration::from_secs(300);
/// The longest event id kept. It goes back into a header.
const LONGEST_ID: usize = 8 * 1024;

/// What an event carries.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event<'a> {
    /// The data of an event of type `message`.
    Message(&'a [u8]),
    /// More data than the limit. It is gone; `id` is what could be read of the message's own id, and `is_call` whether it
    /// answers nobody.
    TooLong {
        length: usize,
        id: Option<u64>,
        is_call: bool,
    },
}

/// An event stream, as far as it has arrived.
#[derive(Debug)]
pub(crate) struct EventBuffer {
    limit: usize,
    /// The line that has begun.
    line: Vec<u8>,
    /// Nothing has been read yet, so a byte order mark may come.
    fresh: bool,
    /// The last line ended with a carriage return; a line feed right behind it belongs to that end.
    after_return: bool,
    /// The line that has begun is too long to be kept; of data, the id is still looked for.
    skipping: bool,
    skipping_data: bool,
    event: Pending,
    last_event_id: Option<String>,
    retry: Option<Duration>,
}

/// The event that has begun.
#[derive(Debug, Default)]
struct Pending {
    /// It is of another type than `message`.
    is_other: bool,
    data: Vec<u8>,
    has_data: bool,
    id: Option<String>,
    flood: Option<Flood>,
}

/// Data that has outgrown the limit.
#[derive(Debug, Default)]
struct Flood {
    length: usize,
    scan: IdScan,
}

impl EventBuffer {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            fresh: true,
            after_return: false,
            skipping: false,
            skipping_data: false,
            event: Pending::default(),
            last_event_id: None,
            retry: None,
        }
    }

    /// Where to go on when the stream breaks.
    pub(crate) fn last_event_id(&self) -> Option<&str> {
        self.last_event_id.as_deref()
    }

    /// How long the server wants to be left alone before that.
    pub(crate) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// The stream goes on in a new body: what had begun is gone, what was said of resuming stays.
    pub(crate) fn reopen(&mut self) {
        let last_event_id = self.last_event_id.take();
        *self = Self {
            last_event_id,
            retry: self.retry,
            ..Self::new(self.limit)
        };
    }

    /// Bytes of memory held.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        let ids = [&self.event.id, &self.last_event_id];
        let ids = ids.into_iter().flatten().map(String::capacity);
        self.line.capacity() + self.event.data.capacity() + ids.sum::<usize>()
    }

    /// Takes bytes in; each event that they complete is handed to `each`.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(Event<'_>)) {
        while let Some(end) = memchr2(b'\r', b'\n', bytes) {
            let (head, ending, rest) = (&bytes[..end], bytes[end], &bytes[end + 1..]);
            bytes = rest;
            let second_half = std::mem::take(&mut self.after_return);
            if second_half && ending == b'\n' && head.is_empty() {
                continue;
            }
            self.after_return = ending == b'\r';
            self.keep(head);
            self.end_line(&mut each);
        }
        if !bytes.is_empty() {
            self.after_return = false;
            self.keep(bytes);
        }
    }

    /// The stream has ended, perhaps in the middle of an event: what there is of it.
    pub(super) fn finish(&mut self, mut each: impl FnMut(Event<'_>)) {
        if !self.line.is_empty() || self.skipping {
            self.end_line(&mut each);
        }
        let place = self.last_event_id.clone();
        self.dispatch(&mut each);
        self.last_event_id = place;
    }

    /// Keeps a piece of a line, unless there is too much of it already.
    fn keep(&mut self, piece: &[u8]) {
        if self.line.len() + piece.len() <= self.limit + NAME && !self.skipping {
            self.line.extend_from_slice(piece);
            return;
        }
        if self.skipping {
            if self.skipping_data {
                self.event.overflow(piece);
            }
            return;
        }
        self.line.extend_from_slice(piece);
        self.skipping = true;
        // Freed, not just emptied: the next line may be a short one.
        let begun = std::mem::take(&mut self.line);
        let (name, value) = field(self.text(&begun));
        self.skipping_data = name == b"data";
        self.event.is_other |= name == b"event";
        if self.skipping_data {
            self.event.overflow(value);
        }
    }

    /// A line without the mark that may stand before the first one.
    fn text<'a>(&mut self, line: &'a [u8]) -> &'a [u8] {
        if std::mem::take(&mut self.fresh) {
            line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
        } else {
            line
        }
    }

    fn end_line(&mut self, each: &mut impl FnMut(Event<'_>)) {
        if std::mem::take(&mut self.skipping) {
            return;
        }
        let mut line = std::mem::take(&mut self.line);
        let text = self.text(&line);
        if text.is_empty() {
            self.dispatch(each);
        } else {
            self.field(text);
        }
        line.clear();
        line.shrink_to(LARGEST_IDLE);
        self.line = line;
    }

    fn field(&mut self, line: &[u8]) {
        let event = &mut self.event;
        match field(line) {
            (b"data", value) => {
                if event.flood.is_some() || event.data.len() + value.len() >= self.limit {
                    event.overflow(value);
                    return;
                }
                if event.has_data {
                    event.data.push(b'\n');
                }
                event.has_data = true;
                event.data.extend_from_slice(value);
            }
            (b"event", value) => event.is_other = !matches!(value, b"" | b"message"),
            (b"id", value) if value.len() <= LONGEST_ID && !value.contains(&0) => {
                event.id = String::from_utf8(value.to_vec()).ok();
            }
            (b"retry", value) => {
                let digits = std::str::from_utf8(value).ok();
                let digits = digits.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
                if let Some(millis) = digits.and_then(|text| text.parse().ok()) {
                    self.retry = Some(Duration::from_millis(millis).min(LONGEST_RETRY));
                }
            }
            _ => {}
        }
    }

    fn dispatch(&mut self, each: &mut impl FnMut(Event<'_>)) {
        let event = std::mem::take(&mut self.event);
        // An event without data is none, but its id counts: that is how a stream says where it can be resumed.
        if let Some(id) = event.id {
            self.last_event_id = Some(id);
        }
        if event.is_other {
            return;
        }
        if let Some(flood) = event.flood {
            each(Event::TooLong {
                length: flood.length,
                id: flood.scan.id(),
                is_call: flood.scan.is_call(),
            });
        } else if !event.data.is_empty() {
            each(Event::Message(&event.data));
        }
    }
}

impl Pending {
    /// Forgets the data, and goes on counting it.
    fn overflow(&mut self, more: &[u8]) {
        let kept = std::mem::take(&mut self.data);
        let flood = self.flood.get_or_insert_default();
        for data in [kept.as_slice(), more] {
            flood.length += data.len();
            flood.scan.feed(data);
        }
    }
}

/// The name and the value of a line. A comment has no name; a line without a colon is all name.
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b':', line) {
        Some(colon) => {
            let value = &line[colon + 1..];
            (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
        }
        None => (line, b""),
    }
}

#[cfg(test)]
mod tests;
