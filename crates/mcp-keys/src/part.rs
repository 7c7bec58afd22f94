//! One part of a model-visible name: plain text as it is, anything else as stem and suffix (K4).

use sha2::{Digest, Sha256};

/// Length of `_x` and the ten hash characters.
pub(crate) const SUFFIX: usize = 12;

const HASH_CHARS: usize = 10;

/// The lower-case base32 alphabet of RFC 4648.
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Whether `text` may stand in a name as it is: `[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*`, and not ending like a
/// suffix, since otherwise a text could pass for the shortened form of another.
pub(crate) fn is_plain(text: &str) -> bool {
    let mut after_word = false;
    for byte in text.bytes() {
        if is_word(byte) {
            after_word = true;
        } else if byte == b'_' && after_word {
            after_word = false;
        } else {
            return false;
        }
    }
    after_word && !ends_like_suffix(text.as_bytes())
}

/// Appends `text` read as a stem: every run outside `[A-Za-z0-9-]` is one `_`, none at either end, at
/// most `max` bytes. Returns whether anything was appended.
pub(crate) fn push_stem(out: &mut String, text: &str, max: usize) -> bool {
    let start = out.len();
    let mut gap = false;
    for byte in text.bytes() {
        if !is_word(byte) {
            gap = true;
            continue;
        }
        let separator = usize::from(gap && out.len() > start);
        // A separator without the character behind it would only be trimmed again.
        if out.len() - start + separator + 1 > max {
            break;
        }
        if separator == 1 {
            out.push('_');
        }
        out.push(char::from(byte));
        gap = false;
    }
    out.len() > start
}

/// Appends the suffix that stands for the whole of `pieces`, with its `_` if a stem stands before it.
pub(crate) fn push_suffix(out: &mut String, after_stem: bool, pieces: &[&str]) {
    if after_stem {
        out.push('_');
    }
    out.push('x');
    let mut hash = Sha256::new();
    for piece in pieces {
        hash.update(piece.as_bytes());
    }
    let digest = hash.finalize();
    // Ten characters of five bits are the first fifty bits.
    let bits = digest
        .iter()
        .take(8)
        .fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    for position in 0..HASH_CHARS {
        let five = (bits >> (59 - 5 * position)) & 31;
        out.push(char::from(BASE32[five as usize]));
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

/// `(^|_)x[a-z2-7]{10}$`
fn ends_like_suffix(text: &[u8]) -> bool {
    let Some((before, tail)) = text.split_last_chunk::<{ HASH_CHARS + 1 }>() else {
        return false;
    };
    tail[0] == b'x'
        && tail[1..]
            .iter()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7'))
        && before.last().is_none_or(|byte| *byte == b'_')
}
