//! Cuts what a server writes into lines of bounded length (R7).
//!
//! The buffer is pure: bytes go in, whole lines come out, in whatever chunks the pipe delivers. A line over the
//! limit is not kept: its length is counted, its id is looked for while it flows by, and the reader goes on with
//! the next line.

use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::id_scan::IdScan;

/// One line without its end: `\n` and a preceding `\r` are gone, and so is a byte order mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// Everything between two line ends.
    Whole(&'a [u8]),
    /// Longer than the limit. The bytes are gone; `id` is what could be read of the message's own id.
    TooLong { length: usize, id: Option<u64> },
}

/// Bytes that arrived and are not yet a line.
#[derive(Debug)]
pub(crate) struct LineBuffer {
    bytes: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// Up to where no line end was found.
    scanned: usize,
    limit: usize,
    flood: Option<Flood>,
}

/// A line that has outgrown the limit and is being skipped.
#[derive(Debug)]
struct Flood {
    length: usize,
    scan: IdScan,
}

/// Room made for each read: what a pipe holds.
pub(crate) const CHUNK: usize = 64 * 1024;
/// What the buffer keeps between lines.
const LARGEST_IDLE: usize = 16 * CHUNK;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl LineBuffer {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            start: 0,
            scanned: 0,
            limit,
            flood: None,
        }
    }

    /// Reads once; the number of bytes is 0 at the end of the stream. Cancel-safe.
    pub(crate) async fn fill(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
    ) -> std::io::Result<usize> {
        self.forget_lines();
        self.bytes.reserve(CHUNK);
        stream.read_buf(&mut self.bytes).await
    }

    /// Drops lines already handed out: once a chunk, so that a large buffer is never shifted per line.
    fn forget_lines(&mut self) {
        self.bytes.drain(..self.start);
        self.scanned -= self.start;
        self.start = 0;
        // One large message must not cost its memory for the rest of the connection.
        if self.bytes.len() <= CHUNK {
            self.bytes.shrink_to(LARGEST_IDLE);
        }
    }

    /// The next complete line, or `None` until more bytes arrive.
    pub(crate) fn next_line(&mut self) -> Option<Line<'_>> {
        if let Some(offset) = memchr(b'\n', &self.bytes[self.scanned..]) {
            let end = self.scanned + offset;
            let start = std::mem::replace(&mut self.start, end + 1);
            self.scanned = end + 1;
            return Some(self.finish(start, end));
        }
        self.scanned = self.bytes.len();
        if self.bytes.len() - self.start > self.limit {
            self.skip();
        }
        None
    }

    /// The last line of a stream that ended without a line end.
    pub(crate) fn finish_stream(&mut self) -> Option<Line<'_>> {
        let (start, end) = (self.start, self.bytes.len());
        self.start = end;
        self.scanned = end;
        (start < end || self.flood.is_some()).then(|| self.finish(start, end))
    }

    fn finish(&mut self, start: usize, end: usize) -> Line<'_> {
        let line = &self.bytes[start..end];
        if let Some(Flood { length, mut scan }) = self.flood.take() {
            scan.feed(line);
            return Line::TooLong {
                length: length + line.len(),
                id: scan.id(),
            };
        }
        if line.len() > self.limit {
            let mut scan = IdScan::default();
            scan.feed(line);
            return Line::TooLong {
                length: line.len(),
                id: scan.id(),
            };
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Line::Whole(line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line))
    }

    /// Bytes of memory held.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        self.bytes.capacity()
    }

    /// Forgets the beginning of a line that is too long, but not its length nor its id.
    fn skip(&mut self) {
        let flood = self.flood.get_or_insert_with(|| Flood {
            length: 0,
            scan: IdScan::default(),
        });
        let line = &self.bytes[self.start..];
        flood.length += line.len();
        flood.scan.feed(line);
        self.bytes.clear();
        self.start = 0;
        self.scanned = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Feeds `chunks` and renders each line for comparison.
    fn lines(limit: usize, chunks: &[&[u8]]) -> Vec<String> {
        let mut buffer = LineBuffer::new(limit);
        let mut seen = Vec::new();
        let render = |line: Line<'_>| match line {
            Line::Whole(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Line::TooLong { length, id } => format!("<{length} bytes, id {id:?}>"),
        };
        for chunk in chunks {
            buffer.forget_lines();
            buffer.bytes.extend_from_slice(chunk);
            while let Some(line) = buffer.next_line() {
                seen.push(render(line));
            }
        }
        seen.extend(buffer.finish_stream().map(render));
        seen
    }

    #[track_caller]
    fn check(limit: usize, chunks: &[&[u8]], expected: &[&str]) {
        assert_eq!(lines(limit, chunks), expected);
    }

    #[test]
    fn lines_end_at_line_feeds_wherever_the_chunks_end() {
        check(100, &[b"a\nb", b"c\n", b"\n", b"d"], &["a", "bc", "", "d"]);
    }

    /// R7
    #[test]
    fn byte_order_mark_and_carriage_return_are_dropped() {
        check(
            100,
            &[b"\xEF\xBB\xBF{}\r\n", b"{\"a\":\"\r\"}\n"],
            &["{}", "{\"a\":\"\r\"}"],
        );
    }

    /// R7
    #[test]
    fn a_line_over_the_limit_is_skipped_and_the_next_one_is_whole() {
        check(
            4,
            &[b"12345678", b"90\nabcd\n"],
            &["<10 bytes, id None>", "abcd"],
        );
    }

    /// R7
    #[test]
    fn the_id_of_a_line_over_the_limit_is_found_before_or_after_the_result() {
        check(
            10,
            &[b"{\"id\":7,\"result\":\"xxx", b"xxxxxxxxxxxxxxxx\"}\n"],
            &["<39 bytes, id Some(7)>"],
        );
        check(
            10,
            &[b"{\"result\":{\"id\":1,\"x\":\"xx", b"xxxxx\"},\"id\":7}\n"],
            &["<40 bytes, id Some(7)>"],
        );
    }

    proptest! {
        /// R7: the chunks in which bytes arrive change nothing.
        #[test]
        fn chunks_do_not_matter(text in "[ab{}\"\\\\:id7,\r\n]{0,60}", cuts in proptest::collection::vec(0usize..60, 0..6), limit in 1usize..20) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts {
                chunks.push(&bytes[from..cut]);
                from = cut;
            }
            chunks.push(&bytes[from..]);
            prop_assert_eq!(lines(limit, &chunks), lines(limit, &[bytes]));
        }
    }
}
