//! What a server wants to know from a person, and what the person says (E1).

use std::borrow::Cow;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use mcp_keys::McpServerKey;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use url::Url;

use crate::call::CallId;
use crate::permissions::Permissions;

/// A future of a handler that a host gives.
pub type HandlerFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Asks a person on behalf of servers (E1).
///
/// Every elicitation runs in a task of its own, or in the request that cannot be answered without it (B6), with no lock
/// held: a handler may call tools, of the same server too, and take as long as a person takes. Its future is dropped when nobody wants the answer any more: the call was
/// cancelled, the connection ended, the server withdrew its request, or the server's `interaction_timeout` is over.
///
/// A handler that keeps the runtime keeps it for ever, since the runtime keeps the handler: give it a
/// [`Weak`](std::sync::Weak).
///
/// A function is a handler:
///
/// ```
/// use mcp_runtime::{ApprovalPolicy, Elicitation, ElicitationAnswer, ElicitationMode, McpRuntime};
///
/// let builder = McpRuntime::builder(ApprovalPolicy::approve_all()).elicitation(|elicitation: Elicitation| async move {
///     match elicitation.mode() {
///         ElicitationMode::Url { url, .. } => println!("{} asks to open {url}", elicitation.server()),
///         _ => println!("{} asks: {}", elicitation.server(), elicitation.message()),
///     }
///     ElicitationAnswer::decline()
/// });
/// # let _ = builder;
/// ```
pub trait ElicitationHandler: Send + Sync + 'static {
    /// Asks, and says what was answered. A panic is told to the server as an internal error.
    fn elicit(&self, elicitation: Elicitation) -> HandlerFuture<'_, ElicitationAnswer>;
}

impl<F, A> ElicitationHandler for F
where
    F: Fn(Elicitation) -> A + Send + Sync + 'static,
    A: Future<Output = ElicitationAnswer> + Send + 'static,
{
    fn elicit(&self, elicitation: Elicitation) -> HandlerFuture<'_, ElicitationAnswer> {
        Box::pin(self(elicitation))
    }
}

/// The handler of a runtime.
#[derive(Clone)]
pub(crate) struct Elicitor(pub(crate) Arc<dyn ElicitationHandler>);

impl fmt::Debug for Elicitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Elicitor")
    }
}

/// What a server asks.
///
/// Everything but the key and the call is the server's to choose: a host shows who asks, and lets a person decline.
#[derive(Debug)]
pub struct Elicitation {
    server: McpServerKey,
    call: Option<CallId>,
    message: String,
    mode: ElicitationMode,
    params: Box<RawValue>,
    permissions: Permissions,
}

/// How a server wants to be answered.
#[derive(Debug)]
#[non_exhaustive]
pub enum ElicitationMode {
    /// With a form that a person fills in.
    Form {
        /// What the content of the answer is to look like: a JSON schema, as the server wrote it. It is not checked.
        schema: Box<RawValue>,
    },
    /// By visiting a page. Accepting says that the person agreed to open it, not that anything was done there.
    Url {
        /// The page, `http` or `https`. It may be anybody's: a person sees it before it is opened.
        url: Url,
        /// What the server calls this elicitation.
        id: Option<String>,
    },
}

/// What a server asked cannot be understood. It is told why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfit {
    #[error("the parameters of an elicitation are an object")]
    NoObject,
    #[error("a member of the elicitation has the wrong type")]
    Member,
    #[error("an elicitation has a `message`")]
    NoMessage,
    #[error("this mode of elicitation is not supported; use `form` or `url`")]
    Mode,
    #[error("`requestedSchema` is not an object")]
    Schema,
    #[error("`url` is not an http or https URL")]
    Url,
    #[error("the elicitation is larger than {LARGEST} bytes")]
    TooLarge,
}

/// The longest elicitation, in bytes. A person reads it.
const LARGEST: usize = 1024 * 1024;

impl Elicitation {
    /// Reads the parameters of `elicitation/create`. Unknown members are no matter, and a form may lack its schema.
    pub(crate) fn read(
        server: &McpServerKey,
        call: Option<CallId>,
        params: Option<&RawValue>,
    ) -> Result<Self, Unfit> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params<'a> {
            #[serde(borrow, default)]
            mode: Option<Cow<'a, str>>,
            #[serde(default)]
            message: Option<String>,
            #[serde(borrow, default)]
            requested_schema: Option<&'a RawValue>,
            #[serde(borrow, default)]
            url: Option<Cow<'a, str>>,
            #[serde(default)]
            elicitation_id: Option<String>,
        }
        // serde would read an array as an object, member by member.
        let params = params.filter(|params| params.get().starts_with('{'));
        let params = params.ok_or(Unfit::NoObject)?;
        if params.get().len() > LARGEST {
            return Err(Unfit::TooLarge);
        }
        let read: Params<'_> =
            serde_json::from_str(params.get()).map_err(|_shown| Unfit::Member)?;
        let mode = match read.mode.as_deref() {
            None | Some("form") => ElicitationMode::Form {
                schema: schema(read.requested_schema)?,
            },
            Some("url") => ElicitationMode::Url {
                url: read.url.as_deref().and_then(page).ok_or(Unfit::Url)?,
                id: read.elicitation_id,
            },
            Some(_) => return Err(Unfit::Mode),
        };
        Ok(Self {
            server: server.clone(),
            call,
            message: read.message.ok_or(Unfit::NoMessage)?,
            mode,
            params: params.to_owned(),
            permissions: Permissions::default(),
        })
    }

    /// As it is asked under these permissions.
    pub(crate) fn under(self, permissions: Permissions) -> Self {
        Self {
            permissions,
            ..self
        }
    }

    /// What the environment that owns the server allows it, the primary one for a server of the host (E1): as the binding of
    /// the call has captured it, or as it is now where no call can be told.
    #[must_use]
    pub fn permissions(&self) -> &Permissions {
        &self.permissions
    }

    /// The server that asks.
    #[must_use]
    pub fn server(&self) -> &McpServerKey {
        &self.server
    }

    /// The call on whose behalf it asks, where that can be told: the server said so, or no other call of that server was
    /// under way. The clock of that call stands still; otherwise those of all calls of the connection do (B3).
    #[must_use]
    pub fn call(&self) -> Option<CallId> {
        self.call
    }

    /// What the person is told.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// How the server wants to be answered.
    #[must_use]
    pub fn mode(&self) -> &ElicitationMode {
        &self.mode
    }

    /// The request's parameters as the server wrote them, an object.
    #[must_use]
    pub fn params(&self) -> &RawValue {
        &self.params
    }
}

/// A form without a schema asks for nothing but consent.
fn schema(schema: Option<&RawValue>) -> Result<Box<RawValue>, Unfit> {
    match schema {
        None => Ok(RawValue::from_string(r#"{"type":"object"}"#.to_owned())
            .expect("an empty schema is JSON")),
        Some(schema) if schema.get().starts_with('{') => Ok(schema.to_owned()),
        Some(_) => Err(Unfit::Schema),
    }
}

/// A page that a browser opens. Other schemes can start any program of the machine.
fn page(url: &str) -> Option<Url> {
    let url = Url::parse(url).ok()?;
    matches!(url.scheme(), "http" | "https").then_some(url)
}

/// What a person answered.
#[derive(Debug)]
pub struct ElicitationAnswer {
    action: Action,
    content: Option<Box<RawValue>>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Accept,
    Decline,
    Cancel,
}

/// The content of an answer is no JSON object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the content of an answer must be a JSON object")]
pub struct ContentNotAnObject;

impl ElicitationAnswer {
    /// Yes: to opening the page, or to a form without fields.
    #[must_use]
    pub fn accept() -> Self {
        Self::only(Action::Accept)
    }

    /// Yes, and this is what the form says. It reaches the server as it is, to the spelling of numbers.
    ///
    /// # Errors
    ///
    /// Content that is no JSON object.
    pub fn accept_with(content: Box<RawValue>) -> Result<Self, ContentNotAnObject> {
        if !content.get().starts_with('{') {
            return Err(ContentNotAnObject);
        }
        Ok(Self {
            action: Action::Accept,
            content: Some(content),
        })
    }

    /// No.
    #[must_use]
    pub fn decline() -> Self {
        Self::only(Action::Decline)
    }

    /// Neither: the person turned away.
    #[must_use]
    pub fn cancel() -> Self {
        Self::only(Action::Cancel)
    }

    fn only(action: Action) -> Self {
        Self {
            action,
            content: None,
        }
    }

    /// The result of `elicitation/create`. Only an accepted form has content, and then always.
    pub(crate) fn result(&self, form: bool) -> ElicitationResult<'_> {
        let content = self
            .content
            .as_deref()
            .map_or(Content::Empty {}, Content::Given);
        let wanted = form && matches!(self.action, Action::Accept);
        ElicitationResult {
            action: self.action,
            content: wanted.then_some(content),
        }
    }
}

/// An answer on its way to the server.
#[derive(Debug, Serialize)]
pub(crate) struct ElicitationResult<'a> {
    action: Action,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Content<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Given(&'a RawValue),
    Empty {},
}

#[cfg(test)]
mod tests;
