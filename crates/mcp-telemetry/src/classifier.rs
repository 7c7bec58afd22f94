//! From an error of any type, however wrapped, to its code.

use std::error::Error;
use std::sync::Arc;

use rmcp::transport::streamable_http_client::StreamableHttpError;

use crate::error_code::ErrorCode;
use crate::http;
use crate::reading::{Reading, peel};
use crate::rmcp_errors;

/// How far a chain of sources is followed: no honest chain is as long, and a chain that leads back to itself ends here.
const MAX_CHAIN: usize = 128;

/// An error that knows its code: how a crate's own errors take part in the classification.
///
/// Made known with [`Classifier::with_error`]. This crate need not know the type, and the type need not hide
/// a marker in its chain of sources.
pub trait Classified: Error {
    /// The code of this error, or `None` when its [`source`](Error::source) knows better.
    fn error_code(&self) -> Option<ErrorCode>;
}

type Recognise = for<'a> fn(&'a (dyn Error + 'static)) -> Option<Reading<'a>>;

/// Finds the [`ErrorCode`] of an error by the types in its chain of sources (T2), never by its text.
///
/// The chain is read from the outside in. The first error that knows its code decides. Some types only know a
/// code that holds until something deeper is more precise, as "the transport failed" does; of these the deepest
/// counts. Nothing recognised: [`ErrorCode::Unknown`].
///
/// Known from the start are rmcp's [`ServiceError`](rmcp::ServiceError),
/// [`ClientInitializeError`](rmcp::service::ClientInitializeError), [`ErrorData`](rmcp::ErrorData) and the
/// errors of its streamable HTTP transport, [`tokio::time::error::Elapsed`] and [`std::io::Error`].
///
/// A smart pointer hides the error in it from a downcast. `Box` and `Arc` around a known type, up to two of
/// them, and `Arc<dyn Error>` with or without `Send + Sync` are seen through.
///
/// ```
/// use mcp_telemetry::{Classified, Classifier, ErrorCode};
///
/// #[derive(Debug, thiserror::Error)]
/// #[error("the policy denies this tool")]
/// struct Denied;
///
/// impl Classified for Denied {
///     fn error_code(&self) -> Option<ErrorCode> {
///         Some(ErrorCode::Blocked)
///     }
/// }
///
/// let classifier = Classifier::new().with_error::<Denied>();
/// let wrapped = std::io::Error::other(std::sync::Arc::new(Denied));
/// assert_eq!(classifier.classify(&wrapped), ErrorCode::Blocked);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Classifier {
    registered: Vec<Recognise>,
}

impl Classifier {
    /// A classifier of what is known from the start.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            registered: Vec::new(),
        }
    }

    /// Also knows `E`. What is registered is asked before what is known from the start.
    #[must_use]
    pub fn with_error<E: Classified + 'static>(mut self) -> Self {
        self.registered.push(|error| {
            let code = peel::<E>(error)?.error_code()?;
            Some(Reading::Certain(code))
        });
        self
    }

    /// Also knows rmcp's [`StreamableHttpError`] of the HTTP client whose errors are `E`, for example
    /// `reqwest::Error`, and goes on into them.
    ///
    /// The type is generic, and a downcast sees concrete types only. Without this, those of its variants that
    /// name a source are still recognised by it, a missing authorization among them; the others count as
    /// [`ErrorCode::TransportError`] when they come in one of rmcp's transport errors.
    #[must_use]
    pub fn with_http_client<E: Error + Send + Sync + 'static>(mut self) -> Self {
        self.registered
            .push(|error| peel::<StreamableHttpError<E>>(error).map(http::read));
        self
    }

    /// The code of `error`.
    #[must_use]
    pub fn classify(&self, error: &(dyn Error + 'static)) -> ErrorCode {
        let mut code = ErrorCode::Unknown;
        let mut next = Some(error);
        for _ in 0..MAX_CHAIN {
            let Some(current) = next else { break };
            next = match self.read(current) {
                Some(Reading::Certain(certain)) => return certain,
                Some(Reading::AtLeast(provisional, inner)) => {
                    code = provisional;
                    inner
                }
                Some(Reading::Pointer(inner)) => Some(inner),
                None => current.source(),
            };
        }
        code
    }

    fn read<'a>(&self, error: &'a (dyn Error + 'static)) -> Option<Reading<'a>> {
        self.registered
            .iter()
            .find_map(|recognise| recognise(error))
            .or_else(|| rmcp_errors::read(error))
            .or_else(|| http::read_parts(error))
            .or_else(|| read_standard(error))
    }
}

/// The code of `error`, of a type known from the start; see [`Classifier`] for which these are and how to add some.
#[must_use]
pub fn classify(error: &(dyn Error + 'static)) -> ErrorCode {
    Classifier::new().classify(error)
}

/// Errors of the standard library and of tokio.
fn read_standard<'a>(error: &'a (dyn Error + 'static)) -> Option<Reading<'a>> {
    if let Some(shared) = peel::<Arc<dyn Error + Send + Sync>>(error) {
        return Some(Reading::Pointer(&**shared));
    }
    if let Some(shared) = peel::<Arc<dyn Error>>(error) {
        return Some(Reading::Pointer(&**shared));
    }
    if peel::<tokio::time::error::Elapsed>(error).is_some() {
        return Some(Reading::Certain(ErrorCode::RequestTimeout));
    }
    peel::<std::io::Error>(error).map(read_io)
}

fn read_io(error: &std::io::Error) -> Reading<'_> {
    use std::io::ErrorKind;

    let code = match error.kind() {
        ErrorKind::BrokenPipe
        | ErrorKind::UnexpectedEof
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::NotConnected => ErrorCode::TransportClosed,
        _ => ErrorCode::TransportError,
    };
    // `source` of an I/O error skips the error it was made from.
    let inner = error.get_ref().map(|inner| inner as &(dyn Error + 'static));
    Reading::AtLeast(code, inner)
}

#[cfg(test)]
mod tests;
