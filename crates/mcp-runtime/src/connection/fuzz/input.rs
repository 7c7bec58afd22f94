//! One input: what a server writes, how it arrives, and how much of it is taken.

use std::fmt;

use mcp_testkit::Random;

use super::corpus::{FIELDS, MESSAGES};
use super::mutation;

/// Messages that begin an input.
const MESSAGES_AT_ONCE: usize = 4;
/// Limits are small, so that small inputs are over them.
const LIMITS: &[usize] = &[1, 7, 40, 150, 400, 2_000, 100_000];

/// Bytes, the chunks they arrive in, and the limit of a message.
pub(super) struct Input {
    pub(super) bytes: Vec<u8>,
    pub(super) limit: usize,
    /// Where chunks end, in order.
    cuts: Vec<usize>,
}

impl Input {
    /// The input with this number.
    pub(super) fn of(number: u64) -> Self {
        let random = &mut Random::new(number);
        let mut bytes = Vec::new();
        let as_events = random.one_in(2);
        for _ in 0..=random.below(MESSAGES_AT_ONCE) {
            let message = random.pick(MESSAGES);
            if as_events {
                event(random, message, &mut bytes);
            } else {
                line(random, message, &mut bytes);
            }
        }
        mutation::spoil(random, &mut bytes);
        Self {
            limit: random.pick(LIMITS),
            cuts: cuts(random, bytes.len()),
            bytes,
        }
    }

    /// The bytes in the chunks in which they arrive.
    pub(super) fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        let ends = self.cuts.iter().copied().chain([self.bytes.len()]);
        ends.scan(0, |start, end| {
            Some(&self.bytes[std::mem::replace(start, end)..end])
        })
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes.escape_ascii();
        let (limit, cuts) = (self.limit, &self.cuts);
        write!(f, "\"{bytes}\", limit {limit}, chunks end at {cuts:?}")
    }
}

fn line(random: &mut Random, message: &str, bytes: &mut Vec<u8>) {
    if random.one_in(16) {
        bytes.extend_from_slice(b"\xEF\xBB\xBF");
    }
    bytes.extend_from_slice(message.as_bytes());
    bytes.extend_from_slice(if random.one_in(4) { b"\r\n" } else { b"\n" });
}

fn event(random: &mut Random, message: &str, bytes: &mut Vec<u8>) {
    let end = random.pick(&["\n", "\n", "\r\n", "\r"]);
    let mut field = |text: &str| {
        bytes.extend_from_slice(text.as_bytes());
        bytes.extend_from_slice(end.as_bytes());
    };
    for _ in 0..random.below(3) {
        field(random.pick(FIELDS));
    }
    // White space may be anything in JSON, so a message may go over several lines.
    let (head, tail) = message.split_at(message.find(", ").map_or(0, |at| at + 2));
    for part in [head, tail] {
        if !part.is_empty() {
            field(&format!("data: {part}"));
        }
    }
    field("");
}

fn cuts(random: &mut Random, length: usize) -> Vec<usize> {
    if length < 300 && random.one_in(8) {
        return (1..length).collect();
    }
    let mut cuts: Vec<_> = (0..random.below(6))
        .map(|_| random.below(length + 1))
        .collect();
    cuts.sort_unstable();
    cuts
}
