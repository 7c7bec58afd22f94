//! What holds for an event stream, whatever the endpoint writes.

use super::inbound::{Effects, Inbound};
use super::input::Input;
use super::lines::Told;
use crate::connection::http::{Event, EventBuffer};

/// The request whose stream it is.
const OWN: Option<u64> = Some(1);
/// What is kept beside the line and the data that have begun: two event ids, and what a vector allocates at least.
const REST: usize = 20 * 1024;

/// Everything that comes of a stream.
#[derive(Debug, PartialEq)]
pub(super) struct Heard {
    pub(super) events: Vec<Told>,
    effects: Effects,
    resume: Option<String>,
    retry: Option<std::time::Duration>,
}

pub(super) fn check(input: &Input) {
    let heard = read(input.limit, input.chunks());
    let whole = read(input.limit, [input.bytes.as_slice()]);
    assert_eq!(heard, whole, "chunks change nothing");
    let book = by_the_book(&input.bytes);
    assert_eq!(
        heard.events.len(),
        book.len(),
        "as many events as the book has"
    );
    for (event, data) in heard.events.iter().zip(&book) {
        match event {
            Told::Whole(message) => {
                assert_eq!(message, data, "an event is what the book says");
                assert!(
                    message.len() <= input.limit,
                    "an event over the limit is kept"
                );
            }
            Told::TooLong { .. } => assert!(data.len() >= input.limit, "it is not too long"),
        }
    }
}

/// Reads as the reader of a stream does.
pub(super) fn read<'a>(limit: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Heard {
    let (mut buffer, mut inbound) = (EventBuffer::new(limit), Inbound::new());
    let mut events = Vec::new();
    for chunk in chunks {
        buffer.feed(chunk, |event| match event {
            Event::Message(message) => {
                inbound.message(message, OWN);
                events.push(Told::Whole(message.to_vec()));
            }
            Event::TooLong { length, id, .. } => {
                inbound.too_long(length, id.or(OWN));
                events.push(Told::TooLong { length, id });
            }
        });
        // A vector doubles, and there are two.
        assert!(
            buffer.kept() <= 4 * limit + REST,
            "{} bytes are kept",
            buffer.kept()
        );
    }
    Heard {
        events,
        effects: inbound.effects(),
        resume: buffer.last_event_id().map(ToOwned::to_owned),
        retry: buffer.retry(),
    }
}

/// The data of each message in a stream, read at once and without a limit:
/// <https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation>
fn by_the_book(bytes: &[u8]) -> Vec<Vec<u8>> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut rest = bytes;
    let (mut events, mut data, mut is_message) = (Vec::new(), Vec::new(), true);
    while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
        let line = &rest[..end];
        rest = match &rest[end..] {
            [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
            [] => &[],
        };
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"" if colon.is_none() => {
                let mut event: Vec<u8> = std::mem::take(&mut data);
                event.pop();
                if std::mem::replace(&mut is_message, true) && !event.is_empty() {
                    events.push(event);
                }
            }
            b"data" => data.extend(value.iter().chain(b"\n")),
            b"event" => is_message = matches!(value, b"" | b"message"),
            _ => {}
        }
    }
    events
}
