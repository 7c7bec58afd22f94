//! An encoding in which different inputs never look alike.

use std::fmt;

/// Fields written one after another: a tag, whether it is there, the length of its bytes, and they.
/// No bytes can pose as the end of a field or the beginning of another, so two sequences of fields
/// have the same encoding only when they are the same.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Encoding(Vec<u8>);

const ABSENT: u8 = 0;
const PRESENT: u8 = 1;

impl Encoding {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn bytes(&mut self, tag: u8, bytes: &[u8]) {
        let length = bytes.len() as u64;
        self.0.extend([tag, PRESENT]);
        self.0.extend(length.to_be_bytes());
        self.0.extend(bytes);
    }

    pub(crate) fn absent(&mut self, tag: u8) {
        self.0.extend([tag, ABSENT]);
    }

    pub(crate) fn nested(&mut self, tag: u8, inner: &Self) {
        self.bytes(tag, inner.as_bytes());
    }

    /// Pairs in the order of their names; pairs of one name keep theirs.
    pub(crate) fn pairs(&mut self, tag: u8, mut pairs: Vec<(Vec<u8>, Vec<u8>)>) {
        pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut list = Self::new();
        for (name, value) in pairs {
            list.bytes(1, &name);
            list.bytes(2, &value);
        }
        self.nested(tag, &list);
    }
}

/// Shows the size only: the fields hold secrets.
impl fmt::Debug for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Encoding({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::Encoding;

    /// C5: all sequences of up to two small fields, from the very bytes that tags and marks are made of.
    #[test]
    fn no_two_sequences_of_fields_look_alike() {
        let mut values: Vec<Option<Vec<u8>>> = vec![None, Some(vec![])];
        for length in 1..=3 {
            values.extend((0..3_u32.pow(length)).map(|number| {
                let digit = |place| u8::try_from(number / 3_u32.pow(place) % 3).ok();
                (0..length).map(digit).collect()
            }));
        }
        let fields = || {
            let with_tag = |tag| values.iter().map(move |value| (tag, value));
            with_tag(1).chain(with_tag(2))
        };
        let encode = |sequence: &[(u8, &Option<Vec<u8>>)]| {
            let mut encoding = Encoding::new();
            for (tag, value) in sequence {
                match value {
                    Some(bytes) => encoding.bytes(*tag, bytes),
                    None => encoding.absent(*tag),
                }
            }
            encoding.0
        };
        let one = fields().map(|field| encode(&[field]));
        let two = fields().flat_map(|first| fields().map(move |second| encode(&[first, second])));
        let mut seen = HashSet::from([encode(&[])]);
        for encoding in one.chain(two) {
            assert!(!seen.contains(&encoding), "{encoding:?}");
            seen.insert(encoding);
        }
        assert_eq!(seen.len(), 1 + 82 + 82 * 82);
    }
}
