//! The listing as people read it.

use std::io;

use mcp_runtime::{Binding, BoundTool, ServerState, ServerStatus};

use crate::screen::{self, BOLD, DIM};
use crate::table::{Row, layout};

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
        let rows: Vec<_> = own.map(row).collect();
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

/// The name that a model sees, and the server's own.
fn row(tool: &BoundTool<'_>) -> Row<2> {
    let own = screen::summary(tool.key().tool().as_str(), usize::MAX);
    Row {
        names: [tool.name().flat().to_owned(), own],
        description: tool.tool().description().unwrap_or_default(),
    }
}
