//! Where something stands in the text of a configuration.

use std::fmt;

use serde_json::value::RawValue;

/// A line and a column of a text, both counted from one, the column in bytes. As editors and terminals know it: `:3:14`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    line: usize,
    column: usize,
}

impl Place {
    pub(super) const BEGINNING: Self = Self { line: 1, column: 1 };

    /// A line and a column, both counted from one; what is less counts as one.
    #[must_use]
    pub fn new(line: usize, column: usize) -> Self {
        Self {
            line: line.max(1),
            column: column.max(1),
        }
    }

    /// The place right after some text.
    #[must_use]
    pub fn after(text: &[u8]) -> Self {
        let line_start = text
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |end| end + 1);
        Self {
            line: text.iter().filter(|&&byte| byte == b'\n').count() + 1,
            column: text.len() - line_start + 1,
        }
    }

    /// Where a part of a text begins that was borrowed from it; `None` when it was not.
    pub(super) fn of_part(part: &RawValue, text: &str) -> Option<Self> {
        let (part, text) = (part.get(), text.as_bytes());
        let offset = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
        Some(Self::after(text.get(..offset)?))
    }

    /// Where text stops being JSON.
    pub(super) fn of_json_error(error: &serde_json::Error) -> Self {
        Self::new(error.line(), error.column())
    }

    /// The line, counted from one.
    #[must_use]
    pub fn line(self) -> usize {
        self.line
    }

    /// The column in bytes, counted from one.
    #[must_use]
    pub fn column(self) -> usize {
        self.column
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}:{}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_counted_from_one() {
        for (text, line, column) in [("", 1, 1), ("ab\ncd", 2, 3), ("ab\n", 2, 1)] {
            let place = Place::after(text.as_bytes());
            assert_eq!((place.line(), place.column()), (line, column), "{text:?}");
        }
    }

    #[test]
    fn a_part_is_found_where_it_was_borrowed() {
        let text = "[1,\n {}]";
        let parts: Vec<&RawValue> = serde_json::from_str(text).unwrap();
        let place = Place::of_part(parts[1], text).unwrap();
        assert_eq!(place.to_string(), ":2:2");
        assert_eq!(Place::of_part(parts[1], &text[text.len()..]), None);
    }
}
