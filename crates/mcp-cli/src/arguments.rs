//! The arguments of a call: from the command line, a file, or stdin.

use std::io::{self, Read as _};
use std::path::PathBuf;

use serde_json::value::RawValue;

/// Why the arguments cannot be sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArgumentsError {
    #[error("the arguments in {} cannot be read", .0.display())]
    File(PathBuf, #[source] io::Error),
    #[error("the arguments on stdin cannot be read")]
    Stdin(#[source] io::Error),
    #[error(
        "the arguments are not valid JSON; they must be one object, such as --arguments '{{\"query\": \"tower\"}}'"
    )]
    Json(#[source] serde_json::Error),
    #[error("the arguments must be a JSON object, such as '{{\"query\": \"tower\"}}'")]
    NotAnObject,
}

/// Reads arguments as `--arguments` names them: `-` is stdin, `@path` a file, anything else the JSON itself. They are
/// sent as they are written.
///
/// # Errors
///
/// When they cannot be read, or are not one JSON object.
pub(crate) fn read(source: &str) -> Result<Box<RawValue>, ArgumentsError> {
    let text = match source.strip_prefix('@') {
        Some(path) => {
            let path = PathBuf::from(path);
            std::fs::read_to_string(&path).map_err(|error| ArgumentsError::File(path, error))?
        }
        None if source == "-" => {
            let mut text = String::new();
            let read = io::stdin().read_to_string(&mut text);
            read.map_err(ArgumentsError::Stdin)?;
            text
        }
        None => source.to_owned(),
    };
    let json: Box<RawValue> = serde_json::from_str(&text).map_err(ArgumentsError::Json)?;
    if json.get().starts_with('{') {
        Ok(json)
    } else {
        Err(ArgumentsError::NotAnObject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// W1
    #[test]
    fn arguments_stay_as_they_are_written() {
        for json in [
            r#"{"n":1e2,"big":123456789012345678901}"#,
            "{}",
            "{\n \"b\":1,\"a\":2}",
        ] {
            assert_eq!(read(&format!(" {json} ")).unwrap().get(), json);
        }
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for (text, object_missing) in [
            ("", false),
            ("{", false),
            ("{} {}", false),
            ("query=tower", false),
            ("[]", true),
            ("null", true),
            ("\"{}\"", true),
        ] {
            let error = read(text).unwrap_err();
            let is_missing = matches!(error, ArgumentsError::NotAnObject);
            assert_eq!(is_missing, object_missing, "{text}: {error}");
        }
    }
}
