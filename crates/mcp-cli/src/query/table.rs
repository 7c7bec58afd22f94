//! Listed entries as people read them: a group for each server.

use std::io;

use serde::Deserialize;

use crate::report::Owned;
use crate::screen::{self, BOLD, padding, width};

/// The columns between two parts of a row.
const GAP: usize = 2;
/// A description shorter than this says nothing: rather let the line be too long.
const SHORTEST_DESCRIPTION: usize = 24;

/// What people want to know of an entry. A member of the wrong type costs the others nothing they need.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Facts {
    uri: Option<String>,
    uri_template: Option<String>,
    name: Option<String>,
    title: Option<String>,
    description: Option<String>,
}

/// A row: how an entry is named in the next command, and what the server says of it.
struct Row {
    handle: String,
    about: String,
}

/// Prints the entries, which are sorted by their owner.
pub(super) fn print(entries: &[Owned]) -> io::Result<()> {
    let columns = screen::columns();
    let groups = entries.chunk_by(|one, other| one.server() == other.server());
    for (number, group) in groups.enumerate() {
        if number > 0 {
            screen::line("")?;
        }
        let server = group.first().map(|entry| entry.server().to_string());
        let server = screen::summary(&server.unwrap_or_default(), usize::MAX);
        screen::line(format_args!("{BOLD}{server}{BOLD:#}"))?;
        let rows: Vec<Row> = group.iter().map(Row::of).collect();
        for line in layout(&rows, columns) {
            screen::line(line)?;
        }
    }
    Ok(())
}

impl Row {
    fn of(entry: &Owned) -> Self {
        let facts: Facts = serde_json::from_str(entry.object().get()).unwrap_or_default();
        let Facts {
            uri,
            uri_template,
            name,
            title,
            description,
        } = facts;
        let (handle, name) = match uri.or(uri_template) {
            Some(uri) => (uri, name),
            None => (name.unwrap_or_default(), None),
        };
        let about = [title.or(name), description].into_iter().flatten();
        Self {
            handle: screen::summary(&handle, usize::MAX),
            about: about.collect::<Vec<_>>().join(": "),
        }
    }
}

fn layout(rows: &[Row], columns: usize) -> Vec<String> {
    let handles = rows.iter().map(|row| width(&row.handle)).max();
    let handles = handles.unwrap_or_default();
    let left = columns.saturating_sub(handles + 2 * GAP);
    let gap = " ".repeat(GAP);
    let line = |row: &Row| {
        let about = screen::summary(&row.about, left.max(SHORTEST_DESCRIPTION));
        let padding = padding(&row.handle, handles);
        let line = format!("{gap}{}{padding}{gap}{about}", row.handle);
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
