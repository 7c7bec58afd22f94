//! What holds for the output of a process, whatever it writes.

use futures_util::FutureExt;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::inbound::{Effects, Inbound};
use super::input::Input;
use crate::connection::codec::{self, Inbound as Message, Reply};
use crate::connection::id_scan::IdScan;
use crate::connection::line::{CHUNK, Line, LineBuffer};

/// A line, kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Told {
    Whole(Vec<u8>),
    TooLong { length: usize, id: Option<u64> },
}

pub(super) fn check(input: &Input) {
    let (lines, effects) = read(input.limit, input.chunks());
    let whole = read(input.limit, [input.bytes.as_slice()]);
    assert_eq!(
        (&lines, &effects),
        (&whole.0, &whole.1),
        "chunks change nothing"
    );
    assert_eq!(
        lines,
        split(&input.bytes, input.limit),
        "lines end at line feeds"
    );
    for line in &lines {
        if let Told::Whole(line) = line {
            assert!(line.len() <= input.limit, "a line over the limit is kept");
            check_envelope(line);
        }
    }
}

/// Reads as the reader of a process does.
pub(super) fn read<'a>(
    limit: usize,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Told>, Effects) {
    let (mut buffer, mut inbound) = (LineBuffer::new(limit), Inbound::new());
    let mut lines = Vec::new();
    let mut take = |line: Line<'_>| match line {
        Line::Whole(bytes) => {
            inbound.message(bytes, None);
            lines.push(Told::Whole(bytes.to_vec()));
        }
        Line::TooLong { length, id } => {
            inbound.too_long(length, id);
            lines.push(Told::TooLong { length, id });
        }
    };
    for mut chunk in chunks {
        while !chunk.is_empty() {
            let filled = buffer.fill(&mut chunk).now_or_never();
            filled
                .expect("there is something to read")
                .expect("memory is read");
            while let Some(line) = buffer.next_line() {
                take(line);
            }
            // A vector doubles.
            assert!(
                buffer.kept() <= 2 * (limit + CHUNK),
                "{} bytes are kept",
                buffer.kept()
            );
        }
    }
    if let Some(line) = buffer.finish_stream() {
        take(line);
    }
    (lines, inbound.effects())
}

/// The same in plain words.
fn split(bytes: &[u8], limit: usize) -> Vec<Told> {
    let mut lines: Vec<_> = bytes.split(|byte| *byte == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    let told = |line: &[u8]| {
        if line.len() > limit {
            let (length, id) = (line.len(), scanned(line));
            return Told::TooLong { length, id };
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Told::Whole(line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).to_vec())
    };
    lines.into_iter().map(told).collect()
}

fn scanned(line: &[u8]) -> Option<u64> {
    let mut scan = IdScan::default();
    scan.feed(line);
    scan.id()
}

/// What is read of a line is what serde reads of it, and a result is a piece of the line (W1).
fn check_envelope(line: &[u8]) {
    let message = codec::decode(line);
    if let Ok(Message::Reply {
        reply: Reply::Result(result),
        ..
    }) = &message
    {
        let line = line.as_ptr_range();
        assert!(line.contains(&result.get().as_ptr()), "a result is copied");
    }
    let (scanned, Some(id)) = (scanned(line), id_by_serde(line)) else {
        return;
    };
    match message {
        Ok(Message::Reply { id: read, .. }) => assert_eq!(Some(read), id),
        Ok(Message::Stray(_)) => assert_eq!(id, None),
        Ok(Message::Call { .. }) | Err(_) => {}
    }
    // The scan reads no escapes: with them it may miss an id, and never takes another for it.
    let disguised = memchr::memmem::find(line, b"\\u").is_some();
    assert!(
        scanned == id || (disguised && scanned.is_none()),
        "{scanned:?} is not {id:?}"
    );
}

/// The id of an object as serde reads it; `None` when the line is no JSON object, has two ids, is no reply, or has a
/// fraction for an id, which is more than the scan reads.
fn id_by_serde(line: &[u8]) -> Option<Option<u64>> {
    #[derive(Deserialize)]
    struct WithId<'a> {
        #[serde(borrow, default)]
        id: Option<&'a RawValue>,
        #[serde(default, deserialize_with = "present")]
        method: bool,
    }
    if !line.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let WithId {
        id,
        method: is_call,
    } = serde_json::from_slice(line).ok()?;
    let has_fraction = |id: &&RawValue| id.get().contains('.');
    if is_call || id.as_ref().is_some_and(has_fraction) {
        return None;
    }
    let number = |id: &RawValue| {
        let text = id.get();
        let quoted = text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        let digits = quoted.unwrap_or(text);
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().ok()).flatten()
    };
    Some(id.and_then(number))
}

/// Whether a member is there, whatever it is.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}
