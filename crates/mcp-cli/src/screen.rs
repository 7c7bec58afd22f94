//! Everything this program writes: results on stdout, everything else on stderr.
//!
//! A reader that has gone away (`| head`) is no error: what is left to say is not said. Nothing here panics.

use std::fmt::{self, Display};
use std::io::{self, ErrorKind, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What a person looks for first.
pub(crate) const BOLD: Style = Style::new().bold();
/// What a person looks at last.
pub(crate) const DIM: Style = Style::new().dimmed();
/// What went as it should.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// What did not.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// What may be worth a look.
const DOUBTFUL: Style = AnsiColor::Yellow.on_default().bold();

/// The columns of a line when nobody says otherwise.
const DEFAULT_COLUMNS: usize = 100;

/// Writes a line of a result that is made for people: with colours where the terminal takes them.
///
/// # Errors
///
/// When stdout cannot be written, except when nobody reads it any more.
pub(crate) fn line(text: impl Display) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    tolerate_gone_reader(writeln!(stdout, "{text}").and_then(|()| stdout.flush()))
}

/// Writes a line of a result exactly as it is.
///
/// # Errors
///
/// As [`line()`].
pub(crate) fn raw_line(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.write_all(b"\n"))
        .and_then(|()| stdout.flush());
    tolerate_gone_reader(written)
}

/// Writes text that somebody else made: exactly as it is to a file or a pipe; on a terminal without what would steer it.
///
/// # Errors
///
/// As [`line()`].
pub(crate) fn foreign_text(text: &str) -> io::Result<()> {
    if io::stdout().is_terminal() {
        raw_line(&Harmless(text).to_string())
    } else {
        raw_line(text)
    }
}

/// Says on stderr that something failed.
pub(crate) fn error(text: impl Display) {
    say(BAD, "error", text);
}

/// Says on stderr that something did not go well and did not stop anything.
pub(crate) fn warning(text: impl Display) {
    say(DOUBTFUL, "warning", text);
}

/// Says on stderr what may be of use.
pub(crate) fn note(text: impl Display) {
    say(BOLD, "note", text);
}

/// Shows what a server last wrote to its stderr, indented on ours.
pub(crate) fn stderr_tail(tail: &str) {
    if tail.is_empty() {
        return;
    }
    let mut stderr = anstream::stderr().lock();
    // When stderr is closed there is nobody left to tell.
    let _ = writeln!(stderr, "  the last it wrote to stderr:");
    for line in tail.lines() {
        let _ = writeln!(stderr, "    {DIM}{}{DIM:#}", Harmless(line));
    }
}

fn say(style: Style, kind: &str, text: impl Display) {
    let text = text.to_string();
    // When stderr is closed there is nobody left to tell.
    let _ = writeln!(
        anstream::stderr(),
        "{style}{kind}:{style:#} {}",
        Harmless(&text)
    );
}

fn tolerate_gone_reader(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// How many columns a line on stdout may have.
pub(crate) fn columns() -> usize {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map_or(DEFAULT_COLUMNS, |(width, _)| usize::from(width.0))
}

/// Text with everything escaped that could steer a terminal or turn the order of what it shows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Harmless<'a>(pub(crate) &'a str);

impl Display for Harmless<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for char in self.0.chars() {
            match char {
                '\n' | '\t' => write!(f, "{char}")?,
                // Bidirectional embeddings, overrides and isolates.
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                    write!(f, "{}", char.escape_unicode())?;
                }
                char if char.is_control() => write!(f, "{}", char.escape_unicode())?,
                char => write!(f, "{char}")?,
            }
        }
        Ok(())
    }
}

/// The columns that text takes on a terminal.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Spaces that bring text to a width.
pub(crate) fn padding(text: &str, to: usize) -> String {
    " ".repeat(to.saturating_sub(width(text)))
}

/// The first line that says something, harmless, cut to so many columns; an ellipsis says that there was more of it.
pub(crate) fn summary(text: &str, columns: usize) -> String {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty());
    let text = Harmless(first.unwrap_or_default())
        .to_string()
        .replace('\t', " ");
    if width(&text) <= columns {
        return text;
    }
    let mut kept = String::new();
    let mut left = columns.saturating_sub(1);
    for char in text.chars() {
        let Some(rest) = left.checked_sub(char.width().unwrap_or(0)) else {
            break;
        };
        left = rest;
        kept.push(char);
    }
    kept.truncate(kept.trim_end().len());
    if columns > 0 {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_summary(text: &str, columns: usize, expected: &str) {
        let summary = summary(text, columns);
        assert_eq!(summary, expected, "{text:?}");
        assert!(width(&summary) <= columns, "{text:?}");
    }

    #[test]
    fn a_summary_is_one_line_that_fits() {
        check_summary("Finds pages.\nIn detail: ...", 20, "Finds pages.");
        check_summary("\n\n  Finds pages.", 20, "Finds pages.");
        check_summary("Finds pages", 11, "Finds pages");
        check_summary("Finds pages", 10, "Finds pag…");
        check_summary("Finds pages", 7, "Finds…"); // no space before the ellipsis
        check_summary("検索する", 5, "検索…"); // two columns each
        check_summary("Finds pages", 1, "…");
        check_summary("Finds pages", 0, "");
        check_summary("", 10, "");
    }

    #[test]
    fn text_of_others_cannot_steer_the_terminal() {
        let rows = [
            (
                "plain, even ünïcode 検索\n\ttabbed",
                "plain, even ünïcode 検索\n\ttabbed",
            ),
            ("\x1b[2Jgone", "\\u{1b}[2Jgone"),
            ("a\rb\x07", "a\\u{d}b\\u{7}"),
            ("\u{9b}2J", "\\u{9b}2J"), // the one-character form of the same
            ("abc\u{202e}fed", "abc\\u{202e}fed"),
        ];
        for (text, expected) in rows {
            assert_eq!(Harmless(text).to_string(), expected);
        }
    }
}
