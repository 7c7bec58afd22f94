//! The listing as people read it.

use std::io;

use mcp_runtime::{Binding, BoundTool, ServerState, ServerStatus};

use crate::screen::{self, BOLD, DIM, padding, width};

/// The columns between two parts of a row.
const GAP: usize = 2;
/// A description shorter than this says nothing: rather let the line be too long.
const SHORTEST_DESCRIPTION: usize = 24;

/// A row, in the order of its columns.
struct Row<'a> {
    name: &'a str,
    tool: String,
    description: String,
}

/// Prints a group for each server that is ready or disabled; the others' fates are told on stderr.
pub(super) fn print(servers: &[ServerStatus], binding: &Binding) -> io::Result<()> {
    let tools: Vec<BoundTool<'_>> = binding.tools().collect();
    let columns = screen::columns();
    let mut is_first = true;
    for server in servers {
        let Some(heading) = heading(server) else {
            continue;
        };
        if !is_first {
            screen::line("")?;
        }
        is_first = false;
        screen::line(heading)?;
        let own = tools
            .iter()
            .filter(|tool| tool.key().server() == server.key());
        let rows: Vec<Row<'_>> = own.map(Row::new).collect();
        for line in layout(&rows, columns) {
            screen::line(line)?;
        }
    }
    Ok(())
}

fn heading(server: &ServerStatus) -> Option<String> {
    let facts = match server.state() {
        ServerState::Ready { tools, elapsed, .. } => {
            let count = match tools {
                0 => "no tools".to_owned(),
                1 => "1 tool".to_owned(),
                count => format!("{count} tools"),
            };
            format!("{count}, ready after {:.2} s", elapsed.as_secs_f64())
        }
        ServerState::Disabled => "disabled".to_owned(),
        _ => return None,
    };
    let name = server.key().to_string();
    let name = screen::summary(&name, usize::MAX);
    Some(format!("{BOLD}{name}{BOLD:#}  {DIM}{facts}{DIM:#}"))
}

impl<'a> Row<'a> {
    fn new(tool: &BoundTool<'a>) -> Self {
        Self {
            name: tool.name().flat(),
            tool: screen::summary(tool.key().tool().as_str(), usize::MAX),
            description: tool.tool().description().unwrap_or_default(),
        }
    }
}

fn layout(rows: &[Row<'_>], columns: usize) -> Vec<String> {
    let widest = |part: fn(&Row<'_>) -> usize| rows.iter().map(part).max().unwrap_or(0);
    let (names, tools) = (
        widest(|row| width(row.name)),
        widest(|row| width(&row.tool)),
    );
    let left = columns.saturating_sub(names + tools + 3 * GAP);
    let gap = " ".repeat(GAP);
    let line = |row: &Row<'_>| {
        let description = screen::summary(&row.description, left.max(SHORTEST_DESCRIPTION));
        let name_padding = padding(row.name, names);
        let tool_padding = padding(&row.tool, tools);
        let line = format!(
            "{gap}{}{name_padding}{gap}{}{tool_padding}{gap}{description}",
            row.name, row.tool
        );
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_aligned_and_descriptions_cut() {
        let row = |name, tool: &str, description: &str| Row {
            name,
            tool: tool.to_owned(),
            description: description.to_owned(),
        };
        let rows = [
            row(
                "mcp__docs__search",
                "search",
                "Finds pages by words that are in them, best first.",
            ),
            row("mcp__docs__x_xabcdefghij", "検索", "Short.\nMore."),
            row("mcp__docs__y", "y", ""),
        ];
        let lines = layout(&rows, 70);
        assert_eq!(
            lines,
            [
                "  mcp__docs__search         search  Finds pages by words that are in…",
                "  mcp__docs__x_xabcdefghij  検索    Short.",
                "  mcp__docs__y              y",
            ]
        );
        assert!(lines.iter().all(|line| width(line) <= 70));
    }
}
