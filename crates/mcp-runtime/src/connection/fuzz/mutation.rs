//! What goes wrong with bytes.

use std::ops::Range;

use mcp_testkit::Random;

use super::corpus::{MESSAGES, TOKENS, VALUES};

/// Changes to one input.
const CHANGES: usize = 8;
/// No input grows beyond this.
const LONGEST: usize = 64 * 1024;
/// The longest piece that is moved, doubled or left out.
const PIECE: usize = 64;
/// How deep a nesting gets.
const DEPTH: usize = 4_000;
/// What makes an input large is one time in so many.
const RARELY: usize = 40;

/// Changes a few things, or nothing.
pub(super) fn spoil(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..random.below(CHANGES) {
        change(random, bytes);
        bytes.truncate(LONGEST);
    }
}

fn change(random: &mut Random, bytes: &mut Vec<u8>) {
    let at = random.below(bytes.len() + 1);
    match random.below(12) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => bytes.truncate(at),
        2 => drop(bytes.drain(piece(random, bytes))),
        3 => {
            let piece = bytes[piece(random, bytes)].repeat(1 + random.below(4));
            insert(bytes, at, &piece);
        }
        4 => insert(bytes, at, random.pick(MESSAGES).as_bytes()),
        5 => {
            let often = if random.one_in(RARELY) { DEPTH } else { 8 };
            let token = random.pick(TOKENS).repeat(1 + random.below(often));
            insert(bytes, at, &token);
        }
        6 => nest(random, bytes, at),
        7 | 8 => exchange(random, bytes, at),
        _ => insert(bytes, at, random.pick(TOKENS)),
    }
}

/// Another value for a member, or for an element.
fn exchange(random: &mut Random, bytes: &mut Vec<u8>, at: usize) {
    let colon = bytes[at..].iter().position(|byte| *byte == b':');
    let start = colon.map_or(at, |colon| at + colon + 1);
    let end = bytes[start..]
        .iter()
        .position(|byte| b",}]\n".contains(byte));
    let end = end.map_or(bytes.len(), |end| start + end);
    bytes.splice(start..end, random.pick(VALUES).iter().copied());
}

/// Brackets that are closed again, or not.
fn nest(random: &mut Random, bytes: &mut Vec<u8>, at: usize) {
    let deepest = if random.one_in(RARELY) { DEPTH } else { 60 };
    let depth = random.below(deepest);
    let (open, close) = random.pick(&[("[", "]"), ("{\"a\":", "}"), ("[{\"id\":", "}]")]);
    let closed = if random.one_in(3) { depth / 2 } else { depth };
    let inside = random.pick(&["1", "", "\"", "{}"]);
    let nested = [open.repeat(depth).as_str(), inside, &close.repeat(closed)].concat();
    insert(bytes, at, nested.as_bytes());
}

fn piece(random: &mut Random, bytes: &[u8]) -> Range<usize> {
    let start = random.below(bytes.len() + 1);
    start..bytes.len().min(start + random.below(PIECE))
}

fn insert(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    bytes.splice(at..at, piece.iter().copied());
}
