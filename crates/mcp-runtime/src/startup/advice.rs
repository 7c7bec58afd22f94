//! What a person can try when a server does not start.

use std::io;

use super::error::{StartupError, StartupErrorKind};
use crate::connection::{Disconnect, HttpError, RequestErrorKind, SpawnError};

impl StartupError {
    /// What to try; `None` where the error says it already, or nothing general can be said.
    #[must_use]
    pub fn advice(&self) -> Option<&'static str> {
        match self.kind() {
            StartupErrorKind::Spawn(SpawnError::Refused { source, .. })
                if source.kind() == io::ErrorKind::PermissionDenied =>
            {
                Some("make the file executable, or start it with the program that runs it")
            }
            StartupErrorKind::Request(error) => match error.kind() {
                RequestErrorKind::Closed(why) => of_end(why),
                RequestErrorKind::Http(error) => of_endpoint(error),
                _ => None,
            },
            StartupErrorKind::Version(_) => {
                Some("use a version of the server that speaks one of them")
            }
            _ => None,
        }
    }
}

fn of_end(why: &Disconnect) -> Option<&'static str> {
    let status = why.exit()?.status()?;
    Some(if status.success() {
        "run the command by itself: a server waits for requests, so it may want another argument"
    } else {
        "run the command by itself to see what it wants; it gets few variables of this environment: name others as `env_vars`"
    })
}

fn of_endpoint(error: &HttpError) -> Option<&'static str> {
    match error {
        HttpError::Unauthorized { .. } => Some(
            "the server wants credentials: name the variable that holds the token as `bearer_token_env_var`, or set `headers`",
        ),
        HttpError::Status { status: 404, .. } | HttpError::ContentType { .. } => {
            Some("check the path in `url`: it must be the server's MCP endpoint")
        }
        error if error.is_unreachable() => {
            Some("check `url`, and that the server is running and reachable from here")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::Excerpt;

    #[test]
    fn an_endpoint_that_refuses_is_told_from_one_that_is_not_there() {
        let body = Excerpt::default;
        let unauthorized = HttpError::Unauthorized {
            status: 401,
            challenge: None,
            body: body(),
        };
        let status = |status| HttpError::Status {
            status,
            retry_after: None,
            body: body(),
        };
        let rows = [
            (unauthorized, Some("credentials")),
            (status(404), Some("path")),
            (status(503), None),
            (HttpError::StreamEnded, None),
        ];
        for (error, says) in rows {
            let advice = of_endpoint(&error);
            assert_eq!(advice.is_some(), says.is_some(), "{error}: {advice:?}");
            assert!(
                advice
                    .unwrap_or_default()
                    .contains(says.unwrap_or_default()),
                "{error}: {advice:?}"
            );
        }
    }
}
