//! An error with its reasons, on one line.

use std::error::Error;
use std::fmt;

use crate::startup::StartupError;

/// Shows an error and its sources, separated by colons: what failed, and why.
///
/// Some libraries repeat the source in their own message. What was said already is not said again. Where a server did
/// not start, what to try comes last.
///
/// ```
/// use mcp_runtime::{ErrorChain, McpServers};
///
/// let error = McpServers::from_json("{").unwrap_err();
/// let text = ErrorChain(&error).to_string();
/// assert!(text.starts_with("the configuration cannot be read: invalid JSON: "), "{text}");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ErrorChain<'a>(pub &'a (dyn Error + 'static));

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut error: &(dyn Error + 'static) = self.0;
        let mut said = error.to_string();
        let mut advice = advice_of(error);
        f.write_str(&said)?;
        while let Some(source) = error.source() {
            error = source;
            advice = advice.or(advice_of(error));
            let text = error.to_string();
            if !said.contains(&text) {
                write!(f, ": {text}")?;
                said = text;
            }
        }
        match advice {
            Some(advice) => write!(f, "; {advice}"),
            None => Ok(()),
        }
    }
}

fn advice_of(error: &(dyn Error + 'static)) -> Option<&'static str> {
    error.downcast_ref::<StartupError>()?.advice()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Says(&'static str, #[source] Option<Box<Says>>);

    #[test]
    fn a_reason_that_was_said_already_is_not_repeated() {
        let error = Says(
            "cannot start: no file",
            Some(Box::new(Says(
                "no file",
                Some(Box::new(Says("os error 2", None))),
            ))),
        );
        assert_eq!(
            ErrorChain(&error).to_string(),
            "cannot start: no file: os error 2"
        );
    }
}
