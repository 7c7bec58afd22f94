//! Listed entries as people read them: a group for each server.

use std::io;

use serde::Deserialize;

use crate::report::Owned;
use crate::screen::{self, BOLD};
use crate::table::{Row, layout};

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
        let rows: Vec<_> = group.iter().map(row).collect();
        for line in layout(&rows, columns) {
            screen::line(line)?;
        }
    }
    Ok(())
}

/// How an entry is named in the next command, and what the server says of it.
fn row(entry: &Owned) -> Row<1> {
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
    Row {
        names: [screen::summary(&handle, usize::MAX)],
        description: about.collect::<Vec<_>>().join(": "),
    }
}
