//! Streams as servers write them, in whatever chunks they arrive.

use proptest::prelude::*;

use super::*;

/// Feeds `chunks` and renders each event for comparison.
fn events(limit: usize, chunks: &[&[u8]]) -> (Vec<String>, Option<String>, Option<Duration>) {
    let mut buffer = EventBuffer::new(limit);
    let mut seen = Vec::new();
    for chunk in chunks {
        buffer.feed(chunk, |event| {
            seen.push(match event {
                Event::Message(data) => String::from_utf8_lossy(data).into_owned(),
                Event::TooLong {
                    length,
                    id,
                    is_call,
                } => {
                    let call = if is_call { ", a call" } else { "" };
                    format!("<{length} bytes, id {id:?}{call}>")
                }
            });
        });
    }
    let id = buffer.last_event_id().map(ToOwned::to_owned);
    (seen, id, buffer.retry())
}

#[track_caller]
fn check(stream: &str, expected: &[&str], reason: &str) {
    let (whole, ..) = events(100, &[stream.as_bytes()]);
    assert_eq!(whole, expected, "{reason}: {stream:?}");
    let bytes: Vec<_> = stream.as_bytes().chunks(1).collect();
    assert_eq!(
        events(100, &bytes).0,
        expected,
        "bytewise, {reason}: {stream:?}"
    );
}

#[test]
fn events_are_read_by_the_book() {
    let rows: &[(&str, &[&str], &str)] = &[
        ("data: a\n\ndata: b\n\n", &["a", "b"], "two events"),
        (
            "data: a\r\n\r\ndata: b\r\rdata: c\n\n",
            &["a", "b", "c"],
            "all three line ends",
        ),
        ("data:a\n\n", &["a"], "no blank behind the colon"),
        ("data:  a\n\n", &[" a"], "only one blank goes"),
        ("data: a\ndata: b\n\n", &["a\nb"], "lines of one event"),
        (
            "data\ndata: a\n\n",
            &["\na"],
            "a field without a colon is empty",
        ),
        (": hello\ndata: a\n: there\n\n", &["a"], "comments"),
        ("data: a\nid: 7\nwhatever: x\n\n", &["a"], "unknown fields"),
        (
            "event: ping\ndata: 2026\n\ndata: a\n\n",
            &["a"],
            "another type, for one event only",
        ),
        (
            "event: message\ndata: a\n\n",
            &["a"],
            "the type said in full",
        ),
        ("event:\ndata: a\n\n", &["a"], "no type at all"),
        (
            "event: ping\n\ndata: a\n\n",
            &["a"],
            "a type without data is forgotten",
        ),
        (
            "id: 1\ndata:\n\ndata: a\n\n",
            &["a"],
            "an event without data is none",
        ),
        ("\u{feff}data: a\n\n", &["a"], "a byte order mark"),
        (
            "data: a\n\n\u{feff}data: b\n\n",
            &["a"],
            "elsewhere it is part of a name",
        ),
        ("data: a\n", &[], "an event that was not ended is none"),
        ("\n\n\n", &[], "blank lines"),
        ("DATA: a\n\n", &[], "names are lower case"),
    ];
    for (stream, expected, reason) in rows {
        check(stream, expected, reason);
    }
}

/// What is left when the stream ends.
#[test]
fn a_stream_that_ends_early_leaves_what_it_had_begun() {
    let rows: &[(&str, Option<&str>, Option<&str>, &str)] = &[
        ("data: a\n\n", None, None, "nothing had begun"),
        ("data: a\n", Some("a"), None, "an event without its end"),
        ("data: a", Some("a"), None, "a line without its end"),
        ("data: a\r", Some("a"), None, "half of a line end"),
        (
            "id: 7\ndata: a\n",
            Some("a"),
            None,
            "resuming begins before it",
        ),
        ("event: ping\ndata: a\n", None, None, "another type"),
        ("id: 7", None, None, "no data"),
    ];
    for (stream, expected, place, reason) in rows {
        let mut buffer = EventBuffer::new(100);
        buffer.feed(stream.as_bytes(), |_| {});
        let mut left = None;
        buffer.finish(|event| match event {
            Event::Message(data) => left = Some(String::from_utf8_lossy(data).into_owned()),
            Event::TooLong { .. } => {}
        });
        assert_eq!(left.as_deref(), *expected, "{reason}");
        assert_eq!(buffer.last_event_id(), *place, "{reason}");
    }
}

#[test]
fn where_to_resume_is_what_the_last_ended_event_said() {
    let rows: &[(&str, Option<&str>, &str)] = &[
        ("data: a\n\n", None, "nothing was said"),
        ("id: 1\ndata:\n\n", Some("1"), "an event that only says it"),
        (
            "id: 1\ndata: a\n\nid: 2\ndata: b\n",
            Some("1"),
            "the second event has not arrived",
        ),
        ("id: 1\ndata: a\n\ndata: b\n\n", Some("1"), "it stays"),
        (
            "id: 1\ndata: a\n\nid\ndata: b\n\n",
            Some(""),
            "an empty one takes it back",
        ),
        ("id: 1\0\ndata: a\n\n", None, "with a zero it is none"),
        (
            "event: ping\nid: 3\ndata: a\n\n",
            Some("3"),
            "whatever the type",
        ),
    ];
    for (stream, expected, reason) in rows {
        let (_, id, _) = events(100, &[stream.as_bytes()]);
        assert_eq!(id.as_deref(), *expected, "{reason}");
    }
}

#[test]
fn a_pause_is_digits_and_never_endless() {
    let rows: &[(&str, Option<Duration>)] = &[
        ("retry: 300\n", Some(Duration::from_millis(300))),
        (
            "retry: 300\nretry: soon\n",
            Some(Duration::from_millis(300)),
        ),
        ("retry: -1\n", None),
        ("retry: 99999999999\n", Some(LONGEST_RETRY)),
        ("retry: 99999999999999999999999\n", None),
    ];
    for (stream, expected) in rows {
        assert_eq!(events(100, &[stream.as_bytes()]).2, *expected, "{stream}");
    }
}

/// R7
#[test]
fn an_event_over_the_limit_is_counted_and_attributed_and_the_next_is_whole() {
    let long = "x".repeat(60);
    let rows: &[(String, &[&str], &str)] = &[
        (
            format!("data: {{\"id\":7,\"result\":\"{long}\"}}\n\ndata: a\n\n"),
            &["<80 bytes, id Some(7)>", "a"],
            "one long line",
        ),
        (
            format!("data: {{\"result\":\ndata: \"{long}\",\ndata: \"id\":8}}\n\ndata: a\n\n"),
            &["<80 bytes, id Some(8)>", "a"],
            "over several lines",
        ),
        (
            format!("data: {{\"id\":7,\"method\":\"{long}\"}}\n\ndata: a\n\n"),
            &["<80 bytes, id None, a call>", "a"],
            "the server's own request",
        ),
        (
            format!("data: {{\ndata: \"id\":\ndata: 7\ndata: ,\"result\":\"{long}\"}}\n\n"),
            &["<82 bytes, id Some(7)>"],
            "an id between line ends",
        ),
        (
            format!(": {long}{long}\ndata: a\n\n"),
            &["a"],
            "a long comment costs nothing",
        ),
    ];
    for (stream, expected, reason) in rows {
        assert_eq!(events(50, &[stream.as_bytes()]).0, *expected, "{reason}");
        let bytes: Vec<_> = stream.as_bytes().chunks(1).collect();
        assert_eq!(events(50, &bytes).0, *expected, "bytewise, {reason}");
    }
}

proptest! {
    /// R7: the chunks in which bytes arrive change nothing.
    #[test]
    fn chunks_do_not_matter(
        stream in "([adt:ei \r\n\u{feff}]|data: |id: |event: |retry: 1|\r\n\r\n|\n\n){0,40}",
        cuts in proptest::collection::vec(0usize..120, 0..8),
        limit in 1usize..40,
    ) {
        let bytes = stream.as_bytes();
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let chunks: Vec<_> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
        prop_assert_eq!(events(limit, &chunks), events(limit, &[bytes]));
    }
}
