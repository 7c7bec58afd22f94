//! Rows of a table that people read: names in columns, and what is said of them behind.

use crate::screen::{padding, summary, width};

/// The columns between two parts of a row.
const GAP: usize = 2;
/// A description shorter than this says nothing: rather let the line be too long.
const SHORTEST_DESCRIPTION: usize = 24;

/// A row: its names, which are shown whole, and a description, which is cut to what the line has left.
#[derive(Debug)]
pub(crate) struct Row<const N: usize> {
    pub(crate) names: [String; N],
    pub(crate) description: String,
}

/// The lines of a table of which each name begins in the same column, on a screen of so many.
pub(crate) fn layout<const N: usize>(rows: &[Row<N>], columns: usize) -> Vec<String> {
    let widest = |at: usize| rows.iter().map(|row| width(&row.names[at])).max();
    let widths: [usize; N] = std::array::from_fn(|at| widest(at).unwrap_or_default());
    let left = columns.saturating_sub(widths.iter().sum::<usize>() + (N + 1) * GAP);
    let gap = " ".repeat(GAP);
    let line = |row: &Row<N>| {
        let mut line = gap.clone();
        for (name, &columns) in row.names.iter().zip(&widths) {
            line += name;
            line += &padding(name, columns).to_string();
            line += &gap;
        }
        line += &summary(&row.description, left.max(SHORTEST_DESCRIPTION));
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_aligned_and_descriptions_cut() {
        let row = |name: &str, tool: &str, description: &str| Row {
            names: [name, tool].map(ToOwned::to_owned),
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
